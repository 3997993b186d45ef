/* CSV files of rocprof v1, v2 and v3 and of rocpd: the header says which table it is, columns are
 * known by name. The files of one run (PREFIX_kernel_trace.csv, PREFIX_hip_api_trace.csv, ...) are
 * one input; PREFIX_agent_info.csv tells the names of its agents. */
#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "source/rocprof/csv.h"
#include "source/rocprof/rocprof.h"
#include "source/rocprof/row.h"

enum {
    FIELDS_MAX = 4096,
    HEADER_MAX = 1 << 20,
    AGENTS_MAX = 4 << 20,
    RECORD_MAX = 64 << 20,
    STRIDE = 64,
    JOINED_MAX = 1 << 22
};

typedef struct csv_file {
    rocprof_table table;
    uint64_t first_row; /* where the line after the header begins */
    char *header;       /* where the names of counters are */
    size_t count;       /* of columns */
    rocprof_column *columns;
    rocl_view *names;
    uint64_t has;        /* a bit for each column, */
    uint32_t has_packet; /* see rocprof_row */
    bool of_v1, without_db;
    size_t text_column; /* where names of kernels or messages are; SIZE_MAX: nowhere */
    bool has_counters;  /* columns that are counters */
    bool names_agents;  /* "Agent_Id" of v3, not "gpu-id" */
} csv_file;

/* A row of agent_info. */
typedef struct csv_agent {
    uint64_t process; /* key; ROCL_NO_KEY: every process */
    uint64_t key;     /* as the tables call it */
    rocl_agent_type type;
    uint64_t node, logical, ordinal;                  /* the last: among those of its type */
    uint32_t type_name, name, vendor, product, model; /* texts */
    char *properties;                                 /* JSON: numbers that expressions use */
} csv_agent;

/* What tables call an agent. */
typedef enum csv_agent_form {
    BY_NODE,    /* 4; "Agent 4" with --agent-index absolute */
    BY_LOGICAL, /* "Agent 4" */
    BY_TYPE     /* "GPU 0" */
} csv_agent_form;

typedef struct csv_run {
    rocprof_words words;
    csv_file *files;
    size_t count;
    bool has_dispatches; /* a file has them: counter values need not stand in */
    /* Of a trace of kernels without Dispatch_Id: correlation id -> that number + 1, which the
     * counter values say; 0 where it is not the only one. */
    rocl_map dispatches;
    bool names_agents; /* as v3 does */
    csv_agent *agents;
    size_t agent_count, agent_cap;
} csv_run;

typedef struct csv_worker {
    rocl_view fields[FIELDS_MAX];
    rocprof_row row;
    rocprof_counter counters[FIELDS_MAX];
    char dispatch[96]; /* of the row before: its number and process, as texts */
    size_t dispatch_size;
    rocl_buf record; /* a row whose quotes have not ended so far: its lines */
    uint64_t record_where, record_line;
} csv_worker;

/* ---- fields ---------------------------------------------------------------------------------- */

/* Two quotes become one, in place. */
static rocl_view undouble_quotes(char *p, size_t n)
{
    char *to = p;
    for (size_t i = 0; i < n; i++) {
        *to++ = p[i];
        i += p[i] == '"' && i + 1 < n && p[i + 1] == '"';
    }
    return rocl_view_between(p, to);
}

/* Which of 64 bytes are c. */
static inline uint64_t find_bytes(const char *p, char c)
{
    uint64_t mask = 0;
#ifdef __SSE2__
    for (unsigned i = 0; i < 4; i++) {
        const __m128i v = _mm_loadu_si128((const __m128i *)(const void *)(p + 16 * i));
        mask |= (uint64_t)(unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(v, _mm_set1_epi8(c)))
                << 16 * i;
    }
#else
    for (unsigned i = 0; i < STRIDE; i++)
        mask |= (uint64_t)(p[i] == c) << i;
#endif
    return mask;
}

/* Splits a row; SIZE_MAX: quotes that do not end. *has_doubled: fields hold doubled quotes. Goes
 * from one quote or comma to the next, in quotes from quote to quote. */
