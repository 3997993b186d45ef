/* An archive that the ranks of a team write together. Each writes its own captures as if they were
 * all there is: locations, definitions and windows have the numbers of the rank. It tells rank 0
 * what it has written; rank 0 repeats everything that depends on earlier captures, in the order of
 * all captures, so that definitions and locations get the same numbers as in one process. Each rank
 * then writes the mapping of its references beside its events.
 *
 *     what a rank tells     the definitions that it has given references to; of each capture how
 *                           many of them there were then, its tracks, the ends of its copies, where
 *                           its markers are
 *     what rank 0 answers   the number of the first location of each capture; the references
 *     rankR/markers         of each marker its location, times and name; next to the archive of the
 *                           rank, since there may be many */
#include <errno.h>
#include <stdlib.h>

#include "base/error.h"
#include "sink/otf2/otf2.h"
#include "team/team.h"
#include "trace/joint.h"

/* ---- what a rank tells ----------------------------------------------------------------------- */

static const rocl_track_kind last_track_kind = ROCL_TRACK_SAMPLES;

/* Numbers that may be ROCL_NONE are put with 1 added, as 32 bits. */
static void put_ref(rocl_buf *b, uint32_t ref)
{
    rocl_buf_varint(b, (uint32_t)(ref + 1));
}

static uint32_t take_ref(rocl_byte_reader *r)
{
    return (uint32_t)rocl_next_number(r) - 1;
}

rocl_status ot_note_capture(ot_sink *s, const rocl_capture *c, rocl_error *err)
{
    rocl_buf *b = &s->captures;
    if (!ROCL_GROW(s->begins, s->begin_capacity, s->begin_count + 1))
        return rocl_fail_memory(err);
    s->begins[s->begin_count++] = s->first_number;
    rocl_buf_varint(b, c->index);
    rocl_buf_varint(b, s->first_number);
    rocl_buf_varint(b, s->next_number - s->first_number);
    for (unsigned kind = 0; kind < OT_LISTS; kind++)
        rocl_buf_varint(b, s->defs.lists[kind].count);
    rocl_buf_varint(b, s->side_first);
    rocl_buf_varint(b, s->side_bytes - s->side_first);
    rocl_buf_varint(b, s->peers.count);
    for (size_t i = 0; i < s->peers.count; i++)
        rocl_buf_varint(b, s->peers.all[i]);
    rocl_buf_varint(b, s->track_count);
    for (uint32_t i = 0; i < s->track_count; i++) {
        const ot_track *t = &s->tracks[i];
        rocl_buf_varint(b, t->track.kind);
        rocl_buf_varint(b, t->track.process);
        put_ref(b, t->track.thread);
        put_ref(b, t->track.agent);
        put_ref(b, t->track.id);
        rocl_buf_varint(b, t->track.lane);
        rocl_buf_varint(b, t->base);
        rocl_buf_varint(b, t->number - s->first_number);
        rocl_buf_varint(b, t->events);
        rocl_buf_byte(b, t->copies);
    }
    return b->failed ? rocl_fail_memory(err) : ROCL_OK;
}

/* The numbers that items of a list consist of: t a text, n a number, r one that may be ROCL_NONE,
 * - one that is known only later. */
static const char *const item_numbers[OT_LISTS] = {
    [OT_STRINGS] = "t", [OT_ATTRIBUTES] = "tn", [OT_REGIONS] = "ttnn", [OT_METRICS] = "rnn-rr-"};
static const char member_numbers[] = "tttnn";

static void put_items(rocl_buf *b, rocl_strings *strings, const ot_list *l, const char *numbers)
{
    const uint32_t *v = l->items;
    for (uint32_t i = 0; i < l->count; i++)
        for (const char *kind = numbers; *kind; kind++, v++) {
            size_t n = 0;
            const char *text = *kind == 't' ? rocl_strings_get(strings, *v, &n) : NULL;
            if (text)
                rocl_team_put_text(b, text, n);
            else if (*kind == 'r')
                put_ref(b, *v);
            else if (*kind == 'n')
                rocl_buf_varint(b, *v);
        }
}

