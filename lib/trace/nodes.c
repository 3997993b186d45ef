/* Inputs of a team: who finds them, and who opens which. */
#include "trace/nodes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/map.h"
#include "base/text.h"
#include "trace/deal.h"

enum { HOST_MAX = 256 };

/* ---- hosts ----------------------------------------------------------------------------------- */

/* The name of this rank's node in Slurm, or of the host. For tests: the rank's entry of a list. */
static void name_host(const rocl_team *team, char host[HOST_MAX])
{
    const char *list = getenv("ROCLINE_TEAM_HOSTS"), *node = getenv("SLURMD_NODENAME");
    for (unsigned r = rocl_team_rank(team); list && r; r--) {
        list = strchr(list, ',');
        list = list ? list + 1 : NULL;
    }
    if (list)
        snprintf(host, HOST_MAX, "%.*s", (int)strcspn(list, ","), list);
    else if (node && *node)
        snprintf(host, HOST_MAX, "%s", node);
    else if (gethostname(host, HOST_MAX - 1) == 0)
        host[strcspn(host, ".")] = '\0';
    else
        strcpy(host, "localhost");
}

/* The length of HOST in "HOST:PATH", if no file has that name; else 0. */
static size_t host_length(const char *name)
{
    struct stat file;
    const size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                  "-_.");
    return n && name[n] == ':' && name[n + 1] && stat(name, &file) != 0 ? n : 0;
}

/* Are the first n bytes of a name this host? */
static bool names_host(const char *name, size_t n, const char *host)
{
    return n && strlen(host) == n && !memcmp(name, host, n);
}

/* ---- what a node has ------------------------------------------------------------------------- */

/* A file as seen by a rank. */
typedef struct found {
    char *path;
    rocl_input_file file;
    size_t name; /* number of the name it was found by; if all ranks see all inputs, of the input */
    unsigned host; /* on rank 0: the first rank on it */
    unsigned rank; /* the rank that opens it */
} found;

typedef struct finds {
    found *all;
    size_t count, cap;
    char *why;         /* why the first bad name is wrong */
    rocl_guard *guard; /* of the trace; NULL on other ranks */
} finds;

static void free_finds(finds *f)
{
    for (size_t i = 0; i < f->count; i++)
        free(f->all[i].path);
    free(f->all);
    free(f->why);
    *f = (finds){0};
}

/* Takes over the path. */
static rocl_status add_found(finds *f, const found *what, rocl_error *err)
{
    if (!what->path || !ROCL_GROW(f->all, f->cap, f->count + 1)) {
        free(what->path);
        return rocl_fail_memory(err);
    }
    f->all[f->count++] = *what;
    return ROCL_OK;
}

static rocl_status add_path(finds *f, size_t number, const rocl_inputs *in, size_t i,
                            rocl_error *err)
{
    const found what = {.path = strdup(in->paths[i]), .file = in->files[i], .name = number};
    return add_found(f, &what, err);
}

/* "/scratch/%hostname%/run" -> "/scratch/n3/run". NULL: memory is out. */
static char *put_host_in(const char *name, const char *host)
{
    static const char word[] = "%hostname%";
    rocl_buf b = {0};
    for (const char *at; (at = strstr(name, word)); name = at + strlen(word)) {
        rocl_buf_put(&b, name, (size_t)(at - name));
        rocl_buf_str(&b, host);
    }
    rocl_buf_str(&b, name);
    rocl_buf_byte(&b, 0);
    if (b.failed)
        rocl_buf_free(&b);
    return (char *)b.data;
}

/* number: which of the names it is. must: it was named as an input of this node; other inputs need
 * exist on only one node. */
