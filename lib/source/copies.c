/* Which ends of a copy are on a GPU: see copies.h. */
#include "source/copies.h"

#include <stddef.h>

bool rocl_copy_ends(rocl_view name, bool *src, bool *dst)
{
    static const struct {
        const char *word, *capitals, *letters; /* of HIP and HCC, ROCm, CUPTI */
        bool src, dst;
    } ends[] = {
        {"HostToDevice", "HOST_TO_DEVICE", "HtoD", false, true},
        {"DeviceToHost", "DEVICE_TO_HOST", "DtoH", true, false},
        {"DeviceToDevice", "DEVICE_TO_DEVICE", "DtoD", true, true},
        {"HostToHost", "HOST_TO_HOST", "HtoH", false, false},
        /* The GPU that sends copies; which one receives is not said. */
        {"PeerToPeer", "PEER_TO_PEER", "PtoP", true, false},
    };
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (rocl_view_find(name, ends[i].word) || rocl_view_find(name, ends[i].capitals) ||
            rocl_view_find(name, ends[i].letters)) {
            *src = ends[i].src;
            *dst = ends[i].dst;
            return true;
        }
    return false;
}
