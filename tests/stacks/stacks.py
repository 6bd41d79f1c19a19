# SPDX-License-Identifier: MIT
"""The Python GPU stacks on the software GPU: their small programs and, where the packages bring them, their own tests; for
Triton, whose package brings none, those of triton_tests, and those of its repository.

`./dev stacks` calls this with the Python of build/stacks/venv. Environment: WARPFOLD_TOOL, the command; WARPFOLD_SUITES, a folder
with a checkout of Triton (triton/) in the place of GitHub.
"""
import argparse
import functools
import importlib.metadata
import importlib.util
import json
import os
import pathlib
import re
import subprocess
import sys
import tarfile
import tempfile
import time
import xml.etree.ElementTree

import cpp_stacks
import cpp_suites
import pytest_cases
import released_tests
from large_stacks import ENVIRONMENTS

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
NOT_THERE = 77  # exit status of a smoke test whose packages are missing: ctest calls it skipped

# Not in requirements/stacks.txt: the wheels of today's PyTorch are 5 GB.
LARGE = ("triton_torch", *ENVIRONMENTS)

# Of the time of Triton 3.4.
TRITON_TESTS = cpp_suites.Suite("triton-lang/triton", "0072ae0b3a4841bba3b75698d4d1b0edd0a96d38", None)

# name: packages whose versions the page names, environment of the program smoke/NAME_smoke.py.
STACKS = {
    "numba": (("numba-cuda", "numba"), {}),
    "numba_mlir": (("numba-cuda-mlir",), {}),
    # CuPy's compiled libraries (CUB, Thrust, cuRAND's generators) hold PTX for compute_120 alone.
    "cupy": (("cupy-cuda13x",), {"SOFTGPU_DEVICE": "RTX5090", "CUPY_CACHE_DIR": str(ROOT / "build/stacks/cupy-cache")}),
    "tinygrad": (("tinygrad",), {"DEV": "CUDA"}),
    "cuda_core": (("cuda-core", "cuda-bindings"), {}),
    "triton": (("triton",), {"TRITON_ALWAYS_COMPILE": "1", "TRITON_CACHE_DIR": str(ROOT / "build/stacks/triton-cache")}),
    # Warp hands PTX over to a driver that is not older than the toolkit that it was built with.
    "warp": (("warp-lang",), {"SOFTGPU_DRIVER_VERSION": "13.4", "WARP_CACHE_PATH": str(ROOT / "build/stacks/warp-cache")}),
    "triton_torch": (("torch", "triton"), {"TRITON_CACHE_DIR": str(ROOT / "build/stacks/triton-cache")}),
    "triton_core": (("torch", "triton"), {"SOFTGPU_DEVICE": "A100", "TRITON_CACHE_DIR": str(ROOT / "build/stacks/triton-cache")}),
    "torch": (("torch",), {}),
}

