/** Numbers as the page shows them: three digits and a unit. */

function digits(value: number): string {
  if (value === 0) return "0";
  const places = Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value))));
  return value.toFixed(Math.min(places, 6));
}

export function rate(bps: number): string {
  if (bps >= 1e9) return `${digits(bps / 1e9)} Gbit/s`;
  if (bps >= 1e6) return `${digits(bps / 1e6)} Mbit/s`;
  return `${digits(bps / 1e3)} kbit/s`;
}

/** A rate in Mbit/s, for numbers that stand below each other. */
export function megabits(bps: number): string {
  return `${(bps / 1e6).toFixed(2)} Mbit/s`;
}

export function ms(value: number): string {
  return value >= 1000 ? `${digits(value / 1000)} s` : `${digits(value)} ms`;
}

/** A number with its noun, of which `several` is the plural. */
export function counted(count: number, several: string): string {
  return `${count} ${count === 1 ? several.replace(/s$/, "") : several}`;
}

/** A gauge's value with its unit. */
export function gauge(value: number | null, unit: string): string {
  if (value === null) return "–";
  if (unit === "bit/s") return rate(value);
  if (unit === "ms") return ms(value);
  if (unit === "0 or 1") return value ? "yes" : "no";
  if (unit === "probability" || unit === "share") return `${digits(100 * value)} %`;
  return Number.isInteger(value) ? counted(value, unit) : `${digits(value)} ${unit}`;
}
