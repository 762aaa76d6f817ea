//! The data compiler's index and bundles while the disk fails and the power is lost: a game is
//! compiled anew where something is missing, and an old bundle stays until the new one is whole.

use super::bundle::Bundle;
use super::bundling::{Making, make};
use super::compile::{Compiled, Target, compile, data_folder};
use super::kind::{Form, Kind, Kinds};
use super::name::ResourceName;
use super::store::{Data, Store};
use crate::foundation::Error;
use crate::foundation::files::simulation::{Model, Running};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

const PLATFORM: &str = "linux";

static KINDS: &[&Kind] = &[&Kind {
    name: "text",
    words: "Text in capitals",
    extensions: &[("txt", Form::Raw)],
    version: 1,
    compile: |compiling| Ok(compiling.text()?.to_uppercase().into_bytes()),
    validate: |_| Ok(()),
}];

/// A game of three texts, removed at the end with what lies beside it.
struct Game {
    base: PathBuf,
    root: PathBuf,
}

impl Game {
    fn new(name: &str) -> Game {
        let process = std::process::id();
        let base = std::env::temp_dir().join(format!("engine-faults-{process}-{name}"));
        let _ = fs::remove_dir_all(&base);
        let game = Game { root: base.join("game"), base };
        fs::create_dir_all(&game.root).unwrap();
        crate::foundation::log::set_silent(true);
        game.save("first");
        game
    }

    fn save(&self, word: &str) {
        for file in ["a.txt", "b.txt", "c.txt"] {
            fs::write(self.root.join(file), format!("{file} {word}")).unwrap();
        }
    }

    fn compile(&self, data: &Path) -> Result<Compiled, Error> {
        let target = Target {
            root: &self.root,
            data: data.to_path_buf(),
            kinds: Kinds(KINDS),
            source_platform: PLATFORM,
            release: false,
            exclude: &[],
            threads: 1,
        };
        compile(&target, &|_, _| {})
    }

    /// Compiles the game and reads every text; the words of the first problem.
    fn read(&self, data: &Path, word: &str) -> Result<(), String> {
        let compiled = self.compile(data).map_err(|error| error.message)?;
        if let Some(problem) = compiled.problems.first() {
            return Err(problem.clone());
        }
        let mut store = Store::new(compiled.index, Data::Folder(data.to_path_buf(), Kinds(KINDS)));
        for name in ["a", "b", "c"] {
            let bytes = store.read(&ResourceName::new("text", name));
            let bytes = bytes.map_err(|error| error.message)?;
            let wanted = format!("{name}.txt {word}").to_uppercase();
            assert_eq!(String::from_utf8_lossy(&bytes), wanted, "compiled data is stale");
        }
        Ok(())
    }

    fn bundle(&self, compiled: &Compiled, data: &Path, out: &Path) -> Result<u64, Error> {
        let making = Making {
            index: &compiled.index,
            data,
            kinds: Kinds(KINDS),
            platform: PLATFORM,
            game: "game",
            settings: "",
            keeps_path: |_| false,
            is_stopped: || false,
        };
        make(&making, out, &|_, _| {})
    }
}

impl Drop for Game {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.base);
    }
}

/// The text `a` of a bundle that is whole; fails if it is damaged.
fn text_of_bundle(path: &Path) -> String {
    let bundle = Bundle::open(path, &Kinds(KINDS), PLATFORM).expect("the bundle can be opened");
    let texts = (0..bundle.parts().len()).map(|part| {
        String::from_utf8(bundle.read(part).expect("the bundle is whole").to_vec()).unwrap()
    });
    texts.filter(|text| text.starts_with("A.TXT")).collect()
}

#[test]
fn an_operation_that_fails_while_compiling_is_reported_and_made_good_by_the_next_compile() {
    let game = Game::new("compile");
    let disk = Running::below(&game.root);
    let data = data_folder(&game.root, PLATFORM);
    let mut faults = 0;
    for nth in 0.. {
        let word = format!("word {nth}");
        game.save(&word);
        disk.fail(nth, ErrorKind::StorageFull);
        let compiled = game.compile(&data);
        if !disk.repair() {
            assert!(compiled.unwrap().problems.is_empty());
            break;
        }
        faults += 1;
        if let Ok(compiled) = compiled {
            // What fails while a half-written file is removed changes nothing.
            let words = &compiled.problems;
            assert!(words.iter().all(|words| words.contains("a fault of the test")), "{words:?}");
        }
        assert_eq!(game.read(&data, &word), Ok(()), "operation {nth}");
    }
    // Three files and the index, each made, written and renamed.
    assert!(faults >= 12, "only {faults} operations");
}

