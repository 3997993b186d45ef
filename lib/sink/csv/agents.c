/* agent_info: the properties of agents, which the databases keep as JSON (up to 100 KiB each,
 * nearly all of it lists of caches and links that no column shows). What the JSON lacks is 0 or ""
 * in the style of ROCm 7.0 and "" in 1.1; names and numbers of the agent are taken from its row
 * then. */
#include "sink/csv/csv.h"

#include "base/error.h"
#include "base/text.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef enum agent_op {
    A_NUMBER,
    A_TEXT,
    A_TYPE, /* of the agent's row */
    A_GUID,
    A_CAPABILITY, /* all of them as the bits of one word */
} agent_op;

/* What stands in when the JSON has no such key. */
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
    {"Guid", "", A_GUID, OWN_NONE, CSV_ROCPD},
    {"Node_Id", NULL, A_NUMBER, OWN_NODE, CSV_ALL},
    {"Logical_Node_Id", NULL, A_NUMBER, OWN_LOGICAL, CSV_ALL},
    {"Agent_Type", "", A_TYPE, OWN_NONE, CSV_ALL},
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

static const char *end_of_string(const char *s, const char *end)
{
    for (s++; s < end && *s != '"'; s++)
        s += *s == '\\' && s + 1 < end;
    return s < end ? s + 1 : s;
}

static const char *end_of_list(const char *s, const char *end)
{
    for (size_t depth = 0; s < end;) {
        if (*s == '"') {
            s = end_of_string(s, end);
            continue;
        }
        depth += *s == '[';
        depth -= *s == ']';
        s++;
        if (!depth)
            break;
    }
    return s;
}

/* A number that a double does not hold (hive_id has 63 bits) is put in quotes: cJSON has nothing
 * but doubles, but leaves strings alone. */
static const char *copy_number(rocl_buf *to, const char *s, const char *end)
{
    size_t n = 1;
    while (s + n < end && strchr("0123456789+-.eE", s[n]) && s[n])
        n++;
    bool negative = to->len && to->data[to->len - 1] == '-';
    bool big = n > 15 && !negative && strspn(s, "0123456789") >= n;
    if (big)
        rocl_buf_byte(to, '"');
    rocl_buf_put(to, s, n);
    if (big)
        rocl_buf_byte(to, '"');
    return s + n;
}

/* *json is the JSON without the contents of its lists; NULL when the text does not parse: the
 * source has counted that. False: out of memory. */
static bool parse_properties(cJSON **json, const char *s, const char *end)
{
    rocl_buf pruned = {0};
    while (s < end) {
        const char *next = s + 1;
        if (*s == '"') {
            next = end_of_string(s, end);
            rocl_buf_put(&pruned, s, (size_t)(next - s));
        } else if (*s == '[') {
            next = end_of_list(s, end);
            rocl_buf_str(&pruned, "[]");
        } else if (*s >= '0' && *s <= '9') {
            next = copy_number(&pruned, s, end);
        } else {
            rocl_buf_byte(&pruned, (uint8_t)*s);
        }
        s = next;
    }
    bool good = !pruned.failed && rocl_json_read(json, (const char *)pruned.data, pruned.len);
    rocl_buf_free(&pruned);
    return good;
}

static const cJSON *find_property(const cJSON *json, const agent_column *c)
{
    char key[64];
    size_t n = 0;
    for (const char *s = c->path ? c->path : c->title; *s && *s != '.' && n < sizeof key - 1; s++)
        key[n++] = c->path ? *s : (char)(*s >= 'A' && *s <= 'Z' ? *s + ('a' - 'A') : *s);
    key[n] = '\0';
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(json, key);
    const char *dot = c->path ? strchr(c->path, '.') : NULL;
    return dot ? cJSON_GetObjectItemCaseSensitive(item, dot + 1) : item;
}

/* ---- values ---- */

