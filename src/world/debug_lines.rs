//! Debug lines and debug texts for the developer: collected here, drawn over the view of a world.
//! Draws nothing itself.

use engine_foundation::{Color, Handle, HandleKind, Mat4, Slots, Vec3};
use std::f32::consts::{FRAC_PI_2, PI, TAU};

/// Maximum number of line objects at one time.
pub const LINE_OBJECTS_MAX: usize = 1024;
/// Maximum number of lines in one line object, and of lines shown at one time.
pub const LINES_MAX: usize = 100_000;
/// Maximum number of texts shown at one time.
pub const TEXTS_MAX: usize = 1000;
/// Default number of segments of a circle.
pub const SEGMENTS: u32 = 20;
/// Maximum number of segments of a circle.
pub const SEGMENTS_MAX: u32 = 256;

/// Handle of a line object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LineObjectId(pub Handle);

/// A straight line in a world.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct DebugLine {
    pub from: Vec3,
    pub to: Vec3,
    pub color: [u8; 4],
}

/// Lines that are shown together when they are dispatched.
pub struct LineObject {
    /// The world of the line object.
    pub world: Handle,
    pub lines: Vec<DebugLine>,
}

/// A line with its world and its expiry time.
struct TimedLine {
    /// World that shows the line; `None` for all worlds.
    world: Option<Handle>,
    line: DebugLine,
    /// Game time at which the line expires. Below 0, the line expires after one frame.
    until: f64,
}

/// A text with its location and its expiry time.
#[derive(Clone, PartialEq, Debug)]
pub struct DebugText {
    /// World position of the text; `None` for a line in the list on the screen.
    pub at: Option<Vec3>,
    pub text: String,
    pub size: f32,
    pub color: [u8; 4],
    until: f64,
}

/// All debug lines and debug texts.
pub struct DebugLines {
    pub objects: Slots<LineObject>,
    shown: Vec<TimedLine>,
    texts: Vec<DebugText>,
}

impl Default for DebugLines {
    fn default() -> DebugLines {
        let objects = Slots::new(HandleKind::LineObject, LINE_OBJECTS_MAX);
        DebugLines { objects, shown: Vec::new(), texts: Vec::new() }
    }
}

impl DebugLines {
    /// Shows lines until a time. Lines beyond the limit are left out.
    pub fn show(
        &mut self,
        world: Option<Handle>,
        lines: &[DebugLine],
        until: f64,
    ) -> Result<(), String> {
        if self.shown.len() + lines.len() > LINES_MAX {
            return Err(format!("{LINES_MAX} lines are shown already (LINES_MAX)"));
        }
        self.shown.extend(lines.iter().map(|line| TimedLine { world, line: *line, until }));
        Ok(())
    }

    /// Returns the number of lines that can still be added.
    pub fn remaining(&self) -> usize {
        LINES_MAX - self.shown.len()
    }

    /// Shows the lines of a line object in its world for one frame.
    pub fn dispatch(&mut self, object: LineObjectId) -> Result<(), String> {
        let of = self.objects.get(object.0).expect("the handle was checked where it came in");
        let (world, lines) = (of.world, of.lines.clone());
        self.show(Some(world), &lines, -1.0)
    }

    /// Shows a text until a time.
    pub fn add_text(
        &mut self,
        at: Option<Vec3>,
        text: &str,
        size: f32,
        color: Color,
        until: f64,
    ) -> Result<(), String> {
        if self.texts.len() >= TEXTS_MAX {
            return Err(format!("{TEXTS_MAX} texts are shown already (TEXTS_MAX)"));
        }
        let color = color.to_bytes();
        self.texts.push(DebugText { at, text: text.to_string(), size, color, until });
        Ok(())
    }

    /// Returns the lines that a view of a world shows.
    pub fn of_world(&self, world: Handle) -> impl Iterator<Item = &DebugLine> {
        let own = self.shown.iter().filter(move |shown| shown.world.is_none_or(|of| of == world));
        own.map(|shown| &shown.line)
    }

