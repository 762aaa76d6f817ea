//! Compiled data in a folder: reads a data file and checks it against the index. Damaged data, or
//! data with another content, is reported, and the next compile writes it again. The selection of
//! the variant is in store.rs.

use super::bundle::SharedBytes;
use super::compile::{read_data, read_index};
use super::index::{self, IndexEntry, ResourceIndex};
use engine_foundation::Error;
use engine_foundation::atomic_file::{disk, write_whole};
use engine_foundation::error;
use engine_foundation::file_access::readers::COMPILED_BYTES_MAX;
use engine_foundation::file_access::{self, AccessError, FileState};
use engine_foundation::hash::murmur64a;
use engine_foundation::memory::limit;
use std::collections::HashSet;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Marker file that says that data may differ from the index. After a power loss, one damaged file
/// makes more damaged files likely.
const DAMAGED_MARK: &str = "doubtful";

/// Time during which data that differs from the index is read again. `WAIT_NEW` applies to recently
/// written data, because another engine is probably compiling; `WAIT` applies to all other data.
const WAIT_NEW: Duration = Duration::from_secs(2);
const WAIT: Duration = Duration::from_millis(40);
const RETRY_INTERVAL: Duration = Duration::from_millis(5);

/// File states of data and index before they are read. All zeros for a missing file.
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

    /// Returns true if the data was written recently and after the index. A compile is then in
    /// progress.
    fn are_being_written(&self) -> bool {
        let modified = UNIX_EPOCH + Duration::from_nanos(self.data.modified);
        // A time in the future is not evidence.
        let is_new = SystemTime::now().duration_since(modified).is_ok_and(|age| age < WAIT_NEW);
        is_new && self.data.modified > self.index.modified
    }
}

/// Reads a file of compiled data and checks its content hash. Data with another content may be
/// newer: another engine on the same folder writes data before its index, and this engine has not
/// loaded that index yet.
pub fn read(
    folder: &Path,
    name: &str,
    content: u64,
    describe: &dyn Fn() -> String,
) -> Result<SharedBytes, Error> {
    read_with(folder, (name, content), describe, &mut || read_data(folder, name))
}

/// Opens a file of compiled data. Also returns its size in bytes, and its state before the opening.
/// A file that cannot be opened is tried again, as by [`read`].
pub fn open(folder: &Path, name: &str) -> Result<(fs::File, u64, FileState), AccessError> {
    open_within(folder, name, WAIT)
}

fn open_within(
    folder: &Path,
    name: &str,
    wait: Duration,
) -> Result<(fs::File, u64, FileState), AccessError> {
    let began = Instant::now();
    loop {
        let states = States::of(folder, name);
        let refusal = match file_access::open_with_size(folder, name) {
            Ok((file, bytes)) => return Ok((file, bytes, states.data)),
            Err(refusal) => refusal,
        };
        let wait = if states.are_being_written() { WAIT_NEW } else { wait };
        if began.elapsed() >= wait {
            return Err(refusal);
        }
        std::thread::sleep(RETRY_INTERVAL);
    }
}

/// Reads the data of an index entry.
pub fn read_entry(folder: &Path, entry: &IndexEntry) -> Result<SharedBytes, Error> {
    read(folder, &entry.data, entry.data_content, &|| entry.resource.to_string())
}

/// Reads data through a function. The function is called again only if the file has changed since
/// its last call.
fn read_with(
    folder: &Path,
    (name, content): (&str, u64),
    describe: &dyn Fn() -> String,
    read: &mut dyn FnMut() -> Result<Vec<u8>, AccessError>,
) -> Result<SharedBytes, Error> {
    let began = Instant::now();
    let (mut known, mut refusal) = (None, None);
    loop {
        let states = States::of(folder, name);
        if known.replace(states) != Some(states) {
            // The reader refuses a file that is too large.
            if states.data.size <= COMPILED_BYTES_MAX {
                limit::check_room(states.data.size as usize)?;
            }
            refusal = match read() {
                Ok(bytes) => {
                    let content_found = murmur64a(&bytes, 0);
                    let is_listed = |entry: &IndexEntry| {
                        entry.data == name && entry.data_content == content_found
                    };
                    if content_found == content || read_index(folder).entries.iter().any(is_listed)
                    {
                        return Ok(SharedBytes::from(bytes));
                    }
                    None
                }
                Err(refusal) => Some(refusal),
            };
        }
        let wait = if states.are_being_written() { WAIT_NEW } else { WAIT };
        if began.elapsed() >= wait {
            break;
        }
        std::thread::sleep(RETRY_INTERVAL);
    }
    match refusal {
        Some(reason) => {
            Err(error!("the compiled data of {} ({name}) cannot be read: {reason}", describe()))
        }
        None => {
            let path = folder.join(name);
            // If the marker cannot be written, at least this file is removed, so the next compile
            // writes it again.
            if mark_damaged(folder).is_err() {
                let _ = fs::remove_file(&path);
            }
            Err(damage_error(&path.display().to_string(), describe))
        }
    }
}

