/* The global definitions: written when all events are, since only then is known what there is. Each
 * refers to those before it only, strings first. */
#include <stdlib.h>

#include "base/error.h"
#include "sink/otf2/ot.h"

/* Members of one group of regions: a definition must fit in a chunk. */
#define MEMBERS_MAX 100000

typedef struct out {
    ot_sink *s;
    OTF2_GlobalDefWriter *w;
    uint32_t strings; /* written so far */
    rocl_buf text;
    ot_order order;
} out;

static void write_strings(out *o)
{
    ot_defs *d = &o->s->defs;
    for (; o->strings < d->string_count; o->strings++) {
        o->text.len = 0;
        ot_put_text(&o->text, d, d->strings[o->strings]);
        d->failed |= o->text.failed;
        OTF2_GlobalDefWriter_WriteString(o->w, o->strings,
                                         o->text.failed ? "" : (const char *)o->text.data);
    }
}

static OTF2_StringRef string(out *o, uint32_t text)
{
    OTF2_StringRef ref = ot_string(&o->s->defs, text);
    write_strings(o);
    return ref;
}

static OTF2_StringRef literal(out *o, const char *s)
{
    return string(o, ot_text(&o->s->defs, s));
}

static void collect_tree(ot_defs *d, const ot_tree *t)
{
    ot_string(d, t->name);
    if (t->node) {
        ot_string(d, t->node->system_name);
        ot_string(d, t->node->release);
        ot_string(d, t->node->version);
        ot_string(d, t->node->hardware);
    }
    if (t->gpu) {
        ot_string(d, t->gpu->agent->name);
        ot_string(d, t->gpu->agent->vendor);
        ot_string(d, t->gpu->agent->product);
    }
}

/* Names that only the definitions themselves use, so that all strings stand before the rest. */
static void collect_strings(out *o)
{
    static const char *const literals[] = {
        "",       "machine", "node",    "GPU",      "HIP",          "pid",    "rank",   "command",
        "system", "release", "version", "hardware", "architecture", "vendor", "product"};
    ot_defs *d = &o->s->defs;
    const ot_world *w = &o->s->world;
    for (size_t i = 0; i < sizeof literals / sizeof *literals; i++)
        ot_string_of(d, literals[i]);
    for (uint32_t i = 0; i < w->tree_count; i++)
        collect_tree(d, &w->trees[i]);
    for (uint32_t i = 0; i < w->group_count; i++) {
        ot_string(d, w->groups[i].name);
        if (w->groups[i].process)
            ot_string(d, w->groups[i].process->command);
    }
    for (uint32_t i = 0; i < w->location_count; i++)
        ot_string(d, w->locations[i].name);
    for (uint32_t i = 0; i < d->attribute_count; i++)
        ot_string(d, d->attributes[i].name);
    for (uint32_t i = 0; i < d->region_count; i++) {
        ot_string(d, d->regions[i].name);
        ot_string(d, d->regions[i].category);
    }
    for (uint32_t i = 0; i < d->member_count; i++) {
        ot_string(d, d->members[i].name);
        ot_string(d, d->members[i].description);
        ot_string(d, d->members[i].unit);
    }
}

/* otf2-snapshots cuts a trace into so many parts, and complains when a rest is left over. */
#define PARTS 4097

static void write_clock(out *o)
{
    const ot_sink *s = o->s;
    bool any = s->earliest <= s->latest;
    uint64_t offset = any ? (uint64_t)s->earliest : 0;
    uint64_t length = any ? (uint64_t)(s->latest - s->earliest) : 0;
    length = (length / PARTS + 1) * PARTS;
    OTF2_GlobalDefWriter_WriteClockProperties(o->w, 1000000000, offset, length,
                                              OTF2_UNDEFINED_TIMESTAMP);
}

/* ---- paradigms, attributes, regions ---- */

