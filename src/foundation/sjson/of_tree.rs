//! Documents of trees: values without a text, for whoever holds compiled data to the rules of its
//! source.

use super::{Data, Document, Field, Node, Span, Tree};
use crate::error;
use crate::foundation::Error;
use std::collections::HashSet;

/// Where every value is that has no text.
const NOWHERE: Span = Span { start: 0, end: 0 };

impl Document {
    /// A document of a tree's values. It has no text, so every value is in line 1, column 1.
    ///
    /// # Errors
    /// An object has a key twice, which a text cannot have.
    pub fn of_tree(tree: &Tree) -> Result<Document, Error> {
        let mut nodes = Vec::new();
        let root = add(&mut nodes, tree)?;
        Ok(Document { text: String::new(), nodes, root, bare_root: false, lines: vec![0] })
    }
}

/// Adds a value after those that are in it: its place among the nodes.
fn add(nodes: &mut Vec<Node>, tree: &Tree) -> Result<usize, Error> {
    let data = match tree {
        Tree::Null => Data::Null,
        Tree::Bool(value) => Data::Bool(*value),
        Tree::Number(number) => Data::Number(*number),
        Tree::String(text) => Data::String(text.clone()),
        Tree::Array(items) => {
            let items = items.iter().map(|item| add(nodes, item));
            Data::Array(items.collect::<Result<_, Error>>()?)
        }
        Tree::Object(entries) => {
            let mut known = HashSet::with_capacity(entries.len());
            let fields = entries.iter().map(|(key, value)| {
                if !known.insert(key) {
                    return Err(error!("it is damaged: the key '{key}' is there twice"));
                }
                Ok(Field { key: key.clone(), key_span: NOWHERE, node: add(nodes, value)? })
            });
            Data::Object(fields.collect::<Result<_, Error>>()?)
        }
    };
    nodes.push(Node { span: NOWHERE, data });
    Ok(nodes.len() - 1)
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::*;

    #[test]
    fn a_documents_tree_makes_the_same_document() {
        let tree = parse("a = [1, null, \"x\", { b = true }] c = -2.5").unwrap().to_tree();
        let document = Document::of_tree(&tree).unwrap();
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
    fn a_key_that_is_there_twice_is_refused() {
        let twice = Tree::Object(vec![("a".into(), Tree::Null), ("a".into(), Tree::Null)]);
        let words = Document::of_tree(&twice).unwrap_err().message;
        assert_eq!(words, "it is damaged: the key 'a' is there twice");
    }
}
