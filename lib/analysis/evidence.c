/* What findings rest on: tables that are kept whole, whatever is printed. */
#include <string.h>

#include "analysis/report.h"

/* NAMED: collected only where its report is asked for, as it is expensive. */
static const struct {
    const char *table, *columns;
    enum { ALWAYS, OF_DOCTOR, NAMED } when;
    rocl_report report;
} needs[] = {
    {"overlap",
     " gpu rank wall_ns compute_ns exposed_communication_ns exposed_copy_ns copy_ns both_ns "
     "idle_ns "
     "kernels copies ",
     ALWAYS, 0},
    {"gap_classes", " gpu class count total_ns ", ALWAYS, 0},
    {"longest_gaps", " gpu start_ns gap_ns class host after_id ", ALWAYS, 0},
    {"kernels", " name class calls total_ns median_ns p90_ns max_ns ", ALWAYS, 0},
    {"copies", " direction calls bytes total_ns bandwidth unsized ", ALWAYS, 0},
    {"domains", " name calls ", ALWAYS, 0},
    {"streams", " kernels busy_ns ", ALWAYS, 0},
    {"stream_activity", " gpu wall_ns average_busy ", ALWAYS, 0},
    {"occupancy", " name class percent occupancy_percent limit workgroups rounds scratch_bytes ",
     ALWAYS, 0},
    {"late_ranks",
     " meeting rank pid last meetings gain_ns lost_ns lost_percent cause name begin_ns end_ns "
     "event ",
     ALWAYS, 0},
    {"memory_calls", " calls total_ns processes ", ALWAYS, 0},
    {"doctor", " verdict ", OF_DOCTOR, 0},
    {"doctor_findings", " level finding evidence where places event cause record rule events ",
     OF_DOCTOR, 0},
    {"graphs", " graph launches kernels average_ns gaps_ns gaps_percent ", NAMED,
     ROCL_REPORT_LAUNCH},
    {"graphs", " kernels ", NAMED, ROCL_REPORT_STEPS},
    {"sequences", " first_kernel length calls percent average_ns ", NAMED, ROCL_REPORT_STEPS},
    {"steps", " marker place step start_ns wall_ns of_median outlier ", NAMED, ROCL_REPORT_STEPS},
    {"roofline", " name percent peak_percent ", NAMED, ROCL_REPORT_ROOFLINE},
    {"critical_path", " class count percent ", NAMED, ROCL_REPORT_CRITICAL_PATH},
    {"critical_path_what_if", " name factor saved_ns saved_percent ", NAMED,
     ROCL_REPORT_CRITICAL_PATH},
};

const char *rocl_evidence_of(const rocl_stats_options *o, const char *table)
{
    for (size_t i = 0; i < sizeof needs / sizeof *needs; i++)
        if (((o->findings && needs[i].when != NAMED) ||
             (o->findings && o->named >> needs[i].report & 1) ||
             (needs[i].when == OF_DOCTOR && o->reports >> ROCL_REPORT_DOCTOR & 1)) &&
            !strcmp(needs[i].table, table))
            return needs[i].columns;
    return NULL;
}
