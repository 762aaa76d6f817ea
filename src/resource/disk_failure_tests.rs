//! Tests of the data compiler's index and of bundles under disk errors and power loss: missing data
//! is compiled again, and an old bundle stays until the new one is complete.

use super::bundle::Bundle;
use super::bundle_writer::{BundleOptions, write_bundle};
use super::compile::{CompileResult, CompileTarget, compile, data_folder};
use super::resource_kind::{ResourceKind, ResourceKinds, SourceForm};
use super::resource_name::ResourceName;
use super::store::{DataSource, ResourceStore};
use engine_foundation::Error;
use engine_foundation::atomic_file::disk_simulation::{DiskModel, SimulationGuard};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

const PLATFORM: &str = "linux";

static KINDS: &[&ResourceKind] = &[&ResourceKind {
    name: "text",
    doc: "Text in capitals",
    extensions: &[("txt", SourceForm::Raw)],
    version: 1,
    framed: false,
    reload: &[],
    compile: |compiling| Ok(compiling.text()?.to_uppercase().into_bytes()),
    validate: |_| Ok(()),
}];

/// A game with three texts. Dropping it removes its folder and all folders next to it.
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
        engine_foundation::log::set_silent(true);
        game.save("first");
        game
    }

    fn save(&self, text: &str) {
        for file in ["a.txt", "b.txt", "c.txt"] {
            fs::write(self.root.join(file), format!("{file} {text}")).unwrap();
        }
    }

    fn compile(&self, data: &Path) -> Result<CompileResult, Error> {
        let target = CompileTarget {
            root: &self.root,
            data: data.to_path_buf(),
            kinds: ResourceKinds(KINDS),
            source_platform: PLATFORM,
            release: false,
            exclude: &[],
            threads: 1,
        };
        compile(&target, &|_, _| {})
    }

    /// Compiles the game and reads every text. The error is the first problem's message.
    fn read(&self, data: &Path, text: &str) -> Result<(), String> {
        let compiled = self.compile(data).map_err(|error| error.message)?;
        if let Some(problem) = compiled.problems.first() {
            return Err(problem.clone());
        }
        let mut store = ResourceStore::new(
            compiled.index,
            DataSource::Folder(data.to_path_buf(), ResourceKinds(KINDS)),
        );
        for name in ["a", "b", "c"] {
            let bytes = store.read(&ResourceName::new("text", name));
            let bytes = bytes.map_err(|error| error.message)?;
            let wanted = format!("{name}.txt {text}").to_uppercase();
            assert_eq!(String::from_utf8_lossy(&bytes), wanted, "compiled data is stale");
        }
        Ok(())
    }

    fn bundle(&self, compiled: &CompileResult, data: &Path, out: &Path) -> Result<u64, Error> {
        let options = BundleOptions {
            index: &compiled.index,
            data,
            kinds: ResourceKinds(KINDS),
            platform: PLATFORM,
            game: "game",
            settings: "",
            keeps_path: |_| false,
            is_stopped: || false,
        };
        write_bundle(&options, out, &|_, _| {})
    }
}

impl Drop for Game {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.base);
    }
}

/// Returns the text `a` of an intact bundle; panics if the bundle is damaged.
fn text_of_bundle(path: &Path) -> String {
    let bundle =
        Bundle::open(path, &ResourceKinds(KINDS), PLATFORM).expect("the bundle can be opened");
    let texts = (0..bundle.parts().len()).map(|part| {
        String::from_utf8(bundle.read(part).expect("the bundle is whole").to_vec()).unwrap()
    });
    texts.filter(|text| text.starts_with("A.TXT")).collect()
}

#[test]
fn the_next_compile_recovers_from_a_failed_disk_operation() {
    let game = Game::new("compile");
    let disk = SimulationGuard::below(&game.root);
    let data = data_folder(&game.root, PLATFORM);
    let mut faults = 0;
    for nth in 0.. {
        let text = format!("word {nth}");
        game.save(&text);
        disk.fail(nth, ErrorKind::StorageFull);
        let compiled = game.compile(&data);
        if !disk.repair() {
            assert!(compiled.unwrap().problems.is_empty());
            break;
        }
        faults += 1;
        if let Ok(compiled) = compiled {
            // A failure during the removal of a half-written file has no effect.
            let problems = &compiled.problems;
            assert!(
                problems.iter().all(|message| message.contains("a fault of the test")),
                "{problems:?}"
            );
        }
        assert_eq!(game.read(&data, &text), Ok(()), "operation {nth}");
    }
    // Three files and the index, each created, written and renamed.
    assert!(faults >= 12, "only {faults} operations");
}

