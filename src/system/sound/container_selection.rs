//! Container selection: the choice of the recording that a layer plays, through switches, random
//! and sequence containers. Knows no devices; the caller passes in the state of the containers.

use super::data::{ContainerEdge, SoundNode, SoundRules};
use engine_foundation::hash::IdString32;
use engine_foundation::random::Random;

/// The selected recording of a layer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SelectedClips {
    /// Index into the sound's files; `None` is the recording next to the rules.
    pub file: Option<u32>,
    pub volume_db: f32,
    pub pitch: f32,
}

/// Initial state of a container: it has played nothing yet.
pub const FRESH: u32 = u32::MAX;

/// The parameter values for a selection: bits by index of [`SoundRules::parameters`].
pub type SelectionValues<'a> = &'a dyn Fn(u32) -> Option<u32>;

/// A switch without a case for its parameter's value: index into [`SoundRules::nodes`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MissingCase(pub u32);

/// Selects a recording for the node `at`. `memory` holds the last choice of each node's container.
pub fn choose(
    definition: &SoundRules,
    at: u32,
    values: SelectionValues,
    memory: &mut [u32],
    random: &mut Random,
) -> Result<SelectedClips, MissingCase> {
    let mut at = at;
    loop {
        at = match definition.nodes[at as usize] {
            SoundNode::File { file, volume_db, pitch } => {
                return Ok(SelectedClips { file, volume_db, pitch });
            }
            SoundNode::Random { first, count } => {
                let edges = edges(definition, first, count);
                let last = &mut memory[at as usize];
                *last = pick_edge(edges, *last, random);
                edges[*last as usize].node
            }
            SoundNode::Sequence { first, count } => {
                let last = &mut memory[at as usize];
                *last = if *last == FRESH { 0 } else { (*last + 1) % count };
                edges(definition, first, count)[*last as usize].node
            }
            SoundNode::Switch { .. } => resolve_switch(definition, at, values)?,
        };
    }
}

fn edges(definition: &SoundRules, first: u32, count: u32) -> &[ContainerEdge] {
    &definition.edges[first as usize..][..count as usize]
}

/// Picks an edge at random by weight, but not `last` if there is another.
fn pick_edge(edges: &[ContainerEdge], last: u32, random: &mut Random) -> u32 {
    let open = |i: usize| edges.len() == 1 || i as u32 != last;
    let sum: f32 = (0..edges.len()).filter(|i| open(*i)).map(|i| edges[i].weight).sum();
    let mut left = random.next_f64() as f32 * sum;
    let mut chosen = 0;
    for i in (0..edges.len()).filter(|i| open(*i)) {
        chosen = i;
        left -= edges[i].weight;
        if left < 0.0 {
            break;
        }
    }
    chosen as u32
}

/// Returns the node that a switch leads to.
fn resolve_switch(
    definition: &SoundRules,
    at: u32,
    values: SelectionValues,
) -> Result<u32, MissingCase> {
    let SoundNode::Switch { parameter, first, count, default } = definition.nodes[at as usize]
    else {
        unreachable!("asked of switches only")
    };
    let value = values(parameter);
    let edges = edges(definition, first, count);
    let found = edges.iter().find(|edge| Some(edge.case.0) == value);
    found.map(|edge| edge.node).or(default).ok_or(MissingCase(at))
}

