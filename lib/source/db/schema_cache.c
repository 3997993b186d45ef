/* Two schemas have the same key if they differ only in the common ending of all table names of a
 * file ("_0000beef_421f_..."), wherever it occurs, and in the roots of tables. SQLite accepts both
 * or neither: only the same letters of the same names differ, and the guid that columns have as a
 * default. */
#include "source/db/schema_cache.h"

#include <endian.h>
#include <limits.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/* ---- layouts --------------------------------------------------------------------------------- */

/* A hash of a name that ignores case, as SQLite does: FNV-1a, mixed at the end. */
static uint64_t hash_name(const char *name)
{
    uint64_t h = 0xcbf29ce484222325u;
    for (; *name; name++) {
        bool upper = *name >= 'A' && *name <= 'Z';
        h = (h ^ (uint8_t)(upper ? *name - 'A' + 'a' : *name)) * 0x100000001b3u;
    }
    return rocl_mix64(h);
}

rocl_layout *rocl_layouts_add(rocl_layouts *all, const char *table)
{
    size_t cap = rocl_array_cap(all->count);
    rocl_layout *l = ROCL_GROW(all->list, cap, all->count + 1) ? calloc(1, sizeof *l) : NULL;
    if (!l || !(l->table = strdup(table)) ||
        !rocl_map_put(&all->by_name, hash_name(table), (uint32_t)all->count)) {
        if (l)
            free(l->table);
        free(l);
        return NULL;
    }
    return all->list[all->count++] = l;
}

/* Two names with the same hash do not occur by chance; if so, the second is not found. */
rocl_layout *rocl_layouts_find(const rocl_layouts *all, const char *table)
{
    uint32_t i = rocl_map_get(&all->by_name, hash_name(table), ROCL_NONE);
    return i != ROCL_NONE && !sqlite3_stricmp(all->list[i]->table, table) ? all->list[i] : NULL;
}

void rocl_layouts_free(rocl_layouts *all)
{
    for (size_t k = 0; k < all->count; k++) {
        rocl_layout *l = all->list[k];
        for (unsigned i = 0; i < l->count && !l->borrowed; i++)
            free(l->columns[i].name);
        if (!l->borrowed)
            free(l->columns);
        free(l->table);
        free(l);
    }
    free(all->list);
    rocl_map_free(&all->by_name);
    *all = (rocl_layouts){0};
}

int rocl_layout_column_of(const rocl_layout *l, const char *name)
{
    static const char *const rowid[] = {"rowid", "oid", "_rowid_"};
    for (unsigned i = 0; i < l->count; i++)
        if (!sqlite3_stricmp(l->columns[i].name, name))
            return (int)i;
    for (unsigned i = 0; i < sizeof rowid / sizeof *rowid; i++)
        if (!sqlite3_stricmp(rowid[i], name))
            return (int)l->id;
    return -1;
}

/* ---- the cache ------------------------------------------------------------------------------- */

/* At one time files of at most this many versions are read. */
#define SCHEMAS_MAX 32

typedef struct known_schema {
    rocl_buf key;
    rocl_layouts layouts; /* of the tables, in the order of the schema */
} known_schema;

struct rocl_schema_cache {
    pthread_mutex_t lock;
    known_schema *known[SCHEMAS_MAX]; /* an entry never changes */
    size_t count;
};

rocl_schema_cache *rocl_schema_cache_new(void)
{
    rocl_schema_cache *c = calloc(1, sizeof *c);
    if (c)
        pthread_mutex_init(&c->lock, NULL);
    return c;
}

static void free_known(known_schema *k)
{
    if (!k)
        return;
    rocl_buf_free(&k->key);
    rocl_layouts_free(&k->layouts);
    free(k);
}

void rocl_schema_cache_free(rocl_schema_cache *c)
{
    if (!c)
        return;
    for (size_t i = 0; i < c->count; i++)
        free_known(c->known[i]);
    pthread_mutex_destroy(&c->lock);
    free(c);
}

/* The cache of all users of rocl_schema_cache_share; NULL: none. */
static rocl_schema_cache *shared_cache;
static size_t shared_users;
static pthread_mutex_t shared_lock = PTHREAD_MUTEX_INITIALIZER;

rocl_schema_cache *rocl_schema_cache_share(void)
{
    pthread_mutex_lock(&shared_lock);
    if (!shared_users)
        shared_cache = rocl_schema_cache_new();
    rocl_schema_cache *c = shared_cache;
    shared_users += c != NULL;
    pthread_mutex_unlock(&shared_lock);
    return c;
}

void rocl_schema_cache_release(rocl_schema_cache *c)
{
    pthread_mutex_lock(&shared_lock);
    if (c && !--shared_users) {
        rocl_schema_cache_free(c);
        shared_cache = NULL;
    }
    pthread_mutex_unlock(&shared_lock);
}

