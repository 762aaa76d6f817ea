//! The component `sprite`: pictures that stand in a world. Sprites of all units are rows of one
//! table; a unit's own are found by a chain that begins at its row. Here is which picture is shown
//! and how, and the time of those that play a sheet's frames; how they get to the renderer is in
//! src/engine/sprites.rs.

use super::mesh::flag;
use super::unit::UnitId;
use crate::error;
use crate::foundation::hash::StateHash;
use crate::foundation::{Error, Handle, Kind, Mat4, Slots, Vec3, Vec4};
use crate::packet::scene::DrawSlot;
use crate::system::textures::TextureNumber;

/// The most sprites of all units together.
pub const SPRITES_MAX: usize = 1 << 18;

/// The handle of a sprite of a unit.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct SpriteId(pub Handle);

/// The place of a sequence in the table of all.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SequenceNumber(pub u32);

/// No sprite: the end of a chain. Or that it plays nothing.
const NONE: u32 = u32::MAX;

/// What is done with a sprite's alpha.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SpriteAlpha {
    /// Seen through, and drawn in the order of layers.
    Blend,
    /// There or not, with a shadow.
    Mask,
}

/// How flat things stand in a world.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Stand {
    /// Red, green, blue (sRGB) and alpha that all is multiplied with.
    pub tint: [u8; 4],
    /// Higher ones are drawn over lower ones.
    pub layer: i32,
    /// Texels of the picture for each metre.
    pub pixels_per_metre: f32,
    /// In the plane of x and y, as what lies on a table, in place of upright in that of x and z.
    pub flat: bool,
    /// Whether light falls on it.
    pub lit: bool,
    /// The material of pictures that paints it, in place of the engine's own.
    pub material: Option<Handle>,
    /// From how many metres of the camera on, and up to how many, it is shown.
    pub range: [f32; 2],
}

impl Stand {
    pub const DEFAULT: Stand = Stand {
        tint: [255; 4],
        layer: 0,
        pixels_per_metre: 100.0,
        flat: false,
        lit: false,
        material: None,
        range: [0.0, f32::INFINITY],
    };

    /// From a picture's own plane (x to the right, z up, seen from behind y) to its node.
    pub fn turn(&self) -> Mat4 {
        match self.flat {
            false => Mat4::IDENTITY,
            true => Mat4::from_cols(Vec4::X, Vec4::NEG_Z, Vec4::Y, Vec4::W),
        }
    }
}

/// How a sprite is to be shown.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SpriteLook {
    pub stand: Stand,
    /// Width and height in metres; 0: as many as its texels make.
    pub size: [f32; 2],
    /// Which point of it is at its node: 0, 0 is its left bottom, 1, 1 its right top.
    pub pivot: [f32; 2],
    /// Left, top, width and height in texels; a width of 0: all of the picture.
    pub part: [f32; 4],
    pub flip_x: bool,
    pub flip_y: bool,
    pub alpha: SpriteAlpha,
}

impl SpriteLook {
    pub const DEFAULT: SpriteLook = SpriteLook {
        stand: Stand::DEFAULT,
        size: [0.0; 2],
        pivot: [0.5; 2],
        part: [0.0; 4],
        flip_x: false,
        flip_y: false,
        alpha: SpriteAlpha::Blend,
    };

    /// Width and height in texels of what is shown of a picture of that size.
    pub fn texels(&self, picture: [f32; 2]) -> [f32; 2] {
        let [_, _, width, height] = self.part;
        if width > 0.0 { [width, height] } else { picture }
    }

    /// Width and height in metres.
    pub fn metres(&self, picture: [f32; 2]) -> [f32; 2] {
        match self.size {
            [width, height] if width > 0.0 => [width, height],
            _ => self.texels(picture).map(|texels| texels / self.stand.pixels_per_metre),
        }
    }

