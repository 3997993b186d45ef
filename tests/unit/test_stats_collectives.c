/* The report on collectives against brute force: traces of several ranks as PyTorch writes them,
 * made up at random, with ranks, kernels and arguments that are missing; every figure is computed
 * anew from all kernels. */
#include "model/collectives.h"
#include "tests/unit/stats.h"

#define OPTIONS ((rocl_stats_options){.reports = 1u << ROCL_REPORT_RANKS})

enum { RANKS_MAX = 6, KERNELS_MAX = 400, STEPS = 4, KINDS = 4 };

static const struct {
    const char *name, *kernel;
    const char *kind;
    bool both; /* 2(n-1)/n */
} kinds[KINDS] = {
    {"allreduce", "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(x)", "allreduce", true},
    {"_allgather_base", "ncclDevKernel_AllGather_RING_LL(x)", "allgather", false},
    {"reduce_scatter_tensor_coalesced", "rcclGenericKernel(x)", "reducescatter", false},
    {"all_to_all", "ncclDevKernel_SendRecv(x)", "alltoall", false},
};

typedef struct kernel {
    int rank;
    bool compute;
    int communicator; /* 0: all ranks, 1: even ranks, 2: odd ranks */
    int kind, number; /* of the communicator; a sequence number */
    int64_t elements;
    int64_t start, ns;
} kernel;

typedef struct job {
    uint64_t seed;
    int ranks;
    bool sequences, arguments;
    kernel k[KERNELS_MAX];
    int n;
    int64_t steps[RANKS_MAX][STEPS][2];
    char names[1024]; /* of the files */
} job;

/* ---- a job ---- */

static bool is_in(int communicator, int rank)
{
    return communicator == 0 || rank % 2 == communicator - 1;
}

static int size_of(const job *j, int communicator)
{
    int n = 0;
    for (int r = 0; r < j->ranks; r++)
        n += is_in(communicator, r);
    return n;
}

static int compare_kernels(const void *a, const void *b)
{
    const kernel *x = a, *y = b;
    return x->start < y->start ? -1 : x->start > y->start;
}

/* Collectives one after the other; ranks begin them at different times, and some not at all. */
static void make_job(job *j, uint64_t seed)
{
    *j = (job){.seed = seed * 977 + 5};
    j->ranks = 2 + (int)draw_from(&j->seed, RANKS_MAX - 1);
    j->arguments = seed % 4 != 0;
    j->sequences = j->arguments && seed % 2;
    int64_t now = 1000000;
    int numbers[3] = {0};
    const int collectives = 5 + (int)draw_from(&j->seed, 30);
    for (int i = 0; i < collectives; i++) {
        const int c = j->arguments ? (int)draw_from(&j->seed, 3) : 0;
        const int kind = (int)draw_from(&j->seed, j->arguments ? KINDS : KINDS - 1);
        const int64_t elements = 1024 << draw_from(&j->seed, 3);
        numbers[c]++;
        for (int r = 0; r < j->ranks; r++) {
            if (!is_in(c, r) || (j->sequences && draw_from(&j->seed, 20) == 0))
                continue;
            const int64_t late = (int64_t)draw_from(&j->seed, 5) * 1000;
            const bool other = j->arguments && draw_from(&j->seed, 40) == 0;
            j->k[j->n++] =
                (kernel){r,          false,
                         c,          other ? (kind + 1) % KINDS : kind,
                         numbers[c], elements,
                         now + late, 9000 - late + (int64_t)draw_from(&j->seed, 3) * 100};
        }
        for (int r = 0; r < j->ranks && j->n < KERNELS_MAX - RANKS_MAX - 1; r++)
            if (draw_from(&j->seed, 2))
                j->k[j->n++] = (kernel){.rank = r,
                                        .compute = true,
                                        .start = now + (int64_t)draw_from(&j->seed, 12) * 1000,
                                        .ns = (int64_t)draw_from(&j->seed, 9) * 1000};
        now += 10000 + (int64_t)draw_from(&j->seed, 5) * 1000;
        if (j->n > KERNELS_MAX - 2 * RANKS_MAX)
            break;
    }
    for (int r = 0; r < j->ranks; r++)
        for (int s = 0; s < STEPS; s++) {
            j->steps[r][s][0] = 1000000 + (now - 1000000) * s / STEPS / 100 * 100 + r * 100;
            j->steps[r][s][1] = j->steps[r][s][0] + (now - 1000000) / STEPS / 100 * 100 -
                                (int64_t)draw_from(&j->seed, 3) * 500;
        }
    qsort(j->k, (size_t)j->n, sizeof *j->k, compare_kernels);
}

