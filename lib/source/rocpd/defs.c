/* Info tables -> definitions. They are small next to the events, so they are read whole, each with
 * its ids in a map: ids are sparse (a node's is a hash) and never indexes. A file may lack an info
 * table (older or other writers); then the ids that its events use become definitions. */
#include <cjson/cJSON.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/text.h"
#include "format/ranks.h"
#include "source/rocpd/rocpd.h"

/* ---- which column goes where ----------------------------------------------------------------- */

typedef enum field_type {
    FIELD_TEXT,      /* a text, "" where there is none */
    FIELD_INT,       /* an integer, `missing` where there is none */
    FIELD_INT_OR_ID, /* an integer, the id of the row where there is none */
    FIELD_REF,       /* an index by the map at `ids`, ROCL_NONE where there is none */
    FIELD_OTHER      /* the function `complete` reads it */
} field_type;

typedef struct field {
    const char *column;
    field_type type;
    size_t to;  /* offset in the definition */
    size_t ids; /* of a FIELD_REF: offset in rocpd_set */
    int64_t missing;
} field;

#define TEXT(type, member, column)       column, FIELD_TEXT, offsetof(type, member), 0, 0
#define INT(type, member, column, value) column, FIELD_INT, offsetof(type, member), 0, value
#define INT_OR_ID(type, member, column)  column, FIELD_INT_OR_ID, offsetof(type, member), 0, 0
#define REF(type, member, column, map)                                                             \
    column, FIELD_REF, offsetof(type, member), offsetof(rocpd_set, map), 0
#define OTHER(column) column, FIELD_OTHER, 0, 0, 0

static const field string_fields[] = {{"string", FIELD_TEXT, 0, 0, 0}};
static const field category_fields[] = {{"name", FIELD_TEXT, 0, 0, 0}};

static const field node_fields[] = {
    {TEXT(rocl_node, machine_id, "machine_id")}, {TEXT(rocl_node, system_name, "system_name")},
    {TEXT(rocl_node, hostname, "hostname")},     {TEXT(rocl_node, release, "release")},
    {TEXT(rocl_node, version, "version")},       {TEXT(rocl_node, hardware, "hardware_name")},
};

enum { PROCESS_ENVIRONMENT = 8, PROCESS_GUID, PROCESS_EXTDATA };

static const field process_fields[] = {
    {REF(rocl_process, node, "nid", nodes)},
    {INT_OR_ID(rocl_process, pid, "pid")},
    {INT(rocl_process, ppid, "ppid", 0)},
    {INT(rocl_process, init, "init", 0)},
    {INT(rocl_process, fini, "fini", 0)},
    {INT(rocl_process, start, "start", 0)},
    {INT(rocl_process, end, "end", 0)},
    {TEXT(rocl_process, command, "command")},
    {OTHER("environment")},
    {OTHER("guid")},
    {OTHER("extdata")},
};

static const field thread_fields[] = {
    {REF(rocl_thread, process, "pid", processes)},
    {INT_OR_ID(rocl_thread, tid, "tid")},
    {TEXT(rocl_thread, name, "name")},
};

enum { AGENT_GENERIC = 11, AGENT_EXTDATA };

static const field agent_fields[] = {
    {REF(rocl_agent, node, "nid", nodes)},
    {REF(rocl_agent, process, "pid", processes)},
    {TEXT(rocl_agent, type_name, "type")},
    {INT(rocl_agent, absolute_index, "absolute_index", -1)},
    {INT(rocl_agent, logical_index, "logical_index", -1)},
    {INT(rocl_agent, type_index, "type_index", -1)},
    {TEXT(rocl_agent, name, "name")},
    {TEXT(rocl_agent, model, "model_name")},
    {TEXT(rocl_agent, vendor, "vendor_name")},
    {TEXT(rocl_agent, product, "product_name")},
    {TEXT(rocl_agent, user_name, "user_name")},
    {OTHER("generic_name")},
    {OTHER("extdata")},
};

enum { QUEUE_EXTDATA = 2 };

static const field queue_fields[] = {
    {REF(rocl_queue, process, "pid", processes)},
    {TEXT(rocl_queue, name, "name")},
    {OTHER("extdata")},
};

static const field code_object_fields[] = {
    {REF(rocl_code_object, process, "pid", processes)},
    {REF(rocl_code_object, agent, "agent_id", agents)},
};

