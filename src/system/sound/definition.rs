//! What a sound is: the rules of a `.sound`, as a few arrays, and their compiled form. Reading
//! checks every index, so that damaged data is an error here and nowhere later. Knows no text
//! format (source.rs) and plays nothing.

use super::curve::{Easing, POINTS_MAX, Target};
use super::parameters::Tag;
use super::ranges::{self, OPTIONS, damaged};
use crate::foundation::Error;
use crate::foundation::blob::{Reader, Writer};
use crate::foundation::hash::IdString32;

/// The most layers of one sound, which play at once.
pub const LAYERS_MAX: usize = 8;
/// The most curves of a sound, those of its layers included: each is evaluated for every voice.
pub const CURVES_MAX: usize = 256;
/// The most parameters that one sound can name.
pub const SOUND_PARAMETERS_MAX: usize = 64;
/// The most files, containers and switches of one sound together.
pub const NODES_MAX: usize = 4096;
/// How deep containers stand in each other at most.
pub const DEPTH_MAX: usize = 16;

/// What ends, or does not start, when a sound has as many voices as it may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Policy {
    /// The one that was triggered first ends.
    Oldest,
    /// The one that can be heard least ends.
    Quietest,
    /// The new one does not start.
    Refuse,
}

impl Policy {
    /// Every policy, with the word for it.
    pub const ALL: [(&'static str, Policy); 3] =
        [("oldest", Policy::Oldest), ("quietest", Policy::Quietest), ("refuse", Policy::Refuse)];
}

/// How loudness falls with distance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Rolloff {
    /// Halves with each doubling of the distance, and fades to nothing at the far end.
    Inverse,
    /// In a straight line to nothing.
    Linear,
    /// The same everywhere.
    None,
}

impl Rolloff {
    /// Every form, with the word for it.
    pub const ALL: [(&'static str, Rolloff); 3] =
        [("inverse", Rolloff::Inverse), ("linear", Rolloff::Linear), ("none", Rolloff::None)];
}

/// Whether a recording is decoded while it plays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Streaming {
    /// Where it is longer than [`super::wave::STREAM_SECONDS_MIN`].
    Auto,
    Always,
    Never,
}

/// What holds for a sound as a whole.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// The bus that it plays on.
    pub bus: String,
    pub volume_db: f32,
    /// A factor of speed and pitch.
    pub pitch: f32,
    pub pan: f32,
    /// Up to so much is added to or taken from the volume at each trigger.
    pub volume_random_db: f32,
    /// The same of the pitch, as a part of it.
    pub pitch_random: f32,
    /// 0 to 100: where voices are short, the higher goes first.
    pub priority: f32,
    /// How many voices of this sound there may be; 0: as many as there are.
    pub voices: u32,
    pub policy: Policy,
    pub fade_in_seconds: f32,
    pub fade_out_seconds: f32,
    /// Up to here it is as loud as can be.
    pub distance_min: f32,
    /// From here on it cannot be heard.
    pub distance_max: f32,
    pub rolloff: Rolloff,
    /// 1: as in air; 0: none.
    pub doppler: f32,
    /// What full occlusion takes away, and where its low-pass filter stands.
    pub occlusion_db: f32,
    pub occlusion_hz: f32,
    pub streaming: Streaming,
}

impl Options {
    pub const BUS: &'static str = "effects";

    /// What holds where nothing is said.
    pub fn new() -> Options {
        Options {
            bus: Options::BUS.to_string(),
            volume_db: 0.0,
            pitch: 1.0,
            pan: 0.0,
            volume_random_db: 0.0,
            pitch_random: 0.0,
            priority: 50.0,
            voices: 0,
            policy: Policy::Oldest,
            fade_in_seconds: 0.0,
            fade_out_seconds: 0.0,
            distance_min: 1.0,
            distance_max: 100.0,
            rolloff: Rolloff::Inverse,
            doppler: 1.0,
            occlusion_db: -15.0,
            occlusion_hz: 900.0,
            streaming: Streaming::Auto,
        }
    }
}

impl Default for Options {
    fn default() -> Options {
        Options::new()
    }
}

/// A parameter that the sound reads.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    pub key: IdString32,
    /// Empty in a release.
    pub name: String,
    pub tag: Tag,
    /// The bits that hold where nobody has set it.
    pub default: Option<u32>,
    /// Of a text: the word that the default is the hash of. Empty in a release.
    pub default_name: String,
}