static rocl_status find_name(finds *f, size_t number, const char *name, const char *host, bool must,
                             rocl_error *err)
{
    rocl_inputs in = {0};
    rocl_error *why = rocl_error_new();
    char *own = put_host_in(name, host);
    const char *const names[] = {own};
    rocl_status st =
        own && why ? rocl_inputs_expand(&in, f->guard, names, 1, why) : rocl_fail_memory(why);
    if (st == ROCL_OK && in.unsearched)
        st = rocl_fail_unsearched(&in, why);
    for (size_t i = 0; st == ROCL_OK && i < in.count; i++)
        st = add_path(f, number, &in, i, why);
    if (st == ROCL_INPUT && !must) {
        if (!f->why)
            f->why = strdup(rocl_error_text(why));
        st = ROCL_OK;
    } else if (st != ROCL_OK) {
        rocl_error_copy(err, why);
    }
    rocl_inputs_free(&in);
    rocl_error_free(why);
    free(own);
    return st;
}

/* ---- messages, on another rank --------------------------------------------------------------- */

void rocl_nodes_put_message(rocl_buf *to, const rocl_team *team, char *const *paths, size_t count,
                            const char *text)
{
    char host[HOST_MAX];
    size_t i = 0;
    while (i < count && strncmp(text, paths[i], strlen(paths[i])) != 0)
        i++;
    name_host(team, host);
    const size_t n = i < count ? strlen(host) : 0;
    rocl_buf_varint(to, strlen(text) + n + (n > 0));
    if (n) {
        rocl_buf_put(to, host, n);
        rocl_buf_byte(to, ':');
    }
    rocl_buf_str(to, text);
}

rocl_status rocl_nodes_serve_find(rocl_team *team, rocl_byte_reader *from, rocl_error *err)
{
    char host[HOST_MAX];
    finds f = {0};
    rocl_error *why = rocl_error_new();
    rocl_status st = why ? ROCL_OK : rocl_fail_memory(err);
    name_host(team, host);
    for (uint64_t n = rocl_next_number(from); n && !from->bad && st == ROCL_OK; n--) {
        const size_t number = rocl_next_number(from);
        char *name = rocl_team_text(from);
        const bool must = rocl_next_number(from);
        st = name ? find_name(&f, number, name, host, must, why) : rocl_fail_memory(why);
        free(name);
    }
    const char *text = st != ROCL_OK ? rocl_error_text(why) : f.why ? f.why : "";
    rocl_buf b = {0};
    rocl_buf_byte(&b, ROCL_TEAM_FOUND);
    rocl_team_put_text(&b, host, strlen(host));
    rocl_buf_varint(&b, st);
    rocl_team_put_text(&b, text, strlen(text));
    rocl_buf_varint(&b, f.count);
    for (size_t i = 0; i < f.count; i++) {
        const found *x = &f.all[i];
        rocl_buf_varint(&b, x->name);
        rocl_team_put_text(&b, x->path, strlen(x->path));
        rocl_buf_put(&b, &x->file, sizeof x->file);
    }
    free_finds(&f);
    rocl_error_free(why);
    return from->bad ? rocl_team_bad_message(err) : rocl_team_reply(team, &b, err);
}

/* ---- messages, on rank 0 --------------------------------------------------------------------- */

typedef struct hosts {
    char (*names)[HOST_MAX]; /* by rank; NULL: all ranks see all inputs */
    unsigned *firsts;        /* by rank: the first one on its host */
    unsigned size;
} hosts;

