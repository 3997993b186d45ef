/* strace breaks off a call when another thread has something to say, and takes it up again later:
 * "read(3 <unfinished ...>", "<... read resumed> ...". A resumed line belongs to the last begin of
 * a call of this name (and thread, where lines say which), which may be in a range before: the
 * first pass finds out what is under way where a range begins. */
#include <stdlib.h>

#include "base/array.h"
#include "source/rtg/rtg.h"

/* NULL: memory is out. */
static rtg_call *find_call(rtg_calls *c, const rtg_key *k)
{
    bool fresh;
    rtg_entry *e = rtg_table_put(&c->keys, k, &fresh);
    if (e && fresh) {
        if (!ROCL_GROW(c->all, c->cap, c->count + 1))
            return NULL;
        e->index = (uint32_t)c->count;
        c->all[c->count++] = (rtg_call){0};
    }
    return e ? &c->all[e->index] : NULL;
}

bool rtg_calls_begin(rtg_calls *c, const rtg_key *k, int64_t when, uint64_t line, uint64_t offset,
                     rtg_call *former, bool *lost)
{
    rtg_call *call = find_call(c, k);
    *lost = call && call->has_begun && !call->used;
    if (!call)
        return false;
    *former = *call;
    call->begun = when;
    call->line = line;
    call->offset = offset;
    call->has_begun = true;
    call->used = false;
    return true;
}

rtg_call *rtg_calls_resume(rtg_calls *c, const rtg_key *k, uint64_t line, uint64_t offset)
{
    rtg_call *call = find_call(c, k);
    if (!call)
        return NULL;
    if (call->has_begun) {
        call->used = true;
    } else if (!call->resumed_count++) {
        call->resumed_first = line;
        call->resumed_offset = offset;
    }
    return call;
}

void rtg_calls_free(rtg_calls *c)
{
    rtg_table_free(&c->keys);
    free(c->all);
    *c = (rtg_calls){0};
}

void rtg_calls_reset(rtg_calls *c)
{
    if (c->keys.count)
        memset(c->keys.slots, 0, c->keys.cap * sizeof *c->keys.slots);
    c->keys.count = 0;
    c->count = 0;
}

/* ---- from range to range -------------------------------------------------------------------- */

static void report_never_resumed(rtg_file *f, size_t range, const rtg_call *c)
{
    if (c->has_begun && !c->used)
        rtg_fault_add(&f->faults, range, c->line, c->offset, ROCL_FAULT_NO_END, 1,
                      RTG_NEVER_RESUMED);
}

/* `last` is the last begin of the call in the ranges before, which are up to and with *last_range.
 */
static void resolve_call(rtg_file *f, rtg_call *last, size_t *last_range, rtg_call *c, size_t range)
{
    if (c->resumed_count && last->has_begun) {
        c->resolved = last->used = true;
        c->before = last->begun;
    } else if (c->resumed_count) {
        rtg_fault_add(&f->faults, range, c->resumed_first, c->resumed_offset, ROCL_FAULT_BAD_LINE,
                      c->resumed_count, "a call is resumed that never began");
    }
    if (c->has_begun) {
        report_never_resumed(f, *last_range, last);
        *last = *c;
        *last_range = range;
    }
}

rocl_status rtg_calls_resolve(rtg_file *f, rocl_error *err)
{
    rtg_calls last = {0};
    size_t *ranges = NULL, cap = 0; /* of the calls in `last` */
    bool ok = true;
    for (size_t r = 0; r < f->range_count && ok; r++) {
        rtg_calls *calls = &f->ranges[r].calls;
        for (size_t i = 0; i < calls->keys.cap && ok; i++) {
            const rtg_entry *e = &calls->keys.slots[i];
            if (!e->used)
                continue;
            rtg_call *l = find_call(&last, &e->key);
            ok = l && ROCL_GROW(ranges, cap, last.count);
            if (ok)
                resolve_call(f, l, &ranges[l - last.all], &calls->all[e->index], r);
        }
    }
    for (size_t i = 0; i < last.count && ok; i++)
        report_never_resumed(f, ranges[i], &last.all[i]);
    rtg_calls_free(&last);
    free(ranges);
    return ok ? ROCL_OK : rocl_fail_memory(err);
}
