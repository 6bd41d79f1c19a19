# SPDX-License-Identifier: MIT
"""What the script of the stacks reads out of test runners' outputs, the tables that it writes, and the stand-in for ptxas."""
import contextlib
import io
import os
import pathlib
import subprocess
import sys
import tempfile
import types
import unittest
import unittest.mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import large_stacks
import pytest_cases
import released_tests
import stacks
import stacks_page

ROOT = pathlib.Path(__file__).resolve().parents[2]
OUTPUT = """E..F.s
======================================================================
ERROR: test_grid (numba.cuda.tests.cudapy.test_a.Grids.test_grid)
----------------------------------------------------------------------
Traceback (most recent call last):
FileNotFoundError: libcudadevrt.a

======================================================================
FAIL: test_sum (numba.cuda.tests.cudapy.test_a.Sums.test_sum) (n=1)
----------------------------------------------------------------------
Traceback (most recent call last):
AssertionError: 0 != 1

======================================================================
FAIL: test_sum (numba.cuda.tests.cudapy.test_a.Sums.test_sum) (n=2)
----------------------------------------------------------------------
Traceback (most recent call last):
AssertionError: 0 != 2

----------------------------------------------------------------------
Ran 6 tests in 1.5s

FAILED (failures=2, errors=1, skipped=1)
"""


JUNIT = """<?xml version="1.0"?><testsuites><testsuite tests="4">
<testcase classname="test_a" name="test_one" time="1"/>
<testcase classname="test_a" name="test_two"><failure message="softgpu: race: in a kernel">text</failure></testcase>
<testcase classname="test_a" name="test_three"><skipped message="no"/></testcase>
<testcase classname="test_a" name="test_four"><error message="of a fixture">more</error></testcase>
</testsuite></testsuites>"""


# LLVM counts the lines of inline assembly as lines of the source: each of these is line 9 or 12.
PTX = """.loc 1 9 20
// begin inline asm
.loc 1 9 20
mov.u32 %r1, 0x0;
.loc 1 10 20
ld.global.b32 { %r1 }, [ %rd1 + 0 ];

// end inline asm
// begin inline asm
{
.reg .b32 t;
.loc 1 14 5
mov.b32 t, %r1;
.loc 1 15 5
}
// end inline asm
.loc 1 12 1
ret;
"""


class StandInForPtxas(unittest.TestCase):
    def ptxas(self, *arguments):
        return subprocess.run(["sh", ROOT / "softgpu/runtime/ptxas/ptxas.sh", *arguments], capture_output=True, text=True, check=False)

    def test_version_and_mistakes(self):
        # Triton before 3.5 takes no later release than 12.
        self.assertRegex(self.ptxas("--version").stdout, r"release 12\.\d+, \d+ \d+\n$")
        for arguments in ((), ("a.ptx",), ("-o", "b")):
            answer = self.ptxas(*arguments)
            self.assertEqual((answer.returncode, answer.stderr.count("\n")), (1, 1))

    def test_lines_of_inline_assembly(self):
        with tempfile.TemporaryDirectory() as folder:
            source, out = pathlib.Path(folder, "a b.ptx"), pathlib.Path(folder, "a b.o")
            source.write_text(PTX)
            answer = self.ptxas("-lineinfo", "-v", "--regAllocOptLevel=2", "--gpu-name=sm_80", source, "-o", out)
            self.assertEqual((answer.returncode, answer.stderr), (0, ""))
            made = out.read_text().splitlines()
        self.assertEqual([line.split()[2] for line in made if line.startswith(".loc")], ["9", "9", "9", "12", "12", "12"])
        self.assertEqual([line for line in made if ".loc" not in line], [line for line in PTX.splitlines() if ".loc" not in line])


