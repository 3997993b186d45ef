/* Prints how many events of each kind a trace holds and how long they took together. It takes all
 * formats that rocline reads.
 *
 *     cc -o kinds kinds.c $(pkg-config --cflags --libs rocline)
 *     ./kinds results.db
 */
#include <rocline.h>
#include <stdatomic.h>
#include <stdio.h>

static atomic_ullong events[ROCL_KINDS], total_ns[ROCL_KINDS];

/* Called by several workers at once, each with batches of its own. */
static rocl_status add_batch(void *ctx, unsigned worker, const rocl_batch *b, rocl_error *err)
{
    unsigned long long ns = 0;
    (void)ctx, (void)worker, (void)err;
    for (size_t i = 0; i < b->count; i++)
        ns += (unsigned long long)rocl_batch_event(b, i)->duration;
    atomic_fetch_add(&events[b->kind], b->count);
    atomic_fetch_add(&total_ns[b->kind], ns);
    return ROCL_OK;
}

int main(int argc, char **argv)
{
    rocl_error *err = rocl_error_new();
    rocl_trace *t = NULL;
    rocl_status st = rocl_trace_open(&t, (const char *const *)argv + 1, (size_t)argc - 1,
                                     &(rocl_options){0}, err);
    if (st == ROCL_OK)
        st = rocl_trace_scan(t, ROCL_ALL_KINDS, 0, add_batch, NULL, err);
    if (st > ROCL_PARTIAL)
        fprintf(stderr, "%s: %s\n", argv[0], rocl_error_text(err));
    for (int k = 0; st <= ROCL_PARTIAL && k < ROCL_KINDS; k++)
        if (events[k])
            printf("%-12s %12llu events %16llu ns\n", rocl_kind_name((rocl_kind)k), events[k],
                   total_ns[k]);
    rocl_trace_close(t);
    rocl_error_free(err);
    return (int)st;
}
