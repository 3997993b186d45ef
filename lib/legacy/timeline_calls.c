/* Calls of strace: their events, and those that one line begins and another ends. */
#include "legacy/timeline_impl.h"

#include "base/array.h"
#include "base/error.h"
#include "base/json_put.h"
#include "base/num.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

rtg_span tl_trim(rtg_span s)
{
    while (s.n && rtg_space(*s.p)) {
        s.p++;
        s.n--;
    }
    while (s.n && rtg_space(s.p[s.n - 1]))
        s.n--;
    return s;
}

rtg_span tl_before_parenthesis(rtg_span s)
{
    const char *open = s.n ? memchr(s.p, '(', s.n) : NULL;
    return open ? (rtg_span){s.p, (size_t)(open - s.p)} : s;
}

/* float() of Python, but for names of numbers, which make no duration. */
static bool parse_seconds(rtg_span s, double *v)
{
    char text[128], *end;
    s = tl_trim(s);
    if (!s.n || s.n >= sizeof text)
        return false;
    for (size_t i = 0; i < s.n; i++)
        if (!strchr("0123456789+-.eE", s.p[i]) || !s.p[i])
            return false;
    memcpy(text, s.p, s.n);
    text[s.n] = '\0';
    *v = strtod(text, &end) * 1000000;
    return !*end && isfinite(*v);
}

/* Whole µs of seconds and what is after their point, however many digits that has. */
static bool put_stamp(rocl_buf *b, rtg_span seconds, rtg_span fraction)
{
    uint64_t s, f, us;
    char text[ROCL_NUM_MAX];
    if (!rtg_number(seconds, &s) || !rtg_number(fraction, &f) ||
        __builtin_mul_overflow(s, UINT64_C(1000000), &us) || __builtin_add_overflow(us, f, &us))
        return false;
    rocl_buf_put(b, text, (size_t)(rocl_put_u64(text, us) - text));
    return true;
}

const char *tl_put_strace(rocl_buf *b, rtg_span name, rtg_span call, bool close, rtg_span seconds,
                          rtg_span fraction, rtg_span took, size_t *repaired)
{
    size_t at = b->len;
    double us;
    char text[400];
    rocl_buf_str(b, "{\"name\":\"");
    *repaired = rocl_json_put(b, name.p, name.n);
    rocl_buf_str(b, "\", \"ph\":\"X\", \"ts\":");
    bool stamped = put_stamp(b, seconds, fraction);
    if (!stamped || !parse_seconds(took, &us)) {
        b->len = at;
        return stamped ? "the duration of the call is no number" : "a time is out of range";
    }
    snprintf(text, sizeof text, ", \"dur\":%.0f, \"pid\":-2000, \"args\":{\"name\":\"", trunc(us));
    rocl_buf_str(b, text);
    *repaired += rocl_json_put(b, call.p, call.n);
    rocl_buf_str(b, close ? ")\"}},\n" : "\"}},\n");
    return NULL;
}

/* ---- calls that are open -------------------------------------------------------------------- */

rocl_status tl_calls_init(tl_calls *c, rocl_error *err)
{
    c->strings = rocl_strings_new();
    return c->strings ? ROCL_OK : rocl_fail_memory(err);
}

void tl_calls_free(tl_calls *c)
{
    for (size_t i = 0; i < c->count; i++)
        rocl_buf_free(&c->calls[i].text);
    rocl_strings_free(c->strings);
    rocl_map_free(&c->open);
    free(c->calls);
}

static tl_call *add(tl_calls *c, uint32_t name)
{
    if (!ROCL_GROW(c->calls, c->cap, c->count + 1) ||
        !rocl_map_put(&c->open, name, (uint32_t)c->count))
        return NULL;
    return &c->calls[c->count++];
}

/* Of calls of one name the last that was begun counts, and stays open for more than one end. */
rocl_status tl_calls_begin(tl_calls *c, const tl_texts *t, const char *texts, rocl_error *err)
{
    uint32_t name = rocl_strings_put(c->strings, texts, t->len[0]);
    uint32_t index = name == ROCL_NONE ? ROCL_NONE : rocl_map_get(&c->open, name, ROCL_NONE);
    tl_call *call = index != ROCL_NONE ? &c->calls[index] : NULL;
    if (!call && name != ROCL_NONE)
        call = add(c, name);
    if (!call)
        return rocl_fail_memory(err);
    call->text.len = 0;
    rocl_buf_put(&call->text, texts + t->len[0], (size_t)t->len[1] + t->len[2] + t->len[3]);
    call->call = t->len[1];
    call->seconds = t->len[2];
    call->fraction = t->len[3];
    return call->text.failed ? rocl_fail_memory(err) : ROCL_OK;
}

const tl_call *tl_calls_find(tl_calls *c, const char *name, size_t n)
{
    uint32_t id = rocl_strings_put(c->strings, name, n);
    uint32_t index = rocl_map_get(&c->open, id, ROCL_NONE);
    return index == ROCL_NONE ? NULL : &c->calls[index];
}
