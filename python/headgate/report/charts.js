// Draws the charts of a report with uPlot. The buttons of the disciplines switch series on and off in all of them.
"use strict";

const { labels: LABELS, charts: CHARTS } = JSON.parse(document.getElementById("chart-data").textContent);
const buttons = [...document.querySelectorAll("#disciplines button[data-discipline]")];
const on = LABELS.map(() => true);
const plots = {};
let look;

// Canvas has no CSS: colors are read from elements whose colors follow the page.
function readColors() {
  const of = (selector, name) => getComputedStyle(document.querySelector(selector))[name];
  look = {
    series: buttons.map((button) => getComputedStyle(button.querySelector("line")).stroke),
    ink: of("body", "color"),
    quiet: of(".kicker", "color"),
    grid: of("h2", "borderTopColor"),
  };
}

const dashes = (n) => buttons[n].querySelector("line").getAttribute("stroke-dasharray").split(" ").filter(Boolean).map(Number);
const shownNumbers = () => LABELS.map((_, n) => n).filter((n) => on[n]);
const written = (value) => (value === 0 ? "0" : Math.abs(value) >= 1e4 ? value.toFixed(0) : String(Number(value.toPrecision(3))));

// The values of x, and of each discipline at each of them, from the numbers of a chart.
function table(chart, choice = 0) {
  if (chart.dots) {
    const dots = chart.dots.flatMap((each, n) => each.map(([x, y]) => ({ x, y, n }))).sort((a, b) => a.x - b.x);
    return [dots.map((dot) => dot.x), ...LABELS.map((_, n) => dots.map((dot) => (dot.n === n ? dot.y : null)))];
  }
  const rows = chart.ys ? chart.ys[choice] : chart.y;
  const x = chart.names ? chart.names.map((_, at) => at) : chart.x;
  const floored = (value) => (value !== null && chart.log ? Math.max(value, chart.log) : value);
  return [x, ...rows.map((row) => (row ? row.map(floored) : x.map(() => null)))];
}

// The range of y: from 0, and wide enough for whiskers and fair shares.
function range(chart, plot, low, high) {
  if (chart.log) return [chart.log, Math.max(high ?? 1, 10 * chart.log) * 1.2];
  let top = high ?? 1, whiskers = 0;
  for (const n of shownNumbers()) {
    chart.half?.[n].forEach((half, at) => (whiskers = Math.max(whiskers, (chart.y[n][at] ?? 0) + (half ?? 0))));
  }
  for (const fair of chart.fair ?? []) top = Math.max(top, fair ?? 0);
  // The whiskers of two seeds can be many times as long as the bars.
  top = Math.max(top, Math.min(whiskers, 1.5 * top));
  // Not only the part with dots: it would make small differences look large.
  if (chart.dots) return [Math.min(low ?? 0, 0.8 * top) * 0.98, top * 1.02];
  return [0, chart.yl === "Jain's index" ? Math.min(top * 1.05, 1.05) : top * 1.06];
}

function axes(chart, narrow) {
  const common = { stroke: () => look.quiet, grid: { stroke: () => look.grid, width: 1 }, ticks: { stroke: () => look.grid },
    font: "12px system-ui, sans-serif", labelFont: "12px system-ui, sans-serif", labelSize: 20, labelGap: 2 };
  const x = { ...common, label: chart.xl };
  if (chart.names) {
    const turned = chart.names.join("").length > (narrow ? 28 : 90);
    const longest = Math.max(...chart.names.map((name) => name.length));
    Object.assign(x, { splits: () => chart.names.map((_, at) => at), grid: { show: false },
      values: (_, splits) => splits.map((at) => chart.names[at] ?? ""),
      ...(turned ? { rotate: -90, size: Math.min(7 * longest + 14, 150) } : {}) });
  }
  if (chart.flows) x.values = (_, splits) => splits.map((at) => chart.flows[at] ?? "");
  const y = { ...common, label: chart.yl, size: 52, values: (_, splits) => splits.map((at) => (at === null ? "" : written(at))) };
  return [x, y];
}

