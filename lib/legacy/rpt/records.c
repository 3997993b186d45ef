/* Records in order of start, and the two of them that the region of interest is between. Where the
 * script finds a record by its number or line it is known when all have been added; by the text
 * before it, the text must be read once more, in order of start. */
#include "legacy/rpt/rpt.h"

#include <stdlib.h>

#include "base/regex.h"

/* ---- the ends that were asked for ----------------------------------------------------------- */

static rocl_status fail_end(const rpt_end *e, const char *why, rocl_error *err)
{
    return rocl_fail(err, ROCL_USAGE, "%s: \"%.200s\": %s", e->option, e->given, why);
}

static rocl_status parse_end(rpt_end *e, const char *option, const char *given, rocl_error *err)
{
    e->option = option;
    e->given = given;
    if (!given)
        return ROCL_OK;
    const char *mark = strpbrk(given, "@^%");
    if (!mark)
        return fail_end(e, "no \"@LINE\", \"^NS\" or \"N%RE\"", err);
    e->notation = *mark;
    if (*mark == '%') {
        /* Digits before the mark; without any, or with 0, the first match is meant. */
        const char *p = mark;
        while (p > given && p[-1] >= '0' && p[-1] <= '9')
            p--;
        for (; p < mark; p++)
            if (e->matches <= UINT64_MAX / 16)
                e->matches = e->matches * 10 + (uint64_t)(*p - '0');
        if (!e->matches)
            e->matches = 1;
        e->often = e->matches > 1;
        rocl_status st = rpt_regex_compile(&e->regex, option, mark + 1, err);
        e->has_regex = st == ROCL_OK;
        return st;
    }
    if (!rocl_py_int((rocl_view){mark + 1, strlen(mark + 1)}, &e->number))
        return fail_end(e, *mark == '@' ? "not a line number" : "not a number of nanoseconds", err);
    return ROCL_OK;
}

rocl_status rpt_parse_region(rpt *r, rocl_error *err)
{
    rocl_status st = parse_end(&r->from, "--roi-start", r->o.roi_start, err);
    return st ? st : parse_end(&r->to, "--roi-stop", r->o.roi_stop, err);
}

bool rpt_region_needs_text(const rpt *r)
{
    return r->from_log && (r->from.has_regex || r->to.has_regex);
}

void rpt_region_free(rpt *r)
{
    rpt_end *ends[] = {&r->from, &r->to};
    for (unsigned i = 0; i < 2; i++) {
        if (ends[i]->has_regex)
            regfree(&ends[i]->regex);
        rocl_buf_free(&ends[i]->matched);
    }
}

/* ---- records in the sorter: key (start, line), and varints of the rest ---------------------- */

static void decode_record(const rocl_sort_record *encoded, rpt_record *record)
{
    uint64_t v[10] = {0};
    const uint8_t *p = encoded->data, *end = p + encoded->len;
    for (unsigned i = 0; i < 10 && p < end && rocl_varint_get(&p, end, &v[i]); i++)
        ;
    *record = (rpt_record){
        .start = (int64_t)rpt_time_key((int64_t)encoded->key[0]),
        .name = (uint32_t)v[1],
        .type = (uint32_t)v[2],
        .device = rocl_unzigzag(v[3]),
        .queue = rocl_unzigzag(v[4]),
        .command = rocl_unzigzag(v[5]),
        .line = encoded->key[1],
        .text_at = v[6],
        .text_size = v[7],
        .text_line = v[8],
        .text_lines = v[9],
    };
    record->stop = record->start + rocl_unzigzag(v[0]);
}

rocl_status rpt_next_record(rocl_sorter *s, rpt_record *record, bool *more, rocl_error *err)
{
    rocl_sort_record encoded;
    rocl_status st = rocl_sorter_next(s, &encoded, more, err);
    if (st == ROCL_OK && *more)
        decode_record(&encoded, record);
    return st;
}

/* Is this record, the next one that is added, the end? By the text of a log that is not known yet.
 * Records of a trace are added in order of start. */
static void check_end(const rpt *r, rpt_end *e, const rpt_record *record)
{
    if (!e->notation || e->resolved)
        return;
    if (e->notation == '@') {
        uint64_t n = (uint64_t)e->number;
        e->resolved = e->number > 0 &&
                      (n == record->line ||
                       (n >= record->text_line && n - record->text_line < record->text_lines));
    } else if (!r->from_log && e->notation == '^') {
        e->resolved = record->start - r->first.start >= e->number;
    } else if (!r->from_log) {
        size_t n;
        const char *name = rocl_strings_get(r->strings, record->name, &n);
        e->resolved = rocl_regex_matches(&e->regex, name, n) && --e->matches == 0;
    }
    if (e->resolved)
        e->record = *record;
}

