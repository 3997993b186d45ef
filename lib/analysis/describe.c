/* What a trace is, as tables: its files, hosts, GPUs and processes, and what the last run over it
 * has counted. Nothing is read for that. Also the tables of inputs that were checked. */
#include "analysis/report.h"

#include <math.h>
#include <time.h>

#include "model/ranks.h"

/* ---- rows ---- */

typedef struct total_row {
    uint64_t files, hosts, gpus, processes, events, left_out, repaired;
    uint64_t ranks; /* numbers: a rank of several processes is one */
    uint64_t runs;
    int64_t first, last, duration; /* -1: not known */
} total_row;

typedef struct file_row {
    const char *path, *format, *version, *writer, *modified;
    int64_t bytes; /* -1: not known */
    uint64_t processes;
} file_row;

typedef struct host_row {
    uint64_t machine;
    const char *host, *said_by;
    uint32_t system, release; /* texts */
    uint64_t processes, gpus;
} host_row;

typedef struct gpu_row {
    uint64_t gpu, machine;
    const char *host;
    uint32_t name, product, uuid, pci; /* texts */
} gpu_row;

typedef struct process_row {
    uint32_t guid, command; /* texts */
    int64_t pid;            /* -1: not known, like those below */
    int32_t rank;
    const char *rank_said_by, *host, *file;
    int64_t start, end;
    uint64_t threads, queues, streams, machine, run;
} process_row;

typedef struct kind_row {
    const char *kind;
    uint64_t events;
} kind_row;

typedef struct fault_row {
    const char *fault, *outcome;
    uint64_t records;
} fault_row;

/* ---- columns ---- */

static const rocl_table_tab tab = {"trace", "Trace"};

#define CELL(row, field)  ROCL_ALWAYS, ROCL_CELL(row, field)
#define KNOWN(row, field) ROCL_ALWAYS, ROCL_CELL_BY(rocl_field_known, row, field)
#define LABEL(row, field) ROCL_ALWAYS, ROCL_CELL_BY(rocl_field_label, row, field)

static const rocl_column total_columns[] = {
    {"files", "Files", ROCL_UNIT_COUNT, CELL(total_row, files)},
    {"hosts", "Hosts", ROCL_UNIT_COUNT, CELL(total_row, hosts)},
    {"gpus", "GPUs", ROCL_UNIT_COUNT, CELL(total_row, gpus)},
    {"processes", "Processes", ROCL_UNIT_COUNT, CELL(total_row, processes)},
    {"ranks", "Ranks", ROCL_UNIT_COUNT, CELL(total_row, ranks)},
    {"runs", "Runs", ROCL_UNIT_COUNT, CELL(total_row, runs)},
    {"events", "Events", ROCL_UNIT_COUNT, CELL(total_row, events)},
    {"left_out", "Left out", ROCL_UNIT_COUNT, CELL(total_row, left_out)},
    {"repaired", "Repaired", ROCL_UNIT_COUNT, CELL(total_row, repaired)},
    {"first_ns", "First event", ROCL_UNIT_COUNT, KNOWN(total_row, first)},
    {"last_ns", "Last event", ROCL_UNIT_COUNT, KNOWN(total_row, last)},
    {"duration_ns", "Duration", ROCL_UNIT_NS, KNOWN(total_row, duration)},
};

static const rocl_column file_columns[] = {
    {"path", "File", ROCL_UNIT_TEXT, CELL(file_row, path)},
    {"format", "Format", ROCL_UNIT_TEXT, CELL(file_row, format)},
    {"version", "Version", ROCL_UNIT_TEXT, CELL(file_row, version)},
    {"writer", "Written by", ROCL_UNIT_TEXT, CELL(file_row, writer)},
    {"modified", "Modified (UTC)", ROCL_UNIT_TEXT, CELL(file_row, modified)},
    {"bytes", "Size", ROCL_UNIT_BYTES, KNOWN(file_row, bytes)},
    {"captures", "Captures", ROCL_UNIT_COUNT, CELL(file_row, processes)},
};

static const rocl_column host_columns[] = {
    {"machine", "Machine", ROCL_UNIT_COUNT, CELL(host_row, machine)},
    {"host", "Host", ROCL_UNIT_TEXT, CELL(host_row, host)},
    {"known_by", "Known by", ROCL_UNIT_TEXT, CELL(host_row, said_by)},
    {"system", "System", ROCL_UNIT_TEXT, LABEL(host_row, system)},
    {"release", "Release", ROCL_UNIT_TEXT, LABEL(host_row, release)},
    {"processes", "Processes", ROCL_UNIT_COUNT, CELL(host_row, processes)},
    {"gpus", "GPUs", ROCL_UNIT_COUNT, CELL(host_row, gpus)},
};

