/* Reads traces that rtg2json wrote (--style trace): GPU work is in processes named after GPUs, and
 * the categories of work are our kinds. Names of processes and rows may be anywhere in the file, so
 * the first pass runs twice: to learn them, and to use them. */
#pragma once

#include <pthread.h>

#include "base/json_index.h"
#include "source/chrome/who.h"
#include "source/chrome/work.h"

enum { CHROME_OWN_MAX = 4096 }; /* the most GPUs, and processes whose work is distinguished */

typedef struct chrome_own_row {
    uint64_t pid, tid; /* tid ROCL_NO_KEY: the process itself */
    uint32_t name;     /* text */
    int64_t gpu;       /* of a process that is a GPU: its number, else -1 */
    uint64_t owner;    /* of a row of a GPU: the process that it names, else ROCL_NO_KEY */
    uint64_t thread; /* of a row of overlapping calls: the row of their thread, else ROCL_NO_KEY */
} chrome_own_row;

typedef struct chrome_own {
    bool is, known; /* rtg2json wrote it; the rows are known */
    const chrome_who *who;
    pthread_mutex_t lock; /* of the rest, until the rows are known */
    chrome_own_row *rows;
    size_t count, cap;
    rocl_map index;                /* pid and tid, mixed */
    uint32_t gpus[CHROME_OWN_MAX]; /* of rows */
    size_t gpu_count;
} chrome_own;

void chrome_own_close(chrome_own *o);
/* Is it such a file? *base: what its times are relative to. */
rocl_status chrome_own_find(chrome_own *o, const rocl_json_index *x, const rocl_spool *spool,
                            unsigned flags, int64_t *base, rocl_error *err);
/* Notes the name of a process or a row. Any worker. False: memory is out. */
bool chrome_own_note(chrome_own *o, uint64_t pid, uint64_t tid, uint32_t name);
/* After the first pass. */
void chrome_own_learn(chrome_own *o, const rocl_trace *t);
/* Is the process of a record a GPU? Then that becomes its agent, and its process is the one named
 * by its row. The thread of an overlapping call becomes that of its row. */
bool chrome_own_place(const chrome_own *o, rocl_source_record *r);
/* Makes it a record of our kind; *work: it is GPU work. False: its arguments are not JSON. */
bool chrome_own_make(const chrome_own *o, const rocl_trace *t, rocl_source_record *r,
                     const chrome_work *k, chrome_worker *w, const chrome_event *e, bool *work);
/* The name of the stream of GPU work, by the row that it is drawn on; empty: it derives from the
 * number, or the row is of something else. */
rocl_view chrome_own_stream_name(const chrome_own *o, const rocl_trace *t, const chrome_event *e,
                                 uint64_t stream);
/* After the first pass: sets the numbers and names of GPUs. */
rocl_status chrome_own_name_gpus(const chrome_own *o, rocl_trace *t, rocl_capture *c,
                                 rocl_error *err);
