/* Definitions, encoded once. They are ordinary memory: a forked child has them as well, and writes
 * them into its own chunks. */
#include <errno.h>
#include <stdlib.h>

#include "capture/core.h"

static _Atomic(rocl_def *) all_defs; /* only grows, at its head */

/* Texts are as long as they are: the record is allocated when its size is known. */
typedef struct text {
    const char *s;
    size_t n;
} text;

static text text_of(const char *s)
{
    return (text){s ? s : "", s ? strnlen(s, ROCL_CAP_TEXT_MAX) : 0};
}

/* Numbers, then texts. */
static rocl_def *make_def(rocl_record_type type, const rocl_def *ref, const uint64_t *v,
                          size_t numbers, const text *texts, size_t count)
{
    int saved = errno;
    uint32_t id = atomic_fetch_add(&rocl_next_name, 1);
    size_t size = (1 + numbers + count) * ROCL_VARINT_MAX;
    for (size_t i = 0; i < count; i++)
        size += texts[i].n;
    rocl_def *d = rocl_set.on && !rocl_is_sealed() ? malloc(sizeof *d + size) : NULL;
    errno = saved;
    if (!d)
        return NULL;
    uint8_t *p = rocl_varint_put(d->bytes, id);
    for (size_t i = 0; i < numbers; i++)
        p = rocl_varint_put(p, v[i]);
    for (size_t i = 0; i < count; i++)
        p = rocl_put_string(p, texts[i].s, texts[i].n);
    d->id = id;
    d->ref = ref;
    d->type = (uint8_t)type;
    d->len = (uint32_t)(p - d->bytes);
    d->next = atomic_load(&all_defs);
    while (!atomic_compare_exchange_weak(&all_defs, &d->next, d))
        ;
    return d;
}

static uint64_t id_of_def(const rocl_def *d)
{
    return d ? d->id : 0;
}

rocl_def *rocl_cap_define_agent(const rocl_cap_agent *a)
{
    const uint64_t v[] = {a->handle, a->type, rocl_zigzag(a->absolute_index),
                          rocl_zigzag(a->logical_index), rocl_zigzag(a->type_index)};
    const text t[] = {text_of(a->name),    text_of(a->model), text_of(a->vendor),
                      text_of(a->product), text_of(a->uuid),  text_of(a->pci)};
    return make_def(ROCL_REC_AGENT, NULL, v, 5, t, 6);
}

rocl_def *rocl_cap_define_queue(uint64_t id, const char *name)
{
    const text t = text_of(name);
    return make_def(ROCL_REC_QUEUE, NULL, &id, 1, &t, 1);
}

rocl_def *rocl_cap_define_stream(uint64_t id, const char *name)
{
    const text t = text_of(name);
    return make_def(ROCL_REC_STREAM, NULL, &id, 1, &t, 1);
}

rocl_def *rocl_cap_define_kernel(const rocl_cap_kernel_symbol *k)
{
    const uint64_t v[] = {k->id,
                          id_of_def(k->agent),
                          rocl_zigzag(k->group_segment),
                          rocl_zigzag(k->private_segment),
                          rocl_zigzag(k->sgpr),
                          rocl_zigzag(k->arch_vgpr),
                          rocl_zigzag(k->accum_vgpr)};
    const text t[] = {text_of(k->name), text_of(k->display)};
    return make_def(ROCL_REC_KERNEL, k->agent, v, 7, t, 2);
}

rocl_def *rocl_cap_define_counter(const rocl_cap_counter *c)
{
    const uint64_t v[] = {c->id, id_of_def(c->agent)};
    const text t[] = {text_of(c->name), text_of(c->description), text_of(c->units),
                      text_of(c->value_type)};
    return make_def(ROCL_REC_COUNTER, c->agent, v, 2, t, 4);
}

rocl_def *rocl_cap_define_subject(const rocl_cap_subject *s)
{
    const uint64_t v[] = {s->number, s->pid, s->ppid, s->start};
    const text t = text_of(s->command);
    return make_def(ROCL_REC_SUBJECT, NULL, v, 4, &t, 1);
}
