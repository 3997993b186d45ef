/* The JSON Schema (draft 2020-12) of what commands print with --format json, made of the tables
 * that they print: the members of the envelope from table/json.h, those of the data from the
 * definitions of their tables. */
#include <string.h>

#include "analysis/report.h"
#include "base/out.h"
#include "base/text.h"
#include "table/format.h"
#include "table/json.h"

/* ---- commands -------------------------------------------------------------------------------- */

/* The data of queries, whose rows have any columns, and of commands that write files. */
#define QUERY_DATA                                                                                 \
    "\"type\": [\"object\", \"null\"], \"required\": [\"results\"], \"additionalProperties\": "    \
    "false,\n"                                                                                     \
    "   \"properties\": {\"results\": {\"type\": \"array\", \"items\": {\"type\": \"object\",\n"   \
    "    \"required\": [\"columns\", \"rows\", \"left_out\"], \"additionalProperties\": false,\n"  \
    "    \"properties\": {\"columns\": {\"type\": \"array\", \"items\": {\"type\": "               \
    "\"string\"}},\n"                                                                              \
    "     \"rows\": {\"type\": \"array\", \"items\": {\"type\": \"array\", \"items\":\n"           \
    "      {\"type\": [\"string\", \"number\", \"null\"]}}},\n"                                    \
    "     \"left_out\": {\"type\": \"integer\", \"minimum\": 0}}}}}"
#define OUTPUT_DATA                                                                                \
    "\"type\": [\"object\", \"null\"], \"required\": [\"outputs\"], \"additionalProperties\": "    \
    "false,\n"                                                                                     \
    "   \"properties\": {\"outputs\": {\"type\": \"array\", \"items\": {\"type\": \"object\",\n"   \
    "    \"required\": [\"path\", \"files\", \"bytes\"], \"additionalProperties\": false,\n"       \
    "    \"properties\": {\"path\": {\"type\": \"string\"}, \"files\": {\"type\": \"integer\"},\n" \
    "     \"bytes\": {\"type\": \"integer\"}}}}}"

/* All that their data may hold. */
static const struct command_tables {
    const char *command;
    bool reports;                        /* those of all reports */
    const rocl_table_def *const *tables; /* further ones, NULL at the end; or NULL */
    bool all;                            /* all of them are always present */
    const char *data; /* the schema of other data, members of its object; or NULL */
} commands[] = {
    {"stats", true, rocl_finding_tables, false, NULL},
    {"compare", false, rocl_compare_tables, false, NULL},
    {"info", false, rocl_description_tables, false, NULL},
    {"show", false, rocl_show_tables, false, NULL},
    {"correlate", false, rocl_correlate_tables, false, NULL},
    {"recipes", false, rocl_recipe_tables, true, NULL},
    {"query", false, NULL, false, QUERY_DATA},
    {"check", false, rocl_check_tables, true, NULL},
    {"csv", false, NULL, false, OUTPUT_DATA},
    {"pftrace", false, NULL, false, OUTPUT_DATA},
    {"otf2", false, NULL, false, OUTPUT_DATA},
    {"json", false, NULL, false, OUTPUT_DATA},
    {"rpt", false, NULL, false, OUTPUT_DATA},
    {"merge", false, NULL, false, OUTPUT_DATA},
    {"convert", false, NULL, false, OUTPUT_DATA},
    {"export", false, NULL, false, OUTPUT_DATA},
};

enum { COMMANDS = sizeof commands / sizeof *commands };

const char *rocl_schema_command(const void *ctx, size_t i)
{
    (void)ctx;
    return i < COMMANDS ? commands[i].command : NULL;
}

/* ---- pieces ---------------------------------------------------------------------------------- */

typedef struct schema {
    rocl_buf b;
    unsigned depth;
    bool more; /* the object already has a member */
} schema;

static void put_quoted(schema *s, const char *text)
{
    rocl_buf_byte(&s->b, '"');
    rocl_json_put(&s->b, text, strlen(text));
    rocl_buf_byte(&s->b, '"');
}

static void begin_line(schema *s)
{
    rocl_buf_str(&s->b, s->more ? ",\n" : "\n");
    for (unsigned i = 0; i < s->depth; i++)
        rocl_buf_byte(&s->b, ' ');
    s->more = true;
}

static void begin_schema_member(schema *s, const char *key)
{
    begin_line(s);
    put_quoted(s, key);
    rocl_buf_str(&s->b, ": ");
}

/* The value is JSON. */
static void put_raw_member(schema *s, const char *key, const char *value)
{
    begin_schema_member(s, key);
    rocl_buf_str(&s->b, value);
}

static void put_text_member(schema *s, const char *key, const char *value)
{
    begin_schema_member(s, key);
    put_quoted(s, value);
}

/* key NULL: the value of a key that was written before. */
static void begin_object(schema *s, const char *key)
{
    if (key)
        begin_schema_member(s, key);
    rocl_buf_byte(&s->b, '{');
    s->depth++;
    s->more = false;
}

