# SPDX-License-Identifier: MIT
import re
import sys
import unittest
import xml.etree.ElementTree as ElementTree

from support import ROOT, load

sys.path.insert(0, str(ROOT / "measure/pages"))
pages = load("measure/pages/model_page.py")
PAGE = ROOT / "docs/results/model-h200.md"


class ModelPlot(unittest.TestCase):
    def test_the_plot_of_the_tree_is_that_of_its_page(self):
        self.assertEqual((ROOT / "docs/results/model-h200.svg").read_text(),
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

    def test_the_page_reads_back_what_it_writes(self):
        cell = {"card": "t4", "ladder": "reduce", "step": "1", "title": "", "n": 1 << 20, "asked": 1 << 20, "block": 128,
                "measured": 1234.5, "predicted": 2345.6, "bound": "issue"}
        read = pages.of_page(pages.page([cell], {}))
        self.assertEqual(read, [{key: cell[key] for key in ("card", "ladder", "step", "n", "measured", "predicted")}])


if __name__ == "__main__":
    unittest.main()
