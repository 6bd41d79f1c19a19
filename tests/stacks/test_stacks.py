# SPDX-License-Identifier: MIT
"""What the script of the stacks reads out of unittest's output, and the tables that it writes."""
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
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
FAIL: test_sum (numba.cuda.tests.cudapy.test_a.Sums.test_sum)
----------------------------------------------------------------------
Traceback (most recent call last):
AssertionError: 0 != 1

----------------------------------------------------------------------
Ran 6 tests in 1.5s

FAILED (failures=1, errors=1, skipped=1)
"""


class Stacks(unittest.TestCase):
    def test_output_of_unittest(self):
        read = stacks.read_unittest(OUTPUT)
        self.assertEqual([read["ran"], read["failed"], read["skipped"]], [6, 2, 1])
        self.assertEqual([test for test, _ in read["failures"]], ["numba.cuda.tests.cudapy.test_a.Grids.test_grid",
                                                                  "numba.cuda.tests.cudapy.test_a.Sums.test_sum"])
        self.assertIn("libcudadevrt", stacks.reason_of(read["failures"][0][1]))
        self.assertEqual(stacks.reason_of(read["failures"][1][1]), "not sorted")
        self.assertEqual(stacks.read_unittest("...\nRan 3 tests in 0.1s\n\nOK\n")["failed"], 0)
        self.assertEqual(stacks.read_unittest("killed"), {"ran": 0, "skipped": 0, "failed": 0, "failures": []})

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

        with tempfile.TemporaryDirectory() as folder:
            page = pathlib.Path(folder, "page.md")
            page.write_text((ROOT / "docs/stacks.md").read_text())  # it has a place for each
            stacks_page.write(page, results)
            once = page.read_text()
            self.assertIn("| `x` | 1 | 6 |", once)
            stacks_page.write(page, results)
            self.assertEqual(page.read_text(), once)
            page.write_text("nothing")
            self.assertRaises(ValueError, stacks_page.write, page, results)


if __name__ == "__main__":
    unittest.main()
