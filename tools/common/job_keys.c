/* The keys of rocprofv3's job files. */
#include "common/job.h"

#include <string.h>

#define COLLECTION(name)                                                                           \
    {                                                                                              \
        name, JOB_COLLECTION, NULL, NULL, NULL                                                     \
    }
#define NO_EFFECT(name)                                                                            \
    {                                                                                              \
        name, JOB_NO_EFFECT, NULL, NULL, NULL                                                      \
    }

static const job_key keys[] = {
    /* names and folders of outputs */
    {"output_file", JOB_TEXT, "output-file", NULL, NULL},
    {"output_directory", JOB_FOLDER, "output-path", NULL, NULL},
    {"output_format", JOB_FORMATS, NULL, NULL, "csv|json|pftrace|otf2|rocpd"},
    /* filters */
    {"kernel_include_regex", JOB_LIST, "kernel-include", NULL, NULL},
    {"kernel_exclude_regex", JOB_LIST, "kernel-exclude", NULL, NULL},
    {"kernel_iteration_range", JOB_JOINED, "kernel-iterations", NULL, NULL},
    {"collection_period", JOB_PERIODS, "period", NULL, NULL},
    {"collection_period_unit", JOB_UNIT, NULL, NULL, "hour|min|sec|msec|usec|nsec"},
    /* names in outputs */
    {"truncate_kernels", JOB_SWITCH, "kernel-names", "short", NULL},
    {"mangled_kernels", JOB_SWITCH, "kernel-names", "mangled", NULL},
    {"kernel_rename", JOB_SWITCH, "kernel-rename", NULL, NULL},
    {"agent_index", JOB_TEXT, "agent-index-value", NULL, NULL},
    {"group_by_queue", JOB_SWITCH, "group-by-queue", NULL, NULL},
    /* statistics */
    {"stats", JOB_SWITCH, "style", "rocprofv3", NULL},
    {"summary", JOB_SWITCH, "summary", NULL, NULL},
    {"summary_per_domain", JOB_SWITCH, "summary-per-domain", NULL, NULL},
    {"summary_groups", JOB_LIST, "summary-groups", NULL, NULL},
    {"summary_output_file", JOB_TEXT, "summary-output-file", NULL, NULL},
    {"summary_units", JOB_TEXT, "summary-units", NULL, NULL},
    /* outputs here need no buffer, and are written however small they are; what a run was is not
     * written */
    NO_EFFECT("minimum_output_data"),
    NO_EFFECT("output_config"),
    NO_EFFECT("perfetto_backend"),
    NO_EFFECT("perfetto_buffer_fill_policy"),
    NO_EFFECT("perfetto_buffer_size"),
    NO_EFFECT("perfetto_shmem_size_hint"),
    /* collection */
    COLLECTION("advanced_thread_trace"),
    COLLECTION("att"),
    COLLECTION("att_activity"),
    COLLECTION("att_buffer_size"),
    COLLECTION("att_consecutive_kernels"),
    COLLECTION("att_gpu_index"),
    COLLECTION("att_library_path"),
    COLLECTION("att_parse"),
    COLLECTION("att_perfcounter_ctrl"),
    COLLECTION("att_perfcounters"),
    COLLECTION("att_serialize_all"),
    COLLECTION("att_shader_engine_mask"),
    COLLECTION("att_simd_mask"),
    COLLECTION("att_simd_select"),
    COLLECTION("att_target_cu"),
    COLLECTION("attach"),
    COLLECTION("attach_duration_msec"),
    COLLECTION("disable_signal_handlers"),
    COLLECTION("echo"),
    COLLECTION("extra_counters"),
    COLLECTION("hip_compiler_trace"),
    COLLECTION("hip_event_trace"),
    COLLECTION("hip_graph_trace"),
    COLLECTION("hip_runtime_trace"),
    COLLECTION("hip_trace"),
    COLLECTION("hipfile_trace"),
    COLLECTION("hsa_amd_trace"),
    COLLECTION("hsa_core_trace"),
    COLLECTION("hsa_finalize_trace"), /* in the published schema */
    COLLECTION("hsa_finalizer_trace"),
    COLLECTION("hsa_image_trace"),
    COLLECTION("hsa_trace"),
    COLLECTION("kernel_trace"),
    COLLECTION("kfd_trace"),
    COLLECTION("kokkos_trace"),
    COLLECTION("list_avail"),
    COLLECTION("list_metrics"), /* in the published schema */
    COLLECTION("log_level"),
    COLLECTION("marker_trace"),
    COLLECTION("memory_allocation_trace"),
    COLLECTION("memory_copy_trace"),
    COLLECTION("ompt_trace"),
    COLLECTION("pc_sampling_beta_enabled"),
    COLLECTION("pc_sampling_interval"),
    COLLECTION("pc_sampling_method"),
    COLLECTION("pc_sampling_unit"),
    COLLECTION("pid"),
    COLLECTION("pmc"),
    COLLECTION("pmc_group_interval"),
    COLLECTION("pmc_groups"),
    COLLECTION("pmc_raw"),
    COLLECTION("preload"),
    COLLECTION("profile_mpi_ranks"),
    COLLECTION("replay_mode"),
    COLLECTION("rccl_trace"),
    COLLECTION("rocdecode_trace"),
    COLLECTION("rocjpeg_trace"),
    COLLECTION("rocshmem_trace"),
    COLLECTION("runtime_trace"),
    COLLECTION("scratch_memory_trace"),
    COLLECTION("selected_regions"),
    COLLECTION("spm"),
    COLLECTION("spm_counters"),
    COLLECTION("sys_trace"),
};

const job_key *job_key_find(const char *name, size_t len)
{
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        size_t n = 0;
        while (n < len && keys[i].name[n] && keys[i].name[n] == (name[n] == '-' ? '_' : name[n]))
            n++;
        if (n == len && !keys[i].name[n])
            return &keys[i];
    }
    return NULL;
}

const char *job_key_word(const void *ctx, size_t i)
{
    (void)ctx;
    return i < sizeof keys / sizeof *keys ? keys[i].name : NULL;
}
