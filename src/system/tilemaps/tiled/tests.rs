//! Tests of Tiled's features: packed and infinite layers, orientations, collections of pictures,
//! templates, and how the editor positions, flips and orders tiles.

use crate::data::{LayerKind, TileLayer};
use crate::quads::TileQuad;
use crate::tests::{compiled, compiled_with, tilemap};
use crate::{CellShape, MapFile, Stagger, Tilemap, chunks};
use engine_foundation::sjson::SjsonTree;

pub(super) const SET: &str = "<tileset firstgid=\"1\" tilewidth=\"8\" tileheight=\"8\">\
    <image source=\"rock.png\" width=\"32\" height=\"16\"/></tileset>";

/// Returns an XML map of 3 × 2 cells of 8 × 8 texels with these attributes and children.
pub(super) fn xml(attributes: &str, children: &str) -> String {
    format!(
        "<map width=\"3\" height=\"2\" tilewidth=\"8\" tileheight=\"8\" {attributes}>{children}\
         </map>"
    )
}

pub(super) fn layer(attributes: &str, tiles: &str) -> String {
    format!(
        "<layer name=\"ground\" width=\"3\" height=\"2\" {attributes}><data encoding=\"csv\">\
         {tiles}</data></layer>"
    )
}

/// Compiles a map with the set of `SET`.
pub(super) fn map(attributes: &str, layers: &str) -> MapFile {
    let text = xml(attributes, &format!("{SET}{layers}"));
    compiled("maps/x.tmx", &text, &[]).unwrap_or_else(|message| panic!("{message}")).0
}

pub(super) fn refused(attributes: &str, layers: &str) -> String {
    compiled("maps/x.tmx", &xml(attributes, &format!("{SET}{layers}")), &[]).unwrap_err()
}

pub(super) const ORTHOGONAL: &str = "orientation=\"orthogonal\"";

fn quads(map: &Tilemap, layer: usize) -> Vec<TileQuad> {
    let mut quads = Vec::new();
    map.quads(layer, [-1000.0, -1000.0, 1000.0, 1000.0], 0.0, &mut quads);
    quads
}

/// Returns left, bottom, right and top of all quads of a layer.
fn bounds(map: &Tilemap, layer: usize) -> Vec<[f32; 4]> {
    quads(map, layer).iter().map(TileQuad::bounds).collect()
}

fn first(file: &MapFile) -> &TileLayer {
    &file.maps[0].layers[0]
}

/// The tiles 1, 2, 0, 3, 0 and a flipped 2, packed by the tools `base64`, `gzip -9n`, `zstd -19`
/// and by zlib.
const PACKED: [(&str, &str); 4] = [
    ("", "AQAAAAIAAAAAAAAAAwAAAAAAAAACAACA"),
    ("zlib", "eNpjZGBgYGKAAGYoDeQ3AAABBACJ"),
    ("gzip", "H4sIAAAAAAACA2NkYGBgYoAAZigN5DcAANBABdgYAAAA"),
    ("zstd", "KLUv/QRonQAAgsEDCfAZA/87J6VMATt//XMEAJkaA1E="),
];

