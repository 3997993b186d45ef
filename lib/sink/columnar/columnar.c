/* The sink that outputs of columns share: see columnar.h. Workers encode events into the sorter of
 * their relation. At the end of a capture the sorters are read, one relation after the other: the
 * calling thread, or all workers where groups are large, fill the cells of a group, and the calling
 * thread hands it to the format, whose blocks the workers encode. */
#include "sink/columnar/columnar.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/deflate.h"
#include "base/error.h"
#include "base/text.h"
#include "base/zstd.h"
#include "model/fields.h"
#include "trace/joint.h"
#include "trace/pipeline.h"

enum {
    RELATIONS = 64,        /* at most */
    PIECE = 512,           /* records that are decoded at once */
    MANY_ROWS = 64 << 10,  /* of a group, that several workers fill */
    FEW_ROWS = 8192,       /* fewer of a capture wait for those of the next one */
    LONG_TEXT = 4096,      /* bytes; others cannot make a group too large */
    LONG_TEXTS = 64 << 20, /* bytes of longer ones in a group, about */
};

/* What rank 0 is told of a capture and a relation: which relation, what it is, how many rows. */
typedef enum note_kind {
    NOTE_GROUPS, /* what the format says of its groups */
    NOTE_ROWS,   /* rows, and more of them follow */
    NOTE_LAST,   /* the last rows of the capture */
} note_kind;

typedef struct note {
    uint32_t capture;
    unsigned rank; /* that has read it */
    size_t number; /* of notes of a capture: in this order */
    rocl_stored bytes;
} note;

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
    bool notes_rows;          /* those at hand go to rank 0 */
    note *notes;
    size_t note_count, note_capacity;
    rocl_buf made; /* a note */
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
        while (f->names < f->column_count && strcmp(f->columns[f->names]->name, "name") != 0)
            f->names++;
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
        st = f->out ? ROCL_OK : rocl_joint_out(s->run.trace, &f->out, o->path, err);
    } else if ((st = rocl_joint_make_dirs(s->run.trace, folder, err)) == ROCL_OK) {
        if (asprintf(&path, "%s/%s%s%s%s%s", folder, prefix, *prefix ? "_" : "", f->relation->name,
                     s->format->ending, gzip ? ".gz" : "") < 0)
            return rocl_fail_memory(err);
        st = rocl_joint_out(s->run.trace, &f->out, path, err);
        free(path);
    }
    return st == ROCL_OK && s->format->begin_file ? s->format->begin_file(s->ctx, f, err) : st;
}

/* The rows of the group are gone. */
static void empty_group(rocl_columnar_file *f)
{
    f->group_rows = 0;
    f->long_texts = 0;
    f->last = NULL;
}

/* A group of captures that are joined comes after what there is of the last of them. */
static rocl_status put_group(sink *s, rocl_columnar_file *f, rocl_error *err)
{
    rocl_status st = f->out ? ROCL_OK : open_file(s, f, err);
    if (s->run.joins && f->last)
        rocl_joint_write_to(s->run.trace->joint, f->last);
    if (st == ROCL_OK && f->group_rows)
        st = s->format->put_group(s->ctx, f, err);
    if (st == ROCL_OK && s->run.joins)
        st = rocl_pipe_drain(s->run.pipe, err);
    f->rows += f->group_rows;
    empty_group(f);
    return st;
}

/* ---- what rank 0 is told --------------------------------------------------------------------- */

static void begin_note(sink *s, const rocl_columnar_file *f, note_kind kind, uint64_t rows)
{
    s->made.len = 0;
    rocl_buf_varint(&s->made, (uint64_t)(f - s->files));
    rocl_buf_byte(&s->made, (uint8_t)kind);
    rocl_buf_varint(&s->made, rows);
}

static rocl_status add_note(sink *s, unsigned rank, uint32_t capture, const void *p, size_t n,
                            rocl_error *err)
{
    if (!ROCL_GROW(s->notes, s->note_capacity, s->note_count + 1))
        return rocl_fail_memory(err);
    note *to = &s->notes[s->note_count];
    *to = (note){.capture = capture, .rank = rank, .number = s->note_count};
    s->note_count++;
    return rocl_space_store(s->run.space, &to->bytes, p, n, err);
}