static void write_paradigms(out *o)
{
    static const struct {
        OTF2_Paradigm paradigm;
        const char *name;
        OTF2_ParadigmClass class;
    } table[] = {
        {OTF2_PARADIGM_HIP, "HIP", OTF2_PARADIGM_CLASS_ACCELERATOR},
        {OTF2_PARADIGM_KOKKOS, "Kokkos", OTF2_PARADIGM_CLASS_ACCELERATOR},
        {OTF2_PARADIGM_MPI, "MPI", OTF2_PARADIGM_CLASS_PROCESS},
        {OTF2_PARADIGM_OPENMP, "OpenMP", OTF2_PARADIGM_CLASS_THREAD_FORK_JOIN},
        {OTF2_PARADIGM_PTHREAD, "POSIX threads", OTF2_PARADIGM_CLASS_THREAD_CREATE_WAIT},
    };
    const ot_defs *d = &o->s->defs;
    uint64_t used = 0;
    for (uint32_t i = 0; i < d->region_count; i++)
        used |= (uint64_t)1 << d->regions[i].paradigm;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (used >> table[i].paradigm & 1)
            OTF2_GlobalDefWriter_WriteParadigm(o->w, table[i].paradigm, literal(o, table[i].name),
                                               table[i].class);
    OTF2_AttributeValue rma_only = {.uint8 = OTF2_TRUE};
    if (used >> OTF2_PARADIGM_HIP & 1)
        OTF2_GlobalDefWriter_WriteParadigmProperty(
            o->w, OTF2_PARADIGM_HIP, OTF2_PARADIGM_PROPERTY_RMA_ONLY, OTF2_TYPE_UINT8, rma_only);
}

static void write_attributes(out *o)
{
    const ot_defs *d = &o->s->defs;
    for (uint32_t i = 0; i < d->attribute_count; i++)
        OTF2_GlobalDefWriter_WriteAttribute(o->w, i, string(o, d->attributes[i].name),
                                            literal(o, ""), d->attributes[i].type);
}

static void write_regions(out *o)
{
    const ot_defs *d = &o->s->defs;
    OTF2_StringRef none = literal(o, "");
    for (uint32_t i = 0; i < d->region_count; i++) {
        const ot_region *r = &d->regions[i];
        OTF2_StringRef name = string(o, r->name), category = string(o, r->category);
        OTF2_GlobalDefWriter_WriteRegion(o->w, i, name, name, category, r->role, r->paradigm,
                                         OTF2_REGION_FLAG_NONE, none, 0, 0);
    }
}

/* ---- groups of regions: viewers colour and filter by them ---- */

typedef struct members {
    uint64_t *all;
    uint32_t *next; /* by region: the next of its category */
    uint32_t count;
    OTF2_GroupRef group;
} members;

static void write_group(out *o, members *m, uint32_t category)
{
    if (m->count)
        OTF2_GlobalDefWriter_WriteGroup(o->w, m->group++, string(o, category),
                                        OTF2_GROUP_TYPE_REGIONS, OTF2_PARADIGM_UNKNOWN,
                                        OTF2_GROUP_FLAG_NONE, m->count, m->all);
    m->count = 0;
}

static void write_category(out *o, members *m, uint32_t first)
{
    uint32_t category = o->s->defs.regions[first].category;
    for (uint32_t i = first; i != ROCL_NONE; i = m->next[i]) {
        m->all[m->count++] = i;
        if (m->count == MEMBERS_MAX)
            write_group(o, m, category);
    }
    write_group(o, m, category);
}

/* Chains the regions of each category: first[] by order of appearance. */
static bool chain_categories(const ot_defs *d, uint32_t *first, uint32_t *next, uint32_t *count)
{
    rocl_map last = {0}; /* category -> its last region */
    bool good = true;
    *count = 0;
    for (uint32_t i = 0; i < d->region_count && good; i++) {
        uint32_t before = rocl_map_get(&last, d->regions[i].category, ROCL_NONE);
        next[i] = ROCL_NONE;
        if (before == ROCL_NONE)
            first[(*count)++] = i;
        else
            next[before] = i;
        good = rocl_map_put(&last, d->regions[i].category, i);
    }
    rocl_map_free(&last);
    return good;
}

static OTF2_GroupRef write_region_groups(out *o, rocl_status *st, rocl_error *err)
{
    const ot_defs *d = &o->s->defs;
    uint32_t count = 0, *first = malloc((d->region_count + (size_t)1) * sizeof *first);
    members m = {.all = malloc(MEMBERS_MAX * sizeof *m.all),
                 .next = malloc((d->region_count + (size_t)1) * sizeof *m.next)};
    if (first && m.all && m.next && chain_categories(d, first, m.next, &count))
        for (uint32_t i = 0; i < count; i++)
            write_category(o, &m, first[i]);
    else
        *st = rocl_fail_memory(err);
    free(first);
    free(m.all);
    free(m.next);
    return m.group;
}

/* ---- the system tree ---- */

