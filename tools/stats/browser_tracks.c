/* The tracks of the browser: which lines there are, what is in their cells, and moving around. */
#include "stats/browser.h"

#include <curses.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- numbers for people -----------------------------------------------------------------------
 */

void put_duration(char *to, size_t size, int64_t ns)
{
    static const char *const units[] = {" ns", " us", " ms", NULL};
    if (llabs(ns) >= 999500000)
        snprintf(to, size, "%.*f s",
                 ns < 10000000000    ? 3
                 : ns < 100000000000 ? 2
                                     : 1,
                 (double)ns / 1e9);
    else
        msg_put_scaled(to, size, (double)ns, units);
}

void put_bytes(char *to, size_t size, uint64_t bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double n = (double)bytes;
    unsigned u = 0;
    for (; n >= 1023.5; u++)
        n /= 1024;
    snprintf(to, size, "%.*f %s", !u || n >= 99.95 ? 0 : n >= 9.995 ? 1 : 2, n, units[u]);
}

void put_time(char *to, size_t size, int64_t ns, int64_t unit)
{
    int digits = 0;
    for (int64_t step = 1000000000; step > unit && digits < 9; step /= 10)
        digits++;
    snprintf(to, size, "%.*f s", digits, (double)ns / 1e9);
}

void put_event_id(char *to, size_t size, const rocl_picture_slice *s, const rocl_trace *t)
{
    /* If there is one process, any beginning of its GUID will do: the one that reports have. */
    const int guid = rocl_trace_captures(t) == 1 ? 8 : 64;
    snprintf(to, size, "%s:%.*s:%" PRIu64, rocl_kind_name(s->kind), guid,
             rocl_text(t, s->capture->guid, NULL), s->id);
}

/* ---- lines ----------------------------------------------------------------------------------- */

/* A track on its way to its place among those with the same parent. */
typedef struct sorted_track {
    uint32_t parent, track;
    uint64_t order;
} sorted_track;

static int compare_by_parent_and_order(const void *a, const void *b)
{
    const sorted_track *x = a, *y = b;
    if (x->parent != y->parent)
        return x->parent < y->parent ? -1 : 1;
    if (x->order != y->order)
        return x->order < y->order ? -1 : 1;
    return (x->track > y->track) - (x->track < y->track);
}

/* Is there anything in the track or below it? */
static bool has_rows(const browser *b, uint32_t track)
{
    const rocl_picture_track t = rocl_picture_track_at(b->picture, track);
    if (t.kind == ROCL_PICTURE_VALUES && !b->values && !b->only_values)
        return false;
    bool any = t.rows > 0 || (!t.loaded && t.kind >= ROCL_PICTURE_WORK);
    for (uint32_t i = b->first_child[track]; i < b->first_child[track + 1] && !any; i++)
        any = has_rows(b, b->children[i]);
    return any;
}

static void add_line(browser *b, browser_line line)
{
    if (b->line_count == b->line_cap) {
        b->line_cap = b->line_cap ? 2 * b->line_cap : 64;
        b->lines = must_have(reallocarray(b->lines, b->line_cap, sizeof *b->lines));
    }
    b->lines[b->line_count++] = line;
}

static void add_lines(browser *b, uint32_t track, unsigned indent)
{
    const rocl_picture_track t = rocl_picture_track_at(b->picture, track);
    const bool is_group = b->first_child[track] < b->first_child[track + 1];
    const bool closed = b->collapsed[track];
    if (!has_rows(b, track))
        return;
    if (is_group || closed || t.rows == 0) {
        add_line(b, (browser_line){track, t.kind == ROCL_PICTURE_VALUES ? 0 : ROCL_NONE,
                                   (uint16_t)indent, true});
        for (uint32_t i = b->first_child[track]; !closed && i < b->first_child[track + 1]; i++)
            add_lines(b, b->children[i], indent + 1);
        return;
    }
    for (uint32_t r = 0; r < t.rows; r++)
        add_line(b, (browser_line){track, r, (uint16_t)indent, r == 0});
}

