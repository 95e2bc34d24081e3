#!/usr/bin/env bash
# Holds README.md to what the program prints.
#
#   check_readme.sh PROGRAM README [--update]
#
# A block of lines indented by four spaces whose first is "$ ./trainyard ARGUMENTS" and that has more
# lines shows that command's output: all of it, or its beginning where the last line is "...".
# Differences fail; --update writes what is printed instead. Run in the root of the source tree.
set -euo pipefail
program=$1
readme=$2
update=${3:-}
expected=$(mktemp)
trap 'rm -f "$expected"' EXIT

# What the command prints, as a block; at most COUNT lines of it when there is a COUNT.
shown() {
    local arguments count=$2
    read -ra arguments <<<"$1"
    "$program" "${arguments[@]}" | sed -e 's/^\(.\)/    \1/' -e 's/ *$//' |
        { if [ -n "$count" ]; then sed -n "1,${count}p"; else cat; fi; }
}

blocks=0
flush() {
    local last=$((${#body[@]} - 1))
    while [ "$last" -ge 0 ] && [ -z "${body[$last]}" ]; do
        last=$((last - 1))
    done
    if [ "$last" -ge 0 ]; then
        blocks=$((blocks + 1))
        if [ "${body[$last]}" = "    ..." ]; then
            shown "$command" "$last"
            echo "    ..."
        else
            shown "$command" ""
        fi
    fi
    [ $((last + 1)) -ge "${#body[@]}" ] || printf '%s\n' "${body[@]:$((last + 1))}"
    command=
    body=()
}

command=
body=()
while IFS= read -r line; do
    if [ -n "$command" ] && [[ -z $line || $line == "    "* ]] && [[ $line != '    $ '* ]]; then
        body+=("$line")
        continue
    fi
    [ -z "$command" ] || flush
    printf '%s\n' "$line"
    case $line in
        '    $ ./trainyard '*) command=${line#'    $ ./trainyard '} ;;
    esac
done <"$readme" >"$expected"
[ -z "$command" ] || flush >>"$expected"

if [ "$blocks" -eq 0 ]; then
    echo "no block of $readme shows a command's output" >&2
    exit 1
elif [ "$update" = --update ]; then
    cat "$expected" >"$readme"
elif ! diff -u "$readme" "$expected"; then
    echo "$readme shows other output; tests/readme/check_readme.sh PROGRAM README --update mends it" >&2
    exit 1
fi
