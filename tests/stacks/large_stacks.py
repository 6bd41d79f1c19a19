# SPDX-License-Identifier: MIT
"""Stacks of gigabytes, each with an environment of its own, which is made only when the stack is named: PyTorch 1.5.1, the newest
version of PyPI with PTX, whose newest wheels are for Python 3.8; and the Triton that its own tests are for, with its PyTorch."""
import dataclasses
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
BUILD = HERE.parents[1] / "build/stacks"


@dataclasses.dataclass(frozen=True)
class Environment:
    """build/stacks/NAME, with the packages of requirements/NAME.txt."""
    name: str
    command: str  # the Python that makes it
    why: str  # what needs that Python
    size: str

    @property
    def folder(self):
        return BUILD / self.name

    @property
    def python(self):
        return self.folder / "bin/python"

    @property
    def pins(self):
        return HERE / f"requirements/{self.name}.txt"

    def is_there(self):
        copied = self.folder / ".wheels"
        return copied.exists() and copied.read_text() == self.pins.read_text()

    def fetch(self):
        """Returns False, after one line, if there is no such Python."""
        if self.is_there():
            return True
        python = shutil.which(self.command)
        if python is None or subprocess.run([python, "-c", ""], stderr=subprocess.DEVNULL, check=False).returncode != 0:
            print(f"{self.name}: needs {self.command} in PATH, {self.why}", file=sys.stderr)
            return False
        print(f"{self.name}: fetching its wheels into build/stacks/{self.name} ({self.size})", file=sys.stderr)
        shutil.rmtree(self.folder, ignore_errors=True)
        subprocess.run([python, "-m", "venv", self.folder], check=True)
        subprocess.run([self.python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--only-binary=:all:",
                        "-r", self.pins], check=True)
        shutil.copy(self.pins, self.folder / ".wheels")
        return True

    def version(self, package):
        asked = f"import importlib.metadata as m; print(m.version({package!r}))"
        return subprocess.run([self.python, "-c", asked], capture_output=True, text=True, check=True).stdout.strip()


ENVIRONMENTS = {
    "torch": Environment("torch", "python3.8", "for which the only wheels with PTX are", "2 GB"),
    "triton_core": Environment("triton_core", sys.executable, "of 3.9 to 3.12", "6 GB"),
}
# Of tests that belong to another release than the small program's; by stack.
TESTS = {
    "tinygrad": Environment("tinygrad_tests", sys.executable, "of 3.11 or 3.12", "5 GB"),
    "cuda_core": Environment("cuda_core_tests", sys.executable, "of 3.10 to 3.14", "500 MB"),
}
