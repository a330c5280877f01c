//! Commands of tc (iproute2), in the calling thread's network namespace.

use std::io::{self, ErrorKind};
use std::process::Command;

use aqm::Rate;

use crate::error::{LiveError, LiveResult};
use crate::io::request::Request;

/// Handle of the qdisc, `2:`. Its parent `htb` is `1:`.
pub(super) const QDISC_HANDLE: u32 = 2 << 16;

/// Least burst of `htb` in bytes: a full packet. Otherwise `htb` cannot make up for a late timer.
const LEAST_BURST: u64 = 1600;

/// Gives `device` an `htb` of `rate` with the qdisc `words` as its child. `htb` takes a packet from its child at the
/// start of the packet's time, as Headgate's link does (docs/disciplines/droptail.md).
pub(super) fn set_up(device: &str, rate: Rate, words: &[String]) -> LiveResult<()> {
    let kind = words.first().map_or("", String::as_str);
    let rate = rate.as_bits();
    // A millisecond of the rate, for timers on a busy machine.
    let burst = (rate / 8 / 1000).max(LEAST_BURST);
    run("htb", &format!("qdisc add dev {device} root handle 1: htb default 1"), &[])?;
    let class = format!("classid 1:1 htb rate {rate}bit burst {burst}b cburst {burst}b quantum 1500");
    run("htb", &format!("class add dev {device} parent 1: {class}"), &[])?;
    run(kind, &format!("qdisc add dev {device} parent 1:1 handle 2:"), words).map(drop)
}

/// The statistics of the qdiscs of `device`, as JSON.
pub(super) fn statistics(device: &str) -> LiveResult<String> {
    run("", &format!("-s -j qdisc show dev {device}"), &[])
}

/// Runs `tc COMMAND WORDS` for a qdisc of `kind` and returns its output.
fn run(kind: &str, command: &str, words: &[String]) -> LiveResult<String> {
    let arguments = command.split_whitespace().chain(words.iter().map(String::as_str));
    let ran = Request::Tc.ask(|| Command::new("tc").args(arguments).output()).map_err(|error| match error.kind() {
        ErrorKind::NotFound => LiveError::Unsupported("there is no tc: install iproute2".to_string()),
        _ => error,
    })?;
    if ran.status.success() {
        return Ok(String::from_utf8_lossy(&ran.stdout).into_owned());
    }
    Err(explain(kind, words, String::from_utf8_lossy(&ran.stderr).trim()))
}

/// The error that tc printed, and the remedy.
fn explain(kind: &str, words: &[String], printed: &str) -> LiveError {
    // The kernel's answer with extended acknowledgements, and without.
    let unknown = ["Specified qdisc kind is unknown", "RTNETLINK answers: No such file or directory"];
    if unknown.iter().any(|answer| printed.contains(answer)) {
        return LiveError::Unsupported(missing(kind));
    }
    if printed.contains("Operation not permitted") {
        return Request::Tc.refused_about(&words.join(" "), io::Error::from_raw_os_error(libc::EPERM));
    }
    if printed.starts_with("Unknown qdisc") {
        return LiveError::Unsupported(format!("this tc has no {kind}: install an iproute2 as new as the kernel"));
    }
    LiveError::Refused(format!("tc refuses `{}`: {printed}", words.join(" ")))
}

fn missing(kind: &str) -> String {
    let (module, option) = match kind {
        "pfifo" | "bfifo" => ("sch_fifo".to_string(), "CONFIG_NET_SCH_FIFO".to_string()),
        _ => (format!("sch_{kind}"), format!("CONFIG_NET_SCH_{}", kind.to_uppercase())),
    };
    format!("this kernel has no {module}: load it (modprobe {module}), or use a kernel with {option}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_qdisc_is_named_with_its_module_and_its_option() {
        // As printed by iproute2 6.1 on Linux 6.18, and by a kernel without extended acknowledgements.
        for printed in ["Error: Specified qdisc kind is unknown.", "RTNETLINK answers: No such file or directory"] {
            let error = explain("fq_pie", &[], printed);
            let expected = "this kernel has no sch_fq_pie: load it (modprobe sch_fq_pie), or use a kernel with \
                            CONFIG_NET_SCH_FQ_PIE";
            assert_eq!((error.kind(), error.to_string().as_str()), (ErrorKind::Unsupported, expected));
        }
    }

    #[test]
    fn other_errors_of_tc_are_told_apart() {
        let old = explain("dualpi2", &[], "Unknown qdisc \"dualpi2\", hence option \"limit\" is unparsable");
        assert_eq!(old.to_string(), "this tc has no dualpi2: install an iproute2 as new as the kernel");
        let words = ["pfifo", "limit", "-3"].map(str::to_string);
        let forbidden = explain("pfifo", &words, "RTNETLINK answers: Operation not permitted").to_string();
        assert!(
            forbidden.starts_with("cannot run tc (pfifo limit -3): operation not permitted (EPERM). "),
            "{forbidden}"
        );
        let wrong = explain("pfifo", &words, "pfifo: Illegal value for \"limit\": \"-3\"");
        assert_eq!(wrong.kind(), ErrorKind::InvalidInput);
        assert!(wrong.to_string().starts_with("tc refuses `pfifo limit -3`: pfifo: Illegal value"), "{wrong}");
    }
}
