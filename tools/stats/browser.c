/* The browser of rocstats view: its run. */
#include "stats/browser.h"

#include <curses.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/progress.h"

void browser_say(browser *b, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(b->note, sizeof b->note, fmt, ap);
    va_end(ap);
}

/* ---- the thread that works ------------------------------------------------------------------- */

static void on_progress(void *ctx, const char *phase, uint64_t done, uint64_t total)
{
    browser *b = ctx;
    pthread_mutex_lock(&b->lock);
    /* What writers do then is what the picture does: it puts events in order. */
    snprintf(b->phase, sizeof b->phase, "%s", strcmp(phase, "writing") == 0 ? "sorting" : phase);
    b->done = done;
    b->total = total;
    pthread_mutex_unlock(&b->lock);
}

/* What is known of an event, or, without an id, what was found. */
static char *look_up(rocl_trace *t, const char *id, int width)
{
    static const char *const none[] = {"findings", NULL};
    const rocl_stats_options found = {.findings = true, .tables = none, .brief = true};
    rocl_error *err = rocl_error_new();
    rocl_tables *tables = NULL;
    char *text = NULL;
    size_t len = 0;
    rocl_status s =
        *id ? rocl_show_event(t, id, &tables, err) : rocl_stats(t, &found, &tables, err);
    if (s <= ROCL_PARTIAL)
        s = rocl_print_tables(
            tables, &(rocl_table_options){.format = ROCL_TABLE_TEXT, .width = (unsigned)width},
            &text, &len, err);
    if (s > ROCL_PARTIAL) {
        free(text);
        text = strdup(rocl_error_text(err));
    }
    rocl_tables_free(tables);
    rocl_error_free(err);
    return text;
}

/* Says what this run left out: looking up events runs over the trace again, and counts anew. */
static void report_load(browser *b)
{
    size_t n = 0;
    for (int dropped = 1; dropped >= 0; dropped--) {
        n += (size_t)snprintf(b->faults + n, sizeof b->faults - n, "%s", n ? "; " : "");
        n += common_put_faults(b->faults + n, sizeof b->faults - n, b->trace, dropped,
                               dropped ? "left out" : "repaired");
    }
    common_report(b->common, b->trace);
    b->common->reported = true;
}

static void *run_worker(void *ctx)
{
    browser *b = ctx;
    rocl_error *err = rocl_error_new();
    const rocl_status s = rocl_picture_load(b->picture, err);
    pthread_mutex_lock(&b->lock);
    if (!b->leaving) { /* what is said now can be read when the terminal is restored */
        b->load_done = true;
        b->load_status = s;
        if (s > ROCL_PARTIAL)
            msg_error("%s", rocl_error_text(err));
        else
            report_load(b);
    }
    screen_wake();
    while (!b->leaving) {
        if (!b->lookup_id) {
            pthread_cond_wait(&b->asked, &b->lock);
            continue;
        }
        char *id = b->lookup_id;
        const uint64_t number = b->lookup_number;
        const int width = b->lookup_width;
        b->lookup_id = NULL;
        pthread_mutex_unlock(&b->lock);
        char *text = look_up(b->trace, id, width);
        free(id);
        pthread_mutex_lock(&b->lock);
        free(b->lookup_text);
        b->lookup_text = number == b->lookup_number ? text : NULL;
        if (!b->lookup_text)
            free(text);
        screen_wake();
    }
    pthread_mutex_unlock(&b->lock);
    rocl_error_free(err);
    return NULL;
}

static bool start_worker(browser *b)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const bool good = pthread_create(&b->worker, NULL, run_worker, b) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return good;
}

static void stop_worker(browser *b)
{
    pthread_mutex_lock(&b->lock);
    b->leaving = true;
    pthread_cond_signal(&b->asked);
    pthread_mutex_unlock(&b->lock);
    rocl_picture_cancel(b->picture);
    screen_end(); /* looking up an event may take a second */
    pthread_join(b->worker, NULL);
}

/* ---- the screen ------------------------------------------------------------------------------ */

