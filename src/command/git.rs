//! Git: the setup of the merge driver, and the check of merges. Runs git only where a person asked
//! for it, and never its hooks.

use super::merge;
use engine_app::resource_kinds::KINDS;
use engine_app::{content, exit};
use engine_content::merge::{MergeSide, SIDE_LABELS};
use engine_content::references::{Problem, has_text_format};
use engine_foundation::compact_sort::CompactSort;
use engine_resource::resource_kind::SourceForm;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// First and last line of the block in `.gitattributes`.
const BEGIN: &str = "# engine merge --install";
const END: &str = "# end of engine merge --install";
/// The attributes of each ending in the block.
const ATTRIBUTES: &str = "merge=engine diff=engine";
/// Size of the largest file of git's that is read, in bytes.
const GIT_FILE_BYTES_MAX: u64 = 1 << 20;

/// Runs git in a folder. Returns its output, or its error message.
pub fn run(folder: &Path, arguments: &[&str]) -> Result<Vec<u8>, String> {
    run_with(folder, arguments, None)
}

/// Runs git with a text as its input.
pub fn run_with(
    folder: &Path,
    arguments: &[&str],
    input: Option<&[u8]>,
) -> Result<Vec<u8>, String> {
    let stdin = if input.is_some() { Stdio::piped() } else { Stdio::null() };
    let mut child = Command::new("git")
        // A repository may come from anywhere: its settings must not start programs here. A
        // transport, by which missing objects are fetched, is a program that its settings name.
        .args(["-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"])
        .args(arguments)
        .current_dir(folder)
        .env("LC_ALL", "C")
        .env("GIT_ALLOW_PROTOCOL", "none")
        .env("GIT_NO_LAZY_FETCH", "1")
        .env("GIT_TERMINAL_PROMPT", "0")
        .stdin(stdin)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|reason| format!("git cannot be run: {reason}"))?;
    if let (Some(input), Some(mut pipe)) = (input, child.stdin.take()) {
        use std::io::Write;
        pipe.write_all(input).map_err(|reason| format!("git cannot be run: {reason}"))?;
    }
    let output = child.wait_with_output().map_err(|reason| reason.to_string())?;
    match output.status.success() {
        true => Ok(output.stdout),
        false => Err(format!(
            "git {}: {}",
            arguments.first().copied().unwrap_or_default(),
            String::from_utf8_lossy(&output.stderr).trim()
        )),
    }
}

/// Returns the folder of the work tree around a folder, without running git.
pub fn work_tree(folder: &Path) -> Option<PathBuf> {
    let full = fs::canonicalize(folder).ok()?;
    full.ancestors().find(|one| one.join(".git").exists()).map(Path::to_path_buf)
}

/// Endings of the files that the driver merges.
fn endings() -> Vec<&'static str> {
    let mut endings: Vec<&str> = KINDS
        .0
        .iter()
        .filter(|kind| has_text_format(kind.name))
        .flat_map(|kind| kind.extensions)
        .filter(|(_, form)| *form == SourceForm::Own)
        .map(|(ending, _)| *ending)
        .chain(["sjson", "json"])
        .collect();
    endings.sort_compact();
    endings.dedup();
    endings
}

/// Arguments of the merge driver: the path, and the names of both sides as git shows them.
const MERGE_ARGUMENTS: &str =
    "merge --in-place --path=%P --left-name=%X --right-name=%Y -- %O %A %B";

/// Arguments of the difference on a page. Git gives a file that both versions may be copies of.
const PAGE_ARGUMENTS: &str = "diff --page --path=\"$MERGED\" -- \"$LOCAL\" \"$REMOTE\"";

/// Registers the merge driver and the differences by path in a work tree's configuration, and the
/// endings in the folder's `.gitattributes`. Returns a text that says so.
pub fn install(folder: &Path) -> Result<String, String> {
    let tree = work_tree(folder).ok_or_else(|| {
        format!("'{}' is in no work tree of git: run git init first", folder.display())
    })?;
    let engine = std::env::current_exe().map_err(|reason| reason.to_string())?;
    let engine = engine.to_str().ok_or("the path of the engine is not UTF-8")?;
    // Git passes the text to a shell.
    let engine = format!("'{}'", engine.replace('\'', "'\\''"));
    let settings = [
        ("merge.engine.name", "SJSON and JSON by structure".to_string()),
        ("merge.engine.driver", format!("{engine} {MERGE_ARGUMENTS}")),
        ("diff.engine.textconv", format!("{engine} diff --textconv --")),
        ("difftool.engine.cmd", format!("{engine} diff -- \"$LOCAL\" \"$REMOTE\"")),
        ("difftool.engine-page.cmd", format!("{engine} {PAGE_ARGUMENTS}")),
    ];
    for (key, value) in &settings {
        run(&tree, &["config", key, value])?;
    }
    let path = folder.join(".gitattributes");
    write_attributes(&path)?;
    Ok(format!(
        "git merges and compares {} by structure in {}.\nThe endings are in {}: commit it. Each \
         clone needs `engine merge --install` once.\n",
        endings().join(", "),
        tree.display(),
        path.display()
    ))
}

