/* Counter values: of dispatches over their own time, samples, allocated bytes over time. Readers
 * tell counters by process and name. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/json_put.h"
#include "sink/chrome/chrome.h"
#include "timeline/displayed.h"

typedef struct series {
    rocl_buf name; /* escaped; empty: not met yet */
    uint32_t pid;
    uint64_t sum; /* of bytes; absurd sizes make it wrap and come back, not overflow */
} series;

static series *new_series(size_t n)
{
    return calloc(n, sizeof(series));
}

static void free_series(series *all, size_t n)
{
    for (size_t i = 0; all && i < n; i++)
        rocl_buf_free(&all[i].name);
    free(all);
}

/* "name (unit) (pid 12)" */
static void name_series(series *s, const char *name, const char *unit, const char *whose)
{
    rocl_json_put(&s->name, name, strlen(name));
    if (*unit) {
        rocl_buf_str(&s->name, " (");
        rocl_json_put(&s->name, unit, strlen(unit));
        rocl_buf_byte(&s->name, ')');
    }
    rocl_buf_str(&s->name, whose);
}

static void write_value(chrome_sink *c, const series *s, int64_t time, double v)
{
    chrome_put_value(c->stream, s->pid, &(chrome_value){time, v}, &s->name);
    c->report.values++;
}

static uint32_t at_most(uint32_t index, uint32_t count)
{
    return index < count ? index : count;
}

/* ---- allocated bytes, a running sum per agent ---- */

typedef struct levels {
    chrome_sink *c;
    series *agents; /* agent_count + 1 */
    uint32_t process, count;
} levels;

static void agent_name(const chrome_sink *c, uint32_t agent, char *s, size_t size)
{
    const rocl_capture *capture = c->world.capture;
    const rocl_gpu *g = rocl_gpus_find(&c->world.gpus, capture, agent);
    if (g)
        snprintf(s, size, "GPU %" PRIu32, g->id);
    else
        snprintf(s, size, "%s",
                 agent < capture->agent_count ? rocl_str(c->trace, capture->agents[agent].label)
                                              : "unknown agent");
}

static void show_level(levels *l, uint32_t agent, int64_t time)
{
    series *s = &l->agents[agent];
    char words[96], name[128];
    if (!s->name.len) {
        agent_name(l->c, agent, words, sizeof words);
        snprintf(name, sizeof name, "%s allocated", words);
        s->pid = chrome_pid(&l->c->world, l->process);
        name_series(s, name, "bytes", "");
    }
    write_value(l->c, s, time, (double)(int64_t)s->sum);
}

/* What was allocated before the window is shown at its begin. */
static void show_levels(levels *l)
{
    for (uint32_t i = 0; i <= l->count; i++)
        if (l->agents[i].sum)
            show_level(l, i, l->c->from);
}

static void add_to_level(levels *l, bool inside)
{
    const rocl_track_event *e = &l->c->event;
    uint32_t agent = at_most(e->agent, l->count);
    l->agents[agent].sum += (uint64_t)e->delta;
    if (inside && e->delta)
        show_level(l, agent, e->time);
}

rocl_status chrome_write_allocated(chrome_sink *c, rocl_error *err)
{
    levels l = {.c = c, .process = c->event.index, .count = c->world.capture->agent_count};
    bool begun = c->event.time >= c->from;
    rocl_status st = ROCL_OK;
    l.agents = new_series(l.count + (size_t)1);
    if (!l.agents)
        return rocl_fail_memory(err);
    while (st == ROCL_OK && chrome_same(c, ROCL_SEQUENCE_ALLOCATED, l.process)) {
        if (!begun && c->event.time >= c->from) {
            show_levels(&l);
            begun = true;
        }
        if (c->event.time <= c->to)
            add_to_level(&l, begun);
        st = chrome_next(c, err);
    }
    if (!begun && st == ROCL_OK)
        show_levels(&l);
    free_series(l.agents, l.count + (size_t)1);
    return st;
}

/* ---- counters of dispatches ---- */

typedef struct pmc {
    chrome_sink *c;
    series *counters; /* counter_count + 1 */
    rocl_displayed shown;
} pmc;