/// Removes data that matches the index but that its kind cannot use, and returns the error. The
/// next compile writes missing data again.
pub fn discard_invalid(
    folder: &Path,
    name: &str,
    error: Error,
    describe: &dyn Fn() -> String,
) -> Error {
    if limit::is_shortage(&error) {
        return error!("{}: {}", describe(), error.message);
    }
    // A file that cannot be removed is refused again the next time.
    let _ = fs::remove_file(folder.join(name));
    damage_error(&error.message, describe)
}

/// Removes data that [`open`] has opened and that was found damaged later, and returns the error.
/// `state` is that of the opened file: a file that has replaced it since is kept.
pub fn discard_opened(
    folder: &Path,
    (name, state): (&str, FileState),
    error: Error,
    describe: &dyn Fn() -> String,
) -> Error {
    if States::of(folder, name).data != state {
        return damage_error(&error.message, describe);
    }
    // It was valid when it was compiled, so other files may be damaged, too. Without the marker,
    // the next compile still writes this file again.
    let _ = mark_damaged(folder);
    discard_invalid(folder, name, error, describe)
}

/// Returns the error for damaged data; `reason` describes the defect.
fn damage_error(reason: &str, describe: &dyn Fn() -> String) -> Error {
    error!(
        "the compiled data of {} was damaged ({reason}): start again, and it is compiled again",
        describe()
    )
}

/// Writes the marker file, so that the next compile compares all data with the index.
pub fn mark_damaged(folder: &Path) -> std::io::Result<()> {
    write_whole(&folder.join(DAMAGED_MARK), b"")
}

/// Removes files from `present` if their content differs from the index. Does nothing if the marker
/// file does not exist.
pub fn keep_undamaged(folder: &Path, index: &ResourceIndex, present: &mut HashSet<String>) {
    if !file_access::is_file(folder, DAMAGED_MARK) {
        return;
    }
    for entry in &index.entries {
        let is_intact = |bytes: Vec<u8>| murmur64a(&bytes, 0) == entry.data_content;
        if present.contains(&entry.data) && !read_data(folder, &entry.data).is_ok_and(is_intact) {
            present.remove(&entry.data);
        }
    }
}

/// Removes the marker file after a compile has replaced the damaged data.
pub fn clear_damaged(folder: &Path) {
    if file_access::is_file(folder, DAMAGED_MARK) {
        // A marker that cannot be removed costs the next compile a comparison.
        let _ = disk::remove(&folder.join(DAMAGED_MARK));
    }
}

#[cfg(test)]
mod tests {
    use super::super::resource_kind::SourceForm;
    use super::super::resource_name::ResourceName;
    use super::super::variant::VariantProperties;
    use super::*;
    use std::path::PathBuf;

    /// A folder with the data of one resource, and an index that may not match the data.
    struct Scene {
        folder: PathBuf,
        entry: IndexEntry,
    }

    impl Scene {
        fn new(name: &str, data: &[u8], indexed_data: &[u8]) -> Scene {
            let name = format!("engine-{}-folder-data-{name}", std::process::id());
            let folder = std::env::temp_dir().join(name);
            let _ = fs::remove_dir_all(&folder);
            fs::create_dir_all(&folder).unwrap();
            let resource = ResourceName::new("text", "a");
            let properties = VariantProperties::default();
            let entry = IndexEntry {
                data: index::data_name(&resource, &properties),
                resource,
                properties,
                form: SourceForm::Raw,
                kind_version: 1,
                data_content: murmur64a(indexed_data, 0),
                files: vec![index::FileStamp {
                    path: "a.txt".to_string(),
                    state: FileState::default(),
                    content: 0,
                }],
                references: Vec::new(),
            };
            let scene = Scene { folder, entry };
            scene.write_index();
            // Waits for a clock tick, so that the data is newer than the index.
            std::thread::sleep(Duration::from_millis(30));
            fs::write(scene.folder.join(&scene.entry.data), data).unwrap();
            scene
        }

        fn write_index(&self) {
            let index =
                ResourceIndex { entries: vec![self.entry.clone()], ..ResourceIndex::default() };
            fs::write(self.folder.join(index::FILE), index.to_bytes()).unwrap();
        }

