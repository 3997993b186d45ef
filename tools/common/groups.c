/* The option tables that the tools share. */
#include "common/common.h"

#include <limits.h>

#define AT(field) offsetof(common, field)
#define FLAG(name, letter, field, help)                                                            \
    {                                                                                              \
        name, letter, OPT_FLAG, AT(field), NULL, NULL, 0, 0, help                                  \
    }
#define SET(name, letter, field, value, help)                                                      \
    {                                                                                              \
        name, letter, OPT_SET, AT(field), NULL, NULL, value, 0, help                               \
    }
#define STRING(name, letter, field, arg, help)                                                     \
    {                                                                                              \
        name, letter, OPT_STRING, AT(field), arg, NULL, 0, 0, help                                 \
    }
#define LIST(name, letter, field, arg, help)                                                       \
    {                                                                                              \
        name, letter, OPT_LIST, AT(field), arg, NULL, 0, 0, help                                   \
    }
#define CHOICE(name, field, arg, choices, help)                                                    \
    {                                                                                              \
        name, 0, OPT_CHOICE, AT(field), arg, choices, 0, 0, help                                   \
    }

/* Help promises this; the order of the words below is that of the enums. */
_Static_assert(ROCL_DEFAULT_MEMORY == (size_t)48 << 20, "--memory says: default 48m");
_Static_assert(ROCL_NAMES_SHORT == 3 && ROCL_INDEX_TYPE_RELATIVE == 2 && ROCL_READER_SQLITE == 2 &&
                   ROCL_ALIGN_COLLECTIVES == ROCL_ALIGN_NONE + 4,
               "choices follow the enums");

static const opt input_options[] = {
    LIST(
        "input", 'i', inputs, "FILE...",
        "rocpd databases, .rocl files, and what other profilers write (RPD, Perfetto traces, JSON, "
        "CSV, text: see rocline(7)); \"-\": standard input; globs, folders, .rpdb folders or "
        "index.yaml files; operands are inputs as well"),
    {"align", 0, OPT_FURTHER, AT(align), "HOW",
     "none|start|marker NAME[:N]|offsets FILE|collectives", ROCL_ALIGN_NONE, 0,
     "align the clocks of several nodes: not at all (none; the default also prints a notice when "
     "they seem to differ), at the first event of each (start), at the begin of a marker (marker "
     "NAME[:N]), by a file with lines \"HOST OFFSET\" (offsets FILE), or with their drift by the "
     "ends of collectives (collectives)"},
    LIST("host", 0, hosts, "PATTERN=NAME",
         "files whose names match the glob PATTERN were recorded on the host NAME"),
    FLAG("same-host", 0, same_host, NULL),
    STRING("job", 0, job, "FILE",
           "set options by an input file of rocprofv3 (.yaml, .json, .txt); several jobs write to "
           "their own folders: pass_1, pass_2, ... (.txt: pmc_1, ...)"),
    FLAG("strict", 0, strict, "stop at the first broken record instead of counting it"),
    COMMON_END,
};

static const opt names_options[] = {
    FLAG(
        "kernel-rename", 0, kernel_rename,
        "name kernels after the ROCTx range in which they were launched (merge: only for filters)"),
    CHOICE("kernel-names", kernel_names, "FORM", "display|mangled|truncated|short",
           "kernel names: as the profiler showed them (display, the default), mangled, truncated "
           "(without arguments), or short (also without template arguments)"),
    CHOICE("agent-index-value", agent_index, "FORM", "relative|absolute|type-relative",
           "agent names in files of AMD's forms: \"Agent N\" by logical index (relative, the "
           "default) or by node id (absolute), or \"GPU N\" (type-relative)"),
    FLAG("csv-safe", 0, csv_safe,
         "in CSV and TSV, write a ' before names that spreadsheets would take for formulas"),
    COMMON_END,
};

