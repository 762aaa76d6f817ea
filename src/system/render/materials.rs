//! Materials on the adapter: shaders, their pipelines, which are created when they are first drawn
//! with, and each material's textures and variables. Composes no shader source: sources arrive
//! complete.

use super::RendererEvent;
use super::device::GpuDevice;
use super::gui_pipelines::{GuiShader, PipelinePurpose, frame_layout, mask_layout};
use super::numeric_map::NumberMap;
use super::shader::{MATERIAL_GROUP, VARIABLES, sampler_binding, texture_binding};
use super::textures::{TextureTable, entry};
use engine_frame_packet::material::{
    BlendMode, MaterialChange, MaterialFrame, MaterialSlot, ShaderFrame,
};
use std::sync::Arc;

/// A game's material.
struct GameMaterial {
    material: MaterialFrame,
    /// Index of the program; 0 is the engine's.
    program: usize,
    buffer: Option<wgpu::Buffer>,
    group: Option<wgpu::BindGroup>,
    /// Generation of the textures that the bind group was created with.
    generation: u64,
}

/// The shader and bind group that paint images of scenes.
pub struct MaterialBinder<'a> {
    /// The material's shader; `None`: the engine's own.
    pub shader: Option<&'a Arc<ShaderFrame>>,
    /// The layout of the material's own bind group, and that group.
    pub layout: Option<&'a wgpu::BindGroupLayout>,
    pub group: Option<&'a wgpu::BindGroup>,
    pub blend: BlendMode,
}

/// All materials.
pub struct MaterialTable {
    programs: Vec<Option<GuiShader>>,
    sources: Vec<Option<Arc<ShaderFrame>>>,
    game_materials: NumberMap<u32, GameMaterial>,
    /// Layout of bind group 0 of every pipeline.
    pub frame_layout: wgpu::BindGroupLayout,
    /// Layout of bind group 3 of the pipelines that draw through a mask.
    pub mask_layout: wgpu::BindGroupLayout,
}

/// Returns the engine's own shader, complete.
pub fn engine_source() -> String {
    [include_str!("gui.wgsl"), include_str!("gui_default_material.wgsl")].join("\n")
}

impl MaterialTable {
    pub fn new(device: &GpuDevice, textures: &TextureTable) -> MaterialTable {
        let frame_layout = frame_layout(&device.device);
        let mask_layout = mask_layout(&device.device);
        let groups = [&frame_layout, textures.layout(), &mask_layout];
        let built_in = GuiShader::new(device, groups, "engine", &engine_source(), None);
        let built_in = built_in.unwrap_or_else(|message| panic!("the Gui's own shader: {message}"));
        let (programs, sources) = (vec![Some(built_in)], vec![None]);
        let game_materials = NumberMap::default();
        MaterialTable { programs, sources, game_materials, frame_layout, mask_layout }
    }

    /// Applies a packet's changes, in order.
    pub fn apply(
        &mut self,
        device: &GpuDevice,
        textures: &TextureTable,
        changes: &[MaterialChange],
        screen: wgpu::TextureFormat,
        events: &mut Vec<RendererEvent>,
    ) {
        for change in changes {
            match change {
                MaterialChange::Set { slot, material } => {
                    let material = MaterialFrame::clone(material);
                    self.set_material(device, textures, *slot, material, screen, events);
                }
                MaterialChange::Variables { slot, bytes } => {
                    if let Some(game_material) = self.game_materials.get_mut(&slot.0) {
                        game_material.material.variables.clone_from(bytes);
                        if let Some(buffer) = &game_material.buffer {
                            write_variables(device, buffer, bytes);
                        }
                    }
                }
                MaterialChange::Texture { slot, index, texture } => {
                    if let Some(game_material) = self.game_materials.get_mut(&slot.0)
                        && let Some(binding) =
                            game_material.material.textures.get_mut(*index as usize)
                    {
                        binding.0 = *texture;
                        game_material.group = None;
                    }
                }
                MaterialChange::End { slot } => {
                    self.game_materials.remove(&slot.0);
                    self.drop_unused();
                }
            }
        }
    }

