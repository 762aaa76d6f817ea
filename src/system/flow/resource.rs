//! The resource kind `flow`, and graphs in the files of units and levels. Compiled data is the
//! validated text as a tree, without the entries that only editors use; programs are compiled from
//! it when a graph is first used, because node types that are written in Lua are known only then.

use super::source::{GraphSource, InputSource, line_of};
use engine_foundation::Error;
use engine_foundation::sjson::{self, SjsonTree, SjsonValue};
use engine_resource::data_resources::{read_document, write_tree};
use engine_resource::reload_steps::ReloadStep;
use engine_resource::resource_kind::{
    CompileContext, ResourceKind, SourceForm, compiler, kind_names,
};

/// The resource kind of graphs.
pub static FLOW: ResourceKind = ResourceKind {
    name: kind_names::FLOW,
    doc: "A graph of visual scripting",
    extensions: &[("flow", SourceForm::Own)],
    version: 1,
    framed: false,
    reload: &[ReloadStep::Flow],
    compile: compiler(compile),
    validate: |bytes| {
        let document = read_document(bytes)?;
        check_block(document.root(), false).map_err(|(_, message)| Error::new(message))
    },
};

/// Keys that only editors use.
const EDITOR_KEYS: [&str; 3] = ["positions", "comments", "groups"];

/// Checks the form of a graph, or the name of one: the key `flow` of a unit or a level. `changes`
/// is true for a unit that inherits, whose graph can change single entries of the inherited one.
///
/// # Errors
/// Returns the line, from 1, and the message.
pub fn check_block(value: SjsonValue, changes: bool) -> Result<(), (usize, String)> {
    if value.as_str().is_some() {
        return Ok(());
    }
    if value.entries().is_none() {
        let message = "'flow' must be a block with a graph, or the name of a graph";
        return Err((value.line(), message.to_string()));
    }
    let tree = value.to_tree();
    let (_, problems) = match changes {
        true => GraphSource::read_changes(&tree),
        false => GraphSource::read(&tree),
    };
    match problems.first() {
        Some(problem) => Err((line_of(value, problem), problem.text())),
        None => Ok(()),
    }
}

/// Removes the entries that only editors use.
pub fn without_editor_keys(tree: SjsonTree) -> SjsonTree {
    match tree {
        SjsonTree::Object(mut entries) => {
            entries.retain(|(key, _)| !EDITOR_KEYS.contains(&key.as_str()));
            SjsonTree::Object(entries)
        }
        other => other,
    }
}

/// Records the resources that a graph names: subgraphs, and texts of inputs that are names of files
/// of the game. Types of inputs are not known here, so each text with a slash is looked up.
pub fn refer(compiling: &mut CompileContext, tree: &SjsonTree) {
    if let SjsonTree::String(name) = tree {
        return compiling.refer(kind_names::FLOW, name);
    }
    let (graph, _) = GraphSource::read_changes(tree);
    for node in &graph.nodes {
        if let Some(name) = node.text_setting("graph") {
            compiling.refer(kind_names::FLOW, name);
        }
        for (_, source) in &node.inputs {
            if let InputSource::Literal(SjsonTree::String(name)) = source
                && name.contains('/')
            {
                refer_file(compiling, name);
            }
        }
    }
}

/// Records a reference to the first kind of resource that has a file of that name.
fn refer_file(compiling: &mut CompileContext, name: &str) {
    let kinds = compiling.kinds;
    for kind in kinds.0.iter().filter(|kind| kind.name != kind_names::LUA) {
        for (extension, _) in kind.extensions {
            if compiling.exists(&format!("{name}.{extension}")) {
                return compiling.refer(kind.name, name);
            }
        }
    }
}

fn compile(compiling: &mut CompileContext) -> Result<Vec<u8>, Error> {
    let document = sjson::parse_bytes(&compiling.bytes)
        .map_err(|error| Error::new(error.in_file(&compiling.path)))?;
    let checked = check_block(document.root(), false);
    checked.map_err(|(line, message)| compiling.error_at(line, &message))?;
    let tree = without_editor_keys(document.to_tree());
    refer(compiling, &tree);
    Ok(write_tree(&tree))
}
