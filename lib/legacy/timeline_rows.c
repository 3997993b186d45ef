/* Rows of the timeline: which pid and tid an event is shown at. Agents, queues and threads are
 * numbered by first appearance, each kind by itself:
 *
 *     GPU   0 or pid   agent * 1000 + queue + 1    agents of (pid, agent), queues of an agent
 *     copy  0 or pid   copy * 1000                 (pid, agent), a count of its own
 *     HSA   1 or pid   100000 + n, n from 1        (pid, tid)
 *     HIP   2 or pid   10000000 + n, n from 1      (pid, tid)
 */
#include "legacy/timeline_impl.h"

#include "base/array.h"
#include "base/error.h"
#include "base/json_put.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

rocl_status tl_rows_init(tl_rows *r, bool by_process, rocl_error *err)
{
    r->by_process = by_process;
    r->strings = rocl_strings_new();
    return r->strings ? ROCL_OK : rocl_fail_memory(err);
}

void tl_rows_free(tl_rows *r)
{
    rocl_strings_free(r->strings);
    rocl_map_free(&r->index);
    rocl_map_free(&r->agents);
    rocl_map_free(&r->pids);
    free(r->queues);
    rocl_buf_free(&r->texts);
    free(r->rows);
}

/* ---- numbers -------------------------------------------------------------------------------- */

static uint32_t intern(tl_rows *r, const char *p, size_t n)
{
    return rocl_strings_put(r->strings, p, n);
}

/* An id for a tuple of texts. Their lengths keep ("1", "23") and ("12", "3") apart. */
static uint32_t intern_key(tl_rows *r, uint32_t kind, const tl_texts *t, const char *texts, int n)
{
    rocl_buf b = {0};
    size_t len = 0;
    rocl_buf_put(&b, &kind, sizeof kind);
    rocl_buf_put(&b, t->len, (size_t)n * sizeof *t->len);
    for (int i = 0; i < n; i++)
        len += t->len[i];
    rocl_buf_put(&b, texts, len);
    uint32_t id = b.failed ? ROCL_NONE : intern(r, (const char *)b.data, b.len);
    rocl_buf_free(&b);
    return id;
}

/* The index of an agent of a process. */
static bool agent_index(tl_rows *r, const tl_texts *t, const char *texts, uint32_t *index)
{
    uint32_t key = intern_key(r, TL_ROW_KINDS, t, texts, 2);
    *index = key == ROCL_NONE ? ROCL_NONE : rocl_map_get(&r->agents, key, ROCL_NONE);
    if (key == ROCL_NONE || *index != ROCL_NONE)
        return key != ROCL_NONE;
    if (!ROCL_GROW(r->queues, r->queue_cap, r->agent_count + (size_t)1))
        return false;
    *index = r->agent_count++;
    return rocl_map_put(&r->agents, key, *index);
}

static bool number_gpu(tl_rows *r, tl_row *row, const tl_texts *t, const char *texts, char *label,
                       size_t size)
{
    uint32_t agent;
    if (!agent_index(r, t, texts, &agent))
        return false;
    uint32_t queue = r->queues[agent]++;
    row->tid = (uint64_t)agent * 1000 + queue + 1;
    snprintf(label, size, "%s%" PRIu32 ".%" PRIu32, r->by_process ? "GPU " : "", agent, queue);
    return true;
}

static void number_thread(tl_rows *r, tl_row *row, const tl_texts *t, const char *texts,
                          char *label, size_t size)
{
    bool hsa = row->kind == TL_HSA;
    const char *prefix = !r->by_process ? "" : hsa ? "HSA " : "HIP ";
    row->tid = hsa ? 100000 + ++r->hsa_count : 10000000 + ++r->hip_count;
    snprintf(label, size, "%s%.*s.%.*s", prefix, (int)t->len[0], texts, (int)t->len[1],
             texts + t->len[0]);
}

static void put_pid(rocl_buf *b, const tl_rows *r, const tl_row *row)
{
    size_t n;
    const char *pid = rocl_strings_get(r->strings, row->pid, &n);
    static const char *const fixed[TL_ROW_KINDS] = {"0", "0", "1", "2"};
    if (r->by_process)
        tl_put_integer(b, (rtg_span){pid, n});
    else
        rocl_buf_str(b, fixed[row->kind]);
}

