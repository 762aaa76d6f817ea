//! Materials on the adapter: shaders, their pipelines, which are created when they are first drawn
//! with, and each material's textures and variables. Composes no shader source: sources arrive
//! complete.

use super::RendererEvent;
use super::device::GpuDevice;
use super::numeric_map::NumberMap;
use super::shader::{MATERIAL_GROUP, VARIABLES, sampler_binding, texture_binding};
use super::textures::{TextureTable, entry, sampler_entry, texture_entry};
use engine_frame_packet::gui::QuadInstance;
use engine_frame_packet::material::{
    BlendMode, MaterialChange, MaterialFrame, MaterialSlot, ShaderFrame,
};
use std::sync::Arc;

/// The depth buffer's format.
pub const DEPTH_FORMAT: wgpu::TextureFormat = wgpu::TextureFormat::Depth32Float;
/// All paints, as in gui.wgsl's ENGINE_PAINTS.
pub const ALL_PAINTS: u32 = 0x103ff;

/// The purpose of a pipeline.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct PipelinePurpose {
    pub blend: BlendMode,
    pub format: wgpu::TextureFormat,
    /// True if there is a depth buffer: in the world.
    pub depth: bool,
    /// The paints that it must support.
    pub paints: u32,
}

/// A shader on the adapter.
struct GuiShader {
    name: String,
    module: wgpu::ShaderModule,
    layout: wgpu::PipelineLayout,
    group: Option<wgpu::BindGroupLayout>,
    /// Pipelines by purpose; `None`: the adapter refused it.
    pipelines: NumberMap<PipelinePurpose, Option<wgpu::RenderPipeline>>,
}

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
}

/// Returns the layout of group 0 of gui.wgsl.
fn frame_layout(device: &wgpu::Device) -> wgpu::BindGroupLayout {
    let array = |binding| {
        let mut entry = texture_entry(binding);
        entry.ty = wgpu::BindingType::Texture {
            sample_type: wgpu::TextureSampleType::Float { filterable: true },
            view_dimension: wgpu::TextureViewDimension::D2Array,
            multisampled: false,
        };
        entry
    };
    let buffer = |binding, visibility, ty, dynamic| wgpu::BindGroupLayoutEntry {
        binding,
        visibility,
        ty: wgpu::BindingType::Buffer { ty, has_dynamic_offset: dynamic, min_binding_size: None },
        count: None,
    };
    let read = wgpu::BufferBindingType::Storage { read_only: true };
    device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
        label: Some("frame"),
        entries: &[
            buffer(0, wgpu::ShaderStages::VERTEX_FRAGMENT, wgpu::BufferBindingType::Uniform, true),
            buffer(1, wgpu::ShaderStages::VERTEX, read, false),
            array(2),
            array(3),
            sampler_entry(4),
        ],
    })
}

/// Returns the layout of the own group of a game's shader, if it has bindings there.
fn material_layout(device: &wgpu::Device, shader: &ShaderFrame) -> Option<wgpu::BindGroupLayout> {
    let mut entries = Vec::new();
    if shader.variables > 0 {
        entries.push(wgpu::BindGroupLayoutEntry {
            binding: VARIABLES,
            visibility: wgpu::ShaderStages::VERTEX_FRAGMENT,
            ty: wgpu::BindingType::Buffer {
                ty: wgpu::BufferBindingType::Uniform,
                has_dynamic_offset: false,
                min_binding_size: None,
            },
            count: None,
        });
    }
    for index in 0..shader.textures {
        entries.push(texture_entry(texture_binding(index)));
        entries.push(sampler_entry(sampler_binding(index)));
    }
    let descriptor = wgpu::BindGroupLayoutDescriptor { label: Some("material"), entries: &entries };
    (!entries.is_empty()).then(|| device.create_bind_group_layout(&descriptor))
}

pub(super) fn blend_state(blend: BlendMode) -> Option<wgpu::BlendState> {
    use wgpu::BlendFactor::{Dst, One, OneMinusSrcAlpha, Zero};
    let add = |src_factor, dst_factor| wgpu::BlendComponent {
        src_factor,
        dst_factor,
        operation: wgpu::BlendOperation::Add,
    };
    // The background keeps its own alpha under Add and Multiply.
    let (color, alpha) = match blend {
        BlendMode::Alpha => (add(One, OneMinusSrcAlpha), add(One, OneMinusSrcAlpha)),
        BlendMode::Add => (add(One, One), add(Zero, One)),
        BlendMode::Multiply => (add(Dst, OneMinusSrcAlpha), add(Zero, One)),
        BlendMode::Replace => return None,
    };
    Some(wgpu::BlendState { color, alpha })
}