/* The children of t are children[first_child[t]] to children[first_child[t + 1]], in their order;
 * the machines stand behind all of them. */
static void sort_tracks(browser *b)
{
    const uint32_t n = b->state.tracks;
    sorted_track *all = must_have(calloc(n + 1, sizeof *all));
    b->children = must_have(reallocarray(b->children, n + 1, sizeof *b->children));
    b->first_child = must_have(reallocarray(b->first_child, n + 2, sizeof *b->first_child));
    b->collapsed = must_have(reallocarray(b->collapsed, n + 1, sizeof *b->collapsed));
    for (uint32_t i = 0; i < n; i++) {
        const rocl_picture_track t = rocl_picture_track_at(b->picture, i);
        all[i] = (sorted_track){t.parent, i, t.order};
        /* GPU work has further rows for what overlaps: one line shows the fullest of them. Of many
         * processes each begins as a line. */
        if (i >= b->known)
            b->collapsed[i] = t.kind == ROCL_PICTURE_WORK ||
                              (t.kind == ROCL_PICTURE_PROCESS && rocl_trace_captures(b->trace) > 8);
    }
    b->known = n;
    qsort(all, n, sizeof *all, compare_by_parent_and_order);
    uint32_t at = 0;
    for (uint32_t i = 0; i < n; i++) {
        b->first_child[i] = at;
        for (; at < n && all[at].parent == i; at++)
            b->children[at] = all[at].track;
    }
    b->first_child[n] = at;
    for (; at < n; at++)
        b->children[at] = all[at].track;
    free(all);
}

/* The line of a track and row, or of what the track is collapsed into. */
static size_t find_line(const browser *b, uint32_t track, uint32_t row)
{
    while (track != ROCL_NONE) {
        for (size_t i = 0; i < b->line_count; i++)
            if (b->lines[i].track == track &&
                (b->lines[i].row == row || b->lines[i].row == ROCL_NONE || row == ROCL_NONE))
                return i;
        track = rocl_picture_track_at(b->picture, track).parent;
        row = ROCL_NONE;
    }
    return 0;
}

static void make_lines(browser *b)
{
    const browser_line before = b->at < b->line_count
                                    ? b->lines[b->at]
                                    : (browser_line){.track = ROCL_NONE, .row = ROCL_NONE};
    const uint32_t n = b->state.tracks;
    const uint32_t first_machine = b->first_child[n];
    b->line_count = 0;
    b->only_values = b->state.loaded && b->state.slices + b->state.instants == 0;
    for (uint32_t i = first_machine; i < n; i++) {
        const uint32_t machine = b->children[i];
        if (n - first_machine > 1)
            add_lines(b, machine, 0);
        else /* it is in the title */
            for (uint32_t k = b->first_child[machine]; k < b->first_child[machine + 1]; k++)
                add_lines(b, b->children[k], 0);
    }
    b->at = before.track == ROCL_NONE ? 0 : find_line(b, before.track, before.row);
}

void tracks_update(browser *b)
{
    b->state = rocl_picture_look(b->picture);
    if (b->state.generation != b->generation) {
        b->generation = b->state.generation;
        sort_tracks(b);
        make_lines(b);
    }
    if (b->whole && b->state.first <= b->state.last) {
        b->from = b->state.first;
        b->to = b->state.last > b->state.first ? b->state.last : b->state.first + 1;
    }
}

void tracks_forget(browser *b)
{
    free(b->lines);
    free(b->children);
    free(b->first_child);
    free(b->collapsed);
    free(b->cells);
}

/* ---- drawing --------------------------------------------------------------------------------- */

/* Columns of labels; those of cells begin one behind. */
static int label_width(void)
{
    const int width = screen_width() / 3;
    return width > 30 ? 30 : width < 10 ? 10 : width;
}

