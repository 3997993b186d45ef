/* Step 1: a block of lines -> items. An event is text but for its row, whose number depends on what
 * came before, so the text of a block is interrupted by items that step 2 resolves. */
#include "legacy/rtg_timeline/timeline.h"

#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/text.h"
#include "base/lines.h"

#define put_lit(b, text) rocl_buf_put(b, text, sizeof(text) - 1)

/* ---- items: what is appended to `out` between open_text and close_text is output ------------ */

static void put_head(tl_worker *w, tl_item kind, size_t len)
{
    const tl_head h = {(uint32_t)kind, (uint32_t)len};
    rocl_buf_put(w->out, &h, sizeof h);
}

static void open_text(tl_worker *w)
{
    w->text = w->out->len;
    put_head(w, TL_TEXT, 0);
}

static void close_text(tl_worker *w)
{
    const tl_head h = {TL_TEXT, (uint32_t)(w->out->len - w->text - sizeof h)};
    if (!w->out->failed)
        memcpy(w->out->data + w->text, &h, sizeof h);
}

/* An item of two parts. */
static void put_item(tl_worker *w, tl_item kind, const void *p, size_t n, const char *q, size_t m)
{
    close_text(w);
    put_head(w, kind, n + m);
    rocl_buf_put(w->out, p, n);
    rocl_buf_put(w->out, q, m);
    open_text(w);
}

static void put_texts_item(tl_worker *w, tl_item kind, uint32_t row_kind, const tl_place *place,
                           const rocl_view s[TL_TEXTS])
{
    tl_texts t = {.kind = row_kind};
    size_t n = sizeof t + (place ? sizeof *place : 0);
    for (int i = 0; i < TL_TEXTS; i++)
        n += t.len[i] = (uint32_t)s[i].n;
    close_text(w);
    put_head(w, kind, n);
    rocl_buf_put(w->out, place, place ? sizeof *place : 0);
    rocl_buf_put(w->out, &t, sizeof t);
    for (int i = 0; i < TL_TEXTS; i++)
        rocl_buf_put(w->out, s[i].p, s[i].n);
    open_text(w);
}

static void say_text(tl_worker *w, const char *what, rocl_view s)
{
    put_item(w, TL_SAY, what, strlen(what), s.p, s.n);
}

static void leave_out_line(tl_worker *w, const char *why)
{
    const tl_place place = {w->line, why};
    put_item(w, TL_BAD, &place, sizeof place, NULL, 0);
}

/* ---- rows of a block ------------------------------------------------------------------------ */

struct tl_block_row {
    tl_row_kind kind;
    uint64_t hash;
    rocl_view pid, key, queue; /* in the block */
};

static const rocl_view no_text;

static uint64_t hash_view(uint64_t h, rocl_view s)
{
    uint64_t word = 0;
    size_t i = 0;
    for (; i + 8 <= s.n; i += 8) {
        memcpy(&word, s.p + i, 8);
        h = rocl_mix64(h ^ word);
    }
    word = s.n;
    for (; i < s.n; i++)
        word = word << 8 | (unsigned char)s.p[i];
    return rocl_mix64(h ^ word);
}

/* Short texts of digits for the most part: eight bytes at a time. */
static inline bool same_text(rocl_view a, rocl_view b)
{
    uint64_t x, y;
    size_t i = 0;
    if (a.n != b.n)
        return false;
    for (; i + 8 <= a.n; i += 8) {
        memcpy(&x, a.p + i, 8);
        memcpy(&y, b.p + i, 8);
        if (x != y)
            return false;
    }
    for (; i < a.n; i++)
        if (a.p[i] != b.p[i])
            return false;
    return true;
}

static bool is_row(const tl_block_row *r, tl_row_kind kind, rocl_view pid, rocl_view key,
                   rocl_view queue)
{
    return r->kind == kind && same_text(r->key, key) && same_text(r->pid, pid) &&
           same_text(r->queue, queue);
}

static bool grow_rows(tl_worker *w)
{
    uint32_t cap = w->row_cap ? 2 * w->row_cap : 64;
    tl_block_row *rows = realloc(w->rows, cap * sizeof *rows);
    if (rows)
        w->rows = rows;
    uint32_t *slots = rows ? calloc(2 * (size_t)cap, sizeof *slots) : NULL;
    if (!slots)
        return false;
    free(w->slots);
    w->slots = slots;
    w->slot_mask = 2 * cap - 1;
    w->row_cap = cap;
    for (uint32_t i = 0; i < w->row_count; i++) {
        size_t at = rows[i].hash & w->slot_mask;
        while (slots[at])
            at = (at + 1) & w->slot_mask;
        slots[at] = i + 1;
    }
    return true;
}

