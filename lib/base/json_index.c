/* The outline of a JSON file: its top members, and where its long arrays are cut. Values that are
 * opened are read token by token; the others by masks of 64 bytes, or token by token if strings may
 * hold quotes. */
#include "base/json_index.h"

#include "base/error.h"
#include "base/json_masks.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    WINDOW = 1 << 20,
    WINDOW_MAX = 64 << 20, /* what a string of an opened value may need */
    AHEAD = 4096,          /* bytes after a token that may decide where it ends */
    LOAD_MAX = 256 << 20,
    BLOCK = 4 << 20
};

typedef rocl_status (*read_fn)(const void *from, void *to, size_t n, uint64_t at, size_t *got,
                               rocl_error *err);

typedef struct indexer {
    rocl_json_index *x;
    const rocl_json_outline *how;
    read_fn read;
    const void *from;
    char *window;
    size_t cap;
    uint64_t read_to;                 /* bytes of the file that were read */
    bool over;                        /* all of it was read */
    rocl_json r;                      /* on the window */
    size_t open[ROCL_JSON_DEPTH + 1]; /* the node at each opened depth */
    rocl_buf key;                     /* of the next value */
    /* The object or array that is being read and not opened; its depth, 0: none. */
    unsigned leaf;
    bool array;
    bool solid;        /* a bit of an element was seen since the last comma */
    uint64_t count;    /* elements before */
    uint64_t next;     /* offset where the element begins */
    uint64_t last_end; /* behind the last element that is an object or array */
    rocl_json_block block;
} indexer;

static uint64_t offset_of(const indexer *w, const char *p)
{
    return w->r.offset + (uint64_t)(p - w->window);
}

/* Moves the bytes from r.at on to the begin of the window and reads more after them. */
static rocl_status fill_window(indexer *w, rocl_error *err)
{
    const size_t done = (size_t)(w->r.at - w->window), left = (size_t)(w->r.end - w->r.at);
    size_t got = 0;
    if (left == w->cap) {
        char *larger = left < WINDOW_MAX ? realloc(w->window, 2 * left) : NULL;
        if (!larger)
            return left < WINDOW_MAX ? rocl_fail_memory(err)
                                     : rocl_fail(err, ROCL_INPUT,
                                                 "byte %" PRIu64 ": a string of more than 64 MiB",
                                                 offset_of(w, w->r.at));
        w->window = larger;
        w->cap = 2 * left;
    } else {
        memmove(w->window, w->r.at, left);
    }
    rocl_status st = w->read(w->from, w->window + left, w->cap - left, w->read_to, &got, err);
    w->over = got < w->cap - left;
    w->read_to += got;
    w->r.offset += done;
    w->r.begin = w->r.at = w->window;
    w->r.end = w->window + left + got;
    return st;
}

/* ---- nodes and blocks ------------------------------------------------------------------------ */

static rocl_status add_node(indexer *w, const rocl_json_token *t, rocl_error *err)
{
    rocl_json_index *x = w->x;
    const bool nested = t->kind == ROCL_JSON_OBJECT || t->kind == ROCL_JSON_ARRAY;
    const unsigned depth = w->r.depth - nested;
    const size_t parent = depth ? w->open[depth] : 0;
    const char *begin = t->text.p - (t->kind == ROCL_JSON_STRING);
    if (x->count == ROCL_JSON_NODES)
        return rocl_fail(err, ROCL_INPUT, "byte %" PRIu64 ": more than %d members",
                         offset_of(w, begin), ROCL_JSON_NODES);
    char *key = rocl_arena_dup(&x->keys, (const char *)w->key.data, w->key.len);
    if (w->key.failed || !key || !ROCL_GROW(x->nodes, x->cap, x->count + 1))
        return rocl_fail_memory(err);
    x->nodes[x->count] = (rocl_json_node){.key = key,
                                          .parent = parent,
                                          .kind = t->kind,
                                          .begin = offset_of(w, begin),
                                          .end = offset_of(w, w->r.at),
                                          .block = x->block_count};
    if (depth)
        x->nodes[parent].elements++;
    if (nested)
        w->open[w->r.depth] = x->count;
    x->count++;
    w->key.len = 0;
    return ROCL_OK;
}

static bool end_block(indexer *w, uint64_t end, uint64_t count)
{
    rocl_json_index *x = w->x;
    w->block.end = end;
    w->block.count = count - w->block.first;
    if (w->array && w->block.count) {
        if (!ROCL_GROW(x->blocks, x->block_cap, x->block_count + 1))
            return false;
        x->blocks[x->block_count++] = w->block;
    }
    w->block = (rocl_json_block){.begin = end, .first = count};
    return true;
}

