#!/usr/bin/env bats
# rtg2json --layout rocprofv3: JSON as rocprofv3 writes it, from any input.
# shellcheck disable=SC2154 # bats sets status, output, stderr

load helper

# Totals of everything that has a place in the form.
totals() { # input
    rocstats summary -q --format csv "$1" | grep -Ev '^"(GRAPHS|HIP_EVENTS|BARRIERS|OTHER)' |
        cut -d, -f1-5 | sort
}

# All traces as CSV.
tables() { # folder, input
    rocpd2csv -q -d "$1" -o o "$2" || [ $? -eq 1 ]
    rm -f "$1"/*{agent_info,graph,hip_event,other_api}*
    sed -i -E 's/"?[^",]*\.json"?,//' "$1"/* # what stands for a guid
}

@test "layout rocprofv3: what is read back is what it was made from, with any number of workers" {
    needs jq "$FIXTURES/everything.db"
    local input
    for input in "$FIXTURES"/{everything,sys,rank0,schema-4.1.0,merged,rename,graph}.db \
        "$FIXTURES"/rocprofv3-{6.2,7.0}.json "$TOP"/tests/fixtures/rocprof/v1.json; do
        rtg2json -q --layout rocprofv3 -o t.json "$input" || [ $? -eq 1 ]
        jq -e . t.json >/dev/null || fail "$input: no JSON"
        case $input in
        *v1.json) ;; # its copies have other names
        *) diff <(totals "$input") <(totals t.json) || fail "$input" ;;
        esac
        rtg2json -q -j1 --layout rocprofv3 -o one.json "$input" || [ $? -eq 1 ]
        rtg2json -q -j4 --layout rocprofv3 -o four.json "$input" || [ $? -eq 1 ]
        cmp one.json four.json
        cmp one.json t.json
        rtg2json -q --layout rocprofv3 -o again.json t.json || [ $? -eq 1 ]
        diff <(totals t.json) <(totals again.json)
    done
}

@test "layout rocprofv3: every list is there, with its members in the order of rocprofv3" {
    needs jq "$FIXTURES/everything.db"
    rtg2json -q --layout rocprofv3 -o t.json "$FIXTURES/everything.db"
    keys() { # of what, expected
        local got
        got=$(jq -r "$1 | keys_unsorted | join(\" \")" t.json | sort -u)
        [ "$got" == "$2" ] || fail "$1: $got"
    }
    local top='.["rocprofiler-sdk-tool"][]'
    keys "$top" "metadata agents counters strings code_objects kernel_symbols host_functions summary callback_records buffer_records"
    keys "$top.metadata" "node pid init_time fini_time command config rocline" # the last is ours
    keys "$top.strings" "callback_records buffer_records marker_api correlation_id counters pc_sample_instructions pc_sample_comments att_filenames code_object_snapshot_filenames"
    keys "$top.buffer_records" "kernel_dispatch hip_api hsa_api marker_api rccl_api memory_copy memory_allocation scratch_memory rocdecode_api rocjpeg_api pc_sample_host_trap pc_sample_stochastic"
    keys "$top.kernel_symbols[]" "size kernel_id code_object_id kernel_name kernel_object kernarg_segment_size kernarg_segment_alignment group_segment_size private_segment_size sgpr_count arch_vgpr_count accum_vgpr_count kernel_code_entry_byte_offset kernel_address formatted_kernel_name demangled_kernel_name truncated_kernel_name"
    keys "$top.buffer_records.kernel_dispatch[]" "size kind operation thread_id correlation_id start_timestamp end_timestamp dispatch_info stream_id"
    keys "$top.buffer_records.kernel_dispatch[].dispatch_info" "size agent_id queue_id kernel_id dispatch_id private_segment_size group_segment_size workgroup_size grid_size"
    keys "$top.buffer_records.hip_api[]" "size kind operation correlation_id start_timestamp end_timestamp thread_id args retval stream_id"
    keys "$top.buffer_records.memory_copy[]" "size kind operation thread_id correlation_id start_timestamp end_timestamp dst_agent_id src_agent_id bytes stream_id"
    keys "$top.buffer_records.memory_allocation[]" "size kind operation thread_id correlation_id start_timestamp end_timestamp agent_id address allocation_size stream_id"
    keys "$top.callback_records.counter_collection[]" "thread_id dispatch_data records stream_id"
}

@test "layout rocprofv3: what records refer to is there" {
    needs jq "$FIXTURES/everything.db"
    rtg2json -q --layout rocprofv3 -o t.json "$FIXTURES/everything.db"
    try 0 jq -r '.["rocprofiler-sdk-tool"][] | . as $p | .strings as $s |
        ([.agents[].id.handle] | unique) as $agents |
        ([.kernel_symbols[] | select(.kernel_id > 0) | .kernel_id]) as $kernels |
        ([.counters[].id.handle]) as $counters |
        (.kernel_symbols | to_entries[] | select(.value.kernel_id != 0 and .value.kernel_id != .key) | "a symbol out of its place"),
        (.buffer_records[][] | select($s.buffer_records[.kind].operations[.operation] == null) | "an operation without a name"),
        (.buffer_records.kernel_dispatch[].dispatch_info |
            select((.agent_id.handle | IN($agents[]) | not) or (.kernel_id | IN($kernels[]) | not)) | "a dispatch of nothing"),
        (.callback_records.counter_collection[].records[] | select(.counter_id.handle | IN($counters[]) | not) | "a value of no counter"),
        (.buffer_records.marker_api[] | .correlation_id.internal as $id |
            select([$s.marker_api[] | select(.key == $id)] | length != 1) | "a marker without a message"),
        (.buffer_records.memory_allocation[] | select(.address | test("^0x[0-9a-f]{16}$") | not) | "no address"),
        (.strings.buffer_records | if map(.kind) | index("KERNEL_DISPATCH") == 11 then empty else "kinds have other numbers" end)
        ' t.json
    [ -z "$output" ] || fail "$output"
}

@test "layout rocprofv3: every column of the traces comes back" {
    needs "$FIXTURES/rocprofv3-7.0.json"
    rtg2json -q --layout rocprofv3 -o t.json "$FIXTURES/rocprofv3-7.0.json"
    tables a "$FIXTURES/rocprofv3-7.0.json"
    tables b t.json
    for file in a/*; do
        diff <(sort "$file") <(sort "b/${file#a/}") || fail "$file"
    done
}

# What the rows of a database say that its JSON can say, with names in place of ids.
contents() { # database
    local agent="(select type || ' ' || absolute_index from rocpd_info_agent a where a.id = "
    local string="(select string from rocpd_string s where s.id = "
    local event="e.stack_id, e.parent_stack_id, (select group_concat(type || name || value) from
        (select * from rocpd_arg where event_id = e.id order by position))"
    sqlite3 "$1" "
        select 'region', ${string}r.name_id), r.start, r.\"end\", $event from rocpd_region r
            join rocpd_event e on e.id = r.event_id order by 2, 3, 4, 5;
        select 'dispatch', k.kernel_name, ${agent}d.agent_id), dispatch_id, queue_id, stream_id,
            start, \"end\", d.private_segment_size, d.group_segment_size, workgroup_size_x,
            workgroup_size_y, workgroup_size_z, grid_size_x, grid_size_y, grid_size_z,
            ${string}d.region_name_id), e.stack_id, e.parent_stack_id from rocpd_kernel_dispatch d
            join rocpd_event e on e.id = d.event_id join rocpd_info_kernel_symbol k
            on k.id = d.kernel_id order by dispatch_id;
        select 'copy', ${string}c.name_id), ${agent}src_agent_id), ${agent}dst_agent_id), size,
            queue_id, stream_id, start, \"end\", e.stack_id, e.parent_stack_id
            from rocpd_memory_copy c join rocpd_event e on e.id = c.event_id order by start, 2;
        select 'allocation', type, level, ${agent}m.agent_id), address, size,
            iif(level = 'SCRATCH', 0, stream_id), start, \"end\", e.stack_id
            from rocpd_memory_allocate m join rocpd_event e on e.id = m.event_id order by start, 2, address;
        select 'value', p.name, d.dispatch_id, v.value from rocpd_pmc_event v join rocpd_info_pmc p
            on p.id = v.pmc_id join rocpd_kernel_dispatch d on d.event_id = v.event_id
            order by 3, 2, 4;
        select 'agent', type, absolute_index, logical_index, type_index, name, model_name, vendor_name,
            product_name, json_remove(extdata, '\$.gpu_index') from rocpd_info_agent order by 2, 3;
        select 'code', o.id, ${agent}o.agent_id), uri, load_base, load_size, load_delta, extdata
            from rocpd_info_code_object o where id in (select code_object_id
            from rocpd_info_kernel_symbol where id in (select kernel_id from rocpd_kernel_dispatch))
            order by 2;
        select 'kernel', id, code_object_id, kernel_name, display_name, kernel_object,
            kernarg_segment_size, kernarg_segment_alignment, group_segment_size, private_segment_size,
            sgpr_count, arch_vgpr_count, accum_vgpr_count, extdata from rocpd_info_kernel_symbol
            where id in (select kernel_id from rocpd_kernel_dispatch) order by 2;
        select 'counter', ${agent}p.agent_id), name, symbol, description, component, value_type, block
            from rocpd_info_pmc p where id in (select pmc_id from rocpd_pmc_event) order by 2, 3;
        select 'process', pid, init, fini, start, \"end\", command from rocpd_info_process"
}

@test "layout rocprofv3: a database comes back row for row" {
    needs sqlite3 "$SHARED/amd/rank0_5000_results.db"
    local db
    for db in "$SHARED"/amd/rank0_5000_results.db "$SHARED"/amd/e4.db \
        "$SHARED"/rocpd/{r9700_llama_bench,gfx1250_gemm}.db; do
        rm -f t.db
        try 0 rtg2json --layout rocprofv3 -o t.json "$db"
        try 0 rocmerge -o t.db t.json
        contents "$db" >expected
        contents t.db >got
        diff expected got >difference || fail "$db: $(head -n 20 difference | cut -c 1-1000)"
        [ "$(wc -l <got)" -gt 10 ]
    done
}

@test "layout rocprofv3: several processes are elements of one list; filters of processes" {
    needs jq "$FIXTURES/rank0.db"
    rtg2json -q --layout rocprofv3 -o t.json "$FIXTURES"/rank{0,1}.db
    [ "$(jq '.["rocprofiler-sdk-tool"] | length' t.json)" -eq 2 ]
    rtg2json -q --layout rocprofv3 --rank 1 -o one.json "$FIXTURES"/rank{0,1}.db
    rtg2json -q --layout rocprofv3 -o two.json "$FIXTURES"/rank1.db
    [ "$(jq '.["rocprofiler-sdk-tool"] | length' one.json)" -eq 1 ]
    diff <(totals one.json) <(totals two.json)
}

@test "layout rocprofv3: gzip, standard output, an output that cannot be written" {
    needs gzip "$FIXTURES/rank0.db"
    rtg2json -q --layout rocprofv3 -o t.json "$FIXTURES/rank0.db"
    rtg2json -q --layout rocprofv3 -o t.json.gz "$FIXTURES/rank0.db"
    gzip -dc t.json.gz | cmp - t.json
    rtg2json -q --layout rocprofv3 -o - "$FIXTURES/rank0.db" | cmp - t.json
    try 4 rtg2json -q --layout rocprofv3 -o missing/t.json "$FIXTURES/rank0.db"
    [ ! -e missing ]
}

@test "layout rocprofv3: what has no place there is counted" {
    needs "$FIXTURES/everything.db"
    try 0 rtg2json --layout rocprofv3 -o t.json "$FIXTURES/everything.db"
    says "events left out: JSON of rocprofv3 has no place for samples, graphs"
}

@test "layout rocprofv3: AMD's own file comes out with the same dispatches and names" {
    needs jq "$SHARED/rocprofv3-json/tracelens_908_cut.json"
    local theirs=$SHARED/rocprofv3-json/tracelens_908_cut.json
    rtg2json -q --layout rocprofv3 -o t.json "$theirs"
    list() {
        jq -c '.["rocprofiler-sdk-tool"][] | .kernel_symbols as $k | [.buffer_records.kernel_dispatch[] |
            [., $k[.dispatch_info.kernel_id].formatted_kernel_name, $k[.dispatch_info.kernel_id].kernel_name]] | sort[]' "$1"
    }
    list "$theirs" >expected
    list t.json >got
    cmp expected got
    # Every member, and what it is; only names of files of thread traces are not written.
    members() {
        jq -r '.["rocprofiler-sdk-tool"][] | [paths as $p | ([$p[] | if type == "number" then "[]"
            else . end] | join(".")) + " " + (getpath($p) | type)] | unique[]' "$1"
    }
    diff <(members "$theirs" | grep -v 'strings\..*_filenames\.\[\]') <(members t.json)
    cmp <(jq -c '.["rocprofiler-sdk-tool"][] | .agents, .code_objects' "$theirs") \
        <(jq -c '.["rocprofiler-sdk-tool"][] | .agents, .code_objects' t.json)
    cmp <(jq -c '.["rocprofiler-sdk-tool"][].strings.buffer_records | map(.kind)' "$theirs") \
        <(jq -c '.["rocprofiler-sdk-tool"][].strings.buffer_records | map(.kind)' t.json)
    cmp <(jq -c '.["rocprofiler-sdk-tool"][].strings.callback_records | map(.kind)' "$theirs") \
        <(jq -c '.["rocprofiler-sdk-tool"][].strings.callback_records | map(.kind)' t.json)
}
