//! The rows that describe the values of an environment, and the macro that declares a group of
//! them. Has no values itself.

/// The type of a value. Each component is a float.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum ValueKind {
    Scalar,
    Vector2,
    Vector3,
    /// Linear red, green and blue.
    Color,
    Vector4,
    /// One of these names, stored as its index.
    Choice(&'static [&'static str]),
}

impl ValueKind {
    /// Returns the number of floats.
    pub const fn components(self) -> usize {
        match self {
            ValueKind::Scalar | ValueKind::Choice(_) => 1,
            ValueKind::Vector2 => 2,
            ValueKind::Vector3 | ValueKind::Color => 3,
            ValueKind::Vector4 => 4,
        }
    }
}

/// A value of environments, as scripts and files name it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ShadingValue {
    pub name: &'static str,
    /// The key for linear light in files, for colors.
    pub linear_key: &'static str,
    pub kind: ValueKind,
    /// The first components are used.
    pub default: [f32; 4],
    /// The range of each component.
    pub min: f32,
    pub max: f32,
    /// Documentation: what the value does, and its unit.
    pub doc: &'static str,
}

/// The values of one group, in the order of the fields of its struct.
pub struct ValueGroup {
    pub values: &'static [ShadingValue],
}

/// Declares a group of values as a struct of floats, with its defaults and its table:
///
///     shading_values! {
///         /// The doc comment of the struct.
///         pub struct BloomValues {
///             bloom_intensity: Scalar, [0.0], 0.0..=1.0, "Strength of bloom.";
///         }
///     }
///
/// A choice lists its names in place of its range:
/// `tone_mapper: Choice(["neutral", "aces"]), "The curve.";`; its default is the first name.
macro_rules! shading_values {
    (
        $(#[$attribute:meta])*
        pub struct $group:ident {
            $($name:ident : $kind:ident $(([$($choice:literal),+]))?
                $(, [$($default:expr),+], $min:literal ..= $max:expr)?, $doc:literal;)+
        }
    ) => {
        $(#[$attribute])*
        #[repr(C)]
        #[derive(Clone, Copy, PartialEq, Debug, bytemuck::Pod, bytemuck::Zeroable)]
        pub struct $group {
            $(#[doc = $doc] pub $name: shading_values!(@type $kind),)+
        }

        impl $group {
            pub const DEFAULT: $group = $group {
                $($name: shading_values!(@default $kind $($($default),+)?),)+
            };

            pub(super) const GROUP: super::value::ValueGroup = super::value::ValueGroup {
                values: &[$(shading_values!(@row $name, $kind $(([$($choice),+]))?
                    $(, [$($default),+], $min, $max)?, $doc),)+],
            };
        }
    };
    (@type Scalar) => { f32 };
    (@type Choice) => { f32 };
    (@type Vector2) => { [f32; 2] };
    (@type Vector3) => { [f32; 3] };
    (@type Color) => { [f32; 3] };
    (@type Vector4) => { [f32; 4] };
    (@default Scalar $default:expr) => { $default };
    (@default Choice) => { 0.0 };
    (@default $kind:ident $($default:expr),+) => { [$($default),+] };
    (@row $name:ident, Choice([$($choice:literal),+]), $doc:literal) => {
        super::value::ShadingValue {
            name: stringify!($name),
            linear_key: concat!("linear_", stringify!($name)),
            kind: super::value::ValueKind::Choice(&[$($choice),+]),
            default: [0.0; 4],
            min: 0.0,
            max: ([$($choice),+].len() - 1) as f32,
            doc: $doc,
        }
    };
    (
        @row $name:ident, $kind:ident, [$($default:expr),+], $min:literal, $max:expr, $doc:literal
    ) => {
        super::value::ShadingValue {
            name: stringify!($name),
            linear_key: concat!("linear_", stringify!($name)),
            kind: super::value::ValueKind::$kind,
            default: super::value::padded(&[$($default),+]),
            min: $min,
            max: $max,
            doc: $doc,
        }
    };
}
pub(super) use shading_values;

/// Returns the components of a default, with zeros behind them.
pub const fn padded(components: &[f32]) -> [f32; 4] {
    let mut all = [0.0; 4];
    let mut i = 0;
    while i < components.len() {
        all[i] = components[i];
        i += 1;
    }
    all
}