enum { KERNEL_NAME = 2, KERNEL_DISPLAY, KERNEL_OBJECT = 9, KERNEL_EXTDATA };

static const field kernel_fields[] = {
    {REF(rocl_kernel, process, "pid", processes)},
    {REF(rocl_kernel, code_object, "code_object_id", code_objects)},
    {TEXT(rocl_kernel, mangled, "kernel_name")},
    {TEXT(rocl_kernel, display, "display_name")},
    {INT(rocl_kernel, group_segment, "group_segment_size", 0)},
    {INT(rocl_kernel, private_segment, "private_segment_size", 0)},
    {INT(rocl_kernel, sgpr, "sgpr_count", 0)},
    {INT(rocl_kernel, arch_vgpr, "arch_vgpr_count", 0)},
    {INT(rocl_kernel, accum_vgpr, "accum_vgpr_count", 0)},
    {OTHER("kernel_object")},
    {OTHER("extdata")},
};

enum { COUNTER_NAME = 2, COUNTER_SYMBOL };

static const field counter_fields[] = {
    {REF(rocl_counter, process, "pid", processes)},
    {REF(rocl_counter, agent, "agent_id", agents)},
    {TEXT(rocl_counter, name, "name")},
    {TEXT(rocl_counter, symbol, "symbol")},
    {TEXT(rocl_counter, description, "description")},
    {TEXT(rocl_counter, component, "component")},
    {TEXT(rocl_counter, units, "units")},
    {TEXT(rocl_counter, value_type, "value_type")},
    {TEXT(rocl_counter, block, "block")},
};

static const field track_fields[] = {
    {REF(rocpd_track_def, process, "pid", processes)},
    {REF(rocpd_track_def, thread, "tid", threads)},
    {REF(rocpd_track_def, agent, "agent_id", agents)},
    {REF(rocpd_track_def, queue, "queue_id", queues)},
    {REF(rocpd_track_def, stream, "stream_id", streams)},
    {REF(rocpd_track_def, name, "name_id", strings)},
};

/* ---- cells ----------------------------------------------------------------------------------- */

static uint32_t read_text(const rocpd_row *r, unsigned col)
{
    size_t n;
    const char *p = rocl_cell_text(r->rows, col, r->row, &n);
    return rocl_strings_put(r->set->trace->strings, p, n);
}

/* A value that is not an integer is unknown, like a missing column. */
static int64_t read_int(const rocpd_row *r, unsigned col, int64_t missing)
{
    bool bad = false;
    int64_t v = missing;
    rocl_cell_int(r->rows, col, r->row, &v, &bad);
    return v;
}

static uint32_t read_ref(const rocpd_row *r, unsigned col, size_t ids)
{
    bool bad = false;
    int64_t id;
    if (!rocl_cell_int(r->rows, col, r->row, &id, &bad))
        return ROCL_NONE;
    uint32_t index = rocl_ids_get((void *)((char *)r->set + ids), (uint64_t)id);
    return index == ROCPD_NOBODY ? ROCL_NONE : index;
}

/* ---- the ranks of processes ------------------------------------------------------------------ */

/* Only that number is taken out of the environment. */

/* The value of a variable as a rank; -1: it is not one. */
static int32_t parse_rank(const cJSON *environment, const char *key)
{
    const cJSON *v = cJSON_GetObjectItemCaseSensitive(environment, key);
    double d = cJSON_IsNumber(v) ? v->valuedouble : -1;
    if (cJSON_IsString(v) && v->valuestring[0] >= '0' && v->valuestring[0] <= '9')
        d = atof(v->valuestring);
    return d >= 0 && d < INT32_MAX ? (int32_t)d : -1;
}

bool rocpd_rank_of(const char *environment, int32_t *rank)
{
    cJSON *root;
    *rank = -1;
    if (!rocl_json_read(&root, environment, strlen(environment)))
        return false;
    for (size_t i = 0; root && i < ROCL_RANK_VARIABLES && *rank < 0; i++)
        *rank = parse_rank(root, rocl_rank_variables[i]);
    cJSON_Delete(root);
    return true;
}

