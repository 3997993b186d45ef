/* Counter values of dispatches: each is shown while its dispatch runs, then it is 0 again. */
#ifndef ROCL_TIMELINE_DISPLAYED_H
#define ROCL_TIMELINE_DISPLAYED_H

#include "rocline.h"

typedef struct rocl_displayed {
    int64_t *ends;  /* by counter: when the value shown runs out, INT64_MIN: it is 0 */
    uint32_t *list; /* the counters whose ends are pending: few at once */
    uint32_t count;
} rocl_displayed;

bool rocl_displayed_open(rocl_displayed *s, uint32_t counters); /* false: memory is out */
void rocl_displayed_close(rocl_displayed *s);

/* The next counter, in the order of time, that goes back to 0 at or before `until`; false: none.
 * Not said of the successor, which gets a new value at `until`: no zero in between. */
bool rocl_displayed_end(rocl_displayed *s, int64_t until, uint32_t successor, uint32_t *counter,
                        int64_t *when);
void rocl_displayed_set(rocl_displayed *s, uint32_t counter, int64_t end);

#endif
