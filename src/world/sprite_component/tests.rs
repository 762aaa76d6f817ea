//! Tests of sprites and tile maps as they are read from unit files.

use super::super::scene_graph::{NO_NODE, NodePose};
use super::super::sprite::SequenceNumber;
use super::super::unit_resource::UnitResource;
use super::super::unit_template::UnresolvedUnit;
use super::*;
use engine_foundation::{Handle, HandleKind, Slots, sjson};

/// Returns the material "glow".
fn glow() -> Handle {
    Slots::new(HandleKind::Material, 1).add(()).unwrap()
}

/// Resolves a reference in a game with every image, the tag "run", and maps with one level.
fn resolve(reference: &ResourceReference) -> Result<ResolvedResource, Error> {
    match reference {
        ResourceReference::Mesh { model, .. }
        | ResourceReference::Skeleton(model)
        | ResourceReference::Animation(model)
        | ResourceReference::StateMachine { model, .. }
        | ResourceReference::Clip { model, .. }
        | ResourceReference::Skin { model, .. } => Err(error!("there is no model '{model}'")),
        ResourceReference::PictureMaterial(name) if name == "glow" => {
            Ok(ResolvedResource::Material(glow()))
        }
        ResourceReference::MeshMaterial(name) | ResourceReference::PictureMaterial(name) => {
            Err(error!("there is no material '{name}'"))
        }
        ResourceReference::Texture(name) => {
            Ok(ResolvedResource::Texture(TextureNumber(name.len() as u32)))
        }
        ResourceReference::Sequence { tag, .. } => match tag.as_deref() {
            None => Ok(ResolvedResource::Sequence(SequenceNumber(0))),
            Some("run") => Ok(ResolvedResource::Sequence(SequenceNumber(1))),
            Some(tag) => Err(error!("there is no tag '{tag}'")),
        },
        ResourceReference::Particles(name) => Err(error!("there are no particles '{name}'")),
        ResourceReference::Tilemap { level: None, .. } => Ok(ResolvedResource::Tilemap),
        ResourceReference::Tilemap { level: Some(level), .. } => {
            Err(error!("there is no level '{level}'"))
        }
    }
}

/// Builds the template of a unit with one component.
fn read(component: &str, fields: &str) -> Result<UnitTemplate, String> {
    let name = "it".to_string();
    let fields = sjson::parse(fields).unwrap().to_tree();
    let unit = UnitResource {
        name: "units/it".to_string(),
        node_names: vec!["root".to_string()],
        node_hashes: Vec::new(),
        parents: vec![NO_NODE],
        poses: vec![NodePose::IDENTITY],
        parts: vec![ComponentSource { name, component: component.to_string(), fields }],
        flow: None,
        body_hash: 0,
        data: SjsonTree::Object(Vec::new()),
        bases: Vec::new(),
        duplicate_names: Vec::new(),
        template: UnitTemplate::default(),
    };
    let unit = UnresolvedUnit::read(unit);
    let resolved = unit.references.iter().map(|reference| {
        resolve(&reference.resource).map_err(|error| reference.in_component(error).message)
    });
    let resolved: Vec<_> = resolved.collect::<Result<_, String>>()?;
    unit.finish(&resolved).map(|unit| unit.template).map_err(|error| error.message)
}

