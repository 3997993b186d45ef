/* The sink that outputs of columns share: see columnar.h. Workers encode events into the sorter of
 * their relation. At the end of a capture the calling thread reads the sorters, one relation after
 * the other, fills the cells of groups, and hands these to the format, whose blocks the other
 * workers encode. */
#include "sink/columnar/columnar.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/deflate.h"
#include "base/error.h"
#include "base/text.h"
#include "base/zstd.h"
#include "sink/columnar/record.h"
#include "trace/parts.h"
#include "trace/pipeline.h"

enum {
    RELATIONS = 64,        /* at most */
    PIECE = 512,           /* records that are decoded at once */
    REST_ROWS = 8192,      /* fewer wait for those of the next capture */
    LONG_TEXT = 4096,      /* bytes; others cannot make a group too large */
    LONG_TEXTS = 64 << 20, /* bytes of longer ones in a group, about */
};

typedef struct sink {
    rocl_columnar_run run;
    const rocl_columnar_format *format;
    void *ctx; /* of the format */
    rocl_written *written;
    rocl_columnar_file files[RELATIONS]; /* by relation */
    bool wanted[RELATIONS];
    int of_kind[ROCL_KINDS]; /* relation of events of a kind; -1: none */
    pthread_mutex_t lock;    /* to make sorters under */
    _Atomic(rocl_sorter *) sorters[RELATIONS];
    rocl_any_record *records; /* PIECE of them, memory of */
} sink;

/* ---- relations and columns ------------------------------------------------------------------- */

const char *rocl_export_kind_word(const void *ctx, size_t i)
{
    (void)ctx;
    for (size_t r = 0; r < rocl_relation_count; r++)
        if (!rocl_relation_is_union(&rocl_relations[r]) && !i--)
            return rocl_relations[r].name;
    return NULL;
}

bool rocl_export_column_of(const char *kind, size_t i, rocl_export_column *column)
{
    static const char *const types[] = {
        [ROCL_CELL_INTEGER] = "INT64", [ROCL_CELL_REAL] = "DOUBLE", [ROCL_CELL_TEXT] = "TEXT"};
    const rocl_relation *r = rocl_relation_named(kind);
    if (!r || rocl_relation_is_union(r) || i >= r->column_count)
        return false;
    const rocl_relation_column *c = &r->columns[i];
    *column = (rocl_export_column){c->name, types[c->type], rocl_relation_column_doc(c->name),
                                   rocl_relation_is_detail(r, c->name)};
    return true;
}

static rocl_status select_relations(sink *s, rocl_error *err)
{
    const rocl_export_options *o = s->run.options;
    size_t chosen = 0;
    for (const char *const *w = o->kinds; w && *w; w++) {
        const rocl_relation *r = rocl_relation_named(*w);
        if (!r || rocl_relation_is_union(r)) {
            const char *near = rocl_nearest_word(*w, strlen(*w), rocl_export_kind_word, NULL);
            rocl_buf all = {0};
            const char *word;
            for (size_t i = 0; (word = rocl_export_kind_word(NULL, i)); i++)
                rocl_buf_printf(&all, "%s%s", i ? ", " : "", word);
            rocl_buf_byte(&all, 0);
            rocl_status st =
                all.failed ? rocl_fail_memory(err)
                : near ? rocl_fail(err, ROCL_USAGE, "there is no kind \"%s\"; did you mean %s?", *w,
                                   near)
                       : rocl_fail(err, ROCL_USAGE, "there is no kind \"%s\"; there are %s", *w,
                                   (const char *)all.data);
            rocl_buf_free(&all);
            return st;
        }
        s->wanted[r - rocl_relations] = true;
    }
    for (size_t i = 0; i < rocl_relation_count; i++) {
        const rocl_relation *r = &rocl_relations[i];
        rocl_columnar_file *f = &s->files[i];
        if (!o->kinds)
            s->wanted[i] = !rocl_relation_is_union(r);
        chosen += s->wanted[i];
        if (!s->wanted[i])
            continue;
        f->relation = r;
        f->columns = calloc(r->column_count, sizeof *f->columns);
        f->cells = calloc(r->column_count, sizeof *f->cells);
        if (!f->columns || !f->cells)
            return rocl_fail_memory(err);
        for (unsigned c = 0; c < r->column_count; c++)
            if (o->all_columns || !rocl_relation_is_detail(r, r->columns[c].name))
                f->columns[f->column_count++] = &r->columns[c];
        for (unsigned k = 0; k < ROCL_KINDS; k++)
            if (rocl_kind_in((rocl_kind)k, r->kinds))
                s->of_kind[k] = (int)i;
    }
    if (o->path && chosen > 1 && !s->format->joined)
        return rocl_fail(err, ROCL_USAGE, "%s takes one kind: choose one with --kinds",
                         strcmp(o->path, "-") ? o->path : "standard output");
    return ROCL_OK;
}

