/* Text that other programs must be able to read, whatever the trace holds: valid UTF-8, the
 * contents of JSON strings, fields of CSV; and a parser of JSON. */
#pragma once

#include "base/buf.h"
#include "base/status.h"

/* A new text in the format of printf(), to be freed; NULL: memory is out. */
char *rocl_new_text(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* ---- UTF-8 --------------------------------------------------------------------------------- */

/* The number of bytes (0 to 3) at the end that begin an incomplete character. */
size_t rocl_utf8_incomplete(const char *text, size_t n);

/* Like snprintf(), but a text that does not fit is cut between characters. */
void rocl_label(char *to, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Is it valid UTF-8 (no overlong forms, no surrogates), without NULs? Other programs do not accept
 * NULs either, so they are treated as invalid bytes. */
bool rocl_utf8_valid(const char *p, size_t n);

/* Appends the text with each invalid byte replaced by U+FFFD. */
void rocl_utf8_put(rocl_buf *b, const char *p, size_t n);

/* ---- JSON ---------------------------------------------------------------------------------- */

/* Appends the text escaped, without the quotes: valid UTF-8 whatever it holds. Returns how many
 * invalid bytes became U+FFFD. */
size_t rocl_json_put(rocl_buf *b, const char *p, size_t n);

/* Does that with the quotes. */
void rocl_json_put_string(rocl_buf *b, const char *p, size_t n);

/* Is the text the same inside a JSON string? */
bool rocl_json_plain(const char *p, size_t n);

/* For rocl_text_cache.make: appends the text escaped, or nothing if it is the same. */
void rocl_json_make_text(rocl_buf *to, const char *p, size_t n);

struct cJSON;

/* Parses a text. Free *root with cJSON_Delete; NULL: the text does not parse. False: out of memory,
 * which cJSON does not report. */
bool rocl_json_read(struct cJSON **root, const char *text, size_t len);

/* ---- CSV, quoted by libcsv: a text in quotes, and those in it doubled ---------------------- */

/* Does the text need a ' before it, so that a spreadsheet does not take it for a formula? Only
 * after rocl_guard_formulas(true), and never a number. */
bool rocl_is_guarded_formula(const char *p, size_t n);
/* Appends a text without quotes: as valid UTF-8, guarded. */
void rocl_csv_put_bare(rocl_buf *to, const char *p, size_t n);
/* Appends the text in quotes. */
void rocl_csv_put_quoted(rocl_buf *to, const char *p, size_t n);
/* Appends the quoted text only if it differs from the text between plain quotes, for callers that
 * write those: most texts need no copy (a rocl_text_format_fn). */
void rocl_csv_quote(rocl_buf *to, const char *p, size_t n);

/* ---- SQL ----------------------------------------------------------------------------------- */

/* Appends bytes as SQL writes them: X'00FF'. */
void rocl_blob_put(rocl_buf *to, const char *p, size_t n);

/* ---- HTML and XML -------------------------------------------------------------------------- */

/* Appends the text with entities for what is markup, also in attributes: & < > ". */
void rocl_markup_put(rocl_buf *b, const char *p, size_t n);