#[test]
fn packed_layers_equal_listed_ones() {
    let listed = map(ORTHOGONAL, &layer("", "1,2,0,3,0,2147483650"));
    let check = |text: &str, path: &str| {
        let (file, _) = compiled(path, text, &[]).unwrap_or_else(|message| panic!("{message}"));
        assert_eq!(first(&file).tiles, first(&listed).tiles, "{text}");
    };
    for (compression, packed) in PACKED {
        let named = match compression {
            "" => String::new(),
            name => format!("compression=\"{name}\""),
        };
        let data = format!("<data encoding=\"base64\" {named}>\n   {packed}\n  </data>");
        let layer = format!("<layer name=\"ground\" width=\"3\" height=\"2\">{data}</layer>");
        check(&xml(ORTHOGONAL, &format!("{SET}{layer}")), "maps/x.tmx");
        check(
            &format!(
                r#"{{"orientation":"orthogonal","width":3,"height":2,"tilewidth":8,"tileheight":8,
                "tilesets":[{{"firstgid":1,"image":"rock.png","imagewidth":32,"imageheight":16,
                "tilewidth":8,"tileheight":8}}],"layers":[{{"type":"tilelayer","width":3,"height":2,
                "encoding":"base64","compression":"{compression}","data":"{packed}"}}]}}"#
            ),
            "maps/x.tmj",
        );
    }
    // Elements, which very old versions wrote.
    let tiles = [1u32, 2, 0, 3, 0, 2147483650].map(|tile| format!("<tile gid=\"{tile}\"/>"));
    let data = format!("<data>{}</data>", tiles.concat());
    let layer = format!("<layer width=\"3\" height=\"2\">{data}</layer>");
    check(&xml(ORTHOGONAL, &format!("{SET}{layer}")), "maps/x.tmx");
}

#[test]
fn damaged_packed_layers_are_refused_with_a_remedy() {
    let check = |width: u32, compression: &str, packed: &str, message: &str| {
        let layer = format!(
            "<layer name=\"ground\" width=\"{width}\" height=\"2\"><data encoding=\"base64\" \
             compression=\"{compression}\">{packed}</data></layer>"
        );
        assert_eq!(
            refused(ORTHOGONAL, &layer),
            format!(
                "maps/x.tmx: the tiles of layer 'ground' cannot be unpacked: {message}: save the \
                 map again in Tiled, or set its Tile Layer Format to CSV"
            )
        );
    };
    let [plain, zlib, gzip, zstd] = PACKED.map(|(_, packed)| packed);
    check(4, "zlib", zlib, "its compressed data holds 24 bytes in place of 32");
    check(2, "gzip", gzip, "its compressed data holds more than 16 bytes");
    check(2, "zstd", zstd, "it contains more than the stated 16 bytes");
    check(2, "", plain, "there are 24 bytes in place of 16");
    check(3, "gzip", &gzip[..24], "its compressed data is cut short");
    check(3, "lzma", plain, "its compression is 'lzma', and zlib, gzip and zstd are known");
    check(3, "", "A*AA", "invalid symbol at 1");
}

#[test]
fn packed_layers_share_a_limit() {
    // 4096 × 1024 empty cells in a few bytes: a frame of blocks that repeat a zero.
    let mut frame = vec![0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x38];
    for at in 0..128u32 {
        let last = u32::from(at == 127);
        frame.extend(&(last | 1 << 1 | (128 << 10) << 3).to_le_bytes()[..3]);
        frame.push(0);
    }
    let packed = data_encoding::BASE64.encode(&frame);
    let layer = format!(
        "<layer name=\"l\" width=\"4096\" height=\"1024\"><data encoding=\"base64\" \
         compression=\"zstd\">{packed}</data></layer>"
    );
    assert_eq!(
        refused(ORTHOGONAL, &layer.repeat(5)),
        "maps/x.tmx: the packed layers, and those of an infinite map, have more than 16777216 \
         cells in all (JOINED_MAX): split the map"
    );
    let large = layer.replace("1024", "1025");
    assert_eq!(
        refused(ORTHOGONAL, &large),
        "maps/x.tmx: layer 'l' has 4198400 tiles, and 4194304 is the most (TILES_MAX): split the \
         map"
    );
}

