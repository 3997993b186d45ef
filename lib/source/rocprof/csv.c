/* CSV files of rocprof v1, v2 and v3 and of rocpd: the header says which table it is, columns are
 * known by name. The files of one run (PREFIX_kernel_trace.csv, PREFIX_hip_api_trace.csv, ...) are
 * one input; PREFIX_agent_info.csv tells the names of its agents, and our PREFIX_process_info.csv
 * host, rank and uuids. */
#include <stdlib.h>

#include "source/rocprof/csv_file.h"
#include "source/rocprof/rocprof.h"

enum { AGENTS_MAX = 4 << 20, RECORD_MAX = 64 << 20, JOINED_MAX = 1 << 22 };

typedef struct csv_worker {
    rocl_view fields[CSV_FIELDS_MAX];
    rocprof_row row;
    rocprof_counter counters[CSV_FIELDS_MAX];
    char dispatch[96]; /* of the row before: its number and process, as texts */
    size_t dispatch_size;
    rocl_buf record;   /* the lines so far of a row with an open quote */
    size_t record_end; /* length of the end of its last line */
    uint64_t record_where, record_line;
} csv_worker;

/* ---- rows ------------------------------------------------------------------------------------ */

/* Is it another dispatch than that of the row before? */
static bool is_next_dispatch(csv_worker *w)
{
    static const rocprof_column keys[] = {ROCPROF_DISPATCH, ROCPROF_PROCESS, ROCPROF_GUID};
    char text[sizeof w->dispatch];
    size_t n = 0;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const rocl_view v =
            w->row.has >> keys[i] & 1 ? w->row.value[keys[i]].text : (rocl_view){"", 0};
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
    row->of_csv = true;
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

static const char wrong_count[] = "more or fewer fields than the header has";

/* Texts hold line ends as they are. */
static void keep_line(rocl_records *to, csv_worker *w, const char *p, size_t n)
{
    const rocl_view end = rocl_records_line_end(to);
    rocl_buf_put(&w->record, p, n);
    rocl_buf_put(&w->record, end.p, end.n);
    w->record_end = end.n;
}

/* Puts the row of w->record if it has ended. `more`: a line may follow that belongs to it. */
static rocl_status put_record(rocl_records *to, const csv_run *run, const csv_file *f,
                              csv_worker *w, bool more, rocl_error *err)
{
    rocl_buf_byte(&w->record, 0);
    if (w->record.failed)
        return rocl_fail_memory(err);
    w->record.len--;
    more = more && w->record.len <= RECORD_MAX;
    const size_t count =
        rocprof_csv_fields((char *)w->record.data, w->record.len - w->record_end, f->count,
                           f->text_column, w->fields, CSV_FIELDS_MAX, more);
    if (count >= ROCPROF_CSV_OPEN && more)
        return ROCL_OK;
    w->record.len = 0;
    if (count == f->count)
        return put_row(to, run, f, w, w->record_where, err);
    return rocl_record_fault_at(to, w->record_line, w->record_where, ROCL_FAULT_BAD_LINE,
                                wrong_count);
}

static rocl_status parse_line(rocl_records *to, char *p, size_t n, uint64_t where, rocl_error *err)
{
    const csv_run *run = rocl_records_input_of(to)->state;
    const csv_file *f = &run->files[rocl_records_piece(to)->file];
    csv_worker *w = rocl_records_state(to);
    rocl_status st = ROCL_OK;
    if (where < f->first_row)
        return ROCL_OK;
    if (w->record.len) { /* texts may hold line ends */
        if (rocprof_csv_continues(p, n)) {
            keep_line(to, w, p, n);
            return put_record(to, run, f, w, true, err);
        }
        st = put_record(to, run, f, w, false, err);
    }
    if (!n || st != ROCL_OK) /* v2 leaves the second line empty */
        return st;
    const size_t count =
        rocprof_csv_fields(p, n, f->count, f->text_column, w->fields, CSV_FIELDS_MAX, true);
    if (count == f->count)
        return put_row(to, run, f, w, where, err);
    if (count < ROCPROF_CSV_OPEN)
        return rocl_record_fault(to, where, ROCL_FAULT_BAD_LINE, wrong_count);
    keep_line(to, w, p, n);
    w->record_where = where;
    w->record_line = rocl_records_line_number(to);
    return w->record.failed ? rocl_fail_memory(err) : ROCL_OK;
}

static rocl_status parse_piece(rocl_records_input *in, rocl_records *to, const rocl_piece *piece,
                               rocl_error *err)
{
    const csv_run *run = in->state;
    csv_worker *w = rocl_records_own(to, sizeof *w);
    if (!w)
        return rocl_fail_memory(err);
    w->dispatch_size = 0;
    w->record.len = 0;
    rocl_status st = rocl_records_lines(to, parse_line, rocprof_csv_continues, err);
    return st == ROCL_OK && w->record.len
               ? put_record(to, run, &run->files[piece->file], w, false, err)
               : st;
}

static void free_worker(void *state)
{
    csv_worker *w = state;
    rocl_buf_free(&w->record);
    free(w);
}

/* ---- runs ------------------------------------------------------------------------------------ */

static bool is_same_view(rocl_view a, rocl_view b)
{
    return a.n == b.n && !memcmp(a.p, b.p, a.n);
}

static bool is_same_run(const char *a, const char *b)
{
    csv_run_name x, y;
    return csv_parse_run_name(a, &x) && csv_parse_run_name(b, &y) && x.kind_first == y.kind_first &&
           is_same_view(x.folder, y.folder) && is_same_view(x.run, y.run);
}

static void close_run(rocl_records_input *in)
{
    csv_run *run = in->state;
    for (size_t i = 0; i < run->count; i++)
        csv_free_file(&run->files[i]);
    for (size_t i = 0; i < run->agent_count; i++)
        free(run->agents[i].properties);
    rocl_map_free(&run->dispatches);
    rocprof_who_free(&run->who);
    free(run->files);
    free(run->agents);
}

/* ---- dispatches without a number --------------------------------------------------------------
 */

/* Notes the correlation ids of a file: those of counter values with their dispatches; for a trace
 * of kernels (`seen`), which ids repeat. *ok false: memory is out, or there are too many. */
static rocl_status note_links(csv_run *run, const csv_file *f, const rocl_spool *spool, char *text,
                              rocl_map *seen, bool *ok, rocl_error *err)
{
    rocl_view fields[CSV_SHORT_MAX];
    rocl_status st = ROCL_OK;
    size_t got, length;
    for (uint64_t at = f->first_row; *ok && at < rocl_spool_size(spool) && st == ROCL_OK;) {
        st = rocl_spool_read(spool, text, CSV_HEADER_MAX, at, &got, err);
        const char *end = st == ROCL_OK ? memrchr(text, '\n', got) : NULL;
        if (st == ROCL_OK && !end)
            end = memrchr(text, '\r', got);
        const size_t whole = end ? (size_t)(end + 1 - text) : got;
        char *next = text, *p;
        while (st == ROCL_OK && *ok && (p = csv_next_row(&next, text + whole, &length))) {
            uint64_t link, number = 0;
            if (rocprof_csv_fields(p, length, f->count, f->text_column, fields, CSV_SHORT_MAX,
                                   false) != f->count)
                continue;
            const rocl_view *v = csv_find_field(f, fields, ROCPROF_LINK),
                            *dispatch = csv_find_field(f, fields, ROCPROF_DISPATCH);
            if (!rocprof_decimal(*v, &link) || (dispatch && !rocprof_decimal(*dispatch, &number)) ||
                !link || number >= UINT32_MAX - 1)
                continue;
            const uint32_t known = rocl_map_get(&run->dispatches, link, ROCL_NONE);
            if (!seen && (known == ROCL_NONE || (known && known != number + 1)))
                *ok = rocl_map_put(&run->dispatches, link,
                                   known == ROCL_NONE ? (uint32_t)number + 1 : 0);
            else if (seen && known && known != ROCL_NONE && rocl_map_get(seen, link, 0))
                *ok = rocl_map_put(&run->dispatches, link, 0);
            else if (seen && known && known != ROCL_NONE)
                *ok = rocl_map_put(seen, link, 1);
            *ok = *ok && run->dispatches.count <= JOINED_MAX;
        }
        at += whole;
    }
    return st;
}

/* rocprofv3 of ROCm 6.2 numbers dispatches in counter values, but not in its trace of kernels: a
 * dispatch with a unique correlation id gets the number of its values. */
static rocl_status join_dispatches(csv_run *run, const rocl_records_input *in, char *text,
                                   rocl_error *err)
{
    rocl_map seen = {0};
    rocl_status st = ROCL_OK;
    bool ok = true, nameless = false;
    for (size_t i = 0; i < run->count; i++) {
        const csv_file *f = &run->files[i];
        nameless |= f->table == ROCPROF_DISPATCHES && f->has & ROCPROF_BIT(LINK) &&
                    !(f->has & ROCPROF_BIT(DISPATCH)) && f->count <= CSV_SHORT_MAX;
    }
    for (int trace = 0; trace < 2 && nameless; trace++)
        for (size_t i = 0; i < run->count && st == ROCL_OK; i++) {
            const csv_file *f = &run->files[i];
            const bool numbered = f->has & ROCPROF_BIT(DISPATCH);
            if (f->has & ROCPROF_BIT(LINK) && f->count <= CSV_SHORT_MAX &&
                (trace ? f->table == ROCPROF_DISPATCHES && !numbered
                       : f->table == ROCPROF_COUNTERS && numbered))
                st = note_links(run, f, in->files[i].spool, text, trace ? &seen : NULL, &ok, err);
        }
    if (!ok) { /* they stay as they are */
        rocl_map_free(&run->dispatches);
        run->dispatches = (rocl_map){0};
    }
    rocl_map_free(&seen);
    return st;
}

/* Reads headers and agents, and reports files whose dispatches have no times. */
static rocl_status read_heads(csv_run *run, rocl_records_input *in, rocl_error *err)
{
    rocl_source *s = in->source;
    rocl_trace *t = in->trace;
    static const char cut[] = "the file is truncated: its first line has no end";
    char *text = malloc(AGENTS_MAX + 1);
    bool has_agents = false, has_process = false;
    size_t got, seen = SIZE_MAX; /* the file with the names of agents */
    rocl_status st = text ? ROCL_OK : rocl_fail_memory(err);
    for (uint32_t i = 0; i < in->file_count && st == ROCL_OK; i++) {
        csv_file *f = &run->files[i];
        st = rocl_spool_read(in->files[i].spool, text, CSV_HEADER_MAX, 0, &got, err);
        if (st == ROCL_OK)
            st = csv_read_header(f, in->files[i].path, text, got, err);
        if (st == ROCL_OK && f->is_cut && t->opt.strict)
            st = rocl_fail(err, ROCL_INPUT, "%s: %s", in->files[i].path, cut);
        if (st != ROCL_OK)
            break;
        if (f->is_cut) { /* it has no rows any more */
            rocl_notice(t, "%s: %s", in->files[i].path, cut);
            s->truncated = true;
        }
        run->has_dispatches |= f->table == ROCPROF_DISPATCHES;
        run->names_agents |= f->names_agents || f->table == ROCPROF_AGENTS;
        const bool on_gpu = f->table == ROCPROF_DISPATCHES || f->table == ROCPROF_COUNTERS;
        if (f->has & (ROCPROF_BIT(AGENT) | ROCPROF_BIT(SOURCE)) && (seen == SIZE_MAX || on_gpu))
            seen = i;
        if (f->table == ROCPROF_AGENTS) {
            has_agents |= !csv_is_process_info(f);
            has_process |= csv_is_process_info(f);
            st = rocl_spool_read(in->files[i].spool, text, AGENTS_MAX, 0, &got, err);
            if (st == ROCL_OK)
                st = csv_read_agents(run, t, f, text, got, err);
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
        st = csv_look_beside(run, t, s->path, "agent_info", err);
    if (st == ROCL_OK && !has_process && run->names_agents)
        st = csv_look_beside(run, t, s->path, "process_info", err);
    if (st == ROCL_OK && run->who.process_count == 1 && !in->likely_process)
        in->likely_process = run->who.processes[0].key;
    if (st == ROCL_OK && run->agent_count) {
        csv_agent_form form = BY_LOGICAL;
        if (seen != SIZE_MAX)
            st = rocl_spool_read(in->files[seen].spool, text, CSV_HEADER_MAX, 0, &got, err);
        if (st == ROCL_OK && seen != SIZE_MAX)
            form = csv_find_agent_form(run, &run->files[seen], text, got);
        if (st == ROCL_OK && !csv_define_agents(run, in, form))
            st = rocl_fail_memory(err);
    }
    free(text);
    return st;
}

static rocl_status open_run(rocl_records_input *in, rocl_error *err)
{
    csv_run *run = in->state;
    if (!(run->files = calloc(in->file_count, sizeof *run->files)) ||
        !rocprof_intern_words(&run->words, in->trace))
        return rocl_fail_memory(err);
    run->count = in->file_count;
    /* "4242_kernel_trace.csv", "results_4242.csv": many runs are named by the pid. */
    csv_run_name name;
    uint64_t pid;
    if (csv_parse_run_name(in->source->path, &name) && name.run.n) {
        name.run.n -= name.run.p[name.run.n - 1] == '_';
        if (rocprof_decimal(name.run, &pid) && pid <= INT32_MAX)
            in->likely_process = pid;
    }
    return read_heads(run, in, err);
}

static const rocl_record_format format = {.state_size = sizeof(csv_run),
                                          .open = open_run,
                                          .places = ROCL_PLACES_LINES,
                                          .keeps = true,
                                          .parse = parse_piece,
                                          .free_worker = free_worker,
                                          .refine = csv_refine_agents,
                                          .close = close_run};

const rocl_source_ops rocl_rocprof_csv_ops = {ROCL_RECORDS_OPS(format), .same_run = is_same_run,
                                              .properties = csv_put_properties};
