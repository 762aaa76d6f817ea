//! Tests of Guis that check the arrays they hand over.

use super::tessellation::{self, ShapeStyle};
use super::*;
use engine_frame_packet::gui::{GuiFrame, paint};

const RED: [u8; 4] = [255, 0, 0, 255];

fn desc(mode: GuiMode) -> GuiDesc {
    GuiDesc {
        world: None,
        space: GuiSpace::Screen,
        mode,
        pose: Mat4::IDENTITY,
        size: [0.0; 2],
        target: None,
        keeps: false,
    }
}

fn request(gui: GuiId, layer: i32) -> DrawRequest<'static> {
    DrawRequest { gui, object: 0.0, primitive: PrimitiveKind::Rect, layer, pose: None, blend: None }
}

fn rect(
    guis: &mut Guis,
    request: DrawRequest,
    source: SourceNumber,
    x: f32,
) -> Result<f64, String> {
    let set =
        guis.submit_quad(request, source, |of| tessellation::quad([x, 0.0, x + 1.0, 1.0], of, RED));
    set.map_err(|_| guis.take_refusal())
}

fn frame(guis: &mut Guis, gui: GuiId) -> GuiFrame {
    let (mut frames, mut ended) = (Vec::new(), Vec::new());
    guis.end_frame(&mut frames, &mut ended, |_| ());
    frames.into_iter().find(|frame| frame.gui == number(gui.0)).unwrap()
}

fn textured(guis: &mut Guis, slot: u32) -> SourceNumber {
    let texture = TextureSlot(slot);
    let paint = QuadInstance::paint(paint::TEXTURE, 0, 0);
    guis.add_source(TextureSource { texture, paint, ..TextureSource::PLAIN }).unwrap()
}

#[test]
fn equal_keys_share_a_batch_in_the_order_of_first_objects() {
    let mut guis = Guis::default();
    let gui = guis.create(desc(GuiMode::Immediate)).unwrap();
    let (a, b) = (textured(&mut guis, 7), textured(&mut guis, 8));
    for (layer, source) in [(1, b), (1, a), (0, PLAIN), (1, b), (1, a), (0, PLAIN)] {
        rect(&mut guis, request(gui, layer), source, 0.0).unwrap();
    }
    let drawn_frame = frame(&mut guis, gui);
    let keys = drawn_frame
        .batches
        .iter()
        .map(|batch| (batch.key.layer, batch.key.texture.0, batch.instances.len()));
    assert_eq!(keys.collect::<Vec<_>>(), [(1, 8, 2), (1, 7, 2), (0, 0, 2)]);
    assert!(frame(&mut guis, gui).batches.is_empty(), "one frame, and no other");
}

#[test]
fn sources_of_one_texture_share_a_batch() {
    let mut guis = Guis::default();
    let gui = guis.create(desc(GuiMode::Immediate)).unwrap();
    let (a, b) = (textured(&mut guis, 0), textured(&mut guis, 0));
    for source in [a, b, PLAIN, a] {
        rect(&mut guis, request(gui, 0), source, 0.0).unwrap();
    }
    assert_eq!(frame(&mut guis, gui).batches.len(), 1);
}

#[test]
fn the_arrays_of_frames_are_recycled() {
    let mut guis = Guis::default();
    let gui = guis.create(desc(GuiMode::Immediate)).unwrap();
    for _ in 0..100 {
        rect(&mut guis, request(gui, 0), PLAIN, 0.0).unwrap();
    }
    let shown = frame(&mut guis, gui);
    let address = shown.batches[0].instances.as_ptr();
    guis.recycle(&mut vec![shown]);
    rect(&mut guis, request(gui, 0), PLAIN, 3.0).unwrap();
    let shown = frame(&mut guis, gui);
    assert_eq!(
        (shown.batches[0].instances.as_ptr(), shown.batches[0].instances.len()),
        (address, 1)
    );
}

