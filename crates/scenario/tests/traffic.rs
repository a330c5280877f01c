//! Traffic and start times of flows: every form in a file, and the errors of invalid ones.

use aqm::{Rng, Span, Time};
use headgate_scenario::{Changes, Files, Scenario, ScenarioError, Start, Starts};
use headgate_traffic::WriteAmount;

/// A folder with a trace of two flows and a file that is no trace.
struct Folder;

impl Files for Folder {
    fn read(&self, path: &str) -> Result<Vec<u8>, String> {
        match path {
            "traces/two.csv" => Ok(b"time,flow,bytes\n0.5,a,1000\n0.75,b,500\n2,a,3000\n".to_vec()),
            "bad.csv" => Ok(b"0.5,a,1000\n0.25,b,500\n".to_vec()),
            "cut.pcap" => Ok(vec![0xd4, 0xc3, 0xb2, 0xa1, 2, 0]),
            _ => Err("there is no such file".to_string()),
        }
    }
}

/// A file with a link of 10 Mbit/s, a run of 100 s, and this group.
fn read(group: &str) -> Result<Scenario, ScenarioError> {
    let head = "name = 'traffic'\nduration = '100s'\nqdiscs = ['droptail']\n";
    let link = "link = { rate = '10Mbit/s', delay = '10ms', limit = '100p' }\n";
    Scenario::read_with(&format!("{head}{link}{group}"), "traffic.toml", &Changes::default(), &Folder)
}

fn scenario(group: &str) -> Scenario {
    let scenario = read(group).unwrap_or_else(|error| panic!("{error}"));
    let again = Scenario::read_with(&scenario.to_toml(), "again.toml", &Changes::default(), &scenario.inputs);
    assert_eq!(again.as_ref().map_err(ToString::to_string), Ok(&scenario), "{}", scenario.to_toml());
    scenario
}

fn message(group: &str) -> String {
    read(group).expect_err(group).message
}

/// The start times, in seconds, of the flows of the first TCP group in the run of this seed.
fn starts(scenario: &Scenario, seed: u64) -> Vec<f64> {
    let group = &scenario.tcp[0];
    let mut starts = Starts::new(group.start, seed, &group.name);
    let flow = |index| starts.draw(index, &mut Rng::new(u64::from(index) + 1000 * seed)).as_secs_f64();
    (0..group.flows).map(flow).collect()
}

#[test]
fn a_source_is_a_text_or_a_table_and_has_a_default() {
    let tcp = |traffic: &str| scenario(&format!("[[tcp]]\n{traffic}")).tcp[0].traffic.to_string();
    assert_eq!(tcp(""), "ftp");
    assert_eq!(tcp("traffic = 'web'"), "web");
    assert_eq!(
        tcp("traffic = 'http:transfer=pareto2(12KB,1.2), wait=exp(1s)'"),
        "http:transfer=pareto2(12KB,1.2),wait=exp(1s)"
    );
    assert_eq!(
        tcp("traffic = { name = 'http', transfer = 'pareto2(12KB,1.2)', count = 3, persistent = true }"),
        "http:count=3,persistent=on,transfer=pareto2(12KB,1.2)"
    );
    assert_eq!(tcp("traffic = { name = 'video', ladder = ['1Mbit/s', '3Mbit/s'] }"), "video:ladder=[1Mbit/s; 3Mbit/s]");
    let udp = |rest: &str| scenario(&format!("[[udp]]\n{rest}")).udp.remove(0);
    assert_eq!(udp("rate = '1Mbit/s'").traffic.to_string(), "cbr");
    let steps = "traffic = { name = 'cbr', rate = '1Mbit/s', schedule = [{ at = '5s', rate = '4Mbit/s' }, { at = '9s', rate = '0bit/s' }] }";
    assert_eq!(udp(steps).traffic.to_string(), "cbr:rate=1Mbit/s,schedule=[5s 4Mbit/s; 9s 0bit/s]");
    let voip = udp("traffic = 'voip'");
    assert_eq!((voip.rate, voip.most()), (None, voip.sender.rate));
}

