# SPDX-License-Identifier: MIT
"""The commands that the documents show are there, and the files that they name too."""
import os
import re
import unittest

from support import ROOT, run

DOCUMENTS = ["README.md", "HACKING.md", "CONTRIBUTING.md"]


def commands(text):
    """Lines of the code blocks, without comments, and what stands in backticks, that call ./dev or warpfold."""
    lines = [line.split(" #")[0].strip() for block in re.findall(r"^```\w*\n(.*?)^```", text, re.M | re.S)
             for line in block.splitlines()]
    lines += re.findall(r"`([^`\n]+)`", re.sub(r"^```.*?^```", "", text, flags=re.M | re.S))
    return [line for line in lines if re.match(r"(\./dev|warpfold|\.ci/run)( |$)", line)]


class Documents(unittest.TestCase):
    def test_commands_exist(self):
        known = set(re.findall(r"\./dev ([a-z-]+)", run("./dev", "help").stdout)) | {"help", "tsan"}
        tool = os.environ.get("WARPFOLD_TOOL")
        seen = 0
        for document in DOCUMENTS:
            for command in commands((ROOT / document).read_text()):
                words = command.split()
                if words[0] == "./dev" and len(words) > 1:
                    self.assertIn(words[1], known, f"{document}: {command}")
                    seen += 1
                subcommand = words[1:] if words[0] == "warpfold" else words[1:] if words[1:2] in (["ladder"], ["run"]) \
                    else words[2:] if words[1:2] == ["warpfold"] else []
                if tool and subcommand and re.fullmatch(r"[a-z]+", subcommand[0]):
                    path = subcommand[:2] if subcommand[0] == "ladder" and len(subcommand) > 1 else subcommand[:1]
                    answer = run(tool, *path, "--help")
                    self.assertEqual(answer.returncode, 0, f"{document}: {command}: {answer.stderr}")
                    for option in re.findall(r"(?<= )--[a-z-]+", command.split(" -- ")[0]):
                        self.assertIn(option, answer.stdout, f"{document}: {command}")
        self.assertGreater(seen, 5)

    def test_links_and_named_files_exist(self):
        for document in DOCUMENTS:
            text = (ROOT / document).read_text()
            for target in re.findall(r"\]\((?!https?:)([^)#]+)", text):
                self.assertTrue((ROOT / target).exists(), f"{document}: {target}")

    def test_presets_of_dev_exist(self):
        listed = re.search(r"./dev build \[PRESET\]\s+(.*?): build/PRESET", run("./dev", "help").stdout).group(1)
        names = re.findall(r"[a-z]+", listed.replace("(default)", "").replace(" or ", " "))
        answer = run(os.environ.get("WARPFOLD_CMAKE") or "cmake", "--list-presets")
        self.assertEqual(set(re.findall(r'"([a-z]+)"', answer.stdout)), set(names))


if __name__ == "__main__":
    unittest.main()
