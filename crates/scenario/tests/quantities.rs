//! Every number and quantity of a scenario file with invalid values: each error names key, location and expected value.

use std::ops::Bound;

use headgate_scenario::{Changes, FOREIGN_NAMES, Key, Scenario, ScenarioError, keys};

/// The kind of value of a key.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Time,
    Rate,
    Limit,
    Size,
    /// A number.
    Real,
    /// A count of packets, flows or the like.
    Count,
}
use Kind::{Count, Limit, Rate, Real, Size, Time};

/// Values that no key accepts.
#[rustfmt::skip]
const QUANTITIES: &[&str] = &[
    "0", "5", "0.5", "-1", "-0.5", "inf", "-inf", "nan", "true", r#""""#, r#""5""#, r#""-5""#, r#""much""#, r#""nan""#, r#""5 parsecs""#,
];

/// Values that no key accepts once a unit is appended.
const AMOUNTS: &[&str] = &["-1", "inf", "nan", "1e300", "9999999999999999999999"];

impl Kind {
    /// A unit, and a value beyond every key's range.
    fn unit(self) -> (&'static str, &'static str) {
        match self {
            Time => ("ms", "99999h"),
            Rate => ("Mbit/s", "400Gbit/s"),
            Limit => ("p", "99GB"),
            Size => ("B", "70KB"),
            Real | Count => ("", ""),
        }
    }

