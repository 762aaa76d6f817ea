//! Tests of the tile map compilers: both forms of Tiled maps and LDtk maps give the same result,
//! tiles are found and flipped, and errors are reported.

use super::resource::TILEMAP;
use super::*;
use engine_foundation::sjson::SjsonTree;
use engine_resource::resource_kind::{CompileContext, SourceForm};

/// Compiles a file with this path and text. `others` are the game's other files, by path.
pub(super) fn compiled(
    path: &str,
    text: &str,
    others: &[(&str, &str)],
) -> Result<(MapFile, Vec<String>), String> {
    let others: Vec<_> = others.iter().map(|(path, text)| (*path, text.as_bytes())).collect();
    compiled_with(path, text, &others)
}

/// Compiles a file with this path and text. `others` are the game's other files, by path.
pub(super) fn compiled_with(
    path: &str,
    text: &str,
    others: &[(&str, &[u8])],
) -> Result<(MapFile, Vec<String>), String> {
    let read = |wanted: &str| {
        let found = others.iter().find(|(path, _)| *path == wanted);
        found.map(|(_, bytes)| bytes.to_vec()).ok_or_else(|| error!("{wanted} is not there"))
    };
    let form = if path.ends_with(".tilemap") { SourceForm::Own } else { SourceForm::Raw };
    let name = ResourceName::new("tilemap", "maps/cave");
    let bytes = text.as_bytes().to_vec();
    let mut compiling = CompileContext::new(name, path.to_string(), form, bytes, false, &read);
    let data = (TILEMAP.compile)(&mut compiling).map_err(|error| error.message)?;
    let named = compiling.references.iter().map(ToString::to_string).collect();
    Ok((MapFile::read(&data).map_err(|error| error.message)?, named))
}

pub(super) fn tilemap(world: MapFile) -> Tilemap {
    let layers = &world.maps[0].layers;
    Tilemap {
        name: "maps/cave".to_string(),
        tiles: layers.iter().map(|layer| layer.tiles.clone()).collect(),
        visible: layers.iter().map(|layer| layer.visible).collect(),
        map: 0,
        owner: None,
        edits: TilemapEdits::default(),
        has_body: false,
        edited_parts: BTreeSet::new(),
        has_walls: false,
        edited_walls: BTreeSet::new(),
        state: 0,
        map_file: Arc::new(world),
    }
}

const SET: &str = r#""name":"rock","image":"../tiles/rock.png","imagewidth":32,"imageheight":16,
    "tilewidth":8,"tileheight":8,"columns":4,"tilecount":8,"margin":0,"spacing":0,
    "tiles":[{"id":1,"type":"wall","properties":[{"name":"solid","type":"bool","value":true}]},
             {"id":2,"animation":[{"tileid":2,"duration":100},{"tileid":3,"duration":300}]}]"#;

fn json(data: &str) -> String {
    format!(
        r#"{{"type":"map","orientation":"orthogonal","width":3,"height":2,"tilewidth":8,
        "tileheight":8,"infinite":false,"properties":[{{"name":"title","value":"Cave"}}],
        "tilesets":[{{"firstgid":1,{SET}}}],
        "layers":[
          {{"type":"group","offsetx":4,"layers":[
            {{"type":"tilelayer","name":"ground","width":3,"height":2,"opacity":0.5,"visible":true,
              "data":{data}}}]}},
          {{"type":"objectgroup","name":"things","objects":[
            {{"id":1,"name":"door","type":"exit","x":8,"y":4,"width":8,"height":8,"rotation":0}},
            {{"id":2,"name":"key","gid":3,"x":0,"y":16,"width":8,"height":8}},
            {{"id":3,"name":"way","x":0,"y":0,"polyline":[{{"x":0,"y":0}},{{"x":4,"y":6}}]}}]}}]}}"#
    )
}

const XML: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<!-- a cave -->
<map version="1.10" orientation="orthogonal" width="3" height="2" tilewidth="8" tileheight="8"
     infinite="0">
 <properties><property name="title" value="Cave"/></properties>
 <tileset firstgid="1" source="rock.tsx"/>
 <group offsetx="4">
  <layer id="1" name="ground" width="3" height="2" opacity="0.5">
   <data encoding="csv">