/* ---- the key: the texts of a schema ---------------------------------------------------------- */

/* Placeholders for the ending in a key: as it is, and with '-' for '_', as in a guid. */
enum { ENDING = 1, DASHED = 2 };
#define ENDING_LEAST 8 /* shorter ones are accidental */

static bool is_type(const rocl_schema *s, const rocl_schema_row *row, const char *type)
{
    return !strcmp(rocl_schema_text(s, row->type), type);
}

/* The ending of the names of all tables but SQLite's own, without a '_' before it; "": none. */
static const char *find_ending(const rocl_schema *s)
{
    const char *end = NULL;
    for (size_t i = 0; i < s->count; i++) {
        const char *name = rocl_schema_text(s, s->rows[i].name);
        if (!is_type(s, &s->rows[i], "table") || !strncmp(name, "sqlite_", 7))
            continue;
        if (!end) {
            end = name;
            continue;
        }
        const size_t n = strlen(end), m = strlen(name);
        size_t common = 0;
        while (common < n && common < m && end[n - 1 - common] == name[m - 1 - common])
            common++;
        end += n - common;
    }
    while (end && *end == '_')
        end++;
    return end && strlen(end) >= ENDING_LEAST ? end : "";
}

static bool equals_dashed(const char *p, const char *ending, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (p[i] != (ending[i] == '_' ? '-' : ending[i]))
            return false;
    return true;
}

/* The texts, with placeholders for the ending. It is found by its letters up to the first '_',
 * which it shares with a guid. False: the schema cannot be kept. */
static bool make_key(const rocl_schema *s, const char *ending, rocl_buf *key)
{
    const char *p = (const char *)s->text.data, *at;
    const size_t n = strlen(ending), head = strcspn(ending, "_");
    if (!s->count || !p || memchr(p, ENDING, s->text.len) || memchr(p, DASHED, s->text.len))
        return false;
    const char *end = p + s->text.len;
    while (n && (at = memmem(p, (size_t)(end - p), ending, head)) && (size_t)(end - at) >= n) {
        bool same = !memcmp(at, ending, n), dashed = !same && equals_dashed(at, ending, n);
        rocl_buf_put(key, p, (size_t)(at - p));
        rocl_buf_byte(key, same ? ENDING : dashed ? DASHED : (uint8_t)*at);
        p = at + (same || dashed ? n : 1);
    }
    rocl_buf_put(key, p, (size_t)(end - p));
    return !key->failed;
}

/* ---- schemas that are known from the start --------------------------------------------------- */

typedef struct usual_schema {
    uint64_t hash; /* of the key */
    uint32_t len;  /* of the key */
    const char *tables;
} usual_schema;

static const usual_schema usual[] = {
#include "source/db/usual_schemas.inc"
};

static uint64_t hash_key(const rocl_buf *key)
{
    uint64_t h = key->len, word = 0;
    size_t i = 0;
    for (; i + sizeof word <= key->len; i += sizeof word) {
        memcpy(&word, key->data + i, sizeof word);
        h = rocl_mix64(h ^ le64toh(word));
    }
    word = 0;
    memcpy(&word, key->data + i, key->len - i);
    return rocl_mix64(h ^ le64toh(word));
}

/* Tables that end with ';', of columns that end with ','. "*name~=": it is the rowid, REAL, and has
 * a default. False: memory is out. */
static bool read_usual(const char *text, rocl_layouts *to)
{
    for (; *text; text++) {
        rocl_layout *l = rocl_layouts_add(to, "");
        size_t cap = 0, len;
        if (!l)
            return false;
        l->known = l->no_id = true;
        l->id = UINT_MAX;
        for (; *text != ';'; text += len + 1) {
            if (!ROCL_GROW(l->columns, cap, l->count + (size_t)1))
                return false;
            rocl_layout_column *c = &l->columns[l->count];
            *c = (rocl_layout_column){0};
            if (*text == '*') {
                l->id = l->count;
                text++;
            }
            len = strcspn(text, ",");
            size_t n = len; /* of the name */
            for (; n && strchr("~=", text[n - 1]); n--) {
                c->real |= text[n - 1] == '~';
                c->has_default |= text[n - 1] == '=';
            }
            if (!(c->name = strndup(text, n)))
                return false;
            l->no_id &= strcmp(c->name, "id") != 0;
            l->count++;
        }
        if (l->id == UINT_MAX)
            l->id = l->count;
    }
    return true;
}

/* NULL: not a usual schema, or memory is out. */
static known_schema *find_usual(const rocl_buf *key)
{
    uint64_t hash = hash_key(key);
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++) {
        if (usual[i].len != key->len || usual[i].hash != hash)
            continue;
        known_schema *k = calloc(1, sizeof *k);
        if (k)
            rocl_buf_put(&k->key, key->data, key->len);
        if (k && !k->key.failed && read_usual(usual[i].tables, &k->layouts))
            return k;
        free_known(k);
        break;
    }
    return NULL;
}

