#include "filter/stages.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/buf.h"

/* What an error lists is cut here: a trace may have thousands of ranks. */
#define LISTED_MAX 24

/* Which of the two lists a process is in. Both are asked for when both options are given. */
enum { IN_RANKS = 1, IN_PIDS = 2 };

/* ---- lists in error messages ----------------------------------------------------------------- */

typedef struct listing {
    rocl_buf text;
    size_t count;
} listing;

/* Adds an item unless it is there already. */
static void list_add(listing *l, const char *item)
{
    if (l->count > LISTED_MAX)
        return;
    size_t len = strlen(item);
    const char *at = (const char *)l->text.data, *end = at ? at + l->text.len : at;
    for (; at < end; at += strlen(at) + 1) {
        if (strcmp(at, item) == 0)
            return;
    }
    rocl_buf_put(&l->text, item, len + 1);
    l->count++;
}

/* "A, B, C, ..."; "none". Frees nothing: the text stays in the listing. */
static const char *list_text(listing *l)
{
    char *s = (char *)l->text.data;
    if (!l->count || l->text.failed)
        return "none";
    rocl_buf joined = {0};
    size_t shown = 0;
    for (char *at = s; shown < l->count; at += strlen(at) + 1, shown++) {
        if (shown)
            rocl_buf_str(&joined, ", ");
        rocl_buf_str(&joined, shown == LISTED_MAX ? "..." : at);
    }
    rocl_buf_byte(&joined, 0);
    rocl_buf_free(&l->text);
    l->text = joined;
    return joined.failed ? "..." : (const char *)joined.data;
}

/* ---- --rank, --pid --------------------------------------------------------------------------- */

typedef struct number_list {
    const char *option;
    const char *const *texts;
    uint8_t bit;
} number_list;

static int64_t number_of(const rocl_process *p, uint8_t bit)
{
    return bit == IN_RANKS ? p->rank : p->pid;
}

static rocl_status unknown_number(const rocl_trace *t, const number_list *l, const char *item,
                                  int len, rocl_error *err)
{
    listing known = {0};
    char text[32];
    for (size_t c = 0; c < t->capture_count; c++) {
        const rocl_capture *cap = &t->captures[c]->pub;
        for (uint32_t i = 0; i < cap->process_count; i++) {
            int64_t n = number_of(&cap->processes[i], l->bit);
            if (n < 0)
                continue;
            snprintf(text, sizeof text, "%" PRId64, n);
            list_add(&known, text);
        }
    }
    rocl_status st =
        rocl_fail(err, ROCL_USAGE, "%s: \"%.*s\": no process of the trace has this %s; known: %s",
                  l->option, len < 100 ? len : 100, item, l->option + 2, list_text(&known));
    rocl_buf_free(&known.text);
    return st;
}

/* Marks the processes whose number is in [lo, hi]; false when there is none. */
static bool mark_range(rocl_who *w, const rocl_trace *t, uint8_t bit, int64_t lo, int64_t hi)
{
    bool any = false;
    for (size_t c = 0; c < t->capture_count; c++) {
        const rocl_capture *cap = &t->captures[c]->pub;
        for (uint32_t i = 0; i < cap->process_count; i++) {
            int64_t n = number_of(&cap->processes[i], bit);
            if (n < lo || n > hi)
                continue;
            w->captures[c].processes[i] |= bit;
            any = true;
        }
    }
    return any;
}

static const char *skip_blanks(const char *s)
{
    while (*s == ' ' || *s == '\t')
        s++;
    return s;
}

/* "3" or "2-5", then a comma or the end. */
static const char *take_range(const char *s, int64_t *lo, int64_t *hi)
{
    s = rocl_take_number(skip_blanks(s), lo);
    if (!s)
        return NULL;
    *hi = *lo;
    s = skip_blanks(s);
    if (*s == '-') {
        s = rocl_take_number(skip_blanks(s + 1), hi);
        if (!s || *hi < *lo)
            return NULL;
        s = skip_blanks(s);
    }
    return *s == ',' || !*s ? s : NULL;
}

static rocl_status mark_list(rocl_who *w, const rocl_trace *t, const number_list *l,
                             const char *text, rocl_error *err)
{
    for (const char *s = text;; s++) {
        const char *item = skip_blanks(s);
        int64_t lo, hi;
        s = take_range(item, &lo, &hi);
        if (!s)
            return rocl_fail(err, ROCL_USAGE,
                             "%s: \"%.100s\": numbers and ranges are allowed, such as 0,2-5",
                             l->option, text);
        if (!mark_range(w, t, l->bit, lo, hi))
            return unknown_number(t, l, item, (int)(s - item), err);
        if (!*s)
            return ROCL_OK;
    }
}

