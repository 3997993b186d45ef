/* The terminal of the browser: begin and end, keys, texts and colours. The terminal is as it was
 * after any end: on return, after signals that end the program, after a crash and while the program
 * is stopped. Signals only write a byte to a pipe that screen_key() waits for, but for those that
 * end the program: then what restores the terminal is written at once, it was made before. */
#include "stats/browser.h"

#include <curses.h>
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <term.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "common/signals.h"

static SCREEN *screen;
static FILE *keyboard; /* the terminal, where standard input is the trace */
static bool unicode;
static unsigned colours; /* 0: none */
static short style_pair;
static attr_t style_attributes;

/* ---- what a terminal takes ------------------------------------------------------------------- */

bool screen_usable(const char **why)
{
    const char *term = getenv("TERM");
    const int fd = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
    const bool keys = fd >= 0 || isatty(STDIN_FILENO);
    if (fd >= 0)
        close(fd);
    *why = !isatty(STDOUT_FILENO)      ? "standard output is not a terminal"
           : !keys                     ? "there is no terminal for keys"
           : !term || !*term           ? "TERM is not set"
           : strcmp(term, "dumb") == 0 ? "TERM is dumb: the cursor cannot be moved"
                                       : NULL;
    return !*why;
}

/* ---- the end, whatever it is ------------------------------------------------------------------
 */

static struct termios modes; /* before the begin */
static char restore[256];    /* what is written to restore the terminal */
static size_t restore_len;
static atomic_bool active;
static pthread_mutex_t drawing = PTHREAD_MUTEX_INITIALIZER;
static int kept_errors = -1, real_errors = -1; /* standard error */

/* Async-signal-safe. */
static void restore_terminal(void)
{
    if (!atomic_exchange(&active, false))
        return;
    for (size_t n = 0; n < restore_len;) {
        const ssize_t w = write(STDOUT_FILENO, restore + n, restore_len - n);
        if (w <= 0 && errno != EINTR)
            break;
        n += w > 0 ? (size_t)w : 0;
    }
    tcsetattr(STDOUT_FILENO, TCSANOW, &modes);
    /* What was said meanwhile. */
    char block[4096];
    off_t at = 0;
    dup2(real_errors, STDERR_FILENO);
    for (ssize_t n; (n = pread(kept_errors, block, sizeof block, at)) > 0; at += n)
        if (write(STDERR_FILENO, block, (size_t)n) < 0)
            break;
}

/* Before a signal ends the program; by another thread than the one that draws, which must not draw
 * any more. */
static void before_end(void)
{
    struct timespec soon;
    clock_gettime(CLOCK_REALTIME, &soon);
    soon.tv_sec++; /* a stuck terminal must not block the end */
    (void)pthread_mutex_timedlock(&drawing, &soon);
    restore_terminal();
}

static void on_crash(int number)
{
    restore_terminal();
    raise(number); /* the action is the default one again */
}

static const int crashes[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

static void note_crashes(void)
{
    static char stack[16384]; /* the thread's own may be full */
    const stack_t other = {.ss_sp = stack, .ss_size = sizeof stack};
    struct sigaction act = {.sa_handler = on_crash,
                            .sa_flags = (int)(SA_RESETHAND | SA_NODEFER | SA_ONSTACK)};
    sigaltstack(&other, NULL);
    for (size_t i = 0; i < sizeof crashes / sizeof *crashes; i++) {
        struct sigaction now;
        if (sigaction(crashes[i], NULL, &now) == 0 && now.sa_handler == SIG_DFL)
            sigaction(crashes[i], &act, NULL);
    }
}

/* ---- signals that do not end it ----------------------------------------------------------------
 */

static int wake_pipe[2] = {-1, -1};
static volatile sig_atomic_t resized, stopped, continued;

void screen_wake(void)
{
    const int saved = errno;
    if (write(wake_pipe[1], "", 1) < 0) {
        /* full: it will wake up */
    }
    errno = saved;
}

static void on_signal(int number)
{
    resized |= number == SIGWINCH;
    stopped |= number == SIGTSTP;
    continued |= number == SIGCONT;
    screen_wake();
}

static void catch_signal(int number, bool on)
{
    struct sigaction act = {.sa_handler = on ? on_signal : SIG_DFL, .sa_flags = SA_RESTART}, now;
    if (sigaction(number, NULL, &now) == 0 && now.sa_handler != SIG_IGN)
        sigaction(number, &act, NULL);
}

static void catch_signals(bool on)
{
    catch_signal(SIGWINCH, on);
    catch_signal(SIGTSTP, on);
    catch_signal(SIGCONT, on);
}

static void measure_screen(void)
{
    struct winsize size;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row && size.ws_col)
        resizeterm(size.ws_row, size.ws_col);
    clearok(curscr, TRUE);
}

