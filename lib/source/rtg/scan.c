/* The second pass: lines -> batches of events. Faults were counted in the first. */
#include <stdlib.h>

#include "base/array.h"
#include "model/copies.h"
#include "source/rtg/line_match.h"
#include "source/rtg/rtg.h"

/* ---- workers -------------------------------------------------------------------------------- */

static rtg_worker *get_worker(rtg_file *f, unsigned number, const rocl_emitter *to, rocl_error *err)
{
    rtg_worker *w = &f->workers[number];
    w->file = f;
    w->out.worker = number;
    w->out.capture = &f->capture->pub;
    w->out.max = rtg_sizes_used.batch_max;
    w->out.to = to;
    if (!w->names && !(w->names = rtg_names_new(f->trace)))
        rocl_fail_memory(err);
    return w->names ? w : NULL;
}

void rtg_workers_free(rtg_file *f)
{
    for (unsigned i = 0; f->workers && i < f->trace->opt.jobs; i++) {
        rtg_worker *w = &f->workers[i];
        rocl_batcher_free(&w->out);
        rtg_reader_free(&w->reader);
        rtg_names_free(w->names);
        rtg_calls_free(&w->calls);
    }
    free(f->workers);
    f->workers = NULL;
}

/* ---- arguments ------------------------------------------------------------------------------ */

/* Their texts differ from call to call: values stay where they were read, and a NUL is written
 * behind each, for which there is a byte behind the text. */
static bool add_arg(rtg_worker *w, uint32_t name, rocl_view value)
{
    if (!ROCL_GROW(w->out.args, w->out.arg_cap, w->out.arg_count + 1))
        return false;
    ((char *)(uintptr_t)value.p)[value.n] = '\0';
    w->out.args[w->out.arg_count++] = (rocl_arg){0, name, value.p, value.n};
    return true;
}

static bool add_named_arg(void *ctx, rocl_view name, rocl_view value)
{
    rtg_worker *w = ctx;
    return add_arg(w, rtg_intern_name(w->names, name), value);
}

/* ---- what all events have ------------------------------------------------------------------- */

/* A line that is turned into an event. */
typedef struct rtg_turn {
    rtg_worker *w;
    const rtg_item *i;
    const rtg_line *l;
    uint64_t offset;
    rocl_error *err;
    rocl_status st;
} rtg_turn;

static bool is_wanted(const rtg_turn *t, rocl_kind kind)
{
    return t->w->file->kinds & ROCL_BIT(kind);
}

static uint32_t word_of(const rtg_turn *t, rtg_word_id id)
{
    return t->w->file->words[id];
}

/* The index of a definition that the line names; the first pass has made one of every process. */
static uint32_t find_definition(const rtg_turn *t, int table)
{
    const rtg_item *i = t->i;
    const bool has[RTG_TABLES] = {true, i->has_thread, i->has_agent, i->has_queue};
    if (!has[table])
        return ROCL_NONE;
    uint32_t queue = table == RTG_QUEUES ? rtg_intern_name(t->w->names, i->queue) : 0;
    const rocl_key key = rtg_key_of(table, i, queue);
    const rocl_key_entry *e = rocl_registry_find(&t->w->file->tables[table], &key);
    return e ? e->index : ROCL_NONE;
}

static void put_head(const rtg_turn *t, rocl_event *e, uint32_t name, uint32_t category)
{
    e->start = t->i->start;
    e->end = t->i->end;
    e->duration = e->end - e->start;
    e->id = t->offset + 1;
    e->process = find_definition(t, RTG_PROCESSES);
    e->thread = find_definition(t, RTG_THREADS);
    e->name = name;
    e->category = category;
}

/* Links the host line of a packet with its GPU line: below 2^63, as databases and CSV need. */
static uint64_t make_stack_id(uint32_t process, uint64_t id)
{
    if (id >> 36 || process >> 24)
        return rocl_mix64(id ^ rocl_mix64(process)) >> 1 | 1;
    return (uint64_t)process << 36 | (id + 1);
}

static uint32_t intern_trimmed(const rtg_turn *t, rocl_view s)
{
    while (s.n && rtg_space(s.p[s.n - 1]))
        s.n--;
    return rtg_intern_name(t->w->names, s);
}

/* ---- the host ------------------------------------------------------------------------------- */

