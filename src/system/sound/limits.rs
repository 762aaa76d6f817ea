//! Valid ranges of a sound's numbers. They apply to the text of a `.sound`, and to compiled data,
//! which may come from an untrusted source. Reads no text and plays nothing.

use super::curve::{CurveTarget, POINTS_MAX};
use super::data::{
    CURVES_MAX, DEPTH_MAX, LAYERS_MAX, NODES_MAX, SOUND_PARAMETERS_MAX, SoundLayer, SoundNode,
    SoundOptions, SoundRules,
};
use super::parameters::ValueTag;
use engine_foundation::Error;
use engine_foundation::blob::{NumberRange, within};
use engine_foundation::error;
use std::collections::HashSet;

/// Volumes, in decibels.
pub const DECIBELS: NumberRange = (-100.0, 24.0);
/// Reductions of a volume, in decibels.
pub const ATTENUATION_DECIBELS: NumberRange = (-100.0, 0.0);
/// Factors of pitch. Zero and less cannot be played.
pub const PITCH: NumberRange = (0.01, 16.0);
/// Seconds of fades, delays and loops.
pub const SECONDS: NumberRange = (0.0, 3600.0);
/// Cutoff frequencies of filters, in hertz.
pub const HERTZ: NumberRange = (20.0, 24_000.0);
/// Pan, from left to right.
pub const PAN: NumberRange = (-1.0, 1.0);
pub const VOLUME_RANDOM_DB: NumberRange = (0.0, 48.0);
pub const PITCH_RANDOM: NumberRange = (0.0, 0.9);
pub const PRIORITY: NumberRange = (0.0, 100.0);
/// Maximum number of voices of one sound; 0 stands for any number.
pub const VOICES: NumberRange = (1.0, 1024.0);
pub const DISTANCE: NumberRange = (0.001, 1e6);
pub const DOPPLER: NumberRange = (0.0, 10.0);
/// Weight of a file in a random choice, relative to the others.
pub const WEIGHT: NumberRange = (0.001, 1000.0);
/// Parameter values at the points of a curve.
pub const CURVE_X: NumberRange = (-1e9, 1e9);

