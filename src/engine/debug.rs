//! Lines and words for whoever makes the game, drawn over the views that show them: as thin lines
//! of the screen, nothing in the world hides them.

use super::Engine;
use crate::foundation::{Handle, Mat4, Vec2, Vec3};
use crate::packet::text::{PageNumber, Request};
use crate::packet::{Target, View};
use crate::system::gui::shape::{self, Look};
use crate::system::gui::{GuiId, Mode, PLAIN, Thing, What};

/// How wide lines are, in logical pixels.
const THICKNESS: f32 = 1.5;
/// Where the list of words begins: from the left, and from the top.
const MARGIN: f32 = 12.0;
/// From one line of the list to the next, as a part of the size.
const SPACING: f32 = 1.3;

/// A view, as points of the world are found on the screen.
struct Projector {
    matrix: Mat4,
    corner: Vec2,
    size: Vec2,
}

impl Projector {
    fn of(view: &View, screen: Vec2) -> Projector {
        let [x, y, width, height] = view.rectangle;
        Projector {
            matrix: view.camera.projection * view.camera.view,
            corner: Vec2::new(x, y) * screen,
            size: Vec2::new(width, height) * screen,
        }
    }

    /// The two ends of a line on the screen, cut off at the near plane; none where all of it is
    /// nearer.
    fn line(&self, from: Vec3, to: Vec3) -> Option<[[f32; 2]; 2]> {
        let (mut a, mut b) = (self.matrix * from.extend(1.0), self.matrix * to.extend(1.0));
        // What is nearer than the near plane has a depth below 0.
        if a.z < 0.0 && b.z < 0.0 {
            return None;
        }
        if a.z < 0.0 {
            a += (b - a) * (a.z / (a.z - b.z));
        } else if b.z < 0.0 {
            b += (a - b) * (b.z / (b.z - a.z));
        }
        let place = |at: crate::foundation::Vec4| {
            let seen = Vec2::new(at.x, at.y) / at.w.max(1e-6) * 0.5 + 0.5;
            (self.corner + seen * self.size).to_array()
        };
        Some([place(a), place(b)])
    }
}

impl Engine {
    /// Draws the lines and words of a view of a world: the Gui that they are in, if there are any.
    pub(super) fn draw_lines(&mut self, index: usize, view: &View, world: Handle) -> Option<u64> {
        if self.lines.is_empty() || matches!(view.target, Target::Texture(_)) {
            return None;
        }
        let gui = self.line_gui(index)?;
        let size = self.screen_size(view.target);
        let projector = Projector::of(view, size);
        let thing = Thing { gui, object: 0.0, what: What::Shape, layer: 0, pose: None };
        let lines = self.lines.of_world(world);
        let each: Vec<_> = lines
            .filter_map(|line| {
                let [from, to] = projector.line(line.from, line.to)?;
                let look =
                    Look { color: line.color, radius: 0.0, outline: 0.0, reach: shape::REACH };
                Some(shape::line(from, to, THICKNESS, false, look))
            })
            .collect();
        // What finds no room is left out: it is only for the eyes.
        let _ = self.guis.put_each(thing, PLAIN, each.into_iter());
        self.draw_words(index, thing, &projector, size.y);
        Some(gui.0.to_number() as u64)
    }

    fn draw_words(&mut self, index: usize, thing: Thing, projector: &Projector, height: f32) {
        let font = self.text.find(&mut self.store, crate::system::text::DEFAULT_FONT);
        let Ok(font) = font else { return };
        let mut below = height - MARGIN;
        let Engine { lines, text, guis, .. } = self;
        for words in lines.words() {
            let place = match words.at {
                Some(at) => projector.line(at, at).map(|[place, _]| place),
                // The list stands once, over the first view.
                None if index > 0 => None,
                None => {
                    below -= words.size * SPACING;
                    Some([MARGIN, below])
                }
            };
            let Some([x, y]) = place else { continue };
            let (bytes, size) = (words.text.as_bytes(), words.size);
            let request = Request { font, text: bytes, size, markup: false, ..Request::DEFAULT };
            if let Ok(quads) = text.layout(&request) {
                let shared = quads.iter().filter(|quad| quad.page == PageNumber::SHARED);
                let each: Vec<_> = shared.map(|quad| quad.instance(x, y, words.color, 0)).collect();
                let _ = guis.put_each(thing, PLAIN, each.into_iter());
            }
        }
    }

    /// The Gui for the lines of the view of that index.
    fn line_gui(&mut self, index: usize) -> Option<GuiId> {
        while self.picture.line_guis.len() <= index {
            // Without room for one more there are no lines.
            let gui = self.new_screen_gui(None, Mode::Immediate).ok()?;
            self.picture.line_guis.push(gui);
        }
        self.picture.line_guis.get(index).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::camera::Camera;

    fn projector() -> Projector {
        let view = View {
            target: Target::Screen,
            rectangle: [0.5, 0.0, 0.5, 1.0],
            clear: None,
            camera: Camera::DEFAULT.frame(1.0),
            scene: None,
            layers: u32::MAX,
            guis: Vec::new(),
        };
        Projector::of(&view, Vec2::new(200.0, 100.0))
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
