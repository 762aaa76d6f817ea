//! Drawing of debug lines and debug texts over the views that show them: as thin lines on the
//! screen, never hidden by objects in the world.

use super::{Assets, Devices, Drawing};
use engine_foundation::{Handle, Mat4, Vec2, Vec3};
use engine_frame_packet::text::{PageNumber, TextRequest};
use engine_frame_packet::{View, ViewTarget};
use engine_gui::tessellation::{self, ShapeStyle};
use engine_gui::{DrawRequest, GuiId, GuiMode, PLAIN, PrimitiveKind};
use engine_world::debug_lines::DebugLines;

/// Width of lines in logical pixels.
const THICKNESS: f32 = 1.5;
/// Distance of the list of texts from the left and the top edge, in logical pixels.
const MARGIN: f32 = 12.0;
/// Line spacing of the list, as a factor of the text size.
const SPACING: f32 = 1.3;

/// Projection of world points to the screen in a view.
struct ViewProjector {
    matrix: Mat4,
    corner: Vec2,
    size: Vec2,
}

impl ViewProjector {
    fn of(view: &View, screen: Vec2) -> ViewProjector {
        let [x, y, width, height] = view.rectangle;
        ViewProjector {
            matrix: view.camera.projection * view.camera.view,
            corner: Vec2::new(x, y) * screen,
            size: Vec2::new(width, height) * screen,
        }
    }

    /// Returns the two end points of a line on the screen, clipped at the near plane, or `None` if
    /// the whole line is nearer.
    fn line(&self, from: Vec3, to: Vec3) -> Option<[[f32; 2]; 2]> {
        let (mut a, mut b) = (self.matrix * from.extend(1.0), self.matrix * to.extend(1.0));
        // Points nearer than the near plane have a negative depth.
        if a.z < 0.0 && b.z < 0.0 {
            return None;
        }
        if a.z < 0.0 {
            a += (b - a) * (a.z / (a.z - b.z));
        } else if b.z < 0.0 {
            b += (a - b) * (b.z / (b.z - a.z));
        }
        let to_corner = |at: engine_foundation::Vec4| {
            let on_screen = Vec2::new(at.x, at.y) / at.w.max(1e-6) * 0.5 + 0.5;
            (self.corner + on_screen * self.size).to_array()
        };
        Some([to_corner(a), to_corner(b)])
    }
}

impl Drawing {
    /// Draws the debug lines and texts for a view of a world. Returns their Gui if there are any.
    pub(super) fn draw_lines(
        &mut self,
        lines: &DebugLines,
        assets: &mut Assets,
        devices: &Devices,
        index: usize,
        view: &View,
        world: Handle,
    ) -> Option<u64> {
        if lines.is_empty() || matches!(view.target, ViewTarget::Texture(_)) {
            return None;
        }
        let gui = self.line_gui(index)?;
        let size = devices.screen_size(view.target);
        let projector = ViewProjector::of(view, size);
        let request = DrawRequest {
            gui,
            object: 0.0,
            primitive: PrimitiveKind::Shape,
            layer: 0,
            pose: None,
            blend: None,
        };
        let each: Vec<_> = lines
            .of_world(world)
            .filter_map(|line| {
                let [from, to] = projector.line(line.from, line.to)?;
                let look = ShapeStyle {
                    color: line.color,
                    radius: 0.0,
                    outline: 0.0,
                    reach: tessellation::EDGE_MARGIN,
                };
                Some(tessellation::line(from, to, THICKNESS, false, look))
            })
            .collect();
        // Lines that exceed the Gui's capacity are left out, because they are only a visual aid.
        let _ = self.guis.submit_quads(request, PLAIN, each.into_iter());
        self.draw_texts(lines, assets, index, request, &projector, size.y);
        Some(gui.0.to_number() as u64)
    }

    fn draw_texts(
        &mut self,
        lines: &DebugLines,
        assets: &mut Assets,
        index: usize,
        draw_request: DrawRequest,
        projector: &ViewProjector,
        height: f32,
    ) {
        let font = assets.text.find(&mut assets.store, engine_text::DEFAULT_FONT);
        let Ok(font) = font else { return };
        let mut below = height - MARGIN;
        for item in lines.texts() {
            let position = match item.at {
                Some(at) => projector.line(at, at).map(|[position, _]| position),
                // The list appears only once, over the first view.
                None if index > 0 => None,
                None => {
                    below -= item.size * SPACING;
                    Some([MARGIN, below])
                }
            };
            let Some([x, y]) = position else { continue };
            let (bytes, size) = (item.text.as_bytes(), item.size);
            let request =
                TextRequest { font, text: bytes, size, markup: false, ..TextRequest::DEFAULT };
            if let Ok(quads) = assets.text.layout(&request) {
                let shared = quads.iter().filter(|quad| quad.page == PageNumber::SHARED);
                let each: Vec<_> = shared.map(|quad| quad.instance(x, y, item.color, 0)).collect();
                let _ = self.guis.submit_quads(draw_request, PLAIN, each.into_iter());
            }
        }
    }

    /// Returns the Gui for the debug lines of the view with that index.
    fn line_gui(&mut self, index: usize) -> Option<GuiId> {
        while self.builder.line_guis.len() <= index {
            // Without capacity for another Gui there are no lines.
            let gui = self.new_screen_gui(None, GuiMode::Immediate).ok()?;
            self.builder.line_guis.push(gui);
        }
        self.builder.line_guis.get(index).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine_frame_packet::shading_environment::{EnvironmentTextures, ShadingEnvironment};
    use engine_world::camera::Camera;

    fn projector() -> ViewProjector {
        let view = View {
            target: ViewTarget::Screen,
            rectangle: [0.5, 0.0, 0.5, 1.0],
            clear: None,
            camera: Camera::DEFAULT.frame(Vec2::ONE),
            scene: None,
            layers: u32::MAX,
            sky: None,
            environment: ShadingEnvironment::DEFAULT,
            environment_textures: EnvironmentTextures::default(),
            viewport: None,
            guis: Vec::new(),
        };
        ViewProjector::of(&view, Vec2::new(200.0, 100.0))
    }

    #[test]
    fn points_are_found_within_their_view() {
        let ahead = Vec3::new(0.0, 10.0, 0.0);
        let [a, b] = projector().line(ahead, ahead + Vec3::Z).unwrap();
        assert!((a[0] - 150.0).abs() < 1e-3 && (a[1] - 50.0).abs() < 1e-3);
        assert!(b[1] > 50.0);
    }

    #[test]
    fn lines_end_at_the_near_plane() {
        let (ahead, behind) = (Vec3::new(1.0, 10.0, 0.0), Vec3::new(1.0, -10.0, 0.0));
        assert_eq!(projector().line(behind, behind), None);
        let [a, b] = projector().line(behind, ahead).unwrap();
        assert!(a.iter().chain(&b).all(|at| at.is_finite()));
        assert_eq!(projector().line(ahead, behind).unwrap(), [b, a]);
    }
}
