/* An input of records: its pieces, the workers that parse them, and both passes over all of them.
 */
#include <stdlib.h>

#include "base/pool.h"
#include "source/records/run.h"

size_t rocl_piece_bytes = (size_t)4 << 20;

enum { TABLE_PIECE_ROWS = 30000, TABLE_PIECES_MAX = 1024 };

/* ---- workers --------------------------------------------------------------------------------- */

static rocl_status start_workers(rocl_records_input *in, bool indexing, rocl_error *err)
{
    rocl_records_run *run = in->run;
    const unsigned jobs = in->trace->opt.jobs;
    run->workers = rocl_cache_line_calloc(jobs, sizeof *run->workers);
    run->joining = rocl_sorter_new(in->trace->space, 4);
    if (indexing) {
        run->noted_sizes = rocl_sorter_new(in->trace->space, 3);
        run->spans = rocl_sorter_new(in->trace->space, 4);
    }
    if (!run->workers || !run->joining || (indexing && (!run->noted_sizes || !run->spans)))
        return rocl_fail_memory(err);
    for (unsigned i = 0; i < jobs; i++) {
        rocl_records *w = &run->workers[i];
        w->in = in;
        w->number = w->out.worker = i;
        w->indexing = indexing;
        w->out.capture = &in->capture->pub;
        w->out.max = rtg_sizes_used.batch_max;
        w->first = INT64_MAX;
        w->last = INT64_MIN;
    }
    return ROCL_OK;
}

static void stop_workers(rocl_records_input *in)
{
    rocl_records_run *run = in->run;
    for (unsigned i = 0; run->workers && i < in->trace->opt.jobs; i++) {
        rocl_records *w = &run->workers[i];
        for (int of = 0; of < ROCL_KEYS; of++) {
            rocl_registry_free(&w->keys[of]);
            rocl_registry_free(&w->names_of[of]);
        }
        rocl_batcher_free(&w->out);
        rtg_names_free(w->names);
        free(w->size_pages.entries);
        rtg_reader_free(&w->reader);
        rocl_buf_free(&w->kept);
        rocl_buf_free(&w->half);
        rocl_scopes_free(&w->scopes);
        free(w->recent);
        if (w->state && in->format->free_worker)
            in->format->free_worker(w->state);
    }
    free(run->workers);
    run->workers = NULL;
    rocl_sorter_free(run->joining);
    rocl_sorter_free(run->unique);
    rocl_sorter_free(run->noted_sizes);
    rocl_sorter_free(run->spans);
    run->joining = run->unique = run->noted_sizes = run->spans = NULL;
    rocl_allocs_free(run->allocations);
    run->allocations = NULL;
}

/* Sets up a worker for its first piece, and for each. */
static rocl_status begin_piece(rocl_records *w, const rocl_piece *piece, rocl_error *err)
{
    if (!w->names)
        w->names = rtg_names_new(w->in->trace);
    if (!w->recent)
        w->recent = calloc(ROCL_RECENT, sizeof *w->recent);
    w->piece = piece;
    w->line = 0;
    w->pending_args = 0;
    return w->names && w->recent ? ROCL_OK : rocl_fail_memory(err);
}

/* ---- the first pass, for all pieces ---------------------------------------------------------- */

static rocl_status index_piece(void *ctx, unsigned number, size_t index, rocl_error *err)
{
    rocl_records_input *in = ctx;
    rocl_records *w = &in->run->workers[number];
    const rocl_piece *piece = &in->pieces[index];
    rocl_status st = begin_piece(w, piece, err);
    rocl_kept_begin(w);
    if (st == ROCL_OK && (st = in->format->parse(in, w, piece, err)) == ROCL_OK &&
        (st = rocl_scopes_put_open(w, err)) == ROCL_OK)
        rocl_kept_end(w);
    in->run->lines[index] = w->line;
    rocl_progress(in->trace, piece->rows);
    return st;
}

