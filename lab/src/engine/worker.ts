/** The engine in a thread of its own: the page stays responsive whatever the run does. */

import wasm from "#engine/headgate_web_bg.wasm?url&inline";
import { Lab, changed, disciplines, initSync, reasons } from "#engine/headgate_web.js";
import { type Answer, type Request, SAMPLE_MS } from "./protocol";
import type { About, LiveChange, Progress, Sample, Setup, Snapshot } from "./types";

/** Bytes of a `data:` address: a page from the disk may not fetch one. */
function decoded(address: string): Uint8Array<ArrayBuffer> {
  const text = atob(address.slice(address.indexOf(",") + 1));
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at += 1) bytes[at] = text.charCodeAt(at);
  return bytes;
}

initSync({ module: decoded(wasm) });

/** One run and the time of its next sample. */
class Run {
  private readonly lab: Lab;
  private nextSample = SAMPLE_MS;
  now = 0;

  constructor(setup: Setup) {
    this.lab = new Lab(setup.toml, setup.qdisc, setup.seed);
  }

  about(): About {
    return JSON.parse(this.lab.about());
  }

  advance(until: number, keepsEvents: boolean): Sample[] {
    const samples: Sample[] = [];
    const go = (to: number) => (keepsEvents ? this.lab.advance(to) : this.lab.skip(to));
    while (this.nextSample <= until) {
      go(this.nextSample);
      const sample: Sample = JSON.parse(this.lab.sample());
      samples.push(sample);
      if (sample.finished) break;
      this.nextSample += SAMPLE_MS;
    }
    go(until);
    this.now = until;
    return samples;
  }

  step(): Sample[] {
    const samples: Sample[] = [];
    this.now = this.lab.step();
    while (this.nextSample <= this.now) {
      samples.push(JSON.parse(this.lab.sample()));
      this.nextSample += SAMPLE_MS;
    }
    return samples;
  }

  snapshot(): Snapshot {
    return JSON.parse(this.lab.snapshot());
  }

  set(key: string, value: string): string {
    return this.lab.set(key, value);
  }

  free(): void {
    this.lab.free();
  }
}

const runs = new Map<number, Run>();

function begin(lab: number, setup: Setup): Run {
  const run = new Run(setup);
  runs.get(lab)?.free();
  runs.set(lab, run);
  return run;
}

function seek(run: Run, until: number, changes: LiveChange[]): Sample[] {
  const samples: Sample[] = [];
  for (const { at_ms, key, value } of changes) {
    if (at_ms > until) break;
    samples.push(...run.advance(at_ms, false));
    run.set(key, value);
  }
  samples.push(...run.advance(until, false));
  return samples;
}

function found(lab: number): Run {
  const run = runs.get(lab);
  if (!run) throw new Error("this run has not begun");
  return run;
}

function answer(request: Request): unknown {
  switch (request.do) {
    case "catalog":
      return { disciplines: JSON.parse(disciplines()), reasons: JSON.parse(reasons()) };
    case "changed":
      return changed(request.toml, request.changes);
    case "begin":
      return begin(request.lab, request.setup).about();
    case "advance": {
      const run = found(request.lab);
      return { samples: run.advance(request.until_ms, true), now: run.snapshot() } satisfies Progress;
    }
    case "step": {
      const run = found(request.lab);
      return { samples: run.step(), now: run.snapshot() } satisfies Progress;
    }
    case "seek": {
      const run = begin(request.lab, request.setup);
      const samples = seek(run, request.until_ms, request.changes);
      return { samples, now: run.snapshot() } satisfies Progress;
    }
    case "set": {
      const run = found(request.lab);
      const outcome = run.set(request.key, request.value);
      return { outcome, about: run.about() };
    }
    case "result": {
      const { toml, qdisc, seed } = request.setup;
      const lab = new Lab(toml, qdisc, seed);
      const result = JSON.parse(lab.result());
      lab.free();
      return result;
    }
  }
}

self.onmessage = (message: MessageEvent<{ id: number; request: Request }>) => {
  const { id, request } = message.data;
  let reply: Answer;
  try {
    reply = { id, value: answer(request) };
  } catch (error) {
    reply = { id, error: error instanceof Error ? error.message : String(error) };
  }
  self.postMessage(reply);
};