static void write_rank(job *j, int r, uint64_t seed)
{
    static const char *const ranks[] = {"all", "even", "odd"};
    char path[128];
    snprintf(path, sizeof path, "%s/c%llu-%d.json", folder, (unsigned long long)seed, r);
    snprintf(j->names + strlen(j->names), sizeof j->names - strlen(j->names), "%s%s",
             *j->names ? " " : "", path);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fprintf(f,
            "{\"schemaVersion\": 1, \"distributedInfo\": {\"backend\": \"nccl\", \"rank\": %d, "
            "\"world_size\": %d},\n\"baseTimeNanoseconds\": 0, \"displayTimeUnit\": \"ms\", "
            "\"traceEvents\": [\n",
            r, j->ranks);
    for (int s = 0; s < STEPS; s++)
        fprintf(f,
                "{\"ph\": \"X\", \"cat\": \"user_annotation\", \"name\": \"step:%d\", \"pid\": "
                "%d, \"tid\": 7, \"ts\": %lld.%03lld, \"dur\": %lld.%03lld},\n",
                s, 100 + r, (long long)(j->steps[r][s][0] / 1000),
                (long long)(j->steps[r][s][0] % 1000),
                (long long)((j->steps[r][s][1] - j->steps[r][s][0]) / 1000),
                (long long)((j->steps[r][s][1] - j->steps[r][s][0]) % 1000));
    for (int i = 0; i < j->n; i++) {
        const kernel *k = &j->k[i];
        if (k->rank != r)
            continue;
        fprintf(f,
                "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"%s\", \"pid\": %d, \"tid\": %d, "
                "\"ts\": %lld.%03lld, \"dur\": %lld.%03lld, \"args\": {\"device\": %d, "
                "\"stream\": %d, \"correlation\": %d",
                k->compute ? "Cijk_gemm" : kinds[k->kind].kernel, r, k->compute ? 1 : 9,
                (long long)(k->start / 1000), (long long)(k->start % 1000),
                (long long)(k->ns / 1000), (long long)(k->ns % 1000), r, k->compute ? 1 : 9, i + 1);
        if (!k->compute && j->arguments) {
            fprintf(f,
                    ", \"Collective name\": \"%s\", \"In msg nelems\": %lld, \"Out msg nelems\": "
                    "%lld, \"Group size\": %d, \"dtype\": \"%s\", \"Process Group Name\": \"%d\", "
                    "\"Process Group Ranks\": \"[%s]\"",
                    kinds[k->kind].name, (long long)k->elements / 2, (long long)k->elements,
                    size_of(j, k->communicator), k->kind ? "Float" : "BFloat16",
                    k->communicator ? 1 : 0, ranks[k->communicator]);
            if (j->sequences)
                fprintf(f, ", \"Seq\": %d", k->number);
        }
        fputs("}},\n", f);
    }
    fprintf(f,
            "{\"ph\": \"M\", \"name\": \"process_name\", \"pid\": %d, \"args\": {\"name\": "
            "\"python\"}}\n]}\n",
            100 + r);
    assert_int_equal(fclose(f), 0);
}

/* ---- brute force ---- */

/* The place of a kernel in the order of its communicator, or without arguments of its name. */
static int place_of(const job *j, int i)
{
    const kernel *k = &j->k[i];
    int n = 0;
    if (j->sequences)
        return k->number;
    for (int m = 0; m < i; m++)
        n += j->k[m].rank == k->rank && !j->k[m].compute &&
             j->k[m].communicator == k->communicator && (j->arguments || j->k[m].kind == k->kind);
    return n + 1;
}

