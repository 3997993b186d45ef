# Who is who in a trace: what must come back whatever it was written as.
# shellcheck shell=bash disable=SC2034 # used by those who load it

# Two hosts with two processes each, which have equal pids, and equal numbers of GPUs.
JOB=("$FIXTURES"/node-rank{0,1,2,3}.db)

# GPUs of a trace with their machine, uuid and PCI address, as protoc reads them from GPU_INFO.
gpus() { # uncompressed.pftrace
    protoc --decode=perfetto.protos.Trace -I "$TOP/tests/proto" "$TOP/tests/proto/perfetto_subset.proto" <"$1" |
        awk '/^packet/ { machine = name = 0; inside = 0 }
            / machine_id:/ { machine = $2 }
            / machine_name:/ { print "host", machine, $2 }
            /^  gpu_info/ { inside = 1 }
            inside && /^      (name|uuid|pci_bdf):/ { print "gpu", machine, $0 }'
}

# who INPUT...: a fact a line.
who() {
    rocline query -q -f tsv "SELECT 'process', hostname, rank, pid, CASE WHEN command LIKE '%/train %' THEN 'train' ELSE command END FROM process ORDER BY hostname, rank, pid" "$@"
    rocline query -q -f tsv "SELECT 'node', hostname, machine_id, system_name, release, version, hardware FROM (
        SELECT DISTINCT hostname, machine_id, system_name, release, version, hardware FROM node) ORDER BY hostname" "$@"
    rocline query -q -f tsv "SELECT 'kernels', hostname, rank, pid, agent, stream_id, count(*), sum(duration) FROM kernel
        GROUP BY hostname, rank, pid, agent, stream_id ORDER BY hostname, rank, pid, agent, stream_id" "$@"
    rocline query -q -f tsv "SELECT 'calls', hostname, rank, pid, tid, count(*), sum(duration) FROM region
        GROUP BY hostname, rank, pid, tid ORDER BY hostname, rank, pid, tid" "$@"
    rocline info --format json "$@" | jq -c '.trace | .gpus[] | [.host, .gpu, .name, .product]'
    rocpd2pftrace -q -z0 -o who.pftrace "$@"
    gpus who.pftrace
}
