//! Tests of the compiler of shaders and materials, with expected error messages.

use super::*;
use engine_resource::material_data::{MaterialData, ShaderData, ShaderVariableType};
use engine_resource::resource_name::ResourceName;

const WAVE: &str = "struct Variables { speed: f32, tint: vec4f }
@group(2) @binding(0) var<uniform> variables: Variables;
@group(2) @binding(1) var noise: texture_2d<f32>;
@group(2) @binding(2) var noise_sampler: sampler;

fn paint(in: Paint) -> vec4f {
    let at = in.uv + frame.seconds * variables.speed;
    return in.base * variables.tint * textureSample(noise, noise_sampler, at).r;
}
";

#[track_caller]
fn refused(source: &str, message: &str) {
    assert_eq!(check("wave.wgsl", source).unwrap_err().message, message);
}

/// Returns the wave shader with one part replaced by another.
fn with(part: &str, other: &str) -> String {
    assert!(WAVE.contains(part), "{part}");
    WAVE.replace(part, other)
}

#[test]
fn a_shader_is_reflected() {
    let data = check("wave.wgsl", WAVE).unwrap();
    assert_eq!(data.textures, ["noise"]);
    assert_eq!(data.variable_bytes, 32);
    let variables: Vec<_> =
        data.variables.iter().map(|v| (&v.name[..], v.kind, v.offset)).collect();
    let wanted =
        [("speed", ShaderVariableType::Scalar, 0), ("tint", ShaderVariableType::Vector4, 16)];
    assert_eq!(variables, wanted);
    assert_eq!(ShaderData::read(&data.write()).unwrap(), data);
    let plain = check("plain.wgsl", "fn paint(in: Paint) -> vec4f { return in.base; }").unwrap();
    assert_eq!((plain.variable_bytes, plain.textures.len()), (0, 0));
}

#[test]
fn errors_have_lines_and_columns_of_the_file() {
    refused(&with("in.uv + frame", "in.uw + frame"), "wave.wgsl:7:17: invalid field accessor `uw`");
    refused(
        &with("variables.speed;", "variables.speed"),
        "wave.wgsl:8:5: expected `;`, found \"return\"",
    );
    refused(
        &with("textureSample(noise", "textureSampel(noise"),
        "wave.wgsl:8:39: no definition in scope for identifier: `textureSampel`, did you mean \
         'textureSample'?",
    );
    refused(
        &with("in.base * variables.tint", "in.base + 1u"),
        "wave.wgsl:8:22: function 'paint' is invalid: Operation Multiply can't work with u32 and \
         f32",
    );
}

#[test]
fn missing_declarations_are_reported() {
    refused(
        "// nothing\n",
        "wave.wgsl: there is no function 'paint': a shader declares fn paint(in: Paint) -> vec4f",
    );
    refused(
        "fn paint(in: Paint) -> f32 { return 1.0; }",
        "wave.wgsl:1:1: 'paint' must be fn paint(in: Paint) -> vec4f { … }",
    );
    refused(
        "fn paint() -> vec4f { return vec4f(1.0); }",
        "wave.wgsl:1:1: 'paint' must be fn paint(in: Paint) -> vec4f { … }",
    );
    refused(
        &with("    return in.base", "    if true { return in.base"),
        "wave.wgsl:9: at the end of the file, 3 '{' were opened and 2 '}' closed",
    );
    refused(
        &with("@group(2) @binding(2) var noise_sampler: sampler;", ""),
        "wave.wgsl:8:60: no definition in scope for identifier: `noise_sampler`",
    );
}

#[test]
fn names_that_shadow_others_are_reported() {
    refused(
        "var<private> all: f32;\nfn paint(in: Paint) -> vec4f { return in.base; }",
        "wave.wgsl:1:14: the name 'all' hides a name of WGSL or of the engine: rename it",
    );
    refused(
        "fn all() {}\nfn paint(in: Paint) -> vec4f { return in.base; }",
        "wave.wgsl: the engine's part does not work with it (function does not return any value): \
         does a name in it hide a name of WGSL?",
    );
    refused(
        "var<private> frame: f32;\nfn paint(in: Paint) -> vec4f { return in.base; }",
        "wave.wgsl:1:14: redefinition of `frame`",
    );
}