static size_t split_fields(const char *p, const char *end, bool doubled, rocl_view *fields,
                           size_t fields_max, bool *has_doubled)
{
    const size_t n = (size_t)(end - p);
    size_t count = 0, begin = 0; /* of the field at hand */
    size_t skip = SIZE_MAX;      /* a byte that was looked at with the one before it */
    bool quoted = false;
    char rest[STRIDE];
    *has_doubled = false;
    for (size_t at = 0; at < n; at += STRIDE) {
        const char *block = p + at;
        if (n - at < STRIDE) {
            memset(rest, 0, sizeof rest);
            block = memcpy(rest, block, n - at);
        }
        const uint64_t commas = find_bytes(block, ','), quotes = find_bytes(block, '"');
        uint64_t live = ~(uint64_t)0, found;
        while ((found = (quoted ? quotes : commas | quotes) & live)) {
            const uint64_t bit = found & (0 - found);
            const size_t i = at + (size_t)__builtin_ctzll(found);
            live = ~(bit | (bit - 1));
            if (!quoted && commas & bit) {
                if (i == skip)
                    continue;
                fields[count++] = rocl_view_between(p + begin, p + i);
                begin = i + 1;
            } else if (i == skip) {
                continue;
            } else if (!quoted) { /* in the middle of a field it is nothing special */
                quoted = i == begin;
            } else if (doubled && i + 1 < n && p[i + 1] == '"') {
                *has_doubled = true;
                skip = i + 1;
            } else if (i + 1 == n || p[i + 1] == ',') {
                fields[count++] = rocl_view_between(p + begin + 1, p + i);
                if (i + 1 == n)
                    return count;
                quoted = false;
                begin = i + 2;
                skip = i + 1;
            } else if (doubled) {
                return SIZE_MAX;
            }
            if (count == fields_max)
                return count;
        }
    }
    if (quoted)
        return SIZE_MAX;
    fields[count++] = rocl_view_between(p + begin, end);
    return count;
}

/* The fields of a row whose text column, in quotes, holds quotes and commas as they are: those
 * before it are counted from the left, those behind it from the right. */
static bool split_around_text(char *p, const char *end, size_t want, size_t column,
                              rocl_view *fields)
{
    for (size_t i = 0; i < column; i++) {
        const char *stop = p;
        if (p < end && *p == '"')
            stop = memmem(p + 1, (size_t)(end - p - 1), "\",", 2);
        fields[i] = rocl_view_between(*p == '"' ? p + 1 : p, stop ? stop : end);
        const char *comma = stop ? memchr(stop, ',', (size_t)(end - stop)) : NULL;
        if (!comma)
            return false;
        if (*p != '"')
            fields[i].n = (size_t)(comma - p);
        p += comma + 1 - p;
    }
    for (size_t i = want - 1; i > column; i--) {
        const char *comma = end > p ? memrchr(p, ',', (size_t)(end - p)) : NULL;
        while (comma && end[-1] == '"' && (comma[1] != '"' || comma + 2 == end))
            comma = memrchr(p, ',', (size_t)(comma - p));
        if (!comma)
            return false;
        const bool quoted = end[-1] == '"' && comma + 2 < end;
        fields[i] =
            quoted ? rocl_view_between(comma + 2, end - 1) : rocl_view_between(comma + 1, end);
        end = comma;
    }
    if (end - p < 2 || *p != '"' || end[-1] != '"')
        return false;
    fields[column] = rocl_view_between(p + 1, end - 1);
    return true;
}

size_t rocprof_csv_fields(char *p, size_t n, size_t want, size_t text_column, rocl_view *fields,
                          size_t fields_max)
{
    bool has_doubled;
    size_t count = split_fields(p, p + n, true, fields, fields_max, &has_doubled);
    if (count == SIZE_MAX || (want && count != want)) {
        const size_t rfc = count;
        count = split_fields(p, p + n, false, fields, fields_max, &has_doubled);
        if (want && count != want && text_column < want &&
            split_around_text(p, p + n, want, text_column, fields))
            return want;
        return count == SIZE_MAX ? rfc : count;
    }
    for (size_t i = 0; has_doubled && i < count; i++)
        fields[i] = undouble_quotes((char *)(uintptr_t)fields[i].p, fields[i].n);
    return count;
}

/* Rows begin with a number, a guid, a word in quotes, or one in capitals; a comma, no blank. */
bool rocprof_csv_continues(const char *p, size_t n)
{
    size_t i = 0;
    if (n && *p == '"') {
        const char *quote = memchr(p + 1, '"', (n < 80 ? n : 80) - 1);
        i = quote ? (size_t)(quote + 1 - p) : n;
    } else {
        for (; i < n && i < 80; i++) {
            const char c = p[i];
            if (!(c >= '0' && c <= '9') && !(c >= 'A' && c <= 'Z') && !(c >= 'a' && c <= 'f') &&
                c != '_' && c != '-' && c != '.')
                break;
        }
    }
    return i + 1 >= n || p[i] != ',' || p[i + 1] == ' ';
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* Is it another dispatch than that of the row before? */
static bool is_next_dispatch(csv_worker *w)
{
    static const rocprof_column parts[] = {ROCPROF_DISPATCH, ROCPROF_PROCESS, ROCPROF_GUID};
    char text[sizeof w->dispatch];
    size_t n = 0;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        const rocl_view v =
            w->row.has >> parts[i] & 1 ? w->row.value[parts[i]].text : (rocl_view){"", 0};
        if (n + v.n + 1 > sizeof text)
            return true;
        memcpy(text + n, v.p, v.n);
        n += v.n;
        text[n++] = ',';
    }
    if (n == w->dispatch_size && !memcmp(text, w->dispatch, n))
        return false;
    memcpy(w->dispatch, text, n);
    w->dispatch_size = n;
    return true;
}

