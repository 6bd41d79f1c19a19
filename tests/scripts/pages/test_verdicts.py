# SPDX-License-Identifier: MIT
"""measure/pages/verdicts.py, and that docs/lectures/claims.json has every step and claim of the ladders, as they are today."""
import contextlib
import copy
import io
import json
import os
import pathlib
import tempfile
import unittest

from support import ROOT, load, run

verdicts = load("measure/pages/verdicts.py")


def ladders(software=True):
    def step(name, *claims):
        return {"id": name, "title": f"step {name}", "source": f"ladder/x/{name}.cu", "ought_to_be": "right",
                "claims": [dict(zip(("text", "lecture", "holds", "figure"), c)) for c in claims]}
    return [{"ladder": "x", "device": {"name": "Some Card", "software": software},
             "steps": [step("1", ("half | idle", "759, Idle", True, "64 of 128"), ("fast", "380", None, "no times"),
                            ("no fault", "the checks", True, "no finding")),
                       step("2", ("exact", "parallel-patterns, Work", False, "it is not"))]}]


class Verdicts(unittest.TestCase):
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
            status = verdicts.main(list(arguments))
        return status, out.getvalue()

    def test_steps_of_the_software_gpu(self):
        status, made = self.call(self.path("all.json", ladders()))
        self.assertEqual(status, 0)
        first, second = json.loads(made)
        self.assertEqual(first["step"], "x/1")
        self.assertEqual(first["checks"], {"holds": True, "figure": "no finding"})
        self.assertEqual([claim["claim"] for claim in first["claims"]], ["half | idle", "fast"])
        self.assertIsNone(second["checks"])
        self.assertEqual(len(made.splitlines()), 7)  # a line for each step and claim

    def test_verdicts_of_a_gpu(self):
        on_gpu = ladders(software=False)
        on_gpu[0]["steps"][0]["claims"][1].update(figure="needs two GPUs; to itself: 3", qualified="no difference")
        on_gpu[0]["steps"][1]["claims"][0].update(holds=None, figure="needs something else")
        _, made = self.call(self.path("gpu.json", on_gpu), "--date", "2026-01-31", "--gpus", "2")
        made = json.loads(made)
        self.assertEqual((made["card"], made["date"]), ("2 x Some Card", "2026-01-31"))
        self.assertEqual([(v["step"], v["claim"], v["holds"], v.get("qualified")) for v in made["verdicts"]],
                         [("x/1", "half | idle", True, None), ("x/1", "fast", None, "no difference")])

    def test_what_refutes_a_claim(self):
        these = ladders()
        these[0]["steps"][0]["claims"][0]["refuted_by"] = None
        these[0]["steps"][0]["claims"][1]["refuted_by"] = "step 2 in its place"
        first, _ = json.loads(self.call(self.path("all.json", these))[1])
        self.assertEqual([claim["refuted_by"] for claim in first["claims"]], [None, "step 2 in its place"])

    def test_check_finds_what_is_missing_or_other(self):
        whole = self.path("claims.json", self.call(self.path("all.json", ladders()))[1])
        self.assertEqual(self.call(self.path("all.json", ladders()), "--check", whole), (0, ""))

        def changed(change):
            these = copy.deepcopy(ladders())
            change(these[0]["steps"])
            return self.call(self.path("changed.json", these), "--check", whole)

        self.assertEqual(changed(lambda steps: steps[0]["claims"][0].update(figure="63 of 128")), (0, ""))
        for change in (lambda steps: steps.pop(), lambda steps: steps[0]["claims"].pop(0),
                       lambda steps: steps[0]["claims"][0].update(holds=False),
                       lambda steps: steps[0]["claims"][0].update(lecture="759, Another"),
                       lambda steps: steps[0]["claims"][2].update(holds=False),
                       lambda steps: steps[1].update(ought_to_be="wrong"),
                       lambda steps: steps.append({**steps[0], "id": "3"})):
            status, said = changed(change)
            self.assertEqual(status, 1)
            self.assertIn(whole, said)

    def test_bad_input(self):
        twice, mixed = ladders(), ladders() + ladders(software=False)
        twice[0]["steps"][0]["claims"] *= 2
        same_words = ladders()
        same_words[0]["steps"][0]["claims"].append({**same_words[0]["steps"][0]["claims"][0], "lecture": "380, Idle"})
        self.assertEqual(self.call(self.path("same.json", same_words))[0], 0)
        for content, *arguments in (("{",), (ladders(), "--date", "2026-01-31"), (ladders(software=False),), (twice,), (mixed,)):
            with self.assertRaises(verdicts.BadInput):
                self.call(self.path("bad.json", content), *arguments)

    def test_the_claims_are_those_of_the_ladders(self):
        tool = os.environ.get("WARPFOLD_TOOL")
        if not tool or not os.environ.get("WARPFOLD_LADDER"):
            self.skipTest("the ladder is not built here")
        path = str(pathlib.Path(self.folder.name) / "all.json")
        # One worker: how often a block looks for another one's result does not hang on what else the machine does.
        seen = run(tool, "ladder", "all", "--device", "softgpu", "--json", path, SOFTGPU_WORKERS="1")
        self.assertEqual(seen.returncode, 0, seen.stderr)
        status, said = self.call(path, "--check", str(ROOT / "docs/lectures/claims.json"))
        self.assertEqual(status, 0, said + "make it anew: docs/measuring.md, Pages without a GPU")


if __name__ == "__main__":
    unittest.main()