function series(chart, n) {
  const lines = chart.kind === "lines";
  const dots = chart.kind === "points" || chart.kind === "dots" || (lines && chart.names);
  return { label: LABELS[n], stroke: () => look.series[n], width: 1.6, dash: lines ? dashes(n) : undefined, spanGaps: false,
    ...(lines ? {} : { paths: () => null }),
    points: { show: Boolean(dots), size: chart.kind === "dots" ? 8 : 5, fill: () => look.series[n], stroke: () => look.series[n] } };
}

// Bars, whiskers and the line of the fair share, which uPlot does not draw.
function decorate(chart, plot) {
  const { ctx } = plot, shown = shownNumbers(), ratio = devicePixelRatio;
  const x = (value) => plot.valToPos(value, "x", true), y = (value) => plot.valToPos(value, "y", true);
  ctx.save();
  ctx.beginPath();
  ctx.rect(plot.bbox.left, plot.bbox.top, plot.bbox.width, plot.bbox.height);
  ctx.clip();
  ctx.lineWidth = ratio;
  shown.forEach((n, place) => {
    const row = chart.y?.[n] ?? [];
    row.forEach((value, at) => {
      if (value === null) return;
      const [left, right] = span(chart, at, place, shown.length);
      const middle = chart.kind === "bars" ? (x(left) + x(right)) / 2 : x(at);
      if (chart.kind === "bars") {
        ctx.fillStyle = look.series[n];
        ctx.fillRect(x(left), y(value), Math.max(x(right) - x(left), 1), y(0) - y(value));
      }
      const half = chart.half?.[n][at];
      if (half) {
        ctx.strokeStyle = chart.kind === "bars" ? look.ink : look.series[n];
        stroke(ctx, [middle, y(value - half)], [middle, y(value + half)]);
      }
    });
  });
  ctx.strokeStyle = look.ink;
  ctx.lineWidth = 2 * ratio;
  (chart.fair ?? []).forEach((fair, at) => {
    const here = plot.data[0][at], step = chart.names ? 0.45 : (plot.data[0][1] - plot.data[0][0]) / 2;
    if (fair !== null) stroke(ctx, [x(here - step), y(fair)], [x(here + step), y(fair)]);
  });
  ctx.restore();
}

function stroke(ctx, from, to) {
  ctx.beginPath();
  ctx.moveTo(...from);
  ctx.lineTo(...to);
  ctx.stroke();
}

// Left and right end of a bar in units of x: the bars of a group fill 0.8 of its room.
function span(chart, at, place, count) {
  const width = 0.8 / count;
  return [at - 0.4 + place * width + 0.1 * width, at - 0.4 + (place + 1) * width - 0.1 * width];
}

// The group of a flow by its number.
function group(chart, flow) {
  let first = 0;
  for (const [name, flows] of chart.of) {
    if (flow < first + flows) return name;
    first += flows;
  }
}

function heading(chart, at, x, choice) {
  if (chart.names) return chart.names[at];
  if (chart.of) return `Flow ${chart.flows[at]}, group ${group(chart, chart.flows[at])}`;
  const [name, unit] = chart.xl.split(/, (?=[^,]*$)/);
  return `${name}: ${written(x)} ${unit ?? ""}${choice ? `, ${choice}` : ""}`;
}

