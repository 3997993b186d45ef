/* Packets, one after the other: see pftrace.h. */
#include "source/pftrace/pftrace.h"

#include <string.h>

#include "base/deflate.h"
#include "base/unpack.h"
#include "base/without.h"

/* Readers expect at most 512 KiB; a packet that claims to unpack to more than this is hostile. */
enum { UNPACKED_MAX = 64 << 20 };

uint64_t pfr_field_bytes(const uint8_t *p, size_t n, bool *compressed)
{
    const uint8_t *at = p, *end = p + n;
    uint64_t tag, length = 0;
    *compressed = false;
    if (!rocl_varint_get(&at, end, &tag))
        return n < ROCL_VARINT_MAX ? 0 : UINT64_MAX;
    const unsigned kind = tag & 7;
    if (!(tag >> 3) || tag > UINT32_MAX)
        return UINT64_MAX;
    if (kind == ROCL_PB_FIXED64 || kind == ROCL_PB_FIXED32)
        return (uint64_t)(at - p) + (kind == ROCL_PB_FIXED64 ? 8 : 4);
    if (kind != ROCL_PB_VARINT && kind != ROCL_PB_BYTES)
        return UINT64_MAX;
    const size_t left = (size_t)(end - at);
    if (!rocl_varint_get(&at, end, &length))
        return left < ROCL_VARINT_MAX ? 0 : UINT64_MAX;
    if (kind == ROCL_PB_VARINT)
        return (uint64_t)(at - p);
    /* The compressed bytes are usually the first field, whose tag has two bytes. */
    *compressed =
        end - at >= 2 &&
        ((at[0] == (0x82 | (PKT_COMPRESSED & 0xf) << 3) && at[1] == PKT_COMPRESSED >> 4) ||
         (at[0] == (0x82 | (PKT_ZSTD & 0xf) << 3) && at[1] == PKT_ZSTD >> 4));
    return length > UINT64_MAX / 2 ? UINT64_MAX : (uint64_t)(at - p) + length;
}

/* Fields of packets other than the payload. */
static bool read_head(pfr_packet *p, const rocl_pb_field *f)
{
    switch (f->number) {
    case PKT_TIMESTAMP:
        p->timestamp = f->value;
        p->has_time = true;
        return true;
    case PKT_CLOCK_ID:
        p->clock = f->value < UINT32_MAX ? (uint32_t)f->value : UINT32_MAX;
        p->has_clock = true;
        return true;
    case PKT_SEQUENCE_ID:
        p->sequence = (uint32_t)f->value;
        return true;
    case PKT_MACHINE:
        p->machine = (uint32_t)f->value;
        return true;
    case PKT_SEQUENCE_FLAGS:
        p->flags |= (uint32_t)f->value;
        return true;
    case PKT_STATE_CLEARED:
        p->flags |= f->value ? SEQ_CLEARED : 0;
        return true;
    case PKT_DROPPED:
        p->dropped = f->value;
        return true;
    case PKT_FIRST_ON_SEQUENCE:
        p->first = f->value;
        return true;
    default:
        return f->kind != ROCL_PB_BYTES || f->number == PKT_UID || f->number == PKT_TRUSTED_PID;
    }
}

static bool read_packet(pfr_packet *p, rocl_view bytes)
{
    rocl_pb r = rocl_pb_of(bytes);
    rocl_pb_field f;
    /* Member by member: a large initializer compiles to a slow instruction. */
    p->why = NULL;
    p->timestamp = 0;
    p->clock = p->sequence = p->machine = p->flags = p->payload = 0;
    p->has_time = p->has_clock = p->first = p->dropped = false;
    p->body = p->interned = p->defaults = (rocl_view){NULL, 0};
    p->whole = bytes;
    while (rocl_pb_next(&r, &f)) {
        if (read_head(p, &f))
            continue;
        if (f.number == PKT_INTERNED) {
            p->interned = f.bytes;
        } else if (f.number == PKT_DEFAULTS) {
            p->defaults = f.bytes;
        } else if (p->payload != PKT_TRACK_EVENT && p->payload != PKT_GPU_STAGE) {
            p->payload = f.number; /* other fields beside an event are extensions */
            p->body = f.bytes;
        }
    }
    return !r.bad;
}

void pfr_walk_begin(pfr_walk *w, const void *p, size_t n, uint64_t at)
{
    w->outer = rocl_pb_read(p, n);
    w->unpacking = false;
    w->at = at;
    w->copy = NULL;
}

/* Opens a compressed packet. Returns what is wrong with it; NULL: nothing. */
static const char *unpack_packet(pfr_walk *w, const pfr_packet *p)
{
    if (w->unpacking)
        return "compressed packets within compressed ones";
    w->unpacked.len = 0;
    const rocl_status st = p->payload == PKT_ZSTD
                               ? rocl_zstd_unpack(&w->unpacked, p->body.p, p->body.n, UNPACKED_MAX)
                               : rocl_zlib_unpack(&w->unpacked, p->body.p, p->body.n, UNPACKED_MAX);
    if (st == ROCL_INPUT && p->payload == PKT_ZSTD && !*rocl_unpack_zstd())
        return "packets compressed with zstd, and " ROCL_BUILT_WITHOUT("libzstd");
    if (st == ROCL_INPUT)
        return "compressed packets that cannot be unpacked";
    w->failed = st != ROCL_OK;
    w->inner = rocl_pb_read(w->unpacked.data, w->unpacked.len);
    w->unpacking = true;
    return NULL;
}

bool pfr_walk_next(pfr_walk *w, pfr_packet *p)
{
    while (!w->failed) {
        rocl_pb *r = w->unpacking ? &w->inner : &w->outer;
        const uint8_t *before = r->at;
        rocl_pb_field f;
        p->at = w->at;
        if (!rocl_pb_next(r, &f)) {
            const bool inner = w->unpacking;
            w->unpacking = false;
            if (r->bad) {
                static const uint8_t other[] = {0x10, 0}; /* a field that is not a packet */
                if (w->copy)
                    rocl_buf_put(w->copy, other, sizeof other);
                *r = (rocl_pb){r->end, r->end, false};
                *p = (pfr_packet){.at = w->at, .why = "something that is not a packet"};
                w->at += sizeof other;
                return true;
            }
            if (!inner)
                return false;
            continue;
        }
        const uint64_t bytes = (uint64_t)(r->at - before);
        /* Not two comparisons, which the compiler turns into a load that waits for the stores. */
        const bool packet = !((f.number ^ TRACE_PACKET) | (f.kind ^ ROCL_PB_BYTES));
        p->why = NULL;
        if (packet && !read_packet(p, f.bytes)) {
            p->why = "a packet that is damaged";
        } else if (packet && (p->payload == PKT_COMPRESSED || p->payload == PKT_ZSTD)) {
            p->why = unpack_packet(w, p);
            if (!p->why)
                continue;
        }
        if (w->copy)
            rocl_buf_put(w->copy, before, (size_t)bytes);
        w->at += bytes;
        if (packet)
            return true;
    }
    return false;
}

void pfr_walk_free(pfr_walk *w)
{
    rocl_buf_free(&w->unpacked);
}
