/* Sums by key: see keyed.h. */
#include "analysis/keyed.h"

#include <stdlib.h>

#include "analysis/distribution.h"
#include "base/array.h"

/* Bytes of a member that is ROCL_KEY_SIZES. */
#define SIZES (3 * sizeof(uint32_t))

rocl_status rocl_keyed_open(rocl_keyed *k, const rocl_keyed_def *def, rocl_collector *c,
                            rocl_error *err)
{
    const unsigned workers = c->trace->opt.jobs;
    *k = (rocl_keyed){.def = def, .key_size = def->key_size, .keys = rocl_strings_new()};
    c->keyed[c->keyed_count++] = k;
    k->workers = calloc(workers, sizeof *k->workers);
    if (def->has_percentiles)
        k->values = rocl_percentiles_new(c->trace->space, workers);
    return k->keys && k->workers && (k->values || !def->has_percentiles) ? ROCL_OK
                                                                         : rocl_fail_memory(err);
}

static void free_exact_sums(const rocl_keyed_def *d, char *sums)
{
    for (size_t m = 0; m < d->sum_count; m++)
        if (d->sums[m].type == ROCL_SUM_EXACT)
            rocl_exact_free((rocl_exact_sum *)(void *)(sums + d->sums[m].at));
}

void rocl_keyed_close(rocl_keyed *k, unsigned workers)
{
    for (unsigned w = 0; k->workers && w < workers; w++) {
        for (size_t i = 0; i < k->workers[w].cap; i++)
            free_exact_sums(k->def, k->workers[w].of + i * k->def->sum_size);
        free(k->workers[w].of);
        rocl_map_free(&k->workers[w].words);
    }
    free(k->workers);
    rocl_strings_free(k->keys);
    rocl_percentiles_free(k->values);
}

/* ---- adding ---------------------------------------------------------------------------------- */

uint32_t rocl_keyed_group(rocl_keyed *k, const void *key)
{
    return rocl_strings_put(k->keys, key, k->key_size);
}

void *rocl_keyed_sums(rocl_keyed *k, unsigned worker, uint32_t group)
{
    struct rocl_worker_sums *w = &k->workers[worker];
    const size_t size = k->def->sum_size;
    return rocl_array_reserve(&w->of, &w->cap, (size_t)group + 1, size) ? w->of + group * size
                                                                        : NULL;
}

/* A key of one word is looked up faster among those that the worker has had. */
void *rocl_keyed_at(rocl_keyed *k, unsigned worker, const void *key)
{
    rocl_map *words = k->key_size == sizeof(uint64_t) ? &k->workers[worker].words : NULL;
    uint64_t word = 0;
    uint32_t group = ROCL_NONE;
    if (words) {
        memcpy(&word, key, sizeof word);
        group = rocl_map_get(words, word, ROCL_NONE);
    }
    if (group == ROCL_NONE) {
        group = rocl_keyed_group(k, key);
        if (group == ROCL_NONE || (words && !rocl_map_put(words, word, group)))
            return NULL;
    }
    return rocl_keyed_sums(k, worker, group);
}

void *rocl_keyed_all(rocl_keyed *k)
{
    return rocl_keyed_sums(k, 0, (uint32_t)rocl_strings_count(k->keys)) ? k->workers[0].of : NULL;
}

void rocl_keep_longest(rocl_longest *l, const rocl_longest *other)
{
    int by = l->event.capture_plus1 ? rocl_number_order(l->duration, other->duration) : -1;
    by = by ? by : rocl_number_order(other->start, l->start);
    if (!by)
        by = other->event.capture_plus1 < l->event.capture_plus1 ||
                     (other->event.capture_plus1 == l->event.capture_plus1 &&
                      other->event.row < l->event.row)
                 ? -1
                 : 1;
    if (by < 0 && other->event.capture_plus1)
        *l = *other;
}

/* Do the sums of a group hold anything? */
static bool is_counted(const rocl_keyed_def *d, const char *sums)
{
    return d->sum_count && *(const uint64_t *)(const void *)(sums + d->sums[0].at);
}