    /// Returns the texts that are shown.
    pub fn texts(&self) -> &[DebugText] {
        &self.texts
    }

    /// Returns true if there is nothing to show.
    pub fn is_empty(&self) -> bool {
        self.shown.is_empty() && self.texts.is_empty()
    }

    /// Removes expired lines and texts.
    pub fn end_frame(&mut self, now: f64) {
        self.shown.retain(|shown| shown.until > now);
        self.texts.retain(|text| text.until > now);
    }

    /// Removes all lines and texts.
    pub fn clear(&mut self) {
        self.shown.clear();
        self.texts.clear();
    }
}

/// Returns the points of an arc around `center`, from `u` towards `v`. For a full circle, the first
/// point occurs twice.
fn circle(center: Vec3, u: Vec3, v: Vec3, from: f32, to: f32, parts: u32) -> Vec<Vec3> {
    let angle = |i: u32| from + (to - from) * i as f32 / parts as f32;
    (0..=parts).map(|i| center + u * angle(i).cos() + v * angle(i).sin()).collect()
}

fn add_polyline(points: &[Vec3], color: [u8; 4], into: &mut Vec<DebugLine>) {
    into.extend(points.windows(2).map(|pair| DebugLine { from: pair[0], to: pair[1], color }));
}

/// Returns two directions perpendicular to an axis and to each other.
fn perpendiculars(axis: Vec3) -> (Vec3, Vec3) {
    axis.normalize_or(Vec3::Z).any_orthonormal_pair()
}

/// Adds a circle perpendicular to `normal`.
pub fn add_circle(
    center: Vec3,
    radius: f32,
    normal: Vec3,
    parts: u32,
    color: [u8; 4],
    into: &mut Vec<DebugLine>,
) {
    let (u, v) = perpendiculars(normal);
    add_polyline(&circle(center, u * radius, v * radius, 0.0, TAU, parts), color, into);
}

/// Adds the edges of a box: from `-extents` to `extents` in a pose.
pub fn add_box(pose: Mat4, extents: Vec3, color: [u8; 4], into: &mut Vec<DebugLine>) {
    let corner = |i: u32| {
        let side = |bit: u32| if i >> bit & 1 == 1 { 1.0 } else { -1.0 };
        pose.transform_point3(extents * Vec3::new(side(0), side(1), side(2)))
    };
    for i in 0..8 {
        for bit in (0..3).filter(|bit| i >> bit & 1 == 0) {
            into.push(DebugLine { from: corner(i), to: corner(i | 1 << bit), color });
        }
    }
}

/// Adds three circles of a sphere.
pub fn add_sphere(
    center: Vec3,
    radius: f32,
    parts: u32,
    color: [u8; 4],
    into: &mut Vec<DebugLine>,
) {
    for normal in [Vec3::X, Vec3::Y, Vec3::Z] {
        add_circle(center, radius, normal, parts, color, into);
    }
}

/// Adds the half of a sphere on the side of `normal`.
pub fn add_half_sphere(
    center: Vec3,
    radius: f32,
    normal: Vec3,
    parts: u32,
    color: [u8; 4],
    into: &mut Vec<DebugLine>,
) {
    add_circle(center, radius, normal, parts, color, into);
    let (u, v) = perpendiculars(normal);
    let top = normal.normalize_or(Vec3::Z) * radius;
    for side in [u, v] {
        add_polyline(&circle(center, side * radius, top, 0.0, PI, parts.div_ceil(2)), color, into);
    }
}

