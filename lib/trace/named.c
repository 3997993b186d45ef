/* Hosts and ranks from names of files and from options: see named.h. */
#include "trace/named.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "source/formats.h"
#include "source/reader.h"
#include "trace/remote.h"

/* ---- names ----------------------------------------------------------------------------------- */

/* The digits at p: how many; *number: their value. */
static size_t read_digits(const char *p, const char *end, int64_t *number)
{
    size_t n = 0;
    for (*number = 0; p + n < end && isdigit((unsigned char)p[n]) && n < 9; n++)
        *number = *number * 10 + (p[n] - '0');
    return p + n < end && isdigit((unsigned char)p[n]) ? 0 : n;
}

/* "rank3", "rank-3", "rank_3", "rank[3]"; the last one counts, but "local_rank3" is the number on a
 * node. */
static int64_t find_rank(const char *p, const char *end)
{
    int64_t found = -1, number;
    for (const char *at = p; end - at > 4; at++) {
        if (strncasecmp(at, "rank", 4) != 0 || (at > p && isalpha((unsigned char)at[-1])))
            continue;
        const char *digits = at + 4 + (strchr("-_.[=", at[4]) != NULL);
        const bool local = at - p >= 6 && strncasecmp(at - 6, "local", 5) == 0;
        if (!local && read_digits(digits, end, &number))
            found = number;
    }
    return found;
}

/* The number behind "-WORD-", as in "1700000000-TP-3-PP-0.trace.json.gz"; -1: there is none. */
static int64_t find_part(const char *p, const char *end, const char *word)
{
    const size_t len = strlen(word);
    int64_t number;
    for (const char *at = p; end - at > (ptrdiff_t)len + 2; at++)
        if (*at == '-' && !strncmp(at + 1, word, len) && at[len + 1] == '-' &&
            read_digits(at + len + 2, end, &number))
            return number;
    return -1;
}

/* "trace_r3.json" */
static int64_t find_short_rank(const char *p, const char *end)
{
    int64_t number;
    for (const char *at = p; end - at > 2; at++) {
        const size_t n = !strncmp(at, "_r", 2) ? read_digits(at + 2, end, &number) : 0;
        if (n && n < 6 && !isalnum((unsigned char)at[2 + n]))
            return number;
    }
    return -1;
}

/* A name of a host, not of a model, an experiment or a rank. */
static bool is_host(const char *p, size_t n)
{
    bool letter = false;
    for (size_t i = 0; i < n; i++) {
        if (!isalnum((unsigned char)p[i]) && p[i] != '-' && p[i] != '.')
            return false;
        letter |= isalpha((unsigned char)p[i]) != 0;
    }
    return n && letter && n < 256 && p[0] != '-' && p[0] != '.' && find_rank(p, p + n) < 0;
}

/* "HOST_PID" before the first dot that a number or "rank" follows, as PyTorch's handler writes. */
static size_t host_before_pid(const char *p, const char *end)
{
    const char *pid = memrchr(p, '_', (size_t)(end - p));
    for (; pid; pid = memrchr(p, '_', (size_t)(pid - p))) {
        int64_t number;
        const size_t n = read_digits(pid + 1, end, &number);
        if (n && pid[1 + n] == '.')
            return is_host(p, (size_t)(pid - p)) ? (size_t)(pid - p) : 0;
    }
    return 0;
}

rocl_named rocl_read_name(const char *path, bool in_folder)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    const char *end = name + strlen(name), *folder = NULL;
    rocl_named r = {.rank = find_rank(name, end)};
    for (folder = slash; folder && folder > path && folder[-1] != '/';)
        folder--;
    const bool json = strstr(name, ".json") != NULL;
    if (r.rank < 0 && json && find_part(name, end, "PP") <= 0 && find_part(name, end, "DP") <= 0)
        r.rank = find_part(name, end, "TP");
    if (r.rank < 0 && json)
        r.rank = find_short_rank(name, end);
    if (r.rank < 0 && folder)
        r.rank = find_rank(folder, slash);
    if (strstr(name, ".pt.trace.json")) {
        r.host_len = host_before_pid(name, end);
        r.host = name;
    } else if (in_folder && folder) {
        int64_t pid;
        const size_t n = read_digits(name, end, &pid);
        r.host_len = n && name[n] == '_' && is_host(folder, (size_t)(slash - folder))
                         ? (size_t)(slash - folder)
                         : 0;
        r.host = folder;
    } else if (strstr(path, "plugins/profile/") && strstr(name, ".trace.json")) {
        const size_t n = (size_t)(strstr(name, ".trace.json") - name);
        r.host_len = is_host(name, n) ? n : 0;
        r.host = name;
    }
    r.host = r.host_len ? r.host : NULL;
    return r;
}

