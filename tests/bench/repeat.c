/* repeat SECONDS FOLDER INPUT...: opens, converts and closes traces in one process again and again,
 * with another number of workers each time, and says whether the process grows.
 *
 * A round writes each output once into FOLDER. Inputs that cannot be read take part as well: what
 * errors leave allocated shows. Memory, files and threads are compared with those after the first
 * quarter of the time, and twelve rounds at least. */
#include <dirent.h>
#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "rocline.h"

enum { WARM_UP = 12, SLACK_KIB = 1024 };

static const char *folder;

static const char *path_of(const char *name)
{
    static char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

/* ---- one conversion each ---- */

static rocl_status write_csv(rocl_trace *t, rocl_error *err)
{
    const rocl_csv_options o = {.directory = folder, .prefix = "csv"};
    return rocl_write_csv(t, &o, NULL, err);
}

static rocl_status write_pftrace(rocl_trace *t, rocl_error *err)
{
    const rocl_pftrace_options o = {.path = path_of("t.pftrace")};
    return rocl_write_pftrace(t, &o, NULL, err);
}

static rocl_status write_otf2(rocl_trace *t, rocl_error *err)
{
    const rocl_otf2_options o = {.path = path_of("t.otf2")};
    return rocl_has_otf2() ? rocl_write_otf2(t, &o, NULL, err) : ROCL_OK;
}

static rocl_status write_chrome(rocl_trace *t, rocl_error *err)
{
    const rocl_chrome_options o = {.path = path_of("t.json.gz"), .flows = true};
    return rocl_write_chrome(t, &o, NULL, err);
}

static rocl_status write_rocprofv3(rocl_trace *t, rocl_error *err)
{
    const rocl_json_options o = {.path = path_of("v3.json")};
    return rocl_write_rocprofv3_json(t, &o, NULL, err);
}

static rocl_status write_kineto(rocl_trace *t, rocl_error *err)
{
    const rocl_kineto_options o = {.path = path_of("kineto.json")};
    return rocl_write_kineto(t, &o, NULL, err);
}

static rocl_status write_parquet(rocl_trace *t, rocl_error *err)
{
    const rocl_export_options o = {
        .format = ROCL_EXPORT_PARQUET, .directory = folder, .prefix = "p"};
    return rocl_write_export(t, &o, NULL, err);
}

static rocl_status write_arrow(rocl_trace *t, rocl_error *err)
{
    const rocl_export_options o = {.format = ROCL_EXPORT_ARROW, .directory = folder, .prefix = "a"};
    return rocl_write_export(t, &o, NULL, err);
}

static rocl_status write_database(rocl_trace *t, rocl_error *err)
{
    const rocl_rocpd_options o = {.path = path_of("t.db"), .flat = true};
    return rocl_write_rocpd(t, &o, NULL, err);
}

static rocl_status write_rebuilt(rocl_trace *t, rocl_error *err)
{
    const rocl_rocpd_options o = {.path = path_of("r.db"), .rebuild = true};
    return rocl_write_rocpd(t, &o, NULL, err);
}

static rocl_status write_page(rocl_trace *t, rocl_error *err)
{
    const rocl_stats_options o = {
        .reports = (1u << ROCL_REPORTS) - 1, .findings = true, .header = true};
    const rocl_table_options page = {.path = path_of("s.html"), .format = ROCL_TABLE_HTML};
    rocl_tables *tables = NULL;
    rocl_status s = rocl_stats(t, &o, &tables, err);
    if (s <= ROCL_PARTIAL) {
        const rocl_status written = rocl_write_tables(tables, &page, err);
        s = written == ROCL_OK ? s : written;
    }
    rocl_tables_free(tables);
    return s;
}

static rocl_status write_rows(rocl_trace *t, rocl_error *err)
{
    const rocl_rows_options o = {.path = path_of("rows.csv"), .format = ROCL_ROWS_CSV};
    rocl_query *q = NULL;
    rocl_status s = rocl_query_open(&q, t, &(rocl_query_options){0}, err);
    if (s <= ROCL_PARTIAL)
        s = rocl_query_write(q, "SELECT name, count(*), sum(duration) FROM kernel GROUP BY 1", &o,
                             NULL, err);
    rocl_query_close(q);
    return s;
}

static rocl_status write_two(rocl_trace *t, void *ctx, rocl_error *err)
{
    return ctx ? write_csv(t, err) : write_pftrace(t, err);
}

static rocl_status write_together(rocl_trace *t, rocl_error *err)
{
    static int csv;
    const rocl_writer writers[] = {{write_two, NULL}, {write_two, &csv}};
    return rocl_write_together(t, writers, 2, err);
}

static rocl_status (*const writers[])(rocl_trace *t, rocl_error *err) = {
    write_csv,    write_pftrace, write_otf2,    write_chrome,   write_rocprofv3,
    write_kineto, write_parquet, write_arrow,   write_database, write_rebuilt,
    write_page,   write_rows,    write_together};
enum { WRITERS = sizeof writers / sizeof *writers };

/* ---- what the process has ---- */

typedef struct usage {
    long rss_kib, files, threads;
    long held_kib; /* allocated and not freed */
    long litter;   /* names in the folder of outputs that begin with a point */
} usage;

static long count_names(const char *path, bool hidden)
{
    long n = 0;
    DIR *d = opendir(path);
    for (const struct dirent *e; d && (e = readdir(d));)
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            n += !hidden || e->d_name[0] == '.';
    if (d)
        closedir(d);
    return n;
}

static usage read_usage(void)
{
    usage u = {.files = count_names("/proc/self/fd", false),
               .threads = count_names("/proc/self/task", false),
               .litter = count_names(folder, true)};
    const struct mallinfo2 heap = mallinfo2();
    long pages = 0, resident = 0;
    u.held_kib = (long)((heap.uordblks + heap.hblkhd) / 1024);
    malloc_trim(0); /* what is free and not given back is no growth */
    FILE *f = fopen("/proc/self/statm", "r");
    if (f && fscanf(f, "%ld %ld", &pages, &resident) == 2)
        u.rss_kib = resident * (sysconf(_SC_PAGESIZE) / 1024);
    if (f)
        fclose(f);
    return u;
}

static void print_usage(const char *when, unsigned long rounds, const usage *u)
{
    printf("%s: %lu rounds, %ld KiB, %ld KiB of it allocated, %ld files, %ld threads, %ld hidden "
           "names\n",
           when, rounds, u->rss_kib, u->held_kib, u->files, u->threads, u->litter);
    fflush(stdout);
}

/* Returns the number of conversions. */
static unsigned long run_round(char **inputs, int count, unsigned long round)
{
    static const unsigned jobs[] = {1, 2, 3, 7, 64};
    unsigned long done = 0;
    for (int i = 0; i < count; i++)
        for (size_t w = 0; w < WRITERS; w++) {
            rocl_error *err = rocl_error_new();
            rocl_trace *t = NULL;
            const rocl_options o = {.jobs = jobs[(round + w) % (sizeof jobs / sizeof *jobs)],
                                    .note_times = true,
                                    .args = true};
            if (rocl_trace_open(&t, (const char *const *)&inputs[i], 1, &o, err) <= ROCL_PARTIAL)
                done += writers[w](t, err) <= ROCL_PARTIAL;
            rocl_trace_close(t);
            rocl_error_free(err);
        }
    return done;
}

int main(int argc, char **argv)
{
    if (argc < 4)
        return 2;
    const long seconds = atol(argv[1]);
    folder = argv[2];
    /* Arenas keep free pages, the more the more threads there were; with one, what grows is a leak.
     */
    mallopt(M_ARENA_MAX, 1);
    const time_t begin = time(NULL);
    unsigned long rounds = 0, done = 0, warm = 0;
    usage first = {0}, last = {0}, most = {0};
    while (rounds < 2 * WARM_UP || time(NULL) - begin < seconds) {
        done += run_round(argv + 3, argc - 3, rounds++);
        last = read_usage();
        if (!warm && rounds >= WARM_UP && 4 * (time(NULL) - begin) >= seconds) {
            warm = rounds;
            first = most = last;
            print_usage("begin", rounds, &first);
        }
        most.rss_kib = last.rss_kib > most.rss_kib ? last.rss_kib : most.rss_kib;
        most.held_kib = last.held_kib > most.held_kib ? last.held_kib : most.held_kib;
        most.files = last.files > most.files ? last.files : most.files;
        most.threads = last.threads > most.threads ? last.threads : most.threads;
    }
    print_usage("end", rounds, &last);
    const bool grown = most.rss_kib > first.rss_kib + SLACK_KIB ||
                       most.held_kib > first.held_kib + SLACK_KIB / 4 || most.files > first.files ||
                       most.threads > first.threads || last.litter;
    printf("repeat: %lu conversions, at most %ld KiB, %ld files, %ld threads: %s\n", done,
           most.rss_kib, most.files, most.threads, grown ? "GROWN" : "no growth");
    return grown || !done;
}
