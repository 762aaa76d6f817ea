//! The description of a viewport for people: its passes, and its targets with their sizes and
//! bytes. Formats no text.

use super::super::generators::frame_plan::FramePlan;
use super::super::render_passes::{PassResource, RENDER_PASSES, pass_name};
use engine_resource::render_config_data::{FrameImage, FrameStep, Generator, RenderConfigData};

/// A pass of a viewport.
#[derive(Clone, PartialEq, Debug)]
pub struct PassReport {
    pub name: String,
    /// True for a generator of the config, false for a pass of the engine.
    pub is_generator: bool,
    pub reads: Vec<String>,
    pub writes: Vec<String>,
    /// The setting that turns the pass on, or the project's settings that change it.
    pub settings: Vec<String>,
}

/// An image that passes draw onto.
#[derive(Clone, PartialEq, Debug)]
pub struct TargetReport {
    pub name: String,
    pub format: String,
    pub size: (u32, u32),
    /// Bytes of its texture; 0 if it shares the texture of an earlier target.
    pub bytes: u64,
    /// The earlier target that has the texture.
    pub shares: Option<String>,
}

/// A viewport.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct FrameReport {
    pub passes: Vec<PassReport>,
    pub targets: Vec<TargetReport>,
}

impl FrameReport {
    /// Returns the bytes of all targets.
    pub fn bytes(&self) -> u64 {
        self.targets.iter().map(|target| target.bytes).sum()
    }
}

/// Describes a viewport of a config for a view of a size, with worlds of some samples per pixel.
pub fn report(
    data: &RenderConfigData,
    viewport: usize,
    size: (u32, u32),
    samples: u32,
) -> FrameReport {
    let mut report = FrameReport::default();
    for step in &data.viewports[viewport].steps {
        report.passes.push(match step {
            FrameStep::Pass(name) => engine_pass(name),
            FrameStep::Generator(index) => generator_pass(data, &data.generators[*index as usize]),
        });
    }
    report.targets = engine_targets(&report.passes, size, samples);
    let plan = FramePlan::new(data, viewport);
    let mut textures: Vec<(usize, u32)> = Vec::new();
    for (index, target) in data.targets.iter().enumerate() {
        let Some(texture) = plan.textures[index] else { continue };
        let is_shared = |(other, number): &&(usize, u32)| {
            let other = &data.targets[*other];
            *number == texture && (other.format, other.size) == (target.format, target.size)
        };
        let shares =
            textures.iter().find(is_shared).map(|(other, _)| data.targets[*other].name.clone());
        textures.push((index, texture));
        let (width, height) = target.size.texels(size);
        let bytes = u64::from(width) * u64::from(height) * u64::from(target.format.bytes());
        report.targets.push(TargetReport {
            name: target.name.clone(),
            format: target.format.name().to_string(),
            size: (width, height),
            bytes: if shares.is_some() { 0 } else { bytes },
            shares,
        });
    }
    report
}

fn engine_pass(name: &str) -> PassReport {
    let (mut reads, mut writes, mut settings) = (Vec::new(), Vec::new(), Vec::new());
    let add = |list: &mut Vec<String>, item: String| {
        if !list.contains(&item) {
            list.push(item);
        }
    };
    for row in RENDER_PASSES.iter().filter(|row| pass_name(row) == name) {
        row.reads.iter().for_each(|resource| add(&mut reads, resource_name(*resource)));
        row.writes.iter().for_each(|write| add(&mut writes, resource_name(write.resource())));
        row.settings.iter().for_each(|setting| add(&mut settings, (*setting).to_string()));
    }
    PassReport { name: name.to_string(), is_generator: false, reads, writes, settings }
}

fn generator_pass(data: &RenderConfigData, generator: &Generator) -> PassReport {
    let name_of = |image: FrameImage| data.image_name(image).to_string();
    let setting = generator.condition.map(|setting| data.settings[setting as usize].name.clone());
    PassReport {
        name: generator.name.clone(),
        is_generator: true,
        reads: generator.inputs.iter().map(|input| name_of(input.image)).collect(),
        writes: vec![name_of(generator.output)],
        settings: setting.into_iter().collect(),
    }
}

/// Returns the engine's images that a view of a world has, and the copies that generators read.
fn engine_targets(passes: &[PassReport], size: (u32, u32), samples: u32) -> Vec<TargetReport> {
    let pixels = u64::from(size.0) * u64::from(size.1);
    let target = |name: &str, format: &str, texel: u64| TargetReport {
        name: name.to_string(),
        format: format.to_string(),
        size,
        bytes: pixels * texel,
        shares: None,
    };
    let is_drawn = |name: &str| {
        passes.iter().any(|pass| !pass.is_generator && pass.writes.iter().any(|it| it == name))
    };
    let is_read = |name: &str| {
        passes.iter().any(|pass| pass.is_generator && pass.reads.iter().any(|it| it == name))
    };
    let mut found = Vec::new();
    for (name, format, texel) in [("light", "rgba16f", 8), ("depth", "d32f", 4)] {
        if is_drawn(name) {
            let format = format!("{format}, {samples} per pixel");
            found.push(target(name, &format, texel * u64::from(samples)));
        }
    }
    for (name, format, texel) in
        [("light", "rgba16f", 8), ("depth", "r32f", 4), ("target", "rgba8_srgb", 4)]
    {
        if is_read(name) {
            found.push(target(&format!("copy of {name}"), format, texel));
        }
    }
    found
}

/// Returns the name of an engine's resource in files.
pub fn resource_name(resource: PassResource) -> String {
    let camel = format!("{resource:?}");
    let mut snake = String::with_capacity(camel.len() + 2);
    for (i, letter) in camel.chars().enumerate() {
        if letter.is_uppercase() && i > 0 {
            snake.push('_');
        }
        snake.push(letter.to_ascii_lowercase());
    }
    snake
}
