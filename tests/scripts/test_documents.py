# SPDX-License-Identifier: MIT
"""The documents name commands, options, files and headings that exist, and the first pages stay short."""
import os
import pathlib
import re
import subprocess
import unittest

from support import ROOT, run

MADE = "<!-- Made by "  # how a page begins that a script makes
SOURCE = r"(?:cuh|cu|hpp|cpp|h|def|py|sh|cmake|md|txt|json|svg)"
# Folders that a named file may be relative to: the documents of the library name headers as #include lines do.
BASES = ["", "include/warpfold"]
# Names in examples of a user's own project, of CUDA's headers and of an installation.
EXAMPLES = {"program.cu", "transpose_test.cu", "a.cu", "b.cpp", "found.json", "curand_kernel.h", "warpfold/testing/abi.h",
            "cooperative_groups/details/sync.h", "a/b/c.cu", "b/c.cu", "a/b/f.cu"}
LONGEST = {"README.md": 120, "HACKING.md": 150}


def pages():
    """Every page of the tree, relative to its root."""
    found = [ROOT / name for name in ("README.md", "HACKING.md", "CONTRIBUTING.md", "CHANGELOG.md", "include/warpfold/README.md",
                                      "examples/gpu_mode/README.md")]
    found += sorted((ROOT / "docs").rglob("*.md"))
    return [str(page.relative_to(ROOT)) for page in found]


def written():
    """The pages that people write: those of docs/results and most of docs/lectures are made by scripts."""
    return [page for page in pages() if not page.startswith("docs/results/") and not (ROOT / page).read_text().startswith(MADE)]


def without_blocks(text):
    return re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)


def inline_code(text):
    return re.findall(r"`([^`\n]+)`", without_blocks(text))


def commands(text):
    """Lines of the code blocks, without comments, and what stands in backticks, that call ./dev or warpfold."""
    lines = [line.split(" #")[0].strip() for block in re.findall(r"^```\w*\n(.*?)^```", text, re.M | re.S)
             for line in block.splitlines()]
    return [line for line in lines + inline_code(text) if re.match(r"(\./dev|warpfold)( |$)", line)]


def named_paths(text):
    """Files and folders in backticks; what holds a word in capitals stands for several files."""
    for code in inline_code(text):
        # A command's arguments are the reader's own files.
        if re.match(r"(\./dev|warpfold|[a-z0-9]+ )", code) and " " in code:
            continue
        for path in re.findall(rf"(?<![\w./%-])[\w./-]+\.{SOURCE}(?![\w.])|(?<![\w./$-])(?:[\w-]+/)+(?![\w*])", code):
            words = re.findall(r"[A-Z]{2,}", path)
            if re.fullmatch(r"[\w-]+/", path):  # a folder inside one that the sentence names
                continue
            if path in EXAMPLES or (words and not path.endswith(".md")) or path.startswith(("build/", "/", ".")):
                continue
            yield path


def paths_in_comments(name):
    """Files named with a folder in the comments of a source that begin with // or #."""
    if re.search(r"\.(cuh|cu|hpp|cpp|h|def)$", name):
        mark = "//"
    elif re.search(r"\.(py|sh|cmake)$|(^|/)(CMakeLists\.txt|dev)$", name):
        mark = "#"
    else:
        return []
    comments = re.findall(rf"(?:^|\s){mark}(.*)", (ROOT / name).read_text(), re.M)
    return [path for comment in comments
            for path in re.findall(rf"(?<![\w./%$<-])(?:[\w-]+/)+[\w.-]+\.{SOURCE}(?!\w|\.\w)", comment)]


