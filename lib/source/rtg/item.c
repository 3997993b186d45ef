/* A line that has a shape: its numbers, checked. Both passes go through here, so what one counts as
 * wrong the other leaves out. */
#include "source/rtg/line_match.h"
#include "source/rtg/rtg.h"

static void set_wrong(rtg_item *i, rocl_fault fault, const char *why)
{
    i->what = RTG_WRONG;
    i->fault = fault;
    i->why = why;
}

static const char too_large[] = "a number that is too large";

/* A number that must fit an int64_t. */
static bool read_signed(rocl_view digits, uint64_t *v)
{
    return rtg_number(digits, v) && *v <= INT64_MAX;
}

static void check_times(rtg_item *i)
{
    if (i->end == 0)
        set_wrong(i, ROCL_FAULT_NO_END, "no end");
    else if (i->end < i->start)
        set_wrong(i, ROCL_FAULT_END_BEFORE_START, "ends before it starts");
}

/* ---- lines of the tracer -------------------------------------------------------------------- */

/* What a shape has besides its process and start. The thread of GPU records is the tracer's own. */
enum { THREAD = 1, AGENT = 2, QUEUE = 4, ID = 8, DIMS = 16, STOP = 32, DURATION = 64 };

/* The fields of shapes, and what is wrong with lines that begin like ours, but do not go on so. */
static const struct {
    rtg_what what;
    unsigned has;
    rocl_fault fault;
    const char *why;
} shapes[RTG_SHAPES] = {
    [RTG_HIP] = {.what = RTG_CALL, .has = THREAD | DURATION},
    [RTG_HSA] = {.what = RTG_CALL, .has = THREAD | DURATION},
    [RTG_RANGE] = {.what = RTG_USER_RANGE, .has = THREAD | DURATION},
    [RTG_MARK] = {.what = RTG_USER_MARK, .has = THREAD},
    [RTG_HOST_DISPATCH] = {.what = RTG_HOST_PACKET, .has = THREAD | ID | DIMS},
    [RTG_HOST_BARRIER] = {.what = RTG_HOST_PACKET, .has = THREAD | ID},
    [RTG_HOST_VENDOR] = {.what = RTG_HOST_PACKET, .has = THREAD | ID},
    [RTG_DISPATCH] = {.what = RTG_GPU_DISPATCH, .has = AGENT | QUEUE | ID | STOP},
    [RTG_BARRIER] = {.what = RTG_GPU_BARRIER, .has = AGENT | QUEUE | ID | STOP},
    [RTG_VENDOR] = {.what = RTG_GPU_BARRIER, .has = AGENT | QUEUE | ID | STOP},
    [RTG_COPY] = {.what = RTG_GPU_COPY, .has = AGENT | STOP},
    [RTG_HIP_MISSED] = {RTG_WRONG, 0, ROCL_FAULT_BAD_LINE, "a HIP line that cannot be parsed"},
    [RTG_HSA_MISSED] = {RTG_WRONG, 0, ROCL_FAULT_BAD_LINE, "an HSA line that cannot be parsed"},
    [RTG_HCC_MISSED] = {RTG_WRONG, 0, ROCL_FAULT_BAD_LINE, "a profile line that cannot be parsed"},
    [RTG_HCC_ID] = {RTG_WRONG, 0, ROCL_FAULT_BAD_TIME, "a profile line without times"},
    [RTG_HCC_SPAN] = {RTG_WRONG, 0, ROCL_FAULT_BAD_TIME, "a profile line without times"},
};

static void read_tracer_line(rtg_item *i, const rtg_line *l)
{
    const unsigned has = shapes[l->shape].has;
    uint64_t start = 0, more = 0;
    bool fits = read_signed(l->pid, &i->process) && read_signed(l->start, &start);
    i->what = shapes[l->shape].what;
    i->has_thread = has & THREAD;
    i->has_agent = has & AGENT;
    i->has_queue = has & QUEUE;
    if (has & THREAD)
        fits = fits && read_signed(l->tid, &i->tid);
    if (has & AGENT)
        fits = fits && rtg_number(l->agent, &i->agent);
    if (has & QUEUE)
        i->queue = l->queue;
    if (has & ID)
        fits = fits && rtg_number(l->id, &i->id);
    for (int k = 0; has & DIMS && k < 6 && fits; k++) {
        uint64_t v;
        fits = rtg_number(k < 3 ? l->workgroup[k] : l->grid[k - 3], &v) && v <= UINT32_MAX;
        if (fits)
            *(k < 3 ? &i->workgroup[k] : &i->grid[k - 3]) = (uint32_t)v;
    }
    if (has & (STOP | DURATION))
        fits = fits && read_signed(l->stop, &more);
    if (fits)
        i->start = i->end = (int64_t)start;
    if (has & STOP)
        i->end = (int64_t)more;
    else if (has & DURATION)
        fits = fits && !__builtin_add_overflow(i->start, (int64_t)more, &i->end);
    if (!fits)
        set_wrong(i, ROCL_FAULT_BAD_LINE, too_large);
    else if (has & (STOP | DURATION))
        check_times(i);
}

/* ---- profile lines -------------------------------------------------------------------------- */

