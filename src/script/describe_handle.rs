//! Descriptions of handles for people: a handle is a number, and messages say which object it is.

use engine_foundation::handle::StaleHandle;
use engine_foundation::{Handle, HandleKind};
use engine_runtime::Engine;

/// Returns the kind of object that a number refers to, if it is the handle of a living object.
pub fn kind(engine: &Engine, number: f64) -> Option<HandleKind> {
    engine.live_kind(Handle::from_number(number)?)
}

/// Returns a short text for a number that is a handle: the name of the resource or the kind, and
/// the index of the object, `units/rat#17`, `Gui#3`. Destroyed objects are called so. Returns
/// `None` if the number was never a handle.
pub fn text(engine: &Engine, number: f64) -> Option<String> {
    let handle = Handle::from_number(number)?;
    match engine.live_kind(handle) {
        Some(kind) => Some(living(engine, kind, handle)),
        None => match engine.stale_handle(handle)? {
            (_, StaleHandle::Never) => None,
            (kind, StaleHandle::Destroyed { name, .. }) if !name.is_empty() => {
                Some(format!("destroyed {} \"{name}\"", kind.noun()))
            }
            (kind, _) => Some(format!("destroyed {}", kind.noun())),
        },
    }
}

fn living(engine: &Engine, kind: HandleKind, handle: Handle) -> String {
    let number = handle.index();
    let is_spawned = matches!(kind, HandleKind::Unit | HandleKind::Level | HandleKind::Tilemap);
    if let Some(unit) = engine.unit_of_component(handle) {
        let unit = living(engine, HandleKind::Unit, unit);
        return format!("{}#{number} of {unit}", kind.name());
    }
    match engine.object_name(handle) {
        Some(name) if is_spawned => format!("{name}#{number}"),
        Some(name) => format!("{}#{number} \"{name}\"", kind.name()),
        None => format!("{}#{number}", kind.name()),
    }
}

/// Returns the text with the noun of the object before it, unless the text has it already: `unit
/// units/rat#17`, `Gui#3`.
pub fn text_with_kind(engine: &Engine, number: f64) -> Option<String> {
    let text = text(engine, number)?;
    let kind = kind(engine, number);
    Some(match kind {
        Some(kind) if !text.starts_with(kind.name()) => format!("{} {text}", kind.noun()),
        _ => text,
    })
}