static void put_facts(rocl_buf *b, const ot_sink *s)
{
    const int64_t times[] = {s->earliest, s->latest};
    const ot_defs *d = &s->defs;
    rocl_buf_put(b, times, sizeof times);
    for (unsigned kind = 0; kind < OT_LISTS; kind++)
        rocl_buf_varint(b, d->lists[kind].count);
    rocl_buf_varint(b, s->peers.next_window);
    rocl_buf_varint(b, d->members.count);
    for (unsigned kind = 0; kind < OT_LISTS; kind++) {
        if (kind == OT_METRICS)
            put_items(b, s->trace->strings, &d->members, member_numbers);
        put_items(b, s->trace->strings, &d->lists[kind], item_numbers[kind]);
    }
    rocl_buf_put(b, s->captures.data, s->captures.len);
    b->failed |= s->defs.failed;
}

/* ---- markers --------------------------------------------------------------------------------- */

/* Its name follows. */
typedef struct side_marker {
    uint64_t location, time, duration, length;
} side_marker;

rocl_status ot_store_marker(ot_sink *s, const ot_marker *m, rocl_error *err)
{
    size_t n;
    const char *name = rocl_strings_get(s->trace->strings, m->name, &n);
    const side_marker side = {m->location, m->time, m->duration, n};
    if (!s->side)
        s->side = ot_archive_side_file(s->archive, rocl_joint_rank(s->trace->joint), "wb");
    if (!s->side || fwrite(&side, sizeof side, 1, s->side) != 1 ||
        (n && fwrite(name, n, 1, s->side) != 1))
        return ot_archive_fail(s->archive, errno, err);
    s->side_bytes += sizeof side + n;
    return ROCL_OK;
}

/* ---- all captures again, on rank 0 ----------------------------------------------------------- */

/* The message of a rank, and how far it was read. */
typedef struct teller {
    rocl_byte_reader r; /* at the capture after `capture` */
    uint64_t capture;   /* UINT64_MAX: no more */
    ot_defs defs;       /* the rank's, in texts of this one */
    ot_mapping to;      /* from its references to the archive's */
    uint32_t windows;   /* that `to` has room for */
    rocl_buf numbers;   /* of the first location of each of its captures */
    uint64_t captures;
} teller;

/* The markers of a capture. */
typedef struct side_piece {
    unsigned rank;
    uint32_t from, to; /* the first number of its locations, in the rank and in the archive */
    uint64_t at, bytes;
} side_piece;

typedef struct whole {
    ot_sink s; /* the archive of all: definitions, locations */
    teller *ranks;
    unsigned rank_count;
    side_piece *pieces;
    size_t piece_count, piece_capacity;
} whole;

/* n items, each of which is one byte at least. */
static bool take_items(ot_list *l, uint64_t n, rocl_strings *strings, const char *numbers,
                       rocl_byte_reader *r)
{
    const size_t size = strlen(numbers);
    uint32_t *v = n <= (uint64_t)(r->end - r->p) ? calloc(n + 1, size * sizeof *v) : NULL;
    l->items = v;
    l->count = v ? (uint32_t)n : 0;
    for (size_t i = 0; i < l->count * size; i++) {
        const char kind = numbers[i % size];
        if (kind != '-')
            v[i] = kind == 't'   ? rocl_team_intern_text(strings, r)
                   : kind == 'r' ? take_ref(r)
                                 : (uint32_t)rocl_next_number(r);
    }
    return v;
}

static bool take_definitions(teller *f, rocl_trace *t)
{
    rocl_byte_reader *r = &f->r;
    ot_defs *d = &f->defs;
    uint32_t counts[OT_MAPPED];
    for (unsigned kind = 0; kind < OT_MAPPED; kind++)
        counts[kind] = (uint32_t)rocl_next_number(r);
    if (r->bad || !ot_mapping_open(&f->to, counts))
        return false;
    f->windows = counts[OT_WINDOWS];
    const uint64_t members = rocl_next_number(r);
    bool good = true;
    for (unsigned kind = 0; kind < OT_LISTS && good; kind++)
        good = (kind != OT_METRICS ||
                take_items(&d->members, members, t->strings, member_numbers, r)) &&
               take_items(&d->lists[kind], counts[kind], t->strings, item_numbers[kind], r);
    const ot_metric *metrics = d->lists[OT_METRICS].items;
    for (uint32_t i = 0; i < d->lists[OT_METRICS].count; i++)
        r->bad |= metrics[i].class == ROCL_NONE ? metrics[i].member >= d->members.count
                                                : metrics[i].class >= i;
    return good;
}

