/** Colors of flows: blues and greens for responsive flows, vermilion and yellow for unresponsive ones (Okabe and Ito). */

import type { Flow } from "./engine/types";

const RESPONSIVE = ["#0072B2", "#56B4E9", "#009E73", "#3A5FCD", "#2F8F9D", "#7FB8A4"];
const UNRESPONSIVE = ["#D55E00", "#E69F00", "#CC79A7", "#B8860B"];

/** Responsive flows with colors of their own; of more, a group shares one. */
const MOST_COLORS = 12;

/** A color for each flow. Unresponsive flows of one group share theirs: they are the story. */
export function colorsOf(flows: readonly Flow[]): string[] {
  const responsive = flows.filter((flow) => flow.responsive);
  const own = responsive.length <= MOST_COLORS;
  const calm = own ? responsive.map((flow) => String(flow.flow)) : responsive.map((flow) => flow.group);
  const calmKeys = [...new Set(calm)];
  const loudKeys = [...new Set(flows.filter((flow) => !flow.responsive).map((flow) => flow.group))];
  const color = (colors: readonly string[], place: number) => colors[place % colors.length] as string;
  return flows.map((flow) =>
    flow.responsive
      ? color(RESPONSIVE, calmKeys.indexOf(own ? String(flow.flow) : flow.group))
      : color(UNRESPONSIVE, loudKeys.indexOf(flow.group)),
  );
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
