//! Tests of limits and wrong values in maps of Tiled: chunks, tile numbers, positions, tile sets,
//! templates and objects.

use super::tests::{ORTHOGONAL, SET, layer, map, refused, xml};
use crate::tests::{compiled, tilemap};

#[test]
fn an_infinite_map_without_chunks_has_the_stated_cells() {
    let empty = "<layer name=\"l\" width=\"30\" height=\"20\"><data encoding=\"csv\"></data>\
                 </layer>";
    let file = map(&format!("{ORTHOGONAL} infinite=\"1\""), empty);
    let data = &file.maps[0];
    assert_eq!((data.grid.columns, data.grid.rows), (3, 2));
    assert_eq!(*data.layers[0].tiles, [0; 6]);
    let json = r#"{"orientation":"orthogonal","width":3,"height":2,"tilewidth":8,"tileheight":8,
        "infinite":true,"layers":[{"type":"tilelayer","name":"l","width":30,"height":20,
        "startx":0,"starty":0,"chunks":[]}]}"#;
    let (file, _) = compiled("x.tmj", json, &[]).unwrap();
    assert_eq!(*file.maps[0].layers[0].tiles, [0; 6]);
}

fn chunk(rectangle: [i32; 4], tiles: &str) -> String {
    let [x, y, width, height] = rectangle;
    format!(
        "<layer name=\"l\"><data encoding=\"csv\"><chunk x=\"{x}\" y=\"{y}\" width=\"{width}\" \
         height=\"{height}\">{tiles}</chunk></data></layer>"
    )
}

#[test]
fn a_chunk_has_as_many_tiles_as_it_states() {
    for (tiles, count) in [("1,1,1", 3), ("1,1,1,1,1", 5)] {
        assert_eq!(
            refused(ORTHOGONAL, &chunk([-2, 4, 2, 2], tiles)),
            format!(
                "maps/x.tmx: layer 'l' has {count} tiles in place of 2 × 2 in its chunk at -2, 4: \
                 save the map again in Tiled"
            )
        );
    }
}

#[test]
fn infinite_layer_without_chunks_begins_at_the_origin() {
    // As in Tiled's reader.
    let layers = chunk([-1, -1, 1, 1], "5") + &layer("", "1,2,3,4,5,6");
    let file = map(ORTHOGONAL, &layers);
    let data = &file.maps[0];
    assert_eq!((data.grid.columns, data.grid.rows), (4, 3));
    assert_eq!(*data.layers[0].tiles, [0, 0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0]);
    assert_eq!(*data.layers[1].tiles, [0, 4, 5, 6, 0, 1, 2, 3, 0, 0, 0, 0]);
    assert_eq!(
        refused(ORTHOGONAL, &(chunk([-1, -1, 1, 1], "5") + &layer("", "1,2,3"))),
        "maps/x.tmx: layer 'ground' has 3 tiles in place of 3 × 2 in its chunk at 0, 0: save the \
         map again in Tiled"
    );
}

#[test]
fn numbers_of_tiles_that_no_file_of_tiled_has_are_refused() {
    let object = |tile: &str| {
        format!("<objectgroup name=\"o\"><object name=\"key\" gid=\"{tile}\"/></objectgroup>")
    };
    for (tile, shown) in [("1e12", "1000000000000.0"), ("-5", "-5.0"), ("1.5", "1.5")] {
        assert_eq!(
            refused(ORTHOGONAL, &object(tile)),
            format!(
                "maps/x.tmx: object 'key' is shown as tile {shown}, and the number of a tile is a \
                 whole number from 0 to 4294967295: replace its tile in Tiled"
            )
        );
    }
    let template = "<template><tileset firstgid=\"9\" source=\"r.tsx\"/><object gid=\"2\"/>\
                    </template>";
    let set = SET.replace(" firstgid=\"1\"", "");
    let text = xml(
        ORTHOGONAL,
        "<objectgroup name=\"o\"><object id=\"1\" template=\"t.tx\"/></objectgroup>",
    );
    assert_eq!(
        compiled("x.tmx", &text, &[("t.tx", template), ("r.tsx", &set)]).unwrap_err(),
        "t.tx: the object is shown as tile -6.0 of the map, which its tile set does not have: \
         replace its tile in Tiled"
    );
}

