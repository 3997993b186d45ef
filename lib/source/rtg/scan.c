/* The second pass: lines -> batches of events. What is wrong was counted in the first. */
#include "source/rtg/line_match.h"
#include "source/rtg/rtg.h"

/* ---- what all events have ------------------------------------------------------------------ */

/* A line that is turned into an event. */
typedef struct turn {
    rtg_worker *w;
    const rtg_item *i;
    const rtg_line *l;
    uint64_t offset;
    rocl_error *err;
    rocl_status st;
} turn;

static bool wanted(const turn *t, rocl_kind kind)
{
    return t->w->file->kinds & ROCL_BIT(kind);
}

static uint32_t word(const turn *t, rtg_word_id id)
{
    return t->w->file->words[id];
}

static uint32_t index_in(const rtg_table *t, const rtg_key *k)
{
    const rtg_entry *e = rtg_table_find(t, k);
    return e ? e->index : ROCL_NONE;
}

static uint32_t process_of(const turn *t)
{
    rtg_key key = rtg_process_key(t->i);
    uint32_t index = index_in(&t->w->file->world.processes, &key);
    return index == ROCL_NONE ? 0 : index;
}

static uint32_t agent_of(const turn *t)
{
    rtg_key key = rtg_agent_key(t->i);
    return t->i->has_agent ? index_in(&t->w->file->world.agents, &key) : ROCL_NONE;
}

static uint32_t queue_of(const turn *t)
{
    if (!t->i->has_queue)
        return ROCL_NONE;
    rtg_key key = rtg_queue_key(t->i, rtg_name(t->w->names, t->i->queue));
    return index_in(&t->w->file->world.queues, &key);
}

static void put_head(const turn *t, rocl_event *e, uint32_t name, uint32_t category)
{
    e->start = t->i->start;
    e->end = t->i->end;
    e->duration = e->end - e->start;
    e->id = t->offset + 1;
    e->process = process_of(t);
    e->thread = ROCL_NONE;
    if (t->i->has_thread) {
        rtg_key key = rtg_thread_key(t->i);
        e->thread = index_in(&t->w->file->world.threads, &key);
    }
    e->name = name;
    e->category = category;
}

uint64_t rtg_stack_id(uint32_t process, uint64_t id)
{
    if (id >> 36 || process >> 24)
        return rocl_mix64(id ^ rocl_mix64(process)) | 1;
    return (uint64_t)process << 36 | (id + 1);
}

static rocl_view trimmed(rocl_view s)
{
    while (s.n && rtg_space(s.p[s.n - 1]))
        s.n--;
    return s;
}

static uint32_t name_of(const turn *t, rocl_view s)
{
    return rtg_name(t->w->names, trimmed(s));
}

/* ---- the host ------------------------------------------------------------------------------ */

/* A result that says something. */
static bool telling(rocl_view s)
{
    return s.n && !rocl_view_is(s, "0") && !rocl_view_is(s, "void") &&
           !rocl_view_is(s, "hipSuccess");
}

static rocl_view without_parentheses(rocl_view s)
{
    return s.n >= 2 && *s.p == '(' ? (rocl_view){s.p + 1, s.n - 2} : s;
}

static void put_args(turn *t, rocl_region *g)
{
    const rtg_line *l = t->l;
    rtg_worker *w = t->w;
    bool ok = true;
    g->arg_first = (uint32_t)w->out.arg_count;
    if (l->has_args)
        ok = rtg_args_split(w, l->shape == RTG_HSA ? without_parentheses(l->args) : l->args);
    if (ok && l->has_kernel)
        ok = rtg_args_add(w, word(t, RTG_W_KERNEL), l->kernel);
    if (ok && (l->shape == RTG_HIP || l->shape == RTG_HSA) && telling(l->result))
        ok = rtg_args_add(w, word(t, RTG_W_RET), l->result);
    g->arg_count = (uint32_t)w->out.arg_count - g->arg_first;
    if (!ok)
        t->st = rocl_fail_memory(t->err);
}

static void put_region(turn *t, rocl_kind kind, uint32_t name, uint32_t function, uint32_t category)
{
    rocl_region *g = rocl_batcher_next(&t->w->out, kind, &t->st, t->err);
    if (!g)
        return;
    put_head(t, &g->e, name, category);
    g->function = function;
    if (kind == ROCL_REGION && t->w->file->args)
        put_args(t, g);
}

static void take_call(turn *t)
{
    if (!wanted(t, ROCL_REGION))
        return;
    uint32_t name = name_of(t, t->l->name);
    bool amd = t->l->name.n > 8 && !memcmp(t->l->name.p, "hsa_amd_", 8);
    uint32_t category = word(t, t->l->shape == RTG_HIP ? RTG_W_HIP_API
                                : amd                  ? RTG_W_HSA_AMD_API
                                                       : RTG_W_HSA_API);
    put_region(t, ROCL_REGION, name, name, category);
}

