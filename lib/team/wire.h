/* Batches of events as bytes, from one process of a team to another: column by column, each as the
 * differences of its values, or as one value where all are the same. 15 to 30 bytes an event. Texts
 * are the sender's ids. */
#pragma once

#include "model/kinds.h"
#include "team/team.h"

/* The texts that batches of one worker have had, and those among them that are new. Zeroed at
 * first. */
typedef struct rocl_wire_texts {
    uint8_t *known; /* by text */
    size_t cap;
    uint32_t *fresh; /* of the last batch */
    size_t fresh_count, fresh_cap;
    bool failed; /* memory is out */
} rocl_wire_texts;

void rocl_wire_texts_free(rocl_wire_texts *t);

/* Appends a batch without its capture. t->fresh are then its texts that were in no earlier
 * batch. */
void rocl_wire_put_batch(rocl_buf *to, const rocl_batch *b, rocl_wire_texts *t);

/* The reader's texts by the sender's. */
typedef struct rocl_wire_map {
    const uint32_t *ids;
    size_t count;
} rocl_wire_map;

/* A batch as it was read, and its memory, which is used again. Zeroed at first. */
typedef struct rocl_wire_batch {
    rocl_batch b; /* its capture is the reader's to set */
    void *records;
    size_t record_cap; /* bytes */
    rocl_arg *args;
    size_t arg_cap;
    rocl_packet *packets;
    size_t packet_cap;
    rocl_instance *instances;
    size_t instance_cap;
} rocl_wire_batch;

void rocl_wire_batch_free(rocl_wire_batch *b);

/* Reads what rocl_wire_put_batch() has put; values of arguments stay in the message. */
rocl_status rocl_wire_get_batch(rocl_wire_batch *b, rocl_byte_reader *from,
                                const rocl_wire_map *texts, rocl_error *err);
