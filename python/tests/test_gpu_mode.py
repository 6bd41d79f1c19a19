# SPDX-License-Identifier: MIT
"""The submissions of examples/gpu_mode, on the CPU."""
import os
import pathlib
import sys

import pytest

if os.environ.get("WARPFOLD_DEVICE"):
    pytest.skip("tensors on the CPU are arrays of the host", allow_module_level=True)
torch = pytest.importorskip("torch", reason="PyTorch is not installed: it is no requirement of the package")
FOLDER = pathlib.Path(__file__).parents[2] / "examples/gpu_mode"
sys.path.insert(0, str(FOLDER))
import harness  # noqa: E402


@pytest.mark.parametrize("name", harness.PROBLEMS)
def test_submissions_are_right(name):
    kernel = harness.load(FOLDER / name / "submission.py")
    assert harness.test(name, kernel, "cpu", 3 if name == "conv2d" else None) == 0


@pytest.mark.parametrize("name", harness.PROBLEMS)
def test_wrong_results_are_found(name, capsys):
    right = harness.load(FOLDER / name / "submission.py")

    def spoiled(data):
        result = right(data)
        result.reshape(-1)[-1] += 1 + result.reshape(-1)[-1].abs()
        return result

    for wrong, message in ((spoiled, "1 results are wrong"), (lambda data: right(data)[None], "must be"),
                           (lambda data: right(data) / 0 if name != "histogram" else data[-1] * 0, "results are wrong")):
        assert harness.test(name, wrong, "cpu", 1) == 1
        assert message in capsys.readouterr().out
