/* The files of a run: opened when there is a first row for them, named when all is written. */
#include "sink/csv.h"

#include "base/array.h"
#include "base/error.h"
#include "base/out.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct rocl_csv_out {
    rocl_csv_file_id file;
    int64_t pid; /* 0 where processes share a file */
    rocl_out *out;
};

rocl_csv_file_id rocl_csv_out_file(const rocl_csv_out *o)
{
    return o->file;
}

rocl_status rocl_csv_out_write(rocl_csv_out *o, const rocl_buf *b, rocl_error *err)
{
    return rocl_out_write(o->out, b->data, b->len, err);
}

/* "<directory>/<prefix>_<name>.csv", rocprofv3 "<directory>/<prefix>_<pid>_<name>.csv". */
static char *make_path(const rocl_csv_options *o, rocl_csv_file_id file, int64_t pid)
{
    const char *directory = o->directory && *o->directory ? o->directory : ".";
    const char *prefix = o->prefix ? o->prefix : "";
    char name[64], process[32] = "", *path = NULL;
    if (o->to_stdout)
        return strdup("-");
    rocl_csv_file_name(name, sizeof name, file, o->style);
    if (o->style == ROCL_CSV_ROCPROFV3)
        snprintf(process, sizeof process, "%lld_", (long long)pid);
    if (asprintf(&path, "%s/%s%s%s%s.csv%s", directory, prefix, *prefix ? "_" : "", process, name,
                 o->gzip ? ".gz" : "") < 0)
        return NULL;
    return path;
}

static rocl_status open_file(rocl_csv_outs *outs, rocl_csv_out *o, rocl_error *err)
{
    const rocl_csv_options *opt = outs->options;
    rocl_status st = ROCL_OK;
    if (!outs->directory && !opt->to_stdout && opt->directory && *opt->directory)
        st = rocl_make_dirs(opt->directory, err);
    if (st)
        return st;
    outs->directory = true;
    char *path = make_path(opt, o->file, o->pid);
    if (!path)
        return rocl_fail_memory(err);
    st = rocl_out_open(&o->out, path, err);
    free(path);
    return st;
}

/* With gzip the header is a member of its own: chunks need not know where they will stand. */
static rocl_status write_header(const rocl_csv_outs *outs, rocl_csv_out *o, rocl_error *err)
{
    const rocl_csv_options *opt = outs->options;
    rocl_buf text = {0}, packed = {0};
    rocl_status st = ROCL_OK;
    if (o->file == CSV_FILE_AGENT)
        rocl_csv_agent_header(&text, opt->style);
    else
        rocl_csv_put_header(&text, &outs->plans[o->file], opt->style);
    if (text.failed)
        st = rocl_fail_memory(err);
    if (st == ROCL_OK && opt->gzip)
        st = rocl_gzip_member(&packed, text.data, text.len, opt->level ? opt->level : 6, err);
    if (st == ROCL_OK)
        st = rocl_csv_out_write(o, opt->gzip ? &packed : &text, err);
    rocl_buf_free(&text);
    rocl_buf_free(&packed);
    return st;
}

static rocl_csv_out *find(const rocl_csv_outs *outs, rocl_csv_file_id file, int64_t pid)
{
    for (size_t i = outs->count; i-- > 0;) {
        if (outs->all[i]->file == file && outs->all[i]->pid == pid)
            return outs->all[i];
    }
    return NULL;
}

static rocl_csv_out *add(rocl_csv_outs *outs)
{
    if (!ROCL_GROW(outs->all, outs->cap, outs->count + 1))
        return NULL;
    rocl_csv_out *o = calloc(1, sizeof *o);
    if (o)
        outs->all[outs->count++] = o;
    return o;
}

rocl_status rocl_csv_outs_get(rocl_csv_outs *outs, rocl_csv_file_id file, int64_t pid,
                              rocl_csv_out **out, rocl_error *err)
{
    if (outs->options->style != ROCL_CSV_ROCPROFV3 || outs->options->to_stdout)
        pid = 0;
    *out = find(outs, file, pid);
    if (*out)
        return ROCL_OK;
    rocl_csv_out *o = add(outs);
    if (!o)
        return rocl_fail_memory(err);
    o->file = file;
    o->pid = pid;
    rocl_status st = open_file(outs, o, err);
    if (st == ROCL_OK)
        st = write_header(outs, o, err);
    *out = o;
    return st;
}

rocl_status rocl_csv_outs_commit(rocl_csv_outs *outs, rocl_error *err)
{
    rocl_status st = ROCL_OK;
    for (size_t i = 0; i < outs->count && st == ROCL_OK; i++) {
        rocl_out *o = outs->all[i]->out;
        outs->all[i]->out = NULL;
        st = rocl_out_commit(o, err);
    }
    return st;
}

void rocl_csv_outs_discard(rocl_csv_outs *outs)
{
    for (size_t i = 0; i < outs->count; i++) {
        rocl_out_discard(outs->all[i]->out);
        free(outs->all[i]);
    }
    free(outs->all);
    *outs = (rocl_csv_outs){.options = outs->options, .plans = outs->plans};
}
