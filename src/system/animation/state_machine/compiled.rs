//! Compiled form of a state machine, and the check of everything that the runtime relies on.

use super::constraint_description::{ConstraintDescription, ConstraintKind};
use super::data::*;
use super::expression::{Expression, ExpressionTable};
use crate::clip_events::EventCue;
use engine_foundation::blob::{BlobReader, BlobWriter, unframe};
use engine_foundation::{Error, error};

/// Version of the compiled form. A change of this number recompiles every state machine.
pub const STATE_MACHINE_VERSION: u32 = 5;
const MAGIC: [u8; 4] = *b"ASMC";

/// Number in place of an optional index.
const NONE: u32 = u32::MAX;

pub(super) fn read_u16(reader: &mut BlobReader) -> Result<u16, Error> {
    u16::try_from(reader.u32()?).map_err(|_| damaged("an index"))
}

fn damaged(subject: &str) -> Error {
    error!("it is damaged: {subject} of the state machine is not valid")
}

fn write_float(writer: &mut BlobWriter, number: f32) {
    writer.u32(number.to_bits());
}

pub(super) fn write_floats(writer: &mut BlobWriter, numbers: &[f32]) {
    numbers.iter().for_each(|number| write_float(writer, *number));
}

fn write_optional(writer: &mut BlobWriter, index: Option<u16>) {
    writer.u32(index.map_or(NONE, u32::from));
}

fn read_optional(reader: &mut BlobReader) -> Result<Option<u16>, Error> {
    match reader.u32()? {
        NONE => Ok(None),
        index => Ok(Some(u16::try_from(index).map_err(|_| damaged("an index"))?)),
    }
}

fn write_indices(writer: &mut BlobWriter, indices: &[u16]) {
    writer.list(indices, |writer, index| writer.u32(u32::from(*index)));
}

fn read_indices(reader: &mut BlobReader) -> Result<Vec<u16>, Error> {
    reader.list_at_most((EVENTS_MAX, "EVENTS_MAX"), read_u16)
}

fn write_expression(writer: &mut BlobWriter, expression: Option<Expression>) {
    let Expression { start, count } = expression.unwrap_or(Expression { start: NONE, count: 0 });
    writer.u32(start);
    writer.u32(count);
}

fn read_expression(reader: &mut BlobReader) -> Result<Option<Expression>, Error> {
    let (start, count) = (reader.u32()?, reader.u32()?);
    Ok((start != NONE).then_some(Expression { start, count }))
}

fn required_expression(reader: &mut BlobReader) -> Result<Expression, Error> {
    read_expression(reader)?.ok_or_else(|| damaged("an expression"))
}

/// Writes the index of a choice in a table of names.
fn write_choice<T: PartialEq>(writer: &mut BlobWriter, table: &[(&str, T)], choice: T) {
    writer.u8(table.iter().position(|(_, it)| *it == choice).unwrap_or(0) as u8);
}

fn read_choice<T: Copy>(reader: &mut BlobReader, table: &[(&str, T)]) -> Result<T, Error> {
    let entry = table.get(usize::from(reader.u8()?));
    entry.map(|(_, choice)| *choice).ok_or_else(|| damaged("a choice"))
}

fn read_text(reader: &mut BlobReader) -> Result<String, Error> {
    Ok(reader.text()?.to_string())
}

