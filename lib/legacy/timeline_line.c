/* Lines to items. An event is text but for its row, whose number depends on what came before. */
#include "legacy/timeline_impl.h"

#include "base/error.h"
#include "base/json_put.h"
#include "base/lines.h"

#include <stdlib.h>
#include <string.h>

/* ---- events --------------------------------------------------------------------------------- */

#define put_lit(b, text) rocl_buf_put(b, text, sizeof(text) - 1)

static size_t put_text(tl_worker *w, rtg_span s)
{
    size_t repaired = rocl_json_put(w->out, s.p, s.n);
    w->repaired += repaired != 0;
    return repaired;
}

/* The row is looked up first: a new one is an item of its own. */
static size_t begin_event(tl_worker *w, rtg_span name)
{
    size_t at = w->out->len;
    put_lit(w->out, "{\"name\":\"");
    put_text(w, name);
    put_lit(w->out, "\", \"ph\":\"X\", \"ts\":");
    return at;
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

static void end_event(tl_worker *w)
{
    put_lit(w->out, "},\n");
}

static bool put_times(tl_worker *w, rtg_span start, rtg_span duration)
{
    if (!tl_put_us(w->out, start))
        return false;
    put_lit(w->out, ", \"dur\":");
    if (!tl_put_us(w->out, duration))
        return false;
    put_lit(w->out, ", ");
    return true;
}

/* Double quotes are taken out of the arguments, as the script does. */
static void put_unquoted(tl_worker *w, rtg_span s)
{
    for (const char *p = s.p, *end = s.p + s.n; p < end;) {
        const char *quote = memchr(p, '"', (size_t)(end - p));
        put_text(w, (rtg_span){p, (size_t)((quote ? quote : end) - p)});
        p = quote ? quote + 1 : end;
    }
}

/* Are there any bytes but quotes? */
static bool says_something(rtg_span s)
{
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] != '"')
            return true;
    return false;
}

static void put_hip_args(tl_worker *w, const rtg_line *l)
{
    bool named = l->has_kernel && !w->opt->kernel_names;
    bool args = l->has_args && says_something(l->args);
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
        put_unquoted(w, l->args);
        rocl_buf_byte(w->out, '"');
    }
    rocl_buf_byte(w->out, '}');
}

static const char out_of_range[] = "a time is out of range";

static void on_hip(tl_worker *w, const rtg_line *l)
{
    uint32_t row = tl_row_of(w, TL_HIP, l->pid, l->tid, (rtg_span){0});
    size_t at = begin_event(w, w->opt->kernel_names && l->has_kernel ? l->kernel : l->name);
    if (!put_times(w, l->start, l->stop)) {
        tl_take_back(w, at, out_of_range);
        return;
    }
    tl_put_row(w, row);
    put_hip_args(w, l);
    end_event(w);
}

static void on_hsa(tl_worker *w, const rtg_line *l)
{
    uint32_t row = tl_row_of(w, TL_HSA, l->pid, l->tid, (rtg_span){0});
    bool backslash = memchr(l->args.p, '\\', l->args.n);
    if (backslash)
        tl_say(w, "HSA event with bad escape character", (rtg_span){0});
    size_t at = begin_event(w, l->name);
    if (!put_times(w, l->start, l->stop)) {
        tl_take_back(w, at, out_of_range);
        return;
    }
    tl_put_row(w, row);
    if (!backslash) {
        put_lit(w->out, ", \"args\":{\"params\":\"");
        put_text(w, l->args);
        put_lit(w->out, "\"}");
    }
    end_event(w);
}

/* One end of an arrow. */
static void put_flow(tl_worker *w, rtg_span name, const char *rest, rtg_span ts, uint32_t row,
                     rtg_span id)
{
    put_lit(w->out, "{\"name\":\"");
    rocl_json_put(w->out, name.p, name.n);
    rocl_buf_str(w->out, rest);
    tl_put_us(w->out, ts);
    put_lit(w->out, ", ");
    tl_put_row(w, row);
    put_lit(w->out, ", \"id\":");
    tl_put_integer(w->out, id);
    end_event(w);
}

static const rtg_span barrier = {"barrier", 7};

static void on_host_packet(tl_worker *w, const rtg_line *l)
{
    bool kernel = l->shape == RTG_HOST_DISPATCH;
    rtg_span name = kernel ? l->name : barrier;
    uint32_t row = tl_row_of(w, TL_HSA, l->pid, l->tid, (rtg_span){0});
    if (kernel && w->opt->workgroups)
        tl_put_texts(w, TL_WORKGROUP, 0, NULL,
                     (rtg_span[TL_TEXTS]){l->workgroup[0], l->workgroup[1], l->workgroup[2], name});
    size_t at = begin_event(w, name);
    if (!tl_put_us(w->out, l->start)) {
        tl_take_back(w, at, out_of_range);
        return;
    }
    put_lit(w->out, ", \"dur\":1, ");
    tl_put_row(w, row);
    if (!kernel)
        put_deps(w, l);
    end_event(w);
    if (w->opt->flows)
        put_flow(w, name,
                 kernel ? "\", \"cat\":\"dispatch\", \"ph\":\"s\", \"ts\":"
                        : "\", \"cat\":\"barrier\", \"ph\":\"s\", \"ts\":",
                 l->start, row, l->id);
}

