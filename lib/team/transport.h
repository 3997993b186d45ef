/* How the processes of a team talk to each other: a table of functions, which each transport fills
 * in. This header is all that a plugin for an MPI includes: nothing else of the library.
 *
 * The ranks are 0 to size - 1. Rank 0 talks with all others, and these with rank 0 only. */
#pragma once

#include <stddef.h>

/* The version of this table. A plugin of another one is not used. */
#define ROCL_TRANSPORT_VERSION 2

typedef struct rocl_transport rocl_transport;

struct rocl_transport {
    unsigned rank, size;
    unsigned local; /* ranks of this machine; 0: not known */
    void *self;
    /* Sends a message, and waits until its bytes may be used again. Any thread, one at a time for
     * each rank it is sent to; messages from one rank to another arrive in order. 0, or -1: the
     * other one is gone. */
    int (*send)(void *self, unsigned to, const void *bytes, size_t n);
    /* Waits for a message of any rank. 1: there is one, from whom and how long it is; 0: none came
     * within so many milliseconds; -1: a rank is gone. From then on until take() it is one
     * thread's. */
    int (*wait)(void *self, int milliseconds, unsigned *from, size_t *n);
    /* Receives the message that wait() has found. 0 or -1. */
    int (*take)(void *self, void *bytes);
    /* After -1: what has happened, as a sentence without its full stop. */
    const char *(*why)(void *self);
    /* This process has nothing more to send or to receive. broken: others may wait for what does
     * not come, and are ended. */
    void (*close)(void *self, int broken);
};

/* What a plugin has under the name ROCL_TRANSPORT_PLUGIN. */
typedef struct rocl_transport_plugin {
    int version;
    const char *name; /* "Open MPI" */
    /* Fills in a transport over all processes that the launcher has started; may be called again
     * once that is closed. 0, or -1 and why not. */
    int (*join)(rocl_transport *t, char *why, size_t size);
} rocl_transport_plugin;

#define ROCL_TRANSPORT_PLUGIN "rocl_transport_of_mpi"
