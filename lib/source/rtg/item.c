/* A line that has a shape: its numbers, checked. Both passes go through here, so what one counts as
 * wrong the other leaves out. */
#include "source/rtg/line_impl.h"
#include "source/rtg/rtg.h"

static bool wrong(rtg_item *i, rocl_fault fault, const char *why)
{
    i->what = RTG_WRONG;
    i->fault = fault;
    i->why = why;
    return false;
}

static const char too_large[] = "a number that is too large";

static bool take(rtg_item *i, rocl_view s, uint64_t *v)
{
    return rtg_number(s, v) || wrong(i, ROCL_FAULT_BAD_LINE, too_large);
}

/* What later on is an int64_t. */
static bool take_signed(rtg_item *i, rocl_view s, uint64_t *v)
{
    return (rtg_number(s, v) && *v <= INT64_MAX) || wrong(i, ROCL_FAULT_BAD_LINE, too_large);
}

static bool check_times(rtg_item *i)
{
    if (i->end == 0)
        return wrong(i, ROCL_FAULT_NO_END, "no end");
    if (i->end < i->start)
        return wrong(i, ROCL_FAULT_END_BEFORE_START, "ends before it starts");
    return true;
}

static bool take_start(rtg_item *i, rocl_view s)
{
    uint64_t v;
    if (!take_signed(i, s, &v))
        return false;
    i->start = i->end = (int64_t)v;
    return true;
}

static bool take_start_stop(rtg_item *i, const rtg_line *l)
{
    uint64_t stop;
    if (!take_start(i, l->start) || !take_signed(i, l->stop, &stop))
        return false;
    i->end = (int64_t)stop;
    return check_times(i);
}

static bool take_start_duration(rtg_item *i, const rtg_line *l)
{
    uint64_t duration;
    if (!take_start(i, l->start) || !take_signed(i, l->stop, &duration))
        return false;
    if (__builtin_add_overflow(i->start, (int64_t)duration, &i->end))
        return wrong(i, ROCL_FAULT_BAD_LINE, too_large);
    return check_times(i);
}

static bool take_thread(rtg_item *i, const rtg_line *l)
{
    i->has_thread = true;
    return take_signed(i, l->pid, &i->process) && take_signed(i, l->tid, &i->tid);
}

/* The thread of GPU records is the tracer's own. */
static bool take_place(rtg_item *i, const rtg_line *l)
{
    i->has_agent = true;
    return take_signed(i, l->pid, &i->process) && take(i, l->agent, &i->agent);
}

static bool take_queue(rtg_item *i, const rtg_line *l)
{
    i->queue = l->queue;
    i->has_queue = true;
    return take_place(i, l);
}

static bool take_dims(rtg_item *i, const rocl_view from[3], uint32_t to[3])
{
    for (int k = 0; k < 3; k++) {
        uint64_t v;
        if (!rtg_number(from[k], &v) || v > UINT32_MAX)
            return wrong(i, ROCL_FAULT_BAD_LINE, too_large);
        to[k] = (uint32_t)v;
    }
    return true;
}

static bool read_host_packet(rtg_item *i, const rtg_line *l)
{
    i->what = RTG_HOST_PACKET;
    if (!take_thread(i, l) || !take_start(i, l->start) || !take(i, l->id, &i->id))
        return false;
    if (l->shape != RTG_HOST_DISPATCH)
        return true;
    return take_dims(i, l->workgroup, i->workgroup) && take_dims(i, l->grid, i->grid);
}

static bool read_gpu(rtg_item *i, const rtg_line *l)
{
    i->what = l->shape == RTG_DISPATCH ? RTG_GPU_DISPATCH
              : l->shape == RTG_COPY   ? RTG_GPU_COPY
                                       : RTG_GPU_BARRIER;
    bool placed =
        l->shape == RTG_COPY ? take_place(i, l) : take_queue(i, l) && take(i, l->id, &i->id);
    return placed && take_start_stop(i, l);
}

/* ---- profile lines ------------------------------------------------------------------------- */

