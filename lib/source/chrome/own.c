/* What rtg2json wrote: see own.h. */
#include "source/chrome/own.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/error.h"
#include "format/perfetto.h"
#include "source/rocprof/row.h"

void chrome_own_close(chrome_own *o)
{
    pthread_mutex_destroy(&o->lock);
    rocl_map_free(&o->index);
    free(o->rows);
}

rocl_status chrome_own_find(chrome_own *o, const rocl_json_index *x, const rocl_spool *spool,
                            unsigned flags, int64_t *base, rocl_error *err)
{
    static const rocl_view keys[] = {ROCL_JSON_KEY("generator"),
                                     ROCL_JSON_KEY("timeBaseNanoseconds")};
    const rocl_json_node *other = rocl_json_child(x, x->nodes, "otherData");
    rocl_buf b = {0};
    rocl_json r;
    rocl_json_token v;
    bool ours = false, based = false;
    rocl_status st = ROCL_OK;
    if (rocl_json_load_node(&r, &v, &b, spool, other, flags, &st, err) &&
        rocl_json_enter(&r, ROCL_JSON_OBJECT))
        for (int key; (key = rocl_json_member(&r, keys, 2, &v)) >= 0;) {
            if (key == 0)
                ours = v.text.n > 8 && !memcmp(v.text.p, "rocline ", 8);
            else
                based = rocl_json_int(v.text, base);
        }
    o->is = ours && based;
    *base = o->is || !other ? *base : 0;
    rocl_buf_free(&b);
    return st;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static chrome_own_row *find_row(const chrome_own *o, uint64_t pid, uint64_t tid)
{
    const uint32_t i = rocl_map_get(&o->index, rocl_mix_pair(pid, tid), ROCL_NONE);
    chrome_own_row *r = i == ROCL_NONE ? NULL : &o->rows[i];
    return r && r->pid == pid && r->tid == tid ? r : NULL;
}

bool chrome_own_note(chrome_own *o, uint64_t pid, uint64_t tid, uint32_t name)
{
    pthread_mutex_lock(&o->lock);
    const bool ok = ROCL_GROW(o->rows, o->cap, o->count + 1) &&
                    rocl_map_put(&o->index, rocl_mix_pair(pid, tid), (uint32_t)o->count);
    if (ok)
        o->rows[o->count++] = (chrome_own_row){pid, tid, name, -1, ROCL_NO_KEY, ROCL_NO_KEY};
    pthread_mutex_unlock(&o->lock);
    return ok;
}

/* "Stream 1 (pid 12) (2)", "Stream 1 (rank 0, pid 12)": the process has that number, or a name that
 * says the same. */
static uint64_t find_owner(const chrome_own *o, const rocl_trace *t, const char *row)
{
    const char *p = strstr(row, " (pid "), *ranked = strstr(row, " (rank ");
    const size_t n = p || ranked ? strcspn(p ? p : ranked, ")") : 0;
    const chrome_own_row *same = p ? find_row(o, strtoull(p + 6, NULL, 10), ROCL_NO_KEY) : NULL;
    if (same && same->gpu < 0)
        return same->pid;
    for (size_t i = 0; n && i < o->count; i++)
        if (o->rows[i].tid == ROCL_NO_KEY) {
            const char *name = rocl_str(t, o->rows[i].name);
            const char *at = memmem(name, strlen(name), p ? p : ranked, n);
            if (at && (at[n] == ')' || at[n] == ','))
                return o->rows[i].pid;
        }
    return ROCL_NO_KEY;
}

/* GPUs of several machines may have the same numbers: then they are numbered in the order of the
 * file. */
static void number_gpus(chrome_own *o)
{
    chrome_own_row *gpus[CHROME_OWN_MAX];
    const size_t count = o->gpu_count;
    for (size_t i = 0; i < count; i++)
        gpus[i] = &o->rows[o->gpus[i]];
    bool distinct = true;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < i; k++)
            distinct &= gpus[i]->gpu != gpus[k]->gpu;
    for (size_t i = 0; i < count && !distinct; i++) {
        gpus[i]->gpu = 0;
        for (size_t k = 0; k < count; k++)
            gpus[i]->gpu += gpus[k]->pid < gpus[i]->pid;
    }
}

