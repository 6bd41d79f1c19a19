# SPDX-License-Identifier: MIT
"""examples/library_use built with the headers of a checkout or of an installation; every header compiled alone."""
import os
import re
import shutil
import subprocess
import sys
import unittest

from project import CMAKE, ROOT, Project

EXAMPLE = ROOT / "examples/library_use"
NVCC = os.environ.get("WARPFOLD_NVCC", "")
CXX = os.environ["CXX"]
STRICT = ["-std=c++20", "-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Wno-sign-conversion", "-Werror"]
PRINTS = "0 to 999999, 500000 even, sum 499999500000\n"


class Library(Project):
    def build_and_run(self, *arguments):
        """With a compiler alone: no CUDA, and nothing else of warpfold is looked for or built."""
        told = self.run_well(CMAKE, "-G", "Ninja", "-S", EXAMPLE, "-B", self.build, *arguments)
        self.assertNotIn("nvcc", told)
        cache = (self.build / "CMakeCache.txt").read_text().splitlines()
        looked_for = {line.split(":")[0] for line in cache if re.match(r"(?!CMAKE_|library_use_)\w+_DIR:", line)}
        self.assertLessEqual({name for name in looked_for if not name.endswith(("_SOURCE_DIR", "_BINARY_DIR"))},
                             {"warpfold_DIR", "FETCHCONTENT_BASE_DIR"})
        self.run_well(CMAKE, "--build", self.build)
        self.assertEqual(self.run_well(self.build / "library_use"), PRINTS)
        self.assertEqual([path.name for path in self.build.rglob("*.so*")], [])

    def test_subdirectory(self):
        self.build_and_run(f"-DWARPFOLD_SOURCE={ROOT}")

    def test_fetch_content(self):
        self.build_and_run(f"-DWARPFOLD_SOURCE={ROOT}", "-DWARPFOLD_FETCH=ON")

    def test_installed(self):
        prefix = self.place / "prefix"
        self.run_well(CMAKE, "--install", os.environ["WARPFOLD_BUILD"], "--prefix", prefix)
        self.build_and_run(f"-DCMAKE_PREFIX_PATH={prefix}")

        packages = {"PKG_CONFIG_PATH": str(next(prefix.rglob("warpfold.pc")).parent)}
        flags = self.run_well("pkg-config", "--cflags", "--libs", "warpfold", **packages).split()
        program = self.place / "by_hand"
        self.run_well(CXX, "-std=c++20", EXAMPLE / "main.cpp", *flags, "-o", program)
        self.assertEqual(self.run_well(program), PRINTS)
        if NVCC:
            # Linked by the C++ compiler: a toolkit of wheels has no libcudart.so for nvcc to find.
            compiled = self.place / "on_gpu.o"
            self.run_well(NVCC, "-ccbin", CXX, "-std=c++20", "-arch=compute_75", *flags, "-c", EXAMPLE / "on_gpu.cu",
                          "-o", compiled)
            self.run_well(CXX, compiled, os.environ["WARPFOLD_CUDA_RUNTIME"], "-o", program)
            self.assertEqual(self.run_well(prefix / "bin/warpfold", "run", "--", program), "sum 499999500000\n")

    def test_cuda_language(self):
        """Sources of CMake's CUDA language get C++20, unless the project has another standard, which the headers refuse."""
        if not NVCC:
            self.skipTest("no nvcc")
        cuda = [f"-DCMAKE_CUDA_COMPILER={NVCC}", f"-DCMAKE_CUDA_HOST_COMPILER={CXX}", "-DCMAKE_CUDA_ARCHITECTURES=75"]
        source = self.place / "source"
        source.mkdir()
        (source / "CMakeLists.txt").write_text("cmake_minimum_required(VERSION 3.25)\nproject(plain LANGUAGES CUDA)\n")
        plain = subprocess.run([CMAKE, "-G", "Ninja", "-S", source, "-B", self.place / "plain", *cuda], capture_output=True,
                               text=True, check=False)
        if plain.returncode:
            self.skipTest("CMake does not take this nvcc: a toolkit of wheels")
        prefix = self.place / "prefix"
        self.run_well(CMAKE, "--install", os.environ["WARPFOLD_BUILD"], "--prefix", prefix)
        ways = {f"-DCMAKE_PREFIX_PATH={prefix}": "find_package(warpfold REQUIRED)",
                f"-DWARPFOLD_SOURCE={ROOT}": "set(WARPFOLD_LIBRARY_ONLY ON)\nadd_subdirectory(${WARPFOLD_SOURCE} warpfold)"}
        cases = [(way, "CXX CUDA", "") for way in ways]
        cases += [(installed, *case) for installed in list(ways)[:1]
                  for case in (("CUDA", ""), ("CXX CUDA", "20"), ("CXX CUDA", "17"))]
        for way, languages, standard in cases:
            (source / "CMakeLists.txt").write_text(f"""
cmake_minimum_required(VERSION 3.25)
project(mine LANGUAGES {languages})
{ways[way]}
add_library(mine OBJECT {EXAMPLE}/on_gpu.cu)
target_link_libraries(mine PRIVATE warpfold::warpfold)
""")
            shutil.rmtree(self.build, ignore_errors=True)
            self.run_well(CMAKE, "-G", "Ninja", "-S", source, "-B", self.build, way, *cuda,
                          *([f"-DCMAKE_CUDA_STANDARD={standard}"] if standard else []))
            if standard == "17":
                built = subprocess.run([CMAKE, "--build", self.build], capture_output=True, text=True, check=False)
                self.assertNotEqual(built.returncode, 0)
                self.assertIn("warpfold needs C++20: compile with -std=c++20", built.stdout + built.stderr)
            else:
                self.run_well(CMAKE, "--build", self.build)

    def test_software_gpu_alone(self):
        """The component that a CI of others installs: the command, its libraries and the plug-in for pytest."""
        prefix = self.place / "prefix"
        self.run_well(CMAKE, "--install", os.environ["WARPFOLD_BUILD"], "--prefix", prefix, "--component", "softgpu")
        names = {path.name for path in prefix.rglob("*") if path.is_file() and path.suffix != ".json"}
        self.assertEqual(names, {"warpfold", "libsoftgpu.so", "libsoftgpu_redirect.so", "libcudart.so.12", "libcudart.so.13",
                                 "libcuda.so.1", "libnccl.so.2", "libnvJitLink.so.13", "libnvidia-ml.so.1", "libcublas.so.12",
                                 "libcublas.so.13", "libcublasLt.so.12", "libcublasLt.so.13", "ptxas", "pyproject.toml", "warpfold_pytest.py"})
        self.run_well(prefix / "bin/warpfold", "run", "--", sys.executable, "-c",
                      "import ctypes; ctypes.CDLL('libcuda.so.1'); ctypes.CDLL(None).softgpu_take_findings")
        project = (prefix / "share/warpfold/pytest/pyproject.toml").read_text()
        self.assertRegex(project, r'\nversion = "\d+\.\d+\.\d+"\n')

    def test_every_header_alone(self):
        """Headers for the host's cores compile without nvcc, twice in one file and without a warning."""
        headers = sorted(path.relative_to(ROOT / "include").as_posix()
                         for path in (ROOT / "include/warpfold").glob("*.hpp"))
        self.assertIn("warpfold/reduce.hpp", headers)
        mpi = shutil.which("mpicxx")
        flags = subprocess.run([mpi, "-show"], capture_output=True, text=True, check=True).stdout.split() if mpi else []
        folders = [flag.replace("-I", "-isystem", 1) for flag in flags if flag.startswith("-I")]
        for header in headers:
            if header == "warpfold/mpi.hpp" and not mpi:
                continue
            file = self.place / "alone.cpp"
            file.write_text(f"#include <{header}>\n#include <{header}>\n")
            self.run_well(CXX, *STRICT, "-fsyntax-only", f"-I{ROOT}/include", *folders, file)


if __name__ == "__main__":
    unittest.main(verbosity=2)
