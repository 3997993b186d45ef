/* Inputs that ranks of a team find and open on their nodes. */
#include "trace/nodes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/file.h"
#include "base/map.h"
#include "source/formats.h"
#include "source/reader.h"
#include "trace/deal.h"
#include "trace/share.h"
#include "trace/world.h"

enum { HOST_MAX = 256 };

/* ---- hosts ----------------------------------------------------------------------------------- */

/* The node that this rank is on, as Slurm calls it, or the host. For tests: the rank's of a list.
 */
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

/* Of "HOST:PATH", when no file has that name: bytes of HOST; 0: it is none. */
static size_t host_length(const char *name)
{
    struct stat file;
    const size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                  "-_.");
    return n && name[n] == ':' && name[n + 1] && stat(name, &file) != 0 ? n : 0;
}

/* Are there inputs that ranks find on their nodes: by options.local, or "HOST:PATH"? */
static bool are_on_nodes(const rocl_trace *t, const char *const *names, size_t count)
{
    bool are = t->opt.local;
    for (size_t i = 0; i < count; i++)
        are |= host_length(names[i]) > 0;
    return are;
}

/* ---- what a node has ------------------------------------------------------------------------- */

/* A file as one of its ranks sees it. */
typedef struct found {
    char *path;
    rocl_input_file file;
    size_t name;   /* by which of the names it was found; which input it is, where all see all */
    unsigned host; /* on rank 0: the first rank on it */
    unsigned rank; /* who opens it */
} found;