1,2,0,
3,0,2147483650
</data>
  </layer>
 </group>
 <objectgroup id="2" name="things">
  <object id="1" name="door" type="exit" x="8" y="4" width="8" height="8"/>
  <object id="2" name="key" gid="3" x="0" y="16" width="8" height="8"/>
  <object id="3" name="way" x="0" y="0"><polyline points="0,0 4,6"/></object>
 </objectgroup>
</map>"#;

const TSX: &str = r#"<tileset name="rock" tilewidth="8" tileheight="8" tilecount="8" columns="4">
 <image source="../tiles/rock.png" width="32" height="16"/>
 <tile id="1" type="wall"><properties><property name="solid" type="bool" value="true"/></properties>
 </tile>
 <tile id="2"><animation><frame tileid="2" duration="100"/><frame tileid="3" duration="300"/>
 </animation></tile>
</tileset>"#;

#[test]
fn both_formats_of_tiled_are_equivalent() {
    let text = json("[1,2,0,3,0,2147483650]");
    let (json, named) = compiled("maps/cave.tmj", &text, &[]).unwrap();
    assert_eq!(named, ["tiles/rock.texture"]);
    let (xml, also) = compiled("maps/cave.tmx", XML, &[("maps/rock.tsx", TSX)]).unwrap();
    assert_eq!((&xml.maps, &xml.sets, also), (&json.maps, &json.sets, named));
    let own = [("maps/cave.tmx", XML), ("maps/rock.tsx", TSX)];
    let (own, _) = compiled("maps/x.tilemap", "map = \"cave.tmx\"", &own).unwrap();
    assert_eq!(own.maps, json.maps);
    let map = &json.maps[0];
    assert_eq!((map.grid.columns, map.grid.rows, map.grid.cell), (3, 2, [8.0, 8.0]));
    assert_eq!(
        map.properties.get("title").map(|title| format!("{title:?}")),
        Some("String(\"Cave\")".into())
    );
    let layer = &map.layers[0];
    // Rows from the bottom.
    assert_eq!(*layer.tiles, [3, 0, 2 | FLIP_X, 1, 2, 0]);
    assert_eq!((layer.x, layer.y, layer.opacity, layer.visible), (4.0, 0.0, 0.5, true));
    let positions: Vec<_> = map.objects.iter().map(|it| (it.name.as_str(), it.x, it.y)).collect();
    assert_eq!(positions, [("door", 8.0, 4.0), ("key", 0.0, 0.0), ("way", 0.0, 16.0)]);
    assert_eq!(map.objects[2].points, [[0.0, 0.0], [4.0, -6.0]]);
    assert_eq!((map.objects[0].kind.as_str(), map.objects[1].tile), ("exit", 3));
}

#[test]
fn tiles_are_drawn_at_their_cells_rotated_and_animated() {
    let (world, _) = compiled("maps/cave.tmj", &json("[1,2,0,3,0,2147483650]"), &[]).unwrap();
    let mut map = tilemap(world);
    let mut quads = Vec::new();
    map.quads(0, [-100.0, -100.0, 100.0, 100.0], 0.0, &mut quads);
    assert_eq!(quads.len(), 4);
    // The upper row first: tile 1 at the left.
    assert_eq!(quads[0].corners, [4.0, 8.0, 12.0, 8.0, 12.0, 16.0, 4.0, 16.0]);
    let [[left, top], [right, bottom]] = quads[0].part;
    assert!(
        left < 0.001 && top < 0.001 && (right - 0.25).abs() < 0.001 && (bottom - 0.5).abs() < 0.001
    );
    // The flipped tile: its left side is at the right.
    assert_eq!(quads[3].corners, [28.0, 0.0, 20.0, 0.0, 20.0, 8.0, 28.0, 8.0]);
    // The animated tile shows the next frame after a while.
    let part = |map: &Tilemap, seconds: f64| {
        let mut quads = Vec::new();
        map.quads(0, [4.0, 0.0, 6.0, 2.0], seconds, &mut quads);
        quads[0].part[0][0]
    };
    assert!((part(&map, 0.05) - 0.5).abs() < 0.001 && (part(&map, 0.15) - 0.75).abs() < 0.001);
    assert!((part(&map, 0.45) - 0.5).abs() < 0.001);
    quads.clear();
    map.quads(0, [500.0, 0.0, 600.0, 10.0], 0.0, &mut quads);
    map.quads(0, [-500.0, 0.0, -100.0, 10.0], 0.0, &mut quads);
    assert!(quads.is_empty(), "{quads:?}");
    assert!(map.set_tile(0, 1, 2, 0) && !map.set_tile(0, 4, 1, 1) && !map.set_tile(0, 0, 1, 1));
    assert_eq!((map.tile(0, 1, 2), map.tile(0, 2, 2), map.tile(0, 9, 9)), (Some(0), Some(2), None));
    assert_eq!((map.set_of(2), map.set_of(9), map.set_of(0)), (Some((0, 1)), None, None));
}

