/* The header of reports for people: what was traced, in one row of texts. Files are without their
 * folders and without the time of writing, so that a copy of a trace has the same report. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "analysis/report.h"
#include "base/buf.h"
#include "trace/open.h"

enum { MOST_NAMED = 3 };

enum { FILES, RUNS, DATE, HOSTS, GPUS, PROCESSES, DURATION, BEGIN, EVENTS, LEFT_OUT };
_Static_assert((int)DURATION == ROCL_HEADER_DURATION, "others read it");

static rocl_field_fn field_header;

/* The row is an array of cells. */
#define CELL(i) ROCL_ALWAYS, field_header, (i) * sizeof(rocl_datum)
static const rocl_column columns[] = {
    {"files", "Files", ROCL_UNIT_SENTENCE, CELL(FILES)},
    {"runs", "Runs", ROCL_UNIT_SENTENCE, ROCL_IF_OWN, field_header, RUNS * sizeof(rocl_datum)},
    {"recorded", "Recorded", ROCL_UNIT_TEXT, CELL(DATE)},
    {"hosts", "Hosts", ROCL_UNIT_SENTENCE, CELL(HOSTS)},
    {"gpus", "GPUs", ROCL_UNIT_SENTENCE, CELL(GPUS)},
    {"processes", "Processes", ROCL_UNIT_SENTENCE, CELL(PROCESSES)},
    {"duration_ns", "Duration", ROCL_UNIT_NS, CELL(DURATION)},
    {"begin_ns", "Begin, in ns", ROCL_UNIT_COUNT, CELL(BEGIN)},
    {"events", "Events read", ROCL_UNIT_SENTENCE, CELL(EVENTS)},
    {"left_out", "Left out", ROCL_UNIT_SENTENCE, CELL(LEFT_OUT)},
};

static const rocl_table_tab tab = {"overview", "Overview"};
const rocl_table_def rocl_header_tables[] = {
    [ROCL_HEADER] = {&tab, "trace", "Trace", ROCL_COLUMNS(columns)},
    [ROCL_HEADER_A] = {&tab, "trace_a", "Trace A", ROCL_COLUMNS(columns)},
    [ROCL_HEADER_B] = {&tab, "trace_b", "Trace B", ROCL_COLUMNS(columns)},
};

/* ---- lists ----------------------------------------------------------------------------------- */

/* Texts, each once, with how often it came. */
typedef struct tally {
    struct tally_text {
        const char *text;
        size_t len, count;
    } * all;
    size_t n, cap;
} tally;

static void count_text(tally *t, rocl_buf *b, const char *text, size_t len)
{
    for (size_t i = 0; i < t->n; i++)
        if (!rocl_compare_bytes(t->all[i].text, t->all[i].len, text, len)) {
            t->all[i].count++;
            return;
        }
    if (ROCL_GROW(t->all, t->cap, t->n + 1))
        t->all[t->n++] = (struct tally_text){text, len, 1};
    else
        b->failed = true;
}

/* "a, b, c and 5 more"; with counts "4 x a, 2 x b". Frees the texts. */
static void put_list(rocl_buf *b, tally *t, bool counts)
{
    for (size_t i = 0; i < t->n && i < MOST_NAMED; i++) {
        rocl_buf_str(b, i ? ", " : "");
        if (counts)
            rocl_buf_printf(b, "%zu x ", t->all[i].count);
        rocl_buf_put(b, t->all[i].text, t->all[i].len);
    }
    if (t->n > MOST_NAMED)
        rocl_buf_printf(b, " and %zu more", t->n - MOST_NAMED);
    free(t->all);
}

/* Follows what no input says itself. */
#define DERIVED " (from names of files)"

/* ---- fields ---------------------------------------------------------------------------------- */

/* "rank0.db, rank1.db and 6 more (rocpd database)" */
static void put_files(rocl_buf *b, const rocl_trace *t)
{
    tally formats = {0};
    for (size_t i = 0; i < rocl_trace_inputs(t); i++) {
        const char *format = rocl_trace_input(t, i).format;
        count_text(&formats, b, format, strlen(format));
    }
    rocl_put_input_names(b, t);
    rocl_buf_str(b, " (");
    put_list(b, &formats, false);
    rocl_buf_byte(b, ')');
}