static void take_syscall(turn *t)
{
    if (!wanted(t, ROCL_REGION))
        return;
    uint32_t name = name_of(t, t->l->name);
    put_region(t, ROCL_REGION, name, name, word(t, RTG_W_STRACE));
}

static void take_user(turn *t)
{
    bool range = t->i->what == RTG_USER_RANGE;
    rocl_kind kind = range ? ROCL_MARKER : ROCL_INSTANT;
    if (wanted(t, kind))
        put_region(t, kind, rtg_name(t->w->names, t->l->name),
                   word(t, range ? RTG_W_RANGE : RTG_W_MARK),
                   word(t, range ? RTG_W_RANGE_API : RTG_W_MARK_API));
}

static void take_host_packet(turn *t)
{
    static const struct {
        rtg_shape shape;
        rtg_word_id name, category;
    } packets[] = {{RTG_HOST_BARRIER, RTG_W_BARRIER, RTG_W_HOST_BARRIER},
                   {RTG_HOST_VENDOR, RTG_W_VENDOR, RTG_W_HOST_VENDOR}};
    rtg_file *f = t->w->file;
    uint32_t process = process_of(t), category = word(t, RTG_W_HOST_DISPATCH), name = 0;
    if (t->l->shape == RTG_HOST_DISPATCH && f->join)
        t->st = rtg_join_dims(t->w, t->i, process, t->offset, t->err);
    if (t->st != ROCL_OK || !wanted(t, ROCL_INSTANT))
        return;
    if (t->l->shape == RTG_HOST_DISPATCH)
        name = rtg_kernel_name(t->w->names, t->l->name);
    for (size_t k = 0; k < sizeof packets / sizeof *packets; k++)
        if (packets[k].shape == t->l->shape) {
            name = word(t, packets[k].name);
            category = word(t, packets[k].category);
        }
    rocl_region *g = rocl_batcher_next(&t->w->out, ROCL_INSTANT, &t->st, t->err);
    if (!g)
        return;
    put_head(t, &g->e, name, category);
    g->function = name;
    g->e.stack_id = rtg_stack_id(process, t->i->id);
}

/* ---- the GPU ------------------------------------------------------------------------------- */

static void take_dispatch(turn *t)
{
    rocl_dispatch d = {.stream = ROCL_NONE, .kernel = ROCL_NONE, .region_name = ROCL_NONE};
    if (!wanted(t, ROCL_DISPATCH))
        return;
    put_head(t, &d.e, rtg_kernel_name(t->w->names, t->l->name), word(t, RTG_W_KERNEL_DISPATCH));
    d.agent = agent_of(t);
    d.queue = queue_of(t);
    d.dispatch_id = t->i->id;
    if (!t->i->hcc) {
        d.e.stack_id = rtg_stack_id(d.e.process, t->i->id);
        if (t->w->file->join) {
            t->st = rtg_join_dispatch(t->w, &d, t->err);
            return;
        }
    }
    rocl_dispatch *to = rocl_batcher_next(&t->w->out, ROCL_DISPATCH, &t->st, t->err);
    if (to)
        *to = d;
}

static void take_barrier(turn *t)
{
    if (!wanted(t, ROCL_BARRIER))
        return;
    uint32_t name = word(t, t->l->shape == RTG_VENDOR ? RTG_W_VENDOR : RTG_W_BARRIER);
    if (t->i->hcc && t->l->name.n)
        name = name_of(t, t->l->name);
    rocl_hip *h = rocl_batcher_next(&t->w->out, ROCL_BARRIER, &t->st, t->err);
    if (!h)
        return;
    put_head(t, &h->e, name, word(t, RTG_W_BARRIER_PACKET));
    h->agent = agent_of(t);
    h->queue = queue_of(t);
    h->stream = h->source_queue = ROCL_NONE;
    if (!t->i->hcc)
        h->e.stack_id = rtg_stack_id(h->e.process, t->i->id);
}

/* "16384 bytes;..." */
static uint64_t copy_size(rocl_view extra)
{
    const char *end = extra.p + extra.n, *p = rtg_skip_space(extra.p, end);
    rocl_view digits;
    uint64_t v;
    p = rtg_digits(p, end, &digits);
    return p && rtg_lit(p, end, " bytes") && rtg_number(digits, &v) && v <= INT64_MAX ? v : 0;
}

/* The ends of a copy as far as its tag says: the agent is that of the GPU that did it. */
static void put_ends(rocl_copy *c, rocl_view tag, uint32_t agent)
{
    static const struct {
        const char *tag;
        bool src, dst;
    } ends[] = {{"HostToDevice", false, true},
                {"DeviceToHost", true, false},
                {"DeviceToDevice", true, true},
                {"PeerToPeer", true, false},
                {"HostToHost", false, false}};
    c->src = ROCL_NONE;
    c->dst = agent;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        if (!rtg_lit_n(tag.p, tag.p + tag.n, ends[i].tag, strlen(ends[i].tag)))
            continue;
        c->src = ends[i].src ? agent : ROCL_NONE;
        c->dst = ends[i].dst ? agent : ROCL_NONE;
    }
}

