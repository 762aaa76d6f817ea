//! The rules of a sound: the content of a `.sound`, as a few arrays, and its compiled form. Reading
//! checks every index, so that damaged data is an error here and never later. Knows no text format
//! (compile.rs) and plays nothing.

mod blob_format;

use super::curve::{CurveTarget, Easing, POINTS_MAX};
use super::limits::{self, damaged};
use super::parameters::ValueTag;
use blob_format::{
    float, read_layer, read_node, read_options, read_parameter, write_node, write_options,
};
use engine_foundation::Error;
use engine_foundation::blob::{BlobReader, BlobWriter};
use engine_foundation::hash::IdString32;

/// The most layers of one sound, which play at once.
pub const LAYERS_MAX: usize = 8;
/// The most curves of a sound, including those of its layers: each is evaluated for every voice.
pub const CURVES_MAX: usize = 256;
/// The most parameters that one sound can name.
pub const SOUND_PARAMETERS_MAX: usize = 64;
/// The most files, containers and switches of one sound together.
pub const NODES_MAX: usize = 4096;
/// The deepest nesting of containers.
pub const DEPTH_MAX: usize = 16;

/// The policy when a sound has as many voices as it may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum VoiceLimitPolicy {
    /// Ends the voice that was triggered first.
    Oldest,
    /// Ends the least audible voice.
    Quietest,
    /// Does not start the new voice.
    Refuse,
}

impl VoiceLimitPolicy {
    /// Every policy, with its name.
    pub const ALL: [(&'static str, VoiceLimitPolicy); 3] = [
        ("oldest", VoiceLimitPolicy::Oldest),
        ("quietest", VoiceLimitPolicy::Quietest),
        ("refuse", VoiceLimitPolicy::Refuse),
    ];
}

/// Attenuation of loudness with distance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Rolloff {
    /// Halves with each doubling of the distance, and fades to silence at the maximum distance.
    Inverse,
    /// Falls linearly to silence.
    Linear,
    /// The same loudness everywhere.
    None,
}

impl Rolloff {
    /// Every rolloff, with its name.
    pub const ALL: [(&'static str, Rolloff); 3] =
        [("inverse", Rolloff::Inverse), ("linear", Rolloff::Linear), ("none", Rolloff::None)];
}

/// The mode that decides if a recording is decoded while it plays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum StreamingMode {
    /// Streams recordings that are longer than [`super::clip::STREAM_SECONDS_MIN`].
    Auto,
    Always,
    Never,
}

/// Options of a sound as a whole.
#[derive(Clone, Debug, PartialEq)]
pub struct SoundOptions {
    /// Name of the bus that the sound plays on.
    pub bus: String,
    pub volume_db: f32,
    /// A factor of speed and pitch.
    pub pitch: f32,
    pub pan: f32,
    /// Up to this many decibels are added to or subtracted from the volume at each trigger.
    pub volume_random_db: f32,
    /// Up to this part of the pitch is added or subtracted at each trigger.
    pub pitch_random: f32,
    /// Priority from 0 to 100: if there are too few voices, the higher priority wins.
    pub priority: f32,
    /// The most voices of this sound at once; 0: no limit.
    pub voices: u32,
    pub policy: VoiceLimitPolicy,
    pub fade_in_seconds: f32,
    pub fade_out_seconds: f32,
    /// Up to this distance the sound has its full volume.
    pub distance_min: f32,
    /// From this distance on the sound is silent.
    pub distance_max: f32,
    pub rolloff: Rolloff,
    /// Strength of the Doppler effect. 1: as in air; 0: none.
    pub doppler: f32,
    /// Volume reduction of full occlusion, and cutoff of its low-pass filter.
    pub occlusion_db: f32,
    pub occlusion_hz: f32,
    pub streaming: StreamingMode,
}

impl SoundOptions {
    pub const BUS: &'static str = "effects";

