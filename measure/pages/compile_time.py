#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""compile_time.py [--nvcc NVCC] [--runs N]: the compile time that one call of the library adds to a file, beside CUB's.

Medians of the compiler's processor time (user and system) above that of a file with an empty kernel, in seconds, for
sm_90. The library's files hold the GPU call only.
"""
import argparse
import datetime
import os
import pathlib
import resource
import statistics
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
EMPTY = "#include <cuda_runtime.h>\n__global__ void nothing() {}\n"
CUB = """#include <cub/device/{header}>
cudaError_t call(void* room, std::size_t& bytes, {samples}* out, unsigned long long n, cudaStream_t s) {{
    return {expression};
}}
"""
OURS = """#include "warpfold/{header}"
void call(warpfold::workspace& room, const {sample}* in, {samples}* out, unsigned long long n, cudaStream_t s) {{
    const warpfold::gpu on{{s, &room}};
    {expression};
}}
"""
CALLS = {
    "sum of int32": (
        ("device_reduce.cuh", "const int* in, long long", "cub::DeviceReduce::Reduce(room, bytes, in, out, n, "
         "cuda::std::plus<>{}, 0ll, s)"),
        ("reduce.cuh", "int", "long", "warpfold::reduce(on, in, n, out)")),
    "arg_max of float": (
        ("device_reduce.cuh", "const float* in, float* value, long long", "cub::DeviceReduce::ArgMax(room, bytes, in, value, "
         "out, static_cast<long long>(n), s)"),
        ("reduce.cuh", "float", "warpfold::located<float>", "warpfold::arg_max(on, in, n, out)")),
    "exclusive scan of int32": (
        ("device_scan.cuh", "const int* in, int", "cub::DeviceScan::ExclusiveSum(room, bytes, in, out, n, s)"),
        ("scan.cuh", "int", "int", "warpfold::exclusive_scan(on, in, n, out)")),
    "histogram of uint8": (
        ("device_histogram.cuh", "const unsigned char* in, unsigned", "cub::DeviceHistogram::HistogramEven(room, bytes, in, out, "
         "257, 0, 256, static_cast<long long>(n), s)"),
        ("histogram.cuh", "unsigned char", "unsigned", "warpfold::histogram(on, in, n, out, warpfold::even_bins<int>(0, 256, 256))")),
    "segmented sum of float": (
        ("device_segmented_reduce.cuh", "const float* in, const int* begins, float", "cub::DeviceSegmentedReduce::Sum(room, bytes, "
         "in, out, static_cast<long long>(n), begins, begins + 1, s)"),
        ("segmented_reduce.cuh", "float", "float", "warpfold::segmented_reduce(on, in, reinterpret_cast<const int*>(in), n, out)")),
}


def seconds(nvcc, text, runs):
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / "one.cu"
        source.write_text(text)
        command = [nvcc, "-std=c++20", "-O3", "--extended-lambda", "-arch=sm_90", f"-I{ROOT}/include", "-c", source, "-o",
                   pathlib.Path(folder) / "one.o"]
        taken = []
        for _ in range(runs):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run(command, check=True)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            taken.append(after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)
        return statistics.median(taken)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nvcc", default=os.environ.get("WARPFOLD_NVCC", "nvcc"))
    parser.add_argument("--runs", type=int, default=3)
    given = parser.parse_args()
    base = seconds(given.nvcc, EMPTY, given.runs)
    release = next(line for line in subprocess.run([given.nvcc, "--version"], capture_output=True, text=True,
                                                   check=True).stdout.splitlines() if "release" in line)
    print("# What a call adds to a file's compilation\n")
    print(f"{release}, {datetime.date.today()}; seconds of the compiler's processes, above the {base:.2f} s of a file with an "
          "empty kernel; taken by `measure/pages/compile_time.py`.\n")
    print("| call | ours adds, s | CUB's adds, s | ratio |\n| --- | ---: | ---: | ---: |")
    for name, (peer, own) in CALLS.items():
        header, samples, expression = peer
        theirs = seconds(given.nvcc, CUB.format(header=header, samples=samples, expression=expression), given.runs) - base
        header, sample, samples, expression = own
        ours = seconds(given.nvcc, OURS.format(header=header, sample=sample, samples=samples, expression=expression),
                       given.runs) - base
        print(f"| {name} | {ours:.2f} | {theirs:.2f} | {ours / theirs:.2f} |", flush=True)


if __name__ == "__main__":
    main()
