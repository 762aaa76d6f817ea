//! The common part of all drawing calls of `Gui`: their target, the checks of their numbers, and
//! the submission of their quads.

use crate::api::gui::arguments::{
    Blend, Layer, Length, ObjectNumber, PlanePosition, Pose, Position,
};
use engine_foundation::{Mat4, Vec4};
use engine_frame_packet::gui::{GuiSpace, QuadInstance};
use engine_frame_packet::material::BlendMode;
use engine_gui::tessellation::{self, ShapeStyle};
use engine_gui::{
    Affine2, DrawRefused, DrawRequest, GuiId, PrimitiveKind, SourceNumber, SourcePart,
};
use engine_runtime::Engine;

/// The number of the object that a call drew or changed; 0 in an immediate Gui.
pub(super) type DrawResult = Result<f64, DrawRefused>;

/// The destination of a drawing call.
#[derive(Clone, Copy)]
pub(super) struct DrawTarget<'a> {
    gui: GuiId,
    /// The number of the object to change; 0 draws a new one.
    object: f64,
    /// The transform of the object within the Gui's plane, if it is on a separate plane.
    plane: Option<&'a Mat4>,
}

impl<'a> DrawTarget<'a> {
    /// Returns the target of a new object.
    #[inline(always)]
    pub fn new(gui: GuiId) -> DrawTarget<'a> {
        DrawTarget { gui, object: 0.0, plane: None }
    }

    /// Returns the target of a change.
    #[inline(always)]
    pub fn change(gui: GuiId, object: ObjectNumber) -> DrawTarget<'a> {
        DrawTarget { gui, object: object.0, plane: None }
    }

    /// Returns this target on a separate plane.
    pub fn on(self, plane: &'a Mat4) -> DrawTarget<'a> {
        DrawTarget { plane: Some(plane), ..self }
    }
}

impl Pose {
    /// Returns the transform of the plane whose origin is a position along the axes of the pose.
    pub fn plane_at(self, position: PlanePosition) -> Mat4 {
        plane_within(self.at(position))
    }
}

impl Layer {
    /// Returns the origin of a plane, in this layer.
    pub fn origin(self) -> Position {
        Position { x: 0.0, y: 0.0, z: self.0 }
    }
}

/// Converts a height into a layer by rounding down.
#[inline(always)]
fn layer(z: f32) -> i32 {
    // `floor` is a call into the C library on plain x86-64. The conversion saturates at the limits.
    let whole = z as i32;
    if whole as f32 > z { whole.saturating_sub(1) } else { whole }
}

/// Maps a plane's own x and y to a pose's axes; a Gui's plane lies on the pose's x and z.
const UPRIGHT: Mat4 = Mat4::from_cols(Vec4::X, Vec4::Z, Vec4::new(0.0, -1.0, 0.0, 0.0), Vec4::W);

/// Converts a pose into a transform of the plane on the pose's x and z axes.
pub fn plane_of(pose: Mat4) -> Mat4 {
    pose * UPRIGHT
}

/// Converts a pose relative to a Gui into a transform within the Gui's plane.
pub fn plane_within(pose: Mat4) -> Mat4 {
    UPRIGHT.transpose() * pose * UPRIGHT
}

/// Minimum scale; objects that are scaled below it are not visible.
const STRETCH_MIN: f32 = 1e-3;

/// A checked drawing call. The check for numbers that are not finite uses their sum.
pub(super) struct DrawCall<'a> {
    pub engine: &'a mut Engine,
    pub gui: GuiId,
    pub object: f64,
    pub plane: Option<&'a Mat4>,
    pub primitive: PrimitiveKind,
    pub layer: i32,
    pub blend: Option<BlendMode>,
}

/// Returns a layer as a number; 0 if it was left out.
pub(super) fn layer_or_default(layer: Option<Layer>) -> f32 {
    layer.map_or(0.0, |layer| layer.0)
}

/// Returns the width of an outline; 0 if it was left out.
pub(super) fn outline_width(outline: Option<Length>) -> f32 {
    outline.map_or(0.0, |outline| outline.0)
}

