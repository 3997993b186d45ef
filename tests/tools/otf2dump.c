/* otf2dump: looks into an OTF2 archive with the reader of libotf2, without any code of ours that
 * wrote it.
 *
 *   otf2dump FILE.otf2   one line per event, tab-separated, names and times resolved:
 *     slice     BEGIN END PID GROUP LOCATION CATEGORY NAME STACK_ID ROLE PARADIGM ATTRIBUTES
 *     stage     the same, of locations of accelerators
 *     copy      BEGIN END PID LOCATION REMOTE get|put BYTES
 *     value     TIME  -   PID GROUP LOCATION METRIC UNIT NUMBER
 *     mark      BEGIN END PID LOCATION TEXT
 *     location  ID    -   PID GROUP NAME TYPE EVENTS
 *
 * GROUP of a value is what it is about. What breaks a rule of the format (times that run backwards
 * or leave the span of the trace, regions that do not nest, references to what is not defined,
 * wrong numbers of events ...) is said on standard error, exit code 1. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <otf2/otf2.h>

static unsigned faults;

#define BAD(...)                                                                                   \
    do {                                                                                           \
        if (faults++ < 20) {                                                                       \
            fprintf(stderr, "otf2dump: ");                                                         \
            fprintf(stderr, __VA_ARGS__);                                                          \
            fputc('\n', stderr);                                                                   \
        }                                                                                          \
    } while (0)

#define OK OTF2_CALLBACK_SUCCESS

static void *must(void *p)
{
    if (!p) {
        fputs("otf2dump: out of memory\n", stderr);
        exit(5);
    }
    return p;
}

/* ---- definitions: tables by id, which count from 0 without holes ---- */

typedef struct table {
    void *rows;
    size_t size;
    uint64_t count, cap;
    const char *what;
} table;

typedef struct region {
    uint32_t name, category, role, paradigm;
} region;

typedef struct group {
    uint32_t name, type, creator, locations, streams;
    int64_t pid;
} group;

typedef struct metric { /* class or instance */
    bool instance;
    uint32_t member, class, scope;
} metric;

typedef struct open_region {
    uint32_t region;
    uint64_t begin, stack;
    char *notes;
} open_region;

typedef struct location {
    uint32_t name, group, type;
    uint64_t events, seen, now;
    open_region *open;
    size_t depth, cap;
    uint64_t copy_begin, copy_match, copy_bytes; /* the copy under way */
    uint32_t copy_remote;
    const char *copy_way; /* NULL: none */
} location;

typedef struct members {
    uint64_t *all;
    uint32_t count;
} members;

#define TABLE(name, type, what) static table name = {NULL, sizeof(type), 0, 0, what}
TABLE(strings, char *, "string");
TABLE(regions, region, "region");
TABLE(attributes, uint32_t, "attribute");
TABLE(nodes, uint32_t, "system tree node");
TABLE(groups, group, "location group");
TABLE(locations, location, "location");
TABLE(metric_members, uint32_t[2], "metric member");
TABLE(metrics, metric, "metric");
TABLE(sets, members, "group");
TABLE(comms, uint32_t, "communicator");
TABLE(windows, uint32_t, "window");
static uint64_t clock_from, clock_length;
static const members *ranks; /* the locations that take part in copies */

static void *row_of(const table *t, uint64_t id)
{
    static uint64_t nothing[64];
    if (id < t->count)
        return (char *)t->rows + id * t->size;
    BAD("%s %" PRIu64 " is not defined", t->what, id);
    memset(nothing, 0, sizeof nothing);
    return nothing;
}

static void *add(table *t, uint64_t id)
{
    if (id != t->count)
        BAD("%s %" PRIu64 " is defined out of order", t->what, id);
    if (t->count == t->cap) {
        t->cap = t->cap ? 2 * t->cap : 64;
        t->rows = must(realloc(t->rows, t->cap * t->size));
    }
    void *row = (char *)t->rows + t->count++ * t->size;
    memset(row, 0, t->size);
    return row;
}

static const char *text(uint32_t id)
{
    const char *s = *(char **)row_of(&strings, id);
    return s ? s : "";
}