/* "train (rank 0, pid 4200), synth-node-0, trace.db and 3 more" */
static void make_title(browser *b)
{
    const rocl_trace *t = b->trace;
    char host[128] = "";
    const size_t inputs = rocl_trace_inputs(t);
    const char *path = inputs ? rocl_trace_input(t, 0).path : "";
    const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    if (rocl_trace_captures(t) && rocl_trace_machines(t) == 1 &&
        rocl_trace_capture(t, 0)->node_count)
        snprintf(host, sizeof host, " on %s",
                 rocl_text(t, rocl_trace_capture(t, 0)->nodes[0].hostname, NULL));
    snprintf(b->title, sizeof b->title, "%s%s", name, host);
    if (inputs > 1)
        snprintf(b->title, sizeof b->title, "%s and %zu more%s", name, inputs - 1, host);
}

static void draw_title(const browser *b)
{
    char span[48], right[96];
    put_duration(span, sizeof span,
                 b->state.last > b->state.first ? b->state.last - b->state.first : 0);
    static const char *const names[PAGES] = {"tracks", "kernels", "copies", "calls", "markers"};
    snprintf(right, sizeof right, "%s, %s ",
             b->text ? (b->text_is_details ? "details" : "help") : names[b->page], span);
    const int width = screen_width(), n = (int)strlen(right);
    screen_style_of(STYLE_REVERSE, 0);
    screen_put(0, 0, width, "");
    screen_put(0, 1, width - n - 2 > 0 ? width - n - 2 : 0, b->title);
    screen_put(0, width - n > 0 ? width - n : 0, n, right);
    screen_style_of(STYLE_PLAIN, 0);
}

/* 9937895 -> "9,937,895" */
static const char *group_digits(char to[32], uint64_t n)
{
    char digits[24];
    const int len = snprintf(digits, sizeof digits, "%" PRIu64, n);
    char *p = to;
    for (int i = 0; i < len; i++) {
        if (i && (len - i) % 3 == 0)
            *p++ = ',';
        *p++ = digits[i];
    }
    *p = '\0';
    return to;
}

/* The counts: events = slices + marks + values, and what was left out. */
static void put_counts(browser *b, char *to, size_t size)
{
    char events[32], slices[32], marks[32], values[32];
    const rocl_picture_state *s = &b->state;
    pthread_mutex_lock(&b->lock);
    const bool failed = b->load_done && b->load_status > ROCL_PARTIAL;
    const double share = b->total ? 100.0 * (double)b->done / (double)b->total : 0;
    char phase[48];
    snprintf(phase, sizeof phase, "%s", *b->phase ? b->phase : "reading");
    pthread_mutex_unlock(&b->lock);
    group_digits(events, s->events);
    if (failed) {
        snprintf(to, size, "reading failed: q tells why");
    } else if (!s->loaded) {
        size_t n = (size_t)snprintf(to, size, "%s", phase);
        if (share > 0 && share <= 100)
            n += (size_t)snprintf(to + n, size - n, " %.0f %%", share);
        snprintf(to + n, size - n, ", %s events", events);
    } else {
        size_t n = (size_t)snprintf(to, size, "%s events = %s slices", events,
                                    group_digits(slices, s->slices));
        if (s->instants)
            n +=
                (size_t)snprintf(to + n, size - n, " + %s marks", group_digits(marks, s->instants));
        if (s->values)
            n +=
                (size_t)snprintf(to + n, size - n, " + %s values", group_digits(values, s->values));
        if (*b->faults)
            snprintf(to + n, size - n, "; %s", b->faults);
    }
}

static void draw_status(browser *b)
{
    char counts[1400];
    const int y = screen_height() - 1, width = screen_width();
    screen_style_of(STYLE_REVERSE, 0);
    screen_put(y, 0, width, "");
    if (*b->note) {
        screen_style_of(STYLE_BOLD, 0);
        screen_put(y, 0, width, b->note);
        return;
    }
    const char *help = "? help  q leave ";
    const int n = (int)strlen(help);
    put_counts(b, counts, sizeof counts);
    screen_put(y, 1, width > n + 12 ? width - n - 2 : width - 1, counts);
    if (width > n + 12)
        screen_put(y, width - n, n, help);
    screen_style_of(STYLE_PLAIN, 0);
}

static int lines_of_details(void)
{
    return screen_height() >= 16 ? 3 : screen_height() >= 10 ? 2 : 0;
}

