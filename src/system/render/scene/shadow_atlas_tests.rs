//! Tests of the shadow atlas: sizes, what is drawn again, limits.

use super::*;
use engine_foundation::Vec3;
use engine_foundation::random::Random;

const LIMITS: AtlasLimits = AtlasLimits { atlas_side: 2048, tile_side: 512, tiles_drawn: 1000 };

fn omni(light: u64, side: f32) -> ShadowRequest {
    let key = ShadowKey { scene: 1, layers: 1, light };
    let shape = LampShape { position: Vec3::ZERO, range: 10.0, cone: None };
    ShadowRequest { key, shape, rank: light as f32, side }
}

fn spot(light: u64, side: f32) -> ShadowRequest {
    let request = omni(light, side);
    let shape = LampShape { cone: Some((Vec3::X, 0.5)), ..request.shape };
    ShadowRequest { shape, ..request }
}

/// Plans a frame, and returns the light and the face of each drawn tile, and the sides.
fn plan(
    atlas: &mut ShadowAtlas,
    limits: AtlasLimits,
    requests: &[ShadowRequest],
) -> (Vec<(u64, usize)>, Vec<u32>) {
    atlas.plan(limits, &mut requests.to_vec());
    let drawn = atlas.draws.iter().map(|draw| (draw.key.light, draw.face)).collect();
    (drawn, atlas.draws.iter().map(|draw| draw.rectangle[2]).collect())
}

#[test]
fn tiles_follow_the_size_on_the_screen_with_hysteresis() {
    let mut atlas = ShadowAtlas::default();
    let wanted = [(200.0, 256), (280.0, 0), (110.0, 0), (100.0, 128), (150.0, 0), (160.0, 256)];
    for (side, drawn) in wanted {
        let found = plan(&mut atlas, LIMITS, &[spot(1, side)]).1;
        let drawn: Vec<u32> = Some(drawn).filter(|side| *side > 0).into_iter().collect();
        assert_eq!(found, drawn, "{side}");
    }
    for (side, drawn) in [(9000.0, 512), (0.0, 64), (f32::NAN, 0), (f32::INFINITY, 512)] {
        let found = plan(&mut atlas, LIMITS, &[spot(1, side)]).1;
        assert_eq!(found.first().copied().unwrap_or(0), drawn, "{side}");
    }
}

#[test]
fn a_tile_is_drawn_again_only_if_something_in_it_changes() {
    let mut atlas = ShadowAtlas::default();
    let requests = [omni(1, 128.0), spot(2, 128.0)];
    assert_eq!(plan(&mut atlas, LIMITS, &requests).0.len(), 7);
    assert_eq!(plan(&mut atlas, LIMITS, &requests).0, []);
    let at = |x: f32, y: f32| [LightSphere { center: Vec3::new(x, y, 0.0), radius: 0.5 }];
    let mut drawn_after = |changed: [LightSphere; 1]| {
        atlas.mark_stale(1, None, Some(&changed));
        plan(&mut atlas, LIMITS, &requests).0
    };
    // To the right are a side of the omni light, and the spot; ahead only another side.
    assert_eq!(drawn_after(at(5.0, 0.0)), [(1, 0), (2, 0)]);
    assert_eq!(drawn_after(at(0.0, 5.0)), [(1, 2)]);
    assert_eq!(drawn_after(at(30.0, 0.0)), []);
    atlas.mark_stale(2, None, None);
    atlas.mark_stale(1, Some(7), None);
    assert_eq!(plan(&mut atlas, LIMITS, &requests).0, [], "another scene, and other groups");
    let mut moved = requests;
    moved[1].shape.position.z = 1.0;
    assert_eq!(plan(&mut atlas, LIMITS, &moved).0, [(2, 0)]);
    for (requests, count) in [([moved[0]], 6), ([spot(1, 128.0)], 1), ([omni(1, 128.0)], 6)] {
        atlas.mark_stale(1, None, None);
        assert_eq!(plan(&mut atlas, LIMITS, &requests).0.len(), count);
        assert_eq!(plan(&mut atlas, LIMITS, &requests).0, []);
        let mut tiles = Vec::new();
        assert!(atlas.tiles_of(&requests[0].key, &mut tiles).is_some() && tiles.len() == count);
    }
    atlas.reset();
    assert_eq!(plan(&mut atlas, LIMITS, &moved).0.len(), 7, "the adapter has lost all");
}

