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

succeeds schema
python3 -c 'import json, sys; json.load(open(sys.argv[1]))' "$tmp/out" || fail "schema: stdout is not JSON"
succeeds schema --keys
succeeds schema --help
refuses --nonsense schema --nonsense

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

# --plot draws the figures that show chosen rows, in a directory that it makes, and stdout stays as it
# was.
refuses --plot papers --plot
refuses --plot papers --plot --json
refuses --plo papers --plo "$tmp/figures"
refuses figure papers abc-rowmax --plot "$tmp/figures" # no figure shows it
[ ! -e "$tmp/figures" ] || fail "papers --plot: makes a directory in spite of bad usage"

# Each file is well-formed, an SVG with a size, a path and a text, has no NaN in its coordinates and
# refers to nothing outside.
is_svg() {
  python3 -c '
import re, sys, xml.etree.ElementTree as tree
svg = "{http://www.w3.org/2000/svg}"
for name in sys.argv[1:]:
    try:
        root = tree.parse(name).getroot()
        if root.tag != svg + "svg" or not float(root.get("width")) > 0:
            raise ValueError("not an svg")
        if root.find(".//" + svg + "path") is None or root.find(".//" + svg + "text") is None:
            raise ValueError("empty")
        for node in root.iter():
            if node.tag in (svg + "script", svg + "style", svg + "image"):
                raise ValueError("has a " + node.tag)
            for key, value in node.attrib.items():
                if key.endswith("href") or "url(" in value or re.search(r"\b(nan|inf)", value):
                    raise ValueError(key + "=" + value)
    except (ValueError, TypeError, OSError, tree.ParseError) as error:
        sys.exit("  " + name + ": " + repr(error))
' "$@"
}

papers "$tmp/chosen" --json --plot "$tmp/figures/all"
cmp -s "$tmp/all" "$tmp/chosen" || fail "papers --plot: changes what is on stdout"
figures=(abc-pendulum abc-top abc-cubic jn-soi2 jn-free j-71 j-disk ba-spring ba-varstep ch-infinity)
is_svg "$tmp"/figures/all/*.svg || fail "papers --plot: not the SVG it should be"
for figure in "${figures[@]}"; do
  [ -s "$tmp/figures/all/$figure.svg" ] || fail "papers --plot: no $figure.svg"
done

succeeds papers j-disk-y-h0.0125 abc-rowmax --plot="$tmp/figures/one"
[ "$(ls "$tmp/figures/one")" = j-disk.svg ] || fail "papers j-disk-y-h0.0125 --plot: not just j-disk.svg"
cmp -s "$tmp/figures/one/j-disk.svg" "$tmp/figures/all/j-disk.svg" ||
  fail "papers j-disk-y-h0.0125 --plot: not the figure that all rows give"

# A figure that cannot be written: exit 4 and one line that names the place.
cannot_plot() {
  local place=$1
  run papers j-71 --json --plot "$place"
  [ "$status" = 4 ] || fail "papers --plot $place: exit status $status, not 4"
  [ "$(wc -l <"$tmp/err")" = 1 ] || fail "papers --plot $place: not one line on stderr"
  grep -qF -e "$place" "$tmp/err" || fail "papers --plot $place: stderr does not name it"
}
cannot_plot "$tmp/all"         # a file
cannot_plot "$tmp/all/figures" # below a file
cannot_plot ""
mkdir -p "$tmp/figures/taken/j-71.svg"
cannot_plot "$tmp/figures/taken"
if [ -w /dev/full ]; then
  mkdir "$tmp/figures/full"
  ln -s /dev/full "$tmp/figures/full/j-71.svg"
  cannot_plot "$tmp/figures/full"
fi

# A failed write is not a success.
if [ -w /dev/full ]; then
  status=0
  "$command" --help >/dev/full 2>"$tmp/err" || status=$?
  [ "$status" = 4 ] || fail "--help >/dev/full: exit status $status, not 4"
fi

exit "$failed"