static rocl_status take_found(finds *f, const hosts *h, unsigned rank, rocl_byte_reader *r,
                              rocl_error *err)
{
    char *host = rocl_team_text(r);
    const rocl_status status = (rocl_status)rocl_next_number(r);
    char *text = rocl_team_text(r);
    uint64_t n = rocl_next_number(r);
    rocl_status st = host && text && !r->bad ? ROCL_OK : rocl_team_bad_message(err);
    if (st == ROCL_OK)
        snprintf(h->names[rank], HOST_MAX, "%s", host);
    if (st == ROCL_OK && status != ROCL_OK)
        st = rocl_fail(err, status, "%s:%s", host, text);
    if (st == ROCL_OK && *text && !f->why && !(f->why = rocl_new_text("%s:%s", host, text)))
        st = rocl_fail_memory(err);
    for (; n && st == ROCL_OK; n--) {
        found what = {.host = h->firsts[rank]};
        what.name = rocl_next_number(r);
        what.path = rocl_team_text(r);
        const uint8_t *p = rocl_next_bytes(r, sizeof what.file);
        if (!p) {
            free(what.path);
            st = rocl_team_bad_message(err);
            break;
        }
        memcpy(&what.file, p, sizeof what.file);
        st = add_found(f, &what, err);
    }
    free(host);
    free(text);
    return st;
}

/* Asks ranks for inputs: names with a host are for that host, others for every host. Without names,
 * all ranks answer with their host. */
static rocl_status ask_ranks(rocl_team *team, const hosts *h, finds *f, const char *const *names,
                             size_t count, bool local, rocl_error *err)
{
    rocl_buf message = {0};
    rocl_status st = ROCL_OK;
    for (unsigned r = 1; r < h->size && st == ROCL_OK; r++) {
        rocl_buf b = {0}, list = {0};
        uint64_t n = 0;
        for (size_t i = 0; i < count && h->firsts[r] == r; i++) {
            const size_t at = host_length(names[i]);
            if (at ? !names_host(names[i], at, h->names[r]) : !local)
                continue;
            const char *name = names[i] + (at ? at + 1 : 0);
            rocl_buf_varint(&list, i);
            rocl_team_put_text(&list, name, strlen(name));
            rocl_buf_varint(&list, at > 0);
            n++;
        }
        rocl_buf_byte(&b, ROCL_TEAM_FIND);
        rocl_buf_varint(&b, n);
        rocl_buf_put(&b, list.data, list.len);
        rocl_buf_free_into(&list, &b);
        if (n || !count)
            st = rocl_team_send(team, r, &b, err);
        team->owed += st == ROCL_OK && (n || !count);
        rocl_buf_free(&b);
    }
    while (team->owed && st == ROCL_OK) {
        rocl_byte_reader r;
        unsigned rank;
        st = rocl_team_take_owed(team, ROCL_TEAM_FOUND, &rank, &message, &r, err);
        if (st == ROCL_OK)
            st = take_found(f, h, rank, &r, err);
    }
    rocl_buf_free(&message);
    return st;
}

/* A node that is named must have a rank. */
static rocl_status check_hosts(const hosts *h, const char *const *names, size_t count,
                               rocl_error *err)
{
    for (size_t i = 0; i < count; i++) {
        const size_t n = host_length(names[i]);
        unsigned r = 0;
        while (n && r < h->size && !names_host(names[i], n, h->names[r]))
            r++;
        if (!n || r < h->size)
            continue;
        rocl_buf all = {0};
        for (r = 0; r < h->size && all.len < 200; r++)
            if (h->firsts[r] == r)
                rocl_buf_printf(&all, "%s%s", all.len ? ", " : "", h->names[r]);
        rocl_buf_byte(&all, 0);
        const rocl_status st =
            all.failed
                ? rocl_fail_memory(err)
                : rocl_fail(err, ROCL_INPUT, "%s: no rank of the team is on %.*s; they are on %s",
                            names[i], (int)n, names[i], (const char *)all.data);
        rocl_buf_free(&all);
        return st;
    }
    return ROCL_OK;
}

static int compare_by_path(const void *a, const void *b)
{
    const found *x = a, *y = b;
    int by = strverscmp(x->path, y->path);
    by = by ? by : (x->host > y->host) - (x->host < y->host);
    return by ? by : (x->name > y->name) - (x->name < y->name);
}

