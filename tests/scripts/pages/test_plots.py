# SPDX-License-Identifier: MIT
import json
import pathlib
import re
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree

from support import load

plots = load("measure/pages/plots.py")


def study(**changes):
    head = ["threads on a\nmultiprocessor"] + [f"{size} B\nx {loads}" for size in (4, 8, 16) for loads in (1, 2, 4, 8)]
    rows = [[str(threads)] + [str(100 + k * threads // 64) for k in range(12)] for threads in (128, 256, 2048)]
    rows[-1] = rows[-1][:10]  # the widest shapes do not fit there
    out = {"ladder": "occupancy", "device": {"name": "NVIDIA H100 80GB HBM3", "software": False},
           "steps": [{"claims": [{"text": "bytes in flight needed", "figure": "337 ns x 3187 GB/s = 1075 KB in flight, "
                                  "8.1 KB on each multiprocessor"}]}],
           "tables": [{"title": "Latency of dependent loads over the bytes", "head": ["KiB", "cycles", ""],
                       "rows": [["4", "32.1", "██"], ["1024", "273.6", "███"], ["1048576", "668", "████"]]},
                      {"title": "Multiply-adds of float32 a cycle", "head": ["warps", "1 chain", "2 chains", "4 chains", "bar"],
                       "rows": [["1", "7.2", "14", "27", "█"], ["32", "127.5", "128", "128", "███"]]},
                      {"title": "Copy bandwidth over occupancy, GB/s", "head": head, "rows": rows}]}
    out.update(changes)
    return out


class Plots(unittest.TestCase):
    def draw(self, document):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "all.json").write_text(json.dumps(document))
            plots.main([str(folder / "all.json"), "--date", "2026-01-31", name])
            return {p.name: p.read_text() for p in folder.glob("*.svg")}

    def test_four_files_with_axes_and_a_caption(self):
        drawn = self.draw([{"ladder": "reduce"}, study()])
        self.assertEqual(set(drawn), {f"occupancy-{what}-h100.svg" for what in ("bandwidth", "in-flight", "latency",
                                                                                "arithmetic")})
        for text in drawn.values():
            root = ElementTree.fromstring(text)  # well-formed
            words = " ".join(node.text or "" for node in root.iter() if node.tag.endswith("text"))
            self.assertIn("NVIDIA H100 80GB HBM3, 2026-01-31", words)
            for node in root.iter():
                for place in ("cx", "cy"):
                    if place in node.attrib:
                        limit = plots.WIDTH if place == "cx" else plots.HEIGHT
                        self.assertTrue(0 <= float(node.attrib[place]) <= limit)
        self.assertIn("cycles a load", drawn["occupancy-latency-h100.svg"])
        self.assertIn("1 GiB", drawn["occupancy-latency-h100.svg"])

    def test_every_measured_point_is_drawn(self):
        text = self.draw(study())["occupancy-in-flight-h100.svg"]
        legend = 3
        self.assertEqual(len(re.findall("<circle", text)), 12 + 12 + 9 + legend)
        self.assertIn("Little's law: 7.9 KiB", text)

    def test_larger_values_are_higher(self):
        text = self.draw(study())["occupancy-latency-h100.svg"]
        heights = [float(y) for y in re.findall(r'<circle cx="[\d.]+" cy="([\d.]+)"', text)]
        self.assertEqual(heights, sorted(heights, reverse=True))

    def test_refuses_what_was_not_measured(self):
        with self.assertRaises(plots.BadInput):
            self.draw([{"ladder": "reduce"}])
        with self.assertRaises(plots.BadInput):
            self.draw(study(tables=[]))


if __name__ == "__main__":
    unittest.main()
