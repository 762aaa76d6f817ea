//! The component `sprite`: 2D images in a world. The sprites of all units are rows of one table.
//! This module stores the image and settings of each sprite, and the playback of sheet frames. The
//! transfer to the renderer is in src/engine/sprite_draws.rs.

use super::instance_table::{Instance, InstanceTable, flag};
pub use super::sprite_sequence::{SequenceNumber, SpriteSequence};
use super::unit::UnitId;
use engine_foundation::hash::StateHash;
use engine_foundation::{Error, Handle, HandleKind, Mat4, Vec3, Vec4};
use engine_frame_packet::scene::DrawSlot;
use engine_textures::TextureNumber;

/// Maximum number of sprites of all units together.
pub const SPRITES_MAX: usize = 1 << 18;

/// Handle of a unit's sprite.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct SpriteId(pub Handle);

/// The sprite plays no sequence.
const NONE: u32 = u32::MAX;

/// Alpha mode of a sprite.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SpriteAlpha {
    /// Alpha blending, drawn in the order of layers.
    Blend,
    /// Alpha test: each texel is either opaque or absent. Casts shadows.
    Mask,
}

/// Plane of an image, by the axes of its node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SpritePlane {
    /// The plane of x and z.
    Upright,
    /// The plane of x and y.
    Flat,
    /// Flat in two-dimensional worlds, upright in others.
    OfWorld,
}

/// Placement of sprites and tile maps in a world.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SpritePlacement {
    /// Tint, multiplied with all colors: red, green, blue (sRGB) and alpha.
    pub tint: [u8; 4],
    /// Layer; higher layers are drawn over lower ones.
    pub layer: i32,
    /// Number of texels per metre.
    pub pixels_per_metre: f32,
    pub plane: SpritePlane,
    /// True if the image receives light.
    pub lit: bool,
    /// 2D material used for drawing instead of the engine's own.
    pub material: Option<Handle>,
    /// Minimum and maximum distance from the camera, in metres, at which the image is shown.
    pub range: [f32; 2],
}

impl SpritePlacement {
    pub const DEFAULT: SpritePlacement = SpritePlacement {
        tint: [255; 4],
        layer: 0,
        pixels_per_metre: 100.0,
        plane: SpritePlane::OfWorld,
        lit: false,
        material: None,
        range: [0.0, f32::INFINITY],
    };

    /// Returns the transform from an image's own plane (x to the right, z up, seen from behind y)
    /// to its node.
    pub fn plane_to_node(&self) -> Mat4 {
        match self.plane {
            SpritePlane::Upright | SpritePlane::OfWorld => Mat4::IDENTITY,
            SpritePlane::Flat => Mat4::from_cols(Vec4::X, Vec4::NEG_Z, Vec4::Y, Vec4::W),
        }
    }

    /// Returns the placement in a world, which is flat if its bodies stay in the plane of x and y.
    pub fn in_world(self, flat: bool) -> SpritePlacement {
        let plane = match self.plane {
            SpritePlane::OfWorld if flat => SpritePlane::Flat,
            SpritePlane::OfWorld => SpritePlane::Upright,
            plane => plane,
        };
        SpritePlacement { plane, ..self }
    }
}

/// Display settings of a sprite.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SpriteSettings {
    pub placement: SpritePlacement,
    /// Width and height in metres; 0 derives them from the number of texels.
    pub size: [f32; 2],
    /// Pivot: the point of the sprite that is at the node. 0, 0 is the bottom left, 1, 1 the top
    /// right.
    pub pivot: [f32; 2],
    /// Shown part of the image: left, top, width and height in texels. A width of 0 means the whole
    /// image.
    pub part: [f32; 4],
    pub flip_x: bool,
    pub flip_y: bool,
    pub alpha: SpriteAlpha,
    /// Normal texture of a lit sprite that shows a texture, in place of the normals of its picture.
    pub normal: Option<TextureNumber>,
}

impl SpriteSettings {
    pub const DEFAULT: SpriteSettings = SpriteSettings {
        placement: SpritePlacement::DEFAULT,
        size: [0.0; 2],
        pivot: [0.5; 2],
        part: [0.0; 4],
        flip_x: false,
        flip_y: false,
        alpha: SpriteAlpha::Blend,
        normal: None,
    };

    /// Returns width and height in texels of the shown part, for an image of this size.
    pub fn texels(&self, picture: [f32; 2]) -> [f32; 2] {
        let [_, _, width, height] = self.part;
        if width > 0.0 { [width, height] } else { picture }
    }

    /// Returns width and height in metres.
    pub fn metres(&self, picture: [f32; 2]) -> [f32; 2] {
        match self.size {
            [width, height] if width > 0.0 => [width, height],
            _ => self.texels(picture).map(|texels| texels / self.placement.pixels_per_metre),
        }
    }

