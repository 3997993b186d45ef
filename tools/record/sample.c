/* Samples what runs: loads the sampler (lib/capture/sample) into this process, which records into a
 * file of its own beside those of the processes of the command. */
#include "record/record.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

typedef const char *start_fn(long pid, const char **notice);
typedef const char *stop_fn(void);

static stop_fn *stop;

#ifdef ROCL_STATIC /* a part of this program, which can load no libraries */
start_fn rocl_sampler_start;
stop_fn rocl_sampler_stop;
void rocl_read_settings(void);

static start_fn *find_start(const char *libraries)
{
    (void)libraries;
    rocl_read_settings();
    stop = rocl_sampler_stop;
    return rocl_sampler_start;
}
#else
/* A function of a library, as POSIX has it. */
static void *find_function(void *library, const char *name, void *to)
{
    *(void **)to = library ? dlsym(library, name) : NULL;
    return *(void **)to;
}

/* NULL, and a message: not found. */
static start_fn *find_start(const char *libraries)
{
    char path[8192];
    start_fn *start;
    snprintf(path, sizeof path, "%s/librocline-sample.so", libraries);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (find_function(library, "rocl_sampler_start", &start) &&
        find_function(library, "rocl_sampler_stop", &stop))
        return start;
    stop = NULL;
    msg_error("nothing is sampled: %s", dlerror());
    return NULL;
}
#endif

void start_sampling(const cli *c, const char *libraries, pid_t pid)
{
    const char *notice = NULL, *problem;
    if (!c->sample)
        return;
    if (!set_recording(c) || setenv("ROCLINE_SAMPLE", *c->sample ? c->sample : "10", 1) != 0 ||
        (c->sysfs && setenv("ROCLINE_SAMPLE_SYSFS", c->sysfs, 1) != 0)) {
        msg_error("nothing is sampled: out of memory");
        return;
    }
    start_fn *start = find_start(libraries);
    if (!start)
        return;
    problem = start(pid, &notice);
    if (problem)
        msg_error("nothing is sampled: %s", problem);
    else if (notice)
        msg_notice("%s", notice);
}

void stop_sampling(void)
{
    const char *result = stop ? stop() : NULL;
    if (result)
        msg_verbose("%s", result);
}
