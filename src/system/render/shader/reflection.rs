//! The check of a game's WGSL together with the engine's part, and its reflection. The game's part
//! comes first, so that its lines and columns are those of the file.

use super::nesting_limits::{self, LimitExceeded};
use super::size_limits;
use super::surface_prelude::{
    COLOR_SIGNATURE, INTERFACE, SURFACE_SIGNATURE, SurfacePass, VERTEX_SIGNATURE, functions, module,
};
use super::{
    EnginePart, MATERIAL_GROUP, PAINT_PART, TEXTURES_MAX, VARIABLES, sampler_binding,
    texture_binding,
};
use engine_foundation::compact_sort::CompactSort;
use engine_foundation::error;
use engine_foundation::suggest::nearest;
use engine_foundation::{DEVELOPMENT, Error, panic};
use engine_resource::material_data::{
    ShaderData, ShaderVariable, ShaderVariableType, SurfaceFunctions,
};
use wgpu::naga::front::wgsl;
use wgpu::naga::valid::{Capabilities, ValidationFlags, Validator};
use wgpu::naga::{
    AddressSpace, GlobalVariable, Handle, ImageClass, ImageDimension, Module, ScalarKind, Span,
    Type, TypeInner, VectorSize,
};

/// The most bytes of a shader's file.
pub const SOURCE_BYTES_MAX: usize = 1 << 20;
/// The most bytes of a shader's block of variables: every adapter supports this size.
pub const VARIABLE_BYTES_MAX: u32 = 16384;

/// Checks the file of a material's shader and reflects it. Errors begin with `path:line:column:`.
pub fn check(path: &str, source: &str) -> Result<ShaderData, Error> {
    check_with(path, source, &PAINT_PART)
}

/// Checks and reflects a shader's file that a part of the engine completes.
pub fn check_with(path: &str, source: &str, part: &EnginePart) -> Result<ShaderData, Error> {
    if !DEVELOPMENT {
        return Err(error!("{path}: this executable of the engine has no compiler of shaders"));
    }
    if source.len() > SOURCE_BYTES_MAX {
        return Err(error!("{path}: the shader is longer than 1 MiB (SOURCE_BYTES_MAX)"));
    }
    let Some(functions) = functions(source) else {
        let whole = format!("{source}\n{}", part.source);
        let head = part.source.split(part.callers).next().expect("there is a first part");
        let file = ShaderFile { path, source, whole: &whole, head, part, surface: None };
        let data = checked(&file)?;
        return Ok(ShaderData { source: whole, ..data });
    };
    let surface = Some(functions);
    let mut data = ShaderData::default();
    let transmission = functions.transmission.then_some(SurfacePass::Transmission);
    for pass in [SurfacePass::Light, SurfacePass::ShadowMap].into_iter().chain(transmission) {
        let whole = module(source, functions, pass);
        let file = ShaderFile { path, source, whole: &whole, head: INTERFACE, part, surface };
        data = checked(&file)?;
    }
    Ok(ShaderData { source: source.to_string(), surface, ..data })
}

/// Checks a file together with one of the engine's parts.
fn checked(file: &ShaderFile) -> Result<ShaderData, Error> {
    nesting_limits::check(file.whole).map_err(|excess| file.exceeds(&excess))?;
    let data = panic::run_with_stack("shader", nesting_limits::STACK_BYTES, || parse(file));
    // A panic is reported with the shader's name, for its author.
    data.flatten().map_err(|error| match error.is_transient {
        true => Error { message: format!("{}: {}", file.path, error.message), ..error },
        false => error,
    })
}

/// Parses, reflects and validates a file. It needs a large stack.
fn parse(file: &ShaderFile) -> Result<ShaderData, Error> {
    let module = wgsl::parse_str(file.whole).map_err(|error| file.unparsed(&error))?;
    file.entry(&module)?;
    let data = file.reflect(&module)?;
    size_limits::check(&module).map_err(|error| file.error_at(&[error.at], &error.message))?;
    let mut validator = Validator::new(ValidationFlags::all(), Capabilities::empty());
    validator.validate(&module).map_err(|error| {
        let inner: &dyn std::error::Error = error.as_inner();
        let spans: Vec<Span> = error.spans().map(|(span, _)| *span).collect();
        let message = simplify_message(&chain(inner));
        file.of_vertex(&module, &message).unwrap_or_else(|| file.error_at(&spans, &message))
    })?;
    Ok(data)
}

