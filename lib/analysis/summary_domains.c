/* The table of domains. */
#include <stdlib.h>

#include "analysis/summary.h"

static const rocl_table_column domain_columns[] = {
    {"name", "Domain", ROCL_UNIT_TEXT},  {"calls", "Calls", ROCL_UNIT_COUNT},
    {"total_ns", "Total", ROCL_UNIT_NS}, {"average_ns", "Average", ROCL_UNIT_NS},
    {"percent", "%", ROCL_UNIT_PERCENT}, {"min_ns", "Min", ROCL_UNIT_NS},
    {"max_ns", "Max", ROCL_UNIT_NS},     {"stddev_ns", "StdDev", ROCL_UNIT_NS},
};

static void domain_row(rocl_tables *out, rocl_datum *r, rocl_domain d, const rocl_distribution *sum,
                       int64_t all)
{
    r[0] = rocl_cell_of_string(out, rocl_domain_name(d));
    r[1] = rocl_datum_int((int64_t)sum->taken);
    r[2] = rocl_datum_int(sum->total);
    r[3] = rocl_datum_real(rocl_distribution_average(sum));
    r[4] = rocl_cell_of_share(sum->total, all);
    r[5] = rocl_datum_int(sum->min);
    r[6] = rocl_datum_int(sum->max);
    r[7] = rocl_stddev_datum(sum);
}

/* From the events, not from averages of averages: groups are merged exactly. */
static rocl_status sum_domains(const summary *s, rocl_distribution sums[ROCL_DOMAINS],
                               rocl_error *err)
{
    for (unsigned d = 0; d < ROCL_DOMAINS; d++) {
        size_t n;
        if (!rocl_domain_listed(s->c.options->domains, (rocl_domain)d))
            continue;
        summary_group **list = rocl_summary_select(s, 1u << d, OF_NAMES, &n);
        if (!list)
            return rocl_fail_memory(err);
        sums[d] = rocl_summary_sum(list, n);
        free(list);
    }
    return ROCL_OK;
}

/* Of those that are left; ROCL_DOMAINS: none is. */
static unsigned longest_domain(const rocl_distribution sums[ROCL_DOMAINS])
{
    unsigned best = ROCL_DOMAINS;
    for (unsigned d = 0; d < ROCL_DOMAINS; d++)
        if (sums[d].taken && (best == ROCL_DOMAINS || sums[d].total > sums[best].total))
            best = d;
    return best;
}

rocl_status rocl_domain_table(const summary *s, rocl_tables *out, rocl_error *err)
{
    rocl_distribution sums[ROCL_DOMAINS] = {{0}};
    int64_t all = 0;
    rocl_table *t = rocl_tables_add(out, "domains", "Time by domain", domain_columns,
                                    sizeof domain_columns / sizeof *domain_columns);
    rocl_status st = t ? sum_domains(s, sums, err) : rocl_fail_memory(err);
    for (unsigned d = 0; d < ROCL_DOMAINS; d++)
        all = rocl_add_saturated(all, sums[d].total);
    for (unsigned d; st == ROCL_OK && (d = longest_domain(sums)) < ROCL_DOMAINS;) {
        rocl_datum *r = rocl_table_row(t);
        if (!r)
            return rocl_fail_memory(err);
        domain_row(out, r, (rocl_domain)d, &sums[d], all);
        sums[d].taken = 0;
    }
    return st;
}
