//! References between the files of a game, with their locations: one parser for each kind of
//! resource yields them, and one patcher changes them. Resolves names in a graph of the whole game.
//! Compiles nothing; the compiled index has the references of compiled data, without locations.

mod cache;
mod damaged;
mod graph;
mod lua_parser;
mod other_parsers;
mod patch;
mod rules;
mod sjson_parser;
#[cfg(test)]
mod tests;

pub use graph::{
    ContentGraph, FileNode, GraphOptions, Neighbour, NeighbourArrow, Neighbourhood,
    NeighbourhoodOptions, Problem, ReferenceUse, Target, UseDirection, is_found_by_name,
    neighbours_text, parse,
};
pub use lua_parser::ScriptArguments;
pub use patch::{Renames, patched};
pub use rules::{KINDS_WITH_RULES, has_rules, has_text_format};
pub(crate) use sjson_parser::NAME_BYTES_MAX;

use engine_foundation::sjson::TextSpan;

/// Folder of the scripts that define types of nodes.
pub const NODES_FOLDER: &str = "nodes/";
/// Stands for a kind in the names of types of nodes, which are no resources.
pub const NODE_TYPE: &str = "node type";

/// How certain it is that a text names a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Certainty {
    /// The format says that the text is the name of a resource.
    Certain,
    /// The text is equal to the name of a resource, in a position where any text can be.
    Likely,
    /// The text is the beginning of a name that a script computes.
    Computed,
}

impl Certainty {
    /// Returns the name in outputs for programs.
    pub fn name(self) -> &'static str {
        match self {
            Certainty::Certain => "certain",
            Certainty::Likely => "likely",
            Certainty::Computed => "computed",
        }
    }
}

/// How a text names a resource or a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameForm {
    /// The name of a resource, or of a part of one: `sheets/hero/run_01`.
    Name,
    /// A module of Lua, with dots or slashes.
    Module,
    /// The path of a file from the game's folder.
    Path,
    /// The path of a file relative to the folder of the referring file.
    Relative,
    /// As `Relative`, with characters escaped as in a URI.
    Uri,
    /// A clip: the name of an animation, or `model#clip`.
    Clip,
    /// A model or its file, before an optional `#clip`.
    ModelFile,
    /// A name that may have the ending of a file: `sounds/step.wav`.
    WithEnding,
    /// A pattern with a `*`, in a package.
    Pattern,
    /// The name of a component, `components/NAME.lua`.
    Component,
    /// The name of a component, or of a mesh of the unit's model, whose file is not read here.
    ComponentOrMesh,
    /// The type of a node of a graph: the name of a file in `nodes/`, with dots, and a name in it.
    NodeType,
    /// A text that may be a name, with or without a type, or a module.
    Text,
    /// The beginning of a computed name.
    Prefix,
}

const FORMS: [NameForm; 14] = [
    NameForm::Name,
    NameForm::Module,
    NameForm::Path,
    NameForm::Relative,
    NameForm::Uri,
    NameForm::Clip,
    NameForm::ModelFile,
    NameForm::WithEnding,
    NameForm::Pattern,
    NameForm::Component,
    NameForm::ComponentOrMesh,
    NameForm::NodeType,
    NameForm::Text,
    NameForm::Prefix,
];

/// A set of resource kinds: a bit for each kind of the game's table. Zero is any kind.
pub type KindSet = u64;

/// A text in a file that names a resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    pub kinds: KindSet,
    /// The name as it is written, without quotes and escapes.
    pub name: String,
    /// Position of the name in the file, without quotes.
    pub span: TextSpan,
    /// Line in the file, from 1.
    pub line: u32,
    pub form: NameForm,
    pub certainty: Certainty,
}
