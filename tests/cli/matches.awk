# Compares what a page shows with what a command prints.
# Usage: awk -f matches.awk PAGE PRINTED
# A line `...` of the page stands for any number of lines, and an empty line behind it for none; `...` within
# a line stands for any text, such as columns. Blanks between columns count as one, as columns are less wide
# when some are left out; blanks at the ends of lines do not count.
function pattern(line) {
    gsub(/[][\\^$.*+?(){}|]/, "\\\\&", line)
    gsub(/\\\.\\\.\\\./, ".*", line)
    return "^" line "$"
}
{
    sub(/[ \t]+$/, "")
    gsub(/[ \t]+/, " ")
}
FNR == NR {
    page[++pages] = $0
    next
}
{ printed[++lines] = $0 }
END {
    j = 1
    for (i = 1; i <= pages; i++) {
        if (page[i] ~ /^ *\.\.\.$/) {
            any = 1
            continue
        }
        if (page[i] == "" && any)
            continue
        from = j
        while (j <= lines && printed[j] !~ pattern(page[i]) && any)
            j++
        if (j > lines || printed[j] !~ pattern(page[i])) {
            print "the page shows:  " page[i]
            print "but printed is:  " (from <= lines ? printed[from] : "nothing more")
            exit 1
        }
        j++
        any = 0
    }
    if (j <= lines && !any) {
        print "the page does not show:  " printed[j]
        exit 1
    }
}
