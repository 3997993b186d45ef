#include "source/formats.h"

#include <string.h>

#include "source/chrome/chrome.h"
#include "source/chunk/chunk.h"
#include "source/pftrace/pftrace.h"
#include "source/rocpd/rocpd.h"
#include "source/rocprof/rocprof.h"
#include "source/rocprofv3/rocprofv3.h"
#include "source/rpd/rpd.h"
#include "source/rtg/rtg.h"

typedef bool probe_fn(const char *head, size_t n, bool whole);

/* A file has the format of a row if all its conditions hold. */
typedef struct row {
    rocl_format format;
    const char *magic; /* the first bytes, as a string literal */
    size_t magic_size;
    const char *json[3]; /* JSON whose head has all of these as keys or strings */
    const char *line;    /* begin of the first line, without quotes */
    probe_fn *probe;
    const char *tables; /* of a database with one of them: words, with '*' the begin of a name */
} row;

#define MAGIC(text) .magic = (text), .magic_size = sizeof(text) - 1

/* ---- probes ---------------------------------------------------------------------------------- */

static const char *skip_blanks(const char *p, const char *end)
{
    if (end - p >= 3 && !memcmp(p, "\xef\xbb\xbf", 3))
        p += 3;
    while (p < end && (*p == ' ' || *p == '\t' || *p == '\n' || *p == '\r'))
        p++;
    return p;
}

/* Consecutive messages in field 1: Perfetto's packets, XSpace's planes. Each is a tag of one byte,
 * a length of up to 5 bytes and as many bytes. */
static bool is_messages(const char *head, size_t n, bool whole)
{
    size_t at = 0, count = 0;
    for (; at < n && count < 3; count++) {
        uint64_t length = 0;
        bool ended = false;
        if (head[at++] != '\n')
            return false;
        for (unsigned i = 0; i < 5 && at < n && !ended; i++) {
            ended = !(head[at] & 0x80);
            length |= (uint64_t)(head[at++] & 0x7f) << 7 * i;
        }
        if (!ended || !length)
            return false;
        if (length > n - at) /* a truncated file: its first packets may be compressed */
            return !whole || count || (n - at > 4 && !memcmp(head + at, "\x92\x03", 2));
        at += (size_t)length;
    }
    return count > 0;
}

static bool is_xplane(const char *head, size_t n, bool whole)
{
    return is_messages(head, n, whole) && (memmem(head, n < 64 ? n : 64, "/host:", 6) ||
                                           memmem(head, n < 64 ? n : 64, "/device:", 8));
}

static bool is_perfetto(const char *head, size_t n, bool whole)
{
    /* Text that begins with an empty line is not it, whatever its second byte. */
    bool binary = false;
    for (size_t i = 0; i < n && i < 4096 && !binary; i++)
        binary = (uint8_t)head[i] < ' ' && !memchr("\t\n\v\f\r\033", head[i], 6);
    return n > 2 && binary && is_messages(head, n, whole);
}

/* "[]": Chrome's JSON without events. */
static bool is_empty_array(const char *head, size_t n, bool whole)
{
    const char *end = head + n, *p = skip_blanks(head, end);
    if (!whole || p == end || *p != '[')
        return false;
    p = skip_blanks(p + 1, end);
    return p < end && *p == ']' && skip_blanks(p + 1, end) == end;
}

/* "[1, 2]" or at least "[" of an array; but not text whose lines begin with a number in
 * brackets. */
static bool is_plain_array(const char *head, size_t n, bool whole)
{
    const char *end = head + n, *p = skip_blanks(head, end);
    if (!whole || p == end || *p != '[')
        return false;
    p = skip_blanks(p + 1, end);
    if (p == end)
        return true;
    const char *last = memchr(p, ']', (size_t)(end - p));
    const char *next = last ? skip_blanks(last + 1, end) : end;
    return last && memchr("[\"-0123456789ntf", *p, 16) &&
           (next == end || *next == ',' || *next == ']');
}

/* Lines of HCC_PROFILE, which may be among those of rtg_tracer. */
static bool is_profile(const char *head, size_t n, bool whole)
{
    const char *p = head, *end = head + n;
    while (p && (end - p < 8 || memcmp(p, "profile:", 8) != 0)) {
        p = memchr(p, '\n', (size_t)(end - p));
        p = p ? p + 1 : NULL;
    }
    return p && rtg_recognise(head, n, whole);
}

/* A recording whose first bytes are damaged: its other chunks can be read. */
static bool holds_chunk(const char *head, size_t n, bool whole)
{
    (void)whole;
    for (size_t at = ROCL_CHUNK_ALIGN; at + 8 <= n; at += ROCL_CHUNK_ALIGN)
        if (!memcmp(head + at, ROCL_CHUNK_MAGIC, 8))
            return true;
    return false;
}

