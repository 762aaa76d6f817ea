//! A ring of samples between one thread that writes and one that reads, neither of which waits.

use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

/// The ring. Both counts grow without an end; their difference is the number of stored samples.
pub struct SampleRing {
    /// Bits of the samples.
    slots: Box<[AtomicU32]>,
    written: AtomicUsize,
    read: AtomicUsize,
}

impl SampleRing {
    /// Creates a ring for so many samples, or for a few more.
    pub fn new(samples: usize) -> SampleRing {
        // A power of two keeps the positions right when the counts wrap.
        let slots = (0..samples.next_power_of_two()).map(|_| AtomicU32::new(0)).collect();
        SampleRing { slots, written: AtomicUsize::new(0), read: AtomicUsize::new(0) }
    }

    fn slot(&self, count: usize) -> &AtomicU32 {
        &self.slots[count & (self.slots.len() - 1)]
    }

    /// Stores as many samples as there is room for, and returns their number.
    pub fn write(&self, samples: &[f32]) -> usize {
        let (written, read) =
            (self.written.load(Ordering::Relaxed), self.read.load(Ordering::Acquire));
        let room = self.slots.len() - written.wrapping_sub(read);
        let count = samples.len().min(room);
        for (at, sample) in samples[..count].iter().enumerate() {
            self.slot(written.wrapping_add(at)).store(sample.to_bits(), Ordering::Relaxed);
        }
        self.written.store(written.wrapping_add(count), Ordering::Release);
        count
    }

    /// Fills `samples` with the oldest stored ones, and the rest with silence.
    pub fn read(&self, samples: &mut [f32]) {
        let (written, read) =
            (self.written.load(Ordering::Acquire), self.read.load(Ordering::Relaxed));
        let count = samples.len().min(written.wrapping_sub(read));
        let (stored, silent) = samples.split_at_mut(count);
        for (at, sample) in stored.iter_mut().enumerate() {
            let bits = self.slot(read.wrapping_add(at)).load(Ordering::Relaxed);
            *sample = f32::from_bits(bits);
        }
        silent.fill(0.0);
        self.read.store(read.wrapping_add(count), Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    /// Maximum time of the exchange. Without it, a failure of one thread would let the other one
    /// wait without an end.
    const EXCHANGE_MAX: Duration = Duration::from_secs(60);

    #[test]
    fn samples_leave_the_ring_in_order_and_gaps_are_silent() {
        let ring = SampleRing::new(6);
        let mut heard = [9.0; 4];
        ring.read(&mut heard);
        assert_eq!(heard, [0.0; 4]);
        assert_eq!(ring.write(&[1.0; 12]), 8, "a power of two");
        assert_eq!(ring.write(&[1.0]), 0);
        ring.read(&mut heard);
        assert_eq!(ring.write(&[2.0, 3.0]), 2);
        let mut rest = [9.0; 8];
        ring.read(&mut rest);
        assert_eq!(rest, [1.0, 1.0, 1.0, 1.0, 2.0, 3.0, 0.0, 0.0]);
    }

    #[test]
    fn two_threads_exchange_all_samples_once() {
        const COUNT: usize = 4_000;
        let (ring, start) = (SampleRing::new(64), Instant::now());
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let samples: Vec<f32> = (1..=COUNT).map(|number| number as f32).collect();
                let mut left = &samples[..];
                while !left.is_empty() {
                    assert!(start.elapsed() < EXCHANGE_MAX, "{} samples are left", left.len());
                    let chunk = &left[..left.len().min(48)];
                    left = &left[ring.write(chunk)..];
                    std::thread::yield_now();
                }
            });
            let (mut next, mut heard) = (1.0, [0.0; 32]);
            while next <= COUNT as f32 {
                assert!(start.elapsed() < EXCHANGE_MAX, "sample {next} does not come");
                ring.read(&mut heard);
                for sample in heard.into_iter().filter(|sample| *sample != 0.0) {
                    assert_eq!(sample, next);
                    next += 1.0;
                }
                std::thread::yield_now();
            }
        });
    }
}