static rocl_status merge_workers(rocl_records_input *in, rocl_error *err)
{
    rocl_records_run *run = in->run;
    for (unsigned i = 0; i < in->trace->opt.jobs; i++) {
        rocl_records *w = &run->workers[i];
        run->first = w->first < run->first ? w->first : run->first;
        run->last = w->last > run->last ? w->last : run->last;
        run->halves += w->halves;
        run->allocs += w->allocs;
        run->onces += w->onces;
        in->capture->has_untimed_values |= w->untimed > 0;
        for (int of = 0; of < ROCL_KEYS; of++) {
            if (!rocl_registry_merge(&run->keys[of], &w->keys[of]) ||
                !rocl_registry_merge(&run->names_of[of], &w->names_of[of]))
                return rocl_fail_memory(err);
            rocl_registry_free(&w->keys[of]); /* there may be a million */
            rocl_registry_free(&w->names_of[of]);
        }
    }
    return ROCL_OK;
}

static void free_pieces(rocl_records_input *in, rocl_stored **pieces)
{
    for (size_t i = 0; *pieces && i < in->piece_count; i++)
        rocl_space_drop(in->trace->space, &(*pieces)[i]);
    free(*pieces);
    *pieces = NULL;
}

static void suspend_files(rocl_records_input *in)
{
    for (size_t i = 0; i < in->file_count; i++)
        if (in->files[i].spool)
            rocl_spool_suspend(in->files[i].spool);
}

/* The first pass, and the definitions of the capture. */
static rocl_status index_input(rocl_records_input *in, rocl_error *err)
{
    rocl_records_run *run = in->run;
    bool again = false;
    rocl_status st;
    do {
        if (again) {
            free_pieces(in, &run->logs);
            free_pieces(in, &run->kept);
            stop_workers(in);
            free(run->lines);
            run->lines = NULL;
            atomic_store(&run->full, false);
            memset(run->bad.counts, 0, sizeof run->bad.counts);
            run->bad.first_count = 0;
        }
        again = false;
        rocl_progress_phase(in->trace, "looking through", 0);
        run->lines = calloc(in->piece_count + 1, sizeof *run->lines);
        run->logs = calloc(in->piece_count + 1, sizeof *run->logs);
        const bool args =
            in->trace->opt.args || in->trace->opt.collectives; /* which are not kept */
        if (in->format->keeps && !args)
            run->kept = calloc(in->piece_count + 1, sizeof *run->kept);
        st = run->lines && run->logs ? start_workers(in, true, err) : rocl_fail_memory(err);
        st = st ? st : rocl_run_tasks(in->trace->opt.jobs, in->piece_count, index_piece, in, err);
        if (st == ROCL_OK && in->format->passed)
            st = in->format->passed(in, &again, err);
    } while (st == ROCL_OK && again);
    if (st == ROCL_OK)
        st = merge_workers(in, err);
    /* Line counts of pieces become the numbers of their first lines. */
    uint64_t next = 1;
    for (size_t i = 0; i < in->piece_count && st == ROCL_OK; i++) {
        if (i && in->pieces[i].file != in->pieces[i - 1].file)
            next = 1;
        const uint64_t lines = run->lines[i];
        run->lines[i] = next;
        next += lines;
    }
    if (st == ROCL_OK && run->halves && (st = rocl_scopes_check(in, err)) == ROCL_OK)
        st = rocl_halves_join(&run->workers[0], err);
    if (st == ROCL_OK)
        st = rocl_sizes_join(in, err);
    free_pieces(in, &run->logs);
    if (run->disordered_count || run->all_disordered) /* pairs of them are kept */
        free_pieces(in, &run->kept);
    stop_workers(in);
    if (st == ROCL_OK && in->trace->opt.strict)
        st = rocl_bad_records_refuse(in, err);
    if (st == ROCL_OK)
        st = rocl_records_define_all(in, err);
    return st;
}

/* ---- the input ------------------------------------------------------------------------------- */

