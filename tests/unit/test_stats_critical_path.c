/* The report on the critical path against brute force: the path is followed back by looking at all
 * events at each step, and what would be if names were faster is found by recursion from the end,
 * on random traces. Traces with a known answer are in tests/cli/critical_path.bats. */
#include "tests/unit/stats_world.h"

enum { THREADS = 3, MOST = 80, STREAMS = 3, HANDLES = 3, EVENTS = 2, FACTOR = 2 };

/* ---- a trace in memory, and in a database ---- */

enum { PLAIN, DEVICE, STREAM, EVENT, COPY };

static const struct {
    const char *name;
    int waits;
    bool stream_waits, records, has_event;
} call_names[] = {{"hipLaunchKernel", PLAIN, false, false, false},
                  {"hipMalloc", PLAIN, false, false, false},
                  {"hipMemcpyAsync", PLAIN, false, false, false},
                  {"hipStreamWaitEvent", PLAIN, true, false, true},
                  {"hipEventRecord", PLAIN, false, true, true},
                  {"hipMemcpy", COPY, false, false, false},
                  {"hipStreamSynchronize", STREAM, false, false, false},
                  {"hipEventSynchronize", EVENT, false, false, true},
                  {"hipDeviceSynchronize", DEVICE, false, false, false}};
static const char *const kernel_names[] = {"k0", "k1", "ncclDevKernel_SendRecv"};

typedef struct range {
    int thread, name;  /* of call_names; COUNT(call_names): a marker */
    int handle, event; /* of the stream and the event that it names; -1: none */
    int64_t start, end, id;
    uint64_t stack;
} range;

typedef struct work {
    int name, stream, queue, agent,
        call; /* queue: not of copies; stream and call, of ranges: -1: none */
    bool copy, waits_for_event;
    int64_t start, end, id;
    uint64_t stack;
} work;

typedef struct job {
    range ranges[MOST];
    work works[MOST];
    int range_count, work_count;
    int64_t origin;
    const char *faster;                   /* NULL: nothing is */
    int64_t begin_of[MOST], end_of[MOST]; /* of work, with what is faster; -1: not found yet */
    int64_t *reached[THREADS];            /* by point of a thread; -1 */
    int64_t *points[THREADS];
    int point_count[THREADS];
} job;

static bool is_marker(const range *r)
{
    return r->name == (int)COUNT(call_names);
}

static const char *name_of(const range *r)
{
    return is_marker(r) ? "step" : call_names[r->name].name;
}

static int waits_of(const range *r)
{
    return is_marker(r) ? PLAIN : call_names[r->name].waits;
}

/* As the sweep meets them: by begin, the longest first. */
static int compare_ranges(const void *a, const void *b)
{
    const range *x = a, *y = b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    if (x->end != y->end)
        return x->end > y->end ? -1 : 1;
    return x->id < y->id ? -1 : x->id > y->id;
}

/* As rocprofv3 has them; some arguments that say nothing. */
static void write_args(const range *r, world *w)
{
    static const char sql[] = "INSERT INTO rocpd_arg%%S(event_id, position, type, name, value) "
                              "SELECT event_id, %d, '%s', "
                              "'%s', '0x%x' FROM rocpd_region%%S WHERE id = %lld";
    if (r->handle >= 0)
        world_sql(w, sql, 1, "ihipStream_t*", "stream", 0x7f00 + r->handle, (long long)r->id);
    if (r->event >= 0)
        world_sql(w, sql, 2, "ihipEvent_t*", "event", 0x7f00 + r->event, (long long)r->id);
    if (r->id % 3 == 0)
        world_sql(w, sql, 0, "unsigned", "flags", r->name, (long long)r->id);
}