impl<'a> DrawCall<'a> {
    #[inline(always)]
    pub fn begin(
        engine: &'a mut Engine,
        target: DrawTarget<'a>,
        primitive: PrimitiveKind,
        z: f32,
        sum: f32,
    ) -> Result<Self, DrawRefused> {
        if !(sum + z).is_finite() {
            return engine.drawing.guis.refuse(
                "positions, sizes and layers must be finite numbers (is something divided by \
                 zero?)",
            );
        }
        let DrawTarget { gui, object, plane } = target;
        if plane.is_some_and(|plane| !plane.is_finite()) {
            return engine
                .drawing
                .guis
                .refuse("a pose must be finite (is something divided by zero?)");
        }
        Ok(DrawCall { engine, gui, object, plane, primitive, layer: layer(z), blend: None })
    }

    /// Sets the blend mode of the object.
    #[inline(always)]
    pub fn blended(self, blend: Blend) -> Self {
        DrawCall { blend: blend.0, ..self }
    }

    /// Draws one quadrilateral of a source.
    #[inline(always)]
    pub fn one(
        self,
        source: SourceNumber,
        make: impl FnOnce(&engine_gui::TextureSource) -> QuadInstance,
    ) -> DrawResult {
        let DrawCall { engine, gui, object, plane, primitive, layer, blend } = self;
        let request = DrawRequest { gui, object, primitive, layer, pose: plane, blend };
        engine.drawing.guis.submit_quad(request, source, make)
    }

    pub fn many(self, source: SourceNumber, instances: &[QuadInstance]) -> DrawResult {
        let DrawCall { engine, gui, object, plane, primitive, layer, blend } = self;
        let request = DrawRequest { gui, object, primitive, layer, pose: plane, blend };
        engine.drawing.guis.submit_parts(request, &[SourcePart { source, instances }])
    }

    #[inline(always)]
    pub fn shape_style(&mut self, color: [u8; 4], radius: f32, outline: f32) -> ShapeStyle {
        let reach = tessellation::EDGE_MARGIN * self.logical_pixel();
        ShapeStyle { color, radius, outline, reach }
    }

    /// Returns the length of a logical pixel in the units of this call; 0 in the world, where it
    /// has no length.
    #[inline(always)]
    fn logical_pixel(&mut self) -> f32 {
        let gui = self.engine.drawing.guis.gui(self.gui);
        match (gui.desc.space, gui.transform_stack.transform()) {
            (GuiSpace::World, _) => 0.0,
            (GuiSpace::Screen | GuiSpace::Overlay, None) => 1.0,
            (GuiSpace::Screen | GuiSpace::Overlay, Some(moved)) => {
                1.0 / moved.scale_min().max(STRETCH_MIN)
            }
        }
    }

    /// Returns the length of a pixel of the render target in the units of this call.
    pub fn pixel(&mut self) -> f32 {
        let desc = &self.engine.drawing.guis.gui(self.gui).desc;
        let window = &self.engine.devices.window;
        let scale = match (desc.target, desc.space) {
            (Some(_), _) => 1.0,
            (None, GuiSpace::Overlay) => window.scale as f32,
            (None, _) => window.mapping().scale.min_element(),
        };
        self.logical_pixel() / scale
    }

    /// Returns true if upright shapes are drawn upright, without rotation.
    #[inline(always)]
    pub fn is_straight(&mut self) -> bool {
        let gui = self.engine.drawing.guis.gui(self.gui);
        let flat = self.plane.is_none() || gui.desc.space == GuiSpace::World;
        flat && gui.transform_stack.transform().is_none_or(Affine2::is_straight)
    }

    /// Refuses parts of an image beyond it, if there are other images in the same texture.
    #[inline(always)]
    pub fn check_part(&mut self, source: SourceNumber, uv: &[f32]) -> Result<(), DrawRefused> {
        let outside = uv.iter().any(|at| !(0.0..=1.0).contains(at));
        let guis = &mut self.engine.drawing.guis;
        if outside && guis.source(source).is_some_and(|of| of.is_shared()) {
            return guis.refuse(
                "the part goes beyond 0 to 1, and this texture shares an atlas with others: give \
                 it its own texture with wrap = \"repeat\" in its .texture file",
            );
        }
        Ok(())
    }

    /// Refuses points that are not finite.
    pub fn check_points(&mut self, points: &[[f32; 2]]) -> Result<(), DrawRefused> {
        if points.iter().flatten().all(|number| number.is_finite()) {
            return Ok(());
        }
        self.engine.drawing.guis.refuse("points must be finite (is something divided by zero?)")
    }
}
