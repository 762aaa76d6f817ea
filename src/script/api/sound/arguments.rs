//! Argument and result types of the sound functions, in addition to the common types: voices that
//! may have ended, worlds of either kind, parameter values, and trigger options.

use crate::argument::{Argument, ArgumentError, TextArgument, UnboxedArgument, stale_message};
use crate::context::ScriptContext;
use crate::describe_value::describe;
use crate::graph_values::{SlotReader, SlotWriter, of_slot, push};
use crate::return_value::ReturnValue;
use crate::types::{ApiType, ValueShape};
use engine_foundation::{Error, Handle, HandleKind, Vec3, suggest};
use engine_runtime::Engine;
use engine_sound::music_clock::ClockGrid;
use engine_sound::voices::ParameterValue;
use engine_sound::{SoundWorldId, VoiceId};
use engine_world::WorldId;
use engine_world::unit::UnitId;
use mlua::ffi::*;
use std::ffi::c_int;

/// A voice that may have ended. Voices end by themselves, so passing one that has ended is not an
/// error.
#[derive(Clone, Copy)]
pub struct VoiceArgument(pub Handle);

impl VoiceArgument {
    #[inline]
    fn of(handle: Option<Handle>, engine: &Engine) -> Option<VoiceArgument> {
        let handle = handle.filter(|it| HandleKind::of(*it) == Some(HandleKind::Voice))?;
        let slots = &engine.devices.sounds.voices.slots;
        let known = slots.get(handle).is_some()
            || !matches!(slots.stale(handle), engine_foundation::handle::StaleHandle::Never);
        known.then_some(VoiceArgument(handle))
    }
}

impl Argument for VoiceArgument {
    const TYPE: ApiType =
        ApiType::new(HandleKind::Voice.name(), ValueShape::Handle(HandleKind::Voice));
    const OF_SLOT: Option<SlotReader<VoiceArgument>> = Some(|slot, engine, _| {
        VoiceArgument::of(slot.as_handle(), engine).ok_or(ArgumentError::Type)
    });
    unsafe fn read(
        l: *mut lua_State,
        i: c_int,
        cx: &ScriptContext,
    ) -> Result<VoiceArgument, ArgumentError> {
        // SAFETY: as the caller promised; the calls do not raise.
        let number = unsafe {
            if lua_type(l, i) != LUA_TNUMBER {
                return Err(ArgumentError::Type);
            }
            lua_tonumber(l, i)
        };
        let never = || {
            stale_message(HandleKind::Voice, engine_foundation::handle::StaleHandle::Never, number)
        };
        // SAFETY: the engine lives as long as the VM, and is not borrowed while arguments are read.
        let engine = unsafe { &*cx.engine };
        VoiceArgument::of(Handle::from_number(number), engine).ok_or_else(never)
    }
}

impl UnboxedArgument for VoiceArgument {
    type C = f64;
    #[inline]
    unsafe fn from_c(c: f64, _: u32, cx: &ScriptContext) -> Option<VoiceArgument> {
        // SAFETY: as for `read`.
        VoiceArgument::of(Handle::from_number(c), unsafe { &*cx.engine })
    }
}

/// A started voice, or nil if none was started.
pub struct StartedVoice(pub Option<VoiceId>);

impl ReturnValue for StartedVoice {
    const TYPES: &'static [ApiType] =
        &[ApiType::new(HandleKind::Voice.name(), ValueShape::Handle(HandleKind::Voice)).or_nil()];
    const INTO_SLOTS: Option<SlotWriter<StartedVoice>> =
        Some(|voice, results| push(voice.0, results));
    unsafe fn push(self, l: *mut lua_State, _: &mut ScriptContext) -> Result<c_int, String> {
        // SAFETY: as the caller promised.
        unsafe {
            match self.0 {
                Some(voice) => lua_pushnumber(l, voice.0.to_number()),
                None => lua_pushnil(l),
            }
        }
        Ok(1)
    }
}

