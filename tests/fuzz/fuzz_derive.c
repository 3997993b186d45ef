/* Fuzz target: files of derived counters, in both forms, and their evaluation. */
#include <stdlib.h>

#include "derive/derive.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Every second symbol is an operand, of one or several instances. */
static void evaluate_all(rocl_derive *d, rocl_derive_program *p)
{
    size_t symbols = rocl_derive_symbols(d), n;
    rocl_operand *values = calloc(symbols, sizeof *values);
    rocl_buf text = {0};
    if (!values)
        return;
    static const rocl_derive_instance each[] = {{1, {0, -1, 0, -1, -1}}, {2, {1, -1, 3, -1, -1}}};
    for (size_t i = 0; i < symbols; i += 2)
        values[i] = (rocl_operand){.known = true,
                                   .instances = (uint32_t)(i % 3),
                                   .sum = (double)(i % 5),
                                   .max = (double)(i % 5),
                                   .each = i % 3 == 2 ? each : NULL};
    rocl_derive_values(p, values);
    rocl_derive_metrics(p, &n);
    for (size_t i = 0; i < n; i++) {
        const rocl_derived v = rocl_derive_value(p, i);
        unsigned missing = rocl_derive_missing(p, i, &text);
        if ((v.state == ROCL_DERIVED_MISSING) != (missing > 0))
            abort(); /* nothing is missing, or nothing says what */
    }
    rocl_buf_free(&text);
    free(values);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    rocl_derive *d = rocl_derive_new();
    rocl_error *err = rocl_error_new();
    rocl_derive_program *p = NULL;
    rocl_status st = rocl_derive_parse(d, "/nowhere/file", (const char *)data, size, err);
    if ((st == ROCL_OK) != (rocl_error_text(err)[0] == 0))
        abort(); /* an error without a word, or the other way round */
    if (st == ROCL_OK && rocl_derive_program_new(&p, d, "gfx1", NULL, 0, err) == ROCL_OK)
        evaluate_all(d, p);
    rocl_derive_program_free(p);
    rocl_derive_free(d);
    rocl_error_free(err);
    return 0;
}
