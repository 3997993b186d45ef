/* What the browser shows in place of the tracks: sums by name in sorted tables, and texts that are
 * scrolled. */
#include "stats/browser.h"

#include <curses.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- tables ---------------------------------------------------------------------------------- */

typedef enum table_column {
    COLUMN_NAME,
    COLUMN_CALLS,
    COLUMN_TOTAL,
    COLUMN_SHARE,
    COLUMN_AVERAGE,
    COLUMN_SHORTEST,
    COLUMN_LONGEST,
    COLUMN_BYTES,
    COLUMNS
} table_column;

/* In the order in which they give way on a narrow screen; widths with the blanks before. */
static const struct {
    const char *title;
    int width;
} columns[COLUMNS] = {
    [COLUMN_NAME] = {"Name", 0},        [COLUMN_CALLS] = {"Calls", 11},
    [COLUMN_TOTAL] = {"Total", 10},     [COLUMN_SHARE] = {"%", 7},
    [COLUMN_AVERAGE] = {"Average", 10}, [COLUMN_SHORTEST] = {"Shortest", 10},
    [COLUMN_LONGEST] = {"Longest", 10}, [COLUMN_BYTES] = {"Bytes", 11},
};

static const struct {
    const char *title;
    uint32_t kinds;
} pages[PAGES] = {
    [PAGE_KERNELS] = {"Kernels", ROCL_BIT(ROCL_DISPATCH)},
    [PAGE_COPIES] = {"Copies", ROCL_BIT(ROCL_COPY)},
    [PAGE_CALLS] = {"Calls", ROCL_BIT(ROCL_REGION)},
    [PAGE_MARKERS] = {"Markers", ROCL_BIT(ROCL_MARKER) | ROCL_BIT(ROCL_INSTANT)},
};

struct browser_table {
    rocl_picture_sum *rows;
    size_t count, top, at;
    table_column sort;
    bool ascending;
    int64_t total;
    uint64_t calls;
    uint64_t generation; /* of the picture that it is of */
    int64_t from, to;
};

typedef struct row_order {
    const browser *b;
    table_column sort;
    bool ascending;
} row_order;

static double average_of(const rocl_picture_sum *s)
{
    return (double)s->total / (double)s->count;
}

static int compare_rows(const void *a, const void *b, void *ctx)
{
    const rocl_picture_sum *x = a, *y = b;
    const row_order *o = ctx;
    const int names =
        strcmp(rocl_text(o->b->trace, x->name, NULL), rocl_text(o->b->trace, y->name, NULL));
    int order = 0;
#define COMPARE(p, q) (((p) > (q)) - ((p) < (q)))
    switch (o->sort) {
    case COLUMN_NAME:
        order = -names;
        break;
    case COLUMN_CALLS:
        order = COMPARE(x->count, y->count);
        break;
    case COLUMN_AVERAGE:
        order = COMPARE(average_of(x), average_of(y));
        break;
    case COLUMN_SHORTEST:
        order = COMPARE(x->shortest, y->shortest);
        break;
    case COLUMN_LONGEST:
        order = COMPARE(x->longest, y->longest);
        break;
    case COLUMN_BYTES:
        order = COMPARE(x->bytes, y->bytes);
        break;
    default:
        order = COMPARE(x->total, y->total);
    }
    if (order)
        return o->ascending ? order : -order;
    return names ? names : COMPARE(x->name, y->name);
}

static uint32_t selected_name(const struct browser_table *t)
{
    return t->at < t->count ? t->rows[t->at].name : ROCL_NONE;
}

/* The row of this name is the one selected, if it is there, else the first. */
static void sort_table(browser *b, uint32_t selected)
{
    struct browser_table *t = b->table;
    row_order o = {b, t->sort, t->ascending};
    if (t->count)
        qsort_r(t->rows, t->count, sizeof *t->rows, compare_rows, &o);
    t->at = 0;
    for (size_t i = 0; i < t->count && selected != ROCL_NONE; i++)
        if (t->rows[i].name == selected)
            t->at = i;
}

void table_update(browser *b)
{
    struct browser_table *t = b->table;
    if (!t || (t->generation == b->state.generation && t->from == b->from && t->to == b->to))
        return;
    const uint32_t selected = selected_name(t);
    free(t->rows);
    t->rows = NULL;
    t->count = 0;
    t->generation = b->state.generation;
    t->from = b->from;
    t->to = b->to;
    if (rocl_picture_sums(b->picture, pages[b->page].kinds, b->in_view ? b->from : INT64_MIN,
                          b->in_view ? b->to : INT64_MAX, &t->rows, &t->count, NULL) != ROCL_OK)
        browser_say(b, "out of memory");
    t->total = 0;
    t->calls = 0;
    for (size_t i = 0; i < t->count; i++) {
        t->total += t->rows[i].total;
        t->calls += t->rows[i].count;
    }
    sort_table(b, selected);
}

