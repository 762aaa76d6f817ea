//! Compiler of the events that states and groups send, with their cues.

use super::data::*;
use super::source::Builder;
use super::source_fields::SourceFields;
use crate::clip_events::EventCue;
use engine_foundation::Error;
use engine_foundation::sjson::ValueKind;

const SENT_LIMIT: (usize, &str) = (64, "64 events a state");

impl<'a> Builder<'a> {
    /// Reads the events at times of a state.
    pub fn read_timed_events(
        &mut self,
        fields: &SourceFields<'a>,
        state: &mut State,
    ) -> Result<(), Error> {
        for item in fields.list("events", SENT_LIMIT)?.unwrap_or_default() {
            let subject = format!("'events' of {}", fields.subject);
            let known = [&["at", "name", "time"][..], &EventCue::KEYS].concat();
            let event = SourceFields::open(self.path, subject, item, &known)?;
            let seconds = event.number("time", (0.0, 600.0))?;
            let (time, is_fraction) = match (seconds, event.number("at", (0.0, 1.0))?) {
                (Some(_), _) if state.clips.len() > 1 => {
                    let message = "a state with several clips has no fixed length: write 'at', a \
                                   fraction from 0 to 1, in place of 'time'";
                    return Err(event.block_error(message));
                }
                (Some(seconds), None) => (seconds, false),
                (None, Some(fraction)) => (fraction, true),
                _ => {
                    let message = "it needs 'time' in seconds, or 'at', a fraction from 0 to 1";
                    return Err(event.block_error(message));
                }
            };
            let event = self.event_block(&event)?;
            state.events.push(TimedEvent { event, time, is_fraction });
        }
        Ok(())
    }

    /// Returns the indices of the events of a key: names, or blocks with cues.
    pub fn sent_events(&mut self, fields: &SourceFields<'a>, key: &str) -> Result<Vec<u16>, Error> {
        let mut events = Vec::new();
        for value in fields.one_or_list(key, SENT_LIMIT)? {
            if value.kind() == ValueKind::Object {
                let subject = format!("'{key}' of {}", fields.subject);
                let known = [&["name"][..], &EventCue::KEYS].concat();
                let event = SourceFields::open(self.path, subject, value, &known)?;
                events.push(self.event_block(&event)?);
            } else {
                let name = fields.text_of(key, value)?.to_string();
                let (cue, line) = (EventCue::default(), value.line() as u32);
                let event = StateEvent { name, cue, line };
                events.push(self.add_sent_event(fields, event)?);
            }
        }
        Ok(events)
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
