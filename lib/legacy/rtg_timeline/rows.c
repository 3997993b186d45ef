/* Rows of the timeline: which pid and tid an event is displayed at. Agents, queues and threads are
 * numbered by first appearance, each kind by itself:
 *
 *     GPU   0 or pid   agent * 1000 + queue + 1    agents of (pid, agent), queues of an agent
 *     copy  0 or pid   copy * 1000                 (pid, agent), a count of its own
 *     HSA   1 or pid   100000 + n, n from 1        (pid, tid)
 *     HIP   2 or pid   10000000 + n, n from 1      (pid, tid)
 */
#include "legacy/rtg_timeline/timeline.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/error.h"

/* The pid of a kind of row where rows are not grouped by process. */
static const unsigned char fixed_pid[TL_ROW_KINDS] = {[TL_HSA] = 1, [TL_HIP] = 2};

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

/* An id for a tuple of texts. Their lengths tell ("1", "23") from ("12", "3"). */
static uint32_t intern_key(tl_rows *r, uint32_t kind, const tl_texts *t, const char *texts, int n)
{
    rocl_buf b = {0};
    size_t len = 0;
    rocl_buf_put(&b, &kind, sizeof kind);
    rocl_buf_put(&b, t->len, (size_t)n * sizeof *t->len);
    for (int i = 0; i < n; i++)
        len += t->len[i];
    rocl_buf_put(&b, texts, len);
    uint32_t id = b.failed ? ROCL_NONE : rocl_strings_put(r->strings, (char *)b.data, b.len);
    rocl_buf_free(&b);
    return id;
}

/* The index of an agent of a process. */
static bool find_agent(tl_rows *r, const tl_texts *t, const char *texts, uint32_t *index)
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

static void put_pid(rocl_buf *b, const tl_rows *r, const tl_row *row)
{
    rocl_view pid;
    pid.p = rocl_strings_get(r->strings, row->pid, &pid.n);
    if (r->by_process)
        rocl_py_put_integer(b, pid);
    else
        rocl_buf_byte(b, (uint8_t)('0' + fixed_pid[row->kind]));
}

/* Gives a new row its number, label and text. */
static bool make_row(tl_rows *r, tl_row *row, const tl_texts *t, const char *texts)
{
    rocl_buf label = {0};
    uint32_t agent;
    bool ok = true;
    row->pid = rocl_strings_put(r->strings, texts, t->len[0]);
    switch (row->kind) {
    case TL_GPU:
        ok = find_agent(r, t, texts, &agent);
        if (ok) {
            uint32_t queue = r->queues[agent]++;
            row->tid = (uint64_t)agent * 1000 + queue + 1;
            rocl_buf_printf(&label, "%s%" PRIu32 ".%" PRIu32, r->by_process ? "GPU " : "", agent,
                            queue);
        }
        break;
    case TL_COPY:
        row->tid = (uint64_t)r->copy_count * 1000;
        rocl_buf_printf(&label, "%s%" PRIu32 ".copy", r->by_process ? "GPU " : "", r->copy_count++);
        break;
    case TL_HCC:
        rtg_number((rocl_view){texts, t->len[1]}, &row->tid); /* the line was checked */
        break;
    default:
        row->tid = row->kind == TL_HSA ? 100000 + ++r->hsa_count : 10000000 + ++r->hip_count;
        rocl_buf_printf(&label, "%s%.*s.%.*s",
                        !r->by_process        ? ""
                        : row->kind == TL_HSA ? "HSA "
                                              : "HIP ",
                        (int)t->len[0], texts, (int)t->len[1], texts + t->len[0]);
    }
    if (row->kind != TL_HCC)
        ok = ok && rocl_map_put(&r->pids, row->pid, 0);
    row->label = label.len ? rocl_strings_put(r->strings, (char *)label.data, label.len) : 0;
    ok = ok && !label.failed && row->label != ROCL_NONE && row->pid != ROCL_NONE;
    rocl_buf_free(&label);
    if (!ok)
        return false;
    row->text = r->texts.len;
    rocl_buf_str(&r->texts, "\"pid\":");
    if (row->kind == TL_HCC) {
        rocl_buf_printf(&r->texts, "-%" PRIu64, row->tid + 1);
    } else {
        put_pid(&r->texts, r, row);
        rocl_buf_printf(&r->texts, ", \"tid\":%" PRIu64, row->tid);
    }
    row->len = r->texts.len - row->text;
    return !r->texts.failed;
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
    if (!make_row(r, made, t, texts) || !rocl_map_put(&r->index, key, *row))
        return rocl_fail_memory(err);
    r->count++;
    return ROCL_OK;
}

