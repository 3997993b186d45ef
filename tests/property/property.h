/* soak: rows in = rows out + rows counted, for every input, output and damage.
 *
 * It knows nothing of the library: what a file holds and what came out is counted by readers of its
 * own (SQL, plain walks over CSV and JSON, pfdump, otf2dump), so an error that the library makes
 * twice is seen.
 *
 *     main.c     options, the cases, the workers, the figures
 *     mutate.c   one number makes one damage of a file
 *     made.c     one number makes an input, and counts what it writes; made/ has the formats
 *     input.c    what a file holds
 *     output.c   what came out
 *     columnar.c what came out as Parquet, Arrow and JSON lines
 *     laws.c     runs the tools over a case and compares */
#ifndef PROPERTY_H
#define PROPERTY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- counts ---- */

/* Kinds of events as every output can tell them apart. Calls are regions, markers and marks. */
#define KIND_TABLE(X)                                                                              \
    X(CALL, "calls")                                                                               \
    X(KERNEL, "kernels")                                                                           \
    X(COPY, "copies")                                                                              \
    X(ALLOC, "allocations")                                                                        \
    X(SCRATCH, "scratch memory")                                                                   \
    X(GRAPH, "graphs")                                                                             \
    X(HIP_EVENT, "HIP events") X(BARRIER, "barriers") X(COUNTER, "counters") X(SAMPLE, "samples")

enum {
#define KIND_ROW(kind, name) KIND_##kind,
    KIND_TABLE(KIND_ROW)
#undef KIND_ROW
        KINDS
};

extern const char *const kind_names[KINDS];

typedef struct counts {
    int64_t of[KINDS]; /* -1: cannot be told here */
    int64_t events;    /* all that are no counter values or samples; -1: cannot be told */
    int64_t work;      /* kernels and copies, where they are told apart by name; else -1 */
    int64_t timeless;  /* kernels of a database that are there for their counters only */
    int64_t samples;   /* rows of an input that hold sampled values */
    int64_t instants;  /* of a Perfetto trace: they may stand for the end of an arrow */
    int64_t faults;    /* rows of an input that must be counted as left out */
    int64_t untrue;    /* rows of CSV whose times are not those that their names say */
    double sum;        /* of all counter values; NaN: cannot be told */
} counts;

void counts_forget(counts *c); /* everything -1 */
void counts_clear(counts *c);  /* nothing of any kind */
/* Sums up events from the kinds that are known. */
void counts_add_up(counts *c);

/* ---- random numbers ---- */

typedef struct draw {
    uint64_t state;
} draw;

draw draw_seeded(const char *name, uint64_t number);
uint64_t draw_below(draw *d, uint64_t below); /* 0 if `below` is */

/* ---- files ---- */

typedef struct bytes {
    char *p; /* ends in a 0 that does not count; free() it */
    size_t n;
} bytes;

bool bytes_read(bytes *b, const char *path);
bool bytes_write(const char *path, const char *p, size_t n);
void remove_tree(const char *path); /* no error if there is none */
bool is_folder(const char *path);
/* Calls fn for each name in a folder, sorted. */
void list_folder(const char *path, void (*fn)(void *ctx, const char *path), void *ctx);

/* ---- damages ---- */

/* Changes a file in place; what was done is appended to `words`. A database is changed by SQL or by
 * bytes. */
void mutate_file(const char *path, draw *d, char *words, size_t size);

/* ---- made inputs ---- */

/* Makes an input of a file of rows in ./in; `path` becomes its name, `in` what it holds. */
void make_input(const char *rows, uint64_t number, char *path, size_t size, counts *in);

/* ---- counting ---- */

/* What an input holds: false if that cannot be told, as for damaged files. */
bool count_input(counts *c, const char *path);

/* Readers of outputs. `why` is set if the output cannot be read, which is a finding. */
void count_csv(counts *c, const char *folder, char *why, size_t size);
void count_pftrace(counts *c, const char *path, char *why, size_t size);
void count_otf2(counts *c, const char *path, char *why, size_t size);
void count_chrome(counts *c, const char *path, char *why, size_t size);
void count_rocprofv3(counts *c, const char *path, char *why, size_t size);
void count_statistics(counts *c, const char *path, char *why, size_t size);
void count_database(counts *c, const char *path, char *why, size_t size);
void count_export(counts *c, const char *folder, char *why, size_t size);
/* Of CSV with the columns kind and number. */
void count_query(counts *c, const char *path, char *why, size_t size);
/* Several formats in one folder, which must say the same. */
void count_converted(counts *c, const char *folder, char *why, size_t size);

/* ---- JSON ---- */

enum { JSON_DEPTH = 8, JSON_WORD = 64 };

typedef struct json_event {
    unsigned depth;                   /* open objects and arrays */
    char keys[JSON_DEPTH][JSON_WORD]; /* of each; "" in arrays */
    bool object;                      /* an object begins here; else a value */
    char value[JSON_WORD];            /* its first bytes: of a string without quotes */
} json_event;

/* Walks over a text; false if it is no JSON. Keys and values deeper than JSON_DEPTH are skipped. */
bool json_walk(const char *text, size_t n, void (*fn)(void *ctx, const json_event *e), void *ctx);

/* ---- programs ---- */

extern const char *build_folder;
extern unsigned tool_limit; /* seconds */

enum { RUN_TIMEOUT = -1000 }; /* other negative numbers: the signal */

/* Runs a program; standard output and error go to files. Returns the exit code. */
int run_program(const char *const *words, const char *out, const char *err);

/* ---- a case ---- */

/* Tells a finding: law and what was seen, in one line. */
typedef void finding_fn(void *ctx, const char *law, const char *text);

/* Runs all tools over an input in the current folder; `truth` is what it holds, or NULL. Returns
 * how many runs there were. */
unsigned check_case(const char *input, uint64_t number, const counts *truth, finding_fn *fn,
                    void *ctx);

#endif
