/* pfdump: looks into a Perfetto trace without any code of ours that wrote it.
 *
 *   pfdump plain FILE    the trace with compressed packets taken apart (and gunzipped), for protoc
 *   pfdump sequences FILE  the id of each packet's sequence, a line each
 *   pfdump specs FILE      each queue or stage that a sequence declares: its id, the iid, the name
 *   pfdump events FILE   one line per event, tab-separated, names and times resolved:
 *     slice    BEGIN END PID TID TRACK CATEGORY NAME STACK_ID LINK
 *     instant  TIME  -   PID TID TRACK CATEGORY NAME STACK_ID LINK
 *     stage    BEGIN END PID GPU QUEUE STAGE    NAME EVENT_ID KERNEL
 *     value    TIME  -   PID GPU TRACK UNIT     NUMBER
 *
 * LINK is the flow id or the GPU correlation. What breaks a rule of the format (undeclared iids and
 * tracks, slices that do not nest, time that runs backwards ...) is said on standard error, exit
 * code 1. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

static unsigned faults;

#define BAD(...)                                                                                   \
    do {                                                                                           \
        if (faults++ < 20) {                                                                       \
            fprintf(stderr, "pfdump: ");                                                           \
            fprintf(stderr, __VA_ARGS__);                                                          \
            fputc('\n', stderr);                                                                   \
        }                                                                                          \
    } while (0)

/* Names point into what was read, so it stays; here, where leak checkers see it. */
static struct kept {
    void *bytes;
    struct kept *next;
} * kept;

static void *must(void *p)
{
    if (!p) {
        fputs("pfdump: out of memory\n", stderr);
        exit(5);
    }
    return p;
}

static void keep(void *bytes)
{
    struct kept *k = must(malloc(sizeof *k));
    *k = (struct kept){bytes, kept};
    kept = k;
}

/* ---- wire format ---- */

typedef struct span {
    const uint8_t *p, *end;
} span;

typedef struct field {
    uint32_t number;
    uint64_t value; /* varint, fixed64 */
    span bytes;
} field;

static uint64_t varint(span *s)
{
    uint64_t v = 0;
    for (unsigned shift = 0; s->p < s->end && shift < 70; shift += 7) {
        uint8_t c = *s->p++;
        v |= shift < 64 ? (uint64_t)(c & 0x7f) << shift : 0;
        if (!(c & 0x80))
            return v;
    }
    BAD("a varint is cut");
    s->p = s->end;
    return 0;
}

static bool next(span *s, field *f)
{
    if (s->p >= s->end)
        return false;
    uint64_t key = varint(s);
    *f = (field){.number = (uint32_t)(key >> 3)};
    switch (key & 7) {
    case 0:
        f->value = varint(s);
        return true;
    case 1:
        if (s->end - s->p < 8)
            break;
        memcpy(&f->value, s->p, 8);
        s->p += 8;
        return true;
    case 2: {
        uint64_t n = varint(s);
        if (n > (uint64_t)(s->end - s->p))
            break;
        f->bytes = (span){s->p, s->p + n};
        s->p += n;
        return true;
    }
    default:
        break;
    }
    BAD("field %u is broken", f->number);
    s->p = s->end;
    return false;
}

/* ---- lists that are looked through ---- */

typedef struct named { /* interned, per sequence and table */
    uint64_t iid;
    span name;
    uint64_t other; /* pid of a context */
    struct named *next;
} named;

enum { NAMES, CATEGORIES, NOTES, CONTEXTS, SPECS, COUNTERS, KERNELS, ARGS, STRINGS, TABLES };

static const char *const table_names[TABLES] = {"name",    "category", "annotation",
                                                "context", "stage",    "counter",
                                                "kernel",  "argument", "string"};

#define BUCKETS 4096

typedef struct sequence {
    uint32_t id;
    bool cleared;
    uint64_t now, track;
    named *tables[TABLES][BUCKETS];
    struct sequence *next;
} sequence;

