#include "source/agent_label.h"

#include <stdio.h>

/* By what --agent-index-value says. */
static size_t print_label(const rocl_trace *t, const rocl_agent *a, char *label, size_t size)
{
    const char *word = "Agent";
    int64_t n = a->logical_index;
    if (t->opt.agent_index == ROCL_INDEX_ABSOLUTE) {
        n = a->absolute_index;
    } else if (t->opt.agent_index == ROCL_INDEX_TYPE_RELATIVE) {
        n = a->type_index;
        if (a->type != ROCL_AGENT_OTHER)
            word = rocl_str(t, a->type_name);
    }
    return (size_t)snprintf(label, size, "%s %lld", word, (long long)(n < 0 ? a->id : n));
}

void rocl_label_agent(rocl_trace *t, rocl_agent *a)
{
    char label[64];
    a->label = rocl_strings_put(t->strings, label, print_label(t, a, label, sizeof label));
}

void rocl_label_named_agent(rocl_trace *t, rocl_agent *a)
{
    char label[400];
    size_t n = print_label(t, a, label, sizeof label);
    n += (size_t)snprintf(label + n, sizeof label - n, " (%.300s)", rocl_str(t, a->user_name));
    a->label = rocl_strings_put(t->strings, label, n);
}
