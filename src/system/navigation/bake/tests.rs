//! Tests of whole bakes: small scenes with known results.

use super::*;
use crate::tests::push_box;
use engine_foundation::Vec2;

fn bake(boxes: &[([f32; 3], [f32; 3])], settings: BakeSettings) -> (TileLayout, Vec<BakedTile>) {
    let (mut vertices, mut triangles) = (Vec::new(), Vec::new());
    for (low, high) in boxes {
        push_box(&mut vertices, &mut triangles, (*low).into(), (*high).into());
    }
    let solids = (0..triangles.len() as u32).map(|at| at / 12 + 1).collect();
    let mut source = BakeSource::new(vertices, triangles).unwrap();
    source.set_solids(solids);
    let (low, high) = source.bounds().unwrap();
    let layout = TileLayout::new(settings, low, high).unwrap();
    source.sort(&layout).unwrap();
    let tiles =
        (0..layout.count()).map(|tile| bake_tile(&source, &layout, tile, &[]).unwrap()).collect();
    (layout, tiles)
}

/// Area of all polygons in square cells.
fn area(mesh: &TileMesh) -> f32 {
    let doubled: i64 = mesh
        .polygons
        .iter()
        .map(|polygon| {
            let corners: Vec<_> = polygon
                .corners()
                .iter()
                .map(|at| mesh.vertices[usize::from(*at)].map(i32::from))
                .collect();
            super::contours::doubled_area(&corners)
        })
        .sum();
    doubled as f32 / 2.0
}

const SMALL: BakeSettings =
    BakeSettings { tile_cells: 512, region_min: 0.0, ..BakeSettings::DEFAULT };

#[test]
fn a_floor_is_one_polygon_without_its_margin() {
    let (_, tiles) = bake(&[([0.05, 0.05, -1.0], [29.95, 29.95, 0.0])], SMALL);
    let mesh = &tiles[0].mesh;
    assert_eq!(mesh.polygons.len(), 1, "{mesh:?}");
    // Two cells of radius on each side, and the ledge.
    assert_eq!(area(mesh), (100.0 - 6.0) * (100.0 - 6.0));
    assert!(mesh.polygons[0].neighbors.iter().all(|near| *near == polygons::NO_NEIGHBOR));
}

#[test]
fn a_pillar_leaves_a_hole() {
    let boxes = [([0.05, 0.05, -1.0], [29.95, 29.95, 0.0]), ([12.0, 12.0, 0.0], [18.0, 18.0, 3.0])];
    let (_, tiles) = bake(&boxes, SMALL);
    let mesh = &tiles[0].mesh;
    let hole = 94.0 * 94.0 - area(mesh);
    // The pillar has 21 cells a side, with a margin of two cells and rounded corners; on top of it
    // are 15 cells a side. Nobody can stand inside it.
    assert!((300.0..420.0).contains(&hole), "{hole} {:?}", mesh.vertices);
    let inside = |corner: &&[u16; 3]| {
        (41..58).contains(&corner[0]) && (41..58).contains(&corner[1]) && corner[2] < 10
    };
    assert_eq!(mesh.vertices.iter().find(inside), None);
}

#[test]
fn tiles_cover_the_same_ground_as_one_tile() {
    let boxes = [
        ([0.05, 0.05, -1.0], [39.95, 39.95, 0.0]),
        ([12.0, 12.0, 0.0], [18.0, 18.0, 3.0]),
        ([20.0, 5.0, 0.0], [21.0, 30.0, 3.0]),
    ];
    let (_, one) = bake(&boxes, SMALL);
    let (_, many) = bake(&boxes, BakeSettings { tile_cells: 32, ..SMALL });
    let (one, many) = (area(&one[0].mesh), many.iter().map(|tile| area(&tile.mesh)).sum::<f32>());
    assert!((one - many).abs() < one * 0.01, "{one}, {many}");
}

#[test]
fn steep_and_degenerate_triangles_are_not_walkable() {
    let vertices = vec![Vec3::ZERO, Vec3::new(9.0, 0.0, 0.0), Vec3::new(0.0, 9.0, 12.0)];
    let mut source = BakeSource::new(vertices, vec![[0, 1, 2], [0, 0, 1], [1, 1, 1]]).unwrap();
    let (low, high) = source.bounds().unwrap();
    let layout = TileLayout::new(SMALL, low, high).unwrap();
    source.sort(&layout).unwrap();
    let tile = bake_tile(&source, &layout, 0, &[]).unwrap();
    assert!(tile.mesh.polygons.is_empty());
}

#[test]
fn a_volume_divides_a_floor_into_areas() {
    let boxes = [([0.05, 0.05, -1.0], [29.95, 29.95, 0.0])];
    let (layout, tiles) = bake(&boxes, SMALL);
    let shape = AreaShape::Prism {
        points: vec![[9.0, -1.0], [15.0, -1.0], [15.0, 31.0], [9.0, 31.0]],
        low: -1.0,
        high: 1.0,
    };
    let mud = [AreaVolume { shape, area: 7 }];
    let mesh = tile_from_field(&tiles[0].field, &layout, 0, &mud).unwrap();
    let areas: Vec<u8> = mesh.polygons.iter().map(|polygon| polygon.area).collect();
    assert!(areas.contains(&7) && areas.contains(&DEFAULT_AREA), "{areas:?}");
    assert_eq!(area(&mesh), 94.0 * 94.0);
}

