/* Walks over the packets of a Perfetto trace, whatever they hold, unpacking compressed ones. */
#ifndef ROCL_SOURCE_PFTRACE_PACKET_H
#define ROCL_SOURCE_PFTRACE_PACKET_H

#include "base/proto.h"
#include "base/status.h"
#include "format/perfetto.h"

/* No tracer writes a larger packet. */
#define PFR_PACKET_MAX ((uint64_t)256 << 20)

/* The next field of bytes with this number; false: there is none. */
static inline bool pfr_next_bytes(rocl_pb *r, uint32_t number, rocl_view *bytes)
{
    rocl_pb_field f;
    while (rocl_pb_next(r, &f))
        if (f.number == number && f.kind == ROCL_PB_BYTES) {
            *bytes = f.bytes;
            return true;
        }
    return false;
}

/* A packet: the sequence it belongs to, and its one payload. */
typedef struct pfr_packet {
    uint64_t
        at; /* position of the packet as if nothing were compressed; in a plain file its offset */
    const char *why; /* what is wrong with it (then nothing else is set); NULL: it can be read */
    uint64_t timestamp;
    uint32_t clock, sequence, machine, flags; /* SEQ_... */
    uint32_t payload;                         /* the number of its field; 0: there is none */
    bool has_time, has_clock, first, dropped; /* dropped: packets before this one are lost */
    rocl_view body, interned, defaults;       /* the payload, and two that any payload may have */
    rocl_view whole;                          /* all of it, without tag and length */
} pfr_packet;

/* Reads packets from bytes that hold whole ones. */
typedef struct pfr_walk {
    rocl_pb outer, inner;
    bool unpacking;
    rocl_buf unpacked; /* of the compressed packet at hand */
    uint64_t at;       /* of the next packet */
    rocl_buf *copy;    /* gets all bytes walked over, unpacked: a walk through it finds the same
                          packets at the same positions; may be NULL */
    bool failed;       /* memory is out */
} pfr_walk;

/* Begins at the position `at`, without a copy; reuses the walk's memory. */
void pfr_walk_begin(pfr_walk *w, const void *p, size_t n, uint64_t at);
/* The next packet, which is good until the next call; false at the end or when memory is out. */
bool pfr_walk_next(pfr_walk *w, pfr_packet *p);
void pfr_walk_free(pfr_walk *w);

/* The size of the file's next top-level field, with its tag and length, in the n bytes at p; it may
 * exceed n. 0: the head is cut off; SIZE_MAX: no field begins there. *compressed: it probably holds
 * others. */
uint64_t pfr_field_bytes(const uint8_t *p, size_t n, bool *compressed);

#endif
