/* Opening and closing a trace: inputs -> sources -> captures with their definitions, in order ->
 * filters -> clocks. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/map.h"
#include "base/out_tree.h"
#include "base/pool.h"
#include "base/text.h"
#include "filter/filter.h"
#include "model/kernel_class.h"
#include "model/steps.h"
#include "model/trace.h"
#include "source/db/schema_cache.h"
#include "source/formats.h"
#include "source/inputs.h"
#include "source/source.h"
#include "team/team.h"
#include "trace/clocks.h"
#include "trace/deal.h"
#include "trace/named.h"
#include "trace/open.h"
#include "trace/nodes.h"
#include "trace/remote.h"
#include "trace/joint.h"
#include "trace/runs.h"
#include "trace/dealt.h"

/* Inputs of independent formats wait until one comes that is not, and are opened together.
 * Sources before `opened` are open. */
static rocl_status open_input(rocl_trace *t, const rocl_inputs *in, size_t named, size_t *opened,
                              rocl_error *err)
{
    const char *path = in->paths[named];
    const size_t first = t->source_count;
    rocl_status st = rocl_source_recognise(t, path, err);
    for (size_t i = first; i < t->source_count; i++)
        t->sources[i]->named = named;
    const rocl_source *s = first < t->source_count ? t->sources[first] : NULL;
    if (st == ROCL_OK && (!s || s->deferred || s->format->flags & ROCL_FORMAT_INDEPENDENT))
        return ROCL_OK;
    rocl_status before = rocl_sources_open(t, *opened, first, err);
    if (before != ROCL_OK)
        return before;
    if (st == ROCL_OK)
        st = rocl_sources_open(t, first, t->source_count, err);
    *opened = t->source_count;
    if (st != ROCL_INPUT)
        return st;
    /* Processes that traced nothing leave text without a record. It may be skipped when some other
     * input is a text of the same tools that has records. */
    rocl_look look = ROCL_LOOKS_OTHER;
    bool may = false;
    rocl_status looked = in->count < 2 ? ROCL_OK : rocl_input_look(path, &look, err);
    const bool text = look == ROCL_LOOKS_TEXT || look == ROCL_LOOKS_FOREIGN;
    for (size_t i = 0; looked == ROCL_OK && text && !may && i < in->count; i++) {
        looked = rocl_input_look(in->paths[i], &look, err);
        may = look == ROCL_LOOKS_LEGACY || look == ROCL_LOOKS_HCC;
    }
    if (looked != ROCL_OK || !may || t->opt.strict)
        return looked != ROCL_OK ? looked : st;
    rocl_notice_defer(t, path, "no records: skipped");
    t->left_out++;
    return ROCL_OK;
}

static int compare_by_path(const void *a, const void *b, void *paths)
{
    char *const *p = paths;
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    int by = strverscmp(p[x], p[y]);
    return by ? by : (x > y) - (x < y);
}

/* In the order of their names: numbers that are given while opening do not depend on the order in
 * which the inputs were named. */
static rocl_status open_inputs(rocl_trace *t, const rocl_inputs *in, rocl_error *err)
{
    size_t *order = malloc((in->count + 1) * sizeof *order), opened = 0;
    rocl_source ***ready = calloc(in->count + 1, sizeof *ready); /* by input */
    rocl_status st = order && ready ? ROCL_OK : rocl_fail_memory(err);
    for (size_t i = 0; order && i < in->count; i++)
        order[i] = i;
    if (order)
        qsort_r(order, in->count, sizeof *order, compare_by_path, in->paths);
    for (size_t i = 0; ready && i < t->node_source_count; i++)
        if (t->node_sources[i])
            ready[t->node_sources[i]->named] = &t->node_sources[i];
    for (size_t i = 0; i < in->count && st == ROCL_OK; i++) {
        rocl_source **s = ready[order[i]]; /* one that the team has opened */
        if (!s) {
            st = open_input(t, in, order[i], &opened, err);
        } else if ((*s)->refused) {
            st = rocl_sources_open(t, opened, t->source_count, err);
            st = st == ROCL_OK ? rocl_fail(err, (*s)->refused, "%s", (*s)->remark) : st;
        } else {
            st = rocl_source_add(t, *s, err);
            *s = st == ROCL_OK ? NULL : *s;
        }
    }
    free(ready);
    for (size_t i = 0; i < t->source_count; i++)
        if (!t->sources[i]->more_count)
            t->sources[i]->bytes = in->files[t->sources[i]->named].bytes;
    if (st == ROCL_OK)
        st = rocl_sources_open(t, opened, t->source_count, err);
    /* Sources that waited for further files of their run, or use all workers to open. */
    for (size_t i = 0; i < t->source_count && st == ROCL_OK; i++)
        if (t->sources[i]->deferred) {
            t->sources[i]->deferred = false;
            st = rocl_sources_open(t, i, i + 1, err);
        }
    free(order);
    return st;
}