/* The number of a row in the block, from 0. Look it up before the event begins: a new row is an
 * item of its own. */
static uint32_t find_row(tl_worker *w, tl_row_kind kind, rocl_view pid, rocl_view key,
                         rocl_view queue)
{
    /* Ids of threads and agents differ in their last digits, if not in the very last ones. */
    uint64_t word = 0;
    if (key.n)
        memcpy(&word, key.n >= 8 ? key.p + key.n - 8 : key.p, key.n >= 8 ? 8 : key.n);
    word += (uint64_t)kind + (queue.n ? (uint64_t)(unsigned char)queue.p[queue.n - 1] << 8 : 0);
    uint32_t *recent = &w->recent[word * UINT64_C(0x9e3779b97f4a7c15) >> 58];
    if (*recent && is_row(&w->rows[*recent - 1], kind, pid, key, queue))
        return *recent - 1;

    uint64_t hash = hash_view(hash_view(hash_view(kind, pid), key), queue);
    if (w->row_count == w->row_cap && !grow_rows(w)) {
        w->out->failed = true;
        return 0;
    }
    size_t at = hash & w->slot_mask;
    while (w->slots[at] && !is_row(&w->rows[w->slots[at] - 1], kind, pid, key, queue))
        at = (at + 1) & w->slot_mask;
    if (!w->slots[at]) {
        w->rows[w->row_count] = (tl_block_row){kind, hash, pid, key, queue};
        w->slots[at] = ++w->row_count;
        put_texts_item(w, TL_NEW_ROW, kind, NULL, (rocl_view[TL_TEXTS]){pid, key, queue});
    }
    *recent = w->slots[at];
    return *recent - 1;
}

_Static_assert(TL_RECENT == 1 << (64 - 58), "find_row takes the upper 6 bits");

static void put_row(tl_worker *w, uint32_t row)
{
    close_text(w);
    put_head(w, TL_ROW, row);
    open_text(w);
}

/* ---- events --------------------------------------------------------------------------------- */

static const char out_of_range[] = "a time is out of range";

static void put_text(tl_worker *w, rocl_view s)
{
    w->repaired += rocl_json_put(w->out, s.p, s.n) != 0;
}

static void begin_event(tl_worker *w, rocl_view name)
{
    put_lit(w->out, "{\"name\":\"");
    put_text(w, name);
    put_lit(w->out, "\", \"ph\":\"X\", \"ts\":");
}

/* An event that has begun at `at` and cannot be finished is taken back. */
static void take_back_event(tl_worker *w, size_t at)
{
    w->out->len = at;
    leave_out_line(w, out_of_range);
}

static void put_deps(tl_worker *w, const rtg_line *l)
{
    static const char *const names[5] = {", \"args\":{\"dep1\":\"", "\",\"dep2\":\"",
                                         "\",\"dep3\":\"", "\",\"dep4\":\"", "\",\"dep5\":\""};
    for (int i = 0; i < 5; i++) {
        rocl_buf_str(w->out, names[i]);
        rocl_buf_put(w->out, l->dep[i].p, l->dep[i].n);
    }
    put_lit(w->out, "\"}");
}

/* The kernel of a launch and the arguments, from which double quotes are taken out, as the script
 * does. */
static void put_hip_args(tl_worker *w, const rtg_line *l)
{
    bool named = l->has_kernel && !w->opt->kernel_names;
    size_t first = 0;
    while (l->has_args && first < l->args.n && l->args.p[first] == '"')
        first++;
    bool args = l->has_args && first < l->args.n;
    if (!named && !args)
        return;
    put_lit(w->out, ", \"args\":{");
    if (named) {
        put_lit(w->out, "\"name\":\"");
        put_text(w, l->kernel);
        rocl_buf_byte(w->out, '"');
    }
    if (args) {
        if (named)
            rocl_buf_byte(w->out, ',');
        put_lit(w->out, "\"params\":\"");
        for (const char *p = l->args.p, *end = p + l->args.n; p < end;) {
            const char *quote = memchr(p, '"', (size_t)(end - p));
            put_text(w, rocl_view_between(p, quote ? quote : end));
            p = quote ? quote + 1 : end;
        }
        rocl_buf_byte(w->out, '"');
    }
    rocl_buf_byte(w->out, '}');
}

