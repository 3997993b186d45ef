/* Typed GPU events -> records. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "source/pftrace/worker.h"

static void read_dim(rocl_view message, uint32_t to[3])
{
    rocl_pb r = rocl_pb_of(message);
    rocl_pb_field f;
    while (rocl_pb_next(&r, &f))
        if (f.number >= 1 && f.number <= 3 && f.kind == ROCL_PB_VARINT)
            to[f.number - 1] = (uint32_t)f.value;
}

/* Perfetto counts groups, AMD work-items. If the last group of a row is not full, the number of all
 * items tells the size of a grid of one dimension. */
static void read_launch(pfr_worker *w, rocl_view message, pfr_facts *a)
{
    rocl_pb r = rocl_pb_of(message);
    rocl_pb_field f;
    uint64_t items = 1;
    unsigned rows = 0, row = 0;
    while (rocl_pb_next(&r, &f)) {
        if (f.kind != ROCL_PB_BYTES)
            continue;
        if (f.number == LAUNCH_GRID)
            read_dim(f.bytes, a->grid);
        else if (f.number == LAUNCH_WORKGROUP)
            read_dim(f.bytes, a->workgroup);
        else if (f.number == LAUNCH_ARGS)
            pfr_read_arg(w, f.bytes, a);
    }
    for (unsigned i = 0; i < 3; i++) {
        a->grid[i] *= a->workgroup[i] ? a->workgroup[i] : 1;
        items *= a->grid[i];
        if (a->grid[i] > 1) {
            rows++;
            row = i;
        }
    }
    if (rows == 1 && a->items && a->items < items)
        a->grid[row] = (uint32_t)a->items;
}

/* A text field of an interned message. */
static rocl_view message_text(rocl_view message, uint32_t field)
{
    rocl_pb r = rocl_pb_of(message);
    rocl_view v = {"", 0};
    while (pfr_next_bytes(&r, field, &v))
        continue;
    return v;
}

/* Traces that we wrote have the number of the stream as an argument, or without a stream that of
 * the queue, and what the work is drawn by in the name of the hardware queue. */
static void place_stage(rocl_source_record *r, rocl_view queue, const pfr_facts *a)
{
    const uint64_t number = a->stream;
    char plain[40];
    r->stream = r->queue = ROCL_NO_KEY;
    if (number == ROCL_NO_KEY || rocl_view_begins(queue, "No "))
        return;
    if (queue.n > 6 && queue.n < sizeof plain && !memcmp(queue.p, "Queue ", 6)) {
        snprintf(plain, sizeof plain, "%.*s", (int)queue.n, queue.p);
        r->queue = strtoull(plain + 6, NULL, 10);
        r->stream = number == r->queue ? ROCL_NO_KEY : number;
        return;
    }
    static const char *const others[] = {"Copies", "Memory", "Scratch", "Graph launches", "Host "};
    bool other = false;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        const size_t n = strlen(others[i]);
        if (queue.n < n || memcmp(queue.p, others[i], n) != 0)
            continue;
        if (!number)
            return;
        other = r->kind != ROCL_COPY; /* their queues are not known to us */
    }
    *(other ? &r->queue : &r->stream) = number;
    if (r->kind == ROCL_DISPATCH && !other)
        r->queue = a->queue;
}

/* The number in our description of the queue of a stream; leaves the name in it. */
static uint64_t read_said_queue(rocl_view *said)
{
    static const char intro[] = PF_QUEUE_SAID;
    size_t at = sizeof intro - 1;
    uint64_t number = 0;
    if (said->n <= at || memcmp(said->p, intro, at) != 0)
        return ROCL_NO_KEY;
    for (; at < said->n && said->p[at] >= '0' && said->p[at] <= '9'; at++)
        number = number * 10 + (uint64_t)(said->p[at] - '0');
    if (said->n - at < 2 || said->p[at] != ':')
        return ROCL_NO_KEY;
    *said = (rocl_view){said->p + at + 2, said->n - at - 2};
    return number;
}