static void put_float(rocl_buf *to, double v)
{
    if (!rocl_buf_reserve(to, ROCL_NUM_MAX))
        return;
    char *p = (char *)to->data + to->len;
    p = fabs(v) < 9e18 && v == (double)(int64_t)v ? rocl_put_i64(p, (int64_t)v)
                                                  : rocl_put_double(p, v);
    to->len = (size_t)(p - (char *)to->data);
}

static void put_number(rocl_buf *to, const cJSON *item, const rocl_agent *a, agent_own own,
                       rocl_csv_style style)
{
    const char *digits = cJSON_GetStringValue(item); /* of copy_number() */
    if (digits && *digits && !digits[strspn(digits, "0123456789")])
        rocl_buf_str(to, digits);
    else if (cJSON_IsNumber(item))
        put_float(to, item->valuedouble);
    else if (cJSON_IsBool(item))
        put_float(to, cJSON_IsTrue(item));
    else if (own == OWN_NODE && a->absolute_index >= 0)
        put_float(to, (double)a->absolute_index);
    else if (own == OWN_LOGICAL && a->logical_index >= 0)
        put_float(to, (double)a->logical_index);
    else
        rocl_buf_str(to, style == ROCL_CSV_ROCPD_1_1 ? "\"\"" : "0");
}

static void put_capability(rocl_buf *to, const cJSON *item)
{
    double word = cJSON_IsNumber(item) ? item->valuedouble : 0;
    for (size_t i = 0; i < sizeof capability_bits / sizeof *capability_bits; i++) {
        const cJSON *bit = cJSON_GetObjectItemCaseSensitive(item, capability_bits[i].name);
        double max = (double)((1u << capability_bits[i].bits) - 1);
        if (cJSON_IsNumber(bit) && bit->valuedouble >= 1 && bit->valuedouble <= max)
            word += floor(bit->valuedouble) * (double)(1u << capability_bits[i].shift);
    }
    put_float(to, word);
}

/* ---- rows ---- */

void rocl_csv_agent_header(rocl_buf *to, rocl_csv_style style)
{
    for (size_t i = 0; i < COLUMNS; i++) {
        if (!(columns[i].styles >> style & 1))
            continue;
        rocl_csv_put_title(to, columns[i].title, style);
        rocl_buf_byte(to, i + 1 < COLUMNS ? ',' : '\n');
    }
}

static void put_property(rocl_buf *to, const agent_column *c, const cJSON *json,
                         const rocl_capture *capture, const rocl_agent *a, rocl_csv_style style)
{
    const uint32_t own[] = {[OWN_NAME] = a->name,
                            [OWN_VENDOR] = a->vendor,
                            [OWN_PRODUCT] = a->product,
                            [OWN_MODEL] = a->model};
    const cJSON *item = find_property(json, c);
    const char *s = c->op == A_TEXT ? cJSON_GetStringValue(item) : NULL;
    if (c->op == A_CAPABILITY) {
        put_capability(to, item);
    } else if (c->op == A_NUMBER) {
        put_number(to, item, a, c->own, style);
    } else if (s) {
        rocl_csv_put_quoted(to, s, strlen(s));
    } else {
        size_t n;
        s = rocl_strings_get(capture->trace->strings,
                             c->op == A_GUID   ? capture->guid
                             : c->op == A_TYPE ? a->type_name
                                               : own[c->own],
                             &n);
        rocl_csv_put_quoted(to, s, n);
    }
}

rocl_status rocl_csv_agent_row(rocl_buf *to, const rocl_capture *c, const rocl_agent *a,
                               const char *properties, rocl_csv_style style, rocl_error *err)
{
    cJSON *json;
    if (!parse_properties(&json, properties, properties + strlen(properties)))
        return rocl_fail_memory(err);
    for (size_t i = 0; i < COLUMNS; i++) {
        if (!(columns[i].styles >> style & 1))
            continue;
        put_property(to, &columns[i], json, c, a, style);
        rocl_buf_byte(to, i + 1 < COLUMNS ? ',' : '\n');
    }
    cJSON_Delete(json);
    return to->failed ? rocl_fail_memory(err) : ROCL_OK;
}
