/* Rules of the report `doctor` on processes that have something in common: ranks, their steps, and
 * recordings of one process. */
#include <stdlib.h>
#include <string.h>

#include "analysis/doctor.h"
#include "base/array.h"
#include "model/steps.h"

/* ---- what is noted of events ----------------------------------------------------------------- */

rocl_status rocl_note_batch(rocl_doctor *d, unsigned worker, const rocl_batch *b, rocl_error *err)
{
    enum { NO_STEP = 1, STEP };
    rocl_note_worker *w = &d->workers[worker];
    const uint32_t first = (uint32_t)d->facts.first_process[b->capture->index];
    for (size_t i = 0; i < b->count && b->kind == ROCL_MARKER; i++) {
        const rocl_event *e = &b->regions[i].e;
        const rocl_noted one = {ROCL_NOTED_STEP, first + e->process, e->name, 0};
        size_t n, stem;
        uint64_t number;
        if (e->name == ROCL_NONE)
            continue;
        if (!ROCL_GROW(w->known, w->known_cap, (size_t)e->name + 1))
            return rocl_fail_memory(err);
        uint8_t *known = &w->known[e->name];
        if (!*known) {
            const char *name = rocl_strings_get(d->c.trace->strings, e->name, &n);
            *known = rocl_read_step(name, n, &stem, &number) ? STEP : NO_STEP;
        }
        if (*known == NO_STEP || !memcmp(&w->last, &one, sizeof one))
            continue;
        w->last = one;
        if (rocl_strings_put(d->noted, (const char *)&one, sizeof one) == ROCL_NONE)
            return rocl_fail_memory(err);
    }
    return ROCL_OK;
}

/* ---- rules on ranks -------------------------------------------------------------------------- */

enum { KERNELS, CALLS, COPIES, MARKERS, LENGTH, GPUS, STREAMS, AMOUNTS };

/* The processes of one rank. */
typedef struct rank_facts {
    int32_t number;
    rocl_subject subject; /* its first process */
    int64_t of[AMOUNTS];  /* GPUs and streams: those that have work */
} rank_facts;

static int compare_ranks(const void *a, const void *b)
{
    return rocl_number_order(((const rank_facts *)a)->number, ((const rank_facts *)b)->number);
}

/* Notes a value of a rank. Was it unknown? */
static bool is_new(const rocl_doctor *d, const rocl_noted *n)
{
    const size_t before = rocl_strings_count(d->noted);
    d->out->incomplete |= rocl_strings_put(d->noted, (const char *)n, sizeof *n) == ROCL_NONE;
    return rocl_strings_count(d->noted) > before;
}

static void count_place(const rocl_doctor *d, rank_facts *r, const rocl_subject *s,
                        const rocl_group_key *place)
{
    const uint32_t rank = (uint32_t)r->number, stream = place->of[3];
    for (unsigned i = 0; i < 2; i++) {
        const rocl_gpu *g = rocl_gpu_of(s->capture, place->of[i]);
        r->of[GPUS] += g && is_new(d, &(rocl_noted){ROCL_NOTED_GPU, rank,
                                                    (uint32_t)(g - d->c.trace->gpus), 0});
    }
    r->of[STREAMS] +=
        stream < s->capture->stream_count &&
        is_new(d, &(rocl_noted){ROCL_NOTED_STREAM, rank, stream, (uint32_t)s->process->pid});
}

/* NULL: memory is out. */
static rank_facts *collect_ranks(const rocl_doctor *d, size_t *count)
{
    const rocl_facts *f = &d->facts;
    rank_facts *all = calloc(f->process_count + 1, sizeof *all);
    size_t n = 0, kept = 0;
    for (size_t i = 0; all && i < f->process_count; i++) {
        const rocl_process_facts *p = &f->processes[i];
        const rocl_extent whole = rocl_extent_of_all(p);
        const rocl_subject s = rocl_subject_of(d, i);
        if (s.process->rank >= 0)
            all[n++] = (rank_facts){s.process->rank,
                                    s,
                                    {[KERNELS] = (int64_t)p->kinds[ROCL_DISPATCH].count,
                                     [CALLS] = (int64_t)p->runtime.count,
                                     [COPIES] = (int64_t)p->kinds[ROCL_COPY].count,
                                     [MARKERS] = (int64_t)p->kinds[ROCL_MARKER].count,
                                     [LENGTH] = whole.last - whole.first}};
    }
    if (n)
        qsort(all, n, sizeof *all, compare_ranks);
    for (size_t i = 0; i < n; i++) {
        rank_facts *to = kept ? &all[kept - 1] : NULL;
        if (!to || to->number != all[i].number) {
            all[kept++] = all[i];
            continue;
        }
        for (unsigned k = 0; k < LENGTH; k++)
            to->of[k] += all[i].of[k];
        to->of[LENGTH] = all[i].of[LENGTH] > to->of[LENGTH] ? all[i].of[LENGTH] : to->of[LENGTH];
    }
    for (uint32_t i = 1; all && i < rocl_strings_count(f->keys); i++) {
        rocl_group_key place;
        rocl_facts_group(f, i, &place);
        if (place.what != ROCL_GROUP_PLACE)
            continue;
        const rocl_subject s = rocl_subject_of(d, place.process);
        rank_facts *r = s.process->rank < 0 ? NULL
                                            : bsearch(&(rank_facts){.number = s.process->rank}, all,
                                                      kept, sizeof *all, compare_ranks);
        if (r)
            count_place(d, r, &s, &place);
    }
    *count = kept;
    return all;
}