#[test]
fn bindings_must_use_the_material_group() {
    refused(
        &with("@group(2) @binding(0) var<uniform>", "var<uniform>"),
        "wave.wgsl:2:1: 'variables' has no binding: write @group(2) @binding(n) before it, with \
        n = 0 for the block of variables, 1, 3, 5 … for textures and 2, 4, 6 … for their samplers",
    );
    refused(
        &with("@group(2) @binding(0)", "@group(0) @binding(9)"),
        "wave.wgsl:2:23: 'variables' is in group 0, and a shader's own group is 2: @group(2)",
    );
    refused(
        &with("@binding(0)", "@binding(7)"),
        "wave.wgsl:2:23: the block of variables 'variables' is at binding 7, and must be at 0",
    );
    refused(
        &with("@binding(1)", "@binding(4)"),
        "wave.wgsl:3:23: the texture 'noise' is at binding 4, and must be at 1: textures are at 1, \
         3, 5 … in order, their samplers after them",
    );
    refused(
        &with("@binding(2) var noise_sampler", "@binding(6) var noise_sampler"),
        "wave.wgsl:3:23: the texture 'noise' has no sampler: add @group(2) @binding(2) var \
         noise_sampler: sampler;",
    );
    refused(
        &with("speed: f32", "speed: array<vec4f, 2>"),
        "wave.wgsl:1:1: the variable 'speed' is of a type that materials cannot set: use f32, i32, \
         u32, vec2f, vec3f, vec4f or mat4x4f",
    );
    let storage = "@group(2) @binding(0) var<storage> list: array<f32>;\n\
                   fn paint(in: Paint) -> vec4f { return in.base * list[0]; }";
    refused(
        storage,
        "wave.wgsl:1:23: 'list' is of a kind that materials cannot set: they set one var<uniform>, \
         texture_2d<f32> and sampler",
    );
    let entry = "@fragment fn mine() -> @location(0) vec4f { return vec4f(1.0); }\n\
                 fn paint(in: Paint) -> vec4f { return in.base; }";
    refused(
        entry,
        "wave.wgsl: 'mine' is an entry point, and the engine has its own: declare fn paint(in: \
         Paint) -> vec4f instead",
    );
}

/// Compiles a material next to the wave shader.
fn material(text: &str) -> Result<(MaterialData, Vec<String>), String> {
    let read = |path: &str| match path {
        "shaders/wave.wgsl" => Ok(WAVE.as_bytes().to_vec()),
        _ => Err(engine_foundation::error!("{path}: there is no such file")),
    };
    let name = ResourceName::new("material", "m");
    let bytes = text.as_bytes().to_vec();
    let mut compiling =
        CompileContext::new(name, "m.material".into(), SourceForm::Own, bytes, false, &read);
    let data = (MATERIAL.compile)(&mut compiling).map_err(|error| error.message)?;
    let references = compiling.references.iter().map(|name| name.to_string()).collect();
    Ok((MaterialData::read(&data).unwrap(), references))
}

#[track_caller]
fn material_refused(text: &str, message: &str) {
    assert_eq!(material(text).unwrap_err(), message);
}

const WAVES: &str = "shader = \"shaders/wave\"\nblend = \"add\"\ntextures = { noise = \"n\" }\n";

#[test]
fn a_material_lists_its_references() {
    let text = format!(
        "{WAVES}samplers = {{ noise = {{ filter = \"nearest\", wrap = \"repeat\" }} }}\n\
         variables = {{ speed = 2, tint = \"#ffffff80\" }}"
    );
    let (data, references) = material(&text).unwrap();
    assert_eq!(references, ["shaders/wave.shader", "n.texture"]);
    assert_eq!((data.blend, data.textures[0].filter, data.textures[0].wrap), (1, Some(1), Some(1)));
    let half = 128.0 / 255.0;
    assert_eq!(data.variables[0], ("speed".to_string(), vec![2.0]));
    assert_eq!(data.variables[1].1, [half, half, half, half], "alpha is multiplied in");
    let (data, references) = material("texture = \"ship\"\nblend = \"replace\"").unwrap();
    assert_eq!((data.texture.as_deref(), data.blend), (Some("ship"), 3));
    assert_eq!(references, ["ship.texture"]);
}

