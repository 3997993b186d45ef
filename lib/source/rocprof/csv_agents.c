/* The agents of CSV files: rows of agent_info.csv, and their names in the other tables. */
#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "source/rocprof/csv_file.h"
#include "source/rocprof/rocprof.h"

/* The properties of an agent as rocprofv3's JSON has them, as far as they are used. NULL: memory is
 * out. */
static char *read_agent_properties(const rocl_view *header, const rocl_view *fields, size_t n)
{
    static const char *const known[] = {"Simd_Count",        "Max_Waves_Per_Simd",
                                        "Lds_Size_In_Kb",    "Wave_Front_Size",
                                        "Num_Xcc",           "Cu_Count",
                                        "Array_Count",       "Num_Shader_Banks",
                                        "Simd_Per_Cu",       "Simd_Arrays_Per_Engine",
                                        "Cu_Per_Simd_Array", "Max_Slots_Scratch_Cu",
                                        "Location_Id",       "Domain"};
    rocl_buf json = {0};
    rocl_buf_byte(&json, '{');
    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
        for (size_t i = 0; i < n; i++) {
            uint64_t number;
            if (!rocl_view_is(header[i], known[k]) || !rocprof_decimal(fields[i], &number))
                continue;
            rocl_buf_str(&json, json.len > 1 ? ",\"" : "\"");
            const size_t from = json.len;
            rocl_buf_printf(&json, "%s\":%" PRIu64, known[k], number);
            for (size_t c = from; c < json.len; c++) /* in lower case there */
                json.data[c] |= json.data[c] >= 'A' && json.data[c] <= 'Z' ? 32 : 0;
            break;
        }
    rocl_buf_put(&json, "}", 2);
    if (json.failed)
        rocl_buf_free(&json);
    return (char *)json.data;
}

/* A row of process_info. False: memory is out. */
static bool take_process(csv_run *run, rocl_trace *t, const csv_file *f, const rocl_view *header,
                         const rocl_view *fields)
{
    rocprof_who_process p = {.key = ROCL_NO_KEY, .rank = -1, .machine = -1};
    rocprof_who_gpu g = {.number = ROCL_NO_KEY, .index = -1};
    const rocl_view *node = csv_find_field(f, fields, ROCPROF_NODE);
    uint64_t number;
    for (size_t i = 0; i < f->count; i++) {
        uint32_t *text = rocl_view_is(header[i], "Hostname")     ? &p.hostname
                         : rocl_view_is(header[i], "Machine_Id") ? &p.machine_id
                         : rocl_view_is(header[i], "Uuid")       ? &g.uuid
                                                                 : NULL;
        if (text && fields[i].n)
            *text = rocl_strings_put(t->strings, fields[i].p, fields[i].n);
        else if (rocl_view_is(header[i], "Rank") && rocprof_decimal(fields[i], &number))
            p.rank = (int64_t)number;
    }
    if (!rocprof_decimal(*csv_find_field(f, fields, ROCPROF_PROCESS), &p.key))
        return true;
    g.process = p.key;
    if (g.uuid && rocprof_decimal(*node, &g.number) && g.number <= INT32_MAX &&
        !rocprof_who_add_gpu(&run->who, &g))
        return false;
    for (size_t i = 0; i < run->who.process_count; i++)
        if (run->who.processes[i].key == p.key)
            return true;
    return rocprof_who_add_process(&run->who, &p);
}