/* Several names of a file on a node, or a file that several nodes see: it is one input. */
static bool is_same_file(const found *a, const found *b)
{
    const rocl_input_file *x = &a->file, *y = &b->file;
    if (x->inode != y->inode || x->bytes != y->bytes || x->modified != y->modified ||
        x->modified_ns != y->modified_ns || !x->inode)
        return false;
    return a->host == b->host ? x->device == y->device : !strcmp(a->path, b->path);
}

/* Drops repeated files from a sorted list. */
static rocl_status drop_repeated(finds *f, rocl_error *err)
{
    rocl_map seen = {0};
    size_t n = 0;
    bool good = true;
    for (size_t i = 0; i < f->count; i++) {
        const found what = f->all[i];
        uint64_t key = rocl_mix64(what.file.inode ^ rocl_mix64((uint64_t)what.file.modified_ns));
        uint32_t at; /* of one with that key; another file takes the next key */
        while ((at = rocl_map_get(&seen, key, ROCL_NONE)) != ROCL_NONE &&
               !is_same_file(&f->all[at], &what))
            key++;
        if (at != ROCL_NONE) {
            free(what.path);
            continue;
        }
        good &= rocl_map_put(&seen, key, (uint32_t)n);
        f->all[n++] = what;
    }
    rocl_map_free(&seen);
    f->count = n;
    return good ? ROCL_OK : rocl_fail_memory(err);
}

/* Neighbours that one rank opens: outputs may join them, and they are often from one machine. */
typedef struct run {
    size_t first, count;
    uint64_t bytes;
} run;

/* The approximate number for each rank. */
#define RUNS 8

static size_t list_runs(const finds *f, uint64_t most, run *runs)
{
    size_t n = 0;
    for (size_t i = 0; i < f->count;) {
        run r = {.first = i};
        uint64_t joined = 0;
        bool more = true;
        while (more) {
            const found *what = &f->all[i++], *next = i < f->count ? &f->all[i] : NULL;
            r.count++;
            r.bytes += what->file.bytes + 1;
            more = next && next->host == what->host &&
                   (rocl_deal_joins(&joined, what->file.bytes, next->file.bytes) ||
                    r.bytes + next->file.bytes <= most);
        }
        runs[n++] = r;
    }
    return n;
}

static int compare_by_bytes(const void *a, const void *b)
{
    const run *x = a, *y = b;
    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? 1 : -1;
    return (x->first > y->first) - (x->first < y->first);
}

/* The largest first, each to the rank of its node with the least. For a report, rank 0 receives
 * what others read, and reads nothing that others can. */
static rocl_status choose_ranks(const rocl_trace *t, const hosts *h, finds *f, rocl_error *err)
{
    uint64_t *loads = calloc(h->size, sizeof *loads), bytes = 0;
    run *runs = calloc(f->count + 1, sizeof *runs);
    for (size_t i = 0; i < f->count; i++)
        bytes += f->all[i].file.bytes;
    const size_t n = loads && runs ? list_runs(f, bytes / h->size / RUNS, runs) : 0;
    if (n)
        qsort(runs, n, sizeof *runs, compare_by_bytes);
    for (size_t i = 0; i < n; i++) {
        const unsigned host = f->all[runs[i].first].host;
        unsigned least = host;
        for (unsigned r = host + 1; r < h->size; r++)
            if (h->firsts[r] == host &&
                (loads[r] < loads[least] || (least == 0 && !t->opt.team_writes)))
                least = r;
        for (size_t k = 0; k < runs[i].count; k++)
            f->all[runs[i].first + k].rank = least;
        loads[least] += runs[i].bytes;
    }
    const bool good = loads && runs;
    free(loads);
    free(runs);
    return good ? ROCL_OK : rocl_fail_memory(err);
}

/* Adds sources, not open yet, for everything dealt out, in the order in which ranks are told of
 * them. Rank 0 opens pipes, in their turn. */
