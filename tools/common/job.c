/* --job: an input file of rocprofv3 sets the options of the tool. */
#include "common/job.h"

#include "common/output.h"
#include "common/team.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FILE_MAX = 4 << 20 };

/* What a tool makes of rocprofv3's names. */
typedef struct own_output {
    const char *tool;
    const char *format; /* its word in output_format */
    const char *ending; /* what follows the name of the file, as rocprofv3 calls its own */
    const char *folder; /* in which outputs are without output_directory */
} own_output;

#define DEFAULT_FOLDER get_variable("ROCPD_OUTPUT_PATH", "rocpd-output-data")

static const own_output own_outputs[] = {{"rocpd2csv", "csv", "", NULL},
                                         {"rtg2json", "json", "_results.json", "."},
                                         {"rocpd2pftrace", "pftrace", "", NULL},
                                         {"rocpd2otf2", "otf2", "", NULL},
                                         {"rocmerge", "rocpd", "_results", NULL}};

static const own_output *find_own_output(const char *tool)
{
    for (size_t i = 0; i < sizeof own_outputs / sizeof *own_outputs; i++)
        if (strcmp(own_outputs[i].tool, tool) == 0)
            return &own_outputs[i];
    return NULL;
}

/* A job while its options are set. */
typedef struct setup {
    const program *p;
    common *c;
    const job_file *file;
    size_t index; /* of the job */
    const job *job;
    const job_setting *at;
    const job_setting **set; /* by index of the setting: those that have set an option */
    char place[512];
} setup;

/* Texts that options point to, until the tool ends. */
static strings made;

