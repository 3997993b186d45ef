/* The stages of a filter, private to this folder. Each stage tests a whole batch: it clears keep[i]
 * of what does not pass and leaves the rest alone, so stages can be put in any order. */
#pragma once

#include <regex.h>

#include "base/extsort.h"
#include "base/map.h"
#include "base/order.h"
#include "model/steps.h"
#include "model/trace.h"

static inline bool rocl_list_used(const char *const *list)
{
    return list && list[0];
}

static inline const char *rocl_skip_blanks(const char *s)
{
    while (*s == ' ' || *s == '\t')
        s++;
    return s;
}

/* ---- time_expr.c: times and durations as text ---- */

typedef enum rocl_time_base {
    ROCL_TIME_UNSET,
    ROCL_TIME_CLOCK,       /* ns on the clock of the trace */
    ROCL_TIME_FRACTION,    /* of the trace, in ROCL_TIME_WHOLEs */
    ROCL_TIME_AFTER_FIRST, /* ns */
    ROCL_TIME_BEFORE_LAST, /* ns */
} rocl_time_base;

#define ROCL_TIME_WHOLE INT64_C(100000000000000) /* 100 % with twelve decimals */

typedef struct rocl_time {
    rocl_time_base base;
    int64_t value; /* never negative */
    bool beyond;   /* a share of more than the whole was asked for, the whole is taken */
} rocl_time;

/* `option` is for the error: `--start: "10x": ...`. */
rocl_status rocl_time_parse(rocl_time *time, const char *option, const char *text, rocl_error *err);
/* In ns; saturates. first and last are only used for relative times. */
int64_t rocl_time_at(const rocl_time *time, int64_t first, int64_t last);

rocl_status rocl_duration_parse(int64_t *ns, const char *option, const char *text, rocl_error *err);

/* A duration with or without a sign; false: not a duration. */
bool rocl_offset_parse(int64_t *ns, const char *text);

/* A decimal number up to 2^63 - 1: the end of its digits, NULL when there are none or too many. */
const char *rocl_parse_number(const char *s, int64_t *value);

/* "3" or "2-5", not descending: what follows it and blanks; NULL: it is neither. */
const char *rocl_parse_range(const char *s, int64_t *first, int64_t *last);

/* ---- who.c: ranks, processes, agents ---- */

typedef struct rocl_who_capture {
    uint8_t *processes; /* by index: passes; one block with agents */
    uint8_t *agents;    /* by index: chosen */
    bool any;           /* some event of the capture can pass */
    bool all;           /* every event passes, also those of no known process */
} rocl_who_capture;

typedef struct rocl_who {
    rocl_who_capture *captures; /* NULL: no such option */
    size_t count;
    bool by_agent;
} rocl_who;

rocl_status rocl_who_new(rocl_who *w, const rocl_trace *t, rocl_error *err);
void rocl_who_free(rocl_who *w);
void rocl_who_test(const rocl_who *w, const rocl_batch *b, uint8_t *keep);

static inline bool rocl_who_process(const rocl_who *w, uint32_t capture, uint32_t process,
                                    uint32_t process_count)
{
    if (!w->captures)
        return true;
    const rocl_who_capture *c = &w->captures[capture];
    return process < process_count ? c->processes[process] : c->all;
}

/* ---- marker.c: the occurrence of a marker that an option means ---- */

typedef struct rocl_occurrence { /* of a marker; in the order of these fields */
    int64_t start;
    uint32_t capture, kind;
    uint64_t id;
    int64_t end;
} rocl_occurrence;

/* Picks the n-th or the last of the occurrences of a name, holding no more than n of them. */
typedef struct rocl_pick {
    uint32_t name; /* text; ROCL_NONE: nothing is looked for */
    bool last;
    uint64_t n;            /* from 1 */
    rocl_occurrence *heap; /* the n first so far, the last of them on top */
    size_t len, cap;
    uint64_t total;
} rocl_pick;

typedef struct rocl_marker {
    const char *option, *text; /* text NULL: not used */
    rocl_pick whole;           /* the text as a name */
    rocl_pick numbered;        /* the text as NAME:N */
} rocl_marker;

/* text NULL: not used. last: of several called NAME the last is meant, not the first. */
rocl_status rocl_marker_new(rocl_marker *m, const rocl_trace *t, const char *option,
                            const char *text, bool last, rocl_error *err);
void rocl_marker_free(rocl_marker *m);
/* An event of a batch, whether it is the marker or not; false when memory is out. */
bool rocl_marker_see(rocl_marker *m, const rocl_batch *b, const rocl_event *e);
/* The occurrence that is meant, of those seen; NULL: none. */
const rocl_occurrence *rocl_marker_seen(const rocl_marker *m);
/* Finds that occurrence; if there is none, ROCL_USAGE says how many of the name there are. */
rocl_status rocl_marker_find(const rocl_marker *m, const rocl_occurrence **occurrence,
                             rocl_error *err);

/* ---- window.c ---- */

