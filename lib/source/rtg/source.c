/* Recognises a file of legacy text, opens it, cuts it into tasks, closes it. */
#include "source/rtg/rtg.h"

#include <stdlib.h>

#include "source/rtg/line_match.h"

/* ---- is it ours? ---------------------------------------------------------------------------- */

/* Does the line begin like one of the tracer, however it continues? */
static bool begins_like_ours(const char *p, const char *end)
{
    static const char *const tags[] = {"HIP: pid:", "HSA: pid:", "RTX: pid:"};
    rocl_view digits;
    for (size_t i = 0; i < sizeof tags / sizeof *tags; i++) {
        const char *q = rtg_lit_n(p, end, tags[i], 9);
        q = q ? rtg_digits(q, end, &digits) : NULL;
        if (q && rtg_lit(q, end, " tid:"))
            return true;
    }
    return false;
}

/* 2: this line alone identifies the file; 1: two such lines do; 0: text. */
static int weigh_line(const char *p, size_t n)
{
    rtg_line l;
    rtg_text text = {.p = (char *)(uintptr_t)p, .n = n, .ended = true};
    rtg_item item;
    if (begins_like_ours(p, p + n))
        return 2;
    rtg_read_item(&item, &l, &text, 0);
    if (l.shape >= RTG_STRACE_UNFINISHED && l.shape <= RTG_STRACE_COMPLETE)
        return item.what != RTG_NOTHING;
    bool missed =
        l.shape == RTG_HIP_MISSED || l.shape == RTG_HSA_MISSED || l.shape == RTG_HCC_MISSED;
    return l.shape == RTG_TEXT || missed ? 0 : 2;
}

bool rtg_recognise(const char *head, size_t n, bool whole)
{
    const char *p = head, *end = head + n;
    int sum = 0;
    while (p < end && sum < 2) {
        const char *q = p;
        while (q < end && *q != '\n' && *q != '\r')
            q++;
        if (q == end && !whole) /* cut off: only its begin can be judged */
            return begins_like_ours(p, end);
        sum += weigh_line(p, (size_t)(q - p));
        p = q + 1;
    }
    return sum >= 2;
}

/* ---- open and close ------------------------------------------------------------------------- */

/* "prof.out.4242": the tracer appends the pid to names; profile lines have none. */
static uint64_t read_file_pid(const char *name)
{
    const char *end = name + strlen(name), *p = end;
    uint64_t pid;
    if (end - name > 3 && !strcmp(end - 3, ".gz"))
        p = end -= 3;
    while (p > name && rtg_digit(p[-1]))
        p--;
    bool separate = p > name && (p[-1] == '.' || p[-1] == '_' || p[-1] == '-');
    bool ok = separate && rtg_number(rocl_view_between(p, end), &pid) && pid <= INT64_MAX;
    return ok ? pid : 0;
}

static rocl_status open_file(rocl_source *src, rocl_trace *t, rocl_error *err)
{
    static const char *const words[RTG_WORDS] = {
        [RTG_W_HIP_API] = "HIP_RUNTIME_API",
        [RTG_W_HSA_API] = "HSA_CORE_API",
        [RTG_W_HSA_AMD_API] = "HSA_AMD_EXT_API",
        [RTG_W_HOST_DISPATCH] = "HSA_HOST_DISPATCH",
        [RTG_W_HOST_BARRIER] = "HSA_HOST_BARRIER",
        [RTG_W_HOST_VENDOR] = "HSA_HOST_VENDOR",
        [RTG_W_RANGE_API] = "MARKER_CORE_RANGE_API",
        [RTG_W_MARK_API] = "MARKER_CORE_API",
        [RTG_W_RANGE] = "roctxRange",
        [RTG_W_MARK] = "roctxMark",
        [RTG_W_STRACE] = "STRACE",
        [RTG_W_KERNEL_DISPATCH] = "KERNEL_DISPATCH",
        [RTG_W_MEMORY_COPY] = "MEMORY_COPY",
        [RTG_W_BARRIER_PACKET] = "BARRIER_PACKET",
        [RTG_W_BARRIER] = "barrier",
        [RTG_W_VENDOR] = "vendor",
        [RTG_W_COPY] = "copy",
        [RTG_W_KERNEL] = "kernel",
        [RTG_W_RET] = "ret",
    };
    const char *slash = strrchr(src->path, '/'), *name = slash ? slash + 1 : src->path;
    rtg_file *f = calloc(1, sizeof *f);
    if (!f)
        return rocl_fail_memory(err);
    pthread_mutex_init(&f->faults.lock, NULL);
    src->state = f;
    f->trace = t;
    f->path = src->path;
    f->spool = src->spool;
    src->spool = NULL;
    f->file_pid = read_file_pid(name);
    f->capture = rocl_trace_add_capture(t, src, err);
    if (!f->capture)
        return ROCL_INTERNAL;
    f->capture->state = f;
    f->capture->pub.guid = rocl_strings_put(t->strings, name, strlen(name));
    if (!rocl_intern_words(t, words, RTG_WORDS, f->words))
        return rocl_fail_memory(err);
    rocl_status st = rocl_spool_fill(f->spool, &t->spooled, t->opt.tmpdir, err);
    if (st == ROCL_OK)
        st = rtg_index(f, err);
    if (st == ROCL_OK && t->opt.strict)
        st = rtg_faults_report(f, err);
    if (st == ROCL_OK)
        st = rtg_define(f, err);
    rocl_spool_suspend(f->spool);
    return st;
}

