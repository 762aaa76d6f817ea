//! The parts of a voice: what it was told, what the passes of a frame make of it, what a device is
//! told of it. Types alone; voices.rs and step.rs work with them.

use super::choose::Chosen;
use super::clock::Grid;
use super::parameters::Setting;
use super::space::{LISTENERS_MAX, Listener};
use crate::foundation::hash::IdString32;
use crate::foundation::{Handle, Vec3};

/// What a recording's samples are multiplied with, and how fast they go.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mix {
    pub left: f32,
    pub right: f32,
    /// 1: as it was recorded.
    pub rate: f32,
    /// Of the low-pass filter; [`super::step::OPEN_HZ`] and more is none.
    pub cutoff_hz: f32,
}

impl Mix {
    pub const SILENT: Mix = Mix { left: 0.0, right: 0.0, rate: 1.0, cutoff_hz: 24_000.0 };
}

/// One recording of a voice. Its place in the array is voice × `LAYERS_MAX` + layer.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    pub state: PartState,
    pub recording: u32,
    pub chosen: Chosen,
    /// In seconds of sound time.
    pub start_at: f64,
    /// Where in the recording it is.
    pub seconds: f64,
    /// What the layer's own curves say: gain, pitch, cut-off.
    pub gain: f32,
    pub pitch: f32,
    pub cutoff_hz: f32,
    pub pan: f32,
    pub mix: Mix,
    /// Whether the device has it.
    pub sent: bool,
    /// The loop that the device has.
    pub repeat: Option<(f64, f64)>,
    /// Whether the device was told to pause it.
    pub held: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartState {
    Empty,
    Playing,
    Done,
}

impl Part {
    pub const EMPTY: Part = Part {
        state: PartState::Empty,
        recording: 0,
        chosen: Chosen { file: None, volume_db: 0.0, pitch: 1.0 },
        start_at: 0.0,
        seconds: 0.0,
        gain: 1.0,
        pitch: 1.0,
        cutoff_hz: 24_000.0,
        pan: 0.0,
        mix: Mix::SILENT,
        sent: false,
        repeat: None,
        held: false,
    };
}

/// A volume on its way.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fade {
    pub from: f32,
    pub to: f32,
    pub passed: f32,
    pub seconds: f32,
}

impl Fade {
    /// A volume that stays.
    pub fn at(volume: f32) -> Fade {
        Fade { from: volume, to: volume, passed: 0.0, seconds: 0.0 }
    }

    pub fn value(&self) -> f32 {
        if self.passed >= self.seconds {
            return self.to;
        }
        self.from + (self.to - self.from) * self.passed / self.seconds
    }

    /// From where it is now.
    pub fn go(&mut self, to: f32, seconds: f32) {
        *self = Fade { from: self.value(), to, passed: 0.0, seconds };
    }
}

/// What a voice was told, beside its parameters.
#[derive(Clone, Debug)]
pub struct Voice {
    pub handle: Handle,
    pub sound: u32,
    pub world: Handle,
    pub bus: usize,
    pub volume: Fade,
    /// Fades in at the start, and out at the end.
    pub envelope: Fade,
    /// Ends when its envelope has come down.
    pub ending: bool,
    pub pitch: f32,
    /// Added to its sound's.
    pub pan: f32,
    pub random_db: f32,
    pub random_pitch: f32,
    pub priority: f32,
    /// Whether its trigger said the priority, and not its sound.
    pub own_priority: bool,
    pub paused: bool,
    pub occlusion: f32,
    /// Where it is, if it is anywhere.
    pub position: Option<Vec3>,
    pub velocity: Vec3,
    pub last_position: Vec3,
    /// Counts triggers: the lower is the older.
    pub age: u64,
    /// What it is linked to: a handle and a number of its owner's, who feeds the positions.
    pub owner: Option<(Handle, u32)>,
    /// A text parameter changed, or the rules did: loops choose anew.
    pub stale_choice: bool,
    /// Nothing of it was told of yet.
    pub new: bool,
}

