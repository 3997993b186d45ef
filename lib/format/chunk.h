/* Recordings: what the capture library writes and the source `chunk` reads; rocl(5) tells every
 * byte. Integers are little-endian.
 *
 *     file      chunk | chunk | ...
 *               each can be read without the others; after a broken one the next magic is looked
 *               for, on the grid of ROCL_CHUNK_ALIGN bytes
 *     chunk     header | content | unused space: `size` bytes in all
 *     header    0    magic, version, endian, features, flags, crc
 *               32   size, progress, stored, dropped
 *               64   session, process, seq, pid, tid, writer, clock
 *               112  tick_hz, base
 *               128  begin, end: the same moment on four clocks, 32 bytes each
 *               192  header_crc, chunks, given_*, reserved, up to ROCL_CHUNK_HEADER
 *     content   record | record | ..., as many bytes as `progress` says; compressed, `stored` bytes
 *     record    type below ROCL_REC_SIZED:
 *                   type | varint: ticks since the record before | varints
 *               all others:
 *                   type | varint: bytes of the body | body
 *
 * The writer maps a chunk and fills it while it runs: `progress` grows by one release store per
 * event, so that what a reader sees up to there is whole, also when the writer was killed in the
 * middle of the next event. */
#pragma once

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define ROCL_CHUNK_MAGIC    "\x89ROCL\r\n\x1a" /* 8 bytes */
#define ROCL_CHUNK_BEGUN    "\x89ROCL\r\n"     /* with its NUL; instead, until there is a chunk */
#define ROCL_CHUNK_HEADER   256
#define ROCL_CHUNK_ENDIAN   0x01020304u
#define ROCL_CHUNK_MAJOR    1
#define ROCL_CHUNK_MINOR    3
#define ROCL_CHUNK_ALIGN    8
#define ROCL_CHUNK_MAX      ((uint64_t)1 << 30) /* bytes of a chunk */
#define ROCL_CHUNK_OPEN_MAX 128 /* regions, and ranges, that a chunk tells to be open */
#define ROCL_CHUNK_DEFLATE  1u  /* features: the content is a zlib stream */
#define ROCL_CHUNK_KNOWN    ROCL_CHUNK_DEFLATE /* features that version 1 knows */

/* Flags: what is worth knowing, but can be ignored. */
#define ROCL_CHUNK_CLOSED  1u  /* complete: crc, header_crc and the end sync hold */
#define ROCL_CHUNK_RING    2u  /* older chunks of this writer may have been given up */
#define ROCL_CHUNK_PROCESS 4u  /* holds no events: represents its process */
#define ROCL_CHUNK_LAST    8u  /* its writer has no more */
#define ROCL_CHUNK_OPEN    16u /* packed while it was open: its writer may have been killed */

/* One moment on four clocks. Ticks are those of the clock of the chunk, the rest nanoseconds. */
typedef struct rocl_chunk_sync {
    uint64_t ticks, monotonic, realtime, boottime;
} rocl_chunk_sync;

typedef enum rocl_chunk_clock {
    ROCL_CLOCK_TICKS = 0,     /* of a time in a record: what events of the host have */
    ROCL_CLOCK_MONOTONIC = 1, /* ns */
    ROCL_CLOCK_BOOTTIME = 2,
    ROCL_CLOCK_REALTIME = 3,
    ROCL_CLOCK_TSC = 4, /* of a chunk: the time-stamp counter, tick_hz a second */
} rocl_chunk_clock;

typedef struct rocl_chunk_header {
    char magic[8]; /* written last */
    uint16_t major, minor;
    uint32_t header_size;
    uint32_t endian;
    uint32_t features; /* unknown bits: do not read on */
    uint32_t flags;
    uint32_t crc;                    /* CRC32C of the content as it is stored */
    uint64_t size;                   /* from this magic to where the next chunk may be */
    _Atomic uint64_t progress;       /* events << 32 | bytes of content, unpacked */
    uint64_t stored;                 /* bytes of content in the file when it is deflated, else 0 */
    _Atomic uint64_t dropped;        /* events that this writer could not keep, so far */
    uint8_t session[16];             /* of all processes that were recorded together */
    uint64_t process;                /* of this process image: random */
    uint64_t seq;                    /* chunks of this writer before this one */
    uint32_t pid, tid, writer;       /* numbers of writers are unique in a process image */
    uint32_t clock;                  /* TSC or MONOTONIC */
    uint64_t tick_hz;                /* about; the syncs say it exactly */
    uint64_t base;                   /* ticks from which the first record counts */
    rocl_chunk_sync begin, end;      /* end: last one so far, all 0: none */
    uint32_t header_crc, reserved_0; /* CRC32C of the header with header_crc 0 */
    uint64_t chunks;                 /* PROCESS: of the process when it ended; 0: not known */
    /* PROCESS: chunks that a ring has given up, records in them, and ticks of the last of these */
    uint64_t given_chunks, given_records, given_until;
    uint64_t reserved[3];
} rocl_chunk_header;

