//! Mixers: the buses that voices play on, their effects and how they duck each other; the text of a
//! `.mixer` and its compiled form. Plays nothing: output.rs makes tracks of it.

use super::block::{self, Block};
use super::ranges::{DECIBELS, DECIBELS_TAKEN};
use crate::error;
use crate::foundation::Error;
use crate::foundation::blob::{Range, Reader, Writer, within};
use crate::foundation::hash::IdString32;
use crate::foundation::sjson::Value;

/// The most buses of a mixer.
pub const BUSES_MAX: usize = 32;
/// The most effects of one bus.
pub const EFFECTS_MAX: usize = 8;
/// The bus that all others lead to.
pub const MASTER: &str = "master";

/// One number of an effect: its key, what it is where nothing is said, its least and greatest.
type Knob = (&'static str, f32, f32, f32);

/// A kind of effect.
pub struct EffectKind {
    pub name: &'static str,
    pub knobs: &'static [Knob],
}

/// The kinds of effects; a place here is the number in the compiled form.
pub const EFFECTS: [EffectKind; 4] = [
    EffectKind {
        name: "reverb",
        knobs: &[
            ("mix", 0.3, 0.0, 1.0),
            ("feedback", 0.8, 0.0, 0.99),
            ("damping", 0.3, 0.0, 1.0),
            ("width", 1.0, 0.0, 1.0),
        ],
    },
    EffectKind {
        name: "delay",
        knobs: &[
            ("mix", 0.3, 0.0, 1.0),
            ("seconds", 0.3, 0.001, 5.0),
            ("feedback_db", -8.0, -100.0, -0.1),
        ],
    },
    EffectKind {
        name: "filter",
        knobs: &[
            ("mix", 1.0, 0.0, 1.0),
            ("cutoff_hz", 1000.0, 20.0, 24_000.0),
            ("resonance", 0.0, 0.0, 1.0),
            // 0 low-pass, 1 band-pass, 2 high-pass, 3 notch: from the text of `mode`.
            ("mode", 0.0, 0.0, 3.0),
        ],
    },
    EffectKind {
        name: "compressor",
        knobs: &[
            ("mix", 1.0, 0.0, 1.0),
            ("threshold_db", -12.0, -100.0, 0.0),
            ("ratio", 4.0, 1.0, 100.0),
            ("attack_seconds", 0.01, 0.0001, 10.0),
            ("release_seconds", 0.1, 0.0001, 10.0),
            ("makeup_db", 0.0, -24.0, 24.0),
        ],
    },
];

/// Seconds in which a bus makes room for another.
const DUCK_SECONDS: Range = (0.001, 60.0);

/// Places in [`EFFECTS`].
pub const REVERB: usize = 0;
pub const DELAY: usize = 1;
pub const FILTER: usize = 2;

/// The words for the modes of a filter, in the order of their numbers.
const MODES: [(&str, f32); 4] =
    [("low_pass", 0.0), ("band_pass", 1.0), ("high_pass", 2.0), ("notch", 3.0)];

/// An effect on a bus.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Effect {
    /// Its place in [`EFFECTS`].
    pub kind: usize,
    /// In the order of its kind's knobs.
    pub values: [f32; 6],
}

/// How a bus makes room for another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Duck {
    /// The bus whose voices are waited for.
    pub by: usize,
    /// What is taken from this bus's volume while one of them can be heard.
    pub volume_db: f32,
    pub attack_seconds: f32,
    pub release_seconds: f32,
}

/// One bus.
#[derive(Clone, Debug, PartialEq)]
pub struct Bus {
    pub name: String,
    pub id: IdString32,
    /// Where it leads, an earlier one; `None` for the master.
    pub parent: Option<usize>,
    pub volume_db: f32,
    pub effects: Vec<Effect>,
    pub duck: Option<Duck>,
}

impl Bus {
    fn new(name: &str, parent: Option<usize>) -> Bus {
        let (id, effects) = (IdString32::new(name), Vec::new());
        Bus { name: name.to_string(), id, parent, volume_db: 0.0, effects, duck: None }
    }

