//! The check of the graph that a config's viewports form: every image is drawn before it is read,
//! and read after it is drawn, and the engine's passes have what they need. Knows no files.

use super::super::render_pass_check::{check_reads, check_writes};
use super::super::render_passes::{
    OPTIONAL_PASSES, PassResource, PassRow, RENDER_PASSES, pass_name,
};
use engine_foundation::suggest::hint;
use engine_resource::render_config_data::{FrameImage, FrameStep, RenderConfigData};

/// The part of a config that an error concerns, by indices.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GraphLocation {
    Target(usize),
    Generator(usize),
    Output(usize),
    /// A generator's input.
    Input(usize, usize),
    Viewport(usize),
    /// A step of a viewport.
    Step(usize, usize),
}

/// A finding of the check.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GraphError {
    pub location: GraphLocation,
    pub message: String,
}

fn error<T>(location: GraphLocation, message: String) -> Result<T, GraphError> {
    Err(GraphError { location, message })
}

/// Checks a config.
pub fn check(data: &RenderConfigData) -> Result<(), GraphError> {
    for index in 0..data.generators.len() {
        check_generator(data, index)?;
    }
    check_use(data)?;
    for index in 0..data.viewports.len() {
        ViewportCheck::new(data, index).run()?;
    }
    Ok(())
}

/// Checks that a generator does not read what it draws.
fn check_generator(data: &RenderConfigData, index: usize) -> Result<(), GraphError> {
    let generator = &data.generators[index];
    let (name, output) = (&generator.name, generator.output);
    if output == FrameImage::Depth {
        let message = "no generator can draw onto 'depth': draw onto a resource".to_string();
        return error(GraphLocation::Output(index), message);
    }
    // A copy of the target is read, and the mean of the light's samples, which is a copy too.
    let copied = matches!(output, FrameImage::Target | FrameImage::Light);
    let own = generator.inputs.iter().position(|input| input.image == output && !copied);
    match own {
        None => Ok(()),
        Some(input) => {
            let image = data.image_name(output);
            let message =
                format!("'{name}' reads '{image}' and draws onto it: use two resources in turn");
            error(GraphLocation::Input(index, input), message)
        }
    }
}

/// Checks that every resource is read, and every generator is a step.
fn check_use(data: &RenderConfigData) -> Result<(), GraphError> {
    for (index, target) in data.targets.iter().enumerate() {
        let (name, image) = (&target.name, FrameImage::Own(index as u32));
        let is_read = data.generators.iter().flat_map(|it| &it.inputs).any(|it| it.image == image);
        let writer = data.generators.iter().find(|generator| generator.output == image);
        match writer {
            None if !is_read => {
                let message = format!("no generator uses '{name}': remove it");
                return error(GraphLocation::Target(index), message);
            }
            None => {
                let message = format!("no generator draws onto '{name}', and one reads it");
                return error(GraphLocation::Target(index), message);
            }
            Some(writer) if !is_read => {
                let message = format!("no generator reads '{name}', which '{}' draws", writer.name);
                return error(GraphLocation::Target(index), message);
            }
            Some(_) => {}
        }
    }
    for (index, generator) in data.generators.iter().enumerate() {
        let step = FrameStep::Generator(index as u32);
        let mut images = generator.inputs.iter().map(|input| input.image).chain([generator.output]);
        // Scripts can run it onto a texture (`Renderer.run_resource_generator`).
        if images.all(|image| image == FrameImage::Target) {
            continue;
        }
        if !data.viewports.iter().any(|viewport| viewport.steps.contains(&step)) {
            let message = format!("'{}' is not a step of any viewport", generator.name);
            return error(GraphLocation::Generator(index), message);
        }
    }
    Ok(())
}

/// The check of one viewport, step by step.
struct ViewportCheck<'a> {
    data: &'a RenderConfigData,
    index: usize,
    steps: &'a [FrameStep],
    /// Images of the engine that steps so far have drawn.
    drawn: Vec<PassResource>,
    /// Index of the next row of the engine's table.
    next_row: usize,
    /// For each resource: true if a step so far has drawn it, and the step that drew it last if
    /// none has read it since.
    written: Vec<bool>,
    unread: Vec<Option<usize>>,
    /// The step that drew light last, if none has read it since.
    unread_light: Option<usize>,
}

