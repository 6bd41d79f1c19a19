# SPDX-License-Identifier: MIT
"""The tables of docs/stacks.md and docs/stacks/, from the results of stacks.py. Each stands between two comments that name it."""
import collections
import re

MOST_NAMES = 12  # of modules that a line lists


def smoke_table(results):
    lines = ["| stack | program | result | seconds |", "| --- | --- | --- | ---: |"]
    for name, result in results.items():
        smoke = result["smoke"]
        lines.append(f"| {smoke['versions']} | `{name}_smoke.py` | {'passes' if smoke['passes'] else '**fails**'} | "
                     f"{smoke['seconds']:.1f} |")
    return lines


def suite_table(suite):
    """By folder of the suite: modules, tests and seconds."""
    folders = collections.defaultdict(list)
    for module in suite["modules"]:
        folders[module["module"].rsplit(".", 1)[0]].append(module)
    lines = ["| folder | modules | tests | pass | skipped | fail | modules not over | seconds |",
             "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"]
    rows = [(f"`{name}`", modules) for name, modules in folders.items()] + [("all", suite["modules"])]
    for name, modules in rows:
        ran, skipped, failed = (sum(module[key] for module in modules) for key in ("ran", "skipped", "failed"))
        not_over = sum(not module["over"] for module in modules)
        seconds = sum(module["seconds"] for module in modules)
        lines.append(f"| {name} | {len(modules)} | {ran} | {ran - skipped - failed} | {skipped} | {failed} | {not_over} | "
                     f"{seconds:.0f} |")
    return lines


def limit_of(suite, module):
    """In seconds: the suite's, or that of a later run of the module."""
    return module.get("limit", suite["limit"])


def failures_table(suite):
    """By reason: how many tests, and in which modules."""
    modules, tests = collections.defaultdict(set), collections.Counter()
    for module in suite["modules"]:
        name = module["module"].rsplit(".", 1)[-1]
        for failure in module["failures"]:
            modules[failure["reason"]].add(name)
            tests[failure["reason"]] += 1
        if not module["over"]:
            reason = f"not over after {limit_of(suite, module):.0f} seconds"
            modules[reason].add(name)
        if "died" in module:
            modules[f"ended by status {module['died']}"].add(name)
    if not modules:
        return ["Nothing."]
    lines = ["| reason | tests | modules |", "| --- | ---: | --- |"]
    for reason, names in sorted(modules.items(), key=lambda item: (-tests[item[0]], item[0])):
        listed = ", ".join(f"`{name}`" for name in sorted(names)) if len(names) <= MOST_NAMES else f"{len(names)} modules"
        lines.append(f"| {reason} | {tests[reason] or '–'} | {listed} |")
    return lines


def tables(results):
    """Name and lines of every table that the results have data for."""
    made = {"smoke": smoke_table(results)}
    for name, result in results.items():
        if "suite" in result:
            suite = result["suite"]
            limits = " or ".join(f"{limit:.0f}" for limit in sorted({limit_of(suite, module) for module in suite["modules"]}))
            made[f"{name} suite"] = [f"{suite['date']}, at most {limits} seconds a module.", "", *suite_table(suite)]
            made[f"{name} failures"] = failures_table(suite)
    return made


def write(pages, made):
    """Replaces each table in the page that has a place for it; made: those of tables(), or of cpp_page.tables(). Raises
    ValueError where no page has one."""
    for name, lines in made.items():
        begin, end = f"<!-- {name}, by ./dev stacks -->", f"<!-- end of {name} -->"
        pattern = re.compile(f"{re.escape(begin)}.*?{re.escape(end)}", re.S)
        page = next((page for page in pages if pattern.search(page.read_text())), None)
        if page is None:
            raise ValueError(f"no page has a place for the table {name!r}")
        table = "\n".join([begin, "", *lines, "", end])
        page.write_text(pattern.sub(lambda _, table=table: table, page.read_text()))
