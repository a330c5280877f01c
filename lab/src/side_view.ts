/** What the page shows of one run: its stage, goodput beside fair share, gauges, charts, the latest decision. */

import { Charts, type Look, greatestGoodput } from "./charts";
import { element, select } from "./dom";
import type { Catalog, Discipline, PacketEvent } from "./engine/types";
import { described, explained } from "./explain";
import { counted, gauge, megabits, ms } from "./format";
import { colorsOf, colorsOfGroups } from "./palette";
import { type Side, disciplineOf } from "./side";
import { type Drawn, draw } from "./stage/draw";
import { FALL_S, FLIGHT_S } from "./timeline";

/** Flows with a bar of their own; of more, groups have one. */
const MOST_BARS = 12;

export class SideView {
  readonly root: HTMLElement;
  readonly canvas = element("canvas", { class: "stage", role: "img" });
  private readonly title = element("h2");
  private readonly summary = element("p", { class: "summary" });
  private readonly numbers = element("p", { class: "numbers" });
  private readonly outcome = element("p", { class: "outcome" });
  private readonly bars = element("div", { class: "bars" });
  private readonly gauges = element("dl", { class: "gauges" });
  private readonly inside = element("details", {}, element("summary", {}, "gauges"), this.gauges);
  private readonly levels = element("div", { class: "levels" });
  private readonly heat = element("div", { class: "heat" });
  private readonly decision = element("p", { class: "decision" });
  private readonly chartBox = element("div", { class: "charts" });
  private readonly charts: Charts;
  private readonly picker: HTMLElement;
  private drawn: Drawn[] = [];
  private latest: PacketEvent | null = null;
  private colors: string[] = [];
  /** Drops and marks by group since the shown moment was chosen. */
  private counts = { dropped: new Map<string, number>(), marked: new Map<string, number>() };
  discipline!: Discipline;

  constructor(
    readonly side: Side,
    private readonly catalog: Catalog,
    choose: (qdisc: string) => void,
    seek: (t_ms: number) => void,
    private look: Look & { paper: string; danger: string },
  ) {
    const options = catalog.disciplines.map(({ name, title }) => [name, title] as const);
    this.picker = select(side.number === 0 ? "Left discipline" : "Right discipline", options, "", choose);
    this.charts = new Charts(this.chartBox, seek);
    this.canvas.addEventListener("mousemove", (event) => this.point(event));
    const now = element("div", { class: "now" }, this.bars, element("div", { class: "inside" }, this.heat, this.levels, this.inside));
    this.root = element(
      "article",
      { class: "lab", "data-side": String(side.number) },
      element("div", { class: "head" }, this.title, this.picker),
      this.summary,
      this.canvas,
      this.outcome,
      this.decision,
      this.numbers,
      now,
      this.chartBox,
    );
  }

  /** Shows another run. */
  reset(): void {
    this.discipline = disciplineOf(this.side.about, this.catalog.disciplines);
    this.title.textContent = this.discipline.title;
    this.summary.textContent = `${this.discipline.summary.replace(/\.$/, "")}.`;
    const list = this.picker.querySelector("select");
    if (list) list.value = this.discipline.name;
    this.colors = colorsOf(this.side.about.flows);
    this.counts = { dropped: new Map(), marked: new Map() };
    this.latest = null;
    this.charts.reset(this.side.about, this.look);
    this.update(this.greatest());
  }

  /** The greatest goodput to be shown, in bit/s. Both labs have one scale, so that their bars can be compared. */
  greatest(): number {
    const shares = this.side.shares(MOST_BARS).flatMap(({ goodput_bps, fair_bps }) => [goodput_bps, 2 * fair_bps]);
    return Math.max(1, ...shares, 1e6 * greatestGoodput(this.side.about, this.side.samples));
  }

  /** Another look, as when the reader's system turns dark. */
  relook(look: Look & { paper: string; danger: string }): void {
    this.look = look;
    this.charts.reset(this.side.about, look);
    this.update(this.greatest());
  }

