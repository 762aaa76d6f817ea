//! The pipelines of meshes, with the engine's own surface or with a game's functions: in the light
//! of a view, and in shadow maps. Keeps none of them.

use super::super::gui_pipelines::blend_state;
use super::super::scene::PipelineClass;
use super::LIGHT_FORMAT;
use super::bind_group_layouts::BindGroupLayouts;
use super::mesh_buffers::DeformerVertex;
use super::pipelines::{PipelineOptions, depth_state, make};
use engine_frame_packet::material::BlendMode;
use engine_frame_packet::mesh::MeshVertex;

const CORNER: [wgpu::VertexAttribute; 5] = wgpu::vertex_attr_array![
    0 => Float32x3, 1 => Snorm8x4, 2 => Snorm8x4, 3 => Float32x2, 4 => Unorm8x4
];
const WHICH: [wgpu::VertexAttribute; 1] = wgpu::vertex_attr_array![5 => Uint32x2];
const DEFORMER: [wgpu::VertexAttribute; 3] =
    wgpu::vertex_attr_array![6 => Uint16x4, 7 => Unorm16x4, 8 => Uint32x2];

/// The parameters in which pipelines of meshes differ.
pub struct MeshOptions<'a> {
    pub module: &'a wgpu::ShaderModule,
    /// The class; [`PipelineClass::SHADOW`]: the pipeline draws into shadow maps.
    pub class: PipelineClass,
    pub samples: u32,
    /// True if the maps of a sky or of probes may light the meshes.
    pub is_map_lit: bool,
    /// True if conditions on uniforms are hidden from the driver.
    pub hides_uniforms: bool,
}

/// The group of a material with surface functions; its module has names with a prefix.
pub struct FunctionsGroup<'a>(pub Option<&'a wgpu::BindGroupLayout>);

/// The variants of a pipeline of meshes: the parts of its class and of its functions.
struct MeshVariant<'a> {
    /// True if the module has surface functions, and so names with a prefix.
    is_custom: bool,
    material: Option<&'a wgpu::BindGroupLayout>,
    mask: bool,
    deformed: bool,
}

impl MeshVariant<'_> {
    /// Returns a name in the module: the engine's own, or that with the prefix.
    fn name(&self, engine: &'static str, custom: &'static str) -> &'static str {
        if self.is_custom { custom } else { engine }
    }
}

/// Creates a pipeline of meshes. `functions`: the module has surface functions of a game.
pub fn mesh_pipeline(
    device: &wgpu::Device,
    layouts: &BindGroupLayouts,
    options: &MeshOptions,
    functions: Option<FunctionsGroup>,
) -> wgpu::RenderPipeline {
    let class = options.class;
    let variant = MeshVariant {
        is_custom: functions.is_some(),
        material: functions.and_then(|FunctionsGroup(layout)| layout),
        mask: class.has(PipelineClass::MASK),
        deformed: class.has(PipelineClass::DEFORMED),
    };
    if class.has(PipelineClass::SHADOW) {
        return shadow_pipeline(device, layouts, options, &variant);
    }
    let blend = class.has(PipelineClass::BLEND);
    // Values of debug views replace the color, or are added to it by an alpha of 0.
    let mode = match class.has(PipelineClass::DEBUG) {
        true => BlendMode::Premultiplied,
        false => blend_mode(blend),
    };
    let flag = |name, set| (name, f64::from(u8::from(set)));
    let constants = [
        flag(variant.name("MASK", "engine_MASK"), variant.mask),
        flag(variant.name("LOBES", "engine_LOBES"), class.has(PipelineClass::LOBES)),
        flag(variant.name("DECALS", "engine_DECALS"), class.has(PipelineClass::DECALS)),
        flag(variant.name("SKY_MAPS", "engine_SKY_MAPS"), options.is_map_lit),
        flag(variant.name("HIDES_UNIFORMS", "engine_HIDES_UNIFORMS"), options.hides_uniforms),
    ];
    let behind = class.has(PipelineClass::TRANSMISSION).then_some(&layouts.behind);
    let groups = [Some(&layouts.scene), Some(&layouts.set), variant.material, behind];
    let count = if behind.is_some() { 4 } else { 2 + usize::from(variant.material.is_some()) };
    make(
        device,
        &PipelineOptions {
            label: "mesh",
            layouts: &groups[..count],
            module: options.module,
            vertex: match variant.deformed {
                true => variant.name("deformed_mesh_vertex", "engine_deformed_mesh_vertex"),
                false => variant.name("mesh_vertex", "engine_mesh_vertex"),
            },
            fragment: Some(variant.name("mesh_fragment", "engine_mesh_fragment")),
            constants: &constants,
            buffers: &mesh_buffers(variant.deformed),
            strip: false,
            front: match class.has(PipelineClass::MIRRORED) {
                true => wgpu::FrontFace::Cw,
                false => wgpu::FrontFace::Ccw,
            },
            cull: (!class.has(PipelineClass::DOUBLE)).then_some(wgpu::Face::Back),
            depth: Some(depth_state(!blend, wgpu::CompareFunction::LessEqual)),
            samples: options.samples,
            target: Some((LIGHT_FORMAT, blend_state(mode))),
        },
    )
}

