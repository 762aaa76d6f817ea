//! Tests of the registry, with resources written here in their compiled form.

use super::*;
use engine_frame_packet::mesh::{SurfaceChange, SurfaceFrame};
use engine_frame_packet::texture::WrapMode;
use engine_resource::material_data::{ShaderVariableType, SurfaceFunctions, TextureBinding};
use engine_resource::resource_kind::{ResourceKind, ResourceKinds, SourceForm};
use engine_resource::store::DataSource;
use engine_resource::surface_source::SurfaceSource;
use std::path::PathBuf;

const PLAIN: SamplerSettings = SamplerSettings { nearest: false, wrap: WrapMode::Clamp };

/// Declares a resource kind that stores compiled data in its source files.
macro_rules! kind {
    ($name:ident, $text:literal, $step:ident) => {
        static $name: ResourceKind = ResourceKind {
            name: $text,
            doc: "data",
            extensions: &[($text, SourceForm::Own)],
            version: 1,
            framed: false,
            reload: &[ReloadStep::$step],
            compile: |compiling| match compiling.bytes.starts_with(b"broken") {
                true => Err(error!("broken")),
                false => Ok(std::mem::take(&mut compiling.bytes)),
            },
            validate: |_| Ok(()),
        };
    };
}

kind!(MATERIAL, "material", Materials);
kind!(SHADER, "shader", Shaders);
kind!(TEXTURE, "texture", Textures);

static KINDS: ResourceKinds = ResourceKinds(&[&MATERIAL, &SHADER, &TEXTURE]);

struct Game {
    root: PathBuf,
    materials: Materials,
    store: ResourceStore,
}

/// Resolves textures with one-letter names: `a` is in slot 1.
fn resolve(_: &mut ResourceStore, name: &str) -> Result<(TextureSlot, SamplerSettings), Error> {
    match name.as_bytes() {
        [letter] => Ok((TextureSlot(u32::from(letter - b'a') + 1), PLAIN)),
        _ => Err(error!("there is no texture '{name}'")),
    }
}

fn shader(variables: &[(&str, ShaderVariableType, u32)]) -> Vec<u8> {
    let variables = variables.iter().map(|(name, kind, offset)| ShaderVariable {
        name: name.to_string(),
        kind: *kind,
        offset: *offset,
    });
    ShaderData {
        source: "source".to_string(),
        surface: None,
        variables: variables.collect(),
        variable_bytes: 32,
        textures: vec!["noise".to_string()],
    }
    .write()
}

fn material(speed: f32) -> Vec<u8> {
    MaterialData {
        shader: Some("wave".to_string()),
        texture: Some("b".to_string()),
        blend: 1,
        textures: vec![TextureBinding {
            name: "noise".to_string(),
            texture: "a".to_string(),
            filter: Some(1),
            wrap: None,
        }],
        variables: vec![("speed".to_string(), vec![speed])],
        surface: None,
    }
    .write()
}

impl Game {
    fn new(name: &str) -> Game {
        let root = std::env::temp_dir().join(format!("engine-{}-m-{name}", std::process::id()));
        let _ = std::fs::remove_dir_all(&root);
        std::fs::create_dir_all(&root).unwrap();
        let mut game =
            Game { root, materials: Materials::default(), store: ResourceStore::default() };
        let scalar = ("speed", ShaderVariableType::Scalar, 0);
        game.save("wave.shader", &shader(&[scalar, ("tint", ShaderVariableType::Vector4, 16)]));
        game.save("sea.material", &material(2.0));
        game.save("c.texture", b"");
        game.reload();
        game
    }

    fn save(&self, path: &str, bytes: &[u8]) {
        std::fs::write(self.root.join(path), bytes).unwrap();
    }

