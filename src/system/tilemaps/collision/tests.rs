//! Tests of collision outlines: inner edges vanish, also between regions, shapes of tiles follow
//! flips, and layers, objects and grids collide by their names.

use super::*;
use crate::tests::{compiled, tilemap};
use std::fmt::Write;

/// Tile 1 is solid, 2 a slope that rises to the right, 3 one-way, 4 has the class "water", 5 an
/// ellipse, 6 a line.
const SET: &str = "<tileset firstgid=\"1\" tilewidth=\"8\" tileheight=\"8\" columns=\"4\">\
    <image source=\"rock.png\" width=\"32\" height=\"16\"/>\
    <tile id=\"0\"><properties><property name=\"solid\" type=\"bool\" value=\"true\"/>\
    </properties></tile>\
    <tile id=\"1\"><objectgroup><object id=\"1\" x=\"0\" y=\"8\"><polygon points=\"0,0 8,-8 8,0\"/>\
    </object></objectgroup></tile>\
    <tile id=\"2\" type=\"one_way\"/><tile id=\"3\" class=\"water\"/>\
    <tile id=\"4\"><objectgroup><object id=\"1\" x=\"2\" y=\"2\" width=\"4\" height=\"4\">\
    <ellipse/></object></objectgroup></tile>\
    <tile id=\"5\"><objectgroup><object id=\"1\" x=\"0\" y=\"4\" type=\"one_way\">\
    <polyline points=\"0,0 8,0\"/></object></objectgroup></tile></tileset>";

/// Returns a map of cells of 8 × 8 texels with one layer of these rows, from the top.
fn map(rows: &[&str]) -> Tilemap {
    with(rows, "", "")
}

fn with(rows: &[&str], attributes: &str, more: &str) -> Tilemap {
    let (columns, count) = (rows[0].split(',').count(), rows.len());
    let size = format!("width=\"{columns}\" height=\"{count}\"");
    let text = format!(
        "<map orientation=\"orthogonal\" tilewidth=\"8\" tileheight=\"8\" {size}>{SET}\
         <layer name=\"ground\" {size} {attributes}><data encoding=\"csv\">{}</data></layer>{more}\
         </map>",
        rows.join(",")
    );
    tilemap(compiled("maps/x.tmx", &text, &[]).unwrap_or_else(|message| panic!("{message}")).0)
}

fn table(map: &Tilemap) -> CollisionTable {
    CollisionTable::new(map.file(), CollisionRules::default())
}

/// Returns the segments as text, sorted.
fn text(segments: &[Segment]) -> Vec<String> {
    let one = |segment: &Segment| {
        let ([a, b], [c, d]) = (segment.from, segment.to);
        format!("{a},{b} to {c},{d}")
    };
    let mut all: Vec<String> = segments.iter().map(one).collect();
    all.sort();
    all
}

fn outlines(map: &Tilemap) -> Outlines {
    map.all_outlines(&table(map)).unwrap()
}

fn check(rows: &[&str], wanted: &[&str]) {
    assert_eq!(text(&outlines(&map(rows)).solid), wanted, "{rows:?}");
}

#[test]
fn inner_edges_of_solid_tiles_vanish() {
    let square = ["0,0 to 24,0", "0,16 to 0,0", "24,0 to 24,16", "24,16 to 0,16"];
    check(&["1,1,1", "1,1,1"], &square);
    check(&["0,0", "0,4"], &[]);
    // A flipped tile is as solid, and tiles of other kinds are empty.
    check(&["4,2147483649"], &["16,0 to 16,8", "16,8 to 8,8", "8,0 to 16,0", "8,8 to 8,0"]);
}

