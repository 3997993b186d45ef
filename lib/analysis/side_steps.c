/* The steps of one side of a comparison, and the kernels of one of them. */
#include "analysis/side_steps.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/distribution.h"
#include "analysis/activity.h"
#include "analysis/report.h"
#include "analysis/side_key.h"
#include "base/array.h"
#include "table/format.h"

void rocl_side_steps_free(rocl_side_steps *s)
{
    for (size_t i = 0; i < s->lane_count; i++)
        free(s->lanes[i].name);
    free(s->marker);
    free(s->processes);
    free(s->steps);
    free(s->lanes);
    free(s->kernels);
}

bool rocl_print_marker(char *to, size_t size, const rocl_side_steps *s)
{
    rocl_buf text = {0};
    const rocl_datum d = {
        .type = ROCL_DATUM_TEXT, .text = s->marker, .len = (uint32_t)s->marker_len};
    rocl_datum_put_displayed(&text, &d, ROCL_UNIT_TEXT);
    rocl_buf_byte(&text, '\0');
    const char *shown = text.failed ? "" : (const char *)text.data;
    const int n = rocl_name_prefix(shown, size - 4);
    snprintf(to, size, "%.*s%s", n, shown, shown[n] ? "..." : "");
    const bool good = !text.failed;
    rocl_buf_free(&text);
    return good;
}

static uint32_t find_rank(const rocl_side_steps *s, int32_t rank)
{
    for (uint32_t i = 0; i < s->process_count && rank >= 0; i++)
        if (s->processes[i].rank == rank)
            return i;
    return ROCL_NONE;
}

uint32_t rocl_partner_process(const rocl_side_steps *a, uint32_t process, const rocl_side_steps *b)
{
    bool ranks = false;
    for (size_t i = 0; i < a->process_count && !ranks; i++)
        ranks = find_rank(b, a->processes[i].rank) != ROCL_NONE;
    if (ranks) /* if several processes have a rank, the first one */
        return find_rank(a, a->processes[process].rank) == process
                   ? find_rank(b, a->processes[process].rank)
                   : ROCL_NONE;
    return process < b->process_count ? process : ROCL_NONE;
}

/* ---- reading --------------------------------------------------------------------------------- */

enum { MARKS, WORK, OWNED, SORTERS };

struct rocl_step_reader {
    rocl_trace *trace;
    rocl_sorter *sorters[SORTERS], *of_calls; /* of_calls: the calls' */
    rocl_calls *calls;
    rocl_step_work work;
    /* While it is finished: */
    rocl_side_steps *to;
    rocl_strings *keys;
    rocl_ids key_of;  /* by text */
    rocl_ids lane_of; /* by id of work.lanes; those beyond the most are of the last one */
};

rocl_status rocl_step_reader_open(rocl_step_reader **out, rocl_trace *t, rocl_sort_space *space,
                                  rocl_error *err)
{
    rocl_step_reader *r = *out = calloc(1, sizeof *r);
    if (!r)
        return rocl_fail_memory(err);
    r->trace = t;
    for (unsigned i = 0; i < SORTERS; i++)
        r->sorters[i] = rocl_sorter_new(space, 4);
    r->of_calls = rocl_sorter_new(space, 4);
    r->calls = r->of_calls ? rocl_calls_new(r->of_calls) : NULL;
    rocl_status st = rocl_step_work_open(&r->work, t, r->sorters[MARKS], r->sorters[WORK],
                                         r->sorters[OWNED], err);
    r->work.lanes = rocl_strings_new();
    return st == ROCL_OK && (!r->calls || !r->work.lanes) ? rocl_fail_memory(err) : st;
}

void rocl_step_reader_close(rocl_step_reader *r)
{
    if (!r)
        return;
    if (r->trace) {
        rocl_strings_free(r->work.lanes);
        rocl_step_work_close(&r->work);
    }
    rocl_calls_free(r->calls);
    for (unsigned i = 0; i < SORTERS; i++)
        rocl_sorter_free(r->sorters[i]);
    rocl_ids_free(&r->key_of);
    rocl_ids_free(&r->lane_of);
    free(r);
}

