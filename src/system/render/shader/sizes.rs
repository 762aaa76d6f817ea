//! Limits of a shader's values, checked when it is parsed. Writers for graphics interfaces put a
//! zero for each number of a variable that the shader does not set, so a short text can become a
//! long one.

use crate::error;
use crate::foundation::Error;
use wgpu::naga::{AddressSpace, Arena, Expression, Handle, Module, Span, Type};

/// The most bytes of a variable, a constant or a value.
pub const VALUE_BYTES_MAX: u32 = 64 << 10;
/// The most bytes of all of them together.
pub const VALUES_BYTES_MAX: u64 = 1 << 20;

/// What is too large, and where it is in the text.
pub struct TooLarge {
    pub at: Span,
    pub message: String,
}

/// The error for a type whose size the parser cannot even count.
pub fn uncountable(path: &str) -> Error {
    error!(
        "{path}: a value takes more bytes, and {VALUE_BYTES_MAX} is the most (VALUE_BYTES_MAX): \
         use a texture"
    )
}

/// Checks all values of a shader.
pub fn check(module: &Module) -> Result<(), TooLarge> {
    let mut sizes = Sizes { module, all: 0 };
    for (handle, global) in module.global_variables.iter() {
        let shared = matches!(global.space, AddressSpace::Private | AddressSpace::WorkGroup);
        let span = module.global_variables.get_span(handle);
        // Those of materials have limits of their own.
        if shared {
            sizes.add(global.ty, global.name.as_deref(), span)?;
        }
    }
    for (handle, constant) in module.constants.iter() {
        let span = module.constants.get_span(handle);
        sizes.add(constant.ty, constant.name.as_deref(), span)?;
    }
    sizes.expressions(&module.global_expressions)?;
    let points = module.entry_points.iter().map(|point| &point.function);
    for function in module.functions.iter().map(|(_, function)| function).chain(points) {
        for (handle, local) in function.local_variables.iter() {
            let span = function.local_variables.get_span(handle);
            sizes.add(local.ty, local.name.as_deref(), span)?;
        }
        sizes.expressions(&function.expressions)?;
    }
    Ok(())
}

struct Sizes<'a> {
    module: &'a Module,
    all: u64,
}

impl Sizes<'_> {
    fn expressions(&mut self, expressions: &Arena<Expression>) -> Result<(), TooLarge> {
        for (handle, expression) in expressions.iter() {
            if let Expression::ZeroValue(ty) | Expression::Compose { ty, .. } = expression {
                self.add(*ty, None, expressions.get_span(handle))?;
            }
        }
        Ok(())
    }

    fn add(&mut self, ty: Handle<Type>, name: Option<&str>, at: Span) -> Result<(), TooLarge> {
        let size = self.module.types[ty].inner.try_size(self.module.to_ctx());
        let what = name.map_or_else(|| "this value".to_string(), |name| format!("'{name}'"));
        let Some(size) = size.filter(|size| *size <= VALUE_BYTES_MAX) else {
            let has = size.map_or_else(|| "more".to_string(), |size| format!("{size}"));
            let message = format!(
                "{what} takes {has} bytes, and {VALUE_BYTES_MAX} is the most (VALUE_BYTES_MAX): \
                 use a texture"
            );
            return Err(TooLarge { at, message });
        };
        self.all += u64::from(size);
        if self.all > VALUES_BYTES_MAX {
            let message = format!(
                "with {what}, variables and values take more than {VALUES_BYTES_MAX} bytes \
                 together (VALUES_BYTES_MAX): use fewer or smaller ones"
            );
            return Err(TooLarge { at, message });
        }
        Ok(())
    }
}