typedef struct open_slice {
    uint64_t begin;
    uint64_t stack, link;
    span name, category;
} open_slice;

/* What one sequence writes on a track. */
typedef struct strip {
    uint32_t sequence;
    uint64_t first, now;
    open_slice *open;
    size_t depth, cap;
    struct strip *next;
} strip;

typedef struct track {
    uint64_t uuid, parent;
    strip *strips;
    int64_t pid, tid;
    span name, unit;
    bool counter;
    struct track *next;
} track;

static sequence *sequences;
static track *tracks[BUCKETS];
static bool dump;
static uint64_t packets;

static sequence *sequence_of(uint32_t id)
{
    sequence *s = sequences;
    while (s && s->id != id)
        s = s->next;
    if (!s) {
        s = must(calloc(1, sizeof *s));
        s->id = id;
        s->next = sequences;
        sequences = s;
    }
    return s;
}

static track *track_of(uint64_t uuid)
{
    track *t = tracks[uuid % BUCKETS];
    while (t && t->uuid != uuid)
        t = t->next;
    return t;
}

static const named *lookup(const sequence *s, unsigned table, uint64_t iid)
{
    const named *n = s->tables[table][iid % BUCKETS];
    while (n && n->iid != iid)
        n = n->next;
    if (!n)
        BAD("packet %" PRIu64 ": %s %" PRIu64 " is not declared on sequence %u", packets,
            table_names[table], iid, s->id);
    return n;
}

static span name_of(const sequence *s, unsigned table, uint64_t iid)
{
    const named *n = lookup(s, table, iid);
    return n ? n->name : (span){NULL, NULL};
}

static named *declare(sequence *s, unsigned table, uint64_t iid)
{
    named *n = must(calloc(1, sizeof *n));
    for (const named *old = s->tables[table][iid % BUCKETS]; old; old = old->next)
        if (old->iid == iid)
            BAD("packet %" PRIu64 ": %s %" PRIu64 " is declared twice on sequence %u", packets,
                table_names[table], iid, s->id);
    if (!iid)
        BAD("packet %" PRIu64 ": a %s with iid 0", packets, table_names[table]);
    n->iid = iid;
    n->next = s->tables[table][iid % BUCKETS];
    s->tables[table][iid % BUCKETS] = n;
    return n;
}

/* ---- interned data ---- */

static void take_counters(sequence *s, span body)
{
    field f, g;
    while (next(&body, &f)) {
        uint64_t id = 0;
        span name = {NULL, NULL}, spec = f.bytes;
        if (f.number != 1)
            continue;
        while (next(&spec, &g)) {
            if (g.number == 1)
                id = g.value;
            else if (g.number == 2)
                name = g.bytes;
        }
        declare(s, COUNTERS, id)->name = name;
    }
}

static void take_entry(sequence *s, unsigned table, span entry)
{
    field f;
    span all = entry, name = {NULL, NULL};
    uint64_t iid = 0, other = 0;
    while (next(&all, &f)) {
        if (f.number == 1)
            iid = f.value;
        else if (f.number == 2 && table == COUNTERS)
            take_counters(s, f.bytes);
        else if (f.number == 2 && f.bytes.p)
            name = f.bytes;
        else if (f.number == 2)
            other = f.value;
    }
    if (table == COUNTERS)
        return;
    named *n = declare(s, table, iid);
    n->name = name;
    n->other = other;
}

static void take_interned(sequence *s, span data)
{
    static const uint32_t numbers[TABLES] = {2, 1, 3, 23, 24, 47, 1000, 1001, 29};
    field f;
    while (next(&data, &f)) {
        unsigned table = 0;
        while (table < TABLES && numbers[table] != f.number)
            table++;
        if (table == TABLES)
            BAD("interned data of an unknown sort: %u", f.number);
        else
            take_entry(s, table, f.bytes);
    }
}

/* ---- tracks ---- */