static OTF2_CallbackCode on_clock(void *ctx, uint64_t resolution, uint64_t offset, uint64_t length,
                                  uint64_t realtime)
{
    (void)ctx;
    (void)realtime;
    if (resolution != 1000000000)
        BAD("%" PRIu64 " ticks a second", resolution);
    clock_from = offset;
    clock_length = length;
    return OK;
}

/* The bytes that end lines and fields here are shown as '?'. */
static OTF2_CallbackCode on_string(void *ctx, OTF2_StringRef self, const char *s)
{
    (void)ctx;
    char *copy = must(strdup(s));
    for (char *p = copy; (p = strpbrk(p, "\t\n\r"));)
        *p = '?';
    *(char **)add(&strings, self) = copy;
    return OK;
}

static OTF2_CallbackCode on_attribute(void *ctx, OTF2_AttributeRef self, OTF2_StringRef name,
                                      OTF2_StringRef description, OTF2_Type type)
{
    (void)ctx;
    (void)type;
    text(description);
    text(name);
    *(uint32_t *)add(&attributes, self) = name;
    return OK;
}

static OTF2_CallbackCode on_node(void *ctx, OTF2_SystemTreeNodeRef self, OTF2_StringRef name,
                                 OTF2_StringRef class, OTF2_SystemTreeNodeRef parent)
{
    (void)ctx;
    text(class);
    if (parent != OTF2_UNDEFINED_SYSTEM_TREE_NODE)
        row_of(&nodes, parent);
    *(uint32_t *)add(&nodes, self) = name;
    return OK;
}

static OTF2_CallbackCode on_group(void *ctx, OTF2_LocationGroupRef self, OTF2_StringRef name,
                                  OTF2_LocationGroupType type, OTF2_SystemTreeNodeRef parent,
                                  OTF2_LocationGroupRef creator)
{
    (void)ctx;
    row_of(&nodes, parent);
    bool accelerator = type == OTF2_LOCATION_GROUP_TYPE_ACCELERATOR;
    if (accelerator &&
        ((group *)row_of(&groups, creator))->type != OTF2_LOCATION_GROUP_TYPE_PROCESS)
        BAD("the creator of location group %" PRIu32 " is no process", self);
    group *g = add(&groups, self);
    *g = (group){.name = name, .type = type, .creator = accelerator ? creator : self, .pid = -1};
    text(name);
    return OK;
}

static OTF2_CallbackCode on_property(void *ctx, OTF2_LocationGroupRef self, OTF2_StringRef name,
                                     OTF2_Type type, OTF2_AttributeValue value)
{
    (void)ctx;
    if (type == OTF2_TYPE_INT64 && !strcmp(text(name), "pid"))
        ((group *)row_of(&groups, self))->pid = value.int64;
    return OK;
}

static OTF2_CallbackCode on_location(void *ctx, OTF2_LocationRef self, OTF2_StringRef name,
                                     OTF2_LocationType type, uint64_t events,
                                     OTF2_LocationGroupRef in)
{
    (void)ctx;
    group *g = row_of(&groups, in);
    bool stream = type == OTF2_LOCATION_TYPE_ACCELERATOR_STREAM;
    if (type != OTF2_LOCATION_TYPE_METRIC &&
        stream != (g->type == OTF2_LOCATION_GROUP_TYPE_ACCELERATOR))
        BAD("location %" PRIu64 " is not of the type of its group", self);
    g->streams += type != OTF2_LOCATION_TYPE_METRIC;
    /* Locations come in the order in which they are shown. */
    while (locations.count <= self)
        ((location *)add(&locations, locations.count))->type = UINT32_MAX;
    location *l = row_of(&locations, self);
    if (l->type != UINT32_MAX)
        BAD("location %" PRIu64 " is defined twice", self);
    *l = (location){.name = name, .group = in, .type = type, .events = events, .now = clock_from};
    text(name);
    return OK;
}