/// Replaces the block of the engine in `.gitattributes`, and keeps all other lines.
fn write_attributes(path: &Path) -> Result<(), String> {
    let old = match fs::symlink_metadata(path) {
        Ok(found) if !found.is_file() || found.len() > GIT_FILE_BYTES_MAX => {
            return Err(format!("{} is no plain file: nothing is written", path.display()));
        }
        Ok(_) => {
            fs::read_to_string(path).map_err(|reason| format!("{}: {reason}", path.display()))?
        }
        Err(_) => String::new(),
    };
    engine_foundation::output_file::write(path, with_block(&old).as_bytes())
        .map_err(|reason| format!("{}: {reason}", path.display()))
}

/// Returns attributes with the current block of the engine. Line ends stay. A block without its
/// last line ends at the first line that is not the engine's.
fn with_block(old: &str) -> String {
    let end = if old.contains("\r\n") { "\r\n" } else { "\n" };
    let mut text = String::new();
    let mut is_inside = false;
    for line in old.split_inclusive('\n') {
        let content = line.trim_end_matches(['\r', '\n']);
        if content == BEGIN {
            is_inside = true;
        } else if is_inside && content == END {
            is_inside = false;
        } else if !(is_inside && content.ends_with(ATTRIBUTES)) {
            is_inside = false;
            text += line;
        }
    }
    if !text.is_empty() && !text.ends_with('\n') {
        text += end;
    }
    text += &format!("{BEGIN}{end}");
    for ending in endings() {
        text += &format!("*.{ending} {ATTRIBUTES}{end}");
    }
    text + END + end
}

/// Reads a regular file of git's of ordinary size; `None` for anything else, such as a pipe.
fn read_git_file(path: &Path) -> Option<String> {
    let found = fs::metadata(path).ok()?;
    let is_plain = found.is_file() && found.len() <= GIT_FILE_BYTES_MAX;
    is_plain.then(|| fs::read_to_string(path).ok()).flatten()
}

/// Returns true if a folder's attributes name the driver.
pub fn names_driver(folder: &Path) -> bool {
    let attributes = read_git_file(&folder.join(".gitattributes"));
    attributes.is_some_and(|attributes| attributes.contains("merge=engine"))
}

/// Returns a warning if a folder's attributes name the driver, and git has no such driver here.
pub fn missing_driver(folder: &Path) -> Option<String> {
    if !names_driver(folder) {
        return None;
    }
    let tree = work_tree(folder)?;
    let git = tree.join(".git");
    // In a linked work tree, `.git` is a file that names the folder.
    let config = match git.is_dir() {
        true => git.join("config"),
        false => {
            let text = read_git_file(&git)?;
            let named = tree.join(text.strip_prefix("gitdir:")?.trim());
            let common = read_git_file(&named.join("commondir"))?;
            named.join(common.trim()).join("config")
        }
    };
    let config = read_git_file(&config)?;
    (!config.contains("[merge \"engine\"]")).then(|| {
        ".gitattributes: git has no merge driver 'engine' in this clone, and merges by lines: run \
         `engine merge --install`"
            .to_string()
    })
}

/// Returns the folder and the commit of `--verify`: a commit in the current folder, or a folder,
/// whose newest commit is meant.
fn commit_to_verify(text: &str) -> Result<(PathBuf, String), String> {
    let here = Path::new(".");
    let folder = Path::new(text);
    let is_commit = |folder: &Path, commit: &str| {
        let commit = format!("{commit}^{{commit}}");
        run(folder, &["rev-parse", "--verify", "--quiet", "--end-of-options", &commit]).is_ok()
    };
    if folder.is_dir() && (work_tree(here).is_none() || !is_commit(here, text)) {
        let found = (folder.to_path_buf(), "HEAD".to_string());
        return match work_tree(folder) {
            Some(_) if is_commit(folder, "HEAD") => Ok(found),
            Some(_) => Err(format!("'{text}' has no commit yet")),
            None => Err(format!("'{text}' is in no work tree of git")),
        };
    }
    if work_tree(here).is_none() {
        return Err("the current folder is in no work tree of git: go to the game's folder, or \
                    give it: engine merge --verify FOLDER"
            .to_string());
    }
    match !text.starts_with('-') && is_commit(here, text) {
        true => Ok((here.to_path_buf(), text.to_string())),
        false => Err(format!(
            "'{text}' is no commit of this repository, and no folder: give a commit, such as HEAD \
             or the name of a branch"
        )),
    }
}

