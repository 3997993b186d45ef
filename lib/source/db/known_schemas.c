/* Two schemas are of one form when they differ in nothing but the ending that the names of all
 * tables of a file have in common ("_0000beef_421f_..."), wherever it stands, and in where the
 * tables begin. What SQLite accepts of one it accepts of the other: what differs are the same
 * letters of the same names, and of the guid that columns have by default. */
#include "source/db/known_schemas.h"

#include <pthread.h>
#include <stdlib.h>

/* Files of more versions than this are not in one trace. */
#define FORMS_MAX 32

/* What stands for the ending in a key, as it is and with '-' for '_', as a guid is written. */
enum { ENDING = 1, DASHED = 2 };
#define ENDING_LEAST 8 /* shorter ones are chance */

typedef struct form {
    rocl_buf key;
    rocl_layouts layouts; /* of the tables, in the order of the schema */
} form;

struct rocl_db_forms {
    rocl_reader reader;
    uint32_t ahead;
    pthread_mutex_t lock;
    form *known[FORMS_MAX]; /* one that is there stays as it is */
    size_t count;
};

rocl_db_forms *rocl_db_forms_new(rocl_reader reader)
{
    rocl_db_forms *f = calloc(1, sizeof *f);
    if (!f)
        return NULL;
    f->reader = reader;
    pthread_mutex_init(&f->lock, NULL);
    return f;
}

rocl_reader rocl_db_forms_reader(const rocl_db_forms *f)
{
    return f->reader;
}

void rocl_db_forms_read_ahead(rocl_db_forms *f, size_t bytes)
{
    f->ahead = bytes < UINT32_MAX ? (uint32_t)bytes : UINT32_MAX;
}

uint32_t rocl_db_forms_ahead(const rocl_db_forms *f)
{
    return f->ahead;
}

static void form_free(form *f)
{
    if (!f)
        return;
    rocl_buf_free(&f->key);
    rocl_layouts_free(&f->layouts);
    free(f);
}

void rocl_db_forms_free(rocl_db_forms *f)
{
    if (!f)
        return;
    for (size_t i = 0; i < f->count; i++)
        form_free(f->known[i]);
    pthread_mutex_destroy(&f->lock);
    free(f);
}

/* ---- the key of a form: the texts of its schema ---- */

static bool is_type(const rocl_schema *s, const rocl_schema_row *row, const char *type)
{
    return !strcmp(rocl_schema_text(s, row->type), type);
}

static size_t common_end(const char *a, size_t a_len, const char *b, size_t b_len)
{
    size_t n = 0;
    while (n < a_len && n < b_len && a[a_len - 1 - n] == b[b_len - 1 - n])
        n++;
    return n;
}

/* The ending of the names of all tables but SQLite's own, without a '_' before it; "": none. */
static const char *ending_of(const rocl_schema *s)
{
    const char *end = NULL;
    for (size_t i = 0; i < s->count; i++) {
        const char *name = rocl_schema_text(s, s->rows[i].name);
        if (!is_type(s, &s->rows[i], "table") || !strncmp(name, "sqlite_", 7))
            continue;
        size_t n = end ? strlen(end) : 0;
        end = end ? end + n - common_end(end, n, name, strlen(name)) : name;
    }
    while (end && *end == '_')
        end++;
    return end && strlen(end) >= ENDING_LEAST ? end : "";
}

static bool dashed_equal(const char *p, const char *ending, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (p[i] != (ending[i] == '_' ? '-' : ending[i]))
            return false;
    return true;
}

/* The texts with what stands for the ending in its place. Found by its letters up to the first '_',
 * which it has in common with a guid. */
static void put_key(rocl_buf *key, const rocl_buf *text, const char *ending)
{
    const char *p = (const char *)text->data, *end = p + text->len, *at;
    const size_t n = strlen(ending), head = strcspn(ending, "_");
    while (n && (at = memmem(p, (size_t)(end - p), ending, head)) && (size_t)(end - at) >= n) {
        bool same = !memcmp(at, ending, n), dashed = !same && dashed_equal(at, ending, n);
        rocl_buf_put(key, p, (size_t)(at - p));
        rocl_buf_byte(key, same ? ENDING : dashed ? DASHED : (uint8_t)*at);
        p = at + (same || dashed ? n : 1);
    }
    rocl_buf_put(key, p, (size_t)(end - p));
}

/* False: the schema is of no use as a form. */
static bool make_key(const rocl_schema *s, rocl_buf *key)
{
    if (!s->count || memchr(s->text.data, ENDING, s->text.len) ||
        memchr(s->text.data, DASHED, s->text.len))
        return false;
    put_key(key, &s->text, ending_of(s));
    return !key->failed;
}

