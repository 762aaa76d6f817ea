//! The component `light`: what shines in a world. Lights of all units are rows of one table. Here
//! is what each is; how they get to the renderer is in src/engine/scene.rs.

use super::unit::UnitId;
use crate::error;
use crate::foundation::{Error, Handle, Kind, Mat4, Slots, Vec3};
use crate::packet::scene;
use std::collections::BTreeMap;

/// The most lights of all units together.
pub const LIGHTS_MAX: usize = 1 << 16;
/// How far a light reaches that says nothing of it: to where it is less than this part of white.
const FAINT: f32 = 1.0 / 256.0;
/// The most of a colour, and of an intensity: a picture cannot tell more from less.
pub const BRIGHTNESS_MAX: f32 = 1e9;
/// The most that a shadow can be kept off.
pub const SHADOW_BIAS_MAX: f32 = 100.0;
/// The farthest that such a light reaches, in metres.
const REACH_MAX: f32 = 500.0;

/// The handle of a light.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct LightId(pub Handle);

/// What a light is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LightType {
    Omni,
    Spot,
    Directional,
}

impl LightType {
    /// The words of unit files and scripts.
    pub const NAMES: [&str; 3] = ["omni", "spot", "directional"];
    const ALL: [LightType; 3] = [LightType::Omni, LightType::Spot, LightType::Directional];

    /// The type that a word means.
    pub fn of(word: &str) -> Option<LightType> {
        let place = LightType::NAMES.iter().position(|known| *known == word)?;
        Some(LightType::ALL[place])
    }

    pub fn name(self) -> &'static str {
        LightType::NAMES[self as usize]
    }
}

/// A light as a unit's resource lists it, and as it is now.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LightLook {
    pub kind: LightType,
    /// Linear red, green and blue.
    pub color: [f32; 3],
    /// 1: a white wall, one metre away, sends its colour back.
    pub intensity: f32,
    /// Metres to where it ends; 0: where it can no longer be seen.
    pub falloff_end: f32,
    /// Radians from its axis to where a spot light begins to fade, and to where it ends.
    pub spot_start: f32,
    pub spot_end: f32,
    pub casts_shadows: bool,
    /// How far its shadows are kept off what casts them; 1 is usual.
    pub shadow_bias: f32,
    pub enabled: bool,
}

impl LightLook {
    /// A white omni light.
    pub const DEFAULT: LightLook = LightLook {
        kind: LightType::Omni,
        color: [1.0; 3],
        intensity: 1.0,
        falloff_end: 0.0,
        spot_start: 0.35,
        spot_end: 0.7,
        casts_shadows: false,
        shadow_bias: 1.0,
        enabled: true,
    };

    /// How far it reaches, in metres.
    pub fn reach(&self) -> f32 {
        if self.falloff_end > 0.0 {
            return self.falloff_end;
        }
        let brightest = self.color.iter().copied().fold(0.0, f32::max) * self.intensity;
        (brightest / FAINT).sqrt().min(REACH_MAX)
    }

    /// As the renderer takes it, at a place in the world.
    pub fn placed(&self, pose: &Mat4) -> scene::Light {
        let position = pose.w_axis.truncate();
        let direction = pose.y_axis.truncate().normalize_or(Vec3::Y);
        let (range, casts_shadows) = (self.reach(), self.casts_shadows);
        let kind = match self.kind {
            LightType::Omni => scene::LightKind::Omni { position, range },
            LightType::Directional => scene::LightKind::Sun { direction, casts_shadows },
            LightType::Spot => scene::LightKind::Spot {
                position,
                direction,
                range,
                inner: self.spot_start.min(self.spot_end),
                outer: self.spot_end,
                casts_shadows,
            },
        };
        let color = self.color.map(|part| (part * self.intensity).min(BRIGHTNESS_MAX));
        scene::Light { kind, color, shadow_bias: self.shadow_bias }
    }
}

/// A light as a unit's resource lists it.
#[derive(Clone, PartialEq, Debug)]
pub struct LightPart {
    pub name: String,
    pub node: u16,
    pub look: LightLook,
}

