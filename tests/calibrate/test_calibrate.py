# SPDX-License-Identifier: MIT
"""The microbenchmarks on the software GPU, and the card's file that is made of them. No figure is looked at: they mean nothing
without a GPU."""
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "measure/calibrate"))
import card_file  # noqa: E402

TOOL, PROGRAM = os.environ["WARPFOLD_TOOL"], os.environ["WARPFOLD_CALIBRATE"]
# What no microbenchmark finds.
COPIED = {"address_bits", "register_partitions", "l1_bytes", "l2_partitions"}


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)


class Calibrate(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        ran = run(TOOL, "run", "--check", "all", "--error-exit", "9", "--", PROGRAM, "--brief")
        if ran.returncode != 0:
            raise RuntimeError(ran.stdout[-500:] + ran.stderr[-2000:])
        cls.path = cls.folder / "figures.json"
        cls.path.write_text(ran.stdout)
        cls.measured = json.loads(ran.stdout)

    def make(self, *options, path=None):
        return run(sys.executable, str(ROOT / "measure/calibrate/card_file.py"), str(path or self.path), "--date",
                   "2026-01-31", *options)

    def test_every_figure_is_measured_or_said_to_be_copied(self):
        self.assertEqual(set(self.measured["figures"]), set(card_file.figures()) - COPIED)
        for name, figure in self.measured["figures"].items():
            self.assertIn(figure["how"], ("measured", "read from the driver"), name)
            self.assertTrue(math.isfinite(figure["value"]), name)

    def test_the_command_takes_the_card(self):
        made = self.make("--key", "mine")
        self.assertEqual(made.returncode, 0, made.stderr)
        card = self.folder / "card.json"
        card.write_text(made.stdout)
        figures = json.loads(made.stdout)["figures"]
        self.assertEqual(list(figures), list(card_file.figures()))
        for name, figure in figures.items():
            own = self.measured["figures"].get(name)
            if own and f"{name} was measured" not in made.stderr:
                self.assertEqual(figure["source"], f"{own['how']} 2026-01-31, {self.measured['device']}")
                self.assertEqual(figure["value"], own["value"])
            else:
                self.assertRegex(figure["source"], r"^copied from h[12]00")
        predicted = run(TOOL, "run", "--card-file", str(card), "--", PROGRAM, "--brief")
        self.assertEqual(predicted.returncode, 0, predicted.stderr)
        self.assertIn("mine", predicted.stderr)

    def test_what_is_out_of_bounds_is_copied_and_said(self):
        absurd = json.loads(json.dumps(self.measured))
        absurd["figures"]["clock"]["value"] = 1980.0
        path = self.folder / "absurd.json"
        path.write_text(json.dumps(absurd))
        made = self.make("--like", "t4", path=path)
        self.assertIn("clock was measured as 1980, outside 0.1 to 10 GHz", made.stderr)
        clock = json.loads(made.stdout)["figures"]["clock"]
        self.assertEqual(clock["value"], 1.59)
        self.assertTrue(clock["source"].startswith("copied from t4 (what was measured is out of bounds): "))

    def test_bad_input_is_one_line(self):
        for options, path, words in ((("--like", "t5"), None, "'t5' is none of a100"),
                                     ((), self.folder / "none.json", "is no output of calibrate")):
            made = self.make(*options, path=path)
            self.assertEqual(made.returncode, 2)
            self.assertIn(words, made.stderr)
            self.assertEqual(made.stderr.count("\n"), 1)
        self.assertEqual(run(TOOL, "run", "--", PROGRAM, "--bogus").returncode, 2)


if __name__ == "__main__":
    unittest.main()
