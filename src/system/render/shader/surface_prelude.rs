//! The engine's part of the modules of games' surface functions: the shaders of lit meshes and of
//! their shadows (src/system/render/forward), in which every name except those of the interface
//! begins with `engine_`. So a game's file may use any other name. Checks nothing.

use super::nesting_limits::{WgslLexer, WgslTokenKind};
use crate::shader_sources::{MeshVariant, mesh_source};
use engine_resource::material_data::SurfaceFunctions;
use std::collections::HashSet;
use std::sync::OnceLock;

/// The declarations that a game's file refers to, without anything that calls it.
pub const INTERFACE: &str = include_str!("../forward/surface_interface.wgsl");
/// The names that a game's file refers to or declares.
const INTERFACE_NAMES: [&str; 9] = [
    "final_color",
    "SurfaceIn",
    "SurfaceOut",
    "VertexIn",
    "frame",
    "from_tangent_space",
    "surface",
    "vertex_offset",
    "paint",
];
/// The prefix of all other names.
const PREFIX: &str = "engine_";
/// The signatures of the functions that a game declares.
pub const SURFACE_SIGNATURE: &str = "fn surface(in: SurfaceIn) -> SurfaceOut";
pub const COLOR_SIGNATURE: &str = "fn final_color(in: SurfaceIn, color: vec3f) -> vec3f";
pub const VERTEX_SIGNATURE: &str = "fn vertex_offset(in: VertexIn) -> vec3f";

const DEFAULT_SURFACE: &str = "fn surface(in: SurfaceIn) -> SurfaceOut { return in.base; }\n";
const DEFAULT_COLOR: &str =
    "fn final_color(in: SurfaceIn, color: vec3f) -> vec3f { return color; }\n";
const DEFAULT_OFFSET: &str = "fn vertex_offset(in: VertexIn) -> vec3f { return vec3f(0.0); }\n";

/// The fields of `SurfaceOut` that need pipelines with more lobes than the standard ones.
const LOBES: [&str; 11] = [
    "clear_coat",
    "clear_coat_roughness",
    "sheen_color",
    "sheen_roughness",
    "anisotropy",
    "anisotropy_rotation",
    "ior",
    "specular",
    "specular_color",
    "transmission",
    "thickness",
];

/// The pass that a module is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SurfacePass {
    Light,
    /// The light of surfaces that let light through.
    Transmission,
    ShadowMap,
    /// Motion vectors of moved meshes.
    Motion,
    /// Values of surfaces in place of their light.
    Debug,
}

/// Returns the names that a text declares outside of functions, and the functions among them.
fn declared(text: &str) -> Vec<(&str, bool)> {
    let mut all = Vec::new();
    let (mut depth, mut template, mut declares, mut is_function) = (0i32, false, false, false);
    let mut lexer = WgslLexer::new(text);
    while let Some(token) = lexer.next() {
        match token.text {
            "{" | "(" | "[" => depth += 1,
            "}" | ")" | "]" => depth -= 1,
            // As in `var<private>`.
            "<" if declares => template = true,
            ">" => template = false,
            "fn" | "struct" | "const" | "override" | "alias" | "var" if depth == 0 => {
                (declares, is_function) = (true, token.text == "fn");
            }
            name if declares && !template && token.kind == WgslTokenKind::Word => {
                all.push((name, is_function));
                declares = false;
            }
            _ => {}
        }
    }
    all
}

/// Returns the surface functions that a game's file declares; `None`: it is a shader for pictures.
pub fn functions(source: &str) -> Option<SurfaceFunctions> {
    let all = declared(source);
    let has = |name: &str| all.contains(&(name, true));
    let (surface, vertex_offset) = (has("surface"), has("vertex_offset"));
    let final_color = has("final_color");
    if has("paint") || !(surface || vertex_offset || final_color) {
        return None;
    }
    let fields = fields(source);
    let lobes = fields.iter().any(|name| LOBES.contains(name));
    let transmission = fields.contains(&"transmission");
    Some(SurfaceFunctions { surface, vertex_offset, final_color, lobes, transmission })
}

/// Returns the names of all fields that a text reads or sets.
fn fields(text: &str) -> Vec<&str> {
    let (mut all, mut before) = (Vec::new(), "");
    let mut lexer = WgslLexer::new(text);
    while let Some(token) = lexer.next() {
        if before == "." {
            all.push(token.text);
        }
        before = token.text;
    }
    all
}

