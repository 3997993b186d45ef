/* The raw texts of rocprof v1 and roctracer, one record a line: hip_api_trace.txt,
 * hsa_api_trace.txt, hcc_ops_trace.txt, async_copy_trace.txt, roctx_trace.txt; results.txt, where
 * counters are in lines of their own; and what the text plugin of rocprofv2 writes. Which record a
 * line holds is told by the line alone, so captures of their output, with lines of the program
 * among them, are read as well.
 *
 *     BEGIN:END PID:TID NAME(ARGS)[ kernel=KERNEL][ = RETURNED][ :ID]    a call
 *     BEGIN:END DEVICE:QUEUE NAME:ID[:PID]                               work on a GPU
 *     BEGIN:END async-copy:ID:PID                                        a copy of HSA
 *     TIME PID:TID WHAT:[RANGE:]"MESSAGE"                                rocTX
 *     ENGINE CYCLE 0xADDRESS NAME                                        a sample of rocprof
 *     dispatch[N], gpu-id(N), ...; Domain(...), ...; Dispatch_ID(N), ... see fields.h
 *
 * The texts of one folder are one run. */
#include <stdlib.h>

#include "base/error.h"
#include "base/num.h"
#include "source/rocprof/fields.h"
#include "source/rocprof/rocprof.h"
#include "source/rtg/line_match.h"
#include "source/rtg/rtg.h"

/* ---- lines ----------------------------------------------------------------------------------- */

typedef enum text_shape {
    NO_RECORD,  /* a line of the program */
    CUT_RECORD, /* it begins like a record */
    NUMBER,     /* a time alone: begin_ts_file.txt, or a cut line */
    HANDLE,     /* of hsa_handles.txt: not needed */
    PC_SAMPLE,
    CALL,
    WORK,
    MARKER
} text_shape;

typedef struct text_line {
    uint64_t begin, end;
    uint64_t a, b;  /* process and thread, or device and queue; ROCL_NO_KEY */
    rocl_view text; /* what follows, without numbers at its end */
    uint64_t process, link;
    uint64_t what, range; /* of rocTX */
} text_line;

enum { MARK, PUSH, POP, START, STOP };

/* Times have at least this many digits; clocks and dates in lines of programs have fewer. */
enum { SURE_DIGITS = 9 };

static inline bool parse_number(const char **p, const char *end, uint64_t *v)
{
    const char *q = rocl_get_digits(*p, end, v);
    if (q == *p || (q < end && rtg_digit(*q)))
        return false;
    *p = q;
    return true;
}

static inline bool skip_char(const char **p, const char *end, char c)
{
    if (*p == end || **p != c)
        return false;
    ++*p;
    return true;
}

/* Splits the number after the last colon off a text. */
static bool split_number(rocl_view *text, uint64_t *v)
{
    const char *end = text->p + text->n, *q = end, *p;
    while (q > text->p && rtg_digit(q[-1]))
        q--;
    p = q;
    if (q == end || q == text->p || q[-1] != ':' || !parse_number(&p, end, v))
        return false;
    text->n = (size_t)(q - 1 - text->p);
    return true;
}

/* NAME:ID:PID, NAME:ID, or NAME(...) ... :ID, whose colon is after a blank. */
static text_shape read_work_or_call(text_line *l, rocl_view text)
{
    uint64_t last;
    const bool numbered = split_number(&text, &last);
    l->link = numbered ? last : ROCL_NO_KEY;
    l->process = ROCL_NO_KEY;
    if (numbered && text.n && text.p[text.n - 1] != ' ') {
        if (split_number(&text, &l->link))
            l->process = last;
        l->text = text;
        return text.n ? WORK : CUT_RECORD;
    }
    const char *end = text.p + text.n, *p = text.p;
    while (p < end && rtg_word(*p))
        p++;
    l->text = text;
    return p > text.p &&
                   (p < end ? *p == '(' && rtg_last(p, end, ')') : rocl_view_is(text, "unknown"))
               ? CALL
               : CUT_RECORD;
}

