/** Eight lessons of three steps. Each step sets the lab and asks a question; the answer says what can be seen. */

import { DEFAULTS, type Settings } from "./settings";

export interface Step {
  text: string;
  question: string;
  answer: string;
  /** The settings of the step, where they differ from the page's defaults. */
  set: Partial<Settings>;
}

export interface Lesson {
  title: string;
  steps: [Step, Step, Step];
}


export const LESSONS: readonly Lesson[] = [
  {
    title: "A full buffer",
    steps: [
      {
        text: "Nine TCP flows share 10 Mbit/s with one flow that sends 5 Mbit/s whatever happens. The queue is DropTail: it accepts packets until its buffer is full.",
        question: "How many packets are queued after five seconds, and how long does a packet wait?",
        answer: "About 700, near the limit of 780. A packet waits more than 250 ms, although the path alone takes 16 ms.",
        set: { left: "droptail", right: "", t_ms: 0, speed: 1 },
      },
      {
        text: "The buffer now has room for 40 packets instead of 780.",
        question: "What became better, and what became worse?",
        answer: "The delay fell to less than 20 ms. The buffer is full again and again: about twenty times as many packets are dropped.",
        set: { left: "droptail", right: "", changes: ["link.limit=40p"], t_ms: 0, speed: 1 },
      },
      {
        text: "Both sizes side by side: 780 packets at the left, 40 at the right.",
        question: "Does a smaller buffer take anything from the unresponsive flow (vermilion)?",
        answer: "Hardly: it keeps more than 4.9 of its 5 Mbit/s in both. A buffer's size decides on delay, not on fairness.",
        set: { left: "droptail:limit=780p", right: "droptail:limit=40p", t_ms: 4000, speed: 0.2 },
      },
    ],
  },
  {
    title: "RED and its average",
    steps: [
      {
        text: "RED drops packets before the buffer is full. It follows the average queue (solid line) between the thresholds minth and maxth (dashed).",
        question: "Why does the solid line move more slowly than the queue?",
        answer: "It is a moving average: each packet changes it by wq, a fraction of a percent. A short burst passes without drops.",
        set: { left: "red:minth=25%,maxth=50%,maxp=0.02", right: "", t_ms: 0, speed: 0.5 },
      },
      {
        text: "The same RED with an average that follows the queue at once (wq = 1).",
        question: "What has become of the average at the right?",
        answer: "It is the queue itself, as the latest arrival found it. A short burst now counts as much as a queue that stays.",
        set: { left: "red:minth=25%,maxth=50%,maxp=0.02", right: "red:minth=25%,maxth=50%,maxp=0.02,wq=1", t_ms: 3000, speed: 0.2 },
      },
      {
        text: "RED beside DropTail.",
        question: "Which queue is shorter, and does RED stop the unresponsive flow?",
        answer: "RED's: a packet waits about 90 ms instead of 250. Its drops fall on all flows in proportion to what they send, and the unresponsive flow keeps its 5 Mbit/s.",
        set: { left: "droptail", right: "red:minth=25%,maxth=50%,maxp=0.02", t_ms: 8000, speed: 0.5 },
      },
    ],
  },
  {
    title: "Why BLUE",
    steps: [
      {
        text: "BLUE has a single probability. It rises when the buffer overflows and falls when the link is idle.",
        question: "Does BLUE look at the length of the queue?",
        answer: "No. It learns from the two events that matter: packets were lost, or the link had nothing to send.",
        set: { left: "blue", right: "", t_ms: 0, speed: 1 },
      },
      {
        text: "RED and BLUE beside each other.",
        question: "Which queue is shorter?",
        answer: "BLUE's: a packet waits about 30 ms instead of 90. RED keeps its queue between thresholds; BLUE needs none.",
        set: { left: "red:minth=25%,maxth=50%,maxp=0.02", right: "blue", t_ms: 15_000, speed: 1 },
      },
      {
        text: "Forty TCP flows instead of nine.",
        question: "What does BLUE's probability do?",
        answer: "It climbs to several times its value with nine flows, until the drops hold forty flows back. Nobody had to set it.",
        set: { left: "blue", right: "", changes: ["tcp.flows=40"], t_ms: 0, speed: 1 },
      },
    ],
  },
  {
    title: "One unresponsive flow",
    steps: [
      {
        text: "Watch the vermilion flow. It does not reduce its rate when packets are dropped.",
        question: "What is its goodput in multiples of its fair share?",
        answer: "Five: it keeps its 5 Mbit/s, and the nine TCP flows share the other half of the link.",
        set: { left: "droptail", right: "", t_ms: 10_000, speed: 1 },
      },
      {
        text: "CHOKe compares each arriving packet with a random queued packet. If both are of the same flow, both are dropped.",
        question: "Why does this hurt the vermilion flow most?",
        answer: "It has the most packets in the queue, so it meets its own most often. Yet it keeps about 4.5 Mbit/s: one comparison for each arrival is not enough here.",
        set: { left: "droptail", right: "choke:minth=25%,maxth=50%,maxp=0.02", t_ms: 10_000, speed: 0.2 },
      },
      {
        text: "FRED counts the queued packets of each flow and refuses a flow that has more than its share.",
        question: "How near is the vermilion bar to the line of the fair share?",
        answer: "Within a few tenths of a Mbit/s. FRED pays for that with a count for each flow in the queue.",
        set: { left: "droptail", right: "fred", t_ms: 10_000, speed: 1 },
      },
    ],
  },
  {
    title: "SFB's bins",
    steps: [
      {
        text: "SFB hashes each flow to one bin in each of its levels. Every bin has a probability like BLUE's.",
        question: "Which flow's probability is highest?",
        answer: "The vermilion flow's: its bins overflow, so their probabilities rise to 1.",
        set: { left: "sfb", right: "", t_ms: 0, speed: 1 },
      },
      {
        text: "A flow is dropped with the smallest probability of its bins. A TCP flow that shares one bin with the vermilion flow has others.",
        question: "Look at the levels of 'probability of each flow'. Which TCP flows suffer?",
        answer: "Only a flow that shares a bin in every level. With few flows there is hardly ever one.",
        set: { left: "sfb", right: "blue", t_ms: 10_000, speed: 0.5 },
      },
      {
        text: "Now with few bins: 4 in each of 2 levels.",
        question: "What happens to the TCP flows, and to the vermilion flow?",
        answer: "TCP flows share its bins, react to their drops and lose goodput. That empties the bins, their probability falls, and the vermilion flow has almost 4 Mbit/s. Hashing needs room.",
        set: { left: "sfb", right: "sfb:bins=4,levels=2", t_ms: 10_000, speed: 1 },
      },
    ],
  },
  {
    title: "Tokens",
    steps: [
      {
        text: "FABA gives each flow a bucket of tokens. A queued packet holds tokens of its flow. When it leaves, they go to random buckets.",
        question: "Whose bucket is empty?",
        answer: "The vermilion flow's. It needs tokens faster than they return, and its packets are dropped.",
        set: { left: "faba", right: "", t_ms: 0, speed: 0.5 },
      },
      {
        text: "DropTail beside FABA.",
        question: "What changed when DropTail became FABA?",
        answer: "The vermilion flow fell from 5 Mbit/s to little more than its fair share of 1 Mbit/s. The TCP flows have what it lost.",
        set: { left: "droptail", right: "faba", t_ms: 5000, speed: 1 },
      },
      {
        text: "SFED deals returned tokens to the buckets in turn. FABA deals them at random.",
        question: "Can you see a difference in goodput?",
        answer: "Hardly: each flow has about its fair share in both. Random buckets do as well, at a constant cost for each packet.",
        set: { left: "sfed", right: "faba", t_ms: 5000, speed: 1 },
      },
    ],
  },
  {
    title: "CoDel and FQ",
    steps: [
      {
        text: "CoDel looks at the time that packets spent in the queue. If it stays above 5 ms for 100 ms, it drops a packet at the head.",
        question: "Where in the queue do CoDel's drops happen?",
        answer: "At the head: the sender hears of the congestion as soon as possible.",
        set: { left: "droptail", right: "codel", t_ms: 4000, speed: 0.2 },
      },
      {
        text: "With an unresponsive flow, CoDel alone cannot help.",
        question: "How long is CoDel's queueing delay here?",
        answer: "Above its target of 5 ms most of the time: about 14 ms on average. The vermilion flow ignores its drops.",
        set: { left: "codel", right: "", t_ms: 10_000, speed: 1 },
      },
      {
        text: "FQ-CoDel gives each flow a queue of its own and serves the queues in turn.",
        question: "Who waits in FQ-CoDel?",
        answer: "The vermilion flow, about half a second in its own queue. The others wait about 11 ms.",
        set: { left: "codel", right: "fq_codel", t_ms: 10_000, speed: 0.5 },
      },
    ],
  },
  {
    title: "ECN",
    steps: [
      {
        text: "With ECN a router marks a packet instead of dropping it. The receiver tells the sender, which slows down as after a drop.",
        question: "What is a packet with a ring above the queue?",
        answer: "A marked packet. It stays in the queue and arrives.",
        set: { scenario: "ecn", left: "red:minth=25%,maxth=50%,maxp=0.02", right: "", t_ms: 3000, speed: 0.2 },
      },
      {
        text: "Half of the flows here use ECN (group marks), half do not (group drops).",
        question: "Which group has more goodput at RED, and why?",
        answer: "The group with ECN, by about a tenth. Both slow down alike, but a marked packet arrives and need not be sent again.",
        set: { scenario: "ecn", left: "red:minth=25%,maxth=50%,maxp=0.02", right: "", t_ms: 10_000, speed: 1 },
      },
      {
        text: "DropTail beside BLUE. DropTail cannot mark.",
        question: "How does DropTail tell a sender to slow down?",
        answer: "Only by dropping packets when the buffer is full, which is when the delay is longest: about 110 ms, with BLUE about 20.",
        set: { scenario: "ecn", left: "droptail", right: "blue", t_ms: 3000, speed: 0.5 },
      },
    ],
  },
];

/** The settings of a lesson's step; null if there is no such step. */
export function settingsOf(lesson: number, step: number): Settings | null {
  const found = LESSONS[lesson]?.steps[step];
  return found ? { ...DEFAULTS, ...found.set, lesson: [lesson, step] } : null;
}