/* Compares one amount of all ranks with its upper median; of GPUs and streams among ranks that have
 * any. */
static void compare_ranks_by(rocl_doctor *d, const rank_facts *all, size_t n, unsigned by,
                             int64_t *scratch)
{
    static const char *const names[AMOUNTS] = {
        "kernels", "calls of the runtime", "copies", "markers", "", "GPU", "stream"};
    char text[2][32];
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
        if ((scratch[kept] = all[i].of[by]) || by < GPUS)
            kept++;
    qsort(scratch, kept, sizeof *scratch, rocl_compare_i64);
    const int64_t median = kept ? scratch[kept / 2] : 0;
    for (size_t i = 0; i < n && median; i++) {
        const rocl_subject *s = &all[i].subject;
        const int64_t own = all[i].of[by];
        const bool is_short = own < median - own;
        if (by >= GPUS && own && own != median)
            rocl_doctor_find(d, by == GPUS ? ROCL_RULE_RANK_GPUS : ROCL_RULE_RANK_STREAMS, s,
                             ROCL_TIMES(1), "%llu %s%s; others have %lld", ROCL_N(own), names[by],
                             own == 1 ? "" : "s", (long long)median);
        else if (by < LENGTH && !own)
            rocl_doctor_find(d, ROCL_RULE_RANK_LACKS, s, ROCL_TIMES(median),
                             "no %s; others have %lld", names[by], (long long)median);
        else if (by == KERNELS && is_short)
            rocl_doctor_find(d, ROCL_RULE_RANK_SHORT, s, ROCL_TIMES(median - own),
                             "%lld of the %lld %s that others have", (long long)own,
                             (long long)median, names[by]);
        else if (by == LENGTH && is_short)
            rocl_doctor_find(d, ROCL_RULE_RANK_SHORT, s, ROCL_TIMES(median - own),
                             "its events take %s, those of others %s", rocl_time_text(text[0], own),
                             rocl_time_text(text[1], median));
    }
}

void rocl_check_ranks(rocl_doctor *d)
{
    size_t n = 0;
    rank_facts *all = collect_ranks(d, &n);
    int64_t *scratch = calloc(n + 1, sizeof *scratch);
    d->out->incomplete |= !all || !scratch;
    if (all && scratch && n > 1) {
        const uint64_t least = (uint64_t)all[n - 1].number + 1; /* there should be */
        int32_t first = 0;
        while ((size_t)first < n && all[first].number == first)
            first++;
        if (least > n)
            rocl_doctor_find(d, ROCL_RULE_RANKS_MISSING, NULL, ROCL_TIMES(least - n),
                             "%llu of at least %llu, the first: rank %d", ROCL_N(least - n),
                             ROCL_N(least), first);
        for (unsigned by = 0; by < AMOUNTS; by++)
            compare_ranks_by(d, all, n, by, scratch);
    }
    free(all);
    free(scratch);
}

/* ---- steps of ranks -------------------------------------------------------------------------- */

/* The steps of a process that are called the same but for their number. */
typedef struct step_range {
    const char *stem; /* in the text of a marker */
    size_t stem_len;
    size_t process;
    uint64_t first, last;
} step_range;

static int compare_stems(const step_range *x, const step_range *y)
{
    return rocl_compare_bytes(x->stem, x->stem_len, y->stem, y->stem_len);
}

static int compare_steps(const void *a, const void *b)
{
    const step_range *x = a, *y = b;
    const int c = compare_stems(x, y);
    return c ? c : rocl_number_order((int64_t)x->process, (int64_t)y->process);
}

static int compare_ranges(const void *a, const void *b)
{
    const step_range *x = a, *y = b;
    int c = rocl_number_order((int64_t)x->first, (int64_t)y->first);
    if (!c)
        c = rocl_number_order((int64_t)x->last, (int64_t)y->last);
    return c ? c : compare_steps(a, b);
}

static bool same_range(const step_range *a, const step_range *b)
{
    return a->first == b->first && a->last == b->last;
}

