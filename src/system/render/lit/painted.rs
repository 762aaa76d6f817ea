//! Pictures of scenes that materials of games paint: programs made of their shaders, their
//! pipelines, and what the shaders are told of each view. Draws nothing.

use super::super::Event;
use super::super::device::Device;
use super::super::materials::{Painter, blend_state, engine_source};
use super::super::passes::FrameUniform;
use super::super::scene::{BatchKey, Class};
use super::super::table::Map;
use super::LIGHT_FORMAT;
use super::Place;
use super::layouts::Layouts;
use super::pipelines::{Parts, depth_state, make, mesh_buffers};
use crate::packet::Packet;
use crate::packet::material::{Blend, MaterialSlot, Shader};
use std::sync::Arc;

/// The vertex and the fragment stage, which follow a shader's whole module.
pub const SOURCE: &str = include_str!("painted.wgsl");

/// What a pipeline is made for: how colours meet what is behind them, and whether what has too
/// little alpha is left out.
type Way = (Blend, bool);

/// A shader on the adapter.
struct Program {
    /// `None`: the engine's own.
    shader: Option<Arc<Shader>>,
    /// `None`: it was refused.
    pipelines: Map<Way, Option<wgpu::RenderPipeline>>,
}

/// Every program.
#[derive(Default)]
pub struct Programs {
    all: Vec<Program>,
}

fn is_same(one: Option<&Arc<Shader>>, other: Option<&Arc<Shader>>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => Arc::ptr_eq(one, other),
        (None, None) => true,
        _ => false,
    }
}

fn way(key: &BatchKey, painter: &Painter) -> Way {
    match key.class.has(Class::MASK) {
        true => (Blend::Replace, true),
        false => (painter.blend, false),
    }
}

/// What a shader is told of a view that is shown at a place.
pub fn frame(place: &Place, packet: &Packet) -> FrameUniform {
    FrameUniform {
        target_size: [place.rectangle[2] as f32, place.rectangle[3] as f32],
        scale: place.scale,
        seconds: packet.seconds as f32,
        ..FrameUniform::default()
    }
}

impl Programs {
    fn find(&self, shader: Option<&Arc<Shader>>) -> Option<&Program> {
        self.all.iter().find(|program| is_same(program.shader.as_ref(), shader))
    }

    /// Makes what draws a batch, if it is not there. What an adapter refuses is told once, and
    /// drawn as the engine's own.
    pub fn need(
        &mut self,
        device: &Device,
        layouts: &Layouts,
        samples: u32,
        key: &BatchKey,
        painter: &Painter,
        events: &mut Vec<Event>,
    ) {
        let way = way(key, painter);
        // What no material has any more is not kept.
        self.all.retain(|it| it.shader.as_ref().is_none_or(|it| Arc::strong_count(it) > 1));
        for shader in [None, painter.shader] {
            let at = self.all.iter().position(|it| is_same(it.shader.as_ref(), shader));
            let at = at.unwrap_or_else(|| {
                self.all.push(Program { shader: shader.cloned(), pipelines: Map::default() });
                self.all.len() - 1
            });
            if self.all[at].pipelines.contains_key(&way) {
                continue;
            }
            let own = shader.and(painter.layout);
            let made = pipeline(device, layouts, samples, (shader.map(|it| &**it), own), way);
            if let Err(words) = &made {
                let shader = shader.map_or_else(String::new, |it| it.name.clone());
                events.push(Event::ShaderFailed { shader, words: words.clone() });
            }
            self.all[at].pipelines.insert(way, made.ok());
        }
    }

    /// The pipeline of a batch that was needed before, and whether it is the material's own; `None`
    /// where the adapter refused even the engine's own, which was told.
    pub fn get(&self, key: &BatchKey, painter: &Painter) -> Option<(&wgpu::RenderPipeline, bool)> {
        let way = way(key, painter);
        let of = |shader| self.find(shader).and_then(|it| it.pipelines.get(&way)?.as_ref());
        let own = painter.shader.and_then(|_| of(painter.shader));
        Some((own.or_else(|| of(None))?, own.is_some()))
    }
}

/// The slot of a batch's material.
pub fn slot(key: &BatchKey) -> Option<MaterialSlot> {
    (key.painter != 0).then_some(MaterialSlot(key.painter))
}

fn pipeline(
    device: &Device,
    layouts: &Layouts,
    samples: u32,
    (shader, own): (Option<&Shader>, Option<&wgpu::BindGroupLayout>),
    (blend, mask): Way,
) -> Result<wgpu::RenderPipeline, String> {
    let whole = match shader {
        Some(shader) => [&shader.source, SOURCE].join("\n"),
        None => [&engine_source(), SOURCE].join("\n"),
    };
    let flag = |name, set| (name, f64::from(u8::from(set)));
    let constants = [
        flag("ENGINE_MASK", mask),
        flag("ENGINE_ADDS", blend == Blend::Add),
        flag("ENGINE_MULTIPLIES", blend == Blend::Multiply),
    ];
    device.compiled(|raw| {
        let module = raw.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: Some("painted"),
            source: wgpu::ShaderSource::Wgsl((&*whole).into()),
        });
        make(
            raw,
            &Parts {
                label: "painted",
                layouts: &[Some(&layouts.frame), Some(&layouts.set), own, Some(&layouts.scene)],
                module: &module,
                vertex: "engine_scene_vertex",
                fragment: Some("engine_scene_fragment"),
                constants: &constants,
                buffers: &mesh_buffers(),
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
    fn what_an_adapter_refuses_whole_is_not_drawn() {
        let (name, source) = ("glow".to_string(), String::new());
        let shader = Arc::new(Shader { name, source, textures: 0, variables: 0 });
        let painter =
            Painter { shader: Some(&shader), layout: None, group: None, blend: Blend::Alpha };
        let key = BatchKey { class: Class::default(), painter: 1, set: 0, mesh: 0, part: 0 };
        let refused = |shader| Program {
            shader,
            pipelines: [(way(&key, &painter), None)].into_iter().collect(),
        };
        let all = vec![refused(None), refused(Some(Arc::clone(&shader)))];
        assert!(Programs { all }.get(&key, &painter).is_none());
        assert!(Programs::default().get(&key, &painter).is_none());
    }

    #[test]
    fn what_follows_a_shader_is_right_behind_the_engines_own_and_behind_a_games() {
        validate(&[&engine_source(), SOURCE].join("\n"));
        let own = "struct Light { a: vec4f }
            @group(2) @binding(0) var<uniform> view: Light;
            fn paint(in: Paint) -> vec4f { return in.base * view.a * sin(frame.seconds); }";
        let shader = check("glow.wgsl", own).unwrap();
        validate(&[&shader.source, SOURCE].join("\n"));
    }
}