/* ---- begin and end --------------------------------------------------------------------------- */

/* As the C library decides it, for which this program sets the locale of characters only. A name of
 * a locale that is not installed still says what the terminal shows. */
static void find_characters(void)
{
    const char *names[] = {getenv("LC_ALL"), getenv("LC_CTYPE"), getenv("LANG")}, *name = "";
    for (size_t i = 0; i < 3 && !*name; i++)
        name = names[i] ? names[i] : "";
    unicode = strcasestr(name, "UTF-8") || strcasestr(name, "utf8");
    if (!setlocale(LC_CTYPE, "") && unicode)
        unicode = setlocale(LC_CTYPE, "C.UTF-8") != NULL;
    unicode = unicode && MB_CUR_MAX > 1;
}

/* Colours for eyes that do not tell red from green, on dark and bright: of 256 and of 8. */
static const short colours_256[] = {75, 215, 114, 176, 80, 222, 210, 147, 108, 180, 152, 139};
static const short colours_8[] = {COLOR_CYAN,    COLOR_YELLOW, COLOR_GREEN,
                                  COLOR_MAGENTA, COLOR_BLUE,   COLOR_WHITE};

static void begin_colours(void)
{
    const char *none = getenv("NO_COLOR");
    colours = 0;
    if ((none && *none) || !has_colors() || start_color() == ERR)
        return;
    use_default_colors();
    const bool many = COLORS >= 256;
    colours =
        many ? sizeof colours_256 / sizeof *colours_256 : sizeof colours_8 / sizeof *colours_8;
    for (unsigned i = 0; i < colours; i++) {
        const short c = many ? colours_256[i] : colours_8[i];
        init_pair((short)(1 + 2 * i), COLOR_BLACK, c);
        init_pair((short)(2 + 2 * i), c, -1);
    }
}

static void add_restore(const char *capability)
{
    const char *text = tigetstr(capability);
    if (!text || text == (const char *)-1)
        return;
    for (; *text && restore_len < sizeof restore - 1; text++) {
        if (text[0] == '$' && text[1] == '<') /* a pause, which is obsolete */
            text += strcspn(text, ">");
        else
            restore[restore_len++] = *text;
        if (!*text)
            break;
    }
}

bool screen_begin(void)
{
    find_characters();
    if (tcgetattr(STDOUT_FILENO, &modes) != 0 || pipe2(wake_pipe, O_NONBLOCK | O_CLOEXEC) != 0) {
        msg_error("the terminal: %s", strerror(errno));
        return false;
    }
    /* The C library keeps signals for windows and stops to itself where somebody handles them. */
    catch_signals(true);
    if (!isatty(STDIN_FILENO))
        keyboard = fopen("/dev/tty", "r+e");
    screen = newterm(NULL, stdout, keyboard ? keyboard : stdin);
    if (!screen) {
        msg_error("the terminal \"%s\" is not known: is TERM right?", getenv("TERM"));
        return false;
    }
    set_term(screen);
    restore_len = 0;
    const char *const ends[] = {"rmkx", "sgr0", "op", "cnorm", "rmcup"};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        add_restore(ends[i]);
    cbreak();
    noecho();
    nonl();
    set_escdelay(50);
    keypad(stdscr, TRUE);
    nodelay(stdscr, TRUE);
    curs_set(0);
    begin_colours();
    /* Messages wait: they would be written across the screen. */
    fflush(stderr);
    kept_errors = memfd_create("messages", MFD_CLOEXEC);
    real_errors = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
    if (kept_errors >= 0 && real_errors >= 0)
        dup2(kept_errors, STDERR_FILENO);
    atomic_store(&active, true);
    signals_before_end(before_end);
    note_crashes();
    return true;
}

