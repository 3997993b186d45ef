/* Placeholders in the names of outputs: "%pid%", "{pid}", "%p", "%env{NAME}%" and the like. */
#include "common/output.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { VALUE = 200 }; /* bytes of a value: file names end at 255 */

/* The source of values: the first process of the trace if it has them, else this run. */
typedef struct origin {
    const common *options;
    bool looked, known; /* into the trace */
    char host[256], command[4096];
    int64_t pid, ppid, rank;
} origin;

/* The first of several variables that is set. */
static const char *first_variable(const char *const *names, const char *otherwise)
{
    for (; *names; names++)
        if (*get_variable(*names, ""))
            return getenv(*names);
    return otherwise;
}

/* Variables of launchers, then those that rocprofv3 looks at as well. */
static const char *const rank_variables[] = {
    "SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "PMI_RANK",   "PMIX_RANK",           "FLUX_TASK_RANK",
    "MPI_RANK",     "MPI_LOCALRANKID",      "MPI_RANKID", "MV2_COMM_WORLD_RANK", NULL};
static const char *const size_variables[] = {
    "SLURM_NTASKS", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE",   "PMIX_SIZE",           "FLUX_JOB_SIZE",
    "MPI_SIZE",     "MPI_LOCALNRANKS",      "MPI_NRANKS", "MV2_COMM_WORLD_SIZE", NULL};

/* Read errors are reported by the conversion; standard input cannot be read twice. */
static void look_into_trace(origin *o)
{
    const rocl_options options = {.jobs = 1};
    rocl_trace *t = NULL;
    const strings *inputs = &o->options->inputs;
    if (o->looked)
        return;
    o->looked = true;
    if (!inputs->n || strcmp(inputs->v[0], "-") == 0 ||
        rocl_trace_open(&t, inputs->v, 1, &options, NULL) > ROCL_PARTIAL)
        return;
    const rocl_capture *c = rocl_trace_captures(t) ? rocl_trace_capture(t, 0) : NULL;
    if (c && c->process_count) {
        const rocl_process *p = &c->processes[0];
        o->known = true;
        o->pid = p->pid;
        o->ppid = p->ppid;
        o->rank = p->rank;
        snprintf(o->command, sizeof o->command, "%s", rocl_text(t, p->command, NULL));
        if (p->node < c->node_count)
            snprintf(o->host, sizeof o->host, "%s", rocl_text(t, c->nodes[p->node].hostname, NULL));
    }
    rocl_trace_close(t);
}

static void put_id(char *to, int64_t id)
{
    snprintf(to, VALUE, "%" PRId64, id);
}

static void put_text(char *to, const char *text)
{
    size_t n = strnlen(text, VALUE - 1);
    memcpy(to, text, n);
    to[n] = '\0';
}

/* The n-th word of a recorded command line, separated by blanks. NULL: there are fewer. */
static const char *find_argument(const char *command, long n, size_t *len)
{
    for (;; n--, command += *len) {
        command += strspn(command, " \t\n");
        *len = strcspn(command, " \t\n");
        if (!n || !*len)
            return *len ? command : NULL;
    }
}

/* As rocprofv3 writes one: no leading dots and underscores, '/' as '_'. */
static void add_argument(char *to, const char *arg, size_t len, bool base)
{
    size_t n = strlen(to);
    for (size_t i = 0; base && i < len;)
        if (arg[i++] == '/' && i < len)
            arg += i, len -= i, i = 0;
    while (len && (*arg == '.' || *arg == '_' || *arg == '/'))
        arg++, len--;
    for (; len && n + 1 < VALUE; arg++, len--)
        to[n++] = *arg;
    to[n] = '\0';
}

static void put_arguments(char *to, const char *command, long from)
{
    const char *arg;
    size_t len;
    for (long i = from; (arg = find_argument(command, i, &len)); i++) {
        if (i > from && strlen(to) + 1 < VALUE)
            strcat(to, "_");
        add_argument(to, arg, len, false);
    }
}

/* ---- keys ------------------------------------------------------------------------------------ */

static void put_hostname(const origin *o, char *to)
{
    if (*o->host || gethostname(to, VALUE) != 0)
        put_text(to, *o->host ? o->host : "localhost");
    to[VALUE - 1] = '\0';
}

static void put_pid(const origin *o, char *to)
{
    put_id(to, o->known ? o->pid : getpid());
}

static void put_ppid(const origin *o, char *to)
{
    put_id(to, o->known ? o->ppid : getppid());
}

