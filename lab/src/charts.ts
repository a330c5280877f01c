/** Goodput, queueing delay and congestion window over the whole run so far. A click goes back to that moment. */

import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import type { About, Sample } from "./engine/types";
import { colorsOfGroups } from "./palette";
import { goodputAt } from "./side";

export interface Look {
  ink: string;
  quiet: string;
  grid: string;
}

/** Columns of a chart: times in seconds, then one column for each series. */
export type Columns = [number[], ...(number | null)[][]];

/** Goodput of each group's flows (the mean) in Mbit/s, then the largest fair share. */
export function goodputColumns(about: About, samples: readonly Sample[]): Columns {
  const groups = about.groups.map((group) => about.flows.filter((flow) => flow.group === group.name));
  const columns: (number | null)[][] = groups.map(() => []);
  samples.forEach((_, at) => {
    const goodput = goodputAt(samples, at);
    groups.forEach((flows, group) => {
      const sum = flows.reduce((total, flow) => total + (goodput[flow.flow] ?? 0), 0);
      (columns[group] as number[]).push(sum / Math.max(1, flows.length) / 1e6);
    });
  });
  const fair = Math.max(...about.flows.map((flow) => flow.fair_bps)) / 1e6;
  return [times(samples), ...columns, samples.map(() => fair)];
}

/** The greatest goodput in the chart, in Mbit/s. */
export function greatestGoodput(about: About, samples: readonly Sample[]): number {
  const [, ...columns] = goodputColumns(about, samples);
  return columns.reduce((most, column) => column.reduce<number>((top, value) => Math.max(top, value ?? 0), most), 0);
}

export function delayColumns(samples: readonly Sample[]): Columns {
  return [times(samples), samples.map((sample) => sample.delay_ms)];
}

/** Mean congestion window of each TCP group, in packets. */
export function windowColumns(about: About, samples: readonly Sample[]): Columns {
  const groups = about.groups.filter((group) => group.kind === "tcp");
  const mean = (sample: Sample, name: string) => {
    const windows = about.flows.filter((flow) => flow.group === name).map((flow) => sample.flows[flow.flow]?.cwnd ?? null);
    const known = windows.filter((window) => window !== null);
    return known.length > 0 ? known.reduce((sum, window) => sum + window, 0) / known.length : null;
  };
  return [times(samples), ...groups.map((group) => samples.map((sample) => mean(sample, group.name)))];
}

function times(samples: readonly Sample[]): number[] {
  return samples.map((sample) => sample.t_ms / 1000);
}

/** The charts of one lab. */
export class Charts {
  private plots: uPlot[] = [];
  private most = 0;

  constructor(
    private readonly box: HTMLElement,
    private readonly seek: (t_ms: number) => void,
  ) {}

  /** Makes the charts anew, for another run or another look. */
  reset(about: About, look: Look): void {
    this.plots.forEach((plot) => plot.destroy());
    this.box.replaceChildren();
    const colors = colorsOfGroups(about.flows);
    const series = (groups: About["groups"]): uPlot.Series[] =>
      groups.map(({ name }) => ({ label: name, stroke: colors.get(name) ?? look.ink, width: 1.75 }));
    const fair: uPlot.Series = { label: "fair share", stroke: look.ink, width: 1, dash: [5, 4] };
    const end = about.duration_ms / 1000;
    const tcp = about.groups.filter((group) => group.kind === "tcp");
    this.plots = [
      this.plot("goodput of a flow (Mbit/s)", [...series(about.groups), fair], end, look, () => this.most),
      this.plot("queueing delay (ms)", [{ label: "queueing delay", stroke: look.ink, width: 1.5 }], end, look),
    ];
    if (tcp.length > 0) this.plots.push(this.plot("congestion window (packets)", series(tcp), end, look));
  }

  /** `most` is the end of the scale of goodput, in bit/s. */
  update(about: About, samples: readonly Sample[], most: number): void {
    this.most = most / 1e6;
    const columns = [goodputColumns(about, samples), delayColumns(samples), windowColumns(about, samples)];
    this.plots.forEach((plot, at) => plot.setData(columns[at] as uPlot.AlignedData));
  }

  resize(): void {
    this.plots.forEach((plot) => plot.setSize({ width: this.width(), height: plot.height }));
  }

  private width(): number {
    return Math.max(240, this.box.clientWidth);
  }

  private plot(title: string, series: uPlot.Series[], end: number, look: Look, least = () => 0): uPlot {
    const axis = { stroke: look.quiet, grid: { stroke: look.grid, width: 1 }, ticks: { stroke: look.grid }, font: "11px system-ui" };
    const holder = document.createElement("figure");
    const caption = document.createElement("figcaption");
    caption.textContent = title;
    holder.append(caption);
    this.box.append(holder);
    const plot = new uPlot(
      {
        width: this.width(),
        height: 120,
        legend: { show: series.length > 1, live: false },
        cursor: { y: false, drag: { x: false, y: false } },
        scales: { x: { time: false, range: () => [0, end] }, y: { range: (_, __, most) => [0, Math.max(most || 0, least(), 1e-3) * 1.05] } },
        axes: [{ ...axis, size: 26 }, { ...axis, size: 44 }],
        series: [{ label: "s" }, ...series],
      },
      [[], ...series.map(() => [])] as uPlot.AlignedData,
      holder,
    );
    plot.over.addEventListener("click", () => {
      const { left } = plot.cursor;
      if (left !== undefined && left >= 0) this.seek(plot.posToVal(left, "x") * 1000);
    });
    plot.over.title = "Click to go back to this moment";
    return plot;
  }
}
