#!/usr/bin/env bats
# CSV files of rocprof v1, v2 and v3, and of rocpd, as input.
# shellcheck disable=SC2154 # bats sets status, output, stderr

load helper

FILES=$TOP/tests/fixtures/rocprof-csv

# calls of a domain, and their time: "KERNELS 3 4400"
domains() { # input...
    rocstats --table domains -q --format csv "$@" | tr -d '"' | awk -F, 'NR > 1 { print $1, $2, $3 }'
}

# The values of a column of a CSV file without line ends in fields.
column() { # file column-title
    tr -d '\r' <"$1" | awk -v title="$2" '{ n = split_row($0) }
        NR == 1 { for (i = 1; i <= n; i++) if (f[i] == title) c = i; next }
        $0 != "" { print f[c] }
        function split_row(s,    n, quoted, i, ch) {
            n = 1; f[1] = ""
            for (i = 1; i <= length(s); i++) {
                ch = substr(s, i, 1)
                if (ch == "\"") quoted = !quoted
                else if (ch == "," && !quoted) f[++n] = ""
                else f[n] = f[n] ch
            }
            return n
        }'
}

@test "any order of files, any number of workers: the same" {
    rocpd2csv -q -d a "$FILES"/run_*.csv
    rocpd2csv -q -d b -j1 $(printf '%s\n' "$FILES"/run_*.csv | sort -r)
    rocpd2csv -q -d c -j7 $(printf '%s\n' "$FILES"/run_*.csv | shuf)
    diff -r a b
    diff -r a c
    [ "$(ls a | wc -l)" -eq 8 ]
}

@test "agent_info is read where it lies beside the file that is named" {
    rocpd2csv -q -d a --kinds agent "$FILES/run_kernel_trace.csv"
    [ "$(column a/out_agent_info.csv Product_Name | paste -sd,)" = "Wren 7 server,Wren 7 server,Finch accelerator,Finch accelerator" ]
    cp "$FILES/run_kernel_trace.csv" .
    rocpd2csv -q -d b --kinds agent run_kernel_trace.csv
    [ "$(column b/out_agent_info.csv Agent_Type | paste -sd,)" = GPU,GPU ]
    echo 'no table' >run_agent_info.csv
    try 0 rocpd2csv -d c run_kernel_trace.csv
    silent
}

@test "agents: logical and node numbers, numbers alone, numbers by type" {
    cp "$FILES/run_agent_info.csv" .
    for form in 'Agent 2,Agent 3' 'Agent 4,Agent 5' '4,5' 'GPU 0,GPU 1'; do
        sed "s/Agent 2/${form%,*}/; s/Agent 3/${form#*,}/" "$FILES/run_kernel_trace.csv" >run_kernel_trace.csv
        rm -rf out
        try 0 rocpd2csv -d out run_kernel_trace.csv
        silent
        [ "$(column out/out_kernel_trace.csv Agent_Id | paste -sd,)" = "Agent 2,Agent 3,Agent 2" ]
        [ "$(wc -l <out/out_agent_info.csv)" -eq 5 ]
    done
    try 0 rocpd2csv -d type --agent-index-value type-relative run_kernel_trace.csv
    [ "$(column type/out_kernel_trace.csv Agent_Id | paste -sd,)" = "GPU 0,GPU 1,GPU 0" ]
    try 0 rocpd2csv -d node --agent-index-value absolute run_kernel_trace.csv
    [ "$(column node/out_kernel_trace.csv Agent_Id | paste -sd,)" = "Agent 4,Agent 5,Agent 4" ]
}

@test "kernels are of the process that others name, or that the file is called by" {
    cp "$FILES/run_kernel_trace.csv" 4242_kernel_trace.csv
    cp "$FILES/run_kernel_trace.csv" kernel_trace.csv
    pids() {
        rm -rf m.db
        rocmerge -q -o m.db "$@"
        sqlite3 m.db "SELECT group_concat(pid) FROM (SELECT pid FROM rocpd_info_process ORDER BY pid)"
    }
    needs sqlite3
    [ "$(pids 4242_kernel_trace.csv)" = 4242 ]
    [ "$(pids kernel_trace.csv)" = 0 ]
    cp "$FILES/run_hip_api_trace.csv" 4242_hip_api_trace.csv
    [ "$(pids 4242_*.csv)" = 70 ] # what a row says is surer
    [ "$(pids kernel_trace.csv 4242_kernel_trace.csv)" = 0,4242 ]
}

