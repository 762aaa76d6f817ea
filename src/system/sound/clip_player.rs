//! The player of one recording on the audio thread: resampling, loop, volume, pan, filter, fades.
//! It is controlled through a few atomic numbers, and neither allocates nor blocks. Knows no voices
//! and no rules.

use super::clip::DecodedClip;
use super::decoder::StreamSlot;
use super::low_pass::LowPass;
use super::voice_update::OPEN_HZ;
use super::voices::MixLevels;
use kira::Frame;
use kira::info::Info;
use kira::sound::{Sound, SoundData};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// Time in which a volume comes close to its target, in seconds.
const SMOOTH_SECONDS: f32 = 0.005;
/// Fade time of a pause and of its end, in seconds.
const PAUSE_SECONDS: f32 = 0.01;
/// Number of samples in which a recording that ends at a non-zero sample fades to silence.
const TAPER_FRAMES: usize = 48;

const PLAY: u32 = 0;
const PAUSE: u32 = 1;
const STOP: u32 = 2;

/// Control values that the game's thread writes. Each value is independent, because the player only
/// ever approaches it.
pub struct PlayerControl {
    left: AtomicU32,
    right: AtomicU32,
    rate: AtomicU32,
    cutoff_hz: AtomicU32,
    state: AtomicU32,
    stop_seconds: AtomicU32,
}

impl PlayerControl {
    pub fn new(mix: MixLevels) -> PlayerControl {
        let number = |value: f32| AtomicU32::new(value.to_bits());
        PlayerControl {
            left: number(mix.left),
            right: number(mix.right),
            rate: number(mix.rate),
            cutoff_hz: number(mix.cutoff_hz),
            state: AtomicU32::new(PLAY),
            stop_seconds: number(0.0),
        }
    }

    pub fn set(&self, mix: MixLevels) {
        self.left.store(mix.left.to_bits(), Ordering::Relaxed);
        self.right.store(mix.right.to_bits(), Ordering::Relaxed);
        self.rate.store(mix.rate.to_bits(), Ordering::Relaxed);
        self.cutoff_hz.store(mix.cutoff_hz.to_bits(), Ordering::Relaxed);
    }

    pub fn pause(&self, paused: bool) {
        let (from, to) = if paused { (PLAY, PAUSE) } else { (PAUSE, PLAY) };
        // A stopped player stays stopped.
        let _ = self.state.compare_exchange(from, to, Ordering::Relaxed, Ordering::Relaxed);
    }

    pub fn stop(&self, seconds: f32) {
        self.stop_seconds.store(seconds.to_bits(), Ordering::Relaxed);
        self.state.store(STOP, Ordering::Release);
    }

    fn mix(&self) -> MixLevels {
        let number = |value: &AtomicU32| f32::from_bits(value.load(Ordering::Relaxed));
        MixLevels {
            left: number(&self.left),
            right: number(&self.right),
            rate: number(&self.rate),
            cutoff_hz: number(&self.cutoff_hz),
        }
    }
}

/// Source of a player's samples.
pub enum SampleSource {
    /// A decoded recording.
    Whole(DecodedSource),
    /// A recording that is decoded while it plays, at its own rate, and its slot among the streams.
    Stream { sound: Box<dyn Sound>, slot: StreamSlot },
}

/// A decoded recording, and the playback position.
pub struct DecodedSource {
    clip: Arc<DecodedClip>,
    position: f64,
    /// First sample of the loop, and the one after its last.
    repeat: Option<(usize, usize)>,
    /// True after the first jump to the start of the loop.
    has_repeated: bool,
}

impl DecodedSource {
    /// Creates a source; `seconds` and `repeat` are in seconds of the recording.
    pub fn new(clip: Arc<DecodedClip>, seconds: f64, repeat: Option<(f64, f64)>) -> DecodedSource {
        let rate = f64::from(clip.sample_rate);
        let length = clip.frames.len();
        let frame = |seconds: f64| ((seconds * rate).round() as usize).min(length);
        let repeat = repeat.map(|(start, end)| (frame(start), frame(end)));
        let repeat = repeat.filter(|(start, end)| start < end);
        let position = (seconds * rate).max(0.0);
        DecodedSource { position, clip, repeat, has_repeated: false }
    }

