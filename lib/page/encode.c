/* Events of a track as columns, and columns as a line of text. One thread walks through the events;
 * the workers of the pipe compress its blocks. */
#include <math.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/deflate.h"
#include "base/error.h"
#include "page/page.h"

/* ---- blocks as lines ------------------------------------------------------------------------- */

static void put_base85(rocl_buf *to, const uint8_t *p, size_t n)
{
    if (!rocl_buf_reserve(to, n / 4 * 5 + 5))
        return;
    uint8_t *out = to->data + to->len;
    for (size_t i = 0; i < n; i += 4) {
        const size_t left = n - i < 4 ? n - i : 4;
        uint32_t word = 0;
        uint8_t digits[5];
        for (size_t k = 0; k < 4; k++)
            word = word << 8 | (k < left ? p[i + k] : 0);
        for (int k = 4; k >= 0; k--, word /= 85)
            digits[k] = (uint8_t)('(' + word % 85);
        for (size_t k = 0; k <= left; k++)
            *out++ = digits[k] == '<' ? '~' : digits[k];
    }
    to->len = (size_t)(out - to->data);
}

static rocl_status compress_block(void *ctx, unsigned worker, rocl_block *b, rocl_error *err)
{
    const page_sink *s = ctx;
    (void)worker;
    rocl_status st =
        rocl_zlib_stream(&b->out, b->in.data, b->in.len, rocl_level_or(s->opt->level, 9), err);
    b->in.len = 0;
    put_base85(&b->in, b->out.data, b->out.len);
    rocl_buf_byte(&b->in, '\n');
    return st;
}

static rocl_status write_line(void *ctx, rocl_block *b, rocl_error *err)
{
    const page_sink *s = ctx;
    return rocl_out_write(s->out, b->in.data, b->in.len, err);
}

const rocl_pipe_ops page_pipe_ops = {compress_block, write_line};

rocl_status page_put_block(page_sink *s, const rocl_buf *block, rocl_error *err)
{
    rocl_block *b;
    if (block->failed)
        return rocl_fail_memory(err);
    rocl_status st = rocl_pipe_get(s->pipe, &b, err);
    if (st != ROCL_OK)
        return st;
    rocl_buf_put(&b->in, block->data, block->len);
    return rocl_pipe_put(s->pipe, b, err);
}

/* ---- encoders to blocks ---------------------------------------------------------------------- */

static void begin_block(page_sink *s, page_block_kind kind, uint32_t track, uint32_t count)
{
    s->scratch.len = 0;
    rocl_buf_varint(&s->scratch, kind);
    rocl_buf_varint(&s->scratch, track);
    rocl_buf_varint(&s->scratch, count);
}

static void put_column(page_sink *s, rocl_buf *column)
{
    rocl_buf_put(&s->scratch, column->data, column->len);
    s->scratch.failed |= column->failed;
    column->len = 0;
}

static void fail_later(page_sink *s, rocl_status st)
{
    s->status = s->status ? s->status : st;
}

static void flush_entries(page_sink *s, page_encoder *e)
{
    if (!e->count)
        return;
    begin_block(s, e->values ? PAGE_VALUES : PAGE_SLICES, e->track, e->count);
    if (e->values) {
        put_column(s, &e->columns[0]);
        rocl_buf_byte(&s->scratch, e->real);
        put_column(s, &e->columns[1]);
    } else {
        for (int i = 0; i < PAGE_COLUMNS; i++)
            put_column(s, &e->columns[i]);
        rocl_buf_varint(&s->scratch, e->detail_count);
        put_column(s, &e->details);
        rocl_map_free(&e->detail_index);
        e->detail_count = 0;
    }
    s->pending -= e->count;
    e->count = 0;
    e->time = s->first;
    e->number = 0;
    e->row = e->stack = 0;
    fail_later(s, page_put_block(s, &s->scratch, s->err));
}

/* An entry has been added. */
static void end_entry(page_sink *s, page_encoder *e)
{
    s->pending++;
    if (++e->count == PAGE_ENTRIES)
        flush_entries(s, e);
    for (uint32_t i = 0; i < s->encoder_count && s->pending >= PAGE_PENDING; i++)
        flush_entries(s, &s->encoders[i]);
}

static page_encoder *encoder_of(page_sink *s, uint64_t track)
{
    const size_t at = (size_t)track - s->first_track;
    if (at >= s->encoder_cap && !ROCL_GROW(s->encoders, s->encoder_cap, at + 1)) {
        fail_later(s, rocl_fail_memory(s->err));
        return NULL;
    }
    for (; s->encoder_count <= at; s->encoder_count++) {
        page_encoder *e = &s->encoders[s->encoder_count];
        e->track = s->first_track + s->encoder_count;
        e->time = s->first;
        e->number = 0;
        e->real = e->cell_open = false;
        e->cell_before = 0;
        e->counted = e->covered = s->first;
    }
    return &s->encoders[at];
}

