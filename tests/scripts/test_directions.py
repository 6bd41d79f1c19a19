# SPDX-License-Identifier: MIT
"""Folders include each other in one direction only, and modules have no cycles."""
import collections
import re
import unittest

from support import ROOT

PTX = "softgpu/ptx"
CHECK = "softgpu/check"
MACHINE = "softgpu/machine"
DECODE = MACHINE + "/decode"
RUN = MACHINE + "/run"
HANDLERS = MACHINE + "/handlers"
RUNTIME = "softgpu/runtime"

# Folder: the folders that it may include besides itself. A folder covers those below it that have no line of their own.
# It may only name folders that stand above it here, so the table has no cycles.
ALLOWED = {
    "measure": set(),
    "report": set(),

    PTX + "/isa": set(),
    PTX: {PTX + "/isa"},  # ast.hpp, error.hpp: what others may include
    PTX + "/lex": {PTX},
    PTX + "/print": {PTX},
    PTX + "/parse": {PTX, PTX + "/isa", PTX + "/lex", PTX + "/print"},
    "softgpu/program": {PTX},
    "softgpu/memory": set(),
    "softgpu/observe": set(),
    CHECK + "/findings": {"softgpu/memory"},
    CHECK + "/shadow": {CHECK + "/findings"},
    CHECK + "/order": {"softgpu/memory", CHECK + "/findings", CHECK + "/shadow"},
    CHECK: {"softgpu/memory", CHECK + "/findings", CHECK + "/shadow", CHECK + "/order"},

    MACHINE: {"softgpu/memory", "softgpu/observe"},  # launch.hpp, texture.hpp, demangle.hpp: what others may include
    MACHINE + "/code": {MACHINE, CHECK + "/shadow", "softgpu/observe", PTX},
    DECODE: {MACHINE, MACHINE + "/code", CHECK + "/findings", "softgpu/observe", "softgpu/program", PTX},
    DECODE + "/analysis": {MACHINE + "/code", "softgpu/observe", "softgpu/program", PTX},
    DECODE + "/operands": {MACHINE, MACHINE + "/code", DECODE, "softgpu/program"},
    DECODE + "/emit": {MACHINE, MACHINE + "/code", DECODE, DECODE + "/analysis", DECODE + "/operands", CHECK + "/findings",
                       "softgpu/program"},
    MACHINE + "/module": {MACHINE, MACHINE + "/code", DECODE, DECODE + "/emit", CHECK, CHECK + "/findings",
                          "softgpu/memory", "softgpu/program", PTX},
    MACHINE + "/state": {MACHINE, MACHINE + "/code", CHECK + "/shadow", "softgpu/memory", "softgpu/observe"},
    MACHINE + "/inspect": {MACHINE, MACHINE + "/code", DECODE, MACHINE + "/module", MACHINE + "/state", CHECK,
                           CHECK + "/findings", CHECK + "/order", CHECK + "/shadow", "softgpu/memory",
                           "softgpu/observe", PTX},
    RUN: {MACHINE, MACHINE + "/code", MACHINE + "/module", MACHINE + "/state", MACHINE + "/inspect",
          CHECK + "/findings", "softgpu/memory"},
    RUN + "/memory": {MACHINE + "/code", MACHINE + "/state", RUN},
    RUN + "/warp": {MACHINE + "/code", MACHINE + "/state", MACHINE + "/inspect", RUN},
    RUN + "/schedule": {MACHINE + "/code", MACHINE + "/module", MACHINE + "/state", MACHINE + "/inspect", RUN + "/warp",
                        "softgpu/memory"},
    RUN + "/cluster": {MACHINE + "/code", MACHINE + "/state", MACHINE + "/inspect", RUN, RUN + "/warp",
                       RUN + "/schedule"},
    RUN + "/bulk": {MACHINE, MACHINE + "/code", MACHINE + "/state", MACHINE + "/inspect", RUN, RUN + "/memory",
                    RUN + "/schedule", RUN + "/cluster"},
    RUN + "/grid": {MACHINE, MACHINE + "/code", MACHINE + "/module", MACHINE + "/state", MACHINE + "/inspect", CHECK,
                    "softgpu/memory", RUN, RUN + "/warp", RUN + "/schedule"},
    MACHINE + "/calls": {CHECK, "softgpu/memory", MACHINE, MACHINE + "/code", MACHINE + "/module", MACHINE + "/state",
                         MACHINE + "/inspect", RUN, RUN + "/warp"},
    HANDLERS: {MACHINE + "/code", MACHINE + "/state", MACHINE + "/inspect", MACHINE + "/calls", RUN, RUN + "/warp",
               RUN + "/schedule", RUN + "/cluster", RUN + "/bulk"},
    HANDLERS + "/arithmetic": {MACHINE + "/code", RUN + "/cluster", RUN + "/memory", HANDLERS},
    HANDLERS + "/memory": {MACHINE, MACHINE + "/code", MACHINE + "/module", RUN, RUN + "/memory", RUN + "/warp",
                           RUN + "/cluster", RUN + "/bulk", HANDLERS, HANDLERS + "/arithmetic"},
    HANDLERS + "/matrix": {MACHINE + "/code", RUN, RUN + "/warp", HANDLERS, HANDLERS + "/arithmetic",
                           HANDLERS + "/memory"},
    HANDLERS + "/checks": {MACHINE + "/code", MACHINE + "/inspect", RUN + "/bulk", HANDLERS, HANDLERS + "/matrix",
                           HANDLERS + "/memory"},

    "softgpu/predict": {MACHINE, "softgpu/observe"},

    RUNTIME + "/abi": set(),
    RUNTIME + "/fatbin": set(),
    RUNTIME + "/cards": {MACHINE, "softgpu/memory", RUNTIME + "/abi"},
    RUNTIME + "/core": {CHECK, CHECK + "/findings", "softgpu/memory", RUNTIME + "/abi", RUNTIME + "/cards"},
    RUNTIME + "/accounts": {MACHINE, CHECK, CHECK + "/findings", CHECK + "/order", "softgpu/memory", "softgpu/observe",
                            "softgpu/predict", RUNTIME + "/abi", RUNTIME + "/core"},
    RUNTIME + "/memory": {"softgpu/memory", RUNTIME + "/abi", RUNTIME + "/core", RUNTIME + "/accounts"},
    RUNTIME + "/program": {MACHINE, "softgpu/memory", "softgpu/predict", PTX, PTX + "/lex", RUNTIME + "/abi",
                           RUNTIME + "/fatbin", RUNTIME + "/cards", RUNTIME + "/core", RUNTIME + "/accounts"},
    RUNTIME + "/device": {MACHINE, CHECK + "/order", "softgpu/memory", RUNTIME + "/abi", RUNTIME + "/cards",
                          RUNTIME + "/core", RUNTIME + "/accounts", RUNTIME + "/memory", RUNTIME + "/program"},
    RUNTIME + "/graph": {"softgpu/memory", RUNTIME + "/abi", RUNTIME + "/core", RUNTIME + "/accounts",
                         RUNTIME + "/memory", RUNTIME + "/program", RUNTIME + "/device"},
    RUNTIME + "/texture": {MACHINE, "softgpu/memory", RUNTIME + "/abi", RUNTIME + "/core", RUNTIME + "/memory"},
    RUNTIME + "/calls": {MACHINE, CHECK + "/findings", "softgpu/memory", "softgpu/observe", PTX, RUNTIME + "/abi",
                         RUNTIME + "/fatbin", RUNTIME + "/cards", RUNTIME + "/core", RUNTIME + "/accounts",
                         RUNTIME + "/memory", RUNTIME + "/program", RUNTIME + "/graph", RUNTIME + "/texture"},

    RUNTIME + "/redirect": {RUNTIME + "/abi"},
    RUNTIME + "/nccl": {HANDLERS + "/arithmetic", CHECK, CHECK + "/order", RUNTIME + "/core", RUNTIME + "/accounts",
                        RUNTIME + "/memory", RUNTIME + "/graph", RUNTIME + "/calls"},
    RUNTIME + "/cublas": {HANDLERS + "/arithmetic", CHECK, CHECK + "/order", RUNTIME + "/core", RUNTIME + "/accounts",
                          RUNTIME + "/memory", RUNTIME + "/graph", RUNTIME + "/calls"},
    RUNTIME + "/cublas/calls": {RUNTIME + "/cublas", RUNTIME + "/core", RUNTIME + "/graph", RUNTIME + "/calls"},
    RUNTIME + "/cublas/lt": {RUNTIME + "/cublas"},
    RUNTIME + "/nvml": {RUNTIME + "/cards", RUNTIME + "/core", RUNTIME + "/calls"},
    RUNTIME + "/nvjitlink": {RUNTIME + "/fatbin", RUNTIME + "/cards", RUNTIME + "/program"},

    "include/warpfold": set(),
    "python": {"include/warpfold"},
    "ladder/engine/definition": {"include/warpfold", "measure", "softgpu/observe"},
    "ladder/engine": {"ladder/engine/definition", "measure", "report", "softgpu/observe"},
    "ladder/reduce/definition": {"ladder/engine/definition", "measure"},
    "ladder": {"ladder/engine/definition", "ladder/engine", "ladder/reduce/definition", "include/warpfold", "measure",
               "softgpu/observe"},  # the folder of one ladder
    "tool": {"ladder/engine/definition", "ladder/engine", "ladder/reduce/definition", "include/warpfold", "report",
             CHECK + "/findings", "softgpu/observe", "softgpu/predict", MACHINE, RUNTIME + "/cards"},
}