char *rocpd_rank_environment(const char *environment)
{
    rocl_buf b = {0};
    cJSON *root;
    if (!rocl_json_read(&root, environment, strlen(environment)))
        return NULL;
    rocl_buf_byte(&b, '{');
    for (size_t i = 0; root && i < ROCL_RANK_VARIABLES; i++) {
        int32_t rank = parse_rank(root, rocl_rank_variables[i]);
        if (rank >= 0)
            rocl_buf_printf(&b, "%s\"%s\": \"%d\"", b.len > 1 ? ", " : "", rocl_rank_variables[i],
                            rank);
    }
    rocl_buf_put(&b, "}", 2);
    cJSON_Delete(root);
    if (b.failed)
        rocl_buf_free(&b);
    return (char *)b.data;
}

/* ---- info tables ----------------------------------------------------------------------------- */

typedef struct info_table info_table;

struct info_table {
    schema_table table;
    unsigned field_count;
    const field *fields;
    size_t ids; /* offset of the map of its ids in rocpd_set */
    /* The array of definitions and its length: offsets in rocl_capture, of tracks in rocpd_set. The
     * size of an element 0: there is no array, the map leads to the value of the only column. */
    size_t size, array, count, id;
    unsigned name; /* column + 1 that holds SCHEMA_NOBODY if the row stands for "none"; 0: there is
                      no such column */
    /* Sets members of a new definition that depend on several columns. r NULL: there is no row. */
    rocl_status (*complete)(rocpd_set *s, const info_table *t, const rocpd_row *r, void *definition,
                            rocl_error *err);
};

/* Appends a zeroed definition and maps the id to it. NULL: memory is out. */
static void *append_definition(rocpd_set *s, const info_table *t, int64_t id, rocl_error *err)
{
    char *owner = t->table == SCHEMA_TRACK ? (char *)s : (char *)&s->capture->pub;
    void **array = (void *)(owner + t->array);
    uint32_t *count = (void *)(owner + t->count);
    size_t cap = rocl_array_cap(*count);
    if (!rocl_array_reserve(array, &cap, *count + (size_t)1, t->size) ||
        !rocl_ids_put((void *)((char *)s + t->ids), (uint64_t)id, *count)) {
        rocl_fail_memory(err);
        return NULL;
    }
    return (char *)*array + (*count)++ * t->size;
}

/* Rows that stand for an unknown node are nodes without a name: each may be another machine. */
static rocl_status complete_node(rocpd_set *s, const info_table *t, const rocpd_row *r,
                                 void *definition, rocl_error *err)
{
    rocl_node *n = definition;
    (void)t, (void)r, (void)err;
    n->hostname = n->hostname == s->nobody ? 0 : n->hostname;
    return ROCL_OK;
}

static rocl_status complete_process(rocpd_set *s, const info_table *t, const rocpd_row *r,
                                    void *definition, rocl_error *err)
{
    rocl_capture *c = &s->capture->pub;
    rocl_process *p = definition;
    size_t n;
    bool bad = false;
    (void)t;
    if (!rocpd_rank_of(rocl_cell_text(r->rows, PROCESS_ENVIRONMENT, r->row, &n), &p->rank))
        return rocl_fail_memory(err);
    if (!c->guid)
        c->guid = read_text(r, PROCESS_GUID);
    /* In a flat set the extdata of a process has its original guid. */
    const char *extdata = rocl_cell_text(r->rows, PROCESS_EXTDATA, r->row, &n);
    if (memmem(extdata, n, "\"guid\"", strlen("\"guid\""))) {
        p->guid = rocl_json_text(s->trace, extdata, n, "guid", &bad);
        p->guid = p->guid == ROCL_NONE ? 0 : p->guid;
    }
    if (c->process_count == 1)
        c->rank = p->rank;
    return ROCL_OK;
}

static rocl_status complete_agent(rocpd_set *s, const info_table *t, const rocpd_row *r,
                                  void *definition, rocl_error *err)
{
    static const char *const names[] = {
        [ROCL_AGENT_CPU] = "CPU", [ROCL_AGENT_GPU] = "GPU", [ROCL_AGENT_NIC] = "NIC"};
    rocl_agent *a = definition;
    const uint32_t architecture = r ? read_text(r, AGENT_GENERIC) : ROCL_NONE;
    (void)t, (void)err;
    if (*rocl_str(s->trace, architecture)) /* from version 4.1.0 on: "gfx942", which was the name */
        a->name = architecture;
    for (rocl_agent_type k = ROCL_AGENT_CPU; k <= ROCL_AGENT_NIC; k++)
        if (!strcmp(rocl_str(s->trace, a->type_name), names[k]))
            a->type = k;
    if (r) {
        size_t n;
        const char *json = rocpd_read_json(&s->unpacked, r->rows, AGENT_EXTDATA, r->row, &n);
        rocl_read_agent_place(s->trace, a, json, n);
    }
    rocl_label_agent(s->trace, a);
    return ROCL_OK;
}

