//! Functions that only scripts can call: their inputs, results and errors; and the variables of
//! graphs, which scripts read and set.

use super::instance::InstanceId;
use super::program::{CONSTANT, NodeLocation};
use super::queries::check;
use super::runtime::{Flow, PendingCall};
use super::task;
use super::value::{FlowType, Slot, Tag};
use engine_foundation::{Handle, HandleKind, log, suggest};

/// Returns a plain value of a script as a value of a type: scripts have numbers for objects.
fn plain_value(value: Slot, kind: FlowType) -> Slot {
    match (value.tag, kind) {
        (Tag::Handle, FlowType::Number) => {
            value.as_handle().map_or(value, |handle| Slot::number(handle.to_number()))
        }
        (Tag::Number, kind) if kind.is_handle() => {
            let handle = Handle::from_number(value.as_number());
            handle.filter(|it| HandleKind::of(*it).is_some()).map_or(value, Slot::handle)
        }
        _ => value,
    }
}

impl Flow {
    /// Returns the node whose function has to be called, and its instance.
    fn pending_node(&self) -> Option<(InstanceId, u32)> {
        match (self.pending, self.task.instance) {
            (Some(PendingCall::Node(node)), Some(id)) => Some((id, node)),
            _ => None,
        }
    }

    /// Returns the instance whose function is being called.
    pub fn calling_instance(&self) -> Option<InstanceId> {
        self.pending_node().map(|(id, _)| id)
    }

    /// Returns the graph and the node whose function is being called.
    pub fn calling_node(&self) -> Option<(&str, &str)> {
        let (id, node) = self.pending_node()?;
        let instance = self.instances.get(id)?;
        let program = &self.programs[instance.program as usize].program;
        let info = &program.nodes[program.node(node).info()];
        Some((&program.name, &info.path))
    }

    /// Returns where the source of the node is whose function is being called.
    pub fn calling_location(&self) -> Option<NodeLocation> {
        let (id, node) = self.pending_node()?;
        let program = &self.programs[self.instances.get(id)?.program as usize].program;
        Some(program.source_of(&program.nodes[program.node(node).info()]))
    }

    /// Returns the inputs of the function that is being called.
    pub fn call_inputs(&mut self, inputs: &mut Vec<Slot>) {
        inputs.clear();
        let Some((id, node)) = self.pending_node() else { return };
        let Some(instance) = self.instances.get(id) else { return };
        let loaded = &self.programs[instance.program as usize];
        let record = loaded.program.node(node);
        for at in 0..record.inputs() {
            let word = record.operand(at);
            inputs.push(match word & CONSTANT {
                0 => instance.slots[word as usize],
                _ => loaded.constants[(word & !CONSTANT) as usize],
            });
        }
    }

    /// Stores the results of the function that was called. `continued` has a bit for each event
    /// output that continues. Events continue with the next run.
    pub fn complete_call(&mut self, results: &[Slot], continued: u32) {
        self.store_results(results, continued, |value, _| value);
    }

    /// Stores results of a function that are numbers, booleans, objects or nothing, as scripts have
    /// them: an object may be a number, and the reverse.
    pub fn complete_plain_call(&mut self, results: [Slot; 2], continued: u32) {
        self.store_results(&results, continued, plain_value);
    }

    fn store_results(
        &mut self,
        results: &[Slot],
        continued: u32,
        convert: impl Fn(Slot, FlowType) -> Slot,
    ) {
        let Some((id, node)) = self.pending_node() else {
            self.pending = None;
            return;
        };
        self.pending = None;
        let Some(instance) = self.instances.get_mut(id) else { return };
        let program = &self.programs[instance.program as usize].program;
        let record = program.node(node);
        let outputs = &program.nodes[record.info()].outputs;
        let slots = &mut instance.slots[record.outputs()..];
        let mut wrong = None;
        for (at, (name, kind)) in outputs.iter().enumerate() {
            let value = results.get(at).map_or(Slot::NIL, |value| convert(*value, *kind));
            // No value is valid: consumers see nothing, or the zero of their type.
            if value.tag != Tag::Nil
                && let Err(message) = check(value, *kind)
            {
                wrong = Some(format!("the output '{name}' {message}"));
                break;
            }
            if value.tag == Tag::Number && !value.as_number().is_finite() {
                wrong = Some(format!("the output '{name}' must be a finite number"));
                break;
            }
            slots[at] = value;
        }
        if let Some(message) = wrong {
            self.fail_task(id, node, &message);
        } else if self.task.current.is_none() {
            for output in (0..record.event_outputs().min(task::CALL_EVENTS_MAX)).rev() {
                if continued >> output & 1 != 0 {
                    task::push_targets(&mut self.task, record, output);
                }
            }
        }
    }

    /// Ends the event whose function failed. Returns false if none was being called.
    pub fn fail_call(&mut self, message: &str) -> bool {
        let node = self.pending_node();
        let was_called = self.pending.take().is_some();
        match node {
            Some((id, node)) => self.fail_task(id, node, message),
            None if was_called => {
                self.errors += 1;
                self.last_error = format!("on_flow_event: {message}");
                log::error(&self.last_error);
            }
            None => {}
        }
        was_called
    }

    /// Sets a variable.
    ///
    /// # Errors
    /// Returns an error if there is no such variable, or the value has another type.
    pub fn set_variable(&mut self, id: InstanceId, name: &str, value: Slot) -> Result<(), String> {
        let (slot, kind) = self.variable_slot(id, name)?;
        check(value, kind)?;
        let instance = self.instances.get_mut(id).expect("the variable was found");
        instance.slots[slot] = value;
        Ok(())
    }

    /// Returns the value of a variable.
    ///
    /// # Errors
    /// Returns an error if there is no such variable.
    pub fn variable(&self, id: InstanceId, name: &str) -> Result<Slot, String> {
        let (slot, _) = self.variable_slot(id, name)?;
        Ok(self.instances.get(id).expect("the variable was found").slots[slot])
    }

    /// Returns the type of a variable.
    ///
    /// # Errors
    /// Returns an error if there is no such variable.
    pub fn variable_type(&self, id: InstanceId, name: &str) -> Result<FlowType, String> {
        self.variable_slot(id, name).map(|(_, kind)| kind)
    }

    fn variable_slot(&self, id: InstanceId, name: &str) -> Result<(usize, FlowType), String> {
        let instance = self.instances.get(id).ok_or("the graph does not run")?;
        let program = &self.programs[instance.program as usize].program;
        let found = program.variable(name).map(|one| (one.slot as usize, one.kind));
        found.ok_or_else(|| {
            let names = program.variables.iter().map(|one| one.name.as_str());
            let hint = suggest::hint(name, names);
            format!("the graph {} has no variable '{name}'{hint}", program.name)
        })
    }
}
