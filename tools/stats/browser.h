/* The browser of rocstats view, private to it:
 *
 *     browser.c           the run: a thread that reads, keys, what is on the screen
 *     browser_screen.c    the terminal: begin and end, also by signals; texts and colours
 *     browser_tracks.c    the tracks: lines, cells, moving around
 *     browser_lists.c     tables of names, and texts that are scrolled: details, help
 *
 * One thread draws and reads keys. Another one does what takes long: it loads the picture, then
 * looks up events. It writes a byte to a pipe when something is done. */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <wchar.h>

#include "rocline.h"
#include "stats/view.h"

/* ---- the terminal ---------------------------------------------------------------------------- */

/* How something is drawn; colours are numbers from 0 on, below screen_colours(). */
typedef enum screen_style {
    STYLE_PLAIN,
    STYLE_BOLD,
    STYLE_DIM,
    STYLE_REVERSE,
    STYLE_CURSOR,  /* the line that is selected */
    STYLE_SLICE,   /* a slice of the colour: names are written on it */
    STYLE_DENSITY, /* marks of the colour, on nothing */
    STYLE_SELECTED /* the slice that is selected */
} screen_style;

enum {
    KEY_NOTHING = -1, /* time has passed, or something was done */
    KEY_GONE = -2,    /* the terminal is gone */
    KEY_RESIZED = 0x10000
};

/* False: the terminal cannot be used for drawing; *why is the reason. */
bool screen_usable(const char **why);
/* False: the terminal does not work; said. Standard error is kept back until screen_end(). */
bool screen_begin(void);
void screen_end(void);
/* From any thread: screen_key() returns. Async-signal-safe. */
void screen_wake(void);
/* The next key: a character or a KEY_* of curses. Waits at most `milliseconds`, -1: without
 * limit. */
int screen_key(int milliseconds);

int screen_width(void);
int screen_height(void);
bool screen_is_unicode(void);
unsigned screen_colours(void);

void screen_show(void);
void screen_style_of(screen_style style, unsigned colour); /* for the next texts */
/* The text in exactly `width` columns from x on: cut, or with blanks. Characters that are not
 * printed are shown as \x1b or \u202e. Returns the columns that the text takes, without blanks. */
int screen_put(int y, int x, int width, const char *text);
/* Puts a text without the columns before `left`. */
void screen_put_shifted(int y, int x, int width, const char *text, int left);
/* Puts a name, which is cut in its middle: many names differ at their ends. */
void screen_put_name(int y, int x, int width, const char *text);
int screen_printf(int y, int x, int width, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* A mark of n eighths from the bottom (1 to 8) with Unicode, else of dots. */
void screen_put_level(int y, int x, unsigned eighths);
/* The left edge of a slice beside another one. */
void screen_put_edge(int y, int x);
void screen_cursor(int y, int x); /* shows it; y < 0 hides it */

/* ---- the browser ----------------------------------------------------------------------------- */

/* What fills the screen, and the keys 1 to 5. */
typedef enum browser_page {
    PAGE_TRACKS,
    PAGE_KERNELS,
    PAGE_COPIES,
    PAGE_CALLS,
    PAGE_MARKERS,
    PAGES
} browser_page;

/* A line of the tracks. */
typedef struct browser_line {
    uint32_t track, row; /* row ROCL_NONE: the track and all below it */
    uint16_t indent;
    bool first; /* of the track: it has the label */
} browser_line;

/* The selection: a line, and a slice in it, if any. */
typedef struct browser_place {
    rocl_picture_ref ref; /* index ROCL_NONE: no slice */
    int64_t from, to;     /* what is in view */
} browser_place;

enum { BACK_MAX = 32, NOTE_SIZE = 256, PATTERN_SIZE = 256 };

typedef struct browser {
    rocl_trace *trace;
    common *common;
    rocl_picture *picture;
    rocl_picture_state state;
    char title[256];

    /* the thread that works */
    pthread_t worker;
    pthread_mutex_t lock; /* of all below, up to the next empty line */
    pthread_cond_t asked;
    bool leaving;
    bool load_done;
    rocl_status load_status;
    char *lookup_id; /* to be looked up */
    int lookup_width;
    char *lookup_text; /* what came out, of lookup_number */
    uint64_t lookup_number;
    char faults[1100]; /* what was left out or repaired, when all is read */
    char phase[32];
    uint64_t done, total;

    /* the tracks */
    browser_line *lines;
    size_t line_count, line_cap;
    bool *collapsed;
    uint32_t *children, *first_child; /* by track: from first_child[t] to first_child[t + 1] */
    size_t known;                     /* tracks that the arrays have */
    uint64_t generation;
    bool only_values;     /* there is nothing else */
    bool values;          /* tracks of values are shown */
    size_t top, at;       /* lines: the first on the screen, the one selected */
    int64_t from, to;     /* what is in view */
    bool whole;           /* ... is all, also when there will be more */
    rocl_picture_ref ref; /* the slice selected; index ROCL_NONE: none */
    rocl_picture_slice slice;
    browser_place back[BACK_MAX];
    unsigned back_count;
    rocl_cell *cells;
    size_t cell_cap;

    /* tables and texts */
    browser_page page;
    struct browser_table *table;
    bool in_view; /* tables: only of what is in view */
    char **text;  /* lines; NULL: no text is open */
    size_t text_lines, text_top;
    int text_left; /* columns scrolled out on the left */
    bool text_is_details;
    uint64_t text_number; /* of the look-up whose text is to come; 0: none */

    /* the last line */
    char note[NOTE_SIZE]; /* until the next key */
    char pattern[PATTERN_SIZE];
    bool searching; /* there is a search that n goes on with */
    bool quit;
} browser;

enum { LEAST_WIDTH = 30, LEAST_HEIGHT = 7 };

void browser_say(browser *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* ---- browser_tracks.c ------------------------------------------------------------------------ */

void tracks_update(browser *b); /* something new was loaded */
void tracks_draw(browser *b, int top, int height);
bool tracks_key(browser *b, int key); /* as plain_key() has it; false: not one of theirs */
void tracks_forget(browser *b);
/* Shows a slice: selects it and its line, and moves the view so that it can be seen. With `jump`
 * the way back is kept. */
void tracks_show_slice(browser *b, rocl_picture_ref ref, bool jump);
/* The line of the ruler. */
void tracks_draw_ruler(browser *b, int y);
/* What is known of the selected slice, in up to n lines from y on. */
void tracks_draw_selected(const browser *b, int y, int n);
/* "12.5 us" */
void put_duration(char *to, size_t size, int64_t ns);
void put_bytes(char *to, size_t size, uint64_t bytes);
/* The time since the begin of the trace, with digits for spans of `unit` ns. */
void put_time(char *to, size_t size, int64_t ns, int64_t unit);
/* "kernel:GUID:12" */
void put_event_id(char *to, size_t size, const rocl_picture_slice *s, const rocl_trace *t);

/* ---- browser_lists.c ------------------------------------------------------------------------- */

void table_open(browser *b, browser_page page);
void table_update(browser *b);
void table_draw(browser *b, int top, int height);
bool table_key(browser *b, int key, int height);
void table_forget(browser *b);
bool table_search(browser *b, bool backward); /* the next row that matches */

void text_open_details(browser *b);
void text_open_findings(browser *b);
void text_open_help(browser *b);
void text_draw(browser *b, int top, int height);
bool text_key(browser *b, int key, int height);
void text_forget(browser *b);