/* An element ended; the next begins at an offset. */
static bool end_element(indexer *w, uint64_t next)
{
    w->count++;
    w->next = next;
    w->solid = false;
    return next - w->block.begin < (w->how->block ? w->how->block : BLOCK) ||
           end_block(w, next, w->count);
}

/* The leaf ends, and its last element before it. */
static bool end_leaf(indexer *w, uint64_t elements_end, uint64_t end)
{
    rocl_json_node *node = &w->x->nodes[w->open[w->leaf]];
    w->count += w->solid;
    const bool ok = end_block(w, elements_end, w->count);
    node->elements = w->array ? w->count : 0;
    node->blocks = w->x->block_count - node->block;
    node->end = end;
    w->leaf = 0;
    return ok;
}

/* The file ends within the leaf, at `depth` in it: 1 is between elements. An element that is a
 * number or a string may go on. */
static bool cut_leaf(indexer *w, size_t depth)
{
    const bool whole = depth == 1 && w->last_end > w->next;
    w->x->rest = whole || !w->solid ? w->x->size : w->next;
    w->solid = whole;
    const uint64_t end = whole ? w->last_end : w->next;
    return end_leaf(w, end, end);
}

/* ---- leaves by masks ------------------------------------------------------------------------- */

typedef struct leaf_scan {
    rocl_json_carry carry;
    uint64_t string_ended; /* bit 0: only blanks were there since the last string */
    size_t depth;          /* the leaf itself is 1 */
} leaf_scan;

/* The first bytes after strings that are not blanks. `ended` has a bit for each byte behind a
 * closing quote; where that is a blank, adding it to the run of blanks carries to the end of the
 * run. */
static uint64_t find_followers(uint64_t ended, uint64_t blanks, uint64_t *carry)
{
    uint64_t sum;
    *carry = __builtin_add_overflow(blanks, ended & blanks, &sum);
    return (ended | sum) & ~blanks;
}

/* Handles the brackets and commas of 64 bytes at r.at, some of which are directly in the leaf.
 * Returns the number of bytes up to the end of the leaf, 0: it does not end here. */
static unsigned scan_elements(indexer *w, leaf_scan *s, const rocl_json_masks *m, uint64_t commas,
                              uint64_t solid, bool *ok)
{
    const uint64_t at = offset_of(w, w->r.at);
    uint64_t behind = UINT64_MAX; /* bits behind the last bracket or comma */
    for (uint64_t all = m->open | m->close | commas; all; all &= all - 1) {
        const uint64_t bit = all & -all, end = at + (uint64_t)__builtin_ctzll(all) + 1;
        if (m->open & bit) {
            s->depth++;
            w->solid = true;
        } else if (m->close & bit) {
            if (--s->depth == 1)
                w->last_end = end;
            if (!s->depth) {
                w->solid |= (solid & behind & (bit - 1)) != 0;
                *ok &= end_leaf(w, end - 1, end);
                return (unsigned)(end - at);
            }
        } else if (s->depth == 1) {
            *ok &= end_element(w, end);
        }
        behind = ~(bit | (bit - 1));
    }
    w->solid |= s->depth == 1 && solid & behind;
    return 0;
}

/* Looks at the next n bytes at p, which are padded with blanks to 64. Returns how many belong to
 * the leaf. */
static unsigned scan_stride(indexer *w, leaf_scan *s, const char *p, unsigned n, bool *ok,
                            uint64_t *wrong)
{
    const rocl_json_masks m = rocl_json_look(p, &s->carry);
    const uint64_t blanks = rocl_json_blanks(p), commas = rocl_json_equal(p, 0, ',');
    const uint64_t closing = m.quotes & ~m.strings;
    *wrong = find_followers(closing << 1 | s->string_ended, blanks, &s->string_ended) &
             ~(m.close | commas | rocl_json_equal(p, 0, ':'));
    s->string_ended |= closing >> 63;
    if (s->depth > 1 && !(m.open | m.close)) /* no bracket or comma here is directly in the leaf */
        return n;
    const size_t closed = (size_t)__builtin_popcountll(m.close);
    if (s->depth > closed + 1) { /* none here either */
        s->depth = s->depth + (size_t)__builtin_popcountll(m.open) - closed;
        return n;
    }
    const unsigned over = scan_elements(w, s, &m, commas & ~m.strings, ~blanks, ok);
    if (over)
        *wrong &= UINT64_MAX >> (ROCL_JSON_STRIDE - over);
    return over ? over : n;
}

