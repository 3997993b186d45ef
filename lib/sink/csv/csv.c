/* The CSV sink: batches are encoded into one sorter per file while a capture is read; at its end
 * the sorters are read one after the other, in the order of rocl_csv_files, through a pipe whose
 * workers make the text. Blocks are cut by the length of names, which does not depend on how many
 * workers there are: so gzip members are the same for every number of them. */
#include "sink/csv/csv.h"

#include "base/array.h"
#include "base/error.h"
#include "base/deflate.h"
#include "base/out.h"
#include "base/pool.h"
#include "sink/rocprof/rocprof.h"
#include "trace/joint.h"
#include "trace/pipeline.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum {
    BLOCK_WEIGHT = 128 << 10, /* approximate bytes of text in a block */
    ROW_WEIGHT = 128,         /* of a row beside its name */
    ROUTES = 64,
};

typedef struct route {
    uint32_t category; /* + 1; 0: empty */
    rocl_csv_file_id file;
} route;

typedef struct rocl_csv_worker {
    alignas(ROCL_CACHE_LINE) rocl_csv_formatter formatter;
    rocl_buf text; /* of a block, before gzip */
    route routes[ROUTES];
} rocl_csv_worker;

typedef struct rocl_csv_run {
    rocl_trace *trace;
    const rocl_csv_options *opt;
    uint32_t files;                            /* rocl_csv_file_ids as bits */
    rocl_csv_file_id file_of_kind[ROCL_KINDS]; /* of other kinds than calls and markers */
    rocl_csv_plan plans[CSV_FILES];
    rocl_csv_outs outs;
    rocl_csv_worker **workers; /* NULL: not needed so far; small inputs need few */
    unsigned jobs;
    pthread_mutex_t lock; /* to make sorters under */

    /* of the capture that is read */
    const rocl_capture *capture;
    size_t slots;                    /* processes that have files of their own, at least 1 */
    _Atomic(rocl_sorter *) *sorters; /* [file * slots + slot], made when there is a first row */
    rocl_csv_order order;
    uint32_t *guids;
} rocl_csv_run;

/* NULL when memory is out. */
static rocl_csv_worker *take_worker(rocl_csv_run *r, unsigned number)
{
    rocl_csv_worker *w = r->workers[number];
    if (w || !(w = rocl_cache_line_calloc(1, sizeof *w)))
        return w;
    w->formatter.quotes.strings = r->trace->strings;
    w->formatter.quotes.make = rocl_csv_quote;
    w->formatter.style = r->opt->style;
    return r->workers[number] = w;
}

/* ---- a capture begins ---- */

static void free_sorters(rocl_csv_run *r)
{
    for (size_t i = 0; r->sorters && i < CSV_FILES * r->slots; i++)
        rocl_sorter_free(atomic_load(&r->sorters[i]));
    free(r->sorters);
    free(r->order.counter_ranks);
    free(r->guids);
    r->sorters = NULL;
    r->order.counter_ranks = NULL;
    r->guids = NULL;
}

static rocl_status begin_capture(void *self, const rocl_capture *c, rocl_error *err)
{
    rocl_csv_run *r = self;
    r->capture = c;
    r->guids = rocl_csv_make_guids(r->trace, c);
    r->slots = r->opt->style == ROCL_CSV_ROCPROFV3 && c->process_count ? c->process_count : 1;
    r->sorters = calloc(CSV_FILES * r->slots, sizeof *r->sorters);
    r->order = (rocl_csv_order){rocl_csv_rank_counters(r->trace, c), c->counter_count};
    return r->sorters && r->order.counter_ranks && r->guids ? ROCL_OK : rocl_fail_memory(err);
}

/* ---- events ---- */

/* Regions go by their category; a marker without one is a marker all the same. */
static rocl_csv_file_id file_of_region(const rocl_csv_run *r, rocl_csv_worker *w, rocl_kind kind,
                                       const rocl_event *e)
{
    if (r->opt->style == ROCL_CSV_ROCPD_1_1)
        return kind == ROCL_INSTANT ? CSV_FILE_INSTANTS : CSV_FILE_REGIONS;
    if (e->category == ROCL_NONE || !e->category)
        return kind == ROCL_MARKER ? CSV_FILE_MARKER : CSV_FILE_OTHER;
    route *known = &w->routes[e->category % ROUTES];
    if (known->category != e->category + 1)
        *known = (route){e->category + 1,
                         rocl_csv_file_of_category(rocl_str(r->trace, e->category), r->opt->style)};
    return known->file;
}

