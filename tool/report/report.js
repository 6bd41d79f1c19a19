// SPDX-License-Identifier: MIT
// Renders the report's data: ladders with charts, steps, timelines and claims; or the run of a program; then the errata.
"use strict";

const data = JSON.parse(document.getElementById("data").textContent);
const meanings = data.meanings;
const content = document.getElementById("content");
let sections = 0;

// A section with its heading, and its line in the navigation where it is of level 2 or 3.
function section(parent, level, title) {
    const id = `section-${++sections}`;
    document.getElementById("sections").append(el("li", {class: `level${level}`}, el("a", {href: `#${id}`}, clipped(title, 60))));
    const node = parent.appendChild(el("section", {id}, el(`h${level}`, {}, title)));
    return node;
}

function facts(device) {
    if (!device) return "";
    const kind = device.software ? "software GPU" : `driver ${device.driver ?? "–"}`;
    return `${device.name} (${kind}, compute capability ${device.compute_capability}, ${device.multiprocessors} multiprocessors)`;
}

function total(launches) {
    const sum = {};
    for (const {counters} of launches) {
        for (const [name, value] of Object.entries(counters ?? {})) {
            sum[name] = name === "atomic_worst_multiplicity" ? Math.max(sum[name] ?? 0, value) : (sum[name] ?? 0) + value;
        }
    }
    return sum;
}

// What the software GPU counted of a step, and on how many elements; null where it counted nothing.
function counted(step) {
    if (step.profile?.n > 0) return {n: step.profile.n, counters: step.profile.counters};
    const counters = total(step.launches);
    return step.n > 0 && counters.warp_instructions > 0 ? {n: step.n, counters} : null;
}

const named = (step) => `${step.id}: ${step.title}`;
const toned = (step) => (step.peer ? "peer" : "step");
const needed = (step) => (step.time_us ? step.least_bytes / step.time_us / 1e3 : null); // GB/s

// --- a ladder's charts ------------------------------------------------------------------------------------------------

const PER_ELEMENT = [
    ["Instructions", "thread instructions per element", (c) => c.thread_instructions],
    ["Global memory", "bytes moved per element, in 32-byte sectors", (c) => 32 * sectors(c)],
    ["Shared memory", "wavefronts per 1,000 elements", (c) => 1000 * (c.shared_load_wavefronts + c.shared_store_wavefronts + c.shared_atomic_wavefronts)],
    ["Bank conflicts", "wavefronts per 1,000 elements", (c) => 1000 * conflicts(c)],
    ["Divergence", "divergent branches per 1,000 elements", (c) => 1000 * c.divergent_branches],
    ["Barriers", "arrivals of warps per 1,000 elements", (c) => 1000 * c.barriers],
    ["Atomics", "lanes per 1,000 elements", (c) => 1000 * (c.atomic_lanes + c.shared_atomic_lanes)],
];

function counts(parent, ladder) {
    const steps = ladder.steps.map((step) => ({step, of: counted(step)})).filter(({of}) => of);
    if (steps.length === 0) return;
    const node = section(parent, 3, "Counts per element");
    const sizes = new Set(steps.map(({of}) => of.n));
    node.append(el("p", {}, "Counted by the software GPU" + (sizes.size === 1 ? ` on ${power([...sizes][0])} elements.`
        : "; each step on its own number of elements.")));
    const grid = node.appendChild(el("div", {class: "grid"}));
    for (const [title, unit, of] of PER_ELEMENT) {
        const rows = steps.map(({step, of: c}) => ({label: named(step), tone: toned(step), value: of(c.counters) / c.n}));
        if (rows.some((row) => row.value > 0)) bars(grid, {title, unit, rows});
    }
}

