/* The entry points that ROCr calls, and the traced form of every entry of its tables. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capture/hsa/hsa.h"

ROCL_CAP_API bool OnLoad(rocl_hsa_root *root, uint64_t version, uint64_t failed,
                         const char *const *names);
ROCL_CAP_API void OnUnload(void);

rocl_hsa_tables rocl_hsa_real, rocl_hsa_next;
static rocl_hsa_tables before; /* as they were, to be put back */
static rocl_hsa_root tables;   /* of the runtime; no pointers: nothing is replaced */
static pid_t process;          /* that these tables are of, and what is in flight */

/* ---- calls of the host: a function for each entry, made from the headers --------------------- */

/* A result is a number or, of few functions, a pointer. */
#define RESULT(type, r)                                                                            \
    {                                                                                              \
        type, (int64_t)(r), __builtin_types_compatible_p(__typeof__(r), hsa_status_t) && (r) != 0  \
    }

#define ROCL_HSA_CALL(table, category, result, f, parameters, arguments, ...)                      \
    static rocl_call call_##f = {.site = {category, #f, 0}};                                       \
    static result traced_##f parameters                                                            \
    {                                                                                              \
        rocl_open_call open;                                                                       \
        rocl_call_begin(&open, &call_##f);                                                         \
        result r = rocl_hsa_next.table.f##_fn arguments;                                           \
        const rocl_arg list[] = {__VA_ARGS__{0}};                                                  \
        ROCL_CALL_FITS(list);                                                                      \
        rocl_hsa_call_end(&open, &call_##f, list, &(rocl_result)RESULT(#result, r));               \
        return r;                                                                                  \
    }

#define ROCL_HSA_VOID(table, category, result, f, parameters, arguments, ...)                      \
    static rocl_call call_##f = {.site = {category, #f, 0}};                                       \
    static void traced_##f parameters                                                              \
    {                                                                                              \
        rocl_open_call open;                                                                       \
        rocl_call_begin(&open, &call_##f);                                                         \
        rocl_hsa_next.table.f##_fn arguments;                                                      \
        const rocl_arg list[] = {__VA_ARGS__{0}};                                                  \
        ROCL_CALL_FITS(list);                                                                      \
        rocl_hsa_call_end(&open, &call_##f, list, &(rocl_result){0});                              \
    }

#include "hsa_calls.h"
#undef ROCL_HSA_CALL
#undef ROCL_HSA_VOID

#define IN_core  "core"
#define IN_amd   "ext"
#define IN_image "ext"

#define ROCL_HSA_CALL(table, category, result, f, ...)                                             \
    if (ROCL_HSA_HAS(table, f) && rocl_rtg_wants_hsa(IN_##table, #f))                              \
        tables.table->f##_fn = traced_##f;
#define ROCL_HSA_VOID ROCL_HSA_CALL

/* Puts the traced forms of the calls that are wanted into the tables of the runtime. */
static void trace_calls(void)
{
#include "hsa_calls.h"
}

/* ---- the tables ------------------------------------------------------------------------------ */

static bool is_known_version(const rocl_hsa_version *v)
{
    return v && v->major == 1 && v->minor >= sizeof *v;
}

/* A table may be longer than ours, or shorter; missing entries stay as they are. */
static void copy_table(void *to, const void *from, size_t size)
{
    const rocl_hsa_version *v = from;
    memcpy(to, from, v->minor < size ? v->minor : size);
}

static void put_tables(const rocl_hsa_tables *t)
{
    copy_table(tables.core, &t->core, sizeof t->core);
    copy_table(tables.amd, &t->amd, sizeof t->amd);
    if (tables.image)
        copy_table(tables.image, &t->image, sizeof t->image);
}

/* A child that was forked has nothing in flight. Memory of the driver, where signals are, may not
 * be mapped there. */
static void end_flights(bool wait)
{
    if (process == getpid())
        rocl_flights_end(wait);
}

/* Only once for a process, however often it begins and ends HSA. */
static void end_flights_at_exit(void)
{
    if (tables.core)
        end_flights(true);
}

static void intercept_calls(void)
{
    static bool registered;
    /* What this library calls itself. */
    if (!ROCL_HSA_HAS(core, hsa_iterate_agents) || !ROCL_HSA_HAS(core, hsa_agent_get_info) ||
        !ROCL_HSA_HAS(core, hsa_system_get_info) || !ROCL_HSA_HAS(core, hsa_signal_create) ||
        !ROCL_HSA_HAS(core, hsa_signal_store_relaxed) ||
        !ROCL_HSA_HAS(core, hsa_signal_load_scacquire) ||
        !ROCL_HSA_HAS(core, hsa_signal_subtract_screlease))
        return;
    rocl_hsa_find_agents();
    if (rocl_rtg.profile)
        rocl_hsa_intercept_queues();
    if (rocl_rtg.profile_copy)
        rocl_hsa_intercept_copies();
    if (rocl_rtg.chunks)
        rocl_hsa_intercept_memory();
    if (!registered)
        registered = atexit(end_flights_at_exit) == 0;
}

/* Always true: false would make the runtime crash when it is shut down. */
bool OnLoad(rocl_hsa_root *root, uint64_t version, uint64_t failed, const char *const *names)
{
    (void)version, (void)failed, (void)names;
    rocl_rtg_say_settings();
    rocl_rtg.chunks = rocl_rtg.chunks && rocl_cap_on();
    if (!(rocl_rtg.chunks || rocl_rtg.text) || !is_known_version(&root->version) ||
        root->version.minor < offsetof(rocl_hsa_root, finalizer) ||
        !is_known_version(&root->core->version) || !is_known_version(&root->amd->version))
        return true;
    memcpy(&tables, root,
           root->version.minor < sizeof tables ? root->version.minor : sizeof tables);
    if (tables.image && !is_known_version(&tables.image->version))
        tables.image = NULL;
    memset(&before, 0, sizeof before);
    copy_table(&before.core, tables.core, sizeof before.core);
    copy_table(&before.amd, tables.amd, sizeof before.amd);
    if (tables.image)
        copy_table(&before.image, tables.image, sizeof before.image);
    rocl_hsa_real = rocl_hsa_next = before;
    process = getpid();
    intercept_calls();
    put_tables(&rocl_hsa_next);
    trace_calls();
    return true;
}

void OnUnload(void)
{
    if (!tables.core)
        return;
    end_flights(false);
    put_tables(&before);
    memset(&tables, 0, sizeof tables);
}
