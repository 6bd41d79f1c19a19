# SPDX-License-Identifier: MIT
"""A folder for a project that uses warpfold, and commands that must succeed in it."""
import os
import pathlib
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
CMAKE = os.environ["WARPFOLD_CMAKE"]


class Project(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.place = pathlib.Path(folder.name)
        self.build = self.place / "build"

    def run_well(self, *command, **environment):
        answer = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False,
                                env={**os.environ, **environment})
        self.assertEqual(answer.returncode, 0, f"{command}\n{answer.stdout}\n{answer.stderr}")
        return answer.stdout
