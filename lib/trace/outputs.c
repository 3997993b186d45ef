/* The outputs of a rank, and parts that are written to their final place while captures are read:
 * for sinks that write in the order of captures, on one machine. Rank 0 tracks which captures are
 * complete. The rank with the first incomplete one has its turn: the place of its parts is known,
 * so until its turn ends it writes them there, with all that it stored before. Then its temporary
 * file is empty, and is reused. */
#include "trace/joint_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <unistd.h>

#include "base/array.h"
#include "base/file.h"
#include "filter/filter.h"

#define COPY_BYTES ((size_t)1 << 20)

/* ---- outputs --------------------------------------------------------------------------------- */

bool rocl_joint_far(const rocl_joint *p)
{
    return p->team->transport.local != rocl_team_size(p->team);
}

output *rocl_joint_list_output(output ***all, size_t *count, size_t *cap, const char *path)
{
    output *o = calloc(1, sizeof *o);
    if (!o || !(o->path = strdup(path)) || !ROCL_GROW(*all, *cap, *count + 1)) {
        free(o ? o->path : NULL);
        free(o);
        return NULL;
    }
    o->room.fd = -1;
    (*all)[(*count)++] = o;
    return o;
}

output *rocl_joint_add_output(rocl_joint *p, const char *path)
{
    output *o = rocl_joint_list_output(&p->outputs, &p->output_count, &p->output_cap, path);
    if (o)
        o->target = o;
    return o;
}

output *rocl_joint_find_output(output *const *all, size_t count, const char *path)
{
    for (size_t i = 0; i < count; i++)
        if (!strcmp(all[i]->path, path))
            return all[i];
    return NULL;
}

void rocl_joint_free_output(output *o)
{
    if (o->room.fd >= 0)
        close(o->room.fd);
    rocl_out_discard(o->file);
    free(o->shown);
    free(o->path);
    free(o->parts);
    free(o->promises);
    free(o);
}

rocl_status rocl_joint_make_file(rocl_out **out, const char *path, rocl_error *err)
{
    const char *slash = strrchr(path, '/');
    char *folder = slash && slash > path ? strndup(path, (size_t)(slash - path)) : NULL;
    rocl_status st = folder ? rocl_make_dirs(folder, err) : ROCL_OK;
    free(folder);
    return st ? st : rocl_out_open(out, path, err);
}

/* Lets the kernel copy: copy_file_range() has a shorter way within one file system; between two,
 * only sendfile() works. */
bool rocl_joint_copy(int from, uint64_t at, int to, uint64_t offset, uint64_t n)
{
    bool range = true, done = true;
    while (n) {
        off_t in = (off_t)at, out = (off_t)offset;
        ssize_t moved = range ? copy_file_range(from, &in, to, &out, n, 0) : -1;
        range = moved > 0;
        if (!range && lseek(to, out, SEEK_SET) == out)
            moved = sendfile(to, from, &in, n);
        if (moved <= 0)
            break;
        at += (uint64_t)moved;
        offset += (uint64_t)moved;
        n -= (uint64_t)moved;
    }
    if (!n)
        return true;
    const size_t most = n < COPY_BYTES ? (size_t)n : COPY_BYTES;
    char *buffer = malloc(most);
    done = buffer;
    while (n && done) {
        const size_t some = n < most ? (size_t)n : most;
        errno = EIO;
        done = rocl_read_at(from, buffer, some, at) == (ssize_t)some &&
               rocl_write_at(to, buffer, some, offset);
        at += some;
        offset += some;
        n -= some;
    }
    const int why = errno;
    free(buffer);
    errno = why;
    return done;
}

/* ---- what a rank writes ---------------------------------------------------------------------- */

bool rocl_joint_is_ordered(const rocl_joint *p)
{
    return p->order != ROCL_JOINT_ANY && !rocl_joint_far(p);
}

static bool is_in_room(const room *r, uint64_t number)
{
    return r->fd >= 0 && (number ? number >= r->from && number < r->until : r->head);
}

