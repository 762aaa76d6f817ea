//! Playing the samples' game in this process: booted, some frames with what its resources show, no
//! window.

use super::samples::Sample;
use engine::app::kinds::KINDS;
use engine::app::{App, Game, Opening};
use engine::engine::Build;
use engine::foundation::hash::murmur64a;
use engine::resource::index::{Entry, Index};
use engine::resource::store::{Data, Store};
use engine::script::Report;
use engine::system::sound::Destination;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

/// The frames that are played.
const FRAMES: usize = 4;

/// Puts data in the place of a resource's own, for the index to lead to.
pub fn replace(root: &Path, entry: &mut Entry, data: &[u8]) {
    // Others are playing with the resource's own.
    entry.data = format!("{:016x}", murmur64a(data, 11));
    entry.data_content = murmur64a(data, 0);
    std::fs::write(root.join(".data").join(&entry.data), data).unwrap();
}

/// Boots the game, has it use one resource for some frames, and ends it: what the game was told, in
/// words; empty where nothing was wrong. A fault of the engine's fails the test.
pub fn run(root: &Path, index: Index, sample: &Sample) -> String {
    let sound = match &sample.kind[..] {
        // What is heard is mixed, and so decoded.
        "sound" | "mixer" => Destination::File(root.join("heard.wav")),
        _ => Destination::Null,
    };
    let opening = Opening {
        game: Game::Folder(root.to_path_buf()),
        build: Build::Release,
        arguments: vec![sample.kind.clone(), sample.name.clone()],
        seed: 1,
        deterministic: true,
        boot: Some("use".to_string()),
        forget: true,
        sandbox: true,
        coverage: false,
        lines: false,
        store: Some(Store::new(index, Data::Folder(root.join(".data"), KINDS))),
        watch: false,
        threads: Some(1),
        sound,
    };
    let played = catch_unwind(AssertUnwindSafe(|| {
        let mut app =
            App::open(opening).map_err(|error| Box::new(Report::of_words(error.to_string())))?;
        app.start()?;
        for _ in 0..FRAMES {
            app.frame(1.0 / 60.0)?;
            app.end_frame();
        }
        app.shutdown()
    }));
    match played {
        Ok(Ok(())) => String::new(),
        Ok(Err(report)) => {
            assert!(!report.engine_fault, "{sample:?}: {report}");
            report.to_string()
        }
        Err(_) => panic!("{sample:?}: the engine failed"),
    }
}
