# SPDX-License-Identifier: MIT
import contextlib
import io
import json
import pathlib
import tempfile
import unittest

from support import load

ladders_page = load("measure/pages/ladders_page.py")


def step(**changes):
    out = {"id": "1", "title": "naive", "n": 1 << 20, "skipped": None, "error": None, "ought_to_be": "right", "correct": True,
           "as_told": True, "on_device": True, "time_us": 10.0, "warm_time_us": 2500.0, "least_bytes": 8 << 20}
    out.update(changes)
    return out


def ladder(*steps, name="scan", software=False):
    return {"ladder": name, "device": {"name": "Some Card", "software": software, "copy_gb_per_s": 2000.0}, "data": "totals",
            "n": 1 << 20, "steps": list(steps), "tables": [{"title": "Then", "head": ["a\nb"], "rows": [["1.5"]]}]}


class LaddersPage(unittest.TestCase):
    def page(self, *ladders):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "all.json"
            path.write_text(json.dumps(list(ladders)))
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                ladders_page.main([str(path), "--date", "2026-01-31"])
            return out.getvalue()

    def test_rows(self):
        text = self.page(ladder(step(), step(id="2", ought_to_be="wrong", correct=False, time_us=None, least_bytes=None),
                                step(id="3", ought_to_be="right by luck"), step(id="4", as_told=False, correct=False)),
                         ladder(step(), name="reduce"))
        self.assertIn("| 1 | naive | 1,048,576 | right | 10.0 | 2,500 | 838.9 | 41.9% |", text)
        self.assertIn("| 2 | naive | 1,048,576 | wrong, as told | – | 2,500 | – | – |", text)
        self.assertIn("| 3 | naive | 1,048,576 | right by luck |", text)
        self.assertIn("| 4 | naive | 1,048,576 | WRONG |", text)
        self.assertIn("| a b |\n| ---: |\n| 1.5 |", text)
        self.assertNotIn("## reduce", text)

    def test_names_in_tables_stand_on_the_left(self):
        run = ladder(step())
        run["tables"] = [{"title": "Kernels", "head": ["kernel", "n"], "rows": [["f<int>", "3"], ["g|h", "–"]]}]
        self.assertIn("| kernel | n |\n| --- | ---: |\n| f&lt;int> | 3 |\n| g\\|h | – |", self.page(run))

    def test_short_rows_are_filled_up(self):
        run = ladder(step())
        run["tables"] = [{"title": "Rates", "head": ["threads", "4 B", "16 B"], "rows": [["128", "1", "2"], ["2048", "3"]]}]
        self.assertIn("| ---: | ---: | ---: |\n| 128 | 1 | 2 |\n| 2048 | 3 |  |", self.page(run))

    def test_refuses_the_software_gpu(self):
        with self.assertRaises(ladders_page.BadInput):
            self.page(ladder(step(), software=True))


if __name__ == "__main__":
    unittest.main()
