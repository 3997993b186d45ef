/* What the files of records/ share: the input's own side of a run, and a worker in a pass. */
#ifndef ROCL_SOURCE_RECORDS_RUN_H
#define ROCL_SOURCE_RECORDS_RUN_H

#include <pthread.h>
#include <stdalign.h>

#include "source/allocs.h"
#include "source/records/registry.h"
#include "source/rtg/rtg.h"

enum { ROCL_FAULTS_REPORTED = 5 };

/* The place of a record in its input: the file in the upper bits. */
enum { ROCL_WHERE_BITS = 44 };

typedef struct rocl_bad_record {
    uint64_t piece, line, where; /* line: within the piece */
    const char *why;
} rocl_bad_record;

struct rocl_records {
    alignas(ROCL_CACHE_LINE) rocl_records_input *in;
    unsigned number;
    const rocl_piece *piece;
    bool indexing;
    uint64_t line; /* of the piece, from 0 */
    rtg_reader reader;
    rtg_names *names;
    void *state; /* the format's */
    bool failed; /* memory was out when an argument or text came */
    /* first pass */
    rocl_registry keys[ROCL_KEYS];
    rocl_registry names_of[ROCL_KEY_THREAD + 1]; /* processes, threads */
    int64_t first, last;
    uint64_t halves, allocs, onces;
    /* second pass */
    rocl_batcher out;
    size_t pending_args; /* of the next record: the last ones of `out` */
};

typedef struct rocl_records_run {
    rocl_registry keys[ROCL_KEYS];
    rocl_registry names_of[ROCL_KEY_THREAD + 1]; /* processes, threads */
    uint64_t defined;                            /* keys that the format defined */
    rocl_records *workers;                       /* opt.jobs of them, during a pass */
    uint64_t *lines;     /* the number of the first line of each piece, from 1 in each file */
    int64_t first, last; /* times; none when first > last */
    uint64_t halves, allocs, onces; /* how many records are halves, allocations, go out once */
    rocl_sorter *joining;           /* halves, during a pass */
    rocl_sorter *unique;            /* dispatches that go out once, during the second pass */
    rocl_allocs *allocations;
    uint32_t kinds; /* wanted */
    bool args;
    pthread_mutex_t lock; /* of the faults */
    uint64_t faults[ROCL_FAULTS];
    rocl_bad_record bad[ROCL_FAULTS_REPORTED];
    unsigned bad_count;
    bool reported;
} rocl_records_run;

static inline uint64_t rocl_place(const rocl_records *w, uint64_t where)
{
    return (uint64_t)w->piece->file << ROCL_WHERE_BITS | where;
}

/* The index of a definition; ROCL_NONE for none. */
uint32_t rocl_records_resolve(const rocl_records *w, rocl_key_of of, uint64_t process,
                              uint64_t agent, uint64_t number);

/* halves.c: adds a half to the run's sorter; joins them, emitting (second pass) or counting those
 * that lack the other half (first pass, to `w` in indexing state). */
rocl_status rocl_half_add(rocl_records *w, const rocl_source_record *r, rocl_error *err);
rocl_status rocl_halves_join(rocl_records *w, rocl_error *err);

/* faults.c */
void rocl_bad_record_add(rocl_records *w, uint64_t piece, uint64_t line, uint64_t where,
                         rocl_fault fault, const char *why);
void rocl_bad_records_report(rocl_records_input *in);
rocl_status rocl_bad_records_refuse(const rocl_records_input *in, rocl_error *err);

#endif
