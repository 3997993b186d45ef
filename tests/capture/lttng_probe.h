/* The event of the benchmark as LTTng has it: an integer, like the name of a range here. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER rocline_bench
#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "tests/capture/lttng_probe.h"

#if !defined(TESTS_CAPTURE_LTTNG_PROBE_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define TESTS_CAPTURE_LTTNG_PROBE_H

#include <lttng/tracepoint.h>

LTTNG_UST_TRACEPOINT_EVENT(rocline_bench, event, LTTNG_UST_TP_ARGS(int, id),
                           LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(int, id, id)))

#endif

#include <lttng/tracepoint-event.h>