/* ---- known forms ---- */

static bool same_key(const rocl_buf *a, const rocl_buf *b)
{
    return a->len == b->len && (!a->len || !memcmp(a->data, b->data, a->len));
}

static const form *find(const rocl_db_forms *f, const rocl_buf *key)
{
    for (size_t i = 0; i < f->count; i++)
        if (same_key(&f->known[i]->key, key))
            return f->known[i];
    return NULL;
}

static const form *find_locked(rocl_db_forms *f, const rocl_buf *key)
{
    pthread_mutex_lock(&f->lock);
    const form *found = find(f, key);
    pthread_mutex_unlock(&f->lock);
    return found;
}

/* Tables and indexes have a page of the file, views and triggers none. SQLite asks no more. */
static bool sound_root(const rocl_schema *s, const rocl_schema_row *row, const rocl_btree_file *f)
{
    if (is_type(s, row, "table") || is_type(s, row, "index"))
        return row->root > 1 && row->root <= f->page_count && row->root != f->lock_page;
    return !row->root;
}

/* The layouts of the form's tables for those of this schema. */
static bool apply(const form *as, const rocl_schema *s, const rocl_btree_file *file,
                  rocl_layouts *to)
{
    size_t tables = 0;
    for (size_t i = 0; i < s->count; i++) {
        const rocl_schema_row *row = &s->rows[i];
        if (!sound_root(s, row, file))
            return false;
        if (is_type(s, row, "table") &&
            !rocl_layouts_add_as(to, as->layouts.list[tables++], rocl_schema_text(s, row->name),
                                 row->root))
            return false;
    }
    to->read = true;
    return true;
}

static bool recognise(rocl_db_forms *forms, rocl_db *db, const rocl_btree_file *file)
{
    rocl_schema *s = rocl_db_schema(db);
    rocl_layouts *layouts = rocl_db_layouts(db);
    rocl_buf key = {0};
    const form *as =
        rocl_btree_schema(s, file) && make_key(s, &key) ? find_locked(forms, &key) : NULL;
    bool known = as && apply(as, s, file, layouts);
    rocl_buf_free(&key);
    if (!known)
        rocl_layouts_free(layouts);
    return known;
}

bool rocl_db_forms_recognise(rocl_db_forms *forms, rocl_db *db)
{
    const rocl_btree_file *file;
    const char *why;
    return rocl_db_pages(db, &file, &why, NULL) == ROCL_OK && !why && recognise(forms, db, file);
}

/* ---- a new one ---- */

/* Everything about every table. */
static bool ask_all(rocl_db *db, const rocl_schema *s)
{
    const rocl_layout *layout;
    size_t tables = 0;
    for (size_t i = 0; i < s->count; i++)
        if (is_type(s, &s->rows[i], "table")) {
            tables++;
            if (rocl_layout_find(db, rocl_schema_text(s, s->rows[i].name), &layout, NULL) !=
                ROCL_OK)
                return false;
        }
    return tables == rocl_db_layouts(db)->count;
}

/* Columns must be called the same in all files of the form. */
static bool columns_have(const rocl_layouts *all, const char *ending)
{
    for (size_t k = 0; *ending && k < all->count; k++)
        for (unsigned i = 0; i < all->list[k]->count; i++)
            if (strstr(all->list[k]->columns[i].name, ending))
                return true;
    return false;
}

/* Another thread may have learned the same meanwhile. */
static const form *add(rocl_db_forms *f, form *new)
{
    pthread_mutex_lock(&f->lock);
    const form *known = find(f, &new->key);
    if (!known && f->count < FORMS_MAX)
        known = f->known[f->count++] = new;
    pthread_mutex_unlock(&f->lock);
    if (known != new)
        form_free(new);
    return known;
}

/* The layouts become the form's; the connection borrows them from it as any other will. */
void rocl_db_forms_learn(rocl_db_forms *forms, rocl_db *db)
{
    const rocl_schema *s = rocl_db_schema(db);
    rocl_layouts *layouts = rocl_db_layouts(db);
    const rocl_btree_file *file;
    const char *why;
    if (!s->count || rocl_db_pages(db, &file, &why, NULL) != ROCL_OK || why)
        return;
    form *new = calloc(1, sizeof *new);
    if (!new || !make_key(s, &new->key) || !ask_all(db, s) || columns_have(layouts, ending_of(s))) {
        form_free(new);
        rocl_layouts_free(layouts); /* one may be half known */
        return;
    }
    new->layouts = *layouts;
    *layouts = (rocl_layouts){0};
    const form *known = add(forms, new);
    if (!known || !apply(known, s, file, layouts))
        rocl_layouts_free(layouts);
}