static void next_capture(teller *f, const rocl_trace *t)
{
    const bool more = f->r.p < f->r.end;
    f->capture = more ? rocl_next_number(&f->r) : UINT64_MAX;
    f->r.bad |= more && f->capture >= t->capture_count;
}

static rocl_status open_teller(teller *f, ot_sink *all, const rocl_buf *facts, rocl_error *err)
{
    int64_t times[2];
    f->r = (rocl_byte_reader){facts->data, facts->data + facts->len, false};
    f->capture = UINT64_MAX;
    f->defs.trace = all->trace;
    if (!facts->len) /* the rank had nothing to read */
        return ROCL_OK;
    const uint8_t *at = rocl_next_bytes(&f->r, sizeof times);
    if (!at)
        return rocl_team_bad_message(err);
    memcpy(times, at, sizeof times);
    all->earliest = times[0] < all->earliest ? times[0] : all->earliest;
    all->latest = times[1] > all->latest ? times[1] : all->latest;
    const bool good = take_definitions(f, all->trace);
    next_capture(f, all->trace);
    return f->r.bad ? rocl_team_bad_message(err) : good ? ROCL_OK : rocl_fail_memory(err);
}

static rocl_status take_peers(ot_sink *s, rocl_byte_reader *r, rocl_error *err)
{
    const uint64_t n = rocl_next_number(r);
    ot_peers *e = &s->peers;
    if (r->bad || n > (uint64_t)(r->end - r->p))
        return rocl_team_bad_message(err);
    e->all = reallocarray(NULL, n + 1, sizeof *e->all);
    for (; e->all && e->count < n; e->count++) {
        e->all[e->count] = rocl_next_number(r);
        r->bad |= e->all[e->count] >> 32 >= s->system.capture->process_count;
    }
    if (r->bad)
        return rocl_team_bad_message(err);
    return e->all && ot_number_peers(s) ? ROCL_OK : rocl_fail_memory(err);
}

/* The numbers of the archive are next_number and what follows. */
static rocl_status take_tracks(ot_sink *s, rocl_byte_reader *r, uint32_t numbers, rocl_error *err)
{
    const uint64_t n = rocl_next_number(r);
    if (r->bad || n > (uint64_t)(r->end - r->p))
        return rocl_team_bad_message(err);
    s->tracks = calloc(n + 1, sizeof *s->tracks);
    for (; s->tracks && s->track_count < n && !r->bad; s->track_count++) {
        ot_track *t = &s->tracks[s->track_count];
        const rocl_capture *c = s->system.capture;
        t->track.kind = (rocl_track_kind)rocl_next_number(r);
        t->track.process = (uint32_t)rocl_next_number(r);
        t->track.thread = take_ref(r);
        t->track.agent = take_ref(r);
        t->track.id = take_ref(r);
        t->track.lane = (uint32_t)rocl_next_number(r);
        t->base = (uint32_t)rocl_next_number(r);
        const uint64_t number = rocl_next_number(r);
        t->number = s->next_number + (uint32_t)number;
        t->events = rocl_next_number(r);
        const uint8_t *copies = rocl_next_bytes(r, 1);
        t->copies = copies && *copies;
        r->bad |= t->track.kind > last_track_kind || t->track.process >= c->process_count ||
                  (t->track.thread != ROCL_NONE && t->track.thread >= c->thread_count) ||
                  (t->track.agent != ROCL_NONE && t->track.agent >= c->agent_count) ||
                  t->base > s->track_count || number >= numbers;
    }
    if (r->bad)
        return rocl_team_bad_message(err);
    s->next_number += numbers;
    return s->tracks ? ot_locate_tracks(s, err) : rocl_fail_memory(err);
}