/// A world, or a sound world.
#[derive(Clone, Copy)]
pub enum SoundWorldArgument {
    World(WorldId),
    Sound(SoundWorldId),
}

impl SoundWorldArgument {
    /// Returns the sound world.
    pub fn sound(self, engine: &mut Engine) -> SoundWorldId {
        match self {
            SoundWorldArgument::World(world) => engine.devices.sounds.world(world.0),
            SoundWorldArgument::Sound(world) => world,
        }
    }
}

impl Argument for SoundWorldArgument {
    const TYPE: ApiType = ApiType::new("World|SoundWorld", ValueShape::Number);
    const OF_SLOT: Option<SlotReader<SoundWorldArgument>> =
        Some(|slot, engine, heap| match slot.as_handle().and_then(HandleKind::of) {
            Some(HandleKind::SoundWorld) => {
                of_slot(slot, engine, heap).map(SoundWorldArgument::Sound)
            }
            _ => of_slot(slot, engine, heap).map(SoundWorldArgument::World),
        });
    unsafe fn read(
        l: *mut lua_State,
        i: c_int,
        cx: &ScriptContext,
    ) -> Result<SoundWorldArgument, ArgumentError> {
        // SAFETY: as the caller promised.
        unsafe {
            let of_sound = lua_type(l, i) == LUA_TNUMBER
                && Handle::from_number(lua_tonumber(l, i)).and_then(HandleKind::of)
                    == Some(HandleKind::SoundWorld);
            match of_sound {
                true => SoundWorldId::read(l, i, cx).map(SoundWorldArgument::Sound),
                false => WorldId::read(l, i, cx).map(SoundWorldArgument::World),
            }
        }
    }
}

/// The value of a sound parameter.
pub struct ParameterArgument(pub ParameterValue);

impl Argument for ParameterArgument {
    const TYPE: ApiType = ApiType::new("number|string", ValueShape::Number);
    unsafe fn read(
        l: *mut lua_State,
        i: c_int,
        cx: &ScriptContext,
    ) -> Result<ParameterArgument, ArgumentError> {
        // SAFETY: as the caller promised; strings are not converted.
        unsafe {
            match lua_type(l, i) {
                LUA_TNUMBER => {
                    let number = f64::read(l, i, cx)? as f32;
                    match number.is_finite() {
                        true => Ok(ParameterArgument(ParameterValue::Number(number))),
                        false => Err(ArgumentError::Message(
                            "must fit in a float of 32 bits".to_string(),
                        )),
                    }
                }
                LUA_TSTRING => {
                    let text = TextArgument::read(l, i, cx)?;
                    Ok(ParameterArgument(ParameterValue::Text(text.as_str().to_string())))
                }
                _ => Err(ArgumentError::Type),
            }
        }
    }
}

impl UnboxedArgument for ParameterArgument {
    type C = f64;
    #[inline]
    unsafe fn from_c(c: f64, _: u32, _: &ScriptContext) -> Option<ParameterArgument> {
        let number = c as f32;
        number.is_finite().then_some(ParameterArgument(ParameterValue::Number(number)))
    }
}

/// The options for triggering a sound.
pub struct TriggerOptions {
    pub parameters: Vec<(String, ParameterValue)>,
    pub position: Option<Vec3>,
    pub unit: Option<UnitId>,
    /// Node number from 1.
    pub node: Option<f64>,
    pub volume: f32,
    pub pitch: f32,
    pub pan: f32,
    pub fade_in: Option<f32>,
    pub delay: f32,
    pub loops: Option<bool>,
    pub bus: Option<String>,
    pub priority: Option<f32>,
    pub occlusion: f32,
    pub clock: Option<String>,
    pub on: Option<ClockGrid>,
}

impl Default for TriggerOptions {
    /// Returns options that play the sound unchanged, without a position and without delay.
    fn default() -> TriggerOptions {
        TriggerOptions {
            parameters: Vec::new(),
            position: None,
            unit: None,
            node: None,
            volume: 1.0,
            pitch: 1.0,
            pan: 0.0,
            fade_in: None,
            delay: 0.0,
            loops: None,
            bus: None,
            priority: None,
            occlusion: 0.0,
            clock: None,
            on: None,
        }
    }
}

