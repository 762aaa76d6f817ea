//! The plan of a config's viewport: which rows of the engine's table run and which generators run
//! between them, and which targets share a texture. Pure data; creates nothing on the adapter.

use super::super::render_passes::{PassRow, RENDER_PASSES, pass_name};
use engine_resource::render_config_data::{FrameImage, FrameStep, RenderConfigData};

/// The pass of the engine that is repeated for Guis in the world and for those over it.
const GUIS: &str = "guis";

/// Rows of the engine's table, and the generators that follow them.
#[derive(Default)]
pub struct Segment {
    pub rows: Vec<&'static PassRow>,
    /// Indices of generators.
    pub generators: Vec<u32>,
    /// True if the generators follow the view's last Guis; they run once, after all of them.
    pub is_after_guis: bool,
}

/// The plan of a viewport.
pub struct FramePlan {
    pub segments: Vec<Segment>,
    /// For each target of the config: its number among the textures of its format and size; `None`:
    /// no step uses the target.
    pub textures: Vec<Option<u32>>,
    /// True if a generator reads the depth of the world.
    pub reads_depth: bool,
}

impl FramePlan {
    /// Plans a viewport of a checked config. Steps that are unknown to this engine are left out.
    pub fn new(data: &RenderConfigData, viewport: usize) -> FramePlan {
        let steps = &data.viewports[viewport].steps;
        let mut segments = vec![Segment::default()];
        let mut is_after_guis = false;
        for step in steps {
            let last = segments.last_mut().expect("there is one");
            match step {
                FrameStep::Pass(name) => {
                    is_after_guis |= name == GUIS;
                    let rows = RENDER_PASSES.iter().filter(|row| pass_name(row) == name);
                    if last.generators.is_empty() {
                        last.rows.extend(rows);
                    } else {
                        let rows = rows.collect();
                        segments.push(Segment { rows, ..Segment::default() });
                    }
                }
                FrameStep::Generator(index) => last.generators.push(*index),
            }
            let last = segments.last_mut().expect("there is one");
            last.is_after_guis = is_after_guis;
        }
        let used = steps.iter().filter_map(|step| match step {
            FrameStep::Generator(index) => Some(&data.generators[*index as usize]),
            FrameStep::Pass(_) => None,
        });
        let reads_depth = used
            .flat_map(|generator| &generator.inputs)
            .any(|input| input.image == FrameImage::Depth);
        FramePlan { segments, textures: share(data, steps), reads_depth }
    }
}

/// Returns the first and the last step that uses each target.
fn lifetimes(data: &RenderConfigData, steps: &[FrameStep]) -> Vec<Option<(usize, usize)>> {
    let mut found: Vec<Option<(usize, usize)>> = vec![None; data.targets.len()];
    for (number, step) in steps.iter().enumerate() {
        let FrameStep::Generator(index) = step else { continue };
        let generator = &data.generators[*index as usize];
        let images = generator.inputs.iter().map(|input| input.image).chain([generator.output]);
        for image in images {
            if let FrameImage::Own(target) = image {
                let (_, last) = found[target as usize].get_or_insert((number, number));
                *last = number;
            }
        }
    }
    found
}

/// Assigns textures to targets: those of the same format and size share one if they are not used at
/// the same time.
fn share(data: &RenderConfigData, steps: &[FrameStep]) -> Vec<Option<u32>> {
    let lifetimes = lifetimes(data, steps);
    let mut order: Vec<usize> =
        (0..data.targets.len()).filter(|i| lifetimes[*i].is_some()).collect();
    order.sort_by_key(|target| lifetimes[*target]);
    let mut textures = vec![None; data.targets.len()];
    // The targets so far, each with its last step.
    let mut assigned: Vec<(usize, u32, usize)> = Vec::new();
    for target in order {
        let (first, last) = lifetimes[target].expect("it is used");
        let is_alike = |other: usize| {
            let (a, b) = (&data.targets[target], &data.targets[other]);
            (a.format, a.size) == (b.format, b.size)
        };
        let is_busy = |number: u32| {
            assigned.iter().any(|(other, texture, end)| {
                *texture == number && is_alike(*other) && *end >= first
            })
        };
        let free = (0..).find(|number| !is_busy(*number)).expect("numbers do not end");
        textures[target] = Some(free);
        assigned.push((target, free, last));
    }
    textures
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render_config::built_in;
    use engine_resource::render_config_data::{
        ConfigTarget, Generator, GeneratorInput, TargetFormat, TargetSize,
    };

    fn generator(inputs: &[FrameImage], output: FrameImage) -> Generator {
        let inputs =
            inputs.iter().map(|image| GeneratorInput { image: *image, nearest: false }).collect();
        Generator {
            name: String::new(),
            shader: String::new(),
            source: String::new(),
            inputs,
            output,
            blend: 3,
            condition: None,
            variables: Vec::new(),
            settings: Vec::new(),
        }
    }

    #[test]
    fn the_plan_of_the_engines_own_frame_is_the_table() {
        let data = built_in("core").expect("it is embedded");
        let plan = FramePlan::new(&data, 0);
        assert_eq!(plan.segments.len(), 1);
        let names = |rows: &[&'static PassRow]| rows.iter().map(|row| row.name).collect::<Vec<_>>();
        let all: Vec<&'static PassRow> = RENDER_PASSES.iter().collect();
        assert_eq!(names(&plan.segments[0].rows), names(&all));
        assert!(plan.segments[0].generators.is_empty() && !plan.reads_depth);
    }

    #[test]
    fn targets_that_are_not_used_together_share_a_texture() {
        let mut data = built_in("core").expect("it is embedded");
        let target = |format, scale| ConfigTarget {
            name: String::new(),
            format,
            size: TargetSize::Scale(scale),
        };
        let half = || target(TargetFormat::Rgba16f, 0.5);
        data.targets = vec![half(), half(), half(), target(TargetFormat::R8, 0.5), half()];
        let own = FrameImage::Own;
        data.generators = vec![
            generator(&[FrameImage::Light], own(0)),
            generator(&[own(0)], own(1)),
            generator(&[own(1)], own(2)),
            generator(&[own(2)], own(3)),
            generator(&[own(3)], FrameImage::Light),
        ];
        let at = data.viewports[0].steps.len() - 2;
        let steps = (0..5).map(FrameStep::Generator);
        data.viewports[0].steps.splice(at..at, steps);
        let plan = FramePlan::new(&data, 0);
        // The first is free again when the third is drawn; the last is not used at all.
        assert_eq!(plan.textures, [Some(0), Some(1), Some(0), Some(0), None]);
    }

    #[test]
    fn generators_run_between_the_passes_around_them() {
        let mut data = built_in("core").expect("it is embedded");
        data.generators = vec![generator(&[], FrameImage::Target); 2];
        let steps = &mut data.viewports[0].steps;
        let guis = steps.len() - 1;
        steps.insert(guis, FrameStep::Generator(0));
        steps.push(FrameStep::Generator(1));
        let plan = FramePlan::new(&data, 0);
        let found: Vec<_> =
            plan.segments.iter().map(|it| (&it.generators[..], it.is_after_guis)).collect();
        assert_eq!(found, [(&[0][..], false), (&[1][..], true)]);
        assert_eq!(plan.segments[1].rows[0].name, "guis");
    }
}
