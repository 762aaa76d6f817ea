//! Mixers: the buses that voices play on, their effects and their ducking; the text of a `.mixer`
//! and its compiled form. Plays nothing: mixer_output.rs creates the tracks.

use super::limiter::{self, LimiterSettings};
use super::limits::{ATTENUATION_DECIBELS, DECIBELS};
use super::source_fields::{self, SourceBlock};
use engine_foundation::Error;
use engine_foundation::blob::{BlobReader, BlobWriter, NumberRange, within};
use engine_foundation::error;
use engine_foundation::hash::IdString32;
use engine_foundation::sjson::{SjsonValue, ValueKind};

/// The most buses of a mixer.
pub const BUSES_MAX: usize = 32;
/// The most effects of one bus.
pub const EFFECTS_MAX: usize = 8;
/// The root bus, to which all others lead.
pub const MASTER: &str = "master";

/// One number of an effect: its key, default, minimum and maximum.
type EffectParameter = (&'static str, f32, f32, f32);

/// A kind of effect.
pub struct EffectKind {
    pub name: &'static str,
    pub parameters: &'static [EffectParameter],
}

/// The kinds of effects; the index is the number in the compiled form.
pub const EFFECTS: [EffectKind; 4] = [
    EffectKind {
        name: "reverb",
        parameters: &[
            ("mix", 0.3, 0.0, 1.0),
            ("feedback", 0.8, 0.0, 0.99),
            ("damping", 0.3, 0.0, 1.0),
            ("width", 1.0, 0.0, 1.0),
        ],
    },
    EffectKind {
        name: "delay",
        parameters: &[
            ("mix", 0.3, 0.0, 1.0),
            ("seconds", 0.3, 0.001, 5.0),
            ("feedback_db", -8.0, -100.0, -0.1),
        ],
    },
    EffectKind {
        name: "filter",
        parameters: &[
            ("mix", 1.0, 0.0, 1.0),
            ("cutoff_hz", 1000.0, 20.0, 24_000.0),
            ("resonance", 0.0, 0.0, 1.0),
            // 0 low-pass, 1 band-pass, 2 high-pass, 3 notch: from the text of `mode`.
            ("mode", 0.0, 0.0, 3.0),
        ],
    },
    EffectKind {
        name: "compressor",
        parameters: &[
            ("mix", 1.0, 0.0, 1.0),
            ("threshold_db", -12.0, -100.0, 0.0),
            ("ratio", 4.0, 1.0, 100.0),
            ("attack_seconds", 0.01, 0.0001, 10.0),
            ("release_seconds", 0.1, 0.0001, 10.0),
            ("makeup_db", 0.0, -24.0, 24.0),
        ],
    },
];

/// Range of the attack and release times of ducking, in seconds.
const DUCK_SECONDS: NumberRange = (0.001, 60.0);

/// Indices into [`EFFECTS`].
pub const REVERB: usize = 0;
pub const DELAY: usize = 1;
pub const FILTER: usize = 2;

/// Names and numbers of the filter modes, in the order of their numbers.
const MODES: [(&str, f32); 4] =
    [("low_pass", 0.0), ("band_pass", 1.0), ("high_pass", 2.0), ("notch", 3.0)];

/// An effect on a bus.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BusEffect {
    /// Index into [`EFFECTS`].
    pub kind: usize,
    /// Values of the parameters, in the order of the kind's `parameters`.
    pub values: [f32; 6],
}

/// A ducking rule: the reduction of a bus while another bus is audible.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DuckingRule {
    /// The bus whose voices trigger the ducking.
    pub by: usize,
    /// Reduction of this bus's volume while a voice of the other bus is audible.
    pub volume_db: f32,
    pub attack_seconds: f32,
    pub release_seconds: f32,
}

/// One bus.
#[derive(Clone, Debug, PartialEq)]
pub struct MixerBus {
    pub name: String,
    pub id: IdString32,
    /// The bus that this bus leads to, an earlier one; `None` for the master.
    pub parent: Option<usize>,
    pub volume_db: f32,
    pub effects: Vec<BusEffect>,
    pub duck: Option<DuckingRule>,
}

impl MixerBus {
    fn new(name: &str, parent: Option<usize>) -> MixerBus {
        let (id, effects) = (IdString32::new(name), Vec::new());
        MixerBus { name: name.to_string(), id, parent, volume_db: 0.0, effects, duck: None }
    }

