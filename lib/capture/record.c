/* Events of the host: the path that must be short. A begin reads the clock last, an end
 * first, so that only the program's time is recorded. */
#include <stdio.h>

#include "capture/core.h"

/* ---- open regions and ranges ----------------------------------------------------------------- */

/* Beyond the remembered depth everything is recorded. */
static inline bool stack_push(rocl_stack *s, rocl_open open)
{
    uint32_t at = s->depth++;
    if (UNLIKELY(at >= ROCL_OPEN_MAX))
        return false;
    s->open[at] = open;
    return true;
}

static void put_end(rocl_writer *w, rocl_stack *s, uint8_t type, uint64_t now)
{
    /* Nothing is open, or the open range was not recorded. */
    bool silent = !s->depth || (s->depth <= ROCL_OPEN_MAX && !s->open[s->depth - 1].ticks);
    /* Reserve first: what ends must still be open where a new chunk begins. */
    bool has_space = !silent && rocl_reserve_for_end(w);
    s->depth -= s->depth > 0;
    if (!has_space)
        return;
    uint8_t *p = w->pos;
    *p++ = type;
    rocl_commit(w, rocl_put_delta(w, p, now), 1);
}

/* ---- regions --------------------------------------------------------------------------------- */

void rocl_cap_begin(rocl_site *site)
{
    rocl_writer *w = rocl_enter();
    uint32_t id = 0;
    if (!w)
        return;
    if (LIKELY(!rocl_is_paused(w) && rocl_reserve(w, 0)))
        id = rocl_site_id(w, site, 0);
    if (UNLIKELY(!id)) {
        stack_push(&w->regions, (rocl_open){0});
    } else {
        uint8_t *p = w->pos;
        uint64_t now = rocl_ticks();
        *p++ = ROCL_REC_BEGIN;
        p = rocl_put_delta(w, p, now);
        p = rocl_varint_put(p, id);
        stack_push(&w->regions, (rocl_open){.ticks = w->last, .site = site});
        rocl_commit(w, p, 1);
    }
    rocl_leave();
}

void rocl_cap_end_at(uint64_t ticks)
{
    rocl_writer *w = rocl_enter_silently();
    if (w) {
        put_end(w, &w->regions, ROCL_REC_END, ticks);
        rocl_leave();
    }
}

void rocl_cap_end(void)
{
    rocl_cap_end_at(rocl_ticks_if_on());
}

/* Numbers come in blocks, so that threads do not meet over each of them. */
static uint32_t next_correlation(rocl_writer *w)
{
    enum { BLOCK = 256 };
    rocl_core *c = rocl_core_peek();
    if (w->correlation == w->correlation_end && c) {
        w->correlation = atomic_fetch_add(&c->next_correlation, BLOCK);
        w->correlation_end = w->correlation + BLOCK;
    }
    return w->correlation++;
}

uint64_t rocl_cap_correlate(void)
{
    rocl_writer *w = rocl_enter_silently();
    uint64_t number = 0;
    if (!w)
        return 0;
    rocl_open *open = NULL; /* the outermost region */
    for (uint32_t i = 0; !open && i < w->regions.depth && i < ROCL_OPEN_MAX; i++)
        if (w->regions.open[i].ticks)
            open = &w->regions.open[i];
    if (open && open->correlation) {
        number = open->correlation;
    } else if (open && rocl_reserve(w, 0)) {
        uint8_t body[ROCL_VARINT_MAX + 1], *end;
        number = open->correlation = next_correlation(w);
        end = rocl_varint_put(body, number);
        *end++ = 1; /* the outermost */
        end = rocl_put_record(w->pos, ROCL_REC_CORRELATE, body, (size_t)(end - body));
        rocl_commit(w, end, 0);
    }
    rocl_leave();
    return number;
}

/* ---- markers --------------------------------------------------------------------------------- */

/* The text is written into the chunk before its first use. false: the event was dropped. */
static bool put_marker(rocl_writer *w, uint8_t type, const char *text, uint64_t number)
{
    uint32_t id = rocl_reserve(w, 0) ? rocl_text_id(w, text, strlen(text), 0) : 0;
    if (UNLIKELY(!id))
        return false;
    uint8_t *p = w->pos;
    uint64_t now = rocl_ticks();
    *p++ = type;
    p = rocl_put_delta(w, p, now);
    p = rocl_varint_put(p, id);
    if (type == ROCL_REC_START)
        p = rocl_varint_put(p, number);
    rocl_commit(w, p, 1);
    return true;
}