rocl_status rocl_records_open(rocl_source *s, rocl_trace *t, rocl_error *err)
{
    const rocl_record_format *format = s->ops->records;
    const char *slash = strrchr(s->path, '/');
    rocl_records_input *in = calloc(1, sizeof *in);
    s->state = in;
    if (!in || !(in->run = calloc(1, sizeof *in->run)))
        return rocl_fail_memory(err);
    pthread_mutex_init(&in->run->bad.lock, NULL);
    in->run->first = INT64_MAX;
    in->run->last = INT64_MIN;
    in->format = format;
    in->trace = t;
    in->source = s;
    in->only_process = ROCL_NO_KEY;
    in->capture = rocl_trace_add_capture(t, s, err);
    in->files = calloc(1 + s->more_count, sizeof *in->files);
    in->state = format->state_size ? calloc(1, format->state_size) : NULL;
    if (!in->capture || !in->files || !(in->state || !format->state_size))
        return rocl_fail_memory(err);
    in->capture->state = in;
    const char *name = slash ? slash + 1 : s->path;
    in->capture->pub.guid = rocl_strings_put(t->strings, name, strlen(name));
    in->files[in->file_count++] = (rocl_records_file){s->path, s->db ? NULL : s->spool};
    for (size_t i = 0; i < s->more_count; i++)
        in->files[in->file_count++] = (rocl_records_file){s->more[i].path, s->more[i].spool};
    for (size_t i = 0; i < in->file_count; i++) {
        rocl_spool *spool = in->files[i].spool;
        rocl_status st = ROCL_OK;
        if (spool && s->ops->same_run) /* it was filled already */
            st = rocl_spool_resume(spool, err);
        else if (spool)
            st = rocl_spool_fill(spool, &t->spooled, t->opt.tmpdir, err);
        if (st != ROCL_OK)
            return st;
    }
    rocl_status st = format->open(in, err);
    if (st == ROCL_OK && !in->unread)
        st = index_input(in, err);
    suspend_files(in);
    return st;
}

bool rocl_records_add_piece(rocl_records_input *in, const rocl_piece *piece)
{
    if (!ROCL_GROW(in->pieces, in->piece_cap, in->piece_count + 1))
        return false;
    in->pieces[in->piece_count++] = *piece;
    return true;
}

rocl_status rocl_records_outline(const rocl_records_input *in, rocl_json_index *x,
                                 rocl_json_outline *how, rocl_error *err)
{
    bool quotes = false;
    rocl_status st = rocl_json_index_spool(x, in->files[0].spool, how, &quotes, err);
    if (st == ROCL_INPUT && quotes) {
        rocl_json_index_free(x);
        *x = (rocl_json_index){0};
        how->flags |= ROCL_JSON_QUOTES;
        st = rocl_json_index_spool(x, in->files[0].spool, how, &quotes, err);
    }
    return st == ROCL_INPUT ? rocl_wrap(err, "%s", in->files[0].path) : st;
}

bool rocl_records_add_blocks(rocl_records_input *in, const rocl_json_index *x,
                             const rocl_json_node *array, uint32_t section)
{
    bool ok = true;
    for (size_t i = 0; i < array->blocks && ok; i++) {
        const rocl_json_block *b = &x->blocks[array->block + i];
        ok = rocl_records_add_piece(
            in,
            &(rocl_piece){.section = section, .first = b->begin, .last = b->end, .rows = b->count});
    }
    return ok;
}

bool rocl_records_cut(rocl_records_input *in, uint32_t file, uint32_t section, uint64_t from)
{
    const uint64_t size = rocl_spool_size(in->files[file].spool);
    bool ok = true;
    while (from < size && ok) {
        const uint64_t to = size - from > rocl_piece_bytes ? from + rocl_piece_bytes : size;
        ok = rocl_records_add_piece(in, &(rocl_piece){file, section, from, to, (to - from) / 128});
        from = to;
    }
    return ok;
}

rocl_status rocl_records_cut_table(rocl_records_input *in, rocl_db *db, const char *table,
                                   uint32_t section, rocl_error *err)
{
    rocl_db_range *ranges;
    size_t count;
    rocl_status st =
        rocl_db_cut(db, table, TABLE_PIECE_ROWS, TABLE_PIECES_MAX, &ranges, &count, err);
    for (size_t i = 0; i < count && st == ROCL_OK; i++) {
        const rocl_piece piece = {.section = section,
                                  .first = (uint64_t)ranges[i].first,
                                  .last = (uint64_t)ranges[i].last,
                                  .rows = ranges[i].rows};
        if (!rocl_records_add_piece(in, &piece))
            st = rocl_fail_memory(err);
    }
    free(ranges);
    return st;
}

