#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# ./dev gpu [MINUTES] [STAGES]: takes all measurements on a machine with a GPU, without a network.
#   MINUTES  time limit for everything, default 9; the log reports what was cut off
#   STAGES   default: ladder sanitize ncu
#     facts      the card and the system; always runs
#     build      the tree; runs if a stage needs it
#     ladder     reduce in nine shapes, then all ladders once, with pages and plots
#     ladders    all ladders once (reduce on 2^24 elements), with pages and plots, and under compute-sanitizer
#     published  the reductions whose times the lectures print, at their sizes, for docs/lectures/tables.md
#     sanitize   the steps of reduce under compute-sanitizer
#     ncu        the steps of reduce under Nsight Compute
#     counters   golden counters for tests/counters
#     model      Nsight Compute's figures of every launch of every ladder, which the model of docs/model.md is held against;
#                MODEL_SECONDS of it at most, default 200; three sizes of all take 18 minutes
#     calibrate  microbenchmarks of the figures that the model of docs/model.md takes, and the card's file made of them
#     library    the library's tests, compute-sanitizer, benchmarks beside the peers; LIBRARY="scan scan_tune select_gpu"
#                selects benchmarks, also those that only tune, and tests
#     compare    the library's benchmarks of this tree and of the older tree in .baseline/, alternately, and the ratio of
#                their times; COMPARE="scan reduce" selects benchmarks
# Output in $OUT, default build/gpu/out: session.log, facts.json, ladder.tar.gz (tables and JSON), ladders.json,
# ladders.tar.gz, published.json, sanitizer.tar.gz, ncu.tar.gz, counters.json (for tests/counters/golden/) with counters.tar.gz (ncu's own
# tables), model.json, calibrate.json and card.json, library.tar.gz. docs/measuring.md makes docs/results/ from them.
set -uo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cd "$root" || exit 1
minutes=9
if [[ ${1:-} =~ ^[0-9]+$ ]]; then
    minutes=$1
    shift
fi
stages=" ${*:-ladder sanitize ncu} "
for stage in $stages; do
    case $stage in
        facts | build | ladder | ladders | published | sanitize | ncu | counters | model | calibrate | library | compare) ;;
        *) echo "gpu: there is no stage '$stage': facts build ladder ladders published sanitize ncu counters model calibrate library compare" >&2
            exit 2 ;;
    esac
done
out=${OUT:-$root/build/gpu/out}
work=$root/build/gpu/work
preset_dir=$root/build/gpu
tool=$preset_dir/tool/warpfold
deadline=$((SECONDS + 60 * minutes - 10))
failures=0

rm -rf "$work"
mkdir -p "$out" "$work"/ladder "$work"/sanitizer "$work"/ncu
exec > >(tee "$out/session.log") 2>&1
log_writer=$!
trap 'exec >&- 2>&-; wait $log_writer' EXIT

say() { printf '%4d s  %s\n' "$SECONDS" "$*"; }

# within SECONDS COMMAND...: with a time limit, and never beyond the end of the session.
within() {
    local limit=$1 left=$((deadline - SECONDS)) status
    shift
    [ "$left" -lt "$limit" ] && limit=$left
    if [ "$limit" -le 0 ]; then
        say "no time left for: $*"
        failures=$((failures + 1))
        return 124
    fi
    timeout --kill-after=5 "$limit" "$@"
    status=$?
    [ $status -eq 124 ] && say "cut off after $limit s: $*"
    [ $status -eq 0 ] || failures=$((failures + 1))
    return $status
}