#[test]
fn an_object_is_submitted_changed_and_destroyed_by_one_id() {
    let mut guis = Guis::default();
    let gui = guis.create(desc(GuiMode::Retained)).unwrap();
    let object = rect(&mut guis, request(gui, 3), PLAIN, 0.0).unwrap();
    let shown = frame(&mut guis, gui);
    let key = GuiBatchKey { layer: 3, ..GuiBatchKey::PLAIN };
    let set = ObjectChange::Set { object: object as u64, key, source: 0, first: 0, count: 1 };
    assert_eq!((shown.changes, shown.instances.len()), (vec![set], 1));
    assert!(frame(&mut guis, gui).changes.is_empty(), "nothing new, nothing sent");
    let changed = DrawRequest { object, ..request(gui, 3) };
    assert_eq!(rect(&mut guis, changed, PLAIN, 5.0), Ok(object));
    assert_eq!(frame(&mut guis, gui).instances[0].corners[0], 5.0);
    guis.destroy_object(gui, PrimitiveKind::Rect, object, (9, "main.lua:3")).unwrap();
    assert_eq!(frame(&mut guis, gui).changes, [ObjectChange::End { object: object as u64 }]);
    let message = "this object of a Gui was destroyed in frame 9 at main.lua:3";
    assert_eq!(rect(&mut guis, changed, PLAIN, 5.0), Err(message.to_string()));
}

#[test]
fn an_invalid_object_is_refused_with_a_reason() {
    let mut guis = Guis::default();
    let gui = guis.create(desc(GuiMode::Retained)).unwrap();
    let other = guis.create(desc(GuiMode::Retained)).unwrap();
    let immediate = guis.create(desc(GuiMode::Immediate)).unwrap();
    let object = rect(&mut guis, request(gui, 0), PLAIN, 0.0).unwrap();
    let mut check = |request: DrawRequest, message: &str| {
        assert_eq!(rect(&mut guis, request, PLAIN, 0.0), Err(message.to_string()));
    };
    check(DrawRequest { object, ..request(other, 0) }, "this object belongs to another Gui");
    let text = DrawRequest { object, primitive: PrimitiveKind::Text, ..request(gui, 0) };
    check(text, "this object is a rect, not a text");
    let never = "7 is not an object of a Gui: retained Guis return their numbers";
    check(DrawRequest { object: 7.0, ..request(gui, 0) }, never);
    let message = "this Gui is immediate: it keeps no objects, draw them in each frame instead";
    check(DrawRequest { object, ..request(immediate, 0) }, message);
}

#[test]
fn destroying_a_gui_destroys_its_objects() {
    let mut guis = Guis::default();
    let gui = guis.create(desc(GuiMode::Retained)).unwrap();
    rect(&mut guis, request(gui, 0), PLAIN, 0.0).unwrap();
    guis.destroy(gui, 2, "");
    assert!(guis.objects.is_empty());
    let (mut frames, mut ended) = (Vec::new(), Vec::new());
    guis.end_frame(&mut frames, &mut ended, |_| ());
    assert_eq!((frames.len(), ended), (0, vec![number(gui.0)]));
}

#[test]
fn objects_with_a_pose_allocate_and_release_a_transform() {
    let mut guis = Guis::default();
    let gui = guis.create(desc(GuiMode::Retained)).unwrap();
    let pose = Mat4::from_translation([1.0, 2.0, 3.0].into());
    let posed = DrawRequest { pose: Some(&pose), ..request(gui, 0) };
    let object = rect(&mut guis, posed, PLAIN, 0.0).unwrap();
    let shown = frame(&mut guis, gui);
    assert_eq!((shown.transforms, shown.instances[0].paint >> 16), (vec![pose], 1));
    assert!(frame(&mut guis, gui).transforms.is_empty());
    guis.destroy_object(gui, PrimitiveKind::Rect, object, (1, "")).unwrap();
    let object = rect(&mut guis, posed, PLAIN, 0.0).unwrap();
    assert_eq!(frame(&mut guis, gui).transforms.len(), 1, "the free one is used again");
    rect(&mut guis, DrawRequest { object, ..request(gui, 0) }, PLAIN, 0.0).unwrap();
    rect(&mut guis, posed, PLAIN, 0.0).unwrap();
    assert_eq!(frame(&mut guis, gui).transforms.len(), 1, "an object without a pose has none");
}