  resize(): void {
    this.charts.resize();
  }

  /** Draws the stage for this moment of the reader's clock. */
  animate(speed: number, still: boolean): void {
    const { side } = this;
    const flight_ms = FLIGHT_S * speed * 1000;
    const fall_ms = FALL_S * speed * 1000;
    const applied = side.timeline.advance(side.now.t_ms, still ? 0 : flight_ms, fall_ms);
    for (const event of applied) {
      if (event[1] === "dropped" || event[1] === "marked") {
        const group = side.about.flows[event[2]]?.group ?? "";
        this.counts[event[1]].set(group, (this.counts[event[1]].get(group) ?? 0) + 1);
        this.latest = event;
      }
    }
    this.drawn = draw(this.canvas, {
      about: side.about,
      discipline: this.discipline,
      timeline: side.timeline,
      gauges: side.now.gauges,
      colors: this.colors,
      flight_ms,
      fall_ms,
      still,
      ...this.look,
    });
  }

  /** Rewrites numbers, bars, gauges and charts. `most` is the end of the scale of goodput, in bit/s. */
  update(most: number): void {
    this.writeNumbers();
    this.writeOutcome();
    this.writeBars(most);
    this.writeGauges();
    this.writeLevels();
    this.writeHeat();
    this.decision.textContent = this.latest
      ? `Latest: ${this.sentence(this.latest)}`
      : `${this.discipline.title} has not dropped or marked a packet since this moment was chosen.`;
    this.charts.update(this.side.about, this.side.samples, most);
  }

  /** The state in a sentence. */
  describe(): string {
    const { side } = this;
    return described(this.discipline.title, side.now.t_ms, side.now.packets, side.delay(), side.shares(MOST_BARS));
  }

  private sentence(event: PacketEvent): string {
    return explained(event, this.side.about.flows, this.discipline, this.catalog.reasons);
  }

  private writeNumbers(): void {
    const { side, counts } = this;
    const delay = side.delay();
    const marks = counts.marked.size > 0 ? `; ${countOf(counts.marked, "marks")}` : "";
    this.numbers.textContent =
      `${counted(side.now.packets, "packets")} queued` +
      (delay === null ? "" : `, queueing delay ${ms(delay)}`) +
      `; ${countOf(counts.dropped, "drops")}${marks}`;
    this.canvas.setAttribute("aria-label", `${this.describe()} The picture shows the packets of the queue, colored by flow.`);
  }

  /** The outcome in a line: the unresponsive flow, the others, the delay. */
  private writeOutcome(): void {
    const { loud, others_bps } = this.side.split();
    const delay = this.side.delay();
    const parts = [
      loud ? `${loud.name}, which ignores drops, has ${megabits(loud.goodput_bps)} (fair share ${megabits(loud.fair_bps)})` : "",
      others_bps === null ? "" : `${loud ? "the others have" : "flows have"} ${megabits(others_bps)} on average`,
      delay === null ? "" : `packets wait ${ms(delay)}`,
    ];
    this.outcome.textContent = `${parts.filter((part) => part !== "").join("; ")}.`;
  }

  private writeBars(most: number): void {
    const shares = this.side.shares(MOST_BARS);
    const groups = colorsOfGroups(this.side.about.flows);
    const few = shares.length === this.side.about.flows.length;
    this.bars.classList.toggle("grouped", !few);
    this.bars.replaceChildren(
      element("h3", {}, "Goodput; the line is the fair share"),
      ...shares.map((share, at) => {
        const color = few ? this.colors[at] : groups.get(share.name.replace(/ \(mean of \d+\)$/, ""));
        const bar = element("span", { class: "fill" });
        bar.style.width = `${(100 * share.goodput_bps) / most}%`;
        bar.style.background = color ?? this.look.ink;
        const line = element("span", { class: "fair" });
        line.style.left = `${(100 * share.fair_bps) / most}%`;
        return element(
          "div",
          { class: "bar" },
          element("span", { class: "name" }, share.name),
          element("span", { class: "track" }, bar, line),
          element("span", { class: "value" }, megabits(share.goodput_bps)),
        );
      }),
    );
  }

