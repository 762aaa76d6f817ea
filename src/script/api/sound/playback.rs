//! Positions and loops of voices: functions of the Lua module `Sound`.

use super::arguments::{VoiceArgument, in_range};
use super::{SECONDS_MAX, TriggerOptions};
use engine_foundation::Error;
use engine_runtime::Engine;
use engine_sound::data::LoopRange;
use engine_sound::voice_loop::VoiceLoop;

/// A loop over whole recordings.
const WHOLE: LoopRange = LoopRange { start_seconds: 0.0, end_seconds: 0.0 };

pub(super) fn seconds(engine: &mut Engine, voice: VoiceArgument) -> f64 {
    engine.devices.sounds.voices.seconds(voice.0).unwrap_or(0.0)
}

pub(super) fn seek(engine: &mut Engine, voice: VoiceArgument, seconds: f64) -> Result<bool, Error> {
    in_range("#2 'seconds'", seconds, 0.0, SECONDS_MAX)?;
    Ok(engine.devices.sounds.voices.seek(voice.0, seconds))
}

impl TriggerOptions {
    /// Returns the loop of the voice to trigger.
    pub(super) fn repeat(&self) -> VoiceLoop {
        match self.loops {
            None => VoiceLoop::AsSound,
            Some(false) => VoiceLoop::Once,
            Some(true) => VoiceLoop::Repeat(WHOLE),
        }
    }
}

pub(super) fn set_loop(
    engine: &mut Engine,
    voice: VoiceArgument,
    loops: bool,
    start: Option<f64>,
    end: Option<f64>,
) -> Result<bool, Error> {
    if !loops && (start.is_some() || end.is_some()) {
        return Err(engine_foundation::error!(
            "a voice without a loop has no start and end: leave out the arguments after false"
        ));
    }
    let start_seconds = in_range("#3 'start_seconds'", start.unwrap_or(0.0), 0.0, SECONDS_MAX)?;
    let end_seconds = match end {
        Some(end) => in_range("#4 'end_seconds'", end, 0.0, SECONDS_MAX)?,
        None => WHOLE.end_seconds,
    };
    if end.is_some() && end_seconds <= start_seconds {
        return Err(engine_foundation::error!(
            "argument #4 'end_seconds' must be greater than the start, {start_seconds}, got \
             {end_seconds}"
        ));
    }
    let repeat = match loops {
        true => VoiceLoop::Repeat(LoopRange { start_seconds, end_seconds }),
        false => VoiceLoop::Once,
    };
    engine.devices.sounds.voices.set_loop(voice.0, repeat)
}
