/* The kernels of two steps, aligned (alignment.h), as a table. Every kernel of both is in exactly
 * one row, so that the changes of the rows have the whole change as their sum. Equal edits are one
 * row: a model with many layers has each of its edits as often as layers. */
#include "analysis/compare_sequence.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/alignment.h"
#include "analysis/causes.h"
#include "analysis/side_key.h"
#include "base/array.h"
#include "model/ranks.h"

enum { A, B, SIDES };
enum { MOST_NAMES = 8 }; /* that are written of a row */

typedef enum edit { SAME, RENAMED, MOVED, REPLACED, DELETED, INSERTED, LEFT_OUT, ALL } edit;

/* Equal edits; a row of the table as well. */
typedef struct edit_row {
    edit edit;
    uint64_t times, kernels[SIDES];
    rocl_i128 sum[SIDES];
    size_t order; /* in which rows came first */
    /* Where the first one is in the texts: */
    uint32_t place[SIDES];         /* its first kernel, + 1; 0: none */
    uint32_t previous_at, next_at; /* neighbours in the text of side `of`, + 1; 0: none */
    unsigned of;
    /* For the table: */
    const char *names[SIDES], *lane[SIDES];
    rocl_view previous, next;
    int64_t total[SIDES], change, number[SIDES];
    double percent;
} edit_row;

typedef struct edits {
    rocl_alignment g;
    const rocl_strings *keys;
    rocl_strings *groups; /* by what is edited: words, see group_key */
    rocl_ids row_of;      /* by id of the group */
    rocl_buf key;
    edit_row *rows;
    size_t count, cap;
} edits;

/* ---- groups ---------------------------------------------------------------------------------- */

static void put_word(rocl_buf *to, uint32_t word)
{
    rocl_buf_put(to, &word, sizeof word);
}

/* The row of e->key. NULL: memory is out. */
static edit_row *find_row(edits *e, edit is)
{
    const uint32_t id = e->key.failed
                            ? ROCL_NONE
                            : rocl_strings_put(e->groups, (const char *)e->key.data, e->key.len);
    if (id == ROCL_NONE)
        return NULL;
    uint32_t i = rocl_ids_get(&e->row_of, id);
    if (i == ROCL_NONE) {
        i = (uint32_t)e->count;
        if (!ROCL_GROW(e->rows, e->cap, e->count + 1) || !rocl_ids_put(&e->row_of, id, i))
            return NULL;
        e->rows[e->count++] = (edit_row){.edit = is, .order = i};
    }
    return &e->rows[i];
}

static void add_kernel(edits *e, edit_row *row, unsigned k, uint32_t place)
{
    row->kernels[k]++;
    row->sum[k] += rocl_aligned_kernel(&e->g, k, place)->ns;
    if (!row->place[k])
        row->place[k] = place + 1;
}

/* Kernels of a name that are in both. */
static bool add_partners(edits *e)
{
    for (uint32_t i = 0; i < e->g.side[A]->kernel_count; i++) {
        if (!e->g.partner[A][i])
            continue;
        const uint32_t k = e->g.partner[A][i] - 1;
        const uint32_t a = rocl_aligned_kernel(&e->g, A, i)->key;
        const uint32_t b = rocl_aligned_kernel(&e->g, B, k)->key;
        const edit is = e->g.moved[A][i] ? MOVED : a == b ? SAME : RENAMED;
        e->key.len = 0;
        put_word(&e->key, is);
        put_word(&e->key, a);
        edit_row *row = find_row(e, is);
        if (!row)
            return false;
        row->times++;
        add_kernel(e, row, A, i);
        add_kernel(e, row, B, k);
    }
    return true;
}

/* The names of a hunk that have not moved, after their number. */
static uint32_t put_names(edits *e, const rocl_hunk *h, unsigned k)
{
    const size_t at = e->key.len;
    uint32_t n = 0;
    put_word(&e->key, 0);
    for (uint32_t i = h->begin[k]; i < h->end[k]; i++)
        if (!e->g.moved[k][i]) {
            put_word(&e->key, rocl_aligned_kernel(&e->g, k, i)->key);
            n++;
        }
    if (!e->key.failed)
        memcpy(e->key.data + at, &n, sizeof n);
    return n;
}

