/* Collectives: kernels by which ranks exchange data, put together across ranks. Every rank of a
 * communicator has a kernel of its own for each of its collectives, in the same order, so the n-th
 * kernels of a communicator on all its ranks are one collective. Ranges in which ranks meet are put
 * together likewise: collectives of MPI, calls of RCCL, and steps, each name for itself.
 *
 *     kernels --add--> by communicator, participant, start --match--> by collective --> fn
 *
 * The arguments of a kernel, as PyTorch writes them (rocl_options.args or collectives), tell its
 * collective: name, sizes, type, process group, and in newer traces a sequence number, which also
 * matches ranks whose traces begin later. Kernels without arguments are matched by name: of them
 * neither the size nor the communicator is known. */
#pragma once

#include "model/identity.h"
#include "model/ranks.h"

typedef enum rocl_collective_kind {
    ROCL_COLLECTIVE_OTHER, /* its name does not say */
    ROCL_COLLECTIVE_ALLREDUCE,
    ROCL_COLLECTIVE_ALLGATHER,
    ROCL_COLLECTIVE_REDUCESCATTER,
    ROCL_COLLECTIVE_ALLTOALL,
    ROCL_COLLECTIVE_BROADCAST,
    ROCL_COLLECTIVE_REDUCE,
    ROCL_COLLECTIVE_GATHER,
    ROCL_COLLECTIVE_SCATTER,
    ROCL_COLLECTIVE_BARRIER,
    ROCL_COLLECTIVE_POINT, /* from one rank to another: each kernel is on its own */
    ROCL_COLLECTIVE_KINDS
} rocl_collective_kind;

/* "allreduce". */
const char *rocl_collective_name(rocl_collective_kind k);
/* By the name of a kernel, or that which PyTorch has for it: "_allgather_base". */
rocl_collective_kind rocl_collective_kind_of(const char *name, size_t n);
/* Does an argument of this name describe the collective of a kernel? */
bool rocl_is_of_collective(const char *argument, size_t n);
/* The factor from algorithm bandwidth to bus bandwidth: the share of the data on each link if n
 * ranks share the work evenly, as in NCCL's tests. 0: there is none. */
double rocl_collective_bus_factor(rocl_collective_kind k, uint32_t n);

/* In what ranks meet. */
typedef enum rocl_meeting {
    ROCL_MEET_KERNELS,
    ROCL_MEET_CALLS, /* ncclAllReduce: returns when it is enqueued */
    ROCL_MEET_MPI,   /* MPI_Allreduce, as a marker or a call */
    ROCL_MEET_STEPS, /* markers that count */
    ROCL_MEETINGS
} rocl_meeting;

/* What a call or marker of this name is; ROCL_MEETINGS: nothing in which ranks meet. */
rocl_meeting rocl_meeting_of(const char *name, size_t n);

/* Who takes part: a GPU of a rank. */
typedef struct rocl_participant {
    uint32_t rank;       /* in rocl_collectives.ranks */
    const rocl_gpu *gpu; /* NULL: unknown, or a range */
} rocl_participant;

/* Participants whose collectives have a common order. Interned as bytes, so without holes. */
typedef struct rocl_communicator {
    uint32_t name;    /* text; 0: unknown, it stands for those named below; of steps their series */
    uint32_t ranks;   /* text: "[0, 1]"; 0 unknown */
    uint32_t kernel;  /* text: of kernels or ranges; 0: the name is known */
    uint32_t size;    /* ranks that it has; 0 unknown */
    uint32_t meeting; /* rocl_meeting */
} rocl_communicator;

typedef struct rocl_collective_member {
    uint32_t participant; /* in rocl_collectives.participants */
    uint32_t capture;
    uint64_t row; /* rocl_row_word() */
    int64_t start, end;
} rocl_collective_member;

typedef struct rocl_collective {
    uint32_t communicator; /* in rocl_collectives.communicators */
    uint64_t number;       /* in the communicator, from 1, or its sequence number */
    rocl_collective_kind kind;
    uint32_t name;     /* text: of the kernel of its first member */
    uint64_t bytes;    /* the largest input or output of a rank; 0 unknown */
    uint32_t expected; /* members; 0: only one rank has this communicator, or kernel */
    bool mixed; /* they differ in kind, or ranks have more ranges than others: not one collective */
    const rocl_collective_member *members; /* by participant */
    uint32_t count;
} rocl_collective;

/* All members are there, and agree. */
static inline bool rocl_collective_is_whole(const rocl_collective *k)
{
    return !k->mixed && k->count == k->expected && k->kind != ROCL_COLLECTIVE_POINT;
}

typedef rocl_status rocl_collective_fn(void *ctx, const rocl_collective *k, rocl_error *err);

typedef struct rocl_collectives {
    rocl_trace *trace;
    rocl_rank_list ranks;
    uint32_t meetings; /* ROCL_BIT()s of ranges that it takes, too; the caller sets it */
    /* Known during the function of rocl_collectives_match(); in the order of outputs. */
    rocl_participant *participants; /* by rank and GPU */
    uint32_t participant_count;
    rocl_communicator *communicators; /* by their texts */
    uint32_t communicator_count;
    /* The rest is of collectives.c. */
    rocl_sorter *kernels, *members; /* the caller's */
    rocl_strings *participant_keys, *communicator_keys, *signatures;
    rocl_ids *known; /* by worker, and text of a kernel or a range: rocl_meeting */
    uint32_t *participant_of, *communicator_of; /* from ids of keys */
    uint32_t *seen;                             /* by communicator: participants */
    uint64_t *lengths; /* by communicator: ranges of each participant; UINT64_MAX: they differ */
} rocl_collectives;

/* *c is zeroed before. The sorters, of four words each, stay the caller's, and live as long; NULL:
 * memory is out. */
rocl_status rocl_collectives_open(rocl_collectives *c, rocl_trace *t, rocl_sorter *kernels,
                                  rocl_sorter *members, rocl_error *err);
void rocl_collectives_close(rocl_collectives *c);

/* Takes the kernels of communication of a batch of ROCL_DISPATCH, and the ranges that are wanted of
 * one of ROCL_REGION or ROCL_MARKER if there are several ranks. Concurrent. */
rocl_status rocl_collectives_add(rocl_collectives *c, unsigned worker, const rocl_batch *b,
                                 rocl_error *err);
/* After all kernels, once: passes on the collectives; those of ROCL_COLLECTIVE_POINT in any order,
 * the others by communicator and number. Every kernel is a member of one. */
rocl_status rocl_collectives_match(rocl_collectives *c, rocl_collective_fn *fn, void *ctx,
                                   rocl_error *err);
/* The index of a participant after that; ROCL_NONE: it has no kernels of communication. */
uint32_t rocl_collectives_find(const rocl_collectives *c, uint32_t rank, const rocl_gpu *gpu);
