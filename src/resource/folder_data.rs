//! Compiled data in a folder: a file of it is read as the index says. What is damaged or another
//! content is told, and made again by the next compile. Which variant serves is store.rs.

use super::bundle::Bytes;
use super::compile::{read_data, read_index};
use super::index::{self, Entry, Index};
use crate::error;
use crate::foundation::Error;
use crate::foundation::file_access::readers::COMPILED_BYTES_MAX;
use crate::foundation::file_access::{self, FileState, Refusal};
use crate::foundation::files::{disk, write_whole};
use crate::foundation::hash::murmur64a;
use crate::foundation::memory::limit;
use std::collections::HashSet;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// The file that says that data may be another than the index says: after a loss of power, where
/// one file is damaged there are likely more.
const DOUBT: &str = "doubtful";

/// How long data that is not what the index says is looked at again: where it is new, because
/// another engine seems to compile, and where it is not.
const WAIT_NEW: Duration = Duration::from_secs(2);
const WAIT: Duration = Duration::from_millis(40);
const LOOK_AGAIN: Duration = Duration::from_millis(5);

/// The states of data and index before they are read; all zeros for a file that is not there.
#[derive(Clone, Copy, PartialEq)]
struct States {
    data: FileState,
    index: FileState,
}

impl States {
    fn of(folder: &Path, name: &str) -> States {
        let state = |name: &str| {
            let found = file_access::inspect(folder, name);
            found.map_or(FileState::default(), |(_, state)| state)
        };
        States { data: state(name), index: state(index::FILE) }
    }

    /// True if the data was written just now, and the index was not since: a compile is under way.
    fn are_in_the_making(&self) -> bool {
        let modified = UNIX_EPOCH + Duration::from_nanos(self.data.modified);
        // A time that is yet to come says nothing.
        let is_new = SystemTime::now().duration_since(modified).is_ok_and(|age| age < WAIT_NEW);
        is_new && self.data.modified > self.index.modified
    }
}

/// Reads a file of compiled data. One with another content may be newer: another engine on the same
/// folder writes data before the index that says so, and this one has not taken it in yet.
pub fn read(
    folder: &Path,
    name: &str,
    content: u64,
    words: &dyn Fn() -> String,
) -> Result<Bytes, Error> {
    read_by(folder, (name, content), words, &mut || read_data(folder, name))
}

/// The same of a variant.
pub fn read_entry(folder: &Path, entry: &Entry) -> Result<Bytes, Error> {
    read(folder, &entry.data, entry.data_content, &|| entry.resource.to_string())
}

/// The same by a function that reads: it is called again only for a file that is another.
fn read_by(
    folder: &Path,
    (name, content): (&str, u64),
    words: &dyn Fn() -> String,
    read: &mut dyn FnMut() -> Result<Vec<u8>, Refusal>,
) -> Result<Bytes, Error> {
    let began = Instant::now();
    let (mut known, mut refusal) = (None, None);
    loop {
        let states = States::of(folder, name);
        if known.replace(states) != Some(states) {
            // What is too large is refused by its reader.
            if states.data.size <= COMPILED_BYTES_MAX {
                limit::check_room(states.data.size as usize)?;
            }
            refusal = match read() {
                Ok(bytes) => {
                    let found = murmur64a(&bytes, 0);
                    let says = |entry: &Entry| entry.data == name && entry.data_content == found;
                    if found == content || read_index(folder).entries.iter().any(says) {
                        return Ok(Bytes::from(bytes));
                    }
                    None
                }
                Err(refusal) => Some(refusal),
            };
        }
        let wait = if states.are_in_the_making() { WAIT_NEW } else { WAIT };
        if began.elapsed() >= wait {
            break;
        }
        std::thread::sleep(LOOK_AGAIN);
    }
    match refusal {
        Some(reason) => {
            Err(error!("the compiled data of {} ({name}) cannot be read: {reason}", words()))
        }
        None => {
            let path = folder.join(name);
            // Where nothing can be noted, the one file at least is made again.
            if doubt(folder).is_err() {
                let _ = fs::remove_file(&path);
            }
            Err(damaged(&path.display().to_string(), words))
        }
    }
}

/// The error for data that is what the index says, and that its kind cannot use: the file is
/// removed, for what is not there is made again by the next compile.
pub fn refused(folder: &Path, name: &str, fault: Error, words: &dyn Fn() -> String) -> Error {
    if limit::is_shortage(&fault) {
        return error!("{}: {}", words(), fault.message);
    }
    // One that cannot be removed is refused the next time, too.
    let _ = fs::remove_file(folder.join(name));
    damaged(&fault.message, words)
}

/// `fault` says what is wrong.
fn damaged(fault: &str, words: &dyn Fn() -> String) -> Error {
    error!(
        "the compiled data of {} was damaged ({fault}): start again, and it is made anew",
        words()
    )
}

/// Notes that data is not what the index says: the next compile compares all of it.
pub fn doubt(folder: &Path) -> std::io::Result<()> {
    write_whole(&folder.join(DOUBT), b"")
}

/// Of the files that are `present`, leaves out those that are not what the index says, where that
/// is in doubt.
pub fn keep_undamaged(folder: &Path, index: &Index, present: &mut HashSet<String>) {
    if !file_access::is_file(folder, DOUBT) {
        return;
    }
    for entry in &index.entries {
        let is = |bytes: Vec<u8>| murmur64a(&bytes, 0) == entry.data_content;
        if present.contains(&entry.data) && !read_data(folder, &entry.data).is_ok_and(is) {
            present.remove(&entry.data);
        }
    }
}

