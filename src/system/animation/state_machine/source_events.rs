//! Compiler of the events that states and groups send, with their cues.

use super::data::*;
use super::source::Builder;
use super::source_fields::SourceFields;
use crate::clip_events::EventCue;
use engine_foundation::Error;
use engine_foundation::sjson::{SjsonValue, ValueKind};

const SENT_LIMIT: (usize, &str) = (64, "64 events a state");

/// Returns the time of an event, and true if it is a fraction of the state's length.
fn timed(event: &SourceFields, count: Option<usize>) -> Result<(f32, bool), Error> {
    let seconds = event.number("time", (0.0, 600.0))?;
    match (seconds, event.number("at", (0.0, 1.0))?) {
        (Some(_), _) if count.is_some_and(|count| count > 1) => Err(event.block_error(
            "a state with several clips has no fixed length: write 'at', a fraction from 0 to 1, \
             in place of 'time'",
        )),
        (Some(seconds), None) => Ok((seconds, false)),
        (None, Some(fraction)) => Ok((fraction, true)),
        _ => {
            let message = "it needs 'time' in seconds, or 'at', a fraction from 0 to 1";
            Err(event.block_error(message))
        }
    }
}

impl<'a> Builder<'a> {
    /// Reads the events at times of a state. `count` is the number of its clips, if these have no
    /// error.
    pub fn read_timed_events(
        &mut self,
        fields: &SourceFields<'a>,
        count: Option<usize>,
    ) -> Vec<TimedEvent> {
        let items = self.keep(fields.list("events", SENT_LIMIT)).unwrap_or_default();
        let mut events = Vec::new();
        for item in items {
            let subject = format!("'events' of {}", fields.subject);
            let known = [&["at", "name", "time"][..], &EventCue::KEYS].concat();
            let Some(block) = self.open(subject, item, &known) else { continue };
            let time = timed(&block, count);
            let time = self.note(time);
            let event = self.event_block(&block);
            let event = self.note(event);
            if let (Some((time, is_fraction)), Some(event)) = (time, event) {
                events.push(TimedEvent { event, time, is_fraction });
            }
        }
        events
    }

    /// Returns the indices of the events of a key: names, or blocks with cues.
    pub fn sent_events(&mut self, fields: &SourceFields<'a>, key: &str) -> Vec<u16> {
        let mut events = Vec::new();
        for value in self.keep(fields.one_or_list(key, SENT_LIMIT)) {
            let event = self.sent_event(fields, (key, value));
            events.extend(self.note(event).flatten());
        }
        events
    }

    fn sent_event(
        &mut self,
        fields: &SourceFields<'a>,
        (key, value): (&str, SjsonValue<'a>),
    ) -> Result<Option<u16>, Error> {
        if value.kind() == ValueKind::Object {
            let subject = format!("'{key}' of {}", fields.subject);
            let known = [&["name"][..], &EventCue::KEYS].concat();
            let block = self.open(subject, value, &known);
            return block.map(|block| self.event_block(&block)).transpose();
        }
        let name = fields.text_of(key, value)?.to_string();
        let (cue, line) = (EventCue::default(), value.line() as u32);
        self.add_sent_event(fields, StateEvent { name, cue, line }).map(Some)
    }

    /// Reads the name and the cue of an event. Returns its index.
    fn event_block(&mut self, event: &SourceFields<'a>) -> Result<u16, Error> {
        let Some(name) = event.text("name")? else {
            return Err(event.block_error("'name' is missing"));
        };
        let text = |key: &str| Ok(event.text(key)?.map(str::to_string));
        let cue = EventCue {
            sound: text("sound")?,
            effect: text("effect")?,
            bone: text("bone")?,
            link: event.boolean("link")?.unwrap_or(false),
        };
        cue.check().map_err(|error| event.block_error(&error.message))?;
        let line = event.value.line() as u32;
        self.add_sent_event(event, StateEvent { name: name.to_string(), cue, line })
    }

    fn add_sent_event(
        &mut self,
        fields: &SourceFields<'a>,
        event: StateEvent,
    ) -> Result<u16, Error> {
        let events = &mut self.machine.sent_events;
        let is_same = |known: &StateEvent| (&known.name, &known.cue) == (&event.name, &event.cue);
        if let Some(index) = events.iter().position(is_same) {
            return Ok(index as u16);
        }
        if events.len() == EVENTS_MAX {
            return Err(fields.block_error(&format!(
                "the states send more than {EVENTS_MAX} different events (EVENTS_MAX)"
            )));
        }
        events.push(event);
        Ok(events.len() as u16 - 1)
    }
}
