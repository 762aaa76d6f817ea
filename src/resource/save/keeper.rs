//! Saves as generations of files: the newest good one is read, three are kept. Every write makes a
//! file of its own with the next number, and only then removes what is older than the third; so
//! whenever the process ends, everything that was ever said to be saved is there. Knows no threads.

use super::Version;
use super::file::{self, Fault, HEAD_BYTES_MAX, Head};
use super::place::Place;
use super::slot::{NUMBER_END, Slot};
use crate::foundation::file_access::{Refusal, readers};
use crate::foundation::{Error, log};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

/// Generations of a save that are kept.
pub const GENERATIONS_KEPT: usize = 3;

/// Says whether content can be used: the words of what is wrong with it.
pub type Check = fn(&[u8]) -> Result<(), Error>;

/// Hears how far a read or write is, from 0 to 1.
pub type Told<'a> = &'a dyn Fn(f64);

/// What was read.
#[derive(Clone, PartialEq, Debug)]
pub struct Loaded {
    pub content: Vec<u8>,
    /// What was wrong with newer generations, where an older one had to be taken.
    pub recovered: Option<String>,
}

/// One line of the list of saves.
#[derive(Clone, PartialEq, Debug)]
pub struct Listed {
    pub slot: Slot,
    /// Of the file, in bytes.
    pub size: u64,
    /// The game's version that wrote it, and when, in seconds since 1970 by the game's clock.
    pub head: Option<(String, f64)>,
    /// Why it cannot be read.
    pub problem: Option<String>,
}

/// One file.
struct Generation {
    number: u64,
    name: String,
    size: u64,
}

/// All saves of a game.
pub struct Keeper {
    pub place: Place,
    /// The version of the running game.
    pub version: String,
    /// As if the disk had no room left.
    pub full: AtomicBool,
}

impl Keeper {
    pub fn new(place: Place, version: &str) -> Keeper {
        Keeper { place, version: version.to_string(), full: AtomicBool::new(false) }
    }

    /// The generations of every save, newest first.
    fn all(&self) -> Result<BTreeMap<Slot, Vec<Generation>>, String> {
        let files = self.place.list();
        let files = files.map_err(|reason| format!("the saves cannot be listed: {reason}"))?;
        let mut all: BTreeMap<Slot, Vec<Generation>> = BTreeMap::new();
        for (name, size) in files {
            if let Some((slot, number)) = Slot::of_file(&name) {
                all.entry(slot).or_default().push(Generation { number, name, size });
            }
        }
        for generations in all.values_mut() {
            generations.sort_by_key(|generation| std::cmp::Reverse(generation.number));
        }
        Ok(all)
    }

    fn generations(&self, slot: &Slot) -> Result<Vec<Generation>, String> {
        Ok(self.all()?.remove(slot).unwrap_or_default())
    }

    fn head(&self, generation: &Generation) -> Result<Head, Fault> {
        let bytes = self.place.read(&generation.name, HEAD_BYTES_MAX, &|_, _| ());
        let head = file::head(&bytes.map_err(unreadable)?)?;
        head.check_size(generation.size)?;
        Ok(head)
    }

    /// Writes a save, so that it is there for good when this returns. Over one of a newer game only
    /// if `version` says so.
    pub fn write(
        &self,
        slot: &Slot,
        content: &[u8],
        time: f64,
        version: Version,
        told: Told,
    ) -> Result<(), String> {
        let at = |words: String| format!("the save \"{}\" cannot be written: {words}", slot.name());
        let mut generations = self.generations(slot)?;
        // A damaged one does not tell who wrote it: the one that is read in its place does.
        let of_a_newer = generations.iter().find_map(|kept| match self.usable(kept, version) {
            Err(Fault::Damaged(_) | Fault::NoMemory(_)) => None,
            Err(Fault::Newer(words)) => Some(Some(words)),
            Ok(()) => Some(None),
        });
        if let Some(words) = of_a_newer.flatten() {
            let name = slot.name();
            return Err(at(format!(
                "the one that is there would be lost, and {words}, or Save.delete(\"{name}\") first"
            )));
        }
        let number = generations.first().map_or(1, |newest| newest.number + 1);
        if number >= NUMBER_END {
            let last = &generations[0].name;
            return Err(at(format!("no number comes after that of {last}: remove that file")));
        }
        let name = slot.file(number);
        let bytes = file::encode(&self.version, time, content).map_err(at)?;
        let all = bytes.len().max(1) as f64;
        let written = match self.full.load(Ordering::Relaxed) {
            true => Err(std::io::ErrorKind::StorageFull.into()),
            false => self.place.write(&name, &bytes, &|done| told(done as f64 / all)),
        };
        written.map_err(|reason| at(reason.to_string()))?;
        // Oldest first, so that there is no moment with a gap.
        while generations.len() >= GENERATIONS_KEPT {
            let oldest = generations.pop().expect("there are some");
            if let Err(reason) = self.place.remove(&oldest.name) {
                // The save itself is written; this one takes room, and is tried again next time.
                let words = format!("the old save {} cannot be removed: {reason}", oldest.name);
                log::warn(&oldest.name, &words);
            }
        }
        self.place.sweep();
        Ok(())
    }