/// The results of a frame's passes, by voice.
#[derive(Clone, Copy, Debug)]
pub struct Level {
    pub gain: f32,
    pub pitch: f32,
    pub cutoff_hz: f32,
    pub pan: f32,
    /// How loud it is in the end, for the choice of those that are heard.
    pub audible: f32,
    /// Whether it is one of those.
    pub heard: bool,
}

impl Level {
    pub const START: Level =
        Level { gain: 1.0, pitch: 1.0, cutoff_hz: 24_000.0, pan: 0.0, audible: 1.0, heard: false };
}

/// What a device is told.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    Start(Start),
    Mix {
        part: u32,
        mix: Mix,
    },
    Pause {
        part: u32,
        paused: bool,
    },
    /// Ends it, in so many seconds.
    Stop {
        part: u32,
        seconds: f32,
    },
    /// It came to its end.
    Forget {
        part: u32,
    },
    Bus {
        bus: u32,
        gain: f32,
    },
}

/// A recording begins.
#[derive(Clone, Debug, PartialEq)]
pub struct Start {
    pub part: u32,
    pub sound: u32,
    pub recording: u32,
    /// Where in the recording.
    pub seconds: f64,
    /// Start and end of the loop.
    pub repeat: Option<(f64, f64)>,
    pub bus: u32,
    /// In seconds of sound time; at once if `None`.
    pub at: Option<f64>,
    pub mix: Mix,
    /// Rises from silence, for it begins in the middle.
    pub rises: bool,
}

/// Something that games can hear of.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    pub kind: EventKind,
    pub world: Option<Handle>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum EventKind {
    Ended { voice: Handle, sound: u32, reason: &'static str },
    Bar { clock: String, bar: u64 },
}

/// A recording that was started, for tests and tools.
#[derive(Clone, Debug, PartialEq)]
pub struct Played {
    pub voice: Handle,
    pub sound: u32,
    pub recording: u32,
    /// Sound time.
    pub at: f64,
    /// Its name, for buses can be exchanged.
    pub bus: String,
    pub gain: f32,
    pub pan: f32,
    pub pitch: f32,
    pub cutoff_hz: f32,
}

/// The ears and the pause of one world.
pub struct SoundWorld {
    /// Of the world that it belongs to.
    pub world: Handle,
    pub listeners: [Option<Listener>; LISTENERS_MAX],
    pub last_positions: [Vec3; LISTENERS_MAX],
    pub paused: bool,
}

/// The value of a parameter, as it comes in.
#[derive(Clone, Debug, PartialEq)]
pub enum ParameterValue {
    Number(f32),
    Text(String),
}

impl ParameterValue {
    pub fn setting(&self) -> Setting {
        match self {
            ParameterValue::Number(number) => Setting::Number(*number),
            ParameterValue::Text(text) => Setting::Text(IdString32::new(text)),
        }
    }
}

/// What is triggered, and how.
#[derive(Clone, Debug)]
pub struct Trigger<'a> {
    pub sound: &'a str,
    /// Of a sound world.
    pub world: Handle,
    pub parameters: &'a [(String, ParameterValue)],
    pub position: Option<Vec3>,
    /// 1: as the sound says.
    pub volume: f32,
    pub pitch: f32,
    pub pan: f32,
    pub fade_in_seconds: Option<f32>,
    pub delay_seconds: f32,
    pub bus: Option<&'a str>,
    pub priority: Option<f32>,
    pub occlusion: f32,
    /// The clock on whose grid it begins.
    pub clock: Option<(&'a str, Grid)>,
    /// What it is linked to, and a number of whoever feeds the positions.
    pub owner: Option<(Handle, u32)>,
}

impl<'a> Trigger<'a> {
    /// As the sound says, everywhere and at once.
    pub fn new(sound: &'a str, world: Handle) -> Trigger<'a> {
        Trigger {
            sound,
            world,
            parameters: &[],
            position: None,
            volume: 1.0,
            pitch: 1.0,
            pan: 0.0,
            fade_in_seconds: None,
            delay_seconds: 0.0,
            bus: None,
            priority: None,
            occlusion: 0.0,
            clock: None,
            owner: None,
        }
    }
}