/* "2 (at times that do not overlap; --run N chooses one)"; nothing of one run. */
static void put_runs(rocl_buf *b, const rocl_trace *t)
{
    if (t->run_count < 2)
        return;
    if (t->opt.run)
        rocl_buf_printf(b, "run %u of %u", t->opt.run, t->run_count);
    else
        rocl_buf_printf(b, "%u (at times that do not overlap; --run N chooses one)", t->run_count);
}

/* "node1, node2 (from names of files)", "4 without a name": where nobody says so, each process may
 * have had a host of its own. */
static void put_hosts(rocl_buf *b, const rocl_trace *t)
{
    tally names = {0};
    size_t derived = 0;
    for (uint32_t m = 0; m < t->machine_count; m++) {
        const char *name = rocl_machine_name(t, m);
        derived += t->machines[m].said_by == ROCL_SAID_BY_NAME;
        if (rocl_machine_is_named(&t->machines[m]))
            count_text(&names, b, name, strlen(name));
    }
    put_list(b, &names, false);
    rocl_buf_str(b, derived ? DERIVED : "");
    if (t->machine_count > t->named_count && t->machine_count > 1)
        rocl_buf_printf(b, "%s%zu without a name", names.n ? ", " : "",
                        t->machine_count - t->named_count);
}

/* "4 x AMD Instinct MI300X"; the number alone where no name is known */
static void put_gpus(rocl_buf *b, const rocl_trace *t)
{
    tally names = {0};
    for (size_t i = 0; i < t->gpu_count; i++) {
        const rocl_agent *a = rocl_gpu_agent(t, &t->gpus[i]);
        const uint32_t name = a->product ? a->product : a->name;
        const char *text = name && name != ROCL_NONE ? rocl_str(t, name) : "";
        if (*text)
            count_text(&names, b, text, strlen(text));
    }
    if (!names.n)
        rocl_buf_printf(b, "%zu", t->gpu_count);
    put_list(b, &names, true);
}

/* "2, ranks 0 to 1: train"; the arguments of a command may be secret. */
static void put_processes(rocl_buf *b, const rocl_trace *t)
{
    tally commands = {0};
    size_t count = 0, derived = 0;
    int32_t lowest = INT32_MAX, highest = -1;
    for (size_t i = 0; i < t->capture_count; i++) {
        const rocl_capture *c = &t->captures[i]->pub;
        for (uint32_t k = 0; k < c->process_count; k++) {
            const rocl_process *p = &c->processes[k];
            const char *command =
                p->command && p->command != ROCL_NONE ? rocl_str(t, p->command) : "";
            const size_t len = strcspn(command, " \t\n");
            const char *slash = memrchr(command, '/', len);
            const char *name = slash && slash + 1 < command + len ? slash + 1 : command;
            count++;
            derived += p->rank >= 0 && p->said_by == ROCL_SAID_BY_NAME;
            if (p->rank >= 0 && p->rank < lowest)
                lowest = p->rank;
            highest = p->rank > highest ? p->rank : highest;
            if (len)
                count_text(&commands, b, name, (size_t)(command + len - name));
        }
    }
    rocl_buf_printf(b, "%zu", count);
    if (highest >= 0)
        rocl_buf_printf(b, lowest == highest ? ", rank %d" : ", ranks %d to %d", lowest, highest);
    rocl_buf_str(b, derived ? DERIVED : "");
    rocl_buf_str(b, commands.n ? ": " : "");
    put_list(b, &commands, false);
}

/* "3979: 3139 region, 466 kernel, 74 copy" */
static void put_events(rocl_buf *b, const rocl_trace *t)
{
    uint64_t sum = 0;
    for (rocl_kind k = 0; k < ROCL_KINDS; k++)
        sum += rocl_trace_events(t, k);
    rocl_buf_printf(b, "%" PRIu64, sum);
    const char *between = ": ";
    for (rocl_kind k = 0; k < ROCL_KINDS; k++) {
        const uint64_t n = rocl_trace_events(t, k);
        if (!n)
            continue;
        rocl_buf_printf(b, "%s%" PRIu64 " %s", between, n, rocl_kind_name(k));
        between = ", ";
    }
}