# Unpacks the packages of .gpu-debs/ beside the build, not into the system.
bring_packages() {
    local prefix=$preset_dir/packages deb libraries
    ls .gpu-debs/*.deb >/dev/null 2>&1 || return 0
    rm -rf "$prefix"
    mkdir -p "$prefix"
    for deb in .gpu-debs/*.deb; do
        dpkg -x "$deb" "$prefix" || return 1
    done
    libraries=$prefix/usr/lib/$(gcc -print-multiarch)
    export PATH=$PATH:$prefix/usr/bin
    export CPATH=$prefix/usr/include${CPATH:+:$CPATH}
    export LIBRARY_PATH=$libraries${LIBRARY_PATH:+:$LIBRARY_PATH}
    export LD_LIBRARY_PATH=$libraries${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
    export CMAKE_PREFIX_PATH=$prefix/usr${CMAKE_PREFIX_PATH:+:$CMAKE_PREFIX_PATH}
    export PKG_CONFIG_PATH=$libraries/pkgconfig:$prefix/usr/share/pkgconfig PKG_CONFIG_SYSROOT_DIR=$prefix
    say "using the packages of .gpu-debs"
}

facts() {
    nvidia-smi --format=csv --query-gpu=name,compute_cap,driver_version,memory.total,clocks.max.sm,clocks.max.mem ||
        { say "no GPU answers nvidia-smi"; exit 1; }
    uname -srm
    python3 - "$out/facts.json" <<'PYTHON' || exit 1
import datetime, json, subprocess, sys

def ask(*command):
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""

keys = ["name", "compute_cap", "driver_version", "memory.total", "clocks.max.sm", "clocks.max.mem", "power.limit"]
values = ask("nvidia-smi", "--query-gpu=" + ",".join(keys), "--format=csv,noheader").splitlines()[0].split(", ")
facts = dict(zip(keys, values))
facts["date"] = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC")
facts["nvcc"] = next((l for l in ask("nvcc", "--version").splitlines() if "release" in l), "")
facts["ncu"] = (ask("ncu", "--version").splitlines() or [""])[-1]
facts["compiler"] = (ask("g++", "--version").splitlines() or [""])[0]
release = dict(line.rstrip("\n").split("=", 1) for line in open("/etc/os-release") if "=" in line)
facts["system"] = release.get("PRETTY_NAME", "").strip('"')
facts["processors"] = int(ask("nproc") or 0)
json.dump(facts, open(sys.argv[1], "w"), indent=2)
PYTHON
}

build() {
    local architecture
    architecture=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader | head -n 1 | tr -d '. ')
    say "building for compute capability ${architecture}"
    within 60 cmake --preset gpu "-DWARPFOLD_CUDA_ARCHITECTURES=$architecture" >"$work/configure.log" 2>&1 ||
        { tail -n 20 "$work/configure.log"; say "configuring failed"; exit 1; }
    grep -E '^-- (nvcc|No nvcc)' "$work/configure.log"
    NINJA_STATUS='[%f/%t %es] ' within 420 ninja -k 0 -C "$preset_dir" warpfold_command >"$work/build.log" 2>&1 ||
        { grep -E -A20 'error|FAILED' "$work/build.log" | head -n 60; cp "$work/build.log" "$out"; say "the build failed"
        [ -x "$tool" ] && [ -e "$preset_dir/lib/libwarpfold_ladder_reduce.so" ] || exit 1
        say "going on with what was built"; }
    say "built"
    within 20 "$tool" devices
}

ladder() {
    local n block name
    for n in 4194304 67108864 268435456; do
        for block in 128 256 1024; do
            name=$work/ladder/reduce-$n-$block
            within 60 "$tool" ladder reduce --device gpu --n $n --block $block --json "$name.json" \
                >"$name.txt" 2>"$name.err" ||
                { say "the ladder failed at n = $n, block $block"; tail -n 5 "$name.err"; }
            say "ladder: n = $n, block $block"
        done
    done
    cat "$work/ladder/reduce-268435456-256.txt" 2>/dev/null
    all_ladders
    tar -C "$work" -czf "$out/ladder.tar.gz" ladder
}

all_ladders() {
    within 120 "$tool" ladder all --claims --device gpu --samples 11 --json "$out/ladders.json" \
        >"$work/ladder/all.txt" 2>"$work/ladder/all.err" ||
        { say "not all ladders are as they ought to be"; tail -n 5 "$work/ladder/all.err"; }
    [ -s "$out/ladders.json" ] || one_by_one
    say "ladders: all"
}

# If one ladder crashed the others: each in a process of its own, and their output merged.
one_by_one() {
    local name names
    mkdir -p "$work/ladder/alone"
    names=$(sed -n 's/^ *{"\([a-z]*\)",.*/\1/p' ladder/engine/definition/catalogue.hpp)
    for name in $names; do
        within 30 "$tool" ladder "$name" --device gpu --samples 11 $([ "$name" = reduce ] && echo --n 2^24) \
            --json "$work/ladder/alone/$name.json" >"$work/ladder/alone/$name.txt" 2>"$work/ladder/alone/$name.err" ||
            { say "$name is not as it ought to be"; tail -n 2 "$work/ladder/alone/$name.err"; }
    done
    python3 - "$work/ladder/alone" $names >"$out/ladders.json" <<'PYTHON'
import json, pathlib, sys

folder = pathlib.Path(sys.argv[1])
print(json.dumps([json.loads(f.read_text()) for f in (folder / f"{name}.json" for name in sys.argv[2:]) if f.exists()]))
PYTHON
}