    /// Rejects numbers that no text could produce.
    fn check(&self) -> Result<(), Error> {
        within("volume_db", self.volume_db, DECIBELS)?;
        if self.effects.len() > EFFECTS_MAX {
            return Err(error!("it is damaged: a bus has more than {EFFECTS_MAX} effects"));
        }
        for effect in &self.effects {
            let parameters = EFFECTS[effect.kind].parameters;
            for ((key, _, least, most), value) in parameters.iter().zip(effect.values) {
                within(key, value, (*least, *most))?;
                if *key == "mode" && value.fract() != 0.0 {
                    return Err(error!("it is damaged: there is no mode {value}"));
                }
            }
        }
        let Some(duck) = self.duck else { return Ok(()) };
        within("volume_db", duck.volume_db, ATTENUATION_DECIBELS)?;
        within("attack_seconds", duck.attack_seconds, DUCK_SECONDS)?;
        within("release_seconds", duck.release_seconds, DUCK_SECONDS)
    }
}

/// The buses of a game, the master first.
#[derive(Clone, Debug, PartialEq)]
pub struct MixerData {
    pub buses: Vec<MixerBus>,
    /// The limiter of the master; `None` if it is switched off.
    pub limiter: Option<LimiterSettings>,
}

impl MixerData {
    /// Returns the buses of a game that has no mixer of its own.
    pub fn standard() -> MixerData {
        let mut buses = vec![MixerBus::new(MASTER, None)];
        buses.extend(
            ["effects", "music", "voice", "interface"].map(|name| MixerBus::new(name, Some(0))),
        );
        MixerData { buses, limiter: Some(LimiterSettings::DEFAULT) }
    }

    /// Returns the index of a bus.
    pub fn find(&self, name: &str) -> Option<usize> {
        let id = IdString32::new(name);
        self.buses.iter().position(|bus| bus.id == id)
    }

    /// Returns the error message for an unknown bus.
    pub fn missing_bus_message(&self, name: &str) -> String {
        let names = self.buses.iter().map(|bus| bus.name.as_str());
        let hint = engine_foundation::suggest::hint(name, names.clone());
        let known = names.collect::<Vec<_>>().join(", ");
        format!("there is no bus '{name}'{hint} (known: {known})")
    }

    pub fn write(&self) -> Vec<u8> {
        let mut writer = BlobWriter::default();
        writer.u8(u8::from(self.limiter.is_some()));
        let limiter = self.limiter.unwrap_or(LimiterSettings::DEFAULT);
        writer.u32(limiter.ceiling_db.to_bits());
        writer.u32(limiter.release_seconds.to_bits());
        writer.list(&self.buses, |writer, bus| {
            writer.text(&bus.name);
            writer.u32(bus.parent.map_or(u32::MAX, |parent| parent as u32));
            writer.u32(bus.volume_db.to_bits());
            writer.list(&bus.effects, |writer, effect| {
                writer.u8(effect.kind as u8);
                effect.values.into_iter().for_each(|value| writer.u32(value.to_bits()));
            });
            writer.u32(bus.duck.map_or(u32::MAX, |duck| duck.by as u32));
            let duck = bus.duck.map_or([0.0; 3], |duck| {
                [duck.volume_db, duck.attack_seconds, duck.release_seconds]
            });
            duck.into_iter().for_each(|value| writer.u32(value.to_bits()));
        });
        writer.finish()
    }

    pub fn read(bytes: &[u8]) -> Result<MixerData, Error> {
        let damaged = || error!("it is damaged: a bus leads nowhere");
        let index = |word: u32| (word != u32::MAX).then_some(word as usize);
        let mut reader = BlobReader::new(bytes);
        let limiter = read_limiter(&mut reader)?;
        let buses = reader.list_at_most((BUSES_MAX, "BUSES_MAX"), |reader| {
            let mut bus = MixerBus::new(reader.text()?, index(reader.u32()?));
            bus.volume_db = reader.finite()?;
            bus.effects = reader.list(|reader| {
                let kind = usize::from(reader.u8()?);
                let mut values = [0.0; 6];
                for value in &mut values {
                    *value = reader.finite()?;
                }
                if kind >= EFFECTS.len() { Err(damaged()) } else { Ok(BusEffect { kind, values }) }
            })?;
            let by = index(reader.u32()?);
            let [volume_db, attack_seconds, release_seconds] =
                [reader.finite()?, reader.finite()?, reader.finite()?];
            bus.duck = by.map(|by| DuckingRule { by, volume_db, attack_seconds, release_seconds });
            bus.check()?;
            Ok(bus)
        })?;
        reader.end()?;
        let count = buses.len();
        let right = |(i, bus): (usize, &MixerBus)| {
            let duck = bus.duck.is_none_or(|duck| duck.by < count && duck.by != i);
            let parent = if i == 0 { bus.parent.is_none() } else { bus.parent < Some(i) };
            duck && parent && (i == 0 || bus.parent.is_some())
        };
        let whole = (1..=BUSES_MAX).contains(&count) && buses.iter().enumerate().all(right);
        let mut ids: Vec<u32> = buses.iter().map(|bus| bus.id.0).collect();
        ids.sort_unstable();
        let are_distinct = ids.is_sorted_by(|a, b| a < b) && whole && buses[0].name == MASTER;
        if are_distinct { Ok(MixerData { buses, limiter }) } else { Err(damaged()) }
    }
}

