/* The few facts that hide in JSON columns. One that is not found for want of memory is noted as a
 * text of the trace that was lost. */
#ifndef ROCL_SOURCE_JSON_H
#define ROCL_SOURCE_JSON_H

#include "model/trace.h"

/* The string at a top-level key of a JSON object, as a text; ROCL_NONE when it has none. *bad when
 * the JSON does not parse. */
uint32_t rocl_json_text(rocl_trace *t, const char *json, size_t len, const char *key, bool *bad);

/* An unsigned number at a key, written as number or string; false when there is none. */
bool rocl_json_number(rocl_trace *t, const char *json, size_t len, const char *key, uint64_t *v);

#endif
