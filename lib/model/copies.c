/* Which ends of a copy are on a GPU: see copies.h. */
#include "model/copies.h"

#include <stddef.h>

unsigned rocl_copy_ends(rocl_view name, bool *src, bool *dst)
{
    static const struct {
        const char *word, *capitals, *letters; /* of HIP and HCC, ROCm, CUPTI */
        bool src, dst;
        unsigned told;
    } ends[] = {
        {"HostToDevice", "HOST_TO_DEVICE", "HtoD", false, true, 2},
        {"DeviceToHost", "DEVICE_TO_HOST", "DtoH", true, false, 2},
        {"DeviceToDevice", "DEVICE_TO_DEVICE", "DtoD", true, true, 2},
        {"HostToHost", "HOST_TO_HOST", "HtoH", false, false, 2},
        /* The GPU that sends copies; which one receives is not said. */
        {"PeerToPeer", "PEER_TO_PEER", "PtoP", true, false, 1},
    };
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (rocl_view_find(name, ends[i].word) || rocl_view_find(name, ends[i].capitals) ||
            rocl_view_find(name, ends[i].letters)) {
            *src = ends[i].src;
            *dst = ends[i].dst;
            return ends[i].told;
        }
    return 0;
}
