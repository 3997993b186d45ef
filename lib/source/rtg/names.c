/* What lines name: texts, interned once; processes, threads, agents and queues by their keys, which
 * become definitions of the capture in order of first appearance. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "source/rtg/line_match.h"
#include "source/rtg/rtg.h"

/* ---- texts ---------------------------------------------------------------------------------- */

/* Names come in thousands of lines and few kinds: a small table that is a worker's own saves the
 * way to the shared one. */

rtg_names *rtg_names_new(rocl_trace *t)
{
    rtg_names *n = calloc(1, sizeof *n);
    for (size_t i = 0; n && i < RTG_NAMES; i++)
        n->recent[i].text = ROCL_NONE;
    if (n)
        n->trace = t;
    return n;
}

void rtg_names_free(rtg_names *n)
{
    if (n)
        rocl_map_free(&n->displayed);
    free(n);
}

static uint64_t load_word(const char *p, size_t n)
{
    uint64_t v = 0;
    memcpy(&v, p, n < 8 ? n : 8);
    return v;
}

/* Only tells names that are at hand apart: begin, middle and end do. */
static uint64_t hash_name(rocl_view s)
{
    uint64_t h = (s.n ^ load_word(s.p, s.n)) * 0x9e3779b97f4a7c15u;
    if (s.n > 8)
        h += load_word(s.p + s.n - 8, 8) * 0xd6e8feb86659fd93u;
    if (s.n > 24)
        h += load_word(s.p + s.n / 2 - 4, 8) * 0xa0761d6478bd642fu;
    return rocl_mix64(h);
}

static size_t find_recent(rtg_names *n, rocl_view s)
{
    const uint64_t h = hash_name(s);
    const size_t i = h % RTG_NAMES;
    if (n->recent[i].text != ROCL_NONE && n->recent[i].hash == h && n->recent[i].view.n == s.n &&
        !memcmp(n->recent[i].view.p, s.p, s.n))
        return i;
    const uint32_t text = rocl_strings_put(n->trace->strings, s.p, s.n);
    n->recent[i].hash = h;
    n->recent[i].text = text;
    n->recent[i].displayed = ROCL_NONE;
    n->failed |= text == ROCL_NONE;
    if (text != ROCL_NONE)
        n->recent[i].view.p = rocl_strings_get(n->trace->strings, text, &n->recent[i].view.n);
    return i;
}

uint32_t rtg_intern_name(rtg_names *n, rocl_view s)
{
    return n->recent[find_recent(n, s)].text;
}

uint32_t rtg_intern_kernel(rtg_names *n, rocl_view s)
{
    size_t i = find_recent(n, s);
    uint32_t text = n->recent[i].text;
    if (n->recent[i].displayed == ROCL_NONE) {
        uint32_t displayed = rocl_map_get(&n->displayed, text, ROCL_NONE);
        if (displayed == ROCL_NONE) {
            bool mangled = rtg_lit(s.p, s.p + s.n, "_Z");
            size_t len = rocl_kernel_length(s.p, s.n);
            uint32_t name = rocl_strings_put(n->trace->strings, s.p, len);
            if (name != ROCL_NONE)
                displayed = rocl_kernel_shown(n->trace, mangled ? name : 0, name, 0);
            n->failed |= displayed == ROCL_NONE || !rocl_map_put(&n->displayed, text, displayed);
        }
        n->recent[i].displayed = displayed;
    }
    return n->recent[i].displayed;
}

/* ---- definitions ---------------------------------------------------------------------------- */

static uint32_t intern_text(rtg_file *f, const char *s)
{
    return rocl_strings_put(f->trace->strings, s, strlen(s));
}

static int64_t device_number(const rocl_key_entry *e)
{
    return (int64_t)(e->key.agent & INT32_MAX);
}

/* Numbers that agents of the tracer may have: behind those of all files before this one, and of the
 * devices in it. */
