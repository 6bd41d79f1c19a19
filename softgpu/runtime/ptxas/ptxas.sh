#!/bin/sh
# SPDX-License-Identifier: MIT
# A stand-in for NVIDIA's ptxas: its output is the PTX itself, which our driver loads as a module. `warpfold run` names it to
# Triton. Triton takes the version of PTX from the release, and keeps compiled kernels by the whole text of --version.
#
# One thing is mended: LLVM counts the lines of inline assembly, in which Triton writes loads and stores, as lines of the source.
input=
output=
while [ $# -gt 0 ]; do
    case $1 in
        --version | -V)
            echo "ptxas: the stand-in of the software GPU, release 12.8, $(cksum < "$0")"
            exit 0
            ;;
        -o | --output-file) output=${2-} && shift ;;
        --output-file=*) output=${1#*=} ;;
        *.ptx) input=$1 ;;
    esac
    shift
done
if [ -z "$input" ] || [ -z "$output" ]; then
    echo 'ptxas of the software GPU: name a file of PTX, and the output with -o' >&2
    exit 1
fi
exec awk '
    /\/\/ begin inline asm/ { inside = 1; lines = 0; print; next }
    /\/\/ end inline asm/ { inside = 0 }
    inside && $1 == ".loc" { $3 -= lines }
    inside && $1 != ".loc" { ++lines }
    { print }' "$input" > "$output"
