//! The components `sprite` and `tilemap` as unit files write them: their fields, and what these
//! mean. The compiler has checked their types; what they name is looked up above.

use super::component::{Component, Field, FieldKind};
use super::mesh_part::{Lookup, Seen, group, number, numbers, range, text, truth};
use super::sprite::{Shows, SpriteAlpha, SpriteLook, SpritePart, Stand};
use super::unit_map::MapPart;
use super::unit_resource::Part;
use crate::error;
use crate::foundation::Error;
use crate::foundation::sjson::Tree;

// Fields that both have.
const LAYER: Field = Field {
    name: "layer",
    kind: FieldKind::Number,
    words: "a whole number: what has a higher one is drawn over what has a lower one (0)",
};
const TINT: Field = Field {
    name: "tint",
    kind: FieldKind::Numbers(4),
    words: "red, green, blue and alpha from 0 to 255 that all of it is multiplied with",
};
const PIXELS: Field = Field {
    name: "pixels_per_metre",
    kind: FieldKind::Number,
    words: "how many texels are a metre wide (100)",
};
const PLANE: Field = Field {
    name: "plane",
    kind: FieldKind::Choice(&PLANES),
    words: "\"upright\" in the plane of its node's x and z, or \"flat\" in that of x and y",
};
const LIT: Field = Field {
    name: "lit",
    kind: FieldKind::Boolean,
    words: "whether light falls on it (false: it is shown as it was painted)",
};
const MATERIAL: Field = Field {
    name: "material",
    kind: FieldKind::Resource("material"),
    words: "the material of pictures that paints it, with a shader or a blend of its own",
};
const RANGE: Field = Field {
    name: "range",
    kind: FieldKind::Numbers(2),
    words: "metres of the camera from which on and up to which it is shown",
};
const VISIBLE: Field =
    Field { name: "visible", kind: FieldKind::Boolean, words: "whether it is seen (true)" };
const GROUP: Field = Field {
    name: "group",
    kind: FieldKind::Text,
    words: "the visibility group that it is in, for Unit.set_visibility",
};

/// The words of the field `plane`.
pub const PLANES: [&str; 2] = ["upright", "flat"];
const ALPHAS: [&str; 2] = ["blend", "mask"];

/// A picture that stands in the world.
pub static SPRITE: Component = Component {
    name: "sprite",
    words: "Shows a picture, or plays frames of a sheet, at its node.",
    fields: &[
        Field {
            name: "texture",
            kind: FieldKind::Resource("texture"),
            words: "the picture that it shows",
        },
        Field {
            name: "sheet",
            kind: FieldKind::Resource("sheet"),
            words: "the sheet whose frames it shows, in place of a texture",
        },
        Field {
            name: "tag",
            kind: FieldKind::Text,
            words: "the tag of the sheet that it plays; all frames, over and over, without one",
        },
        Field {
            name: "frame",
            kind: FieldKind::Text,
            words: "the frame of the sheet that it shows, in place of playing",
        },
        Field {
            name: "speed",
            kind: FieldKind::Number,
            words: "how fast it plays: 2 is twice as fast as the artist wanted (1)",
        },
        Field {
            name: "part",
            kind: FieldKind::Numbers(4),
            words: "left, top, width and height in texels of the part of the picture that is shown",
        },
        Field {
            name: "size",
            kind: FieldKind::Numbers(2),
            words: "width and height in metres; as its texels make without it",
        },
        Field {
            name: "pivot",
            kind: FieldKind::Numbers(2),
            words: "which point of it is at the node: [0, 0] is its left bottom ([0.5, 0.5])",
        },
        Field {
            name: "flip_x",
            kind: FieldKind::Boolean,
            words: "whether left and right are exchanged (false)",
        },
        Field {
            name: "flip_y",
            kind: FieldKind::Boolean,
            words: "whether top and bottom are exchanged (false)",
        },
        Field {
            name: "alpha",
            kind: FieldKind::Choice(&ALPHAS),
            words: "\"blend\" is seen through; \"mask\" is there or not, and casts a shadow",
        },
        PIXELS,
        TINT,
        LAYER,
        PLANE,
        LIT,
        MATERIAL,
        RANGE,
        VISIBLE,
        GROUP,
    ],
};

