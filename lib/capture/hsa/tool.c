/* The entry points that ROCr calls. */
#include <stdlib.h>
#include <string.h>

#include "capture/hsa/hsa.h"

ROCL_CAP_API bool OnLoad(rocl_hsa_root *root, uint64_t version, uint64_t failed,
                         const char *const *names);
ROCL_CAP_API void OnUnload(void);

rocl_hsa_tables rocl_hsa_real, rocl_hsa_next;
static rocl_hsa_tables before; /* as they were, to be put back */
static rocl_hsa_root tables;   /* of the runtime; no pointers: nothing is replaced */

/* A table may be longer than ours, or shorter; what it has not is NULL. */
static void copy_table(void *to, const void *from, size_t size)
{
    const rocl_hsa_version *v = from;
    memcpy(to, from, v->minor < size ? v->minor : size);
}

static void save_tables(rocl_hsa_tables *t)
{
    memset(t, 0, sizeof *t);
    copy_table(&t->core, tables.core, sizeof t->core);
    copy_table(&t->amd, tables.amd, sizeof t->amd);
    if (tables.image)
        copy_table(&t->image, tables.image, sizeof t->image);
}

static void put_tables(const rocl_hsa_tables *t)
{
    copy_table(tables.core, &t->core, sizeof t->core);
    copy_table(tables.amd, &t->amd, sizeof t->amd);
    if (tables.image)
        copy_table(tables.image, &t->image, sizeof t->image);
}

static bool is_known(const rocl_hsa_version *v)
{
    return v && v->major == 1 && v->minor >= sizeof *v;
}

/* What this library calls itself. */
static bool has_all(void)
{
    return ROCL_HSA_HAS(core, hsa_iterate_agents) && ROCL_HSA_HAS(core, hsa_agent_get_info) &&
           ROCL_HSA_HAS(core, hsa_system_get_info) && ROCL_HSA_HAS(core, hsa_signal_create) &&
           ROCL_HSA_HAS(core, hsa_signal_store_relaxed) &&
           ROCL_HSA_HAS(core, hsa_signal_load_scacquire) &&
           ROCL_HSA_HAS(core, hsa_signal_subtract_screlease);
}

/* Only once for a process, however often it begins and ends HSA. */
static void at_exit(void)
{
    if (tables.core)
        rocl_flights_end(true);
}

static void intercept(void)
{
    static bool registered;
    rocl_hsa_find_agents();
    if (rocl_rtg.profile)
        rocl_hsa_intercept_queues();
    if (rocl_rtg.profile_copy)
        rocl_hsa_intercept_copies();
    if (rocl_rtg.chunks)
        rocl_hsa_intercept_memory();
    if (!registered)
        registered = atexit(at_exit) == 0;
}

/* Always true: false would make the runtime crash when it is shut down. */
bool OnLoad(rocl_hsa_root *root, uint64_t version, uint64_t failed, const char *const *names)
{
    (void)version, (void)failed, (void)names;
    rocl_rtg_say_settings();
    rocl_rtg.chunks = rocl_rtg.chunks && rocl_cap_on();
    if (!(rocl_rtg.chunks || rocl_rtg.text) || !is_known(&root->version) ||
        root->version.minor < offsetof(rocl_hsa_root, finalizer) ||
        !is_known(&root->core->version) || !is_known(&root->amd->version))
        return true;
    memcpy(&tables, root,
           root->version.minor < sizeof tables ? root->version.minor : sizeof tables);
    if (tables.image && !is_known(&tables.image->version))
        tables.image = NULL;
    save_tables(&before);
    rocl_hsa_real = rocl_hsa_next = before;
    if (has_all())
        intercept();
    put_tables(&rocl_hsa_next);
    rocl_hsa_trace_calls(&tables);
    return true;
}

void OnUnload(void)
{
    if (!tables.core)
        return;
    rocl_flights_end(false);
    put_tables(&before);
    memset(&tables, 0, sizeof tables);
}
