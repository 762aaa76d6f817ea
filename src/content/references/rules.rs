//! The table of references in SJSON and JSON files: for each kind of resource, the paths of the
//! values that name resources or files. A kind without a row does not build (`has_rules`).

use super::NameForm;
use engine_resource::resource_kind::kind_names::*;

/// One rule: the values at a path name resources. `*` stands for any key or item, and `**` for any
/// number of them.
pub struct ReferenceRule {
    pub path: &'static [&'static str],
    pub kinds: &'static [&'static str],
    pub form: NameForm,
}

/// Format of the source files of a kind, which decides about the parser and the patcher.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum SourceFormat {
    /// SJSON or JSON with rules. Other texts in it are likely references if `has_data` is true.
    Sjson {
        has_data: bool,
    },
    Lua,
    /// Text or bytes that name nothing.
    Opaque,
}

/// The references of one kind.
pub struct KindRules {
    pub kind: &'static str,
    pub format: SourceFormat,
    pub rules: &'static [ReferenceRule],
}

const fn rule(
    path: &'static [&'static str],
    kinds: &'static [&'static str],
    form: NameForm,
) -> ReferenceRule {
    ReferenceRule { path, kinds, form }
}

const fn name(path: &'static [&'static str], kinds: &'static [&'static str]) -> ReferenceRule {
    rule(path, kinds, NameForm::Name)
}

const fn path(path: &'static [&'static str]) -> ReferenceRule {
    rule(path, &[], NameForm::Path)
}

const fn relative(path: &'static [&'static str]) -> ReferenceRule {
    rule(path, &[], NameForm::Relative)
}

/// Kinds of a value that names no resource.
const NOTHING: &[&str] = &["nothing"];

const PLAIN: SourceFormat = SourceFormat::Sjson { has_data: false };
const DATA: SourceFormat = SourceFormat::Sjson { has_data: true };

/// Rules of the blocks of meshes.
pub const MESH: &[ReferenceRule] = &[name(&["model"], &[MODEL]), name(&["material"], &[MATERIAL])];

/// Rules of the blocks of a built-in component.
pub const COMPONENTS: &[(&str, &[ReferenceRule])] = &[
    ("mesh", MESH),
    (
        "sprite",
        &[
            name(&["texture"], &[TEXTURE]),
            name(&["normal_texture"], &[TEXTURE]),
            name(&["sheet"], &[SHEET]),
            name(&["material"], &[MATERIAL]),
        ],
    ),
    ("particles", &[name(&["effect"], &[PARTICLES])]),
    ("sound", &[name(&["sound"], &[SOUND])]),
    ("skeleton", &[name(&["model"], &[MODEL]), name(&["material"], &[MATERIAL])]),
    ("tilemap", &[name(&["map"], &[TILEMAP]), name(&["material"], &[MATERIAL])]),
    (
        "animation",
        &[
            name(&["model"], &[MODEL]),
            name(&["state_machine"], &[STATE_MACHINE]),
            rule(&["clip"], &[ANIMATION], NameForm::Clip),
        ],
    ),
    ("agent", &[]),
    ("camera", &[]),
    (
        "decal",
        &[
            name(&["texture"], &[TEXTURE]),
            name(&["normal_texture"], &[TEXTURE]),
            name(&["roughness_texture"], &[TEXTURE]),
            name(&["emissive_texture"], &[TEXTURE]),
        ],
    ),
    ("light", &[name(&["texture"], &[TEXTURE])]),
    ("light_occluder", &[]),
    ("physics", &[name(&["**", "model"], &[MODEL])]),
];

