/* Lines as JSON. Texts are escaped already or come from the cache; all else is numbers, written
 * into memory that was reserved for the whole line. */
#include <inttypes.h>

#include "base/num.h"
#include "base/text.h"
#include "format/perfetto.h"
#include "sink/chrome/chrome.h"

#define PUT(p, literal)    ((char *)memcpy(p, literal, sizeof(literal) - 1) + sizeof(literal) - 1)
#define PUT_U64(p, key, v) rocl_put_u64(PUT(p, key), v)
#define PUT_I64(p, key, v) rocl_put_i64(PUT(p, key), v)

/* The most bytes of a line without its texts, with numbers of 20 digits. */
enum { LINE_MAX_BYTES = 1024 };

static char *put_text(char *p, const rocl_cached_text *t)
{
    memcpy(p, t->bytes, t->len);
    return p + t->len;
}

/* Three decimals, always. */
static char *put_thousandths(char *p, uint64_t v)
{
    uint64_t rest = v % 1000;
    p = rocl_put_u64(p, v / 1000);
    p[0] = '.';
    p[1] = (char)('0' + rest / 100);
    p[2] = (char)('0' + rest / 10 % 10);
    p[3] = (char)('0' + rest % 10);
    return p + 4;
}

/* Nanoseconds as microseconds. */
static char *put_time(char *p, int64_t ns)
{
    if (ns < 0)
        *p++ = '-';
    return put_thousandths(p, ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns);
}

/* The row and the time; counters are of a process, and have no tid. */
static char *put_position(char *p, const chrome_line *line, int64_t time)
{
    p = PUT_U64(p, "\",\"pid\":", line->pid);
    if (line->tid)
        p = PUT_U64(p, ",\"tid\":", line->tid);
    return put_time(PUT(p, ",\"ts\":"), time);
}

static char *put_dim(char *p, const uint32_t d[3])
{
    *p++ = '[';
    for (unsigned i = 0; i < 3; i++) {
        p = rocl_put_u64(p, d[i]);
        *p++ = i < 2 ? ',' : ']';
    }
    return p;
}

/* ---- arguments of GPU work ---- */

/* All but the agents of a copy. */
static char *put_work(char *p, const rocl_trace *t, const rocl_capture *c,
                      const rocl_track_event *e)
{
    double rate;
    if (e->stream != ROCL_NONE)
        p = PUT_I64(p, ",\"stream\":", c->streams[e->stream].id);
    if (e->queue != ROCL_NONE)
        p = PUT_I64(p, ",\"queue\":", c->queues[e->queue].id);
    switch (e->kind) {
    case ROCL_DISPATCH:
        if (e->grid[0]) { /* the grid is known */
            p = put_dim(PUT(p, ",\"grid\":"), e->grid);
            p = put_dim(PUT(p, ",\"workgroup\":"), e->workgroup);
        }
        if (e->group_segment)
            p = PUT_I64(p, ",\"lds_bytes\":", e->group_segment);
        if (e->private_segment)
            p = PUT_I64(p, ",\"scratch_bytes\":", e->private_segment);
        return t->opt.args ? PUT_U64(p, ",\"dispatch_id\":", e->dispatch_id) : p;
    case ROCL_COPY:
        if (!e->size)
            return p;
        p = PUT_U64(p, ",\"bytes\":", e->size);
        /* Bytes per nanosecond are GB/s; sizes out of a file may be absurd. */
        rate = e->duration > 0 ? (double)e->size * 1000 / (double)e->duration : 0;
        return rate > 0 && rate < 1e18
                   ? put_thousandths(PUT(p, ",\"GB/s\":"), (uint64_t)(rate + 0.5))
                   : p;
    case ROCL_ALLOC:
    case ROCL_SCRATCH:
        return PUT_U64(p, ",\"bytes\":", e->size);
    case ROCL_GRAPH:
        return PUT_U64(p, ",\"kernels\":", e->size);
    default:
        return p;
    }
}

/* The agents of a copy, with GPUs named like their processes: memory for these texts is reserved
 * separately. */