#[test]
fn the_budget_of_a_frame_reaches_every_light_in_turn() {
    let limits = AtlasLimits { tiles_drawn: 12, ..LIMITS };
    let mut requests: Vec<ShadowRequest> = (1..=20).map(|light| omni(light, 64.0)).collect();
    let mut atlas = ShadowAtlas::default();
    let mut tiles = Vec::new();
    for _ in 0..10 {
        assert_eq!(plan(&mut atlas, limits, &requests).0.len(), 12);
    }
    assert_eq!(plan(&mut atlas, limits, &requests).0.len(), 0);
    assert!(requests.iter().all(|it| atlas.tiles_of(&it.key, &mut tiles).is_some()));
    assert_eq!(tiles.len(), 120);
    // All of them move in every frame: each is drawn once in ten frames.
    let mut drawn = BTreeMap::new();
    for frame in 1..=20 {
        requests.iter_mut().for_each(|it| it.shape.position.x = frame as f32);
        for (light, _) in plan(&mut atlas, limits, &requests).0 {
            *drawn.entry(light).or_insert(0) += 1;
        }
    }
    assert!(drawn.len() == 20 && drawn.values().all(|count| *count == 12), "{drawn:?}");
}

#[test]
fn a_full_atlas_makes_tiles_smaller_and_then_drops_lights() {
    let limits = AtlasLimits { atlas_side: 512, tile_side: 256, ..LIMITS };
    let mut atlas = ShadowAtlas::default();
    let spots = |count: u64| (1..=count).map(|light| spot(light, 256.0)).collect::<Vec<_>>();
    assert_eq!(plan(&mut atlas, limits, &spots(4)).1, [256; 4]);
    let mut atlas = ShadowAtlas::default();
    assert_eq!(plan(&mut atlas, limits, &spots(5)).1, [128; 5]);
    let mut atlas = ShadowAtlas::default();
    assert_eq!(plan(&mut atlas, limits, &spots(70)).1, [64; 64]);
    assert_eq!(atlas.dropped, 6);
    let mut atlas = ShadowAtlas::default();
    plan(&mut atlas, LIMITS, &spots(SHADOWED_LIGHTS_MAX as u64 + 3));
    assert_eq!(atlas.dropped, 3);
    for nothing in [AtlasLimits { atlas_side: 0, ..LIMITS }, AtlasLimits { tile_side: 0, ..LIMITS }]
    {
        assert_eq!(plan(&mut atlas, nothing, &spots(2)).0, []);
        assert_eq!((atlas.side(), atlas.dropped), (0, 0));
    }
    // A light that views show several times has one map, with the largest side.
    let twice = [spot(1, 64.0), spot(1, 256.0), spot(1, 128.0)];
    assert_eq!(plan(&mut atlas, limits, &twice).1, [256]);
}

#[test]
fn lights_that_come_and_go_do_not_fill_the_atlas() {
    let mut random = Random::seed(9);
    let mut atlas = ShadowAtlas::default();
    for round in 0..1000 {
        let mut request = |i: u64| {
            let light = round * 8 + i;
            let side = 64.0 + random.next_f64() as f32 * 500.0;
            if i.is_multiple_of(2) { omni(light, side) } else { spot(light, side) }
        };
        let requests: Vec<ShadowRequest> = (1..=8).map(&mut request).collect();
        plan(&mut atlas, LIMITS, &requests);
        let mut tiles = Vec::new();
        assert!(requests.iter().all(|it| atlas.tiles_of(&it.key, &mut tiles).is_some()));
        assert!(atlas.lamps.len() <= LIGHTS_KEPT_MAX);
    }
    let side = atlas.side();
    atlas.retain(|_| false);
    assert!(atlas.is_empty());
    assert_eq!(atlas.tiles, TileAllocator::new(side, TILE_SIDE_MIN));
}

#[test]
fn tiles_of_a_frame_that_is_not_drawn_are_drawn_later() {
    let mut atlas = ShadowAtlas::default();
    let requests = [omni(1, 64.0), spot(2, 64.0)];
    plan(&mut atlas, LIMITS, &requests[..1]);
    plan(&mut atlas, LIMITS, &requests);
    atlas.undo();
    assert_eq!(plan(&mut atlas, LIMITS, &requests).0, [(2, 0)]);
    assert_eq!(plan(&mut atlas, LIMITS, &requests).0, []);
}
