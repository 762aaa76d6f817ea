//! The recorder: takes packets as a renderer does, draws nothing, and keeps what would have been
//! drawn, for tests and for running without a picture. Knows no graphics interface.

use super::batches::{Draw, DrawList, Guis};
use super::scene::{SceneDraw, SceneSeen, Scenes};
use super::table::Map;
use super::{Event, Quality, Statistics};
use crate::packet::Packet;
use crate::packet::material::MaterialChange;
use crate::packet::texture::TextureChange;

/// The bytes of one instance, as copied to an adapter.
const INSTANCE_BYTES: u64 = size_of::<crate::packet::gui::Instance>() as u64;

/// What a renderer that draws nothing knows.
#[derive(Default)]
pub struct Recorder {
    guis: Guis,
    scenes: Scenes,
    quality: Quality,
    list: DrawList,
    spare: Vec<Draw>,
    draws: Vec<Draw>,
    textures: Map<u32, (u32, u32)>,
    materials: Map<u32, ()>,
    statistics: Statistics,
    events: Vec<Event>,
}

impl Recorder {
    /// Takes a packet over.
    pub fn apply(&mut self, packet: &Packet) {
        for change in &packet.textures {
            match change {
                TextureChange::Put { slot, texels } => {
                    self.textures.insert(slot.0, (texels.width, texels.height));
                }
                TextureChange::Target { slot, width, height } => {
                    self.textures.insert(slot.0, (*width, *height));
                }
                TextureChange::End { slot } => {
                    self.textures.remove(&slot.0);
                }
                TextureChange::Atlas { .. } | TextureChange::Glyph { .. } => {}
            }
        }
        for change in &packet.materials {
            match change {
                MaterialChange::Put { slot, .. } => {
                    self.materials.insert(slot.0, ());
                }
                MaterialChange::End { slot } => {
                    self.materials.remove(&slot.0);
                }
                MaterialChange::Variables { .. } | MaterialChange::Texture { .. } => {}
            }
        }
        self.scenes.apply(packet, &mut self.events);
        self.scenes.plan(packet, &self.quality, &mut self.events);
        self.scenes.none_changed();
        self.guis.apply(&packet.ended_guis, &packet.guis, &mut self.list);
        self.draws.clear();
        let views = packet.views.iter().filter(|view| packet.scale_of(view.target).is_some());
        for gui in views.flat_map(|view| &view.guis) {
            let draws = self.guis.draws(*gui, &self.list, &mut self.spare);
            self.draws.extend_from_slice(draws);
        }
        let mut copied = u64::from(self.list.immediate) * INSTANCE_BYTES;
        for frame in packet.guis.iter().filter(|frame| !frame.changes.is_empty()) {
            let retained = self.guis.retained(frame.gui);
            let changed: u64 = retained.dirty().iter().map(|range| range.len() as u64).sum();
            copied += changed * INSTANCE_BYTES;
            retained.clean();
        }
        for capture in &packet.captures {
            self.events.push(Event::CaptureFailed {
                number: capture.number,
                words: "the null renderer draws nothing, so there is no picture of it: run with \
                        --renderer software"
                    .to_string(),
            });
        }
        self.statistics.frames += 1;
        self.statistics.scene = self.scenes.statistics();
        self.statistics.draw_calls = self.draws.len() as u32 + self.statistics.scene.calls();
        let instances: u32 = self.draws.iter().map(|draw| draw.count).sum();
        self.statistics.instances = instances + self.statistics.scene.instances;
        self.statistics.copied_bytes = copied;
        self.statistics.textures = self.textures.len() as u32;
        self.statistics.materials = self.materials.len() as u32;
    }

    /// What the newest packet's views draw, in order.
    pub fn draws(&self) -> &[Draw] {
        &self.draws
    }

    /// What the newest packet's views draw of their scenes, in order.
    pub fn scene_draws(&self) -> Vec<SceneDraw> {
        self.scenes.draws()
    }

    /// The same, with every single thing.
    pub fn scene_seen(&self) -> Vec<SceneSeen> {
        self.scenes.seen()
    }

    /// The size of a texture, if there is one in that slot.
    pub fn texture(&self, slot: u32) -> Option<(u32, u32)> {
        self.textures.get(&slot).copied()
    }

    pub(super) fn set_quality(&mut self, quality: Quality) {
        self.quality = quality;
    }

    pub(super) fn statistics(&self) -> Statistics {
        self.statistics.clone()
    }

    pub(super) fn events(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.events)
    }
}
