/* What the targets of databases share: the worlds that are damaged, the outputs that are no files,
 * and one conversion. Whatever the database says, no call fails for a reason of ours, and none
 * without a word. */
#ifndef TESTS_FUZZ_DB_H
#define TESTS_FUZZ_DB_H

#include <sys/mman.h>

#include "source/db/schema_cache.h"
#include "tests/fuzz/events.h"
#include "tests/fuzz/image.h"

static const char *const worlds[] = {
    "tests/fuzz/worlds/rocpd3.sql",
    "tests/fuzz/worlds/rocpd4.sql",
    "tests/golden/stats-samples/input.sql",
    "tests/fixtures/rpd/v1.sql",
    "tests/fixtures/rpd/v2.sql",
    "tests/fixtures/rpd/v3.sql",
    "tests/fixtures/rocprof/db.sql",
    "tests/fixtures/rocprof/db-old.sql",
    "tests/fixtures/rocprof/db-counters.sql",
};
enum { WORLDS = sizeof worlds / sizeof *worlds };

static image_world world[WORLDS];
/* The input, and another database to compare and merge it with. */
static int image_fd;
static char image_path[64], mate_path[64];
static uint8_t image_bytes[IMAGE_BYTES];

static int open_in_memory(char *path, size_t size)
{
    const int fd = memfd_create("fuzz-db", MFD_CLOEXEC);
    if (fd < 0)
        abort();
    snprintf(path, size, "/proc/self/fd/%d", fd);
    return fd;
}

/* Makes the input: the world that a byte chooses, after a program. */
static void make_input(unsigned of, const uint8_t *program, size_t size)
{
    const size_t n = image_make(&world[of % WORLDS], program, size, image_bytes);
    if (ftruncate(image_fd, 0) || pwrite(image_fd, image_bytes, n, 0) != (ssize_t)n)
        abort();
}

/* The schemas of all worlds are explained by SQLite once, which takes longer than all the rest of
 * an execution: the cache that traces share is held for good. */
static void prepare_worlds(void)
{
    rocl_schema_cache_share();
    image_fd = open_in_memory(image_path, sizeof image_path);
    for (unsigned i = 0; i < WORLDS; i++) {
        image_load(&world[i], worlds[i]);
        for (uint8_t how = 0; how <= IMAGE_TWICE; how += IMAGE_TWICE) {
            const char *const inputs[] = {image_path};
            rocl_trace *t = NULL;
            make_input(i, &how, 1);
            if (rocl_trace_open(&t, inputs, 1, &(rocl_options){.jobs = 1}, NULL) > ROCL_PARTIAL)
                abort();
            rocl_trace_close(t);
        }
    }
    /* The second process of a world of two. */
    const int mate = open_in_memory(mate_path, sizeof mate_path);
    uint8_t program[1 + IMAGE_TABLES * IMAGE_STEP] = {IMAGE_TWICE | 1};
    for (unsigned i = 0; i < world[0].count; i++) {
        program[1 + i * IMAGE_STEP] = 13;
        program[2 + i * IMAGE_STEP] = (uint8_t)i;
    }
    const size_t n = image_make(&world[0], program, 1 + world[0].count * IMAGE_STEP, image_bytes);
    if (pwrite(mate, image_bytes, n, 0) != (ssize_t)n)
        abort();
    rocl_sync_outputs(false);
}

/* ---- outputs -----------------------------------------------------------------------------------
 */

/* `how` are eight bits of options. */
typedef rocl_status write_fn(rocl_trace *t, unsigned how, rocl_error *err);

static rocl_status write_pftrace(rocl_trace *t, unsigned how, rocl_error *err)
{
    const rocl_pftrace_options o = {.path = "/dev/null",
                                    .level = how & 1 ? 1 : ROCL_UNCOMPRESSED,
                                    .group_by_queue = how & 2,
                                    .legacy_tracks = how & 4,
                                    .counters = how & 8};
    return rocl_write_pftrace(t, &o, NULL, err);
}

static rocl_status write_chrome(rocl_trace *t, unsigned how, rocl_error *err)
{
    const rocl_chrome_options o = {.path = "/dev/null",
                                   .gzip = how & 1,
                                   .level = 1,
                                   .flows = how & 2,
                                   .group_by_queue = how & 4};
    return rocl_write_chrome(t, &o, NULL, err);
}