    fn set_material(
        &mut self,
        device: &GpuDevice,
        textures: &TextureTable,
        slot: MaterialSlot,
        material: MaterialFrame,
        screen: wgpu::TextureFormat,
        events: &mut Vec<RendererEvent>,
    ) {
        let program_index = match &material.shader {
            None => Ok(0),
            Some(shader) => self.program(device, textures, shader, material.blend, screen),
        };
        let before = self.game_materials.get(&slot.0);
        let (program, material) = match (program_index, before) {
            (Ok(program), _) => (program, material),
            (Err(message), before) => {
                let shader =
                    material.shader.as_ref().map_or_else(String::new, |it| it.name.clone());
                events.push(RendererEvent::ShaderFailed { shader, message });
                match before {
                    // The working material stays complete, because the new variables may not fit
                    // it.
                    Some(_) => return,
                    None => (0, MaterialFrame { shader: None, ..material }),
                }
            }
        };
        let size = material.shader.as_ref().map_or(0, |shader| shader.variables);
        let buffer = (size > 0).then(|| {
            let buffer = device.device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("variables"),
                size: u64::from(size).next_multiple_of(16),
                usage: wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST,
                mapped_at_creation: false,
            });
            write_variables(device, &buffer, &material.variables);
            buffer
        });
        let game_material = GameMaterial { material, program, buffer, group: None, generation: 0 };
        self.game_materials.insert(slot.0, game_material);
        self.drop_unused();
    }

    /// Returns the program for a shader, tested with the pipeline that is most likely needed.
    fn program(
        &mut self,
        device: &GpuDevice,
        textures: &TextureTable,
        shader: &Arc<ShaderFrame>,
        blend: BlendMode,
        format: wgpu::TextureFormat,
    ) -> Result<usize, String> {
        let known =
            |it: &Option<Arc<ShaderFrame>>| it.as_ref().is_some_and(|it| Arc::ptr_eq(it, shader));
        if let Some(index) = self.sources.iter().position(known) {
            return Ok(index);
        }
        let groups = [&self.frame_layout, textures.layout(), &self.mask_layout];
        // Guis that draw with a material of meshes show the engine's own.
        let of_mesh = shader.surface.is_some().then(engine_source);
        let source = of_mesh.as_deref().unwrap_or(&shader.source);
        let mut program = GuiShader::new(device, groups, &shader.name, source, Some(shader))?;
        if of_mesh.is_none() {
            let purpose = PipelinePurpose { blend, ..PipelinePurpose::plain(format) };
            let pipeline = program.create_pipeline(device, purpose)?;
            program.pipelines.insert(purpose, Some(pipeline));
        }
        let free = self.programs.iter().skip(1).position(Option::is_none).map(|index| index + 1);
        let index = free.unwrap_or_else(|| {
            self.programs.push(None);
            self.sources.push(None);
            self.programs.len() - 1
        });
        self.programs[index] = Some(program);
        self.sources[index] = Some(Arc::clone(shader));
        Ok(index)
    }

    fn drop_unused(&mut self) {
        for index in 1..self.programs.len() {
            if !self.game_materials.values().any(|game_material| game_material.program == index) {
                self.programs[index] = None;
                self.sources[index] = None;
            }
        }
    }

    /// Restores the same materials on another device.
    pub fn restore(
        &mut self,
        device: &GpuDevice,
        textures: &TextureTable,
        screen: wgpu::TextureFormat,
        events: &mut Vec<RendererEvent>,
    ) {
        let old = std::mem::replace(self, MaterialTable::new(device, textures));
        for (slot, game_material) in old.game_materials {
            self.set_material(
                device,
                textures,
                MaterialSlot(slot),
                game_material.material,
                screen,
                events,
            );
        }
    }

    /// Returns a material's blend mode. A slot without a material is the engine's own.
    pub fn blend(&self, slot: MaterialSlot) -> BlendMode {
        match slot {
            MaterialSlot::BUILT_IN => BlendMode::Alpha,
            MaterialSlot::BUILT_IN_ADD => BlendMode::Add,
            MaterialSlot::BUILT_IN_MULTIPLY => BlendMode::Multiply,
            slot => self
                .game_materials
                .get(&slot.0)
                .map_or(BlendMode::Alpha, |game_material| game_material.material.blend),
        }
    }

    /// Returns the texture of a material that has no shader; it replaces the batch's own.
    pub fn plain_texture(
        &self,
        slot: MaterialSlot,
    ) -> Option<engine_frame_packet::texture::TextureSlot> {
        let game_material =
            self.game_materials.get(&slot.0).filter(|game_material| game_material.program == 0)?;
        game_material.material.textures.first().map(|(texture, _)| *texture)
    }

    /// Creates the resources of a draw. Returns false if it cannot be drawn.
    pub fn prepare(
        &mut self,
        device: &GpuDevice,
        textures: &mut TextureTable,
        slot: MaterialSlot,
        purpose: PipelinePurpose,
        events: &mut Vec<RendererEvent>,
    ) -> bool {
        self.prepare_group(device, textures, slot);
        let index =
            self.game_materials.get(&slot.0).map_or(0, |game_material| game_material.program);
        let program = self.programs[index].as_mut().expect("a material's program is kept");
        if !program.pipelines.contains_key(&purpose) {
            let pipeline = program.create_pipeline(device, purpose);
            if let Err(message) = &pipeline {
                let shader = program.name.clone();
                events.push(RendererEvent::ShaderFailed { shader, message: message.clone() });
            }
            program.pipelines.insert(purpose, pipeline.ok());
        }
        program.pipelines[&purpose].is_some()
    }

    /// Creates a material's own bind group, if it does not exist or is stale.
    pub fn prepare_group(
        &mut self,
        device: &GpuDevice,
        textures: &mut TextureTable,
        slot: MaterialSlot,
    ) {
        let Some(game_material) = self.game_materials.get_mut(&slot.0) else { return };
        let program =
            self.programs[game_material.program].as_ref().expect("a material's program is kept");
        if let Some(layout) = &program.group
            && (game_material.group.is_none() || game_material.generation != textures.generation)
        {
            game_material.group =
                Some(material_bind_group(device, textures, layout, game_material));
            game_material.generation = textures.generation;
        }
    }

    /// Returns the binder that paints a scene's images. A slot without a material is the engine's
    /// own.
    pub fn binder(&self, slot: MaterialSlot) -> MaterialBinder<'_> {
        let blend = self.blend(slot);
        let Some(game_material) = self.game_materials.get(&slot.0) else {
            return MaterialBinder { shader: None, layout: None, group: None, blend };
        };
        let layout = self.programs[game_material.program].as_ref().and_then(|it| it.group.as_ref());
        let shader = game_material.material.shader.as_ref();
        MaterialBinder { shader, layout, group: game_material.group.as_ref(), blend }
    }

    /// Returns the resources of a prepared draw: the pipeline, and the material's own bind group.
    pub fn prepared(
        &self,
        slot: MaterialSlot,
        purpose: PipelinePurpose,
    ) -> (&wgpu::RenderPipeline, Option<&wgpu::BindGroup>) {
        let game_material = self.game_materials.get(&slot.0);
        let program =
            self.programs[game_material.map_or(0, |game_material| game_material.program)].as_ref();
        let pipeline = program.and_then(|program| program.pipelines[&purpose].as_ref());
        (
            pipeline.expect("the draw was prepared"),
            game_material.and_then(|game_material| game_material.group.as_ref()),
        )
    }

    pub fn len(&self) -> usize {
        self.game_materials.len()
    }
}

