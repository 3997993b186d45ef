/* Databases with events that are made up: traces that a profiler would not write. */
#ifndef TEST_STATS_WORLD_H
#define TEST_STATS_WORLD_H

#include "tests/unit/stats.h"

typedef struct world {
    sqlite3 *db;
    char path[96], suffix[64];
    uint64_t random;
} world;

/* A copy of the fixture without events, in `folder`. Agents 0 and 1 are CPUs, 2 to 5 GPUs. */
void world_copy(world *w, uint64_t seed);
/* sqlite3_mprintf, then %S (%%S in the format) is the suffix of the tables. */
void world_sql(world *w, const char *format, ...);
/* A kernel symbol. */
void world_symbol(world *w, int id, const char *name);
uint64_t draw(world *w, uint64_t below);
/* The path of the database, which lives as long as the world. */
const char *world_end(world *w);

#endif
