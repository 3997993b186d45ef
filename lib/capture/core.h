/* Inside the capture core:
 *
 *     settings.c  the environment, what is known of the process and its node
 *     clock.c     ticks, and the clocks side by side
 *     core.c      the state of a process, and its file: space for chunks
 *     guard/      calls by which a program limits what it can do later
 *     chunk.c     headers of chunks: filled, kept up to date, closed
 *     writer.c    writers of threads: their chunks from begin to end; sites, texts and definitions,
 *                 written into each chunk before their first use
 *     record.c    events of the host
 *     args.c      arguments of calls
 *     gpu.c       events with times of their own
 *     defs.c      making definitions
 *     streams.c   those of streams, by handles
 *
 * Two kinds of memory. What may change as long as a process lives (core, writers) is in pages that
 * the kernel gives to a forked child as zeros: so the child begins anew with its first event,
 * however it was forked, and never writes into its parent's chunks. What is known once for all
 * (settings, ids of sites, definitions) is ordinary memory. */
#pragma once

#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#include "base/buf.h"
#include "capture/capture.h"

#define LIKELY(x)   __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

/* ---- settings.c ------------------------------------------------------------------------------ */

typedef enum rocl_policy { ROCL_DROP, ROCL_BLOCK, ROCL_RING } rocl_policy;

enum { ROCL_PREAMBLE_MAX = 4096 };

typedef struct rocl_settings {
    bool on;
    bool tsc;
    rocl_policy policy;
    uint64_t limit;        /* bytes; 0: none */
    size_t chunk, page;    /* bytes: largest chunks, granularity of the file */
    uint8_t session[16];   /* see ROCLINE_SESSION */
    char folder[PATH_MAX]; /* absolute */
    dev_t folder_dev;      /* of it, as it was when the library was loaded */
    ino_t folder_ino;
    int folder_fd;         /* -1: none is kept. It may have been closed by the program since. */
    char host[65];         /* for names of files */
    uint64_t loaded_ticks; /* when that was, to know how fast ticks go */
    uint64_t loaded_ns;    /* monotonic */
    uint8_t node[1024];    /* a record: the node */
    size_t node_len;
    char command[1025];
    size_t command_len;
    uint32_t rank; /* of MPI, plus one; 0: none */
} rocl_settings;

extern rocl_settings rocl_set;

/* Reads the environment (rocrec(1)). Runs when the library is loaded; a program that it is linked
 * into, and that sets its own environment, calls it again. */
void rocl_read_settings(void);
/* Nothing is recorded while it is set. */
extern _Atomic bool rocl_paused;
/* No system call is made while it is set, nor a lock taken, for which others may wait with one. */
extern _Atomic bool rocl_sealed;

static inline bool rocl_is_sealed(void)
{
    return atomic_load_explicit(&rocl_sealed, memory_order_acquire);
}

/* ---- clock.c --------------------------------------------------------------------------------- */

