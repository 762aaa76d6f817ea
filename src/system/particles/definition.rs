//! What a `.particles` says, as numbers, and its compiled form: a framed blob in which each emitter
//! is one flat record. Reads no SJSON (source.rs) and moves nothing.

use super::ranges;
use crate::error;
use crate::foundation::Error;
use crate::foundation::blob::{Reader, Writer, unframe};
use bytemuck::{Pod, Zeroable};

/// The compiled form's version: raised whenever [`Numbers`] changes.
pub const VERSION: u32 = 1;
const MAGIC: [u8; 4] = *b"PART";

/// The most particles of one emitter.
pub const EMITTER_PARTICLES_MAX: u32 = 1 << 20;
/// The most emitters of one effect.
pub const EMITTERS_MAX: usize = 16;
/// The most variables of one effect.
pub const VARIABLES_MAX: usize = 16;
/// The most bursts of one emitter.
pub const BURSTS_MAX: usize = 8;
/// The most forces on one emitter's particles.
pub const FORCES_MAX: usize = 8;
/// The most planes, spheres, boxes and whiskers, together, that one emitter's particles hit.
pub const COLLIDERS_MAX: usize = 16;
/// The most points of a trail.
pub const TRAIL_POINTS_MAX: u32 = 32;
/// The most particles of an emitter with trails or a ribbon.
pub const TRAIL_PARTICLES_MAX: u32 = 4096;
/// The most frames of a flipbook.
pub const FLIPBOOK_FRAMES_MAX: u32 = 256;
/// The most seconds that an effect is played before it is first seen.
pub const WARM_SECONDS_MAX: f32 = 60.0;
/// In how many steps a curve over a particle's life is kept.
pub const TABLE: usize = 128;

