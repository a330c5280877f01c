//! The keys of a file: defaults, overrides, changes; and the ready scenarios.

use aqm::{Limit, Rate, Span};
use headgate_scenario::{Access, Cc, Changes, Direction, Events, Files, Hop, Kind, Qdisc, Recovery, Scenario, Start};

const SMALL: &str = r#"
name = "small"
duration = "10s"
qdiscs = ["droptail"]
link = { rate = "10Mbit/s", delay = "10ms", limit = "100p" }
"#;

fn read(text: &str, set: &[&str]) -> Scenario {
    let changes = Changes { set: set.iter().map(ToString::to_string).collect(), ..Changes::default() };
    Scenario::read(text, "small.toml", &changes).unwrap_or_else(|error| panic!("{error}"))
}

fn small(rest: &str, set: &[&str]) -> Scenario {
    read(&format!("{SMALL}{rest}"), set)
}

#[test]
fn most_keys_of_a_file_have_defaults() {
    let scenario = small("[[tcp]]\n[[tcp]]\n[[udp]]\nrate = '1Mbit/s'", &[]);
    assert_eq!((scenario.warmup, &scenario.seeds[..]), (Span::ZERO, &[1][..]));
    assert_eq!((scenario.record.interval, scenario.record.events), (Span::from_millis(100), Events::Off));
    let [link] = &scenario.links[..] else { panic!("{:?}", scenario.links) };
    assert_eq!((link.name.as_str(), link.from.as_str(), link.to.as_str()), ("bottleneck", "left", "right"));
    assert_eq!((link.reverse.rate, link.reverse.limit), (link.forward.rate, Limit::Packets(1000)));
    assert_eq!((&link.forward.qdisc, &link.reverse.qdisc), (&None, &Some(Qdisc::named("droptail"))));
    assert_eq!(scenario.bottleneck(), Hop { link: 0, direction: Direction::Forward });
    assert!(scenario.routes().all(|route| route == [scenario.bottleneck()]));
    let names: Vec<&str> = scenario.tcp.iter().map(|group| group.name.as_str()).collect();
    assert_eq!(names, ["tcp", "tcp2"]);
    assert_eq!((scenario.udp[0].name.as_str(), scenario.udp[0].packet, scenario.udp[0].header), ("udp", 1000, 28));
}

#[test]
fn a_profile_chooses_the_defaults_and_keys_override_it() {
    let tcp = small("[[tcp]]\nprofile = 'rfc'", &[]).tcp.remove(0);
    assert_eq!(tcp, small("[[tcp]]", &[]).tcp.remove(0));
    assert_eq!((tcp.packet, tcp.header, tcp.window, tcp.initial_window), (1500, 40, 10_000, 10));
    assert_eq!(
        (tcp.recovery, tcp.initial_ssthresh, tcp.delayed_ack),
        (Recovery::Sack, None, Some(Span::from_millis(100)))
    );
    assert_eq!((tcp.initial_rto, tcp.min_rto, tcp.ecn_timeout), (Span::from_secs(1), Span::from_secs(1), true));
    assert!(tcp.idle_restart && !tcp.ecn_retransmits);

    let tcp = small("[[tcp]]\nprofile = 'ns2'\nmin_rto = '1s'", &[]).tcp.remove(0);
    assert_eq!((tcp.packet, tcp.header, tcp.window, tcp.initial_window), (1000, 0, 20, 2));
    assert_eq!((tcp.recovery, tcp.initial_ssthresh, tcp.delayed_ack), (Recovery::NewReno, Some(20), None));
    assert_eq!((tcp.initial_rto, tcp.min_rto, tcp.ecn_timeout), (Span::from_secs(3), Span::from_secs(1), true));
    assert!(tcp.ecn_backoff && tcp.idle_restart && tcp.restart_from_one && tcp.ecn_retransmits);
    assert!(tcp.halve_cwnd && tcp.once_a_window && tcp.loss_restarts_timer && tcp.exit_burst);
    let cubic = small("[[tcp]]\nprofile = 'ns2'\ncc = 'cubic'", &[]).tcp.remove(0);
    assert_eq!((tcp.cubic_beta, cubic.cubic_beta), (0.7, 819.0 / 1024.0));
    let vegas = small("[[tcp]]\nprofile = 'ns2'\ncc = 'vegas'", &[]).tcp.remove(0);
    assert_eq!((vegas.vegas_alpha, vegas.vegas_beta, vegas.vegas_gamma), (1.0, 3.0, 1.0), "ns-default.tcl");
    let tcp = small("[[tcp]]\nprofile = 'ns2'\nwindow = 1000", &[]).tcp.remove(0);
    assert_eq!(tcp.initial_ssthresh, Some(1000), "ns-2 starts ssthresh at the window");
    let udp = small("[[udp]]\nprofile = 'ns2'\nrate = '1Mbit/s'", &[]).udp.remove(0);
    assert_eq!(udp.header, 0);
}