/* ---- cells ----------------------------------------------------------------------------------- */

static uint64_t cell_of(const page_sink *s, int64_t time)
{
    return ((uint64_t)time - (uint64_t)s->first) / (uint64_t)s->cell_ns;
}

static void close_cell(page_sink *s, page_encoder *e)
{
    if (!e->cell_open)
        return;
    rocl_buf_varint(&e->cells[0], e->cell - e->cell_before);
    rocl_buf_varint(&e->cells[1], e->cell_events);
    rocl_buf_varint(&e->cells[2],
                    (uint64_t)ceil((double)e->cell_busy * PAGE_BUSY / (double)s->cell_ns));
    e->cell_before = e->cell;
    e->cell_count++;
    e->cell_open = false;
}

static void open_cell(page_sink *s, page_encoder *e, uint64_t cell)
{
    if (e->cell_open && e->cell == cell)
        return;
    close_cell(s, e);
    e->cell_open = true;
    e->cell = cell;
    e->cell_events = 0;
    e->cell_busy = 0;
}

static void count_busy(page_sink *s, page_encoder *e, int64_t until)
{
    while (e->counted < until) {
        const uint64_t cell = cell_of(s, e->counted);
        const uint64_t done = (uint64_t)e->counted - (uint64_t)s->first;
        const uint64_t left = (cell + 1) * (uint64_t)s->cell_ns - done;
        const uint64_t more = (uint64_t)until - (uint64_t)e->counted;
        const int64_t to = more < left ? until : e->counted + (int64_t)left;
        open_cell(s, e, cell);
        e->cell_busy += to - e->counted;
        e->counted = to;
    }
}

/* ---- details: what many slices have in common ------------------------------------------------ */

/* X(field, its name, kind of value): t text, n number, b bytes, d three numbers, a the name of an
 * argument and its value */
#define FIELD_LIST(X)                                                                              \
    X(CATEGORY, "Category", 't')                                                                   \
    X(QUEUE, "Queue", 't')                                                                         \
    X(STREAM, "Stream", 't')                                                                       \
    X(THREAD, "Called by thread", 'n')                                                             \
    X(SYMBOL, "Symbol", 't')                                                                       \
    X(GRID, "Grid (work-items)", 'd')                                                              \
    X(WORKGROUP, "Workgroup", 'd')                                                                 \
    X(LDS, "LDS", 'b')                                                                             \
    X(SCRATCH, "Scratch per work-item", 'b')                                                       \
    X(VGPRS, "Vector registers", 'n')                                                              \
    X(ACCUM_VGPRS, "Accumulation registers", 'n')                                                  \
    X(SGPRS, "Scalar registers", 'n')                                                              \
    X(FROM, "From", 't')                                                                           \
    X(TO, "To", 't')                                                                               \
    X(KERNELS, "Kernels", 'n')                                                                     \
    X(ARGUMENT, "Argument", 'a')

#define FIELD_ENUM(field, name, kind) FIELD_##field,
typedef enum field { FIELD_LIST(FIELD_ENUM) FIELDS } field;

void page_put_fields(rocl_buf *to)
{
#define FIELD_ROW(field, name, kind) {name, kind},
    static const struct {
        const char *name;
        char kind;
    } fields[] = {FIELD_LIST(FIELD_ROW)};
    for (int i = 0; i < FIELDS; i++)
        rocl_buf_printf(to, "%s[\"%s\",\"%c\"]", i ? "," : "", fields[i].name, fields[i].kind);
}

static void put_number(rocl_buf *to, field f, int64_t v)
{
    if (v <= 0)
        return;
    rocl_buf_varint(to, f + 1u);
    rocl_buf_varint(to, (uint64_t)v);
}

static void put_text(page_sink *s, rocl_buf *to, field f, uint32_t text)
{
    size_t n = 0;
    rocl_strings_get(s->trace->strings, text, &n);
    if (n)
        put_number(to, f, page_text(s, text));
}

static void put_dims(rocl_buf *to, field f, const uint32_t dims[3])
{
    if (!(dims[0] | dims[1] | dims[2]))
        return;
    rocl_buf_varint(to, f + 1u);
    for (int i = 0; i < 3; i++)
        rocl_buf_varint(to, dims[i]);
}