    fn reload(&mut self) {
        use engine_resource::compile::{CompileTarget, compile, data_folder};
        let data = data_folder(&self.root, "linux");
        std::fs::create_dir_all(&data).unwrap();
        let target = CompileTarget {
            root: &self.root,
            data: data.clone(),
            kinds: KINDS,
            source_platform: "linux",
            release: false,
            exclude: &[],
            threads: 1,
        };
        let compiled = compile(&target, &|_, _| {}).unwrap();
        self.store = ResourceStore::new(compiled.index, DataSource::Folder(data, KINDS));
        let changed = [compiled.changed, compiled.removed].concat();
        let changed = ChangedResources::new(&changed, KINDS);
        self.materials.reload(&mut self.store, &changed, &mut resolve);
    }

    fn find(&mut self, name: &str) -> MaterialId {
        self.materials.find(&mut self.store, name, &mut resolve).unwrap()
    }

    fn changes(&mut self) -> Vec<MaterialChange> {
        let mut out = Vec::new();
        self.materials.flush(&mut out);
        out
    }

    /// Returns the only material that the renderer received.
    #[track_caller]
    fn next_material(&mut self) -> Arc<engine_frame_packet::material::MaterialFrame> {
        match &self.changes()[..] {
            [MaterialChange::Set { material, .. }] => material.clone(),
            changes => panic!("{changes:?}"),
        }
    }
}

impl Drop for Game {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.root);
    }
}

fn number(bytes: &[u8], at: usize) -> f32 {
    f32::from_le_bytes(bytes[at..at + 4].try_into().unwrap())
}

#[test]
fn a_material_reaches_the_renderer_with_its_shader_and_textures() {
    let mut game = Game::new("put");
    let id = game.find("sea");
    assert_eq!(game.find("sea"), id, "all share it");
    let material = game.next_material();
    assert_eq!((&material.name[..], material.blend), ("sea", BlendMode::Add));
    let nearest = SamplerSettings { nearest: true, ..PLAIN };
    assert_eq!(material.textures, [(TextureSlot(1), nearest)]);
    assert_eq!((material.variables.len(), number(&material.variables, 0)), (32, 2.0));
    assert_eq!(material.shader.as_ref().unwrap().source, "source");
    let slot = game.materials.slots().get(id.0).unwrap().slot;
    assert!(slot.0 >= MaterialSlot::FIRST_FREE);
}

#[test]
fn variables_are_sent_once_a_frame() {
    let mut game = Game::new("set");
    let id = game.find("sea");
    game.changes();
    for speed in [1.0, 5.0] {
        game.materials.set(id, "speed", &[speed], "a number").unwrap();
    }
    game.materials.set(id, "tint", &[1.0, 2.0, 3.0, 4.0], "a Vector4").unwrap();
    let changes = game.changes();
    let [MaterialChange::Variables { bytes, .. }] = &changes[..] else { panic!("{changes:?}") };
    assert_eq!((number(bytes, 0), number(bytes, 28)), (5.0, 4.0));
    assert!(game.changes().is_empty());
}

#[test]
fn a_wrong_name_or_type_lists_the_known_ones() {
    let mut game = Game::new("words");
    let id = game.find("sea");
    let mut set = |name: &str, numbers: &[f32]| {
        game.materials.set(id, name, numbers, "a number").unwrap_err().message
    };
    assert_eq!(
        set("sped", &[1.0]),
        "the material 'sea' has no variable 'sped', did you mean 'speed'?"
    );
    assert_eq!(set("x", &[1.0]), "the material 'sea' has no variable 'x': it has speed, tint");
    assert_eq!(
        set("tint", &[1.0]),
        "the variable 'tint' of the material 'sea' is a vec4f, got a number"
    );
    let mut set = |name: &str, texture: &str| {
        game.materials
            .set_texture(&mut game.store, id, name, texture, &mut resolve)
            .unwrap_err()
            .message
    };
    assert_eq!(set("nose", "a"), "the material 'sea' has no texture 'nose', did you mean 'noise'?");
    assert_eq!(set("noise", "zz"), "there is no texture 'zz'");
    let missing = game.materials.find(&mut game.store, "see", &mut resolve).unwrap_err();
    assert_eq!(missing.message, "there is no material 'see', did you mean 'sea'?");
}

