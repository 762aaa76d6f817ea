//! The shadow copy for tools and tests: what Guis show, in words. Kept only where somebody asked
//! for it; the renderer has the truth.

use super::{Gui, GuiId, Guis, Mode, Source, SourceNumber, Thing, number};
use crate::packet::gui::{Instance, paint};
use std::collections::BTreeMap;

/// One object, as it was drawn.
#[derive(Clone, PartialEq, Debug)]
pub struct Seen {
    /// "rect", "bitmap", …
    pub what: &'static str,
    /// The object's number; 0 in an immediate Gui.
    pub object: u64,
    pub layer: i32,
    /// The texture's or material's name; empty for colour alone.
    pub name: String,
    /// The text, where it is one.
    pub text: Option<String>,
    /// Left, bottom, right and top of what is seen of it, in the Gui's units.
    pub bounds: [f32; 4],
    /// Red, green, blue and alpha of its first quadrilateral.
    pub color: [u8; 4],
}

/// What is kept.
#[derive(Default)]
pub struct Shadow {
    /// Objects of retained Guis: the Gui and how it looks.
    objects: BTreeMap<u64, (u64, Seen)>,
    /// The text that the next object is.
    text: Option<String>,
}

impl Shadow {
    /// What an object looks like.
    pub(super) fn see(
        &mut self,
        thing: &Thing,
        sources: &[Source],
        parts: &[(SourceNumber, Vec<Instance>)],
    ) -> Seen {
        let mut bounds = [f32::INFINITY, f32::INFINITY, f32::NEG_INFINITY, f32::NEG_INFINITY];
        let all = || parts.iter().flat_map(|(_, instances)| instances);
        for corner in all().flat_map(corners_of) {
            for axis in [0, 1] {
                bounds[axis] = bounds[axis].min(corner[axis]);
                bounds[axis + 2] = bounds[axis + 2].max(corner[axis]);
            }
        }
        let source = parts.first().map(|(source, _)| &sources[source.0 as usize]);
        Seen {
            what: thing.what.name(),
            object: 0,
            layer: thing.layer,
            name: source.map(|source| source.name.clone()).unwrap_or_default(),
            text: self.text.take(),
            bounds: if bounds[0] <= bounds[2] { bounds } else { [0.0; 4] },
            color: all().next().map_or([0; 4], |instance| instance.color),
        }
    }

    pub(super) fn keep(&mut self, gui: u64, object: u64, seen: Seen) {
        self.objects.insert(object, (gui, Seen { object, ..seen }));
    }

    pub(super) fn end(&mut self, object: u64) {
        self.objects.remove(&object);
    }
}

/// Where a quadrilateral's shape has its corners, without what it reaches beyond for smooth edges.
fn corners_of(instance: &Instance) -> [[f32; 2]; 4] {
    let Instance { corners: c, uv, extra, .. } = *instance;
    let [p, q, r, s] = [[c[0], c[1]], [c[2], c[3]], [c[4], c[5]], [c[6], c[7]]];
    // A place within, by shares of the sides from the bottom left.
    let at = |x: f32, y: f32| {
        [0, 1].map(|axis| p[axis] + (q[axis] - p[axis]) * x + (s[axis] - p[axis]) * y)
    };
    let within = |half: [f32; 2]| {
        let [x, y] = half.map(|half| extra[0] / (2.0 * (half + extra[0])).max(f32::MIN_POSITIVE));
        [at(x, y), at(1.0 - x, y), at(1.0 - x, 1.0 - y), at(x, 1.0 - y)]
    };
    match instance.paint & 15 {
        paint::BOX | paint::ELLIPSE => within([uv[0], uv[1]]),
        paint::ARC => within([uv[0] + uv[1]; 2]),
        paint::FRINGE if extra[0] < 1.0 => [p, q, q, p],
        paint::FRINGE => {
            let middle = |a: [f32; 2], b: [f32; 2]| [(a[0] + b[0]) / 2.0, (a[1] + b[1]) / 2.0];
            let (left, right) = (middle(p, s), middle(q, r));
            [left, right, right, left]
        }
        paint::TRIANGLE => {
            // By how much nearness to the second and third corner grows along the sides.
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
    /// Keeps a shadow copy from now on.
    pub fn keep_shadow(&mut self) {
        self.shadow.get_or_insert_default();
    }

    /// Whether a shadow copy is kept.
    pub fn has_shadow(&self) -> bool {
        self.shadow.is_some()
    }

    /// The words of the text that is put next, where anybody wants them.
    pub fn note_text(&mut self, text: &[u8]) {
        if let Some(shadow) = &mut self.shadow {
            shadow.text = Some(String::from_utf8_lossy(text).into_owned());
        }
    }

    /// What a Gui shows, layer by layer: of an immediate one what was drawn so far in this frame
    /// or, where that is nothing, in the one before.
    pub fn inspect(&mut self, gui: GuiId) -> Vec<Seen> {
        let one = self.gui(gui);
        let mut seen: Vec<Seen> = match one.making.mode {
            Mode::Immediate => one.latest().to_vec(),
            Mode::Retained => {
                let objects = self.shadow.iter().flat_map(|shadow| shadow.objects.values());
                let own = objects.filter(|(of, _)| *of == number(gui.0));
                own.map(|(_, seen)| seen.clone()).collect()
            }
        };
        seen.sort_by_key(|seen| seen.layer);
        seen
    }
}

impl Gui {
    fn latest(&self) -> &[Seen] {
        if self.seen.is_empty() { &self.shown } else { &self.seen }
    }
}
