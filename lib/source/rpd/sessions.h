/* Sessions of an RPD file: every process that is traced is one, and writers append to a file. The
 * number of a session is in the upper 32 bits of all ids of its rows. */
#ifndef ROCL_SOURCE_RPD_SESSIONS_H
#define ROCL_SOURCE_RPD_SESSIONS_H

#include "source/rpd/tables.h"

/* Fills the sessions, the version of the schema, pid_stride and gpu_stride, from rocpd_metadata and
 * other tables. */
rocl_status rpd_read_sessions(rpd_file *f, rocl_db *db, rocl_error *err);

/* The session that recorded a value of a device, which its row does not name: of those running at
 * that time, the one that began first. NULL: the file has no calls. */
const rpd_session *rpd_find_monitoring_session(const rpd_file *f, int64_t when);

#endif
