//! The disciplines, one file each. A new one needs a `mod` line and a row in the table below.

use crate::registry::disciplines;

mod afd;
mod ared;
mod avq;
mod blue;
mod breathe;
mod cake;
mod choke;
mod cobalt;
mod codel;
mod csfq;
mod droptail;
mod drr;
mod dualpi2;
mod faba;
mod feng_red;
mod fq;
mod fq_cobalt;
mod fq_codel;
mod fq_pie;
mod fred;
mod hhf;
mod pi;
mod pie;
mod prio;
mod red;
mod red_pd;
mod red_penalty;
mod rem;
mod sac;
mod sfb;
mod sfed;
mod sfq;
mod sfq_red;
mod sfred;
mod sred;
mod step;
mod tbf;
mod wred;

// Sorted by name. The number in the family sets color and dashes in figures: a new discipline takes the next one.
disciplines! {
    afd: Afd, AfdConfig, "AFD", Shares 1, Comparison [protects per_flow],
        "Drop each flow with a probability that brings its sampled rate to the fair rate.",
        "Pan, Breslau, Prabhakar, Shenker, ACM SIGCOMM CCR 33(2), 2003";
    ared: Ared, AredConfig, "Adaptive RED", Red 3, Comparison [ecn],
        "RED that adapts `maxp` to keep the average queue midway between its thresholds.",
        "Floyd, Gummadi, Shenker, ICSI technical report, 2001";
    avq: Avq, AvqConfig, "AVQ", Red 11, Comparison [ecn],
        "Drop or mark packets that would overflow a virtual queue, whose service rate holds the utilization at `gamma`.",
        "Kunniyur, Srikant, ACM SIGCOMM 2001";
    blue: Blue, BlueConfig, "BLUE", Blue 0, Paper [ecn],
        "One marking probability, raised when the buffer overflows and lowered when the link is idle.", "Feng, Shin, Kandlur, Saha, IEEE/ACM ToN 10(4), 2002";
    breathe: Breathe, BreatheConfig, "BREATHe", Shares 0, Paper [protects per_flow ecn],
        "RED that refuses packets of heavy hitters, found with a small set of counters.",
        "Chang, Lin, Research Letters in Communications, 2008";
    cake: Cake, CakeConfig, "CAKE", Today 9, Modern [protects per_flow ecn schedules],
        "Shape, then serve hosts and their flows in turn: tins by codepoint, COBALT in each queue.",
        "Hoeiland-Joergensen, Taht, Morton, IEEE LANMAN 2018; Linux, sch_cake, 5.5";
    choke: Choke, ChokeConfig, "CHOKe", Red 2, Comparison [protects ecn],
        "Compare each arrival with a random queued packet; if both belong to one flow, drop both.", "Pan, Prabhakar, Psounis, IEEE INFOCOM 2000";
    cobalt: Cobalt, CobaltConfig, "COBALT", Today 4, Modern [ecn],
        "CoDel plus BLUE: BLUE takes over when flows ignore CoDel's drops.", "Linux, sch_cake, 5.5";
    codel: Codel, CodelConfig, "CoDel", Today 0, Modern [ecn],
        "Drop or mark when queueing delay stays above `target` for an `interval`, then increasingly often.",
        "Nichols, Jacobson, McGregor, Iyengar, RFC 8289, 2018";
    csfq: Csfq, CsfqConfig, "CSFQ", Shares 2, Comparison [protects per_flow],
        "Label packets with their flow's rate; drop what exceeds the estimated fair rate.",
        "Stoica, Shenker, Zhang, ACM SIGCOMM 1998";
    droptail: Droptail, DroptailConfig, "DropTail", Queues 0, Comparison [],
        "Drop arriving packets when the buffer is full.", "the baseline of all papers";
    drr: Drr, DrrConfig, "DRR", Queues 4, Comparison [protects per_flow schedules],
        "One queue per flow, served round robin with byte deficits.", "Shreedhar, Varghese, ACM SIGCOMM 1995";
    dualpi2: Dualpi2, Dualpi2Config, "DualPI2", Today 5, Modern [ecn schedules],
        "Two coupled queues: shallow marking for scalable (L4S) flows, PI2 for classic ones.",
        "De Schepper, Briscoe, White, RFC 9332, 2023";
    faba: Faba, FabaConfig, "FABA", Tokens 0, Paper [protects per_flow ecn],
        "A token bucket per flow: packets are dropped as it runs low; departures refill random buckets.",
        "Kamra, Saran, Sen, Shorey, Computer Networks 44(2), 2004";
    feng_red: FengRed, FengRedConfig, "Feng's RED", Red 7, Comparison [ecn],
        "RED that scales `maxp` up or down whenever the average crosses a threshold.",
        "Feng, Kandlur, Saha, Shin, IEEE INFOCOM 1999";
    fq: Fq, FqConfig, "FQ", Queues 3, Comparison [protects per_flow schedules],
        "One queue per flow, served by virtual finish time, as if bit by bit.", "Demers, Keshav, Shenker, ACM SIGCOMM 1989; Golestani, IEEE INFOCOM 1994";
    fq_cobalt: FqCobalt, FqCobaltConfig, "FQ-COBALT", Today 8, Modern [protects per_flow ecn schedules],
        "One queue per flow, new flows first, COBALT in each.",
        "Hoeiland-Joergensen, Taht, Morton, IEEE LANMAN 2018; ns-3.33, FqCobaltQueueDisc";
    fq_codel: FqCodel, FqCodelConfig, "FQ-CoDel", Today 1, Modern [protects per_flow ecn schedules],
        "One queue per flow, new flows first, CoDel in each.",
        "Hoeiland-Joergensen, McKenney, Taht, Gettys, Dumazet, RFC 8290, 2018";
    fq_pie: FqPie, FqPieConfig, "FQ-PIE", Today 3, Modern [protects per_flow ecn schedules],
        "One queue per flow, new flows first, PIE in each.",
        "Ramakrishnan, Bhasi, Saicharan, Monis, Patil, Tahiliani, IEEE LCN Symposium 2019";
    fred: Fred, FredConfig, "FRED", Red 1, Comparison [protects per_flow ecn],
        "RED with per-flow queue limits and a strike count for flows that exceed them.",
        "Lin, Morris, ACM SIGCOMM 1997";
    hhf: Hhf, HhfConfig, "HHF", Today 6, Modern [protects per_flow schedules],
        "Detect heavy hitters with a multistage filter and serve them in a low-weight queue.",
        "Lam, Dukkipati, Linux sch_hhf, 2013";
    pi: Pi, PiConfig, "PI", Red 9, Comparison [ecn],
        "Adjust a drop probability so that the queue length meets a reference.",
        "Hollot, Misra, Towsley, Gong, IEEE INFOCOM 2001";
    pie: Pie, PieConfig, "PIE", Today 2, Modern [ecn],
        "Adjust a drop probability so that the estimated queueing delay meets a target.",
        "Pan, Natarajan, Baker, White, RFC 8033, 2017";
    prio: Prio, PrioConfig, "PRIO", Queues 5, Modern [schedules],
        "Serve classes in strict priority; any discipline inside each.", "tc-prio(8)";
    red: Red, RedConfig, "RED", Red 0, Comparison [ecn],
        "Drop or mark arrivals with a probability that grows with the average queue length.", "Floyd, Jacobson, IEEE/ACM ToN 1(4), 1993";
    red_pd: RedPd, RedPdConfig, "RED-PD", Red 4, Paper [protects per_flow ecn],
        "RED with preferential dropping: flows that appear often in RED's drop history are dropped first.",
        "Mahajan, Floyd, Wetherall, ICNP 2001";
    red_penalty: RedPenalty, RedPenaltyConfig, "RED with penalty box", Red 6, Comparison [protects per_flow ecn],
        "RED with a penalty box: flows that fail tests of congestion control are rate-limited.",
        "Floyd, Fall, IEEE/ACM ToN 7(4), 1999";
    rem: Rem, RemConfig, "REM", Red 10, Comparison [ecn],
        "Drop or mark with a probability that grows with a price, which rises with queue length and arrival rate.",
        "Athuraliya, Low, Li, Yin, IEEE Network 15(3), 2001";
    sac: Sac, SacConfig, "SAC", Red 8, Comparison [protects ecn],
        "CHOKe that adapts the number of comparisons to the share of unresponsive traffic.",
        "Jiang, Hamdi, Liu, IEEE ISCC 2003";
    sfb: Sfb, SfbConfig, "SFB", Blue 1, Paper [protects ecn],
        "BLUE in hashed bins: a flow whose bins are all saturated is rate-limited.",
        "Feng, Shin, Kandlur, Saha, IEEE/ACM ToN 10(4), 2002, section IV";
    sfed: Sfed, SfedConfig, "SFED", Tokens 1, Paper [protects per_flow ecn],
        "Token bucket per flow, refilled in turn from a fixed stock; drop as a bucket runs low.",
        "Kamra, Saran, Sen, Shorey, Computer Networks 44(2), 2004, section 4.1";
    sfq: Sfq, SfqConfig, "SFQ", Queues 1, Comparison [protects schedules],
        "Hash flows into queues served round robin; change the hash from time to time.", "McKenney, IEEE INFOCOM 1990";
    sfq_red: SfqRed, SfqRedConfig, "SFQ-RED", Queues 2, Comparison [protects schedules ecn],
        "SFQ with RED in each queue.",
        "Feng, Shin, Kandlur, Saha, IEEE/ACM ToN 10(4), 2002, section IV-B";
    sfred: Sfred, SfredConfig, "SFRED", Blue 2, Comparison [protects ecn],
        "SFB's bins, each with an adaptive RED.",
        "Feng, Shin, Kandlur, Saha, IEEE/ACM ToN 10(4), 2002, section IV-A";
    sred: Sred, SredConfig, "SRED", Red 5, Comparison [ecn],
        "RED that estimates the number of active flows by comparing arrivals with a list of recent flows.",
        "Ott, Lakshman, Wong, IEEE INFOCOM 1999";
    step: Step, StepConfig, "Step", Today 7, Modern [ecn],
        "Mark packets that arrive above a queue length, or leave after too long a delay: a step threshold.",
        "Alizadeh et al., ACM SIGCOMM 2010; Bensley et al., RFC 8257, 2017";
    tbf: Tbf, TbfConfig, "TBF", Queues 6, Modern [schedules],
        "Shape to a rate with a token bucket; any discipline inside.", "tc-tbf(8)";
    wred: Wred, WredConfig, "WRED", Red 12, Modern [ecn],
        "Mark or drop with a probability that grows with the present queue length, as switches do.",
        "Zhu et al., ACM SIGCOMM 2015; Li et al., ACM SIGCOMM 2019";
}