/// Returns an error's message with those of its causes.
fn chain(error: &dyn std::error::Error) -> String {
    let mut message = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        message += &format!(": {cause}");
        next = cause.source();
    }
    message.trim_end_matches('.').to_string()
}

/// Returns the validator's message without the numbers of its own tables, and with WGSL's type
/// names.
fn simplify_message(message: &str) -> String {
    let mut message = message.to_string();
    for (kind, width, name) in
        [("Float", 4, "f32"), ("Sint", 4, "i32"), ("Uint", 4, "u32"), ("Bool", 1, "bool")]
    {
        let scalar = format!("Scalar {{ kind: {kind}, width: {width} }}");
        for (size, count) in [("Bi", 2), ("Tri", 3), ("Quad", 4)] {
            let vector = format!("Vector {{ size: {size}, scalar: {scalar} }}");
            message = message.replace(&vector, &format!("vec{count}<{name}>"));
        }
        message = message.replace(&format!("Scalar({scalar})"), name).replace(&scalar, name);
    }
    let mut out = String::new();
    let mut rest = &message[..];
    // `[12] (of type f32)` becomes `f32`; other numbers in brackets are removed.
    while let Some(start) = rest.find('[') {
        let Some(length) = rest[start..].find(']') else { break };
        let number = &rest[start + 1..start + length];
        if number.is_empty() || !number.bytes().all(|byte| byte.is_ascii_digit()) {
            out += &rest[..start + length + 1];
            rest = &rest[start + length + 1..];
            continue;
        }
        out += &rest[..start];
        rest = rest[start + length + 1..].trim_start();
        if let Some(inner) = rest.strip_prefix("(of type ")
            && let Some(end) = inner.find(')')
        {
            out += &inner[..end];
            rest = &inner[end + 1..];
        }
    }
    out += rest;
    for (long, short) in [("Expression is invalid: ", ""), ("Function ", "function ")] {
        out = out.replace(long, short);
    }
    out
}

struct ShaderFile<'a> {
    path: &'a str,
    source: &'a str,
    whole: &'a str,
    /// The engine's part without the functions that call the file's own.
    head: &'a str,
    /// The part that the engine adds to a shader without surface functions.
    part: &'a EnginePart,
    /// The functions of a shader for meshes.
    surface: Option<SurfaceFunctions>,
}

