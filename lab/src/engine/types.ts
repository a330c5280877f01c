/** What the engine (`crates/web`) sends to the page. Times are milliseconds, rates bit/s. */

export interface Gauge {
  name: string;
  unit: string;
  about: string;
}

export interface Parameter {
  name: string;
  doc: string;
  kind: string;
  default: string;
  range: string;
}

/** A discipline of the registry. */
export interface Discipline {
  name: string;
  title: string;
  family: string;
  group: string;
  summary: string;
  citation: string;
  protects: boolean;
  per_flow: boolean;
  ecn: boolean;
  schedules: boolean;
  gauges: Gauge[];
  parameters: Parameter[];
  presets: { name: string; about: string; settings: Record<string, string> }[];
}

export interface Group {
  name: string;
  kind: "tcp" | "udp";
  flows: number;
  /** Of TCP. */
  cc?: string;
  /** Of UDP; null if it sends as its access link allows. */
  rate_bps?: number | null;
  ecn: boolean;
}

export interface Flow {
  flow: number;
  group: string;
  name: string;
  kind: "tcp" | "udp";
  responsive: boolean;
  fair_bps: number;
  demand_bps: number | null;
  packet_bytes: number;
  rtt_ms: number;
}

/** What stays the same during a run. */
export interface About {
  name: string;
  about: string;
  duration_ms: number;
  warmup_ms: number;
  qdisc: string;
  seed: number;
  toml: string;
  link: { name: string; rate_bps: number; delay_ms: number; limit: string };
  groups: Group[];
  flows: Flow[];
  gauges: string[] | null;
  flow_gauges: string[] | null;
}

export type EventKind = "arrived" | "sent" | "dropped" | "marked" | "lost";

/** Time, event, flow, bytes, arrival time, reason of a drop or mark, number of the packet. */
export type PacketEvent = [number, EventKind, number, number, number, string | null, number];

/** Flow, arrival time, bytes, number of the packet. */
export type QueuedPacket = [number, number, number, number];

export interface FlowState {
  delivered_bytes: number;
  cwnd: number | null;
  ssthresh: number | null;
  srtt_ms: number | null;
  phase: string | null;
  retransmits: number | null;
  timeouts: number | null;
  gauges: (number | null)[];
}

/** The run at one moment. */
export interface State {
  t_ms: number;
  finished: boolean;
  packets: number;
  bytes: number;
  gauges: Record<string, number | null>;
  /** Drop probability and queued packets of each bin, level by level; empty without bins. */
  bins: [number, number][][];
  flows: FlowState[];
}

/** The run at one moment, for charts. */
export interface Sample extends State {
  /** Mean queueing delay of the packets sent since the last sample. */
  delay_ms: number | null;
}

/** The run at one moment, with its queue and the events since the last snapshot. */
export interface Snapshot extends State {
  queue: QueuedPacket[];
  events: PacketEvent[];
  lost_events: number;
}

/** The rows of the tables, as the command line has them. */
export interface Result {
  flows: { flow: number; group: string; goodput_bps: number; throughput_bps: number; fair_share_bps: number }[];
  link: { utilization: number; arrived: number; sent: number; dropped: number; queue_packets_mean: number };
  packets: number;
}

/** The registry, which is the same for all runs. */
export interface Catalog {
  disciplines: Discipline[];
  /** The words after "because", by reason. */
  reasons: Record<string, string>;
}

/** A run to begin. */
export interface Setup {
  toml: string;
  qdisc: string;
  seed: number;
}

/** A change while the run goes on; `at_ms` is when it was made. */
export interface LiveChange {
  at_ms: number;
  key: string;
  value: string;
}

/** Samples on the grid of the charts, and the moment itself. */
export interface Progress {
  samples: Sample[];
  now: Snapshot;
}
