# SPDX-License-Identifier: MIT
"""measure/session/model_probe.py with stand-ins for the command and ncu."""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

from support import ROOT

TOOL = """#!/usr/bin/env python3
import json, sys
a = sys.argv[1:]
steps = [{"id": "1", "skipped": None, "on_device": True}, {"id": "cpu", "skipped": None, "on_device": False},
         {"id": "apart", "skipped": None, "on_device": True, "apart": True},
         {"id": "two words", "skipped": None, "on_device": True}]
if "--steps" in a:
    steps = [s for s in steps if s["id"] in a[a.index("--steps") + 1].split(",")]
for s in steps:
    s.update(n=64, time_us=None if "--no-times" in a else 2.5, time_us_low=2, time_us_high=3, warm_time_us=1.5)
json.dump({"n": 4096, "steps": steps}, open(a[a.index("--json") + 1], "w"))
open("calls", "a").write(" ".join(a) + "\\n")
if a[1] == "scan":
    sys.exit(6)
"""
NCU = """#!/usr/bin/env python3
import subprocess, sys
a = sys.argv[1:]
tool = next(k for k, word in enumerate(a) if word.endswith("warpfold"))
metrics = a[a.index("--metrics") + 1].split(",")
status = subprocess.run(a[tool:]).returncode
with open(a[a.index("--log-file") + 1], "w") as out:
    print("==PROF== Connected", file=out)
    print(",".join(f'"{c}"' for c in ["ID", "Kernel Name", "Block Size", "Grid Size", *metrics]), file=out)
    print(",".join(['""'] * 4 + ['"%"'] * len(metrics)), file=out)
    print(",".join(f'"{c}"' for c in ["0", "void warpfold::copy<float>(float *)", "(128, 1, 1)", "(4, 1, 1)",
                                      *("n/a" if m.startswith("lts__thr") else "1,234.5" for m in metrics)]), file=out)
open("calls", "a").write("ncu " + a[a.index("--cache-control") + 1] + "\\n")
sys.exit(status)
"""


class Probe(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.place = pathlib.Path(folder.name)
        for name, text in (("warpfold", TOOL), ("ncu", NCU)):
            (self.place / name).write_text(text)
            (self.place / name).chmod(0o755)

    def probe(self, *more):
        answer = subprocess.run([sys.executable, "-B", str(ROOT / "measure/session/model_probe.py"), "--tool",
                                 str(self.place / "warpfold"), "--out", "model.json", "--work", "work", *more],
                                cwd=self.place, env={"PATH": f"{self.place}:/usr/bin:/bin"}, capture_output=True, text=True,
                                timeout=1200, check=False)
        return answer, json.loads((self.place / "model.json").read_text()) if (self.place / "model.json").exists() else None

    def test_three_sizes_of_every_step(self):
        answer, found = self.probe("--ladders", "memory")
        self.assertEqual((answer.returncode, found["cut_off"]), (0, []), answer.stderr)
        self.assertEqual([r["n"] for r in found["runs"]], [4096, 512, 64])
        self.assertEqual(found["runs"][0]["steps"], ["1", "two words"])
        row = found["runs"][0]["rows"][0]
        self.assertEqual((row["kernel"], row["grid"], row["block"], row["dram_read_bytes"], row["l2"]),
                         ("copy", [4, 1, 1], [128, 1, 1], 1234.5, None))
        calls = (self.place / "calls").read_text()
        self.assertIn("ladder memory --device gpu --no-claims --no-times --json work/memory-8.json "
                      "--steps 1,two words --n 512\nncu all\n", calls)
        self.assertEqual(calls.count("ncu all"), 3)

    def test_a_ladder_that_fails_leaves_the_others(self):
        answer, found = self.probe("--ladders", "scan,memory")
        self.assertEqual(answer.returncode, 1)
        self.assertEqual(found["cut_off"], ["scan, its steps: ended with 6"])
        self.assertEqual({r["ladder"] for r in found["runs"]}, {"memory"})

    def test_no_time(self):
        answer, found = self.probe("--ladders", "memory", "--seconds", "1")
        self.assertEqual((answer.returncode, found["runs"]), (2, []))
        self.assertIn("memory, its steps: no time left", found["cut_off"])


if __name__ == "__main__":
    unittest.main()
