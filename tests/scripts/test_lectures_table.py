# SPDX-License-Identifier: MIT
"""docs/lectures.md has every step and claim of the ladders, with the verdicts of today's run; and the check itself."""
import contextlib
import copy
import io
import json
import os
import pathlib
import tempfile
import unittest

from support import ROOT, load, run

lectures_table = load("measure/pages/lectures_table.py")


def ladders():
    def step(name, *claims):
        return {"id": name, "title": f"step {name}", "source": f"ladder/x/{name}.cu", "ought_to_be": "right",
                "claims": [dict(zip(("text", "lecture", "holds", "figure"), c)) for c in claims]}
    device = {"name": "Some Card", "software": True}
    return [{"ladder": "x", "device": device,
             "steps": [step("1", ("half | idle", "759, slide 'Idle'", True, "64 of 128"), ("fast", "380", None, "no times")),
                       step("2", ("exact", "parallel-patterns, Work", False, "it is not"))]}]


class LecturesTable(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name, content):
        path = pathlib.Path(self.folder.name) / name
        path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
        return str(path)

    def call(self, *arguments):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            status = lectures_table.main(list(arguments))
        return status, out.getvalue()

    def test_page(self):
        status, page = self.call(self.path("all.json", ladders()))
        self.assertEqual(status, 0)
        self.assertIn("| slide 'Idle' | x/1 | half \\| idle | ✓ | 64 of 128 |", page)
        self.assertIn("| Work | x/2 | exact | ✗ | it is not |", page)
        self.assertIn("| – | x/1 | fast | – | no times |", page)
        self.assertIn("| x | 2 | step 2 | `ladder/x/2.cu` | right |", page)

    def test_page_with_a_gpu(self):
        on_gpu = ladders()
        on_gpu[0]["device"]["software"] = False
        on_gpu[0]["steps"][0]["claims"][1].update(holds=True, figure="2.5x")
        status, text = self.call(self.path("gpu.json", on_gpu), "--distil", "--date", "2026-01-31")
        self.assertEqual(status, 0)
        _, page = self.call(self.path("all.json", ladders()), "--gpu", self.path("card.json", text))
        self.assertIn("| what was counted | Some Card, 2026-01-31 |", page)
        self.assertIn("| fast | – | no times | ✓ 2.5x |", page)

    def test_a_second_machine_says_what_the_first_could_not(self):
        first, second = ladders(), ladders()
        for run_of, figure, holds in (first, "needs two GPUs; to itself: 3", None), (second, "7 bytes", True):
            run_of[0]["device"]["software"] = False
            run_of[0]["steps"][0]["claims"][1].update(holds=holds, figure=figure)
        second[0]["steps"][0]["claims"][0].update(holds=False, figure="another")
        paths = []
        for name, run_of, of in ("a", first, "1"), ("b", second, "2"):
            made = self.call(self.path("gpu.json", run_of), "--distil", "--date", "2026-01-31", "--gpus", of)[1]
            paths += ["--gpu", self.path(name, made)]
        _, page = self.call(self.path("all.json", ladders()), *paths)
        self.assertIn("| what was counted | Some Card, 2026-01-31 |", page)
        self.assertIn("| fast | – | no times | ✓ 7 bytes (2 x Some Card, 2026-01-31) |", page)
        self.assertIn("| half \\| idle | ✓ | 64 of 128 | ✓ 64 of 128 |", page)

    def test_what_holds_instead(self):
        on_gpu = ladders()
        on_gpu[0]["device"]["software"] = False
        on_gpu[0]["steps"][0]["claims"][0].update(holds=None, figure="hardware that is gone; today 32 cycles")
        on_gpu[0]["steps"][1]["claims"][0].update(holds=None, figure="needs something else")
        _, text = self.call(self.path("gpu.json", on_gpu), "--distil", "--date", "2026-01-31")
        _, page = self.call(self.path("all.json", ladders()), "--gpu", self.path("card.json", text))
        self.assertIn("| half \\| idle | ✓ | 64 of 128 | – hardware that is gone; today 32 cycles |", page)
        self.assertIn("| exact | ✗ | it is not | – |", page)

    def test_check_finds_what_is_missing_or_other(self):
        whole = self.path("page.md", self.call(self.path("all.json", ladders()))[1])
        self.assertEqual(self.call(self.path("all.json", ladders()), "--check", whole), (0, ""))

        def changed(change):
            these = copy.deepcopy(ladders())
            change(these[0]["steps"])
            return self.call(self.path("changed.json", these), "--check", whole)

        self.assertEqual(changed(lambda steps: steps[0]["claims"][0].update(figure="63 of 128")), (0, ""))
        for change in (lambda steps: steps.pop(), lambda steps: steps[0]["claims"].pop(0),
                       lambda steps: steps[0]["claims"][0].update(holds=False),
                       lambda steps: steps[1].update(ought_to_be="wrong"),
                       lambda steps: steps.append({**steps[0], "id": "3"})):
            status, said = changed(change)
            self.assertEqual(status, 1)
            self.assertIn(whole, said)

    def test_bad_input(self):
        with self.assertRaises(lectures_table.BadInput):
            self.call(self.path("none.json", "{"))
        with self.assertRaises(lectures_table.BadInput):
            self.call(self.path("all.json", ladders()), "--distil", "--date", "2026-01-31")  # of the software GPU
        twice = ladders()
        twice[0]["steps"][0]["claims"] *= 2
        with self.assertRaises(lectures_table.BadInput):
            self.call(self.path("twice.json", twice))

    def test_the_document_is_whole(self):
        tool = os.environ.get("WARPFOLD_TOOL")
        if not tool or not os.environ.get("WARPFOLD_LADDER"):
            self.skipTest("the ladder is not built here")
        path = str(pathlib.Path(self.folder.name) / "all.json")
        seen = run(tool, "ladder", "all", "--device", "softgpu", "--json", path)
        self.assertEqual(seen.returncode, 0, seen.stderr)
        status, said = self.call(path, "--check", str(ROOT / "docs/lectures.md"))
        self.assertEqual(status, 0, said + "make it anew: measure/pages/lectures_table.py (HACKING.md, How to add)")


if __name__ == "__main__":
    unittest.main()
