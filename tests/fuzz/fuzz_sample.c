/* Fuzz target: the texts that the sampler reads out of /proc and /sys. */
#include <stdlib.h>
#include <string.h>

#include "capture/sample/sample.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

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
    free(text);
    return 0;
}
