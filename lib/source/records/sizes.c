/* Sizes of copies that only the calls around them have, such as hipMemcpy: both have the same
 * link. */
#include "source/records/run.h"

/* Value of an entry of the sorter: 0 a copy, else the call's size and direction. */
enum { DIRECTION_BITS = 3 };

rocl_status rocl_size_note(rocl_records *w, uint64_t process, uint64_t link, bool copy,
                           uint64_t bytes, rocl_copy_direction direction, rocl_error *err)
{
    if (link == ROCL_NO_KEY || (copy ? bytes : bytes >> (64 - DIRECTION_BITS)))
        return ROCL_OK;
    const uint64_t value = copy ? 0 : bytes << DIRECTION_BITS | (uint64_t)direction;
    return rocl_sorter_add(w->in->run->noted_sizes, w->number,
                           (const uint64_t[]){process, link, value}, NULL, 0, err);
}

/* Calls and copies with one link follow each other, the copies first. If a call has several copies,
 * the size of each is unknown. */
rocl_status rocl_sizes_join(rocl_records_input *in, rocl_error *err)
{
    rocl_records_run *run = in->run;
    rocl_lookup_key last = {0};
    size_t copies = 0;
    bool any = false;
    rocl_sort_record rec;
    rocl_status st = rocl_lookup_new(&run->sizes, in->trace, err);
    if (st == ROCL_OK)
        st = rocl_sorter_start(run->noted_sizes, err);
    while (rocl_sorter_take(run->noted_sizes, &rec, &st, err)) {
        const rocl_lookup_key key = {rec.key[0], rec.key[1]};
        if (!any || key.major != last.major || key.minor != last.minor)
            copies = 0;
        any = true;
        last = key;
        copies += !rec.key[2];
        if (rec.key[2] && copies < 2)
            st = rocl_lookup_add(run->sizes, key, rec.key[2], err);
    }
    return st ? st : rocl_lookup_finish(run->sizes, err);
}

/* Calls of old versions do not say their process. */
rocl_status rocl_size_find(rocl_records *w, const rocl_plain_record *r, uint32_t agent,
                           rocl_copy *to, rocl_error *err)
{
    const rocl_lookup *sizes = w->in->run->sizes;
    const rocl_lookup_key keys[] = {
        {r->process, r->link}, {ROCL_NO_KEY, r->link}, {rocl_process_key(w, r), r->link}};
    uint64_t value = 0;
    rocl_status st = ROCL_OK;
    for (size_t i = 0; i < sizeof keys / sizeof *keys && !value && st == ROCL_OK; i++)
        st = rocl_lookup_find(sizes, &w->size_pages, keys[i], &value, err);
    if (st != ROCL_OK || !value)
        return st;
    const rocl_copy_direction direction = value & ((1u << DIRECTION_BITS) - 1);
    const bool on_device = direction == ROCL_COPY_ON_DEVICE;
    to->size = value >> DIRECTION_BITS;
    if (r->ends_unknown && direction != ROCL_COPY_UNKNOWN) {
        to->src = on_device || direction == ROCL_COPY_TO_HOST ? agent : ROCL_NONE;
        to->dst = on_device || direction == ROCL_COPY_TO_DEVICE ? agent : ROCL_NONE;
    }
    return ROCL_OK;
}
