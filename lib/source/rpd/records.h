/* Rows of an RPD file as records. */
#ifndef ROCL_SOURCE_RPD_RECORDS_H
#define ROCL_SOURCE_RPD_RECORDS_H

#include "source/rpd/tables.h"

/* Row i at hand of the worker's cursor of the table. */
rocl_status rpd_put_call(const rpd_file *f, rocl_records *to, rpd_worker *w, rpd_table t,
                         unsigned i, rocl_error *err);
rocl_status rpd_put_op(rpd_file *f, rocl_records *to, rpd_worker *w, unsigned i, rocl_error *err);
rocl_status rpd_put_monitor(const rpd_file *f, rocl_records *to, rpd_worker *w, unsigned i,
                            rocl_error *err);

/* Fills last_monitored: the last row of each device and what a session monitored of it. */
rocl_status rpd_find_last_monitored(rpd_file *f, rocl_trace *t, rocl_db *db, rocl_error *err);
/* Gives the counters of devices their units. */
rocl_status rpd_name_units(rocl_trace *t, rocl_capture *c, rocl_error *err);

#endif
