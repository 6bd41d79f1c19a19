# SPDX-License-Identifier: MIT
import os
import pathlib
import tempfile
import unittest

from support import ROOT, fake_nvcc, run


class Choice(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.place = pathlib.Path(self.folder.name)

    def configure(self, *arguments, **environment):
        cmake = os.environ.get("WARPFOLD_CMAKE") or "cmake"
        return run(cmake, "-G", "Ninja", "-S", str(ROOT / "tests/scripts/nvcc_choice"), "-B", str(self.place / "build"),
                   *arguments, **environment)

    def test_named_compiler_that_is_not_there(self):
        answer = self.configure("-DWARPFOLD_NVCC=/nowhere/nvcc")
        self.assertNotEqual(answer.returncode, 0)
        self.assertIn("WARPFOLD_NVCC is /nowhere/nvcc, which does not run as nvcc", " ".join(answer.stderr.split()))

    def test_named_compiler_that_is_too_old(self):
        old = fake_nvcc(self.place / "old", "12.3")
        answer = self.configure(f"-DWARPFOLD_NVCC={old}")
        self.assertNotEqual(answer.returncode, 0)
        self.assertIn("version 12.3.88; warpfold needs 12.4 or later", " ".join(answer.stderr.split()))

    def test_toolkit_without_a_runtime_is_refused(self):
        bare = fake_nvcc(self.place / "bin", "77.0")
        answer = self.configure(f"-DWARPFOLD_NVCC={bare}")
        self.assertNotEqual(answer.returncode, 0)
        self.assertIn("has no libcudart.so.77 beside it", " ".join(answer.stderr.split()))

    def test_old_compiler_of_the_path_is_passed_over_for_a_new_one(self):
        old = fake_nvcc(self.place / "old", "11.8")
        new = fake_nvcc(self.place / "new" / "bin", "77.0")
        library = self.place / "new" / "lib"
        library.mkdir()
        (library / "libcudart.so.77").write_text("")
        include = self.place / "new" / "include"
        include.mkdir()
        (include / "cuda_runtime.h").write_text("")
        answer = self.configure(PATH=f"{old.parent}:{new.parent}:{os.environ['PATH']}")
        self.assertEqual(answer.returncode, 0, answer.stderr)
        self.assertIn(f"{old} is version 11.8.88, older than 12.4: passed over", answer.stdout)
        self.assertIn(f"nvcc 77.0.88: {new}, runtime {library.resolve()}/libcudart.so.77", answer.stdout)
        self.assertIn("CUDA is ON", answer.stdout)


if __name__ == "__main__":
    unittest.main()
