/* Traces that rtg2json wrote (--layout trace) come back: GPU work is in processes that are called
 * as GPUs, and the categories of work are our kinds. Names of processes and rows stand anywhere in
 * the file, so the first pass is done twice: it learns them, and knows them. */
#ifndef ROCL_SOURCE_CHROME_OWN_H
#define ROCL_SOURCE_CHROME_OWN_H

#include <pthread.h>

#include "base/json_index.h"
#include "source/chrome/work.h"

enum { CHROME_OWN_MAX = 4096 }; /* GPUs, and processes of which work is told apart */

typedef struct chrome_own_row {
    uint64_t pid, tid; /* tid ROCL_NO_KEY: the process itself */
    uint32_t name;     /* text */
    int64_t gpu;       /* of a process: the number of the GPU that it is, -1 none */
    uint64_t owner;    /* of a row of a GPU: the process that it names; ROCL_NO_KEY */
    uint64_t thread;   /* of a row of calls that overlap: that of their thread; ROCL_NO_KEY */
} chrome_own_row;

typedef struct chrome_own {
    bool is, known;       /* rtg2json wrote it; the rows are known */
    pthread_mutex_t lock; /* of the rest, until they are */
    chrome_own_row *rows;
    size_t count, cap;
    rocl_map index;                /* pid and tid, mixed */
    uint32_t gpus[CHROME_OWN_MAX]; /* of rows */
    size_t gpu_count;
} chrome_own;

void chrome_own_open(chrome_own *o);
void chrome_own_close(chrome_own *o);
/* Is it such a file? *base: what its times are relative to. */
rocl_status chrome_own_find(chrome_own *o, const rocl_json_index *x, const rocl_spool *spool,
                            unsigned flags, int64_t *base, rocl_error *err);
/* What a process or a row is called. Any worker. False: memory is out. */
bool chrome_own_note(chrome_own *o, uint64_t pid, uint64_t tid, uint32_t name);
/* Behind the first pass. */
void chrome_own_learn(chrome_own *o, const rocl_trace *t);
/* Is the process of a record a GPU? Then that becomes its agent, and its process is the one that
 * its row names. Of a call that overlaps others the thread becomes that of its row. */
bool chrome_own_place(const chrome_own *o, rocl_source_record *r);
/* Makes it a record of our kind; *work: it is one of work. False: its arguments are no JSON. */
bool chrome_own_make(const chrome_own *o, const rocl_trace *t, rocl_source_record *r,
                     const chrome_work *k, chrome_worker *w, const chrome_event *e, bool *work);
/* Behind the first pass: GPUs have their numbers and names. */
rocl_status chrome_own_name_gpus(const chrome_own *o, rocl_trace *t, rocl_capture *c,
                                 rocl_error *err);

#endif