#[test]
fn the_profile_linux_has_the_values_of_the_kernel() {
    // include/net/tcp.h: TCP_RTO_MIN 200 ms, TCP_RTO_MAX 120 s, TCP_DELACK_MIN 40 ms.
    let tcp = small("[[tcp]]\nprofile = 'linux'", &[]).tcp.remove(0);
    assert_eq!((tcp.cc, tcp.recovery, tcp.prr), (Cc::Cubic, Recovery::Rack, true));
    assert_eq!((tcp.min_rto, tcp.max_rto), (Span::from_millis(200), Span::from_secs(120)));
    assert_eq!((tcp.min_rto_variance, tcp.delayed_ack), (Some(Span::from_millis(200)), Some(Span::from_millis(40))));
    assert_eq!((tcp.ecn_timeout, tcp.min_marked_window, tcp.abc), (false, 2, None));
    assert!(tcp.count_delivered && tcp.recent_use && tcp.cwnd_beyond_window && tcp.cubic_whole);
    assert_eq!(tcp.probe_ack_delay, Some(Span::from_millis(200)), "TCP_RTO_MIN in tcp_schedule_loss_probe");
    assert!(!tcp.cubic_full_alpha && small("[[tcp]]\ncc = 'cubic'", &[]).tcp[0].cubic_full_alpha);
    assert_eq!((tcp.packet, tcp.header, tcp.ack), (1500, 52, 52), "an MSS of 1448: 12 bytes for the timestamp");
    assert!(tcp.cubic_hystart && !small("[[tcp]]\nprofile = 'linux'\nhystart = true", &[]).tcp[0].cubic_hystart);
    assert_eq!((tcp.quick_acks, small("[[tcp]]", &[]).tcp[0].quick_acks), (Some(16), None));
    let plain = small("[[tcp]]\nprofile = 'linux'\ntimestamps = false", &[]).tcp.remove(0);
    assert_eq!((plain.header, plain.ack), (40, 40));
    let reno = small("[[tcp]]\nprofile = 'linux'\ncc = 'reno'", &[]).tcp.remove(0);
    assert_eq!((reno.cc, reno.recovery, reno.prr), (Cc::Reno, Recovery::Rack, true), "the kernel has one recovery");
    assert_eq!(small("[[tcp]]\nsend_buffer = '5839B'", &[]).tcp[0].buffered_segments(), 3, "of 1460 bytes");
    let vegas = small("[[tcp]]\nprofile = 'linux'\ncc = 'vegas'", &[]).tcp.remove(0);
    assert_eq!((vegas.vegas_alpha, vegas.vegas_beta, vegas.vegas_gamma), (2.0, 4.0, 1.0), "tcp_vegas.c");
    assert!(vegas.vegas_linux && !small("[[tcp]]\ncc = 'vegas'", &[]).tcp[0].vegas_linux);
    let reno = small("[[tcp]]\nprofile = 'linux'\nrecovery = 'reno'", &[]).tcp.remove(0);
    assert_eq!((reno.recovery, reno.prr, reno.undo, reno.rtt_per_ack), (Recovery::Reno, false, false, false));
}

#[test]
fn sender_and_receiver_override_access() {
    let tcp = small("[[tcp]]\naccess = { rate = '50Mbit/s' }\nreceiver = { delay = '7ms' }", &[]).tcp.remove(0);
    let rate = Rate::from_bits(50_000_000);
    assert_eq!(tcp.sender, Access { rate, delay: Span::from_millis(1).into() });
    assert_eq!(tcp.receiver, Access { rate, delay: Span::from_millis(7).into() });
}

