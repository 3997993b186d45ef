/* The global definitions: written after all events, since only then are they known. Each refers
 * only to earlier ones, strings first. Readers show them in the order written: processes in order
 * of appearance, the GPUs of each by number, after each location those with its overlaps. */
#include <stdlib.h>

#include "base/error.h"
#include "base/order.h"
#include "format/roster.h"
#include "sink/otf2/otf2.h"

/* Members of one group of regions: a definition must fit in a chunk. */
#define MEMBERS_MAX 100000

/* otf2-snapshots cuts a trace into this many slices, and complains about a remainder. */
#define SNAPSHOT_SLICES 4097

/* ---- the order of trees, groups and locations ------------------------------------------------ */

typedef struct order {
    uint32_t *items; /* indexes, in the order in which they are written */
    uint32_t *refs;  /* by index: where it is in that order */
} order;

typedef struct order_item {
    uint32_t key[4], index;
} order_item;

static int compare_items(const void *a, const void *b)
{
    const order_item *x = a, *y = b;
    for (size_t i = 0; i < sizeof x->key / sizeof *x->key; i++)
        if (x->key[i] != y->key[i])
            return x->key[i] < y->key[i] ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

/* 0: no GPU. */
static uint32_t gpu_number(const ot_system *y, uint32_t tree)
{
    const rocl_gpu *g = y->trees[tree].gpu;
    return g ? (uint32_t)(g - y->trace->gpus) + 1 : 0;
}

static order_item tree_item(const ot_system *y, uint32_t tree)
{
    return (order_item){.key = {gpu_number(y, tree)}, .index = tree};
}

static order_item group_item(const ot_system *y, uint32_t group)
{
    const ot_group *g = &y->groups[group];
    bool process = ot_is_process(y, group);
    return (order_item){
        .key = {process ? group : g->creator, process ? 0 : gpu_number(y, g->tree), group},
        .index = group};
}

static order_item location_item(const ot_system *y, uint32_t location)
{
    order_item item = group_item(y, y->locations[location].group);
    item.key[3] = y->locations[location].base;
    item.index = location;
    return item;
}

static bool make_order(order *o, const ot_system *y, uint32_t count,
                       order_item (*make_item)(const ot_system *, uint32_t))
{
    order_item *all = reallocarray(NULL, count + (size_t)1, sizeof *all);
    o->items = reallocarray(NULL, count + (size_t)1, sizeof *o->items);
    o->refs = reallocarray(NULL, count + (size_t)1, sizeof *o->refs);
    bool good = all && o->items && o->refs;
    for (uint32_t i = 0; good && i < count; i++)
        all[i] = make_item(y, i);
    if (good)
        qsort(all, count, sizeof *all, compare_items);
    for (uint32_t i = 0; good && i < count; i++) {
        o->items[i] = all[i].index;
        o->refs[all[i].index] = i;
    }
    free(all);
    return good;
}

/* ---- strings --------------------------------------------------------------------------------- */

typedef struct writer {
    ot_sink *s;
    ot_defs *d;
    const ot_system *y;
    OTF2_GlobalDefWriter *otf2;
    uint32_t strings_written;
    rocl_buf text;
    order trees, groups, locations;
} writer;

static void write_strings(writer *w)
{
    const ot_list *strings = &w->d->lists[OT_STRINGS];
    for (; w->strings_written < strings->count; w->strings_written++) {
        w->text.len = 0;
        ot_put_text(&w->text, w->d, ((const uint32_t *)strings->items)[w->strings_written]);
        w->d->failed |= w->text.failed;
        OTF2_GlobalDefWriter_WriteString(w->otf2, w->strings_written,
                                         w->text.failed ? "" : (const char *)w->text.data);
    }
}

/* The reference of a string that is written, now if not before. */
static OTF2_StringRef string_ref(writer *w, uint32_t text)
{
    OTF2_StringRef ref = ot_string(w->d, text);
    write_strings(w);
    return ref;
}

static OTF2_StringRef literal_ref(writer *w, const char *s)
{
    return string_ref(w, ot_text(w->d, s));
}

typedef struct property {
    const char *name;
    uint32_t text;
} property;

#define TREE_PROPERTIES 7

/* Returns how many there are. */
static size_t list_tree_properties(const rocl_trace *trace, const ot_tree *t,
                                   property all[TREE_PROPERTIES])
{
    size_t n = 0;
    if (t->domain == OTF2_SYSTEM_TREE_DOMAIN_SHARED_MEMORY) {
        const rocl_node node = rocl_node_of_machine(trace, t->machine);
        all[n++] = (property){"system", node.system_name};
        all[n++] = (property){"release", node.release};
        all[n++] = (property){"version", node.version};
        all[n++] = (property){"hardware", node.hardware};
        all[n++] = (property){"machine id", node.machine_id};
    }
    if (t->gpu) {
        const rocl_agent *a = rocl_gpu_agent(trace, t->gpu);
        all[n++] = (property){"architecture", a->name};
        all[n++] = (property){"vendor", a->vendor};
        all[n++] = (property){"product", a->product};
        all[n++] = (property){"uuid", t->gpu->uuid ? t->gpu->uuid : a->uuid};
        all[n++] = (property){"PCI address", t->gpu->pci ? t->gpu->pci : a->pci};
    }
    return n;
}

/* Gives references to the strings that only the definitions themselves use, so that all strings
 * stand before the rest. */
static void collect_strings(writer *w)
{
    static const char *const literals[] = {
        "",           "machine",      "node",   "GPU",     "HIP",     "pid",
        "rank",       "command",      "system", "release", "version", "hardware",
        "machine id", "architecture", "vendor", "product", "uuid",    "PCI address"};
    ot_defs *d = w->d;
    const ot_system *y = w->y;
    const ot_attribute *attributes = d->lists[OT_ATTRIBUTES].items;
    const ot_region *regions = d->lists[OT_REGIONS].items;
    const ot_member *members = d->members.items;
    for (size_t i = 0; i < sizeof literals / sizeof *literals; i++)
        ot_string(d, ot_text(d, literals[i]));
    for (uint32_t i = 0; i < y->tree_count; i++) {
        property all[TREE_PROPERTIES];
        size_t n = list_tree_properties(y->trace, &y->trees[i], all);
        ot_string(d, y->trees[i].name);
        for (size_t k = 0; k < n; k++)
            ot_string(d, all[k].text);
    }
    for (uint32_t i = 0; i < y->group_count; i++) {
        ot_string(d, y->groups[i].name);
        if (y->groups[i].process)
            ot_string(d, y->groups[i].process->command);
    }
    for (uint32_t i = 0; i < y->location_count; i++)
        ot_string(d, y->locations[i].name);
    for (uint32_t i = 0; i < d->lists[OT_ATTRIBUTES].count; i++)
        ot_string(d, attributes[i].name);
    for (uint32_t i = 0; i < d->lists[OT_REGIONS].count; i++) {
        ot_string(d, regions[i].name);
        ot_string(d, regions[i].category);
    }
    for (uint32_t i = 0; i < d->members.count; i++) {
        ot_string(d, members[i].name);
        ot_string(d, members[i].description);
        ot_string(d, members[i].unit);
    }
}

/* ---- paradigms, attributes, regions ---------------------------------------------------------- */

static void write_paradigms(writer *w)
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
    const ot_region *regions = w->d->lists[OT_REGIONS].items;
    uint64_t used = 0;
    for (uint32_t i = 0; i < w->d->lists[OT_REGIONS].count; i++)
        used |= (uint64_t)1 << regions[i].paradigm;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (used >> table[i].paradigm & 1)
            OTF2_GlobalDefWriter_WriteParadigm(w->otf2, table[i].paradigm,
                                               literal_ref(w, table[i].name), table[i].class);
    OTF2_AttributeValue rma_only = {.uint8 = OTF2_TRUE};
    if (used >> OTF2_PARADIGM_HIP & 1)
        OTF2_GlobalDefWriter_WriteParadigmProperty(
            w->otf2, OTF2_PARADIGM_HIP, OTF2_PARADIGM_PROPERTY_RMA_ONLY, OTF2_TYPE_UINT8, rma_only);
}