# Why a test fails, by the last lines of its message: the first expression that matches.
REASONS = [
    (r"URLError", "data of the network, which was not there"),
    (r"No module named '(examples|extra)", "a file of the repository, which was not there"),
    (r"cuGraphInstantiateWithParams(?s:.*)NOT_SUPPORTED", "graphs that kernels launch"),
    (r"type object 'Program' has no|object has no attribute 'handle'|incorrect type .expected cuda|_MemPool is expired|"
     r"IPCAllocationHandle' != |Unsupported code type \"ltoir", "the test is of another week than the release"),
    (r"TestTranscendentalMath|testMethod=test_(float16_log2_special|a_ne_a|isclose_edge_cases|isfinite|isnan)\b",
     "tinygrad's own: its PTX renderer finds no NaN by `setp.ne`, as in later releases by `setp.neu`"),
    (r"Failed to load CUDA module|freshly compiled guest binary", "machine code, which the test has NVRTC make"),
    (r"higher-priority stream should be faster", "expects a stream's priority to make its copies faster"),
    (r"CUDADriverError.*NO_BINARY_FOR_GPU|TestRawPicklable\.py", "machine code, which CuPy has nvcc make (`backend='nvcc'`)"),
    (r"runtime APIs are not declared", "CuPy's own: NVRTC 13 refuses a kernel that the test wants the driver to refuse"),
    (r"AcceleratorError: CUDA error: no kernel image", "a kernel of PyTorch: machine code"),
    (r"assert 'cp\.async\.wait_group 6' in", "Triton's own: LLVM in Triton 3.4.0 writes a tab where the test expects a blank"),
    (r"magma|no kernel image is available", "a library's kernel that is machine code alone, such as MAGMA's"),
    (r"dimension specified as 0 but tensor has no dimensions", "PyTorch's own: its kernel takes no tensor without dimensions"),
    (r"libcurand|curand\w* failed|CURAND_STATUS", "cuRAND's library: machine code"),
    (r"CUSOLVER|cusolver", "cuSOLVER: machine code"),
    (r"CUFFT|cufft", "cuFFT: machine code"),
    (r"CUSPARSE|cusparse", "cuSPARSE: machine code"),
    (r"No module named '(cupy|nvmath|torch)|CURAND", "needs another package, or cuRAND"),
    (r"cudadevrt", "`libcudadevrt.a` is not found, which Numba names for grid groups"),
    (r"machine code cannot be linked", "machine code that is handed to the linker"),
    (r"LTO|ltoir|lto=", "link-time optimisation: NVIDIA's optimiser is not named by WARPFOLD_NVJITLINK"),
    (r"(?i)cubin|fatbin|NO_BINARY_FOR_GPU", "machine code of a kernel"),
    (r"instruction is not supported", "an instruction that is missing"),
    (r"function \w+ takes \d+ arguments", "a function whose declaration and definition differ in their parameters"),
    (r"cannot (read|write|replace) .* out of bounds", "an access out of bounds, by the test itself: see below"),
    (r"IpcGetMemHandle", "memory shared between processes (IPC)"),
    (r"(?i)NOT_SUPPORTED", "a call of the driver that is missing"),
    (r"get_regs_per_thread", "expects that a limit of registers has an effect"),
    (r"MemoryError", "needs more memory of the host"),
    (r"cache_hits|check_pycache|\.nbc'", "counts cache files of Numba's CPU target"),
]


def versions(name):
    version = ENVIRONMENTS[name].version if name in ENVIRONMENTS else importlib.metadata.version
    return ", ".join(f"{package} {version(package)}" for package in STACKS[name][0])


def is_installed(name):
    if name in ENVIRONMENTS:
        return ENVIRONMENTS[name].is_there()
    try:
        return bool(versions(name))
    except importlib.metadata.PackageNotFoundError:
        return False


def run(arguments, limit, python=sys.executable, warnings="ignore", **environment):
    """Python under `warpfold run`, with this filter of warnings: exit status (None: the limit was reached), output, seconds."""
    return cpp_stacks.run([os.environ["WARPFOLD_TOOL"], "run", "--", str(python), "-W", warnings, *arguments], limit,
                          **environment)


def python_of(name):
    return ENVIRONMENTS[name].python if name in ENVIRONMENTS else sys.executable


def smoke(name):
    """Runs the stack's small program."""
    status, output, seconds = run([str(HERE / f"smoke/{name}_smoke.py")], 300, python_of(name), **STACKS[name][1])
    return {"versions": versions(name), "passes": status == 0, "seconds": round(seconds, 1), "output": output[-2000:]}


def numba_modules():
    """Numba's test modules for CUDA, without those of its simulator: their names and files."""
    root = pathlib.Path(importlib.util.find_spec("numba_cuda").origin).parent / "numba"
    files = sorted((root / "cuda/tests").rglob("test_*.py"))
    return {"numba." + ".".join(file.relative_to(root).with_suffix("").parts): file for file in files if "cudasim" not in file.parts}


