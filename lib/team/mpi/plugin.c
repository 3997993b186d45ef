/* The transport of a team over MPI: a plugin, one for each ABI, compiled by its mpicc. The library
 * itself knows no MPI. One thread at a time calls MPI, and none waits in it: other threads have
 * messages, too. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "team/transport.h"

/* Between two looks: short at first, so that messages which follow each other are not kept waiting.
 */
enum { PAUSE_LEAST = 2, PAUSE_MOST = 200 /* microseconds */, LOOKS = 200 };

static struct {
    pthread_mutex_t lock; /* of all calls of MPI */
    MPI_Comm comm;
    MPI_Message message; /* that was found */
    int length;
    int open; /* a team uses it */
    int begun;
    const char *why;
} mpi = {.lock = PTHREAD_MUTEX_INITIALIZER, .why = "MPI has failed"};

static void pause_between(unsigned looks)
{
    long us = looks < LOOKS ? 0 : PAUSE_LEAST * (long)(looks - LOOKS + 1);
    us = us < PAUSE_MOST ? us : PAUSE_MOST;
    if (us)
        nanosleep(&(struct timespec){.tv_nsec = us * 1000}, NULL);
}

/* rc: of the call that began it. 0 or -1. */
static int finish_request(MPI_Request *request, int rc)
{
    for (int done = 0, looks = 0; rc == MPI_SUCCESS && !done; looks++) {
        pthread_mutex_lock(&mpi.lock);
        rc = MPI_Test(request, &done, MPI_STATUS_IGNORE);
        pthread_mutex_unlock(&mpi.lock);
        if (!done)
            pause_between((unsigned)looks);
    }
    return rc == MPI_SUCCESS ? 0 : -1;
}

static int send_message(void *self, unsigned to, const void *bytes, size_t n)
{
    MPI_Request request;
    (void)self;
    if (n > 0x7fffffff) {
        mpi.why = "a message is too long for MPI";
        return -1;
    }
    pthread_mutex_lock(&mpi.lock);
    int rc = MPI_Isend(bytes, (int)n, MPI_BYTE, (int)to, 0, mpi.comm, &request);
    pthread_mutex_unlock(&mpi.lock);
    return finish_request(&request, rc);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static int wait_for_message(void *self, int milliseconds, unsigned *from, size_t *n)
{
    const double until = milliseconds ? now() + milliseconds : 0;
    MPI_Status status;
    int there = 0, rc = MPI_SUCCESS;
    (void)self;
    for (unsigned looks = 0; rc == MPI_SUCCESS; looks++) {
        pthread_mutex_lock(&mpi.lock);
        rc = MPI_Improbe(MPI_ANY_SOURCE, 0, mpi.comm, &there, &mpi.message, &status);
        if (rc == MPI_SUCCESS && there)
            rc = MPI_Get_count(&status, MPI_BYTE, &mpi.length);
        pthread_mutex_unlock(&mpi.lock);
        if (there || !milliseconds || now() >= until)
            break;
        pause_between(looks);
    }
    if (there) {
        *from = (unsigned)status.MPI_SOURCE;
        *n = (size_t)mpi.length;
    }
    return rc == MPI_SUCCESS ? there : -1;
}

static int take_message(void *self, void *bytes)
{
    MPI_Request request;
    (void)self;
    pthread_mutex_lock(&mpi.lock);
    int rc = MPI_Imrecv(bytes, mpi.length, MPI_BYTE, &mpi.message, &request);
    pthread_mutex_unlock(&mpi.lock);
    return finish_request(&request, rc);
}

static const char *why(void *self)
{
    (void)self;
    return mpi.why;
}

static void close_team(void *self, int broken)
{
    (void)self;
    mpi.open = broken;
}

/* All ranks come here when they are done. One that ends in the middle ends the others, as does one
 * whose team is broken. */
static void end_mpi(void)
{
    if (mpi.open)
        MPI_Abort(MPI_COMM_WORLD, 5);
    MPI_Finalize();
}

static int begin_mpi(char *why_not, size_t size)
{
    int provided;
    if (mpi.begun)
        return 0;
    if (MPI_Initialized(&provided) != MPI_SUCCESS || provided) {
        snprintf(why_not, size, "this program uses MPI itself");
        return -1;
    }
    if (MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &provided) != MPI_SUCCESS) {
        snprintf(why_not, size, "MPI_Init has failed");
        return -1;
    }
    mpi.begun = 1;
    atexit(end_mpi);
    if (provided < MPI_THREAD_SERIALIZED) {
        snprintf(why_not, size, "this MPI was built without threads");
        return -1;
    }
    MPI_Comm_dup(MPI_COMM_WORLD, &mpi.comm);
    MPI_Comm_set_errhandler(mpi.comm, MPI_ERRORS_RETURN);
    return 0;
}

static int join(rocl_transport *t, char *why_not, size_t size)
{
    MPI_Comm machine;
    int rank, ranks, local;
    if (begin_mpi(why_not, size) != 0)
        return -1;
    MPI_Comm_rank(mpi.comm, &rank);
    MPI_Comm_size(mpi.comm, &ranks);
    MPI_Comm_split_type(mpi.comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine);
    MPI_Comm_size(machine, &local);
    MPI_Comm_free(&machine);
    mpi.open = 1;
    *t = (rocl_transport){.rank = (unsigned)rank,
                          .size = (unsigned)ranks,
                          .local = (unsigned)local,
                          .send = send_message,
                          .wait = wait_for_message,
                          .take = take_message,
                          .why = why,
                          .close = close_team};
    return 0;
}

extern const rocl_transport_plugin rocl_transport_of_mpi;
__attribute__((visibility("default"))) const rocl_transport_plugin rocl_transport_of_mpi = {
    ROCL_TRANSPORT_VERSION,
#ifdef OPEN_MPI
    "Open MPI",
#else
    "MPICH",
#endif
    join,
};
