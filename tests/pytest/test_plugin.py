# SPDX-License-Identifier: MIT
"""The pytest plug-in, by small suites that pytest runs in a process of its own. Environment: WARPFOLD_TOOL, the command."""
import json
import os
import pathlib
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
TOOL = os.environ["WARPFOLD_TOOL"]
IMPORTS = "import pytest\nfrom gpu_kernels import launch, synchronize\n"


@pytest.fixture
def suite(tmp_path):
    """suite(text, *options, before=(), **environment): runs a file of tests; its exit status and its output."""
    def run(text, *options, before=(), **environment):
        (tmp_path / "test_suite.py").write_text(IMPORTS + text)
        clean = {name: value for name, value in os.environ.items() if not name.startswith(("SOFTGPU_", "WARPFOLD"))}
        answer = subprocess.run(
            [*before, sys.executable, "-B", "-m", "pytest", "-p", "no:cacheprovider", "-p", "warpfold_pytest", "-rA", *options],
            cwd=tmp_path, capture_output=True, text=True, check=False, timeout=600,
            env={**clean, "PYTHONPATH": f"{ROOT}/tool/pytest:{HERE}", "WARPFOLD": TOOL, **environment})
        return answer.returncode, answer.stdout + answer.stderr
    return run


def outcome(output, test):
    """PASSED, FAILED, ERROR or XFAIL, as the short summary says."""
    found = [line.split()[0] for line in output.splitlines() if f"test_suite.py::{test}" in line.split()[1:2]]
    assert len(found) == 1, output
    return found[0]


def test_findings_fail_the_test_that_caused_them(suite):
    status, output = suite("""
@pytest.fixture
def racing():
    launch("race")

def test_fine(): launch("fine")
def test_race(): launch("race")
def test_no_gpu(): pass
def test_race_again(): launch("race")
def test_fixture(racing): pass
def test_wrong_too():
    launch("race")
    assert 1 == 2
@pytest.mark.xfail(strict=True)
def test_expected(): launch("race")
""", "--warpfold")
    assert status == 1, output
    assert {test: outcome(output, f"test_{test}") for test in ("fine", "race", "no_gpu", "race_again", "fixture", "wrong_too",
                                                              "expected")} == {
        "fine": "PASSED", "race": "FAILED", "no_gpu": "PASSED", "race_again": "FAILED", "fixture": "ERROR",
        "wrong_too": "FAILED", "expected": "XFAIL"}
    assert "software GPU, checks: memory,race,init,sync" in output
    assert "race in shared memory in kernel race" in output
    assert "warpfold call" in output, "the section beside the test's own failure"
    assert "assert 1 == 2" in output
    assert "5 findings in 5 tests" in output


@pytest.mark.parametrize("checks", ["memory", "none"])
def test_a_failed_kernel_is_named_in_later_tests(suite, checks):
    status, output = suite("""
def test_before(): launch("fine")
def test_fault(): launch("fault")
def test_after(): synchronize()
""", "--warpfold", "--warpfold-check", checks)
    assert status == 1, output
    assert [outcome(output, f"test_{test}") for test in ("before", "fault", "after")] == ["PASSED", "FAILED", "FAILED"]
    assert "a kernel failed in test_suite.py::test_fault" in output


def test_checks_are_chosen(suite):
    race = "def test_race(): launch('race')"
    status, output = suite(race, "--warpfold", "--warpfold-check", "none")
    assert (status, outcome(output, "test_race")) == (0, "PASSED")
    assert suite(race, "--warpfold", "--warpfold-check", "memory,sync")[0] == 0
    assert suite(race, "--warpfold", "--warpfold-check", "all")[0] == 1
    assert suite(race, "--warpfold", SOFTGPU_CHECK="memory")[0] == 0
    status, output = suite(race, "--warpfold", "--warpfold-check", "races")
    assert status == 4
    assert "no check 'races'" in output


def test_without_the_option_it_does_nothing(suite):
    status, output = suite("def test_none(): pass")
    assert status == 0
    assert "software GPU" not in output
    status, output = suite("def test_none(): pass", "--warpfold-check", "all")
    assert status == 4
    assert "goes with --warpfold" in output


def test_the_command_must_be_there(suite):
    status, output = suite("def test_none(): pass", "--warpfold", WARPFOLD="", PATH="/nowhere")
    assert status == 4
    assert "not on the PATH" in output
    status, output = suite("def test_none(): pass", "--warpfold", WARPFOLD="/nowhere/warpfold")
    assert status == 4
    assert "No such file" in output
    status, output = suite("def test_none(): pass", "--warpfold", WARPFOLD_PYTEST_STARTED="1")
    assert status == 4
    assert "did not load" in output


def test_under_warpfold_run_its_list_has_them_too(suite, tmp_path):
    found = tmp_path / "found.json"
    status, output = suite("""
@pytest.mark.xfail(strict=True)
def test_race(): launch("race")
@pytest.mark.xfail(strict=True)
def test_again(): launch("race")
""", "--warpfold", before=[TOOL, "run", "--check", "race", "--check-json", str(found), "--error-exit", "7", "--"])
    assert status == 7, output
    assert "warpfold: 1 finding\n" in output
    [finding] = json.loads(found.read_text())["findings"]
    assert (finding["kernel"], finding["times"]) == ("race", 128)
    assert output.count("race in shared memory in kernel race") == 0, "not printed: pytest's reports are its place"


def test_two_processes(suite):
    """A test's child process has checks of its own, and does not disturb those of the test."""
    status, output = suite("""
import subprocess, sys
def test_child():
    launch("fine")
    child = subprocess.run([sys.executable, "-c", "import gpu_kernels; gpu_kernels.launch('race')"], capture_output=True,
                           text=True)
    assert child.returncode == 0
    assert "race in shared memory" in child.stderr
""", "--warpfold")
    assert status == 0, output