/// A map of tiles that stands in the world.
pub static TILEMAP: Component = Component {
    name: "tilemap",
    words: "Shows a map of Tiled or LDtk, its left bottom at its node.",
    fields: &[
        Field { name: "map", kind: FieldKind::Resource("tilemap"), words: "the map" },
        Field {
            name: "level",
            kind: FieldKind::Text,
            words: "which level of LDtk's; the first without it",
        },
        PIXELS,
        TINT,
        LAYER,
        PLANE,
        LIT,
        MATERIAL,
        RANGE,
        VISIBLE,
        GROUP,
    ],
};

/// Names of a sheet's frames as textures.
fn frame_name(sheet: &str, frame: &str) -> String {
    format!("{sheet}/{frame}")
}

fn stand(fields: &Tree, lookup: &mut dyn Lookup) -> Result<Stand, Error> {
    let usual = Stand::DEFAULT;
    let pixels_per_metre = number(fields, "pixels_per_metre").unwrap_or(usual.pixels_per_metre);
    if pixels_per_metre <= 0.0 {
        return Err(error!("'pixels_per_metre' must be above 0, got {pixels_per_metre}"));
    }
    let layer = number(fields, "layer").unwrap_or(0.0);
    check_layer(f64::from(layer)).map_err(|words| error!("'layer' {words}"))?;
    let tint = numbers::<4>(fields, "tint").unwrap_or([255.0; 4]);
    if let Some(wrong) = tint.iter().find(|part| !(0.0..=255.0).contains(*part)) {
        return Err(error!("'tint' must have parts from 0 to 255, got {wrong}"));
    }
    let lit = truth(fields, "lit").unwrap_or(usual.lit);
    let material = match text(fields, "material") {
        Some(name) if lit => {
            return Err(error!(
                "it is lit, and the material '{name}' paints it without light: take one of them out"
            ));
        }
        Some(name) => Some(lookup.picture_material(name)?),
        None => None,
    };
    Ok(Stand {
        tint: tint.map(|part| part.round() as u8),
        layer: layer as i32,
        pixels_per_metre,
        flat: text(fields, "plane") == Some(PLANES[1]),
        lit,
        material,
        range: range(fields)?,
    })
}

/// The farthest layer to either side.
pub const LAYER_MAX: f64 = 1e6;

/// Why a layer is none, if it is none.
pub fn check_layer(layer: f64) -> Result<(), String> {
    match layer.fract() == 0.0 && layer.abs() <= LAYER_MAX {
        true => Ok(()),
        false => Err(format!("must be a whole number of at most {LAYER_MAX}, got {layer}")),
    }
}

/// Why a part of a picture cannot be shown, if it cannot.
pub fn check_picture_part([left, top, width, height]: [f32; 4]) -> Result<(), String> {
    match left >= 0.0 && top >= 0.0 && width > 0.0 && height > 0.0 {
        true => Ok(()),
        false => Err(format!(
            "must be left, top, width and height in texels, the latter above 0, got {left}, {top}, \
             {width}, {height}"
        )),
    }
}

fn shows(fields: &Tree, lookup: &mut dyn Lookup) -> Result<Shows, Error> {
    let (tag, frame) = (text(fields, "tag"), text(fields, "frame"));
    match (text(fields, "texture"), text(fields, "sheet")) {
        (Some(_), Some(_)) => Err(error!("it names a texture and a sheet: take one of them out")),
        (None, None) => Err(error!("it names no picture: texture = \"ship\", or sheet = \"hero\"")),
        (Some(_), None) if tag.is_some() || frame.is_some() => {
            Err(error!("'tag' and 'frame' are of a sheet, and it names a texture"))
        }
        (Some(texture), None) => Ok(Shows::Picture(lookup.picture(texture)?)),
        (None, Some(_)) if tag.is_some() && frame.is_some() => {
            Err(error!("it has a tag to play and a frame to show: take one of them out"))
        }
        (None, Some(sheet)) => match frame {
            Some(frame) => Ok(Shows::Picture(lookup.picture(&frame_name(sheet, frame))?)),
            None => Ok(Shows::Plays(lookup.sequence(sheet, tag)?)),
        },
    }
}

