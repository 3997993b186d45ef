#include "table/styles.h"

#include <string.h>

/* In the order in which rocprofv3 reports them. */
const rocl_style_domain rocl_style_domains[] = {
    {"HSA", "hsa", "hsa_api", "HSA_API", "hsa_stats", ""},
    {"HIP", "hip", "hip_api", "HIP_API", "hip_stats", ""},
    {"KERNELS", "kernels", "kernel", "KERNEL_DISPATCH", "stats", ""},
    {"MEMORY_COPIES", "memory_copies", "memory_copy", "MEMORY_COPY", "copy_stats", ""},
    {"MEMORY_ALLOCATIONS", "memory_allocations", "memory_allocation", "MEMORY_ALLOCATION", NULL,
     "MEMORY_ALLOCATION_"},
    {"SCRATCH_MEMORY", "scratch_memory", "scratch_memory", "SCRATCH_MEMORY", NULL,
     "SCRATCH_MEMORY_"},
    {"MARKERS", "markers", "marker_api", "MARKER_API", NULL, ""},
    {"RCCL", "rccl", "rccl_api", "RCCL_API", NULL, ""},
    {"ROCDECODE", "rocdecode", "rocdecode_api", "ROCDECODE_API", NULL, ""},
    {"ROCJPEG", "rocjpeg", "rocjpeg_api", "ROCJPEG_API", NULL, ""},
};

const size_t rocl_style_domain_count = sizeof rocl_style_domains / sizeof *rocl_style_domains;

const rocl_table *rocl_style_table(const rocl_tables *t, const char *key)
{
    for (size_t i = 0; i < t->count; i++)
        if (!strcmp(t->tables[i].key, key))
            return &t->tables[i];
    return NULL;
}

static const rocl_datum *cell(const rocl_table *t, size_t row, const char *key)
{
    static const rocl_datum none;
    for (size_t c = 0; c < t->column_count; c++)
        if (!strcmp(t->columns[c].key, key))
            return rocl_table_cell(t, row, c);
    return &none;
}

static int64_t integer(const rocl_datum *d)
{
    return d->is == ROCL_DATUM_INT ? d->i : d->is == ROCL_DATUM_REAL ? (int64_t)d->r : 0;
}

static double real(const rocl_datum *d)
{
    return d->is == ROCL_DATUM_INT ? (double)d->i : rocl_table_has_value(d) ? d->r : 0;
}

rocl_style_row rocl_style_row_of(const rocl_table *t, size_t row)
{
    const rocl_datum *name = cell(t, row, "name"), *domain = cell(t, row, "domain");
    const rocl_datum *stddev = cell(t, row, "stddev_ns");
    return (rocl_style_row){
        .domain = domain->is == ROCL_DATUM_TEXT ? domain->text : "",
        .name = name->is == ROCL_DATUM_TEXT ? name->text : "",
        .name_len = name->is == ROCL_DATUM_TEXT ? name->len : 0,
        .calls = integer(cell(t, row, "calls")),
        .total = integer(cell(t, row, "total_ns")),
        .min = integer(cell(t, row, "min_ns")),
        .max = integer(cell(t, row, "max_ns")),
        .average = real(cell(t, row, "average_ns")),
        .percent = real(cell(t, row, "percent")),
        .stddev = real(stddev),
        .single = !rocl_table_has_value(stddev),
        .range = rocl_table_has_value(cell(t, row, "min_ns")),
    };
}

void rocl_style_put_name(rocl_buf *b, const rocl_style_domain *d, const rocl_style_row *r)
{
    size_t n = strlen(d->operation);
    if (r->name_len < n || memcmp(r->name, d->operation, n) != 0)
        rocl_buf_str(b, d->operation);
    rocl_buf_put(b, r->name, r->name_len);
}
