/* Begins that wait for their ends: a stack whose members are found by their id as well.
 *
 * Nearly always an end belongs to the last begin or to one just below it. If not, as with ranges
 * that many threads start and stop, all of them are put into a hash table by id, and later ones as
 * they come: then every end takes the same time, however many are open. */
#ifndef ROCL_SOURCE_RECORDS_OPEN_H
#define ROCL_SOURCE_RECORDS_OPEN_H

#include <stddef.h>
#include <stdint.h>

/* Must be the first member of an open begin. */
typedef struct rocl_open {
    struct rocl_open *below, *above;
    uint64_t id;
    /* In the table, the last begin of each id is in a chain, and those below it with the same id
     * hang off it. */
    struct rocl_open *next, *same;
} rocl_open;

/* Zeroed at first. */
typedef struct rocl_open_stack {
    rocl_open *top; /* the last begin */
    size_t count;
    rocl_open **chains; /* by hash of the id; NULL: there is no table */
    size_t chain_count;
} rocl_open_stack;

void rocl_open_push(rocl_open_stack *s, rocl_open *o);
/* The last one with this id; NULL: none has it. */
rocl_open *rocl_open_find(rocl_open_stack *s, uint64_t id);
/* Removes a begin that is the last with its id, such as the top or a found one. An empty stack has
 * no memory of its own. */
void rocl_open_remove(rocl_open_stack *s, rocl_open *o);

#endif
