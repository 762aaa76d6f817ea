//! Generators that draw onto a texture once, when a script runs them. Decides nothing about when.

use super::super::frame_renderer::FrameRenderer;
use super::super::gui_encode::PassTarget;
use super::super::gui_passes::GuiPass;
use super::{GeneratorPass, GeneratorRenderer};
use engine_frame_packet::render_config::GeneratorRun;
use engine_frame_packet::{FramePacket, ViewTarget};
use engine_resource::render_config_data::FrameImage;

impl FrameRenderer {
    /// Encodes the packet's runs of generators.
    pub fn encode_runs(&mut self, packet: &FramePacket, encoder: &mut wgpu::CommandEncoder) {
        for run in &packet.generator_runs {
            let Some(onto) = self.pass_target(ViewTarget::Texture(run.onto)) else { continue };
            let context = self.encode_context();
            let Some((config, index)) = context.generators.find_run(packet, run) else { continue };
            let pass = pass_onto(&onto, packet);
            let (timing, events) = (&mut *context.timing, &mut *context.events);
            let device = context.device;
            let (onto, pass) = (&onto, &pass);
            let mut of_pass =
                GeneratorPass { device, encoder, timing, events, onto, pass, world: None };
            context.generators.encode_for((config, 0), index, &mut of_pass);
        }
    }
}

impl GeneratorRenderer {
    /// Returns the config and the index of a run's generator; `None`: it cannot run.
    fn find_run(&self, packet: &FramePacket, run: &GeneratorRun) -> Option<(usize, u32)> {
        let frame = packet.render_configs.get(run.config as usize)?;
        let name = &frame.data.generators.get(run.generator as usize)?.name;
        let config = self.configs.iter().position(|it| it.frame.name == frame.name)?;
        let generators = &self.configs[config].state.as_ref()?.data.generators;
        // After a refused change, the generator may have another index.
        let index = generators.iter().position(|generator| generator.name == *name)?;
        let generator = &generators[index];
        let mut images = generator.inputs.iter().map(|input| input.image).chain([generator.output]);
        let is_alone = images.all(|image| image == FrameImage::Target);
        is_alone.then_some((config, index as u32))
    }
}

/// Returns a pass that covers a whole texture.
fn pass_onto(onto: &PassTarget, packet: &FramePacket) -> GuiPass {
    let whole = [0, 0, onto.texture.width(), onto.texture.height()];
    GuiPass {
        target: onto.slot.map_or(ViewTarget::Screen, ViewTarget::Texture),
        world: false,
        clear: None,
        fill: None,
        scene: None,
        view: usize::MAX,
        is_first: true,
        is_last: true,
        rectangle: whole,
        view_scene: None,
        scale: 1.0,
        seconds: packet.seconds as f32,
        viewport: whole,
        items: 0..0,
        masks: 0..0,
    }
}
