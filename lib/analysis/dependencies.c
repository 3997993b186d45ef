/* What depends on what: see dependencies.h. A sweep follows the points of the trace (points.h) with
 * a slot (path.h) for each thread, stream, queue and process, and for each piece of work from its
 * launch to its end. In memory is what goes on at a time. */
#include "analysis/dependency_state.h"

#include <stdlib.h>
#include <string.h>

/* A step of a slot until then, which takes as long whatever else is faster. */
static void pass_time(dependencies *d, uint32_t slot, int64_t until, rocl_time_class class,
                      rocl_time_detail detail, uint32_t name, uint32_t process)
{
    rocl_path_step(d->pub.path, slot, until, rocl_find_time_key(d, class, detail, name, process),
                   false);
}

/* ---- collectives ----------------------------------------------------------------------------- */

/* A collective that goes on, + 1, made when it begins; 0: memory is out. */
static uint32_t find_group(dependencies *d, uint64_t number, uint64_t count)
{
    uint32_t i = rocl_map_get(&d->group_of, number, ROCL_NONE);
    if (i != ROCL_NONE)
        return i + 1;
    if (!TAKE(d, group, i))
        return 0;
    d->groups[i] = (group){.number = number, .left = count};
    d->failed |= !rocl_map_put(&d->group_of, number, i);
    return i + 1;
}

static void join_group(dependencies *d, uint32_t group_plus1, uint32_t slot, uint32_t process)
{
    if (group_plus1 && rocl_join_slot(d, &d->groups[group_plus1 - 1].slot, slot))
        d->groups[group_plus1 - 1].last = process;
}

/* A kernel or range of a collective ends: it waited for the last of them to begin. */
static void leave_group(dependencies *d, uint32_t group_plus1, uint32_t slot, uint32_t process)
{
    group *g = &d->groups[group_plus1 - 1];
    const uint32_t rank = d->processes[g->last].rank_index;
    if (rank == d->processes[process].rank_index) {
        rocl_path_wait(d->pub.path, slot, g->slot);
    } else {
        uint32_t *name = &d->rank_names[rank];
        if (!*name) {
            char text[48];
            const char *is = rocl_rank_name(&d->pub.points->ranks->all[rank], text);
            *name = rocl_strings_put(d->c->trace->strings, is, strlen(is));
            d->failed |= *name == ROCL_NONE;
        }
        rocl_path_wait_elsewhere(
            d->pub.path, slot, g->slot,
            rocl_find_time_key(d, ROCL_TIME_ELSEWHERE, ROCL_TIME_NAMED, *name, process));
    }
    if (--g->left)
        return;
    rocl_free_slot(d, &g->slot);
    rocl_map_del(&d->group_of, g->number);
    rocl_leave_place(d, &d->group_places, group_plus1 - 1);
}

/* ---- threads --------------------------------------------------------------------------------- */

/* The stream that a call waited for: the one whose work ended last during it, except streams with
 * more work that was launched before. If the call names its stream, among the lanes of that. */
static uint32_t find_awaited(const dependencies *d, const frame *f, const process_state *of)
{
    const handle *named = f->stream ? &d->handles[f->stream] : NULL;
    uint32_t last = 0;
    named = named && named->lane_count ? named : NULL;
    for (uint32_t i = of->latest; i; i = d->lanes[i].ended_before) {
        const lane *l = &d->lanes[i];
        if (named && !rocl_has_lane(named, i))
            continue;
        last = last ? last : i;
        if (rocl_path_time(d->pub.path, l->slot) <= f->start)
            break;
        if (!l->oldest || d->works[l->oldest - 1].launched >= f->start)
            return l->slot;
    }
    const bool any = last && rocl_path_time(d->pub.path, d->lanes[last].slot) > f->start;
    return named ? last ? d->lanes[last].slot : 0 : any ? 0 : of->slot;
}