#[test]
fn access_links_are_by_default_ten_times_as_fast_as_the_fastest_link_of_the_route() {
    let rates = |group: &str, link: &str| {
        let tcp = small(group, &[link]).tcp.remove(0);
        [tcp.sender.rate, tcp.receiver.rate].map(Rate::as_bits)
    };
    assert_eq!(rates("[[tcp]]", "link.rate=1Gbit/s"), [10_000_000_000; 2]);
    assert_eq!(rates("[[tcp]]", "link.rate=5Mbit/s"), [100_000_000; 2], "a host has 100 Mbit/s at least");
    assert_eq!(rates("[[tcp]]", "link.rate=100Gbit/s"), [100_000_000_000; 2], "the fastest rate of a scenario");
    assert_eq!(rates("[[tcp]]\naccess = { delay = '7ms' }", "link.rate=1Gbit/s"), [10_000_000_000; 2]);
    assert_eq!(rates("[[tcp]]\nsender = { rate = '1Gbit/s' }", "link.rate=1Gbit/s"), [1_000_000_000, 10_000_000_000]);
    assert_eq!(rates("[[tcp]]\naccess = { rate = '1Mbit/s' }", "link.rate=1Gbit/s"), [1_000_000; 2]);
    let schedule = "link.schedule=[{ at = '1s', rate = '30Mbit/s' }, { at = '2s', rate = '2Mbit/s' }]";
    assert_eq!(rates("[[tcp]]", schedule), [300_000_000; 2], "the greatest rate of a schedule counts");
}

#[test]
fn the_access_links_share_what_the_route_leaves_of_the_round_trip_time() {
    // The link takes 10 ms each way. Of a round trip of 32 ms, 6 ms remain each way, 3 ms for each access link.
    let ends = |rest: &str| {
        let scenario = small(rest, &["link.delay=10ms"]);
        let of = |near: &Access, far: &Access| [near.delay, far.delay].map(|delay| delay.mean().as_nanos());
        scenario.tcp.first().map_or_else(
            || of(&scenario.udp[0].sender, &scenario.udp[0].receiver),
            |tcp| of(&tcp.sender, &tcp.receiver),
        )
    };
    assert_eq!(ends("[[tcp]]\nrtt = '32ms'\naccess = { rate = '50Mbit/s' }"), [3_000_000; 2]);
    assert_eq!(ends("[[udp]]\nrate = '1Mbit/s'\nrtt = '20.000002ms'"), [0, 1]);
}

#[test]
fn starts_stops_seeds_and_off_are_read_in_all_their_forms() {
    let rest = "[[tcp]]\nstart = '1s..2s'\nstop = '9s'\ndelayed_ack = 'off'\ninitial_ssthresh = 12";
    let tcp = small(rest, &[]).tcp.remove(0);
    assert_eq!(tcp.start, Start::Drawn { from: Span::from_secs(1), to: Span::from_secs(2) });
    assert_eq!((tcp.stop, tcp.delayed_ack, tcp.initial_ssthresh), (Some(Span::from_secs(9)), None, Some(12)));
    let rest = "[[tcp]]\nstart = '3s'\nstop = 'off'\ninitial_ssthresh = 'off'";
    let tcp = small(rest, &[]).tcp.remove(0);
    let at = Span::from_secs(3);
    assert_eq!((tcp.start, tcp.stop), (Start::Drawn { from: at, to: at }, None));
    let abc = |rest: &str| small(rest, &[]).tcp[0].abc;
    assert_eq!(["[[tcp]]", "[[tcp]]\nabc = 'off'", "[[tcp]]\nabc = 2"].map(abc), [None, None, Some(2)]);
    assert_eq!(small("[[tcp]]", &["seeds=4"]).seeds, [1, 2, 3, 4]);
    assert_eq!(small("[[tcp]]", &["seeds=[9, 4]"]).seeds, [9, 4]);
}

#[test]
fn a_discipline_may_be_a_table() {
    let scenario = small("[[tcp]]", &["qdiscs=[{ name = 'droptail', limit = 50 }, 'droptail']"]);
    let qdiscs: Vec<String> = scenario.qdiscs.iter().map(ToString::to_string).collect();
    assert_eq!(qdiscs, ["droptail:limit=50", "droptail"]);
}

