//! Custom shaders: the pipelines of scene images that are painted by games' materials, and the
//! frame uniforms of their views. Draws nothing.

use super::super::RendererEvent;
use super::super::device::GpuDevice;
use super::super::gui_passes::FrameUniform;
use super::super::gui_pipelines::blend_state;
use super::super::materials::{MaterialBinder, engine_source};
use super::super::numeric_map::NumberMap;
use super::super::scene::{PipelineClass, SceneBatchKey};
use super::super::shader_sources::source;
use super::LIGHT_FORMAT;
use super::ViewRectangle;
use super::bind_group_layouts::BindGroupLayouts;
use super::mesh_pipelines::mesh_buffers;
use super::pipelines::{PipelineOptions, depth_state, make};
use engine_frame_packet::FramePacket;
use engine_frame_packet::material::{BlendMode, MaterialSlot, ShaderFrame};
use std::sync::Arc;

/// A variant of a shader's pipeline.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct PipelineVariant {
    blend: BlendMode,
    /// True if pixels with too little alpha are discarded.
    mask: bool,
    /// True for meshes with joints or morph targets.
    deformed: bool,
}

/// A shader and its pipelines on the adapter.
struct CustomShader {
    /// The shader; `None`: the engine's own.
    shader: Option<Arc<ShaderFrame>>,
    /// Pipelines by variant; `None`: the adapter refused it.
    pipelines: NumberMap<PipelineVariant, Option<wgpu::RenderPipeline>>,
}

/// All custom shaders.
#[derive(Default)]
pub struct CustomShaders {
    all: Vec<CustomShader>,
}

fn is_same(one: Option<&Arc<ShaderFrame>>, other: Option<&Arc<ShaderFrame>>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => Arc::ptr_eq(one, other),
        (None, None) => true,
        _ => false,
    }
}

fn variant_of(key: &SceneBatchKey, binder: &MaterialBinder) -> PipelineVariant {
    let mask = key.class.has(PipelineClass::MASK);
    let blend = if mask { BlendMode::Replace } else { binder.blend };
    PipelineVariant { blend, mask, deformed: key.class.has(PipelineClass::DEFORMED) }
}

/// Returns the frame uniform of a view that is shown in a rectangle. `size`: the size of its image
/// of the world.
pub fn frame(
    area: &ViewRectangle,
    (width, height): (u32, u32),
    packet: &FramePacket,
) -> FrameUniform {
    FrameUniform {
        target_size: [width as f32, height as f32],
        scale: area.scale,
        seconds: packet.seconds as f32,
        ..FrameUniform::default()
    }
}

impl CustomShaders {
    fn find(&self, shader: Option<&Arc<ShaderFrame>>) -> Option<&CustomShader> {
        self.all.iter().find(|program| is_same(program.shader.as_ref(), shader))
    }

    /// Creates the pipeline of a batch, if it does not exist. A refused shader is reported once,
    /// and the engine's own is used instead.
    pub fn ensure(
        &mut self,
        device: &GpuDevice,
        layouts: &BindGroupLayouts,
        samples: u32,
        key: &SceneBatchKey,
        binder: &MaterialBinder,
        events: &mut Vec<RendererEvent>,
    ) {
        let variant = variant_of(key, binder);
        // Shaders that no material uses any more are removed.
        self.all.retain(|it| it.shader.as_ref().is_none_or(|it| Arc::strong_count(it) > 1));
        for shader in [None, binder.shader] {
            let at = self.all.iter().position(|it| is_same(it.shader.as_ref(), shader));
            let at = at.unwrap_or_else(|| {
                self.all.push(CustomShader {
                    shader: shader.cloned(),
                    pipelines: NumberMap::default(),
                });
                self.all.len() - 1
            });
            if self.all[at].pipelines.contains_key(&variant) {
                continue;
            }
            let material_layout = shader.and(binder.layout);
            let created = pipeline(
                device,
                layouts,
                samples,
                (shader.map(|it| &**it), material_layout),
                variant,
            );
            if let Err(message) = &created {
                let shader = shader.map_or_else(String::new, |it| it.name.clone());
                events.push(RendererEvent::ShaderFailed { shader, message: message.clone() });
            }
            self.all[at].pipelines.insert(variant, created.ok());
        }
    }