static rocl_status write_csv(rocl_trace *t, unsigned how, rocl_error *err)
{
    static const char *const kinds[] = {"kernel", "memory_copy",    "memory_allocation",  "hip",
                                        "marker", "scratch_memory", "counter_collection", "agent"};
    const char *const list[] = {kinds[how >> 2 & 7], NULL};
    const rocl_csv_options o = {.style = (rocl_csv_style)(how & 3),
                                .path = "/dev/null",
                                .kinds = (how & 3) == ROCL_CSV_ROCPROF ? NULL : list,
                                .duration = how & 32,
                                .bytes = how & 64};
    return rocl_write_csv(t, &o, NULL, err);
}

static rocl_status write_export(rocl_trace *t, unsigned how, rocl_error *err)
{
    const char *list[2] = {NULL};
    size_t kinds = 0;
    while (rocl_export_kind_word(NULL, kinds))
        kinds++;
    list[0] = rocl_export_kind_word(NULL, (how >> 3) % kinds);
    const rocl_export_options o = {.format = (rocl_export_format)(how & 3),
                                   .path = "/dev/null",
                                   .kinds = list,
                                   .all_columns = how & 4,
                                   .codec = ROCL_CODEC_NONE};
    return rocl_write_export(t, &o, NULL, err);
}

static rocl_status write_json(rocl_trace *t, unsigned how, rocl_error *err)
{
    const rocl_json_options o = {.path = "/dev/null", .level = 1};
    const rocl_kineto_options k = {.path = "/dev/null", .level = 1, .group_by_queue = how & 4};
    return how & 2   ? rocl_write_kineto(t, &k, NULL, err)
           : how & 1 ? rocl_write_rocprof_json(t, &o, NULL, err)
                     : rocl_write_rocprofv3_json(t, &o, NULL, err);
}

static rocl_status write_report(rocl_trace *t, unsigned how, rocl_error *err)
{
    static const char *const groups[] = {"KERNEL|MEM", NULL};
    rocl_tables *tables = NULL;
    const rocl_stats_options o = {.reports = how & 128
                                                 ? (1u << ROCL_REPORTS) - 1
                                                 : 1u << (how & 15) | 1u << ROCL_REPORT_DOCTOR,
                                  .by_rank = how & 16,
                                  .by_stream = how & 32,
                                  .by_agent = how & 64,
                                  .by_dims = how & 16,
                                  .by_marker = how & 64,
                                  .top = how & 3,
                                  .findings = true,
                                  .brief = how & 32,
                                  .pictures = how & 64,
                                  .rests = how & 8,
                                  .ids = how & 4,
                                  .summary_groups = how & 4 ? groups : NULL};
    rocl_status st = rocl_stats(t, &o, &tables, err);
    if (st > ROCL_PARTIAL)
        return st;
    const rocl_table_options w = {.path = "/dev/null",
                                  .format = (rocl_table_format)((how >> 1) % 7),
                                  .width = how & 64 ? 80 : 0};
    bool fits;
    if (how & 8)
        rocl_tables_cut(tables, ROCL_TABLE_JSON, how * 16u, &fits);
    const rocl_status written = rocl_write_tables(tables, &w, err);
    rocl_tables_free(tables);
    return written == ROCL_OK ? st : written;
}

/* A timeline for browsers, alone or beside a report. */
static rocl_status write_page(rocl_trace *t, unsigned how, rocl_error *err)
{
    static const unsigned most[] = {0, 1, 5, 40};
    rocl_tables *tables = NULL;
    rocl_status st = ROCL_OK;
    if (how & 1) {
        const rocl_stats_options o = {
            .reports = 1u << (how >> 1) % ROCL_REPORTS, .findings = true, .pictures = true};
        st = rocl_stats(t, &o, &tables, err);
    }
    const rocl_page_options p = {.path = "/dev/null",
                                 .level = 1,
                                 .tables = tables,
                                 .front = how & 2,
                                 .group_by_queue = how & 4,
                                 .max_events = most[how >> 3 & 3],
                                 .from = how & 32 ? "30%" : NULL,
                                 .to = how & 64 ? "60%" : NULL};
    if (st <= ROCL_PARTIAL)
        st = rocl_write_page(t, &p, NULL, err);
    rocl_tables_free(tables);
    return st;
}

static rocl_status compare_traces(rocl_trace *t, unsigned how, rocl_error *err)
{
    const char *mate = how & 1 ? mate_path : image_path;
    rocl_trace *other = NULL;
    rocl_tables *tables = NULL;
    rocl_gate gate = {.average = 5, .total = 5};
    rocl_status st = rocl_trace_open(&other, &mate, 1, &(rocl_options){.jobs = 1}, err);
    if (st <= ROCL_PARTIAL) {
        const rocl_stats_options o = {.comparability = how & 2, .brief = how & 4};
        st = how & 8 ? rocl_compare(other, t, &o, &gate, &tables, err)
                     : rocl_compare(t, other, &o, &gate, &tables, err);
    }
    rocl_tables_free(tables);
    rocl_trace_close(other);
    return st;
}