static void write_job(job *j, world *w)
{
    static const int tids[] = {4200, 4207, 4210};
    for (int i = 0; i < (int)COUNT(call_names); i++)
        world_sql(w, "INSERT OR IGNORE INTO rocpd_string%%S(string) VALUES (%Q)",
                  call_names[i].name);
    world_sql(w, "INSERT INTO rocpd_string%%S(id, string) VALUES (9000, 'HIP_TEST_API'), (9009, "
                 "'MARKER_TEST_API'), (9108, 'step'), (9109, 'copy')");
    for (int i = 0; i < (int)COUNT(kernel_names); i++)
        world_symbol(w, 9001 + i, kernel_names[i]);
    for (int i = 0; i < j->range_count; i++) {
        const range *r = &j->ranges[i];
        world_sql(w, "INSERT INTO rocpd_event%%S(category_id, stack_id) VALUES (%d, %llu)",
                  is_marker(r) ? 9009 : 9000, (unsigned long long)r->stack);
        world_sql(w,
                  "INSERT INTO rocpd_region%%S(id, nid, pid, tid, start, \"end\", name_id, "
                  "event_id) SELECT %lld, nid, id, %d, %lld, %lld, (SELECT id FROM "
                  "rocpd_string%%S WHERE string = %Q), last_insert_rowid() FROM "
                  "rocpd_info_process%%S",
                  (long long)r->id, tids[r->thread], (long long)r->start, (long long)r->end,
                  name_of(r));
    }
    for (int i = 0; i < j->range_count; i++)
        write_args(&j->ranges[i], w);
    for (int i = 0; i < j->work_count; i++) {
        const work *k = &j->works[i];
        char stream[16] = "NULL"; /* of a copy */
        if (k->stream >= 0)
            snprintf(stream, sizeof stream, "%d", k->stream);
        world_sql(w, "INSERT INTO rocpd_event%%S(category_id, stack_id) VALUES (9000, %llu)",
                  (unsigned long long)k->stack);
        if (k->copy)
            world_sql(w,
                      "INSERT INTO rocpd_memory_copy%%S(id, nid, pid, start, \"end\", name_id, "
                      "src_agent_id, dst_agent_id, size, stream_id, event_id) SELECT %lld, nid, "
                      "id, %lld, %lld, 9109, 0, %d, 100, %s, last_insert_rowid() FROM "
                      "rocpd_info_process%%S",
                      (long long)k->id, (long long)k->start, (long long)k->end, k->agent, stream);
        else
            world_sql(w,
                      "INSERT INTO rocpd_kernel_dispatch%%S(id, nid, pid, agent_id, kernel_id, "
                      "dispatch_id, stream_id, queue_id, start, \"end\", workgroup_size_x, "
                      "workgroup_size_y, workgroup_size_z, grid_size_x, grid_size_y, "
                      "grid_size_z, event_id) SELECT %lld, nid, id, %d, %d, 1, %s, %d, %lld, "
                      "%lld, 64, 1, 1, 64, 1, 1, last_insert_rowid() FROM rocpd_info_process%%S",
                      (long long)k->id, k->agent, 9001 + k->name, stream, k->queue,
                      (long long)k->start, (long long)k->end);
    }
}

/* Times are multiples of 4, so that halves are exact, and seldom equal. Half of the work is that of
 * programs: launched, and done in order. */
static void make_job(job *j, world *w, int64_t steps)
{
    int64_t done[STREAMS][2] = {{0}};
    *j = (job){.origin = INT64_MAX};
    const int n = 1 + (int)draw(w, MOST);
    for (int i = 0; i < n; i++) {
        range *r = &j->ranges[j->range_count++];
        const bool marker = draw(w, 6) == 0;
        *r = (range){.thread = (int)draw(w, THREADS),
                     .name = marker ? (int)COUNT(call_names) : (int)draw(w, COUNT(call_names)),
                     .start = 4 * (int64_t)(1 + draw(w, (uint64_t)steps)),
                     .id = 500 + i,
                     .stack = marker       ? 0
                              : draw(w, 5) ? (uint64_t)i + 1
                                           : 0};
        if (steps < 1000 && waits_of(r) == STREAM)
            r->name = 0; /* which stream is not said where ends are equal */
        r->handle = steps < 1000 || marker || !draw(w, 4) ? -1 : (int)draw(w, HANDLES);
        r->event = steps < 1000 || marker || !call_names[r->name].has_event || !draw(w, 4)
                       ? -1
                       : (int)draw(w, EVENTS);
        r->end = r->start + 4 * (int64_t)(1 + draw(w, marker ? (uint64_t)steps / 3 + 1
                                                             : (uint64_t)steps / 12 + 1));
    }
    for (int i = 0; i < n && j->work_count < MOST; i++) {
        const range *r = &j->ranges[draw(w, (uint64_t)n)];
        work *k = &j->works[j->work_count];
        const int stream = (int)draw(w, STREAMS);
        *k = (work){.name = (int)draw(w, COUNT(kernel_names)),
                    .stream = stream,
                    .queue = 16 + 16 * (int)draw(w, 3),
                    .agent = 2 + (int)draw(w, 2),
                    .copy = draw(w, 3) == 0,
                    .id = 700 + j->work_count,
                    .call = -1};
        if (k->copy && steps > 1000 && !draw(w, 4))
            k->stream = -1;
        const bool launched = r->stack && draw(w, 5);
        const int64_t before = done[stream][k->agent - 2];
        k->start = launched ? r->start + 4 * (int64_t)draw(w, (uint64_t)steps / 12 + 1)
                            : 4 * (int64_t)(1 + draw(w, (uint64_t)steps));
        if (launched && draw(w, 4) && k->start < before)
            k->start = before + 4 * (int64_t)draw(w, 3);
        k->end = k->start + 4 * (int64_t)(1 + draw(w, (uint64_t)steps / 8 + 1));
        k->stack = launched ? r->stack : 0;
        done[stream][k->agent - 2] = k->end;
        j->work_count++;
    }
    write_job(j, w);
    qsort(j->ranges, (size_t)j->range_count, sizeof *j->ranges, compare_ranges);
    for (int i = 0; i < j->work_count; i++)
        for (int c = 0; c < j->range_count; c++)
            if (j->works[i].stack && j->ranges[c].stack == j->works[i].stack)
                j->works[i].call = c;
    for (int i = 0; i < j->range_count; i++)
        j->origin = j->ranges[i].start < j->origin ? j->ranges[i].start : j->origin;
    for (int i = 0; i < j->work_count; i++)
        j->origin = j->works[i].start < j->origin ? j->works[i].start : j->origin;
}

