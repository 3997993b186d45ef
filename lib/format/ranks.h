/* Where launchers leave the rank of a process in its environment. */
#pragma once

/* The first that is a number counts. */
static const char *const rocl_rank_variables[] = {
    "OMPI_COMM_WORLD_RANK", "PMIX_RANK",      "PMI_RANK",
    "MV2_COMM_WORLD_RANK",  "FLUX_TASK_RANK", "PALS_RANKID",
    "ALPS_APP_PE",          "SLURM_PROCID",   "RANK"};

enum { ROCL_RANK_VARIABLES = sizeof rocl_rank_variables / sizeof *rocl_rank_variables };
