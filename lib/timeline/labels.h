/* What things are called in pictures of a trace, whatever the format. */
#ifndef ROCL_TIMELINE_LABELS_H
#define ROCL_TIMELINE_LABELS_H

#include "model/gpus.h"
#include "model/trace.h"

/* The host name of its node, "" unknown. */
const char *rocl_process_host(const rocl_capture *c, const rocl_process *p);

/* "rank 0, pid 123, host": without a rank below 0, a pid of 0, a host of "". */
void rocl_process_details(char *s, size_t size, int32_t rank, int64_t pid, const char *host);

/* "/opt/app/train --rank 0" -> "train" */
void rocl_program_name(const char *command, char *name, size_t size);
/* Its own name; the main thread is called as its program is; "" when nothing is known. May use buf.
 */
const char *rocl_thread_label(const rocl_capture *c, const rocl_thread *t, const rocl_process *p,
                              char *buf, size_t size);
/* "GPU 0 AMD Instinct MI300X"; instead of the product the name that the program gave it. */
void rocl_gpu_label(const rocl_trace *t, const rocl_gpu *g, char *name, size_t size);
/* "GPU 0"; the label of an agent that is none; "unknown agent". */
void rocl_agent_label(const rocl_gpus *g, const rocl_capture *c, uint32_t agent, char *s,
                      size_t size);
/* Its label; "No Queue" for NULL. */
void rocl_queue_label(const rocl_trace *t, const rocl_queue *q, const char *word, char *name,
                      size_t size);

#endif
