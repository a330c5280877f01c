//! RED-PD's identification of fast flows: successive drop lists, and the drop probabilities of monitored flows.
//!
//! [`Identification::record_arrival`] records each packet that reached the queue, with its drop or mark.
//! [`Identification::advance`] ends the lists that are due. At the end of a list, probabilities of identified flows
//! increase and those of others decrease. The duration of the next list follows from the ambient drop rate (equation
//! 3).

use super::settings::{DynamicR, RedPdConfig};
use crate::packet::FlowId;
use crate::params::BuildError;
use crate::parts::{
    DropHistory, FlowDropRecord, FlowTable, HistorySize, MonitorRules, MonitoredFlow, congestion_epoch,
};
use crate::tables::Tables;
use crate::time::{Span, Time};

/// Number of list durations kept: the longest hold of a probability, in lists.
const MAX_LISTS: usize = 64;

/// Packets or bytes that reached the output queue during a list, and how many of them were dropped or marked.
#[derive(Clone, Copy, Debug, Default)]
struct AmbientCounts {
    arrived: u64,
    signals: u64,
}

/// Durations of the last lists, the newest first.
type LastListLengths = [Span; MAX_LISTS];

/// The drop history and the monitored flows (sections 4.1 and 4.2).
pub struct Identification {
    config: RedPdConfig,
    rtt: Span,
    /// Start of the list being filled.
    started: Time,
    length: Span,
    ambient: AmbientCounts,
    lengths: LastListLengths,
    /// Drop rate of the last list, and the average over lists.
    last_rate: f64,
    drop_rate: Option<f64>,
    history: DropHistory,
    /// Flows that the last list identified.
    identified: u32,
    rules: MonitorRules,
    monitored: FlowTable<MonitoredFlow>,
}

impl Identification {
    /// Starts without monitored flows. `key` is the secret of the hash functions.
    ///
    /// # Errors
    /// [`BuildError::Memory`].
    pub fn new(config: RedPdConfig, key: u64, tables: Tables<'_>) -> Result<Identification, BuildError> {
        let RedPdConfig { lists, list_flows, counted_flows, max_monitored, .. } = config;
        let rtt = match config.dynamic_r {
            DynamicR::Off => config.target_rtt,
            _ => config.target_rtt.clamp(config.min_rtt, config.max_rtt),
        };
        let rules = config.monitor_rules();
        let mut new = Identification {
            config,
            rtt,
            started: Time::ZERO,
            length: Span::ZERO,
            ambient: AmbientCounts::default(),
            lengths: [Span::ZERO; MAX_LISTS],
            last_rate: 0.0,
            drop_rate: None,
            history: DropHistory::new(HistorySize { lists, list_flows, counted_flows }, key, tables)?,
            identified: 0,
            rules,
            monitored: FlowTable::new(max_monitored, key),
        };
        new.length = new.config.start.unwrap_or_else(|| new.length_at(0.0));
        Ok(new)
    }

    /// The monitored flows.
    pub fn monitored(&self) -> &FlowTable<MonitoredFlow> {
        &self.monitored
    }

    /// Number of flows that the last list identified, monitored or not.
    pub fn identified(&self) -> u32 {
        self.identified
    }

    /// Whether the last list identified `flow`.
    pub fn is_identified(&self, flow: FlowId) -> bool {
        self.history.record_of(flow).is_some_and(|seen| seen.lists >= self.config.min_lists)
    }

    /// The lists of drops.
    pub fn history(&self) -> &DropHistory {
        &self.history
    }

    /// The ambient drop rate at the queue, averaged over lists; 0 before the first has ended.
    pub fn drop_rate(&self) -> f64 {
        self.drop_rate.unwrap_or(0.0)
    }

    /// The target round-trip time.
    pub fn target_rtt(&self) -> Span {
        self.rtt
    }

    /// Duration of the list being filled.
    pub fn list_length(&self) -> Span {
        self.length
    }