#[test]
fn disciplines_can_be_nested() {
    // Keys of a table are read in alphabetical order.
    let table = "{ name = 'prio', children = ['fred', { name = 'tbf', rate = '1Mbit/s', child = 'red:maxp=0.1' }] }";
    let text = "'prio:children=[fred; tbf:child=[red:maxp=0.2],rate=1Mbit/s]'";
    let scenario = small("[[tcp]]", &[&format!("qdiscs=[{table}, {text}]")]);
    let qdiscs: Vec<String> = scenario.qdiscs.iter().map(ToString::to_string).collect();
    let expected = |maxp: &str| format!("prio:children=[fred; tbf:child=[red:maxp={maxp}],rate=1Mbit/s]");
    assert_eq!(qdiscs, ["0.1", "0.2"].map(expected));
    let again = Scenario::read(&scenario.to_toml(), "again.toml", &Changes::default()).unwrap();
    assert_eq!(again.qdiscs, scenario.qdiscs);
}

#[test]
fn changes_apply_to_sections_kinds_groups_and_absent_keys() {
    let rest = "[[tcp]]\nname = 'web'\n[[tcp]]\n[[udp]]\nname = 'cbr'\nrate = '1Mbit/s'";
    let set = ["link.rate=20Mbit/s", "tcp.cc=reno", "cbr.rate=8Mbit/s", "tcp2.flows=3", "record.events=all"];
    let scenario = small(rest, &[&set[..], &["link.reverse.limit=9p", "web.access.delay=5ms", "about=a = b"]].concat());
    assert_eq!(scenario.links[0].forward.rate, Rate::from_bits(20_000_000));
    assert_eq!((scenario.tcp[0].cc, scenario.tcp[1].cc), (Cc::Reno, Cc::Reno));
    assert_eq!((scenario.tcp[0].flows, scenario.tcp[1].flows), (1, 3));
    assert_eq!(scenario.udp[0].rate, Some(Rate::from_bits(8_000_000)));
    assert_eq!((scenario.record.events, scenario.links[0].reverse.limit), (Events::All, Limit::Packets(9)));
    assert_eq!((scenario.tcp[0].sender.delay.mean(), scenario.about.as_str()), (Span::from_millis(5), "a = b"));
    let groups: Vec<_> = scenario.groups().map(|group| (group.index, group.name, group.kind, group.flows)).collect();
    assert_eq!(groups, [(0, "web", Kind::Tcp, 1), (1, "tcp2", Kind::Tcp, 3), (2, "cbr", Kind::Udp, 1)]);
    assert_eq!(scenario.total_flows(), 5);
    assert_eq!(scenario.mean_packet(), (4 * 1500 + 1000) / 5);
}

#[test]
fn the_last_of_two_changes_applies_and_qdiscs_and_seeds_replace_the_files() {
    let text = format!("{SMALL}[[tcp]]");
    let changes = Changes {
        set: vec!["seeds=9".to_string(), "duration=20s".to_string(), "duration=30s".to_string()],
        qdiscs: vec!["droptail:limit=7p".to_string(), "droptail:limit=8p".to_string()],
        seeds: Some(2),
    };
    let scenario = Scenario::read(&text, "small.toml", &changes).unwrap();
    assert_eq!((scenario.duration, scenario.seeds), (Span::from_secs(30), vec![1, 2]));
    let qdiscs: Vec<String> = scenario.qdiscs.iter().map(ToString::to_string).collect();
    assert_eq!(qdiscs, ["droptail:limit=7p", "droptail:limit=8p"]);
}

