/* `rocstats compare`: two sets of inputs, and what became too slow. */
#include "stats/compare.h"
#include "common/output.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

size_t words_after_dashes(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--") == 0)
            return (size_t)(argc - i - 1);
    return 0;
}

/* Infinite if not given; -1 to go on, else the exit code. A percentage is read like a number of
 * seconds, independently of the locale. */
static int read_limit(const comparison *cmp, const char *option, const char *text, double *limit)
{
    char seconds[32];
    int64_t ns = 0;
    *limit = INFINITY;
    if (!text)
        return -1;
    if (!cmp->wanted)
        return usage_error("%s is only for compare", option);
    size_t digits = strspn(text, "0123456789.");
    size_t n = digits + (text[digits] == '%');
    snprintf(seconds, sizeof seconds, "%.*ss", (int)(digits < 30 ? digits : 30), text);
    if (text[n] || digits + 2 > sizeof seconds || !rocl_read_duration(seconds, &ns))
        return usage_error("%s: \"%s\" is not a percentage", option, text);
    *limit = (double)ns / 1e9;
    return -1;
}

/* The file of FILE or FILE:NAME, whose name is set to NULL or to the other part. The caller's. */
static char *part_baseline(const char *text, const char **name)
{
    const char *colon = strrchr(text, ':');
    *name = NULL;
    if (!colon || rocl_is_baseline(text))
        return strdup(text);
    char *file = strndup(text, (size_t)(colon - text));
    if (file && rocl_is_baseline(file)) {
        *name = colon + 1;
        return file;
    }
    free(file);
    return strdup(text);
}

static bool is_baseline(const char *text)
{
    const char *name;
    char *file = part_baseline(text, &name);
    const bool is = file && rocl_is_baseline(file);
    free(file);
    return is;
}

/* All that match the patterns of --a or --b, each a run. -1 to go on, else the exit code. */
static int find_runs(strings *runs, glob_t *found, const char *option)
{
    const strings patterns = *runs;
    int failed = -1;
    *runs = (strings){0};
    for (size_t i = 0; i < patterns.n && failed < 0; i++) {
        size_t k = found->gl_pathc;
        const int code = glob(patterns.v[i], GLOB_ERR | (k ? GLOB_APPEND : 0), NULL, found);
        if (code == GLOB_NOMATCH && is_baseline(patterns.v[i])) {
            strings_add(runs, patterns.v[i]); /* FILE:NAME */
            continue;
        }
        failed = code ? usage_error("%s: nothing matches \"%s\"", option, patterns.v[i]) : -1;
        for (; k < found->gl_pathc; k++)
            strings_add(runs, found->gl_pathv[k]);
    }
    free(patterns.v);
    return failed;
}

/* One run of each side is compared as two inputs are. */
static int check_runs(comparison *cmp, common *c)
{
    if (c->inputs.n)
        return usage_error("with --a and --b there are no other inputs");
    if (!cmp->runs_a.n || !cmp->runs_b.n)
        return usage_error("--a and --b are given together");
    if (cmp->baseline)
        return usage_error("--baseline is given as --a FILE:NAME");
    int code = find_runs(&cmp->runs_a, &cmp->matches[0], "--a");
    if (code < 0)
        code = find_runs(&cmp->runs_b, &cmp->matches[1], "--b");
    if (code >= 0)
        return code;
    for (size_t i = 0; i < cmp->runs_b.n; i++)
        if (is_baseline(cmp->runs_b.v[i]))
            return usage_error("\"%s\" is a baseline, which only A can be", cmp->runs_b.v[i]);
    strings_add(&c->inputs, cmp->runs_b.v[0]);
    cmp->runs = cmp->runs_a.n + cmp->runs_b.n > 2;
    if (!cmp->runs && is_baseline(cmp->runs_a.v[0]))
        cmp->baseline = cmp->runs_a.v[0];
    else if (!cmp->runs) {
        c->inputs.v[0] = cmp->runs_a.v[0];
        strings_add(&cmp->b, cmp->runs_b.v[0]);
    }
    return -1;
}

bool comparison_reads(const comparison *cmp, const char *path)
{
    const char *name, *baseline[] = {cmp->baseline};
    const strings all[] = {{baseline, cmp->baseline != NULL}, cmp->runs_a, cmp->runs_b};
    bool reads = false;
    for (unsigned k = 0; k < 3; k++)
        for (size_t i = 0; i < all[k].n && !reads; i++) {
            char *file = part_baseline(all[k].v[i], &name);
            reads = file && same_file(file, path);
            free(file);
        }
    return reads;
}

