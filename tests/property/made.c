/* Inputs that one number makes. A file made/FORMAT.rows has the rows of a format as templates; the
 * number draws how much there is of everything, and what the input holds is counted while it is
 * written. Lines of such a file:
 *
 *     escape json|quotes|csv|text|sql      what names have beside letters
 *     flags us csv sql late named columns  see `flags`
 *     folder NAME                          of several files; else the only file is the input
 *     common, argument, counter TEMPLATE   what %@, %A and %C write
 *     comma TEMPLATE                       between arguments and counters
 *     file NAME | section                  rows, in a file of their own or in that before
 *     each name|lane|key                   a row for each of them, where the others need it
 *     head, tail TEMPLATE                  of several one is drawn
 *     between TEMPLATE
 *     row WEIGHT KIND TEMPLATE             KIND as in `kinds`
 *     ends TEMPLATE                        the row before begins a range that ends so
 *     wrong WEIGHT TEMPLATE                a row that must be counted as left out
 *     + TEMPLATE                           more of the line before
 *
 * What stands behind a % in a template:
 *
 *     N F      the name; as a word       P T G Q L  process, thread, GPU, queue, number of the lane
 *     B E D    begin, end, duration      s e d      the same in seconds
 *     b l      begin, duration in ns     U W        the same in whole microseconds
 *     O J      end + 1, begin + 1
 *     I R M    id of a range; numbers of the row and of its name
 *     V S      a value of a counter; a sampled one
 *     K k      the name of an argument or counter, and its number
 *     A C H    arguments; counters, at least one; their names
 *     @ / >    the common text; a line end, a tab
 *
 * In lines of CSV | stands between columns, whose order is drawn. */
#include "tests/property/property.h"

#include <inttypes.h>
#include <sqlite3.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- formats --------------------------------------------------------------------------------- */

enum { JSON, QUOTES, CSV, TEXT, SQL, ESCAPES };
enum { ROWS, NAMES, LANES, KEYS, EACHES };
enum { NOTHING = -1, VARIANTS = 4, ROWS_MAX = 80, SECTIONS_MAX = 16 };

static const char *const escapes[ESCAPES] = {"json", "quotes", "csv", "text", "sql"};
static const char *const eaches[EACHES] = {"rows", "name", "lane", "key"};

enum { MICROSECONDS = 1, OF_CSV = 2, OF_SQL = 4, LATE = 8, NAMED = 16, COLUMNS_OF_KEYS = 32 };
static const struct {
    const char *word;
    unsigned flag;
} flags[] = {{"us", MICROSECONDS},
             {"csv", OF_CSV},
             {"sql", OF_SQL},               /* the file is what SQLite makes of the text */
             {"late", LATE},                /* a small time is none */
             {"named", NAMED},              /* no name is empty */
             {"columns", COLUMNS_OF_KEYS}}; /* counters are the same in all rows */

static const struct {
    const char *word;
    int kind;
    bool arrow; /* where it ends there may be an instant */
} kinds[] = {{"none", NOTHING, false},         {"arrow", NOTHING, true},
             {"call", KIND_CALL, false},       {"kernel", KIND_KERNEL, false},
             {"copy", KIND_COPY, false},       {"alloc", KIND_ALLOC, false},
             {"barrier", KIND_BARRIER, false}, {"scratch", KIND_SCRATCH, false}};

typedef struct row {
    unsigned weight;
    int kind;
    bool arrow, wrong;
    const char *text, *ends; /* ends: NULL for what is no range */
} row;

typedef struct section {
    const char *file; /* NULL: that of the section before */
    const char *heads[VARIANTS], *tails[VARIANTS], *between;
    size_t head_count, tail_count, row_count;
    row rows[ROWS_MAX];
    int each;
} section;

typedef struct format {
    char *text; /* of its file; what points into it */
    const char *folder, *common, *counter, *comma, *arguments[VARIANTS];
    size_t argument_count, section_count;
    int escape;
    unsigned flags;
    section sections[SECTIONS_MAX];
} format;

