/* A package: a folder with an index of databases, which are elsewhere or, each trimmed like a
 * merged one, beside it. What is new is written in a hidden folder. A new package gets its name
 * with one rename; one that is there gets the new files and then the index, which alone says what
 * belongs to it. In a team each rank writes the databases of its inputs there, as rank 0 has named
 * them. */
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "base/out.h"
#include "base/out_tree.h"
#include "merge/copier.h"
#include "model/identity.h"
#include "source/formats.h"
#include "source/inputs.h"
#include "trace/joint.h"
#include "trace/pipeline.h"

#define INDEX "index.yaml"

typedef struct packer {
    rocl_trace *trace;
    const rocl_package_options *options;
    rocl_rocpd_options each;
    merge_writer writer;
    const rocl_source *source; /* whose database is written */
    char **names;              /* of the files, as the index calls them; by source */
    bool *kept;                /* it is in the folder already; by source */
    bool *written;             /* some of it passes the filters; by source */
    char *real;                /* the folder without links; NULL: it is not there yet */
    rocl_trace *old;           /* databases of the package that are not inputs; NULL: none */
    char **old_names;          /* as the index calls them, by source; NULL: it is replaced */
    rocl_out_tree *tree;
    char *stage; /* the future folder, or files to be moved there */
    rocl_written report;
} packer;

static char *join_path(const char *folder, const char *name)
{
    return rocl_new_text("%s/%s", folder, name);
}

/* ---- names ---- */

static bool is_taken(const packer *k, size_t count, const char *name)
{
    if (!strcmp(name, INDEX))
        return true;
    for (size_t i = 0; i < count; i++)
        if (!strcmp(k->names[i], name))
            return true;
    for (size_t i = count; i < k->trace->source_count; i++)
        if (k->kept[i] && !strcmp(k->names[i], name))
            return true;
    for (size_t i = 0; k->old && i < k->old->source_count; i++)
        if (k->old_names[i] && !strcmp(k->old_names[i], name))
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
        name = rocl_new_text("%.*s-%u%s", stem, base, i, base + stem);
    }
    return name;
}

/* The path from the folder to a file; NULL, and errno, when memory is out, there is no folder, or
 * the file has no name. */
static char *name_elsewhere(const packer *k, const char *path)
{
    char *file = k->real ? realpath(path, NULL) : NULL;
    char *from = file ? join_path(k->real[1] ? k->real : "", "") : NULL;
    rocl_buf name = {0};
    size_t same = 0;
    for (size_t i = 0; from && from[i] && from[i] == file[i]; i++)
        if (file[i] == '/')
            same = i + 1;
    for (size_t i = same; from && from[i]; i++)
        if (from[i] == '/')
            rocl_buf_str(&name, "../");
    if (from)
        rocl_buf_put(&name, file + same, strlen(file + same) + 1);
    if (name.failed)
        rocl_buf_free(&name);
    free(from);
    free(file);
    return (char *)name.data;
}

/* Databases that are in the folder stay as they are, which leaves nothing to choose. */
static rocl_status name_files(packer *k, rocl_error *err)
{
    const rocl_trace *t = k->trace;
    for (size_t i = 0; i < t->source_count; i++) {
        const rocl_source *s = t->sources[i];
        if (!(s->format->flags & ROCL_FORMAT_TABLE_SETS))
            return rocl_fail(err, ROCL_INPUT,
                             "%s: not a rocpd database: a package can only contain these", s->path);
        if (s->joined && !k->options->consolidate)
            return rocl_fail(err, ROCL_USAGE,
                             "slices must be joined to a new database: add --consolidate");
        if (!k->real)
            continue;
        errno = 0;
        k->names[i] = name_elsewhere(k, s->path);
        const bool nameless = !k->names[i] && errno && errno != ENOMEM; /* standard input */
        if (nameless && k->options->consolidate)
            continue;
        if (nameless)
            return rocl_fail(err, ROCL_INPUT,
                             "%s: there is no file that an index could list: add --consolidate",
                             s->path);
        if (!k->names[i])
            return rocl_fail_memory(err);
        k->kept[i] = k->options->consolidate && strncmp(k->names[i], "../", 3) != 0;
        bool changed = t->filter || t->opt.align > ROCL_ALIGN_NONE;
        for (size_t c = 0; c < t->capture_count; c++)
            changed |= t->captures[c]->source == s && rocl_is_renamed(&t->captures[c]->pub);
        if (k->kept[i] && changed)
            return rocl_fail(err, ROCL_USAGE,
                             "%s is already in the package in full: choose another folder for a "
                             "part of it",
                             s->path);
    }
    for (size_t i = 0; i < t->source_count && k->options->consolidate; i++) {
        if (k->kept[i])
            continue;
        free(k->names[i]);
        k->names[i] = name_in_folder(k, i);
        if (!k->names[i])
            return rocl_fail_memory(err);
    }
    return ROCL_OK;
}