/* We append the pid to the name if a trace has several processes. */
static rocl_view without_pid(rocl_view queue)
{
    size_t n = queue.n && queue.p[queue.n - 1] == ')' ? queue.n - 1 : 0;
    while (n && queue.p[n - 1] >= '0' && queue.p[n - 1] <= '9')
        n--;
    return n > 6 && !memcmp(queue.p + n - 6, " (pid ", 6) ? (rocl_view){queue.p, n - 6} : queue;
}

/* What a GPU event names by its iid; *lost: no earlier packet has interned it. */
static rocl_view find_named(pfr_worker *w, unsigned table, uint64_t iid, bool *lost)
{
    const uint32_t bytes = pfr_find_interned(w, table, iid);
    *lost |= !bytes && !pfr_was_interned(w, table, iid);
    return pfr_bytes(w->file, bytes);
}

/* The fields of an event of GPU work; texts point into the file. */
typedef struct stage_event {
    uint64_t duration, gpu, event;
    uint64_t said_number; /* of the HSA queue named in the description of its queue */
    bool has_gpu, named, lost;
    rocl_view queue, said, stage, kernel, launch;
} stage_event;

/* Reads the packet at hand, and sets the name and process of the record. */
static void read_stage(pfr_worker *w, rocl_source_record *r, stage_event *s)
{
    rocl_pb p = rocl_pb_of(w->packet->body), inner;
    rocl_pb_field f, g;
    const rocl_view none = {"", 0};
    *s = (stage_event){.said_number = ROCL_NO_KEY,
                       .queue = none,
                       .said = none,
                       .stage = none,
                       .kernel = none,
                       .launch = none};
    r->name = none;
    while (rocl_pb_next(&p, &f)) {
        rocl_view v;
        switch (f.number) {
        case STAGE_EVENT_ID:
            s->event = f.value;
            break;
        case STAGE_DURATION:
            s->duration = f.value;
            break;
        case STAGE_GPU:
            s->gpu = f.value;
            s->has_gpu = true;
            break;
        case STAGE_CONTEXT:
            v = pfr_bytes(w->file, pfr_find_interned(w, INTERNED_CONTEXTS, f.value));
            inner = rocl_pb_of(v);
            while (rocl_pb_next(&inner, &g))
                if (g.number == CONTEXT_PID)
                    r->process = pfr_process_key(w->packet->machine, (int32_t)g.value);
            break;
        case STAGE_QUEUE_IID:
            v = find_named(w, INTERNED_SPECS, f.value, &s->lost);
            s->queue = without_pid(message_text(v, SPEC_NAME));
            s->said = message_text(v, SPEC_DESCRIPTION);
            s->said_number = read_said_queue(&s->said);
            break;
        case STAGE_IID:
            v = find_named(w, INTERNED_SPECS, f.value, &s->lost);
            s->stage = message_text(v, SPEC_NAME);
            break;
        case STAGE_KERNEL_IID:
            s->kernel = find_named(w, INTERNED_KERNELS, f.value, &s->lost);
            break;
        case STAGE_NAME_IID:
            r->name = find_named(w, INTERNED_NAMES, f.value, &s->lost);
            s->named = pfr_was_interned(w, INTERNED_NAMES, f.value);
            break;
        case STAGE_NAME:
            r->name = f.kind == ROCL_PB_BYTES ? f.bytes : r->name;
            break;
        case STAGE_LAUNCH:
            s->launch = f.kind == ROCL_PB_BYTES ? f.bytes : s->launch;
            break;
        default:
            break;
        }
    }
}

