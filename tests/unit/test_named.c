/* Ranks and hosts in the names of files: a table of forms, by who writes them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/named.h"

typedef struct form {
    const char *path;
    bool in_folder;
    int64_t rank;
    const char *host; /* NULL: none */
} form;

static const form forms[] = {
    /* ranks */
    {"rank3.json", false, 3, NULL},
    {"rank-7.pt.trace.json", false, 7, NULL},
    {"trace_rank_12.json.gz", false, 12, NULL},
    {"rank[3]_x.1.pt.trace.json", false, 3, NULL},
    {"rank.5.json", false, 5, NULL},
    {"x-rank=9.db", false, 9, NULL},
    {"RANK4.db", false, 4, NULL},
    {"Rank_004.json", false, 4, NULL},
    {"dp0_pp0_tp1_dcp0_ep1_rank5.17.pt.trace.json", false, 5, NULL},
    {"rank1_of_rank2.json", false, 2, NULL},
    {"local_rank3.json", false, -1, NULL},
    {"local-rank3_rank11.json", false, 11, NULL},
    {"frank3.json", false, -1, NULL},
    {"rank.json", false, -1, NULL},
    {"rank", false, -1, NULL},
    {"rank-", false, -1, NULL},
    {"rankx3.json", false, -1, NULL},
    {"rank999999999.json", false, 999999999, NULL},
    {"rank1234567890.json", false, -1, NULL},
    {"rank3", false, 3, NULL},
    /* the folder */
    {"out/rank2/trace.json", false, 2, NULL},
    {"out/rank2/rank4.json", false, 4, NULL},
    {"rank2/out/trace.json", false, -1, NULL},
    {"/rank6/trace.json", false, 6, NULL},
    /* SGLang */
    {"1700000000-TP-3-PP-0.trace.json.gz", false, 3, NULL},
    {"1700000000-TP-3-PP-1.trace.json.gz", false, -1, NULL},
    {"1700000000-TP-3-DP-2.trace.json.gz", false, -1, NULL},
    {"1700000000-TP-0.trace.json.gz", false, 0, NULL},
    {"1700000000-TP-3.db", false, -1, NULL},
    /* short ones */
    {"trace_r3.json", false, 3, NULL},
    {"trace_r3x.json", false, -1, NULL},
    {"trace_r123456.json", false, -1, NULL},
    {"trace_r3.db", false, -1, NULL},
    /* hosts: PyTorch */
    {"node0_1000.17000000000.pt.trace.json", false, -1, "node0"},
    {"a/node-0.cluster.local_1000.1.pt.trace.json.gz", false, -1, "node-0.cluster.local"},
    {"host_1234.rank-7.pt.trace.json", false, 7, "host"},
    {"my_model_77.1.pt.trace.json", false, -1, NULL},
    {"12_77.1.pt.trace.json", false, -1, NULL},
    {"-x_77.1.pt.trace.json", false, -1, NULL},
    {"rank3_77.1.pt.trace.json", false, 3, NULL},
    {"node0_1000.json", false, -1, NULL},
    {"_1.1.pt.trace.json", false, -1, NULL},
    /* rocprofv3: only where the format says that its folders are hosts */
    {"out/node7/4711_results.db", true, -1, "node7"},
    {"out/node7/4711_results.db", false, -1, NULL},
    {"node7/4711_kernel_trace.csv", true, -1, "node7"},
    {"out/12/4711_results.db", true, -1, NULL},
    {"out/node7/results_4711.db", true, -1, NULL},
    {"4711_results.db", true, -1, NULL},
    {"out/rank3/4711_results.db", true, 3, NULL},
    /* JAX */
    {"log/plugins/profile/2024_01_11/gpu-host.trace.json.gz", false, -1, "gpu-host"},
    {"plugins/profile/x/12.trace.json", false, -1, NULL},
    {"profile/x/gpu-host.trace.json", false, -1, NULL},
    {"", false, -1, NULL},
    {"/", true, -1, NULL},
};

static void test_forms(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        const form *f = &forms[i];
        char *path = strdup(f->path); /* no byte behind its end may be read */
        assert_non_null(path);
        const rocl_named r = rocl_read_name(path, f->in_folder);
        if (r.rank != f->rank || (r.host != NULL) != (f->host != NULL) ||
            (f->host &&
             (r.host_len != strlen(f->host) || strncmp(r.host, f->host, r.host_len) != 0)))
            fail_msg("%s: rank %lld, host %.*s", f->path, (long long)r.rank,
                     r.host ? (int)r.host_len : 1, r.host ? r.host : "-");
        free(path);
    }
}

/* Whatever a file is called, what is found is in its name. */
static void test_random_names(void **state)
{
    static const char *const parts[] = {
        "rank", "_r",   "-TP-", "-PP-", "local_",       "3",     "17",  "[", "/", ".pt.trace.json",
        ".",    "node", "_",    "-",    "999999999999", ".json", "\xff"};
    uint32_t seed = 1;
    (void)state;
    for (int i = 0; i < 20000; i++) {
        char name[256] = "";
        for (unsigned n = 0; n < 8; n++) {
            seed = seed * 1664525 + 1013904223;
            strcat(name, parts[(seed >> 16) % (sizeof parts / sizeof *parts)]);
        }
        char *path = strdup(name);
        assert_non_null(path);
        const rocl_named r = rocl_read_name(path, seed >> 31);
        assert_in_range(r.rank + 1, 0, 1000000000);
        if (r.host)
            assert_true(r.host >= path && r.host_len && r.host + r.host_len <= path + strlen(path));
        free(path);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forms),
        cmocka_unit_test(test_random_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