/* Joins parts that follow each other, as long as rank 0 has not been told of the first. */
static rocl_status note_part(output *o, const part *x, rocl_error *err)
{
    part *last = o->count > o->told ? &o->parts[o->count - 1] : NULL;
    if (last && last->number == x->number && x->place != PROMISED &&
        (x->place < LEFT_OUT ? last->place + last->length == x->place
                             : last->place == x->place && last->at + last->length == x->at)) {
        last->length += x->length;
        return ROCL_OK;
    }
    if (rocl_joint_is_ordered(o->all) && o->count && x->number < o->parts[o->count - 1].number)
        return rocl_fail(err, ROCL_INTERNAL, "%s: captures are written in a wrong order", o->path);
    if (!ROCL_GROW(o->parts, o->cap, o->count + 1))
        return rocl_fail_memory(err);
    o->parts[o->count++] = *x;
    return ROCL_OK;
}

rocl_status rocl_joint_append(output *o, uint64_t number, const void *bytes, size_t n,
                              rocl_error *err)
{
    rocl_joint *p = o->all;
    room *r = &o->room;
    part x = {.number = number, .length = n, .place = NOT_PLACED};
    if (is_in_room(r, number)) {
        if (!rocl_write_at(r->fd, bytes, n, r->offset))
            return rocl_fail_write(err, o->path, errno);
        x.place = r->offset;
        r->offset += n;
    } else if (!number && r->fd >= 0) {
        x.place = LEFT_OUT; /* another rank has written it */
    } else {
        if (p->fd < 0)
            p->fd = rocl_temp_file(p->trace->opt.tmpdir, &p->folder);
        if (p->fd < 0 || !rocl_write_at(p->fd, bytes, n, p->end))
            return rocl_fail_temporary(err, p->folder, errno);
        x.at = p->end;
        p->end += n;
        p->stored += n;
    }
    return note_part(o, &x, err);
}

rocl_status rocl_joint_note_promise(output *o, uint64_t number, uint64_t n, const promise *by,
                                    rocl_error *err)
{
    const part x = {.number = number, .at = o->promise_count, .length = n, .place = PROMISED};
    if (!ROCL_GROW(o->promises, o->promise_cap, o->promise_count + 1))
        return rocl_fail_memory(err);
    o->promises[o->promise_count++] = *by;
    return note_part(o, &x, err);
}

/* Writes from now on in this room, and moves there what is stored. The output may be open already:
 * r.fd is not used. */
