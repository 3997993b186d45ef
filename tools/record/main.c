/* rocrec: runs a command and records it. */
#include "record/record.h"

#include "common/output.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

_Static_assert(offsetof(cli, common) == 0, "the shared tables count from the struct's begin");

enum { FORMAT_AUTO, FORMAT_ROCL, FORMAT_PFTRACE, FORMAT_JSON, FORMAT_CSV, FORMAT_ROCPD };

static const opt output_options[] = {
    COMMON_OUTPUT_FILE("the trace (default: trace.rocl); a name that ends in .pftrace, .json or "
                       ".db says its format"),
    {"format", 'f', OPT_CHOICE, offsetof(cli, format), "FORMAT", "auto|rocl|pftrace|json|csv|rocpd",
     0, 0, "format of the trace, whatever its name; of csv the name is the folder"},
    {"directory", 'd', OPT_STRING, offsetof(cli, folder), "DIR", NULL, 0, 0,
     "keep the files of the processes in this folder; without -o there is no other output"},
    {"compress", 'z', OPT_NUMBER, offsetof(cli, level), "LEVEL", NULL, 0, 9,
     "compress the trace with this level, 1 to 9 (default: 2); 0: not at all"},
    COMMON_END,
};

static const opt record_options[] = {
    {"use", 'u', OPT_WORDS, offsetof(cli, use), "LIST", NULL, 0, 0,
     "front ends: roctx, hip, hsa (default: all that are installed)"},
    {"policy", 0, OPT_CHOICE, offsetof(cli, policy), "NAME", "drop|block|ring", 0, 0,
     "what to do at the limit, or when the disk is full: count what is lost (drop, the default), "
     "wait for room (block), or give up the oldest events (ring)"},
    {"limit", 0, OPT_SIZE, offsetof(cli, limit), "SIZE", NULL, 0, 0,
     "room for each process (default: none; of ring: 64m)"},
    {"chunk-size", 0, OPT_SIZE, offsetof(cli, chunk), "SIZE", NULL, 0, 0,
     "largest chunks of a thread (default: 1m)"},
    {"monotonic", 0, OPT_FLAG, offsetof(cli, monotonic), NULL, NULL, 0, 0,
     "read times from the kernel also where the processor's counter could be used"},
    COMMON_END,
};

static const opt dump_options[] = {
    {"dump", 0, OPT_FLAG, offsetof(cli, dump), NULL, NULL, 0, 0,
     "run nothing: print the records of .rocl files"},
    COMMON_END,
};

static const opt run_options[] = {
    {"jobs", 'j', OPT_NUMBER, offsetof(common, jobs), "N", NULL, 0, 256,
     "worker threads for the output (default: one per core)"},
    {"quiet", 'q', OPT_SET, offsetof(common, level), NULL, NULL, MSG_QUIET, 0,
     "say nothing but errors"},
    {"verbose", 'v', OPT_SET, offsetof(common, level), NULL, NULL, MSG_VERBOSE, 0,
     "say what was recorded"},
    COMMON_END,
};

static const opt_group output_group = {"Output", output_options};
static const opt_group record_group = {"Recording", record_options};
static const opt_group dump_group = {"Reading", dump_options};
static const opt_group own_run_group = {"Run", run_options};
static const opt_group *const groups[] = {&output_group,  &record_group, &dump_group,
                                          &own_run_group, &other_group,  NULL};

static const program tool = {
    .name = "rocrec",
    .synopsis = "[OPTION]... [--] COMMAND [ARG]...",
    .purpose = "Run a command and record its ROCTx ranges, with those of all its processes.",
    .groups = groups,
    .examples = "  rocrec -- ./train --epochs 1\n"
                "  rocrec -o step.pftrace ./train --epochs 1\n"
                "  rocrec -o step.db ./train --epochs 1      # for ROCm's tools\n"
                "  rocrec --policy ring --limit 16m -- ./server\n"
                "  srun rocrec -d run.d -- ./solver && rocstats run.d\n"
                "  rocrec --dump trace.rocl | less\n",
    .operands = offsetof(common, inputs),
    .alone = true,
    .command = true,
};