/* ---- what depends on what, as it was ---- */

/* The last that has begun of those that go on on a thread just after a time; -1: none. */
static int innermost(const job *j, int thread, int64_t time)
{
    for (int i = j->range_count; i--;)
        if (j->ranges[i].thread == thread && j->ranges[i].start <= time && time < j->ranges[i].end)
            return i;
    return -1;
}

static int64_t launch_of(const job *j, int k)
{
    return j->works[k].call < 0 ? j->works[k].start : j->ranges[j->works[k].call].start;
}

static int handle_of(const job *j, int k)
{
    return j->works[k].call < 0 ? -1 : j->ranges[j->works[k].call].handle;
}

/* Its stream on its GPU, else what its call names; -1: unknown. */
static int stream_lane(const job *j, int k)
{
    const work *w = &j->works[k];
    return w->stream >= 0         ? 2 * w->stream + w->agent - 2
           : handle_of(j, k) >= 0 ? 2 * STREAMS + handle_of(j, k)
                                  : -1;
}

static bool same_stream(const job *j, int a, int b)
{
    return stream_lane(j, a) >= 0 && stream_lane(j, a) == stream_lane(j, b);
}

static bool same_lane(const job *j, int a, int b)
{
    const work *x = &j->works[a], *y = &j->works[b];
    return same_stream(j, a, b) ||
           (!x->copy && !y->copy && x->queue == y->queue && x->agent == y->agent);
}

/* Was the launch of i before that of k? Those of one time are in the order of stack ids. */
static bool launched_before(const job *j, int i, int k)
{
    const work *o = &j->works[i], *w = &j->works[k];
    if (i == k || o->call < 0)
        return false;
    if (launch_of(j, i) != launch_of(j, k))
        return launch_of(j, i) < launch_of(j, k);
    return o->stack != w->stack ? o->stack < w->stack : o->start < w->start;
}

/* Does a call of hipStreamWaitEvent that does not say for what stand between the launch of the work
 * and the one before it into its stream? */
static bool after_wait_for_event(const job *j, int k)
{
    int64_t waited = -1, before = -1;
    if (j->works[k].call < 0 || stream_lane(j, k) < 0)
        return false;
    const range *call = &j->ranges[j->works[k].call];
    for (int i = 0; i < j->range_count; i++) {
        const range *r = &j->ranges[i];
        if (r->thread == call->thread && !is_marker(r) && call_names[r->name].stream_waits &&
            r->start <= call->start && (r->handle < 0 || r->event < 0))
            waited = r->start > waited ? r->start : waited;
    }
    for (int i = 0; i < j->work_count; i++)
        if (same_stream(j, i, k) && launched_before(j, i, k))
            before = launch_of(j, i) > before ? launch_of(j, i) : before;
    return waited >= 0 && waited >= before;
}

/* Has the handle launched anything into the stream of a piece of work, up to a time? */
static bool names_lane(const job *j, int handle, int of, int64_t time)
{
    for (int i = 0; i < j->work_count; i++)
        if (handle >= 0 && handle_of(j, i) == handle && launch_of(j, i) <= time &&
            same_stream(j, i, of))
            return true;
    return false;
}