/* ---- files ----------------------------------------------------------------------------------- */

static rocl_status open_file(sink *s, rocl_columnar_file *f, rocl_error *err)
{
    const rocl_export_options *o = s->run.options;
    const char *folder = o->directory && *o->directory ? o->directory : ".";
    const char *prefix = o->prefix ? o->prefix : "";
    const bool gzip = o->format == ROCL_EXPORT_JSONL && o->codec == ROCL_CODEC_GZIP;
    char *path = NULL;
    rocl_status st;
    if (o->path) {
        /* Relations that share a stream share what it is written to. */
        for (size_t i = 0; i < rocl_relation_count && !f->out; i++)
            f->out = s->files[i].out;
        st = f->out ? ROCL_OK : rocl_parts_out(s->run.trace, &f->out, o->path, err);
    } else if ((st = s->run.trace->parts ? ROCL_OK : rocl_make_dirs(folder, err)) == ROCL_OK) {
        if (asprintf(&path, "%s/%s%s%s%s%s", folder, prefix, *prefix ? "_" : "", f->relation->name,
                     s->format->ending, gzip ? ".gz" : "") < 0)
            return rocl_fail_memory(err);
        st = rocl_parts_out(s->run.trace, &f->out, path, err);
        free(path);
    }
    return st == ROCL_OK ? s->format->begin_file(s->ctx, f, err) : st;
}

static rocl_status put_group(sink *s, rocl_columnar_file *f, rocl_error *err)
{
    rocl_status st = f->out ? ROCL_OK : open_file(s, f, err);
    if (st == ROCL_OK && f->group_rows)
        st = s->format->put_group(s->ctx, f, err);
    f->rows += f->group_rows;
    f->group_rows = 0;
    f->long_texts = 0;
    f->captures = 0;
    f->last = NULL;
    return st;
}

static rocl_status reserve_cells(sink *s, rocl_columnar_file *f, size_t rows, rocl_error *err)
{
    size_t most = f->capacity ? f->capacity : REST_ROWS;
    if (rows <= f->capacity)
        return ROCL_OK;
    while (most < rows)
        most *= 2;
    most = most < s->format->group_rows ? most : s->format->group_rows;
    for (unsigned i = 0; i < f->column_count; i++) {
        int64_t *cells = realloc(f->cells[i], most * sizeof *cells);
        if (!cells)
            return rocl_fail_memory(err);
        f->cells[i] = cells;
    }
    f->capacity = most;
    return ROCL_OK;
}

static void free_cells(rocl_columnar_file *f)
{
    for (unsigned i = 0; f->cells && i < f->column_count; i++) {
        free(f->cells[i]);
        f->cells[i] = NULL;
    }
    f->capacity = 0;
}

/* Adds the rows of records or definitions of one kind. */
static rocl_status add_rows(sink *s, rocl_columnar_file *f, const rocl_batch *b, rocl_error *err)
{
    const rocl_trace *t = s->run.trace;
    rocl_status st = ROCL_OK;
    for (size_t first = 0; first < b->count && st == ROCL_OK;) {
        size_t n = b->count - first, left = s->format->group_rows - f->group_rows;
        n = n < left ? n : left;
        n = n < PIECE ? n : PIECE;
        if ((st = reserve_cells(s, f, f->group_rows + n, err)) != ROCL_OK)
            return st;
        for (unsigned i = 0; i < f->column_count; i++)
            f->columns[i]->fill(s->run.trace, b, first, n, f->cells[i] + f->group_rows);
        for (size_t i = 0; f->relation->kinds && i < n; i++) {
            size_t len;
            rocl_strings_get(t->strings, rocl_batch_event(b, first + i)->name, &len);
            f->long_texts += len > LONG_TEXT ? len : 0;
        }
        f->captures += f->last != b->capture;
        f->last = b->capture;
        f->group_rows += n;
        first += n;
        if (f->group_rows == s->format->group_rows || f->long_texts > LONG_TEXTS)
            st = put_group(s, f, err);
    }
    return st;
}

/* ---- events ---------------------------------------------------------------------------------- */

