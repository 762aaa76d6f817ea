//! Transform stack of a Gui: stacks of transforms, clip rectangles, blend modes and masks that
//! apply to subsequent drawing.

use engine_frame_packet::gui::MaskUse;
use engine_frame_packet::material::BlendMode;
use std::ops::Mul;

/// Maximum depth of the transform stack, and of each of the other stacks.
pub const STACK_MAX: usize = 64;

/// Affine transform of the plane: the images of the x axis, the y axis and the origin.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Affine2 {
    pub x: [f32; 2],
    pub y: [f32; 2],
    pub origin: [f32; 2],
}

impl Affine2 {
    pub const IDENTITY: Affine2 = Affine2 { x: [1.0, 0.0], y: [0.0, 1.0], origin: [0.0, 0.0] };

    /// Transforms a point.
    #[inline(always)]
    pub fn apply(&self, [x, y]: [f32; 2]) -> [f32; 2] {
        let along = |i: usize| self.x[i] * x + self.y[i] * y + self.origin[i];
        [along(0), along(1)]
    }

    /// Returns the inverse transform, or `None` if this transform is singular.
    pub fn inverse(&self) -> Option<Affine2> {
        let area = self.x[0] * self.y[1] - self.x[1] * self.y[0];
        if area.abs() < 1e-12 {
            return None;
        }
        let x = [self.y[1] / area, -self.x[1] / area];
        let y = [-self.y[0] / area, self.x[0] / area];
        let linear = Affine2 { x, y, origin: [0.0, 0.0] };
        let [back_x, back_y] = linear.apply(self.origin);
        Some(Affine2 { origin: [-back_x, -back_y], ..linear })
    }

    /// Returns the smallest scale factor of any direction: the smaller singular value.
    pub fn scale_min(&self) -> f32 {
        let squares = [self.x, self.y].map(|[x, y]| x * x + y * y);
        let slant = self.x[0] * self.y[0] + self.x[1] * self.y[1];
        let apart = (squares[0] - squares[1]).hypot(2.0 * slant);
        ((squares[0] + squares[1] - apart) / 2.0).max(0.0).sqrt()
    }

    /// Returns true if axis-aligned shapes stay axis-aligned.
    #[inline(always)]
    pub fn is_straight(&self) -> bool {
        self.x[1] == 0.0 && self.y[0] == 0.0
    }

    pub fn translation(by: [f32; 2]) -> Affine2 {
        Affine2 { origin: by, ..Affine2::IDENTITY }
    }

    /// Returns a counterclockwise rotation by an angle in radians.
    pub fn rotation(angle: f32) -> Affine2 {
        let (sin, cos) = angle.sin_cos();
        Affine2 { x: [cos, sin], y: [-sin, cos], origin: [0.0, 0.0] }
    }

    pub fn scaling(by: [f32; 2]) -> Affine2 {
        Affine2 { x: [by[0], 0.0], y: [0.0, by[1]], origin: [0.0, 0.0] }
    }
}

/// Composes two transforms: the right one applies first.
impl Mul for Affine2 {
    type Output = Affine2;
    fn mul(self, inner: Affine2) -> Affine2 {
        let turn =
            |[x, y]: [f32; 2]| [self.x[0] * x + self.y[0] * y, self.x[1] * x + self.y[1] * y];
        Affine2 { x: turn(inner.x), y: turn(inner.y), origin: self.apply(inner.origin) }
    }
}

/// Current transform and clip rectangle, with the stacks of pushed ones.
#[derive(Clone, Default, Debug)]
pub struct TransformStack {
    /// `None` for the identity, which is the common case.
    transform: Option<Affine2>,
    transforms: Vec<Option<Affine2>>,
    clip: Option<[i32; 4]>,
    clips: Vec<Option<[i32; 4]>>,
    /// `None` for the blend mode of the material.
    blend: Option<BlendMode>,
    blends: Vec<Option<BlendMode>>,
    mask: MaskUse,
    masks: Vec<MaskUse>,
}

impl TransformStack {
    #[inline(always)]
    pub fn transform(&self) -> Option<&Affine2> {
        self.transform.as_ref()
    }

    /// Returns the clip rectangle: left, bottom, right and top.
    #[inline(always)]
    pub fn clip(&self) -> Option<[i32; 4]> {
        self.clip
    }

    /// Pushes the current transform. [`TransformStack::pop`] restores it.
    pub fn push(&mut self) -> Result<(), String> {
        if self.transforms.len() >= STACK_MAX {
            return Err(format!(
                "{STACK_MAX} transforms are pushed already (STACK_MAX): is a pop missing?"
            ));
        }
        self.transforms.push(self.transform);
        Ok(())
    }

