//! Scenario errors: message and location, shown as compilers do, with the line and a caret.

use std::fmt;
use std::ops::Range;

use crate::changes::Change;
use crate::quoted::{cut, escaped, printable};

/// Why a scenario could not be read. [`Display`](fmt::Display) gives the whole message.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ScenarioError {
    /// What is wrong, in one sentence. It quotes at most 80 characters of the input at a time.
    pub message: String,
    /// Help, such as the known keys; printed beside the caret.
    pub help: Option<Box<str>>,
    /// The path of the key, such as `tcp[0].access.rate`; empty if no single key is at fault.
    pub key: Box<str>,
    /// The file's name as the caller gave it.
    pub file: String,
    /// The line in the file, from 1; `None` if a change is at fault.
    pub line: Option<u32>,
    /// The column in characters, from 1; `None` if a change is at fault.
    pub column: Option<u32>,
    /// The change at fault, as in `--set link.rate=5`.
    pub change: Option<Box<str>>,
    excerpt: Box<Excerpt>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Excerpt {
    text: String,
    indent: usize,
    carets: usize,
}

impl fmt::Display for ScenarioError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "error: {}", self.message)?;
        let (Some(line), Some(column)) = (self.line, self.column) else {
            write!(f, " --> {}", cut(self.change.as_deref().unwrap_or_default()))?;
            return self.help.as_ref().map_or(Ok(()), |help| write!(f, "\n  = {help}"));
        };
        let number = line.to_string();
        let gutter = " ".repeat(number.len());
        let Excerpt { text, indent, carets } = &*self.excerpt;
        writeln!(f, "{gutter}--> {}:{line}:{column}", escaped(&self.file))?;
        writeln!(f, "{gutter} |")?;
        writeln!(f, "{}", format!("{number} | {text}").trim_end())?;
        write!(f, "{gutter} | {}{}", " ".repeat(*indent), "^".repeat(*carets))?;
        self.help.as_ref().map_or(Ok(()), |help| write!(f, " {help}"))
    }
}

impl std::error::Error for ScenarioError {}

/// A fault found while reading, located by offsets into the sources.
#[derive(Debug)]
pub(crate) struct Fault {
    pub(crate) span: Range<usize>,
    pub(crate) message: String,
    pub(crate) help: Option<String>,
    /// Whether the message begins with the key at `span`.
    pub(crate) names_key: bool,
    /// The key that is missing in the section at `span`.
    pub(crate) missing: Option<String>,
    /// The known keys, if the key at `span` is unknown.
    pub(crate) known: Vec<&'static str>,
}

impl Fault {
    /// A fault in the value at `span`; the message begins with its key.
    pub(crate) fn value(span: Range<usize>, message: impl Into<String>) -> Fault {
        Fault { names_key: true, ..Fault::plain(span, message) }
    }

    /// A fault whose message is complete without the key.
    pub(crate) fn plain(span: Range<usize>, message: impl Into<String>) -> Fault {
        Fault { span, message: message.into(), help: None, names_key: false, missing: None, known: Vec::new() }
    }

    /// The unknown `key` at `span`. Its message is completed later because it depends on the path.
    pub(crate) fn unknown(span: Range<usize>, key: &str, known: Vec<&'static str>) -> Fault {
        Fault { known, ..Fault::plain(span, key) }
    }

    /// The section at `span` lacks `key`; `section` is the heading as written.
    pub(crate) fn missing(span: Range<usize>, section: &str, key: &str) -> Fault {
        let section = if section.is_empty() { "the scenario" } else { section };
        let message = format!("`{key}` is missing: {section} needs it");
        Fault { missing: Some(key.to_string()), ..Fault::plain(span, message) }
    }

    pub(crate) fn help(mut self, help: impl Into<String>) -> Fault {
        self.help = Some(help.into());
        self
    }
}

/// Keys of times that are usually given in seconds. Messages suggest milliseconds for all other times.
const IN_SECONDS: [&str; 8] = ["duration", "warmup", "start", "stop", "every", "within", "at", "schedule_period"];

/// The message about `key`; a suggested unit of milliseconds becomes seconds for a key of [`IN_SECONDS`].
fn in_unit_of(key: &str, message: String) -> String {
    let name = key.rsplit('.').next().and_then(|last| last.split('[').next()).unwrap_or(key);
    match message.strip_suffix("ms\"") {
        Some(rest) if message.contains("has no unit") && IN_SECONDS.contains(&name) => format!("{rest}s\""),
        _ => message,
    }
}

/// A scenario's sources: the file's text, followed by one offset for each change.
pub(crate) struct SourceText<'a> {
    pub(crate) file: &'a str,
    pub(crate) text: &'a str,
    pub(crate) changes: Vec<Change>,
}

impl SourceText<'_> {
    pub(crate) fn change_span(&self, index: usize) -> Range<usize> {
        self.text.len() + 1 + index..self.text.len() + 2 + index
    }

    pub(crate) fn explain(&self, fault: Fault, key: String) -> ScenarioError {
        let named = fault.names_key && !key.is_empty();
        let message = if named { format!("`{key}`: {}", in_unit_of(&key, fault.message)) } else { fault.message };
        let change = fault.span.start.checked_sub(self.text.len() + 1).and_then(|index| self.changes.get(index));
        let (line, column, excerpt) = self.locate(fault.span);
        let in_file = change.is_none();
        ScenarioError {
            message: printable(&message),
            help: fault.help.map(|help| printable(&help).into()),
            key: key.into(),
            file: self.file.to_string(),
            line: in_file.then_some(line),
            column: in_file.then_some(column),
            change: change.map(|change| change.to_string().into()),
            excerpt: Box::new(excerpt),
        }
    }

    /// Line, column and excerpt of an offset. Offsets past the end belong to the last line.
    pub(crate) fn locate(&self, span: Range<usize>) -> (u32, u32, Excerpt) {
        let text = self.text.strip_suffix('\n').unwrap_or(self.text);
        let boundary = |at: usize| (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        let (start, end) = (boundary(span.start), boundary(span.end.max(span.start)));
        let line_start = text[..start].rfind('\n').map_or(0, |newline| newline + 1);
        let line_end = text[start..].find('\n').map_or(text.len(), |length| start + length);
        let before = text[line_start..start].chars().count();
        let carets = text[start..end.min(line_end)].chars().count().max(1);
        let line = text[..start].matches('\n').count() + 1;
        let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        (count(line), count(before + 1), Excerpt::cut(&text[line_start..line_end], before, carets))
    }
}

impl Excerpt {
    /// Cuts long lines around the fault. Control characters become blanks so that the caret lines up.
    fn cut(line: &str, before: usize, carets: usize) -> Excerpt {
        const WIDEST: usize = 120;
        let skipped = if before + carets > WIDEST { before.saturating_sub(WIDEST / 2) } else { 0 };
        let shown = line.chars().skip(skipped).take(WIDEST);
        let text = shown.map(|c| if c.is_control() { ' ' } else { c }).collect();
        let indent = before - skipped;
        Excerpt { text, indent, carets: carets.min(WIDEST - indent.min(WIDEST - 1)) }
    }
}