/* The last record of an event up to a time; -1: none. */
static int record_of(const job *j, int event, int64_t time)
{
    int last = -1;
    for (int i = 0; i < j->range_count; i++) {
        const range *r = &j->ranges[i];
        if (!is_marker(r) && call_names[r->name].records && event >= 0 && r->event == event &&
            r->handle >= 0 && r->start <= time && (last < 0 || r->start > j->ranges[last].start))
            last = i;
    }
    return last;
}

/* What of the work that an event was recorded for has ended by a time. */
static void find_recorded(const job *j, int record, int64_t time, bool *set)
{
    const range *r = &j->ranges[record];
    for (int lane = 0; lane < 2 * STREAMS + HANDLES; lane++) {
        int newest = -1, of = -1;
        for (int i = 0; i < j->work_count; i++) {
            const int64_t launched = launch_of(j, i); /* of work without a call its begin */
            if (stream_lane(j, i) != lane || launched >= r->start || j->works[i].end <= r->start)
                continue;
            const bool later = newest < 0 || launched > launch_of(j, newest) ||
                               (launched == launch_of(j, newest) && launched_before(j, newest, i));
            newest = later ? i : newest;
        }
        for (int i = 0; i < j->work_count; i++)
            of = stream_lane(j, i) == lane ? i : of;
        if (of < 0 || !names_lane(j, r->handle, of, r->start - 1))
            continue;
        for (int i = 0; i < j->work_count; i++) {
            if (stream_lane(j, i) != lane)
                continue;
            set[i] |= j->works[i].end <= r->start;
            set[i] |= newest >= 0 && j->works[newest].end <= time &&
                      j->works[i].end <= j->works[newest].end;
        }
    }
}

/* What a piece of work waits for since its stream waits for events. */
static void find_events(const job *j, int k, bool *set)
{
    const int handle = handle_of(j, k);
    int64_t before = -1;
    memset(set, 0, MOST * sizeof *set);
    for (int i = 0; i < j->work_count && handle >= 0; i++)
        if (handle_of(j, i) == handle && launched_before(j, i, k))
            before = launch_of(j, i) > before ? launch_of(j, i) : before;
    for (int i = 0; i < j->range_count && handle >= 0; i++) {
        const range *r = &j->ranges[i];
        if (is_marker(r) || !call_names[r->name].stream_waits || r->handle != handle ||
            r->start > launch_of(j, k) || r->start <= before)
            continue;
        const int record = record_of(j, r->event, r->start);
        if (record >= 0)
            find_recorded(j, record, j->works[k].start, set);
    }
}

/* The work that ended last before a time, of a stream or of all; -1: none. */
static int last_ended(const job *j, int stream_of, int64_t time)
{
    int last = -1;
    for (int i = 0; i < j->work_count; i++)
        if (j->works[i].end <= time && (stream_of < 0 || same_stream(j, i, stream_of)) &&
            (last < 0 || j->works[i].end > j->works[last].end))
            last = i;
    return last;
}

/* Has a stream something to do that was launched before the call? */
static bool is_busy(const job *j, const range *r, int of)
{
    for (int k = 0; k < j->work_count; k++) /* work without a call is known when it begins */
        if (same_stream(j, k, of) && launch_of(j, k) < r->start && j->works[k].end > r->end)
            return true;
    return false;
}

/* The work that a call waits for: all of it has ended when it returns. */
static void find_awaited(const job *j, int call, bool *set)
{
    const range *r = &j->ranges[call];
    bool own = false, named = false, any = false, ended = false;
    memset(set, 0, MOST * sizeof *set);
    for (int i = 0; i < j->work_count && waits_of(r) == COPY; i++) {
        set[i] = j->works[i].call == call && j->works[i].end <= r->end;
        own |= set[i];
    }
    if (own)
        return;
    const int record = waits_of(r) == EVENT ? record_of(j, r->event, r->start) : -1;
    if (record >= 0) {
        find_recorded(j, record, r->end, set);
        return;
    }
    int best = -1, last = -1;
    for (int i = 0; i < j->work_count && waits_of(r) == STREAM; i++) {
        const work *w = &j->works[i];
        named |= names_lane(j, r->handle, i, r->end);
        if (w->end > r->end || stream_lane(j, i) < 0 || last_ended(j, i, r->end) != i)
            continue;
        ended |= w->end > r->start;
    }
    for (int i = 0; i < j->work_count && waits_of(r) == STREAM; i++) {
        const work *w = &j->works[i];
        if (w->end > r->end || stream_lane(j, i) < 0 || last_ended(j, i, r->end) != i ||
            (named && !names_lane(j, r->handle, i, r->end)))
            continue;
        any = true;
        last = last < 0 || w->end > j->works[last].end ? i : last;
        if (w->end > r->start && !is_busy(j, r, i) && (best < 0 || w->end > j->works[best].end))
            best = i;
    }
    best = best < 0 && named ? last : best;
    for (int i = 0; i < j->work_count; i++)
        set[i] = j->works[i].end <= r->end && (best >= 0      ? same_stream(j, i, best)
                                               : any && ended ? false
                                                              : !named);
}

