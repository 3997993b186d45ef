/* What rocprof (v1) says of a dispatch beside its row, as the extdata of its event in a rocpd
 * database: {"rocprof":{"queue-index":0,"sig":"0x0",...}}. So a results.csv that became a database
 * becomes the same results.csv again. */
#pragma once

#include "base/buf.h"
#include "rocline.h"

/* Appends the JSON; b->failed: memory is out. */
void schema_put_packet(rocl_buf *b, const rocl_packet *p);
/* False: the extdata holds none; *p is undefined then. What it does not say is not known. */
bool schema_read_packet(const char *extdata, size_t n, rocl_packet *p);
