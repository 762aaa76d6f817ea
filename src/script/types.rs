//! How a Rust type looks from Lua, and from compiled Lua where it can cross unboxed.

use crate::foundation::Kind;
use crate::system::input::names::Class;

/// One argument's or result's type.
#[derive(Clone, Copy, Debug)]
pub struct Type {
    /// Its name in messages and in the editor's definitions (LuaCATS).
    pub lua: &'static str,
    /// Whether nil, or nothing, will do.
    pub optional: bool,
    /// Whether it takes all the arguments that are left.
    pub rest: bool,
    /// How compiled Lua checks and passes it.
    pub shape: Shape,
}

/// How a value crosses the border.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Shape {
    Nothing,
    Boolean,
    Number,
    Handle(Kind),
    /// A button, or an axis, of a device: its index from 1, or its name.
    Button(Class),
    Axis(Class),
    Text,
    /// A value type: its floats.
    Value(Floats),
    /// Any value, vectors too: two results of which the prelude makes it (pack.rs).
    Packed,
    /// Through Lua's C interface only.
    Boxed,
}

impl Type {
    pub const fn new(lua: &'static str, shape: Shape) -> Type {
        Type { lua, optional: false, rest: false, shape }
    }

    /// The same, or nil.
    pub const fn or_nil(self) -> Type {
        Type { optional: true, ..self }
    }
}

/// The value types whose floats cross.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Floats {
    Vector2,
    Vector3,
    Vector4,
    Quaternion,
    Matrix4x4,
    Color,
}

impl Floats {
    /// Every one, in the order of their numbers.
    pub const ALL: [Floats; 6] = [
        Floats::Vector2,
        Floats::Vector3,
        Floats::Vector4,
        Floats::Quaternion,
        Floats::Matrix4x4,
        Floats::Color,
    ];

    /// Its name in scripts.
    pub const fn name(self) -> &'static str {
        match self {
            Floats::Vector2 => "Vector2",
            Floats::Vector3 => "Vector3",
            Floats::Vector4 => "Vector4",
            Floats::Quaternion => "Quaternion",
            Floats::Matrix4x4 => "Matrix4x4",
            Floats::Color => "Color",
        }
    }

    /// The fields in which the prelude holds the floats.
    pub const fn fields(self) -> &'static [&'static str] {
        match self {
            Floats::Vector2 => &["_x", "_y"],
            Floats::Vector3 => &["_x", "_y", "_z"],
            Floats::Vector4 | Floats::Quaternion => &["_x", "_y", "_z", "_w"],
            Floats::Color => &["_a", "_r", "_g", "_b"],
            Floats::Matrix4x4 => &[],
        }
    }

    /// How many floats of 32 bits one is.
    pub const fn count(self) -> usize {
        match self {
            Floats::Vector2 => 2,
            Floats::Vector3 => 3,
            Floats::Vector4 | Floats::Quaternion | Floats::Color => 4,
            Floats::Matrix4x4 => 16,
        }
    }
}