static rocl_status put_row(rocl_records *to, const csv_run *run, const csv_file *f, csv_worker *w,
                           uint64_t where, rocl_error *err)
{
    rocprof_row *row = &w->row;
    row->has = f->has;
    row->has_packet = f->has_packet;
    row->of_v1 = f->of_v1;
    row->without_db = f->without_db;
    row->counters = w->counters;
    row->counter_count = 0;
    row->where = where;
    for (size_t i = 0; i < f->count; i++) {
        if (f->columns[i] == ROCPROF_IGNORED)
            continue;
        if (f->columns[i] != ROCPROF_OTHER)
            row->value[f->columns[i]].text = w->fields[i];
        else if (f->table == ROCPROF_DISPATCHES)
            w->counters[row->counter_count++] =
                (rocprof_counter){.name = f->names[i], .value = {.text = w->fields[i]}};
    }
    row->quotes = f->of_v1 && f->has_packet & ROCPROF_PACKET_BIT(SIGNAL) &&
                  f->columns[0] != ROCPROF_SIGNAL && row->value[ROCPROF_SIGNAL].text.p[-1] == '"';
    uint64_t link;
    if (f->table == ROCPROF_DISPATCHES && run->dispatches.count && f->has & ROCPROF_BIT(LINK) &&
        !(f->has & ROCPROF_BIT(DISPATCH)) &&
        rocprof_decimal(row->value[ROCPROF_LINK].text, &link)) {
        const uint32_t number = rocl_map_get(&run->dispatches, link, 0);
        row->has |= number ? ROCPROF_BIT(DISPATCH) : 0;
        row->value[ROCPROF_DISPATCH] = (rocprof_value){.number = (int64_t)number - 1};
    }
    if (f->table == ROCPROF_COUNTERS) {
        w->counters[row->counter_count++] = (rocprof_counter){
            .name = row->value[ROCPROF_COUNTER].text, .value = row->value[ROCPROF_VALUE]};
        row->puts_dispatch = !run->has_dispatches && is_next_dispatch(w);
    }
    return rocprof_row_put(to, &run->words, f->table, row, 0, err);
}

/* A row that has ended, or cannot be one. */
static rocl_status end_record(rocl_records *to, csv_worker *w, rocl_error *err)
{
    rocl_status st = rocl_record_fault_at(to, w->record_line, w->record_where, ROCL_FAULT_BAD_LINE,
                                          "more or fewer fields than the header has", err);
    w->record.len = 0;
    return st;
}

/* A line that may be the next of a row whose quotes have not ended: texts may hold line ends. */
static rocl_status add_line(rocl_records *to, const csv_run *run, const csv_file *f, csv_worker *w,
                            const char *p, size_t n, rocl_error *err)
{
    rocl_buf_byte(&w->record, '\n');
    rocl_buf_put(&w->record, p, n);
    rocl_buf_byte(&w->record, 0);
    if (w->record.failed)
        return rocl_fail_memory(err);
    w->record.len--;
    if (w->record.len > RECORD_MAX)
        return end_record(to, w, err);
    if (rocprof_csv_fields((char *)w->record.data, w->record.len, f->count, f->text_column,
                           w->fields, FIELDS_MAX) != f->count)
        return ROCL_OK;
    rocl_status st = put_row(to, run, f, w, w->record_where, err);
    w->record.len = 0;
    return st;
}

static rocl_status parse_line(rocl_records *to, char *p, size_t n, uint64_t where, rocl_error *err)
{
    const csv_run *run = rocl_records_input_of(to)->state;
    const csv_file *f = &run->files[rocl_records_piece(to)->file];
    csv_worker *w = *rocl_records_state(to);
    rocl_status st = ROCL_OK;
    if (where < f->first_row)
        return ROCL_OK;
    if (w->record.len) {
        if (rocprof_csv_continues(p, n))
            return add_line(to, run, f, w, p, n, err);
        st = end_record(to, w, err);
    }
    if (!n || st != ROCL_OK) /* v2 leaves the second line empty */
        return st;
    if (rocprof_csv_fields(p, n, f->count, f->text_column, w->fields, FIELDS_MAX) == f->count)
        return put_row(to, run, f, w, where, err);
    rocl_buf_put(&w->record, p, n);
    w->record_where = where;
    w->record_line = rocl_records_line_number(to);
    return w->record.failed ? rocl_fail_memory(err) : ROCL_OK;
}

static rocl_status parse_piece(rocl_records_input *in, rocl_records *to, const rocl_piece *piece,
                               rocl_error *err)
{
    void **state = rocl_records_state(to);
    (void)in;
    (void)piece;
    if (!*state && !(*state = calloc(1, sizeof(csv_worker))))
        return rocl_fail_memory(err);
    csv_worker *w = *state;
    w->dispatch_size = 0;
    w->record.len = 0;
    rocl_status st = rocl_records_lines(to, parse_line, rocprof_csv_continues, err);
    return st == ROCL_OK && w->record.len ? end_record(to, w, err) : st;
}

static void free_worker(void *state)
{
    csv_worker *w = state;
    rocl_buf_free(&w->record);
    free(w);
}

