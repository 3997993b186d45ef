/* Fuzz target: JSON. The first byte says how the rest is read. */
#include <stdlib.h>

#include "base/error.h"
#include "base/json_index.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Reads all tokens and what they hold. Returns the depth it came to, ROCL_JSON_DEPTH + 1: not JSON.
 */
static unsigned read_tokens(const char *text, size_t n, unsigned flags)
{
    static const rocl_view keys[] = {ROCL_JSON_KEY("a"), ROCL_JSON_KEY("name")};
    rocl_json r;
    rocl_json_token t;
    rocl_buf b = {0};
    unsigned deepest = 0;
    rocl_json_open(&r, text, n, 0, flags);
    while (rocl_json_next(&r, &t)) {
        uint64_t u;
        int64_t s;
        double d;
        b.len = 0;
        if (rocl_json_offset(&r, &t) + t.text.n > n)
            abort();
        if (t.kind == ROCL_JSON_STRING || t.kind == ROCL_JSON_KEY)
            rocl_json_unescape(&b, t.text);
        if (rocl_json_int(t.text, &s) && *t.text.p != '-' &&
            (!rocl_json_uint(t.text, &u) || u != (uint64_t)s))
            abort();
        rocl_json_decimal(t.text, 3, &s);
        if (!rocl_json_double(t.text, &d) && t.kind == ROCL_JSON_NUMBER && t.text.n < 500)
            abort();
        deepest = r.depth > deepest ? r.depth : deepest;
    }
    bool wrong = r.wrong;
    /* The same by members, skipping the most. */
    rocl_json_open(&r, text, n, 0, flags);
    while (rocl_json_element(&r, &t))
        if (rocl_json_enter(&r, ROCL_JSON_OBJECT))
            while (rocl_json_member(&r, keys, 2, &t) >= 0)
                if (rocl_json_enter(&r, ROCL_JSON_ARRAY))
                    while (rocl_json_element(&r, &t))
                        ;
    if (!wrong && r.wrong)
        abort(); /* what is JSON can be skipped */
    rocl_buf_free(&b);
    return wrong ? ROCL_JSON_DEPTH + 1 : deepest;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!size)
        return 0;
    const unsigned flags = data[0] & (ROCL_JSON_ELEMENTS | ROCL_JSON_QUOTES | ROCL_JSON_NANS);
    const rocl_json_outline how = {data[0] >> 3 & 3, data[0] >> 5 & 1, flags & ~1u,
                                   data[0] & 64 ? 1 : 100};
    const char *text = (const char *)data + 1;
    const size_t n = size - 1;
    rocl_error *err = rocl_error_new();
    rocl_json_index x = {0};
    bool quotes;
    const unsigned depth = read_tokens(text, n, flags);
    rocl_status st = rocl_json_index_bytes(&x, text, n, &how, &quotes, err);
    if ((st == ROCL_OK) != (rocl_error_text(err)[0] == 0) || x.rest > n)
        abort();
    if (depth <= ROCL_JSON_DEPTH && !(flags & ROCL_JSON_ELEMENTS) && (st != ROCL_OK || x.truncated))
        abort(); /* what is JSON has an outline */
    for (size_t i = 0; st == ROCL_OK && i < x.block_count; i++) {
        const rocl_json_block *b = &x.blocks[i];
        rocl_json r;
        rocl_json_token t;
        uint64_t count = 0;
        if (b->begin > b->end || b->end > n)
            abort();
        rocl_json_open(&r, text + b->begin, (size_t)(b->end - b->begin), b->begin,
                       how.flags | ROCL_JSON_ELEMENTS);
        while (rocl_json_element(&r, &t))
            count++;
        if (depth <= ROCL_JSON_DEPTH && !(flags & ROCL_JSON_ELEMENTS) &&
            (r.wrong || count != b->count))
            abort(); /* and its blocks have the elements that they say */
    }
    rocl_json_index_free(&x);
    rocl_error_free(err);
    return 0;
}