static const rocl_column gpu_columns[] = {
    {"gpu", "GPU", ROCL_UNIT_COUNT, CELL(gpu_row, gpu)},
    {"machine", "Machine", ROCL_UNIT_COUNT, CELL(gpu_row, machine)},
    {"host", "Host", ROCL_UNIT_TEXT, CELL(gpu_row, host)},
    {"name", "Name", ROCL_UNIT_TEXT, LABEL(gpu_row, name)},
    {"product", "Product", ROCL_UNIT_TEXT, LABEL(gpu_row, product)},
    {"uuid", "UUID", ROCL_UNIT_TEXT, LABEL(gpu_row, uuid)},
    {"pci", "PCI address", ROCL_UNIT_TEXT, LABEL(gpu_row, pci)},
};

static const rocl_column process_columns[] = {
    {"pid", "Process", ROCL_UNIT_COUNT, KNOWN(process_row, pid)},
    {"rank", "Rank", ROCL_UNIT_COUNT, CELL(process_row, rank)},
    {"rank_known_by", "Rank known by", ROCL_UNIT_TEXT, CELL(process_row, rank_said_by)},
    {"machine", "Machine", ROCL_UNIT_COUNT, CELL(process_row, machine)},
    {"host", "Host", ROCL_UNIT_TEXT, CELL(process_row, host)},
    {"run", "Run", ROCL_UNIT_COUNT, CELL(process_row, run)},
    {"command", "Command", ROCL_UNIT_TEXT, LABEL(process_row, command)},
    {"start_ns", "Start", ROCL_UNIT_COUNT, KNOWN(process_row, start)},
    {"end_ns", "End", ROCL_UNIT_COUNT, KNOWN(process_row, end)},
    {"threads", "Threads", ROCL_UNIT_COUNT, CELL(process_row, threads)},
    {"queues", "Queues", ROCL_UNIT_COUNT, CELL(process_row, queues)},
    {"streams", "Streams", ROCL_UNIT_COUNT, CELL(process_row, streams)},
    {"guid", "GUID", ROCL_UNIT_TEXT, LABEL(process_row, guid)},
    {"file", "File", ROCL_UNIT_TEXT, CELL(process_row, file)},
};

static const rocl_column kind_columns[] = {
    {"kind", "Kind", ROCL_UNIT_TEXT, CELL(kind_row, kind)},
    {"events", "Events", ROCL_UNIT_COUNT, CELL(kind_row, events)},
};

static const rocl_column fault_columns[] = {
    {"fault", "Fault", ROCL_UNIT_TEXT, CELL(fault_row, fault)},
    {"outcome", "Outcome", ROCL_UNIT_TEXT, CELL(fault_row, outcome)},
    {"records", "Records", ROCL_UNIT_COUNT, CELL(fault_row, records)},
};

enum { TOTALS, FILES, HOSTS, GPUS, PROCESSES, KINDS, FAULTS };
static const rocl_table_def defs[] = {
    [TOTALS] = {&tab, "totals", "Trace", ROCL_COLUMNS(total_columns)},
    [FILES] = {&tab, "files", "Files", ROCL_COLUMNS(file_columns)},
    [HOSTS] = {&tab, "hosts", "Hosts", ROCL_COLUMNS(host_columns)},
    [GPUS] = {&tab, "gpus", "GPUs", ROCL_COLUMNS(gpu_columns)},
    [PROCESSES] = {&tab, "processes", "Processes", ROCL_COLUMNS(process_columns)},
    [KINDS] = {&tab, "kinds", "Events by kind", ROCL_COLUMNS(kind_columns)},
    [FAULTS] = {&tab, "faults", "Records that are broken", ROCL_COLUMNS(fault_columns)},
};

const rocl_table_def *const rocl_description_tables[] = {
    &defs[TOTALS],    &defs[FILES], &defs[HOSTS],  &defs[GPUS],
    &defs[PROCESSES], &defs[KINDS], &defs[FAULTS], NULL};

/* ---- tables ---- */

static void put_files(const rocl_trace *t, const rocl_report_rows *r, total_row *total)
{
    total->files = rocl_trace_inputs(t);
    for (size_t i = 0; i < total->files; i++) {
        const rocl_input in = rocl_trace_input(t, i);
        char modified[32] = "";
        struct tm tm;
        const time_t at = (time_t)in.modified;
        if (at && gmtime_r(&at, &tm))
            strftime(modified, sizeof modified, "%Y-%m-%dT%H:%M:%SZ", &tm);
        /* A pipe has neither; nor has a file that is gone by now. */
        const int64_t bytes = in.modified || in.bytes ? (int64_t)in.bytes : -1;
        rocl_add_row(r, &(file_row){in.path, in.format, in.version, in.writer, modified, bytes,
                                    in.captures});
    }
}

