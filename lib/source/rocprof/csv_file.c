/* A CSV file of rocprof: its run, by its name, and its table, by its header. */
#include <stdlib.h>

#include "source/rocprof/csv_file.h"
#include "source/rocprof/rocprof.h"

/* ---- names ----------------------------------------------------------------------------------- */

bool rocprof_csv_run(rocl_view name, rocl_view *run, bool *kind_first)
{
    static const char kinds[] =
        "kernel_trace hip_api_trace hsa_api_trace marker_api_trace rccl_api_trace "
        "rocdecode_api_trace rocjpeg_api_trace ompt_trace other_api_trace regions_trace "
        "instants_trace memory_copy_trace memory_allocation_trace scratch_memory_trace "
        "spm_counter_collection_trace counter_collection_trace counter_collection "
        "counter_sample_trace graph_launch_trace hip_event_trace agent_info process_info "
        "pc_sampling_host_trap pc_sampling_stochastic hip_trace hsa_trace marker_trace "
        "rccl_trace";
    static const char kinds_v2[] =
        "results hip_api_trace hsa_api_trace hcc_ops_trace async_copy_trace roctx_trace "
        "pcs_trace";
    rocl_view left = {kinds, sizeof kinds - 1}, left_v2 = {kinds_v2, sizeof kinds_v2 - 1}, kind;
    *kind_first = false;
    while (rocl_view_take_word(&left, &kind)) {
        const size_t before = name.n - kind.n;
        if (name.n >= kind.n && !memcmp(name.p + before, kind.p, kind.n) &&
            (!before || name.p[before - 1] == '_')) {
            *run = (rocl_view){name.p, before};
            return true;
        }
    }
    while (rocl_view_take_word(&left_v2, &kind))
        if (name.n > kind.n && !memcmp(name.p, kind.p, kind.n) && name.p[kind.n] == '_') {
            *run = (rocl_view){name.p + kind.n + 1, name.n - kind.n - 1};
            *kind_first = true;
            return true;
        }
    return false;
}

bool csv_parse_run_name(const char *path, csv_run_name *r)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    const char *end = strstr(name, ".csv");
    const size_t n = end ? (size_t)(end - name) : strlen(name);
    *r = (csv_run_name){.folder = rocl_view_between(path, name), .rest = name + n};
    return rocprof_csv_run((rocl_view){name, n}, &r->run, &r->kind_first);
}

/* ---- headers --------------------------------------------------------------------------------- */

/* Finds the column of each field of a header. Returns how many are known. */
static size_t find_columns(csv_file *f, const rocl_view *fields, rocprof_column *columns)
{
    size_t known = 0;
    f->text_column = SIZE_MAX;
    f->has = f->has_packet = 0;
    for (size_t i = 0; i < f->count; i++) {
        rocprof_column c = rocprof_column_of(fields[i]);
        /* rocprof-compute joins the tables of several runs: Kernel_ID, Kernel_ID_1, ... */
        rocl_view again = fields[i];
        while (again.n && again.p[again.n - 1] >= '0' && again.p[again.n - 1] <= '9')
            again.n--;
        if (c == ROCPROF_OTHER && again.n && again.n < fields[i].n && again.p[--again.n] == '_' &&
            rocprof_column_of(again) != ROCPROF_OTHER) {
            columns[i] = ROCPROF_IGNORED;
            continue;
        }
        /* "Pid" of rocpd's counters is the guid: "Process_Id" is there, too. */
        if (c == ROCPROF_PROCESS && f->has >> c & 1)
            for (size_t k = 0; k < i; k++)
                if (columns[k] == c && rocl_view_is(fields[k], "Pid")) {
                    columns[k] = ROCPROF_GUID;
                    f->has = (f->has & ~ROCPROF_BIT(PROCESS)) | ROCPROF_BIT(GUID);
                }
        known += c != ROCPROF_OTHER;
        if (c > ROCPROF_OTHER ? f->has_packet >> (c - ROCPROF_OTHER) & 1
                              : c != ROCPROF_OTHER && f->has >> c & 1)
            c = ROCPROF_IGNORED;
        columns[i] = c;
        f->has |= c >= ROCPROF_OTHER ? 0 : (uint64_t)1 << c;
        f->has_packet |= c <= ROCPROF_OTHER ? 0 : (uint32_t)1 << (c - ROCPROF_OTHER);
        f->has_counters |= c == ROCPROF_OTHER;
        f->names_agents |= fields[i].n && (fields[i].p[0] | 32) != 'g' &&
                           (c == ROCPROF_AGENT || c == ROCPROF_SOURCE);
        if (c == ROCPROF_KERNEL_NAME || c == ROCPROF_FUNCTION || c == ROCPROF_MESSAGE)
            f->text_column = i;
    }
    f->table = rocprof_table_of(f->has);
    f->of_v1 = f->table == ROCPROF_DISPATCHES && f->has_packet & ROCPROF_PACKET_BIT(QUEUE_INDEX);
    return known;
}

