/* Values and the events that own them. Both lie in tables that point to an event by id, in any
 * order and without an index. First pass: the values go into a sorter by event id, arguments also
 * by their position, and the ids into a set. Second pass: an event whose id is in the set (an
 * owner) goes into a sorter as well (values.c). Then the two sorted streams are merged, in parts,
 * and every owner meets its values (join.c). */
#ifndef ROCL_ROCPD_JOIN_H
#define ROCL_ROCPD_JOIN_H

#include <stdalign.h>
#include <stddef.h>

#include "source/rocpd/rocpd.h"

/* What the id of an owner means: ids of events and of samples are different numbers. */
typedef enum rocpd_class { JOIN_BY_EVENT, JOIN_BY_SAMPLE, JOIN_BY_ARGS, JOIN_CLASSES } rocpd_class;

/* In the place of the kind of an owner: it is not in the trace. */
enum { JOIN_DROPPED = 0xff };

/* The key of a value; that of an owner has its row after the first two. The place is the class and
 * as much of the owner's id as fits. */
enum { JOIN_PLACE, JOIN_OWNER, JOIN_POSITION, JOIN_ROW, JOIN_KEYS };
#define JOIN_CLASS_SHIFT 62

static inline void rocpd_join_key(uint64_t *key, rocpd_class class, uint64_t owner)
{
    key[JOIN_PLACE] = (uint64_t) class << JOIN_CLASS_SHIFT | owner >> (64 - JOIN_CLASS_SHIFT);
    key[JOIN_OWNER] = owner;
}

static inline rocpd_class rocpd_join_class(const uint64_t *key)
{
    return (rocpd_class)(key[JOIN_PLACE] >> JOIN_CLASS_SHIFT);
}

/* A record holds it up to the counter where there is no place (of dispatches, of which there are
 * many), up to the name where there is a text, which follows, or all of it. */
typedef struct rocpd_value {
    double number;
    uint32_t counter;
    uint32_t type, name; /* of an argument */
    int64_t place[5];    /* xcc, shader_engine, instance, shader_array, wgp; -1: none */
} rocpd_value;

static const rocpd_value rocpd_value_nowhere = {.place = {-1, -1, -1, -1, -1}};

#define JOIN_PLAIN_SIZE offsetof(rocpd_value, type)
#define JOIN_ARG_SIZE   offsetof(rocpd_value, place)

/* Those that values of one class point to. */
typedef struct rocpd_owners {
    rocl_idset ids;
    uint64_t values;      /* how many */
    uint64_t first, last; /* places */
} rocpd_owners;

typedef struct rocpd_seen { /* by a worker */
    alignas(ROCL_CACHE_LINE) rocpd_owners of[JOIN_CLASSES];
} rocpd_seen;

struct rocpd_join {
    rocpd_set *set;
    rocl_sorter *values, *owners;
    rocpd_seen *seen;
    unsigned workers;
};

#endif
