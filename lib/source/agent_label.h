/* What an agent is called in outputs. */
#ifndef ROCL_SOURCE_AGENT_LABEL_H
#define ROCL_SOURCE_AGENT_LABEL_H

#include "model/trace.h"

/* Sets the label by --agent-index-value. */
void rocl_label_agent(rocl_trace *t, rocl_agent *a);
/* The same with the name that the program gave it behind: "Agent 2 (trainer)". */
void rocl_label_named_agent(rocl_trace *t, rocl_agent *a);

#endif