function times(parent, ladder) {
    const steps = ladder.steps.filter((step) => step.time_us);
    if (steps.length === 0) return;
    const node = section(parent, 3, "Times");
    node.append(el("p", {}, `Medians with a cold cache, on ${ladder.device.name}. GB/s are the bytes that have to be moved at least, over the time.`));
    const grid = node.appendChild(el("div", {class: "grid"}));
    const {read_gb_per_s: read, copy_gb_per_s: copy} = ladder.device;
    const cub = steps.find((step) => step.id === "cub");
    const whole = steps.some((step) => step.gb_per_s); // all steps solve one problem
    const marks = [read && whole && {label: "read ceiling, measured", value: read},
        copy && !whole && {label: "copy ceiling, measured", value: copy},
        cub?.least_bytes && {label: "CUB", value: needed(cub)}].filter(Boolean);
    const row = (step, value) => ({label: named(step), tone: toned(step), value});
    bars(grid, {title: "Bandwidth", unit: "GB/s", marks,
        rows: steps.filter((step) => step.least_bytes).map((step) => row(step, needed(step)))});
    bars(grid, {title: "Time", unit: "µs", marks: cub ? [{label: "CUB", value: cub.time_us}] : [],
        rows: steps.map((step) => row(step, step.time_us))});
}

// --- what the model of a card says (docs/model.md): never beside what was measured, and drawn with another pattern --------

const percent = (part) => `${Math.round(100 * part)} %`;
const predictedCards = (all) => [...new Set(all.flatMap((one) => Object.keys(one.predictions ?? {})))];

function predictions(parent, ladder) {
    const steps = ladder.steps.filter((step) => step.predictions);
    if (steps.length === 0) return;
    const node = section(parent, 3, "Predicted times"), cards = predictedCards(steps);
    node.append(el("p", {}, `Predicted by a model of ${cards.join(", ")} from what the software GPU counted, not measured: all launches ` +
        "of a step, with a cold L2 cache. Bounds are those of a step's longest launch."));
    const grid = node.appendChild(el("div", {class: "grid"}));
    const row = (step, card, value) => ({label: named(step), tone: "predicted", value,
        tip: `${named(step)} in the model of ${card}, bound by ${step.predictions[card].bound}`});
    const cold = (step, card) => step.predictions[card].cold_nanoseconds / 1e3;
    for (const card of cards) {
        bars(grid, {title: `In the model of ${card}: time`, unit: "µs", rows: steps.map((step) => row(step, card, cold(step, card)))});
    }
    for (const other of cards.slice(1)) {
        bars(grid, {title: `In the models: time of ${other} over that of ${cards[0]}`, unit: "times",
            rows: steps.map((step) => row(step, other, cold(step, other) / cold(step, cards[0])))});
    }
    node.append(table(["step", "card", "cold, µs", "warm, µs", "bound", "of the warm time", "next bound"],
        steps.flatMap((step) => cards.map((card) => {
            const p = step.predictions[card];
            return [named(step), card, p.cold_nanoseconds / 1e3, p.nanoseconds / 1e3, p.bound, percent(p.share_of_roof), p.next_bound];
        })), `Predicted times of the ladder ${ladder.ladder}`));
}

// Of a step: what bounds it on each card, and which lines have most of that.
function predictedBounds(parent, step) {
    for (const [card, p] of Object.entries(step.profile.predictions)) {
        parent.append(el("h4", {}, `In the model of ${card}: bound by ${p.bound}`),
            el("p", {class: "note"}, `Predicted, not measured: ${figure(p.nanoseconds / 1e3)} µs warm, ${figure(p.cold_nanoseconds / 1e3)} µs cold. ` +
                `The bound has ${percent(p.share_of_roof)} of the time of the longest launch, ${shortName(p.longest_launch.kernel)}.`),
            table(["bound", "if it alone took time, µs"], Object.entries(p.bounds).sort((a, b) => b[1] - a[1]).map(([name, time]) => [name, time / 1e3]),
                `Bounds of step ${step.id} in the model of ${card}`),
            el("ul", {}, p.lines.map((line) => el("li", {}, `${percent(line.share)} of the ${p.lines_by} (${p.lines_of}): ${line.path}:${line.line}, ${line.why}`))));
    }
}

