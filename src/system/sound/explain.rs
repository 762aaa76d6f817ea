//! A report, as text, of the recordings that a sound would play for given parameters: the tree of
//! its choices with the chosen ones marked, and the results of its curves.

use super::bus::decibels;
use super::container_selection::SelectionValues;
use super::curve::{self, CurveTarget};
use super::data::{ContainerEdge, ParameterCurve, SoundLayer, SoundNode, SoundRules};
use super::messages::check_parameter;
use super::parameters::ValueTag;
use super::voices::ParameterValue;
use engine_foundation::hash::IdString32;
use std::fmt::Write;

/// Explains a sound. The error says which parameter does not fit.
pub fn explain(
    name: &str,
    definition: &SoundRules,
    parameters: &[(String, ParameterValue)],
) -> Result<String, String> {
    for (parameter, value) in parameters {
        check_parameter(definition, parameter, value)?;
    }
    let values = |index: u32| {
        let parameter = &definition.parameters[index as usize];
        let own_value = parameters.iter().find(|(name, _)| *name == parameter.name);
        own_value.map(|(_, value)| value.setting().bits()).or(parameter.default)
    };
    let options = &definition.options;
    let mut text = format!("{name} plays on the bus '{}'\n", options.bus);
    if !definition.parameters.is_empty() {
        text += "\nParameters:\n";
        definition.parameters.iter().for_each(|parameter| {
            let own_value = parameters.iter().find(|(name, _)| *name == parameter.name);
            let value = match (own_value, parameter.default) {
                (Some((_, value)), _) => format!("{} (given)", value_text(value)),
                (None, Some(bits)) => format!("{} (default)", default_text(parameter, bits)),
                (None, None) => "no value, and no default".to_string(),
            };
            let kind = if parameter.tag == ValueTag::Text { "text" } else { "number" };
            line(&mut text, 1, &format!("{:<16} {kind:<7} {value}", parameter.name));
        });
    }
    let mut whole = RunningTotals {
        db: options.volume_db,
        pitch: options.pitch,
        cutoff_hz: None,
        pan: options.pan,
    };
    let curves = &definition.curves[..definition.sound_curves as usize];
    if !curves.is_empty() {
        text += "\nCurves of the sound:\n";
        whole.add(&mut text, definition, curves, &values);
    }
    for (i, layer) in definition.layers.iter().enumerate() {
        let repeats = if layer.repeat.is_some() { ", repeated" } else { "" };
        writeln!(text, "\nLayer {}{repeats}:", i + 1).expect("a string can be written to");
        let writer = ExplainWriter { definition, values: &values, name };
        let chosen = writer.node(&mut text, layer.root, 1, true);
        layer_result(&mut text, definition, layer, whole, &values, chosen);
    }
    Ok(text)
}

/// Totals accumulated while a sound is explained.
#[derive(Clone, Copy)]
struct RunningTotals {
    db: f32,
    pitch: f32,
    cutoff_hz: Option<f32>,
    pan: f32,
}

impl RunningTotals {
    fn add(
        &mut self,
        text: &mut String,
        definition: &SoundRules,
        curves: &[ParameterCurve],
        values: SelectionValues,
    ) {
        for curve in curves {
            let name = &definition.parameters[curve.parameter as usize].name;
            let (target, ..) = CurveTarget::ALL[curve.target as usize];
            let Some(bits) = values(curve.parameter) else {
                line(text, 1, &format!("{target}: '{name}' has no value"));
                continue;
            };
            let x = f32::from_bits(bits);
            let y = curve::value(definition.points_of(curve), curve.easing, x);
            line(text, 1, &format!("{name} = {x} makes {target} {y:.2}"));
            match curve.target {
                CurveTarget::VolumeDb => self.db += y,
                CurveTarget::Pitch => self.pitch *= y,
                CurveTarget::CutoffHz => {
                    self.cutoff_hz = Some(self.cutoff_hz.map_or(y, |other| other.min(y)));
                }
                CurveTarget::Pan => self.pan += y,
            }
        }
    }
}

fn layer_result(
    text: &mut String,
    definition: &SoundRules,
    layer: &SoundLayer,
    whole: RunningTotals,
    values: SelectionValues,
    chosen: Vec<(String, f32, f32)>,
) {
    let mut sum = whole;
    sum.db += layer.volume_db;
    sum.pitch *= layer.pitch;
    sum.add(text, definition, definition.curves_of(layer), values);
    let Some((_, db, pitch)) = chosen.first() else {
        line(text, 1, "=> nothing: a trigger with these parameters is refused");
        return;
    };
    let names: Vec<&str> = chosen.iter().map(|(name, ..)| name.as_str()).collect();
    let (db, pitch) = (sum.db + db, sum.pitch * pitch);
    let cutoff = sum.cutoff_hz.map_or_else(|| "open".to_string(), |hertz| format!("{hertz:.0} Hz"));
    line(
        text,
        1,
        &format!(
            "=> {} at {db:.1} dB ({:.3}), pitch {pitch:.3}, low-pass {cutoff}, pan {:.2}",
            names.join(" or "),
            decibels(db),
            sum.pan
        ),
    );
}

fn line(text: &mut String, depth: usize, content: &str) {
    writeln!(text, "{:1$}{content}", "", depth * 2).expect("a string can be written to");
}

fn value_text(value: &ParameterValue) -> String {
    match value {
        ParameterValue::Number(number) => number.to_string(),
        ParameterValue::Text(text) => format!("\"{text}\""),
    }
}

fn default_text(parameter: &super::data::SoundParameter, bits: u32) -> String {
    match parameter.tag {
        ValueTag::Number => f32::from_bits(bits).to_string(),
        ValueTag::Text => format!("\"{}\"", parameter.default_name),
    }
}

