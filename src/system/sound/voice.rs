//! The data types of a voice: its settings, the results of a frame's passes, and the commands to
//! the mixer. voices.rs and voice_update.rs work with them.

use super::container_selection::SelectedClips;
use super::music_clock::ClockGrid;
use super::parameters::ParameterWrite;
use super::spatialization::{LISTENERS_MAX, Listener};
use super::voice_loop::VoiceLoop;
use engine_foundation::hash::IdString32;
use engine_foundation::{Handle, Vec3};

/// Mix levels of a recording: the gains of its samples and its playback rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MixLevels {
    pub left: f32,
    pub right: f32,
    /// Playback rate; 1: as recorded.
    pub rate: f32,
    /// Cutoff frequency of the low-pass filter; [`super::voice_update::OPEN_HZ`] and more disables
    /// the filter.
    pub cutoff_hz: f32,
}

impl MixLevels {
    pub const SILENT: MixLevels =
        MixLevels { left: 0.0, right: 0.0, rate: 1.0, cutoff_hz: 24_000.0 };
}

/// One playing recording of a voice. Its index in the array is voice × `LAYERS_MAX` + layer.
#[derive(Clone, Copy, Debug)]
pub struct VoicePart {
    pub state: VoicePartState,
    pub recording: u32,
    pub chosen: SelectedClips,
    /// Start time, in seconds of sound time.
    pub start_at: f64,
    /// Playback position in the recording, in seconds.
    pub seconds: f64,
    /// Results of the layer's own curves: gain, pitch, cut-off, pan.
    pub gain: f32,
    pub pitch: f32,
    pub cutoff_hz: f32,
    pub pan: f32,
    pub mix: MixLevels,
    /// True if the device plays this part.
    pub sent: bool,
    /// The loop region last sent to the device, in seconds: start and end.
    pub repeat: Option<(f64, f64)>,
    /// True if the device was told to pause.
    pub paused_sent: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VoicePartState {
    Empty,
    Playing,
    Done,
}

impl VoicePart {
    pub const EMPTY: VoicePart = VoicePart {
        state: VoicePartState::Empty,
        recording: 0,
        chosen: SelectedClips { file: None, volume_db: 0.0, pitch: 1.0 },
        start_at: 0.0,
        seconds: 0.0,
        gain: 1.0,
        pitch: 1.0,
        cutoff_hz: 24_000.0,
        pan: 0.0,
        mix: MixLevels::SILENT,
        sent: false,
        repeat: None,
        paused_sent: false,
    };
}

/// A volume that fades from one value to another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VolumeFade {
    pub from: f32,
    pub to: f32,
    pub passed: f32,
    pub seconds: f32,
}

impl VolumeFade {
    /// Returns a constant volume.
    pub fn at(volume: f32) -> VolumeFade {
        VolumeFade { from: volume, to: volume, passed: 0.0, seconds: 0.0 }
    }

    pub fn value(&self) -> f32 {
        if self.passed >= self.seconds {
            return self.to;
        }
        self.from + (self.to - self.from) * self.passed / self.seconds
    }

    /// Starts a fade from the current value.
    pub fn start(&mut self, to: f32, seconds: f32) {
        *self = VolumeFade { from: self.value(), to, passed: 0.0, seconds };
    }
}

/// Settings of a voice, except its parameters.
#[derive(Clone, Debug)]
pub struct Voice {
    pub handle: Handle,
    pub sound: u32,
    pub world: Handle,
    pub bus: usize,
    pub volume: VolumeFade,
    /// Fades in at the start, and out at the end.
    pub envelope: VolumeFade,
    /// The voice ends when its envelope reaches silence.
    pub ending: bool,
    pub pitch: f32,
    /// Added to the pan of its sound.
    pub pan: f32,
    pub random_db: f32,
    pub random_pitch: f32,
    pub priority: f32,
    /// True if the trigger set the priority, and not the sound.
    pub own_priority: bool,
    pub paused: bool,
    pub occlusion: f32,
    /// Position of the voice, if it has one.
    pub position: Option<Vec3>,
    pub velocity: Vec3,
    pub last_position: Vec3,
    /// Running number of the trigger: a lower number is older.
    pub age: u64,
    /// Owner of the voice: a handle, and a number that belongs to the owner. The owner updates the
    /// position.
    pub owner: Option<(Handle, u32)>,
    pub repeat: VoiceLoop,
    /// A text parameter or the rules have changed, so loops choose their recordings again.
    pub stale_choice: bool,
    /// True until the first event of the voice.
    pub new: bool,
}