impl StateMachine {
    /// Returns the state machine in its compiled form.
    pub fn write(&self) -> Vec<u8> {
        let mut writer = BlobWriter::default();
        writer.text(&self.path);
        writer.text(&self.skeleton);
        writer.list(&self.variables, |writer, variable| {
            writer.text(&variable.name);
            write_floats(writer, &[variable.value, variable.min, variable.max]);
        });
        writer.list(&self.events, |writer, name| writer.text(name));
        writer.list(&self.sent_events, |writer, event| {
            writer.text(&event.name);
            event.cue.write(writer);
            writer.u32(event.line);
        });
        writer.list(&self.clips, |writer, clip| {
            writer.text(&clip.name);
            writer.u32(clip.line);
        });
        writer.list(&self.masks, |writer, mask| {
            writer.text(&mask.name);
            writer.list(&mask.bones, |writer, bone| {
                writer.text(&bone.bone);
                write_float(writer, bone.weight);
                writer.u32(bone.line);
            });
        });
        writer.list(&self.constraints, write_constraint);
        writer.list(&self.layers, |writer, layer| {
            writer.text(&layer.name);
            writer.u32(u32::from(layer.initial));
            write_expression(writer, layer.weight);
            write_optional(writer, layer.mask);
            write_indices(writer, &layer.constraints);
            writer.u32(u32::from(layer.states.0));
            writer.u32(u32::from(layer.states.1));
        });
        writer.list(&self.states, write_state);
        writer.list(&self.groups, |writer, group| {
            writer.text(&group.name);
            write_indices(writer, &group.enter);
            write_indices(writer, &group.exit);
        });
        writer.list(&self.transitions, write_transition);
        writer.list(&self.routes, |writer, route| {
            writer.u32(u32::from(route.event));
            writer.u32(u32::from(route.transition));
        });
        self.table.write(&mut writer);
        writer.into_frame(MAGIC, STATE_MACHINE_VERSION)
    }
}

fn write_constraint(writer: &mut BlobWriter, constraint: &ConstraintDescription) {
    writer.text(&constraint.name);
    writer.u32(constraint.line);
    write_choice(writer, &ConstraintKind::ALL, constraint.kind);
    writer.list(&constraint.bones, |writer, bone| writer.text(bone));
    writer.text(constraint.target.as_deref().unwrap_or_default());
    writer.list(&constraint.parameters, |writer, value| {
        write_floats(writer, value);
    });
}

fn write_state(writer: &mut BlobWriter, state: &State) {
    writer.text(&state.name);
    writer.u32(state.line);
    match &state.kind {
        StateKind::Empty => writer.u8(0),
        StateKind::Blend => writer.u8(1),
        StateKind::RandomClip => writer.u8(2),
        StateKind::ClipChoice => writer.u8(3),
        StateKind::Time(expression) => {
            writer.u8(4);
            write_expression(writer, Some(*expression));
        }
        StateKind::Ragdoll { mask } => {
            writer.u8(5);
            write_optional(writer, *mask);
        }
        StateKind::Selection { random, targets } => {
            writer.u8(6);
            writer.u8(u8::from(*random));
            writer.list(targets, |writer, (target, weight)| {
                writer.u32(u32::from(*target));
                write_expression(writer, *weight);
            });
        }
    }
    writer.u8(u8::from(state.additive));
    writer.u8(u8::from(state.is_space));
    writer.list(&state.clips, |writer, clip| {
        writer.u32(u32::from(clip.clip));
        write_expression(writer, clip.weight);
    });
    writer.list(&state.speeds, |writer, speed| write_expression(writer, Some(*speed)));
    writer.u8(state.looping.map_or(2, u8::from));
    write_indices(writer, &state.constraints);
    write_indices(writer, &state.enter);
    write_indices(writer, &state.exit);
    writer.list(&state.events, |writer, event| {
        writer.u32(u32::from(event.event));
        write_float(writer, event.time);
        writer.u8(u8::from(event.is_fraction));
    });
    write_indices(writer, &state.groups);
    writer.u32(state.routes.0);
    writer.u32(state.routes.1);
}

fn write_transition(writer: &mut BlobWriter, transition: &Transition) {
    write_optional(writer, transition.event);
    writer.u32(u32::from(transition.target));
    write_expression(writer, transition.condition);
    write_choice(writer, &TransitionMode::ALL, transition.mode);
    write_float(writer, transition.fade.seconds);
    write_choice(writer, &Curve::ALL, transition.fade.curve);
    write_choice(writer, &Interruption::ALL, transition.fade.interruption);
    writer.u8(transition.fade.priority as u8);
    writer.u32(transition.line);
}