static void take_copy(turn *t)
{
    if (!wanted(t, ROCL_COPY))
        return;
    uint32_t name = word(t, RTG_W_COPY), agent = agent_of(t);
    if (t->i->hcc && t->l->name.n)
        name = name_of(t, t->l->name);
    rocl_copy *c = rocl_batcher_next(&t->w->out, ROCL_COPY, &t->st, t->err);
    if (!c)
        return;
    put_head(t, &c->e, name, word(t, RTG_W_MEMORY_COPY));
    c->queue = queue_of(t);
    c->stream = ROCL_NONE;
    if (t->i->hcc) {
        put_ends(c, t->l->name, agent);
        c->size = t->l->shape == RTG_HCC_TIMES ? 0 : copy_size(t->l->extra);
    } else {
        c->src = ROCL_NONE;
        c->dst = agent;
    }
}

/* ---- strace -------------------------------------------------------------------------------- */

/* The begin of a call that is resumed; false when there was none, which has been counted. */
static bool call_begin(turn *t, const rtg_pairs *before, const rtg_key *k, int64_t *begun)
{
    const rtg_pair *pair = rtg_pairs_end(&t->w->pairs, k, 0, 0);
    if (!pair) {
        t->st = rocl_fail_memory(t->err);
        return false;
    }
    *begun = pair->begun;
    if (pair->has_begun)
        return true;
    const rtg_entry *e = rtg_table_find(&before->keys, k);
    const rtg_pair *known = e ? &before->all[e->index] : NULL;
    *begun = known ? known->before : 0;
    return known && known->resolved;
}

static void take_interrupted(turn *t, rtg_item *i, const rtg_pairs *before)
{
    rtg_key key = {{i->tid, rtg_name(t->w->names, t->l->name), 0}};
    rtg_pair former;
    bool lost;
    int64_t begun, end;
    if (i->what == RTG_SYSCALL_BEGIN) {
        if (!rtg_pairs_begin(&t->w->pairs, &key, i->start, 0, 0, &former, &lost))
            t->st = rocl_fail_memory(t->err);
        return;
    }
    if (!call_begin(t, before, &key, &begun) || __builtin_add_overflow(begun, i->end, &end))
        return;
    i->start = begun;
    i->end = end;
    take_syscall(t);
}

/* ---- ranges -------------------------------------------------------------------------------- */

static void take_line(turn *t, rtg_item *i, size_t range)
{
    switch (i->what) {
    case RTG_CALL:
        take_call(t);
        break;
    case RTG_HOST_PACKET:
        take_host_packet(t);
        break;
    case RTG_GPU_DISPATCH:
        take_dispatch(t);
        break;
    case RTG_GPU_BARRIER:
        take_barrier(t);
        break;
    case RTG_GPU_COPY:
        take_copy(t);
        break;
    case RTG_USER_RANGE:
    case RTG_USER_MARK:
        take_user(t);
        break;
    case RTG_SYSCALL:
        take_syscall(t);
        break;
    case RTG_SYSCALL_BEGIN:
    case RTG_SYSCALL_END:
        if (wanted(t, ROCL_REGION))
            take_interrupted(t, i, &t->w->file->ranges[range].pairs);
        break;
    default:
        break;
    }
}

static rocl_status scan_block(rtg_worker *w, size_t range, uint64_t *lines, rocl_error *err)
{
    rtg_text text;
    turn t = {.w = w, .err = err};
    *lines = 0;
    while (t.st == ROCL_OK && rtg_reader_line(&w->reader, &text)) {
        rtg_line line;
        rtg_item item;
        rtg_read_item(&item, &line, &text, w->file->file_pid);
        t.l = &line;
        t.i = &item;
        t.offset = text.offset;
        take_line(&t, &item, range);
        (*lines)++;
    }
    return t.st == ROCL_OK && w->names->failed ? rocl_fail_memory(err) : t.st;
}

rocl_status rtg_scan(rtg_file *f, const rocl_task *task, unsigned worker, const rocl_emitter *to,
                     rocl_error *err)
{
    size_t range = (size_t)task->first;
    rtg_worker *w = rtg_worker_get(f, worker, to, err);
    rocl_status st = w ? ROCL_OK : ROCL_INTERNAL;
    bool more = true;
    if (!w)
        return st;
    rtg_pairs_reset(&w->pairs);
    rtg_reader_begin(&w->reader, f->spool, rtg_range_begin(range), rtg_range_begin(range + 1));
    while (st == ROCL_OK && (st = rtg_reader_fill(&w->reader, &more, err)) == ROCL_OK && more) {
        uint64_t lines;
        st = scan_block(w, range, &lines, err);
        if (st == ROCL_OK && f->args) /* arguments are where they were read */
            st = rocl_batcher_flush(&w->out, err);
        rocl_progress(f->trace, lines);
    }
    if (st == ROCL_OK)
        st = rocl_batcher_flush(&w->out, err);
    if (st == ROCL_OK && f->join)
        st = rocl_sorter_seal(f->join, worker, err);
    return st;
}
