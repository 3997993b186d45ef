/* How many lines of each shape there were, as the script tells it. */
#include "legacy/timeline_impl.h"

#include <inttypes.h>
#include <stdio.h>

static void say_count(const rocl_timeline_options *o, const char *label, uint64_t count)
{
    char text[96];
    int n = snprintf(text, sizeof text, "%23s: %" PRIu64, label, count);
    tl_print(o, text, (size_t)n);
}

void tl_say_counts(const rocl_timeline_options *o, const uint64_t shapes[RTG_SHAPES],
                   const tl_gap_counts *gaps)
{
    static const struct {
        const char *label;
        rtg_shape shape;
    } counts[] = {
        {"total skipped lines", RTG_TEXT},
        {"api hsa lines", RTG_HSA},
        {"host dispatch hsa lines", RTG_HOST_DISPATCH},
        {"dispatch hsa lines", RTG_DISPATCH},
        {"host barrier hsa lines", RTG_HOST_BARRIER},
        {"barrier hsa lines", RTG_BARRIER},
        {"copy hsa lines", RTG_COPY},
        {"missed hsa lines", RTG_HSA_MISSED},
        {"api hip lines", RTG_HIP},
        {"missed hip lines", RTG_HIP_MISSED},
        {"prof ts opx hcc lines", RTG_HCC},
        {"prof ts op hcc lines", RTG_HCC_BARE},
        {"prof ts hcc lines", RTG_HCC_TIMES},
        {"prof op hcc lines", RTG_HCC_ID},
        {"prof hcc lines", RTG_HCC_SPAN},
        {"missed hcc lines", RTG_HCC_MISSED},
        {"unfinished strace lines", RTG_STRACE_UNFINISHED},
        {"resumed strace lines", RTG_STRACE_RESUMED},
        {"complete strace lines", RTG_STRACE_COMPLETE},
    };
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        say_count(o, counts[i].label, shapes[counts[i].shape]);
    say_count(o, "duplicate gap ts", gaps->duplicate);
    say_count(o, "wrapped gap event", gaps->wrapped);
    say_count(o, "okay gap event", gaps->okay);
}
