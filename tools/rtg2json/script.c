/* In the place of rocm-timeline-generator.py: its messages, and its ways with names of files. */
#include "rtg2json/rtg2json.h"

#include "common/progress.h"

#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>

static void say(void *ctx, const char *text, size_t len)
{
    const cli *c = ctx;
    if (!c->say)
        return;
    fwrite(text, 1, len, c->say);
    putc('\n', c->say);
}

/* Sorts the inputs out. The script leaves its output out of them, so that `rtg2json *` can be
 * repeated; a trace of that name must not be lost that way. */
static int look_at_inputs(cli *c)
{
    for (size_t i = 0; i < c->common.inputs.n; i++) {
        const char *path = c->common.inputs.v[i];
        struct stat s;
        bool none = strcmp(path, "-") != 0 && (stat(path, &s) != 0 || S_ISDIR(s.st_mode));
        if (none && c->say)
            fprintf(c->say, "Skipping '%s': not a file\n", path);
        c->missing |= none;
        if (!none && !c->common.to_stdout && same_file(path, c->path)) {
            rocl_look look = rocl_input_look(path);
            if (look == ROCL_LOOKS_LEGACY || look == ROCL_LOOKS_HCC)
                return usage_error("%s is an input: name another output with -o", path);
            continue;
        }
        if (!none)
            strings_add(&c->inputs, path);
    }
    return -1;
}

static rocl_timeline_options timeline_options(cli *c)
{
    return (rocl_timeline_options){
        .path = c->path,
        .gzip = c->gzip,
        .level = c->gzip_level,
        .flows = c->flows,
        .gaps = c->gaps,
        .kernel_names = c->kernel_names,
        .by_process = c->by_process,
        .verbose = c->common.level == MSG_VERBOSE,
        .workgroups = c->workgroups,
        .jobs = c->common.jobs,
        .memory = c->common.memory,
        .tmpdir = c->common.tmpdir,
        .say = say,
        .progress = wanted_progress(&c->common),
        .notice = on_notice,
        .ctx = c,
    };
}

static void report(const rocl_timeline_report *r)
{
    if (r->left_out)
        msg_notice("%" PRIu64 " record%s left out", r->left_out, r->left_out == 1 ? "" : "s");
    if (r->repaired)
        msg_notice("%" PRIu64 " text%s not UTF-8: the bytes are shown as U+FFFD", r->repaired,
                   r->repaired == 1 ? " is" : "s are");
}

/* ---- with filters, through a trace
 * ---------------------------------------------------------------
 */

static rocl_status write_selected(rocl_trace *t, void *ctx, rocl_error *err)
{
    const rocl_timeline_options o = timeline_options(ctx);
    rocl_timeline_report r = {0};
    rocl_status s = rocl_write_timeline_of(t, &o, &r, err);
    if (s <= ROCL_PARTIAL)
        report(&r);
    return s;
}

/* ---- without: in one pass
 * ------------------------------------------------------------------------
 */

static int write_all(cli *c)
{
    const rocl_timeline_options o = timeline_options(c);
    rocl_timeline_report r = {0};
    rocl_error *err = rocl_error_new();
    signal(SIGPIPE, SIG_IGN);
    rocl_status s = rocl_write_timeline(c->inputs.v, c->inputs.n, &o, &r, err);
    progress_end();
    if (s <= ROCL_PARTIAL)
        report(&r);
    else if (!reader_is_gone(&c->common, err))
        msg_error("%s", rocl_error_text(err));
    rocl_error_free(err);
    return (int)s;
}

int convert_script(cli *c)
{
    bool named = c->common.output_file && *c->common.output_file;
    c->say = c->common.level == MSG_QUIET ? NULL : c->common.to_stdout ? stderr : stdout;
    if (c->say)
        fprintf(c->say, "Writing chrome://tracing output to '%s'%s\n", c->path,
                named ? "" : " (use -o to change name)");
    int code = look_at_inputs(c);
    if (code >= 0)
        return code;
    c->common.inputs = c->inputs;
    if (c->inputs.n && (common_filters(&c->common) || c->common.strict))
        code = common_run(&c->common, write_selected, c);
    else
        code = write_all(c);
    /* Whatever there was to convert is: but somebody expected more. */
    if (code == ROCL_OK && c->missing)
        code = c->inputs.n ? ROCL_PARTIAL : ROCL_INPUT;
    int flushed = c->common.to_stdout ? ROCL_OK : finish_stdout();
    return code > ROCL_PARTIAL || flushed == ROCL_OK ? code : flushed;
}