/* Reads the leaf that the reader has just entered, to its end or that of the file. */
static rocl_status scan_leaf(indexer *w, bool *quotes, rocl_error *err)
{
    leaf_scan s = {.depth = 1};
    bool ok = true;
    while (w->leaf && ok) {
        char last[ROCL_JSON_STRIDE];
        const char *p = w->r.at;
        const size_t left = (size_t)(w->r.end - p);
        unsigned n = ROCL_JSON_STRIDE;
        uint64_t wrong;
        if (left < n && !w->over) {
            rocl_status st = fill_window(w, err);
            if (st != ROCL_OK)
                return st;
            continue;
        }
        if (!left) {
            w->x->truncated = true;
            return cut_leaf(w, s.depth) ? ROCL_OK : rocl_fail_memory(err);
        }
        if (left < n) {
            n = (unsigned)left;
            memset(last, ' ', sizeof last);
            p = memcpy(last, p, n);
        }
        n = scan_stride(w, &s, p, n, &ok, &wrong);
        if (wrong) {
            *quotes = true;
            return rocl_fail(err, ROCL_INPUT,
                             "byte %" PRIu64 ": a comma was expected behind a string",
                             offset_of(w, w->r.at) + (uint64_t)__builtin_ctzll(wrong));
        }
        w->r.at += n;
    }
    if (!ok)
        return rocl_fail_memory(err);
    rocl_json_left(&w->r, w->r.at);
    return ROCL_OK;
}

/* ---- all of it ------------------------------------------------------------------------------- */

/* A token of a leaf that is read token by token. */
static bool add_leaf_token(indexer *w, const rocl_json_token *t)
{
    const unsigned depth = w->r.depth;
    const bool nested = t->kind == ROCL_JSON_OBJECT || t->kind == ROCL_JSON_ARRAY;
    const bool ended = t->kind == ROCL_JSON_OBJECT_END || t->kind == ROCL_JSON_ARRAY_END;
    bool ok = true;
    if (depth < w->leaf)
        return end_leaf(w, offset_of(w, t->text.p), offset_of(w, w->r.at));
    if (ended && depth == w->leaf)
        w->last_end = offset_of(w, w->r.at);
    if (w->array && !ended && depth - nested == w->leaf) {
        if (w->solid)
            ok = end_element(w, offset_of(w, t->text.p - (t->kind == ROCL_JSON_STRING)));
        w->solid = true;
    }
    return ok;
}

/* A token of a value that is opened. */
static rocl_status add_token(indexer *w, const rocl_json_token *t, bool *quotes, rocl_error *err)
{
    const bool array = t->kind == ROCL_JSON_ARRAY;
    if (t->kind == ROCL_JSON_KEY) {
        w->key.len = 0;
        rocl_json_unescape(&w->key, t->text);
        return ROCL_OK;
    }
    if (t->kind == ROCL_JSON_OBJECT_END || t->kind == ROCL_JSON_ARRAY_END) {
        w->x->nodes[w->open[w->r.depth + 1]].end = offset_of(w, w->r.at);
        return ROCL_OK;
    }
    rocl_status st = add_node(w, t, err);
    if (st != ROCL_OK || (t->kind != ROCL_JSON_OBJECT && !array) ||
        w->r.depth <= (array ? w->how->arrays : w->how->objects))
        return st;
    w->leaf = w->r.depth;
    w->array = array;
    w->solid = false;
    w->count = 0;
    w->next = offset_of(w, w->r.at);
    w->block = (rocl_json_block){.begin = w->next};
    return w->how->flags & ROCL_JSON_QUOTES ? ROCL_OK : scan_leaf(w, quotes, err);
}

/* The file ends before the outermost value does. */
static bool end_early(indexer *w, const char *from)
{
    rocl_json_index *x = w->x;
    bool ok = true;
    if (!x->truncated) { /* else scan_leaf() found the end */
        x->truncated = true;
        x->rest = offset_of(w, from);
        while (from < w->r.end && (*from == ',' || (unsigned char)*from <= ' '))
            from++;
        if (w->leaf)
            ok = cut_leaf(w, w->r.depth - w->leaf + 1);
        else if (from == w->r.end)
            x->rest = x->size;
    }
    for (unsigned d = 1; d <= w->r.depth; d++)
        x->nodes[w->open[d]].end = x->size;
    return ok;
}

static rocl_status read_outline(indexer *w, bool *quotes, rocl_error *err)
{
    rocl_status st = fill_window(w, err);
    if (w->r.end - w->r.at >= 3 &&
        !memcmp(w->r.at, "\xef\xbb\xbf", 3)) /* the byte order mark of UTF-8 */
        w->r.at += 3;
    while (st == ROCL_OK) {
        const rocl_json before = w->r;
        rocl_json_token t;
        rocl_json_next(&w->r, &t);
        if (!w->over && w->r.end - w->r.at < AHEAD) {
            w->r = before;
            st = fill_window(w, err);
        } else if (w->r.wrong == rocl_json_cut_off && w->x->count) {
            return end_early(w, before.at) ? ROCL_OK : rocl_fail_memory(err);
        } else if (w->r.wrong) {
            *quotes = !(w->how->flags & ROCL_JSON_QUOTES);
            return rocl_fail(err, ROCL_INPUT, "byte %" PRIu64 ": %s", offset_of(w, w->r.at),
                             w->r.wrong);
        } else if (!t.kind) {
            return ROCL_OK;
        } else if (w->leaf) {
            st = add_leaf_token(w, &t) ? ROCL_OK : rocl_fail_memory(err);
        } else {
            st = add_token(w, &t, quotes, err);
        }
        if (st == ROCL_OK && w->x->truncated)
            return end_early(w, w->r.at) ? ROCL_OK : rocl_fail_memory(err);
    }
    return st;
}

