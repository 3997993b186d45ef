/* CRC32C (Castagnoli), as in iSCSI and ext4. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Continues the checksum `crc` (0 at the begin) over n bytes. */
uint32_t rocl_crc32c(uint32_t crc, const void *p, size_t n);