/// Source of the value of a switch's parameter.
pub enum ValueSource<'a> {
    Nothing,
    /// The voice itself.
    Text(&'a str),
    /// The default of the parameter in the sound's file.
    Default(&'a str),
    /// A bus or the game; the text says which.
    Elsewhere(String),
}

/// Returns the first switch on a parameter if none of the switches on it has a case for this value.
pub fn find_missing_case(
    definition: &SoundRules,
    key: IdString32,
    value: IdString32,
) -> Option<MissingCase> {
    let mut first = None;
    for (i, node) in definition.nodes.iter().enumerate() {
        let SoundNode::Switch { parameter, first: at, count, default } = *node else { continue };
        if definition.parameters[parameter as usize].key != key {
            continue;
        }
        if default.is_some() || edges(definition, at, count).iter().any(|edge| edge.case == value) {
            return None;
        }
        first = first.or(Some(MissingCase(i as u32)));
    }
    first
}

/// Returns the error message for a switch without a case.
pub fn no_case_message(
    definition: &SoundRules,
    no_case: MissingCase,
    value: ValueSource,
) -> String {
    let SoundNode::Switch { parameter, first, count, .. } = definition.nodes[no_case.0 as usize]
    else {
        unreachable!("only switches lack a case")
    };
    let name = parameter_text(definition, parameter);
    let edges = edges(definition, first, count);
    let cases: Vec<String> = edges.iter().map(case_text).collect();
    let cases = cases.join(", ");
    match value {
        ValueSource::Nothing => {
            format!("the switch on {name} needs a value, and has no default (values: {cases})")
        }
        ValueSource::Elsewhere(origin) => format!(
            "the switch on {name} has no case for the value {origin}, and no default (values: \
             {cases})"
        ),
        ValueSource::Default(value) => format!(
            "the switch on {name} has no value '{value}', which is the parameter's default, and \
             the switch has no default (values: {cases})"
        ),
        ValueSource::Text(value) => {
            let names = edges.iter().map(|edge| edge.case_name.as_str());
            let hint = engine_foundation::suggest::hint(value, names);
            format!(
                "the switch on {name} has no value '{value}', and no default (values: \
                 {cases}){hint}"
            )
        }
    }
}

/// Returns the parameter that a switch reads.
pub fn parameter_of(definition: &SoundRules, no_case: MissingCase) -> u32 {
    match definition.nodes[no_case.0 as usize] {
        SoundNode::Switch { parameter, .. } => parameter,
        _ => unreachable!("only switches lack a case"),
    }
}

/// Returns the name of a parameter for messages, or its hash if names were stripped.
pub fn parameter_text(definition: &SoundRules, index: u32) -> String {
    let parameter = &definition.parameters[index as usize];
    match parameter.name.as_str() {
        "" => format!("#{}", parameter.key),
        name => format!("'{name}'"),
    }
}

fn case_text(edge: &ContainerEdge) -> String {
    match edge.case_name.as_str() {
        "" => format!("#{}", edge.case),
        name => name.to_string(),
    }
}

/// Returns true if the switches can lead from `at` to a file with these values. Containers may
/// choose any of their edges.
pub fn leads_to(
    definition: &SoundRules,
    at: u32,
    values: SelectionValues,
    file: Option<u32>,
) -> bool {
    match definition.nodes[at as usize] {
        SoundNode::File { file: own, .. } => own == file,
        SoundNode::Random { first, count } | SoundNode::Sequence { first, count } => {
            edges(definition, first, count)
                .iter()
                .any(|edge| leads_to(definition, edge.node, values, file))
        }
        // If a switch leads nowhere, the current recording continues.
        SoundNode::Switch { .. } => resolve_switch(definition, at, values)
            .map_or(true, |node| leads_to(definition, node, values, file)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile;
    use engine_foundation::sjson;

    fn sound(text: &str) -> SoundRules {
        compile::parse("a.sound", sjson::parse(text).unwrap().root(), false).unwrap()
    }

    fn play(definition: &SoundRules, value: Option<&str>, times: usize) -> Vec<String> {
        let bits = value.map(|value| IdString32::new(value).0);
        let mut memory = vec![FRESH; definition.nodes.len()];
        let mut random = Random::seed(7);
        let root = definition.layers[0].root;
        let one = |_| match choose(definition, root, &|_| bits, &mut memory, &mut random) {
            Ok(chosen) => definition.files[chosen.file.unwrap() as usize].clone(),
            Err(no_case) => no_case_message(
                definition,
                no_case,
                value.map_or(ValueSource::Nothing, ValueSource::Text),
            ),
        };
        (0..times).map(one).collect()
    }

    #[test]
    fn a_sequence_wraps_around() {
        let sound = sound("play = { sequence = [\"a\", \"b\", \"c\"] }");
        assert_eq!(play(&sound, None, 5), ["a", "b", "c", "a", "b"]);
    }

    #[test]
    fn random_selection_never_repeats_and_covers_all_children() {
        let sound = sound("play = { random = [\"a\", { file = \"b\", weight = 5 }, \"c\"] }");
        let played = play(&sound, None, 300);
        assert!(played.windows(2).all(|pair| pair[0] != pair[1]));
        let count = |name: &str| played.iter().filter(|played| *played == name).count();
        assert!(count("a") > 20 && count("c") > 20 && count("b") > count("a"));
        let single = self::sound("play = { random = [\"a\"] }");
        assert_eq!(play(&single, None, 2), ["a", "a"]);
    }

    #[test]
    fn a_switch_follows_its_parameter_and_reports_missing_cases() {
        let text = "play = { switch = \"material\" cases = { wood = \"w\", metal = \"m\" }";
        let strict = sound(&format!("{text} }}"));
        assert_eq!(play(&strict, Some("metal"), 1), ["m"]);
        assert_eq!(
            play(&strict, None, 1),
            ["the switch on 'material' needs a value, and has no default (values: wood, metal)"]
        );
        assert_eq!(
            play(&strict, Some("wod"), 1),
            ["the switch on 'material' has no value 'wod', and no default (values: wood, metal), \
              did you mean 'wood'?"]
        );
        let lenient = sound(&format!("{text} default = \"d\" }}"));
        assert_eq!(play(&lenient, Some("glass"), 1), ["d"]);
    }

    #[test]
    fn the_result_of_a_switch_can_be_queried() {
        let sound = sound(
            "play = { switch = \"m\" cases = { a = { random = [\"x\", \"y\"] }, b = \"z\" } }",
        );
        let leads = |value: &str, file| {
            let bits = IdString32::new(value).0;
            leads_to(&sound, sound.layers[0].root, &|_| Some(bits), Some(file))
        };
        assert_eq!([leads("a", 0), leads("a", 1), leads("a", 2)], [true, true, false]);
        assert_eq!([leads("b", 2), leads("b", 0), leads("?", 0)], [true, false, true]);
    }
}