static void put_region(rtg_turn *t, rocl_kind kind, uint32_t name, uint32_t function,
                       uint32_t category)
{
    rocl_region *g = rocl_batcher_next(&t->w->out, kind, &t->st, t->err);
    if (!g)
        return;
    put_head(t, &g->e, name, category);
    g->function = function;
    if (kind != ROCL_REGION || !t->w->file->args)
        return;
    /* The arguments of a call, its kernel, and a meaningful result. */
    const rtg_line *l = t->l;
    rtg_worker *w = t->w;
    bool ok = true, call = l->shape == RTG_HIP || l->shape == RTG_HSA;
    rocl_view args = l->args;
    g->arg_first = (uint32_t)w->out.arg_count;
    if (l->has_args && l->shape == RTG_HSA && args.n >= 2 && *args.p == '(')
        args = (rocl_view){args.p + 1, args.n - 2};
    if (l->has_args)
        ok = rtg_args_split(args, add_named_arg, w);
    if (ok && l->has_kernel)
        ok = add_arg(w, word_of(t, RTG_W_KERNEL), l->kernel);
    if (ok && call && l->result.n && !rocl_view_is(l->result, "0") &&
        !rocl_view_is(l->result, "void") && !rocl_view_is(l->result, "hipSuccess"))
        ok = add_arg(w, word_of(t, RTG_W_RET), l->result);
    g->arg_count = (uint32_t)w->out.arg_count - g->arg_first;
    if (!ok)
        t->st = rocl_fail_memory(t->err);
}

/* A call of HIP, HSA or the system. */
static void emit_call(rtg_turn *t)
{
    if (!is_wanted(t, ROCL_REGION))
        return;
    uint32_t name = intern_trimmed(t, t->l->name);
    bool amd = t->l->name.n > 8 && !memcmp(t->l->name.p, "hsa_amd_", 8);
    put_region(t, ROCL_REGION, name, name,
               word_of(t, t->i->what != RTG_CALL   ? RTG_W_STRACE
                          : t->l->shape == RTG_HIP ? RTG_W_HIP_API
                          : amd                    ? RTG_W_HSA_AMD_API
                                                   : RTG_W_HSA_API));
}

/* A call that was interrupted; if its begin is unknown, that has been counted. */
static void emit_resumed_call(rtg_turn *t, rtg_item *i, const rtg_calls *before)
{
    if (!is_wanted(t, ROCL_REGION))
        return;
    const rocl_key key = {i->tid, rtg_intern_name(t->w->names, t->l->name), 0};
    if (i->what == RTG_SYSCALL_BEGIN) {
        rtg_call former;
        bool lost;
        if (!rtg_calls_begin(&t->w->calls, &key, i->start, 0, 0, &former, &lost))
            t->st = rocl_fail_memory(t->err);
        return;
    }
    const rtg_call *call = rtg_calls_resume(&t->w->calls, &key, 0, 0);
    if (!call) {
        t->st = rocl_fail_memory(t->err);
        return;
    }
    int64_t begun = call->begun;
    if (!call->has_begun) {
        const rocl_key_entry *e = rocl_registry_find(&before->keys, &key);
        const rtg_call *open = e ? &before->all[e - before->keys.entries] : NULL;
        if (!open || !open->resolved)
            return;
        begun = open->before;
    }
    if (__builtin_add_overflow(begun, i->end, &i->end))
        return;
    i->start = begun;
    emit_call(t);
}

/* ---- dispatches and the dimensions that their host lines know ------------------------------- */

/* How many work-items a dispatch had stands in the line of the host that submitted it, what became
 * of it in a line of the GPU some time later. Both meet in a sorter, by process and id. Offsets
 * make the order unique, and a line of the GPU belongs to the last one of the host before it: ids
 * may come twice.
 *
 *     key[0] process   key[1] id   key[2] offset << 1 | 1 for a line of the GPU
 *     of the host: uint32_t workgroup[3], grid[3]; of the GPU: joined_dispatch */
typedef struct joined_dispatch {
    int64_t start, end;
    uint32_t name, agent, queue;
} joined_dispatch;

/* The moment a packet was put into a queue. */
static void emit_host_packet(rtg_turn *t)
{
    rtg_file *f = t->w->file;
    uint32_t process = find_definition(t, RTG_PROCESSES), name, category;
    bool kernel = t->l->shape == RTG_HOST_DISPATCH;
    if (kernel && f->join) {
        const uint64_t key[3] = {process, t->i->id, t->offset << 1};
        uint32_t dims[6];
        memcpy(dims, t->i->workgroup, sizeof t->i->workgroup);
        memcpy(dims + 3, t->i->grid, sizeof t->i->grid);
        t->st = rocl_sorter_add(f->join, t->w->out.worker, key, dims, sizeof dims, t->err);
    }
    if (t->st != ROCL_OK || !is_wanted(t, ROCL_INSTANT))
        return;
    if (kernel) {
        name = rtg_intern_kernel(t->w->names, t->l->name);
        category = word_of(t, RTG_W_HOST_DISPATCH);
    } else {
        bool barrier = t->l->shape == RTG_HOST_BARRIER;
        name = word_of(t, barrier ? RTG_W_BARRIER : RTG_W_VENDOR);
        category = word_of(t, barrier ? RTG_W_HOST_BARRIER : RTG_W_HOST_VENDOR);
    }
    rocl_region *g = rocl_batcher_next(&t->w->out, ROCL_INSTANT, &t->st, t->err);
    if (!g)
        return;
    put_head(t, &g->e, name, category);
    g->function = name;
    g->e.stack_id = make_stack_id(process, t->i->id);
}