/* Queues and streams may be known by a number other than their id. */
static rocl_status complete_queue(rocpd_set *s, const info_table *t, const rocpd_row *r,
                                  void *definition, rocl_error *err)
{
    uint64_t number;
    size_t n;
    (void)t;
    if (!r)
        return ROCL_OK;
    const char *json = rocpd_read_json(&s->unpacked, r->rows, QUEUE_EXTDATA, r->row, &n);
    if (s->unpacked.text.failed)
        return rocl_fail_memory(err);
    if (n > 2 && rocl_json_number(s->trace, json, n, "number", &number) && number <= INT64_MAX)
        ((rocl_queue *)definition)->id = (int64_t)number;
    return ROCL_OK;
}

static rocl_status complete_kernel(rocpd_set *s, const info_table *t, const rocpd_row *r,
                                   void *definition, rocl_error *err)
{
    rocl_kernel *k = definition;
    uint32_t truncated = ROCL_NONE;
    bool bad = false;
    const rocl_capture *c = &s->capture->pub;
    size_t n;
    (void)t;
    k->agent =
        k->code_object < c->code_object_count ? c->code_objects[k->code_object].agent : ROCL_NONE;
    const uint32_t descriptor = k->mangled;
    k->mangled = rocl_kernel_without_kd(s->trace, descriptor);
    k->is_function =
        k->mangled && k->mangled == descriptor; /* of a database that is written here */
    if (!k->display)
        k->display = k->mangled;
    const char *json = rocpd_read_json(&s->unpacked, r->rows, KERNEL_EXTDATA, r->row, &n);
    if (s->unpacked.text.failed)
        return rocl_fail_memory(err);
    if (n)
        truncated = rocl_json_text(s->trace, json, n, "truncated_kernel_name", &bad);
    k->shown = rocl_kernel_shown(s->trace, k->mangled, k->display, truncated);
    return ROCL_OK;
}

/* Some versions of rocprofiler-systems give two counters one name: the row of the resident memory,
 * which comes first, then stands for page faults as well. It becomes two definitions, one after the
 * other, and its id means the second. */
static rocl_status complete_counter(rocpd_set *s, const info_table *t, const rocpd_row *r,
                                    void *definition, rocl_error *err)
{
    rocl_strings *strings = s->trace->strings;
    rocl_counter *faults = definition;
    size_t n;
    if (strcmp(rocl_cell_text(r->rows, COUNTER_NAME, r->row, &n), "process_page_fault") != 0 ||
        strcmp(rocl_cell_text(r->rows, COUNTER_SYMBOL, r->row, &n), "Memory Usage") != 0)
        return ROCL_OK;
    rocl_counter *memory = append_definition(s, t, faults->id, err);
    if (!memory)
        return ROCL_INTERNAL;
    faults = memory - 1; /* the array may have moved */
    *memory = *faults;
    memory->name = rocl_strings_put(strings, "process_page", strlen("process_page"));
    faults->symbol = rocl_strings_put(strings, "Page Faults", strlen("Page Faults"));
    faults->units = faults->description = 0;
    return faults->symbol == ROCL_NONE || memory->name == ROCL_NONE ? rocl_fail_memory(err)
                                                                    : ROCL_OK;
}

#define FIELDS(fields) sizeof(fields) / sizeof *(fields), fields
#define IDS(map)       offsetof(rocpd_set, map)
#define VALUE_ONLY     0, 0, 0, 0
#define IN_CAPTURE(type, array, count)                                                             \
    sizeof(type), offsetof(rocl_capture, array), offsetof(rocl_capture, count), offsetof(type, id)