/* The number of the details of the event at hand in its block. */
static uint32_t find_details(page_sink *s, page_encoder *e, const rocl_track_event *event)
{
    const size_t from = e->details.len;
    const rocl_capture *c = s->timeline.capture;
    if (event->category != ROCL_NONE)
        put_text(s, &e->details, FIELD_CATEGORY, event->category);
    if (event->sequence != ROCL_SEQUENCE_HOST) {
        if (event->queue < c->queue_count)
            put_text(s, &e->details, FIELD_QUEUE, c->queues[event->queue].label);
        if (event->stream < c->stream_count)
            put_text(s, &e->details, FIELD_STREAM, c->streams[event->stream].label);
        if (event->thread < c->thread_count)
            put_number(&e->details, FIELD_THREAD, c->threads[event->thread].tid);
    }
    if (event->kind == ROCL_DISPATCH) {
        put_dims(&e->details, FIELD_GRID, event->grid);
        put_dims(&e->details, FIELD_WORKGROUP, event->workgroup);
        put_number(&e->details, FIELD_LDS, event->group_segment);
        put_number(&e->details, FIELD_SCRATCH, event->private_segment);
        if (event->kernel < c->kernel_count) {
            const rocl_kernel *k = &c->kernels[event->kernel];
            if (k->mangled != event->name)
                put_text(s, &e->details, FIELD_SYMBOL, k->mangled);
            put_number(&e->details, FIELD_VGPRS, k->arch_vgpr);
            put_number(&e->details, FIELD_ACCUM_VGPRS, k->accum_vgpr);
            put_number(&e->details, FIELD_SGPRS, k->sgpr);
        }
    } else if (event->kind == ROCL_COPY) {
        const uint32_t out_of = event->op ? event->other_agent : event->agent;
        const uint32_t into = event->op ? event->agent : event->other_agent;
        if (out_of < c->agent_count)
            put_text(s, &e->details, FIELD_FROM, c->agents[out_of].device);
        if (into < c->agent_count)
            put_text(s, &e->details, FIELD_TO, c->agents[into].device);
    } else if (event->kind == ROCL_GRAPH) {
        put_number(&e->details, FIELD_KERNELS, event->size < INT64_MAX ? (int64_t)event->size : 0);
    }
    if (s->trace->opt.args &&
        (event->sequence == ROCL_SEQUENCE_HOST || event->kind == ROCL_DISPATCH)) {
        rocl_track_event args = *event;
        rocl_track_arg a;
        while (rocl_track_event_next_arg(&args, &a)) {
            rocl_buf_varint(&e->details, FIELD_ARGUMENT + 1u);
            rocl_buf_varint(&e->details, page_text(s, a.name));
            rocl_buf_varint(&e->details, a.len);
            rocl_buf_put(&e->details, a.value, a.len);
        }
    }
    rocl_buf_byte(&e->details, 0);
    const uint8_t *bytes = e->details.data;
    const size_t n = e->details.len - from;
    uint64_t hash = n;
    for (size_t i = from; i < e->details.len; i++)
        hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
    for (hash = rocl_mix64(hash);; hash = rocl_mix64(hash + 1)) { /* another one may have it */
        const uint32_t at = rocl_map_get(&e->detail_index, hash, ROCL_NONE);
        if (at == ROCL_NONE)
            break;
        const size_t begin = at ? e->detail_ends[at - 1] : 0;
        if (e->detail_ends[at] - begin == n && !memcmp(bytes + begin, bytes + from, n)) {
            e->details.len = from;
            return at;
        }
    }
    if (!ROCL_GROW(e->detail_ends, e->detail_cap, e->detail_count + (size_t)1) ||
        !rocl_map_put(&e->detail_index, hash, e->detail_count)) {
        e->details.failed = true;
        return 0;
    }
    e->detail_ends[e->detail_count] = e->details.len;
    return e->detail_count++;
}

/* ---- what the timeline draws ----------------------------------------------------------------- */

static rocl_status begin_sequence(rocl_drawing *p, int64_t from, rocl_error *err)
{
    page_sink *s = page_sink_of(p);
    (void)from, (void)err;
    s->first_track = s->track_count;
    return ROCL_OK;
}