static int cells_width(void)
{
    return screen_width() - label_width() - 1;
}

/* Gives a name one colour on every screen. */
static unsigned colour_of(const browser *b, rocl_picture_ref ref)
{
    rocl_picture_slice s;
    size_t n;
    if (!rocl_picture_get(b->picture, ref, &s) || s.is_value)
        return 0;
    const char *text = rocl_text(b->trace, s.name, &n);
    uint32_t hash = 2166136261;
    for (size_t i = 0; i < n; i++)
        hash = (hash ^ (unsigned char)text[i]) * 16777619;
    return (hash ^ hash >> 15) % screen_colours();
}

static bool same_slice(rocl_picture_ref a, rocl_picture_ref b)
{
    return a.track == b.track && a.row == b.row && a.index == b.index && a.index != ROCL_NONE;
}

static void put_level(int y, int x, double share)
{
    int eighths = (int)ceil(share * 8);
    screen_put_level(y, x, eighths < 1 ? 1u : eighths > 8 ? 8u : (unsigned)eighths);
}

static void draw_values(const browser *b, const browser_line *line, int y, int x0, int n)
{
    const double most = rocl_picture_peak(b->picture, line->track, line->row);
    screen_style_of(STYLE_DENSITY, 0);
    for (int i = 0; i < n; i++) {
        const rocl_cell *c = &b->cells[i];
        if (c->count == 0)
            continue;
        if (same_slice(c->longest, b->ref))
            screen_style_of(STYLE_SELECTED, 0);
        if (c->value > 0 && most > 0)
            put_level(y, x0 + i, c->value / most);
        else if (same_slice(c->longest, b->ref))
            screen_put(y, x0 + i, 1, "_");
        if (same_slice(c->longest, b->ref))
            screen_style_of(STYLE_DENSITY, 0);
    }
}

/* Slices as long as some cells with their names, shorter ones as marks as high as cells are full.
 */
static void draw_slices(const browser *b, int y, int x0, int n)
{
    const double cell = ((double)b->to - (double)b->from) / (double)n;
    bool beside = false; /* the cell before is full */
    unsigned last_colour = 0;
    for (int i = 0; i < n;) {
        const rocl_cell *c = &b->cells[i];
        if (c->count == 0) {
            i++;
            beside = false;
            continue;
        }
        const bool known = c->longest.index != ROCL_NONE;
        const unsigned colour = known ? colour_of(b, c->longest) : 0;
        const bool selected = known && same_slice(c->longest, b->ref);
        const double share = (double)c->busy / cell;
        int end = i;
        while (known && end < n && same_slice(b->cells[end].longest, c->longest) &&
               (b->cells[end].count == 1 || b->cells[end].busy > 0) &&
               (double)b->cells[end].busy >= cell / 2)
            end++;
        rocl_picture_slice s;
        if (end - i < 2 || !rocl_picture_get(b->picture, c->longest, &s)) {
            screen_style_of(selected ? STYLE_SELECTED : STYLE_DENSITY, colour);
            put_level(y, x0 + i, share);
            i++;
            beside = false;
            continue;
        }
        screen_style_of(selected ? STYLE_SELECTED : STYLE_SLICE, colour);
        const char *name = rocl_text(b->trace, s.name, NULL);
        const bool match = b->searching && rocl_picture_matches(b->picture, s.name);
        const bool edge = !match && beside && (last_colour == colour || screen_colours() == 1);
        screen_put(y, x0 + i, end - i, match ? "/" : "");
        if (edge)
            screen_put_edge(y, x0 + i);
        const int before = edge || match;
        if (end - i - before >= 3)
            screen_put(y, x0 + i + before, end - i - before, *name ? name : "(no name)");
        beside = true;
        last_colour = colour;
        i = end;
    }
}

