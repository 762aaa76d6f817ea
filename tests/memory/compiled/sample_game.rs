//! Plays the samples' game in this process: boots it and plays some frames that use its resources,
//! without a window.

use super::samples::Sample;
use engine::app::resource_kinds::KINDS;
use engine::app::{App, Game, GameLaunch};
use engine::engine::BuildMode;
use engine::foundation::hash::murmur64a;
use engine::resource::index::{IndexEntry, ResourceIndex};
use engine::resource::store::{DataSource, ResourceStore};
use engine::script::ErrorReport;
use engine::system::sound::AudioDestination;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

/// Number of frames to play.
const FRAMES: usize = 4;

/// Replaces the data of a resource in its index entry.
pub fn replace(root: &Path, entry: &mut IndexEntry, data: &[u8]) {
    // A new file, because other threads use the resource's original data.
    entry.data = format!("{:016x}", murmur64a(data, 11));
    entry.data_content = murmur64a(data, 0);
    std::fs::write(root.join(".data").join(&entry.data), data).unwrap();
}

/// Boots the game, lets it use one resource for some frames, and ends it. Returns the error
/// message, or an empty text. A panic of the engine fails the test.
pub fn run(root: &Path, index: ResourceIndex, sample: &Sample) -> String {
    let sound = match &sample.kind[..] {
        // Audible sound is mixed, and therefore decoded.
        "sound" | "mixer" => AudioDestination::File(root.join("heard.wav")),
        _ => AudioDestination::Null,
    };
    let opening = GameLaunch {
        build: BuildMode::Release,
        arguments: vec![sample.kind.clone(), sample.name.clone()],
        seed: 1,
        boot: Some("use".to_string()),
        store: Some(ResourceStore::new(index, DataSource::Folder(root.join(".data"), KINDS))),
        threads: Some(1),
        sound,
        ..GameLaunch::headless(Game::Folder(root.to_path_buf()))
    };
    let played = catch_unwind(AssertUnwindSafe(|| {
        let mut app = App::open(opening)
            .map_err(|error| Box::new(ErrorReport::from_message(error.to_string())))?;
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
