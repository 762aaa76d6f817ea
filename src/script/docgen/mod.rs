//! Documentation generated from the rows and the prelude's comments: definition files for editors,
//! the reference, JSON, and help on a terminal. All formats are written from one model (model.rs).

pub mod json;
pub mod luacats;
pub mod luacats_reader;
pub mod markdown;
pub mod model;
mod nodes_page;
pub mod overloads;
pub mod standard_library;
pub mod text;

use engine_foundation::Error;
use engine_foundation::atomic_file;
use engine_foundation::error;
use engine_foundation::file_access::{self, readers};
use std::path::Path;

pub use model::ApiModel;

/// A generated file that is not yet written.
pub struct GeneratedFile {
    /// Path in the common output folder, with `/`.
    pub name: String,
    pub text: String,
}

/// Returns the definition files for editors: names and texts.
pub fn definitions() -> Vec<(String, String)> {
    luacats::files(&ApiModel::new()).into_iter().map(|file| (file.name, file.text)).collect()
}

/// Writes files into a folder, which is created if it is missing. A file that already has the same
/// text is not written, so that editors do not read it again.
pub fn write(folder: &Path, files: &[GeneratedFile]) -> Result<(), Error> {
    for file in files {
        let path = folder.join(&file.name);
        let read = file_access::read_named(&path, &readers::PAGE);
        let same = read.is_ok_and(|bytes| bytes == file.text.as_bytes());
        if same {
            continue;
        }
        let parent = path.parent().unwrap_or(folder);
        std::fs::create_dir_all(parent)
            .map_err(|reason| error!("the folder {} cannot be made: {reason}", parent.display()))?;
        atomic_file::write_durably(&path, file.text.as_bytes())
            .map_err(|reason| error!("{} cannot be written: {reason}", path.display()))?;
    }
    Ok(())
}