/* A line that does not begin like a record: is it one with a malformed time? "1e300:5000000004000
 * 41:41 ..." is, "2024-11-05 12:34 ..." is not. */
static text_shape read_no_time(const char *line, const char *end)
{
    const char *blank = memchr(line, ' ', (size_t)(end - line)), *p = blank;
    const char *colon = blank ? memchr(line, ':', (size_t)(blank - line)) : NULL;
    uint64_t v;
    if (!blank || (colon && colon - line < SURE_DIGITS && blank - colon <= SURE_DIGITS))
        return NO_RECORD;
    if (colon && rtg_lit(blank, end, " async-copy"))
        return CUT_RECORD;
    if (!skip_char(&p, end, ' ') || !parse_number(&p, end, &v) || !skip_char(&p, end, ':') ||
        !parse_number(&p, end, &v) || !skip_char(&p, end, ' '))
        return NO_RECORD;
    if (colon)
        return CUT_RECORD;
    return parse_number(&p, end, &v) && v <= STOP && skip_char(&p, end, ':') ? CUT_RECORD
                                                                             : NO_RECORD;
}

static text_shape read_line(text_line *l, const char *line, size_t n)
{
    const char *p = line, *end = line + n;
    if (!n)
        return NO_RECORD;
    if (!parse_number(&p, end, &l->begin))
        return read_no_time(line, end);
    if (p == end)
        return NUMBER;
    const bool sure = p - line >= SURE_DIGITS, span = *p == ':';
    if (!span && *p == 'x') {
        while (p < end && *p != ' ')
            p++;
        return rtg_lit(p, end, " agent ") ? HANDLE : NO_RECORD;
    }
    l->end = l->begin;
    if (span && (!skip_char(&p, end, ':') || !parse_number(&p, end, &l->end)))
        return sure ? CUT_RECORD : NO_RECORD;
    const text_shape otherwise = sure && (span || p == end) ? CUT_RECORD : NO_RECORD;
    if (!skip_char(&p, end, ' '))
        return otherwise == CUT_RECORD ? CUT_RECORD : read_no_time(line, end);
    if (span && rtg_lit(p, end, "async-copy")) {
        l->a = l->b = l->process = l->link = ROCL_NO_KEY;
        l->text = (rocl_view){p, sizeof "async-copy" - 1};
        p += l->text.n;
        rocl_view rest = rocl_view_between(p, end);
        if (parse_number(&p, end, &l->link)) /* async-copyN */
            return p == end ? WORK : CUT_RECORD;
        return split_number(&rest, &l->process) && split_number(&rest, &l->link) && !rest.n
                   ? WORK
                   : CUT_RECORD;
    }
    if (!parse_number(&p, end, &l->a))
        return otherwise;
    if (!span && rtg_lit(p, end, " 0x"))
        return PC_SAMPLE;
    if (!skip_char(&p, end, ':') || !parse_number(&p, end, &l->b) || !skip_char(&p, end, ' '))
        return sure && (span || p == end) ? CUT_RECORD : NO_RECORD;
    if (!span) {
        /* WHAT:[RANGE:]"MESSAGE"; older ones have no RANGE and not always quotes. */
        if (!parse_number(&p, end, &l->what) || !skip_char(&p, end, ':') || l->what > STOP)
            return sure ? CUT_RECORD : NO_RECORD;
        const char *number = p;
        l->range = 0;
        if (parse_number(&number, end, &l->range) && skip_char(&number, end, ':'))
            p = number;
        else
            l->range = 0;
        /* A message may hold quotes, and line ends. */
        if (p < end && *p == '"')
            end -= ++p < end && end[-1] == '"';
        l->text = rocl_view_between(p, end);
        return MARKER;
    }
    const text_shape shape = read_work_or_call(l, rocl_view_between(p, end));
    return shape == CUT_RECORD && !sure ? NO_RECORD : shape;
}

/* ---- records --------------------------------------------------------------------------------- */

typedef struct text_run {
    rocprof_words words;
    uint32_t kfd;
    bool counts_copies; /* calls of HSA have no ids, so its copies are counted differently */
    bool *pure;         /* by file: it begins with a record, so a number alone is a cut record */
} text_run;