/// Creates a pipeline of meshes in shadow maps, or in the depth prepass of views.
fn shadow_pipeline(
    device: &wgpu::Device,
    layouts: &BindGroupLayouts,
    options: &MeshOptions,
    variant: &MeshVariant,
) -> wgpu::RenderPipeline {
    let MeshOptions { module, class, .. } = *options;
    let MeshVariant { is_custom, material, mask, deformed } = *variant;
    let is_prepass = class.has(PipelineClass::PREPASS);
    let mut depth = depth_state(true, wgpu::CompareFunction::LessEqual);
    if !is_prepass && !class.has(PipelineClass::BACK_SHADOW) {
        // Surfaces parallel to the light are moved back, so that they do not shadow themselves.
        // Back faces are in their own shadow, and those of occluders stay where they are.
        depth.bias = wgpu::DepthBiasState { constant: 2, slope_scale: 2.0, clamp: 0.0 };
    }
    let is_mirrored = is_prepass && class.has(PipelineClass::MIRRORED);
    let cull = match is_prepass {
        true if !class.has(PipelineClass::DOUBLE) => Some(wgpu::Face::Back),
        false if class.has(PipelineClass::BACK_SHADOW) => Some(wgpu::Face::Front),
        // Thin objects with one visible side cast shadows in both directions.
        _ => None,
    };
    let groups = [Some(&layouts.map), Some(&layouts.set), material];
    let count = match (material, mask || is_custom) {
        (Some(_), _) => 3,
        (None, true) => 2,
        (None, false) => 1,
    };
    make(
        device,
        &PipelineOptions {
            label: if is_prepass { "depth prepass" } else { "shadow" },
            layouts: &groups[..count],
            module,
            vertex: match deformed {
                true => variant.name("deformed_shadow_vertex", "engine_deformed_shadow_vertex"),
                false => variant.name("shadow_vertex", "engine_shadow_vertex"),
            },
            fragment: mask.then_some(variant.name("shadow_fragment", "engine_shadow_fragment")),
            constants: &[],
            buffers: &mesh_buffers(deformed),
            strip: false,
            front: if is_mirrored { wgpu::FrontFace::Cw } else { wgpu::FrontFace::Ccw },
            cull,
            depth: Some(depth),
            samples: 1,
            target: None,
        },
    )
}

fn blend_mode(blend: bool) -> BlendMode {
    if blend { BlendMode::Alpha } else { BlendMode::Replace }
}

/// Returns the vertex buffers of meshes; those of meshes with joints or morph targets have one
/// more.
pub fn mesh_buffers(deformed: bool) -> Vec<Option<wgpu::VertexBufferLayout<'static>>> {
    let mut all = vec![
        Some(wgpu::VertexBufferLayout {
            array_stride: size_of::<MeshVertex>() as u64,
            step_mode: wgpu::VertexStepMode::Vertex,
            attributes: &CORNER,
        }),
        Some(wgpu::VertexBufferLayout {
            array_stride: 8,
            step_mode: wgpu::VertexStepMode::Instance,
            attributes: &WHICH,
        }),
    ];
    if deformed {
        all.push(Some(wgpu::VertexBufferLayout {
            array_stride: size_of::<DeformerVertex>() as u64,
            step_mode: wgpu::VertexStepMode::Vertex,
            attributes: &DEFORMER,
        }));
    }
    all
}
