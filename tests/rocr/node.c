#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "kmt.h"

bool kmt_has_gpu(void)
{
    const char *s = getenv("KMT_GPU");
    return s && *s == '1';
}

uint64_t kmt_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_BOOTTIME, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

HSAKMT_STATUS hsaKmtOpenKFD(void)
{
    return HSAKMT_STATUS_SUCCESS;
}

HSAKMT_STATUS hsaKmtCloseKFD(void)
{
    return HSAKMT_STATUS_SUCCESS;
}

HSAKMT_STATUS hsaKmtGetVersion(HsaVersionInfo *v)
{
    *v = (HsaVersionInfo){1, 8};
    return HSAKMT_STATUS_SUCCESS;
}

HSAKMT_STATUS hsaKmtAcquireSystemProperties(HsaSystemProperties *p)
{
    memset(p, 0, sizeof *p);
    p->NumNodes = kmt_has_gpu() ? KMT_NODES : 1;
    return HSAKMT_STATUS_SUCCESS;
}

HSAKMT_STATUS hsaKmtReleaseSystemProperties(void)
{
    return HSAKMT_STATUS_SUCCESS;
}

static void name_node(HsaNodeProperties *p, const char *name)
{
    for (size_t i = 0; name[i]; i++)
        p->MarketingName[i] = (HSAuint16)name[i];
}

static void describe_cpu(HsaNodeProperties *p)
{
    p->NumCPUCores = 2;
    p->NumMemoryBanks = 1;
    p->NumCaches = 1;
    p->NumIOLinks = kmt_has_gpu();
    p->MaxEngineClockMhzCCompute = 2000;
    name_node(p, "CPU of a test");
}

static void describe_gpu(HsaNodeProperties *p)
{
    p->NumFComputeCores = 256;
    p->NumMemoryBanks = 3;
    p->NumCaches = 1;
    p->NumIOLinks = 1;
    p->Capability.ui32.DoorbellType = 2;
    p->MaxWavesPerSIMD = 10;
    p->LDSSizeInKB = 64;
    p->WaveFrontSize = 64;
    p->NumShaderBanks = 4;
    p->NumArrays = 1;
    p->NumCUPerArray = 16;
    p->NumSIMDPerCU = 4;
    p->MaxSlotsScratchCU = 32;
    p->EngineId.ui32.Major = 9;
    p->VendorId = 0x1002;
    p->DeviceId = 0x6860;
    p->LocationId = 0x300;
    p->LocalMemSize = (HSAuint64)4 << 30;
    p->MaxEngineClockMhzFCompute = 1500;
    p->DrmRenderMinor = 128;
    p->NumSdmaEngines = 2;
    p->NumSdmaQueuesPerEngine = 2;
    p->NumCpQueues = 24;
    p->UniqueID = 0x1234;
    name_node(p, "GPU of a test");
}

HSAKMT_STATUS hsaKmtGetNodeProperties(HSAuint32 node, HsaNodeProperties *p)
{
    memset(p, 0, sizeof *p);
    if (node >= KMT_NODES)
        return HSAKMT_STATUS_INVALID_NODE_UNIT;
    (node == KMT_CPU ? describe_cpu : describe_gpu)(p);
    return HSAKMT_STATUS_SUCCESS;
}

HSAKMT_STATUS hsaKmtGetNodeMemoryProperties(HSAuint32 node, HSAuint32 banks, HsaMemoryProperties *p)
{
    static const HSA_HEAPTYPE types[] = {HSA_HEAPTYPE_FRAME_BUFFER_PUBLIC, HSA_HEAPTYPE_GPU_LDS,
                                         HSA_HEAPTYPE_GPU_SCRATCH};
    memset(p, 0, banks * sizeof *p);
    for (HSAuint32 i = 0; i < banks; i++) {
        p[i].HeapType = node == KMT_CPU ? HSA_HEAPTYPE_SYSTEM : types[i % 3];
        p[i].SizeInBytes = node == KMT_CPU ? (HSAuint64)16 << 30 : (HSAuint64)4 << 30;
        p[i].VirtualBaseAddress = i ? (HSAuint64)i << 48 : 0;
        p[i].Width = 64;
        p[i].MemoryClockMax = 1000;
    }
    return HSAKMT_STATUS_SUCCESS;
}

HSAKMT_STATUS hsaKmtGetNodeCacheProperties(HSAuint32 node, HSAuint32 processor, HSAuint32 n,
                                           HsaCacheProperties *p)
{
    memset(p, 0, n * sizeof *p);
    for (HSAuint32 i = 0; i < n; i++) {
        p[i].ProcessorIdLow = processor;
        p[i].CacheLevel = 2;
        p[i].CacheSize = 1024;
        p[i].CacheLineSize = 64;
        p[i].CacheType.ui32.CPU = node == KMT_CPU;
        p[i].CacheType.ui32.HSACU = node == KMT_GPU;
        p[i].CacheType.ui32.Data = 1;
    }
    return HSAKMT_STATUS_SUCCESS;
}

HSAKMT_STATUS hsaKmtGetNodeIoLinkProperties(HSAuint32 node, HSAuint32 n, HsaIoLinkProperties *p)
{
    memset(p, 0, n * sizeof *p);
    for (HSAuint32 i = 0; i < n; i++) {
        p[i].IoLinkType = HSA_IOLINKTYPE_PCIEXPRESS;
        p[i].NodeFrom = node;
        p[i].NodeTo = !node;
        p[i].Weight = 20;
    }
    return HSAKMT_STATUS_SUCCESS;
}

HSAKMT_STATUS hsaKmtGetTileConfig(HSAuint32 node, HsaGpuTileConfig *c)
{
    (void)node;
    c->NumTileConfigs = 0;
    c->NumMacroTileConfigs = 0;
    c->GbAddrConfig = 0x2a114042;
    c->NumBanks = 16;
    c->NumRanks = 1;
    return HSAKMT_STATUS_SUCCESS;
}

HSAKMT_STATUS hsaKmtGetClockCounters(HSAuint32 node, HsaClockCounters *c)
{
    (void)node;
    uint64_t now = kmt_now();
    *c = (HsaClockCounters){now, now, now, 1000000000};
    return HSAKMT_STATUS_SUCCESS;
}

HSAKMT_STATUS hsaKmtRuntimeEnable(void *debug, bool setup_ttmp)
{
    (void)debug, (void)setup_ttmp;
    return HSAKMT_STATUS_NOT_SUPPORTED;
}

HSAKMT_STATUS hsaKmtRuntimeDisable(void)
{
    return HSAKMT_STATUS_NOT_SUPPORTED;
}

HSAKMT_STATUS hsaKmtGetXNACKMode(HSAint32 *on)
{
    *on = 0;
    return HSAKMT_STATUS_SUCCESS;
}

HSAKMT_STATUS hsaKmtSetXNACKMode(HSAint32 on)
{
    (void)on;
    return HSAKMT_STATUS_NOT_SUPPORTED;
}
