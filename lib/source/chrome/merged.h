/* Files that tools merged from those of several ranks. Pids, correlations and numbers of operators
 * mean something only within what came from one file: a group.
 *
 *     SGLang's profile_merger  pids are texts: "[TP01-DP00] 83" of a process, "[TP01-DP00] 0" of a
 *                              GPU. The group is the text in brackets.
 *     TraceLens' TraceFuse     each event has its rank (args.rank), and the pid that it had before
 *                              a number was added to it (args.pid_raw).
 *     others                   show it only by calls of several processes that have the same
 *                              correlation: then each process that has calls is a group.
 *
 * GPUs of different groups are different ones, though their numbers be the same: each group is on a
 * node of its own, of which nothing is known. */
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "base/map.h"
#include "source/chrome/event.h"

/* A group that is a rank; that of a text in brackets is the number of the text. */
#define CHROME_GROUP_OF_RANK ((uint64_t)1 << 32)

typedef struct chrome_merged {
    pthread_mutex_t lock; /* of the members, during the first pass */
    rocl_map index;       /* process, mixed -> member */
    chrome_member *members;
    size_t count, cap;
    atomic_bool ranked; /* some events say their rank, as TraceFuse writes them */
} chrome_merged;

void chrome_merged_close(chrome_merged *m);

/* An event of PyTorch's profiler whose pid is a text: sets its group, and takes away its process if
 * what follows the brackets is none. Without brackets the number at the end is the pid. */
void chrome_place_in_group(rocl_records *to, rocl_source_record *r, chrome_event *e);
/* The group of an event whose arguments say its rank. */
void chrome_read_group(chrome_merged *m, chrome_event *e, const chrome_args *a);
/* In the first pass: notes the group of a process, which may be none. Any worker. False: memory is
 * out. */
bool chrome_note_member(chrome_merged *m, chrome_worker *w, rocl_records *to,
                        const chrome_member *member);
/* After the first pass: names, pids, ranks and nodes of processes in groups. each: each process
 * that was noted without a group is one. *several: there are several groups. */
rocl_status chrome_apply_groups(const chrome_merged *m, rocl_records_input *in, bool each,
                                bool *several, rocl_error *err);
