//! The component `light`: light sources in a world. The lights of all units are rows of one table.
//! This module stores the settings of each light. The transfer to the renderer is in
//! src/engine/render_scene.rs.

use super::unit::UnitId;
use engine_foundation::deterministic_math::tan_f64;
use engine_foundation::error;
use engine_foundation::{Error, Handle, HandleKind, Mat4, Slots, Vec3};
use engine_frame_packet::scene;
use engine_frame_packet::texture::TextureSlot;
use engine_textures::TextureNumber;
use std::collections::BTreeMap;
use std::f32::consts::PI;

/// Maximum number of lights of all units together.
pub const LIGHTS_MAX: usize = 1 << 16;
/// Brightness, relative to white, at which a light without an explicit range ends.
const FAINT: f32 = 1.0 / 256.0;
/// Maximum value of a color and of an intensity. Larger values make no difference in an image.
pub const BRIGHTNESS_MAX: f32 = 1e9;
/// Maximum shadow bias.
pub const SHADOW_BIAS_MAX: f32 = 100.0;
/// Maximum radius of the source of an omni or spot light, in metres.
pub const SOURCE_RADIUS_MAX: f32 = scene::SOURCE_SIZE_MAX;
/// Smallest and largest width and height of a rectangle or disc, in metres.
pub const SOURCE_SIDE_MIN: f32 = scene::AREA_SIDE_MIN;
pub const SOURCE_SIDE_MAX: f32 = scene::AREA_SIDE_MAX;
/// Maximum height of a flat light in metres.
pub const HEIGHT_MAX: f32 = scene::FLAT_HEIGHT_MAX;
/// Maximum angle that the source of a directional light has in the sky, in radians: 20 degrees.
pub const SOURCE_ANGLE_MAX: f32 = PI / 9.0;
/// Maximum range in metres of a light without an explicit range.
const RANGE_MAX: f32 = 500.0;

/// Handle of a light.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct LightId(pub Handle);

/// Type of a light.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LightType {
    Omni,
    Spot,
    Directional,
    Rectangle,
    /// An ellipse.
    Disc,
}

impl LightType {
    /// Names in unit files and scripts.
    pub const NAMES: [&str; 5] = ["omni", "spot", "directional", "rectangle", "disc"];
    const ALL: [LightType; 5] = [
        LightType::Omni,
        LightType::Spot,
        LightType::Directional,
        LightType::Rectangle,
        LightType::Disc,
    ];

    /// Returns the type with a name.
    pub fn of(word: &str) -> Option<LightType> {
        let index = LightType::NAMES.iter().position(|known| *known == word)?;
        Some(LightType::ALL[index])
    }

    pub const fn name(self) -> &'static str {
        LightType::NAMES[self as usize]
    }
}

/// Settings of a light, both as declared in a unit's resource and as currently set.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LightSettings {
    pub kind: LightType,
    /// Linear red, green and blue.
    pub color: [f32; 3],
    /// Intensity. At 1, a white wall at a distance of one metre reflects exactly the light's color.
    pub intensity: f32,
    /// Range in metres; 0 means up to the distance where the light becomes invisible.
    pub falloff_end: f32,
    /// Angles in radians between the axis of a spot light and the start and the end of its falloff.
    pub spot_start: f32,
    pub spot_end: f32,
    pub casts_shadows: bool,
    /// Distance by which shadows are offset from their casters; 1 is usual.
    pub shadow_bias: f32,
    /// Radius of the source of an omni or spot light in metres, for soft shadows; 0: a point.
    pub source_radius: f32,
    /// Angle from one side of the source of a directional light to the other, in radians.
    pub source_angle: f32,
    /// Width and height of a rectangle or disc, in metres.
    pub source_width: f32,
    pub source_height: f32,
    /// Bit set of its light layers: it lights meshes that share one.
    pub layers: u8,
    /// The texture through which it shines.
    pub texture: Option<TextureNumber>,
    /// True if an omni or spot light lights sprites evenly, as two-dimensional games have it.
    pub flat: bool,
    /// Height in metres of a flat light in front of sprites with a normal texture.
    pub height: f32,
    pub enabled: bool,
}

