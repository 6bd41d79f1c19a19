# SPDX-License-Identifier: MIT
"""measure/pages/lecture_tables.py, and that docs/lectures/tables.md is made from the data that is there."""
import contextlib
import io
import json
import pathlib
import re
import tempfile
import unittest

from support import ROOT, load

tables = load("measure/pages/lecture_tables.py")

PUBLISHED = {
    "reductions": [{"name": "Theirs", "card": "Old", "lectures": "759", "type": "int32", "finish": "device", "unit": "ms",
                    "n": [1024], "block": [128], "times": {"1": [["2.0"]], "2": [["1.00"]]}, "gb_per_s": {"1": [["0.5"]], "2": [["1"]]}}],
    "scan": {"name": "Scan", "lectures": "759", "rows": [[1024, "1.0", "2.0"]], "order": []},
}
REDUCE = """# The reduction ladder on NVIDIA H1

Taken 2026-01-31 13:13 UTC with `./dev gpu`

## n = 2^10 (1024), block 128, int32, sum

| step |  | result | launches | cold, µs | 5 to 95 % |
| --- | --- | --- | ---: | ---: | ---: |
| 1 | first | right | 4 | 4.0 | 1 to 2 |
| 2 | second | right | 4 | {second} | 1 to 2 |
| 3 | third | WRONG | 4 | 1.0 | 1 to 2 |
"""
LADDERS = """# The ladders on an NVIDIA H1

The table of Harris, Sengupta and Owens (2007), as printed, and the same today; milliseconds.

| elements | CPU 2007 | GPU 2007 | speed-up 2007 | CPU today | GPU today | speed-up today |
| ---: | ---: | ---: | ---: | ---: | ---: | ---: |
| 1024 | 1.0 | 2.0 | 0.50 | 0.5 | 0.8 | 0.62 |

"""


class LectureTables(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.folder = pathlib.Path(place.name) / "lectures"
        self.folder.mkdir()
        (self.folder / "../results/ladders").mkdir(parents=True)
        self.write("published.json", PUBLISHED)
        self.write("../results/ladders/reduce-h1.md", REDUCE.format(second="2.0"))
        self.write("../results/ladders/ladders-h1.md", LADDERS)

    def write(self, name, content):
        path = self.folder / name
        path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
        return str(path)

    def call(self, *arguments):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            status = tables.main(list(arguments) or [str(self.folder)])
        return status, out.getvalue()

    def page(self):
        return (self.folder / "tables.md").read_text(encoding="utf-8")

    def test_theirs_as_printed_and_ours(self):
        self.assertEqual(self.call(), (0, ""))
        self.assertIn("| 1,024 | 128 | 1 | 2.0 | 0.5 | – | 4.0 | 1 | – |", self.page())
        self.assertIn("| 1,024 | 128 | 2 | 1.00 | 1 | 2.00 | 2.0 | 2 | 2.00 |", self.page())
        self.assertIn("| 1,024 | 1.0 | 2.0 | 0.50 | 0.500000 | 0.800000 | 0.62 |", self.page())
        self.assertNotIn("Not all is measured", self.page())

    def test_what_is_not_measured(self):
        other = {**PUBLISHED["reductions"][0], "type": "float", "finish": "host"}
        self.write("published.json", {**PUBLISHED, "reductions": [other]})
        self.assertEqual(self.call(), (0, ""))
        self.assertIn("| 1,024 | 128 | 1 | 2.0 | 0.5 | – |\n", self.page())  # no columns of a card that measured nothing
        self.assertIn("Not all is measured on the H1:", self.page())
        self.assertIn("\n./dev ladder reduce --device gpu --n 1024 --block 128 --type float --finish host\n", self.page())
        run = {"device": {"name": "NVIDIA H1"}, "n": 1024, "block": 128, "type": "float", "finish": "host",
               "steps": [{"id": "1", "time_us": 8.0, "on_device": True}, {"id": "2", "time_us": None, "on_device": True},
                         {"id": "cpu", "time_us": 1.0, "on_device": False}]}
        status, distilled = self.call("--distil", self.write("run.json", run), "--date", "2026-01-31")
        self.assertEqual((status, json.loads(distilled)["runs"][0]["time_us"]), (0, {"1": 8.0}))
        self.write("../results/ladders/published-h1.json", distilled)
        self.call()
        self.assertIn("| 2.0 | 0.5 | – | 8.0 | 1 | – |", self.page())
        self.assertIn("| 1.00 | 1 | 2.00 | not measured | – | – |", self.page())

    def test_an_order_that_changed_needs_a_sentence(self):
        self.write("../results/ladders/reduce-h1.md", REDUCE.format(second="5.0"))
        status, said = self.call()
        self.assertEqual(status, 1)
        self.assertEqual(said, "Theirs: the order changed at step 2, n = 1024, block 128 on the H1, and published.json does "
                               "not say why\n")
        why = {**PUBLISHED["reductions"][0], "order": [{"step": "2", "why": "Too small."}]}
        self.write("published.json", {**PUBLISHED, "reductions": [why]})
        self.assertEqual(self.call(), (0, ""))
        self.assertIn("| 5.0 | 1 | 0.80 † |", self.page())
        self.assertIn("- † Step 2: Too small.", self.page())
        self.write("../results/ladders/ladders-h1.md", LADDERS.replace("0.8 |", "0.1 |"))
        status, said = self.call()
        self.assertEqual(status, 1)
        self.assertIn("the order changed at n = 1024", said)

    def test_bad_input(self):
        software = {"device": {"name": "NVIDIA H1", "software": True}, "steps": []}
        for arguments in (["--distil", "none.json"], ["--distil", "none.json", "--date", "2026-01-31"],
                          ["--distil", self.write("soft.json", software), "--date", "2026-01-31"]):
            with self.assertRaises(tables.BadInput):
                self.call(*arguments)

    def test_the_page_is_made_from_the_data(self):
        self.assertEqual(self.call(str(ROOT / "docs/lectures"), "--check"), (0, ""))

    def test_the_ladders_have_the_same_figures(self):
        """The ladders' claims name them too."""
        published = json.loads((ROOT / "docs/lectures/published.json").read_text(encoding="utf-8"))
        printed = [table for table in published["reductions"] if any(time[0][0] for time in table.get("times", {}).values())]
        wanted = [[float(time) for of_block in times for time in of_block]
                  for table in printed for times in (table["times"].values() if table["card"] == "T4" else [
                      [[time[0][0] for time in table["times"].values()]]])]
        header = (ROOT / "ladder/reduce/definition/published.hpp").read_text(encoding="utf-8")
        self.assertEqual([[float(figure) for figure in re.findall(r"[\d.]+", each)]
                          for each in re.findall(r"^inline constexpr .*\w\{(.*)\};$", header, re.M)], wanted)
        rows = re.findall(r"\{(\d+), ([\d.]+), ([\d.]+)\}", (ROOT / "ladder/scan/definition/data.cpp").read_text(encoding="utf-8"))
        self.assertEqual([[int(n), float(cpu), float(gpu)] for n, cpu, gpu in rows],
                         [[n, float(cpu), float(gpu)] for n, cpu, gpu in published["scan"]["rows"]])


if __name__ == "__main__":
    unittest.main()