static rocl_status add_events(void *self, unsigned worker, rocl_batch *b, rocl_error *err)
{
    rocl_csv_run *r = self;
    const bool host = rocl_kind_in(b->kind, ROCL_HOST_KINDS);
    /* Marks all have the same function, which is useless as a name. */
    const bool functions = r->opt->style == ROCL_CSV_ROCPD_1_1 && b->kind != ROCL_INSTANT;
    size_t size = rocl_kind_size(b->kind);
    rocl_status st = ROCL_OK;
    rocl_csv_worker *w = take_worker(r, worker);
    if (!w)
        return rocl_fail_memory(err);
    for (size_t i = 0; i < b->count && st == ROCL_OK; i++) {
        const rocl_event *e = rocl_event_at(b, size, i);
        rocl_csv_file_id file = host ? file_of_region(r, w, b->kind, e) : r->file_of_kind[b->kind];
        if (!(r->files >> file & 1))
            continue;
        size_t index = file * r->slots + (e->process < r->slots ? e->process : 0);
        rocl_sorter *s = atomic_load_explicit(&r->sorters[index], memory_order_acquire);
        if (!s) {
            pthread_mutex_lock(&r->lock);
            s = atomic_load(&r->sorters[index]);
            s = s ? s : rocl_sorter_new(r->trace->space, rocl_csv_key_words(b->kind));
            atomic_store(&r->sorters[index], s);
            pthread_mutex_unlock(&r->lock);
        }
        if (!s)
            return rocl_fail_memory(err);
        uint64_t key[ROCL_SORT_KEYS_MAX];
        uint8_t record[CSV_RECORD_MAX];
        rocl_csv_make_key(key, b, e, &r->order);
        uint8_t *end = rocl_csv_encode(record, b, e, functions);
        st = rocl_sorter_add(s, worker, key, record, (size_t)(end - record), err);
    }
    return st;
}

static rocl_status end_task(void *self, unsigned worker, rocl_error *err)
{
    rocl_csv_run *r = self;
    rocl_status st = ROCL_OK;
    for (size_t i = 0; i < CSV_FILES * r->slots && st == ROCL_OK; i++) {
        rocl_sorter *s = atomic_load_explicit(&r->sorters[i], memory_order_acquire);
        if (s)
            st = rocl_sorter_seal(s, worker, err);
    }
    return st;
}

/* ---- the pipe ---- */

static rocl_status format_block(void *ctx, unsigned worker, rocl_block *c, rocl_error *err)
{
    rocl_csv_run *r = ctx;
    rocl_csv_worker *w = take_worker(r, worker);
    const rocl_csv_file_id file = ((const rocl_csv_out *)c->user)->file;
    rocl_status st;
    if (!w)
        return rocl_fail_memory(err);
    w->formatter.capture = r->capture;
    w->formatter.guids = r->guids;
    w->text.len = 0;
    w->text.failed = false;
    w->formatter.out = r->opt->gzip ? &w->text : &c->out;
    if (file == CSV_FILE_AGENT) {
        uint32_t agent;
        char *properties;
        memcpy(&agent, c->in.data, sizeof agent);
        st = rocl_agent_json(r->trace, r->capture, agent, &properties, err);
        if (st != ROCL_OK)
            return st;
        const rocl_agent *a = &r->capture->agents[agent];
        st = rocl_csv_agent_row(w->formatter.out, r->capture, a,
                                rocl_csv_guid_of(r->guids, r->capture, a->process), properties,
                                r->opt->style, err);
        free(properties);
    } else if (file == CSV_FILE_PROCESS) {
        uint32_t process;
        memcpy(&process, c->in.data, sizeof process);
        rocl_csv_process_rows(w->formatter.out, r->capture, process);
        st = w->formatter.out->failed ? rocl_fail_memory(err) : ROCL_OK;
    } else {
        st = rocl_csv_format_rows(&w->formatter, file, &r->plans[file], c->in.data,
                                  c->in.data + c->in.len, err);
    }
    if (st == ROCL_OK && r->opt->gzip)
        st = rocl_gzip_member(&c->out, w->text.data, w->text.len,
                              rocl_level_or(r->opt->level, ROCL_GZIP_LEVEL), err);
    return st;
}

static rocl_status write_block(void *ctx, rocl_block *c, rocl_error *err)
{
    const rocl_csv_out *o = c->user;
    (void)ctx;
    return rocl_out_write(o->out, c->out.data, c->out.len, err);
}

/* ---- a capture ends ---- */