static rocl_status put_marker(rocl_records *to, rocl_source_record *r, const text_line *l,
                              const rocprof_words *w, rocl_error *err)
{
    const bool mark = l->what == MARK;
    r->process = l->a;
    r->thread = l->b;
    r->name = l->text;
    r->kind = mark ? ROCL_INSTANT : ROCL_MARKER;
    r->half = mark ? ROCL_WHOLE : l->what == PUSH || l->what == START ? ROCL_BEGINS : ROCL_ENDS;
    /* A range may end in another thread than that in which it began. */
    r->scope = l->what >= START ? UINT64_MAX : r->thread;
    r->id = l->range;
    if (l->what == START)
        r->function = (rocl_view){ROCPROF_STARTED, sizeof ROCPROF_STARTED - 1};
    r->as.e.category = mark ? w->mark : w->range;
    return rocl_record_put(to, r, err);
}

/* The parenthesis that closes the one at p, ignoring quoted ones. */
static const char *find_closing(const char *p, const char *end)
{
    for (size_t depth = 0; p < end; p++) {
        if (*p == '(')
            depth++;
        else if (*p == ')' && !--depth)
            return p;
        else if (*p == '"') {
            const char *close = memchr(p + 1, '"', (size_t)(end - p - 1));
            p = close ? close : p;
        }
    }
    return NULL;
}

/* "dst(0x10) size(4)" of ROCm 3.5; false: not in this form. */
static bool add_older_args(rocl_records *to, rocl_view text)
{
    const char *p = text.p, *end = p + text.n;
    const char *open = memchr(p, '(', text.n), *equals = memchr(p, '=', text.n);
    if (!open || open == p || (equals && equals < open) || !rtg_word(open[-1]))
        return false;
    while ((p = rtg_skip_space(p, end)) < end) {
        const char *close = NULL;
        open = memchr(p, '(', (size_t)(end - p));
        if (!open || !(close = find_closing(open, end)))
            break;
        rocl_record_arg(to, rocl_view_between(p, open), rocl_view_between(open + 1, close));
        p = close + 1;
    }
    return true;
}

/* What follows the name in "NAME(ARGS) kernel=KERNEL" or "NAME(ARGS) = RETURNED". */
static void add_args(rocl_records *to, const char *p, const char *end)
{
    const char *close = find_closing(p, end);
    close = close ? close : rtg_last(p, end, ')');
    const rocl_view args = rocl_view_between(p + 1, close);
    while (end > close && end[-1] == ' ')
        end--;
    if (!add_older_args(to, args))
        rtg_args_split(args, rocprof_add_arg, to);
    const char *kernel = rtg_lit(close, end, ") kernel="), *returned = rtg_lit(close, end, ") = ");
    if (kernel)
        rocl_record_arg(to, (rocl_view){"kernel", 6}, rocl_view_between(kernel, end));
    else if (returned && !rocl_view_is(rocl_view_between(returned, end), "0"))
        rocl_record_arg(to, (rocl_view){"ret", 3}, rocl_view_between(returned, end));
}

static rocl_status put_call(rocl_records *to, rocl_source_record *r, const text_line *l,
                            const text_run *run, rocl_error *err)
{
    const char *p = l->text.p, *end = p + l->text.n;
    const char *open = memchr(p, '(', l->text.n);
    r->process = l->a;
    r->thread = l->b;
    r->name = rocl_view_between(p, open ? open : end);
    r->as.e.category = rtg_lit(p, end, "hsaKmt")          ? run->kfd
                       : rtg_lit(p, end, "hsa_") || !open ? run->words.hsa
                                                          : run->words.hip;
    if (open && rocl_records_first_pass(to))
        rocprof_read_copy(r->name, rocl_view_between(open, end), &r->bytes, &r->direction);
    if (open && rocl_records_want_args(to) && rocl_records_want(to, ROCL_REGION))
        add_args(to, open, end);
    return rocl_record_put(to, r, err);
}

