#!/usr/bin/env bats
# Perfetto traces as inputs: our own, and those that other tracers write.
# shellcheck disable=SC2154 # bats sets status, output, stderr

load helper

PF=$TOP/tests/fixtures/pftrace

# encode NAME: the fixture as a trace.
encode() {
    needs_protoc
    protoc --encode=perfetto.protos.Trace -I "$TOP/tests/proto" \
        "$TOP/tests/proto/perfetto_subset.proto" <"$PF/$1.txt" >"$1.pftrace"
}

needs_zstd() {
    needs zstd
    [[ $(rocpd2csv --version) == *zstd* ]] || skip "built without libzstd"
}

needs_protoc() {
    command -v protoc >/dev/null || skip "protoc is not installed"
}

# without COLUMN,... FILE: a CSV file without some columns, its rows sorted.
without() {
    awk -v leave="$1" '
        BEGIN { n = split(leave, names, ","); for (i = 1; i <= n; i++) out["\"" names[i] "\""] = 1 }
        {
            column = 1; quoted = 0; field = ""; line = ""
            for (i = 1; i <= length($0) + 1; i++) {
                c = i <= length($0) ? substr($0, i, 1) : ","
                if (c == "\"") quoted = !quoted
                if (c != "," || quoted) { field = field c; continue }
                if (NR == 1) skip[column] = field in out
                if (!skip[column]) line = line "," field
                column++; field = ""
            }
            print line
        }' "$2" | sort
}

# everything FILE: events and values as pfdump shows them, but for the numbers of tracks.
everything() {
    "$BUILD/tests/pfdump" events "$1" 2>/dev/null | sort
}

# slices FILE: kind, times, track and name of each.
slices() {
    "$BUILD/tests/pfdump" events "$1" | grep -E '^(slice|stage|instant)' | cut -f1-8 | sort
}

@test "a trace of a database gives the CSV of the database, but for the columns in rocline(7)" {
    for option in "" --group-by-queue --legacy-tracks; do
        rm -rf a b
        rocpd2csv -q -d a -o o "$TOP/tests/fixtures/demo.db"
        # shellcheck disable=SC2086 # none or one
        rocpd2pftrace -q --args $option -o t.pftrace "$TOP/tests/fixtures/demo.db"
        try 0 rocpd2csv -q -d b -o o t.pftrace
        lost=Guid,Kernel_Id,Thread_Id,Address,Queue_Id
        [ "$option" != --group-by-queue ] || lost=Guid,Kernel_Id,Thread_Id,Address,Queue_Id,Stream_Id
        calls=Guid
        [ "$option" != --legacy-tracks ] || calls=Guid,Domain
        [ "$option" != --legacy-tracks ] ||
            lost=Guid,Dispatch_Id
        for f in hip_api hsa_api marker_api; do
            diff <(without $calls a/o_${f}_trace.csv) <(without $calls b/o_${f}_trace.csv)
        done
        diff <(without "${lost%,Queue_Id}" a/o_kernel_trace.csv) \
            <(without "${lost%,Queue_Id}" b/o_kernel_trace.csv)
        if [ "$option" != --group-by-queue ]; then
            diff <(without $lost a/o_memory_copy_trace.csv) <(without $lost b/o_memory_copy_trace.csv)
        fi
        if [ "$option" != --legacy-tracks ]; then
            grep -v _FREE a/o_memory_allocation_trace.csv >a/some.csv
            grep -v _FREE b/o_memory_allocation_trace.csv >b/some.csv
            diff <(without $lost a/some.csv) <(without $lost b/some.csv)
        fi
    done
}

