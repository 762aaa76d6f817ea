//! End of a Gui frame: the drawn data is handed over as plain arrays, which return empty for reuse.

use super::{DrawCounters, Gui, GuiId, GuiMode, Guis, number};
use engine_foundation::Handle;
use engine_frame_packet::gui::GuiFrame;

/// Maximum number of empty arrays kept for batch keys that the current frame does not use.
const SPARE_ARRAYS_MAX: usize = 64;

/// Number of quads of each batch whose colors are checked.
const CHECKED_QUADS: usize = 8;

/// Returns a color drawn by an immediate Gui that cannot be distinguished from black. This detects
/// colors such as `Color(1, 0.5, 0)`, written as if components ranged from 0 to 1.
pub fn nearly_black(frames: &[GuiFrame]) -> Option<[u8; 4]> {
    let batches = frames.iter().flat_map(|frame| &frame.batches);
    let mut colors = batches.flat_map(|batch| batch.instances.iter().take(CHECKED_QUADS));
    let dark = |parts: &[u8]| parts.iter().all(|part| *part <= 1) && parts.contains(&1);
    colors.find_map(|it| (it.color[3] > 0 && dark(&it.color[..3])).then_some(it.color))
}

impl Guis {
    /// Ends the frame: appends the changes of every Gui and the numbers of destroyed Guis.
    /// Afterwards, immediate Guis are empty and every transform stack is reset. `unbalanced` is
    /// called for each Gui that has pushes without a pop, with their number.
    pub fn end_frame(
        &mut self,
        frames: &mut Vec<GuiFrame>,
        ended: &mut Vec<u64>,
        mut unbalanced: impl FnMut(usize),
    ) {
        ended.append(&mut self.ended);
        let mut counters =
            DrawCounters { objects: self.counters.objects, ..DrawCounters::default() };
        for (handle, gui) in self.guis.iter_mut() {
            let left = gui.transform_stack.end_frame();
            if left > 0 {
                unbalanced(left);
            }
            let frame = gui.build_frame(handle);
            counters.batches += frame.batches.len() as u32;
            let drawn: usize = frame.batches.iter().map(|batch| batch.instances.len()).sum();
            counters.instances += (drawn + frame.instances.len()) as u32;
            frames.push(frame);
        }
        self.counters.objects = 0;
        self.previous_counters = counters;
    }

    /// Takes the content of one Gui that is drawn between two frames. The others keep theirs.
    pub fn take_frame(&mut self, gui: GuiId) -> Option<GuiFrame> {
        self.guis.get_mut(gui.0).map(|found| found.build_frame(gui.0))
    }

    /// Recycles the arrays of frames that were shown.
    pub fn recycle(&mut self, frames: &mut Vec<GuiFrame>) {
        for frame in frames.drain(..) {
            let handle = Handle::from_number(frame.gui as f64);
            if let Some(gui) = handle.and_then(|handle| self.guis.get_mut(handle)) {
                gui.recycle_frame(frame);
            }
        }
    }
}

impl Gui {
    fn build_frame(&mut self, handle: Handle) -> GuiFrame {
        let immediate = self.desc.mode == GuiMode::Immediate;
        let transforms = match immediate {
            true => std::mem::take(&mut self.transforms),
            false if std::mem::take(&mut self.transforms_changed) => self.transforms.clone(),
            false => Vec::new(),
        };
        self.batch_indices.clear();
        self.last = None;
        self.last_batch = 0;
        self.fill = None;
        if immediate {
            self.drawn_before.clear();
            std::mem::swap(&mut self.drawn_before, &mut self.drawn);
        }
        GuiFrame {
            gui: number(handle),
            space: self.desc.space,
            pose: self.desc.pose,
            transforms,
            batches: std::mem::take(&mut self.batches),
            masks: std::mem::take(&mut self.masks),
            changes: std::mem::take(&mut self.changes),
            instances: std::mem::take(&mut self.instances),
            moved: std::mem::take(&mut self.moved),
        }
    }

    fn recycle_frame(&mut self, frame: GuiFrame) {
        if self.spare.len() > SPARE_ARRAYS_MAX + 2 * frame.batches.len() {
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
        if self.desc.mode == GuiMode::Immediate && self.transforms.is_empty() {
            self.transforms = frame.transforms;
            self.transforms.clear();
        }
    }
}
