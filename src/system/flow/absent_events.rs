//! Events that the owner of a graph never gets, such as collisions of a unit without actors. The
//! caller knows the owner; graphs of files of their own have one only where their users are known.

use super::program::EventKind;
use super::source::{GraphSource, PROBLEMS_MAX, Problem};

/// Sources of events that the owners of a graph have.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct EventSources {
    /// False for levels.
    pub is_unit: bool,
    /// Actors that report contacts.
    pub actors: bool,
    pub triggers: bool,
    pub animation: bool,
}

impl EventSources {
    /// Returns what one of two owners has.
    pub fn or(self, other: EventSources) -> EventSources {
        EventSources {
            is_unit: self.is_unit || other.is_unit,
            actors: self.actors || other.actors,
            triggers: self.triggers || other.triggers,
            animation: self.animation || other.animation,
        }
    }

    /// Returns why an event never comes, if it does not.
    fn absence(self, kind: EventKind) -> Option<&'static str> {
        let (has_source, reason) = match kind {
            EventKind::Collision => (
                self.actors,
                "the unit has no actor that reports contacts, so this event never comes: add one \
                 to 'actors' of its component 'physics', or with Unit.create_actor",
            ),
            EventKind::TriggerEnter | EventKind::TriggerLeave => (
                self.triggers,
                "the unit has no trigger, so this event never comes: add an actor of type \
                 \"trigger\" to its component 'physics', or with Unit.create_actor",
            ),
            EventKind::Animation => {
                (self.animation, "the unit has no component 'animation', so this event never comes")
            }
            _ => return None,
        };
        match (has_source, self.is_unit) {
            (true, _) => None,
            (false, true) => Some(reason),
            (false, false) => Some(
                "only units get this event: put the node into the graph of a unit, which can send \
                 an event to the level with event.send",
            ),
        }
    }
}

/// Returns a warning for each node whose event never comes. Nodes of subgraphs are left out,
/// because other graphs may use them.
pub fn absent_events(graph: &GraphSource, sources: EventSources) -> Vec<Problem> {
    let warning = |kind: &str| sources.absence(EventKind::of_type(kind)?);
    let nodes = graph.nodes.iter();
    let found = nodes.filter_map(|node| Some(Problem::warning(&node.id, "", warning(&node.kind)?)));
    found.take(PROBLEMS_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::tree;

    const UNIT: EventSources =
        EventSources { is_unit: true, actors: false, triggers: false, animation: false };

    fn check(sources: EventSources, kind: &str, wanted: &str) {
        let (graph, _) =
            GraphSource::read(&tree(&format!("nodes = {{ n = {{ type = \"{kind}\" }} }}")));
        let found = absent_events(&graph, sources);
        assert_eq!(found.is_empty(), wanted.is_empty(), "{kind}: {found:?}");
        assert!(found.iter().all(|one| one.node == "n" && one.message.contains(wanted)));
    }

    #[test]
    fn events_without_a_source_are_warned_of() {
        check(UNIT, "event.collision", "has no actor");
        check(UNIT, "event.trigger_enter", "has no trigger");
        check(UNIT, "event.trigger_leave", "has no trigger");
        check(UNIT, "event.animation", "has no component 'animation'");
        check(EventSources::default(), "event.collision", "only units get this event");
        check(EventSources::default(), "event.animation", "only units get this event");
    }

    #[test]
    fn events_with_a_source_are_silent() {
        check(EventSources { actors: true, ..UNIT }, "event.collision", "");
        check(EventSources { triggers: true, ..UNIT }, "event.trigger_leave", "");
        check(EventSources { animation: true, ..UNIT }, "event.animation", "");
        for kind in ["event.spawned", "event.custom", "event.input", "event.timer", "flow.branch"] {
            check(UNIT, kind, "");
            check(EventSources::default(), kind, "");
        }
        // One of two users is enough.
        check(UNIT.or(EventSources { actors: true, ..UNIT }), "event.collision", "");
        check(UNIT.or(EventSources::default()), "event.collision", "has no actor");
    }
}
