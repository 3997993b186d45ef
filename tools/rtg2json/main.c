/* rtg2json: legacy text as the JSON of chrome://tracing. */
#include "common/common.h"
#include "common/progress.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct cli {
    common common;
    bool flows, gaps, kernel_names, by_process, workgroups, gzip;
    int gzip_level;
    FILE *say; /* where the lines of the script go; NULL: nowhere */
} cli;

_Static_assert(offsetof(cli, common) == 0, "the shared tables count from the struct's begin");

static const opt script_options[] = {
    {"flow", 'f', OPT_FLAG, offsetof(cli, flows), NULL, NULL, 0, 0,
     "arrows from host dispatches to the GPU"},
    {"gaps", 'g', OPT_FLAG, offsetof(cli, gaps), NULL, NULL, 0, 0,
     "add gap events of HCC devices"},
    {"kernel-launches", 'k', OPT_FLAG, offsetof(cli, kernel_names), NULL, NULL, 0, 0,
     "name launches by their kernel"},
    COMMON_OUTPUT_FILE("the JSON file (default: out.json); \"-\" is standard output"),
    {"by-process", 'p', OPT_FLAG, offsetof(cli, by_process), NULL, NULL, 0, 0,
     "group rows by process"},
    {"workgroups", 'w', OPT_FLAG, offsetof(cli, workgroups), NULL, NULL, 0, 0,
     "print the distinct work-group sizes"},
    {"gzip", 0, OPT_FLAG, offsetof(cli, gzip), NULL, NULL, 0, 0,
     "compress the output (a name that ends in .gz does so as well)"},
    COMMON_END,
};

static const opt_group script_group = {"Output", script_options};
static const opt_group *const groups[] = {&script_group, &run_group, &other_group, NULL};

static const program tool = {
    .name = "rtg2json",
    .synopsis = "[OPTION]... [FILE]...",
    .purpose = "Convert rtg_tracer text and HCC logs to the JSON of chrome://tracing.",
    .groups = groups,
    .examples = "  rtg2json rtg_trace.txt.4905\n",
    .operands = offsetof(cli, common.inputs),
};

static void say(void *ctx, const char *text, size_t len)
{
    const cli *c = ctx;
    if (!c->say)
        return;
    fwrite(text, 1, len, c->say);
    putc('\n', c->say);
}

static void on_notice(void *ctx, const char *text)
{
    (void)ctx;
    msg_notice("%s", text);
}

static const char *output(const cli *c)
{
    return c->common.output_file && *c->common.output_file ? c->common.output_file : "out.json";
}

/* The inputs that there are. */
static strings existing(const cli *c, bool *missing)
{
    strings s = {0};
    for (size_t i = 0; i < c->common.inputs.n; i++) {
        const char *path = c->common.inputs.v[i];
        struct stat st;
        if (strcmp(path, "-") != 0 && (stat(path, &st) != 0 || S_ISDIR(st.st_mode))) {
            if (c->say)
                fprintf(c->say, "Skipping '%s': not a file\n", path);
            *missing = true;
        } else if (strcmp(path, output(c)) != 0 || !strcmp(path, "-")) {
            strings_add(&s, path);
        }
    }
    return s;
}

static int convert(cli *c)
{
    bool missing = false;
    bool named = c->common.output_file && *c->common.output_file;
    c->common.to_stdout = !strcmp(output(c), "-");
    c->say = c->common.level == MSG_QUIET ? NULL : c->common.to_stdout ? stderr : stdout;
    if (c->say)
        fprintf(c->say, "Writing chrome://tracing output to '%s'%s\n", output(c),
                named ? "" : " (use -o to change name)");
    strings inputs = existing(c, &missing);
    const rocl_timeline_options o = {
        .path = output(c),
        .gzip = c->gzip,
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
        .notice = on_notice,
        .progress = c->common.level > MSG_QUIET && progress_wanted(c->common.to_stdout)
                        ? progress_update
                        : NULL,
        .ctx = c,
    };
    rocl_timeline_report r;
    rocl_error *err = rocl_error_new();
    rocl_status st = rocl_write_timeline(inputs.v, inputs.n, &o, &r, err);
    if (st > ROCL_PARTIAL)
        msg_error("%s", rocl_error_text(err));
    rocl_error_free(err);
    return (int)(st == ROCL_OK && missing ? ROCL_PARTIAL : st);
}

int main(int argc, char **argv)
{
    static cli c;
    int code;
    c.common.level = MSG_NORMAL;
    msg_init(tool.name);
    code = options_parse(&tool, &c, argc, argv);
    if (code >= 0)
        return code;
    msg_set_level(c.common.level);
    code = convert(&c);
    int flushed = finish_stdout();
    return code > 1 || flushed == 0 ? code : flushed;
}