static rocl_status add_sources(rocl_trace *t, const hosts *h, const finds *f, rocl_inputs *in,
                               rocl_error *err)
{
    t->node_sources = calloc(f->count + 1, sizeof(rocl_source *));
    t->node_source_count = t->node_sources ? f->count : 0;
    if (h->names) {
        in->paths = calloc(f->count + 1, sizeof *in->paths);
        in->files = calloc(f->count + 1, sizeof *in->files);
    }
    if (!t->node_sources || !in->paths || !in->files)
        return rocl_fail_memory(err);
    for (size_t i = 0; i < f->count; i++) {
        const found *what = &f->all[i];
        if (h->names) {
            in->files[i] = what->file;
            if (!(in->paths[i] = strdup(what->path)))
                return rocl_fail_memory(err);
            in->count++;
        }
        if (!what->rank && !what->file.bytes)
            continue;
        rocl_source *s = t->node_sources[i] = calloc(1, sizeof *s);
        const char *host = h->names && what->rank ? h->names[what->rank] : "";
        if (!s)
            return rocl_fail_memory(err);
        if (!(s->path = rocl_new_text("%s%s%s", host, *host ? ":" : "", what->path))) {
            free(s);
            t->node_sources[i] = NULL;
            return rocl_fail_memory(err);
        }
        s->named = h->names ? i : what->name;
        s->bytes = what->file.bytes;
        s->modified = what->file.modified;
        s->rank = what->rank;
        s->on_node = h->names;
        s->input = rocl_deal_tell(t->deal, what->rank);
    }
    return ROCL_OK;
}

static rocl_status send_all_paths(rocl_trace *t, const hosts *h, const finds *f, rocl_error *err)
{
    rocl_buf *paths = calloc(h->size, sizeof *paths);
    rocl_status st = paths ? ROCL_OK : rocl_fail_memory(err);
    for (size_t i = 0; paths && i < f->count; i++)
        rocl_team_put_text(&paths[f->all[i].rank], f->all[i].path, strlen(f->all[i].path));
    for (unsigned r = 1; r < h->size && st == ROCL_OK; r++) {
        st = rocl_deal_send_open(t, r, &paths[r],
                                 ROCL_OPEN_DEFINES | (h->names ? ROCL_OPEN_ON_NODE : 0) |
                                     (t->brief ? ROCL_OPEN_BRIEF : 0),
                                 err);
        t->opt.team->owed += st == ROCL_OK && paths[r].len;
    }
    for (unsigned r = 0; paths && r < h->size; r++)
        rocl_buf_free(&paths[r]);
    free(paths);
    return st;
}

/* Each name must have inputs on one of the nodes. An error is that of rank 0. */
static rocl_status refuse_missing(const finds *f, const char *const *names, size_t count,
                                  const char *host, rocl_error *err)
{
    bool *there = calloc(count + 1, sizeof *there);
    rocl_status st = there ? ROCL_OK : rocl_fail_memory(err);
    for (size_t i = 0; there && i < f->count; i++)
        if (f->all[i].name < count)
            there[f->all[i].name] = true;
    for (size_t i = 0; i < count && st == ROCL_OK; i++) {
        finds own = {0};
        rocl_error *why = there[i] ? NULL : rocl_error_new();
        if (there[i])
            continue;
        st = why ? find_name(&own, i, names[i], host, true, why) : rocl_fail_memory(err);
        if (st == ROCL_OK)
            st = rocl_fail(err, ROCL_INPUT, "%s: no node has an input by this name", names[i]);
        else if (why)
            st = rocl_fail(err, st, "%s:%s", host, rocl_error_text(why));
        free_finds(&own);
        rocl_error_free(why);
    }
    free(there);
    return st;
}

