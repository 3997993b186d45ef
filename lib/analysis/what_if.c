/* What if: see what_if.h. */
#include "analysis/what_if.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>

#include "base/map.h"

enum { MOST_CHOSEN = 10 };

typedef struct what_if_row {
    uint32_t name; /* text */
    double factor;
    int64_t on_path, saved, wall;
    double saved_percent;
    uint64_t names; /* that changed */
} what_if_row;

typedef struct what_ifs {
    const rocl_collector *c;
    rocl_dependencies *d;
    const rocl_time_sum *sums;
    size_t count;
} what_ifs;

/* ---- which names ----------------------------------------------------------------------------- */

/* "NAME=2x": its factor, and how long the name is. */
static bool read_what_if(const char *text, size_t *n, double *factor)
{
    const char *is = strrchr(text, '=');
    char *past = NULL;
    errno = 0;
    *factor = is ? strtod(is + 1, &past) : 0;
    *n = is ? (size_t)(is - text) : 0;
    return is && *n && past != is + 1 && !strcmp(past, "x") && !errno && *factor >= 0.01 &&
           *factor <= 1e9;
}

rocl_status rocl_what_ifs_check(const rocl_stats_options *o, rocl_error *err)
{
    size_t n = 0, length;
    double factor;
    for (const char *const *text = o->what_if; text && *text; text++, n++)
        if (!read_what_if(*text, &length, &factor))
            return rocl_fail(err, ROCL_USAGE,
                             "--what-if: \"%s\" is not of the form NAME=2x, with a factor from "
                             "0.01 to 1e9",
                             *text);
    return n > ROCL_PATH_SCENARIOS ? rocl_fail(err, ROCL_USAGE, "--what-if: more than %d are given",
                                               ROCL_PATH_SCENARIOS)
                                   : ROCL_OK;
}

bool rocl_takes_time(uint32_t class)
{
    return class == ROCL_TIME_HOST || class == ROCL_TIME_KERNEL ||
           class == ROCL_TIME_COMMUNICATION || class == ROCL_TIME_COPY;
}

static int compare_what_ifs(const void *a, const void *b, void *ctx)
{
    const what_if_row *x = a, *y = b;
    const int c = rocl_number_order(y->saved, x->saved);
    return c ? c : rocl_compare_texts(ctx, x->name, y->name);
}

/* The names with the largest times on the path, which are what they could save. */
static rocl_status choose_names(const what_ifs *w, what_if_row *rows, unsigned *count,
                                rocl_error *err)
{
    rocl_ids of = {0}; /* by name */
    what_if_row *all = NULL;
    size_t n = 0, cap = 0;
    bool good = true;
    for (size_t i = 1; i < w->count && good; i++) {
        const rocl_time_sum *s = &w->sums[i];
        if (!rocl_takes_time(s->key.class) || !s->ns)
            continue;
        uint32_t at = rocl_ids_get(&of, s->key.name);
        if (at == ROCL_NONE) {
            at = (uint32_t)n;
            good = ROCL_GROW(all, cap, n + 1) && rocl_ids_put(&of, s->key.name, at);
            if (!good)
                break;
            all[n++] = (what_if_row){.name = s->key.name, .factor = 2};
        }
        all[at].saved += s->ns;
    }
    if (good && n)
        qsort_r(all, n, sizeof *all, compare_what_ifs, w->c->trace);
    for (*count = 0; good && *count < MOST_CHOSEN && *count < n; ++*count)
        rows[*count] = all[*count];
    free(all);
    rocl_ids_free(&of);
    return good ? ROCL_OK : rocl_fail_memory(err);
}

static rocl_status read_names(const what_ifs *w, what_if_row *rows, unsigned *count,
                              rocl_error *err)
{
    for (*count = 0; w->c->options->what_if[*count]; ++*count) {
        const char *text = w->c->options->what_if[*count];
        size_t n;
        what_if_row *r = &rows[*count];
        *r = (what_if_row){0};
        read_what_if(text, &n, &r->factor);
        r->name = rocl_strings_put(w->c->trace->strings, text, n);
        if (r->name == ROCL_NONE)
            return rocl_fail_memory(err);
    }
    return ROCL_OK;
}

/* ---- how long it would take ------------------------------------------------------------------ */

