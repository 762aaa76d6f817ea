//! Generated sounds, for the prelude (lua/sound/sound_buffer.lua).

use crate::api_row::{ModuleRows, func, module};
use crate::argument::{ByteArgument, Integer, TextArgument};
use engine_foundation::Error;
use engine_runtime::Engine;
use engine_sound::generated::GeneratedSamples;

pub static CORE: ModuleRows = module(
    "SoundBuffer",
    "Generated sounds, for the prelude.",
    "assert(core == nil)",
    &[func(
        "set_generated_sound",
        set_generated_sound,
        &[("name", ""), ("channels", ""), ("sample_rate", ""), ("is_int16", ""), ("bytes", "")],
        "Makes a sound of samples, or exchanges the one of that name.",
    )
    .public_name("SoundBuffer.to_sound")],
);

fn set_generated_sound(
    engine: &mut Engine,
    name: TextArgument,
    channels: Integer,
    sample_rate: Integer,
    is_int16: bool,
    bytes: ByteArgument,
) -> Result<(), Error> {
    // The prelude has checked the numbers.
    let (channels, sample_rate) = (channels.0 as u16, sample_rate.0 as u32);
    let samples = GeneratedSamples { sample_rate, channels, is_int16, bytes: bytes.as_slice() };
    engine.devices.sounds.set_generated(&engine.assets.store, name.as_str(), samples)
}