/* Its end, where the thread is: waited it for work? */
static void return_from_call(dependencies *d, thread *t, const frame *f)
{
    const process_state *of = &d->processes[t->process];
    uint32_t awaited = f->own_plus1 ? d->owns[f->own_plus1 - 1].slot : 0;
    if (!awaited)
        awaited = f->mark_plus1                       ? d->marks[f->mark_plus1 - 1].slot
                  : f->waits == ROCL_WAITS_FOR_STREAM ? find_awaited(d, f, of)
                                                      : of->slot;
    if (!awaited)
        return;
    /* Else it had nothing to wait for, but could have. */
    const bool waited = rocl_path_time(d->pub.path, awaited) > f->start;
    if (waited)
        rocl_path_copy(d->pub.path, t->slot, f->begun);
    rocl_path_wait(d->pub.path, t->slot, awaited);
    if (!waited)
        return;
    rocl_time_key k;
    memcpy(&k, rocl_strings_get(d->pub.keys, f->what, NULL), sizeof k);
    pass_time(d, t->slot, f->end, ROCL_TIME_RETURN, ROCL_TIME_NAMED, k.name, t->process);
    t->takes_part = true;
}

static void end_ranges(dependencies *d, thread *t, int64_t until);

/* Goes on when the threads that work for it are done. */
static void await_engines(dependencies *d, thread *t, int64_t until)
{
    thread *u;
    for (uint32_t i = d->processes[t->process].engine_plus1; i; i = u->next_engine) {
        u = &d->threads[i - 1];
        if (u->caller_plus1 != (uint32_t)(t - d->threads) + 1)
            continue;
        end_ranges(d, u, until);
        if (!u->depth)
            rocl_path_wait(d->pub.path, t->slot, u->slot);
    }
}

/* Ends what ends up to a time. */
static void end_ranges(dependencies *d, thread *t, int64_t until)
{
    while (t->depth && t->open[t->depth - 1].end <= until) {
        frame *f = &t->open[t->depth - 1];
        if (!t->caller_plus1)
            await_engines(d, t, f->end);
        t->depth--;
        rocl_path_step(d->pub.path, t->slot, f->end, f->what, true);
        t->last = f->end > t->last ? f->end : t->last;
        /* One that crosses others may be met late. */
        const bool late = rocl_path_time(d->pub.path, t->slot) > f->end;
        if (f->waits && !late)
            return_from_call(d, t, f);
        if (f->group_plus1) {
            const uint32_t last = d->groups[f->group_plus1 - 1].slot;
            const bool waited = !late && rocl_path_time(d->pub.path, last) > f->start;
            t->takes_part = true;
            if (waited)
                rocl_path_copy(d->pub.path, t->slot, f->begun);
            leave_group(d, f->group_plus1, waited ? t->slot : 0, t->process);
            rocl_path_step(d->pub.path, t->slot, f->end, f->what, true);
        }
        rocl_free_slot(d, &f->begun);
        rocl_leave_own(d, f->own_plus1);
        rocl_leave_mark(d, f->mark_plus1);
    }
}

/* Ends what ends up to a time, and goes on up to it. */
static void follow_thread(dependencies *d, thread *t, int64_t until)
{
    end_ranges(d, t, until);
    if (until == INT64_MAX)
        return;
    if (!t->caller_plus1)
        await_engines(d, t, until);
    rocl_path_step(d->pub.path, t->slot, until, t->depth ? t->open[t->depth - 1].what : t->outside,
                   t->depth > 0);
}

/* The backward pass begins, or goes on after another thread has done something: that one called. */
static void call_engine(dependencies *d, thread *t, int64_t now)
{
    process_state *of = &d->processes[t->process];
    const uint32_t self_plus1 = (uint32_t)(t - d->threads) + 1, host_plus1 = of->host_plus1;
    if (!host_plus1 || host_plus1 == self_plus1)
        return;
    thread *host = &d->threads[host_plus1 - 1];
    if (!t->caller_plus1) {
        t->next_engine = of->engine_plus1;
        of->engine_plus1 = self_plus1;
    }
    t->caller_plus1 = host_plus1;
    end_ranges(d, t, now);
    if (!t->depth)
        end_ranges(d, host, now);
    if (t->depth || host->last < t->last)
        return;
    follow_thread(d, host, now);
    rocl_path_wait(d->pub.path, t->slot, host->slot);
}

/* A thread that launches work has done something. */
static void note_host(dependencies *d, const thread *t)
{
    if (t->takes_part && !t->caller_plus1)
        d->processes[t->process].host_plus1 = (uint32_t)(t - d->threads) + 1;
}

