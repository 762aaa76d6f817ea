//! One recording on its way through the mixer, on the audio thread: resampling, loop, volume, pan,
//! filter, fades. It is told what to do through a few atomic numbers, and neither allocates nor
//! waits. Knows no voices and no rules.

use super::decoder::Place;
use super::step::OPEN_HZ;
use super::voices::Mix;
use super::wave::Wave;
use kira::Frame;
use kira::info::Info;
use kira::sound::{Sound, SoundData};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// Seconds in which a volume comes close to what it should be.
const SMOOTH_SECONDS: f32 = 0.005;
/// Seconds in which a pause sets in and goes.
const PAUSE_SECONDS: f32 = 0.01;
/// Samples in which a recording that ends anywhere comes to silence.
const TAPER_FRAMES: usize = 48;

const PLAY: u32 = 0;
const PAUSE: u32 = 1;
const STOP: u32 = 2;

/// What the game's thread says. Each number is on its own: they are only ever approached.
pub struct Control {
    left: AtomicU32,
    right: AtomicU32,
    rate: AtomicU32,
    cutoff_hz: AtomicU32,
    state: AtomicU32,
    stop_seconds: AtomicU32,
}

impl Control {
    pub fn new(mix: Mix) -> Control {
        let number = |value: f32| AtomicU32::new(value.to_bits());
        Control {
            left: number(mix.left),
            right: number(mix.right),
            rate: number(mix.rate),
            cutoff_hz: number(mix.cutoff_hz),
            state: AtomicU32::new(PLAY),
            stop_seconds: number(0.0),
        }
    }

    pub fn set(&self, mix: Mix) {
        self.left.store(mix.left.to_bits(), Ordering::Relaxed);
        self.right.store(mix.right.to_bits(), Ordering::Relaxed);
        self.rate.store(mix.rate.to_bits(), Ordering::Relaxed);
        self.cutoff_hz.store(mix.cutoff_hz.to_bits(), Ordering::Relaxed);
    }

    pub fn pause(&self, paused: bool) {
        let (from, to) = if paused { (PLAY, PAUSE) } else { (PAUSE, PLAY) };
        // What was stopped stays so.
        let _ = self.state.compare_exchange(from, to, Ordering::Relaxed, Ordering::Relaxed);
    }

    pub fn stop(&self, seconds: f32) {
        self.stop_seconds.store(seconds.to_bits(), Ordering::Relaxed);
        self.state.store(STOP, Ordering::Release);
    }

    fn mix(&self) -> Mix {
        let number = |value: &AtomicU32| f32::from_bits(value.load(Ordering::Relaxed));
        Mix {
            left: number(&self.left),
            right: number(&self.right),
            rate: number(&self.rate),
            cutoff_hz: number(&self.cutoff_hz),
        }
    }
}

/// Where samples come from.
pub enum Source {
    /// A decoded recording.
    Whole(Whole),
    /// One that is decoded while it plays, at its own rate; and its place among those.
    Stream { sound: Box<dyn Sound>, place: Place },
}

/// A decoded recording, and where in it.
pub struct Whole {
    wave: Arc<Wave>,
    position: f64,
    /// First sample of the loop, and the one after its last.
    repeat: Option<(usize, usize)>,
}

impl Whole {
    /// `seconds` and `repeat` are in seconds of the recording.
    pub fn new(wave: Arc<Wave>, seconds: f64, repeat: Option<(f64, f64)>) -> Whole {
        let rate = f64::from(wave.sample_rate);
        let length = wave.frames.len();
        let frame = |seconds: f64| ((seconds * rate).round() as usize).min(length);
        let repeat = repeat.map(|(start, end)| (frame(start), frame(end)));
        let repeat = repeat.filter(|(start, end)| start < end);
        Whole { position: (seconds * rate).max(0.0), wave, repeat }
    }

    fn done(&self) -> bool {
        self.repeat.is_none() && self.position >= self.wave.frames.len() as f64
    }

    /// The sample at an index, which may lie before the start or after the end.
    #[inline]
    fn at(&self, index: isize) -> Frame {
        let frames = &self.wave.frames;
        let index = match self.repeat {
            Some((start, end)) if index >= end as isize => {
                start + (index as usize - end) % (end - start)
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

    /// The next sample; `step` is in samples of the recording.
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
            self.position = start as f64 + (self.position - end as f64) % length;
        }
        frame
    }
}

/// Between the second and the third of four samples: the cubic through them whose slopes are those
/// of the neighbours (Catmull-Rom).
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

/// A low-pass filter of second order without resonance, of both channels. After Andrew Simper,
/// "Linear Trapezoidal Integrated State Variable Filter" (Cytomic, 2013).
#[derive(Clone, Copy)]
struct LowPass {
    first: Frame,
    second: Frame,
}

impl LowPass {
    #[inline]
    fn next(&mut self, input: Frame, [a1, a2, a3]: [f32; 3]) -> Frame {
        let v3 = input - self.second;
        let v1 = self.first * a1 + v3 * a2;
        let v2 = self.second + self.first * a2 + v3 * a3;
        self.first = v1 * 2.0 - self.first;
        self.second = v2 * 2.0 - self.second;
        v2
    }

