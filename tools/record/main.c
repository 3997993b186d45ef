/* rocrec: runs a command and records it. */
#include "record/record.h"

#include "common/output.h"
#include "common/programs.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <string.h>

_Static_assert(offsetof(cli, common) == 0, "the shared tables count from the struct's begin");

static const opt output_options[] = {
    COMMON_OUTPUT_FILE("the trace (default: trace.rocl); the ending .pftrace, .json, .otf2 or .db "
                       "of a name selects the format"),
    {"format", 'f', OPT_CHOICE, offsetof(cli, format), "FORMAT",
     "auto|rocl|pftrace|json|csv|rocpd|otf2", 0, 0,
     "format of the trace, whatever its name; with csv the name is that of a folder"},
    {"directory", 'd', OPT_STRING, offsetof(cli, folder), "DIR", NULL, 0, 0,
     "keep the files of the processes in this folder; without -o there is no other output"},
    COMPRESS_OPTION(offsetof(cli, level),
                    "compress the trace at this level: fast, small, or 1 to 9; 0 turns compression "
                    "off (default: 2 for rocl, 1 for pftrace, off for json and csv); not for rocpd "
                    "and otf2"),
    {"csv-safe", 0, OPT_FLAG, offsetof(common, csv_safe), NULL, NULL, 0, 0,
     "in CSV, write a ' before names that spreadsheets would take for formulas"},
    COMMON_END,
};

static const opt record_options[] = {
    {"use", 'u', OPT_WORDS, offsetof(cli, use), "LIST", NULL, 0, 0,
     "front ends: roctx, hip, hsa (default: all that are installed)"},
    {"hsa-calls", 0, OPT_MAYBE, offsetof(cli, hsa_calls), "[=FILTER]", NULL, 0, 0,
     "record HSA calls: all, or those whose names contain one of these words, separated by commas"},
    {"args", 0, OPT_FLAG, offsetof(common, args), NULL, NULL, 0, 0,
     "also record the arguments of HIP calls, and write those of all calls to the trace"},
    {"sample", 0, OPT_MAYBE, offsetof(cli, sample), "[=HZ]", NULL, 0, 0,
     "also sample, this many times a second (default: 10), memory, page faults and CPU time of the "
     "processes, frequency of the cores, and power, clocks, temperatures, memory and load of AMD "
     "GPUs"},
    {"sample-sysfs", 0, OPT_STRING, offsetof(cli, sysfs), "DIR", NULL, 0, 0,
     "with --sample: read GPUs and cores from this folder instead of /sys"},
    {"policy", 0, OPT_CHOICE, offsetof(cli, policy), "NAME", "drop|block|ring", 0, 0,
     "at the limit, or when the disk is full: drop events and count them (drop, the default), wait "
     "for space on the disk (block), or overwrite the oldest events (ring)"},
    {"limit", 0, OPT_SIZE, offsetof(cli, limit), "SIZE", NULL, 0, 0,
     "maximum size of the file of each process (default: no limit; for ring: 64m)"},
    {"chunk-size", 0, OPT_SIZE, offsetof(cli, chunk), "SIZE", NULL, 0, 0,
     "maximum size of the chunks of a thread (default: 1m)"},
    {"monotonic", 0, OPT_FLAG, offsetof(cli, monotonic), NULL, NULL, 0, 0,
     "always read times from the kernel, even if the processor's counter could be used"},
    COMMON_END,
};

static const opt dump_options[] = {
    {"dump", 0, OPT_FLAG, offsetof(cli, dump), NULL, NULL, 0, 0,
     "do not run a command: print the records of .rocl files"},
    COMMON_END,
};

static const opt run_options[] = {
    {"jobs", 'j', OPT_NUMBER, offsetof(common, jobs), "N", NULL, 0, 256,
     "number of worker threads for the output (default: one per core)"},
    {"no-sync", 0, OPT_FLAG, offsetof(common, no_sync), NULL, NULL, 0, 0,
     "do not wait for the disk: a loss of power may then damage traces that are complete"},
    {"quiet", 'q', OPT_SET, offsetof(common, level), NULL, NULL, MSG_QUIET, 0, "print errors only"},
    {"verbose", 'v', OPT_SET, offsetof(common, level), NULL, NULL, MSG_VERBOSE, 0,
     "print how much was recorded"},
    COMMON_END,
};

