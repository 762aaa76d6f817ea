//! Size limits of a shader's values, checked after it is parsed. The shader writers of graphics
//! interfaces emit a zero for each number of a variable that the shader does not set, so a short
//! text can become a long one.

use engine_foundation::Error;
use engine_foundation::error;
use wgpu::naga::{AddressSpace, Arena, Expression, Handle, Module, Span, Type};

/// The most bytes of a variable, a constant or a value.
pub const VALUE_BYTES_MAX: u32 = 64 << 10;
/// The most bytes of all of them together.
pub const VALUES_BYTES_MAX: u64 = 1 << 20;

/// A value that exceeds a limit, and its position in the text.
pub struct SizeExceeded {
    pub at: Span,
    pub message: String,
}

/// Returns the error for a type whose size exceeds what the parser can count.
pub fn size_overflow_error(path: &str) -> Error {
    error!(
        "{path}: a value takes more bytes, and {VALUE_BYTES_MAX} is the most (VALUE_BYTES_MAX): \
         use a texture"
    )
}

/// Checks all values of a shader.
pub fn check(module: &Module) -> Result<(), SizeExceeded> {
    let mut sizes = SizeChecker { module, all: 0 };
    for (handle, global) in module.global_variables.iter() {
        let shared = matches!(global.space, AddressSpace::Private | AddressSpace::WorkGroup);
        let span = module.global_variables.get_span(handle);
        // Variables of materials have other limits.
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

struct SizeChecker<'a> {
    module: &'a Module,
    all: u64,
}

impl SizeChecker<'_> {
    fn expressions(&mut self, expressions: &Arena<Expression>) -> Result<(), SizeExceeded> {
        for (handle, expression) in expressions.iter() {
            if let Expression::ZeroValue(ty) | Expression::Compose { ty, .. } = expression {
                self.add(*ty, None, expressions.get_span(handle))?;
            }
        }
        Ok(())
    }

    fn add(&mut self, ty: Handle<Type>, name: Option<&str>, at: Span) -> Result<(), SizeExceeded> {
        let size = self.module.types[ty].inner.try_size(self.module.to_ctx());
        let noun = name.map_or_else(|| "this value".to_string(), |name| format!("'{name}'"));
        let Some(size) = size.filter(|size| *size <= VALUE_BYTES_MAX) else {
            let has = size.map_or_else(|| "more".to_string(), |size| format!("{size}"));
            let message = format!(
                "{noun} takes {has} bytes, and {VALUE_BYTES_MAX} is the most (VALUE_BYTES_MAX): \
                 use a texture"
            );
            return Err(SizeExceeded { at, message });
        };
        self.all += u64::from(size);
        if self.all > VALUES_BYTES_MAX {
            let message = format!(
                "with {noun}, variables and values take more than {VALUES_BYTES_MAX} bytes \
                 together (VALUES_BYTES_MAX): use fewer or smaller ones"
            );
            return Err(SizeExceeded { at, message });
        }
        Ok(())
    }
}