void table_forget(browser *b)
{
    if (b->table)
        free(b->table->rows);
    free(b->table);
    b->table = NULL;
}

void table_open(browser *b, browser_page page)
{
    const table_column sort = b->table ? b->table->sort : COLUMN_TOTAL;
    table_forget(b);
    b->page = page;
    if (page == PAGE_TRACKS)
        return;
    b->table = must_have(calloc(1, sizeof *b->table));
    b->table->sort = sort == COLUMN_BYTES && page != PAGE_COPIES ? COLUMN_TOTAL : sort;
    b->table->generation = UINT64_MAX;
    table_update(b);
}

static void put_cell(const struct browser_table *t, const rocl_picture_sum *s, table_column c,
                     char *to, size_t size)
{
    switch (c) {
    case COLUMN_CALLS:
        snprintf(to, size, "%" PRIu64, s->count);
        break;
    case COLUMN_SHARE:
        snprintf(to, size, "%.1f", t->total ? 100.0 * (double)s->total / (double)t->total : 0.0);
        break;
    case COLUMN_BYTES:
        put_bytes(to, size, s->bytes);
        break;
    case COLUMN_AVERAGE:
        put_duration(to, size, (int64_t)(average_of(s) + 0.5));
        break;
    default:
        put_duration(to, size,
                     c == COLUMN_TOTAL      ? s->total
                     : c == COLUMN_SHORTEST ? s->shortest
                                            : s->longest);
    }
}

static bool has_column(const browser *b, table_column c)
{
    return c != COLUMN_BYTES || b->page == PAGE_COPIES;
}

/* Columns shown besides the name: as many as leave it some space, and always the sorted one. */
static int fit_columns(const browser *b, bool shown[COLUMNS])
{
    static const table_column wanted[] = {COLUMN_TOTAL,   COLUMN_CALLS, COLUMN_AVERAGE,
                                          COLUMN_BYTES,   COLUMN_SHARE, COLUMN_LONGEST,
                                          COLUMN_SHORTEST};
    int left = screen_width() - 1, least = screen_width() * 3 / 8; /* of the name */
    least = least < 20 ? 20 : least > 32 ? 32 : least;
    memset(shown, 0, COLUMNS * sizeof *shown);
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        if (!has_column(b, wanted[i]) ||
            left - columns[wanted[i]].width < (b->table->sort == wanted[i] ? 10 : least))
            continue;
        shown[wanted[i]] = true;
        left -= columns[wanted[i]].width;
    }
    return left;
}

void table_draw(browser *b, int top, int height)
{
    struct browser_table *t = b->table;
    bool shown[COLUMNS];
    const int name = fit_columns(b, shown), width = screen_width();
    const int rows = height - 2;
    char text[64], total[32];
    put_duration(total, sizeof total, t->total);
    screen_style_of(STYLE_DIM, 0);
    screen_printf(top, 0, width, " %s %s: %zu names, %" PRIu64 " calls, %s%s", pages[b->page].title,
                  b->in_view ? "that begin in view" : "of the whole trace", t->count, t->calls,
                  total, b->state.loaded ? "" : " (so far)");
    screen_style_of(STYLE_BOLD, 0);
    const char *arrow = screen_is_unicode() ? (t->ascending ? "▲" : "▼") : t->ascending ? "^" : "v";
    screen_put(top + 1, 0, width, "");
    screen_printf(top + 1, 1, name - 1, "Name%s", t->sort == COLUMN_NAME ? arrow : "");
    int x = name;
    for (int c = COLUMN_CALLS; c < COLUMNS; c++) {
        if (!shown[c])
            continue;
        const bool sorted = (int)t->sort == c;
        const int blanks = columns[c].width - (int)strlen(columns[c].title) - sorted;
        screen_style_of(sorted ? STYLE_REVERSE : STYLE_BOLD, 0);
        screen_printf(top + 1, x + blanks, columns[c].width - blanks, "%s%s", columns[c].title,
                      sorted ? arrow : "");
        x += columns[c].width;
    }
    if (t->at >= t->count)
        t->at = t->count ? t->count - 1 : 0;
    if (t->at < t->top)
        t->top = t->at;
    if (rows > 0 && t->at >= t->top + (size_t)rows)
        t->top = t->at - (size_t)rows + 1;
    for (int i = 0; i < rows && t->top + (size_t)i < t->count; i++) {
        const rocl_picture_sum *s = &t->rows[t->top + (size_t)i];
        const char *own = rocl_text(b->trace, s->name, NULL);
        const bool match = b->searching && rocl_picture_matches(b->picture, s->name);
        screen_style_of(t->top + (size_t)i == t->at ? STYLE_REVERSE
                        : match                     ? STYLE_BOLD
                                                    : STYLE_PLAIN,
                        0);
        screen_put(top + 2 + i, 0, width, "");
        screen_put(top + 2 + i, 0, 1, match ? "/" : "");
        screen_put_name(top + 2 + i, 1, name - 2, *own ? own : "(no name)");
        x = name;
        for (int c = COLUMN_CALLS; c < COLUMNS; c++) {
            if (!shown[c])
                continue;
            put_cell(t, s, (table_column)c, text, sizeof text);
            screen_printf(top + 2 + i, x, columns[c].width, "%*s", columns[c].width, text);
            x += columns[c].width;
        }
    }
    screen_style_of(STYLE_PLAIN, 0);
    if (!t->count)
        screen_printf(top + 2, 1, width - 1, "None%s.", b->state.loaded ? "" : " yet");
}

