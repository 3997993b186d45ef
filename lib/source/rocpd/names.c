/* Names as the options ask for them, and the few facts that hide in JSON columns. */
#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/text.h"
#include "source/reader.h"
#include "source/rocpd/rocpd.h"

void rocpd_name_kernel(rocl_trace *t, rocl_kernel *k, const char *extdata, size_t len)
{
    bool bad = false;
    uint32_t truncated = ROCL_NONE;
    if (t->opt.kernel_names == ROCL_NAMES_TRUNCATED && len)
        truncated = rocl_json_text(t, extdata, len, "truncated_kernel_name", &bad);
    k->shown = rocl_kernel_shown(t, k->mangled, k->display, truncated);
}

/* Launchers leave the rank in the environment; only that number is taken out of it. */
static const char *const rank_keys[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK",      "PMI_RANK",
                                        "MV2_COMM_WORLD_RANK",  "FLUX_TASK_RANK", "PALS_RANKID",
                                        "ALPS_APP_PE",          "SLURM_PROCID",   "RANK"};

enum { RANK_KEYS = sizeof rank_keys / sizeof *rank_keys };

/* The value of a variable as a rank; -1 when it is none. */
static int32_t rank_in(const cJSON *environment, const char *key)
{
    const cJSON *v = cJSON_GetObjectItemCaseSensitive(environment, key);
    double d = cJSON_IsNumber(v) ? v->valuedouble : -1;
    if (cJSON_IsString(v) && v->valuestring[0] >= '0' && v->valuestring[0] <= '9')
        d = atof(v->valuestring);
    return d >= 0 && d < INT32_MAX ? (int32_t)d : -1;
}

bool rocpd_rank_of(const char *environment, int32_t *rank)
{
    cJSON *root;
    *rank = -1;
    if (!rocl_json_read(&root, environment, strlen(environment)))
        return false;
    for (size_t i = 0; root && i < RANK_KEYS && *rank < 0; i++)
        *rank = rank_in(root, rank_keys[i]);
    cJSON_Delete(root);
    return true;
}

char *rocpd_rank_environment(const char *environment)
{
    rocl_buf b = {0};
    cJSON *root;
    if (!rocl_json_read(&root, environment, strlen(environment)))
        return NULL;
    rocl_buf_byte(&b, '{');
    for (size_t i = 0; root && i < RANK_KEYS; i++) {
        int32_t rank = rank_in(root, rank_keys[i]);
        char text[64];
        if (rank < 0)
            continue;
        snprintf(text, sizeof text, "%s\"%s\": \"%d\"", b.len > 1 ? ", " : "", rank_keys[i], rank);
        rocl_buf_str(&b, text);
    }
    rocl_buf_put(&b, "}", 2);
    cJSON_Delete(root);
    if (b.failed)
        rocl_buf_free(&b);
    return (char *)b.data;
}
