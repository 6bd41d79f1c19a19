# SPDX-License-Identifier: MIT
import pathlib
import re
import tempfile
import unittest

from support import ROOT, fake_nvcc, run


def function_of_dev(script, *arguments, **environment):
    return run("bash", "-c", f"source ./dev; {script}", "dev", *arguments, **environment)


class Command(unittest.TestCase):
    def test_help_goes_to_stdout_and_succeeds(self):
        answer = run("./dev", "help")
        self.assertEqual((answer.returncode, answer.stderr), (0, ""))
        self.assertIn("./dev ladder reduce", answer.stdout)
        self.assertEqual(run("./dev").stdout, answer.stdout)

    def test_help_names_every_command_that_there_is(self):
        text = (ROOT / "dev").read_text()
        cases = text[text.rindex("case $command in"):]
        names = {name for line in re.findall(r"^        ([a-z| -]+)\)", cases, re.M) for name in line.split(" | ")}
        self.assertGreater(len(names), 10)
        listed = run("./dev", "help").stdout
        for name in names - {"-h", "--help", "help"}:
            self.assertRegex(listed, rf"(\./dev|\|) {name}\b", name)

    def test_unknown_command_is_one_line_on_stderr(self):
        answer = run("./dev", "reduse")
        self.assertEqual((answer.returncode, answer.stdout), (1, ""))
        self.assertEqual(answer.stderr, "dev: there is no 'reduse'; ./dev help lists what there is\n")

    def test_unknown_arguments_are_one_line_on_stderr_before_anything_is_done(self):
        for arguments in (("clean", "--everything"), ("clean", "--all", "ci"), ("lint", "all"), ("setup", "--force"),
                          ("docs", "index"), ("build", "cdua"), ("build", "base")):
            answer = run("./dev", *arguments)
            self.assertEqual((answer.returncode, answer.stdout), (1, ""), arguments)
            self.assertRegex(answer.stderr, rf"\Adev: {arguments[0]}: .*{arguments[1]}.*\n\Z")

    def test_gpu_refuses_a_stage_that_is_not_there(self):
        answer = run("./dev", "gpu", "5", "laddr")
        self.assertEqual(answer.returncode, 2)
        self.assertIn("laddr", answer.stderr)

    def test_fuzz_refuses_what_is_no_number(self):
        answer = run("./dev", "fuzz", "long")
        self.assertEqual((answer.returncode, answer.stdout), (1, ""))
        self.assertIn("long", answer.stderr)


class Targets(unittest.TestCase):
    """What a command of the tool builds."""

    def targets(self, *arguments):
        return function_of_dev('targets_of "$@"', *arguments).stdout.split()

    def test_ladders_are_those_of_the_catalogue(self):
        catalogue = (ROOT / "ladder/engine/definition/catalogue.hpp").read_text()
        names = function_of_dev("ladders").stdout.split()
        self.assertGreater(len(names), 10)
        for name in names:
            self.assertIn(f'"{name}"', catalogue)
            self.assertTrue((ROOT / "ladder" / name / "CMakeLists.txt").is_file(), name)

    def test_one_ladder_needs_its_own_library(self):
        for arguments in [("ladder", "reduce", "--n", "2^20"), ("ladder", "reduce", "--device", "all")]:
            self.assertEqual(self.targets(*arguments), ["warpfold", "softgpu_runtime", "warpfold_ladder_reduce"])
        self.assertEqual(self.targets("explain", "scan/03"), ["warpfold", "softgpu_runtime", "warpfold_ladder_scan"])

    def test_all_ladders_are_built_for_all_and_none_for_their_list(self):
        self.assertEqual(self.targets("ladder", "all"), ["warpfold", "softgpu_runtime", "warpfold_ladders"])
        self.assertEqual(self.targets("ladder"), ["warpfold"])
        self.assertEqual(self.targets("ladder", "--help"), ["warpfold"])

    def test_a_report_needs_the_ladders_that_it_names(self):
        self.assertEqual(self.targets("report", "-o", "x.html"), ["warpfold", "softgpu_runtime", "warpfold_ladder_reduce"])
        self.assertEqual(self.targets("report", "streams", "scan"), ["warpfold", "softgpu_runtime", "warpfold_ladder_scan",
                                                                     "warpfold_ladder_streams"])
        every = self.targets("report", "all")
        self.assertEqual(len(every), 2 + len(function_of_dev("ladders").stdout.split()))

    def test_the_library_is_built_for_the_commands_that_call_it(self):
        self.assertEqual(self.targets("sum", "x.npy"), ["warpfold", "softgpu_runtime", "warpfold_calls", "warpfold_host_calls"])
        self.assertEqual(self.targets("run", "./program"), ["warpfold", "softgpu_libraries"])
        self.assertEqual(self.targets("--version"), ["warpfold"])