    /// Whether the running game may use a generation, by its head.
    fn usable(&self, generation: &Generation, version: Version) -> Result<(), Fault> {
        let head = self.head(generation)?;
        match version {
            Version::Any => Ok(()),
            Version::NotNewer => head.check_version(&self.version),
        }
    }

    /// Reads the newest good generation. A newer game's save is never passed over for an older one.
    pub fn read(
        &self,
        slot: &Slot,
        version: Version,
        check: Check,
        told: Told,
    ) -> Result<Loaded, String> {
        let name = slot.name();
        let generations = self.generations(slot)?;
        let (mut problem, count) = (None, generations.len());
        for generation in &generations {
            match self.content(generation, version, check, told) {
                Ok(content) => {
                    let recovered = problem.map(|words| {
                        let words = format!(
                            "the newest save \"{name}\" cannot be used ({words}): this is one kept \
                             before it"
                        );
                        log::warn(&generation.name, &words);
                        words
                    });
                    return Ok(Loaded { content, recovered });
                }
                Err(Fault::Newer(words) | Fault::NoMemory(words)) => {
                    return Err(format!("the save \"{name}\" cannot be read: {words}"));
                }
                Err(Fault::Damaged(words)) => problem = problem.or(Some(words)),
            }
        }
        Err(match problem {
            None => format!("there is no save \"{name}\""),
            Some(words) if count == 1 => format!("the save \"{name}\" cannot be read: {words}"),
            Some(words) => format!(
                "the save \"{name}\" cannot be read: {words}; nor can the {} kept before it",
                count - 1
            ),
        })
    }

    fn content(
        &self,
        generation: &Generation,
        version: Version,
        check: Check,
        told: Told,
    ) -> Result<Vec<u8>, Fault> {
        let most = readers::SAVE.bytes_max;
        if generation.size > most {
            return Err(Fault::Damaged(Refusal::Size(&readers::SAVE).to_string()));
        }
        let read = |done: usize, all: usize| told(done as f64 / all.max(1) as f64);
        let bytes = self.place.read(&generation.name, most as usize, &read).map_err(unreadable)?;
        let head = file::head(&bytes)?;
        if version == Version::NotNewer {
            head.check_version(&self.version)?;
        }
        let content = head.content(&bytes)?;
        check(&content)?;
        Ok(content)
    }

    /// The saves that are there, by name, each by its newest good generation; heads are read, not
    /// contents.
    pub fn list(&self) -> Result<Vec<Listed>, String> {
        let mut list = Vec::new();
        for (slot, generations) in self.all()? {
            let (mut problem, mut found) = (None, None);
            for generation in &generations {
                match self.head(generation) {
                    Ok(head) => {
                        found = Some((generation.size, head));
                        break;
                    }
                    Err(Fault::Newer(words) | Fault::NoMemory(words)) => {
                        problem = Some(words);
                        break;
                    }
                    Err(Fault::Damaged(words)) => problem = problem.or(Some(words)),
                }
            }
            list.push(match found {
                Some((size, head)) => {
                    let problem = match head.check_version(&self.version) {
                        Err(Fault::Newer(words)) => Some(words),
                        _ => None,
                    };
                    Listed { slot, size, head: Some((head.version, head.time)), problem }
                }
                None => Listed { slot, size: generations[0].size, head: None, problem },
            });
        }
        Ok(list)
    }

    /// Whether there is a save of that name, good or not.
    pub fn exists(&self, slot: &Slot) -> Result<bool, String> {
        Ok(!self.generations(slot)?.is_empty())
    }

    /// Removes a save with all its generations, oldest first: a process that ends meanwhile leaves
    /// the newest, and not an older one in its place.
    pub fn delete(&self, slot: &Slot) -> Result<(), String> {
        let generations = self.generations(slot)?;
        if generations.is_empty() {
            return Err(format!("there is no save \"{}\"", slot.name()));
        }
        for generation in generations.iter().rev() {
            self.place.remove(&generation.name).map_err(|reason| {
                format!("the save \"{}\" cannot be deleted: {reason}", slot.name())
            })?;
        }
        Ok(())
    }
}

fn unreadable(reason: std::io::Error) -> Fault {
    match reason.kind() {
        std::io::ErrorKind::OutOfMemory => Fault::NoMemory(reason.to_string()),
        _ => Fault::Damaged(format!("its file cannot be read: {reason}")),
    }
}