/* Is it the innermost when it ends? */
static bool returns(const job *j, int call)
{
    const range *r = &j->ranges[call];
    for (int i = call + 1; i < j->range_count; i++)
        if (j->ranges[i].thread == r->thread && j->ranges[i].start < r->end &&
            j->ranges[i].end > r->end)
            return false;
    return waits_of(r) != PLAIN;
}

/* ---- with what is faster ---- */

static int64_t scaled(const job *j, const char *name, int64_t ns)
{
    return j->faster && !strcmp(j->faster, name) ? ns / FACTOR : ns;
}

static int64_t end_of_work(job *j, int k);

/* The end of what was awaited, and in *was when that was. -1: nothing. */
static int64_t end_of_awaited(job *j, int call, int64_t *was)
{
    bool set[MOST];
    int64_t now = -1;
    find_awaited(j, call, set);
    *was = -1;
    for (int i = 0; i < j->work_count; i++) {
        if (!set[i])
            continue;
        const int64_t end = end_of_work(j, i);
        now = end > now ? end : now;
        *was = j->works[i].end > *was ? j->works[i].end : *was;
    }
    return now;
}

/* When a thread comes to a point that was at a time: all that ends then has ended. */
static int64_t reach(job *j, int thread, int64_t time)
{
    int at = 0;
    while (j->points[thread][at] < time)
        at++;
    assert_int_equal(j->points[thread][at], time);
    int64_t *known = &j->reached[thread][at];
    if (*known >= 0)
        return *known;
    if (!at)
        return *known = time - j->origin;
    const int64_t before = j->points[thread][at - 1];
    const int in = innermost(j, thread, before);
    int64_t now = reach(j, thread, before) +
                  (in < 0 ? time - before : scaled(j, name_of(&j->ranges[in]), time - before));
    for (int i = j->range_count; i--;) {
        const range *r = &j->ranges[i];
        if (r->thread != thread || r->end != time || !returns(j, i))
            continue;
        int64_t was;
        const int64_t end = end_of_awaited(j, i, &was);
        if (was > r->start) {
            const int64_t begun = reach(j, thread, r->start);
            now = (end > begun ? end : begun) + r->end - was;
        } else if (end > now) {
            now = end;
        }
    }
    return *known = now;
}

static int64_t begin_of_work(job *j, int k)
{
    const work *w = &j->works[k];
    const bool linked = w->call >= 0;
    if (j->begin_of[k] >= 0)
        return j->begin_of[k];
    int64_t launch = linked ? launch_of(j, k) : j->origin, was = launch;
    int64_t now = linked ? reach(j, j->ranges[w->call].thread, launch) : 0;
    bool events[MOST];
    find_events(j, k, events);
    for (int i = 0; i < j->work_count; i++) {
        if (i == k || j->works[i].end > w->start ||
            !(same_lane(j, i, k) || !linked || events[i] || after_wait_for_event(j, k)))
            continue;
        const int64_t end = end_of_work(j, i);
        now = end > now ? end : now;
        was = j->works[i].end > was ? j->works[i].end : was;
    }
    if (linked && was == launch) { /* a part of the call, and what is behind it */
        const range *call = &j->ranges[w->call];
        const int64_t until = call->end < w->start ? call->end : w->start;
        now += scaled(j, name_of(call), until - launch) + w->start - until;
    } else {
        now += w->start - was;
    }
    return j->begin_of[k] = now;
}

static const char *name_of_work(const work *w)
{
    return w->copy ? "copy" : kernel_names[w->name];
}

static int64_t end_of_work(job *j, int k)
{
    if (j->end_of[k] < 0)
        j->end_of[k] = begin_of_work(j, k) +
                       scaled(j, name_of_work(&j->works[k]), j->works[k].end - j->works[k].start);
    return j->end_of[k];
}