impl LightSettings {
    /// A white omni light.
    pub const DEFAULT: LightSettings = LightSettings {
        kind: LightType::Omni,
        color: [1.0; 3],
        intensity: 1.0,
        falloff_end: 0.0,
        spot_start: 0.35,
        spot_end: 0.7,
        casts_shadows: false,
        shadow_bias: 1.0,
        source_radius: 0.0,
        source_angle: 0.0,
        source_width: 1.0,
        source_height: 1.0,
        layers: scene::LIGHT_LAYERS_ALL,
        texture: None,
        flat: false,
        height: 1.0,
        enabled: true,
    };

    /// Returns the range of the light in metres.
    pub fn range(&self) -> f32 {
        if self.falloff_end > 0.0 {
            return self.falloff_end;
        }
        let brightest = self.color.iter().copied().fold(0.0, f32::max) * self.intensity;
        (brightest / FAINT).sqrt().min(RANGE_MAX)
    }

    /// Converts the light for the renderer, with its world transform and the slot of its texture.
    pub fn to_frame(&self, pose: &Mat4, texture: Option<TextureSlot>) -> scene::LightFrame {
        let position = pose.w_axis.truncate();
        let direction = pose.y_axis.truncate().normalize_or(Vec3::Y);
        let (range, casts_shadows) = (self.range(), self.casts_shadows);
        let kind = match self.kind {
            LightType::Omni => scene::LightKind::Omni { position, range, casts_shadows },
            LightType::Directional => scene::LightKind::Sun { direction, casts_shadows },
            LightType::Spot => scene::LightKind::Spot {
                position,
                direction,
                range,
                inner: self.spot_start.min(self.spot_end),
                outer: self.spot_end,
                casts_shadows,
            },
            LightType::Rectangle | LightType::Disc => scene::LightKind::Area {
                position,
                direction,
                right: pose.x_axis.truncate().normalize_or(Vec3::X) * (0.5 * self.source_width),
                half_height: 0.5 * self.source_height,
                is_ellipse: self.kind == LightType::Disc,
                range,
                casts_shadows,
            },
        };
        let source_size = match self.kind {
            LightType::Directional => tan_f64(f64::from(0.5 * self.source_angle)) as f32,
            LightType::Omni | LightType::Spot => self.source_radius,
            // Shadows are those of a disc with its area.
            LightType::Rectangle => (self.source_width * self.source_height / PI).sqrt(),
            LightType::Disc => 0.5 * (self.source_width * self.source_height).sqrt(),
        };
        let color = self.color.map(|part| (part * self.intensity).min(BRIGHTNESS_MAX));
        scene::LightFrame {
            kind,
            color,
            shadow_bias: self.shadow_bias,
            source_size,
            layers: self.layers,
            texture: texture.map(|slot| scene::LightTexture {
                slot,
                axis: direction,
                right: pose.x_axis.truncate(),
            }),
            flat_height: self.flat.then_some(self.height),
            ..scene::LightFrame::DEFAULT
        }
    }
}

/// A light as declared in a unit's resource.
#[derive(Clone, PartialEq, Debug)]
pub struct LightComponent {
    pub name: String,
    pub node: u16,
    pub settings: LightSettings,
}

/// A light of a unit.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LightInstance {
    /// Row of the unit.
    pub unit: u32,
    /// Index of the unit's node that the light is attached to, from 0.
    pub node: u16,
    pub settings: LightSettings,
    /// Transform relative to the node.
    pub local: Mat4,
}

/// All lights of all units.
pub struct Lights {
    pub slots: Slots<LightInstance>,
    /// Lights by unit row, in the order of their resources.
    of: BTreeMap<u32, Vec<LightId>>,
    /// True for rows of units with lights.
    has: Vec<bool>,
    /// Rows of units with changed lights.
    pub changed: Vec<u32>,
    /// Version of the textures for which the lights were sent.
    pub texture_version: u64,
}

impl Default for Lights {
    fn default() -> Lights {
        Lights {
            slots: Slots::new(HandleKind::Light, LIGHTS_MAX),
            of: BTreeMap::new(),
            has: Vec::new(),
            changed: Vec::new(),
            texture_version: 0,
        }
    }
}