    /// Restores the transform that was pushed last.
    pub fn pop(&mut self) -> Result<(), String> {
        let Some(saved) = self.transforms.pop() else {
            return Err("no transform is pushed: is there a pop too many?".to_string());
        };
        self.transform = saved;
        Ok(())
    }

    /// Applies `inner` before the current transform to subsequent drawing.
    pub fn apply(&mut self, inner: Affine2) {
        let now = self.transform.unwrap_or(Affine2::IDENTITY) * inner;
        self.transform = (now != Affine2::IDENTITY).then_some(now);
    }

    /// Pushes a clip rectangle (left, bottom, right, top) and intersects it with the current clip.
    /// A rotated rectangle clips to its axis-aligned bounding box.
    pub fn push_clip(&mut self, [left, bottom, right, top]: [f32; 4]) -> Result<(), String> {
        if self.clips.len() >= STACK_MAX {
            return Err(format!(
                "{STACK_MAX} clips are pushed already (STACK_MAX): is a pop_clip missing?"
            ));
        }
        let moved = self.transform.unwrap_or(Affine2::IDENTITY);
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
                // An empty rectangle keeps its position and clips everything.
                let most = [new[2].min(old[2]).max(least[0]), new[3].min(old[3]).max(least[1])];
                [least[0], least[1], most[0], most[1]]
            }
        });
        Ok(())
    }

    /// Removes the clip that was pushed last.
    pub fn pop_clip(&mut self) -> Result<(), String> {
        let Some(saved) = self.clips.pop() else {
            return Err("no clip is pushed: is there a pop_clip too many?".to_string());
        };
        self.clip = saved;
        Ok(())
    }

    #[inline(always)]
    pub fn blend(&self) -> Option<BlendMode> {
        self.blend
    }

    /// Sets the blend mode. [`TransformStack::pop_blend`] restores the current one.
    pub fn push_blend(&mut self, blend: BlendMode) -> Result<(), String> {
        if self.blends.len() >= STACK_MAX {
            return Err(format!(
                "{STACK_MAX} blend modes are pushed already (STACK_MAX): is a pop_blend missing?"
            ));
        }
        self.blends.push(self.blend);
        self.blend = Some(blend);
        Ok(())
    }

    /// Restores the blend mode from before the last push.
    pub fn pop_blend(&mut self) -> Result<(), String> {
        let Some(saved) = self.blends.pop() else {
            return Err("no blend mode is pushed: is there a pop_blend too many?".to_string());
        };
        self.blend = saved;
        Ok(())
    }

    #[inline(always)]
    pub fn mask(&self) -> MaskUse {
        self.mask
    }

    /// Makes subsequent drawing the shape of a new mask with this number.
    pub fn begin_mask(&mut self, number: u16) -> Result<(), String> {
        if self.mask.shape_of > 0 {
            return Err(
                "the shape of a mask is being drawn already: is an end_mask missing?".into()
            );
        }
        if self.masks.len() >= STACK_MAX {
            return Err(format!(
                "{STACK_MAX} masks apply already (STACK_MAX): is a pop_mask missing?"
            ));
        }
        self.masks.push(self.mask);
        self.mask.shape_of = number;
        Ok(())
    }

    /// Draws through the mask whose shape was drawn. Returns its number.
    pub fn end_mask(&mut self) -> Result<u16, String> {
        let number = self.mask.shape_of;
        if number == 0 {
            return Err("no mask is begun: is there a begin_mask missing?".to_string());
        }
        self.mask = MaskUse { within: number, shape_of: 0 };
        Ok(number)
    }

    /// Ends the mask that was begun last.
    pub fn pop_mask(&mut self) -> Result<(), String> {
        if self.mask.shape_of > 0 {
            return Err("the shape of a mask is being drawn: call end_mask first".to_string());
        }
        let Some(saved) = self.masks.pop() else {
            return Err("no mask applies: is there a pop_mask too many?".to_string());
        };
        self.mask = saved;
        Ok(())
    }

    /// Resets everything at the end of a frame. Returns the number of pushes without a pop.
    pub fn end_frame(&mut self) -> usize {
        let left = self.transforms.len() + self.clips.len() + self.blends.len() + self.masks.len();
        self.transforms.clear();
        self.clips.clear();
        self.blends.clear();
        self.masks.clear();
        (self.transform, self.clip, self.blend) = (None, None, None);
        self.mask = MaskUse::default();
        left
    }
}