static void convert_call(tl_worker *w, const rtg_line *l)
{
    bool hip = l->shape == RTG_HIP, backslash = !hip && memchr(l->args.p, '\\', l->args.n);
    uint32_t row = find_row(w, hip ? TL_HIP : TL_HSA, l->pid, l->tid, no_text);
    if (backslash)
        say_text(w, "HSA event with bad escape character", no_text);
    size_t at = w->out->len;
    begin_event(w, hip && w->opt->kernel_names && l->has_kernel ? l->kernel : l->name);
    bool ok = rocl_py_put_us(w->out, l->start);
    put_lit(w->out, ", \"dur\":");
    if (!ok || !rocl_py_put_us(w->out, l->stop)) {
        take_back_event(w, at);
        return;
    }
    put_lit(w->out, ", ");
    put_row(w, row);
    if (hip) {
        put_hip_args(w, l);
    } else if (!backslash) {
        put_lit(w->out, ", \"args\":{\"params\":\"");
        put_text(w, l->args);
        put_lit(w->out, "\"}");
    }
    put_lit(w->out, "},\n");
}

/* One end of an arrow. */
static void put_flow(tl_worker *w, rocl_view name, const char *rest, rocl_view ts, uint32_t row,
                     rocl_view id)
{
    put_lit(w->out, "{\"name\":\"");
    rocl_json_put(w->out, name.p, name.n);
    rocl_buf_str(w->out, rest);
    rocl_py_put_us(w->out, ts);
    put_lit(w->out, ", ");
    put_row(w, row);
    put_lit(w->out, ", \"id\":");
    rocl_py_put_integer(w->out, id);
    put_lit(w->out, "},\n");
}

static const rocl_view barrier = {"barrier", 7};

static void convert_host_packet(tl_worker *w, const rtg_line *l)
{
    bool kernel = l->shape == RTG_HOST_DISPATCH;
    rocl_view name = kernel ? l->name : barrier;
    uint32_t row = find_row(w, TL_HSA, l->pid, l->tid, no_text);
    if (kernel && w->opt->workgroups)
        put_texts_item(
            w, TL_WORKGROUP, 0, NULL,
            (rocl_view[TL_TEXTS]){l->workgroup[0], l->workgroup[1], l->workgroup[2], name});
    size_t at = w->out->len;
    begin_event(w, name);
    if (!rocl_py_put_us(w->out, l->start)) {
        take_back_event(w, at);
        return;
    }
    put_lit(w->out, ", \"dur\":1, ");
    put_row(w, row);
    if (!kernel)
        put_deps(w, l);
    put_lit(w->out, "},\n");
    if (w->opt->flows)
        put_flow(w, name,
                 kernel ? "\", \"cat\":\"dispatch\", \"ph\":\"s\", \"ts\":"
                        : "\", \"cat\":\"barrier\", \"ph\":\"s\", \"ts\":",
                 l->start, row, l->id);
}

/* Name, times and row of GPU work. */
static void begin_gpu_event(tl_worker *w, rocl_view name, const rtg_line *l, uint64_t start,
                            uint64_t stop, uint32_t row)
{
    begin_event(w, name);
    rocl_py_put_us(w->out, l->start);
    put_lit(w->out, ", \"dur\":");
    rocl_py_put_us_difference(w->out, start, stop);
    put_lit(w->out, ", ");
    put_row(w, row);
}

static void convert_gpu_packet(tl_worker *w, const rtg_line *l)
{
    static const rocl_view copy = {"copy", 4};
    bool kernel = l->shape == RTG_DISPATCH, copies = l->shape == RTG_COPY;
    rocl_view name = kernel ? l->name : copies ? copy : barrier;
    uint64_t start, stop;
    if (!rtg_number(l->start, &start) || !rtg_number(l->stop, &stop)) {
        leave_out_line(w, out_of_range);
        return;
    }
    uint32_t row =
        find_row(w, copies ? TL_COPY : TL_GPU, l->pid, l->agent, copies ? no_text : l->queue);
    begin_gpu_event(w, name, l, start, stop, row);
    if (!kernel)
        put_deps(w, l);
    put_lit(w->out, "},\n");
    if (w->opt->flows && !copies)
        put_flow(w, name,
                 kernel ? "\", \"cat\":\"dispatch\", \"ph\":\"f\", \"ts\":"
                        : "\", \"cat\":\"barrier\", \"ph\":\"f\", \"ts\":",
                 l->start, row, l->id);
}

/* ", "extra":"..."": each run of blanks as one, none at the ends; nothing where there are only
 * blanks. */
