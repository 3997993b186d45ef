# Writes the examples of a manual page: NUMBER.sh, the command, and NUMBER.out, what the page shows below it.
# Usage: awk -v folder=DIR -f examples.awk PAGE
#
# An example is a line `$ COMMAND` of a display (.Dl or .Bd -literal). It goes on in the next line while it
# ends in a backslash or a pipe, or while a quote is open. What follows in the display, up to the next
# `$ ` or .Ed, is what the command prints. A page that shows nothing has no NUMBER.out.
function plain(line) {
    gsub(/\\e/, "\\", line)
    gsub(/\\&/, "", line)
    gsub(/\\\(aq/, "'", line)
    gsub(/\\\(dq/, "\"", line)
    gsub(/\\\(ha/, "^", line)
    gsub(/\\\(ti/, "~", line)
    gsub(/\\-/, "-", line)
    return line
}
function open_quote(text, i, c, quote) {
    for (i = 1; i <= length(text); i++) {
        c = substr(text, i, 1)
        if (quote == "" && (c == "'" || c == "\""))
            quote = c
        else if (c == quote)
            quote = ""
    }
    return quote != ""
}
function end_command() {
    if (command == "")
        return
    print command > (folder "/" n ".sh")
    close(folder "/" n ".sh")
    command = ""
}
function put(line) {
    line = plain(line)
    if (command != "" && (command ~ /[\\|]$/ || open_quote(command))) {
        command = command "\n" line
    } else if (line ~ /^\$ /) {
        end_command()
        command = substr(line, 3)
        n = sprintf("%02d", ++count)
    } else if (count) {
        end_command()
        print line > (folder "/" n ".out")
    }
}
/^\.Bd -literal/ {
    inside = 1
    count_before = count
    next
}
/^\.Ed/ {
    end_command()
    inside = 0
    next
}
/^\.Dl \$ / {
    put(substr($0, 5))
    end_command()
    next
}
inside && (count > count_before || /^\$ /) { put($0) }