/* is_first: what is added is the first of its group. */
static bool add_member(rocl_member_type type, void *sum, const void *more, bool is_first)
{
    int64_t *n = sum;
    double *v = sum;
    switch (type) {
    case ROCL_SUM_COUNT:
        *(uint64_t *)sum += *(const uint64_t *)more;
        return true;
    case ROCL_SUM_INT:
        *n = rocl_add_saturated(*n, *(const int64_t *)more);
        return true;
    case ROCL_SUM_LEAST:
        if (is_first || *(const int64_t *)more < *n)
            *n = *(const int64_t *)more;
        return true;
    case ROCL_SUM_GREATEST:
        if (is_first || *(const int64_t *)more > *n)
            *n = *(const int64_t *)more;
        return true;
    case ROCL_SUM_REAL:
        *v = is_first ? *(const double *)more : *v + *(const double *)more;
        return true;
    case ROCL_SUM_REAL_LEAST:
        if (is_first || rocl_bits_of_value(*(const double *)more) < rocl_bits_of_value(*v))
            *v = *(const double *)more;
        return true;
    case ROCL_SUM_REAL_GREATEST:
        if (is_first || rocl_bits_of_value(*(const double *)more) > rocl_bits_of_value(*v))
            *v = *(const double *)more;
        return true;
    case ROCL_SUM_EXACT:
        return rocl_exact_merge(sum, more);
    default:
        rocl_keep_longest(sum, more);
        return true;
    }
}

bool rocl_keyed_add(const rocl_keyed_def *d, void *sums, const void *more)
{
    const bool is_first = !is_counted(d, sums), adds = is_counted(d, more);
    bool good = true;
    for (const rocl_member *m = d->sums; m < d->sums + d->sum_count; m++)
        if (adds || m->type == ROCL_SUM_LONGEST)
            good &= add_member(m->type, (char *)sums + m->at, (const char *)more + m->at, is_first);
    return good;
}

bool rocl_keyed_join(const rocl_keyed *k, const rocl_collector *c, uint32_t group, void *sums)
{
    bool good = true;
    for (unsigned w = 0; w < c->trace->opt.jobs; w++)
        if (group < k->workers[w].cap)
            good &= rocl_keyed_add(k->def, sums, k->workers[w].of + group * k->def->sum_size);
    return good;
}

/* ---- rows ------------------------------------------------------------------------------------ */

void *rocl_keyed_rows(const rocl_keyed *k, const rocl_collector *c, size_t size, size_t *count)
{
    size_t groups;
    char *rows = rocl_groups_new(k->keys, k->key_size, size, &groups);
    *count = 0;
    for (size_t i = 1; rows && i < groups; i++) {
        char *row = rows + i * size;
        rocl_keyed_join(k, c, (uint32_t)i, row + k->key_size);
        if (is_counted(k->def, row + k->key_size))
            memcpy(rows + (*count)++ * size, row, size);
    }
    return rows;
}

static int compare_reals(double a, double b)
{
    return (a > b) - (a < b);
}

int rocl_keyed_compare(const rocl_keyed_def *d, const rocl_trace *t, const void *row,
                       const void *other)
{
    int c = 0;
    for (const rocl_member *m = d->key; m < d->key + d->key_count && !c; m++) {
        const void *a = (const char *)row + m->at, *b = (const char *)other + m->at;
        switch (m->type) {
        case ROCL_KEY_TEXT:
            c = rocl_compare_texts(t, *(const uint32_t *)a, *(const uint32_t *)b);
            break;
        case ROCL_KEY_NUMBER:
            c = rocl_number_order(*(const uint32_t *)a, *(const uint32_t *)b);
            break;
        case ROCL_KEY_ID:
            c = rocl_number_order(*(const int32_t *)a, *(const int32_t *)b);
            break;
        case ROCL_KEY_INT:
            c = rocl_number_order(*(const int64_t *)a, *(const int64_t *)b);
            break;
        case ROCL_KEY_REAL:
            c = compare_reals(*(const double *)a, *(const double *)b);
            break;
        case ROCL_KEY_AGENT:
            c = rocl_compare_agents(a, b);
            break;
        default:
            c = memcmp(a, b, SIZES);
        }
    }
    return c;
}

/* ---- from rank to rank ----------------------------------------------------------------------- */

/* What is put of a table, by its number: groups, which are their keys, their sums if they have any,
 * and their values; then its totals. */
