/** The scenarios that come with Headgate, by name. */

const FILES = import.meta.glob<string>("#scenarios/*.toml", { query: "?raw", import: "default", eager: true });

/** Scenarios with more flows than a picture has room for. */
const NOT_SHOWN = ["mix"];

const named = Object.entries(FILES).map(([path, toml]): [string, string] => [
  path.slice(path.lastIndexOf("/") + 1, -".toml".length),
  toml,
]);

export const SCENARIOS: ReadonlyMap<string, string> = new Map(
  named.filter(([name]) => !NOT_SHOWN.includes(name)).sort(([a], [b]) => a.localeCompare(b)),
);

/** The scenario's own sentence on what it is about. */
export function aboutOf(toml: string): string {
  return /^about = "(.*)"$/m.exec(toml)?.[1] ?? "";
}
