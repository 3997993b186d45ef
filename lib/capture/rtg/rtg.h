/* What the front ends for HSA and HIP share: the settings of rtg_tracer, arguments of calls, and
 * the lines of its text.
 *
 *     settings.c  the environment, filters
 *     line.c      a line, and the file
 *     call.c      a call of the host and its arguments, in chunks and as a line
 *
 * Text is written when it is asked for: RTG_FILENAME or HCC_PROFILE is set; or when there is
 * nothing else to write: ROCLINE_OUTPUT is not set. */
#pragma once

#include <sys/uio.h>

#include "capture/capture.h"

/* ---- settings.c ------------------------------------------------------------------------------ */

typedef struct rocl_rtg_settings {
    bool chunks, text;  /* what is written */
    bool hip_args;      /* RTG_HIP_API_ARGS */
    bool host_dispatch; /* RTG_HSA_HOST_DISPATCH */
    bool profile;       /* RTG_PROFILE */
    bool profile_copy;  /* RTG_PROFILE_COPY */
    bool hcc;           /* HCC_PROFILE: profile lines only */
    int verbose;        /* RTG_VERBOSE */
    const char *filename;
    const char *hip_filter, *hip_filter_out, *hsa_filter, *hsa_filter_out;
} rocl_rtg_settings;

ROCL_CAP_API extern rocl_rtg_settings rocl_rtg;

/* Is a function of HIP, or of a table of HSA ("core", "ext"), to be traced? */
ROCL_CAP_API bool rocl_rtg_wants_hip(const char *name);
ROCL_CAP_API bool rocl_rtg_wants_hsa(const char *table, const char *name);
/* Prints the settings on stderr (RTG_VERBOSE), or that chunks cannot be written. Once. */
ROCL_CAP_API void rocl_rtg_say_settings(void);

/* ---- arguments, for call.c ------------------------------------------------------------------- */

typedef enum rocl_kind {
    ROCL_KIND_SIGNED,
    ROCL_KIND_UNSIGNED,
    ROCL_KIND_FLOAT,
    ROCL_KIND_DOUBLE,
    ROCL_KIND_TEXT,
    ROCL_KIND_POINTER,
    ROCL_KIND_OUT,     /* points to a number or handle that the call sets */
    ROCL_KIND_OUT_INT, /* the same, a number of 32 bits */
    ROCL_KIND_OUT_FLOAT,
    ROCL_KIND_RECORD,
} rocl_kind;

typedef struct rocl_arg {
    const char *type, *name; /* NULL: the end of a list */
    const void *value;
    uint16_t size, kind;
} rocl_arg;

static inline bool rocl_kind_is_out(unsigned kind)
{
    return kind >= ROCL_KIND_OUT && kind <= ROCL_KIND_OUT_FLOAT;
}

/* Front ends may have more types: `hipStream_t *: ROCL_KIND_OUT,`, defined before this. */
#ifndef ROCL_KINDS_MORE
#define ROCL_KINDS_MORE
#endif

/* The kind of an expression, known when it is compiled. */
/* clang-format off */
#define ROCL_KIND(x)                                                                               \
    _Generic((x),                                                                                  \
        char: ROCL_KIND_SIGNED,                                                                    \
        signed char: ROCL_KIND_SIGNED,                                                             \
        short: ROCL_KIND_SIGNED,                                                                   \
        int: ROCL_KIND_SIGNED,                                                                     \
        long: ROCL_KIND_SIGNED,                                                                    \
        long long: ROCL_KIND_SIGNED,                                                               \
        _Bool: ROCL_KIND_UNSIGNED,                                                                 \
        unsigned char: ROCL_KIND_UNSIGNED,                                                         \
        unsigned short: ROCL_KIND_UNSIGNED,                                                        \
        unsigned: ROCL_KIND_UNSIGNED,                                                              \
        unsigned long: ROCL_KIND_UNSIGNED,                                                         \
        unsigned long long: ROCL_KIND_UNSIGNED,                                                    \
        float: ROCL_KIND_FLOAT,                                                                    \
        double: ROCL_KIND_DOUBLE,                                                                  \
        const char *: ROCL_KIND_TEXT,                                                              \
        int *: ROCL_KIND_OUT_INT,                                                                  \
        unsigned *: ROCL_KIND_OUT_INT,                                                             \
        size_t *: ROCL_KIND_OUT,                                                                   \
        void **: ROCL_KIND_OUT,                                                                    \
        float *: ROCL_KIND_OUT_FLOAT,                                                              \
        ROCL_KINDS_MORE                                                                            \
        default: __builtin_classify_type(x) == 5 ? ROCL_KIND_POINTER : ROCL_KIND_RECORD)
