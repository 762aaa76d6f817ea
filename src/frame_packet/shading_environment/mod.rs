//! The environment of a view: sky, fog, exposure and post effects as named numbers. Each group of
//! values is a struct of floats in a file of its own, declared by one table, from which scripts get
//! their names, ranges and documentation. Knows no resources, no scripts and no graphics API.

pub mod celestial;
mod fog;
mod lens;
mod post;
mod screen_space;
mod sky;
mod surroundings;
mod textures;
mod tone;
mod value;

pub use fog::FogValues;
pub use lens::LensValues;
pub use post::PostValues;
pub use screen_space::ScreenSpaceValues;
pub use sky::{SKY_PHYSICAL, SKY_TEXTURE, SkyValues};
pub use surroundings::SurroundingsValues;
pub use textures::EnvironmentTextures;
pub use tone::ToneValues;
pub use value::{ShadingValue, ValueKind};

use bytemuck::{Pod, Zeroable};
use value::ValueGroup;

/// All values of an environment. The default changes nothing about a view: every effect is off.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Debug, Pod, Zeroable)]
pub struct ShadingEnvironment {
    pub post: PostValues,
    pub sky: SkyValues,
    pub surroundings: SurroundingsValues,
    pub tone: ToneValues,
    pub lens: LensValues,
    pub screen_space: ScreenSpaceValues,
    pub fog: FogValues,
}

/// Maximum number of floats of all values.
pub const FLOATS_MAX: usize = 1024;

const FLOATS: usize = size_of::<ShadingEnvironment>() / size_of::<f32>();
const _: () = assert!(FLOATS <= FLOATS_MAX);

/// The groups of values, in the order of the fields of [`ShadingEnvironment`].
static GROUPS: &[ValueGroup] = &[
    PostValues::GROUP,
    SkyValues::GROUP,
    SurroundingsValues::GROUP,
    ToneValues::GROUP,
    LensValues::GROUP,
    ScreenSpaceValues::GROUP,
    FogValues::GROUP,
];

impl ShadingEnvironment {
    pub const DEFAULT: ShadingEnvironment = ShadingEnvironment {
        post: PostValues::DEFAULT,
        sky: SkyValues::DEFAULT,
        surroundings: SurroundingsValues::DEFAULT,
        tone: ToneValues::DEFAULT,
        lens: LensValues::DEFAULT,
        screen_space: ScreenSpaceValues::DEFAULT,
        fog: FogValues::DEFAULT,
    };

    /// Returns all floats, in the order of [`ShadingEnvironment::values`].
    pub fn floats(&self) -> &[f32] {
        bytemuck::cast_slice(std::slice::from_ref(self))
    }

    /// Returns all floats for changes; [`ShadingEnvironment::sanitize`] must follow.
    pub fn floats_mut(&mut self) -> &mut [f32] {
        bytemuck::cast_slice_mut(std::slice::from_mut(self))
    }

    /// Returns the table of all values, each with the index of its first float.
    pub fn values() -> impl Iterator<Item = (usize, &'static ShadingValue)> {
        let mut next = 0;
        GROUPS.iter().flat_map(|group| group.values).map(move |value| {
            let first = next;
            next += value.kind.components();
            (first, value)
        })
    }

    /// Finds a value by its name. Returns the index of its first float, and its row.
    pub fn find(name: &str) -> Option<(usize, &'static ShadingValue)> {
        ShadingEnvironment::values().find(|(_, value)| value.name == name)
    }

    /// Limits every float to the range of its value. A float that is not a number gets its default.
    pub fn sanitize(&mut self) {
        let floats = self.floats_mut();
        for (first, value) in ShadingEnvironment::values() {
            let defaults = &value.default[..value.kind.components()];
            for (float, default) in floats[first..].iter_mut().zip(defaults) {
                *float = if float.is_nan() { *default } else { float.clamp(value.min, value.max) };
            }
        }
    }

    /// Moves this environment towards another one. `weight` is from 0 (unchanged) to 1 (equal to
    /// the other one). Switches and choices change at a weight of one half.
    pub fn blend(&mut self, other: &ShadingEnvironment, weight: f32) {
        let weight = if weight.is_nan() { 0.0 } else { weight.clamp(0.0, 1.0) };
        let (floats, others) = (self.floats_mut(), other.floats());
        for (first, value) in ShadingEnvironment::values() {
            for at in first..first + value.kind.components() {
                floats[at] = match value.kind {
                    ValueKind::Choice(_) if weight < 0.5 => floats[at],
                    ValueKind::Choice(_) => others[at],
                    _ if weight >= 1.0 => others[at],
                    _ => floats[at] + (others[at] - floats[at]) * weight,
                };
            }
        }
    }
}

impl Default for ShadingEnvironment {
    fn default() -> ShadingEnvironment {
        ShadingEnvironment::DEFAULT
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_unique_names_and_cover_all_floats() {
        let mut names = std::collections::BTreeSet::new();
        let mut next = 0;
        for (first, value) in ShadingEnvironment::values() {
            assert!(names.insert(value.name), "two values are named '{}'", value.name);
            assert_eq!(first, next, "{}", value.name);
            next += value.kind.components();
            assert!(value.doc.ends_with('.'), "{}: {}", value.name, value.doc);
        }
        assert_eq!(next, FLOATS);
    }

    #[test]
    fn the_default_has_the_defaults_of_the_table() {
        let floats = ShadingEnvironment::DEFAULT;
        for (first, value) in ShadingEnvironment::values() {
            let count = value.kind.components();
            let found = &floats.floats()[first..][..count];
            assert_eq!(found, &value.default[..count], "{}", value.name);
            let is_in_range = |float: &f32| (value.min..=value.max).contains(float);
            assert!(found.iter().all(is_in_range), "{}", value.name);
        }
    }

    #[test]
    fn sanitized_values_are_finite_and_in_range() {
        let mut environment = ShadingEnvironment::DEFAULT;
        environment.floats_mut().fill(f32::NAN);
        environment.sanitize();
        assert_eq!(environment, ShadingEnvironment::DEFAULT);
        environment.floats_mut().fill(f32::INFINITY);
        environment.sanitize();
        for (first, value) in ShadingEnvironment::values() {
            assert_eq!(environment.floats()[first], value.max, "{}", value.name);
        }
    }

    #[test]
    fn blending_ends_at_the_other_environment() {
        let mut other = ShadingEnvironment::DEFAULT;
        for (first, value) in ShadingEnvironment::values() {
            other.floats_mut()[first] = value.max;
        }
        let mut blended = ShadingEnvironment::DEFAULT;
        blended.blend(&other, 0.0);
        assert_eq!(blended, ShadingEnvironment::DEFAULT);
        blended.blend(&other, f32::NAN);
        assert_eq!(blended, ShadingEnvironment::DEFAULT);
        blended.blend(&other, 1.0);
        assert_eq!(blended, other);
    }
}