impl GuiShader {
    fn new(
        device: &GpuDevice,
        groups: [&wgpu::BindGroupLayout; 2],
        name: &str,
        source: &str,
        game_shader: Option<&ShaderFrame>,
    ) -> Result<GuiShader, String> {
        device.compiled(|device| {
            let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
                label: Some(name),
                source: wgpu::ShaderSource::Wgsl(source.into()),
            });
            let group = game_shader.and_then(|shader| material_layout(device, shader));
            let mut layouts = vec![Some(groups[0]), Some(groups[1])];
            layouts.extend(group.as_ref().map(Some));
            let layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
                label: Some(name),
                bind_group_layouts: &layouts,
                immediate_size: 0,
            });
            GuiShader {
                name: name.to_string(),
                module,
                layout,
                group,
                pipelines: NumberMap::default(),
            }
        })
    }

    fn create_pipeline(
        &self,
        device: &GpuDevice,
        purpose: PipelinePurpose,
    ) -> Result<wgpu::RenderPipeline, String> {
        let attributes = wgpu::vertex_attr_array![
            0 => Float32x4, 1 => Float32x4, 2 => Float32x4, 3 => Unorm8x4, 4 => Uint32,
            5 => Float32x2
        ];
        let constants = [
            ("ENGINE_PAINTS", f64::from(purpose.paints)),
            ("ENGINE_ENCODES", f64::from(u8::from(!purpose.format.is_srgb()))),
        ];
        let options =
            || wgpu::PipelineCompilationOptions { constants: &constants, ..Default::default() };
        let depth = purpose.depth.then(|| wgpu::DepthStencilState {
            format: DEPTH_FORMAT,
            depth_write_enabled: Some(false),
            depth_compare: Some(wgpu::CompareFunction::LessEqual),
            stencil: wgpu::StencilState::default(),
            bias: wgpu::DepthBiasState::default(),
        });
        device.compiled(|device| {
            device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
                label: Some(&self.name),
                layout: Some(&self.layout),
                vertex: wgpu::VertexState {
                    module: &self.module,
                    entry_point: Some("engine_vertex"),
                    compilation_options: wgpu::PipelineCompilationOptions::default(),
                    buffers: &[Some(wgpu::VertexBufferLayout {
                        array_stride: size_of::<QuadInstance>() as u64,
                        step_mode: wgpu::VertexStepMode::Instance,
                        attributes: &attributes,
                    })],
                },
                primitive: wgpu::PrimitiveState::default(),
                depth_stencil: depth,
                multisample: wgpu::MultisampleState::default(),
                fragment: Some(wgpu::FragmentState {
                    module: &self.module,
                    entry_point: Some("engine_fragment"),
                    compilation_options: options(),
                    targets: &[Some(wgpu::ColorTargetState {
                        format: purpose.format,
                        blend: blend_state(purpose.blend),
                        write_mask: wgpu::ColorWrites::ALL,
                    })],
                }),
                multiview_mask: None,
                cache: None,
            })
        })
    }
}

/// Returns the engine's own shader, complete.
pub fn engine_source() -> String {
    [include_str!("gui.wgsl"), include_str!("gui_default_material.wgsl")].join("\n")
}

impl MaterialTable {
    pub fn new(device: &GpuDevice, textures: &TextureTable) -> MaterialTable {
        let frame_layout = frame_layout(&device.device);
        let groups = [&frame_layout, textures.layout()];
        let built_in = GuiShader::new(device, groups, "engine", &engine_source(), None);
        let built_in = built_in.unwrap_or_else(|message| panic!("the Gui's own shader: {message}"));
        let (programs, sources) = (vec![Some(built_in)], vec![None]);
        MaterialTable { programs, sources, game_materials: NumberMap::default(), frame_layout }
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
        let groups = [&self.frame_layout, textures.layout()];
        let mut program =
            GuiShader::new(device, groups, &shader.name, &shader.source, Some(shader))?;
        let purpose = PipelinePurpose { blend, format, depth: false, paints: ALL_PAINTS };
        let pipeline = program.create_pipeline(device, purpose)?;
        program.pipelines.insert(purpose, Some(pipeline));
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
    use engine_frame_packet::gui::paint;
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
        ] {
            check(name, format!("{value}u"));
        }
        check("ENGINE_ATLAS_SIDE:", format!("{ATLAS_SIDE}.0"));
        check("ENGINE_GLYPH_SPREAD:", format!("{GLYPH_SPREAD:.1}"));
        assert!(source.contains(&format!("override ENGINE_PAINTS: u32 = {ALL_PAINTS:#x}u;")));
    }
}