static rocl_status parse_line(rocl_records *to, char *line, size_t n, uint64_t where,
                              rocl_error *err)
{
    const text_run *run = rocl_records_input_of(to)->state;
    rocprof_fields *fields = rocl_records_state(to);
    rocl_source_record r;
    text_line l;
    if (!n)
        return ROCL_OK;
    if (fields && rocprof_is_counter_line(line, n))
        return rocprof_counter_line_put(to, &run->words, fields, line, n, where, err);
    if (fields)
        rocprof_fields_end_dispatch(to, fields);
    const bool has_fields = rocprof_has_fields(line, n);
    /* May more fields follow a line of rocprofv2 without a line end? Counters follow a dispatch;
     * the last field of calls and work is their correlation; those of ROCTx may end with any field.
     */
    const rocl_view whole = {line, n};
    if (has_fields && rocl_records_line_is_cut(to) &&
        (rocl_view_begins(whole, "Dispatch_ID(") ||
         (rocl_view_find(whole, "_Timestamp(") && !rocl_view_find(whole, "Correlation_ID("))))
        return rocl_record_fault(to, where, ROCL_FAULT_BAD_LINE, RTG_CUT);
    if (has_fields)
        return (fields = rocprof_fields_of(to))
                   ? rocprof_fields_put(to, &run->words, fields, line, n, where, err)
                   : rocl_fail_memory(err);
    const text_shape shape = read_line(&l, line, n);
    rocl_record_begin(&r, ROCL_REGION, where);
    r.as.e.start = (int64_t)l.begin;
    r.as.e.end = (int64_t)l.end;
    if (shape == CALL || shape == WORK)
        r.link = l.link ? l.link : ROCL_NO_KEY; /* 0: it is not known */
    if ((shape == CALL || shape == WORK || shape == MARKER) && rocl_records_line_is_cut(to))
        return rocl_record_fault(to, where, ROCL_FAULT_BAD_LINE, RTG_CUT);
    switch (shape) {
    case CALL:
        return put_call(to, &r, &l, run, err);
    case WORK:
        r.agent = l.a;
        r.queue = l.b;
        r.process = l.process;
        if (run->counts_copies && l.a == ROCL_NO_KEY)
            r.link = ROCL_NO_KEY;
        return rocprof_op_put(to, &run->words, &r, l.text, err);
    case MARKER:
        return put_marker(to, &r, &l, &run->words, err);
    case PC_SAMPLE:
        return rocl_record_fault(to, where, ROCL_FAULT_BAD_TIME,
                                 "a sample whose time is in cycles of a GPU");
    case NUMBER:
        if (!run->pure[rocl_records_piece(to)->file])
            return ROCL_OK;
        /* fall through */
    case CUT_RECORD:
        return rocl_record_fault(to, where, ROCL_FAULT_BAD_LINE, "a record that is cut or damaged");
    default:
        return ROCL_OK;
    }
}

static rocl_status parse_piece(rocl_records_input *in, rocl_records *to, const rocl_piece *piece,
                               rocl_error *err)
{
    (void)in;
    (void)piece;
    rocl_status st = rocl_records_lines(to, parse_line, rocprof_is_counter_line, err);
    rocprof_fields *fields = rocl_records_state(to);
    if (st == ROCL_OK && fields)
        rocprof_fields_end_dispatch(to, fields);
    return st;
}

/* ---- files ----------------------------------------------------------------------------------- */

static void close_run(rocl_records_input *in)
{
    free(((text_run *)in->state)->pure);
}

