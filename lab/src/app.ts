/** The page: two runs with the same traffic and seed, moved by one clock. */

import { element } from "./dom";
import { type Engine, InputError } from "./engine/client";
import type { Catalog, Setup } from "./engine/types";
import { toFragment, OWN, type Settings, SPEEDS } from "./settings";
import { SCENARIOS } from "./scenarios";
import { Side } from "./side";
import { SideView } from "./side_view";

/** Seconds between two sentences for readers who listen. */
const SPEAK_S = 5;
/** Milliseconds between two updates of numbers and charts; the stage moves with every frame. */
const UPDATE_MS = 200;

/** What other parts of the page learn of a change. */
export interface Listener {
  /** A run began, or its scenario or discipline changed. */
  began?(): void;
  /** The clock moved, started or stopped. */
  moved?(): void;
}

export class App {
  readonly views: SideView[] = [];
  playing = false;
  private listeners: Listener[] = [];
  private frame = 0;
  private busy = false;
  private lastUpdate = 0;
  private lastSpoken = 0;
  /** Becomes settled when the latest change is done: changes come one after another. */
  private work: Promise<unknown> = Promise.resolve();

  constructor(
    readonly engine: Engine,
    readonly catalog: Catalog,
    public settings: Settings,
    private readonly box: HTMLElement,
    private readonly speak: (sentence: string) => void,
    private readonly complain: (message: string | null) => void,
  ) {}

  listen(listener: Listener): void {
    this.listeners.push(listener);
  }

  /** The scenario's text before changes. */
  get source(): string {
    return this.settings.scenario === OWN ? this.settings.toml : (SCENARIOS.get(this.settings.scenario) ?? "");
  }

  get now_ms(): number {
    return this.views[0]?.side.now.t_ms ?? 0;
  }

  get duration_ms(): number {
    return this.views[0]?.side.about.duration_ms ?? 0;
  }

  /** Begins both runs with other settings. If they cannot begin, the present runs stay and the reader gets the reason. */
  begin(change: Partial<Settings>, t_ms = this.now_ms): Promise<boolean> {
    const next = { ...this.settings, ...change };
    return this.queue(async () => {
      const source = next.scenario === OWN ? next.toml : (SCENARIOS.get(next.scenario) ?? "");
      const toml = next.changes.length > 0 ? await this.engine.changed(source, next.changes) : source;
      const names = [next.left, next.right].filter((name) => name !== "");
      // Tried apart from the runs on the page, which must survive a mistake.
      const sides = names.map((_, number) => this.views[number]?.side ?? new Side(this.engine, number));
      for (const [number, name] of names.entries()) {
        const setup: Setup = { toml, qdisc: name, seed: next.seed };
        await (sides[number] as Side).begin(setup, t_ms);
      }
      this.settings = next;
      this.show(sides);
    });
  }

  /** Puts another discipline on one side. */
  choose(side: number, qdisc: string): Promise<boolean> {
    return this.begin(side === 0 ? { left: qdisc } : { right: qdisc });
  }

  /** Changes a key of the scenario or of a discipline: from now on if it can, else from the start of a new run. */
  async set(key: string, value: string): Promise<boolean> {
    let restart = false;
    const done = await this.queue(async () => {
      for (const { side } of this.views) {
        const mine = !key.startsWith("qdisc.") || key.startsWith(`qdisc.${side.about.qdisc.split(":")[0]}.`);
        if (mine && !(await side.set(key, value))) restart = true;
      }
      this.recall(key, value);
      if (!restart) this.began();
    });
    if (!done || !restart) return done;
    return this.begin({});
  }

  /** Keeps a change in the settings, so that links and new runs have it. */
  private recall(key: string, value: string): void {
    if (key.startsWith("qdisc.")) {
      const [left, right] = this.views.map(({ side }) => side.about.qdisc);
      this.settings = { ...this.settings, left: left ?? this.settings.left, right: right ?? this.settings.right };
    } else {
      const others = this.settings.changes.filter((change) => !change.startsWith(`${key}=`));
      this.settings = { ...this.settings, changes: [...others, `${key}=${value}`] };
    }
  }

  seek(t_ms: number): Promise<boolean> {
    const target = Math.max(0, Math.min(t_ms, this.duration_ms));
    return this.queue(async () => {
      for (const { side } of this.views) await side.seek(target);
      this.views.forEach((view) => view.reset());
      this.update();
    });
  }

  play(playing: boolean): void {
    this.playing = playing && this.now_ms < this.duration_ms;
    this.moved();
  }

