//! Tests of the compiler of render configs: the engine's own frame, and one file for each error.

use super::*;
use crate::render_passes::{RENDER_PASSES, pass_name};
use engine_resource::render_config_data::{ConfigViewport, FrameStep, TargetFormat, TargetSize};
use engine_resource::resource_kind::CompileContext;
use engine_resource::resource_name::ResourceName;

/// A shader with one texture and two variables.
const TINT: &str = "struct Variables { strength: f32, mode: u32, tint: vec4f }
@group(2) @binding(0) var<uniform> variables: Variables;
@group(2) @binding(1) var image: texture_2d<f32>;
@group(2) @binding(2) var image_sampler: sampler;

fn paint(in: Pass) -> vec4f {
    let color = textureSample(image, image_sampler, in.uv);
    return color * variables.tint * variables.strength * frame.exposure;
}
";

/// A shader without bindings.
const PLAIN: &str = "fn paint(in: Pass) -> vec4f {
    return vec4f(in.uv, fract(frame.seconds), 1.0);
}
";

fn compile(text: &str) -> Result<RenderConfigData, String> {
    let read = |path: &str| match path {
        "tint.pass" => Ok(TINT.as_bytes().to_vec()),
        "plain.pass" => Ok(PLAIN.as_bytes().to_vec()),
        "wrong.pass" => {
            Ok(b"fn paint(in: Pass) -> vec4f {\n    return vec4f(colour);\n}\n".to_vec())
        }
        "material.pass" => Ok(b"fn paint(in: Paint) -> vec4f { return vec4f(1.0); }\n".to_vec()),
        "latin.pass" => Ok(vec![0xff]),
        _ => Err(error!("{path}: there is no such file")),
    };
    let name = ResourceName::new("render_config", "frame");
    let (path, bytes) = ("frame.render_config".to_string(), text.as_bytes().to_vec());
    let mut context = CompileContext::new(name, path, SourceForm::Own, bytes, false, &read);
    source::compile(&mut context).map_err(|error| error.message)
}

/// A config with a generator in light and one on the target, for changes.
const GLOW: &str = r##"settings = {
    strength = { default = 0.5 min = 0 max = 2 }
    lines = true
}
resources = {
    half = { format = "rgba16f" scale = 0.5 }
}
generators = {
    glow = {
        shader = "tint" inputs = { image = "light" } output = "half"
        variables = { strength = "strength" mode = 2 tint = "#ffffff" }
    }
    add = { shader = "tint" inputs = { image = "half" } output = "light" blend = "add" }
    lines = { shader = "tint" inputs = { image = "target" } output = "target" when = "lines" }
}
viewports = {
    default = {
        extends = "core"
        insert_at = {
            "before tone mapping" = ["glow" "add"]
            "after tone mapping" = ["lines"]
        }
    }
    mini = { extends = "core/render/mini" insert_at = { "before tone mapping" = ["glow" "add"] } }
}
"##;

/// Returns the message for [`GLOW`] with a text replaced.
#[track_caller]
fn message(old: &str, new: &str) -> String {
    assert!(GLOW.contains(old), "{old}");
    compile(&GLOW.replacen(old, new, 1)).expect_err("it is wrong")
}

#[track_caller]
fn refuses(old: &str, new: &str, line: usize, wanted: &str) {
    let found = message(old, new);
    let start = format!("frame.render_config:{line}: ");
    assert!(found.starts_with(&start) && found.contains(wanted), "{found}");
}

fn passes(viewport: &ConfigViewport) -> Vec<String> {
    let name = |step: &'_ FrameStep| match step {
        FrameStep::Pass(name) => Some(name.clone()),
        FrameStep::Generator(_) => None,
    };
    viewport.steps.iter().filter_map(name).collect()
}

