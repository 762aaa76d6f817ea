//! The table of redirects, `redirects.sjson` in the game's folder: old names of renamed resources,
//! each with the new one. Saves and recordings that were written before a rename find the resource
//! by it. A resource that exists is never redirected. Opens one file, and writes none.

use super::compile::CompileResult;
use super::index::ResourceIndex;
use super::resource_kind::kind_names;
use super::resource_name::{PATH_BYTES_MAX, ResourceName, is_inside};
use engine_foundation::compact_sort::CompactSort;
use engine_foundation::error;
use engine_foundation::file_access::{self, readers};
use engine_foundation::hash::IdString64;
use engine_foundation::sjson::{self, Document, SjsonTree, TextSpan};
use engine_foundation::{Error, json};
use std::collections::{HashMap, HashSet};
use std::path::Path;

/// Name of the table's file in the game's folder. The file may be missing.
pub const FILE: &str = "redirects.sjson";
/// Maximum number of entries of the table.
pub const REDIRECTS_MAX: usize = 100_000;

/// First lines of a new file.
const HEADER: &str = "// Old names of resources, by which saves and recordings find them.\n\
                      // `engine mv` adds names, and `engine deps --fixup` removes them.\n";

/// One entry of the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redirect {
    pub old: ResourceName,
    pub new: ResourceName,
    /// Line in the file, from 1.
    pub line: usize,
    /// Position of the key and of the value in the text.
    key: TextSpan,
    value: TextSpan,
}

/// The table of a game.
#[derive(Clone, Debug, Default)]
pub struct Redirects {
    text: String,
    entries: Vec<Redirect>,
    /// Indices of the entries by their old names.
    by_old: HashMap<ResourceName, usize>,
    /// The name at the end of each entry's chain.
    ends: Vec<ResourceName>,
}

impl Redirects {
    /// Reads the table of a game. A game without the file has an empty one.
    ///
    /// # Errors
    /// Returns an error with the line of an invalid entry, and for entries that form a cycle.
    pub fn read(root: &Path) -> Result<Redirects, Error> {
        match file_access::read(root, FILE, &readers::SOURCE_TEXT) {
            Ok(bytes) => Redirects::parse(&bytes),
            Err(refusal) if refusal.is_missing() => Ok(Redirects::default()),
            Err(refusal) => Err(Error::new(refusal.message(FILE))),
        }
    }

    /// Parses the bytes of the file.
    ///
    /// # Errors
    /// As [`Redirects::read`].
    pub fn parse(bytes: &[u8]) -> Result<Redirects, Error> {
        let document =
            sjson::parse_bytes(bytes).map_err(|problem| Error::new(problem.in_file(FILE)))?;
        let mut table = Redirects { entries: entries(&document)?, ..Redirects::default() };
        table.text = document.into_text();
        let olds = table.entries.iter().enumerate().map(|(at, it)| (it.old.clone(), at));
        table.by_old = olds.collect();
        table.ends = table.chain_ends()?;
        Ok(table)
    }

    pub fn entries(&self) -> &[Redirect] {
        &self.entries
    }

    /// Returns the text of the file.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the name at the end of the chain that begins with an old name.
    pub fn end_of(&self, old: &ResourceName) -> Option<&ResourceName> {
        self.by_old.get(old).map(|at| &self.ends[*at])
    }

    /// Returns the old names, each with the name at the end of its chain, sorted by the old name.
    pub fn ends(&self) -> Vec<(ResourceName, ResourceName)> {
        let olds = self.entries.iter().map(|entry| entry.old.clone());
        let mut rows: Vec<_> = olds.zip(self.ends.iter().cloned()).collect();
        rows.sort_compact();
        rows
    }

    /// Follows all chains. Each entry is visited once.
    fn chain_ends(&self) -> Result<Vec<ResourceName>, Error> {
        let mut ends: Vec<Option<ResourceName>> = vec![None; self.entries.len()];
        let mut on_chain = vec![false; self.entries.len()];
        for start in 0..self.entries.len() {
            let (mut chain, mut at) = (Vec::new(), start);
            let end = loop {
                if let Some(end) = &ends[at] {
                    break end.clone();
                }
                let entry = &self.entries[at];
                if std::mem::replace(&mut on_chain[at], true) {
                    return Err(error!(
                        "{FILE}:{}: '{}' leads back to itself: remove one entry of the cycle",
                        entry.line, entry.old
                    ));
                }
                chain.push(at);
                match self.by_old.get(&entry.new) {
                    Some(next) => at = *next,
                    None => break entry.new.clone(),
                }
            };
            chain.into_iter().for_each(|at| ends[at] = Some(end.clone()));
        }
        Ok(ends.into_iter().flatten().collect())
    }