static const char *said_by_text(rocl_said_by by)
{
    return by == ROCL_SAID_BY_OPTION ? "option"
           : by == ROCL_SAID_BY_NAME ? "name of the file"
                                     : "trace";
}

static void put_hosts(const rocl_trace *t, const rocl_report_rows *r, total_row *total)
{
    total->hosts = t->machine_count;
    for (uint32_t m = 0; m < t->machine_count; m++) {
        const bool named = rocl_machine_is_named(&t->machines[m]);
        host_row row = {.machine = m,
                        .host = rocl_machine_name(t, m),
                        .said_by = named ? said_by_text(t->machines[m].said_by) : ""};
        for (size_t i = 0; i < t->capture_count; i++) {
            const rocl_capture *c = &t->captures[i]->pub;
            for (uint32_t k = 0; k < c->process_count; k++) {
                const rocl_process *p = &c->processes[k];
                const uint32_t node = c->node_count == 1 ? 0 : p->node;
                if (p->machine != m)
                    continue;
                row.processes++;
                if (node < c->node_count && !row.system) {
                    row.system = c->nodes[node].system_name;
                    row.release = c->nodes[node].release;
                }
            }
        }
        for (size_t i = 0; i < t->gpu_count; i++)
            row.gpus += t->gpus[i].machine == m;
        rocl_add_row(r, &row);
    }
}

static uint64_t count_of_process(uint32_t p, const rocl_queue *all, uint32_t count)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < count; i++)
        n += all[i].process == p;
    return n;
}

static void put_processes(const rocl_trace *t, const rocl_report_rows *r, total_row *total)
{
    for (size_t i = 0; i < t->capture_count; i++) {
        const rocl_capture *c = &t->captures[i]->pub;
        for (uint32_t k = 0; k < c->process_count; k++) {
            const rocl_process *p = &c->processes[k];
            const int64_t start = p->start ? p->start : p->init, end = p->end ? p->end : p->fini;
            process_row row = {
                .guid = c->guid,
                .command = p->command,
                .pid = p->pid > 0 ? p->pid : -1,
                .rank = p->rank,
                .rank_said_by = p->rank >= 0 ? said_by_text(p->said_by) : "",
                .machine = p->machine,
                .run = t->captures[i]->run,
                .host = rocl_machine_name(t, p->machine),
                .file = c->path,
                .start = start ? start : -1,
                .end = end ? end : -1,
                .queues = count_of_process(k, c->queues, c->queue_count),
                .streams = count_of_process(k, c->streams, c->stream_count),
            };
            for (uint32_t n = 0; n < c->thread_count; n++)
                row.threads += c->threads[n].process == k;
            total->processes++;
            rocl_add_row(r, &row);
        }
    }
}

static fault_row fault_of(rocl_fault f, uint64_t records)
{
    return (fault_row){rocl_fault_text(f), rocl_fault_drops(f) ? "left out" : "repaired", records};
}

static void put_counts(const rocl_trace *t, const rocl_report_rows *kinds,
                       const rocl_report_rows *faults, total_row *total)
{
    for (rocl_kind k = 0; k < ROCL_KINDS; k++) {
        const uint64_t n = rocl_trace_events(t, k);
        total->events += n;
        if (n)
            rocl_add_row(kinds, &(kind_row){rocl_kind_name(k), n});
    }
    for (rocl_fault f = 0; f < ROCL_FAULTS; f++) {
        const uint64_t n = rocl_trace_faults(t, f);
        *(rocl_fault_drops(f) ? &total->left_out : &total->repaired) += n;
        const fault_row row = fault_of(f, n);
        if (n)
            rocl_add_row(faults, &row);
    }
    if (!rocl_trace_times(t, &total->first, &total->last))
        total->first = total->last = total->duration = -1;
    else
        total->duration = total->last - total->first;
}