static OTF2_CallbackCode on_region(void *ctx, OTF2_RegionRef self, OTF2_StringRef name,
                                   OTF2_StringRef canonical, OTF2_StringRef description,
                                   OTF2_RegionRole role, OTF2_Paradigm paradigm,
                                   OTF2_RegionFlag flags, OTF2_StringRef file, uint32_t from,
                                   uint32_t to)
{
    (void)ctx;
    (void)flags;
    (void)from;
    (void)to;
    text(canonical);
    text(file);
    *(region *)add(&regions, self) = (region){name, description, role, paradigm};
    text(name);
    text(description);
    return OK;
}

static OTF2_CallbackCode on_member(void *ctx, OTF2_MetricMemberRef self, OTF2_StringRef name,
                                   OTF2_StringRef description, OTF2_MetricType type,
                                   OTF2_MetricMode mode, OTF2_Type value, OTF2_Base base,
                                   int64_t exponent, OTF2_StringRef unit)
{
    (void)ctx;
    (void)type;
    (void)mode;
    (void)value;
    (void)base;
    (void)exponent;
    text(description);
    uint32_t *m = add(&metric_members, self);
    m[0] = name;
    m[1] = unit;
    return OK;
}

static OTF2_CallbackCode on_class(void *ctx, OTF2_MetricRef self, uint8_t count,
                                  const OTF2_MetricMemberRef *all, OTF2_MetricOccurrence occurrence,
                                  OTF2_RecorderKind kind)
{
    (void)ctx;
    (void)occurrence;
    (void)kind;
    if (count != 1)
        BAD("metric class %" PRIu32 " has %u members", self, count);
    row_of(&metric_members, all[0]);
    *(metric *)add(&metrics, self) = (metric){.member = all[0]};
    return OK;
}

static OTF2_CallbackCode on_instance(void *ctx, OTF2_MetricRef self, OTF2_MetricRef class,
                                     OTF2_LocationRef recorder, OTF2_MetricScope scope,
                                     uint64_t about)
{
    (void)ctx;
    row_of(&locations, recorder);
    row_of(&groups, about);
    if (scope != OTF2_SCOPE_LOCATION_GROUP)
        BAD("metric %" PRIu32 " is not about a location group", self);
    const metric m = {.instance = true,
                      .member = ((const metric *)row_of(&metrics, class))->member,
                      .class = class,
                      .scope = (uint32_t)about};
    *(metric *)add(&metrics, self) = m;
    return OK;
}

static OTF2_CallbackCode on_set(void *ctx, OTF2_GroupRef self, OTF2_StringRef name,
                                OTF2_GroupType type, OTF2_Paradigm paradigm, OTF2_GroupFlag flags,
                                uint32_t count, const uint64_t *all)
{
    (void)ctx;
    (void)paradigm;
    (void)flags;
    text(name);
    for (uint32_t i = 0; i < count; i++) {
        if (type == OTF2_GROUP_TYPE_REGIONS)
            row_of(&regions, all[i]);
        else if (type == OTF2_GROUP_TYPE_COMM_LOCATIONS)
            row_of(&locations, all[i]);
        else if (!ranks || all[i] >= ranks->count)
            BAD("group %" PRIu32 " has a rank that nobody is", self);
    }
    members *m = add(&sets, self);
    *m = (members){must(malloc((count + (size_t)1) * sizeof *all)), count};
    memcpy(m->all, all, count * sizeof *all);
    if (type == OTF2_GROUP_TYPE_COMM_LOCATIONS) {
        static members copy;
        copy = *m;
        ranks = &copy;
    }
    return OK;
}

static OTF2_CallbackCode on_comm(void *ctx, OTF2_CommRef self, OTF2_StringRef name,
                                 OTF2_GroupRef set, OTF2_CommRef parent, OTF2_CommFlag flags)
{
    (void)ctx;
    (void)parent;
    (void)flags;
    text(name);
    row_of(&sets, set);
    *(uint32_t *)add(&comms, self) = set;
    return OK;
}

static OTF2_CallbackCode on_window(void *ctx, OTF2_RmaWinRef self, OTF2_StringRef name,
                                   OTF2_CommRef comm, OTF2_RmaWinFlag flags)
{
    (void)ctx;
    (void)flags;
    text(name);
    *(uint32_t *)add(&windows, self) = *(uint32_t *)row_of(&comms, comm);
    return OK;
}