    fn is_finished(&self) -> bool {
        self.repeat.is_none() && self.position >= self.clip.frames.len() as f64
    }

    /// Returns the sample at an index, which may be before the start or after the end.
    #[inline]
    fn at(&self, index: isize) -> Frame {
        let frames = &self.clip.frames;
        let index = match self.repeat {
            Some((start, end)) if index >= end as isize => {
                start + (index as usize - end) % (end - start)
            }
            // Before the start of a loop comes its end.
            Some((start, end)) if self.has_repeated && index < start as isize => {
                end - 1 - (start as isize - index - 1) as usize % (end - start)
            }
            _ if index < 0 => return Frame::ZERO,
            _ => index as usize,
        };
        let Some(frame) = frames.get(index) else { return Frame::ZERO };
        let left = frames.len() - index;
        match self.repeat {
            None if left <= TAPER_FRAMES => *frame * (left as f32 / TAPER_FRAMES as f32),
            _ => *frame,
        }
    }

    /// Returns the next sample; `step` is in samples of the recording.
    #[inline]
    fn next(&mut self, step: f64) -> Frame {
        let index = self.position as isize;
        let t = (self.position - index as f64) as f32;
        let frame = match t == 0.0 {
            true => self.at(index),
            false => hermite(
                [self.at(index - 1), self.at(index), self.at(index + 1), self.at(index + 2)],
                t,
            ),
        };
        self.position += step;
        if let Some((start, end)) = self.repeat
            && self.position >= end as f64
        {
            let length = (end - start) as f64;
            self.has_repeated = true;
            self.position = start as f64 + (self.position - end as f64) % length;
        }
        frame
    }
}

/// Interpolates between the second and the third of four samples: the cubic through them whose
/// slopes are those of the neighbours (Catmull-Rom).
#[inline]
fn hermite([a, b, c, d]: [Frame; 4], t: f32) -> Frame {
    let one = |a: f32, b: f32, c: f32, d: f32| {
        let c1 = 0.5 * (c - a);
        let c2 = a - 2.5 * b + 2.0 * c - 0.5 * d;
        let c3 = 0.5 * (d - a) + 1.5 * (b - c);
        ((c3 * t + c2) * t + c1) * t + b
    };
    Frame {
        left: one(a.left, b.left, c.left, d.left),
        right: one(a.right, b.right, c.right, d.right),
    }
}

/// Configuration of a player.
pub struct PlaybackConfig {
    pub control: Arc<PlayerControl>,
    pub source: SampleSource,
    /// Number of frames that the mixer has mixed at the start of a batch.
    pub mixed: Arc<AtomicU64>,
    /// The frame to start at; 0: immediately.
    pub start_frame: u64,
    /// True if the volume fades in from silence.
    pub rises: bool,
}

impl SoundData for PlaybackConfig {
    type Error = ();
    type Handle = ();

    fn into_sound(self) -> Result<(Box<dyn Sound>, ()), ()> {
        let mix = self.control.mix();
        let (left, right) = if self.rises { (0.0, 0.0) } else { (mix.left, mix.right) };
        let filter = (mix.cutoff_hz < OPEN_HZ).then(|| LowPass::at(mix.cutoff_hz, Frame::ZERO));
        Ok((
            Box::new(ClipPlayer {
                playing: self,
                mix: MixLevels { left, right, ..mix },
                now: 0,
                gate: 1.0,
                filter,
                finished: false,
            }),
            (),
        ))
    }
}

struct ClipPlayer {
    playing: PlaybackConfig,
    /// Current mix levels.
    mix: MixLevels,
    /// The mixer's frame at the start of the next samples.
    now: u64,
    /// Gate gain of pause and stop. 1: open; 0: paused, or stopped.
    gate: f32,
    /// The filter, from the first time on that it removes something audible.
    filter: Option<LowPass>,
    finished: bool,
}

