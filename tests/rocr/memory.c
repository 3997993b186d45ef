#include <stdlib.h>
#include <sys/mman.h>

#include "kmt.h"

typedef struct allocation {
    char *base;
    uint64_t size;
    uint32_t node;
    HsaMemFlags flags;
    void *user_data;
    struct allocation *next;
} allocation;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static allocation *all;

static allocation **find(const void *p)
{
    allocation **a = &all;
    while (*a && ((const char *)p < (*a)->base || (const char *)p >= (*a)->base + (*a)->size))
        a = &(*a)->next;
    return a;
}

HSAKMT_STATUS hsaKmtAllocMemory(HSAuint32 node, HSAuint64 size, HsaMemFlags flags, void **address)
{
    int prot = PROT_READ | PROT_WRITE | (flags.ui32.ExecuteAccess ? PROT_EXEC : 0);
    int how = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    allocation *a = calloc(1, sizeof *a);
    void *hint = flags.ui32.FixedAddress ? *address : NULL;
    char *p = mmap(hint, size, prot, how | (hint ? MAP_FIXED_NOREPLACE : 0), -1, 0);
    if (!a || p == MAP_FAILED) {
        free(a);
        return HSAKMT_STATUS_NO_MEMORY;
    }
    *a = (allocation){.base = p, .size = size, .node = node, .flags = flags};
    pthread_mutex_lock(&lock);
    a->next = all;
    all = a;
    pthread_mutex_unlock(&lock);
    *address = p;
    return HSAKMT_STATUS_SUCCESS;
}

HSAKMT_STATUS hsaKmtFreeMemory(void *address, HSAuint64 size)
{
    (void)size;
    pthread_mutex_lock(&lock);
    allocation **at = find(address), *a = *at;
    if (a)
        *at = a->next;
    pthread_mutex_unlock(&lock);
    if (!a)
        return HSAKMT_STATUS_ERROR;
    munmap(a->base, a->size);
    free(a);
    return HSAKMT_STATUS_SUCCESS;
}

HSAKMT_STATUS hsaKmtQueryPointerInfo(const void *p, HsaPointerInfo *info)
{
    memset(info, 0, sizeof *info);
    pthread_mutex_lock(&lock);
    const allocation *a = *find(p);
    if (a) {
        info->Type = HSA_POINTER_ALLOCATED;
        info->Node = a->node;
        info->MemFlags = a->flags;
        info->CPUAddress = a->base;
        info->GPUAddress = (HSAuint64)a->base;
        info->SizeInBytes = a->size;
        info->UserData = a->user_data;
    }
    pthread_mutex_unlock(&lock);
    return a ? HSAKMT_STATUS_SUCCESS : HSAKMT_STATUS_ERROR;
}

HSAKMT_STATUS hsaKmtSetMemoryUserData(const void *p, void *data)
{
    pthread_mutex_lock(&lock);
    allocation *a = *find(p);
    if (a)
        a->user_data = data;
    pthread_mutex_unlock(&lock);
    return a ? HSAKMT_STATUS_SUCCESS : HSAKMT_STATUS_ERROR;
}

HSAKMT_STATUS hsaKmtMapMemoryToGPU(void *p, HSAuint64 size, HSAuint64 *alternate)
{
    (void)p, (void)size;
    if (alternate)
        *alternate = 0;
    return HSAKMT_STATUS_SUCCESS;
}

HSAKMT_STATUS hsaKmtMapMemoryToGPUNodes(void *p, HSAuint64 size, HSAuint64 *alternate,
                                        HsaMemMapFlags flags, HSAuint64 n, HSAuint32 *nodes)
{
    (void)flags, (void)n, (void)nodes;
    return hsaKmtMapMemoryToGPU(p, size, alternate);
}

HSAKMT_STATUS hsaKmtUnmapMemoryToGPU(void *p)
{
    (void)p;
    return HSAKMT_STATUS_SUCCESS;
}

HSAKMT_STATUS hsaKmtRegisterMemoryWithFlags(void *p, HSAuint64 size, HsaMemFlags flags)
{
    (void)p, (void)size, (void)flags;
    return HSAKMT_STATUS_SUCCESS;
}

HSAKMT_STATUS hsaKmtDeregisterMemory(void *p)
{
    (void)p;
    return HSAKMT_STATUS_SUCCESS;
}

HSAKMT_STATUS hsaKmtSetMemoryPolicy(HSAuint32 node, HSAuint32 policy, HSAuint32 other, void *base,
                                    HSAuint64 size)
{
    (void)node, (void)policy, (void)other, (void)base, (void)size;
    return HSAKMT_STATUS_SUCCESS;
}

/* ---- sharing, and memory that pages by itself: not here ---- */

HSAKMT_STATUS hsaKmtRegisterGraphicsHandleToNodes(HSAuint64 handle, HsaGraphicsResourceInfo *info,
                                                  HSAuint64 n, HSAuint32 *nodes)
{
    (void)handle, (void)info, (void)n, (void)nodes;
    return HSAKMT_STATUS_NOT_SUPPORTED;
}

HSAKMT_STATUS hsaKmtShareMemory(void *p, HSAuint64 size, HsaSharedMemoryHandle *handle)
{
    (void)p, (void)size, (void)handle;
    return HSAKMT_STATUS_NOT_SUPPORTED;
}

HSAKMT_STATUS hsaKmtRegisterSharedHandle(const HsaSharedMemoryHandle *handle, void **p,
                                         HSAuint64 *size)
{
    (void)handle, (void)p, (void)size;
    return HSAKMT_STATUS_NOT_SUPPORTED;
}

HSAKMT_STATUS hsaKmtRegisterSharedHandleToNodes(const HsaSharedMemoryHandle *handle, void **p,
                                                HSAuint64 *size, HSAuint64 n, HSAuint32 *nodes)
{
    (void)n, (void)nodes;
    return hsaKmtRegisterSharedHandle(handle, p, size);
}

HSAKMT_STATUS hsaKmtSVMGetAttr(void *p, HSAuint64 size, unsigned int n, HSA_SVM_ATTRIBUTE *attrs)
{
    (void)p, (void)size, (void)n, (void)attrs;
    return HSAKMT_STATUS_NOT_SUPPORTED;
}

HSAKMT_STATUS hsaKmtSVMSetAttr(void *p, HSAuint64 size, unsigned int n, HSA_SVM_ATTRIBUTE *attrs)
{
    (void)p, (void)size, (void)n, (void)attrs;
    return HSAKMT_STATUS_NOT_SUPPORTED;
}
