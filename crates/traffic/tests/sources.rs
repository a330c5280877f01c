//! Each source follows its model.

use aqm::{Rate, Span};
use headgate_traffic::{SenderInfo, Traffic, WriteAmount, WriteStart, registry::ENTRIES};

use crate::support::{
    DRAWS, TCP, UDP, assert_fits, assert_near, exponential, gap, group_source, lomax, pareto, source, until, writes,
};

fn bytes(data: WriteAmount) -> f64 {
    match data {
        WriteAmount::Bytes(bytes) => bytes as f64,
        other => panic!("expected bytes, found {other:?}"),
    }
}

fn seconds(data: WriteAmount) -> f64 {
    match data {
        WriteAmount::Duration(span) => span.as_secs_f64(),
        other => panic!("expected a time, found {other:?}"),
    }
}

#[test]
fn ftp_never_ends_unless_it_has_a_size() {
    let all = writes(&mut source("ftp", &TCP), 5);
    assert_eq!(all.iter().map(|write| write.data).collect::<Vec<_>>(), [WriteAmount::Endless]);
    let all = writes(&mut source("ftp:size=100KB,count=3,wait=2s", &TCP), 5);
    assert_eq!(
        all.iter().map(|write| write.after).collect::<Vec<_>>(),
        [
            WriteStart::AfterStart(Span::ZERO),
            WriteStart::AfterDelivery(Span::from_secs(2)),
            WriteStart::AfterDelivery(Span::from_secs(2)),
        ]
    );
    assert!(
        all.iter().all(|write| write.data == WriteAmount::Bytes(100_000) && write.new_connection && write.transfer)
    );
    assert_eq!(group_source("ftp:size=pareto(100KB,1.2),count=3", &TCP).mean_bytes(), Some(300_000.0));
    assert_eq!(group_source("ftp", &TCP).mean_bytes(), None);
}

#[test]
fn the_long_run_rate_of_a_source_is_its_models_mean() {
    let asks = |text: &str, sender: &SenderInfo| group_source(text, sender).nominal_rate();
    let near = |text: &str, sender: &SenderInfo, expected: f64| {
        assert_near(text, asks(text, sender).unwrap(), expected, 1e-9 * expected);
    };
    assert_eq!(asks("ftp", &TCP), None);
    assert_eq!(asks("http:preset=faba", &TCP), None, "it takes what TCP takes while it is on");
    // 172 bytes every 20 ms during talkspurts, 1.004 s of 2.591 s.
    near("voip", &UDP, 172.0 / 0.02 * 1.004 / (1.004 + 1.587));
    // 960 of 1000 bytes are data. The rate of a schedule is its highest.
    near("cbr:rate=250kbit/s", &UDP, 31_250.0 * 0.96);
    near("cbr:preset=red_pd", &UDP, 500_000.0 * 0.96);
    near("telnet:gap=exp(5ms),size=100B", &UDP, 20_000.0);
    near("exp:rate=1Mbit/s,on=300ms,off=700ms", &UDP, 37_500.0 * 0.96);
    near("web:objects=3,size=10KB,think=4800ms,gap=100ms", &TCP, 6_000.0);
    near("http:transfer=20KB,wait=4s", &TCP, 5_000.0);
    near("video:ladder=[500kbit/s; 2Mbit/s]", &TCP, 250_000.0);
}

#[test]
fn fabas_http_clients_make_twenty_transfers_in_100_seconds() {
    // FABA, section 5.5: "each connection being 5 s long", 20 transfers in a simulation of 100 s.
    let all = until(&mut source("http:preset=faba", &TCP), 100.0);
    assert_eq!(all.len(), 20);
    assert!(
        all.iter().all(|(_, write)| write.data == WriteAmount::Duration(Span::from_secs(5)) && write.new_connection)
    );
}

#[test]
fn http_transfers_by_size_wait_for_each_other() {
    let all = writes(&mut source("http:transfer=exp(20KB),wait=exp(1s),persistent=on", &TCP), DRAWS);
    assert_eq!((all[0].after, all[0].new_connection), (WriteStart::AfterStart(Span::ZERO), true));
    assert!(all[1..].iter().all(|write| matches!(write.after, WriteStart::AfterDelivery(_)) && !write.new_connection));
    assert_fits("pauses", all[1..].iter().map(gap).collect(), exponential(1.0));
    // Sizes are rounded up to whole bytes, which adds half a byte on average: too little for the test to detect.
    assert_fits("sizes", all.iter().map(|write| bytes(write.data)).collect(), exponential(20_000.0));
}