@test "a dispatch goes out once where only its counter values are there, in any order" {
    cp "$FILES/run_counter_collection.csv" a.csv
    (head -1 a.csv && tail -n +2 a.csv | sort -t, -k16) >b.csv # by counter
    for f in a.csv b.csv; do
        [ "$(domains $f)" = "KERNELS 2 3400" ]
    done
    rocstats counters --table all -q --format csv a.csv >a
    rocstats counters --table all -q --format csv b.csv >b
    cmp a b
    [ "$(domains "$FILES"/run_{kernel_trace,counter_collection}.csv)" = "KERNELS 3 4400" ]
}

@test "counters without times" {
    cut -d, -f1-17,20- "$FILES/run_counter_collection.csv" | sed 's/,"print("a"//; s/, "b")"/,"p"/' >plain
    awk -F, 'NR == 1 || /blend/' "$FILES/run_counter_collection.csv" | sed -E 's/,("Start_Timestamp"|10000),("End_Timestamp"|12500)$//' >c.csv
    try 0 rocstats counters --table all --format csv c.csv
    says "c.csv: dispatches without times: only their counters are read"
    [ "${#stderr_lines[@]}" -eq 1 ]
    [[ "$output" == *'counters,"SQ_WAVES","void blend<float, 4>(float*, int)",,1,64,'* ]]
    printf 'Index,KernelName,gpu-id,queue-id\n0,"k",1,0\n' >v1.csv
    try 1 rocstats --table domains v1.csv
    says "v1.csv: dispatches without times and counters: nothing is read"
}