#[test]
fn the_engines_own_frame_is_the_table_of_passes() {
    let full = built_in("core").expect("it is embedded");
    let mut wanted: Vec<&str> = RENDER_PASSES.iter().map(pass_name).collect();
    wanted.dedup();
    assert_eq!(passes(&full.viewports[0]), wanted);
    assert_eq!(full.viewports[0].name, "default");
    // Its layers say of each pass what the table says, which the compiler checks.
    let (_, text) = BUILT_IN_CONFIGS[0];
    let document = engine_foundation::sjson::parse(text).expect("it is valid");
    let layers = document.root().get("layers").and_then(|layers| layers.entries());
    let layers: Vec<&str> = layers.into_iter().flatten().map(|entry| entry.key).collect();
    assert_eq!(layers, wanted);
    for (name, _) in BUILT_IN_CONFIGS {
        let data = built_in(name).expect("it is embedded");
        assert_eq!(read(&data.write()).expect("it is valid"), data, "{name}");
    }
    assert_eq!(built_in("core/render/ful"), None);
}

#[test]
fn configs_are_compiled_with_their_settings_targets_and_steps() {
    let data = compile(GLOW).expect("it is valid");
    let setting = &data.settings[0];
    assert_eq!((setting.default, setting.min, setting.max), (0.5, 0.0, 2.0));
    assert!(data.settings[1].is_switch && data.settings[1].default == 1.0);
    assert_eq!(data.targets[0].size, TargetSize::Scale(0.5));
    assert_eq!(data.targets[0].format, TargetFormat::Rgba16f);
    let glow = &data.generators[0];
    assert_eq!(glow.inputs[0].image, FrameImage::Light);
    assert_eq!(glow.output, FrameImage::Own(0));
    assert_eq!(glow.variables[4..8], 2u32.to_le_bytes());
    assert_eq!((glow.settings[0].setting, glow.settings[0].offset), (0, 0));
    assert_eq!(data.generators[2].condition, Some(1));
    let names: Vec<String> =
        data.viewports[0].steps.iter().map(|step| format!("{step:?}")).collect();
    let at = |text: &str| names.iter().position(|name| name.contains(text)).expect("it is there");
    assert!(at("Generator(1)") + 1 == at("tone mapping"));
    assert!(at("tone mapping") + 1 == at("Generator(2)") && at("Generator(2)") + 2 == at("guis"));
    assert!(!data.viewports[1].has_pass("shadows") && data.viewports[1].has_pass("sky"));
    assert_eq!(read(&data.write()).expect("it is valid"), data);
}

#[test]
fn unknown_names_are_errors_with_a_suggestion() {
    refuses("settings", "setings", 1, "unknown key 'setings', did you mean 'settings'?");
    refuses("rgba16f", "rgba16", 6, "there is no format 'rgba16'");
    refuses("output = \"half\"", "output = \"halv\"", 10, "did you mean 'half'?");
    refuses("image = \"light\"", "imag = \"light\"", 10, "did you mean 'image'?");
    refuses("strength = \"strength\"", "strenth = 1", 11, "did you mean 'strength'?");
    refuses("\"strength\"", "\"strenth\"", 11, "there is no setting 'strenth'");
    refuses("when = \"lines\"", "when = \"line\"", 14, "did you mean 'lines'?");
    refuses("[\"lines\"]", "[\"line\"]", 21, "there is no generator or pass 'line'");
    refuses("after tone mapping", "after tone maping", 21, "did you mean 'after tone mapping'?");
    refuses("\"core\"", "\"cor\"", 18, "there is no viewport 'cor', did you mean 'core'?");
    refuses("blend = \"add\"", "blend = \"ad\"", 13, "did you mean 'add'?");
    let layers = "layers = { skies = { reads = [] writes = [] } }\nviewports";
    refuses("viewports", layers, 16, "the engine has no pass 'skies'");
}

#[test]
fn shaders_are_checked_against_their_generators() {
    let found = message("\"tint\"", "\"missing\"");
    let expected = "frame.render_config:10: the shader missing.pass cannot be read: ";
    assert!(found.starts_with(expected), "{found}");
    let found = message("\"tint\"", "\"wrong\"");
    assert!(found.starts_with("wrong.pass:2:18: no definition in scope"), "{found}");
    let found = message("\"tint\"", "\"material\"");
    assert!(found.starts_with("material.pass:1:"), "{found}");
    assert_eq!(message("\"tint\"", "\"latin\""), "latin.pass: the file is not UTF-8");
    refuses("{ image = \"light\" }", "{}", 9, "has a texture 'image'");
    refuses("mode = 2", "mode = 2.5", 11, "'mode' is a whole number");
    refuses("mode = 2", "mode = [1 2]", 11, "got 2 numbers");
    refuses("mode = 2", "mode = 1e300", 11, "too large");
    refuses("mode = 2", "mode = {}", 11, "must be a number");
    refuses("tint = \"#ffffff\"", "tint = \"strength\"", 11, "a setting is one number");
}

