/* agent_info: the properties of agents, which the databases keep as JSON (up to 100 KiB each,
 * nearly all of it lists of caches and links that no column shows). What the JSON lacks is 0 or ""
 * in the style of ROCm 7.0 and "" in 1.1, except names and numbers, which come from the agent's
 * row. process_info holds what no file of AMD does: host, rank, uuids. */
#include "sink/csv/csv.h"

#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "model/identity.h"

#include <math.h>
#include <string.h>

typedef enum agent_op {
    A_NUMBER,
    A_TEXT,
    A_TYPE, /* of the agent's row */
    A_GUID,
    A_CAPABILITY, /* all of them as the bits of one word */
} agent_op;

/* The value if the JSON has no such key. */
typedef enum agent_own {
    OWN_NONE,
    OWN_NODE,
    OWN_LOGICAL,
    OWN_NAME,
    OWN_VENDOR,
    OWN_PRODUCT,
    OWN_MODEL
} agent_own;

typedef struct agent_column {
    const char *title;
    const char *path; /* in the JSON: "a" or "a.b"; NULL: the title in small letters */
    agent_op op;
    agent_own own;
    uint8_t styles;
} agent_column;

/* clang-format off */
#define NUMBER(title) {title, NULL, A_NUMBER, OWN_NONE, CSV_ALL}
#define NUMBER_AT(title, path) {title, path, A_NUMBER, OWN_NONE, CSV_ALL}

/* HSA_CAPABILITY of ROCm's hsakmttypes.h: X(name, the lowest bit, bits). */
#define CAPABILITIES(X) \
    X(HotPluggable, 0, 1) \
    X(HSAMMUPresent, 1, 1) \
    X(SharedWithGraphics, 2, 1) \
    X(QueueSizePowerOfTwo, 3, 1) \
    X(QueueSize32bit, 4, 1) \
    X(QueueIdleEvent, 5, 1) \
    X(VALimit, 6, 1) \
    X(WatchPointsSupported, 7, 1) \
    X(WatchPointsTotalBits, 8, 4) \
    X(DoorbellType, 12, 2) \
    X(AQLQueueDoubleMap, 14, 1) \
    X(DebugTrapSupported, 15, 1) \
    X(WaveLaunchTrapOverrideSupported, 16, 1) \
    X(WaveLaunchModeSupported, 17, 1) \
    X(PreciseMemoryOperationsSupported, 18, 1) \
    X(DEPRECATED_SRAM_EDCSupport, 19, 1) \
    X(Mem_EDCSupport, 20, 1) \
    X(RASEventNotify, 21, 1) \
    X(ASICRevision, 22, 4) \
    X(SRAM_EDCSupport, 26, 1) \
    X(SVMAPISupported, 27, 1) \
    X(CoherentHostAccess, 28, 1) \
    X(DebugSupportedFirmware, 29, 1) \
    X(PreciseALUOperationsSupported, 30, 1) \
    X(PerQueueResetSupported, 31, 1)
#define CAPABILITY_COLUMN(name, ...) {"Cap_" #name, "capability." #name, A_NUMBER, OWN_NONE, CSV_1_1},
#define CAPABILITY_BITS(name, shift, bits) {#name, shift, bits},

