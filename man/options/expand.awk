# Replaces each line `.\" include: NAME` of a manual page by the text of man/options/NAME.mdoc.
function put(line, file, more) {
    if (line !~ /^\.\\" include: [a-z]+$/) {
        print line
        return
    }
    file = line
    sub(/.*: /, "", file)
    file = "man/options/" file ".mdoc"
    while ((more = getline line < file) > 0)
        put(line)
    if (more < 0) {
        print FILENAME ": there is no " file > "/dev/stderr"
        exit 1
    }
    close(file)
}
{ put($0) }
