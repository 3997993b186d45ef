/* Copies the parts of all ranks into the outputs: rank 0 makes these, and tells where in them each
 * part belongs. */
#include "trace/joint_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/order.h"
#include "base/out_set.h"
#include "base/sync.h"

ROCL_COMPARE_MEMBERS(compare_by_number, part, number, at)

/* Brings the pieces of each part together, in the order of the captures. */
static void sort_parts(rocl_joint *p)
{
    for (size_t i = 0; i < p->output_count && !rocl_joint_is_ordered(p); i++)
        if (p->outputs[i]->count)
            qsort(p->outputs[i]->parts, p->outputs[i]->count, sizeof(part), compare_by_number);
}

/* Where a promised part is written to. */
typedef struct target {
    const char *path; /* for messages */
    int fd;
    uint64_t offset;
} target;

static rocl_status write_to_target(void *ctx, const void *bytes, size_t n, rocl_error *err)
{
    target *to = ctx;
    if (!rocl_write_at(to->fd, bytes, n, to->offset))
        return rocl_fail_write(err, to->path, errno);
    to->offset += n;
    return ROCL_OK;
}

/* Copies the parts of a number that are not in place yet. *k advances over the parts. */
static rocl_status place_number(const rocl_joint *p, const output *o, int to, const part *wanted,
                                size_t *k, rocl_error *err)
{
    uint64_t offset = wanted->at;
    rocl_status st = ROCL_OK;
    while (*k < o->count && o->parts[*k].number < wanted->number)
        ++*k;
    for (; *k < o->count && o->parts[*k].number == wanted->number && st == ROCL_OK; ++*k) {
        const part *x = &o->parts[*k];
        if (x->place == PROMISED) {
            const promise *by = &o->promises[x->at];
            target at = {o->path, to, offset};
            rocl_out *out;
            st = rocl_out_open_to(&out, write_to_target, &at, err);
            if (st == ROCL_OK)
                st = by->make(by->ctx, out, err);
            rocl_out_discard(out);
            if (st == ROCL_OK && at.offset - offset != x->length)
                st =
                    rocl_fail(err, ROCL_INTERNAL, "%s: a part is not as long as was said", o->path);
        } else if (x->place != NOT_PLACED && x->place != offset) {
            st = rocl_team_bad_message(err);
        } else if (x->place == NOT_PLACED &&
                   !rocl_joint_copy(p->fd, x->at, to, offset, x->length)) {
            st = rocl_fail_write(err, o->path, errno);
        }
        offset += x->length;
    }
    return st;
}

/* places: what rank 0 wants of this output, by number, and where. */
static rocl_status copy_parts(const rocl_joint *p, const output *o, const char *file, bool sync,
                              const part *places, size_t count, rocl_error *err)
{
    const int to = open(file, O_WRONLY | O_CLOEXEC);
    if (to < 0)
        return rocl_fail_write(err, o->path, errno);
    rocl_status st = ROCL_OK;
    size_t k = 0;
    for (size_t i = 0; i < count && st == ROCL_OK; i++)
        st = place_number(p, o, to, &places[i], &k, err);
    if (st == ROCL_OK && sync && !rocl_sync_file(to))
        st = rocl_fail_write(err, o->path, errno);
    if (close(to) != 0 && errno != EINTR && st == ROCL_OK)
        st = rocl_fail_write(err, o->path, errno);
    return st;
}

/* ---- on another rank ---- */

static rocl_status send_parts(rocl_joint *p, const rocl_joint_sums *sums, const rocl_buf *facts,
                              rocl_error *err)
{
    rocl_buf b = {0};
    rocl_buf_byte(&b, ROCL_TEAM_PARTS);
    rocl_buf_varint(&b, sums->own_count);
    for (size_t i = 0; i < sums->own_count; i++)
        rocl_buf_varint(&b, sums->own[i]);
    pthread_mutex_lock(&p->lock);
    rocl_joint_put_news(p, UINT64_MAX, &b);
    pthread_mutex_unlock(&p->lock);
    if (facts)
        rocl_buf_put(&b, facts->data, facts->len);
    return rocl_team_reply(p->team, &b, err);
}

