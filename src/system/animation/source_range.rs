//! Ranges of animations: a part of a source animation becomes a clip of its own.

use super::source::{SourceClip, SourceInterpolation, SourceTrack};
use engine_foundation::{Error, Vec4, error};

/// Minimum length of a range in seconds, except for a range that is a single pose.
const RANGE_SECONDS_MIN: f32 = 1e-3;

/// Returns the part of an animation from one time to another, both in seconds. The part starts at
/// time 0 and follows the same curves. Equal times give a clip of one pose.
///
/// # Errors
/// Fails if the times are not in order or not within the animation.
pub fn cut(source: &SourceClip, from: f32, to: f32) -> Result<SourceClip, Error> {
    // The last frame in an editor is often a rounding error behind the end.
    let end = source.seconds + RANGE_SECONDS_MIN;
    if !(from >= 0.0 && from <= to && to <= end) {
        return Err(error!(
            "the range from {from} to {to} is not within the animation of {} seconds",
            source.seconds
        ));
    }
    let (from, to) = (from.min(source.seconds), to.min(source.seconds));
    let seconds = if to - from < RANGE_SECONDS_MIN { 0.0 } else { to - from };
    let tracks = source.tracks.iter().map(|track| cut_track(track, from, from + seconds));
    Ok(SourceClip { seconds, tracks: tracks.collect() })
}

fn cut_track(track: &SourceTrack, from: f32, to: f32) -> SourceTrack {
    let keys = match track.interpolation {
        SourceInterpolation::Cubic => 3,
        SourceInterpolation::Linear | SourceInterpolation::Mixed | SourceInterpolation::Step => 1,
    };
    let mut cut = SourceTrack { times: Vec::new(), values: Vec::new(), ..track.clone() };
    let mut add = |time: f32, values: &[[f32; 4]]| {
        // Subtraction can round two times to one.
        let time = time - from;
        if cut.times.last().is_none_or(|last| *last < time) {
            cut.times.push(time);
            cut.values.extend_from_slice(values);
        }
    };
    add(from, &boundary(track, from));
    for (index, time) in track.times.iter().enumerate() {
        if *time > from && *time < to {
            let mut values = track.values[index * keys..(index + 1) * keys].to_vec();
            // The value is held before the first and after the last key.
            if keys == 3 && index == 0 {
                values[0] = [0.0; 4];
            }
            if keys == 3 && index + 1 == track.times.len() {
                values[2] = [0.0; 4];
            }
            add(*time, &values);
        }
    }
    if to > from {
        add(to, &boundary(track, to));
    }
    cut
}

/// Returns the values of a key that divides a curve without a change of its shape.
fn boundary(track: &SourceTrack, time: f32) -> Vec<[f32; 4]> {
    let next = track.times.partition_point(|key| *key <= time);
    let key = next.saturating_sub(1);
    if track.interpolation != SourceInterpolation::Cubic {
        return vec![track.sample(time)];
    }
    if track.times[key] == time {
        return track.values[key * 3..key * 3 + 3].to_vec();
    }
    if next == 0 || next == track.times.len() {
        return vec![[0.0; 4], track.values[key * 3 + 1], [0.0; 4]];
    }
    let seconds = track.times[next] - track.times[key];
    let part = (time - track.times[key]) / seconds;
    let value = |index: usize| Vec4::from_array(track.values[index]);
    let (a, leaving) = (value(key * 3 + 1), value(key * 3 + 2) * seconds);
    let (arriving, b) = (value(next * 3) * seconds, value(next * 3 + 1));
    let (square, cube) = (part * part, part * part * part);
    let value = a * (2.0 * cube - 3.0 * square + 1.0)
        + leaving * (cube - 2.0 * square + part)
        + b * (3.0 * square - 2.0 * cube)
        + arriving * (cube - square);
    let slope = (a * (6.0 * square - 6.0 * part)
        + leaving * (3.0 * square - 4.0 * part + 1.0)
        + b * (6.0 * part - 6.0 * square)
        + arriving * (3.0 * square - 2.0 * part))
        / seconds;
    vec![slope.to_array(), value.to_array(), slope.to_array()]
}
