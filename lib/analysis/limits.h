/* What a comparison was tested for, each test a row: JUnit has them as test cases. */
#pragma once

#include "analysis/report.h"

typedef enum rocl_verdict {
    ROCL_VERDICT_FAILED,
    ROCL_VERDICT_NOT_TESTED, /* it grew, but nothing can be said of it */
    ROCL_VERDICT_PASSED,
    ROCL_VERDICT_IGNORED
} rocl_verdict;

typedef struct rocl_judgement {
    const char *rule;   /* "average" or "total"; static */
    const char *domain; /* NULL: of all domains; static */
    const char *name;   /* NULL: of the whole domain; must live until the table is made */
    size_t len;
    double before, after; /* ns */
    double percent;       /* by which it grew; may be infinite */
    double limit;
    double cost; /* ns in all */
    bool added;  /* it is not in A */
    rocl_verdict verdict;
    const char *reason; /* static, or NULL */
} rocl_judgement;

/* Zeros are none. */
typedef struct rocl_limits {
    rocl_judgement *all;
    size_t count, cap;
    bool failed; /* memory was out */
} rocl_limits;

void rocl_limits_add(rocl_limits *l, const rocl_judgement *j);
extern const rocl_table_def rocl_limits_table;
/* Counts what exceeds a limit; *worst: the highest cost so far. */
void rocl_count_growth(rocl_growth *g, const rocl_judgement *j, double *worst, rocl_tables *out);
/* Adds the table: what failed first, by how much it costs. Frees the limits. */
void rocl_limits_put(rocl_limits *l, rocl_tables *out, const rocl_collector *c);
