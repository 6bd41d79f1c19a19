# SPDX-License-Identifier: MIT
"""C++ suites on the software GPU: fetches their sources, compiles each program to PTX, runs it without checks and with all.

`./dev stacks cpp` calls this. Environment: WARPFOLD_TOOL, the command; WARPFOLD_NVCC, the compiler; WARPFOLD_SUITES, a folder
with the sources (NAME/, one for each suite) in the place of the network.
"""
import argparse
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import time
import urllib.request

import cpp_suites

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD_LIMIT = 1800  # seconds

# Why a test does not pass, by its run's output: the first expression that matches.
REASONS = [
    (r"softgpu: .*(?:is not supported|unsupported instruction)", "an instruction that is missing"),
    (r"softgpu: .*cannot (?:read|write) .* out of bounds", "an access out of bounds, by the program itself"),
    (r"symbol lookup error|undefined symbol", "a call that is missing"),
    (r"std::bad_alloc|out of memory|cudaErrorMemoryAllocation", "needs more memory"),
    (r"Assertion `.*' failed", "an assertion of the program's host code"),
    (r"only supported for", "what the program says that it does not support"),
    (r"(?i)not supported|NOT_SUPPORTED", "a call that answers 'not supported'"),
    (r"Mismatch|(?i:incorrect)|\bFAIL|\[  FAILED", "a wrong result"),
]


def reason_of(output):
    return next((reason for expression, reason in REASONS if re.search(expression, output)), "not sorted")


def fetch(repository, commit, folder):
    """A repository of GitHub at one commit or tag, in `folder`. Raises OSError or tarfile.TarError."""
    archive = folder.with_suffix(".tar.gz")
    part = folder.with_suffix(".part")
    shutil.rmtree(part, ignore_errors=True)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with urllib.request.urlopen(f"https://github.com/{repository}/archive/{commit}.tar.gz", timeout=60) as answer:
        with archive.open("wb") as file:
            shutil.copyfileobj(answer, file)
    with tarfile.open(archive) as content:
        content.extractall(part, filter="data")
    archive.unlink()
    (inside,) = part.iterdir()
    inside.rename(folder)
    part.rmdir()


def sources_of(name, suite, sources):
    """The suite's folder, fetched where it is not there. Raises ValueError with one line."""
    given = os.environ.get("WARPFOLD_SUITES")
    for folder, (repository, commit) in {name: (suite.repository, suite.commit), **suite.needs}.items():
        place = pathlib.Path(given or sources, folder)
        if place.is_dir():
            continue
        if given:
            raise ValueError(f"WARPFOLD_SUITES has no folder {folder!r}")
        print(f"{name}: fetching {repository} {commit}", file=sys.stderr)
        try:
            fetch(repository, commit, place)
        except (OSError, tarfile.TarError) as error:
            raise ValueError(f"{repository} {commit} could not be fetched: {error}") from error
    return pathlib.Path(given or sources, name)


def run(command, limit, **environment):
    """Exit status (None: the limit was reached), output, seconds."""
    began = time.monotonic()
    # A process group of its own, so that the limit ends what the program has started too.
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                               env={**os.environ, **environment}, start_new_session=True)
    try:
        output, _ = process.communicate(timeout=limit)
        status = process.returncode
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, 9)
        output, _ = process.communicate()
        status = None
    return status, output.decode(errors="replace"), time.monotonic() - began


def with_sizes(program, folder, place):
    """The program's sources; of those that its sizes change, copies in `place`."""
    files = []
    for source in program.sources:
        text = changed = (folder / source).read_text(errors="replace")
        for expression, value in program.sizes.items():
            changed = re.sub(expression, value, changed)
        file = folder / source
        if changed != text:
            file = place / f"{program.name}{file.suffix}"
            file.write_text(changed)
        files.append(str(file))
    return files


def compile_program(program, folder, place):
    """Compiles to PTX. Returns the executable, seconds, and what the compiler said where it failed."""
    place.mkdir(parents=True, exist_ok=True)
    files = with_sizes(program, folder, place)
    headers = [f"-I{os.path.normpath(folder / part)}" for part in [*program.includes, str(pathlib.Path(program.sources[0]).parent)]]
    nvcc = os.environ["WARPFOLD_NVCC"]
    target = ["-gencode", f"arch={program.architecture},code={program.architecture}", "-lineinfo", "-w"]
    # What several programs share is compiled once.
    objects = []
    began = time.monotonic()
    for file in files:
        flags = [flag for flag in program.flags if not flag.startswith("-l") or flag == "-lineinfo"]
        text = " ".join([*target, *flags, file, str(pathlib.Path(file).stat().st_mtime_ns)])
        made = place / f"{pathlib.Path(file).stem}-{hashlib.sha256(text.encode()).hexdigest()[:12]}.o"
        if not made.exists():
            status, output, _ = run([nvcc, *target, *flags, *headers, "-c", file, "-o", str(made)], BUILD_LIMIT)
            if status != 0:
                made.unlink(missing_ok=True)
                return None, time.monotonic() - began, output or "the compiler's limit was reached"
        objects.append(str(made))
    executable = place / program.name
    stubs = pathlib.Path(nvcc).resolve().parents[1] / "lib64/stubs"
    libraries = [flag for flag in program.flags if flag.startswith("-l") and flag != "-lineinfo"]
    openmp = ["-Xcompiler", "-fopenmp"] if "-fopenmp" in program.flags else []
    status, output, _ = run([nvcc, *target, *openmp, *objects, "-o", str(executable), f"-L{stubs}", *libraries], BUILD_LIMIT)
    return (None if status != 0 else executable), time.monotonic() - began, output if status != 0 else ""


