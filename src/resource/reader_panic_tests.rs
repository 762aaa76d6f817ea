//! Tests of a panic in a reader of compiled data, from the first load to the last: the error names
//! the resource, and all other resources stay usable.

use super::bundle::Bundle;
use super::bundle_writer::{BundleOptions, write_bundle};
use super::compile::{CompileResult, CompileTarget, compile};
use super::data_resources::{self, PACKAGE};
use super::package::Packages;
use super::resource_kind::{ResourceKind, ResourceKinds};
use super::resource_name::ResourceName;
use super::store::{DataSource, ResourceStore};
use engine_foundation::Error;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// If set, the validator panics on data that begins with `fall`.
static FALLS: AtomicBool = AtomicBool::new(false);

/// A text kind with a validator that can panic.
static CLUMSY: ResourceKind = ResourceKind {
    validate: |bytes| {
        let falls = FALLS.load(Ordering::SeqCst) && bytes.starts_with(b"fall");
        assert!(!falls, "the reader fell");
        Ok(())
    },
    ..data_resources::TEXT
};
const KINDS: ResourceKinds = ResourceKinds(&[&PACKAGE, &CLUMSY]);

struct Game(PathBuf);

impl Game {
    fn new() -> Game {
        let game = Game(std::env::temp_dir().join(format!("engine-{}-reader", std::process::id())));
        let _ = fs::remove_dir_all(&game.0);
        fs::create_dir_all(&game.0).unwrap();
        game.save("good", "one");
        game.save("bad", "fall");
        fs::write(game.0.join("all.package"), "text = [\"*\"]").unwrap();
        fs::write(game.0.join("some.package"), "text = [\"good\"]").unwrap();
        game
    }

    fn save(&self, name: &str, text: &str) {
        fs::write(self.0.join(format!("{name}.txt")), text).unwrap();
    }

    fn compile(&self) -> CompileResult {
        let target = CompileTarget {
            root: &self.0,
            data: self.0.join(".data"),
            kinds: KINDS,
            source_platform: "linux",
            release: false,
            exclude: &[],
            threads: 2,
        };
        compile(&target, &|_, _| {}).unwrap()
    }

    fn folder(&self, compiled: &CompileResult) -> ResourceStore {
        ResourceStore::new(compiled.index.clone(), DataSource::Folder(self.0.join(".data"), KINDS))
    }

    fn bundle(&self, compiled: &CompileResult) -> ResourceStore {
        let options = BundleOptions {
            index: &compiled.index,
            data: &self.0.join(".data"),
            kinds: KINDS,
            platform: "linux",
            game: "test",
            settings: "",
            keeps_path: |_| false,
            is_stopped: || false,
        };
        let path = self.0.join("test.bundle");
        write_bundle(&options, &path, &|_, _| {}).unwrap();
        ResourceStore::from_bundle(Arc::new(Bundle::open(&path, &KINDS, "linux").unwrap()))
    }
}

impl Drop for Game {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn read(store: &mut ResourceStore, name: &str) -> Result<String, Error> {
    let bytes = store.read(&ResourceName::new("text", name))?;
    Ok(String::from_utf8(bytes.to_vec()).unwrap())
}

/// Asserts that an error is a fault that names this resource.
#[track_caller]
fn names(error: &Error, name: &str) {
    let start = format!("the engine failed at {name}: the reader fell");
    assert!(error.is_engine_fault && error.message.starts_with(&start), "{error}");
    assert!(error.message.ends_with(": export the file again, and report this"), "{error}");
}

#[test]
fn a_panic_in_a_reader_fails_only_its_resource() {
    let game = Game::new();
    let compiled = game.compile();
    let stores = [(game.folder(&compiled), "bad.text"), (game.bundle(&compiled), "#")];
    FALLS.store(true, Ordering::SeqCst);
    for (mut store, in_package) in stores {
        // The first load.
        names(&read(&mut store, "bad").unwrap_err(), "bad.text");
        assert_eq!(read(&mut store, "good").unwrap(), "one");
        // A load of a package; its thread continues. A bundle identifies the members by hash.
        let mut packages = Packages::default();
        let all = packages.add("all", &store).unwrap();
        let some = packages.add("some", &store).unwrap();
        packages.load(all, &mut store).unwrap();
        packages.load(some, &mut store).unwrap();
        let problems = packages.take_loaded(&mut store, true);
        let [problem] = &problems[..] else { panic!("{problems:?}") };
        let name = match in_package {
            "#" => format!("#{}", ResourceName::new("text", "bad").id()),
            name => name.to_string(),
        };
        names(problem, &name);
        assert_eq!(problem.contexts, ["When loading package: all"]);
        assert!(packages.has_loaded(some).unwrap());
        // The data is not damaged. It is usable by an engine without the defect.
        FALLS.store(false, Ordering::SeqCst);
        assert_eq!(read(&mut store, "bad").unwrap(), "fall");
        packages.load(all, &mut store).unwrap();
        packages.flush(all, &mut store).unwrap();
        FALLS.store(true, Ordering::SeqCst);
    }
    // A reload: the data compiler reads its own output, and keeps the last valid data.
    FALLS.store(false, Ordering::SeqCst);
    let mut store = game.folder(&compiled);
    FALLS.store(true, Ordering::SeqCst);
    game.save("bad", "fall again");
    game.save("good", "two");
    let compiled = game.compile();
    let [message] = &compiled.problems[..] else { panic!("{:?}", compiled.problems) };
    let start = "bad.txt: the engine failed at the text 'bad': the reader fell";
    assert!(message.starts_with(start), "{message}");
    assert!(compiled.index.broken.is_empty(), "an engine without the fault tries it again");
    store.replace(compiled.index, &compiled.changed);
    assert_eq!(read(&mut store, "good").unwrap(), "two");
    FALLS.store(false, Ordering::SeqCst);
    assert_eq!(read(&mut store, "bad").unwrap(), "fall");
    assert_eq!(game.compile().problems, [""; 0]);
}
