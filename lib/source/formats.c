#include "source/formats.h"

#include <string.h>

#include "source/chunk/chunk.h"
#include "source/rocpd/rocpd.h"
#include "source/rtg/rtg.h"

#define PERFETTO "open it at https://ui.perfetto.dev"
#define RECORD   "record with `rocprofv3 --output-format rocpd`, and name the database"

typedef bool probe_fn(const char *head, size_t n, bool whole);

/* A row is the format if all that it says holds. */
typedef struct row {
    rocl_format format;
    const char *magic; /* the first bytes, as a string literal */
    size_t magic_size;
    const char *json[3]; /* JSON in whose head all of these are keys or strings */
    const char *line;    /* how the first line begins, without quotes */
    probe_fn *probe;
} row;

#define MAGIC(text) .magic = (text), .magic_size = sizeof(text) - 1

/* ---- probes ---------------------------------------------------------------------------------- */

/* One byte of a tag and a length of up to 5 bytes; 0: it is neither. */
static size_t take_length(const char *p, size_t n, char tag, uint64_t *length)
{
    *length = 0;
    if (!n || *p != tag)
        return 0;
    for (size_t i = 1; i < n && i < 6; i++) {
        *length |= (uint64_t)(p[i] & 0x7f) << 7 * (i - 1);
        if (!(p[i] & 0x80))
            return i + 1;
    }
    return 0;
}