static bool add_hunk(edits *e, const rocl_hunk *h)
{
    uint32_t n[SIDES];
    e->key.len = 0;
    put_word(&e->key, REPLACED);
    for (unsigned k = A; k <= B; k++)
        n[k] = put_names(e, h, k);
    if (!n[A] && !n[B])
        return !e->key.failed;
    edit_row *row = find_row(e, !n[A] ? INSERTED : !n[B] ? DELETED : REPLACED);
    if (!row)
        return false;
    if (!row->times++) { /* its neighbours in its lane */
        const unsigned of = h->begin[A] < h->end[A] ? A : B;
        const uint32_t lane = rocl_aligned_kernel(&e->g, of, h->begin[of])->lane;
        const uint32_t *begin = &e->g.lane_begin[of][lane];
        row->of = of;
        row->previous_at = h->begin[of] > begin[0] ? h->begin[of] : 0;
        row->next_at = h->end[of] < begin[1] ? h->end[of] + 1 : 0;
    }
    for (unsigned k = A; k <= B; k++)
        for (uint32_t i = h->begin[k]; i < h->end[k]; i++)
            if (!e->g.moved[k][i])
                add_kernel(e, row, k, i);
    return true;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static rocl_view name_at(const edits *e, unsigned k, uint32_t place)
{
    return rocl_key_name(e->keys, rocl_aligned_kernel(&e->g, k, place)->key);
}

/* "first | second"; the kernels of a hunk are adjacent, except those that have moved. */
static const char *list_names(const edits *e, const edit_row *row, unsigned k, rocl_tables *out)
{
    const bool one = row->edit <= MOVED;
    rocl_buf b = {0};
    if (!row->place[k] || (k == B && (row->edit == SAME || row->edit == MOVED)))
        return NULL;
    const uint64_t n = one ? 1 : row->kernels[k] / row->times;
    uint64_t put = 0;
    for (uint32_t i = row->place[k] - 1; put < n && put < MOST_NAMES; i++) {
        if (!one && e->g.moved[k][i])
            continue;
        const rocl_view name = name_at(e, k, i);
        rocl_buf_str(&b, put++ ? " | " : "");
        rocl_buf_put(&b, name.p, name.n);
    }
    if (n > MOST_NAMES)
        rocl_buf_printf(&b, " | and %" PRIu64 " more", n - MOST_NAMES);
    out->incomplete |= b.failed;
    const char *text = b.failed ? NULL : rocl_tables_text(out, (const char *)b.data, b.len);
    rocl_buf_free(&b);
    return text;
}

static void describe_row(const edits *e, edit_row *row, rocl_i128 whole, rocl_tables *out)
{
    for (unsigned k = A; k <= B; k++) {
        row->total[k] = rocl_narrow(row->sum[k]);
        row->names[k] = list_names(e, row, k, out);
        if (!row->place[k])
            continue;
        const uint32_t lane = rocl_aligned_kernel(&e->g, k, row->place[k] - 1)->lane;
        row->lane[k] = e->g.side[k]->lanes[lane].name; /* lives as long as the sides */
        row->number[k] = (int64_t)row->place[k] - e->g.lane_begin[k][lane];
    }
    row->change = rocl_narrow(row->sum[B] - row->sum[A]);
    row->percent = rocl_percent(row->change, rocl_narrow(whole));
    if (row->previous_at)
        row->previous = name_at(e, row->of, row->previous_at - 1);
    if (row->next_at)
        row->next = name_at(e, row->of, row->next_at - 1);
}

/* Differences first, by their change, then what is the same. */
static int compare_rows(const void *a, const void *b)
{
    const edit_row *x = a, *y = b;
    if ((x->edit == SAME) != (y->edit == SAME))
        return x->edit == SAME ? 1 : -1;
    const int c = rocl_compare_changes(x->change, y->change);
    return c ? c : x->order < y->order ? -1 : x->order > y->order;
}

static void add_row(void *into, const void *from)
{
    edit_row *sum = into;
    const edit_row *row = from;
    sum->times += row->times;
    for (unsigned k = A; k <= B; k++) {
        sum->kernels[k] += row->kernels[k];
        sum->total[k] = rocl_narrow((rocl_i128)sum->total[k] + row->total[k]);
    }
    sum->change = rocl_narrow((rocl_i128)sum->change + row->change);
    sum->percent += row->percent;
}

/* ---- the table ------------------------------------------------------------------------------- */

static rocl_datum field_edit(const rocl_report_rows *r, const void *field)
{
    static const char *const names[] = {[SAME] = "same",
                                        [RENAMED] = "renamed",
                                        [MOVED] = "moved",
                                        [REPLACED] = "replaced",
                                        [DELETED] = "deleted",
                                        [INSERTED] = "inserted",
                                        [LEFT_OUT] = "not aligned",
                                        [ALL] = "all together"};
    return rocl_field_string(r, &names[*(const edit *)field]);
}

#define CELL(field)  ROCL_CELL(edit_row, field)
#define COUNT(field) ROCL_CELL_BY(rocl_field_some, edit_row, field)

static const rocl_column columns[] = {
    {"edit", "Edit", ROCL_UNIT_TEXT, ROCL_OTHERS, ROCL_CELL_BY(field_edit, edit_row, edit)},
    {"name", "Kernel", ROCL_UNIT_TEXT, ROCL_ALWAYS, CELL(names[A])},
    {"name_b", "Kernel of B", ROCL_UNIT_TEXT, ROCL_ALWAYS, CELL(names[B])},
    {"times", "Times", ROCL_UNIT_COUNT, ROCL_IN_REST, COUNT(times)},
    {"kernels_a", "Kernels A", ROCL_UNIT_COUNT, ROCL_IN_REST | ROCL_MINOR, CELL(kernels[A])},
    {"kernels_b", "Kernels B", ROCL_UNIT_COUNT, ROCL_IN_REST | ROCL_MINOR, CELL(kernels[B])},
    {"total_a_ns", "Total A", ROCL_UNIT_NS, ROCL_IN_REST, CELL(total[A])},
    {"total_b_ns", "Total B", ROCL_UNIT_NS, ROCL_IN_REST, CELL(total[B])},
    {"change_ns", "Change", ROCL_UNIT_NS, ROCL_IN_REST, CELL(change)},
    {"change_percent", "Of step A %", ROCL_UNIT_PERCENT, ROCL_IN_REST, CELL(percent)},
    {"place_a", "Place A", ROCL_UNIT_COUNT, ROCL_ALWAYS, COUNT(number[A])},
    {"place_b", "Place B", ROCL_UNIT_COUNT, ROCL_ALWAYS, COUNT(number[B])},
    {"previous", "Previous", ROCL_UNIT_TEXT, ROCL_MINOR, CELL(previous)},
    {"next", "Next", ROCL_UNIT_TEXT, ROCL_MINOR, CELL(next)},
    {"stream_a", "Stream A", ROCL_UNIT_TEXT, ROCL_MINOR, CELL(lane[A])},
    {"stream_b", "Stream B", ROCL_UNIT_TEXT, ROCL_MINOR, CELL(lane[B])},
};

const rocl_table_def rocl_compare_sequence_table = {&rocl_compare_tab, "compare_sequence",
                                                    "Kernels from A to B in their order",
                                                    ROCL_COLUMNS(columns)};

/* ---- what it is of, or why it is not there --------------------------------------------------- */

static void put_note(const rocl_report_rows *r, const edits *e)
{
    const rocl_side_steps *a = e->g.side[A], *b = e->g.side[B];
    char of[256] = "without steps, of all kernels", step[SIDES][80]; /* "step 5 of rank 0" */
    uint64_t staying = 0;
    for (uint32_t i = 0; i < a->kernel_count; i++)
        staying += e->g.partner[A][i] && !e->g.moved[A][i];
    for (unsigned k = A; k <= B && a->marker; k++) {
        char rank[48];
        const rocl_side_step *is = &e->g.side[k]->steps[e->g.side[k]->chosen];
        const rocl_side_process *p = &e->g.side[k]->processes[is->process];
        rocl_rank_name(&(rocl_rank){.number = p->rank, .pid = p->pid}, rank);
        snprintf(step[k], sizeof step[k], "step %" PRIu64 " of %s", is->number, rank);
    }
    if (a->marker)
        snprintf(of, sizeof of, "%s in A and %s in B, each of the median wall time", step[A],
                 step[B]);
    rocl_set_note(r, "%s: %" PRIu64 " of %zu and %zu %sare the same in the same order%s", of,
                  staying, a->kernel_count, b->kernel_count, a->marker ? "kernels " : "",
                  e->g.minimal ? "" : "; with so many differences there may be more");
}

/* NULL: there are kernels to align. */
static const char *why_not(const rocl_side_steps *a, const rocl_side_steps *b, rocl_tables *out)
{
    char marker[200], text[300];
    const rocl_side_lack lack = a->lack ? a->lack : b->lack;
    const char *side = a->lack ? "A" : "B";
    int n = 0;
    if (lack == ROCL_LACKS_MEMBERS)
        return "the baseline is of an older rocline, and has no order of kernels";
    if (lack == ROCL_LACKS_STEPS_TOO_MANY) {
        n = snprintf(text, sizeof text,
                     "more than %d markers of %s are steps; --step-markers REGEX says which of "
                     "them are",
                     ROCL_STEPS_MOST, side);
    } else if (lack == ROCL_LACKS_KERNELS_TOO_MANY) {
        n = snprintf(text, sizeof text,
                     "%s has more than %d kernels, and %sno steps; --step-markers REGEX says "
                     "which markers are steps",
                     side, ROCL_SEQUENCE_MOST, a->lack ? "" : "A ");
    } else if (a->marker && !b->marker) {
        out->incomplete |= !rocl_print_marker(marker, sizeof marker, a);
        n = snprintf(text, sizeof text,
                     "B has no steps \"%s\", as A has; --step-markers REGEX says which markers "
                     "are steps",
                     marker);
    }
    if (n)
        return rocl_tables_text(out, text, (size_t)n);
    if (!a->kernel_count)
        return a->marker ? "no step of A has kernels" : "A has no kernels";
    if (!b->kernel_count)
        return b->marker ? "no step of B has kernels, in the process that is that of A"
                         : "B has no kernels";
    return NULL;
}

/* ---- all ------------------------------------------------------------------------------------- */

static bool make_rows(edits *e, rocl_tables *out)
{
    const rocl_side_steps *a = e->g.side[A], *b = e->g.side[B];
    edit_row all = {.edit = ALL};
    bool good = add_partners(e);
    for (size_t i = 0; good && i < e->g.hunk_count; i++)
        good = add_hunk(e, &e->g.hunks[i]);
    good = good && ROCL_GROW(e->rows, e->cap, e->count + 2);
    if (good && (a->left_out || b->left_out)) { /* beyond the most that are aligned */
        e->rows[e->count] = (edit_row){.edit = LEFT_OUT,
                                       .order = e->count,
                                       .kernels = {a->left_out, b->left_out},
                                       .sum = {a->left_ns, b->left_ns}};
        e->count++;
    }
    for (size_t i = 0; good && i < e->count; i++)
        for (unsigned k = A; k <= B; k++) {
            all.kernels[k] += e->rows[i].kernels[k];
            all.sum[k] += e->rows[i].sum[k];
        }
    for (size_t i = 0; good && i < e->count; i++)
        describe_row(e, &e->rows[i], all.sum[A], out);
    if (!good)
        return false;
    if (e->count)
        qsort(e->rows, e->count, sizeof *e->rows, compare_rows);
    describe_row(e, &all, all.sum[A], out);
    memmove(e->rows + 1, e->rows, e->count++ * sizeof *e->rows);
    e->rows[0] = all;
    return true;
}

rocl_status rocl_compare_sequence_put(const rocl_side_steps *a, const rocl_side_steps *b,
                                      const rocl_strings *keys, const uint32_t *same,
                                      rocl_tables *out, const rocl_collector *c, rocl_error *err)
{
    edits e = {.keys = keys};
    const rocl_report_rows r = rocl_begin_table(c, out, &rocl_compare_sequence_table, 0);
    const char *why = why_not(a, b, out);
    if (why) {
        rocl_set_note(&r, "%s", why);
        if (r.table)
            r.table->why_empty = why;
        return ROCL_OK;
    }
    e.groups = rocl_strings_new();
    rocl_status st = e.groups ? rocl_alignment_make(&e.g, a, b, same, err) : rocl_fail_memory(err);
    if (st == ROCL_OK && !make_rows(&e, out))
        st = rocl_fail_memory(err);
    if (st == ROCL_OK) {
        put_note(&r, &e);
        rocl_add_top_rows(&r, e.rows, e.count, sizeof *e.rows, add_row);
    }
    rocl_alignment_free(&e.g);
    rocl_strings_free(e.groups);
    rocl_ids_free(&e.row_of);
    rocl_buf_free(&e.key);
    free(e.rows);
    return st;
}