/* The selected slice, which a longer one may hide where several rows are drawn as one. */
static void draw_selected(const browser *b, int y, int x0, int n)
{
    const double cell = ((double)b->to - (double)b->from) / (double)n;
    const double first = ((double)b->slice.start - (double)b->from) / cell;
    const double last = ((double)b->slice.end - (double)b->from) / cell;
    if (last < 0 || first >= n)
        return;
    const int from = first < 0 ? 0 : (int)first, to = last > n ? n : (int)ceil(last);
    const char *name = rocl_text(b->trace, b->slice.name, NULL);
    screen_style_of(STYLE_SELECTED, 0);
    if (to - from < 2)
        put_level(y, x0 + from, last - first);
    else
        screen_put(y, x0 + from, to - from, to - from >= 3 ? name : "");
}

static void draw_label(const browser *b, const browser_line *line, int y, bool selected)
{
    const rocl_picture_track t = rocl_picture_track_at(b->picture, line->track);
    const bool group = b->first_child[line->track] < b->first_child[line->track + 1];
    const bool can_open = group || t.rows > 1;
    const bool closed = b->collapsed[line->track];
    const char *mark = !can_open              ? " "
                       : !screen_is_unicode() ? (closed ? "+" : "-")
                       : closed               ? "▸"
                                              : "▾";
    int indent = line->indent < 5 ? line->indent : 5;
    const int width = label_width();
    screen_style_of(selected ? STYLE_REVERSE : group ? STYLE_BOLD : STYLE_PLAIN, 0);
    screen_put(y, 0, width, "");
    if (!line->first) {
        screen_put(y, 0, width, "");
        return;
    }
    screen_put(y, indent, width - indent, mark);
    char rows[24] = "";
    if (closed && !group && t.rows > 1)
        snprintf(rows, sizeof rows, " x%" PRIu32, t.rows);
    const int more = (int)strlen(rows);
    const int used = screen_put(y, indent + 2, width - indent - 2 - more, t.label);
    if (more)
        screen_put(y, indent + 2 + used, width - indent - 2 - used, rows);
}

void tracks_draw(browser *b, int top, int height)
{
    const int n = cells_width(), x0 = label_width() + 1;
    if (n > 0 && (size_t)n > b->cell_cap) {
        b->cell_cap = (size_t)n;
        b->cells = must_have(reallocarray(b->cells, b->cell_cap, sizeof *b->cells));
    }
    if (b->at >= b->line_count)
        b->at = b->line_count ? b->line_count - 1 : 0;
    if (b->at < b->top)
        b->top = b->at;
    if (b->at >= b->top + (size_t)height)
        b->top = b->at - (size_t)height + 1;
    if (b->top + (size_t)height > b->line_count)
        b->top = b->line_count > (size_t)height ? b->line_count - (size_t)height : 0;
    const size_t selected =
        b->ref.index != ROCL_NONE ? find_line(b, b->ref.track, b->ref.row) : b->line_count;
    for (int i = 0; i < height && b->top + (size_t)i < b->line_count; i++) {
        const browser_line *line = &b->lines[b->top + (size_t)i];
        draw_label(b, line, top + i, b->top + (size_t)i == b->at);
        screen_style_of(STYLE_DIM, 0);
        screen_put(top + i, x0 - 1, 1, screen_is_unicode() ? "│" : "|");
        if (b->from >= b->to)
            continue;
        rocl_picture_cells(b->picture, line->track, line->row, b->from, b->to, (size_t)n, b->cells);
        if (rocl_picture_track_at(b->picture, line->track).kind == ROCL_PICTURE_VALUES)
            draw_values(b, line, top + i, x0, n);
        else if (line->row == ROCL_NONE &&
                 b->first_child[line->track] < b->first_child[line->track + 1] &&
                 !b->collapsed[line->track])
            continue; /* its lines follow */
        else
            draw_slices(b, top + i, x0, n);
        if (b->ref.index != ROCL_NONE && !b->slice.is_value && b->top + (size_t)i == selected)
            draw_selected(b, top + i, x0, n);
    }
    if (!b->line_count) {
        screen_style_of(STYLE_PLAIN, 0);
        screen_put(top, 0, screen_width(), b->state.loaded ? "  There are no events." : "");
    }
    screen_style_of(STYLE_PLAIN, 0);
}