/* Instances of metrics name their location by the number that the rank gave it: the first one of
 * the capture is `from` there and `to` here. */
static rocl_status settle_metrics(ot_sink *s, teller *f, uint32_t upto, uint32_t from, uint32_t to,
                                  rocl_error *err)
{
    ot_metric *metrics = f->defs.lists[OT_METRICS].items;
    const uint32_t numbers = s->next_number - to;
    const ot_track **tracks = calloc(numbers + (size_t)1, sizeof *tracks); /* by number */
    if (!tracks)
        return rocl_fail_memory(err);
    for (uint32_t i = 0; i < s->track_count; i++)
        tracks[s->tracks[i].number - to] = &s->tracks[i];
    for (uint32_t i = f->to.counts[OT_METRICS]; i < upto; i++) {
        const uint32_t nth = metrics[i].recorder - from;
        if (metrics[i].class == ROCL_NONE)
            continue;
        if (nth < numbers && tracks[nth])
            ot_settle_metric(s, &metrics[i], tracks[nth]);
        else
            f->r.bad = true;
    }
    free(tracks);
    return f->r.bad ? rocl_team_bad_message(err) : ROCL_OK;
}

/* The next capture of a rank, as end_capture() has it in one process. */
static rocl_status take_capture(whole *w, unsigned rank, rocl_error *err)
{
    teller *f = &w->ranks[rank];
    ot_sink *s = &w->s;
    rocl_byte_reader *r = &f->r;
    uint32_t upto[OT_LISTS];
    const uint32_t from = (uint32_t)rocl_next_number(r), numbers = (uint32_t)rocl_next_number(r);
    for (unsigned kind = 0; kind < OT_LISTS; kind++) {
        upto[kind] = (uint32_t)rocl_next_number(r);
        r->bad |= upto[kind] > f->defs.lists[kind].count;
    }
    const uint64_t at = rocl_next_number(r), bytes = rocl_next_number(r);
    if (r->bad)
        return rocl_team_bad_message(err);
    if (!ROCL_GROW(w->pieces, w->piece_capacity, w->piece_count + 1))
        return rocl_fail_memory(err);
    const uint32_t to = s->next_number, window = s->peers.next_window;
    w->pieces[w->piece_count++] = (side_piece){rank, from, to, at, bytes};
    rocl_buf_varint(&f->numbers, to);
    f->captures++;
    rocl_status st = ot_system_begin_capture(&s->system, &s->trace->captures[f->capture]->pub, err);
    if (st == ROCL_OK)
        st = take_peers(s, r, err);
    if (st == ROCL_OK)
        st = take_tracks(s, r, numbers, err);
    if (st == ROCL_OK)
        st = settle_metrics(s, f, upto[OT_METRICS], from, to, err);
    if (st == ROCL_OK) {
        ot_defs_add(&s->defs, &f->defs, upto, &f->to);
        for (uint32_t i = window; i < s->peers.next_window; i++)
            if (f->to.counts[OT_WINDOWS] < f->windows)
                f->to.refs[OT_WINDOWS][f->to.counts[OT_WINDOWS]++] = i;
        ot_settle_capture(s);
    }
    ot_forget_tracks(s);
    next_capture(f, s->trace);
    return st == ROCL_OK && r->bad ? rocl_team_bad_message(err) : st;
}

/* ---- what rank 0 has answered, on every rank ------------------------------------------------- */

/* Numbers of locations in the archive, by number in the rank. NULL: memory is out, or the message
 * is bad. */
static uint32_t *take_numbers(const ot_sink *s, rocl_byte_reader *r)
{
    uint32_t *numbers = calloc(s->next_number + (size_t)1, sizeof *numbers);
    r->bad |= rocl_next_number(r) != s->begin_count;
    for (size_t i = 0; i < s->begin_count && numbers && !r->bad; i++) {
        const uint32_t to = (uint32_t)rocl_next_number(r), from = s->begins[i];
        const uint32_t end = i + 1 < s->begin_count ? s->begins[i + 1] : s->next_number;
        for (uint32_t k = from; k < end; k++)
            numbers[k] = to + (k - from);
    }
    return numbers;
}

