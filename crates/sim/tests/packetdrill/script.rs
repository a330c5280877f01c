//! Reads a packetdrill script into statements.
//!
//! A statement is an optional time and an action: a packet, a system call, shell commands in backticks, or assertions
//! between `%{` and `}%`. Commands and assertions may span lines. An unknown statement is an error with its file and
//! line. Without that rule, a misread line would count as a check that passed.
//!
//! | time | meaning |
//! | --- | --- |
//! | `0.2`, `+.1` | seconds after the start, or after the previous statement |
//! | `+.3~+.31` | a range in which the packet leaves |
//! | `+0...0.01` | begin and end of a call that blocks; only the begin counts here |

use std::fmt;

use aqm::Span;

use crate::packetdrill::assertion::{self, Instruction};
use crate::packetdrill::packet::{self, Packet};

/// One script.
#[derive(Clone, Debug, PartialEq)]
pub struct Script {
    /// Options on lines of their own, without the dashes.
    pub options: Vec<(String, String)>,
    pub statements: Vec<Statement>,
}

/// One statement and the line on which it begins.
#[derive(Clone, Debug, PartialEq)]
pub struct Statement {
    pub line: usize,
    pub time: Option<EventTime>,
    pub action: Action,
}

/// When a statement happens.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EventTime {
    /// After the previous statement, not after the start of the script.
    pub relative: bool,
    pub first: Span,
    /// The end of a range of times; `first` without a range.
    pub last: Span,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    Commands(Vec<String>),
    Code(Vec<Instruction>),
    Inbound(Packet),
    Outbound(Packet),
    /// A system call: its name, its arguments and its result.
    Call {
        name: String,
        arguments: Vec<String>,
        result: i64,
    },
}

/// A statement that the reader does not know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptError {
    pub file: String,
    pub line: usize,
    pub message: String,
}

impl fmt::Display for ScriptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.file, self.line, self.message)
    }
}

/// Reads the text of the script `file`.
pub fn parse(file: &str, text: &str) -> Result<Script, ScriptError> {
    let mut script = Script { options: Vec::new(), statements: Vec::new() };
    let mut lines = text.lines().enumerate().map(|(i, line)| (i + 1, line));
    while let Some((line, text)) = lines.next() {
        let error = |message| ScriptError { file: file.into(), line, message };
        let text = without_comment(text).trim();
        if text.is_empty() {
            continue;
        }
        if let Some(options) = text.strip_prefix("--") {
            for option in options.split(" --") {
                let (name, value) = option.trim().split_once('=').unwrap_or((option.trim(), ""));
                script.options.push((name.into(), value.into()));
            }
            continue;
        }
        let (time, rest) = time(text).map_err(error)?;
        let mut block = |open: &str, close: &str| -> Result<String, ScriptError> {
            let mut body = rest[open.len()..].to_string();
            while !body.contains(close) {
                let (_, next) = lines.next().ok_or_else(|| error(format!("`{open}` without `{close}`")))?;
                body.push('\n');
                body.push_str(next);
            }
            let (body, after) = body.split_once(close).expect("it contains it");
            match without_comment(after).trim() {
                "" => Ok(body.to_string()),
                after => Err(error(format!("`{after}` after `{close}`"))),
            }
        };
        let action = if rest.starts_with('`') {
            Action::Commands(commands(&block("`", "`")?))
        } else if rest.starts_with("%{") {
            Action::Code(assertion::parse(&block("%{", "}%")?).map_err(error)?)
        } else if let Some(packet) = rest.strip_prefix('<') {
            Action::Inbound(packet::parse(packet).map_err(error)?)
        } else if let Some(packet) = rest.strip_prefix('>') {
            Action::Outbound(packet::parse(packet).map_err(error)?)
        } else {
            call(rest).map_err(error)?
        };
        script.statements.push(Statement { line, time, action });
    }
    Ok(script)
}

/// A line up to its comment.
fn without_comment(line: &str) -> &str {
    line.split("//").next().unwrap_or("")
}

/// The commands of a shell text: continued lines are joined, comments and redirections left out.
pub fn commands(text: &str) -> Vec<String> {
    let joined = text.replace("\\\n", " ");
    let plain = joined.lines().map(|line| line.split('#').next().unwrap_or("").trim());
    plain.filter(|line| !line.is_empty()).map(String::from).collect()
}

