//! Definition of an effect as numbers, and its compiled form: a framed blob in which each emitter
//! is one flat record. Reads no SJSON (source_fields.rs) and simulates nothing.

use super::limits;
use bytemuck::{Pod, Zeroable};
use engine_foundation::Error;
use engine_foundation::blob::{BlobReader, BlobWriter, unframe};
use engine_foundation::error;

/// Version of the compiled form. Raise it whenever [`EmitterData`] changes.
pub const VERSION: u32 = 2;
const MAGIC: [u8; 4] = *b"PART";

/// Maximum number of particles of one emitter.
pub const EMITTER_PARTICLES_MAX: u32 = 1 << 20;
/// Maximum number of emitters of one effect.
pub const EMITTERS_MAX: usize = 16;
/// Maximum number of variables of one effect.
pub const VARIABLES_MAX: usize = 16;
/// Maximum number of bursts of one emitter.
pub const BURSTS_MAX: usize = 8;
/// Maximum number of forces on the particles of one emitter.
pub const FORCES_MAX: usize = 8;
/// Maximum number of colliders of one emitter: planes, spheres, boxes and whiskers together.
pub const COLLIDERS_MAX: usize = 16;
/// Maximum number of points of a trail.
pub const TRAIL_POINTS_MAX: u32 = 32;
/// Maximum number of particles of an emitter with trails or a ribbon.
pub const TRAIL_PARTICLES_MAX: u32 = 4096;
/// Maximum number of frames of a flipbook.
pub const FLIPBOOK_FRAMES_MAX: u32 = 256;
/// Maximum length of the warm-up before an effect is first shown, in seconds.
pub const WARM_SECONDS_MAX: f32 = 60.0;
/// Number of samples in the table of a curve over a particle's life.
pub const TABLE: usize = 128;