    /// Where the square from 0, 0 to 1, 1 of the picture's plane is at its node.
    pub fn placed(&self, picture: [f32; 2]) -> Mat4 {
        let ([width, height], [x, y]) = (self.metres(picture), self.pivot);
        let at = Vec3::new(-x * width, 0.0, -y * height);
        self.stand.turn()
            * Mat4::from_translation(at)
            * Mat4::from_scale(Vec3::new(width, 1.0, height))
    }
}

/// What a sprite shows.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Shows {
    Picture(TextureNumber),
    Plays(SequenceNumber),
}

/// A sprite as a unit's resource lists it.
#[derive(Clone, PartialEq, Debug)]
pub struct SpritePart {
    pub name: String,
    pub node: u16,
    pub look: SpriteLook,
    pub shows: Shows,
    pub speed: f32,
    pub visible: bool,
    pub group: u8,
}

/// A sprite of a unit.
#[derive(Debug)]
pub struct Sprite {
    /// The row of its unit.
    pub unit: u32,
    /// Which of the unit's nodes it hangs on, from 0.
    pub node: u16,
    /// Of [`flag`], without a shadow of its own.
    pub flags: u8,
    /// Which of its unit's visibility groups it is in.
    pub group: u8,
    pub draw: DrawSlot,
    /// The next sprite of the same unit.
    next: u32,
    /// Its place among those that play.
    playing: u32,
    pub look: SpriteLook,
    /// What is shown now.
    pub picture: TextureNumber,
    pub sequence: Option<SequenceNumber>,
    /// Which frame of the sequence's is shown.
    frame: u32,
    /// Times the speed that the artist wanted.
    pub speed: f32,
    /// Seconds since its sequence began.
    pub time: f64,
}

/// The frames of a sheet's tag, in the order of one turn.
#[derive(Clone, PartialEq, Debug)]
pub struct Sequence {
    pub sheet: String,
    /// All frames of the sheet, over and over, without one.
    pub tag: Option<String>,
    /// Each with the time at which it ends, in seconds.
    pub frames: Vec<(TextureNumber, f64)>,
    /// How often it is played; infinite: for ever.
    pub turns: f64,
    /// The frame that stays when the last turn is over.
    pub rest: u32,
}

impl Sequence {
    /// Seconds of one turn.
    pub fn seconds(&self) -> f64 {
        self.frames.last().map_or(0.0, |(_, end)| *end)
    }

    fn is_over(&self, time: f64) -> bool {
        time >= self.seconds() * self.turns
    }

    /// Which frame is shown after some seconds.
    fn frame_at(&self, time: f64) -> u32 {
        if self.is_over(time) {
            return self.rest;
        }
        let at = time % self.seconds();
        let last = self.frames.len() - 1;
        self.frames.partition_point(|(_, end)| *end <= at).min(last) as u32
    }
}

/// All sprites of all units.
pub struct Sprites {
    pub slots: Slots<Sprite>,
    /// Every sequence that was asked for.
    pub sequences: Vec<Sequence>,
    /// By the rows of units: the first of each.
    first: Vec<u32>,
    /// Places of sprites that play a sequence.
    playing: Vec<u32>,
    /// Places of sprites of which the renderer has to hear.
    pub changed: Vec<u32>,
}

impl Default for Sprites {
    fn default() -> Sprites {
        Sprites {
            slots: Slots::new(Kind::Sprite, SPRITES_MAX),
            sequences: Vec::new(),
            first: Vec::new(),
            playing: Vec::new(),
            changed: Vec::new(),
        }
    }
}