static void on_gpu(tl_worker *w, const rtg_line *l)
{
    static const rtg_span copy = {"copy", 4}, no_queue;
    bool kernel = l->shape == RTG_DISPATCH, copies = l->shape == RTG_COPY;
    rtg_span name = kernel ? l->name : copies ? copy : barrier;
    uint64_t start, stop;
    if (!rtg_number(l->start, &start) || !rtg_number(l->stop, &stop)) {
        tl_bad(w, out_of_range);
        return;
    }
    uint32_t row =
        tl_row_of(w, copies ? TL_COPY : TL_GPU, l->pid, l->agent, copies ? no_queue : l->queue);
    begin_event(w, name);
    tl_put_us(w->out, l->start);
    put_lit(w->out, ", \"dur\":");
    tl_put_us_difference(w->out, start, stop);
    put_lit(w->out, ", ");
    tl_put_row(w, row);
    if (!kernel)
        put_deps(w, l);
    end_event(w);
    if (w->opt->flows && !copies)
        put_flow(w, name,
                 kernel ? "\", \"cat\":\"dispatch\", \"ph\":\"f\", \"ts\":"
                        : "\", \"cat\":\"barrier\", \"ph\":\"f\", \"ts\":",
                 l->start, row, l->id);
}

/* Each run of blanks as one, none at the ends. */
static void put_words(tl_worker *w, rtg_span s)
{
    size_t from = 0, words = 0;
    while (from < s.n) {
        while (from < s.n && rtg_space(s.p[from]))
            from++;
        size_t to = from;
        while (to < s.n && !rtg_space(s.p[to]))
            to++;
        if (to > from && words++)
            rocl_buf_byte(w->out, ' ');
        put_text(w, (rtg_span){s.p + from, to - from});
        from = to;
    }
}

static bool is_blank(rtg_span s)
{
    for (size_t i = 0; i < s.n; i++)
        if (!rtg_space(s.p[i]))
            return false;
    return true;
}

static void put_hcc(tl_worker *w, const rtg_line *l, uint64_t start, uint64_t stop)
{
    uint32_t row = tl_row_of(w, TL_HCC, (rtg_span){0}, l->device, (rtg_span){0});
    begin_event(w, l->name);
    tl_put_us(w->out, l->start);
    put_lit(w->out, ", \"dur\":");
    tl_put_us_difference(w->out, start, stop);
    put_lit(w->out, ", ");
    tl_put_row(w, row);
    put_lit(w->out, ", \"tid\":");
    tl_put_integer(w->out, l->stream);
    put_lit(w->out, ", \"args\":{\"seqNum\":");
    tl_put_integer(w->out, l->sequence);
    if (l->shape == RTG_HCC && !is_blank(l->extra)) {
        put_lit(w->out, ", \"extra\":\"");
        put_words(w, l->extra);
        rocl_buf_byte(w->out, '"');
    }
    put_lit(w->out, "}");
    end_event(w);
}

static rocl_status on_hcc(tl_worker *w, const rtg_line *l, rocl_error *err)
{
    uint64_t device, start, stop;
    if (!rtg_number(l->device, &device) || device > TL_DEVICE_MAX ||
        !rtg_number(l->start, &start) || !rtg_number(l->stop, &stop)) {
        tl_bad(w, "a number is out of range");
        return ROCL_OK;
    }
    put_hcc(w, l, start, stop);
    bool depcnt = memmem(l->name.p, l->name.n, "depcnt", 6);
    if (!w->gaps || l->shape != RTG_HCC || depcnt)
        return ROCL_OK;
    return tl_gaps_add(w, device, start, stop, err);
}

static void on_strace(tl_worker *w, const rtg_line *l, bool cut)
{
    const tl_place place = {.line = w->line};
    rtg_span call = tl_trim(l->name), name = tl_before_parenthesis(call);
    const char *why;
    size_t repaired;
    if (l->shape == RTG_STRACE_UNFINISHED) {
        if (name.n == call.n)
            tl_say(w, "strace unfinished cannot parse function name: ", call);
        tl_put_texts(w, TL_UNFINISHED, 0, NULL,
                     (rtg_span[TL_TEXTS]){name, call, l->start, l->fraction});
    } else if (l->shape == RTG_STRACE_RESUMED) {
        /* The time of the line is that of its end, unless it was cut. */
        tl_put_texts(w, TL_RESUMED, cut, &place,
                     (rtg_span[TL_TEXTS]){l->name, l->took, l->start, l->fraction});
    } else if ((why = tl_put_strace(w->out, name, call, false, l->start, l->fraction, l->took,
                                    &repaired))) {
        tl_bad(w, why);
    } else {
        w->repaired += repaired != 0;
    }
}

