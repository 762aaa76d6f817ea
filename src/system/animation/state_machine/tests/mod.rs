//! Tests of state machines.

mod compile;
mod compile_errors;
mod descriptions;
mod evaluation;
mod expressions;
mod playing;
mod root;
mod transitions;

use super::*;

/// Compiles the inside of a state machine file; the first line is line 1.
fn compiled(text: &str) -> StateMachine {
    let text = format!("skeleton = \"units/orc\" {text}");
    match compile_state_machine("orc.state_machine", &text) {
        Ok(machine) => machine,
        Err(error) => panic!("{error}"),
    }
}

fn clip(seconds: f32, loops: bool) -> ClipInfo {
    ClipInfo { seconds, loops, ..ClipInfo::default() }
}

/// A character with its state machine and clips.
struct Character {
    machine: StateMachine,
    clips: Vec<ClipInfo>,
    state: StateMachineState,
    sent: Vec<SentEvent>,
    output: StateMachineOutput,
}

impl Character {
    /// Creates a character. A clip without an entry in `clips` repeats each second.
    fn new(text: &str, clips: &[(&str, ClipInfo)]) -> Character {
        let machine = compiled(text);
        let info = |name: &str| {
            let found = clips.iter().find(|(known, _)| *known == name);
            found.map_or(clip(1.0, true), |(_, info)| info.clone())
        };
        let clips = machine.clips().iter().map(|it| info(&it.name)).collect();
        let state = StateMachineState::new(&machine, 7);
        Character { machine, clips, state, sent: vec![], output: StateMachineOutput::default() }
    }

    fn update(&mut self, dt: f32) {
        let Character { machine, clips, state, sent, output } = self;
        state.update(machine, clips, dt, sent, output);
    }

    fn send(&mut self, event: &str) -> bool {
        let event = self.machine.find_event(event).expect("an event of the machine");
        self.state.send_event(&self.machine, event, &mut self.sent)
    }

    fn set(&mut self, variable: &str, value: f32) {
        let index = self.machine.find_variable(variable).expect("a variable of the machine");
        assert!(self.state.set_variable(&self.machine, index, value));
    }

    fn info(&self) -> LayerInfo<'_> {
        self.state.layer_info(&self.machine, 0).expect("a layer")
    }

    /// Returns the current state and the samples of the pose, as text.
    fn shown(&self) -> String {
        let sample = |it: &Sample| {
            let name = &self.machine.clips()[usize::from(it.clip)].name;
            format!("{name}@{:.2}*{:.2}", it.time, it.weight)
        };
        let samples: Vec<String> = self.output.samples.iter().map(sample).collect();
        format!("{}: {}", self.info().state, samples.join(" "))
    }

    /// Returns the sent events and forgets them.
    fn sent(&mut self) -> Vec<String> {
        let name = |it: SentEvent| match it.source {
            EventSource::State(event) => {
                self.machine.sent_events()[usize::from(event)].name.clone()
            }
            EventSource::Clip { clip, event } => {
                self.clips[usize::from(clip)].events[usize::from(event)].1.clone()
            }
        };
        std::mem::take(&mut self.sent).into_iter().map(name).collect()
    }
}