#[test]
fn steps_bring_as_many_flows_as_fit_the_run() {
    // BLUE's figure 6: 200 more flows each 20 s.
    let steps = scenario("[[tcp]]\nstart = { flows = 200, every = '20s', within = '1s' }");
    assert_eq!(steps.tcp[0].flows, 1000);
    let moments = starts(&steps, 1);
    for (index, at) in moments.iter().enumerate() {
        let step = (index / 200 * 20) as f64;
        assert!((step..step + 1.0).contains(at), "flow {index} at {at}");
    }
    // Uniform over a second: the mean of 1000 starts is 0.5 within five standard deviations.
    let mean = moments.iter().enumerate().map(|(index, at)| at - (index / 200 * 20) as f64).sum::<f64>() / 1000.0;
    assert!((mean - 0.5).abs() < 5.0 / (12.0_f64 * 1000.0).sqrt(), "{mean}");
    assert_eq!(scenario("[[tcp]]\nflows = 300\nstart = { flows = 200, every = '20s' }").tcp[0].flows, 300);
    assert_eq!(scenario("[[tcp]]\nstop = '30s'\nstart = { flows = 200, every = '20s' }").tcp[0].flows, 400);
    assert_eq!(
        message("[[tcp]]\nflows = 1001\nstart = { flows = 200, every = '20s' }"),
        "`tcp[0].start`: flows start as late as 100s, but the run ends at 100s"
    );
}

#[test]
fn arrivals_at_a_load_fill_that_share_of_the_link() {
    let group = "[[tcp]]\ntraffic = 'ftp:size=exp(100KB)'\nstart = { load = 0.8 }";
    let scenario = scenario(group);
    // By hand: 10 Mbit/s x 0.8 / (100 KB x 1500 / 1460 x 8) = 9.73 a second.
    let rate = 0.8 * 10e6 / (100e3 * 1500.0 / 1460.0 * 8.0);
    let Start::Poisson { rate: found, load } = scenario.tcp[0].start else { panic!("{:?}", scenario.tcp[0].start) };
    assert!((found / rate - 1.0).abs() < 1e-12 && load == Some(0.8), "{found}");
    let mean = rate * 100.0;
    assert_eq!(scenario.tcp[0].flows, (mean + 5.0 * mean.sqrt()).ceil() as u32);
    for seed in 1..20 {
        let within = starts(&scenario, seed).iter().filter(|at| **at < 100.0).count() as f64;
        assert!((within - mean).abs() < 5.0 * mean.sqrt(), "seed {seed}: {within} of {mean}");
    }
}

#[test]
fn arrivals_at_a_rate_need_no_size() {
    let scenario = scenario("[[tcp]]\nflows = 7\ntraffic = 'http:count=1'\nstart = { rate = 50 }");
    assert_eq!((scenario.tcp[0].flows, scenario.tcp[0].start), (7, Start::Poisson { rate: 50.0, load: None }));
    let moments = starts(&scenario, 3);
    assert!(moments.windows(2).all(|pair| pair[0] < pair[1]), "in flow order");
    assert_ne!(moments, starts(&scenario, 4));
}

#[test]
fn starts_within_a_range_are_drawn_from_the_flows_own_random_stream() {
    let scenario = scenario("[[tcp]]\nstart = '1s..3s'");
    let mut rng = Rng::new(5);
    let expected = Rng::new(5).between(1.0, 3.0);
    let start = Starts::new(scenario.tcp[0].start, 1, "tcp").draw(0, &mut rng);
    assert_eq!(start, Time::ZERO + Span::from_secs_f64(expected));
}

#[test]
fn errors_of_a_source_list_the_known_names() {
    let fault = |group: &str| {
        let error = read(group).expect_err(group);
        (error.message, error.help.unwrap_or_default().to_string(), error.line.unwrap(), error.column.unwrap())
    };
    let known = "known sources: call, cbr, exp, ftp, http, pareto, replay, telnet, video, voip, web";
    assert_eq!(
        fault("[[tcp]]\ntraffic = 'telent'"),
        ("unknown source `telent`; did you mean `telnet`?".into(), known.into(), 6, 11)
    );
    assert_eq!(
        fault("[[tcp]]\ntraffic = 'telnet:gapp=1s'"),
        ("telnet: unknown parameter `gapp`; did you mean `gap`?".into(), "known parameters: gap, size".into(), 6, 11)
    );
    assert_eq!(message("[[udp]]\ntraffic = 'web'"), "web: this source works over tcp only");
    assert_eq!(message("[[tcp]]\ntraffic = 'voip'"), "voip: this source works over udp only");
    assert_eq!(message("[[udp]]\ntraffic = 'pareto'"), "pareto: a `rate` above 0 is missing");
    assert_eq!(
        message("[[udp]]\ncc = 'nada'\ntraffic = 'voip'"),
        "`udp[0].traffic`: with `cc = \"nada\"` the source is a video call: `call`, with settings or without"
    );
    assert_eq!(
        message("[[udp]]\ncc = 'tfrc'\ntraffic = 'voip'"),
        "`udp[0].traffic`: with `cc = \"tfrc\"` flows always have more to send, and take no source"
    );
    assert_eq!(message("[[udp]]"), "`rate` is missing: [[udp]] needs it");
    assert_eq!(
        message("[[udp]]\nrate = '0bit/s'\ntraffic = 'cbr'"),
        "`udp[0].rate`: must be more than 0bit/s and at most 100Gbit/s, not 0bit/s"
    );
    assert_eq!(
        message("[[tcp]]\ntraffic = 'ftp:size=pareto(1KB)'"),
        "ftp: `size` is \"pareto(1KB)\", expected pareto(MEAN,SHAPE), or endless"
    );
    assert_eq!(message("[[tcp]]\ntraffic = { transfer = '5s' }"), "`tcp[0].traffic`: the source has no `name`");
    assert_eq!(
        message("[[tcp]]\ntraffic = 5"),
        "`tcp[0].traffic`: expected a source, such as \"telnet:gap=exp(1s)\" or { name = \"telnet\", gap = \"exp(1s)\" }, found integer `5`"
    );
}

