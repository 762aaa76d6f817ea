//! Locations of the problems of graphs that run: the file and the line of a node, as `engine check`
//! names them.

use super::Engine;
use engine_flow::{NodeLocation, Problem, Severity, find_line};
use engine_foundation::file_access::{self, readers};
use engine_foundation::log;
use engine_foundation::sjson::{self, Document, SjsonValue};
use engine_resource::resource_kind::kind_names;
use engine_resource::resource_name::ResourceName;

/// Maximum number of files that are read for one graph: its own and those that it inherits from.
const FILES_MAX: usize = 32;

/// A file with a graph, or with a part of it.
struct GraphText {
    path: String,
    document: Document,
    /// True for a `.flow` file, which is nothing but a graph.
    is_graph: bool,
}

impl GraphText {
    /// Returns the graph in the file, or the name of one.
    fn graph(&self) -> Option<SjsonValue<'_>> {
        let root = self.document.root();
        if self.is_graph { Some(root) } else { root.get("flow") }
    }
}

impl Engine {
    /// Reads a file of the game's folder, if the game runs from one.
    fn graph_text(&self, resource: &ResourceName) -> Option<GraphText> {
        let folder = self.game.project.folder()?;
        let path = self.assets.store.path(resource)?;
        let bytes = file_access::read(folder, &path, &readers::SOURCE_TEXT).ok()?;
        let document = sjson::parse_bytes(&bytes).ok()?;
        Some(GraphText { path, document, is_graph: resource.kind == kind_names::FLOW })
    }

    /// Returns the files of a graph: the one of its name, the shared one that it uses, and those
    /// that its unit inherits from.
    fn graph_texts(&mut self, name: &str) -> Vec<GraphText> {
        let Some(resource) = ResourceName::parse(name) else { return Vec::new() };
        let mut names = vec![resource.clone()];
        if resource.kind == kind_names::UNIT
            && let Ok(unit) = self.worlds.unit_resource(&mut self.assets, &resource.name)
        {
            names.extend(unit.bases.iter().map(|base| ResourceName::new(kind_names::UNIT, base)));
        }
        let mut found: Vec<GraphText> = Vec::new();
        let mut at = 0;
        while at < names.len().min(FILES_MAX) {
            if let Some(text) = self.graph_text(&names[at]) {
                let shared = text.graph().and_then(SjsonValue::as_str);
                names.extend(shared.map(|shared| ResourceName::new(kind_names::FLOW, shared)));
                found.push(text);
            }
            at += 1;
        }
        found
    }

    /// Logs problems of a graph with file and line, or with its name if its files cannot be read,
    /// as those of a bundle.
    pub(crate) fn log_graph_problems<'a>(
        &mut self,
        name: &str,
        problems: impl Iterator<Item = &'a Problem>,
    ) {
        let mut texts = None;
        for problem in problems.filter(|problem| problem.severity == Severity::Error) {
            let texts = texts.get_or_insert_with(|| self.graph_texts(name));
            let location = location(texts, problem).unwrap_or_else(|| format!("graph {name}"));
            log::error(&format!("{location}: {}", problem.text()));
        }
    }

    /// Returns the file and the line of a node, or of one of its inputs, if the game runs from its
    /// folder.
    pub(crate) fn node_line(&mut self, node: &NodeLocation) -> Option<String> {
        let texts = self.graph_texts(&node.graph);
        location(&texts, &Problem::error(&node.node, &node.pin, ""))
    }

    /// Returns the node whose function is being called, as a line of the context of an error.
    pub fn calling_node_context(&mut self) -> Option<String> {
        let (graph, node) = self.worlds.flow.get().calling_node()?;
        let context = format!("When running node: {node} of graph {graph}");
        let location = self.worlds.flow.get().calling_location()?;
        Some(match self.node_line(&location) {
            Some(line) => format!("{context} ({line})"),
            None => context,
        })
    }

    /// Reports graphs whose nodes of type `event.input` name an action that the game does not have.
    pub fn report_missing_action(&mut self, action: &str, hint: &str) {
        let message = format!("there is no input action '{action}'{hint}");
        for (graph, node) in self.worlds.flow.get().nodes_of_action(action) {
            let problem = Problem::error(&node, "", message.as_str());
            self.log_graph_problems(&graph, std::iter::once(&problem));
        }
    }
}

/// Returns the file and the line of a problem.
fn location(texts: &[GraphText], problem: &Problem) -> Option<String> {
    let find = |text: &GraphText| {
        let line = find_line(text.graph()?, problem)?;
        Some(format!("{}:{line}", text.path))
    };
    let of_graph = |text: &GraphText| {
        let graph = text.graph().filter(|graph| graph.as_str().is_none())?;
        Some(format!("{}:{}", text.path, graph.line()))
    };
    texts.iter().find_map(find).or_else(|| texts.iter().find_map(of_graph))
}
