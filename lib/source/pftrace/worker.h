/* A worker of the second walk, and what the *_events.c share: interned texts, arguments, and
 * records of GPU work. */
#pragma once

#include "source/pftrace/pftrace.h"

/* ---- worker.c -------------------------------------------------------------------------------- */

/* The state of a sequence at the current packet. */
typedef struct pfr_open_sequence {
    uint32_t number;
    pfr_state state;
    rocl_map interned; /* table and iid -> bytes, of texts used or interned in this piece */
} pfr_open_sequence;

/* What is known of a text of the file; set once. */
typedef struct pfr_text {
    uint32_t text;      /* of the trace, + 1; 0: not made yet */
    uint8_t word;       /* of an annotation's name, + 1 */
    uint8_t kind_plus1; /* of events of a category: see kind_of_category() */
} pfr_text;

typedef struct pfr_worker {
    pfr_file *file;
    rocl_records *to;
    pfr_walk walk;
    rocl_buf bytes; /* of the piece */
    rocl_buf name;  /* of an argument, under construction */
    pfr_open_sequence *open;
    size_t open_count, open_cap;
    uint32_t last;    /* index in open of the sequence of the packet before */
    rocl_map numbers; /* of a sequence -> index in open */
    pfr_text *texts;  /* by bytes */
    size_t text_cap;
    pfr_text no_text; /* used when memory is out */
    rocl_map sums;    /* sequence and track -> index in values */
    pfr_sum *values;
    size_t value_count, value_cap;
    struct pfr_counted { /* counters of the dispatch at hand */
        uint32_t name;   /* bytes */
        double value;
    } * counted;
    size_t counted_count, counted_cap;
    uint32_t piece;
    uint64_t begin; /* position of the piece */
    /* the packet at hand */
    const pfr_packet *packet;
    pfr_open_sequence *sequence;
} pfr_worker;

/* Notes what a packet interns, which the index knows already, for the following packets of the
 * piece. False: memory is out. */
bool pfr_note_interned(pfr_worker *w, const pfr_packet *p);
/* The bytes of an iid; 0: none. */
uint32_t pfr_find_interned(pfr_worker *w, unsigned table, uint64_t iid);
/* After that: did any packet intern it? */
bool pfr_was_interned(const pfr_worker *w, unsigned table, uint64_t iid);
/* The entry of a text of the file, to be filled in. */
pfr_text *pfr_text_of(pfr_worker *w, uint32_t bytes);
/* The text of the trace that has these bytes. */
uint32_t pfr_text_id(pfr_worker *w, uint32_t bytes);

/* ---- facts.c --------------------------------------------------------------------------------- */

/* Annotations for facts that other formats have as columns. */
typedef struct pfr_facts {
    uint64_t correlation, ancestor, stack, queue, stream, dispatch, bytes, kernel_id, tid, device;
    uint64_t lds, static_lds, scratch, vgpr, accum_vgpr, sgpr, items, kernels, address;
    int64_t begin, end;
    uint32_t grid[3], workgroup[3];
    rocl_view agent, src, dst;
    char numbered[3][24]; /* those that were numbers, as texts: "Agent 2" */
} pfr_facts;

enum { PFR_OF_CALLS = 1, PFR_OF_WORK = 2 }; /* the events for which a word is a fact */

/* Resets the facts for the next event. */
void pfr_begin_facts(pfr_worker *w, pfr_facts *f);
/* Reads the annotations of an event: facts, values of counters, and, if `args`, arguments of the
 * next record. */
void pfr_read_notes(pfr_worker *w, rocl_view event, unsigned on, pfr_facts *facts, bool args);
/* An ExtraComputeArg: a fact, or the value of a counter. */
void pfr_read_arg(pfr_worker *w, rocl_view message, pfr_facts *a);

void pfr_set_agent(uint64_t *number, rocl_agent_type *type, const pfr_agent *a);
/* The number by which calls and GPU work are linked. */
uint64_t pfr_plain_link(uint64_t link);
/* Fills in a dispatch, copy, ... from its facts. `symbol` gets those of the kernel, and must live
 * until the record is put. */
void pfr_fill_work(pfr_worker *w, rocl_source_record *r, const pfr_facts *a,
                   rocl_key_facts *symbol);
/* The counters of a dispatch, which has been put, as records of their own. */
rocl_status pfr_put_counters(pfr_worker *w, const rocl_source_record *dispatch, rocl_error *err);

/* ---- track_events.c, gpu_events.c ------------------------------------------------------------ */

/* Puts the current packet as records; r has its time and place. */
rocl_status pfr_put_track_event(pfr_worker *w, rocl_source_record *r, rocl_error *err);
rocl_status pfr_put_stage(pfr_worker *w, rocl_source_record *r, rocl_error *err);
rocl_status pfr_put_gpu_counters(pfr_worker *w, rocl_source_record *r, rocl_error *err);