static void take_owner(span data, unsigned number, int64_t *pid, int64_t *tid)
{
    field f;
    while (next(&data, &f)) {
        if (f.number == 1)
            *pid = (int64_t)f.value;
        else if (f.number == 2 && number == 4)
            *tid = (int64_t)f.value;
    }
}

static void take_unit(track *t, span data)
{
    field f;
    t->counter = true;
    while (next(&data, &f)) {
        if (f.number == 3 && f.value == 3)
            t->unit = (span){(const uint8_t *)"bytes", (const uint8_t *)"bytes" + 5};
        else if (f.number == 6)
            t->unit = f.bytes;
    }
}

static void take_track(span data)
{
    field f;
    track *t = must(calloc(1, sizeof *t));
    while (next(&data, &f)) {
        if (f.number == 1)
            t->uuid = f.value;
        else if (f.number == 2)
            t->name = f.bytes;
        else if (f.number == 3 || f.number == 4)
            take_owner(f.bytes, f.number, &t->pid, &t->tid);
        else if (f.number == 5)
            t->parent = f.value;
        else if (f.number == 8)
            take_unit(t, f.bytes);
    }
    const track *parent = t->parent ? track_of(t->parent) : NULL;
    if (track_of(t->uuid))
        BAD("track %" PRIu64 " is described twice", t->uuid);
    if (t->parent && !parent)
        BAD("track %" PRIu64 " is below one that is not there", t->uuid);
    if (parent) {
        t->pid = parent->pid;
        t->tid = parent->tid;
    }
    t->next = tracks[t->uuid % BUCKETS];
    tracks[t->uuid % BUCKETS] = t;
}

/* ---- lines ---- */

static void put_span(span s)
{
    putchar('\t');
    for (; s.p < s.end; s.p++) {
        if (*s.p < 0x20 || *s.p == '\\')
            printf("\\x%02x", *s.p);
        else
            putchar(*s.p);
    }
}

static void put_slice(const char *what, const track *t, const open_slice *s, uint64_t end)
{
    if (!dump)
        return;
    printf("%s\t%" PRIu64 "\t%" PRIu64 "\t%" PRId64 "\t%" PRId64, what, s->begin, end, t->pid,
           t->tid);
    put_span(t->name);
    put_span(s->category);
    put_span(s->name);
    printf("\t%" PRIu64 "\t%" PRIu64 "\n", s->stack, s->link);
}

static void put_value(uint64_t time, int64_t pid, int64_t gpu, span name, span unit, double v)
{
    if (!dump)
        return;
    printf("value\t%" PRIu64 "\t\t%" PRId64 "\t%" PRId64, time, pid, gpu);
    put_span(name);
    put_span(unit);
    printf("\t%.17g\n", v);
}

/* ---- events ---- */

static double real(uint64_t bits)
{
    double d;
    memcpy(&d, &bits, sizeof d);
    return d;
}

static void begin_slice(strip *t, const open_slice *s)
{
    if (t->depth == t->cap) {
        t->cap = t->cap ? 2 * t->cap : 8;
        t->open = must(realloc(t->open, t->cap * sizeof *t->open));
    }
    t->open[t->depth++] = *s;
}

/* Slices of a track come from a sequence in order of time. */
static strip *find_strip(track *t, const sequence *s, uint64_t time)
{
    strip *p = t->strips;
    while (p && p->sequence != s->id)
        p = p->next;
    if (!p) {
        p = must(calloc(1, sizeof *p));
        *p = (strip){.sequence = s->id, .first = time, .now = time, .next = t->strips};
        t->strips = p;
    }
    if (time < p->now)
        BAD("packet %" PRIu64 ": time runs backwards on track %" PRIu64, packets, t->uuid);
    p->now = time;
    return p;
}

/* Several sequences may write on a track one after the other. Where one ends and another begins at
 * one time, a reader could take the begin first. */
