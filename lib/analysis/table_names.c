/* What the tables of reports and comparisons are called. */
#include "analysis/report.h"

const char *rocl_table_word(const void *ctx, size_t i)
{
    size_t reports = 0;
    (void)ctx;
    while (rocl_report_table_def(reports))
        reports++;
    if (i < reports)
        return rocl_report_table_def(i)->key;
    i -= reports;
    for (const rocl_table_def *const *d = rocl_finding_tables; *d; d++)
        if (i-- == 0)
            return (*d)->key;
    for (const rocl_table_def *const *d = rocl_compare_tables; *d; d++)
        if (i-- == 0)
            return (*d)->key;
    return NULL;
}

const char *rocl_table_title(const char *key)
{
    const rocl_table_def *d;
    for (size_t i = 0; (d = rocl_report_table_def(i)); i++)
        if (!strcmp(d->key, key))
            return d->title;
    return "";
}