static int64_t find_free_gpu(const rocl_trace *t, const rocl_model_capture *own,
                             const rocl_registry *agents)
{
    int64_t next = 0;
    for (size_t c = 0; c < t->capture_count; c++) {
        const rocl_capture *p = &t->captures[c]->pub;
        bool other_text = t->captures[c] != own && t->captures[c]->source->ops == own->source->ops;
        for (uint32_t i = 0; other_text && i < p->agent_count; i++)
            if (p->agents[i].absolute_index >= next)
                next = p->agents[i].absolute_index + 1;
    }
    for (size_t i = 0; i < agents->count; i++) {
        const rocl_key_entry *e = &agents->entries[i];
        if (e->key.number && device_number(e) >= next)
            next = device_number(e) + 1;
    }
    return next;
}

static bool define_entry(rtg_file *f, int table, const rocl_key_entry *e, int64_t *next_gpu)
{
    static const rocl_definition kinds[RTG_TABLES] = {ROCL_DEFINE_PROCESS, ROCL_DEFINE_THREAD,
                                                      ROCL_DEFINE_AGENT, ROCL_DEFINE_QUEUE};
    const rocl_key_entry *p =
        rocl_registry_find(&f->tables[RTG_PROCESSES], &(rocl_key){e->key.process, 0, 0});
    const uint32_t process = p ? p->index : ROCL_NONE;
    void *made = rocl_define(&f->capture->pub, kinds[table]);
    if (!made)
        return false;
    if (table == RTG_PROCESSES) {
        bool strace = e->key.process & RTG_STRACE_PROCESS;
        int64_t pid = strace ? 0 : (int64_t)e->key.process;
        *(rocl_process *)made = (rocl_process){.id = pid,
                                               .node = ROCL_NONE,
                                               .pid = pid,
                                               .command = strace ? intern_text(f, "strace") : 0,
                                               .rank = -1};
    } else if (table == RTG_THREADS) {
        int64_t tid = (int64_t)e->key.agent;
        *(rocl_thread *)made = (rocl_thread){.id = tid, .process = process, .tid = tid};
    } else if (table == RTG_AGENTS) {
        /* Devices of profile lines have numbers, and are the same GPU in every file. Agents of the
         * tracer have but handles, which do not say which of several files are one GPU: they are
         * kept separate, and numbered from *next_gpu on. */
        const int64_t index = e->key.number ? device_number(e) : (*next_gpu)++;
        char label[40];
        snprintf(label, sizeof label, "GPU %" PRId64, index);
        *(rocl_agent *)made = (rocl_agent){.id = e->index,
                                           .node = ROCL_NONE,
                                           .process = process,
                                           .type = ROCL_AGENT_GPU,
                                           .absolute_index = index,
                                           .logical_index = index,
                                           .type_index = index,
                                           .type_name = intern_text(f, "GPU"),
                                           .label = intern_text(f, label)};
    } else {
        /* Queues have numbers, as a rule; one that has a name is numbered, too. */
        const uint32_t text = (uint32_t)e->key.number;
        uint64_t id = 0;
        rocl_view s;
        s.p = rocl_strings_get(f->trace->strings, text, &s.n);
        bool number = s.n > 0;
        for (size_t k = 0; k < s.n; k++)
            number &= rtg_digit(s.p[k]);
        number = number && rtg_number(s, &id) && id <= INT64_MAX;
        *(rocl_queue *)made = (rocl_queue){.id = number ? (int64_t)id : (int64_t)e->index,
                                           .process = process,
                                           .name = number ? 0 : text};
    }
    return true;
}

rocl_status rtg_define(rtg_file *f, rocl_error *err)
{
    int64_t next_gpu = find_free_gpu(f->trace, f->capture, &f->tables[RTG_AGENTS]);
    for (int t = 0; t < RTG_TABLES; t++) {
        rocl_registry *of = &f->tables[t];
        if (of->count >= ROCL_NONE)
            return rocl_fail(err, ROCL_INPUT, "%s: too many threads or queues", f->path);
        rocl_key_entry **list = rocl_registry_order(of);
        bool ok = list;
        for (size_t i = 0; ok && i < of->count; i++)
            ok = define_entry(f, t, list[i], &next_gpu);
        free(list);
        if (!ok)
            return rocl_fail_memory(err);
    }
    return ROCL_OK;
}
