# SPDX-License-Identifier: MIT
import pathlib
import re
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree

from support import ROOT, load

sys.path.insert(0, str(ROOT / "measure/pages"))
pages = load("measure/pages/model_page.py")
PAGE = ROOT / "docs/results/model/h200.md"


class ModelPlot(unittest.TestCase):
    def test_the_plot_of_the_tree_is_that_of_its_page(self):
        self.assertEqual((ROOT / "docs/results/model/h200.svg").read_text(),
                         pages.plot(pages.of_page(PAGE.read_text()), pages.CLOSE))

    def test_every_row_of_the_page_is_a_mark(self):
        text = PAGE.read_text()
        counts = [int(n) for n in re.findall(r"^(\d+) steps; mean", text, re.M)]
        cells = pages.of_page(text)
        self.assertEqual(len(cells), sum(counts))
        picture = pages.plot(cells, pages.CLOSE)
        ElementTree.fromstring(picture)  # well-formed
        self.assertEqual(len(re.findall("measured [0-9]", picture)), sum(counts))

    def test_a_mark_lies_in_the_band_where_the_times_are_close(self):
        cells = [{"card": "h200", "ladder": "scan", "step": step, "n": 8, "measured": 10.0, "predicted": predicted}
                 for step, predicted in (("a", 10.0), ("b", 100.0))]
        picture = pages.plot(cells, 0.3)
        (x, y), (_, high) = [(float(a), float(b)) for a, b in
                             re.findall(r'cx="([\d.]+)" cy="([\d.]+)"[^>]*><title>', picture)]
        first = re.search(r'<path d="M([\d.]+) ([\d.]+)L([\d.]+) ([\d.]+)" stroke="#2a9d5c"', picture)
        self.assertAlmostEqual(y, float(first[2]), places=1)  # both begin the diagonal: 10 is the least decade
        self.assertAlmostEqual(x, float(first[1]), places=1)
        self.assertAlmostEqual(high, float(first[4]), places=1)

    def test_a_ladder_is_asked_for_the_size_that_most_steps_have(self):
        results, pages.RESULTS = pages.RESULTS, pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(setattr, pages, "RESULTS", results)
        (pages.RESULTS / "ladders").mkdir()
        (pages.RESULTS / "ladders/ladders-h200.md").write_text("## memory\n\n" + "".join(
            f"| {k} | title | {n} | right | 10.0 | 9.0 | – | – |\n" for k, n in enumerate(("64", "67", "64", "16", "16", "16"))))
        self.assertEqual({c["asked"] for c in pages.of_ladders("h200")}, {64})

    def test_one_run_predicts_all_cards_of_a_problem(self):
        with tempfile.TemporaryDirectory() as folder:
            command = pathlib.Path(folder) / "warpfold"
            command.write_text(f"""#!{sys.executable}
import json, sys
with open({str(command) + '.log'!r}, "a") as log:
    log.write(" ".join(sys.argv[1:]) + "\\n")
cards = sys.argv[sys.argv.index("--predict") + 1].split(",") + ["t4base"]
print(json.dumps({{"steps": [{{"n": 64, "launches": [1, 2], "predictions": {{
    card: {{"cold_nanoseconds": 1000 * len(card) - 500, "fills_and_copies_nanoseconds": 500, "bound": card}}
    for card in cards}}}}]}}))
""")
            command.chmod(0o755)
            cell = {"ladder": "reduce", "step": "3", "asked": 64, "n": 64, "block": 128, "measured": 1.0}
            cells = [cell | {"card": "t4"}, cell | {"card": "h200"}, cell | {"card": "t4base", "clock": 0.585}]
            self.assertEqual(pages.problem_of(cells[0]), pages.problem_of(cells[2]))
            self.assertNotEqual(pages.problem_of(cells[0]), pages.problem_of(cells[1]), "PTX for 9.0")
            self.assertNotEqual(pages.problem_of(cells[0]), pages.problem_of(cells[0] | {"block": 256}))
            pages.predict(str(command), cells, 200)
            self.assertEqual([(c["predicted"], c["bound"], c["launches"]) for c in cells],
                             [(2.0, "t4", 2), (4.0, "h200", 2), (6.0, "t4base", 2)])
            runs = pathlib.Path(str(command) + ".log").read_text().splitlines()
            self.assertEqual(len(runs), 1)
            self.assertIn("--predict h200,t4 --card-file ", runs[0])
            self.assertIn("--n 64 ", runs[0])
            self.assertIn("--block 128", runs[0])
            other = [cell | {"card": "h200", "n": 32}]
            pages.predict(str(command), other, 200)
            self.assertNotIn("predicted", other[0])
            self.assertIn("another size", other[0]["left_out"])
            command.write_text(command.read_text().replace('"bound": card', '"bound": card, "timeline_nanoseconds": 7000'))
            overlaps = [cell | {"card": "h200"}]
            pages.predict(str(command), overlaps, 200)
            self.assertEqual(overlaps[0]["predicted"], 7.0)
            unknown = [cell | {"card": "none"}]
            command.write_text(f"#!{sys.executable}\nprint('{{}}')\n")
            pages.predict(str(command), unknown, 200)
            self.assertEqual(unknown[0]["left_out"], "launches no kernel that is predicted")

    def test_the_page_reads_back_what_it_writes(self):
        cell = {"card": "t4", "ladder": "reduce", "step": "1", "title": "", "n": 1 << 20, "asked": 1 << 20, "block": 128,
                "measured": 1234.5, "predicted": 2345.6, "bound": "issue"}
        read = pages.of_page(pages.page([cell], {}))
        self.assertEqual(read, [{key: cell[key] for key in ("card", "ladder", "step", "n", "measured", "predicted")}])


if __name__ == "__main__":
    unittest.main()