/// Adds a capsule between two points.
pub fn add_capsule(
    from: Vec3,
    to: Vec3,
    radius: f32,
    parts: u32,
    color: [u8; 4],
    into: &mut Vec<DebugLine>,
) {
    let axis = to - from;
    add_half_sphere(from, radius, -axis, parts, color, into);
    add_half_sphere(to, radius, axis, parts, color, into);
    let (u, v) = perpendiculars(axis);
    for side in [u, -u, v, -v] {
        into.push(DebugLine { from: from + side * radius, to: to + side * radius, color });
    }
}

/// Adds a cone with its tip at `to`.
pub fn add_cone(
    from: Vec3,
    to: Vec3,
    radius: f32,
    parts: u32,
    color: [u8; 4],
    into: &mut Vec<DebugLine>,
) {
    add_circle(from, radius, to - from, parts, color, into);
    let (u, v) = perpendiculars(to - from);
    for i in 0..4 {
        let angle = FRAC_PI_2 * i as f32;
        let side = u * angle.cos() + v * angle.sin();
        into.push(DebugLine { from: from + side * radius, to, color });
    }
}

/// Adds the axes of a pose: x red, y green, z blue.
pub fn add_axes(pose: Mat4, length: f32, into: &mut Vec<DebugLine>) {
    let from = pose.w_axis.truncate();
    let axes = [(pose.x_axis, [255, 0, 0, 255]), (pose.y_axis, [0, 255, 0, 255])];
    for (axis, color) in axes.into_iter().chain([(pose.z_axis, [64, 64, 255, 255])]) {
        into.push(DebugLine { from, to: from + axis.truncate() * length, color });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RED: [u8; 4] = [255, 0, 0, 255];

    #[test]
    fn a_box_has_twelve_edges_of_the_right_lengths() {
        let mut lines = Vec::new();
        add_box(Mat4::from_translation(Vec3::X), Vec3::new(1.0, 2.0, 3.0), RED, &mut lines);
        let mut lengths: Vec<f32> = lines.iter().map(|line| line.from.distance(line.to)).collect();
        lengths.sort_by(f32::total_cmp);
        assert_eq!(lengths, [2.0, 2.0, 2.0, 2.0, 4.0, 4.0, 4.0, 4.0, 6.0, 6.0, 6.0, 6.0]);
    }

    #[test]
    fn points_of_round_shapes_are_on_their_surface() {
        let far = |lines: &[DebugLine]| {
            lines.iter().map(|line| line.from.length()).fold(0.0f32, f32::max)
        };
        let mut lines = Vec::new();
        add_sphere(Vec3::ZERO, 2.0, 16, RED, &mut lines);
        assert!(lines.iter().all(|line| (line.from.length() - 2.0).abs() < 1e-4));
        lines.clear();
        add_capsule(-Vec3::Z, Vec3::Z, 0.5, 16, RED, &mut lines);
        assert!((far(&lines) - 1.5).abs() < 1e-4);
        lines.clear();
        add_cone(Vec3::ZERO, Vec3::Z * 3.0, 1.0, 16, RED, &mut lines);
        assert_eq!(lines.iter().filter(|line| line.to == Vec3::Z * 3.0).count(), 4);
    }

    #[test]
    fn lines_stay_for_their_duration_in_their_world() {
        let mut lines = DebugLines::default();
        let mut worlds = Slots::new(HandleKind::World, 2);
        let (here, there) = (worlds.add(()).unwrap(), worlds.add(()).unwrap());
        let line = DebugLine { from: Vec3::ZERO, to: Vec3::X, color: RED };
        lines.show(Some(here), &[line], -1.0).unwrap();
        lines.show(None, &[line], 2.0).unwrap();
        assert_eq!((lines.of_world(here).count(), lines.of_world(there).count()), (2, 1));
        lines.end_frame(1.0);
        assert_eq!(lines.of_world(here).count(), 1);
        lines.end_frame(2.0);
        assert!(lines.is_empty());
        let many = vec![line; LINES_MAX + 1];
        assert!(lines.show(None, &many, 0.0).unwrap_err().contains("LINES_MAX"));
    }
}