    /// Returns the transform relative to the node of the unit square (0, 0 to 1, 1) in the image's
    /// plane.
    pub fn square_to_node(&self, picture: [f32; 2]) -> Mat4 {
        let ([width, height], [x, y]) = (self.metres(picture), self.pivot);
        let at = Vec3::new(-x * width, 0.0, -y * height);
        self.placement.plane_to_node()
            * Mat4::from_translation(at)
            * Mat4::from_scale(Vec3::new(width, 1.0, height))
    }
}

/// Source of a sprite's image.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum SpriteSource {
    Picture(TextureNumber),
    Plays(SequenceNumber),
}

/// A sprite as declared in a unit's resource.
#[derive(Clone, PartialEq, Debug)]
pub struct SpriteComponent {
    pub name: String,
    pub node: u16,
    pub settings: SpriteSettings,
    pub source: SpriteSource,
    pub speed: f32,
    pub visible: bool,
    pub group: u8,
}

/// A sprite of a unit.
pub type SpriteInstance = Instance<SpriteData>;

/// Data of a sprite of a unit.
#[derive(Debug)]
pub struct SpriteData {
    /// Index in the list of playing sprites.
    playing: u32,
    pub settings: SpriteSettings,
    /// Texture that is currently shown.
    pub picture: TextureNumber,
    pub sequence: Option<SequenceNumber>,
    /// Index of the sequence's current frame.
    frame: u32,
    /// Playback speed, as a factor of the speed in the sheet.
    pub speed: f32,
    /// Seconds since the start of the sequence.
    pub time: f64,
}

impl SpriteData {
    /// Returns the normal texture that lights use in place of the normals of the picture. A sprite
    /// that plays a sheet has none.
    pub fn shown_normal(&self) -> Option<TextureNumber> {
        self.settings.normal.filter(|_| self.sequence.is_none() && self.settings.placement.lit)
    }
}

/// All sprites of all units.
pub struct Sprites {
    pub table: InstanceTable<SpriteData>,
    /// All sequences that were requested.
    pub sequences: Vec<SpriteSequence>,
    /// Slots of the sprites that play a sequence.
    playing: Vec<u32>,
}

impl Default for Sprites {
    fn default() -> Sprites {
        Sprites {
            table: InstanceTable::new(HandleKind::Sprite, (SPRITES_MAX, "SPRITES_MAX", "sprites")),
            sequences: Vec::new(),
            playing: Vec::new(),
        }
    }
}

impl Sprites {
    /// Creates the sprites of a unit; `draw` returns a draw slot in the scene for each. `flat` is
    /// true in a two-dimensional world.
    ///
    /// # Errors
    /// Returns an error if there are too many sprites.
    pub fn spawn(
        &mut self,
        unit: UnitId,
        parts: &[SpriteComponent],
        flat: bool,
        mut draw: impl FnMut() -> DrawSlot,
    ) -> Result<(), Error> {
        self.table.check_room(parts.len())?;
        // In reverse order, so that the list begins with the first sprite.
        for part in parts.iter().rev() {
            let placement = part.settings.placement.in_world(flat);
            let data = SpriteData {
                playing: NONE,
                settings: SpriteSettings { placement, ..part.settings },
                picture: TextureNumber::MISSING,
                sequence: None,
                frame: 0,
                speed: part.speed,
                time: 0.0,
            };
            let shown = (part.visible, draw());
            let sprite = Instance::new(unit, part.node, part.group, shown, data);
            let handle = self.table.push_front(sprite);
            self.show(SpriteId(handle), part.source);
        }
        Ok(())
    }

    /// Destroys the sprites of a unit; `end` is called for each.
    pub fn destroy(
        &mut self,
        row: u32,
        frame: u64,
        location: &str,
        end: impl FnMut(&SpriteInstance),
    ) {
        let mut next = self.table.first_of(row);
        while let Some(slot) = next {
            self.stop(slot);
            next = self.table.next_of(slot);
        }
        self.table.destroy(row, frame, location, end);
    }

    /// Returns a live sprite.
    #[inline(always)]
    pub fn of(&self, id: SpriteId) -> &SpriteInstance {
        self.table.get(id.0)
    }

    /// Returns a live sprite for changes; all of its data is sent to the renderer again.
    pub fn change(&mut self, id: SpriteId) -> &mut SpriteInstance {
        self.table.get_changed(id.0)
    }