#[test]
fn a_web_session_has_its_pages_and_ends() {
    let all = writes(&mut source("web:pages=40,objects=3,persistent=on", &TCP), 1000);
    assert_eq!(all.len(), 120);
    assert_eq!(all.iter().filter(|write| write.new_connection).count(), 40);
    assert_eq!(writes(&mut source("web", &TCP), 1000).len(), 250, "ns-2's large example");
    assert_eq!(group_source("web:pages=40,objects=3", &TCP).mean_bytes(), Some(40.0 * 3.0 * 12_000.0));
    assert_eq!(group_source("web:pages=auto", &TCP).mean_bytes(), None);
}

#[test]
fn web_objects_are_pareto_of_the_second_kind_and_reading_is_exponential() {
    let all = writes(&mut source("web:pages=auto", &TCP), DRAWS);
    assert_fits("objects", all.iter().map(|write| bytes(write.data)).collect(), lomax(12_000.0, 1.2));
    assert_fits("reading", all[1..].iter().map(gap).collect(), exponential(15.0));
}

#[test]
fn telnet_packets_come_at_exponential_gaps() {
    let all = writes(&mut source("telnet:preset=faba", &TCP), DRAWS);
    assert_fits("gaps", all.iter().map(gap).collect(), exponential(0.005));
    assert!(all.iter().all(|write| write.data == WriteAmount::Bytes(960)), "full packets");
    // FABA, section 5.5: 512 bytes every 5 ms are about 100 kB/s.
    let rate = 512.0 * all.len() as f64 / all.iter().map(gap).sum::<f64>();
    assert_near("bytes a second", rate, 102_400.0, 102_400.0 / (DRAWS as f64).sqrt());
}

#[test]
fn on_and_off_times_over_tcp_follow_their_distributions() {
    let all = writes(&mut source("pareto:preset=blue", &TCP), DRAWS);
    assert_eq!(gap(&all[0]), 0.0);
    assert_fits("on", all.iter().map(|write| seconds(write.data)).collect(), pareto(2.0, 1.5));
    let off = all.windows(2).map(|pair| gap(&pair[1]) - seconds(pair[0].data));
    assert_fits("off", off.collect(), pareto(3.0, 1.5));
    let all = writes(&mut source("exp:on=2s,off=3s,begin=off", &TCP), DRAWS);
    assert_fits("on", all.iter().map(|write| seconds(write.data)).collect(), exponential(2.0));
    let off = std::iter::once(gap(&all[0])).chain(all.windows(2).map(|pair| gap(&pair[1]) - seconds(pair[0].data)));
    assert_fits("off", off.collect(), exponential(3.0));
}

/// The standard deviation of the share f = on / (on + off) over `n` cycles, for times with these means and standard
/// deviations. To first order it is that of ((1 - f) on - f off) / mean of a cycle.
fn deviation_of_share(on: (f64, f64), off: (f64, f64), n: f64) -> f64 {
    let share = on.0 / (on.0 + off.0);
    ((1.0 - share) * on.1).hypot(share * off.1) / (on.0 + off.0) / n.sqrt()
}

#[test]
fn pareto_on_off_averages_its_nominal_rate() {
    // Shape 2.5: the variance is mean^2 / (shape (shape - 2)) = 0.8 mean^2, and averages settle.
    let cycles = 4000.0;
    let length = cycles * 5.0;
    let all = until(&mut source("pareto:on=2s,off=3s,shape=2.5", &UDP), length);
    let share = all.len() as f64 * 0.008 / length;
    let spread = 0.8_f64.sqrt();
    // Rounding a burst to whole packets of 8 ms changes the mean of 2 s by less than half a packet.
    let tolerance = deviation_of_share((2.0, 2.0 * spread), (3.0, 3.0 * spread), cycles) + 0.4 * 0.004 / 2.0 / 5.0;
    assert_near("share of the peak rate", share, 0.4, tolerance);
}

#[test]
fn ns2s_on_off_source_sends_packets_of_210_bytes_at_64_kbit() {
    let sender = SenderInfo::udp(210, 210, Rate::from_bits(1));
    let all = writes(&mut source("pareto:preset=ns2", &sender), DRAWS);
    // ns-2.35, tools/pareto.cc: a packet every 26.25 ms within a burst.
    let within = all.iter().filter(|write| gap(write) == 0.026_25).count();
    // Bursts have 19.05 packets on average. All other gaps begin a burst.
    assert!(within > DRAWS * 8 / 10 && within < DRAWS, "{within}");
    assert!(gap(&all[0]) > 0.16, "the first period is off, for at least 500 ms / 3");
    assert!(all.iter().all(|write| write.data == WriteAmount::Bytes(210)));
}