static rocl_status make_index(rocl_json_index *x, read_fn read, const void *from, uint64_t size,
                              const rocl_json_outline *how, bool *quotes, rocl_error *err)
{
    indexer *w = calloc(1, sizeof *w);
    char *window = calloc(1, WINDOW);
    rocl_status st = w && window ? ROCL_OK : rocl_fail_memory(err);
    *quotes = false;
    if (st == ROCL_OK) {
        x->size = x->rest = size;
        w->x = x;
        w->how = how;
        w->read = read;
        w->from = from;
        w->window = window;
        w->cap = WINDOW;
        rocl_json_open(&w->r, window, 0, 0, how->flags & ~(unsigned)ROCL_JSON_ELEMENTS);
        st = read_outline(w, quotes, err);
        window = w->window;
        rocl_buf_free(&w->key);
    }
    free(window);
    free(w);
    return st;
}

static rocl_status read_spool(const void *from, void *to, size_t n, uint64_t at, size_t *got,
                              rocl_error *err)
{
    return rocl_spool_read(from, to, n, at, got, err);
}

static rocl_status read_view(const void *from, void *to, size_t n, uint64_t at, size_t *got,
                             rocl_error *err)
{
    const rocl_view *v = from;
    (void)err;
    *got = v->n - at < n ? v->n - at : n;
    memcpy(to, v->p + at, *got);
    return ROCL_OK;
}

rocl_status rocl_json_index_spool(rocl_json_index *x, const rocl_spool *spool,
                                  const rocl_json_outline *how, bool *quotes, rocl_error *err)
{
    return make_index(x, read_spool, spool, rocl_spool_size(spool), how, quotes, err);
}

rocl_status rocl_json_index_bytes(rocl_json_index *x, const char *p, size_t n,
                                  const rocl_json_outline *how, bool *quotes, rocl_error *err)
{
    return make_index(x, read_view, &(rocl_view){p, n}, n, how, quotes, err);
}

void rocl_json_index_free(rocl_json_index *x)
{
    free(x->nodes);
    free(x->blocks);
    rocl_arena_free(&x->keys);
    *x = (rocl_json_index){0};
}

/* The first member of a node with a key, from a node on. */
static const rocl_json_node *find_member(const rocl_json_index *x, size_t parent, size_t from,
                                         const char *key)
{
    for (size_t i = from; i < x->count && x->nodes[i].parent >= parent; i++)
        if (x->nodes[i].parent == parent && !strcmp(x->nodes[i].key, key))
            return &x->nodes[i];
    return NULL;
}

const rocl_json_node *rocl_json_child(const rocl_json_index *x, const rocl_json_node *of,
                                      const char *key)
{
    const size_t parent = (size_t)(of - x->nodes);
    return find_member(x, parent, parent + 1, key);
}

const rocl_json_node *rocl_json_same(const rocl_json_index *x, const rocl_json_node *member)
{
    return find_member(x, member->parent, (size_t)(member - x->nodes) + 1, member->key);
}

rocl_status rocl_json_load(rocl_json *r, rocl_buf *b, const rocl_spool *spool, uint64_t begin,
                           uint64_t end, unsigned flags, rocl_error *err)
{
    const size_t n = (size_t)(end - begin);
    size_t got = 0;
    if (end - begin > LOAD_MAX)
        return rocl_fail(err, ROCL_INPUT, "byte %" PRIu64 ": a value of more than %d MiB", begin,
                         LOAD_MAX >> 20);
    b->len = 0;
    if (!rocl_buf_reserve(b, n ? n : 1))
        return rocl_fail_memory(err);
    rocl_status st = rocl_spool_read(spool, b->data, n, begin, &got, err);
    if (st == ROCL_OK) {
        b->len = got;
        rocl_json_open(r, (const char *)b->data, got, begin, flags);
    }
    return st;
}

bool rocl_json_load_node(rocl_json *r, rocl_json_token *v, rocl_buf *bytes, const rocl_spool *s,
                         const rocl_json_node *node, unsigned flags, rocl_status *st,
                         rocl_error *err)
{
    if (!node || *st != ROCL_OK)
        return false;
    *st = rocl_json_load(r, bytes, s, node->begin, node->end, flags, err);
    return *st == ROCL_OK && rocl_json_element(r, v);
}