  private writeGauges(): void {
    const known = new Map(this.discipline.gauges.map((each) => [each.name, each]));
    const rows = Object.entries(this.side.now.gauges).map(([name, value]) => {
      const declared = known.get(name) ?? known.get(name.replace(/\d+/, "N"));
      const unit = declared?.unit ?? "";
      const meter = element("span", { class: "meter" });
      if ((unit === "probability" || unit === "share") && value !== null) {
        const fill = element("span", { class: "fill" });
        fill.style.width = `${100 * Math.min(1, Math.max(0, value))}%`;
        meter.append(fill);
      }
      return [element("dt", { title: declared?.about ?? "" }, name), element("dd", {}, meter, gauge(value, unit))];
    });
    this.gauges.replaceChildren(...rows.flat());
    this.inside.hidden = rows.length === 0;
  }

  /** The gauges of single flows as levels: tokens in FABA's buckets, SFB's probabilities, FQ's queues. */
  private writeLevels(): void {
    const names = this.side.about.flow_gauges ?? [];
    const known = new Map(this.discipline.gauges.map((each) => [each.name, each]));
    const flows = this.side.now.flows.slice(0, 60);
    this.levels.replaceChildren(
      ...names.map((name, at) => {
        const values = flows.map((flow) => flow.gauges[at] ?? null);
        const most = Math.max(...values.map((value) => value ?? 0), 1e-9);
        const unit = known.get(name)?.unit ?? "";
        const columns = values.map((value, flow) => {
          const level = element("span", { class: "level", title: `${this.side.about.flows[flow]?.name}: ${gauge(value, unit)}` });
          level.style.height = `${Math.max(2, (100 * (value ?? 0)) / most)}%`;
          level.style.background = this.colors[flow] ?? this.look.ink;
          return level;
        });
        const words = `${name.replaceAll("_", " ")} of each flow, at most ${gauge(most <= 1e-9 ? 0 : most, unit)}`;
        return element("figure", {}, element("figcaption", {}, words), element("div", { class: "columns", "aria-hidden": "true" }, ...columns));
      }),
    );
  }

  /** The bins of SFB and SFRED as a grid, a row for each level: the warmer a bin, the higher its drop probability. */
  private writeHeat(): void {
    const { bins } = this.side.now;
    this.heat.hidden = bins.length === 0;
    if (bins.length === 0) return;
    const rows = bins.map((level) =>
      element(
        "div",
        { class: "level-row" },
        ...level.map(([probability, packets]) => {
          const cell = element("span", { class: "bin", title: `${gauge(probability, "probability")}, ${counted(packets, "packets")}` });
          cell.style.background = `color-mix(in srgb, var(--danger) ${Math.round(100 * probability)}%, var(--panel))`;
          return cell;
        }),
      ),
    );
    this.heat.replaceChildren(element("p", { class: "caption" }, "bins, a row for each level: drop probability"), ...rows);
  }

  /** Explains the dropped or marked packet under the mouse. */
  private point(event: MouseEvent): void {
    const { left, top } = this.canvas.getBoundingClientRect();
    const [x, y] = [event.clientX - left, event.clientY - top];
    const hit = this.drawn.find((packet) => Math.abs(packet.x + packet.size / 2 - x) < 10 && Math.abs(packet.y + packet.size / 2 - y) < 10);
    this.canvas.title = hit ? this.sentence(hit.event) : "";
  }
}

/** `17 drops (cbr 12, tcp 5)`. */
export function countOf(counts: ReadonlyMap<string, number>, what: string): string {
  const all = [...counts.values()].reduce((sum, count) => sum + count, 0);
  const groups = [...counts].sort((a, b) => b[1] - a[1]).map(([group, count]) => `${group} ${count}`);
  return `${counted(all, what)}${groups.length > 0 ? ` (${groups.join(", ")})` : ""}`;
}