#[test]
fn a_change_sets_a_parameter_of_every_discipline_of_that_name_in_every_notation() {
    let text = format!(
        "{}[[tcp]]",
        SMALL.replace("[\"droptail\"]", "[\"sfb:N=4,bins=9\", { name = \"sfb\", L = 1 }, \"red\"]")
    );
    let settings = |changes: &Changes| {
        let scenario = Scenario::read(&text, "small.toml", changes).unwrap();
        let sorted = |qdisc: &headgate_scenario::Qdisc| {
            let mut settings = qdisc.settings.clone();
            settings.sort();
            settings.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" ")
        };
        scenario.qdiscs.iter().map(sorted).collect::<Vec<_>>()
    };
    let set = |set: &[&str]| set.iter().map(ToString::to_string).collect();
    let one = Changes { set: set(&["qdisc.sfb.bins=23"]), ..Changes::default() };
    assert_eq!(settings(&one), ["bins=23", "L=1 bins=23", ""], "`N` is another name of `bins`");
    let later = Changes { set: set(&["qdisc.red.maxp=0.2"]), qdiscs: set(&["red:maxp=0.1,wq=0.002"]), seeds: None };
    assert_eq!(settings(&later), ["maxp=0.2 wq=0.002"], "disciplines that replace the file's are changed too");
    let nested = Changes { set: set(&["qdisc.tbf.child=red:maxp=0.3"]), qdiscs: set(&["tbf"]), seeds: None };
    assert_eq!(settings(&nested), ["child=[red:maxp=0.3]"]);
}

#[test]
fn sweep_and_expect_do_not_belong_to_the_scenario() {
    let plain = small("[[tcp]]", &[]);
    assert_eq!(small("expect = ['jain > 0.9']\n[[tcp]]", &[]), plain);
    assert_eq!(small("[[tcp]]\n[sweep.grid]\nlink.rate = ['1Mbit/s', 5]", &[]), plain);
}

#[test]
fn every_ready_scenario_survives_a_round_trip_and_begins_with_a_description() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios");
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let stems: Vec<&str> = files.iter().map(|file| file.file_stem().unwrap().to_str().unwrap()).collect();
    assert_eq!(
        stems,
        [
            "access",
            "bbr",
            "buffers",
            "call",
            "chain",
            "classes",
            "ecn",
            "incast",
            "linux",
            "live",
            "many-flows",
            "mix",
            "mixed-rtt",
            "penalty-box",
            "portrait",
            "protect",
            "unresponsive-flood"
        ]
    );
    for (file, stem) in files.iter().zip(stems) {
        let text = std::fs::read_to_string(file).unwrap();
        assert!(text.starts_with("# "), "{stem}");
        let scenario = read(&text, &[]);
        assert_eq!(scenario.name, stem);
        assert_eq!(read(&scenario.to_toml(), &[]), scenario);
    }
}

#[test]
fn the_default_recovery_depends_on_the_controller() {
    let head =
        "name = 'r'\nduration = '9s'\nqdiscs = ['droptail']\nlink = { rate = '1Mbit/s', delay = '0s', limit = '9p' }\n";
    let read = |group: &str| Scenario::read(&format!("{head}[[tcp]]\n{group}"), "r.toml", &Changes::default());
    let tcp = |group: &str| read(group).unwrap().tcp.remove(0);
    let recovery = |group: &str| tcp(group).recovery.name();
    // docs/decisions/0011: files older than this key keep their meaning.
    let old = ["", "cc = 'tahoe'", "cc = 'reno'", "cc = 'newreno'", "cc = 'sack'", "cc = 'cubic'", "profile = 'ns2'"];
    assert_eq!(old.map(recovery), ["sack", "tahoe", "reno", "newreno", "sack", "rack", "newreno"]);
    assert_eq!(recovery("cc = 'reno'\nrecovery = 'sack'"), "sack");
    let cubic = tcp("cc = 'cubic'\nrecovery = 'newreno'");
    assert_eq!((cubic.recovery.name(), cubic.prr), ("newreno", false), "settings that need SACK are off");
    let error = read("cc = 'bbr'\nrecovery = 'reno'").unwrap_err().to_string();
    assert!(
        error.contains("`bbr` measures the times of single segments: it needs `recovery = \"sack\"` or `\"rack\"`"),
        "{error}"
    );
}

/// Controller, recovery and warnings of a group with these lines, after the changes `set`.
fn respelt(group: &str, set: &[&str]) -> (Cc, Recovery, Vec<String>) {
    let text = format!(
        "name = 'r'\nduration = '9s'\nqdiscs = ['droptail']\n\
         link = {{ rate = '1Mbit/s', delay = '0s', limit = '9p' }}\n[[tcp]]\n{group}"
    );
    let changes = Changes { set: set.iter().map(ToString::to_string).collect(), ..Changes::default() };
    let (scenario, warnings) = Scenario::read_warned(&text, "r.toml", &changes, &()).unwrap();
    assert_eq!(
        Scenario::read_warned(&scenario.to_toml(), "again.toml", &Changes::default(), &()),
        Ok((scenario.clone(), vec![]))
    );
    (scenario.tcp[0].cc, scenario.tcp[0].recovery, warnings)
}

