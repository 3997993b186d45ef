/* CSV files of rocprof v1, v2 and v3 and of rocpd: the header says which table it is, columns are
 * known by name. The files of one run (PREFIX_kernel_trace.csv, PREFIX_hip_api_trace.csv, ...) are
 * one input. */
#include <stdlib.h>

#include "source/rocprof/rocprof.h"
#include "source/rocprof/row.h"

enum { FIELDS_MAX = 4096, HEADER_MAX = 1 << 20 };

typedef struct csv_file {
    rocprof_table table;
    uint64_t first_row; /* where the line after the header begins */
    char *header;       /* where the names of counters are */
    size_t count;       /* of columns */
    rocprof_column *columns;
    rocl_view *names;
    uint64_t has;        /* a bit for each column */
    char *first_counter; /* of a table of counter values: their name in the first row */
} csv_file;

typedef struct csv_run {
    rocprof_words words;
    csv_file *files;
    size_t count;
    bool has_dispatches; /* a file has them: counter values need not stand in */
} csv_run;

typedef struct csv_worker {
    rocl_view fields[FIELDS_MAX];
    rocprof_row row;
    rocprof_counter counters[FIELDS_MAX];
} csv_worker;

/* ---- rows ------------------------------------------------------------------------------------ */

/* A field in quotes from p on: where the quotes end, by the rules of RFC 4180 (two quotes are one)
 * or by those of AMD's writers, who write names as they are: a quote ends a field before a comma.
 */
static const char *find_closing_quote(const char *p, const char *end, bool doubled)
{
    while ((p = memchr(p, '"', (size_t)(end - p)))) {
        if (doubled && p + 1 < end && p[1] == '"')
            p++;
        else if (doubled || p + 1 == end || p[1] == ',')
            return p;
        p++;
    }
    return NULL;
}

/* Two quotes become one, in place. */
static rocl_view undouble(char *p, size_t n)
{
    char *to = p;
    for (size_t i = 0; i < n; i++) {
        *to++ = p[i];
        i += p[i] == '"' && i + 1 < n && p[i + 1] == '"';
    }
    return rocl_view_between(p, to);
}

/* Splits a line; SIZE_MAX: quotes that do not end. *has_doubled: fields hold doubled quotes. */
static size_t split_fields(char *p, const char *end, bool doubled, rocl_view *fields,
                           bool *has_doubled)
{
    size_t n = 0;
    *has_doubled = false;
    while (n < FIELDS_MAX) {
        const char *stop;
        if (p < end && *p == '"') {
            stop = find_closing_quote(p + 1, end, doubled);
            if (!stop || (stop + 1 < end && stop[1] != ','))
                return SIZE_MAX;
            fields[n++] = rocl_view_between(p + 1, stop);
            *has_doubled |= doubled && memchr(p + 1, '"', (size_t)(stop - p - 1));
            stop++;
        } else {
            stop = memchr(p, ',', (size_t)(end - p));
            stop = stop ? stop : end;
            fields[n++] = rocl_view_between(p, stop);
        }
        if (stop == end)
            return n;
        p += stop + 1 - p;
    }
    return n;
}

/* The fields of a row, which has `want` of them (0: any number); how many they are. */
static size_t read_fields(char *p, size_t n, size_t want, rocl_view *fields)
{
    bool has_doubled;
    size_t count = split_fields(p, p + n, true, fields, &has_doubled);
    if (count == SIZE_MAX || (want && count != want))
        return split_fields(p, p + n, false, fields, &has_doubled);
    for (size_t i = 0; has_doubled && i < count; i++)
        fields[i] = undouble((char *)(uintptr_t)fields[i].p, fields[i].n);
    return count;
}

