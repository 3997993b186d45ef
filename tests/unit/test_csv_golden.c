/* The CSV files of AMD's own converters, byte for byte, where they are at hand (../shared/data or
 * $ROCLINE_DATA). Where AMD is wrong the golden file is put right first: see rocline(7). */
#include "test_csv_world.h"

#include <sys/stat.h>
#include <unistd.h>

static char folder[64];

static const char *data(void)
{
    const char *s = getenv("ROCLINE_DATA");
    return s && *s ? s : "../shared/data";
}

static char *read_all(const char *path)
{
    FILE *f = fopen(path, "rb");
    struct stat st;
    if (!f || fstat(fileno(f), &st))
        fail_msg("%s cannot be read", path);
    char *s = calloc(1, (size_t)st.st_size + 1);
    assert_non_null(s);
    assert_int_equal(fread(s, 1, (size_t)st.st_size, f), st.st_size);
    fclose(f);
    return s;
}

static void replace(char *line, const char *from, const char *to)
{
    char *p = strstr(line, from);
    if (!p)
        return;
    memmove(p + strlen(to), p + strlen(from), strlen(p + strlen(from)) + 1);
    memcpy(p, to, strlen(to));
}

/* What is wrong in a line of the golden: true when the line should not be there at all. */
static bool repair(char *line, const char *file)
{
    if (strstr(file, "memory_allocation")) {
        replace(line, ",\"\"\"\",", ",\"\",");              /* the agent of a FREE */
        return strstr(line, "\"SCRATCH_MEMORY_")            /* 1.1 */
               || strstr(line, ",\"0x0000000000000000\","); /* 1.0, of the scratch rows here */
    }
    if (strstr(file, "scratch") && strstr(line, "_FREE\""))
        replace(line, "\"Agent 0\"", "\"\"");
    return false;
}

static void compare(const char *golden_path, const char *ours_path)
{
    char *golden = read_all(golden_path), *ours = read_all(ours_path), *o = ours;
    for (char *g = golden, *next; *g; g = next) {
        next = strchr(g, '\n');
        *next++ = '\0';
        if (repair(g, golden_path))
            continue;
        char *end = strchr(o, '\n');
        if (!end)
            fail_msg("%s ends early", ours_path);
        *end = '\0';
        assert_string_equal(o, g);
        o = end + 1;
    }
    assert_string_equal(o, "");
    free(golden);
    free(ours);
}

typedef struct golden {
    rocl_csv_style style;
    const char *inputs[3], *folder;
    const char *files; /* "kernel_trace ..." */
} golden;

static const golden e4 = {
    ROCL_CSV_ROCPD_1_0,
    {"amd/e4.db"},
    "amd/e4/csv",
    "agent_info counter_collection hip_api_trace hsa_api_trace kernel_trace marker_api_trace "
    "memory_allocation_trace memory_copy_trace scratch_memory_trace",
};
static const golden e4_new = {
    ROCL_CSV_ROCPD_1_1,
    {"amd/e4.db"},
    "amd/e4/csv-new",
    "agent_info counter_collection_trace kernel_trace memory_allocation_trace memory_copy_trace "
    "regions_trace scratch_memory_trace",
};
static const golden llama = {
    ROCL_CSV_ROCPD_1_0,
    {"rocpd/r9700_llama_bench.db"},
    "amd/r9700_llama_bench/csv",
    "agent_info kernel_trace",
};
/* AMD's agent_info and marker_api_trace have only the last process. */
static const golden ranks = {
    ROCL_CSV_ROCPD_1_0,
    {"amd/rank0_5000_results.db", "amd/rank1_5001_results.db"},
    "amd/ranks2s/csv",
    "counter_collection hip_api_trace hsa_api_trace kernel_trace memory_allocation_trace "
    "memory_copy_trace scratch_memory_trace",
};

static void convert(const golden *g, unsigned jobs)
{
    char paths[3][512];
    const char *inputs[3];
    size_t n = 0;
    for (; n < 3 && g->inputs[n]; n++) {
        snprintf(paths[n], sizeof paths[n], "%s/%s", data(), g->inputs[n]);
        inputs[n] = paths[n];
    }
    rocl_error *err = rocl_error_new();
    rocl_trace *t = NULL;
    rocl_options o = {.jobs = jobs};
    rocl_csv_options c = {.style = g->style, .directory = folder, .prefix = "out"};
    rocl_status st = rocl_trace_open(&t, inputs, n, &o, err);
    if (st == ROCL_OK)
        st = rocl_write_csv(t, &c, NULL, err);
    assert_string_equal(rocl_error_text(err), "");
    assert_int_equal(st, ROCL_OK);
    rocl_trace_close(t);
    rocl_error_free(err);
}

static void compare_all(const golden *g)
{
    char names[512], golden_path[640], ours[256], *rest;
    snprintf(names, sizeof names, "%s", g->files);
    for (char *f = strtok_r(names, " ", &rest); f; f = strtok_r(NULL, " ", &rest)) {
        snprintf(golden_path, sizeof golden_path, "%s/%s/out_%s.csv", data(), g->folder, f);
        snprintf(ours, sizeof ours, "%s/out_%s.csv", folder, f);
        compare(golden_path, ours);
    }
}

static void test_golden(void **state)
{
    const golden *g = *state;
    char path[512];
    snprintf(path, sizeof path, "%s/%s", data(), g->folder);
    if (access(path, R_OK))
        skip();
    for (unsigned jobs = 1; jobs <= 3; jobs += 2) {
        convert(g, jobs);
        compare_all(g);
    }
}

static int set_up(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/test_csv.XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int tear_down(void **state)
{
    static const char *const more[] = {"agent_info", "marker_api_trace", "instants_trace"};
    const golden *g = *state;
    char names[512], path[256], *rest;
    snprintf(names, sizeof names, "%s", g->files);
    for (char *f = strtok_r(names, " ", &rest); f; f = strtok_r(NULL, " ", &rest)) {
        snprintf(path, sizeof path, "%s/out_%s.csv", folder, f);
        unlink(path);
    }
    for (size_t i = 0; i < COUNT(more); i++) {
        snprintf(path, sizeof path, "%s/out_%s.csv", folder, more[i]);
        unlink(path);
    }
    return rmdir(folder);
}

int main(void)
{
#define GOLDEN(g)                                                                                  \
    {                                                                                              \
#g, test_golden, set_up, tear_down, (void *)(uintptr_t) & (g)                              \
    }
    const struct CMUnitTest tests[] = {GOLDEN(e4), GOLDEN(e4_new), GOLDEN(llama), GOLDEN(ranks)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
