//! Volumes of levels with a shading environment: inside of one, its values replace those of the
//! view, and around it they fade in.

use super::{ResolvedShading, ShadingEnvironments, ShadingOverrides};
use crate::WorldId;
use crate::level::Levels;
use crate::unit_compiler::invalid_value;
use crate::volume;
use engine_foundation::Vec3;
use engine_foundation::sjson::{SjsonTree, SjsonValue};
use engine_resource::resource_kind::kind_names;
use std::sync::Arc;

/// The environment of a level's volume.
#[derive(Clone, PartialEq, Debug)]
pub struct ShadingVolume {
    /// Index of the volume in its level.
    pub volume: usize,
    /// Name of the resource.
    pub environment: String,
    /// Distance outside of the volume over which the values fade in, in metres of the level.
    pub blend_distance: f32,
    /// Volumes with a higher priority are applied later, over those with a lower one.
    pub priority: f32,
}

impl ShadingVolume {
    /// Reads the fields of a volume that the compiler has validated; `None` if it has no
    /// environment.
    pub fn of(volume: usize, fields: &SjsonTree) -> Option<ShadingVolume> {
        let Some(SjsonTree::String(environment)) = fields.get("environment") else { return None };
        let number = |key: &str| match fields.get(key) {
            Some(SjsonTree::Number(number)) => *number as f32,
            _ => 0.0,
        };
        let (blend_distance, priority) = (number("blend_distance"), number("priority"));
        Some(ShadingVolume { volume, environment: environment.clone(), blend_distance, priority })
    }
}

/// Maximum distance over which a volume fades in, in metres.
const BLEND_DISTANCE_MAX: f32 = 1e6;

/// Validates the fields of a level's volume, and adds its environment to the names that the level
/// refers to. The error is the offending value with its message.
pub fn check_volume<'a>(
    name: &str,
    fields: SjsonValue<'a>,
    named: &mut Vec<(&'static str, String)>,
) -> Result<(), (SjsonValue<'a>, String)> {
    volume::check(name, fields, &["environment", "blend_distance", "priority"])?;
    let subject = |key: &str| format!("'{key}' of volume '{name}'");
    match fields.get("environment").map(|value| (value, value.as_str())) {
        Some((_, Some(environment))) => {
            named.push((kind_names::SHADING_ENVIRONMENT, environment.to_string()));
        }
        Some((value, None)) => {
            let must = "the name of a shading environment";
            return Err((value, invalid_value(&subject("environment"), must, value)));
        }
        None => {
            let mut others = ["blend_distance", "priority"].into_iter();
            if let Some((key, value)) = others.find_map(|key| Some((key, fields.get(key)?))) {
                let message = format!("{} needs the field 'environment'", subject(key));
                return Err((value, message));
            }
        }
    }
    let is_distance = |value: f32| (0.0..=BLEND_DISTANCE_MAX).contains(&value);
    if let Some(value) = fields.get("blend_distance")
        && !value.as_f32().is_some_and(is_distance)
    {
        let must = "a number from 0 to 1000000, in metres";
        return Err((value, invalid_value(&subject("blend_distance"), must, value)));
    }
    match fields.get("priority") {
        Some(value) if value.as_f32().is_none_or(|number| !number.is_finite()) => {
            Err((value, invalid_value(&subject("priority"), "a number", value)))
        }
        _ => Ok(()),
    }
}

/// Returns the weight of a volume at a distance from it, both in metres: 1 inside, and 0 from
/// `blend_distance` on, without a kink at either end.
fn weight(distance: f32, blend_distance: f32) -> f32 {
    if distance <= 0.0 {
        return 1.0;
    }
    let outside = (distance / blend_distance.max(1e-6)).clamp(0.0, 1.0);
    1.0 - outside * outside * (3.0 - 2.0 * outside)
}

