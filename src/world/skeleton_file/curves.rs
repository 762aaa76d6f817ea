//! Curves of a `.skeleton` file: keys with a time, a value, and the curve to the next key. Curves
//! become channels with linear interpolation, or with steps if all of their keys hold their value.

use super::fields::Block;
use engine_foundation::sjson::SjsonValue;
use engine_foundation::suggest::hint;
use engine_foundation::{Error, error};
use engine_models::data::KeyInterpolation;

/// Maximum time of a key in seconds, as in the system of animation.
pub const KEY_SECONDS_MAX: f32 = 600.0;
/// Maximum number of keys of a curve in a file.
pub const CURVE_KEYS_MAX: usize = 1 << 14;
/// Maximum number of keys of a curve after its Bézier curves and its turns were divided.
pub const DIVIDED_KEYS_MAX: usize = 1 << 17;
/// Keys per second that replace a Bézier curve: the rate at which clips are sampled.
const PIECES_PER_SECOND: f32 = 60.0;
/// Seconds before the next key at which a value that is held ends, if its curve has other keys
/// that are not held.
const HOLD_SECONDS: f32 = 0.001;
/// Halvings of an interval in the search for the parameter of a Bézier curve: the result is exact
/// within the precision of f32.
const HALVINGS: usize = 26;

/// Course of a value from a key to the next one.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum KeyCurve {
    Linear,
    Step,
    /// Two handles of a cubic Bézier curve from 0, 0 to 1, 1, as in CSS: time, then value.
    Bezier([f32; 4]),
}

/// A key of a curve.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct CurveKey<const N: usize> {
    pub time: f32,
    pub value: [f32; N],
    pub curve: KeyCurve,
}

/// Times and values of a channel.
#[derive(Clone, PartialEq, Debug)]
pub struct ChannelKeys<const N: usize> {
    pub between: KeyInterpolation,
    pub times: Vec<f32>,
    pub values: Vec<[f32; N]>,
}

const KEY_KEYS: [&str; 3] = ["time", "value", "curve"];
const CURVES: [&str; 2] = ["linear", "step"];

/// Reads the keys of a curve. `read` returns a value, or a message that continues a sentence that
/// begins with "its value". `default` is the curve of keys without one.
///
/// # Errors
/// Returns an error that names the line and the key.
pub fn read_keys<const N: usize>(
    block: &Block,
    key: &str,
    default: KeyCurve,
    read: impl Fn(SjsonValue) -> Result<[f32; N], String>,
) -> Result<Vec<CurveKey<N>>, Error> {
    let Some(list) = block.value.get(key) else { return Ok(Vec::new()) };
    let subject = format!("'{key}' of {}", block.subject);
    let at = |value: SjsonValue, message: &str| {
        error!("{}:{}: {subject} {message}", block.path, value.line())
    };
    let items = list.items().ok_or_else(|| {
        at(list, "must be a list of keys: [ { time = 0 value = 1 } { time = 0.5 value = 2 } ]")
    })?;
    if items.len() == 0 || items.len() > CURVE_KEYS_MAX {
        let count = items.len();
        return Err(at(
            list,
            &format!("has {count} keys: use 1 to {CURVE_KEYS_MAX} (CURVE_KEYS_MAX)"),
        ));
    }
    let mut keys: Vec<CurveKey<N>> = Vec::with_capacity(items.len());
    for item in items {
        let fields = Block::open(block.path, format!("a key of {subject}"), item, &KEY_KEYS)?;
        let time = fields.number("time", 0.0, KEY_SECONDS_MAX)?;
        let time = time.ok_or_else(|| at(item, "has a key without a 'time' in seconds"))?;
        let value = item
            .get("value")
            .ok_or_else(|| at(item, &format!("has a key at {time} seconds without a 'value'")))?;
        let number = read(value).map_err(|message| {
            at(value, &format!("has a key at {time} seconds whose value {message}"))
        })?;
        if keys.last().is_some_and(|last| last.time >= time) {
            return Err(at(item, &format!("has a key at {time} seconds after a later one")));
        }
        let curve = match item.get("curve") {
            Some(curve) => read_curve(curve).map_err(|message| at(curve, &message))?,
            None => default,
        };
        keys.push(CurveKey { time, value: number, curve });
    }
    Ok(keys)
}

fn read_curve(value: SjsonValue) -> Result<KeyCurve, String> {
    if let Some(name) = value.as_str() {
        return match name {
            "linear" => Ok(KeyCurve::Linear),
            "step" => Ok(KeyCurve::Step),
            _ => Err(format!(
                "has no curve '{name}'{}: use linear, step or four numbers",
                hint(name, CURVES)
            )),
        };
    }
    let handles = super::fields::numbers::<4>(value, 100.0);
    let inside = |x: f32| (0.0..=1.0).contains(&x);
    match handles {
        Some([x1, y1, x2, y2]) if inside(x1) && inside(x2) => {
            Ok(KeyCurve::Bezier([x1, y1, x2, y2]))
        }
        _ => {
            Err("has a curve that is not valid: use \"linear\", \"step\", or the four numbers of \
                  two Bézier handles, [0.42, 0, 0.58, 1], the first and third from 0 to 1"
                .to_string())
        }
    }
}

/// Returns the value of a cubic Bézier curve from 0, 0 to 1, 1 at a time from 0 to 1.
pub fn bezier([x1, y1, x2, y2]: [f32; 4], time: f32) -> f32 {
    let at = |a: f32, b: f32, s: f32| {
        let rest = 1.0 - s;
        3.0 * rest * rest * s * a + 3.0 * rest * s * s * b + s * s * s
    };
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..HALVINGS {
        let middle = (low + high) * 0.5;
        match at(x1, x2, middle) < time {
            true => low = middle,
            false => high = middle,
        }
    }
    at(y1, y2, (low + high) * 0.5)
}

