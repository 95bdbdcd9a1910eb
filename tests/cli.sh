#!/usr/bin/env bash
# The command's manners: exit status, what goes to stdout and what to stderr.
# usage: cli.sh COMMAND VERSION
set -euo pipefail

command=$1
version=$2

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
failed=0

fail() {
  echo "FAILED: alphastep $*" >&2
  sed 's/^/  stderr: /' "$tmp/err" >&2
  failed=1
}

run() { # arguments: sets status, writes $tmp/out and $tmp/err
  status=0
  "$command" "$@" >"$tmp/out" 2>"$tmp/err" </dev/null || status=$?
}

# Exit 0, something on stdout, nothing on stderr.
succeeds() {
  run "$@"
  [ "$status" = 0 ] || fail "$*: exit status $status, not 0"
  [ -s "$tmp/out" ] || fail "$*: nothing on stdout"
  [ ! -s "$tmp/err" ] || fail "$*: something on stderr"
}

# Bad usage: exit 2, one line on stderr that holds WORD, nothing on stdout.
refuses() {
  local word=$1
  shift
  run "$@"
  [ "$status" = 2 ] || fail "$*: exit status $status, not 2"
  [ "$(wc -l <"$tmp/err")" = 1 ] || fail "$*: not one line on stderr"
  grep -qF -e "$word" "$tmp/err" || fail "$*: stderr does not name '$word'"
  [ ! -s "$tmp/out" ] || fail "$*: something on stdout"
}

# stdout is an array of rows in strict JSON (no NaN), of which there is at least one, each with a text
# `id` and a `measured` number or null. Prints the ids.
json_ids() {
  python3 -c '
import json, sys
def refuse(word):
    raise ValueError(word + " is not JSON")
try:
    rows = json.load(open(sys.argv[1], encoding="utf-8"), parse_constant=refuse)
    if not isinstance(rows, list) or not rows:
        raise ValueError("not an array of rows")
    for row in rows:
        if not isinstance(row["id"], str) or not isinstance(row["measured"], (int, float, type(None))):
            raise ValueError("a row without id and measured: " + str(row))
        print(row["id"])
except (ValueError, KeyError, TypeError) as error:
    sys.exit("  stdout: " + repr(error))
' "$tmp/out"
}

# `papers ARGUMENT...` exits 0 and writes rows; their ids go to the file IDS.
papers() {
  local ids=$1
  shift
  run papers "$@"
  [ "$status" = 0 ] || fail "papers $*: exit status $status, not 0"
  json_ids >"$ids" || fail "papers $*: stdout is not the JSON it should be"
}

succeeds --version
grep -qF -e "$version" "$tmp/out" || fail "--version: does not say $version"
succeeds --help
grep -q papers "$tmp/out" || fail "--help: does not mention papers"

refuses --nonsense --nonsense
refuses nonsense nonsense
refuses --nonsense papers --nonsense
refuses no-such-paper papers no-such-paper
refuses no-such-paper papers no-such-paper --json

papers "$tmp/all" --json
[ -s "$tmp/all" ] || exit 1
id=$(head -n 1 "$tmp/all")
papers "$tmp/chosen" "$id" --json
grep -qxF -e "$id" "$tmp/chosen" || fail "papers $id: does not show that row"
prefix=${id%-*} # the id without its last word chooses exactly the rows that begin so
papers "$tmp/chosen" --json "$prefix"
grep -E "^$prefix(-|\$)" "$tmp/all" | cmp -s - "$tmp/chosen" ||
  fail "papers $prefix: does not show exactly the rows of that name"

# A failed write is not a success.
if [ -w /dev/full ]; then
  status=0
  "$command" --help >/dev/full 2>"$tmp/err" || status=$?
  [ "$status" = 4 ] || fail "--help >/dev/full: exit status $status, not 4"
fi

exit "$failed"
