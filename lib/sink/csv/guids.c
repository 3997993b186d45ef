/* Readers of AMD's tables tell processes apart by the column Guid alone: kernels and copies have no
 * pid. So each process of a capture has a Guid of its own. */
#include "sink/csv/csv.h"

#include "base/map.h"
#include "base/strings.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* A single process has that of the capture; of several each has the one from before merging, unless
 * others share it: then "GUID-ID", as ids are unique in their file. */
uint32_t *rocl_csv_make_guids(const rocl_trace *t, const rocl_capture *c)
{
    const uint32_t count = c->process_count;
    uint32_t *guids = malloc((count + (size_t)1) * sizeof *guids);
    rocl_map owners = {0}; /* of a guid: how many */
    bool ok = guids;
    for (uint32_t i = 0; i < count && ok; i++) {
        const uint32_t own = c->processes[i].guid;
        ok = !own || rocl_map_put(&owners, own, rocl_map_get(&owners, own, 0) + 1);
    }
    for (uint32_t i = 0; i < count && ok; i++) {
        const uint32_t own = c->processes[i].guid;
        char *text = NULL;
        int n;
        guids[i] = ROCL_NONE;
        if (count == 1)
            guids[i] = c->guid;
        else if (own && rocl_map_get(&owners, own, 0) == 1)
            guids[i] = own;
        else if ((n = asprintf(&text, "%s-%" PRId64, rocl_str(t, c->guid), c->processes[i].id)) > 0)
            guids[i] = rocl_strings_put(t->strings, text, (size_t)n);
        free(text);
        ok = guids[i] != ROCL_NONE;
    }
    if (ok)
        guids[count] = c->guid;
    else
        free(guids);
    rocl_map_free(&owners);
    return ok ? guids : NULL;
}