/* What a call does with the stream and the event that it names. */
static void use_handles(dependencies *d, frame *f, const rocl_point *p)
{
    const uint32_t mark_plus1 = p->event ? d->handles[p->event].mark_plus1 : 0;
    f->stream = p->stream;
    if (p->event && p->flags & ROCL_RANGE_RECORDS_EVENT) {
        if (p->stream)
            rocl_record_event(d, p->event, p->stream);
    } else if (mark_plus1 && p->flags & ROCL_RANGE_WAITS_FOR_EVENT && p->stream) {
        rocl_add_link(d, &d->handles[p->stream].waits, mark_plus1);
    } else if (mark_plus1 && p->waits == ROCL_WAITS_FOR_EVENT) {
        f->mark_plus1 = mark_plus1;
        d->marks[mark_plus1 - 1].users++;
    }
}

static void begin_range(dependencies *d, const rocl_point *p, uint32_t group_plus1)
{
    const int64_t now = p->time;
    const size_t index = d->threads_of[p->capture] + p->thread;
    const uint32_t of = (uint32_t)(d->processes_of[p->capture] + p->process);
    thread *t = &d->threads[index];
    const bool first = !t->seen;
    if (first) {
        t->seen = true;
        t->process = of;
        t->event_waited = t->last = -1;
        t->outside = rocl_find_time_key(d, ROCL_TIME_OUTSIDE, ROCL_TIME_NO_RANGE, 0, of);
        rocl_join_slot(d, &t->slot, 0);
    }
    if (p->flags & ROCL_RANGE_IS_BACKWARD)
        call_engine(d, t, now);
    if (first)
        pass_time(d, t->slot, now, ROCL_TIME_UNEXPLAINED, ROCL_TIME_NO_BEGIN, 0, of);
    follow_thread(d, t, now);
    t->last = now;
    note_host(d, t);
    d->failed |= !ROCL_GROW(t->open, t->cap, t->depth + 1);
    if (d->failed)
        return;
    frame f = {.start = now, .end = p->end, .waits = p->waits, .group_plus1 = group_plus1};
    f.what =
        rocl_find_time_key(d, p->flags & ROCL_RANGE_IS_MARKER ? ROCL_TIME_OUTSIDE : ROCL_TIME_HOST,
                           ROCL_TIME_NAMED, p->name, of);
    if (p->stream || p->event)
        use_handles(d, &f, p);
    if (p->flags & ROCL_RANGE_WAITS_FOR_EVENT && !(p->stream && p->event))
        t->event_waited = now;
    /* Calls that are about streams or events are counted, and those that say about which. */
    const bool event = p->flags & ROCL_RANGE_WAITS_FOR_EVENT || p->waits == ROCL_WAITS_FOR_EVENT;
    const bool stream = p->flags & ROCL_RANGE_WAITS_FOR_EVENT || p->waits == ROCL_WAITS_FOR_STREAM;
    if (!(p->flags & ROCL_RANGE_IS_OF_HSA) && (event || stream)) {
        d->pub.waits++;
        d->pub.named += (!event || p->event) && (!stream || p->stream);
    }
    join_group(d, group_plus1, t->slot, of);
    if (f.waits || group_plus1) {
        rocl_join_slot(d, &f.begun, t->slot);
        rocl_add_pending(
            d, (pending){f.end, f.waits == ROCL_WAITS_FOR_DEVICE ? WAITS_FOR_ALL : WAITS_FOR_SOME,
                         (uint32_t)index, index});
    }
    t->open[t->depth++] = f;
}

/* ---- work ------------------------------------------------------------------------------------ */

/* ROCL_NONE: memory is out. */
static uint32_t new_work(dependencies *d)
{
    uint32_t i;
    if (!TAKE(d, work, i))
        return ROCL_NONE;
    d->works[i] = (work){0};
    return i;
}

/* It has not ended from here on, on its stream. */
static void list_work(dependencies *d, uint32_t index)
{
    work *w = &d->works[index];
    lane *l = &d->lanes[w->lanes[ROCL_ON_STREAM]];
    if (!w->lanes[ROCL_ON_STREAM])
        return;
    w->older = l->newest;
    *(w->older ? &d->works[w->older - 1].newer : &l->oldest) = index + 1;
    l->newest = index + 1;
}

/* The call of the work that it launches, if it is open; NULL. */
static frame *find_frame(const thread *t, int64_t start, int64_t end)
{
    for (size_t i = t->depth; i-- && t->open[i].start == start;)
        if (t->open[i].end == end)
            return &t->open[i];
    return NULL;
}

