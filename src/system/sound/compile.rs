//! The parser of a `.sound` file, which reads its rules. Every error names file and line.
//! docs/sound.md has the format.

use super::curve::{CurveTarget, Easing, POINTS_MAX};
use super::data::{
    CURVES_MAX, ContainerEdge, DEPTH_MAX, LAYERS_MAX, LoopRange, NODES_MAX, ParameterCurve,
    Rolloff, SOUND_PARAMETERS_MAX, SoundNode, SoundParameter, SoundRules, StreamingMode,
    VoiceLimitPolicy,
};
use super::limits::{self, CURVE_X, DECIBELS, PITCH, SECONDS, WEIGHT};
use super::parameters::ValueTag;
use super::source_fields::{self, SourceBlock};
use engine_foundation::Error;
use engine_foundation::hash::IdString32;
use engine_foundation::sjson::{SjsonValue, ValueKind};

const SOUND_KEYS: &[&str] = &[
    "bus",
    "volume_db",
    "pitch",
    "pan",
    "volume_random_db",
    "pitch_random",
    "priority",
    "voices",
    "policy",
    "fade_in_seconds",
    "fade_out_seconds",
    "distance",
    "doppler",
    "occlusion",
    "stream",
    "parameters",
    "curves",
    "play",
    "loop",
    "layers",
];
const LAYER_KEYS: &[&str] = &["play", "volume_db", "pitch", "delay_seconds", "loop", "curves"];

/// Parses a sound's rules. `has_recording`: there is a recording of the same name.
pub fn parse(path: &str, root: SjsonValue, has_recording: bool) -> Result<SoundRules, Error> {
    let sound = SourceBlock::open(path, root, "a sound", SOUND_KEYS)?;
    let mut reading = SoundParser { path, has_recording, definition: SoundRules::of_recording() };
    reading.definition.nodes.clear();
    reading.definition.layers.clear();
    reading.options(&sound)?;
    reading.defaults(&sound)?;
    reading.curves(&sound)?;
    reading.definition.sound_curves = reading.definition.curves.len() as u32;
    match sound.get("layers") {
        Some(layers) => reading.layers(&sound, layers)?,
        None => {
            let root = reading.play(&sound)?;
            let repeat = reading.repeat(&sound)?;
            let mut layer = SoundRules::of_recording().layers.remove(0);
            (layer.root, layer.repeat) = (root, repeat);
            reading.definition.layers.push(layer);
        }
    }
    Ok(reading.definition)
}

struct SoundParser<'a> {
    path: &'a str,
    has_recording: bool,
    definition: SoundRules,
}