#[test]
fn chunks_of_all_layers_share_the_cells_of_the_map() {
    let chunk = |x: i32, y: i32, tile: u32| {
        format!("<chunk x=\"{x}\" y=\"{y}\" width=\"2\" height=\"1\">{tile},{tile}</chunk>")
    };
    let layer = |chunks: String| {
        format!("<layer name=\"l\"><data encoding=\"csv\">{chunks}</data></layer>")
    };
    let layers = [layer(chunk(-2, -1, 1)), layer(chunk(0, 0, 2) + &chunk(-2, 1, 3))].concat();
    let objects = "<objectgroup name=\"o\"><object id=\"1\" name=\"p\" x=\"-16\" y=\"-8\"/>\
                   </objectgroup>";
    let file = map(&format!("{ORTHOGONAL} infinite=\"1\""), &(layers + objects));
    let data = &file.maps[0];
    assert_eq!((data.grid.columns, data.grid.rows), (4, 3));
    assert_eq!(*data.layers[0].tiles, [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0]);
    assert_eq!(*data.layers[1].tiles, [3, 3, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0]);
    // The object is at the top left of the first chunk.
    assert_eq!((data.objects[0].x, data.objects[0].y), (0.0, 24.0));
    assert_eq!(bounds(&tilemap(file), 0), [[0.0, 16.0, 8.0, 24.0], [8.0, 16.0, 16.0, 24.0]]);
}

#[test]
fn chunks_of_isometric_and_staggered_maps_keep_their_positions() {
    let chunk = "<layer name=\"l\"><data encoding=\"csv\"><chunk x=\"-1\" y=\"-1\" width=\"2\" \
                 height=\"2\">1,1,1,1</chunk></data></layer><objectgroup name=\"o\"><object \
                 id=\"1\" x=\"8\" y=\"8\"/></objectgroup>";
    let file = map("orientation=\"isometric\" infinite=\"1\"", chunk);
    // The point at the cell 1, 1 is the bottom corner of the last cell, 0, 0.
    let object = &file.maps[0].objects[0];
    assert_eq!((object.x, object.y), (8.0, 0.0));
    let staggered =
        "orientation=\"staggered\" staggeraxis=\"y\" staggerindex=\"odd\" infinite=\"1\"";
    let file = map(staggered, chunk);
    // Row -1 is odd, so the first row is the one that is moved.
    let stagger = Stagger { columns: false, first: true, side: 0.0 };
    assert_eq!(file.maps[0].grid.shape, CellShape::Staggered(stagger));
    assert_eq!((file.maps[0].objects[0].x, file.maps[0].objects[0].y), (16.0, 0.0));
}

#[test]
fn missing_sizes_are_taken_from_the_image() {
    let png = engine_resource::image::encode_png(33, 17, &[0; 33 * 17 * 4]);
    let set = "<tileset firstgid=\"1\" tilewidth=\"8\" tileheight=\"8\" margin=\"1\" \
               spacing=\"1\"><image source=\"rock.png\"/></tileset>";
    let text = xml(ORTHOGONAL, &format!("{set}{}", layer("", "1,2,3,4,5,0")));
    let (file, _) = compiled_with("maps/x.tmx", &text, &[("maps/rock.png", &png)]).unwrap();
    let set = &file.sets[0];
    assert_eq!((set.image, set.columns, set.count), ([33.0, 17.0], 3, 3));
    assert_eq!(file.unknown_tiles.len(), 2, "{:?}", file.unknown_tiles);
    let message = compiled("maps/x.tmx", &text, &[]).unwrap_err();
    assert_eq!(message, "maps/rock.png is not there");
    let message = compiled("maps/x.tmx", &text, &[("maps/rock.png", "text")]).unwrap_err();
    assert!(message.starts_with("maps/rock.png: "), "{message}");
}