impl Lights {
    /// Creates the lights of a unit.
    pub fn spawn(&mut self, unit: UnitId, parts: &[LightComponent]) -> Result<(), Error> {
        let row = unit.row();
        if self.slots.len() + parts.len() > LIGHTS_MAX {
            return Err(error!(
                "there is no room for {} more lights (LIGHTS_MAX is {LIGHTS_MAX})",
                parts.len()
            ));
        }
        for part in parts {
            let (node, settings) = (part.node, part.settings);
            let light = LightInstance { unit: row, node, settings, local: Mat4::IDENTITY };
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

    /// Destroys the lights of a unit. Returns true if the unit had lights.
    pub fn destroy(&mut self, row: u32, frame: u64, location: &str) -> bool {
        let Some(all) = self.of.remove(&row) else { return false };
        for light in all {
            self.slots.remove(light.0, "", frame, location);
        }
        self.has[row as usize] = false;
        true
    }

    /// Marks the lights with textures as changed if textures have moved since the last call.
    pub fn follow_textures(&mut self, version: u64) {
        if std::mem::replace(&mut self.texture_version, version) == version {
            return;
        }
        let textured = self.slots.iter().filter(|(_, light)| light.settings.texture.is_some());
        self.changed.extend(textured.map(|(_, light)| light.unit));
    }

    /// Returns the lights of a unit, in order.
    pub fn of_unit(&self, row: u32) -> &[LightId] {
        self.of.get(&row).map_or(&[], |all| &all[..])
    }

    /// Returns the rows of units with lights, and these lights, in the order of the rows.
    pub fn all(&self) -> impl Iterator<Item = (u32, &[LightId])> {
        self.of.iter().map(|(row, all)| (*row, &all[..]))
    }

    /// Returns a live light for changes.
    pub fn change(&mut self, id: LightId) -> &mut LightInstance {
        let light = self.slots.get_mut(id.0).expect("the handle was checked where it came in");
        self.changed.push(light.unit);
        light
    }

    /// Records that units moved.
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
    fn a_light_range_is_configured_or_derived_from_intensity() {
        let light = LightSettings { intensity: 4.0, ..LightSettings::DEFAULT };
        assert_eq!(light.range(), 32.0);
        assert_eq!(LightSettings { falloff_end: 5.0, ..light }.range(), 5.0);
        assert_eq!(LightSettings { intensity: 1e9, ..light }.range(), RANGE_MAX);
    }

    #[test]
    fn a_light_points_along_y() {
        let pose = Mat4::from_translation(Vec3::X);
        let sun = LightSettings { kind: LightType::Directional, ..LightSettings::DEFAULT };
        let direction = Vec3::Y;
        let kind = scene::LightKind::Sun { direction, casts_shadows: false };
        assert_eq!(sun.to_frame(&pose, None).kind, kind);
        let wide = LightSettings { source_angle: 0.2, source_radius: 0.5, ..sun };
        assert!((wide.to_frame(&pose, None).source_size - 0.100_334_67).abs() < 1e-6);
        let lamp = LightSettings { kind: LightType::Spot, ..wide };
        assert_eq!(lamp.to_frame(&pose, None).source_size, 0.5);
        let panel = LightSettings { source_width: 4.0, source_height: PI, ..lamp };
        let panel = LightSettings { kind: LightType::Rectangle, ..panel }.to_frame(&pose, None);
        let kind = scene::LightKind::Area {
            position: Vec3::X,
            direction,
            right: Vec3::X * 2.0,
            half_height: 0.5 * PI,
            is_ellipse: false,
            range: 16.0,
            casts_shadows: false,
        };
        assert_eq!((panel.kind, panel.source_size), (kind, 2.0));
        let flat = LightSettings { flat: true, height: 3.0, ..lamp };
        assert_eq!(flat.to_frame(&pose, None).flat_height, Some(3.0));
        assert_eq!(lamp.to_frame(&pose, None).flat_height, None);
        assert_eq!(LightType::of("spot").map(LightType::name), Some("spot"));
        assert_eq!(LightType::of("sun"), None);
    }
}