enum { BARE_GROUP, GROUP, TOTALS, KINDS };

/* Bytes of those members that are put as they are. */
static const size_t sizes[] = {
    [ROCL_KEY_REAL] = sizeof(double),
    [ROCL_KEY_AGENT] = sizeof(rocl_agent_key),
    [ROCL_KEY_SIZES] = SIZES,
    [ROCL_SUM_REAL] = sizeof(double),
    [ROCL_SUM_REAL_LEAST] = sizeof(double),
    [ROCL_SUM_REAL_GREATEST] = sizeof(double),
    [ROCL_SUM_LONGEST] = sizeof(rocl_longest),
};

static void put_member(rocl_put *to, rocl_member_type type, const void *p)
{
    switch (type) {
    case ROCL_KEY_TEXT:
        rocl_put_text(to, *(const uint32_t *)p);
        break;
    case ROCL_KEY_NUMBER:
        rocl_put_number(to, *(const uint32_t *)p);
        break;
    case ROCL_KEY_ID:
        rocl_put_signed(to, *(const int32_t *)p);
        break;
    case ROCL_KEY_INT:
        rocl_put_signed(to, *(const int64_t *)p);
        break;
    case ROCL_SUM_COUNT:
    case ROCL_SUM_INT:
    case ROCL_SUM_LEAST:
    case ROCL_SUM_GREATEST:
        rocl_put_number(to, *(const uint64_t *)p);
        break;
    case ROCL_SUM_EXACT:
        rocl_put_exact(to, p);
        break;
    default:
        rocl_put_bytes(to, p, sizes[type]);
    }
}

/* Numbers that no rank may have sent make the message a bad one. False: memory is out. */
static bool take_member(rocl_taken *from, const rocl_trace *t, const rocl_member *m, void *p)
{
    const rocl_agent_key *agent = p;
    const rocl_longest *l = p;
    uint64_t n;
    int64_t i;
    switch (m->type) {
    case ROCL_KEY_TEXT:
        *(uint32_t *)p = rocl_take_text(from);
        break;
    case ROCL_KEY_NUMBER:
        n = rocl_take_number(from);
        from->r.bad |= n > UINT32_MAX || (m->below && n >= m->below);
        *(uint32_t *)p = (uint32_t)n;
        break;
    case ROCL_KEY_ID:
        i = rocl_take_signed(from);
        from->r.bad |= i < -1 || i > INT32_MAX || (m->below && i >= m->below);
        *(int32_t *)p = (int32_t)i;
        break;
    case ROCL_KEY_INT:
        *(int64_t *)p = rocl_take_signed(from);
        break;
    case ROCL_SUM_COUNT:
    case ROCL_SUM_INT:
    case ROCL_SUM_LEAST:
    case ROCL_SUM_GREATEST:
        n = rocl_take_number(from);
        from->r.bad |= m->type != ROCL_SUM_COUNT && n > INT64_MAX;
        *(uint64_t *)p = n;
        break;
    case ROCL_SUM_EXACT:
        return rocl_take_exact(from, p);
    default:
        rocl_take_bytes(from, p, sizes[m->type]);
        if (m->type == ROCL_KEY_AGENT)
            from->r.bad |= agent->machine && agent->machine >= t->machine_count;
        if (m->type == ROCL_SUM_LONGEST)
            from->r.bad |= l->event.capture_plus1 > t->capture_count || l->duration < 0;
    }
    return true;
}

static bool is_zero(const char *bytes, size_t n)
{
    size_t i = 0;
    while (i < n && !bytes[i])
        i++;
    return i == n;
}