/* ---- files of processes ---------------------------------------------------------------------- */

/* How many .rocl files there are in the folder; each is removed where it is ours. */
static size_t look_at_files(const cli *c, bool remove)
{
    char path[8192];
    size_t n = 0;
    DIR *d = c->folder ? opendir(c->folder) : NULL;
    for (struct dirent *e; d && (e = readdir(d));) {
        if (!ends_with(e->d_name, ".rocl"))
            continue;
        n++;
        snprintf(path, sizeof path, "%s/%s", c->folder, e->d_name);
        if (remove)
            unlink(path);
    }
    if (d)
        closedir(d);
    return n;
}

static void remove_folder(const cli *c)
{
    if (!c->folder || c->folder != c->made)
        return;
    look_at_files(c, true);
    rmdir(c->made);
}

/* The folder of the user, or one beside the output: on the same disk, which has to have the room.
 */
static int make_folder(cli *c)
{
    if (c->folder)
        return output_make_folder(c->folder) == ROCL_OK ? -1 : ROCL_OUTPUT;
    int n = snprintf(c->made, sizeof c->made, "%s.XXXXXX", c->common.output_file);
    if (n < 0 || (size_t)n >= sizeof c->made) {
        *c->made = '\0';
        return usage_error("the name of the output is too long");
    }
    if (!mkdtemp(c->made)) {
        *c->made = '\0';
        msg_error("%s: cannot make a folder beside it: %s", c->common.output_file, strerror(errno));
        return ROCL_OUTPUT;
    }
    c->folder = c->made;
    return -1;
}