/* ---- the tables ------------------------------------------------------------------------------ */

#define FORMAT(name_, advice_) .format = {.name = (name_), .advice = (advice_)}
#define READ(name_, ops_, ...) .format = {.name = (name_), .ops = &(ops_), .flags = (__VA_ARGS__)}
#define READ_OF(writer_, name_, ops_, ...)                                                         \
    .format = {.name = (name_), .ops = &(ops_), .writer = (writer_), .flags = (__VA_ARGS__)}

#define RECORD "record with `rocprofv3 --output-format rocpd`, and name the database"
#define UNPACK "unpack it first"
#define COMMAS "save it with commas, as the profiler wrote it"
#define OTF2                                                                                       \
    "open its .otf2 file with Vampir or otf2-print; here, name the database from which it was "    \
    "made"
#define WAL                                                                                        \
    FORMAT("a write-ahead log of SQLite (-wal), not the database",                                 \
           "name the database; the log must lie beside it, under its name")
#define KINETO                                                                                     \
    READ_OF("PyTorch", "a trace of the PyTorch profiler (Kineto JSON)", rocl_chrome_ops,           \
            ROCL_FORMAT_KINETO | ROCL_FORMAT_SCRIPT_OUTPUT)
#define CHROME READ("a trace in Chrome's JSON", rocl_chrome_ops, ROCL_FORMAT_SCRIPT_OUTPUT)
#define CSV                                                                                        \
    READ("a CSV file of rocprof", rocl_rocprof_csv_ops, ROCL_FORMAT_CSV | ROCL_FORMAT_HOST_FOLDER)
#define V1_JSON                                                                                    \
    READ_OF("rocprof", "a trace of rocprof (JSON)", rocl_rocprof_json_ops, ROCL_FORMAT_V1_JSON)
#define V3_FILES "kernel_trace.csv, hip_api_trace.csv and memory_copy_trace.csv"
#define RECORDING                                                                                  \
    READ_OF("rocrec", "a recording of rocrec", rocl_chunk_ops,                                     \
            ROCL_FORMAT_UNIQUE_GUID | ROCL_FORMAT_IN_FOLDERS)
#define OTHER_JSON                                                                                 \
    FORMAT("JSON, but not that of a trace",                                                        \
           "traces in JSON are those of PyTorch, Chrome, JAX, rocprof and rocprofv3")
#define UTF_16       FORMAT("text in UTF-16", "convert it with `iconv -f UTF-16 -t UTF-8`")
#define SCRIPT_INPUT (ROCL_FORMAT_SCRIPT_INPUT | ROCL_FORMAT_LATE_RECORDS)
#define DATABASE     (ROCL_FORMAT_DATABASE | ROCL_FORMAT_INDEPENDENT)

