/* The styles. 1.0 is what the converters of ROCm 7.0 write, 1.1 what those of 2026 do, rocprofv3
 * what the profiler itself writes: headers, quoting and formats of numbers are theirs to the byte.
 * Files that none of them has follow the manner of the others. */
#include "sink/csv/csv.h"

#include "base/error.h"

#include <stdio.h>
#include <string.h>

/* clang-format off */
#define COLUMN(title, op, field) {title, op, field, CSV_ALL, CSV_ALWAYS, NULL}
#define GUID {"Guid", CSV_GUID, CSV_F_PROCESS, CSV_ROCPD, CSV_ALWAYS, NULL}
#define KIND(text) {"Kind", CSV_LITERAL, 0, CSV_ALL, CSV_ALWAYS, "\"" text "\""}
#define CORRELATION COLUMN("Correlation_Id", CSV_U64, CSV_F_STACK)
#define THREAD COLUMN("Thread_Id", CSV_THREAD, CSV_F_THREAD)
#define PROCESS COLUMN("Process_Id", CSV_PROCESS, CSV_F_PROCESS)
#define START_END COLUMN("Start_Timestamp", CSV_START, 0), COLUMN("End_Timestamp", CSV_END, 0)
#define DURATION(styles, when) {"Duration", CSV_DURATION, 0, styles, when, NULL}
#define TIMES START_END, DURATION(CSV_ALL, CSV_IF_DURATION)
#define END_OF_COLUMNS {NULL, CSV_END_OF_COLUMNS, 0, 0, CSV_ALWAYS, NULL}
#define REGISTERS                                                                                  \
    COLUMN("LDS_Block_Size", CSV_I64, CSV_F_LDS),                                                  \
    COLUMN("Scratch_Size", CSV_I64, CSV_F_SCRATCH),                                                \
    COLUMN("VGPR_Count", CSV_VGPR, CSV_F_KERNEL),                                                  \
    COLUMN("Accum_VGPR_Count", CSV_ACCUM_VGPR, CSV_F_KERNEL),                                      \
    COLUMN("SGPR_Count", CSV_SGPR, CSV_F_KERNEL)

static const rocl_csv_column kernel_columns[] = {
    GUID,
    KIND("KERNEL_DISPATCH"),
    COLUMN("Agent_Id", CSV_AGENT, CSV_F_AGENT),
    COLUMN("Queue_Id", CSV_QUEUE, CSV_F_QUEUE),
    COLUMN("Stream_Id", CSV_STREAM, CSV_F_STREAM),
    THREAD,
    COLUMN("Dispatch_Id", CSV_U64, CSV_F_DISPATCH),
    COLUMN("Kernel_Id", CSV_I64, CSV_F_KERNEL_ID),
    COLUMN("Kernel_Name", CSV_TEXT, CSV_F_NAME),
    CORRELATION,
    START_END,
    DURATION(CSV_1_1, CSV_ALWAYS),
    DURATION(CSV_1_0 | CSV_V3, CSV_IF_DURATION),
    REGISTERS,
    COLUMN("Workgroup_Size_X", CSV_U64, CSV_F_WORKGROUP),
    COLUMN("Workgroup_Size_Y", CSV_U64, CSV_F_WORKGROUP + 1),
    COLUMN("Workgroup_Size_Z", CSV_U64, CSV_F_WORKGROUP + 2),
    COLUMN("Grid_Size_X", CSV_U64, CSV_F_GRID),
    COLUMN("Grid_Size_Y", CSV_U64, CSV_F_GRID + 1),
    COLUMN("Grid_Size_Z", CSV_U64, CSV_F_GRID + 2),
    END_OF_COLUMNS,
};

static const rocl_csv_column copy_columns[] = {
    GUID,
    KIND("MEMORY_COPY"),
    COLUMN("Direction", CSV_TEXT, CSV_F_NAME),
    COLUMN("Stream_Id", CSV_STREAM, CSV_F_COPY_STREAM),
    COLUMN("Source_Agent_Id", CSV_AGENT, CSV_F_SOURCE),
    COLUMN("Destination_Agent_Id", CSV_AGENT, CSV_F_DESTINATION),
    CORRELATION,
    TIMES,
    {"Bytes", CSV_U64, CSV_F_BYTES, CSV_ALL, CSV_IF_BYTES, NULL},
    END_OF_COLUMNS,
};