/// Notes that a compile has made again what was damaged.
pub fn settle(folder: &Path) {
    if file_access::is_file(folder, DOUBT) {
        // One that stays costs the next compile a comparison.
        let _ = disk::remove(&folder.join(DOUBT));
    }
}

#[cfg(test)]
mod tests {
    use super::super::kind::Form;
    use super::super::name::ResourceName;
    use super::super::variant::Properties;
    use super::*;
    use std::path::PathBuf;

    /// A folder with data of one resource, and an index that may say something else of it.
    struct Scene {
        folder: PathBuf,
        entry: Entry,
    }

    impl Scene {
        fn new(name: &str, data: &[u8], index_says: &[u8]) -> Scene {
            let name = format!("engine-{}-folder-data-{name}", std::process::id());
            let folder = std::env::temp_dir().join(name);
            let _ = fs::remove_dir_all(&folder);
            fs::create_dir_all(&folder).unwrap();
            let resource = ResourceName::new("text", "a");
            let properties = Properties::default();
            let entry = Entry {
                data: index::data_name(&resource, &properties),
                resource,
                properties,
                form: Form::Raw,
                kind_version: 1,
                data_content: murmur64a(index_says, 0),
                files: vec![index::Stamp {
                    path: "a.txt".to_string(),
                    state: FileState::default(),
                    content: 0,
                }],
                references: Vec::new(),
            };
            let scene = Scene { folder, entry };
            scene.write_index();
            // The clock ticks: the data is newer.
            std::thread::sleep(Duration::from_millis(30));
            fs::write(scene.folder.join(&scene.entry.data), data).unwrap();
            scene
        }

        fn write_index(&self) {
            let index = Index { entries: vec![self.entry.clone()], ..Index::default() };
            fs::write(self.folder.join(index::FILE), index.to_bytes()).unwrap();
        }

        /// Reads, and counts how often the file is read.
        fn read(&self, content: &[u8]) -> (Result<Bytes, Error>, usize) {
            let mut count = 0;
            let name = &self.entry.data;
            let mut read = || {
                count += 1;
                read_data(&self.folder, name)
            };
            let content = murmur64a(content, 0);
            let words = || "a.text".to_string();
            (read_by(&self.folder, (name, content), &words, &mut read), count)
        }

        fn set_modified(&self, name: &str, time: SystemTime) {
            let file = fs::File::options().append(true).open(self.folder.join(name)).unwrap();
            file.set_modified(time).unwrap();
        }
    }

    impl Drop for Scene {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.folder);
        }
    }

    #[test]
    fn damaged_data_is_read_once_and_makes_the_folder_doubtful() {
        let scene = Scene::new("once", b"damaged", b"whole");
        let hour = Duration::from_secs(3600);
        // As after a loss of power; and a time that an archive can have.
        for time in [SystemTime::now() - hour, SystemTime::now() + hour] {
            scene.set_modified(&scene.entry.data, time);
            let began = Instant::now();
            let (read, count) = scene.read(b"whole");
            let words = read.unwrap_err().message;
            assert!(words.starts_with("the compiled data of a.text was damaged ("), "{words}");
            assert_eq!(count, 1);
            assert!(began.elapsed() < WAIT_NEW, "nobody compiles");
        }
        let index = read_index(&scene.folder);
        let all: HashSet<String> = [scene.entry.data.clone()].into();
        let mut present = all.clone();
        keep_undamaged(&scene.folder, &index, &mut present);
        assert!(present.is_empty());
        settle(&scene.folder);
        let mut present = all.clone();
        keep_undamaged(&scene.folder, &index, &mut present);
        assert_eq!(present, all, "without a doubt nothing is read");
    }

    #[test]
    fn another_engine_that_compiles_is_waited_for() {
        let mut scene = Scene::new("other", b"new", b"old");
        let (folder, mut later) = (scene.folder.clone(), scene.entry.clone());
        later.data_content = murmur64a(b"new", 0);
        scene.entry = later;
        let writer = std::thread::spawn(move || {
            // Much longer than a busy machine takes for the rest of a small compile.
            std::thread::sleep(Duration::from_millis(400));
            scene.write_index();
            scene
        });
        let name = index::data_name(&ResourceName::new("text", "a"), &Properties::default());
        let words = || "a.text".to_string();
        let read = read(&folder, &name, murmur64a(b"old", 0), &words);
        assert_eq!(&*read.unwrap(), b"new");
        let scene = writer.join().unwrap();
        assert!(!scene.folder.join(DOUBT).exists());
        let (read, count) = scene.read(b"old");
        assert_eq!((&*read.unwrap(), count), (&b"new"[..], 1));
    }

    #[test]
    fn data_that_is_not_there_is_asked_for_once() {
        let scene = Scene::new("missing", b"", b"");
        fs::remove_file(scene.folder.join(&scene.entry.data)).unwrap();
        let (read, count) = scene.read(b"");
        let words = read.unwrap_err().message;
        assert!(words.starts_with("the compiled data of a.text ("), "{words}");
        assert!(words.contains("cannot be read: ") && count == 1, "{words}, {count} times");
    }
}
