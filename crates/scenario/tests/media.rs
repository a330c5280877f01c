//! Links with changing rates and impairments, and the files that a scenario names.

use std::collections::BTreeMap;

use aqm::{Rate, Span};
use headgate_scenario::{Changes, EcnTreatment, Files, Impairments, RateVariation, Remarks, Scenario, ScenarioError};

/// Files by their paths.
struct Shelf(BTreeMap<&'static str, &'static str>);

impl Files for Shelf {
    fn read(&self, path: &str) -> Result<Vec<u8>, String> {
        self.0.get(path).map(|text| text.as_bytes().to_vec()).ok_or_else(|| "No such file or directory".to_string())
    }
}

fn shelf() -> Shelf {
    Shelf(BTreeMap::from([
        ("lte.up", "0\n2\n2\n8\n"),
        ("other/lte.up", "9\n"),
        ("same/lte.up", "0\n2\n2\n8\n"),
        ("empty", ""),
        ("still", "0\n0\n"),
        ("back", "1\n5\n4\n"),
        ("odd", "1\n\n4\n"),
        ("dots", "1\n2.5\n"),
        ("plus", "+1\n"),
        ("fast", "0\n0\n0\n0\n0\n0\n0\n0\n0\n0\n1\n"),
    ]))
}

/// A dumbbell of 10 ms and 100 packets, with these additional `keys` in `[link]`.
fn read(keys: &str) -> Result<Scenario, ScenarioError> {
    let text = format!(
        "name = 'm'\nduration = '10s'\nqdiscs = ['droptail']\ntcp = [{{}}]\n[link]\ndelay = '10ms'\nlimit = '100p'\n{keys}\n"
    );
    Scenario::read_with(&text, "m.toml", &Changes::default(), &shelf())
}

fn good(keys: &str) -> Scenario {
    let scenario = read(keys).unwrap_or_else(|error| panic!("{error}"));
    let again = Scenario::read_with(&scenario.to_toml(), "again.toml", &Changes::default(), &scenario.inputs);
    assert_eq!(again.as_ref(), Ok(&scenario), "{}", scenario.to_toml());
    scenario
}

#[test]
fn a_trace_replaces_the_rate_and_its_contents_stay_in_the_scenario() {
    let scenario = good("trace = 'lte.up'\nreverse = { trace = 'same/lte.up' }");
    let [hop, back] = [scenario.bottleneck(), scenario.bottleneck().back()];
    // Four opportunities of 1500 bytes in 8 ms: 6 Mbit/s.
    assert_eq!(scenario.mean_rate(hop), Rate::from_bits(6_000_000));
    let RateVariation::Trace { name, opportunities } = &scenario.direction_settings(hop).rate_variation else {
        panic!("a trace")
    };
    assert_eq!((name.as_str(), &opportunities[..]), ("lte.up", &[0, 2, 2, 8][..]));
    assert_eq!(
        scenario.direction_settings(back).rate_variation,
        scenario.direction_settings(hop).rate_variation,
        "one file, named twice"
    );
    let inputs: Vec<_> = scenario.inputs.iter().collect();
    assert_eq!(inputs, [("lte.up", &b"0\n2\n2\n8\n"[..])]);
    assert!(scenario.to_toml().contains("trace = \"inputs/lte.up\""));
}

#[test]
fn the_mean_rate_of_a_schedule_is_that_of_the_run_or_the_period() {
    let keys = "rate = '10Mbit/s'\nschedule = [{ at = '2s', rate = '1Mbit/s' }, { at = '6s', rate = '0bit/s' }]";
    let scenario = good(keys);
    // 2 s at 10 Mbit/s, 4 s at 1 and 4 s at 0, in a run of 10 s.
    assert_eq!(scenario.mean_rate(scenario.bottleneck()), Rate::from_bits(2_400_000));
    let scenario = good(&format!("{keys}\nschedule_period = '8s'"));
    assert_eq!(scenario.mean_rate(scenario.bottleneck()), Rate::from_bits(3_000_000));
    assert_eq!(
        scenario.direction_settings(scenario.bottleneck().back()).rate_variation,
        RateVariation::Constant,
        "the reverse direction has its own"
    );
}