/// Reads a part of the component `sprite`.
pub(super) fn sprite(
    part: &Part,
    node: u16,
    seen: &mut Seen,
    lookup: &mut dyn Lookup,
) -> Result<(), Error> {
    let fields = &part.fields;
    let usual = SpriteLook::DEFAULT;
    let size = numbers(fields, "size").unwrap_or(usual.size);
    if fields.get("size").is_some() && size.iter().any(|side| *side <= 0.0) {
        return Err(error!("'size' must be above 0 metres, got [{}, {}]", size[0], size[1]));
    }
    let of = numbers(fields, "part").unwrap_or(usual.part);
    if fields.get("part").is_some() {
        check_picture_part(of).map_err(|words| error!("'part' {words}"))?;
    }
    let speed = number(fields, "speed").unwrap_or(1.0);
    if speed < 0.0 {
        return Err(error!("'speed' must be 0 or more, got {speed}"));
    }
    let mask = text(fields, "alpha") == Some(ALPHAS[1]);
    let look = SpriteLook {
        stand: stand(fields, lookup)?,
        size,
        pivot: numbers(fields, "pivot").unwrap_or(usual.pivot),
        part: of,
        flip_x: truth(fields, "flip_x").unwrap_or(usual.flip_x),
        flip_y: truth(fields, "flip_y").unwrap_or(usual.flip_y),
        alpha: if mask { SpriteAlpha::Mask } else { SpriteAlpha::Blend },
    };
    let shows = shows(fields, lookup)?;
    let visible = truth(fields, "visible").unwrap_or(true);
    let group = group(fields, seen)?;
    let name = part.name.clone();
    seen.sprites.push(SpritePart { name, node, look, shows, speed, visible, group });
    Ok(())
}