    fn factors(cutoff_hz: f32, dt: f64) -> [f32; 3] {
        let part = (f64::from(cutoff_hz) * dt).clamp(0.0001, 0.49);
        let g = (std::f64::consts::PI * part).tan();
        let a1 = 1.0 / (1.0 + g * (g + std::f64::consts::SQRT_2));
        [a1 as f32, (g * a1) as f32, (g * g * a1) as f32]
    }
}

/// What has to be known to play a recording.
pub struct Playing {
    pub control: Arc<Control>,
    pub source: Source,
    /// How many frames the mixer has mixed when it begins a batch.
    pub mixed: Arc<AtomicU64>,
    /// The frame to start at; 0: at once.
    pub start_frame: u64,
    /// Rises from silence.
    pub rises: bool,
}

impl SoundData for Playing {
    type Error = ();
    type Handle = ();

    fn into_sound(self) -> Result<(Box<dyn Sound>, ()), ()> {
        let mix = self.control.mix();
        let (left, right) = if self.rises { (0.0, 0.0) } else { (mix.left, mix.right) };
        let filter = LowPass { first: Frame::ZERO, second: Frame::ZERO };
        let filters = mix.cutoff_hz < OPEN_HZ;
        Ok((
            Box::new(Player {
                playing: self,
                mix: Mix { left, right, ..mix },
                now: 0,
                gate: 1.0,
                filter,
                filters,
                finished: false,
            }),
            (),
        ))
    }
}

struct Player {
    playing: Playing,
    /// As it is now.
    mix: Mix,
    /// The mixer's frame at the start of the next samples.
    now: u64,
    /// 1: open; 0: paused, or stopped.
    gate: f32,
    filter: LowPass,
    filters: bool,
    finished: bool,
}

impl Sound for Player {
    fn on_start_processing(&mut self) {
        self.now = self.playing.mixed.load(Ordering::Relaxed);
        if let Source::Stream { sound, .. } = &mut self.playing.source {
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
            self.leave();
            out.fill(Frame::ZERO);
            return;
        }
        let target = self.playing.control.mix();
        match &mut self.playing.source {
            Source::Stream { sound, .. } => sound.process(out, dt, info),
            Source::Whole(whole) => {
                let step = f64::from(whole.wave.sample_rate) * dt;
                let count = out.len().max(1) as f64;
                // The pitch slides over the batch.
                let (from, to) = (f64::from(self.mix.rate), f64::from(target.rate));
                for (i, frame) in out.iter_mut().enumerate() {
                    *frame = whole.next(step * (from + (to - from) * i as f64 / count));
                }
                self.finished |= whole.done();
            }
        }
        self.mix.rate = target.rate;
        self.shape(out, dt, target, state);
        if let Source::Stream { sound, .. } = &self.playing.source {
            self.finished |= sound.finished();
        }
        self.leave();
    }

    fn finished(&self) -> bool {
        self.finished
    }
}

impl Player {
    /// Gives back what only those take that play.
    fn leave(&self) {
        if let Source::Stream { place, .. } = &self.playing.source
            && self.finished
        {
            place.leave();
        }
    }

    /// Filter, volume, and the gate of pause and stop.
    fn shape(&mut self, out: &mut [Frame], dt: f64, target: Mix, state: u32) {
        if !self.filters && target.cutoff_hz < OPEN_HZ {
            self.filters = true;
            // As if the sample that comes now had been there for long: the filter begins in it.
            self.filter.second = out.first().copied().unwrap_or(Frame::ZERO);
        }
        // Half of the way each batch: a filter that jumps would be heard.
        self.mix.cutoff_hz += (target.cutoff_hz - self.mix.cutoff_hz) * 0.5;
        if self.filters {
            let factors = LowPass::factors(self.mix.cutoff_hz, dt);
            for frame in out.iter_mut() {
                *frame = self.filter.next(*frame, factors);
            }
        }
        let dt = dt as f32;
        let near = 1.0 - (-dt / SMOOTH_SECONDS).exp();
        let stop_seconds =
            f32::from_bits(self.playing.control.stop_seconds.load(Ordering::Relaxed));
        let gate_step = match state {
            PLAY => dt / PAUSE_SECONDS,
            PAUSE => -dt / PAUSE_SECONDS,
            _ => -dt / stop_seconds.max(0.001),
        };
        let Mix { mut left, mut right, .. } = self.mix;
        let mut gate = self.gate;
        for frame in out.iter_mut() {
            left += (target.left - left) * near;
            right += (target.right - right) * near;
            gate = (gate + gate_step).clamp(0.0, 1.0);
            *frame = Frame { left: frame.left * left * gate, right: frame.right * right * gate };
        }
        (self.mix.left, self.mix.right, self.gate) = (left, right, gate);
        // A stream ends by itself when it was stopped, and its thread with it.
        let whole = matches!(self.playing.source, Source::Whole(_));
        self.finished |= whole && state == STOP && gate == 0.0;
    }
}