#[test]
fn positions_that_are_too_large_are_refused_by_name() {
    let inner = layer("offsetx=\"1e308\"", "1,0,0,0,0,0");
    for (outer, name) in [("1e308", "outer"), ("1e9", "ground"), ("0", "ground")] {
        let group = format!("<group name=\"outer\" offsetx=\"{outer}\">{inner}</group>");
        assert_eq!(
            refused(ORTHOGONAL, &group),
            format!(
                "maps/x.tmx: the Offset of layer '{name}', with those of its groups, is 1e308, and \
                 1e9 is the most: change it in Tiled"
            )
        );
    }
    let object = "<objectgroup name=\"o\" offsetx=\"4\"><object name=\"key\" x=\"1e308\" y=\"2\" \
                  width=\"1e308\"/></objectgroup>";
    assert_eq!(
        refused(ORTHOGONAL, object),
        "maps/x.tmx: object 'key' of 1e308 × 0e0 texels is at 1e308, 2e0, and 1e9 is the most: \
         move it in Tiled"
    );
    let set = SET.replace(
        "</tileset>",
        "<tile id=\"0\"><animation><frame tileid=\"0\" \
                                         duration=\"1e308\"/></animation></tile></tileset>",
    );
    assert!(compiled("x.tmx", &xml(ORTHOGONAL, &set), &[]).is_ok());
}

#[test]
fn an_infinite_number_in_compiled_data_is_refused_by_its_field() {
    let tree = |field: &str| {
        let tree = engine_foundation::sjson::parse_bytes(
            format!("maps = [{{ tile_width = 8 tile_height = 8 objects = [{{ {field} = 1 }}] }}]")
                .as_bytes(),
        );
        let mut tree = tree.expect("it is valid").to_tree();
        set_infinite(&mut tree);
        tree
    };
    assert!(crate::MapFile::of(&tree("kind")).is_ok());
    assert_eq!(
        crate::MapFile::of(&tree("rotation")).unwrap_err().message,
        "'rotation' must be a number up to 1e9, got inf"
    );
}

/// Replaces each 1 by an infinite number.
fn set_infinite(tree: &mut engine_foundation::sjson::SjsonTree) {
    use engine_foundation::sjson::SjsonTree;
    match tree {
        SjsonTree::Number(number) if *number == 1.0 => *number = f64::INFINITY,
        SjsonTree::Array(items) => items.iter_mut().for_each(set_infinite),
        SjsonTree::Object(fields) => fields.iter_mut().for_each(|(_, it)| set_infinite(it)),
        _ => {}
    }
}

#[test]
fn values_of_templates_share_a_limit() {
    let template = |length: usize| {
        format!(
            "<template><object><properties><property name=\"a\" value=\"{}\"/></properties>\
             </object></template>",
            "a".repeat(length)
        )
    };
    let object = "<object name=\"tree\" template=\"t.tx\"/>";
    let objects = format!("<objectgroup name=\"o\">{}</objectgroup>", object.repeat(200));
    let text = xml(ORTHOGONAL, &objects);
    let found = compiled("x.tmx", &text, &[("t.tx", &template(1 << 20))]).unwrap_err();
    let (start, end) = found.split_once(" bytes that").expect(&found);
    assert!(start.starts_with("x.tmx: with the 1048"), "{found}");
    assert_eq!(
        end,
        " object 'tree' takes from t.tx, its objects take more than 128 MiB from templates \
         (TEMPLATE_BYTES_MAX): use smaller templates, or split the map"
    );
    assert!(compiled("x.tmx", &text, &[("t.tx", &template(1 << 10))]).is_ok());
}

#[test]
fn many_properties_of_a_template_are_merged_quickly() {
    let properties = |prefix: &str| {
        let property = |at: u32| format!("<property name=\"{prefix}{at}\" value=\"\"/>");
        let all: String = (0..20_000).map(property).collect();
        format!("<properties>{all}</properties>")
    };
    let template = format!("<template><object>{}</object></template>", properties("a"));
    let object = format!("<object template=\"t.tx\">{}</object>", properties("b"));
    let text = xml(ORTHOGONAL, &format!("<objectgroup name=\"o\">{object}</objectgroup>"));
    let start = std::time::Instant::now();
    let (file, _) = compiled("x.tmx", &text, &[("t.tx", &template)]).unwrap();
    let properties = &file.maps[0].objects[0].properties;
    assert!(properties.get("a0").is_some() && properties.get("b19999").is_some());
    assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
}

