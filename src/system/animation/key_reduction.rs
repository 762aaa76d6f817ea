//! Reduction of samples to the keys that linear interpolation needs, within a tolerance.

use super::source::TrackProperty;
use engine_foundation::Vec4;

/// Sample of a track.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct TrackSample {
    /// Time, in ticks of the clip.
    pub tick: u16,
    pub value: Vec4,
    /// The value as it is restored from a key.
    pub restored: Vec4,
}

/// Distance in metres by which a morph target of weight 1 is assumed to move vertices. The error of
/// weights is measured with it.
pub const MORPH_REACH: f32 = 0.1;

/// Largest displacement in metres that an error of a value causes. `reach` is the distance from
/// the bone's origin, in metres, at which the error is measured.
pub fn displacement(property: TrackProperty, reach: f32, exact: Vec4, stored: Vec4) -> f32 {
    match property {
        TrackProperty::Position => (exact - stored).length(),
        TrackProperty::Scale => (exact - stored).abs().max_element() * reach,
        TrackProperty::Weight => (exact.x - stored.x).abs() * MORPH_REACH,
        TrackProperty::Rotation => {
            let (exact, stored) = (exact.normalize_or(Vec4::W), stored.normalize_or(Vec4::W));
            // The chord of the half angle, for the nearer of the two signs.
            let half = (exact - stored).length().min((exact + stored).length());
            2.0 * half * reach
        }
    }
}

/// Interpolates as the player does.
pub fn interpolate(from: &TrackSample, to: &TrackSample, tick: u16) -> Vec4 {
    let part = f32::from(tick - from.tick) / f32::from(to.tick - from.tick);
    from.restored + (to.restored - from.restored) * part
}

/// Returns the indices of the samples to keep: the first, the last, and as few as possible between
/// them. Each segment is as long as the tolerance allows. With `step`, every value is held until
/// the next key.
pub fn keys(
    property: TrackProperty,
    samples: &[TrackSample],
    reach: f32,
    tolerance: f32,
    step: bool,
) -> Vec<usize> {
    if samples.len() < 2 {
        return (0..samples.len()).collect();
    }
    let fits = |from: usize, to: usize| {
        samples[from + 1..to].iter().all(|sample| {
            let shown = match step {
                true => samples[from].restored,
                false => interpolate(&samples[from], &samples[to], sample.tick),
            };
            displacement(property, reach, sample.value, shown) <= tolerance
        })
    };
    let mut kept = vec![0];
    let mut from = 0;
    while from + 1 < samples.len() {
        let to = longest_segment(from, samples.len() - 1, &fits);
        kept.push(to);
        from = to;
    }
    kept
}

/// Returns the end of the longest segment that fits, by doubling and halving its length. A segment
/// between neighbours always fits.
fn longest_segment(from: usize, last: usize, fits: &impl Fn(usize, usize) -> bool) -> usize {
    let (mut good, mut length) = (from + 1, 2);
    let mut bad = last + 1;
    while from + length < bad {
        match fits(from, from + length) {
            true => (good, length) = (from + length, length * 2),
            false => bad = from + length,
        }
    }
    if bad == last + 1 && good < last && fits(from, last) {
        return last;
    }
    while good + 1 < bad {
        let middle = usize::midpoint(good, bad);
        match fits(from, middle) {
            true => good = middle,
            false => bad = middle,
        }
    }
    good
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(values: &[f32]) -> Vec<TrackSample> {
        let sample = |(index, value): (usize, &f32)| {
            let value = Vec4::new(*value, 0.0, 0.0, 0.0);
            TrackSample { tick: index as u16 * 10, value, restored: value }
        };
        values.iter().enumerate().map(sample).collect()
    }

    fn check(values: &[f32], step: bool, wanted: &[usize]) {
        let kept = keys(TrackProperty::Position, &samples(values), 1.0, 0.01, step);
        assert_eq!(kept, wanted, "{values:?}");
    }

    #[test]
    fn straight_lines_need_two_keys() {
        check(&[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0], false, &[0, 7]);
        check(&[2.0; 50], false, &[0, 49]);
        check(&[1.0], false, &[0]);
    }

    #[test]
    fn corners_are_kept() {
        check(&[0.0, 1.0, 2.0, 3.0, 2.0, 1.0, 0.0], false, &[0, 3, 6]);
        check(&[0.0, 0.0, 5.0, 5.0, 5.0], true, &[0, 2, 4]);
    }
}
