/* Job files: what rocprofv3 takes with -i (input.yaml, input.json, input.txt), read as options of
 * the tools here. A file holds several jobs, or one. */
#pragma once

#include "common/common.h"

/* ---- keys ------------------------------------------------------------------------------------ */

typedef enum job_form {
    JOB_COLLECTION, /* matters only while a program is recorded */
    JOB_NO_EFFECT,  /* of an output, but nothing depends on it here */
    JOB_TEXT,       /* one value, that of the option */
    JOB_LIST,       /* every value is one of the option */
    JOB_JOINED,     /* the values with commas between them are that of the option */
    JOB_SWITCH,  /* a truth value: if it is true the option is set (to `value`, if there is one) */
    JOB_PERIODS, /* "delay:duration:repeat", in the unit of collection_period_unit */
    JOB_UNIT,
    JOB_FOLDER,
    JOB_FORMATS,
} job_form;

/* A key of rocprofv3, and its meaning here. */
typedef struct job_key {
    const char *name; /* with '_', also where people write '-' */
    job_form form;
    const char *option; /* long name; NULL: none */
    const char *value;
    const char *choices; /* words of the values; NULL: any */
} job_key;

/* NULL: rocprofv3 does not know it. */
const job_key *job_key_find(const char *name, size_t len);
/* The i-th name, NULL after the last: a rocl_word_fn. */
const char *job_key_word(const void *ctx, size_t i);

/* ---- files ----------------------------------------------------------------------------------- */

typedef struct job_setting {
    const job_key *key;
    strings values; /* of lists in lists as well; none: the key has no value */
    unsigned line, column;
} job_setting;

typedef struct job {
    job_setting *settings;
    size_t count;
} job;

typedef enum job_format { JOB_YAML, JOB_JSON, JOB_LINES } job_format;

typedef struct job_file {
    const char *path;
    job_format format;
    job *jobs;
    size_t count;
} job_file;

typedef struct job_error {
    unsigned line, column; /* from 1; 0: of the whole file */
    char text[256];
} job_error;

/* Reads the text of a file; false and *err when something is wrong. Free it in any case. */
bool job_file_parse(job_file *f, job_format format, const char *text, size_t len, job_error *err);
void job_file_free(job_file *f);

/* ---- options --------------------------------------------------------------------------------- */

/* Reads the file that --job names and sets the options of the tool by it. Of several jobs each is
 * run in a process of its own: in those it returns -1, as it does for a single job, and in the one
 * that was started the exit code when all have ended. A usage error is said, and returned. */
int job_run(const program *p, common *c);
