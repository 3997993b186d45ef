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
    const char *rule;     /* "average" or "total"; static */
    const char *domain;   /* NULL: of all domains; static */
    rocl_view name;       /* NULL: of the whole domain; must live until the table is made */
    double before, after; /* ns */
    double percent;       /* by which it grew; may be infinite */
    double limit;
    double cost; /* ns in all */
    bool added;  /* it is not in A */
    rocl_verdict verdict;
    const char *reason; /* static, or NULL */
} rocl_judgement;

typedef struct rocl_limits {
    rocl_gate *gate;
    rocl_judgement *all;
    size_t count, cap;
    bool failed;              /* memory was out */
    bool has[2], has_more[2]; /* A and B: names that are tested, and others */
} rocl_limits;

/* Empties all of the gate but its limits. */
rocl_limits rocl_limits_begin(rocl_gate *g);
/* Is this name tested, which A and B have so often? Other kernels are judged as ignored. */
bool rocl_limits_test(rocl_limits *l, const rocl_collector *c, unsigned domain, rocl_view name,
                      const uint64_t calls[2]);
/* Sets the percentage, the verdict and the reason of the rest. ignored: why it does not count, or
 * NULL; doubt: why growth is no failure but `doubtful`, unless the name is new; or NULL. */
void rocl_judge(rocl_judgement *j, const char *ignored, const char *doubt, rocl_verdict doubtful);
/* grown: counts what fails, NULL: nothing does; listed: the table has it. */
void rocl_limits_add(rocl_limits *l, const rocl_judgement *j, rocl_growth *grown, bool listed,
                     rocl_tables *out);
extern const rocl_table_def rocl_limits_table;
/* Adds the table, unless there are no limits, or no such tables are wanted: what failed first, by
 * how much it costs. Says in the gate whether anything was tested. Frees the limits. */
void rocl_limits_put(rocl_limits *l, rocl_tables *out, const rocl_collector *c);