static rocl_status send_placed(rocl_joint *p, uint64_t bytes, rocl_error *err)
{
    uint8_t space[ROCL_TEAM_SHORT];
    rocl_buf b = rocl_team_short(space, ROCL_TEAM_PLACED, bytes);
    return rocl_team_reply(p->team, &b, err);
}

static rocl_status do_place(rocl_joint *p, rocl_error *err)
{
    rocl_byte_reader r = {p->place.data + 1, p->place.data + p->place.len, false};
    char *path = rocl_team_text(&r), *file = rocl_team_text(&r);
    const bool sync = rocl_next_number(&r);
    const uint64_t n = rocl_next_number(&r);
    output *o = path ? rocl_joint_find_output(p->outputs, p->output_count, path) : NULL;
    r.bad |= n > p->place.len;
    part *places = r.bad ? NULL : calloc(n + 1, sizeof *places);
    for (uint64_t i = 0; places && i < n; i++) {
        places[i].number = rocl_next_number(&r);
        places[i].at = rocl_next_number(&r);
    }
    rocl_status st = ROCL_OK;
    if (!r.bad && (!path || !file || !places))
        st = rocl_fail_memory(err);
    else if (r.bad || !o)
        st = rocl_team_bad_message(err);
    if (st == ROCL_OK) {
        rocl_joint_note_shown(p, file);
        st = copy_parts(p, o, file, sync, places, n, err);
    }
    free(places);
    free(path);
    free(file);
    p->place.len = 0;
    return st ? st : send_placed(p, 0, err);
}

/* Waits until PLACE has come, or everything has its name. */
static rocl_status wait_for_rank_0(rocl_joint *p, rocl_error *err)
{
    rocl_status st = ROCL_OK;
    while (st == ROCL_OK && !p->named && !p->place.len) {
        st = rocl_joint_wait(p, err);
        if (st == ROCL_OK && p->stop_at == 0)
            st = rocl_fail(err, ROCL_INTERNAL, "stopped");
    }
    return st;
}

/* ---- on rank 0 ---- */

/* A rank's parts of one output, and how far they are placed. */
typedef struct placing {
    const output *from;
    size_t next;
    part *places; /* of them: where they belong */
    size_t count;
} placing;

/* Finds the places of the parts of all ranks, in the order of captures; the head is needed only
 * once; has_head: it is already there. Returns the bytes of all. */
static uint64_t place_parts(placing *ranks, unsigned size, bool has_head)
{
    uint64_t offset = 0;
    bool head = false;
    for (;;) {
        placing *least = NULL;
        for (unsigned r = 0; r < size; r++) {
            const placing *x = &ranks[r];
            if (x->from && x->next < x->from->count &&
                (!least || x->from->parts[x->next].number < least->from->parts[least->next].number))
                least = &ranks[r];
        }
        if (!least)
            return offset;
        const uint64_t number = least->from->parts[least->next].number;
        const bool wanted = number || !head;
        head |= !number;
        if (wanted && (number || !has_head))
            least->places[least->count++] = (part){.number = number, .at = offset};
        for (; least->next < least->from->count && least->from->parts[least->next].number == number;
             least->next++)
            offset += wanted ? least->from->parts[least->next].length : 0;
    }
}

static rocl_status send_place(rocl_joint *p, unsigned rank, const placing *x, const char *path,
                              const char *file, bool sync, rocl_error *err)
{
    rocl_buf b = {0};
    rocl_buf_byte(&b, ROCL_TEAM_PLACE);
    rocl_team_put_text(&b, path, strlen(path));
    rocl_team_put_text(&b, file, strlen(file));
    rocl_buf_varint(&b, sync);
    rocl_buf_varint(&b, x->count);
    for (size_t i = 0; i < x->count; i++) {
        rocl_buf_varint(&b, x->places[i].number);
        rocl_buf_varint(&b, x->places[i].at);
    }
    p->ranks[rank].placed = false;
    const rocl_status st = rocl_team_send(p->team, rank, &b, err);
    rocl_buf_free(&b);
    return st;
}