/* The GPU's process, else the counter's. */
static void place_counter(chrome_sink *c, series *s, uint32_t agent, const rocl_counter *k,
                          const char *prefix, const char *suffix)
{
    char words[96] = "", name[384], whose[40] = "";
    uint32_t process = k && k->process != ROCL_NONE ? k->process : 0;
    s->pid = chrome_gpu_pid(&c->world, agent);
    if (s->pid) {
        chrome_whose(&c->world, process, whose, sizeof whose);
    } else {
        s->pid = chrome_pid(&c->world, process);
        agent_name(c, agent, words, sizeof words);
    }
    snprintf(name, sizeof name, "%s%s%s%s%s", prefix, words, words[0] ? " " : "",
             k ? rocl_str(c->trace, k->name) : "unknown counter", suffix);
    name_series(s, name, k ? rocl_str(c->trace, k->units) : "", whose);
}

static const rocl_counter *counter_at(const chrome_sink *c, uint32_t index)
{
    const rocl_capture *capture = c->world.capture;
    return index < capture->counter_count ? &capture->counters[index] : NULL;
}

/* Values whose dispatch has ended go back to 0, in the order of time. */
static void run_out(pmc *m, int64_t until, uint32_t successor)
{
    uint32_t counter;
    int64_t when;
    while (rocl_displayed_end(&m->shown, until, successor, &counter, &when))
        write_value(m->c, &m->counters[counter], when, 0);
}

static void write_one(pmc *m, uint32_t agent)
{
    chrome_sink *c = m->c;
    const rocl_track_event *e = &c->event;
    uint32_t counter = at_most(e->counter, c->world.capture->counter_count);
    series *s = &m->counters[counter];
    if (!s->name.len)
        place_counter(c, s, agent, counter_at(c, counter), "", "");
    run_out(m, e->time, counter);
    write_value(c, s, e->time, e->value);
    rocl_displayed_set(&m->shown, counter, e->end);
}

rocl_status chrome_write_pmc(chrome_sink *c, rocl_error *err)
{
    uint32_t index = c->event.index, count = c->world.capture->counter_count + 1;
    pmc m = {.c = c, .counters = new_series(count)};
    rocl_status st = ROCL_OK;
    if (!rocl_displayed_open(&m.shown, count) || !m.counters)
        st = rocl_fail_memory(err);
    while (st == ROCL_OK && chrome_same(c, ROCL_SEQUENCE_PMC, index)) {
        write_one(&m, index);
        st = chrome_next(c, err);
    }
    if (st == ROCL_OK)
        run_out(&m, INT64_MAX, ROCL_NONE);
    rocl_displayed_close(&m.shown);
    free_series(m.counters, count);
    return st;
}

/* ---- samples ---- */

typedef struct sampled {
    rocl_map index; /* place -> series */
    series *all;
    uint32_t count;
    size_t cap;
} sampled;

static series *place_at(sampled *s, uint64_t key)
{
    uint32_t at = rocl_map_get(&s->index, key, ROCL_NONE);
    if (at != ROCL_NONE)
        return &s->all[at];
    if (!ROCL_GROW(s->all, s->cap, s->count + (size_t)1) || !rocl_map_put(&s->index, key, s->count))
        return NULL;
    return &s->all[s->count++];
}

static void name_place(chrome_sink *c, series *s)
{
    static const char *const places[5] = {"xcc", "se", "instance", "sa", "wgp"};
    const rocl_track_event *e = &c->event;
    const rocl_counter *known = counter_at(c, e->index);
    rocl_counter k = known ? *known : (rocl_counter){.agent = ROCL_NONE};
    char where[192] = "";
    size_t n = 0;
    for (unsigned i = 0; i < 5; i++)
        if (e->place[i] >= 0)
            n += (size_t)snprintf(where + n, sizeof where - n, " %s %" PRId64, places[i],
                                  e->place[i]);
    k.process = e->thread;
    place_counter(c, s, k.agent, &k, e->kind == ROCL_SPM ? "SPM " : "", where);
}

static rocl_status write_sample(chrome_sink *c, sampled *places, rocl_error *err)
{
    const rocl_track_event *e = &c->event;
    series *s = place_at(places, rocl_mix64(e->address ^ e->thread));
    if (!s)
        return rocl_fail_memory(err);
    if (!s->name.len)
        name_place(c, s);
    write_value(c, s, e->time, e->value);
    return ROCL_OK;
}

rocl_status chrome_write_sampled(chrome_sink *c, rocl_error *err)
{
    uint32_t index = c->event.index;
    sampled places = {0};
    rocl_status st = ROCL_OK;
    while (st == ROCL_OK && chrome_same(c, ROCL_SEQUENCE_SAMPLED, index)) {
        st = write_sample(c, &places, err);
        if (st == ROCL_OK)
            st = chrome_next(c, err);
    }
    rocl_map_free(&places.index);
    free_series(places.all, places.count);
    return st;
}
