//! Errors of nodes that run: their texts, with graph, node and the line of its source, and the log,
//! which has each node's error once.

use super::instance::InstanceId;
use super::queries::FlowHost;
use super::runtime::Flow;
use engine_foundation::log;

/// An error of a node that is not in the log yet.
#[derive(Debug)]
pub(super) struct Failure {
    program: u32,
    /// Offset of the node.
    node: u32,
    text: String,
}

/// Returns the text of an error with the line of its node.
fn with_line(line: Option<&str>, text: &str) -> String {
    line.map_or_else(|| text.to_string(), |line| format!("{line}: {text}"))
}

impl Flow {
    /// Ends the current event with an error.
    pub(super) fn fail_task(&mut self, id: InstanceId, node: u32, message: &str) {
        self.task.instance = None;
        self.task.stack.clear();
        self.task.current = None;
        self.requests.clear();
        self.note_failure(id, node, message);
    }

    /// Notes the error of a node. The next run logs it, if it is the first of its node.
    pub(super) fn note_failure(&mut self, id: InstanceId, node: u32, message: &str) {
        self.errors += 1;
        let Some(instance) = self.instances.get(id) else { return };
        let at = instance.program;
        let loaded = &self.programs[at as usize];
        let info = &loaded.program.nodes[loaded.program.node(node).info()];
        let name = if info.hidden { "wire into" } else { "node" };
        let kind = if info.hidden { String::new() } else { format!(" ({})", info.kind) };
        let text = format!("graph {}, {name} {}{kind}: {message}", loaded.program.name, info.path);
        if let Some(trace) = self.traces.iter_mut().find(|trace| trace.instance == id) {
            trace.problem.clone_from(&text);
        }
        match loaded.reported.get(&node) {
            Some(line) => self.last_error = with_line(line.as_deref(), &text),
            None => {
                self.last_error.clone_from(&text);
                self.failures.push(Failure { program: at, node, text });
            }
        }
    }

    /// Removes the errors of a program that was replaced: its nodes may be at other offsets now.
    pub(super) fn forget_failures(&mut self, program: u32) {
        self.failures.retain(|failure| failure.program != program);
    }

    /// Logs the errors of nodes that failed for the first time, with the lines of their sources.
    pub fn report_failures(&mut self, host: &mut dyn FlowHost) {
        for failure in std::mem::take(&mut self.failures) {
            let loaded = &mut self.programs[failure.program as usize];
            let program = loaded.program.clone();
            let known = loaded.reported.contains_key(&failure.node);
            let line = loaded.reported.entry(failure.node).or_insert_with(|| {
                let info = &program.nodes[program.node(failure.node).info()];
                host.line_of(&program.source_of(info))
            });
            let text = with_line(line.as_deref(), &failure.text);
            if !known {
                log::error(&text);
            }
            if self.last_error == failure.text {
                self.last_error = text;
            }
        }
    }
}