int comparison_check(comparison *cmp, common *c, size_t behind)
{
    const strings all = c->inputs;
    int code = read_limit(cmp, "--fail-over", cmp->fail_over, &cmp->gate.average);
    if (code < 0)
        code = read_limit(cmp, "--fail-over-total", cmp->fail_over_total, &cmp->gate.total);
    if (code >= 0)
        return code;
    cmp->gate.totals = cmp->fail_over_total != NULL;
    cmp->gate.all = c->include.n > 0;
    if (!cmp->fail_over_total)
        cmp->gate.total = cmp->gate.average; /* a word about it is due all the same */
    if (cmp->runs_a.n || cmp->runs_b.n)
        return cmp->wanted ? check_runs(cmp, c) : usage_error("--a and --b are only for compare");
    if (!cmp->wanted)
        return cmp->baseline ? usage_error("--baseline is only for compare") : -1;
    if (cmp->baseline)
        return behind ? usage_error("with --baseline all inputs are of the other trace") : -1;
    if (behind == 0 || behind >= all.n) {
        if (all.n != 2)
            return usage_error("compare takes two inputs, or several on both sides of \"--\"");
        behind = 1;
    }
    c->inputs = (strings){0};
    for (size_t i = 0; i < all.n; i++)
        strings_add(i < all.n - behind ? &c->inputs : &cmp->b, all.v[i]);
    free(all.v);
    for (size_t i = 0; i < cmp->b.n; i++)
        if (is_baseline(cmp->b.v[i]))
            return usage_error("\"%s\" is a baseline, which only A can be", cmp->b.v[i]);
    if (c->inputs.n == 1 && is_baseline(c->inputs.v[0])) {
        cmp->baseline = c->inputs.v[0];
        free(c->inputs.v);
        c->inputs = cmp->b;
    }
    return -1;
}

/* The name in one line; of a long one the start, without a part of a character at its end. */
static void put_name(char *to, size_t size, const char *name)
{
    size_t n = strnlen(name, size - 1);
    while (name[n] && n && ((unsigned char)name[n] & 0xc0) == 0x80)
        n--;
    memcpy(to, name, n);
    to[rocl_hide_controls(to, n, false)] = '\0';
}

static bool report_rule(const rocl_growth *g, const char *of, const char *what, const char *how,
                        double limit)
{
    char grew[64] = "took no time before", name[256] = "";
    if (!g->count)
        return false;
    if (g->name)
        put_name(name, sizeof name, g->name);
    if (g->added)
        strcpy(grew, "is new");
    else if (isfinite(g->percent))
        snprintf(grew, sizeof grew, "grew by %.1f %%%s", g->percent, how);
    msg_error("%s%" PRIu64 " %s%s grew by more than %g %%; the worst: %s%s%s %s", of, g->count,
              what, g->count == 1 ? "" : "s", limit, g->domain, g->name ? " " : "", name, grew);
    return true;
}

/* Each rule that fails in a line of its own; true: one did. */
static bool report_growth(const comparison *cmp)
{
    const rocl_gate *g = &cmp->gate;
    bool failed = report_rule(&g->grown, "", "name", " on average", g->average);
    if (!cmp->fail_over_total)
        return failed;
    failed |= report_rule(&g->total_names, "the total of ", "name", "", g->total);
    failed |= report_rule(&g->total_domains, "the total of ", "domain", "", g->total);
    if (!g->total_trace.count)
        return failed;
    const char *what = g->all ? "the trace" : "all kernels that compute";
    if (g->total_trace.added)
        msg_error("the total of %s was 0 in A", what);
    else
        msg_error("the total of %s grew by %.1f %%, more than %g %%", what, g->total_trace.percent,
                  g->total);
    return true;
}

static void put_percent(char *to, size_t size, double percent)
{
    if (isfinite(percent))
        snprintf(to, size, "+ %.*f %%", percent < 100, percent);
    else
        snprintf(to, size, "from no time");
}

