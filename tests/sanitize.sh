#!/usr/bin/env bash
# Every kernel under compute-sanitizer on a GPU: PY=python SANITIZER=compute-sanitizer PARTS=8 tests/sanitize.sh [TOOL ..]
# The tasks are dealt to processes that share the GPU; kernels are compiled by a first round without the sanitizer.
# CuPy's own kernels are not watched, and calls of the driver that fail on purpose (it is asked what it knows) not told.
# racecheck looks at shared memory alone: it watches the kernels that have some.
set -euo pipefail
cd "$(dirname "$0")/.."
python=${PY:-python3} sanitizer=${SANITIZER:-compute-sanitizer} parts=${PARTS:-8}
export PYTHONPATH="$PWD${PYTHONPATH:+:$PYTHONPATH}"

round() { # name, options of every_kernel.py, command in front of Python
    local name=$1 options=$2 begin=$SECONDS failed=0 pids=() k
    shift 2
    rm -f .cache/ran-"$name"-*.pickle
    for ((k = 0; k < parts; k++)); do
        "$@" "$python" tests/every_kernel.py --device cuda --watched --times $options --part "$k/$parts" \
            --ran ".cache/ran-$name-$k.pickle" >".cache/sanitize-$name-$k.log" 2>&1 &
        pids+=($!)
    done
    for k in "${pids[@]}"; do wait "$k" || failed=1; done
    "$python" tests/every_kernel.py --complete .cache/ran-"$name"-*.pickle || failed=1
    grep -hE "tasks,|ERROR SUMMARY|RACECHECK SUMMARY|Error:|^=+ +(Invalid|Error|Race|Program)" ".cache/sanitize-$name-"*.log || true
    echo "$name: $((SECONDS - begin)) s, $([ $failed = 0 ] && echo passed || echo FAILED)"
    return $failed
}

mkdir -p .cache
round plain ""
[ $# -gt 0 ] || set -- memcheck racecheck
for tool in "$@"; do
    options=
    watching=(--tool "$tool" --error-exitcode 9 --show-backtrace no)
    case $tool in
        memcheck) watching+=(--report-api-errors no --kernel-regex-exclude kns=cupy) ;;
        racecheck)
            options="--cluster 1x64" # of more blocks it cannot (every_kernel.py says why)
            for name in $("$python" tests/every_kernel.py --shared .cache/ran-plain-*.pickle); do watching+=(--kernel-regex "kne=$name"); done
            ;;
    esac
    if "$sanitizer" "${watching[@]}" "$python" tests/every_kernel.py --watched --planted >".cache/planted-$tool.log" 2>&1 ||
        ! grep -qE "Invalid __global__ write|Race reported" ".cache/planted-$tool.log"; then
        echo "$tool: does not find the planted fault:" && cat ".cache/planted-$tool.log" && exit 1
    fi
    round "$tool" "$options" "$sanitizer" "${watching[@]}"
done
