/* Fuzz target: damaged databases of all kinds that are read, into all outputs. An input is four
 * bytes that choose the world, the output and options, and a program that changes the world (see
 * image.h); one that begins as SQLite's files do is a file, and its last two bytes choose. Whatever
 * the database says, no call fails for a reason of ours, and none without a word. */
#include <sys/mman.h>

#include "tests/fuzz/events.h"
#include "tests/fuzz/image.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

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
/* The input, another database to merge it with, and a folder for what is no stream. */
static int image_fd;
static char image_path[64], mate_path[64], folder[64];
static uint8_t image_bytes[IMAGE_BYTES];

static void remove_folder(void)
{
    char command[96];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    if (system(command))
        fprintf(stderr, "%s is still there\n", folder);
}

static int open_in_memory(char *path, size_t size)
{
    const int fd = memfd_create("fuzz-db", MFD_CLOEXEC);
    if (fd < 0)
        abort();
    snprintf(path, size, "/proc/self/fd/%d", fd);
    return fd;
}

static void set_up(void)
{
    for (unsigned i = 0; i < WORLDS; i++)
        image_load(&world[i], worlds[i]);
    image_fd = open_in_memory(image_path, sizeof image_path);
    const int mate = open_in_memory(mate_path, sizeof mate_path);
    /* The second process of a world of two. */
    uint8_t program[1 + IMAGE_TABLES * IMAGE_STEP] = {9};
    for (unsigned i = 0; i < world[0].count; i++) {
        program[1 + i * IMAGE_STEP] = 13;
        program[2 + i * IMAGE_STEP] = (uint8_t)i;
    }
    const size_t n = image_make(&world[0], program, 1 + world[0].count * IMAGE_STEP, image_bytes);
    if (pwrite(mate, image_bytes, n, 0) != (ssize_t)n)
        abort();
    snprintf(folder, sizeof folder, "%s/fuzz-db-XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    if (!mkdtemp(folder))
        abort();
    rocl_sync_outputs(false);
    atexit(remove_folder);
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
                                  .advice = true,
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

static rocl_status query(rocl_trace *t, unsigned how, rocl_error *err)
{
    rocl_query *q = NULL;
    rocl_sql_table table;
    char sql[160];
    unsigned count = 0;
    while (rocl_sql_table_at(count, &table))
        count++;
    rocl_sql_table_at((how >> 2) % count, &table);
    snprintf(sql, sizeof sql,
             how & 1 ? "SELECT count(*), * FROM \"%s\"" : "SELECT * FROM \"%s\" LIMIT 50",
             table.name);
    const rocl_rows_options o = {.path = "/dev/null",
                                 .format = (rocl_rows_format)(how % (ROCL_ROWS_ARROWS + 1))};
    rocl_status st = rocl_query_open(&q, t, &(rocl_query_options){.seconds = 5}, err);
    if (st == ROCL_OK)
        st = rocl_query_write(q, sql, &o, NULL, err);
    rocl_query_close(q);
    return st;
}

static rocl_status write_otf2(rocl_trace *t, unsigned how, rocl_error *err)
{
    char path[96];
    snprintf(path, sizeof path, "%s/out.otf2", folder);
    return rocl_write_otf2(t, &(rocl_otf2_options){.path = path, .group_by_queue = how & 1}, NULL,
                           err);
}

static rocl_status merge(rocl_trace *t, unsigned how, rocl_error *err)
{
    char path[96];
    snprintf(path, sizeof path, "%s/out.db", folder);
    const rocl_rocpd_options o = {.path = path,
                                  .flat = how & 1,
                                  .rebuild = how & 2,
                                  .keep_environment = how & 4,
                                  .slices = how & 8 ? 3 : 0};
    return rocl_write_rocpd(t, &o, NULL, err);
}

/* What one worker reads is what two read, and SQLite instead of us. */
static rocl_status read_twice(rocl_trace *t, unsigned how, rocl_error *err)
{
    fuzz_sum sum;
    (void)t, (void)how, (void)err;
    fuzz_read_twice(image_path, &sum);
    return ROCL_OK;
}

static const struct output {
    const char *name;
    write_fn *write;
} outputs[] =
    {
        {"pftrace", write_pftrace},  {"chrome", write_chrome}, {"csv", write_csv},
        {"export", write_export},    {"json", write_json},     {"report", write_report},
        {"describe", describe},      {"rpt", write_rpt},       {"query", query},
        {"compare", compare_traces},
},
  slow_outputs[] = {{"merge", merge}, {"otf2", write_otf2}, {"twice", read_twice}};

/* One of 32 is an output that makes files. */
static const struct output *choose_output(unsigned byte)
{
    return byte < 248 ? &outputs[byte % (sizeof outputs / sizeof *outputs)]
                      : &slow_outputs[byte % (sizeof slow_outputs / sizeof *slow_outputs)];
}

/* Less of what takes time and finds nothing here. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "quarantine_size_mb=4:max_malloc_fill_size=0:malloc_context_size=4";
}

/* ---- the target --------------------------------------------------------------------------------
 */

static void convert(const struct output *out, unsigned how, unsigned config)
{
    static const char *const include[] = {"kernel", "HIP", NULL}, *const names[] = {"[a-m]", NULL},
                             *const ranks[] = {"0", NULL}, *const periods[] = {"1us:1ms:2", NULL};
    const char *const inputs[] = {image_path, mate_path};
    rocl_options o = {.jobs = 1,
                      .memory = (size_t)2 << 20,
                      .args = config & 1,
                      .kernel_names = (rocl_kernel_names)(config >> 1 & 3),
                      .agent_index = config & 8 ? ROCL_INDEX_TYPE_RELATIVE : ROCL_INDEX_RELATIVE,
                      .kernel_rename = config & 16,
                      .reader = config >> 5 & 1 ? ROCL_READER_SQLITE : ROCL_READER_AUTO};
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
    rocl_error *err = rocl_error_new();
    rocl_trace *t = NULL;
    const bool two = out->write == merge && how & 16;
    rocl_status st = rocl_trace_open(&t, inputs, two ? 2 : 1, &o, err);
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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const bool is_file = size >= 16 && !memcmp(data, "SQLite f", 8);
    const uint8_t *choice = is_file ? data + size - 2 : data + 1;
    if (size < 4)
        return 0;
    if (!image_fd)
        set_up();
    const struct output *out = choose_output(*choice);
    const unsigned how = is_file ? choice[1] : choice[1], config = is_file ? choice[1] : choice[2];
    const void *bytes = is_file ? data : image_bytes;
    const size_t n =
        is_file ? size - 2 : image_make(&world[data[0] % WORLDS], data + 4, size - 4, image_bytes);
    if (ftruncate(image_fd, 0) || pwrite(image_fd, bytes, n, 0) != (ssize_t)n)
        abort();
    convert(out, how, config);
    return 0;
}