impl ShaderFile<'_> {
    /// Returns line and column of a position in the file, both from 1; `None` if it is in the
    /// engine's part.
    fn line_and_column(&self, span: Span) -> Option<(usize, usize)> {
        let start = span.to_range()?.start;
        let before = self.source.get(..start)?;
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or("").chars().count() + 1;
        Some((line, column))
    }

    /// Returns an error at the narrowest of the spans that are in the file.
    fn error_at(&self, spans: &[Span], message: &str) -> Error {
        let known = spans.iter().filter(|span| self.line_and_column(**span).is_some());
        let narrow = known.min_by_key(|span| span.to_range().map(|range| range.len()));
        match narrow.and_then(|span| self.line_and_column(*span)) {
            Some((line, column)) => error!("{}:{line}:{column}: {message}", self.path),
            None => error!("{}: {message}", self.path),
        }
    }

    fn exceeds(&self, excess: &LimitExceeded) -> Error {
        let location =
            excess.at.and_then(|at| self.line_and_column(Span::new(at as u32, at as u32 + 1)));
        match location {
            Some((line, column)) => error!("{}:{line}:{column}: {}", self.path, excess.message),
            None => error!("{}: {}", self.path, excess.message),
        }
    }

    fn unparsed(&self, error: &wgsl::ParseError) -> Error {
        let spans: Vec<Span> = error.labels().map(|(span, _)| span).collect();
        let message = error.message().trim_end_matches('.');
        if message.contains("type is too large") {
            return size_limits::size_overflow_error(self.path);
        }
        if !spans.iter().any(|span| self.line_and_column(*span).is_some()) {
            return self.engine_part_error(message);
        }
        let mut full_message = message.to_string();
        for note in error.notes() {
            full_message += &format!("; {note}");
        }
        full_message += &self.hint(message);
        self.error_at(&spans, &full_message)
    }

    /// Returns an error that occurs only in the engine's part.
    fn engine_part_error(&self, message: &str) -> Error {
        let lines = self.source.lines().count().max(1);
        let path = self.path;
        // Without the functions that call `paint`, errors of `paint` itself can be found.
        if let Ok(module) = wgsl::parse_str(&format!("{}\n{}", self.source, self.head))
            && let Err(error) = self.entry(&module)
        {
            return error;
        }
        let name = message.split(['`', '"', '\'']).nth(1).unwrap_or_default();
        if let Some(start) = self.first(name) {
            let message =
                format!("the name '{name}' hides a name of WGSL or of the engine: rename it");
            return self
                .error_at(&[Span::new(start as u32, (start + name.len()) as u32)], &message);
        }
        let (open, closed) = (self.source.matches('{').count(), self.source.matches('}').count());
        if open != closed {
            return error!(
                "{path}:{lines}: at the end of the file, {open} '{{' were opened and {closed} '}}' \
                 closed"
            );
        }
        error!(
            "{path}: the engine's part does not work with it ({message}): does a name in it hide a \
             name of WGSL?"
        )
    }

    /// Returns the position of a name's first occurrence in the file.
    fn first(&self, name: &str) -> Option<usize> {
        let is_name = |c: char| c.is_alphanumeric() || c == '_';
        if name.is_empty() || !name.chars().all(is_name) {
            return None;
        }
        let alone = |at: &usize| {
            let (before, after) = (&self.source[..*at], &self.source[at + name.len()..]);
            !before.ends_with(is_name) && !after.starts_with(is_name)
        };
        self.source.match_indices(name).map(|(at, _)| at).find(alone)
    }

    /// Returns a suggestion for the unknown name in an error message, or an empty text.
    fn hint(&self, message: &str) -> String {
        let unknown = message.contains("no definition") || message.contains("unknown");
        let Some(word) = message.split(['`', '\'']).nth(1).filter(|_| unknown) else {
            return String::new();
        };
        let is_name = |c: char| c.is_alphanumeric() || c == '_';
        let known = self.whole.split(|c| !is_name(c)).chain(BUILT_IN.iter().copied());
        let known =
            known.filter(|name| *name != word && !name.starts_with("engine_") && name.len() > 1);
        match nearest(word, known) {
            Some(name) => format!(", did you mean '{name}'?"),
            None => String::new(),
        }
    }

    /// Returns the error for a function of vertices that only pixels can call.
    fn of_vertex(&self, module: &Module, message: &str) -> Option<Error> {
        self.surface.filter(|found| found.vertex_offset)?;
        let mut all = module.functions.iter();
        let is_own = |f: &wgpu::naga::Function| f.name.as_deref() == Some("vertex_offset");
        let (handle, _) = all.find(|(_, function)| is_own(function))?;
        let span = module.functions.get_span(handle);
        let own = "'vertex_offset' calls a function that only works for pixels, such as \
                   textureSample: call textureSampleLevel";
        message.contains("forbidden at this stage").then(|| self.error_at(&[span], own))
    }

    /// Checks the functions that the engine calls.
    fn entry(&self, module: &Module) -> Result<(), Error> {
        use ShaderVariableType::{Vector3, Vector4};
        let signature = match self.surface {
            None => {
                let EnginePart { signature, input, .. } = *self.part;
                self.function(module, "paint", signature, (&[input][..], Err(Vector4)))?;
                signature
            }
            Some(found) => {
                if found.surface {
                    let types = (&["SurfaceIn"][..], Ok("SurfaceOut"));
                    self.function(module, "surface", SURFACE_SIGNATURE, types)?;
                }
                if found.final_color {
                    let types = (&["SurfaceIn", ""][..], Err(Vector3));
                    self.function(module, "final_color", COLOR_SIGNATURE, types)?;
                }
                if found.vertex_offset {
                    let types = (&["VertexIn"][..], Err(Vector3));
                    self.function(module, "vertex_offset", VERTEX_SIGNATURE, types)?;
                }
                SURFACE_SIGNATURE
            }
        };
        for point in &module.entry_points {
            if !point.name.starts_with("engine_") {
                return Err(error!(
                    "{}: '{}' is an entry point, and the engine has its own: declare {signature} \
                     instead",
                    self.path, point.name
                ));
            }
        }
        Ok(())
    }

    /// Checks a function's parameters, which are structs, except for a vector of three numbers
    /// (""), and its result: a struct's name, or a vector.
    fn function(
        &self,
        module: &Module,
        name: &str,
        signature: &str,
        (parameters, result): (&[&str], Result<&str, ShaderVariableType>),
    ) -> Result<(), Error> {
        let found = module.functions.iter().find(|(_, f)| f.name.as_deref() == Some(name));
        let Some((handle, function)) = found else {
            let path = self.path;
            return Err(error!(
                "{path}: there is no function '{name}': a shader declares {signature}"
            ));
        };
        let name_of = |ty: Handle<Type>| module.types[ty].name.as_deref();
        let is = |ty: Handle<Type>, wanted: &str| match wanted {
            "" => kind_of(&module.types[ty].inner) == Some(ShaderVariableType::Vector3),
            name => name_of(ty) == Some(name),
        };
        let takes = function.arguments.len() == parameters.len()
            && function.arguments.iter().zip(parameters).all(|(it, wanted)| is(it.ty, wanted));
        let returns = function.result.as_ref().is_some_and(|found| match result {
            Ok(name) => name_of(found.ty) == Some(name),
            Err(kind) => kind_of(&module.types[found.ty].inner) == Some(kind),
        });
        if takes && returns {
            return Ok(());
        }
        let span = module.functions.get_span(handle);
        Err(self.error_at(&[span], &format!("'{name}' must be {signature} {{ … }}")))
    }

    fn reflect(&self, module: &Module) -> Result<ShaderData, Error> {
        let mut data = ShaderData::default();
        let mut textures: Vec<(u32, String, Span)> = Vec::new();
        let mut samplers: Vec<(u32, String, Span)> = Vec::new();
        for (handle, global) in module.global_variables.iter() {
            let span = module.global_variables.get_span(handle);
            if self.line_and_column(span).is_none() {
                continue;
            }
            let Some(binding) = &global.binding else {
                self.without_binding(global, span)?;
                continue;
            };
            let name = global.name.clone().unwrap_or_default();
            if binding.group != MATERIAL_GROUP {
                return Err(self.error_at(
                    &[span],
                    &format!(
                        "'{name}' is in group {}, and a shader's own group is {MATERIAL_GROUP}: \
                         @group({MATERIAL_GROUP})",
                        binding.group
                    ),
                ));
            }
            match &module.types[global.ty].inner {
                TypeInner::Image {
                    dim: ImageDimension::D2,
                    arrayed: false,
                    class: ImageClass::Sampled { kind: ScalarKind::Float, multi: false },
                } => textures.push((binding.binding, name, span)),
                TypeInner::Sampler { comparison: false } => {
                    samplers.push((binding.binding, name, span))
                }
                _ if global.space == AddressSpace::Uniform => {
                    self.block(module, global, binding.binding, span, &mut data)?
                }
                _ => {
                    return Err(self.error_at(
                        &[span],
                        &format!(
                            "'{name}' is of a kind that materials cannot set: they set one \
                             var<uniform>, texture_2d<f32> and sampler"
                        ),
                    ));
                }
            }
        }
        self.add_textures(textures, samplers, &mut data)?;
        Ok(data)
    }

    fn without_binding(&self, global: &GlobalVariable, span: Span) -> Result<(), Error> {
        let own = matches!(global.space, AddressSpace::Private | AddressSpace::WorkGroup);
        if own {
            return Ok(());
        }
        let name = global.name.as_deref().unwrap_or_default();
        Err(self.error_at(
            &[span],
            &format!(
                "'{name}' has no binding: write @group({MATERIAL_GROUP}) @binding(n) before it, \
                 with n = {VARIABLES} for the block of variables, 1, 3, 5 … for textures and 2, \
                 4, 6 … for their samplers"
            ),
        ))
    }

    /// Reflects the block of variables.
    fn block(
        &self,
        module: &Module,
        global: &GlobalVariable,
        binding: u32,
        span: Span,
        data: &mut ShaderData,
    ) -> Result<(), Error> {
        let name = global.name.as_deref().unwrap_or_default();
        if binding != VARIABLES {
            let message = format!(
                "the block of variables '{name}' is at binding {binding}, and must be at \
                 {VARIABLES}"
            );
            return Err(self.error_at(&[span], &message));
        }
        let TypeInner::Struct { members, span: size } = &module.types[global.ty].inner else {
            let message = format!("'{name}' must be a struct, whose members are the variables");
            return Err(self.error_at(&[span], &message));
        };
        if *size > VARIABLE_BYTES_MAX {
            let message = format!(
                "the block of variables '{name}' has {size} bytes, and {VARIABLE_BYTES_MAX} is the \
                 most (VARIABLE_BYTES_MAX)"
            );
            return Err(self.error_at(&[span], &message));
        }
        data.variable_bytes = size.next_multiple_of(16);
        for member in members {
            let member_name = member.name.clone().unwrap_or_default();
            let Some(kind) = kind_of(&module.types[member.ty].inner) else {
                let span = module.types.get_span(global.ty);
                let message = format!(
                    "the variable '{member_name}' is of a type that materials cannot set: use f32, \
                     i32, u32, vec2f, vec3f, vec4f or mat4x4f"
                );
                return Err(self.error_at(&[span], &message));
            };
            data.variables.push(ShaderVariable { name: member_name, kind, offset: member.offset });
        }
        Ok(())
    }

    /// Sorts textures by their indices, each followed by its sampler.
    fn add_textures(
        &self,
        mut textures: Vec<(u32, String, Span)>,
        samplers: Vec<(u32, String, Span)>,
        data: &mut ShaderData,
    ) -> Result<(), Error> {
        textures.sort_compact_by_key(|texture| texture.0);
        for (index, (binding, name, span)) in textures.into_iter().enumerate() {
            let index = index as u32;
            if index == TEXTURES_MAX {
                let message =
                    format!("a shader has at most {TEXTURES_MAX} textures (TEXTURES_MAX)");
                return Err(self.error_at(&[span], &message));
            }
            let wanted = texture_binding(index);
            if binding != wanted {
                let message = format!(
                    "the texture '{name}' is at binding {binding}, and must be at {wanted}: \
                     textures are at 1, 3, 5 … in order, their samplers after them"
                );
                return Err(self.error_at(&[span], &message));
            }
            if !samplers.iter().any(|sampler| sampler.0 == sampler_binding(index)) {
                let message = format!(
                    "the texture '{name}' has no sampler: add @group({MATERIAL_GROUP}) \
                    @binding({}) var {name}_sampler: sampler;",
                    sampler_binding(index)
                );
                return Err(self.error_at(&[span], &message));
            }
            data.textures.push(name);
        }
        for (binding, name, span) in samplers {
            let of_one = (0..data.textures.len() as u32).any(|p| sampler_binding(p) == binding);
            if !of_one {
                let message = format!(
                    "the sampler '{name}' is at binding {binding}, and must be right after its \
                     texture: 2, 4, 6 …"
                );
                return Err(self.error_at(&[span], &message));
            }
        }
        Ok(())
    }
}