/* 1, 2 or 5 times a power of ten, at least. */
static int64_t round_step(double least)
{
    int64_t step = 1;
    while ((double)step < least && step < INT64_MAX / 10) {
        if ((double)step * 2 >= least)
            return step * 2;
        if ((double)step * 5 >= least)
            return step * 5;
        step *= 10;
    }
    return step;
}

void tracks_draw_ruler(browser *b, int y)
{
    const int n = cells_width(), x0 = label_width() + 1;
    char text[64];
    screen_style_of(STYLE_DIM, 0);
    screen_put(y, 0, screen_width(), "");
    if (b->from >= b->to)
        return;
    const double span = (double)b->to - (double)b->from;
    put_duration(text, sizeof text, b->to - b->from);
    screen_printf(y, 0, label_width(), " %s in view", text);
    const int64_t step = round_step(span / (double)n * 13);
    const int64_t begin = b->from - b->state.first, end = b->to - b->state.first;
    int free_from = 0;
    for (int64_t t = begin / step * step; t <= end; t += step) {
        const int x = (int)(((double)t - (double)begin) / span * n);
        put_time(text, sizeof text, t, step);
        if (t >= begin && x >= free_from && x + (int)strlen(text) < n) {
            screen_printf(y, x0 + x, n - x, "%s%s", screen_is_unicode() ? "▏" : "|", text);
            free_from = x + (int)strlen(text) + 3;
        }
        if (t > INT64_MAX - step)
            break;
    }
}

/* ---- the slice that is selected ----------------------------------------------------------------
 */

static const char *agent_label(const browser *b, const rocl_picture_slice *s, uint32_t agent)
{
    return agent < s->capture->agent_count
               ? rocl_text(b->trace, s->capture->agents[agent].label, NULL)
               : "?";
}

/* What only events of some kinds have. */
static void put_kind_details(const browser *b, const rocl_picture_slice *s, char *to, size_t size)
{
    char bytes[32], rate[32];
    size_t n = 0;
    to[0] = '\0';
    if (s->kind == ROCL_DISPATCH && s->grid[0])
        snprintf(to, size,
                 "grid %ux%ux%u, workgroup %ux%ux%u, LDS %" PRId64 " B, scratch %" PRId64 " B",
                 s->grid[0], s->grid[1], s->grid[2], s->workgroup[0], s->workgroup[1],
                 s->workgroup[2], s->group_segment, s->private_segment);
    if (s->bytes) {
        put_bytes(bytes, sizeof bytes, s->bytes);
        n = (size_t)snprintf(to, size, "%s", bytes);
    }
    if (s->kind == ROCL_COPY) {
        const char *from = agent_label(b, s, s->to_agent ? s->other_agent : s->agent);
        const char *end = agent_label(b, s, s->to_agent ? s->agent : s->other_agent);
        n += (size_t)snprintf(to + n, size - n, "%s%s -> %s", n ? ", " : "", from, end);
        if (s->end > s->start && n < size) {
            put_bytes(rate, sizeof rate,
                      (uint64_t)((double)s->bytes * 1e9 / (double)(s->end - s->start)));
            snprintf(to + n, size - n, ", %s/s", rate);
        }
    }
    if (s->category != ROCL_NONE)
        snprintf(to, size, "%s", rocl_text(b->trace, s->category, NULL));
}

