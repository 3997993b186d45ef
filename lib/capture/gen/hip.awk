# The functions of HIP that its headers declare and its library has. Usage:
#     nm -D --defined-only LIBRARY | awk -f declarations.awk -f hip.awk PREPROCESSED -

# These are called by tracers.
BEGIN { for_tools = "^hip(ApiName|KernelNameRef|(Register|Remove)(Api|Activity|Tracer)Callback)" }

file == 2 {
    symbol = $NF
    sub(/@.*/, "", symbol)
    f = symbol
    # A function with the linkage of C++, like hipExtModuleLaunchKernel.
    if (match(f, /^_Z[0-9]+/))
        f = substr(f, RLENGTH + 1, substr(f, 3, RLENGTH - 2))
    if (f in result && f ~ /^(__)?hip[A-Z]/ && f !~ for_tools && !(f in linked)) {
        linked[f] = symbol
        order[++functions] = f
    }
}

function category(f)
{
    return f ~ /^__/ ? "HIP_COMPILER_API_EXT" : "HIP_RUNTIME_API_EXT"
}

# What of a call is more than its arguments.
function traits(f)
{
    if (f ~ /^hip(StreamDestroy|DeviceReset)$/)
        return "ROCL_HIP_ENDS_STREAMS"
    return f ~ /^hip(Launch(Cooperative)?Kernel(_spt)?|ExtLaunchKernel)$/ ? "ROCL_HIP_POINTER" : \
        f ~ /ModuleLaunchKernel$/ ? "ROCL_HIP_FUNCTION" : "ROCL_HIP_PLAIN"
}

# The stream that work of a call is put on, where that is certain. Copies and sets of memory without
# a parameter for it use the default one; forms called _spt have one for each thread as default.
function stream(f,    i)
{
    if (traits(f) == "ROCL_HIP_ENDS_STREAMS")
        return count[f] ? "end_stream(" name[f, 1] ")" : "end_all_streams()"
    for (i = 1; i <= count[f]; i++)
        if (type[f, i] == "hipStream_t")
            return (f ~ /_spt$/ ? "get_stream_spt(" : "get_stream(") name[f, i] ")"
    if (f !~ /^hipMem(cpy|set)/)
        return "NULL"
    return f ~ /_spt$/ ? "get_stream_spt(NULL)" : "get_stream(NULL)"
}

function print_call(f,    kind)
{
    kind = result[f] == "void" ? "VOID" : result[f] == "hipError_t" ? "CALL" : "OTHER"
    if (linked[f] != f)
        print result[f] " " f parameter_list(f) " __asm__(\"" linked[f] "\");"
    print "ROCL_HIP_" kind "(\"" category(f) "\", " traits(f) ", " stream(f) ", " result[f] ", " f ", \"" \
        linked[f] "\", " parameter_list(f) ", " argument_list(f) "," described_arguments(f) ")"
}

function finish(    i)
{
    print "/* Made from the headers and the library of HIP by hip.awk. */"
    for (i = 1; i <= functions; i++)
        print_call(order[i])
}
