/* Packets of dispatches as JSON: see packet.h. */
#include "format/packet.h"

#include "base/json.h"
#include "base/num.h"

#define LEAD "{\"rocprof\":"

/* The members of the object, a bit of `known` each: it is known where the member is there. */
enum {
    NUMBER,
    QUEUE_INDEX,
    WAVE_SIZE,
    SIG,
    OBJ,
    V1,
    REGISTERS,
    WITHOUT_DB,
    FRACTION,
    QUOTES,
    BITS
};
/* After the bits come both times, as long before the start and after the end. */
enum { SUBMITTED = BITS, COMPLETED, MEMBERS };

static const rocl_view names[MEMBERS] = {[NUMBER] = ROCL_JSON_KEY("numbered"),
                                         [QUEUE_INDEX] = ROCL_JSON_KEY("queue-index"),
                                         [WAVE_SIZE] = ROCL_JSON_KEY("wave_size"),
                                         [SIG] = ROCL_JSON_KEY("sig"),
                                         [OBJ] = ROCL_JSON_KEY("obj"),
                                         [V1] = ROCL_JSON_KEY("v1"),
                                         [REGISTERS] = ROCL_JSON_KEY("fbar"),
                                         [WITHOUT_DB] = ROCL_JSON_KEY("without_db"),
                                         [FRACTION] = ROCL_JSON_KEY("fraction"),
                                         [QUOTES] = ROCL_JSON_KEY("quotes"),
                                         [SUBMITTED] = ROCL_JSON_KEY("submitted"),
                                         [COMPLETED] = ROCL_JSON_KEY("completed")};

static const uint32_t bits[BITS] = {
    [NUMBER] = ROCL_PACKET_NUMBER,       [QUEUE_INDEX] = ROCL_PACKET_INDEX,
    [WAVE_SIZE] = ROCL_PACKET_WAVE_SIZE, [SIG] = ROCL_PACKET_SIGNAL,
    [OBJ] = ROCL_PACKET_OBJECT,          [V1] = ROCL_PACKET_V1,
    [REGISTERS] = ROCL_PACKET_REGISTERS, [WITHOUT_DB] = ROCL_PACKET_WITHOUT_DB,
    [FRACTION] = ROCL_PACKET_FRACTION,   [QUOTES] = ROCL_PACKET_QUOTES};

static char *put_value(char *at, int member, const rocl_packet *p)
{
    switch (member) {
    case QUEUE_INDEX:
        return rocl_put_u64(at, p->queue_index);
    case WAVE_SIZE:
        return rocl_put_u64(at, p->wave_size);
    case SIG:
    case OBJ:
        at = mempcpy(at, "\"0x", 3);
        at = rocl_put_hex(at, member == SIG ? p->signal : p->object, 1, false);
        *at++ = '"';
        return at;
    case SUBMITTED:
        return rocl_put_i64(at, p->before);
    case COMPLETED:
        return rocl_put_i64(at, p->after);
    default:
        return mempcpy(at, "true", 4);
    }
}

void schema_put_packet(rocl_buf *b, const rocl_packet *p)
{
    char value[ROCL_NUM_MAX + 4];
    bool any = false;
    rocl_buf_str(b, LEAD "{");
    for (int i = 0; i < MEMBERS; i++) {
        if (!(p->known & (i < BITS ? bits[i] : ROCL_PACKET_TIMES)))
            continue;
        rocl_buf_str(b, any ? ",\"" : "\"");
        rocl_buf_put(b, names[i].p, names[i].n);
        rocl_buf_str(b, "\":");
        rocl_buf_put(b, value, (size_t)(put_value(value, i, p) - value));
        any = true;
    }
    rocl_buf_str(b, "}}");
}

bool schema_read_packet(const char *extdata, size_t n, rocl_packet *p)
{
    static const rocl_view outer[] = {ROCL_JSON_KEY("rocprof")};
    rocl_json r;
    rocl_json_token v;
    bool times[2] = {false, false};
    uint64_t wave = 0;
    if (n < sizeof LEAD || memcmp(extdata, LEAD, sizeof LEAD - 1) != 0)
        return false;
    memset(p, 0, sizeof *p); /* packets are compared as bytes */
    rocl_json_open(&r, extdata, n, 0, 0);
    if (!rocl_json_element(&r, &v) || !rocl_json_enter(&r, ROCL_JSON_OBJECT) ||
        rocl_json_member(&r, outer, 1, &v) < 0 || !rocl_json_enter(&r, ROCL_JSON_OBJECT))
        return false;
    for (int i; (i = rocl_json_member(&r, names, MEMBERS, &v)) >= 0;) {
        bool good = true;
        if (i == QUEUE_INDEX)
            good = rocl_json_uint(v.text, &p->queue_index);
        else if (i == WAVE_SIZE)
            good = rocl_json_uint(v.text, &wave) && wave <= UINT32_MAX;
        else if (i == SIG || i == OBJ)
            good = rocl_json_uint(v.text, i == SIG ? &p->signal : &p->object);
        else if (i == SUBMITTED || i == COMPLETED)
            times[i - SUBMITTED] = rocl_json_int(v.text, i == SUBMITTED ? &p->before : &p->after);
        else
            good = v.kind == ROCL_JSON_TRUE;
        if (i < BITS && good)
            p->known |= bits[i];
    }
    p->wave_size = p->known & ROCL_PACKET_WAVE_SIZE ? (uint32_t)wave : 0;
    if (times[0] && times[1])
        p->known |= ROCL_PACKET_TIMES;
    return !r.wrong;
}
