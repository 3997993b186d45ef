/* rocpd_op: kernels, their counters, and copies. */
#include "source/rpd/tables.h"

/* What a launch asked for. Grids are counted in blocks, except by calls that count work-items. */
static rocl_status add_launch(const rpd_file *f, rocl_records *to, rpd_worker *w,
                              rocl_source_record *r, uint64_t key, const char *api, uint32_t *name,
                              rocl_error *err)
{
    const bool items =
        rocl_idset_has(&f->item_sessions, rpd_session_of(r->as.dispatch.dispatch_id)) ||
        !strcmp(api, "hipExtModuleLaunchKernel") || !strcmp(api, "hipHccModuleLaunchKernel") ||
        r->queue > UINT16_MAX;
    rocl_dispatch *d = &r->as.dispatch;
    const rocl_rows *rows;
    unsigned i;
    int64_t v;
    bool bad = false;
    rocl_status st = rpd_find_row(f, w, RPD_KERNEL, key, &rows, &i, err);
    if (st != ROCL_OK || !rows)
        return st;
    r->stream = rpd_read_stream(rows, K_STREAM, i);
    for (unsigned axis = 0; axis < 3; axis++) {
        int64_t size;
        rpd_read_int(rows, K_WORKGROUP + axis, i, &size, &bad);
        rpd_read_int(rows, K_GRID + axis, i, &v, &bad);
        if (size <= 0 || v <= 0 || size > UINT32_MAX || v > UINT32_MAX) {
            bad |= size < 0 || v < 0 || size > UINT32_MAX || v > UINT32_MAX;
            continue;
        }
        const uint64_t grid = (uint64_t)v * (items ? 1 : (uint64_t)size);
        d->workgroup[axis] = (uint32_t)size;
        d->grid[axis] = grid > UINT32_MAX ? 0 : (uint32_t)grid;
        bad |= grid > UINT32_MAX;
    }
    rpd_read_int(rows, K_GROUP, i, &d->group_segment, &bad);
    rpd_read_int(rows, K_PRIVATE, i, &d->private_segment, &bad);
    if (bad)
        rocl_record_fault(to, r->where, ROCL_FAULT_BAD_VALUE, "a field is not a number");
    return st == ROCL_OK && !*name
               ? rpd_find_text(f, to, w, rpd_read_key(rows, K_NAME, i, &bad), name, err)
               : st;
}

static rocl_status add_copy(rpd_file *f, rocl_records *to, rpd_worker *w, rocl_source_record *r,
                            uint64_t key, rocl_error *err)
{
    const rocl_rows *rows;
    unsigned i;
    int64_t size, width, height;
    bool bad = false;
    rocl_status st = rpd_find_row(f, w, RPD_COPY, key, &rows, &i, err);
    if (st != ROCL_OK || !rows)
        return st;
    r->stream = rpd_read_stream(rows, C_STREAM, i);
    if (!rpd_read_int(rows, C_SIZE, i, &size, &bad) &&
        rpd_read_int(rows, C_WIDTH, i, &width, &bad) &&
        rpd_read_int(rows, C_HEIGHT, i, &height, &bad) && width > 0 && height > 0 &&
        width < INT32_MAX && height < INT32_MAX)
        size = width * height;
    r->as.copy.size = size > 0 ? (uint64_t)size : 0;
    if (bad)
        return rocl_record_fault(to, r->where, ROCL_FAULT_BAD_VALUE, "a field is not a number");
    if (size <= 0 && rocl_records_first_pass(to))
        atomic_fetch_add(&f->sizeless, 1);
    return ROCL_OK;
}

/* Values of counters that rocpd_counter has of a kernel. */
static rocl_status put_counters(const rpd_file *f, rocl_records *to, rpd_worker *w,
                                const rocl_source_record *dispatch, rocl_error *err)
{
    const uint64_t op = dispatch->as.dispatch.dispatch_id;
    rocl_source_record r = *dispatch;
    rocl_status st = ROCL_OK;
    r.kind = ROCL_COUNTER;
    for (uint64_t k = 0; st == ROCL_OK; k++) {
        uint64_t id = ROCL_NO_KEY;
        const rocl_rows *rows;
        uint32_t name;
        unsigned i;
        bool bad = false;
        st = rocl_lookup_find(f->counters, &w->counters, (rocl_lookup_key){op, k}, &id, err);
        if (st != ROCL_OK || id == ROCL_NO_KEY)
            break;
        if ((st = rpd_find_row(f, w, RPD_COUNTER, id, &rows, &i, err)) != ROCL_OK || !rows ||
            !rpd_read_real(rows, V_VALUE, i, &r.as.counter.value))
            continue; /* check_counter() counts it */
        st = rpd_find_text(f, to, w, rpd_read_key(rows, V_NAME, i, &bad), &name, err);
        if (st != ROCL_OK || name == ROCL_NONE)
            continue;
        r.counter.p =
            rocl_strings_get(rocl_records_input_of(to)->trace->strings, name, &r.counter.n);
        st = rocl_record_put(to, &r, err);
    }
    return st;
}

