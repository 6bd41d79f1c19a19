# SPDX-License-Identifier: MIT
"""The documents' snippets of Python run as they are written: on the host, and with WARPFOLD_DEVICE=softgpu on the software GPU."""
import importlib.util
import os
import pathlib
import re

import pytest

from warpfold._expression import compilers

ROOT = pathlib.Path(__file__).parents[2]


def lacks(code):
    """What a snippet needs and this machine does not have; empty if it has all."""
    if "torch" in code:
        if not importlib.util.find_spec("torch"):
            return "PyTorch"
        import torch  # pylint: disable=import-outside-toplevel
        if 'device="cuda"' in code and not torch.cuda.is_available():
            return "a GPU"
    if "wf.op" in code:
        try:
            compilers.nvrtc() if os.environ.get("WARPFOLD_DEVICE") == "softgpu" else compilers.host_compiler()
        except RuntimeError as error:
            return str(error)
    return ""


@pytest.mark.parametrize("document", ["README.md", "docs/python.md", "python/README.md"])
def test_snippets_run(document):
    snippets = re.findall(r"^```python\n(.*?)^```", (ROOT / document).read_text(), re.DOTALL | re.MULTILINE)
    assert snippets
    names = {}
    for number, code in enumerate(snippets, 1):
        if not lacks(code):
            exec(compile(code, f"{document}, snippet {number}", "exec"), names)  # pylint: disable=exec-used
