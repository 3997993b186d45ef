/* --align collectives on traces whose clocks are known: each rank has a clock of its own, with an
 * offset and a drift; ends of collectives scatter, some by far, and some ranks miss some. All
 * events must come out within the uncertainty that is stated, of the time that is true. */
#include "tests/unit/stats.h"

#include "base/error.h"
#include "model/trace.h"

enum { RANKS = 4, COLLECTIVES = 200 };

typedef struct skew {
    int64_t offset;
    double drift; /* from 2000 s on */
} skew;

typedef struct job {
    uint64_t seed;
    unsigned collectives, outliers, missing; /* the latter in percent */
    int64_t scatter;                         /* ns: a standard deviation */
    bool chain;                              /* rank n communicates with n + 1 only */
    skew skews[RANKS];
    int64_t ends[RANKS][COLLECTIVES]; /* on the clock of rank 0 */
    unsigned count[RANKS];
    char names[1024];
} job;

#define MIDDLE INT64_C(2000000000000)

/* About normal. */
static int64_t scatter_of(job *j)
{
    int64_t sum = 0;
    for (int i = 0; i < 12; i++)
        sum += (int64_t)draw_from(&j->seed, 2001) - 1000;
    return sum * j->scatter / 2000;
}

static int64_t on_clock(const skew *s, int64_t time)
{
    return (int64_t)(((double)(time - MIDDLE) - (double)s->offset) / (1 + s->drift)) + MIDDLE;
}

/* The time of rank 0 plus `offset` + drift * (t - MIDDLE) is what must be added. */
static void write_job(job *j)
{
    FILE *files[RANKS];
    int64_t now = MIDDLE + INT64_C(400000000000);
    *j->names = '\0';
    for (int r = 0; r < RANKS; r++) {
        char path[128];
        snprintf(path, sizeof path, "%s/a%llu-%d.json", folder, (unsigned long long)j->seed, r);
        snprintf(j->names + strlen(j->names), sizeof j->names - strlen(j->names), "%s%s",
                 *j->names ? " " : "", path);
        files[r] = fopen(path, "w");
        assert_non_null(files[r]);
        fprintf(files[r],
                "{\"schemaVersion\": 1, \"distributedInfo\": {\"rank\": %d},\n"
                "\"baseTimeNanoseconds\": 0, \"traceEvents\": [\n",
                r);
        j->skews[r] = (skew){r ? (int64_t)draw_from(&j->seed, 200000000000) - 100000000000 : 0,
                             r ? ((double)draw_from(&j->seed, 100001) - 50000) * 1e-9 : 0};
    }
    for (unsigned i = 0; i < j->collectives; i++) {
        const int first = (int)(i % (RANKS - 1));
        now += 5000000 + (int64_t)draw_from(&j->seed, 10000000);
        for (int r = 0; r < RANKS; r++) {
            if ((j->chain && r != first && r != first + 1) || draw_from(&j->seed, 100) < j->missing)
                continue;
            int64_t end = now + scatter_of(j);
            if (draw_from(&j->seed, 100) < j->outliers)
                end += (int64_t)draw_from(&j->seed, 100000000) - 50000000;
            const int64_t local = on_clock(&j->skews[r], end);
            const int64_t ns = 100000 + (int64_t)draw_from(&j->seed, 1000000);
            fprintf(files[r],
                    "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"ncclDevKernel_AllReduce\", "
                    "\"pid\": %d, \"tid\": 9, \"ts\": %lld.%03lld, \"dur\": %lld.%03lld, "
                    "\"args\": {\"device\": %d, \"stream\": 9, \"correlation\": %u, "
                    "\"Collective name\": \"allreduce\", \"In msg nelems\": 64, \"Group size\": "
                    "%d, \"dtype\": \"Float\", \"Process Group Name\": \"%d\", \"Seq\": %u}},\n",
                    r, (long long)((local - ns) / 1000), (long long)((local - ns) % 1000),
                    (long long)(ns / 1000), (long long)(ns % 1000), r, i + 1, j->chain ? 2 : RANKS,
                    j->chain ? first : 9, i);
            j->ends[r][j->count[r]++] = end;
        }
    }
    for (int r = 0; r < RANKS; r++) {
        fputs("{\"ph\": \"M\", \"name\": \"process_name\", \"pid\": 1, \"args\": {\"name\": "
              "\"x\"}}\n]}\n",
              files[r]);
        assert_int_equal(fclose(files[r]), 0);
    }
}

