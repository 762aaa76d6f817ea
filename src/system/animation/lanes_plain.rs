//! Operations on four numbers, one after another, for processors without vector instructions of
//! their own here, and to compare with them.

use super::Lanes;
use crate::bit_stream;

#[inline(always)]
fn zip(a: Lanes, b: Lanes, operation: impl Fn(f32, f32) -> f32) -> Lanes {
    Lanes(std::array::from_fn(|lane| operation(a.0[lane], b.0[lane])))
}

#[inline(always)]
pub fn add(a: Lanes, b: Lanes) -> Lanes {
    zip(a, b, |a, b| a + b)
}

#[inline(always)]
pub fn subtract(a: Lanes, b: Lanes) -> Lanes {
    zip(a, b, |a, b| a - b)
}

#[inline(always)]
pub fn multiply(a: Lanes, b: Lanes) -> Lanes {
    zip(a, b, |a, b| a * b)
}

#[inline(always)]
pub fn divide(a: Lanes, b: Lanes) -> Lanes {
    zip(a, b, |a, b| a / b)
}

#[inline(always)]
pub fn most(a: Lanes, b: Lanes) -> Lanes {
    zip(a, b, |a, b| if a > b { a } else { b })
}

#[inline(always)]
pub fn least(a: Lanes, b: Lanes) -> Lanes {
    zip(a, b, |a, b| if a < b { a } else { b })
}

#[inline(always)]
pub fn sqrt(lanes: Lanes) -> Lanes {
    Lanes(lanes.0.map(f32::sqrt))
}

#[inline(always)]
pub fn select(lanes: Lanes, other: Lanes, mask: [u32; 4]) -> Lanes {
    Lanes(std::array::from_fn(|lane| {
        let (own, other) = (lanes.0[lane].to_bits(), other.0[lane].to_bits());
        f32::from_bits((own & !mask[lane]) | (other & mask[lane]))
    }))
}

#[inline(always)]
pub fn if_below(lanes: Lanes, limit: Lanes, chosen: Lanes, other: Lanes) -> Lanes {
    Lanes(std::array::from_fn(|lane| match lanes.0[lane] < limit.0[lane] {
        true => chosen.0[lane],
        false => other.0[lane],
    }))
}

#[inline(always)]
pub fn splat_lane<const LANE: i32>(lanes: Lanes) -> Lanes {
    Lanes([lanes.0[LANE as usize]; 4])
}

#[inline(always)]
pub fn unfold(numbers: [u32; 4]) -> Lanes {
    Lanes(numbers.map(|number| bit_stream::unfold(number) as f32))
}

#[inline(always)]
pub fn transpose(rows: [Lanes; 4]) -> [Lanes; 4] {
    std::array::from_fn(|column| Lanes(std::array::from_fn(|row| rows[row].0[column])))
}

/// Whole numbers from -32768 to 32767.
#[inline(always)]
pub fn join(first: Lanes, second: Lanes) -> [u32; 4] {
    let all = |index: usize| if index < 4 { first.0[index] } else { second.0[index - 4] };
    let half = |index: usize| u32::from(all(index) as i32 as i16 as u16);
    std::array::from_fn(|index| half(2 * index) | half(2 * index + 1) << 16)
}

#[inline(always)]
pub fn halves(unit: [u32; 4]) -> [Lanes; 2] {
    let half = |index: usize| f32::from((unit[index / 2] >> (16 * (index % 2))) as u16 as i16);
    [0, 4].map(|start| Lanes(std::array::from_fn(|lane| half(start + lane))))
}