static bool take_mapping(ot_mapping *m, rocl_byte_reader *r)
{
    bool good = true;
    for (unsigned kind = 0; kind < OT_MAPPED && good; kind++) {
        const uint64_t n = rocl_next_number(r);
        if (r->bad || n > (uint64_t)(r->end - r->p))
            return false;
        m->counts[kind] = (uint32_t)n;
        m->needed |= n > 0;
        if (!n)
            continue;
        m->refs[kind] = reallocarray(NULL, n, sizeof(uint32_t));
        good = m->refs[kind];
        for (uint64_t i = 0; i < n && good; i++)
            m->refs[kind][i] = (uint32_t)rocl_next_number(r);
    }
    return good;
}

/* From a drawing's references to the rank's, and on to the archive's. */
static bool map_further(ot_mapping *m, const ot_mapping *to)
{
    for (unsigned kind = 0; kind < OT_MAPPED; kind++) {
        if (!to->refs[kind])
            continue;
        if (!m->refs[kind]) { /* a drawing has the first of the rank's, or all */
            const uint32_t n = m->counts[kind] = to->counts[kind];
            m->refs[kind] = reallocarray(NULL, n + (size_t)1, sizeof(uint32_t));
            if (!m->refs[kind])
                return false;
            memcpy(m->refs[kind], to->refs[kind], n * sizeof(uint32_t));
            continue;
        }
        for (uint32_t i = 0; i < m->counts[kind]; i++)
            m->refs[kind][i] = to->refs[kind][m->refs[kind][i]];
    }
    return true;
}

static rocl_status hand_in(ot_sink *s, rocl_byte_reader *answer, uint64_t *bytes, rocl_error *err)
{
    ot_mapping to = {0};
    uint32_t *numbers = take_numbers(s, answer);
    bool good = numbers && take_mapping(&to, answer);
    rocl_status st = answer->bad ? rocl_team_bad_message(err)
                     : good      ? ROCL_OK
                                 : rocl_fail_memory(err);
    for (uint32_t i = 0; i < s->mapping_count && good; i++)
        good = map_further(&s->mappings[i], &to);
    uint32_t mapping = ROCL_NONE;
    if (good && to.needed) {
        good = ROCL_GROW(s->mappings, s->mapping_capacity, s->mapping_count + (size_t)1);
        if (good) {
            s->mappings[mapping = s->mapping_count++] = to;
            to = (ot_mapping){0};
        }
    }
    /* The locations that have events, with the mapping of their references to the archive's. */
    const ot_system *y = &s->system;
    ot_location *written = reallocarray(NULL, y->location_count + (size_t)1, sizeof *written);
    ot_summary u = {
        .mappings = s->mappings, .mapping_count = s->mapping_count, .locations = written};
    for (uint32_t i = 0; written && i < y->location_count; i++) {
        if (y->locations[i].number == ROCL_NONE)
            continue;
        ot_location *l = &written[u.location_count++];
        *l = y->locations[i];
        l->mapping = l->mapping == ROCL_NONE ? mapping : l->mapping;
    }
    if (st == ROCL_OK && (!good || !written))
        st = rocl_fail_memory(err);
    if (st == ROCL_OK)
        st = ot_archive_hand_in(s->archive, &u, numbers, rocl_joint_far(s->trace->joint), bytes,
                                err);
    ot_mapping_free(&to);
    free(written);
    free(numbers);
    return st;
}

static rocl_status complete_on_other(ot_sink *s, const rocl_joint_sums *sums, rocl_error *err)
{
    rocl_joint *joint = s->trace->joint;
    rocl_buf facts = {0};
    rocl_byte_reader answer;
    uint64_t bytes = 0;
    put_facts(&facts, s);
    rocl_status st =
        facts.failed ? rocl_fail_memory(err) : rocl_joint_tell(joint, sums, &facts, &answer, err);
    rocl_buf_free(&facts);
    if (st == ROCL_OK)
        st = hand_in(s, &answer, &bytes, err);
    return st ? st : rocl_joint_placed(joint, bytes, err);
}

