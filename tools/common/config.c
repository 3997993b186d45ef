/* --output-config: what the run was, in the form of rocprofv3's own file:
 *
 *     {"rocprofiler-sdk-tool": [{"metadata": {"pid", "init_time", "fini_time",
 *         "config": {...}, "command": [...], "build_spec": {...}}}]}
 *
 * pid, times and command are those of the first process of the trace. config uses rocprofv3's names
 * where they exist, then those of the tool's options. The environment is left out: that of the
 * traced program is nobody else's business. */
#include <cjson/cJSON.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/job.h"
#include "common/output.h"

/* Was there an event of the kind? Nothing else is known of what was traced. */
static const struct {
    const char *name;
    rocl_kind kind;
} traced[] = {{"kernel_trace", ROCL_DISPATCH},        {"marker_api_trace", ROCL_MARKER},
              {"memory_copy_trace", ROCL_COPY},       {"memory_allocation_trace", ROCL_ALLOC},
              {"scratch_memory_trace", ROCL_SCRATCH}, {"counter_collection", ROCL_COUNTER}};

/* Options that rocprofv3 calls by another name. */
static const char *const renamed[][2] = {{"summary_units", "summary_unit"},
                                         {"summary_output_file", "summary_file"}};

static void put_text(cJSON *to, const char *name, const char *text)
{
    must_have(cJSON_AddStringToObject(to, name, text));
}

static void put_truth(cJSON *to, const char *name, bool is)
{
    must_have(cJSON_AddBoolToObject(to, name, is));
}

/* Any of several EREs is one. */
static void put_regex(cJSON *to, const char *name, const strings *list, const char *none)
{
    size_t size = 1;
    for (size_t i = 0; i < list->n; i++)
        size += strlen(list->v[i]) + 3;
    char *text = must_have(calloc(1, size)), *at = text;
    for (size_t i = 0; i < list->n; i++)
        at += sprintf(at, list->n > 1 ? "%s(%s)" : "%s%s", i ? "|" : "", list->v[i]);
    put_text(to, name, list->n ? text : none);
    free(text);
}

static void put_config(cJSON *to, const program *p, const common *c, const rocl_trace *t)
{
    static const char *const formats[] = {"csv", "json", "pftrace", "otf2", "rocpd"};
    cJSON *own = must_have(cJSON_CreateObject()), *item;
    for (size_t i = 0; c->wanted == EVENTS_ALL && i < sizeof traced / sizeof *traced; i++)
        put_truth(to, traced[i].name, rocl_trace_events(t, traced[i].kind) > 0);
    put_regex(to, "kernel_filter_include", &c->kernel_include, ".*");
    put_regex(to, "kernel_filter_exclude", &c->kernel_exclude, "");
    put_truth(to, "demangle", c->kernel_names != ROCL_NAMES_MANGLED);
    put_truth(to, "truncate", c->kernel_names == ROCL_NAMES_SHORT);
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        char name[32];
        snprintf(name, sizeof name, "%s_output", formats[i]);
        put_truth(to, name, !strcmp(job_format_of(p->tool), formats[i]));
    }
    put_text(to, "output_path", c->output_path ? c->output_path : "");
    put_text(to, "output_file", c->output_file ? c->output_file : "");
    if (!options_put_json(p, c, own))
        must_have(NULL);
    while ((item = own->child)) {
        const char *name = item->string;
        for (size_t i = 0; i < sizeof renamed / sizeof *renamed; i++)
            name = strcmp(name, renamed[i][0]) ? name : renamed[i][1];
        char *copy = must_have(strdup(name));
        cJSON_DetachItemViaPointer(own, item);
        if (cJSON_HasObjectItem(to, copy))
            cJSON_Delete(item);
        else if (!cJSON_AddItemToObject(to, copy, item))
            must_have(NULL);
        free(copy);
    }
    cJSON_Delete(own);
}

static char *make_config(const program *p, const common *c, const rocl_trace *t)
{
    const rocl_capture *first = rocl_trace_captures(t) ? rocl_trace_capture(t, 0) : NULL;
    const rocl_process *process = first && first->process_count ? &first->processes[0] : NULL;
    cJSON *all = must_have(cJSON_CreateObject()), *one = must_have(cJSON_CreateObject());
    cJSON *list = must_have(cJSON_AddArrayToObject(all, "rocprofiler-sdk-tool"));
    if (!cJSON_AddItemToArray(list, one))
        must_have(NULL);
    cJSON *about = must_have(cJSON_AddObjectToObject(one, "metadata"));
    /* Exact also above 2^53, where cJSON's numbers end. */
    const struct {
        const char *name;
        int64_t value;
    } numbers[] = {{"pid", process ? process->pid : 0},
                   {"init_time", process ? process->init : 0},
                   {"fini_time", process ? process->fini : 0}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        char text[32];
        snprintf(text, sizeof text, "%lld", (long long)numbers[i].value);
        must_have(cJSON_AddRawToObject(about, numbers[i].name, text));
    }
    put_config(must_have(cJSON_AddObjectToObject(about, "config")), p, c, t);
    /* Blanks separate the words of a command that was recorded. */
    cJSON *command = must_have(cJSON_AddArrayToObject(about, "command"));
    char *rest = NULL;
    char *copy = must_have(strdup(process ? rocl_text(t, process->command, NULL) : ""));
    for (char *word = strtok_r(copy, " \t\n", &rest); word; word = strtok_r(NULL, " \t\n", &rest))
        if (!cJSON_AddItemToArray(command, must_have(cJSON_CreateString(word))))
            must_have(NULL);
    free(copy);
    cJSON *build = must_have(cJSON_AddObjectToObject(about, "build_spec"));
    put_text(build, "tool", p->tool);
    put_text(build, "version", ROCLINE_VERSION);
    char *text = must_have(cJSON_Print(all));
    cJSON_Delete(all);
    return text;
}

rocl_status output_check_config(const common *c, rocl_error *err)
{
    char path[8192];
    return output_beside(c, "_config.json", path, sizeof path) ? rocl_check_output(path, err)
                                                               : ROCL_USAGE;
}

rocl_status output_write_config(const program *p, const common *c, const rocl_trace *t,
                                rocl_error *err)
{
    char path[8192];
    if (!output_beside(c, "_config.json", path, sizeof path))
        return ROCL_USAGE;
    char *text = make_config(p, c, t);
    rocl_status s = output_make_parent(path);
    if (s == ROCL_OK)
        s = rocl_write_text(path, text, err);
    free(text);
    return s;
}
