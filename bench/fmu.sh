#!/bin/bash
# What an FMU of a chain of 100 bodies costs beside the library, in instructions of ten communication steps (callgrind).
#
#   bench/fmu.sh BUILD
set -euo pipefail

build=$(cd "$1" && pwd)
root=$(cd "$(dirname "$0")/.." && pwd)
model=$root/examples/machines/chain/model.yaml
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$build/alphastep" fmu "$model" -o "$folder/chain.fmu" --set parameters.n=100 --outputs frames.tip
python3 -m zipfile -e "$folder/chain.fmu" "$folder/chain"
guid=$(grep -o 'guid="[^"]*' "$folder/chain/modelDescription.xml" | cut -c7-)

count() {
  valgrind --tool=callgrind --callgrind-out-file=/dev/null "$build/bench/fmu" "$@" 2>&1 | sed -n 's/.*Collected : //p'
}
native() { count native "$model" "$1" 0.01 parameters.n=100; }
exported() { count "$folder/chain" "$guid" "$1" 0.01 "$folder/chain/binaries/linux64/chain.so"; }

native=$(($(native 0.15) - $(native 0.05)))
exported=$(($(exported 0.15) - $(exported 0.05)))
echo "native $native, FMU $exported: $(awk "BEGIN {printf \"%.4f\", $exported / $native}")"
