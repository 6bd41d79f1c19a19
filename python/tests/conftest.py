# SPDX-License-Identifier: MIT
"""The modules that tests of both folders share can be imported by all of them."""
import pathlib
import sys

HERE = pathlib.Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE / "gpu")]
