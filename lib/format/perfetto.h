/* Field numbers and values of Perfetto's trace format (protos/perfetto/trace in google/perfetto),
 * and the words by which our reader knows what our writer drew. */
#pragma once

#include <stdint.h>

enum { TRACE_PACKET = 1 };

enum { /* TracePacket */
       PKT_FTRACE = 1,
       PKT_PROCESS_TREE = 2,
       PKT_UID = 3,
       PKT_CLOCK_SNAPSHOT = 6,
       PKT_TIMESTAMP = 8,
       PKT_SEQUENCE_ID = 10,
       PKT_TRACK_EVENT = 11,
       PKT_INTERNED = 12,
       PKT_SEQUENCE_FLAGS = 13,
       PKT_TRACE_STATS = 35,
       PKT_STATE_CLEARED = 41, /* before there were flags */
       PKT_DROPPED = 42,       /* packets of the sequence before this one */
       PKT_SYSTEM_INFO = 45,
       PKT_COMPRESSED = 50,
       PKT_GPU_COUNTER = 52,
       PKT_GPU_STAGE = 53,
       PKT_CLOCK_ID = 58,
       PKT_DEFAULTS = 59,
       PKT_TRACK_DESCRIPTOR = 60,
       PKT_TRUSTED_PID = 79,
       PKT_FIRST_ON_SEQUENCE = 87,
       PKT_MACHINE = 98,
       PKT_GPU_INFO = 128,
       PKT_ZSTD = 133,
};

enum { SEQ_CLEARED = 1, SEQ_NEEDS = 2 };

enum {
    DEFAULTS_TRACK_EVENT = 11,
    DEFAULTS_CLOCK_ID = 58,
    TRACK_EVENT_DEFAULT_TRACK = 11,
    TRACK_EVENT_DEFAULT_EXTRA = 31,
    TRACK_EVENT_DEFAULT_EXTRA_DOUBLE = 45
};

enum {
    SNAPSHOT_CLOCKS = 1,
    SNAPSHOT_PRIMARY = 2,
    CLOCK_ID = 1,
    CLOCK_TIME = 2,
    CLOCK_INCREMENTAL = 3,
    CLOCK_UNIT = 4 /* ns */
};

/* Clocks from 64 to 127 are of a sequence, all others of the machine. */
enum { CLOCK_IS_BOOTTIME = 6, CLOCK_IS_DELTA = 64, CLOCKS_LOCAL_END = 128 };

enum { STATS_BUFFER = 1, BUFFER_OVERWRITTEN = 3, BUFFER_DISCARDED = 18, BUFFER_LOST = 19 };

enum { SYSTEM_INFO_UTSNAME = 1, SYSTEM_INFO_MACHINE_NAME = 17 };

enum { UTSNAME_SYSTEM = 1, UTSNAME_VERSION = 2, UTSNAME_RELEASE = 3, UTSNAME_HARDWARE = 4 };

enum { /* TrackDescriptor */
       TRACK_UUID = 1,
       TRACK_NAME = 2,
       TRACK_PROCESS = 3,
       TRACK_THREAD = 4,
       TRACK_PARENT = 5,
       TRACK_COUNTER = 8,
       TRACK_STATIC_NAME = 10,
       TRACK_ATRACE_NAME = 13,
       TRACK_DESCRIPTION = 14,
       TRACK_MERGE = 15,
};

enum { MERGE_NONE = 2 };

enum {
    PROCESS_PID = 1,
    PROCESS_CMDLINE = 2,
    PROCESS_NAME = 6,
    PROCESS_START = 7,
    PROCESS_LABELS = 8
};

enum { TREE_PROCESS = 1, TREE_THREAD = 2, TREE_PID = 1, TREE_CMDLINE = 3 };

enum { TREE_THREAD_TID = 1, TREE_THREAD_NAME = 2, TREE_THREAD_PID = 3 };

enum { THREAD_PID = 1, THREAD_TID = 2, THREAD_NAME = 5 };

enum {
    COUNTER_TYPE = 1,
    COUNTER_IS_THREAD_TIME = 1,
    COUNTER_IS_INSTRUCTIONS = 2,
    COUNTER_UNIT = 3,
    COUNTER_MULTIPLIER = 4,
    COUNTER_INCREMENTAL = 5,
    COUNTER_UNIT_NAME = 6,
    UNIT_NS = 1,
    UNIT_COUNT = 2,
    UNIT_BYTES = 3
};