#[test]
fn numbers_outside_of_their_range_are_errors() {
    for scale in ["0", "-1", "1e400", "3", "nan", "\"1\"", "[1]", "null"] {
        let found = message("scale = 0.5", &format!("scale = {scale}"));
        assert!(found.starts_with("frame.render_config:6:"), "{found}");
    }
    for size in ["[0 4]", "[16385 4]", "[1.5 4]", "[4]", "[4 4 4]", "4", "[\"4\" 4]", "[-4 4]"] {
        let found = message("scale = 0.5", &format!("size = {size}"));
        assert!(found.starts_with("frame.render_config:6: 'size' must be"), "{found}");
    }
    refuses("scale = 0.5", "scale = 0.5 size = [4 4]", 6, "both set");
    refuses("default = 0.5", "default = 3", 2, "from 0 to 2, got 3");
    refuses("default = 0.5 ", "", 2, "has no 'default'");
    refuses("min = 0", "min = 3", 2, "'min' (3) is more than 'max' (2)");
    refuses("lines = true", "lines = \"on\"", 3, "must be a number, true or false");
}

#[test]
fn resources_that_nobody_draws_or_reads_are_errors() {
    let more = "}\nresources = {\n    rest = { format = \"r8\" }";
    refuses("}\nresources = {", more, 6, "no generator uses 'rest'");
    refuses("{ image = \"half\" }", "{ image = \"target\" }", 6, "no generator reads 'half'");
    refuses("output = \"half\"", "output = \"light\"", 6, "no generator draws onto 'half'");
    // Drawn in one viewport, and read only in another one.
    refuses("\"glow\" \"add\"", "\"glow\"", 20, "it draws 'half', which no step after it reads");
    refuses("\"glow\" \"add\"", "\"add\"", 13, "no step of the viewport 'default' draws 'half'");
    let found = message(
        "\"before tone mapping\" = [\"glow\" \"add\"]",
        "\"after guis\" = [\"glow\" \"add\"]",
    );
    assert!(found.contains("'light', which no step after it reads"), "{found}");
    let unused = GLOW.replace("[\"glow\" \"add\"]", "[]");
    let found = compile(&unused).expect_err("it is unused");
    assert_eq!(found, "frame.render_config:9: 'glow' is not a step of any viewport");
    // Scripts can run a generator that uses the target alone.
    assert!(compile(&GLOW.replace("[\"lines\"]", "[]")).is_ok());
}

#[test]
fn cyclic_and_self_reading_steps_are_errors() {
    refuses(
        "\"glow\" \"add\"",
        "\"add\" \"glow\"",
        13,
        "cyclic: 'half' is read here, and 'glow' draws",
    );
    refuses(
        "{ image = \"light\" }",
        "{ image = \"half\" }",
        10,
        "'glow' reads 'half' and draws onto it",
    );
    let cyclic = "a = { extends = \"b\" }\n    b = { extends = \"a\" }\n    default";
    refuses("default = {\n", &format!("{cyclic} = {{\n"), 18, "the viewports extend each other");
    refuses("extends = \"core\"\n", "extends = \"default\"\n", 18, "extend each other: 'default'");
}