void chrome_own_learn(chrome_own *o, const rocl_trace *t)
{
    size_t processes = 0;
    for (size_t i = 0; i < o->count; i++) {
        chrome_own_row *r = &o->rows[i];
        const char *name = rocl_str(t, r->name);
        processes += r->tid == ROCL_NO_KEY;
        /* "overlapping calls of 12 (2)": calls of the thread whose row has that number. */
        static const char words[] = PF_OVERLAPPING_CALLS " of ";
        const char *p = name + sizeof words - 1;
        r->thread = !strncmp(name, words, sizeof words - 1) && *p >= '0' && *p <= '9'
                        ? strtoull(p, NULL, 10)
                        : ROCL_NO_KEY;
        if (r->tid != ROCL_NO_KEY || o->gpu_count == CHROME_OWN_MAX ||
            strncmp(name, "GPU ", 4) != 0 || name[4] < '0' || name[4] > '9')
            continue;
        r->gpu = strtol(name + 4, NULL, 10) & INT32_MAX;
        o->gpus[o->gpu_count++] = (uint32_t)i;
    }
    number_gpus(o);
    for (size_t i = 0; i < o->count && processes <= CHROME_OWN_MAX; i++)
        if (o->rows[i].tid != ROCL_NO_KEY)
            o->rows[i].owner = find_owner(o, t, rocl_str(t, o->rows[i].name));
    o->known = true;
}

bool chrome_own_place(const chrome_own *o, rocl_source_record *r)
{
    const chrome_own_row *process = find_row(o, r->process, ROCL_NO_KEY);
    const chrome_own_row *row = find_row(o, r->process, r->thread);
    if (!process || process->gpu < 0) {
        r->thread = row && row->thread != ROCL_NO_KEY ? row->thread : r->thread;
        return false;
    }
    r->agent = r->process;
    /* The thread of a value is its process. */
    r->process = row ? row->owner : chrome_who_knows(o->who, r->thread) ? r->thread : ROCL_NO_KEY;
    r->thread = ROCL_NO_KEY;
    return true;
}

/* Rows of streams have their names, "Stream 1 (pid 12)"; rows of queues begin with "Queue". */
rocl_view chrome_own_stream_name(const chrome_own *o, const rocl_trace *t, const chrome_event *e,
                                 uint64_t stream)
{
    static const char *const others[] = {"Queue ",      "No ",    "Copies",  "Host copies",
                                         "Host memory", "Memory", "Scratch", "Graph launches"};
    uint64_t pid, tid;
    char plain[40];
    const chrome_own_row *row =
        rocl_json_uint(e->pid.text, &pid) && rocl_json_uint(e->tid.text, &tid)
            ? find_row(o, pid, tid)
            : NULL;
    if (!row || stream == ROCL_NO_KEY)
        return (rocl_view){0};
    const char *name = rocl_str(t, row->name), *end = strstr(name, " (pid ");
    end = end ? end : strstr(name, " (rank ");
    end = end ? end : strstr(name, " (2)"); /* a lane of slices that overlap */
    const rocl_view own = {name, end ? (size_t)(end - name) : strlen(name)};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (!strncmp(name, others[i], strlen(others[i])))
            return (rocl_view){0};
    snprintf(plain, sizeof plain, "Stream %" PRIu64, stream);
    return rocl_view_is(own, plain) ? (rocl_view){0} : own;
}

/* ---- events ---------------------------------------------------------------------------------- */

typedef struct own_args {
    uint64_t stream, queue, bytes, kernels, link;
    uint64_t lds, scratch, dispatch;
    uint32_t grid[3], workgroup[3];
    rocl_view ends[2]; /* of a copy: its source and destination */
} own_args;