/// Every option, with its minimum and maximum if it is a number.
const OPTIONS: [(&str, f64, f64); 15] = [
    ("parameters", 0.0, 0.0),
    ("position", 0.0, 0.0),
    ("unit", 0.0, 0.0),
    ("node", 1.0, 1e6),
    ("volume", 0.0, 16.0),
    ("pitch", 0.01, 16.0),
    ("pan", -1.0, 1.0),
    ("fade_in", 0.0, 3600.0),
    ("delay", 0.0, 3600.0),
    ("loop", 0.0, 0.0),
    ("bus", 0.0, 0.0),
    ("priority", 0.0, 100.0),
    ("occlusion", 0.0, 1.0),
    ("clock", 0.0, 0.0),
    ("on", 0.0, 0.0),
];

impl Argument for TriggerOptions {
    const TYPE: ApiType = ApiType::new("table", ValueShape::Boxed);
    unsafe fn read(
        l: *mut lua_State,
        i: c_int,
        cx: &ScriptContext,
    ) -> Result<TriggerOptions, ArgumentError> {
        let mut options = TriggerOptions::default();
        // SAFETY: as the caller promised; keys are not converted while the table is walked.
        unsafe {
            if lua_type(l, i) != LUA_TTABLE {
                return Err(ArgumentError::Type);
            }
            let top = lua_gettop(l);
            if lua_checkstack(l, 8) == 0 {
                return Err(ArgumentError::Message("the Lua stack is full".to_string()));
            }
            lua_pushnil(l);
            while lua_next(l, i) != 0 {
                let taken = options.take(l, cx);
                if let Err(wrong) = taken {
                    lua_settop(l, top);
                    return Err(wrong);
                }
                lua_settop(l, -2);
            }
        }
        options.check()
    }
}

/// Reads the value of the option 'on'.
fn clock_grid(word: &str) -> Result<ClockGrid, ArgumentError> {
    match word {
        "bar" => Ok(ClockGrid::Bar),
        "beat" => Ok(ClockGrid::Beat),
        _ => Err(ArgumentError::Message(format!(
            "option 'on' must be \"bar\" or \"beat\", got \"{word}\""
        ))),
    }
}

impl TriggerOptions {
    /// Reads the option with the key at -2 and the value at -1.
    unsafe fn take(&mut self, l: *mut lua_State, cx: &ScriptContext) -> Result<(), ArgumentError> {
        // SAFETY: as for `read`.
        unsafe {
            let value = lua_gettop(l);
            if lua_type(l, value - 1) != LUA_TSTRING {
                let description = describe(l, value - 1, cx);
                return Err(ArgumentError::Message(format!(
                    "has an option whose name is {description}"
                )));
            }
            let key = TextArgument::read(l, value - 1, cx)?;
            let key = key.as_str();
            let Some((_, min, max)) = OPTIONS.iter().find(|(name, ..)| *name == key) else {
                let hint = suggest::hint(key, OPTIONS.map(|(name, ..)| name));
                return Err(ArgumentError::Message(format!(
                    "has the unknown option '{key}'{hint}"
                )));
            };
            let named = |wrong, want: &str| match wrong {
                ArgumentError::Type => ArgumentError::Message(format!(
                    "option '{key}' must be {want}, got {}",
                    describe(l, value, cx)
                )),
                ArgumentError::Message(message) | ArgumentError::RestArgument(_, message) => {
                    ArgumentError::Message(format!("option '{key}' {message}"))
                }
            };
            let text = || {
                let text =
                    TextArgument::read(l, value, cx).map_err(|wrong| named(wrong, "string"))?;
                Ok(text.as_str().to_string())
            };
            let number = || {
                let number = f64::read(l, value, cx).map_err(|wrong| named(wrong, "number"))?;
                if (*min..=*max).contains(&number) {
                    return Ok(number);
                }
                Err(ArgumentError::Message(format!(
                    "option '{key}' must be {min} to {max}, got {number}"
                )))
            };
            match key {
                "parameters" => self.parameters = parameters(l, value, cx)?,
                "position" => {
                    let position = Vec3::read(l, value, cx);
                    self.position = Some(position.map_err(|wrong| named(wrong, "Vector3"))?);
                }
                "unit" => {
                    let unit = UnitId::read(l, value, cx).map_err(|wrong| named(wrong, "Unit"))?;
                    self.unit = Some(unit);
                }
                "node" => self.node = Some(number()?),
                "volume" => self.volume = number()? as f32,
                "pitch" => self.pitch = number()? as f32,
                "pan" => self.pan = number()? as f32,
                "fade_in" => self.fade_in = Some(number()? as f32),
                "delay" => self.delay = number()? as f32,
                "loop" => {
                    let loops = bool::read(l, value, cx);
                    self.loops = Some(loops.map_err(|wrong| named(wrong, "boolean"))?);
                }
                "bus" => self.bus = Some(text()?),
                "priority" => self.priority = Some(number()? as f32),
                "occlusion" => self.occlusion = number()? as f32,
                "clock" => self.clock = Some(text()?),
                _ => self.on = Some(clock_grid(&text()?)?),
            }
            Ok(())
        }
    }