    /// Ends the lists that are due. There may be several after a pause without arrivals.
    #[inline]
    pub fn advance(&mut self, now: Time) {
        if now - self.started >= self.length {
            self.end_due_lists(now);
        }
    }

    /// The state of `flow`, if it is monitored.
    #[inline]
    pub fn monitored_flow(&mut self, flow: FlowId) -> Option<&mut MonitoredFlow> {
        if self.monitored.is_empty() { None } else { self.monitored.get(flow) }
    }

    /// Records `units` of `flow` that reached the output queue, and whether RED dropped or marked them.
    #[inline]
    pub fn record_arrival(&mut self, flow: FlowId, units: u32, signaled: bool) {
        self.ambient.arrived = self.ambient.arrived.saturating_add(u64::from(units));
        if signaled {
            self.ambient.signals = self.ambient.signals.saturating_add(u64::from(units));
            self.history.count_drop(flow, units);
            if let Some(flow) = self.monitored_flow(flow) {
                flow.dropped(units);
            }
        }
    }

    #[cold]
    fn end_due_lists(&mut self, now: Time) {
        while now - self.started >= self.length {
            self.end_list();
            let silent = self.monitored.is_empty() && self.history.records().is_empty();
            if silent && self.length == self.length_at(0.0) {
                self.skip_silence(now);
            }
        }
    }

    /// Ends all due lists without arrivals at once. Such a list only lowers the average drop rate.
    fn skip_silence(&mut self, now: Time) {
        let lists = (now - self.started).as_nanos() / self.length.as_nanos();
        if lists == 0 {
            return;
        }
        self.started += self.length * lists;
        self.last_rate = 0.0;
        (0..lists.min(MAX_LISTS as u64)).for_each(|_| self.record_length(self.length));
        let lower = |rate| rate * libm::pow(1.0 - self.config.rate_weight, lists as f64);
        self.drop_rate = self.drop_rate.map(lower);
    }

    fn end_list(&mut self) {
        let now = self.started + self.length;
        let AmbientCounts { arrived, signals } = core::mem::take(&mut self.ambient);
        self.last_rate = if arrived == 0 { 0.0 } else { signals as f64 / arrived as f64 };
        let weight = self.config.rate_weight;
        let average = |average| weight * self.last_rate + (1.0 - weight) * average;
        let average = self.drop_rate.map_or(self.last_rate, average);
        self.drop_rate = Some(average);
        // As in ns-2, the time before the start belongs to no list.
        if self.started > Time::ZERO || self.config.start.is_none() {
            self.record_length(self.length);
        }
        self.history.end_list();
        let enough = |seen: &&FlowDropRecord| seen.lists >= self.config.min_lists;
        self.identified = self.history.records().iter().filter(enough).count() as u32;
        (0..self.monitored.len()).for_each(|position| self.monitored.at(position).1.end_list());
        if self.last_rate > self.config.min_drop_rate {
            self.increase_identified(now);
        }
        self.decrease_unlisted(now);
        if arrived > 0 {
            self.adapt();
        }
        (self.started, self.length) = (now, self.length_at(average));
    }

    fn record_length(&mut self, length: Span) {
        self.lengths.rotate_right(1);
        self.lengths[0] = length;
    }

    /// Figure 8: increases the probability of identified flows with drops in the last list.
    fn increase_identified(&mut self, now: Time) {
        let usable = self.last_rate.min(self.drop_rate());
        let (rules, length, hold) = (self.rules, self.length, self.hold_time(self.config.increase_hold));
        let first_max = self.config.first_max.min(self.config.first_rates * usable);
        let identified = |seen: &&FlowDropRecord| seen.lists >= self.config.min_lists;
        let all = self.history.records().iter().filter(identified);
        let (flows, drops) = all.fold((0.0, 0.0), |(flows, drops), seen| (flows + 1.0, drops + seen.drops as f64));
        for seen in self.history.records().iter().filter(identified).filter(|seen| seen.recent) {
            let increase = usable * seen.drops as f64 / (drops / flows);
            match self.monitored.get(seen.flow) {
                Some(flow) if now - flow.changed >= hold => flow.increase(increase, &rules, length, now),
                Some(_) => {}
                None => monitor(&mut self.monitored, seen.flow, MonitoredFlow::new(increase.min(first_max), now)),
            }
        }
    }

