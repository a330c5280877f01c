//! Writes captures in pcapng format (draft-ietf-opsawg-pcapng), little-endian, into a buffer.
//!
//! Three kinds of block suffice: section header, interface description, packet. The crate `pcap-file` 3.0.0-rc1 is not
//! used because it allocates a list of options and a joined comment for each packet.

/// A buffer of encoded blocks.
#[derive(Debug, Default)]
pub struct Blocks {
    bytes: Vec<u8>,
}

/// One packet of an interface.
#[derive(Clone, Copy, Debug)]
pub struct Captured<'a> {
    /// The interface's number, in order of description.
    pub interface: u32,
    /// Time in nanoseconds.
    pub nanos: u64,
    /// Its length on the wire, in bytes.
    pub length: u32,
    /// Its first bytes, as many as are kept.
    pub bytes: &'a [u8],
    /// A comment, in parts.
    pub comment: &'a [&'a str],
}

/// The first header of an interface's packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkType {
    /// An Ethernet header (`LINKTYPE_ETHERNET`).
    Ethernet = 1,
    /// An IP header; the version is in its first four bits (`LINKTYPE_RAW`).
    Raw = 101,
}

// Block types and option codes, sections 4.1 to 4.3 of the draft.
const SECTION: u32 = 0x0a0d_0d0a;
const INTERFACE: u32 = 1;
const PACKET: u32 = 6;
const COMMENT: u16 = 1;
const IF_NAME: u16 = 2;
const IF_DESCRIPTION: u16 = 3;
const SECTION_APPLICATION: u16 = 4;
const IF_TSRESOL: u16 = 9;

const APPLICATION: &str = concat!("Headgate ", env!("CARGO_PKG_VERSION"));
/// Timestamp resolution: 10^-9 s.
const NANOSECONDS: u8 = 9;

impl Blocks {
    /// Writes a file's section header.
    pub fn section(&mut self) {
        self.block(SECTION, |block| {
            block.u32(0x1a2b_3c4d);
            block.u16(1);
            block.u16(0);
            block.bytes.extend_from_slice(&u64::MAX.to_le_bytes()); // the section's length is not specified
            block.option(SECTION_APPLICATION, &[APPLICATION]);
            block.end_of_options();
        });
    }

    /// Describes the next interface. At most `kept` bytes of each packet are kept; 0 keeps all.
    pub fn interface(&mut self, name: &str, description: &str, link: LinkType, kept: u32) {
        self.block(INTERFACE, |block| {
            block.u16(link as u16);
            block.u16(0);
            block.u32(kept);
            block.option(IF_NAME, &[name]);
            block.option(IF_DESCRIPTION, &[description]);
            block.option(IF_TSRESOL, &[[NANOSECONDS]]);
            block.end_of_options();
        });
    }

    /// Writes a packet.
    pub fn packet(&mut self, packet: &Captured<'_>) {
        self.block(PACKET, |block| {
            block.u32(packet.interface);
            block.u32((packet.nanos >> 32) as u32);
            block.u32(packet.nanos as u32);
            block.u32(packet.bytes.len() as u32);
            block.u32(packet.length);
            block.bytes.extend_from_slice(packet.bytes);
            block.pad();
            if !packet.comment.is_empty() {
                block.option(COMMENT, packet.comment);
                block.end_of_options();
            }
        });
    }

    /// The bytes written since the last [`clear`](Blocks::clear).
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Discards the bytes but keeps the capacity.
    pub fn clear(&mut self) {
        self.bytes.clear();
    }

    /// Writes a block: type, length, `body`, and the length again.
    fn block(&mut self, kind: u32, body: impl FnOnce(&mut Blocks)) {
        let start = self.bytes.len();
        self.u32(kind);
        self.u32(0);
        body(self);
        let length = (self.bytes.len() - start + 4) as u32;
        self.bytes[start + 4..start + 8].copy_from_slice(&length.to_le_bytes());
        self.u32(length);
    }

    fn option<V: AsRef<[u8]>>(&mut self, code: u16, parts: &[V]) {
        self.u16(code);
        self.u16(parts.iter().map(|part| part.as_ref().len()).sum::<usize>() as u16);
        parts.iter().for_each(|part| self.bytes.extend_from_slice(part.as_ref()));
        self.pad();
    }

    fn end_of_options(&mut self) {
        self.u32(0);
    }

    /// Pads to a multiple of four bytes, as the format requires.
    fn pad(&mut self) {
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
    }

    fn u16(&mut self, value: u16) {
        self.bytes.extend_from_slice(&value.to_le_bytes());
    }

    fn u32(&mut self, value: u32) {
        self.bytes.extend_from_slice(&value.to_le_bytes());
    }
}
