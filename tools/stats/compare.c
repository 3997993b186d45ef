#include "stats/compare.h"

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

/* As durations are: the locale must not matter. */
static bool parse_percent(const char *text, double *percent)
{
    char seconds[32];
    int64_t ns;
    size_t digits = strspn(text, "0123456789.");
    size_t n = digits + (text[digits] == '%');
    if (text[n] || digits + 2 > sizeof seconds)
        return false;
    snprintf(seconds, sizeof seconds, "%.*ss", (int)digits, text);
    if (!rocl_read_duration(seconds, &ns))
        return false;
    *percent = (double)ns / 1e9;
    return true;
}

int comparison_check(comparison *cmp, common *c, size_t behind)
{
    const strings all = c->inputs;
    if (cmp->fail_over && !cmp->wanted)
        return usage_error("--fail-over is for compare");
    if (cmp->fail_over && !parse_percent(cmp->fail_over, &cmp->limit))
        return usage_error("--fail-over: \"%s\" is not a number of percent", cmp->fail_over);
    if (!cmp->wanted)
        return -1;
    if (behind == 0 || behind >= all.n) {
        if (all.n != 2)
            return usage_error("compare takes two inputs, or several on both sides of \"--\"");
        behind = 1;
    }
    c->inputs = (strings){0};
    for (size_t i = 0; i < all.n; i++)
        strings_add(i < all.n - behind ? &c->inputs : &cmp->b, all.v[i]);
    free(all.v);
    return -1;
}

/* The name without control characters, which could move the cursor of a terminal; the begin of a
 * long one. */
static void put_name(char *to, size_t size, const char *name)
{
    size_t n = 0;
    for (; *name && n + 1 < size; name++) {
        unsigned char c = (unsigned char)*name, next = (unsigned char)name[1];
        bool wide = c == 0xc2 && next >= 0x80 && next < 0xa0;
        name += wide;
        to[n++] = wide || c < 0x20 || c == 0x7f ? '?' : (char)c;
    }
    while (*name && n && ((unsigned char)to[n - 1] & 0x80)) /* not a part of a character */
        n--;
    to[n] = '\0';
}

static void say_growth(const comparison *cmp, const rocl_growth *g)
{
    char grew[64] = "is new", name[256];
    put_name(name, sizeof name, g->name);
    if (!g->added && isfinite(g->percent))
        snprintf(grew, sizeof grew, "grew by %.1f %% on average", g->percent);
    else if (!g->added)
        snprintf(grew, sizeof grew, "took no time before");
    msg_error("%" PRIu64 " name%s grew by more than %g %%; the worst: %s %s %s", g->count,
              g->count == 1 ? "" : "s", cmp->limit, g->domain, name, grew);
}

rocl_status comparison_run(const comparison *cmp, const common *c, const rocl_stats_options *o,
                           rocl_trace *a, rocl_tables **tables, rocl_error *err)
{
    rocl_trace *b = NULL;
    rocl_growth growth = {0};
    rocl_status s = common_open(c, &cmp->b, &b, err);
    if (s <= ROCL_PARTIAL)
        s = rocl_compare(a, b, o, cmp->limit, cmp->fail_over ? &growth : NULL, tables, err);
    if (s <= ROCL_PARTIAL)
        common_report(c, b);
    if (s <= ROCL_PARTIAL && growth.count) {
        say_growth(cmp, &growth);
        s = ROCL_PARTIAL;
    }
    rocl_trace_close(b);
    return s;
}