#[test]
fn a_call_has_the_share_of_talkspurts_of_p59() {
    let sender = SenderInfo::udp(200, 172, Rate::from_bits(1));
    let (cycles, frame) = (4000.0, 0.02);
    let length = cycles * 2.591;
    let all = until(&mut source("voip", &sender), length);
    assert!(all.iter().all(|(_, write)| write.data == WriteAmount::Bytes(160 + 12)), "20 ms of G.711, and RTP");
    // Frames of a talkspurt, rounded to the nearest number and at least one: P(round(T / frame) >= k) is
    // exp(-(k - 1/2) frame / mean).
    let r: f64 = frame / 1.004;
    let frames = (-r / 2.0).exp() / (1.0 - (-r).exp()) + (1.0 - (-r / 2.0).exp());
    let expected = frames * frame / (frames * frame + 1.587);
    let found = all.len() as f64 * frame / length;
    assert_near("share of talk", found, expected, deviation_of_share((1.004, 1.004), (1.587, 1.587), cycles));
    let all = writes(&mut source("voip:codec=g729", &sender), 10);
    assert!(all.iter().all(|write| write.data == WriteAmount::Bytes(20 + 12)));
}

#[test]
fn a_constant_rate_is_constant_and_jitter_spreads_its_gaps_evenly() {
    let all = writes(&mut source("cbr", &UDP), 1000);
    assert_eq!(gap(&all[0]), 0.0);
    assert!(all[1..].iter().all(|write| write.after == WriteStart::AfterStart(Span::from_millis(8))));
    let jittered = SenderInfo { jitter: 0.25, ..UDP };
    let gaps = writes(&mut source("cbr", &jittered), DRAWS)[1..].iter().map(gap).collect();
    assert_fits("gaps", gaps, |gap| (gap - 0.006) / 0.004);
}

#[test]
fn a_rate_of_the_payload_leaves_headers_out() {
    // 1000 bytes with 28 of headers at 1 Mb/s: 8 ms with headers, 972 bytes without are 7.776 ms.
    let sender = SenderInfo { payload: 972, ..UDP };
    for (rated, nanos) in [(1000, 8_000_000), (972, 7_776_000)] {
        let sender = SenderInfo { rated, ..sender };
        let all = writes(&mut source("cbr", &sender), 100);
        assert!(all.iter().all(|write| write.data == WriteAmount::Bytes(972)));
        assert!(all[1..].iter().all(|write| write.after == WriteStart::AfterStart(Span::from_nanos(nanos))));
        for burst in ["exp:rate=1Mbit/s,on=1000s", "pareto:rate=1Mbit/s,on=1000s"] {
            let all = writes(&mut source(burst, &sender), 3);
            assert_eq!(all[1].after, WriteStart::AfterStart(Span::from_nanos(nanos)), "{burst}");
        }
    }
}

#[test]
fn red_pds_figure_12_changes_its_rate_twice() {
    let all = until(&mut source("cbr:preset=red_pd", &UDP), 300.0);
    let between = |from: f64, to: f64| all.iter().filter(|(at, _)| (from..to).contains(at)).count();
    // 1000 bytes take 32 ms at 0.25 Mb/s and 2 ms at 4 Mb/s.
    assert_eq!(between(0.0, 49.9), 1560);
    assert_eq!(between(51.001, 61.001), 5000);
    assert_eq!(between(251.001, 259.001), 250);
}

#[test]
fn a_schedule_can_pause_and_end() {
    let steps = "cbr:rate=1Mbit/s,schedule=[1s 0bit/s; 2s 2Mbit/s; 3s 0bit/s]";
    let all = until(&mut source(steps, &UDP), 100.0);
    let between = |from: f64, to: f64| all.iter().filter(|(at, _)| (from..to).contains(at)).count();
    // A gap that has begun when the rate becomes 0 still ends: the packet at 1 s, or at 3 s, is sent.
    assert_eq!((between(0.0, 1.0), between(1.001, 2.0), between(2.0, 3.0)), (125, 0, 250));
    assert!(all.iter().all(|(at, _)| *at < 3.001));
    assert!(writes(&mut source("cbr:schedule=[0s 0bit/s]", &UDP), 10).is_empty());
    let first = until(&mut source("cbr:schedule=[0s 0bit/s; 5s 1Mbit/s]", &UDP), 6.0);
    assert_eq!(first[0].0, 5.0);
}

