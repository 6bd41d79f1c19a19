# SPDX-License-Identifier: MIT
"""Calls that have no form over ranks do not compile, and the compiler says why: COMPILER FOLDER as arguments."""
import subprocess
import sys
import unittest

COMPILER, ROOT = sys.argv[1:3]
REASONS = ["the calls of select.hpp and by_key.hpp do not take a target over ranks",
           "the calls of along_axis.hpp do not take a target over ranks",
           "the calls of segmented_exact_sum.hpp do not take a target over ranks",
           "exact_weighted_histogram does not take a target over ranks",
           "reproducible() is for reductions, scans and segmented reductions of arrays"]
ENGINES = [f"{name}_engine<warpfold::reproducible_ranks"
           for name in ("chunked", "exact", "exact_finish", "histogram", "convolve")]


class Refused(unittest.TestCase):
    def compile(self, *options):
        return subprocess.run([COMPILER, "-std=c++20", "-fsyntax-only", f"-I{ROOT}", f"-I{ROOT}/include", *options,
                               f"{ROOT}/tests/many/refused.cpp"], capture_output=True, text=True, check=False)

    def test_each_has_a_reason(self):
        allowed = self.compile()
        self.assertEqual(allowed.returncode, 0, allowed.stderr)
        refused = self.compile("-DREFUSED")
        self.assertNotEqual(refused.returncode, 0)
        for words in REASONS + ENGINES:
            self.assertIn(words, refused.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