static rocl_status use_room(output *o, const char *file, const room *given, rocl_error *err)
{
    rocl_joint *p = o->all;
    room *r = &o->room;
    const int fd = r->fd >= 0 ? r->fd : open(file, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return rocl_fail_write(err, o->path, errno);
    *r = *given;
    r->fd = fd;
    for (size_t i = 0; i < o->count; i++) {
        part *x = &o->parts[i];
        const bool fits = is_in_room(r, x->number);
        if (x->place != NOT_PLACED || (x->number && !fits))
            continue;
        if (fits && !rocl_joint_copy(p->fd, x->at, fd, r->offset, x->length))
            return rocl_fail_write(err, o->path, errno);
        x->place = fits ? r->offset : LEFT_OUT;
        r->offset += fits ? x->length : 0;
        p->stored -= x->length;
    }
    if (!p->stored)
        p->end = 0;
    return ROCL_OK;
}

rocl_status rocl_joint_take_room(rocl_joint *p, rocl_byte_reader *r, rocl_error *err)
{
    room x = {.from = rocl_next_number(r)};
    rocl_status st = ROCL_OK;
    x.until = rocl_next_number(r);
    for (uint64_t n = rocl_next_number(r); n && st == ROCL_OK && !r->bad; n--) {
        const uint64_t index = rocl_next_number(r);
        char *file = rocl_team_text(r);
        x.head = rocl_next_number(r);
        x.offset = rocl_next_number(r);
        if (r->bad || index >= p->output_count)
            st = rocl_team_bad_message(err);
        else
            st = file ? use_room(p->outputs[index], file, &x, err) : rocl_fail_memory(err);
        free(file);
    }
    return st;
}

/* ---- what rank 0 knows ----------------------------------------------------------------------- */

/* The number of parts, from the first that rank 0 has not been told of, with smaller numbers. */
static size_t count_news(const output *o, uint64_t passed)
{
    size_t n = 0;
    while (o->told + n < o->count && o->parts[o->told + n].number < passed)
        n++;
    return n;
}

void rocl_joint_put_news(rocl_joint *p, uint64_t passed, rocl_buf *to)
{
    uint64_t count = 0;
    p->passed = passed;
    rocl_buf_varint(to, passed);
    rocl_buf_varint(to, p->output_count - p->outputs_told);
    for (; p->outputs_told < p->output_count; p->outputs_told++) {
        const char *path = p->outputs[p->outputs_told]->path;
        rocl_team_put_text(to, path, strlen(path));
    }
    for (size_t i = 0; i < p->output_count; i++)
        count += count_news(p->outputs[i], passed);
    rocl_buf_varint(to, count);
    for (size_t i = 0; i < p->output_count; i++) {
        output *o = p->outputs[i];
        for (size_t n = count_news(o, passed); n; n--, o->told++) {
            rocl_buf_varint(to, i);
            rocl_buf_varint(to, o->parts[o->told].number);
            rocl_buf_varint(to, o->parts[o->told].length);
        }
    }
}

rocl_status rocl_joint_take_news(rocl_joint *p, rank_state *s, rocl_byte_reader *r, rocl_error *err)
{
    s->passed = rocl_next_number(r);
    for (uint64_t n = rocl_next_number(r); n && !r->bad; n--) {
        char *path = rocl_team_text(r);
        output *o =
            path ? rocl_joint_list_output(&s->outputs, &s->output_count, &s->output_cap, path)
                 : NULL;
        if (o && rocl_joint_is_ordered(p)) {
            o->target = rocl_joint_find_output(p->outputs, p->output_count, path);
            if (!o->target)
                o->target = rocl_joint_add_output(p, path);
        }
        free(path);
        if (!r->bad && (!o || (rocl_joint_is_ordered(p) && !o->target)))
            return rocl_fail_memory(err);
    }
    for (uint64_t n = rocl_next_number(r); n && !r->bad; n--) {
        const uint64_t index = rocl_next_number(r);
        const uint64_t number = rocl_next_number(r), length = rocl_next_number(r);
        output *o = index < s->output_count ? s->outputs[index] : NULL;
        r->bad |= !o;
        if (!r->bad && !ROCL_GROW(o->parts, o->cap, o->count + 1))
            return rocl_fail_memory(err);
        if (!r->bad)
            o->parts[o->count++] = (part){.number = number, .length = length};
    }
    return r->bad ? rocl_team_bad_message(err) : ROCL_OK;
}

/* ---- whose turn it is ------------------------------------------------------------------------ */

#define NOBODY UINT_MAX

static unsigned owner_of(const rocl_joint *p, uint64_t number)
{
    const rocl_trace *t = p->trace;
    const uint32_t capture = (uint32_t)(number - 1);
    return !rocl_filter_takes_capture(t->filter, &t->captures[capture]->pub) ? NOBODY
           : p->own[capture]                                                 ? 0
                             : rocl_deal_place_of(t->deal, capture).rank;
}

static output *const *outputs_of(const rocl_joint *p, unsigned rank, size_t *count)
{
    *count = rank ? p->ranks[rank].output_count : p->output_count;
    return rank ? p->ranks[rank].outputs : p->outputs;
}

/* Outputs that cannot be made now are made at the end, which also reports any error. */
static bool open_target(const rocl_joint *p, output *o)
{
    size_t index = 0;
    while (p->outputs[index] != o)
        index++;
    if (o->file || o->all || o->late || index >= OPEN_FILES)
        return o->file;
    if (rocl_joint_make_file(&o->file, o->path, NULL) == ROCL_OK &&
        rocl_out_reserve(o->file, 0, true, &o->shown, NULL) == ROCL_OK)
        return true;
    rocl_out_discard(o->file);
    o->file = NULL;
    o->late = true;
    return false;
}

/* Gives room to all outputs of this rank that can have it and have none in this turn. */
static rocl_status give_room(rocl_joint *p, unsigned rank, rocl_error *err)
{
    size_t count;
    output *const *all = outputs_of(p, rank, &count);
    rocl_buf b = {0}, list = {0};
    rocl_status st = ROCL_OK;
    uint64_t n = 0;
    for (size_t i = 0; i < count && st == ROCL_OK; i++) {
        output *o = all[i], *target = o->target;
        if (o->given || (!rank && !o->all) || !open_target(p, target))
            continue;
        o->given = true;
        const room r = {.head = !target->head && !target->end,
                        .from = p->front,
                        .until = p->turn_until,
                        .offset = target->end};
        if (!rank) {
            st = use_room(o, target->shown, &r, err);
            continue;
        }
        rocl_buf_varint(&list, i);
        rocl_team_put_text(&list, target->shown, strlen(target->shown));
        rocl_buf_varint(&list, r.head);
        rocl_buf_varint(&list, r.offset);
        n++;
    }
    rocl_buf_byte(&b, ROCL_TEAM_ROOM);
    rocl_buf_varint(&b, p->front);
    rocl_buf_varint(&b, p->turn_until);
    rocl_buf_varint(&b, n);
    rocl_buf_put(&b, list.data, list.len);
    rocl_buf_free_into(&list, &b);
    if (n && st == ROCL_OK)
        st = rocl_team_send(p->team, rank, &b, err);
    rocl_buf_free(&b);
    return st;
}

/* The capture of that number is complete. */
static void sum_parts(const rocl_joint *p, unsigned rank, uint64_t number)
{
    size_t count;
    output *const *all = outputs_of(p, rank, &count);
    for (size_t i = 0; i < count; i++) {
        output *o = all[i], *target = o->target;
        for (; o->summed < o->count && o->parts[o->summed].number <= number; o->summed++) {
            const part *x = &o->parts[o->summed];
            if (x->number || !target->head)
                target->end += x->length;
            target->head |= !x->number;
        }
    }
}

rocl_status rocl_joint_advance(rocl_joint *p, rocl_error *err)
{
    const size_t captures = p->trace->capture_count;
    rocl_status st = ROCL_OK;
    if (!p->started || !rocl_joint_is_ordered(p) || p->status != ROCL_OK)
        return ROCL_OK;
    if (p->order == ROCL_JOINT_ALONE) { /* nothing comes before what a rank writes */
        p->turn_until = UINT64_MAX;
        for (unsigned rank = 0; rank < rocl_team_size(p->team) && st == ROCL_OK; rank++)
            st = give_room(p, rank, err);
        return st;
    }
    for (; p->front <= captures; p->front++) {
        const unsigned rank = owner_of(p, p->front);
        if (rank == NOBODY)
            continue;
        if (p->front >= p->turn_until) {
            size_t count;
            output *const *all = outputs_of(p, rank, &count);
            for (size_t i = 0; i < count; i++)
                all[i]->given = false;
            /* Captures that are left out belong to no rank. After the last one only rank 0
             * writes. */
            uint64_t until = p->front;
            while (until <= captures &&
                   (owner_of(p, until) == rank || owner_of(p, until) == NOBODY))
                until++;
            p->turn_until = until > captures && !rank ? UINT64_MAX : until;
        }
        st = give_room(p, rank, err);
        if (st != ROCL_OK || (rank ? p->ranks[rank].passed : p->passed) <= p->front)
            break;
        sum_parts(p, rank, p->front);
    }
    return st;
}