static void move_row(struct browser_table *t, int64_t by)
{
    int64_t at = (int64_t)t->at + by;
    at = at >= (int64_t)t->count ? (int64_t)t->count - 1 : at;
    t->at = at < 0 ? 0 : (size_t)at;
}

static void sort_by_next(browser *b, int by)
{
    int c = (int)b->table->sort;
    do
        c = (c + by + COLUMNS) % COLUMNS;
    while (!has_column(b, (table_column)c));
    b->table->sort = (table_column)c;
    sort_table(b, selected_name(b->table));
}

bool table_search(browser *b, bool backward)
{
    struct browser_table *t = b->table;
    for (size_t i = t->at;;) {
        if (backward ? i == 0 : i + 1 >= t->count)
            return false;
        i = backward ? i - 1 : i + 1;
        if (rocl_picture_matches(b->picture, t->rows[i].name)) {
            t->at = i;
            return true;
        }
    }
}

bool table_key(browser *b, int key, int height)
{
    struct browser_table *t = b->table;
    const int page = height > 4 ? height - 3 : 1;
    switch (key) {
    case KEY_UP:
        move_row(t, -1);
        break;
    case KEY_DOWN:
        move_row(t, 1);
        break;
    case KEY_PPAGE:
        move_row(t, -page);
        break;
    case KEY_NPAGE:
        move_row(t, page);
        break;
    case 'g':
    case KEY_HOME:
        t->at = 0;
        break;
    case 'G':
    case KEY_END:
        move_row(t, (int64_t)t->count);
        break;
    case KEY_LEFT:
    case '<':
        sort_by_next(b, -1);
        break;
    case KEY_RIGHT:
    case '>':
        sort_by_next(b, 1);
        break;
    case 'r':
        t->ascending = !t->ascending;
        sort_table(b, selected_name(t));
        break;
    case 't':
        b->in_view = !b->in_view;
        t->generation = UINT64_MAX;
        table_update(b);
        break;
    case KEY_ENTER:
        if (t->at < t->count) {
            const rocl_picture_sum s = t->rows[t->at];
            if (rocl_picture_search_name(b->picture, s.name, NULL) == ROCL_OK)
                b->searching = true;
            table_open(b, PAGE_TRACKS);
            tracks_show_slice(b, s.where, true);
            browser_say(b, "The longest of %" PRIu64 "; n and N: the next and the one before",
                        s.count);
        }
        break;
    default:
        return false;
    }
    return true;
}

/* ---- texts ----------------------------------------------------------------------------------- */

void text_forget(browser *b)
{
    for (size_t i = 0; i < b->text_lines; i++)
        free(b->text[i]);
    free(b->text);
    b->text = NULL;
    b->text_lines = b->text_top = 0;
    b->text_left = 0;
    b->text_is_details = false;
    b->text_number = 0;
}

/* The text is copied. */
static void text_open(browser *b, const char *text)
{
    text_forget(b);
    b->text = must_have(calloc(1, sizeof *b->text));
    while (*text) {
        const size_t n = strcspn(text, "\n");
        b->text = must_have(reallocarray(b->text, b->text_lines + 1, sizeof *b->text));
        b->text[b->text_lines++] = must_have(strndup(text, n));
        text += n + (text[n] == '\n');
    }
}

/* The text until the answer comes; id "": about findings. */
static void ask_worker(browser *b, const char *text, const char *id)
{
    text_open(b, text);
    b->text_is_details = true;
    pthread_mutex_lock(&b->lock);
    free(b->lookup_id);
    b->lookup_id = must_have(strdup(id));
    b->lookup_width = screen_width() - 2;
    b->text_number = ++b->lookup_number;
    pthread_cond_signal(&b->asked);
    pthread_mutex_unlock(&b->lock);
}

void text_open_findings(browser *b)
{
    ask_worker(b,
               b->state.loaded ? "looking for what stands out ..."
                               : "what stands out comes when all is read",
               "");
}

