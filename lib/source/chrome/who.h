/* Who is who in files that we wrote: see format/roster.h. */
#pragma once

#include "base/json_index.h"
#include "base/map.h"
#include "format/roster.h"
#include "source/records/records.h"

typedef struct chrome_who {
    rocl_roster roster;
    rocl_map processes; /* number in the file -> index */
    rocl_map gpus;      /* host and id in the file -> index */
    rocl_map numbers;   /* host and number there -> index */
} chrome_who;

void chrome_who_close(chrome_who *w);
/* Reads the member of the file, if it has it, and defines the GPUs of its hosts. */
rocl_status chrome_who_open(chrome_who *w, rocl_records_input *in, const rocl_json_index *x,
                            unsigned flags, rocl_error *err);
/* Is it the number of a process? */
bool chrome_who_knows(const chrome_who *w, uint64_t process);
bool chrome_who_sees(const chrome_who *w, uint64_t process, uint64_t host);
/* The id of the GPU with this number on the host of a process; ROCL_NO_KEY: unknown. */
uint64_t chrome_who_find_gpu(const chrome_who *w, uint64_t process, uint32_t number);
/* After the first pass: processes, their hosts and main threads, and GPUs. */
rocl_status chrome_who_refine(const chrome_who *w, rocl_records_input *in, rocl_error *err);
