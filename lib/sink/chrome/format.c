/* Lines as JSON. Texts are escaped already or come from the cache; all else is numbers, written
 * into room that was made for the whole line. */
#include "base/num.h"
#include "base/text.h"
#include "sink/chrome/chrome.h"

#define PUT(p, literal) ((char *)memcpy(p, literal, sizeof(literal) - 1) + sizeof(literal) - 1)

/* Of a line without its texts: what it has at most, in numbers of 20 digits. */
enum { LINE_ROOM = 1024 };

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

static char *put_row(char *p, const chrome_line *line)
{
    p = PUT(p, "\",\"pid\":");
    p = rocl_put_u64(p, line->pid);
    if (line->tid) { /* counters are of a process */
        p = PUT(p, ",\"tid\":");
        p = rocl_put_u64(p, line->tid);
    }
    return PUT(p, ",\"ts\":");
}

/* ---- arguments: what is known of work ---- */

static char *put_dim(char *p, const uint32_t d[3])
{
    *p++ = '[';
    for (unsigned i = 0; i < 3; i++) {
        p = rocl_put_u64(p, d[i]);
        *p++ = i < 2 ? ',' : ']';
    }
    return p;
}

static char *put_queue(char *p, const rocl_capture *c, const rocl_track_event *e)
{
    if (e->stream != ROCL_NONE) {
        p = PUT(p, ",\"stream\":");
        p = rocl_put_i64(p, c->streams[e->stream].id);
    }
    if (e->queue != ROCL_NONE) {
        p = PUT(p, ",\"queue\":");
        p = rocl_put_i64(p, c->queues[e->queue].id);
    }
    return p;
}

static char *put_kernel(char *p, const chrome_formatter *f, const rocl_track_event *e)
{
    if (e->grid[0]) { /* it is known */
        p = PUT(p, ",\"grid\":");
        p = put_dim(p, e->grid);
        p = PUT(p, ",\"workgroup\":");
        p = put_dim(p, e->workgroup);
    }
    if (e->group_segment) {
        p = PUT(p, ",\"lds_bytes\":");
        p = rocl_put_i64(p, e->group_segment);
    }
    if (e->private_segment) {
        p = PUT(p, ",\"scratch_bytes\":");
        p = rocl_put_i64(p, e->private_segment);
    }
    if (f->trace->opt.args) {
        p = PUT(p, ",\"dispatch_id\":");
        p = rocl_put_u64(p, e->dispatch_id);
    }
    return p;
}

/* Bytes per nanosecond are GB/s; sizes out of a file may be absurd. */
static char *put_bandwidth(char *p, const rocl_track_event *e)
{
    double rate = e->duration > 0 ? (double)e->size * 1000 / (double)e->duration : 0;
    if (rate <= 0 || rate >= 1e18)
        return p;
    p = PUT(p, ",\"GB/s\":");
    return put_thousandths(p, (uint64_t)(rate + 0.5));
}

static char *put_bytes(char *p, uint64_t bytes)
{
    p = PUT(p, ",\"bytes\":");
    return rocl_put_u64(p, bytes);
}

static char *put_work(char *p, const chrome_formatter *f, const rocl_track_event *e)
{
    switch (e->kind) {
    case ROCL_DISPATCH:
        return put_kernel(p, f, e);
    case ROCL_COPY:
        return e->size ? put_bandwidth(put_bytes(p, e->size), e) : p;
    case ROCL_ALLOC:
    case ROCL_SCRATCH:
        return put_bytes(p, e->size);
    case ROCL_GRAPH:
        p = PUT(p, ",\"kernels\":");
        return rocl_put_u64(p, e->size);
    default:
        return p;
    }
}

static char *put_correlation(char *p, const chrome_formatter *f, const rocl_track_event *e)
{
    if (!f->trace->opt.args || !e->stack_id)
        return p;
    p = PUT(p, ",\"correlation\":");
    return rocl_put_u64(p, e->stack_id);
}

