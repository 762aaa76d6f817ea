//! Seeds for the fuzzer: valid inputs for every target, derived from the project's own files, and
//! the dictionaries of its mutations. Only the cases of fuzz/corpus/ are kept in the repository.

mod generated;
mod pictures;

use super::game::CompiledGame;
use super::sources::{self, EQUIVALENT_EXTENSIONS};
use super::{SEPARATOR, root};
use engine::app::resource_kinds::KINDS;
use engine::resource::resource_kind::{CompileContext, SourceForm};
use engine::resource::resource_name::ResourceName;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Folders with files that serve as seeds.
const FOLDERS: &[&str] = &["core", "examples", "game_template", "templates", "tests", "docs"];
/// Maximum number of seeds of one target.
const SEEDS_MAX: usize = 24;
/// Maximum number of entries of a dictionary.
const TOKENS_MAX: usize = 400;

/// Returns the seeds of a target: the cases of its corpus, then seeds derived from the project,
/// shortest first.
pub fn seeds_of(target: &str, bytes_max: usize) -> Vec<Vec<u8>> {
    let (group, name) = target.split_once('.').expect("targets have two names");
    let mut seeds = match group {
        "source" => sources_of(name),
        "data" => compiled_of(name),
        "use" => used_of(name),
        _ => generated::other_seeds(target),
    };
    seeds.sort_by_key(Vec::len);
    seeds.dedup();
    seeds.retain(|seed| seed.len() <= bytes_max);
    seeds.truncate(SEEDS_MAX);
    let mut all = corpus_of(target);
    all.extend(seeds);
    all
}

/// Returns the cases of the corpus: every bug that was found, and other cases worth trying.
fn corpus_of(target: &str) -> Vec<Vec<u8>> {
    let folder = root().join("fuzz/corpus").join(target);
    let mut paths: Vec<_> =
        fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    paths.sort();
    paths.iter().map(|path| fs::read(path).expect("a case can be read")).collect()
}

type Samples = BTreeMap<String, Option<Vec<u8>>>;

thread_local! {
    /// All files of the folders, by file extension.
    static FILES: BTreeMap<String, Vec<PathBuf>> = files();
    /// A small file of each file extension that was requested.
    static SAMPLES: RefCell<Samples> = const { RefCell::new(BTreeMap::new()) };
}

fn files() -> BTreeMap<String, Vec<PathBuf>> {
    let mut found = BTreeMap::new();
    for folder in FOLDERS {
        walk(&root().join(folder), &mut found);
    }
    found
}

fn walk(folder: &Path, found: &mut BTreeMap<String, Vec<PathBuf>>) {
    let mut paths: Vec<_> = fs::read_dir(folder)
        .expect("the project's folders can be read")
        .flatten()
        .map(|entry| entry.path())
        .collect();
    paths.sort();
    for path in paths {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() {
            if !name.starts_with('.') {
                walk(&path, found);
            }
        } else if let Some((_, ending)) = name.rsplit_once('.') {
            found.entry(ending.to_string()).or_default().push(path);
        }
    }
}

/// Returns valid files with a file extension, including extensions that are read alike.
fn files_of(ending: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let alike =
        EQUIVALENT_EXTENSIONS.iter().filter(|(_, read)| *read == ending).map(|(same, _)| *same);
    let extensions: Vec<&str> = [ending].into_iter().chain(alike).collect();
    FILES.with(|files| {
        let paths = extensions.iter().flat_map(|ending| files.get(*ending).into_iter().flatten());
        paths.filter_map(|path| Some((path.clone(), fs::read(path).ok()?))).collect()
    })
}

/// Returns a valid file for a path that a source names, by its extension.
pub fn sample(path: &str) -> Option<Vec<u8>> {
    let ending = path.rsplit_once('.')?.1.to_ascii_lowercase();
    if let Some(known) = SAMPLES.with_borrow(|known| known.get(&ending).cloned()) {
        return known;
    }
    let files =
        files_of(&ending).into_iter().map(|(_, bytes)| bytes).chain(generated::files(&ending));
    let found = files.filter(|bytes| bytes.len() > 64).min_by_key(Vec::len);
    SAMPLES.with_borrow_mut(|known| known.insert(ending, found.clone()));
    found
}

/// Returns sources with a file extension. If a source reads another file, that file is its second
/// part.
fn sources_of(ending: &str) -> Vec<Vec<u8>> {
    let all = sources::extensions();
    let (kind, _, form) =
        *all.iter().find(|(_, known, _)| *known == ending).expect("an ending of the table");
    let mut seeds = generated::files(ending);
    for (path, bytes) in files_of(ending) {
        let folder = path.parent().expect("a file is in a folder").to_path_buf();
        // Paths in sources are relative to the game's folder, which is one of the file's ancestors.
        let second = RefCell::new(None);
        let read = |named_path: &str| {
            let locations = folder.ancestors().take(4).map(|folder| folder.join(named_path));
            let found = locations.filter_map(|folder| fs::read(folder).ok()).next();
            let found = found.ok_or_else(|| engine::error!("{named_path} is not there"))?;
            second.borrow_mut().get_or_insert(found.clone());
            Ok(found)
        };
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let resource = ResourceName::new(kind.name, "x");
        let mut compiling = CompileContext::new(resource, name, form, bytes.clone(), false, &read);
        compiling.kinds = KINDS;
        // A source that does not compile is a seed, too.
        let _ = (kind.compile)(&mut compiling);
        drop(compiling);
        if let Some(second) = second.into_inner() {
            seeds.push([&bytes, SEPARATOR, &second].concat());
        }
        seeds.push(bytes);
    }
    seeds
}

/// Returns compiled data of a kind, from sources with any of its extensions.
fn compiled_of(kind: &str) -> Vec<Vec<u8>> {
    let of_kind = sources::extensions().into_iter().filter(|(known, ..)| known.name == kind);
    let mut seeds = Vec::new();
    for (kind, ending, form) in of_kind {
        let sources = sources_of(ending);
        let data = |source: &Vec<u8>| sources::compile(kind, ending, form, source, false).ok();
        seeds.extend(sources.iter().filter_map(data));
        if form == SourceForm::Own && kind.name == "package" {
            seeds.push(engine::resource::data_resources::write_members(&[]));
        }
    }
    if seeds.is_empty() {
        // Sources that read several files, such as animations.
        seeds = used_of(kind);
    }
    seeds
}

/// Returns compiled data that the fuzzer's game can use.
fn used_of(kind: &str) -> Vec<Vec<u8>> {
    CompiledGame::shared().all_of(kind)
}

/// Returns the dictionary of a target: tokens of its seeds, numbers at common limits, and the
/// separator between files.
pub fn dictionary(seeds: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let mut tokens = BTreeSet::new();
    for seed in seeds {
        let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || b"_.-".contains(byte);
        for word in seed.split(|byte| !is_word(byte)) {
            if (3..=24).contains(&word.len()) {
                tokens.insert(word.to_vec());
            }
        }
    }
    let mut all: Vec<Vec<u8>> = tokens.into_iter().take(TOKENS_MAX).collect();
    for word in ["-0", "1e308", "-1e400", "1e2147483648", "4294967296", "2147483648", "NaN", "null"]
    {
        all.push(word.into());
    }
    all.extend([SEPARATOR.to_vec(), vec![255; 4], vec![0; 8], vec![255, 255, 255, 127]]);
    all
}
