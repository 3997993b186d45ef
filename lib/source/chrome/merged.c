/* Files that tools merged from those of several ranks: see merged.h. */
#include "source/chrome/merged.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"

void chrome_merged_close(chrome_merged *m)
{
    pthread_mutex_destroy(&m->lock);
    rocl_map_free(&m->index);
    free(m->members);
}

/* ---- texts ----------------------------------------------------------------------------------- */

/* "[TP01] " of "[TP01] 83", without the space; empty: there is none. */
static rocl_view find_prefix(rocl_view text)
{
    const char *end = text.n && *text.p == '[' ? memchr(text.p, ']', text.n) : NULL;
    const bool followed = end && end + 1 < text.p + text.n && end[1] == ' ';
    return followed ? (rocl_view){text.p, (size_t)(end + 1 - text.p)} : (rocl_view){"", 0};
}

/* The number behind the last space; -1: there is none. */
static int64_t read_last_number(rocl_view text)
{
    const char *space = memrchr(text.p, ' ', text.n);
    int64_t number;
    if (!space ||
        !rocl_json_int((rocl_view){space + 1, (size_t)(text.p + text.n - space - 1)}, &number))
        return -1;
    return number < 0 ? -1 : number;
}

/* The rank of "[TP01-DP00-PP00-EP03]": TP, if neither DP nor PP has several; -1: unknown. */
static int64_t read_rank(rocl_view prefix)
{
    int64_t tp = -1;
    const char *p = prefix.p + 1, *end = prefix.p + prefix.n - 1;
    while (end - p > 2 && isupper((unsigned char)p[0]) && p[1] == 'P') {
        const char *word = p;
        int64_t n = 0;
        for (p += 2; p < end && isdigit((unsigned char)*p) && n < INT32_MAX / 10; p++)
            n = n * 10 + (*p - '0');
        if (p == word + 2 || (p < end && *p != '-'))
            return -1;
        if (n && (*word == 'D' || *word == 'P'))
            return -1;
        tp = *word == 'T' ? n : tp;
        p += p < end;
    }
    return p == end ? tp : -1;
}

/* ---- events ---------------------------------------------------------------------------------- */

void chrome_place_in_group(rocl_records *to, rocl_source_record *r, chrome_event *e)
{
    e->prefix = find_prefix(e->pid.text);
    const int64_t pid = read_last_number(e->pid.text);
    if (!e->prefix.n) {
        r->pid = pid > 0 ? (uint64_t)pid : 0;
        return;
    }
    e->group = rocl_records_text(to, e->prefix);
    if (pid < 0 || (pid == 0 && r->thread == 0)) /* a row of the profiler itself */
        r->process = ROCL_NO_KEY;
}

void chrome_read_group(chrome_merged *m, chrome_event *e, const chrome_args *a)
{
    if (e->group || a->rank > INT32_MAX)
        return;
    e->group = CHROME_GROUP_OF_RANK | a->rank;
    atomic_store_explicit(&m->ranked, true, memory_order_relaxed);
}

/* A process of which several are said is of none. */
bool chrome_note_member(chrome_merged *m, chrome_worker *w, rocl_records *to,
                        const chrome_member *member)
{
    if (!rocl_records_first_pass(to) || member->process == ROCL_NO_KEY ||
        (w->noted && !memcmp(&w->member, member, sizeof *member)))
        return true;
    w->noted = true;
    w->member = *member;
    const uint64_t key = rocl_mix64(member->process);
    bool ok = true;
    pthread_mutex_lock(&m->lock);
    const uint32_t i = rocl_map_get(&m->index, key, ROCL_NONE);
    if (i == ROCL_NONE) {
        ok = ROCL_GROW(m->members, m->cap, m->count + 1) &&
             rocl_map_put(&m->index, key, (uint32_t)m->count);
        if (ok)
            m->members[m->count++] = *member;
    } else {
        chrome_member *known = &m->members[i];
        if (!known->group || known->group == member->group || !member->group)
            known->group |= member->group;
        else
            known->group = ROCL_NO_KEY;
        known->pid = member->pid < known->pid ? member->pid : known->pid;
    }
    pthread_mutex_unlock(&m->lock);
    return ok;
}

/* ---- definitions ----------------------------------------------------------------------------- */

rocl_status chrome_apply_groups(const chrome_merged *m, rocl_records_input *in, bool each,
                                bool *several, rocl_error *err)
{
    rocl_capture *c = &in->capture->pub;
    uint64_t *groups = calloc(c->process_count + (size_t)1, sizeof *groups), first = 0;
    rocl_map nodes = {0};
    bool ok = groups != NULL;
    *several = false;
    for (size_t i = 0; i < m->count && ok; i++) {
        const chrome_member *k = &m->members[i];
        const uint32_t p = rocl_records_find(in, ROCL_KEY_PROCESS, (rocl_key){0, 0, k->process});
        if (p == ROCL_NONE || k->group == ROCL_NO_KEY || (!k->group && !each))
            continue;
        groups[p] = k->group ? k->group : ~k->process;
        first = first ? first : groups[p];
        *several |= groups[p] != first;
        rocl_process *process = rocl_definition_at(c, ROCL_DEFINE_PROCESS, p);
        if (k->group & CHROME_GROUP_OF_RANK) {
            process->rank = (int32_t)(k->group & INT32_MAX);
            process->pid = k->pid <= INT64_MAX ? (int64_t)k->pid : process->pid;
        } else if (k->group) {
            rocl_view text;
            process->command = (uint32_t)k->process;
            text.p = rocl_text(in->trace, process->command, &text.n);
            const int64_t pid = read_last_number(text);
            process->pid = pid > 0 ? pid : 0;
            process->rank = (int32_t)read_rank(find_prefix(text));
        }
    }
    for (uint32_t p = 0; p < c->process_count && ok && *several; p++) {
        bool fresh;
        if (!groups[p])
            continue;
        rocl_node *node =
            rocl_define_once(c, ROCL_DEFINE_NODE, &nodes, rocl_mix64(groups[p]), &fresh);
        ok = node;
        if (ok && fresh)
            node->id = c->node_count;
        if (ok)
            ((rocl_process *)rocl_definition_at(c, ROCL_DEFINE_PROCESS, p))->node =
                (uint32_t)(node - c->nodes);
    }
    rocl_map_free(&nodes);
    free(groups);
    return ok ? ROCL_OK : rocl_fail_memory(err);
}