static void put_extra(tl_worker *w, rocl_view s)
{
    size_t words = 0;
    for (size_t from = 0, to; from < s.n; from = to) {
        while (from < s.n && rtg_space(s.p[from]))
            from++;
        for (to = from; to < s.n && !rtg_space(s.p[to]);)
            to++;
        if (to == from)
            continue;
        rocl_buf_str(w->out, words++ ? " " : ", \"extra\":\"");
        put_text(w, (rocl_view){s.p + from, to - from});
    }
    if (words)
        rocl_buf_byte(w->out, '"');
}

static rocl_status convert_profile(tl_worker *w, const rtg_line *l, rocl_error *err)
{
    uint64_t device, start, stop;
    if (!rtg_number(l->device, &device) || device > UINT32_MAX || !rtg_number(l->start, &start) ||
        !rtg_number(l->stop, &stop)) {
        leave_out_line(w, "a number is out of range");
        return ROCL_OK;
    }
    uint32_t row = find_row(w, TL_HCC, no_text, l->device, no_text);
    begin_gpu_event(w, l->name, l, start, stop, row);
    put_lit(w->out, ", \"tid\":");
    rocl_py_put_integer(w->out, l->stream);
    put_lit(w->out, ", \"args\":{\"seqNum\":");
    rocl_py_put_integer(w->out, l->sequence);
    if (l->shape == RTG_HCC)
        put_extra(w, l->extra);
    put_lit(w->out, "}},\n");
    if (!w->gaps || l->shape != RTG_HCC || memmem(l->name.p, l->name.n, "depcnt", 6))
        return ROCL_OK;
    const uint64_t key[4] = {~device, start, w->block, w->gap_count++};
    return rocl_sorter_add(w->gaps, w->number, key, &stop, sizeof stop, err);
}

/* ---- strace --------------------------------------------------------------------------------- */

/* Without blanks at its ends. */
static rocl_view trim_text(rocl_view s)
{
    while (s.n && rtg_space(*s.p)) {
        s.p++;
        s.n--;
    }
    while (s.n && rtg_space(s.p[s.n - 1]))
        s.n--;
    return s;
}

/* Python's float(), in µs, except nan and inf, which are not durations. */
static bool parse_seconds(rocl_view s, double *us)
{
    char text[128], *end;
    s = trim_text(s);
    if (!s.n || s.n >= sizeof text)
        return false;
    for (size_t i = 0; i < s.n; i++)
        if (!strchr("0123456789+-.eE", s.p[i]) || !s.p[i])
            return false;
    memcpy(text, s.p, s.n);
    text[s.n] = '\0';
    *us = strtod(text, &end) * 1000000;
    return !*end && isfinite(*us);
}

const char *tl_put_strace(rocl_buf *b, rocl_view name, rocl_view call, bool close,
                          rocl_view seconds, rocl_view fraction, rocl_view took, size_t *repaired)
{
    uint64_t s, f, us;
    double duration;
    size_t at = b->len;
    rocl_buf_str(b, "{\"name\":\"");
    *repaired = rocl_json_put(b, name.p, name.n);
    /* Whole µs of seconds and what is after their point, however many digits that has. */
    bool stamped = rtg_number(seconds, &s) && rtg_number(fraction, &f) &&
                   !__builtin_mul_overflow(s, UINT64_C(1000000), &us) &&
                   !__builtin_add_overflow(us, f, &us);
    if (!stamped || !parse_seconds(took, &duration)) {
        b->len = at;
        return stamped ? "the duration of the call is not a number" : out_of_range;
    }
    rocl_buf_printf(b, "\", \"ph\":\"X\", \"ts\":%llu, \"dur\":%.0f, \"pid\":-2000, ",
                    (unsigned long long)us, trunc(duration));
    rocl_buf_str(b, "\"args\":{\"name\":\"");
    *repaired += rocl_json_put(b, call.p, call.n);
    rocl_buf_str(b, close ? ")\"}},\n" : "\"}},\n");
    return NULL;
}

static void convert_strace(tl_worker *w, const rtg_line *l, bool cut)
{
    const tl_place place = {.line = w->line};
    rocl_view call = trim_text(l->name), name = rocl_view_until(call, '(');
    if (l->shape == RTG_STRACE_UNFINISHED) {
        if (name.n == call.n)
            say_text(w, "strace unfinished cannot parse function name: ", call);
        put_texts_item(w, TL_UNFINISHED, 0, NULL,
                       (rocl_view[TL_TEXTS]){name, call, l->start, l->fraction});
    } else if (l->shape == RTG_STRACE_RESUMED) {
        /* The time of the line is that of its end, unless it was cut. */
        put_texts_item(w, TL_RESUMED, cut, &place,
                       (rocl_view[TL_TEXTS]){l->name, l->took, l->start, l->fraction});
    } else {
        size_t repaired;
        const char *why =
            tl_put_strace(w->out, name, call, false, l->start, l->fraction, l->took, &repaired);
        if (why)
            leave_out_line(w, why);
        else
            w->repaired += repaired != 0;
    }
}