/* ---- the GPU -------------------------------------------------------------------------------- */

static void emit_dispatch(rtg_turn *t)
{
    rocl_dispatch d = {.stream = ROCL_NONE, .kernel = ROCL_NONE, .region_name = ROCL_NONE};
    rocl_sorter *join = t->i->hcc ? NULL : t->w->file->join;
    if (!is_wanted(t, ROCL_DISPATCH))
        return;
    put_head(t, &d.e, rtg_intern_kernel(t->w->names, t->l->name),
             word_of(t, RTG_W_KERNEL_DISPATCH));
    d.agent = find_definition(t, RTG_AGENTS);
    d.queue = find_definition(t, RTG_QUEUES);
    d.dispatch_id = t->i->id;
    if (join) {
        const uint64_t key[3] = {d.e.process, t->i->id, t->offset << 1 | 1};
        joined_dispatch j = {d.e.start, d.e.end, d.e.name, d.agent, d.queue};
        t->st = rocl_sorter_add(join, t->w->out.worker, key, &j, sizeof j, t->err);
        return;
    }
    if (!t->i->hcc)
        d.e.stack_id = make_stack_id(d.e.process, t->i->id);
    rocl_dispatch *to = rocl_batcher_next(&t->w->out, ROCL_DISPATCH, &t->st, t->err);
    if (to)
        *to = d;
}

/* The name of a barrier or copy: the tag of a profile line, or the word for it. */
static uint32_t name_gpu_work(const rtg_turn *t, rtg_word_id id)
{
    return t->i->hcc && t->l->name.n ? intern_trimmed(t, t->l->name) : word_of(t, id);
}

static void emit_barrier(rtg_turn *t)
{
    if (!is_wanted(t, ROCL_BARRIER))
        return;
    uint32_t name = name_gpu_work(t, t->l->shape == RTG_VENDOR ? RTG_W_VENDOR : RTG_W_BARRIER);
    rocl_hip *h = rocl_batcher_next(&t->w->out, ROCL_BARRIER, &t->st, t->err);
    if (!h)
        return;
    put_head(t, &h->e, name, word_of(t, RTG_W_BARRIER_PACKET));
    h->agent = find_definition(t, RTG_AGENTS);
    h->queue = find_definition(t, RTG_QUEUES);
    h->stream = h->source_queue = ROCL_NONE;
    if (!t->i->hcc)
        h->e.stack_id = make_stack_id(h->e.process, t->i->id);
}

/* A copy of a profile line: its ends, as far as its tag tells (the agent is the GPU that did it),
 * and its size, "16384 bytes;...". */
static void emit_copy(rtg_turn *t)
{
    const rtg_line *l = t->l;
    if (!is_wanted(t, ROCL_COPY))
        return;
    uint32_t name = name_gpu_work(t, RTG_W_COPY);
    rocl_copy *c = rocl_batcher_next(&t->w->out, ROCL_COPY, &t->st, t->err);
    if (!c)
        return;
    const uint32_t agent = find_definition(t, RTG_AGENTS);
    put_head(t, &c->e, name, word_of(t, RTG_W_MEMORY_COPY));
    c->queue = find_definition(t, RTG_QUEUES);
    c->stream = c->src = ROCL_NONE;
    c->dst = agent;
    bool src, dst;
    if (t->i->hcc && rocl_copy_ends(l->name, &src, &dst)) {
        c->src = src ? agent : ROCL_NONE;
        c->dst = dst ? agent : ROCL_NONE;
    }
    if (!t->i->hcc || l->shape == RTG_HCC_TIMES)
        return;
    const char *end = l->extra.p + l->extra.n;
    rocl_view digits;
    uint64_t size;
    const char *p = rtg_digits(rtg_skip_space(l->extra.p, end), end, &digits);
    if (p && rtg_lit(p, end, " bytes") && rtg_number(digits, &size) && size <= INT64_MAX)
        c->size = size;
}

/* ---- ranges --------------------------------------------------------------------------------- */