@test "processes by guid: what rocpd2csv made of databases reads as they do" {
    needs "$FIXTURES/merged.db"
    for style in rocpd-1.0 rocpd-1.1; do
        for name in everything merged nasty-3.0.5; do
            rm -rf made
            rocpd2csv -q --bytes --style $style -d made "$FIXTURES/$name.db" || [ $? -eq 1 ]
            rocstats --table domains,copies,copy_sizes,kernels -q --format csv "$FIXTURES/$name.db" >a || [ $? -eq 1 ]
            rocstats --table domains,copies,copy_sizes,kernels -q --format csv made/*.csv >b || [ $? -eq 1 ]
            # The files name no hosts: which processes share a GPU is unknown.
            [ "$name" = everything ] || sed -i '/^cop/d' a b
            cmp a b
            # An agent that is not known, of frees, is nothing to repair.
            [ "$name" = nasty-3.0.5 ] || rocstats --table domains -q made/*.csv >/dev/null
        done
    done
}

@test "other separators than commas are named" {
    tr , ';' <"$FILES/run_kernel_trace.csv" >semicolons.csv
    tr , '\t' <"$FILES/run_kernel_trace.csv" >tabs.csv
    try 3 rocstats semicolons.csv
    says "semicolons.csv: this is a CSV file of rocprof, but its fields are separated by ';': save it with commas, as the profiler wrote it"
    try 3 rocpd2csv -d out tabs.csv
    says "tabs.csv: this is a CSV file of rocprof, but its fields are separated by tabs: save it with commas"
}

@test "rows that are wrong, cut or hold too much are counted with their lines" {
    f=$FILES/run_hip_api_trace.csv
    { cat "$f" && echo '"HIP_RUNTIME_API_EXT","x",70,71,8,500,400' && printf '"HIP_RUNTIME_API_EXT","hipFr'; } >cut.csv
    try 1 rocpd2csv -d out cut.csv
    says "cut.csv:6: it ends before it starts"
    says "cut.csv:7: more or fewer fields than the header has: '\"HIP_RUNTIME_API_EXT\",\"hipFr'"
    says "2 records left out"
    [ "$(wc -l <out/out_hip_api_trace.csv)" -eq 5 ]
    { cat "$f" && echo '"HIP_RUNTIME_API_EXT","x",70,71,8,4a0,500'; } >number.csv
    try 1 rocpd2csv -d out2 number.csv
    says "number.csv:6: a time is not a number"
    try 3 rocpd2csv --strict -d out3 number.csv
}

@test "names with commas, doubled quotes and line ends, in any column" {
    cat >text.csv <<'END'
"Function","Domain","Process_Id","Thread_Id","Correlation_Id","Start_Timestamp","End_Timestamp"
"one ""a"",""b
""c"",""d
""e""","MARKER_CORE_RANGE_API",70,71,1,1000,2000
"two ""a"",""b""","MARKER_CORE_RANGE_API",70,71,2,3000
"three ""(""","MARKER_CORE_RANGE_API",70,71,3,5000,6000
END
    try 1 rocpd2csv -d out text.csv
    says "text.csv:5: more or fewer fields than the header has"
    says "1 record left out"
    rocstats -q markers --format csv text.csv | grep -c three
    [ "$(rocline query -q --format csv 'SELECT count(*), sum(end - start) FROM event' text.csv | tail -1)" = 2,2000 ]
}

@test "rows whose times are empty are counted, in every family; values of counters are kept" {
    local family begin end made
    while read -r family begin end; do
        for made in ",,$end" ",$begin," ,,; do
            sed "0,/,$begin,$end/s//$made/" "$FILES/run_$family.csv" >x.csv
            cmp -s x.csv "$FILES/run_$family.csv" && fail "$family: nothing was changed"
            try 1 rocstats --table domains --format csv x.csv
            says " left out: no valid time (1)"
        done
    done <<-END
		kernel_trace 10000 12500
		hip_api_trace 9000 9400
		marker_api_trace 8000 15000
		memory_allocation_trace 8400 8500
		memory_copy_trace 9650 9950
		scratch_memory_trace 9960 9990
	END
    sed '2s/10000,12500/,12500/' "$FILES/v1.csv" >v1.csv
    try 1 rocstats --table domains --format csv v1.csv
    says "v1.csv:2: a time is missing"
    # Times are those of the dispatch: values do without.
    sed -E 's/,10000,12500$/,,/' "$FILES/run_counter_collection.csv" >counters.csv
    try 0 rocstats counters --table all --format csv counters.csv
    [[ "$output" == *'"SQ_WAVES","void blend<float, 4>(float*, int)",,1,64,'* ]]
    [ "$(domains counters.csv)" = "$(domains "$FILES/run_counter_collection.csv" | sed 's/KERNELS 2 3400/KERNELS 1 900/')" ]
    sed -E '2s/,10000,12500$/,,12500/' "$FILES/run_counter_collection.csv" >half.csv
    try 1 rocstats counters --table all --format csv half.csv
    says "half.csv:2: a time is missing"
}

@test "a column that is needed and missing is named" {
    cut -d, -f1-5,7 "$FILES/run_hip_api_trace.csv" >hip.csv
    try 3 rocpd2csv -d out hip.csv
    one_line rocpd2csv
    says "hip.csv: the column Start_Timestamp is missing"
    cut -d, -f1-3,5- "$FILES/run_memory_allocation_trace.csv" >alloc.csv
    try 3 rocpd2csv -d out alloc.csv
    says "alloc.csv: the column Allocation_Size is missing"
    [ ! -e out ]
}

@test "a file that ends within its header is truncated" {
    head -n 1 "$FILES/run_hip_api_trace.csv" | tr -d '\n' >head.csv
    try 1 rocline check head.csv
    says "head.csv: the file is truncated: its first line has no end"
    [ "$output" == "head.csv: has faults, 0 events, CSV file of rocprof" ]
    try 3 rocline check --strict head.csv
    # With other files of its run: these are read.
    cp head.csv run_hip_api_trace.csv
    cp "$FILES/run_kernel_trace.csv" .
    try 1 rocpd2csv -d out run_hip_api_trace.csv run_kernel_trace.csv
    says "run_hip_api_trace.csv: the file is truncated: its first line has no end"
    [ "$(wc -l <out/out_kernel_trace.csv)" -eq "$(wc -l <run_kernel_trace.csv)" ]
    # A header that is whole is a table without rows.
    head -n 1 "$FILES/run_hip_api_trace.csv" >head.csv
    try 0 rocline check head.csv
}

@test "agents where all lines end in CR" {
    for f in "$FILES"/run_*.csv; do
        tr '\n' '\r' <"$f" >"${f##*/}"
    done
    rocpd2csv -q -d expected -o o "$FILES"/run_*.csv
    rocpd2csv -q -d out -o o run_*.csv
    grep -q $'two\r' out/o_marker_api_trace.csv
    sed -i 's/\r/\n/g' out/o_marker_api_trace.csv
    diff -r expected out
}