static void end_object(schema *s)
{
    s->depth--;
    rocl_buf_byte(&s->b, '}');
    s->more = true;
}

/* There are no members but those. */
static void end_properties(schema *s)
{
    end_object(s);
    put_raw_member(s, "additionalProperties", "false");
}

/* "required": the names of members. */
static void begin_required(schema *s)
{
    begin_schema_member(s, "required");
    rocl_buf_byte(&s->b, '[');
}

static void put_required(schema *s, const char *name)
{
    rocl_buf_str(&s->b, s->b.len && s->b.data[s->b.len - 1] == '[' ? "" : ", ");
    put_quoted(s, name);
}

/* ---- tables ---------------------------------------------------------------------------------- */

/* Unknown values are null. Shares and averages have fractions, and so have sums that may be too
 * large for an integer. */
static const char *type_of(const rocl_column *c)
{
    if (c->unit == ROCL_UNIT_TEXT || c->unit == ROCL_UNIT_SENTENCE)
        return "[\"string\", \"null\"]";
    if (c->unit == ROCL_UNIT_COUNT || c->unit == ROCL_UNIT_TIME)
        return c->when & ROCL_OTHERS ? "[\"integer\", \"string\", \"null\"]"
                                     : "[\"integer\", \"null\"]";
    return "[\"number\", \"null\"]";
}

/* A row: columns that only some options print are not required. Two columns of one key are
 * alternatives. */
static void put_row_schema(schema *s, const char *key, const rocl_table_def *def)
{
    begin_object(s, key);
    put_text_member(s, "type", "object");
    begin_required(s);
    for (size_t i = 0; i < def->column_count; i++)
        if (!(def->columns[i].when & ROCL_CONDITIONS))
            put_required(s, def->columns[i].key);
    rocl_buf_byte(&s->b, ']');
    begin_object(s, "properties");
    for (size_t i = 0; i < def->column_count; i++) {
        const rocl_column *c = &def->columns[i];
        bool again = false;
        for (size_t k = 0; k < i; k++)
            again |= !strcmp(def->columns[k].key, c->key);
        if (again)
            continue;
        begin_object(s, c->key);
        put_raw_member(s, "type", type_of(c));
        begin_schema_member(s, "description");
        rocl_buf_byte(&s->b, '"');
        rocl_json_put(&s->b, c->title, strlen(c->title));
        if (c->unit != ROCL_UNIT_TEXT && c->unit != ROCL_UNIT_SENTENCE)
            rocl_buf_printf(&s->b, " (%s)", rocl_unit_name(c->unit));
        rocl_buf_byte(&s->b, '"');
        end_object(s);
    }
    end_properties(s);
    end_object(s);
}

static void put_table_schema(schema *s, const rocl_table_def *def)
{
    begin_object(s, def->key);
    put_text_member(s, "description", def->title);
    put_text_member(s, "type", "object");
    put_raw_member(s, "required", "[\"key\", \"title\", \"note\", \"columns\", \"rows\"]");
    begin_object(s, "properties");
    begin_object(s, "key");
    put_text_member(s, "const", def->key);
    end_object(s);
    put_raw_member(s, "title", "{\"type\": \"string\"}");
    put_raw_member(s, "note", "{\"type\": [\"string\", \"null\"]}");
    put_raw_member(s, "columns", "{\"$ref\": \"#/$defs/columns\"}");
    begin_object(s, "rows");
    put_text_member(s, "type", "array");
    put_row_schema(s, "items", def);
    end_object(s);
    end_properties(s);
    end_object(s);
}

static void put_data_schema(schema *s, const struct command_tables *c)
{
    put_raw_member(s, "type", "[\"object\", \"null\"]");
    if (c->all) {
        begin_required(s);
        for (const rocl_table_def *const *d = c->tables; *d; d++)
            put_required(s, (*d)->key);
        rocl_buf_byte(&s->b, ']');
    }
    begin_object(s, "properties");
    for (size_t i = 0; c->reports && rocl_report_table_def(i); i++)
        put_table_schema(s, rocl_report_table_def(i));
    for (const rocl_table_def *const *d = c->tables; d && *d; d++)
        put_table_schema(s, *d);
    end_properties(s);
}

/* ---- the envelope ---------------------------------------------------------------------------- */

/* One object of totals, and lists of the rest. */
static void put_trace_schema(schema *s)
{
    put_raw_member(s, "type", "[\"object\", \"null\"]");
    begin_required(s);
    for (const rocl_table_def *const *d = rocl_description_tables; *d; d++)
        put_required(s, (*d)->key);
    rocl_buf_byte(&s->b, ']');
    begin_object(s, "properties");
    for (const rocl_table_def *const *d = rocl_description_tables; *d; d++) {
        if (d == rocl_description_tables) {
            put_row_schema(s, (*d)->key, *d);
            continue;
        }
        begin_object(s, (*d)->key);
        put_text_member(s, "description", (*d)->title);
        put_text_member(s, "type", "array");
        put_row_schema(s, "items", *d);
        end_object(s);
    }
    end_properties(s);
}