impl Sound for ClipPlayer {
    fn on_start_processing(&mut self) {
        self.now = self.playing.mixed.load(Ordering::Relaxed);
        if let SampleSource::Stream { sound, .. } = &mut self.playing.source {
            sound.on_start_processing();
        }
    }

    fn process(&mut self, out: &mut [Frame], dt: f64, info: &Info) {
        let waits = self.playing.start_frame.saturating_sub(self.now);
        self.now += out.len() as u64;
        let silent = waits.min(out.len() as u64) as usize;
        let (before, out) = out.split_at_mut(silent);
        before.fill(Frame::ZERO);
        let state = self.playing.control.state.load(Ordering::Acquire);
        let waiting = !before.is_empty() && out.is_empty();
        if waiting || (state == PAUSE && self.gate == 0.0) {
            self.finished |= state == STOP;
            self.release_slot();
            out.fill(Frame::ZERO);
            return;
        }
        let target = self.playing.control.mix();
        match &mut self.playing.source {
            SampleSource::Stream { sound, .. } => sound.process(out, dt, info),
            SampleSource::Whole(whole) => {
                let step = f64::from(whole.clip.sample_rate) * dt;
                let count = out.len().max(1) as f64;
                // The pitch changes gradually over the batch.
                let (from, to) = (f64::from(self.mix.rate), f64::from(target.rate));
                for (i, frame) in out.iter_mut().enumerate() {
                    *frame = whole.next(step * (from + (to - from) * i as f64 / count));
                }
                self.finished |= whole.is_finished();
            }
        }
        self.mix.rate = target.rate;
        self.shape(out, dt, target, state);
        if let SampleSource::Stream { sound, .. } = &self.playing.source {
            self.finished |= sound.finished();
        }
        self.release_slot();
    }

    fn finished(&self) -> bool {
        self.finished
    }
}

impl ClipPlayer {
    /// Releases the stream's slot when playback has finished.
    fn release_slot(&self) {
        if let SampleSource::Stream { slot, .. } = &self.playing.source
            && self.finished
        {
            slot.release();
        }
    }

    /// Applies the filter, the volume, and the gate of pause and stop.
    fn shape(&mut self, out: &mut [Frame], dt: f64, target: MixLevels, state: u32) {
        if self.filter.is_none() && target.cutoff_hz < OPEN_HZ {
            // The filter starts in the steady state of the next sample.
            let first = out.first().copied().unwrap_or(Frame::ZERO);
            self.filter = Some(LowPass::at(self.mix.cutoff_hz, first));
        }
        if let Some(filter) = &mut self.filter {
            filter.process(out, target.cutoff_hz, dt);
        }
        self.mix.cutoff_hz = target.cutoff_hz;
        let dt = dt as f32;
        let near = 1.0 - (-dt / SMOOTH_SECONDS).exp();
        let stop_seconds =
            f32::from_bits(self.playing.control.stop_seconds.load(Ordering::Relaxed));
        let gate_step = match state {
            PLAY => dt / PAUSE_SECONDS,
            PAUSE => -dt / PAUSE_SECONDS,
            _ => -dt / stop_seconds.max(0.001),
        };
        let MixLevels { mut left, mut right, .. } = self.mix;
        let mut gate = self.gate;
        for frame in out.iter_mut() {
            left += (target.left - left) * near;
            right += (target.right - right) * near;
            gate = (gate + gate_step).clamp(0.0, 1.0);
            *frame = Frame { left: frame.left * left * gate, right: frame.right * right * gate };
        }
        (self.mix.left, self.mix.right, self.gate) = (left, right, gate);
        // A stopped stream ends by itself, together with its thread.
        let whole = matches!(self.playing.source, SampleSource::Whole(_));
        self.finished |= whole && state == STOP && gate == 0.0;
    }
}