class Charts(unittest.TestCase):
    """What draws the charts of a page is installed for the commands that write one, and for no other."""

    def installed(self, *arguments):
        script = 'install_packages() { printf "%s\\n" "$@"; }; tool() { :; }; main "$@"'
        return function_of_dev(script, *arguments).stdout.split()

    def test_reports_alone_install_it(self):
        for arguments in [("report", "reduce"), ("run", "--report", "x.html", "--", "./a"), ("run", "--report=x.html", "./a")]:
            self.assertEqual(self.installed(*arguments), ["node-d3"], arguments)
        for arguments in [("ladder", "reduce"), ("run", "--", "./a", "--report"), ("run", "./a"), ("warpfold", "devices")]:
            self.assertEqual(self.installed(*arguments), [], arguments)


class Changes(unittest.TestCase):
    """Which files ./dev lint checks with clang-tidy."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.tree = pathlib.Path(folder.name)
        self.git("init", "-q", "-b", "main")

    def git(self, *words):
        answer = run("git", "-C", str(self.tree), "-c", "user.name=n", "-c", "user.email=e@example.org", *words)
        self.assertEqual(answer.returncode, 0, answer.stderr)

    def commit(self, name):
        (self.tree / name).write_text(name)
        self.git("add", "-A")
        self.git("commit", "-q", "-m", name)

    def changed(self):
        return function_of_dev(f"root='{self.tree}'; changed_sources").stdout.split()

    def test_without_an_upstream_the_last_commit_and_the_working_tree_count(self):
        self.commit("a.cpp")
        self.commit("b.cpp")
        self.assertEqual(self.changed(), ["b.cpp"])
        (self.tree / "a.cpp").write_text("changed")
        (self.tree / "new.cpp").write_text("new")
        (self.tree / "new.md").write_text("new")
        self.assertEqual(self.changed(), ["a.cpp", "b.cpp", "new.cpp"])

    def test_with_an_upstream_all_commits_since_the_merge_base_count(self):
        self.commit("a.cpp")
        self.git("branch", "upstream")
        self.git("update-ref", "refs/remotes/origin/main", "HEAD")
        self.commit("b.cpp")
        self.commit("c.cpp")
        self.assertEqual(self.changed(), ["b.cpp", "c.cpp"])


class Packages(unittest.TestCase):
    def test_every_package_that_cmake_requires_is_installed(self):
        provider = {"CLI11": "libcli11-dev", "fmt": "libfmt-dev", "nlohmann_json": "nlohmann-json3-dev", "GTest": "libgtest-dev",
                    "benchmark": "libbenchmark-dev", "TBB": "libtbb-dev", "PkgConfig": "pkg-config", "Python3": "python3",
                    "libzstd": "libzstd-dev", "liblz4": "liblz4-dev", "Threads": "g++"}
        installed = function_of_dev("printf '%s\\n' \"${packages[@]}\"").stdout.split()
        needed = set()
        # Not of what other tests build at the same time. python: what ./dev python installs
        for lists in [ROOT / "CMakeLists.txt", *(file for top in ROOT.iterdir() if top.is_dir() and
                                                 top.name not in ("build", "examples", "python")
                                                 for file in top.glob("**/CMakeLists.txt"))]:
            text = lists.read_text()
            needed.update(re.findall(r"find_package\((\w+) REQUIRED", text))
            needed.update(re.findall(r"pkg_check_modules\(\w+ REQUIRED .*?(\w+)\)", text))
        self.assertIn("fmt", needed)
        self.assertIn("libzstd", needed)
        for name in needed:
            self.assertIn(provider[name], installed, name)


class ContinuousIntegration(unittest.TestCase):
    """.ci/run in a tree whose ./dev only notes what it is called with."""

    def ci(self, failing="", slow="", **env):
        with tempfile.TemporaryDirectory() as folder:
            tree = pathlib.Path(folder)
            (tree / ".ci").mkdir()
            (tree / "build").mkdir()
            (tree / ".ci/run").write_text((ROOT / ".ci/run").read_text())
            (tree / "dev").write_text(f'#!/bin/sh\necho "dev $*"\n[ "$1" != "{slow}" ] || sleep 60\n'
                                      f'[ "$1" != "{failing}" ]\n')
            (tree / "dev").chmod(0o755)
            return run("bash", str(tree / ".ci/run"), **env)

    def test_every_part_runs(self):
        answer = self.ci()
        self.assertEqual(answer.returncode, 0, answer.stderr)
        self.assertEqual(answer.stdout.splitlines(), ["dev test --no-tests=error"])  # of the others, if they fail
        self.assertEqual(re.findall(r"ci: (\S+).* took", answer.stderr),
                         ["lint", "all", "pages", "reports", "Python", "address", "thread", "benchmarks"])
        self.assertNotIn("no time", answer.stderr)

    def test_a_part_that_fails_fails_the_whole_after_the_others(self):
        for part in ["lint", "docs", "test", "test-report", "python", "build", "asan", "tsan"]:
            answer = self.ci(part)
            self.assertNotEqual(answer.returncode, 0, part)
            self.assertIn("dev test", answer.stdout)
            self.assertIn("ci: failed: ", answer.stderr)
            self.assertIn(f"dev {part}", answer.stdout)

    def test_what_there_is_no_time_for_is_left_out_and_named(self):
        answer = self.ci(slow="asan", WARPFOLD_CI_SECONDS="2")
        self.assertEqual(answer.returncode, 0, answer.stderr)
        self.assertIn("ci: no time was left for: address and undefined-behaviour sanitizers", answer.stderr)
        self.assertIn("ci: no time was left for: thread sanitizer", answer.stderr)
        # Time for lint, which comes first, however late the host runs it.
        answer = self.ci(failing="lint", slow="asan", WARPFOLD_CI_SECONDS="6")
        self.assertNotEqual(answer.returncode, 0)


class Compiler(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.place = pathlib.Path(self.folder.name)

    def test_versions_are_compared_as_versions(self):
        for version, good in [("12.4", True), ("12.10", True), ("13.0", True), ("12.3", False), ("9.2", False),
                              ("11.8", False), ("", False)]:
            answer = function_of_dev(f"new_enough '{version}' && echo yes || echo no")
            self.assertEqual(answer.stdout.strip(), "yes" if good else "no", version)

    def test_first_new_enough_nvcc_of_the_path_is_taken(self):
        old = fake_nvcc(self.place / "old", "11.8")
        broken = self.place / "broken" / "nvcc"
        broken.parent.mkdir()
        broken.write_text("#!/bin/sh\nexit 1\n")
        broken.chmod(0o755)
        new = fake_nvcc(self.place / "new", "12.6")
        path = f"{broken.parent}:{old.parent}:{new.parent}:/usr/bin:/bin"
        answer = function_of_dev("find_nvcc", PATH=path)
        self.assertEqual(answer.stdout.strip(), str(new))
        self.assertIn(f"{old} is of CUDA 11.8; warpfold needs 12.4 or later", answer.stderr)
        self.assertIn(f"{broken} is of CUDA unknown", answer.stderr)

    def test_cuda_home_is_looked_into(self):
        new = fake_nvcc(self.place / "home" / "bin", "99.1")
        answer = function_of_dev("find_nvcc", PATH="/usr/bin:/bin", CUDA_HOME=str(self.place / "home"))
        self.assertEqual(answer.stdout.strip(), str(new))

    def test_set_up_is_done_once(self):
        new = fake_nvcc(self.place / "bin", "13.0")
        script = (f"build={self.place}/build; install_packages() {{ echo packages >&2; }}; setup; setup; "
                  "printf '%s\\n' \"$nvcc\"")
        answer = function_of_dev(script, PATH=f"{new.parent}:/usr/bin:/bin")
        self.assertEqual(answer.stdout.strip(), str(new), answer.stderr)
        self.assertEqual(answer.stderr.count("packages"), 1)

    def test_set_up_is_done_again_when_the_compiler_is_gone(self):
        first, second = fake_nvcc(self.place / "a", "13.0"), fake_nvcc(self.place / "b", "12.8")
        script = (f"build={self.place}/build; install_packages() {{ :; }}; setup; rm {first}; setup; "
                  "printf '%s\\n' \"$nvcc\"")
        answer = function_of_dev(script, PATH=f"{first.parent}:{second.parent}:/usr/bin:/bin")
        self.assertEqual(answer.stdout.strip(), str(second), answer.stderr)

    def test_code_is_made_for_the_gpu_that_there_is(self):
        new = fake_nvcc(self.place / "bin", "13.0")
        new.write_text(new.read_text().replace("#!/bin/sh\n", "#!/bin/sh\n[ $1 = --list-gpu-code ] && echo sm_75 && "
                                               "echo sm_90 && exit\n"))
        for answer_of_card, expected in [("echo 9.0", "90"), ("echo 3.5", ""), ("exit 9", "")]:
            card = self.place / "bin" / "nvidia-smi"
            card.write_text(f"#!/bin/sh\n{answer_of_card}\n")
            card.chmod(0o755)
            script = (f"build={self.place}/build; rm -rf $build; install_packages() {{ :; }}; setup; architecture=; "
                      "setup; echo \"[$architecture]\"")
            answer = function_of_dev(script, PATH=f"{new.parent}:/usr/bin:/bin")
            self.assertEqual(answer.stdout.strip(), f"[{expected}]", answer.stderr)

    def test_wheels_are_fetched_where_there_is_no_compiler(self):
        script = (f"build={self.place}/build; install_packages() {{ :; }}; "
                  f"find_nvcc() {{ [ -n \"${{fetched:-}}\" ] && echo {self.place}/bin/nvcc; }}; "
                  "fetch_nvcc() { echo fetching >&2; fetched=yes; }; setup; printf '%s\\n' \"$nvcc\"")
        fake_nvcc(self.place / "bin", "13.0")
        answer = function_of_dev(script)
        self.assertEqual(answer.stdout.strip(), f"{self.place}/bin/nvcc", answer.stderr)
        self.assertIn("fetching", answer.stderr)

    def test_every_wheel_is_pinned_by_version_and_hash(self):
        text = (ROOT / "cmake" / "cuda-wheels.txt").read_text()
        pinned = re.findall(r"^([a-z-]+)==([0-9.]+)((?: \\\n    --hash=sha256:[0-9a-f]{64})+)$", text, re.M)
        named = re.findall(r"^[a-z][^\s=]*", text, re.M)
        self.assertEqual([p[0] for p in pinned], named)
        self.assertEqual(len(named), 5)


if __name__ == "__main__":
    unittest.main()
