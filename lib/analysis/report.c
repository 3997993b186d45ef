/* What reports have in common: see report.h. */
#include "analysis/report.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/distribution.h"
#include "analysis/event_id.h"
#include "base/text.h"
#include "model/kernel_class.h"

/* ---- collectors ------------------------------------------------------------------------------ */

rocl_sorter *rocl_collector_sorter(rocl_collector *c, unsigned key_words)
{
    unsigned i = 0;
    while (i < ROCL_COLLECTOR_SORTERS && c->sorters[i])
        i++;
    return i < ROCL_COLLECTOR_SORTERS ? c->sorters[i] = rocl_sorter_new(c->trace->space, key_words)
                                      : NULL;
}

void rocl_collector_free_sorter(rocl_collector *c, rocl_sorter **sorter)
{
    for (unsigned i = 0; i < ROCL_COLLECTOR_SORTERS; i++)
        if (c->sorters[i] == *sorter)
            c->sorters[i] = NULL;
    rocl_sorter_free(*sorter);
    *sorter = NULL;
}

unsigned rocl_gpus_of(const rocl_batch *b, size_t i, const rocl_gpu *used[2])
{
    const bool copy = b->kind == ROCL_COPY;
    const uint32_t agent = copy ? b->copies[i].dst : b->dispatches[i].agent;
    const uint32_t other = copy ? b->copies[i].src : agent;
    unsigned n = 0;
    used[0] = rocl_gpu_of(b->capture, agent);
    n += used[0] != NULL;
    if (other == agent)
        return n;
    used[n] = rocl_gpu_of(b->capture, other);
    return n + (used[n] != NULL);
}

void rocl_keep_first(void *array, unsigned *count, unsigned most, size_t size, const void *item,
                     int (*compare)(const void *a, const void *b))
{
    char *first = array;
    unsigned at = *count;
    while (at && compare(item, first + (at - 1) * size) < 0)
        at--;
    if (at == most)
        return;
    *count += *count < most;
    memmove(first + (at + 1) * size, first + at * size, (*count - at - 1) * size);
    memcpy(first + at * size, item, size);
}

void *rocl_groups_new(const rocl_strings *keys, size_t key_size, size_t group_size, size_t *count)
{
    *count = rocl_strings_count(keys);
    char *groups = calloc(*count, group_size);
    for (uint32_t i = 1; groups && i < *count; i++)
        memcpy(groups + i * group_size, rocl_strings_get(keys, i, NULL), key_size);
    return groups;
}

int rocl_compare_values(rocl_sort_by by, const rocl_sort_values *a, const rocl_sort_values *b)
{
    switch (by) {
    case ROCL_BY_TOTAL:
        return rocl_number_order(b->total, a->total);
    case ROCL_BY_CALLS:
        return a->calls < b->calls ? 1 : a->calls > b->calls ? -1 : 0;
    case ROCL_BY_AVERAGE:
        return a->average < b->average ? 1 : a->average > b->average ? -1 : 0;
    case ROCL_BY_MAX:
        return rocl_number_order(b->max, a->max);
    case ROCL_BY_NAME:
        break;
    }
    return 0;
}

int rocl_compare_texts(const rocl_trace *t, uint32_t a, uint32_t b)
{
    size_t n, m;
    const char *p = rocl_strings_get(t->strings, a, &n), *q = rocl_strings_get(t->strings, b, &m);
    return rocl_compare_bytes(p, n, q, m);
}

/* ---- reports -------------------------------------------------------------------------------- */