/* ---- metadata ------------------------------------------------------------------------------- */

/* By pid, as text where that is the process, then by tid; the one used last comes first. */
static int compare_rows(const void *a, const void *b, void *ctx)
{
    const tl_rows *r = ctx;
    const tl_row *x = *(const tl_row *const *)a, *y = *(const tl_row *const *)b;
    int order = r->by_process ? strcmp(rocl_strings_get(r->strings, x->pid, NULL),
                                       rocl_strings_get(r->strings, y->pid, NULL))
                              : fixed_pid[x->kind] - fixed_pid[y->kind];
    if (order)
        return order;
    if (x->tid != y->tid)
        return x->tid < y->tid ? -1 : 1;
    return x->used > y->used ? -1 : 1;
}

rocl_status tl_rows_put_metadata(tl_rows *r, rocl_buf *b, rocl_error *err)
{
    static const char *const names[] = {"GPU", "HSA API", "HIP API"};
    const tl_row **sorted = malloc((r->count + 1) * sizeof *sorted), *last = NULL;
    size_t n = 0;
    if (!sorted)
        return rocl_fail_memory(err);
    for (size_t i = 0; i < r->count; i++)
        if (r->rows[i].kind != TL_HCC)
            sorted[n++] = &r->rows[i];
    qsort_r(sorted, n, sizeof *sorted, compare_rows, r);
    for (int i = 0; i < 3 && !r->by_process; i++)
        rocl_buf_printf(b,
                        "{\"name\":\"process_name\", \"ph\":\"M\", \"pid\":%d, "
                        "\"args\":{\"name\":\"%s Activity\"}},\n",
                        i, names[i]);
    for (int i = 0; i < 3 && !r->by_process; i++)
        rocl_buf_printf(b,
                        "{\"name\":\"process_sort_index\", \"ph\":\"M\", \"pid\":%d, "
                        "\"args\":{\"sort_index\":%d}},\n",
                        i, i);
    for (size_t i = 0; i < n; i++) {
        const tl_row *row = sorted[i];
        if (last && last->tid == row->tid &&
            (r->by_process ? last->pid == row->pid : fixed_pid[last->kind] == fixed_pid[row->kind]))
            continue;
        if (r->by_process && (!last || last->pid != row->pid)) {
            rocl_buf_str(b, "{\"name\":\"process_name\", \"ph\":\"M\", \"pid\":");
            put_pid(b, r, row);
            rocl_buf_printf(b, ", \"args\":{\"name\":\"Process %s\"}},\n",
                            rocl_strings_get(r->strings, row->pid, NULL));
        }
        const char *where = (const char *)r->texts.data + row->text;
        const char *label = rocl_strings_get(r->strings, row->label, NULL);
        const char *dot = strchr(label, '.');
        rocl_buf_str(b, "{\"name\":\"thread_name\", \"ph\":\"M\", ");
        rocl_buf_put(b, where, row->len);
        rocl_buf_str(b, ", \"args\":{\"name\":\"");
        /* With one process its number says nothing: "HSA 4905.140302" becomes "HSA 140302". */
        if ((row->kind == TL_HSA || row->kind == TL_HIP) && r->pids.count == 1 && dot) {
            if (r->by_process)
                rocl_buf_put(b, label, 4);
            label = dot + 1;
        }
        rocl_buf_str(b, label);
        rocl_buf_str(b, "\"}},\n");
        if (r->by_process) {
            rocl_buf_str(b, "{\"name\":\"thread_sort_index\", \"ph\":\"M\", ");
            rocl_buf_put(b, where, row->len);
            rocl_buf_printf(b, ", \"args\":{\"sort_index\":%" PRIu64 "}},\n", row->tid);
        }
        last = row;
    }
    free(sorted);
    return b->failed ? rocl_fail_memory(err) : ROCL_OK;
}

void tl_rows_put_devices(const tl_rows *r, rocl_buf *b)
{
    for (size_t i = 0; i < r->count; i++)
        if (r->rows[i].kind == TL_HCC)
            rocl_buf_printf(b,
                            "{\"name\":\"process_name\", \"ph\":\"M\", \"pid\":-%" PRIu64
                            ", \"args\":{\"name\":\"HCC GPU %" PRIu64 "\"}},\n",
                            r->rows[i].tid + 1, r->rows[i].tid);
}