static int find_word(const char *const *words, int count, const char *word)
{
    for (int i = 0; i < count; i++)
        if (!strcmp(words[i], word))
            return i;
    fprintf(stderr, "soak: what is '%s'?\n", word);
    exit(2);
}

static void read_row(row *r, bool wrong, char *rest)
{
    char *kind = strchr(rest, ' ') + 1;
    *r = (row){.weight = (unsigned)strtoul(rest, NULL, 10), .wrong = wrong, .kind = NOTHING};
    r->text = kind;
    if (wrong)
        return;
    r->text = strchr(kind, ' ') + 1;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (!strncmp(kind, kinds[i].word, strlen(kinds[i].word))) {
            r->kind = kinds[i].kind;
            r->arrow = kinds[i].arrow;
        }
}

static void read_line(format *f, const char *word, char *rest)
{
    section *s = f->section_count ? &f->sections[f->section_count - 1] : NULL;
    const struct {
        const char *word;
        const char **to;
        size_t *count; /* of several variants; NULL: there is one */
    } texts[] = {{"folder", &f->folder, NULL},
                 {"common", &f->common, NULL},
                 {"counter", &f->counter, NULL},
                 {"comma", &f->comma, NULL},
                 {"argument", f->arguments, &f->argument_count},
                 {"head", s ? s->heads : NULL, s ? &s->head_count : NULL},
                 {"tail", s ? s->tails : NULL, s ? &s->tail_count : NULL},
                 {"between", s ? &s->between : NULL, NULL},
                 {"ends", s && s->row_count ? &s->rows[s->row_count - 1].ends : NULL, NULL}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (!strcmp(word, texts[i].word)) {
            texts[i].to[texts[i].count ? (*texts[i].count)++ : 0] = rest;
            return;
        }
    if (!strcmp(word, "escape")) {
        f->escape = find_word(escapes, ESCAPES, rest);
    } else if (!strcmp(word, "each")) {
        s->each = find_word(eaches, EACHES, rest);
    } else if (!strcmp(word, "flags")) {
        for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
            f->flags |= strstr(rest, flags[i].word) ? flags[i].flag : 0;
    } else if (!strcmp(word, "file") || !strcmp(word, "section")) {
        f->sections[f->section_count++] =
            (section){.file = *word == 'f' ? rest : NULL, .between = ""};
    } else {
        static const char *const words[] = {"row", "wrong"};
        read_row(&s->rows[s->row_count], find_word(words, 2, word), rest);
        s->row_count++;
    }
}

/* Lines that begin with + are put behind the line before. */
static void read_format(format *f, const char *path)
{
    bytes b;
    *f = (format){.common = "", .counter = "", .comma = ""};
    if (!bytes_read(&b, path)) {
        fprintf(stderr, "soak: %s cannot be read\n", path);
        exit(3);
    }
    f->text = b.p;
    char *to = b.p;
    for (const char *p = b.p; *p; p++)
        if (!strncmp(p, "\n+ ", 3))
            p += 2;
        else
            *to++ = *p;
    *to = '\0';
    for (char *line = b.p, *next; *line; line = next) {
        next = line + strcspn(line, "\n");
        if (*next)
            *next++ = '\0';
        char *rest = line + strcspn(line, " ");
        if (*rest)
            *rest++ = '\0';
        if (*line && *line != '#')
            read_line(f, line, rest);
    }
}

/* ---- shapes ---------------------------------------------------------------------------------- */

enum { COLUMNS = 64, LINE = 8192, FEW = 60 };

/* How much of everything there is. Most inputs are small but in one of them. */
typedef struct shape {
    uint64_t names, lanes, args, keys, length, open;
} shape;

static const struct {
    size_t at;
    uint64_t sizes[4]; /* two usual ones, a larger one, a large one */
} sizes[] = {
    {offsetof(shape, names), {1, 20, 1025, 70000}}, {offsetof(shape, lanes), {1, 3, 300, 5000}},
    {offsetof(shape, args), {0, 2, 70, 1100}},      {offsetof(shape, keys), {3, 70, 1500, 70000}},
    {offsetof(shape, length), {0, 24, 200, 5000}},  {offsetof(shape, open), {0, 3, 1100, 100000}}};
enum { SIZES = sizeof sizes / sizeof *sizes };

/* Where time begins, and how it goes on from row to row. */
static const struct {
    int64_t begin, step;
} clocks[] = {{5000000000000, 20000},
              {5000000000000, 100},
              {5000000000000, 0},
              {5004000000000, -20000},
              {INT64_MAX - (INT64_C(1) << 44), 20000},
              {1, 20000}}; /* the last is not for texts, where a time has many digits */
enum { CLOCKS = sizeof clocks / sizeof *clocks };

static const struct {
    uint64_t first, step;
    bool again; /* the same for each set of ranges */
} ids[] = {{1, 1, false}, {1, 1, true}, {13, 7919, false}, {(UINT64_C(1) << 53) + 1, 1, false}};
enum { ID_FORMS = sizeof ids / sizeof *ids };

static const char *const line_ends[] = {"\n", "\r\n", "\r"};

enum { CLOSE_IN_ORDER, CLOSE_REVERSED, CLOSE_SHUFFLED, CLOSE_ORDERS };

typedef struct maker {
    const format *format;
    FILE *f;
    draw d;
    counts *in;
    shape s;
    size_t clock, id_form, rows;
    unsigned vary; /* which of process, thread, GPU and queue differ from lane to lane */
    const char *line_end;
    bool reversed; /* columns */
    size_t turn;   /* which of them is the first */
    uint64_t next_id, next_key;
    bool opened; /* the large set of ranges is done */
    int64_t batch;
    /* of the row at hand */
    uint64_t number, lane, name, id, key;
    int64_t begin, end;
} maker;

/* ---- texts ----------------------------------------------------------------------------------- */

static bool is(const maker *m, unsigned flag)
{
    return m->format->flags & flag;
}

static int64_t duration_of(uint64_t name)
{
    return (int64_t)(name % 5 ? name % 9973 + 2 : 0);
}

/* A name says how long what is called so lasts, as w12z340, so that wrong pairs and times show; or
 * is as short as can be. */
static void put_name(maker *m, bool word)
{
    static const char *const odd[][9] = {
        [JSON] = {"\\\"", "\\\\", "\\n", "\\u00e9", "\\ud83d\\ude00", "\xc3\xa9", ",", "{", " "},
        [QUOTES] = {"\"q\"", "(", ")", "\xc3\xa9", "\xe6\xbc\xa2", " ", "<", "[", "&"},
        [CSV] = {"\"\"", ",", "\n", "\xc3\xa9", "\xe6\xbc\xa2", "(", "\"\",\"\"", " ", "\\"},
        [TEXT] = {"\xc3\xa9", "\xe6\xbc\xa2", " ", "<", ">", "*", "&", "x", "y"},
        [SQL] = {"''", "\"", "\n", "\xc3\xa9", "\xe6\xbc\xa2", "\\", ",", ";", " "}};
    uint64_t n = m->name;
    if (m->s.length < 8) { /* nothing, a, b, ..., aa */
        for (n += word || is(m, NAMED); n; n /= 26)
            putc('a' + (int)(--n % 26), m->f);
        return;
    }
    fprintf(m->f, "w%" PRIu64 "z%" PRId64, n, m->end - m->begin);
    for (uint64_t i = 0; i + 12 < m->s.length; i++)
        fputs(word || n % 3 == 0 ? "p" : odd[m->format->escape][(i * 7 + n) % 9], m->f);
}

/* Nanoseconds, or a number of another unit with a fraction. */
static void put_number(const maker *m, int64_t n, int64_t unit)
{
    if (unit == 1)
        fprintf(m->f, "%" PRId64, n);
    else
        fprintf(m->f, "%" PRId64 ".%0*" PRId64, n / unit, unit == 1000 ? 3 : 9, n % unit);
}

/* Values are sums of powers of two: their sum is exact. */
static void put_value(maker *m, int kind)
{
    const double v = (double)draw_below(&m->d, 4000) / 4;
    m->in->of[kind]++;
    if (kind == KIND_COUNTER)
        m->in->sum += v;
    fprintf(m->f, "%.2f", v);
}

static void put_template(maker *m, const char *t);
static void put_line(maker *m, const char *t);

static void put_several(maker *m, const char *const *variants, size_t count, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++) {
        m->key = is(m, COLUMNS_OF_KEYS) ? i : m->next_key++ % m->s.keys;
        if (i)
            put_template(m, m->format->comma);
        put_line(m, variants[i % count]);
    }
}