#[test]
fn collections_have_a_picture_for_each_tile() {
    let set = "<tileset firstgid=\"1\" tilewidth=\"8\" tileheight=\"24\" tilecount=\"3\">\
               <tile id=\"0\" type=\"wall\"><image source=\"a.png\" width=\"8\" \
               height=\"8\"/></tile>\
               <tile id=\"4\" x=\"2\" y=\"3\" width=\"8\" height=\"24\"><image source=\"b.png\" \
               width=\"64\" height=\"32\"/></tile><tile id=\"5\"><image source=\"c.png\" \
               width=\"8\" height=\"8\"/><animation><frame tileid=\"0\" duration=\"100\"/>\
               <frame tileid=\"4\" duration=\"100\"/></animation></tile></tileset>";
    let text = xml(ORTHOGONAL, &format!("{set}{}", layer("", "1,5,6,0,0,0")));
    let (file, named) = compiled("maps/x.tmx", &text, &[]).unwrap();
    assert_eq!(named, ["maps/a.texture", "maps/b.texture", "maps/c.texture"]);
    assert_eq!(file.unknown_tiles, [""; 0]);
    let numbers: Vec<_> = file.sets.iter().map(|set| (set.first, set.count)).collect();
    assert_eq!(numbers, [(1, 1), (5, 1), (6, 1)]);
    let map = tilemap(file);
    let found = quads(&map, 0);
    // Tall tiles stand on the bottom of their cell.
    assert_eq!(found[1].bounds(), [8.0, 8.0, 16.0, 32.0]);
    let [[left, top], [right, bottom]] = found[1].part;
    assert!((left - 2.0 / 64.0).abs() < 0.001 && (right - 10.0 / 64.0).abs() < 0.001);
    assert!((top - 3.0 / 32.0).abs() < 0.001 && (bottom - 27.0 / 32.0).abs() < 0.001);
    // Frames of an animation are other pictures.
    let set_at = |seconds: f64| {
        let mut quads = Vec::new();
        map.quads(0, [17.0, 9.0, 18.0, 10.0], seconds, &mut quads);
        quads.last().map(|quad| quad.set)
    };
    assert_eq!((set_at(0.05), set_at(0.15)), (Some(0), Some(1)));
    let message = compiled("maps/x.tmx", &text.replace("tileid=\"4\"", "tileid=\"3\""), &[]);
    assert_eq!(
        message.unwrap_err(),
        "maps/x.tmx: tile 5 is animated with tile 3, which does not exist"
    );
}

#[test]
fn transparent_colors_are_part_of_the_texture_name() {
    let text = xml(ORTHOGONAL, SET).replace("width=\"32\"", "trans=\"ff00ff\" width=\"32\"");
    let (file, named) = compiled("maps/x.tmx", &text, &[]).unwrap();
    assert_eq!(
        (&file.sets[0].texture[..], &named[..]),
        ("maps/rock#ff00ff", &["maps/rock.texture".to_string()][..])
    );
    let message = compiled("maps/x.tmx", &text.replace("ff00ff", "pink"), &[]).unwrap_err();
    assert_eq!(
        message,
        "maps/x.tmx: 'pink' is not a color: set the transparent color of the image in Tiled, for \
         example to #ff00ff"
    );
}

#[test]
fn tiles_are_moved_and_sized_by_their_set() {
    let with = |attributes: &str, children: &str| {
        let set = SET.replace("<image", &format!("{children}<image"));
        let set = set.replace("tilewidth=\"8\" tileheight=\"8\"", attributes);
        let text = xml(ORTHOGONAL, &format!("{set}{}", layer("", "0,0,0,1,0,0")));
        bounds(&tilemap(compiled("maps/x.tmx", &text, &[]).unwrap().0), 0)
    };
    let size = "tilewidth=\"16\" tileheight=\"8\"";
    assert_eq!(with(size, ""), [[0.0, 0.0, 16.0, 8.0]]);
    let offset = "<tileoffset x=\"-3\" y=\"2\"/>";
    assert_eq!(with(size, offset), [[-3.0, -2.0, 13.0, 6.0]]);
    let grid = format!("{size} tilerendersize=\"grid\"");
    assert_eq!(with(&grid, ""), [[0.0, 0.0, 8.0, 8.0]]);
    assert_eq!(
        with(&format!("{grid} fillmode=\"preserve-aspect-fit\""), ""),
        [[0.0, 2.0, 8.0, 6.0]]
    );
}