void tracks_draw_selected(const browser *b, int y, int n)
{
    const int width = screen_width();
    char start[48], length[48], details[512], id[160];
    screen_style_of(STYLE_PLAIN, 0);
    for (int i = 0; i < n; i++)
        screen_put(y + i, 0, width, "");
    if (b->ref.index == ROCL_NONE) {
        if (n > 0)
            screen_put(y, 1, width - 1,
                       b->state.loaded ? "No slice is selected: the arrow keys select one." : "");
        return;
    }
    const rocl_picture_slice *s = &b->slice;
    const rocl_picture_track t = rocl_picture_track_at(b->picture, b->ref.track);
    put_time(start, sizeof start, s->start - b->state.first, 1);
    put_duration(length, sizeof length, s->end - s->start);
    if (s->is_value) {
        screen_style_of(STYLE_BOLD, 0);
        screen_printf(y, 1, width - 1, "%s: %.15g", t.label, s->value);
        screen_style_of(STYLE_PLAIN, 0);
        if (n > 1)
            screen_printf(y + 1, 1, width - 1, "from %s, for %s", start, length);
        return;
    }
    const char *name = rocl_text(b->trace, s->name, NULL);
    screen_style_of(STYLE_BOLD, 0);
    screen_put(y, 1, width - 1, *name ? name : "(no name)");
    screen_style_of(STYLE_PLAIN, 0);
    put_event_id(id, sizeof id, s, b->trace);
    put_kind_details(b, s, details, sizeof details);
    if (n > 1)
        screen_printf(y + 1, 1, width - 1, "%s  %s  at %s  on %s%s%s", rocl_kind_name(s->kind),
                      length, start, t.label, *details ? "  " : "", details);
    const bool call = s->kind == ROCL_REGION || s->kind == ROCL_INSTANT;
    if (n > 2)
        screen_printf(y + 2, 1, width - 1, "Enter: all that is known%s  %s",
                      !s->stack_id ? ""
                      : call       ? "  x: the work it launched"
                                   : "  x: the call that launched it",
                      id);
}

/* ---- moving ---------------------------------------------------------------------------------- */

/* The shortest span that is shown: some cells a nanosecond. */
static int64_t least_span(void)
{
    return cells_width() > 8 ? cells_width() / 4 : 2;
}

/* Not far beyond the ends of the trace. */
static void move_view(browser *b, int64_t by)
{
    const int64_t span = b->to - b->from, all = b->state.last - b->state.first;
    const int64_t margin = all / 20 + 1;
    int64_t from = b->from + by;
    if (from + span > b->state.last + margin)
        from = b->state.last + margin - span;
    if (from < b->state.first - margin)
        from = b->state.first - margin;
    b->whole = false;
    b->from = from;
    b->to = from + span;
}

static bool is_in_view(const browser *b, const rocl_picture_slice *s)
{
    return s->end >= b->from && s->start < b->to;
}

/* The middle of the selected slice, as far as it is in view; else of the view. */
static int64_t selected_time(const browser *b)
{
    if (b->ref.index == ROCL_NONE || !is_in_view(b, &b->slice))
        return b->from + (b->to - b->from) / 2;
    const int64_t a = b->slice.start > b->from ? b->slice.start : b->from;
    const int64_t z = b->slice.end < b->to ? b->slice.end : b->to;
    return a + (z - a) / 2;
}

static void zoom_view(browser *b, double factor)
{
    const int64_t span = b->to - b->from, middle = selected_time(b);
    const int64_t all = b->state.last - b->state.first;
    int64_t wanted = (int64_t)((double)span * factor);
    wanted = wanted < least_span() ? least_span() : wanted;
    if (wanted > all + all / 10) {
        b->whole = true;
        tracks_update(b);
        return;
    }
    /* The middle stays where it is. */
    const double place = (double)(middle - b->from) / (double)span;
    b->whole = false;
    b->from = middle - (int64_t)((double)wanted * place);
    b->to = b->from + wanted;
    move_view(b, 0);
}

static void select_slice(browser *b, rocl_picture_ref ref)
{
    if (rocl_picture_get(b->picture, ref, &b->slice))
        b->ref = ref;
}