static void close_file(rocl_source *src)
{
    rtg_file *f = src->state;
    if (!f)
        return;
    rocl_spool_close(f->spool);
    for (size_t i = 0; f->ranges && i < f->range_count; i++)
        rtg_calls_free(&f->ranges[i].calls);
    free(f->ranges);
    for (int i = 0; i < RTG_TABLES; i++)
        rocl_registry_free(&f->tables[i]);
    pthread_mutex_destroy(&f->faults.lock);
    free(f);
}

/* ---- scanning ------------------------------------------------------------------------------- */

static rocl_status begin_scan(rocl_trace *t, rocl_model_capture *c, const rocl_emitter *to,
                              rocl_plan *plan, rocl_error *err)
{
    const uint32_t kinds = to->kinds;
    rtg_file *f = c->state;
    rocl_status st = rocl_spool_resume(f->spool, err);
    if (st != ROCL_OK)
        return st;
    f->kinds = kinds;
    f->args = rocl_wants_args(t, to);
    f->workers = rocl_cache_line_calloc(t->opt.jobs, sizeof *f->workers);
    if (!f->workers)
        return rocl_fail_memory(err);
    if ((kinds & ROCL_BIT(ROCL_DISPATCH)) && f->has_dims && f->has_gpu &&
        !(f->join = rocl_sorter_new(t->space, 3)))
        return rocl_fail_memory(err);
    /* They were all found when the file was opened. */
    for (int i = 0; i < ROCL_FAULTS; i++)
        atomic_fetch_add(&t->faults[i], f->faults.counts[i]);
    st = rtg_faults_report(f, err);
    for (size_t i = 0; i < f->range_count && st == ROCL_OK; i++)
        st = rocl_plan_add(plan,
                           &(rocl_task){.kinds = kinds,
                                        .first = (int64_t)i,
                                        .last = (int64_t)i,
                                        .rows = f->ranges[i].lines},
                           err);
    return st;
}

static void end_scan(rocl_trace *t, rocl_model_capture *c)
{
    rtg_file *f = c->state;
    (void)t;
    rtg_workers_free(f);
    rocl_sorter_free(f->join);
    f->join = NULL;
    rocl_spool_suspend(f->spool);
}

static rocl_status peek_times(rocl_trace *t, rocl_model_capture *c, int64_t *first, int64_t *last,
                              bool *any, rocl_error *err)
{
    const rtg_file *f = c->state;
    (void)t;
    (void)err;
    *first = f->first;
    *last = f->last;
    *any = f->first <= f->last;
    return ROCL_OK;
}

const rocl_source_ops rocl_rtg_ops = {
    .open = open_file,
    .close = close_file,
    .free_capture = rocl_definitions_free,
    .begin = begin_scan,
    .scan = rtg_scan,
    .finish = rtg_finish,
    .end = end_scan,
    .peek_times = peek_times,
};

rocl_spool *rtg_capture_spool(const rocl_model_capture *c)
{
    const rtg_file *f = c->state;
    return c->source->ops == &rocl_rtg_ops ? f->spool : NULL;
}
