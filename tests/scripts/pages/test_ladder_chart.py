# SPDX-License-Identifier: MIT
import re
import unittest
import xml.etree.ElementTree as ElementTree

from support import ROOT, load

chart = load("measure/pages/ladder_chart.py")
PAGE = ROOT / "docs/results/ladders/reduce-h200.md"


class LadderChart(unittest.TestCase):
    def test_the_picture_of_the_readme_is_that_of_the_page(self):
        self.assertEqual((ROOT / "docs/reduce-ladder.svg").read_text(), chart.draw(PAGE, "2^28", 256))

    def test_twelve_steps_and_cub_with_their_figures(self):
        picture = chart.draw(PAGE, "2^28", 256)
        root = ElementTree.fromstring(picture)  # well-formed
        words = [node.text or "" for node in root.iter() if node.tag.endswith("text")]
        for step in range(1, 13):
            self.assertTrue(any(word.startswith(f"{step}  ") for word in words), step)
        self.assertIn("CUB DeviceReduce", words)
        self.assertEqual(len(re.findall("<rect", picture)), 13)
        # The page's row of step 1: | 1 | interleaved ... | 8.7 % |, read here by eye.
        self.assertIn("8.7 %", words)
        self.assertIn("2,688 µs", words)

    def test_bars_are_as_long_as_their_shares(self):
        rows, _, _ = chart.rows_of(PAGE.read_text(), "2^28", 256)
        widths = [float(w) for w in re.findall(r'<rect [^>]*width="([\d.]+)"', chart.draw(PAGE, "2^28", 256))]
        whole = chart.WIDTH - chart.LEFT - chart.RIGHT
        for row, width in zip(rows, widths):
            self.assertAlmostEqual(width / whole * 100, row[3], places=1)

    def test_refuses_other_pages_and_wrong_results(self):
        with self.assertRaises(chart.BadInput):
            chart.draw(ROOT / "README.md", "2^28", 256)
        with self.assertRaises(chart.BadInput):
            chart.rows_of(PAGE.read_text(), "2^3", 256)
        with self.assertRaises(chart.BadInput):
            chart.rows_of(PAGE.read_text().replace("| right |", "| WRONG |"), "2^28", 256)
        self.assertEqual(chart.main(["nowhere.md"]), 2)


if __name__ == "__main__":
    unittest.main()
