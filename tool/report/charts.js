// SPDX-License-Identifier: MIT
// Charts as SVG, drawn by d3. Each stands in a figure, with a table of the same figures for readers who do not see it.
"use strict";

const WIDTH = 640, ROW = 21, CHAR = 6.8; // user units of the SVG; CHAR: of a letter

// An element with attributes, and children that are nodes or text.
function el(tag, attributes = {}, ...children) {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
        if (value !== null && value !== undefined && value !== false) node.setAttribute(name, value === true ? "" : value);
    }
    node.append(...children.flat().filter((child) => child !== null && child !== undefined));
    return node;
}

// A number for people: three or four digits; "–" where there is none.
function figure(value) {
    if (typeof value === "string") return value;
    if (value === null || value === undefined || Number.isNaN(value)) return "–";
    const size = Math.abs(value);
    if (Number.isInteger(value) && size < 1e6) return value.toLocaleString("en");
    if (size !== 0 && (size < 1e-3 || size >= 1e12)) return value.toExponential(2);
    return value.toLocaleString("en", {maximumSignificantDigits: size >= 1000 && size < 1e6 ? 4 : 3,
        notation: size >= 1e6 ? "compact" : "standard"});
}

// 2^22 as "2²²", other numbers with their digits grouped.
function power(n) {
    const exponent = Math.log2(n);
    if (!Number.isInteger(exponent) || n < 1024) return n.toLocaleString("en");
    return "2" + String(exponent).replace(/\d/g, (digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[digit]);
}

// "sum_idx<int, sum<int> >" of "void ladder::(anonymous namespace)::sum_idx<int, ladder::sum<int> >(int const*, int*)".
function shortName(kernel) {
    return kernel.replaceAll("(anonymous namespace)::", "").replace(/^void /, "").replace(/\([^()]*\)$/, "").replace(/(\w+::)+/g, "");
}

// A path without the folders that it leaves again.
function plainPath(path) {
    const parts = [];
    for (const part of path.split("/")) part === ".." && parts.length > 1 ? parts.pop() : part !== "." && parts.push(part);
    return parts.join("/");
}

function clipped(text, letters) {
    return text.length <= letters ? text : text.slice(0, Math.max(1, letters - 1)) + "…";
}

// rows of cells; a cell is text, a number or a node. Columns of numbers stand on the right.
function table(head, rows, caption) {
    const numbers = head.map((_, k) => rows.some((row) => typeof row[k] === "number"));
    const cell = (value) => (value instanceof Node ? value : typeof value === "number" ? figure(value) : value ?? "–");
    return el("div", {class: "scroll", tabindex: 0, role: "region", "aria-label": caption},
        el("table", {}, el("caption", {class: "unseen"}, caption),
            el("thead", {}, el("tr", {}, head.map((name, k) => el("th", {scope: "col", class: numbers[k] && "number"}, name)))),
            el("tbody", {}, rows.map((row) => el("tr", {}, row.map((value, k) => k === 0
                ? el("th", {scope: "row"}, cell(value)) : el("td", {class: numbers[k] && "number"}, cell(value))))))));
}

// A figure with a drawing and its table; gives the SVG, of WIDTH x height.
function chart(parent, {title, note, head, rows, height, top = 8}) {
    const node = parent.appendChild(el("figure", {}, el("figcaption", {}, title)));
    const svg = d3.select(node).append("svg").attr("viewBox", `0 0 ${WIDTH} ${height}`).attr("role", "img")
        .attr("aria-label", `${title}. The same figures stand in the table below.`);
    if (note) node.append(el("p", {class: "note"}, note));
    node.append(el("details", {class: "figures"}, el("summary", {}, "Table", el("span", {class: "unseen"}, `: ${title}`)),
        table(head, rows, title)));
    return svg.append("g").attr("transform", `translate(0 ${top})`);
}

function ticks(log, scale) {
    const inDecades = Math.log10(scale.domain()[1] / scale.domain()[0]);
    return log ? scale.ticks(inDecades > 4 ? 4 : 3).filter((value) => inDecades < 1.2 || /^[1-9]0*$|^0?\.?0*1$/.test(String(value)) &&
        Number.isInteger(Math.round(Math.log10(value) * 1e9) / 1e9)) : scale.ticks(5);
}

// Where labels go that must stand apart, from each other and from the dots, each as near as it can be to its wished place
// [x, y]: above or below.
function apart(wished, widths, dots) {
    const taken = dots.map(([x, y]) => ({x: x - 6, y, width: 10}));
    return wished.map(([x, y], k) => {
        const free = (at) => taken.every((other) => Math.abs(at - other.y) >= 12 || x + widths[k] < other.x || other.x + other.width < x);
        let at = y;
        for (let turn = 1; !free(at); ++turn) at = y + (turn % 2 ? 1 : -1) * 3 * Math.ceil(turn / 2);
        taken.push({x, y: at, width: widths[k] + 4});
        return [x, at];
    });
}

// One row for each of rows: {label, value, tip, tone}. As bars, or over more than 1.5 decades as dots on a logarithmic
// scale, where a bar's length means nothing. marks: {value, label} are lines across all rows.
function bars(parent, {title, note, unit, rows, marks = []}) {
    const values = rows.map((row) => row.value).concat(marks.map((mark) => mark.value)).filter((value) => value > 0);
    if (values.length === 0) return;
    const log = d3.max(values) / d3.min(values) > 30;
    const left = Math.min(280, 12 + CHAR * d3.max(rows, (row) => row.label.length));
    const top = 18 + 13 * marks.length, bottom = top + ROW * rows.length;
    const x = (log ? d3.scaleLog().domain([d3.min(values) / 1.5, d3.max(values)]).nice()
        : d3.scaleLinear().domain([0, d3.max(values)])).range([left, WIDTH - 64]);
    const g = chart(parent, {title: `${title}, ${unit}${log ? " (logarithmic)" : ""}`, note, height: bottom + 30,
        head: ["", unit], rows: rows.map((row) => [row.tip ?? row.label, row.value]).concat(marks.map((m) => [m.label, m.value])), top: 0});
    const grid = g.append("g").attr("class", "axis").attr("transform", `translate(0 ${bottom})`)
        .call(d3.axisBottom(x).tickValues(ticks(log, x)).tickFormat(figure).tickSizeInner(top - bottom - 4).tickPadding(6));
    grid.select(".domain").remove();
    const row = g.selectAll("g.row").data(rows).enter().append("g").attr("class", (r) => `row ${r.tone ?? "step"}`)
        .attr("transform", (_, k) => `translate(0 ${top + ROW * k})`);
    row.append("title").text((r) => `${r.tip ?? r.label}: ${figure(r.value)} ${unit}`);
    row.append("text").attr("x", left - 8).attr("y", 15).attr("text-anchor", "end")
        .text((r) => clipped(r.label, Math.floor((left - 12) / CHAR) + 1));
    const some = row.filter((r) => r.value > 0);
    if (log) {
        some.append("path").attr("class", "stem").attr("d", (r) => `M${left} 11H${x(r.value)}`);
        some.append("circle").attr("cx", (r) => x(r.value)).attr("cy", 11).attr("r", 5);
    } else {
        some.append("rect").attr("x", left).attr("y", 4).attr("height", ROW - 6).attr("width", (r) => x(r.value) - left);
    }
    row.append("text").attr("class", "value").attr("y", 15).attr("x", (r) => (r.value > 0 ? x(r.value) : left) + 8)
        .text((r) => figure(r.value));
    marks.forEach((mark, k) => {
        const at = x(mark.value), right = at > WIDTH * 0.6;
        g.append("path").attr("class", "mark").attr("d", `M${at} ${8 + 13 * k}V${bottom}`);
        g.append("text").attr("class", "value").attr("x", at + (right ? -5 : 5)).attr("y", 13 + 13 * k)
            .attr("text-anchor", right ? "end" : "start").text(`${mark.label}: ${figure(mark.value)}`);
    });
}

// Both axes logarithmic. series: {name, points: [[x, y, tip]]}, told apart by colour, symbol and name; roofs: {name,
// slope}, lines y = slope x. `domain`: of y, where charts are to be compared. `over`: x has few values, which are the
// ticks, and names stand on the right; `joined`: lines join a series' points.
function scatter(parent, {title, note, xLabel, yLabel, xFormat = figure, series, roofs = [], domain, over, joined, head, rows}) {
    const all = series.flatMap((one) => one.points);
    if (all.length === 0) return;
    const height = 380, left = 66, right = WIDTH - 110, bottom = height - 54;
    const around = ([low, high], room) => [low / room, high * room];
    const x = d3.scaleLog().domain(around(d3.extent(all, (p) => p[0]), over ? 1.3 : 1.6)).range([left, right]);
    const roofed = roofs.flatMap((roof) => x.domain().map((at) => at * roof.slope));
    const y = d3.scaleLog().domain(domain ?? around(d3.extent(all.map((p) => p[1]).concat(roofed)), 1.3)).range([bottom, 8]);
    const g = chart(parent, {title, note, height, head, rows});
    const xs = over ? [...new Set(all.map((p) => p[0]))].sort((a, b) => a - b) : ticks(true, x);
    g.append("g").attr("class", "axis").attr("transform", `translate(0 ${bottom})`)
        .call(d3.axisBottom(x).tickValues(xs).tickFormat(xFormat).tickSizeInner(8 - bottom).tickPadding(8));
    g.append("g").attr("class", "axis").attr("transform", `translate(${left} 0)`)
        .call(d3.axisLeft(y).tickValues(ticks(true, y)).tickFormat(figure).tickSizeInner(left - right).tickPadding(8));
    g.append("text").attr("class", "label").attr("x", (left + right) / 2).attr("y", bottom + 42).attr("text-anchor", "middle").text(xLabel);
    g.append("text").attr("class", "label").attr("transform", `translate(14 ${bottom / 2}) rotate(-90)`)
        .attr("text-anchor", "middle").text(yLabel);
    for (const roof of roofs) {
        const [a, b] = x.domain();
        g.append("path").attr("class", "mark").attr("d", `M${x(a)} ${y(a * roof.slope)}L${x(b)} ${y(b * roof.slope)}`);
        const at = Math.sqrt(a * b), angle = -Math.atan2(y(a) - y(a * 10), x(a * 10) - x(a)) * 180 / Math.PI;
        g.append("text").attr("class", "value").attr("text-anchor", "middle")
            .attr("transform", `translate(${x(at)} ${y(at * roof.slope) - 8}) rotate(${angle})`).text(roof.name);
    }
    const ends = series.map((one) => one.points[one.points.length - 1]);
    const names = series.map((one) => clipped(one.name, 14));
    const labels = apart(ends.map((p) => [over ? right + 12 : x(p[0]) + 9, y(p[1])]), names.map((name) => CHAR * name.length),
        all.map((p) => [x(p[0]), y(p[1])]));
    series.forEach((one, k) => {
        const group = g.append("g").attr("class", `series s${k % 8}`);
        if (joined) group.append("path").attr("class", "line").attr("d", d3.line().x((p) => x(p[0])).y((p) => y(p[1]))(one.points));
        const mark = d3.symbol().type(d3.symbols[k % d3.symbols.length]).size(56);
        group.selectAll("path.dot").data(one.points).enter().append("path").attr("class", "dot").attr("d", mark())
            .attr("transform", (p) => `translate(${x(p[0])} ${y(p[1])})`).append("title").text((p) => p[2]);
        group.append("path").attr("class", "leader").attr("d", `M${x(ends[k][0]) + 6} ${y(ends[k][1])}L${labels[k][0] - 3} ${labels[k][1]}`);
        group.append("text").attr("x", labels[k][0]).attr("y", labels[k][1] + 4).text(names[k]);
    });
}

// When operations ran: a row for each engine, the streams told apart by colour and number. operations: as in the JSON.
function timeline(parent, {title, note, operations}) {
    const engines = [...new Set(operations.map((o) => o.engine))];
    const streams = [...new Set(operations.map((o) => o.stream))];
    const end = d3.max(operations, (o) => o.end_us), left = 110, bar = 26;
    const bottom = 10 + (bar + 8) * engines.length;
    const x = d3.scaleLinear().domain([0, end]).range([left, WIDTH - 16]);
    const g = chart(parent, {title, note, height: bottom + 62, head: ["operation", "engine", "stream", "from, µs", "to, µs"],
        rows: operations.map((o) => [o.name, o.engine, o.stream, o.start_us, o.end_us]), top: 0});
    g.append("g").attr("class", "axis").attr("transform", `translate(0 ${bottom})`)
        .call(d3.axisBottom(x).ticks(6).tickFormat((at) => `${figure(at)} µs`).tickSizeInner(10 - bottom).tickPadding(6));
    engines.forEach((engine, k) => g.append("text").attr("x", left - 8).attr("y", 10 + (bar + 8) * k + 17)
        .attr("text-anchor", "end").text(engine));
    const one = g.selectAll("g.operation").data(operations).enter().append("g")
        .attr("class", (o) => `operation s${streams.indexOf(o.stream) % 8}`)
        .attr("transform", (o) => `translate(${x(o.start_us)} ${10 + (bar + 8) * engines.indexOf(o.engine)})`);
    const wide = (o) => Math.max(1.5, x(o.end_us) - x(o.start_us));
    one.append("title").text((o) => `${o.name}, ${o.stream}: ${figure(o.start_us)} to ${figure(o.end_us)} µs`);
    one.append("rect").attr("height", bar).attr("width", wide);
    one.append("text").attr("x", 4).attr("y", 17)
        .text((o) => (wide(o) > 14 ? clipped(`${streams.indexOf(o.stream) + 1} ${shortName(o.name)}`, Math.floor((wide(o) - 4) / CHAR)) : ""));
    let at = left;
    streams.forEach((stream, k) => {
        const key = g.append("g").attr("class", `operation s${k % 8}`).attr("transform", `translate(${at} ${bottom + 36})`);
        key.append("rect").attr("width", 18).attr("height", 16);
        key.append("text").attr("x", 5).attr("y", 12).text(k + 1);
        key.append("text").attr("class", "value").attr("x", 24).attr("y", 12).text(stream);
        at += 44 + CHAR * stream.length;
    });
}