rocl_status rocl_step_reader_add_batch(rocl_step_reader *r, unsigned worker, const rocl_batch *b,
                                       rocl_error *err)
{
    const uint32_t work = ROCL_BIT(ROCL_MARKER) | ROCL_BIT(ROCL_DISPATCH) | ROCL_BIT(ROCL_COPY);
    if (b->kind == ROCL_REGION)
        return rocl_calls_add_batch(r->calls, worker, b, err);
    return work & ROCL_BIT(b->kind) ? rocl_step_work_add_batch(&r->work, worker, b, err) : ROCL_OK;
}

rocl_status rocl_step_reader_seal(rocl_step_reader *r, unsigned worker, rocl_error *err)
{
    rocl_status st = rocl_sorter_seal(r->of_calls, worker, err);
    if (st == ROCL_OK)
        st = rocl_sorter_seal(r->sorters[MARKS], worker, err);
    return st == ROCL_OK ? rocl_sorter_seal(r->sorters[WORK], worker, err) : st;
}

/* ---- processes, lanes and kernels ------------------------------------------------------------ */

/* A process word; the index of the last one stays until there is another one. */
static bool take_process(rocl_step_reader *r, uint64_t process, uint64_t *last)
{
    rocl_side_steps *to = r->to;
    const rocl_process *p = &r->trace->captures[process >> 32]->pub.processes[(uint32_t)process];
    if (to->process_count && *last == process)
        return true;
    if (!ROCL_GROW(to->processes, to->process_cap, to->process_count + 1))
        return false;
    to->processes[to->process_count++] = (rocl_side_process){p->rank, p->pid};
    *last = process;
    return true;
}

/* "GPU 4, Stream 7", without the machine, which may be another one in the other run; NULL: memory
 * is out. */
static char *name_lane(const rocl_trace *t, const rocl_step_lane *k)
{
    const rocl_capture *c = &t->captures[k->lane.capture]->pub;
    const rocl_lane_name n = rocl_name_lane(t, &k->lane);
    const rocl_gpu *gpu = rocl_gpu_of(c, k->agent);
    char agent[32] = "";
    if (gpu)
        snprintf(agent, sizeof agent, "GPU %u", gpu->id);
    const char *name = n.name == ROCL_NONE ? "" : rocl_str(t, n.name);
    char *text;
    return asprintf(&text, "%s%s%s", agent, *agent && *name ? ", " : "", name) < 0 ? NULL : text;
}

static uint32_t take_lane(rocl_step_reader *r, uint32_t lane)
{
    rocl_side_steps *to = r->to;
    const uint32_t known = rocl_ids_get(&r->lane_of, lane);
    if (known != ROCL_NONE)
        return known;
    if (to->lane_count < ROCL_SEQUENCE_LANES) {
        rocl_step_lane key;
        memcpy(&key, rocl_strings_get(r->work.lanes, lane, NULL), sizeof key);
        char *name = name_lane(r->trace, &key);
        if (!name || !ROCL_GROW(to->lanes, to->lane_cap, to->lane_count + 1)) {
            free(name);
            return ROCL_NONE;
        }
        to->lanes[to->lane_count++] = (rocl_side_lane){(uint32_t)to->process_count - 1, name};
    }
    const uint32_t index = (uint32_t)to->lane_count - 1;
    return rocl_ids_put(&r->lane_of, lane, index) ? index : ROCL_NONE;
}

static rocl_status take_kernel(rocl_step_reader *r, uint32_t name, uint32_t lane, int64_t ns,
                               rocl_error *err)
{
    rocl_side_steps *to = r->to;
    if (to->kernel_count == ROCL_SEQUENCE_MOST) {
        to->left_out++;
        to->left_ns = rocl_add_saturated(to->left_ns, ns);
        return ROCL_OK;
    }
    rocl_side_kernel k = {rocl_ids_get(&r->key_of, name), take_lane(r, lane), ns};
    if (k.key == ROCL_NONE) {
        size_t n;
        const char *text = rocl_strings_get(r->trace->strings, name, &n);
        k.key = rocl_side_key(r->keys, ROCL_DOMAIN_KERNELS, text, n);
        if (k.key != ROCL_NONE && !rocl_ids_put(&r->key_of, name, k.key))
            k.key = ROCL_NONE;
    }
    if (k.key == ROCL_NONE || k.lane == ROCL_NONE ||
        !ROCL_GROW(to->kernels, to->kernel_cap, to->kernel_count + 1))
        return rocl_fail_memory(err);
    to->kernels[to->kernel_count++] = k;
    return ROCL_OK;
}