#[test]
fn quarter_turns_keep_tiles_on_the_bottom_left_of_their_cell() {
    let set = SET.replace("tilewidth=\"8\" tileheight=\"8\"", "tilewidth=\"16\" tileheight=\"8\"");
    // Diagonal and horizontal flip: a quarter turn to the right.
    let text = xml(ORTHOGONAL, &format!("{set}{}", layer("", "0,0,0,2684354561,0,0")));
    let found = quads(&tilemap(compiled("maps/x.tmx", &text, &[]).unwrap().0), 0);
    // The bottom left of the image is at the top left.
    assert_eq!(found[0].corners, [0.0, 16.0, 0.0, 0.0, 8.0, 0.0, 8.0, 16.0]);
}

#[test]
fn flips_of_hexagonal_tiles_are_rotations() {
    let attributes = "orientation=\"hexagonal\" staggeraxis=\"y\" hexsidelength=\"4\"";
    let file = map(attributes, &layer("", "0,0,0,536870913,268435457,3758096385"));
    assert_eq!(file.unknown_tiles, [""; 0]);
    let found = quads(&tilemap(file), 0);
    let turned = |quad: &TileQuad| {
        let [left, bottom, right, top] = quad.bounds();
        let middle = [(left + right) * 0.5, (bottom + top) * 0.5];
        let [x, y] = [quad.corners[2] - middle[0], quad.corners[3] - middle[1]];
        y.atan2(x).to_degrees().rem_euclid(360.0).round()
    };
    // The bottom right of the image is at -45 degrees.
    assert_eq!(turned(&found[0]), (360.0 - 45.0 - 60.0));
    assert_eq!(turned(&found[1]), (360.0 - 45.0 - 120.0));
    // Flipped both ways, then rotated by 60 degrees.
    assert_eq!(turned(&found[2]), 135.0 - 60.0);
}

#[test]
fn orders_of_drawing_are_those_of_the_editor() {
    let order = |attributes: &str| {
        let file = map(attributes, &layer("", "1,2,3,4,5,6"));
        let map = tilemap(file);
        let tiles = quads(&map, 0);
        let number = |quad: &TileQuad| {
            let column = (quad.part[0][0] * 4.0).round() as u32;
            let row = (quad.part[0][1] * 2.0).round() as u32;
            row * 4 + column + 1
        };
        tiles.iter().map(number).collect::<Vec<_>>()
    };
    let ordered = |name: &str| order(&format!("{ORTHOGONAL} renderorder=\"{name}\""));
    assert_eq!(ordered("right-down"), [1, 2, 3, 4, 5, 6]);
    assert_eq!(ordered("right-up"), [4, 5, 6, 1, 2, 3]);
    assert_eq!(ordered("left-down"), [3, 2, 1, 6, 5, 4]);
    assert_eq!(ordered("left-up"), [6, 5, 4, 3, 2, 1]);
    // From the top of the screen, whatever the file says.
    let isometric = "orientation=\"isometric\" renderorder=\"left-up\"";
    assert_eq!(order(isometric), [1, 4, 2, 5, 3, 6]);
    let columns = "orientation=\"staggered\" staggeraxis=\"x\" staggerindex=\"odd\"";
    assert_eq!(order(columns), [1, 3, 2, 4, 6, 5]);
}

#[test]
fn groups_pass_on_offset_opacity_tint_and_parallax() {
    let inner = layer(
        "offsetx=\"1\" opacity=\"0.5\" tintcolor=\"#80ff8000\" parallaxx=\"0.5\"",
        "1,0,0,0,0,0",
    );
    let groups = format!(
        "<group offsetx=\"2\" offsety=\"3\" opacity=\"0.5\" parallaxx=\"0.5\" parallaxy=\"2\">\
         <group visible=\"0\" tintcolor=\"#ffffff\">{inner}</group></group>"
    );
    let file = map(&format!("{ORTHOGONAL} parallaxoriginx=\"4\" parallaxoriginy=\"6\""), &groups);
    let layer = first(&file);
    assert_eq!((layer.x, layer.y, layer.opacity, layer.visible), (3.0, -3.0, 0.25, false));
    assert_eq!((layer.tint, layer.parallax), ([255, 128, 0, 128], [0.25, 2.0]));
    assert_eq!(layer.color([255, 255, 100, 255], 1.0), [255, 128, 0, 32]);
    // The origin is 10 above the bottom.
    assert_eq!(layer.parallax_shift(&file.maps[0], [8.0, 10.0]), [3.0, 0.0]);
    assert_eq!(layer.parallax_shift(&file.maps[0], [4.0, 12.0]), [0.0, -2.0]);
    let message = refused(ORTHOGONAL, "<layer name=\"l\" tintcolor=\"red\"/>");
    assert_eq!(
        message,
        "maps/x.tmx: 'red' is not a color: set the Tint Color of layer 'l' in Tiled, for example \
         to #ff8000"
    );
}