#[test]
fn impairments_are_of_one_direction() {
    let scenario = good(
        "rate = '1Mbit/s'\nloss = 0.02\nloss_burst = 3.5\njitter = '2ms'\n\
         reverse = { loss = 0.5, reorder = 0.1, reorder_by = '7ms' }",
    );
    let there = Impairments { loss: 0.02, burst: Some(3.5), jitter: Span::from_millis(2), ..Impairments::default() };
    let back = Impairments { loss: 0.5, reorder: 0.1, reorder_by: Span::from_millis(7), ..Impairments::default() };
    assert_eq!(scenario.direction_settings(scenario.bottleneck()).impairments, there);
    assert_eq!(scenario.direction_settings(scenario.bottleneck().back()).impairments, back);
}

#[test]
fn what_a_link_does_to_packets_is_of_one_direction() {
    let scenario = good(
        "rate = '1Mbit/s'\noverhead = 'ethernet'\nloss = 0.02\nloss_burst_max = 2\nloss_at = [3, 10]\necn = 'bleach'\n\
         reverse = { overhead = 22, duplicate = 0.01, dscp = 'LE', ecn = 'remark' }",
    );
    let [hop, back] = [scenario.bottleneck(), scenario.bottleneck().back()].map(|hop| scenario.direction_settings(hop));
    assert_eq!([hop, back].map(|settings| settings.framing.to_string()), ["ethernet", "22B"]);
    let remarks = |ecn, dscp| Remarks { ecn, dscp };
    assert_eq!((hop.impairments.burst_max, &hop.impairments.lost_packets[..]), (Some(2), &[3, 10][..]));
    assert_eq!(hop.impairments.remarks, remarks(EcnTreatment::Bleach, None));
    assert_eq!((back.impairments.duplicate, back.impairments.remarks), (0.01, remarks(EcnTreatment::Remark, Some(1))));
}

#[test]
fn slots_and_aggregates_have_their_mean_rate() {
    let scenario = good("rate = '9Mbit/s'\nslot = '0.5ms'\nreverse = { aggregate = '4ms', aggregate_gap = '500us' }");
    let [hop, back] = [scenario.bottleneck(), scenario.bottleneck().back()];
    // 4 ms of 4.5 ms at 9 Mbit/s.
    assert_eq!([hop, back].map(|hop| scenario.mean_rate(hop).as_bits()), [9_000_000, 8_000_000]);
    // Fair shares count packets without framing: 1500 of 1538 bytes.
    let scenario = good("rate = '1538kbit/s'\noverhead = 'ethernet'");
    let [rate, packets] = [scenario.mean_rate(hop), scenario.packet_rate(hop)].map(Rate::as_bits);
    assert_eq!((rate, packets), (1_538_000, 1_500_000));
}