/* Everything that can be said of single events and of the trace. */
static rocl_status describe(rocl_trace *t, unsigned how, rocl_error *err)
{
    char id[32];
    rocl_tables *tables = NULL;
    snprintf(id, sizeof id, "%s::%u", rocl_kind_name((rocl_kind)((how >> 4) % ROCL_KINDS)),
             how & 7);
    rocl_status st =
        how & 8 ? rocl_correlate_event(t, id, &tables, err) : rocl_show_event(t, id, &tables, err);
    rocl_tables_free(tables);
    if (st > ROCL_PARTIAL)
        return st;
    const rocl_status described = rocl_describe_trace(t, &tables, err);
    rocl_tables_free(tables);
    for (size_t i = 0; i < rocl_trace_captures(t); i++) {
        const rocl_capture *c = rocl_trace_capture(t, i);
        char *json = NULL;
        for (uint32_t k = 0; k < c->agent_count; k++, json = NULL)
            if (rocl_agent_json(t, c, k, &json, NULL) == ROCL_OK)
                free(json);
    }
    return described == ROCL_OK ? st : described;
}

static rocl_status write_rpt(rocl_trace *t, unsigned how, rocl_error *err)
{
    const rocl_rpt_options o = {.path = "/dev/null",
                                .topn = 3,
                                .text_trace = how & 1,
                                .raw = how & 2,
                                .no_gaps = how & 4,
                                .json = how & 8 ? "/dev/null" : NULL,
                                .memory = 1 << 20,
                                .jobs = 1};
    return rocl_write_rpt_trace(t, &o, err);
}

typedef struct output {
    const char *name;
    write_fn *write;
} output;

/* Those that are streams. */
static const output streams[] = {
    {"pftrace", write_pftrace}, {"chrome", write_chrome}, {"csv", write_csv},
    {"export", write_export},   {"json", write_json},     {"report", write_report},
    {"describe", describe},     {"rpt", write_rpt},       {"compare", compare_traces},
    {"page", write_page},
};
enum { STREAMS = sizeof streams / sizeof *streams };

/* Less of what takes time and finds nothing here. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "quarantine_size_mb=1:max_malloc_fill_size=0:malloc_context_size=1";
}

/* What a byte says of how a trace is read. */
static rocl_options choose_options(unsigned config, unsigned how)
{
    static const char *const include[] = {"kernel", "HIP", NULL}, *const names[] = {"[a-m]", NULL},
                             *const ranks[] = {"0", NULL}, *const periods[] = {"1us:1ms:2", NULL};
    rocl_options o = {.jobs = 1,
                      .memory = (size_t)2 << 20,
                      .args = config & 1,
                      .kernel_names = (rocl_kernel_names)(config >> 1 & 3),
                      .agent_index = config & 8 ? ROCL_INDEX_TYPE_RELATIVE : ROCL_INDEX_RELATIVE,
                      .kernel_rename = config & 16};
    switch (config >> 6) {
    case 1:
        o.start = "20%", o.end = "+1ms", o.window_mode = ROCL_WINDOW_CLIP;
        break;
    case 2:
        o.include = include, o.names = names, o.min_duration = "3";
        break;
    case 3:
        o.periods = periods, o.ranks = how & 1 ? ranks : NULL, o.kernel_iterations = "[1-2],4";
    }
    return o;
}

/* Reads the input, or that and its mate, into an output. */
static void convert(const output *out, unsigned how, const rocl_options *o, bool with_mate)
{
    const char *const inputs[] = {image_path, mate_path};
    rocl_error *err = rocl_error_new();
    rocl_trace *t = NULL;
    rocl_status st = rocl_trace_open(&t, inputs, with_mate ? 2 : 1, o, err);
    if (st <= ROCL_PARTIAL)
        st = out->write(t, how, err);
    if (st == ROCL_INTERNAL || st == ROCL_OUTPUT ||
        (st > ROCL_PARTIAL) != (*rocl_error_text(err) != 0)) {
        fprintf(stderr, "%s: status %d: %s\n", out->name, (int)st, rocl_error_text(err));
        abort();
    }
    rocl_trace_close(t);
    rocl_error_free(err);
}

#endif