static rocl_status mark_processes(rocl_who *w, const rocl_trace *t, uint8_t *wanted,
                                  rocl_error *err)
{
    const number_list lists[] = {{"--rank", t->opt.ranks, IN_RANKS},
                                 {"--pid", t->opt.pids, IN_PIDS}};
    *wanted = 0;
    for (size_t l = 0; l < 2; l++) {
        for (size_t i = 0; rocl_list_used(lists[l].texts) && lists[l].texts[i]; i++) {
            rocl_status st = mark_list(w, t, &lists[l], lists[l].texts[i], err);
            if (st != ROCL_OK)
                return st;
            *wanted |= lists[l].bit;
        }
    }
    return ROCL_OK;
}

/* From bits to verdicts. Of an event of no known process nobody can tell whose it is: it passes
 * when every process of its capture does. */
static void settle_processes(rocl_who_capture *c, uint32_t count, uint8_t wanted)
{
    uint32_t passing = 0;
    for (uint32_t i = 0; i < count; i++) {
        c->processes[i] = (c->processes[i] & wanted) == wanted;
        passing += c->processes[i];
    }
    c->all = !wanted || (count && passing == count);
    c->any = !wanted || passing;
}

/* ---- --agent --------------------------------------------------------------------------------- */

static int64_t label_number(const rocl_trace *t, const rocl_agent *a)
{
    switch (t->opt.agent_index) {
    case ROCL_INDEX_ABSOLUTE:
        return a->absolute_index;
    case ROCL_INDEX_TYPE_RELATIVE:
        return a->type_index;
    case ROCL_INDEX_RELATIVE:
        break;
    }
    return a->logical_index;
}

static bool is_number(const char *s, int64_t *n)
{
    s = rocl_take_number(s, n);
    return s && !*s;
}

/* "GPU 0", "gpu:0", "gpu0": the type and the index among the agents of that type. */
static bool is_typed(const rocl_trace *t, const rocl_agent *a, const char *word)
{
    const char *type = rocl_str(t, a->type_name);
    size_t len = strlen(type);
    int64_t n;
    if (!len || strncasecmp(word, type, len) != 0)
        return false;
    word += len;
    word += *word == ':' || *word == ' ';
    return is_number(word, &n) && n == a->type_index;
}

static bool is_called(const rocl_trace *t, uint32_t name, const char *word)
{
    return strcasecmp(rocl_str(t, name), word) == 0;
}

/* "Agent 2", also where it has a name: "Agent 2 (trainer)". */
static bool is_labelled(const rocl_trace *t, uint32_t label, const char *word)
{
    const char *s = rocl_str(t, label);
    size_t n = strlen(word);
    return strncasecmp(s, word, n) == 0 && (!s[n] || !strncmp(s + n, " (", 2));
}

static bool agent_matches(const rocl_trace *t, const rocl_agent *a, const char *word)
{
    int64_t n;
    if (is_number(word, &n))
        return n == label_number(t, a);
    return is_typed(t, a, word) || is_labelled(t, a->label, word) || is_called(t, a->name, word) ||
           is_called(t, a->product, word) || is_called(t, a->model, word) ||
           is_called(t, a->user_name, word);
}

static bool mark_agents(rocl_who *w, const rocl_trace *t, const char *word)
{
    bool any = false;
    for (size_t c = 0; *word && c < t->capture_count; c++) {
        const rocl_capture *cap = &t->captures[c]->pub;
        for (uint32_t i = 0; i < cap->agent_count; i++) {
            if (!agent_matches(t, &cap->agents[i], word))
                continue;
            w->captures[c].agents[i] = 1;
            any = true;
        }
    }
    return any;
}

static rocl_status unknown_agent(const rocl_trace *t, const char *word, rocl_error *err)
{
    listing known = {0};
    char text[256];
    for (size_t c = 0; c < t->capture_count; c++) {
        const rocl_capture *cap = &t->captures[c]->pub;
        for (uint32_t i = 0; i < cap->agent_count; i++) {
            const rocl_agent *a = &cap->agents[i];
            snprintf(text, sizeof text, "%.100s (%.40s:%" PRId64 "%s%.80s)", rocl_str(t, a->label),
                     rocl_str(t, a->type_name), a->type_index, a->name ? ", " : "",
                     rocl_str(t, a->name));
            list_add(&known, text);
        }
    }
    rocl_status st =
        rocl_fail(err, ROCL_USAGE, "--agent: \"%.100s\": no such agent in the trace; known: %s",
                  word, list_text(&known));
    rocl_buf_free(&known.text);
    return st;
}

static char *trim(char *word)
{
    word += strspn(word, " \t");
    size_t len = strlen(word);
    while (len && (word[len - 1] == ' ' || word[len - 1] == '\t'))
        word[--len] = '\0';
    return word;
}

/* A comma separates, unless the text as it stands is the name of an agent. */
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
        word = trim(word);
        if (!mark_agents(w, t, word))
            st = unknown_agent(t, word, err);
    }
    free(copy);
    return st;
}

/* ---- the stage ------------------------------------------------------------------------------- */