impl SoundParser<'_> {
    fn options(&mut self, sound: &SourceBlock) -> Result<(), Error> {
        let options = &mut self.definition.options;
        if let Some(bus) = sound.text("bus")? {
            options.bus = bus.to_string();
        }
        sound.read("volume_db", DECIBELS, &mut options.volume_db)?;
        sound.read("pitch", PITCH, &mut options.pitch)?;
        sound.read("pan", limits::PAN, &mut options.pan)?;
        sound.read("volume_random_db", limits::VOLUME_RANDOM_DB, &mut options.volume_random_db)?;
        sound.read("pitch_random", limits::PITCH_RANDOM, &mut options.pitch_random)?;
        sound.read("priority", limits::PRIORITY, &mut options.priority)?;
        sound.read("fade_in_seconds", SECONDS, &mut options.fade_in_seconds)?;
        sound.read("fade_out_seconds", SECONDS, &mut options.fade_out_seconds)?;
        sound.read("doppler", limits::DOPPLER, &mut options.doppler)?;
        if let Some(voices) = sound.number("voices", limits::VOICES)? {
            options.voices = voices as u32;
        }
        if let Some(policy) = sound.choice("policy", VoiceLimitPolicy::ALL.into_iter())? {
            if options.voices == 0 {
                let at = sound.get("policy").expect("it was read");
                let message = "'policy' says what happens when 'voices' are already playing: add \
                             voices = 4, for example";
                return Err(sound.fault(at, message));
            }
            options.policy = policy;
        }
        if let Some(value) = sound.get("distance") {
            let distance =
                SourceBlock::open(self.path, value, "'distance'", &["min", "max", "rolloff"])?;
            distance.read("min", limits::DISTANCE, &mut options.distance_min)?;
            distance.read("max", limits::DISTANCE, &mut options.distance_max)?;
            if let Some(rolloff) = distance.choice("rolloff", Rolloff::ALL.into_iter())? {
                options.rolloff = rolloff;
            }
            if options.distance_max <= options.distance_min {
                let (min, max) = (options.distance_min, options.distance_max);
                let message = format!("'distance': max ({max}) must be greater than min ({min})");
                return Err(sound.fault(value, &message));
            }
        }
        if let Some(value) = sound.get("occlusion") {
            let occlusion =
                SourceBlock::open(self.path, value, "'occlusion'", &["volume_db", "cutoff_hz"])?;
            occlusion.read("volume_db", limits::ATTENUATION_DECIBELS, &mut options.occlusion_db)?;
            occlusion.read("cutoff_hz", limits::HERTZ, &mut options.occlusion_hz)?;
        }
        if let Some(value) = sound.get("stream") {
            options.streaming = match value.as_bool() {
                Some(true) => StreamingMode::Always,
                Some(false) => StreamingMode::Never,
                None => return Err(sound.fault(value, "'stream' must be true or false")),
            };
        }
        Ok(())
    }

    /// Reads the defaults of parameters.
    fn defaults(&mut self, sound: &SourceBlock) -> Result<(), Error> {
        let Some(block) = sound.get("parameters") else { return Ok(()) };
        let Some(entries) = block.entries() else {
            return Err(sound.fault(block, "'parameters' must be a block of names and defaults"));
        };
        for entry in entries {
            let (tag, bits, word) = match (entry.value.as_f32(), entry.value.as_str()) {
                (Some(number), _) => (ValueTag::Number, number.to_bits(), ""),
                (_, Some(text)) => (ValueTag::Text, IdString32::new(text).0, text),
                _ => {
                    let message =
                        format!("the default of '{}' must be a number or text", entry.key);
                    return Err(sound.fault(entry.value, &message));
                }
            };
            let index = self.parameter(entry.key, tag, entry.value)?;
            let parameter = &mut self.definition.parameters[index as usize];
            parameter.default = Some(bits);
            parameter.default_name = word.to_string();
        }
        Ok(())
    }

    /// Returns the index of a parameter. All uses of a parameter must have the same type.
    fn parameter(&mut self, name: &str, tag: ValueTag, at: SjsonValue) -> Result<u32, Error> {
        let key = IdString32::new(name);
        let fault = |message: &str| source_fields::fault(self.path, at, message);
        if key.0 == 0 {
            return Err(fault(&format!("the name '{name}' of a parameter hashes to 0: change it")));
        }
        let known = self.definition.parameters.iter().position(|known| known.key == key);
        if let Some(i) = known {
            let other = &self.definition.parameters[i];
            if other.name != name {
                let message = format!(
                    "the parameters '{}' and '{name}' have the same hash: rename one",
                    other.name
                );
                return Err(fault(&message));
            }
            if other.tag != tag {
                let message = format!(
                    "the parameter '{name}' is both a number (of a curve) and a text (of a \
                     switch): give them two names"
                );
                return Err(fault(&message));
            }
            return Ok(i as u32);
        }
        if self.definition.parameters.len() == SOUND_PARAMETERS_MAX {
            let message = format!(
                "a sound can read {SOUND_PARAMETERS_MAX} parameters (SOUND_PARAMETERS_MAX)"
            );
            return Err(fault(&message));
        }
        let (name, default_name) = (name.to_string(), String::new());
        self.definition.parameters.push(SoundParameter {
            key,
            name,
            tag,
            default: None,
            default_name,
        });
        Ok(self.definition.parameters.len() as u32 - 1)
    }

    /// Adds the curves of a block.
    fn curves(&mut self, block: &SourceBlock) -> Result<(), Error> {
        let Some(list) = block.get("curves") else { return Ok(()) };
        let Some(items) = list.items() else {
            return Err(block.fault(list, "'curves' must be a list: [ { … } ]"));
        };
        for item in items {
            let known = &["parameter", "target", "points", "easing"];
            let curve = SourceBlock::open(self.path, item, "a curve", known)?;
            let name = required(curve.text("parameter")?, &curve, "parameter = \"…\"")?;
            let targets = CurveTarget::ALL.into_iter();
            let target = curve.choice(
                "target",
                targets.map(|(word, target, min, max)| (word, (target, (min, max)))),
            )?;
            let (target, range) = required(target, &curve, "target = \"volume_db\"")?;
            let easing = curve.choice("easing", Easing::ALL.into_iter())?;
            let points = required(curve.get("points"), &curve, "points = [[0, -20], [100, 0]]")?;
            let first = self.definition.points.len() as u32;
            let count = self.points(&curve, points, range)?;
            let parameter = self.parameter(name, ValueTag::Number, item)?;
            let easing = easing.unwrap_or(Easing::Linear);
            if self.definition.curves.len() == CURVES_MAX {
                let message = format!(
                    "a sound can have {CURVES_MAX} curves, with those of its layers (CURVES_MAX)"
                );
                return Err(source_fields::fault(self.path, item, &message));
            }
            self.definition.curves.push(ParameterCurve { parameter, target, easing, first, count });
        }
        Ok(())
    }

    fn points(
        &mut self,
        curve: &SourceBlock,
        points: SjsonValue,
        range: (f32, f32),
    ) -> Result<u32, Error> {
        let must = "'points' must be a list of pairs: [[0, -20], [100, 0]]";
        let items = points.items().ok_or_else(|| curve.fault(points, must))?;
        let count = items.len();
        if count == 0 || count > POINTS_MAX {
            let message = format!("a curve must have 1 to {POINTS_MAX} points, got {count}");
            return Err(curve.fault(points, &message));
        }
        let mut last = None;
        for item in items {
            let pair: Vec<SjsonValue> = item.items().into_iter().flatten().collect();
            let [x, y] = pair[..] else { return Err(curve.fault(item, must)) };
            let x = source_fields::number(self.path, x, "x of a point", CURVE_X)?;
            let y = source_fields::number(self.path, y, "y of a point", range)?;
            if last.is_some_and(|last| last >= x) {
                let message = format!("the points of a curve must ascend in x, and {x} does not");
                return Err(curve.fault(item, &message));
            }
            last = Some(x);
            self.definition.points.push((x, y));
        }
        Ok(count as u32)
    }

    fn layers(&mut self, sound: &SourceBlock, list: SjsonValue) -> Result<(), Error> {
        for key in ["play", "loop"] {
            if let Some(value) = sound.get(key) {
                let message = format!("'{key}' must be in the layers if there are 'layers'");
                return Err(sound.fault(value, &message));
            }
        }
        let must = "'layers' must be a list of blocks: [ { play = \"…\" } ]";
        let items = list.items().ok_or_else(|| sound.fault(list, must))?;
        if items.len() == 0 || items.len() > LAYERS_MAX {
            let count = items.len();
            let message = format!("a sound can have 1 to {LAYERS_MAX} layers, got {count}");
            return Err(sound.fault(list, &message));
        }
        for item in items {
            let block = SourceBlock::open(self.path, item, "a layer", LAYER_KEYS)?;
            let mut layer = SoundRules::of_recording().layers.remove(0);
            block.read("volume_db", DECIBELS, &mut layer.volume_db)?;
            block.read("pitch", PITCH, &mut layer.pitch)?;
            block.read("delay_seconds", SECONDS, &mut layer.delay_seconds)?;
            layer.root = self.play(&block)?;
            layer.repeat = self.repeat(&block)?;
            layer.first_curve = self.definition.curves.len() as u32;
            self.curves(&block)?;
            layer.curves = self.definition.curves.len() as u32 - layer.first_curve;
            self.definition.layers.push(layer);
        }
        Ok(())
    }

    fn repeat(&self, block: &SourceBlock) -> Result<Option<LoopRange>, Error> {
        let Some(value) = block.get("loop") else { return Ok(None) };
        let mut repeat = LoopRange { start_seconds: 0.0, end_seconds: 0.0 };
        match value.as_bool() {
            Some(true) => return Ok(Some(repeat)),
            Some(false) => return Ok(None),
            None => {}
        }
        let known = &["start_seconds", "end_seconds"];
        let region = SourceBlock::open(self.path, value, "'loop'", known)?;
        region.read("start_seconds", SECONDS, &mut repeat.start_seconds)?;
        region.read("end_seconds", SECONDS, &mut repeat.end_seconds)?;
        if repeat.end_seconds != 0.0 && repeat.end_seconds <= repeat.start_seconds {
            return Err(block.fault(value, "'loop' must end after its start"));
        }
        Ok(Some(repeat))
    }

    /// Reads the node that a block plays.
    fn play(&mut self, block: &SourceBlock) -> Result<u32, Error> {
        match block.get("play") {
            Some(value) => {
                self.no_weight(value)?;
                self.node(value, DEPTH_MAX)
            }
            None if self.has_recording => {
                self.add(block.value, SoundNode::File { file: None, volume_db: 0.0, pitch: 1.0 })
            }
            None => Err(block.fault(
                block.value,
                "nothing is played: write play = \"sounds/…\", or put a recording of the same name \
                 next to this file",
            )),
        }
    }

    fn add(&mut self, at: SjsonValue, node: SoundNode) -> Result<u32, Error> {
        if self.definition.nodes.len() == NODES_MAX {
            let message = format!("a sound can have {NODES_MAX} files and containers (NODES_MAX)");
            return Err(source_fields::fault(self.path, at, &message));
        }
        self.definition.nodes.push(node);
        Ok(self.definition.nodes.len() as u32 - 1)
    }

    fn file(&mut self, name: &str) -> u32 {
        // A name with the file's extension means the same sound.
        let endings = [".wav", ".ogg", ".flac", ".mp3", ".sound"];
        let name = endings.iter().find_map(|ending| name.strip_suffix(ending)).unwrap_or(name);
        let files = &mut self.definition.files;
        let known = files.iter().position(|known| known == name);
        known.unwrap_or_else(|| {
            files.push(name.to_string());
            files.len() - 1
        }) as u32
    }

    fn node(&mut self, value: SjsonValue, depth: usize) -> Result<u32, Error> {
        let must = "what is played must be a name, or a block with 'file', 'random', 'sequence' \
                    or 'switch'";
        if depth == 0 {
            let message = format!("containers are nested more than {DEPTH_MAX} deep");
            return Err(source_fields::fault(self.path, value, &message));
        }
        if let Some(name) = value.as_str() {
            let file = Some(self.file(name));
            return self.add(value, SoundNode::File { file, volume_db: 0.0, pitch: 1.0 });
        }
        if value.kind() != ValueKind::Object {
            return Err(source_fields::fault(self.path, value, must));
        }
        let has = |key: &str| value.get(key).is_some();
        if has("file") {
            self.file_node(value)
        } else if has("switch") {
            self.switch(value, depth)
        } else if has("random") {
            let (first, count) = self.container(value, "random", depth)?;
            self.add(value, SoundNode::Random { first, count })
        } else if has("sequence") {
            let (first, count) = self.container(value, "sequence", depth)?;
            self.add(value, SoundNode::Sequence { first, count })
        } else {
            Err(source_fields::fault(self.path, value, must))
        }
    }

    /// Rejects 'weight' outside of 'random'.
    fn no_weight(&self, value: SjsonValue) -> Result<(), Error> {
        match value.get("weight") {
            None => Ok(()),
            Some(weight) => {
                let message = "'weight' says how often 'random' chooses it, and is allowed only in \
                             'random'";
                Err(source_fields::fault(self.path, weight, message))
            }
        }
    }

    fn file_node(&mut self, value: SjsonValue) -> Result<u32, Error> {
        let known = &["file", "volume_db", "pitch", "weight"];
        let block = SourceBlock::open(self.path, value, "a file", known)?;
        let name = required(block.text("file")?, &block, "file = \"sounds/…\"")?;
        let (mut volume_db, mut pitch) = (0.0, 1.0);
        block.read("volume_db", DECIBELS, &mut volume_db)?;
        block.read("pitch", PITCH, &mut pitch)?;
        let file = Some(self.file(name));
        self.add(value, SoundNode::File { file, volume_db, pitch })
    }

    fn container(
        &mut self,
        value: SjsonValue,
        key: &'static str,
        depth: usize,
    ) -> Result<(u32, u32), Error> {
        let block = SourceBlock::open(self.path, value, "a container", &[key, "weight"])?;
        let list = required(block.get(key), &block, key)?;
        let must = format!("'{key}' must be a list of what is played: [\"sounds/a\", …]");
        let items = list.items().ok_or_else(|| block.fault(list, &must))?;
        if items.len() == 0 {
            return Err(block.fault(list, &must));
        }
        let mut edges = Vec::new();
        for item in items {
            if key != "random" {
                self.no_weight(item)?;
            }
            let node = self.node(item, depth - 1)?;
            let weight = match item.get("weight") {
                Some(weight) => source_fields::number(self.path, weight, "weight", WEIGHT)?,
                None => 1.0,
            };
            edges.push(ContainerEdge {
                node,
                weight,
                case: IdString32(0),
                case_name: String::new(),
            });
        }
        Ok(self.append(edges))
    }

    fn append(&mut self, edges: Vec<ContainerEdge>) -> (u32, u32) {
        let first = self.definition.edges.len() as u32;
        let count = edges.len() as u32;
        self.definition.edges.extend(edges);
        (first, count)
    }

    fn switch(&mut self, value: SjsonValue, depth: usize) -> Result<u32, Error> {
        let known = &["switch", "cases", "default", "weight"];
        let block = SourceBlock::open(self.path, value, "a switch", known)?;
        let name = required(block.text("switch")?, &block, "switch = \"material\"")?;
        let cases = required(block.get("cases"), &block, "cases = { wood = \"…\" }")?;
        let must = "'cases' must be a block of values and what they play";
        let entries = cases.entries().ok_or_else(|| block.fault(cases, must))?;
        let mut edges: Vec<ContainerEdge> = Vec::new();
        for entry in entries {
            let case = IdString32::new(entry.key);
            if let Some(other) = edges.iter().find(|edge| edge.case == case) {
                let message = format!(
                    "the cases '{}' and '{}' have the same hash: rename one",
                    other.case_name, entry.key
                );
                return Err(block.fault(entry.value, &message));
            }
            self.no_weight(entry.value)?;
            let node = self.node(entry.value, depth - 1)?;
            edges.push(ContainerEdge { node, weight: 1.0, case, case_name: entry.key.to_string() });
        }
        let default = match block.get("default") {
            Some(value) => {
                self.no_weight(value)?;
                Some(self.node(value, depth - 1)?)
            }
            None => None,
        };
        let (first, count) = self.append(edges);
        let parameter = self.parameter(name, ValueTag::Text, value)?;
        self.add(value, SoundNode::Switch { parameter, first, count, default })
    }
}