rocl_status rpt_add_record(rpt *r, const rpt_record *record, rocl_error *err)
{
    uint8_t encoded[10 * ROCL_VARINT_MAX];
    const uint64_t key[2] = {rpt_time_key(record->start), record->line};
    bool any = r->first.line;
    /* The script's sort is stable: of equal starts the first line is first. */
    if (!any || record->start < r->first.start)
        r->first = *record;
    if (!any || record->start >= r->last.start)
        r->last = *record;
    r->backwards += record->stop < record->start;
    check_end(r, &r->from, record);
    check_end(r, &r->to, record);
    uint8_t *p = rocl_varint_put(encoded, rocl_zigzag(record->stop - record->start));
    p = rocl_varint_put(p, record->name);
    p = rocl_varint_put(p, record->type);
    p = rocl_varint_put(p, rocl_zigzag(record->device));
    p = rocl_varint_put(p, rocl_zigzag(record->queue));
    p = rocl_varint_put(p, rocl_zigzag(record->command));
    if (r->keep_text && record->text_size) {
        p = rocl_varint_put(p, record->text_at);
        p = rocl_varint_put(p, record->text_size);
        p = rocl_varint_put(p, record->text_line);
        p = rocl_varint_put(p, record->text_lines);
    }
    return rocl_sorter_add(r->sorter, 0, key, encoded, (size_t)(p - encoded), err);
}

/* ---- the ends that are found by the text before a record ------------------------------------ */

/* The first line of the record's text that matches counts, others in it do not. */
static rocl_status search_text(const rpt *r, rpt_end *e, const rpt_record *record, rocl_buf *line,
                               rocl_error *err)
{
    uint64_t at = record->text_at, end = at + record->text_size, number = record->text_line;
    rocl_status st = ROCL_OK;
    bool matched = false;
    line->len = 0;
    while (at < end && !matched && st == ROCL_OK) {
        rocl_view piece;
        st = rpt_log_text(r->log, at, end - at, &piece, err);
        if (st)
            break;
        rocl_view rest = rocl_view_until(piece, '\n');
        bool newline = rest.n < piece.n;
        rocl_buf_put(line, rest.p, rest.n);
        at += rest.n + newline;
        if (!newline && at < end)
            continue;
        /* The line without its newline ("$" is before that) and with a NUL behind it. */
        rocl_buf_byte(line, '\0');
        if (line->failed)
            return rocl_fail_memory(err);
        const char *p = (const char *)line->data;
        size_t n = line->len - 1;
        line->len = 0;
        matched = rocl_regex_matches(&e->regex, p, n);
        if (matched && --e->matches == 0) { /* often enough */
            while (n && rocl_py_space(p[n - 1]))
                n--;
            e->resolved = true;
            e->record = *record;
            e->matched_line = number;
            rocl_buf_put(&e->matched, p, n);
            st = e->matched.failed ? rocl_fail_memory(err) : ROCL_OK;
        }
        number++;
    }
    return st;
}

static rocl_status resolve_end(const rpt *r, rpt_end *e, const rpt_record *fallback,
                               rocl_error *err)
{
    if (!e->notation) {
        e->record = *fallback;
    } else if (e->notation == '^' && r->from_log && e->number > 0) {
        /* The script compares the wrong way round: any time is past the first start. */
        e->record = r->first;
    } else if (!e->resolved) {
        return fail_end(e,
                        e->notation == '@'   ? "there is no command with this line"
                        : e->notation == '^' ? "there is no command at this time"
                        : e->often           ? "not found that many times before a command"
                                             : "not found before a command",
                        err);
    }
    return ROCL_OK;
}

rocl_status rpt_resolve_region(rpt *r, rocl_error *err)
{
    rocl_status st = ROCL_OK;
    if (rpt_region_needs_text(r)) {
        /* Through all records and into a second sorter, for a sorter is read only once. */
        rpt_end *ends[] = {&r->from, &r->to};
        rocl_sorter *again = rocl_sorter_new(r->space, 2);
        rocl_sort_record encoded;
        rocl_buf line = {0};
        st = again ? rocl_sorter_start(r->sorter, err) : rocl_fail_memory(err);
        while (rocl_sorter_take(r->sorter, &encoded, &st, err)) {
            rpt_record record;
            decode_record(&encoded, &record);
            st = rocl_sorter_add(again, 0, encoded.key, encoded.data, encoded.len, err);
            for (unsigned i = 0; i < 2 && st == ROCL_OK && record.text_size; i++)
                if (ends[i]->has_regex && !ends[i]->resolved)
                    st = search_text(r, ends[i], &record, &line, err);
        }
        rocl_buf_free(&line);
        rocl_sorter_free(r->sorter);
        r->sorter = again;
    }
    if (st == ROCL_OK)
        st = resolve_end(r, &r->from, &r->first, err);
    if (st == ROCL_OK)
        st = resolve_end(r, &r->to, &r->last, err);
    if (st == ROCL_OK && rpt_is_before(&r->to.record, &r->from.record))
        return rocl_fail(err, ROCL_USAGE,
                         "%s: the region of interest starts at line %llu, after it stops at line "
                         "%llu",
                         r->input, (unsigned long long)r->from.record.line,
                         (unsigned long long)r->to.record.line);
    return st;
}
