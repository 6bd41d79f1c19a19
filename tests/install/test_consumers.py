# SPDX-License-Identifier: MIT
"""examples/counter_test built and run with a warpfold that is installed, or built along."""
import json
import os
import pathlib
import subprocess
import sys
import unittest

from project import CMAKE, ROOT, Project

EXAMPLE = ROOT / "examples/counter_test"
TESTS = {"transposes.a_padded_tile_has_no_bank_conflicts",
         "transposes.without_padding_every_load_of_a_column_takes_32_passes", "copies.are_coalesced_or_not",
         "copies.take_longer_with_a_stride"}


class Consumer(Project):
    def configure(self, source, *arguments):
        return self.run_well(CMAKE, "-G", "Ninja", "-S", source, "-B", self.build,
                             f"-DWARPFOLD_NVCC={os.environ['WARPFOLD_NVCC']}", *arguments)

    def compile(self):
        self.run_well(CMAKE, "--build", self.build, "-j", "2")

    def run_tests(self):
        """All pass under ctest, and none is skipped there."""
        listed = json.loads(self.run_well("ctest", "--test-dir", self.build, "--show-only=json-v1"))
        self.assertEqual({test["name"] for test in listed["tests"]}, TESTS)
        shown = self.run_well("ctest", "--test-dir", self.build, "-V")
        self.assertRegex(shown, r"100% tests passed(, 0 tests failed)? out of 4")
        self.assertNotIn("SKIPPED", shown)


class Installed(Consumer):
    def test_find_package(self):
        prefix = self.place / "prefix"
        self.run_well(CMAKE, "--install", os.environ["WARPFOLD_BUILD"], "--prefix", prefix)
        libraries = {path.relative_to(prefix).as_posix() for path in prefix.rglob("libcudart.so*")}
        self.assertEqual({path.split("/")[-2] for path in libraries}, {"warpfold"}, "beside NVIDIA's they would shadow it")
        self.assertEqual({path.split("/")[-1] for path in libraries}, {"libcudart.so.12", "libcudart.so.13"})

        # The project's own settings stay what they are, and the package looks for no other.
        source = self.place / "source"
        source.mkdir()
        (source / "CMakeLists.txt").write_text(f"""
cmake_minimum_required(VERSION 3.25)
project(around LANGUAGES CXX)
get_cmake_property(before VARIABLES)
find_package(warpfold 0.1 REQUIRED)
get_cmake_property(after VARIABLES)
foreach(variable IN LISTS after)
  if(NOT variable IN_LIST before AND variable MATCHES "CUDA|CXX|GTest" AND NOT variable MATCHES "^WARPFOLD_")
    message(SEND_ERROR "find_package(warpfold) sets ${{variable}}")
  endif()
endforeach()
find_package(warpfold 99 QUIET)
if(warpfold_FOUND)
  message(SEND_ERROR "any version will do")
endif()
enable_testing()
add_subdirectory({EXAMPLE} example)
""")
        self.configure(source, f"-DCMAKE_PREFIX_PATH={prefix}")
        self.compile()
        self.run_tests()

        # By hand: on the GPU where there is one, else skipped; on the software GPU with the command.
        program = self.build / "example/counter_test"
        nvidias = pathlib.Path(os.environ["WARPFOLD_CUDA_RUNTIME"]).parent
        self.assertIn("[  SKIPPED ] 4 tests", self.run_well(program, LD_LIBRARY_PATH=str(nvidias)))
        self.assertIn("[  PASSED  ] 4 tests", self.run_well(prefix / "bin/warpfold", "run", "--predict", "h200", "--", program))

    def test_explain(self):
        """The command shows sources and counters from the installed tree alone, in whatever folder it is called."""
        prefix = self.place / "prefix"
        self.run_well(CMAKE, "--install", os.environ["WARPFOLD_BUILD"], "--prefix", prefix)
        moved = self.place / "moved"
        prefix.rename(moved)
        tool = moved / "bin/warpfold"
        if not list(moved.rglob("libwarpfold_ladder_reduce.so")):
            self.skipTest("the ladder is not installed")

        def explain(*arguments):
            return subprocess.run([str(tool), "explain", *arguments], capture_output=True, text=True, check=False,
                                  cwd=self.place)

        for step, source, line in [("transpose/2", "ladder/transpose/transpose.cu", "__shared__"),
                                   ("reduce/3", "ladder/reduce/03_sequential_addressing.cu", "__syncthreads();")]:
            document = json.loads(explain(step, "--json", "-").stdout)
            lines = next(f for f in document["files"] if f["path"] == source)["lines"]
            self.assertTrue(any(line in one["text"] for one in lines), step)
            self.assertTrue(any((one["counters"] or {}).get("warp_instructions") for one in lines), step)
            self.assertIn(source, explain(step).stdout)
        for name, nearest in [("transpos/2", "nearest: transpose"), ("transpose/copi", "nearest: copy"),
                              ("warps/packt", "nearest: packed")]:
            answer = explain(name)
            self.assertEqual((answer.returncode, answer.stdout, answer.stderr.count("\n")), (2, "", 1), answer.stderr)
            self.assertIn(nearest, answer.stderr)


class Subdirectory(Consumer):
    def test_add_subdirectory(self):
        # Beside the build that is tested, as deep as that, so that a cache of the compiler knows the files; it stays, for
        # the next time.
        self.build = pathlib.Path(os.environ["WARPFOLD_BUILD"] + "-consumer")
        along = os.environ["WARPFOLD_ALONG"].replace(",", ";").split("|")
        self.configure(EXAMPLE, f"-DWARPFOLD_SOURCE={ROOT}", *along)
        self.run_well(CMAKE, "--build", self.build, "--", "-n")
        commands = self.run_well(CMAKE, "--build", self.build, "--", "-t", "commands")
        self.assertIn("transpose_test.cu", commands)
        self.assertIn("softgpu/machine", commands)
        self.assertNotIn("ladder/reduce/", commands, "nobody has asked for the ladder")
        # A build of the whole software GPU takes minutes without a cache of the compiler.
        if "ccache" in os.environ["CMAKE_CXX_COMPILER_LAUNCHER"]:
            self.compile()
            self.run_tests()


if __name__ == "__main__":
    ways = {"installed": Installed, "subdirectory": Subdirectory}
    suite = unittest.defaultTestLoader.loadTestsFromTestCase(ways[sys.argv[1]])
    sys.exit(not unittest.TextTestRunner(verbosity=2).run(suite).wasSuccessful())