#[test]
fn a_player_takes_the_highest_rate_below_its_share_of_the_throughput() {
    let throughput = 2_000_000.0;
    let mut player = source("video", &TCP);
    let mut rng = crate::support::rng("player");
    let (mut played, mut last) = (0.0, 0.0);
    for number in 0..100 {
        let write = player.next(&mut rng).unwrap();
        let took = bytes(write.data) * 8.0 / throughput;
        player.done(Span::from_secs_f64(took));
        let rate = bytes(write.data) * 8.0 / 4.0;
        // 0.85 x 2 Mb/s lies between 1.05 and 1.75 Mb/s. The first segment has the lowest rate.
        assert_eq!(rate, if number == 0 { 235_000.0 } else { 1_050_000.0 });
        played += gap(&write) + took;
        last = gap(&write) + took;
    }
    // In the long run a segment is fetched in its play time, with a full buffer.
    assert!((last - 4.0).abs() < 1e-6, "{last}");
    assert!((100.0 * 4.0 - played - 30.0).abs() < 4.0, "30 s are in the buffer: {played}");
}

#[test]
fn a_film_ends_and_a_player_on_a_slow_network_takes_the_lowest_rate() {
    let mut player = source("video:length=10s,segment=4s,ladder=[500kbit/s; 2Mbit/s]", &TCP);
    let mut rng = crate::support::rng("player");
    for _ in 0..3 {
        assert_eq!(bytes(player.next(&mut rng).unwrap().data), 250_000.0);
        player.done(Span::from_secs(40));
    }
    assert_eq!(player.next(&mut rng), None);
}

#[test]
fn sources_of_the_other_protocol_and_contradictory_settings_are_refused() {
    let error = |text: &str, sender: &SenderInfo| {
        let traffic: Traffic = text.parse().unwrap();
        traffic.build(sender, &mut |name| Err(format!("there is no {name}"))).err().unwrap().to_string()
    };
    assert_eq!(error("web", &UDP), "this source works over tcp only");
    assert_eq!(error("voip", &TCP), "this source works over udp only");
    assert_eq!(error("ftp:count=3", &TCP), "a `count` of files needs a `size`: the first would never end");
    assert_eq!(error("cbr", &TCP), "a `rate` above 0 is missing");
    assert_eq!(error("http:transfer=0s", &TCP), "a `transfer` must last for more than 0s");
    assert_eq!(error("video:buffer=2s", &TCP), "the `buffer` must hold a `segment`");
    assert_eq!(error("replay", &UDP), "`file` is missing: name a capture or a CSV file");
    assert_eq!(error("replay:file=a.csv", &UDP), "there is no a.csv");
    assert_eq!(
        error("telent", &TCP),
        "unknown source `telent`; did you mean `telnet`? (known: call, cbr, exp, ftp, http, pareto, replay, telnet, video, voip, web)"
    );
    assert!(error("telnet:gapp=1s", &TCP).starts_with("unknown parameter `gapp`; did you mean `gap`?"));
}

#[test]
fn every_source_has_a_file_and_its_presets_can_be_built() {
    assert!(ENTRIES.windows(2).all(|pair| pair[0].name < pair[1].name), "sorted by name");
    for entry in ENTRIES {
        let file = format!("{}/src/sources/{}.rs", env!("CARGO_MANIFEST_DIR"), entry.name);
        assert!(std::path::Path::new(&file).is_file(), "{file} is missing");
        assert!(entry.presets()[0].settings.is_empty(), "{}: the first preset has the defaults", entry.name);
        for preset in entry.presets() {
            let resolved = entry.resolve(&[("preset", preset.name)]).unwrap();
            let settings: Vec<(&str, &str)> = resolved.iter().map(|(name, value)| (*name, value.as_str())).collect();
            assert_eq!(entry.resolve(&settings).unwrap(), resolved, "{} reads what it shows", entry.name);
        }
    }
}

#[test]
fn a_flow_takes_less_than_a_cache_line() {
    assert!(size_of::<headgate_traffic::FlowSource>() <= 48, "{}", size_of::<headgate_traffic::FlowSource>());
}