fn required<T>(value: Option<T>, block: &SourceBlock, example: &str) -> Result<T, Error> {
    value.ok_or_else(|| block.fault(block.value, &format!("something is missing: {example}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine_foundation::sjson;

    fn read(text: &str) -> Result<SoundRules, String> {
        let document = sjson::parse(text).unwrap();
        parse("a.sound", document.root(), false).map_err(|error| error.message)
    }

    fn check(text: &str, wanted: &str) {
        assert_eq!(read(text).map(|_| ()), Err(wanted.to_string()), "{text}");
    }

    #[test]
    fn containers_compile_to_nodes_with_children_first() {
        let text = "
            parameters = { force = 10 }
            play = {
              switch = \"material\"
              cases = {
                wood = { random = [\"wood_1.wav\", { file = \"wood_2\", weight = 2 }] }
                metal = \"metal\"
              }
              default = \"metal\"
            }
            curves = [{ parameter = \"force\", target = \"pan\", points = [[0, -1], [50, 0]] }]
        ";
        let sound = read(text).unwrap();
        assert_eq!(sound.files, ["wood_1", "wood_2", "metal"]);
        let names: Vec<_> = sound.parameters.iter().map(|p| (p.name.as_str(), p.tag)).collect();
        assert_eq!(names, [("force", ValueTag::Number), ("material", ValueTag::Text)]);
        let root = &sound.nodes[sound.layers[0].root as usize];
        assert!(matches!(root, SoundNode::Switch { count: 2, default: Some(_), .. }), "{root:?}");
        assert_eq!((sound.edges[1].weight, sound.sound_curves), (2.0, 1));
    }

    #[test]
    fn errors_have_a_line_and_a_remedy() {
        check(
            "play = \"a\"\nvolum_db = 1",
            "a.sound:2: a sound has no 'volum_db', did you mean 'volume_db'? (known: bus, \
             volume_db, pitch, pan, volume_random_db, pitch_random, priority, voices, policy, \
             fade_in_seconds, fade_out_seconds, distance, doppler, occlusion, stream, parameters, \
             curves, play, loop, layers)",
        );
        check("play = \"a\" pitch = 0", "a.sound:1: 'pitch' must be 0.01 to 16, got 0");
        check("play = \"a\" pitch = -1", "a.sound:1: 'pitch' must be 0.01 to 16, got -1");
        check(
            "play = \"a\" policy = \"odlest\"",
            "a.sound:1: 'policy' cannot be 'odlest', did you mean 'oldest'? (known: oldest, \
             quietest, refuse)",
        );
        check(
            "bus = \"music\"",
            "a.sound:1: nothing is played: write play = \"sounds/…\", or put a recording of the \
             same name next to this file",
        );
        check(
            "play = \"a\" distance = { min = 5, max = 5 }",
            "a.sound:1: 'distance': max (5) must be greater than min (5)",
        );
        check(
            "play = { random = [] }",
            "a.sound:1: 'random' must be a list of what is played: [\"sounds/a\", …]",
        );
        check(
            "play = \"a\" loop = { start_seconds = 2, end_seconds = 1 }",
            "a.sound:1: 'loop' must end after its start",
        );
        check(
            "play = \"a\" policy = \"refuse\"",
            "a.sound:1: 'policy' says what happens when 'voices' are already playing: add voices = \
             4, for example",
        );
        for play in [
            "{ file = \"a\", weight = 2 }",
            "{ sequence = [{ file = \"a\", weight = 2 }] }",
            "{ switch = \"m\", cases = { a = { file = \"a\", weight = 2 } } }",
            "{ switch = \"m\", cases = { a = \"a\" }, default = { file = \"a\", weight = 2 } }",
        ] {
            check(
                &format!("play = {play}"),
                "a.sound:1: 'weight' says how often 'random' chooses it, and is allowed only in \
                 'random'",
            );
        }
    }

    #[test]
    fn curves_must_ascend_and_parameters_have_one_type() {
        let curve = |points: &str| {
            format!(
                "play = \"a\" curves = [{{ parameter = \"f\", target = \"pitch\", points = \
                 {points} }}]"
            )
        };
        check(
            &curve("[[0, 1], [0, 2]]"),
            "a.sound:1: the points of a curve must ascend in x, and 0 does not",
        );
        check(&curve("[[0, 0]]"), "a.sound:1: 'y of a point' must be 0.01 to 16, got 0");
        check(&curve("[]"), "a.sound:1: a curve must have 1 to 64 points, got 0");
        check(
            "parameters = { f = \"x\" } play = \"a\"\ncurves = [{ parameter = \"f\", target = \
             \"pan\", points = [[0, 0]] }]",
            "a.sound:2: the parameter 'f' is both a number (of a curve) and a text (of a switch): \
             give them two names",
        );
    }

    #[test]
    fn containers_must_not_form_a_cycle() {
        let deep = "{ random = [".repeat(20) + "\"a\"" + &"] }".repeat(20);
        let message = read(&format!("play = {deep}")).unwrap_err();
        assert_eq!(message, "a.sound:1: containers are nested more than 16 deep");
    }
}