#[test]
fn transforms_multiply_and_clips_intersect() {
    let mut transform_stack = TransformStack::default();
    transform_stack.push().unwrap();
    transform_stack.apply(Affine2::translation([10.0, 0.0]));
    transform_stack.apply(Affine2::scaling([2.0, 2.0]));
    assert_eq!(transform_stack.transform().unwrap().apply([1.0, 1.0]), [12.0, 2.0]);
    transform_stack.push_clip([0.0, 0.0, 10.0, 10.0]).unwrap();
    transform_stack.push_clip([-5.0, 5.0, 5.0, 50.0]).unwrap();
    assert_eq!(transform_stack.clip(), Some([10, 10, 20, 20]));
    transform_stack.pop_clip().unwrap();
    assert_eq!(transform_stack.clip(), Some([10, 0, 30, 20]));
    transform_stack.pop_clip().unwrap();
    transform_stack.pop().unwrap();
    assert_eq!((transform_stack.transform(), transform_stack.clip()), (None, None));
    assert!(transform_stack.pop().unwrap_err().contains("a pop too many"));
    assert!(transform_stack.pop_clip().unwrap_err().contains("a pop_clip too many"));
    (0..STACK_MAX).for_each(|_| transform_stack.push().unwrap());
    assert!(transform_stack.push().unwrap_err().contains("STACK_MAX"));
    assert_eq!(transform_stack.end_frame(), STACK_MAX);
}

fn area(instances: &[QuadInstance]) -> f32 {
    let twice = |c: &[f32; 8]| (c[2] - c[0]) * (c[5] - c[1]) - (c[3] - c[1]) * (c[4] - c[0]);
    instances.iter().map(|instance| twice(&instance.corners) / 2.0).sum()
}

#[test]
fn polygons_are_triangulated_and_crossing_edges_are_refused() {
    let polygon = |points: &[[f32; 2]]| {
        let mut into = Vec::new();
        tessellation::polygon(points, RED, 0.0, &mut into).map(|()| into)
    };
    let arrow = [[0.0, 0.0], [4.0, 0.0], [4.0, 4.0], [2.0, 1.0]];
    assert_eq!(area(&polygon(&arrow).unwrap()), 6.0);
    let mut backwards = arrow;
    backwards.reverse();
    assert_eq!(area(&polygon(&backwards).unwrap()), 6.0, "either way round");
    let line = [[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]];
    assert!(polygon(&line).unwrap_err().contains("no area"));
    let crossing = [[4.0, 6.0], [6.0, 6.0], [0.0, 2.0], [0.0, 3.0], [6.0, 3.0]];
    assert!(polygon(&crossing).unwrap_err().contains("the edges of this polygon cross"));
}

#[test]
fn the_work_for_a_polygon_is_limited() {
    // A band that spirals outward, with 400 corners on each side.
    let side = |inner: f32| {
        (0..400).map(move |i| {
            let (far, angle) = (inner + i as f32 * 0.1, i as f32 * 0.1);
            [far * angle.cos(), far * angle.sin()]
        })
    };
    let band: Vec<_> = side(1.0).chain(side(0.97).collect::<Vec<_>>().into_iter().rev()).collect();
    assert!(triangulation::triangles(&band, 1 << 20).is_ok());
    let message = triangulation::triangles(&band, 1 << 12).unwrap_err();
    assert_eq!(
        message,
        "this polygon is so convoluted that its triangles need more than 4096 tests of points \
         (POINT_TESTS_MAX): draw it in parts"
    );
}