static rocl_status put_row(rocl_records *to, const csv_run *run, const csv_file *f, csv_worker *w,
                           rocl_error *err)
{
    rocprof_row *row = &w->row;
    row->has = f->has;
    row->counters = w->counters;
    row->counter_count = 0;
    for (size_t i = 0; i < f->count; i++) {
        if (f->columns[i] != ROCPROF_OTHER)
            row->value[f->columns[i]] = (rocprof_value){.text = w->fields[i]};
        else if (f->table == ROCPROF_DISPATCHES)
            w->counters[row->counter_count++] =
                (rocprof_counter){.name = f->names[i], .value = {.text = w->fields[i]}};
    }
    if (f->table == ROCPROF_COUNTERS) {
        const rocl_view name = row->value[ROCPROF_COUNTER].text;
        w->counters[row->counter_count++] =
            (rocprof_counter){.name = name, .value = row->value[ROCPROF_VALUE]};
        /* The dispatch goes out with the value of one of its counters. */
        if (!run->has_dispatches && f->first_counter && rocl_view_is(name, f->first_counter))
            return rocprof_row_put(to, &run->words, ROCPROF_DISPATCHES, row, 0, err);
    }
    return rocprof_row_put(to, &run->words, f->table, row, 0, err);
}

static rocl_status parse_line(rocl_records *to, char *p, size_t n, uint64_t where, rocl_error *err)
{
    const csv_run *run = rocl_records_input_of(to)->state;
    const csv_file *f = &run->files[rocl_records_piece(to)->file];
    void **state = rocl_records_state(to);
    if (where < f->first_row || !n) /* v2 leaves the second line empty */
        return ROCL_OK;
    if (!*state && !(*state = calloc(1, sizeof(csv_worker))))
        return rocl_fail_memory(err);
    csv_worker *w = *state;
    w->row.where = where;
    if (read_fields(p, n, f->count, w->fields) != f->count)
        return rocl_record_fault(to, where, ROCL_FAULT_BAD_LINE,
                                 "more or fewer fields than the header has", err);
    return put_row(to, run, f, w, err);
}

static rocl_status parse_piece(rocl_records_input *in, rocl_records *to, const rocl_piece *piece,
                               rocl_error *err)
{
    (void)in;
    (void)piece;
    return rocl_records_lines(to, parse_line, NULL, err);
}

/* ---- files ----------------------------------------------------------------------------------- */

/* The first lines of a file: its header, and the row below. */
static rocl_status read_header(csv_file *f, const rocl_records_file *file, rocl_error *err)
{
    rocl_view fields[FIELDS_MAX];
    size_t got = 0;
    f->header = malloc(HEADER_MAX + 1);
    if (!f->header)
        return rocl_fail_memory(err);
    rocl_status st = rocl_spool_read(file->spool, f->header, HEADER_MAX, 0, &got, err);
    if (st != ROCL_OK)
        return st;
    char *begin = f->header, *end = memchr(begin, '\n', got);
    if (!end && got == HEADER_MAX)
        return rocl_fail(err, ROCL_INPUT, "%s: the first line is too long", file->path);
    end = end ? end : begin + got;
    f->first_row = (uint64_t)(end - begin) + 1;
    if (end - begin >= 3 && !memcmp(begin, "\xef\xbb\xbf", 3))
        begin += 3;
    const char *stop = end > begin && end[-1] == '\r' ? end - 1 : end;
    f->count = read_fields(begin, (size_t)(stop - begin), 0, fields);
    if (f->count >= FIELDS_MAX)
        return rocl_fail(err, ROCL_INPUT, "%s: too many columns", file->path);
    f->columns = calloc(f->count, sizeof *f->columns);
    f->names = calloc(f->count, sizeof *f->names);
    if (!f->columns || !f->names)
        return rocl_fail_memory(err);
    for (size_t i = 0; i < f->count; i++) {
        const rocprof_column c = rocprof_column_of(fields[i]);
        const bool again = c != ROCPROF_OTHER && f->has >> c & 1;
        f->columns[i] = again ? ROCPROF_IGNORED : c;
        f->names[i] = fields[i];
        f->has |= c == ROCPROF_OTHER ? 0 : (uint64_t)1 << c;
    }
    f->table = rocprof_table_of(f->has);
    if (f->table == ROCPROF_UNKNOWN)
        return rocl_fail(err, ROCL_INPUT,
                         "%s: a CSV file, but its columns are those of no table of rocprof",
                         file->path);
    char *next = f->header + f->first_row, *last = f->header + got;
    if (f->table == ROCPROF_COUNTERS && next < last) {
        end = memchr(next, '\n', (size_t)(last - next));
        end = end ? end : last;
        end -= end > next && end[-1] == '\r';
        if (read_fields(next, (size_t)(end - next), f->count, fields) == f->count)
            for (size_t i = 0; i < f->count; i++)
                if (f->columns[i] == ROCPROF_COUNTER &&
                    !(f->first_counter = strndup(fields[i].p, fields[i].n)))
                    return rocl_fail_memory(err);
    }
    return ROCL_OK;
}