/* The more specific ones come first. */
static const row rows[] = {
    /* what is read */
    {.format = {"a SQLite database", .flags = DATABASE | ROCL_FORMAT_IN_FOLDERS},
     MAGIC("SQLite format 3\0")},
    {RECORDING, MAGIC(ROCL_CHUNK_MAGIC)},
    {RECORDING, MAGIC(ROCL_CHUNK_BEGUN "\0")},
    /* JSON whose names may be like lines of text, and whose domains like PyTorch's categories */
    {V1_JSON, MAGIC("{ \"traceEvents\":[{}")},
    {READ_OF("rocprofv3", "JSON of rocprofv3", rocl_rocprofv3_json_ops,
             ROCL_FORMAT_V3_JSON | ROCL_FORMAT_HOST_FOLDER),
     .json = {"rocprofiler-sdk-tool"}},
    {KINETO, .json = {"deviceProperties"}},
    {KINETO, .json = {"distributedInfo"}},
    {KINETO, .json = {"traceEvents", "cpu_op"}},
    {V1_JSON, .json = {"traceEvents", "HIPBLITKERNELS"}},
    {CHROME, .json = {"traceEvents"}},
    {READ_OF("HCC", "text of HCC_PROFILE", rocl_rtg_ops, SCRIPT_INPUT | ROCL_FORMAT_PROFILE_LINES),
     .probe = is_profile},
    {READ("text of rtg_tracer or strace", rocl_rtg_ops, SCRIPT_INPUT), .probe = rtg_recognise},
    /* pieces of a database */
    {WAL, MAGIC("\x37\x7f\x06\x82")},
    {WAL, MAGIC("\x37\x7f\x06\x83")},
    {FORMAT("an index of a write-ahead log of SQLite (-shm), not the database",
            "name the database; this file is not needed"),
     MAGIC("\x18\xe2\x2d\x00")},
    {FORMAT("a rollback journal of SQLite (-journal), not the database",
            "let sqlite3 open a copy of the database with it beside, and name the copy"),
     MAGIC("\xd9\xd5\x05\xf9\x20\xa1\x63\xd7")},
    /* traces of others */
    {FORMAT("an OTF2 archive", OTF2), MAGIC("\x03"
                                            "BOTF2")},
    {FORMAT("a part of an OTF2 archive", OTF2), MAGIC("\x03"
                                                      "B\x01")},
    {FORMAT("a CTF trace", "read it with babeltrace"), MAGIC("\xc1\x1f\xfc\xc1")},
    {FORMAT("a profile of JAX or TensorFlow (xplane.pb)", "open it with xprof or TensorBoard"),
     .probe = is_xplane},
    {READ("a Perfetto trace", rocl_pftrace_ops, 0), .probe = is_perfetto},
    {CHROME, .json = {"ph", "ts"}},
    {CHROME, .probe = is_empty_array},
    {OTHER_JSON, .json = {""}},
    {FORMAT("a summary of rocprofv3 (CSV), not a trace",
            "take the traces of the same run, such as " V3_FILES "; rocstats makes such summaries"),
     .line = "Name,Calls,TotalDurationNs,AverageNs,Percentage,MinNs"},
    {FORMAT("a summary of rocprof (CSV), not a trace",
            "take results.csv, results.json or results.db of the same run; rocstats makes such "
            "summaries"),
     .line = "Name,Calls,TotalDurationNs"},
    {CSV, .probe = rocprof_is_csv},
    {FORMAT("a CSV file of rocprof, but its fields are separated by ';'", COMMAS),
     .probe = rocprof_has_semicolons},
    {FORMAT("a CSV file of rocprof, but its fields are separated by tabs", COMMAS),
     .probe = rocprof_has_tabs},
    /* other wrappings, and gzip or zstd within one of them */
    {FORMAT("a Git LFS pointer, not the file itself", "run `git lfs pull`"),
     MAGIC("version https://git-lfs.")},
    {UTF_16, MAGIC("\xff\xfe")},
    {UTF_16, MAGIC("\xfe\xff")},
    {FORMAT("a gzip file", UNPACK), MAGIC("\x1f\x8b")},
    {FORMAT("a zstd file", UNPACK), MAGIC("\x28\xb5\x2f\xfd")},
    {FORMAT("an xz file", UNPACK), MAGIC("\xfd"
                                         "7zXZ")},
    {FORMAT("a bzip2 file", UNPACK), MAGIC("BZh")},
    {FORMAT("a zip archive", UNPACK), MAGIC("PK\x03\x04")},
    {FORMAT("a program, not a trace", "run it under rocrec or rocprofv3"), MAGIC("\x7f"
                                                                                 "ELF")},
    /* a recording, though not from its first byte on */
    {RECORDING, .probe = holds_chunk},
    /* may begin with anything that a program says */
    {READ_OF("rocprof", "raw text of rocprof", rocl_rocprof_text_ops,
             ROCL_FORMAT_LATE_RECORDS | ROCL_FORMAT_V1_TEXT),
     .probe = rocprof_is_text},
    {OTHER_JSON, .probe = is_plain_array},
};

#define ROCPD                                                                                      \
    READ("a rocpd database", rocl_rocpd_ops,                                                       \
         DATABASE | ROCL_FORMAT_UNIQUE_GUID | ROCL_FORMAT_TABLE_SETS)
#define RPD                                                                                        \
    READ_OF("rocmProfileData", "an RPD file of rocmProfileData", rocl_rpd_ops, ROCL_FORMAT_DATABASE)
#define COMPUTE FORMAT("an analysis database of rocprof-compute, not a trace", RECORD)
#define V1_DB                                                                                      \
    READ_OF("rocprof", "a results database of rocprof", rocl_rocprof_db_ops, ROCL_FORMAT_DATABASE)
#define NSIGHT                                                                                     \
    FORMAT("an export of NVIDIA's Nsight Systems, not a rocpd database",                           \
           "open it with Nsight Systems")

/* What is inside a SQLite database. */
static const row databases[] = {
    {ROCPD, .tables = "rocpd_metadata_* rocpd_info_* rocpd_kernel_dispatch* rocpd_region*"},
    {RPD, .tables = "rocpd_api rocpd_hsaApi rocpd_op"},
    {ROCPD, .tables = "rocpd_string*"},
    {COMPUTE, .tables = "compute_metadata compute_workload"},
    {V1_DB, .tables = "HIP HSA KERN A OPS COPY rocTX"},
    {NSIGHT, .tables = "CUPTI_ACTIVITY_KIND_KERNEL CUPTI_ACTIVITY_KIND_RUNTIME "
                       "TARGET_INFO_SYSTEM_ENV META_DATA_CAPTURE"},
    {ROCPD, .tables = "*"}, /* its reader reports what is missing */
};