const KERNELS = ["1", "2", "3", "4", "5", "6", "7"];
const LECTURE_BLOCK = 128; // of the lecture's table

function kernels(parent, ladder) {
    if (!ladder.published) return;
    const node = section(parent, 3, "Kernels 1 to 7 over n");
    node.append(el("p", {}, "As “Performance Comparison” of lecture 759 draws them. The slide's diagram has no figures; beside " +
        "ours stand the times that the lectures print, each of one n."));
    const runs = ladder.sweep.concat(ladder.elsewhere.filter((run) => run.block === LECTURE_BLOCK));
    const panels = d3.nest().key((run) => `${run.card}, ${run.source}`).entries(runs).map(({values}) => ({
        title: `${values[0].card}, blocks of ${LECTURE_BLOCK} threads`,
        note: [...new Set(values.map((run) => [run.source, run.date].filter(Boolean).join(", ")))].join("; "),
        points: values.flatMap((run) => run.steps.map((step) => ({id: step.id, n: run.n, time: step.time_us, on: run.card}))),
    }));
    panels.push({
        title: "As the lectures print them",
        note: ladder.published.map((p) => `${p.device}: ${p.lecture}, n = ${power(p.n)}, blocks of ${p.block} threads`).join("; "),
        points: ladder.published.flatMap((p) => Object.entries(p.time_us).map(([id, time]) => ({id, n: p.n, time, on: p.device}))),
        apart: true,
    });
    const all = panels.flatMap((panel) => panel.points.filter((p) => KERNELS.includes(p.id)));
    const [low, high] = d3.extent(all, (p) => p.time);
    const grid = node.appendChild(el("div", {class: "grid"}));
    for (const panel of panels) {
        const points = panel.points.filter((p) => KERNELS.includes(p.id)).sort((a, b) => a.n - b.n);
        scatter(grid, {
            title: `${panel.title}: time, µs`, note: panel.note, xLabel: panel.apart ? "n of that device" : "n", yLabel: "µs",
            xFormat: (n) => (panel.apart ? `${power(n)}, ${points.find((p) => p.n === n).on}` : power(n)), over: true, joined: !panel.apart, domain: [low / 1.5, high * 1.5],
            series: KERNELS.map((id) => ({name: `kernel ${id}`, points: points.filter((p) => p.id === id)
                .map((p) => [p.n, p.time, `kernel ${id}, ${p.on}, n = ${power(p.n)}: ${figure(p.time)} µs`])})).filter((one) => one.points.length !== 0),
            head: ["kernel", "device", "n", "time, µs"], rows: points.map((p) => [p.id, p.on, p.n, p.time]),
        });
    }
}

