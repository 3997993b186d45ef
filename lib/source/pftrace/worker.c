/* Interned texts, as a worker knows them at the current packet. */
#include "source/pftrace/worker.h"

static uint64_t interned_key(unsigned table, uint64_t iid)
{
    return iid ^ rocl_mix64(table);
}

bool pfr_note_interned(pfr_worker *w, const pfr_packet *p)
{
    rocl_pb r = rocl_pb_of(p->interned);
    unsigned table;
    uint64_t iid;
    rocl_view bytes;
    while (pfr_interned_next(&r, &table, &iid, &bytes)) {
        const uint32_t id = rocl_strings_put(w->file->bytes, bytes.p, bytes.n);
        if (id == ROCL_NONE || !rocl_map_put(&w->sequence->interned, interned_key(table, iid), id))
            return false;
    }
    return true;
}

uint32_t pfr_find_interned(pfr_worker *w, unsigned table, uint64_t iid)
{
    pfr_open_sequence *s = w->sequence;
    const uint64_t key = interned_key(table, iid);
    uint32_t id = rocl_map_get(&s->interned, key, ROCL_NONE);
    if (id == ROCL_NONE && s->state.cleared <= w->begin) {
        id = pfr_interned_before(w->file, s->number, table, iid, w->begin, s->state.cleared);
        if (id != ROCL_NONE && !rocl_map_put(&s->interned, key, id))
            w->walk.failed = true;
    }
    return id == ROCL_NONE ? 0 : id;
}

bool pfr_was_interned(const pfr_worker *w, unsigned table, uint64_t iid)
{
    return rocl_map_get(&w->sequence->interned, interned_key(table, iid), ROCL_NONE) != ROCL_NONE;
}

pfr_text *pfr_text_of(pfr_worker *w, uint32_t bytes)
{
    if (bytes == ROCL_NONE || !ROCL_GROW(w->texts, w->text_cap, bytes + (size_t)1)) {
        w->walk.failed = true;
        w->no_text = (pfr_text){0};
        return &w->no_text;
    }
    return &w->texts[bytes];
}

uint32_t pfr_text_id(pfr_worker *w, uint32_t bytes)
{
    pfr_text *f = pfr_text_of(w, bytes);
    if (!bytes)
        return 0;
    if (!f->text)
        f->text = rocl_records_text(w->to, pfr_bytes(w->file, bytes)) + 1;
    return f->text - 1;
}
