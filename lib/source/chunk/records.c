/* A content as records. */
#include "source/chunk/chunk.h"

void chunk_reader_begin(chunk_reader *r, const chunk_info *c, const uint8_t *content, size_t n)
{
    *r = (chunk_reader){.p = content, .end = content + n, .now = c->h.base};
    r->last[ROCL_CLOCK_TICKS] = c->h.base;
    r->last[ROCL_CLOCK_MONOTONIC] = c->h.begin.monotonic;
    r->last[ROCL_CLOCK_BOOTTIME] = c->h.begin.boottime;
    r->last[ROCL_CLOCK_REALTIME] = c->h.begin.realtime;
}

bool chunk_read_record(chunk_reader *r, chunk_record *rec)
{
    static const uint8_t fields[] = {
        [ROCL_REC_BEGIN] = 1, [ROCL_REC_END] = 0,   [ROCL_REC_PUSH] = 1, [ROCL_REC_POP] = 0,
        [ROCL_REC_MARK] = 1,  [ROCL_REC_START] = 2, [ROCL_REC_STOP] = 1,
    };
    if (r->p >= r->end || r->broken)
        return false;
    const uint8_t *p = r->p + 1;
    uint64_t number; /* ticks since the record before, or bytes of the body */
    *rec = (chunk_record){.type = *r->p};
    r->p = p;
    bool ok = rocl_varint_get(&p, r->end, &number);
    if (rec->type < ROCL_REC_SIZED) {
        ok = ok && rec->type > 0 && rec->type < sizeof fields;
        if (ok && fields[rec->type] > 0)
            ok = rocl_varint_get(&p, r->end, &rec->a);
        if (ok && fields[rec->type] > 1)
            ok = rocl_varint_get(&p, r->end, &rec->b);
        r->now += ok ? number : 0;
    } else {
        ok = ok && number <= (uint64_t)(r->end - p);
        rec->p = p;
        p = rec->end = ok ? p + number : p;
    }
    r->p = ok ? p : r->p;
    r->broken = !ok;
    return ok;
}

bool chunk_is_event(const chunk_record *rec)
{
    return rec->type < ROCL_REC_SIZED || rec->type >= ROCL_REC_DISPATCH;
}

uint64_t chunk_read_number(chunk_record *r)
{
    uint64_t v = 0;
    if (!rocl_varint_get(&r->p, r->end, &v))
        r->p = r->end;
    return v;
}

int64_t chunk_read_signed(chunk_record *r)
{
    return rocl_unzigzag(chunk_read_number(r));
}

rocl_view chunk_read_text(chunk_record *r)
{
    uint64_t n = chunk_read_number(r), there = (uint64_t)(r->end - r->p);
    rocl_view s = {(const char *)r->p, (size_t)(n < there ? n : there)};
    r->p += s.n;
    return s;
}

rocl_view chunk_read_rest(chunk_record *r)
{
    rocl_view s = {(const char *)r->p, (size_t)(r->end - r->p)};
    r->p = r->end;
    return s;
}

chunk_times chunk_read_times(chunk_reader *r, chunk_record *rec)
{
    chunk_times t = {.clock = (unsigned)chunk_read_number(rec) & 3};
    t.start = r->last[t.clock] += (uint64_t)chunk_read_signed(rec);
    t.end = t.start + (uint64_t)chunk_read_signed(rec);
    t.tid = chunk_read_number(rec);
    t.correlation = chunk_read_number(rec);
    return t;
}