static void keep_place(browser *b)
{
    if (b->back_count == BACK_MAX) {
        memmove(b->back, b->back + 1, (BACK_MAX - 1) * sizeof *b->back);
        b->back_count--;
    }
    b->back[b->back_count++] = (browser_place){b->ref, b->from, b->to};
}

void tracks_show_slice(browser *b, rocl_picture_ref ref, bool jump)
{
    rocl_picture_slice s;
    if (!rocl_picture_get(b->picture, ref, &s))
        return;
    if (jump)
        keep_place(b);
    /* What it is collapsed in is opened. */
    bool opened = false;
    for (uint32_t t = rocl_picture_track_at(b->picture, ref.track).parent; t != ROCL_NONE;
         t = rocl_picture_track_at(b->picture, t).parent) {
        opened |= b->collapsed[t];
        b->collapsed[t] = false;
    }
    if (opened)
        make_lines(b);
    select_slice(b, ref);
    b->at = find_line(b, ref.track, ref.row);
    const int64_t span = b->to - b->from;
    if (s.start >= b->from && s.end <= b->to)
        return;
    if (s.end - s.start > span) { /* its begin can be seen */
        if (s.start < b->from || s.start >= b->to)
            move_view(b, s.start - b->from - span / 4);
    } else {
        move_view(b, s.start + (s.end - s.start) / 2 - b->from - span / 2);
    }
}

/* The slice of the line that is at a time, or else the nearest before or after it. */
static void select_at(browser *b, int64_t time)
{
    const browser_line *line = &b->lines[b->at];
    rocl_picture_ref before = {.row = ROCL_NONE}, after = before;
    rocl_picture_slice s, z;
    const bool any = rocl_picture_step(b->picture, line->track, line->row, time, true, &before) &&
                     rocl_picture_get(b->picture, before, &s);
    const bool later = rocl_picture_step(b->picture, line->track, line->row, time, false, &after) &&
                       rocl_picture_get(b->picture, after, &z);
    b->ref.index = ROCL_NONE;
    if (any && (!later || s.end >= time || time - s.end <= z.start - time))
        select_slice(b, before);
    else if (later)
        select_slice(b, after);
    if (b->ref.index != ROCL_NONE && !is_in_view(b, &b->slice))
        b->ref.index = ROCL_NONE; /* moving up and down does not move the view */
}

static void move_line(browser *b, int64_t by)
{
    const int64_t time = selected_time(b);
    const int64_t last = (int64_t)b->line_count - 1;
    int64_t at = (int64_t)b->at + by;
    at = at > last ? last : at;
    at = at < 0 ? 0 : at;
    if ((size_t)at == b->at || !b->line_count)
        return;
    b->at = (size_t)at;
    select_at(b, time);
}

/* Moves to the slice before or after the selected one in its line. */
static void step_slice(browser *b, bool backward)
{
    if (!b->line_count)
        return;
    const browser_line *line = &b->lines[b->at];
    rocl_picture_ref ref = {.row = ROCL_NONE};
    int64_t time = backward ? b->to : b->from;
    if (b->ref.index != ROCL_NONE && find_line(b, b->ref.track, b->ref.row) == b->at) {
        ref = b->ref;
        time = b->slice.start;
    }
    if (rocl_picture_step(b->picture, line->track, line->row, time, backward, &ref))
        tracks_show_slice(b, ref, false);
    else if (!b->state.loaded)
        browser_say(b, "Slices can be selected when all is read");
    else
        browser_say(b, backward ? "This is the first one" : "This is the last one");
}

static void toggle_line(browser *b)
{
    if (!b->line_count)
        return;
    const browser_line line = b->lines[b->at];
    const rocl_picture_track t = rocl_picture_track_at(b->picture, line.track);
    const bool group = b->first_child[line.track] < b->first_child[line.track + 1];
    if (group || t.rows > 1)
        b->collapsed[line.track] ^= true;
    make_lines(b);
}

