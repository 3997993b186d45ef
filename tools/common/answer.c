/* The answer of a command of rocline, from the first message to the last byte. */
#include "common/answer.h"

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
} state;

bool answer_is_wanted(void)
{
    return state.wanted;
}

void answer_set_command(const char *command)
{
    state.command = command;
}

/* Before options are parsed: an error of them belongs in the answer as well. */
static bool asks_for_json(int argc, char **argv)
{
    bool json = false;
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        const char *value = NULL;
        if (!strncmp(argv[i], "--format=", 9))
            value = argv[i] + 9;
        else if (!strcmp(argv[i], "--format") && i + 1 < argc)
            value = argv[i + 1];
        if (value)
            json = !strcmp(value, "json");
    }
    return json;
}

static void keep_message(bool error, rocl_status code, const char *text)
{
    state.messages = must_have(realloc(state.messages, (state.count + 1) * sizeof *state.messages));
    state.messages[state.count++] = (kept_message){error, code, must_have(strdup(text))};
}

static rocl_status open_answer(const char *path, rocl_error *err)
{
    static const char *const none[] = {NULL};
    const char *const *inputs = state.inputs && state.inputs->n ? state.inputs->v : none;
    return rocl_answer_open(&state.answer, path, state.command, inputs, err);
}

int answer_run(const program *p, int argc, char **argv,
               int (*run)(const program *p, int argc, char **argv))
{
    const size_t n = strlen("rocline ");
    if (strncmp(p->name, "rocline ", n) != 0 || !asks_for_json(argc, argv))
        return run(p, argc, argv);
    state.wanted = true;
    state.command = p->name + n;
    msg_set_listener(keep_message);
    int code = run(p, argc, argv);
    msg_set_listener(NULL);
    if (!code && !state.answer) /* help */
        return code;
    rocl_error *err = must_have(rocl_error_new());
    rocl_status st = state.answer ? ROCL_OK : open_answer("-", err);
    for (size_t i = 0; i < state.count; i++) {
        const kept_message *m = &state.messages[i];
        if (st == ROCL_OK)
            rocl_answer_add_message(state.answer, m->error, m->error ? (rocl_status)code : m->code,
                                    m->text);
        free(m->text);
    }
    if (st == ROCL_OK)
        st = rocl_answer_end(state.answer, (rocl_status)code, err);
    if (st > ROCL_PARTIAL && code <= ROCL_PARTIAL) {
        msg_error("%s", rocl_error_text(err));
        code = (int)st;
    }
    rocl_error_free(err);
    free(state.messages);
    return code;
}

void answer_set_inputs(const strings *inputs)
{
    state.inputs = inputs;
}

/* ---- tables ---------------------------------------------------------------------------------- */

enum { BYTES_OF_TOKEN = 4, ENVELOPE_END = 160, TOKENS_FOR_A_ROW = 1000 };

int budget_check(const table_output *o)
{
    if (o->budget && o->table.format != ROCL_TABLE_JSON && o->table.format != ROCL_TABLE_MARKDOWN)
        return usage_error("--budget is only for --format json and md");
    return -1;
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

rocl_status answer_open(const char *path, const rocl_trace *t, unsigned budget,
                        rocl_answer **answer, rocl_error *err)
{
    rocl_tables *about = NULL;
    rocl_status st = open_answer(path, err);
    if (st == ROCL_OK && t)
        st = rocl_describe_trace(t, &about, err);
    /* Of many files and processes only the first are named: a row has some hundred bytes. */
    if (st == ROCL_OK && t)
        rocl_answer_put_trace(state.answer, about, budget ? budget / TOKENS_FOR_A_ROW : SIZE_MAX);
    rocl_tables_free(about);
    *answer = state.answer;
    return st;
}

rocl_status tables_write(const table_output *o, const rocl_trace *t, rocl_tables *tables,
                         rocl_error *err)
{
    rocl_answer *answer;
    if (!state.wanted || o->table.format != ROCL_TABLE_JSON) {
        cut_tables(o, 0, tables);
        return rocl_write_tables(tables, &o->table, err);
    }
    rocl_status st = answer_open(o->table.path, t, o->budget, &answer, err);
    if (st != ROCL_OK)
        return st;
    size_t used = rocl_answer_bytes(answer) + ENVELOPE_END;
    for (size_t i = 0; i < state.count; i++)
        used += 2 * strlen(state.messages[i].text) + 80;
    cut_tables(o, used, tables);
    return rocl_answer_put_tables(answer, tables, err);
}
