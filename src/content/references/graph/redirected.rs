//! References by old names: those that mean a resource only through the table of redirects.

use super::resolve::Resolver;
use super::{ContentGraph, NameForm, ReferenceUse, Target};
use engine_foundation::Error;
use engine_foundation::suggest;
use engine_resource::redirects::{self, Redirect, Redirects};
use engine_resource::resource_name::ResourceName;
use std::collections::HashMap;

/// Maximum number of messages with a hint: each one compares a name with all names.
const HINTS_MAX: usize = 20;

impl ContentGraph {
    /// Returns the table of redirects.
    ///
    /// # Errors
    /// Returns an error with the line if its file cannot be read, or has a cycle.
    pub fn redirects(&self) -> Result<&Redirects, Error> {
        self.redirects.as_ref().map_err(Error::clone)
    }

    fn entries(&self) -> &[Redirect] {
        self.redirects.as_ref().map_or(&[], |table| table.entries())
    }

    /// Returns a resolver of the old names that lead to resources, and the nodes of these by the
    /// entry of the table.
    pub(super) fn old_names(&self) -> (Resolver<'_>, HashMap<u32, u32>) {
        let (mut olds, mut nodes) = (Vec::new(), HashMap::new());
        for (at, entry) in self.entries().iter().enumerate() {
            let Some(new) = self.end_of(entry) else { continue };
            let id = self.id_of(&Target::Resource(new.clone()));
            if let Some(id) = id.filter(|_| !self.has_resource(&entry.old)) {
                olds.push((&entry.old, at as u32));
                nodes.insert(at as u32, id);
            }
        }
        (Resolver::of_old_names(self, &olds), nodes)
    }

    /// Returns the name at the end of the chain that begins with an entry of the table.
    pub fn end_of(&self, entry: &Redirect) -> Option<&ResourceName> {
        self.redirects.as_ref().ok()?.end_of(&entry.old)
    }

    /// Returns the old name that a text means, with its resource: a name with its type, or without
    /// if only one old name is the same.
    pub fn renamed(&self, text: &str) -> Option<(&ResourceName, &ResourceName)> {
        let parsed = ResourceName::parse(text);
        let is_meant = |entry: &&Redirect| match &parsed {
            Some(name) if entry.old == *name => true,
            _ => entry.old.name == text,
        };
        let mut meant = self.entries().iter().filter(is_meant);
        let entry = meant.next().filter(|_| meant.next().is_none())?;
        let new = self.end_of(entry).filter(|new| self.has_resource(new))?;
        (!self.has_resource(&entry.old)).then_some((&entry.old, new))
    }

    pub fn has_resource(&self, name: &ResourceName) -> bool {
        self.contains(&Target::Resource(name.clone()))
    }

    /// Returns the references by old names, with the entries of the table that they use.
    pub fn redirected(&self) -> impl Iterator<Item = (ReferenceUse, &Redirect)> {
        let entries = self.entries();
        self.redirected.iter().map(|(at, entry)| (*at, &entries[*entry]))
    }

    /// Returns the entry of the table that a reference uses.
    pub fn redirect_of(&self, at: ReferenceUse) -> Option<&Redirect> {
        let from = self.redirected.partition_point(|(known, _)| *known < at);
        let (known, entry) = self.redirected.get(from)?;
        (*known == at).then(|| &self.entries()[*entry])
    }

    /// Returns the beginnings of computed names, each with its first use.
    pub fn beginnings(&self) -> HashMap<&str, ReferenceUse> {
        let mut found = HashMap::new();
        for (file, node) in self.files.iter().enumerate() {
            for (reference, named) in node.references.iter().enumerate() {
                if named.form == NameForm::Prefix {
                    found.entry(&named.name[..]).or_insert(ReferenceUse { file, reference });
                }
            }
        }
        found
    }

    /// Returns the messages about entries of the table without an effect, with their lines.
    pub fn redirect_problems(&self) -> Vec<String> {
        let mut messages = Vec::new();
        let mut hints_left = HINTS_MAX;
        for entry in self.entries() {
            let Some(end) = self.end_of(entry) else { continue };
            let (file, line, old) = (redirects::FILE, entry.line, &entry.old);
            if self.has_resource(old) {
                messages.push(format!(
                    "{file}:{line}: '{old}' exists, so that its redirect has no effect: remove it"
                ));
            } else if !self.has_resource(end) {
                let same = self.targets().filter_map(|target| match target {
                    Target::Resource(it) if it.kind == end.kind => Some(&it.name[..]),
                    _ => None,
                });
                let hint = match hints_left {
                    0 => String::new(),
                    _ => suggest::hint(&end.name, same),
                };
                hints_left = hints_left.saturating_sub(1);
                messages.push(format!(
                    "{file}:{line}: '{old}' leads to '{end}', which does not exist{hint}"
                ));
            }
        }
        messages
    }
}