static char *format_text(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

static char *format_text(const char *fmt, ...)
{
    char *text = NULL;
    va_list ap;
    va_start(ap, fmt);
    if (vasprintf(&text, fmt, ap) < 0)
        text = NULL;
    va_end(ap);
    strings_add(&made, must_have(text));
    return text;
}

/* ---- values ---------------------------------------------------------------------------------- */

/* The value of a setting that has one. NULL, and said: it has several. */
static const char *only_value(const setup *s)
{
    if (s->at->values.n == 1)
        return s->at->values.v[0];
    usage_error("%s has several values, it takes one", s->at->key->name);
    return NULL;
}

static int read_switch(const setup *s, bool *on)
{
    static const char *const words[2][6] = {{"false", "no", "off", "0", "f", "n"},
                                            {"true", "yes", "on", "1", "t", "y"}};
    const char *value = only_value(s);
    if (!value)
        return ROCL_USAGE;
    for (size_t i = 0; i < 6; i++)
        for (int k = 0; k < 2; k++)
            if (!strcasecmp(value, words[k][i])) {
                *on = k == 1;
                return -1;
            }
    return usage_error("%s: \"%.60s\" is neither true nor false", s->at->key->name, value);
}

static const char *join_words(const strings *list)
{
    size_t size = 1;
    for (size_t i = 0; i < list->n; i++)
        size += strlen(list->v[i]) + 1;
    char *text = must_have(calloc(1, size)), *to = text;
    for (size_t i = 0; i < list->n; i++)
        to = stpcpy(i ? stpcpy(to, ",") : to, list->v[i]);
    strings_add(&made, text);
    return text;
}

static const char *period_unit(const setup *s)
{
    static const char *const units[][2] = {{"hour", "h"},  {"min", "min"}, {"sec", "s"},
                                           {"msec", "ms"}, {"usec", "us"}, {"nsec", "ns"}};
    for (size_t i = 0; i < s->job->count; i++) {
        const job_setting *own = &s->job->settings[i];
        for (size_t k = 0; own->key->form == JOB_UNIT && own->values.n == 1 && k < 6; k++)
            if (!strcasecmp(own->values.v[0], units[k][0]))
                return units[k][1];
    }
    return "s";
}

/* "1:2:3" or several of them with blanks; both times are numbers of the unit. */
static int make_periods(const setup *s, strings *to)
{
    const char *unit = period_unit(s);
    char *list = format_text("%s", join_words(&s->at->values)), *rest = NULL;
    for (char *word = strtok_r(list, " ,\t", &rest); word; word = strtok_r(NULL, " ,\t", &rest)) {
        const size_t delay = strcspn(word, ":");
        const char *length = word + delay + (word[delay] == ':');
        const size_t digits = strcspn(length, ":");
        if (!delay || !digits)
            return usage_error("%s: \"%.60s\" is not delay:duration:repeat", s->at->key->name,
                               word);
        strings_add(to, format_text("%.*s%s:%.*s%s%s", (int)delay, word, unit, (int)digits, length,
                                    unit, length + digits));
    }
    return -1;
}

static int check_choices(const setup *s)
{
    const char *choices = s->at->key->choices;
    for (size_t i = 0; choices && i < s->at->values.n; i++) {
        const char *word = s->at->values.v[i], *at = choices;
        const size_t len = strlen(word);
        while (*at && (strcspn(at, "|") != len || strncasecmp(at, word, len) != 0)) {
            at += strcspn(at, "|");
            at += *at == '|';
        }
        if (!*at)
            return usage_error("%s: \"%.60s\" is not one of %s", s->at->key->name, word, choices);
    }
    return -1;
}

/* ---- options --------------------------------------------------------------------------------- */

/* The setting of this job that has set the value of an option. */
static const job_setting *find_setter(const setup *s, const opt *o)
{
    for (size_t i = 0; i < s->job->count; i++)
        if (s->set[i] && options_find(s->p, s->set[i]->key->option)->to == o->to)
            return s->set[i];
    return NULL;
}

static int set_option(setup *s, const opt *o, const strings *words, bool on)
{
    const job_setting *other = find_setter(s, o);
    if (!on && !options_given(o))
        return -1;
    if (options_given(o) || other) {
        int outcome = options_compare(s->p, o, s->c, words);
        if (outcome >= 0)
            return outcome;
        if ((outcome == OPT_SAME) == on)
            return -1;
        return other ? usage_error("%s: conflicting value: %s in line %u says otherwise",
                                   s->at->key->name, other->key->name, other->line)
                     : usage_error("%s: conflicting value: the command line has another --%s",
                                   s->at->key->name, o->name);
    }
    s->set[s->at - s->job->settings] = s->at;
    return options_store(s->p, o, s->c, words);
}

/* The values of the option for a key; *on: it is set. An empty value counts as none. */
static int make_words(const setup *s, strings *words, bool *on)
{
    const job_key *key = s->at->key;
    const strings *values = &s->at->values;
    int code = -1;
    if (key->form == JOB_SWITCH) {
        if (key->value)
            strings_add(words, key->value);
        return read_switch(s, on);
    }
    if (key->form == JOB_PERIODS)
        code = make_periods(s, words);
    else if (key->form == JOB_JOINED)
        strings_add(words, join_words(values));
    else if (key->form != JOB_LIST && !only_value(s))
        code = ROCL_USAGE;
    else
        for (size_t i = 0; i < values->n; i++)
            if (*values->v[i])
                strings_add(words, values->v[i]);
    *on = words->n > 0;
    return code;
}

static void report_formats(setup *s)
{
    const own_output *own = find_own_output(s->p->tool);
    char others[256];
    size_t n = 0;
    for (size_t i = 0; i < s->at->values.n && n < sizeof others; i++) {
        const own_output *out = own_outputs; /* check_choices() has tested the word: it is there */
        while (strcasecmp(out->format, s->at->values.v[i]) != 0)
            out++;
        const opt *o = options_find(s->p, "style");
        if (out == own && strcmp(out->format, "json") == 0 && o && o->choices &&
            strstr(o->choices, "rocprofv3") && !options_given(o)) {
            strings layout = {0}; /* of the several that rtg2json has */
            strings_add(&layout, "rocprofv3");
            options_store(s->p, o, s->c, &layout);
            free(layout.v);
        }
        if (out != own)
            n += (size_t)snprintf(others + n, sizeof others - n, "%s%s%s by %s", n ? ", " : "",
                                  out->format, n ? "" : " is written", out->tool);
    }
    if (n && own)
        msg_notice("%s: %s: %s", s->file->path, s->at->key->name, others);
}

/* Adds a name to a list for a message. */
static void add_name(char *list, size_t size, const char *name)
{
    const size_t n = strlen(list);
    snprintf(list + n, size - n, "%s%s", n ? ", " : "", name);
}

static int apply_settings(setup *s)
{
    char collected[2048] = "", others[512] = "", unused[512] = "";
    int code = -1;
    for (size_t i = 0; i < s->job->count && code < 0; i++) {
        s->at = &s->job->settings[i];
        const job_key *key = s->at->key;
        const opt *o = key->option ? options_find(s->p, key->option) : NULL;
        snprintf(s->place, sizeof s->place, "%s:%u:%u", s->file->path, s->at->line, s->at->column);
        usage_error_at(s->place);
        if (key->form == JOB_COLLECTION)
            add_name(collected, sizeof collected, key->name);
        else if (key->form == JOB_NO_EFFECT)
            add_name(unused, sizeof unused, key->name);
        else if (!s->at->values.n)
            continue;
        else if (key->form == JOB_FORMATS && (code = check_choices(s)) < 0)
            report_formats(s);
        else if (key->form == JOB_UNIT)
            code = check_choices(s);
        else if (key->form == JOB_FOLDER && !o && !(s->c->output_path = only_value(s)))
            code = ROCL_USAGE;
        else if (o) {
            strings words = {0};
            bool on = false;
            code = make_words(s, &words, &on);
            if (code < 0 && (on || key->form == JOB_SWITCH))
                code = set_option(s, o, &words, on);
            free(words.v);
        } else if (key->option && key->form != JOB_FOLDER)
            add_name(others, sizeof others, key->name);
    }
    usage_error_at("");
    if (code >= 0)
        return code;
    if (*unused)
        msg_notice("%s: %s: without effect", s->file->path, unused);
    if (*collected)
        msg_verbose("%s: %s: only for collection", s->file->path, collected);
    if (*others)
        msg_verbose("%s: %s: not for %s", s->file->path, others, s->p->name);
    return -1;
}

/* ---- names of outputs ------------------------------------------------------------------------ */

static bool has_counters(const job *j)
{
    for (size_t i = 0; i < j->count; i++)
        if (!strcmp(j->settings[i].key->name, "pmc") && j->settings[i].values.n)
            return true;
    return false;
}

/* Jobs with counters, and each of several jobs, have a folder of their own. A tool that knows no
 * folder has it in the name of its file. */
static void place_output(setup *s)
{
    common *c = s->c;
    const own_output *own = find_own_output(s->p->tool);
    const opt *folder = options_find(s->p, "output-path"),
              *name = options_find(s->p, "output-file");
    const bool given = name && options_given(name);
    if (!given && c->output_file && own && *own->ending && strcmp(c->output_file, "-") != 0)
        c->output_file = format_text("%s%s", c->output_file, own->ending);
    if (s->file->count > 1 || has_counters(s->job)) {
        const char *before = c->output_path        ? c->output_path
                             : own && !own->folder ? DEFAULT_FOLDER
                                                   : ".";
        c->output_path = format_text("%s/%s_%zu", before,
                                     s->file->format == JOB_LINES ? "pmc" : "pass", s->index + 1);
    }
    if (folder || !c->output_path)
        return;
    if (!c->output_file)
        c->output_file = format_text("out%s", own ? own->ending : "");
    if (*c->output_file != '/' && strcmp(c->output_file, "-") != 0)
        c->output_file = format_text("%s/%s", c->output_path, c->output_file);
    c->output_path = NULL;
}

static int apply_job(const program *p, common *c, const job_file *f, size_t index)
{
    setup s = {.p = p, .c = c, .file = f, .index = index, .job = &f->jobs[index]};
    s.set = must_have(calloc(s.job->count + 1, sizeof(job_setting *)));
    int code = apply_settings(&s);
    free(s.set);
    if (code < 0)
        place_output(&s);
    return code;
}

/* ---- the file, and the processes of its jobs ------------------------------------------------- */

static int read_job_file(job_file *jobs, const char *path)
{
    static const struct {
        const char *ending;
        job_format format;
    } formats[] = {{".yaml", JOB_YAML},
                   {".yml", JOB_YAML},
                   {".json", JOB_JSON},
                   {".txt", JOB_LINES},
                   {".text", JOB_LINES}};
    enum { FORMATS = sizeof formats / sizeof *formats };
    size_t i = 0;
    struct stat st;
    job_error err = {0};
    while (i < FORMATS && !ends_with(path, formats[i].ending))
        i++;
    if (i == FORMATS)
        return usage_error("--job: \"%s\" ends in none of .yaml, .yml, .json and .txt", path);
    FILE *f = fopen(path, "re");
    int code = -1, reason = f ? 0 : errno;
    if (f && fstat(fileno(f), &st) == 0 && S_ISDIR(st.st_mode))
        reason = EISDIR;
    char *text = must_have(malloc(FILE_MAX + 1));
    const size_t len = reason ? 0 : fread(text, 1, FILE_MAX + 1, f);
    if (!reason && ferror(f))
        reason = EIO;
    if (f)
        fclose(f);
    if (reason) {
        msg_unread(path, reason);
        code = ROCL_INPUT;
    } else if (len > FILE_MAX) {
        code = usage_error("%s: too large for a file of jobs", path);
    } else if (!job_file_parse(jobs, formats[i].format, text, len, &err)) {
        code = err.line ? usage_error("%s:%u:%u: %s", path, err.line, err.column, err.text)
                        : usage_error("%s: %s", path, err.text);
    }
    jobs->path = path;
    free(text);
    return code;
}

/* Waits for one job; what ended it by a signal ends this process as well. */
static int wait_for_job(pid_t child)
{
    int status;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return ROCL_INTERNAL;
    if (WIFEXITED(status))
        return WEXITSTATUS(status);
    signal(WTERMSIG(status), SIG_DFL);
    raise(WTERMSIG(status));
    return ROCL_INTERNAL;
}

int job_run(const program *p, common *c)
{
    static job_file file; /* options point into it */
    int worst = ROCL_OK, code = read_job_file(&file, c->job);
    if (code >= 0)
        return code;
    if (file.count == 1)
        return apply_job(p, c, &file, 0);
    for (size_t i = 0; i < c->inputs.n; i++)
        if (strcmp(c->inputs.v[i], "-") == 0)
            return usage_error("%s has %zu jobs: standard input can only be read once", file.path,
                               file.count);
    team_settle();
    /* Errors in any of them are reported before the first one writes. */
    for (int checking = 1; checking >= 0 && worst == ROCL_OK; checking--)
        for (size_t i = 0; i < file.count; i++) {
            const pid_t parent = getpid(), child = fork();
            if (child < 0) {
                msg_error("cannot start a job: %s", strerror(errno));
                return ROCL_INTERNAL;
            }
            if (child == 0) {
                prctl(PR_SET_PDEATHSIG, SIGTERM);
                if (getppid() != parent)
                    _exit(ROCL_INTERNAL);
                c->checking = checking;
                if (checking)
                    msg_set_level(MSG_QUIET);
                msg_verbose("%s: job %zu of %zu", file.path, i + 1, file.count);
                return apply_job(p, c, &file, i);
            }
            code = wait_for_job(child);
            worst = code > worst ? code : worst;
        }
    return worst;
}