/* Puts the rank of the tool itself, else of the process; false: neither has one. */
static bool put_known_rank(const origin *o, char *to)
{
    const char *variable = first_variable(rank_variables, "");
    if (*variable)
        put_text(to, variable);
    else if (o->known && o->rank >= 0)
        put_id(to, o->rank);
    else
        return false;
    return true;
}

static void put_rank(const origin *o, char *to)
{
    if (!put_known_rank(o, to))
        put_text(to, "0");
}

static void put_nid(const origin *o, char *to)
{
    if (!put_known_rank(o, to))
        put_pid(o, to);
}

static void put_size(const origin *o, char *to)
{
    (void)o;
    put_text(to, first_variable(size_variables, "1"));
}

static void put_job(const origin *o, char *to)
{
    (void)o;
    put_text(to, get_variable("SLURM_JOB_ID", "0"));
}

static void put_group(const origin *o, char *to)
{
    (void)o;
    put_id(to, getpgrp());
}

static void put_session(const origin *o, char *to)
{
    (void)o;
    put_id(to, getsid(0));
}

static void put_folder(const origin *o, char *to)
{
    (void)o;
    if (!getcwd(to, VALUE))
        put_text(to, "cwd");
}

static void put_formatted_time(char *to, const char *format)
{
    time_t now = time(NULL);
    struct tm tm;
    if (!localtime_r(&now, &tm) || !strftime(to, VALUE, format, &tm))
        *to = '\0';
}

static void put_date(const origin *o, char *to)
{
    (void)o;
    put_formatted_time(to, get_variable("ROCPROF_DATE_FORMAT", "%F"));
}

static void put_date_and_time(const origin *o, char *to)
{
    (void)o;
    put_formatted_time(to, get_variable("ROCPROF_TIME_FORMAT", "%F_%H.%M"));
}

static void put_argv(const origin *o, char *to)
{
    put_arguments(to, o->command, 0);
}

static void put_args(const origin *o, char *to)
{
    put_arguments(to, o->command, 1);
}

static void put_tag(const origin *o, char *to)
{
    size_t len;
    const char *first = find_argument(o->command, 0, &len);
    if (first)
        add_argument(to, first, len, true);
}

/* rocprofv3 has nothing between the two. */
static void put_argt(const origin *o, char *to)
{
    put_tag(o, to);
    put_args(o, to);
}

static const struct {
    const char *name; /* between "%" and "%" or "{" and "}" */
    void (*put)(const origin *o, char *to);
    bool traced; /* the trace may know it */
    char letter; /* after "%" alone; '\0': none */
} keys[] = {
    {"hostname", put_hostname, true, 'h'},
    {"pid", put_pid, true, 'p'},
    {"ppid", put_ppid, true, '\0'},
    {"rank", put_rank, true, 'r'},
    {"nid", put_nid, true, '\0'},
    {"size", put_size, false, 's'},
    {"psize", put_size, false, '\0'},
    {"job", put_job, false, 'j'},
    {"argv", put_argv, true, '\0'},
    {"argt", put_argt, true, '\0'},
    {"args", put_args, true, '\0'},
    {"tag", put_tag, true, '\0'},
    {"cwd", put_folder, false, '\0'},
    {"launch_date", put_date, false, '\0'},
    {"launch_time", put_date_and_time, false, '\0'},
    {"pgid", put_group, false, '\0'},
    {"psid", put_session, false, '\0'},
};

/* The value of a key without its delimiters; false: an unknown key. */
static bool put_value(origin *o, const char *name, size_t len, char *to)
{
    char text[128];
    const char *arg;
    *to = '\0';
    if (len >= sizeof text)
        return false;
    snprintf(text, sizeof text, "%.*s", (int)len, name);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        if (strcmp(text, keys[i].name) != 0)
            continue;
        if (keys[i].traced)
            look_into_trace(o);
        keys[i].put(o, to);
        return true;
    }
    const char *digits = text + 3; /* "arg3" */
    if (strncmp(text, "arg", 3) != 0 || !*digits || strlen(digits) > 4 ||
        digits[strspn(digits, "0123456789")])
        return false;
    look_into_trace(o);
    if ((arg = find_argument(o->command, strtol(digits, NULL, 10), &len)))
        add_argument(to, arg, len, false);
    return true;
}

/* "%env{NAME}%", "$ENV{NAME}", "$env{NAME}", "%q{NAME}": its length, or 0. */
static size_t put_environment(const char *at, char *to)
{
    static const char *const begins[] = {"%env{", "$ENV{", "$env{", "%q{"};
    char name[128];
    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++) {
        size_t begin = strlen(begins[i]);
        size_t len = strncmp(at, begins[i], begin) == 0 ? strcspn(at + begin, "}") : sizeof name;
        if (len >= sizeof name || !at[begin + len])
            continue;
        snprintf(name, sizeof name, "%.*s", (int)len, at + begin);
        put_text(to, get_variable(name, ""));
        size_t end = begin + len + 1;
        return i > 0 ? end : at[end] == '%' ? end + 1 : 0;
    }
    return 0;
}