/* ---- events ---- */

static location *at(OTF2_LocationRef id, OTF2_TimeStamp time)
{
    location *l = row_of(&locations, id);
    if (time < l->now)
        BAD("location %" PRIu64 ": time runs backwards at %" PRIu64, id, time);
    if (time - clock_from > clock_length)
        BAD("location %" PRIu64 ": %" PRIu64 " is outside of the trace", id, time);
    l->now = time;
    l->seen++;
    return l;
}

static int64_t pid_of(const location *l)
{
    const group *g = row_of(&groups, l->group);
    return ((const group *)row_of(&groups, g->creator))->pid;
}

static void put_value(FILE *f, OTF2_Type type, OTF2_AttributeValue v)
{
    switch (type) {
    case OTF2_TYPE_UINT64:
        fprintf(f, "%" PRIu64, v.uint64);
        break;
    case OTF2_TYPE_INT64:
        fprintf(f, "%" PRId64, v.int64);
        break;
    case OTF2_TYPE_STRING:
        fputs(text(v.stringRef), f);
        break;
    default:
        BAD("attribute of type %u", type);
    }
}

/* "name=value ...", and the stack id apart. */
static char *notes_of(OTF2_AttributeList *list, uint64_t *stack)
{
    char *notes = NULL;
    size_t size;
    FILE *f = must(open_memstream(&notes, &size));
    *stack = 0;
    for (uint32_t i = 0; i < OTF2_AttributeList_GetNumberOfElements(list); i++) {
        OTF2_AttributeRef id;
        OTF2_Type type;
        OTF2_AttributeValue v;
        OTF2_AttributeList_GetAttributeByIndex(list, i, &id, &type, &v);
        const char *name = text(*(uint32_t *)row_of(&attributes, id));
        if (!strcmp(name, "stack_id")) {
            *stack = v.uint64;
            continue;
        }
        fprintf(f, "%s%s=", ftell(f) ? " " : "", name);
        put_value(f, type, v);
    }
    fclose(f);
    return notes;
}

static OTF2_CallbackCode on_enter(OTF2_LocationRef id, OTF2_TimeStamp time, void *ctx,
                                  OTF2_AttributeList *list, OTF2_RegionRef what)
{
    (void)ctx;
    location *l = at(id, time);
    if (l->type == OTF2_LOCATION_TYPE_METRIC)
        BAD("location %" PRIu64 " is for metrics, and has a region", id);
    if (l->depth == l->cap) {
        l->cap = l->cap ? 2 * l->cap : 16;
        l->open = must(realloc(l->open, l->cap * sizeof *l->open));
    }
    open_region *o = &l->open[l->depth++];
    *o = (open_region){.region = what, .begin = time};
    o->notes = notes_of(list, &o->stack);
    return OK;
}

static OTF2_CallbackCode on_leave(OTF2_LocationRef id, OTF2_TimeStamp time, void *ctx,
                                  OTF2_AttributeList *list, OTF2_RegionRef what)
{
    (void)ctx;
    (void)list;
    location *l = at(id, time);
    if (!l->depth || l->open[l->depth - 1].region != what) {
        BAD("location %" PRIu64 ": left at %" PRIu64 " what was not entered last", id, time);
        return OK;
    }
    const open_region *o = &l->open[--l->depth];
    const region *r = row_of(&regions, what);
    printf("%s\t%" PRIu64 "\t%" PRIu64 "\t%" PRId64 "\t%s\t%s\t%s\t%s\t%" PRIu64 "\t%u\t%u\t%s\n",
           l->type == OTF2_LOCATION_TYPE_CPU_THREAD ? "slice" : "stage", o->begin, time, pid_of(l),
           text(((group *)row_of(&groups, l->group))->name), text(l->name), text(r->category),
           text(r->name), o->stack, r->role, r->paradigm, o->notes);
    free(o->notes);
    return OK;
}