#[test]
fn images_that_do_not_fit_their_use_are_errors() {
    let blended = GLOW
        .replace("rgba16f", "r32f")
        .replace("output = \"half\"", "output = \"half\" blend = \"add\"");
    let found = compile(&blended).expect_err("it cannot be blended");
    assert!(found.starts_with("frame.render_config:10: 'half' cannot be blended"), "{found}");
    let nearest = compile(&GLOW.replace("rgba16f", "r32f")).expect("texels are read one by one");
    assert!(nearest.generators[1].inputs[0].nearest && !nearest.generators[0].inputs[0].nearest);
    refuses("output = \"light\"", "output = \"depth\"", 13, "no generator can draw onto 'depth'");
    refuses("before tone mapping", "before opaque objects", 10, "draws 'light' before this step");
    refuses("after tone mapping", "before background", 14, "draws 'target' before this step");
    refuses("half = {", "light = {", 6, "'light' is an image of the engine");
    let sky = "sky = { reads = [\"fog\" \"sky_maps\"] writes = [\"depth\"] }";
    let layer = &format!("layers = {{ {sky} }}\nviewports");
    refuses("viewports", layer, 16, "the pass 'sky' of the engine has writes = [\"light\"]");
    let renamed =
        GLOW.replace("lines = { shader", "sky = { shader").replace("[\"lines\"]", "[\"sky\"]");
    let found = compile(&renamed).expect_err("the name is taken");
    assert!(found.starts_with("frame.render_config:14: 'sky' is a pass of the engine"), "{found}");
}

/// Compiles a config that has only viewports.
fn viewports(text: &str) -> Result<RenderConfigData, String> {
    compile(&format!("viewports = {{\n{text}\n}}"))
}

#[test]
fn the_engines_passes_keep_their_order_and_needs() {
    let refuses = |text: &str, wanted: &str| {
        let found = viewports(text).expect_err(text);
        assert!(found.starts_with("frame.render_config:2: ") && found.contains(wanted), "{found}");
    };
    refuses("default = [\"guis\" \"background\"]", "'background' is not behind 'guis'");
    refuses("default = [\"guis\" \"guis\"]", "'guis' is not behind 'guis'");
    refuses("default = [\"sky\" \"tone mapping\" \"guis\"]", "draws over Light");
    refuses("default = [\"tone mapping\"]", "samples Light");
    refuses("default = [\"opaque objects\" \"guis\"]", "'light', which no step after it reads");
    refuses("default = []", "the viewport has no steps");
    refuses("default = 3", "must be a block");
    refuses("default = {}", "or extend another one");
    refuses("default = [3]", "a list of names");
    let found = compile("settings = {}").expect_err("there is none");
    assert!(found.contains("there is no viewport: viewports = {"), "{found}");
    assert!(viewports("default = [\"guis\"]").is_ok());
}

#[test]
fn too_many_parts_are_errors_that_name_the_limit() {
    let repeat = |count: usize, line: &dyn Fn(usize) -> String| -> String {
        (0..count).map(line).collect::<Vec<_>>().join("\n")
    };
    let check = |text: String, wanted: &str| {
        let found = compile(&text).expect_err(wanted);
        assert!(found.starts_with("frame.render_config:") && found.contains(wanted), "{found}");
    };
    let settings = repeat(100_000, &|i| format!("s{i} = 1"));
    check(format!("settings = {{\n{settings}\n}}"), "(SETTINGS_MAX)");
    let targets = repeat(100, &|i| format!("t{i} = {{ format = \"r8\" }}"));
    check(format!("resources = {{\n{targets}\n}}"), "(TARGETS_MAX)");
    let targets = repeat(20, &|i| format!("t{i} = {{ format = \"rgba16f\" scale = 2 }}"));
    check(format!("resources = {{\n{targets}\n}}"), "(PIXEL_BYTES_MAX)");
    let targets = repeat(3, &|i| format!("t{i} = {{ format = \"r8\" size = [16384 16384] }}"));
    check(format!("resources = {{\n{targets}\n}}"), "(FIXED_BYTES_MAX)");
    let generators =
        repeat(100, &|i| format!("g{i} = {{ shader = \"plain\" output = \"light\" }}"));
    check(format!("generators = {{\n{generators}\n}}"), "(GENERATORS_MAX)");
    let all = repeat(100, &|i| format!("v{i} = [\"guis\"]"));
    check(format!("viewports = {{\n{all}\n}}"), "(VIEWPORTS_MAX)");
    let steps = "\"g\" ".repeat(100_000);
    let generator = "generators = { g = { shader = \"plain\" output = \"target\" } }";
    check(format!("{generator}\nviewports = {{ default = [\"guis\" {steps}] }}"), "(STEPS_MAX)");
    let name = "n".repeat(1000);
    check(format!("settings = {{ {name} = 1 }}"), "(NAME_BYTES_MAX)");
    // Each viewport has twice the steps of the one before.
    let chain = repeat(14, &|i| {
        let own = "\"g\" ".repeat(1 << i.min(9));
        format!("v{i} = {{ extends = \"v{}\" append = [{own}] }}", i + 1)
    });
    let last = "v14 = [\"guis\"]";
    check(format!("{generator}\nviewports = {{\n{chain}\n{last}\n}}"), "(STEPS_MAX)");
}

