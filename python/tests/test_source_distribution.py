# SPDX-License-Identifier: MIT
"""The source distribution has all that its build needs of the checkout, and no more."""
import os
import pathlib
import re
import subprocess
import sys
import tarfile

import pytest

if os.environ.get("WARPFOLD_DEVICE"):
    pytest.skip("the same for all devices", allow_module_level=True)
pytest.importorskip("scikit_build_core.build")
FOLDER = pathlib.Path(__file__).parents[1]


def test_a_source_distribution_is_complete(tmp_path):
    program = f"from scikit_build_core.build import build_sdist; build_sdist({str(tmp_path)!r})"
    subprocess.run([sys.executable, "-c", program], cwd=FOLDER, capture_output=True, check=True)
    (made,) = tmp_path.iterdir()
    with tarfile.open(made) as archive:
        files = {name.partition("/")[2]: archive.extractfile(name).read().decode() for name in archive.getnames()}
    scripts = ["CMakeLists.txt", "checkout/CMakeLists.txt", "checkout/include/CMakeLists.txt",
               *(f"checkout/cmake/{name}.cmake" for name in ("cuda", "options", "toolkit"))]
    assert {"LICENSE", "PKG-INFO", "pyproject.toml", *scripts} <= set(files)
    assert {str(path.relative_to(FOLDER)) for path in FOLDER.glob("warpfold/**/*.py*") if path.suffix != ".pyc"} <= set(files)
    assert not [name for name in files if re.search(r"(^|/)(tests|__pycache__|build|\.git)/|\.(so|o|pyc)$", name)]
    version = re.search(r"^Version: (.*)$", files["PKG-INFO"], re.MULTILINE)[1]
    assert f'__version__ = "{version}"' in files["warpfold/__init__.py"]
    reached, left = set(), [name for name in files if name.startswith("checkout/python/src/")]
    while left:
        name = left.pop()
        reached.add(name)
        for included in re.findall(r'^#include "([^"]*)"', files[name], re.MULTILINE):
            places = {os.path.join(os.path.dirname(name), included), f"checkout/{included}", f"checkout/include/{included}"} & set(files)
            assert places, f"{name} includes {included}"
            left += places - reached
    for script in scripts:
        for source in re.findall(r"\$\{(?:src|gpu)\}/([\w/]+\.\w+)", files[script]):
            assert {f"checkout/python/src/{source}", f"checkout/python/src/gpu/{source}"} & set(files), source