static bool is_same_folder(const char *a, const char *b)
{
    struct stat x, y;
    return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* What would fail when the command has run. A trace in the folder would be read as one of its
 * files, now or the next time. */
static int check_output(const cli *c)
{
    struct stat s;
    const char *name = c->common.output_file;
    if (!name || c->format == FORMAT_CSV)
        return -1;
    if (stat(name, &s) == 0 && S_ISDIR(s.st_mode)) {
        msg_error("%s: is a folder", name);
        return ROCL_OUTPUT;
    }
    bool is_input = c->format == FORMAT_ROCL || c->format == FORMAT_ROCPD;
    char *copy = strdup(name), *slash = copy ? strrchr(copy, '/') : NULL;
    if (slash)
        slash[slash == copy] = '\0';
    bool inside = copy && is_input && is_same_folder(slash ? copy : ".", c->folder);
    free(copy);
    return inside ? usage_error("%s: the trace cannot be in the folder of the files, %s", name,
                                c->folder)
                  : -1;
}

/* ---- the output ------------------------------------------------------------------------------ */

static rocl_status write_rocl(rocl_trace *t, const cli *c, rocl_error *err)
{
    rocl_pack_report r = {0};
    const rocl_pack_options o = {.path = c->common.output_file, .level = c->level};
    rocl_status s = rocl_write_chunks(t, &o, &r, err);
    if (s <= ROCL_PARTIAL)
        msg_notice("%s: %" PRIu64 " events of %" PRIu64 " process%s, %" PRIu64 " dropped, %" PRIu64
                   " bytes",
                   o.path, r.events, r.processes, r.processes == 1 ? "" : "es", r.dropped, r.bytes);
    return s;
}

static rocl_status write_csv(rocl_trace *t, const cli *c, rocl_error *err)
{
    rocl_csv_options o = {.style = ROCL_CSV_ROCPD_1_0, .directory = c->common.output_file};
    size_t files = 0;
    o.prefix = "out";
    rocl_status s = output_make_folder(o.directory);
    if (s == ROCL_OK)
        s = rocl_write_csv(t, &o, &files, err);
    if (s <= ROCL_PARTIAL)
        msg_notice("%s: %zu file%s", o.directory, files, files == 1 ? "" : "s");
    return s;
}

static void say_events(rocl_trace *t, const cli *c)
{
    uint64_t events = 0;
    for (rocl_kind k = 0; k < ROCL_KINDS; k++)
        events += rocl_trace_events(t, k);
    msg_notice("%s: %" PRIu64 " events of %zu process%s, %" PRIu64 " dropped",
               c->common.output_file, events, rocl_trace_captures(t),
               rocl_trace_captures(t) == 1 ? "" : "es", rocl_trace_faults(t, ROCL_FAULT_DROPPED));
}

static rocl_status write_other(rocl_trace *t, const cli *c, rocl_error *err)
{
    rocl_status s;
    if (c->format == FORMAT_ROCPD) {
        const rocl_rocpd_options o = {.path = c->common.output_file};
        s = rocl_write_rocpd(t, &o, NULL, err);
    } else if (c->format == FORMAT_PFTRACE) {
        const rocl_pftrace_options o = {.path = c->common.output_file, .level = c->level};
        s = rocl_write_pftrace(t, &o, NULL, err);
    } else {
        const rocl_chrome_options o = {.path = c->common.output_file, .flows = true};
        s = rocl_write_chrome(t, &o, NULL, err);
    }
    if (s <= ROCL_PARTIAL)
        say_events(t, c);
    return s;
}

static rocl_status write_output(rocl_trace *t, void *ctx, rocl_error *err)
{
    const cli *c = ctx;
    if (c->format == FORMAT_ROCL)
        return write_rocl(t, c, err);
    return c->format == FORMAT_CSV ? write_csv(t, c, err) : write_other(t, c, err);
}

/* Of what the command has left behind. */
static int make_output(cli *c)
{
    size_t files = look_at_files(c, false);
    if (!files) {
        msg_notice(
            "nothing was recorded: no process used a library that is traced, or there was no "
            "room in %s",
            c->folder);
        return ROCL_OK;
    }
    if (!c->common.output_file) {
        msg_notice("%s: %zu file%s", c->folder, files, files == 1 ? "" : "s");
        return ROCL_OK;
    }
    c->common.inputs = (strings){0};
    strings_add(&c->common.inputs, c->folder);
    c->common.wanted = c->format == FORMAT_ROCL ? EVENTS_NONE : EVENTS_ALL;
    return common_run(&c->common, write_output, c);
}

static int record(cli *c)
{
    const char *libraries = library_folder();
    if (!libraries) {
        msg_error("the libraries that record are not installed beside this program");
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
        return code;
    }
    code = make_output(c);
    if (code <= ROCL_PARTIAL)
        remove_folder(c);
    else if (*c->made)
        msg_error("what was recorded is in %s", c->made);
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

static int check_front_ends(const cli *c)
{
    for (size_t i = 0; i < c->use.n; i++) {
        const front_end *f = front_ends;
        while (f->name && strcmp(f->name, c->use.v[i]) != 0)
            f++;
        if (!f->name)
            return usage_error("--use: there is no front end \"%s\"", c->use.v[i]);
    }
    return -1;
}

static int check(cli *c)
{
    common *m = &c->common;
    if (!m->inputs.n)
        return usage_error(c->dump ? "no input is given" : "no command is given");
    if (c->dump) {
        m->wanted = EVENTS_NONE;
        m->to_stdout = true;
        return -1;
    }
    if (!m->output_file && !c->folder)
        m->output_file = "trace.rocl";
    if (m->output_file && !strcmp(m->output_file, "-"))
        return usage_error("standard output is the command's");
    if (!c->format && m->output_file)
        c->format = ends_with(m->output_file, ".pftrace") ? FORMAT_PFTRACE
                    : ends_with(m->output_file, ".db")    ? FORMAT_ROCPD
                    : ends_with(m->output_file, ".json") || ends_with(m->output_file, ".json.gz")
                        ? FORMAT_JSON
                        : FORMAT_ROCL;
    return check_front_ends(c);
}

int main(int argc, char **argv)
{
    static cli c = {.level = 2};
    int code = common_parse(&tool, &c.common, argc, argv);
    if (code < 0)
        code = check(&c);
    if (code >= 0)
        return code;
    return c.dump ? common_run(&c.common, print_records, &c) : record(&c);
}