/* Names the record's stream and queue, unless the names derive from their numbers. */
static rocl_status name_places(pfr_worker *w, const rocl_source_record *r, const stage_event *s,
                               rocl_error *err)
{
    /* Tracks of work that is not drawn by its stream: our writer gives them these names. */
    static const char *const others[] = {"Host copies", "Host memory", "Copies",
                                         "Memory",      "Scratch",     "Graph launches"};
    char plain[40];
    rocl_status st = ROCL_OK;
    snprintf(plain, sizeof plain, "Stream %" PRIu64, r->stream);
    if (r->stream != ROCL_NO_KEY && !rocl_view_is(s->queue, plain) &&
        !rocl_view_is_among(s->queue, others, sizeof others / sizeof *others))
        st = rocl_record_name(w->to, ROCL_KEY_STREAM, r, s->queue, err);
    snprintf(plain, sizeof plain, "Queue %" PRIu64, r->queue);
    if (st == ROCL_OK && r->kind == ROCL_DISPATCH && r->queue != ROCL_NO_KEY &&
        r->queue == s->said_number && !rocl_view_is(s->said, plain))
        st = rocl_record_name(w->to, ROCL_KEY_QUEUE, r, s->said, err);
    return st;
}

rocl_status pfr_put_stage(pfr_worker *w, rocl_source_record *r, rocl_error *err)
{
    static const struct {
        const char *stage;
        rocl_kind kind;
    } stages[] = {{PF_STAGE_COPY, ROCL_COPY},           {PF_STAGE_ALLOCATION, ROCL_ALLOC},
                  {PF_STAGE_SCRATCH, ROCL_SCRATCH},     {PF_STAGE_GRAPH, ROCL_GRAPH},
                  {PF_STAGE_HIP_EVENT, ROCL_HIP_EVENT}, {PF_STAGE_BARRIER, ROCL_BARRIER}};
    rocl_view bytes;
    stage_event s;
    pfr_facts a;
    rocl_key_facts symbol = {0};
    pfr_begin_facts(w, &a);
    read_stage(w, r, &s);
    a.queue = s.said_number;
    r->kind = ROCL_DISPATCH;
    for (size_t i = 0; i < sizeof stages / sizeof *stages; i++)
        if (rocl_view_is(s.stage, stages[i].stage))
            r->kind = stages[i].kind;
    if (!rocl_records_want(w->to, r->kind))
        return ROCL_OK;
    if (__builtin_add_overflow(r->as.e.start, (int64_t)s.duration, &r->as.e.end))
        return rocl_record_fault(w->to, r->where, ROCL_FAULT_BAD_TIME, "a time is too large");
    if (s.lost)
        rocl_record_fault(w->to, r->where, ROCL_FAULT_DANGLING_NAME,
                          "a name that no packet before it has interned");
    rocl_pb kernel = rocl_pb_of(s.kernel);
    while (pfr_next_bytes(&kernel, KERNEL_ARGS, &bytes))
        pfr_read_arg(w, bytes, &a);
    read_launch(w, s.launch, &a);
    if (!r->name.n && !s.named)
        r->name = s.stage;
    if (rocl_view_is(r->name, PF_UNNAMED))
        r->name = (rocl_view){"", 0};
    const rocl_view mangled = message_text(s.kernel, KERNEL_NAME);
    if (r->kind == ROCL_DISPATCH && mangled.n) {
        symbol.mangled = rocl_records_text(w->to, mangled);
        r->kernel = (uint64_t)symbol.mangled << 32 | rocl_records_text(w->to, r->name);
    }
    rocl_pb p = rocl_pb_of(w->packet->body);
    while (r->kind == ROCL_DISPATCH && rocl_records_want_args(w->to) &&
           pfr_next_bytes(&p, STAGE_EXTRA, &bytes))
        rocl_record_arg(w->to, message_text(bytes, EXTRA_NAME), message_text(bytes, EXTRA_VALUE));
    pfr_fill_work(w, r, &a, &symbol);
    place_stage(r, s.queue, &a);
    const pfr_gpu *known = pfr_gpu_of(w->file, w->packet->machine, s.gpu);
    /* Our events have a stream; without a GPU theirs is unknown. Other writers then mean the first
     * GPU. The agents of a copy are its ends: its GPU distinguishes the queue from those of other
     * GPUs. */
    if (r->kind == ROCL_COPY ? s.has_gpu && r->queue != ROCL_NO_KEY
                             : s.has_gpu || a.stream == ROCL_NO_KEY)
        r->agent = known ? known->agent.number : (uint64_t)ROCL_AGENT_GPU << 32 | (uint32_t)s.gpu;
    r->link = s.event ? pfr_plain_link(s.event) : ROCL_NO_KEY;
    rocl_status st = name_places(w, r, &s, err);
    if (st == ROCL_OK)
        st = rocl_record_put(w->to, r, err);
    return st == ROCL_OK && r->kind == ROCL_DISPATCH ? pfr_put_counters(w, r, err) : st;
}