static OTF2_CallbackCode on_metric(OTF2_LocationRef id, OTF2_TimeStamp time, void *ctx,
                                   OTF2_AttributeList *list, OTF2_MetricRef which, uint8_t count,
                                   const OTF2_Type *types, const OTF2_MetricValue *values)
{
    (void)ctx;
    (void)list;
    const location *l = at(id, time);
    const metric *m = row_of(&metrics, which);
    const uint32_t *k = row_of(&metric_members, m->member);
    const group *g = row_of(&groups, m->scope);
    if (count != 1 || !m->instance || l->type != OTF2_LOCATION_TYPE_METRIC)
        BAD("location %" PRIu64 ": no value of a metric instance", id);
    printf("value\t%" PRIu64 "\t-\t%" PRId64 "\t%s\t%s\t%s\t%s\t", time, pid_of(l), text(g->name),
           text(l->name), text(k[0]), text(k[1]));
    if (types[0] == OTF2_TYPE_DOUBLE)
        printf("%.17g\n", values[0].floating_point);
    else
        printf("%" PRId64 "\n", values[0].signed_int);
    return OK;
}

static OTF2_CallbackCode copy_begins(OTF2_LocationRef id, OTF2_TimeStamp time, const char *way,
                                     OTF2_RmaWinRef win, uint32_t remote, uint64_t bytes,
                                     uint64_t match)
{
    location *l = at(id, time);
    const members *m = row_of(&sets, *(uint32_t *)row_of(&windows, win));
    if (l->copy_way)
        BAD("location %" PRIu64 ": two copies at once", id);
    if (!ranks || remote >= m->count)
        BAD("location %" PRIu64 ": rank %" PRIu32 " is nobody", id, remote);
    else
        l->copy_remote = (uint32_t)ranks->all[m->all[remote]];
    l->copy_begin = time;
    l->copy_bytes = bytes;
    l->copy_match = match;
    l->copy_way = way;
    return OK;
}

static OTF2_CallbackCode on_put(OTF2_LocationRef id, OTF2_TimeStamp time, void *ctx,
                                OTF2_AttributeList *list, OTF2_RmaWinRef win, uint32_t remote,
                                uint64_t bytes, uint64_t match)
{
    (void)ctx;
    (void)list;
    return copy_begins(id, time, "put", win, remote, bytes, match);
}

static OTF2_CallbackCode on_get(OTF2_LocationRef id, OTF2_TimeStamp time, void *ctx,
                                OTF2_AttributeList *list, OTF2_RmaWinRef win, uint32_t remote,
                                uint64_t bytes, uint64_t match)
{
    (void)ctx;
    (void)list;
    return copy_begins(id, time, "get", win, remote, bytes, match);
}

static OTF2_CallbackCode on_complete(OTF2_LocationRef id, OTF2_TimeStamp time, void *ctx,
                                     OTF2_AttributeList *list, OTF2_RmaWinRef win, uint64_t match)
{
    (void)ctx;
    (void)list;
    (void)win;
    location *l = at(id, time);
    const location *to = row_of(&locations, l->copy_remote);
    if (!l->copy_way || l->copy_match != match)
        BAD("location %" PRIu64 ": a copy is complete that did not begin", id);
    printf("copy\t%" PRIu64 "\t%" PRIu64 "\t%" PRId64 "\t%s\t%s\t%s\t%" PRIu64 "\n", l->copy_begin,
           time, pid_of(l), text(((group *)row_of(&groups, l->group))->name), text(to->name),
           l->copy_way ? l->copy_way : "", l->copy_bytes);
    l->copy_way = NULL;
    return OK;
}

static OTF2_CallbackCode on_unknown(OTF2_LocationRef id, OTF2_TimeStamp time, void *ctx,
                                    OTF2_AttributeList *list)
{
    (void)ctx;
    (void)list;
    BAD("location %" PRIu64 ": an unknown event at %" PRIu64, id, time);
    return OK;
}

