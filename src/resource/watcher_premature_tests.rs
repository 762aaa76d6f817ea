//! Tests of the watcher: compiles that are not sent because files were saved in the meantime, and
//! the work that they cost.

use super::*;
use engine_foundation::hash::murmur64a;

/// Longer than the events of a save take, and shorter than the compile of [`compile_long`].
const SHORT: Duration = Duration::from_millis(1000);

/// Compile function that takes longer than [`SHORT`] for the script `return 2`, which is saved
/// again in that time.
fn compile_long(
    target: &CompileTarget,
    progress: OnCompileProgress,
) -> Result<(CompileResult, ResourceIndex), Error> {
    let script = target.root.join("a.lua");
    let compiled = compile::compile_without_index(target, progress);
    if std::fs::read(&script).unwrap() == b"return 2" {
        let new = target.root.join(".during");
        std::fs::write(&new, "return 3").unwrap();
        std::fs::rename(new, script).unwrap();
        std::thread::sleep(SHORT * 2);
    }
    compiled
}

#[test]
fn script_saved_again_delays_no_long_compile() {
    let scene = patient("long", SHORT, compile_long);
    scene.replace("a.lua", "return 2");
    for text in ["return 2", "return 3"] {
        let compiled = scene.watch.as_ref().unwrap().wait(LONG).expect("the change is noticed");
        let entry = &compiled.index.variants(&ResourceName::parse("a.lua").unwrap())[0];
        assert_eq!(entry.files[0].content, murmur64a(text.as_bytes(), 0), "{text}");
    }
}

/// Number of compiles of [`compile_that_panics_later`].
static COMPILE_COUNT: Mutex<u32> = Mutex::new(0);

/// Compile function that empties a file at first, and panics in every second compile while the file
/// is empty.
fn compile_that_panics_later(
    target: &CompileTarget,
    progress: OnCompileProgress,
) -> Result<(CompileResult, ResourceIndex), Error> {
    let mut count = panic::lock(&COMPILE_COUNT);
    *count += 1;
    let number = *count;
    drop(count);
    let file = target.root.join("a.config");
    if number == 1 {
        std::fs::write(&file, "").unwrap();
    }
    let is_empty = std::fs::read(&file).unwrap().is_empty();
    assert!(!(is_empty && number.is_multiple_of(2)), "the watch fell");
    compile::compile_without_index(target, progress)
}

#[test]
fn panic_after_a_premature_compile_is_not_retried_forever() {
    let scene = patient("panics_later", SHORT, compile_that_panics_later);
    scene.replace("a.txt", "two");
    let count = || *panic::lock(&COMPILE_COUNT);
    // Premature, panic, and both once more.
    let end = Instant::now() + LONG;
    while count() < 4 {
        assert!(Instant::now() < end, "{} compiles", count());
        std::thread::sleep(QUIET);
    }
    std::thread::sleep(SHORT);
    assert_eq!(count(), 4);
    scene.replace("a.config", "two");
    let mut changed = scene.next(LONG).unwrap().0;
    changed.sort();
    assert_eq!(changed, ["a.config", "a.text"]);
}

#[cfg(unix)]
#[test]
fn resources_without_an_own_event_are_removed_at_once() {
    let mut scene = patient("certain", PATIENT, compile::compile_without_index);
    scene.watch = None;
    std::fs::create_dir(scene.path("folder")).unwrap();
    std::fs::write(scene.path("folder/b.config"), "one").unwrap();
    std::fs::write(scene.path("c.handheld.config"), "one").unwrap();
    std::os::unix::fs::symlink(scene.path("folder"), scene.path("link")).unwrap();
    let how = functions(watcher, compile::compile_without_index);
    let how = WatchFunctions { completion: PATIENT, ..how };
    let (root, data) = (&scene.root, scene.path(".data"));
    let again = ProjectWatcher::with(root, &data, "linux", KINDS, how, Vec::new()).unwrap();
    scene.watch = Some(again);
    scene.replace("a.txt", "two");
    let mut changed = scene.next(LONG).expect("it is noticed").0;
    changed.sort();
    assert_eq!(changed, ["a.text", "c.config", "folder/b.config", "link/b.config"]);
    // The event has the path without the link.
    std::fs::remove_file(scene.path("folder/b.config")).unwrap();
    let mut removed = scene.next(LONG).expect("it is noticed").1;
    removed.sort();
    assert_eq!(removed, ["folder/b.config", "link/b.config"]);
    // Variants for another platform are left out.
    scene.replace("settings.sjson", "platforms = [\"handheld\"]");
    assert_eq!(scene.next(LONG), only("", "c.config"));
}