#[test]
fn an_instanced_material_is_independent_and_can_be_destroyed() {
    let mut game = Game::new("own");
    let shared = game.find("sea");
    let separate = game.materials.create_instance(&mut game.store, "sea", &mut resolve).unwrap();
    assert_ne!(separate, shared);
    game.changes();
    game.materials.set_texture(&mut game.store, separate, "noise", "d", &mut resolve).unwrap();
    let changes = game.changes();
    let [MaterialChange::Texture { texture, index: 0, .. }] = &changes[..] else {
        panic!("{changes:?}")
    };
    assert_eq!(*texture, TextureSlot(4));
    game.materials.destroy(separate, 1, "main.lua:1").unwrap();
    assert!(matches!(game.changes()[..], [MaterialChange::End { .. }]));
    assert_eq!(
        game.materials.destroy(shared, 1, "").unwrap_err().message,
        "the material 'sea' is shared by everything that draws by its name: only materials from \
         Material.new can be destroyed"
    );
}

#[test]
fn a_texture_can_be_used_as_a_material() {
    let mut game = Game::new("raw");
    let id = game.find("c");
    assert_eq!(game.materials.slots().get(id.0).unwrap().texture.as_deref(), Some("c"));
    let material = game.next_material();
    assert!(material.shader.is_none() && material.blend == BlendMode::Alpha);
    game.materials.set_texture(&mut game.store, id, "texture", "d", &mut resolve).unwrap();
    assert_eq!(game.materials.slots().get(id.0).unwrap().texture.as_deref(), Some("d"));
}

#[test]
fn values_set_by_the_game_survive_a_reload() {
    let mut game = Game::new("reload");
    let id = game.find("sea");
    game.materials.set(id, "tint", &[0.0, 0.0, 0.0, 7.0], "a Vector4").unwrap();
    game.changes();
    game.save("sea.material", &material(3.0));
    game.reload();
    let material = game.next_material();
    assert_eq!((number(&material.variables, 0), number(&material.variables, 28)), (3.0, 7.0));
    // A shader with other offsets of its variables.
    let moved =
        [("tint", ShaderVariableType::Vector4, 0), ("speed", ShaderVariableType::Scalar, 16)];
    game.save("wave.shader", &shader(&moved));
    game.reload();
    let material = game.next_material();
    assert_eq!((number(&material.variables, 16), number(&material.variables, 12)), (3.0, 7.0));
    game.save("wave.shader", b"broken");
    game.reload();
    assert!(game.changes().is_empty(), "a broken one keeps what is there");
    game.materials.set(id, "speed", &[9.0], "a number").unwrap();
}

#[test]
fn materials_follow_textures_that_change_slots() {
    let mut game = Game::new("moved");
    let id = game.find("sea");
    let slot = game.materials.slots().get(id.0).unwrap().slot;
    let mut changes = Vec::new();
    game.materials.flush(&mut changes);
    changes.clear();
    game.materials.follow_textures(&mut game.store, &mut resolve);
    game.materials.flush(&mut changes);
    assert_eq!(changes.len(), 0, "nothing has moved");
    let mut elsewhere = |_: &mut ResourceStore, _: &str| Ok((TextureSlot(40), PLAIN));
    game.materials.follow_textures(&mut game.store, &mut elsewhere);
    game.materials.flush(&mut changes);
    let [MaterialChange::Texture { slot: of, index: 0, texture }] = changes[..] else {
        panic!("one texture has moved")
    };
    assert_eq!((of, texture), (slot, TextureSlot(40)));
}

/// Returns a shader for meshes with the variables of `shader`.
fn surface_shader(vertex_offset: bool) -> Vec<u8> {
    let speed = [("speed", ShaderVariableType::Scalar, 0)];
    let functions =
        SurfaceFunctions { surface: true, vertex_offset, ..SurfaceFunctions::default() };
    let data = ShaderData::read(&shader(&speed)).unwrap();
    ShaderData { surface: Some(functions), ..data }.write()
}