/* Finds the ranges of steps with one name that differ from what most ranks have. */
static void compare_step_ranges(rocl_doctor *d, step_range *r, size_t n)
{
    const step_range *common = r;
    size_t most = 0, run = 0;
    qsort(r, n, sizeof *r, compare_ranges);
    for (size_t i = 0; i < n; i++) {
        run = i && same_range(&r[i], &r[i - 1]) ? run + 1 : 1;
        common = run > most ? &r[i] : common;
        most = run > most ? run : most;
    }
    for (size_t i = 0; i < n; i++) {
        const rocl_subject s = rocl_subject_of(d, r[i].process);
        if (!same_range(&r[i], common))
            rocl_doctor_find(d, ROCL_RULE_RANK_STEPS, &s, ROCL_TIMES(1),
                             "%.*s%llu to %llu; others have %llu to %llu",
                             rocl_name_prefix(r[i].stem, r[i].stem_len < 80 ? r[i].stem_len : 80),
                             r[i].stem, ROCL_N(r[i].first), ROCL_N(r[i].last),
                             ROCL_N(common->first), ROCL_N(common->last));
    }
}

void rocl_check_steps(rocl_doctor *d)
{
    const size_t noted = rocl_strings_count(d->noted);
    step_range *all = calloc(noted + 1, sizeof *all);
    size_t n = 0, kept = 0;
    d->out->incomplete |= !all;
    for (uint32_t i = 1; all && i < noted; i++) {
        rocl_noted one;
        memcpy(&one, rocl_strings_get(d->noted, i, NULL), sizeof one);
        if (one.what != ROCL_NOTED_STEP)
            continue;
        const rocl_subject s = rocl_subject_of(d, one.of);
        step_range r = {.process = one.of};
        size_t len;
        r.stem = rocl_strings_get(d->c.trace->strings, one.value, &len);
        if (s.process->rank >= 0 && rocl_read_step(r.stem, len, &r.stem_len, &r.first)) {
            r.last = r.first;
            all[n++] = r;
        }
    }
    if (n)
        qsort(all, n, sizeof *all, compare_steps);
    for (size_t i = 0; i < n; i++) {
        step_range *to = kept ? &all[kept - 1] : NULL;
        if (!to || compare_steps(to, &all[i])) {
            all[kept++] = all[i];
            continue;
        }
        to->first = all[i].first < to->first ? all[i].first : to->first;
        to->last = all[i].last > to->last ? all[i].last : to->last;
    }
    for (size_t i = 0, end; i < kept; i = end) {
        for (end = i + 1; end < kept && !compare_stems(&all[i], &all[end]);)
            end++;
        compare_step_ranges(d, all + i, end - i);
    }
    free(all);
}

/* ---- rules on processes that are there twice ------------------------------------------------- */

typedef struct process_ref {
    size_t process; /* index among all */
    uint32_t clock; /* machines without a name may be the same one */
    int64_t pid;
} process_ref;

static int compare_processes(const void *a, const void *b)
{
    const process_ref *x = a, *y = b;
    int c = rocl_number_order(x->clock, y->clock);
    if (!c)
        c = rocl_number_order(x->pid, y->pid);
    return c ? c : rocl_number_order((int64_t)x->process, (int64_t)y->process);
}

/* Two captures that say they are of one process. */
static void compare_recordings(rocl_doctor *d, size_t first, size_t second)
{
    const rocl_process_facts *a = &d->facts.processes[first], *b = &d->facts.processes[second];
    const rocl_subject s = rocl_subject_of(d, second), of_first = rocl_subject_of(d, first);
    const rocl_extent x = rocl_extent_of_all(a), y = rocl_extent_of_all(b);
    if (!x.count || !y.count || s.process->rank != of_first.process->rank)
        return;
    if (!memcmp(a->kinds, b->kinds, sizeof a->kinds))
        rocl_doctor_find(d, ROCL_RULE_PROCESS_TWICE, &s, ROCL_TIMES(y.count),
                         "%llu events, as %.200s has them", ROCL_N(y.count),
                         rocl_capture_file(of_first.capture));
    else if (x.first < y.last && y.first < x.last)
        rocl_doctor_find(d, ROCL_RULE_TWO_RECORDINGS, &s, ROCL_TIMES(y.count),
                         "%llu events, while %.200s has %llu others", ROCL_N(y.count),
                         rocl_capture_file(of_first.capture), ROCL_N(x.count));
}

void rocl_check_recordings(rocl_doctor *d)
{
    process_ref *all = calloc(d->facts.process_count + 1, sizeof *all);
    size_t n = 0;
    d->out->incomplete |= !all;
    for (size_t i = 0; all && i < d->facts.process_count; i++) {
        const rocl_process *p = rocl_subject_of(d, i).process;
        if (p->pid > 0)
            all[n++] = (process_ref){i, d->c.trace->machines[p->machine].clock, p->pid};
    }
    if (n)
        qsort(all, n, sizeof *all, compare_processes);
    for (size_t i = 1; i < n; i++)
        if (all[i].clock == all[i - 1].clock && all[i].pid == all[i - 1].pid)
            compare_recordings(d, all[i - 1].process, all[i].process);
    free(all);
}