rocl_status rpd_put_op(rpd_file *f, rocl_records *to, rpd_worker *w, unsigned i, rocl_error *err)
{
    static const rocl_key_facts function = {.is_function = true};
    const rocl_rows *rows = w->rows[RPD_OP], *calls = NULL;
    const uint64_t id = (uint64_t)rows->id[i];
    const rocl_trace *trace = rocl_records_input_of(to)->trace;
    const char *api = "";
    rocl_source_record r;
    rocl_status st;
    unsigned k;
    bool bad = false;
    uint32_t name, type, called = ROCL_NONE;
    int64_t queue;
    rocl_record_begin(&r, ROCL_DISPATCH, rpd_place(RPD_OP, id));
    const char *why = rpd_read_times(rows, O_START, i, &r.as.e);
    if (why)
        return rocl_record_fault(to, r.where, ROCL_FAULT_BAD_TIME, why);
    r.agent = rpd_read_key(rows, O_GPU, i, &bad);
    if (rpd_read_int(rows, O_QUEUE, i, &queue, &bad)) /* handles are cut to 32 bits with a sign */
        r.queue = f->gpu_stride ? ((uint64_t)queue & UINT32_MAX) % f->gpu_stride
                                : (uint64_t)queue & UINT32_MAX;
    const rocl_lookup_key operation_key = {id, 0};
    if (f->links &&
        (st = rocl_lookup_find(f->links, &w->links, operation_key, &r.link, err)) != ROCL_OK)
        return st;
    if ((st = rpd_find_text(f, to, w, rpd_read_key(rows, O_DESCRIPTION, i, &bad), &name, err)) !=
            ROCL_OK ||
        (st = rpd_find_text(f, to, w, rpd_read_key(rows, O_TYPE, i, &bad), &type, err)) !=
            ROCL_OK ||
        (st = rpd_find_row(f, w, RPD_API, r.link, &calls, &k, err)) != ROCL_OK)
        return st;
    if (calls) {
        rpd_set_process(f, &r, rpd_read_key(calls, A_PID, k, &bad));
        r.thread = rpd_read_key(calls, A_TID, k, &bad);
        st = rpd_find_text(f, to, w, rpd_read_key(calls, A_NAME, k, &bad), &called, err);
        api = called == ROCL_NONE ? "" : rocl_str(trace, called);
    } else if (r.link != ROCL_NO_KEY) {
        rocl_record_fault(to, r.where, ROCL_FAULT_DANGLING_EVENT,
                          "the call that launched it is not there");
        r.link = ROCL_NO_KEY;
    }
    if (st == ROCL_OK && (name == ROCL_NONE || type == ROCL_NONE))
        rocl_record_fault(to, r.where, ROCL_FAULT_DANGLING_NAME, "its name is not there");
    else if (st == ROCL_OK && bad)
        rocl_record_fault(to, r.where, ROCL_FAULT_BAD_VALUE, "a field is not a number");
    if (st != ROCL_OK)
        return st;
    name = name == ROCL_NONE ? 0 : name;
    const char *kind = type == ROCL_NONE ? "" : rocl_str(trace, type);
    const uint64_t key = f->by_op ? id : r.link;
    const rocl_view operation = {kind, strlen(kind)};
    if (*kind && rocprof_is_copy(operation)) {
        st = add_copy(f, to, w, &r, key, err);
        return st == ROCL_OK ? rocprof_op_put(to, &f->words, &r, operation, err) : st;
    }
    /* KernelExecution; Task: a kernel of a graph */
    r.as.dispatch.dispatch_id = id;
    if ((st = add_launch(f, to, w, &r, key, api, &name, err)) != ROCL_OK)
        return st;
    r.symbol = &function;
    r.as.e.category = f->words.kernel;
    r.name = operation;
    if (name != ROCL_NONE && name)
        r.name.p = rocl_strings_get(trace->strings, name, &r.name.n);
    if ((st = rocl_record_put(to, &r, err)) != ROCL_OK || !f->counters)
        return st;
    return put_counters(f, to, w, &r, err);
}