static void put_code(maker *m, char code)
{
    enum { SECOND = 1000000000 };
    const int64_t unit = is(m, MICROSECONDS) ? 1000 : 1, lane = (int64_t)m->lane;
    const int64_t begin = m->begin, end = m->end, length = end - begin;
    const uint64_t some = m->s.args ? m->s.args : 1;
    const struct {
        char code;
        int64_t number, unit;
    } numbers[] = {{'P', 4000 + (m->vary & 1 ? lane : 0), 1},
                   {'T', 4000 + (m->vary & 2 ? lane : 0), 1},
                   {'G', m->vary & 4 ? lane % 250 : 0, 1},
                   {'Q', m->vary & 8 ? lane : 0, 1},
                   {'L', lane + 1, 1},
                   {'I', (int64_t)m->id, 1},
                   {'R', (int64_t)m->number + 1, 1},
                   {'M', (int64_t)m->name + 1, 1},
                   {'k', (int64_t)m->key, 1},
                   {'B', begin, unit},
                   {'E', end, unit},
                   {'D', length, unit},
                   {'b', begin, 1},
                   {'l', length, 1},
                   {'s', begin, SECOND},
                   {'e', end, SECOND},
                   {'d', length, SECOND},
                   {'U', begin / 1000, 1},
                   {'W', length / 1000, 1},
                   {'O', end + 1, 1},
                   {'J', begin + 1, 1}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (code == numbers[i].code) {
            put_number(m, numbers[i].number, numbers[i].unit);
            return;
        }
    switch (code) {
    case 'N':
    case 'F':
        put_name(m, code == 'F');
        break;
    case 'K':
        fprintf(m->f, "c%" PRIu64 "x", m->key);
        break;
    case 'V':
    case 'S':
        put_value(m, code == 'V' ? KIND_COUNTER : KIND_SAMPLE);
        break;
    case 'A':
        put_several(m, m->format->arguments, m->format->argument_count, m->s.args);
        break;
    case 'C':
        put_several(m, &m->format->counter, 1, some);
        break;
    case 'H':
        put_several(m, &(const char *){"%K"}, 1, some);
        break;
    case '@':
        put_template(m, m->format->common);
        break;
    case '/':
        fputs(is(m, OF_CSV) ? m->line_end : "\n", m->f);
        break;
    default: /* > */
        putc('\t', m->f);
    }
}

static void put_template(maker *m, const char *t)
{
    for (; *t; t++)
        if (*t == '%')
            put_code(m, *++t);
        else
            putc(*t, m->f);
}

/* Lines of CSV have their columns in another order. */
static void put_line(maker *m, const char *t)
{
    const char *columns[COLUMNS];
    char line[LINE];
    size_t count = 0, n = 0;
    if (!is(m, OF_CSV) || !strchr(t, '|')) {
        put_template(m, t);
        return;
    }
    for (const char *p = t; p && count < COLUMNS; p = strchr(p, '|'), p = p ? p + 1 : NULL)
        columns[count++] = p;
    for (size_t i = 0; i < count; i++) {
        const char *p = columns[(m->reversed ? count - 1 - i + m->turn : i + m->turn) % count];
        n += (size_t)snprintf(line + n, sizeof line - n, "%s%.*s", i ? "," : "",
                              (int)strcspn(p, "|"), p);
    }
    put_template(m, line);
    put_template(m, "%/");
}

/* ---- rows ------------------------------------------------------------------------------------ */

static void begin_row(maker *m, uint64_t number)
{
    m->number = m->key = number;
    m->name = number % m->s.names;
    m->lane = number % m->s.lanes;
    m->id = m->next_id;
    m->next_id += ids[m->id_form].step;
    m->begin = clocks[m->clock].begin + (int64_t)number * clocks[m->clock].step;
    m->end = m->begin + duration_of(m->name);
}

/* Many ranges that are open at once, and are closed in some order, or not all of them. Those
 * without an id nest. */
static void put_ranges(maker *m, const row *r, const char *between)
{
    enum { OVERLAPPING_MAX = 8000 }; /* each has a track, of which OTF2 makes a file */
    const bool by_id = strstr(r->ends, "%I") || strstr(r->ends, "%N");
    const uint64_t order = by_id ? draw_below(&m->d, CLOSE_ORDERS) : CLOSE_REVERSED;
    const uint64_t wanted = m->opened ? 1 + m->s.open % 3 : m->s.open;
    const uint64_t n =
        order != CLOSE_REVERSED && wanted > OVERLAPPING_MAX ? OVERLAPPING_MAX : wanted;
    const uint64_t left = draw_below(&m->d, 4), closed = left > 1 ? n : n / 2 * left;
    const uint64_t number = m->number, lane = m->lane;
    uint64_t *turn = malloc((n + 1) * sizeof *turn), first = m->next_id, printed = 0;
    int64_t *place = malloc((n + 1) * sizeof *place);
    if (!turn || !place)
        abort();
    m->opened = true;
    if (ids[m->id_form].again)
        first = ids[m->id_form].first;
    m->next_id = first + n * ids[m->id_form].step;
    for (uint64_t i = 0; i < n; i++)
        turn[i] = order == CLOSE_REVERSED ? n - 1 - i : i;
    for (uint64_t i = n; i > 1 && order == CLOSE_SHUFFLED; i--) {
        const uint64_t k = draw_below(&m->d, i), t = turn[k];
        turn[k] = turn[i - 1];
        turn[i - 1] = t;
    }
    for (uint64_t i = 0; i < n; i++)
        place[turn[i]] = (int64_t)i;
    for (uint64_t half = 0; half < 2; half++)
        for (uint64_t i = 0; i < (half ? closed : n); i++) {
            m->number = number;
            m->lane = lane;
            m->name = half ? turn[i] : i;
            m->id = first + m->name * ids[m->id_form].step;
            m->begin = m->batch + (int64_t)m->name;
            m->end = m->batch + (int64_t)n + place[m->name];
            if (printed++)
                put_template(m, between);
            put_line(m, half ? r->ends : r->text);
        }
    m->batch += 2 * (int64_t)n + 1000;
    m->in->of[r->kind] += (int64_t)closed;
    m->in->faults += (int64_t)(n - closed);
    free(turn);
    free(place);
}

static void put_section(maker *m, const section *s)
{
    const size_t variant = s->head_count ? draw_below(&m->d, s->head_count) : 0;
    const uint64_t counts_of_rows[EACHES] = {m->rows, m->s.names, m->s.lanes, m->s.keys};
    unsigned weights = 0;
    bool any = false;
    for (size_t i = 0; i < s->row_count; i++)
        weights += s->rows[i].weight;
    if (s->head_count)
        put_line(m, s->heads[variant]);
    for (uint64_t i = 0; i < counts_of_rows[s->each]; i++) {
        uint64_t at = draw_below(&m->d, weights);
        const row *r = s->rows;
        for (; at >= r->weight; r++)
            at -= r->weight;
        begin_row(m, i);
        if (r->ends && (!m->s.open || (m->opened && i % 8)))
            continue;
        if (any)
            put_template(m, s->between);
        any = true;
        if (r->ends) {
            put_ranges(m, r, s->between);
            continue;
        }
        put_line(m, r->text);
        if (r->kind != NOTHING)
            m->in->of[r->kind]++;
        m->in->faults += r->wrong;
        m->in->instants += r->arrow;
    }
    if (s->tail_count)
        put_template(m, s->tails[variant % s->tail_count]);
}

/* ---- inputs ---------------------------------------------------------------------------------- */

static void draw_shape(maker *m)
{
    const bool large = draw_below(&m->d, 16) == 0;
    const size_t more = draw_below(&m->d, SIZES);
    for (size_t i = 0; i < SIZES; i++)
        *(uint64_t *)((char *)&m->s + sizes[i].at) =
            sizes[i].sizes[i == more ? (large ? 3 : 2) : draw_below(&m->d, 2)];
    m->rows = FEW + (m->s.names > m->s.lanes ? m->s.names : m->s.lanes) * 5 / 4;
    if (m->s.keys > 1500)
        m->s.args = m->s.keys / FEW + 1;
    if (m->s.args > m->s.keys)
        m->s.keys = m->s.args;
    /* A large input at one time would have as many tracks as rows. */
    m->clock = large ? 0 : draw_below(&m->d, is(m, LATE) ? CLOCKS - 1 : CLOCKS);
    m->id_form = draw_below(&m->d, ID_FORMS);
    m->vary = (unsigned)draw_below(&m->d, 16);
    m->line_end = line_ends[draw_below(&m->d, 3)];
    m->reversed = draw_below(&m->d, 2);
    m->turn = draw_below(&m->d, COLUMNS);
    m->next_id = ids[m->id_form].first;
    m->batch = clocks[m->clock].begin + (INT64_C(1) << 40);
}

/* The file is SQL: makes the database of it. */
static void make_database(const char *path, char *sql)
{
    sqlite3 *db = NULL;
    char *why = NULL;
    if (sqlite3_open(path, &db) != SQLITE_OK || sqlite3_exec(db, sql, NULL, NULL, &why)) {
        fprintf(stderr, "soak: %s: %s\n", path, why ? why : sqlite3_errmsg(db));
        exit(5);
    }
    sqlite3_close(db);
}

void make_input(const char *rows, uint64_t number, char *path, size_t size, counts *in)
{
    const char *name = strrchr(rows, '/') ? strrchr(rows, '/') + 1 : rows;
    char file[8192], *text = NULL;
    size_t text_size = 0;
    format f;
    read_format(&f, rows);
    maker m = {.format = &f, .d = draw_seeded(name, number), .in = in};
    counts_clear(in);
    in->sum = 0;
    draw_shape(&m);
    snprintf(path, size, "in/%s", f.folder ? f.folder : f.sections->file);
    if (f.folder)
        mkdir(path, 0777);
    for (const section *s = f.sections; s < f.sections + f.section_count; s++) {
        if (s->file) {
            snprintf(file, sizeof file, "in/%s%s%s", f.folder ? f.folder : "", f.folder ? "/" : "",
                     s->file);
            if (!(m.f = open_memstream(&text, &text_size)))
                abort();
            if (f.flags & OF_CSV && draw_below(&m.d, 4) == 0)
                fputs("\xef\xbb\xbf", m.f);
        }
        put_section(&m, s);
        if (s + 1 < f.sections + f.section_count && !s[1].file)
            continue;
        fclose(m.f);
        if (f.flags & OF_CSV && draw_below(&m.d, 4) == 0)
            text_size -= strlen(m.line_end); /* the last line need not have an end */
        if (f.flags & OF_SQL)
            make_database(file, text);
        else if (!bytes_write(file, text, text_size))
            abort();
        free(text);
    }
    counts_add_up(in);
    free(f.text);
}