static rocl_sorter *get_sorter(sink *s, int relation)
{
    rocl_sorter *sorter = atomic_load_explicit(&s->sorters[relation], memory_order_acquire);
    if (sorter)
        return sorter;
    pthread_mutex_lock(&s->lock);
    sorter = atomic_load(&s->sorters[relation]);
    if (!sorter) {
        sorter = rocl_sorter_new(s->run.trace->space,
                                 rocl_row_key_words(rocl_relations[relation].kinds));
        atomic_store(&s->sorters[relation], sorter);
    }
    pthread_mutex_unlock(&s->lock);
    return sorter;
}

static rocl_status add_events(void *self, unsigned worker, rocl_batch *b, rocl_error *err)
{
    sink *s = self;
    const size_t size = rocl_kind_size(b->kind);
    rocl_sorter *sorter = get_sorter(s, s->of_kind[b->kind]);
    rocl_status st = sorter ? ROCL_OK : rocl_fail_memory(err);
    for (size_t i = 0; i < b->count && st == ROCL_OK; i++) {
        uint64_t key[ROCL_ROW_KEYS];
        uint8_t record[ROCL_ROW_MAX];
        const uint8_t *end = rocl_row_encode(key, record, b->kind, rocl_event_at(b, size, i));
        st = rocl_sorter_add(sorter, worker, key, record, (size_t)(end - record), err);
    }
    return st;
}

static rocl_status end_task(void *self, unsigned worker, rocl_error *err)
{
    sink *s = self;
    rocl_status st = ROCL_OK;
    for (size_t i = 0; i < rocl_relation_count && st == ROCL_OK; i++) {
        rocl_sorter *sorter = atomic_load_explicit(&s->sorters[i], memory_order_acquire);
        if (sorter)
            st = rocl_sorter_seal(sorter, worker, err);
    }
    return st;
}

static rocl_status write_sorted(sink *s, rocl_columnar_file *f, rocl_sorter *sorter,
                                const rocl_capture *c, rocl_error *err)
{
    rocl_batch b = {.capture = c, .any = s->records};
    rocl_sort_record rec;
    bool more = true;
    const uint64_t rows = rocl_sorter_count(sorter);
    rocl_status st = rocl_sorter_start(sorter, err);
    if (st == ROCL_OK) /* as many as there will be: cells that grow are copied */
        st = reserve_cells(
            s, f, rows < s->format->group_rows ? (size_t)rows : s->format->group_rows, err);
    while (st == ROCL_OK && more) {
        st = rocl_sorter_next(sorter, &rec, &more, err);
        if (st != ROCL_OK)
            break;
        if (b.count && (!more || b.count == PIECE || b.kind != rocl_row_kind(rec.key))) {
            st = add_rows(s, f, &b, err);
            rocl_progress(s->run.trace, b.count);
            b.count = 0;
        }
        if (st == ROCL_OK && more) {
            b.kind = rocl_row_kind(rec.key);
            rocl_event *e = rocl_event_at(&b, rocl_kind_infos[b.kind].size, b.count++);
            if (!rocl_row_decode(&rec, e))
                st = rocl_fail(err, ROCL_INTERNAL, "a record of the sort is cut");
        }
    }
    return st;
}

static rocl_status end_capture(void *self, const rocl_capture *c, rocl_error *err)
{
    sink *s = self;
    rocl_status st = ROCL_OK;
    uint64_t rows = 0;
    for (size_t i = 0; i < rocl_relation_count; i++) {
        const rocl_sorter *sorter = atomic_load(&s->sorters[i]);
        rows += sorter ? rocl_sorter_count(sorter) : 0;
    }
    const size_t rest = s->format->apart && !rocl_trace_joins_next(s->run.trace, c) ? 1 : REST_ROWS;
    rocl_progress_phase(s->run.trace, "writing", rows);
    for (size_t i = 0; i < rocl_relation_count && st == ROCL_OK; i++) {
        rocl_columnar_file *f = &s->files[i];
        rocl_sorter *sorter = atomic_load(&s->sorters[i]);
        if (!s->wanted[i])
            continue;
        if (!f->relation->kinds) {
            rocl_batch b = {.capture = c};
            f->relation->list(&b);
            st = add_rows(s, f, &b, err);
        } else if (sorter) {
            st = write_sorted(s, f, sorter, c, err);
            rocl_sorter_free(sorter);
            atomic_store(&s->sorters[i], NULL);
        }
        if (st == ROCL_OK && f->group_rows >= rest)
            st = put_group(s, f, err);
        /* A large group takes up to 40 MiB: only one relation at a time has one. */
        if (!f->group_rows && f->capacity > REST_ROWS)
            free_cells(f);
    }
    return st == ROCL_OK && s->run.trace->parts ? rocl_pipe_drain(s->run.pipe, err) : st;
}

