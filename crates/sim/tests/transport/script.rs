//! A queue that drops and marks the packets that a test names.

use std::cell::Cell;
use std::collections::VecDeque;
use std::rc::Rc;

use aqm::{Backlog, Cx, Discipline, Limit, LinkInfo, Packet, Qdisc, Time, Why};
use headgate_measure::{Outcome, RunObserver};
use headgate_scenario::Scenario;
use headgate_sim::{ExternalDisciplines, run_with};

/// What happens to a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    Arrives,
    Marked,
    Lost,
}

/// The fate of a packet by its number, from 0, and the time of its arrival at the compared link.
type Fates = Rc<dyn Fn(u64, Time) -> Fate>;

struct Script {
    fates: Fates,
    marked: Rc<Cell<u64>>,
}

struct Queue<T> {
    packets: VecDeque<Packet<T>>,
    arrived: u64,
    fates: Fates,
    marked: Rc<Cell<u64>>,
}

impl<T: Copy> Discipline<T> for Queue<T> {
    fn enqueue(&mut self, packet: Packet<T>, cx: &mut Cx<'_, T>) {
        let fate = (self.fates)(self.arrived, cx.now);
        self.arrived += 1;
        let kept = match fate {
            Fate::Arrives => Some(packet),
            Fate::Marked => cx.signal(packet, Why::Early, true),
            Fate::Lost => {
                cx.drop(packet, Why::Forced);
                None
            }
        };
        self.marked.set(self.marked.get() + u64::from(fate == Fate::Marked && kept.is_some()));
        self.packets.extend(kept);
    }

    fn dequeue(&mut self, _: &mut Cx<'_, T>) -> Option<Packet<T>> {
        self.packets.pop_front()
    }

    fn backlog(&self) -> Backlog {
        let bytes = self.packets.iter().map(|packet| u64::from(packet.bytes)).sum();
        Backlog { packets: self.packets.len() as u32, bytes }
    }
}

impl ExternalDisciplines for Script {
    fn boxed<T: Copy + 'static>(&self, _: &Qdisc, _: Limit, _: &LinkInfo<'_>) -> Option<Box<dyn Discipline<T>>> {
        let (fates, marked) = (self.fates.clone(), self.marked.clone());
        Some(Box::new(Queue { packets: VecDeque::new(), arrived: 0, fates, marked }))
    }

    fn table_bytes(&self, _: &Qdisc, _: Limit, _: &LinkInfo<'_>) -> Option<usize> {
        Some(0)
    }
}

/// Runs a scenario whose compared link has this fate for its packets. Also returns the number of packets marked.
pub fn run(
    scenario: &Scenario,
    fates: impl Fn(u64, Time) -> Fate + 'static,
    watch: &mut dyn RunObserver,
) -> Result<(Outcome, u64), String> {
    let script = Script { fates: Rc::new(fates), marked: Rc::default() };
    // Any name but DropTail's asks for a discipline of ours.
    let outcome = run_with(scenario, &Qdisc::named("script"), 1, watch, &script).map_err(|error| error.to_string())?;
    Ok((outcome, script.marked.get()))
}
