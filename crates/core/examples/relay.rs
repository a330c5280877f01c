//! A UDP relay with an AQM: datagrams to LISTEN go on to TARGET at RATE, and replies go back without delay.
//!
//! ```text
//! cargo run --example relay -- 127.0.0.1:5000 192.0.2.1:5000 10Mbit/s fq_codel
//! ```
//!
//! Each client is a flow of its own. The relay sleeps until a datagram arrives or the queue may send the next one.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use aqm::{FlowId, LinkInfo, Packet, Port, Rate, Rng, Time, registry};
use tokio::net::UdpSocket;
use tokio::time::{Instant, sleep_until};

/// Headers of IPv4 and UDP, which take time on the link too.
const HEADERS: usize = 28;

/// A datagram, and the socket that stands for its client at the target.
struct Datagram {
    client: Arc<UdpSocket>,
    bytes: Vec<u8>,
}

struct Relay {
    socket: Arc<UdpSocket>,
    target: SocketAddr,
    rate: Rate,
    port: Port<Datagram>,
    clients: BTreeMap<SocketAddr, Arc<UdpSocket>>,
    start: Instant,
    /// The end of the datagram that is being sent.
    free_at: Time,
}

impl Relay {
    async fn new(listen: SocketAddr, target: SocketAddr, rate: Rate, discipline: &str) -> io::Result<Relay> {
        let queue = registry::boxed(discipline, &[], &LinkInfo::new(rate, 1500, 7)).map_err(io::Error::other)?;
        let socket = Arc::new(UdpSocket::bind(listen).await?);
        let port = Port::new(queue, Rng::new(1));
        Ok(Relay { socket, target, rate, port, clients: BTreeMap::new(), start: Instant::now(), free_at: Time::ZERO })
    }

    fn now(&self) -> Time {
        Time::from_nanos(u64::try_from(self.start.elapsed().as_nanos()).unwrap_or(u64::MAX))
    }

    async fn run(mut self) -> io::Result<()> {
        let mut buffer = vec![0; 65_536];
        loop {
            let wake = self.port.ready_at(self.now()).map(|ready| ready.max(self.free_at));
            let at = self.start + std::time::Duration::from_nanos(wake.unwrap_or(Time::ZERO).as_nanos());
            tokio::select! {
                received = self.socket.recv_from(&mut buffer) => {
                    let (length, from) = received?;
                    self.accept(&buffer[..length], from).await?;
                }
                () = sleep_until(at), if wake.is_some() => self.send(),
            }
        }
    }

    async fn accept(&mut self, bytes: &[u8], from: SocketAddr) -> io::Result<()> {
        if !self.clients.contains_key(&from) {
            let client = Arc::new(UdpSocket::bind("0.0.0.0:0").await?);
            client.connect(self.target).await?;
            tokio::spawn(reply(client.clone(), self.socket.clone(), from));
            self.clients.insert(from, client);
        }
        let mut hasher = DefaultHasher::new();
        from.hash(&mut hasher);
        let size = u32::try_from(bytes.len() + HEADERS).unwrap_or(u32::MAX);
        let datagram = Datagram { client: self.clients[&from].clone(), bytes: bytes.to_vec() };
        let now = self.now();
        self.port.enqueue(Packet::new(FlowId(hasher.finish()), size, datagram), now, &mut ());
        Ok(())
    }

    fn send(&mut self) {
        let now = self.now();
        if let Some(packet) = self.port.dequeue(now, &mut ()) {
            // From the end of the datagram before, since timers of whole milliseconds call late.
            self.free_at = self.free_at.max(packet.arrived) + self.rate.transmit(packet.bytes);
            // A full socket buffer or an unreachable target loses the datagram, as networks do.
            let _ = packet.handle.client.try_send(&packet.handle.bytes);
        }
    }
}

/// Sends the target's replies back to the client.
async fn reply(client: Arc<UdpSocket>, socket: Arc<UdpSocket>, to: SocketAddr) {
    let mut buffer = vec![0; 65_536];
    while let Ok(length) = client.recv(&mut buffer).await {
        let _ = socket.send_to(&buffer[..length], to).await;
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [listen, target, rate, discipline] = words.as_slice() else {
        return Err("usage: relay LISTEN TARGET RATE DISCIPLINE".into());
    };
    let (listen, target, rate) = (listen.parse()?, target.parse()?, Rate::parse(rate)?);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async { Relay::new(listen, target, rate, discipline).await?.run().await })?;
    Ok(())
}