/// The results of a frame's passes for one voice.
#[derive(Clone, Copy, Debug)]
pub struct VoiceLevel {
    pub gain: f32,
    pub pitch: f32,
    pub cutoff_hz: f32,
    pub pan: f32,
    /// Final loudness, by which the voices to mix are chosen.
    pub audible: f32,
    /// True if the voice is mixed.
    pub is_mixed: bool,
}

impl VoiceLevel {
    pub const START: VoiceLevel = VoiceLevel {
        gain: 1.0,
        pitch: 1.0,
        cutoff_hz: 24_000.0,
        pan: 0.0,
        audible: 1.0,
        is_mixed: false,
    };
}

/// A command to the mixer.
#[derive(Clone, Debug, PartialEq)]
pub enum MixerCommand {
    Start(ClipStart),
    Mix {
        part: u32,
        mix: MixLevels,
    },
    Pause {
        part: u32,
        paused: bool,
    },
    /// Stops a part within this time.
    Stop {
        part: u32,
        seconds: f32,
    },
    /// Releases a part that has come to its end.
    Forget {
        part: u32,
    },
    Bus {
        bus: u32,
        gain: f32,
    },
}

/// The start of a recording.
#[derive(Clone, Debug, PartialEq)]
pub struct ClipStart {
    pub part: u32,
    pub sound: u32,
    pub recording: u32,
    /// Start position in the recording, in seconds.
    pub seconds: f64,
    /// Start and end of the loop.
    pub repeat: Option<(f64, f64)>,
    pub bus: u32,
    /// Start time, in seconds of sound time; immediately if `None`.
    pub at: Option<f64>,
    pub mix: MixLevels,
    /// True if the volume fades in from silence, because playback begins in the middle.
    pub rises: bool,
}

/// A sound event for games.
#[derive(Clone, Debug, PartialEq)]
pub struct SoundEvent {
    pub kind: SoundEventKind,
    pub world: Option<Handle>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum SoundEventKind {
    Ended { voice: Handle, sound: u32, reason: &'static str },
    Bar { clock: String, bar: u64 },
}

/// A recording that was started, for tests and tools.
#[derive(Clone, Debug, PartialEq)]
pub struct PlayedClip {
    pub voice: Handle,
    pub sound: u32,
    pub recording: u32,
    /// Sound time of the start.
    pub at: f64,
    /// Name of the bus, because buses can be exchanged.
    pub bus: String,
    pub gain: f32,
    pub pan: f32,
    pub pitch: f32,
    pub cutoff_hz: f32,
}

/// Listeners and pause state of one world.
pub struct SoundWorld {
    /// The world that this sound world belongs to.
    pub world: Handle,
    pub listeners: [Option<Listener>; LISTENERS_MAX],
    pub last_positions: [Vec3; LISTENERS_MAX],
    pub paused: bool,
}

/// The value of a parameter, as callers pass it.
#[derive(Clone, Debug, PartialEq)]
pub enum ParameterValue {
    Number(f32),
    Text(String),
}

impl ParameterValue {
    pub fn setting(&self) -> ParameterWrite {
        match self {
            ParameterValue::Number(number) => ParameterWrite::Number(*number),
            ParameterValue::Text(text) => ParameterWrite::Text(IdString32::new(text)),
        }
    }
}

/// Description of a sound to trigger.
#[derive(Clone, Debug)]
pub struct TriggerDesc<'a> {
    pub sound: &'a str,
    /// Handle of a sound world.
    pub world: Handle,
    pub parameters: &'a [(String, ParameterValue)],
    pub position: Option<Vec3>,
    /// Factor of the volume; 1: as the sound says.
    pub volume: f32,
    pub pitch: f32,
    pub pan: f32,
    pub fade_in_seconds: Option<f32>,
    pub delay_seconds: f32,
    pub repeat: VoiceLoop,
    pub bus: Option<&'a str>,
    pub priority: Option<f32>,
    pub occlusion: f32,
    /// The clock on whose grid the sound begins.
    pub clock: Option<(&'a str, ClockGrid)>,
    /// Owner of the voice, and a number that belongs to the owner. The owner updates the position.
    pub owner: Option<(Handle, u32)>,
}

impl<'a> TriggerDesc<'a> {
    /// Returns a trigger with the sound's own settings, without a position, that starts
    /// immediately.
    pub fn new(sound: &'a str, world: Handle) -> TriggerDesc<'a> {
        TriggerDesc {
            sound,
            world,
            parameters: &[],
            position: None,
            volume: 1.0,
            pitch: 1.0,
            pan: 0.0,
            fade_in_seconds: None,
            delay_seconds: 0.0,
            repeat: VoiceLoop::AsSound,
            bus: None,
            priority: None,
            occlusion: 0.0,
            clock: None,
            owner: None,
        }
    }
}
