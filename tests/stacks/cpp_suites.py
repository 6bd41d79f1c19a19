# SPDX-License-Identifier: MIT
"""The C++ suites that judge the software GPU: where their sources are, how each program is compiled and run, and what its
output says."""
import dataclasses
import itertools
import pathlib
import re


@dataclasses.dataclass
class Program:
    """One executable of a suite. Paths are relative to the suite's folder."""
    name: str
    group: str
    sources: list
    includes: list = dataclasses.field(default_factory=list)
    flags: list = dataclasses.field(default_factory=list)
    runs: list = dataclasses.field(default_factory=lambda: [[]])  # the arguments of each run
    architecture: str = "compute_80"
    tests: str = ""  # the framework whose output counts tests: gtest, catch2; without one each run is a test
    wrong: str = ""  # what a run prints whose result is wrong, where its exit status does not say so
    sizes: dict = dataclasses.field(default_factory=dict)  # expression: text of the same in the copy that is compiled


@dataclasses.dataclass
class Suite:
    """A public repository at one commit, or a tag."""
    repository: str
    commit: str
    programs: object  # folder of the sources -> its programs
    needs: dict = dataclasses.field(default_factory=dict)  # folder: (repository, commit) of what it is built with


def read_gtest(output):
    """Names of the tests that began, ended, failed and were skipped."""
    def names(mark):
        return list(dict.fromkeys(re.findall(rf"^\[ *{mark} *\] (\w\S*?)(?:, where .*)?(?: \(\d+ ms\))?$", output, re.M)))
    failed, skipped = names("FAILED"), names("SKIPPED")
    return names("RUN"), names("OK") + failed + skipped, failed, skipped


def read_catch2(output):
    """The same, of Catch2's XML."""
    cases = [(re.match(r'<TestCase name="([^"]*)"', part)[1], re.search(r'<OverallResult success="(\w+)"', part))
             for part in re.split(r"(?=<TestCase )", output)[1:]]
    return ([name for name, _ in cases], [name for name, result in cases if result],
            [name for name, result in cases if result and result[1] != "true"], [])


READERS = {"gtest": read_gtest, "catch2": read_catch2}


# --- llm.c --------------------------------------------------------------------------------------------------------------

# GPT-2's batch and context, for whose products a software GPU is too slow, and the repetitions of the timings.
LLMC_SIZES = {r"\b(?:const )?int B = (?:8|4);": "int B = 2;", r"\bint T = 1024;": "int T = 64;",
              r"\bint V = 50257;": "int V = 1031;", r"\bint Vp = 50304;": "int Vp = 1088;",
              r"\bint L = 12;": "int L = 1;", r"\brepeat_times = \d+;": "repeat_times = 1;"}


def llmc_programs(folder):
    """The kernels of dev/cuda, each of whose numbers runs alone: the program compares it with its own result on the CPU."""
    programs = []
    for file in sorted((folder / "dev/cuda").glob("*.cu")):
        text = file.read_text()
        if file.stem == "nccl_all_reduce" or "int main" not in text:
            continue
        numbers = sorted({int(number) for number in re.findall(r"^\s*case (\d+):", text, re.M)}) or [1]
        programs.append(Program(file.stem, "dev/cuda", [f"dev/cuda/{file.name}"], ["dev/cuda"],
                                ["-O3", "--use_fast_math", "-Xcompiler", "-fopenmp", "-lcublas", "-lcublasLt"],
                                [[str(number)] for number in numbers], wrong=r"Mismatch", sizes=LLMC_SIZES))
    return programs


# --- CUTLASS ------------------------------------------------------------------------------------------------------------

CUTLASS_FLAGS = ["-std=c++17", "-O2", "--expt-relaxed-constexpr", "-lcuda"]
CUTLASS_INCLUDES = ["include", "tools/util/include"]
CUTLASS_UNITS = CUTLASS_INCLUDES + ["test/unit/common", "test/unit"]
# Sizes by the examples' own options; of those that have none, in the copy that is compiled.
CUTLASS_SIZES = {r"\blength_m = 5120;": "length_m = 256;", r"\blength_([nk]) = 4096;": r"length_\1 = 128;",
                 r"problem_size\(4096, 4096, 8192\)": "problem_size(256, 192, 128)",
                 r"problem_size\(321, 256, 512\)": "problem_size(33, 64, 64)"}
