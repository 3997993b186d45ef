/* Inputs that ranks of a team find and open on their nodes. */
#include "trace/nodes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/file.h"
#include "base/map.h"
#include "source/formats.h"
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

bool rocl_nodes_wanted(const rocl_trace *t, const char *const *names, size_t count)
{
    bool wanted = t->opt.local;
    for (size_t i = 0; i < count; i++)
        wanted |= host_length(names[i]) > 0;
    return wanted && rocl_team_size(t->opt.team) > 1;
}

/* ---- what a node has ------------------------------------------------------------------------- */

/* A file as one of its ranks sees it. */
typedef struct found {
    char *path;
    uint64_t bytes, device, inode;
    int64_t modified, modified_ns;
    size_t name;   /* by which of the names it was found */
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

static rocl_status add_path(finds *f, size_t number, const char *path, rocl_error *err)
{
    found what = {.path = strdup(path), .name = number};
    struct stat file;
    if (stat(path, &file) == 0) {
        what.bytes = S_ISREG(file.st_mode) ? (uint64_t)file.st_size : 0;
        what.device = file.st_dev;
        what.inode = file.st_ino;
        what.modified = file.st_mtim.tv_sec;
        what.modified_ns = file.st_mtim.tv_nsec;
    }
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
        st = add_path(f, number, in.paths[i], why);
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
    const uint64_t facts[] = {f->bytes, f->device, f->inode, (uint64_t)f->modified,
                              (uint64_t)f->modified_ns};
    rocl_buf_varint(b, f->name);
    rocl_team_put_text(b, f->path, strlen(f->path));
    rocl_buf_put(b, facts, sizeof facts);
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

static void put_source(rocl_buf *b, const rocl_trace *t, const rocl_source *s)
{
    uint64_t captures = 0;
    for (size_t i = 0; i < t->capture_count; i++)
        captures += t->captures[i]->source == s;
    rocl_team_put_text(b, s->format->name, strlen(s->format->name));
    rocl_team_put_text(b, s->version, strlen(s->version));
    const char *writer = s->writer ? s->writer : "";
    rocl_team_put_text(b, writer, strlen(writer));
    rocl_buf_byte(b, s->slice);
    rocl_buf_varint(b, captures);
    for (size_t i = 0; i < t->capture_count; i++)
        if (t->captures[i]->source == s)
            rocl_world_put_definitions(b, t, t->captures[i]);
}

/* Times as the source has them, before any clock is set. */
static void put_times(rocl_buf *b, rocl_trace *t)
{
    for (size_t i = 0; i < t->source_count; i++)
        for (size_t k = 0; k < t->capture_count; k++) {
            rocl_model_capture *c = t->captures[k];
            int64_t times[2] = {0};
            bool any = false;
            if (c->source != t->sources[i])
                continue;
            if (c->source->ops->peek_times &&
                c->source->ops->peek_times(t, c, &times[0], &times[1], &any, NULL) != ROCL_OK)
                any = false;
            rocl_buf_byte(b, any);
            rocl_buf_put(b, times, sizeof times);
        }
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

static void put_notices(rocl_buf *b, const rocl_trace *t)
{
    for (size_t i = 0; i < ROCL_DEFERRED_NOTICES; i++) {
        const rocl_deferred_notice *n = &t->deferred[i];
        if (!n->count)
            continue;
        rocl_buf_varint(b, n->count);
        rocl_team_put_text(b, n->text, strlen(n->text));
        for (size_t k = 0; k < n->count && k < 3; k++)
            rocl_team_put_text(b, n->paths[k], strlen(n->paths[k]));
    }
    rocl_buf_varint(b, 0);
}

rocl_status rocl_nodes_send_definitions(rocl_team *team, rocl_trace *t, rocl_status status,
                                        char *const *paths, size_t count, const char *why,
                                        rocl_error *err)
{
    rocl_buf b = {0}, agents = {0};
    rocl_error *of_agents = rocl_error_new();
    if (status == ROCL_OK) {
        status = put_agents(&agents, t, of_agents);
        why = rocl_error_text(of_agents);
    }
    rocl_buf_byte(&b, ROCL_TEAM_DEFINED);
    rocl_buf_varint(&b, status);
    if (status != ROCL_OK) {
        rocl_nodes_put_message(&b, team, paths, count, why);
        rocl_buf_free(&agents);
        rocl_error_free(of_agents);
        return send_to_0(team, &b, err);
    }
    rocl_error_free(of_agents);
    for (size_t i = 0; i < t->source_count; i++)
        put_source(&b, t, t->sources[i]);
    put_times(&b, t);
    rocl_buf_put(&b, agents.data, agents.len);
    rocl_buf_free_into(&agents, &b);
    put_notices(&b, t);
    rocl_buf_varint(&b, t->left_out);
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
    *r = (rocl_team_reader){message->data + 1, message->data + message->len, false};
    return st;
}

typedef struct hosts {
    char (*names)[HOST_MAX]; /* by rank */
    unsigned *firsts;        /* by rank: the first one on its host */
    unsigned size;
} hosts;

static rocl_status take_found(finds *f, const hosts *h, unsigned rank, rocl_team_reader *r,
                              rocl_error *err)
{
    char *host = rocl_team_text(r);
    const rocl_status status = (rocl_status)rocl_team_number(r);
    char *text = rocl_team_text(r);
    uint64_t n = rocl_team_number(r), facts[5];
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
        const uint8_t *p = rocl_team_bytes(r, sizeof facts);
        if (!p) {
            free(what.path);
            st = rocl_team_bad_message(err);
            break;
        }
        memcpy(facts, p, sizeof facts);
        what.bytes = facts[0];
        what.device = facts[1];
        what.inode = facts[2];
        what.modified = (int64_t)facts[3];
        what.modified_ns = (int64_t)facts[4];
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
    unsigned asked = 0;
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
        if (n || !count) {
            st = rocl_team_send(team, r, &b, err);
            asked++;
        }
        rocl_buf_free(&b);
    }
    for (; asked && st == ROCL_OK; asked--) {
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
    const int by = strverscmp(x->path, y->path);
    return by ? by : (x->host > y->host) - (x->host < y->host);
}

/* Several names of a file on a node, or a file that several nodes see: it is one input. */
static bool is_same_file(const found *a, const found *b)
{
    if (a->inode != b->inode || a->bytes != b->bytes || a->modified != b->modified ||
        a->modified_ns != b->modified_ns || !a->inode)
        return false;
    return a->host == b->host ? a->device == b->device : !strcmp(a->path, b->path);
}

/* Each file to the rank of its node that has least. Rank 0 of a report takes in what others read,
 * and reads nothing where others can. */
static rocl_status choose_ranks(const rocl_trace *t, const hosts *h, finds *f, rocl_error *err)
{
    uint64_t *loads = calloc(h->size, sizeof *loads);
    rocl_map seen = {0};
    size_t n = 0;
    bool good = true;
    if (!loads)
        return rocl_fail_memory(err);
    if (f->count)
        qsort(f->all, f->count, sizeof *f->all, by_path);
    for (size_t i = 0; i < f->count; i++) {
        const found what = f->all[i];
        uint64_t key = rocl_mix64(what.inode ^ rocl_mix64((uint64_t)what.modified_ns));
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
    for (size_t i = 0; i < n; i++) {
        const unsigned host = f->all[i].host;
        unsigned least = host;
        for (unsigned r = host + 1; r < h->size; r++)
            if (h->firsts[r] == host &&
                (loads[r] < loads[least] || (least == 0 && !t->opt.team_writes)))
                least = r;
        f->all[i].rank = least;
        loads[least] += f->all[i].bytes + 1;
    }
    free(loads);
    return good ? ROCL_OK : rocl_fail_memory(err);
}

/* Sources that others will open, in the order in which these are told of them. */
static rocl_status add_sources(rocl_trace *t, const hosts *h, const finds *f, rocl_inputs *in,
                               rocl_error *err)
{
    uint32_t *inputs = calloc(h->size, sizeof *inputs);
    rocl_status st = inputs ? ROCL_OK : rocl_fail_memory(err);
    in->paths = calloc(f->count + 1, sizeof *in->paths);
    if (!in->paths)
        st = rocl_fail_memory(err);
    for (size_t i = 0; i < f->count && st == ROCL_OK; i++) {
        const found *what = &f->all[i];
        if (!what->rank) {
            if (!(in->paths[in->count] = strdup(what->path)))
                st = rocl_fail_memory(err);
            else
                in->count++;
            continue;
        }
        rocl_source *s = calloc(1, sizeof *s);
        rocl_source **more = realloc(t->node_sources, (t->node_source_count + 1) * sizeof *more);
        if (more)
            t->node_sources = more;
        if (!s || !more || asprintf(&s->path, "%s:%s", h->names[what->rank], what->path) < 0) {
            free(s);
            st = rocl_fail_memory(err);
            break;
        }
        s->named = i;
        s->bytes = what->bytes;
        s->modified = what->modified;
        s->rank = what->rank;
        s->input = inputs[what->rank]++;
        t->node_sources[t->node_source_count++] = s;
    }
    free(inputs);
    return st;
}

static rocl_status send_paths(rocl_trace *t, const finds *f, unsigned rank, rocl_error *err)
{
    rocl_buf b = {0}, paths = {0};
    uint64_t n = 0;
    for (size_t i = 0; i < f->count; i++)
        if (f->all[i].rank == rank) {
            rocl_team_put_text(&paths, f->all[i].path, strlen(f->all[i].path));
            n++;
        }
    rocl_deal_put_open(&b, rocl_deal_number(t->deal), n, &paths, true);
    rocl_buf_free(&paths);
    const rocl_status st = n ? rocl_team_send(t->opt.team, rank, &b, err) : ROCL_OK;
    rocl_buf_free(&b);
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

rocl_status rocl_nodes_find(rocl_trace *t, const char *const *names, size_t count, rocl_inputs *in,
                            rocl_error *err)
{
    rocl_team *team = t->opt.team;
    hosts h = {0};
    finds f = {0};
    rocl_status st = rocl_deal_open(t, err);
    if (st == ROCL_OK)
        st = list_hosts(team, &h, err);
    if (st == ROCL_OK)
        st = check_hosts(&h, names, count, err);
    for (size_t i = 0; i < count && st == ROCL_OK; i++) {
        const size_t n = host_length(names[i]);
        if (n && (strlen(h.names[0]) != n || memcmp(names[i], h.names[0], n) != 0))
            continue;
        st = find_name(&f, i, names[i] + (n ? n + 1 : 0), h.names[0], n || !t->opt.local, err);
    }
    if (f.why) {
        char *own = f.why;
        if (asprintf(&f.why, "%s:%s", h.names[0], own) < 0) {
            f.why = NULL;
            st = rocl_fail_memory(err);
        }
        free(own);
    }
    if (st == ROCL_OK)
        st = ask_ranks(team, &h, &f, names, count, t->opt.local, err);
    if (st == ROCL_OK)
        st = refuse_missing(&f, names, count, h.names[0], err);
    if (st == ROCL_OK && f.why)
        rocl_notice(t, "%s; others have inputs", f.why);
    if (st == ROCL_OK)
        st = choose_ranks(t, &h, &f, err);
    if (st == ROCL_OK)
        st = add_sources(t, &h, &f, in, err);
    for (unsigned r = 1; r < h.size && st == ROCL_OK; r++)
        st = send_paths(t, &f, r, err);
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

static void close_remote(rocl_source *s)
{
    (void)s;
}

static rocl_status begin_remote(rocl_trace *t, rocl_model_capture *c, const rocl_emitter *to,
                                rocl_plan *plan, rocl_error *err)
{
    (void)t, (void)to, (void)plan;
    return rocl_fail(err, ROCL_USAGE,
                     "%s: is on its node, and this output is written by rank 0 alone: read it "
                     "there, or from where all nodes see it",
                     c->source->path);
}

static void end_remote(rocl_trace *t, rocl_model_capture *c)
{
    (void)t, (void)c;
}

static void free_remote(rocl_model_capture *c)
{
    free(((peeked *)c->state)->agents);
    free(c->state);
}

static rocl_status remote_properties(rocl_trace *t, rocl_model_capture *c, rocl_property_of of,
                                     uint32_t index, rocl_buf *json, rocl_error *err)
{
    const peeked *p = c->state;
    (void)err;
    if (of == ROCL_PROPERTIES_OF_AGENT && p->agents)
        rocl_buf_str(json, rocl_str(t, p->agents[index]));
    return ROCL_OK;
}

static rocl_status peek_remote(rocl_trace *t, rocl_model_capture *c, int64_t *first, int64_t *last,
                               bool *any, rocl_error *err)
{
    const peeked *p = c->state;
    (void)t, (void)err;
    *first = p->first;
    *last = p->last;
    *any = p->any;
    return ROCL_OK;
}

static const rocl_source_ops remote_ops = {.close = close_remote,
                                           .free_capture = free_remote,
                                           .begin = begin_remote,
                                           .end = end_remote,
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

static rocl_status take_source(rocl_trace *t, rocl_source *s, rocl_team_reader *r, rocl_error *err)
{
    s->format = rocl_format_named(keep_text(t, r));
    snprintf(s->version, sizeof s->version, "%s", keep_text(t, r));
    const char *writer = keep_text(t, r);
    s->writer = *writer ? writer : NULL;
    const uint8_t *slice = rocl_team_bytes(r, 1);
    const uint64_t n = rocl_team_number(r);
    if (r->bad || !s->format || n > (uint64_t)(r->end - r->p))
        return rocl_team_bad_message(err);
    if (!(s->format->flags & ROCL_FORMAT_INDEPENDENT) || *slice)
        return rocl_fail(err, ROCL_INPUT,
                         "%s: is %s%s: it can be read only where rank 0 is; on other nodes, "
                         "databases are",
                         s->path, s->format->name, *slice ? ", and a slice of it" : "");
    s->ops = &remote_ops;
    s->opened = true;
    s->single = n == 1;
    s->number = t->capture_count; /* its first capture, and how many; until the trace is open */
    s->total = (size_t)n;
    for (uint64_t i = 0; i < n; i++) {
        rocl_model_capture **more = realloc(t->captures, (t->capture_count + 1) * sizeof *more), *c;
        if (more)
            t->captures = more;
        c = more ? calloc(1, sizeof *c) : NULL;
        peeked *state = c ? calloc(1, sizeof *state) : NULL;
        if (!state) {
            free(c);
            return rocl_fail_memory(err);
        }
        c->source = s;
        c->state = state;
        c->pub.trace = t;
        c->pub.path = s->path;
        c->pub.index = (uint32_t)t->capture_count;
        t->captures[t->capture_count++] = c;
        rocl_status st = rocl_world_take_definitions(t, r, c, err);
        if (st != ROCL_OK)
            return st;
    }
    return ROCL_OK;
}

static void take_times(const rocl_trace *t, const rocl_source *s, rocl_team_reader *r)
{
    for (size_t i = s->number; i < s->number + s->total; i++) {
        peeked *p = t->captures[i]->state;
        const uint8_t *any = rocl_team_bytes(r, 1);
        const uint8_t *times = rocl_team_bytes(r, 2 * sizeof(int64_t));
        if (!times)
            return;
        p->any = *any;
        memcpy(&p->first, times, sizeof p->first);
        memcpy(&p->last, times + sizeof p->first, sizeof p->last);
    }
}

static rocl_status take_agents(rocl_trace *t, unsigned rank, rocl_team_reader *r, rocl_error *err)
{
    uint32_t *texts = NULL;
    size_t count = 0, cap = 0;
    rocl_status st = ROCL_OK;
    for (size_t i = 0; i < t->capture_count && st == ROCL_OK && !t->opt.team_writes; i++) {
        rocl_model_capture *c = t->captures[i];
        peeked *p = c->state;
        if (c->source->rank != rank)
            continue;
        p->agents = calloc(c->pub.agent_count + (size_t)1, sizeof *p->agents);
        if (!p->agents)
            st = rocl_fail_memory(err);
        for (uint32_t k = 0; k < c->pub.agent_count && st == ROCL_OK; k++) {
            const uint64_t number = rocl_team_number(r);
            if (number > count || r->bad)
                st = rocl_team_bad_message(err);
            else if (number == count && !ROCL_GROW(texts, cap, count + 1))
                st = rocl_fail_memory(err);
            if (st != ROCL_OK)
                break;
            if (number == count)
                texts[count++] = take_text(t, r);
            p->agents[k] = texts[number];
        }
    }
    free(texts);
    return st;
}

static void take_notices(rocl_trace *t, unsigned rank, rocl_team_reader *r)
{
    for (uint64_t n = rocl_team_number(r); n && !r->bad; n = rocl_team_number(r)) {
        const char *text = keep_text(t, r), *path = "";
        for (uint64_t i = 0; i < n && !r->bad; i++) {
            const char *own = i < 3 ? keep_text(t, r) : NULL;
            for (size_t k = 0; own && k < t->node_source_count; k++) {
                const rocl_source *s = t->node_sources[k];
                const char *behind = strchr(s->path, ':') + 1;
                if (s->rank == rank && !strcmp(behind, own))
                    path = s->path;
            }
            rocl_notice_defer(t, path, text);
        }
    }
}

static rocl_status take_defined(rocl_trace *t, unsigned rank, rocl_team_reader *r, rocl_error *err)
{
    const rocl_status status = (rocl_status)rocl_team_number(r);
    rocl_status st = ROCL_OK;
    if (status != ROCL_OK) {
        const uint64_t n = rocl_team_number(r);
        const uint8_t *why = rocl_team_bytes(r, n);
        return why ? rocl_fail(err, status, "%.*s", (int)n, (const char *)why)
                   : rocl_team_bad_message(err);
    }
    for (size_t i = 0; i < t->node_source_count && st == ROCL_OK; i++)
        if (t->node_sources[i]->rank == rank)
            st = take_source(t, t->node_sources[i], r, err);
    for (size_t i = 0; i < t->node_source_count && st == ROCL_OK; i++)
        if (t->node_sources[i]->rank == rank)
            take_times(t, t->node_sources[i], r);
    if (st == ROCL_OK)
        st = take_agents(t, rank, r, err);
    if (st == ROCL_OK)
        take_notices(t, rank, r);
    t->left_out += rocl_team_number(r);
    return st == ROCL_OK && r->bad ? rocl_team_bad_message(err) : st;
}

/* Without the host. */
static const char *path_on_node(const rocl_source *s)
{
    return s->rank ? strchr(s->path, ':') + 1 : s->path;
}

/* Puts the sources of the others, which are in the order of their names, between rank 0's. */
static rocl_status join_sources(rocl_trace *t, rocl_error *err)
{
    size_t i = t->source_count, k = t->node_source_count, n = i + k;
    rocl_source **all = realloc(t->sources, (n + 1) * sizeof *all);
    if (!all)
        return rocl_fail_memory(err);
    t->sources = all;
    t->source_count = n;
    while (k) {
        rocl_source *own = i ? all[i - 1] : NULL, *other = t->node_sources[k - 1];
        const bool last = own && strverscmp(own->path, path_on_node(other)) > 0;
        all[--n] = last ? own : other;
        if (last)
            i--;
        else
            k--;
    }
    t->node_source_count = 0;
    return ROCL_OK;
}

rocl_status rocl_nodes_take(rocl_trace *t, rocl_error *err)
{
    const unsigned size = rocl_team_size(t->opt.team);
    rocl_buf *messages = calloc(size, sizeof *messages);
    bool *asked = calloc(size, sizeof *asked);
    rocl_status st = messages && asked ? ROCL_OK : rocl_fail_memory(err);
    unsigned left = 0;
    for (size_t i = 0; i < t->node_source_count && st == ROCL_OK; i++) {
        left += !asked[t->node_sources[i]->rank];
        asked[t->node_sources[i]->rank] = true;
    }
    for (; left && st == ROCL_OK; left--) { /* in whatever order they come */
        rocl_buf message = {0};
        rocl_team_reader r;
        unsigned rank = 0;
        st = receive_from(t->opt.team, ROCL_TEAM_DEFINED, &rank, &message, &r, err);
        rocl_buf_free(&messages[rank]);
        messages[rank] = message;
    }
    for (unsigned rank = 1; rank < size && st == ROCL_OK; rank++) { /* taken in theirs */
        rocl_team_reader r = {messages[rank].data + 1, messages[rank].data + messages[rank].len,
                              false};
        if (asked[rank])
            st = take_defined(t, rank, &r, err);
    }
    for (unsigned r = 0; messages && r < size; r++)
        rocl_buf_free(&messages[r]);
    free(messages);
    free(asked);
    return st == ROCL_OK ? join_sources(t, err) : st;
}
