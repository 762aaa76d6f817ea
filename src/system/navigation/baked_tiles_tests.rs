//! Tests of baked tiles as data.

use crate::bake::{AreaShape, BakeSettings, BakeSource, TileMesh};
use crate::baked_tiles::{read_tiles, write_tiles};
use crate::mesh::NavigationMesh;
use crate::tests::push_box;
use engine_foundation::Vec3;
use engine_foundation::blob::{BlobReader, BlobWriter};
use engine_foundation::tasks::TaskPool;

/// A floor with pillars and uneven ground, which has several tiles.
fn source() -> BakeSource {
    let (mut vertices, mut triangles) = (Vec::new(), Vec::new());
    push_box(&mut vertices, &mut triangles, Vec3::ZERO, Vec3::new(40.0, 30.0, 1.0));
    for at in 0..5 {
        let from = Vec3::new(4.0 + at as f32 * 7.0, 5.0 + at as f32 * 3.0, 1.0);
        push_box(&mut vertices, &mut triangles, from, from + Vec3::new(2.0, 3.0, 2.0));
    }
    let first = vertices.len() as u32;
    for (x, y, z) in [(40.0, 0.0, 1.0), (60.0, 0.0, 6.0), (60.0, 30.0, 3.0), (40.0, 30.0, 1.0)] {
        vertices.push(Vec3::new(x, y, z));
    }
    triangles.extend([[first, first + 1, first + 2], [first, first + 2, first + 3]]);
    BakeSource::new(vertices, triangles).unwrap()
}

fn settings() -> BakeSettings {
    BakeSettings { tile_cells: 40, region_min: 1.0, ..BakeSettings::DEFAULT }
}

fn bytes_of(tiles: &[TileMesh]) -> Vec<u8> {
    let mut writer = BlobWriter::default();
    write_tiles(&mut writer, tiles);
    writer.finish()
}

#[test]
fn written_tiles_read_back_as_the_same_mesh() {
    let pool = TaskPool::new(Some(1));
    let mut mesh = NavigationMesh::bake(source(), settings(), &pool).unwrap();
    let points = vec![[20.0, 2.0], [24.0, 2.0], [24.0, 9.0], [20.0, 9.0]];
    mesh.add_volume(AreaShape::Prism { points, low: 0.0, high: 3.0 }, 2).unwrap();
    while mesh.waiting_tiles() > 0 {
        mesh.rebuild(&pool).unwrap();
    }
    let bytes = bytes_of(mesh.baked_tiles());
    let mut reader = BlobReader::new(&bytes);
    let tiles = read_tiles(&mut reader).unwrap();
    assert!(reader.is_done() && tiles == mesh.baked_tiles());
    assert!(tiles.iter().any(|tile| !tile.heights.is_empty()), "the ground is uneven");
    let loaded = NavigationMesh::from_tiles(source(), settings(), tiles, &pool).unwrap();
    assert!(loaded.num_polygons() > 20 && loaded.num_polygons() == mesh.num_polygons());
    let ways = |mesh: &NavigationMesh| -> Vec<(Vec<Vec3>, Vec<u32>)> {
        let polygons = 0..mesh.num_polygons() as u32;
        polygons.map(|at| (mesh.corners(at).to_vec(), mesh.neighbors(at).collect())).collect()
    };
    assert_eq!(ways(&loaded), ways(&mesh));
}

#[test]
fn damaged_tiles_are_refused() {
    let pool = TaskPool::new(Some(1));
    let mesh = NavigationMesh::bake(source(), settings(), &pool).unwrap();
    let read = |tiles: &[TileMesh]| {
        read_tiles(&mut BlobReader::new(&bytes_of(tiles))).map_err(|error| error.message)
    };
    let at = mesh.baked_tiles().iter().position(|tile| !tile.heights.is_empty()).unwrap();
    let refused = |message: &str, change: &dyn Fn(&mut TileMesh)| {
        let mut tiles = mesh.baked_tiles().to_vec();
        change(&mut tiles[at]);
        let found = read(&tiles).unwrap_err();
        assert!(found.contains(message), "{found}");
    };
    refused("a corner that does not exist", &|tile| tile.polygons[0].corners[1] = u16::MAX);
    refused("does not have the neighbour", &|tile| tile.polygons[0].neighbors[0] = 9999);
    let mut tiles = mesh.baked_tiles().to_vec();
    let inner = |tile: &TileMesh| tile.polygons.iter().position(|at| at.neighbors[0] < 0xfff0);
    let (tile, polygon) =
        (0..tiles.len()).find_map(|at| Some((at, inner(&tiles[at])?))).expect("one of them");
    tiles[tile].polygons[polygon].neighbors[0] = polygon as u16;
    assert!(read(&tiles).unwrap_err().contains("does not have the neighbour"));
    refused("2 corners", &|tile| tile.polygons[0].count = 2);
    refused("the area 64", &|tile| tile.polygons[0].area = 64);
    refused("a grid of heights is not in its tile", &|tile| tile.grids[0].first = u32::MAX);
    refused("heights that do not exist", &|tile| tile.polygons[0].heights = Some(u16::MAX));
    let bytes = bytes_of(mesh.baked_tiles());
    for length in (0..bytes.len()).step_by(7) {
        assert!(read_tiles(&mut BlobReader::new(&bytes[..length])).is_err(), "{length}");
    }
    let mut tiles = mesh.baked_tiles().to_vec();
    tiles.pop();
    assert!(NavigationMesh::from_tiles(source(), settings(), tiles, &pool).is_err());
    let mut tiles = mesh.baked_tiles().to_vec();
    tiles[at].vertices[0][0] = 41;
    assert!(NavigationMesh::from_tiles(source(), settings(), tiles, &pool).is_err());
}