static const agent_column columns[] = {
    {"Guid", NULL, A_GUID, OWN_NONE, CSV_ROCPD},
    {"Node_Id", NULL, A_NUMBER, OWN_NODE, CSV_ALL},
    {"Logical_Node_Id", NULL, A_NUMBER, OWN_LOGICAL, CSV_ALL},
    {"Agent_Type", NULL, A_TYPE, OWN_NONE, CSV_ALL},
    NUMBER("Cpu_Cores_Count"),
    NUMBER("Simd_Count"),
    NUMBER("Cpu_Core_Id_Base"),
    NUMBER("Simd_Id_Base"),
    NUMBER("Max_Waves_Per_Simd"),
    NUMBER("Lds_Size_In_Kb"),
    NUMBER("Gds_Size_In_Kb"),
    NUMBER("Num_Gws"),
    NUMBER("Wave_Front_Size"),
    NUMBER("Num_Xcc"),
    NUMBER("Cu_Count"),
    NUMBER("Array_Count"),
    NUMBER("Num_Shader_Banks"),
    NUMBER("Simd_Arrays_Per_Engine"),
    NUMBER("Cu_Per_Simd_Array"),
    NUMBER("Simd_Per_Cu"),
    NUMBER("Max_Slots_Scratch_Cu"),
    NUMBER("Gfx_Target_Version"),
    NUMBER("Vendor_Id"),
    NUMBER("Device_Id"),
    NUMBER("Location_Id"),
    NUMBER("Domain"),
    NUMBER("Drm_Render_Minor"),
    NUMBER("Num_Sdma_Engines"),
    NUMBER("Num_Sdma_Xgmi_Engines"),
    NUMBER("Num_Sdma_Queues_Per_Engine"),
    NUMBER("Num_Cp_Queues"),
    NUMBER("Max_Engine_Clk_Ccompute"),
    NUMBER("Max_Engine_Clk_Fcompute"),
    NUMBER_AT("Sdma_Fw_Version", "sdma_fw_version.uCodeSDMA"),
    NUMBER_AT("Fw_Version", "fw_version.uCode"),
    {"Capability", "capability", A_CAPABILITY, OWN_NONE, CSV_1_0 | CSV_V3},
    CAPABILITIES(CAPABILITY_COLUMN)
    NUMBER("Cu_Per_Engine"),
    NUMBER("Max_Waves_Per_Cu"),
    {"Family_Id", NULL, A_NUMBER, OWN_NONE, CSV_1_0 | CSV_V3},
    NUMBER("Workgroup_Max_Size"),
    {"Family_Id", NULL, A_NUMBER, OWN_NONE, CSV_1_1},
    NUMBER("Grid_Max_Size"),
    NUMBER("Local_Mem_Size"),
    NUMBER("Hive_Id"),
    NUMBER("Gpu_Id"),
    NUMBER_AT("Workgroup_Max_Dim_X", "workgroup_max_dim.x"),
    NUMBER_AT("Workgroup_Max_Dim_Y", "workgroup_max_dim.y"),
    NUMBER_AT("Workgroup_Max_Dim_Z", "workgroup_max_dim.z"),
    NUMBER_AT("Grid_Max_Dim_X", "grid_max_dim.x"),
    NUMBER_AT("Grid_Max_Dim_Y", "grid_max_dim.y"),
    NUMBER_AT("Grid_Max_Dim_Z", "grid_max_dim.z"),
    {"Name", NULL, A_TEXT, OWN_NAME, CSV_ALL},
    {"Vendor_Name", NULL, A_TEXT, OWN_VENDOR, CSV_ALL},
    {"Product_Name", NULL, A_TEXT, OWN_PRODUCT, CSV_ALL},
    {"Model_Name", NULL, A_TEXT, OWN_MODEL, CSV_ALL},
};
/* clang-format on */

enum { COLUMNS = sizeof columns / sizeof *columns };

static const struct {
    const char *name;
    uint8_t shift, bits;
} capability_bits[] = {CAPABILITIES(CAPABILITY_BITS)};

/* ---- JSON ---- */

/* The value of each column in the JSON of an agent; ROCL_JSON_NOTHING: none. */
typedef struct agent_values {
    rocl_json_token column[COLUMNS];
    double capability; /* all of them as one word */
} agent_values;

/* The keys of columns, and which columns these are. */
typedef struct agent_keys {
    rocl_view key[COLUMNS];
    uint8_t column[COLUMNS];
    unsigned count;
} agent_keys;

static void add_key(agent_keys *k, rocl_view key, size_t column)
{
    k->key[k->count] = key;
    k->column[k->count++] = (uint8_t)column;
}

/* The top member of a column: its title in lower case (stored in `to`), or the first word of its
 * path. */
static rocl_view top_key(const agent_column *c, char *to)
{
    if (c->path)
        return rocl_view_until((rocl_view){c->path, strlen(c->path)}, '.');
    size_t n = 0;
    for (const char *s = c->title; *s; s++)
        to[n++] = *s >= 'A' && *s <= 'Z' ? (char)(*s - 'A' + 'a') : *s;
    return (rocl_view){to, n};
}

static void take_capability(rocl_json *r, agent_values *to)
{
    enum { BITS = sizeof capability_bits / sizeof *capability_bits };
    rocl_view keys[BITS];
    bool seen[BITS] = {false};
    rocl_json_token v;
    for (size_t i = 0; i < BITS; i++)
        keys[i] = (rocl_view){capability_bits[i].name, strlen(capability_bits[i].name)};
    for (int i; (i = rocl_json_member(r, keys, BITS, &v)) >= 0; seen[i] = true) {
        double bit, max = (double)((1u << capability_bits[i].bits) - 1);
        if (!seen[i] && v.kind == ROCL_JSON_NUMBER && rocl_json_double(v.text, &bit) && bit >= 1 &&
            bit <= max)
            to->capability += floor(bit) * (double)(1u << capability_bits[i].shift);
    }
}