/* Lines between the title and the footer. */
static int body_height(const browser *b)
{
    const bool tracks = !b->text && b->page == PAGE_TRACKS;
    return screen_height() - 2 - (tracks ? 1 + lines_of_details() : 0);
}

static void draw_screen(browser *b)
{
    erase();
    screen_style_of(STYLE_PLAIN, 0);
    if (screen_width() < LEAST_WIDTH || screen_height() < LEAST_HEIGHT) {
        screen_printf(0, 0, screen_width(), "Too small: %dx%d,", screen_width(), screen_height());
        screen_printf(1, 0, screen_width(), "%dx%d are needed", LEAST_WIDTH, LEAST_HEIGHT);
        screen_show();
        return;
    }
    tracks_update(b);
    draw_title(b);
    const int height = body_height(b);
    if (b->text) {
        text_draw(b, 1, height);
    } else if (b->page != PAGE_TRACKS) {
        table_update(b);
        table_draw(b, 1, height);
    } else {
        const int details = lines_of_details();
        tracks_draw_ruler(b, 1);
        tracks_draw(b, 2, height);
        tracks_draw_selected(b, 2 + height, details);
    }
    draw_status(b);
    screen_show();
}

/* ---- searching ------------------------------------------------------------------------------- */

/* The key that the others stand for: those of vi and less, and what terminals send. */
static int plain_key(int key)
{
    static const int keys[][2] = {{'k', KEY_UP},       {'j', KEY_DOWN},   {'h', KEY_LEFT},
                                  {'l', KEY_RIGHT},    {2, KEY_PPAGE},    {6, KEY_NPAGE},
                                  {'\r', KEY_ENTER},   {'\n', KEY_ENTER}, {8, KEY_BACKSPACE},
                                  {127, KEY_BACKSPACE}};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (key == keys[i][0])
            return keys[i][1];
    return key;
}

/* A line that is typed, at the bottom of the screen. False: given up. */
static bool read_line(browser *b, const char *prompt, char *text, size_t size)
{
    size_t n = 0;
    text[0] = '\0';
    for (;;) {
        draw_screen(b);
        const int y = screen_height() - 1, width = screen_width();
        const int used = screen_put(y, 0, width, prompt);
        const int has = screen_put(y, used, width - used, text);
        screen_cursor(y, used + has < width ? used + has : width - 1);
        screen_show();
        const int key = screen_key(b->state.loaded ? -1 : 150);
        const bool backspace = plain_key(key) == KEY_BACKSPACE;
        screen_cursor(-1, 0);
        if (key == KEY_GONE)
            b->quit = true;
        if (key == KEY_GONE || key == 27 || (backspace && !n))
            return false;
        if (plain_key(key) == KEY_ENTER)
            return true;
        if (backspace) {
            while (n && ((unsigned char)text[n - 1] & 0xc0) == 0x80)
                n--;
            n -= n > 0;
        } else if (key == 21) { /* ^U */
            n = 0;
        } else if (key >= 32 && key < 256 && n + 1 < size) {
            text[n++] = (char)key;
        }
        text[n] = '\0';
    }
}

static void search_on(browser *b, bool backward)
{
    if (!b->searching) {
        browser_say(b, "Nothing has been searched for: / does");
        return;
    }
    if (b->page != PAGE_TRACKS) {
        if (!table_search(b, backward))
            browser_say(b, "There is no other match");
        return;
    }
    rocl_picture_ref ref = b->ref;
    int64_t time = b->slice.start;
    if (ref.index == ROCL_NONE || b->slice.is_value) {
        ref.row = ROCL_NONE;
        time = backward ? b->to : b->from;
    }
    if (rocl_picture_next_match(b->picture, time, backward, &ref))
        tracks_show_slice(b, ref, true);
    else
        browser_say(b, backward ? "There is no match before" : "There is no further match");
}

static void read_search(browser *b)
{
    char pattern[PATTERN_SIZE];
    rocl_error *err = must_have(rocl_error_new());
    if (read_line(b, "/", pattern, sizeof pattern)) {
        if (*pattern)
            memcpy(b->pattern, pattern, sizeof b->pattern);
        if (!*b->pattern)
            browser_say(b, "There is no search before this one");
        else if (rocl_picture_search(b->picture, b->pattern, err) != ROCL_OK)
            browser_say(b, "%s", rocl_error_text(err));
        else {
            b->searching = true;
            search_on(b, false);
        }
    }
    rocl_error_free(err);
}