static bool read_args(rocl_json r, own_args *a)
{
    static const rocl_view keys[] = {
        ROCL_JSON_KEY("stream"),        ROCL_JSON_KEY("queue"),       ROCL_JSON_KEY("bytes"),
        ROCL_JSON_KEY("kernels"),       ROCL_JSON_KEY("correlation"), ROCL_JSON_KEY("lds_bytes"),
        ROCL_JSON_KEY("scratch_bytes"), ROCL_JSON_KEY("dispatch_id"), ROCL_JSON_KEY("source"),
        ROCL_JSON_KEY("destination"),   ROCL_JSON_KEY("grid"),        ROCL_JSON_KEY("workgroup")};
    enum { NUMBERS = 8, SIZES = NUMBERS + 2, KEYS = sizeof keys / sizeof *keys };
    uint64_t *const numbers[NUMBERS] = {&a->stream, &a->queue, &a->bytes,   &a->kernels,
                                        &a->link,   &a->lds,   &a->scratch, &a->dispatch};
    rocl_json_token v;
    for (int key; (key = rocl_json_member(&r, keys, KEYS, &v)) >= 0;) {
        if (key < NUMBERS)
            rocl_json_uint(v.text, numbers[key]);
        else if (key < SIZES)
            a->ends[key - NUMBERS] = v.text;
        else
            chrome_read_sizes(&r, key == SIZES ? a->grid : a->workgroup);
    }
    return !r.wrong;
}

/* The GPU of that number, on the machine of another GPU if there are several, for files that do not
 * say where GPUs are; ROCL_NO_KEY: it has no work in the file. */
static uint64_t find_gpu(const chrome_own *o, const rocl_trace *t, uint32_t number, uint64_t near)
{
    const chrome_own_row *other = find_row(o, near, ROCL_NO_KEY);
    const char *host = other ? strrchr(rocl_str(t, other->name), '(') : NULL;
    uint64_t found = ROCL_NO_KEY;
    for (size_t i = 0; i < o->gpu_count; i++) {
        const chrome_own_row *gpu = &o->rows[o->gpus[i]];
        const char *name = rocl_str(t, gpu->name), *of = strrchr(name, '(');
        if (strtoul(name + 4, NULL, 10) != number)
            continue;
        if (!of || !host || !strcmp(of, host))
            return gpu->pid;
        found = found == ROCL_NO_KEY ? gpu->pid : found;
    }
    return found;
}

static void find_end(const chrome_own *o, const rocl_trace *t, rocl_view text, uint64_t process,
                     uint64_t near, uint64_t *agent, rocl_agent_type *type)
{
    uint32_t number;
    *agent = ROCL_NO_KEY;
    if (!rocl_read_agent(text, type, &number))
        return;
    if (*type == ROCL_AGENT_GPU)
        *agent = chrome_who_find_gpu(o->who, process, number);
    if (*type == ROCL_AGENT_GPU && *agent == ROCL_NO_KEY)
        *agent = find_gpu(o, t, number, near);
    if (*agent == ROCL_NO_KEY)
        *agent = (uint64_t)*type << 32 | number;
    if (*type == ROCL_AGENT_OTHER) /* "Agent 0": not a GPU */
        *type = ROCL_AGENT_CPU;
}

static void make_work(rocl_source_record *r, const chrome_own *o, const rocl_trace *t,
                      const chrome_work *k, const chrome_event *e, rocl_kind kind,
                      const own_args *own)
{
    chrome_args a = {.stream = own->stream, .device = r->agent, .bytes = own->bytes};
    const rocl_source_record placed = *r;
    if (kind == ROCL_DISPATCH) {
        a.shared = (int64_t)(own->lds & INT64_MAX);
        memcpy(a.grid, own->grid, sizeof a.grid);
        memcpy(a.block, own->workgroup, sizeof a.block);
        chrome_make_dispatch(r, k, e, &a);
        r->as.dispatch.private_segment = (int64_t)(own->scratch & INT64_MAX);
        r->as.dispatch.dispatch_id = own->dispatch;
    } else if (kind == ROCL_COPY) {
        chrome_make_copy(r, k, e, &a);
        /* The ends of a copy by their texts: GPUs by the names of their processes, and other
         * agents. Versions that numbered GPUs as agents do not tell which these are: then, and
         * without texts, an end on a GPU is on that of the row. */
        uint64_t *const agents[] = {&r->src, &r->dst};
        rocl_agent_type *const types[] = {&r->src_type, &r->dst_type};
        bool named = placed.agent == ROCL_NO_KEY;
        for (unsigned i = 0; i < 2; i++)
            named |= own->ends[i].n > 4 && !memcmp(own->ends[i].p, "GPU ", 4);
        for (unsigned i = 0; i < 2; i++)
            if (named || *agents[i] == ROCL_NO_KEY)
                find_end(o, t, own->ends[i], placed.process, placed.agent, agents[i], types[i]);
            else
                *agents[i] = placed.agent;
    } else if (kind == ROCL_ALLOC || kind == ROCL_SCRATCH) {
        rocprof_alloc_operation(r->name, kind == ROCL_SCRATCH, &r->as.alloc);
        r->as.e.category = kind == ROCL_ALLOC ? k->allocation : 0;
        r->as.alloc.size = own->bytes == ROCL_NO_KEY ? 0 : own->bytes;
    } else {
        r->as.hip.kernel_count = own->kernels;
    }
    r->kind = kind;
    r->agent = placed.agent;
    r->process = placed.process;
    r->thread = ROCL_NO_KEY;
    r->stream = own->stream;
    r->queue = own->queue;
}

