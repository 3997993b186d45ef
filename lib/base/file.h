/* Reading and writing files at offsets, and temporary files without a name. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Reads n bytes at an offset: how many it got, fewer only at the end of the file; -1 and errno. */
ssize_t rocl_read_at(int fd, void *to, size_t n, uint64_t offset);
/* Writes n bytes at an offset; false and errno when some of them could not be written. */
bool rocl_write_at(int fd, const void *from, size_t n, uint64_t offset);

/* A new empty temporary file, open to read and write, that has no name and so cannot be left behind
 * (O_TMPFILE, or unlinked at once); -1 and errno. It is in tmpdir; NULL: $TMPDIR, else /var/tmp,
 * else /tmp. *dir is the folder, also after an error; it lives as long as what it was taken from.
 */
int rocl_temp_file(const char *tmpdir, const char **dir);
/* The folder of temporary files that need names: the first of these that is writable. */
const char *rocl_temp_folder(const char *tmpdir);