def anchors(page):
    """What headings can be linked to as, in the way GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", without_blocks(page.read_text()), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


class Documents(unittest.TestCase):
    maxDiff = None

    def test_commands_exist(self):
        known = set(re.findall(r"\./dev ([a-z-]+)", run("./dev", "help").stdout)) | {"help", "tsan"}
        tool = os.environ.get("WARPFOLD_TOOL")
        seen = 0
        for document in written():
            for command in commands((ROOT / document).read_text()):
                words = command.split()
                if words[0] == "./dev" and len(words) > 1 and words[1] != "...":
                    self.assertIn(words[1], known, f"{document}: {command}")
                    seen += 1
                subcommand = words[1:] if words[0] == "warpfold" else words[1:] if words[1:2] in (["ladder"], ["run"]) \
                    else words[2:] if words[1:2] == ["warpfold"] else []
                if tool and subcommand and re.fullmatch(r"[a-z]+", subcommand[0]):
                    is_ladder = subcommand[0] == "ladder" and re.fullmatch(r"[a-z]+", " ".join(subcommand[1:2]))
                    path = subcommand[:2] if is_ladder else subcommand[:1]
                    answer = run(tool, *path, "--help")
                    self.assertEqual(answer.returncode, 0, f"{document}: {command}: {answer.stderr}")
                    for option in re.findall(r"(?<= )--[a-z-]+", command.split(" -- ")[0]):
                        self.assertIn(option, answer.stdout, f"{document}: {command}")
        self.assertGreater(seen, 20)

    def test_links_exist(self):
        seen, missing = 0, []
        for document in pages():
            text = without_blocks((ROOT / document).read_text())
            for target in re.findall(r"\]\((?!https?:)([^)\s]+)\)", text):
                path, _, anchor = target.partition("#")
                page = (ROOT / document).parent / path if path else ROOT / document
                if not page.exists() or (anchor and anchor not in anchors(page)):
                    missing.append(f"{document}: {target}")
                seen += 1
        self.assertEqual(missing, [])
        self.assertGreater(seen, 100)

    def test_tables_are_whole(self):
        """A table begins with its head and a line of dashes; a blank line inside would end it."""
        for document in pages():
            for table in re.findall(r"^\|.*\n(?:\|.*\n)*", without_blocks((ROOT / document).read_text()) + "\n", re.M):
                self.assertRegex(table, r"^.*\n\|[ :|-]+\|\n", f"{document}: {table[:60]}")

    def test_named_files_exist(self):
        tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False).stdout
        names = {pathlib.PurePath(path).name for path in tracked.splitlines()}
        if not names:
            self.skipTest("no checkout of git")
        seen, missing = 0, []
        for document in written():
            if document == "CHANGELOG.md":  # it names headers as programs include them
                continue
            for path in named_paths((ROOT / document).read_text()):
                there = any((ROOT / base / path).exists() for base in BASES)
                if not there and ("/" in path or path not in names):
                    missing.append(f"{document}: {path}")
                seen += 1
        self.assertEqual(missing, [])
        self.assertGreater(seen, 100)

    def test_files_named_in_comments_exist(self):
        """From the root or from any folder on: a path is the end of a tracked one."""
        tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False).stdout.splitlines()
        if not tracked:
            self.skipTest("no checkout of git")
        ends = {"/".join(parts[first:]) for parts in (path.split("/") for path in tracked) for first in range(len(parts))}
        named = [(source, path) for source in tracked if (ROOT / source).is_file() for path in paths_in_comments(source)]
        missing = [f"{source}: {path}" for source, path in named
                   if path not in ends and path not in EXAMPLES and not re.search("[A-Z]{2,}", path)]
        self.assertEqual(missing, [])
        self.assertGreater(len(named), 100)

    def test_every_page_is_linked(self):
        """From another page: a page or a plot that nothing links to is not found by readers."""
        linked = set()
        for document in pages():
            for target in re.findall(r"\]\((?!https?:)([^)#\s]+)", (ROOT / document).read_text()):
                linked.add(((ROOT / document).parent / target).resolve())
        results = [str(path.relative_to(ROOT)) for path in (ROOT / "docs/results").rglob("*") if path.is_file()]
        for document in set(pages() + results) - {"README.md"}:
            self.assertTrue((ROOT / document).resolve() in linked, f"no page links to {document}")

    def test_every_public_header_is_listed(self):
        headers = ROOT / "include" / "warpfold"
        listed = set(re.findall(r"`(\w+)(?:\.hpp|\.cuh)?`", (headers / "README.md").read_text()))
        self.assertEqual({path.stem for path in headers.glob("*.[hc][pu][ph]")} - listed, set())

    def test_first_pages_are_short(self):
        for document, longest in LONGEST.items():
            self.assertLess(len((ROOT / document).read_text().splitlines()), longest, document)

    def test_presets_of_dev_exist(self):
        line = re.search(r"^\./dev build \[PRESET.*build/PRESET$", run("./dev", "help").stdout, re.M)[0]
        names = re.search(r"([a-z]+) \(default\), (.*) or ([a-z]+)[:,]", line).groups()
        names = [names[0], *names[1].split(", "), names[2]]
        answer = run(os.environ.get("WARPFOLD_CMAKE") or "cmake", "--list-presets")
        self.assertEqual(set(re.findall(r'"([a-z]+)"', answer.stdout)), set(names))


if __name__ == "__main__":
    unittest.main()