/// Converts keys into those of a channel. `pieces` returns the least number of pieces of the way
/// between two values, for properties that are not interpolated along it.
///
/// # Errors
/// Returns an error if there are too many keys after the division.
pub fn channel_keys<const N: usize>(
    keys: &[CurveKey<N>],
    pieces: impl Fn(&[f32; N], &[f32; N]) -> usize,
) -> Result<ChannelKeys<N>, Error> {
    let mut out =
        ChannelKeys { between: KeyInterpolation::Step, times: Vec::new(), values: Vec::new() };
    let held = keys.iter().rev().skip(1).all(|key| key.curve == KeyCurve::Step);
    if held {
        out.times.extend(keys.iter().map(|key| key.time));
        out.values.extend(keys.iter().map(|key| key.value));
        return Ok(out);
    }
    out.between = KeyInterpolation::Linear;
    let mut push = |time: f32, value: [f32; N]| {
        // Pieces that are shorter than the precision of times are left out.
        if out.times.last().is_none_or(|last| *last < time) {
            out.times.push(time);
            out.values.push(value);
        }
        match out.times.len() > DIVIDED_KEYS_MAX {
            true => Err(error!(
                "has more than {DIVIDED_KEYS_MAX} keys after its curves were divided \
                 (DIVIDED_KEYS_MAX): use fewer turns"
            )),
            false => Ok(()),
        }
    };
    for pair in keys.windows(2) {
        let (from, to) = (&pair[0], &pair[1]);
        let seconds = to.time - from.time;
        push(from.time, from.value)?;
        let count = match from.curve {
            KeyCurve::Step => {
                push(to.time - HOLD_SECONDS.min(seconds * 0.5), from.value)?;
                continue;
            }
            KeyCurve::Linear => pieces(&from.value, &to.value),
            KeyCurve::Bezier(_) => {
                let count = (seconds * PIECES_PER_SECOND).ceil() as usize;
                count.max(2).max(pieces(&from.value, &to.value))
            }
        };
        for piece in 1..count {
            let part = piece as f32 / count as f32;
            let eased = match from.curve {
                KeyCurve::Bezier(handles) => bezier(handles, part),
                _ => part,
            };
            let value = std::array::from_fn(|axis| {
                from.value[axis] + (to.value[axis] - from.value[axis]) * eased
            });
            push(from.time + seconds * part, value)?;
        }
    }
    if let Some(last) = keys.last() {
        push(last.time, last.value)?;
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(time: f32, value: f32, curve: KeyCurve) -> CurveKey<1> {
        CurveKey { time, value: [value], curve }
    }

    #[test]
    fn bezier_curves_pass_through_their_ends_and_ease() {
        let ease = [0.42, 0.0, 0.58, 1.0];
        for (time, wanted) in [(0.0, 0.0), (0.25, 0.129), (0.5, 0.5), (0.75, 0.871), (1.0, 1.0)] {
            let found = bezier(ease, time);
            assert!((found - wanted).abs() < 1e-3, "{found} at {time}");
        }
        let straight = bezier([0.3, 0.3, 0.7, 0.7], 0.6);
        assert!((straight - 0.6).abs() < 1e-5, "{straight}");
        assert!(bezier([0.5, 2.0, 0.5, 1.0], 0.7) > 1.0, "values can overshoot");
    }

    #[test]
    fn held_curves_keep_their_keys() {
        let keys = [key(0.0, 1.0, KeyCurve::Step), key(0.5, 2.0, KeyCurve::Linear)];
        let found = channel_keys(&keys, |_, _| 9).unwrap();
        assert_eq!(found.between, KeyInterpolation::Step);
        assert_eq!((found.times, found.values), (vec![0.0, 0.5], vec![[1.0], [2.0]]));
        let single = channel_keys(&[key(0.25, 3.0, KeyCurve::Linear)], |_, _| 9).unwrap();
        assert_eq!((single.between, single.times), (KeyInterpolation::Step, vec![0.25]));
    }

    #[test]
    fn mixed_curves_become_linear_pieces() {
        let keys = [
            key(0.0, 0.0, KeyCurve::Linear),
            key(1.0, 4.0, KeyCurve::Step),
            key(2.0, 0.0, KeyCurve::Bezier([0.0, 0.0, 1.0, 1.0])),
            key(2.05, 1.0, KeyCurve::Linear),
        ];
        let found =
            channel_keys(&keys, |from, to| ((to[0] - from[0]).abs() / 2.0) as usize).unwrap();
        assert_eq!(found.between, KeyInterpolation::Linear);
        let times = [0.0, 0.5, 1.0, 1.999, 2.0];
        assert_eq!(found.times[..5], times);
        assert_eq!(found.values[..5], [[0.0], [2.0], [4.0], [4.0], [0.0]]);
        assert_eq!((found.times.len(), found.times.last()), (8, Some(&2.05)));
        assert!(found.times.is_sorted_by(|a, b| a < b));
    }

    #[test]
    fn too_many_pieces_are_refused() {
        let keys = [key(0.0, 0.0, KeyCurve::Linear), key(600.0, 1.0, KeyCurve::Linear)];
        let message = channel_keys(&keys, |_, _| 1 << 20).unwrap_err().message;
        assert!(message.contains("DIVIDED_KEYS_MAX"), "{message}");
    }
}