_Static_assert(sizeof(rocl_chunk_header) == ROCL_CHUNK_HEADER, "the header is what the page says");
_Static_assert(offsetof(rocl_chunk_header, size) == 32 &&
                   offsetof(rocl_chunk_header, session) == 64 &&
                   offsetof(rocl_chunk_header, tick_hz) == 112 &&
                   offsetof(rocl_chunk_header, begin) == 128 &&
                   offsetof(rocl_chunk_header, header_crc) == 192,
               "the header is what the picture above says");

/* Records. The types below ROCL_REC_SIZED are few and their layouts are those of version 1 for
 * ever; all others have their length after the type, may grow at their end, and are skipped if
 * unknown. v: varint (LEB128); d: v, ticks since the record before; t: v, id of a text; n: v, id of
 * a name. */
typedef enum rocl_record_type {
    ROCL_REC_BEGIN = 1, /* d n: a region of this thread begins */
    ROCL_REC_END = 2,   /* d: the innermost open region ends */
    ROCL_REC_PUSH = 3,  /* d t: a marker range of this thread begins */
    ROCL_REC_POP = 4,   /* d: the innermost open marker range ends */
    ROCL_REC_MARK = 5,  /* d t: a point in time */
    ROCL_REC_START = 6, /* d t v: a range of the process begins; its number */
    ROCL_REC_STOP = 7,  /* d v: the range of that number ends, on whatever thread */

    ROCL_REC_SIZED = 0x40,
    /* Definitions. Ids are of the chunk; texts and names are numbered separately. */
    ROCL_REC_TEXT = 0x40,    /* v id, bytes */
    ROCL_REC_NAME = 0x41,    /* v id, string category, bytes of the name */
    ROCL_REC_NODE = 0x42,    /* strings: machine id, hostname, system, release, version, machine */
    ROCL_REC_PROCESS = 0x43, /* v ppid, v start (boottime ns), string command line */
    ROCL_REC_THREAD = 0x44,  /* string name */
    ROCL_REC_AGENT = 0x45,
    ROCL_REC_QUEUE = 0x46,
    ROCL_REC_STREAM = 0x47,
    ROCL_REC_KERNEL = 0x48,
    ROCL_REC_COUNTER = 0x49,
    ROCL_REC_PROCESS_NAME = 0x4a, /* string */
    ROCL_REC_PARAMETERS = 0x4b,   /* v id, v count; of each: strings type, name */
    ROCL_REC_LABEL = 0x4c,        /* v what, v number, bytes of the name that the program gave it */
    ROCL_REC_SUBJECT = 0x4d,      /* another process, of which samples are: v id, v number, v pid,
                                     v ppid, v start (boottime ns), string command line */
    /* State of this writer where the chunk begins, oldest first. */
    ROCL_REC_OPEN_REGION = 0x50, /* v ticks before base, n, v number (0 none) */
    ROCL_REC_OPEN_RANGE = 0x51,  /* v ticks before base, t */
    /* Events and what belongs to them. */
    ROCL_REC_LOST = 0x60,      /* v: events that were dropped right before */
    ROCL_REC_CORRELATE = 0x61, /* v: number for GPU work of an open region; v: which, from the
                                  outermost on, 1 is that; 0 and what is missing: the innermost */
    ROCL_REC_ARG = 0x62,       /* of the innermost: t name, t type, bytes of the value */
    ROCL_REC_ARGS = 0x63,      /* likewise: v parameters, a form and its value for each of them */
    ROCL_REC_DISPATCH = 0x70,
    ROCL_REC_COPY = 0x71,
    ROCL_REC_ALLOC = 0x72,
    ROCL_REC_BARRIER = 0x73,
    ROCL_REC_SAMPLE = 0x74, /* ..., v subject (since 1.3) */
    ROCL_REC_GRAPH = 0x75,
} rocl_record_type;

/* What has a name of its own, and by which number it is known. */
typedef enum rocl_chunk_named {
    ROCL_NAMED_AGENT = 1,  /* handle */
    ROCL_NAMED_GPU = 2,    /* index among the GPUs */
    ROCL_NAMED_STREAM = 3, /* number */
} rocl_chunk_named;

/* What is written of an argument, and how it is shown. The byte of a form comes before the value.
 */
typedef enum rocl_chunk_form {
    ROCL_FORM_NONE = 0,     /* there is no such argument this time */
    ROCL_FORM_SIGNED = 1,   /* zigzag */
    ROCL_FORM_UNSIGNED = 2, /* v */
    ROCL_FORM_POINTER = 3,  /* v: "0x7f00" */
    ROCL_FORM_HANDLE = 4,   /* v, of a type hsa_X_t: "X_12" */
    ROCL_FORM_FLOAT = 5,    /* v: its bits */
    ROCL_FORM_DOUBLE = 6,   /* likewise */
    ROCL_FORM_SIZES = 7,    /* v v v: "{256,1,1}" */
    ROCL_FORM_TEXT = 8,     /* t */
} rocl_chunk_form;