// Instructions for each byte that has to be moved, against instructions a second. The distance to the roof is the share
// of the ceiling that the step reaches.
function roofline(parent, ladder) {
    const steps = ladder.steps.map((step) => ({step, of: counted(step)})).filter(({step, of}) => of && step.least_bytes);
    if (steps.length === 0) return;
    const intensity = new Map(steps.map(({step, of}) => [step.id, of.counters.thread_instructions / of.n / (step.least_bytes / step.n)]));
    const [low, high] = d3.extent([...intensity.values()]);
    if (high < 2 * low) return; // a roofline tells steps apart by their intensities
    const node = section(parent, 3, "Roofline");
    const near = (run) => Math.abs(Math.log2((run.n ?? ladder.n) / ladder.n));
    const devices = d3.nest().key((run) => run.card).entries(ladder.elsewhere.filter((run) => !run.block || run.block === ladder.block))
        .map(({values}) => values.sort((a, b) => near(a) - near(b))[0]);
    if (!ladder.device.software) {
        const whole = ladder.steps.some((step) => step.gb_per_s);
        devices.unshift({card: ladder.device.name, source: "this run", n: ladder.n, block: ladder.block, ceiling: whole ? "read" : "copy",
            ceiling_gb_per_s: whole ? ladder.device.read_gb_per_s : ladder.device.copy_gb_per_s,
            steps: ladder.steps.filter(needed).map((step) => ({id: step.id, n: step.n, gb_per_s: needed(step)}))});
    }
    node.append(el("p", {}, "Thread instructions, as the software GPU counts them in PTX, for each byte that the problem has to move at " +
        "least. The sloping roof is a card's measured bandwidth; a step's distance below it is what is left to gain. " +
        (devices.length === 0 ? "There are no times of this ladder on a card, so only the intensities are shown." :
            "No figure of a card's peak of instructions is measured, so there is no flat roof.")));
    const grid = node.appendChild(el("div", {class: "grid"}));
    bars(grid, {title: "Intensity", unit: "instructions per byte",
        rows: steps.map(({step}) => ({label: named(step), tone: toned(step), value: intensity.get(step.id)}))});
    for (const device of devices) {
        const points = device.steps.filter((step) => step.gb_per_s && intensity.has(step.id))
            .map((step) => ({...step, x: intensity.get(step.id), y: intensity.get(step.id) * step.gb_per_s}));
        if (points.length === 0 || !device.ceiling_gb_per_s) continue;
        const roof = `${device.ceiling} ceiling ${figure(device.ceiling_gb_per_s)} GB/s`;
        scatter(grid, {
            title: `${device.card}: giga instructions a second`, xLabel: "instructions per byte", yLabel: "giga instructions a second",
            note: `Times: ${[device.source, device.date].filter(Boolean).join(", ")}${device.n ? `, n = ${power(device.n)}` : ""}${device.block ? `, blocks of ${device.block}` : ""}. Instructions: this report.`,
            roofs: [{name: roof, slope: device.ceiling_gb_per_s}],
            series: points.map((p) => ({name: p.id, points: [[p.x, p.y, `${p.id}: ${figure(p.x)} instructions per byte, ${figure(p.gb_per_s)} GB/s, ` +
                `${Math.round(100 * p.gb_per_s / device.ceiling_gb_per_s)} % of the ceiling`]]})),
            head: ["step", "n", "instructions per byte", "giga instructions a second", "GB/s", "% of the ceiling"],
            rows: points.map((p) => [p.id, p.n, p.x, p.y, p.gb_per_s, 100 * p.gb_per_s / device.ceiling_gb_per_s]),
        });
    }
}

// --- steps ------------------------------------------------------------------------------------------------------------

const VERDICTS = {true: ["✓", "holds", "good"], false: ["✗", "does not hold", "bad"], null: ["–", "cannot be seen", "unknown"],
    remark: ["·", "remark", "unknown"]};

// A claim that no counter-example could refute is a remark.
const kind = (claim) => (claim.refuted_by === null ? "remark" : String(claim.holds));

function verdict({qualified, ...claim}) {
    const modelled = [...(claim.figure ?? "").matchAll(/(holds|does not hold) in the model of (\S+)/g)];
    if (claim.holds === null && modelled.length !== 0) {
        return el("span", {class: "unknown"}, "– ", modelled.map(([, words, card]) => `${words} in the model of ${card}`).join("; "));
    }
    const [mark, words, tone] = VERDICTS[kind(claim)];
    const limited = qualified && (qualified.startsWith("only") ? `holds ${qualified}` : qualified);
    return el("span", {class: limited ? "unknown" : tone}, `${mark} ${limited || words}`);
}

function result(step) {
    if (step.skipped) return `skipped: ${step.skipped}`;
    if (step.error) return `failed: ${step.error}`;
    const found = step.correct ? (step.ought_to_be === "right by luck" ? "right by luck" : "right") : "wrong";
    return step.as_told ? found + (step.correct ? "" : ", as expected") : `${found}, NOT as expected`;
}