/* Where the line at p ends: at LF, CR LF or CR. */
static const char *find_line_end(const char *p, const char *end)
{
    while (p < end && *p != '\n' && *p != '\r')
        p++;
    return p;
}

/* The line behind the one that ends at p. */
static const char *skip_line_end(const char *p, const char *end)
{
    p += p < end && *p == '\r';
    return p + (p < end && *p == '\n');
}

/* Skips a byte order mark; returns the end of the header, without blanks. */
static const char *find_header(const char **p, size_t n)
{
    const char *end = *p + n;
    if (n >= 3 && !memcmp(*p, "\xef\xbb\xbf", 3))
        *p += 3;
    end = find_line_end(*p, end);
    while (end > *p && end[-1] == ' ')
        end--;
    return end;
}

bool rocprof_is_csv(const char *head, size_t n, bool whole)
{
    rocl_view *fields = malloc(CSV_FIELDS_MAX * sizeof *fields);
    rocprof_column *columns = malloc(CSV_FIELDS_MAX * sizeof *columns);
    csv_file f = {0};
    bool has_doubled, is = false;
    (void)whole;
    const char *end = find_header(&head, n);
    if (fields && columns) {
        f.count = rocprof_csv_split(head, end, true, fields, CSV_FIELDS_MAX, &has_doubled);
        is = f.count < ROCPROF_CSV_OPEN && find_columns(&f, fields, columns) >= 3 &&
             f.table != ROCPROF_UNKNOWN;
    }
    free(fields);
    free(columns);
    return is;
}

static bool is_csv_with(const char *head, size_t n, bool whole, char separator)
{
    const char *begin = head, *end = find_header(&begin, n);
    const size_t length = (size_t)(end - begin);
    if (!memchr(begin, separator, length))
        return false;
    char *header = malloc(length); /* bytes: there may be a NUL in it */
    for (size_t i = 0; header && i < length; i++)
        header[i] = begin[i] == separator ? ',' : begin[i];
    const bool is = header && rocprof_is_csv(header, length, whole);
    free(header);
    return is;
}

bool rocprof_has_semicolons(const char *head, size_t n, bool whole)
{
    return is_csv_with(head, n, whole, ';');
}

bool rocprof_has_tabs(const char *head, size_t n, bool whole)
{
    return is_csv_with(head, n, whole, '\t');
}

rocl_status csv_read_header(csv_file *f, const char *path, const char *text, size_t n,
                            rocl_error *err)
{
    rocl_view *fields = malloc(CSV_FIELDS_MAX * sizeof *fields);
    const char *begin = text, *end = find_header(&begin, n);
    const char *line_end = find_line_end(end, text + n);
    f->header = malloc((size_t)(end - begin) + 1);
    f->first_row = (uint64_t)(skip_line_end(line_end, text + n) - text);
    f->is_cut = line_end == text + n;
    f->names = fields;
    if (!fields || !f->header)
        return rocl_fail_memory(err);
    memcpy(f->header, begin, (size_t)(end - begin));
    if (f->is_cut && n == CSV_HEADER_MAX)
        return rocl_fail(err, ROCL_INPUT, "%s: the first line is too long", path);
    f->count = rocprof_csv_fields(f->header, (size_t)(end - begin), 0, SIZE_MAX, fields,
                                  CSV_FIELDS_MAX, false);
    if (f->count >= CSV_FIELDS_MAX)
        return rocl_fail(err, ROCL_INPUT, "%s: too many columns", path);
    f->columns = calloc(f->count, sizeof *f->columns);
    if (!f->columns)
        return rocl_fail_memory(err);
    find_columns(f, fields, f->columns);
    f->without_db = f->of_v1 && *begin != '"'; /* else all names are in quotes */
    if (f->table == ROCPROF_UNKNOWN)
        return rocl_fail(err, ROCL_INPUT,
                         "%s: a CSV file, but its columns are those of no table of rocprof", path);
    const char *missing = rocprof_missing_column(f->table, f->has);
    if (missing)
        return rocl_fail(err, ROCL_INPUT, "%s: the column %s is missing", path, missing);
    return ROCL_OK;
}

void csv_free_file(csv_file *f)
{
    free(f->header);
    free(f->columns);
    free(f->names);
}

const rocl_view *csv_find_field(const csv_file *f, const rocl_view *fields, rocprof_column c)
{
    for (size_t i = 0; i < f->count; i++)
        if (f->columns[i] == c)
            return &fields[i];
    return NULL;
}

char *csv_next_row(char **at, char *end, size_t *n)
{
    while (*at < end) {
        char *p = *at;
        *n = (size_t)(find_line_end(p, end) - p);
        *at = p + (skip_line_end(p + *n, end) - p);
        if (*n)
            return p;
    }
    return NULL;
}