static void read_profile_line(rtg_item *i, const rtg_line *l, const rtg_text *text,
                              uint64_t file_pid)
{
    const bool has_id = l->shape != RTG_HCC_TIMES;
    uint64_t start, stop;
    i->hcc = true;
    i->process = file_pid;
    if (!has_id) {
        /* Two times and no id; with a third time the first may be that of enqueueing. */
        const char *end = text->p + text->n;
        rocl_view third;
        const char *p = rtg_digits(rtg_skip_space(l->stop.p + l->stop.n + 1, end), end, &third);
        if (p && p < end && *p == ';') {
            set_wrong(i, ROCL_FAULT_BAD_LINE, "a profile line with three times and no id");
            return;
        }
    }
    if (rocl_view_is(l->type, "kernel")) {
        i->what = RTG_GPU_DISPATCH;
    } else if (rocl_view_is(l->type, "barrier")) {
        i->what = RTG_GPU_BARRIER;
    } else if (rocl_view_is(l->type, "copy") || rocl_view_is(l->type, "copyslo")) {
        i->what = RTG_GPU_COPY;
    } else {
        set_wrong(i, ROCL_FAULT_BAD_LINE, "a profile line of unknown type");
        return;
    }
    i->has_agent = i->has_queue = has_id;
    if (has_id)
        i->queue = l->stream;
    if ((has_id && (!read_signed(l->device, &i->agent) || !rtg_number(l->sequence, &i->id))) ||
        !read_signed(l->start, &start) || !read_signed(l->stop, &stop)) {
        set_wrong(i, ROCL_FAULT_BAD_LINE, too_large);
        return;
    }
    i->start = (int64_t)start;
    i->end = (int64_t)stop;
    check_times(i);
}

/* ---- strace --------------------------------------------------------------------------------- */

/* Seconds and the digits after their point, of which nine count. */
static bool read_seconds(rocl_view whole, rocl_view fraction, int64_t *ns)
{
    uint64_t s, v, f = 0;
    for (size_t k = 0; k < 9; k++)
        f = 10 * f + (k < fraction.n ? (uint64_t)(fraction.p[k] - '0') : 0);
    if (!rtg_number(whole, &s) || __builtin_mul_overflow(s, 1000000000u, &v) ||
        __builtin_add_overflow(v, f, &v) || v > INT64_MAX)
        return false;
    *ns = (int64_t)v;
    return true;
}

/* A line that only looks like strace stays text. */
static void read_strace_line(rtg_item *i, rtg_line *l, const rtg_text *text)
{
    int64_t took = 0;
    rocl_view digits;
    i->process = RTG_STRACE_PROCESS;
    i->has_thread = true;
    /* "[pid 42] " or "42 " before the time */
    const char *p = rtg_lit(text->p, l->start.p, "[pid");
    p = rtg_skip_space(p ? p : text->p, l->start.p);
    if (!rtg_digits(p, l->start.p, &digits) || !read_signed(digits, &i->tid))
        i->tid = 0;
    if (!read_seconds(l->start, l->fraction, &i->start))
        return;
    if (l->shape != RTG_STRACE_UNFINISHED) { /* "0.000031" */
        const char *took_end = l->took.p + l->took.n;
        rocl_view whole, fraction = {took_end, 0};
        p = rtg_digits(l->took.p, took_end, &whole);
        if (p && p < took_end && *p == '.')
            p = rtg_digits(p + 1, took_end, &fraction);
        if (p != took_end || !read_seconds(whole, fraction, &took))
            return;
    }
    if (__builtin_add_overflow(i->start, took, &i->end))
        return;
    i->what = l->shape == RTG_STRACE_COMPLETE     ? RTG_SYSCALL
              : l->shape == RTG_STRACE_UNFINISHED ? RTG_SYSCALL_BEGIN
                                                  : RTG_SYSCALL_END;
    if (l->shape == RTG_STRACE_RESUMED)
        i->end = took; /* the begin is in another line */
    /* "open("x", O_RDONLY) ": the name, and what is in the parentheses */
    const char *open = memchr(l->name.p, '(', l->name.n), *end = l->name.p + l->name.n;
    if (open) {
        const char *close = rtg_last(open, end, ')');
        l->args = rocl_view_between(open + 1, close ? close : end);
        l->has_args = l->args.n > 0;
        l->name.n = (size_t)(open - l->name.p);
    }
}

/* ---- all ------------------------------------------------------------------------------------ */

void rtg_read_item(rtg_item *i, rtg_line *l, const rtg_text *text, uint64_t file_pid)
{
    i->what = RTG_NOTHING;
    i->has_thread = i->has_agent = i->has_queue = i->hcc = false;
    if (text->too_long) {
        set_wrong(i, ROCL_FAULT_BAD_LINE, "a line that is too long");
        return;
    }
    rtg_parse_line(l, text->p, text->n, text->ended);
    if (l->shape == RTG_TEXT || l->shape == RTG_HSA_MISSED || l->shape == RTG_HCC_TIMES)
        rtg_parse_newer_line(l, text->p, text->n);
    switch (l->shape) {
    case RTG_TEXT:
        if (text->n >= 9 && !memcmp(text->p, "RTX: pid:", 9))
            set_wrong(i, ROCL_FAULT_BAD_LINE, "an RTX line that cannot be parsed");
        break;
    case RTG_HCC:
    case RTG_HCC_BARE:
    case RTG_HCC_TIMES:
        read_profile_line(i, l, text, file_pid);
        break;
    case RTG_STRACE_UNFINISHED:
    case RTG_STRACE_RESUMED:
    case RTG_STRACE_COMPLETE:
        read_strace_line(i, l, text);
        break;
    default:
        if (shapes[l->shape].why)
            set_wrong(i, shapes[l->shape].fault, shapes[l->shape].why);
        else if (rtg_is_cut(text)) /* it ends in a number; other shapes in a mark of their end */
            set_wrong(i, ROCL_FAULT_BAD_LINE, RTG_CUT);
        else
            read_tracer_line(i, l);
    }
}