enum { /* TrackEvent */
       EV_CATEGORY_IID = 3,
       EV_ANNOTATION = 4,
       EV_LEGACY = 6,
       EV_TYPE = 9,
       EV_NAME_IID = 10,
       EV_TRACK = 11,
       EV_EXTRA_VALUES = 12,
       EV_CATEGORY = 22,
       EV_NAME = 23,
       EV_COUNTER_VALUE = 30,
       EV_EXTRA_TRACKS = 31,
       EV_OLD_FLOW = 36,
       EV_OLD_FLOW_END = 42,
       EV_DOUBLE_VALUE = 44,
       EV_EXTRA_DOUBLE_TRACKS = 45,
       EV_EXTRA_DOUBLE_VALUES = 46,
       EV_FLOW = 47,
       EV_FLOW_END = 48,
       EV_GPU_CORRELATION = 3000,
       EV_GPU_API = 3001,
};

enum { TYPE_BEGIN = 1, TYPE_END = 2, TYPE_INSTANT = 3, TYPE_COUNTER = 4, TYPE_STATE = 5 };

enum { /* LegacyEvent: a phase of Chrome's in place of a type */
       LEGACY_PHASE = 2,
       LEGACY_DURATION = 3, /* us */
       LEGACY_ID = 6,
       LEGACY_ID_SCOPE = 7,
       LEGACY_BIND_ID = 8,
       LEGACY_LOCAL_ID = 10,
       LEGACY_GLOBAL_ID = 11,
       LEGACY_ENCLOSING = 12,
       LEGACY_DIRECTION = 13,
       LEGACY_INSTANT_SCOPE = 14,
       LEGACY_PID = 18,
       LEGACY_TID = 19,
};

enum { DIRECTION_IN = 1, DIRECTION_OUT = 2 };

enum { INSTANT_OF_ALL = 1, INSTANT_OF_PROCESS = 2, INSTANT_OF_THREAD = 3 };

enum { CORRELATION_SUBMISSION = 1, GPU_API_HIP = 5 };

enum { /* DebugAnnotation */
       NOTE_NAME_IID = 1,
       NOTE_BOOL = 2,
       NOTE_UINT = 3,
       NOTE_INT = 4,
       NOTE_DOUBLE = 5,
       NOTE_STRING = 6,
       NOTE_POINTER = 7,
       NOTE_NESTED = 8, /* before there were dictionaries and arrays */
       NOTE_JSON = 9,
       NOTE_NAME = 10,
       NOTE_DICT = 11,
       NOTE_ARRAY = 12,
       NOTE_STRING_IID = 17,
};

enum { /* DebugAnnotation.NestedValue */
       NESTED_TYPE = 1,
       NESTED_KEYS = 2,
       NESTED_VALUES = 3,
       NESTED_ELEMENTS = 4,
       NESTED_INT = 5,
       NESTED_DOUBLE = 6,
       NESTED_BOOL = 7,
       NESTED_STRING = 8,
       NESTED_IS_DICT = 1,
       NESTED_IS_ARRAY = 2,
};

enum { /* InternedData */
       INTERNED_CATEGORIES = 1,
       INTERNED_NAMES = 2,
       INTERNED_ANNOTATIONS = 3,
       INTERNED_CONTEXTS = 23,
       INTERNED_SPECS = 24,
       INTERNED_STRINGS = 29,
       INTERNED_COUNTERS = 47,
       INTERNED_KERNELS = 1000,
       INTERNED_ARG_NAMES = 1001,
};

enum { IID = 1, IID_NAME = 2 };

enum { CONTEXT_PID = 2, CONTEXT_API = 3 };

enum { SPEC_NAME = 2, SPEC_DESCRIPTION = 3, SPEC_CATEGORY = 4, SPEC_OTHER = 0, SPEC_COMPUTE = 2 };

enum { KERNEL_NAME = 2, KERNEL_DEMANGLED = 3, KERNEL_ARCH = 4, KERNEL_ARGS = 5 };

