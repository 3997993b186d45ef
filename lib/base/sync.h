/* Makes outputs survive a loss of power; rocl_sync_outputs(), which turns this off, is declared in
 * status.h. */
#pragma once

#include "base/status.h"

/* Waits until the bytes of an open file are on disk. False, and errno: some may never be. File
 * systems that cannot tell count as success. */
bool rocl_sync_file(int fd);
/* Waits until the names in a folder are on disk; `path` is relative to the folder `dir` (or
 * AT_FDCWD). */
bool rocl_sync_folder(int dir, const char *path);
/* All files in a folder, and its folders, to some depth. */
bool rocl_sync_tree(int dir, const char *path);