    /// Returns the text of the table after resources were moved from old to new names. Scripts are
    /// left out, because a save has no code.
    ///
    /// # Errors
    /// Returns an error if the table would have more than [`REDIRECTS_MAX`] entries.
    pub fn with_moved(&self, moved: &[(ResourceName, ResourceName)]) -> Result<String, Error> {
        let moved: Vec<_> = moved.iter().filter(|(old, _)| is_redirected_kind(&old.kind)).collect();
        // A new name is a resource now, and no old name any more.
        let existing: HashSet<&ResourceName> = moved.iter().map(|(_, new)| new).collect();
        let is_removed = |entry: &Redirect| existing.contains(&entry.old);
        let mut replaced: HashMap<&ResourceName, &ResourceName> =
            moved.iter().map(|(old, new)| (old, new)).collect();
        let mut changes = Vec::new();
        for entry in &self.entries {
            if is_removed(entry) {
                changes.push((self.row_of(entry), String::new()));
            } else if let Some(new) = replaced.remove(&entry.old) {
                changes.push((entry.value, quoted(new)));
            } else if let Some(end) = self.next_kept(entry, is_removed) {
                changes.push((entry.value, quoted(end)));
            }
        }
        let removed = self.entries.iter().filter(|entry| is_removed(entry)).count();
        let count = self.entries.len() - removed + replaced.len();
        if count > REDIRECTS_MAX {
            return Err(error!(
                "{FILE} would have {count} entries, at most {REDIRECTS_MAX} (REDIRECTS_MAX): empty \
                 it with `engine deps --fixup`, or move with --no-redirect"
            ));
        }
        let rows: Vec<_> =
            moved.into_iter().filter(|(old, _)| replaced.contains_key(old)).collect();
        Ok(self.patched(changes, rows.iter().map(|(old, new)| (old, new))))
    }

    /// Returns the text of the table with some of its entries, which then lead to the ends of their
    /// chains. Returns `None` if none is left.
    pub fn with_kept(&self, is_kept: impl Fn(&Redirect) -> bool) -> Option<String> {
        let mut changes = Vec::new();
        for (entry, end) in self.entries.iter().zip(&self.ends) {
            match is_kept(entry) {
                false => changes.push((self.row_of(entry), String::new())),
                true if entry.new != *end => changes.push((entry.value, quoted(end))),
                true => {}
            }
        }
        let is_any = self.entries.iter().any(is_kept);
        is_any.then(|| self.patched(changes, std::iter::empty()))
    }

    /// Returns the new name of an entry whose next entries are removed.
    fn next_kept(
        &self,
        entry: &Redirect,
        is_removed: impl Fn(&Redirect) -> bool,
    ) -> Option<&ResourceName> {
        let next = |name: &ResourceName| {
            let next = &self.entries[*self.by_old.get(name)?];
            is_removed(next).then_some(&next.new)
        };
        let mut end = next(&entry.new)?;
        // The table has no cycles.
        while let Some(further) = next(end) {
            end = further;
        }
        Some(end)
    }

    /// Returns the text with changes, and with new rows at the end. A text whose layout does not
    /// allow that is written again, without comments.
    fn patched<'r>(
        &self,
        changes: Vec<(TextSpan, String)>,
        rows: impl Iterator<Item = (&'r ResourceName, &'r ResourceName)> + Clone,
    ) -> String {
        let mut text = String::new();
        let mut at = 0;
        for (span, new) in &changes {
            text += &self.text[at..span.start];
            text += new;
            at = span.end;
        }
        text += &self.text[at..];
        if text.is_empty() {
            text += HEADER;
        }
        if !text.ends_with('\n') {
            text.push('\n');
        }
        let row =
            |old: &ResourceName, new: &ResourceName| format!("{} = {}\n", quoted(old), quoted(new));
        rows.clone().for_each(|(old, new)| text += &row(old, new));
        if Redirects::parse(text.as_bytes()).is_ok() {
            return text;
        }
        let changed: HashMap<usize, &String> =
            changes.iter().map(|(span, new)| (span.start, new)).collect();
        let mut text = HEADER.to_string();
        for entry in &self.entries {
            let value = &self.text[entry.value.start..entry.value.end];
            let value = changed.get(&entry.value.start).map_or(value, |new| &new[..]);
            if !changed.contains_key(&self.row_of(entry).start) {
                text += &format!("{} = {value}\n", quoted(&entry.old));
            }
        }
        rows.for_each(|(old, new)| text += &row(old, new));
        text
    }

    /// Returns the position of an entry, with its whole line if nothing else is on it. Looks at the
    /// text between its neighbours only, so that a table on one line needs no more time.
    fn row_of(&self, entry: &Redirect) -> TextSpan {
        let (text, mut end) = (&self.text, entry.value.end);
        let index = self.by_old[&entry.old];
        let before = index.checked_sub(1).map(|at| &self.entries[at]);
        let from = before.map_or(0, |before| before.value.end);
        let to = self.entries.get(index + 1).map_or(text.len(), |after| after.key.start);
        if text[end..].starts_with(',') {
            end += 1;
        }
        let break_before = text[from..entry.key.start].rfind('\n').map(|at| from + at + 1);
        let is_first_of_line = break_before.is_some() || before.is_none();
        let start = break_before.unwrap_or(from);
        let break_after = text[end..to].find('\n').map(|at| end + at + 1);
        let is_last_of_line = break_after.is_some() || to == text.len();
        let after = break_after.unwrap_or(to);
        let rest = text[end..after].trim();
        let is_alone = is_first_of_line
            && is_last_of_line
            && text[start..entry.key.start].trim().is_empty()
            && (rest.is_empty() || rest.starts_with("//"));
        match is_alone {
            true => TextSpan { start, end: after },
            false => TextSpan { start: entry.key.start, end },
        }
    }
}