#[test]
fn compiled_data_with_another_shader_or_graph_is_refused() {
    let whole = compile(GLOW).expect("it is valid");
    let check = |change: &dyn Fn(&mut RenderConfigData), wanted: &str| {
        let mut data = whole.clone();
        change(&mut data);
        let found = read(&data.write()).expect_err(wanted).message;
        assert!(found.starts_with("it is damaged") && found.contains(wanted), "{found}");
    };
    check(&|data| data.generators[0].source.push(' '), "the engine's part is missing");
    check(&|data| data.generators[0].source.insert_str(0, "fn x( {}"), "it is damaged:1:");
    check(&|data| data.generators[0].variables.clear(), "outside of its block");
    check(&|data| data.generators[1].variables.clear(), "other inputs or variables");
    check(&|data| data.generators[0].inputs.clear(), "other inputs or variables");
    check(&|data| data.viewports[0].steps.reverse(), "is not behind");
    check(&|data| data.viewports[0].steps[0] = FrameStep::Pass("no".to_string()), "no pass 'no'");
}

#[test]
fn reports_have_the_sizes_and_bytes_of_all_targets() {
    let data = compile(GLOW).expect("it is valid");
    let report = report(&data, 0, (1920, 1080), 4);
    let found: Vec<(&str, (u32, u32), u64)> =
        report.targets.iter().map(|it| (&it.name[..], it.size, it.bytes)).collect();
    let pixels = 1920 * 1080;
    assert_eq!(
        found,
        [
            ("light", (1920, 1080), pixels * 32),
            ("depth", (1920, 1080), pixels * 16),
            ("copy of light", (1920, 1080), pixels * 8),
            ("copy of target", (1920, 1080), pixels * 4),
            ("half", (960, 540), pixels * 2),
        ]
    );
    assert_eq!(report.bytes(), pixels * 62);
    let lines = report.passes.iter().find(|pass| pass.name == "lines").expect("it is a pass");
    assert!(lines.is_generator && lines.settings == ["lines"]);
    assert_eq!(
        (&lines.reads[..], &lines.writes[..]),
        (&["target".to_string()][..], &["target".to_string()][..])
    );
}

/// Returns the files of the manual's example: the blocks that follow a line that begins with a
/// name, as `main.lua` in quotes.
fn manual_files() -> Vec<(String, String)> {
    let page = include_str!("../../../../docs/render_config.md");
    let (mut files, mut name, mut block) = (Vec::new(), None, None::<String>);
    for line in page.lines() {
        match &mut block {
            Some(text) if line == "```" => {
                files.extend(name.take().map(|name| (name, std::mem::take(text))));
                block = None;
            }
            Some(text) => *text += &format!("{line}\n"),
            None if line.starts_with("```") => block = Some(String::new()),
            None if line.is_empty() => {}
            None => {
                let quoted = line.strip_prefix('`').and_then(|line| line.split_once('`'));
                let found =
                    quoted.filter(|_| line.ends_with(':')).map(|(name, _)| name.to_string());
                name = found;
            }
        }
    }
    files
}

#[test]
fn the_example_of_the_manual_compiles() {
    let files = manual_files();
    let find = |path: &str| files.iter().find(|(name, _)| name == path);
    let read_file = |path: &str| match find(path) {
        Some((_, text)) => Ok(text.clone().into_bytes()),
        None => Err(error!("{path}: there is no such file")),
    };
    assert!(find("settings.sjson").expect("it is shown").1.contains("config = \"frame\""));
    let (path, text) = find("frame.render_config").expect("it is shown").clone();
    let name = ResourceName::new("render_config", "frame");
    let bytes = text.into_bytes();
    let mut context = CompileContext::new(name, path, SourceForm::Own, bytes, false, &read_file);
    let data = source::compile(&mut context).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(data.generators.len(), 5);
    assert_eq!(context.files.len(), 4);
}