CUTLASS_SMALL = ["--m=256", "--n=192", "--k=128", "--iterations=1"]
CUTLASS_EXAMPLES = {
    "00_basic_gemm/basic_gemm.cu": ["200", "120", "72"], "01_cutlass_utilities/cutlass_utilities.cu": [],
    "02_dump_reg_shmem/dump_reg_shmem.cu": [], "04_tile_iterator/tile_iterator.cu": [],
    "05_batched_gemm/batched_gemm.cu": [],
    "12_gemm_bias_relu/gemm_bias_relu.cu": [], "14_ampere_tf32_tensorop_gemm/ampere_tf32_tensorop_gemm.cu": CUTLASS_SMALL,
    "15_ampere_sparse_tensorop_gemm/ampere_sparse_tensorop_gemm.cu": [],
    "16_ampere_tensorop_conv2dfprop/ampere_tensorop_conv2dfprop.cu":
        ["--n=1", "--h=8", "--w=8", "--c=32", "--k=32", "--r=3", "--s=3", "--ref-check", "--iterations=1"],
    "24_gemm_grouped/gemm_grouped.cu": ["--groups=3", "--m=256", "--n=128", "--k=64", "--iterations=1"],
    "27_ampere_3xtf32_fast_accurate_tensorop_gemm/27_ampere_3xtf32_fast_accurate_tensorop_gemm.cu": CUTLASS_SMALL,
    "35_gemm_softmax/gemm_softmax.cu": ["--m=128", "--n=128", "--k=64", "--batch_count=2", "--iterations=1"],
    "45_dual_gemm/dual_gemm.cu": [],
    "47_ampere_gemm_universal_streamk/ampere_gemm_universal_streamk.cu": CUTLASS_SMALL,
    "48_hopper_warp_specialized_gemm/48_hopper_warp_specialized_gemm.cu": CUTLASS_SMALL,
    "54_hopper_fp8_warp_specialized_gemm/54_hopper_fp8_warp_specialized_gemm.cu": CUTLASS_SMALL,
}


def cutlass_programs(folder):
    """Examples for sm_80 and earlier, two for sm_90a, and the unit tests of device-wide GEMM for sm_80."""
    programs = []
    for file, arguments in CUTLASS_EXAMPLES.items():
        if (folder / "examples" / file).exists():
            programs.append(Program(pathlib.Path(file).parent.name, "examples", [f"examples/{file}"],
                                    CUTLASS_INCLUDES + ["examples/common"], CUTLASS_FLAGS, [arguments],
                                    architecture="compute_90a" if "hopper" in file else "compute_80", sizes=CUTLASS_SIZES, wrong=r"(?i)\bfailed\b|incorrect|mismatch"))
    common = ["test/unit/test_unit.cpp", "test/unit/common/filter_architecture.cpp"]
    for place in ("gemm/device", "gemm/warp", "gemm/threadblock"):
        for file in sorted((folder / "test/unit" / place).glob("*.cu")):
            if "sm80" in file.stem or file.stem.startswith("simt_"):
                programs.append(Program(file.stem, f"test/unit/{place}", [str(file.relative_to(folder)), *common],
                                        CUTLASS_UNITS, CUTLASS_FLAGS + ["-lgtest"], tests="gtest"))
    return programs


# --- CUB ----------------------------------------------------------------------------------------------------------------

# Some tiles, where the tests take up to 5,000,000 elements.
CUB_SIZES = {r"\bmax_items( *)= \d{6,};": r"max_items\1= 50000;", r"\b1920, 1080\)": "192, 108)"}
CUB_FLAGS = ["-std=c++17", "-O2", "--extended-lambda", "-DC2H_HAS_CURAND=0", "-lcuda", "-lnvrtc"]
CUB_TESTS = ("reduce", "reduce_by_key", "reduce_fp_inf", "reduce_iterators", "scan", "scan_by_key", "scan_iterators",
             "histogram", "segmented_reduce", "segmented_reduce_iterators")