static OTF2_CallbackCode on_marker(void *ctx, OTF2_TimeStamp time, OTF2_TimeStamp duration,
                                   OTF2_MarkerRef marker, OTF2_MarkerScope scope, uint64_t about,
                                   const char *words)
{
    (void)ctx;
    (void)marker;
    if (scope != OTF2_MARKER_SCOPE_LOCATION)
        BAD("a marker at %" PRIu64 " is not on a location", time);
    const location *l = row_of(&locations, about);
    printf("mark\t%" PRIu64 "\t%" PRIu64 "\t%" PRId64 "\t%s\t%s\n", time, time + duration,
           pid_of(l), text(l->name), words);
    return OK;
}

/* ---- reading ---- */

static void read_definitions(OTF2_Reader *r)
{
    OTF2_GlobalDefReader *reader = OTF2_Reader_GetGlobalDefReader(r);
    OTF2_GlobalDefReaderCallbacks *c = OTF2_GlobalDefReaderCallbacks_New();
    OTF2_GlobalDefReaderCallbacks_SetClockPropertiesCallback(c, on_clock);
    OTF2_GlobalDefReaderCallbacks_SetStringCallback(c, on_string);
    OTF2_GlobalDefReaderCallbacks_SetAttributeCallback(c, on_attribute);
    OTF2_GlobalDefReaderCallbacks_SetSystemTreeNodeCallback(c, on_node);
    OTF2_GlobalDefReaderCallbacks_SetLocationGroupCallback(c, on_group);
    OTF2_GlobalDefReaderCallbacks_SetLocationGroupPropertyCallback(c, on_property);
    OTF2_GlobalDefReaderCallbacks_SetLocationCallback(c, on_location);
    OTF2_GlobalDefReaderCallbacks_SetRegionCallback(c, on_region);
    OTF2_GlobalDefReaderCallbacks_SetMetricMemberCallback(c, on_member);
    OTF2_GlobalDefReaderCallbacks_SetMetricClassCallback(c, on_class);
    OTF2_GlobalDefReaderCallbacks_SetMetricInstanceCallback(c, on_instance);
    OTF2_GlobalDefReaderCallbacks_SetGroupCallback(c, on_set);
    OTF2_GlobalDefReaderCallbacks_SetCommCallback(c, on_comm);
    OTF2_GlobalDefReaderCallbacks_SetRmaWinCallback(c, on_window);
    OTF2_Reader_RegisterGlobalDefCallbacks(r, reader, c, NULL);
    OTF2_GlobalDefReaderCallbacks_Delete(c);
    uint64_t n;
    if (OTF2_Reader_ReadAllGlobalDefinitions(r, reader, &n) != OTF2_SUCCESS)
        BAD("the definitions cannot be read");
}

static void open_locations(OTF2_Reader *r)
{
    for (uint64_t i = 0; i < locations.count; i++)
        OTF2_Reader_SelectLocation(r, i);
    OTF2_Reader_OpenDefFiles(r);
    OTF2_Reader_OpenEvtFiles(r);
    for (uint64_t i = 0; i < locations.count; i++) {
        OTF2_DefReader *d = OTF2_Reader_GetDefReader(r, i);
        uint64_t n;
        if (!d || OTF2_Reader_ReadAllLocalDefinitions(r, d, &n) != OTF2_SUCCESS)
            BAD("location %" PRIu64 " has no local definitions", i);
        if (d)
            OTF2_Reader_CloseDefReader(r, d);
        if (!OTF2_Reader_GetEvtReader(r, i))
            BAD("location %" PRIu64 " has no events", i);
    }
    OTF2_Reader_CloseDefFiles(r);
}