static void put_left_out(rocl_buf *b, const rocl_trace *t)
{
    uint64_t left_out = 0, repaired = 0;
    for (rocl_fault f = 0; f < ROCL_FAULTS; f++)
        *(rocl_fault_drops(f) ? &left_out : &repaired) += rocl_trace_faults(t, f);
    if (left_out)
        rocl_buf_printf(b, "%" PRIu64 " record%s", left_out, left_out == 1 ? "" : "s");
    else
        rocl_buf_str(b, "nothing");
    if (repaired)
        rocl_buf_printf(b, "; %" PRIu64 " repaired", repaired);
}

/* Clocks that count from 1970, as PyTorch's and Chrome's do, tell the date; those that count from
 * the boot do not. */
static void put_date(rocl_buf *b, int64_t first)
{
    const int64_t second = 1000000000, year_2010 = 1262304000;
    const time_t at = (time_t)(first / second);
    char text[48];
    struct tm tm;
    if (at < year_2010 || !gmtime_r(&at, &tm) ||
        !strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S UTC", &tm))
        return;
    rocl_buf_str(b, text);
}

/* ---- the row --------------------------------------------------------------------------------- */

_Static_assert(sizeof columns / sizeof *columns == ROCL_HEADER_FIELDS, "a cell for each column");

const char *rocl_header_key(unsigned i)
{
    return columns[i].key;
}

bool rocl_header_is_text(unsigned i)
{
    return i != DURATION && i != BEGIN;
}

rocl_status rocl_make_header(rocl_datum cells[ROCL_HEADER_FIELDS], rocl_tables *texts,
                             const rocl_trace *t, rocl_error *err)
{
    rocl_buf b[ROCL_HEADER_FIELDS] = {0};
    int64_t first, last;
    const bool timed = rocl_trace_times(t, &first, &last);
    bool failed = false;
    put_files(&b[FILES], t);
    put_hosts(&b[HOSTS], t);
    put_gpus(&b[GPUS], t);
    put_processes(&b[PROCESSES], t);
    put_runs(&b[RUNS], t);
    put_events(&b[EVENTS], t);
    put_left_out(&b[LEFT_OUT], t);
    if (timed)
        put_date(&b[DATE], first);
    for (unsigned i = 0; i < ROCL_HEADER_FIELDS; i++) {
        cells[i] = (rocl_datum){0};
        if (rocl_header_is_text(i) && b[i].len)
            cells[i] = rocl_datum_text(texts, (const char *)b[i].data, b[i].len);
        failed |= b[i].failed;
        rocl_buf_free(&b[i]);
    }
    if (!t->gpu_count)
        cells[GPUS] = (rocl_datum){0};
    if (timed) {
        cells[BEGIN] = rocl_datum_int(first);
        cells[DURATION] = rocl_datum_int(last - first);
    }
    return failed || texts->incomplete ? rocl_fail_memory(err) : ROCL_OK;
}

static rocl_datum field_header(const rocl_report_rows *r, const void *field)
{
    const rocl_datum *d = field;
    return d->type == ROCL_DATUM_TEXT ? rocl_datum_text(r->out, d->text, d->len) : *d;
}

void rocl_put_header_cells(rocl_tables *out, const rocl_datum cells[ROCL_HEADER_FIELDS],
                           rocl_header which)
{
    const rocl_stats_options options = {0};
    const rocl_collector c = {.options = &options};
    const bool several = cells[RUNS].type == ROCL_DATUM_TEXT;
    const rocl_report_rows r =
        rocl_begin_table(&c, out, &rocl_header_tables[which], several ? ROCL_IF_OWN : 0);
    if (r.table)
        r.table->fields = r.table->header = true;
    rocl_add_row(&r, cells);
}

rocl_status rocl_put_header(rocl_tables *out, const rocl_trace *t, rocl_header which,
                            rocl_error *err)
{
    rocl_datum cells[ROCL_HEADER_FIELDS];
    rocl_status st = rocl_make_header(cells, out, t, err);
    if (st == ROCL_OK)
        rocl_put_header_cells(out, cells, which);
    return st;
}
