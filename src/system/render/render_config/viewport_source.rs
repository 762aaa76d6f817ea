//! The reader of viewports: lists of steps, or another viewport's steps with generators inserted at
//! named points. Errors have the lines of the file.

use super::super::render_passes::{RENDER_PASSES, pass_name};
use super::built_in::{CORE, built_in};
use super::source::{ConfigError, ConfigLines, block, check_count, check_keys, names, text};
use engine_foundation::sjson::{ObjectEntry, SjsonValue};
use engine_foundation::suggest::hint;
use engine_resource::render_config_data::{
    ConfigViewport, FrameStep, RenderConfigData, STEPS_MAX, VIEWPORTS_MAX,
};

/// A step, and its line.
type SourceStep = (usize, FrameStep);

/// The viewports of a file.
struct ViewportReader<'a> {
    data: &'a RenderConfigData,
    entries: Vec<ObjectEntry<'a>>,
}

/// Reads all viewports.
pub fn read(
    root: SjsonValue,
    data: &mut RenderConfigData,
    lines: &mut ConfigLines,
) -> Result<(), ConfigError> {
    let entries = block(root, "viewports")?;
    for (index, entry) in entries.iter().enumerate() {
        check_count(entry, index, (VIEWPORTS_MAX, "viewports", "VIEWPORTS_MAX"))?;
    }
    if entries.is_empty() {
        let message = "there is no viewport: viewports = { default = { extends = \"core\" } }";
        return Err((root.line(), message.to_string()));
    }
    check_names(data, lines)?;
    let reader = ViewportReader { data, entries };
    let mut viewports = Vec::new();
    for entry in &reader.entries {
        let steps = reader.steps(entry, &mut Vec::new())?;
        let (step_lines, steps) = steps.into_iter().unzip();
        viewports.push(ConfigViewport { name: entry.key.to_string(), steps });
        lines.viewports.push((entry.line(), step_lines));
    }
    data.viewports = viewports;
    Ok(())
}

/// Checks that no generator has the name of a pass of the engine.
fn check_names(data: &RenderConfigData, lines: &ConfigLines) -> Result<(), ConfigError> {
    let is_taken = |name: &str| RENDER_PASSES.iter().any(|row| pass_name(row) == name);
    match data.generators.iter().position(|generator| is_taken(&generator.name)) {
        None => Ok(()),
        Some(index) => {
            let name = &data.generators[index].name;
            let message =
                format!("'{name}' is a pass of the engine: give the generator another name");
            Err((lines.generators[index].name, message))
        }
    }
}

impl<'a> ViewportReader<'a> {
    /// Returns the steps of a viewport. `open`: the viewports that extend it.
    fn steps(
        &self,
        entry: &ObjectEntry<'a>,
        open: &mut Vec<&'a str>,
    ) -> Result<Vec<SourceStep>, ConfigError> {
        let steps = if entry.value.items().is_some() {
            let listed = names(entry.value, entry.key)?;
            listed
                .into_iter()
                .map(|(line, name)| self.step(line, name))
                .collect::<Result<_, _>>()?
        } else {
            self.extended(entry, open)?
        };
        if steps.len() > STEPS_MAX {
            let message = format!(
                "the viewport '{}' has {} steps, and {STEPS_MAX} are the most (STEPS_MAX)",
                entry.key,
                steps.len()
            );
            return Err((entry.line(), message));
        }
        Ok(steps)
    }

    fn step(&self, line: usize, name: &str) -> Result<SourceStep, ConfigError> {
        if RENDER_PASSES.iter().any(|row| pass_name(row) == name) {
            return Ok((line, FrameStep::Pass(name.to_string())));
        }
        let generators = || self.data.generators.iter().map(|generator| &generator.name[..]);
        if let Some(index) = generators().position(|known| known == name) {
            return Ok((line, FrameStep::Generator(index as u32)));
        }
        let passes = RENDER_PASSES.iter().map(|row| -> &str { pass_name(row) });
        let hint = hint(name, generators().chain(passes));
        Err((line, format!("there is no generator or pass '{name}'{hint}")))
    }

    /// Returns the steps of a viewport that extends another one.
    fn extended(
        &self,
        entry: &ObjectEntry<'a>,
        open: &mut Vec<&'a str>,
    ) -> Result<Vec<SourceStep>, ConfigError> {
        check_keys(entry, &["extends", "insert_at", "append"])?;
        let Some(base) = entry.value.get("extends") else {
            let message = format!(
                "the viewport '{}' must be a list of steps, or extend another one: {{ extends = \
                 \"core\" }}",
                entry.key
            );
            return Err((entry.line(), message));
        };
        open.push(entry.key);
        let mut steps = self.base(base, open)?;
        open.pop();
        for point in block(entry.value, "insert_at")? {
            let at = self.point(&point, &steps)?;
            let inserted = names(point.value, point.key)?;
            let inserted: Result<Vec<_>, _> =
                inserted.into_iter().map(|(line, name)| self.step(line, name)).collect();
            steps.splice(at..at, inserted?);
            // Each insertion is checked, so that a chain of viewports cannot multiply them.
            if steps.len() > STEPS_MAX {
                break;
            }
        }
        if let Some(list) = entry.value.get("append") {
            for (line, name) in names(list, "append")? {
                steps.push(self.step(line, name)?);
            }
        }
        Ok(steps)
    }

    /// Returns the steps of the viewport that another one extends.
    fn base(
        &self,
        value: SjsonValue<'a>,
        open: &mut Vec<&'a str>,
    ) -> Result<Vec<SourceStep>, ConfigError> {
        let name = text(value, "extends")?;
        if let Some(base) = built_in(&name) {
            let steps = base.viewports.into_iter().next().expect("it has one").steps;
            return Ok(steps.into_iter().map(|step| (value.line(), step)).collect());
        }
        let Some(entry) = self.entries.iter().find(|entry| entry.key == name) else {
            let own = self.entries.iter().map(|entry| entry.key);
            let engine = super::BUILT_IN_CONFIGS.iter().map(|(name, _)| *name);
            let hint = hint(&name, own.chain(engine).chain([CORE]));
            return Err((value.line(), format!("there is no viewport '{name}'{hint}")));
        };
        if open.contains(&entry.key) {
            let chain = open.join("' extends '");
            let message = format!("the viewports extend each other: '{chain}' extends '{name}'");
            return Err((value.line(), message));
        }
        self.steps(entry, open)
    }

    /// Returns the index of the step that a named point is before.
    fn point(&self, point: &ObjectEntry, steps: &[SourceStep]) -> Result<usize, ConfigError> {
        let name_of = |step: &FrameStep| match step {
            FrameStep::Pass(name) => name.clone(),
            FrameStep::Generator(index) => self.data.generators[*index as usize].name.clone(),
        };
        let names: Vec<String> = steps.iter().map(|(_, step)| name_of(step)).collect();
        let find = |name: &str| names.iter().position(|known| known == name);
        let found = match point.key.split_once(' ') {
            Some(("before", name)) => find(name),
            Some(("after", name)) => find(name).map(|index| index + 1),
            _ => None,
        };
        found.ok_or_else(|| {
            let points: Vec<String> = names
                .iter()
                .flat_map(|name| [format!("before {name}"), format!("after {name}")])
                .collect();
            let hint = hint(point.key, points.iter().map(|point| &point[..]));
            let message = format!(
                "there is no point '{}' in the viewport: use \"before\" or \"after\" with the name \
                 of a step, such as \"after tone mapping\"{hint}",
                point.key
            );
            (point.line(), message)
        })
    }
}