/// Creates the bind group of a material: variables, textures, samplers.
fn material_bind_group(
    device: &GpuDevice,
    textures: &mut TextureTable,
    layout: &wgpu::BindGroupLayout,
    game_material: &GameMaterial,
) -> wgpu::BindGroup {
    debug_assert_eq!(MATERIAL_GROUP, 2);
    let shader = game_material.material.shader.as_ref().expect("only shaders have a layout");
    let mut samplers = Vec::new();
    let mut slots = Vec::new();
    for index in 0..shader.textures as usize {
        let plain = engine_frame_packet::texture::SamplerSettings {
            nearest: false,
            wrap: engine_frame_packet::texture::WrapMode::Clamp,
        };
        let shared = (engine_frame_packet::texture::TextureSlot::SHARED, plain);
        let (slot, sampling) =
            game_material.material.textures.get(index).copied().unwrap_or(shared);
        slots.push(slot);
        samplers.push(textures.sampler(device, sampling).clone());
    }
    let mut entries = Vec::new();
    if let Some(buffer) = &game_material.buffer {
        entries.push(entry(VARIABLES, buffer.as_entire_binding()));
    }
    for (index, (slot, sampler)) in slots.iter().zip(&samplers).enumerate() {
        let view = wgpu::BindingResource::TextureView(textures.view(*slot));
        entries.push(entry(texture_binding(index as u32), view));
        entries.push(entry(sampler_binding(index as u32), wgpu::BindingResource::Sampler(sampler)));
    }
    let descriptor =
        wgpu::BindGroupDescriptor { label: Some("material"), layout, entries: &entries };
    device.device.create_bind_group(&descriptor)
}