    /// Shows an image, or plays a sequence from its beginning.
    pub fn show(&mut self, id: SpriteId, source: SpriteSource) {
        let slot = id.0.index();
        match source {
            SpriteSource::Picture(picture) => {
                self.stop(slot);
                self.change(id).picture = picture;
            }
            SpriteSource::Plays(sequence) => {
                if self.of(id).playing == NONE {
                    let at = self.playing.len() as u32;
                    self.playing.push(slot as u32);
                    self.table.at_mut(slot).playing = at;
                }
                let first = self.sequences[sequence.0 as usize].frame_at(0.0);
                let sprite = self.change(id);
                (sprite.sequence, sprite.time, sprite.frame) = (Some(sequence), 0.0, first);
                self.fill(slot);
            }
        }
    }

    /// Stops the sequence of a sprite.
    fn stop(&mut self, slot: usize) {
        let sprite = self.table.at_mut(slot);
        sprite.sequence = None;
        let at = std::mem::replace(&mut sprite.playing, NONE);
        if at == NONE {
            return;
        }
        self.playing.swap_remove(at as usize);
        if let Some(moved) = self.playing.get(at as usize).copied() {
            self.table.at_mut(moved as usize).playing = at;
        }
    }

    /// Returns true if the sprite's sequence is over. A single image is always over.
    pub fn is_over(&self, id: SpriteId) -> bool {
        let sprite = self.of(id);
        let over = |number: SequenceNumber| self.sequences[number.0 as usize].is_over(sprite.time);
        sprite.sequence.is_none_or(over)
    }

    /// Advances the playing sprites by some seconds, in units for which `has` returns true.
    pub fn play(&mut self, delta: f64, has: impl Fn(u32) -> bool) {
        for at in 0..self.playing.len() {
            let slot = self.playing[at] as usize;
            let sprite = self.table.slots.at_mut(slot).expect("what plays lives");
            if !has(sprite.unit) {
                continue;
            }
            let number = sprite.sequence.expect("it plays one");
            let sequence = &self.sequences[number.0 as usize];
            sprite.time += delta * f64::from(sprite.speed);
            if sequence.repeats == f64::INFINITY && sprite.time >= sequence.seconds() {
                // Wraps the time, so that its precision does not decrease.
                sprite.time %= sequence.seconds();
            }
            let frame = sequence.frame_at(sprite.time);
            if frame != sprite.frame {
                sprite.frame = frame;
                self.fill(slot);
            }
        }
    }

    /// Shows the texture of a sprite's current frame.
    fn fill(&mut self, slot: usize) {
        let sprite = self.table.slots.at_mut(slot).expect("the caller looked");
        let Some(number) = sprite.sequence else { return };
        let picture = self.sequences[number.0 as usize].frames[sprite.frame as usize].0;
        if std::mem::replace(&mut sprite.picture, picture) != picture {
            self.table.record_change(slot, flag::NEW);
        }
    }

    /// Replaces a sequence after its sheet was compiled again.
    pub fn redefine(&mut self, number: SequenceNumber, sequence: SpriteSequence) {
        self.sequences[number.0 as usize] = sequence;
        for at in 0..self.playing.len() {
            let slot = self.playing[at] as usize;
            let sprite = self.table.slots.at_mut(slot).expect("what plays lives");
            if sprite.sequence == Some(number) {
                sprite.frame = self.sequences[number.0 as usize].frame_at(sprite.time);
                self.fill(slot);
            }
        }
    }