/* In the order in which they are read: each refers to those before it. */
static const info_table info_tables[] = {
    {SCHEMA_STRING, FIELDS(string_fields), IDS(strings), VALUE_ONLY, 0, NULL},
    {SCHEMA_NODE, FIELDS(node_fields), IDS(nodes), IN_CAPTURE(rocl_node, nodes, node_count), 0,
     complete_node},
    {SCHEMA_PROCESS, FIELDS(process_fields), IDS(processes),
     IN_CAPTURE(rocl_process, processes, process_count), 0, complete_process},
    {SCHEMA_THREAD, FIELDS(thread_fields), IDS(threads),
     IN_CAPTURE(rocl_thread, threads, thread_count), 3, NULL},
    {SCHEMA_AGENT, FIELDS(agent_fields), IDS(agents), IN_CAPTURE(rocl_agent, agents, agent_count),
     7, complete_agent},
    {SCHEMA_QUEUE, FIELDS(queue_fields), IDS(queues), IN_CAPTURE(rocl_queue, queues, queue_count),
     2, complete_queue},
    {SCHEMA_STREAM, FIELDS(queue_fields), IDS(streams),
     IN_CAPTURE(rocl_stream, streams, stream_count), 0, complete_queue},
    {SCHEMA_CODE_OBJECT, FIELDS(code_object_fields), IDS(code_objects),
     IN_CAPTURE(rocl_code_object, code_objects, code_object_count), 0, NULL},
    {SCHEMA_KERNEL, FIELDS(kernel_fields), IDS(kernels),
     IN_CAPTURE(rocl_kernel, kernels, kernel_count), KERNEL_NAME + 1, complete_kernel},
    {SCHEMA_COUNTER, FIELDS(counter_fields), IDS(counters),
     IN_CAPTURE(rocl_counter, counters, counter_count), 0, complete_counter},
    {SCHEMA_TRACK, FIELDS(track_fields), IDS(tracks), sizeof(rocpd_track_def), IDS(track_defs),
     IDS(track_count), offsetof(rocpd_track_def, id), 0, NULL},
    {SCHEMA_CATEGORY, FIELDS(category_fields), IDS(categories), VALUE_ONLY, 0, NULL},
};

enum { INFO_TABLES = sizeof info_tables / sizeof *info_tables };

/* Makes a definition of a row. r NULL: there is no row, so everything is unknown. */
static rocl_status add_definition(rocpd_set *s, const info_table *t, const rocpd_row *r, int64_t id,
                                  rocl_error *err)
{
    void *definition = append_definition(s, t, id, err);
    if (!definition)
        return ROCL_INTERNAL;
    *(int64_t *)(void *)((char *)definition + t->id) = id;
    for (unsigned i = 0; i < t->field_count; i++) {
        const field *f = &t->fields[i];
        void *to = (char *)definition + f->to;
        const int64_t missing = f->type == FIELD_INT ? f->missing : id;
        switch (f->type) {
        case FIELD_TEXT:
            *(uint32_t *)to = r ? read_text(r, i) : 0;
            break;
        case FIELD_INT:
        case FIELD_INT_OR_ID:
            *(int64_t *)to = r ? read_int(r, i, missing) : missing;
            break;
        case FIELD_REF:
            *(uint32_t *)to = r ? read_ref(r, i, f->ids) : ROCL_NONE;
            break;
        case FIELD_OTHER:
            break;
        }
    }
    return t->complete ? t->complete(s, t, r, definition, err) : ROCL_OK;
}

/* Reads a row of an info table. If it stands for "none", its id refers to nothing, or, for kernels,
 * to one of which only the name is known. */
static rocl_status read_info_row(const rocpd_row *r, void *ctx, rocl_error *err)
{
    const info_table *t = ctx;
    rocpd_set *s = r->set;
    rocl_ids *ids = (void *)((char *)s + t->ids);
    const int64_t id = r->rows->id[r->row];
    uint32_t index = ROCPD_NOBODY;
    if (!t->size) {
        index = t->fields->type == FIELD_TEXT ? read_text(r, 0) : read_ref(r, 0, t->fields->ids);
        if (index == ROCL_NONE && t->fields->type == FIELD_TEXT)
            return rocl_fail_memory(err);
    } else if (!t->name || read_text(r, t->name - 1) != s->nobody) {
        return add_definition(s, t, r, id, err);
    } else if (t->table == SCHEMA_KERNEL) {
        if (!ROCL_GROW(s->unnamed, s->unnamed_cap, s->unnamed_count + 1))
            return rocl_fail_memory(err);
        bool named = rocl_cell_kind(r->rows, KERNEL_DISPLAY, r->row) != ROCL_CELL_NULL;
        index = ROCPD_UNNAMED + (uint32_t)s->unnamed_count;
        s->unnamed[s->unnamed_count++] = (rocpd_unnamed){
            named ? read_text(r, KERNEL_DISPLAY) : ROCL_NONE, read_int(r, KERNEL_OBJECT, 0)};
    }
    return rocl_ids_put(ids, (uint64_t)id, index) ? ROCL_OK : rocl_fail_memory(err);
}