static bool take_type(rtg_item *i, const rtg_line *l)
{
    if (rocl_view_is(l->type, "kernel"))
        i->what = RTG_GPU_DISPATCH;
    else if (rocl_view_is(l->type, "barrier"))
        i->what = RTG_GPU_BARRIER;
    else if (rocl_view_is(l->type, "copy") || rocl_view_is(l->type, "copyslo"))
        i->what = RTG_GPU_COPY;
    else
        return wrong(i, ROCL_FAULT_BAD_LINE, "a profile line of unknown type");
    return true;
}

static bool read_profile(rtg_item *i, const rtg_line *l, uint64_t file_pid)
{
    i->hcc = true;
    i->process = file_pid;
    if (!take_type(i, l))
        return false;
    if (l->shape == RTG_HCC_TIMES)
        return take_start_stop(i, l);
    i->has_agent = i->has_queue = true;
    i->queue = l->stream;
    return take_signed(i, l->device, &i->agent) && take(i, l->sequence, &i->id) &&
           take_start_stop(i, l);
}

/* Two times and no id; with a third time the first may be that of enqueueing. */
static bool read_profile_times(rtg_item *i, const rtg_line *l, const rtg_text *text,
                               uint64_t file_pid)
{
    const char *end = text->p + text->n, *p = l->stop.p + l->stop.n + 1;
    rocl_view third;
    p = rtg_skip_space(p, end);
    p = rtg_digits(p, end, &third);
    if (p && p < end && *p == ';')
        return wrong(i, ROCL_FAULT_BAD_LINE, "a profile line with three times and no id");
    return read_profile(i, l, file_pid);
}

/* ---- strace -------------------------------------------------------------------------------- */

/* Digits after the point as nanoseconds; more than nine are cut. */
static uint64_t fraction_ns(rocl_view s)
{
    uint64_t v = 0;
    for (size_t k = 0; k < 9; k++)
        v = 10 * v + (k < s.n ? (uint64_t)(s.p[k] - '0') : 0);
    return v;
}

static bool seconds_ns(rocl_view whole, rocl_view fraction, int64_t *ns)
{
    uint64_t s, v;
    if (!rtg_number(whole, &s) || __builtin_mul_overflow(s, 1000000000u, &v) ||
        __builtin_add_overflow(v, fraction_ns(fraction), &v) || v > INT64_MAX)
        return false;
    *ns = (int64_t)v;
    return true;
}

/* "0.000031": false when it is no such number. */
static bool duration_ns(rocl_view text, int64_t *ns)
{
    const char *p = text.p, *end = p + text.n;
    rocl_view whole, fraction = {end, 0};
    p = rtg_digits(p, end, &whole);
    if (p && p < end && *p == '.')
        p = rtg_digits(p + 1, end, &fraction);
    return p == end && seconds_ns(whole, fraction, ns);
}

/* "[pid 42] " or "42 " before the time. */
static uint64_t strace_thread(const rtg_line *l, const char *line)
{
    const char *end = l->start.p;
    uint64_t tid = 0;
    rocl_view digits;
    const char *p = rtg_lit(line, end, "[pid");
    p = rtg_skip_space(p ? p : line, end);
    if (rtg_digits(p, end, &digits) && (!rtg_number(digits, &tid) || tid > INT64_MAX))
        tid = 0;
    return tid;
}

/* What only looks like strace is somebody's text. */
static bool read_strace(rtg_item *i, rtg_line *l, const rtg_text *text)
{
    int64_t took = 0;
    i->what = RTG_NOTHING;
    i->process = RTG_STRACE_PROCESS;
    i->tid = strace_thread(l, text->p);
    i->has_thread = true;
    if (!seconds_ns(l->start, l->fraction, &i->start) ||
        (l->shape != RTG_STRACE_UNFINISHED && !duration_ns(l->took, &took)) ||
        __builtin_add_overflow(i->start, took, &i->end))
        return false;
    i->what = l->shape == RTG_STRACE_COMPLETE     ? RTG_SYSCALL
              : l->shape == RTG_STRACE_UNFINISHED ? RTG_SYSCALL_BEGIN
                                                  : RTG_SYSCALL_END;
    if (l->shape == RTG_STRACE_RESUMED)
        i->end = took; /* its begin is in another line */
    /* "open("x", O_RDONLY) ": the name, and what is in the parentheses */
    const char *open = memchr(l->name.p, '(', l->name.n), *end = l->name.p + l->name.n;
    if (open) {
        const char *close = rtg_last(open, end, ')');
        l->args = rocl_view_between(open + 1, close ? close : end);
        l->has_args = l->args.n > 0;
        l->name.n = (size_t)(open - l->name.p);
    }
    return true;
}