def has_test_case(file):
    """Whether unittest finds tests in the file. In one without, Numba's runner finds none and runs all that Numba has."""
    return re.search(r"^class ", file.read_text(), re.M) is not None


def reason_of(message):
    return next((reason for expression, reason in REASONS if re.search(expression, message)), "not sorted")


def read_unittest(output):
    """Counts and failures of what unittest has printed. failures: test and message, the first of its subtests."""
    ran = re.search(r"^Ran (\d+) tests? in", output, re.M)
    skipped = re.search(r"skipped=(\d+)", output.rsplit("\nRan ", 1)[-1])
    failures = {}
    for block in re.split(r"^={70}$", output.rsplit("\nRan ", 1)[0], flags=re.M)[1:]:
        title = re.match(r"\s*(?:ERROR|FAIL): (\S+)(?: \((\S+)\))?", block)
        if title:
            failures.setdefault(title[2] or title[1], block.strip())
    return {"ran": int(ran[1]) if ran else 0, "skipped": int(skipped[1]) if skipped else 0, "failed": len(failures),
            "failures": list(failures.items())}


def alone(failures, limit):
    """What of the tests that failed fails in a process of its own too: a kernel's fault makes every later test fail."""
    again = []
    for test in dict(failures):
        status, output, _ = run(["-m", "numba.runtests", test], limit)
        if status != 0:
            messages = [message for _, message in read_unittest(output)["failures"]] or [f"exit status {status}"]
            said = re.findall(r"softgpu: .*", output)
            again.append((test, "\n".join([messages[-1], *said])))
    return again


def module_result(name, status, seconds, read):
    """What the results keep of a module: status and seconds of run(), `read` of its output."""
    result = {"module": name, "seconds": round(seconds, 1), "over": status is not None, **read}
    result["failures"] = [{"test": test, "reason": reason_of(message), "message": message[-400:]}
                          for test, message in read["failures"]]
    result["failed"] = len(result["failures"])
    if status not in (0, 1, None):
        result["died"] = status
    print(f"{name}: {result['ran']} tests, {result['failed']} fail, {result['skipped']} skipped, {result['seconds']} s"
          f"{'' if result['over'] else ', not over'}{', exit status ' + str(status) if 'died' in result else ''}",
          file=sys.stderr, flush=True)
    return result


def numba_suite(limit, only):
    """Each module in a process of its own, for at most `limit` seconds; then each test of unittest that failed."""
    modules = []
    for module, file in numba_modules().items():
        if only and not re.search(only, module):
            continue
        name = module.removeprefix("numba.cuda.tests.")
        if not has_test_case(file):
            # numba.cuda.tests is found by Numba's hook for imports, not where the file lies.
            options = ("--import-mode=append", "-o", "consider_namespace_packages=true", "--pyargs")
            modules.append(pytest_module(name, module, limit, options))
            continue
        status, output, seconds = run(["-m", "numba.runtests", module], limit)
        read = read_unittest(output)
        read["failures"] = alone(read["failures"], limit)
        modules.append(module_result(name, status, seconds, read))
    return modules


def read_junit(file):
    """The same as read_unittest(), of the file that pytest's --junitxml has written; of none: nothing ran."""
    if not file.exists():
        return {"ran": 0, "skipped": 0, "failed": 0, "failures": []}
    tests = xml.etree.ElementTree.parse(file).getroot().iter("testcase")
    answers = [(f"{test.get('classname')}.{test.get('name')}", {answer.tag: answer for answer in test}) for test in tests]
    failures = [(name, answer.get("message", "") + "\n" + (answer.text or "")) for name, parts in answers
                for tag, answer in parts.items() if tag in ("failure", "error")]
    return {"ran": len(answers), "skipped": sum("skipped" in parts for _, parts in answers),
            "failed": len(dict(failures)), "failures": failures}