fn surface_material(roughness: f32) -> Vec<u8> {
    let file = SurfaceSource { roughness, offset_max: 3.0, ..SurfaceSource::DEFAULT };
    let picture = MaterialData::read(&material(2.0)).unwrap();
    let shader = Some("water".to_string());
    MaterialData { shader, texture: None, blend: 0, surface: Some(file), ..picture }.write()
}

/// Returns the surface that the renderer received, after the other changes.
#[track_caller]
fn next_surface(game: &mut Game) -> (Vec<MaterialChange>, SurfaceFrame) {
    let (changes, mut surfaces) = (game.changes(), Vec::new());
    game.materials.flush_surfaces(&mut surfaces);
    match surfaces.pop() {
        Some(SurfaceChange::Set { surface, .. }) if surfaces.is_empty() => (changes, surface),
        other => panic!("{other:?} {surfaces:?}"),
    }
}

#[test]
fn a_material_of_meshes_has_the_functions_of_its_shader() {
    let mut game = Game::new("functions");
    game.save("water.shader", &surface_shader(true));
    game.save("pool.material", &surface_material(0.25));
    game.reload();
    let id = game.find("pool");
    let (changes, surface) = next_surface(&mut game);
    let [MaterialChange::Set { slot, material }] = &changes[..] else { panic!("{changes:?}") };
    let shader = surface.shader.unwrap();
    assert_eq!((shader.material, shader.offset_max, surface.roughness), (*slot, 3.0, 0.25));
    assert!(shader.functions.vertex_offset && material.textures.len() == 1);
    // Names of the shader come before those of the surface.
    game.materials.set(id, "speed", &[7.0], "a number").unwrap();
    game.materials.set(id, "metallic", &[1.0], "a number").unwrap();
    let (changes, surface) = next_surface(&mut game);
    let [MaterialChange::Variables { bytes, .. }] = &changes[..] else { panic!("{changes:?}") };
    assert_eq!((number(bytes, 0), surface.metallic), (7.0, 1.0));
    game.save("water.shader", &surface_shader(false));
    game.reload();
    let (changes, surface) = next_surface(&mut game);
    let [MaterialChange::Set { material, .. }] = &changes[..] else { panic!("{changes:?}") };
    assert!(!surface.shader.unwrap().functions.vertex_offset);
    assert_eq!((number(&material.variables, 0), surface.metallic), (7.0, 1.0));
    game.save("pool.material", &surface_material(0.75));
    game.reload();
    let (_, surface) = next_surface(&mut game);
    assert_eq!((surface.roughness, surface.metallic), (0.75, 1.0));
    game.save("water.shader", b"broken");
    game.reload();
    assert!(game.changes().is_empty(), "the previous version stays");
    let copy = game.materials.create_instance(&mut game.store, "pool", &mut resolve).unwrap();
    game.changes();
    game.materials.destroy(copy, 1, "main.lua:1").unwrap();
    let mut surfaces = Vec::new();
    game.materials.flush_surfaces(&mut surfaces);
    assert!(matches!(game.changes()[..], [MaterialChange::End { .. }]));
    assert!(matches!(surfaces[..], [.., SurfaceChange::End { .. }]));
}

#[test]
fn shaders_of_pictures_and_of_meshes_are_not_confused() {
    let mut game = Game::new("confused");
    game.save("water.shader", &surface_shader(true));
    game.save("pool.material", &surface_material(0.25));
    game.reload();
    game.find("pool");
    game.changes();
    let picture = shader(&[("speed", ShaderVariableType::Scalar, 0)]);
    game.save("water.shader", &picture);
    game.reload();
    assert!(game.changes().is_empty(), "the material keeps its functions");
    let message = game.materials.create_instance(&mut game.store, "pool", &mut resolve);
    assert_eq!(
        message.unwrap_err().message,
        "the shader 'water' of the material 'pool' is for pictures, and the material is for meshes"
    );
}