@test "texts come back byte by byte: line ends, quotes alone" {
    local text
    rocmerge -q -o all.db "$FIXTURES/schema-3.0.0.db"
    for text in 'a\r\nb' 'a\rb' 'a\nb' '\r\n\r\n' 'a\n\r"b\r' '""' '"' '"a"'; do
        printf "$text" >text
        cp all.db t.db
        sqlite3 t.db "UPDATE rocpd_info_kernel_symbol$(suffix t.db) SET kernel_name = CAST(readfile('text') AS TEXT), \
            display_name = CAST(readfile('text') AS TEXT);
            UPDATE rocpd_event$(suffix t.db) SET extdata = json_object('message', CAST(readfile('text') AS TEXT))
            WHERE extdata LIKE '%message%'"
        rm -rf csv
        rocpd2csv -q -d csv -o o t.db
        for query in 'SELECT hex(kernel), count(*) FROM kernel GROUP BY 1' \
            "SELECT hex(name), count(*) FROM marker WHERE category LIKE 'MARKER%' GROUP BY 1"; do
            rocline query -q --format csv t.db "$query" >a
            rocline query -q --format csv csv/*.csv "$query" >b
            diff a b || fail "$text"
        done
    done
}

@test "columns in any order, quotes around everything, CR LF, CR, a byte order mark" {
    f=$FILES/run_hip_api_trace.csv
    rocpd2csv -q -d expected "$f"
    awk -F, -v OFS=, '{ print $7, $6, $3, $4, $5, $2, $1 }' "$f" >order.csv
    tr -d '"' <"$f" | sed 's/,/","/g; s/.*/"&"/' >quoted.csv
    { printf '\xef\xbb\xbf' && sed 's/$/\r/' "$f"; } >windows.csv
    tr '\n' '\r' <"$f" >cr.csv
    for g in order quoted windows cr; do
        rm -rf out
        try 0 rocpd2csv -d out $g.csv
        silent
        sed -i 's/"[a-z_]*.csv"/"run"/' out/*_trace.csv expected/*_trace.csv
        diff expected/out_hip_api_trace.csv out/out_hip_api_trace.csv
    done
}

@test "a thousand counters before the columns that tell which file it is" {
    {
        printf 'c%d,' $(seq 1000)
        echo Index,KernelName,gpu-id,queue-id,queue-index,pid,tid,BeginNs,EndNs
        printf '%d,' $(seq 1000)
        echo '0,"k",1,0,0,70,71,1000,2000'
    } >many.csv
    try 0 rocpd2csv -q -d out many.csv
    [ "$(wc -l <out/out_counter_collection.csv)" -eq 1001 ]
}

@test "what pandas made of it: numbers and mean times with a fraction, columns joined twice" {
    {
        echo 'Dispatch_ID,GPU_ID,Grid_Size,Workgroup_Size,Kernel_Name,Kernel_ID,SQ_WAVES,Kernel_ID_1,Start_Timestamp,End_Timestamp'
        echo '0,4,256,64,blend,10.0,4.0,11,1000.5,2000.25'
        echo '1,4,256,64,blend,10.0,4.0,11,3000.49,4e3'
    } >pmc_perf.csv
    try 1 rocpd2csv -d out pmc_perf.csv
    says "pmc_perf.csv:3: a time is not a number"
    grep -q ",1001,2000," out/out_kernel_trace.csv
    try 1 rocstats counters --table all --format csv pmc_perf.csv
    [[ "$output" == *'counters,"SQ_WAVES","blend"'* && "$output" != *Kernel_ID* ]]
}

@test "a header of 2019, with blanks at its end" {
    {
        echo 'Index,"KernelName","gpu-id","queue-id","queue-index","tid","grd","wgr","lds","scr","vgpr","sgpr","fbar","sig","DispatchNs","BeginNs","EndNs","CompleteNs","DurationNs"  '
        echo '0,"multiply(long, int*)",0,0,2,12292,1016064,256,0,0,0,0,0,0x7f3d3e55cd80,13839505749338,13839505799825,13839523017841,13839523157510,17218016 '
    } >results.csv
    try 0 rocstats summary --format csv results.csv
    [[ "$output" == *'"multiply(long, int*)",1,17218016,'* ]]
}

@test "compressed, from a pipe, from standard input" {
    f=$FILES/run_hip_api_trace.csv
    expected=$(domains "$f")
    gzip -c "$f" >x_hip_api_trace.csv.gz
    [ "$(domains x_hip_api_trace.csv.gz)" = "$expected" ]
    [ "$(domains - <"$f")" = "$expected" ]
    [ "$(domains <(cat "$f"))" = "$expected" ]
}

# What is in a real file, as awk sees it: rows, and the sum of End - Start.
judge() { # file
    paste -d ' ' <(column "$1" "$2") <(column "$1" "$3") |
        awk 'NR >= 1 { n++; t += $2 - $1 } END { printf "%d %.0f\n", n, t }'
}

@test "real files: as many events and as much time as awk finds" {
    needs "$SHARED/rocprofv3-csv/kernel_trace.csv"
    for f in "$SHARED"/rocprofv3-csv/{kernel,hip,hip_runtime,hsa_core_api,memory_copy,memory_allocation,rccl,scratch_memory}_trace.csv \
        "$SHARED"/rocprofv3-csv/rocpd-to-csv.csv "$SHARED"/rocprofv3-csv-real/*/*_trace.csv; do
        [ "$(domains "$f" | awk '{ n += $2; t += $3 } END { printf "%d %.0f\n", n, t }')" = \
            "$(judge "$f" Start_Timestamp End_Timestamp)" ] || fail "$f $(judge "$f" Start_Timestamp End_Timestamp) $(domains "$f")"
    done
    for f in "$SHARED"/rocprofv3-csv-real/*/*_counter_collection.csv; do
        [ "$(domains "$f" | cut -d' ' -f2)" = "$(column "$f" Dispatch_Id | sort -u | wc -l)" ] || fail "$f $(judge "$f" Start_Timestamp End_Timestamp) $(domains "$f")"
    done
    f=$SHARED/rocprof-v1/gunrock-stats/results.csv
    [ "$(domains "$f")" = "KERNELS $(judge "$f" BeginNs EndNs)" ]
}

# rewrites EXPECTED INPUT...: each is written as results.csv with the same bytes.
rewrites() {
    local expected=$1 input
    shift
    for input in "$@"; do
        rocpd2csv -q --style rocprof -o - "$input" >ours.csv || fail "$input"
        diff "$expected" ours.csv >&2 || fail "$input"
    done
}

@test "style rocprof: what rocprof wrote of the same dispatches, whatever is read" {
    # Names in quotes, DurationNs: beside a database.
    sed 's/print(char const\*)/print/' "$FILES/v1.csv" >v1.csv
    rewrites v1.csv v1.csv
    gzip -c v1.csv >v1.csv.gz
    rewrites v1.csv v1.csv.gz
    rewrites v1.csv - <v1.csv
    # The same as a database, as JSON and as text.
    sqlite3 v1.db 'CREATE TABLE KERN ("Index" INTEGER, "KernelName" TEXT, "gpu-id" INTEGER,
        "queue-id" INTEGER, "queue-index" INTEGER, "pid" INTEGER, "tid" INTEGER, "grd" INTEGER,
        "wgr" INTEGER, "lds" INTEGER, "scr" INTEGER, "arch_vgpr" INTEGER, "accum_vgpr" INTEGER,
        "sgpr" INTEGER, "wave_size" INTEGER, "sig" INTEGER, "obj" INTEGER, "SQ_WAVES" INTEGER,
        "TCC_HIT[0]" INTEGER, "DispatchNs" INTEGER, "BeginNs" INTEGER, "EndNs" INTEGER,
        "CompleteNs" INTEGER, "DurationNs" INTEGER);' '.mode csv' '.import --skip 1 v1.csv KERN' \
        "UPDATE KERN SET \"TCC_HIT[0]\" = NULL WHERE \"TCC_HIT[0]\" = 'None'"
    rewrites v1.csv v1.db
    awk -F'"' 'NR > 1 {
        split(substr($3, 2) substr($4 "," $5, 1, 0), a, ","); n = split($3 $4 $5 $6 $7, f, ",")
        printf "dispatch[%s], gpu-id(%s), queue-id(%s), queue-index(%s), pid(%s), tid(%s), grd(%s), " \
            "wgr(%s), lds(%s), scr(%s), arch_vgpr(%s), accum_vgpr(%s), sgpr(%s), wave_size(%s), " \
            "sig(%s), obj(%s), kernel-name(\"%s\"), time(%s,%s,%s,%s)\n", substr($1, 1, length($1) - 1),
            f[2], f[3], f[4], f[5], f[6], f[7], f[8], f[9], f[10], f[11], f[12], f[13], f[14], f[15],
            f[16], $2, f[19], f[20], f[21], f[22]
        printf "  SQ_WAVES (%s)\n", f[17]
        if (f[18] != "None") printf "  TCC_HIT[0] (%s)\n", f[18]
    }' v1.csv >results.txt
    rewrites v1.csv results.txt
}

@test "style rocprof: files that were written without a database, old registers" {
    cat >bare.csv <<'END'
Index,KernelName,gpu-id,queue-id,queue-index,pid,tid,grd,wgr,lds,scr,arch_vgpr,accum_vgpr,sgpr,wave_size,sig,obj,SQ_WAVES,Busy,Whole
0,"add<int>(int*, int) [clone .kd]",3,0,5,99,99,4096,256,512,0,16,4,32,64,0x7f001000,0x7f112233aa,64,0.3333333333,19.0000000000
1,"copy.kd",3,1,0,99,101,64,64,0,0,8,0,16,64,0x0,0x7f112233bb,1,100.0000000000,None
END
    rewrites bare.csv bare.csv
    awk -F, -v OFS=, 'NR == 1 { $0 = $0 ",DispatchNs,BeginNs,EndNs,CompleteNs" }
        NR > 1 { $0 = $0 "," 1000 * NR "," 2000 * NR "," 3000 * NR "," 2500 * NR } 1' bare.csv >timed.csv
    rewrites timed.csv timed.csv
    sed 's/arch_vgpr,accum_vgpr,sgpr,wave_size/vgpr,sgpr,fbar/; s/,16,4,32,64,/,16,32,0,/; s/,8,0,16,64,/,8,16,0,/' timed.csv >old.csv
    rewrites old.csv old.csv
    # ROCm 5.1 has a database, and handles without quotes; 5.2 puts them in quotes.
    awk -F, -v OFS=, 'NR == 1 { gsub(/[^,]+/, "\"&\""); print $0 ",\"DurationNs\""; next }
        { $0 = $0 "," 1000 * NR; gsub(/\.0000000000/, "") } 1' old.csv >5.1.csv
    rewrites 5.1.csv 5.1.csv
    sed 's/,0x[0-9a-f]*/,"&"/g; s/",0x/"0x/g; s/,"0x\([0-9a-f]*\)"/,"0x\1"/g' 5.1.csv | sed 's/,,/,/g' >5.2.csv
    grep -q ',"0x7f001000","0x7f112233aa",' 5.2.csv || fail "$(cat 5.2.csv)"
    rewrites 5.2.csv 5.2.csv
}