/// Declares words of a `.particles` as an enum that is kept as a number.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$item:meta])* $variant:ident = $word:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        #[repr(u32)]
        pub enum $name { $($(#[$item])* $variant,)* }

        impl $name {
            /// Every one with its word, in the order of their numbers.
            pub const ALL: &[(&'static str, $name)] = &[$(($word, $name::$variant)),*];

            /// The one that a compiled number means.
            pub fn of(number: u32) -> $name {
                Self::ALL.get(number as usize).map_or(Self::ALL[0].1, |(_, value)| *value)
            }
        }
    };
}

words!(
    /// Where particles begin.
    Shape {
        Point = "point",
        Sphere = "sphere",
        Box = "box",
        Circle = "circle",
        Cone = "cone",
        Line = "line",
        Ring = "ring",
    }
);
words!(
    /// What particles move in.
    Space {
        /// They stay behind when their effect moves.
        World = "world",
        /// They move along with it.
        Local = "local",
    }
);
words!(
    /// What moves particles.
    ForceKind {
        Attractor = "attractor",
        Vortex = "vortex",
        Turbulence = "turbulence",
        Wind = "wind",
    }
);
words!(
    /// How a force depends on the distance.
    Falloff {
        None = "none",
        /// By one over the distance.
        Inverse = "inverse",
        /// By one over its square.
        InverseSquare = "inverse_square",
    }
);
words!(
    /// What particles bounce off.
    ColliderKind {
        Plane = "plane",
        Sphere = "sphere",
        Box = "box",
        Whisker = "whisker",
    }
);
words!(
    /// How colours meet what is behind them.
    Blending {
        Alpha = "alpha",
        Add = "add",
        Multiply = "multiply",
    }
);
words!(
    /// How a particle lies.
    Billboard {
        Facing = "facing",
        /// Along the way that it goes, and the longer the faster.
        Stretched = "stretched",
        /// Along a given axis.
        Aligned = "aligned",
    }
);
words!(
    /// In which order particles are drawn.
    Sort {
        None = "none",
        OldestFirst = "oldest_first",
        NewestFirst = "newest_first",
        FarthestFirst = "farthest_first",
    }
);
words!(
    /// What chooses a particle's colour and size from the curves.
    Over {
        Life = "life",
        Speed = "speed",
    }
);
words!(
    /// What is done about effects that no view shows.
    Culling {
        None = "none",
        /// They move on every fourth step, by all four.
        Slow = "slow",
        /// They stand still.
        Pause = "pause",
    }
);
words!(
    /// What a variable of the effect can change.
    Bind {
        Rate = "rate",
        Size = "size",
        Speed = "speed",
        Color = "color",
        Position = "position",
        Direction = "direction",
        Gravity = "gravity",
        Target = "target",
    }
);

/// How many things variables can change.
pub const BINDS: usize = 8;

/// What happens to a particle that another emitter hears of: places in [`Numbers::subs`].
pub const ON: [&str; 3] = ["on_birth", "on_death", "on_collision"];
pub const BIRTH: usize = 0;
pub const DEATH: usize = 1;
pub const COLLISION: usize = 2;

/// Particles that come at once.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Debug, Default, Pod, Zeroable)]
pub struct Burst {
    /// Seconds from the emitter's start.
    pub time: f32,
    /// Seconds from one to the next; 0: it comes once.
    pub every: f32,
    /// How many times it comes; 0: without end.
    pub times: u32,
    pub count: [u32; 2],
}

/// A force; numbers that a kind does not use are 0.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Debug, Default, Pod, Zeroable)]
pub struct Force {
    /// A [`ForceKind`].
    pub kind: u32,
    /// A [`Falloff`].
    pub falloff: u32,
    /// Where it is, from the effect.
    pub position: [f32; 3],
    /// A vortex's axis; the velocity of a wind.
    pub axis: [f32; 3],
    /// Units a second, each second.
    pub strength: f32,
    /// Beyond which it is not felt; 0: everywhere.
    pub radius: f32,
    /// The size of a turbulence's eddies.
    pub size: f32,
    /// How fast they change.
    pub speed: f32,
}

/// What particles bounce off; numbers that a kind does not use are 0.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Debug, Default, Pod, Zeroable)]
pub struct Collider {
    /// A [`ColliderKind`].
    pub kind: u32,
    /// A point of the plane, the middle of a sphere or box, a whisker's one end.
    pub a: [f32; 3],
    /// The plane's normal, half a box's size, a whisker's other end.
    pub b: [f32; 3],
    /// A box's rotation.
    pub rotation: [f32; 4],
    /// A sphere's.
    pub radius: f32,
}

/// Particles of another emitter that one's fate brings.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Debug, Default, Pod, Zeroable)]
pub struct Sub {
    /// Which of the effect's emitters, from 1; 0: none.
    pub emitter: u32,
    pub count: [u32; 2],
    /// How much of its velocity they take along.
    pub inherit: f32,
}

/// An emitter without its names: one flat record.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Debug, Pod, Zeroable)]
pub struct Numbers {
    pub max: u32,
    /// A second.
    pub rate: f32,
    pub delay: f32,
    /// Seconds of spawning; 0: without end.
    pub duration: f32,
    /// Whether it begins again after its duration.
    pub repeats: u32,
    pub burst_count: u32,
    pub bursts: [Burst; BURSTS_MAX],
    pub subs: [Sub; 3],

    pub shape: u32,
    /// Half a box's size; a line's other end.
    pub extents: [f32; 3],
    pub radius: f32,
    /// How far inside particles begin, as a part of the radius: 1 is the surface alone.
    pub inner: f32,
    /// Half a cone's opening, in radians.
    pub angle: f32,
    /// The shape's place, from the effect.
    pub position: [f32; 3],
    /// 0, 0, 0: as the shape has it.
    pub direction: [f32; 3],
    /// How far off the direction, in radians.
    pub spread: f32,
    pub speed: [f32; 2],
    pub inherit: f32,
    pub lifetime: [f32; 2],
    pub space: u32,

    pub gravity: [f32; 3],
    /// What part of its velocity a particle loses each second.
    pub drag: f32,
    pub force_count: u32,
    pub forces: [Force; FORCES_MAX],

    pub collider_count: u32,
    pub colliders: [Collider; COLLIDERS_MAX],
    /// Whether colliders are where they are, wherever the effect is.
    pub colliders_fixed: u32,
    pub bounce: f32,
    pub friction: f32,
    pub particle_radius: f32,
    /// The part of its life that a hit costs.
    pub life_loss: f32,

    /// The largest of `sizes`: a particle's full height.
    pub size_max: f32,
    pub size_random: f32,
    /// Width by height.
    pub aspect: f32,
    /// A [`Over`], and the speed of the curves' end.
    pub over: u32,
    pub over_speed: f32,
    /// Two colours, between which each particle's own factor lies.
    pub tint: [[u8; 4]; 2],
    /// Turns, and turns a second.
    pub rotation: [f32; 2],
    pub spin: [f32; 2],
    /// Columns, rows and frames of the texture.
    pub flipbook: [u32; 3],
    /// Frames a second; 0: once over a life.
    pub flipbook_rate: f32,
    pub flipbook_random: u32,
    pub blend: u32,
    pub glow: f32,
    pub billboard: u32,
    /// Seconds of its way that a stretched particle is drawn out by.
    pub stretch: f32,
    pub axis: [f32; 3],
    pub sort: u32,
    /// Over how many metres particles fade before what is behind them.
    pub softness: f32,
    pub layer: i32,
    /// Points of each particle's trail; 0: none.
    pub trail_points: u32,
    /// Seconds between them.
    pub trail_interval: f32,
    /// Width by the particle's size, at its begin and at its end.
    pub trail_width: [f32; 2],
    /// Whether the particles themselves are drawn beside their trails.
    pub trail_heads: u32,
    /// Whether all particles are the points of one ribbon.
    pub ribbon: u32,
    /// Which variable changes what, from 1; 0: none.
    pub binds: [u32; BINDS],

    /// Height over life.
    pub sizes: [f32; TABLE],
    /// Red, green, blue, alpha over life.
    pub colors: [[u8; 4]; TABLE],
}

/// An emitter.
#[derive(Clone, PartialEq, Debug)]
pub struct EmitterDef {
    pub name: String,
    /// Empty: the soft spot.
    pub texture: String,
    /// Empty: the engine's own.
    pub material: String,
    pub numbers: Box<Numbers>,
}

/// A variable that games set.
#[derive(Clone, PartialEq, Debug)]
pub struct Variable {
    pub name: String,
    pub default: [f32; 3],
}

/// A whole effect.
#[derive(Clone, PartialEq, Debug)]
pub struct EffectData {
    pub emitters: Vec<EmitterDef>,
    pub variables: Vec<Variable>,
    pub warm_seconds: f32,
    pub culling: Culling,
}

impl EffectData {
    /// Refuses what only Guis have: in a world it cannot play. `name`: of the effect.
    pub fn check_for_world(&self, name: &str) -> Result<(), Error> {
        let whiskers = |it: &EmitterDef| {
            let count = it.numbers.collider_count as usize;
            let whisker = ColliderKind::Whisker as u32;
            it.numbers.colliders[..count].iter().any(|collider| collider.kind == whisker)
        };
        if self.emitters.iter().any(whiskers) {
            return Err(error!(
                "the effect \"{name}\" has whiskers, which stop particles of Guis alone: use \
                 planes or boxes in a world"
            ));
        }
        match self.emitters.iter().find(|def| !def.material.is_empty()) {
            None => Ok(()),
            Some(def) => Err(error!(
                "the effect \"{name}\", emitter '{}' has a 'material', which only Guis draw with: \
                 name a texture and a blend for a world",
                def.name
            )),
        }
    }

    /// The compiled form.
    pub fn write(&self) -> Vec<u8> {
        let mut writer = Writer::default();
        writer.u32(self.warm_seconds.to_bits());
        writer.u32(self.culling as u32);
        writer.list(&self.variables, |writer, variable| {
            writer.text(&variable.name);
            variable.default.iter().for_each(|number| writer.u32(number.to_bits()));
        });
        writer.list(&self.emitters, |writer, emitter| {
            writer.text(&emitter.name);
            writer.text(&emitter.texture);
            writer.text(&emitter.material);
            writer.bytes(bytemuck::bytes_of(&*emitter.numbers));
        });
        writer.framed(MAGIC, VERSION)
    }

    /// Reads the compiled form.
    ///
    /// # Errors
    /// It is damaged, or has numbers that no text could have become (ranges.rs).
    pub fn read(bytes: &[u8]) -> Result<EffectData, Error> {
        let mut reader = Reader::new(unframe(bytes, MAGIC, VERSION)?);
        let warm_seconds = f32::from_bits(reader.u32()?);
        let culling = reader.u32()?;
        let culling = Culling::ALL.get(culling as usize).map(|(_, culling)| *culling);
        let culling = culling.ok_or_else(|| error!("it is damaged: 'culling' is out of range"))?;
        let variables = reader.list_at_most((VARIABLES_MAX, "VARIABLES_MAX"), |reader| {
            let name = reader.text()?.to_string();
            let mut default = [0.0; 3];
            for number in &mut default {
                *number = f32::from_bits(reader.u32()?);
            }
            Ok(Variable { name, default })
        })?;
        let emitters = reader.list_at_most((EMITTERS_MAX, "EMITTERS_MAX"), |reader| {
            let name = reader.text()?.to_string();
            let texture = reader.text()?.to_string();
            let material = reader.text()?.to_string();
            let numbers = bytemuck::try_pod_read_unaligned::<Numbers>(reader.bytes()?)
                .map_err(|_| error!("it is damaged: the emitter '{name}' has another length"))?;
            Ok(EmitterDef { name, texture, material, numbers: Box::new(numbers) })
        })?;
        reader.end()?;
        let data = EffectData { emitters, variables, warm_seconds, culling };
        ranges::check(&data)?;
        Ok(data)
    }
}