    /// Refuses numbers that no text could have become.
    fn check(&self) -> Result<(), Error> {
        within("volume_db", self.volume_db, DECIBELS)?;
        if self.effects.len() > EFFECTS_MAX {
            return Err(error!("it is damaged: a bus has more than {EFFECTS_MAX} effects"));
        }
        for effect in &self.effects {
            let knobs = EFFECTS[effect.kind].knobs;
            for ((key, _, least, most), value) in knobs.iter().zip(effect.values) {
                within(key, value, (*least, *most))?;
                if *key == "mode" && value.fract() != 0.0 {
                    return Err(error!("it is damaged: there is no mode {value}"));
                }
            }
        }
        let Some(duck) = self.duck else { return Ok(()) };
        within("volume_db", duck.volume_db, DECIBELS_TAKEN)?;
        within("attack_seconds", duck.attack_seconds, DUCK_SECONDS)?;
        within("release_seconds", duck.release_seconds, DUCK_SECONDS)
    }
}

/// The buses of a game, the master first.
#[derive(Clone, Debug, PartialEq)]
pub struct Mixer {
    pub buses: Vec<Bus>,
}

impl Mixer {
    /// The buses of a game that has no mixer of its own.
    pub fn standard() -> Mixer {
        let mut buses = vec![Bus::new(MASTER, None)];
        buses
            .extend(["effects", "music", "voice", "interface"].map(|name| Bus::new(name, Some(0))));
        Mixer { buses }
    }

    /// The place of a bus.
    pub fn find(&self, name: &str) -> Option<usize> {
        let id = IdString32::new(name);
        self.buses.iter().position(|bus| bus.id == id)
    }

    /// The words for a bus that is not there.
    pub fn missing_words(&self, name: &str) -> String {
        let names = self.buses.iter().map(|bus| bus.name.as_str());
        let hint = crate::foundation::suggest::hint(name, names.clone());
        let known = names.collect::<Vec<_>>().join(", ");
        format!("there is no bus '{name}'{hint} (known: {known})")
    }