/* Groups of the regions of each category, by which viewers colour and filter; categories in the
 * order of appearance. *next: the number of the next group. */
static rocl_status write_region_groups(writer *w, OTF2_GroupRef *next, rocl_error *err)
{
    const ot_region *regions = w->d->lists[OT_REGIONS].items;
    uint32_t count = w->d->lists[OT_REGIONS].count, categories = 0;
    rocl_map index = {0}; /* category -> its number, from 0 */
    /* Number of the category and region; for writing a group the region alone. */
    uint64_t *all = reallocarray(NULL, count + (size_t)1, sizeof *all);
    bool good = all;
    for (uint32_t i = 0; i < count && good; i++) {
        uint32_t category = rocl_map_get(&index, regions[i].category, ROCL_NONE);
        if (category == ROCL_NONE)
            good = rocl_map_put(&index, regions[i].category, category = categories++);
        all[i] = (uint64_t)category << 32 | i;
    }
    if (good)
        qsort(all, count, sizeof *all, rocl_compare_u64);
    for (uint32_t i = 0, end = 0; i < count && good; i = end) {
        uint64_t category = all[i] >> 32;
        for (; end < count && end - i < MEMBERS_MAX && all[end] >> 32 == category; end++)
            all[end] = (uint32_t)all[end];
        OTF2_StringRef name = string_ref(w, regions[all[i]].category);
        OTF2_GlobalDefWriter_WriteGroup(w->otf2, (*next)++, name, OTF2_GROUP_TYPE_REGIONS,
                                        OTF2_PARADIGM_UNKNOWN, OTF2_GROUP_FLAG_NONE, end - i,
                                        all + i);
    }
    rocl_map_free(&index);
    free(all);
    return good ? ROCL_OK : rocl_fail_memory(err);
}