# Cycles of modules that are to be broken. A module is a header with the source of the same name.
KNOWN_CYCLES = []

SOURCES = {".hpp", ".cpp", ".cuh", ".cu", ".h", ".def"}
TOPS = sorted({folder.split("/")[0] for folder in ALLOWED})


def includes():
    """(file, what it includes), both from the tree's root where they are of the tree."""
    for top in TOPS:
        for file in sorted((ROOT / top).rglob("*")):
            if file.suffix in SOURCES:
                for target in re.findall(r'^\s*#\s*include [<"]([^">]+)', file.read_text(), re.M):
                    yield file.relative_to(ROOT).as_posix(), re.sub(r"^warpfold/", "include/warpfold/", target)


def folder_of(file):
    """The line of the table that the file belongs to; None for a file that is not of the tree."""
    folders = [folder for folder in ALLOWED if file.startswith(folder + "/")]
    return max(folders, key=len, default=None)


def cycles(graph):
    """The sets of two and more nodes that reach each other. R. E. Tarjan, "Depth-First Search and Linear Graph
    Algorithms", 1972; without recursion."""
    number, lowest, stack, found = {}, {}, [], []
    for root in list(graph):
        walk = [] if root in number else [(root, None)]
        while walk:
            node, rest = walk.pop()
            if rest is None:
                number[node] = lowest[node] = len(number)
                stack.append(node)
                rest = iter(sorted(graph.get(node, ())))
            for below in rest:
                if below not in number:
                    walk += [(node, rest), (below, None)]
                    break
                if below in stack:
                    lowest[node] = min(lowest[node], lowest[below])
            else:
                if lowest[node] == number[node]:
                    place = stack.index(node)
                    if len(stack) - place > 1:
                        found.append(set(stack[place:]))
                    del stack[place:]
                if walk:
                    above = walk[-1][0]
                    lowest[above] = min(lowest[above], lowest[node])
    return found


