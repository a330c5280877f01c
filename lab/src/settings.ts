/** What the reader has chosen: the page's state, and all that a shared link holds. */

export interface Settings {
  /** A shipped scenario's name; or `own`, with its text in `toml`. */
  scenario: string;
  toml: string;
  /** Changes to the scenario, each written as for `headgate run --set`. */
  changes: string[];
  left: string;
  /** The second discipline; empty for one lab alone. */
  right: string;
  seed: number;
  /** The moment to begin at. */
  t_ms: number;
  /** Simulated seconds a second. */
  speed: number;
  /** The lesson and its step, from 0; null without a lesson. */
  lesson: [number, number] | null;
}

export const OWN = "own";

/** Simulated seconds a second, fastest first. */
export const SPEEDS: readonly number[] = [1, 0.5, 0.2, 0.1, 0.03, 0.01, 0.003, 0.001];

export const DEFAULTS: Readonly<Settings> = {
  scenario: "protect",
  toml: "",
  changes: [],
  left: "droptail",
  right: "faba",
  seed: 1,
  t_ms: 0,
  speed: 1,
  lesson: null,
};

/** The settings as a link's fragment. Defaults are left out. */
export function toFragment(settings: Settings): string {
  const words = new URLSearchParams();
  const put = (key: string, value: string, usual: string) => {
    if (value !== usual) words.append(key, value);
  };
  put("scenario", settings.scenario, DEFAULTS.scenario);
  if (settings.scenario === OWN) words.append("toml", settings.toml);
  for (const change of settings.changes) words.append("set", change);
  put("left", settings.left, DEFAULTS.left);
  put("right", settings.right, DEFAULTS.right);
  put("seed", String(settings.seed), String(DEFAULTS.seed));
  put("t", String(Math.round(settings.t_ms)), String(DEFAULTS.t_ms));
  put("speed", String(settings.speed), String(DEFAULTS.speed));
  if (settings.lesson) words.append("lesson", settings.lesson.map((number) => number + 1).join("."));
  return words.toString();
}

/** A link that cannot be read: `message` says which part of it, and what was expected. */
export class LinkError extends Error {}

const KEYS = ["scenario", "toml", "set", "left", "right", "seed", "t", "speed", "lesson"];

/** The settings in a link's fragment; `LinkError` for a part that cannot be read. */
export function fromFragment(fragment: string, scenarios: Iterable<string>): Settings {
  const words = new URLSearchParams(fragment.replace(/^#/, ""));
  for (const key of words.keys()) {
    if (!KEYS.includes(key)) throw new LinkError(`the link has an unknown key "${short(key)}"; known: ${KEYS.join(", ")}`);
  }
  const scenario = words.get("scenario") ?? DEFAULTS.scenario;
  const known = [...scenarios, OWN];
  if (!known.includes(scenario)) {
    throw new LinkError(`the link names a scenario "${short(scenario)}"; known: ${known.join(", ")}`);
  }
  if (scenario === OWN && !words.get("toml")) throw new LinkError("the link has no text for its own scenario");
  return {
    scenario,
    toml: words.get("toml") ?? "",
    changes: words.getAll("set"),
    left: words.get("left") ?? DEFAULTS.left,
    right: words.get("right") ?? DEFAULTS.right,
    seed: number(words, "seed", DEFAULTS.seed, 0, 2 ** 32 - 1, true),
    t_ms: number(words, "t", DEFAULTS.t_ms, 0, 1e7, false),
    speed: number(words, "speed", DEFAULTS.speed, 0.001, 1, false),
    lesson: lesson(words.get("lesson")),
  };
}

function number(words: URLSearchParams, key: string, usual: number, least: number, most: number, whole: boolean): number {
  const text = words.get(key);
  if (text === null) return usual;
  const value = text.trim() === "" ? NaN : Number(text);
  if (!(value >= least && value <= most) || (whole && !Number.isInteger(value))) {
    const kind = whole ? "a whole number" : "a number";
    throw new LinkError(`the link's "${key}" is ${kind} from ${least} to ${most}, not "${short(text)}"`);
  }
  return value;
}

function lesson(text: string | null): [number, number] | null {
  if (text === null) return null;
  const found = /^(\d{1,2})\.(\d)$/.exec(text);
  if (!found) throw new LinkError(`the link's "lesson" is a lesson and a step such as 3.1, not "${short(text)}"`);
  return [Number(found[1]) - 1, Number(found[2]) - 1];
}

/** At most 80 characters of what a link says. */
function short(text: string): string {
  return text.length > 80 ? `${text.slice(0, 79)}…` : text;
}