/* ---- headers --------------------------------------------------------------------------------- */

/* Which column each field of a header is. How many are known. */
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

/* Behind a byte order mark; the end of the line. */
static const char *find_header(const char **p, size_t n)
{
    const char *end = *p + n;
    if (n >= 3 && !memcmp(*p, "\xef\xbb\xbf", 3))
        *p += 3;
    const char *lf = memchr(*p, '\n', (size_t)(end - *p));
    end = lf ? lf : end;
    const char *cr = memchr(*p, '\r', (size_t)(end - *p));
    end = cr ? cr : end;
    while (end > *p && end[-1] == ' ')
        end--;
    return end;
}

bool rocprof_is_csv(const char *head, size_t n, bool whole)
{
    rocl_view fields[256];
    rocprof_column columns[256];
    csv_file f = {0};
    bool has_doubled;
    (void)whole;
    const char *end = find_header(&head, n);
    f.count = split_fields(head, end, true, fields, sizeof fields / sizeof *fields, &has_doubled);
    return f.count != SIZE_MAX && find_columns(&f, fields, columns) >= 3 &&
           f.table != ROCPROF_UNKNOWN;
}

static rocl_status read_header(csv_file *f, const char *path, const char *text, size_t n,
                               rocl_error *err)
{
    rocl_view *fields = malloc(FIELDS_MAX * sizeof *fields);
    const char *begin = text, *end = find_header(&begin, n);
    const char *lf = memchr(end, '\n', (size_t)(text + n - end));
    f->header = malloc((size_t)(end - begin) + 1);
    f->first_row = (uint64_t)((lf ? lf : text + n) - text) + 1;
    f->names = fields;
    if (!fields || !f->header)
        return rocl_fail_memory(err);
    memcpy(f->header, begin, (size_t)(end - begin));
    if (end == text + n && n == HEADER_MAX)
        return rocl_fail(err, ROCL_INPUT, "%s: the first line is too long", path);
    f->count =
        rocprof_csv_fields(f->header, (size_t)(end - begin), 0, SIZE_MAX, fields, FIELDS_MAX);
    if (f->count >= FIELDS_MAX)
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

static void free_file(csv_file *f)
{
    free(f->header);
    free(f->columns);
    free(f->names);
}

static const rocl_view *find_field(const csv_file *f, const rocl_view *fields, rocprof_column c)
{
    for (size_t i = 0; i < f->count; i++)
        if (f->columns[i] == c)
            return &fields[i];
    return NULL;
}

/* Goes through the whole lines below a header; NULL: no more. */
static char *next_row(char **at, char *end, size_t *n)
{
    while (*at < end) {
        char *p = *at, *lf = memchr(p, '\n', (size_t)(end - p));
        *at = lf ? lf + 1 : end;
        *n = (size_t)((lf ? lf : end) - p);
        *n -= *n && p[*n - 1] == '\r';
        if (*n)
            return p;
    }
    return NULL;
}

/* ---- agents ---------------------------------------------------------------------------------- */

/* The properties of an agent as rocprofv3's JSON has them, as far as derived counters use them.
 * NULL: memory is out. */
static char *read_agent_properties(const rocl_view *header, const rocl_view *fields, size_t n)
{
    static const char *const known[] = {"Simd_Count",        "Max_Waves_Per_Simd",
                                        "Lds_Size_In_Kb",    "Wave_Front_Size",
                                        "Num_Xcc",           "Cu_Count",
                                        "Array_Count",       "Num_Shader_Banks",
                                        "Simd_Per_Cu",       "Simd_Arrays_Per_Engine",
                                        "Cu_Per_Simd_Array", "Max_Slots_Scratch_Cu"};
    rocl_buf json = {0};
    rocl_buf_byte(&json, '{');
    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
        for (size_t i = 0; i < n; i++) {
            uint64_t number;
            if (!rocl_view_is(header[i], known[k]) || !rocprof_decimal(fields[i], &number))
                continue;
            rocl_buf_str(&json, json.len > 1 ? ",\"" : "\"");
            const size_t from = json.len;
            rocl_buf_printf(&json, "%s\":%" PRIu64, known[k], number);
            for (size_t c = from; c < json.len; c++) /* in lower case there */
                json.data[c] |= json.data[c] >= 'A' && json.data[c] <= 'Z' ? 32 : 0;
            break;
        }
    rocl_buf_put(&json, "}", 2);
    if (json.failed)
        rocl_buf_free(&json);
    return (char *)json.data;
}

/* Takes agents from the text of an agent_info.csv. */
static rocl_status read_agents(csv_run *run, rocl_trace *t, const csv_file *f, char *text, size_t n,
                               rocl_error *err)
{
    static const struct {
        rocprof_column column;
        size_t offset;
    } texts[] = {{ROCPROF_AGENT_TYPE, offsetof(csv_agent, type_name)},
                 {ROCPROF_NAME, offsetof(csv_agent, name)},
                 {ROCPROF_VENDOR, offsetof(csv_agent, vendor)},
                 {ROCPROF_PRODUCT, offsetof(csv_agent, product)},
                 {ROCPROF_MODEL, offsetof(csv_agent, model)}};
    rocl_view fields[256], header[256];
    size_t length_of_header;
    char *at = text, *p = next_row(&at, text + n, &length_of_header);
    size_t length;
    const bool named =
        p && rocprof_csv_fields(p, length_of_header, f->count, SIZE_MAX, header, 256) == f->count;
    at = text + (f->first_row < n ? f->first_row : n);
    while ((p = next_row(&at, text + n, &length))) {
        if (f->count > 256 ||
            rocprof_csv_fields(p, length, f->count, SIZE_MAX, fields, 256) != f->count)
            continue;
        const rocl_view *node = find_field(f, fields, ROCPROF_NODE);
        const rocl_view *logical = find_field(f, fields, ROCPROF_LOGICAL_NODE);
        const rocl_view *guid = find_field(f, fields, ROCPROF_GUID);
        csv_agent a = {.process = ROCL_NO_KEY};
        if (!rocprof_decimal(*node, &a.node) || a.node > INT32_MAX)
            continue;
        if (!logical || !rocprof_decimal(*logical, &a.logical) || a.logical > INT32_MAX)
            a.logical = a.node;
        if (guid && guid->n)
            a.process = ROCL_KEY_OF_TEXT | rocl_strings_put(t->strings, guid->p, guid->n);
        for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
            const rocl_view *v = find_field(f, fields, texts[i].column);
            uint32_t *to = (uint32_t *)(void *)((char *)&a + texts[i].offset);
            *to = v && v->n ? rocl_strings_put(t->strings, v->p, v->n) : 0;
        }
        const char *type = rocl_str(t, a.type_name);
        a.type = !strcmp(type, "GPU")   ? ROCL_AGENT_GPU
                 : !strcmp(type, "CPU") ? ROCL_AGENT_CPU
                                        : ROCL_AGENT_OTHER;
        for (size_t i = 0; i < run->agent_count; i++)
            a.ordinal += run->agents[i].process == a.process && run->agents[i].type == a.type;
        if (!ROCL_GROW(run->agents, run->agent_cap, run->agent_count + 1) ||
            (named && !(a.properties = read_agent_properties(header, fields, f->count))))
            return rocl_fail_memory(err);
        run->agents[run->agent_count++] = a;
    }
    return ROCL_OK;
}