static void check_strips(const track *t)
{
    for (const strip *a = t->strips; a; a = a->next) {
        if (a->depth)
            BAD("track %" PRIu64 ": %zu slices do not end", t->uuid, a->depth);
        for (const strip *b = a->next; b; b = b->next)
            if (a->first <= b->now && b->first <= a->now)
                BAD("track %" PRIu64 ": sequences %u and %u write on it at one time", t->uuid,
                    a->sequence, b->sequence);
    }
}

static void take_note(const sequence *s, span data, open_slice *slice)
{
    field f;
    span name = {NULL, NULL};
    uint64_t v = 0;
    while (next(&data, &f)) {
        if (f.number == 1)
            name = name_of(s, NOTES, f.value);
        else if (f.number == 3)
            v = f.value;
    }
    size_t n = (size_t)(name.end - name.p);
    if ((n == 8 && !memcmp(name.p, "stack_id", 8)) || (n == 7 && !memcmp(name.p, "corr_id", 7)))
        slice->stack = v;
}

static uint64_t first_number(span data)
{
    field f;
    return next(&data, &f) ? f.value : 0;
}

typedef struct event {
    uint64_t type, track;
    double number;
    open_slice slice;
} event;

static void read_event(const sequence *s, span data, event *e)
{
    field f;
    while (next(&data, &f)) {
        switch (f.number) {
        case 3:
            e->slice.category = name_of(s, CATEGORIES, f.value);
            break;
        case 4:
            take_note(s, f.bytes, &e->slice);
            break;
        case 9:
            e->type = f.value;
            break;
        case 10:
            e->slice.name = name_of(s, NAMES, f.value);
            break;
        case 11:
            e->track = f.value;
            break;
        case 30:
            e->number = (double)(int64_t)f.value;
            break;
        case 44:
            e->number = real(f.value);
            break;
        case 47:
            e->slice.link = f.value;
            break;
        case 3000:
            e->slice.link = first_number(f.bytes);
            break;
        default:
            break;
        }
    }
}

static void take_event(const sequence *s, span data, uint64_t time)
{
    event e = {.track = s->track, .slice = {.begin = time}};
    read_event(s, data, &e);
    track *t = track_of(e.track);
    if (!t) {
        BAD("packet %" PRIu64 ": an event on track %" PRIu64 " which is not described", packets,
            e.track);
        return;
    }
    if (t->counter != (e.type == 4))
        BAD("packet %" PRIu64 ": type %" PRIu64 " on track %" PRIu64, packets, e.type, t->uuid);
    if (e.type == 4) {
        put_value(time, t->pid, -1, t->name, t->unit, e.number);
        return;
    }
    strip *p = find_strip(t, s, time);
    if (e.type == 1)
        begin_slice(p, &e.slice);
    else if (e.type == 3)
        put_slice("instant", t, &e.slice, time);
    else if (e.type == 2 && p->depth)
        put_slice("slice", t, &p->open[--p->depth], time);
    else
        BAD("packet %" PRIu64 ": an end without a begin on track %" PRIu64, packets, t->uuid);
}

static void check_args(const sequence *s, span launch)
{
    field f, g;
    while (next(&launch, &f))
        for (span arg = f.bytes; f.number == 3 && next(&arg, &g);) {
            if (g.number == 1)
                lookup(s, ARGS, g.value);
            else if (g.number == 7)
                lookup(s, STRINGS, g.value);
        }
}

