#!/bin/sh
# The SHA-256 of standard input in base64, in quotes: what a Content-Security-Policy calls a script.
digits=$(sha256sum | awk '
    function value(digit) { return index("0123456789abcdef", digit) - 1 }
    { for (i = 1; i < 64; i += 2) printf "\\%03o", value(substr($1, i, 1)) * 16 + value(substr($1, i + 1, 1)) }')
# shellcheck disable=SC2059 # the digits are escapes
printf '"%s"\n' "$(printf "$digits" | base64)"
