//! Checks of the source and of the settings of a compilation.

use super::clip::{CLIP_SECONDS_MAX, MORPH_TARGETS_MAX};
use super::clip_data::VALUE_MAX;
use super::compile::{ClipSettings, TRACK_KEYS_MAX};
use super::skeleton::Skeleton;
use super::source::{SourceClip, SourceInterpolation, TrackProperty};
use engine_foundation::{Error, error};

/// Checks the settings that are numbers.
pub fn check_settings(settings: &ClipSettings) -> Result<(), Error> {
    let numbers = [
        ("tolerance", settings.tolerance),
        ("shell", settings.shell),
        ("jump_seconds", settings.jump_seconds),
        ("stream", settings.chunk_seconds.unwrap_or(1.0)),
    ];
    let joints = settings.joints.iter().map(|(name, tolerance)| (name.as_str(), *tolerance));
    for (name, value) in numbers.into_iter().chain(joints) {
        if !(value.is_finite() && value >= 1e-6) {
            return Err(error!("'{name}' is {value}, and must be at least 0.000001"));
        }
    }
    Ok(())
}

/// Checks the numbers of an animation.
pub fn check(source: &SourceClip, skeleton: &Skeleton) -> Result<(), Error> {
    if !(0.0..=CLIP_SECONDS_MAX).contains(&source.seconds) {
        return Err(error!(
            "it is {} seconds long, and {CLIP_SECONDS_MAX} is the most (CLIP_SECONDS_MAX)",
            source.seconds
        ));
    }
    let mut known = std::collections::BTreeSet::new();
    for track in &source.tracks {
        let (bone, property) = (track.bone, track.property);
        let name = match property {
            TrackProperty::Weight if usize::from(bone) < MORPH_TARGETS_MAX => {
                format!("morph target {bone}")
            }
            TrackProperty::Weight => {
                return Err(error!(
                    "it animates morph target {bone}, and {MORPH_TARGETS_MAX} targets are the most \
                     (MORPH_TARGETS_MAX)"
                ));
            }
            _ => match skeleton.names().get(usize::from(bone)) {
                Some(name) => name.clone(),
                None => return Err(error!("it animates bone {bone}, which does not exist")),
            },
        };
        if !known.insert((bone, property)) {
            return Err(error!("it animates the {property:?} of '{name}' twice"));
        }
        if track.times.len() > TRACK_KEYS_MAX {
            return Err(error!(
                "the {property:?} of '{name}' has {} keys, and {TRACK_KEYS_MAX} are the most \
                 (TRACK_KEYS_MAX)",
                track.times.len()
            ));
        }
        let per_key = if track.interpolation == SourceInterpolation::Cubic { 3 } else { 1 };
        let finite = track.values.iter().flatten().chain(&track.times).all(|it| it.is_finite());
        let ascending = track.times.windows(2).all(|pair| pair[0] < pair[1]);
        let complete = !track.times.is_empty() && track.values.len() == track.times.len() * per_key;
        if !finite || !ascending || !complete {
            return Err(error!("the {property:?} of '{name}' has keys that are not valid"));
        }
        if track.values.iter().flatten().any(|value| value.abs() > VALUE_MAX) {
            return Err(error!(
                "the {property:?} of '{name}' has a value above {VALUE_MAX} (VALUE_MAX)"
            ));
        }
    }
    Ok(())
}
