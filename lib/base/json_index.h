/* The outline of a JSON file of any size: where its top members are, and where its long arrays can
 * be cut. One pass over the bytes, at some GB/s (0.6 with ROCL_JSON_QUOTES), which looks at quotes
 * and brackets only; it needs a window of 1 MiB, and 32 bytes for each block. Then members that
 * come after the events can be read before them, and several threads can read blocks of events
 * concurrently:
 *
 *     const rocl_json_outline how = {.objects = 1};
 *     rocl_json_index x = {0};
 *     bool quotes;
 *     st = rocl_json_index_spool(&x, spool, &how, &quotes, err);
 *     const rocl_json_node *events = rocl_json_child(&x, x.nodes, "traceEvents");
 *     for (size_t i = 0; events && i < events->blocks; i++) { // a task each
 *         const rocl_json_block *b = &x.blocks[events->block + i];
 *         st = rocl_json_load(&r, &buf, spool, b->begin, b->end, ROCL_JSON_ELEMENTS, err);
 *         ...
 *     }
 *     rocl_json_index_free(&x); */
#pragma once

#include "base/array.h"
#include "base/json.h"
#include "base/spool.h"

/* Which objects and arrays are opened, so that all their members are nodes. The outermost value has
 * depth 1. For {"a": [{"b": {"c": [...]}}]}: objects 4, arrays 2 gives nodes for all that is named.
 */
typedef struct rocl_json_outline {
    unsigned objects; /* objects down to this depth */
    unsigned arrays;  /* arrays down to this depth; they must have few elements */
    unsigned flags;   /* ROCL_JSON_QUOTES, ROCL_JSON_NANS */
    size_t block;     /* bytes of a block, at least; 0: 4 MiB */
} rocl_json_outline;

/* A value that is a member of something opened. */
typedef struct rocl_json_node {
    const char *key;      /* unescaped; "" of an element, and of the outermost value */
    size_t parent;        /* node; of the outermost value itself */
    rocl_json_kind kind;  /* OBJECT, ARRAY, STRING, ... */
    uint64_t begin, end;  /* in the file, with brackets or quotes */
    size_t block, blocks; /* of an array that was not opened; 0 if it is empty */
    uint64_t elements;    /* of such an array; of others the number of members that are nodes */
} rocl_json_node;

/* Whole elements of an array: [begin, end) without brackets, to be read with ROCL_JSON_ELEMENTS. */
typedef struct rocl_json_block {
    uint64_t begin, end;
    uint64_t first; /* number of its first element in the array */
    uint64_t count;
} rocl_json_block;

typedef struct rocl_json_index {
    rocl_json_node *nodes; /* in the order of the file; the first is the outermost value */
    size_t count, cap;
    rocl_json_block *blocks;
    size_t block_count, block_cap;
    rocl_arena keys;
    uint64_t size; /* of the file */
    /* The file ends within the outermost value. Nodes and blocks then hold the complete elements of
     * arrays that were not opened; `rest` is where the incomplete rest begins: `size` if only
     * brackets are missing. */
    bool truncated;
    uint64_t rest;
} rocl_json_index;

enum { ROCL_JSON_NODES = 1 << 16 }; /* more are an error */

/* ROCL_INPUT "byte 123: why" (the caller adds the name): it is not JSON, as brackets or strings do
 * not match. *quotes: because a quote in a string lacks its backslash; try ROCL_JSON_QUOTES. Most
 * other errors are found only when blocks are read. Free the index in any case. */
rocl_status rocl_json_index_spool(rocl_json_index *x, const rocl_spool *spool,
                                  const rocl_json_outline *how, bool *quotes, rocl_error *err);
/* Makes the index of bytes in memory. */
rocl_status rocl_json_index_bytes(rocl_json_index *x, const char *p, size_t n,
                                  const rocl_json_outline *how, bool *quotes, rocl_error *err);
void rocl_json_index_free(rocl_json_index *x);

/* The first member of an opened node with a key; NULL: none. */
const rocl_json_node *rocl_json_child(const rocl_json_index *x, const rocl_json_node *of,
                                      const char *key);

/* The next member of the same object that has the same key; NULL: none. */
const rocl_json_node *rocl_json_same(const rocl_json_index *x, const rocl_json_node *member);

/* Reads [begin, end) of the file into b, whose bytes it replaces, and opens a reader on them. More
 * than 256 MiB are an error. */
rocl_status rocl_json_load(rocl_json *r, rocl_buf *b, const rocl_spool *spool, uint64_t begin,
                           uint64_t end, unsigned flags, rocl_error *err);

/* Opens a reader on a value of the outline of a file, and returns its first token. False: node is
 * NULL, *st was not ROCL_OK, or that failed. The reader is of `bytes`. */
bool rocl_json_load_node(rocl_json *r, rocl_json_token *v, rocl_buf *bytes, const rocl_spool *s,
                         const rocl_json_node *node, unsigned flags, rocl_status *st,
                         rocl_error *err);
