/* The files of a run: opened when there is a first row for them, named when all is written. */
#include "sink/csv/csv.h"

#include "base/array.h"
#include "base/error.h"
#include "base/deflate.h"
#include "model/identity.h"
#include "trace/joint.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

/* ---- names ---- */

/* With several nodes, the folder of each has the name of its host, as in rocprofv3. */
static void make_node_folder(const rocl_csv_outs *outs, const rocl_capture *c, char *to,
                             size_t size)
{
    const char *name = rocl_machine_name(outs->trace, c->machine);
    to[0] = '\0';
    if (outs->trace->machine_count < 2 || !strcmp(name, "-") || *name == '.')
        return;
    int n = snprintf(to, size, "%.200s/", name);
    for (int i = 0; i + 1 < n; i++)
        if (to[i] == '/')
            to[i] = '_';
}

/* "4200_", and "4200-2_" of the next process with that pid on the node. */
static void make_process_prefix(const rocl_csv_outs *outs, const rocl_capture *c,
                                const rocl_process *p, char *to, size_t size)
{
    const rocl_trace *t = outs->trace;
    unsigned before = 0;
    for (size_t i = 0; p && i <= c->index; i++) {
        const rocl_capture *other = &t->captures[i]->pub;
        if (strcmp(rocl_machine_name(t, other->machine), rocl_machine_name(t, c->machine)) != 0)
            continue;
        for (uint32_t k = 0; k < other->process_count && &other->processes[k] != p; k++)
            before += other->processes[k].pid == p->pid;
    }
    if (before)
        snprintf(to, size, "%lld-%u_", (long long)p->pid, before + 1);
    else
        snprintf(to, size, "%lld_", p ? (long long)p->pid : 0);
}

/* Opens "<directory>/<prefix>_<name>.csv", of rocprofv3
 * "<directory>/[<host>/]<prefix>_<pid>_<name>.csv". The folder is made for each file anew: a run
 * that failed may have found it empty, and removed it. */
static rocl_status open_file(const rocl_csv_outs *outs, rocl_csv_out *out, const rocl_capture *c,
                             rocl_error *err)
{
    const rocl_csv_options *o = outs->options;
    const char *directory = o->directory && *o->directory ? o->directory : ".";
    const char *prefix = o->prefix ? o->prefix : "";
    char name[64], process[48] = "", node[256] = "", *path = NULL, *folder = NULL;
    if (o->path)
        return rocl_joint_out(outs->trace, &out->out, o->path, err);
    rocl_csv_file_name(name, sizeof name, out->file, o->style);
    if (o->style == ROCL_CSV_ROCPROFV3) {
        make_node_folder(outs, c, node, sizeof node);
        make_process_prefix(outs, c, out->process, process, sizeof process);
    }
    if (asprintf(&folder, "%s/%s", directory, node) < 0)
        return rocl_fail_memory(err);
    rocl_status st = rocl_joint_make_dirs(outs->trace, folder, err);
    if (st == ROCL_OK && asprintf(&path, "%s%s%s%s%s.csv%s", folder, prefix, *prefix ? "_" : "",
                                  process, name, o->gzip ? ".gz" : "") < 0) {
        path = NULL;
        st = rocl_fail_memory(err);
    }
    if (st == ROCL_OK)
        st = rocl_joint_out(outs->trace, &out->out, path, err);
    free(folder);
    free(path);
    return st;
}

/* ---- files ---- */

/* With gzip the header is a member of its own: blocks need not know where they will stand. */
static rocl_status write_header(const rocl_csv_outs *outs, rocl_csv_out *o, rocl_error *err)
{
    const rocl_csv_options *opt = outs->options;
    rocl_buf text = {0}, packed = {0};
    const rocl_buf *header = opt->gzip ? &packed : &text;
    rocl_status st = ROCL_OK;
    if (o->file == CSV_FILE_AGENT)
        rocl_csv_agent_header(&text, opt->style);
    else if (o->file == CSV_FILE_PROCESS)
        rocl_csv_process_header(&text);
    else
        rocl_csv_put_header(&text, &outs->plans[o->file], opt->style);
    if (text.failed)
        st = rocl_fail_memory(err);
    if (st == ROCL_OK && opt->gzip)
        st = rocl_gzip_member(&packed, text.data, text.len,
                              rocl_level_or(opt->level, ROCL_GZIP_LEVEL), err);
    if (st == ROCL_OK)
        st = rocl_joint_head(outs->trace, o->out, header->data, header->len, err);
    rocl_buf_free(&text);
    rocl_buf_free(&packed);
    return st;
}

rocl_status rocl_csv_outs_get(rocl_csv_outs *outs, rocl_csv_file_id file, const rocl_capture *c,
                              uint32_t process, rocl_csv_out **out, rocl_error *err)
{
    bool own = outs->options->style == ROCL_CSV_ROCPROFV3 && !outs->options->path;
    const rocl_process *p = own && process < c->process_count ? &c->processes[process] : NULL;
    for (size_t i = outs->count; i-- > 0;) {
        *out = outs->all[i];
        if ((*out)->file == file && (*out)->process == p)
            return ROCL_OK;
    }
    *out = NULL;
    if (!ROCL_GROW(outs->all, outs->cap, outs->count + 1) || !(*out = calloc(1, sizeof **out)))
        return rocl_fail_memory(err);
    outs->all[outs->count++] = *out;
    (*out)->file = file;
    (*out)->process = p;
    rocl_status st = open_file(outs, *out, c, err);
    return st ? st : write_header(outs, *out, err);
}

rocl_status rocl_csv_outs_rest(rocl_csv_outs *outs, rocl_error *err)
{
    struct rlimit limit;
    size_t most = 64; /* of the files that may be open: each takes two, the file and its folder */
    rocl_status st = ROCL_OK;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0)
        most = limit.rlim_cur < 4096 ? (size_t)limit.rlim_cur / 4 : 1024;
    for (; outs->rested < outs->count && st == ROCL_OK; outs->rested++) {
        const rocl_csv_out *o = outs->all[outs->rested];
        if (o->process)
            st = rocl_out_seal(o->out, outs->rested >= most, err);
    }
    return st;
}

rocl_status rocl_csv_outs_commit(rocl_csv_outs *outs, rocl_written *report, rocl_error *err)
{
    rocl_out **files = calloc(outs->count + 1, sizeof *files);
    if (!files)
        return rocl_fail_memory(err);
    for (size_t i = 0; i < outs->count; i++) {
        files[i] = outs->all[i]->out;
        outs->all[i]->out = NULL;
    }
    rocl_joint_sums sums = {0};
    rocl_status st = rocl_joint_commit(outs->trace, files, outs->count, &sums, err);
    free(files);
    *report = (rocl_written){.files = sums.files, .bytes = sums.bytes};
    return st;
}

void rocl_csv_outs_discard(rocl_csv_outs *outs)
{
    for (size_t i = 0; i < outs->count; i++) {
        rocl_out_discard(outs->all[i]->out);
        free(outs->all[i]);
    }
    free(outs->all);
    *outs = (rocl_csv_outs){.trace = outs->trace, .options = outs->options, .plans = outs->plans};
}
