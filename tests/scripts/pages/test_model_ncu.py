# SPDX-License-Identifier: MIT
"""measure/pages/model_ncu.py: what is compared with what."""
import json
import pathlib
import sys
import tempfile
import unittest

from support import ROOT, load

sys.path.insert(0, str(ROOT / "measure/pages"))
ncu = load("measure/pages/model_ncu.py")


def theirs(kernel, grid=1, **more):
    return {"kernel": kernel, "grid": [grid, 1, 1], "block": [32, 1, 1], "nanoseconds": 2000, "dram_read_bytes": 2 << 20,
            "dram_write_bytes": 0, "l2_reads": 1 << 16, "l2_read_hits": 1 << 15, "sm": 10, "l1": 20, "l2": 30, "dram": 70, **more}


def ours(kernel, step, grid=1, cold=3000, **bounds):
    return {"step": step, "kernel": kernel, "grid": [grid, 1, 1], "block": [32, 1, 1], "model": {
        "cold_nanoseconds": cold, "launch_nanoseconds": 2500, "cold_bounds": bounds, "cold_dram_read_bytes": 2 << 20,
        "cold_dram_write_bytes": 1 << 18, "cold_l2_read_hit_rate": 0.5}}


class Pairs(unittest.TestCase):
    def test_each_kernel_of_one_shape_in_order(self):
        run = {"ladder": "scan", "n": 64, "rows": [theirs("b"), theirs("a", 2), theirs("a"), theirs("a"), theirs("c")]}
        pairs = ncu.pairs_of(run, [ours("a", "1"), ours("a", "2"), ours("b", "3"), ours("a", "4", 2), ours("a", "5")])
        self.assertEqual([(p["ncu"]["kernel"], p["step"]) for p in pairs], [("b", "3"), ("a", "4"), ("a", "1"), ("a", "2")])

    def test_a_step_with_a_timeline_runs_twice(self):
        with tempfile.TemporaryDirectory() as folder:
            command = pathlib.Path(folder) / "warpfold"
            launch = {"kernel": "k", "grid": [1, 1, 1], "block": [32, 1, 1], "predictions": {"h200": {}}}
            report = {"steps": [{"id": "1", "launches": [launch]}, {"id": "2", "launches": [launch], "timeline": {}}]}
            command.write_text(f"#!/bin/sh\nfor last; do :; done\ncat >$last <<'END'\n{json.dumps(report)}\nEND\n")
            command.chmod(0o755)
            found = ncu.predicted(str(command), {"ladder": "streams", "n": 1, "steps": ["1", "2"]}, "h200", 10)
        self.assertEqual([x["step"] for x in found], ["1", "2", "2"])

    def pair(self, x, launch):
        return ncu.pairs_of({"ladder": "scan", "n": 64, "rows": [x]}, [launch])[0]

    def test_time_of_the_kernel_without_the_way_from_the_host(self):
        self.assertEqual(ncu.kernel_time(self.pair(theirs("a"), ours("a", "1")), 1500), 2000)

    def test_one_rule_of_bounds_for_both(self):
        self.assertEqual(ncu.ncu_bound(theirs("a")), "dram")
        self.assertEqual(ncu.ncu_bound(theirs("a", dram=59.9)), "latency")
        for bounds, expected in (({"dram": 1300, "l2": 1100}, "dram"), ({"shared": 1300, "lsu": 900}, "l1"),
                                 ({"dram": 1100, "latency": 1900, "slice": 1900}, "latency"), ({"integer": 1300}, "sm"),
                                 ({}, "latency")):
            self.assertEqual(ncu.model_bound(self.pair(theirs("a"), ours("a", "1", **bounds)), 1500), expected, bounds)

    def test_page(self):
        other = theirs("b", nanoseconds=1000, dram_write_bytes=1 << 18)
        pairs = ncu.pairs_of({"ladder": "scan", "n": 64, "rows": [theirs("a"), theirs("a"), other]},
                             [ours("a", "1", dram=1300), ours("a", "1", dram=1300), ours("b", "2")])
        text = ncu.page(pairs, "h200", "2026-01-31", ["scan, n / 8: no time left"], {"h200/scan/2": "A reason"}, 1500)
        self.assertIn("| the ladder's own | 2 | 50 %; median 100 % | 1 | 1 | 1 of 2 | 2 of 2 |", text)  # of equal launches one
        self.assertIn("| scan | 2 | 64 | `b` | 1.0 | 2.0 | +100 % | dram | latency | 2.1, 0.3 | 2.1, 0.3 | 50 % | 50 % "
                      "| A reason |\n"
                      "| scan | 1 | 64 | `a` | 2.0 | 2.0 | +0 % | dram | dram |", text)
        self.assertTrue(text.endswith("Not taken: scan, n / 8: no time left.\n"))


if __name__ == "__main__":
    unittest.main()