  /** To the next packet of the left queue; the right one follows to the same moment. */
  step(): Promise<boolean> {
    this.playing = false;
    return this.queue(async () => {
      const [first, ...others] = this.views;
      await first?.side.step();
      for (const { side } of others) await side.advance(this.now_ms);
      this.update();
      this.moved();
    });
  }

  faster(places: number): void {
    const at = SPEEDS.findIndex((speed) => speed <= this.settings.speed);
    const next = SPEEDS[Math.max(0, Math.min(SPEEDS.length - 1, at - places))];
    this.settings = { ...this.settings, speed: next ?? 1 };
    this.moved();
  }

  /** A link to what the page shows now. */
  link(): string {
    const fragment = toFragment({ ...this.settings, t_ms: this.now_ms });
    return `${window.location.href.split("#")[0]}#${fragment}`;
  }

  /** The clock: call it with every frame. */
  tick(clock_ms: number): void {
    const passed = Math.min(100, clock_ms - this.frame);
    this.frame = clock_ms;
    if (this.views.length === 0) return;
    if (this.playing && !this.busy) void this.advance(this.now_ms + passed * this.settings.speed);
    const still = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
    this.views.forEach((view) => view.animate(this.settings.speed, still));
    if (clock_ms - this.lastUpdate > UPDATE_MS) {
      this.lastUpdate = clock_ms;
      if (this.playing) this.update();
    }
    if (this.playing && clock_ms - this.lastSpoken > SPEAK_S * 1000) {
      this.lastSpoken = clock_ms;
      this.speak(this.views.map((view) => view.describe()).join(" "));
    }
  }

  private advance(until_ms: number): Promise<boolean> {
    this.busy = true;
    const done = this.queue(async () => {
      await Promise.all(this.views.map(({ side }) => side.advance(Math.min(until_ms, side.about.duration_ms))));
      if (this.now_ms >= this.duration_ms) this.finish();
    }, false);
    return done.finally(() => {
      this.busy = false;
    });
  }

  private finish(): void {
    this.playing = false;
    this.update();
    this.moved();
    this.speak(`The run has ended. ${this.views.map((view) => view.describe()).join(" ")}`);
  }

  private show(sides: Side[]): void {
    while (this.views.length > sides.length) this.views.pop()?.root.remove();
    sides.slice(this.views.length).forEach((side) => {
      const view = new SideView(side, this.catalog, (qdisc) => void this.choose(side.number, qdisc), (t_ms) => void this.seek(t_ms), lookOf());
      this.views.push(view);
      this.box.append(view.root);
    });
    this.box.classList.toggle("alone", sides.length === 1);
    this.views.forEach((view) => view.reset());
    this.update();
    this.began();
  }

  /** Colors from the page's style, as when the system turns dark. */
  relook(): void {
    this.views.forEach((view) => view.relook(lookOf()));
  }

  resize(): void {
    this.views.forEach((view) => view.resize());
  }

  private update(): void {
    const most = Math.max(...this.views.map((view) => view.greatest()));
    this.views.forEach((view) => view.update(most));
    this.listeners.forEach((listener) => listener.moved?.());
  }

  private began(): void {
    this.listeners.forEach((listener) => listener.began?.());
    this.moved();
  }

  private moved(): void {
    this.listeners.forEach((listener) => listener.moved?.());
  }

  /**
   * Does one thing after another. An error in the reader's input becomes a message, and the page goes on. The message
   * stays until something that the reader asked for succeeds.
   */
  private queue(job: () => Promise<void>, answersReader = true): Promise<boolean> {
    const done = this.work.then(async () => {
      try {
        await job();
        if (answersReader) this.complain(null);
        return true;
      } catch (error) {
        if (!(error instanceof InputError)) throw error;
        this.complain(error.message);
        return false;
      }
    });
    this.work = done.catch(() => undefined);
    return done;
  }
}

/** The colors that the style sheet has for the present theme. */
function lookOf(): { ink: string; quiet: string; grid: string; paper: string; danger: string } {
  const style = getComputedStyle(document.documentElement);
  const color = (name: string) => style.getPropertyValue(`--${name}`).trim();
  return { ink: color("ink"), quiet: color("quiet"), grid: color("grid"), paper: color("paper"), danger: color("danger") };
}

/** A message in the page for what went wrong. */
export function messageIn(box: HTMLElement, message: string | null): void {
  box.hidden = message === null;
  box.replaceChildren(...(message === null ? [] : [element("pre", {}, message)]));
}
