/* What the readers of files, the parser and the evaluation share. */
#pragma once

#include "base/array.h"
#include "base/view.h"
#include "derive/derive.h"

typedef enum derive_node_kind {
    DERIVE_NUMBER,
    DERIVE_NAME,
    DERIVE_SUM,        /* children joined by + and - */
    DERIVE_PRODUCT,    /* by * and / */
    DERIVE_REDUCE,     /* of its child, over instances */
    DERIVE_FOLD,       /* rocprof's sum(NAME,N) and so on, over NAME[0] to NAME[N-1] */
    DERIVE_SELECT,     /* some instances of its child */
    DERIVE_ACCUMULATE, /* what only the hardware can do */
} derive_node_kind;

typedef enum derive_fold {
    DERIVE_FOLD_SUM,
    DERIVE_FOLD_AVR,
    DERIVE_FOLD_MIN,
    DERIVE_FOLD_MAX
} derive_fold;

/* Nodes refer to each other by index; 0 is none. */
typedef struct derive_node {
    uint8_t kind, fold;
    uint8_t dimensions; /* REDUCE: those that are reduced, a bit each; 0: all */
    char op;            /* which joins it with the child before */
    uint32_t first, next;
    uint32_t symbol;
    uint32_t count;            /* FOLD: N, and its symbols from */
    uint32_t items;            /* this index of rocl_derive.items on; SELECT: N conditions there */
    double number, amd_number; /* NUMBER; as AMD's scanner reads it */
} derive_node;

/* The rules of one of the two grammars; see expression.c. */
typedef struct derive_grammar derive_grammar;
extern const derive_grammar derive_rocprof, derive_rocprofv3;

struct derive_grammar {
    bool right_to_left;  /* AMD's + and - */
    bool names_are_sums; /* a name is one value, not one for each instance */
    bool calls_by_count; /* sum(NAME,N), else reduce(x,sum) */
    bool decimals;
    bool comments; /* from // on */
};

typedef struct derive_expression {
    const derive_grammar *grammar;
    const char *text;
    uint32_t root;
    unsigned amd; /* ROCL_AMD_ASSOCIATES, CUTS: where AMD's value may differ */
} derive_expression;

typedef struct derive_definition {
    uint32_t arch; /* symbol; 0: all */
    uint32_t tag;  /* of an XML file: that it stands in, a symbol */
    uint32_t name;
    uint32_t expression; /* index; ROCL_NONE: a counter of the hardware */
    uint32_t block;      /* of the hardware, a symbol; 0: unknown */
    const char *unit;
} derive_definition;

/* What a condition of SELECT has in rocl_derive.items. */
enum { DERIVE_PICK_DIMENSION, DERIVE_PICK_FROM, DERIVE_PICK_TO, DERIVE_PICK_WORDS };

extern const char *const derive_dimension_names[ROCL_DERIVE_DIMENSIONS]; /* expression.c */

struct rocl_derive {
    rocl_arena arena;
    rocl_strings *names;
    derive_node *nodes;
    size_t node_count, node_cap;
    derive_expression *expressions;
    size_t expression_count, expression_cap;
    derive_definition *definitions;
    size_t definition_count, definition_cap;
    uint32_t *items;
    size_t item_count, item_cap;
    bool needs_instances;
};

enum { DERIVE_DEFINITIONS_MAX = 1 << 20, DERIVE_NESTED_MAX = 64, DERIVE_FILE_MAX = 64 << 20 };

static inline bool derive_is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* Parses an expression: *expression is its index. The error has no file and line yet. */
rocl_status derive_parse_expression(rocl_derive *d, const derive_grammar *g, rocl_view text,
                                    uint32_t *expression, rocl_error *err);
rocl_status derive_add_definition(rocl_derive *d, const derive_definition *def, rocl_error *err);
/* The unit that a description names, "" for none. */
const char *derive_unit_of(rocl_view description);

rocl_status derive_read_xml(rocl_derive *d, const char *path, const char *text, size_t n,
                            unsigned depth, rocl_error *err);
rocl_status derive_read_yaml(rocl_derive *d, const char *text, size_t n, rocl_error *err);
