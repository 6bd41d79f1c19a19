# SPDX-License-Identifier: MIT
"""measure/session/gpu.sh from end to end, with stand-ins for the card, the compilers and the tools that it calls."""
import json
import os
import pathlib
import shutil
import subprocess
import tarfile
import tempfile
import unittest

from support import ROOT

TOOL = r"""#!/usr/bin/env python3
import json, pathlib, sys
arguments = sys.argv[1:]
print("tool", *arguments)
if "--json" in arguments:
    steps = [{"id": "1", "skipped": None, "on_device": True, "caution": None},
             {"id": "5", "skipped": None, "on_device": True, "caution": "by luck"},
             {"id": "8", "skipped": "needs 64 threads", "on_device": True, "caution": None},
             {"id": "cpu", "skipped": None, "on_device": False, "caution": None}]
    document = {"n": 65536, "steps": steps}
    if arguments[1] == "all":
        if pathlib.Path("crash").exists():
            sys.exit("tool: unspecified launch failure")
        of_scan = [{"id": "1", "skipped": None, "on_device": True, "ought_to_be": "right"},
                   {"id": "3a", "skipped": None, "on_device": True, "ought_to_be": "right by luck"},
                   {"id": "cub", "skipped": None, "on_device": True, "ought_to_be": "right", "peer": True}]
        of_errors = [{"id": "shared", "skipped": None, "on_device": True, "ought_to_be": "right"},
                     {"id": "crash", "skipped": None, "on_device": True, "ought_to_be": "right", "apart": True}]
        document = [document, {"ladder": "scan", "steps": of_scan}, {"ladder": "errors", "steps": of_errors}]
    json.dump(document, open(arguments[arguments.index("--json") + 1], "w"))
if "1024" in arguments and "--block" in arguments:
    sys.exit("tool: no such block")
"""

STAND_INS = {
    "nvidia-smi": 'case "$*" in *compute_cap,*) echo "Card, 9.0, 580, 80 GiB, 1, 2, 3" ;; *) echo 9.0 ;; esac',
    "cmake": 'echo "$@" >>calls; echo "-- nvcc 13.0.88: here"',
    "ninja": 'echo "ninja $*" >>calls',
    "nvcc": 'echo "release 13.0, V13.0.88"',
    "ncu": 'case "$1" in --version) echo "Version 9"; exit ;; esac\n'
           'echo "ncu $*" >>calls; while [ "$1" != --log-file ]; do shift; done; echo \'"0","k"\' >"$2"',
    "compute-sanitizer": 'echo "sanitizer $*" >>calls; while [ "$1" != --log-file ]; do shift; done\n'
                         'echo "RACECHECK SUMMARY: 1 hazard" >"$2"\n'
                         'case "$*" in *"--steps 5"*) exit 9 ;; esac',
}


