/* The formats of exports. */
#include "sink/columnar/columnar.h"

const rocl_columnar_format *rocl_columnar_format_of(rocl_export_format format)
{
    static const rocl_columnar_format *const formats[] = {
        [ROCL_EXPORT_PARQUET] = &rocl_parquet_format,
        [ROCL_EXPORT_ARROW] = &rocl_arrow_format,
        [ROCL_EXPORT_ARROWS] = &rocl_arrows_format,
        [ROCL_EXPORT_JSONL] = &rocl_jsonl_format,
    };
    return formats[format];
}

rocl_status rocl_write_export(rocl_trace *t, const rocl_export_options *o, rocl_written *written,
                              rocl_error *err)
{
    return rocl_columnar_write(t, o, rocl_columnar_format_of(o->format), written, err);
}