    pub fn write(&self) -> Vec<u8> {
        let mut writer = Writer::default();
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

    pub fn read(bytes: &[u8]) -> Result<Mixer, Error> {
        let damaged = || error!("it is damaged: a bus leads nowhere");
        let index = |word: u32| (word != u32::MAX).then_some(word as usize);
        let mut reader = Reader::new(bytes);
        let buses = reader.list_at_most((BUSES_MAX, "BUSES_MAX"), |reader| {
            let mut bus = Bus::new(reader.text()?, index(reader.u32()?));
            bus.volume_db = reader.finite()?;
            bus.effects = reader.list(|reader| {
                let kind = usize::from(reader.u8()?);
                let mut values = [0.0; 6];
                for value in &mut values {
                    *value = reader.finite()?;
                }
                if kind >= EFFECTS.len() { Err(damaged()) } else { Ok(Effect { kind, values }) }
            })?;
            let by = index(reader.u32()?);
            let [volume_db, attack_seconds, release_seconds] =
                [reader.finite()?, reader.finite()?, reader.finite()?];
            bus.duck = by.map(|by| Duck { by, volume_db, attack_seconds, release_seconds });
            bus.check()?;
            Ok(bus)
        })?;
        reader.end()?;
        let count = buses.len();
        let right = |(i, bus): (usize, &Bus)| {
            let duck = bus.duck.is_none_or(|duck| duck.by < count && duck.by != i);
            let parent = if i == 0 { bus.parent.is_none() } else { bus.parent < Some(i) };
            duck && parent && (i == 0 || bus.parent.is_some())
        };
        let whole = (1..=BUSES_MAX).contains(&count) && buses.iter().enumerate().all(right);
        let mut ids: Vec<u32> = buses.iter().map(|bus| bus.id.0).collect();
        ids.sort_unstable();
        let apart = ids.is_sorted_by(|a, b| a < b) && whole && buses[0].name == MASTER;
        if apart { Ok(Mixer { buses }) } else { Err(damaged()) }
    }
}

const BUS_KEYS: &[&str] = &["parent", "volume_db", "effects", "duck"];

/// Reads the text of a mixer.
pub fn parse(path: &str, root: Value) -> Result<Mixer, Error> {
    let mixer = Block::open(path, root, "a mixer", &["master", "buses"])?;
    let mut buses = vec![Bus::new(MASTER, None)];
    if let Some(value) = mixer.get("master") {
        let block = Block::open(path, value, "'master'", &["volume_db", "effects"])?;
        read_bus(&block, &mut buses[0])?;
    }
    let must = "'buses' must be a block of names and buses: { music = { volume_db = -6 } }";
    let blocks = match mixer.get("buses") {
        Some(value) => value.entries().ok_or_else(|| mixer.fault(value, must))?.collect(),
        None => Vec::new(),
    };
    if blocks.len() >= BUSES_MAX {
        let words = format!("a mixer can have {BUSES_MAX} buses (BUSES_MAX), the master included");
        return Err(mixer.fault(root, &words));
    }
    for entry in &blocks {
        let block = Block::open(path, entry.value, "a bus", BUS_KEYS)?;
        let parent = block.text("parent")?.unwrap_or(MASTER);
        let Some(at) = buses.iter().position(|bus| bus.name == parent) else {
            let words = format!(
                "the bus '{}' leads to '{parent}', which does not stand before it",
                entry.key
            );
            return Err(block.fault(entry.value, &words));
        };
        let mut bus = Bus::new(entry.key, Some(at));
        if let Some(other) = buses.iter().find(|other| other.id == bus.id) {
            let words = format!("the buses '{}' and '{}' clash", other.name, bus.name);
            return Err(block.fault(entry.value, &words));
        }
        read_bus(&block, &mut bus)?;
        buses.push(bus);
    }
    for entry in &blocks {
        if let Some(value) = entry.value.get("duck") {
            let duck = read_duck(path, value, entry.key, &buses)?;
            let bus = buses.iter_mut().find(|bus| bus.name == entry.key);
            bus.expect("it was made above").duck = Some(duck);
        }
    }
    Ok(Mixer { buses })
}

fn read_bus(block: &Block, bus: &mut Bus) -> Result<(), Error> {
    block.read("volume_db", DECIBELS, &mut bus.volume_db)?;
    let Some(list) = block.get("effects") else { return Ok(()) };
    let must = "'effects' must be a list: [ { reverb = { mix = 0.3 } } ]";
    let items = list.items().ok_or_else(|| block.fault(list, must))?;
    if items.len() > EFFECTS_MAX {
        let words = format!("a bus can have {EFFECTS_MAX} effects (EFFECTS_MAX)");
        return Err(block.fault(list, &words));
    }
    for item in items {
        let names = EFFECTS.map(|kind| kind.name);
        let one = Block::open(block.path, item, "an effect", &names)?;
        let given = item.entries().into_iter().flatten().collect::<Vec<_>>();
        let [entry] = &given[..] else {
            return Err(one.fault(item, "an effect must have one kind: { reverb = { … } }"));
        };
        let kind = names.iter().position(|name| *name == entry.key).expect("the key is known");
        bus.effects.push(read_effect(block.path, entry.value, kind)?);
    }
    Ok(())
}

fn read_effect(path: &str, value: Value, kind: usize) -> Result<Effect, Error> {
    let EffectKind { name, knobs } = &EFFECTS[kind];
    let keys: Vec<&str> = knobs.iter().map(|knob| knob.0).collect();
    let block = Block::open(path, value, &format!("'{name}'"), &keys)?;
    let mut values = [0.0; 6];
    for ((key, default, min, max), place) in knobs.iter().zip(&mut values) {
        *place = *default;
        if *key == "mode" {
            block.choice("mode", MODES.into_iter())?.into_iter().for_each(|mode| *place = mode);
        } else {
            block.read(key, (*min, *max), place)?;
        }
    }
    Ok(Effect { kind, values })
}

fn read_duck(path: &str, value: Value, own: &str, buses: &[Bus]) -> Result<Duck, Error> {
    let known = &["by", "volume_db", "attack_seconds", "release_seconds"];
    let block = Block::open(path, value, "'duck'", known)?;
    let Some(by) = block.text("by")? else {
        return Err(block.fault(value, "'duck' must say for which bus: by = \"voice\""));
    };
    let at = buses.iter().position(|bus| bus.name == by && by != own).ok_or_else(|| {
        let names = buses.iter().map(|bus| bus.name.as_str()).filter(|name| *name != own);
        let hint = crate::foundation::suggest::hint(by, names);
        block::fault(path, value, &format!("there is no other bus '{by}'{hint}"))
    })?;
    let mut duck = Duck { by: at, volume_db: -9.0, attack_seconds: 0.1, release_seconds: 0.5 };
    block.read("volume_db", DECIBELS_TAKEN, &mut duck.volume_db)?;
    block.read("attack_seconds", DUCK_SECONDS, &mut duck.attack_seconds)?;
    block.read("release_seconds", DUCK_SECONDS, &mut duck.release_seconds)?;
    Ok(duck)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::foundation::sjson;

    fn read(text: &str) -> Result<Mixer, String> {
        parse("a.mixer", sjson::parse(text).unwrap().root()).map_err(|error| error.message)
    }

    fn check(text: &str, wanted: &str) {
        assert_eq!(read(text).map(|_| ()), Err(wanted.to_string()), "{text}");
    }

    #[test]
    fn buses_lead_to_earlier_ones_and_are_read_as_they_were_written() {
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
        assert_eq!(Mixer::read(&bytes).unwrap(), mixer);
        for length in 0..bytes.len() {
            assert!(Mixer::read(&bytes[..length]).is_err(), "{length}");
        }
        assert_eq!(Mixer::read(&Mixer::standard().write()).unwrap(), Mixer::standard());
    }

    #[test]
    fn numbers_that_no_text_has_are_refused_in_the_compiled_form_too() {
        let text = "buses = { a = { effects = [{ delay = {} }, { filter = {} }] \
                    duck = { by = \"b\" } } b = {} }";
        let check = |change: fn(&mut Mixer), wanted: &str| {
            let mut mixer = read(text).unwrap();
            change(&mut mixer);
            let words = Mixer::read(&mixer.write()).unwrap_err().message;
            assert_eq!(words, format!("it is damaged: {wanted}"));
        };
        let seconds = "'seconds' must be 0.001 to 5, got 1000000";
        check(|mixer| mixer.buses[1].effects[0].values[1] = 1e6, seconds);
        check(|mixer| mixer.buses[1].effects[1].values[3] = -1.0, "'mode' must be 0 to 3, got -1");
        check(|mixer| mixer.buses[2].volume_db = 25.0, "'volume_db' must be -100 to 24, got 25");
        check(
            |mixer| mixer.buses[1].duck.as_mut().unwrap().attack_seconds = 0.0,
            "'attack_seconds' must be 0.001 to 60, got 0",
        );
        let many = |mixer: &mut Mixer| {
            let effect = mixer.buses[1].effects[0];
            mixer.buses[1].effects = vec![effect; EFFECTS_MAX + 1];
        };
        check(many, "a bus has more than 8 effects");
        let nowhere = "a bus leads nowhere";
        check(|mixer| mixer.buses[1].name = "b".to_string(), nowhere);
        check(|mixer| mixer.buses[0].name = "m".to_string(), nowhere);
    }

    #[test]
    fn what_is_wrong_is_said_with_line_and_remedy() {
        check(
            "buses = { a = { parent = \"b\" } b = {} }",
            "a.mixer:1: the bus 'a' leads to 'b', which does not stand before it",
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
            Mixer::standard().missing_words("musik"),
            "there is no bus 'musik', did you mean 'music'? (known: master, effects, music, \
             voice, interface)"
        );
    }
}
