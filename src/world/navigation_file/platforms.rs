//! The block `platforms` of a navigation file: units that move and carry characters, with their
//! stops.

use super::{LINK_COST_MAX, NavigationError, block, check_classes, number, point, text, texts};
use crate::unit_compiler::{are_numbers, invalid_value};
use engine_foundation::sjson::{SjsonTree, SjsonValue};
use engine_foundation::suggest;
use engine_navigation::platforms::{PLATFORM_CAPACITY_MAX, STOPS_MAX, StopSettings};

/// Maximum number of platforms of a file.
pub const PLATFORMS_MAX: usize = 32;
/// Cost of a ride, in metres.
const COST: f32 = 10.0;
/// Distances within which a stop is open, in metres.
const STOP_DISTANCE: f32 = 2.0;
const STOP_DISTANCE_MAX: f32 = 100.0;

const KEYS: [&str; 5] = ["unit", "stops", "capacity", "cost", "agents"];
const STOP_KEYS: [&str; 3] = ["ashore", "aboard", "distance"];

/// Unit that carries characters.
#[derive(Clone, PartialEq, Debug)]
pub struct PlatformEdit {
    pub name: String,
    /// Name of the unit in the level.
    pub unit: String,
    /// Number of characters; `None` for as many as it has room for.
    pub capacity: Option<usize>,
    pub cost: f32,
    /// Stops with their points on the ground in the space of the level.
    pub stops: Vec<StopSettings>,
    /// Classes of characters for which it applies; all if empty.
    pub classes: Vec<String>,
}

/// Reads an entry that the compiler has validated.
pub(super) fn platform_edit((name, fields): &(String, SjsonTree)) -> PlatformEdit {
    let stop = |(name, fields): &(String, SjsonTree)| StopSettings {
        name: name.clone(),
        ashore: point(fields.get("ashore")),
        aboard: point(fields.get("aboard")),
        distance: number(fields.get("distance"))
            .unwrap_or(STOP_DISTANCE)
            .clamp(0.0, STOP_DISTANCE_MAX),
    };
    let capacity = number(fields.get("capacity"));
    PlatformEdit {
        name: name.clone(),
        unit: text(fields, "unit").unwrap_or_default(),
        capacity: capacity.map(|count| (count as usize).clamp(1, PLATFORM_CAPACITY_MAX)),
        cost: number(fields.get("cost")).unwrap_or(COST).clamp(0.0, LINK_COST_MAX),
        stops: block(fields, "stops").iter().take(STOPS_MAX).map(stop).collect(),
        classes: texts(fields, "agents"),
    }
}

pub(super) fn check<'a>(
    root: SjsonValue<'a>,
    name: &str,
    fields: SjsonValue<'a>,
) -> Result<(), NavigationError<'a>> {
    for (key, example) in [("unit", "\"lift\""), ("stops", "{ hall = { … } }")] {
        if fields.get(key).is_none() {
            return Err((fields, format!("platform '{name}' needs '{key}': {key} = {example}")));
        }
    }
    for field in fields.entries().into_iter().flatten() {
        let (key, value) = (field.key, field.value);
        let in_range = |low: f32, high: f32| {
            value.as_f32().is_some_and(|number| (low..=high).contains(&number))
        };
        let is_whole = value.as_f32().is_some_and(|number| number.fract() == 0.0);
        let must = match key {
            "unit" if value.as_str().is_none() => "the name of a unit of the level".to_string(),
            "capacity" if !is_whole || !in_range(1.0, PLATFORM_CAPACITY_MAX as f32) => {
                format!("a whole number, 1 to {PLATFORM_CAPACITY_MAX} (PLATFORM_CAPACITY_MAX)")
            }
            "cost" if !in_range(0.0, LINK_COST_MAX) => format!("a number, 0 to {LINK_COST_MAX}"),
            "stops" => {
                check_stops(name, value)?;
                continue;
            }
            "agents" => {
                check_classes(root, name, value)?;
                continue;
            }
            key if KEYS.contains(&key) => continue,
            key => {
                let hint = suggest::hint(key, KEYS);
                let message = format!("platform '{name}' has the unknown field '{key}'{hint}");
                return Err((value, message));
            }
        };
        return Err((value, invalid_value(&format!("'{key}' of platform '{name}'"), &must, value)));
    }
    Ok(())
}

fn check_stops<'a>(name: &str, value: SjsonValue<'a>) -> Result<(), NavigationError<'a>> {
    let count = value.entries().map_or(0, |stops| stops.len());
    if count == 0 || count > STOPS_MAX {
        let must = format!("a block of 1 to {STOPS_MAX} stops (STOPS_MAX)");
        return Err((value, invalid_value(&format!("'stops' of platform '{name}'"), &must, value)));
    }
    for stop in value.entries().into_iter().flatten() {
        let (fields, stop) = (stop.value, stop.key);
        for key in ["ashore", "aboard"] {
            if !fields.get(key).is_some_and(|value| are_numbers(value, &[3])) {
                let message = format!(
                    "stop '{stop}' of platform '{name}' needs '{key}', three numbers in metres"
                );
                return Err((fields, message));
            }
        }
        for field in fields.entries().into_iter().flatten() {
            let (key, value) = (field.key, field.value);
            let distance = value.as_f32();
            let is_near = distance.is_some_and(|of| (0.0..=STOP_DISTANCE_MAX).contains(&of));
            if key == "distance" && !is_near {
                let subject = format!("'distance' of stop '{stop}'");
                let must = format!("0 to {STOP_DISTANCE_MAX} metres");
                return Err((value, invalid_value(&subject, &must, value)));
            }
            if !STOP_KEYS.contains(&key) {
                let hint = suggest::hint(key, STOP_KEYS);
                let message = format!("stop '{stop}' has the unknown field '{key}'{hint}");
                return Err((value, message));
            }
        }
    }
    Ok(())
}
