//! The pen of a Gui: transforms and clipping, each a stack, which hold for what is drawn next.

use std::ops::Mul;

/// How deep transforms or clips can be pushed.
pub const STACK_MAX: usize = 64;

/// A transform of the plane: where x, y and the origin go.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Affine {
    pub x: [f32; 2],
    pub y: [f32; 2],
    pub origin: [f32; 2],
}

impl Affine {
    pub const IDENTITY: Affine = Affine { x: [1.0, 0.0], y: [0.0, 1.0], origin: [0.0, 0.0] };

    /// Where a point goes.
    #[inline(always)]
    pub fn apply(&self, [x, y]: [f32; 2]) -> [f32; 2] {
        let along = |i: usize| self.x[i] * x + self.y[i] * y + self.origin[i];
        [along(0), along(1)]
    }

    /// The transform that takes everything back; `None` where it was made flat.
    pub fn inverse(&self) -> Option<Affine> {
        let area = self.x[0] * self.y[1] - self.x[1] * self.y[0];
        if area.abs() < 1e-12 {
            return None;
        }
        let x = [self.y[1] / area, -self.x[1] / area];
        let y = [-self.y[0] / area, self.x[0] / area];
        let turned = Affine { x, y, origin: [0.0, 0.0] };
        let [back_x, back_y] = turned.apply(self.origin);
        Some(Affine { origin: [-back_x, -back_y], ..turned })
    }

    /// By how much it stretches lengths, at least.
    pub fn stretch(&self) -> f32 {
        self.x[0].hypot(self.x[1]).min(self.y[0].hypot(self.y[1]))
    }

    /// Whether it leaves what is upright upright.
    #[inline(always)]
    pub fn is_straight(&self) -> bool {
        self.x[1] == 0.0 && self.y[0] == 0.0
    }

    pub fn translation(by: [f32; 2]) -> Affine {
        Affine { origin: by, ..Affine::IDENTITY }
    }

    /// A turn against the clock, in radians.
    pub fn rotation(angle: f32) -> Affine {
        let (sin, cos) = angle.sin_cos();
        Affine { x: [cos, sin], y: [-sin, cos], origin: [0.0, 0.0] }
    }

    pub fn scaling(by: [f32; 2]) -> Affine {
        Affine { x: [by[0], 0.0], y: [0.0, by[1]], origin: [0.0, 0.0] }
    }
}

/// First the right one, then the left one.
impl Mul for Affine {
    type Output = Affine;
    fn mul(self, inner: Affine) -> Affine {
        let turn =
            |[x, y]: [f32; 2]| [self.x[0] * x + self.y[0] * y, self.x[1] * x + self.y[1] * y];
        Affine { x: turn(inner.x), y: turn(inner.y), origin: self.apply(inner.origin) }
    }
}

/// What holds for what is drawn next.
#[derive(Clone, Default, Debug)]
pub struct Pen {
    /// `None`: nothing is moved, which is the rule.
    transform: Option<Affine>,
    transforms: Vec<Option<Affine>>,
    clip: Option<[i32; 4]>,
    clips: Vec<Option<[i32; 4]>>,
}

impl Pen {
    #[inline(always)]
    pub fn transform(&self) -> Option<&Affine> {
        self.transform.as_ref()
    }

    /// Left, bottom, right and top of what is not cut off.
    #[inline(always)]
    pub fn clip(&self) -> Option<[i32; 4]> {
        self.clip
    }

    /// Keeps the transform, for [`Pen::pop`].
    pub fn push(&mut self) -> Result<(), String> {
        if self.transforms.len() >= STACK_MAX {
            return Err(format!(
                "{STACK_MAX} transforms are pushed already (STACK_MAX): is a pop missing?"
            ));
        }
        self.transforms.push(self.transform);
        Ok(())
    }

    /// Brings back the transform that was kept last.
    pub fn pop(&mut self) -> Result<(), String> {
        let Some(kept) = self.transforms.pop() else {
            return Err("no transform is pushed: is there a pop too many?".to_string());
        };
        self.transform = kept;
        Ok(())
    }

    /// Has what is drawn next go through `inner` first.
    pub fn apply(&mut self, inner: Affine) {
        let now = self.transform.unwrap_or(Affine::IDENTITY) * inner;
        self.transform = (now != Affine::IDENTITY).then_some(now);
    }

    /// Cuts off what lies outside a rectangle (left, bottom, right, top), and outside of the ones
    /// before it. A turned rectangle cuts off what lies outside of the straight one around it.
    pub fn push_clip(&mut self, [left, bottom, right, top]: [f32; 4]) -> Result<(), String> {
        if self.clips.len() >= STACK_MAX {
            return Err(format!(
                "{STACK_MAX} clips are pushed already (STACK_MAX): is a pop_clip missing?"
            ));
        }
        let moved = self.transform.unwrap_or(Affine::IDENTITY);
        let corners = [[left, bottom], [right, bottom], [right, top], [left, top]];
        let corners = corners.map(|corner| moved.apply(corner));
        let low = |i: usize| corners.iter().map(|at| at[i]).fold(f32::INFINITY, f32::min);
        let high = |i: usize| corners.iter().map(|at| at[i]).fold(f32::NEG_INFINITY, f32::max);
        let round = |at: f32| at.round() as i32;
        let new = [round(low(0)), round(low(1)), round(high(0)), round(high(1))];
        self.clips.push(self.clip);
        self.clip = Some(match self.clip {
            None => new,
            Some(old) => {
                let least = [new[0].max(old[0]), new[1].max(old[1])];
                // An empty rectangle stays where it is, and cuts off everything.
                let most = [new[2].min(old[2]).max(least[0]), new[3].min(old[3]).max(least[1])];
                [least[0], least[1], most[0], most[1]]
            }
        });
        Ok(())
    }

    /// Ends the clip that was pushed last.
    pub fn pop_clip(&mut self) -> Result<(), String> {
        let Some(kept) = self.clips.pop() else {
            return Err("no clip is pushed: is there a pop_clip too many?".to_string());
        };
        self.clip = kept;
        Ok(())
    }

    /// At the end of a frame: everything is as at the start. How many pushes had no pop.
    pub fn end_frame(&mut self) -> usize {
        let left = self.transforms.len() + self.clips.len();
        self.transforms.clear();
        self.clips.clear();
        (self.transform, self.clip) = (None, None);
        left
    }
}