static rocl_status vary_times(const what_ifs *w, what_if_row *rows, unsigned n, rocl_error *err)
{
    const rocl_trace *t = w->c->trace;
    const int64_t wall = rocl_path_time(w->d->path, w->d->end);
    int64_t times[ROCL_PATH_SCENARIOS];
    rocl_path_scenarios s = {.count = w->count, .n = n};
    uint32_t *changed = calloc(w->count, sizeof *changed);
    if (!changed)
        return rocl_fail_memory(err);
    for (unsigned k = 0; k < n; k++) {
        what_if_row *r = &rows[k];
        s.factors[k] = r->factor;
        for (size_t i = 1; i < w->count; i++) {
            const rocl_time_key *key = &w->sums[i].key;
            /* Does the time scale with the work that it is named after? */
            if (key->detail != ROCL_TIME_NAMED ||
                !(rocl_takes_time(key->class) || key->class == ROCL_TIME_OUTSIDE ||
                  key->class == ROCL_TIME_LAUNCH))
                continue;
            /* Names are meant in full, or as patterns: those of kernels have brackets and stars. */
            if (key->name != r->name && (!w->c->options->what_if ||
                                         fnmatch(rocl_str(t, r->name), rocl_str(t, key->name), 0)))
                continue;
            changed[i] |= 1u << k;
            r->names++;
            r->on_path += w->sums[i].ns;
        }
    }
    s.changed = changed;
    const rocl_status st = rocl_path_vary(w->d->path, w->d->end, &s, times, err);
    free(changed);
    for (unsigned k = 0; st == ROCL_OK && k < n; k++) {
        rows[k].wall = times[k];
        rows[k].saved = wall - times[k];
        rows[k].saved_percent = rocl_percent(rows[k].saved, wall);
    }
    return st;
}

/* ---- the table ------------------------------------------------------------------------------- */

#define CELL(field) ROCL_CELL(what_if_row, field)
static const rocl_column what_if_columns[] = {
    {"name", "What if this", ROCL_UNIT_TEXT, ROCL_OTHERS, CELL(name)},
    {"factor", "Were so fast", ROCL_UNIT_NUMBER, ROCL_ALWAYS, CELL(factor)},
    {"names", "Names", ROCL_UNIT_COUNT, ROCL_MINOR, CELL(names)},
    {"path_ns", "On the path", ROCL_UNIT_NS, ROCL_ALWAYS, CELL(on_path)},
    {"saved_ns", "Saves", ROCL_UNIT_NS, ROCL_ALWAYS, CELL(saved)},
    {"saved_percent", "Saves %", ROCL_UNIT_PERCENT, ROCL_ALWAYS, CELL(saved_percent)},
    {"wall_ns", "Wall", ROCL_UNIT_NS, ROCL_ALWAYS, CELL(wall)},
};

const rocl_table_def rocl_what_if_table = {ROCL_TAB(CRITICAL_PATH), "critical_path_what_if",
                                           "What if", ROCL_COLUMNS(what_if_columns)};

rocl_status rocl_what_ifs_put(const rocl_collector *c, rocl_dependencies *d,
                              const rocl_time_sum *sums, size_t count, rocl_tables *out,
                              rocl_error *err)
{
    const what_ifs w = {c, d, sums, count};
    what_if_row rows[ROCL_PATH_SCENARIOS];
    unsigned n = 0, unknown = 0;
    rocl_status st =
        c->options->what_if ? read_names(&w, rows, &n, err) : choose_names(&w, rows, &n, err);
    if (st == ROCL_OK && n)
        st = vary_times(&w, rows, n, err);
    if (st != ROCL_OK)
        return st;
    if (n)
        qsort_r(rows, n, sizeof *rows, compare_what_ifs, c->trace);
    for (unsigned i = 0; i < n; i++)
        unknown += !rows[i].names;
    const rocl_report_rows r = rocl_begin_table(c, out, &rocl_what_if_table, 0);
    if (unknown)
        rocl_set_note(&r, "%u of the names are not in the trace", unknown);
    else if (n)
        rocl_set_note(&r, "the path is found anew for each: another one may be as long soon");
    rocl_add_top_rows(&r, rows, n, sizeof *rows, NULL);
    return ROCL_OK;
}