/* clang-format on */

#define ROCL_ARG(type, x) {type, #x, &(x), sizeof(x), (uint16_t)ROCL_KIND(x)},

/* ---- line.c ---------------------------------------------------------------------------------- */

enum { ROCL_CACHE_LINE = 3072, ROCL_LINE_PIECES = 64 };

/* A line is assembled on the stack and written at once; long texts are not copied. */
typedef struct rocl_line {
    size_t len, from;
    int pieces;
    struct iovec piece[ROCL_LINE_PIECES];
    char data[ROCL_CACHE_LINE];
} rocl_line;

static inline void rocl_line_begin(rocl_line *l)
{
    l->len = l->from = 0;
    l->pieces = 0;
}

/* At most 256 bytes. */
ROCL_CAP_API __attribute__((format(printf, 2, 3))) void rocl_line_add(rocl_line *l,
                                                                      const char *format, ...);
ROCL_CAP_API void rocl_line_text(rocl_line *l, const char *text, size_t len);
void rocl_line_u64(rocl_line *l, uint64_t v);
/* "HSA: pid:1 tid:2 ": of this thread. */
ROCL_CAP_API void rocl_line_who(rocl_line *l, const char *what);
/* Ends the line and writes it. errno is kept. */
ROCL_CAP_API void rocl_line_write(rocl_line *l);

/* ns of the clock of the text (monotonic). */
ROCL_CAP_API uint64_t rocl_rtg_now(void);

/* ---- call.c ---------------------------------------------------------------------------------- */

typedef struct rocl_call {
    rocl_site site;
    _Atomic int wanted; /* 0: not known yet, 1: yes, -1: no */
    bool launches;      /* a kernel, whose name is an argument of its own */
    rocl_parameters parameters;
} rocl_call;

/* What is on the stack while the call runs. */
typedef struct rocl_open_call {
    uint64_t began;   /* ns; 0: there is no text */
    rocl_def *stream; /* of the call around this one */
} rocl_open_call;

/* Besides its arguments a call has the name of a kernel, and a result. */
#define ROCL_CALL_FITS(list)                                                                       \
    _Static_assert(sizeof(list) / sizeof *(list) + 1 <= ROCL_CAP_ARGS, "arguments of a call")

/* The result of a call. */
typedef struct rocl_result {
    const char *type; /* "hsa_status_t"; NULL: void */
    int64_t value;
    bool failed;
} rocl_result;

static inline void rocl_call_begin(rocl_open_call *o, rocl_call *c)
{
    o->began = rocl_rtg.text ? rocl_rtg_now() : 0;
    if (rocl_rtg.chunks)
        rocl_cap_begin(&c->site);
}

/* The stream that the calling thread puts work on now; NULL: unknown. */
ROCL_CAP_API extern __thread rocl_def *rocl_call_stream __attribute__((tls_model("initial-exec")));

/* In what follows, up to the end of the call. */
static inline void rocl_call_on_stream(rocl_open_call *o, rocl_def *stream)
{
    o->stream = rocl_call_stream;
    rocl_call_stream = stream;
}

ROCL_CAP_API void rocl_hsa_call_end(const rocl_open_call *o, rocl_call *c, const rocl_arg *args,
                                    const rocl_result *r);
/* kernel: its name, for a launch, or NULL. */
ROCL_CAP_API void rocl_hip_call_end(const rocl_open_call *o, rocl_call *c, const rocl_arg *args,
                                    const rocl_result *r, const char *kernel);