class Stacks(unittest.TestCase):
    def test_pytorch_without_its_python(self):
        with tempfile.TemporaryDirectory() as folder, unittest.mock.patch.dict(os.environ, PATH=folder), \
                unittest.mock.patch.object(large_stacks, "BUILD", pathlib.Path(folder)), \
                contextlib.redirect_stderr(io.StringIO()) as said:
            self.assertFalse(large_stacks.ENVIRONMENTS["torch"].fetch())
            self.assertFalse(large_stacks.ENVIRONMENTS["torch"].is_there())
        self.assertRegex(said.getvalue(), r"^torch: needs python3\.8 in PATH.*\n$")

    def test_reasons_of_libraries(self):
        self.assertEqual(stacks.reason_of("CURANDError: CURAND_STATUS_INITIALIZATION_FAILED"), "cuRAND's library: machine code")
        self.assertIn("MAGMA", stacks.reason_of("CUDA error: no kernel image is available for execution on the device"))
        self.assertIn("PyTorch", stacks.reason_of("torch.AcceleratorError: CUDA error: no kernel image is available"))

    def test_file_of_pytest(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "answers.xml")
            self.assertEqual(stacks.read_junit(file)["ran"], 0)
            file.write_text(JUNIT)
            read = stacks.read_junit(file)
        self.assertEqual([read["ran"], read["failed"], read["skipped"]], [4, 2, 1])
        self.assertEqual(read["failures"], [("test_a.test_two", "softgpu: race: in a kernel\ntext"),
                                            ("test_a.test_four", "of a fixture\nmore")])

    def test_output_of_unittest(self):
        read = stacks.read_unittest(OUTPUT)
        self.assertEqual([read["ran"], read["failed"], read["skipped"]], [6, 2, 1])
        self.assertEqual([test for test, _ in read["failures"]], ["numba.cuda.tests.cudapy.test_a.Grids.test_grid",
                                                                  "numba.cuda.tests.cudapy.test_a.Sums.test_sum"])
        self.assertIn("libcudadevrt", stacks.reason_of(read["failures"][0][1]))
        self.assertEqual(stacks.reason_of(read["failures"][1][1]), "not sorted")
        self.assertEqual(stacks.read_unittest("...\nRan 3 tests in 0.1s\n\nOK\n")["failed"], 0)
        self.assertEqual(stacks.read_unittest("killed"), {"ran": 0, "skipped": 0, "failed": 0, "failures": []})

    def test_modules_without_unittest(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "test_a.py")
            for text, expected in (("def test_a():\n    pass\n", False), ("class A(TestCase):\n    def test_a(self):\n        pass\n", True)):
                file.write_text(text)
                self.assertEqual(stacks.has_test_case(file), expected)

    def test_cases_that_end_their_process(self):
        """Of 5 cases, the second reaches the limit, and the process of the fourth dies."""
        fates = ["passed", "limit", "failed", "death", "skipped"]
        tests = ["test_one[a]", "test_one[b]", "test_two", "test_three", "test_four"]

        def run(_arguments, _limit, _python, **environment):
            with unittest.mock.patch.dict(os.environ, environment):
                first = int(environment["WARPFOLD_FIRST"])
                for test, fate in list(zip(tests, fates))[first:]:
                    pytest_cases.answer(test=test, outcome="begins")
                    if fate in ("limit", "death"):
                        return (1, "Timeout (0:01:00)!\n", 61.0) if fate == "limit" else (-11, "", 1.0)
                    pytest_cases.answer(test=test, outcome=fate, seconds=1.5, message=fate)
                return (pytest_cases.NO_TESTS if first == len(tests) else 0), "", 1.0

        read = pytest_cases.run_all(run, [], "python", 60)
        self.assertEqual(read["test_one"], (None, 61.5, {"ran": 1, "skipped": 0, "failed": 0, "failures": []}))
        self.assertEqual(read["test_two"], (0, 1.5, {"ran": 1, "skipped": 0, "failed": 1, "failures": [("test_two", "failed")]}))
        self.assertEqual(read["test_three"], (-11, 0.0, {"ran": 0, "skipped": 0, "failed": 0, "failures": []}))
        self.assertEqual(read["test_four"], (0, 1.5, {"ran": 1, "skipped": 1, "failed": 0, "failures": []}))
        self.assertRaises(ValueError, pytest_cases.run_all, lambda *_, **__: (2, "no such file", 1.0), [], "python", 60)

    def test_some_cases_of_each_function(self):
        names = ["test_a"] * 7 + ["test_b"] * 3 + ["test_c"]
        items = [types.SimpleNamespace(originalname=name, number=number) for number, name in enumerate(names)]
        for cases, expected in (("100", [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]), ("3", [0, 3, 6, 7, 8, 9]), ("1", [0, 7])):
            with unittest.mock.patch.dict(os.environ, WARPFOLD_CASES=cases, WARPFOLD_ONLY="_[ab]"):
                self.assertEqual([item.number for item in pytest_cases.chosen(items)], expected)

    def test_triton_as_published_and_on_the_host(self):
        ran = []

        def run_all(_run, options, _python, limit, **environment):
            ran.append(("torch_on_host" in options, options[-1].rsplit("/", 1)[-1], limit, environment["WARPFOLD_ONLY"]))
            return {"test_one": (0, 2.0, {"ran": 3, "skipped": 0, "failed": 1, "failures": [("test_one[a]", "no kernel image")]})}

        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stderr(io.StringIO()), \
                unittest.mock.patch.dict(os.environ, WARPFOLD_SUITES=folder), \
                unittest.mock.patch.object(pytest_cases, "run_all", run_all):
            self.assertRaises(ValueError, stacks.triton_core_suite, 60, None)
            pathlib.Path(folder, "triton").mkdir()
            modules = stacks.triton_core_suite(60, "one")
        self.assertEqual(ran, [(False, "test_core.py", 60, "one"), (True, "test_core.py", 60, "one")])
        self.assertEqual([(m["module"], m["ran"], m["failed"], m["over"], m["seconds"]) for m in modules],
                         [("as_published.test_one", 3, 1, True, 2.0), ("on_host.test_one", 3, 1, True, 2.0)])

    def test_tables(self):
        module = {"seconds": 1.6, "over": True, "ran": 6, "skipped": 1, "failed": 2}
        failures = [{"test": "a", "reason": "r", "message": ""}, {"test": "b", "reason": "r", "message": ""}]
        results = {"numba": {"smoke": {"versions": "numba 1", "passes": True, "seconds": 2.0}, "suite": {
            "date": "2026-01-01", "limit": 60, "modules": [
                {"module": "x.test_a", "failures": failures, **module},
                {"module": "y.test_b", "failures": [], **module, "failed": 0, "over": False}]}}}
        made = stacks_page.tables(results)
        self.assertEqual(made["smoke"][-1], "| numba 1 | `numba_smoke.py` | passes | 2.0 |")
        self.assertEqual(made["numba suite"][-3:], ["| `x` | 1 | 6 | 3 | 1 | 2 | 0 | 2 |", "| `y` | 1 | 6 | 5 | 1 | 0 | 1 | 2 |",
                                                    "| all | 2 | 12 | 8 | 2 | 2 | 1 | 3 |"])
        self.assertEqual(made["numba failures"][2:], ["| r | 2 | `test_a` |", "| not over after 60 seconds | – | `test_b` |"])
        many = [{"module": f"x.test_{number}", "failures": failures[:1], **module} for number in range(stacks_page.MOST_NAMES + 1)]
        self.assertEqual(stacks_page.failures_table({"limit": 60, "modules": many})[2:], ["| r | 13 | 13 modules |"])

        with tempfile.TemporaryDirectory() as folder:
            pages = []
            for page in [ROOT / "docs/stacks.md", *(ROOT / "docs/stacks").glob("*.md")]:  # they have a place for each
                pages.append(pathlib.Path(folder, page.name))
                pages[-1].write_text(page.read_text())
            for _ in range(2):
                stacks_page.write(pages, stacks_page.tables(results))
                self.assertEqual("".join(page.read_text() for page in pages).count("| `x` | 1 | 6 |"), 1)
                self.assertIn("| `x` | 1 | 6 |", pathlib.Path(folder, "numba.md").read_text())
            for page in pages:
                page.write_text("nothing")
            self.assertRaises(ValueError, stacks_page.write, pages, stacks_page.tables(results))

    def test_some_modules_once_more(self):
        def module(name, ran):
            return {"module": name, "seconds": 1, "over": ran != 0, "ran": ran, "skipped": 0, "failed": 0, "failures": []}

        with tempfile.TemporaryDirectory() as folder:
            results, page = pathlib.Path(folder, "results.json"), pathlib.Path(folder, "page.md")
            places = ("smoke", "numba suite", "numba failures")
            page.write_text("".join(f"<!-- {name}, by ./dev stacks -->\n<!-- end of {name} -->\n" for name in places))

            def run(modules, *arguments):
                with unittest.mock.patch.multiple(stacks, is_installed=lambda name: True, SUITES={"numba": lambda *_: modules},
                                                  smoke=lambda name: {"versions": "1", "passes": True, "seconds": 1}), \
                        unittest.mock.patch("sys.argv", ["", "numba", f"--results={results}", f"--page={page}", *arguments]), \
                        contextlib.redirect_stderr(io.StringIO()):
                    self.assertEqual(stacks.main(), 0)

            run([module("a.one", 3)], "--only", "one")
            self.assertFalse(results.exists(), "some modules alone make no table")
            run([module("a.one", 3), module("a.two", 0)])
            self.assertIn("| `a` | 2 | 3 | 3 | 0 | 0 | 1 | 2 |", page.read_text())
            self.assertIn("not over after 60 seconds", page.read_text())
            run([module("a.two", 4)], "--only", "two", "--limit", "300")
            self.assertIn("| `a` | 2 | 7 | 7 | 0 | 0 | 0 | 2 |", page.read_text())
            self.assertIn("at most 60 or 300 seconds a module", page.read_text())
            run([module("a.two", 0)], "--only", "two", "--limit", "300")
            self.assertIn("not over after 300 seconds", page.read_text())