/* The stream that the call of the work names: it is where the work is, if the work itself does not
 * say, and what the stream waits for is waited for by the work. */
static void enter_stream(dependencies *d, work *w, uint32_t stream)
{
    handle *h = &d->handles[stream];
    if (!stream)
        return;
    w->waits = h->waits;
    h->waits = 0;
    if (!w->lanes[ROCL_ON_STREAM]) {
        h->own = h->own ? h->own : rocl_add_lane(d);
        w->lanes[ROCL_ON_STREAM] = h->own;
    }
    d->failed |= !ROCL_GROW(h->lanes, h->lane_cap, h->lane_count + 1);
    if (!d->failed && !rocl_has_lane(h, w->lanes[ROCL_ON_STREAM]))
        h->lanes[h->lane_count++] = w->lanes[ROCL_ON_STREAM];
}

static void launch_work(dependencies *d, const rocl_point *p)
{
    const int64_t now = p->time;
    thread *t = &d->threads[d->threads_of[p->capture] + p->thread];
    const frame *call = find_frame(t, now, p->end); /* it may be shorter than a clock can tell */
    const uint32_t stream = call ? call->stream : 0;
    follow_thread(d, t, now);
    const uint32_t index = new_work(d);
    if (index == ROCL_NONE)
        return;
    d->failed |= !rocl_map_put(&d->work_of, p->number, index);
    work *w = &d->works[index];
    t->takes_part = true;
    note_host(d, t);
    w->launched = now;
    w->call = p->name;
    w->call_end = p->end;
    w->after_wait = d->processes[t->process].waited;
    w->lanes[ROCL_ON_STREAM] = p->places[ROCL_ON_STREAM];
    rocl_join_slot(d, &w->slot, t->slot);
    enter_stream(d, w, stream);
    if (w->lanes[ROCL_ON_STREAM]) {
        lane *l = &d->lanes[w->lanes[ROCL_ON_STREAM]];
        w->waits_for_event = t->event_waited >= 0 && t->event_waited >= l->launched;
        l->launched = now;
    }
    list_work(d, index);
    /* A call that waits for its work keeps what has ended of it. */
    frame *f = find_frame(t, now, p->end);
    uint32_t i;
    if (!f || f->waits != ROCL_WAITS_FOR_COPY)
        return;
    if (!f->own_plus1 && TAKE(d, own, i)) {
        d->owns[i] = (own){.users = 1};
        f->own_plus1 = i + 1;
    }
    w->own_plus1 = f->own_plus1;
    if (w->own_plus1)
        d->owns[w->own_plus1 - 1].users++;
}

/* Real ones take up to 30 us where nothing is in their way. */
enum { LONGEST_LAUNCH = 100000 };

/* Nothing in the trace held it back. If it is the first of its stream, the GPU was idle meanwhile,
 * and nothing has yet waited for all that began before the trace, then that held it back. */
static void delay_launch(dependencies *d, work *w, uint32_t name, int64_t now)
{
    const uint32_t launch =
        rocl_find_time_key(d, ROCL_TIME_LAUNCH, ROCL_TIME_NAMED, w->call, w->process);
    const lane *gpu = &d->lanes[w->lanes[ROCL_ON_GPU]];
    const lane *first = w->lanes[ROCL_ON_STREAM]  ? &d->lanes[w->lanes[ROCL_ON_STREAM]]
                        : w->lanes[ROCL_ON_QUEUE] ? &d->lanes[w->lanes[ROCL_ON_QUEUE]]
                                                  : gpu;
    const int64_t from = gpu->quiet_from > w->call_end ? gpu->quiet_from : w->call_end;
    rocl_path_step(d->pub.path, w->slot, w->call_end < now ? w->call_end : now, launch, true);
    if (!first->begun && !w->after_wait && gpu->quiet_to - from > LONGEST_LAUNCH) {
        rocl_path_step(d->pub.path, w->slot, from, launch, false);
        pass_time(d, w->slot, gpu->quiet_to, ROCL_TIME_BEFORE, ROCL_TIME_NAMED, name, w->process);
    }
    rocl_path_step(d->pub.path, w->slot, now, launch, false);
}

