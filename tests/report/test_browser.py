# SPDX-License-Identifier: MIT
"""Reports in a headless Chromium, opened from the disk: `./dev test-report`.

With WARPFOLD_SCREENSHOTS=DIR, pictures of the pages for people to look at.
"""
import os
import pathlib
import tempfile
import unittest

import browser
from page import TOOL, data_of, make, warpfold

PAGES = ("reduce", "streams", "run", "predicted")
# The smallest contrast of a text with what is behind it, as WCAG computes it.
CONTRAST = """
(() => {
    const canvas = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
    const mixed = (colours) => {
        canvas.clearRect(0, 0, 1, 1);
        for (const colour of colours) { canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1); }
        return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3);
    };
    const light = (rgb) => rgb.map((c) => c / 255).map((c) => c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
        .reduce((sum, c, k) => sum + c * [0.2126, 0.7152, 0.0722][k], 0);
    let worst = [99, ""];
    for (const node of document.querySelectorAll("p, td, th, summary, a, .note, .good, .bad, .unknown, dt, select, svg .value")) {
        const behind = [];
        for (let at = node; at; at = at.parentElement) behind.unshift(getComputedStyle(at).backgroundColor);
        const style = getComputedStyle(node), back = mixed(behind);
        const text = mixed([...behind, node.closest("svg") ? style.fill : style.color]);
        const [high, low] = [light(text), light(back)].sort((a, b) => b - a);
        const ratio = (high + 0.05) / (low + 0.05);
        if (ratio < worst[0]) worst = [ratio, `${node.tagName} ${node.className.baseVal ?? node.className}: ${text} on ${back}`];
    }
    return worst;
})()"""
# Texts of charts that lie outside their drawing.
CUT = """
[...document.querySelectorAll("svg text")].filter((text) => {
    const inner = text.getBoundingClientRect(), outer = text.closest("svg").getBoundingClientRect();
    return inner.width > 0 && (inner.left < outer.left - 1 || inner.right > outer.right + 1 || inner.top < outer.top - 1 ||
        inner.bottom > outer.bottom + 1);
}).map((text) => `${text.textContent} in ${text.closest("figure").querySelector("figcaption").textContent}`)"""


