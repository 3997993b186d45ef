/* Runs the tools over a case, and compares what came out with what the input holds and with each
 * other. */
#include "tests/property/property.h"

#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

const char *build_folder;
unsigned tool_limit = 120;

int run_program(const char *const *words, const char *out, const char *err)
{
    int status;
    pid_t pid = fork();
    if (pid == 0) {
        int o = open(out, O_WRONLY | O_CREAT | O_TRUNC, 0666);
        int e = open(err, O_WRONLY | O_CREAT | O_TRUNC, 0666);
        int i = open("/dev/null", O_RDONLY);
        dup2(i, 0);
        dup2(o, 1);
        dup2(e, 2);
        alarm(tool_limit); /* it stays across the exec, and kills what does not end */
        execv(words[0], (char *const *)(uintptr_t)words);
        _exit(127);
    }
    if (pid < 0 || waitpid(pid, &status, 0) != pid)
        return 127;
    if (WIFEXITED(status))
        return WEXITSTATUS(status);
    return WTERMSIG(status) == SIGALRM ? RUN_TIMEOUT : -WTERMSIG(status);
}

/* ---- files ---- */

bool bytes_read(bytes *b, const char *path)
{
    *b = (bytes){NULL, 0};
    FILE *f = fopen(path, "rb");
    struct stat st;
    if (!f)
        return false;
    bool ok = fstat(fileno(f), &st) == 0 && (b->p = malloc((size_t)st.st_size + 1)) != NULL;
    if (ok) {
        b->n = fread(b->p, 1, (size_t)st.st_size, f);
        b->p[b->n] = '\0';
    }
    fclose(f);
    return ok;
}

bool bytes_write(const char *path, const char *p, size_t n)
{
    FILE *f = fopen(path, "wb");
    bool ok = f && fwrite(p, 1, n, f) == n;
    return (f ? fclose(f) == 0 : false) && ok;
}

