/* Arguments of calls. Their types and names are in a chunk once, for each function; a call has the
 * values only, as they are: the reader makes text of them. */
#include "capture/core.h"

/* The bytes of a value: a form and three numbers of 32 bits, or one of 64. */
enum { VALUE_MAX = 16 };

static bool is_open(const rocl_writer *w)
{
    uint32_t depth = w->regions.depth;
    return depth && depth <= ROCL_OPEN_MAX && w->regions.open[depth - 1].ticks;
}

/* ---- one alone ------------------------------------------------------------------------------- */

static void put_arg(rocl_writer *w, const char *type, const char *name, const char *value,
                    size_t len)
{
    uint8_t body[2 * ROCL_VARINT_MAX], *p;
    uint32_t generation, name_id, type_id;
    size_t need = len + 2 * ROCL_HOT;
    do {
        generation = w->generation;
        name_id = rocl_text_id(w, name, strlen(name), need);
        type_id = name_id ? rocl_text_id(w, type, strlen(type), need) : 0;
        if (!type_id || !rocl_reserve(w, need))
            return;
    } while (w->generation != generation);
    p = rocl_varint_put(body, name_id);
    size_t n = (size_t)(rocl_varint_put(p, type_id) - body);
    p = rocl_put_sized(w->pos, ROCL_REC_ARG, n + len);
    memcpy(p, body, n);
    memcpy(p + n, value, len);
    rocl_commit(w, p + n + len, 0);
}

void rocl_cap_arg(const char *type, const char *name, const char *value, size_t len)
{
    rocl_writer *w = rocl_enter_silently();
    if (!w)
        return;
    if (is_open(w))
        put_arg(w, type, name, value, len);
    rocl_leave();
}

/* ---- a list ------------------------------------------------------------------------------- */

/* Ends a record whose body stands after the head that a short one has; a longer one is moved. */
static uint8_t *end_of_body(uint8_t *head, uint8_t type, uint8_t *body, uint8_t *end)
{
    size_t n = (size_t)(end - body);
    uint8_t length[ROCL_VARINT_MAX];
    size_t k = (size_t)(rocl_varint_put(length, n) - length);
    if (UNLIKELY(k > 1))
        memmove(head + 1 + k, body, n);
    *head = type;
    memcpy(head + 1, length, k);
    return head + 1 + k + n;
}

/* The id of the list, which is in the chunk after the call; 0: no space. */
static uint32_t define_list(rocl_writer *w, rocl_parameters *list, const rocl_cap_value *v,
                            size_t count, size_t more)
{
    uint32_t id = atomic_load_explicit(&list->id, memory_order_relaxed);
    if (LIKELY(id && rocl_is_seen(w, id)))
        return id;
    id = rocl_id_once(&list->id);
    if (rocl_is_seen(w, id))
        return id;
    size_t size = 2 * ROCL_VARINT_MAX;
    for (size_t i = 0; i < count; i++)
        size += strlen(v[i].type) + strlen(v[i].name) + 2 * ROCL_VARINT_MAX;
    if (!rocl_reserve(w, size + ROCL_HOT + more))
        return 0;
    uint8_t *body = w->pos + 2, *p = rocl_varint_put(body, id);
    p = rocl_varint_put(p, count);
    for (size_t i = 0; i < count; i++) {
        p = rocl_put_string(p, v[i].type, strlen(v[i].type));
        p = rocl_put_string(p, v[i].name, strlen(v[i].name));
    }
    w->pos = end_of_body(w->pos, ROCL_REC_PARAMETERS, body, p);
    rocl_set_seen(w, id);
    return id;
}

static uint8_t *put_value(uint8_t *p, const rocl_cap_value *v, uint32_t text)
{
    *p++ = (uint8_t)v->form;
    switch (v->form) {
    case ROCL_FORM_NONE:
        return p;
    case ROCL_FORM_SIGNED:
        return rocl_varint_put(p, rocl_zigzag((int64_t)v->bits));
    case ROCL_FORM_TEXT:
        return rocl_varint_put(p, text);
    case ROCL_FORM_SIZES:
        for (int i = 0; i < 3; i++)
            p = rocl_varint_put(p, v->sizes[i]);
        return p;
    default:
        return rocl_varint_put(p, v->bits);
    }
}

static void put_args(rocl_writer *w, rocl_parameters *list, const rocl_cap_value *v, size_t count)
{
    uint32_t texts[ROCL_CAP_ARGS];
    const size_t need = (count + 1) * VALUE_MAX;
    uint32_t generation, id;
    /* The list and all texts must be in the chunk of the values. */
    do {
        generation = w->generation;
        id = define_list(w, list, v, count, need);
        if (!id)
            return;
        for (size_t i = 0; i < count; i++) {
            texts[i] = 0;
            if (v[i].form == ROCL_FORM_TEXT &&
                !(texts[i] = rocl_text_id(w, v[i].text, v[i].len, need)))
                return;
        }
        if (!rocl_reserve(w, need))
            return;
    } while (w->generation != generation);
    uint8_t *body = w->pos + 2, *p = rocl_varint_put(body, id);
    for (size_t i = 0; i < count; i++)
        p = put_value(p, &v[i], texts[i]);
    rocl_commit(w, end_of_body(w->pos, ROCL_REC_ARGS, body, p), 0);
}

void rocl_cap_args(rocl_parameters *list, const rocl_cap_value *values, size_t count)
{
    size_t used = count;
    while (used && values[used - 1].form == ROCL_FORM_NONE)
        used--;
    if (!used || count > ROCL_CAP_ARGS)
        return;
    rocl_writer *w = rocl_enter_silently();
    if (!w)
        return;
    if (is_open(w))
        put_args(w, list, values, count);
    rocl_leave();
}
