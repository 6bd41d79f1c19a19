# SPDX-License-Identifier: MIT
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

from support import ROOT, load

targets = load("measure/pages/targets.py")
RESULTS = ROOT / "docs" / "results"


class Targets(unittest.TestCase):
    def test_the_worst_row_counts(self):
        rows = [("a", 0.5), ("b", 0.7), ("c", 0.6)]
        self.assertEqual(targets.verdict("t", "ratio", 0.6, rows), ["t", "at most 0.6", "0.70", "b", "2 of 3", "no"])
        self.assertEqual(targets.verdict("t", "share", 0.5, rows), ["t", "at least 0.5 %", "0.5 %", "a", "3 of 3", "yes"])
        self.assertEqual(targets.verdict("t", "TFLOP/s", 0.55, rows)[-2:], ["2 of 3", "no"])
        with self.assertRaises(SystemExit):
            targets.verdict("t", "ratio", 1, [])

    def test_a_target_whose_rows_are_awaited_is_unmeasured(self):
        for name in targets.target_lists.AWAITED:
            self.assertEqual(targets.verdict(name, "host", 2.5, []),
                             [name, "at most 2.5 µs", "unmeasured", "–", "0 of 0", "unmeasured"])
            self.assertIn(name, [target[0] for target in targets.target_lists.H200])
        self.assertEqual(targets.verdict("t", "host", 2.5, [("a", 2.4), ("b", 3)]),
                         ["t", "at most 2.5 µs", "3.00 µs", "b", "1 of 2", "no"])

    def test_columns_of_the_same_name(self):
        row, = targets.tables("text\n\n| what | ours | ratio | ours | ratio |\n| --- | ---: | ---: | ---: | ---: |\n"
                              "| sum | 1 | 0.5 | 2 | 0.25 |\n\nmore")
        self.assertEqual(row, {"what": "sum", "ours": "1", "ratio": "0.5", "ours 2": "2", "ratio 2": "0.25"})
        self.assertEqual(targets.figure(row, "ratio"), 0.25)
        self.assertEqual(targets.figure({"what": "sum", "host us": "2.61"}, "host"), 2.61)
        self.assertEqual(targets.figure({"of copy": "77.8 %"}, "two copies"), 155.6)

    def test_the_page_is_that_of_the_tables_beside_it(self):
        for page in RESULTS.glob("library/targets-*.md"):
            with tempfile.TemporaryDirectory() as folder:
                for part in ("library", "python"):
                    shutil.copytree(RESULTS / part, pathlib.Path(folder) / part)
                card = page.stem.removeprefix("targets-")
                subprocess.run([sys.executable, ROOT / "measure/pages/targets.py", folder, "--card", card], check=True)
                self.assertEqual((pathlib.Path(folder) / "library" / page.name).read_text(), page.read_text(),
                                 f"make it anew: measure/pages/targets.py docs/results --card {card}")
            self.assertNotIn("not known", page.read_text())


if __name__ == "__main__":
    unittest.main()