/* ---- blocks --------------------------------------------------------------------------------- */

/* The line as it was read; with its line end when it had one, which the script prints as well. */
static void put_missed(tl_worker *w, rtg_span line, bool ended)
{
    w->missed_hsa = true;
    tl_close_text(w);
    tl_put_head(w->out, TL_MISSED_HSA, line.n + ended);
    rocl_buf_put(w->out, line.p, line.n);
    if (ended)
        rocl_buf_byte(w->out, '\n');
    tl_open_text(w);
}

static rocl_status on_line(tl_worker *w, const rtg_line *l, rtg_span line, bool ended, bool cut,
                           rocl_error *err)
{
    static const char *const left_out[RTG_SHAPES] = {
        [RTG_HIP_MISSED] = "a HIP line that cannot be understood",
        [RTG_HSA_MISSED] = "an HSA line that cannot be understood",
        [RTG_HCC_MISSED] = "a profile line that cannot be understood",
        [RTG_HCC_TIMES] = "a profile line whose times are not followed by an id",
        [RTG_HCC_ID] = "a profile line without times",
        [RTG_HCC_SPAN] = "a profile line without times",
    };
    w->shapes[l->shape]++;
    if (left_out[l->shape])
        tl_bad(w, left_out[l->shape]);
    switch (l->shape) {
    case RTG_HIP:
        on_hip(w, l);
        break;
    case RTG_HSA:
        on_hsa(w, l);
        break;
    case RTG_HOST_DISPATCH:
    case RTG_HOST_BARRIER:
        on_host_packet(w, l);
        break;
    case RTG_DISPATCH:
    case RTG_BARRIER:
    case RTG_COPY:
        on_gpu(w, l);
        break;
    case RTG_HCC:
    case RTG_HCC_BARE:
        return on_hcc(w, l, err);
    case RTG_STRACE_UNFINISHED:
    case RTG_STRACE_RESUMED:
    case RTG_STRACE_COMPLETE:
        on_strace(w, l, cut);
        break;
    case RTG_TEXT:
        if (w->opt->verbose)
            tl_say(w, "unparsed line: ", tl_trim(line));
        break;
    case RTG_HSA_MISSED:
        if (!w->missed_hsa)
            put_missed(w, line, ended);
        break;
    default:
        break;
    }
    return ROCL_OK;
}

/* Is the line at an offset wanted? Steps through the selection, whose lines come in order. */
static const tl_wanted *find_wanted(tl_worker *w, uint64_t offset)
{
    while (w->wanted < w->wanted_end && w->wanted->offset < offset)
        w->wanted++;
    return w->wanted < w->wanted_end && w->wanted->offset == offset ? w->wanted : NULL;
}

static rocl_status take_line(tl_worker *w, const tl_block *b, rtg_span line, uint64_t offset,
                             bool ended, rocl_error *err)
{
    rtg_line l;
    tl_digits room;
    const tl_wanted *wanted = b->selected ? find_wanted(w, offset) : NULL;
    rtg_line_parse(&l, line.p, line.n, ended);
    /* What a later line may end is needed in any case. */
    if (b->selected && !wanted && l.shape != RTG_STRACE_UNFINISHED)
        return ROCL_OK;
    if (wanted && wanted->cut)
        tl_cut_line(&l, wanted, room);
    return on_line(w, &l, line, ended, wanted && wanted->cut, err);
}

static rocl_status take_lines(tl_worker *w, const tl_block *b, const char *text, rocl_error *err)
{
    const char *p = text, *end = text + b->text;
    bool cr = b->text && memchr(p, '\r', b->text);
    rocl_status st = ROCL_OK;
    for (w->line = 0; p < end && st == ROCL_OK; w->line++) {
        bool ended;
        const char *from = p, *to = rocl_line_next(&p, end, cr, &ended);
        st = take_line(w, b, (rtg_span){from, (size_t)(to - from)},
                       b->offset + (uint64_t)(from - text), ended, err);
    }
    return st;
}

rocl_status tl_block_to_items(tl_worker *w, rocl_block *c, rocl_error *err)
{
    tl_block block;
    memcpy(&block, c->in.data, sizeof block);
    const char *text = (const char *)c->in.data + sizeof block;
    w->out = &c->out;
    w->block = block.number;
    w->missed_hsa = false;
    /* The array is behind the text, hence moved to where it may be. */
    size_t bytes = block.wanted * sizeof *w->wanted;
    tl_wanted *wanted = bytes ? malloc(bytes) : NULL;
    if (bytes && !wanted)
        return rocl_fail_memory(err);
    if (bytes)
        memcpy(wanted, text + block.text, bytes);
    w->wanted = wanted;
    w->wanted_end = wanted ? wanted + block.wanted : NULL;
    tl_begin_rows(w);
    tl_open_text(w);
    rocl_status st = take_lines(w, &block, text, err);
    tl_put_item(w, TL_LINES, &w->line, sizeof w->line);
    tl_close_text(w);
    free(wanted);
    return st;
}