bool rocl_schema_write_usual(const rocl_schema *s, const rocl_layouts *layouts, rocl_buf *to)
{
    rocl_buf key = {0};
    bool can = make_key(s, find_ending(s), &key);
    if (can)
        rocl_buf_printf(to, "{0x%016llx, %zu,\n", (unsigned long long)hash_key(&key), key.len);
    rocl_buf_free(&key);
    for (size_t k = 0; can && k < layouts->count; k++) {
        const rocl_layout *l = layouts->list[k];
        can = l->known && !l->why;
        rocl_buf_str(to, " \"");
        for (unsigned i = 0; can && i < l->count; i++) {
            const rocl_layout_column *c = &l->columns[i];
            can = !strpbrk(c->name, "*,;~=\"\\");
            rocl_buf_printf(to, "%s%s%s%s,", i == l->id ? "*" : "", c->name, c->real ? "~" : "",
                            c->has_default ? "=" : "");
        }
        rocl_buf_str(to, ";\"\n");
    }
    rocl_buf_str(to, "},\n");
    return can;
}

/* ---- find and add ---------------------------------------------------------------------------- */

static const known_schema *find_key(const rocl_schema_cache *c, const rocl_buf *key)
{
    for (size_t i = 0; i < c->count; i++) {
        const rocl_buf *k = &c->known[i]->key;
        if (k->len == key->len && (!k->len || !memcmp(k->data, key->data, k->len)))
            return c->known[i];
    }
    return NULL;
}

/* Copies the layouts of a known schema for the tables of this one. Tables and indexes must have a
 * root page, views and triggers none: SQLite checks nothing else. */
static bool borrow_layouts(const known_schema *from, const rocl_schema *s,
                           const rocl_btree_file *file, rocl_layouts *to)
{
    size_t tables = 0;
    for (size_t i = 0; i < s->count; i++) {
        const rocl_schema_row *row = &s->rows[i];
        bool table = is_type(s, row, "table");
        bool sound =
            table || is_type(s, row, "index")
                ? row->root > 1 && row->root <= file->page_count && row->root != file->lock_page
                : !row->root;
        if (!sound)
            return false;
        if (!table)
            continue;
        const rocl_layout *as = from->layouts.list[tables++];
        rocl_layout *l = rocl_layouts_add(to, rocl_schema_text(s, row->name));
        if (!l)
            return false;
        char *own = l->table;
        *l = *as;
        l->table = own;
        l->root = row->root;
        l->borrowed = true;
    }
    to->read = true;
    return true;
}

/* Keeps a new schema, unless another thread was first, or there are too many (NULL). */
static const known_schema *keep_schema(rocl_schema_cache *c, known_schema *new)
{
    pthread_mutex_lock(&c->lock);
    const known_schema *known = find_key(c, &new->key);
    if (!known && c->count < SCHEMAS_MAX)
        known = c->known[c->count++] = new;
    pthread_mutex_unlock(&c->lock);
    if (known != new)
        free_known(new);
    return known;
}

bool rocl_schema_cache_find(rocl_schema_cache *c, const rocl_schema *s, const rocl_btree_file *file,
                            rocl_layouts *to)
{
    rocl_buf key = {0};
    const known_schema *known = NULL;
    known_schema *new;
    if (make_key(s, find_ending(s), &key)) {
        pthread_mutex_lock(&c->lock);
        known = find_key(c, &key);
        pthread_mutex_unlock(&c->lock);
        if (!known && (new = find_usual(&key)))
            known = keep_schema(c, new);
    }
    bool is_known = known && borrow_layouts(known, s, file, to);
    rocl_buf_free(&key);
    if (!is_known)
        rocl_layouts_free(to);
    return is_known;
}

/* Column names must be the same in all files with the key. */
static bool columns_have(const rocl_layouts *all, const char *ending)
{
    for (size_t k = 0; *ending && k < all->count; k++)
        for (unsigned i = 0; i < all->list[k]->count; i++)
            if (strstr(all->list[k]->columns[i].name, ending))
                return true;
    return false;
}

void rocl_schema_cache_add(rocl_schema_cache *c, const rocl_schema *s, const rocl_btree_file *file,
                           rocl_layouts *layouts)
{
    const char *ending = find_ending(s);
    known_schema *new = calloc(1, sizeof *new);
    if (!new || !make_key(s, ending, &new->key) || columns_have(layouts, ending)) {
        free_known(new);
        rocl_layouts_free(layouts);
        return;
    }
    new->layouts = *layouts;
    *layouts = (rocl_layouts){0};
    const known_schema *known = keep_schema(c, new);
    if (!known || !borrow_layouts(known, s, file, layouts))
        rocl_layouts_free(layouts);
}