/// A curve from a parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Curve {
    /// Which of [`Definition::parameters`].
    pub parameter: u32,
    pub target: Target,
    pub easing: Easing,
    /// Of [`Definition::points`].
    pub first: u32,
    pub count: u32,
}

/// Where a recording is repeated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Loop {
    /// What lies before is played once.
    pub start_seconds: f32,
    /// 0: the end of the recording.
    pub end_seconds: f32,
}

/// One of the recordings that play at once.
#[derive(Clone, Debug, PartialEq)]
pub struct Layer {
    /// Which of [`Definition::nodes`].
    pub root: u32,
    pub volume_db: f32,
    pub pitch: f32,
    pub delay_seconds: f32,
    pub repeat: Option<Loop>,
    /// Of [`Definition::curves`].
    pub first_curve: u32,
    pub curves: u32,
}

/// What leads to a file.
#[derive(Clone, Debug, PartialEq)]
pub enum Node {
    /// Which of [`Definition::files`]; `None` is the recording beside the rules.
    File { file: Option<u32>, volume_db: f32, pitch: f32 },
    /// One of its edges by chance, not the one of the last time.
    Random { first: u32, count: u32 },
    /// One edge after the other.
    Sequence { first: u32, count: u32 },
    /// The edge whose case is the parameter's value.
    Switch { parameter: u32, first: u32, count: u32, default: Option<u32> },
}

/// From a container or switch to what is in it.
#[derive(Clone, Debug, PartialEq)]
pub struct Edge {
    pub node: u32,
    /// Of a random container.
    pub weight: f32,
    /// Of a switch.
    pub case: IdString32,
    /// Empty in a release.
    pub case_name: String,
}

/// A sound.
#[derive(Clone, Debug, PartialEq)]
pub struct Definition {
    pub options: Options,
    pub parameters: Vec<Parameter>,
    /// How many of the curves, the first ones, hold for all layers.
    pub sound_curves: u32,
    pub curves: Vec<Curve>,
    pub points: Vec<(f32, f32)>,
    pub layers: Vec<Layer>,
    pub nodes: Vec<Node>,
    pub edges: Vec<Edge>,
    /// Names of the sounds whose recordings are played.
    pub files: Vec<String>,
}

impl Definition {
    /// Plays the recording beside it, once.
    pub fn of_recording() -> Definition {
        Definition {
            options: Options::new(),
            parameters: Vec::new(),
            sound_curves: 0,
            curves: Vec::new(),
            points: Vec::new(),
            layers: vec![Layer {
                root: 0,
                volume_db: 0.0,
                pitch: 1.0,
                delay_seconds: 0.0,
                repeat: None,
                first_curve: 0,
                curves: 0,
            }],
            nodes: vec![Node::File { file: None, volume_db: 0.0, pitch: 1.0 }],
            edges: Vec::new(),
            files: Vec::new(),
        }
    }

    /// The parameter of a key.
    pub fn parameter(&self, key: IdString32) -> Option<&Parameter> {
        self.parameters.iter().find(|parameter| parameter.key == key)
    }

    /// The points of a curve.
    #[inline]
    pub fn points_of(&self, curve: &Curve) -> &[(f32, f32)] {
        &self.points[curve.first as usize..][..curve.count as usize]
    }

    /// The curves of one layer.
    #[inline]
    pub fn curves_of(&self, layer: &Layer) -> &[Curve] {
        &self.curves[layer.first_curve as usize..][..layer.curves as usize]
    }

    /// Whether any layer plays without an end.
    pub fn repeats(&self) -> bool {
        self.layers.iter().any(|layer| layer.repeat.is_some())
    }