typedef struct finds {
    found *all;
    size_t count, cap;
    char *why; /* the first name that is none here */
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

/* must: it was named as an input of this node. Of others it is enough that one node has them.
 * number: which of the names it is. */
static rocl_status find_name(finds *f, size_t number, const char *name, const char *host, bool must,
                             rocl_error *err)
{
    rocl_inputs in = {0};
    rocl_error *why = rocl_error_new();
    char *own = put_host_in(name, host);
    const char *const names[] = {own};
    rocl_status st = own && why ? rocl_inputs_expand(&in, names, 1, why) : rocl_fail_memory(why);
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

static void put_found(rocl_buf *b, const found *f)
{
    rocl_buf_varint(b, f->name);
    rocl_team_put_text(b, f->path, strlen(f->path));
    rocl_buf_put(b, &f->file, sizeof f->file);
}

/* ---- messages, on another rank --------------------------------------------------------------- */

static rocl_status send_to_0(rocl_team *team, rocl_buf *b, rocl_error *err)
{
    pthread_mutex_lock(&team->sending);
    const rocl_status st = rocl_team_send(team, 0, b, err);
    pthread_mutex_unlock(&team->sending);
    rocl_buf_free(b);
    return st;
}

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

rocl_status rocl_nodes_serve_find(rocl_team *team, rocl_team_reader *from, rocl_error *err)
{
    char host[HOST_MAX];
    finds f = {0};
    rocl_error *why = rocl_error_new();
    rocl_status st = why ? ROCL_OK : rocl_fail_memory(err);
    name_host(team, host);
    for (uint64_t n = rocl_team_number(from); n && !from->bad && st == ROCL_OK; n--) {
        const size_t number = rocl_team_number(from);
        char *name = rocl_team_text(from);
        const bool must = rocl_team_number(from);
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
    for (size_t i = 0; i < f.count; i++)
        put_found(&b, &f.all[i]);
    free_finds(&f);
    rocl_error_free(why);
    return from->bad ? rocl_team_bad_message(err) : send_to_0(team, &b, err);
}

/* A capture with its times as the source has them, before any clock is set. */
static void put_capture(rocl_defs *d, rocl_trace *t, rocl_model_capture *c, bool brief)
{
    int64_t times[2] = {0};
    bool any = false;
    const rocl_source_ops *ops = c->source->ops;
    rocl_defs_put(d, c);
    if (!brief)
        rocl_defs_put_kernels(d, &c->pub);
    if (rocl_peeks_at_times(c) &&
        ops->peek_times(t, c, &times[0], &times[1], &any, NULL) != ROCL_OK)
        any = false;
    rocl_buf_byte(&d->bytes, any);
    rocl_buf_put(&d->bytes, times, sizeof times);
}

static void put_source(rocl_defs *d, rocl_trace *t, const rocl_opened *o, bool brief)
{
    const rocl_source *s = o->source;
    uint64_t captures = 0;
    for (size_t i = 0; i < t->capture_count; i++)
        captures += t->captures[i]->source == s;
    const char *texts[] = {s->format->name, s->version, s->writer ? s->writer : "",
                           o->remark ? o->remark : ""};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        rocl_team_put_text(&d->bytes, texts[i], strlen(texts[i]));
    rocl_buf_byte(&d->bytes, s->truncated);
    rocl_buf_varint(&d->bytes, captures);
    for (size_t i = 0; i < t->capture_count; i++)
        if (t->captures[i]->source == s)
            put_capture(d, t, t->captures[i], brief);
}

static rocl_status put_agents_of(rocl_buf *b, rocl_trace *t, const rocl_capture *c, rocl_map *sent,
                                 uint32_t *count, rocl_error *err)
{
    for (uint32_t k = 0; k < c->agent_count; k++) {
        char *json;
        const rocl_status st = rocl_agent_json(t, c, k, &json, err);
        if (st != ROCL_OK)
            return st;
        const uint32_t text = rocl_strings_put(t->strings, json, strlen(json));
        const uint32_t number = rocl_map_get(sent, text, ROCL_NONE);
        rocl_buf_varint(b, number == ROCL_NONE ? *count : number);
        if (number == ROCL_NONE) {
            rocl_team_put_text(b, json, strlen(json));
            b->failed |= !rocl_map_put(sent, text, (*count)++);
        }
        free(json);
    }
    return ROCL_OK;
}

/* What reports read of agents, each text once: processes of a node know the same ones. In the order
 * of the sources, as their captures. */
static rocl_status put_agents(rocl_buf *b, rocl_trace *t, rocl_error *err)
{
    rocl_map sent = {0};
    rocl_status st = ROCL_OK;
    uint32_t count = 0;
    for (size_t i = 0; i < t->source_count && !t->opt.team_writes; i++)
        for (size_t k = 0; k < t->capture_count && st == ROCL_OK; k++)
            if (t->captures[k]->source == t->sources[i])
                st = put_agents_of(b, t, &t->captures[k]->pub, &sent, &count, err);
    rocl_map_free(&sent);
    return st;
}

rocl_status rocl_nodes_send_definitions(rocl_team *team, rocl_trace *t, const rocl_opened *all,
                                        char *const *paths, size_t count, unsigned flags,
                                        rocl_error *err)
{
    rocl_buf b = {0}, agents = {0};
    rocl_defs d;
    rocl_error *why = rocl_error_new();
    /* What fails here, fails as that of the first input. */
    rocl_status of_agents = why ? put_agents(&agents, t, why) : rocl_fail_memory(err);
    rocl_defs_open(&d, t);
    for (size_t i = 0; i < count; i++) {
        const rocl_status st = of_agents != ROCL_OK ? of_agents : all[i].status;
        rocl_buf_varint(&d.bytes, st);
        if (st == ROCL_OK)
            put_source(&d, t, &all[i], flags & ROCL_OPEN_BRIEF);
        else
            rocl_nodes_put_message(&d.bytes, team, paths, flags & ROCL_OPEN_ON_NODE ? count : 0,
                                   of_agents != ROCL_OK ? rocl_error_text(why) : all[i].why);
    }
    if (of_agents == ROCL_OK)
        rocl_buf_put(&d.bytes, agents.data, agents.len);
    rocl_team_put_bad_texts(&d.bytes, t->strings);
    rocl_buf_byte(&b, ROCL_TEAM_DEFINED);
    rocl_defs_close(&d, &b);
    rocl_buf_free_into(&agents, &b);
    rocl_error_free(why);
    return send_to_0(team, &b, err);
}

rocl_status rocl_nodes_send_kernels(rocl_team *team, const rocl_trace *t,
                                    rocl_model_capture *const *opened, size_t count,
                                    rocl_error *err)
{
    rocl_buf b = {0};
    rocl_defs d;
    rocl_defs_open(&d, t);
    rocl_buf_varint(&d.bytes, count);
    for (size_t i = 0; i < count; i++) {
        uint32_t nth = 0;
        for (size_t k = 0; k < i; k++)
            nth += opened[k]->source == opened[i]->source;
        rocl_buf_varint(&d.bytes, opened[i]->source->input);
        rocl_buf_varint(&d.bytes, nth);
        rocl_defs_put_kernels(&d, &opened[i]->pub);
    }
    rocl_buf_byte(&b, ROCL_TEAM_KERNELS);
    rocl_defs_close(&d, &b);
    return send_to_0(team, &b, err);
}

/* ---- messages, on rank 0 --------------------------------------------------------------------- */

/* Of a rank, and the rest of it. The bytes are the caller's to free. */
static rocl_status receive_from(rocl_team *team, rocl_team_message type, unsigned *rank,
                                rocl_buf *message, rocl_team_reader *r, rocl_error *err)
{
    bool there = false;
    rocl_status st = ROCL_OK;
    pthread_mutex_lock(&team->receiving);
    while (st == ROCL_OK && !there)
        st = rocl_team_receive(team, 100, message, rank, &there, err);
    pthread_mutex_unlock(&team->receiving);
    if (st == ROCL_OK && message->data[0] != type)
        st = rocl_team_bad_message(err);
    team->owed -= st == ROCL_OK;
    *r = (rocl_team_reader){message->data + 1, message->data + message->len, false};
    return st;
}

typedef struct hosts {
    char (*names)[HOST_MAX]; /* by rank; NULL: all ranks see all inputs */
    unsigned *firsts;        /* by rank: the first one on its host */
    unsigned size;
} hosts;

static rocl_status take_found(finds *f, const hosts *h, unsigned rank, rocl_team_reader *r,
                              rocl_error *err)
{
    char *host = rocl_team_text(r);
    const rocl_status status = (rocl_status)rocl_team_number(r);
    char *text = rocl_team_text(r);
    uint64_t n = rocl_team_number(r);
    rocl_status st = host && text && !r->bad ? ROCL_OK : rocl_team_bad_message(err);
    if (st == ROCL_OK)
        snprintf(h->names[rank], HOST_MAX, "%s", host);
    if (st == ROCL_OK && status != ROCL_OK)
        st = rocl_fail(err, status, "%s:%s", host, text);
    if (st == ROCL_OK && *text && !f->why && asprintf(&f->why, "%s:%s", host, text) < 0)
        st = rocl_fail_memory(err);
    for (; n && st == ROCL_OK; n--) {
        found what = {.host = h->firsts[rank]};
        what.name = rocl_team_number(r);
        what.path = rocl_team_text(r);
        const uint8_t *p = rocl_team_bytes(r, sizeof what.file);
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

/* Asks ranks; names: with a host before them they are that host's, the others are every host's.
 * Without names, all ranks say where they are. */
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
            if (at ? strlen(h->names[r]) != at || memcmp(names[i], h->names[r], at) != 0 : !local)
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
        rocl_team_reader r;
        unsigned rank;
        st = receive_from(team, ROCL_TEAM_FOUND, &rank, &message, &r, err);
        if (st == ROCL_OK)
            st = take_found(f, h, rank, &r, err);
    }
    rocl_buf_free(&message);
    return st;
}

static rocl_status list_hosts(rocl_team *team, hosts *h, rocl_error *err)
{
    finds none = {0};
    h->size = rocl_team_size(team);
    h->names = calloc(h->size, sizeof *h->names);
    h->firsts = calloc(h->size, sizeof *h->firsts);
    if (!h->names || !h->firsts)
        return rocl_fail_memory(err);
    name_host(team, h->names[0]);
    const rocl_status st = ask_ranks(team, h, &none, NULL, 0, true, err);
    for (unsigned r = 0; r < h->size; r++)
        while (strcmp(h->names[h->firsts[r]], h->names[r]) != 0)
            h->firsts[r]++;
    free_finds(&none);
    return st;
}

/* What is named of a node must have a rank there. */
static rocl_status check_hosts(const hosts *h, const char *const *names, size_t count,
                               rocl_error *err)
{
    for (size_t i = 0; i < count; i++) {
        const size_t n = host_length(names[i]);
        unsigned r = 0;
        while (n && r < h->size && (strlen(h->names[r]) != n || memcmp(names[i], h->names[r], n)))
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

static int by_path(const void *a, const void *b)
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

/* Files that are in order: each stays once. */
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

/* Neighbours that one rank opens: outputs may join them, and they are often of one machine. */
typedef struct run {
    size_t first, count;
    uint64_t bytes;
} run;

/* A rank has about so many. */
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

static int by_bytes(const void *a, const void *b)
{
    const run *x = a, *y = b;
    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? 1 : -1;
    return (x->first > y->first) - (x->first < y->first);
}

/* The largest first, each to the rank of its node that has least. Rank 0 of a report takes in what
 * others read, and reads nothing where others can. */
static rocl_status choose_ranks(const rocl_trace *t, const hosts *h, finds *f, rocl_error *err)
{
    uint64_t *loads = calloc(h->size, sizeof *loads), bytes = 0;
    run *runs = calloc(f->count + 1, sizeof *runs);
    for (size_t i = 0; i < f->count; i++)
        bytes += f->all[i].file.bytes;
    const size_t n = loads && runs ? list_runs(f, bytes / h->size / RUNS, runs) : 0;
    if (n)
        qsort(runs, n, sizeof *runs, by_bytes);
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

/* A source that is not open yet. NULL: memory is out. */
static rocl_source *make_source(rocl_trace *t, const hosts *h, const found *what, size_t named)
{
    rocl_source *s = calloc(1, sizeof *s);
    const char *host = h->names && what->rank ? h->names[what->rank] : "";
    if (!s || asprintf(&s->path, "%s%s%s", host, *host ? ":" : "", what->path) < 0) {
        free(s);
        return NULL;
    }
    s->named = named;
    s->bytes = what->file.bytes;
    s->modified = what->file.modified;
    s->rank = what->rank;
    s->on_node = h->names;
    s->input = rocl_deal_tell(t->deal, what->rank);
    return s;
}

/* Sources of all that is dealt out, in the order in which ranks are told of them. Pipes are opened
 * by rank 0 when it is their turn. */
static rocl_status add_sources(rocl_trace *t, const hosts *h, const finds *f, rocl_inputs *in,
                               rocl_error *err)
{
    rocl_status st = ROCL_OK;
    t->node_sources = calloc(f->count + 1, sizeof(rocl_source *));
    t->node_source_count = t->node_sources ? f->count : 0;
    if (h->names) {
        in->paths = calloc(f->count + 1, sizeof *in->paths);
        in->files = calloc(f->count + 1, sizeof *in->files);
    }
    if (!t->node_sources || !in->paths || !in->files)
        return rocl_fail_memory(err);
    for (size_t i = 0; i < f->count && st == ROCL_OK; i++) {
        const found *what = &f->all[i];
        if (h->names) {
            in->files[i] = what->file;
            if (!(in->paths[i] = strdup(what->path)))
                return rocl_fail_memory(err);
            in->count++;
        }
        if ((what->rank || what->file.bytes) &&
            !(t->node_sources[i] = make_source(t, h, what, h->names ? i : what->name)))
            st = rocl_fail_memory(err);
    }
    return st;
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

/* Each name must have inputs on one of the nodes. What is wrong with it is said of rank 0's. */
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
    rocl_status st = list_hosts(team, h, err);
    if (st == ROCL_OK)
        st = check_hosts(h, names, count, err);
    for (size_t i = 0; i < count && st == ROCL_OK; i++) {
        const size_t n = host_length(names[i]);
        if (n && (strlen(h->names[0]) != n || memcmp(names[i], h->names[0], n) != 0))
            continue;
        st = find_name(f, i, names[i] + (n ? n + 1 : 0), h->names[0], n || !t->opt.local, err);
    }
    if (f->why) {
        char *own = f->why;
        if (asprintf(&f->why, "%s:%s", h->names[0], own) < 0) {
            f->why = NULL;
            st = rocl_fail_memory(err);
        }
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

/* What all ranks see. */
static rocl_status find_here(const rocl_trace *t, hosts *h, const char *const *names, size_t count,
                             finds *f, rocl_inputs *in, rocl_error *err)
{
    h->size = rocl_team_size(t->opt.team);
    h->firsts = calloc(h->size, sizeof *h->firsts);
    rocl_status st =
        h->firsts ? rocl_nodes_find_alone(t, names, count, in, err) : rocl_fail_memory(err);
    for (size_t i = 0; st == ROCL_OK && i < in->count; i++)
        st = add_path(f, i, in, i, err);
    return st;
}

rocl_status rocl_nodes_find(rocl_trace *t, const char *const *names, size_t count, rocl_inputs *in,
                            rocl_error *err)
{
    hosts h = {0};
    finds f = {0};
    const bool on_nodes = are_on_nodes(t, names, count);
    t->brief = t->opt.team_writes;
    rocl_status st = rocl_deal_open(t, err);
    if (st == ROCL_OK)
        st = on_nodes ? find_on_nodes(t, &h, names, count, &f, err)
                      : find_here(t, &h, names, count, &f, in, err);
    if (st == ROCL_OK && f.count)
        qsort(f.all, f.count, sizeof *f.all, by_path);
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
        const bool here = n && strlen(host) == n && memcmp(names[i], host, n) == 0;
        const char *name = names[i] + (here ? n + 1 : 0);
        own[i] = here || t->opt.local ? put_host_in(name, host) : strdup(name);
        if (!own[i])
            st = rocl_fail_memory(err);
    }
    if (st == ROCL_OK)
        st = rocl_inputs_expand(in, (const char *const *)own, count, err);
    for (size_t i = 0; own && i < count; i++)
        free(own[i]);
    free(own);
    return st;
}

/* ---- sources of other ranks, on rank 0 ------------------------------------------------------- */

/* What its rank has looked up of a capture. */
typedef struct peeked {
    int64_t first, last;
    bool any;
    uint32_t *agents; /* JSON of each (texts); NULL: nobody asks */
} peeked;

/* One that rank 0 sees is opened after all where rank 0 must read it itself: for an output that it
 * writes alone. That is done under a lock; whoever has begun a capture then finds it without. */
static pthread_mutex_t opening_here = PTHREAD_MUTEX_INITIALIZER;

static void close_remote(rocl_source *s)
{
    if (s->state)
        rocl_source_free(s->state);
}

/* Which of the captures of the source it is. */
static rocl_model_capture *own_capture(const rocl_model_capture *c)
{
    const rocl_source *own = c->source->state;
    const rocl_trace *t = c->pub.trace;
    size_t nth = 0;
    for (size_t i = 0; t->captures[i] != c; i++)
        nth += t->captures[i]->source == c->source;
    return own->captures[nth];
}

static rocl_status open_here(rocl_trace *t, const rocl_source *s, rocl_opened *o, rocl_error *err)
{
    rocl_status st = rocl_sources_open_alone(t, &s->path, 1, o, err);
    if (st == ROCL_OK && o->status != ROCL_OK)
        st = rocl_fail(err, o->status, "%s", o->why);
    free(o->why);
    return st;
}

/* Captures are as the trace has ordered them, and have their clocks. */
static rocl_status take_over(rocl_trace *t, rocl_source *s, rocl_source *own, rocl_error *err)
{
    s->state = own;
    if (own->capture_count != s->total)
        return rocl_fail_changed(err, s->path);
    rocl_captures_sort(own->captures, own->capture_count);
    for (size_t i = 0; i < t->capture_count; i++) {
        const rocl_model_capture *c = t->captures[i];
        if (c->source != s)
            continue;
        rocl_model_capture *mine = own_capture(c);
        if (mine->pub.guid != c->pub.guid)
            return rocl_fail_changed(err, s->path);
        mine->pub.index = c->pub.index;
        mine->pub.machine = c->pub.machine;
        mine->offset = c->offset;
        mine->drift = c->drift;
        mine->drift_from = c->drift_from;
    }
    return ROCL_OK;
}

rocl_status rocl_nodes_refuse(const rocl_source *s, rocl_error *err)
{
    return rocl_fail(err, ROCL_USAGE,
                     s->on_node ? "%s: is on its node, and this output is written by rank 0 alone: "
                                  "read it there, or from where all nodes see it"
                                : "%s: another rank has opened it, and this output is written by "
                                  "rank 0 alone: open the trace without a team",
                     s->path);
}

/* *own: the capture of rank 0's own. */
static rocl_status open_own(rocl_trace *t, const rocl_model_capture *c, rocl_model_capture **own,
                            rocl_error *err)
{
    rocl_source *s = c->source;
    rocl_opened o = {0};
    rocl_status st = ROCL_OK;
    if (s->on_node)
        return rocl_nodes_refuse(s, err);
    pthread_mutex_lock(&opening_here);
    if (!s->state) {
        st = open_here(t, s, &o, err);
        if (st == ROCL_OK)
            st = take_over(t, s, o.source, err);
    }
    pthread_mutex_unlock(&opening_here);
    if (st == ROCL_OK)
        *own = own_capture(c);
    return st;
}

/* Events of rank 0's own capture as those of the one that all know. */
typedef struct passing {
    const rocl_emitter *to;
    const rocl_capture *capture;
} passing;

static rocl_status pass_on(void *ctx, unsigned worker, rocl_batch *b, rocl_error *err)
{
    const passing *p = ctx;
    b->capture = p->capture;
    return p->to->emit(p->to->ctx, worker, b, err);
}

static rocl_emitter make_emitter(const rocl_emitter *to, passing *p)
{
    rocl_emitter own = *to;
    own.emit = pass_on;
    own.ctx = p;
    return own;
}

static rocl_status begin_remote(rocl_trace *t, rocl_model_capture *c, const rocl_emitter *to,
                                rocl_plan *plan, rocl_error *err)
{
    rocl_model_capture *own;
    passing p = {to, &c->pub};
    const rocl_emitter emitter = make_emitter(to, &p);
    const rocl_status st = open_own(t, c, &own, err);
    return st == ROCL_OK ? own->source->ops->begin(t, own, &emitter, plan, err) : st;
}

static rocl_status scan_remote(rocl_trace *t, rocl_model_capture *c, const rocl_task *task,
                               unsigned worker, const rocl_emitter *to, rocl_error *err)
{
    rocl_model_capture *own = own_capture(c);
    passing p = {to, &c->pub};
    const rocl_emitter emitter = make_emitter(to, &p);
    return own->source->ops->scan(t, own, task, worker, &emitter, err);
}

static rocl_status finish_remote(rocl_trace *t, rocl_model_capture *c, const rocl_emitter *to,
                                 rocl_error *err)
{
    rocl_model_capture *own = own_capture(c);
    passing p = {to, &c->pub};
    const rocl_emitter emitter = make_emitter(to, &p);
    const rocl_status st = own->source->ops->finish(t, own, &emitter, err);
    return rocl_source_explain(own->source, st, err);
}

static void end_remote(rocl_trace *t, rocl_model_capture *c)
{
    if (!c->source->state)
        return;
    rocl_model_capture *own = own_capture(c);
    own->source->ops->end(t, own);
}

static rocl_status remote_unchanged(rocl_trace *t, rocl_model_capture *c, rocl_error *err)
{
    rocl_model_capture *own = own_capture(c);
    return own->source->ops->unchanged(t, own, err);
}

static void free_remote(rocl_model_capture *c)
{
    peeked *p = c->state;
    free(p ? p->agents : NULL);
    free(p);
}

static rocl_status remote_properties(rocl_trace *t, rocl_model_capture *c, rocl_property_of of,
                                     uint32_t index, rocl_buf *json, rocl_error *err)
{
    const peeked *p = c->state;
    rocl_model_capture *own;
    if (of == ROCL_PROPERTIES_OF_AGENT && p->agents) {
        rocl_buf_str(json, rocl_str(t, p->agents[index]));
        return ROCL_OK;
    }
    if (c->source->on_node)
        return ROCL_OK;
    const rocl_status st = open_own(t, c, &own, err);
    return st == ROCL_OK && own->source->ops->properties
               ? own->source->ops->properties(t, own, of, index, json, err)
               : st;
}

static rocl_status peek_remote(rocl_trace *t, rocl_model_capture *c, int64_t *first, int64_t *last,
                               bool *any, rocl_error *err)
{
    const peeked *p = c->state;
    rocl_model_capture *own;
    *any = false;
    if (p->any || c->source->on_node || rocl_peeks_at_times(c)) {
        *first = p->first;
        *last = p->last;
        *any = p->any;
        return ROCL_OK;
    }
    const rocl_status st = open_own(t, c, &own, err); /* its rank did not look */
    return st == ROCL_OK && own->source->ops->peek_times
               ? own->source->ops->peek_times(t, own, first, last, any, err)
               : st;
}

static const rocl_source_ops remote_ops = {.close = close_remote,
                                           .free_capture = free_remote,
                                           .begin = begin_remote,
                                           .scan = scan_remote,
                                           .finish = finish_remote,
                                           .end = end_remote,
                                           .unchanged = remote_unchanged,
                                           .peek_times = peek_remote,
                                           .properties = remote_properties};

bool rocl_nodes_has(const rocl_source *s)
{
    return s->rank > 0;
}

/* A text of another rank that stays. */
static uint32_t take_text(rocl_trace *t, rocl_team_reader *r)
{
    const uint64_t n = rocl_team_number(r);
    const char *p = (const char *)rocl_team_bytes(r, n);
    return p ? rocl_strings_put(t->strings, p, n) : 0;
}

static const char *keep_text(rocl_trace *t, rocl_team_reader *r)
{
    return rocl_str(t, take_text(t, r));
}

static rocl_status take_capture(rocl_defs_reader *d, rocl_source *s, rocl_error *err)
{
    rocl_team_reader *r = d->from;
    rocl_trace *t = d->trace;
    rocl_model_capture *c = rocl_trace_add_capture(t, s, err);
    peeked *p = c ? c->state = calloc(1, sizeof *p) : NULL;
    if (!p)
        return rocl_fail_memory(err);
    const rocl_status st = rocl_defs_get(d, c, err);
    if (!t->brief)
        rocl_defs_get_kernels(d, &c->pub);
    const uint8_t *any = rocl_team_bytes(r, 1);
    const uint8_t *times = rocl_team_bytes(r, 2 * sizeof(int64_t));
    if (!times)
        return st == ROCL_OK ? rocl_team_bad_message(err) : st;
    p->any = *any;
    memcpy(&p->first, times, sizeof p->first);
    memcpy(&p->last, times + sizeof p->first, sizeof p->last);
    return st;
}

static rocl_status take_source(rocl_defs_reader *d, rocl_source *s, rocl_error *err)
{
    rocl_trace *t = d->trace;
    rocl_team_reader *r = d->from;
    s->format = rocl_format_named(keep_text(t, r));
    snprintf(s->version, sizeof s->version, "%s", keep_text(t, r));
    const char *writer = keep_text(t, r), *remark = keep_text(t, r);
    s->writer = *writer ? writer : NULL;
    s->remark = *remark ? remark : NULL;
    const uint8_t *truncated = rocl_team_bytes(r, 1);
    const uint64_t n = rocl_team_number(r);
    rocl_status st = ROCL_OK;
    if (r->bad || !s->format || n > (uint64_t)(r->end - r->p))
        return rocl_team_bad_message(err);
    s->ops = &remote_ops;
    s->truncated = *truncated;
    s->opened = true;
    for (uint64_t i = 0; i < n && st == ROCL_OK; i++)
        st = take_capture(d, s, err);
    return st;
}

/* What could not be opened, rank 0 tries when it is its turn, if it sees it: it may need what comes
 * before, and if it cannot be opened, that is told as by one process. */
static rocl_status take_input(rocl_defs_reader *d, rocl_source **s, rocl_error *err)
{
    rocl_team_reader *r = d->from;
    const rocl_status status = (rocl_status)rocl_team_number(r);
    if (status == ROCL_OK)
        return take_source(d, *s, err);
    (*s)->refused = status;
    (*s)->remark = keep_text(d->trace, r);
    if (!(*s)->on_node) {
        rocl_source_free(*s);
        *s = NULL;
    }
    return r->bad ? rocl_team_bad_message(err) : ROCL_OK;
}

static rocl_status take_agents_of(rocl_trace *t, rocl_model_capture *c, uint32_t **texts,
                                  size_t *count, size_t *cap, rocl_team_reader *r, rocl_error *err)
{
    peeked *p = c->state;
    p->agents = calloc(c->pub.agent_count + (size_t)1, sizeof *p->agents);
    if (!p->agents)
        return rocl_fail_memory(err);
    for (uint32_t k = 0; k < c->pub.agent_count; k++) {
        const uint64_t number = rocl_team_number(r);
        if (number > *count || r->bad)
            return rocl_team_bad_message(err);
        if (number == *count) {
            if (!ROCL_GROW(*texts, *cap, *count + 1))
                return rocl_fail_memory(err);
            (*texts)[(*count)++] = take_text(t, r);
        }
        p->agents[k] = (*texts)[number];
    }
    return ROCL_OK;
}

static rocl_status take_defined(rocl_trace *t, unsigned rank, rocl_team_reader *r, rocl_error *err)
{
    uint32_t *texts = NULL;
    size_t count = 0, cap = 0;
    rocl_defs_reader d;
    rocl_status st = rocl_defs_take(&d, t, r, err);
    for (size_t i = 0; i < t->node_source_count && st == ROCL_OK; i++)
        if (t->node_sources[i] && t->node_sources[i]->rank == rank)
            st = take_input(&d, &t->node_sources[i], err);
    rocl_defs_free(&d);
    for (size_t i = 0; i < t->node_source_count && !t->opt.team_writes; i++) {
        const rocl_source *s = t->node_sources[i];
        for (size_t k = 0; s && s->rank == rank && k < s->capture_count && st == ROCL_OK; k++)
            st = take_agents_of(t, s->captures[k], &texts, &count, &cap, r, err);
    }
    free(texts);
    rocl_team_take_bad_texts(t->strings, r);
    return st == ROCL_OK && r->bad ? rocl_team_bad_message(err) : st;
}

/* Rank 0's own share. */
static rocl_status open_share(rocl_trace *t, rocl_error *err)
{
    const size_t n = t->node_source_count;
    char **paths = calloc(n + 1, sizeof *paths);
    rocl_opened *all = calloc(n + 1, sizeof *all);
    size_t count = 0;
    for (size_t i = 0; paths && i < n; i++)
        if (t->node_sources[i] && !t->node_sources[i]->rank)
            paths[count++] = t->node_sources[i]->path;
    rocl_status st =
        paths && all ? rocl_sources_open_alone(t, paths, count, all, err) : rocl_fail_memory(err);
    for (size_t i = 0, k = 0; all && k < count; i++) {
        rocl_source *s = t->node_sources[i], *own;
        if (!s || s->rank)
            continue;
        own = all[k].source;
        free(all[k++].why);
        if (own) {
            own->named = s->named;
            own->bytes = s->bytes;
            own->on_node = s->on_node;
        }
        rocl_source_free(s);
        t->node_sources[i] = own;
    }
    free(paths);
    free(all);
    return st;
}

rocl_status rocl_nodes_open(rocl_trace *t, rocl_error *err)
{
    rocl_buf message = {0};
    rocl_team_reader r;
    unsigned rank;
    rocl_status st = open_share(t, err);
    while (t->opt.team->owed && st == ROCL_OK) { /* in whatever order they come */
        st = receive_from(t->opt.team, ROCL_TEAM_DEFINED, &rank, &message, &r, err);
        if (st == ROCL_OK)
            st = take_defined(t, rank, &r, err);
    }
    rocl_buf_free(&message);
    return st;
}

void rocl_nodes_drain(rocl_team *team)
{
    rocl_buf message = {0};
    rocl_status st = ROCL_OK;
    while (team->owed && !team->broken && st == ROCL_OK) {
        unsigned rank;
        bool there;
        st = rocl_team_receive(team, 100, &message, &rank, &there, NULL);
        team->owed -= there && st == ROCL_OK;
    }
    rocl_buf_free(&message);
}

/* ---- kernels, when they are needed ----------------------------------------------------------- */

/* Where what others have opened is. */
typedef struct places {
    rocl_map sources;  /* by rank and input: the number of the source */
    rocl_map captures; /* by that and which of its captures it is */
} places;

static rocl_status find_places(const rocl_trace *t, places *p, rocl_error *err)
{
    uint32_t *seen = calloc(t->source_count + 1, sizeof *seen);
    bool good = seen != NULL;
    for (size_t i = 0; good && i < t->source_count; i++) {
        const rocl_source *s = t->sources[i];
        if (rocl_nodes_has(s))
            good = rocl_map_put(&p->sources, (uint64_t)s->rank << 32 | s->input, (uint32_t)i);
    }
    for (size_t i = 0; good && i < t->capture_count; i++) {
        const size_t source = t->captures[i]->source->number;
        good = rocl_map_put(&p->captures, (uint64_t)source << 32 | seen[source]++, (uint32_t)i);
    }
    free(seen);
    return good ? ROCL_OK : rocl_fail_memory(err);
}

static rocl_status ask_for_kernels(const rocl_trace *t, rocl_error *err)
{
    rocl_team *team = t->opt.team;
    bool *asked = calloc(rocl_team_size(team), sizeof *asked);
    rocl_buf b = {0};
    rocl_status st = asked ? ROCL_OK : rocl_fail_memory(err);
    rocl_buf_byte(&b, ROCL_TEAM_KERNELS);
    rocl_buf_varint(&b, rocl_deal_number(t->deal));
    for (size_t i = 0; i < t->source_count && st == ROCL_OK; i++) {
        const unsigned rank = t->sources[i]->rank;
        if (!rank || asked[rank])
            continue;
        asked[rank] = true;
        st = rocl_team_send(team, rank, &b, err);
        team->owed += st == ROCL_OK;
    }
    rocl_buf_free(&b);
    free(asked);
    return st;
}

static rocl_status take_kernels(rocl_trace *t, unsigned rank, const places *p, rocl_team_reader *r,
                                rocl_error *err)
{
    rocl_defs_reader d;
    rocl_status st = rocl_defs_take(&d, t, r, err);
    for (uint64_t n = st == ROCL_OK ? rocl_team_number(r) : 0; n && !r->bad; n--) {
        const uint64_t input = rocl_team_number(r), nth = rocl_team_number(r);
        const uint64_t s = rocl_map_get(&p->sources, (uint64_t)rank << 32 | input, ROCL_NONE);
        const uint32_t c = rocl_map_get(&p->captures, s << 32 | nth, ROCL_NONE);
        rocl_capture other; /* it was dealt to this rank, and opened by another */
        rocl_defs_get_kernels(&d, s == ROCL_NONE || c == ROCL_NONE ? &other : &t->captures[c]->pub);
    }
    rocl_defs_free(&d);
    return st == ROCL_OK && r->bad ? rocl_team_bad_message(err) : st;
}

rocl_status rocl_nodes_complete(rocl_trace *t, rocl_error *err)
{
    places p = {0};
    rocl_buf message = {0};
    rocl_team_reader r;
    unsigned rank;
    if (!t->brief)
        return ROCL_OK;
    t->brief = false;
    rocl_status st = find_places(t, &p, err);
    if (st == ROCL_OK)
        st = ask_for_kernels(t, err);
    while (t->opt.team->owed && st == ROCL_OK) {
        st = receive_from(t->opt.team, ROCL_TEAM_KERNELS, &rank, &message, &r, err);
        if (st == ROCL_OK)
            st = take_kernels(t, rank, &p, &r, err);
    }
    if (st != ROCL_OK)
        rocl_nodes_drain(t->opt.team);
    rocl_buf_free(&message);
    rocl_map_free(&p.sources);
    rocl_map_free(&p.captures);
    return st;
}