    /// Monitors an unresponsive flow whose packets are dropped with certainty.
    #[cfg(test)]
    pub(super) fn monitor_for_test(&mut self, flow: FlowId) {
        let mut certain = MonitoredFlow::new(1.0, Time::ZERO);
        certain.unresponsive = true;
        self.monitored.insert(flow, certain);
    }

    /// Figure 7: decreases the probability of monitored flows in no list, and releases them in the end.
    fn decrease_unlisted(&mut self, now: Time) {
        let RedPdConfig { decrease_hold, unresponsive_hold, .. } = self.config;
        let (hold, hold_unresponsive) = (self.hold_time(decrease_hold), self.hold_time(unresponsive_hold));
        for position in (0..self.monitored.len()).rev() {
            let (name, flow) = self.monitored.at(position);
            let hold = if flow.unresponsive { hold_unresponsive } else { hold };
            if now - flow.changed >= hold && self.history.record_of(name).is_none() && !flow.decrease(&self.rules, now)
            {
                self.monitored.remove_at(position);
            }
        }
    }

    /// Time that a probability stays constant: the duration of the last `lists` lists, at least `min_hold`.
    fn hold_time(&self, lists: u32) -> Span {
        let last = &self.lengths[..lists as usize];
        last.iter().fold(Span::ZERO, |sum, length| sum + *length).max(self.config.min_hold)
    }

    /// The duration of a list at this ambient drop rate: equation (3), within bounds.
    fn length_at(&self, drop_rate: f64) -> Span {
        let share = f64::from(self.config.min_lists) / f64::from(self.config.lists);
        let drop_rate = self.config.fixed_drop_rate.unwrap_or(drop_rate);
        let length = Span::from_secs_f64(share * congestion_epoch(self.rtt, drop_rate));
        let RedPdConfig { min_list, max_list, .. } = self.config;
        length.clamp(self.rtt * u64::from(min_list), self.rtt * u64::from(max_list))
    }

    /// `dynamic_r`: lengthens R by `rtt_step` if there are too many drops or too few monitored flows, or shortens it.
    fn adapt(&mut self) {
        let RedPdConfig { drop_rate_target, monitored_target, min_rtt, max_rtt, .. } = self.config;
        let (rate, monitored) = (self.drop_rate(), self.monitored.len());
        let (longer, shorter) = match self.config.dynamic_r {
            DynamicR::Off => return,
            DynamicR::DropRate => (rate > drop_rate_target, rate < drop_rate_target / 2.0),
            // Without drops no flow can be identified.
            DynamicR::Monitored => (
                monitored < monitored_target as usize && self.last_rate > self.config.min_drop_rate,
                monitored > monitored_target as usize,
            ),
        };
        let step = match (longer, shorter) {
            (true, _) => 1.0 + self.config.rtt_step,
            (_, true) => 1.0 / (1.0 + self.config.rtt_step),
            _ => return,
        };
        self.rtt = Span::from_secs_f64(self.rtt.as_secs_f64() * step).clamp(min_rtt, max_rtt);
    }
}