#[test]
fn a_loss_of_power_while_compiling_is_made_good_by_the_start_after_it_was_noticed() {
    let game = Game::new("compile_power");
    let disk = Running::below(&game.root);
    let data = data_folder(&game.root, PLATFORM);
    for word in ["first", "second"] {
        game.save(word);
        assert_eq!(game.read(&data, word), Ok(()));
    }
    let record = disk.record();
    drop(disk);
    let after = game.base.join("after");
    let (mut model, mut states, mut noticed) = (Model::default(), 0, 0);
    for count in 0..=record.len() {
        // Every state at every operation would be thousands: the sync of nothing keeps them all.
        if count % 3 == 0 || count == record.len() {
            model.lose_power(&game.root, &after, &mut |state| {
                states += 1;
                let data = data_folder(&after, PLATFORM);
                let first = game.read(&data, "second");
                if let Err(words) = &first {
                    noticed += 1;
                    assert!(words.contains("start again, and it is made anew"), "{words}");
                }
                // One start notices a damaged file, and the next one has made all of them again.
                let next = game.read(&data, "second");
                assert_eq!(next, Ok(()), "after {count} operations, {state}");
            });
        }
        if let Some(operation) = record.get(count) {
            model.apply(operation);
        }
    }
    assert!(states > 100 && noticed > 0, "{states} states, {noticed} with damaged data");
}

#[test]
fn the_start_after_damage_was_noticed_makes_all_damaged_files_again() {
    let game = Game::new("damage");
    let data = data_folder(&game.root, PLATFORM);
    let compiled = game.compile(&data).unwrap();
    let damage = || {
        for entry in &compiled.index.entries {
            let length = fs::metadata(data.join(&entry.data)).unwrap().len();
            fs::write(data.join(&entry.data), vec![0; length as usize]).unwrap();
            let file = fs::File::options().append(true).open(data.join(&entry.data)).unwrap();
            // Long before the index.
            file.set_modified(std::time::UNIX_EPOCH).unwrap();
        }
    };
    damage();
    let words = game.read(&data, "first").unwrap_err();
    assert!(words.contains("a.text was damaged"), "{words}");
    assert_eq!(game.read(&data, "first"), Ok(()), "the next start");
    assert_eq!(game.read(&data, "first"), Ok(()));
    // The same while a bundle is made.
    fs::create_dir(game.base.join("out")).unwrap();
    damage();
    let out = game.base.join("out/game.bundle");
    let words = game.bundle(&compiled, &data, &out).unwrap_err().message;
    assert!(words.contains("changed meanwhile: try again"), "{words}");
    let compiled = game.compile(&data).unwrap();
    game.bundle(&compiled, &data, &out).unwrap();
    assert_eq!(text_of_bundle(&out), "A.TXT FIRST");
}

#[test]
fn an_operation_that_fails_while_a_bundle_is_made_leaves_the_old_bundle() {
    let game = Game::new("bundle");
    let data = data_folder(&game.root, PLATFORM);
    let out = game.base.join("out/game.bundle");
    fs::create_dir(game.base.join("out")).unwrap();
    let old = game.compile(&data).unwrap();
    game.bundle(&old, &data, &out).unwrap();
    game.save("second");
    let new = game.compile(&data).unwrap();
    let disk = Running::below(&game.base.join("out"));
    for nth in 0.. {
        disk.fail(nth, ErrorKind::StorageFull);
        let made = game.bundle(&new, &data, &out);
        if !disk.repair() {
            made.unwrap();
            assert!(nth >= 5, "only {nth} operations");
            break;
        }
        // A failure to look for what killed processes left changes nothing.
        if let Err(error) = made {
            assert!(error.message.contains("cannot be written: "), "{}", error.message);
        }
        let text = text_of_bundle(&out);
        assert!(["A.TXT FIRST", "A.TXT SECOND"].contains(&&*text), "operation {nth}: {text}");
        let files = fs::read_dir(game.base.join("out")).unwrap().count();
        assert_eq!(files, 1, "operation {nth} left a half-written bundle");
    }
    assert_eq!(text_of_bundle(&out), "A.TXT SECOND");
}

#[test]
fn a_loss_of_power_leaves_the_old_bundle_or_the_new_one() {
    let game = Game::new("bundle_power");
    let data = data_folder(&game.root, PLATFORM);
    let folder = game.base.join("out");
    fs::create_dir(&folder).unwrap();
    let disk = Running::below(&folder);
    let mut made = Vec::new();
    for word in ["first", "second"] {
        game.save(word);
        let compiled = game.compile(&data).unwrap();
        game.bundle(&compiled, &data, &folder.join("game.bundle")).unwrap();
        made.push((disk.record().len(), format!("a.txt {word}").to_uppercase()));
    }
    let record = disk.record();
    drop(disk);
    let after = game.base.join("after");
    let (mut model, mut states) = (Model::default(), 0);
    for count in 0..=record.len() {
        model.lose_power(&folder, &after, &mut |state| {
            states += 1;
            let path = after.join("game.bundle");
            let least = made.iter().filter(|(operations, _)| *operations <= count).count();
            if path.exists() || least > 0 {
                let text = text_of_bundle(&path);
                let at = made.iter().position(|(_, wanted)| *wanted == text);
                assert!(at.is_some_and(|at| at + 1 >= least), "{count}, {state}: {text}");
            }
        });
        if let Some(operation) = record.get(count) {
            model.apply(operation);
        }
    }
    assert!(states > 20, "only {states} states");
}
