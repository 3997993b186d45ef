/* What the names of files and the user say about hosts and ranks, where the inputs do not. Forms of
 * names are those that PyTorch, vLLM, SGLang, JAX and rocprofv3 give their files; rocline(7) lists
 * them. What is derived from a name is marked as such: see rocl_said_by. */
#pragma once

#include "model/trace.h"

/* A rank or a host that the name of a file tells. */
typedef struct rocl_named {
    int64_t rank;     /* -1: none */
    const char *host; /* into the path, of host_len bytes; NULL: none */
    size_t host_len;
} rocl_named;

/* in_folder: the tool that wrote the file names its folder after the host. */
rocl_named rocl_read_name(const char *path, bool in_folder);

/* Completes the nodes and processes of all captures that this process has opened, before they are
 * put in order. May be called again. ROCL_USAGE: an option that no input matches, or that is no
 * pattern with a value. */
rocl_status rocl_apply_names(rocl_trace *t, rocl_error *err);
