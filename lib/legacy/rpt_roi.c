/* The region of interest: two records. Where the script finds a record by its place or line it is
 * known when all have been added; by the text before it, the text must be read once more, in order
 * of start. */
#include "legacy/rpt.h"

#include <stdlib.h>

/* ---- what is asked for ----------------------------------------------------------------------- */

static rocl_status fail_end(const rocl_rpt_end *e, const char *why, rocl_error *err)
{
    return rocl_fail(err, ROCL_USAGE, "%s: \"%.200s\": %s", e->option, e->given, why);
}

/* Digits before the mark; without any, or with 0, the first match is meant. */
static uint64_t count_before(const char *given, const char *mark)
{
    const char *p = mark;
    uint64_t n = 0;
    while (p > given && p[-1] >= '0' && p[-1] <= '9')
        p--;
    for (; p < mark; p++)
        n = n > UINT64_MAX / 16 ? n : n * 10 + (uint64_t)(*p - '0');
    return n ? n : 1;
}

static rocl_status parse_end(rocl_rpt_end *e, const char *option, const char *given,
                             rocl_error *err)
{
    e->option = option;
    e->given = given;
    if (!given)
        return ROCL_OK;
    const char *mark = strpbrk(given, "@^%");
    if (!mark)
        return fail_end(e, "no \"@LINE\", \"^NS\" or \"N%RE\"", err);
    e->form = *mark;
    if (*mark == '%') {
        e->matches = count_before(given, mark);
        rocl_status st = rocl_rpt_regex_compile(&e->regex, option, mark + 1, err);
        e->has_regex = st == ROCL_OK;
        return st;
    }
    if (!rocl_py_int((rocl_view){mark + 1, strlen(mark + 1)}, &e->number))
        return fail_end(e, *mark == '@' ? "not a line number" : "not a number of nanoseconds", err);
    return ROCL_OK;
}

rocl_status rocl_rpt_roi_parse(rocl_rpt *r, rocl_error *err)
{
    rocl_status st = parse_end(&r->from, "--roi-start", r->o.roi_start, err);
    return st ? st : parse_end(&r->to, "--roi-stop", r->o.roi_stop, err);
}

bool rocl_rpt_roi_needs_text(const rocl_rpt *r)
{
    return r->from_log && (r->from.has_regex || r->to.has_regex);
}

void rocl_rpt_roi_free(rocl_rpt *r)
{
    rocl_rpt_end *ends[] = {&r->from, &r->to};
    for (unsigned i = 0; i < 2; i++) {
        if (ends[i]->has_regex)
            regfree(&ends[i]->regex);
        rocl_buf_free(&ends[i]->matched);
    }
}

/* ---- when a record is added ------------------------------------------------------------------ */

static bool has_line(const rocl_rpt_record *record, int64_t line)
{
    uint64_t n = (uint64_t)line;
    return line > 0 && (n == record->line ||
                        (n >= record->text_line && n - record->text_line < record->text_lines));
}

/* Of a trace, whose records are added in order of start. */
static bool is_end_of_trace(const rocl_rpt *r, rocl_rpt_end *e, const rocl_rpt_record *record)
{
    if (e->form == '^')
        return record->start - r->first.start >= e->number;
    size_t n;
    const char *name = rocl_strings_get(r->strings, record->name, &n);
    return rocl_rpt_regex_matches(&e->regex, name, n) && --e->matches == 0;
}

static void see(const rocl_rpt *r, rocl_rpt_end *e, const rocl_rpt_record *record)
{
    if (!e->form || e->found)
        return;
    if (e->form == '@')
        e->found = has_line(record, e->number);
    else if (!r->from_log)
        e->found = is_end_of_trace(r, e, record);
    if (e->found)
        e->record = *record;
}

void rocl_rpt_roi_see(rocl_rpt *r, const rocl_rpt_record *record)
{
    see(r, &r->from, record);
    see(r, &r->to, record);
}

/* ---- by the text before a record ------------------------------------------------------------- */

typedef struct search {
    rocl_rpt *rpt;
    rocl_buf line; /* with a NUL behind it, without its newline: "$" is before that */
} search;