static const rocl_options open_options = {
    .jobs = 2, .align = ROCL_ALIGN_COLLECTIVES, .collectives = true};

static int compare_times(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

typedef struct seen {
    int64_t ends[RANKS][COLLECTIVES];
    unsigned count[RANKS];
} seen;

static rocl_status see_ends(void *ctx, unsigned worker, const rocl_batch *b, rocl_error *err)
{
    seen *s = ctx;
    (void)worker;
    (void)err;
    for (size_t i = 0; i < b->count; i++) {
        const rocl_event *e = rocl_batch_event(b, i);
        const int r = b->capture->rank;
        assert_int_equal(e->duration, e->end - e->start);
        s->ends[r][s->count[r]++] = e->end;
    }
    return ROCL_OK;
}

static void check_job(job *j)
{
    static seen s;
    rocl_options o = open_options;
    rocl_error *err = rocl_error_new();
    write_job(j);
    o.jobs = 1;
    memset(&s, 0, sizeof s);
    rocl_trace *t = open_trace(j->names, &o);
    assert_true(rocl_trace_scan(t, ROCL_BIT(ROCL_DISPATCH), 0, see_ends, &s, err) <= ROCL_PARTIAL);
    assert_true(t->clock_uncertainty > 0 &&
                t->clock_uncertainty < 100.0 * (double)j->scatter + 100);
    for (int r = 0; r < RANKS; r++) {
        assert_int_equal(s.count[r], j->count[r]);
        qsort(s.ends[r], s.count[r], sizeof **s.ends, compare_times);
        qsort(j->ends[r], s.count[r], sizeof **s.ends, compare_times);
        for (unsigned i = 0; i < s.count[r]; i++) {
            const double off = (double)(s.ends[r][i] - j->ends[r][i]);
            if (fabs(off) > t->clock_uncertainty + 3) /* decimals of JSON are cut */
                fail_msg("seed %llu, rank %d: off by %g ns, and stated are %g",
                         (unsigned long long)j->seed, r, off, t->clock_uncertainty);
        }
    }
    rocl_trace_close(t);
    rocl_error_free(err);
}

static void test_random(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        static job j;
        j = (job){.seed = seed * 7919,
                  .collectives = seed % 2 ? COLLECTIVES : 60,
                  .outliers = (unsigned)(seed % 3 * 8),
                  .missing = seed % 4 ? 0 : 10,
                  .scatter = (int64_t[]){200, 3000, 20000}[seed % 3],
                  .chain = seed % 5 == 0};
        check_job(&j);
    }
}

/* What cannot be known is an error, not a guess. */
static void test_refused(void **state)
{
    static const struct {
        unsigned collectives, missing;
        int64_t scatter;
        const char *says;
    } cases[] = {{6, 0, 1000, "fewer than 8 collectives"},
                 {100, 100, 1000, "fewer than 8 collectives"},
                 {100, 0, 5000000, "do not agree"}};
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        static job j;
        j = (job){.seed = 5 + i,
                  .collectives = cases[i].collectives,
                  .missing = cases[i].missing,
                  .scatter = cases[i].scatter};
        write_job(&j);
        const char *inputs[RANKS];
        char *rest = j.names;
        for (int r = 0; r < RANKS; r++)
            inputs[r] = strsep(&rest, " ");
        rocl_trace *t = NULL;
        rocl_error *err = rocl_error_new();
        assert_int_equal(rocl_trace_open(&t, inputs, RANKS, &open_options, err), ROCL_USAGE);
        assert_null(t);
        if (!strstr(rocl_error_text(err), cases[i].says))
            fail_msg("%s", rocl_error_text(err));
        rocl_error_free(err);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random),
                                       cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests_name("align_collectives", tests, enter, leave);
}
