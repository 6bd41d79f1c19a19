# SPDX-License-Identifier: MIT
"""The page of a ladder on the software GPU: well-formed HTML that loads nothing, and data that agree with the tree."""
import html.parser
import pathlib
import re
import tempfile
import unittest

from page import ROOT, data_of, make

VOID = {"meta", "br", "link", "img", "input", "hr"}
LOADS = {"src", "href", "srcset", "data", "action", "poster"}


class Reader(html.parser.HTMLParser):
    """Raises where an element is closed that is not open. Collects elements, ids and what attributes load."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open, self.elements, self.ids, self.loads, self.text = [], [], [], [], {}

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        self.ids += [value for name, value in attributes if name == "id"]
        self.loads += [value for name, value in attributes if name in LOADS]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            raise ValueError(f"</{tag}> at {self.getpos()} closes nothing")

    def handle_data(self, data):
        if self.open:
            self.text.setdefault(self.open[-1], []).append(data)


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        library = pathlib.Path(folder.name) / "d3.min.js"
        library.write_text("// https://d3js.org v5.16.0 stand-in\n")
        path = pathlib.Path(folder.name) / "report.html"
        make("report", "reduce", "--device", "softgpu", "--n", "2^12", "-o", str(path), WARPFOLD_D3=str(library))
        cls.text = path.read_text(encoding="utf-8")
        cls.data = data_of(cls.text)
        cls.ladder = cls.data["ladders"][0]
        cls.steps = {step["id"]: step for step in cls.ladder["steps"]}

    def test_well_formed(self):
        reader = Reader()
        reader.feed(self.text)
        reader.close()
        self.assertEqual(reader.open, [])
        self.assertEqual(len(reader.ids), len(set(reader.ids)))
        tags = [tag for tag, _ in reader.elements]
        for tag, times in {"html": 1, "title": 1, "main": 1, "nav": 1, "h1": 1, "style": 1, "script": 3}.items():
            self.assertEqual(tags.count(tag), times, tag)
        self.assertEqual("".join(reader.text["title"]), "warpfold: reduce")
        self.assertIn(("html", {"lang": "en"}), reader.elements)
        self.assertNotIn("{{", self.text.replace(self.text[self.text.index('id="data"'):], ""))

    def test_loads_nothing(self):
        reader = Reader()
        reader.feed(self.text)
        self.assertEqual(reader.loads, ["#content"])
        style = "".join(reader.text["style"])
        self.assertIsNone(re.search(r"@import|url\(", style))
        policy = next(attributes["content"] for tag, attributes in reader.elements if "http-equiv" in attributes)
        self.assertTrue(policy.startswith("default-src 'none';"))
        self.assertNotRegex(policy, r"https?:|\*")

    def test_licence_of_the_charts(self):
        self.assertIn("Mike Bostock", self.text)
        self.assertIn("THIS SOFTWARE IS PROVIDED BY THE COPYRIGHT HOLDERS", self.text)

    def test_steps_have_counts_by_line_that_add_up(self):
        self.assertGreater(len(self.steps), 15)
        for identity in ("1", "2", "3", "4", "7", "12"):
            step = self.steps[identity]
            lines = [line["counters"] for file in step["profile"]["files"] for line in file["lines"] if line["counters"]]
            counted = sum(line.get("warp_instructions", 0) for line in lines)
            self.assertGreater(counted, 0, identity)
            self.assertLessEqual(counted, step["counters"]["warp_instructions"], identity)
            self.assertGreater(counted, 0.9 * step["counters"]["warp_instructions"], identity)
            self.assertEqual(step["profile"]["counters"]["warp_instructions"], step["counters"]["warp_instructions"])

    def test_times_of_cards_are_those_of_the_pages(self):
        for card in ("h100", "h200"):
            source = f"docs/results/ladders/reduce-{card}.md"
            text = (ROOT / source).read_text(encoding="utf-8")
            runs = [run for run in self.ladder["elsewhere"] if run["source"] == source]
            sections = re.findall(r"^## n = .*?\((\d+)\), block (\d+),", text, re.M)
            self.assertEqual([(str(run["n"]), str(run["block"])) for run in runs], sections)
            rows = re.findall(r"^\| (\w+) \| [^|]* \| (?:right|wrong|right by luck)[^|]* \| [^|]* \| ([\d.]+) \|", text, re.M)
            self.assertEqual([(step["id"], step["time_us"]) for run in runs for step in run["steps"]],
                             [(identity, float(time)) for identity, time in rows])
            ceilings = re.findall(r"^Ceilings .*: read (\d+) GB/s", text, re.M)
            self.assertEqual([run["ceiling_gb_per_s"] for run in runs], [float(ceiling) for ceiling in ceilings])
            self.assertRegex(runs[0]["date"], r"^\d{4}-\d\d-\d\d$")
            self.assertIn(runs[0]["card"], text.splitlines()[0])

    def test_published_times_are_those_of_the_ladder(self):
        header = (ROOT / "ladder/reduce/definition/published.hpp").read_text(encoding="utf-8")
        figures = re.search(r"g80_ms\{([^}]*)\}", header)[1].split(",")
        self.assertEqual([round(time / 1e3, 6) for time in self.ladder["published"][0]["time_us"].values()],
                         [float(figure) for figure in figures])

    def test_errata_are_those_of_the_tree(self):
        errata = ROOT / "docs/lectures/errata.md"
        self.assertEqual(self.data["errata"], errata.read_text(encoding="utf-8") if errata.exists() else "")

    def test_nothing_is_predicted_where_nothing_is_asked(self):
        self.assertFalse(any("predictions" in step for step in self.steps.values()))


class Predicted(unittest.TestCase):
    def test_predictions_of_each_step_and_card(self):
        with tempfile.TemporaryDirectory() as folder:
            library = pathlib.Path(folder) / "d3.min.js"
            library.write_text("// https://d3js.org v5.16.0 stand-in\n")
            path = pathlib.Path(folder) / "report.html"
            make("report", "reduce", "--device", "softgpu", "--n", "2^12", "--predict", "h200,t4", "-o", str(path),
                 WARPFOLD_D3=str(library))
            ladder = data_of(path.read_text(encoding="utf-8"))["ladders"][0]
        counted = [step for step in ladder["steps"] if step["launches"]]
        self.assertGreater(len(counted), 15)
        for step in counted:
            self.assertEqual(set(step["predictions"]), {"h200", "t4"}, step["id"])
            for card, p in step["predictions"].items():
                self.assertAlmostEqual(p["cold_nanoseconds"], sum(l["predictions"][card]["cold_nanoseconds"]
                                                                 for l in step["launches"]), places=3)
                self.assertEqual(step["profile"]["predictions"][card]["bound"], p["bound"])
        faster = [claim["figure"] for step in ladder["steps"] for claim in step["claims"]
                  if "in the model of h200" in claim["figure"]]
        self.assertTrue(faster)
        for figure in faster:
            self.assertIn("not measured", figure)


if __name__ == "__main__":
    unittest.main()
