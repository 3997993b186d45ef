/* The format: see pftrace.h. */
#include "source/pftrace/worker.h"

#include <inttypes.h>
#include <stdlib.h>

/* ---- packets of a piece, by all workers ------------------------------------------------------ */

static void forget_piece(pfr_worker *w)
{
    for (size_t i = 0; i < w->open_count; i++)
        rocl_map_free(&w->open[i].interned);
    w->open_count = w->value_count = 0;
    rocl_map_free(&w->numbers);
    rocl_map_free(&w->sums);
}

static void free_worker(void *state)
{
    pfr_worker *w = state;
    forget_piece(w);
    pfr_walk_free(&w->walk);
    rocl_buf_free(&w->bytes);
    rocl_buf_free(&w->name);
    free(w->open);
    free(w->texts);
    free(w->values);
    free(w->counted);
    free(w);
}

/* The sequence of a packet, in its state before the packet. NULL: memory is out. */
static pfr_open_sequence *open_sequence(pfr_worker *w, const pfr_packet *p)
{
    const uint32_t number = pfr_sequence(w->file, p);
    if (w->last < w->open_count && w->open[w->last].number == number)
        return &w->open[w->last];
    w->last = rocl_map_get(&w->numbers, number, ROCL_NONE);
    if (w->last == ROCL_NONE) {
        if (!ROCL_GROW(w->open, w->open_cap, w->open_count + 1) ||
            !rocl_map_put(&w->numbers, number, (uint32_t)w->open_count))
            return NULL;
        w->last = (uint32_t)w->open_count++;
        w->open[w->last] = (pfr_open_sequence){
            .number = number, .state = pfr_state_before(w->file, number, w->piece)};
    }
    return &w->open[w->last];
}

static rocl_status put_packet(pfr_worker *w, const pfr_packet *p, rocl_error *err)
{
    rocl_source_record r;
    pfr_open_sequence *s = w->sequence = open_sequence(w, p);
    w->packet = p;
    if (!s)
        return rocl_fail_memory(err);
    if (p->first || p->flags & SEQ_CLEARED)
        rocl_map_free(&s->interned);
    rocl_fault fault;
    pfr_moment m;
    pfr_state_step(&s->state, &w->file->clocks, w->file->bytes, p, &m);
    if (p->interned.n && s->state.valid && !pfr_note_interned(w, p))
        return rocl_fail_memory(err);
    if (m.lost)
        rocl_record_fault(w->to, p->at, ROCL_FAULT_DROPPED,
                          "packets before this one were lost by the tracer");
    if (p->at + 1 == w->file->lost_at)
        rocl_record_fault(w->to, p->at, ROCL_FAULT_DROPPED,
                          "the tracer says that it overwrote or discarded data");
    if (!pfr_is_event(p))
        return ROCL_OK;
    const char *why = pfr_packet_fault(p, &m, &fault);
    if (why)
        return rocl_record_fault(w->to, p->at, fault, why);
    rocl_record_begin(&r, ROCL_REGION, p->at);
    r.as.e.start = r.as.e.end = m.time;
    if (p->payload == PKT_TRACK_EVENT)
        return pfr_put_track_event(w, &r, err);
    return p->payload == PKT_GPU_STAGE ? pfr_put_stage(w, &r, err)
                                       : pfr_put_gpu_counters(w, &r, err);
}

static rocl_status parse_piece(rocl_records_input *in, rocl_records *to, const rocl_piece *piece,
                               rocl_error *err)
{
    pfr_file *f = in->state;
    const size_t n = (size_t)(piece->last - piece->first);
    pfr_worker *w = rocl_records_own(to, sizeof *w);
    pfr_packet p;
    size_t got;
    if (!w)
        return rocl_fail_memory(err);
    w->file = f;
    w->to = to;
    w->piece = piece->section;
    w->begin = f->bases[piece->section];
    w->last = ROCL_NONE;
    w->bytes.len = 0;
    if (!rocl_buf_reserve(&w->bytes, n))
        return rocl_fail_memory(err);
    rocl_status st =
        rocl_spool_read(in->files[piece->file].spool, w->bytes.data, n, piece->first, &got, err);
    if (st == ROCL_OK && got < n)
        st = rocl_fail(err, ROCL_INPUT, "%s: the file became shorter", in->files[0].path);
    if (st != ROCL_OK)
        return st;
    pfr_walk_begin(&w->walk, w->bytes.data, n, w->begin);
    while (st == ROCL_OK && pfr_walk_next(&w->walk, &p))
        st = p.why ? rocl_record_fault(to, p.at, ROCL_FAULT_BAD_LINE, p.why)
                   : put_packet(w, &p, err);
    forget_piece(w);
    return st == ROCL_OK && w->walk.failed ? rocl_fail_memory(err) : st;
}

/* ---- the format ------------------------------------------------------------------------------ */

