/* The answer of a command of rocline, from the first message to the last byte. */
#include "common/answer.h"

#include "common/output.h"
#include "common/progress.h"

#include <cjson/cJSON.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct kept_message {
    bool error;
    rocl_status code;
    char *text;
} kept_message;

static struct {
    bool wanted;
    const char *command;
    const strings *inputs;
    kept_message *messages;
    size_t count;
    rocl_answer *answer; /* NULL: there are no data yet */
    bool lists_outputs;
    cJSON *outputs; /* an array; NULL: none is complete */
} state;

bool answer_is_wanted(void)
{
    return state.wanted;
}

void answer_set_command(const char *command)
{
    state.command = command;
}

bool answer_lists_outputs(void)
{
    return state.lists_outputs;
}

void answer_add_output(const char *path, uint64_t files, uint64_t bytes)
{
    if (!state.lists_outputs)
        return;
    if (!state.outputs)
        state.outputs = must_have(cJSON_CreateArray());
    cJSON *o = must_have(cJSON_CreateObject());
    must_have(cJSON_AddStringToObject(o, "path", path));
    must_have(cJSON_AddNumberToObject(o, "files", (double)files));
    must_have(cJSON_AddNumberToObject(o, "bytes", (double)bytes));
    if (!cJSON_AddItemToArray(state.outputs, o))
        must_have(NULL);
}

/* The option --format of a program, if it takes json; NULL: it has none, or takes others only. */
static const opt *find_json_option(const program *p)
{
    const opt *format = options_find(p, "format");
    const char *word = format ? format->choices : NULL;
    while (word && *word) {
        const size_t n = strcspn(word, "|");
        if (n == 4 && !memcmp(word, "json", n))
            return format;
        word += n + (word[n] == '|');
    }
    return NULL;
}

/* Does a command line ask for "--format json", "--format=json", with the letter of the option, or
 * by the name of its output? Before options are parsed: an error of them belongs in the answer as
 * well. Where the program has no such option its words are taken out. */
static bool ask_for_json(const opt *format, int *argc, char **argv)
{
    bool json = false, given = false, named = false;
    const char *form;
    const bool named_json = format && strcmp(argv[*argc > 1], "baseline") != 0;
    int to = 1, i = 1;
    while (i < *argc && strcmp(argv[i], "--") != 0) {
        const char *word = argv[i];
        const bool joined = !strncmp(word, "--format=", 9);
        const bool letter = format && format->letter && word[0] == '-' &&
                            word[1] == format->letter && word[1] && !word[2];
        const bool separate = !joined && i + 1 < *argc && (!strcmp(word, "--format") || letter);
        given |= joined || separate;
        if (!strcmp(word, "-o") || !strcmp(word, "--output-file"))
            named = i + 1 < *argc && (form = output_form(argv[i + 1])) && !strcmp(form, "json");
        else if (!strncmp(word, "-o", 2) || !strncmp(word, "--output-file=", 14))
            named = (form = output_form(word)) && !strcmp(form, "json");
        if (joined || separate)
            json = !strcmp(joined ? word + 9 : argv[i + 1], "json");
        const bool takes_out = (joined || separate) && json && !format;
        for (int n = separate ? 2 : 1; n > 0; n--, i++)
            if (!takes_out)
                argv[to++] = argv[i];
    }
    while (i < *argc)
        argv[to++] = argv[i++];
    *argc = to;
    argv[to] = NULL;
    return given ? json : named && named_json;
}

/* Without memory a message goes only to standard error: reporting that would call this again. */
static void keep_message(bool error, rocl_status code, const char *text)
{
    kept_message *more = realloc(state.messages, (state.count + 1) * sizeof *more);
    char *copy = strdup(text);
    state.messages = more ? more : state.messages;
    if (more && copy)
        state.messages[state.count++] = (kept_message){error, code, copy};
    else
        free(copy);
}

static rocl_status open_answer(const char *path, rocl_error *err)
{
    static const char *const none[] = {NULL};
    const char *const *inputs = state.inputs && state.inputs->n ? state.inputs->v : none;
    return rocl_answer_open(&state.answer, path, state.command, inputs, err);
}

void answer_begin(const char *command)
{
    state.wanted = true;
    state.command = command;
    msg_set_listener(keep_message);
}

int answer_end(int code)
{
    if (!state.wanted)
        return code;
    msg_set_listener(NULL);
    if (!code && !state.answer && !state.outputs) /* help */
        return code;
    rocl_error *err = must_have(rocl_error_new());
    const bool has_data = state.answer; /* also those of a limit, or of a trace that is unusable */
    rocl_status st = has_data ? ROCL_OK : open_answer("-", err);
    if (st == ROCL_OK && state.lists_outputs && code <= ROCL_PARTIAL) { /* {"outputs": [...]} */
        cJSON *data = must_have(cJSON_CreateObject());
        if (!state.outputs)
            state.outputs = must_have(cJSON_CreateArray());
        if (!cJSON_AddItemToObject(data, "outputs", state.outputs))
            must_have(NULL);
        char *text = must_have(cJSON_PrintUnformatted(data));
        st = rocl_answer_put_json(state.answer, text, strlen(text), err);
        free(text);
        cJSON_Delete(data);
        state.outputs = NULL;
    }
    for (size_t i = 0; i < state.count; i++) {
        const kept_message *m = &state.messages[i];
        if (st == ROCL_OK)
            rocl_answer_add_message(state.answer, m->error, m->error ? (rocl_status)code : m->code,
                                    m->text);
        free(m->text);
    }
    if (st == ROCL_OK)
        st = rocl_answer_end(state.answer, (rocl_status)code, err);
    if (st > ROCL_PARTIAL && (code <= ROCL_PARTIAL || (has_data && code != (int)st))) {
        msg_error("%s", rocl_error_text(err));
        code = (int)st;
    }
    rocl_error_free(err);
    cJSON_Delete(state.outputs);
    free(state.messages);
    state.wanted = false;
    return code;
}