/* A process in two inputs is an error: its events would count twice. Except in text inputs, which
 * are identified only by file names, which may coincide. */
static rocl_status refuse_repeated(rocl_trace *t, rocl_map *seen, size_t i, uint32_t guid,
                                   rocl_error *err)
{
    const rocl_model_capture *c = t->captures[i], *other;
    const uint32_t before = rocl_map_get(seen, guid, ROCL_NONE);
    other = before == ROCL_NONE || before == i ? NULL : t->captures[before];
    if (other && guid &&
        ((c->source->format->flags | other->source->format->flags) & ROCL_FORMAT_UNIQUE_GUID))
        return rocl_fail(err, ROCL_INPUT, "%s: holds the same process (guid %s) as %s", c->pub.path,
                         rocl_str(t, guid), other->pub.path);
    return rocl_map_put(seen, guid, (uint32_t)i) ? ROCL_OK : rocl_fail_memory(err);
}

static rocl_status refuse_repeated_processes(rocl_trace *t, rocl_error *err)
{
    rocl_map seen = {0};
    rocl_status st = ROCL_OK;
    for (size_t i = 0; i < t->capture_count && st == ROCL_OK; i++) {
        const rocl_capture *c = &t->captures[i]->pub;
        st = refuse_repeated(t, &seen, i, c->guid, err);
        for (uint32_t p = 0; p < c->process_count && st == ROCL_OK; p++)
            if (c->processes[p].guid)
                st = refuse_repeated(t, &seen, i, c->processes[p].guid, err);
    }
    rocl_map_free(&seen);
    return st;
}

enum { OTHERS_MAX = 64 };

static void format_others(char *text, size_t n)
{
    *text = '\0';
    if (n > 1)
        snprintf(text, OTHERS_MAX, ", and %zu more such file%s", n - 1, n > 2 ? "s" : "");
}

/* The contents of unsearched folders are missing, so the outcome is partial. */
static rocl_status report_unread_inputs(rocl_trace *t, const rocl_inputs *in, rocl_error *err)
{
    char others[OTHERS_MAX];
    format_others(others, in->repeated);
    if (in->repeated && strcmp(in->again, in->first) == 0)
        rocl_notice(t, "%s: named twice, read once%s", in->again, others);
    else if (in->repeated)
        rocl_notice(t, "%s: the same file as %s, read once%s", in->again, in->first, others);
    format_others(others, in->blank);
    if (in->blank)
        rocl_notice(t, "%s: its process ended before it recorded anything%s", in->blank_name,
                    others);
    format_others(others, in->copies);
    if (in->copies)
        rocl_notice(t, "%s: skipped, because the folder has the uncompressed file, too%s",
                    in->copy_name, others);
    format_others(others, in->less);
    if (in->less)
        rocl_notice(t, "%s: skipped, because %s is of the same run and is read%s", in->less_name,
                    in->more_name, others);
    if (in->unneeded && t->opt.explain)
        rocl_notice(t, "not read, though the folder has them: %s%s", in->unneeded_names,
                    in->unneeded > ROCL_UNNEEDED_NAMED ? ", ..." : "");
    if (!in->unsearched)
        return ROCL_OK;
    if (t->opt.strict)
        return rocl_fail_unsearched(in, err);
    format_others(others, in->unsearched);
    rocl_notice(t, "%s: cannot search: %s: left out%s", in->unsearched_name, strerror(EACCES),
                others);
    t->left_out += in->unsearched;
    return ROCL_OK;
}