/// Reads the compiled form of a state machine.
///
/// # Errors
/// Returns an error if anything that the runtime relies on is not valid.
pub fn read_state_machine(bytes: &[u8]) -> Result<StateMachine, Error> {
    let reader = &mut BlobReader::new(unframe(bytes, MAGIC, STATE_MACHINE_VERSION)?);
    let machine = StateMachine {
        path: read_text(reader)?,
        skeleton: read_text(reader)?,
        variables: reader.list_at_most((VARIABLES_MAX, "VARIABLES_MAX"), |reader| {
            Ok(Variable {
                name: read_text(reader)?,
                value: reader.finite()?,
                min: reader.finite()?,
                max: reader.finite()?,
            })
        })?,
        events: reader.list_at_most((EVENTS_MAX, "EVENTS_MAX"), read_text)?,
        sent_events: reader.list_at_most((EVENTS_MAX, "EVENTS_MAX"), |reader| {
            let (name, cue) = (read_text(reader)?, EventCue::read(reader)?);
            Ok(StateEvent { name, cue, line: reader.u32()? })
        })?,
        clips: reader.list_at_most((CLIPS_MAX, "CLIPS_MAX"), |reader| {
            Ok(ClipReference { name: read_text(reader)?, line: reader.u32()? })
        })?,
        masks: reader.list_at_most((MASKS_MAX, "MASKS_MAX"), read_mask)?,
        constraints: reader.list_at_most((CONSTRAINTS_MAX, "CONSTRAINTS_MAX"), read_constraint)?,
        layers: reader.list_at_most((LAYERS_MAX, "LAYERS_MAX"), |reader| {
            Ok(Layer {
                name: read_text(reader)?,
                initial: read_u16(reader)?,
                weight: read_expression(reader)?,
                mask: read_optional(reader)?,
                constraints: read_indices(reader)?,
                states: (read_u16(reader)?, read_u16(reader)?),
            })
        })?,
        states: reader.list_at_most((STATES_MAX, "STATES_MAX"), read_state)?,
        groups: reader.list_at_most((1 << 15, "32768 groups"), |reader| {
            let (name, enter) = (read_text(reader)?, read_indices(reader)?);
            Ok(Group { name, enter, exit: read_indices(reader)? })
        })?,
        transitions: reader.list_at_most((TRANSITIONS_MAX, "TRANSITIONS_MAX"), read_transition)?,
        routes: reader.list_at_most((2 * ROUTES_MAX, "2 * ROUTES_MAX"), |reader| {
            Ok(Route { event: read_u16(reader)?, transition: read_u16(reader)? })
        })?,
        table: ExpressionTable::read(reader)?,
    };
    reader.end()?;
    check(&machine)?;
    Ok(machine)
}

fn read_mask(reader: &mut BlobReader) -> Result<Mask, Error> {
    let name = read_text(reader)?;
    let bones = reader.list_at_most((MASK_BONES_MAX, "MASK_BONES_MAX"), |reader| {
        let (bone, weight) = (read_text(reader)?, reader.finite()?);
        if !(0.0..=1.0).contains(&weight) {
            return Err(damaged("the weight of a mask"));
        }
        Ok(MaskBone { bone, weight, line: reader.u32()? })
    })?;
    Ok(Mask { name, bones })
}

fn read_constraint(reader: &mut BlobReader) -> Result<ConstraintDescription, Error> {
    let (name, line) = (read_text(reader)?, reader.u32()?);
    let kind = read_choice(reader, &ConstraintKind::ALL)?;
    let bones = reader.list_at_most((MASK_BONES_MAX, "MASK_BONES_MAX"), read_text)?;
    let target = Some(read_text(reader)?).filter(|target| !target.is_empty());
    let parameters =
        reader.list(|reader| Ok([reader.finite()?, reader.finite()?, reader.finite()?]))?;
    let constraint = ConstraintDescription { name, line, kind, bones, target, parameters };
    match constraint.is_valid() {
        true => Ok(constraint),
        false => Err(damaged("a constraint")),
    }
}

