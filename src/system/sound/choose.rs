//! Which recording a layer plays: switches, random and sequence containers. Knows no devices; what
//! containers remember is handed in.

use super::definition::{Definition, Edge, Node};
use crate::foundation::hash::IdString32;
use crate::foundation::random::Random;

/// What was chosen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Chosen {
    /// Which of the sound's files; `None` is the recording beside it.
    pub file: Option<u32>,
    pub volume_db: f32,
    pub pitch: f32,
}

/// What a container played last: nothing yet.
pub const FRESH: u32 = u32::MAX;

/// The parameters of a choice: bits by index of [`Definition::parameters`].
pub type Values<'a> = &'a dyn Fn(u32) -> Option<u32>;

/// A switch that has no case for its parameter's value: which of [`Definition::nodes`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NoCase(pub u32);

/// Chooses for the node `at`. `memory` has what each node's container played last.
pub fn choose(
    definition: &Definition,
    at: u32,
    values: Values,
    memory: &mut [u32],
    random: &mut Random,
) -> Result<Chosen, NoCase> {
    let mut at = at;
    loop {
        at = match definition.nodes[at as usize] {
            Node::File { file, volume_db, pitch } => return Ok(Chosen { file, volume_db, pitch }),
            Node::Random { first, count } => {
                let edges = edges(definition, first, count);
                let last = &mut memory[at as usize];
                *last = pick(edges, *last, random);
                edges[*last as usize].node
            }
            Node::Sequence { first, count } => {
                let last = &mut memory[at as usize];
                *last = if *last == FRESH { 0 } else { (*last + 1) % count };
                edges(definition, first, count)[*last as usize].node
            }
            Node::Switch { .. } => switched(definition, at, values)?,
        };
    }
}

fn edges(definition: &Definition, first: u32, count: u32) -> &[Edge] {
    &definition.edges[first as usize..][..count as usize]
}

