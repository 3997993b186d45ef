/* The sweep over the work of GPUs, on all ranks of a team: see sweep.h. */
#include "analysis/sweep.h"

#include <stdlib.h>

enum { SEVERAL = UINT32_MAX };

rocl_status rocl_sweep_open(rocl_sweep *s, const rocl_sweep_def *def, size_t values,
                            rocl_error *err)
{
    const rocl_trace *t = s->c.trace;
    s->def = def;
    s->values = values;
    s->sorter = rocl_collector_sorter(&s->c, def->words);
    s->results = calloc(t->gpu_count + 1, sizeof *s->results);
    s->extents = calloc(t->machine_count * t->opt.jobs + 1, sizeof *s->extents);
    s->noted = calloc(t->gpu_count * t->opt.jobs + 1, sizeof *s->noted);
    s->owner = calloc(t->gpu_count + 1, sizeof *s->owner);
    s->wanted = calloc(t->gpu_count + 1, sizeof *s->wanted);
    return s->sorter && s->results && s->extents && s->noted && s->owner && s->wanted
               ? ROCL_OK
               : rocl_fail_memory(err);
}

void rocl_sweep_close(rocl_sweep *s)
{
    for (size_t i = 0; s->results && i < s->c.trace->gpu_count; i++)
        free(s->results[i]);
    free(s->results);
    free(s->extents);
    free(s->noted);
    free(s->owner);
    free(s->wanted);
}

/* ---- the sweep ------------------------------------------------------------------------------- */

/* The last records are added, and workers' extents joined; once. */
static rocl_status complete_records(rocl_sweep *s, rocl_error *err)
{
    if (s->completed)
        return ROCL_OK;
    s->completed = true;
    rocl_extents_join(s->extents, s->c.trace->machine_count, s->c.trace->opt.jobs);
    return s->def->complete ? s->def->complete(s, err) : ROCL_OK;
}

/* to: gets the records of GPUs that rank 0 sweeps; NULL on rank 0. */
static rocl_status sweep_gpus(rocl_sweep *s, rocl_put *to, rocl_error *err)
{
    rocl_sort_record rec;
    int64_t *last = NULL; /* the result that is extended */
    rocl_status st = rocl_sorter_start(s->sorter, err);
    while (rocl_next_record(s->sorter, &rec, &st, err)) {
        if (s->wanted[rec.key[0]]) {
            rocl_put_number(to, rec.key[0]);
            rocl_put_signed(to, (int64_t)rec.key[1]);
            for (unsigned i = 2; i < s->def->words; i++)
                rocl_put_number(to, rec.key[i]);
            st = rocl_put_piece(to, err);
            continue;
        }
        int64_t **result = &s->results[rec.key[0]];
        const bool first = !*result;
        if (first && last && s->def->end)
            s->def->end(s, last);
        if (first && !(*result = calloc(s->values, sizeof **result)))
            return rocl_fail_memory(err);
        last = *result;
        st = s->def->extend(s, rec.key, last, first, err);
    }
    if (st == ROCL_OK && last && s->def->end)
        s->def->end(s, last);
    return st;
}

rocl_status rocl_sweep_finish(rocl_sweep *s, rocl_error *err)
{
    const rocl_status st = complete_records(s, err);
    return st == ROCL_OK ? sweep_gpus(s, NULL, err) : st;
}

/* ---- the ranks of a team --------------------------------------------------------------------- */

/* The questions of rank 0, one after the other: which GPUs a rank has work of, and when that was;
 * then for the work of GPUs that several ranks have. */
enum { ASK_WHO, ASK_WORK };

static bool is_here(const rocl_sweep *s, size_t gpu)
{
    bool here = false;
    for (unsigned w = 0; w < s->c.trace->opt.jobs; w++)
        here |= s->noted[w * s->c.trace->gpu_count + gpu];
    return here;
}

static void put_extents(const rocl_sweep *s, rocl_put *to)
{
    for (size_t i = 0; i < s->c.trace->machine_count; i++) {
        rocl_put_number(to, s->extents[i].count);
        rocl_put_signed(to, s->extents[i].first);
        rocl_put_signed(to, s->extents[i].last);
    }
}

static void take_extents(rocl_sweep *s, rocl_taken *from)
{
    for (size_t i = 0; i < s->c.trace->machine_count; i++) {
        rocl_extent x = {.count = rocl_take_number(from)};
        x.first = rocl_take_signed(from);
        x.last = rocl_take_signed(from);
        from->r.bad |= x.first > x.last;
        rocl_extent_join(&s->extents[i], &x);
    }
}

static rocl_status prepare_sweep(void *self, unsigned round, rocl_error *err)
{
    return round == ASK_WHO ? complete_records(self, err) : ROCL_OK;
}