/* ---- what is in the package already ---- */

/* Opens what the package holds beside the inputs. */
static rocl_status open_old(packer *k, rocl_error *err)
{
    const rocl_options quiet = {.jobs = k->trace->opt.jobs, .reader = k->trace->opt.reader};
    const char *folder = k->options->folder;
    char *index = join_path(folder, INDEX);
    rocl_inputs in = {0};
    size_t n = 0;
    if (!index)
        return rocl_fail_memory(err);
    bool is_package = access(index, F_OK) == 0;
    free(index);
    rocl_status st = rocl_inputs_expand_databases(&in, &folder, 1, is_package ? err : NULL);
    for (size_t i = 0; i < in.count && st == ROCL_OK; i++) {
        struct stat a, b;
        bool input = false;
        const bool there = stat(in.paths[i], &a) == 0;
        for (size_t s = 0; there && s < k->trace->source_count && !input; s++)
            input = stat(k->trace->sources[s]->path, &b) == 0 && a.st_dev == b.st_dev &&
                    a.st_ino == b.st_ino;
        if (input)
            free(in.paths[i]);
        else
            in.paths[n++] = in.paths[i];
    }
    if (st == ROCL_OK) {
        in.count = n;
        if (n)
            st = rocl_trace_open(&k->old, (const char *const *)in.paths, n, &quiet, err);
    } else if (st == ROCL_INPUT && !is_package) {
        st = ROCL_OK; /* nothing is there */
    }
    rocl_inputs_free(&in);
    if (st != ROCL_OK || !k->old)
        return st;
    k->old_names = calloc(k->old->source_count + 1, sizeof *k->old_names);
    for (size_t i = 0; k->old_names && i < k->old->source_count; i++)
        if (!(k->old_names[i] = name_elsewhere(k, k->old->sources[i]->path)))
            return rocl_fail_memory(err);
    return k->old_names ? ROCL_OK : rocl_fail_memory(err);
}

/* A process under the same name is a newer copy. Under another name it would be there twice.
 */
