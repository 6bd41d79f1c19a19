// SPDX-License-Identifier: MIT
// Source lines with what each did: the share of a counter as a bar and a number, all counters of the line that the
// pointer or the keyboard is at.
"use strict";

const conflicts = (c) => (c.shared_load_bank_conflicts ?? 0) + (c.shared_store_bank_conflicts ?? 0) + (c.shared_atomic_bank_conflicts ?? 0);
const sectors = (c) => (c.global_load_sectors ?? 0) + (c.global_store_sectors ?? 0) + (c.atomic_sectors ?? 0);
const HEAT = {
    "warp instructions": (c) => c.warp_instructions ?? 0,
    "idle lanes": (c) => 32 * (c.warp_instructions ?? 0) - (c.thread_instructions ?? 0) + (c.guarded_off ?? 0),
    "sectors of global memory": sectors,
    "bank conflicts": conflicts,
    "divergent branches": (c) => c.divergent_branches ?? 0,
};

// Counters that are not 0, with their meanings.
function counterList(counters, meanings) {
    return el("dl", {class: "counters"}, Object.entries(counters).filter(([, value]) => value !== 0).map(([name, value]) =>
        el("div", {title: meanings[name] ?? ""}, el("dt", {}, name.replaceAll("_", " ")), el("dd", {}, figure(value)))));
}

// files: [{path, lines: [{line, text, counters}]}]. Gives the function that colours by another of HEAT.
function listing(parent, files, meanings, heat) {
    const rows = [];
    const panel = el("div", {class: "panel", role: "status", "aria-live": "polite"});
    const show = (row) => {
        parent.querySelector("tr.shown")?.classList.remove("shown");
        row.node.classList.add("shown");
        panel.replaceChildren(el("strong", {}, `line ${row.line.line}`), counterList(row.line.counters, meanings));
    };
    const move = (row, to) => {
        const target = rows[Math.min(rows.length - 1, Math.max(0, to))];
        row.node.tabIndex = -1;
        target.node.tabIndex = 0;
        target.node.focus();
    };
    for (const file of files) {
        const body = el("tbody");
        let last = null;
        for (const line of file.lines) {
            if (last !== null && line.line !== last + 1) body.append(el("tr", {class: "gap"}, el("td", {colspan: 3}, "⋯")));
            last = line.line;
            const node = el("tr", {}, el("td", {class: "number"}, String(line.line)), el("td", {class: "heat number"}),
                el("td", {}, el("code", {}, line.text)));
            body.append(node);
            if (!line.counters) continue;
            const row = {node, line, at: rows.length};
            node.tabIndex = rows.length === 0 ? 0 : -1;
            node.className = "counted";
            node.addEventListener("focus", () => show(row));
            node.addEventListener("mouseenter", () => show(row));
            node.addEventListener("keydown", (event) => {
                const to = {ArrowDown: row.at + 1, ArrowUp: row.at - 1, Home: 0, End: rows.length - 1}[event.key];
                if (to === undefined) return;
                event.preventDefault();
                move(row, to);
            });
            rows.push(row);
        }
        parent.append(el("div", {class: "scroll"}, el("table", {class: "source"}, el("caption", {}, plainPath(file.path)),
            el("thead", {class: "unseen"}, el("tr", {}, ["line", "share", "source"].map((name) => el("th", {scope: "col"}, name)))),
            body)));
    }
    if (rows.length !== 0) parent.append(panel);
    const colour = (name) => {
        const whole = d3.sum(rows, (row) => HEAT[name](row.line.counters));
        for (const {node, line} of rows) {
            const share = whole === 0 ? 0 : HEAT[name](line.counters) / whole;
            node.style.setProperty("--heat", share.toFixed(4));
            node.children[1].textContent = share >= 0.005 ? `${Math.round(100 * share)} %` : share > 0 ? "<1 %" : "";
        }
    };
    colour(heat);
    return colour;
}
