//! Surface functions of games: the modules and pipelines of lit meshes whose materials have shaders
//! of their own. Draws nothing.

use super::super::RendererEvent;
use super::super::device::GpuDevice;
use super::super::materials::MaterialBinder;
use super::super::numeric_map::NumberMap;
use super::super::scene::{PipelineClass, SceneBatchKey};
use super::super::shader::surface_prelude::{SurfacePass, module};
use super::bind_group_layouts::BindGroupLayouts;
use super::mesh_pipelines::{FunctionsGroup, MeshOptions, mesh_pipeline};
use super::pipelines::motion_pipeline;
use engine_frame_packet::material::ShaderFrame;
use std::sync::Arc;

/// A shader with its modules and pipelines on the adapter.
struct FunctionShader {
    shader: Arc<ShaderFrame>,
    /// The modules of the light, of shadow maps, of transmission, of debug views and of motion
    /// vectors, as far as they are used.
    modules: [Option<wgpu::ShaderModule>; 5],
    /// Pipelines by class; `None`: the adapter refused it.
    pipelines: NumberMap<PipelineClass, Option<wgpu::RenderPipeline>>,
}

/// All shaders with surface functions.
#[derive(Default)]
pub struct SurfaceShaders {
    all: Vec<FunctionShader>,
}

impl SurfaceShaders {
    /// Removes shaders that no material uses any more.
    pub fn drop_unused(&mut self) {
        self.all.retain(|it| Arc::strong_count(&it.shader) > 1);
    }

    /// Creates the pipeline of a batch, if it does not exist. Returns false if the batch is drawn
    /// with the engine's own surface: its material has no functions, or the adapter refused them,
    /// which is reported once.
    pub fn ensure(
        &mut self,
        device: &GpuDevice,
        layouts: &BindGroupLayouts,
        samples: u32,
        key: &SceneBatchKey,
        binder: &MaterialBinder,
        events: &mut Vec<RendererEvent>,
    ) -> bool {
        let Some(shader) = binder.shader.filter(|shader| shader.surface.is_some()) else {
            return false;
        };
        let known = self.all.iter().position(|it| Arc::ptr_eq(&it.shader, shader));
        let at = known.unwrap_or_else(|| {
            let (modules, pipelines) = ([const { None }; 5], NumberMap::default());
            self.all.push(FunctionShader { shader: Arc::clone(shader), modules, pipelines });
            self.all.len() - 1
        });
        let program = &mut self.all[at];
        if let Some(pipeline) = program.pipelines.get(&key.class) {
            return pipeline.is_some();
        }
        let created = program.create(device, layouts, samples, key.class, binder);
        if let Err(message) = &created {
            let (shader, message) = (shader.name.clone(), message.clone());
            events.push(RendererEvent::ShaderFailed { shader, message });
        }
        let is_created = created.is_ok();
        program.pipelines.insert(key.class, created.ok());
        is_created
    }

    /// Returns the pipeline of a batch that `ensure` created.
    pub fn get(
        &self,
        key: &SceneBatchKey,
        binder: &MaterialBinder,
    ) -> Option<&wgpu::RenderPipeline> {
        let shader = binder.shader?;
        let program = self.all.iter().find(|it| Arc::ptr_eq(&it.shader, shader))?;
        program.pipelines.get(&key.class)?.as_ref()
    }
}

impl FunctionShader {
    fn create(
        &mut self,
        device: &GpuDevice,
        layouts: &BindGroupLayouts,
        samples: u32,
        class: PipelineClass,
        binder: &MaterialBinder,
    ) -> Result<wgpu::RenderPipeline, String> {
        let functions = self.shader.surface.unwrap_or_default();
        let is_motion = class.has(PipelineClass::MOTION);
        let (index, pass) = if is_motion {
            (4, SurfacePass::Motion)
        } else if class.has(PipelineClass::SHADOW) {
            (1, SurfacePass::ShadowMap)
        } else if class.has(PipelineClass::DEBUG) {
            (3, SurfacePass::Debug)
        } else if class.has(PipelineClass::TRANSMISSION) {
            (2, SurfacePass::Transmission)
        } else {
            (0, SurfacePass::Light)
        };
        let (shader, slot) = (&self.shader, &mut self.modules[index]);
        device.compiled(|raw| {
            let module = slot.get_or_insert_with(|| {
                let source = module(&shader.source, functions, pass);
                raw.create_shader_module(wgpu::ShaderModuleDescriptor {
                    label: Some(&shader.name),
                    source: wgpu::ShaderSource::Wgsl(source.into()),
                })
            });
            let group = Some(FunctionsGroup(binder.layout));
            if is_motion {
                return motion_pipeline(raw, layouts, module, class, group);
            }
            let hides_uniforms = device.info.software;
            let options = MeshOptions { module, class, samples, is_map_lit: true, hides_uniforms };
            mesh_pipeline(raw, layouts, &options, group)
        })
    }
}

/// Returns the key of a batch in the depth prepass, if its functions change its outline.
pub fn prepass_key(key: &SceneBatchKey, binder: &MaterialBinder) -> Option<SceneBatchKey> {
    let functions = binder.shader.and_then(|shader| shader.surface)?;
    let class = key.class.in_prepass_with(functions)?;
    Some(SceneBatchKey { class, ..*key })
}

/// Returns the key of a batch in motion vectors, if its functions change its outline.
pub fn motion_key(key: &SceneBatchKey, binder: &MaterialBinder) -> Option<SceneBatchKey> {
    let functions = binder.shader.and_then(|shader| shader.surface)?;
    let class = key.class.in_motion_with(functions)?;
    Some(SceneBatchKey { class, ..*key })
}

/// Returns the class with which a batch is drawn without its functions.
pub fn plain_class(class: PipelineClass) -> PipelineClass {
    PipelineClass(class.0 & !PipelineClass::FUNCTIONS)
}