static rocl_status open_run(rocl_records_input *in, rocl_error *err)
{
    rocl_trace *t = in->trace;
    text_run *run = in->state;
    rocl_status st = ROCL_OK;
    if (!(run->pure = calloc(in->file_count, sizeof *run->pure)) ||
        !rocprof_intern_words(&run->words, t) ||
        (run->kfd = rocl_strings_put(t->strings, "KFD_API", 7)) == ROCL_NONE)
        return rocl_fail_memory(err);
    for (uint32_t i = 0; i < in->file_count && st == ROCL_OK; i++) {
        /* Does it begin with a record, so that no program wrote between its lines; does it hold
         * samples of the program counter, whose times are cycles of a GPU? */
        char head[4096];
        text_line l;
        size_t got = 0;
        st = rocl_spool_read(in->files[i].spool, head, sizeof head, 0, &got, err);
        const char *end = st == ROCL_OK ? memchr(head, '\n', got) : NULL;
        const text_shape shape = end ? read_line(&l, head, (size_t)(end - head)) : NO_RECORD;
        const bool samples = shape == PC_SAMPLE;
        run->pure[i] = shape >= CALL;
        run->counts_copies |= shape == CALL && l.link == ROCL_NO_KEY &&
                              rtg_lit(l.text.p, l.text.p + l.text.n, "hsa_");
        if (st == ROCL_OK && samples && in->file_count == 1)
            st = rocl_fail(err, ROCL_INPUT,
                           "%s: samples of the program counter (rocprof), not a trace: their times "
                           "are cycles of a GPU, which say nothing of when they were; name "
                           "results.txt, hip_api_trace.txt and hcc_ops_trace.txt of the same run",
                           in->files[i].path);
        else if (st == ROCL_OK && samples)
            in->source->remark =
                "the samples of pcs_trace.txt are left out: their times are cycles of a GPU";
        else if (st == ROCL_OK && !rocl_records_cut(in, i, 0, 0))
            st = rocl_fail_memory(err);
    }
    return st;
}

static const rocl_record_format format = {.state_size = sizeof(text_run),
                                          .open = open_run,
                                          .places = ROCL_PLACES_LINES,
                                          .keeps = true,
                                          .parse = parse_piece,
                                          .free_worker = rocprof_fields_free,
                                          .close = close_run};

/* The length of the folder in the name of a raw text of rocprof, which may contain the pid, as
 * out/4242_hip_api_trace.txt; SIZE_MAX: another name. */
static size_t folder_length(const char *path)
{
    static const char *const kinds[] = {
        "hip_api_trace.txt",    "hsa_api_trace.txt", "kfd_api_trace.txt",  "hcc_ops_trace.txt",
        "async_copy_trace.txt", "roctx_trace.txt",   "results.txt",        "begin_ts_file.txt",
        "hsa_handles.txt",      "pcs_trace.txt",     "pc_sample_trace.txt"};
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *kind = name;
    while (rtg_digit(*kind))
        kind++;
    kind = kind > name && *kind == '_' ? kind + 1 : name;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const size_t n = strlen(kinds[i]);
        if (!strncmp(kind, kinds[i], n) && (!kind[n] || kind[n] == '.'))
            return (size_t)(name - path);
    }
    return SIZE_MAX;
}

static bool is_same_run(const char *a, const char *b)
{
    const size_t n = folder_length(a), m = folder_length(b);
    return n == m && n != SIZE_MAX && !memcmp(a, b, n);
}

const rocl_source_ops rocl_rocprof_text_ops = {ROCL_RECORDS_OPS(format), .same_run = is_same_run};

/* ---- recognising ----------------------------------------------------------------------------- */

/* Recognises a record in any line, the first line of accompanying files, and a short text of times
 * only. */
bool rocprof_is_text(const char *head, size_t n, bool whole)
{
    enum { TIMES_MAX = 4096 };
    const char *p = head, *end = head + n;
    bool only_times = whole && n && n <= TIMES_MAX;
    while (p < end) {
        const char *stop = memchr(p, '\n', (size_t)(end - p));
        const char *next = stop ? stop + 1 : end;
        text_line l;
        if (!stop && !whole)
            return false;
        stop = stop ? stop : end;
        stop -= stop > p && stop[-1] == '\r';
        const size_t length = (size_t)(stop - p);
        const text_shape shape = read_line(&l, p, length);
        if (shape >= CALL || (p == head && (shape == HANDLE || shape == PC_SAMPLE)) ||
            (rocprof_has_fields(p, length) && rocprof_fields_are_whole(p, length)))
            return true;
        only_times = only_times && shape == NUMBER && length >= SURE_DIGITS;
        p = next;
    }
    return only_times;
}