def pytest_module(name, file, limit, options=(), python=sys.executable, **environment):
    """A file of tests, or with --pyargs a module, in a process of its own; its output is printed if that dies."""
    with tempfile.TemporaryDirectory() as folder:
        answers = pathlib.Path(folder, "answers.xml")
        status, output, seconds = run(["-B", "-m", "pytest", "-q", "-p", "no:cacheprovider", *options,
                                       f"--junitxml={answers}", str(file)], limit, python, **environment)
        if status not in (0, 1):
            print(output[-4000:], file=sys.stderr)
        return module_result(name, status, seconds, read_junit(answers))


def triton_suite(limit, only):
    """Each file of triton_tests, under all checks: a finding fails its test."""
    return [pytest_module(file.stem, file, limit, ["-p", "warpfold_pytest", "--warpfold", "--warpfold-check", "all"],
                          PYTHONPATH=f"{ROOT}/tool/pytest:{ROOT}/examples/triton_tests",
                          TRITON_CACHE_DIR=STACKS["triton"][1]["TRITON_CACHE_DIR"])
            for file in sorted((HERE / "triton_tests").glob("test_*.py")) if not only or re.search(only, file.stem)]


def cupy_tests():
    """The folder with CuPy's own tests, which its source package has: fetched if it is not there."""
    version = importlib.metadata.version("cupy-cuda13x")
    folder = ROOT / f"build/stacks/cupy-{version}"
    if not folder.exists():
        with tempfile.TemporaryDirectory() as downloads:
            subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", "cupy", "--dest",
                            downloads, f"cupy=={version}"], check=True)
            with tarfile.open(pathlib.Path(downloads, f"cupy-{version}.tar.gz")) as package:
                # Without the sources, which Python would import in the place of what is installed.
                wanted = [member for member in package if member.name.split("/")[1:2] in (["tests"], ["pyproject.toml"])]
                package.extractall(folder.parent, wanted, filter="data")
    return folder / "tests/cupy_tests"


def cupy_suite(limit, only):
    """Each file of CuPy's core tests without fusion, or of all of its tests whose path matches, but tests that CuPy marks as slow."""
    root = cupy_tests()
    files = sorted(root.rglob("test_*.py"))
    names = {file: str(file.relative_to(root).with_suffix("")).replace("/", ".") for file in files}
    return [pytest_module(name, file, limit, ["-m", "not multi_gpu and not slow"], **STACKS["cupy"][1])
            for file, name in names.items() if re.search(only or r"^core_tests\.test_", name)]


def torch_suite(limit, only):
    """Each file of torch_tests: PyTorch's own tables of methods, modules and losses, and programs of ours."""
    return [pytest_module(file.stem, file, limit, python=python_of("torch"))
            for file in sorted((HERE / "torch_tests").glob("test_*.py")) if not only or re.search(only, file.stem)]


def triton_core_suite(limit, only):
    """Triton's own language tests, which its wheel does not have, by function: as published, and with PyTorch's work on the device
    done by the host. The limit is that of a test."""
    root = cpp_stacks.sources_of("triton", TRITON_TESTS, ROOT / "build/stacks/sources") / "python/test"
    options = [f"--rootdir={root}", str(root / "unit/language/test_core.py")]
    environment = {**STACKS["triton_core"][1], **({"WARPFOLD_ONLY": only} if only else {})}
    modules = []
    for variant, more in {"as_published": [], "on_host": ["-p", "torch_on_host"]}.items():
        answers = pytest_cases.run_all(run, [*more, *options], python_of("triton_core"), limit, **environment)
        modules += [module_result(f"{variant}.{function}", *answer) for function, answer in answers.items()]
    return modules


def warp_suite(limit, only):
    """Each module of Warp's own tests, which its wheel has, in a process of its own."""
    root = pathlib.Path(importlib.util.find_spec("warp").origin).parent / "tests"
    names = [".".join(file.relative_to(root.parent).with_suffix("").parts) for file in sorted(root.rglob("test_*.py"))]
    modules = []
    for name in names:
        if not only or re.search(only, name):
            # Tests look at warnings that are printed.
            status, output, seconds = run(["-m", "unittest", f"warp.{name}"], limit, warnings="default", **STACKS["warp"][1])
            modules.append(module_result(name, status, seconds, read_unittest(output)))
    return modules


