/* Fuzz target: job files. The first byte says in which form they are. */
#include <stdlib.h>
#include <string.h>

#include "common/job.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    job_file file;
    job_error err = {0};
    if (!size)
        return 0;
    const job_format format = data[0] == '{' ? JOB_JSON : data[0] == 'p' ? JOB_LINES : JOB_YAML;
    const bool ok = job_file_parse(&file, format, (const char *)data, size, &err);
    if (ok != !err.text[0] || (ok && !file.count))
        abort(); /* an error without a word, or the other way round */
    for (size_t i = 0; i < file.count; i++)
        for (size_t k = 0; k < file.jobs[i].count; k++) {
            const job_setting *s = &file.jobs[i].settings[k];
            if (!s->key || !s->line || !s->column)
                abort();
            for (size_t v = 0; v < s->values.n; v++)
                if (strlen(s->values.v[v]) > size * 4)
                    abort();
        }
    job_file_free(&file);
    return 0;
}