bool is_folder(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static int is_entry(const struct dirent *e)
{
    return strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
}

void list_folder(const char *path, void (*fn)(void *ctx, const char *path), void *ctx)
{
    struct dirent **all = NULL;
    char name[8192];
    int n = scandir(path, &all, is_entry, alphasort);
    for (int i = 0; i < n; i++) {
        snprintf(name, sizeof name, "%s/%s", path, all[i]->d_name);
        fn(ctx, name);
        free(all[i]);
    }
    free(all);
}

static void remove_one(void *ctx, const char *path)
{
    (void)ctx;
    struct stat st;
    if (lstat(path, &st) == 0 && S_ISDIR(st.st_mode))
        remove_tree(path);
    else
        unlink(path);
}

void remove_tree(const char *path)
{
    list_folder(path, remove_one, NULL);
    rmdir(path);
}

/* A number for the names and bytes of a folder. */
static void hash_one(void *ctx, const char *path)
{
    uint64_t *h = ctx;
    bytes b = {NULL, 0};
    for (const char *p = strrchr(path, '/'); *p; p++)
        *h = (*h ^ (unsigned char)*p) * UINT64_C(1099511628211);
    if (is_folder(path)) {
        list_folder(path, hash_one, ctx);
    } else if (bytes_read(&b, path)) {
        for (size_t i = 0; i < b.n; i++)
            *h = (*h ^ (unsigned char)b.p[i]) * UINT64_C(1099511628211);
    }
    free(b.p);
}

static uint64_t hash_folder(const char *path)
{
    uint64_t h = UINT64_C(14695981039346656037);
    list_folder(path, hash_one, &h);
    return h;
}

/* ---- tools ---- */

typedef struct tool {
    const char *name;     /* of the output */
    const char *words[9]; /* the command; the input comes last */
    const char *output;
    void (*count)(counts *c, const char *path, char *why, size_t size);
    bool copies; /* rows of databases as they are: faults stay in the output, unsaid */
    bool some;   /* no counters are read: their faults are not seen */
} tool;

enum {
    CSV,
    PFTRACE,
    OTF2,
    CHROME,
    ROCPROFV3,
    STATISTICS,
    MERGED,
    FLAT,
    REBUILT,
    PARQUET,
    ARROW,
    LINES,
    SQL,
    CONVERTED,
    TOOLS
};

static const tool tools[TOOLS] = {
    [CSV] = {"CSV",
             {"rocpd2csv", "--style", "rocpd-1.1", "-d", "o/csv", "-o", "o"},
             "o/csv",
             count_csv,
             false,
             false},
    [PFTRACE] = {"pftrace",
                 {"rocpd2pftrace", "-o", "o/t.pftrace"},
                 "o/t.pftrace",
                 count_pftrace,
                 false,
                 false},
    [OTF2] = {"OTF2",
              {"rocpd2otf2", "-d", "o/otf2", "-o", "o"},
              "o/otf2/o_results.otf2",
              count_otf2,
              false,
              false},
    [CHROME] = {"Chrome JSON",
                {"rtg2json", "-f", "--layout", "trace", "-o", "o/t.json"},
                "o/t.json",
                count_chrome,
                false,
                false},
    [ROCPROFV3] = {"rocprofv3 JSON",
                   {"rtg2json", "--layout", "rocprofv3", "-o", "o/v3.json"},
                   "o/v3.json",
                   count_rocprofv3,
                   false,
                   false},
    [STATISTICS] = {"statistics",
                    {"rocstats", "all", "--format", "json", "-o", "o/s.json"},
                    "o/s.json",
                    count_statistics,
                    false,
                    false},
    [MERGED] = {"rocmerge", {"rocmerge", "-o", "o/m.db"}, "o/m.db", count_database, true, false},
    [FLAT] = {"rocmerge --flat",
              {"rocmerge", "--flat", "-o", "o/f.db"},
              "o/f.db",
              count_database,
              true,
              false},
    [REBUILT] = {"rocmerge --rebuild",
                 {"rocmerge", "--rebuild", "-o", "o/r.db"},
                 "o/r.db",
                 count_database,
                 false,
                 false},
    [PARQUET] = {"Parquet",
                 {"rocline", "export", "-d", "o/e", "-o", "o"},
                 "o/e",
                 count_export,
                 false,
                 false},
    [ARROW] = {"Arrow",
               {"rocline", "export", "-f", "arrow", "-d", "o/e", "-o", "o"},
               "o/e",
               count_export,
               false,
               false},
    [LINES] = {"JSON lines",
               {"rocline", "export", "-f", "jsonl", "-d", "o/e", "-o", "o"},
               "o/e",
               count_export,
               false,
               false},
    [SQL] = {"SQL",
             {"rocline", "query", "--format", "csv", "-o", "o/q.csv",
              "SELECT kind, count(*) FROM event GROUP BY kind"},
             "o/q.csv",
             count_query,
             false,
             true},
    [CONVERTED] = {"rocline convert",
                   {"rocline", "convert", "-f", "csv,pftrace,json", "-d", "o/c", "-o", "o"},
                   "o/c",
                   count_converted,
                   false,
                   false},
};

typedef struct result {
    bool ran;
    int rc;
    counts counts;
    char *said;      /* standard error, without the names of tools and what only this output says */
    int64_t unknown; /* "N records of 'walks' are left out: not known" */
    int64_t left;    /* "N records left out" */
    int64_t values;  /* of them: no events */
    int64_t no_place; /* "N events left out: ..." */
    bool repaired;
} result;

typedef struct check {
    const char *input;
    uint64_t number;
    bool database; /* a rocpd database: merged as it is */
    finding_fn *fn;
    void *ctx;
    unsigned runs;
    result results[TOOLS];
} check;

static void report(const check *c, const char *law, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void report(const check *c, const char *law, const char *format, ...)
{
    char text[2048];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    for (char *p = text; *p; p++)
        if (*p == '\n')
            *p = '|';
    c->fn(c->ctx, law, text);
}

/* The number before a text; 0 if it is not there. */
static int64_t number_before(const char *said, const char *text)
{
    int64_t sum = 0;
    for (const char *p = said; (p = strstr(p, text)); p++) {
        const char *begin = p;
        while (begin > said && begin[-1] >= '0' && begin[-1] <= '9')
            begin--;
        sum += strtoll(begin, NULL, 10);
    }
    return sum;
}

static int64_t number_behind(const char *said, const char *text)
{
    const char *p = strstr(said, text);
    return p ? strtoll(p + strlen(text), NULL, 10) : 0;
}

/* What is said of the output and not of the input. */
static bool is_about_output(const char *line, size_t n)
{
    static const char *const texts[] = {"no place for",
                                        "CSV has no file",
                                        "readers that use doubles",
                                        "not UTF-8",
                                        "nothing to convert:",
                                        "no events of the requested kinds",
                                        "its begin was moved to",
                                        "are cut to that"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (memmem(line, n, texts[i], strlen(texts[i])))
            return true;
    return false;
}

/* Standard error without names of tools. */
static void read_stderr(result *r, const tool *t)
{
    bytes b = {NULL, 0};
    char program[64];
    const bool is_part = !strcmp(t->words[0], "rocline");
    const size_t name = (size_t)snprintf(program, sizeof program, "%s%s%s", t->words[0],
                                         is_part ? " " : "", is_part ? t->words[1] : "");
    free(r->said);
    r->said = NULL;
    if (!bytes_read(&b, "err") || !(r->said = calloc(1, b.n + 1)))
        abort();
    char *to = r->said;
    for (const char *p = b.p, *end; *p; p = end) {
        end = p + strcspn(p, "\n");
        end += *end == '\n';
        const char *line = p;
        if (!strncmp(line, program, name) && line[name] == ':')
            line += name + 1;
        if (is_about_output(line, (size_t)(end - line)))
            continue;
        memcpy(to, line, (size_t)(end - line));
        to += end - line;
    }
    *to = '\0';
    r->left =
        number_before(r->said, " records left out:") + number_before(r->said, " record left out:");
    r->unknown = number_before(r->said, " records of '") + number_before(r->said, " record of '");
    r->values = number_behind(r->said, "value without an event (") +
                number_behind(r->said, "counter value that is not a finite number (");
    r->no_place =
        number_before(b.p, " events left out: JSON") + number_before(b.p, " event left out: JSON");
    r->repaired = strstr(r->said, " repaired:") != NULL;
    /* Databases keep the bytes that other outputs cannot have, and only reports have sums. */
    if (r->rc == 1 && !r->left && !r->unknown && !r->repaired && !strstr(r->said, "truncated") &&
        !strstr(r->said, "is not a trace, and left out") &&
        (strstr(b.p, "not UTF-8") || strstr(b.p, "are cut to that")))
        r->rc = 0;
    free(b.p);
}

static void tell_path(void *ctx, const char *path)
{
    char *to = ctx;
    const size_t n = strlen(to);
    snprintf(to + n, 512 - n, " %.200s", path);
}

/* Runs a tool over the input in ./in; the output is in ./o. */
static void run_tool(check *c, const tool *t, const char *input, result *r, unsigned jobs,
                     const char *reader)
{
    char program[8192], number[16], left[512] = "", why[1024] = "";
    const char *words[20];
    size_t n = 0;
    snprintf(program, sizeof program, "%s/bin/%s", build_folder, t->words[0]);
    snprintf(number, sizeof number, "%u", jobs);
    words[n++] = program;
    for (size_t i = 1; t->words[i]; i++)
        words[n++] = t->words[i];
    words[n++] = "--no-sync"; /* thousands of runs would wait for the disk */
    words[n++] = "-j";
    words[n++] = number;
    if (reader) {
        words[n++] = "--reader";
        words[n++] = reader;
    }
    words[n++] = input;
    words[n] = NULL;
    remove_tree("o");
    mkdir("o", 0777);
    *r = (result){.ran = true, .rc = run_program(words, "out", "err")};
    c->runs++;
    read_stderr(r, t);
    counts_forget(&r->counts);
    if (r->rc == RUN_TIMEOUT || r->rc < 0 || r->rc > 4 || r->rc == 2 ||
        strstr(r->said, "Sanitizer") || strstr(r->said, "runtime error")) {
        const char *where = strstr(r->said, "SUMMARY");
        report(c, r->rc == RUN_TIMEOUT ? "ends" : "no crash", "%s: exit code %d: %.300s", t->name,
               r->rc, where ? where : r->said);
        return;
    }
    if (r->rc >= 3) {
        list_folder("o", tell_path, left);
        if (left[0])
            report(c, "a failed run leaves nothing", "%s: exit code %d, left%s", t->name, r->rc,
                   left);
        if (!r->said[0])
            report(c, "a failed run says why", "%s: exit code %d", t->name, r->rc);
        return;
    }
    if (r->rc == 0 && (r->left || r->repaired))
        report(c, "exit code 1 after a loss", "%s: exit code 0: %.300s", t->name, r->said);
    if (r->rc == 1 && !r->said[0])
        report(c, "exit code 1 only with a word", "%s", t->name);
    t->count(&r->counts, t->output, why, sizeof why);
    if (t->count == count_chrome) { /* calls may have the categories of work */
        const int64_t events = r->counts.events;
        if (strstr(input, ".json") || strstr(input, ".pftrace"))
            counts_forget(&r->counts);
        r->counts.events = events;
    }
    if (why[0])
        report(c, "outputs are valid", "%s: %s", t->name, why);
}

/* ---- laws ---- */

static bool is_done(const result *r)
{
    return r->ran && (r->rc == 0 || r->rc == 1);
}

/* The kinds that both know, and the sum. */
static void compare_counts(const check *c, const char *law, const char *a_name, const counts *a,
                           const char *b_name, const counts *b)
{
    for (int k = 0; k < KINDS; k++)
        if (a->of[k] >= 0 && b->of[k] >= 0 && a->of[k] != b->of[k])
            report(c, law, "%s: %lld in %s, %lld in %s", kind_names[k], (long long)a->of[k], a_name,
                   (long long)b->of[k], b_name);
    if (a->work >= 0 && b->of[KIND_KERNEL] >= 0 && b->of[KIND_COPY] >= 0 &&
        a->work != b->of[KIND_KERNEL] - b->timeless + b->of[KIND_COPY])
        report(c, law, "kernels and copies: %lld in %s, %lld in %s", (long long)a->work, a_name,
               (long long)(b->of[KIND_KERNEL] + b->of[KIND_COPY]), b_name);
    if (!isnan(a->sum) && !isnan(b->sum) && fabs(a->sum - b->sum) > 1e-9 * fabs(a->sum))
        report(c, law, "sum of counter values: %.17g in %s, %.17g in %s", a->sum, a_name, b->sum,
               b_name);
    if (a->events >= 0 && b->events >= 0 && a->events != b->events)
        report(c, law, "events: %lld in %s, %lld in %s", (long long)a->events, a_name,
               (long long)b->events, b_name);
}

/* The line in which two texts differ. */
static void tell_difference(const check *c, const char *a_name, const char *a, const char *b_name,
                            const char *b)
{
    while (*a && *b) {
        size_t n = strcspn(a, "\n"), m = strcspn(b, "\n");
        if (n != m || memcmp(a, b, n) != 0)
            break;
        a += n + (a[n] == '\n');
        b += m + (b[m] == '\n');
    }
    report(c, "the same fault has the same words", "%s:%.*s; %s:%.*s", a_name,
           (int)strcspn(a, "\n"), a, b_name, (int)strcspn(b, "\n"), b);
}

/* Counts of a tool without what only its output has, which the statistics tell. */
static counts comparable_counts(const check *c, int which)
{
    const counts *all = &c->results[STATISTICS].counts;
    counts seen = c->results[which].counts;
    const int64_t more = seen.events - seen.timeless - all->events;
    if (tools[which].count == count_database) {
        seen.events -= seen.timeless;
        seen.of[KIND_KERNEL] -= seen.timeless;
        /* A dispatch that was lost is there for its counters. */
        if (!c->database && more > 0 && more <= c->results[CSV].counts.of[KIND_COUNTER]) {
            seen.events -= more;
            seen.of[KIND_KERNEL] -= more;
        }
    }
    /* An arrow that ends where nothing begins ends at an instant of its own. */
    if (which == PFTRACE && (strstr(c->input, ".json") || strstr(c->input, ".pftrace")) &&
        all->events >= 0 && more > 0 && more <= seen.instants) {
        seen.events -= more;
        seen.of[KIND_CALL] -= more;
    }
    return seen;
}

static void check_agreement(const check *c)
{
    const result *first = &c->results[CSV], *all = &c->results[STATISTICS];
    for (int i = 0; i < TOOLS; i++) {
        const result *r = &c->results[i];
        /* Tools that copy rows need not look at them; JSON and what is rebuilt have columns of
         * databases that others do not read, and CSV has no arguments. */
        if (i == CSV || !r->ran || (c->database && tools[i].copies))
            continue;
        if (c->database && (i == ROCPROFV3 || i == REBUILT) && is_done(r) && is_done(first) &&
            r->rc >= first->rc)
            continue;
        if (c->database && r->rc == 3 && strstr(r->said, "table rocpd_arg"))
            continue;
        if (c->database && (i == ROCPROFV3 || i == REBUILT) && r->rc == 3 &&
            strstr(r->said, "table rocpd_"))
            continue;
        /* Some see less; and arguments that are no JSON are counted by those who read them. */
        const bool less_seen =
            is_done(r) && is_done(first) &&
            ((tools[i].some && r->rc <= first->rc) ||
             (c->database && r->rc <= first->rc && !first->left) ||
             (strstr(r->said, "broken JSON") && !strstr(first->said, "broken JSON")));
        if (r->rc != first->rc && !less_seen)
            report(c, "exit codes agree", "%s: %d, %s: %d: %.200s", tools[CSV].name, first->rc,
                   tools[i].name, r->rc, r->rc > first->rc ? r->said : first->said);
        else if (!less_seen && strcmp(r->said, first->said) != 0)
            tell_difference(c, tools[CSV].name, first->said, tools[i].name, r->said);
        if (!is_done(r) || !is_done(all) || i == ROCPROFV3 || i == STATISTICS)
            continue;
        const counts seen = comparable_counts(c, i);
        compare_counts(c, "outputs agree", tools[STATISTICS].name, &all->counts, tools[i].name,
                       &seen);
    }
    if (is_done(first) && is_done(all))
        compare_counts(c, "outputs agree", tools[CSV].name, &first->counts, tools[STATISTICS].name,
                       &all->counts);
    const result *v3 = &c->results[ROCPROFV3];
    if (is_done(v3) && is_done(all) && is_done(first)) {
        const int64_t sum = all->counts.events + first->counts.of[KIND_SAMPLE];
        counts kinds = v3->counts;
        kinds.events = -1;
        compare_counts(c, "outputs agree", tools[STATISTICS].name, &all->counts,
                       tools[ROCPROFV3].name, &kinds);
        /* A counter value without its counter has no place either. */
        const int64_t more = v3->counts.events + v3->no_place - sum;
        if (more < 0 || (more > first->counts.of[KIND_COUNTER] && !c->database))
            report(c, "outputs agree",
                   "events and samples: %lld in %s, %lld in %s and %lld without place",
                   (long long)sum, tools[STATISTICS].name, (long long)v3->counts.events,
                   tools[ROCPROFV3].name, (long long)v3->no_place);
    }
}

static void check_conservation(const check *c, const counts *in)
{
    for (int i = 0; i < TOOLS; i++) {
        const result *r = &c->results[i];
        if (!is_done(r) || i == ROCPROFV3)
            continue;
        const int64_t left = r->left - r->values + r->unknown;
        /* Rows of sampled values are left out as well. */
        const int64_t lost = in->events - r->counts.events;
        if (r->counts.events >= 0 && in->events >= 0 && (lost > left || lost < left - in->samples))
            report(c, "rows in = rows out + rows counted", "%s: %lld in, %lld out, %lld left out",
                   tools[i].name, (long long)in->events, (long long)r->counts.events,
                   (long long)left);
        if (left == 0)
            compare_counts(c, "rows in = rows out", "the input", in, tools[i].name, &r->counts);
    }
}

/* An input of which all is known. */
static void check_truth(const check *c, const counts *in)
{
    for (int i = 0; i < TOOLS; i++) {
        const result *r = &c->results[i];
        if (!r->ran || i == ROCPROFV3 || (c->database && tools[i].copies))
            continue;
        if (!is_done(r)) {
            report(c, "what is sound is read", "%s: exit code %d: %.200s", tools[i].name, r->rc,
                   r->said);
            continue;
        }
        const counts seen = comparable_counts(c, i);
        compare_counts(c, "what was written comes out", "the input", in, tools[i].name, &seen);
        if (r->left + r->unknown != in->faults && !tools[i].copies && !tools[i].some)
            report(c, "what is wrong is counted", "%lld in the input, %lld in %s: %.200s",
                   (long long)in->faults, (long long)(r->left + r->unknown), tools[i].name,
                   r->said);
        if (seen.untrue)
            report(c, "times are those that names say", "%lld rows in %s", (long long)seen.untrue,
                   tools[i].name);
    }
}

unsigned check_case(const char *input, uint64_t number, const counts *truth, finding_fn *fn,
                    void *ctx)
{
    check c = {.input = input, .number = number, .fn = fn, .ctx = ctx};
    counts in;
    const bool known = count_input(&in, input);
    const uint64_t before = hash_folder("in");
    uint64_t csv = 0;
    bytes head = {NULL, 0};
    char dump[4096];
    snprintf(dump, sizeof dump, "%.4000s/tests/otf2dump", build_folder);
    const bool otf2 = access(dump, X_OK) == 0; /* built with libotf2 */
    if (!is_folder(input) && bytes_read(&head, input))
        c.database = head.n > 16 && !memcmp(head.p, "SQLite format 3", 16) &&
                     memmem(head.p, head.n, "rocpd_info_", 11);
    free(head.p);
    for (int i = 0; i < TOOLS; i++) {
        if (i == OTF2 && !otf2)
            continue;
        /* One of the exports for each damage: they are one reading. */
        if (number && i >= PARQUET && i <= LINES && number % 3 != (unsigned)i - PARQUET)
            continue;
        run_tool(&c, &tools[i], input, &c.results[i], 1 + (unsigned)((number + (unsigned)i) % 3),
                 NULL);
        if (i == CSV)
            csv = hash_folder("o");
        if (tools[i].count == count_database && is_done(&c.results[i])) {
            /* What was merged reads as the input. */
            result again;
            char name[64];
            snprintf(name, sizeof name, "CSV of %s", tools[i].name);
            rename(tools[i].output, "again.db");
            run_tool(&c, &tools[CSV], "again.db", &again, 1, NULL);
            /* Values of a counter's instances are summed in a database. */
            if (!c.database &&
                again.counts.of[KIND_COUNTER] < c.results[CSV].counts.of[KIND_COUNTER])
                again.counts.of[KIND_COUNTER] = -1;
            /* An instance that is no number takes the sum of all with it, of which others remain.
             */
            const int64_t more =
                again.counts.of[KIND_COUNTER] - c.results[CSV].counts.of[KIND_COUNTER];
            if (more > 0 && more <= c.results[CSV].values)
                again.counts.of[KIND_COUNTER] = -1;
            /* A dispatch from 0 to 0 was never timed, in a database: who writes one counts it. */
            const int64_t fewer =
                c.results[CSV].counts.of[KIND_KERNEL] - again.counts.of[KIND_KERNEL];
            if (!c.database && fewer > 0 && fewer <= c.results[i].left + again.left)
                again.counts.of[KIND_KERNEL] = -1;
            /* A dispatch that was lost comes back with the times of its counters. */
            if (!c.database &&
                again.counts.of[KIND_KERNEL] > c.results[CSV].counts.of[KIND_KERNEL] &&
                again.counts.of[KIND_KERNEL] - c.results[CSV].counts.of[KIND_KERNEL] <=
                    c.results[CSV].counts.of[KIND_COUNTER])
                again.counts.of[KIND_KERNEL] = -1;
            if (is_done(&again) && is_done(&c.results[CSV]))
                compare_counts(&c, "a merged database reads as its inputs", tools[CSV].name,
                               &c.results[CSV].counts, name, &again.counts);
            else if (is_done(&c.results[CSV]))
                report(&c, "a merged database reads as its inputs", "%s: exit code %d: %.200s",
                       name, again.rc, again.said);
            free(again.said);
            unlink("again.db");
        }
    }
    /* The same bytes with another number of workers and the other reader. */
    result again;
    run_tool(&c, &tools[CSV], input, &again, 5 - (unsigned)(number % 3),
             c.database ? "sqlite" : NULL);
    if (is_done(&again) && is_done(&c.results[CSV]) && hash_folder("o") != csv)
        report(&c, "the same bytes for any -j and reader", "CSV");
    if (!c.database && again.rc != c.results[CSV].rc)
        report(&c, "the same bytes for any -j and reader", "CSV: exit codes %d and %d",
               c.results[CSV].rc, again.rc);
    free(again.said);
    if (hash_folder("in") != before)
        report(&c, "inputs are never changed", "the folder of the input is another");
    check_agreement(&c);
    if (truth)
        check_truth(&c, truth);
    else if (known)
        check_conservation(&c, &in);
    for (int i = 0; i < TOOLS; i++)
        free(c.results[i].said);
    return c.runs;
}