rocl_status csv_read_agents(csv_run *run, rocl_trace *t, const csv_file *f, char *text, size_t n,
                            rocl_error *err)
{
    static const struct {
        rocprof_column column;
        size_t offset;
    } texts[] = {{ROCPROF_AGENT_TYPE, offsetof(csv_agent, type_name)},
                 {ROCPROF_NAME, offsetof(csv_agent, name)},
                 {ROCPROF_VENDOR, offsetof(csv_agent, vendor)},
                 {ROCPROF_PRODUCT, offsetof(csv_agent, product)},
                 {ROCPROF_MODEL, offsetof(csv_agent, model)}};
    rocl_view fields[CSV_SHORT_MAX], header[CSV_SHORT_MAX];
    size_t length_of_header;
    char *at = text, *p = csv_next_row(&at, text + n, &length_of_header);
    size_t length;
    const bool named = p && rocprof_csv_fields(p, length_of_header, f->count, SIZE_MAX, header,
                                               CSV_SHORT_MAX, false) == f->count;
    at = text + (f->first_row < n ? f->first_row : n);
    while ((p = csv_next_row(&at, text + n, &length))) {
        if (f->count > CSV_SHORT_MAX || rocprof_csv_fields(p, length, f->count, SIZE_MAX, fields,
                                                           CSV_SHORT_MAX, false) != f->count)
            continue;
        if (csv_is_process_info(f)) {
            if (named && !take_process(run, t, f, header, fields))
                return rocl_fail_memory(err);
            continue;
        }
        const rocl_view *node = csv_find_field(f, fields, ROCPROF_NODE);
        const rocl_view *logical = csv_find_field(f, fields, ROCPROF_LOGICAL_NODE);
        const rocl_view *guid = csv_find_field(f, fields, ROCPROF_GUID);
        csv_agent a = {.process = ROCL_NO_KEY};
        if (!rocprof_decimal(*node, &a.node) || a.node > INT32_MAX)
            continue;
        if (!logical || !rocprof_decimal(*logical, &a.logical) || a.logical > INT32_MAX)
            a.logical = a.node;
        if (guid && guid->n)
            a.process = ROCL_KEY_OF_TEXT | rocl_strings_put(t->strings, guid->p, guid->n);
        for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
            const rocl_view *v = csv_find_field(f, fields, texts[i].column);
            uint32_t *to = (uint32_t *)(void *)((char *)&a + texts[i].offset);
            *to = v && v->n ? rocl_strings_put(t->strings, v->p, v->n) : 0;
        }
        const char *type = rocl_str(t, a.type_name);
        a.type = !strcmp(type, "GPU")   ? ROCL_AGENT_GPU
                 : !strcmp(type, "CPU") ? ROCL_AGENT_CPU
                                        : ROCL_AGENT_OTHER;
        for (size_t i = 0; i < run->agent_count; i++)
            a.ordinal += run->agents[i].process == a.process && run->agents[i].type == a.type;
        if (!ROCL_GROW(run->agents, run->agent_cap, run->agent_count + 1) ||
            (named && !(a.properties = read_agent_properties(header, fields, f->count))))
            return rocl_fail_memory(err);
        run->agents[run->agent_count++] = a;
    }
    return ROCL_OK;
}

rocl_status csv_look_beside(csv_run *run, rocl_trace *t, const char *path, const char *kind,
                            rocl_error *err)
{
    csv_run_name r;
    rocl_buf b = {0};
    rocl_spool *spool = NULL;
    csv_file f = {0};
    rocl_error *quiet = rocl_error_new();
    rocl_status st = ROCL_OK;
    if (!quiet || !csv_parse_run_name(path, &r) || r.kind_first || !strcmp(path, "-")) {
        rocl_error_free(quiet);
        return ROCL_OK;
    }
    rocl_buf_put(&b, path, (size_t)(r.run.p + r.run.n - path));
    rocl_buf_str(&b, kind);
    rocl_buf_str(&b, r.rest);
    rocl_buf_byte(&b, 0);
    struct stat info;
    if (!b.failed && stat((const char *)b.data, &info) == 0 && S_ISREG(info.st_mode) &&
        rocl_spool_open(&spool, (const char *)b.data, quiet) == ROCL_OK) {
        size_t n;
        bool whole;
        const char *head = rocl_spool_head(spool, &n, &whole);
        char *text = rocprof_is_csv(head, n, whole) ? strndup(head, n) : NULL;
        if (text && csv_read_header(&f, path, text, strlen(text), quiet) == ROCL_OK &&
            f.table == ROCPROF_AGENTS)
            st = rocl_guard_add(t->guard, (const char *)b.data, info.st_dev, info.st_ino)
                     ? csv_read_agents(run, t, &f, text, strlen(text), err)
                     : rocl_fail_memory(err);
        free(text);
        csv_free_file(&f);
        rocl_spool_close(spool);
    }
    rocl_buf_free(&b);
    rocl_error_free(quiet);
    return st;
}