/// The table. Each kind has one row.
const TABLE: &[KindRules] = &[
    KindRules { kind: LUA, format: SourceFormat::Lua, rules: &[] },
    // Packages are read by their own parser: a key is a kind.
    KindRules { kind: PACKAGE, format: PLAIN, rules: &[] },
    KindRules { kind: CONFIG, format: DATA, rules: &[relative(&["meta", "image"])] },
    KindRules { kind: STRINGS, format: SourceFormat::Opaque, rules: &[] },
    KindRules { kind: TEXT, format: SourceFormat::Opaque, rules: &[] },
    KindRules { kind: BINARY, format: SourceFormat::Opaque, rules: &[] },
    KindRules {
        kind: FONT,
        format: PLAIN,
        rules: &[path(&["source"]), name(&["fallback", "*"], &[FONT])],
    },
    KindRules {
        kind: TEXTURE,
        format: PLAIN,
        rules: &[path(&["source"]), path(&["normal_image"])],
    },
    KindRules {
        kind: SHEET,
        format: PLAIN,
        rules: &[
            path(&["source"]),
            path(&["image"]),
            path(&["normal_image"]),
            relative(&["meta", "image"]),
        ],
    },
    KindRules { kind: SHADER, format: SourceFormat::Opaque, rules: &[] },
    KindRules {
        kind: MATERIAL,
        format: PLAIN,
        rules: &[
            name(&["shader"], &[SHADER]),
            name(&["texture"], &[TEXTURE]),
            name(&["textures", "*"], &[TEXTURE]),
            name(&["surface", "base_color_texture"], &[TEXTURE]),
            name(&["surface", "metal_rough_texture"], &[TEXTURE]),
            name(&["surface", "normal_texture"], &[TEXTURE]),
            name(&["surface", "occlusion_texture"], &[TEXTURE]),
            name(&["surface", "emissive_texture"], &[TEXTURE]),
        ],
    },
    KindRules {
        kind: PARTICLES,
        format: PLAIN,
        rules: &[
            name(&["emitters", "*", "material"], &[MATERIAL]),
            name(&["emitters", "*", "texture"], &[TEXTURE]),
        ],
    },
    // What a sound plays is read by its own parser.
    KindRules { kind: SOUND, format: PLAIN, rules: &[] },
    KindRules { kind: MIXER, format: PLAIN, rules: &[] },
    KindRules {
        kind: MODEL,
        format: PLAIN,
        rules: &[
            path(&["source"]),
            // Two-dimensional skeletons. A frame is a name in its sheet.
            name(&["skins", "*", "*", "frame"], NOTHING),
            name(&["sheet"], &[SHEET]),
            name(&["slots", "**", "sheet"], &[SHEET]),
            name(&["slots", "**", "texture"], &[TEXTURE]),
            name(&["slots", "*", "parts", "*"], &[TEXTURE]),
            name(&["skins", "**", "sheet"], &[SHEET]),
            name(&["skins", "**", "texture"], &[TEXTURE]),
            name(&["skins", "*", "*"], &[TEXTURE]),
            name(&["skins", "*", "*", "*"], &[TEXTURE]),
            name(&["clips", "*", "events", "*", "sound"], &[SOUND]),
            name(&["clips", "*", "events", "*", "effect"], &[PARTICLES]),
        ],
    },
    KindRules {
        kind: ANIMATION,
        format: PLAIN,
        rules: &[
            rule(&["source"], &[MODEL], NameForm::ModelFile),
            rule(&["skeleton"], &[MODEL], NameForm::ModelFile),
            rule(&["retarget"], &[MODEL], NameForm::ModelFile),
            rule(&["additive", "clip"], &[ANIMATION], NameForm::Clip),
            name(&["events", "*", "sound"], &[SOUND]),
            name(&["events", "*", "effect"], &[PARTICLES]),
        ],
    },
    KindRules {
        kind: STATE_MACHINE,
        format: PLAIN,
        rules: &[
            rule(&["skeleton"], &[MODEL], NameForm::ModelFile),
            rule(&["**", "clip"], &[ANIMATION], NameForm::Clip),
            rule(&["**", "blend", "*"], &[ANIMATION], NameForm::Clip),
            rule(&["**", "random", "*"], &[ANIMATION], NameForm::Clip),
            name(&["**", "sound"], &[SOUND]),
            name(&["**", "effect"], &[PARTICLES]),
        ],
    },
    KindRules {
        kind: UNIT,
        format: DATA,
        rules: &[
            name(&["inherit"], &[UNIT]),
            name(&["model"], &[MODEL]),
            name(&["flow"], &["flow"]),
            name(&["flow", "nodes", "*", "graph"], &["flow"]),
        ],
    },
    KindRules {
        kind: LEVEL,
        format: DATA,
        rules: &[
            name(&["units", "*", "unit"], &[UNIT, MODEL]),
            name(&["levels", "*", "level"], &[LEVEL]),
            name(&["volumes", "*", "environment"], &[SHADING_ENVIRONMENT]),
            name(&["navigation"], &[NAVIGATION]),
            name(&["flow"], &["flow"]),
            name(&["flow", "nodes", "*", "graph"], &["flow"]),
        ],
    },
    KindRules { kind: NAVIGATION_MESH, format: SourceFormat::Opaque, rules: &[] },
    KindRules { kind: TILEMAP, format: PLAIN, rules: &[relative(&["map"])] },
    KindRules {
        kind: SHADING_ENVIRONMENT,
        format: PLAIN,
        rules: &[name(&["color_table"], &[TEXTURE]), name(&["sky_texture"], &[TEXTURE])],
    },
    KindRules { kind: PHYSICS_PROPERTIES, format: PLAIN, rules: &[] },
    KindRules { kind: RENDER_CONFIG, format: PLAIN, rules: &[] },
    KindRules { kind: "flow", format: DATA, rules: &[name(&["nodes", "*", "graph"], &["flow"])] },
    KindRules { kind: "curve", format: PLAIN, rules: &[] },
    KindRules { kind: NAVIGATION, format: DATA, rules: &[] },
];