static inline uint64_t rocl_ns(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static inline uint64_t rocl_ticks(void)
{
#if defined(__x86_64__)
    if (LIKELY(rocl_set.tsc))
        return __rdtsc();
#endif
    return rocl_ns(CLOCK_MONOTONIC);
}

/* For an event that reads the clock first: not where nothing is recorded. */
static inline uint64_t rocl_ticks_if_on(void)
{
    return LIKELY(rocl_set.on) ? rocl_ticks() : 0;
}

bool rocl_tsc_is_good(void);
bool rocl_clock_is_free(void); /* reading ticks needs no system call */
void rocl_sync_read(rocl_chunk_sync *s);
uint64_t rocl_tick_hz(void); /* measured since the library was loaded; may take 0.2 ms */

/* ---- the state of a process ------------------------------------------------------------------ */

typedef struct rocl_span {
    uint64_t offset, size;
} rocl_span;

/* A finished chunk, and what is lost when it is overwritten. */
typedef struct rocl_given {
    rocl_span where;
    uint64_t records, until; /* ticks of its end */
} rocl_given;

typedef struct rocl_core {
    _Atomic bool alive;    /* else: a fork, or nothing was recorded yet */
    pthread_mutex_t birth; /* held until the core is alive */
    pthread_mutex_t lock;  /* of all that follows */
    _Atomic int at_work;   /* threads that may ask the kernel for something now */
    bool refused;          /* there is no file, and never will be */
    uint32_t pid;
    uint64_t process, start, tick_hz;
    int fd; /* of the file; -1: none is kept */
    dev_t dev;
    ino_t ino;
    char name[128];           /* of the file, in the folder */
    uint64_t file_size;       /* handed out */
    _Atomic uint64_t chunks;  /* begun */
    rocl_chunk_header *self;  /* chunk of the process, or NULL */
    struct rocl_writer *all;  /* of this process, in use or not */
    struct rocl_writer *idle; /* not used by a thread now */
    uint32_t writer_count;
    _Atomic uint32_t next_correlation;
    uint8_t preamble[ROCL_PREAMBLE_MAX]; /* records that every chunk begins with */
    size_t preamble_len;
    rocl_given *given_up; /* policy ring: the oldest first */
    uint32_t given_first, given_count, given_cap;
} rocl_core;

/* When the library is loaded, where something may be recorded. */
void rocl_core_prepare(void);
/* The core, alive; NULL: nothing can be recorded. */
rocl_core *rocl_core_get(void);
/* The core, as rocl_core_get() returns it, without making anything. */
rocl_core *rocl_core_peek(void);
/* Around all that asks the kernel for something or takes a lock. false: it is sealed, nothing may
 * be done. */
bool rocl_core_work(void);
void rocl_core_rest(void);
/* Calls of ROCTx must not be cancellation points, but system calls are: cancellation is disabled
 * meanwhile, as the thread may hold a lock. */
static inline int rocl_keep_thread(void)
{
    int was = PTHREAD_CANCEL_ENABLE;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &was);
    return was;
}

static inline void rocl_release_thread(int was)
{
    pthread_setcancelstate(was, &(int){0});
}

/* Another record for every chunk to come. */
void rocl_core_preamble_add(rocl_core *c, uint8_t type, const char *text, size_t len);

/* The process ends: says in its chunk how many there are. */
void rocl_core_close(rocl_core *c);

/* Events that no writer has lost: they are counted for the process. */
void rocl_core_count_lost(uint64_t n);

/* Zeroed memory that is zero again in a forked child. NULL: memory is out. */
void *rocl_wiped_pages(size_t n);

/* ---- the file of a process ------------------------------------------------------------------- */

/* Moves a descriptor to a number that no program counts on: returns that, and closes the other. */
int rocl_move_away(int fd);
/* Maps a chunk of `size` bytes, or of the rest, if that is at least `least`; NULL: too little
 * space. Policy block: waits while the disk is full. Takes the lock. */
rocl_chunk_header *rocl_file_chunk(rocl_core *c, size_t least, size_t size, rocl_span *where);
/* Policy ring: this chunk may be given up. Takes the lock. */
void rocl_file_give_up(rocl_core *c, const rocl_given *chunk);

/* ---- chunk.c --------------------------------------------------------------------------------- */

/* Must be called first: marks `size` bytes as a chunk under construction. A process that is killed
 * then has lost nothing. */
void rocl_chunk_prepare(rocl_chunk_header *h, uint64_t size);
/* Fills the header of a chunk whose content begins with `len` bytes of records that are no events;
 * the magic comes last. The caller has set the members of the writer (tid, writer, seq, dropped,
 * base). */
void rocl_chunk_begin(rocl_chunk_header *h, const rocl_core *c, uint64_t size, uint32_t flags,
                      size_t len);
/* Notes the clocks as of now. */
void rocl_chunk_sync_now(rocl_chunk_header *h);
/* Nothing follows in it. more: flags. */
void rocl_chunk_close(rocl_chunk_header *h, uint32_t more);
/* Something does all the same: its sums no longer hold. */
static inline void rocl_chunk_reopen(rocl_chunk_header *h)
{
    h->flags &= ~(ROCL_CHUNK_CLOSED | ROCL_CHUNK_LAST);
}

/* ---- writer.c -------------------------------------------------------------------------------- */