/* ---- keys ------------------------------------------------------------------------------------ */

static void handle_key(browser *b, int key)
{
    const int height = body_height(b);
    if (key == 'Q' || key == KEY_GONE) {
        b->quit = true;
    } else if (key == 'q' || (key == 27 && (b->text || b->page != PAGE_TRACKS))) {
        if (b->text)
            text_forget(b);
        else if (b->page != PAGE_TRACKS)
            table_open(b, PAGE_TRACKS);
        else
            b->quit = true;
    } else if (key == '?' || key == KEY_F(1)) {
        text_open_help(b);
    } else if (key == 'i') {
        text_open_findings(b);
    } else if (b->text && text_key(b, key, height)) {
    } else if (key >= '1' && key <= '5') {
        text_forget(b);
        table_open(b, (browser_page)(key - '1'));
    } else if (key == '\t') {
        text_forget(b);
        table_open(b, (b->page + 1) % PAGES);
    } else if (b->text && key != 'x' && key != 'X' && key != 12) {
        browser_say(b, "q: back");
    } else if (key == 12) { /* ^L */
        clearok(curscr, TRUE);
    } else if (key == '/') {
        read_search(b);
    } else if (key == 'n' || key == 'N') {
        search_on(b, key == 'N');
    } else if (b->page != PAGE_TRACKS) {
        if (!table_key(b, key, height))
            browser_say(b, "? shows what keys do");
    } else {
        text_forget(b);
        if (!tracks_key(b, key))
            browser_say(b, "? shows what keys do");
    }
}

/* Reading has failed before there was anything to look at. */
static bool has_failed(browser *b)
{
    pthread_mutex_lock(&b->lock);
    const bool failed = b->load_done && b->load_status > ROCL_PARTIAL;
    pthread_mutex_unlock(&b->lock);
    return failed && rocl_picture_look(b->picture).slices == 0;
}

/* As long as something is awaited, the screen is drawn some times a second. */
static int wait_time(browser *b)
{
    pthread_mutex_lock(&b->lock);
    const bool busy = !b->load_done;
    pthread_mutex_unlock(&b->lock);
    return busy ? 120 : -1;
}

int browse_check(void)
{
    const char *why;
    if (screen_usable(&why))
        return -1;
    return usage_error("a terminal is needed, and %s; -o FILE writes a page instead", why);
}

rocl_status browse(rocl_trace *t, common *c, const browse_options *o, rocl_error *err)
{
    browser *b = must_have(calloc(1, sizeof *b));
    const rocl_picture_options options = {.group_by_queue = o->group_by_queue};
    b->trace = t;
    b->common = c;
    b->ref.index = ROCL_NONE;
    b->whole = true;
    pthread_mutex_init(&b->lock, NULL);
    pthread_cond_init(&b->asked, NULL);
    make_title(b);
    progress_end();
    rocl_status s = rocl_picture_open(&b->picture, t, &options, err);
    if (s == ROCL_OK && !screen_begin())
        s = ROCL_USAGE;
    if (s == ROCL_OK) {
        progress_redirect(on_progress, b);
        if (start_worker(b)) {
            while (!b->quit && !has_failed(b)) {
                draw_screen(b);
                const int key = screen_key(wait_time(b));
                if (key == KEY_NOTHING || key == KEY_RESIZED)
                    continue;
                b->note[0] = '\0';
                handle_key(b, plain_key(key));
            }
            stop_worker(b);
            s = b->load_status; /* ROCL_OK where the user has left before */
        } else {
            screen_end();
            msg_error("no thread can be started");
            s = ROCL_INTERNAL;
        }
        progress_redirect(NULL, NULL);
    }
    free(b->lookup_id);
    free(b->lookup_text);
    table_forget(b);
    text_forget(b);
    tracks_forget(b);
    rocl_picture_close(b->picture);
    pthread_mutex_destroy(&b->lock);
    pthread_cond_destroy(&b->asked);
    free(b);
    return s;
}
