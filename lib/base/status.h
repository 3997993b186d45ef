/* Status codes, errors and other declarations that the public header shares with base/, which knows
 * nothing of traces. The installed rocline.h has this text in place of the #include. */
#ifndef ROCL_BASE_STATUS_H
#define ROCL_BASE_STATUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define ROCL_API __attribute__((visibility("default")))
#else
#define ROCL_API
#endif

#define ROCL_NONE           UINT32_MAX
#define ROCL_UNCOMPRESSED   (-1)               /* as a level of compression */
#define ROCL_SMALLEST       9                  /* the highest such level */
#define ROCL_FASTEST        10                 /* as a level: see rocline.h */
#define ROCL_DEFAULT_MEMORY ((size_t)48 << 20) /* bytes for sorting, by default */

/* The values are the exit codes of the tools. */
typedef enum rocl_status {
    ROCL_OK = 0,
    ROCL_PARTIAL = 1,  /* done, but records were left out or repaired, and counted */
    ROCL_USAGE = 2,    /* the caller asked for something impossible */
    ROCL_INPUT = 3,    /* an input cannot be read or is not as it should be */
    ROCL_OUTPUT = 4,   /* the output cannot be written */
    ROCL_INTERNAL = 5, /* memory, threads, or a bug */
    ROCL_LIMIT = 6,    /* done, but a limit that the user set is exceeded; no call returns it */
} rocl_status;

typedef struct rocl_error rocl_error;

ROCL_API rocl_error *rocl_error_new(void);
ROCL_API void rocl_error_free(rocl_error *e);
ROCL_API rocl_status rocl_error_status(const rocl_error *e);
/* One line "outermost place: ...: what is wrong", without a newline; "": no error. Owned by e. e
 * NULL: "out of memory", as there was none for e. */
ROCL_API const char *rocl_error_text(const rocl_error *e);

/* Replaces control characters by '?', in place: U+0000 to U+001F, U+007F to U+009F, bytes 0x80 to
 * 0x9f that belong to no character, which some terminals take for the same, and those that turn the
 * direction of a text (U+202A to U+202E, U+2066 to U+2069). With `layout`, line feeds, carriage
 * returns and tabs stay. Returns the new length, at most n. */
ROCL_API size_t rocl_hide_controls(char *text, size_t n, bool layout);

/* Whether outputs wait for the disk before and after they get their names, so that a loss of power
 * leaves them as a whole or not at all. On by default; it applies to the whole process. */
ROCL_API void rocl_sync_outputs(bool on);
/* For files that others have written: waits until all in a folder, and its name, are on
 * disk. ROCL_OUTPUT when some of it may never be. */
ROCL_API rocl_status rocl_sync_outputs_in(const char *folder, rocl_error *err);

/* Whether a text in CSV and TSV that begins with = + - @, a tab or the end of a line gets a '
 * before it: spreadsheets take it for a formula. Off by default; it applies to the whole process.
 * Numbers stay as they are. */
ROCL_API void rocl_guard_formulas(bool on);

/* For a program that is about to end, by a signal or by exit(): removes the hidden files of
 * incomplete outputs, and folders that were made for them. Call it from a thread that waits for
 * signals, not from a signal handler. Calls that would begin or complete an output wait forever
 * from then on. */
ROCL_API void rocl_abandon_outputs(void);

/* Makes the folder of an output, and its parents. */
ROCL_API rocl_status rocl_make_dirs(const char *path, rocl_error *err);
/* After a failure: removes folders that rocl_make_dirs() has made, if they are empty. */
ROCL_API void rocl_remove_empty_dirs(void);

/* ROCL_USAGE: the file is an input of an open trace. All writers check that; call this earlier if
 * an output comes after other work. Thread-safe. */
ROCL_API rocl_status rocl_check_output(const char *path, rocl_error *err);
/* Writes a file that appears when it is complete. */
ROCL_API rocl_status rocl_write_text(const char *path, const char *text, rocl_error *err);

#ifdef __cplusplus
}
#endif

#endif