static OTF2_AttributeValue string_value(out *o, uint32_t text)
{
    return (OTF2_AttributeValue){.stringRef = string(o, text)};
}

static void tree_property(out *o, uint32_t tree, const char *name, uint32_t text)
{
    if (*rocl_str(o->s->trace, text))
        OTF2_GlobalDefWriter_WriteSystemTreeNodeProperty(o->w, tree, literal(o, name),
                                                         OTF2_TYPE_STRING, string_value(o, text));
}

static void write_trees(out *o)
{
    static const char *const classes[] = {[OTF2_SYSTEM_TREE_DOMAIN_MACHINE] = "machine",
                                          [OTF2_SYSTEM_TREE_DOMAIN_SHARED_MEMORY] = "node",
                                          [OTF2_SYSTEM_TREE_DOMAIN_ACCELERATOR_DEVICE] = "GPU"};
    const ot_world *w = &o->s->world;
    for (uint32_t i = 0; i < w->tree_count; i++) {
        const ot_tree *t = &w->trees[o->order.trees[i]];
        OTF2_GlobalDefWriter_WriteSystemTreeNode(
            o->w, i, string(o, t->name), literal(o, classes[t->domain]),
            t->parent == ROCL_NONE ? OTF2_UNDEFINED_SYSTEM_TREE_NODE
                                   : o->order.tree_refs[t->parent]);
        OTF2_GlobalDefWriter_WriteSystemTreeNodeDomain(o->w, i, t->domain);
        if (t->node) {
            tree_property(o, i, "system", t->node->system_name);
            tree_property(o, i, "release", t->node->release);
            tree_property(o, i, "version", t->node->version);
            tree_property(o, i, "hardware", t->node->hardware);
        }
        if (t->gpu) {
            tree_property(o, i, "architecture", t->gpu->agent->name);
            tree_property(o, i, "vendor", t->gpu->agent->vendor);
            tree_property(o, i, "product", t->gpu->agent->product);
        }
    }
}

static void number_property(out *o, uint32_t group, const char *name, int64_t v)
{
    OTF2_GlobalDefWriter_WriteLocationGroupProperty(o->w, group, literal(o, name), OTF2_TYPE_INT64,
                                                    (OTF2_AttributeValue){.int64 = v});
}

static void write_location_groups(out *o)
{
    const ot_world *w = &o->s->world;
    for (uint32_t i = 0; i < w->group_count; i++) {
        const ot_group *g = &w->groups[o->order.groups[i]];
        bool process = g->creator == ROCL_NONE;
        OTF2_GlobalDefWriter_WriteLocationGroup(
            o->w, i, string(o, g->name),
            process ? OTF2_LOCATION_GROUP_TYPE_PROCESS : OTF2_LOCATION_GROUP_TYPE_ACCELERATOR,
            o->order.tree_refs[g->tree],
            process ? OTF2_UNDEFINED_LOCATION_GROUP : o->order.group_refs[g->creator]);
        if (!process)
            continue;
        number_property(o, i, "pid", g->process->pid);
        if (g->process->rank >= 0)
            number_property(o, i, "rank", g->process->rank);
        if (*rocl_str(o->s->trace, g->process->command))
            OTF2_GlobalDefWriter_WriteLocationGroupProperty(o->w, i, literal(o, "command"),
                                                            OTF2_TYPE_STRING,
                                                            string_value(o, g->process->command));
    }
}

static void write_locations(out *o)
{
    const ot_world *w = &o->s->world;
    for (uint32_t i = 0; i < w->location_count; i++) {
        uint32_t index = o->order.locations[i];
        const ot_location *l = &w->locations[index];
        OTF2_GlobalDefWriter_WriteLocation(o->w, l->number, string(o, l->name), l->type, l->events,
                                           o->order.group_refs[l->group]);
    }
}

/* ---- who copies to whom ---- */

/* The locations of all ranks, by process and rank; begins[] by process group. */
static uint32_t list_ranks(const ot_world *w, uint32_t *begins, uint64_t *list)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < w->group_count; i++) {
        begins[i] = count;
        count += w->groups[i].ranks;
    }
    for (uint32_t i = 0; i < w->location_count && list; i++) {
        const ot_location *l = &w->locations[i];
        uint32_t creator = w->groups[l->group].creator;
        if (l->rank != ROCL_NONE)
            list[begins[creator == ROCL_NONE ? l->group : creator] + l->rank] = l->number;
    }
    return count;
}

