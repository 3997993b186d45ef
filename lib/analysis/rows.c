/* What reports that are tables of groups have in common. */
#include <stdio.h>

#include "analysis/analysis.h"

rocl_datum rocl_others_datum(rocl_tables *out, size_t n)
{
    char text[64];
    int len = snprintf(text, sizeof text, "(%zu others)", n);
    return rocl_datum_text(out, text, (size_t)len);
}

rocl_datum rocl_id_datum(int64_t id)
{
    return id >= 0 ? rocl_datum_int(id) : (rocl_datum){0};
}

rocl_datum rocl_average_datum(int64_t total, uint64_t count)
{
    return count ? rocl_datum_real((double)total / (double)count) : (rocl_datum){0};
}

rocl_datum rocl_stddev_datum(const rocl_distribution *d)
{
    double v;
    return rocl_distribution_stddev(d, &v) ? rocl_datum_real(v) : (rocl_datum){0};
}

rocl_status rocl_tables_verdict(const rocl_tables *out, const rocl_trace *t, rocl_error *err)
{
    return out->incomplete || !rocl_strings_complete(t->strings) ? rocl_fail_memory(err) : ROCL_OK;
}
