# The tables of HSA as hsa_api_trace.h has them, for C. Usage:
#     awk -f declarations.awk -f hsa.awk PREPROCESSED hsa_api_trace.h

BEGIN {
    category["CoreApiTable"] = "HSA_CORE_API"
    category["AmdExtTable"] = "HSA_AMD_EXT_API"
    category["ImageExtTable"] = "HSA_IMAGE_EXT_API"
    member["CoreApiTable"] = "core"
    member["AmdExtTable"] = "amd"
    member["ImageExtTable"] = "image"
}

file == 2 && /^struct [A-Za-z]+ \{/ { table = $2 }
file == 2 && /^\};/ { table = "" }
file == 2 && (table in category) && match($0, /decltype\([a-z_0-9]+\)/) {
    entry[++entries] = substr($0, RSTART + 9, RLENGTH - 10)
    of[entries] = table
}

function print_table(t, struct,    i, f)
{
    print "typedef struct rocl_hsa_" struct " {"
    print "    rocl_hsa_version version;"
    for (i = 1; i <= entries; i++) {
        f = entry[i]
        if (of[i] == t && f in result)
            print "    " result[f] " (*" f "_fn)" parameter_list(f) ";"
        else if (of[i] == t)
            print "    void *" f "_fn;"
    }
    print "} rocl_hsa_" struct ";\n"
}

function finish(    i, f)
{
    print "/* Made from hsa_api_trace.h by hsa.awk. */"
    print "#ifdef ROCL_HSA_TABLES"
    print_table("CoreApiTable", "core")
    print_table("AmdExtTable", "amd")
    print_table("ImageExtTable", "image")
    for (i = 1; i <= entries; i++)
        print "#define ROCL_HSA_HAVE_" entry[i]
    print "#endif\n#ifdef ROCL_HSA_CALL"
    for (i = 1; i <= entries; i++) {
        f = entry[i]
        if (f in result)
            print "ROCL_HSA_" (result[f] == "void" ? "VOID" : "CALL") "(" member[of[i]] ", \"" \
                category[of[i]] "\", " result[f] ", " f ", " parameter_list(f) ", " \
                argument_list(f) "," described_arguments(f) ")"
    }
    print "#endif"
}
