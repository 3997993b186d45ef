/* Steps: markers that count, "ProfilerStep#12" or "step:3", or whatever a regular expression of the
 * user names. A step is one range of such a marker; steps that are called the same but for their
 * number are a series. */
#pragma once

#include "base/map.h"
#include "model/trace.h"

/* Decides which names are those of steps. Immutable: any thread may use it. */
typedef struct rocl_step_names rocl_step_names;

/* pattern: a POSIX extended regular expression; NULL: words that count, see rocl_read_step(). Wrong
 * ones are ROCL_USAGE. Free it; NULL is fine. */
rocl_status rocl_step_names_new(rocl_step_names **names, const char *pattern, rocl_error *err);
void rocl_step_names_free(rocl_step_names *n);

/* Is it the name of a marker that counts steps by itself: "ProfilerStep#12", "step:3",
 * "Iteration 5"? *stem gets the length of what is before the number. */
bool rocl_read_step(const char *name, size_t n, size_t *stem, uint64_t *number);
/* Is it the name of a step? Without a number its end is *stem = n, and *number
 * ROCL_STEP_UNNUMBERED. Takes some microseconds: test a name once (rocl_step_cache). */
bool rocl_step_names_match(const rocl_step_names *s, const char *name, size_t n, size_t *stem,
                           uint64_t *number);

#define ROCL_STEP_UNNUMBERED UINT64_MAX

/* Caches which texts are names of steps, for one thread. Zeroed at first; free(cache.known) at the
 * end. */
typedef struct rocl_step_cache {
    uint8_t *known; /* by text */
    size_t cap;
} rocl_step_cache;

/* Is the text (ROCL_NONE: none) the name of a step? */
rocl_status rocl_is_step(const rocl_trace *t, rocl_step_cache *cache, uint32_t text, bool *is,
                         rocl_error *err);

typedef struct rocl_step {
    uint64_t process; /* capture << 32 | process */
    int64_t start, end;
    uint64_t row;    /* rocl_row_word() */
    uint32_t thread; /* of the capture */
    uint32_t name;   /* text */
    /* By rocl_steps_resolve: */
    uint64_t number; /* without a number in the name: counted per process, from 0 */
    int64_t until;   /* the latest end of this one and of those before it of its process */
    uint32_t series;
    const char *stem;
    size_t stem_len;
} rocl_step;

typedef struct rocl_step_series {
    const char *stem; /* the part before the number: "ProfilerStep#"; not NUL-terminated */
    size_t stem_len;
    size_t first, count; /* of its steps */
    int64_t total;       /* of their durations; saturates */
} rocl_step_series;

typedef struct rocl_steps {
    rocl_step *all; /* once resolved: by series; in it by process, start, thread and row */
    size_t count, cap;
    rocl_step_series *series; /* that with the most time first: the outermost */
    size_t series_count;
} rocl_steps;

bool ROCL_CHECKED rocl_steps_add(rocl_steps *s, const rocl_step *step); /* false: memory is out */
rocl_status rocl_steps_resolve(rocl_steps *s, const rocl_trace *t, rocl_error *err);
void rocl_steps_free(rocl_steps *s);

/* The step of a series at a time: that of the thread, else the last begun of the process. The end
 * of a step is not in it, unless it has no duration. thread ROCL_NONE: unknown. SIZE_MAX: none. */
size_t rocl_steps_find(const rocl_steps *s, const rocl_step_series *series, uint64_t process,
                       uint32_t thread, int64_t time);
