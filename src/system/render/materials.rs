//! Materials on the adapter: shaders, the pipelines made of them when they are first drawn with,
//! and each material's textures and variables. Composes no shader source: that comes whole.

use super::Event;
use super::device::Device;
use super::shader::{MATERIAL_GROUP, VARIABLES, sampler_binding, texture_binding};
use super::table::Map;
use super::textures::{Textures, entry, sampler_entry, texture_entry};
use crate::packet::gui::Instance;
use crate::packet::material::{Blend, Material, MaterialChange, MaterialSlot, Shader};
use std::sync::Arc;

/// The depth buffer's format.
pub const DEPTH_FORMAT: wgpu::TextureFormat = wgpu::TextureFormat::Depth32Float;
/// Every paint, as gui.wgsl's ENGINE_PAINTS has it.
pub const ALL_PAINTS: u32 = 0x103ff;

/// What a pipeline is made for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Purpose {
    pub blend: Blend,
    pub format: wgpu::TextureFormat,
    /// Whether there is a depth buffer: in the world.
    pub depth: bool,
    /// Which paints it must know.
    pub paints: u32,
}

/// A shader on the adapter.
struct Program {
    name: String,
    module: wgpu::ShaderModule,
    layout: wgpu::PipelineLayout,
    group: Option<wgpu::BindGroupLayout>,
    /// `None`: it was refused.
    pipelines: Map<Purpose, Option<wgpu::RenderPipeline>>,
}

/// A game's material.
struct Own {
    material: Material,
    /// Which of the programs; 0 is the engine's.
    program: usize,
    buffer: Option<wgpu::Buffer>,
    group: Option<wgpu::BindGroup>,
    /// Of the textures that the group was made with.
    generation: u64,
}

/// What pictures of scenes are painted with.
pub struct Painter<'a> {
    /// The engine's own without one.
    pub shader: Option<&'a Arc<Shader>>,
    /// Of the material's own group, and that group.
    pub layout: Option<&'a wgpu::BindGroupLayout>,
    pub group: Option<&'a wgpu::BindGroup>,
    pub blend: Blend,
}

/// Every material.
pub struct Materials {
    programs: Vec<Option<Program>>,
    sources: Vec<Option<Arc<Shader>>>,
    own: Map<u32, Own>,
    /// Group 0 of every pipeline.
    pub frame_layout: wgpu::BindGroupLayout,
}

/// Group 0 of gui.wgsl.
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

/// The layout of a game's shader's own group, if it has anything there.
fn own_layout(device: &wgpu::Device, shader: &Shader) -> Option<wgpu::BindGroupLayout> {
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
    for place in 0..shader.textures {
        entries.push(texture_entry(texture_binding(place)));
        entries.push(sampler_entry(sampler_binding(place)));
    }
    let descriptor = wgpu::BindGroupLayoutDescriptor { label: Some("material"), entries: &entries };
    (!entries.is_empty()).then(|| device.create_bind_group_layout(&descriptor))
}

pub(super) fn blend_state(blend: Blend) -> Option<wgpu::BlendState> {
    use wgpu::BlendFactor::{Dst, One, OneMinusSrcAlpha, Zero};
    let add = |src_factor, dst_factor| wgpu::BlendComponent {
        src_factor,
        dst_factor,
        operation: wgpu::BlendOperation::Add,
    };
    // What is behind keeps its own alpha under light and shade.
    let (color, alpha) = match blend {
        Blend::Alpha => (add(One, OneMinusSrcAlpha), add(One, OneMinusSrcAlpha)),
        Blend::Add => (add(One, One), add(Zero, One)),
        Blend::Multiply => (add(Dst, OneMinusSrcAlpha), add(Zero, One)),
        Blend::Replace => return None,
    };
    Some(wgpu::BlendState { color, alpha })
}