static rocl_status prepare_trace(rocl_trace *t, const rocl_options *options, rocl_error *err)
{
    if (options)
        t->opt = *options;
    if (t->opt.jobs > 256)
        return rocl_fail(err, ROCL_USAGE, "%u jobs are too many: at most 256", t->opt.jobs);
    if (!t->opt.jobs && t->opt.team)
        t->opt.jobs = rocl_team_jobs(t->opt.team);
    const rocl_budget budget = rocl_budget_share(t->opt.memory, t->opt.jobs);
    t->opt.jobs = budget.workers;
    t->opt.memory = budget.sorting;
    t->strings = rocl_strings_new();
    t->schemas = rocl_schema_cache_share();
    t->read_ahead = (uint32_t)(budget.cursor < UINT32_MAX ? budget.cursor : UINT32_MAX);
    t->space = rocl_sort_space_new(t->opt.memory, t->opt.jobs, t->opt.tmpdir);
    t->guard = rocl_guard_new();
    atomic_flag_clear(&t->in_progress);
    if (!t->strings || !t->schemas || !t->space || !t->guard)
        return rocl_fail_memory(err);
    const rocl_status st = rocl_kernel_classes_new(&t->classes, t->opt.kernel_classes, err);
    return st ? st : rocl_step_names_new(&t->steps, t->opt.step_markers, err);
}

/* ---- slices of the time among the inputs ----------------------------------------------------- */

/* `separate`: slices are opened as separate captures, not joined. */
static rocl_status open_trace(rocl_trace **trace, const char *const *inputs, size_t count,
                              const rocl_options *options, bool separate, rocl_error *err);

static bool has_other_slices(const rocl_trace *t, const rocl_source *s)
{
    for (size_t i = 0; i < t->capture_count; i++)
        for (size_t k = 0; t->captures[i]->source == s && k < t->capture_count; k++) {
            const rocl_model_capture *other = t->captures[k];
            if (other->source != s && other->source->slice && other->pub.guid &&
                other->pub.guid == t->captures[i]->pub.guid)
                return true;
        }
    return false;
}

/* The file has the name of the first of the slices, and a folder of its own. */
static rocl_status write_joined(rocl_trace *t, char **path, rocl_error *err)
{
    rocl_joined_slices *j = t->joined;
    const char *slash = strrchr(j->paths[0], '/');
    const rocl_options plain = {.jobs = t->opt.jobs,
                                .memory = t->opt.memory,
                                .tmpdir = t->opt.tmpdir,
                                .reader = t->opt.reader};
    rocl_trace *slices = NULL;
    rocl_status st = rocl_out_tree_open(&j->tree, rocl_temp_folder(t->opt.tmpdir), err);
    if (st != ROCL_OK)
        return st;
    *path = rocl_new_text("%s/%s", rocl_out_tree_path(j->tree), slash ? slash + 1 : j->paths[0]);
    if (!*path)
        return rocl_fail_memory(err);
    const rocl_rocpd_options whole = {.path = *path, .keep_environment = true};
    st = open_trace(&slices, (const char *const *)j->paths, j->count, &plain, true, err);
    if (st == ROCL_OK)
        st = rocl_write_rocpd(slices, &whole, NULL, err);
    rocl_trace_close(slices);
    return st;
}

/* Takes the slices of processes with several, with their captures, out of the trace; their paths
 * are the joined slices' from then on. *named: the first of them among the inputs. */