    /// Returns the default options.
    pub fn new() -> SoundOptions {
        SoundOptions {
            bus: SoundOptions::BUS.to_string(),
            volume_db: 0.0,
            pitch: 1.0,
            pan: 0.0,
            volume_random_db: 0.0,
            pitch_random: 0.0,
            priority: 50.0,
            voices: 0,
            policy: VoiceLimitPolicy::Oldest,
            fade_in_seconds: 0.0,
            fade_out_seconds: 0.0,
            distance_min: 1.0,
            distance_max: 100.0,
            rolloff: Rolloff::Inverse,
            doppler: 1.0,
            occlusion_db: -15.0,
            occlusion_hz: 900.0,
            streaming: StreamingMode::Auto,
        }
    }
}

impl Default for SoundOptions {
    fn default() -> SoundOptions {
        SoundOptions::new()
    }
}

/// A parameter that the sound reads.
#[derive(Clone, Debug, PartialEq)]
pub struct SoundParameter {
    pub key: IdString32,
    /// Name of the parameter; empty in a release.
    pub name: String,
    pub tag: ValueTag,
    /// The bits of the default value, if there is one.
    pub default: Option<u32>,
    /// The text whose hash is the default of a text parameter. Empty in a release.
    pub default_name: String,
}

/// A curve that maps a parameter to a target.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ParameterCurve {
    /// Index into [`SoundRules::parameters`].
    pub parameter: u32,
    pub target: CurveTarget,
    pub easing: Easing,
    /// First index into [`SoundRules::points`].
    pub first: u32,
    pub count: u32,
}

/// The part of a recording that is repeated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LoopRange {
    /// Start of the loop. The part before it is played once.
    pub start_seconds: f32,
    /// End of the loop; 0: the end of the recording.
    pub end_seconds: f32,
}

/// One of the recordings that play at once.
#[derive(Clone, Debug, PartialEq)]
pub struct SoundLayer {
    /// Index into [`SoundRules::nodes`].
    pub root: u32,
    pub volume_db: f32,
    pub pitch: f32,
    pub delay_seconds: f32,
    pub repeat: Option<LoopRange>,
    /// First index into [`SoundRules::curves`].
    pub first_curve: u32,
    pub curves: u32,
}

/// A node of the tree that selects a file.
#[derive(Clone, Debug, PartialEq)]
pub enum SoundNode {
    /// A file: index into [`SoundRules::files`]; `None` is the recording next to the rules.
    File { file: Option<u32>, volume_db: f32, pitch: f32 },
    /// Selects one of its edges at random, but not the last one again.
    Random { first: u32, count: u32 },
    /// Selects one edge after the other.
    Sequence { first: u32, count: u32 },
    /// Selects the edge whose case is the parameter's value.
    Switch { parameter: u32, first: u32, count: u32, default: Option<u32> },
}

/// An edge from a container or switch to one of its children.
#[derive(Clone, Debug, PartialEq)]
pub struct ContainerEdge {
    pub node: u32,
    /// Weight in a random container.
    pub weight: f32,
    /// Case of a switch.
    pub case: IdString32,
    /// Name of the case; empty in a release.
    pub case_name: String,
}

/// The rules of a sound.
#[derive(Clone, Debug, PartialEq)]
pub struct SoundRules {
    pub options: SoundOptions,
    pub parameters: Vec<SoundParameter>,
    /// Number of curves, at the start of the array, that apply to all layers.
    pub sound_curves: u32,
    pub curves: Vec<ParameterCurve>,
    pub points: Vec<(f32, f32)>,
    pub layers: Vec<SoundLayer>,
    pub nodes: Vec<SoundNode>,
    pub edges: Vec<ContainerEdge>,
    /// Names of the sounds whose recordings are played.
    pub files: Vec<String>,
}

impl SoundRules {
    /// Returns rules that play the recording next to them, once.
    pub fn of_recording() -> SoundRules {
        SoundRules {
            options: SoundOptions::new(),
            parameters: Vec::new(),
            sound_curves: 0,
            curves: Vec::new(),
            points: Vec::new(),
            layers: vec![SoundLayer {
                root: 0,
                volume_db: 0.0,
                pitch: 1.0,
                delay_seconds: 0.0,
                repeat: None,
                first_curve: 0,
                curves: 0,
            }],
            nodes: vec![SoundNode::File { file: None, volume_db: 0.0, pitch: 1.0 }],
            edges: Vec::new(),
            files: Vec::new(),
        }
    }

    /// Returns the parameter of a key.
    pub fn parameter(&self, key: IdString32) -> Option<&SoundParameter> {
        self.parameters.iter().find(|parameter| parameter.key == key)
    }