#[test]
fn impossible_media_are_refused_with_a_reason() {
    let most = "a whole number of milliseconds, at most 86400000";
    let rate = "rate = '1Mbit/s'\n";
    for (keys, message) in [
        ("trace = 'gone'".to_string(), "`link.trace`: cannot read \"gone\": No such file or directory".to_string()),
        ("trace = 'a/..'".into(), "`link.trace`: expected the path of a file, found \"a/..\"".into()),
        ("trace = 'empty'".into(), "`link.trace`: empty: the trace is empty".into()),
        ("trace = 'still'".into(), "`link.trace`: still: the trace lasts no time: its last line is 0".into()),
        ("trace = 'back'".into(), "`link.trace`: back: line 3: times must not decrease".into()),
        ("trace = 'odd'".into(), format!("`link.trace`: odd: line 2, column 1: expected {most}")),
        ("trace = 'dots'".into(), format!("`link.trace`: dots: line 2, column 2: expected {most}")),
        ("trace = 'plus'".into(), format!("`link.trace`: plus: line 1, column 1: expected {most}")),
        (format!("{rate}trace = 'lte.up'"), "`trace` says when packets leave: leave out `rate`, `schedule`, `slot` and `aggregate`".into()),
        (
            "trace = 'lte.up'\nreverse.trace = 'other/lte.up'".into(),
            "`link.reverse.trace`: another file that the scenario names is called \"lte.up\" too: rename one".into(),
        ),
        (
            format!("{rate}schedule = [{{ at = '0s', rate = '1Mbit/s' }}]"),
            "`link.schedule[0].at`: must come after 0s, not at 0s".into(),
        ),
        (
            format!("{rate}schedule = [{{ at = '2s', rate = '1Mbit/s' }}]\nschedule_period = '2s'"),
            "`link.schedule[0].at`: comes after `schedule_period`: it would never take effect".into(),
        ),
        (format!("{rate}schedule = [{{ at = '2s' }}]"), "`rate` is missing: a step of `schedule` needs it".into()),
        (format!("{rate}schedule_period = '2s'"), "`schedule_period` needs a `schedule` to repeat".into()),
        (format!("{rate}loss = 1.0"), "`link.loss`: must be at least 0 and less than 1, not 1".into()),
        (
            format!("{rate}loss = 0.8\nloss_burst = 2.0"),
            "`link.loss_burst`: bursts of 2 packets with a packet between them lose less than 0.8 of all".into(),
        ),
        (
            "trace = 'lte.up'\nslot = '1ms'".into(),
            "`trace` says when packets leave: leave out `rate`, `schedule`, `slot` and `aggregate`".into(),
        ),
        (format!("{rate}slot = '1ms'\naggregate = '4ms'"), "`slot` and `aggregate` exclude each other: give one".into()),
        (
            format!("{rate}slot = '7us'"),
            "`link.slot`: at 1Mbit/s no byte fits into a slot of 7us".into(),
        ),
        (format!("{rate}aggregate_gap = '1ms'"), "`aggregate_gap` needs `aggregate`".into()),
        (
            format!("{rate}aggregate = '4ms'\nschedule = [{{ at = '2s', rate = '1Mbit/s' }}]"),
            "`schedule` cannot be combined with `slot` or `aggregate`".into(),
        ),
        (
            format!("{rate}overhead = 'etherne'"),
            "`link.overhead`: expected bytes per packet, such as \"38B\", or a framing (raw, ethernet, docsis, bridged-ptm, \
             pppoe-ptm, ipoa-vcmux, ipoa-llcsnap, bridged-vcmux, bridged-llcsnap, pppoa-vcmux, pppoa-llc, pppoe-vcmux, \
             pppoe-llcsnap, conservative), found \"etherne\"; did you mean `ethernet`?"
                .into(),
        ),
        (
            format!("{rate}overhead = -20"),
            "`link.overhead`: must be from -19B (the shortest IP packet has 20 bytes) to 1000B, not -20B".into(),
        ),
        (format!("{rate}loss_burst_max = 3"), "`loss_burst_max` bounds the losses of `loss`, which is 0".into()),
        (
            format!("{rate}loss = 0.1\nloss_burst = 4\nloss_burst_max = 3"),
            "`link.loss_burst_max`: must be at least `loss_burst`, 4, which is the mean".into(),
        ),
        (
            format!("{rate}loss = 0.8\nloss_burst_max = 3"),
            "`link.loss_burst_max`: bursts of 3 packets with a packet between them lose less than 0.8 of all".into(),
        ),
        (format!("{rate}loss_at = [0]"), "`link.loss_at[0]`: packets are numbered from 1".into()),
        (format!("{rate}loss_at = [3, 3]"), "`link.loss_at[1]`: must be above the number before it, 3".into()),
        (format!("{rate}duplicate = 1.5"), "`link.duplicate`: must be 0 to 1, not 1.5".into()),
        (
            format!("{rate}ecn = 'clear'"),
            "`link.ecn`: unknown treatment of the ECN field `clear`; did you mean `bleach`? (known: keep, bleach, remark)".into(),
        ),
        (format!("{rate}dscp = 64"), "`link.dscp`: a DSCP is 0 to 63, not 64".into()),
        (format!("{rate}reorder = 0.1"), "`reorder` needs `reorder_by`, the delay of reordered packets".into()),
    ] {
        assert_eq!(read(&keys).expect_err(&message).message, message);
    }
    let text = "name = 'm'\nduration = '10s'\nqdiscs = ['droptail']\ntcp = [{}]\n\
                link = { delay = '10ms', limit = '9p', trace = 'a' }";
    let error = Scenario::read(text, "m.toml", &Changes::default()).unwrap_err();
    let why = "this scenario was not read from a folder, so it can name no files";
    assert_eq!(error.message, format!("`link.trace`: cannot read \"a\": {why}"));
    assert_eq!((error.line, error.column), (Some(5), Some(48)));
}
