/** One run on the page: its samples, its queue, its goodput. Two of them stand side by side. */

import type { Engine } from "./engine/client";
import type { About, Discipline, LiveChange, Progress, Sample, Setup, Snapshot } from "./engine/types";
import { Timeline } from "./timeline";

/** Milliseconds over which goodput is measured. */
const GOODPUT_MS = 2000;

export interface Share {
  name: string;
  goodput_bps: number;
  fair_bps: number;
}

export class Side {
  about!: About;
  setup!: Setup;
  now!: Snapshot;
  readonly samples: Sample[] = [];
  readonly timeline = new Timeline();
  /** Changes since the run began, in order of time. */
  readonly changes: LiveChange[] = [];

  constructor(
    private readonly engine: Engine,
    /** 0 for the left lab, 1 for the right one. */
    readonly number: number,
  ) {}

  /** Begins a run and goes to `t_ms`. On an error the present run stays. */
  async begin(setup: Setup, t_ms: number): Promise<void> {
    const about = await this.engine.begin(this.number, setup);
    this.about = about;
    this.setup = setup;
    this.changes.length = 0;
    await this.seek(t_ms);
  }

  /** Goes to a moment: the run is repeated from its seed. */
  async seek(t_ms: number): Promise<void> {
    const progress = await this.engine.seek(this.number, this.setup, t_ms, this.changes);
    while (this.changes.length > 0 && (this.changes.at(-1) as LiveChange).at_ms > t_ms) this.changes.pop();
    this.samples.length = 0;
    this.keep(progress);
    this.timeline.reset(progress.now);
  }

  async advance(until_ms: number): Promise<void> {
    const progress = await this.engine.advance(this.number, until_ms);
    this.keep(progress);
    this.timeline.take(progress.now);
  }

  async step(): Promise<void> {
    const progress = await this.engine.step(this.number);
    this.keep(progress);
    this.timeline.take(progress.now);
  }

  /** Makes a change from now on. Returns false if it needs a new run. */
  async set(key: string, value: string): Promise<boolean> {
    const { outcome, about } = await this.engine.set(this.number, key, value);
    if (outcome === "applied") {
      this.changes.push({ at_ms: this.now.t_ms, key, value });
      this.about = about;
    }
    return outcome === "applied";
  }

  private keep({ samples, now }: Progress): void {
    this.samples.push(...samples);
    this.now = now;
  }

  /** Goodput of each flow over the last seconds, in bit/s. */
  goodput(): number[] {
    return goodputAt(this.samples, this.samples.length - 1);
  }

  /** Goodput and fair share: of each flow if there are few, else the mean of each group. */
  shares(most: number): Share[] {
    const goodput = this.goodput();
    const flows = this.about.flows.map((flow, at) => ({
      name: flow.name,
      group: flow.group,
      goodput_bps: goodput[at] ?? 0,
      fair_bps: flow.fair_bps,
    }));
    return flows.length <= most ? flows : byGroup(flows);
  }

  /** The goodput of unresponsive flows and the mean of the others, in bit/s; null if there are none. */
  split(): { loud: Share | null; others_bps: number | null } {
    const goodput = this.goodput();
    const { flows } = this.about;
    const loud = flows.find((flow) => !flow.responsive);
    const others = flows.filter((flow) => flow.responsive).map((flow) => goodput[flow.flow] ?? 0);
    return {
      loud: loud ? { name: loud.name, goodput_bps: goodput[loud.flow] ?? 0, fair_bps: loud.fair_bps } : null,
      others_bps: others.length > 0 ? others.reduce((sum, each) => sum + each, 0) / others.length : null,
    };
  }

  /** The latest measured queueing delay. */
  delay(): number | null {
    return this.samples.findLast((sample) => sample.delay_ms !== null)?.delay_ms ?? null;
  }
}

/** Goodput of each flow over the seconds before a sample, in bit/s. */
export function goodputAt(samples: readonly Sample[], at: number): number[] {
  const last = samples[at];
  if (!last) return [];
  let first = at;
  while (first > 0 && last.t_ms - (samples[first] as Sample).t_ms < GOODPUT_MS) first -= 1;
  const before = samples[first] as Sample;
  const span = last.t_ms - before.t_ms;
  return last.flows.map((flow, number) => {
    const bytes = flow.delivered_bytes - (before.flows[number]?.delivered_bytes ?? 0);
    return span > 0 ? (bytes * 8000) / span : 0;
  });
}

/** The means of groups, in order of their first flow. */
export function byGroup(flows: readonly (Share & { group: string })[]): Share[] {
  const groups = new Map<string, (Share & { group: string })[]>();
  for (const flow of flows) groups.set(flow.group, [...(groups.get(flow.group) ?? []), flow]);
  const mean = (list: readonly Share[], of: (share: Share) => number) =>
    list.reduce((sum, each) => sum + of(each), 0) / list.length;
  return [...groups].map(([group, list]) => ({
    name: list.length === 1 ? group : `${group} (mean of ${list.length})`,
    goodput_bps: mean(list, (share) => share.goodput_bps),
    fair_bps: mean(list, (share) => share.fair_bps),
  }));
}

/** The discipline of a run. */
export function disciplineOf(about: About, disciplines: readonly Discipline[]): Discipline {
  const name = about.qdisc.split(":")[0];
  const found = disciplines.find((discipline) => discipline.name === name);
  if (!found) throw new Error(`the registry has no ${name}`);
  return found;
}
