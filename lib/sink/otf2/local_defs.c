/* Files of definitions by location: empty, or tables of what the numbers in its events mean. All
 * locations of a part have the same. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "sink/otf2/ot.h"

static const OTF2_MappingType types[OT_NUMBERED] = {[OT_STRINGS] = OTF2_MAPPING_STRING,
                                                    [OT_ATTRIBUTES] = OTF2_MAPPING_ATTRIBUTE,
                                                    [OT_REGIONS] = OTF2_MAPPING_REGION,
                                                    [OT_METRICS] = OTF2_MAPPING_METRIC};

/* The first location of each table, and at the end the first that has none: places in
 * l->locations, or ROCL_NONE. NULL: memory is out. */
static uint32_t *first_locations(const ot_locals *l)
{
    uint32_t *first = reallocarray(NULL, l->table_count + (size_t)1, sizeof *first);
    for (uint32_t i = 0; first && i <= l->table_count; i++)
        first[i] = ROCL_NONE;
    for (uint32_t i = l->location_count; first && i-- > 0;) {
        uint32_t table = l->locations[i].table;
        first[table == ROCL_NONE ? l->table_count : table] = i;
    }
    return first;
}

/* ---- written by libotf2 ---- */

static bool write_tables(OTF2_DefWriter *w, const ot_table *t)
{
    bool good = true;
    for (unsigned i = 0; i < OT_NUMBERED && good; i++) {
        if (!t->refs[i])
            continue;
        OTF2_IdMap *map = OTF2_IdMap_CreateFromUint32Array(t->counts[i], t->refs[i], true);
        good = map && OTF2_DefWriter_WriteMappingTable(w, types[i], map) == OTF2_SUCCESS;
        if (map)
            OTF2_IdMap_Free(map);
    }
    return good;
}

static bool write_location(OTF2_Archive *a, uint32_t number, const ot_table *t)
{
    OTF2_DefWriter *w = OTF2_Archive_GetDefWriter(a, number);
    bool good = w && (!t || write_tables(w, t));
    return good && OTF2_Archive_CloseDefWriter(a, w) == OTF2_SUCCESS;
}

bool ot_write_local_definitions(OTF2_Archive *a, const ot_locals *l)
{
    uint32_t *first = first_locations(l);
    bool good = first;
    for (uint32_t i = 0; i <= l->table_count && good; i++)
        if (first[i] != ROCL_NONE)
            good = write_location(a, l->locations[first[i]].number,
                                  i < l->table_count ? &l->tables[i] : NULL);
    free(first);
    return good;
}

/* ---- copied ---- */

static FILE *open_definitions(const char *folder, uint32_t number, const char *mode)
{
    char path[8192];
    int n = snprintf(path, sizeof path, "%s/%" PRIu32 ".def", folder, number);
    if (n > 0 && (size_t)n < sizeof path)
        return fopen(path, mode);
    errno = ENAMETOOLONG;
    return NULL;
}

static bool read_all(const char *folder, uint32_t number, rocl_buf *b)
{
    FILE *f = open_definitions(folder, number, "rb");
    size_t n = 1;
    b->len = 0;
    while (f && n && rocl_buf_reserve(b, 1 << 16))
        b->len += n = fread(b->data + b->len, 1, 1 << 16, f);
    bool good = f && !n && !ferror(f);
    if (f)
        fclose(f);
    return good;
}

static bool write_all(const char *folder, uint32_t number, const rocl_buf *b)
{
    FILE *f = open_definitions(folder, number, "wb");
    bool good = f && fwrite(b->data, 1, b->len, f) == b->len;
    return f && fclose(f) == 0 && good;
}

/* Neighbours have the same table. */
bool ot_copy_local_definitions(const char *folder, const ot_locals *l)
{
    uint32_t *first = first_locations(l), at_hand = ROCL_NONE;
    rocl_buf bytes = {0};
    bool good = first;
    for (uint32_t i = 0; i < l->location_count && good; i++) {
        uint32_t table = l->locations[i].table;
        uint32_t from = first[table == ROCL_NONE ? l->table_count : table];
        if (from == i)
            continue;
        if (from != at_hand)
            good = read_all(folder, l->locations[from].number, &bytes);
        at_hand = from;
        good = good && write_all(folder, l->locations[i].number, &bytes);
    }
    rocl_buf_free(&bytes);
    free(first);
    return good;
}