const LDTK: &str = r#"{"externalLevels":false,
  "defs":{"tilesets":[{"uid":7,"identifier":"Rock","relPath":"../tiles/rock.png","pxWid":32,
    "pxHei":16,"tileGridSize":8,"spacing":0,"padding":0,"__cWid":4,"__cHei":2,"customData":[]}]},
  "levels":[{"identifier":"Entry","pxWid":24,"pxHei":16,"fieldInstances":[
      {"__identifier":"Music","__value":"drip"}],
    "layerInstances":[
      {"__identifier":"Things","__type":"Entities","__gridSize":8,"__cWid":3,"__cHei":2,
       "entityInstances":[{"__identifier":"Player","px":[12,16],"__pivot":[0.5,1],"width":8,
         "height":8,"fieldInstances":[{"__identifier":"hp","__value":3}]}],
       "gridTiles":[],"autoLayerTiles":[],"intGridCsv":[]},
      {"__identifier":"Ground","__type":"IntGrid","__gridSize":8,"__cWid":3,"__cHei":2,
       "__opacity":1,"visible":true,"__tilesetDefUid":7,"__pxTotalOffsetX":0,"__pxTotalOffsetY":0,
       "intGridCsv":[1,0,0,1,1,2],"entityInstances":[],"gridTiles":[],
       "autoLayerTiles":[{"px":[0,0],"src":[0,0],"f":0,"t":0},{"px":[16,8],"src":[8,0],"f":1,"t":1},
         {"px":[16,8],"src":[16,0],"f":0,"t":2}]}]},
   {"identifier":"Exit","pxWid":8,"pxHei":8,"layerInstances":[]}]}"#;

#[test]
fn ldtk_levels_are_maps() {
    let (world, named) = compiled("maps/cave.ldtk", LDTK, &[]).unwrap();
    assert_eq!(named, ["tiles/rock.texture"]);
    assert_eq!(
        world.maps.iter().map(|map| map.name.as_str()).collect::<Vec<_>>(),
        ["Entry", "Exit"]
    );
    let map = &world.maps[0];
    assert_eq!((map.grid.columns, map.grid.rows), (3, 2));
    let names: Vec<_> = map.layers.iter().map(|layer| layer.name.as_str()).collect();
    assert_eq!(names, ["Ground", "Ground 2"]);
    assert_eq!(*map.layers[0].tiles, [0, 0, 2 | FLIP_X, 1, 0, 0]);
    assert_eq!(*map.layers[1].tiles, [0, 0, 3, 0, 0, 0]);
    assert_eq!(map.grids[0].values, [1, 1, 2, 1, 0, 0]);
    let player = &map.objects[0];
    assert_eq!((player.x, player.y, player.layer.as_str()), (8.0, 0.0, "Things"));
}