impl Program {
    fn new(
        device: &Device,
        groups: [&wgpu::BindGroupLayout; 2],
        name: &str,
        source: &str,
        own: Option<&Shader>,
    ) -> Result<Program, String> {
        device.compiled(|device| {
            let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
                label: Some(name),
                source: wgpu::ShaderSource::Wgsl(source.into()),
            });
            let group = own.and_then(|shader| own_layout(device, shader));
            let mut layouts = vec![Some(groups[0]), Some(groups[1])];
            layouts.extend(group.as_ref().map(Some));
            let layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
                label: Some(name),
                bind_group_layouts: &layouts,
                immediate_size: 0,
            });
            Program { name: name.to_string(), module, layout, group, pipelines: Map::default() }
        })
    }

    fn make(&self, device: &Device, purpose: Purpose) -> Result<wgpu::RenderPipeline, String> {
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
                        array_stride: size_of::<Instance>() as u64,
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

/// The engine's own shader, whole.
pub fn engine_source() -> String {
    [include_str!("gui.wgsl"), include_str!("gui_paint.wgsl")].join("\n")
}

impl Materials {
    pub fn new(device: &Device, textures: &Textures) -> Materials {
        let frame_layout = frame_layout(&device.device);
        let groups = [&frame_layout, textures.layout()];
        let built_in = Program::new(device, groups, "engine", &engine_source(), None);
        let built_in = built_in.unwrap_or_else(|words| panic!("the Gui's own shader: {words}"));
        let (programs, sources) = (vec![Some(built_in)], vec![None]);
        Materials { programs, sources, own: Map::default(), frame_layout }
    }

    /// Does what a packet says, in order.
    pub fn apply(
        &mut self,
        device: &Device,
        textures: &Textures,
        changes: &[MaterialChange],
        screen: wgpu::TextureFormat,
        events: &mut Vec<Event>,
    ) {
        for change in changes {
            match change {
                MaterialChange::Put { slot, material } => {
                    let material = Material::clone(material);
                    self.put(device, textures, *slot, material, screen, events);
                }
                MaterialChange::Variables { slot, bytes } => {
                    if let Some(own) = self.own.get_mut(&slot.0) {
                        own.material.variables.clone_from(bytes);
                        if let Some(buffer) = &own.buffer {
                            write_variables(device, buffer, bytes);
                        }
                    }
                }
                MaterialChange::Texture { slot, place, texture } => {
                    if let Some(own) = self.own.get_mut(&slot.0)
                        && let Some(there) = own.material.textures.get_mut(*place as usize)
                    {
                        there.0 = *texture;
                        own.group = None;
                    }
                }
                MaterialChange::End { slot } => {
                    self.own.remove(&slot.0);
                    self.drop_unused();
                }
            }
        }
    }

    fn put(
        &mut self,
        device: &Device,
        textures: &Textures,
        slot: MaterialSlot,
        material: Material,
        screen: wgpu::TextureFormat,
        events: &mut Vec<Event>,
    ) {
        let made = match &material.shader {
            None => Ok(0),
            Some(shader) => self.program(device, textures, shader, material.blend, screen),
        };
        let before = self.own.get(&slot.0);
        let (program, material) = match (made, before) {
            (Ok(program), _) => (program, material),
            (Err(words), before) => {
                let shader =
                    material.shader.as_ref().map_or_else(String::new, |it| it.name.clone());
                events.push(Event::ShaderFailed { shader, words });
                match before {
                    // What worked before stays, whole: the new variables may not fit it.
                    Some(_) => return,
                    None => (0, Material { shader: None, ..material }),
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
        let own = Own { material, program, buffer, group: None, generation: 0 };
        self.own.insert(slot.0, own);
        self.drop_unused();
    }

    /// The program for a shader, tried with the pipeline that is most likely wanted.
    fn program(
        &mut self,
        device: &Device,
        textures: &Textures,
        shader: &Arc<Shader>,
        blend: Blend,
        format: wgpu::TextureFormat,
    ) -> Result<usize, String> {
        let known =
            |it: &Option<Arc<Shader>>| it.as_ref().is_some_and(|it| Arc::ptr_eq(it, shader));
        if let Some(index) = self.sources.iter().position(known) {
            return Ok(index);
        }
        let groups = [&self.frame_layout, textures.layout()];
        let mut program = Program::new(device, groups, &shader.name, &shader.source, Some(shader))?;
        let purpose = Purpose { blend, format, depth: false, paints: ALL_PAINTS };
        let pipeline = program.make(device, purpose)?;
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
            if !self.own.values().any(|own| own.program == index) {
                self.programs[index] = None;
                self.sources[index] = None;
            }
        }
    }

    /// The same materials on another device.
    pub fn restore(
        &mut self,
        device: &Device,
        textures: &Textures,
        screen: wgpu::TextureFormat,
        events: &mut Vec<Event>,
    ) {
        let old = std::mem::replace(self, Materials::new(device, textures));
        for (slot, own) in old.own {
            self.put(device, textures, MaterialSlot(slot), own.material, screen, events);
        }
    }

    /// How a material meets what is behind it. A slot without material is the engine's own.
    pub fn blend(&self, slot: MaterialSlot) -> Blend {
        match slot {
            MaterialSlot::BUILT_IN => Blend::Alpha,
            MaterialSlot::BUILT_IN_ADD => Blend::Add,
            MaterialSlot::BUILT_IN_MULTIPLY => Blend::Multiply,
            slot => self.own.get(&slot.0).map_or(Blend::Alpha, |own| own.material.blend),
        }
    }

    /// The texture of a material that has no shader, which stands for the batch's own.
    pub fn picture(&self, slot: MaterialSlot) -> Option<crate::packet::texture::TextureSlot> {
        let own = self.own.get(&slot.0).filter(|own| own.program == 0)?;
        own.material.textures.first().map(|(texture, _)| *texture)
    }

    /// Makes what a draw needs. False: it cannot be drawn.
    pub fn prepare(
        &mut self,
        device: &Device,
        textures: &mut Textures,
        slot: MaterialSlot,
        purpose: Purpose,
        events: &mut Vec<Event>,
    ) -> bool {
        self.prepare_group(device, textures, slot);
        let index = self.own.get(&slot.0).map_or(0, |own| own.program);
        let program = self.programs[index].as_mut().expect("a material's program is kept");
        if !program.pipelines.contains_key(&purpose) {
            let made = program.make(device, purpose);
            if let Err(words) = &made {
                let shader = program.name.clone();
                events.push(Event::ShaderFailed { shader, words: words.clone() });
            }
            program.pipelines.insert(purpose, made.ok());
        }
        program.pipelines[&purpose].is_some()
    }

    /// Makes a material's own group, where it is not there or out of date.
    pub fn prepare_group(&mut self, device: &Device, textures: &mut Textures, slot: MaterialSlot) {
        let Some(own) = self.own.get_mut(&slot.0) else { return };
        let program = self.programs[own.program].as_ref().expect("a material's program is kept");
        if let Some(layout) = &program.group
            && (own.group.is_none() || own.generation != textures.generation)
        {
            own.group = Some(own_group(device, textures, layout, own));
            own.generation = textures.generation;
        }
    }

    /// What a scene's pictures are painted with. A slot without material is the engine's own.
    pub fn painter(&self, slot: MaterialSlot) -> Painter<'_> {
        let blend = self.blend(slot);
        let Some(own) = self.own.get(&slot.0) else {
            return Painter { shader: None, layout: None, group: None, blend };
        };
        let layout = self.programs[own.program].as_ref().and_then(|it| it.group.as_ref());
        let shader = own.material.shader.as_ref();
        Painter { shader, layout, group: own.group.as_ref(), blend }
    }

    /// What a prepared draw needs: the pipeline, and the material's own group.
    pub fn ready(
        &self,
        slot: MaterialSlot,
        purpose: Purpose,
    ) -> (&wgpu::RenderPipeline, Option<&wgpu::BindGroup>) {
        let own = self.own.get(&slot.0);
        let program = self.programs[own.map_or(0, |own| own.program)].as_ref();
        let pipeline = program.and_then(|program| program.pipelines[&purpose].as_ref());
        (pipeline.expect("the draw was prepared"), own.and_then(|own| own.group.as_ref()))
    }

    pub fn len(&self) -> usize {
        self.own.len()
    }
}

/// The group of a material's own: variables, textures, samplers.
fn own_group(
    device: &Device,
    textures: &mut Textures,
    layout: &wgpu::BindGroupLayout,
    own: &Own,
) -> wgpu::BindGroup {
    debug_assert_eq!(MATERIAL_GROUP, 2);
    let shader = own.material.shader.as_ref().expect("only shaders have a layout");
    let mut samplers = Vec::new();
    let mut slots = Vec::new();
    for place in 0..shader.textures as usize {
        let plain = crate::packet::texture::Sampling {
            nearest: false,
            wrap: crate::packet::texture::Wrap::Clamp,
        };
        let shared = (crate::packet::texture::TextureSlot::SHARED, plain);
        let (slot, sampling) = own.material.textures.get(place).copied().unwrap_or(shared);
        slots.push(slot);
        samplers.push(textures.sampler(device, sampling).clone());
    }
    let mut entries = Vec::new();
    if let Some(buffer) = &own.buffer {
        entries.push(entry(VARIABLES, buffer.as_entire_binding()));
    }
    for (place, (slot, sampler)) in slots.iter().zip(&samplers).enumerate() {
        let view = wgpu::BindingResource::TextureView(textures.view(*slot));
        entries.push(entry(texture_binding(place as u32), view));
        entries.push(entry(sampler_binding(place as u32), wgpu::BindingResource::Sampler(sampler)));
    }
    let descriptor =
        wgpu::BindGroupDescriptor { label: Some("material"), layout, entries: &entries };
    device.device.create_bind_group(&descriptor)
}

fn write_variables(device: &Device, buffer: &wgpu::Buffer, bytes: &[u8]) {
    let mut padded = bytes.to_vec();
    padded.resize(buffer.size() as usize, 0);
    device.queue.write_buffer(buffer, 0, &padded);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::gui::paint;
    use crate::packet::texture::{ATLAS_SIDE, GLYPH_SPREAD};

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
            ("ENGINE_NEAREST:", Instance::NEAREST),
        ] {
            check(name, format!("{value}u"));
        }
        check("ENGINE_ATLAS_SIDE:", format!("{ATLAS_SIDE}.0"));
        check("ENGINE_GLYPH_SPREAD:", format!("{GLYPH_SPREAD:.1}"));
        assert!(source.contains(&format!("override ENGINE_PAINTS: u32 = {ALL_PAINTS:#x}u;")));
    }
}