/* ---- the end, on rank 0 ---------------------------------------------------------------------- */

static rocl_status open_whole(whole *w, const ot_sink *own, rocl_error *err)
{
    rocl_trace *t = own->trace;
    const rocl_joint *joint = t->joint;
    rocl_buf facts = {0};
    w->s = (ot_sink){.trace = t, .earliest = INT64_MAX, .latest = -1};
    w->s.defs.trace = t;
    w->rank_count = rocl_joint_size(joint);
    w->ranks = calloc(w->rank_count, sizeof *w->ranks);
    rocl_status st = ot_system_open(&w->s.system, t, &w->s.defs, err);
    put_facts(&facts, own);
    if (!w->ranks || facts.failed)
        st = rocl_fail_memory(err);
    for (unsigned r = 0; r < w->rank_count && st == ROCL_OK; r++)
        st = open_teller(&w->ranks[r], &w->s, r ? rocl_joint_facts(joint, r) : &facts, err);
    while (st == ROCL_OK) { /* in the order of all captures */
        unsigned least = 0;
        for (unsigned r = 1; r < w->rank_count; r++)
            least = w->ranks[r].capture < w->ranks[least].capture ? r : least;
        if (w->ranks[least].capture == UINT64_MAX)
            break;
        st = take_capture(w, least, err);
    }
    for (unsigned r = 0; r < w->rank_count && st == ROCL_OK; r++)
        ot_mapping_close(&w->ranks[r].to);
    if (st == ROCL_OK && w->s.defs.failed)
        st = rocl_fail_memory(err);
    rocl_buf_free(&facts);
    return st;
}

/* All ranks hand in their files, this one too, whose archive becomes the common one. */
static rocl_status hand_in_all(whole *w, ot_sink *own, uint64_t *bytes, rocl_error *err)
{
    rocl_joint *joint = own->trace->joint;
    rocl_buf answer = {0};
    rocl_status st = ot_archive_make_folder(own->archive, err);
    for (unsigned r = w->rank_count; r-- > 0 && st == ROCL_OK;) {
        if (r && !rocl_joint_facts(joint, r)->len)
            continue;
        answer.len = 0;
        const teller *f = &w->ranks[r];
        rocl_buf_varint(&answer, f->captures);
        rocl_buf_put(&answer, f->numbers.data, f->numbers.len);
        for (unsigned kind = 0; kind < OT_MAPPED; kind++) {
            const uint32_t n = f->to.refs[kind] ? f->to.counts[kind] : 0;
            rocl_buf_varint(&answer, n);
            for (uint32_t i = 0; i < n; i++)
                rocl_buf_varint(&answer, f->to.refs[kind][i]);
        }
        answer.failed |= f->numbers.failed;
        if (answer.failed)
            st = rocl_fail_memory(err);
        else if (r)
            st = rocl_joint_place(joint, r, &answer, err);
    }
    rocl_byte_reader r = {answer.data, answer.data + answer.len, false};
    if (st == ROCL_OK)
        st = hand_in(own, &r, bytes, err);
    rocl_buf_free(&answer);
    return st;
}

