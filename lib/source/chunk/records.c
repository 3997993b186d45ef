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

static bool next_small(chunk_reader *r, chunk_record *rec)
{
    static const uint8_t fields[] = {
        [ROCL_REC_BEGIN] = 1, [ROCL_REC_END] = 0,   [ROCL_REC_PUSH] = 1, [ROCL_REC_POP] = 0,
        [ROCL_REC_MARK] = 1,  [ROCL_REC_START] = 2, [ROCL_REC_STOP] = 1,
    };
    const uint8_t *p = r->p;
    uint64_t delta;
    bool ok = rec->type > 0 && rec->type < sizeof fields && rocl_varint_get(&p, r->end, &delta);
    if (ok && fields[rec->type] > 0)
        ok = rocl_varint_get(&p, r->end, &rec->a);
    if (ok && fields[rec->type] > 1)
        ok = rocl_varint_get(&p, r->end, &rec->b);
    if (!ok)
        return false;
    r->now += delta;
    r->p = p;
    return true;
}

static bool next_sized(chunk_reader *r, chunk_record *rec)
{
    const uint8_t *p = r->p;
    uint64_t len;
    if (!rocl_varint_get(&p, r->end, &len) || len > (uint64_t)(r->end - p))
        return false;
    rec->p = p;
    rec->end = r->p = p + len;
    return true;
}

bool chunk_next(chunk_reader *r, chunk_record *rec)
{
    if (r->p >= r->end || r->broken)
        return false;
    *rec = (chunk_record){.type = *r->p++};
    r->broken = !(rec->type < ROCL_REC_SIZED ? next_small(r, rec) : next_sized(r, rec));
    return !r->broken;
}

bool chunk_is_event(const chunk_record *rec)
{
    return rec->type < ROCL_REC_SIZED || rec->type >= ROCL_REC_DISPATCH;
}

uint64_t chunk_number(chunk_record *r)
{
    uint64_t v = 0;
    if (!rocl_varint_get(&r->p, r->end, &v))
        r->p = r->end;
    return v;
}

int64_t chunk_signed(chunk_record *r)
{
    return rocl_unzigzag(chunk_number(r));
}

chunk_string chunk_text(chunk_record *r)
{
    uint64_t n = chunk_number(r), there = (uint64_t)(r->end - r->p);
    chunk_string s = {(const char *)r->p, (size_t)(n < there ? n : there)};
    r->p += s.n;
    return s;
}

chunk_string chunk_rest(chunk_record *r)
{
    chunk_string s = {(const char *)r->p, (size_t)(r->end - r->p)};
    r->p = r->end;
    return s;
}

chunk_times chunk_read_times(chunk_reader *r, chunk_record *rec)
{
    chunk_times t = {.clock = (unsigned)chunk_number(rec) & 3};
    t.start = r->last[t.clock] += (uint64_t)chunk_signed(rec);
    t.end = t.start + (uint64_t)chunk_signed(rec);
    t.tid = chunk_number(rec);
    t.correlation = chunk_number(rec);
    return t;
}