rocl_status rocl_describe_trace(const rocl_trace *t, rocl_tables **tables, rocl_error *err)
{
    const rocl_stats_options options = {0};
    const rocl_collector c = {.trace = (rocl_trace *)(uintptr_t)t, .options = &options};
    rocl_report_rows rows[sizeof defs / sizeof *defs];
    total_row total = {.runs = t->run_count};
    rocl_rank_list ranks = {0};
    rocl_tables *out = rocl_tables_new();
    rocl_status st = out ? rocl_rank_list_make(&ranks, t, err) : rocl_fail_memory(err);
    for (uint32_t i = 0; st == ROCL_OK && i < ranks.count; i++)
        total.ranks += ranks.all[i].number >= 0;
    rocl_rank_list_free(&ranks);
    if (st != ROCL_OK) {
        rocl_tables_free(out);
        return st;
    }
    /* The totals come first, and are known last. The array of tables does not grow meanwhile. */
    for (size_t i = 0; i < sizeof defs / sizeof *defs; i++)
        rows[i] = rocl_begin_table(&c, out, &defs[i], 0);
    for (size_t i = 0; i < sizeof defs / sizeof *defs && !out->incomplete; i++)
        rows[i].table = &out->tables[i];
    if (!out->incomplete)
        out->tables[TOTALS].fields = true;
    put_files(t, &rows[FILES], &total);
    put_hosts(t, &rows[HOSTS], &total);
    total.gpus = t->gpu_count;
    for (size_t i = 0; i < t->gpu_count; i++) {
        const rocl_gpu *g = &t->gpus[i];
        const rocl_agent *a = rocl_gpu_agent(t, g);
        rocl_add_row(&rows[GPUS], &(gpu_row){g->id, g->machine, rocl_machine_name(t, g->machine),
                                             a->name, a->product, g->uuid, g->pci});
    }
    put_processes(t, &rows[PROCESSES], &total);
    put_counts(t, &rows[KINDS], &rows[FAULTS], &total);
    rocl_add_row(&rows[TOTALS], &total);
    st = rocl_check_complete(out, t, err);
    if (st == ROCL_OK)
        *tables = out;
    else
        rocl_tables_free(out);
    return st;
}

/* ---- inputs that were checked ---------------------------------------------------------------- */

typedef struct checked_row {
    const char *input, *outcome, *formats, *error;
    uint64_t exit_code;
    int64_t events; /* -1: it cannot be read */
} checked_row;

typedef struct checked_fault_row {
    const char *input;
    fault_row fault;
} checked_fault_row;

static const rocl_column checked_columns[] = {
    {"input", "Input", ROCL_UNIT_TEXT, CELL(checked_row, input)},
    {"outcome", "Outcome", ROCL_UNIT_TEXT, CELL(checked_row, outcome)},
    {"exit_code", "Exit code", ROCL_UNIT_COUNT, CELL(checked_row, exit_code)},
    {"format", "Format", ROCL_UNIT_TEXT, CELL(checked_row, formats)},
    {"events", "Events", ROCL_UNIT_COUNT, KNOWN(checked_row, events)},
    {"error", "Error", ROCL_UNIT_TEXT, CELL(checked_row, error)},
};

static const rocl_column checked_fault_columns[] = {
    {"input", "Input", ROCL_UNIT_TEXT, CELL(checked_fault_row, input)},
    {"fault", "Fault", ROCL_UNIT_TEXT, CELL(checked_fault_row, fault.fault)},
    {"outcome", "Outcome", ROCL_UNIT_TEXT, CELL(checked_fault_row, fault.outcome)},
    {"records", "Records", ROCL_UNIT_COUNT, CELL(checked_fault_row, fault.records)},
};

static const rocl_table_def checked_defs[] = {
    {&tab, "inputs", "Inputs", ROCL_COLUMNS(checked_columns)},
    {&tab, "faults", "Records that are broken", ROCL_COLUMNS(checked_fault_columns)},
};

const rocl_table_def *const rocl_check_tables[] = {&checked_defs[0], &checked_defs[1], NULL};

const char *rocl_checked_outcome(const rocl_checked *c)
{
    return c->status == ROCL_OK        ? "intact"
           : c->status == ROCL_PARTIAL ? "has faults"
                                       : "cannot be read";
}

rocl_status rocl_describe_checks(const rocl_checked *checks, size_t n, rocl_tables **tables,
                                 rocl_error *err)
{
    const rocl_stats_options options = {0};
    const rocl_collector c = {.options = &options};
    rocl_tables *out = rocl_tables_new();
    if (!out)
        return rocl_fail_memory(err);
    rocl_report_rows r = rocl_begin_table(&c, out, &checked_defs[0], 0);
    for (const rocl_checked *one = checks; one < checks + n; one++)
        rocl_add_row(&r,
                     &(checked_row){one->input, rocl_checked_outcome(one), one->formats, one->error,
                                    one->status, one->error ? -1 : (int64_t)one->events});
    r = rocl_begin_table(&c, out, &checked_defs[1], 0);
    for (const rocl_checked *one = checks; one < checks + n; one++)
        for (rocl_fault f = 0; f < ROCL_FAULTS; f++)
            if (one->faults[f])
                rocl_add_row(&r, &(checked_fault_row){one->input, fault_of(f, one->faults[f])});
    for (const rocl_checked *one = checks; one < checks + n; one++)
        if (one->texts)
            rocl_add_row(&r,
                         &(checked_fault_row){one->input, {ROCL_BAD_TEXT, "repaired", one->texts}});
    rocl_status st = out->incomplete ? rocl_fail_memory(err) : ROCL_OK;
    if (st == ROCL_OK)
        *tables = out;
    else
        rocl_tables_free(out);
    return st;
}