#[test]
fn errors_in_materials_have_location_and_reason() {
    material_refused(
        "shadre = \"a\"",
        "m.material:1: unknown key 'shadre', did you mean 'shader'?",
    );
    material_refused(
        "blend = \"ad\"",
        "m.material:1: 'blend' must be one of \"alpha\", \"add\", \"multiply\", \"replace\", \
         \"premultiplied\", got \
         \"ad\", did you mean 'add'?",
    );
    material_refused(
        "variables = { speed = 1 }",
        "m.material:1: 'variables' belong to a shader, and this material names none: add shader = \
         \"name\", or remove them (the picture that bitmaps show is texture = \"name\")",
    );
    material_refused(
        "shader = \"shaders/wav\"",
        "m.material:1: there is no shader 'shaders/wav': neither shaders/wav.wgsl nor \
         shaders/wav.shader",
    );
    material_refused(
        "shader = \"shaders/wave\"",
        "m.material:1: the shader 'shaders/wave' has a texture 'noise': textures = { noise = \
         \"name\" }",
    );
    let more = |text: &str| format!("{WAVES}{text}");
    material_refused(
        &more("variables = { sped = 2 }"),
        "m.material:4: the shader 'shaders/wave' has no variable 'sped', did you mean 'speed'?",
    );
    material_refused(
        &more("variables = { tint = [1, 1] }"),
        "m.material:4: the variable 'tint' is 4 numbers in the shader 'shaders/wave' (vec4f), \
        got 2 numbers",
    );
    material_refused(
        &more("variables = { tint = true }"),
        "m.material:4: 'tint' must be a number, a list of numbers, or a colour such as \
         \"#ff8000\", got true or false",
    );
    material_refused(
        &more("variables = { tint = \"red\" }"),
        "m.material:4: 'tint' must be numbers, or a colour such as \"#ff8000\"",
    );
    material_refused(
        &more("variables = { speed = 1e39 }"),
        "m.material:4: 'speed' is too large: a shader's numbers end at 3.4028235e38",
    );
    material_refused(
        &more("samplers = { nose = { wrap = \"repeat\" } }"),
        "m.material:4: there is no texture 'nose' in 'textures', did you mean 'noise'?",
    );
    material_refused(
        &more("samplers = { noise = { wrap = \"tile\" } }"),
        "m.material:4: 'wrap' must be one of \"clamp\", \"repeat\", \"mirror\", got \"tile\"",
    );
    material_refused(
        "shader = \"shaders/wave\"\ntextures = { noise = \"n\", foam = \"f\" }",
        "m.material:2: the shader 'shaders/wave' has no texture 'foam'",
    );
}

#[test]
fn invalid_compiled_data_is_refused_like_its_source() {
    let data = check("wave.wgsl", WAVE).unwrap();
    assert_eq!(validate(&data.write()), Ok(()));
    let whole = |source: &str| format!("{source}\n{PRELUDE}");
    let paint = "fn paint(in: Paint) -> vec4f { return in.base; }";
    for (source, message) in [
        (whole(&format!("const A = {}1;\n{paint}", "1 + ".repeat(5000))), "(NESTING_MAX)"),
        (whole(&format!("const A = !array<bool, 2147483647>();\n{paint}")), "(ARRAY_LENGTH_MAX)"),
        (whole("fn paint(in: Paint) -> vec4f { return 1; }"), "it is damaged:1:"),
        (whole(paint), "it has other variables or textures than it says"),
        (WAVE.to_string(), "the engine's part is missing"),
    ] {
        let error = validate(&ShaderData { source, ..data.clone() }.write()).unwrap_err().message;
        assert!(error.starts_with("it is damaged") && error.contains(message), "{error}");
    }
}

const WATER: &str = "struct Variables { height: f32, tint: vec4f }
@group(2) @binding(0) var<uniform> variables: Variables;
@group(2) @binding(1) var noise: texture_2d<f32>;
@group(2) @binding(2) var noise_sampler: sampler;

struct Light { far: f32 }
fn sky(at: vec2f) -> f32 { return textureSample(noise, noise_sampler, at).r; }

fn vertex_offset(in: VertexIn) -> vec3f {
    return vec3f(0.0, 0.0, variables.height * sin(in.world_position.x + frame.seconds));
}

