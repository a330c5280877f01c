//! Reads a packet of a script: `P. 1:1001(1000) ack 1 win 257 <sack 2001:3001,nop,nop>`.

/// A TCP segment as a script writes it. Sequence numbers count bytes; the handshake has number 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Packet {
    /// The ECN field, if the script gives it: `ect0`, `ect1`, `ect01`, `ce` or `noecn`.
    pub ecn: Option<String>,
    /// Flags as the script writes them: `S`, `F`, `R`, `P`, `.` (ACK), `E` (ECN echo), `W` (CWR), `A` (AE).
    pub flags: String,
    pub start: u64,
    pub end: u64,
    pub ack: Option<u64>,
    pub window: Option<u64>,
    pub options: Options,
}

/// The TCP options that matter to a sender.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    pub mss: Option<u32>,
    pub window_scale: Option<u32>,
    pub sack_permitted: bool,
    pub timestamps: bool,
    /// Selective acknowledgements, as pairs of byte numbers.
    pub sack: Vec<(u64, u64)>,
}

impl Packet {
    pub fn has(&self, flag: char) -> bool {
        self.flags.contains(flag)
    }

    /// Bytes of data.
    pub fn len(&self) -> u64 {
        self.end - self.start
    }
}

const ECN: [&str; 5] = ["ect0", "ect1", "ect01", "ce", "noecn"];

/// Reads a packet, after its direction.
pub fn parse(text: &str) -> Result<Packet, String> {
    let unknown = || format!("`{}` is no TCP packet that the reader knows", text.trim());
    let (head, options) = match text.split_once('<') {
        Some((head, options)) => (head, options.trim().strip_suffix('>').ok_or_else(unknown)?),
        None => (text, ""),
    };
    let mut packet = Packet { options: parse_options(options)?, ..Packet::default() };
    let mut words = head.split_whitespace().peekable();
    if let Some(ecn) = words.next_if(|word| word.starts_with('[')) {
        let ecn = ecn.trim_matches(['[', ']']);
        packet.ecn = Some(ECN.contains(&ecn).then(|| ecn.into()).ok_or_else(unknown)?);
    }
    let flags = words.next().filter(|flags| flags.chars().all(|c| "SFRP.EWA".contains(c))).ok_or_else(unknown)?;
    packet.flags = flags.into();
    (packet.start, packet.end) = words.next().and_then(sequence).ok_or_else(unknown)?;
    while let Some(word) = words.next() {
        let mut number = || words.next().and_then(|number| number.parse().ok()).ok_or_else(unknown);
        match word {
            "ack" => packet.ack = Some(number()?),
            "win" => packet.window = Some(number()?),
            _ => return Err(unknown()),
        }
    }
    Ok(packet)
}

/// `1:1001(1000)`: first byte, the byte after the last, and their number.
fn sequence(text: &str) -> Option<(u64, u64)> {
    let (range, length) = text.strip_suffix(')')?.split_once('(')?;
    let (start, end) = pair(range)?;
    (end.checked_sub(start)? == length.parse::<u64>().ok()?).then_some((start, end))
}

fn pair(text: &str) -> Option<(u64, u64)> {
    let (start, end) = text.split_once(':')?;
    Some((start.parse().ok()?, end.parse().ok()?))
}

/// Reads the options between `<` and `>`; `...` stands for any.
fn parse_options(text: &str) -> Result<Options, String> {
    let mut options = Options::default();
    for option in text.split(',').map(str::trim).filter(|option| !option.is_empty()) {
        let unknown = || format!("`{option}` is no TCP option that the reader knows");
        let mut words = option.split_whitespace();
        let number = |words: &mut std::str::SplitWhitespace<'_>| {
            words.next().and_then(|number| number.parse().ok()).ok_or_else(unknown)
        };
        match words.next().unwrap_or_default() {
            "nop" | "eol" | "..." => {}
            "mss" => options.mss = Some(number(&mut words)?),
            "wscale" => options.window_scale = Some(number(&mut words)?),
            "sackOK" => options.sack_permitted = true,
            "TS" => options.timestamps = true,
            "sack" => options.sack = words.map(|block| pair(block).ok_or_else(unknown)).collect::<Result<_, _>>()?,
            _ => return Err(unknown()),
        }
    }
    Ok(options)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_packet_has_flags_numbers_and_options() {
        let packet = parse("[noecn] E. 1:1(0) ack 1001 win 320 <sack 2001:3001 4001:5001,nop,nop>").unwrap();
        let options = Options { sack: vec![(2001, 3001), (4001, 5001)], ..Options::default() };
        let (ecn, flags) = (Some("noecn".into()), "E.".into());
        let expected = Packet { ecn, flags, start: 1, end: 1, ack: Some(1001), window: Some(320), options };
        assert_eq!(packet, expected);
    }

    #[test]
    fn a_handshake_has_the_options_of_the_connection() {
        let options = parse("S 0:0(0) win 32792 <mss 1000,sackOK,TS val 100 ecr 0,nop,wscale 7>").unwrap().options;
        let expected =
            Options { mss: Some(1000), window_scale: Some(7), sack_permitted: true, timestamps: true, sack: vec![] };
        assert_eq!(options, expected);
        assert_eq!(parse("S. 0:0(0) ack 1 <...>").unwrap().options, Options::default());
    }

    #[test]
    fn anything_else_is_an_error() {
        for text in ["", "P", "X 1:2(1)", "P 1:2(2)", "P 2:1(1)", "P 1:2(1) urg 1", "P 1:2(1) <md5>", "[ect7] P 1:2(1)"]
        {
            assert!(parse(text).is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn sequence_numbers_and_blocks_keep_their_values(
            start in 0u64..1000, length in 0u64..1000, ack in 0u64..1000, blocks in prop::collection::vec((0u64..99, 0u64..99), 1..4)
        ) {
            let sack: Vec<String> = blocks.iter().map(|(start, end)| format!("{start}:{end}")).collect();
            let end = start + length;
            let packet = parse(&format!("P. {start}:{end}({length}) ack {ack} <nop,nop,sack {}>", sack.join(" "))).unwrap();
            prop_assert_eq!((packet.start, packet.len(), packet.ack, packet.options.sack), (start, length, Some(ack), blocks));
        }
    }
}