/* ---- options --------------------------------------------------------------------------------- */

/* The value of the last "PATTERN=VALUE" that a path matches; NULL: none does. used: by item. */
static const char *find_value(const char *const *list, const char *path, bool *used)
{
    const char *slash = strrchr(path, '/'), *found = NULL;
    for (size_t i = 0; list && list[i]; i++) {
        const char *equals = strrchr(list[i], '=');
        char *pattern = equals ? strndup(list[i], (size_t)(equals - list[i])) : NULL;
        if (pattern && (!fnmatch(pattern, path, 0) || (slash && !fnmatch(pattern, slash + 1, 0)))) {
            found = equals + 1;
            used[i] = true;
        }
        free(pattern);
    }
    return found;
}

static rocl_status check_items(const rocl_trace *t, rocl_error *err)
{
    for (size_t i = 0; t->opt.hosts && t->opt.hosts[i]; i++) {
        const char *equals = strrchr(t->opt.hosts[i], '=');
        if (!equals || equals == t->opt.hosts[i] || !equals[1])
            return rocl_fail(err, ROCL_USAGE, "--host: \"%s\" is not PATTERN=NAME",
                             t->opt.hosts[i]);
    }
    for (size_t i = 0; t->opt.rank_numbers && t->opt.rank_numbers[i]; i++) {
        const char *item = t->opt.rank_numbers[i], *equals = strrchr(item, '=');
        int64_t number;
        const size_t n = equals ? read_digits(equals + 1, item + strlen(item), &number) : 0;
        if (!n || equals == item || equals[1 + n])
            return rocl_fail(err, ROCL_USAGE, "--rank: \"%s\" is not PATTERN=NUMBER", item);
    }
    return ROCL_OK;
}

static rocl_status refuse_unused(const char *option, const char *const *list, const bool *used,
                                 rocl_error *err)
{
    for (size_t i = 0; list && list[i]; i++)
        if (!used[i])
            return rocl_fail(err, ROCL_USAGE, "%s: \"%s\": no input has such a name", option,
                             list[i]);
    return ROCL_OK;
}

/* ---- captures -------------------------------------------------------------------------------- */

static bool names_host(const rocl_capture *c)
{
    for (uint32_t i = 0; i < c->node_count; i++)
        if (c->nodes[i].hostname || c->nodes[i].machine_id)
            return true;
    return false;
}

/* All nodes of the capture get this name; what names no node is then on them. */
static rocl_status set_host(rocl_trace *t, rocl_capture *c, const char *name, size_t n,
                            rocl_said_by said_by, rocl_error *err)
{
    const uint32_t text = rocl_strings_put(t->strings, name, n);
    if (text == ROCL_NONE)
        return rocl_fail_memory(err);
    if (!c->node_count) {
        rocl_node *node = rocl_define(c, ROCL_DEFINE_NODE);
        if (!node)
            return rocl_fail_memory(err);
        *node = (rocl_node){0};
    }
    for (uint32_t i = 0; i < c->node_count; i++) {
        rocl_node *node = rocl_definition_at(c, ROCL_DEFINE_NODE, i);
        node->hostname = text;
        node->machine_id = 0;
        node->id = said_by == ROCL_SAID_BY_OPTION ? 0 : node->id; /* a hash of what it was called */
        node->said_by = said_by;
    }
    return ROCL_OK;
}