enum {
    ROCL_OPEN_MAX = ROCL_CHUNK_OPEN_MAX, /* regions or ranges that a writer remembers */
    ROCL_SEEN = 1024,                    /* names whose definition is in the chunk */
    ROCL_TEXTS = 512,                    /* texts, likewise */
    ROCL_HOT = 64,        /* bytes that are free behind `limit`: what a small event needs at most */
    ROCL_STEP = 4096,     /* bytes after which clocks are compared */
    ROCL_FIRST = 16 << 10 /* bytes of the first chunk; the next are four times as large */
};

typedef struct rocl_open {
    uint64_t ticks; /* 0: it was not recorded, and its end will not be */
    const rocl_site *site;
    uint32_t text, len;   /* of a range: the place of its text in the content */
    uint32_t correlation; /* a region: its number, 0 none */
} rocl_open;

typedef struct rocl_stack {
    uint32_t depth; /* may exceed the remembered depth */
    rocl_open open[ROCL_OPEN_MAX];
} rocl_stack;

typedef struct rocl_seen_text {
    uint64_t hash;
    uint32_t generation, at, len, id;
} rocl_seen_text;

typedef struct rocl_writer {
    uint8_t *pos, *limit;
    uint64_t last;     /* ticks of the event before */
    uint64_t long_ago; /* ticks of a second */
    uint32_t events, generation;
    uint8_t *content;
    rocl_chunk_header *chunk; /* NULL: none yet */
    _Atomic bool paused;
    bool alive; /* false after a fork */
    uint32_t number, tid;
    uint8_t *end; /* of the chunk */
    rocl_span where;
    size_t next_size;
    uint64_t seq, dropped, reported;       /* reported: of dropped, those that records tell */
    uint64_t retry;                        /* ticks before which asking for space is useless */
    uint32_t next_text, last_text;         /* the last: which of `texts` was used last */
    uint32_t correlation, correlation_end; /* reserved numbers */
    uint64_t gpu_last[4];                  /* by clock: the start before */
    char name[64];                         /* of the thread, by the program */
    struct rocl_writer *next_idle, *next;
    rocl_stack regions, ranges;
    uint64_t seen[ROCL_SEEN]; /* generation << 32 | id */
    rocl_seen_text texts[ROCL_TEXTS];
} rocl_writer;

typedef struct rocl_self {
    rocl_writer *writer;
    bool busy;  /* in here: signal handlers keep out */
    int cancel; /* of rocl_core_work: whether the thread could be cancelled */
} rocl_self;

extern __thread rocl_self rocl_me __attribute__((tls_model("initial-exec")));

/* The slow half of rocl_enter: makes a writer. NULL: that failed, and `lost` events are lost. */
rocl_writer *rocl_writer_make(uint64_t lost);
/* Makes `need` bytes and a small event fit at pos, in this chunk or the next; false: they do not,
 * and `lost` events are lost. Look up texts and names again after it. */
bool rocl_writer_reserve(rocl_writer *w, size_t need, uint64_t lost);
void rocl_count_interrupted(uint64_t lost);
/* The writer of another thread; NULL: it has none. */
rocl_writer *rocl_writer_of(rocl_core *c, uint32_t tid);

/* A writer to record with, until rocl_leave; NULL: it is not recorded, but as many events are
 * counted: a range that is lost is one, and its end nothing more. */
static inline rocl_writer *rocl_enter_for(uint64_t events)
{
    if (UNLIKELY(!rocl_set.on)) {
        if (UNLIKELY(rocl_is_sealed())) /* it did record, but its clock is a system call */
            rocl_count_interrupted(events);
        return NULL;
    }
    if (UNLIKELY(rocl_me.busy)) {
        rocl_count_interrupted(events);
        return NULL;
    }
    rocl_me.busy = true;
    atomic_signal_fence(memory_order_seq_cst);
    rocl_writer *w = rocl_me.writer;
    if (UNLIKELY(!w || !w->alive) && !(w = rocl_writer_make(events)))
        rocl_me.busy = false;
    return w;
}

static inline rocl_writer *rocl_enter(void)
{
    return rocl_enter_for(1);
}

/* For records that are not events, or are the end of one. */
static inline rocl_writer *rocl_enter_silently(void)
{
    return rocl_enter_for(0);
}

static inline void rocl_leave(void)
{
    atomic_signal_fence(memory_order_seq_cst);
    rocl_me.busy = false;
}

