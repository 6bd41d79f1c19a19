# SPDX-License-Identifier: MIT
import contextlib
import io
import json
import pathlib
import tempfile
import unittest

from support import load

compare_ncu = load("measure/session/compare_ncu.py")


def launch(kernel, grid, block, **counters):
    return {"kernel": kernel, "grid": [grid, 1, 1], "block": [block, 1, 1],
            "counters": {name: counters.get(name, 0) for name in compare_ncu.METRICS}}


def ncu_text(rows):
    """The format of ncu --csv --page raw: its own lines, the head, the units, one row per launch."""
    metrics = list(compare_ncu.METRICS.values())
    head = ["ID", "Kernel Name", "Block Size", "Grid Size"] + metrics
    lines = ["==PROF== Connected to process 17", ",".join(f'"{h}"' for h in head),
             ",".join(f'"{u}"' for u in ["", "", "", ""] + [""] * len(metrics))]
    for index, (name, grid, block, counters) in enumerate(rows):
        values = [counters.get(ours, 0) for ours in compare_ncu.METRICS]
        lines.append(",".join(f'"{v}"' for v in [index, name, f"({block}, 1, 1)", f"({grid}, 1, 1)"] +
                              [v if isinstance(v, str) else f"{v:,}" for v in values]))
    return "\n".join(lines) + "\n"


class Names(unittest.TestCase):
    def test_base_name(self):
        for kernel, name in [
                ("void warpfold::ladder::interleaved<int, warpfold::sum<int>>(const T1 *, T1 *)", "interleaved"),
                ("void cub::CUB_300001_SM_900::detail::DeviceReduceKernel<P, (bool)1>(int)", "DeviceReduceKernel"),
                ("(anonymous namespace)::flush(unsigned int*)", "flush"),
                ("void <unnamed>::half<(ladder::op)2>(int)", "half"),
                ("unnamed>::copy_matrix(float *, const float *, int, int)", "copy_matrix"),
                ("void unnamed>::transpose_tiled<1>(float *, int)", "transpose_tiled"),
                ("plain", "plain")]:
            self.assertEqual(compare_ncu.base_name(kernel), name, kernel)


class Comparison(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.place = pathlib.Path(folder.name)
        self.report = {"device": {"software": True, "name": "software"}, "n": 1024, "block": 128, "type": "int32",
                       "op": "sum", "steps": [{"id": "1", "skipped": None, "launches": [
                           launch("l::one<int>(int)", 8, 128, global_load_sectors=128),
                           launch("l::one<int>(int)", 1, 128, global_load_sectors=1)]}]}

    def compare(self, rows, notes=None, software=True):
        self.report["device"]["software"] = software
        (self.place / "1.csv").write_text(ncu_text(rows))
        (self.place / "soft.json").write_text(json.dumps(self.report))
        (self.place / "notes.json").write_text(json.dumps(notes or {}))
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            status = compare_ncu.main(["--ncu", str(self.place), "--softgpu", str(self.place / "soft.json"),
                                       "--notes", str(self.place / "notes.json")])
        return status, out.getvalue(), err.getvalue()

    def test_equal_launches_among_others(self):
        status, out, _ = self.compare([("void flush(int)", 99, 256, {}),
                                       ("void l::one<int>(T1)", 8, 128, {"global_load_sectors": 128}),
                                       ("void l::one<int>(T1)", 1, 128, {"global_load_sectors": 1}),
                                       ("void l::one<int>(T1)", 8, 128, {"global_load_sectors": 5})])
        self.assertEqual(status, 0)
        self.assertIn("20 of 20 figures are equal.", out)
        self.assertNotIn("Differences", out)

    def test_a_difference_needs_a_note(self):
        rows = [("l::one<int>", 8, 128, {"global_load_sectors": 1128}),
                ("l::one<int>", 1, 128, {"global_load_sectors": 1})]
        status, out, _ = self.compare(rows)
        self.assertEqual(status, 1)
        self.assertIn("**1128 / 128**", out)
        self.assertIn("Not explained yet", out)
        status, out, _ = self.compare(rows, {"1": "widened by ptxas"})
        self.assertEqual(status, 0)
        self.assertIn("global_load_sectors 1128 / 128. widened by ptxas", out)

    def test_another_grid_is_no_match(self):
        status, out, _ = self.compare([("l::one<int>", 9, 128, {}),
                                       ("l::one<int>", 1, 128, {"global_load_sectors": 1})])
        self.assertEqual(status, 1)
        self.assertIn("no such launch under ncu", out)

    def test_figure_that_ncu_does_not_give(self):
        status, out, _ = self.compare([("l::one<int>", 8, 128, {"global_load_sectors": "n/a"}),
                                       ("l::one<int>", 1, 128, {"global_load_sectors": 1})])
        self.assertEqual(status, 1)
        self.assertIn("? / 128", out)

    def test_input_that_cannot_be_used(self):
        status, _, err = self.compare([], software=False)
        self.assertEqual(status, 2)
        self.assertIn("not from the software GPU", err)
        self.report["device"]["software"] = True
        (self.place / "soft.json").write_text(json.dumps(self.report))
        for text, what in [("", "no table"), ('"ID","Kernel Name"\n"0","k"\n', "no column")]:
            (self.place / "1.csv").write_text(text)
            err = io.StringIO()
            with contextlib.redirect_stderr(err), contextlib.redirect_stdout(io.StringIO()):
                status = compare_ncu.main(["--ncu", str(self.place), "--softgpu", str(self.place / "soft.json")])
            self.assertEqual(status, 2)
            self.assertIn(what, err.getvalue())


if __name__ == "__main__":
    unittest.main()
