/* A stand-in for libhsakmt, so that the real ROCr and HIP run where there is no /dev/kfd: node 0 is
 * a CPU, and with KMT_GPU in the environment node 1 is a GPU (gfx900) whose queues take AQL packets
 * and complete them without running anything.
 *
 *     node.c    what nodes there are
 *     memory.c  allocations
 *     event.c   events
 *     queue.c   the GPU: queues and their packets */
#ifndef ROCL_TESTS_ROCR_KMT_H
#define ROCL_TESTS_ROCR_KMT_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#pragma GCC visibility push(default)
#include <hsakmt.h>
#pragma GCC visibility pop

enum { KMT_CPU, KMT_GPU, KMT_NODES };

bool kmt_has_gpu(void);
/* ns; the system clock of the real driver, and here that of the GPU as well. */
uint64_t kmt_now(void);
/* Signals an event by its id, as the GPU does. */
void kmt_event_signal(uint32_t id);

#endif