impl<'a> ViewportCheck<'a> {
    fn new(data: &'a RenderConfigData, index: usize) -> ViewportCheck<'a> {
        let viewport = &data.viewports[index];
        // Without their passes, views have neither shadows nor effects.
        let mut drawn = vec![PassResource::Target];
        let absent = OPTIONAL_PASSES.iter().filter(|(pass, _)| !viewport.has_pass(pass));
        drawn.extend(absent.flat_map(|(_, resources)| *resources));
        let count = data.targets.len();
        ViewportCheck {
            data,
            index,
            steps: &viewport.steps,
            drawn,
            next_row: 0,
            written: vec![false; count],
            unread: vec![None; count],
            unread_light: None,
        }
    }

    fn run(mut self) -> Result<(), GraphError> {
        if self.steps.is_empty() {
            let message = "the viewport has no steps".to_string();
            return error(GraphLocation::Viewport(self.index), message);
        }
        for (number, step) in self.steps.iter().enumerate() {
            match step {
                FrameStep::Pass(name) => self.pass(number, name)?,
                FrameStep::Generator(index) => self.generator(number, *index as usize)?,
            }
        }
        let target = self.unread.iter().position(Option::is_some);
        if let Some(target) = target {
            let number = self.unread[target].expect("it is set");
            let name = &self.data.targets[target].name;
            let message = format!("it draws '{name}', which no step after it reads");
            return error(GraphLocation::Step(self.index, number), message);
        }
        match self.unread_light {
            None => Ok(()),
            Some(number) => {
                let message =
                    "it draws 'light', which no step after it reads: move it before 'tone mapping'";
                error(GraphLocation::Step(self.index, number), message.to_string())
            }
        }
    }

    /// Checks a pass of the engine.
    fn pass(&mut self, number: usize, name: &str) -> Result<(), GraphError> {
        let location = GraphLocation::Step(self.index, number);
        let rows: Vec<(usize, &PassRow)> =
            RENDER_PASSES.iter().enumerate().filter(|(_, row)| pass_name(row) == name).collect();
        let (Some((first, _)), Some((last, _))) = (rows.first(), rows.last()) else {
            let hint = hint(name, RENDER_PASSES.iter().map(pass_name));
            return error(location, format!("the engine has no pass '{name}'{hint}"));
        };
        if *first < self.next_row {
            let message = format!(
                "the engine's passes keep their order, each once, and '{name}' is not behind '{}'",
                pass_name(&RENDER_PASSES[self.next_row - 1])
            );
            return error(location, message);
        }
        self.next_row = last + 1;
        for (_, row) in &rows {
            let checked =
                check_reads(row, &self.drawn).and_then(|()| check_writes(row, &mut self.drawn));
            checked.or_else(|message| error(location, format!("the pass '{name}' {message}")))?;
        }
        if rows.iter().any(|(_, row)| row.does_read(PassResource::Light)) {
            self.unread_light = None;
        }
        if rows.iter().any(|(_, row)| row.does_write(PassResource::Light)) {
            self.unread_light = Some(number);
        }
        Ok(())
    }

    fn generator(&mut self, number: usize, index: usize) -> Result<(), GraphError> {
        let generator = &self.data.generators[index];
        for (input, read) in generator.inputs.iter().enumerate() {
            self.check_drawn((number, read.image), GraphLocation::Input(index, input))?;
            match read.image {
                FrameImage::Own(target) => self.unread[target as usize] = None,
                FrameImage::Light => self.unread_light = None,
                FrameImage::Depth | FrameImage::Target => {}
            }
        }
        match generator.output {
            FrameImage::Own(target) => {
                self.written[target as usize] = true;
                self.unread[target as usize] = Some(number);
            }
            image => {
                self.check_drawn((number, image), GraphLocation::Output(index))?;
                if image == FrameImage::Light {
                    self.unread_light = Some(number);
                }
            }
        }
        Ok(())
    }

    /// Checks that an image is drawn before a step reads it or draws over it.
    fn check_drawn(
        &self,
        (number, image): (usize, FrameImage),
        location: GraphLocation,
    ) -> Result<(), GraphError> {
        let viewport = &self.data.viewports[self.index].name;
        let name = self.data.image_name(image);
        let resource = match image {
            FrameImage::Own(target) if self.written[target as usize] => return Ok(()),
            FrameImage::Own(_) => return self.unwritten((number, image), location),
            FrameImage::Light => PassResource::Light,
            FrameImage::Depth => PassResource::Depth,
            FrameImage::Target => PassResource::Target,
        };
        let rows = RENDER_PASSES[..self.next_row].iter();
        let names = self.steps[..number].iter().filter_map(|step| match step {
            FrameStep::Pass(name) => Some(&name[..]),
            FrameStep::Generator(_) => None,
        });
        let before: Vec<&str> = names.collect();
        let is_drawn =
            rows.filter(|row| before.contains(&pass_name(row))).any(|row| row.does_write(resource));
        match is_drawn {
            true => Ok(()),
            false => error(
                location,
                format!(
                    "no pass of the viewport '{viewport}' draws '{name}' before this step: move \
                     the step behind it"
                ),
            ),
        }
    }

    /// Returns the error for a resource that is read before it is drawn.
    fn unwritten(
        &self,
        (number, image): (usize, FrameImage),
        location: GraphLocation,
    ) -> Result<(), GraphError> {
        let viewport = &self.data.viewports[self.index].name;
        let name = self.data.image_name(image);
        let writer = self.steps[number..].iter().find_map(|step| match step {
            FrameStep::Generator(index) => {
                let generator = &self.data.generators[*index as usize];
                (generator.output == image).then_some(&generator.name)
            }
            FrameStep::Pass(_) => None,
        });
        let message = match writer {
            Some(writer) => format!(
                "the steps of the viewport '{viewport}' are cyclic: '{name}' is read here, and \
                 '{writer}' draws it only after that"
            ),
            None => format!("no step of the viewport '{viewport}' draws '{name}'"),
        };
        error(location, message)
    }
}