static rocl_status remove_slices(rocl_trace *t, size_t *named, rocl_error *err)
{
    rocl_joined_slices *j = t->joined;
    bool *slice = calloc(t->source_count + 1, sizeof *slice);
    size_t n = 0;
    if (!slice)
        return rocl_fail_memory(err);
    *named = SIZE_MAX;
    for (size_t i = 0; i < t->source_count; i++)
        slice[i] = t->sources[i]->slice && has_other_slices(t, t->sources[i]);
    for (size_t i = 0; i < t->source_count; i++) {
        rocl_source *s = t->sources[i];
        if (!slice[i]) {
            t->sources[n++] = s;
            continue;
        }
        size_t left = 0;
        for (size_t k = 0; k < t->capture_count; k++)
            if (t->captures[k]->source == s)
                rocl_capture_free(t->captures[k]);
            else
                t->captures[left++] = t->captures[k];
        t->capture_count = left;
        *named = s->named < *named ? s->named : *named;
        j->paths[j->count++] = s->path; /* now owned here */
        s->path = NULL;
        rocl_source_free(s);
    }
    t->source_count = n;
    free(slice);
    return ROCL_OK;
}

/* Joins slices that hold pieces of one process in a temporary database, which replaces them among
 * the sources: a trace that was cut becomes whole again. */
static rocl_status join_slices(rocl_trace *t, rocl_error *err)
{
    size_t i = 0, named, first;
    char *path = NULL;
    while (i < t->source_count && !(t->sources[i]->slice && has_other_slices(t, t->sources[i])))
        i++;
    if (i == t->source_count)
        return ROCL_OK;
    t->joined = calloc(1, sizeof *t->joined);
    if (!t->joined || !(t->joined->paths = calloc(t->source_count, sizeof(char *))))
        return rocl_fail_memory(err);
    rocl_status st = remove_slices(t, &named, err);
    if (st == ROCL_OK)
        st = write_joined(t, &path, err);
    first = t->source_count;
    if (st == ROCL_OK)
        st = rocl_source_recognise(t, path, err);
    if (st == ROCL_OK)
        st = rocl_sources_open(t, first, t->source_count, err);
    free(path);
    if (st != ROCL_OK)
        return st;
    t->sources[first]->named = named;
    t->sources[first]->joined = true;
    for (i = 0; i < t->capture_count; i++)
        if (t->captures[i]->source == t->sources[first])
            t->captures[i]->pub.path = t->joined->paths[0]; /* the name that the user knows */
    return ROCL_OK;
}

/* ---- open and close -------------------------------------------------------------------------- */

/* Sets what depends on all sources being open. */
static rocl_status number_sources(rocl_trace *t, rocl_error *err)
{
    for (size_t i = 0; i < t->source_count; i++) {
        struct stat file;
        rocl_source *s = t->sources[i];
        s->number = i;
        s->total = 0;
        if (s->bytes || rocl_is_remote(s))
            continue;
        const bool there = stat(s->path, &file) == 0;
        if (!there && errno != ENOENT && errno != ENOTDIR) /* then it is only a name for people */
            return rocl_fail_system(err, ROCL_INPUT, s->path, errno);
        s->bytes = there && S_ISREG(file.st_mode) ? (uint64_t)file.st_size : 0;
    }
    for (size_t i = 0; i < t->capture_count; i++)
        t->captures[i]->source->total++;
    return ROCL_OK;
}