/* ---- definitions without an info table ------------------------------------------------------- */

typedef struct guess_target {
    const info_table *info;
    const rocl_ids *known;
} guess_target;

static rocl_status guess_definition(const rocpd_row *r, void *ctx, rocl_error *err)
{
    const guess_target *to = ctx;
    bool bad = false;
    int64_t id;
    if (!rocl_cell_int(r->rows, 0, r->row, &id, &bad) ||
        rocl_ids_get(to->known, (uint64_t)id) != ROCL_NONE)
        return ROCL_OK;
    return add_definition(r->set, to->info, NULL, id, err);
}

static rocl_status guess_definitions(rocpd_set *s, rocl_db *db, rocl_error *err)
{
    static const schema_table infos[] = {SCHEMA_THREAD, SCHEMA_AGENT, SCHEMA_QUEUE, SCHEMA_STREAM},
                              events[] = {SCHEMA_REGION, SCHEMA_DISPATCH, SCHEMA_COPY,
                                          SCHEMA_ALLOCATE, SCHEMA_TRACK};
    enum { INFOS = sizeof infos / sizeof *infos, EVENTS = sizeof events / sizeof *events };
    rocl_status st = ROCL_OK;
    for (size_t i = 0; i < (size_t)INFOS * EVENTS; i++) {
        rocpd_row r = {.set = s, .table = events[i % EVENTS]};
        const schema_table info = infos[i / EVENTS];
        const info_table *t = info_tables;
        size_t n;
        const schema_column *columns = schema_columns_of(r.table, &n);
        if (s->tables[info] || !s->tables[r.table])
            continue;
        while (t->table != info)
            t++;
        guess_target to = {t, (const void *)((const char *)s + t->ids)};
        while (n-- && st == ROCL_OK) /* the source of a copy before its destination */
            if (schema_refers_to(r.table, columns[n].name) == info)
                st = rocpd_each_row(&r, db, &columns[n].name, 1, NULL, guess_definition, &to, err);
    }
    return st;
}

/* ---- all of them ----------------------------------------------------------------------------- */

rocl_status rocpd_read_definitions(rocpd_set *s, rocl_db *db, rocl_error *err)
{
    rocl_capture *c = &s->capture->pub;
    rocl_status st = ROCL_OK;
    c->rank = -1;
    s->nobody = rocl_strings_put(s->trace->strings, SCHEMA_NOBODY, strlen(SCHEMA_NOBODY));
    /* A reference to a missing table is not dangling. */
    for (size_t i = 0; i < INFO_TABLES; i++)
        ((rocl_ids *)(void *)((char *)s + info_tables[i].ids))->absent =
            !s->tables[info_tables[i].table];
    for (size_t i = 0; i < INFO_TABLES && st == ROCL_OK; i++) {
        if (info_tables[i].table == SCHEMA_TRACK)
            st = guess_definitions(s, db, err);
        const info_table *t = &info_tables[i];
        if (st != ROCL_OK || !s->tables[t->table])
            continue;
        rocpd_row r = {.set = s, .table = t->table};
        const char *columns[ROCL_ROWS_COLUMNS_MAX];
        for (unsigned k = 0; k < t->field_count; k++)
            columns[k] = t->fields[k].column;
        /* The JSON of symbols, tens of thousands of which are never dispatched, is read only if the
         * requested name is in there. */
        if (t->table == SCHEMA_KERNEL && s->trace->opt.kernel_names != ROCL_NAMES_TRUNCATED)
            columns[KERNEL_EXTDATA] = NULL;
        st = rocpd_each_row(&r, db, columns, t->field_count, NULL, read_info_row,
                            (void *)(uintptr_t)t, err);
    }
    if (!s->tables[SCHEMA_CATEGORY])
        s->categories = s->strings; /* schema 3: categories are strings */
    /* A trace of only events still needs a process for them. */
    if (st == ROCL_OK && !c->process_count) {
        rocl_process *p = calloc(1, sizeof *p);
        if (!p)
            return rocl_fail_memory(err);
        p->node = ROCL_NONE;
        p->rank = -1;
        c->processes = p;
        c->process_count = 1;
    }
    return st;
}