        /// Reads the data, and counts how often the file is read.
        fn read(&self, content: &[u8]) -> (Result<SharedBytes, Error>, usize) {
            let mut count = 0;
            let name = &self.entry.data;
            let mut read = || {
                count += 1;
                read_data(&self.folder, name)
            };
            let content = murmur64a(content, 0);
            let describe = || "a.text".to_string();
            (read_with(&self.folder, (name, content), &describe, &mut read), count)
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
    fn damaged_data_is_read_once_and_marks_the_folder_as_damaged() {
        let scene = Scene::new("once", b"damaged", b"whole");
        let hour = Duration::from_secs(3600);
        // The state after a power loss, and a time stamp from the future that an archive can have.
        for time in [SystemTime::now() - hour, SystemTime::now() + hour] {
            scene.set_modified(&scene.entry.data, time);
            let began = Instant::now();
            let (read, count) = scene.read(b"whole");
            let message = read.unwrap_err().message;
            assert!(message.starts_with("the compiled data of a.text was damaged ("), "{message}");
            assert_eq!(count, 1);
            assert!(began.elapsed() < WAIT_NEW, "nobody compiles");
        }
        let index = read_index(&scene.folder);
        let all: HashSet<String> = [scene.entry.data.clone()].into();
        let mut present = all.clone();
        keep_undamaged(&scene.folder, &index, &mut present);
        assert!(present.is_empty());
        clear_damaged(&scene.folder);
        let mut present = all.clone();
        keep_undamaged(&scene.folder, &index, &mut present);
        assert_eq!(present, all, "without a doubt nothing is read");
    }

    #[test]
    fn compilation_waits_for_another_engine_process() {
        let mut scene = Scene::new("other", b"new", b"old");
        let (folder, mut later) = (scene.folder.clone(), scene.entry.clone());
        later.data_content = murmur64a(b"new", 0);
        scene.entry = later;
        let writer = std::thread::spawn(move || {
            // Much longer than a busy machine needs for the rest of a small compile.
            std::thread::sleep(Duration::from_millis(400));
            scene.write_index();
            scene
        });
        let name = index::data_name(&ResourceName::new("text", "a"), &VariantProperties::default());
        let describe = || "a.text".to_string();
        let read = read(&folder, &name, murmur64a(b"old", 0), &describe);
        assert_eq!(&*read.unwrap(), b"new");
        let scene = writer.join().unwrap();
        assert!(!scene.folder.join(DAMAGED_MARK).exists());
        let (read, count) = scene.read(b"old");
        assert_eq!((&*read.unwrap(), count), (&b"new"[..], 1));
    }

    #[test]
    fn opening_waits_for_a_file_that_is_written() {
        let scene = Scene::new("opened", b"new", b"new");
        let (folder, name) = (scene.folder.clone(), scene.entry.data.clone());
        fs::remove_file(folder.join(&name)).unwrap();
        assert!(open(&folder, &name).is_err());
        let written = folder.join(&name);
        let writer = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(100));
            write_whole(&written, b"later").unwrap();
        });
        let (_, bytes, _) = open_within(&folder, &name, Duration::from_secs(60)).unwrap();
        assert_eq!(bytes, 5);
        writer.join().unwrap();
    }

    #[test]
    fn only_the_file_that_was_opened_is_removed() {
        let scene = Scene::new("replaced", b"first", b"first");
        let (folder, name) = (&scene.folder, &scene.entry.data);
        let describe = || "a.text".to_string();
        let (_, _, state) = open(folder, name).unwrap();
        write_whole(&folder.join(name), b"other version").unwrap();
        let refused = discard_opened(folder, (name, state), error!("bad"), &describe).message;
        assert!(refused.contains("a.text was damaged (bad)"), "{refused}");
        assert!(folder.join(name).exists() && !folder.join(DAMAGED_MARK).exists());
        let (_, _, state) = open(folder, name).unwrap();
        discard_opened(folder, (name, state), error!("bad"), &describe);
        assert!(!folder.join(name).exists() && folder.join(DAMAGED_MARK).exists());
    }

    #[test]
    fn missing_data_is_looked_up_once() {
        let scene = Scene::new("missing", b"", b"");
        fs::remove_file(scene.folder.join(&scene.entry.data)).unwrap();
        let (read, count) = scene.read(b"");
        let message = read.unwrap_err().message;
        assert!(message.starts_with("the compiled data of a.text ("), "{message}");
        assert!(message.contains("cannot be read: ") && count == 1, "{message}, {count} times");
    }
}
