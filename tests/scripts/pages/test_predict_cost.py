#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""measure/pages/predict_cost.py: processor time, and the table in its place."""
import subprocess
import sys
import unittest

from support import load

cost = load("measure/pages/predict_cost.py")


class PredictCost(unittest.TestCase):
    def test_processor_time_is_of_the_command_alone(self):
        # The start of the interpreter counts in both, and may take long.
        spin = [sys.executable, "-c", "import time\nend = time.process_time() + 0.6\nwhile time.process_time() < end: pass"]
        sleep = [sys.executable, "-c", "import time\ntime.sleep(1.2)"]
        spun, slept = cost.medians([spin, sleep], 3)
        self.assertGreaterEqual(spun, 0.6)
        self.assertLess(slept, spun)

    def test_a_failure_is_no_time(self):
        with self.assertRaises(subprocess.CalledProcessError):
            cost.seconds([sys.executable, "-c", "raise SystemExit(3)"])

    def test_the_table_counts_what_is_within_the_limit(self):
        lines = cost.table([("reduce", "1", 1 << 22, "a", 1.0, 3.0), ("scan", "8", 64, "b", 0.5, 1.75)], "h200", "2026-01-31")
        self.assertIn("| `reduce` 1 | 4,194,304 | a | 1.00 | 3.00 | 3.0 |", lines)
        self.assertIn("| `scan` 8 | 64 | b | 0.50 | 1.75 | 3.5 |", lines)
        self.assertEqual(lines[-1], "1 of 2 take at most 3 times as long.")

    def test_only_the_table_of_the_page_changes(self):
        page = f"# Page\n{cost.BEGIN}\nold\n{cost.END}\nrest\n"
        new = cost.with_table(page, ["new"])
        self.assertEqual(new, f"# Page\n{cost.BEGIN}\nnew\n{cost.END}\nrest\n")
        self.assertEqual(cost.with_table(cost.PAGE.read_text(), []).count(cost.END), 1)


if __name__ == "__main__":
    unittest.main()
