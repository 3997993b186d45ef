/* Fuzz target: texts that people write: times, durations, regular expressions, filters, offsets of
 * clocks, names with keys, command lines, and packed inputs. The first byte of the
 * input chooses, the second has options, the rest is the text. */
#include <regex.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/regex.h"
#include "base/spool.h"
#include "base/unpack.h"
#include "common/output.h"
#include "common/programs.h"
#include "filter/align.h"
#include "filter/filter.h"
#include "filter/stages.h"
#include "model/kernel_class.h"
#include "tests/fuzz/image.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Tools keep what their command lines say until they end. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "detect_leaks=0:quarantine_size_mb=4:max_malloc_fill_size=0:malloc_context_size=4";
}

static rocl_trace *trace;
static int file;
static char file_path[64];

/* A trace of two processes, and a file for what is read from files. */
static void set_up(void)
{
    static image_world world;
    static uint8_t bytes[IMAGE_BYTES];
    const char *const inputs[] = {file_path};
    const int image = memfd_create("fuzz-trace", MFD_CLOEXEC);
    image_load(&world, "tests/fuzz/worlds/rocpd3.sql");
    rocl_error *err = rocl_error_new();
    const size_t n = image_make(&world, (const uint8_t *)"\x0b", 1, bytes);
    snprintf(file_path, sizeof file_path, "/proc/self/fd/%d", image);
    if (image < 0 || pwrite(image, bytes, n, 0) != (ssize_t)n ||
        rocl_trace_open(&trace, inputs, 1, &(rocl_options){.jobs = 1}, err) > ROCL_PARTIAL) {
        fprintf(stderr, "%s\n", rocl_error_text(err));
        abort();
    }
    rocl_error_free(err);
    file = memfd_create("fuzz-file", MFD_CLOEXEC);
    snprintf(file_path, sizeof file_path, "/proc/self/fd/%d", file);
    /* Messages are not wanted, what sanitizers write is. */
    stderr = fopen("/dev/null", "w");
    stdout = fopen("/dev/null", "w");
    if (file < 0 || !stderr || !stdout)
        abort();
}

static void write_file(const void *p, size_t n)
{
    if (ftruncate(file, 0) || pwrite(file, p, n, 0) != (ssize_t)n)
        abort();
}

/* An error is said if and only if there is one, and it is none of ours. */
static void check(rocl_status st, const rocl_error *err)
{
    if (st == ROCL_INTERNAL || (st > ROCL_PARTIAL) != (*rocl_error_text(err) != 0)) {
        dprintf(2, "status %d: %s\n", (int)st, rocl_error_text(err));
        abort();
    }
}

/* ---- the surfaces ------------------------------------------------------------------------------
 */

/* `text` ends with a NUL, and may hold others. */
typedef void try_fn(unsigned how, char *text, size_t n, rocl_error *err);

static void try_times(unsigned how, char *text, size_t n, rocl_error *err)
{
    rocl_time time;
    int64_t ns, again;
    (void)n;
    rocl_status st = rocl_time_parse(&time, "--start", text, err);
    check(st, err);
    if (st == ROCL_OK && (time.value < 0 || time.base == ROCL_TIME_UNSET))
        abort();
    if (st == ROCL_OK) {
        rocl_time_at(&time, INT64_MIN, INT64_MAX);
        ns = rocl_time_at(&time, 1000, 2000 + (int64_t)how);
        /* A share of a trace is in the trace. */
        if (time.base == ROCL_TIME_FRACTION && (ns < 1000 || ns > 2000 + (int64_t)how))
            abort();
    }
    const bool read = rocl_read_duration(text, &ns);
    if (read != (rocl_duration_parse(&again, "--min-duration", text, NULL) == ROCL_OK) ||
        (read && (ns != again || ns < 0)))
        abort();
    rocl_offset_parse(&ns, text);
}

static void try_regex(unsigned how, char *text, size_t n, rocl_error *err)
{
    regex_t re;
    (void)n;
    rocl_status st = rocl_regex_compile(&re, "--name", text, text, how & 1 ? REG_NOSUB : 0, err);
    check(st, err);
    if (st != ROCL_OK)
        return;
    regexec(&re, "void ns::add<int>(int*, int)", 0, NULL, 0);
    regfree(&re);
}

/* The text is a list of words, each ending with a newline, for the options that `how` says. */
static void try_filter(unsigned how, char *text, size_t n, rocl_error *err)
{
    const char *words[9] = {NULL};
    const rocl_options before = trace->opt;
    rocl_options *o = &trace->opt;
    rocl_filter *f = NULL;
    int64_t from, to;
    char *at = text, *end = text + n;
    for (size_t i = 0; i < 8 && at < end; i++) {
        words[i] = at;
        at += strcspn(at, "\n");
        *at++ = '\0';
    }
    switch (how % 12) {
    case 0:
        o->start = words[0], o->end = words[1], o->window_mode = (rocl_window_mode)(how >> 4 & 1);
        break;
    case 1:
        o->start_marker = words[0], o->end_marker = words[1];
        break;
    case 2:
        o->include = words;
        break;
    case 3:
        o->exclude = words;
        break;
    case 4:
        o->names = words;
        break;
    case 5:
        o->exclude_names = words;
        break;
    case 6:
        o->ranks = words;
        break;
    case 7:
        o->pids = words;
        break;
    case 8:
        o->agents = words;
        break;
    case 9:
        o->kernel_iterations = words[0];
        break;
    case 10:
        o->periods = words;
        break;
    default:
        o->min_duration = words[0], o->kernel_include = words[1] ? words + 1 : NULL;
    }
    rocl_status st = rocl_filter_new(&f, trace, err);
    check(st, err);
    if (st == ROCL_OK && f) {
        rocl_filter_set_bounds(f, 259166473006273, 259166475000487);
        st = rocl_filter_resolve(f, err);
        check(st, err);
        if (st == ROCL_OK) {
            rocl_filter_window(f, &from, &to);
            rocl_filter_interval(f, 259166473008000, &from, &to);
            rocl_filter_report(f, ROCL_ALL_KINDS, NULL);
        }
    }
    rocl_filter_free(f);
    trace->opt = before;
}

