/* Cells as charts need them: lengths, numbers of any sign, comparisons. */
#include "table/html/html.h"

#include <math.h>
#include <string.h>

double rocl_cell_length(const rocl_table *t, size_t row, size_t column)
{
    return column < t->column_count ? fmax(rocl_datum_number(rocl_table_cell(t, row, column)), 0)
                                    : 0;
}

double rocl_cell_number(const rocl_table *t, size_t row, size_t column)
{
    const double v =
        column < t->column_count ? rocl_datum_number(rocl_table_cell(t, row, column)) : 0;
    return isfinite(v) ? v : 0;
}

bool rocl_cell_is_same(const rocl_table *t, size_t a, size_t b, size_t column)
{
    const rocl_datum *x = rocl_table_cell(t, a, column), *y = rocl_table_cell(t, b, column);
    return x->type == y->type && x->len == y->len &&
           (x->type == ROCL_DATUM_TEXT ? !x->len || !memcmp(x->text, y->text, x->len)
                                       : x->type == ROCL_DATUM_NONE || x->i == y->i);
}

bool rocl_datum_is(const rocl_datum *d, const char *text)
{
    return d->type == ROCL_DATUM_TEXT && d->len == strlen(text) && !memcmp(d->text, text, d->len);
}