static void take_stage(const sequence *s, span data, uint64_t time)
{
    field f;
    uint64_t id = 0, duration = 0, gpu = 0;
    int64_t pid = -1;
    span queue = {0}, stage = {0}, name = {0}, kernel = {0};
    while (next(&data, &f)) {
        const named *n;
        if (f.number == 1)
            id = f.value;
        else if (f.number == 2)
            duration = f.value;
        else if (f.number == 5)
            pid = (n = lookup(s, CONTEXTS, f.value)) ? (int64_t)n->other : -1;
        else if (f.number == 11)
            gpu = f.value;
        else if (f.number == 13)
            queue = name_of(s, SPECS, f.value);
        else if (f.number == 14)
            stage = name_of(s, SPECS, f.value);
        else if (f.number == 19)
            kernel = name_of(s, KERNELS, f.value);
        else if (f.number == 20)
            name = name_of(s, NAMES, f.value);
        else if (f.number == 21)
            check_args(s, f.bytes);
    }
    if (!queue.p || !stage.p || !name.p || pid < 0)
        BAD("packet %" PRIu64 ": a stage without queue, stage, name or process", packets);
    if (!dump)
        return;
    printf("stage\t%" PRIu64 "\t%" PRIu64 "\t%" PRId64 "\t%" PRIu64, time, time + duration, pid,
           gpu);
    put_span(queue);
    put_span(stage);
    put_span(name);
    printf("\t%" PRIu64, id);
    put_span(kernel);
    putchar('\n');
}

static void take_gpu_values(const sequence *s, span data, uint64_t time)
{
    field f, g;
    uint64_t gpu = 0;
    for (span all = data; next(&all, &f);)
        if (f.number == 3)
            gpu = f.value;
    while (next(&data, &f)) {
        span value = f.bytes, name = {0};
        double v = 0;
        if (f.number != 2)
            continue;
        while (next(&value, &g)) {
            if (g.number == 1)
                name = name_of(s, COUNTERS, g.value);
            else
                v = g.number == 2 ? (double)(int64_t)g.value : real(g.value);
        }
        put_value(time, -1, (int64_t)gpu, name, (span){0}, v);
    }
}

/* ---- packets ---- */

/* The last clock of a snapshot is that of the sequence. */
static void take_clocks(sequence *s, span data)
{
    field f, g;
    while (next(&data, &f))
        for (span clock = f.bytes; f.number == 1 && next(&clock, &g);)
            if (g.number == 2)
                s->now = g.value;
}

static void take_defaults(sequence *s, span data)
{
    field f;
    s->track = 0;
    while (next(&data, &f))
        if (f.number == 11)
            for (field g; next(&f.bytes, &g);)
                s->track = g.number == 11 ? g.value : s->track;
}

static void take_head(sequence *s, span packet, bool *absolute, uint64_t *time)
{
    field f;
    while (next(&packet, &f)) {
        if (f.number == 8)
            *time = f.value;
        else if (f.number == 58)
            *absolute = f.value == 6;
        else if (f.number == 6)
            take_clocks(s, f.bytes);
        else if (f.number == 59)
            take_defaults(s, f.bytes);
        else if (f.number == 13 && f.value & 1)
            s->cleared = true;
        else if (f.number == 12)
            take_interned(s, f.bytes);
    }
}

static uint32_t sequence_id(span packet)
{
    field f;
    uint32_t id = 0;
    while (next(&packet, &f))
        if (f.number == 10)
            id = (uint32_t)f.value;
    return id;
}

static void take_packet(span packet)
{
    field f;
    sequence *s = sequence_of(sequence_id(packet));
    bool absolute = false;
    uint64_t time = 0;
    packets++;
    take_head(s, packet, &absolute, &time);
    if (!absolute) {
        s->now += time;
        time = s->now;
    }
    if (time > INT64_MAX)
        BAD("packet %" PRIu64 ": a time above 2^63", packets);
    while (next(&packet, &f)) {
        if ((f.number == 11 || f.number == 52 || f.number == 53) && !s->cleared)
            BAD("packet %" PRIu64 ": an event before its sequence %u begins", packets, s->id);
        if (f.number == 11)
            take_event(s, f.bytes, time);
        else if (f.number == 52)
            take_gpu_values(s, f.bytes, time);
        else if (f.number == 53)
            take_stage(s, f.bytes, time);
        else if (f.number == 60)
            take_track(f.bytes);
    }
}

static void check_closed(void)
{
    for (size_t i = 0; i < BUCKETS; i++)
        for (const track *t = tracks[i]; t; t = t->next)
            check_strips(t);
}

/* ---- files ---- */

typedef void packet_fn(span packet);

