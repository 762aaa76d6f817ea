//! Wires of a flattened graph: those through the borders of subgraphs are followed to their ends.
//! The work is limited by `STEPS_MAX`.

use super::flatten::{EventTarget, FlatWire, Flattener, NO_NODE, Operand};
use super::node_type::Pin;
use super::op::Op;
use super::pins::variable;
use super::program::{LEVEL_SLOT, UNIT_SLOT, WORLD_SLOT};
use super::source::{GraphSource, InputSource, WIRES_MAX};
use super::value::{Conversion, FlowType, conversion};
use std::borrow::Cow;

/// Maximum number of borders that one wire, or one output with all its wires, leads through.
const STEPS_MAX: usize = 65_536;

impl Flattener<'_> {
    /// Returns the source of an input, with its type.
    fn input(
        &mut self,
        scope: usize,
        node: usize,
        pin: &Pin,
    ) -> Result<(Operand, FlowType), String> {
        let first = self.scopes[scope].flat[node];
        let (mut scope, mut node, mut pin) = (scope, node, Cow::Borrowed(pin));
        for _ in 0..STEPS_MAX {
            let graph = self.scopes[scope].graph.clone();
            let (from, from_pin) = match graph.nodes[node].input(&pin.name) {
                Some(InputSource::Wire(from, from_pin)) => (from, from_pin),
                Some(InputSource::Literal(value)) => {
                    let outer = self.scopes[scope].parent.is_none();
                    return Ok((self.value_operand(&pin, Some(value), outer, first), pin.kind));
                }
                None => return Ok((self.value_operand(&pin, None, false, first), pin.kind)),
            };
            let at = graph.find(from).expect("the graph was checked");
            let source = &graph.nodes[at];
            match source.kind.as_str() {
                "variable.value" => {
                    let index = variable(source, &graph)?;
                    let slot = self.scopes[scope].first_variable + index as u32;
                    return Ok((Operand::Slot(slot), graph.variables[index].kind));
                }
                "self.unit" => return Ok((Operand::Slot(UNIT_SLOT), FlowType::Unit)),
                "self.level" => return Ok((Operand::Slot(LEVEL_SLOT), FlowType::Level)),
                "self.world" => return Ok((Operand::Slot(WORLD_SLOT), FlowType::World)),
                "graph" => {
                    let child = self.scopes[scope].children[&at];
                    let inner = self.scopes[child].graph.clone();
                    let output = inner.outputs.iter().find(|output| output.name == *from_pin);
                    let output = output.expect("the graph was checked").clone();
                    let Some(border) = self.scopes[child].outputs else {
                        return Ok((self.value_operand(&output, None, false, first), output.kind));
                    };
                    (scope, node, pin) = (child, border, Cow::Owned(output));
                }
                "graph.inputs" => match self.scopes[scope].parent {
                    Some((parent, at)) => {
                        let input = graph.inputs.iter().find(|input| input.name == *from_pin);
                        let input = input.expect("the graph was checked").clone();
                        (scope, node, pin) = (parent, at, Cow::Owned(input));
                    }
                    None => {
                        let input = graph.inputs.iter().find(|input| input.name == *from_pin);
                        let input = input.expect("the graph was checked").clone();
                        return Ok((self.value_operand(&input, None, false, first), input.kind));
                    }
                },
                _ => {
                    let flat = self.scopes[scope].flat[at];
                    let outputs = &self.flat.nodes[flat as usize].outputs;
                    let output = outputs.iter().position(|(name, _)| name == from_pin);
                    let output = output.expect("the graph was checked");
                    let kind = outputs[output].1;
                    return Ok((Operand::Output(flat, output as u32), kind));
                }
            }
        }
        Err("is part of a cycle of wires through subgraphs".to_string())
    }

    /// Returns the targets of an event output, in the order of the wires.
    fn targets(
        &mut self,
        scope: usize,
        node: usize,
        pin: &str,
    ) -> Result<Vec<EventTarget>, String> {
        let Some(&from) = self.scopes[scope].flat.get(node).filter(|flat| **flat != NO_NODE) else {
            return Ok(Vec::new());
        };
        let mut found = Vec::new();
        let mut stack = vec![(scope, node, pin.to_string())];
        let mut steps = 0;
        while let Some((scope, node, name)) = stack.pop() {
            steps += 1;
            if steps > STEPS_MAX {
                return Err("starts a cycle of events through subgraphs".to_string());
            }
            if self.flat.wires.len() >= WIRES_MAX {
                return Err(format!("leads to more than {WIRES_MAX} wires (WIRES_MAX)"));
            }
            let graph = self.scopes[scope].graph.clone();
            if self.scopes[scope].flat[node] != NO_NODE && steps > 1 {
                let target = EventTarget {
                    node: self.scopes[scope].flat[node],
                    input: self.event_input(scope, node, &name),
                    wire: self.flat.wires.len() as u32,
                };
                self.flat.wires.push(FlatWire {
                    from,
                    from_pin: pin.to_string(),
                    to: target.node,
                    to_pin: name,
                });
                found.push(target);
                continue;
            }
            self.follow(scope, node, &name, &graph, &mut stack);
        }
        Ok(found)
    }

    /// Pushes the ends of the wires from an output, or of the border behind it, in reverse.
    fn follow(
        &self,
        scope: usize,
        node: usize,
        pin: &str,
        graph: &GraphSource,
        stack: &mut Vec<(usize, usize, String)>,
    ) {
        let id = &graph.nodes[node].id;
        let order = |wire: &super::source::WireSource| {
            super::source::natural_order(&wire.from, id)
                .then_with(|| wire.from_pin.as_str().cmp(pin))
        };
        let first = graph.wires.partition_point(|wire| order(wire).is_lt());
        let wires = &graph.wires[first..];
        let count = wires.iter().take_while(|wire| order(wire).is_eq()).count();
        for wire in wires[..count].iter().rev() {
            let to = graph.find(&wire.to).expect("the graph was checked");
            match graph.nodes[to].kind.as_str() {
                "graph" => {
                    let child = self.scopes[scope].children[&to];
                    let border = self.scopes[child].inputs;
                    stack.extend(border.map(|border| (child, border, wire.to_pin.clone())));
                }
                "graph.outputs" => {
                    let parent = self.scopes[scope].parent;
                    stack.extend(parent.map(|(parent, at)| (parent, at, wire.to_pin.clone())));
                }
                _ => stack.push((scope, to, wire.to_pin.clone())),
            }
        }
    }

    fn event_input(&self, scope: usize, node: usize, pin: &str) -> u32 {
        let inputs = &self.scopes[scope].pins[node].inputs;
        let events = inputs.iter().filter(|one| one.kind == FlowType::Event);
        events.into_iter().position(|one| one.name == pin).unwrap_or(0) as u32
    }

    /// Resolves all inputs and event outputs.
    pub(super) fn connect(&mut self) {
        for at in 0..self.flat.nodes.len() {
            let Some((scope, node)) = self.flat.nodes[at].source else { continue };
            let pins = self.scopes[scope].pins.clone();
            let data = pins[node].inputs.iter().filter(|pin| pin.kind != FlowType::Event);
            for pin in data {
                let operand = self
                    .input(scope, node, pin)
                    .and_then(|(operand, from)| self.convert(at, operand, from, pin));
                match operand {
                    Ok(operand) => self.flat.nodes[at].inputs.push(operand),
                    Err(message) => {
                        let path = self.flat.nodes[at].path.clone();
                        self.fail(&path, &pin.name, message);
                    }
                }
            }
            for output in std::mem::take(&mut self.flat.nodes[at].event_outputs) {
                match self.targets(scope, node, &output) {
                    Ok(targets) => self.flat.nodes[at].targets.push(targets),
                    Err(message) => {
                        let path = self.flat.nodes[at].path.clone();
                        self.fail(&path, &output, message);
                    }
                }
            }
        }
    }

    fn convert(
        &mut self,
        at: usize,
        operand: Operand,
        from: FlowType,
        pin: &Pin,
    ) -> Result<Operand, String> {
        let (op, payload) = match conversion(from, pin.kind) {
            Some(Conversion::None) => return Ok(operand),
            Some(Conversion::Convert) => match pin.kind {
                FlowType::Number => (Op::ToNumber, 0),
                FlowType::Boolean => (Op::ToBoolean, 0),
                _ => (Op::ToText, 0),
            },
            Some(Conversion::Check) => (Op::Check, pin.kind as u32),
            None => {
                return Err(format!(
                    "is of type {}, and its value is of type {}",
                    pin.kind.name(),
                    from.name()
                ));
            }
        };
        let path = format!("{}.{}", self.flat.nodes[at].path, pin.name);
        Ok(self.hidden(&path, op, operand, pin.kind, payload))
    }
}
