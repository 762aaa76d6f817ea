//! Documents from trees: values without a text, for code that checks compiled data against the
//! rules of its source.

use super::nodes::{NodeData, NodeSpan, Nodes};
use super::{Document, SjsonTree};
use crate::Error;
use crate::error;
use std::collections::HashSet;
use std::sync::OnceLock;

impl Document {
    /// Creates a document from a tree's values. It has no text, so every value is in line 1, column
    /// 1.
    ///
    /// # Errors
    /// Returns an error if an object has a key twice, which a text cannot have.
    pub fn from_tree(tree: &SjsonTree) -> Result<Document, Error> {
        let mut nodes = Nodes::default();
        let root = add(&mut nodes, tree)? as usize;
        nodes.shrink();
        let lines = OnceLock::new();
        Ok(Document { text: String::new(), nodes, root, bare_root: false, lines })
    }
}

/// Adds a value after its children, and returns its index among the nodes.
fn add(nodes: &mut Nodes, tree: &SjsonTree) -> Result<u32, Error> {
    // No value has a position.
    let span = NodeSpan::default();
    let counts = nodes.open_counts();
    let data = match tree {
        SjsonTree::Null => NodeData::Null,
        SjsonTree::Bool(value) => NodeData::Bool(*value),
        SjsonTree::Number(number) => NodeData::Number(*number),
        SjsonTree::String(text) => NodeData::String(nodes.add_text(Some(text.clone()))),
        SjsonTree::Array(items) => {
            for item in items {
                let node = add(nodes, item)?;
                nodes.add_item(node);
            }
            nodes.end_items(counts)
        }
        SjsonTree::Object(entries) => {
            let mut known = HashSet::with_capacity(entries.len());
            for (key, value) in entries {
                if !known.insert(key) {
                    return Err(error!("it is damaged: the key '{key}' appears twice"));
                }
                let (key, node) = (nodes.add_text(Some(key.clone())), add(nodes, value)?);
                nodes.add_field(span, key, node);
            }
            nodes.end_fields(counts)
        }
    };
    Ok(nodes.push(span, data))
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::*;

    #[test]
    fn the_tree_of_a_document_builds_an_equal_document() {
        let tree = parse("a = [1, null, \"x\", { b = true }] c = -2.5").unwrap().to_tree();
        let document = Document::from_tree(&tree).unwrap();
        assert_eq!(document.to_tree(), tree);
        let root = document.root();
        assert_eq!(
            (root.get("c").unwrap().as_f64(), root.get("a").unwrap().line()),
            (Some(-2.5), 1)
        );
        let first = root.entries().unwrap().next().unwrap();
        assert_eq!((first.key, first.line(), first.column()), ("a", 1, 1));
    }

    #[test]
    fn a_duplicate_key_is_refused() {
        let twice =
            SjsonTree::Object(vec![("a".into(), SjsonTree::Null), ("a".into(), SjsonTree::Null)]);
        let message = Document::from_tree(&twice).unwrap_err().message;
        assert_eq!(message, "it is damaged: the key 'a' appears twice");
    }
}