/* ---- the run --------------------------------------------------------------------------------- */

/* Rests of groups, ends of files; then all files get their names. */
static rocl_status finish_files(sink *s, rocl_error *err)
{
    const rocl_export_options *o = s->run.options;
    rocl_out *outs[RELATIONS];
    size_t count = 0;
    uint64_t rows = 0;
    rocl_parts_sums sums = {.own = &rows, .own_count = 1};
    rocl_status st = ROCL_OK;
    for (size_t i = 0; i < rocl_relation_count && st == ROCL_OK; i++) {
        rocl_columnar_file *f = &s->files[i];
        /* Where one kind was asked for, a file without rows still says which columns it has. */
        if (s->wanted[i] && (f->group_rows || (o->path && !s->format->joined && !f->out)))
            st = put_group(s, f, err);
    }
    if (st == ROCL_OK)
        st = rocl_pipe_drain(s->run.pipe, err);
    for (size_t i = 0; i < rocl_relation_count && st == ROCL_OK; i++)
        if (s->files[i].own)
            st = s->format->end_file(s->ctx, &s->files[i], err);
    /* An empty stream is one all the same. */
    if (st == ROCL_OK && o->path && s->format->joined) {
        rocl_out *out = NULL;
        for (size_t i = 0; i < rocl_relation_count && !out; i++)
            out = s->files[i].out;
        st = out ? ROCL_OK : rocl_parts_out(s->run.trace, &s->files[0].out, o->path, err);
    }
    if (st != ROCL_OK)
        return st;
    for (size_t i = 0; i < rocl_relation_count; i++) {
        rocl_out *out = s->files[i].out;
        s->files[i].out = NULL;
        if (!out || (count && outs[count - 1] == out))
            continue;
        outs[count++] = out;
    }
    for (size_t i = 0; i < rocl_relation_count; i++)
        rows += s->files[i].rows;
    st = rocl_parts_commit(s->run.trace, outs, count, &sums, err);
    if (s->written)
        *s->written = (rocl_written){.files = sums.files, .bytes = sums.bytes, .rows = rows};
    return st;
}

