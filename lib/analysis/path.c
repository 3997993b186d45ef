/* The longest path: operations on slots, in blocks that are read backwards and forwards. */
#include "analysis/path.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/distribution.h"
#include "base/array.h"

/* An operation as stored: kind and flags in the lowest bits of a varint with the slot, then the
 * other slot, or the subject of a step and its time; for a wait for another rank all of these. */
enum { COPY, WAIT, STEP, ELSEWHERE, KIND_MASK = 3, LED = 4, VARIES = 4, FLAG_BITS = 3 };
enum { BLOCK = 4096 }; /* operations */

typedef struct operation {
    uint32_t slot, other; /* other: of a step: its subject */
    uint32_t flags;       /* kind, and LED or VARIES */
    uint32_t what;        /* for ELSEWHERE */
    int64_t ns;
} operation;

struct rocl_path {
    rocl_sort_space *space;
    int64_t *times; /* by slot */
    size_t slots, slot_cap;
    uint32_t *unused; /* slots */
    size_t unused_count, unused_cap;
    rocl_buf bytes; /* bytes of the block that is filled */
    unsigned filled;
    rocl_stored *blocks;
    size_t block_count, block_cap;
    rocl_buf scratch;
    operation *operations; /* operations of the block that is read */
    rocl_error *failure;
    rocl_status status;
};

/* ---- making it ------------------------------------------------------------------------------- */

rocl_path *rocl_path_new(rocl_sort_space *space)
{
    rocl_path *p = calloc(1, sizeof *p);
    if (p && (p->failure = rocl_error_new()) && ROCL_GROW(p->times, p->slot_cap, 1)) {
        p->space = space;
        p->slots = 1;
        return p;
    }
    rocl_path_free(p);
    return NULL;
}

void rocl_path_free(rocl_path *p)
{
    if (!p)
        return;
    for (size_t i = 0; i < p->block_count; i++)
        rocl_space_drop(p->space, &p->blocks[i]);
    free(p->blocks);
    free(p->times);
    free(p->unused);
    free(p->operations);
    rocl_buf_free(&p->bytes);
    rocl_buf_free(&p->scratch);
    rocl_error_free(p->failure);
    free(p);
}

static void note_failure(rocl_path *p)
{
    if (p->status == ROCL_OK)
        p->status = rocl_fail_memory(p->failure);
}

uint32_t rocl_path_new_slot(rocl_path *p)
{
    if (p->unused_count)
        return p->unused[--p->unused_count];
    if (p->slots >= UINT32_MAX || !ROCL_GROW(p->times, p->slot_cap, p->slots + 1)) {
        note_failure(p);
        return 0;
    }
    return (uint32_t)p->slots++;
}

void rocl_path_free_slot(rocl_path *p, uint32_t slot)
{
    if (!slot)
        return;
    if (ROCL_GROW(p->unused, p->unused_cap, p->unused_count + 1))
        p->unused[p->unused_count++] = slot;
    else
        note_failure(p);
}

static void end_block(rocl_path *p)
{
    if (!p->filled || p->status != ROCL_OK)
        return;
    if (p->bytes.failed || !ROCL_GROW(p->blocks, p->block_cap, p->block_count + 1)) {
        note_failure(p);
        return;
    }
    p->status = rocl_space_store(p->space, &p->blocks[p->block_count], p->bytes.data, p->bytes.len,
                                 p->failure);
    p->block_count += p->status == ROCL_OK;
    p->bytes.len = 0;
    p->filled = 0;
}

static void put_operation(rocl_path *p, operation o)
{
    uint8_t bytes[4 * ROCL_VARINT_MAX], *q = bytes;
    const uint32_t kind = o.flags & KIND_MASK;
    q = rocl_varint_put(q, (uint64_t)o.slot << FLAG_BITS | o.flags);
    q = rocl_varint_put(q, o.other);
    if (kind >= STEP)
        q = rocl_varint_put(q, (uint64_t)o.ns);
    if (kind == ELSEWHERE)
        q = rocl_varint_put(q, o.what);
    rocl_buf_put(&p->bytes, bytes, (size_t)(q - bytes));
    if (++p->filled == BLOCK)
        end_block(p);
}

void rocl_path_copy(rocl_path *p, uint32_t to, uint32_t from)
{
    if (!to)
        return;
    p->times[to] = p->times[from];
    put_operation(p, (operation){to, from, COPY, 0, 0});
}

bool rocl_path_wait(rocl_path *p, uint32_t to, uint32_t from)
{
    const bool led = to && p->times[from] > p->times[to];
    p->times[to] = led ? p->times[from] : p->times[to];
    if (to)
        put_operation(p, (operation){to, from, WAIT | (led ? LED : 0), 0, 0});
    return led;
}

void rocl_path_wait_elsewhere(rocl_path *p, uint32_t to, uint32_t from, uint32_t what)
{
    const bool led = p->times[from] > p->times[to];
    const int64_t ns = led ? p->times[from] - p->times[to] : 0;
    if (!to)
        return;
    p->times[to] += ns;
    put_operation(p, (operation){to, from, ELSEWHERE | (led ? LED : 0), what, ns});
}

void rocl_path_step(rocl_path *p, uint32_t slot, int64_t until, uint32_t what, bool varies)
{
    const int64_t ns = until - p->times[slot];
    if (!slot || ns <= 0)
        return;
    p->times[slot] = until;
    put_operation(p, (operation){slot, what, STEP | (varies ? VARIES : 0), 0, ns});
}

