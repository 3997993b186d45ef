/* The CSV files of a run, for csv.c and csv_agents.c. */
#pragma once

#include "base/map.h"
#include "source/rocprof/csv.h"
#include "source/rocprof/row.h"
#include "source/rocprof/who.h"

/* The most columns of a file, and of those examined before its rows are read. */
enum { CSV_FIELDS_MAX = 4096, CSV_SHORT_MAX = 256 };
enum { CSV_HEADER_MAX = 1 << 20 };

typedef struct csv_file {
    rocprof_table table;
    uint64_t first_row; /* where the line after the header begins */
    bool is_cut;        /* the file ends within the header */
    char *header;       /* where the names of counters are */
    size_t count;       /* of columns */
    rocprof_column *columns;
    rocl_view *names;
    uint64_t has;        /* a bit for each column, */
    uint32_t has_packet; /* see rocprof_row */
    bool of_v1, without_db;
    size_t text_column; /* where names of kernels or messages are; SIZE_MAX: nowhere */
    bool has_counters;  /* columns that are counters */
    bool names_agents;  /* "Agent_Id" of v3, not "gpu-id" */
} csv_file;

/* A row of agent_info. */
typedef struct csv_agent {
    uint64_t process; /* key; ROCL_NO_KEY: every process */
    uint64_t key;     /* as the tables call it */
    rocl_agent_type type;
    uint64_t node, logical, ordinal;                  /* the last: among those of its type */
    uint32_t type_name, name, vendor, product, model; /* texts */
    char *properties;                                 /* JSON: numbers that expressions use */
} csv_agent;

/* How tables name an agent. */
typedef enum csv_agent_form {
    BY_NODE,    /* 4; "Agent 4" with --agent-index absolute */
    BY_LOGICAL, /* "Agent 4" */
    BY_TYPE     /* "GPU 0" */
} csv_agent_form;

typedef struct csv_run {
    rocprof_words words;
    csv_file *files;
    size_t count;
    bool has_dispatches; /* a file has them: counter values need not stand in */
    /* For a trace of kernels without Dispatch_Id: correlation id -> that number + 1, which the
     * counter values say; 0 where it is not the only one. */
    rocl_map dispatches;
    bool names_agents; /* as v3 does */
    csv_agent *agents;
    size_t agent_count, agent_cap;
    rocprof_who who; /* of process_info */
} csv_run;

/* csv_file.c */

/* Reads the header, of n bytes from the begin of the file. */
rocl_status csv_read_header(csv_file *f, const char *path, const char *text, size_t n,
                            rocl_error *err);
void csv_free_file(csv_file *f);
/* The field of a column in a row that was split; NULL: the file has no such column. */
const rocl_view *csv_find_field(const csv_file *f, const rocl_view *fields, rocprof_column c);
/* The next whole line below a header, with line ends as in rtg_reader; NULL: no more. */
char *csv_next_row(char **at, char *end, size_t *n);

/* The name of a file of a run in parts. */
typedef struct csv_run_name {
    rocl_view folder;
    rocl_view run; /* what the files of one run share: "PREFIX_" of v3, "NAME" of v2 */
    bool kind_first;
    const char *rest; /* from ".csv" on */
} csv_run_name;

/* False: the name is not that of a file of a run. */
bool csv_parse_run_name(const char *path, csv_run_name *r);

/* csv_agents.c */

/* Takes agents from the text of an agent_info.csv that lies beside the files of a run, or what the
 * process_info.csv of our output says of processes and GPUs: this only adds to what is known of
 * them, so bad rows are ignored. */
rocl_status csv_read_agents(csv_run *run, rocl_trace *t, const csv_file *f, char *text, size_t n,
                            rocl_error *err);
/* kind: "agent_info" or "process_info". */
rocl_status csv_look_beside(csv_run *run, rocl_trace *t, const char *path, const char *kind,
                            rocl_error *err);
/* process_info has the columns of agent_info by which that is known, and the process. */
static inline bool csv_is_process_info(const csv_file *f)
{
    return f->table == ROCPROF_AGENTS && f->has & ROCPROF_BIT(PROCESS);
}
/* How the first rows of a file name their agents. */
csv_agent_form csv_find_agent_form(const csv_run *run, const csv_file *f, char *text, size_t n);
/* Agents come first among the definitions, in their order, under the keys that the rows use. */
bool csv_define_agents(csv_run *run, rocl_records_input *in, csv_agent_form form);
/* After the first pass: completes agents from agent_info, and their labels. */
rocl_status csv_refine_agents(rocl_records_input *in, rocl_error *err);
/* The properties of an agent, as rocl_source_ops has it. */
rocl_status csv_put_properties(rocl_trace *t, rocl_model_capture *c, rocl_property_of of,
                               uint32_t index, rocl_buf *json, rocl_error *err);