static void close_sink(sink *s)
{
    rocl_pipe_abort(s->run.pipe);
    rocl_out *last = NULL;
    for (size_t i = 0; i < rocl_relation_count; i++) {
        rocl_columnar_file *f = &s->files[i];
        rocl_sorter_free(atomic_load(&s->sorters[i]));
        if (f->own)
            s->format->free_file(s->ctx, f);
        if (f->out && f->out != last)
            rocl_out_discard(f->out);
        last = f->out ? f->out : last;
        free_cells(f);
        free(f->columns);
        free(f->cells);
    }
    if (s->ctx)
        s->format->close(s->ctx);
    free(s->records);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

rocl_status rocl_columnar_write(rocl_trace *t, const rocl_export_options *o,
                                const rocl_columnar_format *format, rocl_written *written,
                                rocl_error *err)
{
    sink *s = calloc(1, sizeof *s);
    if (!s)
        return rocl_fail_memory(err);
    pthread_mutex_init(&s->lock, NULL);
    s->run =
        (rocl_columnar_run){.trace = t, .options = o, .strings = t->strings, .space = t->space};
    s->format = format;
    s->written = written;
    for (unsigned k = 0; k < ROCL_KINDS; k++)
        s->of_kind[k] = -1;
    s->records = malloc(PIECE * sizeof *s->records);
    rocl_status st = s->records ? select_relations(s, err) : rocl_fail_memory(err);
    if (st == ROCL_OK)
        st = rocl_check_level(o->level, err);
    if (st == ROCL_OK && format->apart)
        st = rocl_parts_open(t, o->path, err);
    if (st == ROCL_OK)
        st = format->open(&s->ctx, &s->run, err);
    if (st == ROCL_OK)
        st =
            rocl_pipe_new(&s->run.pipe, rocl_columnar_workers(&s->run), &format->pipe, s->ctx, err);
    rocl_sink pipeline = {
        .self = s, .events = add_events, .end_task = end_task, .end_capture = end_capture};
    for (size_t i = 0; i < rocl_relation_count; i++) {
        pipeline.kinds |= s->wanted[i] ? rocl_relations[i].kinds : 0;
        for (unsigned c = 0; c < s->files[i].column_count; c++)
            pipeline.fields |= s->files[i].columns[c]->fields;
    }
    if (st == ROCL_OK)
        st = rocl_pipeline_run(t, &pipeline, err);
    if (st == ROCL_OK)
        st = finish_files(s, err);
    close_sink(s);
    return st ? st : rocl_trace_outcome_utf8(t);
}

/* ---- one relation ---------------------------------------------------------------------------- */

rocl_status rocl_columnar_write_rows(rocl_columnar_run *run, const rocl_columnar_format *format,
                                     const rocl_relation *r, rocl_columnar_fill_fn *fill, void *ctx,
                                     rocl_error *err)
{
    rocl_columnar_file f = {.relation = r, .column_count = r->column_count};
    void *own = NULL;
    rocl_status st = ROCL_OK;
    f.columns = calloc(r->column_count, sizeof *f.columns);
    f.cells = calloc(r->column_count, sizeof *f.cells);
    if (!f.columns || !f.cells)
        st = rocl_fail_memory(err);
    for (unsigned i = 0; st == ROCL_OK && i < r->column_count; i++)
        f.columns[i] = &r->columns[i];
    if (st == ROCL_OK)
        st = rocl_out_open(&f.out, run->options->path, err);
    if (st == ROCL_OK)
        st = format->open(&own, run, err);
    if (st == ROCL_OK)
        st = rocl_pipe_new(&run->pipe, rocl_columnar_workers(run), &format->pipe, own, err);
    if (st == ROCL_OK)
        st = format->begin_file(own, &f, err);
    while (st == ROCL_OK && (st = fill(ctx, &f, err)) == ROCL_OK && f.group_rows) {
        f.rows += f.group_rows;
        st = format->put_group(own, &f, err);
    }
    if (st == ROCL_OK)
        st = rocl_pipe_drain(run->pipe, err);
    if (st == ROCL_OK)
        st = format->end_file(own, &f, err);
    rocl_pipe_abort(run->pipe);
    if (f.own)
        format->free_file(own, &f);
    if (own)
        format->close(own);
    if (st == ROCL_OK)
        st = rocl_out_commit_all(&f.out, 1, err);
    else if (f.out)
        rocl_out_discard(f.out);
    free(f.columns);
    free(f.cells);
    return st;
}

/* ---- what formats share ---------------------------------------------------------------------- */

/* A group is some 20 MiB: memory changes hands. */
void rocl_columnar_take_cells(rocl_columnar_file *f, unsigned column, rocl_buf *to)
{
    const size_t used = f->group_rows * sizeof **f->cells, all = f->capacity * sizeof **f->cells;
    if (!f->capacity || !rocl_buf_reserve(to, all)) {
        rocl_buf_put(to, f->cells[column], used);
        return;
    }
    uint8_t *const cells = (uint8_t *)f->cells[column];
    f->cells[column] = (int64_t *)(void *)to->data;
    *to = (rocl_buf){.data = cells, .len = used, .cap = all};
}

const char *rocl_columnar_text(const rocl_strings *strings, uint32_t text, size_t *len,
                               rocl_buf *scratch)
{
    const char *s = rocl_strings_get(strings, text, len);
    if (rocl_utf8_valid(s, *len))
        return s;
    scratch->len = 0;
    rocl_utf8_put(scratch, s, *len);
    *len = scratch->len;
    return (const char *)scratch->data;
}

bool rocl_columnar_metadata(unsigned i, const char **key, const char **value)
{
    static const char *const pairs[][2] = {
        {"rocline.version", ROCLINE_VERSION},
        {"rocline.time_unit", "ns"},
        {"rocline.clock", "of the traced node"},
        {"rocline.order", "start within each process (guid)"},
    };
    if (i >= sizeof pairs / sizeof *pairs)
        return false;
    *key = pairs[i][0];
    *value = pairs[i][1];
    return true;
}

bool rocl_dictionary_grow(rocl_dictionary *d, uint32_t text)
{
    if (!ROCL_GROW(d->index_of, d->index_capacity, (size_t)text + 1) ||
        !ROCL_GROW(d->texts, d->capacity, d->count + 1))
        return false;
    if (!d->index_of[text]) {
        d->texts[d->count++] = text;
        d->index_of[text] = (uint32_t)d->count;
    }
    return true;
}

void rocl_dictionary_clear(rocl_dictionary *d)
{
    for (size_t i = 0; i < d->count; i++)
        d->index_of[d->texts[i]] = 0;
    d->count = 0;
}

void rocl_dictionary_free(rocl_dictionary *d)
{
    free(d->index_of);
    free(d->texts);
    *d = (rocl_dictionary){0};
}