/* Records on their way from a sorter to the pipe. */
typedef struct feed {
    rocl_csv_run *run;
    rocl_pipe *pipe;
    rocl_csv_out *out;
    rocl_block *block; /* being filled, or NULL */
    size_t weight;
    uint64_t rows; /* in it */
} feed;

static rocl_status get_block(feed *f, rocl_error *err)
{
    if (f->block)
        return ROCL_OK;
    rocl_status st = rocl_pipe_get(f->pipe, &f->block, err);
    if (st == ROCL_OK)
        f->block->user = f->out;
    return st;
}

static rocl_status put_block(feed *f, rocl_error *err)
{
    rocl_block *c = f->block;
    rocl_progress(f->run->trace, f->rows);
    f->block = NULL;
    f->weight = 0;
    f->rows = 0;
    return c ? rocl_pipe_put(f->pipe, c, err) : ROCL_OK;
}

static rocl_status feed_record(feed *f, const rocl_sort_record *rec, rocl_error *err)
{
    rocl_status st = get_block(f, err);
    if (st)
        return st;
    rocl_buf *in = &f->block->in;
    if (!rocl_buf_reserve(in, CSV_TIMES + rec->len))
        return rocl_fail_memory(err);
    memcpy(in->data + in->len, rec->key, CSV_TIMES);
    memcpy(in->data + in->len + CSV_TIMES, rec->data, rec->len);
    in->len += CSV_TIMES + rec->len;
    const uint8_t *p = rec->data;
    uint64_t name; /* begins every record */
    size_t n = 0;
    if (rocl_varint_get(&p, p + rec->len, &name) && name)
        rocl_strings_get(f->run->trace->strings, (uint32_t)name - 1, &n);
    f->rows++;
    f->weight += ROW_WEIGHT + n;
    return f->weight < BLOCK_WEIGHT ? ROCL_OK : put_block(f, err);
}

/* Writes the rows of a process that has files of its own, or of all processes. */
static rocl_status feed_slot(feed *f, uint32_t slot, rocl_error *err)
{
    rocl_csv_run *r = f->run;
    rocl_status st = ROCL_OK;
    for (unsigned file = 0; file < CSV_FILES && st == ROCL_OK; file++) {
        size_t index = file * r->slots + slot;
        rocl_sorter *s = atomic_load(&r->sorters[index]);
        rocl_sort_record rec;
        if (!s || !rocl_sorter_count(s))
            continue;
        st = rocl_csv_outs_get(&r->outs, (rocl_csv_file_id)file, r->capture, slot, &f->out, err);
        if (st == ROCL_OK)
            st = rocl_sorter_start(s, err);
        while (rocl_sorter_take(s, &rec, &st, err))
            st = feed_record(f, &rec, err);
        rocl_status put = put_block(f, st ? NULL : err);
        st = st ? st : put;
        rocl_sorter_free(s);
        atomic_store(&r->sorters[index], NULL);
    }
    return st;
}

/* A block for each agent, as their JSON is what takes time, or process. */
static rocl_status feed_definitions(feed *f, rocl_csv_file_id file, rocl_error *err)
{
    rocl_csv_run *r = f->run;
    const rocl_capture *c = r->capture;
    const bool agents = file == CSV_FILE_AGENT;
    const uint32_t count = agents ? c->agent_count : c->process_count;
    rocl_status st = ROCL_OK;
    for (uint32_t i = 0; i < count && st == ROCL_OK; i++) {
        st = rocl_csv_outs_get(&r->outs, file, c, agents ? c->agents[i].process : i, &f->out, err);
        if (st == ROCL_OK)
            st = get_block(f, err);
        if (st != ROCL_OK)
            break;
        rocl_buf_put(&f->block->in, &i, sizeof i);
        st = put_block(f, err);
    }
    return st;
}

static const rocl_pipe_ops pipe_ops = {format_block, write_block};

/* Rows that are written before other workers have woken. */
#define FEW_ROWS 1024