static void record_marker(uint8_t type, const char *text, uint64_t number)
{
    rocl_writer *w = rocl_enter();
    if (!w)
        return;
    if (!rocl_is_paused(w))
        put_marker(w, type, text ? text : "", number);
    rocl_leave();
}

void rocl_cap_mark(const char *text)
{
    record_marker(ROCL_REC_MARK, text, 0);
}

void rocl_cap_start(const char *text, uint64_t number)
{
    record_marker(ROCL_REC_START, text, number);
}

void rocl_cap_push(const char *text)
{
    rocl_writer *w = rocl_enter();
    if (!w)
        return;
    rocl_open open = {0};
    if (!rocl_is_paused(w) && put_marker(w, ROCL_REC_PUSH, text ? text : "", 0)) {
        const rocl_seen_text *t = &w->texts[w->last_text];
        open = (rocl_open){.ticks = w->last, .text = t->at, .len = t->len};
    }
    stack_push(&w->ranges, open);
    rocl_leave();
}

void rocl_cap_pop(void)
{
    uint64_t now = rocl_ticks_if_on();
    rocl_writer *w = rocl_enter_silently();
    if (w) {
        put_end(w, &w->ranges, ROCL_REC_POP, now);
        rocl_leave();
    }
}

/* A range that was started is stopped also in a pause; the stop of one that was not
 * started has no effect on readers. */
void rocl_cap_stop(uint64_t number)
{
    uint64_t now = rocl_ticks_if_on();
    rocl_writer *w = rocl_enter_silently();
    if (!w)
        return;
    if (rocl_reserve_for_end(w)) {
        uint8_t *p = w->pos;
        *p++ = ROCL_REC_STOP;
        p = rocl_put_delta(w, p, now);
        rocl_commit(w, rocl_varint_put(p, number), 1);
    }
    rocl_leave();
}

/* ---- names and pauses ------------------------------------------------------------------------ */

static void put_text_record(rocl_writer *w, uint8_t type, const char *text, size_t n)
{
    if (rocl_reserve(w, n + ROCL_HOT))
        rocl_commit(w, rocl_put_record(w->pos, type, text, n), 0);
}

void rocl_cap_thread_name(const char *name)
{
    rocl_writer *w = rocl_enter_silently();
    if (!w)
        return;
    snprintf(w->name, sizeof w->name, "%s", name ? name : "");
    put_text_record(w, ROCL_REC_THREAD, w->name, strlen(w->name));
    rocl_leave();
}

/* A ring gives up chunks: there each has all names. */
void rocl_cap_name(rocl_chunk_named what, uint64_t number, const char *name)
{
    enum { LONGEST = 255 };
    char body[LONGEST + 2 * ROCL_VARINT_MAX];
    rocl_writer *w = rocl_enter_silently();
    rocl_core *c = rocl_core_peek();
    if (!w)
        return;
    uint8_t *p = rocl_varint_put((uint8_t *)body, what);
    p = rocl_varint_put(p, number);
    size_t head = (size_t)((char *)p - body), n = name ? strnlen(name, LONGEST) : 0;
    memcpy(p, name ? name : "", n);
    if (c && rocl_set.policy == ROCL_RING)
        rocl_core_preamble_add(c, ROCL_REC_LABEL, body, head + n);
    put_text_record(w, ROCL_REC_LABEL, body, head + n);
    rocl_leave();
}

static void set_paused(uint32_t tid, bool paused)
{
    rocl_writer *w = rocl_enter_silently();
    rocl_core *c = rocl_core_peek();
    if (!w)
        return;
    if (!tid)
        atomic_store(&rocl_paused, paused);
    else if (c && (tid == w->tid || (w = rocl_writer_of(c, tid))))
        atomic_store(&w->paused, paused);
    rocl_leave();
}

void rocl_cap_pause(uint32_t tid)
{
    set_paused(tid, true);
}

void rocl_cap_resume(uint32_t tid)
{
    set_paused(tid, false);
}

bool rocl_cap_is_paused(void)
{
    const rocl_writer *w = rocl_me.writer;
    return w ? rocl_is_paused(w) : atomic_load_explicit(&rocl_paused, memory_order_relaxed);
}