#[test]
fn compiled_data_recovers_from_a_power_loss() {
    let game = Game::new("compile_power");
    let disk = SimulationGuard::below(&game.root);
    let data = data_folder(&game.root, PLATFORM);
    for text in ["first", "second"] {
        game.save(text);
        assert_eq!(game.read(&data, text), Ok(()));
    }
    let record = disk.record();
    drop(disk);
    let after = game.base.join("after");
    let (mut model, mut states, mut noticed) = (DiskModel::default(), 0, 0);
    for count in 0..=record.len() {
        // Testing every state at every operation would mean thousands of states: without a sync,
        // all of them are possible.
        if count % 3 == 0 || count == record.len() {
            model.lose_power(&game.root, &after, &mut |state| {
                states += 1;
                let data = data_folder(&after, PLATFORM);
                let first = game.read(&data, "second");
                if let Err(message) = &first {
                    noticed += 1;
                    assert!(message.contains("start again, and it is compiled again"), "{message}");
                }
                // One start detects a damaged file, and the next one has written all of them again.
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
fn all_damaged_files_are_recompiled_at_the_next_start() {
    let game = Game::new("damage");
    let data = data_folder(&game.root, PLATFORM);
    let compiled = game.compile(&data).unwrap();
    let damage = || {
        for entry in &compiled.index.entries {
            let length = fs::metadata(data.join(&entry.data)).unwrap().len();
            fs::write(data.join(&entry.data), vec![0; length as usize]).unwrap();
            let file = fs::File::options().append(true).open(data.join(&entry.data)).unwrap();
            // A time long before that of the index.
            file.set_modified(std::time::UNIX_EPOCH).unwrap();
        }
    };
    damage();
    let message = game.read(&data, "first").unwrap_err();
    assert!(message.contains("a.text was damaged"), "{message}");
    assert_eq!(game.read(&data, "first"), Ok(()), "the next start");
    assert_eq!(game.read(&data, "first"), Ok(()));
    // The same test during the writing of a bundle.
    fs::create_dir(game.base.join("out")).unwrap();
    damage();
    let out = game.base.join("out/game.bundle");
    let message = game.bundle(&compiled, &data, &out).unwrap_err().message;
    assert!(message.contains("changed meanwhile: try again"), "{message}");
    let compiled = game.compile(&data).unwrap();
    game.bundle(&compiled, &data, &out).unwrap();
    assert_eq!(text_of_bundle(&out), "A.TXT FIRST");
}

#[test]
fn a_failed_disk_operation_leaves_the_old_bundle() {
    let game = Game::new("bundle");
    let data = data_folder(&game.root, PLATFORM);
    let out = game.base.join("out/game.bundle");
    fs::create_dir(game.base.join("out")).unwrap();
    let old = game.compile(&data).unwrap();
    game.bundle(&old, &data, &out).unwrap();
    game.save("second");
    let new = game.compile(&data).unwrap();
    let disk = SimulationGuard::below(&game.base.join("out"));
    for nth in 0.. {
        disk.fail(nth, ErrorKind::StorageFull);
        let written = game.bundle(&new, &data, &out);
        if !disk.repair() {
            written.unwrap();
            assert!(nth >= 5, "only {nth} operations");
            break;
        }
        // A failure to search for leftovers of killed processes has no effect.
        if let Err(error) = written {
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
fn a_power_loss_leaves_the_old_or_the_new_bundle() {
    let game = Game::new("bundle_power");
    let data = data_folder(&game.root, PLATFORM);
    let folder = game.base.join("out");
    fs::create_dir(&folder).unwrap();
    let disk = SimulationGuard::below(&folder);
    let mut written = Vec::new();
    for text in ["first", "second"] {
        game.save(text);
        let compiled = game.compile(&data).unwrap();
        game.bundle(&compiled, &data, &folder.join("game.bundle")).unwrap();
        written.push((disk.record().len(), format!("a.txt {text}").to_uppercase()));
    }
    let record = disk.record();
    drop(disk);
    let after = game.base.join("after");
    let (mut model, mut states) = (DiskModel::default(), 0);
    for count in 0..=record.len() {
        model.lose_power(&folder, &after, &mut |state| {
            states += 1;
            let path = after.join("game.bundle");
            let least = written.iter().filter(|(operations, _)| *operations <= count).count();
            if path.exists() || least > 0 {
                let text = text_of_bundle(&path);
                let at = written.iter().position(|(_, wanted)| *wanted == text);
                assert!(at.is_some_and(|at| at + 1 >= least), "{count}, {state}: {text}");
            }
        });
        if let Some(operation) = record.get(count) {
            model.apply(operation);
        }
    }
    assert!(states > 20, "only {states} states");
}
