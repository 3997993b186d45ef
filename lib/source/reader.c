#include "source/reader.h"

#include <cjson/cJSON.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "model/identity.h"
#include "source/short_name.h"

rocl_model_capture *rocl_trace_add_capture(rocl_trace *t, rocl_source *s, rocl_error *err)
{
    rocl_model_capture *c = calloc(1, sizeof *c);
    size_t cap = rocl_array_cap(s->capture_count);
    if (!c || !ROCL_GROW(s->captures, cap, s->capture_count + 1)) {
        free(c);
        rocl_fail_memory(err);
        return NULL;
    }
    c->source = s;
    c->pub.trace = t;
    c->pub.path = s->path;
    c->pub.index = (uint32_t)s->capture_count;
    c->pub.rank = -1;
    s->captures[s->capture_count++] = c;
    return c;
}

rocl_status rocl_source_connect(rocl_db **db, const rocl_trace *t, const rocl_source *s,
                                const rocl_db_state *as, rocl_error *err)
{
    const rocl_db_options o = {.path = rocl_spool_path(s->spool),
                               .name = s->path,
                               .reader = t->opt.reader,
                               .schemas = t->schemas,
                               .read_ahead = t->read_ahead,
                               .as = as};
    return rocl_db_open(db, &o, err);
}

rocl_status rocl_source_truncated(rocl_source *s, const rocl_trace *t, rocl_error *err)
{
    if (t->opt.strict)
        return rocl_fail(err, ROCL_INPUT, "%s: the file is truncated", s->path);
    s->truncated = true;
    s->remark = "the file is truncated: only what is complete is read";
    return ROCL_OK;
}

rocl_status rocl_plan_add(rocl_plan *p, const rocl_task *task, rocl_error *err)
{
    if (!ROCL_GROW(p->tasks, p->cap, p->count + 1))
        return rocl_fail_memory(err);
    p->tasks[p->count++] = *task;
    return ROCL_OK;
}

bool rocl_intern_words(rocl_trace *t, const char *const *words, size_t n, uint32_t *texts)
{
    bool ok = true;
    for (size_t i = 0; i < n; i++) {
        texts[i] = rocl_strings_put(t->strings, words[i], strlen(words[i]));
        ok &= texts[i] != ROCL_NONE;
    }
    return ok;
}

/* ---- definitions ----------------------------------------------------------------------------- */