def findings_of(file):
    """What the checks found, without notes."""
    if not file.exists():
        return []
    return [finding for finding in json.loads(file.read_text()).get("findings", []) if finding["severity"] != "note"]


def run_program(program, executable, limit, check):
    """All runs of one program: tests, those that failed with their reasons, findings, seconds."""
    result = {"tests": 0, "skipped": 0, "failures": [], "findings": [], "seconds": 0.0, "not_over": 0}
    found = executable.with_name(executable.name + ".findings.json")
    for arguments in program.runs:
        found.unlink(missing_ok=True)
        # By environment, so that the exit status stays the program's own.
        checks = {"SOFTGPU_CHECK": "all", "SOFTGPU_CHECK_JSON": str(found)} if check else {}
        status, output, seconds = run([os.environ["WARPFOLD_TOOL"], "run", "--", str(executable), *arguments], limit, **checks)
        said = "".join("-" + text.strip("-") for text in arguments)[:60].replace("/", "-")
        executable.with_name(f"{executable.name}.{'check' if check else 'plain'}{said}.txt").write_text(output)
        result["seconds"] += seconds
        if status is None:
            result["not_over"] += 1
        name = " ".join([program.name, *arguments])
        if program.tests:
            began, ended, failed, skipped = cpp_suites.READERS[program.tests](output)
            # It died in the test that it had begun; at its limit that test only has not ended.
            ran = [test for test in began if status is not None or test in ended]
            failed += [test for test in ran if test not in ended]
            if status not in (0, None) and not failed:
                ran, failed = ran + [name], [name]
        else:
            failed = [name] if status not in (0, None) or (program.wrong and re.search(program.wrong, output)) else []
            ran, skipped = ([name] if status is not None or failed else []), []
        result["tests"] += len(ran)
        result["skipped"] += len(skipped)
        result["failures"] += [{"test": test, "reason": reason_of(output), "message": output[-600:]} for test in failed]
        result["findings"] += [{"run": name, **finding} for finding in findings_of(found)]
    result["seconds"] = round(result["seconds"], 1)
    return result


def run_suite(name, suite, chosen, build):
    """Every program of the suite: compiled, run without checks, then with all."""
    folder = sources_of(name, suite, build / "sources")
    programs = [program for program in suite.programs(folder) if not chosen.only or re.search(chosen.only, program.name)]
    results = []
    for program in programs:
        executable, seconds, error = compile_program(program, folder, build / name)
        result = {"program": program.name, "group": program.group, "limit": chosen.limit,
                  "compile_seconds": round(seconds, 1),
                  "resized": any(re.search(expression, (folder / source).read_text(errors="replace"))
                                 for expression in program.sizes for source in program.sources)}
        if executable is None:
            result["compile_error"] = error[:2000]
            print(f"{name}: {program.name} does not compile\n{error[:2000]}", file=sys.stderr)
        else:
            for mode in ("plain", "check"):
                result[mode] = run_program(program, executable, chosen.limit, mode == "check")
            plain, check = result["plain"], result["check"]
            print(f"{name}: {program.name}: {plain['tests']} tests, {len(plain['failures'])} fail, {plain['seconds']} s; "
                  f"all checks: {len(check['failures'])} fail, {len(check['findings'])} findings, {check['seconds']} s",
                  file=sys.stderr, flush=True)
        results.append(result)
        yield results


def main():
    parser = argparse.ArgumentParser(prog="./dev stacks", description="C++ suites on the software GPU.")
    parser.add_argument("names", nargs="+", metavar="NAME", help=f"cpp, for all, or of {', '.join(cpp_suites.SUITES)}")
    parser.add_argument("--limit", type=float, default=120, metavar="SECONDS", help="for each run (default 120)")
    parser.add_argument("--only", metavar="EXPRESSION", help="only programs whose names match")
    parser.add_argument("--build", default="build/stacks", metavar="FOLDER", help="sources, objects and executables")
    parser.add_argument("--results", metavar="FILE", help="JSON; a program that runs replaces what it holds of it")
    parser.add_argument("--page", metavar="FILE", help="the page whose tables are written from the results")
    chosen = parser.parse_args()
    names = list(cpp_suites.SUITES) if "cpp" in chosen.names else chosen.names
    for name in names:
        if name not in cpp_suites.SUITES:
            parser.error(f"there is no suite {name!r}")
    file = pathlib.Path(chosen.results) if chosen.results else None
    kept = json.loads(file.read_text()) if file and file.exists() else {}
    failed = False
    for name in names:
        before = {program["program"]: program for program in kept.get(name, {}).get("programs", [])}
        try:
            for programs in run_suite(name, cpp_suites.SUITES[name], chosen, pathlib.Path(chosen.build).resolve()):
                before.update({program["program"]: program for program in programs})
                kept[name] = {"date": time.strftime("%Y-%m-%d"), "programs": list(before.values())}
                if file:
                    file.write_text(json.dumps(kept, indent=1))
        except ValueError as error:
            print(f"{name}: {error}", file=sys.stderr)
            failed = True
    if chosen.page and kept and not chosen.only:
        import cpp_page
        import stacks_page
        page = pathlib.Path(chosen.page)
        stacks_page.write([page], cpp_page.tables(kept, page.read_text()))
    failing = [program for name in names for program in kept.get(name, {}).get("programs", [])
               if "compile_error" in program or program["plain"]["failures"]]
    return 1 if failed or failing else 0


if __name__ == "__main__":
    sys.exit(main())