static rocl_status write_side_pieces(const whole *w, ot_sink *s, rocl_error *err)
{
    rocl_buf name = {0}, text = {0};
    rocl_status st = ROCL_OK;
    for (size_t i = 0; i < w->piece_count && st == ROCL_OK; i++)
        if (w->pieces[i].bytes) {
            const side_piece *p = &w->pieces[i];
            FILE *f = ot_archive_side_file(s->archive, p->rank, "rb");
            bool good = f && fseeko(f, (off_t)p->at, SEEK_SET) == 0;
            for (uint64_t left = p->bytes; left && good && st == ROCL_OK;) {
                side_marker side;
                name.len = 0;
                errno = EIO;
                good = fread(&side, sizeof side, 1, f) == 1 && side.length <= left - sizeof side &&
                       rocl_buf_reserve(&name, side.length + 1) &&
                       (!side.length || fread(name.data, side.length, 1, f) == 1);
                if (!good)
                    break;
                left -= sizeof side + side.length;
                const ot_marker m = {.location = side.location - p->from + p->to,
                                     .time = side.time,
                                     .duration = side.duration,
                                     .name = rocl_strings_put(
                                         s->trace->strings, (const char *)name.data, side.length)};
                st = m.name == ROCL_NONE ? rocl_fail_memory(err)
                                         : ot_write_marker(s, &m, &text, err);
            }
            if (!good)
                st = ot_archive_fail(s->archive, errno, err);
            if (f)
                fclose(f);
        }
    for (unsigned r = 0; r < w->rank_count && st == ROCL_OK; r++)
        ot_archive_remove_side_file(s->archive, r);
    rocl_buf_free(&name);
    rocl_buf_free(&text);
    return st;
}

/* Definitions, markers, and the locations that nobody has written. */
static rocl_status write_rest(whole *w, uint64_t *bytes, rocl_error *err)
{
    ot_sink *s = &w->s;
    const uint32_t first = s->next_number;
    rocl_status st = write_side_pieces(w, s, err);
    if (st == ROCL_OK)
        st = ot_complete_locations(s, err);
    if (st == ROCL_OK)
        st = ot_write_definitions(s, err);
    if (st == ROCL_OK && s->defs.failed)
        st = rocl_fail_memory(err);
    if (st != ROCL_OK)
        return st;
    ot_summary u = ot_summarize(s);
    ot_location *empty = reallocarray(NULL, u.location_count + (size_t)1, sizeof *empty);
    if (!empty)
        return rocl_fail_memory(err);
    u.locations = empty;
    u.location_count = 0;
    for (uint32_t i = 0; i < s->system.location_count; i++)
        if (s->system.locations[i].number >= first)
            empty[u.location_count++] = s->system.locations[i];
    st = ot_archive_complete(s->archive, &u, bytes, err);
    free(empty);
    return st;
}

static rocl_status complete_on_rank_0(ot_sink *s, rocl_joint_sums *sums, rocl_error *err)
{
    rocl_joint *joint = s->trace->joint;
    whole w = {0};
    uint64_t own = 0;
    rocl_status st = rocl_joint_gather(joint, sums, err);
    if (st == ROCL_OK)
        st = open_whole(&w, s, err);
    if (st == ROCL_OK)
        st = hand_in_all(&w, s, &own, err);
    if (st == ROCL_OK) {
        w.s.archive = s->archive;
        st = write_rest(&w, &s->bytes, err);
        s->bytes += own;
        s->defs.cut = w.s.defs.cut;
    }
    if (st == ROCL_OK)
        st = rocl_joint_wait_placed(joint, &s->bytes, err);
    if (st == ROCL_OK) {
        ot_archive *a = s->archive;
        s->archive = NULL;
        st = ot_archive_commit(a, s->trace->outputs, err);
    }
    if (st == ROCL_OK)
        rocl_joint_named(joint);
    s->all_locations = w.s.system.location_count;
    ot_forget_tracks(&w.s);
    ot_system_close(&w.s.system);
    ot_defs_free(&w.s.defs);
    for (unsigned r = 0; w.ranks && r < w.rank_count; r++) {
        ot_defs_free(&w.ranks[r].defs);
        ot_mapping_free(&w.ranks[r].to);
        rocl_buf_free(&w.ranks[r].numbers);
    }
    free(w.ranks);
    free(w.pieces);
    return st;
}

rocl_status ot_complete_together(ot_sink *s, rocl_error *err)
{
    rocl_joint_sums sums = rocl_timeline_sums(&s->counts);
    FILE *side = s->side;
    s->side = NULL;
    rocl_status st = side && fclose(side) != 0 ? ot_archive_fail(s->archive, errno, err) : ROCL_OK;
    if (st == ROCL_OK)
        st = rocl_joint_leads(s->trace->joint) ? complete_on_rank_0(s, &sums, err)
                                               : complete_on_other(s, &sums, err);
    return st;
}