/// Reads the compiled form of the limiter.
fn read_limiter(reader: &mut BlobReader) -> Result<Option<LimiterSettings>, Error> {
    let is_on = reader.flag()?;
    let [ceiling_db, release_seconds] = [reader.finite()?, reader.finite()?];
    within("ceiling_db", ceiling_db, limiter::CEILING_DB)?;
    within("release_seconds", release_seconds, limiter::RELEASE_SECONDS)?;
    Ok(is_on.then_some(LimiterSettings { ceiling_db, release_seconds }))
}

const BUS_KEYS: &[&str] = &["parent", "volume_db", "effects", "duck"];

/// Parses the text of a mixer.
pub fn parse(path: &str, root: SjsonValue) -> Result<MixerData, Error> {
    let mixer = SourceBlock::open(path, root, "a mixer", &["master", "buses"])?;
    let mut buses = vec![MixerBus::new(MASTER, None)];
    let mut limiter = Some(LimiterSettings::DEFAULT);
    if let Some(value) = mixer.get("master") {
        let known = &["volume_db", "effects", "limiter"];
        let block = SourceBlock::open(path, value, "'master'", known)?;
        read_bus(&block, &mut buses[0])?;
        limiter = parse_limiter(&block)?;
    }
    let must = "'buses' must be a block of names and buses: { music = { volume_db = -6 } }";
    let blocks = match mixer.get("buses") {
        Some(value) => value.entries().ok_or_else(|| mixer.fault(value, must))?.collect(),
        None => Vec::new(),
    };
    if blocks.len() >= BUSES_MAX {
        let message =
            format!("a mixer can have {BUSES_MAX} buses (BUSES_MAX), the master included");
        return Err(mixer.fault(root, &message));
    }
    for entry in &blocks {
        let block = SourceBlock::open(path, entry.value, "a bus", BUS_KEYS)?;
        let parent = block.text("parent")?.unwrap_or(MASTER);
        let Some(at) = buses.iter().position(|bus| bus.name == parent) else {
            let message = format!(
                "the bus '{}' leads to '{parent}', which is not defined before it",
                entry.key
            );
            return Err(block.fault(entry.value, &message));
        };
        let mut bus = MixerBus::new(entry.key, Some(at));
        if let Some(other) = buses.iter().find(|other| other.id == bus.id) {
            let message = format!("the buses '{}' and '{}' clash", other.name, bus.name);
            return Err(block.fault(entry.value, &message));
        }
        read_bus(&block, &mut bus)?;
        buses.push(bus);
    }
    for entry in &blocks {
        if let Some(value) = entry.value.get("duck") {
            let duck = read_duck(path, value, entry.key, &buses)?;
            let bus = buses.iter_mut().find(|bus| bus.name == entry.key);
            bus.expect("it was created above").duck = Some(duck);
        }
    }
    Ok(MixerData { buses, limiter })
}

/// Parses the limiter of the master, which is on unless it is switched off.
fn parse_limiter(master: &SourceBlock) -> Result<Option<LimiterSettings>, Error> {
    let mut limiter = LimiterSettings::DEFAULT;
    let Some(value) = master.get("limiter") else { return Ok(Some(limiter)) };
    match (value.as_bool(), value.kind()) {
        (Some(is_on), _) => return Ok(is_on.then_some(limiter)),
        (None, ValueKind::Object) => {}
        (None, kind) => {
            let message = format!(
                "'limiter' must be false or a block: limiter = {{ ceiling_db = -1 }}, got {kind}"
            );
            return Err(master.fault(value, &message));
        }
    }
    let known = &["ceiling_db", "release_seconds"];
    let block = SourceBlock::open(master.path, value, "'limiter'", known)?;
    block.read("ceiling_db", limiter::CEILING_DB, &mut limiter.ceiling_db)?;
    block.read("release_seconds", limiter::RELEASE_SECONDS, &mut limiter.release_seconds)?;
    Ok(Some(limiter))
}

