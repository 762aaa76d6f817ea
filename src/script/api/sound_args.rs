//! What the functions of sound take and give beside the common types: voices that may have ended,
//! worlds of either kind, values of parameters, the options of a trigger.

use crate::engine::Engine;
use crate::foundation::{Error, Handle, Kind, Vec3, suggest};
use crate::script::arg::{Arg, Plain, Text, Wrong, stale_words};
use crate::script::cx::Cx;
use crate::script::describe::describe;
use crate::script::ret::Ret;
use crate::script::types::{Shape, Type};
use crate::system::sound::clock::Grid;
use crate::system::sound::voices::ParameterValue;
use crate::system::sound::{SoundWorldId, VoiceId};
use crate::world::WorldId;
use crate::world::unit::UnitId;
use mlua::ffi::*;
use std::ffi::c_int;

/// A voice, or one that has ended: voices end by themselves, so asking for one is no mistake.
#[derive(Clone, Copy)]
pub struct Voice(pub Handle);

impl Voice {
    #[inline]
    fn of(number: f64, cx: &Cx) -> Option<Voice> {
        let handle = Handle::from_number(number).filter(|it| Kind::of(*it) == Some(Kind::Voice))?;
        // SAFETY: the engine lives as long as the VM, and is not borrowed while arguments are read.
        let slots = unsafe { &(*cx.engine).sounds.voices.slots };
        let known = slots.get(handle).is_some()
            || !matches!(slots.stale(handle), crate::foundation::handle::Stale::Never);
        known.then_some(Voice(handle))
    }
}

impl Arg for Voice {
    const TYPE: Type = Type::new(Kind::Voice.name(), Shape::Handle(Kind::Voice));
    unsafe fn read(l: *mut lua_State, i: c_int, cx: &Cx) -> Result<Voice, Wrong> {
        // SAFETY: as the caller promised; the calls do not raise.
        let number = unsafe {
            if lua_type(l, i) != LUA_TNUMBER {
                return Err(Wrong::Type);
            }
            lua_tonumber(l, i)
        };
        let never = || stale_words(Kind::Voice, crate::foundation::handle::Stale::Never, number);
        Voice::of(number, cx).ok_or_else(never)
    }
}

impl Plain for Voice {
    type C = f64;
    #[inline]
    unsafe fn from_c(c: f64, _: u32, cx: &Cx) -> Option<Voice> {
        Voice::of(c, cx)
    }
}

/// A voice, or nil where none was started.
pub struct Started(pub Option<VoiceId>);

