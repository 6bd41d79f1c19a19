# SPDX-License-Identifier: MIT
"""The command under mpirun prints once what it prints alone."""
import os
import pathlib
import random
import struct
import subprocess
import tempfile
import unittest

TOOL = os.environ["WARPFOLD_TOOL"]
MPIRUN = [os.environ["WARPFOLD_MPIRUN"], "--oversubscribe", "-n"]


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=100)


class Ranks(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def file(self, name, code, values):
        path = self.folder / name
        path.write_bytes(struct.pack(f"<{len(values)}{code}", *values))
        return str(path)

    def expect_same(self, *arguments):
        alone = run(TOOL, *arguments, "--device", "host")
        self.assertEqual(alone.returncode, 0, alone.stderr)
        self.assertNotEqual(alone.stdout, "")
        for ranks in ("2", "3"):
            together = run(*MPIRUN, ranks, TOOL, *arguments)
            self.assertEqual((together.returncode, together.stdout), (0, alone.stdout), together.stderr)

    def test_sums_and_histograms(self):
        draw = random.Random(1)
        doubles = [draw.uniform(-1, 1) * 2.0 ** draw.randint(-60, 60) for _ in range(10007)]
        shorts = [draw.randint(-32768, 32767) for _ in range(1001)]
        self.expect_same("sum", "--type", "double", self.file("doubles", "d", doubles))
        self.expect_same("sum", "--type", "int16", self.file("shorts", "h", shorts), self.file("one", "h", [5]))
        self.expect_same("histogram", "--type", "int16", "--bins", "7", self.file("shorts", "h", shorts))

    def test_what_there_is_not(self):
        path = self.file("shorts", "h", [1, 2])
        answer = run(*MPIRUN, "2", TOOL, "scan", "--type", "int16", path)
        self.assertNotEqual(answer.returncode, 0)
        self.assertIn("scan over ranks of MPI: there are sum and histogram", answer.stderr)
        answer = run(*MPIRUN, "2", TOOL, "sum", "--type", "int16", path, "--device", "softgpu")
        self.assertIn("under mpirun the ranks are the host's cores", answer.stderr)


if __name__ == "__main__":
    unittest.main()