#[test]
fn a_slope_and_the_tiles_around_it_have_one_outline() {
    let map = map(&["0,2,1", "1,1,1"]);
    let chains = chains(&outlines(&map).solid);
    assert_eq!(chains.len(), 1);
    let points = &chains[0].points;
    assert!(chains[0].is_closed);
    // The lower left, lower right, upper right, and both ends of the slope; the wall continues.
    let corners = [[0.0, 0.0], [24.0, 0.0], [24.0, 16.0], [16.0, 16.0], [8.0, 8.0], [0.0, 8.0]];
    assert_eq!(points.len(), corners.len(), "{points:?}");
    assert!(corners.iter().all(|corner| points.contains(corner)), "{points:?}");
}

#[test]
fn shapes_are_flipped_like_their_tiles() {
    let flipped = format!("{}", 2 | 1u32 << 31);
    let slope = ["0,0 to 8,0", "0,8 to 0,0", "8,0 to 0,8"];
    check(&[&flipped], &slope);
    check(&["2"], &["0,0 to 8,0", "8,0 to 8,8", "8,8 to 0,0"]);
    // Upside down, the slope hangs from the top.
    let upside_down = format!("{}", 2 | 1u32 << 30);
    check(&[&upside_down], &["0,8 to 8,0", "8,0 to 8,8", "8,8 to 0,8"]);
}

#[test]
fn tiles_that_touch_diagonally_are_separate_chains() {
    let map = map(&["0,1", "1,0"]);
    let chains = chains(&outlines(&map).solid);
    assert_eq!(chains.iter().map(|chain| chain.points.len()).collect::<Vec<_>>(), [4, 4]);
    let empty_between = self::map(&["1,1,1", "1,0,1", "1,1,1"]);
    let hole = super::chains(&outlines(&empty_between).solid);
    assert_eq!(hole.len(), 2, "the outer and the inner outline");
}

#[test]
fn one_way_tiles_have_their_upper_edge() {
    let outlines = outlines(&map(&["3,3,6", "0,1,0"]));
    assert_eq!(text(&outlines.one_way), ["16,16 to 0,16", "24,12 to 16,12"]);
    assert_eq!(outlines.solid.len(), 4);
}

#[test]
fn ellipses_are_polygons() {
    let outlines = outlines(&map(&["5"]));
    assert_eq!(outlines.solid.len(), ELLIPSE_POINTS);
    for segment in &outlines.solid {
        let [x, y] = segment.from;
        assert!(((x - 4.0).hypot(y - 4.0) - 2.0).abs() < 0.01, "{segment:?}");
    }
}

#[test]
fn regions_together_are_the_whole_outline() {
    // A random map of several regions, with slopes.
    let (mut random, mut rows) = (5u32, Vec::new());
    for _ in 0..70 {
        let mut row = String::new();
        for column in 0..70 {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let tile = [0, 1, 1, 1, 2, 3][(random >> 16) as usize % 6];
            write!(row, "{}{tile}", if column == 0 { "" } else { "," }).unwrap();
        }
        rows.push(row);
    }
    let rows: Vec<&str> = rows.iter().map(String::as_str).collect();
    let map = map(&rows);
    let table = table(&map);
    let parts = map.outline_parts(&table);
    assert!(parts.len() >= 9, "{parts:?}");
    let mut joined = EdgeSet::new([0.0; 2]);
    let mut one_way = 0.0;
    for part in parts {
        let outlines = map.outlines(&table, part).unwrap();
        outlines.solid.iter().for_each(|segment| joined.add(segment.from, segment.to, true));
        let length = |segment: &Segment| segment.from[0] - segment.to[0];
        one_way += outlines.one_way.iter().map(length).sum::<f64>();
    }
    let whole = outlines(&map);
    assert_eq!(text(&joined.outline()), text(&whole.solid));
    let whole: f64 = whole.one_way.iter().map(|segment| segment.from[0] - segment.to[0]).sum();
    assert_eq!(one_way, whole);
}