/* The members of the object that the columns from `first` on have in common. */
static void take_object(rocl_json *r, size_t first, rocl_view name, rocl_csv_style style,
                        agent_values *to)
{
    agent_keys keys = {.count = 0};
    if (columns[first].op == A_CAPABILITY) {
        take_capability(r, to);
        return;
    }
    for (size_t i = first; i < COLUMNS; i++) {
        const char *path = columns[i].path;
        if (columns[i].styles >> style & 1 && path && !strncmp(path, name.p, name.n) &&
            path[name.n] == '.')
            add_key(&keys, (rocl_view){path + name.n + 1, strlen(path + name.n + 1)}, i);
    }
    rocl_json_token v;
    for (int i; (i = rocl_json_member(r, keys.key, keys.count, &v)) >= 0;) /* the first counts */
        if (to->column[keys.column[i]].kind == ROCL_JSON_NOTHING)
            to->column[keys.column[i]] = v;
}

/* Takes nothing of JSON that does not parse, which the source has counted. */
static void take_properties(agent_values *to, const char *json, rocl_csv_style style)
{
    enum { TITLE_MAX = 32 };
    char titles[COLUMNS][TITLE_MAX];
    agent_keys keys = {.count = 0};
    bool seen[COLUMNS] = {false};
    rocl_json r;
    rocl_json_token v;
    for (size_t i = 0; i < COLUMNS; i++) {
        if (!(columns[i].styles >> style & 1) || columns[i].op == A_GUID || columns[i].op == A_TYPE)
            continue;
        const rocl_view key = top_key(&columns[i], titles[i]);
        const rocl_view *last = keys.count ? &keys.key[keys.count - 1] : NULL;
        if (!last || last->n != key.n || memcmp(last->p, key.p, key.n) != 0)
            add_key(&keys, key, i);
    }
    *to = (agent_values){.capability = 0};
    rocl_json_open(&r, json, strlen(json), 0, 0);
    bool object = rocl_json_element(&r, &v) && rocl_json_enter(&r, ROCL_JSON_OBJECT);
    for (int i; object && (i = rocl_json_member(&r, keys.key, keys.count, &v)) >= 0;) {
        const size_t column = keys.column[i];
        const bool nested = columns[column].path && strchr(columns[column].path, '.');
        if (seen[i])
            continue;
        seen[i] = true;
        if (v.kind != ROCL_JSON_OBJECT && !nested)
            to->column[column] = v;
        else if ((nested || columns[column].op == A_CAPABILITY) &&
                 rocl_json_enter(&r, ROCL_JSON_OBJECT))
            take_object(&r, column, keys.key[i], style, to);
    }
    if (r.wrong)
        *to = (agent_values){.capability = 0};
}

/* ---- values ---- */

static void put_float(rocl_buf *to, double v)
{
    if (fabs(v) < 9e18 && v == (double)(int64_t)v)
        rocl_buf_i64(to, (int64_t)v);
    else
        rocl_buf_double(to, v);
}

/* The digits of a number that a double does not hold (hive_id has 63 bits) stay as they are, and so
 * does a text of digits. */
static void put_number(rocl_buf *to, const rocl_json_token *v, const rocl_agent *a, agent_own own,
                       rocl_csv_style style)
{
    enum { DIGITS = 15 }; /* of a double */
    double number;
    size_t digits = 0;
    while (digits < v->text.n && v->text.p[digits] >= '0' && v->text.p[digits] <= '9')
        digits++;
    const bool whole = digits && digits == v->text.n;
    if (whole && (v->kind == ROCL_JSON_STRING || (v->kind == ROCL_JSON_NUMBER && digits > DIGITS)))
        rocl_buf_put(to, v->text.p, v->text.n);
    else if (v->kind == ROCL_JSON_NUMBER && rocl_json_double(v->text, &number))
        put_float(to, number);
    else if (v->kind == ROCL_JSON_TRUE || v->kind == ROCL_JSON_FALSE)
        put_float(to, v->kind == ROCL_JSON_TRUE);
    else if (own == OWN_NODE && a->absolute_index >= 0)
        put_float(to, (double)a->absolute_index);
    else if (own == OWN_LOGICAL && a->logical_index >= 0)
        put_float(to, (double)a->logical_index);
    else
        rocl_buf_str(to, style == ROCL_CSV_ROCPD_1_1 ? "\"\"" : "0");
}

