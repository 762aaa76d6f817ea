//! The end of a frame: what was drawn leaves as plain arrays, and comes back empty to be used
//! again.

use super::{Counters, Gui, Guis, Mode, number};
use crate::foundation::Handle;
use crate::packet::gui::GuiFrame;

/// Emptied arrays that are kept for keys that this frame did not have.
const SPARE_MAX: usize = 64;

/// So many quadrilaterals of each batch are looked at for their colour.
const LOOKED_AT: usize = 8;

/// A colour of which nobody sees that it is none of black's, among what immediate Guis drew: that
/// is what `Color(1, 0.5, 0)` comes to where the parts of colours were thought to end at 1.
pub fn nearly_black(frames: &[GuiFrame]) -> Option<[u8; 4]> {
    let batches = frames.iter().flat_map(|frame| &frame.batches);
    let mut colors = batches.flat_map(|batch| batch.instances.iter().take(LOOKED_AT));
    let dark = |parts: &[u8]| parts.iter().all(|part| *part <= 1) && parts.contains(&1);
    colors.find_map(|it| (it.color[3] > 0 && dark(&it.color[..3])).then_some(it.color))
}

impl Guis {
    /// Ends the frame: hands over what is new about every Gui, and which ones ended. Immediate Guis
    /// are empty then, and every pen is as at the start. `unbalanced` hears of Guis with pushes
    /// that had no pop, and how many.
    pub fn end_frame(
        &mut self,
        frames: &mut Vec<GuiFrame>,
        ended: &mut Vec<u64>,
        mut unbalanced: impl FnMut(usize),
    ) {
        ended.append(&mut self.ended);
        let mut counters = Counters { objects: self.counters.objects, ..Counters::default() };
        for (handle, gui) in self.guis.iter_mut() {
            let left = gui.pen.end_frame();
            if left > 0 {
                unbalanced(left);
            }
            let frame = gui.take_frame(handle);
            counters.batches += frame.batches.len() as u32;
            let drawn: usize = frame.batches.iter().map(|batch| batch.instances.len()).sum();
            counters.instances += (drawn + frame.instances.len()) as u32;
            frames.push(frame);
        }
        self.counters.objects = 0;
        self.shown = counters;
    }

    /// Takes arrays back whose content was shown.
    pub fn recycle(&mut self, frames: &mut Vec<GuiFrame>) {
        for frame in frames.drain(..) {
            let handle = Handle::from_number(frame.gui as f64);
            if let Some(gui) = handle.and_then(|handle| self.guis.get_mut(handle)) {
                gui.take_back(frame);
            }
        }
    }
}

impl Gui {
    fn take_frame(&mut self, handle: Handle) -> GuiFrame {
        let immediate = self.making.mode == Mode::Immediate;
        let transforms = match immediate {
            true => std::mem::take(&mut self.transforms),
            false if std::mem::take(&mut self.transforms_changed) => self.transforms.clone(),
            false => Vec::new(),
        };
        self.found.clear();
        self.last = None;
        self.last_batch = 0;
        if immediate {
            self.shown.clear();
            std::mem::swap(&mut self.shown, &mut self.seen);
        }
        GuiFrame {
            gui: number(handle),
            space: self.making.space,
            pose: self.making.pose,
            transforms,
            batches: std::mem::take(&mut self.batches),
            changes: std::mem::take(&mut self.changes),
            instances: std::mem::take(&mut self.instances),
            moved: std::mem::take(&mut self.moved),
        }
    }

    fn take_back(&mut self, frame: GuiFrame) {
        if self.spare.len() > SPARE_MAX + 2 * frame.batches.len() {
            self.spare.clear();
        }
        for mut batch in frame.batches {
            batch.instances.clear();
            let spare = self.spare.entry(batch.key).or_default();
            if spare.capacity() < batch.instances.capacity() {
                *spare = batch.instances;
            }
        }
        if self.changes.is_empty() && self.changes.capacity() < frame.changes.capacity() {
            self.changes = frame.changes;
            self.changes.clear();
        }
        if self.instances.is_empty() && self.instances.capacity() < frame.instances.capacity() {
            self.instances = frame.instances;
            self.instances.clear();
        }
        if self.making.mode == Mode::Immediate && self.transforms.is_empty() {
            self.transforms = frame.transforms;
            self.transforms.clear();
        }
    }
}