class Session(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.place = pathlib.Path(folder.name)
        (self.place / "measure/session").mkdir(parents=True)
        (self.place / "ladder/engine/definition").mkdir(parents=True)
        for name in ["measure/session/gpu.sh", "measure/session/compare_ncu.py", "measure/session/sanitize_ladders.py",
                     "measure/session/model_probe.py", "ladder/engine/definition/catalogue.hpp"]:
            shutil.copy(ROOT / name, self.place / name)
        self.program(self.place / "build/gpu/tool/warpfold", TOOL)
        for name, body in STAND_INS.items():
            self.program(self.place / "bin" / name, f"#!/bin/sh\n{body}\n")

    def program(self, path, text):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)

    def session(self, *arguments):
        environment = {**os.environ, "OUT": str(self.place / "out"), "PATH": f"{self.place}/bin:{os.environ['PATH']}"}
        answer = subprocess.run([str(self.place / "measure/session/gpu.sh"), *arguments], cwd=self.place, env=environment,
                                capture_output=True, text=True, timeout=1200, check=False)
        calls = self.place / "calls"
        return answer, calls.read_text() if calls.exists() else ""

    def names(self, archive):
        with tarfile.open(self.place / "out" / archive) as tar:
            return {pathlib.Path(n).name for n in tar.getnames()}

    def test_whole_session(self):
        answer, calls = self.session("30")
        self.assertEqual({p.name for p in (self.place / "out").iterdir()},
                         {"session.log", "facts.json", "ladder.tar.gz", "ladders.json", "sanitizer.tar.gz", "ncu.tar.gz"}, answer.stdout)
        self.assertEqual(json.loads((self.place / "out/facts.json").read_text())["compute_cap"], "9.0")
        self.assertIn("-DWARPFOLD_CUDA_ARCHITECTURES=90", calls)
        tables = self.names("ladder.tar.gz")
        for n in [1 << 22, 1 << 26, 1 << 28]:
            for block in [128, 256]:
                self.assertLessEqual({f"reduce-{n}-{block}.json", f"reduce-{n}-{block}.txt"}, tables)
        # Right and faulty steps are checked separately; the skipped one and the CPU's are not checked.
        for check in ["memcheck", "racecheck", "synccheck", "initcheck"]:
            for steps in ["1", "5"]:
                self.assertRegex(calls, rf"sanitizer --tool {check} .*--steps {steps}\n")
        self.assertLessEqual({"sure-memcheck.log", "lucky-racecheck.log"}, self.names("sanitizer.tar.gz"))
        self.assertEqual({"ncu", "1.csv", "1.out", "5.csv", "5.out"}, self.names("ncu.tar.gz"))
        # Block 1024 fails at three sizes. Findings of the sanitizer in step 5 are no failure.
        self.assertEqual(answer.returncode, 1)
        self.assertIn("done, 3 of the commands failed", answer.stdout)
        self.assertIn("no such block", answer.stdout)

    def test_one_stage(self):
        answer, calls = self.session("30", "sanitize")
        self.assertEqual(answer.returncode, 0, answer.stdout)
        self.assertNotIn("ncu", calls)
        self.assertFalse((self.place / "out/ladder.tar.gz").exists())

    def pages(self):
        for name in ["ladders_page", "verdicts", "plots"]:
            self.program(self.place / "measure/pages" / f"{name}.py", f"import sys\nprint('{name}', *sys.argv[1:])\n")

    def test_all_ladders_and_their_pages(self):
        self.pages()
        answer, calls = self.session("30", "ladders")
        self.assertEqual(answer.returncode, 0, answer.stdout)
        # Faulty steps run one by one; peers do not run.
        for run in ["memcheck .* ladder scan .*--steps 1\n", "memcheck .* ladder scan .*--steps 3a\n",
                    "racecheck .* ladder scan .*--steps 3a\n", "initcheck .* ladder scan .*--steps 1\n",
                    "memcheck .*--report-api-errors no --target-processes all .* ladder errors .*--steps crash\n"]:
            self.assertRegex(calls, "sanitizer --tool " + run)
        self.assertNotIn("cub", calls)
        self.assertIn("racecheck-scan-3a.log", self.names("sanitizer.tar.gz"))
        self.assertTrue((self.place / "out/ladders.json").exists())
        self.assertEqual(self.names("ladders.tar.gz"), {"ladder", "pages", "all.txt", "all.err", "ladders.md", "ladders.json"})
        kept = self.place.joinpath("build", "gpu", "work", "ladder")
        self.assertIn("ladder all --claims --device gpu", (kept / "all.txt").read_text())
        self.assertIn("verdicts", (kept / "pages" / "ladders.json").read_text())

    def test_published_sizes(self):
        self.program(self.place / "measure/pages/lecture_tables.py", """import sys
print("16 128 int32 device 1,2\\n16 1024 float host 1" if "--shapes" in sys.argv else " ".join(sys.argv[1:]))
""")
        answer, _ = self.session("30", "published")
        self.assertEqual(answer.returncode, 1)  # block 1024 fails, and is left out
        kept = self.place.joinpath("build", "gpu", "work", "published")
        self.assertIn("--n 16 --block 128 --type int32 --finish device --steps 1,2", (kept / "16-128-int32-device.txt").read_text())
        self.assertRegex((self.place / "out/published.json").read_text(), r"^--distil \S*/16-128-int32-device.json --date 20")
        self.assertIn("published: n = 16, block 1024, float failed", answer.stdout)

    def test_a_card_is_measured(self):
        figures = {"clock": {"value": 1.5, "how": "measured"}}
        measured = self.place / "measured.json"
        measured.write_text(json.dumps({"device": "Card", "compute_capability": "9.0", "figures": figures}))
        self.program(self.place / "bin/nvcc", f"""#!/bin/sh
echo release 13.0, V13.0.88
while [ $# -gt 0 ]; do
    if [ "$1" = -o ]; then
        printf '#!/bin/sh\\ncat {measured}\\n' >"$2"
        chmod +x "$2"
    fi
    shift
done
""")
        shutil.copytree(ROOT / "measure/calibrate", self.place / "measure/calibrate")
        shutil.copytree(ROOT / "softgpu/predict", self.place / "softgpu/predict")
        answer, calls = self.session("30", "calibrate")
        self.assertEqual(answer.returncode, 0, answer.stdout)
        self.assertNotIn("ninja", calls)  # only the program is built
        card = json.loads((self.place / "out/card.json").read_text())
        self.assertEqual(card["figures"]["clock"]["value"], 1.5)
        self.assertRegex(card["figures"]["clock"]["source"], r"^measured 20\d\d-\d\d-\d\d, Card$")
        self.assertRegex(card["figures"]["launch"]["source"], "^copied from h[12]00: ")

    def test_what_the_model_is_held_against(self):
        answer, calls = self.session("30", "model")
        self.assertEqual(answer.returncode, 1)  # the stand-in for ncu runs nothing
        self.assertRegex(calls, "ncu --clock-control none --cache-control all .*ladder reduce --device gpu --no-claims")
        runs = json.loads((self.place / "out/model.json").read_text())["runs"]
        self.assertEqual([r for r in runs if r["rows"]], runs)

    def test_findings_in_ladders(self):
        self.pages()
        self.program(self.place / "bin/compute-sanitizer", "#!/bin/sh\ncase \"$*\" in *scan*) exit 9 ;; esac\n")
        answer, _ = self.session("30", "ladders")
        self.assertEqual(answer.returncode, 1)
        self.assertIn("memcheck, scan, step 1: FOUND", answer.stdout)
        self.assertIn("racecheck, scan, step 3a: found, as told", answer.stdout)
        self.assertIn("memcheck, errors, step crash: nothing found, and its fault is of the kind", answer.stdout)
        self.assertIn("4 of them with findings", answer.stdout)
        self.assertIn("done, 1 of the commands failed", answer.stdout)

    def test_a_ladder_that_takes_the_others_with_it(self):
        self.pages()
        (self.place / "crash").touch()
        answer, _ = self.session("30", "ladders")
        self.assertEqual(answer.returncode, 1)
        self.assertIn("unspecified launch failure", answer.stdout)
        self.assertEqual(len(json.loads((self.place / "out/ladders.json").read_text())), 12)
        self.assertIn("alone", self.names("ladders.tar.gz"))

    def test_time_that_runs_out_ends_the_session(self):
        answer, calls = self.session("0")
        self.assertEqual(answer.returncode, 1)
        self.assertIn("no time left for: cmake", answer.stdout)
        self.assertEqual(calls, "")

    def test_no_card(self):
        self.program(self.place / "bin/nvidia-smi", "#!/bin/sh\nexit 9\n")
        answer, calls = self.session("30")
        self.assertEqual((answer.returncode, calls), (1, ""))
        self.assertIn("no GPU answers nvidia-smi", answer.stdout)

    def test_findings_in_steps_that_claim_to_be_right_fail_the_session(self):
        self.program(self.place / "bin/compute-sanitizer", "#!/bin/sh\nexit 9\n")
        answer, _ = self.session("30", "sanitize")
        self.assertEqual(answer.returncode, 1)
        self.assertIn("done, 4 of the commands failed", answer.stdout)


if __name__ == "__main__":
    unittest.main()
