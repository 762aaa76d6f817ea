//! Copies of large data into GPU buffers, through staging memory that is kept. With
//! `Queue::write_buffer`, each copy takes new memory, whose pages the operating system clears: that
//! took a quarter of a frame with 28,000 glyphs.

use super::device::GpuDevice;
use std::sync::PoisonError;

/// Size of a piece of staging memory in bytes. Larger copies use several pieces, so that the memory
/// kept is that of the largest frame.
const PIECE_BYTES: u64 = 1 << 20;
/// Minimum size of a copy in bytes that uses staging memory which is kept.
const LARGE_MIN: u64 = 1 << 14;

/// Staging memory, and the copies of the current frame.
pub struct Uploads {
    staging: wgpu::util::StagingBelt,
    encoder: Option<wgpu::CommandEncoder>,
    /// The parts of a small copy, one after the other.
    gathered: Vec<u8>,
}

impl Uploads {
    pub fn new(device: &wgpu::Device) -> Uploads {
        let staging = wgpu::util::StagingBelt::new(device.clone(), PIECE_BYTES);
        Uploads { staging, encoder: None, gathered: Vec::new() }
    }
}

impl GpuDevice {
    /// Copies bytes into a buffer. The copy is done before the draws of the next submission. The
    /// length and `at` are multiples of 4.
    pub fn upload(&self, to: &wgpu::Buffer, at: u64, bytes: &[u8]) {
        self.upload_parts(to, at, bytes.len() as u64, std::iter::once(bytes));
    }

    /// Copies parts one after the other into a buffer. `size` is the number of their bytes.
    pub fn upload_parts<'a>(
        &self,
        to: &wgpu::Buffer,
        mut at: u64,
        size: u64,
        parts: impl Iterator<Item = &'a [u8]>,
    ) {
        let mut parts = parts.filter(|part| !part.is_empty()).peekable();
        let is_one = parts.peek().is_some_and(|part| part.len() as u64 == size);
        if size < LARGE_MIN && is_one {
            parts.for_each(|part| self.queue.write_buffer(to, at, part));
            return;
        }
        let mut uploads = self.uploads.lock().unwrap_or_else(PoisonError::into_inner);
        let Uploads { staging, encoder, gathered } = &mut *uploads;
        if size < LARGE_MIN {
            // One copy, because each takes memory of its own.
            gathered.clear();
            parts.for_each(|part| gathered.extend_from_slice(part));
            if !gathered.is_empty() {
                self.queue.write_buffer(to, at, gathered);
            }
            return;
        }
        let encoder =
            encoder.get_or_insert_with(|| self.device.create_command_encoder(&Default::default()));
        let end = at + size;
        let mut piece = None;
        for mut part in parts {
            while !part.is_empty() {
                let (view, filled, room) = piece.get_or_insert_with(|| {
                    let room = (end - at).min(PIECE_BYTES);
                    let bytes = wgpu::BufferSize::new(room).expect("a part has bytes left");
                    let view = staging.write_buffer(encoder, to, at, bytes);
                    at += room;
                    (view, 0, room as usize)
                });
                let count = part.len().min(*room - *filled);
                let (now, rest) = part.split_at(count);
                view.slice(*filled..*filled + count).copy_from_slice(now);
                *filled += count;
                part = rest;
                if filled == room {
                    piece = None;
                }
            }
        }
    }

    /// Submits the copies, and then the commands of a frame, if there are any. Every frame must
    /// submit its copies: a later small copy would be done before them otherwise.
    pub fn submit(&self, frame: Option<wgpu::CommandBuffer>) {
        let mut uploads = self.uploads.lock().unwrap_or_else(PoisonError::into_inner);
        uploads.staging.finish();
        let copies = uploads.encoder.take().map(wgpu::CommandEncoder::finish);
        self.queue.submit(copies.into_iter().chain(frame));
        uploads.staging.recall();
    }
}