static rocl_status put_table(const rocl_collector *c, size_t table, rocl_put *to, rocl_error *err)
{
    const rocl_keyed *k = c->keyed[table];
    const rocl_keyed_def *d = k->def;
    char *key = malloc(k->key_size), *sums = malloc(d->sum_size);
    rocl_status st = key && sums ? ROCL_OK : rocl_fail_memory(err);
    for (uint32_t i = 1; i < rocl_strings_count(k->keys) && st == ROCL_OK; i++) {
        memcpy(key, rocl_strings_get(k->keys, i, NULL), k->key_size);
        memset(sums, 0, d->sum_size);
        const bool good = rocl_keyed_join(k, c, i, sums), bare = is_zero(sums, d->sum_size);
        if (good && (k->values || !bare)) {
            rocl_put_number(to, KINDS * table + (bare ? BARE_GROUP : GROUP));
            for (size_t m = 0; m < d->key_count; m++)
                if (d->key[m].at < k->key_size)
                    put_member(to, d->key[m].type, key + d->key[m].at);
            for (size_t m = 0; m < d->sum_count && !bare; m++)
                put_member(to, d->sums[m].type, sums + d->sums[m].at);
            if (k->values)
                rocl_percentiles_put(k->values, i, to);
        }
        free_exact_sums(d, sums);
        st = good ? rocl_put_piece(to, err) : rocl_fail_memory(err);
    }
    free(key);
    free(sums);
    if (st == ROCL_OK && d->total_count) {
        rocl_put_number(to, KINDS * table + TOTALS);
        for (size_t m = 0; m < d->total_count; m++)
            put_member(to, d->totals[m].type, (const char *)c + d->totals[m].at);
    }
    return st;
}

rocl_status rocl_keyed_put(void *self, rocl_put *to, rocl_error *err)
{
    const rocl_collector *c = self;
    rocl_status st = ROCL_OK;
    for (size_t i = 0; i < c->keyed_count && st == ROCL_OK; i++)
        st = put_table(c, i, to, err);
    return st;
}

/* key, sums: zeroed space. */
static rocl_status take_group(rocl_collector *c, rocl_keyed *k, unsigned rank, bool bare,
                              rocl_taken *from, char *key, char *sums, rocl_error *err)
{
    const rocl_keyed_def *d = k->def;
    bool good = true;
    for (size_t m = 0; m < d->key_count; m++)
        if (d->key[m].at < k->key_size)
            good &= take_member(from, c->trace, &d->key[m], key + d->key[m].at);
    for (size_t m = 0; m < d->sum_count && !bare; m++)
        good &= take_member(from, c->trace, &d->sums[m], sums + d->sums[m].at);
    if (from->r.bad)
        return rocl_team_bad_message(err);
    const uint32_t group = good ? rocl_keyed_group(k, key) : ROCL_NONE;
    if (group != ROCL_NONE && !bare) {
        void *own = rocl_keyed_sums(k, 0, group);
        good = own && rocl_keyed_add(d, own, sums);
    }
    if (!good || group == ROCL_NONE)
        return rocl_fail_memory(err);
    if (!k->values)
        return ROCL_OK;
    return rocl_percentiles_take(k->values, rank, group, d->has_percentiles(c, key), from, err);
}

rocl_status rocl_keyed_take(void *self, unsigned rank, rocl_taken *from, rocl_error *err)
{
    rocl_collector *c = self;
    rocl_status st = ROCL_OK;
    while (!rocl_taken_all(from) && st == ROCL_OK) {
        const uint64_t number = rocl_take_number(from), what = number % KINDS;
        if (from->r.bad || number / KINDS >= c->keyed_count)
            return rocl_team_bad_message(err);
        rocl_keyed *k = c->keyed[number / KINDS];
        const rocl_keyed_def *d = k->def;
        if (what != TOTALS) {
            char *key = calloc(1, k->key_size), *sums = calloc(1, d->sum_size);
            st = key && sums ? take_group(c, k, rank, what == BARE_GROUP, from, key, sums, err)
                             : rocl_fail_memory(err);
            if (sums)
                free_exact_sums(d, sums);
            free(key);
            free(sums);
        }
        for (size_t m = 0; m < d->total_count && what == TOTALS; m++) {
            uint64_t more[4] = {0}; /* totals are numbers */
            take_member(from, c->trace, &d->totals[m], more);
            if (!from->r.bad)
                add_member(d->totals[m].type, (char *)c + d->totals[m].at, more, false);
        }
    }
    return st == ROCL_OK && from->r.bad ? rocl_team_bad_message(err) : st;
}

struct rocl_percentiles *rocl_keyed_values(void *self)
{
    return ((rocl_collector *)self)->keyed[0]->values;
}

const rocl_gather_def rocl_gather_keyed = {ROCL_GATHER_KEYED};