static rocl_status put_copy_agents(chrome_formatter *f, const rocl_capture *c,
                                   const rocl_track_event *e, rocl_error *err)
{
    static const char *const keys[] = {",\"source\":\"", ",\"destination\":\""};
    const uint32_t agents[] = {e->op ? e->other_agent : e->agent,
                               e->op ? e->agent : e->other_agent};
    for (unsigned i = 0; i < 2; i++) {
        if (agents[i] == ROCL_NONE)
            continue;
        rocl_buf_str(f->out, keys[i]);
        const rocl_gpu *gpu = rocl_gpu_of(c, agents[i]);
        if (gpu) {
            rocl_buf_printf(f->out, "GPU %" PRIu32 "\"", gpu->id);
            continue;
        }
        const rocl_cached_text *label = rocl_text_cache_get(&f->texts, c->agents[agents[i]].label);
        if (!label)
            return rocl_fail_memory(err);
        rocl_buf_put(f->out, label->bytes, label->len);
        rocl_buf_byte(f->out, '"');
    }
    return ROCL_OK;
}

/* ---- arguments of calls and kernels ---- */

static rocl_status put_args(chrome_formatter *f, rocl_track_event *e, rocl_error *err)
{
    static const char *const of_calls[] = {"correlation", NULL};
    static const char *const of_kernels[] = {"stream",      "queue",       "grid",
                                             "workgroup",   "lds_bytes",   "scratch_bytes",
                                             "dispatch_id", "correlation", NULL};
    const rocl_track_event all = *e;
    const char *const *own = e->kind == ROCL_DISPATCH ? of_kernels : of_calls;
    rocl_track_arg arg;
    for (unsigned n = 1; rocl_track_event_next_arg(e, &arg); n++) {
        const rocl_cached_text *name = rocl_text_cache_get(&f->texts, arg.name);
        if (!name)
            return rocl_fail_memory(err);
        char number[ROCL_NUM_MAX + 4] = "";
        if (rocl_track_arg_needs_number(f->trace, all, &arg, n, own))
            *rocl_put_u64(PUT(number, " #"), n) = 0;
        rocl_buf_str(f->out, ",\"");
        rocl_buf_put(f->out, name->bytes, name->len);
        rocl_buf_str(f->out, number);
        rocl_buf_str(f->out, "\":\"");
        rocl_json_put(f->out, arg.value, arg.len);
        rocl_buf_byte(f->out, '"');
    }
    return ROCL_OK;
}

/* ---- events ---- */

/* "name", "cat", row and times. */
static rocl_status put_head(chrome_formatter *f, const chrome_line *line, const rocl_track_event *e,
                            rocl_error *err)
{
    bool host = e->sequence == ROCL_SEQUENCE_HOST, named = e->name != ROCL_NONE && e->name;
    bool category = host && e->category != ROCL_NONE && e->category;
    bool slice = e->kind != ROCL_INSTANT || line->link;
    /* Two texts may share a slot of the cache: copy one before getting the other. */
    const rocl_cached_text *name = named ? rocl_text_cache_get(&f->texts, e->name) : NULL;
    if ((named && !name) || !rocl_buf_reserve(f->out, LINE_MAX_BYTES + (name ? name->len : 0)))
        return rocl_fail_memory(err);
    char *start = (char *)f->out->data + f->out->len;
    char *p = PUT(start, ",\n{\"name\":\"");
    p = name ? put_text(p, name) : PUT(p, PF_UNNAMED);
    p = PUT(p, "\",\"cat\":\"");
    f->out->len += (size_t)(p - start);
    const rocl_cached_text *cat = category ? rocl_text_cache_get(&f->texts, e->category) : NULL;
    if ((category && !cat) || !rocl_buf_reserve(f->out, LINE_MAX_BYTES + (cat ? cat->len : 0)))
        return rocl_fail_memory(err);
    start = p = (char *)f->out->data + f->out->len;
    p = cat ? put_text(p, cat) : stpcpy(p, rocl_kind_name(e->kind));
    p = slice ? PUT(p, "\",\"ph\":\"X") : PUT(p, "\",\"ph\":\"i\",\"s\":\"t");
    p = put_position(p, line, e->time - f->base);
    if (slice)
        p = put_time(PUT(p, ",\"dur\":"), e->end - e->time);
    f->out->len += (size_t)(p - start);
    return ROCL_OK;
}

/* "args", if there are any. Each comes with a comma before it: the first one's becomes the last
 * byte of the head of the object. */