static void put_json_text(rocl_buf *to, const rocl_json_token *v)
{
    rocl_buf text = {0};
    if (!v->escaped) {
        rocl_csv_put_quoted(to, v->text.p, v->text.n);
        return;
    }
    rocl_json_unescape(&text, v->text);
    rocl_csv_put_quoted(to, (const char *)text.data, text.len);
    rocl_buf_free_into(&text, to);
}

/* ---- rows ---- */

static void put_text(rocl_buf *to, const rocl_trace *t, uint32_t text)
{
    size_t n;
    const char *s = rocl_strings_get(t->strings, text, &n);
    rocl_csv_put_quoted(to, s, n);
}

void rocl_csv_agent_header(rocl_buf *to, rocl_csv_style style)
{
    for (size_t i = 0; i < COLUMNS; i++) {
        if (!(columns[i].styles >> style & 1))
            continue;
        rocl_csv_put_title(to, columns[i].title, style);
        rocl_buf_byte(to, i + 1 < COLUMNS ? ',' : '\n');
    }
}

rocl_status rocl_csv_agent_row(rocl_buf *to, const rocl_capture *capture, const rocl_agent *a,
                               uint32_t guid, const char *properties, rocl_csv_style style,
                               rocl_error *err)
{
    const uint32_t own[] = {[OWN_NAME] = a->name,
                            [OWN_VENDOR] = a->vendor,
                            [OWN_PRODUCT] = a->product,
                            [OWN_MODEL] = a->model};
    agent_values values;
    take_properties(&values, properties, style);
    for (size_t i = 0; i < COLUMNS; i++) {
        const agent_column *c = &columns[i];
        const rocl_json_token *v = &values.column[i];
        if (!(c->styles >> style & 1))
            continue;
        if (c->op == A_CAPABILITY && v->kind != ROCL_JSON_NUMBER)
            put_float(to, values.capability);
        else if (c->op == A_CAPABILITY || c->op == A_NUMBER)
            put_number(to, v, a, c->own, style);
        else if (c->op == A_TEXT && v->kind == ROCL_JSON_STRING)
            put_json_text(to, v);
        else
            put_text(to, capture->trace,
                     c->op == A_GUID   ? guid
                     : c->op == A_TYPE ? a->type_name
                                       : own[c->own]);
        rocl_buf_byte(to, i + 1 < COLUMNS ? ',' : '\n');
    }
    return to->failed ? rocl_fail_memory(err) : ROCL_OK;
}

/* ---- processes ---- */

void rocl_csv_process_header(rocl_buf *to)
{
    rocl_buf_str(to, "\"Process_Id\",\"Rank\",\"Hostname\",\"Machine_Id\",\"Agent_Type\","
                     "\"Node_Id\",\"Uuid\"\n");
}

/* A row for a GPU; NULL: for none. */
static void put_process_row(rocl_buf *to, const rocl_capture *c, uint32_t process,
                            const rocl_agent *a)
{
    const rocl_process *p = &c->processes[process];
    const rocl_machine *m = rocl_machine_at(c, process);
    rocl_buf_i64(to, p->pid);
    rocl_buf_byte(to, ',');
    if (p->rank >= 0)
        rocl_buf_i64(to, p->rank);
    rocl_buf_byte(to, ',');
    put_text(to, c->trace, m ? m->hostname : 0);
    rocl_buf_byte(to, ',');
    put_text(to, c->trace, m ? m->machine_id : 0);
    rocl_buf_byte(to, ',');
    put_text(to, c->trace, a ? a->type_name : 0);
    rocl_buf_byte(to, ',');
    if (a)
        rocl_buf_i64(to, a->absolute_index);
    rocl_buf_byte(to, ',');
    put_text(to, c->trace, a ? a->uuid : 0);
    rocl_buf_byte(to, '\n');
}

void rocl_csv_process_rows(rocl_buf *to, const rocl_capture *c, uint32_t process)
{
    const size_t before = to->len;
    for (uint32_t i = 0; i < c->agent_count; i++) {
        const rocl_agent *a = &c->agents[i];
        const bool own = a->process < c->process_count ? a->process == process
                                                       : a->machine == rocl_machine_of(c, process);
        if (own && a->type == ROCL_AGENT_GPU && a->uuid && a->absolute_index >= 0)
            put_process_row(to, c, process, a);
    }
    if (to->len == before)
        put_process_row(to, c, process, NULL);
}
