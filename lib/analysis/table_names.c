/* What the tables of reports and comparisons are called. */
#include "analysis/report.h"

/* The i-th of a list, skipping repeated keys, or NULL; subtracts the length of the list from i. */
static const rocl_table_def *table_at(const rocl_table_def *const *all, size_t *i)
{
    for (const rocl_table_def *const *d = all; *d; d++)
        if ((d == all || strcmp(d[-1]->key, (*d)->key) != 0) && !(*i)--)
            return *d;
    return NULL;
}

const char *rocl_report_table(rocl_report r, size_t i, const char **title)
{
    const rocl_table_def *d =
        (unsigned)r < ROCL_REPORTS ? table_at(rocl_report_defs[r]->tables, &i) : NULL;
    *title = d ? d->title : "";
    return d ? d->key : NULL;
}

const char *rocl_table_word(const void *ctx, size_t i)
{
    const rocl_table_def *d = NULL;
    (void)ctx;
    for (size_t r = 0; r < ROCL_REPORTS && !d; r++)
        d = table_at(rocl_report_defs[r]->tables, &i);
    d = d ? d : table_at(rocl_advice_tables, &i);
    d = d ? d : table_at(rocl_compare_tables, &i);
    return d ? d->key : NULL;
}