int answer_run(const program *p, int argc, char **argv)
{
    const size_t n = strlen("rocline ");
    const opt *format = find_json_option(p);
    /* A program that runs another one does not own its words. */
    if (p->command || strncmp(p->name, "rocline ", n) != 0 || !ask_for_json(format, &argc, argv))
        return p->run(p, argc, argv);
    answer_begin(p->name + n);
    state.lists_outputs = !format;
    return answer_end(p->run(p, argc, argv));
}

void answer_set_inputs(const strings *inputs)
{
    state.inputs = inputs;
}

/* ---- tables ---------------------------------------------------------------------------------- */

enum { BYTES_OF_TOKEN = 4, ENVELOPE_END = 160, TOKENS_FOR_A_ROW = 2000 };

int budget_check(const table_output *o)
{
    if (o->budget && o->table.format != ROCL_TABLE_JSON && o->table.format != ROCL_TABLE_MARKDOWN)
        return usage_error("--budget is only for --format json and md");
    return -1;
}

int tables_prepare(common *c, const char *format_name, table_output *o)
{
    if (format_name && !rocl_table_format_named(format_name, &o->table.format))
        return usage_error("--format: \"%s\" is not known", format_name);
    o->table.path = c->output_file ? c->output_file : "-";
    const char *form = format_name ? NULL : output_form(o->table.path);
    if (form)
        rocl_table_format_named(form, &o->table.format);
    c->to_stdout = strcmp(o->table.path, "-") == 0;
    o->table.width = output_width(c);
    const int code = output_check(c, o->table.path);
    return code < 0 ? budget_check(o) : code;
}

size_t budget_bytes(unsigned budget)
{
    const size_t bytes = (size_t)budget * BYTES_OF_TOKEN;
    return !budget ? 0 : bytes > ENVELOPE_END ? bytes - ENVELOPE_END : 1;
}

/* `used` bytes of it are gone. */
static void cut_tables(const table_output *o, size_t used, rocl_tables *tables)
{
    bool fits;
    const size_t bytes = (size_t)o->budget * BYTES_OF_TOKEN;
    if (!o->budget)
        return;
    const size_t gone =
        rocl_tables_cut(tables, o->table.format, bytes > used ? bytes - used : 0, &fits);
    if (!fits)
        msg_notice("--budget %u: the shortest answer is longer", o->budget);
    else if (gone)
        msg_notice("--budget %u: %zu table%s left out: ask for fewer reports, or for more tokens",
                   o->budget, gone, gone == 1 ? " is" : "s are");
}

/* Where there are many files and processes only the first are named: a row has some hundred
 * bytes. */
static rocl_status put_trace(const rocl_trace *t, bool b, unsigned budget, rocl_error *err)
{
    rocl_tables *about = NULL;
    const rocl_status st = t ? rocl_describe_trace(t, &about, err) : ROCL_OK;
    if (st == ROCL_OK && t)
        rocl_answer_put_trace(state.answer, b, about,
                              budget ? budget / TOKENS_FOR_A_ROW : SIZE_MAX);
    rocl_tables_free(about);
    return st;
}

rocl_status answer_open(const char *path, const rocl_trace *t, unsigned budget,
                        rocl_answer **answer, rocl_error *err)
{
    rocl_status st = open_answer(path, err);
    if (st == ROCL_OK)
        st = put_trace(t, false, budget, err);
    *answer = state.answer;
    return st;
}

rocl_status tables_write(const table_output *o, const rocl_trace *t, rocl_tables *tables,
                         rocl_error *err)
{
    rocl_answer *answer;
    progress_end(); /* the tables may be for the same terminal, also by its name */
    if (!state.wanted || o->table.format != ROCL_TABLE_JSON) {
        cut_tables(o, 0, tables);
        return rocl_write_tables(tables, &o->table, err);
    }
    rocl_status st = answer_open(o->table.path, t, o->budget, &answer, err);
    if (st == ROCL_OK)
        st = put_trace(o->b, true, o->budget, err);
    if (st != ROCL_OK)
        return st;
    size_t used = rocl_answer_bytes(answer) + ENVELOPE_END;
    for (size_t i = 0; i < state.count; i++)
        used += 2 * strlen(state.messages[i].text) + 80;
    cut_tables(o, used, tables);
    return rocl_answer_put_tables(answer, tables, err);
}
