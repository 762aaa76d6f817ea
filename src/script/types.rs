//! Types of the scripting interface: the form of a Rust type in Lua, and in compiled Lua if it can
//! be passed unboxed.

use engine_foundation::HandleKind;
use engine_input::button_names::DeviceClass;

/// The type of one argument or result.
#[derive(Clone, Copy, Debug)]
pub struct ApiType {
    /// Type name in messages and in the editor's definitions (LuaCATS).
    pub lua: &'static str,
    /// True if nil or a missing argument is accepted.
    pub optional: bool,
    /// True if it takes all the remaining arguments.
    pub rest: bool,
    /// The form in which compiled Lua checks and passes it.
    pub shape: ValueShape,
}

/// The form in which a value is passed between Lua and Rust.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum ValueShape {
    Nothing,
    Boolean,
    Number,
    Handle(HandleKind),
    /// A button or an axis of a device: its index from 1, or its name.
    Button(DeviceClass),
    Axis(DeviceClass),
    Text,
    /// A value type, passed as its floats.
    Value(VectorType),
    /// Any value, including vectors: two results from which the prelude rebuilds it (serialize.rs).
    Packed,
    /// Unpacked into numbers (unpacked_row.rs).
    Unpacked,
    /// Passed through Lua's C interface only.
    Boxed,
}

impl ApiType {
    pub const fn new(lua: &'static str, shape: ValueShape) -> ApiType {
        ApiType { lua, optional: false, rest: false, shape }
    }

    /// Returns the optional form of this type.
    pub const fn or_nil(self) -> ApiType {
        ApiType { optional: true, ..self }
    }
}

/// The value types that are passed as their floats.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum VectorType {
    Vector2,
    Vector3,
    Vector4,
    Quaternion,
    Matrix4x4,
    Color,
}

impl VectorType {
    /// All value types, in the order of their numbers.
    pub const ALL: [VectorType; 6] = [
        VectorType::Vector2,
        VectorType::Vector3,
        VectorType::Vector4,
        VectorType::Quaternion,
        VectorType::Matrix4x4,
        VectorType::Color,
    ];

    /// Returns the type's name in scripts.
    pub const fn name(self) -> &'static str {
        match self {
            VectorType::Vector2 => "Vector2",
            VectorType::Vector3 => "Vector3",
            VectorType::Vector4 => "Vector4",
            VectorType::Quaternion => "Quaternion",
            VectorType::Matrix4x4 => "Matrix4x4",
            VectorType::Color => "Color",
        }
    }

    /// Returns the names of the fields in which the prelude stores the floats.
    pub const fn fields(self) -> &'static [&'static str] {
        match self {
            VectorType::Vector2 => &["_x", "_y"],
            VectorType::Vector3 => &["_x", "_y", "_z"],
            VectorType::Vector4 | VectorType::Quaternion => &["_x", "_y", "_z", "_w"],
            VectorType::Color => &["_a", "_r", "_g", "_b"],
            VectorType::Matrix4x4 => &[],
        }
    }

    /// Returns the number of 32-bit floats in one value.
    pub const fn count(self) -> usize {
        match self {
            VectorType::Vector2 => 2,
            VectorType::Vector3 => 3,
            VectorType::Vector4 | VectorType::Quaternion | VectorType::Color => 4,
            VectorType::Matrix4x4 => 16,
        }
    }
}