/* All ranks copy at once. */
static rocl_status make_output(rocl_joint *p, output *o, rocl_out **out, rocl_error *err)
{
    const char *path = o->path;
    const bool early = o->file;
    const unsigned size = rocl_team_size(p->team);
    const bool local = p->team->transport.local == size;
    placing *ranks = calloc(size, sizeof *ranks);
    char *file = NULL;
    rocl_status st = ranks ? ROCL_OK : rocl_fail_memory(err);
    for (unsigned r = 0; r < size && st == ROCL_OK; r++) {
        const rank_state *s = &p->ranks[r];
        const output *from = r ? rocl_joint_find_output(s->outputs, s->output_count, path)
                               : rocl_joint_find_output(p->outputs, p->output_count, path);
        ranks[r].from = from;
        if (from && !(ranks[r].places = calloc(from->count + 1, sizeof *ranks[r].places)))
            st = rocl_fail_memory(err);
    }
    *out = o->file;
    o->file = NULL;
    if (st == ROCL_OK && !early)
        st = rocl_joint_make_file(out, path, err);
    if (st == ROCL_OK)
        st = rocl_out_reserve(*out, place_parts(ranks, size, early && o->head), local, &file, err);
    if (st == ROCL_OK) {
        for (unsigned r = 0; r < size; r++)
            p->ranks[r].placed = true;
        for (unsigned r = 1; r < size && st == ROCL_OK; r++)
            if (ranks[r].count)
                st = send_place(p, r, &ranks[r], path, file, !local, err);
        if (st == ROCL_OK && ranks[0].count)
            st = copy_parts(p, ranks[0].from, file, !local, ranks[0].places, ranks[0].count, err);
        if (st != ROCL_OK)
            rocl_joint_note_failure(p, 0, st, err);
        st = rocl_joint_wait_for_all(p, offsetof(rank_state, placed), err);
    }
    for (unsigned r = 0; ranks && r < size; r++)
        free(ranks[r].places);
    free(ranks);
    free(file);
    return st;
}

static rocl_status make_outputs(rocl_joint *p, rocl_joint_sums *sums, rocl_error *err)
{
    for (unsigned r = 1; r < rocl_team_size(p->team); r++)
        for (size_t i = 0; i < p->ranks[r].output_count; i++) {
            const char *path = p->ranks[r].outputs[i]->path;
            if (!rocl_joint_find_output(p->outputs, p->output_count, path) &&
                !rocl_joint_add_output(p, path))
                return rocl_fail_memory(err);
        }
    const size_t n = p->output_count;
    rocl_out **outs = calloc(n + 1, sizeof *outs);
    rocl_status st = outs ? ROCL_OK : rocl_fail_memory(err);
    sort_parts(p);
    for (size_t i = 0; i < n && st == ROCL_OK; i++) {
        st = make_output(p, p->outputs[i], &outs[i], err);
        if (st == ROCL_OK)
            sums->bytes += rocl_out_bytes(outs[i]);
        if (st == ROCL_OK && n > OPEN_FILES)
            st = rocl_out_seal(outs[i], true, err);
    }
    sums->files = n;
    if (st == ROCL_OK)
        st = rocl_out_set_add(p->trace->outputs, outs, n, err);
    for (size_t i = 0; outs && i < n; i++)
        rocl_out_discard(outs[i]);
    free(outs);
    return st;
}

static rocl_status wait_for_parts(rocl_joint *p, rocl_joint_sums *sums, rocl_error *err)
{
    const rocl_status st = rocl_joint_wait_for_all(p, offsetof(rank_state, written), err);
    for (unsigned r = 1; r < rocl_team_size(p->team) && st == ROCL_OK; r++)
        for (size_t i = 0; i < sums->own_count && i < p->ranks[r].sum_count; i++)
            sums->own[i] += p->ranks[r].sums[i];
    return st;
}

