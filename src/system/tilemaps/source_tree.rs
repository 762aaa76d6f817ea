//! Access to the fields of map files, for the compilers of Tiled and LDtk. Missing fields have the
//! values that the editors use; numbers are checked when the compiled tree is read.

use engine_foundation::sjson::SjsonTree;

/// Returns a number; 0 if the field is missing.
pub(super) fn number(tree: &SjsonTree, key: &str) -> f64 {
    number_or(tree, key, 0.0)
}

pub(super) fn number_or(tree: &SjsonTree, key: &str, missing: f64) -> f64 {
    match tree.get(key) {
        Some(SjsonTree::Number(number)) => *number,
        _ => missing,
    }
}

/// Returns a text; an empty one if the field is missing.
pub(super) fn text<'a>(tree: &'a SjsonTree, key: &str) -> &'a str {
    match tree.get(key) {
        Some(SjsonTree::String(text)) => text,
        _ => "",
    }
}

pub(super) fn list<'a>(tree: &'a SjsonTree, key: &str) -> &'a [SjsonTree] {
    match tree.get(key) {
        Some(SjsonTree::Array(items)) => items,
        _ => &[],
    }
}

/// Returns two numbers; zeros if the field is missing.
pub(super) fn pair(tree: &SjsonTree, key: &str) -> [f64; 2] {
    match list(tree, key) {
        [SjsonTree::Number(x), SjsonTree::Number(y)] => [*x, *y],
        _ => [0.0; 2],
    }
}

pub(super) fn is_true(tree: &SjsonTree, key: &str) -> bool {
    match tree.get(key) {
        Some(SjsonTree::Bool(truth)) => *truth,
        Some(SjsonTree::Number(number)) => *number != 0.0,
        _ => false,
    }
}

/// Returns true if the field is missing or true.
pub(super) fn is_not_false(tree: &SjsonTree, key: &str) -> bool {
    tree.get(key).is_none() || is_true(tree, key)
}

pub(super) fn object(fields: Vec<(&str, SjsonTree)>) -> SjsonTree {
    SjsonTree::Object(fields.into_iter().map(|(key, value)| (key.to_string(), value)).collect())
}

pub(super) fn string(text: &str) -> SjsonTree {
    SjsonTree::String(text.to_string())
}

pub(super) fn numbers(numbers: &[f64]) -> SjsonTree {
    SjsonTree::Array(numbers.iter().copied().map(SjsonTree::Number).collect())
}

/// Returns the approximate memory of a tree in bytes.
pub(super) fn memory_of(tree: &SjsonTree) -> usize {
    let content = match tree {
        SjsonTree::String(text) => text.len(),
        SjsonTree::Array(items) => items.iter().map(memory_of).sum(),
        SjsonTree::Object(fields) => {
            let field = |(key, value): &(String, SjsonTree)| {
                size_of::<String>() + key.len() + memory_of(value)
            };
            fields.iter().map(field).sum()
        }
        _ => 0,
    };
    size_of::<SjsonTree>() + content
}
