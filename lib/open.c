/* Opening and closing a trace: inputs -> sources -> captures with their definitions -> filters. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "filter/filter.h"
#include "model/trace.h"
#include "source/inputs.h"
#include "source/source.h"

/* Two captures are of one machine when their nodes have the same machine id, or, without one, the
 * same host name. */
static rocl_status number_machine(rocl_trace *t, rocl_capture *c, rocl_error *err)
{
    uint32_t identity = 0;
    if (c->node_count)
        identity = c->nodes[0].machine_id ? c->nodes[0].machine_id : c->nodes[0].hostname;
    for (c->machine = 0; c->machine < t->machine_count; c->machine++)
        if (t->machines[c->machine] == identity)
            return ROCL_OK;
    uint32_t *more = realloc(t->machines, (t->machine_count + 1) * sizeof *more);
    if (!more)
        return rocl_fail_memory(err);
    t->machines = more;
    t->machines[t->machine_count++] = identity;
    return ROCL_OK;
}

/* Processes that traced nothing leave text without a record: among others it is no reason to stop.
 * Whether it is a text of such can only be said when another is. */
static bool may_be_skipped(const rocl_inputs *in, const char *path)
{
    if (in->count < 2 || rocl_input_look(path) != ROCL_LOOKS_TEXT)
        return false;
    for (size_t i = 0; i < in->count; i++) {
        rocl_look look = rocl_input_look(in->paths[i]);
        if (look == ROCL_LOOKS_LEGACY || look == ROCL_LOOKS_HCC)
            return true;
    }
    return false;
}

static rocl_status open_input(rocl_trace *t, const rocl_inputs *in, const char *path,
                              rocl_error *err)
{
    rocl_status st = rocl_source_open(t, path, err);
    if (st != ROCL_INPUT || !may_be_skipped(in, path))
        return st;
    rocl_notice(t, "%s: no records: skipped", path);
    return ROCL_OK;
}

static unsigned cores(void)
{
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n < 1 ? 1 : n > 256 ? 256 : (unsigned)n;
}

static rocl_status prepare(rocl_trace *t, const rocl_options *options, rocl_error *err)
{
    if (options)
        t->opt = *options;
    if (!t->opt.jobs)
        t->opt.jobs = cores();
    if (t->opt.jobs > 256)
        return rocl_fail(err, ROCL_USAGE, "%u jobs are too many: at most 256", t->opt.jobs);
    if (!t->opt.memory)
        t->opt.memory = ROCL_DEFAULT_MEMORY;
    t->strings = rocl_strings_new();
    t->space = rocl_sort_space_new(t->opt.memory, t->opt.jobs, t->opt.tmpdir);
    atomic_flag_clear(&t->in_progress);
    return t->strings && t->space ? ROCL_OK : rocl_fail_memory(err);
}

rocl_status rocl_trace_open(rocl_trace **trace, const char *const *inputs, size_t count,
                            const rocl_options *options, rocl_error *err)
{
    rocl_inputs in = {0};
    rocl_trace *t = calloc(1, sizeof *t);
    if (!t)
        return rocl_fail_memory(err);
    rocl_status st = prepare(t, options, err);
    if (st == ROCL_OK)
        st = rocl_inputs_expand(&in, inputs, count, err);
    if (st == ROCL_OK && !in.count)
        st = rocl_fail(err, ROCL_USAGE, "no input given");
    for (size_t i = 0; i < in.count && st == ROCL_OK; i++)
        st = open_input(t, &in, in.paths[i], err);
    for (size_t i = 0; i < t->capture_count && st == ROCL_OK; i++)
        st = number_machine(t, &t->captures[i]->pub, err);
    if (st == ROCL_OK)
        st = rocl_filter_new(&t->filter, t, err);
    rocl_inputs_free(&in);
    if (st != ROCL_OK) {
        rocl_trace_close(t);
        return st;
    }
    *trace = t;
    return ROCL_OK;
}

void rocl_trace_close(rocl_trace *t)
{
    if (!t)
        return;
    rocl_filter_free(t->filter);
    for (size_t i = 0; i < t->capture_count; i++) {
        if (t->captures[i]->source->ops->forget)
            t->captures[i]->source->ops->forget(t->captures[i]);
        rocl_arena_free(&t->captures[i]->arena);
        free(t->captures[i]);
    }
    free(t->captures);
    for (size_t i = 0; i < t->source_count; i++) {
        t->sources[i]->ops->close(t->sources[i]);
        rocl_spool_close(t->sources[i]->spool);
        free(t->sources[i]->path);
        free(t->sources[i]);
    }
    free(t->sources);
    free(t->machines);
    rocl_sort_space_free(t->space);
    rocl_strings_free(t->strings);
    free(t);
}
