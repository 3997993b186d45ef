/* For the tests of filters: a small trace made up in memory, and what passes of it. */
#ifndef TEST_FILTER_WORLD_H
#define TEST_FILTER_WORLD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "filter/filter.h"
#include "filter/stages.h"
#include "model/identity.h"

#define NONE      ROCL_NONE
#define LIST(...) ((const char *const[]){__VA_ARGS__, NULL})
#define COUNT(a)  (sizeof(a) / sizeof(a)[0])
#define FIRST     100
#define LAST      1000

/* Ids of all events: filter_world.c has the table of them. */
#define ALL "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22"

typedef struct world {
    rocl_trace trace;
    rocl_model_capture captures[2];
    rocl_model_capture *list[2];
    rocl_process processes[2][2];
    rocl_agent agents[2][3];
    char notices[512];
} world;

world *world_new(const rocl_options *opt);
void world_free(world *w);
uint32_t text(world *w, const char *s);

/* What the sink asked for. */
extern uint32_t kinds_read;

/* Ids of what passes, "1 2 5"; with times "1@100-200 ..."; or the error. */
void run(const rocl_options *opt, bool times, char *result, size_t size, char *notices);

typedef struct row {
    rocl_options opt;
    const char *passes;
} row;

void check_rows(const row *rows, size_t count, bool times);

#define CHECK(rows) check_rows(rows, COUNT(rows), false)

#endif