fn write_variables(device: &GpuDevice, buffer: &wgpu::Buffer, bytes: &[u8]) {
    let mut padded = bytes.to_vec();
    padded.resize(buffer.size() as usize, 0);
    device.queue.write_buffer(buffer, 0, &padded);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gui_pipelines::ALL_PAINTS;
    use engine_frame_packet::gui::{GradientDirection, QuadInstance, paint};
    use engine_frame_packet::texture::{ATLAS_SIDE, GLYPH_SPREAD};

    #[test]
    fn the_shader_has_the_same_constants_as_the_packet() {
        let source = engine_source();
        let check = |name: &str, value: String| {
            let line = format!("const {name}");
            let found = source.lines().find(|it| it.starts_with(&line)).expect("it is declared");
            let (_, after) = found.split_once(" = ").expect("it has a value");
            assert_eq!(after.trim_end_matches(';'), value, "{name}");
        };
        for (name, value) in [
            ("ENGINE_ATLAS:", paint::ATLAS),
            ("ENGINE_TEXTURE:", paint::TEXTURE),
            ("ENGINE_GLYPH:", paint::GLYPH),
            ("ENGINE_BOX:", paint::BOX),
            ("ENGINE_ELLIPSE:", paint::ELLIPSE),
            ("ENGINE_ARC:", paint::ARC),
            ("ENGINE_SOLID:", paint::SOLID),
            ("ENGINE_TEXTURE_FIELD:", paint::TEXTURE_FIELD),
            ("ENGINE_TRIANGLE:", paint::TRIANGLE),
            ("ENGINE_FRINGE:", paint::FRINGE),
            ("ENGINE_NEAREST:", QuadInstance::NEAREST),
            ("ENGINE_MESH:", QuadInstance::MESH),
        ] {
            check(name, format!("{value}u"));
        }
        check("ENGINE_ATLAS_SIDE:", format!("{ATLAS_SIDE}.0"));
        check("ENGINE_GRADIENT_STEPS:", format!("{}.0", GradientDirection::STEPS));
        check("ENGINE_GLYPH_SPREAD:", format!("{GLYPH_SPREAD:.1}"));
        assert!(source.contains(&format!("override ENGINE_PAINTS: u32 = {ALL_PAINTS:#x}u;")));
    }
}
