# SPDX-License-Identifier: MIT
"""measure/pages/model_calls.py: which launches are which call, what it is compared with, and what is said of a miss."""
import json
import pathlib
import shutil
import sys
import tempfile
import unittest
from unittest import mock

from support import ROOT, load

sys.path.insert(0, str(ROOT / "measure/pages"))
calls = load("measure/pages/model_calls.py")


def launch(kernel, nanoseconds, launching, **bounds):
    return {"kernel": kernel, "predictions": {"h200": {
        "nanoseconds": nanoseconds, "launch_nanoseconds": launching, "bound": max(bounds, key=bounds.get), "bounds": bounds}}}


MARK = launch(calls.MARK, 1500, 1500, launch=1500)
# Two rows: of a kernel, and of two kernels and a fill. Launches before a row's first mark belong to no call.
LINES = ["sum\ti32\t1048576\t0\t1", "256 bins uniform\tu8\t65536\t1\t0"]
LAUNCHES = [launch("fill", 90000, 2500, dram=80000), launch("sum", 7000, 1500, l2=6000), MARK,
            launch("sum", 6500, 2500, l2=3000, dram=2000), MARK, launch("sum", 3500, 1500, issue=1000), MARK,
            launch("fill", 90000, 2500, dram=80000), MARK,
            launch("a", 3000, 1500, issue=1000), launch("b", 5500, 2500, l2=2000), MARK,
            launch("a", 2500, 1500, issue=1000), launch("b", 2700, 1500, latency=1100), MARK]


def cell(**more):
    return {"what": "sum", "type": "i32", "n": 1 << 20, "state": "cold", "fills": 0, "launches": 1, "pdl": True, "launching": 1.5,
            "kernels": 4.0, "ordinary": 1.5, "slowest": 3.0, "predicted": 5.5, "measured": 4.1, "bound": "l2", **more}


class Calls(unittest.TestCase):
    def test_a_call_is_what_is_launched_between_two_marks(self):
        cells = calls.predictions_of(LINES, LAUNCHES, "h200", 1500)
        self.assertEqual([calls.key_of(c) for c in cells],
                         [("sum", "i32", 1 << 20)] * 2 + [("256 bins uniform", "u8", 1 << 16)] * 2)
        self.assertEqual([c["state"] for c in cells], ["cold", "warm"] * 2)
        # Each launch and each fill follows another one, also where the software GPU's did not.
        self.assertEqual([c["predicted"] for c in cells], [5.5, 3.5, 9.0, 6.7])
        self.assertEqual([c["kernels"] for c in cells], [4.0, 2.0, 4.5, 2.2])
        self.assertEqual([c["slowest"] for c in cells], [3.0, 1.0, 3.0, 2.1])
        self.assertEqual([c["bound"] for c in cells], ["l2", "issue", "l2", "latency"])
        self.assertEqual([(c["launches"], c["fills"], c["pdl"]) for c in cells], [(1, 0, True)] * 2 + [(2, 1, False)] * 2)

    def test_a_launch_that_starts_early_takes_less(self):
        early = launch("sum", 3500, 500, l2=3000)
        self.assertEqual(calls.predicted_call([early, launch("sum", 4500, 1500, l2=3000)], "h200", 1500, 1)["launching"], 3.5)

    def test_measured_times_are_those_of_ours_in_graphs(self):
        measured = calls.measured_of("h200")
        rows = [line.split("|") for line in (ROOT / "docs/results/library/reduce-h200.md").read_text().splitlines()
                if line.startswith("| sum | i32 | 2^20 |")]
        self.assertEqual(len(rows), 1)
        self.assertEqual(measured["sum", "i32", 1 << 20], {"cold": float(rows[0][7]), "warm": float(rows[0][10])})
        self.assertIn(("inclusive_scan of rows, 1048 x 1000", "f32", 1048000), measured)

    def test_causes_are_what_the_figures_leave(self):
        for more, cause in (({}, "launch"), ({"pdl": False}, "queue"), ({"kernels": 4.2}, "queue"),
                            ({"kernels": 6.0, "slowest": 5.3}, "queue"), ({"kernels": 6.0, "slowest": 5.4}, None),
                            ({"measured": 7.8}, "launch"), ({"measured": 7.9}, None), ({"measured": 6.0, "pdl": False}, None)):
            self.assertEqual(calls.cause_of(cell(**more)), cause)
        notes = {"h200/calls/launch": "PDL", "h200/calls/max": "of max", "h100/calls/queue": "another card's"}
        self.assertEqual(calls.reason_of(notes, "h200", cell()), "PDL")
        self.assertEqual(calls.reason_of(notes, "h200", cell(what="max")), "of max")
        self.assertEqual(calls.reason_of(notes, "h200", cell(pdl=False)), "not known")

    def test_the_page_has_the_worst_first_and_reasons_for_misses_alone(self):
        close = cell(what="close", state="warm", measured=5.0, pdl=False)
        text = calls.page([close, cell()], [("new", "f32", 1024)], "h200", {"h200/calls/launch": "PDL"}, 1500)
        rows = [line for line in text.splitlines() if line.startswith("| close") or line.startswith("| sum")]
        self.assertEqual(rows, ["| sum | i32 | 1,048,576 | cold | 1, 0 | 4.10 | 5.50 | +34 % | l2 | PDL |",
                                "| close | i32 | 1,048,576 | warm | 1, 0 | 5.00 | 5.50 | +10 % | l2 |  |"])
        self.assertIn("- All: 2 calls; mean absolute error 22 %", text)
        self.assertIn("- Launched without: 1 calls; mean absolute error 10 %", text)
        self.assertIn("Not measured: new, f32, 1,024.", text)

    def test_from_the_program_to_the_page(self):
        folder = pathlib.Path(tempfile.mkdtemp())
        command = folder / "warpfold"
        command.write_text(f"""#!{sys.executable}
import json, sys
assert sys.argv[1] == "run" and sys.argv[-1] == "the program" and sys.argv[sys.argv.index("--predict") + 1] == "h200"
open(sys.argv[sys.argv.index("--counters") + 1], "w").write(json.dumps({{"launches": {LAUNCHES!r}}}))
print({chr(10).join(LINES)!r})
""")
        command.chmod(0o755)
        shutil.copytree(ROOT / "docs/results/library", folder / "library")
        (folder / "model").mkdir()
        (folder / "model/notes.json").write_text("{}")
        kept = folder / "kept.json"
        with mock.patch.object(calls, "RESULTS", folder):
            for arguments in (["--warpfold", str(command), "--calls", "the program", "--keep", str(kept)], ["--kept", str(kept)]):
                with mock.patch.object(sys, "argv", ["model_calls.py", *arguments]):
                    self.assertEqual(calls.main(), 0)
                text = (folder / "model/calls-h200.md").read_text()
                self.assertIn("- All: 4 calls;", text)
                self.assertIn("| 256 bins uniform | u8 | 65,536 | warm | 2, 1 | ", text)
                (folder / "model/calls-h200.md").unlink()
            kept.write_text(json.dumps([]))
            with mock.patch.object(sys, "argv", ["model_calls.py", "--kept", str(kept)]), mock.patch("builtins.print"):
                self.assertEqual(calls.main(), 2)

    def test_every_call_of_the_tree_s_page_was_measured(self):
        page = (ROOT / "docs/results/model/calls-h200.md").read_text()
        self.assertNotIn("Not measured", page)
        self.assertEqual(sum(line.count(" | cold | ") for line in page.splitlines()),
                         sum(line.count(" | warm | ") for line in page.splitlines()))


if __name__ == "__main__":
    unittest.main()
