# Jobs of which it is known who is who, for identity.sh and alone.sh: a folder in/JOB for each.
# shellcheck shell=bash disable=SC2154

# Threads have names. Kernels that copy are none for some formats: these are called otherwise.
generate() { # name option...
    local name=$1 db suffix
    shift
    mkdir -p "in/$name"
    "$build/tests/rocpd-gen" -o "in/$name/%r.db" --caches 0 --rows 60 --kernels 6 --no-pmc --uuids "$@"
    for db in "in/$name"/*.db; do
        suffix=$(sqlite3 "$db" "SELECT value FROM rocpd_metadata WHERE tag = 'uuid'")
        sqlite3 "$db" "UPDATE rocpd_info_thread$suffix SET name = 'worker ' || (tid - pid);
            UPDATE rocpd_info_kernel_symbol$suffix SET display_name = replace(display_name,
            '__amd_rocclr_', 'my_'), kernel_name = replace(kernel_name, '__amd_rocclr_', 'my_')"
    done
}

# Two files of PyTorch in one, as SGLang's profiler joins them: pids are texts, and both ranks use
# device 0 and the same correlations.
join_ranks() {
    awk 'BEGIN {
        printf "{\"schemaVersion\": 1, \"traceEvents\": ["
        for (rank = 0; rank < 2; rank++)
            for (i = 1; i <= 5; i++) {
                printf "%s\n{\"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"hipLaunchKernel\", \"pid\": \"[TP0%d] %d\", \"tid\": %d, \"ts\": %d, \"dur\": 5, \"args\": {\"correlation\": %d}}",
                    (rank + i == 1 ? "" : ","), rank, 100 + rank, 100 + rank, 1000 * i + 500 * rank, i
                printf ",\n{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"gemm%d\", \"pid\": \"[TP0%d] 0\", \"tid\": %d, \"ts\": %d, \"dur\": %d, \"args\": {\"device\": 0, \"stream\": %d, \"correlation\": %d}}",
                    i % 2, rank, i % 2, 1000 * i + 500 * rank + 20, 100 + 10 * rank + i, i % 2, i
            }
        print "\n]}"
    }'
}

make_jobs() {
    generate eight --rows 2500 --gpus 8 --threads 8
    generate visible --processes 4 --gpus 1 --visible --threads 2
    generate hosts --processes 16 --nodes 4 --gpus 4 --threads 4 --rows 150
    generate shared --processes 2 --gpus 2 --threads 1
    generate containers --processes 4 --nodes 4 --gpus 1 --threads 2 --pid-step 0 --hostname localhost
    mkdir in/texts
    join_ranks >in/texts/merged.json
}