/// Reads the table of a game into the index of a compile. If that fails, the last one stays.
pub fn update_index(root: &Path, compiled: &mut CompileResult, last: &ResourceIndex) {
    compiled.index.redirects = match Redirects::read(root) {
        Ok(table) => table.ends(),
        Err(error) => {
            compiled.problems.push(error.message);
            last.redirects.clone()
        }
    };
}

/// Returns true for a kind whose old names are kept.
pub fn is_redirected_kind(kind: &str) -> bool {
    kind != kind_names::LUA
}

/// Returns the ids of old names, each with that of its resource, sorted, for a bundle.
pub fn ids(ends: &[(ResourceName, ResourceName)]) -> Vec<(IdString64, IdString64)> {
    let mut ids: Vec<_> = ends.iter().map(|(old, end)| (old.id(), end.id())).collect();
    ids.sort_compact();
    ids.dedup_by_key(|(old, _)| *old);
    ids
}

fn entries(document: &Document) -> Result<Vec<Redirect>, Error> {
    let mut entries = Vec::new();
    for entry in document.root().entries().into_iter().flatten() {
        let line = entry.line();
        let at = |message: String| error!("{FILE}:{line}: {message}");
        let name = |text: &str| {
            if text.len() > PATH_BYTES_MAX {
                let bytes = text.len();
                return Err(at(format!(
                    "a name of {bytes} bytes: no resource has more than {PATH_BYTES_MAX} \
                     (PATH_BYTES_MAX)"
                )));
            }
            let name = ResourceName::parse(text).filter(|name| is_inside(&name.name));
            name.ok_or_else(|| {
                at(format!("'{text}' is no resource with its type, like textures/wall.texture"))
            })
        };
        let Some(value) = entry.value.as_str() else {
            return Err(at(format!("'{}' must lead to the name of a resource", entry.key)));
        };
        let (old, new) = (name(entry.key)?, name(value)?);
        if old.kind != new.kind {
            return Err(at(format!("'{old}' and '{new}' are of different types")));
        }
        if !is_redirected_kind(&old.kind) {
            return Err(at(format!("'{old}' is a script: scripts have no redirects")));
        }
        if entries.len() == REDIRECTS_MAX {
            return Err(at(format!("the table has more than {REDIRECTS_MAX} (REDIRECTS_MAX)")));
        }
        let (key, value) = (entry.key_span, entry.value.span());
        entries.push(Redirect { old, new, line, key, value });
    }
    Ok(entries)
}

