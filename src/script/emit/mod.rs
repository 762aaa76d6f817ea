//! What is made of the rows and the prelude's comments, for people and editors: definition files,
//! the reference, JSON, help on a terminal. All of it is written down from one list (model.rs).

pub mod json;
pub mod luacats;
pub mod markdown;
pub mod model;
pub mod prelude_docs;
pub mod standard;
pub mod text;

use crate::error;
use crate::foundation::Error;
use crate::foundation::file_access::{self, readers};
use crate::foundation::files;
use std::path::Path;

pub use model::Api;

/// A file that was made, not yet written.
pub struct File {
    /// Its path in the folder that all of them go to, with `/`.
    pub name: String,
    pub text: String,
}

/// The definition files for editors: names and texts.
pub fn definitions() -> Vec<(String, String)> {
    luacats::files(&Api::new()).into_iter().map(|file| (file.name, file.text)).collect()
}

/// Writes files into a folder, which is made where it is missing. A file that has the same text
/// already is left alone, so that editors do not read it again.
pub fn write(folder: &Path, files: &[File]) -> Result<(), Error> {
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
        files::write_safely(&path, file.text.as_bytes())
            .map_err(|reason| error!("{} cannot be written: {reason}", path.display()))?;
    }
    Ok(())
}