static rocl_status ask_sweep(void *self, unsigned round, unsigned rank, rocl_put *to,
                             rocl_error *err)
{
    rocl_sweep *s = self;
    (void)rank, (void)err;
    s->round = round;
    if (round > ASK_WORK)
        return ROCL_OK;
    rocl_put_number(to, round);
    if (round == ASK_WHO)
        return ROCL_OK;
    for (size_t i = 0; i < s->c.trace->gpu_count; i++)
        if (s->owner[i] == SEVERAL || (s->owner[i] && is_here(s, i)))
            rocl_put_number(to, i + 1);
    rocl_put_number(to, 0);
    put_extents(s, to);
    return ROCL_OK;
}

static rocl_status answer_sweep(void *self, rocl_taken *question, rocl_put *to, rocl_error *err)
{
    rocl_sweep *s = self;
    uint64_t gpu;
    if (rocl_take_number(question) == ASK_WHO) {
        const rocl_status st = complete_records(s, err);
        for (size_t i = 0; i < s->c.trace->gpu_count; i++)
            if (is_here(s, i))
                rocl_put_number(to, i + 1);
        rocl_put_number(to, 0);
        put_extents(s, to);
        return st;
    }
    while ((gpu = rocl_take_number(question))) {
        if (gpu > s->c.trace->gpu_count)
            return rocl_team_bad_message(err);
        s->wanted[gpu - 1] = true;
    }
    take_extents(s, question);
    return question->r.bad ? rocl_team_bad_message(err) : sweep_gpus(s, to, err);
}

static rocl_status hear_sweep(void *self, unsigned rank, rocl_taken *answer, rocl_error *err)
{
    rocl_sweep *s = self;
    const unsigned words = s->def->words;
    rocl_status st = ROCL_OK;
    if (s->round == ASK_WHO) {
        uint64_t gpu;
        while ((gpu = rocl_take_number(answer))) {
            if (gpu > s->c.trace->gpu_count)
                return rocl_team_bad_message(err);
            s->owner[gpu - 1] = s->owner[gpu - 1] ? SEVERAL : rank + 1;
        }
        take_extents(s, answer);
        return answer->r.bad ? rocl_team_bad_message(err) : ROCL_OK;
    }
    while (!rocl_taken_all(answer) && st == ROCL_OK) {
        uint64_t key[4] = {rocl_take_number(answer)};
        key[1] = (uint64_t)rocl_take_signed(answer);
        for (unsigned i = 2; i < words; i++)
            key[i] = rocl_take_number(answer);
        if (answer->r.bad || key[0] >= s->c.trace->gpu_count || !s->def->is_possible(s, key))
            return rocl_team_bad_message(err);
        st = rocl_sorter_add(s->sorter, 0, key, NULL, 0, err);
    }
    return st;
}

/* By GPU + 1; 0 where what else the rank has begins. Of values that are 0 only their number is
 * put. */
static rocl_status put_results(void *self, rocl_put *to, rocl_error *err)
{
    rocl_sweep *s = self;
    rocl_status st = ROCL_OK;
    for (size_t i = 0; i < s->c.trace->gpu_count && st == ROCL_OK; i++) {
        if (!s->results[i])
            continue;
        rocl_put_number(to, i + 1);
        for (size_t k = 0; k < s->values; k++) {
            size_t zeros = 0;
            rocl_put_signed(to, s->results[i][k]);
            if (s->results[i][k])
                continue;
            while (k + 1 < s->values && !s->results[i][k + 1]) {
                zeros++;
                k++;
            }
            rocl_put_number(to, zeros);
        }
        st = rocl_put_piece(to, err);
    }
    rocl_put_number(to, 0);
    if (s->def->put)
        s->def->put(s, to);
    return st;
}

static rocl_status take_results(void *self, unsigned rank, rocl_taken *from, rocl_error *err)
{
    rocl_sweep *s = self;
    while (!rocl_taken_all(from)) {
        const uint64_t gpu = rocl_take_number(from);
        if (!gpu)
            return s->def->take ? s->def->take(s, from, err) : ROCL_OK;
        if (gpu > s->c.trace->gpu_count || s->owner[gpu - 1] != rank + 1 || s->results[gpu - 1])
            return rocl_team_bad_message(err);
        int64_t *values = s->results[gpu - 1] = calloc(s->values, sizeof *values);
        if (!values)
            return rocl_fail_memory(err);
        for (size_t k = 0; k < s->values && !from->r.bad; k++) {
            values[k] = rocl_take_signed(from);
            from->r.bad |= values[k] < 0 && k >= s->def->times;
            const uint64_t zeros = values[k] ? 0 : rocl_take_number(from);
            from->r.bad |= zeros >= s->values - k;
            k += from->r.bad ? 0 : zeros;
        }
    }
    return from->r.bad ? rocl_team_bad_message(err) : ROCL_OK;
}

const rocl_gather_def rocl_sweep_gather = {.prepare = prepare_sweep,
                                           .ask = ask_sweep,
                                           .answer = answer_sweep,
                                           .hear = hear_sweep,
                                           .put = put_results,
                                           .take = take_results};