static const rocl_csv_column alloc_columns[] = {
    GUID,
    KIND("MEMORY_ALLOCATION"),
    COLUMN("Operation", CSV_TEXT, CSV_F_NAME),
    COLUMN("Agent_Id", CSV_AGENT, CSV_F_AGENT),
    COLUMN("Allocation_Size", CSV_U64, CSV_F_SIZE),
    COLUMN("Address", CSV_HEX, CSV_F_ADDRESS),
    CORRELATION,
    TIMES,
    END_OF_COLUMNS,
};

/* 1.0 has no Guid here. */
static const rocl_csv_column scratch_columns[] = {
    {"Guid", CSV_GUID, CSV_F_PROCESS, CSV_1_1, CSV_ALWAYS, NULL},
    KIND("SCRATCH_MEMORY"),
    COLUMN("Operation", CSV_TEXT, CSV_F_NAME),
    COLUMN("Agent_Id", CSV_AGENT, CSV_F_AGENT),
    COLUMN("Queue_Id", CSV_QUEUE, CSV_F_QUEUE),
    THREAD,
    COLUMN("Alloc_Flags", CSV_FLAGS, CSV_F_FLAGS),
    TIMES,
    END_OF_COLUMNS,
};

static const rocl_csv_column region_columns[] = {
    GUID,
    COLUMN("Domain", CSV_TEXT, CSV_F_CATEGORY),
    COLUMN("Function", CSV_TEXT, CSV_F_NAME),
    PROCESS,
    THREAD,
    CORRELATION,
    TIMES,
    END_OF_COLUMNS,
};

/* "Pid" is the guid, and bare: a slip in ROCm 7.0 that readers have got used to. */
static const rocl_csv_column counter_columns[] = {
    {"Pid", CSV_GUID_BARE, CSV_F_PROCESS, CSV_1_0, CSV_ALWAYS, NULL},
    {"Guid", CSV_GUID, CSV_F_PROCESS, CSV_1_1, CSV_ALWAYS, NULL},
    CORRELATION,
    COLUMN("Dispatch_Id", CSV_U64, CSV_F_DISPATCH),
    COLUMN("Agent_Id", CSV_AGENT, CSV_F_AGENT),
    COLUMN("Queue_Id", CSV_QUEUE, CSV_F_QUEUE),
    PROCESS,
    THREAD,
    COLUMN("Grid_Size", CSV_U64, CSV_F_GRID_SIZE),
    COLUMN("Kernel_Id", CSV_I64, CSV_F_KERNEL_ID),
    COLUMN("Kernel_Name", CSV_TEXT, CSV_F_NAME),
    COLUMN("Workgroup_Size", CSV_U64, CSV_F_WORKGROUP_SIZE),
    REGISTERS,
    COLUMN("Counter_Name", CSV_COUNTER_NAME, CSV_F_COUNTER),
    COLUMN("Counter_Value", CSV_VALUE, CSV_F_VALUE),
    TIMES,
    END_OF_COLUMNS,
};

#define SAMPLE_HEAD                                                                                \
    GUID,                                                                                          \
    CORRELATION,                                                                                   \
    COLUMN("Agent_Id", CSV_AGENT, CSV_F_SAMPLE_AGENT),                                             \
    PROCESS,                                                                                       \
    THREAD,                                                                                        \
    COLUMN("Counter_Name", CSV_COUNTER_NAME, CSV_F_SAMPLE_COUNTER)

static const rocl_csv_column spm_columns[] = {
    SAMPLE_HEAD,
    COLUMN("Xcc", CSV_UNIT, CSV_F_XCC),
    COLUMN("Shader_Engine", CSV_UNIT, CSV_F_SHADER_ENGINE),
    COLUMN("Shader_Array", CSV_UNIT, CSV_F_SHADER_ARRAY),
    COLUMN("Wgp", CSV_UNIT, CSV_F_WGP),
    COLUMN("Instance", CSV_UNIT, CSV_F_INSTANCE),
    COLUMN("Counter_Value", CSV_VALUE, CSV_F_SAMPLE_VALUE),
    COLUMN("Timestamp", CSV_START, 0),
    END_OF_COLUMNS,
};

