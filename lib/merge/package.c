/* A package: a folder with an index of databases, which are elsewhere or, each trimmed like a
 * merged one, beside it. */
#include <stdio.h>
#include <stdlib.h>

#include "base/json_put.h"
#include "base/out.h"
#include "merge/writer.h"

#define INDEX "index.yaml"

typedef struct packer {
    rocl_trace *trace;
    const rocl_package_options *options;
    rocl_rocpd_options each;
    merge_writer writer;
    const rocl_source *source; /* whose database is written */
    char **names;              /* of the files, as the index calls them; by source */
    rocl_rocpd_report report;
} packer;

static char *joined(const char *folder, const char *name)
{
    char *path = NULL;
    return asprintf(&path, "%s/%s", folder, name) < 0 ? NULL : path;
}

/* ---- names ---- */

static bool is_taken(const packer *k, size_t count, const char *name)
{
    if (!strcmp(name, INDEX))
        return true;
    for (size_t i = 0; i < count; i++)
        if (!strcmp(k->names[i], name))
            return true;
    return false;
}

/* The name of the input; files of several folders may be called alike. */
static char *name_in_folder(const packer *k, size_t source)
{
    const char *path = k->trace->sources[source]->path, *slash = strrchr(path, '/');
    const char *base = slash ? slash + 1 : path, *dot = strrchr(base, '.');
    int stem = dot ? (int)(dot - base) : (int)strlen(base);
    char *name = strdup(base);
    for (unsigned i = 2; name && is_taken(k, source, name); i++) {
        free(name);
        if (asprintf(&name, "%.*s-%u%s", stem, base, i, base + stem) < 0)
            name = NULL;
    }
    return name;
}

/* The way from a folder to a file, both without links. */
static char *relative(const char *folder, const char *file)
{
    rocl_buf from = {0}, way = {0};
    size_t same = 0;
    rocl_buf_str(&from, folder);
    if (from.len > 1)
        rocl_buf_byte(&from, '/');
    for (size_t i = 0; i < from.len && from.data[i] == (uint8_t)file[i]; i++)
        if (file[i] == '/')
            same = i + 1;
    for (size_t i = same; i < from.len; i++)
        if (from.data[i] == '/')
            rocl_buf_str(&way, "../");
    rocl_buf_put(&way, file + same, strlen(file + same) + 1);
    if (from.failed || way.failed)
        rocl_buf_free(&way);
    rocl_buf_free(&from);
    return (char *)way.data;
}

static char *name_elsewhere(const packer *k, size_t source)
{
    char *folder = realpath(k->options->folder, NULL);
    char *file = realpath(k->trace->sources[source]->path, NULL);
    char *name = folder && file ? relative(folder, file) : NULL;
    free(folder);
    free(file);
    return name;
}

static rocl_status name_files(packer *k, rocl_error *err)
{
    rocl_trace *t = k->trace;
    k->names = calloc(t->source_count + 1, sizeof *k->names);
    for (size_t i = 0; k->names && i < t->source_count; i++) {
        if (t->sources[i]->ops != &rocl_rocpd_ops)
            return rocl_fail(err, ROCL_INPUT, "%s: not a rocpd database: a package holds these",
                             t->sources[i]->path);
        k->names[i] = k->options->consolidate ? name_in_folder(k, i) : name_elsewhere(k, i);
        if (!k->names[i])
            return rocl_fail_memory(err);
    }
    return k->names ? ROCL_OK : rocl_fail_memory(err);
}

/* ---- databases ---- */

static rocl_status finish_file(packer *k, rocl_error *err)
{
    rocl_new_db *db = NULL;
    if (!k->source)
        return ROCL_OK;
    rocl_status st = merge_writer_close(&k->writer, &db, &k->report, err);
    k->source = NULL;
    return st ? st : rocl_new_db_commit(db, err);
}

static rocl_status begin_file(packer *k, const rocl_source *s, rocl_error *err)
{
    size_t i = 0;
    while (k->trace->sources[i] != s)
        i++;
    char *path = joined(k->options->folder, k->names[i]);
    rocl_status st = path ? merge_writer_open(&k->writer, k->trace, s, &k->each, path, err)
                          : rocl_fail_memory(err);
    free(path);
    k->source = s;
    return st;
}

static rocl_status add(void *ctx, const rocl_capture *c, merge_selection *selection,
                       rocl_error *err)
{
    packer *k = ctx;
    const rocl_source *s = k->trace->captures[c->index]->source;
    rocl_status st = ROCL_OK;
    if (s != k->source) {
        st = finish_file(k, err);
        if (st == ROCL_OK)
            st = begin_file(k, s, err);
    }
    return st ? st : merge_writer_add(&k->writer, c, selection, err);
}

static rocl_status write_files(packer *k, rocl_error *err)
{
    const merge_way whole = {.slices = {.count = 1}};
    rocl_status st = merge_select(k->trace, &whole, add, k, err);
    return st ? st : finish_file(k, err);
}

/* ---- the index ---- */

/* Double quotes take every name; JSON's escapes are YAML's. False: a name is no text. */
static bool put_index(const packer *k, rocl_buf *b)
{
    size_t bad = 0;
    rocl_buf_str(b, "rocprofiler-sdk:\n"
                    "  rocpd:\n"
                    "    rocpd_package_version: \"1.0\"\n"
                    "    path: \".\"\n"
                    "    files:\n");
    for (size_t i = 0; i < k->trace->source_count; i++) {
        const char *name = k->names[i] ? k->names[i] : "";
        rocl_buf_str(b, "    - \"");
        bad += rocl_json_put(b, name, strlen(name));
        rocl_buf_str(b, "\"\n");
    }
    return bad == 0;
}

static rocl_status write_index(packer *k, rocl_error *err)
{
    rocl_buf b = {0};
    rocl_out *out = NULL;
    char *path = joined(k->options->folder, INDEX);
    rocl_status st = ROCL_OK;
    if (!put_index(k, &b))
        st = rocl_fail(err, ROCL_INPUT, "an index cannot name a file that is not called in UTF-8");
    else
        st = path && !b.failed ? rocl_out_open(&out, path, err) : rocl_fail_memory(err);
    if (st == ROCL_OK)
        st = rocl_out_write(out, b.data, b.len, err);
    st = out ? rocl_out_end(out, st, err) : st;
    rocl_buf_free(&b);
    free(path);
    return st;
}

rocl_status rocl_write_package(rocl_trace *t, const rocl_package_options *o,
                               rocl_rocpd_report *report, rocl_error *err)
{
    packer k = {.trace = t, .options = o};
    k.each.keep_environment = o->keep_environment;
    rocl_status st = rocl_make_dirs(o->folder, err);
    if (st == ROCL_OK)
        st = name_files(&k, err);
    if (st == ROCL_OK && o->consolidate)
        st = write_files(&k, err);
    if (st == ROCL_OK)
        st = write_index(&k, err);
    merge_writer_free(&k.writer);
    for (size_t i = 0; k.names && i < t->source_count; i++)
        free(k.names[i]);
    free(k.names);
    if (report)
        *report = k.report;
    return st ? st : rocl_trace_verdict(t);
}
