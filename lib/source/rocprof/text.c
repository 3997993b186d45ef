/* The raw texts of rocprof v1 and roctracer, one record a line: hip_api_trace.txt,
 * hsa_api_trace.txt, hcc_ops_trace.txt, async_copy_trace.txt, roctx_trace.txt. Which record a line
 * holds is told by the line alone, so captures of roctracer's output, with lines of the program
 * among them, are read as well. */
#include <stdlib.h>

#include "source/rocprof/rocprof.h"
#include "source/rocprof/row.h"
#include "source/rtg/line_match.h"

static bool parse_number(const char **p, const char *end, uint64_t *v)
{
    rocl_view digits;
    const char *q = rtg_digits(*p, end, &digits);
    if (!q || !rtg_number(digits, v))
        return false;
    *p = q;
    return true;
}

static bool skip_char(const char **p, const char *end, char c)
{
    if (*p == end || **p != c)
        return false;
    ++*p;
    return true;
}

/* The number behind the last colon of a text, and the text before it. */
static bool split_number(rocl_view *text, uint64_t *v)
{
    const char *colon = text->n ? memrchr(text->p, ':', text->n) : NULL;
    const char *p = colon ? colon + 1 : NULL, *end = text->p + text->n;
    if (!colon || !parse_number(&p, end, v) || p != end)
        return false;
    text->n = (size_t)(colon - text->p);
    return true;
}

/* "CID:RID:"MESSAGE"" of rocTX, at a time. */
static rocl_status put_marker(rocl_records *to, rocl_source_record *r, const char *p,
                              const char *end, const rocprof_words *w, rocl_error *err)
{
    enum { MARK, PUSH, POP, START, STOP };
    uint64_t what, id;
    if (!parse_number(&p, end, &what) || !skip_char(&p, end, ':') || what > STOP)
        return rocl_record_fault(to, r->where, ROCL_FAULT_BAD_LINE, "no line of rocTX", err);
    const char *number = p;
    if (parse_number(&number, end, &id) && skip_char(&number, end, ':'))
        p = number;
    else
        id = 0;
    r->name = rocl_view_between(p, end);
    if (r->name.n >= 2 && *p == '"' && end[-1] == '"')
        r->name = rocl_view_between(p + 1, end - 1);
    r->kind = what == MARK ? ROCL_INSTANT : ROCL_MARKER;
    r->half = what == MARK ? ROCL_WHOLE : what == PUSH || what == START ? ROCL_BEGINS : ROCL_ENDS;
    r->scope = what >= START ? UINT64_MAX : r->thread;
    r->id = id;
    r->as.e.end = r->as.e.start;
    r->as.e.category = what == MARK ? w->mark : w->range;
    return rocl_record_put(to, r, err);
}

/* "NAME:CORR:PID": work on a GPU. */
static rocl_status put_work(rocl_records *to, rocl_source_record *r, rocl_view text,
                            const rocprof_words *w, rocl_error *err)
{
    uint64_t pid, link;
    if (!split_number(&text, &pid) || !split_number(&text, &link))
        return rocl_record_fault(to, r->where, ROCL_FAULT_BAD_LINE, "no line of GPU work", err);
    r->process = pid;
    r->link = link;
    r->name = text;
    if (rtg_lit(text.p, text.p + text.n, "Copy")) {
        r->kind = ROCL_COPY;
        r->as.e.category = w->copy;
        r->dst = r->agent;
    } else {
        r->as.e.category = w->kernel;
    }
    return rocl_record_put(to, r, err);
}

static rocl_status parse_line(rocl_records *to, char *line, size_t n, uint64_t where,
                              rocl_error *err)
{
    const rocprof_words *w = rocl_records_input_of(to)->state;
    const char *p = line, *end = line + n;
    rocl_source_record r;
    uint64_t times[2] = {0}, a, b;
    rocl_record_begin(&r, ROCL_REGION, where);
    if (!parse_number(&p, end, &times[0]))
        return ROCL_OK;
    bool point = !skip_char(&p, end, ':');
    if (!point && !parse_number(&p, end, &times[1]))
        return ROCL_OK;
    if (!skip_char(&p, end, ' ') || !parse_number(&p, end, &a) || !skip_char(&p, end, ':') ||
        !parse_number(&p, end, &b) || !skip_char(&p, end, ' '))
        return ROCL_OK;
    r.as.e.start = (int64_t)times[0];
    r.as.e.end = (int64_t)times[1];
    if (point) {
        r.process = a;
        r.thread = b;
        return put_marker(to, &r, p, end, w, err);
    }
    const char *word = p;
    while (word < end && rtg_word(*word))
        word++;
    rocl_view rest = rocl_view_between(p, end);
    uint64_t number;
    bool is_call = word < end && *word == '(' &&
                   (rtg_lit(p, end, "hip") || rtg_lit(p, end, "hsa") || rtg_lit(p, end, "__hip"));
    if (is_call) {
        r.process = a;
        r.thread = b;
        r.name = rocl_view_between(p, word);
        r.as.e.category = rtg_lit(p, end, "hsa") ? w->hsa : w->hip;
        if (split_number(&rest, &number))
            r.link = number;
        return rocl_record_put(to, &r, err);
    }
    r.kind = ROCL_DISPATCH;
    r.agent = a;
    r.queue = b;
    return put_work(to, &r, rest, w, err);
}

static rocl_status parse_piece(rocl_records_input *in, rocl_records *to, const rocl_piece *piece,
                               rocl_error *err)
{
    (void)in;
    (void)piece;
    return rocl_records_lines(to, parse_line, NULL, err);
}

static void close_state(rocl_records_input *in)
{
    free(in->state);
}

static const rocl_record_format format = {
    .places = ROCL_PLACES_LINES, .parse = parse_piece, .close = close_state};

static rocl_status open_texts(rocl_source *s, rocl_trace *t, rocl_error *err)
{
    rocl_records_input *in;
    rocl_status st = rocl_records_open(&in, s, t, &format, err);
    if (st != ROCL_OK)
        return st;
    rocprof_words *w = in->state = malloc(sizeof *w);
    if (!w)
        return rocl_fail_memory(err);
    if (!rocprof_intern_words(w, t))
        return rocl_fail_memory(err);
    for (uint32_t i = 0; i < in->file_count; i++)
        if (!rocl_records_cut(in, i, 0, 0))
            return rocl_fail_memory(err);
    return rocl_records_index(in, err);
}

/* Raw texts of one folder are one run. */
static bool is_same_folder(const char *a, const char *b)
{
    const char *x = strrchr(a, '/'), *y = strrchr(b, '/');
    const size_t n = x ? (size_t)(x - a) : 0, m = y ? (size_t)(y - b) : 0;
    return n == m && !memcmp(a, b, n);
}

const rocl_source_ops rocl_rocprof_text_ops = {ROCL_RECORDS_OPS(open_texts),
                                               .same_run = is_same_folder};

/* "BEGIN:END PID:TID", or "TIME PID:TID" */
bool rocprof_is_text(const char *head, size_t n, bool whole)
{
    unsigned numbers = 0;
    (void)whole;
    for (size_t i = 0; i < n && numbers < 3; i++) {
        size_t first = i;
        while (i < n && head[i] >= '0' && head[i] <= '9')
            i++;
        if (i == first || i == n || !(head[i] == ':' || head[i] == ' '))
            return false;
        numbers++;
        if (numbers == 2 && head[first - 1] == head[i])
            return false;
    }
    return numbers == 3;
}
