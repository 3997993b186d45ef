/* Files of definitions that are empty, and the same for all locations. */
#include <inttypes.h>
#include <stdio.h>

#include "sink/otf2/ot.h"

static FILE *open_definitions(const char *folder, uint32_t location, const char *mode)
{
    char path[8192];
    int n = snprintf(path, sizeof path, "%s/%" PRIu32 ".def", folder, location);
    return n > 0 && (size_t)n < sizeof path ? fopen(path, mode) : NULL;
}

static bool write_one(FILE *f, const uint8_t *bytes, size_t size)
{
    bool good = f && fwrite(bytes, 1, size, f) == size;
    return f && fclose(f) == 0 && good;
}

bool ot_copy_definitions(const char *folder, uint32_t locations)
{
    uint8_t bytes[4096];
    FILE *first = open_definitions(folder, 0, "rb");
    size_t size = first ? fread(bytes, 1, sizeof bytes, first) : 0;
    bool good = size > 0 && size < sizeof bytes;
    if (first)
        fclose(first);
    for (uint32_t i = 1; i < locations && good; i++)
        good = write_one(open_definitions(folder, i, "wb"), bytes, size);
    return good;
}
