/* Names as the options ask for them, and the few facts that hide in JSON columns. */
#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>

#include "source/json.h"
#include "source/kernel_name.h"
#include "source/rocpd/rocpd.h"

void rocpd_name_kernel(rocl_trace *t, rocl_kernel *k, const char *extdata, size_t len)
{
    bool bad = false;
    uint32_t truncated = ROCL_NONE;
    if (t->opt.kernel_names == ROCL_NAMES_TRUNCATED && len)
        truncated = rocl_json_text(t, extdata, len, "truncated_kernel_name", &bad);
    k->shown = rocl_kernel_shown(t, k->mangled, k->display, truncated);
}

void rocpd_label_agent(rocl_trace *t, rocl_agent *a)
{
    char label[64];
    const char *word = "Agent";
    int64_t n = a->logical_index;
    if (t->opt.agent_index == ROCL_INDEX_ABSOLUTE) {
        n = a->absolute_index;
    } else if (t->opt.agent_index == ROCL_INDEX_TYPE_RELATIVE) {
        n = a->type_index;
        if (a->type != ROCL_AGENT_OTHER)
            word = rocl_str(t, a->type_name);
    }
    int len = snprintf(label, sizeof label, "%s %lld", word, (long long)(n < 0 ? a->id : n));
    a->label = rocl_strings_put(t->strings, label, (size_t)len);
}

/* Launchers leave the rank in the environment; only that number is taken out of it. */
int32_t rocpd_rank_of(const char *environment)
{
    static const char *const keys[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK",      "PMI_RANK",
                                       "MV2_COMM_WORLD_RANK",  "FLUX_TASK_RANK", "PALS_RANKID",
                                       "ALPS_APP_PE",          "SLURM_PROCID",   "RANK"};
    cJSON *root = cJSON_Parse(environment);
    int32_t rank = -1;
    for (size_t i = 0; root && i < sizeof keys / sizeof *keys && rank < 0; i++) {
        const cJSON *v = cJSON_GetObjectItemCaseSensitive(root, keys[i]);
        double d = cJSON_IsNumber(v) ? v->valuedouble : -1;
        if (cJSON_IsString(v) && v->valuestring[0] >= '0' && v->valuestring[0] <= '9')
            d = atof(v->valuestring);
        if (d >= 0 && d < INT32_MAX)
            rank = (int32_t)d;
    }
    cJSON_Delete(root);
    return rank;
}