/* ---- blocks --------------------------------------------------------------------------------- */

static rocl_status convert_line(tl_worker *w, const rtg_line *l, rocl_view line, bool ended,
                                bool cut, rocl_error *err)
{
    static const char *const left_out[RTG_SHAPES] = {
        [RTG_HIP_MISSED] = "a HIP line that cannot be parsed",
        [RTG_HSA_MISSED] = "an HSA line that cannot be parsed",
        [RTG_HCC_MISSED] = "a profile line that cannot be parsed",
        [RTG_HCC_TIMES] = "a profile line whose times are not followed by an id",
        [RTG_HCC_ID] = "a profile line without times",
        [RTG_HCC_SPAN] = "a profile line without times",
    };
    w->shapes[l->shape]++;
    if (left_out[l->shape])
        leave_out_line(w, left_out[l->shape]);
    switch (l->shape) {
    case RTG_HIP:
    case RTG_HSA:
        convert_call(w, l);
        break;
    case RTG_HOST_DISPATCH:
    case RTG_HOST_BARRIER:
        convert_host_packet(w, l);
        break;
    case RTG_DISPATCH:
    case RTG_BARRIER:
    case RTG_COPY:
        convert_gpu_packet(w, l);
        break;
    case RTG_HCC:
    case RTG_HCC_BARE:
        return convert_profile(w, l, err);
    case RTG_STRACE_UNFINISHED:
    case RTG_STRACE_RESUMED:
    case RTG_STRACE_COMPLETE:
        convert_strace(w, l, cut);
        break;
    case RTG_TEXT:
        if (w->opt->verbose)
            say_text(w, "unparsed line: ", trim_text(line));
        break;
    case RTG_HSA_MISSED: /* as it was read, which the script prints with its line end */
        if (!w->missed_hsa)
            put_item(w, TL_MISSED_HSA, line.p, line.n, "\n", ended);
        w->missed_hsa = true;
        break;
    default:
        break;
    }
    return ROCL_OK;
}

rocl_status tl_convert_block(tl_worker *w, rocl_block *c, rocl_error *err)
{
    tl_block block;
    memcpy(&block, c->in.data, sizeof block);
    const char *text = (const char *)c->in.data + sizeof block;
    /* The array is behind the text, hence moved to where it is aligned. */
    tl_wanted *all = malloc((block.wanted + 1) * sizeof *all);
    if (!all)
        return rocl_fail_memory(err);
    memcpy(all, text + block.text, block.wanted * sizeof *all);
    const tl_wanted *wanted = all, *wanted_end = all + block.wanted;
    const char *p = text, *end = text + block.text;
    const bool cr = block.text && memchr(p, '\r', block.text);
    rocl_status st = ROCL_OK;
    w->out = &c->out;
    w->block = block.number;
    w->missed_hsa = false;
    w->row_count = 0;
    memset(w->recent, 0, sizeof w->recent);
    if (w->slots)
        memset(w->slots, 0, ((size_t)w->slot_mask + 1) * sizeof *w->slots);
    open_text(w);
    /* The wanted lines come in order, and so do the lines of the block. */
    for (w->line = 0; p < end && st == ROCL_OK; w->line++) {
        rtg_line l;
        tl_digits digits;
        bool ended, chosen = !block.selected, cut = false;
        uint64_t offset = block.offset + (uint64_t)(p - text);
        const char *from = p;
        rocl_view line = rocl_view_between(from, rocl_line_next(&p, end, cr, &ended));
        rtg_parse_line(&l, line.p, line.n, ended);
        while (wanted < wanted_end && wanted->offset < offset)
            wanted++;
        if (wanted < wanted_end && wanted->offset == offset) {
            chosen = true;
            cut = wanted->cut;
            if (cut)
                tl_cut_line(&l, wanted, digits);
        }
        /* What a later line may end is needed in any case. */
        if (chosen || l.shape == RTG_STRACE_UNFINISHED)
            st = convert_line(w, &l, line, ended, cut, err);
    }
    put_item(w, TL_LINES, &w->line, sizeof w->line, NULL, 0);
    close_text(w);
    free(all);
    return st;
}

void tl_worker_free(tl_worker *w)
{
    free(w->rows);
    free(w->slots);
}