fn read_kind(reader: &mut BlobReader) -> Result<StateKind, Error> {
    Ok(match reader.u8()? {
        0 => StateKind::Empty,
        1 => StateKind::Blend,
        2 => StateKind::RandomClip,
        3 => StateKind::ClipChoice,
        4 => StateKind::Time(required_expression(reader)?),
        5 => StateKind::Ragdoll { mask: read_optional(reader)? },
        6 => {
            let random = reader.flag()?;
            let limit = (STATE_CLIPS_MAX, "STATE_CLIPS_MAX");
            let targets = reader
                .list_at_most(limit, |reader| Ok((read_u16(reader)?, read_expression(reader)?)))?;
            StateKind::Selection { random, targets }
        }
        _ => return Err(damaged("the kind of a state")),
    })
}

fn read_state(reader: &mut BlobReader) -> Result<State, Error> {
    let (name, line, kind) = (read_text(reader)?, reader.u32()?, read_kind(reader)?);
    let (additive, is_space) = (reader.flag()?, reader.flag()?);
    Ok(State {
        name,
        line,
        kind,
        is_space,
        clips: reader.list_at_most((STATE_CLIPS_MAX, "STATE_CLIPS_MAX"), |reader| {
            Ok(StateClip { clip: read_u16(reader)?, weight: read_expression(reader)? })
        })?,
        speeds: reader
            .list_at_most((GROUP_DEPTH_MAX + 1, "GROUP_DEPTH_MAX"), required_expression)?,
        looping: match reader.u8()? {
            0 => Some(false),
            1 => Some(true),
            2 => None,
            _ => return Err(damaged("the repetition of a state")),
        },
        additive,
        constraints: read_indices(reader)?,
        enter: read_indices(reader)?,
        exit: read_indices(reader)?,
        events: reader.list_at_most((EVENTS_MAX, "EVENTS_MAX"), |reader| {
            let (event, time) = (read_u16(reader)?, reader.finite()?);
            Ok(TimedEvent { event, time, is_fraction: reader.flag()? })
        })?,
        groups: reader.list_at_most((GROUP_DEPTH_MAX, "GROUP_DEPTH_MAX"), read_u16)?,
        routes: (reader.u32()?, reader.u32()?),
    })
}

fn read_transition(reader: &mut BlobReader) -> Result<Transition, Error> {
    let (event, target) = (read_optional(reader)?, read_u16(reader)?);
    let condition = read_expression(reader)?;
    let mode = read_choice(reader, &TransitionMode::ALL)?;
    let fade = FadeSettings {
        seconds: reader.finite()?,
        curve: read_choice(reader, &Curve::ALL)?,
        interruption: read_choice(reader, &Interruption::ALL)?,
        priority: reader.u8()? as i8,
    };
    if !(0.0..=BLEND_SECONDS_MAX).contains(&fade.seconds) {
        return Err(damaged("the length of a transition"));
    }
    Ok(Transition { event, target, condition, mode, fade, line: reader.u32()? })
}

/// Returns a choice of states that leads back to itself, or through too many choices.
pub(super) fn endless_selection(states: &[State]) -> Option<u16> {
    // Number of choices from each state on; a fixed point unless there is a circle.
    let mut depths = vec![0usize; states.len()];
    for _ in 0..=SELECTION_DEPTH_MAX {
        for (index, state) in states.iter().enumerate() {
            if let StateKind::Selection { targets, .. } = &state.kind {
                let next = |(target, _): &(u16, _)| depths.get(usize::from(*target)).copied();
                let deepest = targets.iter().filter_map(next).max().unwrap_or(0);
                depths[index] = (deepest + 1).min(SELECTION_DEPTH_MAX + 1);
            }
        }
    }
    let found = depths.iter().position(|depth| *depth > SELECTION_DEPTH_MAX);
    found.map(|index| index as u16)
}