static const rocl_csv_column sample_columns[] = {
    SAMPLE_HEAD,
    COLUMN("Units", CSV_COUNTER_UNITS, CSV_F_SAMPLE_COUNTER),
    COLUMN("Counter_Value", CSV_VALUE, CSV_F_SAMPLE_VALUE),
    COLUMN("Timestamp", CSV_START, 0),
    END_OF_COLUMNS,
};

static const rocl_csv_column graph_columns[] = {
    GUID,
    KIND("Graph Launch"),
    COLUMN("Agent_Id", CSV_AGENT, CSV_F_AGENT),
    COLUMN("Queue_Id", CSV_QUEUE, CSV_F_QUEUE),
    THREAD,
    CORRELATION,
    START_END,
    DURATION(CSV_ALL, CSV_ALWAYS),
    COLUMN("Graph_Exec_Id", CSV_U64, CSV_F_GRAPH_EXEC),
    COLUMN("Kernel_Dispatch_Count", CSV_U64, CSV_F_KERNELS),
    END_OF_COLUMNS,
};

static const rocl_csv_column hip_event_columns[] = {
    GUID,
    KIND("HIP_EVENT"),
    COLUMN("Operation", CSV_TEXT, CSV_F_NAME),
    COLUMN("Agent_Id", CSV_AGENT, CSV_F_AGENT),
    COLUMN("Queue_Id", CSV_QUEUE, CSV_F_QUEUE),
    COLUMN("Stream_Id", CSV_STREAM, CSV_F_STREAM),
    THREAD,
    COLUMN("Source_Queue_Id", CSV_QUEUE, CSV_F_SOURCE_QUEUE),
    CORRELATION,
    START_END,
    DURATION(CSV_ALL, CSV_ALWAYS),
    END_OF_COLUMNS,
};

#define REGION ROCL_BIT(ROCL_REGION)
#define MARKER ROCL_BIT(ROCL_MARKER)
#define INSTANT ROCL_BIT(ROCL_INSTANT)
#define API (CSV_1_0 | CSV_V3), CSV_REGION_FIELDS

/* In order of writing. API files of regions take markers and instants only by their category. */
const rocl_csv_file rocl_csv_files[CSV_FILES] = {
    [CSV_FILE_KERNEL] = {"kernel", "_trace", NULL, CSV_ALL, CSV_DISPATCH_FIELDS,
                         ROCL_BIT(ROCL_DISPATCH), kernel_columns},
    [CSV_FILE_COPY] = {"memory_copy", "_trace", NULL, CSV_ALL, CSV_COPY_FIELDS,
                       ROCL_BIT(ROCL_COPY), copy_columns},
    [CSV_FILE_ALLOC] = {"memory_allocation", "_trace", NULL, CSV_ALL, CSV_ALLOC_FIELDS,
                        ROCL_BIT(ROCL_ALLOC), alloc_columns},
    [CSV_FILE_SCRATCH] = {"scratch_memory", "_trace", NULL, CSV_ALL, CSV_ALLOC_FIELDS,
                          ROCL_BIT(ROCL_SCRATCH), scratch_columns},
    [CSV_FILE_HIP] = {"hip", "_api_trace", NULL, API, REGION | INSTANT, region_columns},
    [CSV_FILE_HSA] = {"hsa", "_api_trace", NULL, API, REGION | INSTANT, region_columns},
    [CSV_FILE_MARKER] = {"marker", "_api_trace", NULL, API, REGION | MARKER | INSTANT,
                         region_columns},
    [CSV_FILE_RCCL] = {"rccl", "_api_trace", NULL, API, REGION | INSTANT, region_columns},
    [CSV_FILE_ROCDECODE] = {"rocdecode", "_api_trace", NULL, API, REGION | INSTANT,
                            region_columns},
    [CSV_FILE_ROCJPEG] = {"rocjpeg", "_api_trace", NULL, API, REGION | INSTANT, region_columns},
    [CSV_FILE_OTHER] = {"other", "_api_trace", NULL, API, REGION | MARKER | INSTANT,
                        region_columns},
    [CSV_FILE_REGIONS] = {"regions", "_trace", NULL, CSV_1_1, CSV_REGION_FIELDS, REGION | MARKER,
                          region_columns},
    [CSV_FILE_INSTANTS] = {"instants", "_trace", NULL, CSV_1_1, CSV_REGION_FIELDS, INSTANT,
                           region_columns},
    [CSV_FILE_COUNTER] = {"counter_collection", "", "_trace", CSV_ALL, CSV_COUNTER_FIELDS,
                          ROCL_BIT(ROCL_COUNTER), counter_columns},
    [CSV_FILE_SPM] = {"spm_counter_collection", "_trace", NULL, CSV_ALL, CSV_SAMPLE_FIELDS,
                      ROCL_BIT(ROCL_SPM), spm_columns},
    [CSV_FILE_SAMPLE] = {"counter_sample", "_trace", NULL, CSV_ALL, CSV_SAMPLE_FIELDS,
                         ROCL_BIT(ROCL_SAMPLE), sample_columns},
    [CSV_FILE_GRAPH] = {"graph_launch", "_trace", NULL, CSV_ALL, CSV_HIP_FIELDS,
                        ROCL_BIT(ROCL_GRAPH), graph_columns},
    [CSV_FILE_HIP_EVENT] = {"hip_event", "_trace", NULL, CSV_ALL, CSV_HIP_FIELDS,
                            ROCL_BIT(ROCL_HIP_EVENT), hip_event_columns},
    [CSV_FILE_AGENT] = {"agent_info", "", NULL, CSV_ALL, 0, 0, NULL},
    [CSV_FILE_PROCESS] = {"process_info", "", NULL, CSV_V3, 0, 0, NULL},
    [CSV_FILE_RESULTS] = {"results", "", NULL, CSV_V1, 0,
                          ROCL_BIT(ROCL_DISPATCH) | ROCL_BIT(ROCL_COUNTER), NULL},
};
/* clang-format on */