    /// Returns the points of a curve.
    #[inline]
    pub fn points_of(&self, curve: &ParameterCurve) -> &[(f32, f32)] {
        &self.points[curve.first as usize..][..curve.count as usize]
    }

    /// Returns the curves of one layer.
    #[inline]
    pub fn curves_of(&self, layer: &SoundLayer) -> &[ParameterCurve] {
        &self.curves[layer.first_curve as usize..][..layer.curves as usize]
    }

    /// Returns true if any layer plays endlessly.
    pub fn repeats(&self) -> bool {
        self.layers.iter().any(|layer| layer.repeat.is_some())
    }

    /// Writes the compiled form; `release` strips names.
    pub fn write(&self, writer: &mut BlobWriter, release: bool) {
        let name_or_empty = |text: &str| if release { String::new() } else { text.to_string() };
        write_options(writer, &self.options);
        writer.list(&self.parameters, |writer, parameter| {
            writer.u32(parameter.key.0);
            writer.text(&name_or_empty(&parameter.name));
            writer.u8(u8::from(parameter.tag == ValueTag::Text));
            writer.u8(u8::from(parameter.default.is_some()));
            writer.u32(parameter.default.map_or(0, |bits| bits));
            writer.text(&name_or_empty(&parameter.default_name));
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
            let repeat = layer.repeat.unwrap_or(LoopRange { start_seconds: 0.0, end_seconds: 0.0 });
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
            writer.text(&name_or_empty(&edge.case_name));
        });
        writer.list(&self.files, |writer, file| writer.text(file));
    }

