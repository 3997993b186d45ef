/* A runtime that is none: tables of its own, to see what the tool (argv[1]) does with times, names
 * and failures that no runtime without a GPU has. Says what is wrong and exits with 1. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <hsa/amd_hsa_signal.h>

#include "capture/hsa/hsa.h"

static bool (*load)(rocl_hsa_root *, uint64_t, uint64_t, const char *const *);
static void (*unload)(void);
static rocl_hsa_core core;
static rocl_hsa_amd amd;
static rocl_hsa_root root = {{1, sizeof root, 0, 0}, &core, &amd, NULL, NULL};
static bool refuse_handlers, refuse_queues, refuse_copies;

static void expect(bool ok, const char *what)
{
    if (ok)
        return;
    fprintf(stderr, "not so: %s\n", what);
    _exit(1);
}

/* ---- signals --------------------------------------------------------------------------------- */

typedef struct handler {
    hsa_signal_t signal;
    hsa_amd_signal_handler call;
    void *arg;
} handler;

static handler handlers[256];
static size_t handler_count;

static amd_signal_t *signal_at(hsa_signal_t s)
{
    return (amd_signal_t *)s.handle;
}

static hsa_status_t create_signal(hsa_signal_value_t value, uint32_t n, const hsa_agent_t *agents,
                                  hsa_signal_t *s)
{
    (void)n, (void)agents;
    amd_signal_t *a = aligned_alloc(64, sizeof *a);
    *a = (amd_signal_t){.kind = AMD_SIGNAL_KIND_USER, .value = value};
    s->handle = (uint64_t)a;
    return HSA_STATUS_SUCCESS;
}

static void call_handlers(hsa_signal_t s)
{
    for (size_t i = 0; i < handler_count; i++) {
        handler h = handlers[i];
        if (h.signal.handle != s.handle || signal_at(s)->value >= 1)
            continue;
        handlers[i--] = handlers[--handler_count];
        expect(!h.call(signal_at(s)->value, h.arg), "a handler is called once");
    }
}

static hsa_status_t destroy_signal(hsa_signal_t s)
{
    free(signal_at(s));
    return HSA_STATUS_SUCCESS;
}

static void store(hsa_signal_t s, hsa_signal_value_t value)
{
    signal_at(s)->value = value;
    call_handlers(s);
}

static hsa_signal_value_t load_value(hsa_signal_t s)
{
    return signal_at(s)->value;
}

static void subtract(hsa_signal_t s, hsa_signal_value_t value)
{
    store(s, signal_at(s)->value - value);
}

static hsa_status_t add_handler(hsa_signal_t s, hsa_signal_condition_t c, hsa_signal_value_t value,
                                hsa_amd_signal_handler call, void *arg)
{
    expect(c == HSA_SIGNAL_CONDITION_LT && value == 1, "what is waited for");
    if (refuse_handlers)
        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    handlers[handler_count++] = (handler){s, call, arg};
    return HSA_STATUS_SUCCESS;
}

/* Work with this signal is done, in ticks of 10 ns. */
static void finish(hsa_signal_t s, uint64_t start, uint64_t end)
{
    signal_at(s)->start_ts = start;
    signal_at(s)->end_ts = end;
    subtract(s, 1);
}

