/* rocline schema and rocline recipes: what there is to ask, and what comes back. */
#include "common/answer.h"
#include "common/output.h"
#include "rocline/commands.h"

#include <string.h>

typedef struct cli {
    strings operands;
    const char *format_name, *output_file;
    table_output output;
} cli;

static const opt schema_options[] = {
    {"output-file", 'o', OPT_STRING, offsetof(cli, output_file), "FILE", NULL, 0, 0,
     "write to this file (default: \"-\", standard output)"},
    COMMON_END,
};

static const opt recipe_options[] = {
    {"format", 0, OPT_STRING, offsetof(cli, format_name), "FORM", "text|csv|tsv|json|md", 0, 0,
     "text for people (the default) or Markdown (md); CSV, TSV or JSON for programs"},
    BUDGET_OPTION(offsetof(cli, output.budget)),
    {"output-file", 'o', OPT_STRING, offsetof(cli, output_file), "FILE", NULL, 0, 0,
     "write to this file (default: \"-\", standard output)"},
    COMMON_END,
};

static const opt_group schema_group = {"Output", schema_options};
static const opt_group recipe_group = {"Output", recipe_options};
static const opt_group *const schema_groups[] = {&schema_group, &other_group, NULL};
static const opt_group *const recipe_groups[] = {&recipe_group, &other_group, NULL};

/* Says what went wrong. */
static int finish_command(rocl_status s, rocl_error *err)
{
    if (s > ROCL_PARTIAL)
        msg_error("%s", rocl_error_text(err));
    rocl_error_free(err);
    return (int)s;
}

static int run_schema(const program *p, int argc, char **argv)
{
    static cli c;
    msg_init(p->name);
    int code = options_parse(p, &c, argc, argv);
    if (code >= 0)
        return code;
    if (c.operands.n > 1)
        return usage_error("one command at a time");
    const char *command = c.operands.n ? c.operands.v[0] : NULL, *word;
    if (command && !strcmp(command, "doctor")) /* `rocline stats doctor` answers */
        command = "stats";
    bool known = !command;
    for (size_t i = 0; command && (word = rocl_schema_command(NULL, i)); i++)
        known |= !strcmp(word, command);
    if (!known) {
        const char *near = rocl_nearest_word(command, strlen(command), rocl_schema_command, NULL);
        return near
                   ? usage_error("\"%s\" has no schema of its own; did you mean %s?", command, near)
                   : usage_error("\"%s\" has no schema of its own", command);
    }
    rocl_error *err = must_have(rocl_error_new());
    return finish_command(rocl_write_schema(command, c.output_file ? c.output_file : "-", err),
                          err);
}

static int run_recipes(const program *p, int argc, char **argv)
{
    static cli c;
    rocl_table_options *o = &c.output.table;
    rocl_tables *tables = NULL;
    msg_init(p->name);
    int code = options_parse(p, &c, argc, argv);
    if (code < 0 && c.operands.n)
        code = usage_error("recipes takes no input");
    if (code < 0 && c.format_name && !rocl_table_format_named(c.format_name, &o->format))
        code = usage_error("--format: \"%s\" is not known", c.format_name);
    if (code < 0)
        code = budget_check(&c.output);
    if (code >= 0)
        return code;
    o->path = c.output_file ? c.output_file : "-";
    rocl_error *err = must_have(rocl_error_new());
    rocl_status s = rocl_recipes(&tables, err);
    if (s == ROCL_OK)
        s = tables_write(&c.output, NULL, tables, err);
    rocl_tables_free(tables);
    return finish_command(s, err);
}

const program schema_program = {
    .name = "rocline schema",
    .tool = "rocline-show",
    .run = run_schema,
    .synopsis = "[COMMAND] [OPTION]...",
    .purpose =
        "Print the JSON Schema (draft 2020-12) of what `rocline COMMAND --format json` prints;\n"
        "without a command, of what all of them have in common.",
    .groups = schema_groups,
    .examples = "  rocline schema stats >stats.schema.json\n"
                "  rocline schema | jq -r '.properties | keys[]'\n",
    .operands = offsetof(cli, operands),
    .alone = true,
    .operand_words = rocl_schema_command,
};

const program recipes_program = {
    .name = "rocline recipes",
    .tool = "rocline-show",
    .run = run_recipes,
    .synopsis = "[OPTION]...",
    .purpose = "Print questions that people ask of a trace, and the commands that answer them.",
    .groups = recipe_groups,
    .examples = "  rocline recipes\n"
                "  rocline recipes --format json | jq -r '.data.recipes.rows[].command'\n",
    .operands = offsetof(cli, operands),
    .alone = true,
};
