//! The component `decal`: pictures that are projected onto meshes. The decals of all units are rows
//! of one table. This module stores the settings of each decal. The transfer to the renderer is in
//! src/engine/render_decals.rs.

use super::unit::UnitId;
use engine_foundation::error;
use engine_foundation::{Color, Error, Handle, HandleKind, Mat4, Slots, Vec3};
use engine_frame_packet::decal::{DecalFrame, DecalTextures};
use engine_frame_packet::scene::{DrawTransform, LIGHT_LAYERS_ALL};
use engine_textures::TextureNumber;
use std::collections::BTreeMap;

/// Maximum number of decals of all units together.
pub const DECALS_MAX: usize = engine_frame_packet::decal::DECALS_MAX;
/// Maximum factor for the light that a decal emits.
pub const EMISSIVE_MAX: f32 = 1e6;
/// Maximum factor for the slopes of a normal texture.
pub const NORMAL_STRENGTH_MAX: f32 = 16.0;
/// Maximum side length of a decal, in metres.
pub const SIZE_MAX: f32 = 1e4;
/// Maximum distance of a fade, in metres.
pub const DISTANCE_MAX: f32 = 1e6;
/// Maximum lifetime of a decal, in seconds.
pub const LIFETIME_MAX: f32 = 1e9;
/// Maximum order of a decal; the minimum is the opposite number.
pub const ORDER_MAX: i32 = 1_000_000;

/// Handle of a decal.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct DecalId(pub Handle);

/// A property of a surface that a texture of a decal describes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DecalChannel {
    Color,
    Normal,
    Roughness,
    Emissive,
}

impl DecalChannel {
    /// Names in scripts.
    pub const NAMES: [&str; 4] = ["color", "normal", "roughness", "emissive"];
    /// All channels.
    pub const ALL: [DecalChannel; 4] = [
        DecalChannel::Color,
        DecalChannel::Normal,
        DecalChannel::Roughness,
        DecalChannel::Emissive,
    ];

    /// Returns the channel with a name.
    pub fn of(word: &str) -> Option<DecalChannel> {
        let index = DecalChannel::NAMES.iter().position(|known| *known == word)?;
        Some(DecalChannel::ALL[index])
    }
}

/// Settings of a decal, both as declared in a unit's resource and as currently set.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct DecalSettings {
    /// Width, depth of the projection, and height, in metres.
    pub size: [f32; 3],
    pub color: Color,
    pub opacity: f32,
    pub color_strength: f32,
    pub normal_strength: f32,
    /// `None`: the roughness of the surface stays.
    pub roughness: Option<f32>,
    pub emissive: f32,
    /// Textures, in the order of [`DecalChannel`].
    pub textures: [Option<TextureNumber>; 4],
    /// Angles in radians from which the decal fades, and at which it ends.
    pub angle_fade: [f32; 2],
    /// Distances from the camera from which the decal fades, and at which it ends; 0: any distance.
    pub distance_fade: [f32; 2],
    /// Seconds until the decal ends, and how many of them it fades; 0: it does not end.
    pub lifetime: [f32; 2],
    pub order: i32,
    pub layers: u8,
    pub enabled: bool,
}

impl DecalSettings {
    /// A white cube with sides of one metre.
    pub const DEFAULT: DecalSettings = DecalSettings {
        size: [1.0; 3],
        color: Color { red: 255.0, green: 255.0, blue: 255.0, alpha: 255.0 },
        opacity: 1.0,
        color_strength: 1.0,
        normal_strength: 1.0,
        roughness: None,
        emissive: 0.0,
        textures: [None; 4],
        angle_fade: DecalFrame::DEFAULT.angle_fade,
        distance_fade: [0.0; 2],
        lifetime: [0.0, 1.0],
        order: 0,
        layers: LIGHT_LAYERS_ALL,
        enabled: true,
    };

    /// Converts the decal for the renderer, with its world transform, its textures, and the time in
    /// seconds at which it began.
    pub fn to_frame(&self, pose: &Mat4, textures: DecalTextures, begin: f64) -> DecalFrame {
        let [red, green, blue, _] = Color { alpha: 255.0, ..self.color }.to_light();
        let alpha = (self.color.alpha / 255.0).clamp(0.0, 1.0);
        let [lifetime, fade] = self.lifetime.map(f64::from);
        let end = begin + lifetime;
        let half = Vec3::from_array(self.size) * 0.5;
        DecalFrame {
            pose: DrawTransform::of(&(*pose * Mat4::from_scale(half))),
            textures,
            color: [red, green, blue],
            opacity: self.opacity * alpha,
            color_strength: self.color_strength,
            normal_strength: self.normal_strength,
            roughness: self.roughness,
            emissive: self.emissive,
            angle_fade: self.angle_fade,
            distance_fade: self.distance_fade,
            life: (lifetime > 0.0).then_some([end - fade.min(lifetime), end]),
            order: self.order,
            layers: self.layers,
        }
    }
}

