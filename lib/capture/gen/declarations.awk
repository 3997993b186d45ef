# Reads what the preprocessor made of C headers and finds the functions they declare. Other scripts
# are run with this one and are asked at the end, by a function of theirs:
#     finish()
# For function f: result[f], count[f] parameters; of parameter i: type[f, i] ("void **"),
# name[f, i], shown[f, i] (how it is declared).
# Nothing depends on the order of arrays, so the same headers give the same bytes.

function trim(s)
{
    sub(/^[ \t\n]+/, "", s)
    sub(/[ \t\n]+$/, "", s)
    gsub(/[ \t\n]+/, " ", s)
    return s
}

# Without what stands in the balanced parentheses behind each `word`.
function without(s, word,    at, i, depth, c)
{
    while ((at = index(s, word)) > 0) {
        i = at + length(word)
        depth = 0
        do {
            c = substr(s, i++, 1)
            depth += (c == "(") - (c == ")")
        } while ((depth > 0 || c != ")") && i <= length(s))
        s = substr(s, 1, at - 1) " " substr(s, i)
    }
    return s
}

# "const char *name", "size_t", "void (*name)(int)", "int name[3]"
function parameter(f, i, s,    n)
{
    sub(/=.*/, "", s) # a default of C++
    s = trim(s)
    if (s ~ /\[[^]]*\]$/) {
        sub(/\[[^]]*\]$/, "", s)
        match(s, /[A-Za-z_][A-Za-z_0-9]*$/)
        s = trim(substr(s, 1, RSTART - 1)) " *" substr(s, RSTART)
    }
    if (match(s, /\(\*[ ]*[A-Za-z_][A-Za-z_0-9]*\)/)) {
        n = substr(s, RSTART + 2, RLENGTH - 3)
        type[f, i] = "function *"
        name[f, i] = trim(n)
        shown[f, i] = s
        return
    }
    # One word is a type, and so is what ends with a star or with a word of C.
    if (match(s, /[A-Za-z_][A-Za-z_0-9]*$/) && RSTART > 1 &&
        s !~ /(^| )(int|char|long|short|unsigned|float|double|const|struct [A-Za-z_0-9]*)$/) {
        name[f, i] = substr(s, RSTART)
        type[f, i] = trim(substr(s, 1, RSTART - 1))
    } else {
        name[f, i] = "arg" i
        type[f, i] = s
    }
    sub(/ ?\*/, " *", type[f, i])
    gsub(/\* +\*/, "**", type[f, i])
    shown[f, i] = type[f, i] (type[f, i] ~ /\*$/ ? "" : " ") name[f, i]
}

function parameters(f, s,    i, depth, c, from)
{
    count[f] = 0
    s = trim(s)
    if (s == "" || s == "void")
        return
    from = 1
    for (i = 1; i <= length(s) + 1; i++) {
        c = substr(s, i, 1)
        depth += (c == "(") - (c == ")")
        if ((c == "," && depth == 0) || i > length(s)) {
            parameter(f, ++count[f], substr(s, from, i - from))
            from = i + 1
        }
    }
}

function declaration(s,    head, f)
{
    s = trim(without(s, "__attribute__"))
    sub(/^extern /, "", s)
    if (s !~ /^[A-Za-z_]/ || s ~ /^(typedef|static|template|using|struct [A-Za-z_0-9]*$)/ ||
        s !~ /\)$/ || !match(s, /\(/))
        return
    head = trim(substr(s, 1, RSTART - 1))
    s = substr(s, RSTART + 1, length(s) - RSTART - 1)
    if (!match(head, /[A-Za-z_][A-Za-z_0-9]*$/) || RSTART == 1)
        return
    f = substr(head, RSTART)
    if (f in result)
        return
    result[f] = trim(substr(head, 1, RSTART - 1))
    sub(/ ?\*/, " *", result[f])
    parameters(f, s)
}

# The parts of a declaration that those who print need.
function parameter_list(f,    i, s)
{
    for (i = 1; i <= count[f]; i++)
        s = s (i > 1 ? ", " : "") shown[f, i]
    return "(" (s == "" ? "void" : s) ")"
}

function argument_list(f,    i, s)
{
    for (i = 1; i <= count[f]; i++)
        s = s (i > 1 ? ", " : "") name[f, i]
    return "(" s ")"
}

function described_arguments(f,    i, s)
{
    for (i = 1; i <= count[f]; i++)
        s = s " ROCL_ARG(\"" type[f, i] "\", " name[f, i] ")"
    return s
}

# Declarations end with a semicolon outside of braces; what stands before braces is none.
FNR == 1 { file++ }
file == 1 && !/^#/ {
    line = $0
    while (match(line, /[;{}]/)) {
        c = substr(line, RSTART, 1)
        before = substr(line, 1, RSTART - 1)
        line = substr(line, RSTART + 1)
        if (depth == 0)
            text = text " " before
        if (c == ";" && depth == 0)
            declaration(text)
        if (c == "{")
            depth++
        else if (c == "}")
            depth--
        if (depth == 0)
            text = ""
    }
    if (depth == 0)
        text = text " " line
}
END { finish() }
