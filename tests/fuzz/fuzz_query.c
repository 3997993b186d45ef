/* Fuzz target: texts of SQL over a small trace. */

#include <sys/mman.h>
#include <unistd.h>

#include "rocline.h"
#include "tests/fuzz/image.h"

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
    return *rows < 5000 ? ROCL_OK : ROCL_OUTPUT;
}

/* A trace of two processes, in memory. */
static rocl_trace *open_world(void)
{
    static image_world world;
    static uint8_t bytes[IMAGE_BYTES];
    char path[64];
    const char *const inputs[] = {path};
    rocl_trace *t = NULL;
    const int fd = memfd_create("fuzz-query", MFD_CLOEXEC);
    image_load(&world, "tests/fuzz/worlds/rocpd3.sql");
    const size_t n = image_make(&world, (const uint8_t *)"\x0b", 1, bytes);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (fd < 0 || pwrite(fd, bytes, n, 0) != (ssize_t)n ||
        rocl_trace_open(&t, inputs, 1, &(rocl_options){.jobs = 1}, NULL) > ROCL_PARTIAL)
        abort();
    return t;
}

/* The views of a query take longer to make than most statements to run, so one serves for many:
 * what a statement leaves behind (a temporary view) is seen by those after it. */
static rocl_query *open_query(rocl_query *q)
{
    enum { USES = 500 };
    static rocl_trace *t;
    static unsigned uses;
    if (!t)
        t = open_world();
    if (q && uses++ % USES)
        return q;
    rocl_query_close(q);
    if (rocl_query_open(&q, t, &(rocl_query_options){.seconds = 1}, NULL) != ROCL_OK)
        abort();
    return q;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static rocl_query *q;
    rocl_error *err = rocl_error_new();
    char *sql = malloc(size + 1);
    size_t rows = 0;
    if (!sql || !err)
        abort();
    q = open_query(q);
    memcpy(sql, data, size);
    sql[size] = '\0';
    const rocl_status st = rocl_query_run(q, sql, count_row, &rows, err);
    if (st > ROCL_PARTIAL && st != ROCL_OUTPUT && !*rocl_error_text(err))
        abort(); /* an error without a word */
    rocl_error_free(err);
    free(sql);
    return 0;
}