#[test]
fn edited_tiles_mark_the_regions_around_them() {
    let row = vec!["1"; 64].join(",");
    let mut map = map(&[&row]);
    assert!(map.set_tile(0, 32, 1, 0));
    assert!(map.take_edited_parts().is_empty(), "the map has no body");
    map.has_body = true;
    map.set_tile(0, 10, 1, 0);
    let marked = map.take_edited_parts();
    assert!(marked.contains(&OutlinePart::Region([0, 0])));
    assert!(!marked.contains(&OutlinePart::Region([1, 0])), "{marked:?}");
    // The tile at the border covers an edge of the next region.
    map.set_tile(0, 33, 1, 0);
    assert!(map.take_edited_parts().contains(&OutlinePart::Region([0, 0])));
    assert!(map.take_edited_walls().is_empty(), "no walls are made of it");
    map.has_walls = true;
    map.set_tile(0, 10, 1, 1);
    assert_eq!(map.take_edited_parts(), map.take_edited_walls());
    assert!(map.take_edited_walls().is_empty());
    map.set_tile(0, 10, 1, 0);
    let edges = map.outlines(&table(&map), OutlinePart::Region([0, 0])).unwrap().solid;
    assert!(!text(&edges).iter().any(|edge| edge.starts_with("256,0")), "{edges:?}");
}

#[test]
fn layers_and_objects_collide_by_their_names() {
    let all_solid = "class=\"solid\"";
    assert_eq!(outlines(&with(&["4,4"], all_solid, "")).solid.len(), 4);
    let moved = outlines(&with(&["1"], "parallaxx=\"0.5\"", ""));
    assert!(moved.is_empty(), "parallax moves the layer away from its body");
    let objects = "<objectgroup name=\"walls\">\
        <object id=\"1\" type=\"solid\" x=\"8\" y=\"0\" width=\"8\" height=\"4\"/>\
        <object id=\"2\" x=\"0\" y=\"0\" width=\"8\" height=\"4\"/>\
        <object id=\"3\" class=\"one_way\" x=\"0\" y=\"6\"><polyline points=\"0,0 8,0\"/></object>\
        <object id=\"4\" type=\"solid\" x=\"0\" y=\"6\"><point/></object></objectgroup>";
    let map = with(&["0,0"], "", objects);
    let found = outlines(&map);
    assert_eq!(text(&found.solid), ["16,4 to 16,8", "16,8 to 8,8", "8,4 to 16,4", "8,8 to 8,4"]);
    assert_eq!(text(&found.one_way), ["8,2 to 0,2"]);
    assert!(map.outline_parts(&table(&map)).contains(&OutlinePart::Objects));
    let rules = CollisionRules { layers: vec!["ground".into()], ..CollisionRules::default() };
    let table = CollisionTable::new(map.file(), rules);
    assert!(map.all_outlines(&table).unwrap().is_empty());
}

#[test]
fn names_are_chosen_by_the_game() {
    let map = map(&["1,4"]);
    let rules = CollisionRules { solid: vec!["water".into()], ..CollisionRules::default() };
    let table = CollisionTable::new(map.file(), rules);
    let found = map.all_outlines(&table).unwrap();
    assert_eq!(text(&found.solid)[0], "16,0 to 16,8");
    assert_eq!(found.solid.len(), 4);
}

#[test]
fn rotated_objects_and_shapes_turn_around_their_position() {
    let object = "<objectgroup name=\"o\"><object id=\"1\" type=\"solid\" x=\"8\" y=\"0\" \
                  width=\"8\" height=\"4\" rotation=\"90\"/></objectgroup>";
    let found = outlines(&with(&["0,0"], "", object));
    // Clockwise by a quarter: it extends to the left and down from 8, 8.
    assert_eq!(text(&found.solid), ["4,0 to 8,0", "4,8 to 4,0", "8,0 to 8,8", "8,8 to 4,8"]);
}

