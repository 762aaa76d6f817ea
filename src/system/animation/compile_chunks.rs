//! Compilation of a streamed clip: each chunk is compiled as a clip of its own.

use super::clip::{Clip, ClipFeatures};
use super::clip_chunks::{ChunkState, ClipChunks};
use super::compile::{ClipSettings, CompiledClip, Input, KeyForm, sample_track};
use super::compile_search::{SearchWork, smallest};
use super::constant_track::{ConstantTrack, Constants};
use super::rest_tracks::{RestTracks, TrackName};
use super::skeleton::BoneTransform;
use super::source::{SourceClip, TrackProperty};
use super::source_range::cut;
use engine_foundation::compact_sort::CompactSort;
use engine_foundation::{Error, Vec4};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Least distance in seconds of the start of a chunk from the one before it, and from the end.
const DISTANCE_MIN: f32 = 0.05;

/// Compiles the chunks of a clip, each about `seconds` long. Their searches end after `most`
/// measured bones.
///
/// # Errors
/// Fails if a chunk cannot be compiled.
pub fn compile(
    input: &Input,
    settings: &ClipSettings,
    (seconds, most): (f32, u64),
) -> Result<CompiledClip, Error> {
    let starts = starts(&input.source, seconds);
    let mut chunks = Vec::with_capacity(starts.len());
    let (mut error, mut error_ratio, mut warning) = (0.0_f32, 0.0_f32, None);
    let mut measured_bones = 0;
    let ends = starts.iter().skip(1).copied().chain([input.source.seconds]);
    let spans: Vec<(f32, f32)> = starts.iter().copied().zip(ends).collect();
    let stored = match input.keys {
        KeyForm::Smallest => Vec::new(),
        KeyForm::Stream => stored_tracks(input, &spans)?,
    };
    for (start, end) in &spans {
        let part = Input { stored: stored.clone(), ..part(input, *start, *end)? };
        let compiled = smallest(&part, settings, SearchWork::new(most / spans.len() as u64))?;
        measured_bones += compiled.measured_bones;
        error = error.max(compiled.error);
        error_ratio = error_ratio.max(compiled.error_ratio);
        let text = compiled.warning;
        warning = warning.or(text.map(|text| format!("{start:.2} to {end:.2} seconds: {text}")));
        chunks.push(compiled.clip);
    }
    // A bone that keeps its rest transform in one chunk must not show the pose below the clip.
    let all: BTreeSet<TrackName> = chunks.iter().flat_map(track_names).collect();
    for chunk in &mut chunks {
        complete(chunk, &all, &input.base);
    }
    let features = ClipFeatures { error: error.min(f32::MAX), ..input.features.clone() };
    let bones = input.skeleton.bone_count() as u16;
    let mut head = Clip { seconds: input.source.seconds, features, ..Clip::empty(bones) };
    head.save_jump_frames(Vec::new())?;
    let first = chunks[0].clone();
    let table = ClipChunks::new(starts, first, input.skeleton.clone());
    for (index, chunk) in chunks.into_iter().enumerate() {
        table.set(index, ChunkState::Resident(Arc::new(chunk)));
    }
    let clip = head.with_chunks(table);
    Ok(CompiledClip { clip, error, error_ratio, warning, measured_bones })
}

/// Returns the tracks that do not keep the rest transform in each chunk, sorted.
fn stored_tracks(input: &Input, spans: &[(f32, f32)]) -> Result<Vec<TrackName>, Error> {
    let mut stored = BTreeSet::new();
    for (start, end) in spans {
        let part = part(input, *start, *end)?;
        let tracks = part.source.tracks.iter().filter_map(|track| sample_track(track, &part));
        stored.extend(tracks.map(|keys| (keys.track.property, keys.track.bone)));
    }
    Ok(stored.into_iter().collect())
}

/// Returns the starts of chunks of about equal lengths: at times of keys, so that regular keys stay
/// regular.
fn starts(source: &SourceClip, seconds: f32) -> Vec<f32> {
    let count = (source.seconds / seconds).round().max(1.0) as usize;
    let most = source.tracks.iter().max_by_key(|track| track.times.len());
    let times = most.map_or(&[][..], |track| &track.times);
    let mut starts = vec![0.0];
    for index in 1..count {
        let wanted = source.seconds * index as f32 / count as f32;
        let next = times.partition_point(|time| *time < wanted);
        let around = [next.checked_sub(1), Some(next)].into_iter().flatten();
        let around = around.filter_map(|index| times.get(index).copied());
        let nearer = |a: &f32, b: &f32| (a - wanted).abs().total_cmp(&(b - wanted).abs());
        let nearest = around.min_by(nearer).unwrap_or(wanted);
        let last = starts.last().copied().unwrap_or(0.0);
        let is_valid =
            |time: f32| time > last + DISTANCE_MIN && time < source.seconds - DISTANCE_MIN;
        let near = (nearest - wanted).abs() < seconds / 4.0 && is_valid(nearest);
        starts.extend(Some(if near { nearest } else { wanted }).filter(|time| is_valid(*time)));
    }
    starts
}

/// Returns the input of a chunk.
fn part<'a>(input: &Input<'a>, start: f32, end: f32) -> Result<Input<'a>, Error> {
    let source_keys = input.features.source_keys;
    let additive = input.features.additive;
    Ok(Input {
        source: cut(&input.source, start, end)?,
        skeleton: input.skeleton,
        base: input.base.clone(),
        features: ClipFeatures { additive, source_keys, ..ClipFeatures::default() },
        tolerances: input.tolerances.clone(),
        strictest: input.strictest.clone(),
        scales: input.scales.clone(),
        weight_tolerances: input.weight_tolerances.clone(),
        keys: input.keys,
        stored: Vec::new(),
    })
}

/// Returns the tracks of a clip, except for those of morph targets, which every chunk has.
fn track_names(clip: &Clip) -> Vec<TrackName> {
    let constants = clip.constants.tracks.iter().map(|track| (track.property, track.bone));
    let uniform = clip.keyframes.tracks.iter().map(|track| (track.property, track.bone));
    let own = clip.tracks.iter().map(|track| (track.property, track.bone));
    constants.chain(uniform).chain(own).filter(|it| it.0 != TrackProperty::Weight).collect()
}

/// Adds the tracks that other chunks have, with the values of `base`.
fn complete(clip: &mut Clip, all: &BTreeSet<TrackName>, base: &[BoneTransform]) {
    let known: BTreeSet<TrackName> = track_names(clip).into_iter().collect();
    let mut tracks = clip.constants.tracks.clone();
    for (property, bone) in all.difference(&known).copied() {
        let rest = base[usize::from(bone)];
        let value = match property {
            TrackProperty::Rotation => Vec4::from(rest.rotation),
            TrackProperty::Position => rest.position.extend(0.0),
            TrackProperty::Scale | TrackProperty::Weight => rest.scale.extend(0.0),
        };
        tracks.push(ConstantTrack { bone, property, value });
    }
    tracks.sort_compact_by_key(|track| (track.property, track.bone));
    clip.constants = Constants::new(tracks);
    let rests = clip.rests.tracks.iter().copied();
    clip.rests = RestTracks::new(rests.filter(|track| !all.contains(track)));
}
