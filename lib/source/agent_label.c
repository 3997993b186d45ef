#include "source/agent_label.h"

#include <stdio.h>

void rocl_label_agent(rocl_trace *t, rocl_agent *a)
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
