/* Which process GPU work belongs to, which it does not say itself: that of the call with its
 * correlation. Nearly always only one process of a file has calls. If several have, as in files
 * that tools join from several ranks, the first pass over the file runs three times: to find that
 * out, to sort calls by process, and to use the result. In a file with groups (see merged.h) calls
 * are looked for in the group of the work. */
#pragma once

#include <pthread.h>

#include "base/map.h"
#include "source/records/lookup.h"
#include "source/records/records.h"

typedef enum chrome_pass {
    PASS_FINDS_CALLERS, /* nothing is known yet */
    PASS_SORTS_CALLS,   /* several processes have calls: collects which calls are whose */
    PASS_KNOWS_CALLERS  /* or need not know them */
} chrome_pass;

typedef struct chrome_callers {
    chrome_pass pass;
    pthread_mutex_t lock; /* of the next two, in PASS_FINDS_CALLERS */
    rocl_idset processes; /* that have calls, and rows of GPU work in groups */
    uint64_t one;         /* one with calls */
    /* group, correlation, 0, process of a call; group, correlation, 1, row of work; begin */
    rocl_sorter *calls;
    rocl_lookup *owners;  /* group, correlation -> process of its calls, if it is one; or NULL */
    bool collided;        /* processes without a group have calls with the same correlation */
    rocl_map row_index;   /* a row of work or a group, mixed -> index of its process */
    uint64_t *row_owners; /* processes; ROCL_NO_KEY: several */
    size_t row_count, row_cap;
    rocl_map claim_index; /* a row and a process, mixed -> index of a claim */
    struct chrome_claim *claims;
    size_t claim_count, claim_cap;
} chrome_callers;

/* What a worker keeps; zeroed at first. */
typedef struct chrome_callers_worker {
    uint64_t last; /* process that was noted, plus 1 */
    rocl_lookup_pages owners;
} chrome_callers_worker;

void chrome_callers_close(chrome_callers *c);

/* Notes a call, whose link and process are set. For any worker, like the next one. */
rocl_status chrome_note_call(chrome_callers *c, chrome_callers_worker *w, rocl_records *to,
                             uint64_t group, const rocl_source_record *call, rocl_error *err);
/* Sets the process of work that does not name it and whose link is set; row: its pid in the file,
 * which decides for work without a call, as the group does if only one process of it has calls. It
 * stays unknown if only one process of the file has calls. */
rocl_status chrome_find_caller(chrome_callers *c, chrome_callers_worker *w, rocl_records *to,
                               uint64_t group, uint64_t row, rocl_source_record *work,
                               rocl_error *err);
/* A number of a call or an operator, as one of the whole file. */
uint64_t chrome_number_in_file(const chrome_callers *c, uint64_t process, uint64_t number);
/* After a first pass: `passed` of rocl_record_format. */
rocl_status chrome_learn_callers(chrome_callers *c, rocl_records_input *in, bool *again,
                                 rocl_error *err);