/* ---- recognising ---------------------------------------------------------------------------- */

/* An object, or an array of them. */
static bool is_json(const char *head, size_t n)
{
    const char *end = head + n, *p = skip_blanks(head, end);
    if (p < end && *p == '[')
        p = skip_blanks(p + 1, end);
    if (p == end || *p != '{' || memchr(p, 0, (size_t)(end - p)))
        return false;
    p = skip_blanks(p + 1, end);
    return p == end || *p == '"' || *p == '}';
}

static bool has_string(const char *head, size_t n, const char *text)
{
    const size_t size = strlen(text);
    const char *end = head + n;
    for (const char *p = head; (p = memmem(p, (size_t)(end - p), text, size)); p++)
        if (p > head && p[-1] == '"' && p + size < end && p[size] == '"')
            return true;
    return false;
}

static bool matches_row(const row *r, const char *head, size_t n, bool whole)
{
    if (r->magic && (n < r->magic_size || memcmp(head, r->magic, r->magic_size) != 0))
        return false;
    if (r->json[0] && !is_json(head, n))
        return false;
    for (size_t i = 0; i < sizeof r->json / sizeof *r->json && r->json[i]; i++)
        if (*r->json[i] && !has_string(head, n, r->json[i]))
            return false;
    size_t at = 0;
    for (const char *text = r->line; text && *text; at++) {
        if (at == n || (head[at] != '"' && head[at] != *text))
            return false;
        text += head[at] != '"';
    }
    return !r->probe || r->probe(head, n, whole);
}

const rocl_format *rocl_format_of(const char *head, size_t n, bool whole)
{
    for (size_t i = 0; n && i < sizeof rows / sizeof *rows; i++)
        if (matches_row(&rows[i], head, n, whole))
            return &rows[i].format;
    return NULL;
}

const rocl_format *rocl_format_named(const char *name)
{
    for (size_t i = 0; i < sizeof databases / sizeof *databases; i++)
        if (databases[i].format.ops && !strcmp(databases[i].format.name, name))
            return &databases[i].format;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].format.ops && !strcmp(rows[i].format.name, name))
            return &rows[i].format;
    return NULL;
}

rocl_status rocl_fail_format(const char *path, const rocl_format *f, rocl_error *err)
{
    return rocl_fail(err, ROCL_INPUT, "%s: this is %s: %s", path, f->name, f->advice);
}

rocl_status rocl_fail_foreign(const char *path, const char *head, size_t n, bool whole,
                              rocl_error *err)
{
    static const char sqlite[] = "SQLite format 3";
    const rocl_format *f = rocl_format_of(head, n, whole);
    if (n == 0)
        return rocl_fail(err, ROCL_INPUT, "%s: the file is empty", path);
    if (f && f->advice)
        return rocl_fail_format(path, f, err);
    if (f && f->ops) /* for readers of text only */
        return rocl_fail(err, ROCL_INPUT,
                         "%s: this is %s, not text of rtg_tracer, HCC_PROFILE or "
                         "strace" ROCL_OTHER_LAYOUT,
                         path, f->name);
    if (n < sizeof sqlite && !memcmp(head, sqlite, n))
        return rocl_fail(err, ROCL_INPUT, "%s: the database is truncated after %zu bytes", path, n);
    if (memchr(head, 0, n))
        return rocl_fail(err, ROCL_INPUT, "%s: not a SQLite database, or an encrypted one", path);
    return rocl_fail(err, ROCL_INPUT,
                     "%s: text, not a rocpd database: it has no record of rtg_tracer, HCC_PROFILE "
                     "or strace",
                     path);
}

const rocl_format *rocl_format_of_tables(const rocl_db_object *objects, size_t count)
{
    const row *r = databases;
    for (const row *last = r + sizeof databases / sizeof *databases - 1; r < last; r++) {
        rocl_view left = {r->tables, strlen(r->tables)}, word;
        while (rocl_view_take_word(&left, &word)) {
            const bool begin = word.p[word.n - 1] == '*';
            for (size_t k = 0; k < count; k++)
                if (!objects[k].is_view && !strncmp(objects[k].name, word.p, word.n - begin) &&
                    (begin || !objects[k].name[word.n]))
                    return &r->format;
        }
    }
    return &r->format;
}