static const opt_group output_group = {"Output", output_options};
static const opt_group record_group = {"Recording", record_options};
static const opt_group dump_group = {"Reading", dump_options};
static const opt_group own_run_group = {"Run", run_options};
static const opt_group *const groups[] = {&output_group,  &record_group, &dump_group,
                                          &own_run_group, &other_group,  NULL};

static const char *front_end_word(const void *ctx, size_t i)
{
    (void)ctx;
    return front_ends[i].name;
}

static const opt_words words[] = {{"use", front_end_word}, {NULL, NULL}};

/* ---- recording ------------------------------------------------------------------------------- */

/* Makes the output from what the command has left behind. */
static int make_output(cli *c)
{
    strings own = {0};
    size_t count = 0;
    const int rc = c->common.output_file ? count_files(c, &count) : list_own_files(c, &own);
    if (rc >= 0)
        return rc;
    if (!count && !own.n) {
        const char *name = c->command.v[0], *why = why_not_loaded(name);
        if (why)
            msg_notice("nothing was recorded: %s %s", name, why);
        else
            msg_notice("nothing was recorded: no process used a traced library, or there was no "
                       "space in %s, or no permission to write there",
                       c->folder);
        if (c->common.output_file && access(c->common.output_file, F_OK) == 0)
            msg_notice("%s: it is the file of before", c->common.output_file);
        return ROCL_OK;
    }
    if (!c->common.output_file) {
        rocl_error *err = must_have(rocl_error_new());
        const rocl_status st = rocl_sync_outputs_in(c->folder, err);
        if (st != ROCL_OK)
            msg_error("%s", rocl_error_text(err));
        rocl_error_free(err);
        if (st != ROCL_OK)
            return (int)st;
        c->common.inputs = own;
        c->common.wanted = EVENTS_NONE;
        return c->common.level > MSG_QUIET ? common_run(&c->common, say_recorded, c) : ROCL_OK;
    }
    c->common.inputs = (strings){0};
    strings_add(&c->common.inputs, c->folder);
    c->common.wanted = c->format == FORMAT_ROCL ? EVENTS_NONE : EVENTS_ALL;
    return common_run(&c->common, write_output, c);
}

static int record_command(cli *c)
{
    const char *libraries = library_folder();
    if (!libraries) {
        msg_error("the recording libraries are not installed with this program");
        return ROCL_INTERNAL;
    }
    if (strpbrk(libraries, " :")) {
        msg_error("%s: a name with a space or a colon cannot be in LD_PRELOAD", libraries);
        return ROCL_INTERNAL;
    }
    int code = make_folder(c);
    c->command = c->common.inputs;
    if (code < 0)
        code = check_output(c);
    if (code < 0)
        code = run_command(c, libraries);
    if (code >= 0) {
        remove_folder(c);
        rocl_remove_empty_dirs();
        return code;
    }
    code = make_output(c);
    if (code <= ROCL_PARTIAL) {
        remove_folder(c);
    } else {
        keep_folder(c);
        rocl_remove_empty_dirs();
    }
    int passed = pass_on(c->status);
    return passed ? passed : code > ROCL_PARTIAL ? code : 0;
}

/* ---- reading --------------------------------------------------------------------------------- */

static bool print_line(void *ctx, const char *text, size_t len)
{
    (void)ctx;
    return fwrite(text, 1, len, stdout) == len && putchar('\n') != EOF;
}

static rocl_status print_records(rocl_trace *t, void *ctx, rocl_error *err)
{
    rocl_status s = rocl_dump_chunks(t, print_line, ctx, err);
    return s <= ROCL_PARTIAL && finish_stdout() != ROCL_OK ? ROCL_OUTPUT : s;
}

/* ---- the command line ------------------------------------------------------------------------ */