/* The members of the collective of kernel i, by rank; false: it is not whole. *expected: how many
 * there should be. */
static bool find_members(const job *j, int i, int members[RANKS_MAX], int *count)
{
    const kernel *k = &j->k[i];
    const int place = place_of(j, i);
    int expected = size_of(j, k->communicator);
    bool alike = true;
    *count = 0;
    if (!j->arguments) {
        expected = 0;
        for (int r = 0; r < j->ranks; r++)
            for (int m = 0; m < j->n; m++)
                if (j->k[m].rank == r && !j->k[m].compute && j->k[m].kind == k->kind) {
                    expected++;
                    break;
                }
        expected = expected > 1 ? expected : -1;
    }
    for (int m = 0; m < j->n; m++) {
        const kernel *o = &j->k[m];
        if (o->compute || o->communicator != k->communicator ||
            (!j->arguments && o->kind != k->kind) || place_of(j, m) != place)
            continue;
        alike &= o->kind == k->kind;
        members[(*count)++] = m;
    }
    return alike && *count == expected;
}

static int64_t bytes_of_kernel(const job *j, const kernel *k)
{
    return j->arguments ? k->elements * (k->kind ? 4 : 2) : 0;
}

/* In whole ns of [from, to): how long any kernel runs that counts. 1: communication, 2: compute. */
static int64_t measure(const job *j, int rank, int which, int64_t from, int64_t to)
{
    int64_t sum = 0;
    for (int64_t t = from; t < to; t += 100) { /* all times are multiples of it */
        bool any = false;
        for (int i = 0; i < j->n && !any; i++)
            any = j->k[i].rank == rank && which & (j->k[i].compute ? 2 : 1) && j->k[i].start <= t &&
                  t < j->k[i].start + j->k[i].ns;
        sum += any ? 100 : 0;
    }
    return sum;
}

typedef struct group_sum {
    int64_t count, whole, members, total, latency, skew, wait, longest;
} group_sum;

static group_sum sum_group(const job *j, const rocl_table *t, size_t row)
{
    group_sum g = {0};
    const char *in = text_if_any(t, row, "communicator");
    const bool sized = find_cell(t, row, "bytes")->type != ROCL_DATUM_NONE;
    for (int i = 0; i < j->n; i++) {
        int members[RANKS_MAX * 2], count;
        if (j->k[i].compute)
            continue;
        const bool whole = find_members(j, i, members, &count);
        int64_t bytes = 0, last = 0, first = INT64_MAX, latency = INT64_MAX;
        int lead = members[0]; /* the group is that of its first rank */
        for (int m = 0; m < count; m++) {
            const kernel *k = &j->k[members[m]];
            lead = k->rank < j->k[lead].rank ? members[m] : lead;
            bytes = bytes_of_kernel(j, k) > bytes ? bytes_of_kernel(j, k) : bytes;
            last = k->start > last ? k->start : last;
            first = k->start < first ? k->start : first;
            latency = k->ns < latency ? k->ns : latency;
        }
        const kernel *k = &j->k[lead];
        char name[8];
        snprintf(name, sizeof name, "%d", k->communicator ? 1 : 0);
        const bool kernel_only = !j->arguments && k->kind == 2; /* a generic kernel */
        if (strcmp(text_of(t, row, "collective"),
                   kernel_only ? kinds[k->kind].kernel : kinds[k->kind].kind) ||
            (j->arguments && strcmp(in, name)) ||
            (sized ? int_of(t, row, "bytes") != bytes : bytes != 0))
            continue;
        g.total += j->k[i].ns;
        if (lead != i)
            continue;
        g.count++;
        if (!whole)
            continue;
        g.whole++;
        g.members += count;
        g.latency += latency;
        g.skew += last - first;
        g.longest = last - first > g.longest ? last - first : g.longest;
        for (int m = 0; m < count; m++)
            g.wait += last - j->k[members[m]].start;
    }
    return g;
}