static rocl_status end_note(sink *s, const rocl_capture *c, rocl_error *err)
{
    return s->made.failed ? rocl_fail_memory(err)
                          : add_note(s, 0, c->index, s->made.data, s->made.len, err);
}

static rocl_status note_rows(sink *s, rocl_columnar_file *f, note_kind kind, const rocl_capture *c,
                             rocl_error *err)
{
    begin_note(s, f, kind, f->group_rows);
    rocl_columnar_put_rows(&s->made, f, s->run.strings);
    empty_group(f);
    return end_note(s, c, err);
}

/* ---- rows ------------------------------------------------------------------------------------ */

static rocl_status reserve_cells(sink *s, rocl_columnar_file *f, size_t rows, rocl_error *err)
{
    size_t most = f->capacity ? f->capacity : FEW_ROWS;
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

/* After the rows of the group there are n of a capture: as many as fit become its own. */
static rocl_status keep_rows(sink *s, rocl_columnar_file *f, const rocl_capture *c, size_t *n,
                             rocl_error *err)
{
    const int64_t *names = f->names < f->column_count ? f->cells[f->names] + f->group_rows : NULL;
    for (size_t i = 0; names && i < *n; i++) {
        size_t len = 0;
        if (names[i] != ROCL_CELL_NULL)
            rocl_strings_get(s->run.strings, (uint32_t)names[i], &len);
        f->long_texts += len > LONG_TEXT ? len : 0;
        if (f->long_texts > LONG_TEXTS)
            *n = i + 1;
    }
    f->last = c;
    f->group_rows += *n;
    if (f->group_rows < s->format->group_rows && f->long_texts <= LONG_TEXTS)
        return ROCL_OK;
    return s->notes_rows ? note_rows(s, f, NOTE_ROWS, c, err) : put_group(s, f, err);
}

static size_t limit_rows(const sink *s, const rocl_columnar_file *f, size_t n)
{
    const size_t left = s->format->group_rows - f->group_rows;
    n = n < left ? n : left;
    return n < PIECE ? n : PIECE;
}

/* Adds the rows of records or definitions of one kind. */
static rocl_status add_rows(sink *s, rocl_columnar_file *f, const rocl_batch *b, rocl_error *err)
{
    rocl_status st = ROCL_OK;
    for (size_t first = 0; first < b->count && st == ROCL_OK;) {
        size_t n = limit_rows(s, f, b->count - first);
        if ((st = reserve_cells(s, f, f->group_rows + n, err)) != ROCL_OK)
            return st;
        for (unsigned i = 0; i < f->column_count; i++)
            f->columns[i]->fill(s->run.trace, b, first, n, f->cells[i] + f->group_rows);
        st = keep_rows(s, f, b->capture, &n, err);
        first += n;
    }
    return st;
}

/* Adds rows that another rank has read. */
static rocl_status add_cells(sink *s, rocl_columnar_file *f, const rocl_capture *c,
                             const int64_t *cells, size_t count, rocl_error *err)
{
    rocl_status st = ROCL_OK;
    for (size_t first = 0; first < count && st == ROCL_OK;) {
        size_t n = limit_rows(s, f, count - first);
        if ((st = reserve_cells(s, f, f->group_rows + n, err)) != ROCL_OK)
            return st;
        for (unsigned i = 0; i < f->column_count; i++)
            memcpy(f->cells[i] + f->group_rows, cells + i * count + first, n * sizeof *cells);
        st = keep_rows(s, f, c, &n, err);
        first += n;
    }
    return st;
}

/* ---- records of sorters -----------------------------------------------------------------------
 */

/* All that a column may be filled from, but the arguments: times and row are in the key (start,
 * then the longer first, then row and kind; of counters also which one), the rest is as
 * model/fields.h codes it. */
enum { ROW_KEYS = 4, ROW_MAX = ROCL_VARINT_MAX + ROCL_FIELDS_MAX };

static unsigned row_key_words(uint32_t kinds)
{
    return kinds & ROCL_BIT(ROCL_COUNTER) ? 4 : 3;
}

/* Fills the key and writes the record (ROW_MAX bytes at most); returns its end. */
static uint8_t *row_encode(uint64_t *key, uint8_t *to, rocl_kind kind, const rocl_event *e)
{
    key[0] = rocl_flip_sign(e->start);
    key[1] = ~rocl_flip_sign(e->end);
    key[2] = rocl_row_word(e->id, kind);
    if (kind == ROCL_COUNTER)
        key[3] = ((const rocl_counter_value *)(const void *)e)->counter;
    to = rocl_varint_put(to, e->id >> (64 - ROCL_KIND_BITS));
    return rocl_fields_put(to, kind, e);
}

static rocl_kind row_kind(const uint64_t *key)
{
    return rocl_word_kind(key[2]);
}

/* Fills the record at *e, of the kind of the key. False: it is cut (a fault of ours). */
static bool row_decode(const rocl_sort_record *record, rocl_event *e)
{
    const uint8_t *p = record->data, *end = record->data + record->len;
    uint64_t top;
    if (!rocl_varint_get(&p, end, &top))
        return false;
    e->start = rocl_unflip_sign(record->key[0]);
    e->end = rocl_unflip_sign(~record->key[1]);
    e->id = rocl_word_row(record->key[2]) | top << (64 - ROCL_KIND_BITS);
    return rocl_fields_get(&p, end, row_kind(record->key), e);
}

/* ---- events ---------------------------------------------------------------------------------- */

static rocl_status add_events(void *self, unsigned worker, rocl_batch *b, rocl_error *err)
{
    sink *s = self;
    const size_t size = rocl_kind_size(b->kind);
    const int relation = s->of_kind[b->kind];
    rocl_sorter *sorter = atomic_load_explicit(&s->sorters[relation], memory_order_acquire);
    if (!sorter) {
        pthread_mutex_lock(&s->lock);
        sorter = atomic_load(&s->sorters[relation]);
        if (!sorter)
            sorter =
                rocl_sorter_new(s->run.trace->space, row_key_words(rocl_relations[relation].kinds));
        atomic_store(&s->sorters[relation], sorter);
        pthread_mutex_unlock(&s->lock);
    }
    rocl_status st = sorter ? ROCL_OK : rocl_fail_memory(err);
    for (size_t i = 0; i < b->count && st == ROCL_OK; i++) {
        uint64_t key[ROW_KEYS];
        uint8_t record[ROW_MAX];
        const uint8_t *end = row_encode(key, record, b->kind, rocl_event_at(b, size, i));
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
        if (b.count && (!more || b.count == PIECE || b.kind != row_kind(rec.key))) {
            st = add_rows(s, f, &b, err);
            rocl_progress(s->run.trace, b.count);
            b.count = 0;
        }
        if (st == ROCL_OK && more) {
            b.kind = row_kind(rec.key);
            rocl_event *e = rocl_event_at(&b, rocl_kind_infos[b.kind].size, b.count++);
            if (!row_decode(&rec, e))
                st = rocl_fail_sorted(err);
        }
    }
    return st;
}

/* A group whose rows are filled by several workers, each a range of them. */
typedef struct filling {
    sink *s;
    rocl_columnar_file *f;
    const rocl_sorter *sorter;
    const rocl_capture *capture;
    uint64_t first; /* its first row, of those of the capture */
    size_t rows;
    unsigned ranges;
} filling;

/* Fills the rows from *at on with the records of a batch, which is empty then. */
static void fill_piece(const filling *x, rocl_batch *b, size_t *at)
{
    for (unsigned i = 0; i < x->f->column_count; i++)
        x->f->columns[i]->fill(x->s->run.trace, b, 0, b->count, x->f->cells[i] + *at);
    rocl_progress(x->s->run.trace, b->count);
    *at += b->count;
    b->count = 0;
}

static rocl_status fill_range(void *ctx, unsigned worker, size_t index, rocl_error *err)
{
    const filling *x = ctx;
    size_t at = x->rows * index / x->ranges;
    const size_t end = x->rows * (index + 1) / x->ranges;
    rocl_batch b = {.capture = x->capture, .any = malloc(PIECE * sizeof(rocl_any_record))};
    rocl_sort_cursor *cursor = NULL;
    rocl_sort_record rec;
    bool more = true;
    (void)worker;
    rocl_status st =
        b.any ? rocl_sorter_open(x->sorter, x->first + at, end - at, x->ranges, &cursor, err)
              : rocl_fail_memory(err);
    while (st == ROCL_OK && at < end) {
        st = rocl_sort_cursor_next(cursor, &rec, &more, err);
        if (st == ROCL_OK && !more)
            st = rocl_fail_sorted(err);
        if (st != ROCL_OK)
            break;
        if (b.count && b.kind != row_kind(rec.key))
            fill_piece(x, &b, &at);
        b.kind = row_kind(rec.key);
        if (!row_decode(&rec, rocl_event_at(&b, rocl_kind_infos[b.kind].size, b.count++)))
            st = rocl_fail_sorted(err);
        if (b.count == PIECE || at + b.count == end)
            fill_piece(x, &b, &at);
    }
    rocl_sort_cursor_close(cursor);
    free(b.any);
    return st;
}

/* Makes the groups that write_sorted() makes, where no text is so long that it ends one. */
static rocl_status write_sorted_together(sink *s, rocl_columnar_file *f, rocl_sorter *sorter,
                                         const rocl_capture *c, rocl_error *err)
{
    const uint64_t rows = rocl_sorter_count(sorter);
    filling x = {.s = s, .f = f, .sorter = sorter, .capture = c};
    rocl_status st = rocl_sorter_start_cursors(sorter, err);
    for (; st == ROCL_OK && x.first < rows; x.first += x.rows) {
        const uint64_t left = rows - x.first, most = s->format->group_rows;
        x.rows = (size_t)(left < most ? left : most);
        x.ranges = x.rows < MANY_ROWS ? 1 : rocl_columnar_workers(&s->run);
        st = reserve_cells(s, f, x.rows, err);
        if (st == ROCL_OK)
            st = rocl_run_tasks(x.ranges, x.ranges, fill_range, &x, err);
        f->last = c;
        f->group_rows = x.rows;
        if (st == ROCL_OK && x.rows == most)
            st = put_group(s, f, err);
    }
    return st;
}

/* What a capture has of a relation. Where groups are apart, its rest is written at once, if nothing
 * is joined with it. */
static rocl_status write_relation(sink *s, size_t relation, const rocl_capture *c, rocl_error *err)
{
    rocl_columnar_file *f = &s->files[relation];
    rocl_sorter *sorter = atomic_load(&s->sorters[relation]);
    rocl_batch definitions = {.capture = c};
    rocl_status st = ROCL_OK;
    if (!f->relation->kinds)
        f->relation->list(&definitions);
    const uint64_t rows = sorter ? rocl_sorter_count(sorter) : definitions.count;
    const bool apart = s->format->apart, many = !apart && rows >= FEW_ROWS;
    const bool all = many || (apart && !rocl_trace_joins_next(s->run.trace, c));
    s->notes_rows = s->run.trace->joint && !apart && !many;
    if (many && f->group_rows) /* of captures before */
        st = put_group(s, f, err);
    const bool together = sorter && rocl_columnar_workers(&s->run) > 1 &&
                          s->format->group_rows >= MANY_ROWS && !f->group_rows && !s->notes_rows &&
                          rows >= MANY_ROWS && rocl_strings_longest(s->run.strings) <= LONG_TEXT;
    if (st == ROCL_OK && !f->relation->kinds)
        st = add_rows(s, f, &definitions, err);
    else if (st == ROCL_OK && sorter)
        st = together ? write_sorted_together(s, f, sorter, c, err)
                      : write_sorted(s, f, sorter, c, err);
    rocl_sorter_free(sorter);
    atomic_store(&s->sorters[relation], NULL);
    if (st == ROCL_OK && s->notes_rows)
        st = rows ? note_rows(s, f, NOTE_LAST, c, err) : ROCL_OK;
    else if (st == ROCL_OK && f->group_rows && (all || f->group_rows >= FEW_ROWS))
        st = put_group(s, f, err);
    s->notes_rows = false;
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
    rocl_progress_phase(s->run.trace, "writing", rows);
    for (size_t i = 0; i < rocl_relation_count && st == ROCL_OK; i++) {
        rocl_columnar_file *f = &s->files[i];
        if (!s->wanted[i])
            continue;
        st = write_relation(s, i, c, err);
        /* A large group takes up to 40 MiB: only one relation at a time has one. */
        if (!f->group_rows && f->capacity > FEW_ROWS)
            free_cells(f);
    }
    if (st == ROCL_OK && s->run.trace->joint)
        st = rocl_pipe_drain(s->run.pipe, err);
    for (size_t i = 0; i < rocl_relation_count && st == ROCL_OK; i++) {
        rocl_columnar_file *f = &s->files[i];
        if (!s->run.trace->joint || s->format->apart || !f->rows)
            continue;
        begin_note(s, f, NOTE_GROUPS, f->rows);
        s->format->put_groups(s->ctx, f, &s->made);
        f->rows = 0;
        st = end_note(s, c, err);
    }
    return st;
}

/* ---- what rank 0 does with what it is told --------------------------------------------------- */

static rocl_status hear_note(void *ctx, unsigned rank, rocl_byte_reader *r, rocl_error *err)
{
    sink *s = ctx;
    const uint64_t capture = rocl_next_number(r);
    if (r->bad || capture >= s->run.trace->capture_count)
        return rocl_team_bad_message(err);
    return add_note(s, rank, (uint32_t)capture, r->p, (size_t)(r->end - r->p), err);
}

static rocl_status answer_with_notes(sink *s, rocl_error *err)
{
    rocl_byte_reader question;
    rocl_buf scratch = {0}, b = {0};
    rocl_status st = rocl_joint_next_question(s->run.trace->joint, &question, err);
    for (size_t i = 0; i < s->note_count && st == ROCL_OK; i++) {
        const uint8_t *bytes;
        st = rocl_space_load(s->run.space, &s->notes[i].bytes, &scratch, &bytes, err);
        if (st != ROCL_OK)
            break;
        rocl_buf_byte(&b, ROCL_TEAM_ANSWER);
        rocl_buf_varint(&b, s->notes[i].capture);
        rocl_buf_put(&b, bytes, s->notes[i].bytes.size);
        st = rocl_joint_answer(s->run.trace->joint, &b, err);
        rocl_space_drop(s->run.space, &s->notes[i].bytes);
    }
    rocl_buf_free(&scratch);
    return st ? st : rocl_joint_end_answer(s->run.trace->joint, err);
}

static int compare_by_capture(const void *a, const void *b)
{
    const note *x = a, *y = b;
    if (x->capture != y->capture)
        return x->capture < y->capture ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

static rocl_status take_note(sink *s, const note *n, rocl_buf *scratch, rocl_error *err)
{
    const uint8_t *bytes;
    rocl_status st = rocl_space_load(s->run.space, &n->bytes, scratch, &bytes, err);
    if (st != ROCL_OK)
        return st;
    const rocl_capture *c = &s->run.trace->captures[n->capture]->pub;
    rocl_byte_reader r = {bytes, bytes + n->bytes.size, false};
    const uint64_t relation = rocl_next_number(&r), kind = rocl_next_number(&r);
    const uint64_t rows = rocl_next_number(&r);
    if (r.bad || relation >= rocl_relation_count || !s->wanted[relation])
        return rocl_team_bad_message(err);
    rocl_columnar_file *f = &s->files[relation];
    if (kind != NOTE_GROUPS) {
        int64_t *cells = NULL;
        st = rows <= FEW_ROWS
                 ? rocl_columnar_take_rows(&r, f, s->run.trace->strings, (size_t)rows, &cells, err)
                 : rocl_team_bad_message(err);
        if (st == ROCL_OK)
            st = add_cells(s, f, c, cells, (size_t)rows, err);
        free(cells);
        if (st == ROCL_OK && kind == NOTE_LAST && f->group_rows >= FEW_ROWS)
            st = put_group(s, f, err);
        return st;
    }
    if (f->group_rows)
        st = put_group(s, f, err);
    if (st == ROCL_OK && !f->out)
        st = open_file(s, f, err);
    f->rows += rows;
    if (st == ROCL_OK)
        st = s->format->take_groups(s->ctx, f, n->rank, &r, err);
    return st == ROCL_OK && r.bad ? rocl_team_bad_message(err) : st;
}

/* In the order of captures, as one process does it. */
static rocl_status join_captures(sink *s, rocl_error *err)
{
    rocl_joint *joint = s->run.trace->joint;
    uint8_t space[1];
    rocl_buf question = ROCL_BUF_IN(space), scratch = {0};
    rocl_buf_byte(&question, ROCL_TEAM_ASK);
    rocl_status st = rocl_joint_ask_all(joint, &question, err);
    if (st == ROCL_OK)
        st = rocl_joint_hear(joint, hear_note, s, err);
    s->run.joins = true;
    if (st == ROCL_OK && s->note_count)
        qsort(s->notes, s->note_count, sizeof *s->notes, compare_by_capture);
    for (size_t i = 0; i < s->note_count && st == ROCL_OK; i++) {
        st = take_note(s, &s->notes[i], &scratch, err);
        rocl_space_drop(s->run.space, &s->notes[i].bytes);
    }
    rocl_buf_free(&scratch);
    return st;
}

/* ---- groups that depend on those of other ranks ---------------------------------------------- */

static rocl_columnar_file *file_of(sink *s, rocl_byte_reader *r)
{
    const uint64_t relation = rocl_next_number(r);
    rocl_columnar_file *f = relation < rocl_relation_count ? &s->files[relation] : NULL;
    return r->bad || !f || !f->own ? NULL : f;
}

/* For each file: what rank 0 says of the others, and what it hears then. */
static rocl_status answer_with_groups(sink *s, rocl_error *err)
{
    rocl_byte_reader r;
    rocl_status st = rocl_joint_next_question(s->run.trace->joint, &r, err);
    while (st == ROCL_OK && r.p < r.end) {
        rocl_columnar_file *f = file_of(s, &r);
        const uint64_t n = rocl_next_number(&r);
        const uint8_t *p = rocl_next_bytes(&r, n);
        rocl_byte_reader others = {p, p ? p + n : NULL, false};
        rocl_buf b = {0};
        if (!f || !p)
            return rocl_team_bad_message(err);
        rocl_buf_byte(&b, ROCL_TEAM_ANSWER);
        rocl_buf_varint(&b, (uint64_t)(f - s->files));
        st = s->format->write_groups(s->ctx, f, &others, &b, err);
        if (st == ROCL_OK && others.bad)
            st = rocl_team_bad_message(err);
        if (st == ROCL_OK)
            st = rocl_joint_answer(s->run.trace->joint, &b, err);
        rocl_buf_free(&b);
    }
    return st ? st : rocl_joint_end_answer(s->run.trace->joint, err);
}

static rocl_status hear_written(void *ctx, unsigned rank, rocl_byte_reader *r, rocl_error *err)
{
    sink *s = ctx;
    rocl_columnar_file *f = file_of(s, r);
    if (!f)
        return rocl_team_bad_message(err);
    const rocl_status st = s->format->take_written(s->ctx, f, rank, r, err);
    return st == ROCL_OK && r->bad ? rocl_team_bad_message(err) : st;
}

static rocl_status tell_others(sink *s, unsigned rank, rocl_error *err)
{
    rocl_buf b = {0}, others = {0};
    rocl_buf_byte(&b, ROCL_TEAM_ASK);
    for (size_t i = 0; i < rocl_relation_count; i++) {
        others.len = 0;
        if (s->files[i].own)
            s->format->put_others(s->ctx, &s->files[i], rank, &others);
        if (!others.len)
            continue;
        rocl_buf_varint(&b, i);
        rocl_buf_varint(&b, others.len);
        rocl_buf_put(&b, others.data, others.len);
    }
    rocl_buf_free_into(&others, &b);
    const rocl_status st = rocl_joint_ask(s->run.trace->joint, rank, &b, err);
    rocl_buf_free(&b);
    return st;
}

/* Writes rank 0's own groups, as the other ranks write theirs. */
static rocl_status write_own_groups(sink *s, rocl_columnar_file *f, rocl_error *err)
{
    rocl_buf others = {0}, written = {0};
    s->format->put_others(s->ctx, f, 0, &others);
    rocl_status st = others.failed ? rocl_fail_memory(err) : ROCL_OK;
    rocl_byte_reader r = {others.data, others.data + others.len, false};
    if (st == ROCL_OK && others.len)
        st = s->format->write_groups(s->ctx, f, &r, &written, err);
    if (st == ROCL_OK && written.failed)
        st = rocl_fail_memory(err);
    r = (rocl_byte_reader){written.data, written.data + written.len, false};
    if (st == ROCL_OK && others.len)
        st = s->format->take_written(s->ctx, f, 0, &r, err);
    rocl_buf_free(&others);
    rocl_buf_free(&written);
    return st;
}

/* ---- the run --------------------------------------------------------------------------------- */

/* Rests of groups, and ends of files. */
static rocl_status end_files(sink *s, rocl_error *err)
{
    const rocl_export_options *o = s->run.options;
    rocl_joint *joint = s->run.trace->joint;
    rocl_status st = ROCL_OK;
    for (size_t i = 0; i < rocl_relation_count && st == ROCL_OK; i++) {
        rocl_columnar_file *f = &s->files[i];
        /* Where one kind was asked for, a file without rows still says which columns it has. */
        if (s->wanted[i] && (f->group_rows || (o->path && !s->format->joined && !f->out)))
            st = put_group(s, f, err);
    }
    if (st == ROCL_OK)
        st = rocl_pipe_drain(s->run.pipe, err);
    if (st == ROCL_OK && joint && s->format->put_others) { /* all ranks write theirs at once */
        rocl_joint_listen(joint, hear_written, s);
        for (unsigned r = 1; r < rocl_joint_size(joint) && st == ROCL_OK; r++)
            if (rocl_joint_reads(joint, r))
                st = tell_others(s, r, err);
        for (size_t i = 0; i < rocl_relation_count && st == ROCL_OK; i++)
            if (s->files[i].own)
                st = write_own_groups(s, &s->files[i], err);
        if (st == ROCL_OK)
            st = rocl_joint_hear(joint, hear_written, s, err);
    }
    if (st == ROCL_OK && joint)
        rocl_joint_write_after_all(joint);
    for (size_t i = 0; i < rocl_relation_count && st == ROCL_OK; i++)
        if (s->files[i].own)
            st = s->format->end_file(s->ctx, &s->files[i], err);
    return st;
}

/* All files are complete, and get their names. */
static rocl_status finish_files(sink *s, rocl_error *err)
{
    const rocl_export_options *o = s->run.options;
    rocl_joint *joint = s->run.trace->joint;
    rocl_out *outs[RELATIONS];
    size_t count = 0;
    uint64_t rows = 0;
    rocl_joint_sums sums = {.own = &rows, .own_count = 1};
    rocl_status st = ROCL_OK;
    const bool leads = !joint || s->format->apart || rocl_joint_leads(joint);
    if (joint && !s->format->apart)
        st = leads ? join_captures(s, err) : answer_with_notes(s, err);
    if (st == ROCL_OK && leads)
        st = end_files(s, err);
    else if (st == ROCL_OK && s->format->put_others)
        st = answer_with_groups(s, err);
    /* An empty stream is one all the same. */
    if (st == ROCL_OK && o->path && s->format->joined) {
        rocl_out *out = NULL;
        for (size_t i = 0; i < rocl_relation_count && !out; i++)
            out = s->files[i].out;
        st = out ? ROCL_OK : rocl_joint_out(s->run.trace, &s->files[0].out, o->path, err);
    }
    if (st != ROCL_OK)
        return st;
    for (size_t i = 0; i < rocl_relation_count; i++) {
        rocl_out *out = s->files[i].out;
        s->files[i].out = NULL;
        rows += s->files[i].rows;
        if (out && (!count || outs[count - 1] != out))
            outs[count++] = out;
    }
    st = rocl_joint_commit(s->run.trace, outs, count, &sums, err);
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
    for (size_t i = 0; i < s->note_count; i++)
        rocl_space_drop(s->run.space, &s->notes[i].bytes);
    free(s->notes);
    rocl_buf_free(&s->made);
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
    if (st == ROCL_OK && (format->apart || format->put_groups))
        st = rocl_joint_open(t, o->path, err);
    rocl_joint_set_order(t, format->apart ? ROCL_JOINT_AS_READ : ROCL_JOINT_ANY);
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
    if (pipeline.kinds & ROCL_BIT(ROCL_REGION)) {
        pipeline.no_place_for = ROCL_BIT(ROCL_FLOW);
        pipeline.output = "an export";
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
    if (st == ROCL_OK && format->begin_file)
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
