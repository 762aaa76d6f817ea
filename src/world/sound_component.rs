//! The row of the component `sound`: its fields, and what the engine does with it; and the table of
//! the voices that units play. Voices themselves are in the system of sound.

use super::WorldId;
use super::component::{ComponentField, FieldDefault, FieldKind};
use super::component_fields::{ComponentFields, number, text};
use super::component_table::{Component, ComponentHost, ComponentView, InspectSection};
use super::physics::FieldError;
use super::unit::UnitId;
use super::unit_resource::ComponentSource;
use super::unit_template::{TemplateBuilder, UnitTemplate};
use engine_foundation::error;
use engine_foundation::sjson::SjsonTree;
use engine_foundation::{Error, Handle};
use engine_resource::resource_kind::kind_names;
use engine_sound::voices::{ParameterValue, TriggerDesc};
use std::collections::BTreeMap;

/// Values of the field `orphaned`: the voice is stopped, or continues where it is.
const ORPHANED: [&str; 2] = ["stop", "unlink"];

/// Maximum of the fields `volume` and `pitch`, as for `Sound.trigger`.
const FACTOR_MAX: f32 = 16.0;
/// Minimum of the field `pitch`.
const PITCH_MIN: f32 = 0.01;
/// Maximum of the field `fade_in`, in seconds.
const FADE_SECONDS_MAX: f32 = 3600.0;

/// The component `sound`.
pub static SOUND: Component = Component {
    name: "sound",
    doc: "Plays a sound at its node, from the spawn of its unit on.",
    fields: &[
        ComponentField {
            name: "sound",
            kind: FieldKind::Resource(kind_names::SOUND),
            default: FieldDefault::None,
            doc: "the sound or recording that it plays",
        },
        ComponentField {
            name: "volume",
            kind: FieldKind::Number,
            default: FieldDefault::Number(1.0),
            doc: "0 to 16; 1 is the volume of the sound ({default})",
        },
        ComponentField {
            name: "pitch",
            kind: FieldKind::Number,
            default: FieldDefault::Number(1.0),
            doc: "0.01 to 16; 1 is the pitch of the sound ({default})",
        },
        ComponentField {
            name: "fade_in",
            kind: FieldKind::Number,
            default: FieldDefault::Described("as the sound says"),
            doc: "seconds in which it becomes audible ({default})",
        },
        ComponentField {
            name: "bus",
            kind: FieldKind::Text,
            default: FieldDefault::Described("as the sound says"),
            doc: "the bus that it plays on ({default})",
        },
        ComponentField {
            name: "parameters",
            kind: FieldKind::Checked(check_parameters),
            default: FieldDefault::None,
            doc: "values of the sound's parameters: numbers, and texts for switches",
        },
        ComponentField {
            name: "orphaned",
            kind: FieldKind::Choice(&ORPHANED),
            default: FieldDefault::Text(ORPHANED[0]),
            doc: "what happens at the end of its unit: the sound stops, or stays where it is \
                  (\"unlink\") ({default})",
        },
    ],
    in_node_order: true,
    read,
    spawn,
    end,
    // Voices take the positions of their nodes at the end of the frame.
    moved: None,
    // A hidden unit is still heard.
    hide: None,
    // Voices are hashed by their own system.
    state: None,
    inspect: Some((InspectSection::Effects, inspect)),
    // The system of sound applies changed sounds to voices.
    reload: None,
};

/// A sound as declared in a unit's resource.
#[derive(Clone, PartialEq, Debug)]
pub struct SoundComponent {
    pub name: String,
    pub node: u16,
    pub sound: String,
    pub volume: f32,
    pub pitch: f32,
    pub fade_in: Option<f32>,
    pub bus: Option<String>,
    pub parameters: Vec<(String, ParameterValue)>,
    /// True if the voice is stopped at the end of the unit.
    pub stops: bool,
}

/// A voice that a component started.
#[derive(Clone, Copy, Debug)]
pub struct UnitVoice {
    /// The voice, which can end before its unit; `None` if the sound's limit refused it, or in a
    /// world without sound.
    pub voice: Option<Handle>,
    stops: bool,
}

/// The voices of units' components, by row.
#[derive(Default)]
pub struct UnitVoices {
    of: BTreeMap<u32, Vec<UnitVoice>>,
}

impl UnitVoices {
    /// Returns the voices of a unit, in the order of its template.
    pub fn of_unit(&self, row: u32) -> &[UnitVoice] {
        self.of.get(&row).map_or(&[], |all| &all[..])
    }
}