#[test]
fn grids_and_tags_of_ldtk_collide() {
    let project = r#"{"defs":{"tilesets":[{"uid":1,"relPath":"r.png","pxWid":32,"pxHei":16,
        "tileGridSize":8,"__cWid":4,"__cHei":2,"customData":[{"tileId":1,"data":"x"}],
        "enumTags":[{"enumValueId":"solid","tileIds":[1,2]},{"enumValueId":"wet","tileIds":[1]}]}],
        "layers":[{"uid":7,"intGridValues":[{"value":1,"identifier":"solid"},
        {"value":2,"identifier":null},{"value":3,"identifier":"one_way"}]}]},
        "levels":[{"identifier":"A","pxWid":24,"pxHei":16,"layerInstances":[
        {"__identifier":"Walls","layerDefUid":7,"__gridSize":8,"__cWid":3,"__cHei":2,
         "__pxTotalOffsetX":2,"__pxTotalOffsetY":0,"intGridCsv":[1,0,2,1,3,0]},
        {"__identifier":"Ground","__gridSize":8,"__cWid":3,"__cHei":2,"__tilesetDefUid":1,
         "gridTiles":[{"px":[16,8],"t":1,"f":0}]}]}]}"#;
    let map = tilemap(compiled("x.ldtk", project, &[]).unwrap().0);
    let tags = map.sets()[0].properties.iter().find(|(tile, _)| *tile == 1).unwrap();
    assert_eq!(tags.1.get("data"), Some(&SjsonTree::String("x".into())));
    assert!(has_name(&tags.1, "wet") && has_name(&tags.1, "solid") && !has_name(&tags.1, "x"));
    let found = outlines(&map);
    assert_eq!(
        text(&found.solid),
        [
            "10,0 to 10,16",
            "10,16 to 2,16",
            "16,0 to 24,0",
            "16,8 to 16,0",
            "2,0 to 10,0",
            "2,16 to 2,0",
            "24,0 to 24,8",
            "24,8 to 16,8"
        ]
    );
    assert_eq!(text(&found.one_way), ["18,8 to 10,8"]);
}

#[test]
fn cells_of_other_orientations_have_their_own_corners() {
    for (attributes, corners) in [
        ("orientation=\"isometric\"", 4),
        ("orientation=\"staggered\" staggeraxis=\"y\" staggerindex=\"odd\"", 4),
        ("orientation=\"hexagonal\" staggeraxis=\"y\" staggerindex=\"odd\" hexsidelength=\"4\"", 6),
        ("orientation=\"hexagonal\" staggeraxis=\"x\" staggerindex=\"odd\" hexsidelength=\"4\"", 6),
    ] {
        let text = |tiles: &str| {
            format!(
                "<map width=\"3\" height=\"3\" tilewidth=\"8\" tileheight=\"8\" {attributes}>{SET}\
                 <layer name=\"l\" width=\"3\" height=\"3\"><data encoding=\"csv\">{tiles}</data>\
                 </layer></map>"
            )
        };
        let outline = |tiles: &str| {
            let map = tilemap(compiled("x.tmx", &text(tiles), &[]).unwrap().0);
            outlines(&map).solid
        };
        assert_eq!(outline("0,0,0,0,1,0,0,0,0").len(), corners, "{attributes}");
        // Of two neighbours, the common edge vanishes: they are one chain.
        let pair = chains(&outline("0,0,0,1,1,0,0,0,0"));
        let touching = attributes.contains("isometric") || attributes.contains("hexagonal");
        assert_eq!(pair.len(), if touching { 1 } else { 2 }, "{attributes}: {pair:?}");
    }
}

