/** Requests from the page to the worker. Every request has one answer. */

import type { LiveChange, Setup } from "./types";

export type Request =
  | { do: "catalog" }
  | { do: "changed"; toml: string; changes: string[] }
  | { do: "begin"; lab: number; setup: Setup }
  | { do: "advance"; lab: number; until_ms: number }
  | { do: "step"; lab: number }
  /** Begins again and goes to a moment, with the changes that were made on the way. */
  | { do: "seek"; lab: number; setup: Setup; until_ms: number; changes: LiveChange[] }
  | { do: "set"; lab: number; key: string; value: string }
  | { do: "result"; setup: Setup };

export type Answer = { id: number; value: unknown } | { id: number; error: string };

/** Milliseconds of the run between two samples for the charts. */
export const SAMPLE_MS = 100;