    /// Writes the state of a unit's sprites that must be equal in every run: the sequences that
    /// they play.
    pub fn write_state(&self, row: u32, hash: &mut StateHash) {
        for slot in self.table.of_unit(row) {
            let sprite = self.table.slots.at(slot).expect("chains hold living sprites");
            if let Some(number) = sprite.sequence {
                let sequence = &self.sequences[number.0 as usize];
                hash.write_bytes(sequence.sheet.as_bytes());
                hash.write_bytes(sequence.tag.as_deref().unwrap_or_default().as_bytes());
                hash.write_f64(sprite.time);
                hash.write_f32(sprite.speed);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine_foundation::Slots;

    fn sequence(repeats: f64) -> SpriteSequence {
        let frames =
            vec![(TextureNumber(1), 0.25), (TextureNumber(2), 0.5), (TextureNumber(3), 1.0)];
        SpriteSequence { sheet: "hero".into(), tag: None, frames, repeats, rest: 2 }
    }

    fn part(source: SpriteSource) -> SpriteComponent {
        SpriteComponent {
            name: "hero".into(),
            node: 0,
            settings: SpriteSettings::DEFAULT,
            source,
            speed: 1.0,
            visible: true,
            group: 7,
        }
    }

    fn new_sprites() -> (Sprites, UnitId) {
        let mut units = Slots::new(HandleKind::Unit, 2);
        let unit = UnitId(units.add(()).unwrap());
        let sequences = vec![sequence(f64::INFINITY), sequence(2.0)];
        let mut sprites = Sprites { sequences, ..Sprites::default() };
        let plays = |number: u32| part(SpriteSource::Plays(SequenceNumber(number)));
        let parts = [plays(0), part(SpriteSource::Picture(TextureNumber(9))), plays(1)];
        let mut draws = 0..9;
        sprites.spawn(unit, &parts, false, || DrawSlot(draws.next().unwrap())).unwrap();
        (sprites, unit)
    }

    fn shown(sprites: &Sprites, unit: UnitId) -> Vec<u32> {
        let picture = |slot: usize| sprites.table.slots.at(slot).unwrap().picture.0;
        sprites.table.of_unit(unit.row()).map(picture).collect()
    }

    #[test]
    fn sequences_play_by_time_and_end_after_their_repeats() {
        let (mut sprites, unit) = new_sprites();
        let mut all = Vec::new();
        for _ in 0..9 {
            all.push(shown(&sprites, unit));
            sprites.play(0.25, |row| row == unit.row());
        }
        let forever: Vec<u32> = all.iter().map(|pictures| pictures[0]).collect();
        assert_eq!(forever, [1, 2, 3, 3, 1, 2, 3, 3, 1]);
        let twice: Vec<u32> = all.iter().map(|pictures| pictures[2]).collect();
        assert_eq!(twice, [1, 2, 3, 3, 1, 2, 3, 3, 3]);
        assert!(all.iter().all(|pictures| pictures[1] == 9));
        let last = sprites.table.of_unit(unit.row()).last().unwrap();
        assert!(sprites.is_over(SpriteId(sprites.table.slots.handle_at(last).unwrap())));
        sprites.play(0.25, |_| false);
        assert_eq!(shown(&sprites, unit)[0], 2);
    }

    #[test]
    fn ending_or_stopping_a_sprite_leaves_the_others_playing() {
        let (mut sprites, unit) = new_sprites();
        let first = sprites.table.of_unit(unit.row()).next().unwrap();
        let first = SpriteId(sprites.table.slots.handle_at(first).unwrap());
        sprites.show(first, SpriteSource::Picture(TextureNumber(5)));
        sprites.play(0.25, |_| true);
        assert_eq!(shown(&sprites, unit), [5, 9, 2]);
        let mut ended = Vec::new();
        sprites.destroy(unit.row(), 1, "x", |sprite| ended.push(sprite.draw.0));
        assert_eq!((ended.len(), sprites.table.slots.len(), sprites.playing.len()), (3, 0, 0));
        sprites.play(0.25, |_| true);
    }

    #[test]
    fn the_hashed_state_is_the_sequence_and_its_time() {
        let state = |sprites: &Sprites, unit: UnitId| {
            let mut hash = StateHash::new(0);
            sprites.write_state(unit.row(), &mut hash);
            hash.finish()
        };
        let ((mut sprites, unit), (other, _)) = (new_sprites(), new_sprites());
        assert_eq!(state(&sprites, unit), state(&other, unit));
        sprites.play(0.01, |_| true);
        assert_ne!(state(&sprites, unit), state(&other, unit));
    }

    #[test]
    fn a_sprite_is_upright_or_flat_around_its_pivot() {
        let check = |settings: SpriteSettings, corner: [f32; 2], wanted: [f32; 3]| {
            let point = Vec3::new(corner[0], 0.0, corner[1]);
            let at = settings.square_to_node([32.0, 64.0]).transform_point3(point);
            assert!(at.distance(Vec3::from_array(wanted)) < 1e-6, "{at} for {corner:?}");
        };
        let own = SpritePlacement { pixels_per_metre: 32.0, ..SpritePlacement::DEFAULT };
        let upright =
            SpriteSettings { placement: own, pivot: [0.5, 0.0], ..SpriteSettings::DEFAULT };
        check(upright, [0.0, 0.0], [-0.5, 0.0, 0.0]);
        check(upright, [1.0, 1.0], [0.5, 0.0, 2.0]);
        let flat = SpriteSettings { placement: own.in_world(true), ..upright };
        check(flat, [1.0, 1.0], [0.5, 2.0, 0.0]);
        assert_eq!(own.in_world(false).plane, SpritePlane::Upright);
        let chosen = SpritePlacement { plane: SpritePlane::Upright, ..own };
        assert_eq!(chosen.in_world(true).plane, SpritePlane::Upright);
        let sized = SpriteSettings { size: [4.0, 1.0], pivot: [0.0, 1.0], ..flat };
        check(sized, [1.0, 0.0], [4.0, -1.0, 0.0]);
        let part = SpriteSettings { part: [8.0, 0.0, 16.0, 16.0], ..upright };
        check(part, [1.0, 1.0], [0.25, 0.0, 0.5]);
    }
}