/* ---- the system tree, location groups, locations --------------------------------------------- */

static void write_trees(writer *w)
{
    static const char *const classes[] = {[OTF2_SYSTEM_TREE_DOMAIN_MACHINE] = "machine",
                                          [OTF2_SYSTEM_TREE_DOMAIN_SHARED_MEMORY] = "node",
                                          [OTF2_SYSTEM_TREE_DOMAIN_ACCELERATOR_DEVICE] = "GPU"};
    for (uint32_t i = 0; i < w->y->tree_count; i++) {
        const ot_tree *t = &w->y->trees[w->trees.items[i]];
        property all[TREE_PROPERTIES];
        size_t n = list_tree_properties(w->y->trace, t, all);
        OTF2_GlobalDefWriter_WriteSystemTreeNode(
            w->otf2, i, string_ref(w, t->name), literal_ref(w, classes[t->domain]),
            t->parent == ROCL_NONE ? OTF2_UNDEFINED_SYSTEM_TREE_NODE : w->trees.refs[t->parent]);
        OTF2_GlobalDefWriter_WriteSystemTreeNodeDomain(w->otf2, i, t->domain);
        for (size_t k = 0; k < n; k++)
            if (*rocl_str(w->s->trace, all[k].text))
                OTF2_GlobalDefWriter_WriteSystemTreeNodeProperty(
                    w->otf2, i, literal_ref(w, all[k].name), OTF2_TYPE_STRING,
                    (OTF2_AttributeValue){.stringRef = string_ref(w, all[k].text)});
    }
}

static void write_number_property(writer *w, uint32_t group, const char *name, int64_t v)
{
    OTF2_GlobalDefWriter_WriteLocationGroupProperty(
        w->otf2, group, literal_ref(w, name), OTF2_TYPE_INT64, (OTF2_AttributeValue){.int64 = v});
}