fn quoted(name: &ResourceName) -> String {
    json::write(&SjsonTree::String(name.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(text: &str) -> Redirects {
        Redirects::parse(text.as_bytes()).unwrap()
    }

    fn name(text: &str) -> ResourceName {
        ResourceName::parse(text).unwrap()
    }

    fn moved(table: &Redirects, from: &str, to: &str) -> Redirects {
        self::table(&table.with_moved(&[(name(from), name(to))]).unwrap())
    }

    fn ends(table: &Redirects) -> Vec<String> {
        table.ends().iter().map(|(old, end)| format!("{old} {end}")).collect()
    }

    #[test]
    fn chains_are_followed() {
        let first = moved(&Redirects::default(), "a.unit", "b.unit");
        assert!(first.text().starts_with("// Old names") && first.text().ends_with('\n'));
        let second = moved(&first, "b.unit", "c/d.unit");
        assert_eq!(ends(&second), ["a.unit c/d.unit", "b.unit c/d.unit"]);
        assert_eq!(second.end_of(&name("a.unit")), Some(&name("c/d.unit")));
        assert_eq!(second.end_of(&name("a.level")), None);
    }

    #[test]
    fn a_name_that_exists_again_leads_nowhere_else() {
        let table = moved(&Redirects::default(), "a.unit", "b.unit");
        // It moves back.
        assert_eq!(ends(&moved(&table, "b.unit", "a.unit")), ["b.unit a.unit"]);
        // Another resource takes the name in the middle of a chain.
        let chain = moved(&table, "b.unit", "c.unit");
        let taken = moved(&chain, "x.unit", "b.unit");
        assert_eq!(ends(&taken), ["a.unit c.unit", "x.unit b.unit"]);
        // A resource that was made under an old name moves on.
        assert_eq!(ends(&moved(&table, "a.unit", "z.unit")), ["a.unit z.unit"]);
    }

    #[test]
    fn other_bytes_stay() {
        let text = "// mine\n\"a.unit\" = \"b.unit\"   // why\n\n\"c.unit\" = \"d.unit\" // how\n";
        let table = table(text);
        assert_eq!(
            table.with_moved(&[(name("e.unit"), name("a.unit"))]).unwrap(),
            "// mine\n\n\"c.unit\" = \"d.unit\" // how\n\"e.unit\" = \"a.unit\"\n"
        );
        let kept = table.with_kept(|entry| entry.old.name == "a").unwrap();
        assert_eq!(kept, "// mine\n\"a.unit\" = \"b.unit\"   // why\n\n");
        assert_eq!(table.with_kept(|_| false), None);
        // JSON, and several entries on a line, are written again if that is necessary.
        for text in
            ["{\"a.unit\": \"b.unit\", \"c.unit\": \"d.unit\"}", "{\n\"a.unit\": \"b.unit\"\n}"]
        {
            let new = moved(&self::table(text), "b.unit", "x.unit");
            assert_eq!(new.end_of(&name("a.unit")), Some(&name("x.unit")), "{}", new.text());
        }
        let script = table.with_moved(&[(name("a.lua"), name("b.lua"))]).unwrap();
        assert_eq!(script, text);
    }

    #[test]
    fn kept_entries_lead_to_the_ends_of_their_chains() {
        let table = table("\"a.unit\" = \"b.unit\"\n\"b.unit\" = \"c.unit\"\n");
        let kept = table.with_kept(|entry| entry.old.name == "a").unwrap();
        assert_eq!(kept, "\"a.unit\" = \"c.unit\"\n");
    }

    #[test]
    fn a_long_line_of_entries_is_changed_in_one_pass() {
        let rows = (0..50_000).map(|at| format!("\"a{at}.unit\" = \"b.unit\" "));
        let table = table(&rows.collect::<String>());
        let start = std::time::Instant::now();
        let kept = table.with_kept(|entry| entry.old.name == "a7").unwrap();
        assert!(start.elapsed().as_secs() < 10, "{:?}", start.elapsed());
        assert_eq!(ends(&self::table(&kept)), ["a7.unit b.unit"]);
    }

    #[test]
    fn invalid_tables_are_refused() {
        let message = |text: &str| Redirects::parse(text.as_bytes()).unwrap_err().message;
        assert_eq!(
            message("\"a.unit\" = \"b.unit\"\n\"b.unit\" = \"a.unit\""),
            "redirects.sjson:1: 'a.unit' leads back to itself: remove one entry of the cycle"
        );
        assert!(message("\"a.unit\" = \"a.unit\"").contains("leads back to itself"));
        assert!(message("\"a.unit\" = 1").contains("must lead to the name of a resource"));
        assert!(message("a = \"b.unit\"").contains("'a' is no resource with its type"));
        assert!(message("\"../a.unit\" = \"b.unit\"").contains("is no resource with its type"));
        assert!(message("\"a.unit\" = \"b.level\"").contains("are of different types"));
        assert!(message("\"a.lua\" = \"b.lua\"").contains("is a script"));
        assert!(message("\"a.unit\" = [").starts_with("redirects.sjson:"));
        let long = format!("\"{}.unit\" = \"b.unit\"", "a".repeat(PATH_BYTES_MAX));
        assert!(message(&long).contains("a name of 405 bytes: no resource has more than 400"));
        // A long chain takes no more than one visit of each entry.
        let rows = (0..50_000).map(|at| format!("\"{at}.unit\" = \"{}.unit\"\n", at + 1));
        let long = table(&rows.collect::<String>());
        assert_eq!(long.end_of(&name("0.unit")), Some(&name("50000.unit")));
        let rows = (0..=REDIRECTS_MAX).map(|at| format!("\"a{at}.unit\" = \"b.unit\"\n"));
        assert!(message(&rows.collect::<String>()).contains("REDIRECTS_MAX"));
    }
}