/* What it waited for from its launch, or from the end of other work, until it began. */
static void delay_work(dependencies *d, work *w, bool linked, uint32_t name, int64_t now)
{
    const process_state *of = &d->processes[w->process];
    bool led = false;
    /* The events that its stream waits for, if they have come: a clock may be late. */
    for (uint32_t i = w->waits; i; i = d->links[i - 1].next)
        if (d->marks[d->links[i - 1].mark].slot)
            led |= rocl_path_wait(d->pub.path, w->slot, d->marks[d->links[i - 1].mark].slot);
    for (unsigned i = ROCL_ON_STREAM; i <= ROCL_ON_QUEUE; i++)
        if (d->lanes[w->lanes[i]].slot)
            led |= rocl_path_wait(d->pub.path, w->slot, d->lanes[w->lanes[i]].slot);
    if (of->slot && (!linked || w->waits_for_event))
        led |= rocl_path_wait(d->pub.path, w->slot, of->slot);
    if (!linked)
        pass_time(d, w->slot, now, ROCL_TIME_UNEXPLAINED, ROCL_TIME_NO_CALL, 0, w->process);
    else if (led)
        pass_time(d, w->slot, now, ROCL_TIME_QUEUE, ROCL_TIME_NAMED, name, w->process);
    else
        delay_launch(d, w, name, now);
}

static void begin_work(dependencies *d, const rocl_point *p, uint32_t collective_plus1)
{
    static const rocl_time_class class_of[ROCL_ACTIVITIES] = {
        [ROCL_ACTIVITY_COMPUTE] = ROCL_TIME_KERNEL,
        [ROCL_ACTIVITY_COMMUNICATION] = ROCL_TIME_COMMUNICATION,
        [ROCL_ACTIVITY_COPY] = ROCL_TIME_COPY};
    const int64_t now = p->time;
    uint32_t index = p->is_launched ? rocl_map_get(&d->work_of, p->number, ROCL_NONE) : new_work(d);
    d->failed |= index == ROCL_NONE;
    if (d->failed)
        return;
    work *w = &d->works[index];
    const uint32_t named = w->lanes[ROCL_ON_STREAM];
    if (p->is_launched)
        rocl_map_del(&d->work_of, p->number);
    w->process = (uint32_t)(d->processes_of[p->capture] + p->process);
    memcpy(w->lanes, p->places, sizeof w->lanes);
    if (!w->lanes[ROCL_ON_STREAM])
        w->lanes[ROCL_ON_STREAM] = named;
    lane *gpu = &d->lanes[w->lanes[ROCL_ON_GPU]];
    if (now > gpu->until) {
        gpu->quiet_from = gpu->until;
        gpu->quiet_to = now;
    }
    gpu->until = p->end > gpu->until ? p->end : gpu->until;
    w->collective_plus1 = collective_plus1;
    w->end = p->end;
    if (!p->is_launched) {
        w->launched = now;
        rocl_join_slot(d, &w->slot, 0);
        list_work(d, index);
    }
    rocl_activity activity = ROCL_ACTIVITY_COPY;
    d->failed |=
        !p->is_copy && !rocl_find_activity(d->c->trace, &d->activities, p->name, &activity);
    delay_work(d, w, p->is_launched, p->name, now);
    for (unsigned i = 0; i < ROCL_PLACES; i++)
        if (w->lanes[i])
            d->lanes[w->lanes[i]].begun = true;
    rocl_free_links(d, &w->waits);
    w->what = rocl_find_time_key(d, class_of[activity], ROCL_TIME_NAMED, p->name, w->process);
    join_group(d, collective_plus1, w->slot, w->process);
    rocl_add_pending(d, (pending){w->end, 0, index, p->number});
}

/* Its stream was the last on which something ended. */
static void note_end(dependencies *d, uint32_t stream, process_state *of)
{
    lane *l = &d->lanes[stream];
    if (of->latest == stream)
        return;
    if (l->listed) {
        d->lanes[l->after].ended_before = l->ended_before;
        if (l->ended_before)
            d->lanes[l->ended_before].after = l->after;
    }
    l->listed = true;
    l->after = 0;
    l->ended_before = of->latest;
    if (of->latest)
        d->lanes[of->latest].after = stream;
    of->latest = stream;
}