def cub_variants(text):
    """The definitions that the comments %PARAM% of a test ask for; launches from kernels are left out."""
    parameters = re.findall(r"//\s+%PARAM%\s+(\S+)\s+(\S+)\s+(\S+)", text)
    values = [[(name, label, value) for value in choices.split(":") if not (name == "TEST_LAUNCH" and value == "1")]
              for name, label, choices in parameters]
    return [list(combination) for combination in itertools.product(*values)]


def cub_programs(folder):
    """CUB's Catch2 tests of device-wide calls."""
    programs = []
    includes = ["libcudacxx/include", "cub", "thrust", "cub/test", "../catch2/single_include", "../metal/include"]
    common = ["cub/test/catch2_runner.cpp", "cub/test/catch2_runner_helper.cu", "cub/test/c2h/generators.cu"]
    for test in CUB_TESTS:
        file = folder / f"cub/test/catch2_test_device_{test}.cu"
        for variant in cub_variants(file.read_text()) if file.exists() else []:
            definitions = [f"-D{name}={value}" for name, _, value in variant]
            name = ".".join([test] + [f"{label}_{value}" for _, label, value in variant])
            programs.append(Program(name, f"DeviceXXX: {test}", [str(file.relative_to(folder)), *common], includes,
                                    [*CUB_FLAGS, *definitions],
                                    [["-r", "xml"]], tests="catch2", sizes=CUB_SIZES))
    return programs


# --- HeCBench -----------------------------------------------------------------------------------------------------------

# Sizes and repetitions by the programs' own arguments; in the copy that is compiled, of programs that have no argument for them.
HECBENCH_SIZES = {r"grid_size = 12\*7\*8\*9\*10": "grid_size = 8", r"total = 1 << 27": "total = 1 << 14",
                  r"numElements = 128\*128\*128\*2": "numElements = 128*128*8"}
HECBENCH = {
    "reduction": [["262144", "1"]], "atomicReduction": [["65536", "256"]], "segment-reduce": [["1"]], "scan": [["65536", "1"]],
    "scan2": [["1", "4096", "64"]], "scan3": [["1", "65536"]], "bscan": [["1"]], "stencil1d": [[]], "stencil3d": [["32"]],
    "bitonic-sort": [["14", "1"]], "sort": [["0", "1"]], "radixsort": [["1"]], "sortKV": [["1024", "1"]], "shuffle": [["1", "1"]],
    "bincount": [["1024", "1"]], "histogram": [[]],
}


def hecbench_programs(folder):
    """Its CUDA programs of reduction, scan, stencils and sorting."""
    programs = []
    for name, runs in HECBENCH.items():
        place = next((place for place in (folder / f"src/{name}-cuda", folder / f"{name}-cuda") if place.is_dir()), folder)
        files = [file for file in place.iterdir() if file.suffix in (".cu", ".cpp")]
        included = set(re.findall(r'#include "(\S+)"', "".join(file.read_text(errors="replace") for file in files)))
        sources = sorted(str(file.relative_to(folder)) for file in files if file.name not in included)
        if sources:
            base = str(place.relative_to(folder).parent)
            programs.append(Program(name, "src", sources, [f"{base}/{name}-cuda", f"{base}/include", f"{base}/{name}-sycl"],
                                    ["-std=c++17", "-O3"], runs, sizes=HECBENCH_SIZES,
                                    wrong=r"\bFAIL(ED)?\b|(?i:mismatch|incorrect)|\bError\b"))
    return programs


SUITES = {
    "llmc": Suite("karpathy/llm.c", "836ec640f39a9bf6148ee96fc1c5445f4abeeeb7", llmc_programs),
    "cutlass": Suite("NVIDIA/cutlass", "v4.0.0", cutlass_programs),
    "hecbench": Suite("zjin-lcf/HeCBench", "4f02dacbd12f506a82d92fc26036307929b93c90", hecbench_programs),
    "cub": Suite("NVIDIA/cccl", "v2.5.0", cub_programs, {"catch2": ("catchorg/Catch2", "v2.13.10"),
                                                         "metal": ("brunocodutra/metal", "v2.1.4")}),
}
