//! Shadow copy of the drawn objects for tools and tests: describes what the Guis show. It is kept
//! only on request; the renderer has the authoritative data.

use super::{DrawRequest, Gui, GuiId, GuiMode, Guis, SourceNumber, TextureSource, number};
use engine_frame_packet::gui::{QuadInstance, paint};
use std::collections::BTreeMap;

/// One object as drawn.
#[derive(Clone, PartialEq, Debug)]
pub struct DrawnObject {
    /// Name of the primitive: "rect", "bitmap", …
    pub primitive: &'static str,
    /// Number of the object; 0 in an immediate Gui.
    pub object: u64,
    pub layer: i32,
    /// Name of the texture or material; empty for plain color.
    pub name: String,
    /// Content of the object if it is a text.
    pub text: Option<String>,
    /// Left, bottom, right and top of the visible shape, in the Gui's units.
    pub bounds: [f32; 4],
    /// Red, green, blue and alpha of the first quad.
    pub color: [u8; 4],
}

/// Recording of drawn objects for inspection.
#[derive(Default)]
pub struct DrawRecording {
    /// Objects of retained Guis by number: the Gui and the object as drawn.
    objects: BTreeMap<u64, (u64, DrawnObject)>,
    /// Content of the text that is drawn next.
    text: Option<String>,
}

impl DrawRecording {
    /// Describes an object as drawn.
    pub(super) fn describe(
        &mut self,
        request: &DrawRequest,
        sources: &[TextureSource],
        parts: &[(SourceNumber, Vec<QuadInstance>)],
    ) -> DrawnObject {
        let mut bounds = [f32::INFINITY, f32::INFINITY, f32::NEG_INFINITY, f32::NEG_INFINITY];
        let all = || parts.iter().flat_map(|(_, instances)| instances);
        for corner in all().flat_map(corners_of) {
            for axis in [0, 1] {
                bounds[axis] = bounds[axis].min(corner[axis]);
                bounds[axis + 2] = bounds[axis + 2].max(corner[axis]);
            }
        }
        let source = parts.first().map(|(source, _)| &sources[source.0 as usize]);
        DrawnObject {
            primitive: request.primitive.name(),
            object: 0,
            layer: request.layer,
            name: source.map(|source| source.name.clone()).unwrap_or_default(),
            text: self.text.take(),
            bounds: if bounds[0] <= bounds[2] { bounds } else { [0.0; 4] },
            color: all().next().map_or([0; 4], |instance| instance.color),
        }
    }

    pub(super) fn record(&mut self, gui: u64, object: u64, drawn_object: DrawnObject) {
        self.objects.insert(object, (gui, DrawnObject { object, ..drawn_object }));
    }

    pub(super) fn end(&mut self, object: u64) {
        self.objects.remove(&object);
    }
}

/// Returns the corners of a quad's visible shape, without the margin for smooth edges.
fn corners_of(instance: &QuadInstance) -> [[f32; 2]; 4] {
    let QuadInstance { corners: c, uv, extra, .. } = *instance;
    let [p, q, r, s] = [[c[0], c[1]], [c[2], c[3]], [c[4], c[5]], [c[6], c[7]]];
    // A point within the quad, as fractions of the sides from the bottom left.
    let at = |x: f32, y: f32| {
        [0, 1].map(|axis| p[axis] + (q[axis] - p[axis]) * x + (s[axis] - p[axis]) * y)
    };
    let within = |half: [f32; 2]| {
        let [x, y] = half.map(|half| extra[0] / (2.0 * (half + extra[0])).max(f32::MIN_POSITIVE));
        [at(x, y), at(1.0 - x, y), at(1.0 - x, 1.0 - y), at(x, 1.0 - y)]
    };
    match instance.paint & 15 {
        _ if instance.is_mesh() => [p, q, r, r],
        paint::BOX | paint::ELLIPSE => within([uv[0], uv[1]]),
        paint::ARC => within([uv[0] + uv[1]; 2]),
        paint::FRINGE if extra[0] < 1.0 => [p, q, q, p],
        paint::FRINGE => {
            let middle = |a: [f32; 2], b: [f32; 2]| [(a[0] + b[0]) / 2.0, (a[1] + b[1]) / 2.0];
            let (left, right) = (middle(p, s), middle(q, r));
            [left, right, right, left]
        }
        paint::TRIANGLE => {
            // Growth of the barycentric weights of the second and third corner along the sides.
            let (along, across) =
                ([uv[2] - uv[0], uv[3] - uv[1]], [extra[0] - uv[0], extra[1] - uv[1]]);
            let area = along[0] * across[1] - along[1] * across[0];
            let corner = |second: f32, third: f32| {
                let [x, y] = [second - uv[0], third - uv[1]];
                at((x * across[1] - y * across[0]) / area, (y * along[0] - x * along[1]) / area)
            };
            let third = corner(0.0, 1.0);
            [corner(0.0, 0.0), corner(1.0, 0.0), third, third]
        }
        _ => [p, q, r, s],
    }
}

impl Guis {
    /// Starts to keep a shadow copy.
    pub fn enable_recording(&mut self) {
        self.shadow.get_or_insert_default();
    }

    /// Returns true if a shadow copy is kept.
    pub fn has_shadow(&self) -> bool {
        self.shadow.is_some()
    }

    /// Records the content of the text that is drawn next, if a shadow copy is kept.
    pub fn record_text(&mut self, text: &[u8]) {
        if let Some(shadow) = &mut self.shadow {
            shadow.text = Some(String::from_utf8_lossy(text).into_owned());
        }
    }

    /// Returns the objects that a Gui shows, sorted by layer. For an immediate Gui: the objects
    /// drawn so far in this frame or, if there are none, those of the frame before.
    pub fn inspect(&mut self, gui: GuiId) -> Vec<DrawnObject> {
        let one = self.gui(gui);
        let mut objects: Vec<DrawnObject> = match one.desc.mode {
            GuiMode::Immediate => one.latest().to_vec(),
            GuiMode::Retained => {
                let objects = self.shadow.iter().flat_map(|shadow| shadow.objects.values());
                let own = objects.filter(|(of, _)| *of == number(gui.0));
                own.map(|(_, object)| object.clone()).collect()
            }
        };
        objects.sort_by_key(|object| object.layer);
        objects
    }
}

impl Gui {
    fn latest(&self) -> &[DrawnObject] {
        if self.drawn.is_empty() { &self.drawn_before } else { &self.drawn }
    }
}