/// Inserts the flow. In a full table it replaces the flow with the smallest probability, if that is below its own.
fn monitor(table: &mut FlowTable<MonitoredFlow>, flow: FlowId, fresh: MonitoredFlow) {
    if table.is_full() {
        let rank = |(flow, state): &(FlowId, &MonitoredFlow)| (state.probability, *flow);
        let least = table.iter().min_by(|a, b| rank(a).partial_cmp(&rank(b)).expect("a probability is a number"));
        match least {
            Some((least, state)) if state.probability < fresh.probability => {
                let position = table.position(least).expect("it was found");
                table.remove_at(position);
            }
            _ => return,
        }
    }
    table.insert(flow, fresh);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Params;
    use alloc::vec::Vec;

    fn identification(settings: &[(&str, &str)]) -> Identification {
        Identification::new(RedPdConfig::from_settings(settings).unwrap(), 7, Tables::ALLOCATE).unwrap()
    }

    /// Fills and ends a list: `arrived` packets, of which each flow loses the number in `lost`.
    fn list(the: &mut Identification, arrived: u64, lost: &[(u64, u64)]) {
        let signals = lost.iter().map(|(_, drops)| drops).sum::<u64>();
        (signals..arrived).for_each(|_| the.record_arrival(FlowId(0), 1, false));
        lost.iter().for_each(|(flow, drops)| (0..*drops).for_each(|_| the.record_arrival(FlowId(*flow), 1, true)));
        the.advance(the.started + the.length);
    }

    fn probabilities(the: &Identification) -> Vec<(u64, f64)> {
        let mut all: Vec<_> = the.monitored.iter().map(|(flow, state)| (flow.0, state.probability)).collect();
        all.sort_by_key(|(flow, _)| *flow);
        all
    }

    #[test]
    fn identified_flows_share_the_drop_rate_in_proportion_to_their_drops() {
        let mut the = identification(&[]);
        // A quarter of 32 is dropped each time; flow 3 is in one list only. Flow 1 lost 18, flow 2 6: 12 on average, so
        // the quanta are 1/4 x 18/12 and 1/4 x 6/12.
        list(&mut the, 32, &[(1, 6), (2, 2)]);
        list(&mut the, 32, &[(1, 6), (2, 1), (3, 1)]);
        assert!(the.monitored.is_empty());
        list(&mut the, 32, &[(1, 6), (2, 3)]);
        let average = 0.5 * 9.0 / 32.0 + 0.5 * 0.25;
        assert_eq!((the.drop_rate(), the.last_rate), (average, 9.0 / 32.0));
        assert_eq!(probabilities(&the), [(1, average * 1.5), (2, average * 0.5)]);
    }

    #[test]
    fn probabilities_grow_by_the_lower_of_last_and_average_drop_rate_and_not_below_a_thousandth() {
        let mut the = identification(&[]);
        (0..2).for_each(|_| list(&mut the, 64, &[(1, 16)]));
        list(&mut the, 64, &[(1, 8)]);
        assert_eq!(probabilities(&the), [(1, 0.125)], "the last; the average is 3/16");
        let mut calm = identification(&[]);
        (0..8).for_each(|_| list(&mut calm, 1000, &[(1, 1)]));
        assert_eq!((probabilities(&calm), calm.history.records()[0].lists), (Vec::new(), 5));
    }

    #[test]
    fn a_probability_stays_constant_for_the_hold_time_before_it_changes() {
        let mut the = identification(&[]);
        let mut changes = Vec::new();
        for n in 0..18 {
            list(&mut the, 64, if n < 9 { &[(1, 16)] } else { &[] });
            let now = probabilities(&the);
            if changes.last().is_none_or(|(_, last)| *last != now) {
                changes.push((n, now));
            }
        }
        // The flow is monitored with list 2. Lists last 2 R = 80 ms, so the hold of 0.4 s is five lists, and the
        // probability rises with list 7. From list 13 on the flow is in no list, and the probability falls. Lists are
        // longer by then: three last at least 0.4 s. The probability falls again with list 16.
        let single = |p: f64| alloc::vec![(1, p)];
        let expected =
            [(0, Vec::new()), (2, single(0.25)), (7, single(0.5)), (13, single(0.45)), (16, single(0.45 - 0.05))];
        assert_eq!(changes, expected);
    }

    #[test]
    fn a_flow_starts_with_its_quantum_twice_the_drop_rate_or_one_half() {
        // Flow 1 has three quarters of 16 drops, flow 2 to 4 the rest: quanta of 3, 1/3, 1/3 and 1/3 times the rate.
        let started = |settings: &[(&str, &str)], arrived| {
            let mut the = identification(settings);
            (0..3).for_each(|_| list(&mut the, arrived, &[(1, 18), (2, 2), (3, 2), (4, 2)]));
            probabilities(&the).iter().map(|(_, p)| *p).take(2).collect::<Vec<_>>()
        };
        let sixth = 0.25 * (2.0 / 6.0);
        assert_eq!(started(&[], 96), [0.5, sixth]);
        assert_eq!(started(&[], 192), [0.25, sixth / 2.0]);
        assert_eq!(started(&[("first_max", "0.125")], 192), [0.125, sixth / 2.0]);
        assert_eq!(started(&[("first_rates", "1")], 192), [0.125, sixth / 2.0]);
    }

    #[test]
    fn in_a_full_table_a_new_flow_replaces_only_a_flow_of_smaller_probability() {
        let flow = |probability: f64| MonitoredFlow::new(probability, Time::ZERO);
        let mut table = FlowTable::new(2, 1);
        for (name, probability) in [(1, 0.25), (2, 0.125), (3, 0.125), (4, 0.2), (5, 0.2)] {
            monitor(&mut table, FlowId(name), flow(probability));
        }
        let mut kept: Vec<u64> = table.iter().map(|(flow, _)| flow.0).collect();
        kept.sort_unstable();
        assert_eq!(kept, [1, 4]);
    }

    #[test]
    fn ending_the_lists_of_a_long_silence_together_or_one_by_one_is_the_same() {
        let drops: &[(u64, u64)] = &[(1, 20), (2, 10)];
        let [mut at_once, mut step_by_step] = [(); 2].map(|()| {
            let mut the = identification(&[]);
            (0..6).for_each(|_| list(&mut the, 64, drops));
            the
        });
        let end = at_once.started + Span::from_secs(100);
        at_once.advance(end);
        while step_by_step.started + step_by_step.length <= end {
            let next = step_by_step.started + step_by_step.length;
            step_by_step.advance(next);
        }
        let state = |the: &Identification| (the.started, the.length, the.lengths, the.drop_rate, the.monitored.len());
        assert_eq!(state(&at_once), state(&step_by_step));
        at_once.advance(Time::NEVER);
        assert_eq!((at_once.drop_rate(), at_once.monitored.len()), (0.0, 0));
    }

    #[test]
    fn r_follows_the_drop_rate_and_the_number_of_monitored_flows_within_bounds() {
        let rtt = |settings: &[(&str, &str)], arrived, lists: usize| {
            let mut the = identification(settings);
            (0..lists).for_each(|_| list(&mut the, arrived, &[(1, 4), (2, 4)]));
            the.target_rtt().as_secs_f64() * 1e3
        };
        let near = |value: f64, expected: f64| assert!((value - expected).abs() < 1e-4, "{value} for {expected}");
        let rate = [("dynamic_r", "drop_rate"), ("drop_rate_target", "0.1")];
        // 8 of 64 lie above 10 %, of 100 between 5 % and 10 %, of 400 below.
        near(rtt(&rate, 64, 2), 40.0 * 1.05 * 1.05);
        near(rtt(&rate, 100, 2), 40.0);
        near(rtt(&rate, 400, 2), 40.0 / 1.05 / 1.05);
        near(rtt(&rate, 64, 100), 170.0);
        near(rtt(&rate, 400, 100), 10.0);
        // Two flows are monitored from the third list on; before, there are fewer than the target.
        near(rtt(&[("dynamic_r", "monitored"), ("monitored_target", "2")], 64, 6), 40.0 * 1.05 * 1.05);
        near(rtt(&[("dynamic_r", "monitored"), ("monitored_target", "1")], 64, 3), 40.0 * 1.05);
    }
}