static bool describe(tl_rows *r, tl_row *row)
{
    char text[64];
    row->text = r->texts.len;
    rocl_buf_str(&r->texts, "\"pid\":");
    if (row->kind == TL_HCC) {
        snprintf(text, sizeof text, "-%" PRIu64, row->tid + 1);
    } else {
        put_pid(&r->texts, r, row);
        snprintf(text, sizeof text, ", \"tid\":%" PRIu64, row->tid);
    }
    rocl_buf_str(&r->texts, text);
    row->len = r->texts.len - row->text;
    return !r->texts.failed;
}

static bool make(tl_rows *r, tl_row *row, const tl_texts *t, const char *texts)
{
    size_t size = (size_t)t->len[0] + t->len[1] + 64;
    char *label = malloc(size);
    bool ok = label;
    if (!label)
        return false;
    label[0] = '\0';
    row->pid = intern(r, texts, t->len[0]);
    if (row->kind == TL_GPU) {
        ok = number_gpu(r, row, t, texts, label, size);
    } else if (row->kind == TL_COPY) {
        uint32_t copy = r->copy_count++;
        row->tid = (uint64_t)copy * 1000;
        snprintf(label, size, "%s%" PRIu32 ".copy", r->by_process ? "GPU " : "", copy);
    } else if (row->kind == TL_HCC) {
        rtg_number((rtg_span){texts, t->len[1]}, &row->tid); /* the line was checked */
    } else {
        number_thread(r, row, t, texts, label, size);
    }
    if (row->kind != TL_HCC)
        ok = ok && rocl_map_put(&r->pids, row->pid, 0);
    row->label = intern(r, label, strlen(label));
    free(label);
    return ok && row->label != ROCL_NONE && row->pid != ROCL_NONE && describe(r, row);
}

rocl_status tl_rows_get(tl_rows *r, const tl_texts *t, const char *texts, uint32_t *row,
                        rocl_error *err)
{
    uint32_t key = intern_key(r, t->kind, t, texts, 3);
    if (key == ROCL_NONE)
        return rocl_fail_memory(err);
    *row = rocl_map_get(&r->index, key, ROCL_NONE);
    if (*row != ROCL_NONE)
        return ROCL_OK;
    if (!ROCL_GROW(r->rows, r->cap, r->count + 1))
        return rocl_fail_memory(err);
    tl_row *made = &r->rows[r->count];
    *made = (tl_row){.kind = (tl_row_kind)t->kind};
    *row = (uint32_t)r->count;
    if (!make(r, made, t, texts) || !rocl_map_put(&r->index, key, *row))
        return rocl_fail_memory(err);
    r->count++;
    return ROCL_OK;
}

/* ---- metadata ------------------------------------------------------------------------------- */

static void put_process(rocl_buf *b, const char *pid, const char *name)
{
    rocl_buf_str(b, "{\"name\":\"process_name\", \"ph\":\"M\", \"pid\":");
    rocl_buf_str(b, pid);
    rocl_buf_str(b, ", \"args\":{\"name\":\"");
    rocl_buf_str(b, name);
    rocl_buf_str(b, "\"}},\n");
}

static void put_groups(rocl_buf *b)
{
    put_process(b, "0", "GPU Activity");
    put_process(b, "1", "HSA API Activity");
    put_process(b, "2", "HIP API Activity");
    for (int i = 0; i < 3; i++) {
        char text[128];
        snprintf(text, sizeof text,
                 "{\"name\":\"process_sort_index\", \"ph\":\"M\", \"pid\":%d, "
                 "\"args\":{\"sort_index\":%d}},\n",
                 i, i);
        rocl_buf_str(b, text);
    }
}

static int order_of_kind(tl_row_kind k)
{
    static const int orders[TL_ROW_KINDS] = {0, 0, 1, 2};
    return orders[k];
}