/// A number of a sound's options: its key, its range and its field.
type OptionNumber = (&'static str, NumberRange, fn(&mut SoundOptions) -> &mut f32);

/// The numbers of a sound's options, in the order of the compiled form.
pub const OPTIONS: [OptionNumber; 13] = [
    ("volume_db", DECIBELS, |options| &mut options.volume_db),
    ("pitch", PITCH, |options| &mut options.pitch),
    ("pan", PAN, |options| &mut options.pan),
    ("volume_random_db", VOLUME_RANDOM_DB, |options| &mut options.volume_random_db),
    ("pitch_random", PITCH_RANDOM, |options| &mut options.pitch_random),
    ("priority", PRIORITY, |options| &mut options.priority),
    ("fade_in_seconds", SECONDS, |options| &mut options.fade_in_seconds),
    ("fade_out_seconds", SECONDS, |options| &mut options.fade_out_seconds),
    ("min", DISTANCE, |options| &mut options.distance_min),
    ("max", DISTANCE, |options| &mut options.distance_max),
    ("doppler", DOPPLER, |options| &mut options.doppler),
    ("occlusion", ATTENUATION_DECIBELS, |options| &mut options.occlusion_db),
    ("cutoff_hz", HERTZ, |options| &mut options.occlusion_hz),
];

/// Returns the error for an index of a sound that is out of range, or that no text could produce.
pub fn damaged() -> Error {
    error!("it is damaged: a part of the sound leads nowhere")
}

/// Rejects a sound that no text could produce.
///
/// # Errors
/// Returns an error if a value is invalid; it names the key if a number is out of range.
pub fn check(sound: &SoundRules) -> Result<(), Error> {
    check_options(&sound.options)?;
    check_parameters(sound)?;
    check_curves(sound)?;
    let count = sound.nodes.len().max(sound.files.len());
    if !(1..=LAYERS_MAX).contains(&sound.layers.len()) || count > NODES_MAX {
        return Err(damaged());
    }
    sound.layers.iter().try_for_each(|layer| check_layer(sound, layer))?;
    check_nodes(sound)?;
    check_trees(sound)
}

fn check_options(options: &SoundOptions) -> Result<(), Error> {
    let mut numbers = options.clone();
    for (key, range, field) in OPTIONS {
        within(key, *field(&mut numbers), range)?;
    }
    if options.voices != 0 {
        within("voices", options.voices as f32, VOICES)?;
    }
    match options.distance_min < options.distance_max {
        true => Ok(()),
        false => Err(error!("it is damaged: 'max' of its distance must be greater than 'min'")),
    }
}

fn check_parameters(sound: &SoundRules) -> Result<(), Error> {
    let mut keys = HashSet::new();
    for parameter in &sound.parameters {
        let number = parameter.default.filter(|_| parameter.tag == ValueTag::Number);
        if parameter.key.0 == 0
            || !keys.insert(parameter.key.0)
            || number.is_some_and(|bits| !f32::from_bits(bits).is_finite())
        {
            return Err(damaged());
        }
    }
    (sound.parameters.len() <= SOUND_PARAMETERS_MAX).then_some(()).ok_or_else(damaged)
}

/// Returns true if `count` items from `first` on lie within `length`.
fn is_in_range(first: u32, count: u32, length: usize) -> bool {
    u64::from(first) + u64::from(count) <= length as u64
}

/// Returns true if a parameter exists and has this type.
fn is_of(sound: &SoundRules, parameter: u32, tag: ValueTag) -> bool {
    sound.parameters.get(parameter as usize).is_some_and(|parameter| parameter.tag == tag)
}

fn check_curves(sound: &SoundRules) -> Result<(), Error> {
    if sound.curves.len() > CURVES_MAX || !is_in_range(0, sound.sound_curves, sound.curves.len()) {
        return Err(damaged());
    }
    for curve in &sound.curves {
        let right = is_of(sound, curve.parameter, ValueTag::Number)
            && (1..=POINTS_MAX).contains(&(curve.count as usize))
            && is_in_range(curve.first, curve.count, sound.points.len());
        if !right {
            return Err(damaged());
        }
        let points = sound.points_of(curve);
        let (key, _, least, most) = CurveTarget::ALL[curve.target as usize];
        for (x, y) in points {
            within("x of a point", *x, CURVE_X)?;
            within(key, *y, (least, most))?;
        }
        if !points.is_sorted_by(|a, b| a.0 < b.0) {
            return Err(damaged());
        }
    }
    Ok(())
}

fn check_layer(sound: &SoundRules, layer: &SoundLayer) -> Result<(), Error> {
    within("volume_db", layer.volume_db, DECIBELS)?;
    within("pitch", layer.pitch, PITCH)?;
    within("delay_seconds", layer.delay_seconds, SECONDS)?;
    if let Some(repeat) = layer.repeat {
        within("start_seconds", repeat.start_seconds, SECONDS)?;
        within("end_seconds", repeat.end_seconds, SECONDS)?;
        if repeat.end_seconds != 0.0 && repeat.end_seconds <= repeat.start_seconds {
            return Err(error!("it is damaged: 'loop' must end after its start"));
        }
    }
    let right = (layer.root as usize) < sound.nodes.len()
        && is_in_range(layer.first_curve, layer.curves, sound.curves.len());
    right.then_some(()).ok_or_else(damaged)
}

fn check_nodes(sound: &SoundRules) -> Result<(), Error> {
    for edge in &sound.edges {
        within("weight", edge.weight, WEIGHT)?;
    }
    for node in &sound.nodes {
        let right = match *node {
            SoundNode::File { file, volume_db, pitch } => {
                within("volume_db", volume_db, DECIBELS)?;
                within("pitch", pitch, PITCH)?;
                file.is_none_or(|file| (file as usize) < sound.files.len())
            }
            SoundNode::Random { first, count } | SoundNode::Sequence { first, count } => {
                count > 0 && is_in_range(first, count, sound.edges.len())
            }
            SoundNode::Switch { parameter, first, count, .. } => {
                is_of(sound, parameter, ValueTag::Text)
                    && is_in_range(first, count, sound.edges.len())
            }
        };
        if !right {
            return Err(damaged());
        }
    }
    Ok(())
}

/// Rejects nodes that do not form trees of at most [`DEPTH_MAX`] containers. Children come before
/// their parents, so there are no cycles. A node with two parents would be walked twice, and a few
/// of those in a row would take practically forever.
fn check_trees(sound: &SoundRules) -> Result<(), Error> {
    let mut has_parent = vec![false; sound.nodes.len()];
    // Nesting depth of containers, including the file.
    let mut depths = vec![1usize; sound.nodes.len()];
    for (at, node) in sound.nodes.iter().enumerate() {
        let (first, count, default) = match *node {
            SoundNode::File { .. } => continue,
            SoundNode::Random { first, count } | SoundNode::Sequence { first, count } => {
                (first, count, None)
            }
            SoundNode::Switch { first, count, default, .. } => (first, count, default),
        };
        let edges = &sound.edges[first as usize..][..count as usize];
        for child in edges.iter().map(|edge| edge.node).chain(default) {
            let child = child as usize;
            if child >= at || std::mem::replace(&mut has_parent[child], true) {
                return Err(damaged());
            }
            depths[at] = depths[at].max(depths[child] + 1);
        }
        if depths[at] > DEPTH_MAX {
            return Err(damaged());
        }
    }
    let mut roots = sound.layers.iter().map(|layer| layer.root as usize);
    match roots.all(|root| !std::mem::replace(&mut has_parent[root], true)) {
        true => Ok(()),
        false => Err(damaged()),
    }
}