    /// Adds the compiled form; `release` leaves names out.
    pub fn write(&self, writer: &mut Writer, release: bool) {
        let word = |text: &str| if release { String::new() } else { text.to_string() };
        write_options(writer, &self.options);
        writer.list(&self.parameters, |writer, parameter| {
            writer.u32(parameter.key.0);
            writer.text(&word(&parameter.name));
            writer.u8(u8::from(parameter.tag == Tag::Text));
            writer.u8(u8::from(parameter.default.is_some()));
            writer.u32(parameter.default.map_or(0, |bits| bits));
            writer.text(&word(&parameter.default_name));
        });
        writer.u32(self.sound_curves);
        writer.list(&self.curves, |writer, curve| {
            writer.u32(curve.parameter);
            writer.u8(curve.target as u8);
            writer.u8(curve.easing as u8);
            writer.u32(curve.first);
            writer.u32(curve.count);
        });
        writer.list(&self.points, |writer, point| {
            float(writer, point.0);
            float(writer, point.1);
        });
        writer.list(&self.layers, |writer, layer| {
            writer.u32(layer.root);
            for value in [layer.volume_db, layer.pitch, layer.delay_seconds] {
                float(writer, value);
            }
            writer.u8(u8::from(layer.repeat.is_some()));
            let repeat = layer.repeat.unwrap_or(Loop { start_seconds: 0.0, end_seconds: 0.0 });
            float(writer, repeat.start_seconds);
            float(writer, repeat.end_seconds);
            writer.u32(layer.first_curve);
            writer.u32(layer.curves);
        });
        writer.list(&self.nodes, write_node);
        writer.list(&self.edges, |writer, edge| {
            writer.u32(edge.node);
            float(writer, edge.weight);
            writer.u32(edge.case.0);
            writer.text(&word(&edge.case_name));
        });
        writer.list(&self.files, |writer, file| writer.text(file));
    }

    /// Reads the compiled form.
    ///
    /// # Errors
    /// It is damaged, or is nothing that a text could have become (ranges.rs).
    pub fn read(reader: &mut Reader) -> Result<Definition, Error> {
        let definition = Definition {
            options: read_options(reader)?,
            parameters: reader
                .list_at_most((SOUND_PARAMETERS_MAX, "SOUND_PARAMETERS_MAX"), read_parameter)?,
            sound_curves: reader.u32()?,
            curves: reader.list_at_most((CURVES_MAX, "CURVES_MAX"), |reader| {
                Ok(Curve {
                    parameter: reader.u32()?,
                    target: Target::from_number(reader.u8()?).ok_or_else(damaged)?,
                    easing: Easing::from_number(reader.u8()?).ok_or_else(damaged)?,
                    first: reader.u32()?,
                    count: reader.u32()?,
                })
            })?,
            points: reader.list_at_most((CURVES_MAX * POINTS_MAX, "POINTS_MAX"), |reader| {
                Ok((reader.finite()?, reader.finite()?))
            })?,
            layers: reader.list_at_most((LAYERS_MAX, "LAYERS_MAX"), read_layer)?,
            nodes: reader.list_at_most((NODES_MAX, "NODES_MAX"), read_node)?,
            // Every node has one parent.
            edges: reader.list_at_most((NODES_MAX, "NODES_MAX"), |reader| {
                Ok(Edge {
                    node: reader.u32()?,
                    weight: reader.finite()?,
                    case: IdString32(reader.u32()?),
                    case_name: reader.text()?.to_string(),
                })
            })?,
            files: reader.list_at_most((NODES_MAX, "NODES_MAX"), |reader| {
                reader.text().map(str::to_string)
            })?,
        };
        ranges::check(&definition)?;
        Ok(definition)
    }
}

fn float(writer: &mut Writer, value: f32) {
    writer.u32(value.to_bits());
}

fn write_options(writer: &mut Writer, options: &Options) {
    writer.text(&options.bus);
    let mut numbers = options.clone();
    OPTIONS.iter().for_each(|(_, _, place)| float(writer, *place(&mut numbers)));
    writer.u32(options.voices);
    writer.u8(options.policy as u8);
    writer.u8(options.rolloff as u8);
    writer.u8(options.streaming as u8);
}

fn read_options(reader: &mut Reader) -> Result<Options, Error> {
    let mut options = Options { bus: reader.text()?.to_string(), ..Options::new() };
    for (_, _, place) in OPTIONS {
        *place(&mut options) = reader.finite()?;
    }
    options.voices = reader.u32()?;
    let (policy, rolloff, streaming) = (reader.u8()?, reader.u8()?, reader.u8()?);
    options.policy = Policy::ALL.get(usize::from(policy)).ok_or_else(damaged)?.1;
    options.rolloff = Rolloff::ALL.get(usize::from(rolloff)).ok_or_else(damaged)?.1;
    options.streaming = match streaming {
        0 => Streaming::Auto,
        1 => Streaming::Always,
        2 => Streaming::Never,
        _ => return Err(damaged()),
    };
    Ok(options)
}

