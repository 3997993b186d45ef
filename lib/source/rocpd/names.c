/* Names as the options ask for them, and the few facts that hide in JSON columns. */
#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>

#include "source/json.h"
#include "source/rocpd/rocpd.h"
#include "source/rocpd/short_name.h"

static uint32_t short_name(rocl_trace *t, uint32_t full)
{
    size_t n;
    rocl_buf name = {0};
    const char *s = rocl_strings_get(t->strings, full, &n);
    rocpd_short_name(&name, s, n);
    uint32_t text = full;
    if (name.len && !name.failed)
        text = rocl_strings_put(t->strings, (const char *)name.data, name.len);
    rocl_buf_free(&name);
    return text;
}

void rocpd_name_kernel(rocl_trace *t, rocl_kernel *k, const char *extdata, size_t len)
{
    bool bad = false;
    uint32_t text = ROCL_NONE;
    switch (t->opt.kernel_names) {
    case ROCL_NAMES_MANGLED:
        text = k->mangled ? rocl_kernel_without_kd(t, k->mangled) : k->display;
        break;
    case ROCL_NAMES_SHORT:
        text = short_name(t, k->display);
        break;
    case ROCL_NAMES_TRUNCATED:
        if (len)
            text = rocl_json_text(t, extdata, len, "truncated_kernel_name", &bad);
        if (text == ROCL_NONE || text == 0)
            text = short_name(t, k->display);
        text = rocl_kernel_without_kd(t, text);
        break;
    default:
        break;
    }
    k->shown = text == ROCL_NONE ? k->display : text;
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