static void put_envelope_member(schema *s, unsigned member, const char *command,
                                const struct command_tables *tables)
{
    static const char *const fixed[ROCL_ANSWER_MEMBERS] = {
        [ROCL_ANSWER_ROCLINE] = "\"type\": \"string\"",
        [ROCL_ANSWER_WARNINGS] = "\"type\": \"array\", \"items\": {\"$ref\": \"#/$defs/message\"}",
        [ROCL_ANSWER_ERRORS] = "\"type\": \"array\", \"items\": {\"$ref\": \"#/$defs/message\"}",
        [ROCL_ANSWER_EXIT_CODE] = "\"type\": \"integer\", \"minimum\": 0, \"maximum\": 6",
    };
    begin_object(s, rocl_answer_members[member].key);
    put_text_member(s, "description", rocl_answer_members[member].help);
    if (fixed[member]) {
        begin_line(s);
        rocl_buf_str(&s->b, fixed[member]);
    } else if (member == ROCL_ANSWER_SCHEMA_NUMBER) {
        begin_schema_member(s, "const");
        rocl_buf_printf(&s->b, "%d", ROCL_ANSWER_SCHEMA);
    } else if (member == ROCL_ANSWER_COMMAND && command) {
        put_text_member(s, "const", command);
    } else if (member == ROCL_ANSWER_COMMAND) {
        put_text_member(s, "type", "string");
    } else if (member == ROCL_ANSWER_TRACE || member == ROCL_ANSWER_TRACE_B) {
        put_trace_schema(s);
    } else if (tables && tables->data) {
        begin_line(s);
        rocl_buf_str(&s->b, tables->data);
    } else if (tables) {
        put_data_schema(s, tables);
    }
    end_object(s);
}

static void put_definitions(schema *s)
{
    begin_object(s, "$defs");
    begin_object(s, "message");
    put_text_member(s, "type", "object");
    begin_required(s);
    for (size_t i = 0; i < ROCL_MESSAGE_MEMBERS; i++)
        put_required(s, rocl_message_members[i].key);
    rocl_buf_byte(&s->b, ']');
    begin_object(s, "properties");
    for (size_t i = 0; i < ROCL_MESSAGE_MEMBERS; i++) {
        begin_object(s, rocl_message_members[i].key);
        put_raw_member(s, "type",
                       i == 0 || i == ROCL_MESSAGE_MEMBERS - 1 ? "\"string\""
                                                               : "[\"string\", \"null\"]");
        put_text_member(s, "description", rocl_message_members[i].help);
        end_object(s);
    }
    end_properties(s);
    end_object(s);
    put_raw_member(
        s, "columns",
        "{\"type\": \"array\", \"items\": {\"type\": \"object\",\n"
        "    \"required\": [\"key\", \"unit\"], \"properties\": {\"key\": {\"type\": "
        "\"string\"},\n    \"unit\": {\"enum\": [\"text\", \"count\", \"ns\", \"bytes\", "
        "\"bytes/s\", \"percent\", \"number\", \"joules\"]}}}}");
    end_object(s);
}

rocl_status rocl_write_schema(const char *command, const char *path, rocl_error *err)
{
    const struct command_tables *tables = NULL;
    schema s = {0};
    rocl_out *out = NULL;
    for (size_t i = 0; command && i < COMMANDS; i++)
        if (!strcmp(commands[i].command, command))
            tables = &commands[i];
    begin_object(&s, NULL);
    put_text_member(&s, "$schema", "https://json-schema.org/draft/2020-12/schema");
    begin_schema_member(&s, "title");
    rocl_buf_printf(&s.b, "\"rocline %s --format json\"", command ? command : "COMMAND");
    put_text_member(&s, "type", "object");
    begin_required(&s);
    for (unsigned i = 0; i < ROCL_ANSWER_MEMBERS; i++)
        if (rocl_answer_has(command, i))
            put_required(&s, rocl_answer_members[i].key);
    rocl_buf_byte(&s.b, ']');
    begin_object(&s, "properties");
    for (unsigned i = 0; i < ROCL_ANSWER_MEMBERS; i++)
        if (!command || rocl_answer_has(command, i))
            put_envelope_member(&s, i, command, tables);
    end_properties(&s);
    put_definitions(&s);
    end_object(&s);
    rocl_buf_byte(&s.b, '\n');
    rocl_status st = s.b.failed ? rocl_fail_memory(err) : rocl_out_open_as_named(&out, path, err);
    if (st == ROCL_OK)
        st = rocl_out_end(out, rocl_out_write(out, s.b.data, s.b.len, err), err);
    rocl_buf_free(&s.b);
    return st;
}
