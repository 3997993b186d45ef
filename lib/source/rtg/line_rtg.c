/* Lines of rtg_tracer: calls of HIP and HSA, packets of queues. The tail of a line is looked for
 * from its end, which finds what a greedy pattern finds; then the first beginning that fits. */
#include "source/rtg/line_match.h"

/* The first "HSA: pid:P tid:T " (or HIP) at or after p. Returns what follows it. */
RTG_INLINE const char *find_beginning(const char *p, const char *end, const char *tag, rtg_line *l)
{
    /* Nearly always it is where the line begins. */
    for (; rtg_lit_n(p, end, tag, 9) || (p = rtg_find_n(p, end, tag, 9)); p++) {
        const char *q = rtg_digits(p + 9, end, &l->pid);
        if (q)
            q = rtg_field(q, end, " tid:", &l->tid);
        if (q && q < end && *q == ' ')
            return q + 1;
    }
    return NULL;
}

/* The last " @N +N" in [p, end): where its blank is. */
static const char *find_times(const char *p, const char *end, rtg_line *l)
{
    for (const char *at = end; (at = rtg_last(p, at, '@'));) {
        const char *q = at > p && at[-1] == ' ' ? rtg_digits(at + 1, end, &l->start) : NULL;
        if (q && rtg_field(q, end, " +", &l->stop))
            return at - 1;
    }
    return NULL;
}

/* The last `lit` in [p, end) that ends with '=' and has n bytes: where it is. */
RTG_INLINE const char *find_last_assignment(const char *p, const char *end, const char *lit,
                                            size_t n)
{
    for (const char *at = end; (at = rtg_last(p, at, '='));)
        if ((size_t)(at - p) >= n - 1 && !memcmp(at - (n - 1), lit, n))
            return at - (n - 1);
    return NULL;
}

/* ---- HIP calls ------------------------------------------------------------------------------ */

/* The text without its last character, whatever that is. */
static rocl_view without_last(const char *from, const char *to)
{
    if (to > from)
        to--;
    while (to > from && (*to & 0xc0) == 0x80)
        to--;
    return rocl_view_between(from, to);
}

bool rtg_match_hip(rtg_line *l, const char *p, const char *end)
{
    const char *call = find_beginning(p, end, "HIP: pid:", l);
    const char *at = call ? find_times(call, end, l) : NULL;
    const char *ret = at ? find_last_assignment(call, at, " ret=", 5) : NULL;
    if (!ret)
        return false;
    l->shape = RTG_HIP;
    l->result = rocl_view_between(ret + 5, at);
    /* "name(args) [kernel]" */
    for (const char *q = call; (q = memchr(q, '[', (size_t)(ret - q))); q++) {
        if (q > call && q[-1] == ' ') {
            l->has_kernel = true;
            l->kernel = without_last(q + 1, ret);
            ret = q - 1;
            break;
        }
    }
    const char *open = memchr(call, '(', (size_t)(ret - call));
    if (open) {
        l->args = without_last(open + 1, ret);
        l->has_args = l->args.n > 0;
        ret = open;
    }
    l->name = rocl_view_between(call, ret);
    return true;
}

/* ---- HSA calls ------------------------------------------------------------------------------ */

/* "name (args) ret=R @N +N": the last " (" before the last ") ret=". */
static bool match_call(rtg_line *l, const char *p, const char *end)
{
    const char *at = find_times(p, end, l);
    const char *ret = at ? find_last_assignment(p, at, ") ret=", 6) : NULL;
    const char *open = ret;
    while (open && (open = rtg_last(p, open, '(')) && (open == p || open[-1] != ' '))
        ;
    if (!open)
        return false;
    const char *call = find_beginning(p, end, "HSA: pid:", l);
    if (!call || call > open - 1)
        return false;
    l->shape = RTG_HSA;
    l->name = rocl_view_between(call, open - 1);
    l->args = rocl_view_between(open, ret + 1);
    l->has_args = true;
    l->result = rocl_view_between(ret + 6, at);
    return true;
}

/* ---- packets -------------------------------------------------------------------------------- */

/* The first beginning that goes on with `lit` and is over before `before`. */
RTG_INLINE const char *find_packet(const char *p, const char *end, const char *lit,
                                   const char *before, rtg_line *l)
{
    size_t n = strlen(lit);
    while ((p = find_beginning(p, end, "HSA: pid:", l))) {
        const char *q = rtg_lit_n(p, end, lit, n);
        if (q)
            return q <= before ? q : NULL;
    }
    return NULL;
}

/* " LIT{N,N,N}" */
RTG_INLINE const char *match_triple(const char *p, const char *end, const char *lit, rocl_view v[3])
{
    p = rtg_lit_n(p, end, lit, strlen(lit));
    p = p ? rtg_digits(p, end, &v[0]) : NULL;
    p = p ? rtg_field(p, end, ",", &v[1]) : NULL;
    p = p ? rtg_field(p, end, ",", &v[2]) : NULL;
    return p ? rtg_lit(p, end, "}") : NULL;
}

/* What the tail of a packet has, in this order: times of the GPU, " dep1:N ... dep5:N" or " dep:N",
 * the time of the host, the id, dimensions. */
enum { TIMES = 1, DEPS = 2, DEP = 4, TICK = 8, ID = 16, DIMS = 32 };