fn surface(in: SurfaceIn) -> SurfaceOut {
    var out = in.base;
    out.base_color *= variables.tint.rgb * sky(in.uv);
    out.normal = from_tangent_space(in, vec3f(0.0, 0.1, 1.0));
    return out;
}
";

#[test]
fn a_shader_of_meshes_may_use_any_name_outside_of_the_interface() {
    let data = check("water.wgsl", WATER).unwrap();
    assert_eq!(data.source, WATER);
    assert_eq!((data.variable_bytes, &data.textures[..]), (32, &["noise".to_string()][..]));
    let functions = data.surface.unwrap();
    assert!(functions.surface && functions.vertex_offset);
    validate(&data.write()).unwrap();
    let damaged = ShaderData { variable_bytes: 64, ..data };
    assert!(validate(&damaged.write()).is_err());
}

#[test]
fn errors_of_surface_functions_have_lines_of_the_file() {
    let refused = |part: &str, other: &str, message: &str| {
        assert!(WATER.contains(part), "{part}");
        refused(&WATER.replace(part, other), message);
    };
    refused(
        "out.base_color *=",
        "out.base_colour *=",
        "wave.wgsl:15:9: invalid field accessor `base_colour`",
    );
    refused(
        "fn surface(in: SurfaceIn) -> SurfaceOut",
        "fn surface(in: SurfaceIn) -> vec4f",
        "wave.wgsl:13:1: 'surface' must be fn surface(in: SurfaceIn) -> SurfaceOut { … }",
    );
    refused(
        "fn vertex_offset(in: VertexIn) -> vec3f",
        "fn vertex_offset(in: VertexIn) -> vec4f",
        "wave.wgsl:9:1: 'vertex_offset' must be fn vertex_offset(in: VertexIn) -> vec3f { … }",
    );
    refused(
        "@group(2) @binding(1)",
        "@group(1) @binding(1)",
        "wave.wgsl:3:23: 'noise' is in group 1, and a shader's own group is 2: @group(2)",
    );
    refused(
        "sin(in.world_position.x",
        "textureSample(noise, noise_sampler, in.uv).r * sin(in.world_position.x",
        "wave.wgsl:9:1: 'vertex_offset' calls a function that only works for pixels, such as \
         textureSample: call textureSampleLevel",
    );
    refused(
        "fn surface(in: SurfaceIn)",
        "fn final_color(in: SurfaceIn) -> vec3f { return vec3f(0.0); }\nfn surface(in: SurfaceIn)",
        "wave.wgsl:13:1: 'final_color' must be fn final_color(in: SurfaceIn, color: vec3f) -> \
         vec3f { … }",
    );
}

#[test]
fn shaders_are_checked_without_being_translated() {
    let picture = check("wave.wgsl", WAVE).unwrap();
    let mesh = "fn surface(in: SurfaceIn) -> SurfaceOut { return in.base; }";
    let mesh = check("mesh.wgsl", mesh).unwrap();
    let refused = |change: &dyn Fn(&mut ShaderData)| {
        let mut data = picture.clone();
        change(&mut data);
        check_untranslated(&data).unwrap_err().message
    };
    for shader in [&picture, &mesh] {
        check_untranslated(shader).unwrap();
    }
    let too_much = "it is damaged: it has more variables, textures or text than allowed";
    assert_eq!(refused(&|data| data.variable_bytes = VARIABLE_BYTES_MAX + 1), too_much);
    assert_eq!(refused(&|data| data.textures = vec!["a".to_string(); 9]), too_much);
    let first = picture.variables[0].clone();
    assert_eq!(refused(&|data| data.variables = vec![first.clone(); 4097]), too_much);
    let long = format!("//{}\n{}", "x".repeat(SOURCE_BYTES_MAX), picture.source);
    assert_eq!(refused(&|data| data.source.clone_from(&long)), too_much);
    let without_part = "it is damaged: the engine's part is missing";
    assert_eq!(refused(&|data| data.source = WAVE.to_string()), without_part);
    let other = "it is damaged: it has other functions than it says";
    assert_eq!(refused(&|data| data.surface = mesh.surface), other);
    let same = "it is damaged: two variables or textures have the same name";
    assert_eq!(refused(&|data| data.variables[1].name = "speed".to_string()), same);
    assert_eq!(refused(&|data| data.textures.push("noise".to_string())), same);
}