/* ---- all ----------------------------------------------------------------------------------- */

static void read_timed(rtg_item *i, const rtg_line *l)
{
    i->what = l->shape == RTG_RANGE  ? RTG_USER_RANGE
              : l->shape == RTG_MARK ? RTG_USER_MARK
                                     : RTG_CALL;
    if (!take_thread(i, l))
        return;
    if (l->shape == RTG_MARK)
        take_start(i, l->start);
    else
        take_start_duration(i, l);
}

/* A line that says it is ours, and does not go on like one. */
static void read_missed(rtg_item *i, const rtg_line *l)
{
    static const struct {
        rtg_shape shape;
        rocl_fault fault;
        const char *why;
    } missed[] = {
        {RTG_HIP_MISSED, ROCL_FAULT_BAD_LINE, "no HIP call that can be read"},
        {RTG_HSA_MISSED, ROCL_FAULT_BAD_LINE, "no HSA record that can be read"},
        {RTG_HCC_MISSED, ROCL_FAULT_BAD_LINE, "no profile line that can be read"},
        {RTG_HCC_ID, ROCL_FAULT_BAD_TIME, "a profile line without times"},
        {RTG_HCC_SPAN, ROCL_FAULT_BAD_TIME, "a profile line without times"},
    };
    for (size_t k = 0; k < sizeof missed / sizeof *missed; k++)
        if (missed[k].shape == l->shape)
            wrong(i, missed[k].fault, missed[k].why);
}

static void read_line(rtg_item *i, rtg_line *l, const rtg_text *text, uint64_t file_pid)
{
    switch (l->shape) {
    case RTG_TEXT:
        if (text->n >= 9 && !memcmp(text->p, "RTX: pid:", 9))
            wrong(i, ROCL_FAULT_BAD_LINE, "an RTX line that cannot be understood");
        break;
    case RTG_HIP:
    case RTG_HSA:
    case RTG_RANGE:
    case RTG_MARK:
        read_timed(i, l);
        break;
    case RTG_HOST_DISPATCH:
    case RTG_HOST_BARRIER:
    case RTG_HOST_VENDOR:
        read_host_packet(i, l);
        break;
    case RTG_DISPATCH:
    case RTG_BARRIER:
    case RTG_VENDOR:
    case RTG_COPY:
        read_gpu(i, l);
        break;
    case RTG_HCC:
    case RTG_HCC_BARE:
        read_profile(i, l, file_pid);
        break;
    case RTG_HCC_TIMES:
        read_profile_times(i, l, text, file_pid);
        break;
    case RTG_STRACE_UNFINISHED:
    case RTG_STRACE_RESUMED:
    case RTG_STRACE_COMPLETE:
        read_strace(i, l, text);
        break;
    default:
        read_missed(i, l);
    }
}

void rtg_item_read(rtg_item *i, rtg_line *l, const rtg_text *text, uint64_t file_pid)
{
    i->what = RTG_NOTHING;
    i->has_thread = i->has_agent = i->has_queue = i->hcc = false;
    if (text->too_long) {
        wrong(i, ROCL_FAULT_BAD_LINE, "a line that is too long");
        return;
    }
    rtg_line_parse(l, text->p, text->n, text->ended);
    if (l->shape == RTG_TEXT || l->shape == RTG_HSA_MISSED || l->shape == RTG_HCC_TIMES)
        rtg_line_newer(l, text->p, text->n);
    read_line(i, l, text, file_pid);
}
