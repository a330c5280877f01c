//! The disciplines, one file each. A new one needs a `mod` line and a row in the table below.

use crate::registry::disciplines;

mod afd;
mod ared;
mod blue;
mod breathe;
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
mod fq_codel;
mod fq_pie;
mod fred;
mod hhf;
mod pie;
mod prio;
mod red;
mod red_pd;
mod red_penalty;
mod sac;
mod sfb;
mod sfed;
mod sfq;
mod sfq_red;
mod sfred;
mod sred;
mod tbf;

// Sorted by name. The number in the family sets color and dashes in figures: a new discipline takes the next one.
disciplines! {
    afd: Afd, AfdConfig, "AFD", Shares 1, Comparison [protects per_flow],
        "drop a flow's packets by as much as its part of sampled arrivals exceeds the fair one",
        "Pan, Breslau, Prabhakar, Shenker, ACM SIGCOMM CCR 33(2), 2003";
    ared: Ared, AredConfig, "Adaptive RED", Red 3, Comparison [ecn],
        "RED that moves maxp until the average queue stays half way between its thresholds",
        "Floyd, Gummadi, Shenker, ICSI technical report, 2001";
    blue: Blue, BlueConfig, "BLUE", Blue 0, Paper [ecn],
        "one probability, raised by overflow and lowered by idleness", "Feng, Shin, Kandlur, Saha, IEEE/ACM ToN 10(4), 2002";
    breathe: Breathe, BreatheConfig, "BREATHe", Shares 0, Paper [protects per_flow ecn],
        "RED that, under congestion, admits no packet of the flows that were served most",
        "Chang, Lin, Research Letters in Communications, 2008";
    choke: Choke, ChokeConfig, "CHOKe", Red 2, Comparison [protects ecn],
        "an arrival that meets a packet of its own flow takes it along", "Pan, Prabhakar, Psounis, IEEE INFOCOM 2000";
    cobalt: Cobalt, CobaltConfig, "COBALT", Today 4, Modern [ecn],
        "CoDel for senders that answer signals and BLUE for those that do not", "Linux, sch_cake, 5.5";
    codel: Codel, CodelConfig, "CoDel", Today 0, Modern [ecn],
        "signal once the delay has stood above a target for an interval, then ever faster until it does not",
        "Nichols, Jacobson, McGregor, Iyengar, RFC 8289, 2018";
    csfq: Csfq, CsfqConfig, "CSFQ", Shares 2, Comparison [protects per_flow],
        "drop a flow's packets by as much as its rate exceeds the fair share",
        "Stoica, Shenker, Zhang, ACM SIGCOMM 1998";
    droptail: Droptail, DroptailConfig, "DropTail", Queues 0, Comparison [],
        "keep what fits, drop what does not", "the baseline of all the papers";
    drr: Drr, DrrConfig, "DRR", Queues 4, Comparison [protects per_flow schedules],
        "a queue for each flow, served in turn by bytes of credit", "Shreedhar, Varghese, ACM SIGCOMM 1995";
    dualpi2: Dualpi2, Dualpi2Config, "DualPI2", Today 5, Modern [ecn schedules],
        "a shallow queue for Scalable traffic beside a Classic one, coupled so that their flows share evenly",
        "De Schepper, Briscoe, White, RFC 9332, 2023";
    faba: Faba, FabaConfig, "FABA", Tokens 0, Paper [protects per_flow ecn],
        "a fixed stock of tokens, a bucket a flow: whoever queues more than its share drains its own",
        "Kamra, Saran, Sen, Shorey, Computer Networks 44(2), 2004";
    feng_red: FengRed, FengRedConfig, "Feng's RED", Red 7, Comparison [ecn],
        "RED that multiplies maxp when the average leaves the thresholds upwards and divides it downwards",
        "Feng, Kandlur, Saha, Shin, IEEE INFOCOM 1999";
    fq: Fq, FqConfig, "FQ", Queues 3, Comparison [protects per_flow schedules],
        "a queue for each flow, served as if bit by bit", "Demers, Keshav, Shenker, ACM SIGCOMM 1989; Golestani, IEEE INFOCOM 1994";
    fq_codel: FqCodel, FqCodelConfig, "FQ-CoDel", Today 1, Modern [protects per_flow ecn schedules],
        "a queue for each flow, newcomers first, with CoDel in each",
        "Hoeiland-Joergensen, McKenney, Taht, Gettys, Dumazet, RFC 8290, 2018";
    fq_pie: FqPie, FqPieConfig, "FQ-PIE", Today 3, Modern [protects per_flow ecn schedules],
        "a queue for each flow, newcomers first, with PIE in each",
        "Ramakrishnan, Bhasi, Saicharan, Monis, Patil, Tahiliani, IEEE LCN Symposium 2019";
    fred: Fred, FredConfig, "FRED", Red 1, Comparison [protects per_flow ecn],
        "RED that bounds what each flow has queued and remembers who tries for more",
        "Lin, Morris, ACM SIGCOMM 1997";
    hhf: Hhf, HhfConfig, "HHF", Today 6, Modern [protects per_flow schedules],
        "flows that send much in little time share a class that is served less",
        "Lam, Dukkipati, Linux sch_hhf, 2013";
    pie: Pie, PieConfig, "PIE", Today 2, Modern [ecn],
        "a controller holds the delay to a target by the probability of signals",
        "Pan, Natarajan, Baker, White, RFC 8033, 2017";
    prio: Prio, PrioConfig, "PRIO", Queues 5, Modern [schedules],
        "strict priority between classes, any discipline inside each", "tc-prio(8)";
    red: Red, RedConfig, "RED", Red 0, Comparison [ecn],
        "signal by chance, the more likely the longer the average queue", "Floyd, Jacobson, IEEE/ACM ToN 1(4), 1993";
    red_pd: RedPd, RedPdConfig, "RED-PD", Red 4, Paper [protects per_flow ecn],
        "RED whose drops point out who sends fast: those are dropped before the queue until they do not stand out",
        "Mahajan, Floyd, Wetherall, ICNP 2001";
    red_penalty: RedPenalty, RedPenaltyConfig, "RED with penalty box", Red 6, Comparison [protects per_flow ecn],
        "RED, and a box limited in rate for the flows that show no congestion control",
        "Floyd, Fall, IEEE/ACM ToN 7(4), 1999";
    sac: Sac, SacConfig, "SAC", Red 8, Comparison [protects ecn],
        "CHOKe that draws the more candidates, the more of the traffic does not slow down",
        "Jiang, Hamdi, Liu, IEEE ISCC 2003";
    sfb: Sfb, SfbConfig, "SFB", Blue 1, Paper [protects ecn],
        "BLUE in bins: a flow all of whose bins are congested is limited in rate",
        "Feng, Shin, Kandlur, Saha, IEEE/ACM ToN 10(4), 2002, section IV";
    sfed: Sfed, SfedConfig, "SFED", Tokens 1, Paper [protects per_flow ecn],
        "FABA's buckets filled in turn, and all trimmed whenever a flow comes",
        "Kamra, Saran, Sen, Shorey, Computer Networks 44(2), 2004, section 4.1";
    sfq: Sfq, SfqConfig, "SFQ", Queues 1, Comparison [protects schedules],
        "flows are hashed to a few queues that are served in turn", "McKenney, IEEE INFOCOM 1990";
    sfq_red: SfqRed, SfqRedConfig, "SFQ-RED", Queues 2, Comparison [protects schedules ecn],
        "flows are hashed to a few REDs that are served in turn",
        "Feng, Shin, Kandlur, Saha, IEEE/ACM ToN 10(4), 2002, section IV-B";
    sfred: Sfred, SfredConfig, "SFRED", Blue 2, Comparison [protects ecn],
        "SFB's bins with a RED in each, whose maxp finds its own value",
        "Feng, Shin, Kandlur, Saha, IEEE/ACM ToN 10(4), 2002, section IV-A";
    sred: Sred, SredConfig, "SRED", Red 5, Comparison [ecn],
        "each arrival is compared with one flow seen lately: how often they agree tells how many flows there are",
        "Ott, Lakshman, Wong, IEEE INFOCOM 1999";
    tbf: Tbf, TbfConfig, "TBF", Queues 6, Modern [schedules],
        "a token bucket shapes what any discipline inside it sends", "tc-tbf(8)";
}