static rocl_status match_line(search *s, rocl_rpt_end *e, uint64_t number, bool *matched,
                              rocl_error *err)
{
    rocl_buf_byte(&s->line, '\0');
    if (s->line.failed)
        return rocl_fail_memory(err);
    const char *p = (const char *)s->line.data;
    size_t n = s->line.len - 1;
    s->line.len = 0;
    *matched = rocl_rpt_regex_matches(&e->regex, p, n);
    if (!*matched || --e->matches)
        return ROCL_OK;
    while (n && rocl_py_space(p[n - 1]))
        n--;
    e->found = true;
    e->matched_line = number;
    rocl_buf_put(&e->matched, p, n);
    return e->matched.failed ? rocl_fail_memory(err) : ROCL_OK;
}

/* The first line of the record's text that matches counts, others in it do not. */
static rocl_status search_text(search *s, rocl_rpt_end *e, const rocl_rpt_record *record,
                               rocl_error *err)
{
    uint64_t at = record->text_at, end = at + record->text_size, number = record->text_line;
    rocl_status st = ROCL_OK;
    rocl_view part;
    bool matched = false;
    s->line.len = 0;
    while (at < end && !matched && st == ROCL_OK) {
        st = rocl_rpt_log_text(s->rpt->log, at, end - at, &part, err);
        if (st)
            break;
        const char *newline = memchr(part.p, '\n', part.n);
        size_t n = newline ? (size_t)(newline - part.p) : part.n;
        rocl_buf_put(&s->line, part.p, n);
        at += n + (newline != NULL);
        if (newline || at == end)
            st = match_line(s, e, number++, &matched, err);
    }
    return st;
}

static rocl_status search_record(search *s, const rocl_rpt_record *record, rocl_error *err)
{
    rocl_rpt_end *ends[] = {&s->rpt->from, &s->rpt->to};
    rocl_status st = ROCL_OK;
    for (unsigned i = 0; i < 2 && st == ROCL_OK; i++) {
        if (!ends[i]->has_regex || ends[i]->found)
            continue;
        st = search_text(s, ends[i], record, err);
        if (ends[i]->found)
            ends[i]->record = *record;
    }
    return st;
}

/* Goes through all records and into a second sorter, for a sorter is read only once. */
static rocl_status search_records(search *s, rocl_sorter *to, rocl_error *err)
{
    rocl_sort_record packed;
    rocl_rpt_record record;
    bool more = true;
    rocl_status st = rocl_sorter_start(s->rpt->sorter, err);
    while (st == ROCL_OK && more) {
        st = rocl_sorter_next(s->rpt->sorter, &packed, &more, err);
        if (st || !more)
            break;
        rocl_rpt_unpack(&packed, &record);
        st = rocl_sorter_add(to, 0, packed.key, packed.data, packed.len, err);
        if (st == ROCL_OK && record.text_size)
            st = search_record(s, &record, err);
    }
    return st;
}

static rocl_status search_all(rocl_rpt *r, rocl_error *err)
{
    search s = {.rpt = r};
    rocl_sorter *to = rocl_sorter_new(r->space, 2);
    rocl_status st = to ? search_records(&s, to, err) : rocl_fail_memory(err);
    rocl_buf_free(&s.line);
    rocl_sorter_free(r->sorter);
    r->sorter = to;
    return st;
}

/* ---- all records are there ------------------------------------------------------------------- */

static rocl_status resolve_end(const rocl_rpt *r, rocl_rpt_end *e, const rocl_rpt_record *fallback,
                               rocl_error *err)
{
    if (!e->form) {
        e->record = *fallback;
    } else if (e->form == '^' && r->from_log && e->number > 0) {
        /* The script compares the wrong way round: any time is past the first start. */
        e->record = r->first;
    } else if (!e->found) {
        return fail_end(e,
                        e->form == '@'   ? "there is no command with this line"
                        : e->form == '^' ? "there is no command at this time"
                                         : "not found so often before a command",
                        err);
    }
    return ROCL_OK;
}

rocl_status rocl_rpt_roi_resolve(rocl_rpt *r, rocl_error *err)
{
    rocl_status st = rocl_rpt_roi_needs_text(r) ? search_all(r, err) : ROCL_OK;
    if (st == ROCL_OK)
        st = resolve_end(r, &r->from, &r->first, err);
    if (st == ROCL_OK)
        st = resolve_end(r, &r->to, &r->last, err);
    if (st)
        return st;
    const rocl_rpt_record *from = &r->from.record, *to = &r->to.record;
    if (from->start > to->start || (from->start == to->start && from->line > to->line))
        return rocl_fail(err, ROCL_USAGE,
                         "%s: the region of interest starts at line %llu, after it stops at line "
                         "%llu",
                         r->input, (unsigned long long)from->line, (unsigned long long)to->line);
    return ROCL_OK;
}
