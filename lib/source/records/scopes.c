/* Halves that are joined while their piece is parsed.
 *
 * Begins and ends of a scope belong together in order of time, and nearly every file has them in
 * that order: then a stack of the open begins is all that is needed. But whether a scope is in
 * order is known when the whole input was read. So the first pass joins the halves of each piece as
 * if it were, and keeps a log of the pairs and from when to when each scope was in the piece.
 * After it:
 *
 *     the scope is in order, in and across pieces    the pairs stand. Begins and ends that have no
 *                                                    other half in their piece meet in the sorter
 *     it is not (it is "disordered")                 its halves are sorted: those of pairs come
 *                                                    from the log. The second pass sorts them, too
 *
 * An end whose number no open begin of the piece has may be that of a begin of another piece: the
 * open ones of its scope then go to the sorter with it. So the pairs are those that the sorter
 * would make of all halves. */
#include "source/records/run.h"

#include <stdlib.h>

#include "base/map.h"
#include "base/pool.h"

enum { DISORDERED_MAX = 1 << 16 }; /* that are remembered individually */

/* ---- scopes of a piece ----------------------------------------------------------------------- */

rocl_scope *rocl_scope_find(rocl_scopes *s, uint64_t process, uint64_t number, bool *fresh)
{
    const uint64_t hash = rocl_mix64(process ^ rocl_mix64(number));
    size_t at = s->latest;
    *fresh = false;
    if (at < s->count && s->all[at].process == process && s->all[at].number == number)
        return &s->all[at];
    const uint32_t first = rocl_map_get(&s->index, hash, ROCL_NONE);
    for (at = first; at != ROCL_NONE; at = s->all[at].next)
        if (s->all[at].process == process && s->all[at].number == number)
            break;
    if (at == ROCL_NONE) {
        if (s->count >= ROCL_NONE || !ROCL_GROW(s->all, s->cap, s->count + 1) ||
            !rocl_map_put(&s->index, hash, (uint32_t)s->count))
            return NULL;
        *fresh = true;
        at = s->count++;
        s->all[at] = (rocl_scope){.process = process, .number = number, .next = first};
    }
    s->latest = at;
    return &s->all[at];
}

void rocl_scopes_clear(rocl_scopes *s)
{
    rocl_map_free(&s->index);
    s->count = 0;
    s->log.len = 0;
    s->logged = (rocl_pair){0};
}

static void free_half(rocl_open_half *h)
{
    free(h->args.data);
    free(h);
}

void rocl_scopes_free(rocl_scopes *s)
{
    rocl_open_half *h;
    for (size_t i = 0; i < s->count; i++)
        while ((h = rocl_scope_pop(&s->all[i])))
            free_half(h);
    while (s->spare) {
        h = (rocl_open_half *)s->spare;
        s->spare = s->spare->below;
        free_half(h);
    }
    free(s->all);
    rocl_map_free(&s->index);
    rocl_buf_free(&s->log);
    *s = (rocl_scopes){0};
}

rocl_open_half *rocl_scope_open(rocl_scopes *s, rocl_scope *scope, uint64_t id)
{
    rocl_open_half *h = (rocl_open_half *)s->spare;
    if (h)
        s->spare = h->open.below;
    else if (!(h = calloc(1, sizeof *h)))
        return NULL;
    h->open.id = id;
    h->args.len = 0;
    h->arg_count = 0;
    rocl_open_push(&scope->open, &h->open);
    return h;
}

static rocl_open_half *take_half(rocl_scope *scope, rocl_open *o)
{
    if (o)
        rocl_open_remove(&scope->open, o);
    return (rocl_open_half *)o;
}

rocl_open_half *rocl_scope_pop(rocl_scope *scope)
{
    return take_half(scope, scope->open.top);
}

rocl_open_half *rocl_scope_take(rocl_scope *scope, uint64_t id)
{
    return take_half(scope, rocl_open_find(&scope->open, id));
}

void rocl_scope_done(rocl_scopes *s, rocl_open_half *h)
{
    h->open.below = s->spare;
    s->spare = &h->open;
}

/* ---- the log of a piece ---------------------------------------------------------------------- */

/* Varints of each pair: index of its scope, and differences of its times and places to the pair
 * before. At the end of the piece they are followed by process and number of each scope, and their
 * count as the last 8 bytes. */
enum { PAIR_VALUES = 9 };

void rocl_scopes_log(rocl_scopes *s, const rocl_scope *scope, const rocl_pair *pair)
{
    const rocl_half_place *b = &pair->begin, *e = &pair->end, *last = &s->logged.begin;
    if (!rocl_buf_reserve(&s->log, PAIR_VALUES * ROCL_VARINT_MAX))
        return;
    uint8_t *p = s->log.data + s->log.len;
    p = rocl_varint_put(p, (uint64_t)(scope - s->all));
    p = rocl_varint_put(p, rocl_zigzag((int64_t)(b->time - last->time)));
    p = rocl_varint_put(p, rocl_zigzag((int64_t)(b->where - last->where)));
    p = rocl_varint_put(p, rocl_zigzag((int64_t)(b->line - last->line)));
    p = rocl_varint_put(p, e->time - b->time);
    p = rocl_varint_put(p, rocl_zigzag((int64_t)(e->where - b->where)));
    p = rocl_varint_put(p, e->line - b->line);
    p = rocl_varint_put(p, b->id);
    p = rocl_varint_put(p, e->id ^ b->id);
    s->log.len = (size_t)(p - s->log.data);
    s->logged = *pair;
}