    /// Returns the pipeline of a batch, which `ensure` created, and true if it is the material's
    /// own. Returns `None` if the adapter refused even the engine's own, which was reported.
    pub fn get(
        &self,
        key: &SceneBatchKey,
        binder: &MaterialBinder,
    ) -> Option<(&wgpu::RenderPipeline, bool)> {
        let variant = variant_of(key, binder);
        let of = |shader| self.find(shader).and_then(|it| it.pipelines.get(&variant)?.as_ref());
        let custom = binder.shader.and_then(|_| of(binder.shader));
        Some((custom.or_else(|| of(None))?, custom.is_some()))
    }
}

/// Returns the slot of a batch's material.
pub fn slot(key: &SceneBatchKey) -> Option<MaterialSlot> {
    (key.material != 0).then_some(MaterialSlot(key.material))
}

/// Returns a material's whole module with the vertex and the fragment stage of scenes.
fn with_stages(module: &str, samples: u32) -> String {
    [module, &source("custom", samples)].join("\n")
}

fn pipeline(
    device: &GpuDevice,
    layouts: &BindGroupLayouts,
    samples: u32,
    (shader, material_layout): (Option<&ShaderFrame>, Option<&wgpu::BindGroupLayout>),
    PipelineVariant { blend, mask, deformed }: PipelineVariant,
) -> Result<wgpu::RenderPipeline, String> {
    let whole = match shader {
        Some(shader) => with_stages(&shader.source, samples),
        None => with_stages(&engine_source(), samples),
    };
    let flag = |name, set| (name, f64::from(u8::from(set)));
    let constants = [
        flag("ENGINE_MASK", mask),
        flag("ENGINE_ADDS", blend == BlendMode::Add),
        flag("ENGINE_MULTIPLIES", blend == BlendMode::Multiply),
        flag("ENGINE_PREMULTIPLIED", blend == BlendMode::Premultiplied),
    ];
    device.compiled(|raw| {
        let module = raw.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: Some("painted"),
            source: wgpu::ShaderSource::Wgsl((&*whole).into()),
        });
        make(
            raw,
            &PipelineOptions {
                label: "painted",
                layouts: &[
                    Some(&layouts.frame),
                    Some(&layouts.set),
                    material_layout,
                    Some(&layouts.scene),
                ],
                module: &module,
                vertex: match deformed {
                    true => "engine_deformed_scene_vertex",
                    false => "engine_scene_vertex",
                },
                fragment: Some("engine_scene_fragment"),
                constants: &constants,
                buffers: &mesh_buffers(deformed),
                strip: false,
                front: wgpu::FrontFace::Ccw,
                cull: None,
                depth: Some(depth_state(mask, wgpu::CompareFunction::LessEqual)),
                samples,
                target: Some((LIGHT_FORMAT, blend_state(blend))),
            },
        )
    })
}

#[cfg(test)]
mod tests {
    use super::super::super::shader::check;
    use super::*;

    fn validate(source: &str) {
        let module = wgpu::naga::front::wgsl::parse_str(source)
            .unwrap_or_else(|error| panic!("{}", error.emit_to_string(source)));
        let flags = wgpu::naga::valid::ValidationFlags::all();
        let able = wgpu::naga::valid::Capabilities::empty();
        if let Err(error) = wgpu::naga::valid::Validator::new(flags, able).validate(&module) {
            panic!("{}", error.emit_to_string(source));
        }
    }

    #[test]
    fn a_shader_refused_by_the_adapter_is_not_drawn() {
        let (name, source) = ("glow".to_string(), String::new());
        let shader =
            Arc::new(ShaderFrame { name, source, surface: None, textures: 0, variables: 0 });
        let binder = MaterialBinder {
            shader: Some(&shader),
            layout: None,
            group: None,
            blend: BlendMode::Alpha,
        };
        let key = SceneBatchKey {
            class: PipelineClass::default(),
            material: 1,
            set: 0,
            mesh: 0,
            part: 0,
        };
        let refused = |shader| CustomShader {
            shader,
            pipelines: [(variant_of(&key, &binder), None)].into_iter().collect(),
        };
        let all = vec![refused(None), refused(Some(Arc::clone(&shader)))];
        assert!(CustomShaders { all }.get(&key, &binder).is_none());
        assert!(CustomShaders::default().get(&key, &binder).is_none());
    }

    #[test]
    fn stages_are_valid_after_engine_and_game_shaders() {
        validate(&with_stages(&engine_source(), 4));
        let wgsl = "struct Light { a: vec4f }
            @group(2) @binding(0) var<uniform> view: Light;
            fn paint(in: Paint) -> vec4f { return in.base * view.a * sin(frame.seconds); }";
        let shader = check("glow.wgsl", wgsl).unwrap();
        validate(&with_stages(&shader.source, 4));
    }
}