static void emit_line(rtg_turn *t, rtg_item *i, size_t range)
{
    switch (i->what) {
    case RTG_CALL:
    case RTG_SYSCALL:
        emit_call(t);
        break;
    case RTG_HOST_PACKET:
        emit_host_packet(t);
        break;
    case RTG_GPU_DISPATCH:
        emit_dispatch(t);
        break;
    case RTG_GPU_BARRIER:
        emit_barrier(t);
        break;
    case RTG_GPU_COPY:
        emit_copy(t);
        break;
    case RTG_USER_RANGE:
    case RTG_USER_MARK: {
        bool is_range = t->i->what == RTG_USER_RANGE;
        rocl_kind kind = is_range ? ROCL_MARKER : ROCL_INSTANT;
        if (is_wanted(t, kind))
            put_region(t, kind, rtg_intern_name(t->w->names, t->l->name),
                       word_of(t, is_range ? RTG_W_RANGE : RTG_W_MARK),
                       word_of(t, is_range ? RTG_W_RANGE_API : RTG_W_MARK_API));
        break;
    }
    case RTG_SYSCALL_BEGIN:
    case RTG_SYSCALL_END:
        emit_resumed_call(t, i, &t->w->file->ranges[range].calls);
        break;
    default:
        break;
    }
}

rocl_status rtg_scan(rocl_trace *trace, rocl_model_capture *c, const rocl_task *task,
                     unsigned worker, const rocl_emitter *to, rocl_error *err)
{
    rtg_file *f = c->state;
    size_t range = (size_t)task->first;
    rtg_worker *w = get_worker(f, worker, to, err);
    rtg_turn t = {.w = w, .err = err};
    bool more = true;
    if (!w)
        return ROCL_INTERNAL;
    rtg_calls_free(&w->calls);
    rtg_reader_begin(&w->reader, f->spool, rtg_range_begin(range), rtg_range_begin(range + 1));
    while (t.st == ROCL_OK && (t.st = rtg_reader_fill(&w->reader, &more, err)) == ROCL_OK && more) {
        rtg_text text;
        uint64_t lines = 0;
        for (; t.st == ROCL_OK && rtg_reader_line(&w->reader, &text); lines++) {
            rtg_line line;
            rtg_item item;
            rtg_read_item(&item, &line, &text, f->file_pid);
            t.l = &line;
            t.i = &item;
            t.offset = text.offset;
            emit_line(&t, &item, range);
        }
        if (t.st == ROCL_OK && w->names->failed)
            t.st = rocl_fail_memory(err);
        if (t.st == ROCL_OK && f->args) /* arguments are where they were read */
            t.st = rocl_batcher_flush(&w->out, err);
        rocl_progress(trace, lines);
    }
    if (t.st == ROCL_OK)
        t.st = rocl_batcher_flush(&w->out, err);
    if (t.st == ROCL_OK && f->join)
        t.st = rocl_sorter_seal(f->join, worker, err);
    return t.st;
}

rocl_status rtg_finish(rocl_trace *t, rocl_model_capture *c, const rocl_emitter *to,
                       rocl_error *err)
{
    rtg_file *f = c->state;
    rocl_status st = ROCL_OK;
    (void)t;
    if (f->join) {
        rtg_worker *w = get_worker(f, 0, to, err);
        rocl_sort_record rec;
        bool known = false;
        uint32_t dims[6] = {0};
        uint64_t whose[2] = {0};
        if (!w)
            return ROCL_INTERNAL;
        st = rocl_sorter_start(f->join, err);
        while (rocl_next_record(f->join, &rec, &st, err)) {
            known = known && whose[0] == rec.key[0] && whose[1] == rec.key[1];
            if (!(rec.key[2] & 1)) {
                memcpy(dims, rec.data, sizeof dims);
                memcpy(whose, rec.key, sizeof whose);
                known = true;
                continue;
            }
            joined_dispatch j;
            rocl_dispatch *d = rocl_batcher_next(&w->out, ROCL_DISPATCH, &st, err);
            if (!d)
                break;
            memcpy(&j, rec.data, sizeof j);
            d->e = (rocl_event){.start = j.start,
                                .end = j.end,
                                .duration = j.end - j.start,
                                .id = (rec.key[2] >> 1) + 1,
                                .stack_id = make_stack_id((uint32_t)rec.key[0], rec.key[1]),
                                .process = (uint32_t)rec.key[0],
                                .thread = ROCL_NONE,
                                .name = j.name,
                                .category = f->words[RTG_W_KERNEL_DISPATCH]};
            d->agent = j.agent;
            d->queue = j.queue;
            d->stream = d->kernel = d->region_name = ROCL_NONE;
            d->dispatch_id = rec.key[1];
            if (known) {
                memcpy(d->workgroup, dims, sizeof d->workgroup);
                memcpy(d->grid, dims + 3, sizeof d->grid);
            }
        }
        if (st == ROCL_OK)
            st = rocl_batcher_flush(&w->out, err);
        rocl_sorter_free(f->join);
        f->join = NULL;
    }
    rtg_workers_free(f);
    return st;
}