class Directions(unittest.TestCase):
    def test_the_table_has_one_direction(self):
        above = set()
        for folder, allowed in ALLOWED.items():
            self.assertTrue((ROOT / folder).is_dir(), f"{folder} is no folder")
            self.assertLessEqual(allowed, above, f"{folder} may only include folders that stand above it in the table")
            above.add(folder)

    def test_folders_include_those_that_they_may(self):
        seen = set()
        for name, target in includes():
            source, below = folder_of(name), folder_of(target)
            self.assertIsNotNone(source, f"{name}: its folder is missing in the table")
            if below is not None and source != below:
                self.assertIn(below, ALLOWED[source], f"{name} includes {target}")
                seen.add((source, below))
        self.assertGreater(len(seen), 80)

    def test_modules_have_no_cycles(self):
        graph = collections.defaultdict(set)
        for name, target in includes():
            if folder_of(target) is not None:
                module, below = (re.sub(r"\.(hpp|cpp|cuh|cu|h)$", "", file) for file in (name, target))
                if module != below:
                    graph[module].add(below)
        self.assertGreater(len(graph), 500)
        found = cycles(graph)
        for cycle in found:
            self.assertIn(cycle, KNOWN_CYCLES, "modules include each other")
        for cycle in KNOWN_CYCLES:
            self.assertIn(cycle, found, "this cycle is gone: take it out of KNOWN_CYCLES")

    def test_cycles_are_found(self):
        graph = {"a": {"b", "x"}, "b": {"c"}, "c": {"a"}, "d": {"e", "a"}, "e": {"d"}, "x": {"y"}, "y": set()}
        self.assertCountEqual(cycles(graph), [{"a", "b", "c"}, {"d", "e"}])

    def test_the_software_gpu_needs_no_cuda(self):
        for name, target in includes():
            if name.startswith("softgpu/"):
                self.assertNotRegex(target, r"^(cuda|cooperative_groups|cub/|thrust/)", name)

    def test_targets_of_the_library_are_separate(self):
        for name, target in includes():
            if name.startswith("include/warpfold/gpu/"):
                self.assertFalse(target.startswith("include/warpfold/host/"), f"{name} includes {target}")
            if name.startswith(("include/warpfold/host/", "include/warpfold/detail/")):
                self.assertFalse(target.startswith("include/warpfold/gpu/"), f"{name} includes {target}")
            if name.startswith("include/warpfold/detail/"):
                self.assertFalse(target.startswith("include/warpfold/host/"), f"{name} includes {target}")

    def test_inner_headers_of_the_library_include_no_calls(self):
        calls = {path.stem for path in (ROOT / "include/warpfold").glob("*.cuh")}
        self.assertGreater(len(calls), 6)
        inner = tuple(f"include/warpfold/{folder}/" for folder in ("detail", "host", "gpu", "block", "warp", "tuning"))
        for name, target in includes():
            if name.startswith(inner):
                self.assertNotRegex(target, rf"^include/warpfold/({'|'.join(sorted(calls))})\.(hpp|cuh)$", name)

    def test_ladders_are_separate(self):
        for name, target in includes():
            if folder_of(name) == folder_of(target) == "ladder":
                self.assertEqual(name.split("/")[:2], target.split("/")[:2], f"{name} includes {target}")


if __name__ == "__main__":
    unittest.main()