/// Adds the prefix to all declared names of a text. Members of structs keep theirs.
fn prefixed(text: &str) -> String {
    let names: HashSet<&str> = declared(text)
        .into_iter()
        .map(|(name, _)| name)
        .filter(|name| {
            !INTERFACE_NAMES.contains(name) && !name.to_lowercase().starts_with("engine")
        })
        .collect();
    let mut out = String::with_capacity(text.len() * 5 / 4);
    let (mut copied, mut before, mut in_struct, mut depth) = (0, "", false, 0i32);
    let mut lexer = WgslLexer::new(text);
    let mut next = lexer.next();
    while let Some(token) = next {
        next = lexer.next();
        match token.text {
            "struct" if depth == 0 => in_struct = true,
            "{" => depth += 1,
            "}" => {
                depth -= 1;
                in_struct &= depth > 0;
            }
            _ => {}
        }
        let declares_member =
            in_struct && depth > 0 && next.is_some_and(|following| following.text == ":");
        if names.contains(token.text) && !matches!(before, "." | "@") && !declares_member {
            out += &text[copied..token.at];
            out += PREFIX;
            copied = token.at;
        }
        before = token.text;
    }
    out + &text[copied..]
}

/// Returns the engine's part for a pass, without the functions that a game's file may lack.
fn part(pass: SurfacePass) -> &'static str {
    static PARTS: [OnceLock<String>; 5] = [const { OnceLock::new() }; 5];
    let (index, name, variant) = match pass {
        SurfacePass::Light => (0, "mesh", MeshVariant::Plain),
        SurfacePass::ShadowMap => (1, "shadow", MeshVariant::Plain),
        SurfacePass::Transmission => (2, "mesh", MeshVariant::Transmission),
        SurfacePass::Motion => (4, "object_motion", MeshVariant::Plain),
        SurfacePass::Debug => (3, "mesh", MeshVariant::Debug),
    };
    PARTS[index].get_or_init(|| prefixed(&mesh_source(name, true, variant)))
}

/// Returns the engine's part that follows a game's file.
pub fn prelude(functions: SurfaceFunctions, pass: SurfacePass) -> String {
    let surface = if functions.surface { "" } else { DEFAULT_SURFACE };
    let offset = if functions.vertex_offset { "" } else { DEFAULT_OFFSET };
    // Shadow maps and motion vectors have no colors.
    let is_colored = !matches!(pass, SurfacePass::ShadowMap | SurfacePass::Motion);
    let has_color = functions.final_color || !is_colored;
    let color = if has_color { "" } else { DEFAULT_COLOR };
    [surface, offset, color, part(pass)].concat()
}

/// Returns the whole module of a game's file for a pass.
pub fn module(source: &str, functions: SurfaceFunctions, pass: SurfacePass) -> String {
    [source, "\n", &prelude(functions, pass)].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_outside_of_the_interface_get_a_prefix() {
        let text = "struct Point { at: vec3f, far: Far }\nvar<private> far: f32;\n\
            @vertex fn vertex(point: Point) -> Far { let at = point.far + far; \
            return surface(at); }";
        assert_eq!(
            prefixed(text),
            "struct engine_Point { at: vec3f, far: Far }\nvar<private> engine_far: f32;\n\
             @vertex fn engine_vertex(point: engine_Point) -> Far { let at = point.far + \
             engine_far; return surface(at); }"
        );
    }

    #[test]
    fn the_prefix_makes_no_two_names_equal() {
        let file = "fn surface(in: SurfaceIn) -> SurfaceOut { return in.base; }";
        let of_file = functions(file).expect("it has surface functions");
        let passes = [SurfacePass::Light, SurfacePass::Transmission, SurfacePass::Debug];
        for pass in passes.into_iter().chain([SurfacePass::ShadowMap]) {
            let whole = module(file, of_file, pass);
            if let Err(error) = wgpu::naga::front::wgsl::parse_str(&whole) {
                panic!("{pass:?}: {}", error.emit_to_string(&whole));
            }
        }
    }

    #[test]
    fn files_for_meshes_are_known_by_their_functions() {
        let both =
            SurfaceFunctions { surface: true, vertex_offset: true, ..SurfaceFunctions::default() };
        let file = "// fn paint(in: Paint)\nconst A = 1 < 2;
            fn surface(in: SurfaceIn) -> SurfaceOut { return in.base; }
            fn vertex_offset(in: VertexIn) -> vec3f { return vec3f(0.0); }";
        assert_eq!(functions(file), Some(both));
        let glass =
            file.replace("return in.base", "var o = in.base; o.transmission = 1.0; return o");
        assert_eq!(
            functions(&glass),
            Some(SurfaceFunctions { lobes: true, transmission: true, ..both })
        );
        assert_eq!(functions("fn other() { let surface = 1; }"), None);
        let helper = "fn surface() {} fn paint(in: Paint) -> vec4f { return in.base; }";
        assert_eq!(functions(helper), None);
    }
}