class Reports(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.paths = {name: pathlib.Path(folder.name) / f"{name}.html" for name in PAGES}
        make("report", "reduce", "--device", "softgpu", "--n", "2^14", "-o", str(cls.paths["reduce"]))
        make("report", "streams", "--device", "softgpu", "-o", str(cls.paths["streams"]))
        make("report", "reduce", "--device", "softgpu", "--n", "2^14", "--predict", "h200,t4", "-o", str(cls.paths["predicted"]))
        ran = warpfold("run", "--report", str(cls.paths["run"]), "--check", "all", "--error-exit", "9", "--", TOOL, "ladder",
                       "reduce", "--device", "softgpu", "--n", "2^16", "--steps", "2,7", "--no-claims")
        if ran.returncode != 9:  # step 7 has a race
            raise RuntimeError(ran.stderr)
        cls.data = {name: data_of(path.read_text(encoding="utf-8")) for name, path in cls.paths.items()}
        cls.tab = browser.Browser()
        cls.addClassCleanup(cls.tab.close)

    def setUp(self):
        self.tab.call("Emulation.clearDeviceMetricsOverride")
        self.tab.media()
        self.tab.errors.clear()

    def open(self, name):
        self.tab.open(self.paths[name])
        return self.data[name]

    def count(self, selector):
        return self.tab.value(f"document.querySelectorAll({selector!r}).length")

    def test_opens_from_the_disk_without_errors_and_loads_nothing(self):
        for name in PAGES:
            for scheme in ("light", "dark"):
                self.tab.media(scheme)
                self.open(name)
                self.assertEqual(self.tab.errors, [], name)
                self.assertEqual(self.tab.requests, [self.paths[name].as_uri()])
                self.assertGreater(self.count("figure svg"), 4)
                self.picture(f"{name}-{scheme}")

    def picture(self, name, whole=True):
        folder = os.environ.get("WARPFOLD_SCREENSHOTS")
        if folder:
            height = self.tab.value("document.documentElement.scrollHeight")
            self.tab.screenshot(os.path.join(folder, f"{name}.png"), (0, 0, 1280, min(height, 6000)) if whole else None)

    def test_every_chart_has_a_name_and_a_table(self):
        for name in PAGES:
            self.open(name)
            figures = self.count("figure")
            self.assertEqual(self.count("figure > svg[role=img][aria-label]"), figures)
            self.assertEqual(self.count("figure > details table"), figures)
            self.assertEqual(self.count("figure table tbody:empty"), 0)
            self.assertEqual(self.tab.value(CUT), [], name)
            self.assertEqual(self.count("select"), self.count("label select"))
            self.assertEqual(self.count("nav a"), self.tab.value(
                "[...document.querySelectorAll('nav a')].filter((a) => document.querySelector(a.hash + ' > h2, ' + a.hash + ' > h3')).length"))

    def test_sections_of_a_ladder(self):
        ladder = self.open("reduce")["ladders"][0]
        headings = self.tab.value("[...document.querySelectorAll('h2, h3')].map((h) => h.textContent)")
        wanted = ["Ladder: reduce", "Counts per element", "Kernels 1 to 7 over n", "Roofline", "Steps and their source", "Claims of the lectures"]
        self.assertEqual(headings[:6], wanted)
        self.assertEqual("Errata of the lectures" in headings, self.data["reduce"]["errata"] != "")
        self.assertEqual(self.count("details.part"), len(ladder["steps"]))
        self.assertEqual(self.count("table.source"), len(ladder["steps"][0]["profile"]["files"]))
        counted = [step for step in ladder["steps"] if step["counters"]]
        self.assertEqual(self.tab.value("document.querySelector('figure').querySelectorAll('g.row').length"), len(counted))
        cards = {run["card"] for run in ladder["elsewhere"]}
        self.assertEqual(self.count("svg .series.s6 .line"), len(cards))  # kernel 7 over n; not of the lectures' own figures
        self.assertEqual(self.tab.value("[...document.querySelectorAll('figcaption')].filter((c) => /giga instr/.test(c.textContent)).length"), len(cards))

    def test_predicted_times(self):
        ladder = self.open("predicted")["ladders"][0]
        steps = [step for step in ladder["steps"] if step.get("predictions")]
        self.assertGreater(len(steps), 15)
        headings = self.tab.value("[...document.querySelectorAll('h2, h3')].map((h) => h.textContent)")
        self.assertEqual(headings[:3], ["Ladder: reduce", "Predicted times", "Counts per element"])
        self.assertEqual(self.count("g.row.predicted"), 3 * len(steps))  # each card, and one over the other
        self.assertEqual(self.count("[aria-label^='Predicted times'] tbody tr"), 2 * len(steps))
        charts = self.tab.value("[...document.querySelectorAll('g.row.predicted')].map((r) => r.closest('figure').querySelector('figcaption').textContent)")
        self.assertTrue(all(title.startswith("In the model") for title in charts))
        bounds = self.tab.value("[...document.querySelectorAll('details.part')][0].textContent")
        self.assertIn("In the model of h200: bound by " + steps[0]["predictions"]["h200"]["bound"], bounds)
        verdicts = self.tab.value("[...document.querySelectorAll('.claims tbody td:nth-child(4)')].map((c) => c.textContent)")
        self.assertTrue(any("holds in the model of h200" in verdict for verdict in verdicts))
        self.open("reduce")
        self.assertEqual(self.count("g.row.predicted"), 0)

    def test_a_step_renders_when_it_is_opened(self):
        ladder = self.open("reduce")["ladders"][0]
        self.tab.value("document.querySelectorAll('details.part').forEach((part) => { part.open = true; })")
        files = sum(len(step.get("profile", {}).get("files", [])) for step in ladder["steps"])
        self.tab.until(f"document.querySelectorAll('table.source').length >= {files}")
        self.assertEqual(self.count("table.source"), files)
        lines = sum(line["counters"] is not None for step in ladder["steps"] for file in step.get("profile", {}).get("files", [])
                    for line in file["lines"])
        self.assertEqual(self.count("tr.counted"), lines)
        self.assertEqual(self.tab.errors, [])

    def test_lines_by_keyboard_and_pointer(self):
        ladder = self.open("reduce")["ladders"][0]
        lines = [line for file in ladder["steps"][0]["profile"]["files"] for line in file["lines"] if line["counters"]]
        self.assertEqual(self.count("tr.counted[tabindex='0']"), 1)
        shown = "document.querySelector('.panel strong').textContent"
        self.tab.value("document.querySelector('tr.counted').focus()")
        self.assertEqual(self.tab.value(shown), f"line {lines[0]['line']}")
        self.tab.press("ArrowDown")
        self.assertEqual(self.tab.value(shown), f"line {lines[1]['line']}")
        self.tab.press("End")
        self.tab.press("ArrowDown")
        self.assertEqual(self.tab.value(shown), f"line {lines[-1]['line']}")
        self.assertEqual(self.count(".panel dt"), sum(value != 0 for value in lines[-1]["counters"].values()))
        self.assertEqual(self.count("tr.counted[tabindex='0']"), 1)
        self.picture("keyboard", whole=False)
        x, y = self.tab.value("(() => { const row = document.querySelectorAll('tr.counted')[2]; row.scrollIntoView({block: 'center'});"
                              "const r = row.getBoundingClientRect(); return [r.x + 200, r.y + 5]; })()")
        self.tab.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
        self.assertEqual(self.tab.value(shown), f"line {lines[2]['line']}")

    def test_heat_is_of_the_chosen_counter(self):
        self.open("reduce")
        shares = "[...document.querySelectorAll('details.part')[1].querySelectorAll('tr.counted .heat')].map((c) => parseInt(c.textContent) || 0)"
        choose = ("(() => {{ const s = document.querySelector('.toolbar.heat select'); s.value = {!r};"
                  "s.dispatchEvent(new Event('change')); }})()")
        self.tab.value("document.querySelectorAll('details.part')[1].open = true")
        self.tab.until("document.querySelectorAll('details.part')[1].querySelector('tr.counted .heat')")
        instructions = self.tab.value(shares)
        self.assertAlmostEqual(sum(instructions), 100, delta=6)
        self.tab.value(choose.format("bank conflicts"))
        conflicts = self.tab.value(shares)
        self.assertAlmostEqual(sum(conflicts), 100, delta=2)
        self.assertEqual(max(conflicts), 100)  # step 2: one line has them all
        self.assertNotEqual(instructions, conflicts)

    def test_claims_can_be_filtered(self):
        ladder = self.open("reduce")["ladders"][0]
        claims = [claim for step in ladder["steps"] for claim in step["claims"]]
        visible = "document.querySelectorAll('.claims tbody tr:not([hidden])').length"
        self.assertEqual(self.tab.value(visible), len(claims))
        kinds = {"true": True, "false": False, "null": None, "remark": "remark"}
        found = ["remark" if claim["refuted_by"] is None else claim["holds"] for claim in claims]
        for value, kind in kinds.items():
            self.tab.value("(() => { const s = document.querySelector('.toolbar:not(.heat) select');"
                           f"s.value = '{value}'; s.dispatchEvent(new Event('change')); }})()")
            self.assertEqual(self.tab.value(visible), sum(one is kind for one in found), value)

    def test_errata(self):
        errata = self.open("reduce")["errata"]
        rows = [line for line in errata.splitlines() if line.startswith("|")]
        heads = [line for line in rows if line.startswith("| --- |")]
        self.assertEqual(self.count("[aria-label=Errata] tbody tr"), len(rows) - 2 * len(heads))
        text = "[N+1] blocks, [a link](x.md), **bold**, `a < b`"
        self.assertEqual(self.tab.value(f"el('p', {{}}, inline({text!r})).innerHTML"),
                         "[N+1] blocks, a link, <strong>bold</strong>, <code>a &lt; b</code>")

    def test_timelines_of_streams(self):
        ladder = self.open("streams")["ladders"][0]
        operations = [len(step["timeline"]["operations"]) for step in ladder["steps"] if step.get("timeline", {}).get("operations")]
        self.assertGreater(len(operations), 10)
        self.assertEqual(self.count("g.operation > title"), sum(operations))

    def test_run_of_a_program(self):
        run = self.open("run")["run"]
        headings = self.tab.value("[...document.querySelectorAll('h2, h3')].map((h) => h.textContent)")
        self.assertEqual(headings, ["Run of a program", "Findings of the checks", "Launches", "Timelines", "Kernels and their source"])
        self.assertGreater(len(run["findings"]), 0)
        self.assertEqual(self.count(".findings tbody tr"), len(run["findings"]))
        self.assertEqual(sum(launch["times"] for launch in run["launches"]), 4)  # two rounds of two steps
        self.assertEqual(self.count("g.operation > title"), sum(len(one["operations"]) for one in run["timelines"]))
        self.assertEqual(self.count("table.source"), len(run["kernels"][0]["files"]))
        sources = self.tab.value("[...document.querySelectorAll('table.source')].map((t) => t.textContent).join()")
        self.assertIn("scratch[", sources)

    def test_dark_and_light_are_readable(self):
        backgrounds = set()
        for name in PAGES:
            for scheme in ("light", "dark"):
                self.tab.media(scheme)
                self.open(name)
                backgrounds.add(self.tab.value("getComputedStyle(document.body).backgroundColor"))
                ratio, where = self.tab.value(CONTRAST)
                self.assertGreater(ratio, 4.5, f"{name}, {scheme}: {where}")
        self.assertEqual(len(backgrounds), 2)

    def test_prints(self):
        for name in PAGES:
            self.open(name)
            pdf = self.tab.pdf()
            self.assertTrue(pdf.startswith(b"%PDF"))
            self.assertGreater(pdf.count(b"/Type /Page\n") + pdf.count(b"/Type /Page "), 1, name)
            if os.environ.get("WARPFOLD_SCREENSHOTS"):
                pathlib.Path(os.environ["WARPFOLD_SCREENSHOTS"], f"{name}.pdf").write_bytes(pdf)
        self.tab.media("dark", "print")
        self.assertEqual(self.tab.value("getComputedStyle(document.body).backgroundColor"), "rgb(255, 255, 255)")

    def test_fits_a_narrow_window(self):
        self.tab.call("Emulation.setDeviceMetricsOverride", width=380, height=800, deviceScaleFactor=1, mobile=False)
        for name in PAGES:
            self.open(name)
            self.assertLessEqual(self.tab.value("document.documentElement.scrollWidth"), 380, name)


if __name__ == "__main__":
    unittest.main()