/// Declares an enum from the keywords of a `.particles` file. Its values are stored as numbers.
macro_rules! keyword_enum {
    ($(#[$doc:meta])* $name:ident { $($(#[$item:meta])* $variant:ident = $keyword:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        #[repr(u32)]
        pub enum $name { $($(#[$item])* $variant,)* }

        impl $name {
            /// All values with their keywords, in numeric order.
            pub const ALL: &[(&'static str, $name)] = &[$(($keyword, $name::$variant)),*];

            /// Returns the value of a compiled number.
            pub fn of(number: u32) -> $name {
                Self::ALL.get(number as usize).map_or(Self::ALL[0].1, |(_, value)| *value)
            }
        }
    };
}

keyword_enum!(
    /// Shape from which particles are emitted.
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
keyword_enum!(
    /// Coordinate space in which particles move.
    Space {
        /// Particles stay behind when their effect moves.
        World = "world",
        /// Particles move along with their effect.
        Local = "local",
    }
);
keyword_enum!(
    /// Type of a force on particles.
    ForceKind {
        Attractor = "attractor",
        Vortex = "vortex",
        Turbulence = "turbulence",
        Wind = "wind",
    }
);
keyword_enum!(
    /// Dependence of a force on the distance.
    Falloff {
        None = "none",
        /// Proportional to one over the distance.
        Inverse = "inverse",
        /// Proportional to one over the square of the distance.
        InverseSquare = "inverse_square",
    }
);
keyword_enum!(
    /// Type of a collider that particles bounce off.
    ColliderKind {
        Plane = "plane",
        Sphere = "sphere",
        Box = "box",
        Whisker = "whisker",
    }
);
keyword_enum!(
    /// Blend mode of the particles with the background.
    Blending {
        Alpha = "alpha",
        Add = "add",
        Multiply = "multiply",
    }
);
keyword_enum!(
    /// Orientation of a particle's quad.
    Billboard {
        Facing = "facing",
        /// Along the velocity, with a length that grows with the speed.
        Stretched = "stretched",
        /// Along a fixed axis.
        Aligned = "aligned",
    }
);
keyword_enum!(
    /// Drawing order of the particles.
    Sort {
        None = "none",
        OldestFirst = "oldest_first",
        NewestFirst = "newest_first",
        FarthestFirst = "farthest_first",
    }
);
keyword_enum!(
    /// Input of the curves that determine a particle's color and size.
    Over {
        Life = "life",
        Speed = "speed",
    }
);
keyword_enum!(
    /// Treatment of effects that no view shows.
    Culling {
        None = "none",
        /// Invisible effects are simulated on every fourth step, by four steps at once.
        Slow = "slow",
        /// Invisible effects are paused.
        Pause = "pause",
    }
);
keyword_enum!(
    /// Property of an emitter that a variable of the effect can change.
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

/// Number of properties that variables can change.
pub const BINDS: usize = 8;

/// Particle events that can spawn particles of another emitter. The order is that of
/// [`EmitterData::subs`].
pub const TRIGGER_KEYS: [&str; 3] = ["on_birth", "on_death", "on_collision"];
pub const BIRTH: usize = 0;
pub const DEATH: usize = 1;
pub const COLLISION: usize = 2;

/// A burst: particles that are spawned at once.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Debug, Default, Pod, Zeroable)]
pub struct SpawnBurst {
    /// Time of the first burst, in seconds from the emitter's start.
    pub time: f32,
    /// Seconds between bursts; 0: it happens once.
    pub every: f32,
    /// Number of repetitions; 0: unlimited.
    pub times: u32,
    pub count: [u32; 2],
}

/// A force. Numbers that its type does not use are 0.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Debug, Default, Pod, Zeroable)]
pub struct ForceData {
    /// A [`ForceKind`].
    pub kind: u32,
    /// A [`Falloff`].
    pub falloff: u32,
    /// Position relative to the effect.
    pub position: [f32; 3],
    /// Axis of a vortex; velocity of a wind.
    pub axis: [f32; 3],
    /// Acceleration, in units per second squared.
    pub strength: f32,
    /// Radius beyond which the force has no effect; 0: unlimited.
    pub radius: f32,
    /// Size of the eddies of a turbulence.
    pub size: f32,
    /// Speed at which the eddies change.
    pub speed: f32,
}

/// A collider that particles bounce off. Numbers that its type does not use are 0.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Debug, Default, Pod, Zeroable)]
pub struct ColliderData {
    /// A [`ColliderKind`].
    pub kind: u32,
    /// A point on the plane, the center of a sphere or box, or one end of a whisker.
    pub a: [f32; 3],
    /// The normal of the plane, the half extents of a box, or the other end of a whisker.
    pub b: [f32; 3],
    /// Rotation of a box.
    pub rotation: [f32; 4],
    /// Radius of a sphere.
    pub radius: f32,
}

/// A sub-emitter: particles of another emitter that an event of a particle spawns.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Debug, Default, Pod, Zeroable)]
pub struct SubEmitter {
    /// Emitter of the effect, from 1; 0: none.
    pub emitter: u32,
    pub count: [u32; 2],
    /// Fraction of the particle's velocity that the new particles inherit.
    pub inherit: f32,
}

/// An emitter without its names, as one flat record.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Debug, Pod, Zeroable)]
pub struct EmitterData {
    pub max: u32,
    /// Particles per second.
    pub rate: f32,
    pub delay: f32,
    /// Seconds of spawning; 0: unlimited.
    pub duration: f32,
    /// True if it begins again after its duration.
    pub repeats: u32,
    pub burst_count: u32,
    pub bursts: [SpawnBurst; BURSTS_MAX],
    pub subs: [SubEmitter; 3],

    pub shape: u32,
    /// Half extents of a box; the other end of a line.
    pub extents: [f32; 3],
    pub radius: f32,
    /// Inner radius of the shape as a fraction of the radius: 1 is the surface alone.
    pub inner: f32,
    /// Half the opening angle of a cone, in radians.
    pub angle: f32,
    /// Position of the shape relative to the effect.
    pub position: [f32; 3],
    /// Initial direction. 0, 0, 0: determined by the shape.
    pub direction: [f32; 3],
    /// Maximum angle from the direction, in radians.
    pub spread: f32,
    pub speed: [f32; 2],
    pub inherit: f32,
    pub lifetime: [f32; 2],
    pub space: u32,

    pub gravity: [f32; 3],
    /// Fraction of its velocity that a particle loses per second.
    pub drag: f32,
    pub force_count: u32,
    pub forces: [ForceData; FORCES_MAX],

    pub collider_count: u32,
    pub colliders: [ColliderData; COLLIDERS_MAX],
    /// True if the colliders are fixed in the world and do not follow the effect.
    pub colliders_fixed: u32,
    pub bounce: f32,
    pub friction: f32,
    pub particle_radius: f32,
    /// Fraction of its life that a collision costs a particle.
    pub life_loss: f32,

    /// Full height of a particle at the maximum of `sizes`.
    pub size_max: f32,
    pub size_random: f32,
    /// Width divided by height.
    pub aspect: f32,
    /// An [`Over`]. `over_speed` is the speed at the end of the curves.
    pub over: u32,
    pub over_speed: f32,
    /// Two colors. Each particle is tinted by a random color between them.
    pub tint: [[u8; 4]; 2],
    /// Initial rotation in turns. `spin` is in turns per second.
    pub rotation: [f32; 2],
    pub spin: [f32; 2],
    /// Columns, rows and number of frames in the texture.
    pub flipbook: [u32; 3],
    /// Frames per second; 0: once over a life.
    pub flipbook_rate: f32,
    pub flipbook_random: u32,
    pub blend: u32,
    pub glow: f32,
    pub billboard: u32,
    /// Additional length of a stretched particle, as seconds of its motion.
    pub stretch: f32,
    pub axis: [f32; 3],
    pub sort: u32,
    /// Distance over which particles fade out in front of surfaces, in metres.
    pub softness: f32,
    /// The part of their light that comes from suns, lamps and the sky.
    pub lit: f32,
    /// Distance in metres by which they displace what is behind them.
    pub distortion: f32,
    pub layer: i32,
    /// Number of points of each particle's trail; 0: none.
    pub trail_points: u32,
    /// Seconds between the points.
    pub trail_interval: f32,
    /// Width relative to the particle's size, at the beginning and at the end.
    pub trail_width: [f32; 2],
    /// True if particles with trails are drawn, too.
    pub trail_heads: u32,
    /// True if all particles are the points of one ribbon.
    pub ribbon: u32,
    /// For each [`Bind`], the variable that changes it, from 1; 0: none.
    pub binds: [u32; BINDS],

    /// Height over life, as a fraction of `size_max`.
    pub sizes: [f32; TABLE],
    /// Red, green, blue, alpha over life.
    pub colors: [[u8; 4]; TABLE],
}

/// An emitter with its names.
#[derive(Clone, PartialEq, Debug)]
pub struct EmitterDef {
    pub name: String,
    /// Name of the texture. Empty: the built-in soft spot.
    pub texture: String,
    /// Name of the material. Empty: the engine's built-in one.
    pub material: String,
    pub numbers: Box<EmitterData>,
}

/// A variable that games set.
#[derive(Clone, PartialEq, Debug)]
pub struct EffectVariable {
    pub name: String,
    pub default: [f32; 3],
}

/// A whole effect.
#[derive(Clone, PartialEq, Debug)]
pub struct EffectData {
    pub emitters: Vec<EmitterDef>,
    pub variables: Vec<EffectVariable>,
    pub warm_seconds: f32,
    pub culling: Culling,
}

impl EffectData {
    /// Returns an error if the effect uses features that only GUIs support, and therefore cannot
    /// play in a world. `name` is the name of the effect.
    pub fn check_for_world(&self, name: &str) -> Result<(), Error> {
        let whiskers = |emitter: &EmitterDef| {
            let count = emitter.numbers.collider_count as usize;
            let whisker = ColliderKind::Whisker as u32;
            emitter.numbers.colliders[..count].iter().any(|collider| collider.kind == whisker)
        };
        if self.emitters.iter().any(whiskers) {
            return Err(error!(
                "the effect \"{name}\" has whiskers, which only stop particles in Guis: use planes \
                 or boxes in a world"
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

    /// Returns the compiled form.
    pub fn write(&self) -> Vec<u8> {
        let mut writer = BlobWriter::default();
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
        writer.into_frame(MAGIC, VERSION)
    }

    /// Reads the compiled form.
    ///
    /// # Errors
    /// Returns an error if the data is damaged, or contains numbers that no source text could
    /// produce (limits.rs).
    pub fn read(bytes: &[u8]) -> Result<EffectData, Error> {
        let mut reader = BlobReader::new(unframe(bytes, MAGIC, VERSION)?);
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
            Ok(EffectVariable { name, default })
        })?;
        let emitters = reader.list_at_most((EMITTERS_MAX, "EMITTERS_MAX"), |reader| {
            let name = reader.text()?.to_string();
            let texture = reader.text()?.to_string();
            let material = reader.text()?.to_string();
            let numbers = bytemuck::try_pod_read_unaligned::<EmitterData>(reader.bytes()?)
                .map_err(|_| error!("it is damaged: the emitter '{name}' has the wrong length"))?;
            Ok(EmitterDef { name, texture, material, numbers: Box::new(numbers) })
        })?;
        reader.end()?;
        let data = EffectData { emitters, variables, warm_seconds, culling };
        limits::check(&data)?;
        Ok(data)
    }
}
