//! Error messages for invalid scenarios: one line for each fault, and some complete messages.

use headgate_scenario::{Changes, Key, Scenario, ScenarioError, keys};

const BASE: &str = r#"name = "base"
duration = "10s"
warmup = "2s"
seeds = 3
qdiscs = ["droptail", "droptail:limit=5p"]

[link]
rate = "10Mbit/s"
delay = "14ms"
limit = "100p"

[[tcp]]
name = "web"
flows = 2
recovery = "newreno"
packet = "512B"
access = { rate = "100Mbit/s", delay = "1ms" }

[[udp]]
rate = "5Mbit/s"
jitter = 0.1

[record]
interval = "100ms"
"#;

fn error(text: &str, changes: &Changes) -> ScenarioError {
    Scenario::read(text, "base.toml", changes).expect_err("a fault was accepted")
}

fn set(change: &str) -> Changes {
    Changes { set: vec![change.to_string()], ..Changes::default() }
}

/// The fault, the text to replace in `BASE` and its replacement; then line, column, key and message.
type Case = (&'static str, &'static str, &'static str, (u32, u32), &'static str, &'static str);

#[test]
fn scenarios_with_too_many_packets_groups_or_classes_are_refused() {
    let long = Changes {
        set: ["duration=24h", "record.interval=1s", "udp.rate=100Gbit/s", "udp.packet=64B"].map(String::from).into(),
        ..Changes::default()
    };
    let fast = BASE.replace("[[udp]]", "[[udp]]\naccess = { rate = \"100Gbit/s\", delay = \"1ms\" }");
    let expected = "a flow of `udp` could send 1.7e13 packets in 86400s; the limit is 4294967295";
    assert_eq!(error(&fast, &long).message, expected);
    let many: String = (0..1001).map(|i| format!("[[tcp]]\nname = \"g{i}\"\n")).collect();
    let base = BASE.replace("[record]", &format!("{many}[record]"));
    assert_eq!(error(&base, &Changes::default()).message, "more than 1000 tcp groups");
    let many: String = (0..1001).map(|i| format!("[[class]]\nname = \"c{i}\"\n")).collect();
    let base = BASE.replace("[record]", &format!("{many}[record]"));
    assert_eq!(error(&base, &Changes::default()).message, "more than 1000 classes");
}

#[rustfmt::skip]
const FAULTS: &[Case] = &[
    ("a misspelt key in a section", r#"delay = "14ms""#, r#"dealy = "14ms""#,
        (9, 1), "link.dealy", "unknown key `dealy` in [link]; did you mean `delay`?"),
    ("a misspelt key at the top", "warmup", "warm_up",
        (3, 1), "warm_up", "unknown key `warm_up`; did you mean `warmup`?"),
    ("a key like no other", "[record]", "[recipe]",
        (23, 2), "recipe", "unknown key `recipe`; did you mean `record`?"),
    ("a misspelt key in a group", "flows = 2", "flow = 2",
        (14, 1), "tcp[0].flow", "unknown key `flow` in [[tcp]]; did you mean `flows`?"),
    ("a misspelt key in an inline table", r#"rate = "100Mbit/s", "#, r#"rte = "100Mbit/s", "#,
        (17, 12), "tcp[0].access.rte", "unknown key `rte` in [tcp.access]; did you mean `rate`?"),
    ("a round trip shorter than the links on the way", r#"access = { rate = "100Mbit/s", delay = "1ms" }"#, r#"rtt = "27ms""#,
        (17, 7), "tcp[0].rtt", "`tcp[0].rtt`: the links of the route alone take 28ms per round trip, more than 27ms"),
    ("a round trip beside the delays that make it", r#"packet = "512B""#, r#"rtt = "40ms""#,
        (17, 40), "tcp[0].access.delay", "`rtt` sets the delays of both access links: leave out this one"),
    ("a key that another tool calls so", r#"limit = "100p""#, r#"buffer = "100p""#,
        (10, 1), "link.buffer", "unknown key `buffer` in [link]; did you mean `limit`?"),
    ("a key of an access link that another tool calls so", r#"rate = "100Mbit/s""#, r#"bandwidth = "100Mbit/s""#,
        (17, 12), "tcp[0].access.bandwidth", "unknown key `bandwidth` in [tcp.access]; did you mean `rate`?"),
    ("a size in small letters", r#"packet = "512B""#, r#"packet = "1.5kb""#,
        (16, 10), "tcp[0].packet", r#"`tcp[0].packet`: expected a size with its unit, such as "512B" (B, KB, MB, KiB, MiB), found "1.5kb"; did you mean "1.5KB"?"#),
    ("bytes for a rate", r#"rate = "10Mbit/s""#, r#"rate = "10MB/s""#,
        (8, 8), "link.rate", r#"`link.rate`: expected a rate with its unit, such as "10Mbit/s" (bit/s, kbit/s, Mbit/s, Gbit/s), found "10MB/s""#),
    ("a bare number for a time", r#"delay = "14ms""#, "delay = 14",
        (9, 9), "link.delay", r#"`link.delay`: 14 has no unit: write "14ms""#),
    ("a bare number in quotes", r#"rate = "5Mbit/s""#, r#"rate = "5""#,
        (20, 8), "udp[0].rate", r#"`udp[0].rate`: 5 has no unit: write "5Mbit/s""#),
    ("a bare number for a limit", r#"limit = "100p""#, "limit = 100",
        (10, 9), "link.limit", r#"`link.limit`: 100 has no unit: write "100p""#),
    ("a duration without a unit", r#"duration = "10s""#, r#"duration = "30""#,
        (2, 12), "duration", r#"`duration`: 30 has no unit: write "30s""#),
    ("a rate in bits or bytes", r#"rate = "10Mbit/s""#, r#"rate = "100Mbps""#,
        (8, 8), "link.rate", r#"`link.rate`: expected a rate with its unit, such as "10Mbit/s" (bit/s, kbit/s, Mbit/s, Gbit/s), found "100Mbps"; did you mean "100Mbit/s"? (tc reads `bps` as bytes per second)"#),
    ("a wrong unit", r#"rate = "10Mbit/s""#, r#"rate = "10ms""#,
        (8, 8), "link.rate", r#"`link.rate`: expected a rate with its unit, such as "10Mbit/s" (bit/s, kbit/s, Mbit/s, Gbit/s), found "10ms""#),
    ("a negative rate", r#"rate = "5Mbit/s""#, r#"rate = "-5Mbit/s""#,
        (20, 8), "udp[0].rate", r#"`udp[0].rate`: must not be negative, found "-5Mbit/s""#),
    ("a rate of zero", r#"rate = "5Mbit/s""#, r#"rate = "0Mbit/s""#,
        (20, 8), "udp[0].rate", "`udp[0].rate`: must be more than 0bit/s and at most 100Gbit/s, not 0bit/s"),
    ("a rate beyond all links", r#"rate = "10Mbit/s""#, r#"rate = "400Gbit/s""#,
        (8, 8), "link.rate", "`link.rate`: must be more than 0bit/s and at most 100Gbit/s, not 400Gbit/s"),
    ("a packet of zero", r#"packet = "512B""#, r#"packet = "0B""#,
        (16, 10), "tcp[0].packet", "`tcp[0].packet`: must be 1B to 65535B, not 0B"),
    ("a header as large as its packet", r#"packet = "512B""#, r#"packet = "40B""#,
        (16, 10), "tcp[0].packet", "`tcp[0].packet`: a header of 40B leaves no room for data in a packet of 40B"),
    ("a bare zero for a limit", r#"limit = "100p""#, "limit = 0",
        (10, 9), "link.limit", r#"`link.limit`: expected a limit above 0 in packets or bytes, such as "150p" or "200KB", found 0"#),
    ("a limit of zero", r#"limit = "100p""#, r#"limit = "0p""#,
        (10, 9), "link.limit", r#"`link.limit`: expected a limit above 0 in packets or bytes, such as "150p" or "200KB", found "0p""#),
    ("no flows in a group", "flows = 2", "flows = 0",
        (14, 9), "tcp[0].flows", "`tcp[0].flows`: must be 1 to 1000000, not 0"),
    ("too many flows", "flows = 2", "flows = 1000000",
        (19, 1), "udp[0]", "more than 1000000 flows together"),
    ("a negative count", "flows = 2", "flows = -2",
        (14, 9), "tcp[0].flows", "`tcp[0].flows`: expected a whole number from 0 to 4294967295, found integer `-2`"),
    ("a text for a count", "flows = 2", r#"flows = "two""#,
        (14, 9), "tcp[0].flows", r#"`tcp[0].flows`: expected a whole number from 0 to 4294967295, found string "two""#),
    ("an unknown congestion control", r#"recovery = "newreno""#, r#"cc = "cubik""#,
        (15, 6), "tcp[0].cc", "`tcp[0].cc`: unknown congestion control `cubik`; did you mean `cubic`? (known: reno, cubic, dctcp, prague, ledbat, westwood, vegas, bbr, bbr3)"),
    ("an unknown loss recovery", r#""newreno""#, r#""newrenno""#,
        (15, 12), "tcp[0].recovery", "`tcp[0].recovery`: unknown loss recovery `newrenno`; did you mean `newreno`? (known: tahoe, reno, newreno, sack, rack)"),
    ("RACK without selective ACKs", r#"recovery = "newreno""#, "recovery = \"newreno\"\nrack = true",
        (16, 8), "tcp[0].rack", "`tcp[0].rack`: `rack` needs selective acknowledgements, which `newreno` does not use"),
    ("a key of LEDBAT's beside another control", r#"recovery = "newreno""#, "recovery = \"newreno\"\ntarget = \"5ms\"",
        (16, 10), "tcp[0].target", "`tcp[0].target`: `target` is a key of `cc = \"ledbat\"` only, not of `reno`"),
    ("LEDBAT without a gain", r#"recovery = "newreno""#, "cc = \"ledbat\"\ngain = 0",
        (16, 8), "tcp[0].gain", "`tcp[0].gain`: must be more than 0 and at most 1000, not 0"),
    ("BBR without pacing", r#"recovery = "newreno""#, "cc = \"bbr3\"\npacing = false",
        (16, 10), "tcp[0].pacing", "`tcp[0].pacing`: `bbr3` controls the rate at which segments leave: it needs `pacing`"),
    ("a congestion control that UDP does not have", "jitter = 0.1", "cc = \"tfr\"",
        (21, 6), "udp[0].cc", "`udp[0].cc`: unknown congestion control of UDP `tfr`; did you mean `tfrc`? (known: off, gcc, nada, scream, tfrc)"),
    ("a call with a least rate above its greatest", "jitter = 0.1", "cc = \"gcc\"\nmin_rate = \"6Mbit/s\"",
        (22, 12), "udp[0].min_rate", "`udp[0].min_rate`: 6Mbit/s is more than `rate`"),
    ("an option of calls beside TFRC", "jitter = 0.1", "cc = \"tfrc\"\nreport_interval = \"50ms\"",
        (22, 19), "udp[0].report_interval", "`udp[0].report_interval`: `report_interval` is a key of calls only (`cc = \"gcc\"`, `\"nada\"` or `\"scream\"`), not of `cc = \"tfrc\"`"),
    ("a call that would not react to marks", "jitter = 0.1", "cc = \"gcc\"\necn = true",
        (22, 7), "udp[0].ecn", "`udp[0].ecn`: `cc = \"gcc\"` does not react to marks: packets that claim to be ECN-capable would neither be dropped nor slow down"),
    ("jitter beyond one", "jitter = 0.1", "jitter = 1.5",
        (21, 10), "udp[0].jitter", "`udp[0].jitter`: must be 0 to 1, not 1.5"),
    ("jitter that is no number", "jitter = 0.1", "jitter = nan",
        (21, 10), "udp[0].jitter", "`udp[0].jitter`: must be 0 to 1, not NaN"),
    ("a warmup as long as the run", r#"warmup = "2s""#, r#"warmup = "10s""#,
        (3, 10), "warmup", "`warmup`: 10s leaves no time to measure in a run of 10s"),
    ("a start after the end", "jitter = 0.1", r#"start = "0s..10s""#,
        (21, 9), "udp[0].start", "`udp[0].start`: flows start as late as 10s, but the run ends at 10s"),
    ("a start that ends before it begins", "jitter = 0.1", r#"start = "3s..1s""#,
        (21, 9), "udp[0].start", r#"`udp[0].start`: the range "3s..1s" ends before it begins"#),
    ("a stop before the start", "jitter = 0.1", "start = \"4s\"\nstop = \"3s\"",
        (22, 8), "udp[0].stop", "`udp[0].stop`: flows stop at 3s, but start as late as 4s"),
    ("a timer longer than the longest", "flows = 2", r#"initial_rto = "90s""#,
        (14, 15), "tcp[0].initial_rto", "`tcp[0].initial_rto`: 90s is longer than `max_rto` (60s)"),
    ("two groups of one name", "[[udp]]", "[[udp]]\nname = \"web\"",
        (20, 8), "udp[0].name", "two groups are called `web`"),
    ("a group called as a section", r#"name = "web""#, r#"name = "link""#,
        (13, 8), "tcp[0].name", "a tcp group cannot be called `link`: the word is reserved"),
    ("a name that is no folder", r#"name = "base""#, r#"name = "../base""#,
        (1, 8), "name", "`name`: a name is 1 to 64 letters, digits, `-` and `_`"),
    ("an unknown discipline inside another", r#""droptail:limit=5p""#, r#""prio:children=[fredd]""#,
        (5, 23), "qdiscs[1]", r#"prio: `children` is "[fredd]", expected disciplines that can be built: in "fredd", no discipline is called `fredd`; did you mean `fred`?"#),
    ("values that do not fit inside another", r#""droptail:limit=5p""#, r#"{ name = "tbf", child = "red:minth=9p,maxth=3p" }"#,
        (5, 23), "qdiscs[1]", r#"tbf: in `child`, "red:minth=9p,maxth=3p": minth (9 packets) must be below maxth (3 packets)"#),
    ("a bracket that is not closed", r#""droptail:limit=5p""#, r#""tbf:child=[red""#,
        (5, 23), "qdiscs[1]", r#"`qdiscs[1]`: a `[` without its `]` in "child=[red""#),
    ("an unknown discipline", r#""droptail", "#, r#""droptale", "#,
        (5, 11), "qdiscs[0]", "no discipline is called `droptale`; did you mean `droptail`?"),
    ("a discipline of Linux that there is not", r#""droptail", "#, r#""gred", "#,
        (5, 11), "qdiscs[0]", "no discipline is called `gred`: `red` is similar"),
    ("an unknown parameter of a discipline", "droptail:limit=5p", "droptail:limt=5p",
        (5, 23), "qdiscs[1]", "droptail: unknown parameter `limt`; did you mean `limit`?"),
    ("a bad value of a parameter", "droptail:limit=5p", "droptail:limit=5parsecs",
        (5, 23), "qdiscs[1]", r#"droptail: `limit` is "5parsecs", expected a limit above 0 in packets or bytes, such as "150p" or "200KB""#),
    ("two disciplines that are the same", "droptail:limit=5p", "droptail:limit=100",
        (5, 23), "qdiscs[1]", "`droptail:limit=100` is the same as `droptail`: each is compared once"),
    ("no disciplines", r#"["droptail", "droptail:limit=5p"]"#, "[]",
        (5, 10), "qdiscs", "`qdiscs` is empty: name at least one discipline"),
    ("a discipline as a number", r#"["droptail", "droptail:limit=5p"]"#, r#"["droptail", 5]"#,
        (5, 23), "qdiscs[1]", r#"`qdiscs[1]`: expected a discipline, such as "red:maxp=0.1" or { name = "red", maxp = 0.1 }, found integer `5`"#),
    ("a seed twice", "seeds = 3", "seeds = [1, 2, 1]",
        (4, 9), "seeds", "`seeds`: seed 1 is given twice"),
    ("no seeds", "seeds = 3", "seeds = 0",
        (4, 9), "seeds", "`seeds`: the count of seeds must be 1 to 10000, not 0"),
    ("a missing key", "delay = \"14ms\"\n", "",
        (7, 1), "link.delay", "`delay` is missing: [link] needs it"),
    ("a missing key at the top", "duration = \"10s\"\n", "",
        (1, 1), "duration", "`duration` is missing: the scenario needs it"),
    ("a missing rate of a group", "rate = \"5Mbit/s\"\n", "",
        (19, 1), "udp[0].rate", "`rate` is missing: [[udp]] needs it"),
    ("a group in single brackets", "[[tcp]]", "[tcp]",
        (12, 1), "tcp", "`tcp`: expected groups headed [[tcp]], in double brackets, found a table"),
    ("a section that is a number", r#"access = { rate = "100Mbit/s", delay = "1ms" }"#, "access = 5",
        (17, 10), "tcp[0].access", r#"`tcp[0].access`: expected a table such as { rate = "100Mbit/s", delay = "1ms" }, found integer `5`"#),
    ("an interval longer than the run", r#"interval = "100ms""#, r#"interval = "11s""#,
        (24, 12), "record.interval", "`record.interval`: must be 10us to 10s, not 11s"),
    ("a trace of a group that is none", r#"interval = "100ms""#, r#"flows = ["wbe"]"#,
        (24, 10), "record.flows[0]", "`record.flows[0]`: no group is called `wbe`; did you mean `web`?"),
    ("a trace of a flow that a group does not have", r#"interval = "100ms""#, r#"flows = ["web/1", "web/2"]"#,
        (24, 19), "record.flows[1]", "`record.flows[1]`: `web` has flows 0 to 1, not 2"),
    ("a trace of a flow without a number", r#"interval = "100ms""#, r#"flows = ["web/x"]"#,
        (24, 10), "record.flows[0]", r#"`record.flows[0]`: expected a group such as "web", or one of its flows such as "web/3", found "web/x""#),
    ("a trace of a flow that has no window", r#"interval = "100ms""#, r#"flows = ["udp"]"#,
        (24, 10), "record.flows[0]", "`record.flows[0]`: `udp` has no congestion control: its senders have no state to trace"),
    ("a trace that is a number", r#"interval = "100ms""#, "flows = [3]",
        (24, 10), "record.flows[0]", r#"`record.flows[0]`: expected a group such as "web", or one of its flows such as "web/3", found 3"#),
    ("a capture of a link that is none", r#"interval = "100ms""#, r#"capture = ["botleneck"]"#,
        (24, 12), "record.capture[0]", "`record.capture[0]`: no link is called `botleneck`; did you mean `bottleneck`?"),
    ("a capture named twice", r#"interval = "100ms""#, r#"capture = ["bottleneck", "bottleneck"]"#,
        (24, 26), "record.capture[1]", "`record.capture[1]`: `bottleneck` is named twice"),
    ("a misspelt key of a class", "[record]", "[[class]]\nname = \"a\"\nsorce = \"10.0.0.0/8\"\n[record]",
        (25, 1), "class[0].sorce", "unknown key `sorce` in [[class]]; did you mean `source`?"),
    ("a class in single brackets", "[record]", "[class]\nname = \"a\"\n[record]",
        (23, 1), "class", "`class`: expected classes headed [[class]], in double brackets, found a table"),
    ("a class without a name", "[record]", "[[class]]\n[record]",
        (23, 1), "class[0].name", "`name` is missing: [[class]] needs it"),
    ("a class name twice", "[record]", "[[class]]\nname = \"a\"\n[[class]]\nname = \"a\"\n[record]",
        (26, 8), "class[1].name", "two classes are called `a`"),
    ("a prefix with bits beyond its length", "[record]", "[[class]]\nname = \"a\"\nsource = \"10.1.2.3/16\"\n[record]",
        (25, 10), "class[0].source", r#"`class[0].source`: "10.1.2.3/16" has bits beyond its length; write "10.1.0.0/16""#),
    ("a prefix longer than its address", "[record]", "[[class]]\nname = \"a\"\nsource = [\"::1\", \"10.0.0.0/33\"]\n[record]",
        (25, 18), "class[0].source[1]", r#"`class[0].source[1]`: expected an address or a prefix, such as "10.1.0.0/16" or "2001:db8::/32", found "10.0.0.0/33""#),
    ("a number for an address", "[record]", "[[class]]\nname = \"a\"\ndestination = 10\n[record]",
        (25, 15), "class[0].destination", r#"`class[0].destination`: expected an address or a prefix, such as "10.1.0.0/16" or "2001:db8::/32", found 10"#),
    ("a port beyond all", "[record]", "[[class]]\nname = \"a\"\nsource_port = 65536\n[record]",
        (25, 15), "class[0].source_port", "`class[0].source_port`: a port is 0 to 65535, not 65536"),
    ("a range beyond all ports", "[record]", "[[class]]\nname = \"a\"\nsource_port = \"1-70000\"\n[record]",
        (25, 15), "class[0].source_port", "`class[0].source_port`: a port is 0 to 65535, not 70000"),
    ("a range that ends before it begins", "[record]", "[[class]]\nname = \"a\"\nsource_port = \"6000-5000\"\n[record]",
        (25, 15), "class[0].source_port", r#"`class[0].source_port`: the range "6000-5000" ends before it begins"#),
    ("a port by name", "[record]", "[[class]]\nname = \"a\"\nsource_port = \"http\"\n[record]",
        (25, 15), "class[0].source_port", r#"`class[0].source_port`: expected a port such as 443, or a range such as "5000-6000", found "http""#),
    ("a list of nothing", "[record]", "[[class]]\nname = \"a\"\nsource_port = []\n[record]",
        (25, 15), "class[0].source_port", "`class[0].source_port`: the list is empty and would match no packet: leave the key out to match any"),
    ("a switch for a port", "[record]", "[[class]]\nname = \"a\"\nsource_port = true\n[record]",
        (25, 15), "class[0].source_port", r#"`class[0].source_port`: expected a port such as 443, or a range such as "5000-6000", or a list of such, found boolean `true`"#),
    ("a DSCP beyond six bits", "jitter = 0.1", "dscp = 64",
        (21, 8), "udp[0].dscp", "`udp[0].dscp`: a DSCP is 0 to 63, not 64"),
    ("a protocol beyond eight bits", "[record]", "[[class]]\nname = \"a\"\nprotocol = 256\n[record]",
        (25, 12), "class[0].protocol", "`class[0].protocol`: a protocol is 0 to 255, not 256"),
    ("an unknown protocol", "[record]", "[[class]]\nname = \"a\"\nprotocol = \"udpp\"\n[record]",
        (25, 12), "class[0].protocol", "`class[0].protocol`: `udpp` is not a protocol; did you mean `udp`? (known: tcp, udp, icmp, icmpv6, sctp, or 0 to 255)"),
    ("a label no group has", "[record]", "[[class]]\nname = \"a\"\nlabel = \"wbe\"\n[record]",
        (25, 9), "class[0].label", "`class[0].label`: no group is labeled `wbe`; did you mean `web`?"),
    ("a weight of nothing", "[record]", "[[class]]\nname = \"a\"\nweight = 0\n[record]",
        (25, 10), "class[0].weight", "`class[0].weight`: must be more than 0 and at most 1000000, not 0"),
    ("a weight that is no number", "[record]", "[[class]]\nname = \"a\"\nweight = nan\n[record]",
        (25, 10), "class[0].weight", "`class[0].weight`: must be more than 0 and at most 1000000, not NaN"),
    ("a parent that comes later", "[record]", "[[class]]\nname = \"a\"\nparent = \"b\"\n[[class]]\nname = \"b\"\n[record]",
        (25, 10), "class[0].parent", "`class[0].parent`: class `b` comes later: a parent stands before its children"),
    ("a class as its own parent", "[record]", "[[class]]\nname = \"a\"\nparent = \"a\"\n[record]",
        (25, 10), "class[0].parent", "`class[0].parent`: a class cannot be its own parent"),
    ("a parent that is none", "[record]", "[[class]]\nname = \"gold\"\n[[class]]\nname = \"b\"\nparent = \"gld\"\n[record]",
        (27, 10), "class[1].parent", "`class[1].parent`: no class is called `gld`; did you mean `gold`?"),
    ("an unknown flow key", "[record]", "[classify]\nflow = \"sorce/24\"\n[record]",
        (24, 8), "classify.flow", "`classify.flow`: expected the header fields of a flow: 5-tuple, source, destination, pair, address_sum, protocol, dscp, class, label, or a prefix such as source/24, found \"sorce/24\"; did you mean `source`?"),
    ("a prefix of a flow key longer than any address", "[record]", "[classify]\nflow = \"source/129\"\n[record]",
        (24, 8), "classify.flow", "`classify.flow`: a prefix has 0 to 128 bits, found \"source/129\""),
    ("a prefix where none can be", "[record]", "[classify]\nflow = \"pair/24\"\n[record]",
        (24, 8), "classify.flow", "`classify.flow`: expected the header fields of a flow: 5-tuple, source, destination, pair, address_sum, protocol, dscp, class, label, or a prefix such as source/24, found \"pair/24\""),
    ("flows by class without classes", "[record]", "[classify]\nflow = \"class\"\n[record]",
        (24, 8), "classify.flow", "`classify.flow`: the scenario has no [[class]]: all packets would be one flow"),
    ("two versions of IP in one group", "jitter = 0.1", "source = \"10.0.0.1\"\ndestination = \"::1\"",
        (22, 15), "udp[0].destination", "`udp[0].destination`: `source` and `destination` must both be IPv4, or both IPv6"),
    ("two flows that nothing tells apart", "jitter = 0.1", "flows = 2\nsource = \"10.0.0.1\"\ndestination = \"10.0.0.2\"\nsource_port = 7",
        (19, 1), "udp[0]", "two flows of `udp` go from 10.0.0.1 port 7 to 10.0.0.2 port 5001: nothing would tell them apart"),
    ("a control character in a text", "duration", "about = \"a\\u001b[31m\"\nduration",
        (2, 9), "about", "`about`: a text has no control characters, found U+001B"),
    ("a control character in a text of [sweep]", "[record]", "[sweep]\ngrid = { \"link.rate\" = [\"1\\u0007\"] }\n[record]",
        (24, 25), "sweep.grid.link.rate[0]", "`sweep.grid.link.rate[0]`: a text has no control characters, found U+0007"),
    ("a label that is no name", "jitter = 0.1", "label = \"a b\"",
        (21, 9), "udp[0].label", "`udp[0].label`: a name is 1 to 64 letters, digits, `-` and `_`"),
    ("a group called as a path", r#"name = "web""#, r#"name = "class""#,
        (13, 8), "tcp[0].name", "a tcp group cannot be called `class`: the word is reserved"),
    ("not toml", "[link]", "[link",
        (7, 6), "", "this is not TOML: unclosed table, expected `]`"),
    ("a key twice", "flows = 2", "flows = 2\nflows = 3",
        (15, 1), "", "this is not TOML: duplicate key"),
];

#[test]
fn the_base_is_valid() {
    assert!(Scenario::read(BASE, "base.toml", &Changes::default()).is_ok());
}

#[test]
fn every_error_has_position_key_and_expected_value() {
    for (what, from, to, place, key, message) in FAULTS {
        let text = BASE.replacen(from, to, 1);
        assert_ne!(text, BASE, "{what}: the case changes nothing");
        let error = error(&text, &Changes::default());
        let found = ((error.line.unwrap(), error.column.unwrap()), &*error.key, error.message.as_str());
        assert_eq!(found, (*place, *key, *message), "{what}");
    }
}

/// Path and form, in words, of every key.
fn paths(keys: Vec<Key>, before: &str) -> Vec<(String, String)> {
    let of_key = |key: Key| {
        let path = format!("{before}{}", key.name);
        match key.form.keys {
            Some(inner) => paths(inner(), &format!("{path}.")),
            None => vec![(path, key.form.words)],
        }
    };
    keys.into_iter().flat_map(of_key).collect()
}

#[test]
fn no_key_takes_a_text_with_a_control_character() {
    let text = format!("{BASE}[[class]]\nname = \"all\"\n");
    let paths = paths(keys(), "");
    assert!(paths.iter().filter(|(_, words)| words == "text").count() > 5);
    for (path, words) in paths {
        let error = error(&text, &set(&format!("{path}=\"a\\u001b[31m\"")));
        assert!(!error.to_string().contains('\u{1b}'), "{path}: {error}");
        // Other kinds refuse the text in words of their own.
        assert!(words != "text" || error.message.ends_with("found U+001B"), "{path}: {error}");
    }
}

#[test]
fn an_error_shows_its_line_with_a_caret_under_the_fault() {
    let misspelt = BASE.replace("delay = \"14ms\"", "dealy = \"14ms\"");
    assert_eq!(
        error(&misspelt, &Changes::default()).to_string(),
        r#"error: unknown key `dealy` in [link]; did you mean `delay`?
 --> base.toml:9:1
  |
9 | dealy = "14ms"
  | ^^^^^ known keys: name, from, to, delay, rate, schedule, schedule_period, trace, slot, aggregate, aggregate_gap, overhead, loss, loss_burst, loss_burst_max, loss_at, duplicate, ecn, dscp, jitter, reorder, reorder_by, limit, qdisc, reverse"#
    );
    let unknown = BASE.replace("droptail\", ", "quicksilver\", ");
    assert!(error(&unknown, &Changes::default()).to_string().starts_with(
        r#"error: no discipline is called `quicksilver`
 --> base.toml:5:11
  |
5 | qdiscs = ["quicksilver", "droptail:limit=5p"]
  |           ^^^^^^^^^^^^^ known disciplines: "#
    ));
    assert_eq!(
        error(&BASE.replace("[[udp]]", "[[udp"), &Changes::default()).to_string(),
        r#"error: this is not TOML: unclosed array table, expected `]]`
  --> base.toml:19:6
   |
19 | [[udp
   |      ^"#
    );
    assert_eq!(
        error("", &Changes::default()).to_string(),
        "error: `name` is missing: the scenario needs it\n --> base.toml:1:1\n  |\n1 |\n  | ^"
    );
}

#[test]
fn a_caret_stands_right_after_tabs_and_wide_letters_and_in_long_lines() {
    let about = format!("about = \"{}\", dealy\t= 5", "é".repeat(300));
    let shown = error(&about, &Changes::default()).to_string();
    let lines: Vec<Vec<char>> = shown.lines().map(|line| line.chars().collect()).collect();
    let caret = lines[4].iter().position(|c| *c == '^').unwrap();
    assert!(lines[3].len() <= 130, "{shown}");
    assert_eq!(lines[3][caret], ',', "{shown}");
    let tab = "\tdealy = 5";
    assert!(error(tab, &Changes::default()).to_string().ends_with(
        "1 |  dealy = 5\n  |  ^^^^^ known keys: name, about, duration, warmup, seeds, qdiscs, fair, link, tcp, udp, classify, class, record, sweep, expect"
    ));
}

#[rustfmt::skip]
const BAD_CHANGES: &[(&str, &str)] = &[
    ("link.rate", "a change has the form PATH=VALUE, such as `link.rate=20Mbit/s`"),
    ("=5", "a change has the form PATH=VALUE, such as `link.rate=20Mbit/s`"),
    ("link..rate=5Mbit/s", "a change has the form PATH=VALUE, such as `link.rate=20Mbit/s`"),
    ("link.rate=5", r#"`link.rate`: 5 has no unit: write "5Mbit/s""#),
    ("link.rte=5Mbit/s", "unknown key `rte` in [link]; did you mean `rate`?"),
    (r#"link.schedule=[{ at = "1s", rat = "5Mbit/s" }]"#, "unknown key `rat` in [[link.schedule]]; did you mean `rate`?"),
    ("lnk.rate=5Mbit/s", "no section or group is called `lnk`; did you mean `link`?"),
    ("wbe.flows=3", "no section or group is called `wbe`; did you mean `web`?"),
    ("web.access.dely=1ms", "unknown key `dely` in [tcp.access]; did you mean `delay`?"),
    ("web.name.first=3", "`name` is not a table: nothing can be set in it"),
    ("link.core.reverse.rate.unit=5", "no key lies deeper than 4 names, as in `link.core.reverse.rate`"),
    ("tcp.cc=illinois", "`tcp[0].cc`: unknown congestion control `illinois` (known: reno, cubic, dctcp, prague, ledbat, westwood, vegas, bbr, bbr3)"),
    ("tcp.send_buffer=471B", "`tcp[0].send_buffer`: the data of one packet is 512B less 40B of headers, more than `send_buffer` holds"),
    ("tcp.rate_of=paylod", "`tcp[0].rate_of`: unknown meaning of a rate `paylod`; did you mean `payload`? (known: wire, payload)"),
    ("tcp.vegas_beta=3", "`tcp[0].vegas_beta`: `vegas_beta` is a key of `cc = \"vegas\"` only, not of `reno`"),
    ("tcp.web.flows=3", "`web` is a group, not a key of [[tcp]]: write `web.flows`"),
    ("tcp.web.access.delay=1ms", "`web` is a group, not a key of [[tcp]]: write `web.access.delay`"),
    ("udp.udp.jitter=0", "`udp` is a group, not a key of [[udp]]: write `udp.jitter`"),
    ("class.weight=2", "there is no [[class]] to set anything in"),
    ("class.voice.weight=2", "no class is called `voice`"),
    ("link.core.rate=2Mbit/s", "no link is called `core`"),
    ("classify.flw=source", "unknown key `flw` in [classify]; did you mean `flow`?"),
    ("web.dscp=AF2", "`tcp[0].dscp`: `AF2` is not a DSCP; did you mean `AF21`? (known: CS0, DF, LE, CS1, AF11, AF12, AF13, CS2, AF21, AF22, AF23, CS3, AF31, AF32, AF33, CS4, AF41, AF42, AF43, CS5, VOICE-ADMIT, EF, CS6, CS7, or 0 to 63)"),
    ("qdisc.drptail.limit=5p", "`qdiscs` has no discipline called `drptail`; did you mean `droptail`?"),
    ("qdisc.droptail.limt=5p", "droptail: unknown parameter `limt`; did you mean `limit`?"),
    ("qdisc.droptail=7", "a discipline's setting is written `qdisc.red.maxp=0.1`"),
    ("sweep.grid=1", "no section or group is called `sweep`"),
    ("sweep=1", "`sweep`: expected a table, found integer `1`"),
    ("expect=1", "`expect`: expected a list, found integer `1`"),
    ("record.events=al", "`record.events`: unknown choice of events `al`; did you mean `all`? (known: off, drops, decisions, all)"),
];

#[test]
fn an_error_in_a_change_names_the_change_and_no_line() {
    for (change, message) in BAD_CHANGES {
        let error = error(BASE, &set(change));
        assert_eq!(error.message, *message);
        assert_eq!(
            (error.line, error.column, error.change.as_deref()),
            (None, None, Some(&*format!("--set {change}")))
        );
        assert!(error.to_string().contains(&format!("\n --> --set {change}")), "{error}");
    }
    let qdiscs = Changes { qdiscs: vec!["droptail".to_string(), "drptail".to_string()], ..Changes::default() };
    assert_eq!(error(BASE, &qdiscs).change.as_deref(), Some("--qdisc drptail"));
    let seeds = Changes { seeds: Some(0), ..Changes::default() };
    assert_eq!(error(BASE, &seeds).change.as_deref(), Some("--seeds 0"));
}

#[test]
fn a_change_to_a_class_needs_its_whole_path() {
    let classes = BASE.replace("[record]", "[[class]]\nname = \"voice\"\n[[class]]\nname = \"video\"\n[record]");
    assert_eq!(error(&classes, &set("voice.weight=2")).message, "`voice` is a class: write `class.voice.weight`");
    let message = "no class is called `vocie`; did you mean `voice`?";
    assert_eq!(error(&classes, &set("class.vocie.weight=2")).message, message);
}

#[test]
fn flows_between_the_same_addresses_need_different_ports_or_protocols() {
    let ends = "source = \"10.0.0.9\"\ndestination = \"172.16.0.1\"\n";
    let two = |more: &str| {
        let text = format!("[[tcp]]\nname = \"a\"\n{ends}[[tcp]]\nname = \"b\"\n{ends}{more}");
        Scenario::read(&BASE.replace("[record]", &format!("{text}[record]")), "base.toml", &Changes::default())
    };
    let message = "a flow of `a` and one of `b` go from 10.0.0.9 port 49152 to 172.16.0.1 port 5001: nothing would tell \
                   them apart";
    let error = two("dscp = \"EF\"\nlabel = \"c\"\n").unwrap_err();
    assert_eq!((error.message.as_str(), error.line), (message, Some(27)));
    assert!(two("destination_port = 5002\n").is_ok());
    let udp = BASE.replace("jitter = 0.1", ends).replace("flows = 2", ends);
    assert!(Scenario::read(&udp, "base.toml", &Changes::default()).is_ok());
}

#[test]
fn a_change_that_invalidates_a_key_of_the_file_is_reported_at_the_keys_line() {
    let error = error(BASE, &set("duration=1s"));
    assert_eq!((error.line, &*error.message), (Some(3), "`warmup`: 2s leaves no time to measure in a run of 1s"));
}