/* The agents of a copy are texts: added with room of their own. */
static rocl_status put_agent(chrome_formatter *f, const rocl_capture *c, const char *key,
                             uint32_t agent, rocl_error *err)
{
    if (agent == ROCL_NONE)
        return ROCL_OK;
    const rocl_cached_text *label = rocl_text_cache_get(&f->texts, c->agents[agent].label);
    if (!label)
        return rocl_fail_memory(err);
    rocl_buf_str(f->out, key);
    rocl_buf_put(f->out, label->bytes, label->len);
    rocl_buf_byte(f->out, '"');
    return ROCL_OK;
}

static rocl_status put_ends(chrome_formatter *f, const rocl_capture *c, const rocl_track_event *e,
                            rocl_error *err)
{
    uint32_t src = e->op ? e->other_agent : e->agent, dst = e->op ? e->agent : e->other_agent;
    rocl_status st = put_agent(f, c, ",\"source\":\"", src, err);
    return st ? st : put_agent(f, c, ",\"destination\":\"", dst, err);
}

/* ---- arguments of calls ---- */

/* Calls have few arguments: more than that, and each name gets a number without a look. */
enum { ARGS_COMPARED = 64 };

/* A name that came before gets a number: keys of an object differ. */
static bool came_before(rocl_track_event e, const rocl_track_arg *arg)
{
    rocl_track_arg other;
    while (rocl_track_event_next_arg(&e, &other) && other.value != arg->value)
        if (other.name == arg->name)
            return true;
    return false;
}