bool rocl_scopes_end_log(rocl_scopes *s)
{
    const uint64_t count = s->count;
    for (size_t i = 0; i < s->count && s->log.len; i++)
        rocl_buf_put(&s->log, (const uint64_t[]){s->all[i].process, s->all[i].number}, 16);
    if (s->log.len)
        rocl_buf_put(&s->log, &count, sizeof count);
    return !s->log.failed;
}

static uint64_t read_value(const uint8_t **p, const uint8_t *end)
{
    uint64_t v = 0;
    return rocl_varint_get(p, end, &v) ? v : 0;
}

/* Puts the joined halves of a piece that belong to disordered scopes into the sorter. */
static rocl_status sort_logged(void *ctx, unsigned number, size_t index, rocl_error *err)
{
    rocl_records_input *in = ctx;
    rocl_records *w = &in->run->workers[number];
    const rocl_stored *log = &in->run->logs[index];
    const uint8_t *p, *end;
    rocl_pair pair = {0}; /* the one before, until it is read */
    rocl_half_place *b = &pair.begin, *e = &pair.end;
    uint64_t count;
    if (!log->size)
        return ROCL_OK;
    rocl_status st = rocl_kept_load(w, log, &p, &end, err);
    if (st != ROCL_OK)
        return st;
    w->piece = &in->pieces[index];
    end -= sizeof count;
    memcpy(&count, end, sizeof count);
    const uint8_t *scopes = end - 16 * count;
    while (p < scopes && st == ROCL_OK) {
        uint64_t key[2];
        const uint64_t scope = read_value(&p, scopes);
        b->time += (uint64_t)rocl_unzigzag(read_value(&p, scopes));
        b->where += (uint64_t)rocl_unzigzag(read_value(&p, scopes));
        b->line += (uint64_t)rocl_unzigzag(read_value(&p, scopes));
        e->time = b->time + read_value(&p, scopes);
        e->where = b->where + (uint64_t)rocl_unzigzag(read_value(&p, scopes));
        e->line = b->line + read_value(&p, scopes);
        b->id = read_value(&p, scopes);
        e->id = b->id ^ read_value(&p, scopes);
        memcpy(key, scopes + 16 * scope, sizeof key);
        if (!rocl_scope_is_disordered(in->run, key[0], key[1]))
            continue;
        st = rocl_half_note(w, key[0], key[1], true, b, err);
        if (st == ROCL_OK)
            st = rocl_half_note(w, key[0], key[1], false, e, err);
    }
    return st;
}

/* ---- order in the whole input ---------------------------------------------------------------- */

/* In the sorter of spans: process, scope, time and place of the first half in a piece; and: */
typedef struct span_end {
    uint64_t time, place;
    bool disordered; /* in the piece itself */
} span_end;

rocl_status rocl_scopes_note(rocl_records *w, rocl_error *err)
{
    rocl_status st = ROCL_OK;
    for (size_t i = 0; i < w->scopes.count && st == ROCL_OK; i++) {
        const rocl_scope *s = &w->scopes.all[i];
        const span_end end = {s->last_time, s->last_place, s->deferred};
        st = rocl_sorter_add(
            w->in->run->spans, w->number,
            (const uint64_t[]){s->process, s->number, s->first_time, s->first_place}, &end,
            sizeof end, err);
    }
    return st;
}

bool rocl_scope_is_disordered(const rocl_records_run *run, uint64_t process, uint64_t number)
{
    return run->all_disordered ||
           (run->disordered_count &&
            bsearch(&(rocl_lookup_key){process, number}, run->disordered, run->disordered_count,
                    sizeof *run->disordered, rocl_compare_lookup_keys));
}

rocl_status rocl_scopes_check(rocl_records_input *in, rocl_error *err)
{
    rocl_records_run *run = in->run;
    uint64_t process = 0, number = 0;
    span_end last = {0};
    bool any = false, counted = false, named = false, unnamed = false;
    rocl_sort_record rec;
    rocl_status st = rocl_sorter_start(run->spans, err);
    while (rocl_sorter_take(run->spans, &rec, &st, err)) {
        span_end end;
        memcpy(&end, rec.data, sizeof end);
        const bool same = any && process == rec.key[0] && number == rec.key[1];
        const bool overlaps = same && (rec.key[2] < last.time ||
                                       (rec.key[2] == last.time && rec.key[3] < last.place));
        counted = counted && same;
        if ((end.disordered || overlaps) && !counted) {
            counted = true;
            run->all_disordered |= run->disordered_count == DISORDERED_MAX;
            if (!run->all_disordered) {
                if (!ROCL_GROW(run->disordered, run->disordered_cap, run->disordered_count + 1))
                    return rocl_fail_memory(err);
                run->disordered[run->disordered_count++] =
                    (rocl_lookup_key){rec.key[0], rec.key[1]};
            }
        }
        any = true;
        process = rec.key[0];
        number = rec.key[1];
        last = end;
        *(process == ROCL_NO_KEY ? &unnamed : &named) = true;
    }
    if (st == ROCL_OK && (run->disordered_count || run->all_disordered))
        st = rocl_run_tasks(in->trace->opt.jobs, in->piece_count, sort_logged, in, err);
    /* Records that name no process will get one, and so share scopes with others. */
    run->all_disordered |= named && unnamed;
    return st;
}