enum { /* GpuRenderStageEvent */
       STAGE_EVENT_ID = 1,
       STAGE_DURATION = 2,
       STAGE_CONTEXT = 5,
       STAGE_EXTRA = 6,
       STAGE_GPU = 11,
       STAGE_QUEUE_IID = 13,
       STAGE_IID = 14,
       STAGE_NAME = 17,
       STAGE_KERNEL_IID = 19,
       STAGE_NAME_IID = 20,
       STAGE_LAUNCH = 21,
};

enum { LAUNCH_GRID = 1, LAUNCH_WORKGROUP = 2, LAUNCH_ARGS = 3 };

enum {
    ARG_NAME_IID = 1,
    ARG_NAME = 2,
    ARG_INT = 3,
    ARG_UINT = 4,
    ARG_DOUBLE = 5,
    ARG_STRING = 6,
    ARG_STRING_IID = 7
};

enum { /* GpuInfo: the place in its list is the number of a GPU */
       GPU_INFO_GPU = 1,
       GPU_NAME = 1,
       GPU_VENDOR = 2,
       GPU_MODEL = 3,
       GPU_ARCH = 4,
       GPU_UUID = 5, /* 16 bytes */
       GPU_EXTRA = 6,
       GPU_PCI = 7
};

enum { EXTRA_NAME = 1, EXTRA_VALUE = 2 };

enum {
    GPU_COUNTER_DESCRIPTOR = 1,
    GPU_COUNTER_VALUES = 2,
    GPU_COUNTER_GPU = 3,
    GPU_COUNTER_IID = 4
};

enum { VALUE_ID = 1, VALUE_INT = 2, VALUE_DOUBLE = 3 };

enum { INTERNED_COUNTER_BODY = 2, INTERNED_COUNTER_GPU = 3, COUNTER_SPECS = 1 };

enum {
    CSPEC_ID = 1,
    CSPEC_NAME = 2,
    CSPEC_DESCRIPTION = 3,
    CSPEC_UNIT = 7,
    CSPEC_GROUP = 10,
    CSPEC_DIRECTION = 11
};

enum { GROUP_COMPUTE = 6, DIRECTION_FORWARDS = 2 };

/* ---- words of our writer --------------------------------------------------------------------- */

/* Stages of GPU work. */
#define PF_STAGE_KERNEL     "Kernel"
#define PF_STAGE_COPY       "Copy"
#define PF_STAGE_ALLOCATION "Allocation"
#define PF_STAGE_SCRATCH    "Scratch"
#define PF_STAGE_GRAPH      "Graph launch"
#define PF_STAGE_HIP_EVENT  "HIP event"
#define PF_STAGE_BARRIER    "Barrier"

/* How the description of the queue of a stream begins: the number and name of its HSA queue follow,
 * that of its kernels unless they say another one. */
#define PF_QUEUE_SAID "HSA queue "

/* Ends of the names of tracks whose values are made of copies and allocations; and how they begin
 * in AMD's layout. */
#define PF_ALLOCATED        "allocated"
#define PF_BANDWIDTH        "copy bandwidth"
#define PF_LEGACY_ALLOCATED "ALLOCATE BYTES on"
#define PF_LEGACY_COPIED    "COPY BYTES to"

/* A further row of a thread's calls. */
#define PF_OVERLAPPING_CALLS "overlapping calls"

/* Events of no known thread; their tids count from here on. */
#define PF_UNKNOWN_THREAD "unknown thread"
/* Above every pid that Linux gives out: for processes whose number is taken or no number. */
#define PF_PID_BEYOND (1 << 22)

#define PF_UNNAMED "(unnamed)"

/* Labels of a process: its rank; its number where another one of the trace has it, too. */
#define PF_LABEL_RANK "rank "
#define PF_LABEL_PID  "pid "
/* Further facts of a GPU: the label of its agent, the uuid where it is of another form than that of
 * Perfetto, the machine id of its node, and that its number counts what its only process sees. */
#define PF_GPU_AGENT   "agent"
#define PF_GPU_UUID    "uuid"
#define PF_GPU_MACHINE "machine_id"
#define PF_GPU_ORDINAL "ordinal"
/* The description of a thread whose number is none of a thread: 0, or below. */
#define PF_REAL_TID "tid "

/* The units of GPU counters are an enum: the number of a text, 0: none, and the text of a number,
 * "": unknown. A unit without a number is written as "[unit]" at the end of the description. */
unsigned rocl_perfetto_unit(const char *text);
const char *rocl_perfetto_unit_text(uint64_t unit);