/// Returns the type of a variable that materials can set.
fn kind_of(inner: &TypeInner) -> Option<ShaderVariableType> {
    let float = |scalar: &wgpu::naga::Scalar| scalar.kind == ScalarKind::Float && scalar.width == 4;
    Some(match inner {
        TypeInner::Scalar(scalar) if float(scalar) => ShaderVariableType::Scalar,
        TypeInner::Scalar(s) if s.kind == ScalarKind::Sint && s.width == 4 => {
            ShaderVariableType::Integer
        }
        TypeInner::Scalar(s) if s.kind == ScalarKind::Uint && s.width == 4 => {
            ShaderVariableType::Unsigned
        }
        TypeInner::Vector { size, scalar } if float(scalar) => match size {
            VectorSize::Bi => ShaderVariableType::Vector2,
            VectorSize::Tri => ShaderVariableType::Vector3,
            VectorSize::Quad => ShaderVariableType::Vector4,
        },
        TypeInner::Matrix { columns: VectorSize::Quad, rows: VectorSize::Quad, scalar }
            if float(scalar) =>
        {
            ShaderVariableType::Matrix4x4
        }
        _ => return None,
    })
}

/// Built-in names of WGSL that are often mistyped.
const BUILT_IN: [&str; 40] = [
    "abs",
    "acos",
    "asin",
    "atan",
    "atan2",
    "ceil",
    "clamp",
    "cos",
    "cross",
    "degrees",
    "distance",
    "dot",
    "exp",
    "exp2",
    "floor",
    "fract",
    "length",
    "log",
    "max",
    "min",
    "mix",
    "normalize",
    "pow",
    "radians",
    "reflect",
    "round",
    "saturate",
    "select",
    "sign",
    "sin",
    "smoothstep",
    "sqrt",
    "step",
    "tan",
    "textureSample",
    "textureSampleLevel",
    "textureDimensions",
    "vec2f",
    "vec3f",
    "vec4f",
];
