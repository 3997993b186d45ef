/* Markers stand apart from the events, all in one file, with a text of their own. They wait in a
 * sorter until the events of all locations are written. */
#include <inttypes.h>
#include <strings.h>

#include "base/error.h"
#include "sink/otf2/ot.h"

/* Samples of call stacks are instants as well, but nobody set them as a mark. */
static bool is_mark(const rocl_trace *t, const rocl_track_event *e)
{
    if (e->kind != ROCL_INSTANT)
        return e->kind == ROCL_MARKER;
    const char *category = rocl_str(t, e->category);
    return !strncasecmp(category, "MARKER", 6) || !strncasecmp(category, "KOKKOS", 6);
}

rocl_status ot_keep_mark(ot_part *p, uint32_t number, rocl_error *err)
{
    const ot_sink *s = p->sink;
    const rocl_track_event *e = &p->event;
    if (!is_mark(s->trace, e))
        return ROCL_OK;
    const uint64_t *rest = p->record.key;
    const uint64_t key[4] = {number, rest[1], rest[2], rest[3]};
    uint32_t name = e->name == ROCL_NONE ? s->words[W_UNNAMED] : e->name;
    uint8_t text[10], *end = rocl_varint_put(text, name);
    return rocl_sorter_add(s->marks, p->worker, key, text, (size_t)(end - text), err);
}

static rocl_status write_mark(ot_sink *s, const rocl_sort_record *rec, rocl_error *err)
{
    const uint8_t *at = rec->data;
    uint64_t name;
    if (!rocl_varint_get(&at, at + rec->len, &name))
        return rocl_fail(err, ROCL_INTERNAL, "a sorted marker came back broken");
    OTF2_MarkerWriter *w = ot_archive_markers(s->archive);
    if (!w)
        return ot_archive_status(s->archive, err);
    if (!s->marked)
        OTF2_MarkerWriter_WriteDefMarker(w, 0, "ROCTx", "Marks and ranges", OTF2_SEVERITY_NONE);
    s->marked = true;
    rocl_buf text = {0};
    ot_put_text(&text, &s->defs, (uint32_t)name);
    bool failed = text.failed;
    if (!failed)
        OTF2_MarkerWriter_WriteMarker(w, rec->key[1], ~rec->key[2] - rec->key[1], 0,
                                      OTF2_MARKER_SCOPE_LOCATION, rec->key[0],
                                      (const char *)text.data);
    rocl_buf_free(&text);
    return failed ? rocl_fail_memory(err) : ot_archive_status(s->archive, err);
}

rocl_status ot_write_marks(ot_sink *s, rocl_error *err)
{
    rocl_sort_record rec;
    bool more = true;
    rocl_status st = rocl_sorter_start(s->marks, err);
    while (st == ROCL_OK && more) {
        st = rocl_sorter_next(s->marks, &rec, &more, err);
        if (st == ROCL_OK && more)
            st = write_mark(s, &rec, err);
    }
    return st;
}
