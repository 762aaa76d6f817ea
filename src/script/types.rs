//! How a Rust type looks from Lua, and from compiled Lua where it can cross unboxed.

use crate::foundation::Kind;

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
    Text,
    Vector3,
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