/* What ranks find on their nodes. */
static rocl_status find_on_nodes(rocl_trace *t, hosts *h, const char *const *names, size_t count,
                                 finds *f, rocl_error *err)
{
    rocl_team *team = t->opt.team;
    finds none = {0};
    h->names = calloc(h->size, sizeof *h->names);
    if (!h->names)
        return rocl_fail_memory(err);
    name_host(team, h->names[0]);
    rocl_status st = ask_ranks(team, h, &none, NULL, 0, true, err);
    for (unsigned r = 0; r < h->size; r++)
        while (strcmp(h->names[h->firsts[r]], h->names[r]) != 0)
            h->firsts[r]++;
    free_finds(&none);
    if (st == ROCL_OK)
        st = check_hosts(h, names, count, err);
    for (size_t i = 0; i < count && st == ROCL_OK; i++) {
        const size_t n = host_length(names[i]);
        if (n && !names_host(names[i], n, h->names[0]))
            continue;
        st = find_name(f, i, names[i] + (n ? n + 1 : 0), h->names[0], n || !t->opt.local, err);
    }
    if (f->why) {
        char *own = f->why;
        if (!(f->why = rocl_new_text("%s:%s", h->names[0], own)))
            st = rocl_fail_memory(err);
        free(own);
    }
    if (st == ROCL_OK)
        st = ask_ranks(team, h, f, names, count, t->opt.local, err);
    if (st == ROCL_OK)
        st = refuse_missing(f, names, count, h->names[0], err);
    if (st == ROCL_OK && f->why)
        rocl_notice(t, "%s; others have inputs", f->why);
    return st;
}

rocl_status rocl_nodes_find(rocl_trace *t, const char *const *names, size_t count, rocl_inputs *in,
                            rocl_error *err)
{
    hosts h = {0};
    finds f = {.guard = t->guard};
    bool on_nodes =
        t->opt.local; /* ranks find inputs on their nodes: with --local, or "HOST:PATH" */
    for (size_t i = 0; i < count; i++)
        on_nodes |= host_length(names[i]) > 0;
    t->brief = t->opt.team_writes;
    rocl_status st = rocl_deal_open(t, err);
    h.size = rocl_team_size(t->opt.team);
    h.firsts = calloc(h.size, sizeof *h.firsts);
    if (st == ROCL_OK && !h.firsts)
        st = rocl_fail_memory(err);
    if (st == ROCL_OK)
        st = on_nodes ? find_on_nodes(t, &h, names, count, &f, err)
                      : rocl_nodes_find_alone(t, names, count, in, err);
    for (size_t i = 0; st == ROCL_OK && !on_nodes && i < in->count; i++)
        st = add_path(&f, i, in, i, err);
    if (st == ROCL_OK && f.count)
        qsort(f.all, f.count, sizeof *f.all, compare_by_path);
    if (st == ROCL_OK && on_nodes)
        st = drop_repeated(&f, err);
    if (st == ROCL_OK)
        st = choose_ranks(t, &h, &f, err);
    if (st == ROCL_OK)
        st = add_sources(t, &h, &f, in, err);
    if (st == ROCL_OK)
        st = send_all_paths(t, &h, &f, err);
    free_finds(&f);
    free(h.names);
    free(h.firsts);
    return st;
}

rocl_status rocl_nodes_find_alone(const rocl_trace *t, const char *const *names, size_t count,
                                  rocl_inputs *in, rocl_error *err)
{
    char host[HOST_MAX], **own = calloc(count + 1, sizeof *own);
    rocl_status st = own ? ROCL_OK : rocl_fail_memory(err);
    name_host(t->opt.team, host);
    for (size_t i = 0; i < count && st == ROCL_OK; i++) {
        const size_t n = host_length(names[i]);
        const bool here = names_host(names[i], n, host);
        const char *name = names[i] + (here ? n + 1 : 0);
        own[i] = here || t->opt.local ? put_host_in(name, host) : strdup(name);
        if (!own[i])
            st = rocl_fail_memory(err);
    }
    if (st == ROCL_OK)
        st = rocl_inputs_expand(in, t->guard, (const char *const *)own, count, err);
    for (size_t i = 0; own && i < count; i++)
        free(own[i]);
    free(own);
    return st;
}
