/* Rows of XLA's profiler: which are GPU work, and its arguments. See xla.h. */
#include "source/chrome/xla.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/error.h"
#include "base/strings.h"

static uint64_t mix_row(uint64_t pid, uint64_t tid)
{
    return rocl_mix64(pid) ^ rocl_mix64(rocl_mix64(tid));
}

void xla_rows_free(xla_rows *x)
{
    rocl_map_free(&x->devices);
    rocl_map_free(&x->index);
    free(x->all);
    *x = (xla_rows){0};
}

const xla_row *xla_find_row(const xla_rows *x, uint64_t pid, uint64_t tid)
{
    const uint32_t i = x->count ? rocl_map_get(&x->index, mix_row(pid, tid), ROCL_NONE) : ROCL_NONE;
    return i == ROCL_NONE ? NULL : &x->all[i];
}

/* ---- metadata -------------------------------------------------------------------------------- */

/* Does the text begin with a word? Then *number is what follows it. */
static bool read_number_plus1(rocl_view text, const char *word, uint32_t *number)
{
    const size_t n = strlen(word);
    size_t i = n;
    uint64_t v = 0;
    if (text.n <= n || memcmp(text.p, word, n))
        return false;
    for (; i < text.n && text.p[i] >= '0' && text.p[i] <= '9' && v < UINT32_MAX / 10; i++)
        v = v * 10 + (uint64_t)(text.p[i] - '0');
    *number = (uint32_t)v;
    return i > n;
}

static bool note_row(xla_rows *x, rocl_trace *t, uint64_t pid, uint64_t tid, rocl_view name)
{
    char text[256];
    xla_row row = {.device = rocl_map_get(&x->devices, rocl_mix64(pid), ROCL_NONE)};
    if (row.device == ROCL_NONE)
        return true;
    row.work = read_number_plus1(name, "Stream #", &row.stream);
    const int n = snprintf(text, sizeof text, "GPU %u: %.*s", row.device,
                           name.n < 200 ? (int)name.n : 200, name.p);
    row.name = row.work ? 0 : rocl_strings_put(t->strings, text, (size_t)n);
    if (row.name == ROCL_NONE || !ROCL_GROW(x->all, x->cap, x->count + 1) ||
        !rocl_map_put(&x->index, mix_row(pid, tid), (uint32_t)x->count))
        return false;
    x->all[x->count++] = row;
    return true;
}

/* An event: false if it is not metadata, so the events have begun. */
static bool read_metadata(xla_rows *x, rocl_trace *t, rocl_json *r, bool *failed)
{
    enum { PH, NAME, PID, TID, ARGS, KEYS };
    static const rocl_view keys[KEYS] = {[PH] = ROCL_JSON_KEY("ph"),
                                         [NAME] = ROCL_JSON_KEY("name"),
                                         [PID] = ROCL_JSON_KEY("pid"),
                                         [TID] = ROCL_JSON_KEY("tid"),
                                         [ARGS] = ROCL_JSON_KEY("args")};
    static const rocl_view name_key[] = {ROCL_JSON_KEY("name")};
    rocl_view ph = ROCL_JSON_KEY(""), what = ph, name = ph;
    uint64_t pid = 0, tid = 0;
    rocl_json_token v;
    for (int key; (key = rocl_json_member(r, keys, KEYS, &v)) >= 0;) {
        if (key == PH)
            ph = v.text;
        else if (key == NAME)
            what = v.text;
        else if (key == PID)
            rocl_json_uint(v.text, &pid);
        else if (key == TID)
            rocl_json_uint(v.text, &tid);
        else if (rocl_json_enter(r, ROCL_JSON_OBJECT))
            while (rocl_json_member(r, name_key, 1, &v) >= 0)
                name = v.text;
    }
    uint32_t device;
    if (rocl_view_is(what, "process_name") && rocl_view_is(name, "/host:CPU"))
        x->host = pid;
    if (rocl_view_is(what, "process_name") && read_number_plus1(name, "/device:GPU:", &device))
        *failed |= !rocl_map_put(&x->devices, rocl_mix64(pid), device);
    else if (rocl_view_is(what, "thread_name"))
        *failed |= !note_row(x, t, pid, tid, name);
    return rocl_view_is(ph, "M");
}

rocl_status xla_rows_read(xla_rows *x, rocl_trace *t, const rocl_json_index *index,
                          const rocl_json_node *events, const rocl_spool *spool, unsigned flags,
                          rocl_error *err)
{
    rocl_buf b = {0};
    bool metadata = true, failed = false;
    rocl_status st = ROCL_OK;
    for (size_t i = 0; i < events->blocks && metadata && st == ROCL_OK; i++) {
        const rocl_json_block *block = &index->blocks[events->block + i];
        rocl_json r;
        rocl_json_token v;
        st = rocl_json_load(&r, &b, spool, block->begin, block->end, flags | ROCL_JSON_ELEMENTS,
                            err);
        while (st == ROCL_OK && metadata && rocl_json_element(&r, &v))
            metadata = rocl_json_enter(&r, ROCL_JSON_OBJECT) && read_metadata(x, t, &r, &failed);
    }
    rocl_buf_free(&b);
    return failed ? rocl_fail_memory(err) : st;
}

/* ---- arguments of work ----------------------------------------------------------------------- */

/* The next "key:value" of a text. */
static bool next_pair(rocl_view *text, rocl_view *key, rocl_view *value)
{
    while (text->n && *text->p == ' ')
        text->p++, text->n--;
    const char *end = text->n ? memchr(text->p, ' ', text->n) : NULL;
    const size_t n = end ? (size_t)(end - text->p) : text->n;
    const char *colon = n ? memchr(text->p, ':', n) : NULL;
    if (!colon)
        return false;
    *key = (rocl_view){text->p, (size_t)(colon - text->p)};
    *value = (rocl_view){colon + 1, n - key->n - 1};
    text->p += n;
    text->n -= n;
    return true;
}

static void read_size_text(rocl_view text, uint32_t to[3])
{
    for (int i = 0; i < 3; i++) {
        const char *comma = text.n ? memchr(text.p, ',', text.n) : NULL;
        const rocl_view number = {text.p, comma ? (size_t)(comma - text.p) : text.n};
        uint64_t v;
        if (rocl_json_uint(number, &v) && v <= UINT32_MAX)
            to[i] = (uint32_t)v;
        const size_t used = number.n + (comma != NULL);
        text.p += used;
        text.n -= used;
    }
}

void xla_read_kernel(xla_details *d, rocl_view text)
{
    rocl_view key, value;
    d->is_kernel = true;
    while (next_pair(&text, &key, &value)) {
        int64_t v = 0;
        const bool number = rocl_json_int(value, &v);
        if (rocl_view_is(key, "grid"))
            read_size_text(value, d->grid);
        else if (rocl_view_is(key, "block"))
            read_size_text(value, d->block);
        else if (number && (rocl_view_is(key, "group_mem") || rocl_view_is(key, "static_shared") ||
                            rocl_view_is(key, "dynamic_shared")))
            d->group_segment += v >= 0 && v <= INT32_MAX ? v : 0;
        else if (number && rocl_view_is(key, "private_mem"))
            d->private_segment = v;
    }
}

void xla_read_copy(xla_details *d, rocl_view text)
{
    rocl_view key, value;
    d->is_copy = true;
    while (next_pair(&text, &key, &value))
        if (rocl_view_is(key, "size"))
            rocl_json_uint(value, &d->bytes);
}