/* ---- steps ----------------------------------------------------------------------------------- */

typedef struct wall_order {
    int64_t wall;
    size_t step;
} wall_order;

ROCL_COMPARE_MEMBERS(compare_walls, wall_order, wall, step)

/* The step of the median wall time, among those of a process (ROCL_NONE: of all) with kernels.
 * first: the first step of the series. */
static rocl_status choose_step(rocl_step_reader *r, size_t first, uint32_t process, rocl_error *err)
{
    rocl_side_steps *to = r->to;
    wall_order *walls = malloc((to->step_count + 1) * sizeof *walls);
    size_t n = 0;
    if (!walls)
        return rocl_fail_memory(err);
    for (size_t i = 0; i < to->step_count; i++)
        if ((process == ROCL_NONE || to->steps[i].process == process) && r->work.kernels[first + i])
            walls[n++] = (wall_order){to->steps[i].wall, i};
    qsort(walls, n, sizeof *walls, compare_walls);
    to->chosen = n ? walls[(n - 1) / 2].step : SIZE_MAX;
    free(walls);
    return ROCL_OK;
}

static rocl_status list_steps(rocl_step_reader *r, const rocl_step_series *series, rocl_error *err)
{
    rocl_side_steps *to = r->to;
    uint64_t last = 0;
    to->marker = malloc(series->stem_len + 1);
    if (!to->marker)
        return rocl_fail_memory(err);
    memcpy(to->marker, series->stem, series->stem_len);
    to->marker_len = series->stem_len;
    for (size_t i = 0; i < series->count; i++) {
        const rocl_step *p = &r->work.steps.all[series->first + i];
        if (!take_process(r, p->process, &last) ||
            !ROCL_GROW(to->steps, to->step_cap, to->step_count + 1))
            return rocl_fail_memory(err);
        to->steps[to->step_count++] = (rocl_side_step){.process = (uint32_t)to->process_count - 1,
                                                       .number = p->number,
                                                       .wall = p->end - p->start};
    }
    return ROCL_OK;
}

static rocl_status measure_steps(rocl_step_reader *r, size_t first, rocl_error *err)
{
    rocl_side_steps *to = r->to;
    rocl_cover busy = {INT64_MIN, 0};
    rocl_step_piece p;
    size_t of = SIZE_MAX;
    rocl_status st = rocl_sorter_start(r->work.owned, err);
    while (rocl_step_work_next(&r->work, &p, &st, err)) {
        rocl_side_step *step = &to->steps[p.step - first];
        if (p.step != of)
            busy = (rocl_cover){INT64_MIN, 0};
        of = p.step;
        rocl_cover_extend(&busy, p.start, p.end);
        step->busy = busy.measure;
        if (p.kind != ROCL_DISPATCH)
            continue;
        step->kernels++;
        step->kernel_ns = rocl_add_saturated(step->kernel_ns, p.end - p.start);
        if (p.step - first == to->chosen)
            st = take_kernel(r, p.name, p.lane, p.end - p.start, err);
    }
    return st;
}