#[test]
fn thin_volumes_keep_their_area() {
    let boxes = [([0.05, 0.05, -1.0], [29.95, 29.95, 0.0])];
    let (layout, tiles) = bake(&boxes, SMALL);
    let position = layout.position(layout.corner(0));
    for at in 0..120u8 {
        // Strips of one to three cells, along both axes, at any distance from the middles of cells.
        let (offset, width) = (f32::from(at % 10) * 0.03, [0.31, 0.5, 0.7][usize::from(at % 3)]);
        let length = [0.31, 1.0, 4.0, 27.0][usize::from(at / 30)];
        let low = [1.5 + offset, 15.0 + offset];
        let high = [low[0] + length, low[1] + width];
        let turned = |[x, y]: [f32; 2]| if at % 2 == 0 { [x, y] } else { [y, x] };
        let corners = [low, [high[0], low[1]], high, [low[0], high[1]]];
        let points = corners.map(turned).to_vec();
        let shape = AreaShape::Prism { points, low: -1.0, high: 1.0 };
        let strip = AreaVolume { shape, area: 7 };
        let mut marked = tiles[0].field.clone();
        marked.mark(&strip, position, &layout.cells);
        let cells = marked.areas.iter().filter(|area| **area == 7).count();
        let mesh = tile_from_field(&tiles[0].field, &layout, 0, &[strip]).unwrap();
        let polygons = mesh.polygons.iter().filter(|polygon| polygon.area == 7).copied().collect();
        let of_strip = area(&TileMesh { polygons, ..mesh });
        assert!(of_strip >= cells as f32 * 0.75, "{at}: {of_strip} of {cells}");
    }
}

#[test]
fn settings_out_of_range_are_refused() {
    let message = |settings: BakeSettings| settings.check().unwrap_err();
    assert_eq!(
        message(BakeSettings { cell_size: f32::NAN, ..BakeSettings::DEFAULT }),
        "'cell_size' must be 0.01 to 100, got NaN"
    );
    assert_eq!(
        message(BakeSettings { step: 3.0, ..BakeSettings::DEFAULT }),
        "'step' must be below 'height', 2, got 3"
    );
    let tall = BakeSettings { height: 999.0, cell_height: 0.01, ..BakeSettings::DEFAULT };
    assert_eq!(
        message(tall),
        "'height' is 999, more than 60000 cells of 0.01 metres: increase 'cell_height'"
    );
    // A few metres, whose small tiles have wide borders.
    let wide = BakeSettings { tile_cells: 16, cell_size: 0.01, radius: 1.27, ..SMALL };
    let wide = TileLayout::new(wide, Vec3::ZERO, Vec3::new(6.0, 6.0, 1.0)).unwrap_err();
    let remedy = "(BORDERED_CELLS_MAX): increase 'tile_cells' or 'cell_size', or reduce 'radius'";
    assert!(wide.starts_with("the 1444 tiles of 16 cells") && wide.ends_with(remedy), "{wide}");
    let far = TileLayout::new(SMALL, Vec3::ZERO, Vec3::new(1e6, 1e6, 1.0)).unwrap_err();
    assert!(far.starts_with("the level is 1000000 by 1000000 metres and has"), "{far}");
}

#[test]
fn characters_with_the_highest_steps_are_baked() {
    // The step in cells needs all 16 bits.
    for (height, step) in [(600.0, 500.0), (600.0, 599.9), (600.0, 300.0), (599.99, 327.68)] {
        let settings = BakeSettings { height, step, cell_height: 0.01, ..SMALL };
        let (_, tiles) = bake(&[([0.05, 0.05, -1.0], [9.95, 9.95, 0.0])], settings);
        assert_eq!(tiles[0].mesh.polygons.len(), 1, "{step} of {height}");
    }
}

/// Returns true if a polygon of a mesh contains the middle of a cell.
fn is_covered(mesh: &TileMesh, x: i32, y: i32) -> bool {
    let (px, py) = (x as f32 + 0.5, y as f32 + 0.5);
    mesh.polygons.iter().any(|polygon| {
        let corners = polygon.corners();
        (0..corners.len()).all(|at| {
            let corner = |at: usize| {
                let [x, y, _] = mesh.vertices[usize::from(corners[at % corners.len()])];
                (f32::from(x), f32::from(y))
            };
            let ((ax, ay), (bx, by)) = (corner(at), corner(at + 1));
            (bx - ax) * (py - ay) - (by - ay) * (px - ax) >= 0.0
        })
    })
}

