/* The environment of rtg_tracer, read when the library is loaded. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capture/rtg/rtg.h"

rocl_rtg_settings rocl_rtg;
static const char *output; /* ROCLINE_OUTPUT */

/* Programs may change their environment, so this keeps a copy. */
static const char *copy_text(const char *name, const char *otherwise)
{
    const char *s = secure_getenv(name);
    s = s ? strdup(s) : NULL;
    return s ? s : otherwise;
}

static bool read_flag(const char *name, bool otherwise)
{
    const char *s = secure_getenv(name);
    if (!s)
        return otherwise;
    return *s && (strchr("TtYy", *s) || (*s >= '1' && *s <= '9'));
}

__attribute__((constructor)) static void read_environment(void)
{
    int saved = errno;
    output = copy_text("ROCLINE_OUTPUT", NULL);
    rocl_rtg.filename = copy_text("RTG_FILENAME", NULL);
    rocl_rtg.hcc = read_flag("HCC_PROFILE", false);
    rocl_rtg.chunks = output != NULL;
    rocl_rtg.text = rocl_rtg.filename || rocl_rtg.hcc || !output;
    if (!rocl_rtg.filename)
        rocl_rtg.filename = "rtg_trace.txt";
    rocl_rtg.hip_args = read_flag("RTG_HIP_API_ARGS", false);
    rocl_rtg.host_dispatch = read_flag("RTG_HSA_HOST_DISPATCH", false) && !rocl_rtg.hcc;
    rocl_rtg.profile = read_flag("RTG_PROFILE", true);
    rocl_rtg.profile_copy = read_flag("RTG_PROFILE_COPY", true);
    const char *verbose = secure_getenv("RTG_VERBOSE");
    rocl_rtg.verbose = verbose && !strcmp(verbose, "2") ? 2 : read_flag("RTG_VERBOSE", false);
    rocl_rtg.hip_filter = copy_text("RTG_HIP_API_FILTER", "all");
    rocl_rtg.hip_filter_out = copy_text("RTG_HIP_API_FILTER_OUT", "");
    rocl_rtg.hsa_filter = copy_text("RTG_HSA_API_FILTER", "");
    rocl_rtg.hsa_filter_out = copy_text("RTG_HSA_API_FILTER_OUT", "");
    /* Something is left out: of everything. */
    if (!*rocl_rtg.hsa_filter && *rocl_rtg.hsa_filter_out)
        rocl_rtg.hsa_filter = "all";
    if (!*rocl_rtg.hip_filter && *rocl_rtg.hip_filter_out)
        rocl_rtg.hip_filter = "all";
    errno = saved;
}

/* Does the name contain one of the comma-separated texts of the list? `all`: a word for every name;
 * `table`: one for those of a table. An empty text is in every name. */
static bool is_in_list(const char *list, const char *name, const char *all, const char *table)
{
    while (*list) {
        size_t n = strcspn(list, ",");
        char word[128];
        snprintf(word, sizeof word, "%.*s", (int)n, list);
        if ((all && (!strcmp(word, all) || (table && !strcmp(word, "*")))) ||
            (table && !strcmp(word, table)) || (n < sizeof word && strstr(name, word)))
            return true;
        list += n + (list[n] == ',');
    }
    return false;
}

bool rocl_rtg_wants_hip(const char *name)
{
    return !rocl_rtg.hcc && is_in_list(rocl_rtg.hip_filter, name, "all", NULL) &&
           !is_in_list(rocl_rtg.hip_filter_out, name, NULL, NULL);
}

bool rocl_rtg_wants_hsa(const char *table, const char *name)
{
    return !rocl_rtg.hcc && is_in_list(rocl_rtg.hsa_filter, name, "all", table) &&
           !is_in_list(rocl_rtg.hsa_filter_out, name, NULL, NULL);
}

void rocl_rtg_say_settings(void)
{
    static _Atomic bool said;
    int saved = errno;
    if (atomic_exchange(&said, true))
        return;
    if (output && *output && (!rocl_cap_on() || access(output, W_OK | X_OK) != 0))
        fprintf(stderr, "rocline: %s: %s; nothing is recorded there\n", output, strerror(errno));
    if (rocl_rtg.verbose)
        fprintf(stderr,
                "rocline: RTG_FILENAME=%s RTG_HIP_API_FILTER=%s RTG_HIP_API_FILTER_OUT=%s "
                "RTG_HIP_API_ARGS=%d RTG_HSA_API_FILTER=%s RTG_HSA_API_FILTER_OUT=%s "
                "RTG_HSA_HOST_DISPATCH=%d RTG_PROFILE=%d RTG_PROFILE_COPY=%d HCC_PROFILE=%d "
                "chunks=%d text=%d\n",
                rocl_rtg.filename, rocl_rtg.hip_filter, rocl_rtg.hip_filter_out, rocl_rtg.hip_args,
                rocl_rtg.hsa_filter, rocl_rtg.hsa_filter_out, rocl_rtg.host_dispatch,
                rocl_rtg.profile, rocl_rtg.profile_copy, rocl_rtg.hcc, rocl_rtg.chunks,
                rocl_rtg.text);
    errno = saved;
}