static void write_groups(writer *w)
{
    for (uint32_t i = 0; i < w->y->group_count; i++) {
        const ot_group *g = &w->y->groups[w->groups.items[i]];
        bool process = g->creator == ROCL_NONE;
        OTF2_GlobalDefWriter_WriteLocationGroup(
            w->otf2, i, string_ref(w, g->name),
            process ? OTF2_LOCATION_GROUP_TYPE_PROCESS : OTF2_LOCATION_GROUP_TYPE_ACCELERATOR,
            w->trees.refs[g->tree],
            process ? OTF2_UNDEFINED_LOCATION_GROUP : w->groups.refs[g->creator]);
        if (!process)
            continue;
        write_number_property(w, i, "pid", g->process->pid);
        if (g->process->rank >= 0)
            write_number_property(w, i, "rank", g->process->rank);
        if (*rocl_str(w->s->trace, g->process->command))
            OTF2_GlobalDefWriter_WriteLocationGroupProperty(
                w->otf2, i, literal_ref(w, "command"), OTF2_TYPE_STRING,
                (OTF2_AttributeValue){.stringRef = string_ref(w, g->process->command)});
    }
}

/* ---- who copies to whom ---------------------------------------------------------------------- */

static int compare_windows(const void *a, const void *b)
{
    const ot_group *x = *(const ot_group *const *)a, *y = *(const ot_group *const *)b;
    return (x->window > y->window) - (x->window < y->window);
}

/* One group of all locations with a rank, by process and rank; for each process a group of its
 * share, with a communicator and a window for RMA. */
static rocl_status write_ranks(writer *w, OTF2_GroupRef group, rocl_error *err)
{
    const ot_system *y = w->y;
    uint32_t *begins = calloc(y->group_count + (size_t)1, sizeof *begins); /* by process's group */
    uint64_t *list = reallocarray(NULL, y->location_count + (size_t)1, sizeof *list);
    const ot_group **owners = calloc(y->group_count + (size_t)1, sizeof *owners); /* of windows */
    bool good = begins && list && owners;
    uint32_t count = 0, windows = 0;
    for (uint32_t i = 0; i < y->group_count && good; i++) {
        begins[i] = count;
        count += y->groups[i].ranks;
        if (y->groups[i].ranks)
            owners[windows++] = &y->groups[i];
    }
    for (uint32_t i = 0; i < y->location_count && good; i++) {
        const ot_location *l = &y->locations[i];
        uint32_t creator = y->groups[l->group].creator;
        if (l->rank != ROCL_NONE)
            list[begins[creator == ROCL_NONE ? l->group : creator] + l->rank] = l->number;
    }
    if (count)
        OTF2_GlobalDefWriter_WriteGroup(w->otf2, group++, literal_ref(w, "HIP"),
                                        OTF2_GROUP_TYPE_COMM_LOCATIONS, OTF2_PARADIGM_HIP,
                                        OTF2_GROUP_FLAG_NONE, count, list);
    /* Definitions are to be in the order of their numbers. */
    if (windows)
        qsort(owners, windows, sizeof *owners, compare_windows);
    for (uint32_t i = 0; i < windows; i++) {
        const ot_group *g = owners[i];
        OTF2_StringRef name = string_ref(w, g->name);
        for (uint32_t k = 0; k < g->ranks; k++)
            list[k] = begins[g - y->groups] + k;
        OTF2_GlobalDefWriter_WriteGroup(w->otf2, group, name, OTF2_GROUP_TYPE_COMM_GROUP,
                                        OTF2_PARADIGM_HIP, OTF2_GROUP_FLAG_NONE, g->ranks, list);
        OTF2_GlobalDefWriter_WriteComm(w->otf2, g->window, name, group++, OTF2_UNDEFINED_COMM,
                                       OTF2_COMM_FLAG_NONE);
        OTF2_GlobalDefWriter_WriteRmaWin(w->otf2, g->window, name, g->window,
                                         OTF2_RMA_WIN_FLAG_NONE);
    }
    free(begins);
    free(list);
    free(owners);
    return good ? ROCL_OK : rocl_fail_memory(err);
}

/* ---- metrics --------------------------------------------------------------------------------- */