function launchTable(launches, caption) {
    const shape = (dimensions) => dimensions.join(" × ").replace(/( × 1)+$/, "");
    const cards = predictedCards(launches);
    return table(["kernel", "times", "grid", "block", "shared, bytes", ...cards.flatMap((card) => [`predicted: ${card}, µs`, "its bound"])],
        launches.map((launch) => [launch.kernel, launch.times ?? 1, shape(launch.grid), shape(launch.block),
            launch.dynamic_shared_bytes + launch.static_shared_bytes, ...cards.flatMap((card) => {
                const p = launch.predictions?.[card];
                return p ? [p.nanoseconds / 1e3, p.bound] : ["", ""];
            })]), caption);
}

// A folded part whose content is made when it is first opened.
function folded(parent, summary, make) {
    const node = parent.appendChild(el("details", {class: "part"}, el("summary", {}, summary)));
    node.addEventListener("toggle", () => {
        if (node.open && node.children.length === 1) make(node);
    });
    return node;
}

function bounds(parent, step) {
    const {card, n, resources, lines} = step.profile.bounds;
    parent.append(el("h4", {}, "What bounds it"), el("p", {class: "note"}, `The least time that each resource of the ${card} takes on ` +
        `${power(n)} elements, if the others took none: bounds from counts, not a prediction.`),
        table(["resource", "least time, µs", "figure"], resources.map((one) => [one.name, one.seconds * 1e6, one.figure]), `What bounds step ${step.id}`),
        el("ul", {}, lines.map((line) => el("li", {}, `${Math.round(100 * line.share)} %: ${line.path}:${line.line}, ${line.why}`))));
}

const listings = [];
let heat = Object.keys(HEAT)[0];

function heatChoice(parent) {
    const choice = el("select", {}, Object.keys(HEAT).map((name) => el("option", {selected: name === heat}, name)));
    choice.addEventListener("change", () => {
        heat = choice.value;
        for (const select of document.querySelectorAll(".toolbar.heat select")) select.value = heat;
        for (const colour of listings) colour(heat);
    });
    parent.append(el("p", {class: "toolbar heat"}, el("label", {}, "Heat of the source lines: ", choice),
        " A line's counters: pointer, or Tab and the arrow keys."));
}

function addListing(parent, files) {
    if (files.length !== 0) listings.push(listing(parent, files, meanings, heat));
}

function steps(parent, ladder) {
    const node = section(parent, 3, "Steps and their source");
    heatChoice(node);
    ladder.steps.forEach((step, k) => {
        const part = folded(node, `${named(step)}, ${result(step)}`, (body) => {
            body.append(el("p", {}, step.idea), el("p", {class: "note"}, [step.source, step.lecture, `n = ${power(step.n)}`].filter(Boolean).join("; ")));
            if (step.lesson) body.append(el("p", {}, `Caution: ${step.lesson}`));
            if (step.difference) body.append(el("p", {}, `Result: ${step.difference}`));
            if (step.launches.length !== 0) body.append(launchTable(step.launches, `Launches of step ${step.id}`));
            const all = counted(step);
            if (all) body.append(el("details", {class: "figures"}, el("summary", {}, "All counters"), counterList(all.counters, meanings)));
            if (step.profile?.bounds) bounds(body, step);
            if (step.profile?.predictions) predictedBounds(body, step);
            if (step.profile?.note) body.append(el("p", {class: "note"}, step.profile.note));
            addListing(body, step.profile?.files ?? []);
        });
        part.open = k === 0;
    });
}

function timelines(parent, all) {
    if (all.length === 0) return;
    const node = section(parent, 3, "Timelines");
    node.append(el("p", {}, [...new Set(all.map((one) => one.machine))].join("; ")));
    const grid = node.appendChild(el("div", {class: "grid"}));
    for (const one of all) {
        if (one.operations.length !== 0) timeline(grid, {title: `${one.name}${one.modelled ? " (model)" : ""}`, operations: one.operations});
    }
}

// --- claims -----------------------------------------------------------------------------------------------------------