static const opt filter_options[] = {
    STRING("start", 0, start, "TIME",
           "begin of the time window: nanoseconds, a share of the trace (25%), a time after its "
           "first event (+1.5ms) or before its end (-1.5ms)"),
    STRING("end", 0, end, "TIME", "end of the time window"),
    STRING("start-marker", 0, start_marker, "NAME[:N]",
           "the window begins where the first (or N-th) marker of this name starts"),
    STRING("end-marker", 0, end_marker, "NAME[:N]",
           "the window ends where the last (or N-th) marker of this name ends"),
    {"inclusive", 0, OPT_BOOL, AT(window_mode), "BOOL", NULL, ROCL_WINDOW_OVERLAP,
     ROCL_WINDOW_INSIDE, NULL},
    SET("overlap", 0, window_mode, ROCL_WINDOW_OVERLAP,
        "keep all events that touch the window, unclipped"),
    SET("clip", 0, window_mode, ROCL_WINDOW_CLIP,
        "keep all events that touch the window, clipped at its edges"),
    {"run", 0, OPT_NUMBER, AT(run), "N", NULL, 1, INT_MAX,
     "keep only run N of inputs that are several: a rank is in two of them, at times that do not "
     "overlap; they are numbered by time"},
    LIST("rank", 0, ranks, "LIST",
         "keep only these ranks: 0,4-7; PATTERN=N: files whose names match the glob are of rank N"),
    LIST("pid", 0, pids, "LIST", "keep only these processes"),
    LIST("agent", 0, agents, "LIST", "keep only GPU work of these agents: 2, \"GPU 0\", gfx942"),
    LIST("include", 0, include, "LIST",
         "keep only these kinds (region, marker, mark, kernel, copy, alloc, scratch, counter, ...) "
         "or categories (hip, hsa_core_api, rccl, ...)"),
    LIST("exclude", 0, exclude, "LIST", "remove these kinds or categories"),
    LIST(
        "name", 0, names, "[KIND:]REGEX",
        "keep only events whose name matches (POSIX extended); with a kind of --include before it, "
        "as in kernel:gemm, only of that kind, and all others; may be repeated"),
    LIST("exclude-name", 0, exclude_names, "[KIND:]REGEX",
         "remove events, or those of that kind, whose name matches"),
    LIST("kernel-include", 0, kernel_include, "REGEX", NULL),
    LIST("kernel-exclude", 0, kernel_exclude, "REGEX", NULL),
    STRING("kernel-iterations", 0, kernel_iterations, "LIST",
           "for each kernel name in a process, keep only these dispatches, counted from 1 in the "
           "order of their start: 1,[5-8]"),
    STRING("steps", 0, steps, "LIST",
           "keep only events that begin in steps with these numbers (3, 5-8, 4-), in any process"),
    STRING("step-markers", 0, step_markers, "REGEX",
           "markers whose name matches are steps of the program (POSIX extended; default: names "
           "that count, such as ProfilerStep#12, step:3 or iteration 5)"),
    {"warmup", 0, OPT_NUMBER, AT(warmup), "N", NULL, 0, INT_MAX,
     "remove the first N steps of each process, and everything that begins earlier"},
    LIST("period", 0, periods, "D:L[:N]",
         "keep only events of N periods (default 1; 0: without end) of length L, with a delay D "
         "before each: 1s:500ms:3; several follow each other, the first from the begin of the "
         "trace"),
    STRING("min-duration", 0, min_duration, "TIME",
           "keep only events that last at least this long (1.5us); events without a duration pass"),
    COMMON_END,
};

static const opt run_options[] = {
    {"jobs", 'j', OPT_NUMBER, AT(jobs), "N", NULL, 0, 256,
     "number of worker threads (default: one per core); the output is the same for every number"},
    {"memory", 0, OPT_SIZE, AT(memory), "SIZE", NULL, 0, 0,
     "memory for sorting and for workers (1m each); data that does not fit is written to temporary "
     "files (default: 48m)"},
    STRING("tmpdir", 0, tmpdir, "DIR", NULL),
    FLAG("no-sync", 0, no_sync, NULL),
    CHOICE("reader", reader, "HOW", "auto|pages|sqlite", NULL),
    SET("quiet", 'q', level, MSG_QUIET, "print errors only"),
    SET("verbose", 'v', level, MSG_VERBOSE, "print how much was read and written"),
    COMMON_END,
};

static const opt team_options[] = {
    STRING("team", 0, team, "N|mpi|no",
           "which processes make the result together: N on this machine, those that mpirun or srun "
           "started (mpi; the default if they have the same command line), or this one alone (no)"),
    FLAG("local", 0, local,
         "inputs are on disks that only their own nodes see: each node of the team looks up the "
         "names on its own disks; HOST:PATH is an input on that node"),
    COMMON_END,
};

#define IGNORED(name, arg, choices, most)                                                          \
    {                                                                                              \
        name, 0, OPT_IGNORED, AT(ignored), arg, choices, 0, most, NULL                             \
    }

/* What AMD's tools need, and nothing here does: accepted, without effect. */
static const opt ignored_options[] = {
    IGNORED("automerge-limit", "N", NULL, INT_MAX),
    IGNORED("copy", NULL, NULL, 0), /* inputs are never moved */
    IGNORED("email-from", "ADDRESS", NULL, 0),
    IGNORED("email-subject", "TEXT", NULL, 0),
    IGNORED("email-to", "ADDRESS", NULL, 0),
    IGNORED("inline-preview", NULL, NULL, 0),
    IGNORED("no-annotate-kfd", NULL, NULL, 0),
    IGNORED("perfetto-backend", "NAME", "inprocess|system", 0),
    IGNORED("perfetto-buffer-fill-policy", "NAME", "discard|ring_buffer", 0),
    IGNORED("perfetto-buffer-size", "KB", NULL, INT_MAX),
    IGNORED("perfetto-shmem-size-hint", "KB", NULL, INT_MAX),
    IGNORED("smtp-password", "TEXT", NULL, 0),
    IGNORED("smtp-port", "PORT", NULL, 0),
    IGNORED("smtp-server", "HOST", NULL, 0),
    IGNORED("smtp-user", "NAME", NULL, 0),
    IGNORED("template-path", "FILE", NULL, 0),
    IGNORED("zip-attachments", NULL, NULL, 0),
    COMMON_END,
};

static const opt other_options[] = {
    {"completion", 0, OPT_COMPLETION, 0, "SHELL", "bash|zsh|fish", 0, 0,
     "print completion code for bash, zsh or fish"},
    {"help", 'h', OPT_HELP, 0, "[=WHAT]", NULL, 0, 0,
     "print the first page of help, or all, or a group of options such as filters, or aliases: "
     "what else is accepted"},
    {"version", 'V', OPT_VERSION, 0, NULL, NULL, 0, 0,
     "print the versions of the tool and of the libraries"},
    COMMON_END,
};

const opt_group input_group = {"Input", input_options};
const opt_group names_group = {"Names", names_options};
const opt_group filter_group = {"Filters", filter_options};
const opt_group run_group = {"Run", run_options};
const opt_group team_group = {"Team", team_options};
const opt_group ignored_group = {NULL, ignored_options};
const opt_group other_group = {"Other", other_options};
