/* Files that are being read: no output may replace one, by whatever name. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/map.h"

/* The files of one reader, which are guarded until it is freed. All functions are thread-safe. */
typedef struct rocl_guard rocl_guard;

rocl_guard *rocl_guard_new(void);    /* NULL: memory is out */
void rocl_guard_free(rocl_guard *g); /* fine for NULL */
/* A file as stat() tells it; name: in messages. False: memory is out. */
bool ROCL_CHECKED rocl_guard_add(rocl_guard *g, const char *name, uint64_t device, uint64_t inode);
/* ROCL_USAGE where the file is one of any reader's in this process. */
rocl_status rocl_guard_check(const struct stat *file, rocl_error *err);