/// Returns the newest common ancestor of two commits, whose merge is `commit`. If there are
/// several, prints that, and returns `None`: git merges them first, with conflict markers in the
/// result.
fn only_ancestor(
    folder: &Path,
    commit: &str,
    [left, right]: [&str; 2],
) -> Result<Option<String>, String> {
    let bases = run(folder, &["merge-base", "--all", left, right])?;
    let bases = String::from_utf8_lossy(&bases).into_owned();
    let bases: Vec<&str> = bases.lines().collect();
    match bases[..] {
        [base] => Ok(Some(base.to_string())),
        _ => {
            engine_foundation::print_line!(
                "the branches of {commit} have {} newest common ancestors: only merges with one \
                 are verified",
                bases.len()
            );
            Ok(None)
        }
    }
}

/// Repeats a merge, and compares the results with the files of the commit. `text` is a commit, or a
/// folder.
pub fn verify(text: &str) -> Result<i32, String> {
    let (folder, commit) = commit_to_verify(text)?;
    let (folder, commit) = (folder.as_path(), commit.as_str());
    let text = |arguments: &[&str]| {
        run(folder, arguments).map(|bytes| String::from_utf8_lossy(&bytes).trim().to_string())
    };
    let parents = text(&["rev-list", "--parents", "-n", "1", commit])?;
    let parents: Vec<&str> = parents.split_whitespace().skip(1).collect();
    let [left, right] = parents[..] else {
        engine_foundation::print_line!(
            "{commit} has {} parents: only merges of two branches are verified",
            parents.len()
        );
        let is_verified = parents.len() < 2;
        return Ok(if is_verified { exit::SUCCESS } else { exit::FAILED });
    };
    let Some(base) = &only_ancestor(folder, commit, [left, right])? else {
        return Ok(exit::FAILED);
    };
    let changed = |side: &str| -> Result<Vec<String>, String> {
        let names = run(folder, &["diff", "--name-only", "--no-relative", "-z", base, side])?;
        let names = String::from_utf8_lossy(&names).into_owned();
        Ok(names.split('\0').filter(|name| !name.is_empty()).map(str::to_string).collect())
    };
    let of_right = changed(right)?;
    let endings = endings();
    let is_merged =
        |path: &String| path.rsplit_once('.').is_some_and(|(_, ending)| endings.contains(&ending));
    let (mut count, mut wrong) = (0, 0);
    for path in changed(left)?.iter().filter(|path| is_merged(path) && of_right.contains(path)) {
        let version = |of: &str| -> Option<String> {
            String::from_utf8(run(folder, &["show", &format!("{of}:{path}")]).ok()?).ok()
        };
        // A file that a side removed is decided by people.
        let (Some(of_left), Some(of_right)) = (version(left), version(right)) else { continue };
        let of_base = match text(&["ls-tree", "--full-tree", base, "--", path])?.is_empty() {
            // Both sides added it.
            true => String::new(),
            false => version(base).ok_or_else(|| format!("{path} of {base} cannot be read"))?,
        };
        let texts = [of_base, of_left, of_right];
        let file = merge::MergedFile { path, labels: SIDE_LABELS };
        let merged = merge::merge_texts(texts, file, &|_| MergeSide::Right);
        count += 1;
        if version(commit).as_deref() != Some(&merged.text[..]) {
            wrong += 1;
            engine_foundation::print_line!(
                "{path}: the commit differs from the merge by structure"
            );
        }
        engine_foundation::terminal::print(&merge::report(path, &merged));
    }
    // Two changes that are fine alone can leave a name without its resource: one renames, the
    // other adds a use.
    let missing = match text(&["rev-parse", commit])? == text(&["rev-parse", "HEAD"])? {
        true => missing_names(folder)?,
        false => {
            engine_foundation::print_line!("names are only checked in the commit of the work tree");
            Vec::new()
        }
    };
    missing.iter().for_each(|line| engine_foundation::print_line!("{line}"));
    let files = if count == 1 { "file" } else { "files" };
    engine_foundation::print_line!("{count} merged {files}, {wrong} differ");
    wrong += missing.len();
    Ok(if wrong > 0 { exit::FAILED } else { exit::SUCCESS })
}

/// Returns the names that no resource has in the game of a folder. Empty if it is no game.
fn missing_names(folder: &Path) -> Result<Vec<String>, String> {
    if !folder.join("main.lua").exists() && !folder.join("settings.sjson").exists() {
        return Ok(Vec::new());
    }
    let graph = content::graph(folder).map_err(|error| error.to_string())?;
    let line = |problem: &Problem| format!("{}: {}", problem.location, problem.message());
    Ok(content::missing(&graph).iter().map(line).collect())
}