/* Packets that are not events: their contents are named in a notice, or do not matter. */
static const struct {
    uint8_t number;
    const char *what; /* NULL: the tracer's own */
} payloads[] = {
    {PKT_FTRACE, "the kernel's scheduler (ftrace)"},
    {9, "processes over time"},
    {11, NULL},
    {33, NULL},
    {PKT_TRACE_STATS, NULL},
    {36, NULL},
    {37, "heap profiles"},
    {38, "batteries"},
    {40, "the system's counters"},
    {43, "Chrome's oldest descriptions of processes"},
    {44, "Chrome's oldest descriptions of threads"},
    {46, NULL},
    {49, "CPU and stack samples"},
    {66, "CPU and stack samples"},
    {68, "heap graphs"},
    {69, NULL},
    {71, "memory of GPUs"},
    {72, NULL},
    {78, NULL},
    {89, NULL},
    {126, NULL},
    {129, "frequencies of GPUs"},
    {135, "CPU and stack samples"},
};

/* "FILE: left out: 12 packets of heap profiles, 3 of other kinds (fields 63, 71)" */
static void report_others(const pfr_file *f)
{
    rocl_buf b = {0};
    uint64_t unknown = 0;
    rocl_buf_printf(&b, "%s: packets that are not events are left out:", f->in->files[0].path);
    const size_t begin = b.len;
    for (unsigned i = 1; i < 256; i++) {
        bool known = false;
        for (size_t k = 0; k < sizeof payloads / sizeof *payloads && !known; k++) {
            known = payloads[k].number == i;
            if (known && payloads[k].what && f->others[i])
                rocl_buf_printf(&b, "%s %" PRIu64 " of %s", b.len > begin ? "," : "", f->others[i],
                                payloads[k].what);
        }
        unknown += known ? 0 : f->others[i];
    }
    if (unknown)
        rocl_buf_printf(&b, "%s %" PRIu64 " of other kinds", b.len > begin ? "," : "", unknown);
    const bool any = b.len > begin;
    rocl_buf_byte(&b, 0);
    if (any && !b.failed)
        rocl_notice(f->in->trace, "%s", (const char *)b.data);
    rocl_buf_free(&b);
}

/* If there is only one clock, its events are where they are among each other. */
static void report_clocks(const pfr_file *f)
{
    rocl_buf b = {0};
    size_t pos = 0;
    uint64_t key, unrelated = 0; /* bits by clock; further ones are faults */
    uint32_t used;
    while (f->clocks_used.count > 1 && rocl_map_next(&f->clocks_used, &pos, &key, &used))
        if (key && (uint32_t)key < 64 &&
            !pfr_clocks_relate(&f->clocks, (uint32_t)(key >> 32), (uint32_t)key))
            unrelated |= (uint64_t)1 << (uint32_t)key;
    for (unsigned clock = 1; clock < 64; clock++)
        if (unrelated >> clock & 1)
            rocl_buf_printf(&b, "%s%u", b.len ? ", " : "", clock);
    rocl_buf_byte(&b, 0);
    if (unrelated && !b.failed)
        rocl_notice(f->in->trace,
                    "%s: times of clock %s are taken as they are: no clock snapshot relates it to "
                    "that of the trace",
                    f->in->files[0].path, (const char *)b.data);
    rocl_buf_free(&b);
}

static void close_file(rocl_records_input *in)
{
    pfr_index_free(in->state);
    pfr_definitions_free(in->state);
}

bool pfr_options_cut(const rocl_options *o)
{
    const bool window = o->start || o->end || o->start_marker || o->end_marker;
    const bool others = o->ranks || o->pids || o->agents || o->include || o->exclude || o->names ||
                        o->exclude_names || o->min_duration || o->kernel_include ||
                        o->kernel_exclude || o->kernel_iterations || o->periods || o->steps ||
                        o->warmup || o->align > ROCL_ALIGN_NONE;
    return o->copy_packets && window && !others && !o->kernel_rename &&
           o->kernel_names == ROCL_NAMES_DISPLAY;
}

static rocl_status open_file(rocl_records_input *in, rocl_error *err)
{
    const rocl_options *o = &in->trace->opt;
    pfr_file *f = in->state;
    static const char *const words[] = {"KERNEL_DISPATCH", "MEMORY_COPY", "MEMORY_ALLOCATION",
                                        "SCRATCH_MEMORY", ""};
    if (!(f->bytes = rocl_strings_new()) || !rocl_intern_words(in->trace, words, 5, f->words))
        return rocl_fail_memory(err);
    f->in = in;
    f->first = INT64_MAX;
    f->last = INT64_MIN;
    f->looked_through = !pfr_options_cut(o) || o->strict || o->start_marker || o->end_marker;
    rocl_status st = pfr_index(f, err);
    if (st != ROCL_OK)
        return st;
    pfr_definitions_resolve(f);
    if (f->failed || !pfr_definitions_define(f))
        return rocl_fail_memory(err);
    in->unread = !f->looked_through;
    if (f->looked_through) {
        report_others(f);
        report_clocks(f);
    }
    return ROCL_OK;
}

static const rocl_record_format format = {.state_size = sizeof(pfr_file),
                                          .open = open_file,
                                          .places = ROCL_PLACES_BYTES,
                                          .parse = parse_piece,
                                          .keeps = true,
                                          .free_worker = free_worker,
                                          .refine = pfr_definitions_refine,
                                          .sees = pfr_sees_agent,
                                          .close = close_file};

const rocl_source_ops rocl_pftrace_ops = {ROCL_RECORDS_OPS(format)};