/* Is a GPU called so by its logical number? */
static bool is_logical_gpu(const csv_run *run, uint64_t number)
{
    for (size_t i = 0; i < run->agent_count; i++)
        if (run->agents[i].logical == number && run->agents[i].type == ROCL_AGENT_GPU)
            return true;
    return false;
}

/* What the rows at the begin of a file call their agents. */
static csv_agent_form find_agent_form(const csv_run *run, const csv_file *f, char *text, size_t n)
{
    rocl_view fields[256];
    char *at = text + (f->first_row < n ? f->first_row : n), *p;
    size_t length;
    csv_agent_form form = BY_LOGICAL;
    while (f->count <= 256 && (p = next_row(&at, text + n, &length))) {
        uint64_t number;
        if (rocprof_csv_fields(p, length, f->count, f->text_column, fields, 256) != f->count)
            continue;
        const rocl_view *v = find_field(f, fields, ROCPROF_AGENT);
        v = v ? v : find_field(f, fields, ROCPROF_SOURCE);
        const char *blank = v && v->n ? memchr(v->p, ' ', v->n) : NULL;
        if (!v || !v->n)
            continue;
        if (!blank)
            return BY_NODE;
        if (v->p[0] == 'G' || v->p[0] == 'C')
            return BY_TYPE;
        const bool on_gpu = f->table == ROCPROF_DISPATCHES || f->table == ROCPROF_COUNTERS;
        if (!on_gpu)
            break;
        if (rocprof_decimal(rocl_view_between(blank + 1, v->p + v->n), &number) &&
            !is_logical_gpu(run, number))
            return BY_NODE;
    }
    return form;
}

/* Agents come first among the definitions, in their order, under the keys that the rows use. */
static bool define_agents(csv_run *run, rocl_records_input *in, csv_agent_form form)
{
    bool ok = true;
    for (size_t i = 0; i < run->agent_count && ok; i++) {
        csv_agent *a = &run->agents[i];
        a->key = form == BY_NODE      ? a->node
                 : form == BY_LOGICAL ? a->logical
                                      : (uint64_t)a->type << 32 | a->ordinal;
        if (a->process != ROCL_NO_KEY)
            ok = rocl_records_define(in, ROCL_KEY_PROCESS, (rocl_key){0, 0, a->process}, NULL);
        ok = ok && rocl_records_define(in, ROCL_KEY_AGENT, (rocl_key){a->process, 0, a->key},
                                       &(rocl_key_facts){.type = a->type});
    }
    return ok;
}