#[test]
fn tiles_without_a_tile_set_are_reported() {
    let (world, _) = compiled("maps/cave.tmj", &json("[1,99,0,2147483747,3,40]"), &[]).unwrap();
    assert_eq!(
        world.unknown_tiles,
        [
            "maps/cave.tmj: layer 'ground' has tile 40 in 1 cell, and no tile set has it: nothing \
             is shown there",
            "maps/cave.tmj: layer 'ground' has tile 99 in 2 cells, and no tile set has it: nothing \
             is shown there",
        ]
    );
    let (world, _) = compiled("maps/cave.tmj", &json("[1,2,0,3,0,2147483650]"), &[]).unwrap();
    assert_eq!(world.unknown_tiles, [""; 0]);
    let text = json("[1,2,0,3,0,4]").replace("\"gid\":3", "\"gid\":2147483657");
    let (world, _) = compiled("maps/cave.tmj", &text, &[]).unwrap();
    let message = "maps/cave.tmj: object 'key' is shown as tile 9, and no tile set has it";
    assert_eq!(world.unknown_tiles, [message]);
    // In LDtk, a tile number beyond its set must not select a tile of the next set.
    let second = r#"{"uid":8,"relPath":"../tiles/sand.png","pxWid":32,"pxHei":16,"tileGridSize":8,
        "__cWid":4,"__cHei":2}]"#;
    let text = LDTK.replace("\"customData\":[]}]", &format!("\"customData\":[]}},{second}"));
    let text = text.replace("\"t\":1}", "\"t\":8}").replace("\"t\":2}", "\"t\":-1}");
    let (world, _) = compiled("maps/cave.ldtk", &text, &[]).unwrap();
    assert_eq!((world.sets.len(), &*world.maps[0].layers[0].tiles), (2, &vec![0, 0, 0, 1, 0, 0]));
    let layer = "maps/cave.ldtk: level 'Entry', layer 'Ground' has tile";
    let message = "in 1 cell, and no tile set has it: nothing is shown there";
    assert_eq!(
        world.unknown_tiles,
        [format!("{layer} -1 {message}"), format!("{layer} 8 {message}")]
    );
    let many: Vec<String> = (0..20).map(|tile| (50 + tile).to_string()).collect();
    let text = json(&format!("[{}]", many.join(",")));
    let text = text
        .replace("\"width\":3,\"height\":2,\"opacity\"", "\"width\":10,\"height\":2,\"opacity\"");
    let (world, _) = compiled("maps/cave.tmj", &text, &[]).unwrap();
    assert_eq!(world.unknown_tiles.len(), 9);
    assert_eq!(world.unknown_tiles[8], "maps/cave.tmj: layer 'ground' has 12 more of these tiles");
}

#[test]
fn tangents_follow_the_flips_of_tiles() {
    // The flags of Tiled: across, down, and across the diagonal.
    let (across, down, diagonal) = (1u32 << 31, 1u32 << 30, 1u32 << 29);
    let cases = [
        (0, [127, 0, 0, 127]),
        (across, [-127, 0, 0, -127]),
        (down, [127, 0, 0, -127]),
        (across | down, [-127, 0, 0, 127]),
        // Right and down are exchanged, then flipped.
        (diagonal, [0, 0, -127, -127]),
        (diagonal | across, [0, 0, -127, 127]),
        (diagonal | down, [0, 0, 127, 127]),
        (diagonal | across | down, [0, 0, 127, -127]),
    ];
    for (flips, tangent) in cases {
        let tile = 1 | flips;
        let (world, _) =
            compiled("maps/cave.tmj", &json(&format!("[{tile},0,0,0,0,0]")), &[]).unwrap();
        let map = tilemap(world);
        let (mesh, _) = map.chunk_mesh(chunks(&map)[0], 0.0, 1.0, &[false]);
        assert!(mesh.vertices.iter().all(|vertex| vertex.tangent == tangent), "{flips:x}");
        // The direction in which u grows, from the positions.
        let at = |index: usize| mesh.vertices[index].position;
        let right = [0, 2].map(|axis| (at(1)[axis] - at(0)[axis]).signum());
        let along = [0, 2].map(|axis| f32::from(tangent[axis]) / 127.0);
        assert!(right[0] * along[0] + right[1] * along[1] > 0.5, "{flips:x}");
    }
}

