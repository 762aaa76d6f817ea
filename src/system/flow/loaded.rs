//! Loaded programs: a program with everything that its instances share.

use super::literal::{Literal, zero};
use super::op::Op;
use super::program::{EventKind, Program};
use super::runtime::Flow;
use super::task::NO_FUNCTION;
use super::value::Slot;
use std::collections::HashMap;
use std::sync::Arc;

/// A program with everything that its instances share.
pub(super) struct LoadedProgram {
    pub(super) program: Arc<Program>,
    pub constants: Box<[Slot]>,
    pub template: Box<[Slot]>,
    /// Dynamic blocks of destroyed instances.
    pub(super) pool: Vec<Box<[Slot]>>,
    pub instances: usize,
    /// Native functions, by the program's functions.
    pub(super) natives: Box<[u32]>,
    /// Indices of the functions in the catalogue.
    pub functions: Box<[u32]>,
    pub timelines: Vec<u32>,
    pub delays: Vec<u32>,
    /// True if updates visit all instances.
    pub visited: bool,
    /// True if it waits for input actions.
    pub listens: bool,
    pub breakpoints: Vec<u32>,
    /// Nodes whose errors were reported, with the files and lines of their sources, if known.
    pub(super) reported: HashMap<u32, Option<String>>,
}

impl Flow {
    /// Returns the constant of a literal, with its text in the heap.
    fn slot_of(&mut self, literal: &Literal) -> Slot {
        match literal {
            Literal::Slot(slot) => *slot,
            Literal::Text(text) => self.heap.add_constant(text),
            Literal::LevelUnit(_) => Slot::NIL,
        }
    }

    /// Makes a program ready for instances.
    pub(super) fn load(
        &mut self,
        program: Arc<Program>,
        native: &dyn Fn(&str) -> Option<u32>,
    ) -> LoadedProgram {
        let constants = program.constants.iter().map(|value| self.slot_of(value)).collect();
        let mut template = vec![Slot::NIL; program.slots as usize].into_boxed_slice();
        for variable in &program.variables {
            template[variable.slot as usize] = self.slot_of(&variable.initial);
        }
        for node in &program.nodes {
            let first = program.node(node.offset).outputs();
            for (at, (_, kind)) in node.outputs.iter().enumerate() {
                if let Literal::Slot(zero) = zero(*kind)
                    && program.node(node.offset).op() != Op::Gate
                {
                    template[first + at] = zero;
                }
            }
        }
        let natives =
            program.functions.iter().map(|name| native(name).unwrap_or(NO_FUNCTION)).collect();
        let functions = self.function_indices(&program);
        let with_op = |op: Op| {
            let nodes = program.nodes.iter().map(|node| node.offset);
            nodes.filter(|node| program.node(*node).op() == op).collect::<Vec<u32>>()
        };
        let (timelines, delays) = (with_op(Op::Timeline), with_op(Op::Delay));
        let listens = !program.entries(EventKind::Input).is_empty();
        let visited = [EventKind::Update, EventKind::Input]
            .iter()
            .any(|kind| !program.entries(*kind).is_empty());
        LoadedProgram {
            constants,
            template,
            pool: Vec::new(),
            instances: 0,
            natives,
            functions,
            timelines,
            delays,
            visited,
            listens,
            breakpoints: Vec::new(),
            reported: HashMap::new(),
            program,
        }
    }
}
