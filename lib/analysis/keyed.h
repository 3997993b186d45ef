/* Sums by key: what most reports collect. A report describes its key and its sums member by member;
 * the core has the sums of each worker, makes rows and their order from them, and carries them from
 * the ranks of a team to rank 0, with values for percentiles where they are wanted. */
#pragma once

#include "analysis/gather.h"
#include "analysis/percentiles.h"
#include "base/exact.h"
#include "base/map.h"

typedef enum rocl_member_type {
    /* Members of a key. Rows are in their order: */
    ROCL_KEY_TEXT,   /* uint32_t: a text of the trace, by its bytes */
    ROCL_KEY_NUMBER, /* uint32_t */
    ROCL_KEY_ID,     /* int32_t, -1 for none */
    ROCL_KEY_INT,    /* int64_t */
    ROCL_KEY_REAL,   /* double */
    ROCL_KEY_AGENT,  /* rocl_agent_key */
    ROCL_KEY_SIZES,  /* uint32_t[3], by their bytes */
    /* Sums. The first one is a count; where it is 0, the least and the greatest are not known: */
    ROCL_SUM_COUNT,         /* uint64_t */
    ROCL_SUM_INT,           /* int64_t: of numbers that are not negative; saturates */
    ROCL_SUM_LEAST,         /* int64_t: not negative */
    ROCL_SUM_GREATEST,      /* the same */
    ROCL_SUM_REAL,          /* double */
    ROCL_SUM_REAL_LEAST,    /* double, in the order of their bits, which -0 and NaN are in, too */
    ROCL_SUM_REAL_GREATEST, /* the same */
    ROCL_SUM_EXACT,         /* rocl_exact_sum */
    ROCL_SUM_LONGEST,       /* rocl_longest */
} rocl_member_type;

typedef struct rocl_member {
    size_t at;
    rocl_member_type type;
    uint32_t below; /* numbers and ids of a key are below this; 0: any may come */
} rocl_member;

#define ROCL_MEMBER(record, member, type)                                                          \
    {                                                                                              \
        offsetof(record, member), ROCL_##type, 0                                                   \
    }
#define ROCL_MEMBER_BELOW(record, member, type, below)                                             \
    {                                                                                              \
        offsetof(record, member), ROCL_##type, below                                               \
    }
/* Members of a rocl_keyed_def: */
#define ROCL_KEY_MEMBERS(list) .key = (list), .key_count = sizeof(list) / sizeof *(list)
#define ROCL_SUM_MEMBERS(list) .sums = (list), .sum_count = sizeof(list) / sizeof *(list)
#define ROCL_TOTALS(list)      .totals = (list), .total_count = sizeof(list) / sizeof *(list)

/* The longest event of a group; of equal ones the first. Zeroed: none has come. */
typedef struct rocl_longest {
    int64_t duration, start;
    rocl_event_ref event;
} rocl_longest;

/* Keys are interned as bytes: they have no holes. A row begins with a key, behind it are the sums.
 */
typedef struct rocl_keyed_def {
    size_t key_size, sum_size;
    const rocl_member *key;
    size_t key_count;
    const rocl_member *sums;
    size_t sum_count;
    const rocl_member *totals; /* members of the collector's struct: sums without a key; or none */
    size_t total_count;
    /* Groups have values: are the percentiles of this one wanted? NULL: groups have no values. */
    bool (*has_percentiles)(const void *self, const void *key);
} rocl_keyed_def;

/* The sums of a worker. */
struct rocl_worker_sums {
    char *of; /* by group */
    size_t cap;
    rocl_map words; /* groups by keys of one word: see rocl_keyed_at */
};

/* A member of a collector's struct. */
struct rocl_keyed {
    const rocl_keyed_def *def;
    size_t key_size;          /* as in the definition; `open` may set a smaller one */
    rocl_strings *keys;       /* their ids are the groups, from 1 on */
    rocl_percentiles *values; /* by group, if there are any */
    struct rocl_worker_sums *workers;
};

/* The collector frees it. */
rocl_status rocl_keyed_open(rocl_keyed *k, const rocl_keyed_def *def, rocl_collector *c,
                            rocl_error *err);
void rocl_keyed_close(rocl_keyed *k, unsigned workers);

/* The group of a key. ROCL_NONE: memory is out. */
uint32_t rocl_keyed_group(rocl_keyed *k, const void *key);
/* The sums that a worker adds to. NULL: memory is out. */
void *rocl_keyed_sums(rocl_keyed *k, unsigned worker, uint32_t group);
void *rocl_keyed_at(rocl_keyed *k, unsigned worker, const void *key);
/* When all keys have come: the sums of all groups in one array, groups[id], which is the one of
 * worker 0. NULL: memory is out. */
void *rocl_keyed_all(rocl_keyed *k);

/* Adds sums to sums. False: memory is out, which happens for exact ones only. */
bool rocl_keyed_add(const rocl_keyed_def *def, void *sums, const void *more);
void rocl_keep_longest(rocl_longest *l, const rocl_longest *other);
/* Adds the sums of a group of all workers. */
bool rocl_keyed_join(const rocl_keyed *k, const rocl_collector *c, uint32_t group, void *sums);
/* Rows of `size` bytes, which the caller frees: a key, the sums of all workers, zeros. There is
 * none where the first sum is 0. NULL: memory is out. Not for exact sums. */
void *rocl_keyed_rows(const rocl_keyed *k, const rocl_collector *c, size_t size, size_t *count);
/* The order of two rows by their keys. */
int rocl_keyed_compare(const rocl_keyed_def *def, const rocl_trace *t, const void *row,
                       const void *other);

/* For rocl_gather_def: all keyed sums of a collector, the first of which may have values. */
rocl_status rocl_keyed_put(void *self, rocl_put *to, rocl_error *err);
rocl_status rocl_keyed_take(void *self, unsigned rank, rocl_taken *from, rocl_error *err);
struct rocl_percentiles *rocl_keyed_values(void *self);
#define ROCL_GATHER_KEYED                                                                          \
    .put = rocl_keyed_put, .take = rocl_keyed_take, .samples = rocl_keyed_values
/* Where they are complete when the last event has come. */
extern const rocl_gather_def rocl_gather_keyed;
