# SPDX-License-Identifier: MIT
"""The script of the C++ suites: what it reads out of their outputs, its tables, and a stand-in for a suite from sources to
results. With WARPFOLD_TOOL and WARPFOLD_NVCC in the environment the stand-in is a CUDA program on the software GPU."""
import contextlib
import io
import json
import os
import pathlib
import subprocess
import sys
import tarfile
import tempfile
import unittest
import unittest.mock

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import cpp_page
import cpp_stacks
import cpp_suites
import stacks_page

GTEST = """[==========] Running 3 tests from 1 test suite.
[ RUN      ] SM80_Gemm.128x64
[       OK ] SM80_Gemm.128x64 (12 ms)
[ RUN      ] SM80_Gemm.64x64
[  FAILED  ] SM80_Gemm.64x64 (3 ms)
[ RUN      ] SM80_Gemm.sparse
[  SKIPPED ] SM80_Gemm.sparse (0 ms)
[ RUN      ] SM80_Gemm.last
[  FAILED  ] 1 test, listed below:
[  FAILED  ] SM80_Gemm.64x64
"""
CATCH2 = """<Catch name="reduce"><Group name="reduce">
<TestCase name="Sum of ints" tags="[reduce]"><OverallResult success="true"/></TestCase>
<TestCase name="Sum of halves" tags="[reduce]"><Expression success="false"/><OverallResult success="false"/></TestCase>
<TestCase name="Sum of a struct" tags="[reduce]"><Section name="a"/>"""
# A program whose second kernel gives a wrong result and whose first one has a race.
PROGRAM = r"""#include <cstdio>
#include <cstdlib>
int T = 1024;
__global__ void reversed(int* out) {
    __shared__ int values[64];
    values[threadIdx.x] = threadIdx.x;
    out[threadIdx.x] = values[63 - threadIdx.x];
}
__global__ void wrong(int* out) { out[threadIdx.x] = 1; }
int main(int, char** argv) {
    int *out, host[64];
    cudaMalloc(&out, sizeof host);
    switch (atoi(argv[1])) {
    case 1: reversed<<<1, 64>>>(out); break;
    case 2: wrong<<<1, 64>>>(out); break;
    }
    cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
    cudaFree(out);
    if (host[63] != 0) { // of the first warp, which runs first
        printf("Mismatch: %d\n", host[63]);
    }
    return T == 64 ? 0 : 3;
}
"""
# The same without nvcc and without the tool: the "compiler" copies, the "tool" runs the copy as a script.
SCRIPT = """int main
case 1:
case 2:
"""
COMPILER = """#!/bin/sh
for file; do [ "$before" = -o ] && out=$file; case $file in *.cu | *.o) in=${in:-$file} ;; esac; before=$file; done
cp "$in" "$out"
"""
TOOL = """#!/bin/sh
[ "$4" != 2 ] || echo 'Mismatch: 1'
[ -z "$SOFTGPU_CHECK_JSON" ] || [ "$4" != 1 ] || cat >"$SOFTGPU_CHECK_JSON" <<'END'
{"findings": [{"check": "race", "kind": "race in shared memory", "severity": "error", "message": "", "times": 64, "kernel": "reversed(int*)",
  "accesses": [{"where": {"file": "/a/small.cu", "line": 6}}]}, {"kind": "leak", "severity": "note", "times": 1, "accesses": []}]}
END
"""


class Reading(unittest.TestCase):
    def test_gtest(self):
        began = ["SM80_Gemm.128x64", "SM80_Gemm.64x64", "SM80_Gemm.sparse", "SM80_Gemm.last"]
        self.assertEqual(cpp_suites.read_gtest(GTEST), (began, ["SM80_Gemm.128x64", "SM80_Gemm.64x64", "SM80_Gemm.sparse"],
                                                        ["SM80_Gemm.64x64"], ["SM80_Gemm.sparse"]))

    def test_catch2(self):
        self.assertEqual(cpp_suites.read_catch2(CATCH2), (["Sum of ints", "Sum of halves", "Sum of a struct"],
                                                          ["Sum of ints", "Sum of halves"], ["Sum of halves"], []))

    def test_a_test_that_has_not_ended(self):
        program = cpp_suites.Program("sum", "tests", ["sum.cu"], tests="catch2")
        with tempfile.TemporaryDirectory() as folder, unittest.mock.patch.dict(os.environ, WARPFOLD_TOOL="tool"):
            for status, tests, failed in ((None, 2, ["Sum of halves"]), (139, 3, ["Sum of halves", "Sum of a struct"])):
                with unittest.mock.patch("cpp_stacks.run", return_value=(status, CATCH2, 1.0)):
                    result = cpp_stacks.run_program(program, pathlib.Path(folder, "sum"), 60, False)
                self.assertEqual(result["tests"], tests)
                self.assertEqual([failure["test"] for failure in result["failures"]], failed)
                self.assertEqual(result["not_over"], status is None)

    def test_variants_of_cub(self):
        variants = cpp_suites.cub_variants("// %PARAM% TEST_LAUNCH lid 0:1:2\n// %PARAM% TEST_TYPES types 0:1\n")
        self.assertEqual([[value for *_, value in variant] for variant in variants],
                         [["0", "0"], ["0", "1"], ["2", "0"], ["2", "1"]])
        self.assertEqual(cpp_suites.cub_variants("no parameters"), [[]])


