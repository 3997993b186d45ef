/* Names of kernels: found when an executable is frozen, looked up by each packet. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "capture/hsa/hsa.h"

/* Open addressing. Readers take no lock: entries do not move in a table, and a table that became
 * too small stays for those who look into it. */
typedef struct table {
    size_t mask, used;
    _Atomic(rocl_hsa_kernel *) slots[];
} table;

static _Atomic(table *) kernels;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t last_id;

static size_t start_of(uint64_t object)
{
    return (size_t)((object >> 6) * 0x9e3779b97f4a7c15u >> 20);
}

/* The slot of the object, or the free one where it would be. */
static _Atomic(rocl_hsa_kernel *) *slot_of(table *t, uint64_t object)
{
    for (size_t i = start_of(object);; i++) {
        _Atomic(rocl_hsa_kernel *) *slot = &t->slots[i & t->mask];
        const rocl_hsa_kernel *k = atomic_load_explicit(slot, memory_order_acquire);
        if (!k || k->object == object)
            return slot;
    }
}

const rocl_hsa_kernel *rocl_hsa_kernel_of(uint64_t object)
{
    table *t = atomic_load_explicit(&kernels, memory_order_acquire);
    return t ? atomic_load_explicit(slot_of(t, object), memory_order_acquire) : NULL;
}

static table *grown(table *old)
{
    size_t size = old ? 2 * (old->mask + 1) : 256;
    table *t = calloc(1, sizeof *t + size * sizeof *t->slots);
    if (!t)
        return old;
    t->mask = size - 1;
    for (size_t i = 0; old && i <= old->mask; i++) {
        rocl_hsa_kernel *k = atomic_load(&old->slots[i]);
        if (k)
            atomic_store(slot_of(t, k->object), k);
    }
    t->used = old ? old->used : 0;
    atomic_store_explicit(&kernels, t, memory_order_release);
    return t;
}

/* Another code object may be where one was that is gone. Locked. */
static void put(rocl_hsa_kernel *k)
{
    table *t = atomic_load(&kernels);
    if (!t || 2 * t->used > t->mask)
        t = grown(t);
    if (!t || t->used >= t->mask)
        return;
    _Atomic(rocl_hsa_kernel *) *slot = slot_of(t, k->object);
    t->used += !atomic_load(slot);
    atomic_store_explicit(slot, k, memory_order_release);
}

typedef char *demangler(const char *, char *, size_t *, int *);

/* ROCr and HIP are made in C++, so the process has one; where they were loaded for one library
 * alone, it is not among the symbols of all. */
static demangler *find_demangler(void)
{
    void *f = dlsym(RTLD_DEFAULT, "__cxa_demangle"), *library = NULL;
    if (!f && (library = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_NOLOAD)))
        f = dlsym(library, "__cxa_demangle");
    return (demangler *)f;
}

/* Without the suffix that code objects give, and demangled. */
static const char *shown_of(const char *symbol)
{
    size_t n = strlen(symbol);
    char *bare = strndup(symbol, n > 3 && !strcmp(symbol + n - 3, ".kd") ? n - 3 : n);
    demangler *demangle = bare && !strncmp(bare, "_Z", 2) ? find_demangler() : NULL;
    const char *shown = demangle ? demangle(bare, NULL, NULL, NULL) : NULL;
    if (!shown)
        return bare ? bare : symbol;
    free(bare);
    return shown;
}

static uint32_t number(hsa_executable_symbol_t s, uint32_t what)
{
    uint32_t v = 0;
    rocl_hsa_real.core.hsa_executable_symbol_get_info_fn(s, (hsa_executable_symbol_info_t)what, &v);
    return v;
}

static char *name_of(hsa_executable_symbol_t s)
{
    uint32_t len = number(s, HSA_EXECUTABLE_SYMBOL_INFO_NAME_LENGTH);
    char *name = calloc(1, (size_t)len + 1);
    if (name)
        rocl_hsa_real.core.hsa_executable_symbol_get_info_fn(s, HSA_EXECUTABLE_SYMBOL_INFO_NAME,
                                                             name);
    return name;
}

static rocl_def *define(hsa_executable_symbol_t s, hsa_agent_t agent, const rocl_hsa_kernel *k)
{
    const rocl_hsa_agent *a = rocl_hsa_agent_of(agent);
    uint32_t group = number(s, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_GROUP_SEGMENT_SIZE);
    uint32_t private = number(s, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_PRIVATE_SEGMENT_SIZE);
    return rocl_cap_define_kernel(&(rocl_cap_kernel_symbol){.id = ++last_id,
                                                            .agent = a ? a->def : NULL,
                                                            .name = k->symbol,
                                                            .display = k->shown,
                                                            .group_segment = group,
                                                            .private_segment = private,
                                                            .sgpr = -1,
                                                            .arch_vgpr = -1,
                                                            .accum_vgpr = -1});
}

static hsa_status_t add(hsa_executable_t e, hsa_agent_t agent, hsa_executable_symbol_t s,
                        void *data)
{
    (void)e, (void)data;
    if (number(s, HSA_EXECUTABLE_SYMBOL_INFO_TYPE) != HSA_SYMBOL_KIND_KERNEL)
        return HSA_STATUS_SUCCESS;
    rocl_hsa_kernel *k = calloc(1, sizeof *k);
    char *name = k ? name_of(s) : NULL;
    if (!name) {
        free(k);
        return HSA_STATUS_SUCCESS;
    }
    rocl_hsa_real.core.hsa_executable_symbol_get_info_fn(
        s, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT, &k->object);
    k->symbol = name;
    pthread_mutex_lock(&lock);
    k->shown = shown_of(name);
    if (rocl_rtg.chunks)
        k->def = define(s, agent, k);
    put(k);
    pthread_mutex_unlock(&lock);
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t add_of_agent(hsa_agent_t agent, void *data)
{
    const hsa_executable_t *e = data;
    rocl_hsa_real.core.hsa_executable_iterate_agent_symbols_fn(*e, agent, add, NULL);
    return HSA_STATUS_SUCCESS;
}

hsa_status_t rocl_hsa_freeze(hsa_executable_t executable, const char *options)
{
    hsa_status_t status = rocl_hsa_real.core.hsa_executable_freeze_fn(executable, options);
    if (status == HSA_STATUS_SUCCESS)
        rocl_hsa_real.core.hsa_iterate_agents_fn(add_of_agent, &executable);
    return status;
}
