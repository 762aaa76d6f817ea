//! GPU timing: a timestamp at both ends of every pass, read some frames later, when it is available
//! without waiting. Knows passes by name only.

use super::device::GpuDevice;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

/// The most passes that are measured in a frame.
const PASSES_MAX: u32 = 64;
/// The most frames whose results are pending; further frames are not measured.
const FRAMES: usize = 3;
const FREE: u8 = 0;
const BUSY: u8 = 1;
const READY: u8 = 2;

/// A measured pass of a frame.
#[derive(Clone, PartialEq, Debug)]
pub struct GpuPass {
    pub name: String,
    /// Milliseconds from the beginning of the frame's first pass to the beginning of this one.
    pub began: f32,
    pub milliseconds: f32,
}

struct QuerySlot {
    buffer: wgpu::Buffer,
    /// Index of the frame, as the game counts it, and the names of its passes.
    frame: u64,
    names: Vec<String>,
    state: Arc<AtomicU8>,
}

/// The measurement of passes.
pub struct GpuTiming {
    queries: wgpu::QuerySet,
    resolved: wgpu::Buffer,
    slots: Vec<QuerySlot>,
    /// The slot of this frame, the index of the frame, and the names of its passes so far.
    current: Option<usize>,
    frame: u64,
    names: Vec<String>,
    period: f32,
}

impl GpuTiming {
    /// Creates the measurement; `None` if the adapter has no timestamps.
    pub fn new(device: &GpuDevice) -> Option<GpuTiming> {
        if !device.timestamps {
            return None;
        }
        let size = u64::from(PASSES_MAX) * 2 * u64::from(wgpu::QUERY_SIZE);
        let buffer = |usage| {
            device.device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("timing"),
                size,
                usage,
                mapped_at_creation: false,
            })
        };
        let slot = || QuerySlot {
            buffer: buffer(wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ),
            frame: 0,
            names: Vec::new(),
            state: Arc::new(AtomicU8::new(FREE)),
        };
        Some(GpuTiming {
            queries: device.device.create_query_set(&wgpu::QuerySetDescriptor {
                label: Some("timing"),
                ty: wgpu::QueryType::Timestamp,
                count: PASSES_MAX * 2,
            }),
            resolved: buffer(wgpu::BufferUsages::QUERY_RESOLVE | wgpu::BufferUsages::COPY_SRC),
            slots: (0..FRAMES).map(|_| slot()).collect(),
            current: None,
            frame: 0,
            names: Vec::new(),
            period: device.queue.get_timestamp_period(),
        })
    }

    /// Begins a frame. Returns the passes of an earlier frame and the index of that frame, if they
    /// are available.
    pub fn begin(&mut self, frame: u64) -> Option<(u64, Vec<GpuPass>)> {
        self.names.clear();
        self.frame = frame;
        let mut results = None;
        for slot in &mut self.slots {
            if slot.state.load(Ordering::Acquire) == READY {
                if let Ok(mapped) = slot.buffer.get_mapped_range(..) {
                    let ticks: Vec<u64> = mapped
                        .chunks_exact(8)
                        .map(|bytes| u64::from_le_bytes(bytes.try_into().expect("eight")))
                        .collect();
                    let names = std::mem::take(&mut slot.names);
                    results = Some((slot.frame, passes(names, &ticks, self.period * 1e-6)));
                }
                slot.buffer.unmap();
                slot.state.store(FREE, Ordering::Release);
            }
        }
        let free = |slot: &QuerySlot| slot.state.load(Ordering::Acquire) == FREE;
        self.current = self.slots.iter().position(free);
        results
    }

    /// Returns the timestamp writes with which a pass is measured.
    pub fn pass(&mut self, name: String) -> Option<wgpu::RenderPassTimestampWrites<'_>> {
        let index = self.names.len() as u32;
        if self.current.is_none() || index >= PASSES_MAX {
            return None;
        }
        self.names.push(name);
        Some(wgpu::RenderPassTimestampWrites {
            query_set: &self.queries,
            beginning_of_pass_write_index: Some(index * 2),
            end_of_pass_write_index: Some(index * 2 + 1),
        })
    }

    /// Returns the timestamp writes with which a compute pass is measured.
    pub fn compute_pass(&mut self, name: String) -> Option<wgpu::ComputePassTimestampWrites<'_>> {
        let writes = self.pass(name)?;
        Some(wgpu::ComputePassTimestampWrites {
            query_set: writes.query_set,
            beginning_of_pass_write_index: writes.beginning_of_pass_write_index,
            end_of_pass_write_index: writes.end_of_pass_write_index,
        })
    }

    /// Encodes the copy of the frame's timestamps to a readable buffer.
    pub fn resolve(&mut self, encoder: &mut wgpu::CommandEncoder) {
        let count = self.names.len() as u32 * 2;
        let Some(index) = self.current.filter(|_| count > 0) else { return };
        let bytes = u64::from(count * wgpu::QUERY_SIZE);
        encoder.resolve_query_set(&self.queries, 0..count, &self.resolved, 0);
        encoder.copy_buffer_to_buffer(&self.resolved, 0, &self.slots[index].buffer, 0, bytes);
    }

    /// Ends the frame after its submission, and requests its results.
    pub fn end(&mut self) {
        let Some(index) = self.current.take().filter(|_| !self.names.is_empty()) else { return };
        let slot = &mut self.slots[index];
        (slot.frame, slot.names) = (self.frame, std::mem::take(&mut self.names));
        slot.state.store(BUSY, Ordering::Release);
        let state = Arc::clone(&slot.state);
        slot.buffer.map_async(wgpu::MapMode::Read, .., move |done| {
            // If the device is lost, this buffer is lost too.
            if done.is_ok() {
                state.store(READY, Ordering::Release);
            }
        });
    }
}

/// Returns the passes of a frame. `ticks` has the beginning and the end of each pass, and `period`
/// is the length of a tick in milliseconds.
fn passes(names: Vec<String>, ticks: &[u64], period: f32) -> Vec<GpuPass> {
    let first = ticks.iter().step_by(2).take(names.len()).min().copied().unwrap_or(0);
    let milliseconds = |from: u64, to: u64| to.saturating_sub(from) as f32 * period;
    let pairs = names.into_iter().zip(ticks.chunks_exact(2));
    pairs
        .map(|(name, pair)| GpuPass {
            name,
            began: milliseconds(first, pair[0]),
            milliseconds: milliseconds(pair[0], pair[1]),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passes_begin_relative_to_the_first_one() {
        let names = vec!["shadows".to_string(), "gui".to_string()];
        let found = passes(names, &[100, 300, 400, 450, 7, 8], 0.5);
        let found: Vec<_> =
            found.iter().map(|it| (it.name.as_str(), it.began, it.milliseconds)).collect();
        assert_eq!(found, [("shadows", 0.0, 100.0), ("gui", 150.0, 25.0)]);
        // An adapter that resets its clock between the two timestamps.
        assert_eq!(passes(vec!["gui".to_string()], &[9, 3], 1.0)[0].milliseconds, 0.0);
    }
}