void screen_end(void)
{
    signals_before_end(NULL);
    for (size_t i = 0; i < sizeof crashes / sizeof *crashes; i++) {
        struct sigaction now;
        if (sigaction(crashes[i], NULL, &now) == 0 && now.sa_handler == on_crash)
            signal(crashes[i], SIG_DFL);
    }
    pthread_mutex_lock(&drawing);
    if (atomic_load(&active)) {
        endwin();
        fflush(stdout);
        fflush(stderr);
        restore_terminal();
    }
    pthread_mutex_unlock(&drawing);
    delscreen(screen);
    screen = NULL;
    catch_signals(false);
    if (keyboard)
        fclose(keyboard);
    keyboard = NULL;
    close(kept_errors);
    close(real_errors);
    /* The pipe stays open: threads may still write to it. */
}

/* The shell gets its terminal, and we get ours back when it lets us go on. */
static void stop_program(void)
{
    pthread_mutex_lock(&drawing);
    endwin();
    pthread_mutex_unlock(&drawing);
    catch_signal(SIGTSTP, false);
    raise(SIGTSTP);
    catch_signal(SIGTSTP, true);
    continued = 1;
}

/* ---- keys ------------------------------------------------------------------------------------ */

int screen_key(int milliseconds)
{
    if (stopped) {
        stopped = 0;
        stop_program();
    }
    if (resized || continued) {
        pthread_mutex_lock(&drawing);
        if (continued)
            reset_prog_mode();
        resized = continued = 0;
        measure_screen();
        pthread_mutex_unlock(&drawing);
        return KEY_RESIZED;
    }
    int key = getch();
    if (key != ERR)
        return key == KEY_RESIZE ? KEY_RESIZED : key; /* it was resized by us */
    struct pollfd both[] = {{.fd = keyboard ? fileno(keyboard) : STDIN_FILENO, .events = POLLIN},
                            {.fd = wake_pipe[0], .events = POLLIN}};
    if (poll(both, 2, milliseconds) > 0 && both[1].revents) {
        char bytes[64];
        while (read(wake_pipe[0], bytes, sizeof bytes) > 0)
            ;
    }
    if (both[0].revents & (POLLHUP | POLLERR | POLLNVAL))
        return KEY_GONE;
    if (stopped || resized || continued)
        return screen_key(0);
    key = getch();
    return key == ERR ? KEY_NOTHING : key == KEY_RESIZE ? KEY_RESIZED : key;
}

/* ---- drawing --------------------------------------------------------------------------------- */

int screen_width(void)
{
    return COLS;
}

int screen_height(void)
{
    return LINES;
}

bool screen_is_unicode(void)
{
    return unicode;
}

unsigned screen_colours(void)
{
    return colours ? colours : 1;
}

void screen_show(void)
{
    pthread_mutex_lock(&drawing);
    refresh();
    pthread_mutex_unlock(&drawing);
}

void screen_style_of(screen_style style, unsigned colour)
{
    static const attr_t attributes[] = {
        [STYLE_PLAIN] = A_NORMAL,   [STYLE_BOLD] = A_BOLD,
        [STYLE_DIM] = A_DIM,        [STYLE_REVERSE] = A_REVERSE,
        [STYLE_CURSOR] = A_BOLD,    [STYLE_SLICE] = A_NORMAL,
        [STYLE_DENSITY] = A_NORMAL, [STYLE_SELECTED] = A_REVERSE | A_BOLD};
    style_attributes = attributes[style];
    style_pair = 0;
    if (colours && style == STYLE_SLICE)
        style_pair = (short)(1 + 2 * (colour % colours));
    else if (colours && style == STYLE_DENSITY)
        style_pair = (short)(2 + 2 * (colour % colours));
    else if (style == STYLE_SLICE)
        style_attributes = A_REVERSE;
    attr_set(style_attributes, style_pair, NULL);
}