    /// Reads the compiled form.
    ///
    /// # Errors
    /// Returns an error if the data is damaged, or if no text could produce it (limits.rs).
    pub fn read(reader: &mut BlobReader) -> Result<SoundRules, Error> {
        let definition = SoundRules {
            options: read_options(reader)?,
            parameters: reader
                .list_at_most((SOUND_PARAMETERS_MAX, "SOUND_PARAMETERS_MAX"), read_parameter)?,
            sound_curves: reader.u32()?,
            curves: reader.list_at_most((CURVES_MAX, "CURVES_MAX"), |reader| {
                Ok(ParameterCurve {
                    parameter: reader.u32()?,
                    target: CurveTarget::from_number(reader.u8()?).ok_or_else(damaged)?,
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
                Ok(ContainerEdge {
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
        limits::check(&definition)?;
        Ok(definition)
    }
}

#[cfg(test)]
mod tests {
    use super::super::limits::OPTIONS;
    use super::*;

    /// Returns rules that contain one of everything.
    fn sample() -> SoundRules {
        let case = |node, name: &str| ContainerEdge {
            node,
            weight: 1.0,
            case: IdString32::new(name),
            case_name: name.to_string(),
        };
        let mut definition = SoundRules::of_recording();
        let force = SoundParameter {
            key: IdString32::new("force"),
            name: "force".to_string(),
            tag: ValueTag::Number,
            default: None,
            default_name: String::new(),
        };
        let material = SoundParameter {
            key: IdString32::new("material"),
            name: "material".to_string(),
            tag: ValueTag::Text,
            default: Some(IdString32::new("wood").0),
            default_name: "wood".to_string(),
        };
        definition.parameters = vec![material, force];
        definition.nodes = vec![
            SoundNode::File { file: Some(0), volume_db: -3.0, pitch: 1.5 },
            SoundNode::Random { first: 0, count: 1 },
            SoundNode::File { file: None, volume_db: 0.0, pitch: 1.0 },
            SoundNode::Switch { parameter: 0, first: 1, count: 1, default: Some(2) },
        ];
        definition.edges = vec![case(0, ""), case(1, "wood")];
        definition.files = vec!["sounds/wood".to_string()];
        definition.layers[0].root = 3;
        definition.layers[0].repeat = Some(LoopRange { start_seconds: 1.0, end_seconds: 0.0 });
        definition.points = vec![(0.0, -6.0), (1.0, 0.0)];
        definition.curves = vec![ParameterCurve {
            parameter: 1,
            target: CurveTarget::VolumeDb,
            easing: Easing::Smooth,
            first: 0,
            count: 2,
        }];
        definition.sound_curves = 1;
        definition
    }

    fn bytes(definition: &SoundRules, release: bool) -> Vec<u8> {
        let mut writer = BlobWriter::default();
        definition.write(&mut writer, release);
        writer.finish()
    }

    #[test]
    fn data_survives_a_round_trip_and_releases_have_no_names() {
        let definition = sample();
        let written = bytes(&definition, false);
        assert_eq!(SoundRules::read(&mut BlobReader::new(&written)).unwrap(), definition);
        let released = bytes(&definition, true);
        let read = SoundRules::read(&mut BlobReader::new(&released)).unwrap();
        assert_eq!((read.parameters[0].name.as_str(), read.edges[1].case_name.as_str()), ("", ""));
        assert_eq!(read.parameters[0].key, definition.parameters[0].key);
    }

    #[test]
    fn damage_is_detected_or_stays_within_bounds() {
        let written = bytes(&sample(), false);
        for length in 0..written.len() {
            assert!(
                SoundRules::read(&mut BlobReader::new(&written[..length])).is_err(),
                "{length}"
            );
        }
        for bit in 0..written.len() * 8 {
            let mut damaged = written.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            // The result is another sound, or an error: `ranges::check` accepts everything that can
            // be read.
            if let Ok(read) = SoundRules::read(&mut BlobReader::new(&damaged)) {
                limits::check(&read).unwrap();
            }
        }
    }

    #[track_caller]
    fn check_refused(change: impl FnOnce(&mut SoundRules), wanted: &str) {
        let mut definition = sample();
        change(&mut definition);
        let written = bytes(&definition, false);
        let error = SoundRules::read(&mut BlobReader::new(&written)).unwrap_err();
        assert_eq!(error.message, format!("it is damaged: {wanted}"));
    }

    #[test]
    fn nodes_form_finite_trees() {
        let nowhere = "a part of the sound leads nowhere";
        check_refused(|sound| sound.edges[0].node = 1, nowhere);
        // Two paths to one node; the number of paths doubles with each container around them.
        let two_ways = |count: u32| {
            move |sound: &mut SoundRules| {
                for node in 3..3 + count {
                    let first = sound.edges.len() as u32;
                    let edge = ContainerEdge { node, ..sound.edges[0].clone() };
                    sound.edges.extend([edge.clone(), edge]);
                    sound.nodes.push(SoundNode::Random { first, count: 2 });
                }
                sound.layers[0].root = 3 + count;
            }
        };
        check_refused(two_ways(1), nowhere);
        check_refused(two_ways(1000), nowhere);
        let deep = |sound: &mut SoundRules| {
            for node in 3..3 + DEPTH_MAX as u32 {
                let first = sound.edges.len() as u32;
                sound.edges.push(ContainerEdge { node, ..sound.edges[0].clone() });
                sound.nodes.push(SoundNode::Sequence { first, count: 1 });
            }
            sound.layers[0].root = 3 + DEPTH_MAX as u32;
        };
        check_refused(deep, nowhere);
        check_refused(|sound| sound.layers.push(sound.layers[0].clone()), nowhere);
        let many = |sound: &mut SoundRules| sound.edges = vec![sound.edges[0].clone(); 4097];
        check_refused(many, "it lists 4097 items, and 4096 are the most (NODES_MAX)");
    }

    #[test]
    fn invalid_numbers_are_refused_by_key() {
        let check = |change: fn(&mut SoundRules), wanted: &str| check_refused(change, wanted);
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
        // A switch reads texts, and a curve reads numbers.
        check(|sound| sound.curves[0].parameter = 0, nowhere);
        check(|sound| sound.parameters[1].default = Some(f32::NAN.to_bits()), nowhere);
        check(
            |sound| sound.layers[0].repeat.as_mut().unwrap().end_seconds = 0.5,
            "'loop' must end after its start",
        );
        for (key, (least, most), field) in OPTIONS {
            for wrong in [least - 0.1, most * 1.1 + 0.1] {
                let mut definition = sample();
                *field(&mut definition.options) = wrong;
                let written = bytes(&definition, false);
                assert!(SoundRules::read(&mut BlobReader::new(&written)).is_err(), "{key} {wrong}");
            }
        }
    }
}