static inline bool rocl_is_paused(const rocl_writer *w)
{
    return atomic_load_explicit(&rocl_paused, memory_order_relaxed) ||
           atomic_load_explicit(&w->paused, memory_order_relaxed);
}

/* A writer without a chunk has both at NULL. */
static inline bool rocl_reserve(rocl_writer *w, size_t need)
{
    return LIKELY(w->limit - w->pos >= (ptrdiff_t)need && w->pos < w->limit) ||
           rocl_writer_reserve(w, need, 1);
}

/* For the end of an event, which is not counted as lost: readers report the begin that has none. */
static inline bool rocl_reserve_for_end(rocl_writer *w)
{
    return LIKELY(w->pos < w->limit) || rocl_writer_reserve(w, 0, 0);
}

/* What is before p belongs to the trace from now on: one release store of events << 32 | bytes of
 * content, so that a reader sees both as of the same moment. */
_Static_assert(ROCL_CHUNK_MAX <= UINT32_MAX, "the bytes of a chunk are half of its progress");
static inline void rocl_commit(rocl_writer *w, uint8_t *p, uint32_t events)
{
    /* None: a signal handler has forked, and this is the child. */
    if (UNLIKELY(!w->chunk))
        return;
    w->pos = p;
    w->events += events;
    uint64_t progress = (uint64_t)w->events << 32 | (uint32_t)(p - w->content);
    atomic_store_explicit(&w->chunk->progress, progress, memory_order_release);
}

static inline uint8_t *rocl_put_delta(rocl_writer *w, uint8_t *p, uint64_t now)
{
    /* A thread that moved to another core may see a clock some ticks back. */
    uint64_t delta = now > w->last ? now - w->last : 0;
    w->last += delta;
    /* The next event compares the clocks: a thread with few events would never come to it. */
    if (UNLIKELY(delta > w->long_ago))
        w->limit = w->pos - 1;
    return rocl_varint_put(p, delta);
}

extern _Atomic uint32_t rocl_next_name;
/* The id stored there, or else the next one. */
uint32_t rocl_id_once(_Atomic uint32_t *at);

/* Ids to write into the chunk; their definitions are in it after the call. 0: no space, drop the
 * event. `more` bytes and a small event fit after them. */
uint32_t rocl_site_define(rocl_writer *w, rocl_site *site, size_t more);
uint32_t rocl_text_id(rocl_writer *w, const char *text, size_t len, size_t more);
/* The id of a definition; 0 also for NULL. *ok false: no space. */
uint32_t rocl_def_id(rocl_writer *w, const rocl_def *d, size_t more, bool *ok);
static inline bool rocl_is_seen(const rocl_writer *w, uint32_t id)
{
    return w->seen[id % ROCL_SEEN] == ((uint64_t)w->generation << 32 | id);
}

static inline void rocl_set_seen(rocl_writer *w, uint32_t id)
{
    w->seen[id % ROCL_SEEN] = (uint64_t)w->generation << 32 | id;
}

static inline uint32_t rocl_site_id(rocl_writer *w, rocl_site *site, size_t more)
{
    uint32_t id = atomic_load_explicit(&site->id, memory_order_relaxed);
    if (LIKELY(id && rocl_is_seen(w, id)))
        return id;
    return rocl_site_define(w, site, more);
}

struct rocl_def {
    uint32_t id;
    uint32_t len;
    const rocl_def *ref; /* has to be defined before */
    rocl_def *next;      /* of all there are: they are never freed, but not lost */
    uint8_t type;
    uint8_t bytes[]; /* of the record, after its length */
};

static inline uint8_t *rocl_put_string(uint8_t *p, const char *s, size_t n)
{
    p = rocl_varint_put(p, n);
    memcpy(p, s, n);
    return p + n;
}

static inline uint8_t *rocl_put_sized(uint8_t *p, uint8_t type, size_t len)
{
    *p++ = type;
    return rocl_varint_put(p, len);
}

/* Puts a whole record; returns its end. */
static inline uint8_t *rocl_put_record(uint8_t *p, uint8_t type, const void *body, size_t len)
{
    p = rocl_put_sized(p, type, len);
    memcpy(p, body, len);
    return p + len;
}