#[test]
fn polygon_edges_are_antialiased_over_one_pixel() {
    let mut into = Vec::new();
    let square = [[0.0, 0.0], [10.0, 0.0], [10.0, 0.0], [10.0, 10.0], [0.0, 10.0], [0.0, 0.0]];
    tessellation::polygon(&square, RED, 1.0, &mut into).unwrap();
    let (inside, fringe) = into.split_at(2);
    assert_eq!(area(inside), 81.0);
    let around: f32 = fringe.iter().map(quad_area).sum();
    assert_eq!((fringe.len(), around), (4, -(121.0 - 81.0)));
    assert!(fringe.iter().all(|part| part.paint & 15 == paint::FRINGE && part.extra[0] == 1.0));
    assert_eq!(fringe[0].corners, [0.5, 0.5, 9.5, 0.5, 10.5, -0.5, -0.5, -0.5]);
    // A polygon thinner than a pixel has no interior that ends before the edge.
    into.clear();
    let splinter = [[0.0, 0.0], [10.0, 0.0], [10.0, 0.2], [0.0, 0.2]];
    tessellation::polygon(&splinter, RED, 1.0, &mut into).unwrap();
    assert!((area(&into[..2]) - 2.0).abs() < 1e-5);
    assert_eq!((into.len(), into[2].extra[0]), (6, 0.5));
}

fn quad_area(instance: &QuadInstance) -> f32 {
    let c = &instance.corners;
    let next = |i: usize| (i + 2) % 8;
    [0, 2, 4, 6].map(|i| c[i] * c[next(i) + 1] - c[i + 1] * c[next(i)]).iter().sum::<f32>() / 2.0
}

#[test]
fn a_triangle_has_barycentric_coordinates() {
    let corners = [[1.0, 1.0], [4.0, 1.0], [1.0, 5.0]];
    for turned in 0..3 {
        let mut points = corners;
        points.rotate_left(turned);
        let shown = tessellation::triangle(points, RED, 1.0);
        let c = shown.corners;
        // Position of the second corner, from the quad's bottom left along its sides.
        let (x, y) = ([c[2] - c[0], c[3] - c[1]], [c[6] - c[0], c[7] - c[1]]);
        let to = [points[1][0] - c[0], points[1][1] - c[1]];
        let share = |side: [f32; 2]| {
            (to[0] * side[0] + to[1] * side[1]) / (side[0] * side[0] + side[1] * side[1])
        };
        let near = |i: usize| {
            let (at, along, across) = (shown.uv[i], shown.uv[i + 2], shown.extra[i]);
            at + (along - at) * share(x) + (across - at) * share(y)
        };
        assert!((near(0) - 1.0).abs() < 1e-5 && near(1).abs() < 1e-5, "{turned}: {shown:?}");
        // 5 long and 2.4 high, with a pixel around.
        assert!((quad_area(&shown).abs() - 7.0 * 4.4).abs() < 1e-4, "{turned}");
    }
    let line = tessellation::triangle([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]], RED, 1.0);
    assert_eq!(line.paint & 15, paint::SOLID, "nothing to see");
}

#[test]
fn retained_objects_follow_moved_and_removed_sources() {
    let mut guis = Guis::default();
    let gui = guis.create(desc(GuiMode::Retained)).unwrap();
    let immediate = guis.create(desc(GuiMode::Immediate)).unwrap();
    let source = textured(&mut guis, 7);
    rect(&mut guis, request(gui, 0), source, 0.0).unwrap();
    rect(&mut guis, request(immediate, 0), source, 0.0).unwrap();
    let of = |guis: &Guis| guis.source(source).unwrap().clone();
    let same = of(&guis);
    guis.change_sources(vec![(source, same.clone())]);
    guis.change_sources(vec![(source, TextureSource { texture: TextureSlot(8), ..same })]);
    rect(&mut guis, request(immediate, 0), source, 0.0).unwrap();
    guis.end_sources(&[source]);
    let drawn_frame = frame(&mut guis, gui);
    let moves = drawn_frame.moved.iter().map(|it| (it.from.texture.0, it.to.texture.0, it.ended));
    assert_eq!(moves.collect::<Vec<_>>(), [(7, 8, false), (8, 0, true)]);
    let kinds =
        drawn_frame.changes.iter().map(|change| matches!(change, ObjectChange::Move { .. }));
    assert_eq!(kinds.collect::<Vec<_>>(), [false, true, true]);
    assert_eq!((of(&guis), guis.source_count()), (TextureSource::PLAIN, 1));
    assert_eq!(textured(&mut guis, 9), source, "its number stands for another now");
    // Objects drawn again in each frame use the source's new location.
    rect(&mut guis, request(immediate, 0), source, 0.0).unwrap();
    let batches = frame(&mut guis, immediate).batches;
    assert_eq!(batches.iter().map(|it| it.key.texture.0).collect::<Vec<_>>(), [9]);
}

