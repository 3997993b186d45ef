/* Text of PyTorch's JSON. One thread walks through the records of a trace, in their order, and adds
 * what is only known there (kineto.c); workers make the text of whole blocks of them (text.c):
 *
 *     record -> kineto_item, record | text -> block -> text, by any worker -> file
 *
 * A block is a row of items, each an item and its record or text, without alignment. */
#pragma once

#include "base/strings.h"
#include "timeline/timeline.h"

/* The class of an event for PyTorch's tools. */
typedef enum kineto_class {
    KINETO_OTHER,      /* its category says it */
    KINETO_OPERATOR,   /* has a number, which what it launches has as well */
    KINETO_ANNOTATION, /* the same, and is drawn on the GPU, too */
    KINETO_CALL        /* may launch work */
} kineto_class;

typedef enum kineto_item_kind {
    KINETO_TEXT,   /* as it is */
    KINETO_RECORD, /* a call, an arrow, GPU work */
    KINETO_MEMORY  /* an allocation, of which the record is kineto.c's own */
} kineto_item_kind;

/* What a worker needs besides the record. */
typedef struct kineto_item {
    kineto_item_kind kind;
    bool first;           /* event of the file: no comma before it */
    bool linked;          /* an arrow goes from or to it */
    bool in_work_items;   /* its grid is written so */
    bool of_several;      /* the file has several processes: work says whose it is */
    uint64_t operator_id; /* "External id"; 0: none */
    int64_t total;        /* bytes allocated by now on its device */
    const rocl_capture *capture;
    uint64_t key[4]; /* of the record */
    size_t len;      /* of the record or text, which follow */
} kineto_item;

/* Common to all text; constant while there are blocks. */
typedef struct kineto_format {
    const rocl_trace *trace;
    bool group_by_queue;
    int64_t base;                      /* ns, which times are written from */
    uint32_t string_type, external_id; /* texts */
    const size_t *firsts;              /* by capture: its first process in pids */
    int64_t *pids;                     /* of the file at hand, where no two processes have one */
} kineto_format;

static inline int64_t kineto_pid(const kineto_format *f, const rocl_capture *c, uint32_t process)
{
    return f->pids[f->firsts[c->index] + process];
}

typedef struct kineto_writer { /* of one worker, or of the thread that walks */
    alignas(ROCL_CACHE_LINE) const kineto_format *format;
    rocl_text_cache texts;
    const rocl_capture *capture;
    rocl_buf *to;
    bool begun; /* an event has been written to the file */
} kineto_writer;

void kineto_writer_open(kineto_writer *w, const kineto_format *format);
void kineto_writer_close(kineto_writer *w);

/* The text of a block. */
rocl_status kineto_write_items(kineto_writer *w, const rocl_buf *in, rocl_buf *out,
                               rocl_error *err);

/* An "M": names, labels and order of processes and threads. text NULL: the number. */
void kineto_put_metadata(kineto_writer *w, const char *what, int64_t pid, int64_t tid,
                         const char *key, const char *text, int64_t number);
/* An annotation around the work that was launched from it. */
void kineto_put_gpu_annotation(kineto_writer *w, uint32_t name, uint64_t operator_id,
                               int64_t device, int64_t stream, int64_t first, int64_t last);

/* The rest of the list of the GPUs of a machine, even those of other ranks, as readers take the
 * number of GPUs of a machine from there. */
void kineto_put_devices(kineto_writer *w, uint32_t machine);

/* The category that PyTorch's tools know: of calls by their domain; NULL: its own. */
const char *kineto_class_of(const rocl_trace *t, const rocl_track_event *e, kineto_class *c);
/* The number that an operator has in its source. */
bool kineto_find_external_id(const kineto_format *f, const rocl_track_event *e, uint64_t *id);
int64_t kineto_tid(const kineto_format *f, const rocl_capture *c, uint32_t thread,
                   uint32_t process);
/* PyTorch's number of a device: its position among the GPUs of the machine. */
int64_t kineto_device(const rocl_capture *c, uint32_t agent);
int64_t kineto_stream(const kineto_format *f, const rocl_capture *c, const rocl_track_event *e);

/* The record of an allocation. */
typedef struct kineto_allocation {
    uint32_t thread, agent; /* indexes; ROCL_NONE */
    bool frees;
    int64_t bytes;
    uint64_t address;
} kineto_allocation;

bool kineto_decode_allocation(const uint8_t *p, size_t n, kineto_allocation *a);