function claims(parent, ladder) {
    const all = ladder.steps.flatMap((step) => step.claims.map((claim) => ({step: step.id, ...claim})));
    if (all.length === 0) return;
    const node = section(parent, 3, "Claims of the lectures");
    const here = ladder.device.software ? "software GPU" : ladder.device.name;
    const cards = ladder.verdicts.map(({card, date, verdicts}) => ({card, date,
        of: new Map(verdicts.map((one) => [`${one.step}\n${one.claim}`, one]))}));
    const rows = all.map((claim) => [claim.step, el("div", {}, claim.text,
        claim.refuted_by && el("div", {class: "note"}, `held against: ${claim.refuted_by}`)), claim.lecture, verdict(claim), claim.figure,
        ...cards.map(({of}) => {
            const one = of.get(`${ladder.ladder}/${claim.step}\n${claim.text}`);
            return one ? el("div", {}, verdict({...one, refuted_by: claim.refuted_by}), el("div", {class: "note"}, one.figure)) : "";
        })]);
    const found = table(["step", "claim", "lecture", here, "evidence", ...cards.map(({card, date}) => `${card}, ${date}`)], rows,
        `Claims of the ladder ${ladder.ladder}`);
    found.classList.add("claims");
    const lines = [...found.querySelectorAll("tbody tr")];
    const count = el("span", {role: "status"});
    const choice = el("select", {}, el("option", {value: "all"}, "all"),
        Object.entries(VERDICTS).map(([value, [, words]]) => el("option", {value}, words)));
    const filter = () => {
        lines.forEach((line, k) => { line.hidden = choice.value !== "all" && kind(all[k]) !== choice.value; });
        count.textContent = ` ${lines.filter((line) => !line.hidden).length} of ${all.length} claims`;
    };
    choice.addEventListener("change", filter);
    filter();
    node.append(el("p", {class: "toolbar"}, el("label", {}, `Verdict on the ${here}: `, choice), count), found);
}

function ladder(one) {
    const node = section(content, 2, `Ladder: ${one.ladder}`);
    node.append(el("p", {}, `Problem: ${one.data}; n = ${power(one.n)}. ${facts(one.device)}.`));
    times(node, one);
    predictions(node, one);
    counts(node, one);
    kernels(node, one);
    roofline(node, one);
    timelines(node, one.steps.filter((step) => step.timeline).map((step) => ({name: named(step), ...step.timeline})));
    steps(node, one);
    claims(node, one);
    for (const extra of one.tables) {
        section(node, 3, extra.title).append(table(extra.head, extra.rows, extra.title));
    }
}

// --- a program's run --------------------------------------------------------------------------------------------------

function launches(parent, run) {
    const node = section(parent, 3, "Launches");
    node.append(el("p", {}, `${d3.sum(run.launches, (launch) => launch.times)} launches; those of one shape stand together.`),
        launchTable(run.launches, "Launches"));
    const kernels = d3.nest().key((launch) => launch.kernel).entries(run.launches).map(({key, values}) => ({name: key, of: total(values)}));
    const grid = node.appendChild(el("div", {class: "grid"}));
    for (const [title, unit, of] of [["Instructions", "warp instructions", (c) => c.warp_instructions],
        ["Global memory", "bytes moved, in 32-byte sectors", (c) => 32 * sectors(c)],
        ["Shared memory", "wavefronts", (c) => c.shared_load_wavefronts + c.shared_store_wavefronts + c.shared_atomic_wavefronts],
        ["Bank conflicts", "wavefronts", conflicts], ["Divergence", "divergent branches", (c) => c.divergent_branches]]) {
        const rows = kernels.map((kernel) => ({label: shortName(kernel.name), tip: kernel.name, value: of(kernel.of)}));
        if (rows.some((row) => row.value > 0)) bars(grid, {title, unit, rows});
    }
    for (const kernel of kernels) {
        node.append(el("details", {class: "part"}, el("summary", {}, `All counters of ${shortName(kernel.name)}`), counterList(kernel.of, meanings)));
    }
}