impl Sprites {
    /// Makes the sprites of a unit; `draw` gives each its place in the scene.
    ///
    /// # Errors
    /// There are too many.
    pub fn spawn(
        &mut self,
        unit: UnitId,
        parts: &[SpritePart],
        mut draw: impl FnMut() -> DrawSlot,
    ) -> Result<(), Error> {
        if self.slots.len() + parts.len() > SPRITES_MAX {
            return Err(error!(
                "there is no room for {} more sprites (SPRITES_MAX is {SPRITES_MAX}): destroy \
                 units that are not needed",
                parts.len()
            ));
        }
        let row = unit.row();
        if self.first.len() <= row as usize {
            self.first.resize(row as usize + 1, NONE);
        }
        let mut next = NONE;
        // From the last to the first, so that the chain begins with the first.
        for part in parts.iter().rev() {
            let hidden = if part.visible { 0 } else { flag::HIDDEN };
            let sprite = Sprite {
                unit: row,
                node: part.node,
                flags: flag::NEW | flag::LISTED | hidden,
                group: part.group,
                draw: draw(),
                next,
                playing: NONE,
                look: part.look,
                picture: TextureNumber::MISSING,
                sequence: None,
                frame: 0,
                speed: part.speed,
                time: 0.0,
            };
            let handle = self.slots.add(sprite).expect("there is room, it was looked at");
            next = handle.index() as u32;
            self.changed.push(next);
            self.show(SpriteId(handle), part.shows);
        }
        self.first[row as usize] = next;
        Ok(())
    }

    /// Ends the sprites of a unit; `end` hears of each.
    pub fn destroy(&mut self, row: u32, frame: u64, place: &str, mut end: impl FnMut(&Sprite)) {
        let Some(first) = self.first.get_mut(row as usize) else { return };
        let mut at = std::mem::replace(first, NONE);
        while at != NONE {
            self.stop(at as usize);
            let handle = self.slots.handle_at(at as usize).expect("chains hold living sprites");
            let sprite = self.slots.remove(handle, "", frame, place).expect("it lives");
            end(&sprite);
            at = sprite.next;
        }
    }