static rocl_status make_tables(rocl_who *w, const rocl_trace *t, rocl_error *err)
{
    w->captures = calloc(t->capture_count + 1, sizeof *w->captures);
    if (!w->captures)
        return rocl_fail_memory(err);
    for (w->count = 0; w->count < t->capture_count; w->count++) {
        rocl_who_capture *c = &w->captures[w->count];
        const rocl_capture *cap = &t->captures[w->count]->pub;
        c->processes = calloc((size_t)cap->process_count + 1, 1);
        c->agents = calloc((size_t)cap->agent_count + 1, 1);
        if (!c->processes || !c->agents) {
            w->count++;
            return rocl_fail_memory(err);
        }
    }
    return ROCL_OK;
}

rocl_status rocl_who_new(rocl_who *w, const rocl_trace *t, rocl_error *err)
{
    const char *const *agents = t->opt.agents;
    uint8_t wanted = 0;
    *w = (rocl_who){.by_agent = rocl_list_used(agents)};
    if (!w->by_agent && !rocl_list_used(t->opt.ranks) && !rocl_list_used(t->opt.pids))
        return ROCL_OK;
    rocl_status st = make_tables(w, t, err);
    if (st == ROCL_OK)
        st = mark_processes(w, t, &wanted, err);
    for (size_t i = 0; st == ROCL_OK && w->by_agent && agents[i]; i++)
        st = choose_agents(w, t, agents[i], err);
    for (size_t c = 0; st == ROCL_OK && c < w->count; c++)
        settle_processes(&w->captures[c], t->captures[c]->pub.process_count, wanted);
    return st;
}

void rocl_who_free(rocl_who *w)
{
    for (size_t c = 0; c < w->count; c++) {
        free(w->captures[c].processes);
        free(w->captures[c].agents);
    }
    free(w->captures);
}

static void judge_processes(const rocl_who_capture *c, const rocl_batch *b, uint8_t *keep)
{
    size_t size = rocl_kind_size(b->kind);
    uint32_t count = b->capture->process_count;
    for (size_t i = 0; i < b->count; i++) {
        uint32_t p = rocl_event_at(b, size, i)->process;
        keep[i] &= p < count ? c->processes[p] : 0;
    }
}

/* Where the agents of a kind are. GPU work of no known agent is left out, it cannot be said to be
 * of the agents asked for; samples and the like of no agent (the host's) stay. */
typedef struct agent_fields {
    size_t first, second; /* 0: the kind has no agent */
    bool unknown;
} agent_fields;

static const agent_fields fields_of[ROCL_KINDS] = {
    [ROCL_DISPATCH] = {offsetof(rocl_dispatch, agent), offsetof(rocl_dispatch, agent), false},
    [ROCL_COPY] = {offsetof(rocl_copy, src), offsetof(rocl_copy, dst), false},
    [ROCL_ALLOC] = {offsetof(rocl_alloc, owner), offsetof(rocl_alloc, owner), false},
    [ROCL_SCRATCH] = {offsetof(rocl_alloc, owner), offsetof(rocl_alloc, owner), false},
    [ROCL_COUNTER] = {offsetof(rocl_dispatch, agent), offsetof(rocl_dispatch, agent), false},
    [ROCL_SPM] = {offsetof(rocl_sample_value, agent), offsetof(rocl_sample_value, agent), false},
    [ROCL_SAMPLE] = {offsetof(rocl_sample_value, agent), offsetof(rocl_sample_value, agent), true},
    [ROCL_GRAPH] = {offsetof(rocl_hip, agent), offsetof(rocl_hip, agent), true},
    [ROCL_HIP_EVENT] = {offsetof(rocl_hip, agent), offsetof(rocl_hip, agent), true},
    [ROCL_BARRIER] = {offsetof(rocl_hip, agent), offsetof(rocl_hip, agent), true},
};

static uint32_t field(const rocl_event *e, size_t offset)
{
    uint32_t v;
    memcpy(&v, (const char *)e + offset, sizeof v);
    return v;
}

static void judge_agents(const rocl_who_capture *c, const rocl_batch *b, uint8_t *keep)
{
    size_t size = rocl_kind_size(b->kind);
    const agent_fields f = fields_of[b->kind];
    uint32_t count = b->capture->agent_count;
    for (size_t i = 0; f.first && i < b->count; i++) {
        const rocl_event *e = rocl_event_at(b, size, i);
        uint32_t x = field(e, f.first), y = field(e, f.second);
        if (x >= count && y >= count)
            keep[i] &= (uint8_t)f.unknown;
        else
            keep[i] &= (uint8_t)((x < count && c->agents[x]) | (y < count && c->agents[y]));
    }
}

void rocl_who_judge(const rocl_who *w, const rocl_batch *b, uint8_t *keep)
{
    if (!w->captures)
        return;
    const rocl_who_capture *c = &w->captures[b->capture->index];
    if (!c->all)
        judge_processes(c, b, keep);
    if (w->by_agent)
        judge_agents(c, b, keep);
}