@test "numbers of threads that are none are kept beside those that Perfetto takes" {
    needs sqlite3 protoc "$FIXTURES/schema-3.0.0.db"
    install -m 644 "$FIXTURES/schema-3.0.0.db" t.db
    sqlite3 t.db "UPDATE rocpd_info_thread$(suffix t.db) SET tid = iif(tid = 4207, 0, -7) WHERE tid IN (4207, 4213)"
    rocpd2pftrace -q -z 0 -o t.pftrace t.db
    decode t.pftrace >text
    [ "$(grep -A1 '^ *tid: 1258' text | grep -c tid:)" -eq 2 ] # and Perfetto takes numbers above 0
    [ "$(grep 'description: "tid' text | tr -d ' ' | sort | paste -s -d' ')" = 'description:"tid-7" description:"tid0"' ]
    rocpd2pftrace -q -o u.pftrace t.pftrace
    local file
    for file in t.db t.pftrace u.pftrace; do
        try 0 rocline query -q -f csv 'SELECT DISTINCT tid FROM threads ORDER BY tid' $file
        [ "$output" = $'"tid"\n-7\n0\n4200\n4210' ] || fail "$file"
    done
}

@test "a trace of a trace has the same slices" {
    for db in "$TOP/tests/fixtures/demo.db" "$FIXTURES"/{everything,graph,sampled}.db; do
        for option in --args --legacy-tracks; do
            rocpd2pftrace -q --args $option -o one.pftrace "$db"
            try 0 rocpd2pftrace -q --args $option -o two.pftrace one.pftrace
            diff <(slices one.pftrace) <(slices two.pftrace)
        done
        # Also units and descriptions of counters stay as they are.
        rocpd2pftrace -q --args --annotate-pmc -o one.pftrace "$db"
        rocpd2pftrace -q --args --annotate-pmc -o two.pftrace one.pftrace
        rocpd2pftrace -q --args --annotate-pmc -o three.pftrace two.pftrace
        cmp two.pftrace three.pftrace
    done
}

@test "compressed or not, from a pipe, by any number of workers: the same" {
    rocpd2pftrace -q --args -z0 -o plain.pftrace "$FIXTURES/everything.db"
    rocpd2pftrace -q --args -z9 -o packed.pftrace "$FIXTURES/everything.db"
    gzip -k plain.pftrace
    for j in 1 2 7; do
        for f in plain.pftrace packed.pftrace plain.pftrace.gz; do
            try 0 rocpd2pftrace -q -j$j --args -o t.pftrace $f
            [ -e first ] || mv t.pftrace first
            [ ! -e t.pftrace ] || cmp t.pftrace first
        done
        rocpd2pftrace -q -j$j --args -o - - <packed.pftrace | cmp - first
    done
}

@test "packets compressed with zstd" {
    needs_zstd
    needs_protoc
    rocpd2pftrace -q -z0 -o plain.pftrace "$FIXTURES/rank0.db"
    zstd -q -c plain.pftrace >z
    n=$(stat -c %s z)
    # Field 133 of a packet: its tag is AA 08. Lengths as varints of four bytes.
    varint() { printf "\\x$(printf %02x $(($1 & 127 | 128)))\\x$(printf %02x $(($1 >> 7 & 127 | 128)))\\x$(printf %02x $(($1 >> 14 & 127 | 128)))\\x$(printf %02x $(($1 >> 21)))"; }
    { printf '\n' && varint $((n + 6)) && printf '\xaa\x08' && varint "$n" && cat z; } >packed.pftrace
    [ "$(rocstats summary --format csv packed.pftrace)" = "$(rocstats summary --format csv plain.pftrace)" ]
}

@test "packets that are written compressed with zstd" {
    db=$FIXTURES/everything.db
    [[ $(rocpd2csv --version) == *zstd* ]] || {
        try 2 rocpd2pftrace --zstd -o t.pftrace "$db"
        says "this build of rocline has no zstd"
        return
    }
    rocpd2pftrace -q -z0 -o plain.pftrace "$db"
    for z in "" -z9; do
        # shellcheck disable=SC2086 # none or one
        try 0 rocpd2pftrace --zstd $z -o packed.pftrace "$db"
        # Field 133 of a packet, and the magic number of a frame.
        [[ $(head -c 20 packed.pftrace | od -An -tx1 | tr -d ' \n') == *aa08*28b52ffd* ]]
        [ "$(stat -c %s packed.pftrace)" -lt "$(($(stat -c %s plain.pftrace) / 2))" ]
        diff <(rocstats summary --format csv packed.pftrace) <(rocstats summary --format csv plain.pftrace)
    done
    # A part of it, and of a plain one.
    for f in plain packed; do
        try 0 rocpd2pftrace --zstd --clip --start 20% --end 70% -o $f.part.pftrace $f.pftrace
        rocpd2pftrace -q --clip --start 20% --end 70% -z0 -o $f.expected.pftrace plain.pftrace
        diff <(rocstats summary --format csv $f.part.pftrace) \
            <(rocstats summary --format csv $f.expected.pftrace)
    done
    try 0 rocline convert --zstd --annotate-pmc -f pftrace json -o some "$db"
    try 2 rocpd2pftrace --zstd -o t.pftrace.gz "$db"
    says "gzip compresses the whole file, zstd its packets"
}

@test "traces behind each other are one" {
    rocpd2pftrace -q -o a.pftrace "$FIXTURES/rank0.db"
    rocpd2pftrace -q -o b.pftrace "$FIXTURES/rank1.db"
    cat a.pftrace b.pftrace >both.pftrace
    rocpd2csv -q -d one -o o both.pftrace
    rocpd2csv -q -d two -o o a.pftrace b.pftrace
    for f in hip_api marker_api; do
        diff <(without Guid,Correlation_Id one/o_${f}_trace.csv) \
            <(without Guid,Correlation_Id two/o_${f}_trace.csv)
    done
    diff <(without Guid,Correlation_Id,Kernel_Id,Agent_Id one/o_kernel_trace.csv) \
        <(without Guid,Correlation_Id,Kernel_Id,Agent_Id two/o_kernel_trace.csv)
}

# Perfetto's service marks the first packet of each sequence as one behind lost ones.
@test "a trace behind another one: no packet is lost between them" {
    encode sdk
    cat sdk.pftrace sdk.pftrace >twice.pftrace
    try 0 rocpd2csv -d twice twice.pftrace
}

# Extensions have numbers from 1000 on.
@test "an event with an extension beside it" {
    packet() {
        local LC_ALL=C
        printf '\x0a'"\\x$(printf %02x ${#1})" && printf %s "$1"
    }
    event=$'\x50\x01\x40\x05\x5a\x06\x48\x03\xba\x01\x01a' # an instant called a
    { packet "$event" && packet "$event"$'\xc2\x3e\x02zz' && packet $'\xc2\x3e\x02zz'"$event"; } >t.pftrace
    try 0 rocpd2csv -d out t.pftrace
    [ "$(grep -c '"a",0,0,0,5,5' out/out_other_api_trace.csv)" -eq 3 ]
}

@test "a file that ends early, or goes on as something else" {
    rocpd2pftrace -q -z0 -o t.pftrace "$FIXTURES/everything.db"
    head -c 20007 t.pftrace >cut.pftrace
    try 1 rocstats summary cut.pftrace
    says "cut.pftrace: the file is truncated: only what is complete is read"
    # within its first packet, which holds others, and behind it
    rocpd2pftrace -q -o packed.pftrace "$FIXTURES/everything.db"
    for n in 6000 $(($(wc -c <packed.pftrace) - 5)); do
        head -c "$n" packed.pftrace >cut.pftrace
        try 1 rocstats summary cut.pftrace
        says "cut.pftrace: the file is truncated: only what is complete is read"
    done
    { cat t.pftrace && printf '\007\007\007'; } >more.pftrace
    try 1 rocstats summary more.pftrace
    says "more.pftrace: what follows the last packet is not a trace, and left out"
}

@test "what is wrong with packets is counted" {
    encode broken
    try 1 rocpd2csv -d out broken.pftrace
    says "packets that are not events are left out: 1 of memory of GPUs, 1 of CPU and stack samples"
    says "byte 0: an event that needs packets that the tracer lost"
    says "12 records left out: no end (1), no valid time (2), value without an event (2), malformed line (3), dropped while recording (4); 2 records repaired: unknown name id (2)"
    try 3 rocpd2csv --strict -d strict broken.pftrace
}

@test "what other tracers write" {
    encode sdk
    try 0 rocpd2pftrace --args -z0 -o t.pftrace sdk.pftrace
    silent
    run -0 rocpd2csv -q -d out -o o sdk.pftrace
    # GPU work has the times of before it was cut, and what its annotations say.
    grep -F '"KERNEL_DISPATCH","GPU 0",2,1,4712,0,17,"_Z4axpyfPf",6,1019000,1030000,1024' out/o_kernel_trace.csv
    # Times of a sequence's own clock, and interned texts after a reset.
    grep -F '"rocm_hip_api","hipStreamSynchronize",4711,4712,0,1041000,1043000' out/o_hip_api_trace.csv
    # MONOTONIC is 1 us behind the trace's clock; slices of one row overlap.
    grep -F '"net","second",4711,1,0,1004000,1006500' out/o_other_api_trace.csv
    # Increments are summed up, units multiplied in.
    grep -F '"page faults","",16,1003500' out/o_counter_sample_trace.csv
}

@test "what older writers have" {
    encode old
    try 0 rocpd2pftrace --args -z0 -o t.pftrace old.pftrace
    run -0 rocpd2csv -q -d out -o o old.pftrace
    # Built-in counters have no name of their own; increments begin anew with the sequence's state.
    for value in '"thread_time","ns",50,1000' '"thread_instruction_count","",70,1000' \
        '"thread_time","ns",110,2000' '"thread_time","ns",1000,3000' '"thread_time","ns",1010,4000'; do
        grep -F "$value" out/o_counter_sample_trace.csv
    done
    # Counters of GPUs are those that their own sequence describes.
    for value in '"GPU 1",40,,"load","",3,100' '"GPU 0",40,,"clock","",900,3600' \
        '"GPU 1",40,,"load","",7.5,3700' '"GPU 2",40,,"heat","",60,3800'; do
        grep -F "$value" out/o_counter_sample_trace.csv
    done
    # Chrome's events that name no track are of the thread that writes.
    grep -F '"old","of the thread",40,41,0,5000,6000' out/o_other_api_trace.csv
    [ "$(grep -c '"of the process",40,41' out/o_other_api_trace.csv)" -eq 0 ]
    # Nested annotations are arguments.
    protoc --decode=perfetto.protos.Trace -I "$TOP/tests/proto" \
        "$TOP/tests/proto/perfetto_subset.proto" <t.pftrace >t.txt
    for name in where.x 'where.y[0]' 'where.y[1]' 'where.y[2]' plain; do grep -qF "\"$name\"" t.txt; done
    for value in -4 true 0.25 end leaf; do grep -q "\"$value\"" t.txt; done
    # The part behind a reset counts from there.
    rocpd2pftrace -q --start 3500 --end 4500 -o part.pftrace old.pftrace
    run -0 rocpd2csv -q -d part -o o part.pftrace
    grep -F '"thread_time","ns",1000,3500' part/o_counter_sample_trace.csv
    grep -F '"thread_time","ns",1010,4000' part/o_counter_sample_trace.csv
    # Descriptions outside the part are in it, without their values.
    grep -F '"clock","",900,3600' part/o_counter_sample_trace.csv
    grep -F '"load","",3,3500' part/o_counter_sample_trace.csv
    grep -F '"load","",7.5,3700' part/o_counter_sample_trace.csv
    [ "$(grep -c load part/o_counter_sample_trace.csv)" -eq 2 ]
}

@test "a small trace without a NUL is one" {
    needs_protoc
    for n in 1 2 3; do
        echo "packet { trusted_packet_sequence_id: 1 timestamp: $((n * 100)) track_event { type: TYPE_INSTANT track_uuid: 1 name: \"Event\" } }"
    done | protoc --encode=perfetto.protos.Trace -I "$TOP/tests/proto" \
        "$TOP/tests/proto/perfetto_subset.proto" >t.pftrace
    [ "$(tr -d '\0' <t.pftrace | wc -c)" -eq "$(wc -c <t.pftrace)" ]
    try 0 rocstats summary t.pftrace
}

@test "a part of a trace by time: the slices are those of the part of the database" {
    rocpd2pftrace -q --args -z0 -o t.pftrace "$FIXTURES/everything.db"
    for mode in "--inclusive True" --overlap --clip; do
        for window in "30% 60%" "0% 100%" "45% 46%"; do
            set -- $window
            # shellcheck disable=SC2086 # one or two words
            try 0 rocpd2pftrace $mode --start "$1" --end "$2" -o part.pftrace t.pftrace
            silent
            # shellcheck disable=SC2086
            rocpd2pftrace -q $mode --start "$1" --end "$2" --args -o expected.pftrace "$FIXTURES/everything.db"
            diff <(slices part.pftrace) <(slices expected.pftrace)
        done
    done
    rocpd2pftrace -q --clip --start 30% --end 60% -z0 -o part.pftrace t.pftrace
    rocpd2pftrace -q --clip --start 30% --end 60% -z0 -o - - <t.pftrace | cmp - part.pftrace
}

@test "a part of a trace keeps what is no event, and what later packets depend on" {
    encode sdk
    # Times of a sequence's own clock go on over what is left out.
    try 0 rocpd2pftrace --start 1042000 --end 1060000 --clip -z0 -o part.pftrace sdk.pftrace
    run -0 rocpd2csv -q -d out -o o part.pftrace
    grep -F '"rocm_hip_api","hipStreamSynchronize",4711,4712,0,1042000,1043000' out/o_hip_api_trace.csv
    # Counters have their value from the begin on; increments are summed up.
    grep -F '"page faults","",16,1042000' out/o_counter_sample_trace.csv
    grep -F '"SQ_WAVES","",0,1042000' out/o_counter_sample_trace.csv
    # What nobody here reads is copied.
    grep -qa ./train part.pftrace
    grep -qa STREAM part.pftrace
    # Slices that are open at an edge: cut there.
    try 0 rocpd2pftrace --start 1004000 --end 1007500 --clip -o part.pftrace sdk.pftrace
    run -0 rocpd2csv -q -d cut -o o part.pftrace
    grep -F '"hipMemcpyAsync",4711,4712,5,1004000,1005000' cut/o_hip_api_trace.csv
    grep -F '"hipLaunchKernel",4711,4712,6,1007000,1007500' cut/o_hip_api_trace.csv
    # By a marker; other filters make the trace anew, which then has its events only.
    try 0 rocpd2pftrace --start-marker step --end-marker step -z0 -o part.pftrace sdk.pftrace
    grep -qa -- --fast part.pftrace
    try 2 rocpd2pftrace --start 5s -o part.pftrace sdk.pftrace
}

@test "a part of a compressed trace, in little memory" {
    rocpd2pftrace -q -o t.pftrace "$FIXTURES/sampled.db"
    rocpd2pftrace -q --start 20% --end 70% --clip -o a.pftrace t.pftrace
    rocpd2pftrace -q --start 20% --end 70% --clip -j1 --memory 1m -o b.pftrace t.pftrace
    cmp a.pftrace b.pftrace
    rocpd2pftrace -q --start 20% --end 70% --clip -o c.pftrace.gz t.pftrace
    [ "$(slices a.pftrace)" = "$(gzip -dc c.pftrace.gz >c.pftrace && slices c.pftrace)" ]
}

@test "a part of a trace is the same if the trace is looked through before" {
    encode sdk
    rocpd2pftrace -q -o t.pftrace "$FIXTURES/everything.db"
    for f in sdk t; do
        for mode in "" --overlap --clip; do
            # --strict reads all events to refuse what is wrong
            rocpd2pftrace -q $mode --start 35% --end 65% -o a.pftrace $f.pftrace
            rocpd2pftrace -q $mode --start 35% --end 65% --strict -j1 -o b.pftrace $f.pftrace
            cmp a.pftrace b.pftrace
        done
    done
    # What cannot be copied is counted.
    encode broken
    try 1 rocpd2pftrace --start 0% --end 100% -o part.pftrace broken.pftrace
    says "byte 0: an event that needs packets that the tracer lost"
    try 3 rocpd2pftrace --strict --start 0% --end 100% -o part.pftrace broken.pftrace
    try 2 rocpd2pftrace --start 5s --end 6s -o part.pftrace t.pftrace
}

@test "clocks: the last snapshot before a time, clocks by way of others, clocks of sequences" {
    encode clocks
    try 1 rocpd2csv -d out -o o clocks.pftrace
    says "a time on a clock that no snapshot sets"
    says "2 records left out: no valid time (2)"
    # Each is called after its time.
    [ "$(grep -c '"at ' out/o_other_api_trace.csv)" -eq 13 ]
    awk -F, '/"at / { name = $3; gsub(/"|at /, "", name); if ($7 != name) exit 1 }' \
        out/o_other_api_trace.csv
    # What is copied keeps its clocks; the window is of the trace's clock.
    try 1 rocpd2pftrace --start 2000000 --end 3000500 -o part.pftrace clocks.pftrace
    rocpd2csv -q -d part -o o part.pftrace
    [ "$(grep -o 'at [0-9]*' part/o_other_api_trace.csv | sort | tr '\n' ' ')" = \
        "at 2000000 at 2050000 at 2051000 at 3000100 at 3000500 " ]
}

@test "clocks that no snapshot relates to the trace's, and Chrome's oldest descriptions, are told" {
    needs_protoc
    local proto="$TOP/tests/proto"
    cat >c.txt <<'END'
packet { trusted_packet_sequence_id: 1 clock_snapshot { clocks { clock_id: 6 timestamp: 1000 } clocks { clock_id: 1 timestamp: 5 } } }
packet { trusted_packet_sequence_id: 2 sequence_flags: 1 track_descriptor { uuid: 9 thread { pid: 7 tid: 8 } } }
packet { trusted_packet_sequence_id: 2 timestamp: 600 timestamp_clock_id: 3 track_event { type: TYPE_INSTANT track_uuid: 9 name: "b" } }
packet { trusted_packet_sequence_id: 2 timestamp: 20 timestamp_clock_id: 1 track_event { type: TYPE_INSTANT track_uuid: 9 name: "c" } }
END
    protoc --encode=perfetto.protos.Trace -I "$proto" "$proto/perfetto_subset.proto" <c.txt >c.pftrace
    printf '\x0a\x03\xda\x02\x00\x0a\x03\xe2\x02\x00' >>c.pftrace # fields 43 and 44, empty
    try 0 rocpd2csv -d out c.pftrace
    says "1 of Chrome's oldest descriptions of processes, 1 of Chrome's oldest descriptions of threads"
    says "c.pftrace: times of clock 3 are taken as they are: no clock snapshot relates it to that of the trace"
    # All events are on one clock.
    sed -i 4d c.txt
    protoc --encode=perfetto.protos.Trace -I "$proto" "$proto/perfetto_subset.proto" <c.txt >c.pftrace
    try 0 rocpd2csv -d out c.pftrace
    silent
}

@test "phases of Chrome's, states, and arrows of instants and ends" {
    encode phases
    try 1 rocpd2csv -d out -o o phases.pftrace
    says "an asynchronous event without an id"
    says "a duration that is negative or too large"
    says "an event of Chrome's of an unknown phase"
    says "3 records left out: no valid time (1), malformed line (2)"
    # Each is called after its times.
    [ "$(wc -l <out/o_other_api_trace.csv)" -eq 16 ]
    awk -F, 'NR > 1 { name = $3; gsub(/"/, "", name); if ($7 "-" $8 != name) exit 1 }' \
        out/o_other_api_trace.csv
    grep -F '"net","13000-14000",50,51,0,13000,14000' out/o_other_api_trace.csv
    # The trace of it (its arrows: tests/golden/pftrace-phases) is the trace of that again.
    rocpd2pftrace -q --args -o one.pftrace phases.pftrace || true
    try 0 rocpd2pftrace -q --args -o two.pftrace one.pftrace
    diff <(slices one.pftrace) <(slices two.pftrace)
}

@test "a part that is all of a trace is the trace" {
    encode sdk
    encode phases
    rocpd2pftrace -q --args -z0 -o typed.pftrace "$FIXTURES/everything.db"
    rocpd2pftrace -q --args --legacy-tracks -o amd.pftrace "$FIXTURES/sampled.db"
    rocpd2pftrace -q -o a.pftrace "$FIXTURES/rank0.db"
    cat a.pftrace a.pftrace >twice.pftrace # whose tracks are out of order
    for f in sdk phases typed amd twice; do
        for mode in "" --overlap --clip; do
            # shellcheck disable=SC2086 # none or one
            rocpd2pftrace -q $mode --start 0% --end 100% -o all.pftrace $f.pftrace || [ $f = phases ]
            diff <(everything $f.pftrace) <(everything all.pftrace)
        done
    done
    # As the packets are copied, so are their bytes.
    rocpd2pftrace -q --start 0% --end 100% -z0 -o all.pftrace typed.pftrace
    cmp all.pftrace typed.pftrace
}

@test "parts that are joined are the trace" {
    rocpd2pftrace -q --args -o typed.pftrace "$FIXTURES/everything.db"
    rocpd2pftrace -q --args --legacy-tracks -o amd.pftrace "$FIXTURES/sampled.db"
    for f in typed amd; do
        # Times at which nothing begins or ends.
        "$BUILD/tests/pfdump" events $f.pftrace 2>/dev/null | cut -f2,3 | tr '\t' '\n' | sort -nu >times
        n=$(wc -l <times)
        cuts=$(awk -v n="$n" 'NR > 1 && $1 - last > 3 && NR >= (k + 1) * n / 5 && k < 4 { printf "%.0f\n", last + 2; k++ } { last = $1 }' times)
        [ "$(wc -w <<<"$cuts")" -eq 4 ]
        from=0
        rm -f parts
        for to in $cuts 9000000000000000000; do
            rocpd2pftrace -q --clip --start $from --end $((to - 1)) -o part.pftrace $f.pftrace
            # Edges are made to meet.
            slices part.pftrace | awk -F'\t' -v OFS='\t' -v from=$from -v to=$to '
                { if ($3 == to - 1 && $1 != "instant") $3 = to; print }' >>parts
            from=$to
        done
        # The time of each name on each track is the same.
        total() {
            awk -F'\t' '{ sum[$1 FS $4 FS $5 FS $6 FS $7 FS $8] += $3 - $2 } END { for (k in sum) printf "%s %.0f\n", k, sum[k] }' | sort
        }
        diff <(slices $f.pftrace | total) <(total <parts)
    done
}

# Once where the kernels of a stream have one queue, by each other kernel otherwise.
@test "a trace of ours: kernels of a stream have their queue" {
    needs sqlite3
    cp "$TOP/tests/fixtures/demo.db" a.db
    queues="SELECT stream, stream_id, queue_id, count(*) FROM kernels GROUP BY 1, 2, 3 ORDER BY 1, 3"
    table=$(sqlite3 a.db "SELECT name FROM sqlite_master WHERE name LIKE 'rocpd_kernel_dispatch_%'")
    for change in "queue_id = queue_id" "queue_id = (SELECT id FROM rocpd_info_queue LIMIT 1 OFFSET abs(random()) % 2)" \
        "queue_id = 999 WHERE id % 3 = 0"; do
        sqlite3 a.db "UPDATE \"$table\" SET $change"
        rocpd2pftrace -q -o a.pftrace a.db 2>/dev/null || [ $? = 1 ] # 999 is counted
        diff <(rocline query -q -f csv "$queues" a.db) <(rocline query -q -f csv "$queues" a.pftrace)
    done
    [ "$(rocline query -q -f csv "$queues" a.db | grep -c ',,')" -gt 0 ]
}

@test "a trace with all kinds of events: what is not in rocline(7) comes back" {
    db=$FIXTURES/everything.db
    rocpd2csv -q -d a -o o "$db"
    for option in "" --legacy-tracks; do
        rm -rf b
        # shellcheck disable=SC2086 # none or one
        rocpd2pftrace -q --args --annotate-pmc $option -o one.pftrace "$db"
        try 0 rocpd2csv -q -d b -o o one.pftrace
        lost=Guid,Pid,Thread_Id,Kernel_Id,Queue_Id,Address,Graph_Exec_Id,Source_Queue_Id
        [ -z "$option" ] || lost=$lost,Dispatch_Id,Domain,Kernel_Dispatch_Count,Agent_Id
        for f in counter_collection kernel_trace memory_copy_trace hip_api_trace hsa_api_trace \
            marker_api_trace graph_launch_trace hip_event_trace; do
            diff <(without $lost a/o_$f.csv) <(without $lost b/o_$f.csv)
        done
        [ -n "$option" ] || diff <(without $lost a/o_memory_allocation_trace.csv) \
            <(without $lost b/o_memory_allocation_trace.csv)
        # And a trace of it has all slices, with their arguments, links and tracks, and all values
        # of counters; one of that is the same file. AMD's tracks have no slices of allocations, to
        # which arrows could lead.
        rocpd2pftrace -q --args --annotate-pmc $option -o two.pftrace one.pftrace
        fields=1-
        [ -z "$option" ] || fields=1-8
        diff <(everything one.pftrace | cut -f$fields) <(everything two.pftrace | cut -f$fields)
        rocpd2pftrace -q --args --annotate-pmc $option -o three.pftrace two.pftrace
        cmp two.pftrace three.pftrace
    done
    # Without the option they are samples.
    rocpd2pftrace -q -o plain.pftrace "$db"
    rocpd2csv -q -d c -o o plain.pftrace
    [ ! -e c/o_counter_collection.csv ]
    grep -q '"GRBM_GUI_ACTIVE"' c/o_counter_sample_trace.csv
}

# PyTorch's allocations on the host, and kernels that do not say where they ran.
@test "a trace of ours: work of an unknown GPU stays that, and is no sample" {
    needs jq
    cat >a.json <<'J'
{"traceEvents":[
 {"ph":"X","cat":"kernel","name":"k1","pid":0,"tid":7,"ts":30,"dur":10,"args":{"device":0,"stream":7}},
 {"ph":"X","cat":"kernel","name":"kn","pid":"s","tid":9,"ts":50,"dur":10,"args":{"stream":9}},
 {"ph":"i","s":"t","cat":"cpu_instant_event","name":"[memory]","pid":10,"tid":20,"ts":5,
  "args":{"Bytes":512,"Addr":139,"Device Id":0,"Device Type":1}},
 {"ph":"i","s":"t","cat":"cpu_instant_event","name":"[memory]","pid":10,"tid":20,"ts":6,
  "args":{"Bytes":64,"Addr":140,"Device Id":-1,"Device Type":20}}
]}
J
    rocpd2pftrace -q -o a.pftrace a.json
    for input in a.json a.pftrace; do
        rocline query -q -f csv -o $input.csv "SELECT kind, name, agent, start, \"end\" FROM event ORDER BY start" $input
        rocstats -q overlap --table all --format csv $input >$input.overlap
    done
    diff a.json.csv a.pftrace.csv
    diff a.json.overlap a.pftrace.overlap
    # Of memory without addresses it is not known which is live.
    rocstats -q memory --format json a.json | jq -e '[.tables[] | select(.key == "memory").rows[].leaks] == [1, 1]'
    rocstats -q memory --format json a.pftrace | jq -e '[.tables[] | select(.key == "memory").rows[].leaks] == [null, null]'
    [[ "$(rocstats -q memory a.pftrace)" == *"not freed: not known"* ]]
}

# Queues are told apart by their GPU, which a copy has from the row that it is drawn on.
@test "a trace of ours: copies are on the queue of the kernels that they shared it with" {
    printf 'profile:%s;\n' '  kernel;  a;  1.0 us; 1000; 2000; #0.0.0' '    copy;  HostToDevice;  1.0 us; 3000; 4000; #0.0.1; 40 bytes' \
        '    copy;  DeviceToHost;  1.0 us; 3000; 4000; #1.0.2; 40 bytes' '  kernel;  b;  1.0 us; 5000; 6000; #1.0.3' >hcc.log
    rocpd2pftrace -q -o a.pftrace hcc.log
    rocmerge -q -o a.db hcc.log
    rocpd2pftrace -q --group-by-queue -o b.pftrace a.db
    for input in hcc.log a.pftrace b.pftrace; do
        rocstats -q streams --table queues --format csv $input | cut -d, -f3- | sort >$input.queues
    done
    [ "$(wc -l <hcc.log.queues)" = 3 ]
    diff hcc.log.queues a.pftrace.queues
    diff hcc.log.queues b.pftrace.queues
}