static rocl_status draw_slice(rocl_drawing *p, uint64_t track, rocl_error *err)
{
    page_sink *s = page_sink_of(p);
    const rocl_track_event *event = &p->event;
    page_encoder *e = encoder_of(s, track);
    (void)err;
    if (!e)
        return s->status;
    const bool instant = event->kind == ROCL_INSTANT;
    const int64_t begin = event->time, end = instant ? begin : event->end;
    s->counts.events++;
    if (s->windowed) {
        count_busy(s, e, begin < e->covered ? begin : e->covered);
        e->counted = begin > e->covered ? begin : e->counted;
        e->covered = end > e->covered ? end : e->covered;
        open_cell(s, e, cell_of(s, begin));
        e->cell_events++;
        if (begin > s->to || end < s->from)
            return s->status;
    }
    s->counts.event_details++;
    e->values = false;
    const bool sized =
        event->kind == ROCL_COPY || event->kind == ROCL_ALLOC || event->kind == ROCL_SCRATCH;
    const uint64_t numbers[PAGE_COLUMNS] = {
        (uint64_t)begin - (uint64_t)e->time,
        (uint64_t)end - (uint64_t)begin,
        page_text(s, event->name),
        (uint64_t)event->kind | (uint64_t)rocl_timeline_link(p) << ROCL_KIND_BITS,
        rocl_zigzag((int64_t)(event->row - e->row)),
        rocl_zigzag((int64_t)(event->stack_id - e->stack)),
        sized ? event->size : 0,
        find_details(s, e, event),
    };
    e->time = begin;
    e->row = event->row;
    e->stack = event->stack_id;
    for (int i = 0; i < PAGE_COLUMNS; i++)
        rocl_buf_varint(&e->columns[i], numbers[i]);
    end_entry(s, e);
    return s->status;
}

static void put_value(page_sink *s, page_encoder *e, int64_t time, double v)
{
    const bool whole = fabs(v) < 0x1p53 && v == floor(v);
    if (!whole && !e->real) {
        flush_entries(s, e);
        e->real = true;
    }
    rocl_buf_varint(&e->columns[0], (uint64_t)time - (uint64_t)e->time);
    e->time = time;
    if (e->real) {
        uint64_t bits;
        memcpy(&bits, &v, sizeof bits);
        rocl_buf_le64(&e->columns[1], bits);
    } else {
        rocl_buf_varint(&e->columns[1], rocl_zigzag((int64_t)v - e->number));
        e->number = (int64_t)v;
    }
    end_entry(s, e);
}

/* Outside of the window a cell has its largest value only. */
static void end_value_cell(page_sink *s, page_encoder *e)
{
    if (e->cell_open)
        put_value(s, e, e->most_time, e->most);
    e->cell_open = false;
}

static void draw_value(rocl_drawing *p, uint64_t track, int64_t time, double v)
{
    page_sink *s = page_sink_of(p);
    page_encoder *e = encoder_of(s, track);
    if (!e)
        return;
    time = time < s->first ? s->first : time;
    s->counts.values++;
    e->values = true;
    if (!s->windowed || (time >= s->from && time <= s->to)) {
        end_value_cell(s, e);
        s->counts.value_details++;
        put_value(s, e, time, v);
        return;
    }
    const uint64_t cell = cell_of(s, time);
    if (e->cell_open && e->cell == cell) {
        e->most = v > e->most ? v : e->most;
        return;
    }
    end_value_cell(s, e);
    e->cell_open = true;
    e->cell = cell;
    e->most = v;
    e->most_time = time;
}

static void end_sequence(rocl_drawing *p)
{
    page_sink *s = page_sink_of(p);
    for (uint32_t i = 0; i < s->encoder_count; i++) {
        page_encoder *e = &s->encoders[i];
        if (e->values) {
            end_value_cell(s, e);
        } else {
            count_busy(s, e, e->covered);
            close_cell(s, e);
        }
        flush_entries(s, e);
        if (e->cell_count) {
            begin_block(s, PAGE_CELL_BLOCK, e->track, e->cell_count);
            for (int k = 0; k < 3; k++)
                put_column(s, &e->cells[k]);
            fail_later(s, page_put_block(s, &s->scratch, s->err));
        }
        e->cell_count = 0;
        e->values = false;
    }
    s->encoder_count = 0;
}

void page_free_encoders(page_sink *s)
{
    for (size_t i = 0; i < s->encoder_cap; i++) {
        page_encoder *e = &s->encoders[i];
        for (int k = 0; k < PAGE_COLUMNS; k++)
            rocl_buf_free(&e->columns[k]);
        for (int k = 0; k < 3; k++)
            rocl_buf_free(&e->cells[k]);
        rocl_map_free(&e->detail_index);
        rocl_buf_free(&e->details);
        free(e->detail_ends);
    }
    free(s->encoders);
    rocl_buf_free(&s->scratch);
}

const rocl_timeline_ops page_ops = {.work_overlaps = true,
                                    .begin = begin_sequence,
                                    .end = end_sequence,
                                    .define = page_define_track,
                                    .call = draw_slice,
                                    .work = draw_slice,
                                    .instant = draw_slice,
                                    .value = draw_value};