void rocl_records_close(rocl_source *s)
{
    rocl_records_input *in = s->state;
    if (!in)
        return;
    if (in->state && in->format->close)
        in->format->close(in);
    free(in->state);
    if (in->run) {
        for (int of = 0; of < ROCL_KEYS; of++) {
            rocl_registry_free(&in->run->keys[of]);
            rocl_registry_free(&in->run->names_of[of]);
        }
        free_pieces(in, &in->run->kept);
        free_pieces(in, &in->run->logs);
        free(in->run->disordered);
        rocl_lookup_free(in->run->sizes);
        pthread_mutex_destroy(&in->run->bad.lock);
        free(in->run->lines);
    }
    free(in->run);
    free(in->files);
    free(in->pieces);
    free(in);
    s->state = NULL;
}

/* ---- open files ------------------------------------------------------------------------------ */

rocl_status rocl_records_hold_files(rocl_records_input *in, rocl_error *err)
{
    rocl_records_run *run = in->run;
    rocl_status st = ROCL_OK;
    pthread_mutex_lock(&run->bad.lock);
    for (size_t i = 0; i < in->file_count && st == ROCL_OK; i++)
        if (in->files[i].spool)
            st = rocl_spool_resume(in->files[i].spool, err);
    run->file_users += st == ROCL_OK;
    pthread_mutex_unlock(&run->bad.lock);
    return st;
}

void rocl_records_release_files(rocl_records_input *in)
{
    rocl_records_run *run = in->run;
    pthread_mutex_lock(&run->bad.lock);
    run->file_users--;
    for (size_t i = 0; i < in->file_count && !run->file_users; i++)
        if (in->files[i].spool)
            rocl_spool_suspend(in->files[i].spool);
    pthread_mutex_unlock(&run->bad.lock);
}

void rocl_records_count_faults(rocl_records_input *in)
{
    for (int i = 0; i < ROCL_FAULTS; i++)
        atomic_fetch_add(&in->trace->faults[i], in->run->bad.counts[i]);
    rocl_bad_records_report(in);
}

/* ---- the second pass, as a source ------------------------------------------------------------ */

rocl_status rocl_records_begin(rocl_trace *t, rocl_model_capture *c, const rocl_emitter *to,
                               rocl_plan *plan, rocl_error *err)
{
    const uint32_t kinds = to->kinds;
    rocl_records_input *in = c->state;
    rocl_records_run *run = in->run;
    rocl_status st = rocl_records_hold_files(in, err);
    run->holds_files = st == ROCL_OK;
    if (st != ROCL_OK || (st = start_workers(in, false, err)) != ROCL_OK)
        return st;
    run->kinds = kinds;
    run->args = rocl_wants_args(t, to);
    run->only_handles = run->args && !t->opt.args;
    if (run->onces && !(run->unique = rocl_sorter_new(t->space, 3)))
        return rocl_fail_memory(err);
    if (run->allocs && kinds & (ROCL_BIT(ROCL_ALLOC) | ROCL_BIT(ROCL_SCRATCH)))
        st = rocl_allocs_new(&run->allocations, t, err);
    if (st != ROCL_OK)
        return st;
    rocl_records_count_faults(in); /* the first pass has found all faults */
    for (size_t i = 0; i < in->piece_count && st == ROCL_OK; i++)
        st = rocl_plan_add(plan,
                           &(rocl_task){.kinds = kinds,
                                        .first = (int64_t)i,
                                        .last = (int64_t)i,
                                        .rows = in->pieces[i].rows},
                           err);
    return st;
}

rocl_status rocl_records_scan(rocl_trace *t, rocl_model_capture *c, const rocl_task *task,
                              unsigned worker, const rocl_emitter *to, rocl_error *err)
{
    rocl_records_input *in = c->state;
    rocl_records_run *run = in->run;
    rocl_records *w = &run->workers[worker];
    w->out.to = to;
    const size_t index = (size_t)task->first;
    /* Neither arguments nor packets and instances are kept. */
    const bool kept = run->kept && run->kept[index].size && !run->args &&
                      !(to->fields & (ROCL_FIELD_PACKET | ROCL_FIELD_INSTANCES));
    rocl_status st = begin_piece(w, &in->pieces[index], err);
    if (st == ROCL_OK)
        st = kept ? rocl_kept_emit(w, &run->kept[index], err)
                  : in->format->parse(in, w, &in->pieces[index], err);
    if (run->kept)
        rocl_space_drop(t->space, &run->kept[index]);
    if (st == ROCL_OK)
        st = rocl_scopes_put_open(w, err);
    if (st == ROCL_OK)
        st = rocl_batcher_flush(&w->out, err);
    if (st == ROCL_OK && run->halves)
        st = rocl_sorter_seal(run->joining, worker, err);
    if (st == ROCL_OK && run->unique)
        st = rocl_sorter_seal(run->unique, worker, err);
    if (st == ROCL_OK && run->allocations)
        st = rocl_allocs_seal(run->allocations, worker, err);
    return st;
}

