/* What sinks that draw rows have in common: all events go through the encoder that they begin with,
 * into a sorter for each capture. */
#include "base/error.h"
#include "base/ids.h"
#include "timeline/record.h"
#include "trace/pipeline.h"

void rocl_encoder_forget(rocl_encoder *p)
{
    rocl_sorter_free(p->sorter);
    p->sorter = NULL;
    for (unsigned w = 0; p->workers && w < p->trace->opt.jobs; w++) {
        rocl_idset_free(&p->workers[w].linked);
        rocl_map_free(&p->workers[w].ends);
        rocl_sequence_counts_free(&p->workers[w].counts);
    }
}

rocl_status rocl_encoder_begin(rocl_encoder *p, const rocl_capture *c, rocl_error *err)
{
    rocl_encoder_forget(p);
    p->sorter = rocl_encoder_sorter(p);
    return p->sorter ? rocl_encoder_check(c, err) : rocl_fail_memory(err);
}

static rocl_status events(void *self, unsigned worker, rocl_batch *b, rocl_error *err)
{
    return rocl_encode_batch(self, worker, b, err);
}

static rocl_status history(void *self, unsigned worker, rocl_batch *b, rocl_error *err)
{
    return rocl_encode_history(self, worker, b, err);
}

static rocl_status end_task(void *self, unsigned worker, rocl_error *err)
{
    const rocl_encoder *p = self;
    return rocl_sorter_seal(p->sorter, worker, err);
}

rocl_sink rocl_encoder_sink(rocl_encoder *first)
{
    return (rocl_sink){.self = first,
                       .kinds = ROCL_ALL_KINDS,
                       .fields = first->trace->opt.args ? ROCL_FIELD_DISPATCH_ID : 0,
                       .events = events,
                       .history_kinds = ROCL_BIT(ROCL_ALLOC),
                       .history = history,
                       .end_task = end_task};
}