static int compare_times(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

static void find_points(job *j)
{
    for (int t = 0; t < THREADS; t++) {
        int n = 0;
        int64_t *p = j->points[t] = calloc(2 * MOST, sizeof *p);
        j->reached[t] = calloc(2 * MOST, sizeof *p);
        for (int i = 0; i < j->range_count; i++)
            if (j->ranges[i].thread == t) {
                p[n++] = j->ranges[i].start;
                p[n++] = j->ranges[i].end;
            }
        qsort(p, (size_t)n, sizeof *p, compare_times);
        j->point_count[t] = 0;
        for (int i = 0; i < n; i++)
            if (!i || p[i] != p[i - 1])
                p[j->point_count[t]++] = p[i];
    }
}

static void free_points(job *j)
{
    for (int t = 0; t < THREADS; t++) {
        free(j->points[t]);
        free(j->reached[t]);
    }
}

/* Did it launch work, or wait for some? */
static bool takes_part(const job *j, int thread)
{
    for (int i = 0; i < j->work_count; i++)
        if (j->works[i].call >= 0 && j->ranges[j->works[i].call].thread == thread)
            return true;
    for (int i = 0; i < j->range_count; i++) {
        bool set[MOST];
        if (j->ranges[i].thread != thread || !returns(j, i))
            continue;
        find_awaited(j, i, set);
        for (int k = 0; k < j->work_count; k++)
            if (set[k] && j->works[k].end > j->ranges[i].start)
                return true;
    }
    return false;
}

static int64_t wall_of(job *j, const char *faster)
{
    int64_t wall = 0;
    bool any = j->work_count > 0;
    j->faster = faster;
    memset(j->begin_of, -1, sizeof j->begin_of);
    memset(j->end_of, -1, sizeof j->end_of);
    for (int t = 0; t < THREADS; t++)
        memset(j->reached[t], -1, 2 * MOST * sizeof(int64_t));
    for (int t = 0; t < THREADS; t++)
        if (j->point_count[t] && (takes_part(j, t) || !any)) {
            const int64_t end = reach(j, t, j->points[t][j->point_count[t] - 1]);
            wall = end > wall ? end : wall;
        }
    for (int k = 0; k < j->work_count; k++) {
        const int64_t end = end_of_work(j, k);
        wall = end > wall ? end : wall;
    }
    return wall;
}

/* ---- the path, back from its end ---- */

enum { MOST_SUMS = 64 };

typedef struct sums {
    struct {
        char class[32], name[64];
        int64_t ns;
    } all[MOST_SUMS];
    int count;
} sums;

static void add(sums *s, const char *class, const char *name, int64_t ns)
{
    int i = 0;
    while (i < s->count && (strcmp(s->all[i].class, class) || strcmp(s->all[i].name, name)))
        i++;
    if (!ns)
        return;
    assert_true(i < MOST_SUMS);
    if (i == s->count) {
        snprintf(s->all[i].class, sizeof s->all[i].class, "%s", class);
        snprintf(s->all[i].name, sizeof s->all[i].name, "%s", name);
        s->all[s->count++].ns = 0;
    }
    s->all[i].ns += ns;
}

static void follow_work(const job *j, sums *s, int k);

/* Back from a time of a thread. */
static void follow_thread(const job *j, sums *s, int thread, int64_t time)
{
    const int64_t *points = j->points[thread];
    for (int at = j->point_count[thread]; at--;) {
        if (points[at] > time)
            continue;
        /* Calls that return then, the outermost first. */
        for (int i = 0; i < j->range_count; i++) {
            const range *r = &j->ranges[i];
            if (r->thread != thread || r->end != points[at] || !returns(j, i))
                continue;
            bool set[MOST];
            int last = -1;
            find_awaited(j, i, set);
            for (int k = 0; k < j->work_count; k++)
                if (set[k] && (last < 0 || j->works[k].end > j->works[last].end))
                    last = k;
            if (last >= 0 && j->works[last].end > r->start) {
                add(s, "return from waiting", name_of(r), r->end - j->works[last].end);
                follow_work(j, s, last);
                return;
            }
        }
        if (!at) {
            add(s, "not explained", "(before the thread's first range)", points[0] - j->origin);
            return;
        }
        const int in = innermost(j, thread, points[at - 1]);
        const range *r = in < 0 ? NULL : &j->ranges[in];
        add(s, r && !is_marker(r) ? "host calls" : "host outside of calls",
            r ? name_of(r) : "(no range is open)", points[at] - points[at - 1]);
    }
}

static int compare_starts(const void *a, const void *b)
{
    const work *x = *(const work *const *)a, *y = *(const work *const *)b;
    return x->start < y->start ? -1 : x->start > y->start;
}

/* How long what began before the trace held back a piece of work. */
static int64_t time_before_trace(const job *j, int k)
{
    const work *w = &j->works[k], *of_gpu[MOST];
    const range *call = &j->ranges[w->call];
    int64_t until = -1, from = -1, to = -1;
    int n = 0;
    for (int i = 0; i < j->range_count; i++)
        if (waits_of(&j->ranges[i]) == DEVICE && j->ranges[i].end <= call->start)
            return 0;
    for (int i = 0; i < j->work_count; i++) {
        const bool same_gpu = j->works[i].agent == w->agent;
        const bool same = stream_lane(j, k) >= 0 ? same_stream(j, i, k)
                          : w->copy              ? same_gpu
                                                 : same_lane(j, i, k);
        if (same && j->works[i].start < w->start)
            return 0;
        if (same_gpu && j->works[i].start <= w->start)
            of_gpu[n++] = &j->works[i];
    }
    qsort(of_gpu, (size_t)n, sizeof *of_gpu, compare_starts);
    for (int i = 0; i < n; i++) {
        if (of_gpu[i]->start > until) {
            from = until;
            to = of_gpu[i]->start;
        }
        until = of_gpu[i]->end > until ? of_gpu[i]->end : until;
    }
    from = from > call->end ? from : call->end;
    return to - from > 100000 ? to - from : 0;
}

static void follow_work(const job *j, sums *s, int k)
{
    const work *w = &j->works[k];
    const bool linked = w->call >= 0;
    add(s,
        w->copy        ? "copies"
        : w->name == 2 ? "communication"
                       : "kernels",
        name_of_work(w), w->end - w->start);
    int last = -1;
    const int64_t launch = linked ? launch_of(j, k) : j->origin;
    bool events[MOST];
    find_events(j, k, events);
    for (int i = 0; i < j->work_count; i++)
        if (i != k && j->works[i].end <= w->start &&
            (same_lane(j, i, k) || !linked || events[i] || after_wait_for_event(j, k)) &&
            j->works[i].end > launch && (last < 0 || j->works[i].end > j->works[last].end))
            last = i;
    if (last >= 0) {
        add(s, linked ? "behind other work" : "not explained",
            linked ? name_of_work(w) : "(before work without a call)",
            w->start - j->works[last].end);
        follow_work(j, s, last);
    } else if (linked) {
        const range *call = &j->ranges[w->call];
        const int64_t before = time_before_trace(j, k);
        add(s, "before the trace", name_of_work(w), before);
        add(s, "launch", name_of(call), w->start - launch - before);
        follow_thread(j, s, j->ranges[w->call].thread, launch);
    } else {
        add(s, "not explained", "(before work without a call)", w->start - launch);
    }
}

static void follow_path(const job *j, sums *s)
{
    int thread = -1, last = last_ended(j, -1, INT64_MAX);
    int64_t end = -1;
    for (int t = 0; t < THREADS; t++)
        if (j->point_count[t] && (takes_part(j, t) || !j->work_count) &&
            j->points[t][j->point_count[t] - 1] > end) {
            end = j->points[t][j->point_count[t] - 1];
            thread = t;
        }
    if (last >= 0 && j->works[last].end > end)
        follow_work(j, s, last);
    else if (thread >= 0)
        follow_thread(j, s, thread, end);
}

/* ---- both ---- */

static void check_names(const sums *s, const rocl_table *t)
{
    for (int i = 0; i < s->count; i++) {
        int64_t ns = 0;
        for (size_t row = 0; row < t->row_count; row++)
            if (!strcmp(text_of(t, row, "class"), s->all[i].class) &&
                !strcmp(text_of(t, row, "name"), s->all[i].name))
                ns += int_of(t, row, "time_ns");
        if (ns != s->all[i].ns)
            fail_msg("%s, %s: %lld, not %lld", s->all[i].class, s->all[i].name, (long long)ns,
                     (long long)s->all[i].ns);
    }
    assert_int_equal(t->row_count, s->count);
}

static int64_t sum_of(const rocl_table *t, const char *key)
{
    int64_t sum = 0;
    for (size_t row = 0; row < t->row_count; row++)
        sum += int_of(t, row, key);
    return sum;
}

static const char *const what_ifs[] = {"k0=2x",
                                       "copy=2x",
                                       "hipLaunchKernel=2x",
                                       "hipMalloc=2x",
                                       "hipMemcpy=2x",
                                       "hipDeviceSynchronize=2x",
                                       "step=2x",
                                       "k1=1x",
                                       "no such=2x",
                                       NULL};

static void check_what_ifs(job *j, const rocl_table *t, int64_t wall)
{
    assert_int_equal(t->row_count, COUNT(what_ifs) - 1);
    for (size_t row = 0; row < t->row_count; row++) {
        const char *name = text_of(t, row, "name");
        const int64_t expected = wall_of(j, real_of(t, row, "factor") > 1 ? name : NULL);
        if (int_of(t, row, "wall_ns") != expected)
            fail_msg("%s: %lld, not %lld of %lld", name, (long long)int_of(t, row, "wall_ns"),
                     (long long)expected, (long long)wall);
        assert_int_equal(int_of(t, row, "saved_ns"), wall - expected);
    }
}

/* exact: no times are equal, so that there is one path. */
static void check_job(job *j, const char *path, bool exact, unsigned jobs)
{
    const rocl_options open = {.jobs = jobs, .memory = (size_t)256 << 10};
    const rocl_stats_options o = {
        .reports = 1u << ROCL_REPORT_CRITICAL_PATH, .what_if = what_ifs, .slices = 7};
    rocl_trace *t = open_trace(path, &open);
    rocl_tables *all = stats_of(t, &o);
    find_points(j);
    const int64_t wall = wall_of(j, NULL);
    const rocl_table *names = table_of(all, "critical_path_names");
    assert_int_equal(sum_of(names, "time_ns"), wall);
    assert_int_equal(sum_of(table_of(all, "critical_path"), "time_ns"), wall);
    if (exact) {
        sums s = {.count = 0};
        follow_path(j, &s);
        check_names(&s, names);
    }
    check_what_ifs(j, table_of(all, "critical_path_what_if"), wall);
    free_points(j);
    rocl_tables_free(all);
    rocl_trace_close(t);
}

static void test_random(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 150; seed++) {
        const bool exact = seed % 5 != 0;
        world w;
        job j;
        world_copy(&w, seed);
        make_job(&j, &w, exact ? 10000000 : 40);
        check_job(&j, world_end(&w), exact, 1 + (unsigned)(seed % 3));
    }
}