csv_agent_form csv_find_agent_form(const csv_run *run, const csv_file *f, char *text, size_t n)
{
    rocl_view fields[CSV_SHORT_MAX];
    char *at = text + (f->first_row < n ? f->first_row : n), *p;
    size_t length;
    csv_agent_form form = BY_LOGICAL;
    while (f->count <= CSV_SHORT_MAX && (p = csv_next_row(&at, text + n, &length))) {
        uint64_t number;
        if (rocprof_csv_fields(p, length, f->count, f->text_column, fields, CSV_SHORT_MAX, false) !=
            f->count)
            continue;
        const rocl_view *v = csv_find_field(f, fields, ROCPROF_AGENT);
        v = v ? v : csv_find_field(f, fields, ROCPROF_SOURCE);
        const char *blank = v && v->n ? memchr(v->p, ' ', v->n) : NULL;
        if (!v || !v->n)
            continue;
        if (!blank)
            return BY_NODE;
        if (v->p[0] == 'G' || v->p[0] == 'C')
            return BY_TYPE;
        if (f->table != ROCPROF_DISPATCHES && f->table != ROCPROF_COUNTERS)
            break;
        if (!rocprof_decimal(rocl_view_between(blank + 1, v->p + v->n), &number))
            continue;
        bool logical = false;
        for (size_t i = 0; i < run->agent_count; i++)
            logical |= run->agents[i].logical == number && run->agents[i].type == ROCL_AGENT_GPU;
        if (!logical)
            return BY_NODE;
    }
    return form;
}

bool csv_define_agents(csv_run *run, rocl_records_input *in, csv_agent_form form)
{
    bool ok = true;
    for (size_t i = 0; i < run->agent_count && ok; i++) {
        csv_agent *a = &run->agents[i];
        a->key = form == BY_NODE      ? a->node
                 : form == BY_LOGICAL ? a->logical
                                      : (uint64_t)a->type << 32 | a->ordinal;
        if (a->process != ROCL_NO_KEY)
            ok = rocl_records_define(in, ROCL_KEY_PROCESS, (rocl_key){0, 0, a->process}, NULL);
        ok = ok && rocl_records_define(in, ROCL_KEY_AGENT, (rocl_key){a->process, 0, a->key},
                                       &(rocl_key_facts){.type = a->type});
    }
    return ok;
}

/* The row of an agent in agent_info; NULL: none. */
static const csv_agent *find_known_agent(const rocl_records_input *in, const rocl_agent *a)
{
    const csv_run *run = in->state;
    for (size_t k = 0; k < run->agent_count; k++) {
        const csv_agent *g = &run->agents[k];
        if (g->key == (uint64_t)a->id &&
            (g->process == ROCL_NO_KEY ||
             rocl_records_find(in, ROCL_KEY_PROCESS, (rocl_key){0, 0, g->process}) == a->process))
            return g;
    }
    return NULL;
}

rocl_status csv_put_properties(rocl_trace *t, rocl_model_capture *c, rocl_property_of of,
                               uint32_t index, rocl_buf *json, rocl_error *err)
{
    (void)t;
    (void)err;
    const csv_agent *known =
        of == ROCL_PROPERTIES_OF_AGENT ? find_known_agent(c->state, &c->pub.agents[index]) : NULL;
    if (known && known->properties)
        rocl_buf_str(json, known->properties);
    return ROCL_OK;
}

rocl_status csv_refine_agents(rocl_records_input *in, rocl_error *err)
{
    const csv_run *run = in->state;
    rocl_capture *c = &in->capture->pub;
    for (uint32_t i = 0; i < c->agent_count && run->names_agents; i++) {
        rocl_agent *a = rocl_definition_at(c, ROCL_DEFINE_AGENT, i);
        const csv_agent *known = find_known_agent(in, a);
        if (known) {
            a->absolute_index = (int64_t)known->node;
            a->logical_index = (int64_t)known->logical;
            a->type_index = (int64_t)known->ordinal;
            a->type = known->type ? known->type : a->type;
            a->type_name = known->type_name;
            a->name = known->name;
            a->vendor = known->vendor;
            a->product = known->product;
            a->model = known->model;
            if (known->properties)
                rocl_read_agent_place(in->trace, a, known->properties, strlen(known->properties));
        } else if (a->id == a->type_index) {
            a->type_index = -1; /* "Agent 4": which GPU this is, is unknown */
        }
        if (known || a->type_index < 0)
            rocl_label_agent(in->trace, a);
    }
    /* A file of rows by guid may be of a job on several hosts, and names none: each process has a
     * node of its own. */
    bool by_guid = false;
    for (size_t i = 0; i < in->file_count; i++)
        by_guid |= (run->files[i].has & ROCPROF_BIT(GUID)) != 0;
    by_guid = by_guid && !run->who.process_count && c->process_count > 1;
    for (uint32_t i = 0; i < c->process_count && by_guid; i++) {
        if (!rocl_define(c, ROCL_DEFINE_NODE))
            return rocl_fail_memory(err);
        ((rocl_process *)rocl_definition_at(c, ROCL_DEFINE_PROCESS, i))->node = i;
    }
    return rocprof_who_apply(&run->who, in, err);
}
