/* Fuzz target: the index of a package (index.yaml). */
#include <stdlib.h>

#include "source/index_yaml.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    rocl_index index = {0};
    rocl_error *err = rocl_error_new();
    rocl_status st = rocl_index_parse(&index, (const char *)data, size, err);
    if ((st == ROCL_OK) != (rocl_error_text(err)[0] == 0))
        abort(); /* an error without a word, or the other way round */
    for (size_t i = 0; st == ROCL_OK && i < index.count; i++)
        if (!index.files[i].name[0])
            abort();
    rocl_index_free(&index);
    rocl_error_free(err);
    return 0;
}