/* What agent_info says of an agent; NULL: nothing. */
static const csv_agent *find_known_agent(const rocl_records_input *in, const rocl_agent *a)
{
    const csv_run *run = in->state;
    for (size_t k = 0; k < run->agent_count; k++) {
        const csv_agent *g = &run->agents[k];
        if (g->key == (uint64_t)a->id &&
            (g->process == ROCL_NO_KEY ||
             rocl_records_find(in, ROCL_KEY_PROCESS, (rocl_key){0, 0, g->process}) == a->process))
            return g;
    }
    return NULL;
}

static rocl_status put_properties(rocl_trace *t, rocl_model_capture *c, rocl_property_of of,
                                  uint32_t index, rocl_buf *json, rocl_error *err)
{
    (void)t;
    (void)err;
    const csv_agent *known =
        of == ROCL_PROPERTIES_OF_AGENT ? find_known_agent(c->state, &c->pub.agents[index]) : NULL;
    if (known && known->properties)
        rocl_buf_str(json, known->properties);
    return ROCL_OK;
}

/* What agent_info says of the agents; labels. */
static rocl_status refine_agents(rocl_records_input *in, rocl_error *err)
{
    const csv_run *run = in->state;
    rocl_capture *c = &in->capture->pub;
    (void)err;
    for (uint32_t i = 0; i < c->agent_count && run->names_agents; i++) {
        rocl_agent *a = rocl_definition_at(c, ROCL_DEFINE_AGENT, i);
        const csv_agent *known = find_known_agent(in, a);
        if (known) {
            a->absolute_index = (int64_t)known->node;
            a->logical_index = (int64_t)known->logical;
            a->type_index = (int64_t)known->ordinal;
            a->type = known->type ? known->type : a->type;
            a->type_name = known->type_name;
            a->name = known->name;
            a->vendor = known->vendor;
            a->product = known->product;
            a->model = known->model;
        } else if (a->id == a->type_index) {
            a->type_index = -1; /* "Agent 4": which GPU it is, nobody says */
        }
        if (known || a->type_index < 0)
            rocl_label_agent(in->trace, a);
    }
    return ROCL_OK;
}

/* ---- runs ------------------------------------------------------------------------------------ */

static const char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* The name of a file of a run in parts. */
typedef struct run_name {
    rocl_view folder;
    rocl_view run; /* what the files of one run share: "PREFIX_" of v3, "NAME" of v2 */
    bool kind_first;
    const char *rest; /* from ".csv" on */
} run_name;

bool rocprof_csv_run(rocl_view name, rocl_view *run, bool *kind_first)
{
    static const char *const kinds[] = {"kernel_trace",
                                        "hip_api_trace",
                                        "hsa_api_trace",
                                        "marker_api_trace",
                                        "rccl_api_trace",
                                        "rocdecode_api_trace",
                                        "rocjpeg_api_trace",
                                        "ompt_trace",
                                        "other_api_trace",
                                        "regions_trace",
                                        "instants_trace",
                                        "memory_copy_trace",
                                        "memory_allocation_trace",
                                        "scratch_memory_trace",
                                        "spm_counter_collection_trace",
                                        "counter_collection_trace",
                                        "counter_collection",
                                        "counter_sample_trace",
                                        "graph_launch_trace",
                                        "hip_event_trace",
                                        "agent_info",
                                        "pc_sampling_host_trap",
                                        "pc_sampling_stochastic",
                                        "hip_trace",
                                        "hsa_trace",
                                        "marker_trace",
                                        "rccl_trace"};
    static const char *const kinds_v2[] = {"results",       "hip_api_trace",    "hsa_api_trace",
                                           "hcc_ops_trace", "async_copy_trace", "roctx_trace",
                                           "pcs_trace"};
    *kind_first = false;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const size_t m = strlen(kinds[i]), before = name.n - m;
        if (name.n >= m && !memcmp(name.p + before, kinds[i], m) &&
            (name.n == m || name.p[before - 1] == '_')) {
            *run = (rocl_view){name.p, before};
            return true;
        }
    }
    for (size_t i = 0; i < sizeof kinds_v2 / sizeof *kinds_v2; i++) {
        const size_t m = strlen(kinds_v2[i]);
        if (name.n > m && !memcmp(name.p, kinds_v2[i], m) && name.p[m] == '_') {
            *run = (rocl_view){name.p + m + 1, name.n - m - 1};
            *kind_first = true;
            return true;
        }
    }
    return false;
}

static bool parse_run_name(const char *path, run_name *r)
{
    const char *name = name_of(path), *end = strstr(name, ".csv");
    const size_t n = end ? (size_t)(end - name) : strlen(name);
    *r = (run_name){.folder = rocl_view_between(path, name), .rest = name + n};
    return rocprof_csv_run((rocl_view){name, n}, &r->run, &r->kind_first);
}

static bool is_same_view(rocl_view a, rocl_view b)
{
    return a.n == b.n && !memcmp(a.p, b.p, a.n);
}

static bool is_same_run(const char *a, const char *b)
{
    run_name x, y;
    return parse_run_name(a, &x) && parse_run_name(b, &y) && x.kind_first == y.kind_first &&
           is_same_view(x.folder, y.folder) && is_same_view(x.run, y.run);
}