/// Blends the volumes around a position into the environment of a view of a world, those with the
/// highest priority last. Volumes of equal priority follow the order of levels and volumes. A
/// resource that cannot be read is left out; its error was reported when it was loaded.
pub fn blend_volumes(
    levels: &Levels,
    environments: &ShadingEnvironments,
    world: WorldId,
    position: Vec3,
    environment: &mut ResolvedShading,
) {
    let mut found: Vec<(f32, f32, Arc<ShadingOverrides>)> = Vec::new();
    for (_, level) in levels.slots.iter().filter(|(_, level)| level.world == world) {
        for shading in &level.resource.shading {
            let Some(values) = environments.resources.get(&shading.environment) else { continue };
            let (_, volume) = &level.resource.volumes[shading.volume];
            let distance = volume.distance(level.transform.to_local(position));
            let weight = weight(distance, shading.blend_distance);
            if weight > 0.0 {
                found.push((shading.priority, weight, values.clone()));
            }
        }
    }
    found.sort_by(|a, b| a.0.total_cmp(&b.0));
    for (_, weight, values) in found {
        let mut inside = environment.clone();
        values.apply(&mut inside);
        environment.blend(&inside, weight);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::level::LevelTransform;
    use crate::level_resource::LevelResource;
    use engine_foundation::{HandleKind, Slots, sjson};
    use engine_frame_packet::shading_environment::ShadingEnvironment;
    use engine_resource::store::ResourceStore;

    /// Returns the levels of a world with one level that has these volumes, at (100, 0, 0) and
    /// twice as large.
    fn levels_with(volumes: &str) -> (Levels, WorldId) {
        let mut worlds = Slots::new(HandleKind::World, 1);
        let world = WorldId(worlds.add(()).expect("there is room"));
        let document = sjson::parse(&format!("volumes = {{ {volumes} }}")).expect("it is SJSON");
        let resource = LevelResource::of("cave", &document.to_tree());
        let mut levels = Levels::default();
        levels.resources.insert("cave".to_string(), Arc::new(resource));
        let mut store = ResourceStore::without(String::new());
        let position = Vec3::new(100.0, 0.0, 0.0);
        let transform = LevelTransform { position, scale: 2.0, ..LevelTransform::ORIGIN };
        levels.add(&mut store, world, "cave", transform, None).expect("it is loaded");
        (levels, world)
    }

    #[test]
    fn volumes_blend_by_distance_and_priority() {
        let (levels, world) = levels_with(
            "all = { shape = \"sphere\" radius = 50 environment = \"dark\" } \
             lamp = { shape = \"sphere\" radius = 1 environment = \"lit\" priority = 1 \
             blend_distance = 2 } plain = { shape = \"sphere\" radius = 9 }",
        );
        let mut environments = ShadingEnvironments::default();
        let (exposure, _) = ShadingEnvironment::find("exposure").expect("it exists");
        for (name, value) in [("dark", 0.0), ("lit", 4.0)] {
            let mut values = ShadingOverrides::default();
            values.set(exposure, &[value]);
            environments.resources.insert(name.to_string(), Arc::new(values));
        }
        let exposure = |x: f32| {
            let mut found = ResolvedShading::default();
            blend_volumes(&levels, &environments, world, Vec3::new(x, 0.0, 0.0), &mut found);
            found.values.surroundings.exposure
        };
        // The radius of the lamp is 2 m in the world, and its values end 4 m outside.
        assert_eq!([exposure(100.0), exposure(104.0), exposure(106.0)], [4.0, 2.0, 0.0]);
        assert_eq!([exposure(201.0), exposure(f32::NAN)], [1.0, 1.0]);
    }

    #[test]
    fn wrong_fields_of_volumes_are_refused() {
        let check = |fields: &str, wanted: &str| {
            let text = format!("v = {{ shape = \"sphere\" radius = 1 {fields} }}");
            let document = sjson::parse(&text).expect("it is SJSON");
            let block = document.root().get("v").expect("it is there");
            let mut named = Vec::new();
            let result = check_volume("v", block, &mut named);
            let message = result.map_err(|(_, message)| message).err().unwrap_or_default();
            assert!(message.contains(wanted), "{message}");
            named
        };
        let named = check("environment = \"cave\" blend_distance = 2 priority = -1", "");
        assert_eq!(named, [(kind_names::SHADING_ENVIRONMENT, "cave".to_string())]);
        check("environment = 3", "'environment' of volume 'v' must be the name of a shading");
        check("priority = 3", "'priority' of volume 'v' needs the field 'environment'");
        check("environment = \"a\" blend_distance = -1", "a number from 0 to 1000000");
        check("environment = \"a\" priority = \"high\"", "'priority' of volume 'v' must be");
        check("environmnt = \"a\"", "'environmnt', did you mean 'environment'?");
    }

    #[test]
    fn a_volume_fades_in_over_its_blend_distance() {
        assert_eq!([weight(0.0, 2.0), weight(1.0, 2.0), weight(2.0, 2.0)], [1.0, 0.5, 0.0]);
        assert_eq!([weight(0.0, 0.0), weight(0.1, 0.0)], [1.0, 0.0]);
        assert_eq!(weight(f32::INFINITY, 2.0), 0.0);
    }
}