fn read_bus(block: &SourceBlock, bus: &mut MixerBus) -> Result<(), Error> {
    block.read("volume_db", DECIBELS, &mut bus.volume_db)?;
    let Some(list) = block.get("effects") else { return Ok(()) };
    let must = "'effects' must be a list: [ { reverb = { mix = 0.3 } } ]";
    let items = list.items().ok_or_else(|| block.fault(list, must))?;
    if items.len() > EFFECTS_MAX {
        let message = format!("a bus can have {EFFECTS_MAX} effects (EFFECTS_MAX)");
        return Err(block.fault(list, &message));
    }
    for item in items {
        let names = EFFECTS.map(|kind| kind.name);
        let one = SourceBlock::open(block.path, item, "an effect", &names)?;
        let entries = item.entries().into_iter().flatten().collect::<Vec<_>>();
        let [entry] = &entries[..] else {
            return Err(one.fault(item, "an effect must have one kind: { reverb = { … } }"));
        };
        let kind = names.iter().position(|name| *name == entry.key).expect("the key is known");
        bus.effects.push(read_effect(block.path, entry.value, kind)?);
    }
    Ok(())
}

fn read_effect(path: &str, value: SjsonValue, kind: usize) -> Result<BusEffect, Error> {
    let EffectKind { name, parameters } = &EFFECTS[kind];
    let keys: Vec<&str> = parameters.iter().map(|parameter| parameter.0).collect();
    let block = SourceBlock::open(path, value, &format!("'{name}'"), &keys)?;
    let mut values = [0.0; 6];
    for ((key, default, min, max), value) in parameters.iter().zip(&mut values) {
        *value = *default;
        if *key == "mode" {
            block.choice("mode", MODES.into_iter())?.into_iter().for_each(|mode| *value = mode);
        } else {
            block.read(key, (*min, *max), value)?;
        }
    }
    Ok(BusEffect { kind, values })
}

