//! Makes a running gateway follow the MTUs of its interfaces.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, sync_channel};

use crate::forward::{ChangeSender, Lanes};
use crate::io::pool::Pool;

/// The longest frames that a gateway's ends accept and its slots hold.
pub(super) struct FrameLength {
    /// The MTU of each end, which its thread reads.
    mtus: [Arc<AtomicUsize>; 2],
    /// Of each forwarding thread.
    changes: Vec<ChangeSender<Lanes>>,
}

impl FrameLength {
    pub(super) fn new(mtus: [Arc<AtomicUsize>; 2], changes: Vec<ChangeSender<Lanes>>) -> FrameLength {
        FrameLength { mtus, changes }
    }

    /// Has the threads accept packets up to `mtus`, and returns when they do, within
    /// [`PUBLISH_INTERVAL`](crate::PUBLISH_INTERVAL). Slots never shrink. Returns a warning if memory is lacking.
    pub(super) fn follow(&self, mtus: [usize; 2]) -> Option<String> {
        let longest = mtus[0].max(mtus[1]);
        let bytes = Pool::slot_for(longest);
        for (end, mtu) in self.mtus.iter().zip(mtus) {
            end.store(mtu, Ordering::Relaxed);
        }
        let results: Vec<_> = self.changes.iter().map(|changes| lengthen(changes, bytes)).collect();
        // A thread that has ended needs no slots.
        let fits = results.into_iter().all(|result| result.recv().unwrap_or(true));
        (!fits).then(|| {
            format!(
                "warning: there is no memory for packets of {longest} bytes, and the longer ones are dropped as oversize: \
                 lower `limit` and start the gateway again"
            )
        })
    }
}

/// Has a thread provide slots of `bytes` bytes; the channel returns whether there was memory for them.
fn lengthen(changes: &ChangeSender<Lanes>, bytes: usize) -> Receiver<bool> {
    let (result_sender, result) = sync_channel(1);
    let lengthen = move |lanes: &mut Lanes, _| {
        let fits = lanes.iter_mut().flatten().all(|lane| lane.lengthen_slots(bytes));
        let _ = result_sender.send(fits);
    };
    let _ = changes.send(Box::new(lengthen));
    result
}