    /// Values that no key of this kind accepts.
    fn bad(self) -> Vec<String> {
        let numbers: &[&str] = match self {
            Real => &["-0.5", "inf", "-inf", "nan", "1e300", "-1e300", "true", r#""0.5""#],
            Count => &["-1", "0.5", "inf", "nan", "99999999999999", "9223372036854775808", "true", r#""many""#],
            _ => {
                let (unit, beyond) = self.unit();
                let united = AMOUNTS.iter().map(|amount| format!("\"{amount}{unit}\""));
                let bare = QUANTITIES.iter().map(|text| (*text).to_string());
                return bare.chain(united).chain([format!("\"{beyond}\"")]).collect();
            }
        };
        numbers.iter().map(|text| (*text).to_string()).collect()
    }

    fn zero(self) -> String {
        let unit = self.unit().0;
        if unit.is_empty() { "0".to_string() } else { format!("\"0{unit}\"") }
    }
}

/// A key: path, kind, whether zero is valid, section, and line, in which `@` is the value.
type Row = (&'static str, Kind, bool, &'static str, &'static str);

const OK: bool = true;
const MORE: bool = false;

#[rustfmt::skip]
const KEYS: &[Row] = &[
    ("duration", Time, MORE, "", "duration = @"),
    ("warmup", Time, OK, "", "warmup = @"),
    ("seeds", Count, MORE, "", "seeds = @"),
    ("link.rate", Rate, MORE, "[link]", "rate = @"),
    ("link.delay", Time, OK, "[link]", "delay = @"),
    ("link.limit", Limit, MORE, "[link]", "limit = @"),
    ("link.loss", Real, OK, "[link]", "loss = @"),
    ("link.loss_burst", Real, MORE, "[link]", "loss = 0.01\nloss_burst = @"),
    ("link.loss_burst_max", Count, MORE, "[link]", "loss = 0.01\nloss_burst_max = @"),
    ("link.duplicate", Real, OK, "[link]", "duplicate = @"),
    ("link.slot", Time, MORE, "[link]", "slot = @"),
    ("link.aggregate", Time, MORE, "[link]", "aggregate = @"),
    ("link.aggregate_gap", Time, OK, "[link]", "aggregate = \"1ms\"\naggregate_gap = @"),
    ("link.jitter", Time, OK, "[link]", "jitter = @"),
    ("link.reorder", Real, OK, "[link]", "reorder_by = \"1ms\"\nreorder = @"),
    ("link.reorder_by", Time, OK, "[link]", "reorder_by = @"),
    ("link.schedule_period", Time, MORE, "[link]", "schedule = [{ at = \"1us\", rate = \"1Mbit/s\" }]\nschedule_period = @"),
    ("link.schedule[0].at", Time, MORE, "[link]", "schedule = [{ at = @, rate = \"1Mbit/s\" }]"),
    ("link.schedule[0].rate", Rate, OK, "[link]", "schedule = [{ at = \"1s\", rate = @ }]"),
    ("link.reverse.rate", Rate, MORE, "[link.reverse]", "rate = @"),
    ("link.reverse.limit", Limit, MORE, "[link.reverse]", "limit = @"),
    ("link.reverse.loss", Real, OK, "[link.reverse]", "loss = @"),
    ("link.reverse.loss_burst", Real, MORE, "[link.reverse]", "loss = 0.01\nloss_burst = @"),
    ("link.reverse.jitter", Time, OK, "[link.reverse]", "jitter = @"),
    ("link.reverse.reorder", Real, OK, "[link.reverse]", "reorder_by = \"1ms\"\nreorder = @"),
    ("link.reverse.reorder_by", Time, OK, "[link.reverse]", "reorder_by = @"),
    ("tcp[0].flows", Count, MORE, "[[tcp]]", "flows = @"),
    ("tcp[0].packet", Size, MORE, "[[tcp]]", "packet = @"),
    ("tcp[0].header", Size, OK, "[[tcp]]", "header = @"),
    ("tcp[0].ack", Size, MORE, "[[tcp]]", "ack = @"),
    ("tcp[0].access.rate", Rate, MORE, "[[tcp]]", "access = { rate = @, delay = \"1ms\" }"),
    ("tcp[0].access.delay", Time, OK, "[[tcp]]", "access = { rate = \"1Gbit/s\", delay = @ }"),
    ("tcp[0].sender.rate", Rate, MORE, "[[tcp]]", "sender = { rate = @, delay = \"1ms\" }"),
    ("tcp[0].receiver.delay", Time, OK, "[[tcp]]", "receiver = { rate = \"1Gbit/s\", delay = @ }"),
    ("tcp[0].rtt", Time, MORE, "[[tcp]]", "rtt = @"),
    ("tcp[0].start", Time, OK, "[[tcp]]", "start = @"),
    ("tcp[0].start.every", Time, MORE, "[[tcp]]", "flows = 2\nstart = { flows = 1, every = @ }"),
    ("tcp[0].start.within", Time, OK, "[[tcp]]", "flows = 2\nstart = { flows = 1, every = \"1s\", within = @ }"),
    ("tcp[0].start.flows", Count, MORE, "[[tcp]]", "flows = 2\nstart = { flows = @, every = \"1s\" }"),
    ("tcp[0].start.load", Real, MORE, "[[tcp]]", "traffic = \"http\"\nstart = { load = @ }"),
    ("tcp[0].start.rate", Real, MORE, "[[tcp]]", "traffic = \"http\"\nstart = { rate = @ }"),
    ("tcp[0].stop", Time, MORE, "[[tcp]]", "stop = @"),
    ("tcp[0].window", Count, MORE, "[[tcp]]", "window = @"),
    ("tcp[0].send_buffer", Limit, MORE, "[[tcp]]", "send_buffer = @"),
    ("tcp[0].initial_window", Count, MORE, "[[tcp]]", "initial_window = @"),
    ("tcp[0].initial_ssthresh", Count, MORE, "[[tcp]]", "initial_ssthresh = @"),
    ("tcp[0].delayed_ack", Time, MORE, "[[tcp]]", "delayed_ack = @"),
    ("tcp[0].initial_rto", Time, MORE, "[[tcp]]", "initial_rto = @"),
    ("tcp[0].min_rto", Time, MORE, "[[tcp]]", "min_rto = @"),
    ("tcp[0].max_rto", Time, MORE, "[[tcp]]", "max_rto = @"),
    ("tcp[0].rto_granularity", Time, MORE, "[[tcp]]", "rto_granularity = @"),
    ("tcp[0].target", Time, MORE, "[[tcp]]", "cc = \"ledbat\"\ntarget = @"),
    ("tcp[0].gain", Real, MORE, "[[tcp]]", "cc = \"ledbat\"\ngain = @"),
    ("udp[0].rate", Rate, MORE, "[[udp]]", "rate = @"),
    ("udp[0].min_rate", Rate, MORE, "[[udp]]", "cc = \"gcc\"\nmin_rate = @"),
    ("udp[0].report_interval", Time, MORE, "[[udp]]", "cc = \"gcc\"\nreport_interval = @"),
    ("udp[0].flows", Count, MORE, "[[udp]]", "flows = @"),
    ("udp[0].packet", Size, MORE, "[[udp]]", "packet = @"),
    ("udp[0].header", Size, OK, "[[udp]]", "header = @"),
    ("udp[0].feedback", Size, MORE, "[[udp]]", "cc = \"tfrc\"\nrate = \"1Mbit/s\"\nfeedback = @"),
    ("udp[0].jitter", Real, OK, "[[udp]]", "jitter = @"),
    ("class[0].weight", Real, MORE, "[[class]]", "weight = @"),
    ("record.interval", Time, MORE, "[record]", "interval = @"),
    ("record.flow_interval", Time, OK, "[record]", "flows = [\"tcp\"]\nflow_interval = @"),
];

/// Every key of these tables and of those inside them, with the table's name.
fn all_keys(table: &'static str, keys: Vec<Key>) -> Vec<(&'static str, Key)> {
    let inside = |key: Key| {
        let more = key.form.keys.map(|keys| all_keys(key.name, keys())).unwrap_or_default();
        [(table, key)].into_iter().chain(more)
    };
    keys.into_iter().flat_map(inside).collect()
}

/// [`KEYS`], and a row for each other setting of a group.
fn rows() -> Vec<Row> {
    let leaked = |text: String| -> &'static str { text.leak() };
    let settings = all_keys("", keys()).into_iter().filter_map(|(table, key)| {
        let kind = match key.form.words.trim_end_matches(", or off") {
            "whole number" => Count,
            "number" => Real,
            "time" => Time,
            "rate" => Rate,
            "size" => Size,
            _ => return None,
        };
        let (path, heading) = (format!("{table}[0].{}", key.name), format!("[[{table}]]"));
        let zero =
            matches!(&key.least, Bound::Included(least) if least.starts_with('0')) || key.least == Bound::Unbounded;
        let row = (leaked(path), kind, zero, leaked(heading), leaked(format!("{} = @", key.name)));
        (key.is_setting && matches!(table, "tcp" | "udp") && !KEYS.iter().any(|known| known.0 == row.0)).then_some(row)
    });
    KEYS.iter().copied().chain(settings).collect()
}

/// Keys whose times may lie after the end of the run, where they have no effect.
const LATE: [&str; 2] = ["link.schedule[0].at", "tcp[0].stop"];

/// The lines of every scenario, by section. A row's line replaces a line with the same key.
const BASE: &[(&str, &[&str])] = &[
    ("", &["name = \"base\"", "duration = \"30s\"", "qdiscs = [\"droptail\"]"]),
    ("[link]", &["rate = \"10Mbit/s\"", "delay = \"10ms\"", "limit = \"100p\""]),
    ("[link.reverse]", &[]),
    ("[[tcp]]", &[]),
    ("[[udp]]", &["rate = \"1Mbit/s\""]),
    ("[[class]]", &["name = \"all\""]),
    ("[record]", &[]),
];

/// The scenario with this line in this section, and the position of `value`.
fn text(section: &str, line: &str, value: &str) -> (String, (u32, u32)) {
    let own: Vec<&str> = line.lines().map(|line| line.split(" =").next().unwrap()).collect();
    let mut text = String::new();
    for (heading, lines) in BASE {
        text += &format!("{heading}\n");
        let here = *heading == section;
        let given = |line: &&&str| here && own.contains(&line.split(" =").next().unwrap());
        lines.iter().filter(|line| !given(line)).for_each(|line| text += &format!("{line}\n"));
        text += if here { line } else { "" };
        text += "\n";
    }
    let at = text.find('@').unwrap();
    let before = &text[..at];
    let column = before.len() - before.rfind('\n').unwrap();
    let place = (u32::try_from(before.matches('\n').count() + 1).unwrap(), u32::try_from(column).unwrap());
    (text.replace('@', value), place)
}

fn read(text: &str) -> Result<Scenario, ScenarioError> {
    Scenario::read(text, "base.toml", &Changes::default())
}

/// Checks that `value` is refused with a message that begins with its key. Returns a description of the failure, if
/// any.
fn wrongly_read(row: &Row, value: &str) -> Option<String> {
    let &(path, _, _, section, line) = row;
    let (text, place) = text(section, line, value);
    let Err(error) = read(&text) else { return Some(format!("{path} = {value} is taken")) };
    let right = (&*error.key, error.line.zip(error.column)) == (path, Some(place))
        && error.message.starts_with(&format!("`{path}`: "))
        && error.message.len() < 300;
    (!right).then(|| format!("{path} = {value}: {error}"))
}

#[test]
fn invalid_values_are_refused_with_key_position_and_expected_value() {
    let late = |row: &Row, value: &str| LATE.contains(&row.0) && value.contains(row.1.unit().1);
    let rows = rows();
    let refused = |row: &Row| {
        let bad = row.1.bad().into_iter().filter(|value| !late(row, value));
        bad.filter_map(|value| wrongly_read(row, &value)).collect::<Vec<String>>()
    };
    assert_eq!(rows.iter().flat_map(refused).collect::<Vec<String>>().join("\n"), "");
}

#[test]
fn zero_is_valid_only_where_it_has_a_meaning() {
    for row in &rows() {
        let &(path, kind, zero, section, line) = row;
        match wrongly_read(row, &kind.zero()) {
            None => assert_eq!(zero, MORE, "{path} = 0 is refused"),
            Some(wrong) => assert!(zero == OK && read(&text(section, line, &kind.zero()).0).is_ok(), "{wrong}"),
        }
    }
}

#[test]
fn a_bare_number_gets_the_advice_of_a_valid_unit_and_zero_gets_none() {
    for (path, kind, _, section, line) in rows().iter().filter(|(_, kind, ..)| !matches!(kind, Real | Count)) {
        let message = |value: &str| read(&text(section, line, value).0).unwrap_err().message;
        let seconds = ["duration", "warmup", "start", "stop", "every", "within", "at", "schedule_period"];
        let key = path.rsplit('.').next().unwrap();
        let advice = format!("\"5{}\"", if seconds.contains(&key) { "s" } else { kind.unit().0 });
        assert_eq!(message("5"), format!("`{path}`: 5 has no unit: write {advice}"));
        let again = read(&text(section, line, &advice).0).err();
        assert!(again.is_none_or(|error| !error.message.contains("unit")), "{path} = {advice}");
        let zero = message("0");
        assert!(zero.contains("expected") && zero.ends_with(", found 0"), "{zero}");
    }
}

#[test]
fn a_quantity_in_another_spelling_is_refused_with_the_correct_spelling() {
    let head = "name = 'u'\nqdiscs = ['droptail']\ntcp = [{}]\n";
    let message = |duration: &str, rate: &str, limit: &str| {
        let link = format!("link = {{ delay = '0s', rate = '{rate}', limit = '{limit}' }}\n");
        read(&format!("{head}duration = '{duration}'\n{link}")).unwrap_err().message
    };
    let check = |message: String, found: &str, meant: &str| {
        assert!(message.contains(&format!("found {found:?}; did you mean {meant:?}?")), "{message}");
    };
    for (found, meant) in [
        ("10 Mbit", "10Mbit/s"),
        ("1gbps", "1Gbit/s"),
        ("64 kbps", "64kbit/s"),
        ("2Mb/s", "2Mbit/s"),
        ("1e3k", "1e3kbit/s"),
    ] {
        check(message("9s", found, "9p"), found, meant);
    }
    for (found, meant) in [("10kb", "10KB"), ("50 packets", "50p"), ("1mbyte", "1MB"), ("10k", "10KB")] {
        check(message("9s", "1Mbit/s", found), found, meant);
    }
    for (found, meant) in [("9 seconds", "9s"), ("200msec", "200ms"), ("2m", "2min"), ("1 hour", "1h"), ("5µs", "5us")]
    {
        check(message(found, "1Mbit/s", "9p"), found, meant);
    }
    for bytes in ["10MBps", "10MB/s", "10KB"] {
        assert!(message("9s", bytes, "9p").ends_with(&format!("found {bytes:?}")), "bytes are not bits");
    }
}

#[test]
fn a_foreign_name_is_never_a_key_of_the_same_table() {
    let mut tables = vec![keys()];
    let mut tried = 0;
    while let Some(table) = tables.pop() {
        for (foreign, name) in FOREIGN_NAMES.iter().filter(|(_, name)| table.iter().any(|key| key.name == *name)) {
            tried += 1;
            assert!(table.iter().all(|key| key.name != *foreign), "`{foreign}` is a key beside `{name}`");
        }
        tables.extend(table.iter().filter_map(|key| key.form.keys).map(|inner| inner()));
    }
    assert!(tried >= FOREIGN_NAMES.len(), "every foreign name stands for a key of some table");
}

#[test]
fn every_key_with_a_number_or_a_quantity_is_tested_here() {
    let counted = ["whole number", "number", "time", "rate", "size", "packets or bytes", "a count"];
    for (_, key) in all_keys("", keys()) {
        if counted.iter().any(|counted| key.form.words.starts_with(counted)) {
            let name = key.name;
            let tried = |row: &Row| row.0 == name || row.0.ends_with(&format!(".{name}"));
            assert!(rows().iter().any(tried), "`{name}` is not tried");
        }
    }
}
