/** Colors of flows: blues and greens for responsive flows, vermilion and yellow for unresponsive ones (Okabe and Ito). */

import type { Flow } from "./engine/types";

const RESPONSIVE = ["#0072B2", "#56B4E9", "#009E73", "#3A5FCD", "#2F8F9D", "#7FB8A4"];
const UNRESPONSIVE = ["#D55E00", "#E69F00", "#CC79A7", "#B8860B"];

/** A color for each flow. Unresponsive flows of one group share theirs: they are the story. */
export function colorsOf(flows: readonly Flow[]): string[] {
  const groups = [...new Set(flows.filter((flow) => !flow.responsive).map((flow) => flow.group))];
  let responsive = 0;
  return flows.map((flow) => {
    if (!flow.responsive) return UNRESPONSIVE[groups.indexOf(flow.group) % UNRESPONSIVE.length] as string;
    responsive += 1;
    return RESPONSIVE[(responsive - 1) % RESPONSIVE.length] as string;
  });
}

/** A color for each group: that of its first flow. */
export function colorsOfGroups(flows: readonly Flow[]): Map<string, string> {
  const colors = colorsOf(flows);
  const found = new Map<string, string>();
  flows.forEach((flow, at) => {
    if (!found.has(flow.group)) found.set(flow.group, colors[at] as string);
  });
  return found;
}
