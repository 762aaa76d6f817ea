//! The graphs of a game for `engine check`: all are compiled, and each problem is reported once,
//! with file and line. A shared graph that levels use knows the units of these levels.

use crate::App;
use crate::flow::GraphFile;
use engine_flow::{Problem, Severity, line_of};
use engine_foundation::log;
use engine_foundation::sjson::{self, SjsonTree};
use engine_resource::resource_kind::kind_names;
use std::collections::HashMap;

impl App {
    /// Compiles the graphs of all resources, and logs their problems.
    pub(crate) fn check_graphs(&mut self) {
        let names = self.graph_names();
        let read = names.iter().filter_map(|name| self.read_graph(name).ok());
        let files: Vec<GraphFile> = read.collect();
        let mut problems: HashMap<String, Vec<Problem>> = HashMap::new();
        for file in &files {
            if file.tree != SjsonTree::Object(Vec::new()) {
                problems.insert(file.resource.to_string(), self.graph_problems(file, &files));
            }
        }
        for file in &files {
            let Some(own) = problems.get(&file.resource.to_string()) else { continue };
            let base = file.base.as_ref().map(|base| format!("{base}.{}", kind_names::UNIT));
            let inherited = base.and_then(|base| problems.get(&base));
            let is_new = |problem: &&Problem| inherited.is_none_or(|base| !base.contains(problem));
            report(file, own.iter().filter(is_new));
        }
    }

    /// Returns the problems of a graph for all of its owners.
    fn graph_problems(&mut self, file: &GraphFile, all: &[GraphFile]) -> Vec<Problem> {
        let mut owners = Vec::new();
        let name = Some(&file.resource.name).filter(|_| file.resource.kind == kind_names::FLOW);
        for user in all.iter().filter(|user| name.is_some() && user.shared.as_ref() == name) {
            let owner = user.owner();
            if !owners.contains(&owner) {
                owners.push(owner);
            }
        }
        if owners.is_empty() {
            owners.push(file.owner());
        }
        let mut found = Vec::new();
        for owner in owners {
            let validated = self.validate_graph_of(file, &file.tree, owner);
            let problems = validated.problems.into_iter().map(|it| without_inner(it, all));
            for problem in problems.chain(validated.missing) {
                if !found.contains(&problem) {
                    found.push(problem);
                }
            }
        }
        found.extend(self.absent_events_of_users(file, all));
        found
    }
}

/// Returns a problem of a node; if it is one of a subgraph, which has a check of its own, only that
/// the subgraph has errors.
fn without_inner(problem: Problem, all: &[GraphFile]) -> Problem {
    let Some(graph) = problem.of_subgraph() else { return problem };
    let is_checked =
        |file: &GraphFile| file.resource.kind == kind_names::FLOW && file.resource.name == graph;
    match all.iter().any(is_checked) {
        true => Problem { message: format!("the graph '{graph}' has errors"), ..problem },
        false => problem,
    }
}

/// Logs problems with file and line.
fn report<'a>(file: &GraphFile, problems: impl Iterator<Item = &'a Problem>) {
    let Ok(document) = sjson::parse(&file.text) else { return };
    let graph = match file.block() {
        "" => Some(document.root()),
        block => document.root().get(block),
    };
    for problem in problems {
        let line = graph.map_or(1, |graph| line_of(graph, problem));
        let location = format!("{}:{line}", file.path);
        match problem.severity {
            Severity::Error => log::error(&format!("{location}: {}", problem.text())),
            Severity::Warning => log::data_warning(&location, &problem.text()),
        }
    }
}