/* The sum is the whole time for traces of profilers, too. */
static void test_fixtures(void **state)
{
    static const char *const traces[] = {"schema-3.0.0", "schema-4.1.0", "merged", "rank0 rank1",
                                         "everything",   "graph",        "demo"};
    const rocl_options open = {.jobs = 2};
    const rocl_stats_options o = {.reports = 1u << ROCL_REPORT_CRITICAL_PATH, .by_rank = true};
    (void)state;
    for (size_t i = 0; i < COUNT(traces); i++) {
        rocl_trace *t = open_trace(traces[i], &open);
        rocl_tables *all = stats_of(t, &o);
        const int64_t wall = sum_of(table_of(all, "critical_path"), "time_ns");
        assert_true(wall > 0);
        assert_int_equal(sum_of(table_of(all, "critical_path_names"), "time_ns"), wall);
        rocl_tables_free(all);
        rocl_trace_close(t);
    }
}

static void test_same(void **state)
{
    const rocl_stats_options o = {.reports = 1u << ROCL_REPORT_CRITICAL_PATH, .by_rank = true};
    (void)state;
    check_same_bytes("schema-3.0.5", &o);
    check_same_bytes("rank0 rank1", &o);
    check_same_bytes("nasty-3.0.0", &o);
}

static void test_nothing(void **state)
{
    const rocl_options open = {.jobs = 1};
    const rocl_stats_options o = {.reports = 1u << ROCL_REPORT_CRITICAL_PATH};
    world w;
    (void)state;
    world_copy(&w, 1);
    rocl_trace *t = open_trace(world_end(&w), &open);
    rocl_tables *all = stats_of(t, &o);
    for (size_t i = 0; i < all->count; i++)
        assert_int_equal(all->tables[i].row_count, 0);
    rocl_tables_free(all);
    rocl_trace_close(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_fixtures),
        cmocka_unit_test(test_same),
        cmocka_unit_test(test_nothing),
    };
    return cmocka_run_group_tests_name("stats_critical_path", tests, enter, leave);
}