static rocl_status end_capture(void *self, const rocl_capture *c, rocl_error *err)
{
    rocl_csv_run *r = self;
    (void)c;
    feed f = {.run = r};
    uint64_t rows = 0;
    for (size_t i = 0; i < CSV_FILES * r->slots; i++) {
        const rocl_sorter *s = atomic_load(&r->sorters[i]);
        rows += s ? rocl_sorter_count(s) : 0;
    }
    rocl_progress_phase(r->trace, "writing", rows);
    rocl_status st = rocl_pipe_new(&f.pipe, rows < FEW_ROWS ? 1 : r->jobs, &pipe_ops, r, err);
    if (st == ROCL_OK && (r->files >> CSV_FILE_AGENT & 1))
        st = feed_definitions(&f, CSV_FILE_AGENT, err);
    if (st == ROCL_OK && (r->files >> CSV_FILE_PROCESS & 1))
        st = feed_definitions(&f, CSV_FILE_PROCESS, err);
    for (uint32_t slot = 0; slot < r->slots && st == ROCL_OK; slot++)
        st = feed_slot(&f, slot, err);
    if (st)
        rocl_pipe_abort(f.pipe);
    else
        st = rocl_pipe_finish(f.pipe, err);
    if (st == ROCL_OK)
        st = rocl_csv_outs_rest(&r->outs, err);
    free_sorters(r);
    return st;
}

/* ---- the run ---- */

static rocl_status open_run(rocl_csv_run *r, rocl_error *err)
{
    const rocl_csv_options *o = r->opt;
    rocl_csv_out *out;
    rocl_status st = rocl_csv_select(&r->files, o, err);
    if (st == ROCL_OK)
        st = rocl_joint_open(r->trace, o->path, err);
    rocl_joint_set_order(r->trace, ROCL_JOINT_AS_READ);
    if (st)
        return st;
    r->workers = calloc(r->jobs, sizeof *r->workers);
    if (!r->workers)
        return rocl_fail_memory(err);
    for (unsigned f = 0; f < CSV_FILES; f++) {
        rocl_csv_make_plan(&r->plans[f], (rocl_csv_file_id)f, o);
        for (unsigned k = 0; k < ROCL_KINDS; k++)
            if (rocl_csv_files[f].kinds == ROCL_BIT(k))
                r->file_of_kind[k] = (rocl_csv_file_id)f;
    }
    /* On standard output a table without rows still has its header. */
    return o->path && r->files
               ? rocl_csv_outs_get(&r->outs, (rocl_csv_file_id)__builtin_ctz(r->files), NULL,
                                   ROCL_NONE, &out, err)
               : ROCL_OK;
}

rocl_status rocl_write_csv(rocl_trace *t, const rocl_csv_options *o, rocl_written *report,
                           rocl_error *err)
{
    rocl_csv_run r = {.trace = t, .opt = o, .jobs = t->opt.jobs};
    if (o->style == ROCL_CSV_ROCPROF) {
        rocl_status chosen = rocl_csv_select(&r.files, o, err);
        return chosen ? chosen : rocl_write_rocprof_csv(t, o, report, err);
    }
    r.outs = (rocl_csv_outs){.trace = t, .options = o, .plans = r.plans};
    pthread_mutex_init(&r.lock, NULL);
    rocl_status st = rocl_check_level(o->level, err);
    if (st == ROCL_OK)
        st = open_run(&r, err);
    rocl_sink sink = {.self = &r,
                      .fields = ROCL_FIELD_DISPATCH_ID,
                      /* AMD's layouts have no files for these. */
                      .no_place_for = o->kinds ? 0 : ROCL_BIT(ROCL_BARRIER) | ROCL_BIT(ROCL_FLOW),
                      .output = "CSV",
                      .begin_capture = begin_capture,
                      .events = add_events,
                      .end_task = end_task,
                      .end_capture = end_capture};
    for (unsigned f = 0; f < CSV_FILES; f++)
        sink.kinds |= r.files >> f & 1 ? rocl_csv_files[f].kinds : 0;
    if (st == ROCL_OK)
        st = rocl_pipeline_run(t, &sink, err);
    rocl_written written = {0};
    if (st == ROCL_OK)
        st = rocl_csv_outs_commit(&r.outs, &written, err);
    if (st == ROCL_OK && o->style != ROCL_CSV_ROCPROFV3 && t->named_count > 1 && t->opt.explain)
        rocl_notice(t,
                    "CSV as of rocpd has no place for hosts and ranks: rows of %zu hosts differ by "
                    "their GUIDs; --style rocprofv3 keeps them",
                    t->named_count);
    if (report)
        *report = written;
    free_sorters(&r);
    rocl_csv_outs_discard(&r.outs);
    for (unsigned i = 0; r.workers && i < r.jobs; i++) {
        if (!r.workers[i])
            continue;
        rocl_text_cache_free(&r.workers[i]->formatter.quotes);
        rocl_buf_free(&r.workers[i]->text);
        free(r.workers[i]);
    }
    free(r.workers);
    pthread_mutex_destroy(&r.lock);
    return st ? st : rocl_trace_outcome_utf8(t);
}