/* "4242_kernel_trace.csv", "results_4242.csv": many runs are called by the number of the process.
 */
static uint64_t read_pid(const char *path)
{
    run_name r;
    uint64_t pid;
    if (!parse_run_name(path, &r) || !r.run.n)
        return 0;
    r.run.n -= r.run.p[r.run.n - 1] == '_';
    return rocprof_decimal(r.run, &pid) && pid <= INT32_MAX ? pid : 0;
}

/* The agent_info.csv beside the files of a run that did not name it: it only adds what agents are
 * called, and what is none is left alone. */
static rocl_status look_for_agents(csv_run *run, rocl_trace *t, const char *path, rocl_error *err)
{
    run_name r;
    rocl_buf b = {0};
    rocl_spool *spool = NULL;
    csv_file f = {0};
    rocl_error *quiet = rocl_error_new();
    rocl_status st = ROCL_OK;
    if (!quiet || !parse_run_name(path, &r) || r.kind_first || !strcmp(path, "-")) {
        rocl_error_free(quiet);
        return ROCL_OK;
    }
    rocl_buf_put(&b, path, (size_t)(r.run.p + r.run.n - path));
    rocl_buf_str(&b, "agent_info");
    rocl_buf_str(&b, r.rest);
    rocl_buf_byte(&b, 0);
    struct stat info;
    if (!b.failed && stat((const char *)b.data, &info) == 0 && S_ISREG(info.st_mode) &&
        rocl_spool_open(&spool, (const char *)b.data, quiet) == ROCL_OK) {
        size_t n;
        bool whole;
        const char *head = rocl_spool_head(spool, &n, &whole);
        char *text = rocprof_is_csv(head, n, whole) ? strndup(head, n) : NULL;
        if (text && read_header(&f, path, text, strlen(text), quiet) == ROCL_OK &&
            f.table == ROCPROF_AGENTS)
            st = read_agents(run, t, &f, text, strlen(text), err);
        free(text);
        free_file(&f);
        rocl_spool_close(spool);
    }
    rocl_buf_free(&b);
    rocl_error_free(quiet);
    return st;
}

static void close_run(rocl_records_input *in)
{
    csv_run *run = in->state;
    for (size_t i = 0; run && i < run->count; i++)
        free_file(&run->files[i]);
    if (run) {
        for (size_t i = 0; i < run->agent_count; i++)
            free(run->agents[i].properties);
        rocl_map_free(&run->dispatches);
        free(run->files);
        free(run->agents);
    }
    free(run);
}

static const rocl_record_format format = {.places = ROCL_PLACES_LINES,
                                          .keeps = true,
                                          .parse = parse_piece,
                                          .free_worker = free_worker,
                                          .refine = refine_agents,
                                          .close = close_run};

/* ---- dispatches without a number --------------------------------------------------------------
 */

/* Notes the correlation ids of a file: of counter values with their dispatches, of a trace of
 * kernels
 * (`seen`) that they come again. False: memory is out, or there are too many. */
static bool note_links(csv_run *run, const csv_file *f, char *text, size_t n, rocl_map *seen)
{
    rocl_view fields[256];
    char *at = text, *p;
    size_t length;
    bool ok = true;
    while (ok && (p = next_row(&at, text + n, &length))) {
        uint64_t link, number = 0;
        if (rocprof_csv_fields(p, length, f->count, f->text_column, fields, 256) != f->count)
            continue;
        const rocl_view *v = find_field(f, fields, ROCPROF_LINK),
                        *dispatch = find_field(f, fields, ROCPROF_DISPATCH);
        if (!rocprof_decimal(*v, &link) || (dispatch && !rocprof_decimal(*dispatch, &number)) ||
            !link || number >= UINT32_MAX - 1)
            continue;
        const uint32_t known = rocl_map_get(&run->dispatches, link, ROCL_NONE);
        if (!seen && (known == ROCL_NONE || (known && known != number + 1)))
            ok =
                rocl_map_put(&run->dispatches, link, known == ROCL_NONE ? (uint32_t)number + 1 : 0);
        else if (seen && known && known != ROCL_NONE && rocl_map_get(seen, link, 0))
            ok = rocl_map_put(&run->dispatches, link, 0);
        else if (seen && known && known != ROCL_NONE)
            ok = rocl_map_put(seen, link, 1);
        ok = ok && run->dispatches.count <= JOINED_MAX;
    }
    return ok;
}

static rocl_status note_links_of(csv_run *run, const csv_file *f, const rocl_spool *spool,
                                 char *text, rocl_map *seen, bool *ok, rocl_error *err)
{
    rocl_status st = ROCL_OK;
    size_t got;
    for (uint64_t at = f->first_row; *ok && at < rocl_spool_size(spool) && st == ROCL_OK;) {
        st = rocl_spool_read(spool, text, HEADER_MAX, at, &got, err);
        const char *lf = st == ROCL_OK ? memrchr(text, '\n', got) : NULL;
        const size_t whole = lf ? (size_t)(lf + 1 - text) : got;
        if (st == ROCL_OK)
            *ok = note_links(run, f, text, whole, seen);
        at += whole;
    }
    return st;
}

