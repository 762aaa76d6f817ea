//! Four numbers that are computed together, for four bones. The compiler turns the loops into
//! vector instructions. Every operation has one result on every machine.

use std::ops::{Add, Div, Mul, Neg, Sub};

#[derive(Clone, Copy, PartialEq, Debug)]
#[repr(C, align(16))]
pub struct Lanes(pub [f32; 4]);

impl Lanes {
    pub const ZERO: Lanes = Lanes([0.0; 4]);
    pub const ONE: Lanes = Lanes([1.0; 4]);

    #[inline(always)]
    pub fn splat(value: f32) -> Lanes {
        Lanes([value; 4])
    }

    #[inline(always)]
    pub fn zip(self, other: Lanes, operation: impl Fn(f32, f32) -> f32) -> Lanes {
        let (a, b) = (self.0, other.0);
        Lanes([
            operation(a[0], b[0]),
            operation(a[1], b[1]),
            operation(a[2], b[2]),
            operation(a[3], b[3]),
        ])
    }

    #[inline(always)]
    pub fn sqrt(self) -> Lanes {
        Lanes([self.0[0].sqrt(), self.0[1].sqrt(), self.0[2].sqrt(), self.0[3].sqrt()])
    }

    /// Limits each number to 0 … 1.
    #[inline(always)]
    pub fn clamp_to_unit(self) -> Lanes {
        let limit = |value: f32| {
            let value = if value > 0.0 { value } else { 0.0 };
            if value < 1.0 { value } else { 1.0 }
        };
        Lanes([limit(self.0[0]), limit(self.0[1]), limit(self.0[2]), limit(self.0[3])])
    }

    /// Returns -1 where the number is negative and 1 elsewhere.
    #[inline(always)]
    pub fn sign(self) -> Lanes {
        let sign = |value: f32| if value < 0.0 { -1.0 } else { 1.0 };
        Lanes([sign(self.0[0]), sign(self.0[1]), sign(self.0[2]), sign(self.0[3])])
    }
}

impl Add for Lanes {
    type Output = Lanes;
    #[inline(always)]
    fn add(self, other: Lanes) -> Lanes {
        self.zip(other, |a, b| a + b)
    }
}

impl Sub for Lanes {
    type Output = Lanes;
    #[inline(always)]
    fn sub(self, other: Lanes) -> Lanes {
        self.zip(other, |a, b| a - b)
    }
}

impl Mul for Lanes {
    type Output = Lanes;
    #[inline(always)]
    fn mul(self, other: Lanes) -> Lanes {
        self.zip(other, |a, b| a * b)
    }
}

impl Div for Lanes {
    type Output = Lanes;
    #[inline(always)]
    fn div(self, other: Lanes) -> Lanes {
        self.zip(other, |a, b| a / b)
    }
}

impl Neg for Lanes {
    type Output = Lanes;
    #[inline(always)]
    fn neg(self) -> Lanes {
        Lanes([-self.0[0], -self.0[1], -self.0[2], -self.0[3]])
    }
}

/// Exchanges rows and columns: the first result has the first number of each argument.
#[inline(always)]
pub fn transpose(rows: [Lanes; 4]) -> [Lanes; 4] {
    let [Lanes(a), Lanes(b), Lanes(c), Lanes(d)] = rows;
    [
        Lanes([a[0], b[0], c[0], d[0]]),
        Lanes([a[1], b[1], c[1], d[1]]),
        Lanes([a[2], b[2], c[2], d[2]]),
        Lanes([a[3], b[3], c[3], d[3]]),
    ]
}