/* What the picture knows, at once; the rest is looked up. */
void text_open_details(browser *b)
{
    const rocl_picture_slice *s = &b->slice;
    char id[160], length[48], start[48], text[2048];
    put_event_id(id, sizeof id, s, b->trace);
    put_duration(length, sizeof length, s->end - s->start);
    put_time(start, sizeof start, s->start - b->state.first, 1);
    snprintf(text, sizeof text,
             "%s\n\n  Kind      %s\n  Id        %s\n  Start     %s after the begin of the trace\n"
             "  Duration  %s\n\n  %s\n",
             rocl_text(b->trace, s->name, NULL), rocl_kind_name(s->kind), id, start, length,
             b->state.loaded ? "looking up what else is known ..."
                             : "the rest is looked up when all is read");
    ask_worker(b, text, id);
}

void text_open_help(browser *b)
{
    text_open(
        b,
        "Keys\n"
        "\n"
        "  arrows, h j k l   the slice before and behind; the line above and below\n"
        "  + -  w s          zoom in and out, around the selected slice\n"
        "  a d  H L          move to the left and to the right (also Shift and arrows)\n"
        "  f                 zoom to the selected slice\n"
        "  0                 show the whole trace\n"
        "  Home End          the begin and the end of the trace\n"
        "  g G               the first and the last line; PageUp, PageDown: by screens\n"
        "  Space             open and close a line: rows that overlap, what is below it\n"
        "  c e               close all, open all\n"
        "  v                 show counters and memory, or not\n"
        "  i                 findings: can the trace be trusted, what costs time\n"
        "  Enter             everything that is known of the selected slice\n"
        "  x                 from a call to the work that it launched, and back\n"
        "  X                 the next work that the same call launched\n"
        "  Backspace         where you were before a search or a jump\n"
        "  / n N             search names by a regular expression; next; the one before\n"
        "                    (small letters match capital ones, too)\n"
        "  1                 the tracks\n"
        "  2 3 4 5           tables of kernels, copies, calls, markers; Tab: the next one\n"
        "  ?                 this help; in texts the arrow keys scroll\n"
        "  ^L                draw the screen anew\n"
        "  q                 leave this screen, or the program; Q: the program\n"
        "\n"
        "Tables\n"
        "\n"
        "  left right < >    sort by another column; r: the other way round\n"
        "  t                 the whole trace, or what begins in view\n"
        "  Enter             show the longest one; n and N then go to the others\n"
        "\n"
        "What is drawn\n"
        "\n"
        "  A slice that is some cells wide has its name on it. Shorter ones become marks: the\n"
        "  higher, the more of the time of their cell slices take. The colour is that of the\n"
        "  name of the longest slice there. A line that is closed shows of each cell the fullest\n"
        "  of its rows. While the trace is read, marks show what has been read so far.\n"
        "  A / at the left of a slice: its name matches the search.\n");
}

void text_draw(browser *b, int top, int height)
{
    if (b->text_is_details && b->text_number) {
        pthread_mutex_lock(&b->lock);
        char *text = b->lookup_text && b->text_number == b->lookup_number ? b->lookup_text : NULL;
        if (text)
            b->lookup_text = NULL;
        pthread_mutex_unlock(&b->lock);
        if (text) {
            const size_t at = b->text_top;
            text_open(b, text);
            b->text_is_details = true;
            b->text_top = at;
            free(text);
        }
    }
    if (b->text_top + (size_t)height > b->text_lines)
        b->text_top = b->text_lines > (size_t)height ? b->text_lines - (size_t)height : 0;
    screen_style_of(STYLE_PLAIN, 0);
    for (int i = 0; i < height && b->text_top + (size_t)i < b->text_lines; i++)
        screen_put_shifted(top + i, 1, screen_width() - 1, b->text[b->text_top + (size_t)i],
                           b->text_left);
}

bool text_key(browser *b, int key, int height)
{
    const size_t page = height > 2 ? (size_t)height - 1 : 1;
    switch (key) {
    case KEY_UP:
        b->text_top -= b->text_top > 0;
        break;
    case KEY_DOWN:
    case KEY_ENTER:
        b->text_top++;
        break;
    case KEY_PPAGE:
    case 'b':
        b->text_top -= b->text_top < page ? b->text_top : page;
        break;
    case KEY_NPAGE:
    case ' ':
        b->text_top += page;
        break;
    case KEY_LEFT:
        b->text_left -= b->text_left < 20 ? b->text_left : 20;
        break;
    case KEY_RIGHT:
        b->text_left += b->text_left < 1 << 20 ? 20 : 0;
        break;
    case 'g':
    case KEY_HOME:
        b->text_top = 0;
        break;
    case 'G':
    case KEY_END:
        b->text_top = b->text_lines;
        break;
    default:
        return false;
    }
    return true;
}