function findings(parent, all) {
    const node = section(parent, 3, "Findings of the checks");
    if (all.length === 0) {
        node.append(el("p", {}, "No finding."));
        return;
    }
    const where = (access) => [access.what, access.thread && `thread (${access.thread.join(", ")}) of block (${access.block.join(", ")})`,
        access.where?.file && `${plainPath(access.where.file)}:${access.where.line}`].filter(Boolean).join(", ");
    const found = table(["kind", "message", "kernel", "accesses", "times"], all.map((one) => [
        one.severity === "note" ? `${one.kind} (note)` : one.kind, one.message, one.kernel ? shortName(one.kernel) : "",
        el("ul", {}, one.accesses.map((access) => el("li", {}, where(access)))), one.times]), "Findings of the checks");
    found.classList.add("findings");
    node.append(found);
}

function program(run) {
    const node = section(content, 2, "Run of a program");
    node.append(el("p", {}, el("code", {}, data.command), ` on ${facts(run.device)}.`), run.remarks.map((remark) => el("p", {class: "note"}, remark)));
    if (run.findings) findings(node, run.findings);
    launches(node, run);
    timelines(node, run.timelines);
    if (run.kernels.length === 0) return;
    const source = section(node, 3, "Kernels and their source");
    heatChoice(source);
    run.kernels.forEach((kernel, k) => {
        const part = folded(source, `${kernel.kernel}, ${kernel.launches} launch${kernel.launches === 1 ? "" : "es"}`, (body) => {
            if (kernel.files.length === 0) body.append(el("p", {class: "note"}, "No source lines: compile with -lineinfo."));
            addListing(body, kernel.files);
        });
        part.open = k === 0;
    });
}

// --- errata: a page of Markdown ---------------------------------------------------------------------------------------

function inline(text) {
    const plain = text.replace(/\\([|*_`])/g, "$1").replaceAll("&lt;", "<").replaceAll("&amp;", "&");
    return plain.split(/(`[^`]+`|\*\*[^*]+\*\*|\[[^\]]+\]\([^)]*\))/).map((part) => {
        if (part.startsWith("`")) return el("code", {}, part.slice(1, -1));
        if (part.startsWith("**")) return el("strong", {}, part.slice(2, -2));
        return /^\[[^\]]+\]\([^)]*\)$/.test(part) ? part.slice(1, part.indexOf("](")) : part;
    });
}

function markdown(parent, text) {
    const blocks = text.replace(/<!--[^]*?-->/g, "").split(/\n{2,}|\n(?=#)/).map((block) => block.trim()).filter(Boolean);
    for (const block of blocks) {
        const lines = block.split("\n");
        if (block.startsWith("# ")) continue; // the page's title
        if (block.startsWith("#")) {
            parent.append(el(`h${Math.min(4, block.indexOf(" ") + 1)}`, {}, inline(lines[0].replace(/^#+ /, ""))));
            lines.shift();
        }
        if (lines[0]?.startsWith("|")) {
            const cells = lines.map((line) => line.replace(/^\||\|$/g, "").split(/(?<!\\)\|/).map((cell) => el("span", {}, inline(cell.trim()))));
            parent.append(table(cells[0], cells.slice(2), "Errata"));
        } else if (lines[0]?.startsWith("- ")) {
            parent.append(el("ul", {}, lines.join("\n").slice(2).split("\n- ").map((item) => el("li", {}, inline(item)))));
        } else if (lines.length !== 0) {
            parent.append(el("p", {}, inline(lines.join(" "))));
        }
    }
}

document.getElementById("facts").textContent = `${data.command}; warpfold ${data.version}; ${data.date}`;
(data.ladders ?? []).forEach(ladder);
if (data.run) program(data.run);
if (data.errata) markdown(section(content, 2, "Errata of the lectures"), data.errata);