/* The next character of UTF-8, U+FFFD for invalid bytes. Returns its length in bytes. */
static size_t decode_character(const char *text, uint32_t *c)
{
    const unsigned char *p = (const unsigned char *)text;
    const unsigned more = *p < 0x80                 ? 0
                          : *p >= 0xc2 && *p < 0xe0 ? 1
                          : *p >= 0xe0 && *p < 0xf0 ? 2
                          : *p >= 0xf0 && *p < 0xf5 ? 3
                                                    : 9;
    uint32_t v = more == 9 ? 0xfffd : more ? *p & (0x3fu >> more) : *p;
    for (unsigned i = 1; i <= more && more < 9; i++) {
        if ((p[i] & 0xc0) != 0x80) {
            *c = 0xfffd;
            return 1;
        }
        v = v << 6 | (p[i] & 0x3f);
    }
    *c = v;
    return more == 9 ? 1 : more + 1;
}

/* What a character looks like; returns its columns. */
static int spell_character(uint32_t c, wchar_t to[12])
{
    char text[12];
    const int width = c < 0x80  ? (c >= 0x20 && c != 0x7f ? 1 : -1)
                      : unicode ? wcwidth((wchar_t)c)
                                : 0;
    if (width > 0) {
        to[0] = (wchar_t)c;
        to[1] = L'\0';
        return width;
    }
    if (c >= 0xa0 && !unicode)
        snprintf(text, sizeof text, "?");
    else
        snprintf(text, sizeof text,
                 c < 0x100     ? "\\x%02x"
                 : c < 0x10000 ? "\\u%04x"
                               : "\\U%06x",
                 (unsigned)c);
    int n = 0;
    for (; text[n]; n++)
        to[n] = (wchar_t)text[n];
    to[n] = L'\0';
    return n;
}

/* Columns of a text that is shown in full. */
static int measure_text(const char *text)
{
    int wide = 0;
    for (uint32_t c; *text;) {
        wchar_t spelled[12];
        text += decode_character(text, &c);
        wide += spell_character(c, spelled);
    }
    return wide;
}

/* The text behind its first columns. */
static const char *skip_columns(const char *text, int wide)
{
    for (uint32_t c; *text && wide > 0;) {
        wchar_t spelled[12];
        text += decode_character(text, &c);
        wide -= spell_character(c, spelled);
    }
    return text;
}

void screen_put_name(int y, int x, int width, const char *text)
{
    int wide = measure_text(text);
    const int end = width / 3;
    if (wide > width && !strncmp(text, "void ", 5)) { /* it says nothing */
        text += 5;
        wide -= 5;
    }
    if (wide <= width || width < 12) {
        screen_put(y, x, width, text);
        return;
    }
    screen_put(y, x, width - end, text);
    screen_put(y, x + width - end, end, skip_columns(text, wide - end));
}

void screen_put_shifted(int y, int x, int width, const char *text, int left)
{
    screen_put(y, x, width, skip_columns(text, left));
}

int screen_put(int y, int x, int width, const char *text)
{
    int used = 0;
    if (y < 0 || y >= LINES || x >= COLS || width <= 0)
        return 0;
    width = x + width > COLS ? COLS - x : width;
    move(y, x);
    for (uint32_t c; *text;) {
        wchar_t spelled[12];
        text += decode_character(text, &c);
        const int n = spell_character(c, spelled);
        /* The last column says that there is more. */
        if (used + n > width || (used + n == width && *text)) {
            if (used < width) {
                addnwstr(unicode ? L"…" : L"~", 1);
                used++;
            }
            break;
        }
        addwstr(spelled);
        used += n;
    }
    if (used < width)
        printw("%*s", width - used, "");
    return used;
}

int screen_printf(int y, int x, int width, const char *fmt, ...)
{
    char text[2048];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    return screen_put(y, x, width, text);
}

void screen_put_level(int y, int x, unsigned eighths)
{
    static const char dots[] = " .:-=+*#@";
    const wchar_t mark[] = {unicode ? (wchar_t)(0x2580 + eighths) : (wchar_t)dots[eighths], L'\0'};
    if (eighths)
        mvaddwstr(y, x, mark);
}

void screen_put_edge(int y, int x)
{
    mvaddwstr(y, x, unicode ? L"▏" : L"|");
}

void screen_cursor(int y, int x)
{
    curs_set(y >= 0);
    if (y >= 0)
        move(y, x);
}