#[test]
fn a_nine_patch_shrinks_its_borders_only_if_too_small() {
    let source = TextureSource { size: [30.0, 30.0], ..TextureSource::PLAIN };
    let mut into = Vec::new();
    tessellation::nine_patch([0.0, 0.0, 100.0, 50.0], [10.0; 4], &source, RED, &mut into);
    assert_eq!(into.len(), 9);
    assert_eq!(into[4].corners, tessellation::corners([10.0, 10.0, 90.0, 40.0]));
    assert_eq!(into[0].uv, [0.0, 1.0, 10.0 / 30.0, 1.0 - 10.0 / 30.0]);
    into.clear();
    tessellation::nine_patch([0.0, 0.0, 10.0, 50.0], [10.0; 4], &source, RED, &mut into);
    assert_eq!(into[0].corners, tessellation::corners([0.0, 0.0, 5.0, 5.0]));
}

#[test]
fn a_line_covers_both_end_points() {
    let look = ShapeStyle { color: RED, radius: 0.0, outline: 0.0, reach: 0.0 };
    let line = tessellation::line([0.0, 0.0], [0.0, 10.0], 2.0, false, look);
    assert_eq!(line.corners, [1.0, 0.0, 1.0, 10.0, -1.0, 10.0, -1.0, 0.0]);
    assert_eq!(line.uv[..2], [5.0, 1.0]);
}

#[test]
fn the_draw_recording_lists_all_draws() {
    let mut guis = Guis::default();
    guis.enable_recording();
    let gui = guis.create(desc(GuiMode::Immediate)).unwrap();
    rect(&mut guis, request(gui, 5), PLAIN, 2.0).unwrap();
    rect(&mut guis, request(gui, 1), PLAIN, 0.0).unwrap();
    let layers =
        |objects: Vec<DrawnObject>| objects.iter().map(|object| object.layer).collect::<Vec<_>>();
    assert_eq!(layers(guis.inspect(gui)), [1, 5]);
    frame(&mut guis, gui);
    assert_eq!(guis.inspect(gui)[1].bounds, [2.0, 0.0, 3.0, 1.0]);
    frame(&mut guis, gui);
    assert!(guis.inspect(gui).is_empty());
}

#[test]
fn bounds_in_the_draw_recording_exclude_antialiasing() {
    let mut guis = Guis::default();
    guis.enable_recording();
    let gui = guis.create(desc(GuiMode::Immediate)).unwrap();
    let look = ShapeStyle { color: RED, radius: 0.0, outline: 0.0, reach: 1.0 };
    let corners = [[1.0, 2.0], [6.0, 3.0], [2.0, 9.0]];
    let mut polygon = Vec::new();
    let points = [[0.0, 0.0], [8.0, 0.0], [8.0, 5.0], [4.0, 1.0], [0.0, 5.0]];
    tessellation::polygon(&points, RED, 1.0, &mut polygon).unwrap();
    let shapes = [
        vec![tessellation::box_quad([10.0, 20.0, 30.0, 25.0], look)],
        vec![tessellation::ellipse([5.0, 5.0], [3.0, 2.0], look)],
        vec![tessellation::arc([5.0, 5.0], 4.0, 1.0, (0.0, 2.0), look)],
        vec![tessellation::line([0.0, 0.0], [10.0, 0.0], 2.0, false, look)],
        vec![tessellation::triangle(corners, RED, 1.0)],
        polygon,
    ];
    for (layer, shape) in shapes.iter().enumerate() {
        let set = guis.submit_quads(request(gui, layer as i32), PLAIN, shape.iter().copied());
        set.unwrap_or_else(|_| panic!("{}", guis.take_refusal()));
    }
    let rounded = |object: &DrawnObject| object.bounds.map(|side| (side * 1000.0).round() / 1000.0);
    let found: Vec<[f32; 4]> = guis.inspect(gui).iter().map(rounded).collect();
    assert_eq!(
        found,
        [
            [10.0, 20.0, 30.0, 25.0],
            [2.0, 3.0, 8.0, 7.0],
            [1.0, 1.0, 9.0, 9.0],
            [0.0, -1.0, 10.0, 1.0],
            [1.0, 2.0, 6.0, 9.0],
            [0.0, 0.0, 8.0, 5.0],
        ]
    );
}

