//! Line coverage: the number of times that each line of each script ran, counted by the hook
//! (interrupt.rs). The prelude determines which lines could run (lua/test/coverage.lua).

use engine_foundation::compact_sort::CompactSort;
use std::collections::HashMap;

/// Maximum length of a counted script, in lines.
pub const LINES_MAX: usize = 1_000_000;

/// Line counts of one VM.
#[derive(Default)]
pub struct LineHits {
    files: HashMap<Vec<u8>, usize>,
    hits: Vec<Vec<u64>>,
    /// The file that ran last, which is usually the next one, too.
    last: (Vec<u8>, usize),
}

impl LineHits {
    /// Counts one execution of a line. `source` is the chunk's name in Lua; only chunks of files
    /// are counted.
    pub fn count_line(&mut self, source: &[u8], line: usize) {
        let Some(path) = source.strip_prefix(b"@") else { return };
        if line >= LINES_MAX {
            return;
        }
        if self.hits.is_empty() || self.last.0 != path {
            let next = self.hits.len();
            let index = *self.files.entry(path.to_vec()).or_insert(next);
            if index == next {
                self.hits.push(Vec::new());
            }
            self.last = (path.to_vec(), index);
        }
        let hits = &mut self.hits[self.last.1];
        if hits.len() <= line {
            hits.resize(line + 1, 0);
        }
        hits[line] += 1;
    }

    /// Returns and clears the counts of every file, by line; there is no line 0.
    pub fn take(&mut self) -> Vec<(String, Vec<u64>)> {
        let LineHits { files, mut hits, .. } = std::mem::take(self);
        let counted = files.into_iter().map(|(path, index)| {
            (String::from_utf8_lossy(&path).into_owned(), std::mem::take(&mut hits[index]))
        });
        let mut all: Vec<_> = counted.collect();
        all.sort_compact();
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_lines_of_files_are_counted() {
        let mut lines = LineHits::default();
        for (source, line) in [
            ("@b.lua", 2),
            ("@a.lua", 1),
            ("=[engine] core", 3),
            ("@b.lua", 2),
            ("@b.lua", usize::MAX),
        ] {
            lines.count_line(source.as_bytes(), line);
        }
        let wanted = [("a.lua".to_string(), vec![0, 1]), ("b.lua".to_string(), vec![0, 0, 2])];
        assert_eq!(lines.take(), wanted);
        assert!(lines.take().is_empty());
    }
}