SUITES = {"numba": numba_suite, "cupy": cupy_suite, "triton": triton_suite, "warp": warp_suite, "torch": torch_suite,
          "triton_core": triton_core_suite,
          "tinygrad": functools.partial(released_tests.tinygrad_suite, pytest_module),
          "cuda_core": functools.partial(released_tests.cuda_core_suite, pytest_module)}


def merged(before, modules):
    """The modules of an earlier run, in which those of a later one take their places."""
    later = {module["module"]: module for module in modules}
    kept = [later.pop(module["module"], module) for module in before]
    return kept + list(later.values())


def main():
    parser = argparse.ArgumentParser(prog="./dev stacks", description="The Python GPU stacks on the software GPU: without "
                                     "a name their small programs; with names those stacks' own tests too.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(STACKS)}")
    parser.add_argument("--full", action="store_true", help="all own tests")
    parser.add_argument("--limit", type=float, default=60, metavar="SECONDS", help="for each module of tests (default 60)")
    parser.add_argument("--only", metavar="EXPRESSION", help="only modules whose names match; they take their "
                        "places in the results of an earlier run of all, without which the page is not written")
    parser.add_argument("--smoke-test", choices=STACKS, help=argparse.SUPPRESS)
    parser.add_argument("--results", metavar="FILE", help="JSON; what is run replaces what it holds")
    parser.add_argument("--page", metavar="FILE", nargs="+", help="the pages whose tables are written from the results")
    chosen = parser.parse_args()
    if chosen.smoke_test:
        if not is_installed(chosen.smoke_test):
            return NOT_THERE
        result = smoke(chosen.smoke_test)
        print(result["output"])
        return 0 if result["passes"] else 1
    for name in chosen.names:
        if name not in STACKS:
            parser.error(f"there is no stack {name!r}")
    file = pathlib.Path(chosen.results) if chosen.results else None
    results = json.loads(file.read_text()) if file and file.exists() else {}
    failed = False
    complete = True  # no suite of which only some modules have run
    for name in chosen.names or STACKS:
        if name in ENVIRONMENTS and name in chosen.names and not ENVIRONMENTS[name].fetch():
            failed = True
            continue
        if not is_installed(name):
            print(f"{name}: not installed", file=sys.stderr)
            failed = failed or name in chosen.names or name not in LARGE
            continue
        result = results.setdefault(name, {})
        result["smoke"] = smoke(name)
        print(f"{name}: {'passes' if result['smoke']['passes'] else 'fails'}, {result['smoke']['seconds']} s", file=sys.stderr)
        if not result["smoke"]["passes"]:
            print(result["smoke"]["output"], file=sys.stderr)
            failed = True
        if name in SUITES and (chosen.full or name in chosen.names):
            try:
                modules, date = SUITES[name](chosen.limit, chosen.only), time.strftime("%Y-%m-%d")
            except ValueError as error:  # its tests are not to be had
                print(f"{name}: {error}", file=sys.stderr)
                failed = True
                continue
            if not chosen.only:
                result["suite"] = {"limit": chosen.limit, "date": date, "modules": modules}
            elif "suite" in result:
                suite = result["suite"]
                suite["modules"] = merged(suite["modules"], [{**module, "limit": chosen.limit} for module in modules])
                first = suite["date"].split(" ")[0]
                suite["date"] = date if date == first else f"{first} to {date}"
            else:
                complete = False
        if file and complete:
            file.write_text(json.dumps(results, indent=1))
    if chosen.page and complete:
        import stacks_page
        stacks_page.write([pathlib.Path(page) for page in chosen.page], stacks_page.tables(results))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
