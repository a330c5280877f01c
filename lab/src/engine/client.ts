/** The engine as the page calls it: each method sends one request to the worker and waits for its answer. */

import EngineWorker from "./worker?worker&inline";
import type { Answer, Request } from "./protocol";
import type { About, Catalog, LiveChange, Progress, Result, Setup } from "./types";

/** An error in the reader's input, with the engine's words. */
export class InputError extends Error {}

export class Engine {
  private readonly worker = new EngineWorker();
  private readonly waiting = new Map<number, (answer: Answer) => void>();
  private last = 0;

  constructor() {
    this.worker.onmessage = (message: MessageEvent<Answer>) => {
      this.waiting.get(message.data.id)?.(message.data);
      this.waiting.delete(message.data.id);
    };
  }

  private ask<T>(request: Request): Promise<T> {
    this.last += 1;
    const id = this.last;
    this.worker.postMessage({ id, request });
    return new Promise((resolve, reject) => {
      this.waiting.set(id, (answer) => {
        if ("error" in answer) reject(new InputError(readable(answer.error)));
        else resolve(answer.value as T);
      });
    });
  }

  catalog(): Promise<Catalog> {
    return this.ask({ do: "catalog" });
  }

  /** The scenario's text after changes, each written as for `headgate run --set`. */
  changed(toml: string, changes: string[]): Promise<string> {
    return this.ask({ do: "changed", toml, changes });
  }

  begin(lab: number, setup: Setup): Promise<About> {
    return this.ask({ do: "begin", lab, setup });
  }

  advance(lab: number, until_ms: number): Promise<Progress> {
    return this.ask({ do: "advance", lab, until_ms });
  }

  step(lab: number): Promise<Progress> {
    return this.ask({ do: "step", lab });
  }

  seek(lab: number, setup: Setup, until_ms: number, changes: LiveChange[]): Promise<Progress> {
    return this.ask({ do: "seek", lab, setup, until_ms, changes });
  }

  set(lab: number, key: string, value: string): Promise<{ outcome: "applied" | "restart"; about: About }> {
    return this.ask({ do: "set", lab, key, value });
  }

  result(setup: Setup): Promise<Result> {
    return this.ask({ do: "result", setup });
  }
}

/** The engine's message without the word `error:`, which the page shows by its look. */
export function readable(message: string): string {
  return message.replace(/^error: /, "").trim();
}
