#include "trace/joined.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/out_tree.h"
#include "source/source.h"

static bool shares_process(const rocl_trace *t, const rocl_source *s)
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

/* ---- the file ---- */

static const char *temp_folder(const rocl_trace *t)
{
    const char *env = getenv("TMPDIR");
    if (t->opt.tmpdir)
        return t->opt.tmpdir;
    if (env && *env)
        return env;
    return access("/var/tmp", W_OK) == 0 ? "/var/tmp" : "/tmp";
}

/* Called as the first of the slices, in a folder of its own. */
static rocl_status write_joined(rocl_trace *t, char **path, rocl_error *err)
{
    rocl_joined_slices *j = t->joined;
    const char *slash = strrchr(j->paths[0], '/');
    const rocl_options plain = {.jobs = t->opt.jobs,
                                .memory = t->opt.memory,
                                .tmpdir = t->opt.tmpdir,
                                .reader = t->opt.reader};
    rocl_trace *slices = NULL;
    rocl_status st = rocl_out_tree_open(&j->tree, temp_folder(t), err);
    if (st != ROCL_OK)
        return st;
    if (asprintf(path, "%s/%s", rocl_out_tree_path(j->tree), slash ? slash + 1 : j->paths[0]) < 0) {
        *path = NULL;
        return rocl_fail_memory(err);
    }
    const rocl_rocpd_options whole = {.path = *path, .keep_environment = true};
    st = rocl_trace_open_separate(&slices, (const char *const *)j->paths, j->count, &plain, err);
    if (st == ROCL_OK)
        st = rocl_write_rocpd(slices, &whole, NULL, err);
    rocl_trace_close(slices);
    return st;
}

/* ---- in their place ---- */

static void drop_captures(rocl_trace *t, const rocl_source *s)
{
    size_t n = 0;
    for (size_t i = 0; i < t->capture_count; i++) {
        rocl_model_capture *c = t->captures[i];
        if (c->source != s) {
            t->captures[n++] = c;
            continue;
        }
        rocl_capture_free(c);
    }
    t->capture_count = n;
}

static rocl_status take_slices(rocl_trace *t, size_t *named, rocl_error *err)
{
    rocl_joined_slices *j = t->joined;
    bool *slice = calloc(t->source_count + 1, sizeof *slice);
    size_t n = 0;
    if (!slice)
        return rocl_fail_memory(err);
    *named = SIZE_MAX;
    for (size_t i = 0; i < t->source_count; i++)
        slice[i] = t->sources[i]->slice && shares_process(t, t->sources[i]);
    for (size_t i = 0; i < t->source_count; i++) {
        rocl_source *s = t->sources[i];
        if (!slice[i]) {
            t->sources[n++] = s;
            continue;
        }
        drop_captures(t, s);
        *named = s->named < *named ? s->named : *named;
        j->paths[j->count++] = s->path; /* it is ours now */
        s->path = NULL;
        rocl_source_free(s);
    }
    t->source_count = n;
    free(slice);
    return ROCL_OK;
}

rocl_status rocl_join_slices(rocl_trace *t, rocl_error *err)
{
    size_t i = 0, named, first;
    char *path = NULL;
    while (i < t->source_count && !(t->sources[i]->slice && shares_process(t, t->sources[i])))
        i++;
    if (i == t->source_count)
        return ROCL_OK;
    t->joined = calloc(1, sizeof *t->joined);
    if (!t->joined || !(t->joined->paths = calloc(t->source_count, sizeof(char *))))
        return rocl_fail_memory(err);
    rocl_status st = take_slices(t, &named, err);
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
            t->captures[i]->pub.path = t->joined->paths[0]; /* what the user knows it by */
    return ROCL_OK;
}

void rocl_joined_free(rocl_joined_slices *j)
{
    if (!j)
        return;
    for (size_t i = 0; i < j->count; i++)
        free(j->paths[i]);
    free(j->paths);
    rocl_out_tree_discard(j->tree);
    free(j);
}
