# SPDX-License-Identifier: MIT
"""measure/session/compare_trees.py: which rows count as slower."""
import pathlib
import tempfile
import unittest

from support import ROOT, run

ROW = "sum\tf32\t1024\t{0}\t2.00\t0.5\t{1}\t2.00\t0.5\t{2}\t2.00\t0.5\t100.0\n"


class CompareTrees(unittest.TestCase):
    def compare(self, before, after):
        with tempfile.TemporaryDirectory() as folder:
            for side, turns in (("before", before), ("after", after)):
                for turn, times in enumerate(turns, 1):
                    text = "# what\ttype\tn\n" + ROW.format(*times)
                    (pathlib.Path(folder) / f"reduce.{side}.{turn}.tsv").write_text(text)
            return run("python3", str(ROOT / "measure/session/compare_trees.py"), folder)

    def test_a_slower_row_is_named_with_its_way(self):
        answer = self.compare([(1.0, 1.0, 1.0), (1.0, 1.0, 1.0)], [(1.0, 1.1, 0.9), (1.0, 1.1, 0.9)])
        self.assertEqual(answer.returncode, 0, answer.stderr)
        self.assertRegex(answer.stdout, r"1\.100 +reduce +sum f32 1024 +cold")
        self.assertRegex(answer.stdout, r"0\.900 +reduce +sum f32 1024 +warm")
        self.assertIn("1 slower by more than 2%, 1 faster", answer.stdout)

    def test_turns_that_overlap_decide_nothing(self):
        answer = self.compare([(1.0, 1.0, 1.0), (1.2, 1.0, 1.0)], [(1.1, 1.0, 1.0), (1.3, 1.0, 1.0)])
        self.assertIn("0 slower by more than 2%, 0 faster", answer.stdout)

    def test_nothing_to_compare_is_an_error(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(run("python3", str(ROOT / "measure/session/compare_trees.py"), folder).returncode, 1)


if __name__ == "__main__":
    unittest.main()