static void try_classes(unsigned how, char *text, size_t n, rocl_error *err)
{
    rocl_kernel_classes *k = NULL;
    (void)how;
    write_file(text, n);
    rocl_status st = rocl_kernel_classes_new(&k, file_path, err);
    check(st, err);
    if (st == ROCL_OK && rocl_classify_kernel(k, text, n) >= rocl_kernel_class_count(k))
        abort();
    rocl_kernel_classes_free(k);
}

static void try_offsets(unsigned how, char *text, size_t n, rocl_error *err)
{
    const rocl_options before = trace->opt;
    int64_t offsets[16] = {0};
    rocl_aligner *a = NULL;
    if (trace->machine_count > 16)
        abort();
    trace->opt.align = how & 1 ? ROCL_ALIGN_MARKER : ROCL_ALIGN_OFFSETS;
    trace->opt.align_with = how & 1 ? text : file_path;
    write_file(text, n);
    rocl_status st = rocl_aligner_new(&a, trace, err);
    check(st, err);
    if (st == ROCL_OK)
        check(rocl_aligner_offsets(a, offsets, err), err);
    rocl_aligner_free(a);
    trace->opt = before;
}

/* The first line is the name, the second the folder, the third a variable. */
static void try_names(unsigned how, char *text, size_t n, rocl_error *err)
{
    static char variable[512] = "FUZZ=";
    common c = {0};
    char *folder = memchr(text, '\n', n), *value;
    (void)err;
    if (folder)
        *folder++ = '\0';
    value = folder ? strchr(folder, '\n') : NULL;
    if (value)
        *value++ = '\0';
    snprintf(variable + 5, sizeof variable - 5, "%s", value ? value : "x");
    putenv(variable);
    c.output_file = text;
    c.output_path = how & 1 ? folder : NULL;
    if (output_fill_names(&c) >= 0)
        return;
    char path[256];
    if (strlen(output_name(&c)) >= 4096 || strlen(output_folder(&c)) >= 4096)
        abort();
    snprintf(path, sizeof path, "%s", output_name(&c));
    output_is_packed(how & 2, how & 4 ? -1 : 3, path, sizeof path);
}

static const program *const programs[] = {
    &convert_program,   &export_program,     &query_program,         &rocmerge_program,
    &rocpd2csv_program, &rocpd2otf2_program, &rocpd2pftrace_program, &rocrec_program,
    &rocstats_program,  &rpt_program,        &rtg2json_program,      &rocline_program,
};

/* Every line is a word of the command line. */
static void try_command(unsigned how, char *text, size_t n, rocl_error *err)
{
    static _Alignas(64) char values[64 << 10];
    char *argv[34] = {(char *)(uintptr_t) "fuzz"};
    int argc = 1;
    const program *p = programs[how % (sizeof programs / sizeof *programs)];
    (void)err;
    for (char *at = text, *end = text + n; at < end && argc < 33; argc++) {
        argv[argc] = at;
        at += strcspn(at, "\n");
        *at++ = '\0';
    }
    memset(values, 0, sizeof values);
    const int code = p->groups ? options_parse(p, values, argc, argv) : 0;
    if (code < -1 || code > ROCL_INTERNAL)
        abort();
    options_report_unclear();
}

/* A packed file says the same, whoever unpacks it. */
static void try_packed(unsigned how, char *text, size_t n, rocl_error *err)
{
    static char bytes[1 << 20];
    char *whole = NULL;
    size_t size = 0, got = 0;
    rocl_spool *s = NULL;
    rocl_spool_store store = {0};
    bool all;
    (void)how;
    write_file(text, n);
    rocl_error *other = rocl_error_new();
    const rocl_status unpacked = rocl_unpack_file(file_path, sizeof bytes, &whole, &size, other);
    check(unpacked, other);
    rocl_status st = rocl_spool_open(&s, file_path, err);
    if (st == ROCL_OK) {
        rocl_spool_head(s, &got, &all);
        st = rocl_spool_fill(s, &store, "/dev/shm", err);
    }
    check(st, err);
    if (st == ROCL_OK && rocl_spool_size(s) < sizeof bytes) {
        if (rocl_spool_read(s, bytes, sizeof bytes, 0, &got, err) != ROCL_OK ||
            unpacked != ROCL_OK || got != size || (size && memcmp(bytes, whole, size)))
            abort();
    }
    rocl_spool_close(s);
    rocl_spool_store_close(&store);
    rocl_error_free(other);
    free(whole);
}

static const struct surface {
    const char *name;
    try_fn *try;
} surfaces[] = {{"times", try_times},     {"regex", try_regex},    {"filter", try_filter},
                {"offsets", try_offsets}, {"names", try_names},    {"command", try_command},
                {"packed", try_packed},   {"classes", try_classes}};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2 || size > 1 << 16)
        return 0;
    if (!trace)
        set_up();
    char *text = malloc(size - 1);
    rocl_error *err = rocl_error_new();
    if (!text)
        abort();
    memcpy(text, data + 2, size - 2);
    text[size - 2] = '\0';
    surfaces[data[0] % (sizeof surfaces / sizeof *surfaces)].try(data[1], text, size - 2, err);
    rocl_error_free(err);
    free(text);
    return 0;
}