/* Puts the value of a placeholder at the begin of the text; returns the length of the placeholder,
 * 0: none. */
static size_t put_placeholder(origin *o, const char *at, char *to)
{
    char close = *at == '%' ? '%' : *at == '{' ? '}' : '\0';
    const char *end = close ? strchr(at + 1, close) : NULL;
    size_t n = put_environment(at, to);
    if (n)
        return n;
    if (end && put_value(o, at + 1, (size_t)(end - at - 1), to))
        return (size_t)(end - at + 1);
    for (size_t i = 0; *at == '%' && at[1] && i < sizeof keys / sizeof *keys; i++)
        if (at[1] == keys[i].letter && put_value(o, keys[i].name, strlen(keys[i].name), to))
            return 2;
    return 0;
}

/* Fills in the placeholders of a name or folder, of PATH_MAX bytes. Returns -1, or the exit code of
 * a usage error. */
static int fill_in_here(origin *o, const char *option, const char *from, char *path)
{
    char value[VALUE];
    size_t n = 0, len;
    while (*from && n < PATH_MAX) {
        if ((len = put_placeholder(o, from, value)) > 0) {
            if (!*value)
                return usage_error("%s: %.*s is empty or not set", option, (int)len, from);
            /* Names of programs and hosts come from elsewhere: a value is never more than a part of
             * a name. */
            for (char *p = value; *p; p++)
                if (*p == '/' || *p == ' ' || (unsigned char)*p < 0x20 || *p == 0x7f)
                    *p = '_';
            *value = *value == '.' ? '_' : *value;
            n += (size_t)snprintf(path + n, PATH_MAX - n, "%s", value);
            from += len;
        } else {
            path[n++] = *from++;
        }
    }
    if (n >= PATH_MAX)
        return name_too_long();
    path[n] = '\0';
    return -1;
}

/* Fills in placeholders with rank 0's values, which are those of all ranks. */
static int fill_in(origin *o, const char *option, const char *from, char *path)
{
    const int code = common_is_other_rank() ? -1 : fill_in_here(o, option, from, path);
    return code < 0 ? common_share_name(path, PATH_MAX) : code;
}

static char own_name[PATH_MAX], own_folder[PATH_MAX]; /* those of output_fill_names */

int output_refuse_folder(const char *name)
{
    return usage_error(
        "--output-file: \"%s\" is a folder: name a file in it, or name the folder by "
        "--output-path",
        name);
}

int output_fill_names(common *c)
{
    origin o = {.options = c, .rank = -1};
    int code = fill_in(&o, "--output-file",
                       c->output_file ? c->output_file : get_variable("ROCPD_OUTPUT_NAME", "out"),
                       own_name);
    /* "." and "runs/." would become hidden files: "._results.pftrace", "runs/..db". */
    const char *slash = strrchr(own_name, '/'), *last = slash ? slash + 1 : own_name;
    if (code < 0 && (!strcmp(last, ".") || !strcmp(last, "..")))
        code = output_refuse_folder(own_name);
    if (code < 0)
        code = fill_in(&o, "--output-path",
                       c->output_path ? c->output_path
                                      : get_variable("ROCPD_OUTPUT_PATH", "rocpd-output-data"),
                       own_folder);
    if (code >= 0)
        return code;
    c->output_file = c->output_file ? own_name : NULL;
    c->output_path = c->output_path ? own_folder : NULL;
    return -1;
}

int output_fill_name(const common *c, const strings *command, const char *option, const char **name)
{
    static strings filled; /* they are needed until the tool ends */
    char path[PATH_MAX];
    origin o = {.options = c, .rank = -1, .looked = command != NULL};
    for (size_t i = 0, n = 0; command && i < command->n && n < sizeof o.command; i++)
        n += (size_t)snprintf(o.command + n, sizeof o.command - n, "%s%s", i ? " " : "",
                              command->v[i]);
    int code = *name ? fill_in(&o, option, *name, path) : -1;
    if (code >= 0 || !*name)
        return code;
    strings_add(&filled, must_have(strdup(path)));
    *name = filled.v[filled.n - 1];
    return -1;
}

const char *output_name(const common *c)
{
    return c->output_file ? c->output_file : own_name;
}

const char *output_folder(const common *c)
{
    return c->output_path ? c->output_path : own_folder;
}