static rocl_status replace_old(packer *k, rocl_error *err)
{
    const rocl_trace *t = k->trace;
    for (size_t i = 0; k->old && i < k->old->capture_count; i++) {
        const rocl_model_capture *c = k->old->captures[i];
        const char *guid = rocl_str(k->old, c->pub.guid);
        size_t n = 0, s = 0;
        while (n < t->capture_count && strcmp(rocl_str(t, t->captures[n]->pub.guid), guid) != 0)
            n++;
        while (k->old->sources[s] != c->source)
            s++;
        if (!*guid || n == t->capture_count || !k->old_names[s])
            continue;
        const char *path = t->captures[n]->pub.path, *slash = strrchr(path, '/');
        if (!c->source->single || strcmp(slash ? slash + 1 : path, k->old_names[s]) != 0)
            return rocl_fail(err, ROCL_INPUT,
                             "%s: holds the same process (guid %s) as %s, which is in the package",
                             path, guid, c->pub.path);
        free(k->old_names[s]);
        k->old_names[s] = NULL;
    }
    return ROCL_OK;
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

static size_t source_index(const rocl_trace *t, const rocl_source *s)
{
    size_t i = 0;
    while (t->sources[i] != s)
        i++;
    return i;
}

static rocl_status add_to_file(void *ctx, const rocl_capture *c, merge_selection *selection,
                               rocl_error *err)
{
    packer *k = ctx;
    rocl_trace *t = k->trace;
    const rocl_source *s = t->captures[c->index]->source;
    const size_t i = source_index(t, s);
    rocl_status st = ROCL_OK;
    if (k->kept[i])
        return ROCL_OK;
    if (s != k->source) {
        st = finish_file(k, err);
        char *path = st == ROCL_OK ? join_path(k->stage, k->names[i]) : NULL;
        if (st == ROCL_OK)
            st = path ? merge_writer_open(&k->writer, t, s, &k->each, path, err)
                      : rocl_fail_memory(err);
        free(path);
        k->source = s;
        k->written[i] = true;
    }
    if (st == ROCL_OK)
        st = merge_writer_add(&k->writer, c, selection, err);
    bool last = st == ROCL_OK; /* its file gets nothing more */
    for (size_t n = c->index + (size_t)1; last && n < t->capture_count; n++)
        last = t->captures[n]->source != s || !rocl_trace_takes(t, &t->captures[n]->pub);
    return last ? finish_file(k, err) : st;
}

/* ---- the index ---- */

/* Double quotes take every name; JSON's escapes are YAML's. */
static rocl_status write_index(packer *k, rocl_error *err)
{
    rocl_buf b = {0};
    rocl_out *out = NULL;
    size_t bad = 0, old = k->old ? k->old->source_count : 0;
    rocl_buf_str(&b, "rocprofiler-sdk:\n"
                     "  rocpd:\n"
                     "    rocpd_package_version: \"1.0\"\n"
                     "    path: \".\"\n"
                     "    files:\n");
    for (size_t i = 0; i < old + k->trace->source_count; i++) {
        const char *name = i < old ? k->old_names[i] : k->names[i - old];
        bool left =
            i >= old && k->options->consolidate && !k->kept[i - old] && !k->written[i - old];
        if (!name || left)
            continue;
        rocl_buf_str(&b, "    - \"");
        bad += rocl_json_put(&b, name, strlen(name)); /* not UTF-8 */
        rocl_buf_str(&b, "\"\n");
    }
    char *path = join_path(k->stage, INDEX);
    rocl_status st = ROCL_OK;
    if (bad)
        st = rocl_fail(err, ROCL_INPUT, "an index cannot list a file whose name is not UTF-8");
    else
        st = path && !b.failed ? rocl_out_open(&out, path, err) : rocl_fail_memory(err);
    if (st == ROCL_OK)
        st = rocl_out_write(out, b.data, b.len, err);
    st = out ? rocl_out_end(out, st, err) : st;
    rocl_buf_free(&b);
    free(path);
    return st;
}

/* ---- the folder ---- */

/* In the folder, or at its future place. */
static rocl_status open_stage(packer *k, rocl_error *err)
{
    const char *folder = k->options->folder, *slash = strrchr(folder, '/');
    if (k->real) {
        rocl_status st = rocl_out_tree_open(&k->tree, folder, err);
        k->stage = st == ROCL_OK ? strdup(rocl_out_tree_path(k->tree)) : NULL;
        return st == ROCL_OK && !k->stage ? rocl_fail_memory(err) : st;
    }
    char *parent = slash ? strndup(folder, (size_t)(slash - folder) + 1) : strdup("");
    rocl_status st = parent ? ROCL_OK : rocl_fail_memory(err);
    if (st == ROCL_OK && *parent)
        st = rocl_make_dirs(parent, err);
    if (st == ROCL_OK)
        st = rocl_out_tree_open(&k->tree, parent, err);
    free(parent);
    if (st != ROCL_OK)
        return st;
    k->stage = join_path(rocl_out_tree_path(k->tree), slash ? slash + 1 : folder);
    if (!k->stage)
        return rocl_fail_memory(err);
    if (mkdir(k->stage, 0777) != 0)
        return rocl_fail(err, ROCL_OUTPUT, "%s: cannot create: %s", k->stage, strerror(errno));
    return ROCL_OK;
}

/* With the files, what lies beside older ones of their names goes: SQLite would apply such a log to
 * the new one. */
static rocl_status commit_files(packer *k, rocl_error *err)
{
    const char *folder = k->options->folder, *slash = strrchr(folder, '/');
    const size_t count = k->trace->source_count;
    char **names = calloc(count * ROCL_DB_FILES + 1, sizeof *names);
    rocl_out_tree *tree = k->tree;
    rocl_status st = names ? ROCL_OK : rocl_fail_memory(err);
    size_t n = 0;
    for (size_t i = 0; k->real && i < count && st == ROCL_OK; i++) {
        if (!k->written[i])
            continue;
        /* SQLite would write the older file's pages and its log on, of which the folder knows
         * nothing. */
        char *path = join_path(folder, k->names[i]);
        st = path ? rocl_new_db_refuse_open(path, err) : rocl_fail_memory(err);
        free(path);
        for (int f = 0; f < ROCL_DB_FILES && st == ROCL_OK; f++)
            if (!(names[n++] = rocl_new_text("%s%s", k->names[i], rocl_db_files[f])))
                st = rocl_fail_memory(err);
    }
    if (st == ROCL_OK && !(names[n++] = strdup(k->real ? INDEX : slash ? slash + 1 : folder)))
        st = rocl_fail_memory(err);
    if (st == ROCL_OK) {
        k->tree = NULL;
        st = rocl_out_tree_commit(tree, (const char *const *)names, n, err);
    }
    while (names && n > 0)
        free(names[--n]);
    free(names);
    return st;
}

/* ---- in a team ------------------------------------------------------------------------------- */

/* The others are told how the file of each capture is called; nothing: it is there already. */
static rocl_status name_for_all(packer *k, rocl_error *err)
{
    const rocl_trace *t = k->trace;
    rocl_buf b = {0};
    rocl_team_put_text(&b, k->stage, strlen(k->stage));
    for (size_t i = 0; i < t->capture_count; i++) {
        const size_t s = source_index(t, t->captures[i]->source);
        rocl_team_put_text(&b, k->names[s], k->kept[s] ? 0 : strlen(k->names[s]));
    }
    rocl_status st = b.failed ? rocl_fail_memory(err)
                              : rocl_joint_set_folder(t->joint, rocl_out_tree_path(k->tree), err);
    if (st == ROCL_OK)
        rocl_joint_set_request(t->joint, b.data, b.len);
    rocl_buf_free(&b);
    return st;
}

enum { FILES, BYTES, ROWS, CHANGED, COPIED, COPIED_ROWS, COUNTS };

static void put_counts(uint64_t counts[COUNTS], const rocl_written *r)
{
    counts[FILES] = r->files;
    counts[BYTES] = r->bytes;
    counts[ROWS] = r->rows;
    counts[CHANGED] = r->changed;
    counts[COPIED] = r->copied;
    counts[COPIED_ROWS] = r->copied_rows;
}

static rocl_status write_databases(packer *k, rocl_error *err)
{
    const merge_way whole = {.slices = {.count = 1}};
    const rocl_status st = merge_select(k->trace, &whole, add_to_file, k, err);
    return st ? st : finish_file(k, err);
}

/* On another rank: writes the databases of its inputs, and tells which captures have files. */
static rocl_status write_as_member(packer *k, rocl_error *err)
{
    const rocl_trace *t = k->trace;
    uint64_t counts[COUNTS];
    rocl_joint_sums sums = {.own = counts, .own_count = COUNTS};
    rocl_byte_reader answer;
    rocl_buf facts = {0};
    rocl_byte_reader r = rocl_joint_request(t->joint);
    k->stage = rocl_team_text(&r);
    for (size_t i = 0; i < t->capture_count && !r.bad; i++) {
        char *name = rocl_team_text(&r);
        if (!name)
            break;
        const rocl_source *of = t->captures[i]->source;
        const size_t s = of ? source_index(t, of) : 0;
        if (of)
            k->kept[s] = !*name;
        if (of && !k->names[s])
            k->names[s] = name;
        else
            free(name);
    }
    for (size_t i = 0; i < t->capture_count; i++)
        if (t->captures[i]->source && !k->names[source_index(t, t->captures[i]->source)])
            r.bad = true;
    rocl_status st = r.bad || !k->stage ? rocl_team_bad_message(err) : ROCL_OK;
    if (st == ROCL_OK)
        st = write_databases(k, err);
    for (size_t i = 0; i < t->capture_count && st == ROCL_OK; i++) {
        const rocl_source *s = t->captures[i]->source;
        if (s && k->written[source_index(t, s)])
            rocl_buf_varint(&facts, i);
    }
    put_counts(counts, &k->report);
    if (st == ROCL_OK)
        st = facts.failed ? rocl_fail_memory(err)
                          : rocl_joint_tell(t->joint, &sums, &facts, &answer, err);
    rocl_buf_free(&facts);
    return st ? st : rocl_joint_placed(t->joint, 0, err);
}

/* On rank 0: waits until the others have written all of theirs and let go of the folder. */
static rocl_status take_members(packer *k, rocl_error *err)
{
    const rocl_trace *t = k->trace;
    rocl_joint *joint = t->joint;
    const rocl_buf nothing = {0};
    uint64_t counts[COUNTS], bytes = 0;
    rocl_joint_sums sums = {.own = counts, .own_count = COUNTS};
    put_counts(counts, &k->report);
    rocl_status st = rocl_joint_gather(joint, &sums, err);
    for (unsigned rank = 1; rank < rocl_joint_size(joint) && st == ROCL_OK; rank++) {
        const rocl_buf *facts = rocl_joint_facts(joint, rank);
        rocl_byte_reader r = {facts->data, facts->data + facts->len, false};
        while (facts->len && r.p < r.end && !r.bad) {
            const uint64_t i = rocl_next_number(&r);
            r.bad |= i >= t->capture_count;
            if (!r.bad)
                k->written[source_index(t, t->captures[i]->source)] = true;
        }
        if (r.bad)
            st = rocl_team_bad_message(err);
        else if (rocl_joint_reads(joint, rank))
            st = rocl_joint_place(joint, rank, &nothing, err);
    }
    k->report = (rocl_written){.files = (size_t)counts[FILES],
                               .bytes = counts[BYTES],
                               .rows = counts[ROWS],
                               .changed = counts[CHANGED],
                               .copied = counts[COPIED],
                               .copied_rows = counts[COPIED_ROWS]};
    return st ? st : rocl_joint_wait_placed(joint, &bytes, err);
}

static rocl_status write_consolidated(packer *k, rocl_error *err)
{
    rocl_trace *t = k->trace;
    if (t->joint && !rocl_joint_leads(t->joint))
        return write_as_member(k, err);
    rocl_status st = k->real ? open_old(k, err) : ROCL_OK;
    if (st == ROCL_OK)
        st = replace_old(k, err);
    if (st == ROCL_OK)
        st = name_files(k, err);
    if (st == ROCL_OK && t->opt.team_inputs)
        st = rocl_joint_open(t, NULL, err);
    if (st == ROCL_OK)
        st = open_stage(k, err);
    if (st == ROCL_OK && t->joint)
        st = name_for_all(k, err);
    if (st == ROCL_OK)
        st = write_databases(k, err);
    if (st == ROCL_OK && t->joint)
        st = take_members(k, err);
    if (st == ROCL_OK)
        st = write_index(k, err);
    st = rocl_out_tree_explain(k->tree, st, err);
    if (st == ROCL_OK)
        st = commit_files(k, err);
    if (t->joint && st == ROCL_OK)
        rocl_joint_named(t->joint);
    else
        rocl_joint_end_all(t->joint);
    return st;
}

rocl_status rocl_write_package(rocl_trace *t, const rocl_package_options *o, rocl_written *report,
                               rocl_error *err)
{
    packer k = {.trace = t, .options = o};
    k.each.keep_environment = o->keep_environment;
    const size_t count = t->source_count;
    rocl_status st = o->consolidate ? ROCL_OK : rocl_make_dirs(o->folder, err);
    if (st == ROCL_OK) {
        k.real = realpath(o->folder, NULL);
        k.names = calloc(count + 1, sizeof *k.names);
        k.kept = calloc(count + 1, sizeof *k.kept);
        k.written = calloc(count + 1, sizeof *k.written);
        if (!k.names || !k.kept || !k.written || (!k.real && errno == ENOMEM))
            st = rocl_fail_memory(err);
    }
    if (st == ROCL_OK && o->consolidate) {
        st = write_consolidated(&k, err);
    } else if (st == ROCL_OK) {
        k.stage = strdup(o->folder);
        st = k.stage ? name_files(&k, err) : rocl_fail_memory(err);
        if (st == ROCL_OK)
            st = write_index(&k, err);
    }
    if (report)
        *report = k.report;
    merge_writer_free(&k.writer);
    rocl_out_tree_discard(k.tree);
    for (size_t i = 0; k.names && i < count; i++)
        free(k.names[i]);
    for (size_t i = 0; k.old_names && i < k.old->source_count; i++)
        free(k.old_names[i]);
    rocl_trace_close(k.old);
    free(k.names);
    free(k.kept);
    free(k.written);
    free(k.real);
    free(k.old_names);
    free(k.stage);
    return st ? rocl_sources_explain(t, st, err) : rocl_trace_outcome(t);
}