const rocl_report_def rocl_report_defs[ROCL_REPORTS] = {
    [ROCL_REPORT_SUMMARY] = {"summary",
                             {"summary", "Summary"},
                             "kernels, calls, markers and copies: by domain, and by name"},
    [ROCL_REPORT_KERNELS] = {"kernels",
                             {"kernel", "Kernels"},
                             "kernels by name, by what they compute, and by duration"},
    [ROCL_REPORT_COPIES] = {"copies",
                            {"copies", "Copies"},
                            "memory copies by direction and agents, with bytes and bandwidth"},
    [ROCL_REPORT_OVERLAP] = {"overlap",
                             {"overlap", "Overlap"},
                             "for each GPU: how long it computed, copied, did both, or was idle"},
    [ROCL_REPORT_GAPS] = {"gaps",
                          {"gap", "Gaps"},
                          "for each GPU: when it was idle, for how long, and between which kernels "
                          "or copies"},
    [ROCL_REPORT_LAUNCH] = {"launch",
                            {"launch", "Launch"},
                            "calls that launch work, delays until it begins and their causes, HIP "
                            "graphs"},
    [ROCL_REPORT_STREAMS] = {"streams",
                             {"stream", "Streams"},
                             "for each stream and queue: when it was busy, how many at once, "
                             "outstanding work"},
    [ROCL_REPORT_MEMORY] = {"memory",
                            {"memory", "Memory"},
                            "for each agent: memory allocated and freed, the peak, and memory "
                            "never freed"},
    [ROCL_REPORT_MARKERS] = {"markers",
                             {"marker", "Markers"},
                             "marker ranges by name: time on the host, and GPU work launched "
                             "inside"},
    [ROCL_REPORT_STEPS] = {"steps",
                           {"step", "Steps"},
                           "steps of a program, what stands out in them, and kernels that repeat"},
    [ROCL_REPORT_RANKS] = {"ranks",
                           {"rank", "Ranks"},
                           "which rank is late and why, how evenly ranks work, and collectives"},
    [ROCL_REPORT_COUNTERS] = {"counters",
                              {"counter", "Counters"},
                              "counters of kernels; power, frequency and other samples; energy"},
    [ROCL_REPORT_ROOFLINE] = {"roofline",
                              {"roofline", "Roofline"},
                              "what operators computed and moved against a peak; occupancy of "
                              "kernels"},
    [ROCL_REPORT_ATTRIBUTION] = {"attribution",
                                 {"attribution", "Attribution"},
                                 "GPU time of the markers, operators, functions and calls that "
                                 "launched it"},
    [ROCL_REPORT_CRITICAL_PATH] = {"critical-path",
                                   {"critical_path", "Critical path"},
                                   "what the end of the trace waited for, back to its begin, and "
                                   "what would shorten it"},
    [ROCL_REPORT_DOCTOR] = {"doctor",
                            {"doctor", "Doctor"},
                            "whether the trace can be trusted: what is missing, does not fit, or "
                            "was lost"},
};

const char *rocl_report_name(rocl_report r)
{
    return (unsigned)r < ROCL_REPORTS ? rocl_report_defs[r].name : "";
}

const char *rocl_report_help(rocl_report r)
{
    return (unsigned)r < ROCL_REPORTS ? rocl_report_defs[r].help : "";
}

static bool is_printed(const rocl_stats_options *o, const rocl_table_def *def)
{
    bool listed = !o->tables, reported = false;
    for (const char *const *key = o->tables; key && *key && !listed; key++)
        listed = !strcmp(*key, def->key);
    for (unsigned r = 0; r < ROCL_REPORTS && listed && !reported; r++)
        reported = o->reports >> r & 1 && def->tab == &rocl_report_defs[r].tab;
    return reported;
}

