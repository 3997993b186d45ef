/* In the place of rocm-timeline-generator.py: its messages, and its ways with names of files. */
#include "rtg2json/rtg2json.h"

#include "common/output.h"
#include "common/progress.h"
#include "common/signals.h"

#include <errno.h>
#include <glob.h>
#include <inttypes.h>
#include <string.h>

static void print_line(void *ctx, const char *text, size_t len)
{
    const cli *c = ctx;
    if (!c->say)
        return;
    progress_end();
    fwrite(text, 1, len, c->say);
    putc('\n', c->say);
}

/* A first look at an input; what fails is told. */
int input_look(const char *path, rocl_look *look)
{
    rocl_error *err = must_have(rocl_error_new());
    rocl_status st = rocl_input_look(path, look, err);
    if (st != ROCL_OK)
        msg_error("%s", rocl_error_text(err));
    rocl_error_free(err);
    return st == ROCL_OK ? -1 : (int)st;
}

/* An output of an earlier run: JSON, perhaps compressed. */
static int is_old_output(const char *path, bool *old)
{
    FILE *f = fopen(path, "rb");
    int first = f ? getc(f) : EOF;
    bool failed = !f || ferror(f);
    if (failed)
        msg_unread(path, errno);
    if (f)
        fclose(f);
    *old = first == '{' || first == 0x1f || first == EOF;
    return failed ? ROCL_INPUT : -1;
}

/* The script leaves its output out of the inputs, so that `rtg2json *` can be repeated; a trace of
 * that name must not be lost that way. */
static int add_input(cli *c, const char *path)
{
    rocl_look look;
    bool old = false;
    int code = input_look(path, &look);
    if (code >= 0)
        return code;
    if (look == ROCL_LOOKS_MISSING || look == ROCL_LOOKS_FOLDER) {
        if (c->say)
            fprintf(c->say, "Skipping '%s': not a file\n", path);
        c->missing = true;
        return -1;
    }
    if (look == ROCL_LOOKS_OTHER) {
        msg_error("%s: not text: the layout script cannot convert it", path);
        return ROCL_INPUT;
    }
    if (c->common.to_stdout || !same_file(path, c->path)) {
        strings_add(&c->inputs, path);
        return -1;
    }
    code = is_old_output(path, &old);
    return code >= 0 || old ? code : usage_error("%s is an input: name another output", path);
}

/* Names of files, or patterns of such. */
static int expand_inputs(cli *c)
{
    static glob_t found; /* its names stay in use */
    int code = -1;
    for (size_t i = 0; i < c->common.inputs.n && code < 0; i++) {
        const char *name = c->common.inputs.v[i];
        size_t before = found.gl_pathc;
        rocl_look look;
        code = input_look(name, &look);
        bool pattern = look == ROCL_LOOKS_MISSING && strpbrk(name, "*?[");
        int rc = pattern ? glob(name, before ? GLOB_APPEND : 0, NULL, &found) : GLOB_NOMATCH;
        if (rc != 0 && rc != GLOB_NOMATCH) {
            msg_error("%s: cannot search: %s", name, strerror(errno));
            code = rc == GLOB_NOSPACE ? ROCL_INTERNAL : ROCL_INPUT;
        }
        pattern = rc == 0;
        for (size_t k = before; pattern && k < found.gl_pathc && code < 0; k++)
            code = add_input(c, found.gl_pathv[k]);
        if (!pattern && code < 0)
            code = add_input(c, name);
    }
    if (code < 0 && c->missing && c->common.strict) {
        msg_error("an input is missing, and --strict was given");
        code = ROCL_INPUT;
    }
    return code;
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
        .say = print_line,
        .progress = progress_wanted(&c->common) ? progress_update : NULL,
        .notice = on_notice,
        .ctx = c,
    };
}

static void report_outcome(const cli *c, const rocl_written *r)
{
    if (!c->common.to_stdout)
        output_done(c->path);
    if (r->left_out)
        msg_notice("%" PRIu64 " record%s left out", r->left_out, r->left_out == 1 ? "" : "s");
    if (r->repaired)
        msg_notice("%" PRIu64 " text%s NUL or bytes that are not UTF-8: these become U+FFFD",
                   r->repaired, r->repaired == 1 ? " holds" : "s hold");
}

/* ---- with filters, through a trace ----------------------------------------------------------- */

static rocl_status write_selected(rocl_trace *t, void *ctx, rocl_error *err)
{
    const rocl_timeline_options o = timeline_options(ctx);
    rocl_written r = {0};
    rocl_status s = rocl_write_timeline_of(t, &o, &r, err);
    if (s <= ROCL_PARTIAL)
        report_outcome(ctx, &r);
    return s;
}

/* ---- without: in one pass -------------------------------------------------------------------- */

static int write_all(cli *c)
{
    const rocl_timeline_options o = timeline_options(c);
    rocl_written r = {0};
    rocl_error *err = must_have(rocl_error_new());
    signals_prepare();
    rocl_status s = rocl_write_timeline(c->common.inputs.v, c->common.inputs.n, &o, &r, err);
    progress_end();
    if (s <= ROCL_PARTIAL)
        report_outcome(c, &r);
    else if (!reader_is_gone(&c->common, err))
        msg_error("%s", rocl_error_text(err));
    rocl_error_free(err);
    return (int)s;
}

int convert_script(cli *c)
{
    bool named = c->common.output_file;
    c->say = c->common.level == MSG_QUIET ? NULL : c->common.to_stdout ? stderr : stdout;
    if (c->say)
        fprintf(c->say, "Writing chrome://tracing output to '%s'%s\n", c->path,
                named ? "" : " (use -o to change name)");
    int code = expand_inputs(c);
    if (code >= 0)
        return code;
    if (c->missing && !c->inputs.n) {
        msg_error("none of the inputs is a file: nothing is written");
        return ROCL_INPUT;
    }
    strings all = c->common.inputs;
    c->common.inputs = c->inputs;
    c->inputs = all;
    if (c->common.args || c->group_by_queue || c->common.kernel_names || c->common.kernel_rename ||
        c->common.agent_index)
        msg_notice(
            "--args, --group-by-queue and options for names have no effect in the layout script");
    if ((c->common.team && strcmp(c->common.team, "no") != 0) || c->common.local)
        msg_notice("--team and --local have no effect in the layout script");
    c->common.teams = false;
    if (c->common.inputs.n && (common_filters(&c->common) || c->common.strict))
        code = common_run(&c->common, write_selected, c);
    else
        code = write_all(c);
    /* Whatever there was to convert is: but somebody expected more. */
    if (code == ROCL_OK && c->missing)
        code = ROCL_PARTIAL;
    int flushed = c->common.to_stdout ? ROCL_OK : finish_stdout();
    return code > ROCL_PARTIAL || flushed == ROCL_OK ? code : flushed;
}