/// Checks every index, range and expression of a state machine.
pub(super) fn check(machine: &StateMachine) -> Result<(), Error> {
    for Variable { value, min, max, .. } in &machine.variables {
        if value < min || value > max {
            return Err(damaged("a variable"));
        }
    }
    let mut next = 0;
    for layer in &machine.layers {
        let (first, end) = layer.states;
        let inside = (first..end).contains(&layer.initial);
        if first != next || !inside || layer.mask.is_some_and(|it| !is_in(it, &machine.masks)) {
            return Err(damaged("a layer"));
        }
        next = end;
        check_indices(&layer.constraints, &machine.constraints)?;
        check_expression(machine, layer.weight)?;
        for state in first..end {
            let state = machine.states.get(usize::from(state)).ok_or_else(|| damaged("a layer"))?;
            check_state(machine, layer, state)?;
        }
    }
    if machine.layers.is_empty() || usize::from(next) != machine.states.len() {
        return Err(damaged("the list of layers"));
    }
    for group in &machine.groups {
        check_indices(&group.enter, &machine.sent_events)?;
        check_indices(&group.exit, &machine.sent_events)?;
    }
    for transition in &machine.transitions {
        let event = transition.event.is_none_or(|event| is_in(event, &machine.events));
        if !event || !is_in(transition.target, &machine.states) {
            return Err(damaged("a transition"));
        }
        check_expression(machine, transition.condition)?;
    }
    match endless_selection(&machine.states) {
        None => Ok(()),
        Some(_) => Err(damaged("a choice of states")),
    }
}

fn is_in<T>(index: u16, list: &[T]) -> bool {
    usize::from(index) < list.len()
}

fn check_indices<T>(indices: &[u16], list: &[T]) -> Result<(), Error> {
    match indices.iter().all(|index| is_in(*index, list)) {
        true => Ok(()),
        false => Err(damaged("an index")),
    }
}

fn check_expression(machine: &StateMachine, it: Option<Expression>) -> Result<(), Error> {
    let variables = machine.variables.len();
    it.map_or(Ok(()), |expression| machine.table.check(expression, variables))
}

fn check_state(machine: &StateMachine, layer: &Layer, state: &State) -> Result<(), Error> {
    check_indices(&state.constraints, &machine.constraints)?;
    check_indices(&state.enter, &machine.sent_events)?;
    check_indices(&state.exit, &machine.sent_events)?;
    check_indices(&state.groups, &machine.groups)?;
    for clip in &state.clips {
        check_indices(&[clip.clip], &machine.clips)?;
        check_expression(machine, clip.weight)?;
    }
    for speed in &state.speeds {
        check_expression(machine, Some(*speed))?;
    }
    for event in &state.events {
        check_indices(&[event.event], &machine.sent_events)?;
        if event.time < 0.0 || event.is_fraction && event.time > 1.0 {
            return Err(damaged("an event"));
        }
    }
    let inside = |index: u16| (layer.states.0..layer.states.1).contains(&index);
    match &state.kind {
        StateKind::Time(expression) => check_expression(machine, Some(*expression))?,
        StateKind::Ragdoll { mask } if mask.is_some_and(|it| !is_in(it, &machine.masks)) => {
            return Err(damaged("a mask"));
        }
        StateKind::Selection { targets, .. } => {
            if targets.is_empty() || !targets.iter().all(|(target, _)| inside(*target)) {
                return Err(damaged("a choice of states"));
            }
            for (_, weight) in targets {
                check_expression(machine, *weight)?;
            }
        }
        _ => {}
    }
    let plays = !matches!(
        state.kind,
        StateKind::Empty | StateKind::Ragdoll { .. } | StateKind::Selection { .. }
    );
    if plays == state.clips.is_empty() {
        return Err(damaged("the list of clips of a state"));
    }
    let (start, end) = (state.routes.0 as usize, state.routes.1 as usize);
    let routes = machine.routes.get(start..end).ok_or_else(|| damaged("a route"))?;
    if !routes.is_sorted_by_key(|route| route.event) {
        return Err(damaged("the order of the routes"));
    }
    for route in routes {
        let transition = machine.transitions.get(usize::from(route.transition));
        let transition = transition.ok_or_else(|| damaged("a route"))?;
        let event = transition.event.unwrap_or(END_EVENT);
        if event != route.event || !inside(transition.target) {
            return Err(damaged("a route"));
        }
    }
    Ok(())
}