typedef struct alloc_end {
    rocl_records *w;
    uint32_t kinds;
} alloc_end;

static rocl_status emit_alloc(void *ctx, rocl_kind kind, const rocl_alloc *a, rocl_error *err)
{
    const alloc_end *to = ctx;
    return rocl_kind_in(kind, to->kinds) ? rocl_batcher_add(&to->w->out, kind, a, sizeof *a, err)
                                         : ROCL_OK;
}

rocl_status rocl_records_finish(rocl_trace *t, rocl_model_capture *c, const rocl_emitter *to,
                                rocl_error *err)
{
    rocl_records_input *in = c->state;
    rocl_records *w = &in->run->workers[0];
    rocl_status st = ROCL_OK;
    (void)t;
    w->out.to = to;
    if (in->run->halves)
        st = rocl_halves_join(w, err);
    if (st == ROCL_OK && in->run->unique)
        st = rocl_repeated_emit(w, err);
    if (st == ROCL_OK && in->run->allocations)
        st = rocl_allocs_finish(in->run->allocations, emit_alloc, &(alloc_end){w, in->run->kinds},
                                err);
    return st ? st : rocl_batcher_flush(&w->out, err);
}

void rocl_records_end(rocl_trace *t, rocl_model_capture *c)
{
    rocl_records_input *in = c->state;
    (void)t;
    stop_workers(in);
    if (in->run->holds_files)
        rocl_records_release_files(in);
    in->run->holds_files = false;
}

rocl_status rocl_records_peek_times(rocl_trace *t, rocl_model_capture *c, int64_t *first,
                                    int64_t *last, bool *any, rocl_error *err)
{
    const rocl_records_run *run = ((rocl_records_input *)c->state)->run;
    (void)t;
    (void)err;
    *first = run->first;
    *last = run->last;
    *any = run->first <= run->last;
    return ROCL_OK;
}

/* ---- lines ----------------------------------------------------------------------------------- */

rocl_view rocl_records_line_end(const rocl_records *to)
{
    return rocl_view_between(to->line_end, to->reader.data + to->reader.at);
}

bool rocl_records_line_is_cut(const rocl_records *to)
{
    return to->line_is_cut;
}

rocl_status rocl_records_lines(rocl_records *to, rocl_record_line_fn *line,
                               rocl_line_continues_fn *continues, rocl_error *err)
{
    const rocl_piece *p = to->piece;
    rtg_reader *r = &to->reader;
    rocl_status st = ROCL_OK;
    uint64_t beyond = 0; /* lines after the piece */
    bool skips =
        continues && p->first > 0; /* lines that continue the last record of the piece before */
    bool more;
    rtg_reader_begin(r, to->in->files[p->file].spool, p->first, continues ? UINT64_MAX : p->last);
    while (st == ROCL_OK && (st = rtg_reader_fill(r, &more, err)) == ROCL_OK && more) {
        rtg_text text;
        while (st == ROCL_OK && rtg_reader_line(r, &text)) {
            const bool goes_on = continues && !text.too_long && continues(text.p, text.n);
            to->line_end = text.p + text.n;
            to->line_is_cut = rtg_is_cut(&text);
            if (text.offset >= p->last) {
                if (!goes_on)
                    goto done;
                beyond++;
            }
            skips = skips && goes_on;
            if (text.too_long)
                rocl_record_fault(to, text.offset, ROCL_FAULT_BAD_LINE,
                                  "a line of more than 64 MiB");
            else if (!skips)
                st = line(to, text.p, text.n, text.offset, err);
            to->line++;
        }
    }
done:
    to->line -= beyond;
    return st;
}