/// The time in front of a statement, and the rest of the line.
fn time(text: &str) -> Result<(Option<EventTime>, &str), String> {
    if !text.starts_with(|c: char| c.is_ascii_digit() || c == '+' || c == '.') {
        return Ok((None, text));
    }
    let end = text.find(|c: char| !(c.is_ascii_digit() || "+.~ ".contains(c))).unwrap_or(text.len());
    let (time, rest) = text.split_at(end);
    let time = time.trim();
    let (begin, last) = match (time.split_once("..."), time.split_once('~')) {
        // The end of a blocking call says nothing about the sender.
        (Some((begin, _)), _) => (begin.trim(), begin.trim()),
        (None, Some((begin, last))) => (begin.trim(), last.trim()),
        (None, None) => (time, time),
    };
    let relative = begin.starts_with('+');
    let (first, last) = (seconds(begin)?, seconds(last)?);
    Ok((Some(EventTime { relative, first, last }), rest))
}

fn seconds(text: &str) -> Result<Span, String> {
    let number = text.trim_start_matches('+');
    let number = number.parse::<f64>().map_err(|_| format!("`{text}` is no time in seconds"))?;
    // Scripts count whole microseconds.
    Ok(Span::from_micros((number * 1e6).round() as u64))
}

/// A system call: `write(4, ..., 1000) = 1000`.
fn call(text: &str) -> Result<Action, String> {
    let unknown = || format!("`{text}` is no packet, call, command or assertion that the reader knows");
    let (name, rest) = text.split_once('(').ok_or_else(unknown)?;
    let (arguments, result) = rest.rsplit_once(") = ").ok_or_else(unknown)?;
    let result = result.trim().parse().map_err(|_| unknown())?;
    let arguments = arguments.split(',').map(|argument| argument.trim().to_string()).collect();
    let known = !name.is_empty() && name.chars().all(|c| c.is_ascii_lowercase() || c == '_');
    known.then(|| Action::Call { name: name.into(), arguments, result }).ok_or_else(unknown)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn statements(text: &str) -> Vec<Statement> {
        parse("a.pkt", text).unwrap_or_else(|error| panic!("{error}")).statements
    }

    fn after(first: u64, last: u64) -> Option<EventTime> {
        Some(EventTime { relative: true, first: Span::from_micros(first), last: Span::from_micros(last) })
    }

    #[test]
    fn times_are_absolute_relative_or_ranges() {
        let text =
            "0 close(3) = 0\n+.1 close(3) = 0\n+.3~+.31 close(3) = 0\n+.002 ... 0.004 close(3) = 0\nclose(3) = 0";
        let times: Vec<_> = statements(text).iter().map(|statement| statement.time).collect();
        let start = Some(EventTime { relative: false, first: Span::ZERO, last: Span::ZERO });
        assert_eq!(times, [start, after(100_000, 100_000), after(300_000, 310_000), after(2000, 2000), None]);
    }

    #[test]
    fn commands_and_code_span_lines_and_comments_are_left_out() {
        let text = "// a comment\n`../common/defaults.sh\nsysctl -q a=1 \\\n  b=2 # why`\n\n+.1 %{\nassert a == 1 # not\n}% // so";
        let read = statements(text);
        assert_eq!(read.iter().map(|statement| statement.line).collect::<Vec<_>>(), [2, 6]);
        let lines = ["../common/defaults.sh", "sysctl -q a=1    b=2"].map(String::from).to_vec();
        assert_eq!(read[0].action, Action::Commands(lines));
        assert!(matches!(&read[1].action, Action::Code(code) if code.len() == 1));
    }

    #[test]
    fn a_call_has_a_name_arguments_and_a_result() {
        let arguments = ["4", "...", "1000"].map(String::from).to_vec();
        assert_eq!(
            statements("+0 write(4, ..., 1000) = 1000")[0].action,
            Action::Call { name: "write".into(), arguments, result: 1000 }
        );
    }

    #[test]
    fn an_unknown_statement_is_an_error_with_file_and_line() {
        for text in ["+0 shutdown", "+0 write(4) = many", "+0 ? 1:1(0)", "+x close(3) = 0", "`ls", "%{ if x: y }%"] {
            let error = parse("dir/a.pkt", &format!("\n{text}\n")).unwrap_err().to_string();
            assert!(error.starts_with("dir/a.pkt:2: "), "{error}");
        }
    }

    proptest! {
        #[test]
        fn no_text_makes_the_reader_panic(text in "([-+<>%`{}()a-z0-9 .,:=\\n]|sack|ack |win |assert )*") {
            let _ = parse("a.pkt", &text);
        }

        #[test]
        fn times_keep_their_microseconds(micros in 0u64..10_000_000) {
            let text = format!("+{}.{:06} close(3) = 0", micros / 1_000_000, micros % 1_000_000);
            prop_assert_eq!(statements(&text)[0].time, after(micros, micros));
        }
    }
}