static rocl_status put_details(chrome_formatter *f, const rocl_capture *c, rocl_track_event *e,
                               rocl_error *err)
{
    static const char head[] = ",\"args\":{";
    enum { HEAD = sizeof head - 1 };
    const bool host = e->sequence == ROCL_SEQUENCE_HOST;
    rocl_buf *b = f->out;
    rocl_status st = ROCL_OK;
    size_t at = b->len;
    if (!rocl_buf_reserve(b, LINE_MAX_BYTES))
        return rocl_fail_memory(err);
    char *p = (char *)b->data + at + HEAD - 1;
    if (!host)
        p = put_work(p, f->trace, c, e);
    if (f->trace->opt.args && e->stack_id)
        p = PUT_U64(p, ",\"correlation\":", e->stack_id);
    b->len = (size_t)(p - (char *)b->data);
    if (host || (e->kind == ROCL_DISPATCH && e->arg_count))
        st = put_args(f, e, err);
    else if (e->kind == ROCL_COPY)
        st = put_copy_agents(f, c, e, err);
    if (st != ROCL_OK || b->failed)
        return st ? st : rocl_fail_memory(err);
    if (b->len == at + HEAD - 1) {
        b->len = at;
        return ROCL_OK;
    }
    memcpy(b->data + at, head, HEAD);
    rocl_buf_byte(b, '}');
    return ROCL_OK;
}

static rocl_status format_event(chrome_formatter *f, const chrome_line *line, const uint8_t *body,
                                rocl_error *err)
{
    const rocl_capture *c = rocl_trace_capture(f->trace, f->block.capture);
    const uint64_t key[4] = {rocl_sequence_number((rocl_sequence_kind)line->sequence, 0)
                                 << ROCL_SEQUENCE_SHIFT,
                             (uint64_t)line->time, ~(uint64_t)line->end, line->kind};
    const rocl_sort_record rec = {key, body, line->size};
    rocl_track_event e;
    if (!rocl_record_decode(&rec, &e))
        return rocl_fail_sorted(err);
    rocl_status st = put_head(f, line, &e, err);
    if (st == ROCL_OK)
        st = put_details(f, c, &e, err);
    if (st == ROCL_OK && line->link) {
        char flow[96], *p = PUT(flow, ",\"bind_id\":\"0x");
        p = rocl_put_hex(p, rocl_link_id(c, e.stack_id), 1, false);
        p = line->link == ROCL_LINK_CALL ? PUT(p, "\",\"flow_out\":true")
                                         : PUT(p, "\",\"flow_in\":true");
        rocl_buf_put(f->out, flow, (size_t)(p - flow));
    }
    rocl_buf_byte(f->out, '}');
    return st;
}

static rocl_status format_value(chrome_formatter *f, const chrome_line *line, const uint8_t *body,
                                rocl_error *err)
{
    double v;
    size_t n = line->size - sizeof v;
    memcpy(&v, body, sizeof v);
    if (!rocl_buf_reserve(f->out, LINE_MAX_BYTES + n))
        return rocl_fail_memory(err);
    char *start = (char *)f->out->data + f->out->len;
    char *p = PUT(start, ",\n{\"name\":\"");
    memcpy(p, body + sizeof v, n);
    p = put_position(PUT(p + n, "\",\"ph\":\"C"), line, line->time - f->base);
    p = PUT(rocl_put_double(PUT(p, ",\"args\":{\"value\":"), v), "}}");
    f->out->len += (size_t)(p - start);
    return ROCL_OK;
}

static rocl_status format_text(chrome_formatter *f, const chrome_line *line, const uint8_t *body,
                               rocl_error *err)
{
    const uint8_t *p = body, *end = body + line->size;
    rocl_buf_str(f->out, ",\n");
    while (p < end) {
        const uint8_t *from = p;
        while (p < end && *p != CHROME_TIME)
            p++;
        rocl_buf_put(f->out, from, (size_t)(p - from));
        if (p++ == end)
            break;
        if (!rocl_buf_reserve(f->out, 2 * ROCL_NUM_MAX))
            return rocl_fail_memory(err);
        char *start = (char *)f->out->data + f->out->len;
        f->out->len += (size_t)(put_time(start, line->time - f->base) - start);
    }
    return ROCL_OK;
}

rocl_status chrome_format(chrome_formatter *f, const uint8_t *p, const uint8_t *end,
                          rocl_error *err)
{
    chrome_line line;
    chrome_row row = {0};
    rocl_status st = ROCL_OK;
    for (; p < end && st == ROCL_OK; p += line.size) {
        p = chrome_line_get(p, &line, &row);
        st = line.op == CHROME_EVENT   ? format_event(f, &line, p, err)
             : line.op == CHROME_VALUE ? format_value(f, &line, p, err)
                                       : format_text(f, &line, p, err);
    }
    return st;
}
