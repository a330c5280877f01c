//! The sources, one per file.

mod call;
mod cbr;
mod exp;
mod ftp;
mod http;
mod pareto;
mod replay;
mod telnet;
mod video;
mod voip;
mod web;

pub use call::{Call, CallConfig};
pub use cbr::{Cbr, CbrConfig};
pub use exp::{Exp, ExpConfig};
pub use ftp::{Ftp, FtpConfig};
pub use http::{Http, HttpConfig, TransferExtent};
pub use pareto::{Pareto, ParetoConfig};
pub use replay::{Replay, ReplayConfig};
pub use telnet::{Telnet, TelnetConfig};
pub use video::{Video, VideoConfig};
pub use voip::{Codec, Voip, VoipConfig};
pub use web::{Web, WebConfig};
