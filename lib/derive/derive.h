/* Derived counters: values that profilers compute from counters, by expressions that files define.
 *
 *     files --read--> definitions --of one architecture--> program --counters--> values
 *
 * Two forms of files, each with a grammar of its own, are read into the same tree: metrics.xml of
 * rocprof (xml.c) and counter_defs.yaml of rocprofv3 (yaml.c); read.c tells them apart.
 * expression.c has the grammars, definitions.c keeps what was read, program.c evaluates.
 *
 * Values follow the mathematics: a - b - c is (a - b) - c, and what is divided by zero has no
 * value. AMD's tools deviate in some cases; a value says when they would give another one.
 *
 * Nothing here is locked. */
#pragma once

#include "base/buf.h"
#include "base/error.h"
#include "base/strings.h"

/* ---- definitions ----------------------------------------------------------------------------- */

typedef struct rocl_derive rocl_derive;

rocl_derive *rocl_derive_new(void); /* NULL: memory is out */
void rocl_derive_free(rocl_derive *d);

/* Adds the definitions of a file; a later one of the same name and architecture replaces the
 * former. Every expression is parsed. Errors say file and line. */
rocl_status rocl_derive_read(rocl_derive *d, const char *path, rocl_error *err);
/* Reads n bytes of such a file; included files are beside `path`. */
rocl_status rocl_derive_parse(rocl_derive *d, const char *path, const char *text, size_t n,
                              rocl_error *err);

/* The number by which values know a name; ROCL_NONE: memory is out. All symbols must be made before
 * programs are. */
uint32_t rocl_derive_symbol(rocl_derive *d, const char *name, size_t n);
const char *rocl_derive_name(const rocl_derive *d, uint32_t symbol);
size_t rocl_derive_symbols(const rocl_derive *d); /* symbols are below this */

/* ---- programs -------------------------------------------------------------------------------- */

/* Where an instance is: -1 unknown. */
typedef enum rocl_derive_dimension {
    ROCL_DERIVE_XCC,
    ROCL_DERIVE_SHADER_ENGINE,
    ROCL_DERIVE_INSTANCE,
    ROCL_DERIVE_SHADER_ARRAY,
    ROCL_DERIVE_WGP,
    ROCL_DERIVE_PLACES,
    ROCL_DERIVE_AID =
        ROCL_DERIVE_PLACES, /* expressions may name these, but their values are unknown */
    ROCL_DERIVE_AGENT,
    ROCL_DERIVE_DIMENSIONS
} rocl_derive_dimension;

typedef struct rocl_derive_instance {
    double value;
    int32_t place[ROCL_DERIVE_PLACES];
} rocl_derive_instance;

/* As for qsort: by their places. */
int rocl_derive_compare_places(const void *a, const void *b);

/* What is known of a counter, or a derived counter that was collected itself. */
typedef struct rocl_operand {
    bool known;
    uint32_t instances;               /* 0: not known, and min and max are not either */
    double sum, min, max;             /* over its instances */
    const rocl_derive_instance *each; /* all of them, by place; NULL: not known */
} rocl_operand;

typedef struct rocl_constant { /* of an agent, "simd_count" */
    uint32_t symbol;
    double value;
} rocl_constant;

/* How the value that AMD's tools compute may differ. */
enum {
    ROCL_AMD_ASSOCIATES = 1, /* a - b - c as a - (b - c) */
    ROCL_AMD_SWAPS = 2,      /* c - X and c / X of several instances as X - c and X / c */
    ROCL_AMD_CUTS = 4,       /* 0.5 as 0 */
    ROCL_AMD_ZERO = 8,       /* a division by zero as 0 */
};

typedef struct rocl_metric {
    uint32_t symbol;
    const char *unit;       /* "" unknown */
    const char *expression; /* as written in the file */
} rocl_metric;

typedef struct rocl_derive_program rocl_derive_program;

/* The definitions of an architecture (gfx90a). Fails if a derived counter depends on itself. The
 * definitions must outlive it. Free it also after a failure. */
rocl_status rocl_derive_program_new(rocl_derive_program **p, rocl_derive *d, const char *arch,
                                    const rocl_constant *constants, size_t count, rocl_error *err);
void rocl_derive_program_free(rocl_derive_program *p);

/* Its derived counters, by name. */
const rocl_metric *rocl_derive_metrics(const rocl_derive_program *p, size_t *count);
/* Has the name an expression? */
bool rocl_derive_is_derived(const rocl_derive_program *p, uint32_t symbol);
/* Does an expression need each instance of an operand, not only their sum, least and largest? */
bool rocl_derive_needs_instances(const rocl_derive *d);
/* Is there any definition of the architecture, of a counter or a derived one? */
bool rocl_derive_has_definitions(const rocl_derive_program *p);

typedef enum rocl_derived_state {
    ROCL_DERIVED_VALUE,
    ROCL_DERIVED_UNDEFINED, /* divides by zero */
    ROCL_DERIVED_MISSING,   /* lacks an operand: see rocl_derive_missing */
} rocl_derived_state;

typedef struct rocl_derived {
    rocl_derived_state state;
    double value;
    unsigned amd; /* ROCL_AMD_*: AMD's tools have another value */
} rocl_derived;

/* What rocl_derive_value works with from now on: operands by symbol. */
void rocl_derive_values(rocl_derive_program *p, const rocl_operand *by_symbol);
/* The value of a metric; if it was collected itself, that value. */
rocl_derived rocl_derive_value(rocl_derive_program *p, size_t metric);
/* Appends what a metric lacks, "A, B", and returns how many those are. */
unsigned rocl_derive_missing(rocl_derive_program *p, size_t metric, rocl_buf *text);