RTG_INLINE const char *match_tail(rtg_line *l, const char *p, const char *end, unsigned has)
{
    if (has & TIMES) {
        p = rtg_field(p, end, " start:", &l->start);
        p = p ? rtg_field(p, end, " stop:", &l->stop) : NULL;
    }
    if (has & DEPS) {
        p = p ? rtg_field(p, end, " dep1:", &l->dep[0]) : NULL;
        p = p ? rtg_field(p, end, " dep2:", &l->dep[1]) : NULL;
        p = p ? rtg_field(p, end, " dep3:", &l->dep[2]) : NULL;
        p = p ? rtg_field(p, end, " dep4:", &l->dep[3]) : NULL;
        p = p ? rtg_field(p, end, " dep5:", &l->dep[4]) : NULL;
    }
    if (has & DEP)
        p = p ? rtg_field(p, end, " dep:", &l->dep[0]) : NULL;
    if (has & TICK)
        p = p ? rtg_field(p, end, " tick:", &l->start) : NULL;
    if (has & ID)
        p = p ? rtg_field(p, end, " id:", &l->id) : NULL;
    if (has & DIMS) {
        p = p ? match_triple(p, end, " workgroup:{", l->workgroup) : NULL;
        p = p ? match_triple(p, end, " grid:{", l->grid) : NULL;
    }
    return p;
}

/* Digits that end at `p`, with `lit` before them: where that begins. */
RTG_INLINE const char *match_field_before(const char *from, const char *p, const char *lit,
                                          rocl_view *s)
{
    size_t n = strlen(lit);
    const char *digits = p;
    while (digits > from && rtg_digit(digits[-1]))
        digits--;
    *s = rocl_view_between(digits, p);
    bool fits = s->n && (size_t)(digits - from) >= n && !memcmp(digits - n, lit, n);
    return fits ? digits - n : NULL;
}

/* "dispatch queue:Q agent:A signal:S name:'KERNEL' ...": the last quote that the tail can follow,
 * and the last before it that can begin the name. */
RTG_INLINE bool match_dispatch(rtg_line *l, const char *p, const char *end, unsigned tail)
{
    const char *close = end, *open, *agent = NULL;
    while ((close = rtg_last(p, close, '\'')) && !match_tail(l, close + 1, end, tail))
        ;
    open = close;
    while (open && !agent && (open = rtg_last(p, open, '\''))) {
        /* " agent:A signal:S name:" ends there. */
        if (open - p < 6 || memcmp(open - 6, " name:", 6) != 0)
            continue;
        agent = match_field_before(p, open - 6, " signal:", &l->signal);
        agent = agent ? match_field_before(p, agent, " agent:", &l->agent) : NULL;
    }
    if (!agent)
        return false;
    const char *queue = find_packet(p, end, "dispatch queue:", agent, l);
    if (!queue)
        return false;
    l->queue = rocl_view_between(queue, agent);
    l->name = rocl_view_between(open + 1, close);
    return true;
}

/* "barrier queue:Q agent:A signal:S" and a tail: the last agent that the tail follows. */
RTG_INLINE bool match_barrier(rtg_line *l, const char *p, const char *end, const char *what,
                              unsigned tail)
{
    const char *last = NULL;
    rtg_line t;
    for (const char *at = p; (at = rtg_find(at, end, " agent:")); at++) {
        const char *q = rtg_field(at, end, " agent:", &t.agent);
        q = q ? rtg_field(q, end, " signal:", &t.signal) : NULL;
        if (q && match_tail(&t, q, end, tail)) {
            last = at;
            *l = t;
            l->has_args = l->has_kernel = false;
        }
    }
    const char *queue = last ? find_packet(p, end, what, last, l) : NULL;
    if (queue)
        l->queue = rocl_view_between(queue, last);
    return queue;
}

static bool match_copy(rtg_line *l, const char *p, const char *end)
{
    while ((p = find_beginning(p, end, "HSA: pid:", l))) {
        const char *q = rtg_field(p, end, "copy agent:", &l->agent);
        q = q ? rtg_field(q, end, " signal:", &l->signal) : NULL;
        if (q && match_tail(l, q, end, TIMES | DEPS))
            return true;
    }
    return false;
}

bool rtg_match_hsa(rtg_line *l, const char *p, const char *end)
{
    if (match_call(l, p, end))
        return true;
    if (match_dispatch(l, p, end, TICK | ID | DIMS))
        l->shape = RTG_HOST_DISPATCH;
    else if (match_dispatch(l, p, end, TIMES | ID))
        l->shape = RTG_DISPATCH;
    else if (match_barrier(l, p, end, "barrier queue:", DEPS | TICK | ID))
        l->shape = RTG_HOST_BARRIER;
    else if (match_barrier(l, p, end, "barrier queue:", TIMES | DEPS | ID))
        l->shape = RTG_BARRIER;
    else if (match_copy(l, p, end))
        l->shape = RTG_COPY;
    else
        return false;
    return true;
}

/* ---- of the later tracer -------------------------------------------------------------------- */

bool rtg_match_vendor(rtg_line *l, const char *p, const char *end)
{
    if (match_barrier(l, p, end, "vendor queue:", DEP | TICK | ID))
        l->shape = RTG_HOST_VENDOR;
    else if (match_barrier(l, p, end, "vendor queue:", TIMES | DEP | ID))
        l->shape = RTG_VENDOR;
    else
        return false;
    return true;
}

/* "RTX: pid:P tid:T message @N +N", a mark without the duration. */
bool rtg_match_rtx(rtg_line *l, const char *p, const char *end)
{
    const char *message = find_beginning(p, end, "RTX: pid:", l);
    const char *at = message ? find_times(message, end, l) : NULL;
    l->shape = at ? RTG_RANGE : RTG_MARK;
    if (message && !at) {
        const char *sign = rtg_last(message, end, '@');
        bool fits = sign && sign > message && sign[-1] == ' ' &&
                    rtg_digits(sign + 1, end, &l->start) == end;
        at = fits ? sign - 1 : NULL;
    }
    if (!at || at < message)
        return false;
    l->name = rocl_view_between(message, at);
    return true;
}
