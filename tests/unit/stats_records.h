/* The events of a trace once more, by a plain scan, from which tests count by the simplest way
 * there is. */
#ifndef TEST_STATS_RECORDS_H
#define TEST_STATS_RECORDS_H

#include "tests/unit/stats.h"

#include <pthread.h>

typedef struct record {
    const rocl_capture *capture;
    rocl_kind kind;
    bool seen; /* for tests to mark */
    union {
        rocl_event e;
        rocl_dispatch dispatch;
        rocl_copy copy;
        rocl_alloc alloc;
        rocl_counter_value counter;
        rocl_sample_value sample;
    };
} record;

typedef struct records {
    uint32_t kinds;
    record *all;
    size_t count, cap;
    pthread_mutex_t lock;
} records;

/* Of the kinds; the caller frees `all`. */
records records_of(rocl_trace *t, uint32_t kinds);

/* A report of a trace without events has so many tables, and no rows. */
void check_nothing(uint32_t report, size_t tables);

#endif
