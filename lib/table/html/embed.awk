# A style sheet or script as a C string, or with -v raw=1 as the text itself. A line that begins with
# blanks continues the one before; comments that begin and end a line are left out.
/^ *\/\*/ { comment = 1 }
comment { if (/\*\/$/) comment = 0; next }
{
    continues = sub(/^ +/, "")
    if (!raw)
        gsub(/[\\"]/, "\\\\&")
    if (lines++ && !continues)
        printf raw ? "\n" : "\"\\n\"\n"
    if (raw)
        printf "%s", $0
    else
        print "\"" $0 "\""
}
END { printf raw ? "\n" : "\"\\n\"\n" }