static rocl_status open_trace(rocl_trace **trace, const char *const *inputs, size_t count,
                              const rocl_options *options, bool separate, rocl_error *err)
{
    rocl_inputs in = {0};
    rocl_filter *filter = NULL;
    rocl_trace *t = calloc(1, sizeof *t);
    if (!t)
        return rocl_fail_memory(err);
    rocl_status st = prepare_trace(t, options, err);
    const bool team = !separate && rocl_team_size(t->opt.team) > 1;
    if (st == ROCL_OK)
        st = team ? rocl_nodes_find(t, inputs, count, &in, err)
                  : rocl_nodes_find_alone(t, inputs, count, &in, err);
    if (st == ROCL_OK && !in.count)
        st = rocl_fail(err, ROCL_USAGE, "no input is given");
    if (st == ROCL_OK)
        st = report_unread_inputs(t, &in, err);
    if (st == ROCL_OK) {
        t->opt.copy_packets &= in.count == 1;
        st = team ? rocl_remote_open(t, err) : ROCL_OK;
    }
    if (st == ROCL_OK)
        st = open_inputs(t, &in, err);
    if (st == ROCL_OK && !separate)
        st = join_slices(t, err);
    if (st == ROCL_OK && !separate)
        st = refuse_repeated_processes(t, err);
    if (st == ROCL_OK)
        rocl_notices_flush(t);
    if (st == ROCL_OK)
        st = rocl_apply_names(t, err);
    if (st == ROCL_OK)
        st = rocl_trace_order(t, err);
    if (st == ROCL_OK)
        st = rocl_trace_label_queues(t, err);
    if (st == ROCL_OK)
        st = number_sources(t, err);
    if (st == ROCL_OK) {
        rocl_deal_join_small(t);
        st = rocl_deal_inputs(t, err);
    }
    if (st == ROCL_OK)
        st = rocl_align_clocks(t, err); /* by all events, whatever passes the filters */
    if (st == ROCL_OK && !separate)
        st = rocl_find_runs(t, err);
    if (st == ROCL_OK)
        st = rocl_filter_new(&filter, t, err);
    t->filter = filter;
    if (st == ROCL_OK)
        rocl_align_check(t);
    if (st == ROCL_OK && !rocl_strings_complete(t->strings))
        st = rocl_fail_memory(err);
    rocl_inputs_free(&in);
    if (st != ROCL_OK) {
        if (team)
            rocl_team_drain(t->opt.team);
        rocl_trace_close(t);
        return st;
    }
    *trace = t;
    return ROCL_OK;
}

rocl_status rocl_dealt_open(rocl_trace **trace, const rocl_options *options, rocl_error *err)
{
    rocl_trace *t = calloc(1, sizeof *t);
    if (!t)
        return rocl_fail_memory(err);
    rocl_status st = prepare_trace(t, options, err);
    t->opt.copy_packets = false;
    if (st != ROCL_OK) {
        rocl_trace_close(t);
        return st;
    }
    *trace = t;
    return ROCL_OK;
}

rocl_status rocl_dealt_add(rocl_trace *t, char *const *paths, size_t count, uint32_t number,
                           rocl_opened *all, rocl_error *err)
{
    const size_t first = t->source_count;
    rocl_status st = rocl_sources_open_alone(t, paths, count, all, err);
    for (size_t i = 0; i < count && st == ROCL_OK; i++) {
        rocl_source *s = all[i].source;
        if (!s)
            continue;
        s->input = number + (uint32_t)i;
        st = rocl_source_add(t, s, err);
        if (st != ROCL_OK)
            rocl_source_free(s);
    }
    if (st == ROCL_OK)
        st = rocl_sources_open(t, first, t->source_count, err);
    if (st == ROCL_OK)
        st = rocl_apply_names(t, err);
    if (st == ROCL_OK)
        st = rocl_trace_order(t, err);
    if (st == ROCL_OK)
        st = rocl_trace_label_queues(t, err);
    return st == ROCL_OK && !rocl_strings_complete(t->strings) ? rocl_fail_memory(err) : st;
}

rocl_status rocl_trace_open(rocl_trace **trace, const char *const *inputs, size_t count,
                            const rocl_options *options, rocl_error *err)
{
    return open_trace(trace, inputs, count, options, false, err);
}

/* ---- inputs ---------------------------------------------------------------------------------- */

/* Joined slices count as separate files: they replace their source, which is the last. */
static size_t joined_count(const rocl_trace *t)
{
    return t->joined ? t->joined->count : 0;
}

size_t rocl_trace_inputs(const rocl_trace *t)
{
    return t->source_count + joined_count(t) - (joined_count(t) > 0);
}