# All ladders and laboratories once, and their pages of docs/results/.
ladders() {
    local date pages=$work/ladder/pages
    all_ladders
    date=$(date -u +%F)
    mkdir -p "$pages"
    within 20 python3 measure/pages/ladders_page.py "$out/ladders.json" --date "$date" >"$pages/ladders.md"
    within 20 python3 measure/pages/verdicts.py "$out/ladders.json" --date "$date" >"$pages/ladders.json"
    within 20 python3 measure/pages/plots.py "$out/ladders.json" --date "$date" "$pages"
    tail -n 16 "$work/ladder/all.txt"
    tar -C "$work" -czf "$out/ladders.tar.gz" ladder
    sanitize_all_ladders
}

# The sizes, blocks, types and steps of the lectures' tables; a shape that fails leaves the others.
published() {
    local n block kind finish steps name
    mkdir -p "$work/published"
    while read -r n block kind finish steps; do
        name=$work/published/$n-$block-$kind-$finish
        within 100 "$tool" ladder reduce --device gpu --n "$n" --block "$block" --type "$kind" --finish "$finish" \
            --steps "$steps" --no-claims --json "$name.json" </dev/null >"$name.txt" 2>"$name.err" ||
            { say "published: n = $n, block $block, $kind failed"; tail -n 2 "$name.err"; rm -f "$name.json"; }
        say "published: n = $n, block $block, $kind, finished on the $finish"
    done < <(python3 measure/pages/lecture_tables.py --shapes)
    within 20 python3 measure/pages/lecture_tables.py --distil "$work"/published/*.json --date "$(date -u +%F)" >"$out/published.json"
}

sanitize_all_ladders() {
    local left=$((deadline - SECONDS - 10))
    within 240 python3 measure/session/sanitize_ladders.py "$out/ladders.json" --tool "$tool" --out "$work/sanitizer" \
        --seconds $((left < 230 ? left : 230)) || say "compute-sanitizer has found something, or memcheck had no time"
    tar -C "$work" -czf "$out/sanitizer.tar.gz" sanitizer
}

# The ids of the ladder's steps that run on the device, one per line, in order: `all`, `sure` (right on every
# architecture by their own claim), `lucky` (right only by luck, by the ladder's own claim).
step_ids() {
    python3 - "$1" "$work/ids.json" <<'PYTHON'
import json, sys

for step in json.load(open(sys.argv[2]))["steps"]:
    if step["skipped"] or not step["on_device"]:
        continue
    if sys.argv[1] == "all" or bool(step["caution"]) == (sys.argv[1] == "lucky"):
        print(step["id"])
PYTHON
}

list_steps() {
    [ -s "$work/ids.json" ] || within 30 "$tool" ladder reduce --device gpu --n 65536 --block 128 --samples 1 \
        --json "$work/ids.json" >/dev/null
}

sanitize() {
    local kind check steps name
    list_steps || return 1
    for kind in sure lucky; do
        steps=$(step_ids $kind | paste -sd,)
        [ -n "$steps" ] || continue
        for check in memcheck racecheck synccheck initcheck; do
            name=$work/sanitizer/$kind-$check
            if within 60 compute-sanitizer --tool $check --error-exitcode 9 --log-file "$name.log" \
                "$tool" ladder reduce --device gpu --n 65536 --block 128 --samples 1 --steps "$steps" \
                >"$name.out" 2>&1; then
                say "$check, steps $steps: nothing found"
            elif [ $kind = lucky ]; then
                failures=$((failures - 1))
                say "$check, steps $steps (right only by luck): $(tail -n 1 "$name.log")"
            else
                say "$check, steps $steps: $(tail -n 1 "$name.log")"
            fi
        done
    done
    tar -C "$work" -czf "$out/sanitizer.tar.gz" sanitizer
}

ncu_counters() {
    local step metrics
    list_steps || return 1
    metrics=$(python3 measure/session/compare_ncu.py --metrics)
    for step in $(step_ids all); do
        within 60 ncu --clock-control none --csv --page raw --print-units base --metrics "$metrics" \
            --log-file "$work/ncu/$step.csv" "$tool" ladder reduce --device gpu --n 1048576 --block 128 --samples 1 \
            --steps "$step" --json "$work/ncu/$step.json" >"$work/ncu/$step.out" 2>&1 ||
            { say "ncu failed at step $step"; tail -n 3 "$work/ncu/$step.out"; }
        say "ncu: step $step, $(grep -c '^"[0-9]' "$work/ncu/$step.csv" 2>/dev/null) launches"
    done
    tar -C "$work" -czf "$out/ncu.tar.gz" ncu
}

# Golden counters for tests/counters. Builds only that program, with machine code for this card from the PTX that the
# software GPU runs.
golden_counters() {
    local architecture program=$work/counter_program
    architecture=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader | head -n 1 | tr -d '. ')
    within 100 nvcc -std=c++20 -O3 -t 4 -gencode "arch=compute_75,code=sm_$architecture" -I "$root" \
        tests/counters/*.cu -o "$program" || { say "the program of tests/counters does not compile"; return 1; }
    say "counters: built"
    within 160 python3 measure/session/counter_goldens.py --program "$program" --facts "$out/facts.json" \
        --out "$out/counters.json" --work "$work/counters" --seconds 140
    say "counters: done"
    tar -C "$work" -czf "$out/counters.tar.gz" counters
}

# Every launch of every ladder, taken by ncu.
model() {
    local seconds=${MODEL_SECONDS:-200} left=$((deadline - SECONDS - 10))
    [ "$left" -lt "$seconds" ] && seconds=$left
    within $((seconds + 20)) python3 measure/session/model_probe.py --tool "$tool" --out "$out/model.json" \
        --work "$work/model" --seconds "$seconds" || say "model: not all of it"
    say "model: done"
}

# The card's file, from the microbenchmarks of measure/calibrate. Builds only them.
calibrate() {
    local architecture program=$work/calibrate
    architecture=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader | head -n 1 | tr -d '. ')
    within 100 nvcc -std=c++20 -O3 -I "$root" -arch="sm_$architecture" measure/calibrate/calibrate.cu -o "$program" ||
        { say "the program of measure/calibrate does not compile"; return 1; }
    say "calibrate: built"
    within 100 "$program" >"$out/calibrate.json" || { say "the microbenchmarks failed"; return 1; }
    within 20 python3 measure/calibrate/card_file.py "$out/calibrate.json" --date "$(date -u +%F)" >"$out/card.json" ||
        { say "no card.json could be made"; return 1; }
    say "calibrate: card.json is for --card-file"
}

# library_program NAME SOURCE [OBJECTS...]: compiled for this card.
library_program() {
    local name=$1 source=$2
    shift 2
    within 240 nvcc -std=c++20 -O3 --extended-lambda -I "$root" -I "$root/include" -arch="sm_$architecture" \
        "$source" "$@" -o "$work/library/$name" 2>"$work/library/$name.log" ||
        { say "$source does not compile"; tail -n 20 "$work/library/$name.log" | cut -c 1-300; }
}

# Whether LIBRARY names a benchmark or test, or names none and the benchmark does not only tune.
selected() {
    local name
    name=$(basename "$1" .cu)
    if [ -n "${LIBRARY:-}" ]; then [[ " $LIBRARY " == *" $name "* ]]; else [[ $name != *_tune ]]; fi
}

# The library's tests, also under compute-sanitizer, and then its benchmarks beside the peers. Programs are compiled in
# parallel and run one after the other.
library() {
    local architecture check name source further objects=() measuring=() building=() checking=() tests=() timed=()
    for source in tests/library/*_gpu.cu tests/library/*/*_gpu.cu tests/library/large.cu; do
        selected "$source" && tests+=("$source")
    done
    for source in benchmarks/library/*.cu; do
        selected "$source" && timed+=("$source")
    done
    architecture=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader | head -n 1 | tr -d '. ')
    mkdir -p "$work/library"
    for source in measure/ceilings.cu measure/flush.cu measure/facts.cpp measure/timer.cpp; do
        objects+=("$work/library/$(basename "$source").o")
        library_program "$(basename "$source").o" "$source" -c &
        measuring+=($!)
    done
    for source in "${tests[@]}"; do
        name=$(basename "$source" .cu)
        further=("${source%_gpu.cu}_other.cu")
        [ -f "${further[0]}" ] || further=()
        # The shared runtime, a function of which a test takes the place of.
        library_program "test-$name" "$source" "${further[@]}" -lgtest_main -lgtest -cudart shared -Xlinker \
            "-rpath=$(dirname "$(dirname "$(readlink -f "$(command -v nvcc)")")")/lib64" &
        building+=($!)
    done
    wait "${measuring[@]}"
    for source in "${timed[@]}"; do
        library_program "time-$(basename "$source" .cu)" "$source" "${objects[@]}" &
        building+=($!)
    done
    wait "${building[@]}"
    say "library: built"
    for source in "${tests[@]}"; do
        name=$(basename "$source" .cu)
        if WARPFOLD_TEST_LARGE=1 within 60 "$work/library/test-$name" >"$work/library/$name.txt" 2>&1; then
            say "library: $name is right"
        else
            say "library: $name is wrong here: $(grep -m 1 FAILED "$work/library/$name.txt")"
        fi
    done
    for source in "${timed[@]}"; do
        name=$(basename "$source" .cu)
        within 100 "$work/library/time-$name" >"$work/library/$name.tsv"
        say "library: $name timed"
    done
    for source in "${tests[@]}"; do
        name=$(basename "$source" .cu)
        [ "$name" = large ] && continue
        for check in memcheck racecheck synccheck initcheck; do
            within 60 compute-sanitizer --tool $check --error-exitcode 9 "$work/library/test-$name" \
                >"$work/library/$name-$check.txt" 2>&1 &
            checking+=($!)
        done
        for check in "${checking[@]}"; do
            wait "$check" || failures=$((failures + 1))
        done
        checking=()
        for check in memcheck racecheck synccheck initcheck; do
            say "library, $name, $check: $(tail -n 1 "$work/library/$name-$check.txt")"
        done
    done
    tar -C "$work/library" -czf "$out/library.tar.gz" --exclude='test-*' --exclude='time-*' --exclude='*.o' .
}

# The library's benchmarks of two trees, each built with its own headers, run alternately.
compare() {
    local architecture tree name source turn names=() building=()
    architecture=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader | head -n 1 | tr -d '. ')
    [ -d .baseline/benchmarks/library ] || { say "compare: there is no tree in .baseline/"; failures=$((failures + 1)); return 1; }
    for source in benchmarks/library/*.cu; do
        name=$(basename "$source" .cu)
        [[ $name == *_tune ]] && continue
        if [ -z "${COMPARE:-}" ] || [[ " $COMPARE " == *" $name "* ]]; then
            [ -f ".baseline/$source" ] && names+=("$name") || say "compare: the older tree has no benchmark $name"
        fi
    done
    for tree in .baseline .; do
        mkdir -p "$work/compare/$tree"
        for name in "${names[@]}"; do
            within 300 nvcc -std=c++20 -O3 --extended-lambda -I "$root/$tree" -I "$root/$tree/include" \
                -arch="sm_$architecture" "$tree/benchmarks/library/$name.cu" "$tree"/measure/{ceilings,flush}.cu \
                "$tree"/measure/{facts,timer}.cpp -o "$work/compare/$tree/$name" 2>"$work/compare/$tree/$name.log" ||
                say "$tree: $name does not compile" &
            building+=($!)
        done
    done
    wait "${building[@]}"
    say "compare: built"
    for turn in 1 2; do
        for name in "${names[@]}"; do
            within 100 "$work/compare/.baseline/$name" >"$work/compare/$name.before.$turn.tsv"
            within 100 "$work/compare/./$name" >"$work/compare/$name.after.$turn.tsv"
            say "compare: $name, turn $turn"
        done
        python3 measure/session/compare_trees.py "$work/compare" >"$out/compare.txt" || failures=$((failures + 1))
        tar -C "$work/compare" -czf "$out/compare.tar.gz" --exclude='*.log' $(cd "$work/compare" && ls ./*.tsv)
    done
    cat "$out/compare.txt"
}

bring_packages || { say "a package of .gpu-debs does not unpack"; exit 1; }
facts
[ "$stages" = " facts " ] && exit 0
[[ "${stages/ counters /}" =~ ^[[:space:]]*((library|compare|calibrate)[[:space:]]*)*$ ]] || build
[[ $stages == *" ladder "* ]] && ladder
[[ $stages == *" ladders "* ]] && ladders
[[ $stages == *" published "* ]] && published
[[ $stages == *" sanitize "* ]] && sanitize
[[ $stages == *" ncu "* ]] && ncu_counters
[[ $stages == *" counters "* ]] && golden_counters
[[ $stages == *" model "* ]] && model
[[ $stages == *" calibrate "* ]] && calibrate
[[ $stages == *" compare "* ]] && compare
[[ $stages == *" library "* ]] && library
say "done, $failures of the commands failed or were cut off"
ls -l "$out"
[ $failures -eq 0 ]