#[test]
fn files_of_tile_sets_share_a_limit() {
    let set = SET.replace("<image", &format!("<!--{}--><image", " ".repeat(1 << 20)));
    let named = |count: usize| {
        let named = |at: usize| format!("<tileset firstgid=\"{}\" source=\"r.tsx\"/>", at * 8 + 1);
        xml(ORTHOGONAL, &(0..count).map(named).collect::<String>())
    };
    assert_eq!(
        compiled("x.tmx", &named(65), &[("r.tsx", &set)]).unwrap_err(),
        "x.tmx: with r.tsx, the files of its tile sets have more than 64 MiB (SET_BYTES_MAX): use \
         each file once, or split the map"
    );
    // A file that is named twice is two sets.
    let (file, _) = compiled("x.tmx", &named(2), &[("r.tsx", &set)]).unwrap();
    assert_eq!(file.sets.iter().map(|set| set.first).collect::<Vec<_>>(), [1, 9]);
}

#[test]
fn tile_sets_without_pictures_are_limited() {
    let sets: String =
        (0..8193).map(|at| format!("<tileset firstgid=\"{}\"/>", 9000 - at)).collect();
    assert_eq!(
        compiled("x.tmx", &xml(ORTHOGONAL, &sets), &[]).unwrap_err(),
        "x.tmx: more than 8192 tile sets and pictures are used (SETS_MAX): put pictures into one \
         image"
    );
}

#[test]
fn objects_and_names_of_layers_are_limited() {
    let group = |name: &str, count: usize| {
        format!("<objectgroup name=\"{name}\">{}</objectgroup>", "<object/>".repeat(count))
    };
    assert_eq!(
        refused(ORTHOGONAL, &(group("a", 1) + &group("b", 262_144))),
        "maps/x.tmx: with layer 'b', the map has more than 262144 objects (OBJECTS_MAX): split the \
         map"
    );
    assert_eq!(
        refused(ORTHOGONAL, &group(&"n".repeat(1025), 1)),
        "maps/x.tmx: the name of a layer has 1025 bytes, and 1024 is the most (LAYER_NAME_MAX): \
         rename the layer in Tiled"
    );
    assert_eq!(map(ORTHOGONAL, &group(&"n".repeat(1024), 1)).maps[0].objects.len(), 1);
}

#[test]
fn messages_about_unknown_tiles_are_limited() {
    let objects = "<object name=\"key\" gid=\"99\"/>".repeat(20);
    let file = map(ORTHOGONAL, &format!("<objectgroup name=\"o\">{objects}</objectgroup>"));
    assert_eq!(file.unknown_tiles.len(), 9);
    assert_eq!(
        file.unknown_tiles[7..],
        [
            "maps/x.tmx: object 'key' is shown as tile 99, and no tile set has it",
            "maps/x.tmx: 12 more objects are shown as tiles of no tile set",
        ]
    );
    let file = map(ORTHOGONAL, &layer("", "99,0,0,0,0,0").repeat(100));
    assert_eq!(file.unknown_tiles.len(), 65);
    assert_eq!(
        file.unknown_tiles[64],
        "maps/x.tmx: there are 36 more messages about unknown tiles"
    );
}

#[test]
fn repeated_pictures_far_from_the_map_are_not_drawn() {
    let image = "<imagelayer name=\"sky\" repeatx=\"1\"><image source=\"s.png\" width=\"8\" \
                 height=\"16\"/></imagelayer>";
    let map = tilemap(map(ORTHOGONAL, image));
    for x in [1e32, -1e32] {
        let mut quads = Vec::new();
        map.quads(0, [x, 0.0, x, 9.0], 0.0, &mut quads);
        assert_eq!(quads, [], "{x}");
    }
}

#[test]
fn impossible_sizes_of_layers_are_refused() {
    let layer = |width: &str| {
        format!("<layer name=\"l\" width=\"{width}\" height=\"2\"><data encoding=\"csv\"/></layer>")
    };
    for width in ["-5", "2.5"] {
        let wanted = format!(
            "maps/x.tmx: layer 'l' is {width} × 2 tiles, and both must be whole numbers from 0: \
             set the size of the map in Tiled"
        );
        assert_eq!(refused(ORTHOGONAL, &layer(width)), wanted);
    }
    assert_eq!(
        refused(ORTHOGONAL, &layer("4194304")),
        "maps/x.tmx: layer 'l' has 8388608 tiles, and 4194304 is the most (TILES_MAX): split the \
         map"
    );
    for text in ["<html><body/></html>", "{\"a\": 1}"] {
        assert_eq!(
            compiled("x.tmx", text, &[]).unwrap_err(),
            "x.tmx: this is not a Tiled map: save the map in Tiled, as .tmx or .tmj"
        );
    }
}
