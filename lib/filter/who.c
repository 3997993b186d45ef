/* --run, --rank, --pid, --agent: whose events pass. */
#include "filter/stages.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "model/identity.h"

/* What an error lists is cut here: a trace may have thousands of ranks. */
#define LISTED_MAX 24

/* Which of the two lists a process is in. Both are asked for when both options are given. */
enum { IN_RANKS = 1, IN_PIDS = 2 };

/* ---- lists in error messages ---- */

typedef struct listing {
    rocl_buf items; /* NUL-terminated */
    size_t count;
} listing;

/* Adds an item unless it is there already. */
static void add_to_listing(listing *l, const char *item)
{
    if (l->count > LISTED_MAX)
        return;
    const char *at = (const char *)l->items.data, *end = at ? at + l->items.len : at;
    for (; at < end; at += strlen(at) + 1)
        if (strcmp(at, item) == 0)
            return;
    rocl_buf_put(&l->items, item, strlen(item) + 1);
    l->count++;
}

/* "MESSAGE; known: A, B, C, ..." or "MESSAGE; known: none". Frees the listing. */
static rocl_status fail_with_listing(listing *l, rocl_error *err, const char *message)
{
    rocl_buf known = {0};
    const char *at = (const char *)l->items.data;
    for (size_t i = 0; i < l->count && !l->items.failed; at += strlen(at) + 1, i++) {
        rocl_buf_str(&known, i ? ", " : "");
        rocl_buf_str(&known, i == LISTED_MAX ? "..." : at);
    }
    rocl_buf_byte(&known, 0);
    rocl_status st = rocl_fail(err, ROCL_USAGE, "%s; known: %s", message,
                               known.failed    ? "..."
                               : known.len > 1 ? (const char *)known.data
                                               : "none");
    rocl_buf_free(&known);
    rocl_buf_free(&l->items);
    return st;
}

/* ---- --rank, --pid ---- */

typedef struct number_list {
    const char *option;
    const char *const *texts;
    uint8_t bit;
} number_list;

static int64_t number_of(const rocl_process *p, uint8_t bit)
{
    return bit == IN_RANKS ? p->rank : p->pid;
}

static rocl_status fail_unknown_number(const rocl_trace *t, const number_list *l, const char *item,
                                       int len, rocl_error *err)
{
    listing known = {0};
    char text[256];
    for (size_t c = 0; c < t->capture_count; c++) {
        const rocl_capture *cap = &t->captures[c]->pub;
        for (uint32_t i = 0; i < cap->process_count; i++) {
            int64_t n = number_of(&cap->processes[i], l->bit);
            snprintf(text, sizeof text, "%" PRId64, n);
            if (n >= 0)
                add_to_listing(&known, text);
        }
    }
    snprintf(text, sizeof text, "%s: \"%.*s\": no process of the trace has this %s", l->option,
             len < 100 ? len : 100, item, l->option + 2);
    return fail_with_listing(&known, err, text);
}

static rocl_status mark_list(rocl_who *w, const rocl_trace *t, const number_list *l,
                             const char *text, rocl_error *err)
{
    for (const char *s = text;; s++) {
        const char *item = rocl_skip_blanks(s);
        int64_t lo, hi;
        s = rocl_parse_range(item, &lo, &hi);
        if (!s || (*s && *s != ','))
            return rocl_fail(err, ROCL_USAGE,
                             "%s: \"%.100s\": numbers and ranges are allowed, such as 0,2-5",
                             l->option, text);
        bool any = false;
        for (size_t c = 0; c < t->capture_count; c++) {
            const rocl_capture *cap = &t->captures[c]->pub;
            for (uint32_t i = 0; i < cap->process_count; i++) {
                const int64_t n = number_of(&cap->processes[i], l->bit);
                w->captures[c].processes[i] |= n >= lo && n <= hi ? l->bit : 0;
                any |= n >= lo && n <= hi;
            }
        }
        if (!any)
            return fail_unknown_number(t, l, item, (int)(s - item), err);
        if (!*s)
            return ROCL_OK;
    }
}

