/* Work and idle time of GPUs: a sweep over kernels and copies of each, by start. A copy is work of
 * the GPU that it writes to, else of the one that it reads from; work without a known GPU counts
 * for one extra GPU of its machine. If that has only copies, such as those within the host, and
 * known GPUs have work, its wall time is only that of its copies. */
#include "analysis/gpu_time.h"

#include <stdlib.h>

#include "analysis/activity.h"

rocl_status rocl_gpu_time_open(rocl_gpu_time *g, rocl_trace *t, rocl_sorter *sorter,
                               rocl_error *err)
{
    *g = (rocl_gpu_time){.trace = t, .sorter = sorter};
    g->extents = calloc(t->opt.jobs * (t->machine_count + 1) * ROCL_WALLS, sizeof *g->extents);
    return g->extents ? ROCL_OK : rocl_fail_memory(err);
}

static rocl_extent *extents_of(const rocl_gpu_time *g, unsigned worker, uint32_t machine)
{
    return g->extents + (worker * (g->trace->machine_count + 1) + machine) * ROCL_WALLS;
}

rocl_status rocl_gpu_time_add_batch(rocl_gpu_time *g, unsigned worker, const rocl_batch *b,
                                    rocl_error *err)
{
    rocl_status st = ROCL_OK;
    const size_t size = rocl_kind_size(b->kind);
    const bool work = b->kind == ROCL_DISPATCH || b->kind == ROCL_COPY;
    for (size_t i = 0; i < b->count && st == ROCL_OK; i++) {
        const rocl_event *e = rocl_event_at(b, size, i);
        const rocl_gpu *used[2];
        const bool known = work && rocl_gpus_of(b, i, used);
        const uint32_t machine = known ? used[0]->machine : rocl_machine_of(b->capture, e->process);
        rocl_extent *x = extents_of(g, worker, machine);
        rocl_extent_add(&x[ROCL_WALL_EVENTS], e->start, e->end);
        if (!work)
            continue;
        rocl_extent_add(&x[ROCL_WALL_GPU], e->start, e->end);
        const uint64_t gpu =
            known ? (uint64_t)(used[0] - g->trace->gpus) : g->trace->gpu_count + machine;
        const uint64_t key[3] = {gpu, (uint64_t)e->start, (uint64_t)e->end};
        /* A byte says that it is a kernel without a GPU. */
        st = rocl_sorter_add(g->sorter, worker, key, "", !known && b->kind == ROCL_DISPATCH, err);
    }
    return st;
}

/* kernels: there are some without a GPU; any_known: known GPUs, which come first, have work. */
static void end_gpu(const rocl_gpu_time *g, uint64_t gpu, bool kernels, bool *any_known,
                    rocl_i128 work, const rocl_cover *busy, rocl_gpu_sums *sums)
{
    const bool known = gpu < g->trace->gpu_count;
    const uint32_t machine =
        known ? g->trace->gpus[gpu].machine : (uint32_t)(gpu - g->trace->gpu_count);
    *any_known |= known;
    sums->work += work;
    sums->beside += work - busy->measure;
    if (!known && !kernels && *any_known) {
        for (rocl_wall w = 0; w < ROCL_WALLS; w++)
            sums->whole[w] += busy->measure;
        return;
    }
    sums->gpus++;
    for (rocl_wall w = 0; w < ROCL_WALLS; w++) {
        rocl_extent all = {0};
        for (unsigned k = 0; k < g->trace->opt.jobs; k++)
            rocl_extent_join(&all, extents_of(g, k, machine) + w);
        const rocl_i128 wall = (rocl_i128)all.last - all.first;
        sums->whole[w] += wall;
        sums->idle[w] += wall - busy->measure;
    }
}

rocl_status rocl_gpu_time_sum(rocl_gpu_time *g, rocl_gpu_sums *sums, rocl_error *err)
{
    rocl_sort_record rec;
    rocl_cover busy = {INT64_MIN, 0};
    rocl_i128 work = 0;
    uint64_t gpu = UINT64_MAX;
    bool kernels = false, any_known = false;
    *sums = (rocl_gpu_sums){0};
    rocl_status st = rocl_sorter_start(g->sorter, err);
    while (rocl_next_record(g->sorter, &rec, &st, err)) {
        const int64_t start = (int64_t)rec.key[1], end = (int64_t)rec.key[2];
        if (rec.key[0] != gpu) {
            if (gpu != UINT64_MAX)
                end_gpu(g, gpu, kernels, &any_known, work, &busy, sums);
            busy = (rocl_cover){INT64_MIN, 0};
            kernels = false;
            work = 0;
            gpu = rec.key[0];
        }
        kernels |= rec.len > 0;
        work += (rocl_i128)end - start;
        rocl_cover_extend(&busy, start, end);
    }
    if (gpu != UINT64_MAX && st == ROCL_OK)
        end_gpu(g, gpu, kernels, &any_known, work, &busy, sums);
    return st;
}

void rocl_gpu_time_close(rocl_gpu_time *g)
{
    free(g->extents);
}