    /// The places of a unit's sprites, in order.
    pub fn of_unit(&self, row: u32) -> impl Iterator<Item = usize> + '_ {
        let mut at = self.first.get(row as usize).copied().unwrap_or(NONE);
        std::iter::from_fn(move || {
            let sprite = self.slots.at(at as usize).filter(|_| at != NONE)?;
            let here = at as usize;
            at = sprite.next;
            Some(here)
        })
    }

    fn at_mut(&mut self, place: usize) -> &mut Sprite {
        self.slots.at_mut(place).expect("chains hold living sprites")
    }

    /// A living sprite. Handles are checked where they come in, so it is there.
    #[inline(always)]
    pub fn of(&self, id: SpriteId) -> &Sprite {
        self.slots.get(id.0).expect("the handle was checked where it came in")
    }

    /// The same to change, and the renderer hears all of it again.
    pub fn change(&mut self, id: SpriteId) -> &mut Sprite {
        self.note(id.0.index(), flag::NEW);
        self.at_mut(id.0.index())
    }

    /// Notes that a sprite changed: all of it with [`flag::NEW`], its pose with 0.
    #[inline(always)]
    pub fn note(&mut self, place: usize, flags: u8) {
        if let Some(sprite) = self.slots.at_mut(place) {
            let listed = sprite.flags & flag::LISTED != 0;
            sprite.flags |= flags | flag::LISTED;
            if !listed {
                self.changed.push(place as u32);
            }
        }
    }

    /// Notes that units moved.
    pub fn note_moved(&mut self, rows: &[u32]) {
        if self.slots.is_empty() {
            return;
        }
        for row in rows {
            let mut at = self.first.get(*row as usize).copied().unwrap_or(NONE);
            while at != NONE {
                self.note(at as usize, 0);
                at = self.at_mut(at as usize).next;
            }
        }
    }

    /// Sets or clears a reason why a unit's sprites are hidden, of a group or of all.
    pub fn hide(&mut self, row: u32, group: Option<u8>, reason: u8, hidden: bool) {
        let places: Vec<usize> = self.of_unit(row).collect();
        for place in places {
            let sprite = self.at_mut(place);
            if group.is_some_and(|group| group != sprite.group) {
                continue;
            }
            let flags = if hidden { sprite.flags | reason } else { sprite.flags & !reason };
            if std::mem::replace(&mut sprite.flags, flags) != flags {
                self.note(place, flag::NEW);
            }
        }
    }

    /// Shows a picture, or plays a sequence from its beginning.
    pub fn show(&mut self, id: SpriteId, shows: Shows) {
        let place = id.0.index();
        match shows {
            Shows::Picture(picture) => {
                self.stop(place);
                self.change(id).picture = picture;
            }
            Shows::Plays(sequence) => {
                if self.of(id).playing == NONE {
                    let at = self.playing.len() as u32;
                    self.playing.push(place as u32);
                    self.at_mut(place).playing = at;
                }
                let first = self.sequences[sequence.0 as usize].frame_at(0.0);
                let sprite = self.change(id);
                (sprite.sequence, sprite.time, sprite.frame) = (Some(sequence), 0.0, first);
                self.fill(place);
            }
        }
    }

    /// It plays nothing any more.
    fn stop(&mut self, place: usize) {
        let sprite = self.at_mut(place);
        sprite.sequence = None;
        let at = std::mem::replace(&mut sprite.playing, NONE);
        if at == NONE {
            return;
        }
        self.playing.swap_remove(at as usize);
        if let Some(moved) = self.playing.get(at as usize).copied() {
            self.at_mut(moved as usize).playing = at;
        }
    }

    /// Whether what it plays is over; a picture always is.
    pub fn is_over(&self, id: SpriteId) -> bool {
        let sprite = self.of(id);
        let over = |number: SequenceNumber| self.sequences[number.0 as usize].is_over(sprite.time);
        sprite.sequence.is_none_or(over)
    }

    /// Moves what plays on by some seconds, of the units that `has` takes.
    pub fn play(&mut self, delta: f64, has: impl Fn(u32) -> bool) {
        for at in 0..self.playing.len() {
            let place = self.playing[at] as usize;
            let sprite = self.slots.at_mut(place).expect("what plays lives");
            if !has(sprite.unit) {
                continue;
            }
            let number = sprite.sequence.expect("it plays one");
            let sequence = &self.sequences[number.0 as usize];
            sprite.time += delta * f64::from(sprite.speed);
            if sequence.turns == f64::INFINITY && sprite.time >= sequence.seconds() {
                // It stays as exact as it began.
                sprite.time %= sequence.seconds();
            }
            let frame = sequence.frame_at(sprite.time);
            if frame != sprite.frame {
                sprite.frame = frame;
                self.fill(place);
            }
        }
    }

    /// Shows the picture of the frame that a sprite is at.
    fn fill(&mut self, place: usize) {
        let sprite = self.slots.at_mut(place).expect("the caller looked");
        let Some(number) = sprite.sequence else { return };
        let picture = self.sequences[number.0 as usize].frames[sprite.frame as usize].0;
        if std::mem::replace(&mut sprite.picture, picture) != picture {
            self.note(place, flag::NEW);
        }
    }

    /// Puts a sequence in the place of one whose sheet was made anew.
    pub fn redefine(&mut self, number: SequenceNumber, sequence: Sequence) {
        self.sequences[number.0 as usize] = sequence;
        for at in 0..self.playing.len() {
            let place = self.playing[at] as usize;
            let sprite = self.slots.at_mut(place).expect("what plays lives");
            if sprite.sequence == Some(number) {
                sprite.frame = self.sequences[number.0 as usize].frame_at(sprite.time);
                self.fill(place);
            }
        }
    }

    /// What of a unit's sprites must come out the same in every run: what they play.
    pub fn write_state(&self, row: u32, hash: &mut StateHash) {
        for place in self.of_unit(row) {
            let sprite = self.slots.at(place).expect("chains hold living sprites");
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

    fn sequence(turns: f64) -> Sequence {
        let frames =
            vec![(TextureNumber(1), 0.25), (TextureNumber(2), 0.5), (TextureNumber(3), 1.0)];
        Sequence { sheet: "hero".into(), tag: None, frames, turns, rest: 2 }
    }

    fn part(shows: Shows) -> SpritePart {
        SpritePart {
            name: "hero".into(),
            node: 0,
            look: SpriteLook::DEFAULT,
            shows,
            speed: 1.0,
            visible: true,
            group: 7,
        }
    }

    fn made() -> (Sprites, UnitId) {
        let mut units = Slots::new(Kind::Unit, 2);
        let unit = UnitId(units.add(()).unwrap());
        let sequences = vec![sequence(f64::INFINITY), sequence(2.0)];
        let mut sprites = Sprites { sequences, ..Sprites::default() };
        let plays = |number: u32| part(Shows::Plays(SequenceNumber(number)));
        let parts = [plays(0), part(Shows::Picture(TextureNumber(9))), plays(1)];
        let mut draws = 0..9;
        sprites.spawn(unit, &parts, || DrawSlot(draws.next().unwrap())).unwrap();
        (sprites, unit)
    }

    fn shown(sprites: &Sprites, unit: UnitId) -> Vec<u32> {
        let picture = |place: usize| sprites.slots.at(place).unwrap().picture.0;
        sprites.of_unit(unit.row()).map(picture).collect()
    }

    #[test]
    fn sequences_play_by_time_alone_and_end_with_their_turns() {
        let (mut sprites, unit) = made();
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
        let last = sprites.of_unit(unit.row()).last().unwrap();
        assert!(sprites.is_over(SpriteId(sprites.slots.handle_at(last).unwrap())));
        sprites.play(0.25, |_| false);
        assert_eq!(shown(&sprites, unit)[0], 2);
    }

    #[test]
    fn who_ends_or_stops_leaves_the_others_playing() {
        let (mut sprites, unit) = made();
        let first = sprites.of_unit(unit.row()).next().unwrap();
        let first = SpriteId(sprites.slots.handle_at(first).unwrap());
        sprites.show(first, Shows::Picture(TextureNumber(5)));
        sprites.play(0.25, |_| true);
        assert_eq!(shown(&sprites, unit), [5, 9, 2]);
        let mut ended = Vec::new();
        sprites.destroy(unit.row(), 1, "x", |sprite| ended.push(sprite.draw.0));
        assert_eq!((ended.len(), sprites.slots.len(), sprites.playing.len()), (3, 0, 0));
        sprites.play(0.25, |_| true);
    }

    #[test]
    fn the_state_is_what_plays_and_when() {
        let state = |sprites: &Sprites, unit: UnitId| {
            let mut hash = StateHash::new(0);
            sprites.write_state(unit.row(), &mut hash);
            hash.finish()
        };
        let ((mut sprites, unit), (other, _)) = (made(), made());
        assert_eq!(state(&sprites, unit), state(&other, unit));
        sprites.play(0.01, |_| true);
        assert_ne!(state(&sprites, unit), state(&other, unit));
    }

    #[test]
    fn a_picture_stands_upright_or_lies_flat_around_its_pivot() {
        let check = |look: SpriteLook, corner: [f32; 2], wanted: [f32; 3]| {
            let point = Vec3::new(corner[0], 0.0, corner[1]);
            let at = look.placed([32.0, 64.0]).transform_point3(point);
            assert!(at.distance(Vec3::from_array(wanted)) < 1e-6, "{at} for {corner:?}");
        };
        let own = Stand { pixels_per_metre: 32.0, ..Stand::DEFAULT };
        let upright = SpriteLook { stand: own, pivot: [0.5, 0.0], ..SpriteLook::DEFAULT };
        check(upright, [0.0, 0.0], [-0.5, 0.0, 0.0]);
        check(upright, [1.0, 1.0], [0.5, 0.0, 2.0]);
        let flat = SpriteLook { stand: Stand { flat: true, ..own }, ..upright };
        check(flat, [1.0, 1.0], [0.5, 2.0, 0.0]);
        let sized = SpriteLook { size: [4.0, 1.0], pivot: [0.0, 1.0], ..flat };
        check(sized, [1.0, 0.0], [4.0, -1.0, 0.0]);
        let part = SpriteLook { part: [8.0, 0.0, 16.0, 16.0], ..upright };
        check(part, [1.0, 1.0], [0.25, 0.0, 0.5]);
    }
}