typedef struct rocl_window {
    bool used;
    rocl_window_mode mode;
    rocl_time start, end;
    const char *start_text, *end_text;
    rocl_marker start_marker, end_marker;
    int64_t from, to; /* once resolved: both edges belong to the window */
} rocl_window;

rocl_status rocl_window_new(rocl_window *w, const rocl_trace *t, rocl_error *err);
void rocl_window_free(rocl_window *w);
bool rocl_window_marked(const rocl_window *w); /* needs markers */
/* An event of the name of a marker; every one of the trace in any order. */
rocl_status rocl_window_see(rocl_window *w, const rocl_batch *b, const rocl_event *e,
                            rocl_error *err);
/* ROCL_USAGE when the window ends before it starts. */
rocl_status rocl_window_check(const rocl_window *w, rocl_error *err);
rocl_status rocl_window_resolve(rocl_window *w, int64_t first, int64_t last, rocl_error *err);
void rocl_window_test(const rocl_window *w, const rocl_batch *b, uint8_t *keep);
void rocl_window_clip(const rocl_window *w, const rocl_batch *b, const uint8_t *keep);

/* ---- kinds.c: --include, --exclude ---- */

/* Is it a word for a kind of event: "kernel", "copies", "memory_copy"? */
bool rocl_find_kind(const char *word, size_t len, rocl_kind *kind);

typedef struct rocl_kind_word {
    char *text;           /* as given */
    const char *category; /* what a category begins with; NULL: the word is a kind only */
    uint32_t kinds;       /* what the word takes whatever the category */
    bool unknown; /* neither a kind nor a category that profilers write: the trace must have it */
    atomic_bool hit; /* something in the trace was meant by it */
} rocl_kind_word;

typedef struct rocl_kind_words {
    const char *option;
    rocl_kind_word *words;
    size_t count, cap;
    uint32_t kinds;   /* of all words */
    bool by_category; /* some word is about categories */
} rocl_kind_words;

typedef struct rocl_kinds {
    rocl_kind_words include, exclude;
    uint32_t possible; /* kinds of which some event can pass */
} rocl_kinds;

/* The lists that categories are in, per worker: there are few categories. */
typedef struct rocl_kind_cache {
    rocl_map lists; /* by text id of the category */
    uint32_t last, last_lists;
    bool any; /* last is set */
} rocl_kind_cache;

rocl_status rocl_kinds_new(rocl_kinds *k, const rocl_trace *t, rocl_error *err);
void rocl_kinds_free(rocl_kinds *k);
rocl_status rocl_kinds_test(rocl_kinds *k, rocl_kind_cache *cache, const rocl_trace *t,
                            const rocl_batch *b, uint8_t *keep, rocl_error *err);
/* Words that nothing was meant by, of those for kinds that were read: a notice, of unknown ones
 * ROCL_USAGE. */
rocl_status rocl_kinds_report(const rocl_kinds *k, const rocl_trace *t, uint32_t kinds_read,
                              rocl_error *err);

/* ---- period.c: --period ---- */

/* A time without events, then one with them; `repeat` times (0: for ever). Never empty. */
typedef struct rocl_period {
    uint64_t begin;           /* ns after the first event of the trace */
    uint64_t delay, duration; /* ns */
    uint64_t repeat;
} rocl_period;

typedef struct rocl_periods {
    rocl_period *v;
    size_t count; /* 0: no such option */
    rocl_window_mode mode;
    int64_t first; /* of the trace, once known */
} rocl_periods;

rocl_status rocl_periods_new(rocl_periods *p, const rocl_trace *t, rocl_error *err);
void rocl_periods_test(const rocl_periods *p, const rocl_batch *b, uint8_t *keep);
/* An event that reaches over several periods is cut where the first begins and the last ends. */
void rocl_periods_clip(const rocl_periods *p, const rocl_batch *b, const uint8_t *keep);
/* Clips the begin of an event, or its end, likewise. */
int64_t rocl_periods_clip_time(const rocl_periods *p, int64_t time, bool begin);
/* The first time with events that ends at `time` or after it; false: there is none. */
bool rocl_periods_next(const rocl_periods *p, int64_t time, int64_t *from, int64_t *to);
int64_t rocl_periods_end(const rocl_periods *p); /* of the last one; there is one */

/* ---- iterations.c: --kernel-iterations ---- */

typedef struct rocl_range {
    uint64_t first, last;
} rocl_range;

/* "3,5-8", also with brackets as rocprofv3 takes them, "[1-2],[5]": ascending ranges that do not
 * overlap, of numbers from `least` on. Free *ranges, also after a failure. */
rocl_status rocl_ranges_parse(const char *option, const char *text, int64_t least,
                              rocl_range **ranges, size_t *count, rocl_error *err);

/* A dispatch by its start, and by its event among those that start at once. */
typedef struct rocl_iteration {
    int64_t start;
    uint64_t id;
} rocl_iteration;

typedef struct rocl_iteration_span {
    rocl_iteration first, last;
} rocl_iteration_span;

