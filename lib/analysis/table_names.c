/* What the tables of reports and comparisons are called. */
#include "analysis/report.h"

/* The i-th of a list, skipping repeated keys, or NULL; subtracts the length of the list from i. */
static const char *key_at(const rocl_table_def *const *all, size_t *i)
{
    for (const rocl_table_def *const *d = all; *d; d++)
        if ((d == all || strcmp(d[-1]->key, (*d)->key) != 0) && !(*i)--)
            return (*d)->key;
    return NULL;
}

const char *rocl_table_word(const void *ctx, size_t i)
{
    const char *key = NULL;
    (void)ctx;
    for (size_t r = 0; r < ROCL_REPORTS && !key; r++)
        key = key_at(rocl_report_defs[r]->tables, &i);
    key = key ? key : key_at(rocl_advice_tables, &i);
    return key ? key : key_at(rocl_compare_tables, &i);
}