/* A front end that the command line asks for has to be there: the run may take days. */
static int need_front_end(const cli *c, const char *option, const char *name)
{
    const front_end *f = find_front_end(name);
    const char *libraries = library_folder();
    if (!f) {
        const char *near = rocl_nearest_word(name, strlen(name), front_end_word, NULL);
        return usage_error("%s: there is no front end \"%s\"%s%s%s", option, name,
                           near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
    }
    if (libraries && !has_front_end(f, libraries))
        return usage_error("%s: this build has no front end \"%s\": the headers of ROCm were not "
                           "installed when it was built",
                           option, name);
    for (size_t i = 0; i < c->use.n; i++)
        if (!strcmp(c->use.v[i], name))
            return -1;
    return c->use.n ? usage_error("%s: --use leaves out the front end \"%s\"", option, name) : -1;
}

static int check_sampling(const cli *c)
{
    char *end;
    const double hz = c->sample && *c->sample ? strtod(c->sample, &end) : 10;
    if (c->sysfs && !c->sample)
        return usage_error("--sample-sysfs is only for --sample");
    if (c->sample && *c->sample && (*end || !(hz >= 0.01 && hz <= 1000)))
        return usage_error("--sample: \"%s\" is not a number from 0.01 to 1000", c->sample);
    return -1;
}

/* What is printed is neither a trace nor a recording. */
static int check_dump(const cli *c)
{
    const opt *const tables[] = {output_options, record_options};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        for (const opt *o = tables[i]; o->kind != OPT_END; o++)
            if (options_given(o))
                return usage_error("--%s is not for --dump, which prints to standard output",
                                   o->name);
    return c->common.inputs.n ? -1 : usage_error("no input is given");
}

static int check_options(cli *c)
{
    common *m = &c->common;
    if (c->dump) {
        const int code = check_dump(c);
        if (code >= 0)
            return code;
        m->wanted = EVENTS_NONE;
        m->to_stdout = true;
        return -1;
    }
    if (!m->inputs.n)
        return usage_error("no command is given");
    if (__BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__) /* records are mapped into files as they are */
        return usage_error("rocrec does not record on big-endian machines");
    int code = output_fill_name(m, &m->inputs, "--output-file", &m->output_file);
    if (code < 0)
        code = output_fill_name(m, &m->inputs, "--directory", &c->folder);
    if (code >= 0)
        return code;
    if (!m->output_file && !c->folder)
        m->output_file = "trace.rocl";
    if (m->output_file && !strcmp(m->output_file, "-"))
        return usage_error("standard output belongs to the command");
    code = choose_format(c);
    for (size_t i = 0; i < c->use.n && code < 0; i++)
        code = need_front_end(c, "--use", c->use.v[i]);
    if (code < 0 && c->hsa_calls)
        code = need_front_end(c, "--hsa-calls", "hsa");
    if (code < 0 && m->args)
        code = need_front_end(c, "--args", "hip");
    return code < 0 ? check_sampling(c) : code;
}

static int run_rocrec(const program *p, int argc, char **argv)
{
    static cli c = {.level = -1};
    int code = common_parse(p, &c.common, argc, argv);
    if (code < 0)
        code = check_options(&c);
    if (code >= 0)
        return code;
    return c.dump ? common_run(&c.common, print_records, &c) : record_command(&c);
}

const program rocrec_program = {
    .name = "rocrec",
    .tool = "rocrec",
    .run = run_rocrec,
    .synopsis = "[OPTION]... [--] COMMAND [ARG]...",
    .purpose =
        "Run a command and record it and all processes that it starts: ROCTx, HIP, HSA, GPU work.",
    .groups = groups,
    .examples = "  rocrec -- ./train --epochs 1\n"
                "  rocrec -o step.pftrace ./train --epochs 1\n"
                "  rocrec -o step.db ./train --epochs 1      # for ROCm's tools\n"
                "  rocrec --policy ring --limit 16m -- ./server\n"
                "  rocrec --sample -- ./train && rocstats counters trace.rocl\n"
                "  srun rocrec -d run.d -- ./solver && rocstats run.d\n"
                "  rocrec --dump trace.rocl | less\n",
    .operands = offsetof(common, inputs),
    .alone = true,
    .command = true,
    .words = words,
};