struct ExplainWriter<'a> {
    definition: &'a SoundRules,
    values: SelectionValues<'a>,
    name: &'a str,
}

impl ExplainWriter<'_> {
    /// Writes a node and its children; `on` is true if a trigger reaches the node. Returns the
    /// files that the node can choose, with their volumes and pitches.
    fn node(&self, text: &mut String, at: u32, depth: usize, on: bool) -> Vec<(String, f32, f32)> {
        let mark = if on { " *" } else { "" };
        let edges =
            |first: u32, count: u32| &self.definition.edges[first as usize..][..count as usize];
        match self.definition.nodes[at as usize] {
            SoundNode::File { file, volume_db, pitch } => {
                let name = file.map_or(self.name, |file| &self.definition.files[file as usize]);
                line(text, depth, &format!("{name}{mark}"));
                let found = (name.to_string(), volume_db, pitch);
                if on { vec![found] } else { Vec::new() }
            }
            SoundNode::Random { first, count } => {
                line(
                    text,
                    depth,
                    &format!("one of {count} at random, never the same twice in a row{mark}"),
                );
                self.all(text, edges(first, count), depth, on)
            }
            SoundNode::Sequence { first, count } => {
                line(text, depth, &format!("{count} in turn{mark}"));
                self.all(text, edges(first, count), depth, on)
            }
            SoundNode::Switch { parameter, first, count, default } => {
                let name = &self.definition.parameters[parameter as usize].name;
                line(text, depth, &format!("switch on {name}{mark}"));
                let value = (self.values)(parameter);
                let mut found = Vec::new();
                let mut case_selected = false;
                for edge in edges(first, count) {
                    let this = on && value == Some(edge.case.0);
                    case_selected |= this;
                    let why = if this { " * (its value)" } else { "" };
                    line(text, depth + 1, &format!("{}{why}", edge.case_name));
                    found.extend(self.node(text, edge.node, depth + 2, this));
                }
                if let Some(node) = default {
                    let this = on && !case_selected;
                    let why = if this { " * (no case has its value)" } else { "" };
                    line(text, depth + 1, &format!("default{why}"));
                    found.extend(self.node(text, node, depth + 2, this));
                } else if on && !case_selected {
                    line(text, depth + 1, "no case has its value, and there is no default");
                }
                found
            }
        }
    }

    fn all(
        &self,
        text: &mut String,
        edges: &[ContainerEdge],
        depth: usize,
        on: bool,
    ) -> Vec<(String, f32, f32)> {
        edges.iter().flat_map(|edge| self.node(text, edge.node, depth + 1, on)).collect()
    }
}

/// Parses `force=35` or `material=wood`.
pub fn parse_parameter(
    definition: &SoundRules,
    text: &str,
) -> Result<(String, ParameterValue), String> {
    let Some((name, value)) = text.split_once('=') else {
        return Err(format!("'{text}' is not a parameter: write NAME=VALUE"));
    };
    let tag = definition.parameter(IdString32::new(name)).map(|parameter| parameter.tag);
    let value = match (tag, value.parse::<f32>()) {
        (Some(ValueTag::Number), Ok(number)) if number.is_finite() => {
            ParameterValue::Number(number)
        }
        _ => ParameterValue::Text(value.to_string()),
    };
    Ok((name.to_string(), value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile;
    use engine_foundation::sjson;

    fn explanation(text: &str, arguments: &[&str]) -> Result<String, String> {
        let sound = compile::parse("a.sound", sjson::parse(text).unwrap().root(), false).unwrap();
        let arguments: Result<Vec<_>, _> =
            arguments.iter().map(|arguments| parse_parameter(&sound, arguments)).collect();
        explain("a", &sound, &arguments?)
    }

    const IMPACT: &str = "
        parameters = { force = 10 }
        play = { switch = \"material\" cases = {
          wood = { random = [\"w1\", { file = \"w2\", volume_db = -3 }] }, metal = \"m\" } }
        curves = [{ parameter = \"force\", target = \"volume_db\", points = [[0, -40], [50, 0]] }]";

    #[test]
    fn the_table_of_choices_marks_the_selection_and_its_reason() {
        assert_eq!(
            explanation(IMPACT, &["force=35", "material=wood"]).unwrap(),
            "a plays on the bus 'effects'\n\nParameters:\n  force            number  35 (given)\n  \
             material         text    \"wood\" (given)\n\nCurves of the sound:\n  force = 35 makes \
             volume_db -12.00\n\nLayer 1:\n  switch on material *\n    wood * (its value)\n      \
             one of 2 at random, never the same twice in a row *\n        w1 *\n        w2 *\n    \
             metal\n      m\n  => w1 or w2 at -12.0 dB (0.251), pitch 1.000, low-pass open, pan \
             0.00\n"
        );
    }

    #[test]
    fn dead_ends_and_type_mismatches_are_reported() {
        let text = explanation(IMPACT, &["material=glass"]).unwrap();
        assert!(text.contains("no case has its value, and there is no default"), "{text}");
        assert!(text.contains("=> nothing: a trigger with these parameters is refused"), "{text}");
        assert_eq!(
            explanation(IMPACT, &["forse=1"]).unwrap_err(),
            "it has no parameter 'forse', did you mean 'force'? (known: force, material)"
        );
        assert_eq!(
            explanation(IMPACT, &["force=much"]).unwrap_err(),
            "the parameter 'force' is a number, which a curve reads; got the text \"much\""
        );
        assert_eq!(
            explanation(IMPACT, &["force"]).unwrap_err(),
            "'force' is not a parameter: write NAME=VALUE"
        );
    }
}