fn read_parameter(reader: &mut Reader) -> Result<Parameter, Error> {
    let (key, name) = (IdString32(reader.u32()?), reader.text()?.to_string());
    let tag = if reader.flag()? { Tag::Text } else { Tag::Number };
    let (has_default, bits) = (reader.flag()?, reader.u32()?);
    let default_name = reader.text()?.to_string();
    Ok(Parameter { key, name, tag, default: has_default.then_some(bits), default_name })
}

fn read_layer(reader: &mut Reader) -> Result<Layer, Error> {
    let root = reader.u32()?;
    let (volume_db, pitch) = (reader.finite()?, reader.finite()?);
    let delay_seconds = reader.finite()?;
    let repeats = reader.flag()?;
    let repeat = Loop { start_seconds: reader.finite()?, end_seconds: reader.finite()? };
    let (first_curve, curves) = (reader.u32()?, reader.u32()?);
    let repeat = repeats.then_some(repeat);
    Ok(Layer { root, volume_db, pitch, delay_seconds, repeat, first_curve, curves })
}

fn write_node(writer: &mut Writer, node: &Node) {
    const NOTHING: u32 = u32::MAX;
    let (kind, words) = match *node {
        Node::File { file, volume_db, pitch } => {
            (0, [file.unwrap_or(NOTHING), volume_db.to_bits(), pitch.to_bits(), 0])
        }
        Node::Random { first, count } => (1, [first, count, 0, 0]),
        Node::Sequence { first, count } => (2, [first, count, 0, 0]),
        Node::Switch { parameter, first, count, default } => {
            (3, [first, count, parameter, default.unwrap_or(NOTHING)])
        }
    };
    writer.u8(kind);
    words.into_iter().for_each(|word| writer.u32(word));
}