#[test]
fn polygons_cover_the_ground_and_no_obstacle_of_random_scenes() {
    let mut random = engine_foundation::random::Random::seed(31);
    for round in 0..60 {
        let mut any = |most: f64| (random.next_f64() * most) as f32;
        let mut boxes = vec![([0.05, 0.05, -1.0], [28.0, 28.0, 0.0])];
        for _ in 0..3 + round {
            let (x, y) = (any(27.0), any(27.0));
            let high = [0.4, 3.0][usize::from(any(1.0) < 0.7)];
            boxes.push(([x, y, -0.5], [x + 0.2 + any(3.0), y + 0.2 + any(3.0), high]));
        }
        let radius = [0.0, 0.3, 0.6][round % 3];
        let tile_cells = [512, 40, 24][round / 3 % 3];
        let settings =
            BakeSettings { radius, tile_cells, region_min: 0.0, ..BakeSettings::DEFAULT };
        let (layout, tiles) = bake(&boxes, settings);
        for (tile, BakedTile { mesh, field }) in tiles.iter().enumerate() {
            let border = layout.cells.border as i32;
            let (width, depth) = layout.inner_columns(tile);
            let is_open = |x: i32, y: i32| {
                let column = (y + border) as usize * field.width + (x + border) as usize;
                field.range(column).any(|at| field.areas[at] != NULL_AREA)
            };
            // Walls are straightened by at most two cells.
            let around = |x: i32, y: i32, test: &dyn Fn(i32, i32) -> bool| {
                (-2..=2).all(|dy| (-2..=2).all(|dx| test(x + dx, y + dy)))
            };
            for y in 2..depth as i32 - 2 {
                for x in 2..width as i32 - 2 {
                    let is_open_around = around(x, y, &is_open);
                    let is_solid_around = around(x, y, &|x, y| !is_open(x, y));
                    let covered = is_covered(mesh, x, y);
                    assert!(!is_open_around || covered, "round {round}: no ground at {x}, {y}");
                    assert!(!is_solid_around || !covered, "round {round}: an obstacle at {x}, {y}");
                }
            }
        }
    }
}

#[test]
fn areas_of_random_volumes_leave_no_gaps() {
    let (layout, tiles) = bake(&[([0.05, 0.05, -1.0], [11.95, 11.95, 0.0])], SMALL);
    let field = &tiles[0].field;
    let border = layout.cells.border as i32;
    let (width, depth) = layout.inner_columns(0);
    let is_open = |x: i32, y: i32| {
        let column = (y + border) as usize * field.width + (x + border) as usize;
        field.range(column).any(|at| field.areas[at] != NULL_AREA)
    };
    let mut random = engine_foundation::random::Random::seed(32);
    for round in 0..40 {
        let mut any = |most: f64| (random.next_f64() * most) as f32;
        let mut strip = || {
            let middle = Vec2::new(any(12.0), any(12.0));
            let along = Vec2::new(any(2.0) - 1.0, any(2.0) - 1.0);
            let along = along.try_normalize().unwrap_or(Vec2::X);
            let (length, width) = (along * (0.3 + any(3.0)), along.perp() * (0.15 + any(0.4)));
            let corners = [-length - width, length - width, length + width, width - length];
            let points = corners.map(|corner| (middle + corner).to_array()).to_vec();
            let shape = AreaShape::Prism { points, low: -1.0, high: 1.0 };
            AreaVolume { shape, area: 2 + any(3.0) as u8 }
        };
        let volumes: Vec<AreaVolume> = (0..12).map(|_| strip()).collect();
        let mesh = tile_from_field(field, &layout, 0, &volumes).unwrap();
        for y in 2..depth as i32 - 2 {
            for x in 2..width as i32 - 2 {
                let is_inside = (-2..=2).all(|by| is_open(x + by, y) && is_open(x, y + by));
                let is_known = !is_inside || is_covered(&mesh, x, y);
                assert!(is_known, "round {round}: no ground at {x}, {y}");
            }
        }
    }
}

#[test]
fn many_pillars_are_baked_or_refused_quickly() {
    let pillars = |count: usize, tile_cells: u32| {
        let mut boxes = vec![([0.05, 0.05, -1.0], [99.0, 99.0, 0.0])];
        for at in 0..count * count {
            let step = 96.0 / count as f32;
            let (x, y) = ((at % count) as f32 * step + 1.0, (at / count) as f32 * step + 1.0);
            boxes.push(([x, y, 0.0], [x + step * 0.5, y + step * 0.5, 3.0]));
        }
        let (mut vertices, mut triangles) = (Vec::new(), Vec::new());
        for (low, high) in &boxes {
            push_box(&mut vertices, &mut triangles, (*low).into(), (*high).into());
        }
        let mut source = BakeSource::new(vertices, triangles).unwrap();
        let settings = BakeSettings { radius: 0.0, tile_cells, ..SMALL };
        let (low, high) = source.bounds().unwrap();
        let layout = TileLayout::new(settings, low, high).unwrap();
        source.sort(&layout).unwrap();
        (0..layout.count()).try_for_each(|tile| {
            bake_tile(&source, &layout, tile, &[])
                .map(|tile| assert!(!tile.mesh.polygons.is_empty()))
        })
    };
    assert_eq!(pillars(20, 512), Ok(()));
    assert_eq!(pillars(56, 64), Ok(()));
    let message = pillars(56, 1024).unwrap_err();
    assert!(message.contains("(CORNERS_MAX): reduce 'tile_cells'"), "{message}");
}