@test "style rocprof: names of files, other inputs, any number of workers" {
    try 0 rocpd2csv -q --style rocprof -d out "$FIXTURES/schema-3.0.0.db"
    [ "$(ls out)" = results.csv ]
    try 0 rocpd2csv -q --style rocprof -z 1 -d out -o x.csv "$FIXTURES/schema-3.0.0.db"
    gzip -dc out/x.csv.gz | cmp - out/results.csv
    for j in 1 2 5; do
        rocpd2csv -q -j $j --style rocprof -o - "$FIXTURES/schema-3.0.0.db" | cmp - out/results.csv || fail "-j $j"
    done
    # It is an input like AMD's own, and what is written of it is the same.
    rewrites out/results.csv out/results.csv
    [ "$(domains out/results.csv | grep KERNELS)" = "$(domains "$FIXTURES/schema-3.0.0.db" | grep KERNELS)" ]
    # Without a dispatch there is no file; on standard output there is a header.
    try 0 rocpd2csv -q --style rocprof -d none --include hip "$FIXTURES/schema-3.0.0.db"
    [ ! -e none/results.csv ]
    try 0 rocpd2csv -q --style rocprof -o - --include hip "$FIXTURES/schema-3.0.0.db"
    [[ "$output" == '"Index","KernelName",'* ]]
    [ "${#lines[@]}" -eq 1 ]
    try 2 rocpd2csv --style rocprof --kinds hip -d none "$FIXTURES/schema-3.0.0.db"
    says "choose from results"
}