/// Refuses invalid settings of a decal.
pub fn check_decal(settings: &DecalSettings) -> Result<(), Error> {
    let one = 0.0..=1.0;
    for (name, value, range) in [
        ("opacity", settings.opacity, one.clone()),
        ("color_strength", settings.color_strength, one.clone()),
        ("roughness", settings.roughness.unwrap_or(0.0), one),
        ("normal_strength", settings.normal_strength, 0.0..=NORMAL_STRENGTH_MAX),
        ("emissive", settings.emissive, 0.0..=EMISSIVE_MAX),
        ("lifetime", settings.lifetime[0], 0.0..=LIFETIME_MAX),
        ("fade_time", settings.lifetime[1], 0.0..=LIFETIME_MAX),
    ] {
        if !range.contains(&value) {
            let (least, most) = (range.start(), range.end());
            return Err(error!("'{name}' must be from {least} to {most}, got {value}"));
        }
    }
    if let Some(wrong) = settings.size.iter().find(|side| !(**side > 0.0 && **side <= SIZE_MAX)) {
        return Err(error!(
            "'size' must have sides above 0 and up to {SIZE_MAX} metres (SIZE_MAX), got {wrong}"
        ));
    }
    let [start, end] = settings.angle_fade;
    if !(0.0 <= start && start <= end && end <= std::f32::consts::FRAC_PI_2 + 1e-4) {
        return Err(error!(
            "the angles of its fade must rise, from 0 to a quarter turn (90 degrees, half of pi \
             radians)"
        ));
    }
    let [start, end] = settings.distance_fade;
    let rises = end == 0.0 && start == 0.0 || 0.0 <= start && start <= end;
    if !rises || end > DISTANCE_MAX {
        return Err(error!(
            "the distances of its fade must rise, from 0 to {DISTANCE_MAX} metres (DISTANCE_MAX), \
             got {start} and {end}"
        ));
    }
    Ok(())
}

/// A decal as declared in a unit's resource.
#[derive(Clone, PartialEq, Debug)]
pub struct DecalComponent {
    pub name: String,
    pub node: u16,
    pub settings: DecalSettings,
}

/// A decal of a unit.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct DecalInstance {
    /// Row of the unit.
    pub unit: u32,
    /// Index of the unit's node that the decal is attached to, from 0.
    pub node: u16,
    pub settings: DecalSettings,
    /// Seconds of game time from which its lifetime counts; `None` until it was sent once.
    pub begin: Option<f64>,
    /// Bits of the reasons why its unit is hidden.
    pub hidden: u8,
}

/// All decals of all units.
pub struct Decals {
    pub slots: Slots<DecalInstance>,
    /// Decals by unit row, in the order of their resources.
    of: BTreeMap<u32, Vec<DecalId>>,
    /// Rows of units with changed decals.
    pub changed: Vec<u32>,
    /// Version of the textures for which the decals were sent.
    texture_version: u64,
}

impl Default for Decals {
    fn default() -> Decals {
        Decals {
            slots: Slots::new(HandleKind::Decal, DECALS_MAX),
            of: BTreeMap::new(),
            changed: Vec::new(),
            texture_version: 0,
        }
    }
}

impl Decals {
    /// Creates the decals of a unit.
    pub fn spawn(&mut self, unit: UnitId, parts: &[DecalComponent]) -> Result<(), Error> {
        let row = unit.row();
        if self.slots.len() + parts.len() > DECALS_MAX {
            return Err(error!(
                "there is no room for {} more decals (DECALS_MAX is {DECALS_MAX})",
                parts.len()
            ));
        }
        for part in parts {
            let (node, settings) = (part.node, part.settings);
            let decal = DecalInstance { unit: row, node, settings, begin: None, hidden: 0 };
            let handle = self.slots.add(decal).expect("there is room, it was looked at");
            self.of.entry(row).or_default().push(DecalId(handle));
        }
        if !parts.is_empty() {
            self.changed.push(row);
        }
        Ok(())
    }