/* Messages in field 1, one after the other: Perfetto's packets, XSpace's planes. */
static bool is_messages(const char *head, size_t n, bool whole)
{
    uint64_t length;
    size_t at = 0, count = 0;
    while (at < n && count < 3) {
        size_t used = take_length(head + at, n - at, '\n', &length);
        if (!used || !length)
            return false;
        at += used;
        if (length > n - at)
            return !whole;
        at += (size_t)length;
        count++;
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
    /* Text that begins with an empty line is none, whatever its second byte says. */
    return n > 2 && memchr(head, 0, n < 4096 ? n : 4096) && is_messages(head, n, whole);
}

/* "BEGIN:END PID:TID", or "TIME PID:TID" */
static bool is_roctracer(const char *head, size_t n, bool whole)
{
    unsigned numbers = 0;
    (void)whole;
    for (size_t i = 0; i < n && numbers < 3; i++) {
        size_t first = i;
        while (i < n && head[i] >= '0' && head[i] <= '9')
            i++;
        if (i == first || i == n || !(head[i] == ':' || head[i] == ' '))
            return false;
        numbers++;
        if (numbers == 2 && head[first - 1] == head[i])
            return false;
    }
    return numbers == 3;
}

static bool is_chunks(const char *head, size_t n, bool whole)
{
    (void)whole;
    return chunk_recognise(head, n);
}

/* ---- the table ------------------------------------------------------------------------------- */

#define KINETO                                                                                     \
    {                                                                                              \
        "a trace of the PyTorch profiler (Kineto JSON), not a SQLite database", PERFETTO, NULL     \
    }
#define ROCPROFV3_CSV                                                                              \
    {                                                                                              \
        "a CSV file of rocprofv3, not a trace with all of its tables", RECORD, NULL                \
    }
#define COUNTERS_CSV                                                                               \
    {                                                                                              \
        "a CSV file of rocprof-compute, not a trace", RECORD, NULL                                 \
    }
#define OTF2_ADVICE                                                                                \
    "open its .otf2 file with Vampir or otf2-print; here, name the database that it was made of"

/* Those that say more come first. */
static const row rows[] = {
    /* what is read */
    {.format = {"a SQLite database", NULL, &rocl_rocpd_ops}, MAGIC("SQLite format 3\0")},
    {.format = {"a recording of rocrec", NULL, &rocl_chunk_ops}, .probe = is_chunks},
    {.format = {"text of rtg_tracer, HCC_PROFILE or strace", NULL, &rocl_rtg_ops},
     .probe = rtg_recognise},
    /* pieces of a database */
    {.format = {"a write-ahead log of SQLite (-wal), not the database",
                "name the database; the log must lie beside it, under its name", NULL},
     MAGIC("\x37\x7f\x06\x82")},
    {.format = {"a write-ahead log of SQLite (-wal), not the database",
                "name the database; the log must lie beside it, under its name", NULL},
     MAGIC("\x37\x7f\x06\x83")},
    {.format = {"an index of a write-ahead log of SQLite (-shm), not the database",
                "name the database; nothing is lost without this file", NULL},
     MAGIC("\x18\xe2\x2d\x00")},
    {.format = {"a rollback journal of SQLite (-journal), not the database",
                "let sqlite3 open a copy of the database with it beside, and name the copy", NULL},
     MAGIC("\xd9\xd5\x05\xf9\x20\xa1\x63\xd7")},
    /* traces of others */
    {.format = {"an OTF2 archive", OTF2_ADVICE, NULL},
     MAGIC("\x03"
           "BOTF2")},
    {.format = {"a part of an OTF2 archive", OTF2_ADVICE, NULL},
     MAGIC("\x03"
           "B\x01")},
    {.format = {"a CTF trace", "read it with babeltrace", NULL}, MAGIC("\xc1\x1f\xfc\xc1")},
    {.format = {"a profile of JAX or TensorFlow (xplane.pb)", "open it with xprof or TensorBoard",
                NULL},
     .probe = is_xplane},
    {.format = {"a Perfetto trace", PERFETTO "; here, name the database that it was made of", NULL},
     .probe = is_perfetto},
    {.format = {"JSON output of rocprofv3, not a SQLite database", RECORD, NULL},
     .json = {"rocprofiler-sdk-tool"}},
    {.format = KINETO, .json = {"deviceProperties"}},
    {.format = KINETO, .json = {"distributedInfo"}},
    {.format = KINETO, .json = {"traceEvents", "cpu_op"}},
    {.format = {"a trace of rocprof (JSON), not a SQLite database", PERFETTO ", or " RECORD, NULL},
     MAGIC("{ \"traceEvents\":[{}")},
    {.format = {"a trace in Chrome's JSON, not a SQLite database", PERFETTO, NULL},
     .json = {"traceEvents"}},
    {.format = {"a trace in Chrome's JSON, not a SQLite database", PERFETTO, NULL},
     .json = {"ph", "ts"}},
    {.format = {"JSON text, not a SQLite database", RECORD, NULL}, .json = {""}},
    {.format = ROCPROFV3_CSV, .line = "Guid,"},
    {.format = ROCPROFV3_CSV, .line = "Kind,Agent_Id"},
    {.format = ROCPROFV3_CSV, .line = "Kind,Direction"},
    {.format = ROCPROFV3_CSV, .line = "Kind,Operation"},
    {.format = ROCPROFV3_CSV, .line = "Domain,Function"},
    {.format = ROCPROFV3_CSV, .line = "Correlation_Id,Dispatch_Id"},
    {.format = ROCPROFV3_CSV, .line = "Sample_Timestamp,Exec_Mask"},
    {.format = ROCPROFV3_CSV, .line = "Node_Id,Logical_Node_Id"},
    {.format = {"a table of sums of rocprof or rocprofv3 (CSV), not a trace",
                RECORD "; rocstats makes such tables", NULL},
     .line = "Name,Calls,TotalDurationNs"},
    {.format = {"a CSV file of rocprof v1, not a trace", RECORD, NULL},
     .line = "Index,KernelName,"},
    {.format = COUNTERS_CSV, .line = "Dispatch_ID,"},
    {.format = {"raw text of rocprof v1, not a trace", RECORD, NULL}, .probe = is_roctracer},
    {.format = {"raw text of rocprof v1, not a trace", RECORD, NULL}, .line = "dispatch["},
    /* what they come in */
    {.format = {"a Git LFS pointer, not the file itself", "run `git lfs pull`", NULL},
     MAGIC("version https://git-lfs.")},
    {.format = {"a gzip file", "unpack it first", NULL}, MAGIC("\x1f\x8b")},
    {.format = {"a zstd file", "unpack it first", NULL}, MAGIC("\x28\xb5\x2f\xfd")},
    {.format = {"an xz file", "unpack it first", NULL},
     MAGIC("\xfd"
           "7zXZ")},
    {.format = {"a bzip2 file", "unpack it first", NULL}, MAGIC("BZh")},
    {.format = {"a zip archive", "unpack it first", NULL}, MAGIC("PK\x03\x04")},
    {.format = {"a program, not a trace", "run it under rocrec or rocprofv3", NULL},
     MAGIC("\x7f"
           "ELF")},
};

/* ---- looking --------------------------------------------------------------------------------- */

static const char *skip_blanks(const char *p, const char *end)
{
    if (end - p >= 3 && !memcmp(p, "\xef\xbb\xbf", 3))
        p += 3;
    while (p < end && (*p == ' ' || *p == '\t' || *p == '\n' || *p == '\r'))
        p++;
    return p;
}

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

static bool is_json_of(const row *r, const char *head, size_t n)
{
    if (!is_json(head, n))
        return false;
    for (size_t i = 0; i < sizeof r->json / sizeof *r->json && r->json[i]; i++)
        if (*r->json[i] && !has_string(head, n, r->json[i]))
            return false;
    return true;
}

static bool begins_line(const char *head, size_t n, const char *text)
{
    for (size_t i = 0; *text; i++) {
        if (i == n || (head[i] != '"' && head[i] != *text))
            return false;
        text += head[i] != '"';
    }
    return true;
}

static bool matches(const row *r, const char *head, size_t n, bool whole)
{
    if (r->magic && (n < r->magic_size || memcmp(head, r->magic, r->magic_size) != 0))
        return false;
    if (r->json[0] && !is_json_of(r, head, n))
        return false;
    if (r->line && !begins_line(head, n, r->line))
        return false;
    return !r->probe || r->probe(head, n, whole);
}

const rocl_format *rocl_format_of(const char *head, size_t n, bool whole)
{
    for (size_t i = 0; n && i < sizeof rows / sizeof *rows; i++)
        if (matches(&rows[i], head, n, whole))
            return &rows[i].format;
    return NULL;
}

rocl_status rocl_fail_foreign(const char *path, const char *head, size_t n, bool whole,
                              rocl_error *err)
{
    static const char sqlite[] = "SQLite format 3";
    const rocl_format *f = rocl_format_of(head, n, whole);
    if (n == 0)
        return rocl_fail(err, ROCL_INPUT, "%s: the file is empty", path);
    if (f && !f->ops)
        return rocl_fail(err, ROCL_INPUT, "%s: this is %s: %s", path, f->name, f->advice);
    if (n < sizeof sqlite && !memcmp(head, sqlite, n))
        return rocl_fail(err, ROCL_INPUT, "%s: the database is cut off after %zu bytes", path, n);
    if (memchr(head, 0, n))
        return rocl_fail(err, ROCL_INPUT, "%s: not a SQLite database, or an encrypted one", path);
    return rocl_fail(err, ROCL_INPUT,
                     "%s: text, not a rocpd database: it has no record of rtg_tracer, HCC_PROFILE "
                     "or strace",
                     path);
}

/* ---- databases ------------------------------------------------------------------------------- */

#define ROCPROF_V1                                                                                 \
    {                                                                                              \
        "a results database of rocprof v1, not a rocpd database of rocprofv3",                     \
            "open its results.json at https://ui.perfetto.dev, or " RECORD, NULL                   \
    }
#define RPD                                                                                        \
    {                                                                                              \
        "an RPD file of rocmProfileData, not a rocpd database of rocprofv3",                       \
            "make JSON of it with rpd2tracing.py, or " RECORD, NULL                                \
    }
#define COMPUTE                                                                                    \
    {                                                                                              \
        "an analysis database of rocprof-compute, not a trace", RECORD, NULL                       \
    }
#define NSIGHT                                                                                     \
    {                                                                                              \
        "an export of NVIDIA's Nsight Systems, not a rocpd database",                              \
            "open it with Nsight Systems", NULL                                                    \
    }

static const struct {
    const char *table;
    rocl_format format;
} databases[] = {
    {"rocpd_api", RPD},
    {"rocpd_op", RPD},
    {"compute_metadata", COMPUTE},
    {"compute_workload", COMPUTE},
    {"HIP", ROCPROF_V1},
    {"HSA", ROCPROF_V1},
    {"KERN", ROCPROF_V1},
    {"OPS", ROCPROF_V1},
    {"COPY", ROCPROF_V1},
    {"rocTX", ROCPROF_V1},
    {"CUPTI_ACTIVITY_KIND_KERNEL", NSIGHT},
    {"CUPTI_ACTIVITY_KIND_RUNTIME", NSIGHT},
    {"TARGET_INFO_SYSTEM_ENV", NSIGHT},
    {"META_DATA_CAPTURE", NSIGHT},
};

const rocl_format *rocl_format_of_tables(rocl_has_table_fn *has, const void *ctx)
{
    for (size_t i = 0; i < sizeof databases / sizeof *databases; i++)
        if (has(ctx, databases[i].table))
            return &databases[i].format;
    return NULL;
}