static rocl_status read_steps(rocl_step_reader *r, size_t series, const rocl_side_steps *a,
                              rocl_error *err)
{
    const rocl_step_series *of = &r->work.steps.series[series];
    rocl_side_steps *to = r->to;
    r->work.series = (uint32_t)series;
    r->work.series_count = 1;
    rocl_status st = list_steps(r, of, err);
    if (st == ROCL_OK)
        st = rocl_step_work_look_up(&r->work, r->calls, err);
    if (st == ROCL_OK)
        st = rocl_calls_resolve(r->calls, err);
    const uint32_t process = a && a->chosen != SIZE_MAX
                                 ? rocl_partner_process(a, a->steps[a->chosen].process, to)
                                 : ROCL_NONE;
    if (st == ROCL_OK && (!a || process != ROCL_NONE))
        st = choose_step(r, of->first, process, err);
    if (st == ROCL_OK)
        st = measure_steps(r, of->first, err);
    /* The lanes of the chosen step are those of its process. */
    for (size_t i = 0; i < to->lane_count; i++)
        to->lanes[i].process = to->steps[to->chosen].process;
    return st;
}

/* ---- without steps --------------------------------------------------------------------------- */

typedef struct lone_kernel {
    uint64_t process, row;
    int64_t start, end;
    uint32_t name, lane;
} lone_kernel;

static int compare_kernels(const void *a, const void *b)
{
    const lone_kernel *x = a, *y = b;
    int c = rocl_compare_u64(&x->process, &y->process);
    c = c ? c : rocl_number_order(x->start, y->start);
    c = c ? c : rocl_number_order(x->end, y->end);
    return c ? c : rocl_compare_u64(&x->row, &y->row);
}

/* All kernels, unless they are too many. */
static rocl_status read_kernels(rocl_step_reader *r, rocl_error *err)
{
    lone_kernel *all = NULL;
    size_t n = 0, cap = 0;
    uint64_t last = 0;
    rocl_sort_record rec;
    rocl_status st = rocl_sorter_start(r->work.work, err);
    while (n <= ROCL_SEQUENCE_MOST && rocl_next_record(r->work.work, &rec, &st, err)) {
        uint64_t v[3]; /* duration, kind and name, lane */
        rocl_read_numbers(&rec, v, 3);
        if ((v[1] & 0xff) != ROCL_DISPATCH)
            continue;
        if (!ROCL_GROW(all, cap, n + 1)) {
            st = rocl_fail_memory(err);
            break;
        }
        all[n++] = (lone_kernel){.process = rec.key[0],
                                 .row = rec.key[3],
                                 .start = (int64_t)rec.key[2],
                                 .end = (int64_t)(rec.key[2] + v[0]),
                                 .name = (uint32_t)(v[1] >> 8),
                                 .lane = (uint32_t)v[2]};
    }
    if (n > ROCL_SEQUENCE_MOST) {
        r->to->lack = ROCL_LACKS_KERNELS_TOO_MANY;
        n = 0;
    }
    if (n)
        qsort(all, n, sizeof *all, compare_kernels);
    for (size_t i = 0; i < n && st == ROCL_OK; i++)
        st = take_process(r, all[i].process, &last)
                 ? take_kernel(r, all[i].name, all[i].lane, all[i].end - all[i].start, err)
                 : rocl_fail_memory(err);
    free(all);
    return st;
}

/* ---- all ------------------------------------------------------------------------------------- */

rocl_status rocl_step_reader_finish(rocl_step_reader *r, rocl_side_steps *to,
                                    const rocl_side_steps *a, rocl_strings *keys, rocl_error *err)
{
    const rocl_steps *steps = &r->work.steps;
    r->to = to;
    r->keys = keys;
    to->chosen = SIZE_MAX;
    rocl_status st = rocl_step_work_resolve(&r->work, err);
    if (st != ROCL_OK)
        return st;
    if (r->work.mark_count > ROCL_STEPS_MOST) {
        to->lack = ROCL_LACKS_STEPS_TOO_MANY;
        return ROCL_OK;
    }
    if (a && a->lack)
        return ROCL_OK; /* there is nothing to align with */
    size_t series = 0;  /* the one with the name of A's; series_count: there is none */
    while (a && a->marker && series < steps->series_count &&
           (steps->series[series].stem_len != a->marker_len ||
            memcmp(steps->series[series].stem, a->marker, a->marker_len) != 0))
        series++;
    if (series < steps->series_count && (!a || a->marker))
        return read_steps(r, series, a, err);
    return a && a->marker ? ROCL_OK : read_kernels(r, err);
}