/* ---- columns ---- */

void rocl_csv_make_plan(rocl_csv_plan *plan, rocl_csv_file_id file, const rocl_csv_options *o)
{
    const bool when[] = {
        [CSV_ALWAYS] = true, [CSV_IF_DURATION] = o->duration, [CSV_IF_BYTES] = o->bytes};
    plan->count = 0;
    for (const rocl_csv_column *c = rocl_csv_files[file].columns; c && c->op != CSV_END_OF_COLUMNS;
         c++) {
        if ((c->styles >> o->style & 1) && when[c->when])
            plan->columns[plan->count++] = c;
    }
}

/* 1.1 applies Python's str.title(): a capital after every non-letter, else lower case
 * ("Vgpr_Count", "Cap_Queuesize32Bit"). */
void rocl_csv_put_title(rocl_buf *to, const char *title, rocl_csv_style style)
{
    bool inside = false;
    rocl_buf_byte(to, '"');
    for (; *title; title++) {
        char c = *title;
        bool upper = c >= 'A' && c <= 'Z', lower = c >= 'a' && c <= 'z';
        if (style == ROCL_CSV_ROCPD_1_1 && (inside ? upper : lower))
            c ^= 'a' ^ 'A';
        inside = upper || lower;
        rocl_buf_byte(to, (uint8_t)c);
    }
    rocl_buf_byte(to, '"');
}

void rocl_csv_put_header(rocl_buf *to, const rocl_csv_plan *plan, rocl_csv_style style)
{
    for (unsigned i = 0; i < plan->count; i++) {
        rocl_csv_put_title(to, plan->columns[i]->title, style);
        rocl_buf_byte(to, i + 1 < plan->count ? ',' : '\n');
    }
}

/* ---- files ---- */

void rocl_csv_file_name(char *to, size_t size, rocl_csv_file_id file, rocl_csv_style style)
{
    const rocl_csv_file *f = &rocl_csv_files[file];
    const char *suffix = f->suffix_1_1 && style == ROCL_CSV_ROCPD_1_1 ? f->suffix_1_1 : f->suffix;
    snprintf(to, size, "%s%s", f->stem, suffix);
}

/* AMD's profiler writes HIP_RUNTIME_API_EXT, its sampling profiler rocm_hip_api. */
rocl_csv_file_id rocl_csv_file_of_category(const char *category, rocl_csv_style style)
{
    if (style == ROCL_CSV_ROCPD_1_1)
        return CSV_FILE_REGIONS;
    const rocl_call_group *g = rocl_call_group_of(rocl_bare_category(category));
    for (rocl_csv_file_id f = CSV_FILE_HIP; g && f < CSV_FILE_OTHER; f++)
        if (!strcmp(g->word, rocl_csv_files[f].stem))
            return f;
    return CSV_FILE_OTHER;
}