static void read_events(OTF2_Reader *r)
{
    OTF2_GlobalEvtReader *reader = OTF2_Reader_GetGlobalEvtReader(r);
    OTF2_GlobalEvtReaderCallbacks *c = OTF2_GlobalEvtReaderCallbacks_New();
    OTF2_GlobalEvtReaderCallbacks_SetEnterCallback(c, on_enter);
    OTF2_GlobalEvtReaderCallbacks_SetLeaveCallback(c, on_leave);
    OTF2_GlobalEvtReaderCallbacks_SetMetricCallback(c, on_metric);
    OTF2_GlobalEvtReaderCallbacks_SetRmaPutCallback(c, on_put);
    OTF2_GlobalEvtReaderCallbacks_SetRmaGetCallback(c, on_get);
    OTF2_GlobalEvtReaderCallbacks_SetRmaOpCompleteBlockingCallback(c, on_complete);
    OTF2_GlobalEvtReaderCallbacks_SetUnknownCallback(c, on_unknown);
    OTF2_Reader_RegisterGlobalEvtCallbacks(r, reader, c, NULL);
    OTF2_GlobalEvtReaderCallbacks_Delete(c);
    uint64_t n;
    if (OTF2_Reader_ReadAllGlobalEvents(r, reader, &n) != OTF2_SUCCESS)
        BAD("the events cannot be read");
    OTF2_Reader_CloseGlobalEvtReader(r, reader);
    OTF2_Reader_CloseEvtFiles(r);
}

/* An archive without markers has no file for them, which the reader takes amiss. */
static bool has_markers(const char *anchor)
{
    char path[4096];
    snprintf(path, sizeof path, "%.*s.marker", (int)(strlen(anchor) - strlen(".otf2")), anchor);
    return access(path, F_OK) == 0;
}

static void read_markers(OTF2_Reader *r, const char *anchor)
{
    OTF2_MarkerReader *reader = has_markers(anchor) ? OTF2_Reader_GetMarkerReader(r) : NULL;
    uint64_t n;
    if (!reader)
        return;
    OTF2_MarkerReaderCallbacks *c = OTF2_MarkerReaderCallbacks_New();
    OTF2_MarkerReaderCallbacks_SetMarkerCallback(c, on_marker);
    OTF2_Reader_RegisterMarkerCallbacks(r, reader, c, NULL);
    OTF2_MarkerReaderCallbacks_Delete(c);
    if (OTF2_Reader_ReadAllMarkers(r, reader, &n) != OTF2_SUCCESS)
        BAD("the markers cannot be read");
    OTF2_Reader_CloseMarkerReader(r, reader);
}

static void list_locations(void)
{
    for (uint64_t i = 0; i < locations.count; i++) {
        const location *l = row_of(&locations, i);
        if (l->depth || l->copy_way)
            BAD("location %" PRIu64 ": something never ends", i);
        if (l->seen != l->events)
            BAD("location %" PRIu64 ": %" PRIu64 " events, %" PRIu64 " by its definition", i,
                l->seen, l->events);
        printf("location\t%" PRIu64 "\t-\t%" PRId64 "\t%s\t%s\t%u\t%" PRIu64 "\n", i, pid_of(l),
               text(((group *)row_of(&groups, l->group))->name), text(l->name), l->type, l->events);
        free(l->open);
    }
    for (uint64_t i = 0; i < groups.count; i++)
        if (!((group *)row_of(&groups, i))->streams)
            BAD("location group %" PRIu64 " has no location", i);
}

static void free_tables(void)
{
    table *const all[] = {&strings, &regions,        &attributes, &nodes, &groups, &locations,
                          &metrics, &metric_members, &sets,       &comms, &windows};
    for (uint64_t i = 0; i < strings.count; i++)
        free(*(char **)row_of(&strings, i));
    for (uint64_t i = 0; i < sets.count; i++)
        free(((members *)row_of(&sets, i))->all);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]->rows);
}

int main(int argc, char **argv)
{
    OTF2_Reader *r = argc == 2 ? OTF2_Reader_Open(argv[1]) : NULL;
    if (!r) {
        fputs(argc == 2 ? "otf2dump: cannot open the archive\n" : "usage: otf2dump FILE.otf2\n",
              stderr);
        return 2;
    }
    OTF2_Reader_SetSerialCollectiveCallbacks(r);
    read_definitions(r);
    if (locations.count) { /* an empty archive has no events to open */
        open_locations(r);
        read_events(r);
    }
    read_markers(r, argv[1]);
    list_locations();
    OTF2_Reader_Close(r);
    free_tables();
    if (faults > 20)
        fprintf(stderr, "otf2dump: and %u more\n", faults - 20);
    return faults ? 1 : 0;
}