#[test]
fn a_sprite_is_read_from_its_fields() {
    let template = read(
        "sprite",
        "sheet = \"hero\" tag = \"run\" speed = 2 pivot = [0, 1] flip_y = true layer = -3 \
         tint = [1, 2, 3, 4] plane = \"flat\" lit = true alpha = \"mask\" visible = false \
         pixels_per_metre = 16 part = [8, 0, 4, 4] group = \"skin\"",
    );
    let template = template.unwrap();
    let sprite = &template.sprites[0];
    assert_eq!((sprite.source, sprite.speed), (SpriteSource::Plays(SequenceNumber(1)), 2.0));
    assert_eq!((sprite.visible, sprite.group), (false, 0));
    let placement = SpritePlacement {
        tint: [1, 2, 3, 4],
        layer: -3,
        pixels_per_metre: 16.0,
        plane: SpritePlane::Flat,
        lit: true,
        ..SpritePlacement::DEFAULT
    };
    let settings = SpriteSettings {
        placement,
        size: [0.0; 2],
        pivot: [0.0, 1.0],
        part: [8.0, 0.0, 4.0, 4.0],
        flip_x: false,
        flip_y: true,
        alpha: SpriteAlpha::Mask,
        normal: None,
    };
    assert_eq!(sprite.settings, settings);
    let bumpy = read("sprite", "texture = \"a\" normal_texture = \"bumps\" lit = true").unwrap();
    assert_eq!(bumpy.sprites[0].settings.normal, Some(TextureNumber(5)));
    let plain = read("sprite", "texture = \"ship\"").unwrap();
    assert_eq!(plain.sprites[0].settings, SpriteSettings::DEFAULT);
    assert_eq!(plain.sprites[0].source, SpriteSource::Picture(TextureNumber(4)));
    let glowing = "map = \"cave\" material = \"glow\" range = [2, 9]";
    let glowing = read("tilemap", glowing).unwrap().maps[0].placement;
    let wanted =
        SpritePlacement { material: Some(glow()), range: [2.0, 9.0], ..SpritePlacement::DEFAULT };
    assert_eq!(glowing, wanted);
    let frame = read("sprite", "sheet = \"hero\" frame = \"1\"").unwrap();
    assert_eq!(frame.sprites[0].source, SpriteSource::Picture(TextureNumber(6)));
    let map = read("tilemap", "map = \"cave\" layer = 2").unwrap();
    assert_eq!((map.maps[0].map.as_str(), map.maps[0].placement.layer), ("cave", 2));
}

#[test]
fn invalid_sprites_are_refused_with_a_reason() {
    let check = |component: &str, fields: &str, message: &str| {
        let wanted = format!("component 'it': {message}");
        assert_eq!(read(component, fields).unwrap_err(), wanted);
    };
    check("sprite", "layer = 1", "it names no picture: texture = \"ship\", or sheet = \"hero\"");
    check(
        "sprite",
        "texture = \"a\" sheet = \"b\"",
        "it names a texture and a sheet: take one of them out",
    );
    check(
        "sprite",
        "texture = \"a\" tag = \"run\"",
        "'tag' and 'frame' are of a sheet, and it names a texture",
    );
    check(
        "sprite",
        "sheet = \"a\" tag = \"run\" frame = \"1\"",
        "it has a tag to play and a frame to show: take one of them out",
    );
    check("sprite", "sheet = \"a\" tag = \"rum\"", "there is no tag 'rum'");
    let ship = |field: &str| format!("texture = \"a\" {field}");
    check(
        "sprite",
        &ship("layer = 0.5"),
        "'layer' must be a whole number of at most 1000000, got 0.5",
    );
    check(
        "sprite",
        &ship("tint = [1, 2, 3, 256]"),
        "'tint' must have parts from 0 to 255, got 256",
    );
    check("sprite", &ship("size = [1, 0]"), "'size' must be above 0 metres, got [1, 0]");
    check("sprite", &ship("speed = -1"), "'speed' must be 0 or more, got -1");
    check("sprite", &ship("pixels_per_metre = 0"), "'pixels_per_metre' must be above 0, got 0");
    check(
        "sprite",
        &ship("part = [0, 0, 0, 8]"),
        "'part' must be left, top, width and height in texels, the latter above 0, got 0, 0, \
         0, 8",
    );
    check("sprite", &ship("material = \"fog\""), "there is no material 'fog'");
    check(
        "sprite",
        &ship("material = \"glow\" lit = true"),
        "it is lit, and the material 'glow' paints it without light: take one of them out",
    );
    check(
        "sprite",
        &ship("normal_texture = \"n\""),
        "it has the normal texture 'n', and no light: write lit = true",
    );
    check(
        "sprite",
        "sheet = \"a\" normal_texture = \"n\" lit = true",
        "it plays a sheet, and a normal texture is of one picture: name a texture or a frame",
    );
    check(
        "sprite",
        &ship("range = [3, 2]"),
        "'range' must rise from 0 or more, got [3, 2]: it is shown between two distances",
    );
    check("tilemap", "layer = 1", "it names no map: map = \"maps/cave\"");
    check("tilemap", "map = \"cave\" level = \"x\"", "there is no level 'x'");
}
