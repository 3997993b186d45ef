/* Fuzz target: texts of SQL over a small trace. */
#include <stdlib.h>
#include <string.h>

#include "rocline.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static rocl_status count_row(void *ctx, const rocl_result_row *r, rocl_error *err)
{
    (void)err;
    size_t *rows = ctx;
    size_t bytes = 0;
    for (size_t i = 0; r->values && i < r->count; i++)
        for (size_t k = 0; k < r->values[i].len; k++)
            bytes += (unsigned char)r->values[i].text[k] == 7;
    *rows += bytes + 1;
    return *rows < 100000 ? ROCL_OK : ROCL_OUTPUT;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static rocl_trace *t;
    const char *const inputs[] = {"tests/fixtures/demo.db"};
    rocl_error *err = rocl_error_new();
    rocl_query *q = NULL;
    char *sql = malloc(size + 1);
    size_t rows = 0;
    if (!t && rocl_trace_open(&t, inputs, 1, &(rocl_options){.jobs = 2}, err) > ROCL_PARTIAL)
        abort();
    if (!sql)
        return 0;
    memcpy(sql, data, size);
    sql[size] = '\0';
    if (rocl_query_open(&q, t, &(rocl_query_options){.seconds = 1}, err) != ROCL_OK)
        abort();
    const rocl_status st = rocl_query_run(q, sql, count_row, &rows, err);
    if (st > ROCL_PARTIAL && st != ROCL_OUTPUT && !*rocl_error_text(err))
        abort(); /* an error without a word */
    rocl_query_close(q);
    rocl_error_free(err);
    free(sql);
    return 0;
}