# arguments FILE: of each event of Chrome JSON, one a line
arguments() {
    rtg2json -q -f --args -o t.json "$1"
    grep -o '"name":"[^"]*","cat":"PC_SAMPLING".*' t.json | sed 's/"name":"\([^"]*\)".*"ts":\([0-9.]*\).*"args":\({.*}\)}.*/\1 \2 \3/'
}

@test "PC samples of rocprofv2 and v3 have all of their columns" {
    printf 'Dispatch_ID,Timestamp,GPU_ID,PC_Sample,Shader_Engines\n\n1,1000,2,0x7f0010,3\n2,3000,2,0x7f0018,0\n' >pcs_trace_7.csv
    run -0 arguments pcs_trace_7.csv
    [ "$output" == '0x7f0010 1.000 {"dispatch_id":"1","gpu_id":"2","shader_engine":"3"}
0x7f0018 3.000 {"dispatch_id":"2","gpu_id":"2","shader_engine":"0"}' ] || fail "$output"
    {
        echo '"Sample_Timestamp","Exec_Mask","Dispatch_Id","Instruction","Instruction_Comment","Correlation_Id","Wave_Issued_Instruction","Instruction_Type","Stall_Reason","Wave_Count"'
        echo '5000,255,24,"s_waitcnt vmcnt(0)","walk.cpp:7",9,0,"NO_INST","WAITCNT",4'
        echo '6000,1,25,"","",9,1,"VALU","",2'
    } >r_pc_sampling_stochastic.csv
    run -0 arguments r_pc_sampling_stochastic.csv
    [ "$output" == 's_waitcnt vmcnt(0) 5.000 {"comment":"walk.cpp:7","stall_reason":"WAITCNT","dispatch_id":"24","correlation_id":"9","exec_mask":"255","wave_issued":"0","inst_type":"NO_INST","wave_cnt":"4"}
(not decoded) 6.000 {"dispatch_id":"25","correlation_id":"9","exec_mask":"1","wave_issued":"1","inst_type":"VALU","wave_cnt":"2"}' ] || fail "$output"
}

@test "results.csv comes back from a database, and from a database that is built anew" {
    needs sqlite3
    local json=$TOP/tests/fixtures/rocprof
    for input in "$FILES/v1.csv" "$FILES/results_70.csv" "$json"/v1-kern.json "$json"/v1.json "$json"/v1-quotes.json; do
        rocpd2csv -q --style rocprof -o - "$input" >direct.csv
        rocmerge -q -o a.db "$input"
        rocmerge -q --rebuild -o b.db a.db
        for db in a.db b.db; do
            rocpd2csv -q --style rocprof -o - $db >from.csv
            diff direct.csv from.csv || fail "$input $db"
        done
    done
    # What is no such object says nothing; the rest stays.
    rocmerge -q -o a.db "$FILES/v1.csv"
    local table
    table=$(sqlite3 a.db "select name from sqlite_master where name like 'rocpd_event_%' and type = 'table'")
    for broken in '{"rocprof":{' '{"rocprof":7}' '{"rocprof":[]}' '{"rocprof":{"sig":{},"numbered":1,"wave_size":4294967296,"submitted":"x"}}' \
        '{"rocprof":{"completed":5,"queue-index":-1}}' '{"rocprof":}' '{"rocprof":{}}}'; do
        sqlite3 a.db "update $table set extdata = '$broken' where extdata like '%rocprof%'"
        try 0 rocpd2csv -q --style rocprof -o - a.db
        [ "$(wc -l <<<"$output")" == "$(rocpd2csv -q --style rocprof -o - "$FILES/v1.csv" | wc -l)" ] || fail "$broken"
    done
}

@test "real files: results.csv is rocprof's own, made of all that it left of the run" {
    needs "$SHARED/rocprof-v1/gunrock-stats/results.csv"
    local runs=$SHARED/rocprof-v1
    rewrites "$runs/gunrock-stats/results.csv" "$runs"/gunrock-stats/results.{db,csv}
    gzip -dc "$runs/llama-stats/results.csv.gz" >llama.csv
    rewrites llama.csv "$runs"/llama-stats/results.{db,csv.gz}
}

@test "kernels of ROCm 6.2, which have no number, join their counters by their correlation id" {
    needs sqlite3
    local name='"Kind","Agent_Id","Queue_Id","Kernel_Id","Kernel_Name","Correlation_Id","Start_Timestamp","End_Timestamp"'
    {
        echo "$name"
        printf '"KERNEL_DISPATCH",1,1,%d,"%s",%d,%d,%d\n' 1 "mix(int, int)" 5 1000 1100 2 fold 6 1200 1300 \
            3 twice 7 1400 1500 3 twice 7 1600 1700
    } >r_kernel_trace.csv
    {
        echo '"Correlation_Id","Dispatch_Id","Agent_Id","Queue_Id","Process_Id","Thread_Id","Grid_Size","Kernel_Name","Workgroup_Size","LDS_Block_Size","Scratch_Size","VGPR_Count","SGPR_Count","Counter_Name","Counter_Value"'
        printf '%d,%d,1,1,9,9,64,"%s",64,0,0,8,16,"SQ_WAVES",%d\n' 5 11 "mix(int, int)" 40 6 12 fold 41 \
            7 13 twice 42 7 14 twice 43
    } >r_counter_collection.csv
    try 0 rocmerge -q -o t.db r_kernel_trace.csv r_counter_collection.csv
    run sqlite3 t.db "select k.dispatch_id, k.start, v.value from rocpd_pmc_event v join
        rocpd_kernel_dispatch k on k.event_id = v.event_id where k.start > 0 order by 1"
    [ "$output" == "11|1000|40.0
12|1200|41.0" ] || fail "$output"
    [ "$(sqlite3 t.db 'select count(*), count(distinct event_id) from rocpd_kernel_dispatch where start > 0')" == "4|4" ]
    [ "$(sqlite3 t.db 'select count(*) from rocpd_pmc_event')" == 4 ]
}

@test "real files: AMD's own summaries of the same run" {
    needs "$SHARED/rocprof-v1/gunrock-stats/results.csv"
    for run in gunrock-stats llama-stats; do
        rm -rf ours
        rocstats -q --style rocprof -d ours -o results "$SHARED/rocprof-v1/$run"/results.csv*
        diff "$SHARED/rocprof-v1/$run/results.stats.csv" ours/results.stats.csv || fail "$run"
    done
}

@test "a value of a counter that is not there is counted" {
    local value
    for value in '' '""' None; do
        sed "2s/64.000000/$value/" "$FILES/run_counter_collection.csv" >c.csv
        try 1 rocstats counters --table all --format csv c.csv
        says "c.csv:2: the value of a counter is not a number"
        says "1 record left out: counter value that is not a finite number (1)"
    done
}