#[test]
fn shapes_of_tiles_are_limited() {
    let compile = |objects: &str| {
        let set = format!(
            "<tileset firstgid=\"1\" tilewidth=\"8\" tileheight=\"8\"><image source=\"r.png\" \
             width=\"32\" height=\"16\"/><tile id=\"3\"><objectgroup>{objects}</objectgroup></tile>\
             </tileset>"
        );
        let text = format!(
            "<map orientation=\"orthogonal\" width=\"1\" height=\"1\" tilewidth=\"8\" \
             tileheight=\"8\">{set}<layer width=\"1\" height=\"1\"><data encoding=\"csv\">4</data>\
             </layer></map>"
        );
        compiled("x.tmx", &text, &[]).map(|_| ())
    };
    let shape = "<object width=\"1\" height=\"1\"/>";
    assert_eq!(compile(&shape.repeat(64)), Ok(()));
    assert_eq!(
        compile(&shape.repeat(65)).unwrap_err(),
        "x.tmx: tile 3 has 65 collision shapes, and 64 is the most (TILE_SHAPES_MAX): use fewer in \
         Tiled's collision editor"
    );
    let points = "0,0 ".repeat(257);
    assert_eq!(
        compile(&format!("<object><polygon points=\"{points}\"/></object>")).unwrap_err(),
        "x.tmx: a collision shape of tile 3 has 257 points, and 256 is the most \
         (SHAPE_POINTS_MAX): simplify it in Tiled's collision editor"
    );
    assert_eq!(
        compile("<object x=\"2e9\" width=\"1\" height=\"1\"/>").unwrap_err(),
        "x.tmx: 'points' must be a number up to 1e9, got 2e9"
    );
}

#[test]
fn solid_outlines_cover_the_solid_cells() {
    let found = |map: &Tilemap| {
        let mut all = Vec::new();
        map.solid_outlines(&table(map), |points| all.push(points.to_vec()));
        all
    };
    // Rectangles of cells that grow upwards as long as their runs are the same.
    let blocks = found(&map(&["1,1,0,1", "1,1,0,0", "1,1,1,0"]));
    let rectangle = |[left, low, right, high]: [f64; 4]| {
        vec![[left, low], [right, low], [right, high], [left, high]]
    };
    let wanted = [[0.0, 0.0, 24.0, 8.0], [0.0, 8.0, 16.0, 24.0], [24.0, 16.0, 32.0, 24.0]];
    assert_eq!(blocks, wanted.map(rectangle));
    // Shapes: a slope, an ellipse; one-way tiles and lines have no inside.
    let shapes = found(&map(&["2,3,5,6,4"]));
    assert_eq!(shapes[0].len(), 3);
    assert_eq!((shapes.len(), shapes[1].len()), (2, ELLIPSE_POINTS));
    for points in &shapes {
        let count = points.len();
        let twice = |at: usize| {
            let ([ax, ay], [bx, by]) = (points[at], points[(at + 1) % count]);
            ax * by - ay * bx
        };
        assert!((0..count).map(twice).sum::<f64>() > 0.0, "counter-clockwise");
    }
    assert!(found(&map(&["0,0", "0,0"])).is_empty());
}

#[test]
fn outlines_that_are_not_convex_are_left_out() {
    use super::solids::each_convex;
    let count = |points: &[[f64; 2]]| {
        let mut count = 0;
        each_convex(points.to_vec(), &mut |_| count += 1);
        count
    };
    assert_eq!(count(&[[0.0, 0.0], [4.0, 0.0], [4.0, 4.0], [0.0, 4.0]]), 1);
    assert_eq!(count(&[[0.0, 0.0], [0.0, 4.0], [4.0, 4.0], [4.0, 0.0]]), 1, "clockwise");
    assert_eq!(count(&[[0.0, 0.0], [4.0, 0.0], [1.0, 1.0], [0.0, 4.0]]), 0);
    assert_eq!(count(&[[0.0, 0.0], [4.0, 0.0]]), 0);
    assert_eq!(count(&[[0.0, 0.0], [4.0, 0.0], [8.0, 0.0]]), 0);
    // A star of five points turns to the left twice.
    let star = [[0.0, 3.0], [-1.8, -2.4], [2.9, 0.9], [-2.9, 0.9], [1.8, -2.4]];
    assert_eq!(count(&star), 0);
}