rocl_status rocl_joint_commit(rocl_trace *t, rocl_out **outs, size_t n, rocl_joint_sums *sums,
                              rocl_error *err)
{
    rocl_joint *p = t->joint;
    rocl_status st;
    sums->files = n;
    sums->bytes = 0;
    if (!p) {
        for (size_t i = 0; i < n; i++)
            sums->bytes += rocl_out_bytes(outs[i]);
        return rocl_out_set_add(t->outputs, outs, n, err);
    }
    for (size_t i = 0; i < n; i++) {
        rocl_out_discard(outs[i]);
        outs[i] = NULL;
    }
    for (size_t i = 0; i < p->output_count; i++)
        p->outputs[i]->out = NULL;
    if (p->ranks) {
        st = rocl_joint_complete(p, UINT64_MAX, err);
        if (st == ROCL_OK)
            st = wait_for_parts(p, sums, err);
        if (st == ROCL_OK)
            st = make_outputs(p, sums, err);
        if (st == ROCL_OK)
            rocl_joint_named(p);
        else
            rocl_joint_note_failure(p, 0, st, err);
        return st;
    }
    sort_parts(p);
    p->place.len = 0; /* a question that was answered */
    st = send_parts(p, sums, NULL, err);
    while (st == ROCL_OK && !p->named) {
        st = wait_for_rank_0(p, err);
        if (st == ROCL_OK && p->place.len)
            st = do_place(p, err);
    }
    return st;
}

/* ---- files in a folder of all ---------------------------------------------------------------- */

rocl_status rocl_joint_set_folder(rocl_joint *p, const char *path, rocl_error *err)
{
    p->all_folder = strdup(path);
    return p->all_folder ? ROCL_OK : rocl_fail_memory(err);
}

const char *rocl_joint_folder(const rocl_joint *p)
{
    return p->all_folder;
}

unsigned rocl_joint_rank(const rocl_joint *p)
{
    return rocl_team_rank(p->team);
}

unsigned rocl_joint_size(const rocl_joint *p)
{
    return rocl_team_size(p->team);
}

rocl_status rocl_joint_tell(rocl_joint *p, const rocl_joint_sums *sums, const rocl_buf *facts,
                            rocl_byte_reader *answer, rocl_error *err)
{
    rocl_status st = send_parts(p, sums, facts, err);
    if (st == ROCL_OK)
        st = wait_for_rank_0(p, err);
    if (st == ROCL_OK && !p->place.len)
        st = rocl_team_bad_message(err);
    if (st == ROCL_OK)
        *answer = (rocl_byte_reader){p->place.data + 1, p->place.data + p->place.len, false};
    return st;
}

rocl_status rocl_joint_placed(rocl_joint *p, uint64_t bytes, rocl_error *err)
{
    rocl_unfinished_drop(&p->shown); /* from now on it is rank 0's alone */
    p->place.len = 0;
    const rocl_status st = send_placed(p, bytes, err);
    return st ? st : wait_for_rank_0(p, err);
}

rocl_status rocl_joint_gather(rocl_joint *p, rocl_joint_sums *sums, rocl_error *err)
{
    for (unsigned r = 0; r < rocl_team_size(p->team); r++)
        p->ranks[r].placed = true;
    return wait_for_parts(p, sums, err);
}

const rocl_buf *rocl_joint_facts(const rocl_joint *p, unsigned rank)
{
    return &p->ranks[rank].facts;
}

rocl_status rocl_joint_place(rocl_joint *p, unsigned rank, const rocl_buf *answer, rocl_error *err)
{
    rocl_buf b = {0};
    rocl_buf_byte(&b, ROCL_TEAM_PLACE);
    rocl_buf_put(&b, answer->data, answer->len);
    p->ranks[rank].placed = false;
    const rocl_status st = rocl_team_send(p->team, rank, &b, err);
    rocl_buf_free(&b);
    return st;
}

rocl_status rocl_joint_wait_placed(rocl_joint *p, uint64_t *bytes, rocl_error *err)
{
    const rocl_status st = rocl_joint_wait_for_all(p, offsetof(rank_state, placed), err);
    for (unsigned r = 1; r < rocl_team_size(p->team); r++)
        *bytes += p->ranks[r].bytes;
    return st;
}

void rocl_joint_named(rocl_joint *p)
{
    rocl_joint_send_all(p, ROCL_TEAM_NAMED, 0);
}