// The numbers at the pointer: those of the disciplines nearest to it.
const MOST_ROWS = 8;
function readout(chart, box) {
  const tip = document.createElement("div");
  tip.className = "readout";
  tip.hidden = true;
  box.append(tip);
  return (plot) => {
    const { idx, left, top } = plot.cursor;
    const at = chart.dots ? nearest(plot) : idx;
    tip.hidden = at === null || at === undefined || left < 0;
    if (tip.hidden) return;
    const rows = shownNumbers().map((n) => ({ n, value: plot.data[n + 1][at] })).filter((row) => row.value !== null);
    const distance = (row) => Math.abs(plot.valToPos(row.value, "y") - top);
    rows.sort((a, b) => distance(a) - distance(b)).splice(MOST_ROWS);
    rows.sort((a, b) => b.value - a.value);
    const head = document.createElement("strong");
    head.textContent = heading(chart, at, plot.data[0][at], box.dataset.choice);
    tip.replaceChildren(head, ...rows.map((row) => {
      const line = document.createElement("div");
      const mark = document.createElement("i");
      mark.style.background = look.series[row.n];
      line.append(mark, `${written(row.value)}  ${LABELS[row.n]}`);
      return line;
    }));
    const room = box.clientWidth - tip.offsetWidth - 4;
    const x = left + plot.over.offsetLeft;
    tip.style.left = `${Math.max(0, Math.min(x + 14 <= room ? x + 14 : x - tip.offsetWidth - 14, room))}px`;
    tip.style.top = `${Math.max(0, top - tip.offsetHeight / 2)}px`;
  };
}

// The dot nearest to the pointer.
function nearest(plot) {
  const { left, top } = plot.cursor;
  let best = null, least = 40;
  plot.data[0].forEach((x, at) => {
    for (const n of shownNumbers()) {
      const value = plot.data[n + 1][at];
      if (value === null) continue;
      const distance = Math.hypot(plot.valToPos(x, "x") - left, plot.valToPos(value, "y") - top);
      if (distance < least) [best, least] = [at, distance];
    }
  });
  return best;
}

const size = (box) => ({ width: box.clientWidth, height: Math.round(Math.min(360, Math.max(260, box.clientWidth * 0.5))) });

// The ends of the x axis, with room beside names, dots and bars; undefined for lines.
function ends(chart) {
  if (chart.names) return [-0.5, chart.names.length - 0.5];
  if (chart.of) return [-0.5, chart.x.at(-1) + 0.5];
  if (chart.dots) return [0, 1.05 * Math.max(...chart.dots.flat().map(([x]) => x))];
}

function make(name, box) {
  const chart = CHARTS[name];
  const spread = ends(chart);
  const options = {
    ...size(box),
    legend: { show: false },
    cursor: { drag: { x: name === "queue", y: false }, points: { show: false }, y: false },
    scales: { x: { time: false, ...(spread ? { range: spread } : {}) },
      y: { distr: chart.log ? 3 : 1, range: (plot, low, high) => range(chart, plot, low, high) } },
    axes: axes(chart, box.clientWidth < 600),
    series: [{}, ...LABELS.map((_, n) => series(chart, n))],
    hooks: { draw: [(plot) => decorate(chart, plot)], setCursor: [readout(chart, box)] },
  };
  const plot = new uPlot(options, table(chart), box);
  const choice = box.parentElement.querySelector("select");
  choice?.addEventListener("change", () => {
    box.dataset.choice = choice.value ? choice.selectedOptions[0].text : "";
    plot.setData(table(chart, Number(choice.value)));
  });
  new ResizeObserver(() => box.clientWidth && plot.setSize(size(box))).observe(box);
  plots[name] = plot;
}

function show(n, visible) {
  on[n] = visible;
  buttons[n].setAttribute("aria-pressed", visible);
  for (const plot of Object.values(plots)) plot.setSeries(n + 1, { show: visible });
}

function recolor() {
  readColors();
  for (const plot of Object.values(plots)) plot.redraw(false);
}

readColors();
document.documentElement.classList.add("charts");
for (const box of document.querySelectorAll(".chart")) make(box.dataset.chart, box);
buttons.forEach((button, n) => button.addEventListener("click", () => show(n, !on[n])));
for (const [id, visible] of [["show-all", true], ["show-none", false]]) {
  document.getElementById(id).addEventListener("click", () => LABELS.forEach((_, n) => show(n, visible)));
}
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", recolor);
document.addEventListener("recolor", recolor);