/// Inputs of nodes of graphs that name resources: the type of the node, the input, the kinds. Other
/// types of nodes are known only to a running game.
const GRAPH_INPUTS: &[(&str, &str, &[&str])] = &[
    ("unit.spawn", "resource", &[UNIT, MODEL]),
    ("unit.replace", "resource", &[UNIT, MODEL]),
    ("unit.effect", "effect", &[PARTICLES]),
    ("unit.sound", "sound", &[SOUND]),
];

/// Returns the kinds of resources that an input of a type of nodes names.
pub fn of_graph_input(node: &str, input: &str) -> Option<&'static [&'static str]> {
    let mut rows = GRAPH_INPUTS.iter();
    rows.find(|row| (row.0, row.1) == (node, input)).map(|(.., kinds)| *kinds)
}

/// Rules of settings.sjson. A block of a platform has the same keys.
pub const SETTINGS: &[ReferenceRule] = &[
    rule(&["boot_script"], &[LUA], NameForm::Module),
    rule(&["*", "boot_script"], &[LUA], NameForm::Module),
    name(&["sound", "mixer"], &[MIXER]),
    name(&["*", "sound", "mixer"], &[MIXER]),
    path(&["package", "icon"]),
    path(&["*", "package", "icon"]),
    path(&["package", "license_files", "*"]),
    path(&["*", "package", "license_files", "*"]),
];

/// Rules of files that other programs export, by ending. `lua` has no rows here.
pub const EXPORTED: &[(&str, &[ReferenceRule])] = &[
    (
        "tmj",
        &[relative(&["**", "image"]), relative(&["**", "source"]), relative(&["**", "template"])],
    ),
    ("tsj", &[relative(&["**", "image"])]),
    ("tj", &[relative(&["**", "source"])]),
    (
        "ldtk",
        &[
            relative(&["**", "relPath"]),
            relative(&["**", "externalRelPath"]),
            relative(&["**", "bgRelPath"]),
        ],
    ),
    (
        "gltf",
        &[
            rule(&["buffers", "*", "uri"], &[], NameForm::Uri),
            rule(&["images", "*", "uri"], &[], NameForm::Uri),
        ],
    ),
];

/// Returns the row of a kind.
pub fn of_kind(kind: &str) -> Option<&'static KindRules> {
    TABLE.iter().find(|row| row.kind == kind)
}

/// Names of the kinds that have rows.
pub const KINDS_WITH_RULES: [&str; TABLE.len()] = {
    let mut names = [""; TABLE.len()];
    let mut at = 0;
    while at < TABLE.len() {
        names[at] = TABLE[at].kind;
        at += 1;
    }
    names
};

/// Returns true if a kind has a row. Constant, so that a table of kinds can require it when it is
/// built.
pub const fn has_rules(kind: &str) -> bool {
    let mut row = 0;
    while row < TABLE.len() {
        let (a, b) = (TABLE[row].kind.as_bytes(), kind.as_bytes());
        let mut at = 0;
        while at < a.len() && at < b.len() && a[at] == b[at] {
            at += 1;
        }
        if at == a.len() && at == b.len() {
            return true;
        }
        row += 1;
    }
    false
}

/// Returns true if a pattern of keys matches a path.
pub fn matches(pattern: &[&str], path: &[&str]) -> bool {
    match pattern {
        [] => path.is_empty(),
        ["**", rest @ ..] => (0..=path.len()).any(|from| matches(rest, &path[from..])),
        [first, rest @ ..] => match path {
            [key, others @ ..] => (*first == "*" || first == key) && matches(rest, others),
            [] => false,
        },
    }
}

/// Returns true if a kind's own files are SJSON or JSON.
pub fn has_text_format(kind: &str) -> bool {
    let row = of_kind(kind);
    // Translations are SJSON that names nothing.
    kind == STRINGS || row.is_some_and(|row| matches!(row.format, SourceFormat::Sjson { .. }))
}