/// A light of a unit.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Light {
    /// The row of its unit.
    pub unit: u32,
    /// Which of the unit's nodes it hangs on, from 0.
    pub node: u16,
    pub look: LightLook,
    /// Where it is relative to its node.
    pub local: Mat4,
}

/// All lights of all units.
pub struct Lights {
    pub slots: Slots<Light>,
    /// By the rows of units, in the order of their resources.
    of: BTreeMap<u32, Vec<LightId>>,
    /// Whether a unit has lights, by row.
    has: Vec<bool>,
    /// Rows of units whose lights are not what they were.
    pub changed: Vec<u32>,
}

impl Default for Lights {
    fn default() -> Lights {
        Lights {
            slots: Slots::new(Kind::Light, LIGHTS_MAX),
            of: BTreeMap::new(),
            has: Vec::new(),
            changed: Vec::new(),
        }
    }
}

impl Lights {
    /// Makes the lights of a unit.
    pub fn spawn(&mut self, unit: UnitId, parts: &[LightPart]) -> Result<(), Error> {
        let row = unit.row();
        if self.slots.len() + parts.len() > LIGHTS_MAX {
            return Err(error!(
                "there is no room for {} more lights (LIGHTS_MAX is {LIGHTS_MAX})",
                parts.len()
            ));
        }
        for part in parts {
            let (node, look) = (part.node, part.look);
            let light = Light { unit: row, node, look, local: Mat4::IDENTITY };
            let handle = self.slots.add(light).expect("there is room, it was looked at");
            self.of.entry(row).or_default().push(LightId(handle));
        }
        if !parts.is_empty() {
            if self.has.len() <= row as usize {
                self.has.resize(row as usize + 1, false);
            }
            self.has[row as usize] = true;
            self.changed.push(row);
        }
        Ok(())
    }

    /// Ends the lights of a unit: whether it had any.
    pub fn destroy(&mut self, row: u32, frame: u64, place: &str) -> bool {
        let Some(all) = self.of.remove(&row) else { return false };
        for light in all {
            self.slots.remove(light.0, "", frame, place);
        }
        self.has[row as usize] = false;
        true
    }

    /// A unit's lights, in order.
    pub fn of_unit(&self, row: u32) -> &[LightId] {
        self.of.get(&row).map_or(&[], |all| &all[..])
    }

    /// Rows of units with lights, and those, in the order of the rows.
    pub fn all(&self) -> impl Iterator<Item = (u32, &[LightId])> {
        self.of.iter().map(|(row, all)| (*row, &all[..]))
    }

    /// A living light, to change.
    pub fn change(&mut self, id: LightId) -> &mut Light {
        let light = self.slots.get_mut(id.0).expect("the handle was checked where it came in");
        self.changed.push(light.unit);
        light
    }

    /// Notes that units moved.
    pub fn note_moved(&mut self, rows: &[u32]) {
        if self.of.is_empty() {
            return;
        }
        let has = |row: &&u32| self.has.get(**row as usize) == Some(&true);
        let moved: Vec<u32> = rows.iter().filter(has).copied().collect();
        self.changed.extend(moved);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_light_reaches_as_far_as_it_says_or_as_it_can_be_seen() {
        let light = LightLook { intensity: 4.0, ..LightLook::DEFAULT };
        assert_eq!(light.reach(), 32.0);
        assert_eq!(LightLook { falloff_end: 5.0, ..light }.reach(), 5.0);
        assert_eq!(LightLook { intensity: 1e9, ..light }.reach(), REACH_MAX);
    }

    #[test]
    fn a_light_shines_along_y() {
        let pose = Mat4::from_translation(Vec3::X);
        let sun = LightLook { kind: LightType::Directional, ..LightLook::DEFAULT };
        let direction = Vec3::Y;
        let kind = scene::LightKind::Sun { direction, casts_shadows: false };
        assert_eq!(sun.placed(&pose).kind, kind);
        assert_eq!(LightType::of("spot").map(LightType::name), Some("spot"));
        assert_eq!(LightType::of("sun"), None);
    }
}