impl Ret for Started {
    const TYPES: &'static [Type] =
        &[Type::new(Kind::Voice.name(), Shape::Handle(Kind::Voice)).or_nil()];
    unsafe fn push(self, l: *mut lua_State, _: &mut Cx) -> Result<c_int, String> {
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

/// A world, or the sound of one.
#[derive(Clone, Copy)]
pub enum AnyWorld {
    World(WorldId),
    Sound(SoundWorldId),
}

impl AnyWorld {
    /// The sound of it.
    pub fn sound(self, engine: &mut Engine) -> SoundWorldId {
        match self {
            AnyWorld::World(world) => engine.sounds.world(world.0),
            AnyWorld::Sound(world) => world,
        }
    }
}

impl Arg for AnyWorld {
    const TYPE: Type = Type::new("World|SoundWorld", Shape::Number);
    unsafe fn read(l: *mut lua_State, i: c_int, cx: &Cx) -> Result<AnyWorld, Wrong> {
        // SAFETY: as the caller promised.
        unsafe {
            let of_sound = lua_type(l, i) == LUA_TNUMBER
                && Handle::from_number(lua_tonumber(l, i)).and_then(Kind::of)
                    == Some(Kind::SoundWorld);
            match of_sound {
                true => SoundWorldId::read(l, i, cx).map(AnyWorld::Sound),
                false => WorldId::read(l, i, cx).map(AnyWorld::World),
            }
        }
    }
}

/// The value of a parameter.
pub struct Value(pub ParameterValue);

impl Arg for Value {
    const TYPE: Type = Type::new("number|string", Shape::Number);
    unsafe fn read(l: *mut lua_State, i: c_int, cx: &Cx) -> Result<Value, Wrong> {
        // SAFETY: as the caller promised; strings are not converted.
        unsafe {
            match lua_type(l, i) {
                LUA_TNUMBER => {
                    let number = f64::read(l, i, cx)? as f32;
                    match number.is_finite() {
                        true => Ok(Value(ParameterValue::Number(number))),
                        false => Err(Wrong::Words("must fit in a float of 32 bits".to_string())),
                    }
                }
                LUA_TSTRING => {
                    let text = Text::read(l, i, cx)?;
                    Ok(Value(ParameterValue::Text(text.as_str().to_string())))
                }
                _ => Err(Wrong::Type),
            }
        }
    }
}

impl Plain for Value {
    type C = f64;
    #[inline]
    unsafe fn from_c(c: f64, _: u32, _: &Cx) -> Option<Value> {
        let number = c as f32;
        number.is_finite().then_some(Value(ParameterValue::Number(number)))
    }
}

/// How a sound is triggered.
pub struct Options {
    pub parameters: Vec<(String, ParameterValue)>,
    pub position: Option<Vec3>,
    pub unit: Option<UnitId>,
    /// From 1.
    pub node: Option<f64>,
    pub volume: f32,
    pub pitch: f32,
    pub pan: f32,
    pub fade_in: Option<f32>,
    pub delay: f32,
    pub bus: Option<String>,
    pub priority: Option<f32>,
    pub occlusion: f32,
    pub clock: Option<String>,
    pub on: Option<Grid>,
}

impl Default for Options {
    /// As the sound says, everywhere and at once.
    fn default() -> Options {
        Options {
            parameters: Vec::new(),
            position: None,
            unit: None,
            node: None,
            volume: 1.0,
            pitch: 1.0,
            pan: 0.0,
            fade_in: None,
            delay: 0.0,
            bus: None,
            priority: None,
            occlusion: 0.0,
            clock: None,
            on: None,
        }
    }
}

/// Every option, and the least and the greatest number that it can be.
const OPTIONS: [(&str, f64, f64); 14] = [
    ("parameters", 0.0, 0.0),
    ("position", 0.0, 0.0),
    ("unit", 0.0, 0.0),
    ("node", 1.0, 1e6),
    ("volume", 0.0, 16.0),
    ("pitch", 0.01, 16.0),
    ("pan", -1.0, 1.0),
    ("fade_in", 0.0, 3600.0),
    ("delay", 0.0, 3600.0),
    ("bus", 0.0, 0.0),
    ("priority", 0.0, 100.0),
    ("occlusion", 0.0, 1.0),
    ("clock", 0.0, 0.0),
    ("on", 0.0, 0.0),
];

impl Arg for Options {
    const TYPE: Type = Type::new("table", Shape::Boxed);
    unsafe fn read(l: *mut lua_State, i: c_int, cx: &Cx) -> Result<Options, Wrong> {
        let mut options = Options::default();
        // SAFETY: as the caller promised; keys are not converted while the table is walked.
        unsafe {
            if lua_type(l, i) != LUA_TTABLE {
                return Err(Wrong::Type);
            }
            let top = lua_gettop(l);
            if lua_checkstack(l, 8) == 0 {
                return Err(Wrong::Words("the Lua stack is full".to_string()));
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

impl Options {
    /// Takes the key at -2 and the value at -1.
    unsafe fn take(&mut self, l: *mut lua_State, cx: &Cx) -> Result<(), Wrong> {
        // SAFETY: as for `read`.
        unsafe {
            let value = lua_gettop(l);
            if lua_type(l, value - 1) != LUA_TSTRING {
                let what = describe(l, value - 1, cx);
                return Err(Wrong::Words(format!("has an option whose name is {what}")));
            }
            let key = Text::read(l, value - 1, cx)?;
            let key = key.as_str();
            let Some((_, min, max)) = OPTIONS.iter().find(|(name, ..)| *name == key) else {
                let hint = suggest::hint(key, OPTIONS.map(|(name, ..)| name));
                return Err(Wrong::Words(format!("has the unknown option '{key}'{hint}")));
            };
            let named = |wrong, want: &str| match wrong {
                Wrong::Type => Wrong::Words(format!(
                    "option '{key}' must be {want}, got {}",
                    describe(l, value, cx)
                )),
                Wrong::Words(words) | Wrong::Later(_, words) => {
                    Wrong::Words(format!("option '{key}' {words}"))
                }
            };
            let text = || {
                let text = Text::read(l, value, cx).map_err(|wrong| named(wrong, "string"))?;
                Ok(text.as_str().to_string())
            };
            let number = || {
                let number = f64::read(l, value, cx).map_err(|wrong| named(wrong, "number"))?;
                if (*min..=*max).contains(&number) {
                    return Ok(number);
                }
                Err(Wrong::Words(format!("option '{key}' must be {min} to {max}, got {number}")))
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
                "bus" => self.bus = Some(text()?),
                "priority" => self.priority = Some(number()? as f32),
                "occlusion" => self.occlusion = number()? as f32,
                "clock" => self.clock = Some(text()?),
                _ => {
                    self.on = Some(match text()?.as_str() {
                        "bar" => Grid::Bar,
                        "beat" => Grid::Beat,
                        word => {
                            let words =
                                format!("option 'on' must be \"bar\" or \"beat\", got \"{word}\"");
                            return Err(Wrong::Words(words));
                        }
                    });
                }
            }
            Ok(())
        }
    }

    /// Whether they go together.
    fn check(self) -> Result<Options, Wrong> {
        let words = if self.position.is_some() && self.unit.is_some() {
            "has 'position' and 'unit': one of them says where the sound is"
        } else if self.node.is_some_and(|node| node.fract() != 0.0) {
            "option 'node' must be a whole number, from 1"
        } else if self.node.is_some() && self.unit.is_none() {
            "has 'node' and no 'unit' that it is of"
        } else if self.on.is_some() && self.clock.is_none() {
            "has 'on' and no 'clock' that it is of"
        } else {
            return Ok(self);
        };
        Err(Wrong::Words(words.to_string()))
    }
}

/// Names and values, in the order of their names.
unsafe fn parameters(
    l: *mut lua_State,
    i: c_int,
    cx: &Cx,
) -> Result<Vec<(String, ParameterValue)>, Wrong> {
    let mut parameters = Vec::new();
    // SAFETY: as for `Options::read`; whoever called puts the stack back.
    unsafe {
        if lua_type(l, i) != LUA_TTABLE {
            let what = describe(l, i, cx);
            let words = format!("option 'parameters' must be table, got {what}");
            return Err(Wrong::Words(words));
        }
        lua_pushnil(l);
        while lua_next(l, i) != 0 {
            if lua_type(l, -2) != LUA_TSTRING {
                let what = describe(l, -2, cx);
                let words = format!("option 'parameters' must have names as keys, got {what}");
                return Err(Wrong::Words(words));
            }
            let name = Text::read(l, lua_gettop(l) - 1, cx)?.as_str().to_string();
            let value = Value::read(l, lua_gettop(l), cx).map_err(|wrong| match wrong {
                Wrong::Type => Wrong::Words(format!(
                    "parameter '{name}' must be a number or a string, got {}",
                    describe(l, -1, cx)
                )),
                Wrong::Words(words) | Wrong::Later(_, words) => {
                    Wrong::Words(format!("parameter '{name}' {words}"))
                }
            })?;
            parameters.extend([(name, value.0)]);
            lua_settop(l, -2);
        }
    }
    parameters.sort_by(|(a, _), (b, _)| a.cmp(b));
    Ok(parameters)
}

/// A number in a range, or the words for one that is not.
pub fn in_range(place: &str, number: f64, min: f64, max: f64) -> Result<f32, Error> {
    match (min..=max).contains(&number) {
        true => Ok(number as f32),
        false => Err(crate::error!("argument {place} must be {min} to {max}, got {number}")),
    }
}