#[test]
fn a_recovery_in_cc_or_rack_is_read_with_a_warning_and_the_new_spelling() {
    let (cc, recovery, warnings) = respelt("cc = 'sack'", &[]);
    assert_eq!((cc, recovery), (Cc::Reno, Recovery::Sack));
    let says = "`cc = \"sack\"` is written `cc = \"reno\", recovery = \"sack\"` now: the old spelling works until the next release";
    assert!(warnings[0].starts_with(says) && warnings[0].contains("--> r.toml:6:6"), "{warnings:?}");
    let (_, recovery, warnings) = respelt("cc = 'cubic'\nrack = false", &[]);
    assert_eq!(recovery, Recovery::Sack);
    assert!(warnings[0].starts_with("`rack = false` is written `recovery = \"sack\"` now"), "{warnings:?}");
    for (group, recovery) in
        [("cc = 'sack'\nrack = true", Recovery::Rack), ("cc = 'tahoe'\nrack = false", Recovery::Tahoe)]
    {
        assert_eq!((respelt(group, &[]).1, respelt(group, &[]).2.len()), (recovery, 2), "{group}");
    }
    for group in ["", "cc = 'reno'", "cc = 'cubic'", "cc = 'reno'\nrecovery = 'rack'"] {
        assert_eq!(respelt(group, &[]).2, [""; 0], "{group}");
    }
}

/// The files of a folder.
struct Folder(&'static str);

impl Files for Folder {
    fn read(&self, path: &str) -> Result<Vec<u8>, String> {
        std::fs::read(format!("{}/{path}", self.0)).map_err(|error| error.to_string())
    }
}

#[test]
fn no_ready_scenario_is_in_an_old_spelling() {
    let folder = Folder(concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios"));
    let mut read = 0;
    for entry in std::fs::read_dir(folder.0).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "toml") {
            let text = std::fs::read_to_string(&path).unwrap();
            let (_, warnings) = Scenario::read_warned(&text, "ready.toml", &Changes::default(), &folder)
                .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            assert_eq!(warnings, [""; 0], "{}", path.display());
            read += 1;
        }
    }
    assert!(read > 5, "{read} scenarios found");
}

#[test]
fn a_change_overrides_the_recovery_in_its_old_spelling_too() {
    let of = |group: &str, set: &[&str]| respelt(group, set).1;
    assert_eq!(of("recovery = 'sack'", &["tcp.cc=newreno"]), Recovery::NewReno);
    assert_eq!(of("recovery = 'sack'", &["tcp.cc=newreno", "tcp.recovery=rack"]), Recovery::Rack);
    assert_eq!(of("cc = 'tahoe'", &["tcp.cc=cubic"]), Recovery::Rack);
    assert_eq!(of("cc = 'tahoe'", &["tcp.recovery=sack"]), Recovery::Sack);
    assert_eq!(of("recovery = 'sack'", &["tcp.rack=true"]), Recovery::Rack);
    assert_eq!(of("cc = 'sack'\nrack = true", &["tcp.recovery=sack"]), Recovery::Sack);
}

#[test]
fn the_demo_is_the_papers_setting() {
    let text = include_str!("../../../scenarios/protect.toml");
    let scenario = read(text, &[]);
    let tcp = &scenario.tcp[0];
    let link = &scenario.links[0];
    let one_way =
        [link.delay, tcp.sender.delay.mean(), tcp.receiver.delay.mean()].map(Span::as_nanos).iter().sum::<u64>();
    assert_eq!(2 * one_way, 32_000_000, "round trip");
    assert_eq!((scenario.total_flows(), scenario.seeds.len(), scenario.qdiscs.len()), (10, 10, 7));
    assert_eq!((tcp.packet, link.forward.limit), (512, Limit::Packets(780)));
    assert_eq!(link.forward.rate.as_bits() / 10, 1_000_000, "fair share");
}