bool chrome_own_make(const chrome_own *o, const rocl_trace *t, rocl_source_record *r,
                     const chrome_work *k, chrome_worker *w, const chrome_event *e, bool *work)
{
    own_args a = {
        .stream = ROCL_NO_KEY, .queue = ROCL_NO_KEY, .bytes = ROCL_NO_KEY, .link = ROCL_NO_KEY};
    rocl_kind kind = 0; /* the kind of work whose name the category is */
    while (kind < ROCL_KINDS && !(rocl_kind_infos[kind].traits & ROCL_IS_WORK &&
                                  rocl_view_is(e->cat, rocl_kind_name(kind))))
        kind++;
    *work = kind != ROCL_KINDS;
    if (w->has_args && !read_args(w->args, &a))
        return false;
    r->link = a.link;
    if (*work) {
        make_work(r, o, t, k, e, kind, &a);
        return true;
    }
    char cat[64];
    snprintf(cat, sizeof cat, "%.*s", (int)(e->cat.n < sizeof cat ? e->cat.n : 0), e->cat.p);
    const rocl_call_group *group = rocl_call_group_of(cat);
    const bool marks = group && group->domain == ROCL_DOMAIN_MARKERS;
    if (r->kind == ROCL_REGION && (rocl_view_is(e->cat, rocl_kind_name(ROCL_MARKER)) ||
                                   (marks && rocl_roctx_call_marks(e->cat, r->name))))
        r->kind = ROCL_MARKER;
    return true;
}

/* ---- GPUs ------------------------------------------------------------------------------------ */

rocl_status chrome_own_name_gpus(const chrome_own *o, rocl_trace *t, rocl_capture *c,
                                 rocl_error *err)
{
    for (uint32_t i = 0; i < c->agent_count; i++) {
        rocl_agent *a = rocl_definition_at(c, ROCL_DEFINE_AGENT, i);
        const chrome_own_row *gpu = find_row(o, (uint64_t)a->id, ROCL_NO_KEY);
        char label[40];
        if (!((uint64_t)a->id >> 32) && !gpu) { /* an end of copies alone */
            const int n = snprintf(label, sizeof label, "Agent %" PRId64, a->id);
            a->label = rocl_strings_put(t->strings, label, (size_t)n);
        }
        if (!gpu || gpu->gpu < 0 || o->who->roster.gpu_count) /* who.c does it */
            continue;
        const char *name = rocl_str(t, gpu->name), *product = strchr(name + 4, ' ');
        const int n = snprintf(label, sizeof label, "GPU %lld", (long long)gpu->gpu);
        a->id = a->absolute_index = a->logical_index = a->type_index = gpu->gpu;
        a->label = rocl_strings_put(t->strings, label, (size_t)n);
        if (product)
            a->product = rocl_strings_put(t->strings, product + 1, strlen(product + 1));
        if (a->label == ROCL_NONE || a->product == ROCL_NONE)
            return rocl_fail_memory(err);
    }
    return ROCL_OK;
}