static void end_work(dependencies *d, uint32_t index)
{
    work *w = &d->works[index];
    process_state *of = &d->processes[w->process];
    if (w->collective_plus1)
        leave_group(d, w->collective_plus1, w->slot, w->process);
    rocl_path_step(d->pub.path, w->slot, w->end, w->what, true);
    for (unsigned i = ROCL_ON_STREAM; i <= ROCL_ON_QUEUE; i++)
        if (w->lanes[i])
            rocl_join_slot(d, &d->lanes[w->lanes[i]].slot, w->slot);
    rocl_join_slot(d, &of->slot, w->slot);
    if (w->lanes[ROCL_ON_STREAM]) {
        lane *l = &d->lanes[w->lanes[ROCL_ON_STREAM]];
        *(w->older ? &d->works[w->older - 1].newer : &l->oldest) = w->newer;
        *(w->newer ? &d->works[w->newer - 1].older : &l->newest) = w->older;
        note_end(d, w->lanes[ROCL_ON_STREAM], of);
    }
    for (uint32_t i = w->is_under; i; i = d->links[i - 1].next)
        rocl_join_slot(d, &d->marks[d->links[i - 1].mark].slot,
                       d->lanes[w->lanes[ROCL_ON_STREAM]].slot);
    rocl_free_links(d, &w->is_under);
    if (w->own_plus1)
        rocl_join_slot(d, &d->owns[w->own_plus1 - 1].slot, w->slot);
    rocl_leave_own(d, w->own_plus1);
    rocl_free_slot(d, &w->slot);
    rocl_leave_place(d, &d->work_places, index);
}

/* ---- the sweep ------------------------------------------------------------------------------- */

/* Ends work, and returns from calls, up to a time. */
static void end_pending(dependencies *d, int64_t until)
{
    while (d->pending_count && d->heap[0].time <= until) {
        const pending x = rocl_take_pending(d);
        thread *t = x.calls ? &d->threads[x.index] : NULL;
        if (t && x.calls == WAITS_FOR_ALL)
            d->processes[t->process].waited = true;
        if (t)
            follow_thread(d, t, x.time);
        else
            end_work(d, x.index);
    }
}

static rocl_status begin_sweep(dependencies *d, rocl_error *err)
{
    const rocl_trace *t = d->c->trace;
    const size_t captures = t->capture_count;
    const rocl_rank_list *ranks = d->pub.points->ranks;
    d->processes_of = calloc(captures + 1, sizeof *d->processes_of);
    d->threads_of = calloc(captures + 1, sizeof *d->threads_of);
    if (!d->processes_of || !d->threads_of)
        return rocl_fail_memory(err);
    for (size_t i = 0; i < captures; i++) {
        d->processes_of[i + 1] = d->processes_of[i] + t->captures[i]->pub.process_count;
        d->threads_of[i + 1] = d->threads_of[i] + t->captures[i]->pub.thread_count;
    }
    d->process_count = d->processes_of[captures];
    d->thread_count = d->threads_of[captures];
    d->processes = calloc(d->process_count + 1, sizeof *d->processes);
    d->threads = calloc(d->thread_count + 1, sizeof *d->threads);
    d->handles = calloc(d->pub.points->handle_count, sizeof *d->handles);
    d->rank_names = calloc(ranks->count + 1, sizeof *d->rank_names);
    d->pub.rank_ends = calloc(ranks->count + 1, sizeof *d->pub.rank_ends);
    if (!d->processes || !d->threads || !d->handles || !d->rank_names || !d->pub.rank_ends ||
        !ROCL_GROW(d->lanes, d->lane_cap, d->pub.points->place_count))
        return rocl_fail_memory(err);
    for (size_t i = 0; i < captures; i++)
        for (uint32_t k = 0; k < t->captures[i]->pub.process_count; k++) {
            process_state *of = &d->processes[d->processes_of[i] + k];
            of->rank = t->captures[i]->pub.processes[k].rank;
            of->rank_index = ranks->of[i][k];
        }
    while (d->lane_count < d->pub.points->place_count)
        d->lanes[d->lane_count++] = fresh_lane;
    return ROCL_OK;
}

static void end_rank(dependencies *d, const process_state *of, uint32_t slot)
{
    rocl_path_wait(d->pub.path, d->pub.end, slot);
    rocl_join_slot(d, &d->pub.rank_ends[of->rank_index], slot);
}

/* Where the path ends: where the last work does, or the last thread that had to do with any. Others
 * may go on for long, asking every 100 ms whether there is anything to do. Of what ends at one time
 * the host. */
