/* One line of legacy text: what rtg_tracer wrote, what HCC_PROFILE=2 wrote, what strace -tttT
 * wrote.
 *
 * The shapes and which of them a line has are those of rocm-timeline-generator.py: its patterns
 * match anywhere in a line and take as much as they can, in an order of their own. Whoever names a
 * kernel "copy ret=0 @1 +2" gets what that script made of it, only in time linear in the line. The
 * shapes are listed in rtg(5). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/view.h"

typedef enum rtg_shape {
    RTG_TEXT, /* nothing of ours: text of the application */
    RTG_HIP,  /* HIP call */
    RTG_HIP_MISSED,
    RTG_HSA,           /* HSA call */
    RTG_HOST_DISPATCH, /* the moment a kernel was put into a queue */
    RTG_DISPATCH,      /* a kernel on a GPU */
    RTG_HOST_BARRIER,
    RTG_BARRIER,
    RTG_COPY,
    RTG_HSA_MISSED,
    RTG_HCC,       /* profile line with times, id and something after it, be it a line end */
    RTG_HCC_BARE,  /* the same, and the text ends right after the id */
    RTG_HCC_TIMES, /* profile line that lacks the id right after its times: with an enqueue time */
    RTG_HCC_ID,    /* profile line without times */
    RTG_HCC_SPAN,  /* profile line with neither */
    RTG_HCC_MISSED,
    RTG_STRACE_UNFINISHED,
    RTG_STRACE_RESUMED,
    RTG_STRACE_COMPLETE,
    /* Shapes that the script does not know: rtg_parse_newer_line() tells them. */
    RTG_RANGE,       /* ROCTx range */
    RTG_MARK,        /* ROCTx mark */
    RTG_HOST_VENDOR, /* vendor packet put into a queue */
    RTG_VENDOR,      /* vendor packet on a GPU */
    RTG_SHAPES
} rtg_shape;

/* Views are of the line. Those of digits are digits only, any number of them: rtg_number() says
 * whether they fit. Only the fields that the shape has are set. */
typedef struct rtg_line {
    rtg_shape shape;
    rocl_view pid, tid; /* HIP, HSA, all of queues */
    rocl_view name;     /* function; kernel of a dispatch; tag of a profile line; strace: call */
    rocl_view start;    /* digits: ns; tick of host lines; strace: seconds */
    rocl_view stop;     /* digits: ns; RTG_HIP, RTG_HSA, RTG_RANGE: the duration */
    bool has_args, has_kernel;
    rocl_view args;                     /* RTG_HIP: between its parentheses; RTG_HSA: with them */
    rocl_view kernel;                   /* RTG_HIP: of a launch */
    rocl_view result;                   /* RTG_HIP, RTG_HSA: what followed ret= */
    rocl_view agent, signal, id;        /* digits */
    rocl_view queue;                    /* any text */
    rocl_view dep[5];                   /* digits */
    rocl_view workgroup[3], grid[3];    /* digits: host dispatch */
    rocl_view type;                     /* profile lines: kernel, barrier, copy, copyslo */
    rocl_view enqueue;                  /* digits: of newer profile lines, n 0 without */
    rocl_view device, stream, sequence; /* digits: #device.stream.sequence of a profile line */
    rocl_view extra;                    /* after that, not trimmed */
    rocl_view fraction, took; /* strace: digits after the point; text of the duration, seconds */
} rtg_line;

/* Tells the shape of a line (without its line end; `ended`: it had one) and fills in what it has.
 */
void rtg_parse_line(rtg_line *l, const char *p, size_t n, bool ended);

/* A second look at a line that is RTG_TEXT, RTG_HSA_MISSED or RTG_HCC_TIMES: RTX and vendor lines
 * of the later tracer, profile lines with an enqueue time (which become RTG_HCC with `enqueue`).
 * False: it stays what it was. */
bool rtg_parse_newer_line(rtg_line *l, const char *p, size_t n);

/* The value of a span of digits; false when it is 2^64 or more, or the span is empty. */
bool rtg_number(rocl_view digits, uint64_t *value);

/* What Python takes for a blank, of ASCII. */
static inline bool rtg_space(char c)
{
    return c == ' ' || (unsigned char)(c - '\t') < 5 || (unsigned char)(c - 0x1c) < 4;
}