static rocl_status choose_processes(rocl_who *w, const rocl_trace *t, rocl_error *err)
{
    const number_list lists[] = {{"--rank", t->opt.ranks, IN_RANKS},
                                 {"--pid", t->opt.pids, IN_PIDS}};
    uint8_t wanted = 0;
    for (size_t l = 0; l < sizeof lists / sizeof *lists; l++)
        for (size_t i = 0; rocl_list_used(lists[l].texts) && lists[l].texts[i]; i++) {
            rocl_status st = mark_list(w, t, &lists[l], lists[l].texts[i], err);
            if (st != ROCL_OK)
                return st;
            wanted |= lists[l].bit;
        }
    /* From marks to what passes. Nobody can tell whose an event of no known process is: it passes
     * when every process of its capture does. */
    for (size_t k = 0; k < w->count; k++) {
        rocl_who_capture *c = &w->captures[k];
        uint32_t count = t->captures[k]->pub.process_count, passing = 0;
        const bool of_run = !t->opt.run || t->captures[k]->run == t->opt.run;
        for (uint32_t i = 0; i < count; i++) {
            c->processes[i] = of_run && (c->processes[i] & wanted) == wanted;
            passing += c->processes[i];
        }
        c->all = of_run && (!wanted || (count && passing == count));
        c->any = of_run && (!wanted || passing);
    }
    return ROCL_OK;
}

/* ---- --agent ---- */

static bool is_number(const char *s, int64_t *n)
{
    s = rocl_parse_number(s, n);
    return s && !*s;
}

/* The number of its label; "GPU 0", "gpu:0", "gpu0": the type and the number by which outputs call
 * it, on any machine; "GPU 0 on node7"; its label, "Agent 2" also where it has a name: "Agent 2
 * (trainer)"; one of its names. */
static bool is_agent(const rocl_trace *t, const rocl_capture *c, uint32_t agent, const char *word)
{
    const rocl_agent *a = &c->agents[agent];
    const rocl_gpu *gpu = rocl_gpu_of(c, agent);
    int64_t n;
    if (is_number(word, &n))
        return n == (t->opt.agent_index == ROCL_INDEX_ABSOLUTE        ? a->absolute_index
                     : t->opt.agent_index == ROCL_INDEX_TYPE_RELATIVE ? a->type_index
                                                                      : a->logical_index);
    const char *type = rocl_str(t, a->type_name), *label = rocl_str(t, a->label);
    size_t type_len = strlen(type), len = strlen(word);
    if (type_len && !strncasecmp(word, type, type_len)) {
        const char *index = word + type_len;
        index += *index == ':' || *index == ' ';
        if (is_number(index, &n) && n == (gpu ? (int64_t)gpu->id : a->type_index))
            return true;
    }
    if (!strncasecmp(label, word, len) && (!label[len] || !strncmp(label + len, " (", 2)))
        return true;
    const uint32_t names[] = {a->device, a->name, a->product, a->model, a->user_name};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcasecmp(rocl_str(t, names[i]), word))
            return true;
    return false;
}

static bool mark_agents(rocl_who *w, const rocl_trace *t, const char *word)
{
    bool any = false;
    for (size_t c = 0; *word && c < t->capture_count; c++) {
        const rocl_capture *cap = &t->captures[c]->pub;
        for (uint32_t i = 0; i < cap->agent_count; i++) {
            if (!is_agent(t, cap, i, word))
                continue;
            w->captures[c].agents[i] = 1;
            any = true;
        }
    }
    return any;
}

static rocl_status fail_unknown_agent(const rocl_trace *t, const char *word, rocl_error *err)
{
    listing known = {0};
    char text[256];
    for (size_t c = 0; c < t->capture_count; c++) {
        const rocl_capture *cap = &t->captures[c]->pub;
        for (uint32_t i = 0; i < cap->agent_count; i++) {
            const rocl_agent *a = &cap->agents[i];
            snprintf(text, sizeof text, "%.100s (%.40s%s%.80s)", rocl_str(t, a->device),
                     rocl_str(t, a->label), a->name ? ", " : "", rocl_str(t, a->name));
            add_to_listing(&known, text);
        }
    }
    snprintf(text, sizeof text, "--agent: \"%.100s\": no such agent in the trace", word);
    return fail_with_listing(&known, err, text);
}

