//! The null renderer's recorder: processes packets as a renderer does, draws nothing, and records
//! what would be drawn, for tests and for running without an image. Knows no graphics API.

use super::gui_batches::{DrawList, GuiBatchTable, GuiDraw};
use super::numeric_map::NumberMap;
use super::scene::{RecordedSceneDraw, RetainedScenes, SceneDraw, SceneStatistics};
use super::{FrameStatistics, RenderQuality, RendererEvent};
use engine_frame_packet::FramePacket;
use engine_frame_packet::material::MaterialChange;
use engine_frame_packet::texture::TextureChange;

/// Size of one instance, as copied to an adapter.
const INSTANCE_BYTES: u64 = size_of::<engine_frame_packet::gui::QuadInstance>() as u64;

/// The recorded state of a renderer that draws nothing.
#[derive(Default)]
pub struct DrawRecorder {
    guis: GuiBatchTable,
    scenes: RetainedScenes,
    quality: RenderQuality,
    list: DrawList,
    spare: Vec<GuiDraw>,
    draws: Vec<GuiDraw>,
    textures: NumberMap<u32, (u32, u32)>,
    materials: NumberMap<u32, ()>,
    statistics: FrameStatistics,
    events: Vec<RendererEvent>,
}

impl DrawRecorder {
    /// Applies a packet's changes to the recorded state and lists its draw calls, without a GPU.
    pub fn apply(&mut self, packet: &FramePacket) {
        for change in &packet.textures {
            match change {
                TextureChange::Set { slot, texels } => {
                    self.textures.insert(slot.0, (texels.width, texels.height));
                }
                TextureChange::Target { slot, width, height, .. } => {
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
                MaterialChange::Set { slot, .. } => {
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
        self.scenes.discard_changes();
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
            let changed: u64 = retained.dirty_ranges().iter().map(|range| range.len() as u64).sum();
            copied += changed * INSTANCE_BYTES;
            retained.mark_clean();
        }
        for capture in &packet.captures {
            self.events.push(RendererEvent::CaptureFailed {
                number: capture.number,
                message: "the null renderer draws nothing, so there is no picture of it: run with \
                        --renderer software"
                    .to_string(),
            });
        }
        self.statistics.frames += 1;
        self.statistics.scene = self.scenes.statistics();
        self.statistics.draw_calls =
            self.draws.len() as u32 + self.statistics.scene.draw_call_count();
        let instances: u32 = self.draws.iter().map(|draw| draw.count).sum();
        self.statistics.instances = instances + self.statistics.scene.instances;
        self.statistics.copied_bytes = copied;
        self.statistics.textures = self.textures.len() as u32;
        self.statistics.materials = self.materials.len() as u32;
    }

    /// Returns the Gui draw calls of the newest packet's views, in order.
    pub fn draws(&self) -> &[GuiDraw] {
        &self.draws
    }

    /// Returns the scene draw calls of the newest packet's views, in order.
    pub fn scene_draws(&self) -> Vec<SceneDraw> {
        self.scenes.draws()
    }

    /// Returns the statistics of the newest packet's scenes.
    pub fn scene_statistics(&self) -> SceneStatistics {
        self.statistics.scene
    }

    /// Returns the scene draw calls of the newest packet's views, with every object.
    pub fn recorded_scene_draws(&self) -> Vec<RecordedSceneDraw> {
        self.scenes.recorded_draws()
    }

    /// Returns the size of the texture in a slot, if there is one.
    pub fn texture(&self, slot: u32) -> Option<(u32, u32)> {
        self.textures.get(&slot).copied()
    }

    pub(super) fn set_quality(&mut self, quality: RenderQuality) {
        self.quality = quality;
    }

    pub(super) fn statistics(&self) -> FrameStatistics {
        self.statistics.clone()
    }

    pub(super) fn events(&mut self) -> Vec<RendererEvent> {
        std::mem::take(&mut self.events)
    }
}