class Page(unittest.TestCase):
    def test_kernel_names(self):
        for kernel, name in (("void (anonymous namespace)::sum<int, true>(int*)", "`sum`"), ("a::scan(int)", "`scan`"), ("", "–")):
            self.assertEqual(cpp_page.kernel_name(kernel), name)

    def test_line_is_of_the_program_not_of_the_toolkit(self):
        where = {"file": "/usr/local/cuda/include/sm_30_intrinsics.hpp", "line": 440, "called_from": [{"file": "/x/a.cu", "line": 3}]}
        self.assertEqual(cpp_page.line_of({"accesses": [{"where": where}]}), "a.cu:3")
        self.assertEqual(cpp_page.line_of({"accesses": []}), "–")


    def test_rows_of_other_days_stay(self):
        def results(name, date, failures, findings):
            run = {"tests": 2, "skipped": 0, "failures": failures, "findings": findings, "seconds": 1.4, "not_over": 0}
            return {"llmc": {"date": date, "programs": [{"program": name, "group": "dev/cuda", "limit": 60, "plain": run, "check": run}]}}

        def written(given):
            stacks_page.write([page], cpp_page.tables(given, page.read_text()))
            return page.read_text()

        leak = {"run": "a 1", "kind": "leak", "times": 3, "accesses": []}
        wrong = {"test": "a 1", "reason": "a wrong result"}
        with tempfile.TemporaryDirectory() as folder:
            page = pathlib.Path(folder, "page.md")
            page.write_text("".join(f"<!-- cpp {name}, by ./dev stacks -->\n<!-- end of cpp {name} -->\n"
                                    for name in ("suites", "failures", "findings")))
            first = written(results("a", "2026-01-02", [wrong], [leak]))
            self.assertIn("| llmc, `dev/cuda` | 2026-01-02 | 1 | 2 | 1 | 0 | 1 |", first)
            self.assertEqual(written(results("a", "2026-01-02", [wrong], [leak])), first)
            second = written(results("b", "2026-01-03", [], []))
            for row in ("| llmc, `dev/cuda` | 2026-01-02 | 1 | 2 | 1 | 0 | 1 |", "| llmc, `dev/cuda` | 2026-01-03 | 1 | 2 | 2 | 0 | 0 |",
                        "| all |  | 2 | 4 | 3 | 0 | 1 |", "| 2026-01-02 | a wrong result | 1 | `a 1` |", "| llmc | `a` | leak | – | – | 1 | 3 |"):
                self.assertIn(row, second)
            self.assertNotIn("| llmc | `a` |", written(results("a", "2026-01-04", [], [])))


