# A style sheet or script as a C string. A line that begins with blanks continues the one before;
# comments that begin and end a line are left out.
/^ *\/\*/ { comment = 1 }
comment { if (/\*\/$/) comment = 0; next }
{
    continues = sub(/^ +/, "")
    gsub(/[\\"]/, "\\\\&")
    if (lines++ && !continues)
        print "\"\\n\""
    print "\"" $0 "\""
}
END { print "\"\\n\"" }
