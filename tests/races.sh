#!/usr/bin/env bash
# Every kernel in the emulator under a race detector, without a GPU: PY=python PARTS=2 tests/races.sh [--only NAME ..]
# It looks at shared and at global memory, inside of a block, of a cluster and between blocks, in one order of execution:
# a race is found whatever that order, but only on the paths that the operands lead to. What is meant to be a race says so
# (`peek`, `poke` in kernels/base.cuh). Fences order more here than on a GPU: all that was done before one, for all that
# is done after a later one.
set -euo pipefail
cd "$(dirname "$0")/.."
python=${PY:-python3} parts=${PARTS:-2}
export PYTHONPATH="$PWD${PYTHONPATH:+:$PYTHONPATH}"

mkdir -p .cache
rm -f .cache/ran-races-*.pickle
failed=0 pids=()
for ((k = 0; k < parts; k++)); do
    "$python" tests/emulator/compiling.py tsan "$python" tests/every_kernel.py --device emulator --times \
        --part "$k/$parts" --ran ".cache/ran-races-$k.pickle" "$@" >".cache/races-$k.log" 2>&1 &
    pids+=($!)
done
for k in "${pids[@]}"; do wait "$k" || failed=1; done
[ $# -gt 0 ] || "$python" tests/every_kernel.py --complete .cache/ran-races-*.pickle || failed=1
grep -hE "tasks,|Error:|^SUMMARY: " .cache/races-*.log | sort | uniq -c || true
echo "races: ${SECONDS} s, $([ $failed = 0 ] && echo none || echo "FAILED, see .cache/races-*.log")"
exit $failed
