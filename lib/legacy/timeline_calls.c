#include "legacy/timeline_impl.h"

#include "base/error.h"

#include <stdlib.h>

rocl_status tl_calls_init(tl_calls *c, rocl_error *err)
{
    c->strings = rocl_strings_new();
    return c->strings ? ROCL_OK : rocl_fail_memory(err);
}

void tl_calls_free(tl_calls *c)
{
    for (size_t i = 0; i < c->count; i++)
        rocl_buf_free(&c->calls[i].text);
    rocl_strings_free(c->strings);
    rocl_map_free(&c->open);
    free(c->calls);
}

static tl_call *add(tl_calls *c, uint32_t name)
{
    if (c->count == c->cap) {
        size_t cap = c->cap ? 2 * c->cap : 16;
        tl_call *more = realloc(c->calls, cap * sizeof *more);
        if (!more)
            return NULL;
        c->calls = more;
        c->cap = cap;
    }
    if (!rocl_map_put(&c->open, name, (uint32_t)c->count))
        return NULL;
    c->calls[c->count] = (tl_call){0};
    return &c->calls[c->count++];
}

/* Of calls of one name the last that was begun counts, and stays open for more than one end. */
rocl_status tl_calls_begin(tl_calls *c, const tl_texts *t, const char *texts, rocl_error *err)
{
    uint32_t name = rocl_strings_put(c->strings, texts, t->len[0]);
    uint32_t index = name == ROCL_NONE ? ROCL_NONE : rocl_map_get(&c->open, name, ROCL_NONE);
    tl_call *call = index != ROCL_NONE ? &c->calls[index] : NULL;
    if (!call && name != ROCL_NONE)
        call = add(c, name);
    if (!call)
        return rocl_fail_memory(err);
    call->text.len = 0;
    rocl_buf_put(&call->text, texts + t->len[0], (size_t)t->len[1] + t->len[2] + t->len[3]);
    call->call = t->len[1];
    call->seconds = t->len[2];
    call->fraction = t->len[3];
    return call->text.failed ? rocl_fail_memory(err) : ROCL_OK;
}

const tl_call *tl_calls_find(tl_calls *c, const char *name, size_t n)
{
    uint32_t id = rocl_strings_put(c->strings, name, n);
    uint32_t index = rocl_map_get(&c->open, id, ROCL_NONE);
    return index == ROCL_NONE ? NULL : &c->calls[index];
}