static void write_metrics(writer *w)
{
    const ot_member *members = w->d->members.items;
    const ot_metric *metrics = w->d->lists[OT_METRICS].items;
    for (uint32_t i = 0; i < w->d->members.count; i++) {
        const ot_member *m = &members[i];
        OTF2_GlobalDefWriter_WriteMetricMember(
            w->otf2, i, string_ref(w, m->name), string_ref(w, m->description),
            OTF2_METRIC_TYPE_OTHER, (OTF2_MetricMode)m->mode, (OTF2_Type)m->type, OTF2_BASE_DECIMAL,
            0, string_ref(w, m->unit));
    }
    for (uint32_t i = 0; i < w->d->lists[OT_METRICS].count; i++) {
        const ot_metric *m = &metrics[i];
        if (m->class == ROCL_NONE)
            OTF2_GlobalDefWriter_WriteMetricClass(
                w->otf2, i, 1, &m->member, OTF2_METRIC_ASYNCHRONOUS, OTF2_RECORDER_KIND_ABSTRACT);
        else
            OTF2_GlobalDefWriter_WriteMetricInstance(w->otf2, i, m->class, m->recorder,
                                                     OTF2_SCOPE_LOCATION_GROUP,
                                                     w->groups.refs[m->group]);
    }
}

rocl_status ot_write_definitions(ot_sink *s, rocl_error *err)
{
    const ot_system *y = &s->system;
    writer w = {.s = s, .d = &s->defs, .y = y, .otf2 = ot_archive_definitions(s->archive)};
    if (!w.otf2)
        return ot_archive_status(s->archive, err);
    bool good = make_order(&w.trees, y, y->tree_count, tree_item) &&
                make_order(&w.groups, y, y->group_count, group_item) &&
                make_order(&w.locations, y, y->location_count, location_item);
    rocl_status st = good ? ROCL_OK : rocl_fail_memory(err);
    if (st == ROCL_OK) {
        bool any = s->earliest <= s->latest;
        uint64_t length = any ? (uint64_t)(s->latest - s->earliest) : 0;
        OTF2_GroupRef next_group = 0;
        OTF2_GlobalDefWriter_WriteClockProperties(
            w.otf2, 1000000000, any ? (uint64_t)s->earliest : 0,
            (length / SNAPSHOT_SLICES + 1) * SNAPSHOT_SLICES, OTF2_UNDEFINED_TIMESTAMP);
        collect_strings(&w);
        write_strings(&w);
        write_paradigms(&w);
        const ot_list *attributes = &s->defs.lists[OT_ATTRIBUTES];
        OTF2_StringRef none = literal_ref(&w, "");
        for (uint32_t i = 0; i < attributes->count; i++) {
            const ot_attribute *a = (const ot_attribute *)attributes->items + i;
            OTF2_GlobalDefWriter_WriteAttribute(w.otf2, i, string_ref(&w, a->name), none,
                                                (OTF2_Type)a->type);
        }
        write_trees(&w);
        write_groups(&w);
        for (uint32_t i = 0; i < y->location_count; i++) {
            const ot_location *l = &y->locations[w.locations.items[i]];
            OTF2_GlobalDefWriter_WriteLocation(w.otf2, l->number, string_ref(&w, l->name), l->type,
                                               l->events, w.groups.refs[l->group]);
        }
        const ot_region *regions = s->defs.lists[OT_REGIONS].items;
        for (uint32_t i = 0; i < s->defs.lists[OT_REGIONS].count; i++) {
            OTF2_StringRef name = string_ref(&w, regions[i].name);
            OTF2_GlobalDefWriter_WriteRegion(
                w.otf2, i, name, name, string_ref(&w, regions[i].category),
                (OTF2_RegionRole)regions[i].role, (OTF2_Paradigm)regions[i].paradigm,
                OTF2_REGION_FLAG_NONE, none, 0, 0);
        }
        st = write_region_groups(&w, &next_group, err);
        if (st == ROCL_OK)
            st = write_ranks(&w, next_group, err);
        write_metrics(&w);
    }
    const order *const orders[] = {&w.trees, &w.groups, &w.locations};
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        free(orders[i]->items);
        free(orders[i]->refs);
    }
    rocl_buf_free(&w.text);
    return st ? st : ot_archive_status(s->archive, err);
}