int64_t rocl_path_time(const rocl_path *p, uint32_t slot)
{
    return p->times[slot];
}

rocl_status rocl_path_close(rocl_path *p, rocl_error *err)
{
    end_block(p);
    if (p->status == ROCL_OK && !(p->operations = malloc(BLOCK * sizeof *p->operations)))
        return rocl_fail_memory(err);
    if (p->status != ROCL_OK)
        rocl_error_copy(err, p->failure);
    return p->status;
}

/* ---- reading it ------------------------------------------------------------------------------ */

static rocl_status read_block(rocl_path *p, size_t i, unsigned *count, rocl_error *err)
{
    const uint8_t *at = NULL;
    rocl_status st = rocl_space_load(p->space, &p->blocks[i], &p->scratch, &at, err);
    const uint8_t *past = at + p->blocks[i].size;
    *count = 0;
    while (st == ROCL_OK && at < past) {
        operation *o = &p->operations[*count];
        uint64_t head = 0, other = 0, ns = 0, what = 0;
        if (*count == BLOCK || !rocl_varint_get(&at, past, &head) ||
            !rocl_varint_get(&at, past, &other) ||
            ((head & KIND_MASK) >= STEP && !rocl_varint_get(&at, past, &ns)) ||
            ((head & KIND_MASK) == ELSEWHERE && !rocl_varint_get(&at, past, &what)))
            return rocl_fail(err, ROCL_INTERNAL, "an operation of the path cannot be read");
        *o = (operation){(uint32_t)(head >> FLAG_BITS), (uint32_t)other,
                         (uint32_t)head & ((1u << FLAG_BITS) - 1), (uint32_t)what, (int64_t)ns};
        ++*count;
    }
    return st;
}

rocl_status rocl_path_walk(rocl_path *p, const uint32_t *slots, size_t n, bool apart,
                           rocl_path_fn *fn, void *ctx, rocl_error *err)
{
    rocl_status st = ROCL_OK;
    uint32_t *walker_at = calloc(p->slots, sizeof *walker_at); /* by slot, + 1 */
    int64_t *now = calloc(n + 1, sizeof *now);
    size_t walking = 0;
    if (!walker_at || !now)
        st = rocl_fail_memory(err);
    for (size_t i = 0; st == ROCL_OK && i < n; i++) {
        now[i] = p->times[slots[i]];
        walker_at[slots[i]] = slots[i] ? (uint32_t)i + 1 : 0;
        walking += slots[i] > 0;
    }
    for (size_t b = p->block_count; b-- && st == ROCL_OK && walking;) {
        unsigned count;
        st = read_block(p, b, &count, err);
        for (unsigned k = count; k-- && st == ROCL_OK;) {
            const operation *o = &p->operations[k];
            const uint32_t kind = o->flags & KIND_MASK, at = walker_at[o->slot];
            if (!at)
                continue;
            if (kind == STEP || (kind == ELSEWHERE && apart && o->ns)) {
                const int64_t end = now[at - 1];
                now[at - 1] -= o->ns;
                st = fn(ctx, at - 1, end - o->ns, end, kind == STEP ? o->other : o->what, err);
            } else if (kind == COPY || (o->flags & LED)) {
                walker_at[o->slot] = 0;
                walker_at[o->other] = o->other ? at : 0;
                walking -= !o->other;
            }
        }
    }
    free(walker_at);
    free(now);
    return st;
}

/* Rounded to whole nanoseconds, halves up. */
static int64_t divide_time(int64_t ns, double factor)
{
    const double ns_of_each = floor((double)ns / factor + 0.5);
    return ns_of_each < 0x1p63 ? (int64_t)ns_of_each : INT64_MAX;
}

static void run_operation(const operation *o, const rocl_path_scenarios *s, int64_t *times)
{
    const unsigned n = s->n;
    int64_t *to = times + (size_t)o->slot * n;
    const int64_t *from = times + (size_t)o->other * n;
    uint32_t changed = 0;
    switch (o->flags & KIND_MASK) {
    case COPY:
        memcpy(to, from, n * sizeof *to);
        break;
    case WAIT:
    case ELSEWHERE:
        for (unsigned k = 0; k < n; k++)
            to[k] = from[k] > to[k] ? from[k] : to[k];
        break;
    default:
        if ((o->flags & VARIES) && o->other < s->count)
            changed = s->changed[o->other];
        for (unsigned k = 0; k < n; k++)
            to[k] = rocl_add_saturated(to[k], changed >> k & 1 ? divide_time(o->ns, s->factors[k])
                                                               : o->ns);
    }
}

rocl_status rocl_path_vary(rocl_path *p, uint32_t slot, const rocl_path_scenarios *s,
                           int64_t *times, rocl_error *err)
{
    rocl_status st = ROCL_OK;
    int64_t *all = calloc(p->slots, (s->n ? s->n : 1) * sizeof *all);
    if (!all)
        return rocl_fail_memory(err);
    for (size_t b = 0; b < p->block_count && st == ROCL_OK; b++) {
        unsigned count;
        st = read_block(p, b, &count, err);
        for (unsigned i = 0; i < count && st == ROCL_OK; i++)
            run_operation(&p->operations[i], s, all);
    }
    memcpy(times, all + (size_t)slot * s->n, s->n * sizeof *times);
    free(all);
    return st;
}