/* A comma separates, unless the whole text is the name of an agent. */
static rocl_status choose_agents(rocl_who *w, const rocl_trace *t, const char *text,
                                 rocl_error *err)
{
    if (mark_agents(w, t, text))
        return ROCL_OK;
    char *copy = strdup(text), *rest = copy;
    if (!copy)
        return rocl_fail_memory(err);
    rocl_status st = ROCL_OK;
    for (char *word; st == ROCL_OK && (word = strsep(&rest, ","));) {
        word += strspn(word, " \t");
        for (size_t len = strlen(word); len && strchr(" \t", word[len - 1]); len--)
            word[len - 1] = '\0';
        if (!mark_agents(w, t, word))
            st = fail_unknown_agent(t, word, err);
    }
    free(copy);
    return st;
}

/* ---- the stage ---- */

rocl_status rocl_who_new(rocl_who *w, const rocl_trace *t, rocl_error *err)
{
    const char *const *agents = t->opt.agents;
    *w = (rocl_who){.by_agent = rocl_list_used(agents)};
    if (!t->opt.run && !w->by_agent && !rocl_list_used(t->opt.ranks) &&
        !rocl_list_used(t->opt.pids))
        return ROCL_OK;
    w->captures = calloc(t->capture_count + 1, sizeof *w->captures);
    for (; w->captures && w->count < t->capture_count; w->count++) {
        rocl_who_capture *c = &w->captures[w->count];
        const rocl_capture *cap = &t->captures[w->count]->pub;
        c->processes = calloc((size_t)cap->process_count + cap->agent_count + 1, 1);
        if (!c->processes)
            return rocl_fail_memory(err);
        c->agents = c->processes + cap->process_count;
    }
    rocl_status st = w->captures ? choose_processes(w, t, err) : rocl_fail_memory(err);
    for (size_t i = 0; st == ROCL_OK && w->by_agent && agents[i]; i++)
        st = choose_agents(w, t, agents[i], err);
    return st;
}

void rocl_who_free(rocl_who *w)
{
    for (size_t c = 0; c < w->count; c++)
        free(w->captures[c].processes);
    free(w->captures);
}

static uint32_t read_agent(const rocl_event *e, size_t offset)
{
    uint32_t agent;
    memcpy(&agent, (const char *)e + offset, sizeof agent);
    return agent;
}

void rocl_who_test(const rocl_who *w, const rocl_batch *b, uint8_t *keep)
{
    if (!w->captures)
        return;
    const rocl_who_capture *c = &w->captures[b->capture->index];
    size_t size = rocl_kind_size(b->kind);
    uint32_t count = b->capture->process_count;
    for (size_t i = 0; !c->all && i < b->count; i++) {
        uint32_t p = rocl_event_at(b, size, i)->process;
        keep[i] &= p < count ? c->processes[p] : 0;
    }
    /* GPU work of no known agent is left out, it cannot be said to be of the agents asked for;
     * samples and the like of no agent (the host's) stay. */
    const rocl_kind_info *k = &rocl_kind_infos[b->kind];
    count = b->capture->agent_count;
    for (size_t i = 0; w->by_agent && k->agents[0] && i < b->count; i++) {
        const rocl_event *e = rocl_event_at(b, size, i);
        const uint32_t x = read_agent(e, k->agents[0]), y = read_agent(e, k->agents[1]);
        if (x >= count && y >= count)
            keep[i] &= (k->traits & ROCL_AGENT_FREE) != 0;
        else
            keep[i] &= (uint8_t)((x < count && c->agents[x]) | (y < count && c->agents[y]));
    }
}