fn read_duck(
    path: &str,
    value: SjsonValue,
    own: &str,
    buses: &[MixerBus],
) -> Result<DuckingRule, Error> {
    let known = &["by", "volume_db", "attack_seconds", "release_seconds"];
    let block = SourceBlock::open(path, value, "'duck'", known)?;
    let Some(by) = block.text("by")? else {
        return Err(block.fault(value, "'duck' must name a bus: by = \"voice\""));
    };
    let at = buses.iter().position(|bus| bus.name == by && by != own).ok_or_else(|| {
        let names = buses.iter().map(|bus| bus.name.as_str()).filter(|name| *name != own);
        let hint = engine_foundation::suggest::hint(by, names);
        source_fields::fault(path, value, &format!("there is no other bus '{by}'{hint}"))
    })?;
    let mut duck =
        DuckingRule { by: at, volume_db: -9.0, attack_seconds: 0.1, release_seconds: 0.5 };
    block.read("volume_db", ATTENUATION_DECIBELS, &mut duck.volume_db)?;
    block.read("attack_seconds", DUCK_SECONDS, &mut duck.attack_seconds)?;
    block.read("release_seconds", DUCK_SECONDS, &mut duck.release_seconds)?;
    Ok(duck)
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine_foundation::sjson;

    fn read(text: &str) -> Result<MixerData, String> {
        parse("a.mixer", sjson::parse(text).unwrap().root()).map_err(|error| error.message)
    }

    fn check(text: &str, wanted: &str) {
        assert_eq!(read(text).map(|_| ()), Err(wanted.to_string()), "{text}");
    }

    #[test]
    fn buses_output_to_earlier_ones_and_survive_a_round_trip() {
        let text = "
            master = { effects = [{ compressor = { ratio = 8 } }] }
            buses = {
              voice = {}
              music = { volume_db = -6, duck = { by = \"voice\", volume_db = -12 } }
              guns = { parent = \"music\", effects = [{ filter = { mode = \"high_pass\" } }] }
            }";
        let mixer = read(text).unwrap();
        let parents: Vec<_> = mixer.buses.iter().map(|bus| bus.parent).collect();
        assert_eq!(parents, [None, Some(0), Some(0), Some(2)]);
        assert_eq!(mixer.buses[2].duck.unwrap().by, 1);
        assert_eq!(mixer.buses[3].effects[0].values[..4], [1.0, 1000.0, 0.0, 2.0]);
        let bytes = mixer.write();
        assert_eq!(MixerData::read(&bytes).unwrap(), mixer);
        for length in 0..bytes.len() {
            assert!(MixerData::read(&bytes[..length]).is_err(), "{length}");
        }
        assert_eq!(MixerData::read(&MixerData::standard().write()).unwrap(), MixerData::standard());
    }

    #[test]
    fn invalid_numbers_in_compiled_data_are_refused() {
        let text = "buses = { a = { effects = [{ delay = {} }, { filter = {} }] \
                    duck = { by = \"b\" } } b = {} }";
        let check = |change: fn(&mut MixerData), wanted: &str| {
            let mut mixer = read(text).unwrap();
            change(&mut mixer);
            let message = MixerData::read(&mixer.write()).unwrap_err().message;
            assert_eq!(message, format!("it is damaged: {wanted}"));
        };
        let seconds = "'seconds' must be 0.001 to 5, got 1000000";
        check(|mixer| mixer.buses[1].effects[0].values[1] = 1e6, seconds);
        check(|mixer| mixer.buses[1].effects[1].values[3] = -1.0, "'mode' must be 0 to 3, got -1");
        check(|mixer| mixer.buses[2].volume_db = 25.0, "'volume_db' must be -100 to 24, got 25");
        check(
            |mixer| mixer.buses[1].duck.as_mut().unwrap().attack_seconds = 0.0,
            "'attack_seconds' must be 0.001 to 60, got 0",
        );
        let many = |mixer: &mut MixerData| {
            let effect = mixer.buses[1].effects[0];
            mixer.buses[1].effects = vec![effect; EFFECTS_MAX + 1];
        };
        check(many, "a bus has more than 8 effects");
        let nowhere = "a bus leads nowhere";
        check(|mixer| mixer.buses[1].name = "b".to_string(), nowhere);
        check(|mixer| mixer.buses[0].name = "m".to_string(), nowhere);
    }

    #[test]
    fn the_limiter_is_on_unless_it_is_switched_off() {
        let limiter = |text: &str| read(text).unwrap().limiter;
        let default = Some(LimiterSettings { ceiling_db: -1.0, release_seconds: 0.1 });
        assert_eq!(MixerData::standard().limiter, default);
        assert_eq!(limiter("master = { limiter = true }"), default);
        assert_eq!(limiter("buses = {}"), default);
        assert_eq!(limiter("master = { limiter = false }"), None);
        let own = limiter("master = { limiter = { ceiling_db = -3, release_seconds = 0.5 } }");
        assert_eq!(own, Some(LimiterSettings { ceiling_db: -3.0, release_seconds: 0.5 }));
        for limiter in [None, own] {
            let mixer = MixerData { limiter, ..MixerData::standard() };
            assert_eq!(MixerData::read(&mixer.write()).unwrap(), mixer);
        }
        let damaged = MixerData {
            limiter: Some(LimiterSettings { ceiling_db: 7.0, release_seconds: 0.1 }),
            ..MixerData::standard()
        };
        assert_eq!(
            MixerData::read(&damaged.write()).unwrap_err().message,
            "it is damaged: 'ceiling_db' must be -24 to 0, got 7"
        );
        check(
            "master = { limiter = { ceiling_db = 1 } }",
            "a.mixer:1: 'ceiling_db' must be -24 to 0, got 1",
        );
        check(
            "master = { limiter = -1 }",
            "a.mixer:1: 'limiter' must be false or a block: limiter = { ceiling_db = -1 }, got \
             number",
        );
        check(
            "master = { limiter = { treshold_db = -1 } }",
            "a.mixer:1: 'limiter' has no 'treshold_db' (known: ceiling_db, release_seconds)",
        );
    }

    #[test]
    fn errors_have_a_line_and_a_remedy() {
        check(
            "buses = { a = { parent = \"b\" } b = {} }",
            "a.mixer:1: the bus 'a' leads to 'b', which is not defined before it",
        );
        check(
            "buses = { a = { effects = [{ revreb = {} }] } }",
            "a.mixer:1: an effect has no 'revreb', did you mean 'reverb'? (known: reverb, delay, \
             filter, compressor)",
        );
        check(
            "buses = { a = { effects = [{ reverb = { feedback = 2 } }] } }",
            "a.mixer:1: 'feedback' must be 0 to 0.99, got 2",
        );
        check("buses = { a = { duck = { by = \"a\" } } }", "a.mixer:1: there is no other bus 'a'");
        check("buses = { master = {} }", "a.mixer:1: the buses 'master' and 'master' clash");
        assert_eq!(
            MixerData::standard().missing_bus_message("musik"),
            "there is no bus 'musik', did you mean 'music'? (known: master, effects, music, \
             voice, interface)"
        );
    }
}