static void collapse_all(browser *b, bool on)
{
    for (uint32_t i = 0; i < b->state.tracks; i++) {
        const rocl_picture_track t = rocl_picture_track_at(b->picture, i);
        b->collapsed[i] = on && t.kind != ROCL_PICTURE_MACHINE &&
                          (t.kind != ROCL_PICTURE_PROCESS || rocl_trace_captures(b->trace) > 1);
    }
    make_lines(b);
}

static void follow_link(browser *b, bool sibling)
{
    rocl_picture_ref other;
    if (b->ref.index == ROCL_NONE)
        browser_say(b, "No slice is selected");
    else if (sibling ? rocl_picture_next_linked(b->picture, b->ref, &other)
                     : rocl_picture_linked(b->picture, b->ref, &other))
        tracks_show_slice(b, other, true);
    else
        browser_say(b, sibling ? "Its call launched nothing behind this"
                               : "Nothing is known of a launch of it, or by it");
}

static void zoom_to_slice(browser *b)
{
    if (b->ref.index == ROCL_NONE)
        return;
    const int64_t length = b->slice.end - b->slice.start;
    const int64_t around = length / 4 > least_span() ? length / 4 : least_span();
    b->from = b->slice.start - around;
    b->to = b->slice.end + around;
    move_view(b, 0);
}

static void go_back(browser *b)
{
    if (!b->back_count) {
        browser_say(b, "There is no way back");
        return;
    }
    const browser_place *place = &b->back[--b->back_count];
    b->from = place->from;
    b->to = place->to;
    b->whole = false;
    b->ref.index = ROCL_NONE;
    if (place->ref.index != ROCL_NONE)
        tracks_show_slice(b, place->ref, false);
}

bool tracks_key(browser *b, int key)
{
    const int page = screen_height() > 8 ? screen_height() - 7 : 1;
    const int64_t span = b->to - b->from;
    switch (key) {
    case KEY_UP:
        move_line(b, -1);
        break;
    case KEY_DOWN:
        move_line(b, 1);
        break;
    case KEY_PPAGE:
        move_line(b, -page);
        break;
    case KEY_NPAGE:
        move_line(b, page);
        break;
    case 'g':
        move_line(b, -(int64_t)b->line_count);
        break;
    case 'G':
        move_line(b, (int64_t)b->line_count);
        break;
    case KEY_LEFT:
        step_slice(b, true);
        break;
    case KEY_RIGHT:
        step_slice(b, false);
        break;
    case KEY_SLEFT:
    case 'H':
    case 'a':
        move_view(b, -span / 4);
        break;
    case KEY_SRIGHT:
    case 'L':
    case 'd':
        move_view(b, span / 4);
        break;
    case KEY_HOME:
    case '^':
        move_view(b, b->state.first - b->from);
        break;
    case KEY_END:
    case '$':
        move_view(b, b->state.last - b->to);
        break;
    case '+':
    case '=':
    case 'w':
        zoom_view(b, 0.5);
        break;
    case '-':
    case 's':
        zoom_view(b, 2);
        break;
    case '0':
        b->whole = true;
        tracks_update(b);
        break;
    case 'f':
    case 'z':
        zoom_to_slice(b);
        break;
    case ' ':
        toggle_line(b);
        break;
    case KEY_ENTER:
        if (b->ref.index != ROCL_NONE && !b->slice.is_value)
            text_open_details(b);
        else
            toggle_line(b);
        break;
    case 'c':
        collapse_all(b, true);
        break;
    case 'e':
        collapse_all(b, false);
        break;
    case 'v':
        b->values = !b->values;
        make_lines(b);
        browser_say(b, b->values ? "Counters are shown" : "Counters are not shown");
        break;
    case 'x':
        follow_link(b, false);
        break;
    case 'X':
        follow_link(b, true);
        break;
    case KEY_BACKSPACE:
        go_back(b);
        break;
    default:
        return false;
    }
    return true;
}
