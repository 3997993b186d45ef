/* Threads of the library's own. For pool.c and pipe.c only. */
#ifndef ROCL_BASE_THREADS_H
#define ROCL_BASE_THREADS_H

#include <pthread.h>
#include <stdbool.h>

/* pthread_create with every signal blocked: a host's handlers run on the host's threads. */
bool rocl_thread_start(pthread_t *t, void *(*run)(void *), void *arg);

#endif