static rocl_status put_args(chrome_formatter *f, rocl_track_event *e, rocl_error *err)
{
    const rocl_track_event all = *e;
    rocl_track_arg arg;
    for (unsigned n = 1; rocl_track_event_next_arg(e, &arg); n++) {
        const rocl_cached_text *name = rocl_text_cache_get(&f->texts, arg.name);
        if (!name)
            return rocl_fail_memory(err);
        char number[ROCL_NUM_MAX + 4] = "";
        bool taken = n > ARGS_COMPARED ||
                     (name->len == 11 && !memcmp(name->bytes, "correlation", 11)) ||
                     came_before(all, &arg);
        if (taken)
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

/* "name", "cat", row and times, and the begin of "args". */
static rocl_status put_head(chrome_formatter *f, const chrome_line *line, const rocl_track_event *e,
                            rocl_error *err)
{
    bool host = e->sequence == ROCL_SEQUENCE_HOST, named = e->name != ROCL_NONE && e->name;
    bool category = host && e->category != ROCL_NONE && e->category;
    bool slice = e->kind != ROCL_INSTANT || line->link;
    const char *kind = rocl_kind_name(e->kind);
    /* Two texts may share a place in the cache: copy one before getting the other. */
    const rocl_cached_text *name = named ? rocl_text_cache_get(&f->texts, e->name) : NULL;
    if ((named && !name) || !rocl_buf_reserve(f->out, LINE_ROOM + (name ? name->len : 0)))
        return rocl_fail_memory(err);
    char *start = (char *)f->out->data + f->out->len;
    char *p = PUT(start, ",\n{\"name\":\"");
    p = name ? put_text(p, name) : PUT(p, "(unnamed)");
    p = PUT(p, "\",\"cat\":\"");
    f->out->len += (size_t)(p - start);
    const rocl_cached_text *cat = category ? rocl_text_cache_get(&f->texts, e->category) : NULL;
    if ((category && !cat) || !rocl_buf_reserve(f->out, LINE_ROOM + (cat ? cat->len : 0)))
        return rocl_fail_memory(err);
    start = p = (char *)f->out->data + f->out->len;
    p = cat ? put_text(p, cat) : stpcpy(p, kind);
    p = slice ? PUT(p, "\",\"ph\":\"X") : PUT(p, "\",\"ph\":\"i\",\"s\":\"t");
    p = put_time(put_row(p, line), e->time - f->base);
    if (slice) {
        p = PUT(p, ",\"dur\":");
        p = put_time(p, e->end - e->time);
    }
    f->out->len += (size_t)(p - start);
    return ROCL_OK;
}

static void put_link(chrome_formatter *f, const chrome_line *line, const rocl_capture *c,
                     const rocl_track_event *e)
{
    char flow[96], *p = PUT(flow, ",\"bind_id\":\"0x");
    p = rocl_put_hex(p, rocl_link_id(c, e->stack_id), 1, false);
    p = line->link == ROCL_LINK_CALL ? PUT(p, "\",\"flow_out\":true")
                                     : PUT(p, "\",\"flow_in\":true");
    rocl_buf_put(f->out, flow, (size_t)(p - flow));
}

/* Arguments come each with a comma before it: the first becomes the begin of the object. */
static rocl_status put_details(chrome_formatter *f, const rocl_capture *c, rocl_track_event *e,
                               rocl_error *err)
{
    static const char head[] = ",\"args\":{";
    enum { HEAD = sizeof head - 1 };
    rocl_buf *b = f->out;
    rocl_status st = ROCL_OK;
    size_t at = b->len;
    if (!rocl_buf_reserve(b, LINE_ROOM))
        return rocl_fail_memory(err);
    b->len += HEAD - 1; /* the first comma becomes its last byte */
    char *start = (char *)b->data + b->len, *p = start;
    if (e->sequence != ROCL_SEQUENCE_HOST)
        p = put_work(put_queue(p, c, e), f, e);
    p = put_correlation(p, f, e);
    b->len += (size_t)(p - start);
    if (e->sequence == ROCL_SEQUENCE_HOST)
        st = put_args(f, e, err);
    else if (e->kind == ROCL_COPY)
        st = put_ends(f, c, e, err);
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
    const rocl_capture *c = rocl_trace_capture(f->trace, line->capture);
    uint64_t key[4];
    memcpy(key, body, sizeof key);
    const rocl_sort_record rec = {key, body + sizeof key, line->size - sizeof key};
    rocl_track_event e;
    if (!rocl_record_decode(&rec, &e))
        return rocl_fail(err, ROCL_INTERNAL, "a sorted record came back broken");
    rocl_status st = put_head(f, line, &e, err);
    if (st == ROCL_OK)
        st = put_details(f, c, &e, err);
    if (st == ROCL_OK && line->link)
        put_link(f, line, c, &e);
    rocl_buf_byte(f->out, '}');
    return st;
}

static rocl_status format_value(chrome_formatter *f, const chrome_line *line, const uint8_t *body,
                                rocl_error *err)
{
    chrome_value v;
    size_t n = line->size - sizeof v;
    memcpy(&v, body, sizeof v);
    if (!rocl_buf_reserve(f->out, LINE_ROOM + n))
        return rocl_fail_memory(err);
    char *start = (char *)f->out->data + f->out->len;
    char *p = PUT(start, ",\n{\"name\":\"");
    memcpy(p, body + sizeof v, n);
    p = PUT(p + n, "\",\"ph\":\"C");
    p = put_time(put_row(p, line), v.time - f->base);
    p = PUT(p, ",\"args\":{\"value\":");
    p = rocl_put_double(p, v.value);
    p = PUT(p, "}}");
    f->out->len += (size_t)(p - start);
    return ROCL_OK;
}

rocl_status chrome_format(chrome_formatter *f, const uint8_t *p, const uint8_t *end,
                          rocl_error *err)
{
    chrome_line line;
    rocl_status st = ROCL_OK;
    for (; p < end && st == ROCL_OK; p += line.size) {
        memcpy(&line, p, sizeof line);
        p += sizeof line;
        if (line.op == CHROME_EVENT) {
            st = format_event(f, &line, p, err);
        } else if (line.op == CHROME_VALUE) {
            st = format_value(f, &line, p, err);
        } else {
            rocl_buf_str(f->out, ",\n");
            rocl_buf_put(f->out, p, line.size);
        }
    }
    return st;
}
