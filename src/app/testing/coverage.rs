//! Line coverage of a game's files under its tests, written as lcov. The VM counts lines with Lua's
//! hook; this module sums up the counts.

use crate::output_files;
use engine_foundation::Error;
use engine_foundation::blob::{BlobReader, BlobWriter};
use engine_foundation::file_access;
use engine_script::{ErrorReport, ScriptValue, Vm};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Component, Path};

/// Beginning of the message if the file cannot be written, followed by its name.
pub const WRITE_ERROR: &str = "the coverage cannot be written to";

/// Number of executions of each executable line, by file path and line.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LineCounts(BTreeMap<String, BTreeMap<u32, u64>>);

impl LineCounts {
    /// Adds the counts of one VM for a folder's files. `counts` returns true for files to include.
    pub fn add(
        &mut self,
        vm: &mut Vm,
        root: &Path,
        counts: impl Fn(&str) -> bool,
    ) -> Result<(), Box<ErrorReport>> {
        for (chunk, hits) in vm.line_hits() {
            let Some(path) = path_in_root(root, &chunk).filter(|path| counts(path)) else {
                continue;
            };
            // If the file no longer exists or is not text, Lua uses the source that it loaded, if
            // it has it.
            let text = vm.engine().game.project.read(&path).ok().flatten().map(ScriptValue::Text);
            let arguments = [ScriptValue::Text(chunk), text.unwrap_or(ScriptValue::Nil)];
            let active = vm.call_core("active_lines", &arguments, f64::INFINITY)?;
            let ScriptValue::List(active) = active else { continue };
            let lines = self.0.entry(path).or_default();
            for line in active {
                let ScriptValue::Number(line) = line else { continue };
                let count = hits.get(line as usize).copied().unwrap_or(0);
                *lines.entry(line as u32).or_default() += count;
            }
        }
        Ok(())
    }

    /// Adds the counts of another process or file.
    pub fn merge(&mut self, other: LineCounts) {
        for (path, counts) in other.0 {
            let lines = self.0.entry(path).or_default();
            for (line, count) in counts {
                *lines.entry(line).or_default() += count;
            }
        }
    }

    /// Returns the number of lines, of executed lines, and of files.
    fn totals(&self) -> (usize, usize, usize) {
        let lines = || self.0.values().flat_map(BTreeMap::values);
        (lines().count(), lines().filter(|count| **count > 0).count(), self.0.len())
    }

    /// Returns true if no included file was loaded.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns a summary of one line.
    pub fn summary(&self, file: &Path) -> String {
        let (all, ran, files) = self.totals();
        let part = if all == 0 { 0.0 } else { ran as f64 / all as f64 * 100.0 };
        let plural = |count: usize| if count == 1 { "" } else { "s" };
        format!(
            "coverage: {part:.1} % of {all} line{} in {files} file{}, written to {}",
            plural(all),
            plural(files),
            file.display()
        )
    }

    /// Returns the text of the tracefile. Its paths begin with `root`.
    fn lcov(&self, root: &Path) -> String {
        let mut text = String::from("TN:\n");
        for (path, lines) in &self.0 {
            let shown = root.join(path);
            let shown = shown.strip_prefix(".").unwrap_or(&shown).display().to_string();
            // A path occupies one line of the format.
            let shown: String = shown.chars().filter(|c| !c.is_control()).collect();
            let ran = lines.values().filter(|count| **count > 0).count();
            let all = lines.len();
            let counts = lines.iter().map(|(line, count)| format!("DA:{line},{count}\n"));
            let counts: String = counts.collect();
            write!(text, "SF:{shown}\n{counts}LF:{all}\nLH:{ran}\nend_of_record\n")
                .expect("a string can be written to");
        }
        text
    }

    /// Writes the tracefile.
    pub fn write_lcov(&self, root: &Path, file: &Path) -> Result<(), Error> {
        // A file named by a library's `.busted` is inside the folder, and a link in its location is
        // replaced. Any other file was named on the command line.
        let text = self.lcov(root);
        let within = file.strip_prefix(root).ok().and_then(Path::to_str);
        let within = within.filter(|path| file_access::stays_inside(path));
        let written = match within.filter(|_| !output_files::is_brokered(file)) {
            Some(path) => file_access::write(root, path, text.as_bytes()),
            None if within.is_some() => output_files::replace(file, text.as_bytes()),
            None => output_files::write(file, text.as_bytes()),
        };
        written.map_err(|reason| {
            engine_foundation::error!("{WRITE_ERROR} '{}': {reason}", file.display())
        })
    }

    pub fn write(&self, writer: &mut BlobWriter) {
        let files: Vec<_> = self.0.iter().collect();
        writer.list(&files, |writer, (path, lines)| {
            writer.text(path);
            let lines: Vec<_> = lines.iter().collect();
            writer.list(&lines, |writer, (line, count)| {
                writer.u32(**line);
                writer.u64(**count);
            });
        });
    }

    pub fn read(reader: &mut BlobReader) -> Result<LineCounts, Error> {
        let files = reader.list(|reader| {
            let path = reader.text()?.to_string();
            let lines = reader.list(|reader| Ok((reader.u32()?, reader.u64()?)))?;
            Ok((path, lines.into_iter().collect()))
        })?;
        Ok(LineCounts(files.into_iter().collect()))
    }
}

/// Returns the path of a chunk's file relative to the root, or `None` for a file outside of it.
/// Lua's own `require` names chunks `./a.lua`, or by the patterns of `package.path`.
fn path_in_root(root: &Path, chunk: &str) -> Option<String> {
    let mut path = Path::new(chunk);
    let whole = std::path::absolute(root).ok();
    if path.is_absolute() {
        path = whole.as_ref().and_then(|whole| path.strip_prefix(whole).ok())?;
    }
    let mut parts = Vec::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::Normal(name) => parts.push(name.to_str()?),
            _ => return None,
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_have_one_name_however_they_were_loaded() {
        let check = |chunk: &str, path: Option<&str>| {
            assert_eq!(path_in_root(Path::new("/game"), chunk).as_deref(), path, "{chunk}");
        };
        check("a/b.lua", Some("a/b.lua"));
        check("./a/./b.lua", Some("a/b.lua"));
        check("/game/b.lua", Some("b.lua"));
        check("/elsewhere/b.lua", None);
        check("../b.lua", None);
    }

    fn lines(file: &str, counts: &[(u32, u64)]) -> LineCounts {
        LineCounts(BTreeMap::from([(file.to_string(), counts.iter().copied().collect())]))
    }

    #[test]
    fn counts_of_several_runs_add_up_and_are_written_as_lcov() {
        let mut all = lines("a.lua", &[(1, 2), (3, 0)]);
        all.merge(lines("a.lua", &[(1, 1), (4, 0)]));
        all.merge(lines("b\n.lua", &[(9, 1)]));
        let wanted = "TN:\nSF:game/a.lua\nDA:1,3\nDA:3,0\nDA:4,0\nLF:3\nLH:1\nend_of_record\n\
                      SF:game/b.lua\nDA:9,1\nLF:1\nLH:1\nend_of_record\n";
        assert_eq!(all.lcov(Path::new("game")), wanted);
        let expected = "coverage: 50.0 % of 4 lines in 2 files, written to x.info";
        assert_eq!(all.summary(Path::new("x.info")), expected);
        let mut writer = BlobWriter::default();
        all.write(&mut writer);
        assert_eq!(LineCounts::read(&mut BlobReader::new(&writer.finish())).unwrap(), all);
    }
}
