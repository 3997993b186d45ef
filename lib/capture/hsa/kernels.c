/* Names of kernels: found when an executable is frozen, looked up by each packet. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "capture/hsa/hsa.h"

/* Open addressing. Readers take no lock: entries do not move in a table, and a table that became
 * too small is kept for its readers. `lock` is held to add a kernel. */
typedef struct kernel_table {
    size_t mask, used;
    _Atomic(rocl_hsa_kernel *) slots[];
} kernel_table;

static _Atomic(kernel_table *) kernels;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t last_id;

/* The slot of the object, or the free one where it belongs. */
static _Atomic(rocl_hsa_kernel *) *find_slot(kernel_table *t, uint64_t object)
{
    for (size_t i = (size_t)((object >> 6) * 0x9e3779b97f4a7c15u >> 20);; i++) {
        _Atomic(rocl_hsa_kernel *) *slot = &t->slots[i & t->mask];
        const rocl_hsa_kernel *k = atomic_load_explicit(slot, memory_order_acquire);
        if (!k || k->object == object)
            return slot;
    }
}

const rocl_hsa_kernel *rocl_hsa_kernel_of(uint64_t object)
{
    kernel_table *t = atomic_load_explicit(&kernels, memory_order_acquire);
    return t ? atomic_load_explicit(find_slot(t, object), memory_order_acquire) : NULL;
}

/* Locked. */
static kernel_table *grow_table(kernel_table *old)
{
    size_t size = old ? 2 * (old->mask + 1) : 256;
    kernel_table *t = calloc(1, sizeof *t + size * sizeof *t->slots);
    if (!t)
        return old;
    t->mask = size - 1;
    for (size_t i = 0; old && i <= old->mask; i++) {
        rocl_hsa_kernel *k = atomic_load(&old->slots[i]);
        if (k)
            atomic_store(find_slot(t, k->object), k);
    }
    t->used = old ? old->used : 0;
    atomic_store_explicit(&kernels, t, memory_order_release);
    return t;
}

/* Another code object may be where one was that is gone. One slot stays free: it ends searches.
 * Locked. */
static void put_kernel(rocl_hsa_kernel *k)
{
    kernel_table *t = atomic_load(&kernels);
    if (!t || 2 * t->used > t->mask)
        t = grow_table(t);
    if (!t || t->used >= t->mask)
        return;
    _Atomic(rocl_hsa_kernel *) *slot = find_slot(t, k->object);
    t->used += !atomic_load(slot);
    atomic_store_explicit(slot, k, memory_order_release);
}

/* Without the suffix that code objects give, and demangled. ROCr and HIP are made in C++, so the
 * process has a demangler; if they were loaded for one library only, it is not among the global
 * symbols. */
static const char *demangle_symbol(const char *symbol)
{
    size_t n = strlen(symbol);
    char *bare = strndup(symbol, n > 3 && !strcmp(symbol + n - 3, ".kd") ? n - 3 : n);
    void *demangle = NULL, *library;
    if (bare && !strncmp(bare, "_Z", 2) && !(demangle = dlsym(RTLD_DEFAULT, "__cxa_demangle")) &&
        (library = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_NOLOAD)))
        demangle = dlsym(library, "__cxa_demangle");
    const char *name =
        demangle
            ? ((char *(*)(const char *, char *, size_t *, int *))demangle)(bare, NULL, NULL, NULL)
            : NULL;
    if (!name)
        return bare ? bare : symbol;
    free(bare);
    return name;
}

static uint32_t get_symbol_number(hsa_executable_symbol_t s, uint32_t what)
{
    uint32_t v = 0;
    rocl_hsa_real.core.hsa_executable_symbol_get_info_fn(s, (hsa_executable_symbol_info_t)what, &v);
    return v;
}

static hsa_status_t add_kernel(hsa_executable_t e, hsa_agent_t agent, hsa_executable_symbol_t s,
                               void *data)
{
    (void)e, (void)data;
    if (get_symbol_number(s, HSA_EXECUTABLE_SYMBOL_INFO_TYPE) != HSA_SYMBOL_KIND_KERNEL)
        return HSA_STATUS_SUCCESS;
    rocl_hsa_kernel *k = calloc(1, sizeof *k);
    uint32_t len = get_symbol_number(s, HSA_EXECUTABLE_SYMBOL_INFO_NAME_LENGTH);
    char *symbol = k ? calloc(1, (size_t)len + 1) : NULL;
    if (!symbol) {
        free(k);
        return HSA_STATUS_SUCCESS;
    }
    rocl_hsa_real.core.hsa_executable_symbol_get_info_fn(s, HSA_EXECUTABLE_SYMBOL_INFO_NAME,
                                                         symbol);
    rocl_hsa_real.core.hsa_executable_symbol_get_info_fn(
        s, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT, &k->object);
    pthread_mutex_lock(&lock);
    k->symbol = symbol;
    k->name = demangle_symbol(symbol);
    if (rocl_rtg.chunks) {
        const rocl_hsa_agent *a = rocl_hsa_agent_of(agent);
        k->def = rocl_cap_define_kernel(&(rocl_cap_kernel_symbol){
            .id = ++last_id,
            .agent = a ? a->def : NULL,
            .name = k->symbol,
            .display = k->name,
            .group_segment =
                get_symbol_number(s, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_GROUP_SEGMENT_SIZE),
            .private_segment =
                get_symbol_number(s, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_PRIVATE_SEGMENT_SIZE),
            .sgpr = -1,
            .arch_vgpr = -1,
            .accum_vgpr = -1});
    }
    put_kernel(k);
    pthread_mutex_unlock(&lock);
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t add_kernels_of_agent(hsa_agent_t agent, void *data)
{
    const hsa_executable_t *e = data;
    rocl_hsa_real.core.hsa_executable_iterate_agent_symbols_fn(*e, agent, add_kernel, NULL);
    return HSA_STATUS_SUCCESS;
}

hsa_status_t rocl_hsa_freeze(hsa_executable_t executable, const char *options)
{
    hsa_status_t status = rocl_hsa_real.core.hsa_executable_freeze_fn(executable, options);
    if (status == HSA_STATUS_SUCCESS)
        rocl_hsa_real.core.hsa_iterate_agents_fn(add_kernels_of_agent, &executable);
    return status;
}