    /// Checks that the options can be combined.
    fn check(self) -> Result<TriggerOptions, ArgumentError> {
        let message = if self.position.is_some() && self.unit.is_some() {
            "has 'position' and 'unit': one of them says where the sound is"
        } else if self.node.is_some_and(|node| node.fract() != 0.0) {
            "option 'node' must be a whole number, from 1"
        } else if self.node.is_some() && self.unit.is_none() {
            "has 'node' and no 'unit' that it belongs to"
        } else if self.on.is_some() && self.clock.is_none() {
            "has 'on' and no 'clock' that it belongs to"
        } else {
            return Ok(self);
        };
        Err(ArgumentError::Message(message.to_string()))
    }
}

/// Reads names and values, sorted by name.
unsafe fn parameters(
    l: *mut lua_State,
    i: c_int,
    cx: &ScriptContext,
) -> Result<Vec<(String, ParameterValue)>, ArgumentError> {
    let mut parameters = Vec::new();
    // SAFETY: as for `TriggerOptions::read`; the caller restores the stack.
    unsafe {
        if lua_type(l, i) != LUA_TTABLE {
            let description = describe(l, i, cx);
            let message = format!("option 'parameters' must be table, got {description}");
            return Err(ArgumentError::Message(message));
        }
        lua_pushnil(l);
        while lua_next(l, i) != 0 {
            if lua_type(l, -2) != LUA_TSTRING {
                let description = describe(l, -2, cx);
                let message =
                    format!("option 'parameters' must have names as keys, got {description}");
                return Err(ArgumentError::Message(message));
            }
            let name = TextArgument::read(l, lua_gettop(l) - 1, cx)?.as_str().to_string();
            let value =
                ParameterArgument::read(l, lua_gettop(l), cx).map_err(|wrong| match wrong {
                    ArgumentError::Type => ArgumentError::Message(format!(
                        "parameter '{name}' must be a number or a string, got {}",
                        describe(l, -1, cx)
                    )),
                    ArgumentError::Message(message) | ArgumentError::RestArgument(_, message) => {
                        ArgumentError::Message(format!("parameter '{name}' {message}"))
                    }
                })?;
            parameters.extend([(name, value.0)]);
            lua_settop(l, -2);
        }
    }
    parameters.sort_by(|(a, _), (b, _)| a.cmp(b));
    Ok(parameters)
}

/// Checks that a number is in a range.
pub fn in_range(argument: &str, number: f64, min: f64, max: f64) -> Result<f32, Error> {
    match (min..=max).contains(&number) {
        true => Ok(number as f32),
        false => Err(engine_foundation::error!(
            "argument {argument} must be {min} to {max}, got {number}"
        )),
    }
}
