/* Inside the report on counters: what is collected (counter.c) for the tables (counter_tables.c).
 */
#ifndef ROCL_ANALYSIS_COUNTER_H
#define ROCL_ANALYSIS_COUNTER_H

#include "analysis/analysis.h"

/* Both kinds of keys are compared and interned as bytes: no holes. */
typedef struct group_key {
    uint32_t kernel, counter, units; /* texts */
    uint32_t kind;
    rocl_agent_key agent;
} group_key;

typedef struct series_key {
    group_key group;
    uint32_t capture, counter;
    int64_t place[5]; /* XCC and so on */
} series_key;

typedef struct sum {
    double sum, rest;
} sum;

typedef struct values {
    union {
        group_key group; /* is where that of a series begins */
        series_key series;
    };
    uint64_t count;
    double min, max;
    sum total;
    sum weighted, time; /* of a series: value by ns that it lasted, and ns */
    double last;
    int64_t last_time;
} values;

typedef struct counters {
    rocl_collector c;
    rocl_strings *groups, *series;
    rocl_sorter *by_value, *by_time;
} counters;

/* ---- counter.c ---- */

/* Values for each of the keys, still without any; free them. NULL: memory is out. */
values *rocl_counter_open(const rocl_strings *keys, size_t size, size_t *count);
/* From a sorter by value, or by time. */
rocl_status rocl_counter_fill(rocl_sorter *sorter, values *all, bool timed, rocl_error *err);
double rocl_counter_total(const sum *s);
void rocl_counter_merge(values *into, const values *from);
double rocl_counter_mean(const values *g);
/* Weighted by the time that each value lasted. */
double rocl_counter_mean_over_time(const values *g);

/* ---- counter_tables.c ---- */

rocl_status rocl_counter_tables(counters *s, rocl_tables *out, rocl_error *err);

#endif