static void add_file(rocl_input *in, const char *path)
{
    struct stat st;
    if (!path || stat(path, &st) != 0 || !S_ISREG(st.st_mode))
        return;
    in->bytes += (uint64_t)st.st_size;
    in->modified = st.st_mtime > in->modified ? st.st_mtime : in->modified;
}

rocl_input rocl_trace_input(const rocl_trace *t, size_t i)
{
    const size_t slices = joined_count(t), own = t->source_count - (slices > 0);
    const rocl_source *s = t->sources[i < own ? i : own];
    const char *name = s->format ? s->format->name : "";
    const char *blank = strchr(name, ' '); /* behind the article */
    rocl_input in = {.path = i < own ? s->path : t->joined->paths[i - own],
                     .format = (*name == 'a' && blank) ? blank + 1 : name,
                     .version = s->version,
                     .writer = s->writer                        ? s->writer
                               : s->format && s->format->writer ? s->format->writer
                                                                : ""};
    if (rocl_is_remote(s)) {
        in.bytes = s->bytes;
        in.modified = s->modified;
    } else {
        add_file(&in, in.path);
    }
    for (size_t k = 0; k < s->more_count; k++)
        add_file(&in, s->more[k].path);
    in.captures = s->total;
    return in;
}

void rocl_put_input_names(rocl_buf *to, const rocl_trace *t)
{
    enum { MOST = 3 };
    struct {
        const char *name;
        size_t count;
    } named[MOST] = {{0}};
    size_t more = 0;
    for (size_t i = 0; i < rocl_trace_inputs(t); i++) {
        const char *path = rocl_trace_input(t, i).path, *slash = path ? strrchr(path, '/') : NULL;
        const char *name = slash && slash[1] ? slash + 1 : path ? path : "-";
        size_t k = 0;
        while (k < MOST && named[k].name && strcmp(named[k].name, name) != 0)
            k++;
        if (k < MOST)
            named[k].name = name;
        *(k < MOST ? &named[k].count : &more) += 1;
    }
    for (size_t k = 0; k < MOST && named[k].name; k++) {
        if (named[k].count > 1)
            rocl_buf_printf(to, "%s%zu x %s", k ? ", " : "", named[k].count, named[k].name);
        else
            rocl_buf_printf(to, "%s%s", k ? ", " : "", named[k].name);
    }
    if (more)
        rocl_buf_printf(to, " and %zu more", more);
}

/* ---- the end --------------------------------------------------------------------------------- */

void rocl_trace_close(rocl_trace *t)
{
    if (!t)
        return;
    rocl_joint_free(t->joint);
    rocl_deal_free(t->deal);
    rocl_filter_free(t->filter);
    rocl_kernel_classes_free(t->classes);
    rocl_step_names_free(t->steps);
    for (size_t i = 0; i < t->capture_count; i++)
        rocl_capture_free(t->captures[i]);
    free(t->captures);
    for (size_t i = 0; i < t->former_count; i++)
        rocl_capture_free(t->former[i]);
    free(t->former);
    for (size_t i = 0; i < t->source_count; i++)
        rocl_source_free(t->sources[i]);
    free(t->sources);
    for (size_t i = 0; i < t->node_source_count; i++)
        if (t->node_sources[i])
            rocl_source_free(t->node_sources[i]);
    free(t->node_sources);
    if (t->joined) {
        for (size_t i = 0; i < t->joined->count; i++)
            free(t->joined->paths[i]);
        free(t->joined->paths);
        rocl_out_tree_discard(t->joined->tree);
        free(t->joined);
    }
    rocl_schema_cache_release(t->schemas);
    rocl_spool_store_close(&t->spooled);
    rocl_guard_free(t->guard);
    free(t->machines);
    free(t->gpus);
    rocl_arena_free(&t->shared);
    rocl_sort_space_free(t->space);
    rocl_strings_free(t->strings);
    free(t);
}
