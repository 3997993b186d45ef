/* A trace cut into slices of the time, each a database of its own. */
#include <stdio.h>
#include <stdlib.h>

#include "merge/writer.h"

enum { SLICES_MAX = 500 }; /* their files are open until all are complete */

typedef struct cutter {
    rocl_trace *trace;
    const rocl_rocpd_options *options;
    merge_slices slices;
    merge_selection **selections; /* by capture, NULL: it has been left out */
    rocl_new_db **done;
    size_t done_count, empty;
} cutter;

/* ---- where to cut ---- */

static rocl_status too_many(uint64_t count, rocl_error *err)
{
    rocl_fail(err, ROCL_USAGE, "%llu slices are too many: at most %d", (unsigned long long)count,
              SLICES_MAX);
    return ROCL_USAGE; /* said again, so that checkers know it is no ROCL_OK */
}

static rocl_status find_cuts(cutter *k, rocl_error *err)
{
    int64_t first, last;
    bool any;
    const rocl_rocpd_options *o = k->options;
    if (o->slices > SLICES_MAX)
        return too_many(o->slices, err);
    rocl_status st = merge_select_bounds(k->trace, &first, &last, &any, err);
    if (st != ROCL_OK)
        return st;
    uint64_t span = any ? (uint64_t)last - (uint64_t)first : 0; /* of starts */
    uint64_t width = o->slice_ns > 0 ? (uint64_t)o->slice_ns : span / o->slices + 1;
    uint64_t count = o->slice_ns > 0 ? span / width + 1 : o->slices;
    if (count > SLICES_MAX)
        return too_many(count, err);
    k->slices = (merge_slices){any ? first : 0, width, (size_t)count};
    return ROCL_OK;
}

/* ---- what goes where ---- */

static rocl_status keep_selections(void *ctx, const rocl_capture *c, merge_selection *s,
                                   rocl_error *err)
{
    cutter *k = ctx;
    size_t size = k->slices.count * sizeof *s;
    merge_selection *kept = malloc(size);
    if (!kept)
        return rocl_fail_memory(err);
    memcpy(kept, s, size);
    memset(s, 0, size); /* they are ours now */
    k->selections[c->index] = kept;
    return ROCL_OK;
}

static rocl_status select_all(cutter *k, rocl_error *err)
{
    k->selections = calloc(k->trace->capture_count + 1, sizeof(merge_selection *));
    k->done = calloc(k->slices.count, sizeof(rocl_new_db *));
    if (!k->selections || !k->done)
        return rocl_fail_memory(err);
    const merge_way way = {.slices = k->slices, .rebuild = k->options->rebuild, .cut = true};
    return merge_select(k->trace, &way, keep_selections, k, err);
}

static bool is_empty(const cutter *k, size_t slice)
{
    for (size_t i = 0; i < k->trace->capture_count; i++)
        if (k->selections[i] && k->selections[i][slice].events)
            return false;
    return true;
}

/* ---- files ---- */

/* "merged.db" and 7 of 12 give "merged-07.db". */
static char *path_of(const cutter *k, size_t slice)
{
    const char *path = k->options->path, *dot = strrchr(path, '.');
    int digits = snprintf(NULL, 0, "%zu", k->slices.count);
    size_t stem = dot && !strchr(dot, '/') ? (size_t)(dot - path) : strlen(path);
    char *name = NULL;
    int n = asprintf(&name, "%.*s-%0*zu%s", (int)stem, path, digits, slice + 1, path + stem);
    return n < 0 ? NULL : name;
}

static rocl_status write_slice(cutter *k, size_t slice, const char *path, rocl_rocpd_report *report,
                               rocl_error *err)
{
    merge_writer w = {0};
    rocl_trace *t = k->trace;
    rocl_notice_fn *notice = t->opt.notice;
    if (k->done_count) /* what the first slice says holds for all */
        t->opt.notice = NULL;
    rocl_status st = merge_writer_open(&w, t, NULL, k->options, path, err);
    for (size_t i = 0; i < t->capture_count && st == ROCL_OK; i++)
        if (k->selections[i])
            st = merge_writer_add(&w, &t->captures[i]->pub, &k->selections[i][slice], err);
    if (st == ROCL_OK)
        st = merge_writer_close(&w, &k->done[k->done_count], report, err);
    if (st == ROCL_OK)
        k->done_count++;
    merge_writer_free(&w);
    t->opt.notice = notice;
    return st;
}

static rocl_status write_all(cutter *k, rocl_rocpd_report *report, rocl_error *err)
{
    rocl_status st = ROCL_OK;
    for (size_t i = 0; i < k->slices.count && st == ROCL_OK; i++) {
        if (is_empty(k, i)) {
            k->empty++;
            continue;
        }
        char *path = path_of(k, i);
        st = path ? write_slice(k, i, path, report, err) : rocl_fail_memory(err);
        free(path);
    }
    return st;
}

static rocl_status commit_all(cutter *k, rocl_error *err)
{
    rocl_status st = ROCL_OK;
    for (size_t i = 0; i < k->done_count && st == ROCL_OK; i++) {
        st = rocl_new_db_commit(k->done[i], err);
        k->done[i] = NULL;
    }
    if (st == ROCL_OK && k->empty)
        rocl_notice(k->trace, "%zu of %zu slices have no events: not written", k->empty,
                    k->slices.count);
    return st;
}

static void free_all(cutter *k)
{
    for (size_t i = 0; k->selections && i < k->trace->capture_count; i++) {
        for (size_t s = 0; k->selections[i] && s < k->slices.count; s++)
            merge_selection_free(&k->selections[i][s]);
        free(k->selections[i]);
    }
    for (size_t i = 0; k->done && i < k->done_count; i++)
        rocl_new_db_discard(k->done[i]);
    free(k->selections);
    free(k->done);
}

rocl_status merge_write_slices(rocl_trace *t, const rocl_rocpd_options *o,
                               rocl_rocpd_report *report, rocl_error *err)
{
    cutter k = {.trace = t, .options = o};
    rocl_status st = find_cuts(&k, err);
    if (st == ROCL_OK)
        st = select_all(&k, err);
    if (st == ROCL_OK)
        st = write_all(&k, report, err);
    if (st == ROCL_OK)
        st = commit_all(&k, err);
    free_all(&k);
    return st;
}