static void each_packet(span trace, packet_fn *fn);

static void inflate_packets(span data, packet_fn *fn)
{
    size_t cap = 1 << 20;
    uint8_t *out = must(malloc(cap));
    z_stream z = {.next_in = (Bytef *)(uintptr_t)data.p, .avail_in = (uInt)(data.end - data.p)};
    int rc = inflateInit(&z);
    while (rc == Z_OK) {
        if (z.total_out == cap)
            out = must(realloc(out, cap *= 2));
        z.next_out = out + z.total_out;
        z.avail_out = (uInt)(cap - z.total_out);
        rc = inflate(&z, Z_NO_FLUSH);
    }
    if (rc != Z_STREAM_END)
        BAD("a compressed packet does not inflate");
    size_t n = z.total_out;
    inflateEnd(&z);
    keep(out);
    each_packet((span){out, out + n}, fn);
}

static void each_packet(span trace, packet_fn *fn)
{
    field f, g;
    while (next(&trace, &f)) {
        span packet = f.bytes;
        if (f.number != 1)
            BAD("field %u between packets", f.number);
        else if (next(&packet, &g) && g.number == 50)
            inflate_packets(g.bytes, fn);
        else
            fn(f.bytes);
    }
}

static void copy_packet(span packet)
{
    uint8_t head[12] = {0x0a};
    size_t n = 1;
    uint64_t len = (uint64_t)(packet.end - packet.p);
    for (; len >= 0x80; len >>= 7)
        head[n++] = (uint8_t)(len | 0x80);
    head[n++] = (uint8_t)len;
    fwrite(head, 1, n, stdout);
    fwrite(packet.p, 1, (size_t)(packet.end - packet.p), stdout);
}

static void print_sequence(span packet)
{
    field f;
    while (next(&packet, &f))
        if (f.number == 10)
            printf("%" PRIu64 "\n", f.value);
}

/* The queues and stages of GPU work that it declares. */
static void print_specs(span packet)
{
    field f, g, h;
    uint64_t id = 0;
    span rest = packet;
    while (next(&rest, &f))
        id = f.number == 10 ? f.value : id;
    while (next(&packet, &f))
        while (f.number == 12 && next(&f.bytes, &g)) {
            uint64_t iid = 0;
            span name = {NULL, NULL};
            if (g.number != 24)
                continue;
            while (next(&g.bytes, &h)) {
                iid = h.number == 1 ? h.value : iid;
                name = h.number == 2 ? h.bytes : name;
            }
            printf("%" PRIu64 "\t%" PRIu64 "\t%.*s\n", id, iid, (int)(name.end - name.p),
                   (const char *)name.p);
        }
}

/* All of a file, gunzipped when it is gzip. */
static span read_file(const char *path)
{
    size_t len = 0, cap = 1 << 20;
    uint8_t *data = must(malloc(cap));
    gzFile f = gzopen(path, "rb");
    if (!f) {
        perror(path);
        exit(3);
    }
    for (int n; (n = gzread(f, data + len, (unsigned)(cap - len))) > 0;) {
        len += (size_t)n;
        if (len == cap)
            data = must(realloc(data, cap *= 2));
    }
    gzclose(f);
    keep(data);
    return (span){data, data + len};
}

static const struct {
    const char *name;
    packet_fn *take;
} commands[] = {{"plain", copy_packet},
                {"sequences", print_sequence},
                {"specs", print_specs},
                {"events", take_packet}};

int main(int argc, char **argv)
{
    packet_fn *take = NULL;
    for (size_t i = 0; argc == 3 && i < sizeof commands / sizeof *commands; i++)
        if (!strcmp(argv[1], commands[i].name))
            take = commands[i].take;
    if (!take) {
        fputs("usage: pfdump plain|sequences|specs|events FILE\n", stderr);
        return 2;
    }
    dump = take == take_packet;
    each_packet(read_file(argv[2]), take);
    check_closed();
    return fflush(stdout) || faults ? 1 : 0;
}