static void write_windows(out *o, OTF2_GroupRef group, const uint32_t *begins, uint64_t *list)
{
    const ot_world *w = &o->s->world;
    for (uint32_t i = 0; i < w->group_count; i++) {
        const ot_group *g = &w->groups[i];
        if (!g->ranks)
            continue;
        OTF2_StringRef name = string(o, g->name);
        for (uint32_t k = 0; k < g->ranks; k++)
            list[k] = begins[i] + k;
        OTF2_GlobalDefWriter_WriteGroup(o->w, group, name, OTF2_GROUP_TYPE_COMM_GROUP,
                                        OTF2_PARADIGM_HIP, OTF2_GROUP_FLAG_NONE, g->ranks, list);
        OTF2_GlobalDefWriter_WriteComm(o->w, g->window, name, group++, OTF2_UNDEFINED_COMM,
                                       OTF2_COMM_FLAG_NONE);
        OTF2_GlobalDefWriter_WriteRmaWin(o->w, g->window, name, g->window, OTF2_RMA_WIN_FLAG_NONE);
    }
}

static bool any_ranks(const ot_world *w)
{
    bool any = false;
    for (uint32_t i = 0; i < w->group_count; i++)
        any |= w->groups[i].ranks > 0;
    return any;
}

static rocl_status write_ranks(out *o, OTF2_GroupRef group, rocl_error *err)
{
    const ot_world *w = &o->s->world;
    if (!any_ranks(w))
        return ROCL_OK;
    uint32_t *begins = calloc(w->group_count + (size_t)1, sizeof *begins);
    uint64_t *list = malloc((w->location_count + (size_t)1) * sizeof *list);
    bool good = begins && list;
    if (good) {
        uint32_t count = list_ranks(w, begins, list);
        OTF2_GlobalDefWriter_WriteGroup(o->w, group, literal(o, "HIP"),
                                        OTF2_GROUP_TYPE_COMM_LOCATIONS, OTF2_PARADIGM_HIP,
                                        OTF2_GROUP_FLAG_NONE, count, list);
        write_windows(o, group + 1, begins, list);
    }
    free(begins);
    free(list);
    return good ? ROCL_OK : rocl_fail_memory(err);
}

/* ---- metrics ---- */

static void write_metrics(out *o)
{
    const ot_defs *d = &o->s->defs;
    for (uint32_t i = 0; i < d->member_count; i++) {
        const ot_member *m = &d->members[i];
        OTF2_StringRef name = string(o, m->name), text = string(o, m->description);
        OTF2_GlobalDefWriter_WriteMetricMember(o->w, i, name, text, OTF2_METRIC_TYPE_OTHER, m->mode,
                                               m->type, OTF2_BASE_DECIMAL, 0, string(o, m->unit));
    }
    for (uint32_t i = 0; i < d->metric_count; i++) {
        const ot_metric *m = &d->metrics[i];
        if (m->class == ROCL_NONE)
            OTF2_GlobalDefWriter_WriteMetricClass(o->w, i, 1, &m->member, OTF2_METRIC_ASYNCHRONOUS,
                                                  OTF2_RECORDER_KIND_ABSTRACT);
        else
            OTF2_GlobalDefWriter_WriteMetricInstance(o->w, i, m->class, m->recorder,
                                                     OTF2_SCOPE_LOCATION_GROUP,
                                                     o->order.group_refs[m->group]);
    }
}

static rocl_status write_all(out *o, rocl_error *err)
{
    rocl_status st = ROCL_OK;
    write_clock(o);
    collect_strings(o);
    write_strings(o);
    write_paradigms(o);
    write_attributes(o);
    write_trees(o);
    write_location_groups(o);
    write_locations(o);
    write_regions(o);
    OTF2_GroupRef groups = write_region_groups(o, &st, err);
    if (st == ROCL_OK)
        st = write_ranks(o, groups, err);
    write_metrics(o);
    return st;
}

rocl_status ot_write_definitions(ot_sink *s, rocl_error *err)
{
    out o = {.s = s, .w = ot_archive_definitions(s->archive)};
    if (!o.w)
        return ot_archive_status(s->archive, err);
    rocl_status st = ot_order_make(&o.order, &s->world, err);
    if (st == ROCL_OK)
        st = write_all(&o, err);
    ot_order_free(&o.order);
    rocl_buf_free(&o.text);
    return st ? st : ot_archive_status(s->archive, err);
}