class ReleasedTests(unittest.TestCase):
    def run_suite(self, suite, only, *files):
        """What the suite runs of a checkout with these files: names, paths in the checkout, environments."""
        ran = []
        with tempfile.TemporaryDirectory() as folder:
            for file in files:
                place = pathlib.Path(folder, file)
                place.parent.mkdir(parents=True, exist_ok=True)
                place.touch()
            environment = unittest.mock.Mock(python=pathlib.Path(sys.executable))
            with unittest.mock.patch.dict(os.environ, WARPFOLD_SUITES=folder, CUDA_HOME="/cuda"), \
                    unittest.mock.patch.dict(released_tests.TESTS, tinygrad=environment, cuda_core=environment), \
                    unittest.mock.patch.object(released_tests, "tinygrads_libraries", lambda *_: {"CUDA_PATH": "/libraries"}):
                suite(lambda name, file, limit, options=(), python=None, **more: ran.append((name, str(file.relative_to(folder)), more)),
                      60, only)
            environment.fetch.assert_called_once_with()
        return ran

    def test_tinygrad_by_both_renderers(self):
        files = ("tinygrad/test/test_a.py", "tinygrad/test/test_b.py", "tinygrad/test/helpers.py")
        ran = self.run_suite(released_tests.tinygrad_suite, None, *files)
        self.assertEqual([(name, file) for name, file, _ in ran],
                         [(f"{way}.test_{letter}", f"tinygrad/test/test_{letter}.py") for way in ("cuda", "ptx") for letter in "ab"])
        self.assertEqual([more.get("CUDA_PTX") for _, _, more in ran], [None, None, "1", "1"])
        self.assertTrue(all(more["CUDA_PATH"] == "/libraries" and more["PYTHONPATH"].endswith("/tinygrad") for _, _, more in ran))
        self.assertEqual([name for name, *_ in self.run_suite(released_tests.tinygrad_suite, r"ptx\..*b$", *files)], ["ptx.test_b"])

    def test_cuda_core_without_cython_and_examples(self):
        files = [f"cuda-python/cuda_core/tests/{name}.py" for name in ("test_a", "graph/test_b", "cython/test_c", "example_tests/test_d")]
        ran = self.run_suite(released_tests.cuda_core_suite, None, *files)
        self.assertEqual([name for name, *_ in ran], ["tests.graph.test_b", "tests.test_a"])
        self.assertEqual([more for *_, more in ran], [{"CUDA_PATH": "/cuda"}] * 2)

    def test_without_a_checkout(self):
        with self.assertRaisesRegex(ValueError, "WARPFOLD_SUITES has no folder 'tinygrad'"):
            self.run_suite(released_tests.tinygrad_suite, None)

    def test_a_suite_that_is_not_to_be_had(self):
        def suite(*_):
            raise ValueError("no network")

        with unittest.mock.patch.multiple(stacks, is_installed=lambda name: True, SUITES={"tinygrad": suite},
                                          smoke=lambda name: {"versions": "1", "passes": True, "seconds": 1}), \
                unittest.mock.patch("sys.argv", ["", "tinygrad"]), contextlib.redirect_stderr(io.StringIO()) as said:
            self.assertEqual(stacks.main(), 1)
        self.assertIn("tinygrad: no network", said.getvalue())


if __name__ == "__main__":
    unittest.main()