/// One by chance and weight, but not `last` where there is another.
fn pick(edges: &[Edge], last: u32, random: &mut Random) -> u32 {
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

/// Where a switch leads.
fn switched(definition: &Definition, at: u32, values: Values) -> Result<u32, NoCase> {
    let Node::Switch { parameter, first, count, default } = definition.nodes[at as usize] else {
        unreachable!("asked of switches only")
    };
    let value = values(parameter);
    let edges = edges(definition, first, count);
    let found = edges.iter().find(|edge| Some(edge.case.0) == value);
    found.map(|edge| edge.node).or(default).ok_or(NoCase(at))
}

/// Where the value of a switch's parameter comes from.
pub enum Given<'a> {
    Nothing,
    /// The voice's own.
    Text(&'a str),
    /// The default of the parameter in the sound's file.
    Default(&'a str),
    /// A bus or the game: the words say which.
    Elsewhere(String),
}

/// A switch on a parameter, where none of those that read it takes this value.
pub fn untaken(definition: &Definition, key: IdString32, value: IdString32) -> Option<NoCase> {
    let mut first = None;
    for (i, node) in definition.nodes.iter().enumerate() {
        let Node::Switch { parameter, first: at, count, default } = *node else { continue };
        if definition.parameters[parameter as usize].key != key {
            continue;
        }
        if default.is_some() || edges(definition, at, count).iter().any(|edge| edge.case == value) {
            return None;
        }
        first = first.or(Some(NoCase(i as u32)));
    }
    first
}

/// The words for a switch without a case.
pub fn no_case_words(definition: &Definition, no_case: NoCase, value: Given) -> String {
    let Node::Switch { parameter, first, count, .. } = definition.nodes[no_case.0 as usize] else {
        unreachable!("only switches lack a case")
    };
    let name = parameter_words(definition, parameter);
    let edges = edges(definition, first, count);
    let cases: Vec<String> = edges.iter().map(case_words).collect();
    let cases = cases.join(", ");
    match value {
        Given::Nothing => {
            format!("the switch on {name} needs a value, and has no default (values: {cases})")
        }
        Given::Elsewhere(place) => format!(
            "the switch on {name} has no case for the value {place}, and no default (values: \
             {cases})"
        ),
        Given::Default(value) => format!(
            "the switch on {name} has no value '{value}', which is the parameter's default, and \
             no default of its own (values: {cases})"
        ),
        Given::Text(value) => {
            let names = edges.iter().map(|edge| edge.case_name.as_str());
            let hint = crate::foundation::suggest::hint(value, names);
            format!(
                "the switch on {name} has no value '{value}', and no default (values: \
                 {cases}){hint}"
            )
        }
    }
}

/// The parameter that a switch reads.
pub fn parameter_of(definition: &Definition, no_case: NoCase) -> u32 {
    match definition.nodes[no_case.0 as usize] {
        Node::Switch { parameter, .. } => parameter,
        _ => unreachable!("only switches lack a case"),
    }
}

/// The words for a parameter: its name, or its hash where names were left out.
pub fn parameter_words(definition: &Definition, index: u32) -> String {
    let parameter = &definition.parameters[index as usize];
    match parameter.name.as_str() {
        "" => format!("#{}", parameter.key),
        name => format!("'{name}'"),
    }
}

fn case_words(edge: &Edge) -> String {
    match edge.case_name.as_str() {
        "" => format!("#{}", edge.case),
        name => name.to_string(),
    }
}

/// Whether the switches lead to a file from `at`, with these values; containers may choose any of
/// theirs.
pub fn leads_to(definition: &Definition, at: u32, values: Values, file: Option<u32>) -> bool {
    match definition.nodes[at as usize] {
        Node::File { file: own, .. } => own == file,
        Node::Random { first, count } | Node::Sequence { first, count } => {
            edges(definition, first, count)
                .iter()
                .any(|edge| leads_to(definition, edge.node, values, file))
        }
        // Where a switch leads nowhere, what plays goes on.
        Node::Switch { .. } => switched(definition, at, values)
            .map_or(true, |node| leads_to(definition, node, values, file)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::foundation::sjson;
    use crate::system::sound::source;

    fn sound(text: &str) -> Definition {
        source::parse("a.sound", sjson::parse(text).unwrap().root(), false).unwrap()
    }

    fn play(definition: &Definition, value: Option<&str>, times: usize) -> Vec<String> {
        let bits = value.map(|value| IdString32::new(value).0);
        let mut memory = vec![FRESH; definition.nodes.len()];
        let mut random = Random::seed(7);
        let root = definition.layers[0].root;
        let one = |_| match choose(definition, root, &|_| bits, &mut memory, &mut random) {
            Ok(chosen) => definition.files[chosen.file.unwrap() as usize].clone(),
            Err(no_case) => {
                no_case_words(definition, no_case, value.map_or(Given::Nothing, Given::Text))
            }
        };
        (0..times).map(one).collect()
    }

    #[test]
    fn a_sequence_goes_round() {
        let sound = sound("play = { sequence = [\"a\", \"b\", \"c\"] }");
        assert_eq!(play(&sound, None, 5), ["a", "b", "c", "a", "b"]);
    }

    #[test]
    fn chance_never_repeats_itself_and_leaves_nothing_out() {
        let sound = sound("play = { random = [\"a\", { file = \"b\", weight = 5 }, \"c\"] }");
        let played = play(&sound, None, 300);
        assert!(played.windows(2).all(|pair| pair[0] != pair[1]));
        let count = |name: &str| played.iter().filter(|played| *played == name).count();
        assert!(count("a") > 20 && count("c") > 20 && count("b") > count("a"));
        let alone = self::sound("play = { random = [\"a\"] }");
        assert_eq!(play(&alone, None, 2), ["a", "a"]);
    }

    #[test]
    fn a_switch_follows_its_parameter_and_says_what_it_lacks() {
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
    fn what_a_switch_leads_to_can_be_asked() {
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
