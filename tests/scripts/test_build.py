# SPDX-License-Identifier: MIT
"""The finished build that the tests belong to: nothing is left to do, and a target builds no more than it needs."""
import os
import unittest

from support import run

BUILD = os.environ["WARPFOLD_BUILD"]


def ninja(*words):
    answer = run("ninja", "-C", BUILD, *words)
    if answer.returncode != 0:
        raise AssertionError(answer.stdout + answer.stderr)
    return answer.stdout


class Build(unittest.TestCase):
    def test_a_second_build_has_nothing_to_do(self):
        self.assertIn("no work to do", ninja("-n", "-d", "explain"))

    @unittest.skipUnless(os.environ.get("WARPFOLD_LADDER"), "the ladders are not built")
    def test_one_ladder_needs_no_other_and_no_library_calls(self):
        inputs = ninja("-t", "inputs", "warpfold", "softgpu_runtime", "warpfold_ladder_reduce").split()
        self.assertTrue([name for name in inputs if name.endswith("reduce/03_sequential_addressing.cu")])
        for part in ["ladder/scan/CMakeFiles", "warpfold_ladder_scan.", "warpfold_calls", "warpfold_host_calls", "softgpu_runtime_12", "softgpu_driver", "tests/"]:
            self.assertEqual([name for name in inputs if part in name and not name.endswith((".hpp", ".cuh"))], [], part)


if __name__ == "__main__":
    unittest.main()