#[test]
fn filtered_tiles_do_not_bleed_into_each_other() {
    let (world, _) = compiled("maps/cave.tmj", &json("[1,2,0,3,0,2147483650]"), &[]).unwrap();
    let map = tilemap(world);
    let chunk = chunks(&map)[0];
    let edges = |smooth: bool| {
        let (mesh, sets) = map.chunk_mesh(chunk, 0.0, 1.0, &[smooth]);
        assert_eq!((sets, mesh.vertices.len()), (vec![0], 16));
        // The first tile is at the top left of its image of 32 by 16 texels.
        let us = mesh.vertices[..4].iter().map(|vertex| vertex.uv[0] * 32.0);
        let vs = mesh.vertices[..4].iter().map(|vertex| vertex.uv[1] * 16.0);
        let ends = |all: Vec<f32>| {
            let [least, most] = [f32::min, f32::max].map(|of| all.iter().copied().reduce(of));
            [least.unwrap(), most.unwrap()]
        };
        [ends(us.collect()), ends(vs.collect())]
    };
    for [least, most] in edges(true) {
        assert!((0.5..0.51).contains(&least) && (7.49..=7.5).contains(&most), "{least} {most}");
    }
    for [least, most] in edges(false) {
        assert!((0.0..0.01).contains(&least) && (7.99..=8.0).contains(&most), "{least} {most}");
    }
}

#[test]
fn unsupported_maps_are_refused_with_a_remedy() {
    let check = |path: &str, text: &str, message: &str| {
        assert_eq!(compiled(path, text, &[]).unwrap_err(), message);
    };
    check(
        "maps/cave.tmj",
        &json("[1,2]"),
        "maps/cave.tmj: layer 'ground' has 2 tiles in place of 3 × 2",
    );
    check(
        "maps/cave.tmj",
        &json("[1,2,0,3,0,-5]"),
        "maps/cave.tmj: layer 'ground' has a tile that is not a tile number",
    );
    check(
        "maps/cave.tmj",
        "{\"orientation\":\"oblique\"}",
        "maps/cave.tmj: the map is oblique, and the engine draws orthogonal, isometric, staggered \
         and hexagonal ones: set its orientation in Tiled",
    );
    check(
        "maps/cave.tmx",
        "<map orientation=\"orthogonal\">",
        "maps/cave.tmx:1: the element 'map' has no end: the file is cut short",
    );
    check(
        "maps/cave.tmx",
        "<map\n",
        "maps/cave.tmx:1: a tag or a comment has no end: the file is cut short",
    );
    check(
        "maps/cave.tmx",
        "<?xml version=\"1.0\"?>\n",
        "maps/cave.tmx:1: the file has no XML element: save it in Tiled again",
    );
    check(
        "maps/cave.tmx",
        "<map orientation=orthogonal></map>",
        "maps/cave.tmx:1: the attributes of 'map' cannot be read",
    );
    check(
        "maps/cave.ldtk",
        "{\"levels\":[{\"externalRelPath\":\"cave/A.ldtkl\"}]}",
        "maps/cave/A.ldtkl is not there",
    );
    check("maps/cave.ldtk", "{}", "maps/cave.ldtk: there is no map in it");
    check(
        "maps/x.tilemap",
        "mapp = 3",
        "maps/x.tilemap:1: unknown key 'mapp', did you mean 'map'?",
    );
    check(
        "maps/x.tilemap",
        "",
        "maps/x.tilemap: it must name a map of Tiled or LDtk next to it: map = \"cave.tmx\"",
    );
    check("maps/x.tilemap", "map = \"cave.png\"", "maps/cave.png is not there");
    let deep = format!("<map>{}", "<a>".repeat(100));
    assert!(compiled("maps/cave.tmx", &deep, &[]).unwrap_err().contains("nested too deep"));
}

