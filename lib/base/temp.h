/* Temporary files without a name, which nothing can leave behind. */
#ifndef ROCL_BASE_TEMP_H
#define ROCL_BASE_TEMP_H

/* A new empty file in the folder, open to read and write (O_TMPFILE, or unlinked at once); -1 and
 * errno. */
int rocl_temp_file(const char *dir);

#endif
