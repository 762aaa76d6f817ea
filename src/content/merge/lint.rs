//! The lint of merges: lists whose objects have no ids, so that a merge compares them by content.

use super::container::object_id;
use engine_foundation::sjson::{Document, SjsonValue, ValueKind};
use std::collections::HashSet;

/// Returns the lines of lists of at least two objects that do not all have an id of their own.
pub fn lists_without_ids(document: &Document) -> Vec<usize> {
    let mut lines = Vec::new();
    walk(document, document.root(), &mut lines);
    lines
}

fn walk(document: &Document, value: SjsonValue, lines: &mut Vec<usize>) {
    let mut ids = HashSet::new();
    let (mut objects, mut with_ids) = (0, 0);
    for item in value.items().into_iter().flatten() {
        if item.kind() == ValueKind::Object {
            objects += 1;
            with_ids += usize::from(object_id(item).is_some_and(|id| ids.insert(id)));
        }
    }
    if objects > 1 && with_ids < objects {
        lines.push(document.position(value.span().start).0);
    }
    let items = value.items().into_iter().flatten();
    let entries = value.entries().into_iter().flatten().map(|entry| entry.value);
    items.chain(entries).for_each(|inner| walk(document, inner, lines));
}