bool rocl_table_wanted(const rocl_stats_options *o, const rocl_table_def *def)
{
    return is_printed(o, def) || rocl_evidence_of(o, def->key);
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* The names for pictures, which outlive the trace. */
static const char *const *copy_class_names(rocl_tables *out, const rocl_kernel_classes *k)
{
    const char **names = rocl_arena_alloc(&out->arena, ROCL_CLASSES * sizeof *names);
    for (unsigned c = 0; names && c < ROCL_CLASSES; c++) {
        const char *name = c < rocl_kernel_class_count(k) ? rocl_kernel_class_name(k, c) : NULL;
        names[c] = name ? rocl_tables_text(out, name, strlen(name)) : NULL;
    }
    out->incomplete |= !names;
    return names;
}

/* The same table with the columns that are listed, in any of the forms that they may have. */
static void begin_evidence(rocl_report_rows *r, const char *listed)
{
    rocl_tables *out = r->out;
    out->evidence = out->evidence ? out->evidence : rocl_tables_new();
    rocl_table_column *columns =
        rocl_arena_alloc(&out->arena, r->def->column_count * sizeof *columns);
    size_t n = 0;
    for (size_t i = 0; columns && i < r->def->column_count; i++) {
        const rocl_column *d = &r->def->columns[i];
        char word[64];
        bool twice = d->when & ROCL_IF_IDS && !r->c->ids;
        snprintf(word, sizeof word, " %s ", d->key);
        for (size_t k = 0; k < n; k++)
            twice |= !strcmp(columns[k].key, d->key);
        if (twice || !strstr(listed, word))
            continue;
        columns[n++] = (rocl_table_column){d->key, d->title, d->unit};
        r->whole_shown |= UINT64_C(1) << i;
    }
    r->whole = columns && out->evidence
                   ? rocl_tables_add(out->evidence, r->def->key, r->def->title, columns, n)
                   : NULL;
    out->incomplete |= !r->whole;
}

rocl_report_rows rocl_begin_table(const rocl_collector *c, rocl_tables *out,
                                  const rocl_table_def *def, uint32_t conditions)
{
    const rocl_stats_options *o = c->options;
    rocl_report_rows r = {.c = c, .out = out, .def = def};
    if (c->def && rocl_evidence_of(o, def->key))
        begin_evidence(&r, rocl_evidence_of(o, def->key));
    if (c->def && !is_printed(o, def))
        return r;
    int64_t first = 0, last;
    bool times = false, classes = false;
    const bool timed = c->trace && rocl_trace_times(c->trace, &first, &last);
    rocl_table_column *columns = rocl_arena_alloc(&out->arena, def->column_count * sizeof *columns);
    rocl_fold *folds = rocl_arena_alloc(&out->arena, def->column_count * sizeof *folds);
    uint64_t minor = 0;
    size_t n = 0;
    conditions |= (o->by_rank ? ROCL_IF_RANK : 0u) | (o->by_agent ? ROCL_IF_AGENT : 0u) |
                  (o->by_stream ? ROCL_IF_STREAM : 0u) | (o->by_dims ? ROCL_IF_DIMS : 0u) |
                  (o->brief ? 0u : ROCL_IF_FULL) | (o->pictures ? ROCL_IF_PICTURES : 0u) |
                  (c->ids ? ROCL_IF_IDS : 0u);
    for (size_t i = 0; columns && folds && i < def->column_count; i++) {
        const rocl_column *d = &def->columns[i];
        if (d->when & ROCL_CONDITIONS & ~conditions)
            continue;
        folds[n] = d->when & ROCL_OTHERS ? ROCL_FOLD_OTHERS
                   : d->when & ROCL_SUM  ? ROCL_FOLD_SUM
                                         : ROCL_FOLD_NONE;
        minor |= (uint64_t)((d->when & (ROCL_IF_FULL | ROCL_MINOR)) != 0) << n;
        times |= d->unit == ROCL_UNIT_TIME;
        classes |= !strcmp(d->key, "class");
        columns[n++] = (rocl_table_column){d->key, d->title, d->unit};
        r.shown |= UINT64_C(1) << i;
    }
    r.table = columns && folds ? rocl_tables_add(out, def->key, def->title, columns, n) : NULL;
    out->incomplete |= !r.table;
    if (r.table) {
        r.table->tab = def->tab;
        r.table->folds = folds;
        r.table->minor = minor;
        r.table->origin = timed ? first : 0;
        r.table->classes = classes ? copy_class_names(out, c->trace->classes) : NULL;
    }
    /* Else the header says it. */
    if (times && timed && o->pictures && !o->header)
        rocl_set_note(&r, "0 s is %" PRId64 " ns on the clock of the trace", first);
    return r;
}

void rocl_set_origin(const rocl_report_rows *r, int64_t then)
{
    if (r->table)
        r->table->origin -= then;
}

/* others: how many rows the row is the sum of; 0: it is one of its own. cell: the first of the row;
 * NULL: memory is out. */
static void put_cells(const rocl_report_rows *r, uint64_t shown, rocl_datum *cell, const void *row,
                      size_t others)
{
    r->out->incomplete |= !cell;
    for (size_t i = 0; cell && i < r->def->column_count; i++) {
        const rocl_column *d = &r->def->columns[i];
        if (!(shown >> i & 1))
            continue;
        if (others && d->when & ROCL_OTHERS) {
            char text[64];
            int n = snprintf(text, sizeof text, "(%zu others)", others);
            *cell = rocl_datum_text(r->out, text, (size_t)n);
        } else if (!others || d->when & ROCL_IN_REST) {
            *cell = d->cell(r, (const char *)row + d->at);
        }
        cell++;
    }
}

static void put_row(const rocl_report_rows *r, const void *row, size_t others)
{
    if (r->table)
        put_cells(r, r->shown, rocl_table_row(r->table), row, others);
}

/* Evidence is cut off where no finding can rest on what is left: its rows are sorted. */
enum { EVIDENCE_ROWS = 10000 };

static void keep_evidence(const rocl_report_rows *r, const void *row)
{
    if (r->whole && r->whole->row_count < EVIDENCE_ROWS)
        put_cells(r, r->whole_shown, rocl_table_row(r->whole), row, 0);
}

void rocl_add_row(const rocl_report_rows *r, const void *row)
{
    keep_evidence(r, row);
    put_row(r, row, 0);
}

void rocl_add_rest(const rocl_report_rows *r, const void *sum, size_t n)
{
    put_row(r, sum, n);
}

size_t rocl_rows_shown(const rocl_stats_options *o, size_t n)
{
    const size_t most = o->top ? o->top : o->most;
    return most && most < n ? most : n;
}

/* Keeps a row of the others for every place where the table may be cut later: each is made from the
 * next one. */
static void keep_rests(const rocl_report_rows *r, rocl_make_row *make, const void *ctx, size_t n,
                       size_t shown, size_t size, void (*add)(void *sum, const void *row))
{
    rocl_table *t = r->table;
    t->rests = NULL; /* if a table has several such lists, their rows are added up by cell */
    t->rest_count = 0;
    if (t->row_count || n < 2)
        return;
    const size_t count = shown + 1 < n ? shown + 1 : n, cells = t->column_count;
    rocl_datum *rests = rocl_arena_alloc(&r->out->arena, count * cells * sizeof *rests);
    char *sums = malloc(2 * size), *sum = sums, *next = sums;
    r->out->incomplete |= !rests || !sums;
    if (rests && sums) {
        memset(rests, 0, count * cells * sizeof *rests);
        for (size_t k = n; k-- > 0;) {
            make(ctx, k, sum);
            if (k < n - 1 && add)
                add(sum, next);
            if (k < count)
                put_cells(r, r->shown, rests + k * cells, sum, n - k);
            next = sum;
            sum = sum == sums ? sums + size : sums;
        }
        t->rests = rests;
        t->rest_count = count;
    }
    free(sums);
}

void rocl_add_made_rows(const rocl_report_rows *r, rocl_make_row *make, const void *ctx, size_t n,
                        size_t size, void (*add)(void *sum, const void *row))
{
    const size_t shown = r->table ? rocl_rows_shown(r->c->options, n) : 0;
    if (!r->table && !r->whole)
        return;
    char *row = malloc(2 * size), *sum = row + size;
    r->out->incomplete |= !row;
    if (!row)
        return;
    for (size_t i = 0; r->whole && i < n && i < EVIDENCE_ROWS; i++) {
        make(ctx, i, row);
        keep_evidence(r, row);
    }
    if (r->table && r->c->options->rests)
        keep_rests(r, make, ctx, n, shown, size, add);
    for (size_t i = 0; i < shown; i++) {
        make(ctx, i, row);
        put_row(r, row, 0);
    }
    if (r->table && shown < n) {
        make(ctx, shown, sum);
        for (size_t i = shown + 1; i < n && add; i++) {
            make(ctx, i, row);
            add(sum, row);
        }
        rocl_add_rest(r, sum, n - shown);
    }
    free(row);
}

typedef struct row_array {
    const char *rows;
    size_t size;
} row_array;

static void copy_row(const void *ctx, size_t i, void *row)
{
    const row_array *a = ctx;
    memcpy(row, a->rows + i * a->size, a->size);
}

void rocl_add_top_rows(const rocl_report_rows *r, const void *rows, size_t n, size_t size,
                       void (*add)(void *sum, const void *row))
{
    rocl_add_made_rows(r, copy_row, &(row_array){rows, size}, n, size, add);
}

void rocl_set_note(const rocl_report_rows *r, const char *fmt, ...)
{
    char note[256];
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(note, sizeof note, fmt, ap);
    va_end(ap);
    const size_t len = n < (int)sizeof note ? (size_t)n : sizeof note - 1;
    if (r->table)
        r->table->note = rocl_tables_text(r->out, note, len);
    if (r->whole)
        r->whole->note = rocl_tables_text(r->out, note, len);
}

void rocl_note_unsized(const rocl_report_rows *r, uint64_t copies)
{
    const char *before = r->table ? r->table->note : NULL;
    if (copies)
        rocl_set_note(r, "%s%s%" PRIu64 " %s no known size, and %s not in bytes and bandwidths",
                      before ? before : "", before ? "; " : "", copies,
                      copies == 1 ? "copy has" : "copies have", copies == 1 ? "is" : "are");
}

/* ---- cells ----------------------------------------------------------------------------------- */

rocl_datum rocl_field_int(const rocl_report_rows *r, const void *field)
{
    (void)r;
    return rocl_datum_int(*(const int64_t *)field);
}

rocl_datum rocl_field_known(const rocl_report_rows *r, const void *field)
{
    int64_t v = *(const int64_t *)field;
    (void)r;
    return v >= 0 ? rocl_datum_int(v) : (rocl_datum){0};
}

rocl_datum rocl_field_count(const rocl_report_rows *r, const void *field)
{
    (void)r;
    return rocl_datum_int(*(const uint32_t *)field);
}

rocl_datum rocl_field_id(const rocl_report_rows *r, const void *field)
{
    int32_t v = *(const int32_t *)field;
    (void)r;
    return v >= 0 ? rocl_datum_int(v) : (rocl_datum){0};
}

rocl_datum rocl_field_real(const rocl_report_rows *r, const void *field)
{
    double v = *(const double *)field;
    (void)r;
    return isfinite(v) ? rocl_datum_real(v) : (rocl_datum){0};
}

rocl_datum rocl_field_number(const rocl_report_rows *r, const void *field)
{
    double v = *(const double *)field;
    if (v == floor(v) && fabs(v) <= 0x1p53)
        return rocl_datum_int((int64_t)v);
    return rocl_field_real(r, field);
}

rocl_datum rocl_field_text(const rocl_report_rows *r, const void *field)
{
    size_t n;
    const char *p = rocl_strings_get(r->c->trace->strings, *(const uint32_t *)field, &n);
    return rocl_datum_text(r->out, p, n);
}

rocl_datum rocl_field_text_or_none(const rocl_report_rows *r, const void *field)
{
    return *(const uint32_t *)field != ROCL_NONE ? rocl_field_text(r, field) : (rocl_datum){0};
}

rocl_datum rocl_field_label(const rocl_report_rows *r, const void *field)
{
    return *(const uint32_t *)field ? rocl_field_text(r, field) : (rocl_datum){0};
}

rocl_datum rocl_field_string(const rocl_report_rows *r, const void *field)
{
    const char *s = *(const char *const *)field;
    return s ? rocl_datum_text(r->out, s, strlen(s)) : (rocl_datum){0};
}

rocl_datum rocl_field_view(const rocl_report_rows *r, const void *field)
{
    const rocl_view *v = field;
    return v->p ? rocl_datum_text(r->out, v->p, v->n) : (rocl_datum){0};
}

rocl_datum rocl_field_some(const rocl_report_rows *r, const void *field)
{
    return *(const int64_t *)field ? rocl_field_int(r, field) : (rocl_datum){0};
}

rocl_datum rocl_field_or_none(const rocl_report_rows *r, const void *field)
{
    return *(const int64_t *)field == INT64_MIN ? (rocl_datum){0} : rocl_field_int(r, field);
}

rocl_datum rocl_field_event(const rocl_report_rows *r, const void *field)
{
    const rocl_event_ref *e = field;
    rocl_buf id = {0};
    if (!e->capture_plus1 || !r->c->ids)
        return (rocl_datum){0};
    rocl_event_id_put(&id, r->c->ids, &r->c->trace->captures[e->capture_plus1 - 1]->pub,
                      rocl_word_kind(e->row), rocl_word_row(e->row));
    r->out->incomplete |= id.failed;
    const rocl_datum d = rocl_datum_text(r->out, (const char *)id.data, id.len);
    rocl_buf_free(&id);
    return d;
}

rocl_datum rocl_class_datum(const rocl_report_rows *r, const char *name, size_t n)
{
    const rocl_kernel_classes *k = r->c->trace->classes;
    const char *class = rocl_kernel_class_name(k, rocl_classify_kernel(k, name, n));
    return rocl_datum_text(r->out, class, strlen(class));
}

rocl_datum rocl_field_class(const rocl_report_rows *r, const void *field)
{
    size_t n;
    const char *name = rocl_strings_get(r->c->trace->strings, *(const uint32_t *)field, &n);
    return rocl_class_datum(r, name, n);
}

rocl_datum rocl_field_average(const rocl_report_rows *r, const void *field)
{
    const rocl_distribution *d = field;
    double v = rocl_distribution_average(d);
    return rocl_field_real(r, &v);
}

rocl_datum rocl_field_stddev(const rocl_report_rows *r, const void *field)
{
    double v;
    (void)r;
    return rocl_distribution_stddev(field, &v) ? rocl_datum_real(v) : (rocl_datum){0};
}

rocl_datum rocl_field_rsd(const rocl_report_rows *r, const void *field)
{
    const rocl_distribution *d = field;
    double v;
    (void)r;
    if (!rocl_distribution_stddev(d, &v) || d->total <= 0)
        return (rocl_datum){0};
    return rocl_datum_real(100 * v / rocl_distribution_average(d));
}

/* ---- GPUs and agents across processes ---- */

rocl_agent_key rocl_agent_key_of(const rocl_capture *c, uint32_t agent, int32_t rank)
{
    rocl_agent_key k = {.machine = c->machine, .type = ROCL_NONE, .rank = rank, .id = -1};
    if (agent < c->agent_count) {
        const rocl_agent *a = &c->agents[agent];
        k.machine = a->machine;
        k.type = a->type;
        k.id = a->gpu != ROCL_NONE ? a->gpu : a->absolute_index >= 0 ? a->absolute_index : a->id;
    }
    return k;
}

int rocl_compare_agents(const rocl_agent_key *a, const rocl_agent_key *b)
{
    int c = rocl_number_order(a->machine, b->machine);
    if (!c) /* unknown last */
        c = rocl_number_order(a->type, b->type);
    if (!c && a->id != b->id)
        c = (uint64_t)a->id < (uint64_t)b->id ? -1 : 1;
    return c ? c : rocl_number_order(a->rank, b->rank);
}

static size_t first_of(const rocl_trace *t, uint32_t machine)
{
    return t->machines && machine < t->machine_count ? t->machines[machine].first : 0;
}

int rocl_name_prefix(const char *name, size_t most)
{
    const size_t n = strnlen(name, most);
    return (int)(n < most ? n : n - rocl_utf8_incomplete(name, n));
}

/* "WHAT on HOST" where there are several machines. */
static rocl_datum cell_on_machine(const rocl_report_rows *r, const char *what, uint32_t machine)
{
    char text[640];
    rocl_label(text, sizeof text, "%.300s%s", what, rocl_machine_place(r->c->trace, machine));
    return rocl_datum_text(r->out, text, strlen(text));
}

rocl_datum rocl_field_gpu(const rocl_report_rows *r, const void *field)
{
    const rocl_gpu *g = *(const rocl_gpu *const *)field;
    const char *label = g ? rocl_str(r->c->trace, g->label) : "";
    return g ? rocl_datum_text(r->out, label, strlen(label)) : (rocl_datum){0};
}

rocl_datum rocl_field_rank(const rocl_report_rows *r, const void *field)
{
    const rocl_rank *rank = *(const rocl_rank *const *)field;
    char name[48];
    return rank ? rocl_datum_text(r->out, name, strlen(rocl_rank_name(rank, name)))
                : (rocl_datum){0};
}

rocl_datum rocl_field_agent(const rocl_report_rows *r, const void *field)
{
    const rocl_agent_key *k = field;
    const rocl_trace *t = r->c->trace;
    for (size_t i = first_of(t, k->machine); i < t->capture_count && k->type != ROCL_NONE; i++) {
        const rocl_capture *c = &t->captures[i]->pub;
        for (uint32_t n = 0; n < c->agent_count; n++) {
            rocl_agent_key other = rocl_agent_key_of(c, n, (int32_t)k->rank);
            if (!rocl_compare_agents(k, &other))
                return rocl_field_text(r, &c->agents[n].device);
        }
    }
    return cell_on_machine(r, "unknown", k->machine);
}

rocl_status rocl_check_complete(const rocl_tables *out, const rocl_trace *t, rocl_error *err)
{
    return out->incomplete || (out->evidence && out->evidence->incomplete) ||
                   !rocl_strings_complete(t->strings)
               ? rocl_fail_memory(err)
               : ROCL_OK;
}

/* Does a sum say no more than that it is too large? See rocl_add_saturated. */
static bool has_cut_sum(const rocl_table *t)
{
    for (size_t i = 0; i < t->row_count * t->column_count; i++) {
        const rocl_unit unit = t->columns[i % t->column_count].unit;
        if (t->cells[i].type == ROCL_DATUM_INT && t->cells[i].i == INT64_MAX &&
            (unit == ROCL_UNIT_NS || unit == ROCL_UNIT_BYTES))
            return true;
    }
    return false;
}

rocl_status rocl_report_outcome(const rocl_tables *out, rocl_trace *t)
{
    const rocl_status st = rocl_trace_outcome_utf8(t);
    for (size_t i = 0; i < out->count; i++)
        if (has_cut_sum(&out->tables[i])) {
            rocl_notice(t, "table %s: sums of more than %" PRId64 " are cut to that",
                        out->tables[i].key, INT64_MAX);
            return st == ROCL_OK ? ROCL_PARTIAL : st;
        }
    return st;
}