/* Where a capture has the array and the count of a kind. */
static const struct {
    size_t array, count, size;
} layouts[ROCL_DEFINITIONS] = {
#define LAYOUT(kind, name, array_)                                                                 \
    [ROCL_DEFINE_##kind] = {offsetof(rocl_capture, array_), offsetof(rocl_capture, name##_count),  \
                            sizeof(rocl_##name)}
    LAYOUT(NODE, node, nodes),
    LAYOUT(PROCESS, process, processes),
    LAYOUT(THREAD, thread, threads),
    LAYOUT(AGENT, agent, agents),
    LAYOUT(QUEUE, queue, queues),
    LAYOUT(STREAM, stream, streams),
    LAYOUT(KERNEL, kernel, kernels),
    LAYOUT(COUNTER, counter, counters),
    LAYOUT(CODE_OBJECT, code_object, code_objects),
#undef LAYOUT
};

static void **array_of(rocl_capture *c, rocl_definition kind)
{
    return (void **)(void *)((char *)c + layouts[kind].array);
}

void *rocl_definition_at(rocl_capture *c, rocl_definition kind, uint32_t index)
{
    return (char *)*array_of(c, kind) + index * layouts[kind].size;
}

void *rocl_define(rocl_capture *c, rocl_definition kind)
{
    uint32_t *count = (uint32_t *)(void *)((char *)c + layouts[kind].count);
    size_t cap = rocl_array_cap(*count);
    if (!rocl_array_reserve(array_of(c, kind), &cap, *count + (size_t)1, layouts[kind].size))
        return NULL;
    return rocl_definition_at(c, kind, (*count)++);
}

void *rocl_define_once(rocl_capture *c, rocl_definition kind, rocl_map *map, uint64_t key,
                       bool *fresh)
{
    uint32_t index = rocl_map_get(map, key, ROCL_NONE);
    *fresh = index == ROCL_NONE;
    if (!*fresh)
        return rocl_definition_at(c, kind, index);
    index = *(uint32_t *)(void *)((char *)c + layouts[kind].count);
    return rocl_map_put(map, key, index) ? rocl_define(c, kind) : NULL;
}

void rocl_definitions_free(rocl_model_capture *c)
{
    for (int k = 0; k < ROCL_DEFINITIONS; k++)
        free(*array_of(&c->pub, (rocl_definition)k));
}

/* ---- batches --------------------------------------------------------------------------------- */

rocl_status rocl_batcher_flush(rocl_batcher *b, rocl_error *err)
{
    rocl_status st = ROCL_OK;
    for (int k = 0; k < ROCL_KINDS && st == ROCL_OK; k++) {
        rocl_batch *out = &b->out[k];
        if (!out->count)
            continue;
        out->capture = b->capture;
        out->kind = (rocl_kind)k;
        out->args = b->args;
        out->packets = b->packets;
        out->packet_count = b->packet_count;
        out->instances = b->instances;
        st = b->to->emit(b->to->ctx, b->worker, out, err);
        out->count = 0;
    }
    b->arg_count = 0;
    b->packet_count = 0;
    b->instance_count = 0;
    rocl_arena_free(&b->arg_text);
    return st;
}

bool rocl_batcher_arg(rocl_batcher *b, uint32_t type, uint32_t name, const char *value, size_t n)
{
    const char *copy = rocl_arena_dup(&b->arg_text, value, n);
    if (!copy || !ROCL_GROW(b->args, b->arg_cap, b->arg_count + 1))
        return false;
    b->args[b->arg_count++] = (rocl_arg){type, name, copy, n};
    return true;
}

uint32_t rocl_batcher_packet(rocl_batcher *b, const rocl_packet *packet)
{
    const rocl_packet *last = b->packet_count ? &b->packets[b->packet_count - 1] : NULL;
    if (!last || memcmp(last, packet, sizeof *packet) != 0) {
        if (!ROCL_GROW(b->packets, b->packet_cap, b->packet_count + 1))
            return 0;
        b->packets[b->packet_count++] = *packet;
    }
    return (uint32_t)b->packet_count;
}

rocl_status rocl_batcher_add_dispatch(rocl_batcher *b, rocl_kind kind, rocl_dispatch *record,
                                      const rocl_packet *packet, rocl_error *err)
{
    rocl_status st = ROCL_OK;
    if (packet && b->out[kind].count == b->max) /* which drops the pending packets */
        st = rocl_batcher_flush(b, err);
    record->packet = packet && st == ROCL_OK ? rocl_batcher_packet(b, packet) : 0;
    if (st == ROCL_OK && packet && !record->packet)
        st = rocl_fail_memory(err);
    return st ? st : rocl_batcher_add(b, kind, record, rocl_kind_size(kind), err);
}

uint32_t rocl_batcher_instance(rocl_batcher *b, const rocl_instance *instance)
{
    if (!ROCL_GROW(b->instances, b->instance_cap, b->instance_count + 1))
        return 0;
    b->instances[b->instance_count++] = *instance;
    return (uint32_t)b->instance_count;
}

void *rocl_batcher_next(rocl_batcher *b, rocl_kind kind, rocl_status *st, rocl_error *err)
{
    rocl_batch *out = &b->out[kind];
    size_t size = rocl_kind_size(kind);
    if (out->count == b->max && (*st = rocl_batcher_flush(b, err)) != ROCL_OK)
        return NULL;
    if (!out->any && !(out->any = malloc(b->max * size))) {
        *st = rocl_fail_memory(err);
        return NULL;
    }
    return memset((char *)out->any + out->count++ * size, 0, size);
}

void rocl_batcher_free(rocl_batcher *b)
{
    for (int k = 0; k < ROCL_KINDS; k++)
        free(b->out[k].any);
    free(b->args);
    free(b->packets);
    free(b->instances);
    rocl_arena_free(&b->arg_text);
    *b = (rocl_batcher){0};
}

/* ---- what definitions are called ------------------------------------------------------------- */

/* By --agent-index-value. */
static size_t print_label(const rocl_trace *t, const rocl_agent *a, char *label, size_t size)
{
    const char *word = "Agent";
    int64_t n = a->logical_index;
    if (t->opt.agent_index == ROCL_INDEX_ABSOLUTE) {
        n = a->absolute_index;
    } else if (t->opt.agent_index == ROCL_INDEX_TYPE_RELATIVE) {
        n = a->type_index;
        if (a->type != ROCL_AGENT_OTHER)
            word = rocl_str(t, a->type_name);
    }
    return (size_t)snprintf(label, size, "%s %lld", word, (long long)(n < 0 ? a->id : n));
}

void rocl_label_agent(rocl_trace *t, rocl_agent *a)
{
    char label[64];
    a->label = rocl_strings_put(t->strings, label, print_label(t, a, label, sizeof label));
}

void rocl_label_named_agent(rocl_trace *t, rocl_agent *a)
{
    char label[400];
    size_t n = print_label(t, a, label, sizeof label);
    n += (size_t)snprintf(label + n, sizeof label - n, " (%.300s)", rocl_str(t, a->user_name));
    a->label = rocl_strings_put(t->strings, label, n);
}

bool rocl_read_agent(rocl_view text, rocl_agent_type *type, uint32_t *number)
{
    static const struct {
        const char *word;
        rocl_agent_type type;
    } words[] = {{"GPU", ROCL_AGENT_GPU},
                 {"CPU", ROCL_AGENT_CPU},
                 {"NIC", ROCL_AGENT_NIC},
                 {"Agent", ROCL_AGENT_OTHER},
                 {"AGENT", ROCL_AGENT_OTHER}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t at = strlen(words[i].word), digits = 0;
        uint32_t n = 0;
        if (text.n <= at || memcmp(text.p, words[i].word, at) != 0)
            continue;
        while (at < text.n && strchr(" -[", text.p[at]) && text.p[at])
            at++;
        for (; at < text.n && text.p[at] >= '0' && text.p[at] <= '9' && digits < 9; at++, digits++)
            n = n * 10 + (uint32_t)(text.p[at] - '0');
        *type = words[i].type;
        *number = n;
        return digits > 0;
    }
    return false;
}

size_t rocl_kernel_length(const char *name, size_t n)
{
    static const char *const ends[] = {" [clone .kd]", " (.kd)", ".kd"};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        const size_t m = strlen(ends[i]);
        if (n > m && !memcmp(name + n - m, ends[i], m))
            return n - m;
    }
    return n;
}

uint32_t rocl_kernel_without_kd(rocl_trace *t, uint32_t text)
{
    size_t n;
    const char *s = rocl_strings_get(t->strings, text, &n);
    const size_t bare = rocl_kernel_length(s, n);
    return bare == n ? text : rocl_strings_put(t->strings, s, bare);
}

/* The short form of a name (text), or that text itself if there is none. */
static uint32_t make_short_name(rocl_trace *t, uint32_t full)
{
    size_t n;
    rocl_buf name = {0};
    const char *s = rocl_strings_get(t->strings, full, &n);
    rocl_short_name(&name, s, n);
    uint32_t text = full;
    if (name.len && !name.failed)
        text = rocl_strings_put(t->strings, (const char *)name.data, name.len);
    rocl_buf_free(&name);
    return text;
}

uint32_t rocl_kernel_shown(rocl_trace *t, uint32_t mangled, uint32_t display, uint32_t truncated)
{
    uint32_t text = ROCL_NONE;
    switch (t->opt.kernel_names) {
    case ROCL_NAMES_MANGLED:
        text = mangled && mangled != ROCL_NONE ? rocl_kernel_without_kd(t, mangled) : display;
        break;
    case ROCL_NAMES_SHORT:
        text = make_short_name(t, display);
        break;
    case ROCL_NAMES_TRUNCATED:
        if (truncated == ROCL_NONE || truncated == 0)
            truncated = make_short_name(t, display);
        text = rocl_kernel_without_kd(t, truncated);
        break;
    default:
        break;
    }
    return text == ROCL_NONE ? display : text;
}

/* ---- JSON ------------------------------------------------------------------------------------ */

/* Every ROCTx event holds {"message":"..."}: without escapes it needs no parser. */
static bool plain_message(const char *json, size_t len, const char *key, const char **p, size_t *n)
{
    size_t k = strlen(key);
    if (len < k + 7 || json[0] != '{' || json[1] != '"' || memcmp(json + 2, key, k) ||
        memcmp(json + 2 + k, "\":", 2))
        return false;
    size_t at = k + 4;
    if (json[at] == ' ')
        at++;
    if (at + 3 > len || json[at] != '"' || json[len - 1] != '}' || json[len - 2] != '"')
        return false;
    *p = json + at + 1;
    *n = len - 2 - (at + 1);
    return !memchr(*p, '"', *n) && !memchr(*p, '\\', *n);
}

uint32_t rocl_json_text(rocl_trace *t, const char *json, size_t len, const char *key, bool *bad)
{
    const char *p;
    size_t n;
    uint32_t text = ROCL_NONE;
    if (plain_message(json, len, key, &p, &n))
        return rocl_strings_put(t->strings, p, n);
    cJSON *root;
    if (!rocl_json_read(&root, json, len))
        rocl_strings_note_lost(t->strings);
    else if (!root)
        *bad = true;
    const cJSON *v = cJSON_GetObjectItemCaseSensitive(root, key);
    if (cJSON_IsString(v))
        text = rocl_strings_put(t->strings, v->valuestring, strlen(v->valuestring));
    cJSON_Delete(root);
    return text;
}

bool rocl_json_number(rocl_trace *t, const char *json, size_t len, const char *key, uint64_t *v)
{
    cJSON *root;
    if (!rocl_json_read(&root, json, len))
        rocl_strings_note_lost(t->strings);
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(root, key);
    bool ok = false;
    if (item && cJSON_IsNumber(item) && item->valuedouble >= 0 && item->valuedouble < 18e18) {
        *v = (uint64_t)item->valuedouble;
        ok = true;
    } else if (item && cJSON_IsString(item) && item->valuestring[0]) {
        char *end;
        *v = strtoull(item->valuestring, &end, 0);
        ok = !*end;
    }
    cJSON_Delete(root);
    return ok;
}

void rocl_read_agent_place(rocl_trace *t, rocl_agent *a, const char *json, size_t n)
{
    enum { LOCATION, DOMAIN, UUID, KEYS };
    static const rocl_view keys[KEYS] = {[LOCATION] = ROCL_JSON_KEY("location_id"),
                                         [DOMAIN] = ROCL_JSON_KEY("domain"),
                                         [UUID] = ROCL_JSON_KEY("uuid")};
    static const rocl_view bytes_key[] = {ROCL_JSON_KEY("bytes")};
    rocl_json r;
    rocl_json_token v;
    uint64_t location = 0, domain = 0;
    uint8_t uuid[16] = {0};
    rocl_json_open(&r, json, n, 0, 0);
    if (!rocl_json_element(&r, &v) || !rocl_json_enter(&r, ROCL_JSON_OBJECT))
        return;
    for (int key, left = KEYS; left && (key = rocl_json_member(&r, keys, KEYS, &v)) >= 0; left--) {
        if (key != UUID) {
            rocl_json_uint(v.text, key == LOCATION ? &location : &domain);
            continue;
        }
        if (!rocl_json_enter(&r, ROCL_JSON_OBJECT) || rocl_json_member(&r, bytes_key, 1, &v) < 0 ||
            !rocl_json_enter(&r, ROCL_JSON_OBJECT))
            break;
        rocl_json_token name;
        uint64_t number, value;
        while (rocl_json_next(&r, &name) == ROCL_JSON_KEY && rocl_json_next(&r, &v)) {
            const rocl_view digits = {name.text.p + 5, name.text.n - 5};
            if (name.text.n > 5 && rocl_json_uint(digits, &number) && number < 16 &&
                rocl_json_uint(v.text, &value))
                uuid[number] = (uint8_t)value;
        }
        rocl_json_leave(&r);
    }
    if (location && a->type == ROCL_AGENT_GPU)
        a->pci = rocl_pci_text(t, domain, location);
    a->uuid = a->type == ROCL_AGENT_GPU ? rocl_uuid_text(t, uuid) : 0;
}

/* ---- messages -------------------------------------------------------------------------------- */

void rocl_quote_line(const rocl_spool *spool, uint64_t offset, char *text, size_t size)
{
    size_t got = 0, n = 0;
    if (rocl_spool_read(spool, text, size - 1, offset, &got, NULL) != ROCL_OK)
        got = 0;
    while (n < got && text[n] != '\n' && text[n] != '\r')
        n++;
    /* Do not leave half a character at the end. */
    for (size_t k = n; n == size - 1 && k > 0 && n - k < 4; k--) {
        if ((text[k - 1] & 0xc0) == 0x80)
            continue;
        if (text[k - 1] & 0x80)
            n = k - 1;
        break;
    }
    bool valid = rocl_utf8_valid(text, n);
    for (size_t k = 0; k < n; k++) {
        unsigned char c = (unsigned char)text[k];
        if (c == '\t')
            text[k] = ' ';
        else if (c < ' ' || c == 0x7f || (c >= 0x80 && !valid))
            text[k] = '?';
    }
    text[n] = '\0';
}