/* What --fail-over does not decide must not look as if it had been found good. */
static void report_undecided(const comparison *cmp)
{
    const rocl_growth *names = &cmp->gate.not_judged, *domains = &cmp->gate.total_domains;
    const char *more = cmp->fail_over_total ? "" : "; --fail-over-total looks at totals";
    char grew[64], name[256];
    if (names->count) {
        put_name(name, sizeof name, names->name);
        put_percent(grew, sizeof grew, names->percent);
        msg_notice("not tested: %" PRIu64 " name%s with too few calls, worst %s: %s %s%s",
                   names->count, names->count == 1 ? "" : "s", grew, names->domain, name, more);
    } else if (domains->count && !cmp->fail_over_total && !cmp->gate.grown.count) {
        put_percent(grew, sizeof grew, domains->percent);
        msg_notice("not tested: the total of %" PRIu64 " domain%s, worst %s: %s%s", domains->count,
                   domains->count == 1 ? "" : "s", grew, domains->domain, more);
    }
}

static rocl_status compare_baseline(comparison *cmp, const rocl_stats_options *o, rocl_trace *b,
                                    rocl_tables **tables, rocl_error *err)
{
    const char *name;
    char *file = part_baseline(cmp->baseline, &name);
    rocl_baseline *a = NULL;
    rocl_status s = rocl_baseline_read(&a, file ? file : cmp->baseline, name, err);
    if (s == ROCL_OK)
        s = rocl_compare_baseline(a, b, o, &cmp->gate, tables, err);
    rocl_baseline_free(a);
    free(file);
    return s;
}

static rocl_status compare_traces(comparison *cmp, const common *c, const rocl_stats_options *o,
                                  rocl_trace *a, rocl_tables **tables, rocl_error *err)
{
    rocl_status s = common_open(c, &cmp->b, &cmp->other, err);
    if (s <= ROCL_PARTIAL)
        s = rocl_compare(a, cmp->other, o, &cmp->gate, tables, err);
    if (s <= ROCL_PARTIAL)
        common_report(c, cmp->other);
    return s;
}

static rocl_status add_run(rocl_runs *runs, bool b, const char *path, const common *c,
                           rocl_error *err)
{
    strings input = {0};
    rocl_trace *t = NULL;
    rocl_baseline *base = NULL;
    rocl_status s;
    if (is_baseline(path)) {
        const char *name;
        char *file = part_baseline(path, &name);
        s = rocl_baseline_read(&base, file ? file : path, name, err);
        if (s == ROCL_OK)
            s = rocl_runs_add_baseline(runs, b, base, err);
        rocl_baseline_free(base);
        free(file);
        return s;
    }
    strings_add(&input, path);
    s = common_open(c, &input, &t, err);
    if (s <= ROCL_PARTIAL)
        s = rocl_runs_add(runs, b, t, err);
    if (s <= ROCL_PARTIAL)
        common_report(c, t);
    rocl_trace_close(t);
    free(input.v);
    return s;
}

/* first: the first run of B. */
static rocl_status compare_runs(comparison *cmp, const common *c, const rocl_stats_options *o,
                                rocl_trace *first, rocl_tables **tables, rocl_error *err)
{
    rocl_runs *runs = NULL;
    rocl_status s = rocl_runs_new(&runs, err);
    for (size_t i = 0; i < cmp->runs_a.n && s <= ROCL_PARTIAL; i++)
        s = add_run(runs, false, cmp->runs_a.v[i], c, err);
    if (s <= ROCL_PARTIAL)
        s = rocl_runs_add(runs, true, first, err);
    for (size_t i = 1; i < cmp->runs_b.n && s <= ROCL_PARTIAL; i++)
        s = add_run(runs, true, cmp->runs_b.v[i], c, err);
    if (s <= ROCL_PARTIAL)
        s = rocl_runs_compare(runs, first, o, &cmp->gate, tables, err);
    rocl_runs_free(runs);
    return s;
}

rocl_status comparison_run(comparison *cmp, const common *c, const rocl_stats_options *o,
                           rocl_trace *t, rocl_tables **tables, rocl_error *err)
{
    rocl_status s = cmp->runs       ? compare_runs(cmp, c, o, t, tables, err)
                    : cmp->baseline ? compare_baseline(cmp, o, t, tables, err)
                                    : compare_traces(cmp, c, o, t, tables, err);
    if (s > ROCL_PARTIAL)
        return s;
    if (cmp->gate.untested) {
        msg_error("nothing was tested: %s%s", cmp->gate.untested,
                  common_filters(c) ? " (among what passes the filters)" : "");
        cmp->verdict = ROCL_INPUT;
        return s;
    }
    report_undecided(cmp);
    cmp->verdict = report_growth(cmp) ? ROCL_LIMIT : ROCL_OK;
    return s;
}