static void find_end(dependencies *d)
{
    bool any = d->pub.points->work > 0;
    end_pending(d, INT64_MAX);
    for (size_t i = 0; i < d->thread_count; i++)
        if (d->threads[i].seen)
            follow_thread(d, &d->threads[i], INT64_MAX);
    for (size_t i = 0; i < d->thread_count; i++)
        any |= d->threads[i].takes_part;
    rocl_join_slot(d, &d->pub.end, 0);
    for (size_t i = 0; i < d->thread_count; i++) {
        const thread *t = &d->threads[i];
        if (t->seen && (t->takes_part || !any))
            end_rank(d, &d->processes[t->process], t->slot);
    }
    for (size_t i = 0; i < d->process_count; i++)
        if (d->processes[i].slot)
            end_rank(d, &d->processes[i], d->processes[i].slot);
}

static rocl_status sweep_points(dependencies *d, rocl_error *err)
{
    rocl_point p = {0};
    uint32_t collective_plus1 = 0;
    bool begun = false;
    rocl_status st = ROCL_OK;
    while (!d->failed && rocl_points_next(d->pub.points, &p, &st, err)) {
        if (!begun)
            d->pub.origin = p.time;
        begun = true;
        p.time -= d->pub.origin;
        p.end -= d->pub.origin;
        end_pending(d, p.time);
        if (p.kind == ROCL_POINT_RANGE)
            begin_range(d, &p, collective_plus1);
        else if (p.kind == ROCL_POINT_LAUNCH)
            launch_work(d, &p);
        else if (p.kind == ROCL_POINT_WORK)
            begin_work(d, &p, collective_plus1);
        if (p.kind != ROCL_POINT_LAUNCH) /* the work or range that comes next is in it */
            collective_plus1 =
                p.kind == ROCL_POINT_COLLECTIVE ? find_group(d, p.number, p.members) : 0;
    }
    if (st == ROCL_OK && !d->failed)
        find_end(d);
    if (st == ROCL_OK && d->failed)
        st = rocl_fail_memory(err);
    return st == ROCL_OK ? rocl_path_close(d->pub.path, err) : st;
}

/* ---- begin and end --------------------------------------------------------------------------- */

rocl_status rocl_dependencies_open(rocl_dependencies **out, rocl_collector *c, rocl_error *err)
{
    dependencies *d = calloc(1, sizeof *d);
    if (!d)
        return rocl_fail_memory(err);
    *out = &d->pub;
    d->c = c;
    d->pub.keys = rocl_strings_new();
    d->pub.path = rocl_path_new(c->trace->space);
    return d->pub.keys && d->pub.path ? rocl_points_open(&d->pub.points, c, err)
                                      : rocl_fail_memory(err);
}

rocl_status rocl_dependencies_follow(rocl_dependencies *self, rocl_error *err)
{
    dependencies *d = (dependencies *)self;
    rocl_status st = rocl_points_start(d->pub.points, err);
    if (st == ROCL_OK)
        st = begin_sweep(d, err);
    return st == ROCL_OK ? sweep_points(d, err) : st;
}

void rocl_dependencies_close(rocl_dependencies *self)
{
    dependencies *d = (dependencies *)self;
    if (!d)
        return;
    for (size_t i = 0; d->threads && i < d->thread_count; i++)
        free(d->threads[i].open);
    for (size_t i = 0; d->handles && i < d->pub.points->handle_count; i++)
        free(d->handles[i].lanes);
    rocl_points_close(d->pub.points);
    rocl_path_free(d->pub.path);
    rocl_strings_free(d->pub.keys);
    rocl_map_free(&d->work_of);
    rocl_map_free(&d->group_of);
    rocl_ids_free(&d->activities);
    void *const arrays[] = {d->handles,
                            d->rank_names,
                            d->pub.rank_ends,
                            d->processes_of,
                            d->threads_of,
                            d->processes,
                            d->threads,
                            d->lanes,
                            d->works,
                            d->owns,
                            d->groups,
                            d->marks,
                            d->links,
                            d->work_places.unused,
                            d->own_places.unused,
                            d->group_places.unused,
                            d->mark_places.unused,
                            d->link_places.unused,
                            d->heap};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        free(arrays[i]);
    free(d);
}
