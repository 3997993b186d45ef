/* Units of GPU counters: see perfetto.h. */
#include "format/perfetto.h"

#include <stddef.h>
#include <strings.h>

/* Where a unit has several texts, the first is the one that is read. */
static const struct {
    const char *text;
    unsigned unit;
} units[] = {{"bytes", 7}, {"B", 7},        {"KB", 8},          {"MB", 9},
             {"GB", 10},   {"Hz", 13},      {"MHz", 15},        {"ns", 19},
             {"nsec", 19}, {"us", 20},      {"ms", 21},         {"s", 22},
             {"sec", 22},  {"mW", 28},      {"W", 29},          {"watts", 29},
             {"J", 31},    {"V", 32},       {"C", 34},          {"celsius", 34},
             {"%", 37},    {"percent", 37}, {"percentage", 37}, {"instructions", 40}};

unsigned rocl_perfetto_unit(const char *text)
{
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (!strcasecmp(text, units[i].text))
            return units[i].unit;
    return 0;
}

const char *rocl_perfetto_unit_text(uint64_t unit)
{
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (units[i].unit == unit)
            return units[i].text;
    return "";
}