fn read_node(reader: &mut Reader) -> Result<Node, Error> {
    let kind = reader.u8()?;
    let [a, b, c, d] = [reader.u32()?, reader.u32()?, reader.u32()?, reader.u32()?];
    let index = |word: u32| (word != u32::MAX).then_some(word);
    Ok(match kind {
        0 => {
            let (volume_db, pitch) = (f32::from_bits(b), f32::from_bits(c));
            if !volume_db.is_finite() || !pitch.is_finite() {
                return Err(damaged());
            }
            Node::File { file: index(a), volume_db, pitch }
        }
        1 => Node::Random { first: a, count: b },
        2 => Node::Sequence { first: a, count: b },
        3 => Node::Switch { first: a, count: b, parameter: c, default: index(d) },
        _ => return Err(damaged()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rules with one of everything.
    fn sample() -> Definition {
        let case = |node, name: &str| Edge {
            node,
            weight: 1.0,
            case: IdString32::new(name),
            case_name: name.to_string(),
        };
        let mut definition = Definition::of_recording();
        let force = Parameter {
            key: IdString32::new("force"),
            name: "force".to_string(),
            tag: Tag::Number,
            default: None,
            default_name: String::new(),
        };
        let material = Parameter {
            key: IdString32::new("material"),
            name: "material".to_string(),
            tag: Tag::Text,
            default: Some(IdString32::new("wood").0),
            default_name: "wood".to_string(),
        };
        definition.parameters = vec![material, force];
        definition.nodes = vec![
            Node::File { file: Some(0), volume_db: -3.0, pitch: 1.5 },
            Node::Random { first: 0, count: 1 },
            Node::File { file: None, volume_db: 0.0, pitch: 1.0 },
            Node::Switch { parameter: 0, first: 1, count: 1, default: Some(2) },
        ];
        definition.edges = vec![case(0, ""), case(1, "wood")];
        definition.files = vec!["sounds/wood".to_string()];
        definition.layers[0].root = 3;
        definition.layers[0].repeat = Some(Loop { start_seconds: 1.0, end_seconds: 0.0 });
        definition.points = vec![(0.0, -6.0), (1.0, 0.0)];
        definition.curves = vec![Curve {
            parameter: 1,
            target: Target::VolumeDb,
            easing: Easing::Smooth,
            first: 0,
            count: 2,
        }];
        definition.sound_curves = 1;
        definition
    }

    fn bytes(definition: &Definition, release: bool) -> Vec<u8> {
        let mut writer = Writer::default();
        definition.write(&mut writer, release);
        writer.finish()
    }

    #[test]
    fn what_is_written_is_read_again_and_a_release_has_no_names() {
        let definition = sample();
        let written = bytes(&definition, false);
        assert_eq!(Definition::read(&mut Reader::new(&written)).unwrap(), definition);
        let released = bytes(&definition, true);
        let read = Definition::read(&mut Reader::new(&released)).unwrap();
        assert_eq!((read.parameters[0].name.as_str(), read.edges[1].case_name.as_str()), ("", ""));
        assert_eq!(read.parameters[0].key, definition.parameters[0].key);
    }

    #[test]
    fn every_cut_is_found_and_no_flipped_bit_leads_out_of_the_arrays() {
        let written = bytes(&sample(), false);
        for length in 0..written.len() {
            assert!(Definition::read(&mut Reader::new(&written[..length])).is_err(), "{length}");
        }
        for bit in 0..written.len() * 8 {
            let mut damaged = written.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            // Another sound, or an error: `ranges::check` has looked at whatever is read.
            if let Ok(read) = Definition::read(&mut Reader::new(&damaged)) {
                ranges::check(&read).unwrap();
            }
        }
    }

    #[track_caller]
    fn check_refused(change: impl FnOnce(&mut Definition), wanted: &str) {
        let mut definition = sample();
        change(&mut definition);
        let written = bytes(&definition, false);
        let error = Definition::read(&mut Reader::new(&written)).unwrap_err();
        assert_eq!(error.message, format!("it is damaged: {wanted}"));
    }

    #[test]
    fn nodes_are_trees_that_end_somewhere() {
        let nowhere = "a part of the sound leads nowhere";
        check_refused(|sound| sound.edges[0].node = 1, nowhere);
        // Two ways to one node, twice as many ways with each container around them.
        let two_ways = |count: u32| {
            move |sound: &mut Definition| {
                for node in 3..3 + count {
                    let first = sound.edges.len() as u32;
                    let edge = Edge { node, ..sound.edges[0].clone() };
                    sound.edges.extend([edge.clone(), edge]);
                    sound.nodes.push(Node::Random { first, count: 2 });
                }
                sound.layers[0].root = 3 + count;
            }
        };
        check_refused(two_ways(1), nowhere);
        check_refused(two_ways(1000), nowhere);
        let deep = |sound: &mut Definition| {
            for node in 3..3 + DEPTH_MAX as u32 {
                let first = sound.edges.len() as u32;
                sound.edges.push(Edge { node, ..sound.edges[0].clone() });
                sound.nodes.push(Node::Sequence { first, count: 1 });
            }
            sound.layers[0].root = 3 + DEPTH_MAX as u32;
        };
        check_refused(deep, nowhere);
        check_refused(|sound| sound.layers.push(sound.layers[0].clone()), nowhere);
        let many = |sound: &mut Definition| sound.edges = vec![sound.edges[0].clone(); 4097];
        check_refused(many, "it lists 4097 items, and 4096 are the most (NODES_MAX)");
    }

    #[test]
    fn numbers_that_no_text_has_are_refused_by_their_keys() {
        let check = |change: fn(&mut Definition), wanted: &str| check_refused(change, wanted);
        check(|sound| sound.options.pitch = 0.0, "'pitch' must be 0.01 to 16, got 0");
        check(|sound| sound.options.voices = 1 << 31, "'voices' must be 1 to 1024, got 2147483600");
        check(
            |sound| sound.options.distance_max = sound.options.distance_min,
            "'max' of its distance must be greater than 'min'",
        );
        check(|sound| sound.edges[0].weight = -1.0, "'weight' must be 0.001 to 1000, got -1");
        check(|sound| sound.points[1].1 = 25.0, "'volume_db' must be -100 to 24, got 25");
        let nowhere = "a part of the sound leads nowhere";
        check(|sound| sound.points.swap(0, 1), nowhere);
        // A switch reads texts, and a curve numbers.
        check(|sound| sound.curves[0].parameter = 0, nowhere);
        check(|sound| sound.parameters[1].default = Some(f32::NAN.to_bits()), nowhere);
        check(
            |sound| sound.layers[0].repeat.as_mut().unwrap().end_seconds = 0.5,
            "'loop' must end after its start",
        );
        for (key, (least, most), place) in OPTIONS {
            for wrong in [least - 0.1, most * 1.1 + 0.1] {
                let mut definition = sample();
                *place(&mut definition.options) = wrong;
                let written = bytes(&definition, false);
                assert!(Definition::read(&mut Reader::new(&written)).is_err(), "{key} {wrong}");
            }
        }
    }
}
