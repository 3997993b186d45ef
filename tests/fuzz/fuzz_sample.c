/* Fuzz target: the texts that the sampler reads out of /proc and /sys, and the lists of calls in
 * the environment of a traced program. */
#include <stdlib.h>
#include <string.h>

#include "capture/rtg/rtg.h"
#include "capture/sample/sample.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Of the tracer only its settings are here. */
bool rocl_cap_on(void)
{
    return false;
}

static void choose_calls(const char *list)
{
    rocl_rtg.hip_filter = list;
    rocl_rtg.hip_filter_out = "";
    rocl_rtg.hsa_filter = "all";
    rocl_rtg.hsa_filter_out = list;
    if (!*list && rocl_rtg_wants_hip("hipMemcpyAsync"))
        abort(); /* an empty list has no call in it */
    rocl_rtg_wants_hip("hipMemcpyAsync");
    rocl_rtg_wants_hsa("core", "hsa_signal_create");
    rocl_rtg_wants_hsa("ext", "");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    sample_stat stat;
    uint64_t u, w;
    int64_t v;
    double mhz;
    if (!text)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    sample_parse_number(text, &v);
    sample_parse_stat(text, &stat);
    sample_parse_statm(text, &u, &w);
    sample_parse_field(text, "VmHWM", &u);
    for (const char *at = text; sample_parse_cpuinfo(&at, &mhz);)
        if (at <= text || at > text + size)
            abort();
    sample_has_variable(text, size, "ROCLINE_SESSION=0");
    choose_calls(text);
    free(text);
    return 0;
}