static void close_run(rocl_records_input *in)
{
    csv_run *run = in->state;
    for (size_t i = 0; run && i < run->count; i++) {
        csv_file *f = &run->files[i];
        free(f->header);
        free(f->columns);
        free(f->names);
        free(f->first_counter);
    }
    if (run)
        free(run->files);
    free(run);
}

static const rocl_record_format format = {
    .places = ROCL_PLACES_LINES, .parse = parse_piece, .free_worker = free, .close = close_run};

static const char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* "4242_kernel_trace.csv", "out/pid.4242_...": many names begin in the process's number. */
static uint64_t read_file_pid(const char *path)
{
    const char *p = name_of(path);
    uint64_t pid = 0;
    size_t n = 0;
    for (; n < 10 && p[n] >= '0' && p[n] <= '9'; n++)
        pid = pid * 10 + (uint64_t)(p[n] - '0');
    return n && p[n] == '_' ? pid : ROCL_NO_KEY;
}

static rocl_status open_run(rocl_source *s, rocl_trace *t, rocl_error *err)
{
    rocl_records_input *in;
    rocl_status st = rocl_records_open(&in, s, t, &format, err);
    if (st != ROCL_OK)
        return st;
    csv_run *run = in->state = calloc(1, sizeof *run);
    if (!run || !(run->files = calloc(in->file_count, sizeof *run->files)) ||
        !rocprof_intern_words(&run->words, t))
        return rocl_fail_memory(err);
    run->count = in->file_count;
    in->only_process = read_file_pid(s->path);
    for (uint32_t i = 0; i < in->file_count && st == ROCL_OK; i++) {
        csv_file *f = &run->files[i];
        st = read_header(f, &in->files[i], err);
        run->has_dispatches |= f->table == ROCPROF_DISPATCHES;
        if (st == ROCL_OK && !rocl_records_cut(in, i, f->table, 0))
            st = rocl_fail_memory(err);
    }
    return st ? st : rocl_records_index(in, err);
}

/* How long the part of a name is that the files of one run share; SIZE_MAX: it is no such name. */
static size_t prefix_length(const char *path)
{
    static const char *const tails[] = {"kernel_trace",
                                        "hip_api_trace",
                                        "hsa_api_trace",
                                        "marker_api_trace",
                                        "rccl_api_trace",
                                        "rocdecode_api_trace",
                                        "rocjpeg_api_trace",
                                        "memory_copy_trace",
                                        "memory_allocation_trace",
                                        "scratch_memory_trace",
                                        "counter_collection",
                                        "agent_info",
                                        "pc_sampling_host_trap",
                                        "pc_sampling_stochastic",
                                        "hip_trace",
                                        "hsa_trace",
                                        "marker_trace"};
    const char *name = name_of(path), *end = strstr(name, ".csv");
    const size_t n = end ? (size_t)(end - name) : strlen(name);
    for (size_t i = 0; i < sizeof tails / sizeof *tails; i++) {
        const size_t m = strlen(tails[i]);
        if (n >= m && !memcmp(name + n - m, tails[i], m) && (n == m || name[n - m - 1] == '_'))
            return (size_t)(name - path) + n - m;
    }
    return SIZE_MAX;
}

static bool is_same_run(const char *a, const char *b)
{
    const size_t n = prefix_length(a), m = prefix_length(b);
    return n == m && n != SIZE_MAX && !memcmp(a, b, n);
}

const rocl_source_ops rocl_rocprof_csv_ops = {ROCL_RECORDS_OPS(open_run), .same_run = is_same_run};