/* ---- --kinds ---- */

/* The length of a name without a trailing _trace and then _api or _info. */
static size_t stem_length(const char *name)
{
    static const char *const ends[] = {"_trace", "_api", "_info"};
    size_t n = strlen(name);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        size_t m = strlen(ends[i]);
        if (n > m && !strncmp(name + n - m, ends[i], m))
            n -= m;
    }
    return n;
}

/* Is the word the name, or its plural? '-' may stand for '_'. */
static bool is_named(const char *word, size_t word_len, const char *name, size_t name_len)
{
    size_t i = 0;
    while (i < word_len && i < name_len &&
           (word[i] == name[i] || (word[i] == '-' && name[i] == '_')))
        i++;
    return i == name_len && (i == word_len || (i + 1 == word_len && word[i] == 's'));
}

/* The file of that name, or the files with events of the kind of that name. */
static uint32_t find_files(const char *word, rocl_csv_style style)
{
    uint32_t kinds = 0, files = 0;
    for (unsigned f = 0; f < CSV_FILES; f++) {
        const char *stem = rocl_csv_files[f].stem;
        if ((rocl_csv_files[f].styles >> style & 1) &&
            is_named(word, stem_length(word), stem, stem_length(stem)))
            return 1u << f;
    }
    for (unsigned k = 0; k < ROCL_KINDS; k++) {
        const char *name = rocl_kind_name((rocl_kind)k);
        kinds |= is_named(word, strlen(word), name, strlen(name)) ? ROCL_BIT(k) : 0;
    }
    for (unsigned f = 0; f < CSV_FILES; f++) {
        /* Its regions (MARKER_CONTROL_API of other writers) do not make it a file of regions. */
        uint32_t own = rocl_csv_files[f].kinds & (f == CSV_FILE_MARKER ? ~REGION : ROCL_ALL_KINDS);
        if ((rocl_csv_files[f].styles >> style & 1) && (own & kinds))
            files |= 1u << f;
    }
    return files;
}

const char *rocl_csv_kind_word(const void *ctx, size_t i)
{
    static _Thread_local char word[64];
    (void)ctx;
    if (i >= CSV_FILES)
        return NULL;
    const char *stem = rocl_csv_files[i].stem;
    snprintf(word, sizeof word, "%.*s", (int)stem_length(stem), stem);
    return word;
}

static rocl_status fail_unknown_word(const char *word, rocl_csv_style style, rocl_error *err)
{
    const char *near = rocl_nearest_word(word, stem_length(word), rocl_csv_kind_word, NULL);
    rocl_buf list = {0};
    for (unsigned f = 0; f < CSV_FILES; f++) {
        if (!(rocl_csv_files[f].styles >> style & 1))
            continue;
        rocl_buf_str(&list, list.len ? ", " : "");
        rocl_buf_str(&list, rocl_csv_files[f].stem);
    }
    rocl_buf_byte(&list, '\0');
    if (near && !list.failed && !strstr((char *)list.data, near)) /* a file of another style */
        near = NULL;
    rocl_status st = list.failed
                         ? rocl_fail_memory(err)
                         : rocl_fail(err, ROCL_USAGE,
                                     "--kinds: no CSV file is called \"%s\": choose from %s%s%s%s",
                                     word, (char *)list.data, near ? "; did you mean " : "",
                                     near ? near : "", near ? "?" : "");
    rocl_buf_free(&list);
    return st;
}

rocl_status rocl_csv_select(uint32_t *files, const rocl_csv_options *o, rocl_error *err)
{
    *files = 0;
    for (unsigned f = 0; f < CSV_FILES && !o->kinds; f++)
        *files |= (uint32_t)(rocl_csv_files[f].styles >> o->style & 1) << f;
    for (const char *const *w = o->kinds; w && *w; w++) {
        uint32_t chosen = find_files(*w, o->style);
        if (!chosen)
            return fail_unknown_word(*w, o->style, err);
        *files |= chosen;
    }
    if (o->path && (*files & (*files - 1)))
        return rocl_fail(err, ROCL_USAGE, "%s takes one file: choose one with --kinds",
                         strcmp(o->path, "-") ? o->path : "standard output");
    return ROCL_OK;
}