#[test]
fn pictures_are_layers_and_can_be_repeated() {
    let image = |attributes: &str| {
        format!(
            "<imagelayer name=\"sky\" offsetx=\"2\" offsety=\"4\" {attributes}><image \
             source=\"sky.png\" width=\"10\" height=\"6\"/></imagelayer>"
        )
    };
    let layers = image("") + &layer("", "1,0,0,0,0,0") + &image("repeatx=\"1\" opacity=\"0.5\"");
    let file = map(ORTHOGONAL, &(layers + "<imagelayer name=\"empty\"/>"));
    let data = &file.maps[0];
    let kinds: Vec<_> = data.layers.iter().map(|layer| (layer.kind, layer.level)).collect();
    assert_eq!(kinds, [(LayerKind::Image, 0), (LayerKind::Tiles, 0), (LayerKind::Image, 0)]);
    let map = tilemap(file);
    assert_eq!(bounds(&map, 0), [[2.0, 6.0, 12.0, 12.0]]);
    let mut repeated = Vec::new();
    map.quads(2, [-5.0, 0.0, 13.0, 20.0], 0.0, &mut repeated);
    let found: Vec<_> = repeated.iter().map(|quad| quad.bounds()[0]).collect();
    assert_eq!(found, [-8.0, 2.0, 12.0]);
    // Without bounds, over the map.
    let mesh = chunks(&map).into_iter().find(|chunk| chunk.layer == 2).expect("a chunk");
    let (mesh, _) = map.chunk_mesh(mesh, 0.0, 1.0, &[false; 3]);
    assert_eq!(mesh.vertices.len(), 4 * 4);
    assert_eq!((map.tile(0, 1, 1), map.tile(1, 1, 2)), (None, Some(1)));
}

#[test]
fn repeated_pictures_are_limited() {
    let image = "<imagelayer name=\"sky\" repeatx=\"1\" repeaty=\"1\"><image source=\"s.png\" \
                 width=\"1\" height=\"1\"/></imagelayer>";
    let map = tilemap(map(ORTHOGONAL, image));
    let mut quads = Vec::new();
    map.quads(0, [-1e9, -1e9, 1e9, 1e9], 0.0, &mut quads);
    assert_eq!(quads.len(), crate::quads::REPEATS_MAX);
}

