/* An event of Chrome's trace JSON as it stands in the file, and its arguments. Texts are slices of
 * the block that the worker has at hand. */
#pragma once

#include "base/json.h"
#include "source/chrome/callers.h"
#include "source/records/records.h"

typedef struct chrome_event {
    rocl_view ph, cat, name, id, scope;
    rocl_json_token pid, tid;
    rocl_view ts, dur;
    rocl_view bp, bind; /* of flows: "e"; of a whole event: the number of its arrows */
    bool has_ts, has_dur, name_escaped, flow_in, flow_out;
    /* In a file that was merged: see merged.h. */
    uint64_t group;   /* 0: none */
    rocl_view prefix; /* the text in brackets before its pid, or empty */
    uint64_t row;     /* its pid, as a key */
} chrome_event;

/* A process of a merged file. */
typedef struct chrome_member {
    uint64_t process, group; /* group ROCL_NO_KEY: not known for sure */
    uint64_t pid;            /* before the files were merged, or ROCL_NO_KEY */
} chrome_member;

/* The arguments that are looked at. Numbers that are not there stay as they are. */
typedef struct chrome_args {
    uint64_t correlation, device, stream, bytes;
    uint64_t pid; /* of the process of GPU work: rtg2json says it where a file has several */
    uint32_t grid[3], block[3];
    int64_t shared;
    rocl_view name; /* of metadata ("M"): the name */
    bool name_escaped;
    int64_t memory; /* of [memory]: bytes, negative for a free */
    uint64_t address, device_type, device_id;
    uint64_t reserved;      /* of [memory]: bytes that the allocator holds of the device */
    uint64_t allocated;     /* of [memory]: bytes of the device that are in use then */
    uint64_t rank, raw_pid; /* of a merged file: see merged.h */
    bool bad;               /* one of these does not fit 64 bits, and is left out */
} chrome_args;

typedef struct chrome_worker {
    rocl_buf bytes;   /* the block */
    rocl_buf text[2]; /* unescaped */
    rocl_json r;
    rocl_json args; /* where the arguments of the event are */
    bool has_args;
    chrome_callers_worker callers;
    bool noted; /* the next one is what was noted last */
    chrome_member member;
} chrome_worker;

void chrome_free_worker(void *worker);

/* Reads the members of the object that w->r has entered. Members that it does not have are empty.
 */
void chrome_read_event(chrome_worker *w, chrome_event *e);
/* Arguments of which none is there. */
extern const chrome_args chrome_no_args;
/* Reads the members of the object that r has entered; r->wrong: it is not JSON. */
void chrome_read_args(rocl_json *r, chrome_args *a);
/* Reads three numbers out of the array that was just returned. */
void chrome_read_sizes(rocl_json *r, uint32_t to[3]);
/* Passes the members of the object that r has entered as arguments of the next record, except those
 * that the record of a dispatch has itself. Stops where the text is not JSON. */
void chrome_pass_args(rocl_records *to, chrome_worker *w, rocl_json r, rocl_kind kind_of_record);
/* Arguments are skipped by their brackets and quotes, so errors inside show only when they are
 * read: then the event is counted and left out. */
rocl_status chrome_count_bad_args(rocl_records *to, uint64_t where);

/* The text without its escapes, in the buffer if it has any. */
rocl_view chrome_unescape(rocl_buf *b, rocl_view text, bool escaped);
/* A number as it is, a text as a key above all numbers of processes and threads; ROCL_NO_KEY:
 * neither. */
uint64_t chrome_key_of(rocl_records *to, const rocl_json_token *t);