static void set_rank(rocl_capture *c, int64_t rank, rocl_said_by said_by)
{
    for (uint32_t i = 0; i < c->process_count; i++) {
        rocl_process *p = rocl_definition_at(c, ROCL_DEFINE_PROCESS, i);
        p->rank = (int32_t)rank;
        p->said_by = said_by;
    }
    c->rank = (int32_t)rank;
}

static bool has_ranks(const rocl_capture *c)
{
    for (uint32_t i = 0; i < c->process_count; i++)
        if (c->processes[i].rank >= 0)
            return true;
    return c->rank >= 0;
}

static rocl_status complete_capture(rocl_trace *t, rocl_model_capture *m, bool *hosts, bool *ranks,
                                    rocl_error *err)
{
    rocl_capture *c = &m->pub;
    const rocl_named named =
        rocl_read_name(c->path, m->source->format->flags & ROCL_FORMAT_HOST_FOLDER);
    const char *host = find_value(t->opt.hosts, c->path, hosts);
    const char *rank = find_value(t->opt.rank_numbers, c->path, ranks);
    rocl_status st = ROCL_OK;
    if (rank)
        set_rank(c, strtoll(rank, NULL, 10), ROCL_SAID_BY_OPTION);
    else if (named.rank >= 0 && !has_ranks(c) && c->node_count < 2)
        set_rank(c, named.rank, ROCL_SAID_BY_NAME);
    if (host)
        st = set_host(t, c, host, strlen(host), ROCL_SAID_BY_OPTION, err);
    else if (named.host && !names_host(c) && c->node_count < 2)
        st = set_host(t, c, named.host, named.host_len, ROCL_SAID_BY_NAME, err);
    return st;
}

/* With --same-host all nodes have the first of their names, also in databases that are written;
 * without any name nothing can be written that says so. */
static rocl_status set_same_host(rocl_trace *t, rocl_error *err)
{
    const char *name = NULL;
    rocl_status st = ROCL_OK;
    for (size_t i = 0; i < t->capture_count; i++) {
        const rocl_capture *c = &t->captures[i]->pub;
        for (uint32_t k = 0; k < c->node_count; k++) {
            const char *other = rocl_str(t, c->nodes[k].hostname);
            name = *other && (!name || strverscmp(other, name) < 0) ? other : name;
        }
    }
    char *copy = name ? strdup(name) : NULL; /* texts may move */
    if (name && !copy)
        return rocl_fail_memory(err);
    for (size_t i = 0; i < t->capture_count && name && st == ROCL_OK; i++)
        st = set_host(t, &t->captures[i]->pub, copy, strlen(copy), ROCL_SAID_BY_OPTION, err);
    free(copy);
    return st;
}

static size_t count_items(const char *const *list)
{
    size_t n = 0;
    while (list && list[n])
        n++;
    return n;
}

rocl_status rocl_apply_names(rocl_trace *t, rocl_error *err)
{
    bool *hosts = calloc(count_items(t->opt.hosts) + 1, sizeof *hosts);
    bool *ranks = calloc(count_items(t->opt.rank_numbers) + 1, sizeof *ranks);
    bool remote = rocl_team_size(t->opt.team) > 1;
    rocl_status st = hosts && ranks ? check_items(t, err) : rocl_fail_memory(err);
    for (size_t i = 0; i < t->capture_count && st == ROCL_OK; i++) {
        remote |= rocl_is_remote(t->captures[i]->source);
        if (!rocl_is_remote(t->captures[i]->source))
            st = complete_capture(t, t->captures[i], hosts, ranks, err);
    }
    if (st == ROCL_OK && t->opt.same_host && !remote)
        st = set_same_host(t, err);
    /* Another rank of a team, or another trace, may have opened what they match. */
    remote |= t->opt.names_of_others;
    if (st == ROCL_OK && !remote)
        st = refuse_unused("--host", t->opt.hosts, hosts, err);
    if (st == ROCL_OK && !remote)
        st = refuse_unused("--rank", t->opt.rank_numbers, ranks, err);
    free(hosts);
    free(ranks);
    return st;
}
