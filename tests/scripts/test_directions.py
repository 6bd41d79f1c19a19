# SPDX-License-Identifier: MIT
"""The folders include each other in the directions of HACKING.md only."""
import re
import unittest

from support import ROOT

# folder: the folders that it may include. Folders of the library are relative to include/warpfold.
ALLOWED = {
    "softgpu/ptx": set(),
    "softgpu/program": {"softgpu/ptx"},
    "softgpu/memory": set(),
    "softgpu/observe": set(),
    "softgpu/check": {"softgpu/memory"},
    "softgpu/machine": {"softgpu/ptx", "softgpu/program", "softgpu/memory", "softgpu/check", "softgpu/observe"},
    "softgpu/runtime": {"softgpu/ptx", "softgpu/memory", "softgpu/check", "softgpu/observe", "softgpu/machine"},
    "include": set(),
    "measure": set(),
    "report": set(),
    "ladder": {"include", "measure", "report", "softgpu/observe"},
    "tool": {"include", "ladder", "report", "softgpu/check", "softgpu/machine", "softgpu/observe", "softgpu/runtime"},
}
# The same inside the runtime.
RUNTIME = {
    "abi": set(),
    "fatbin": set(),
    "cards": {"abi"},
    "core": {"abi", "cards"},
    "accounts": {"abi", "core"},
    "program": {"abi", "accounts", "cards", "core", "fatbin"},
    "memory": {"abi", "accounts", "core"},
    "texture": {"abi", "core", "memory"},
    "graph": {"abi", "accounts", "core", "memory", "program"},
    "calls": {"abi", "accounts", "cards", "core", "fatbin", "graph", "memory", "program", "texture"},
}
SOURCES = {".hpp", ".cpp", ".cuh", ".cu", ".h", ".def"}


def folder_of(path):
    parts = path.split("/")
    if parts[0] == "warpfold":
        return "include"
    return "/".join(parts[:2]) if parts[0] == "softgpu" else parts[0]


def includes():
    """(file, what it includes, whether in quotes) of all sources in the folders above."""
    for top in sorted({folder.split("/")[0] for folder in ALLOWED}):
        for file in sorted((ROOT / top).rglob("*")):
            if file.suffix in SOURCES:
                name = str(file.relative_to(ROOT))
                for kind, target in re.findall(r'^\s*#\s*include ([<"])([^">]+)', file.read_text(), re.M):
                    yield name, target, kind == '"'


class Directions(unittest.TestCase):
    def test_folders_include_those_below_them(self):
        seen = set()
        for name, target, quoted in includes():
            if quoted and "/" in target:
                source, below = folder_of(name), folder_of(target)
                if source != below:
                    self.assertIn(below, ALLOWED.get(source, set()), f"{name} includes {target}")
                    seen.add((source, below))
        self.assertGreater(len(seen), 15)

    def test_the_runtime_has_layers(self):
        seen = 0
        for name, target, quoted in includes():
            if quoted and name.startswith("softgpu/runtime/") and target.startswith("softgpu/runtime/"):
                source, below = name.split("/")[2], target.split("/")[2]
                if source != below:
                    self.assertIn(below, RUNTIME.get(source, set()), f"{name} includes {target}")
                    seen += 1
        self.assertGreater(seen, 50)

    def test_the_software_gpu_needs_no_cuda(self):
        for name, target, _ in includes():
            if name.startswith("softgpu/"):
                self.assertNotRegex(target, r"^(cuda|cooperative_groups|cub/|thrust/)", name)

    def test_targets_of_the_library_are_separate(self):
        for name, target, _ in includes():
            if name.startswith("include/warpfold/gpu/"):
                self.assertFalse(target.startswith("warpfold/host/"), f"{name} includes {target}")
            if name.startswith(("include/warpfold/host/", "include/warpfold/detail/")):
                self.assertFalse(target.startswith("warpfold/gpu/"), f"{name} includes {target}")


if __name__ == "__main__":
    unittest.main()