/* Communicators 1 and 2 have one name, and may have groups that look alike: rows are added up. */
static void check_groups(const job *j, const rocl_table *t)
{
    int64_t count = 0, whole = 0;
    for (size_t row = 0; row < t->row_count; row++) {
        int64_t rows = 0, got[3] = {0};
        double latency = 0;
        for (size_t o = 0; o < t->row_count; o++) {
            bool same = true;
            static const char *const keys[] = {"collective", "communicator", "bytes"};
            for (size_t k = 0; k < COUNT(keys); k++) {
                const rocl_datum *a = find_cell(t, row, keys[k]), *b = find_cell(t, o, keys[k]);
                same &=
                    a->type == b->type && (a->type == ROCL_DATUM_TEXT  ? !strcmp(a->text, b->text)
                                           : a->type == ROCL_DATUM_INT ? a->i == b->i
                                                                       : true);
            }
            if (!same)
                continue;
            rows++;
            got[0] += int_of(t, o, "count");
            got[1] += int_of(t, o, "matched");
            got[2] += int_of(t, o, "total_ns");
            if (int_of(t, o, "matched"))
                latency += real_of(t, o, "latency_ns") * (double)int_of(t, o, "matched");
        }
        const group_sum g = sum_group(j, t, row);
        assert_int_equal(got[0], g.count);
        assert_int_equal(got[1], g.whole);
        assert_int_equal(got[2], g.total);
        assert_true(fabs(latency - (double)g.latency) < 1e-6 * (double)g.latency + 1e-3);
        count += int_of(t, row, "count");
        whole += int_of(t, row, "matched");
        if (rows > 1 || !g.whole)
            continue;
        check_real(t, row, "skew_ns", (double)g.skew / (double)g.whole);
        check_real(t, row, "wait_ns", (double)g.wait / (double)g.members);
        check_int(t, row, "max_wait_ns", g.longest);
        if (!j->arguments) {
            check_real(t, row, "bus_bandwidth", NAN);
            continue;
        }
        const double speed =
            (double)int_of(t, row, "bytes") * (double)g.whole * 1e9 / (double)g.latency;
        const double n = (double)int_of(t, row, "ranks");
        const bool both = !strcmp(text_of(t, row, "collective"), "allreduce");
        check_real(t, row, "algorithm_bandwidth", speed);
        if (n > 1)
            check_real(t, row, "bus_bandwidth", speed * (both ? 2 : 1) * (n - 1) / n);
    }
    for (int i = 0; i < j->n; i++) {
        int members[RANKS_MAX * 2], n;
        if (j->k[i].compute)
            continue;
        const bool is = find_members(j, i, members, &n);
        count -= members[0] == i;
        whole -= is && members[0] == i;
    }
    assert_int_equal(count, 0);
    assert_int_equal(whole, 0);
}

static void check_ranks(const job *j, const rocl_table *t)
{
    for (size_t row = 0; row < t->row_count; row++) {
        const int r = (int)int_of(t, row, "rank");
        int64_t last = 0, first = 0, wait = 0, whole = 0;
        for (int i = 0; i < j->n; i++) {
            int members[RANKS_MAX * 2], n;
            if (j->k[i].compute || j->k[i].rank != r || !find_members(j, i, members, &n))
                continue;
            int late = members[0], early = members[0];
            for (int m = 0; m < n; m++) {
                const kernel *k = &j->k[members[m]], *x = &j->k[late], *y = &j->k[early];
                if (k->start > x->start || (k->start == x->start && k->rank < x->rank))
                    late = members[m];
                if (k->start < y->start || (k->start == y->start && k->rank < y->rank))
                    early = members[m];
            }
            whole++;
            last += late == i && j->k[late].start > j->k[early].start;
            first += early == i && j->k[late].start > j->k[early].start;
            wait += j->k[late].start - j->k[i].start;
        }
        check_int(t, row, "matched", whole);
        check_int(t, row, "last", last);
        check_int(t, row, "first", first);
        check_int(t, row, "total_wait_ns", wait);
        const int64_t all = measure(j, r, 3, 900000, 2000000),
                      compute = measure(j, r, 2, 900000, 2000000);
        check_int(t, row, "communication_ns", measure(j, r, 1, 900000, 2000000));
        check_int(t, row, "exposed_ns", all - compute);
    }
}