#[test]
fn errors_of_a_start_say_what_is_wrong() {
    assert_eq!(
        message("[[tcp]]\nstart = { load = 0.8 }"),
        "`tcp[0].start`: a load needs a source whose flows end and have a mean size, such as \
         `ftp:size=pareto2(100KB,1.2)` or `web:pages=5`; `ftp` has none"
    );
    let form = "`tcp[0].start`: a table has `flows` and `every` (and `within`), or `load`, or `rate`";
    for bad in
        ["{}", "{ load = 0.8, rate = 5 }", "{ flows = 5 }", "{ every = '5s' }", "{ flows = 5, every = '5s', rate = 1 }"]
    {
        assert_eq!(message(&format!("[[tcp]]\nstart = {bad}")), form, "{bad}");
    }
    assert_eq!(
        message("[[tcp]]\nstart = { rate = 0 }"),
        "`tcp[0].start.rate`: must be more than 0 and at most 1000000, not 0"
    );
    assert_eq!(
        message("[[tcp]]\ntraffic = 'ftp:size=1KB'\nstart = { load = 101 }"),
        "`tcp[0].start.load`: must be more than 0 and at most 100, not 101"
    );
    assert_eq!(
        message("[[tcp]]\ntraffic = 'ftp:size=1B'\nstart = { load = 1 }"),
        "`tcp[0].start`: brings 1216667 flows a second; the limit is 1000000"
    );
    assert_eq!(
        message("[[tcp]]\nstart = { rate = 100000 }"),
        "`tcp[0].start`: brings more than 1000000 flows, the limit of a scenario"
    );
    assert_eq!(
        message("[[tcp]]\nstart = { flows = 5, every = '0s' }"),
        "`tcp[0].start.every`: must be more than 0s and at most 86400s, not 0s"
    );
    assert_eq!(
        message("[[tcp]]\nstart = { flows = 5, every = '5s', within = '6s' }"),
        "`tcp[0].start.within`: must be at most 5s, not 6s"
    );
    let error = read("[[tcp]]\nstart = { flow = 5 }").unwrap_err();
    assert_eq!(error.message, "unknown key `flow` in [tcp.start]; did you mean `flows`?");
}

#[test]
fn a_file_to_replay_is_kept_and_brings_its_flows() {
    let scenario = scenario("[[udp]]\ntraffic = 'replay:file=traces/two.csv'");
    let group = &scenario.udp[0];
    assert_eq!((group.flows, group.traffic.to_string()), (2, "replay:file=inputs/two.csv".to_string()));
    assert_eq!(scenario.inputs.iter().map(|(name, _)| name).collect::<Vec<_>>(), ["two.csv"]);
    let mut first = group.source.start(0);
    let sizes: Vec<_> = std::iter::from_fn(|| first.next(&mut Rng::new(1))).map(|write| write.data).collect();
    assert_eq!(sizes, [WriteAmount::Bytes(1000), WriteAmount::Bytes(3000)]);
    // The file determines the mean size of its flows, and with it the arrival rate for a load.
    let loaded = "[[udp]]\nflows = 1\ntraffic = 'replay:file=traces/two.csv'\nstart = { load = 0.5 }";
    assert_eq!(self::scenario(loaded).udp[0].flows, 1);
}

#[test]
fn errors_of_a_replayed_file_say_what_is_wrong() {
    let replay = |file: &str| message(&format!("[[udp]]\ntraffic = {{ name = 'replay', file = '{file}' }}"));
    assert_eq!(replay("none.csv"), "`udp[0].traffic`: cannot read \"none.csv\": there is no such file");
    assert_eq!(replay("bad.csv"), "replay: bad.csv: line 2: times must not decrease");
    assert_eq!(replay("cut.pcap"), "replay: cut.pcap: the capture is cut off before its first packet ends");
    assert_eq!(
        message("[[udp]]\nflows = 3\ntraffic = 'replay:file=traces/two.csv'"),
        "`udp[0].flows`: 3 is more than the file's 2"
    );
}