static hsa_status_t dispatch_time(hsa_agent_t a, hsa_signal_t s,
                                  hsa_amd_profiling_dispatch_time_t *t)
{
    (void)a;
    *t = (hsa_amd_profiling_dispatch_time_t){signal_at(s)->start_ts, signal_at(s)->end_ts};
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t copy_time(hsa_signal_t s, hsa_amd_profiling_async_copy_time_t *t)
{
    *t = (hsa_amd_profiling_async_copy_time_t){signal_at(s)->start_ts, signal_at(s)->end_ts};
    return HSA_STATUS_SUCCESS;
}

/* ---- agents and kernels ---------------------------------------------------------------------- */

static hsa_status_t agents(hsa_status_t (*f)(hsa_agent_t, void *), void *data)
{
    f((hsa_agent_t){1}, data);
    return f((hsa_agent_t){2}, data);
}

static hsa_status_t agent_info(hsa_agent_t agent, hsa_agent_info_t what, void *value)
{
    if (what == HSA_AGENT_INFO_DEVICE)
        *(hsa_device_type_t *)value = agent.handle == 2 ? HSA_DEVICE_TYPE_GPU : HSA_DEVICE_TYPE_CPU;
    else if (what == HSA_AGENT_INFO_NAME)
        strcpy(value, agent.handle == 2 ? "gfx942" : "CPU");
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t system_info(hsa_system_info_t what, void *value)
{
    *(uint64_t *)value = what == HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY ? 100000000 : 1;
    return HSA_STATUS_SUCCESS;
}

static const char *const names[] = {"_Z6vecAddPKdS0_Pdi.kd", "gemm.kd"};

static hsa_status_t symbols(hsa_executable_t e, hsa_agent_t agent,
                            hsa_status_t (*f)(hsa_executable_t, hsa_agent_t,
                                              hsa_executable_symbol_t, void *),
                            void *data)
{
    for (uint64_t i = 0; agent.handle == 2 && i < 2; i++)
        f(e, agent, (hsa_executable_symbol_t){i}, data);
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t symbol_info(hsa_executable_symbol_t s, hsa_executable_symbol_info_t what,
                                void *value)
{
    if (what == HSA_EXECUTABLE_SYMBOL_INFO_NAME)
        memcpy(value, names[s.handle], strlen(names[s.handle]));
    else if (what == HSA_EXECUTABLE_SYMBOL_INFO_NAME_LENGTH)
        *(uint32_t *)value = (uint32_t)strlen(names[s.handle]);
    else if (what == HSA_EXECUTABLE_SYMBOL_INFO_TYPE)
        *(uint32_t *)value = HSA_SYMBOL_KIND_KERNEL;
    else if (what == HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT)
        *(uint64_t *)value = 0x1000 + s.handle * 64;
    else
        *(uint32_t *)value = 0;
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t freeze(hsa_executable_t e, const char *options)
{
    (void)e, (void)options;
    return HSA_STATUS_SUCCESS;
}

/* ---- queues ---------------------------------------------------------------------------------- */

static hsa_queue_t queue = {.id = 9, .size = 64};
static hsa_amd_queue_intercept_handler on_packets;
static void *on_packets_data;
static hsa_kernel_dispatch_packet_t written[256];
static size_t written_count;

static hsa_status_t plain_queue(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type,
                                void (*f)(hsa_status_t, hsa_queue_t *, void *), void *data,
                                uint32_t private, uint32_t group, hsa_queue_t **q)
{
    (void)agent, (void)size, (void)type, (void)f, (void)data, (void)private, (void)group;
    *q = &queue;
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t intercepted_queue(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type,
                                      void (*f)(hsa_status_t, hsa_queue_t *, void *), void *data,
                                      uint32_t private, uint32_t group, hsa_queue_t **q)
{
    if (refuse_queues)
        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    return plain_queue(agent, size, type, f, data, private, group, q);
}

static hsa_status_t register_packets(hsa_queue_t *q, hsa_amd_queue_intercept_handler f, void *data)
{
    expect(q == &queue, "the queue");
    on_packets = f;
    on_packets_data = data;
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t destroy_queue(hsa_queue_t *q)
{
    expect(q == &queue, "the queue");
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t profile(hsa_queue_t *q, int on)
{
    expect(q == &queue && on, "times stay on");
    return HSA_STATUS_SUCCESS;
}

static void write_packets(const void *packets, uint64_t n)
{
    memcpy(written + written_count, packets, n * sizeof *written);
    written_count += n;
}

/* ---- copies ---------------------------------------------------------------------------------- */

static hsa_signal_t copied;

static hsa_status_t copy(void *dst, hsa_agent_t dst_agent, const void *src, hsa_agent_t src_agent,
                         size_t size, uint32_t n, const hsa_signal_t *deps, hsa_signal_t done)
{
    (void)dst, (void)dst_agent, (void)src, (void)src_agent, (void)size, (void)n, (void)deps;
    copied = done;
    return refuse_copies ? HSA_STATUS_ERROR_INVALID_ARGUMENT : HSA_STATUS_SUCCESS;
}

static hsa_status_t copy_profile(bool on)
{
    expect(on, "times stay on");
    return HSA_STATUS_SUCCESS;
}

/* ---- what the program does ------------------------------------------------------------------- */

static void fill_tables(void)
{
    core = (rocl_hsa_core){.version = {1, sizeof core, 0, 0},
                           .hsa_iterate_agents_fn = agents,
                           .hsa_agent_get_info_fn = agent_info,
                           .hsa_system_get_info_fn = system_info,
                           .hsa_signal_create_fn = create_signal,
                           .hsa_signal_destroy_fn = destroy_signal,
                           .hsa_signal_store_relaxed_fn = store,
                           .hsa_signal_load_scacquire_fn = load_value,
                           .hsa_signal_subtract_screlease_fn = subtract,
                           .hsa_executable_freeze_fn = freeze,
                           .hsa_executable_iterate_agent_symbols_fn = symbols,
                           .hsa_executable_symbol_get_info_fn = symbol_info,
                           .hsa_queue_create_fn = plain_queue,
                           .hsa_queue_destroy_fn = destroy_queue};
    amd = (rocl_hsa_amd){.version = {1, sizeof amd, 0, 0},
                         .hsa_amd_queue_intercept_create_fn = intercepted_queue,
                         .hsa_amd_queue_intercept_register_fn = register_packets,
                         .hsa_amd_signal_async_handler_fn = add_handler,
                         .hsa_amd_profiling_set_profiler_enabled_fn = profile,
                         .hsa_amd_profiling_get_dispatch_time_fn = dispatch_time,
                         .hsa_amd_profiling_get_async_copy_time_fn = copy_time,
                         .hsa_amd_profiling_async_copy_enable_fn = copy_profile,
                         .hsa_amd_memory_async_copy_fn = copy};
}

static hsa_signal_t signal_of_one(void)
{
    hsa_signal_t s;
    create_signal(1, 0, NULL, &s);
    return s;
}

static hsa_kernel_dispatch_packet_t kernel(uint64_t object, hsa_signal_t done)
{
    return (hsa_kernel_dispatch_packet_t){.header = HSA_PACKET_TYPE_KERNEL_DISPATCH,
                                          .workgroup_size_x = 256,
                                          .grid_size_x = 4000000000,
                                          .kernel_object = object,
                                          .completion_signal = done};
}

static void submit(const void *packets, size_t n)
{
    written_count = 0;
    on_packets(packets, n, 0, on_packets_data, write_packets);
    expect(written_count == n, "as many packets as there were");
}

static hsa_queue_t *new_queue(void)
{
    hsa_queue_t *q;
    on_packets = NULL;
    core.hsa_queue_create_fn((hsa_agent_t){2}, 64, 0, NULL, NULL, 0, 0, &q);
    return q;
}

/* The second is done first, and the program sees that at once. */
static void out_of_order(void)
{
    hsa_signal_t a = signal_of_one(), b = signal_of_one();
    hsa_kernel_dispatch_packet_t p[] = {kernel(0x1000, a), kernel(0x1040, b)};
    submit(p, 2);
    expect(written[0].completion_signal.handle != a.handle, "a signal of the tool");
    expect(written[0].kernel_object == 0x1000 && written[1].kernel_object == 0x1040, "the packets");
    finish(written[1].completion_signal, 5000, 6000);
    expect(load_value(b) == 0 && load_value(a) == 1, "what is done, and what is not");
    expect(signal_at(b)->start_ts == 5000 && signal_at(b)->end_ts == 6000, "times of the program");
    finish(written[0].completion_signal, 1000, 7000);
    expect(load_value(a) == 0, "done");
}

/* One without a signal, a barrier, one of the vendor's, and more than fit into a batch. */
static void many(void)
{
    hsa_kernel_dispatch_packet_t p[70];
    for (int i = 0; i < 70; i++)
        p[i] = kernel(0x1000, (hsa_signal_t){0});
    p[1].header = HSA_PACKET_TYPE_BARRIER_OR;
    p[2].header = HSA_PACKET_TYPE_VENDOR_SPECIFIC;
    submit(p, 70);
    expect(!memcmp(&written[2], &p[2], sizeof p[2]), "a packet of the vendor is left alone");
    for (uint64_t i = 0; i < 70; i++)
        if (i != 2)
            finish(written[i].completion_signal, 10000 + i, 10001 + i);
}

static void copies(void)
{
    hsa_signal_t s = signal_of_one();
    hsa_agent_t cpu = {1}, gpu = {2};
    expect(amd.hsa_amd_memory_async_copy_fn(NULL, gpu, NULL, cpu, 3145728, 0, NULL, s) == 0,
           "copy");
    finish(copied, 20000, 20100);
    expect(load_value(s) == 0 && signal_at(s)->end_ts == 20100, "done");
    refuse_copies = true;
    store(s, 1);
    expect(amd.hsa_amd_memory_async_copy_fn(NULL, gpu, NULL, cpu, 1, 0, NULL, s) ==
               HSA_STATUS_ERROR_INVALID_ARGUMENT,
           "an error is handed on");
    expect(load_value(s) == 1 && handler_count == 0, "what was refused leaves nothing");
}

static void refusals(void)
{
    hsa_signal_t s = signal_of_one();
    hsa_kernel_dispatch_packet_t p = kernel(0x1000, s);
    refuse_handlers = true;
    submit(&p, 1);
    expect(written[0].completion_signal.handle == s.handle,
           "what cannot be watched goes as it was");
    refuse_handlers = false;
    refuse_queues = true;
    expect(new_queue() == &queue && !on_packets, "a queue all the same");
    refuse_queues = false;
}

/* Tables that are older or of another kind. */
static void strange_tables(void)
{
    fill_tables();
    core.version.minor = offsetof(rocl_hsa_core, hsa_queue_create_fn);
    expect(load(&root, 1, 0, NULL) && core.hsa_queue_create_fn == plain_queue, "beyond the end");
    unload();
    fill_tables();
    amd.version.major = 2;
    expect(load(&root, 1, 0, NULL) && core.hsa_queue_create_fn == plain_queue, "another kind");
    unload();
}

int main(int argc, char **argv)
{
    void *tool = dlopen(argc > 1 ? argv[1] : "", RTLD_NOW);
    expect(tool != NULL, "the tool can be loaded");
    load =
        (bool (*)(rocl_hsa_root *, uint64_t, uint64_t, const char *const *))dlsym(tool, "OnLoad");
    unload = (void (*)(void))dlsym(tool, "OnUnload");
    strange_tables();
    fill_tables();
    expect(load(&root, 1, 0, NULL) && core.hsa_queue_create_fn != plain_queue, "it is loaded");
    core.hsa_executable_freeze_fn((hsa_executable_t){1}, NULL);
    hsa_queue_t *q = new_queue();
    amd.hsa_amd_profiling_set_profiler_enabled_fn(q, 0);
    amd.hsa_amd_profiling_async_copy_enable_fn(false);
    out_of_order();
    many();
    copies();
    refusals();
    core.hsa_queue_destroy_fn(q);
    unload();
    expect(core.hsa_queue_create_fn == plain_queue, "the tables are as they were");
    return 0;
}