/// Checks the type of the field `parameters`.
fn check_parameters(value: &SjsonTree, _: bool) -> Result<(), FieldError> {
    let SjsonTree::Object(entries) = value else {
        let message = "'parameters' must be a block: parameters = { speed = 3 }";
        return Err(FieldError::new(message.to_string()));
    };
    for (name, value) in entries {
        let fits = match value {
            SjsonTree::Number(number) => (*number as f32).is_finite(),
            SjsonTree::String(_) => true,
            _ => false,
        };
        if !fits {
            let message = format!("the parameter '{name}' must be a number, or text in quotes");
            return Err(FieldError::new(message).in_block(name));
        }
    }
    Ok(())
}

fn parameters(fields: &SjsonTree) -> Vec<(String, ParameterValue)> {
    let Some(SjsonTree::Object(entries)) = fields.get("parameters") else { return Vec::new() };
    let parameters = entries.iter().filter_map(|(name, value)| {
        let value = match value {
            SjsonTree::Number(number) => ParameterValue::Number(*number as f32),
            SjsonTree::String(text) => ParameterValue::Text(text.clone()),
            _ => return None,
        };
        Some((name.clone(), value))
    });
    parameters.collect()
}

/// Reads a component `sound`.
fn read(part: &ComponentSource, node: u16, builder: &mut TemplateBuilder) -> Result<(), Error> {
    let fields = ComponentFields::new(&SOUND, part);
    let Some(sound) = text(fields.tree, "sound") else {
        return Err(error!("it names no sound: sound = \"sounds/engine\""));
    };
    let in_range =
        |key: &str, number: f32, least: f32, most: f32| match (least..=most).contains(&number) {
            true => Ok(number),
            false => Err(error!("'{key}' must be {least} to {most}, got {number}")),
        };
    let fade_in = number(fields.tree, "fade_in");
    builder.template.sounds.push(SoundComponent {
        name: part.name.clone(),
        node,
        sound: sound.to_string(),
        volume: in_range("volume", fields.number("volume"), 0.0, FACTOR_MAX)?,
        pitch: in_range("pitch", fields.number("pitch"), PITCH_MIN, FACTOR_MAX)?,
        fade_in: fade_in
            .map(|seconds| in_range("fade_in", seconds, 0.0, FADE_SECONDS_MAX))
            .transpose()?,
        bus: text(fields.tree, "bus").map(str::to_string),
        parameters: parameters(fields.tree),
        stops: fields.text("orphaned") == ORPHANED[0],
    });
    Ok(())
}

fn spawn(
    host: &mut ComponentHost,
    world: WorldId,
    unit: UnitId,
    template: &UnitTemplate,
) -> Result<(), Error> {
    let is_silent = host.worlds.get(world.0).is_some_and(|world| world.flags.no_sound);
    for part in &template.sounds {
        let mut voice = None;
        if !is_silent {
            let node = usize::from(part.node);
            let sound_world = host.sounds.world(world.0);
            let trigger = TriggerDesc {
                parameters: &part.parameters,
                position: Some(host.units.scene.world_position(unit.row(), node)),
                volume: part.volume,
                pitch: part.pitch,
                fade_in_seconds: part.fade_in,
                bus: part.bus.as_deref(),
                owner: Some((unit.0, part.node.into())),
                ..TriggerDesc::new(&part.sound, sound_world.0)
            };
            let triggered = host
                .sounds
                .trigger(host.store, &trigger)
                .map_err(|error| error!("component '{}': {}", part.name, error.message))?;
            voice = triggered.map(|voice| voice.0);
        }
        let voices = host.voices.of.entry(unit.row()).or_default();
        voices.push(UnitVoice { voice, stops: part.stops });
    }
    Ok(())
}

fn end(host: &mut ComponentHost, _: WorldId, unit: UnitId, _: &str) {
    for UnitVoice { voice, stops } in host.voices.of.remove(&unit.row()).unwrap_or_default() {
        // Voices end by themselves, and scripts can link them to another unit.
        let Some(handle) = voice else { continue };
        let Some(found) = host.sounds.voices.voice_mut(handle) else { continue };
        if found.owner.is_none_or(|(owner, _)| owner != unit.0) {
            continue;
        }
        found.owner = None;
        if stops {
            host.sounds.voices.stop(handle, None);
        }
    }
}

fn inspect(view: &ComponentView, unit: UnitId, lines: &mut Vec<String>) {
    for (at, entry) in view.voices.of_unit(unit.row()).iter().enumerate() {
        let at = at + 1;
        let voices = &view.sounds.voices;
        lines.push(match entry.voice.and_then(|voice| voices.voice(voice)) {
            None => format!("sound {at} ended"),
            Some(voice) => format!(
                "sound {at} {:?} at node {}{}",
                voices.library.sounds[voice.sound as usize].name,
                voice.owner.map_or(1, |(_, node)| node + 1),
                if voice.paused { ", paused" } else { "" },
            ),
        });
    }
}