#[test]
fn a_moved_gui_scrolls_its_content() {
    let moved = |pose: Mat4, size: [f32; 2]| {
        let [low, high] =
            GuiDesc { pose, size, ..desc(GuiMode::Immediate) }.visible_area([200.0, 100.0]);
        [low.x, low.y, high.x, high.y]
    };
    let none = [0.0; 2];
    assert_eq!(moved(Mat4::IDENTITY, none), [0.0, 0.0, 200.0, 100.0]);
    assert_eq!(moved(Mat4::IDENTITY, [64.0, 32.0]), [0.0, 0.0, 64.0, 32.0]);
    let aside = Mat4::from_translation(Vec2::new(-40.0, 10.0).extend(0.0));
    assert_eq!(moved(aside, none), [40.0, -10.0, 240.0, 90.0]);
    let twice = Mat4::from_scale(Vec2::splat(2.0).extend(1.0));
    assert_eq!(moved(aside * twice, none), [20.0, -5.0, 120.0, 45.0]);
    let quarter = Mat4::from_rotation_z(std::f32::consts::FRAC_PI_2);
    assert!(moved(quarter, none)[1] < -199.9, "turned: what was to the right is below");
    let flat = Mat4::from_scale(Vec2::ZERO.extend(1.0));
    assert_eq!(moved(flat, none)[0], f32::MIN, "an object without a size has no bounds");
    let world = GuiDesc { space: GuiSpace::World, size: [3.0, 2.0], ..desc(GuiMode::Immediate) };
    assert_eq!(world.visible_area([200.0, 100.0])[1], Vec2::new(3.0, 2.0));
}

#[test]
fn colours_in_the_range_up_to_1_are_detected() {
    let mut guis = Guis::default();
    let gui = guis.create(desc(GuiMode::Immediate)).unwrap();
    let mut found = |color: [u8; 4]| {
        let quad = |of: &TextureSource| QuadInstance {
            color,
            ..tessellation::quad([0.0, 0.0, 1.0, 1.0], of, color)
        };
        guis.submit_quad(request(gui, 0), PLAIN, quad).unwrap();
        nearly_black(&[frame(&mut guis, gui)])
    };
    assert_eq!(found([1, 1, 0, 255]), Some([1, 1, 0, 255]));
    assert_eq!(found([0, 0, 1, 1]), Some([0, 0, 1, 1]));
    for fine in [[0, 0, 0, 255], [2, 1, 0, 255], [1, 1, 1, 0], [255; 4]] {
        assert_eq!(found(fine), None, "{fine:?}");
    }
}

#[test]
fn a_nine_patch_of_a_mirrored_rectangle_is_mirrored() {
    let (mut straight, mut mirrored) = (Vec::new(), Vec::new());
    let source = TextureSource { size: [8.0, 8.0], ..TextureSource::PLAIN };
    let borders = [2.0, 1.0, 3.0, 1.0];
    tessellation::nine_patch([10.0, 20.0, 50.0, 60.0], borders, &source, RED, &mut straight);
    tessellation::nine_patch([50.0, 20.0, 10.0, 60.0], borders, &source, RED, &mut mirrored);
    assert_eq!((straight.len(), mirrored.len()), (9, 9));
    for (one, other) in straight.iter().zip(&mirrored) {
        assert_eq!(one.uv, other.uv);
        for i in [0, 2, 4, 6] {
            assert_eq!(one.corners[i], 60.0 - other.corners[i]);
            assert_eq!(one.corners[i + 1], other.corners[i + 1]);
        }
    }
}