/* By pid, as text where that is the process, then by tid; the one used last comes first. */
static int compare_rows(const void *a, const void *b, void *ctx)
{
    const tl_rows *r = ctx;
    const tl_row *x = *(const tl_row *const *)a, *y = *(const tl_row *const *)b;
    int order = r->by_process ? strcmp(rocl_strings_get(r->strings, x->pid, NULL),
                                       rocl_strings_get(r->strings, y->pid, NULL))
                              : order_of_kind(x->kind) - order_of_kind(y->kind);
    if (order)
        return order;
    if (x->tid != y->tid)
        return x->tid < y->tid ? -1 : 1;
    return x->used > y->used ? -1 : 1;
}

static bool same_row(const tl_rows *r, const tl_row *x, const tl_row *y)
{
    return x->tid == y->tid &&
           (r->by_process ? x->pid == y->pid : order_of_kind(x->kind) == order_of_kind(y->kind));
}

/* With one process its number says nothing: "HSA 4905.140302" becomes "HSA 140302". */
static void put_label(rocl_buf *b, const tl_rows *r, const tl_row *row)
{
    const char *label = rocl_strings_get(r->strings, row->label, NULL);
    const char *dot = strchr(label, '.');
    bool thread = row->kind == TL_HSA || row->kind == TL_HIP;
    if (thread && r->pids.count == 1 && dot) {
        if (r->by_process)
            rocl_buf_put(b, label, 4);
        label = dot + 1;
    }
    rocl_buf_str(b, label);
}

static void put_thread(rocl_buf *b, const tl_rows *r, const tl_row *row)
{
    char text[96];
    const char *place = (const char *)r->texts.data + row->text;
    rocl_buf_str(b, "{\"name\":\"thread_name\", \"ph\":\"M\", ");
    rocl_buf_put(b, place, row->len);
    rocl_buf_str(b, ", \"args\":{\"name\":\"");
    put_label(b, r, row);
    rocl_buf_str(b, "\"}},\n");
    if (!r->by_process)
        return;
    rocl_buf_str(b, "{\"name\":\"thread_sort_index\", \"ph\":\"M\", ");
    rocl_buf_put(b, place, row->len);
    snprintf(text, sizeof text, ", \"args\":{\"sort_index\":%" PRIu64 "}},\n", row->tid);
    rocl_buf_str(b, text);
}

static void put_process_of(rocl_buf *b, const tl_rows *r, const tl_row *row)
{
    rocl_buf_str(b, "{\"name\":\"process_name\", \"ph\":\"M\", \"pid\":");
    put_pid(b, r, row);
    rocl_buf_str(b, ", \"args\":{\"name\":\"Process ");
    rocl_buf_str(b, rocl_strings_get(r->strings, row->pid, NULL));
    rocl_buf_str(b, "\"}},\n");
}

rocl_status tl_rows_put_metadata(tl_rows *r, rocl_buf *b, rocl_error *err)
{
    const tl_row **sorted = malloc((r->count + 1) * sizeof *sorted), *last = NULL;
    size_t n = 0;
    if (!sorted)
        return rocl_fail_memory(err);
    for (size_t i = 0; i < r->count; i++)
        if (r->rows[i].kind != TL_HCC)
            sorted[n++] = &r->rows[i];
    qsort_r(sorted, n, sizeof *sorted, compare_rows, r);
    if (!r->by_process)
        put_groups(b);
    for (size_t i = 0; i < n; i++) {
        if (last && same_row(r, last, sorted[i]))
            continue;
        if (r->by_process && (!last || last->pid != sorted[i]->pid))
            put_process_of(b, r, sorted[i]);
        put_thread(b, r, sorted[i]);
        last = sorted[i];
    }
    free(sorted);
    return b->failed ? rocl_fail_memory(err) : ROCL_OK;
}

void tl_rows_put_devices(const tl_rows *r, rocl_buf *b)
{
    for (size_t i = 0; i < r->count; i++) {
        if (r->rows[i].kind != TL_HCC)
            continue;
        char pid[32], name[48];
        snprintf(pid, sizeof pid, "-%" PRIu64, r->rows[i].tid + 1);
        snprintf(name, sizeof name, "HCC GPU %" PRIu64, r->rows[i].tid);
        put_process(b, pid, name);
    }
}
