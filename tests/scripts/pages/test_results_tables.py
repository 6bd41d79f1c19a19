# SPDX-License-Identifier: MIT
import contextlib
import io
import json
import pathlib
import tempfile
import unittest

from support import load

results_tables = load("measure/pages/results_tables.py")

FACTS = {"name": "Some Card", "compute_cap": "9.0", "driver_version": "580.1", "memory.total": "80 GiB",
         "nvcc": "release 13.0", "system": "Some Linux", "date": "2026-01-02 03:04 UTC"}


def step(**changes):
    out = {"id": "1", "title": "interleaved | modulo", "skipped": None, "error": None, "correct": True,
           "launches": [{}, {}, {}], "time_us": 1234.56, "time_us_low": 1200.0, "time_us_high": 1300.0,
           "warm_time_us": None, "samples": 31, "gb_per_s": 842.1, "share_of_read": 0.314,
           "speed_up_over_step_before": None, "speed_up_in_all": None, "speed_of_cub": 0.25,
           "claims": [{"text": "half idle", "holds": True, "figure": "64"},
                      {"text": "faster", "holds": False, "figure": "0.9 x"},
                      {"text": "hidden", "holds": None, "figure": ""}]}
    out.update(changes)
    return out


def report(*steps, name="Some Card", software=False, n=1 << 22):
    return {"device": {"name": name, "software": software, "multiprocessors": 132, "read_gb_per_s": 3000.4,
                       "copy_gb_per_s": None}, "n": n, "block": 256, "type": "int32", "op": "sum", "steps": list(steps)}


class Tables(unittest.TestCase):
    def page(self, *reports, facts=None):
        with tempfile.TemporaryDirectory() as folder:
            place = pathlib.Path(folder)
            (place / "facts.json").write_text(json.dumps(facts or FACTS))
            names = []
            for index, one in enumerate(reports):
                (place / f"{index}.json").write_text(json.dumps(one))
                names.append(str(place / f"{index}.json"))
            out, err = io.StringIO(), io.StringIO()
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                status = results_tables.main(["--facts", str(place / "facts.json"), *names])
            return status, out.getvalue(), err.getvalue()

    def test_figures_come_from_the_file(self):
        status, out, _ = self.page(report(step()))
        self.assertEqual(status, 0)
        self.assertIn("| 1 | interleaved \\| modulo | right | 3 | 1234.6 | 1200.0 to 1300.0 | – | 842 | 31.4% | – | – | "
                      "0.25 |", out)
        self.assertIn("n = 2^22 (4194304), block 256", out)
        self.assertIn("read 3000 GB/s, copy – GB/s", out)
        self.assertIn("medians of 31 samples", out)
        self.assertIn("- step 1: faster (0.9 x)", out)
        self.assertNotIn("hidden", out)

    def test_wrong_failed_and_skipped_steps_say_so(self):
        nothing = {"time_us": None, "time_us_low": None, "time_us_high": None, "gb_per_s": None, "share_of_read": None}
        _, out, _ = self.page(report(step(correct=False, **nothing), step(id="2", error="illegal address", **nothing),
                                     step(id="3", skipped="needs 64 threads", **nothing)))
        for what in ["WRONG", "failed: illegal address", "skipped: needs 64 threads"]:
            self.assertIn(what, out)

    def test_files_are_ordered_by_size(self):
        _, out, _ = self.page(report(step(), n=1000), report(step(), n=10))
        self.assertLess(out.index("n = 10 "), out.index("n = 1000 "))

    def test_what_cannot_be_used(self):
        for reports, what in [((report(step(), software=True),), "no times"),
                              ((report(step()), report(step(), name="Other")), "different devices"),
                              (({"steps": []},), "has no 'device'")]:
            status, out, err = self.page(*reports)
            self.assertEqual((status, out), (2, ""))
            self.assertIn(what, err)


if __name__ == "__main__":
    unittest.main()
