/* Who is who: the machines, GPUs and ranks of a trace, decided once, when all inputs have their
 * definitions. Readers hand in what a file says: the node of a process or an agent, uuids, PCI
 * addresses, numbers. Everything above asks here, and compares no numbers of devices itself.
 *
 *     machine  Two nodes are one machine if their names or machine ids agree and neither differs.
 *              A node of which neither is known is a machine of its own, and so is a capture
 *              without a node: unknown is never equal to unknown. What tells where such a node is,
 *              too: the uuid of a GPU that only one machine has; a process of the same rank and
 *              pid, which is the same process in another file; rocl_options.same_host.
 *     GPU      Two agents are one GPU if they are on one machine and have equal uuids, else equal
 *              PCI addresses, else equal numbers, whatever both know first. A number that counts
 *              what its process sees (rocl_agent.ordinal) tells nothing between different ranks:
 *              each may see but its own GPU.
 *     rank     Processes with the same rank number are one; a process without a number stands for
 *              itself: see ranks.h.
 *
 * The results stand in the definitions: rocl_process.machine, rocl_agent.machine and .gpu. */
#pragma once

#include "model/trace.h"

typedef struct rocl_gpu {
    uint32_t machine;
    uint32_t id; /* on its machine: the number in the trace if each GPU has one of its own, else
                    from 0, in order of these numbers */
    uint32_t uuid, pci;      /* texts; 0 unknown */
    uint32_t label;          /* text: "GPU 0", or "GPU 0 on node7" if there are several machines */
    int64_t number;          /* by which agents are compared: of the driver, else the agent's id */
    bool ordinal;            /* see rocl_agent */
    int32_t rank;            /* of its first process */
    uint32_t capture, agent; /* the first that is this GPU */
} rocl_gpu;

/* Decides all of it anew, for captures in their final order. */
rocl_status rocl_identity_make(rocl_trace *t, rocl_error *err);
/* Hands what was decided on to another reading of the same capture. */
void rocl_identity_copy(rocl_capture *to, const rocl_capture *from);

/* Does the user say of a node or a process of it who it is? Then its input says something else. */
bool rocl_is_renamed(const rocl_capture *c);

/* The GPU that an agent of a capture is; NULL for other agents and ROCL_NONE. */
static inline const rocl_gpu *rocl_gpu_of(const rocl_capture *c, uint32_t agent)
{
    const uint32_t gpu = agent < c->agent_count ? c->agents[agent].gpu : ROCL_NONE;
    return gpu < c->trace->gpu_count ? &c->trace->gpus[gpu] : NULL;
}

/* What its first process says of it. */
static inline const rocl_agent *rocl_gpu_agent(const rocl_trace *t, const rocl_gpu *g)
{
    return &t->captures[g->capture]->pub.agents[g->agent];
}

/* The machine of a process; that of the capture if the process is unknown. */
static inline uint32_t rocl_machine_of(const rocl_capture *c, uint32_t process)
{
    return process < c->process_count ? c->processes[process].machine : c->machine;
}

/* The node that a process or an agent names, else the only one; ROCL_NONE: unknown. */
static inline uint32_t rocl_node_or_only(const rocl_capture *c, uint32_t node)
{
    return node < c->node_count ? node : c->node_count == 1 ? 0 : ROCL_NONE;
}

/* Machines without a name share a clock, unless the data say otherwise; each of the others has its
 * own. The clock has the number of the first of its machines. */
static inline uint32_t rocl_clock_of(const rocl_capture *c)
{
    return c->trace->machines[c->machine].clock;
}

static inline bool rocl_machine_is_named(const rocl_machine *m)
{
    return m->hostname || m->machine_id;
}

/* The machine of a process as rocl_machine_of(); NULL: it was not decided here. */
static inline const rocl_machine *rocl_machine_at(const rocl_capture *c, uint32_t process)
{
    const uint32_t machine = rocl_machine_of(c, process);
    return machine < c->trace->machine_count ? &c->trace->machines[machine] : NULL;
}

/* What to call a machine: its host name, its machine id, or "-" when nothing is known. */
const char *rocl_machine_name(const rocl_trace *t, uint32_t machine);
/* What stands behind the name of a thing on that machine: " on node7"; " of rank 3", " of pid 4711"
 * or the name of the file where the machine has no name; "" if the trace has one machine. */
const char *rocl_machine_place(const rocl_trace *t, uint32_t machine);

/* The one name of a device, in reports, pictures and messages (text): "GPU 0", with its place; what
 * is unknown has none. */
static inline uint32_t rocl_device_of(const rocl_capture *c, uint32_t agent)
{
    return agent < c->agent_count ? c->agents[agent].device : ROCL_NONE;
}

/* The text of a uuid of 16 bytes, as rocprofv3 and Perfetto have it: "GPU-" and hexadecimal digits,
 * 16 as rocminfo prints them if the other bytes are 0; 0 if all are. */
uint32_t rocl_uuid_text(rocl_trace *t, const uint8_t bytes[16]);
/* The reverse. False: the text is of another form. */
bool rocl_uuid_bytes(const char *text, uint8_t bytes[16]);

/* The text of a PCI address, "0000:c1:00.0", from the location as the driver numbers it: bus,
 * device, function; and the reverse, false: it is of another form. */
uint32_t rocl_pci_text(rocl_trace *t, uint64_t domain, uint64_t location);
bool rocl_pci_location(const char *text, uint64_t *domain, uint64_t *location);
