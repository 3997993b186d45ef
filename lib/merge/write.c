/* A trace cut into slices of the time, each a database of its own. */
#include <ctype.h>
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/out_tree.h"
#include "base/text.h"
#include "filter/filter.h"
#include "merge/copier.h"
#include "model/identity.h"
#include "trace/remote.h"

enum { SLICES_MAX = 500 };

typedef struct cutter {
    rocl_trace *trace;
    const rocl_rocpd_options *options;
    merge_slices slices;
    merge_selection **selections; /* by capture, NULL: it has been left out */
    rocl_out_tree *tree;          /* where the files are until all are complete */
    char **names;                 /* files to be moved from there, or to be replaced */
    size_t name_count, name_cap;
    size_t done, empty; /* slices */
    size_t stale;       /* slices of an earlier cut of this name, that this one has no place for */
} cutter;

static rocl_status too_many(uint64_t count, rocl_error *err)
{
    rocl_fail(err, ROCL_USAGE, "%llu slices are too many: at most %d", (unsigned long long)count,
              SLICES_MAX);
    return ROCL_USAGE; /* said again, so that checkers know it is no ROCL_OK */
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

static bool is_empty(const cutter *k, size_t slice)
{
    for (size_t i = 0; i < k->trace->capture_count; i++)
        if (k->selections[i] && k->selections[i][slice].events)
            return false;
    return true;
}

/* ---- files ---- */

/* "merged.db" and 7 of 12 give "merged-07.db". */
static char *make_path(const cutter *k, size_t slice)
{
    const char *path = k->options->path, *dot = strrchr(path, '.');
    int digits = snprintf(NULL, 0, "%zu", k->slices.count);
    size_t stem = dot && !strchr(dot, '/') ? (size_t)(dot - path) : strlen(path);
    return rocl_new_text("%.*s-%0*zu%s", (int)stem, path, digits, slice + 1, path + stem);
}

static const char *file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* The name of a file, and those of what SQLite left beside a file that had this name: it would
 * apply these logs to the new one. */
static rocl_status add_file_names(cutter *k, const char *name, rocl_error *err)
{
    if (!ROCL_GROW(k->names, k->name_cap, k->name_count + ROCL_DB_FILES))
        return rocl_fail_memory(err);
    for (int i = 0; i < ROCL_DB_FILES; i++, k->name_count++)
        if (!(k->names[k->name_count] = rocl_new_text("%s%s", name, rocl_db_files[i])))
            return rocl_fail_memory(err);
    return ROCL_OK;
}

/* Writes a slice that is not empty. The folder is opened when there is something to write. */
static rocl_status write_slice(cutter *k, size_t slice, const char *path, rocl_written *report,
                               rocl_error *err)
{
    rocl_trace *t = k->trace;
    rocl_notice_fn *notice = t->opt.notice;
    char *hidden = NULL;
    rocl_status st = rocl_refuse_input(t, path, err);
    if (st == ROCL_OK)
        st = rocl_out_tree_check(path, err);
    if (st == ROCL_OK)
        st = rocl_new_db_refuse_open(path, err);
    if (st == ROCL_OK && !k->tree) {
        char *folder = strndup(path, (size_t)(file_name(path) - path));
        st = folder ? rocl_out_tree_open(&k->tree, folder, err) : rocl_fail_memory(err);
        free(folder);
    }
    if (st == ROCL_OK)
        st = add_file_names(k, file_name(path), err);
    if (st == ROCL_OK &&
        !(hidden = rocl_new_text("%s/%s", rocl_out_tree_path(k->tree), file_name(path))))
        st = rocl_fail_memory(err);
    if (k->done) /* what the first slice says holds for all */
        t->opt.notice = NULL;
    if (st == ROCL_OK) {
        merge_writer w = {0};
        rocl_new_db *db = NULL;
        snprintf(w.copier.slice, sizeof w.copier.slice, "%zu/%zu %" PRId64 " %" PRIu64, k->done + 1,
                 k->slices.count - k->empty, k->slices.from, k->slices.width);
        st = merge_writer_open(&w, t, NULL, k->options, hidden, err);
        for (size_t i = 0; i < t->capture_count && st == ROCL_OK; i++)
            if (k->selections[i])
                st = merge_writer_add(&w, &t->captures[i]->pub, &k->selections[i][slice], err);
        if (st == ROCL_OK)
            st = merge_writer_close(&w, &db, report, err);
        merge_writer_free(&w);
        if (st == ROCL_OK)
            st = rocl_new_db_commit(db, err);
        st = rocl_out_tree_explain(k->tree, st, err);
    }
    k->done += st == ROCL_OK;
    t->opt.notice = notice;
    free(hidden);
    return st;
}

/* ---- an earlier cut ---- */

/* Is it called like a slice, "merged-07.db"? */
static bool is_numbered(const char *name, const char *stem, size_t stem_len, const char *end)
{
    char *after;
    if (strncmp(name, stem, stem_len) != 0 || name[stem_len] != '-' ||
        !isdigit((unsigned char)name[stem_len + 1]))
        return false;
    return strtoul(name + stem_len + 1, &after, 10) > 0 && !strcmp(after, end);
}

/* Only what says of itself that it is a slice. */
static bool is_slice(const cutter *k, const char *path)
{
    rocl_db *db = NULL;
    rocpd_found found = {0};
    if (rocl_db_open(&db, &(rocl_db_options){.path = path, .reader = k->trace->opt.reader}, NULL) !=
        ROCL_OK)
        return false;
    bool slice = rocpd_find(&found, db, path, NULL) == ROCL_OK && found.slice;
    if (found.objects)
        rocpd_found_free(&found);
    rocl_db_close(db);
    return slice;
}

/* Slices of an earlier cut that this one has no place for go when the new ones get their names, and
 * come back if one cannot. */
static rocl_status find_stale(cutter *k, rocl_error *err)
{
    const char *path = k->options->path, *name = file_name(path), *dot = strrchr(name, '.');
    size_t stem = dot ? (size_t)(dot - name) : strlen(name);
    char *folder = strndup(path, (size_t)(name - path));
    DIR *d = folder ? opendir(*folder ? folder : ".") : NULL;
    rocl_status st = folder ? ROCL_OK : rocl_fail_memory(err);
    for (struct dirent *e; d && st == ROCL_OK && (e = readdir(d));) {
        if (!is_numbered(e->d_name, name, stem, name + stem))
            continue;
        char *other = rocl_new_text("%s%s", folder, e->d_name);
        if (!other) {
            st = rocl_fail_memory(err);
            break;
        }
        bool stays = false; /* this cut has it, too */
        for (size_t i = 0; i < k->slices.count && !stays; i++) {
            char *own = is_empty(k, i) ? NULL : make_path(k, i);
            stays = own && !strcmp(own, other);
            free(own);
        }
        if (!stays && is_slice(k, other)) {
            st = rocl_refuse_input(k->trace, other, err);
            if (st == ROCL_OK)
                st = rocl_new_db_refuse_open(other, err);
            if (st == ROCL_OK)
                st = add_file_names(k, e->d_name, err);
            k->stale += st == ROCL_OK;
        }
        free(other);
    }
    if (d)
        closedir(d);
    free(folder);
    return st;
}

static rocl_status write_slices(rocl_trace *t, const rocl_rocpd_options *o, rocl_written *report,
                                rocl_error *err)
{
    cutter k = {.trace = t, .options = o};
    int64_t first, last;
    bool any;
    if (o->slices > SLICES_MAX)
        return too_many(o->slices, err);
    if (o->slice_ns < 0)
        return rocl_fail(err, ROCL_USAGE, "slices of %lld ns: they must be longer than 0",
                         (long long)o->slice_ns);
    rocl_status st = merge_select_bounds(t, &first, &last, &any, err);
    if (st != ROCL_OK)
        return st;
    uint64_t span = any ? (uint64_t)last - (uint64_t)first : 0; /* of starts */
    uint64_t width = o->slice_ns > 0 ? (uint64_t)o->slice_ns : span / o->slices + 1;
    uint64_t count = o->slice_ns > 0 ? span / width + 1 : o->slices;
    if (count > SLICES_MAX)
        return too_many(count, err);
    k.slices = (merge_slices){any ? first : 0, width, (size_t)count};
    const merge_way way = {.slices = k.slices, .rebuild = o->rebuild, .cut = true};
    if (st == ROCL_OK && !(k.selections = calloc(t->capture_count + 1, sizeof *k.selections)))
        st = rocl_fail_memory(err);
    if (st == ROCL_OK)
        st = merge_select(t, &way, keep_selections, &k, err);
    if (st == ROCL_OK)
        st = find_stale(&k, err);
    for (size_t i = 0; i < k.slices.count && st == ROCL_OK; i++)
        k.empty += is_empty(&k, i);
    for (size_t i = 0; i < k.slices.count && st == ROCL_OK; i++) {
        if (is_empty(&k, i))
            continue;
        char *path = make_path(&k, i);
        st = path ? write_slice(&k, i, path, report, err) : rocl_fail_memory(err);
        free(path);
    }
    if (st == ROCL_OK && k.tree) {
        st = rocl_out_tree_commit(k.tree, (const char *const *)k.names, k.name_count, err);
        k.tree = NULL;
    }
    if (st == ROCL_OK && k.stale)
        rocl_notice(t, "%zu slice%s of an earlier run removed", k.stale, k.stale == 1 ? "" : "s");
    if (st == ROCL_OK && k.empty)
        rocl_notice(t, "%zu of %zu slices have no events: not written", k.empty, k.slices.count);
    for (size_t i = 0; k.selections && i < t->capture_count; i++) {
        for (size_t s = 0; k.selections[i] && s < k.slices.count; s++)
            merge_selection_free(&k.selections[i][s]);
        free(k.selections[i]);
    }
    for (size_t i = 0; i < k.name_count; i++)
        free(k.names[i]);
    rocl_out_tree_discard(k.tree);
    free(k.selections);
    free(k.names);
    return st;
}

/* ---- one database of many, or the trace cut ------------------------------------------------ */

static rocl_status add_selected_capture(void *ctx, const rocl_capture *c, merge_selection *s,
                                        rocl_error *err)
{
    return merge_writer_add(ctx, c, s, err);
}

/* Readers know one node of a set: the GPUs of all of them would be taken for those of the first. */
static void warn_of_joined_nodes(rocl_trace *t)
{
    const uint32_t none = (uint32_t)t->machine_count;
    uint32_t first = none, latest = none;
    size_t nodes = 0;
    for (size_t i = 0; i < t->capture_count; i++) {
        const rocl_capture *c = &t->captures[i]->pub;
        if (c->machine == latest || !rocl_filter_takes_capture(t->filter, c))
            continue;
        latest = c->machine;
        first = first == none ? latest : first;
        nodes++;
    }
    if (nodes > 1)
        rocl_notice(t,
                    "processes of %zu nodes are in one set of tables: readers take them, and their "
                    "GPUs, to be of %s; merge each node by itself, or without --flat",
                    nodes, rocl_machine_name(t, first));
}

rocl_status rocl_write_rocpd(rocl_trace *t, const rocl_rocpd_options *o, rocl_written *report,
                             rocl_error *err)
{
    rocl_written own = {0};
    rocl_status st = ROCL_OK;
    /* This is the one writer, and it copies files. */
    for (size_t i = 0; i < t->capture_count && st == ROCL_OK; i++)
        if (rocl_is_remote(t->captures[i]->source))
            st = rocl_refuse_remote(t->captures[i]->source, err);
    if (st == ROCL_OK && o->flat)
        warn_of_joined_nodes(t);
    if (st == ROCL_OK && (o->slices || o->slice_ns)) {
        st = write_slices(t, o, &own, err);
    } else if (st == ROCL_OK) {
        const merge_way way = {.slices = {.count = 1}, .rebuild = o->rebuild};
        merge_writer w = {0};
        rocl_new_db *db = NULL;
        st = merge_writer_open(&w, t, NULL, o, o->path, err);
        if (st == ROCL_OK)
            st = merge_select(t, &way, add_selected_capture, &w, err);
        if (st == ROCL_OK)
            st = merge_writer_close(&w, &db, &own, err);
        merge_writer_free(&w);
        if (st == ROCL_OK)
            st = rocl_new_db_commit(db, err);
    }
    if (report)
        *report = own;
    return st            ? rocl_sources_explain(t, st, err)
           : own.changed ? ROCL_PARTIAL
                         : rocl_trace_outcome(t);
}