#[test]
fn tile_objects_are_drawn_where_the_editor_shows_them() {
    let with = |attributes: &str, set: &str, objects: &str| {
        let set = SET.replace("firstgid=\"1\"", &format!("firstgid=\"1\" {set}"));
        let group = format!("<objectgroup name=\"o\" offsetx=\"1\">{objects}</objectgroup>");
        let text = xml(attributes, &format!("{set}{group}"));
        let (file, _) = compiled("maps/x.tmx", &text, &[]).unwrap();
        let positions: Vec<_> = file.maps[0].objects.iter().map(|one| [one.x, one.y]).collect();
        let hidden = !file.maps[0].layers[0].is_shown_at_first();
        assert!(hidden && first(&file).kind == LayerKind::Objects);
        (positions, bounds(&tilemap(file), 0))
    };
    let one = "<object id=\"1\" gid=\"1\" x=\"8\" y=\"12\" width=\"16\" height=\"8\"/>";
    let placed = |position: [f32; 2]| {
        let [x, y] = position;
        (vec![position], vec![[x, y, x + 16.0, y + 8.0]])
    };
    assert_eq!(with(ORTHOGONAL, "", one), placed([9.0, 4.0]));
    assert_eq!(with(ORTHOGONAL, "objectalignment=\"topleft\"", one), placed([9.0, -4.0]));
    assert_eq!(with(ORTHOGONAL, "objectalignment=\"center\"", one), placed([1.0, 0.0]));
    assert_eq!(with(ORTHOGONAL, "objectalignment=\"right\"", one), placed([-7.0, 0.0]));
    // In isometric maps 8 texels are a side of a cell, and the middle of the bottom is placed.
    assert_eq!(with("orientation=\"isometric\"", "", one), placed([-1.0, 10.0]));
    // Without a size, that of the tile; turned around its bottom left.
    let turned = "<object id=\"1\" gid=\"1\" x=\"8\" y=\"12\" rotation=\"90\"/>";
    let (_, found) = with(ORTHOGONAL, "", turned);
    let wanted = [9.0, -4.0, 17.0, 4.0];
    assert!(found[0].iter().zip(wanted).all(|(found, wanted)| (found - wanted).abs() < 0.001));
    // From the top, and without hidden ones.
    let several = one.to_string()
        + &one.replace("y=\"12\"", "y=\"2\"")
        + &one.replace("id=\"1\"", "id=\"3\" visible=\"0\"");
    let (positions, found) = with(ORTHOGONAL, "", &several);
    assert_eq!((positions.len(), found.len(), found[0][1], found[1][1]), (3, 2, 14.0, 4.0));
}

#[test]
fn templates_give_objects_their_values() {
    let template = "<template><tileset firstgid=\"1\" source=\"rock.tsx\"/><object name=\"hero\" \
                    type=\"actor\" gid=\"2147483650\" width=\"8\" height=\"16\"><properties>\
                    <property name=\"hp\" type=\"int\" value=\"3\"/><property name=\"name\" \
                    value=\"Ann\"/></properties></object></template>";
    let outline =
        r#"{"type":"template","object":{"name":"way","polyline":[{"x":0,"y":0},{"x":4,"y":6}]}}"#;
    let set = "<tileset tilewidth=\"8\" tileheight=\"8\"><image source=\"rock.png\" width=\"32\" \
               height=\"16\"/></tileset>";
    let objects = "<objectgroup name=\"o\"><object id=\"1\" template=\"hero.tx\" x=\"4\" y=\"8\"/>\
                   <object id=\"2\" template=\"hero.tx\" name=\"twin\" width=\"4\" x=\"0\" y=\"8\">\
                   <properties><property name=\"hp\" type=\"int\" value=\"9\"/></properties>\
                   </object><object id=\"3\" template=\"way.tj\" x=\"0\" y=\"0\"/></objectgroup>";
    let others = [("maps/hero.tx", template), ("maps/way.tj", outline), ("maps/rock.tsx", set)];
    // The map has the set under another number, or does not have it.
    let own = "<tileset firstgid=\"11\" source=\"rock.tsx\"/>";
    for (sets, tile) in [(own, 12), ("", 2)] {
        let text = xml(ORTHOGONAL, &format!("{sets}{objects}"));
        let (file, _) = compiled("maps/x.tmx", &text, &others).unwrap();
        assert_eq!((file.sets.len(), &file.unknown_tiles[..]), (1, &[][..]));
        let [hero, twin, way] = &file.maps[0].objects[..] else { panic!("three objects") };
        let texts = [&hero.name, &hero.kind, &twin.name, &twin.kind].map(|text| &text[..]);
        assert_eq!(texts, ["hero", "actor", "twin", "actor"]);
        assert_eq!((hero.width, hero.height, twin.width, twin.height), (8.0, 16.0, 4.0, 16.0));
        assert_eq!((hero.tile, hero.x, hero.y), (tile | crate::FLIP_X, 4.0, 8.0));
        let hp = |properties: &SjsonTree| properties.get("hp").cloned();
        assert_eq!(hp(&hero.properties), Some(SjsonTree::Number(3.0)));
        assert_eq!(hp(&twin.properties), Some(SjsonTree::Number(9.0)));
        assert_eq!(twin.properties.get("name"), Some(&SjsonTree::String("Ann".into())));
        assert_eq!(way.points, [[0.0, 0.0], [4.0, -6.0]]);
    }
    let text = xml(ORTHOGONAL, objects);
    assert_eq!(compiled("maps/x.tmx", &text, &[]).unwrap_err(), "maps/hero.tx is not there");
}

