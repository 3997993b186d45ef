/* Built without libotf2, instead of the rest of lib/sink/otf2/. */
#include "base/error.h"
#include "base/without.h"
#include "rocline.h"

bool rocl_has_otf2(void)
{
    return false;
}

rocl_status rocl_write_otf2(rocl_trace *t, const rocl_otf2_options *o, rocl_written *report,
                            rocl_error *err)
{
    (void)t;
    (void)report;
    return rocl_fail(err, ROCL_USAGE, "%s: " ROCL_BUILT_WITHOUT("libotf2"), o->path);
}
