/* The file for a trace viewer: the script's events and fields. The script's own is no JSON, it ends
 * its list with half an object and lets names stand as they are. */
#include "legacy/rpt/rpt.h"

#include <stdlib.h>

#include "base/num.h"
#include "base/text.h"

enum { FLUSH_AT = 32 << 10 };

static int64_t floor_us(int64_t ns)
{
    return ns / 1000 - (ns % 1000 < 0);
}

/* Writes the collected text if it is more than `limit` bytes. */
static rocl_status flush_json(rpt *r, size_t limit, rocl_error *err)
{
    rocl_buf *b = &r->json_text;
    if (b->failed)
        return rocl_fail_memory(err);
    if (b->len <= limit)
        return ROCL_OK;
    rocl_status st = rocl_out_write(r->json, b->data, b->len, err);
    b->len = 0;
    return st;
}

/* Nothing follows the last event. */
static void begin_event(rpt *r)
{
    rocl_buf_str(&r->json_text, r->json_any ? ",\n" : "");
    r->json_any = true;
}

rocl_status rpt_json_open(rpt *r, rocl_error *err)
{
    if (!r->o.json)
        return ROCL_OK;
    rocl_buf_str(&r->json_text, "{\n\"traceEvents\": [\n");
    return rocl_out_open_as_named(&r->json, r->o.json, err);
}

rocl_status rpt_json_record(rpt *r, const rpt_record *record, rocl_error *err)
{
    rocl_buf *b = &r->json_text;
    size_t n;
    const char *name = rocl_strings_get(r->strings, record->name, &n);
    begin_event(r);
    rocl_buf_str_i64(b, "{ \"pid\":1, \"tid\":", record->queue);
    rocl_buf_str_i64(b, ", \"ts\":", floor_us(record->start));
    rocl_buf_str_i64(b, ", \"dur\":", floor_us(record->stop - record->start));
    rocl_buf_str(b, ", \"ph\":\"X\", \"name\":\"");
    rocl_json_put(b, name, n);
    rocl_buf_str_i64(b, "\", \"args\":{\"dev.queue.op\":\"", record->device);
    rocl_buf_str_i64(b, ".", record->queue);
    rocl_buf_str_i64(b, ".", record->command);
    rocl_buf_str_i64(b, "\", \"stop\":", floor_us(record->stop));
    rocl_buf_str(b, " } }");
    return flush_json(r, FLUSH_AT, err);
}

rocl_status rpt_json_close(rpt *r, rocl_error *err)
{
    uint32_t *order = rpt_resource_order(r);
    rocl_status st = order ? ROCL_OK : rocl_fail_memory(err);
    for (size_t i = 0; i < r->resource_count && st == ROCL_OK; i++) {
        const rpt_resource *res = &r->resources[order[i]];
        uint32_t *queues = rpt_queue_order(res);
        for (size_t k = 0; queues && k < res->queue_count; k++) {
            int64_t queue = res->queues[queues[k]];
            rpt_print_item(&r->print, "Q=", 2);
            rpt_print_item(&r->print, "", 0);
            rocl_buf_i64(&r->print.text, queue);
            rpt_end_line(&r->print);
            begin_event(r);
            rocl_buf_str_i64(
                &r->json_text,
                "{ \"name\": \"thread_name\", \"ph\": \"M\", \"pid\": 1, \"tid\":", queue);
            rocl_buf_str_i64(&r->json_text, " ,\n  \"args\": { \"name\" : \"stream:", queue);
            rocl_buf_str(&r->json_text, "\" }\n}");
        }
        st = queues ? flush_json(r, FLUSH_AT, err) : rocl_fail_memory(err);
        free(queues);
    }
    free(order);
    rocl_buf_str(&r->json_text, "\n],\n\"meta_name\":\"rpt\"\n}\n");
    if (st == ROCL_OK)
        st = flush_json(r, 0, err);
    return st;
}