class Fetching(unittest.TestCase):
    def test_archive_is_unpacked_under_the_suites_name(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "llm.c-1234").mkdir()
            (folder / "llm.c-1234/a.cu").write_text("a")
            with tarfile.open(folder / "made.tar.gz", "w:gz") as archive:
                archive.add(folder / "llm.c-1234", "llm.c-1234")
            opened = unittest.mock.Mock(return_value=(folder / "made.tar.gz").open("rb"))
            with unittest.mock.patch("urllib.request.urlopen", opened):
                cpp_stacks.fetch("karpathy/llm.c", "1234", folder / "sources/llmc")
            self.assertEqual(opened.call_args.args[0], "https://github.com/karpathy/llm.c/archive/1234.tar.gz")
            self.assertEqual((folder / "sources/llmc/a.cu").read_text(), "a")
            self.assertEqual([file.name for file in (folder / "sources").iterdir()], ["llmc"])

    def test_no_network_is_one_line(self):
        with tempfile.TemporaryDirectory() as folder, unittest.mock.patch.dict(os.environ):
            os.environ.pop("WARPFOLD_SUITES", None)
            with unittest.mock.patch("urllib.request.urlopen", side_effect=OSError("no route")), \
                    contextlib.redirect_stderr(io.StringIO()), \
                    self.assertRaisesRegex(ValueError, r"^karpathy/llm.c \w+ could not be fetched: no route$"):
                cpp_stacks.sources_of("llmc", cpp_suites.SUITES["llmc"], folder)

    def test_given_folder_without_the_suite(self):
        with tempfile.TemporaryDirectory() as folder, unittest.mock.patch.dict(os.environ, WARPFOLD_SUITES=folder):
            with self.assertRaisesRegex(ValueError, "has no folder 'llmc'"):
                cpp_stacks.sources_of("llmc", cpp_suites.SUITES["llmc"], "elsewhere")


class StandIn(unittest.TestCase):
    def run_script(self, folder, text, **environment):
        (folder / "llmc/dev/cuda").mkdir(parents=True)
        (folder / "llmc/dev/cuda/small.cu").write_text(text)
        page = folder / "page.md"
        page.write_text("".join(f"<!-- cpp {name}, by ./dev stacks -->\n<!-- end of cpp {name} -->\n"
                                for name in ("suites", "failures", "findings")))
        done = subprocess.run([sys.executable, "-B", str(HERE / "cpp_stacks.py"), "llmc", "--build", str(folder / "build"),
                               "--results", str(folder / "results.json"), "--page", str(page)],
                              env={**os.environ, "WARPFOLD_SUITES": str(folder), **environment}, capture_output=True, text=True)
        return done, json.loads((folder / "results.json").read_text()), page.read_text()

    def check(self, done, results, page):
        self.assertEqual(done.returncode, 1, done.stderr)
        (program,) = results["llmc"]["programs"]
        self.assertEqual([program["plain"]["tests"], program["check"]["tests"]], [2, 2], done.stderr)
        self.assertEqual([failure["test"] for failure in program["plain"]["failures"]], ["small 2"])
        self.assertIn("small 2", [failure["test"] for failure in program["check"]["failures"]])
        self.assertEqual(program["plain"]["findings"], [])
        self.assertEqual([finding["kind"] for finding in program["check"]["findings"]], ["race in shared memory"])
        self.assertRegex(page, r"\| [\d-]{10} \| a wrong result \| 1 \| `small 2` \|")
        self.assertIn("| llmc | `small` | race in shared memory | `reversed` | small.cu:6 | 1 | 64 |", page)
        self.assertRegex(page, r"\| llmc, `dev/cuda` \| [\d-]{10} \| 1 \| 2 \| 1 \| 0 \| 1 \| 0 \|")

    def test_without_a_compiler(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            for file, text in (("nvcc", COMPILER), ("tool", TOOL)):
                (folder / file).write_text(text)
                (folder / file).chmod(0o755)
            self.check(*self.run_script(folder, SCRIPT, WARPFOLD_NVCC=str(folder / "nvcc"), WARPFOLD_TOOL=str(folder / "tool")))

    @unittest.skipUnless("WARPFOLD_NVCC" in os.environ and "WARPFOLD_TOOL" in os.environ, "needs nvcc and the command")
    def test_on_the_software_gpu(self):
        with tempfile.TemporaryDirectory() as name:
            done, results, page = self.run_script(pathlib.Path(name), PROGRAM)
            self.check(done, results, page)
            self.assertTrue(results["llmc"]["programs"][0]["resized"])  # T, else its status is 3

    @unittest.skipUnless("WARPFOLD_NVCC" in os.environ and "WARPFOLD_TOOL" in os.environ, "needs nvcc and the command")
    def test_what_does_not_compile(self):
        with tempfile.TemporaryDirectory() as name:
            done, results, page = self.run_script(pathlib.Path(name), "int main() { return none; }\n")
            self.assertEqual(done.returncode, 1)
            self.assertIn("none", results["llmc"]["programs"][0]["compile_error"])
            self.assertRegex(page, r"\| does not compile \| – \| `small` \|")


if __name__ == "__main__":
    unittest.main()