/* rocprofv3 of ROCm 6.2 does not number the dispatches in its trace of kernels, but counter values
 * do: a dispatch that alone has its correlation id gets the number that its values have. */
static rocl_status join_dispatches(csv_run *run, const rocl_records_input *in, char *text,
                                   rocl_error *err)
{
    rocl_map seen = {0};
    rocl_status st = ROCL_OK;
    bool ok = true, nameless = false;
    for (size_t i = 0; i < run->count; i++) {
        const csv_file *f = &run->files[i];
        nameless |= f->table == ROCPROF_DISPATCHES && f->has & ROCPROF_BIT(LINK) &&
                    !(f->has & ROCPROF_BIT(DISPATCH)) && f->count <= 256;
    }
    for (int trace = 0; trace < 2 && nameless; trace++)
        for (size_t i = 0; i < run->count && st == ROCL_OK; i++) {
            const csv_file *f = &run->files[i];
            const bool numbered = f->has & ROCPROF_BIT(DISPATCH);
            if (f->has & ROCPROF_BIT(LINK) && f->count <= 256 &&
                (trace ? f->table == ROCPROF_DISPATCHES && !numbered
                       : f->table == ROCPROF_COUNTERS && numbered))
                st =
                    note_links_of(run, f, in->files[i].spool, text, trace ? &seen : NULL, &ok, err);
        }
    if (!ok) { /* they stay as they are */
        rocl_map_free(&run->dispatches);
        run->dispatches = (rocl_map){0};
    }
    rocl_map_free(&seen);
    return st;
}

/* Headers, agents, and what is said of files whose dispatches have no times. */
static rocl_status read_heads(csv_run *run, rocl_records_input *in, rocl_source *s, rocl_trace *t,
                              rocl_error *err)
{
    char *text = malloc(AGENTS_MAX + 1);
    bool has_agents = false;
    size_t got, seen = SIZE_MAX; /* the file that says what agents are called */
    rocl_status st = text ? ROCL_OK : rocl_fail_memory(err);
    for (uint32_t i = 0; i < in->file_count && st == ROCL_OK; i++) {
        csv_file *f = &run->files[i];
        st = rocl_spool_read(in->files[i].spool, text, HEADER_MAX, 0, &got, err);
        if (st == ROCL_OK)
            st = read_header(f, in->files[i].path, text, got, err);
        if (st != ROCL_OK)
            break;
        run->has_dispatches |= f->table == ROCPROF_DISPATCHES;
        run->names_agents |= f->names_agents || f->table == ROCPROF_AGENTS;
        const bool on_gpu = f->table == ROCPROF_DISPATCHES || f->table == ROCPROF_COUNTERS;
        if (f->has & (ROCPROF_BIT(AGENT) | ROCPROF_BIT(SOURCE)) && (seen == SIZE_MAX || on_gpu))
            seen = i;
        if (f->table == ROCPROF_AGENTS) {
            has_agents = true;
            st = rocl_spool_read(in->files[i].spool, text, AGENTS_MAX, 0, &got, err);
            if (st == ROCL_OK)
                st = read_agents(run, t, f, text, got, err);
        } else if (on_gpu && !(f->has & ROCPROF_BIT(START))) {
            const bool counts = f->has_counters || f->table == ROCPROF_COUNTERS;
            s->remark = counts ? "dispatches without times: only their counters are read"
                               : "dispatches without times and counters: nothing is read";
            s->truncated |= !counts;
            f->table = counts ? f->table : ROCPROF_UNKNOWN;
        }
        if (st == ROCL_OK && f->table != ROCPROF_AGENTS && f->table != ROCPROF_UNKNOWN &&
            !rocl_records_cut(in, i, f->table, 0))
            st = rocl_fail_memory(err);
    }
    if (st == ROCL_OK && in->file_count > 1)
        st = join_dispatches(run, in, text, err);
    if (st == ROCL_OK && !has_agents && run->names_agents)
        st = look_for_agents(run, t, s->path, err);
    if (st == ROCL_OK && run->agent_count) {
        csv_agent_form form = BY_LOGICAL;
        if (seen != SIZE_MAX)
            st = rocl_spool_read(in->files[seen].spool, text, HEADER_MAX, 0, &got, err);
        if (st == ROCL_OK && seen != SIZE_MAX)
            form = find_agent_form(run, &run->files[seen], text, got);
        if (st == ROCL_OK && !define_agents(run, in, form))
            st = rocl_fail_memory(err);
    }
    free(text);
    return st;
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
    in->likely_process = read_pid(s->path);
    st = read_heads(run, in, s, t, err);
    return st ? st : rocl_records_index(in, err);
}

const rocl_source_ops rocl_rocprof_csv_ops = {ROCL_RECORDS_OPS(open_run), .same_run = is_same_run,
                                              .properties = put_properties};