rocl_status pfr_put_gpu_counters(pfr_worker *w, rocl_source_record *r, rocl_error *err)
{
    rocl_pb p = rocl_pb_of(w->packet->body);
    rocl_pb_field f, g;
    uint64_t gpu = 0, number = 0;
    uint32_t descriptor = pfr_plain_descriptor(w->sequence->number);
    bool has_gpu = false;
    rocl_status st = ROCL_OK;
    while (rocl_pb_next(&p, &f)) {
        if (f.number == GPU_COUNTER_GPU) {
            gpu = f.value;
            has_gpu = true;
        } else if (f.number == GPU_COUNTER_IID) {
            descriptor = pfr_find_interned(w, INTERNED_COUNTERS, f.value);
        }
    }
    if (!has_gpu && descriptor < pfr_plain_descriptor(0)) /* an interned descriptor may have it */
        for (p = rocl_pb_of(pfr_bytes(w->file, descriptor)); rocl_pb_next(&p, &f);)
            gpu = f.number == INTERNED_COUNTER_GPU ? f.value : gpu;
    const pfr_gpu *known = pfr_gpu_of(w->file, w->packet->machine, gpu);
    const pfr_state *state = &w->sequence->state;
    const pfr_track *whose =
        state->default_track
            ? pfr_track_of(w->file, w->packet->machine, state->default_track, w->packet->at)
            : NULL;
    r->process = whose ? whose->process : r->process;
    r->kind = ROCL_SAMPLE;
    r->agent = known ? known->agent.number : (uint64_t)ROCL_AGENT_GPU << 32 | (uint32_t)gpu;
    rocl_sample_value *s = &r->as.sample;
    s->xcc = s->shader_engine = s->instance = s->shader_array = s->wgp = -1;
    rocl_view bytes;
    p = rocl_pb_of(w->packet->body);
    while (st == ROCL_OK && pfr_next_bytes(&p, GPU_COUNTER_VALUES, &bytes)) {
        uint64_t id = ROCL_NO_KEY;
        rocl_pb inner = rocl_pb_of(bytes);
        s->value = 0;
        while (rocl_pb_next(&inner, &g)) {
            if (g.number == VALUE_ID)
                id = g.value;
            else if (g.number == VALUE_INT)
                s->value = (double)(int64_t)g.value;
            else if (g.number == VALUE_DOUBLE)
                s->value = rocl_pb_double(&g);
        }
        const uint32_t name = pfr_counter_name(w->file, descriptor, id);
        if (name && rocl_map_get(&w->file->of_kernels, name, 0) == 2)
            continue; /* dispatches have these */
        r->counter = pfr_bytes(w->file, name);
        r->where += number++ > 0;
        if (!name)
            rocl_record_fault(w->to, r->where, ROCL_FAULT_ORPHAN_VALUE,
                              "the value of a counter that is not described");
        else if (s->value - s->value != 0)
            rocl_record_fault(w->to, r->where, ROCL_FAULT_NO_NUMBER,
                              "the value of a counter is not a number");
        else
            st = rocl_record_put(w->to, r, err);
    }
    return st;
}
