# SPDX-License-Identifier: MIT
"""measure/pages/lectures.py on small lectures, and that the pages of docs/lectures are made from the data that is there."""
import contextlib
import io
import json
import pathlib
import tempfile
import unittest

from support import ROOT, load

lectures = load("measure/pages/lectures.py")

SLIDES = {
    "759": [{"title": "Agenda", "nothing": "agenda"},
            {"title": "Reduction #1: Interleaved", "says": "Threads add.", "steps": ["x/1"]},
            {"title": "[Preamble: 1/3] Idle Threads…", "says": "Half of them idle.", "tables": True}],
    "380": [{"title": "Idle", "says": "As 759."}],
}


def step(name, *claims):
    return {"step": name, "title": f"step {name}", "source": f"ladder/{name}.cu", "result": "right",
            "checks": {"holds": True, "figure": "no finding"},
            "claims": [dict(zip(("claim", "lecture", "holds", "figure"), claim)) for claim in claims]}


class Lectures(unittest.TestCase):
    def setUp(self):
        self.place = tempfile.TemporaryDirectory()
        self.addCleanup(self.place.cleanup)
        self.folder = pathlib.Path(self.place.name) / "lectures"
        (self.folder / "slides").mkdir(parents=True)
        (self.folder / "../results/ladders").mkdir(parents=True)
        for name in lectures.LECTURES:
            self.slides(name, SLIDES.get(name, []))
        self.write("reasons.json", [])
        self.write("claims.json", [
            step("x/1", ("half | idle", "759, Idle Threads; 380, Idle", True, "64 of 128"), ("alone", "own idea", True, "1")),
            step("x/2", ("faster than step 1", "759, Reduction #1", None, "no times"), ("of all", "380", True, "2")) | {"result": "wrong"}])

    def write(self, name, content):
        (self.folder / name).write_text(json.dumps(content), encoding="utf-8")

    def slides(self, name, slides):
        self.write(f"slides/{name}.json", {"lecture": name, "name": f"Lecture {name}", "slides": slides})

    def card(self, card, *verdicts):
        self.write(f"../results/ladders/ladders-{card}.json", {"card": f"NVIDIA {card}", "date": "2026-01-31", "verdicts": [
            dict(zip(("step", "claim", "holds", "figure", "qualified"), verdict)) for verdict in verdicts]})

    def call(self, *arguments):
        out, notes = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(notes):
            status = lectures.main([str(self.folder), *arguments])
        return status, out.getvalue(), notes.getvalue()

    def page(self, name):
        return (self.folder / name).read_text(encoding="utf-8")

    def test_a_claim_stands_under_each_slide_that_it_cites(self):
        self.card("H1", ("x/2", "faster than step 1", True, "2.5x"))
        self.assertEqual(self.call(), (0, "", ""))
        page = self.page("759.md")
        self.assertNotIn("Agenda", page)
        self.assertIn("| half \\| idle | x/1 | ✓ 64 of 128 | – | no finding |", page)
        self.assertIn("| half \\| idle | x/1 | ✓ 64 of 128 | – | no finding |", self.page("380.md"))
        self.assertIn("| faster than step 1 | x/2 | – | ✓ 2.5x | no finding |", page)
        self.assertIn("[x/1](../../ladder/x/1.cu), step x/1; [x/2](../../ladder/x/2.cu), step x/2 (wrong)", page)
        self.assertIn("`./dev warpfold ladder x --claims --steps 1,2`", page)
        self.assertLess(page.index("## Reduction #1"), page.index("Idle Threads…"))
        self.assertIn("[the tables](tables.md)", page)
        self.assertIn("| of all | x/2 |", self.page("380.md").split("## The lecture as a whole")[1])
        self.assertIn("| alone | x/1 |", self.page("beyond.md"))
        self.assertIn("| 2 | ✓ 1, ✗ 0, – 1 | ✓ 1, ✗ 0, – 1 |", self.page("README.md"))

    def test_a_slide_that_is_not_there(self):
        self.write("claims.json", [step("x/1", ("a", "759, Idle Thread", True, ""), ("b", "380, None", True, ""))])
        self.slides("759", [SLIDES["759"][2]])
        with self.assertRaises(lectures.BadInput) as raised:
            self.call()
        self.assertEqual(str(raised.exception).splitlines(),
                         ['x/1 cites a slide that 759 does not have: "Idle Thread"',
                          'x/1 cites a slide that 380 does not have: "None"'])
        self.assertFalse((self.folder / "759.md").exists())

    def test_a_step_that_is_not_there(self):
        self.slides("587", [{"title": "New", "steps": ["x/9"]}])
        with self.assertRaisesRegex(lectures.BadInput, '^587, "New": no ladder has the step x/9$'):
            self.call()
        self.slides("587", [])
        self.write("reasons.json", [{"step": "x/9", "why": "?"}])
        with self.assertRaisesRegex(lectures.BadInput, "^reasons.json: no ladder has the step x/9$"):
            self.call()

    def test_a_slide_that_nothing_covers(self):
        self.slides("587", [{"title": "New"}])
        self.assertEqual(self.call()[:2], (1, 'not covered: 587, "New": neither a step nor a sentence\n'))

    def test_what_does_not_hold_needs_a_reason(self):
        self.card("H1", ("x/2", "faster than step 1", False, "0.9x", "no difference"))
        self.card("H2", ("x/2", "faster than step 1", False, "0.8x"))
        status, said, _ = self.call()
        self.assertEqual(status, 1)
        self.assertEqual(said.splitlines(), ['no reason: x/2 on H1: "faster than step 1" (0.9x)',
                                             'no reason: x/2 on H2: "faster than step 1" (0.8x)'])
        self.write("reasons.json", [{"step": "x/2", "about": "Faster", "on": ["H1"], "why": "Level."},
                                    {"step": "x/2", "why": "Its loads hit in L1 (times-h1.md)."}])
        self.assertEqual(self.call(), (0, "", ""))
        self.assertIn("| ✗ no difference: 0.9x | ✗ 0.8x |", self.page("759.md"))
        self.assertIn("- ✗ x/2 (H1): Level.\n- ✗ x/2 (H2): Its loads hit in L1 ([times-h1.md](../results/ladders/times-h1.md)).\n", self.page("759.md"))

    def test_a_remark_has_no_mark(self):
        first, second = json.loads(self.page("claims.json"))
        first["claims"][0].update(refuted_by=None, holds=False)
        second["claims"][1]["refuted_by"] = "step 1 in its place"
        self.write("claims.json", [first, second])
        self.assertEqual(self.call(), (0, "", ""))
        self.assertIn("| half \\| idle | x/1 | 64 of 128 | no finding |", self.page("759.md"))
        self.assertIn("| of all<br>_against: step 1 in its place_ | x/2 | ✓ 2 |", self.page("380.md"))
        self.assertIn("| 2 | ✓ 0, ✗ 0, – 1 |", self.page("README.md"))

    def test_reasons_of_what_holds(self):
        self.write("reasons.json", [{"step": "x/1", "about": "half", "why": "Not shown."},
                                    {"step": "x/1", "about": "half", "differs": True, "why": "Shown: it differs."}])
        status, said, notes = self.call()
        self.assertEqual((status, said), (0, ""))
        self.assertEqual(notes, "note: a reason for what holds: x/1, Not shown.\n")
        self.assertIn("- x/1 (software GPU): Shown: it differs.", self.page("759.md"))

    def test_a_second_machine_says_what_the_first_could_not(self):
        self.card("H1", ("x/1", "half | idle", None, "needs two GPUs;"), ("x/1", "alone", True, "first"))
        self.write("../results/ladders/ladders-z2.json", {"card": "2 x NVIDIA H1", "date": "2026-02-01", "verdicts": [
            {"step": "x/1", "claim": "half | idle", "holds": True, "figure": "7"},
            {"step": "x/1", "claim": "alone", "holds": True, "figure": "second"}]})
        self.call()
        self.assertIn("| ✓ 64 of 128 | ✓ 7 (2 x NVIDIA H1) |", self.page("759.md"))
        self.assertIn("| ✓ 1 | ✓ first |", self.page("beyond.md"))

    def test_the_same_words_of_two_lectures(self):
        first, second = json.loads(self.page("claims.json"))
        first["claims"] = [{**first["claims"][0], "lecture": f"{name}, Idle"} for name in ("759", "380")]
        self.write("claims.json", [first, second])
        self.write("../results/ladders/ladders-h1.json", {"card": "NVIDIA H1", "date": "2026-01-31", "verdicts": [
            {"step": "x/1", "claim": "half | idle", "lecture": f"{name}, Idle", "holds": True, "figure": f"of {name}"}
            for name in ("759", "380")]})
        self.call()
        self.assertIn("| ✓ of 759 |", self.page("759.md"))
        self.assertIn("| ✓ of 380 |", self.page("380.md"))

    def test_check(self):
        self.call()
        self.assertEqual(self.call("--check"), (0, "", ""))
        (self.folder / "587.md").write_text("by hand")
        status, said, _ = self.call("--check")
        self.assertEqual(status, 1)
        self.assertIn("587.md is not what measure/pages/lectures.py makes", said)

    def test_the_pages_are_made_from_the_data(self):
        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
            status = lectures.main([str(ROOT / "docs/lectures"), "--check"])
        self.assertEqual((status, out.getvalue()), (0, ""))


if __name__ == "__main__":
    unittest.main()