    /// Destroys the decals of a unit. Returns true if the unit had decals.
    pub fn destroy(&mut self, row: u32, frame: u64, location: &str) -> bool {
        let Some(all) = self.of.remove(&row) else { return false };
        for decal in all {
            self.slots.remove(decal.0, "", frame, location);
        }
        true
    }

    /// Marks the decals with textures as changed if textures have moved since the last call.
    pub fn follow_textures(&mut self, version: u64) {
        if std::mem::replace(&mut self.texture_version, version) == version {
            return;
        }
        let is_textured =
            |decal: &DecalInstance| decal.settings.textures.iter().any(Option::is_some);
        let textured = self.slots.iter().filter(|(_, decal)| is_textured(decal));
        self.changed.extend(textured.map(|(_, decal)| decal.unit));
    }

    /// Returns the decals of a unit, in order.
    pub fn of_unit(&self, row: u32) -> &[DecalId] {
        self.of.get(&row).map_or(&[], |all| &all[..])
    }

    /// Returns the rows of units with decals, and these decals, in the order of the rows.
    pub fn all(&self) -> impl Iterator<Item = (u32, &[DecalId])> {
        self.of.iter().map(|(row, all)| (*row, &all[..]))
    }

    /// Returns a live decal for changes.
    pub fn change(&mut self, id: DecalId) -> &mut DecalInstance {
        let decal = self.slots.get_mut(id.0).expect("the handle was checked where it came in");
        self.changed.push(decal.unit);
        decal
    }

    /// Sets or clears a reason why the decals of a unit are hidden.
    pub fn hide(&mut self, row: u32, reason: u8, hidden: bool) {
        for id in self.of.get(&row).into_iter().flatten() {
            let decal = self.slots.get_mut(id.0).expect("decals end with their unit");
            let bits = if hidden { decal.hidden | reason } else { decal.hidden & !reason };
            if std::mem::replace(&mut decal.hidden, bits) != bits {
                self.changed.push(row);
            }
        }
    }

    /// Records that units moved.
    pub fn note_moved(&mut self, rows: &[u32]) {
        if !self.of.is_empty() {
            self.changed.extend(rows.iter().filter(|row| self.of.contains_key(row)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_decal_is_half_as_large_to_each_side() {
        let settings = DecalSettings { size: [2.0, 4.0, 6.0], ..DecalSettings::DEFAULT };
        let frame =
            settings.to_frame(&Mat4::from_translation(Vec3::X), DecalTextures::default(), 0.0);
        assert_eq!(frame.pose.transform_point(Vec3::ONE), Vec3::new(2.0, 2.0, 3.0));
        assert_eq!((frame.life, frame.color), (None, [1.0; 3]));
    }

    #[test]
    fn a_lifetime_counts_from_its_begin() {
        let life = |lifetime: [f32; 2]| {
            let settings = DecalSettings { lifetime, ..DecalSettings::DEFAULT };
            settings.to_frame(&Mat4::IDENTITY, DecalTextures::default(), 10.0).life
        };
        assert_eq!(life([0.0, 1.0]), None);
        assert_eq!(life([5.0, 1.0]), Some([14.0, 15.0]));
        assert_eq!(life([5.0, 9.0]), Some([10.0, 15.0]), "it does not fade before its begin");
    }

    #[test]
    fn settings_out_of_range_are_refused() {
        let usual = DecalSettings::DEFAULT;
        assert!(check_decal(&usual).is_ok());
        for wrong in [
            DecalSettings { size: [1.0, 0.0, 1.0], ..usual },
            DecalSettings { size: [1.0, f32::NAN, 1.0], ..usual },
            DecalSettings { size: [1.0, 1.0, f32::INFINITY], ..usual },
            DecalSettings { opacity: f32::NAN, ..usual },
            DecalSettings { opacity: 1.5, ..usual },
            DecalSettings { roughness: Some(-0.1), ..usual },
            DecalSettings { normal_strength: 17.0, ..usual },
            DecalSettings { emissive: f32::INFINITY, ..usual },
            DecalSettings { angle_fade: [1.0, 0.5], ..usual },
            DecalSettings { angle_fade: [0.0, 2.0], ..usual },
            DecalSettings { angle_fade: [0.0, f32::NAN], ..usual },
            DecalSettings { distance_fade: [5.0, 0.0], ..usual },
            DecalSettings { distance_fade: [5.0, 4.0], ..usual },
            DecalSettings { distance_fade: [0.0, f32::INFINITY], ..usual },
            DecalSettings { lifetime: [-1.0, 1.0], ..usual },
        ] {
            assert!(check_decal(&wrong).is_err(), "{wrong:?}");
        }
    }
}