/* Every kernel of communication is in one of the columns. */
static void check_communicators(const job *j, const rocl_table *t)
{
    int64_t kernels = 0;
    for (size_t row = 0; row < t->row_count; row++) {
        kernels += int_of(t, row, "kernels");
        assert_int_equal(int_of(t, row, "collectives"), int_of(t, row, "matched") +
                                                            int_of(t, row, "incomplete") +
                                                            int_of(t, row, "mixed"));
    }
    for (int i = 0; i < j->n; i++)
        kernels -= !j->k[i].compute;
    assert_int_equal(kernels, 0);
}

static void check_job(uint64_t seed)
{
    const rocl_options open = {.jobs = 2, .memory = (size_t)256 << 10, .collectives = true};
    const rocl_stats_options o = OPTIONS;
    job j;
    make_job(&j, seed);
    for (int r = 0; r < j.ranks; r++)
        write_rank(&j, r, seed);
    rocl_trace *t = open_trace(j.names, &open);
    rocl_tables *all = stats_of(t, &o);
    check_groups(&j, table_of(all, "collectives"));
    check_ranks(&j, table_of(all, "collective_ranks"));
    check_communicators(&j, table_of(all, "communicators"));
    rocl_tables_free(all);
    rocl_trace_close(t);
}

/* ---- tests ---- */

static void test_random(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 40; seed++)
        check_job(seed);
}

static void test_same(void **state)
{
    const rocl_stats_options o = OPTIONS;
    job j;
    (void)state;
    make_job(&j, 3);
    for (int r = 0; r < j.ranks; r++)
        write_rank(&j, r, 3);
    check_same_bytes(j.names, &o);
    check_same_bytes("rank0 rank1", &o);
    check_same_bytes("node-rank0 node-rank1 node-rank2 node-rank3", &o);
}

/* In which calls and markers ranks meet: collectives that wait. */
static void test_meetings(void **state)
{
    static const struct {
        const char *name;
        rocl_meeting meeting;
    } rows[] = {{"MPI_Allreduce", ROCL_MEET_MPI},
                {"mpi_allreduce_", ROCL_MEET_MPI},
                {"PMPI_Barrier", ROCL_MEET_MPI},
                {"MPI_Bcast", ROCL_MEET_MPI},
                {"MPI_Alltoallv", ROCL_MEET_MPI},
                {"MPI_Reduce_scatter_block", ROCL_MEET_MPI},
                {"MPI_Gatherv", ROCL_MEET_MPI},
                {"MPI_Iallreduce", ROCL_MEETINGS},
                {"MPI_Reduce_local", ROCL_MEETINGS},
                {"MPI_Neighbor_allgather", ROCL_MEETINGS},
                {"MPI_Wait", ROCL_MEETINGS},
                {"MPI_Sendrecv", ROCL_MEETINGS},
                {"MPI_", ROCL_MEETINGS},
                {"my MPI_Allreduce", ROCL_MEETINGS},
                {"ncclAllReduce", ROCL_MEET_CALLS},
                {"nccl:all_reduce", ROCL_MEET_CALLS},
                {"ncclReduceScatter", ROCL_MEET_CALLS},
                {"ncclGroupEnd", ROCL_MEETINGS},
                {"ncclSend", ROCL_MEETINGS},
                {"hipLaunchKernel", ROCL_MEETINGS},
                {"allreduce", ROCL_MEETINGS},
                {"", ROCL_MEETINGS}};
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++)
        if (rocl_meeting_of(rows[i].name, strlen(rows[i].name)) != rows[i].meeting)
            fail_msg("%s", rows[i].name);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random), cmocka_unit_test(test_same),
                                       cmocka_unit_test(test_meetings)};
    return cmocka_run_group_tests_name("stats_collectives", tests, enter, leave);
}