#[test]
fn small_files_that_expand_too_much_are_refused() {
    let refused = |path: &str, text: &str| compiled(path, text, &[]).unwrap_err();
    let tile = "{\"px\":[0,0],\"src\":[0,0],\"f\":0,\"t\":0}";
    let layer = |side: usize, tiles: usize| {
        let tiles = vec![tile; tiles].join(",");
        format!(
            "{{\"__identifier\":\"Ground\",\"__gridSize\":8,\"__cWid\":{side},\"__cHei\":{side},\
             \"__tilesetDefUid\":7,\"gridTiles\":[{tiles}]}}"
        )
    };
    let world = |layers: &[String]| {
        format!(
            "{{\"defs\":{{\"tilesets\":[{{\"uid\":7,\"relPath\":\"rock.png\",\"pxWid\":16,\
             \"pxHei\":16,\"tileGridSize\":8,\"__cWid\":2,\"__cHei\":2}}]}},\"levels\":[{{\
             \"identifier\":\"A\",\"pxWid\":8,\"pxHei\":8,\"layerInstances\":[{}]}}]}}",
            layers.join(",")
        )
    };
    // Each stacked tile takes a whole layer.
    assert_eq!(
        refused("maps/x.ldtk", &world(&[layer(8, 65)])),
        "maps/x.ldtk: layer 'Ground' has more than 64 tiles on one cell (STACKED_MAX): make layers \
         of them"
    );
    assert_eq!(
        refused("maps/x.ldtk", &world(&vec![layer(2048, 1); 3])),
        "maps/x.ldtk: its layers have more than 8388608 tiles in all (FILE_TILES_MAX): make two \
         files of it"
    );
    assert!(compiled("maps/x.ldtk", &world(&vec![layer(8, 64); 3]), &[]).is_ok());
    let far = |x: &str, width: &str| {
        let chunk = format!(
            "[{{\"x\":{x},\"y\":0,\"width\":{width},\"height\":1,\"data\":[1,1]}},\
             {{\"x\":0,\"y\":0,\"width\":1,\"height\":1,\"data\":[1]}}]"
        );
        refused(
            "maps/x.tmj",
            &json("[]").replacen("\"data\":[]", &format!("\"chunks\":{chunk}"), 1),
        )
    };
    for (x, width) in [("1e9", "2"), ("-1e300", "2"), ("1.7e308", "1.7e308")] {
        let message = far(x, width);
        let refused = ["move its parts together, or split it", "save the map again in Tiled"];
        assert!(refused.iter().any(|end| message.ends_with(end)), "{message}");
    }
}

#[test]
fn xml_numbers_are_finite_and_entities_are_bounded() {
    let map = |width: &str, text: &str| {
        let text = format!(
            "<map orientation=\"orthogonal\" width=\"{width}\" height=\"1\" tilewidth=\"8\" \
             tileheight=\"8\"><properties><property name=\"a\" type=\"float\" value=\"{width}\"/>\
             </properties><layer name=\"l\" width=\"1\" height=\"1\"><data encoding=\"csv\">0\
             </data></layer>{text}</map>"
        );
        compiled("maps/x.tmx", &text, &[])
    };
    for number in ["inf", "-infinity", "NaN", "1e999", "1e2147483648"] {
        let wanted = format!("maps/x.tmx:1: 'width' of 'map' must be a number, got '{number}'");
        assert_eq!(map(number, "").unwrap_err(), wanted);
    }
    let (world, _) = map("1e-2147483648", "").unwrap();
    assert_eq!(world.maps[0].properties.get("a"), Some(&SjsonTree::Number(0.0)));
    // Without the limit, each '&' without a ';' would scan all the following text.
    assert!(map("1", &"&".repeat(4 << 20)).is_ok());
}

#[test]
fn a_layer_with_fractional_tiles_is_refused() {
    let check = |path: &str, text: &str, message: &str| {
        let found = compiled(path, text, &[]).unwrap_err();
        assert!(found.starts_with(message), "{found}");
    };
    let size = "\"__cWid\":3,\"__cHei\":2,\n       \"__opacity\"";
    assert!(LDTK.contains(size));
    let sized = |size_of: &str| LDTK.replace(size, &format!("{size_of},\"__opacity\""));
    check(
        "maps/cave.ldtk",
        &sized("\"__cWid\":2.5,\"__cHei\":2"),
        "maps/cave.ldtk: layer 'Ground' has 2.5 × 2 tiles, which must be whole numbers: save",
    );
}