/* The dispatches of one kernel name in a process. */
typedef struct rocl_iteration_group {
    uint64_t process; /* capture << 32 | process */
    uint32_t name;    /* text */
    size_t spans;     /* index of the first of its own; they end where those of the next begin */
} rocl_iteration_group;
ROCL_COMPARE_MEMBERS(rocl_compare_groups, rocl_iteration_group, process, name)

typedef struct rocl_iterations {
    rocl_range *ranges;           /* from 1 */
    size_t range_count;           /* 0: no such option */
    rocl_sorter *seen;            /* dispatches; NULL once the groups are known */
    rocl_iteration_group *groups; /* ascending; the last one is an end */
    size_t group_count, group_cap;
    rocl_iteration_span *spans;
    size_t span_count, span_cap;
} rocl_iterations;

rocl_status rocl_iterations_new(rocl_iterations *it, rocl_trace *t, rocl_error *err);
void rocl_iterations_free(rocl_iterations *it);
/* Every ROCL_DISPATCH batch of the trace, in any order; concurrent as rocl_sorter_add. */
rocl_status rocl_iterations_see(rocl_iterations *it, unsigned worker, const rocl_batch *b,
                                rocl_error *err);
/* Then once, before any test. */
rocl_status rocl_iterations_resolve(rocl_iterations *it, rocl_error *err);
void rocl_iterations_test(const rocl_iterations *it, const rocl_batch *b, uint8_t *keep);

/* ---- steps.c: --steps, --warmup ---- */

/* The process of times that count for all processes without steps of their own. */
#define ROCL_ANY_PROCESS UINT64_MAX

typedef struct rocl_step_time {
    uint64_t process; /* capture << 32 | process, or ROCL_ANY_PROCESS */
    int64_t from, to; /* what begins before `to` */
} rocl_step_time;

typedef struct rocl_step_filter {
    bool used;
    rocl_range *ranges;
    size_t range_count; /* 0: all */
    rocl_step_cache names;
    rocl_steps steps;
    rocl_step_time *times; /* ascending; those of a process do not overlap */
    size_t time_count, time_cap;
} rocl_step_filter;

rocl_status rocl_step_filter_new(rocl_step_filter *f, const rocl_trace *t, rocl_error *err);
void rocl_step_filter_free(rocl_step_filter *f);
/* Every marker of the trace, in any order, from one thread at a time. */
rocl_status rocl_step_filter_see(rocl_step_filter *f, const rocl_trace *t, const rocl_batch *b,
                                 const rocl_event *e, rocl_error *err);
/* Then once, before any test. ROCL_USAGE when no step is left; a notice says how many are not. */
rocl_status rocl_step_filter_resolve(rocl_step_filter *f, const rocl_trace *t, rocl_error *err);
void rocl_step_filter_test(const rocl_step_filter *f, const rocl_batch *b, uint8_t *keep);

/* The i-th event of a batch of dispatches or counters: the name of its kernel as it is shown, even
 * if the dispatch is shown under another. */
static inline uint32_t rocl_kernel_name_at(const rocl_batch *b, size_t i)
{
    const rocl_dispatch *d =
        (const rocl_dispatch *)(const void *)rocl_event_at(b, rocl_kind_size(b->kind), i);
    return d->kernel < b->capture->kernel_count ? b->capture->kernels[d->kernel].shown : d->e.name;
}

#define ROCL_KERNEL_KINDS (ROCL_BIT(ROCL_DISPATCH) | ROCL_BIT(ROCL_COUNTER))

/* ---- names.c: --name, --exclude-name ---- */

typedef struct rocl_names {
    const char *name_option, *exclude_option;
    bool of_kernels; /* tests dispatches and counters only, by the names of their kernels */
    const char *const *name, *const *exclude; /* patterns, NULL: none */
    size_t name_count, exclude_count;
    /* Some name was looked at, was wanted, was not wanted. */
    atomic_bool tested, hit, excluded;
} rocl_names;

/* Compiled patterns and their outcome for each name, per worker: regexec() locks its pattern.
 */
typedef struct rocl_name_pattern {
    regex_t regex;
    uint32_t kinds; /* of events that it is for */
} rocl_name_pattern;

typedef struct rocl_name_cache {
    rocl_name_pattern *patterns; /* name_count, then exclude_count */
    size_t count;                /* compiled */
    bool by_kind;                /* some are for one kind */
    uint8_t **pages;
    size_t page_count;
} rocl_name_cache;

void rocl_names_new(rocl_names *n, const rocl_options *o, bool of_kernels);
/* Compiles the patterns, if there are any, unless that is done: ROCL_USAGE when one is wrong. */
rocl_status rocl_names_compile(const rocl_names *n, rocl_name_cache *cache, rocl_error *err);
void rocl_name_cache_free(rocl_name_cache *cache);
rocl_status rocl_names_test(rocl_names *n, rocl_name_cache *cache, const rocl_trace *t,
                            const rocl_batch *b, uint8_t *keep, rocl_error *err);
void rocl_names_report(const rocl_names *n, const rocl_trace *t);
