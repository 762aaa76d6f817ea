//! Which lines of a game's files ran under its tests, as lcov writes it. Counting is the VM's,
//! through Lua's hook; this adds up what it counted.

use crate::app::output_files;
use crate::foundation::Error;
use crate::foundation::blob::{Reader, Writer};
use crate::foundation::file_access;
use crate::script::{Report, Value, Vm};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Component, Path};

/// What is said where the file cannot be written, before its name.
pub const FAULT: &str = "the coverage cannot be written to";

/// How often each line ran that has something to run, by the file's path and the line.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lines(BTreeMap<String, BTreeMap<u32, u64>>);

impl Lines {
    /// Adds what one VM counted of a folder's files. `counts` says which of them do.
    pub fn add(
        &mut self,
        vm: &mut Vm,
        root: &Path,
        counts: impl Fn(&str) -> bool,
    ) -> Result<(), Box<Report>> {
        for (chunk, hits) in vm.line_hits() {
            let Some(path) = inside(root, &chunk).filter(|path| counts(path)) else { continue };
            // What is no file any more, or no text, has the text that it was loaded with, or none.
            let text = vm.engine().project.read(&path).ok().flatten().map(Value::Text);
            let arguments = [Value::Text(chunk), text.unwrap_or(Value::Nil)];
            let active = vm.call_core("active_lines", &arguments, f64::INFINITY)?;
            let Value::List(active) = active else { continue };
            let lines = self.0.entry(path).or_default();
            for line in active {
                let Value::Number(line) = line else { continue };
                let count = hits.get(line as usize).copied().unwrap_or(0);
                *lines.entry(line as u32).or_default() += count;
            }
        }
        Ok(())
    }

    /// Adds what was counted elsewhere.
    pub fn merge(&mut self, other: Lines) {
        for (path, counts) in other.0 {
            let lines = self.0.entry(path).or_default();
            for (line, count) in counts {
                *lines.entry(line).or_default() += count;
            }
        }
    }

    /// How many lines there are, how many of them ran, and in how many files.
    fn sums(&self) -> (usize, usize, usize) {
        let lines = || self.0.values().flat_map(BTreeMap::values);
        (lines().count(), lines().filter(|count| **count > 0).count(), self.0.len())
    }

    /// Whether no file was loaded that counts.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// One line for people.
    pub fn words(&self, file: &Path) -> String {
        let (all, ran, files) = self.sums();
        let part = if all == 0 { 0.0 } else { ran as f64 / all as f64 * 100.0 };
        let plural = |count: usize| if count == 1 { "" } else { "s" };
        format!(
            "coverage: {part:.1} % of {all} line{} in {files} file{}, written to {}",
            plural(all),
            plural(files),
            file.display()
        )
    }

    /// The tracefile; paths begin with `root`.
    fn lcov(&self, root: &Path) -> String {
        let mut text = String::from("TN:\n");
        for (path, lines) in &self.0 {
            let shown = root.join(path);
            let shown = shown.strip_prefix(".").unwrap_or(&shown).display().to_string();
            // A path is a line of the format.
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
        // The file that a library's `.busted` asks for is in the folder, and a link that waits
        // there is replaced. Elsewhere a person has named it.
        let text = self.lcov(root);
        let within = file.strip_prefix(root).ok().and_then(Path::to_str);
        let within = within.filter(|path| file_access::stays_inside(path));
        let written = match within.filter(|_| !output_files::is_brokered(file)) {
            Some(path) => file_access::write(root, path, text.as_bytes()),
            None if within.is_some() => output_files::replace(file, text.as_bytes()),
            None => output_files::write(file, text.as_bytes()),
        };
        written.map_err(|reason| crate::error!("{FAULT} '{}': {reason}", file.display()))
    }

    pub fn write(&self, writer: &mut Writer) {
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

    pub fn read(reader: &mut Reader) -> Result<Lines, Error> {
        let files = reader.list(|reader| {
            let path = reader.text()?.to_string();
            let lines = reader.list(|reader| Ok((reader.u32()?, reader.u64()?)))?;
            Ok((path, lines.into_iter().collect()))
        })?;
        Ok(Lines(files.into_iter().collect()))
    }
}

/// The path from the root of a file in it, by the name that its chunk has: Lua's own `require`
/// writes `./a.lua`, or whatever stands in `package.path`. Nothing for files elsewhere.
fn inside(root: &Path, chunk: &str) -> Option<String> {
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
            assert_eq!(inside(Path::new("/game"), chunk).as_deref(), path, "{chunk}");
        };
        check("a/b.lua", Some("a/b.lua"));
        check("./a/./b.lua", Some("a/b.lua"));
        check("/game/b.lua", Some("b.lua"));
        check("/elsewhere/b.lua", None);
        check("../b.lua", None);
    }

    fn lines(file: &str, counts: &[(u32, u64)]) -> Lines {
        Lines(BTreeMap::from([(file.to_string(), counts.iter().copied().collect())]))
    }

    #[test]
    fn counts_of_several_runs_add_up_and_are_written_as_lcov() {
        let mut all = lines("a.lua", &[(1, 2), (3, 0)]);
        all.merge(lines("a.lua", &[(1, 1), (4, 0)]));
        all.merge(lines("b\n.lua", &[(9, 1)]));
        let wanted = "TN:\nSF:game/a.lua\nDA:1,3\nDA:3,0\nDA:4,0\nLF:3\nLH:1\nend_of_record\n\
                      SF:game/b.lua\nDA:9,1\nLF:1\nLH:1\nend_of_record\n";
        assert_eq!(all.lcov(Path::new("game")), wanted);
        let words = "coverage: 50.0 % of 4 lines in 2 files, written to x.info";
        assert_eq!(all.words(Path::new("x.info")), words);
        let mut writer = Writer::default();
        all.write(&mut writer);
        assert_eq!(Lines::read(&mut Reader::new(&writer.finish())).unwrap(), all);
    }
}