/// Reads a part of the component `tilemap`.
pub(super) fn tilemap(
    part: &Part,
    node: u16,
    seen: &mut Seen,
    lookup: &mut dyn Lookup,
) -> Result<(), Error> {
    let fields = &part.fields;
    let Some(map) = text(fields, "map") else {
        return Err(error!("it names no map: map = \"maps/cave\""));
    };
    let level = text(fields, "level");
    lookup.tilemap(map, level)?;
    let (stand, group) = (stand(fields, lookup)?, group(fields, seen)?);
    seen.maps.push(MapPart {
        name: part.name.clone(),
        node,
        map: map.to_string(),
        level: level.map(str::to_string),
        stand,
        visible: truth(fields, "visible").unwrap_or(true),
        group,
    });
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::mesh_part::seen;
    use super::super::scene::{NO_NODE, Pose};
    use super::super::sprite::SequenceNumber;
    use super::super::unit_resource::UnitResource;
    use super::*;
    use crate::foundation::{Handle, Kind, Slots, sjson};
    use crate::system::models::MeshNumber;
    use crate::system::textures::TextureNumber;

    /// The material "glow".
    fn glow() -> Handle {
        Slots::new(Kind::Material, 1).add(()).unwrap()
    }

    /// Knows every picture, the tag "run", and maps of one level.
    struct Known;

    impl Lookup for Known {
        fn mesh(&mut self, model: &str, _: Option<&str>) -> Result<(MeshNumber, usize), Error> {
            Err(error!("there is no model '{model}'"))
        }

        fn material(&mut self, name: &str) -> Result<Handle, Error> {
            Err(error!("there is no material '{name}'"))
        }

        fn picture_material(&mut self, name: &str) -> Result<Handle, Error> {
            match name {
                "glow" => Ok(glow()),
                _ => Err(error!("there is no material '{name}'")),
            }
        }

        fn picture(&mut self, name: &str) -> Result<TextureNumber, Error> {
            Ok(TextureNumber(name.len() as u32))
        }

        fn sequence(&mut self, _: &str, tag: Option<&str>) -> Result<SequenceNumber, Error> {
            match tag {
                None => Ok(SequenceNumber(0)),
                Some("run") => Ok(SequenceNumber(1)),
                Some(tag) => Err(error!("there is no tag '{tag}'")),
            }
        }

        fn tilemap(&mut self, _: &str, level: Option<&str>) -> Result<(), Error> {
            level.map_or(Ok(()), |level| Err(error!("there is no level '{level}'")))
        }
    }

    /// What is made of the fields of one component.
    fn read(component: &str, fields: &str) -> Result<Seen, String> {
        let name = "it".to_string();
        let fields = sjson::parse(fields).unwrap().to_tree();
        let unit = UnitResource {
            name: "units/it".to_string(),
            node_names: vec!["root".to_string()],
            node_hashes: Vec::new(),
            parents: vec![NO_NODE],
            poses: vec![Pose::IDENTITY],
            parts: vec![Part { name, component: component.to_string(), fields }],
            data: Tree::Object(Vec::new()),
            bases: Vec::new(),
            twice: Vec::new(),
            seen: Seen::default(),
        };
        seen(&unit, &mut Known).map_err(|fault| fault.message)
    }

    #[test]
    fn a_sprite_is_what_its_fields_say() {
        let seen = read(
            "sprite",
            "sheet = \"hero\" tag = \"run\" speed = 2 pivot = [0, 1] flip_y = true layer = -3 \
             tint = [1, 2, 3, 4] plane = \"flat\" lit = true alpha = \"mask\" visible = false \
             pixels_per_metre = 16 part = [8, 0, 4, 4] group = \"skin\"",
        );
        let seen = seen.unwrap();
        let sprite = &seen.sprites[0];
        assert_eq!((sprite.shows, sprite.speed), (Shows::Plays(SequenceNumber(1)), 2.0));
        assert_eq!((sprite.visible, sprite.group), (false, 0));
        let stand = Stand {
            tint: [1, 2, 3, 4],
            layer: -3,
            pixels_per_metre: 16.0,
            flat: true,
            lit: true,
            ..Stand::DEFAULT
        };
        let look = SpriteLook {
            stand,
            size: [0.0; 2],
            pivot: [0.0, 1.0],
            part: [8.0, 0.0, 4.0, 4.0],
            flip_x: false,
            flip_y: true,
            alpha: SpriteAlpha::Mask,
        };
        assert_eq!(sprite.look, look);
        let plain = read("sprite", "texture = \"ship\"").unwrap();
        assert_eq!(plain.sprites[0].look, SpriteLook::DEFAULT);
        assert_eq!(plain.sprites[0].shows, Shows::Picture(TextureNumber(4)));
        let glowing = "map = \"cave\" material = \"glow\" range = [2, 9]";
        let glowing = read("tilemap", glowing).unwrap().maps[0].stand;
        let wanted = Stand { material: Some(glow()), range: [2.0, 9.0], ..Stand::DEFAULT };
        assert_eq!(glowing, wanted);
        let frame = read("sprite", "sheet = \"hero\" frame = \"1\"").unwrap();
        assert_eq!(frame.sprites[0].shows, Shows::Picture(TextureNumber(6)));
        let map = read("tilemap", "map = \"cave\" layer = 2").unwrap();
        assert_eq!((map.maps[0].map.as_str(), map.maps[0].stand.layer), ("cave", 2));
    }

    #[test]
    fn what_cannot_be_shown_says_why() {
        let check = |component: &str, fields: &str, words: &str| {
            let wanted = format!("component 'it': {words}");
            assert_eq!(read(component, fields).unwrap_err(), wanted);
        };
        check(
            "sprite",
            "layer = 1",
            "it names no picture: texture = \"ship\", or sheet = \"hero\"",
        );
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
            &ship("range = [3, 2]"),
            "'range' must rise from 0 or more, got [3, 2]: it is shown between two distances",
        );
        check("tilemap", "layer = 1", "it names no map: map = \"maps/cave\"");
        check("tilemap", "map = \"cave\" level = \"x\"", "there is no level 'x'");
    }
}