#[test]
fn class_properties_are_tables() {
    let property = "<properties><property name=\"stats\" type=\"class\" propertytype=\"Stats\">\
                    <properties><property name=\"hp\" type=\"int\" value=\"3\"/></properties>\
                    </property></properties>";
    let file = map(ORTHOGONAL, property);
    let stats = file.maps[0].properties.get("stats").expect("the property");
    assert_eq!(stats.get("hp"), Some(&SjsonTree::Number(3.0)));
}

#[test]
fn edited_cells_of_staggered_maps_are_found_by_position() {
    let attributes = "orientation=\"hexagonal\" staggeraxis=\"y\" staggerindex=\"odd\" \
                      hexsidelength=\"4\"";
    let mut map = tilemap(map(attributes, &layer("", "0,0,0,0,0,0")));
    assert!(map.set_tile(0, 2, 1, 1));
    let [left, bottom, right, top] = bounds(&map, 0)[0];
    let middle = [(left + right) * 0.5, (bottom + top) * 0.5].map(f64::from);
    assert_eq!(map.map().grid.cell_at(middle[0], middle[1]), [1.0, 0.0]);
    assert_eq!(map.map().grid.center(1, 0), middle);
}

#[test]
fn pieces_of_meshes_have_few_parts() {
    let tiles: Vec<String> = (0..400u32).map(|at| (1 + at % 2 * 8).to_string()).collect();
    let sets = SET.to_string() + &SET.replace("firstgid=\"1\"", "firstgid=\"9\"");
    let sets =
        sets.replace("tilewidth=\"8\" tileheight=\"8\"", "tilewidth=\"16\" tileheight=\"8\"");
    let layer = layer("", &tiles.join(","))
        .replace("width=\"3\" height=\"2\"", "width=\"20\" height=\"20\"");
    let object = "<object id=\"1\" gid=\"1\" x=\"8\" y=\"8\" width=\"8\" height=\"8\"/>";
    let objects = format!("<objectgroup name=\"o\">{}</objectgroup>", object.repeat(300));
    let text = xml(ORTHOGONAL, &format!("{sets}{layer}{objects}"));
    let mut map = tilemap(compiled("maps/x.tmx", &text, &[]).unwrap().0);
    // Tiles that cover their neighbours: alternating textures cannot be joined.
    let all = chunks(&map);
    let positions: Vec<_> =
        all.iter().map(|chunk| (chunk.layer, chunk.column, chunk.row)).collect();
    assert_eq!(positions, [(0, 0, 1), (0, 1, 1), (0, 0, 0), (0, 1, 0), (1, 0, 0), (1, 1, 0)]);
    let counts: Vec<_> = all
        .iter()
        .map(|chunk| map.chunk_mesh(*chunk, 0.0, 1.0, &[false; 2]).0)
        .map(|mesh| (mesh.vertices.len() / 4, mesh.parts.len()))
        .collect();
    assert_eq!(counts[2].0, 256);
    assert!((2..=32).contains(&counts[2].1), "{counts:?}");
    assert_eq!((counts[4], counts[5]), ((256, 1), (44, 1)));
    // Only the chunk of an edited cell is built again.
    map.owner = Some(engine_foundation::Handle::from_number(1.0).expect("a handle"));
    map.set_tile(0, 17, 1, 0);
    let edits = map.take_edits();
    assert_eq!(edits.chunks.into_iter().collect::<Vec<_>>(), [all[3]]);
}
