//! Tests of `.skeleton` files: valid ones, and the messages for those that are not.

use super::*;
use crate::animation::{AnimatedModel, part_index};
use engine_animation::{ClipPlayer, Pose};
use engine_models::Model;
use engine_resource::resource_kind::{SourceForm, kind_names};
use engine_resource::resource_name::ResourceName;

const SHEET: &str = r#"{
    "frames": [
      { "filename": "1", "frame": { "x": 0, "y": 0, "w": 8, "h": 8 }, "duration": 100 },
      { "filename": "2", "frame": { "x": 8, "y": 0, "w": 8, "h": 8 }, "duration": 300 },
      { "filename": "3", "frame": { "x": 16, "y": 0, "w": 8, "h": 8 }, "duration": 50 }
    ],
    "meta": { "image": "walker.png", "frameTags": [
      { "name": "blink", "from": 0, "to": 2, "direction": "pingpong" },
      { "name": "once", "from": 1, "to": 2, "repeat": "2" }
    ] }
}"#;

const PUPPET: &str = r##"
    pixels_per_metre = 10
    bones = {
      arm = { parent = "body" position = [0, 20] rotation = 90 }
      body = { position = [5, 0] scale = 2 }
      hand = { parent = "arm" position = [10, 0] }
    }
    slots = {
      body = { texture = "puppet/body" pivot = [0.5, 0] }
      arm = {
        color = "#80ffffff"
        parts = { bare = "puppet/arm" mail = { texture = "puppet/mail" rotation = 90 } }
      }
      held = { bone = "hand" part = "" parts = { sword = "puppet/sword" } }
    }
    skins = {
      ice = { body = "ice/body" arm = { mail = { texture = "ice/mail" } } }
    }
    clips = {
      swing = {
        loop = true
        bones = { arm = { rotation = [ { time = 0 value = 0 } { time = 1 value = 360 } ] } }
        slots = {
          held = { part = [ { time = 0.5 value = "sword" } ] order = [ { time = 0.5 value = -2 } ] }
          arm = { color = [ { time = 0 value = "#000" } { time = 1 value = "#fff" } ] }
        }
        events = [ { name = "cut" time = 0.5 sound = "sounds/cut" } ]
      }
    }
"##;

/// Compiles a file. Returns it with the files that it read, and its references.
fn compiled(text: &str) -> Result<(ModelData, Vec<String>, Vec<String>), String> {
    let read = |path: &str| match path {
        "units/walker.sheet" => Ok(SHEET.as_bytes().to_vec()),
        _ => Err(error!("{path}: there is no such file")),
    };
    let name = ResourceName::new(kind_names::MODEL, "units/puppet");
    let path = "units/puppet.skeleton".to_string();
    let bytes = text.as_bytes().to_vec();
    let mut compiling = CompileContext::new(name, path, SourceForm::Own, bytes, false, &read);
    let model = compile_skeleton(&mut compiling).map_err(|error| error.message)?;
    let written = ModelData::read(&model.write(&[])).map_err(|error| error.message)?;
    assert_eq!(written.sprite_skeleton, model.sprite_skeleton);
    let references = compiling.references.iter().map(ToString::to_string).collect();
    Ok((model, compiling.files, references))
}

fn animated(data: ModelData) -> AnimatedModel {
    let meshes = Vec::new();
    let model = Model { name: "units/puppet".to_string(), data, meshes, materials: Vec::new() };
    AnimatedModel::read(&model).unwrap()
}

/// Returns the values of the slots at a time of a clip.
fn values_at(model: &AnimatedModel, clip: &str, time: f32) -> Vec<f32> {
    let clip = &model.clips[usize::from(model.find_clip(clip).unwrap())].clip;
    let rest: Vec<f32> = model.morphs.iter().flat_map(|it| it.rest.iter().copied()).collect();
    let mut player = ClipPlayer::new(clip, &model.skeleton);
    player.seek(clip, time);
    let mut values = Vec::new();
    player.sample_weights(&rest, &mut values);
    values
}

#[test]
fn bones_become_nodes_in_metres_parents_first() {
    let (model, ..) = compiled(PUPPET).unwrap();
    let names: Vec<&str> = model.nodes.iter().map(|node| node.name.as_str()).collect();
    assert_eq!(names, ["body", "arm", "hand"]);
    assert_eq!((model.nodes[1].parent, model.nodes[0].parent), (Some(0), None));
    assert_eq!(model.nodes[0].position, [0.5, 0.0, 0.0]);
    assert_eq!(model.nodes[0].scale, [2.0, 2.0, 1.0]);
    let hand = model.world(&model.nodes[2]).transform_point3([0.0; 3].into());
    assert!((hand.x - 0.5).abs() < 1e-5 && (hand.y - 6.0).abs() < 1e-5, "{hand}");
    let upright = PUPPET.replacen("pixels", "plane = \"upright\" pixels", 1);
    let (model, ..) = compiled(&upright).unwrap();
    let hand = model.world(&model.nodes[2]).transform_point3([0.0; 3].into());
    assert!((hand.x - 0.5).abs() < 1e-5 && (hand.z - 6.0).abs() < 1e-5, "{hand}");
}

#[test]
fn slots_and_skins_have_their_parts() {
    let (model, files, references) = compiled(PUPPET).unwrap();
    let sprite_skeleton = model.sprite_skeleton.unwrap();
    let names: Vec<&str> = sprite_skeleton.slots.iter().map(|slot| slot.name.as_str()).collect();
    assert_eq!(names, ["body", "arm", "held"]);
    let shown: Vec<u16> = sprite_skeleton.slots.iter().map(|slot| slot.part).collect();
    assert_eq!((shown, sprite_skeleton.slots[2].bone), (vec![1, 1, 0], 2));
    assert_eq!(sprite_skeleton.slots[0].parts[0].pivot, [0.5, 0.0]);
    assert!((sprite_skeleton.slots[1].color[0] - 128.0 / 255.0).abs() < 1e-6);
    let mail = sprite_skeleton.part(1, 1, Some(0)).unwrap();
    assert_eq!((mail.texture.as_str(), mail.rotation), ("ice/mail", 90f32.to_radians()));
    assert_eq!(sprite_skeleton.part(0, 0, Some(0)).unwrap().texture, "ice/body");
    assert!(files.is_empty(), "{files:?}");
    assert!(references.contains(&"puppet/mail.texture".to_string()), "{references:?}");
    assert!(references.contains(&"sounds/cut.sound".to_string()), "{references:?}");
}

#[test]
fn clips_animate_bones_and_slots() {
    let model = animated(compiled(PUPPET).unwrap().0);
    let clip = &model.clips[usize::from(model.find_clip("swing").unwrap())].clip;
    assert_eq!((clip.seconds, clip.is_looping(), clip.events().len()), (1.0, true, 1));
    // A whole turn goes the long way.
    let mut player = ClipPlayer::new(clip, &model.skeleton);
    let mut pose = Pose::default();
    for (time, angle) in [(0.25, 90.0f32), (0.5, 180.0), (0.75, 270.0)] {
        player.seek(clip, time);
        player.sample(&model.rest, &mut pose);
        let found = pose.transform(1).rotation.normalize() * engine_foundation::Vec3::X;
        let wanted =
            engine_foundation::Vec3::new(angle.to_radians().cos(), angle.to_radians().sin(), 0.0);
        assert!(found.distance(wanted) < 1e-2, "{found} at {time}");
    }
    let sprite_skeleton = model.sprite_skeleton.clone().unwrap();
    let part =
        |time: f32| part_index(values_at(&model, "swing", time)[sprite_skeleton.part_value(2)]);
    assert_eq!([part(0.6), part(1.0)], [1, 1]);
    let values = values_at(&model, "swing", 0.5);
    let arm = sprite_skeleton.first_value(1);
    assert!((values[arm] - 0.5).abs() < 0.01, "{values:?}");
    let order = values[sprite_skeleton.first_value(2) + 4];
    assert!((order - -0.5).abs() < 0.01, "the last slot is drawn first: {order}");
}

#[test]
fn tags_of_sheets_are_clips() {
    let text = "sheet = \"units/walker\" pivot = [0.5, 0] clips = { once = { events = [ { name = \
                \"land\" time = 0.1 } ] } }";
    let (data, files, references) = compiled(text).unwrap();
    assert_eq!(references, ["units/walker.sheet"]);
    assert!(files.contains(&"units/walker.sheet".to_string()), "{files:?}");
    let model = animated(data);
    let sprite_skeleton = model.sprite_skeleton.clone().unwrap();
    assert_eq!(sprite_skeleton.slots[0].parts.len(), 3);
    assert_eq!(sprite_skeleton.slots[0].parts[1].pivot, [0.5, 0.0]);
    let texture = &sprite_skeleton.slots[0].parts[1].texture;
    assert!(texture.starts_with("units/walker/"), "{texture}");
    let clip = |name: &str| &model.clips[usize::from(model.find_clip(name).unwrap())].clip;
    let part = |name: &str, time: f32| {
        part_index(values_at(&model, name, time)[sprite_skeleton.part_value(0)])
    };
    // There and back: frames of 100, 300, 50 and 300 milliseconds.
    assert!((clip("blink").seconds - 0.75).abs() < 1e-5);
    assert!(clip("blink").is_looping());
    let shown = [0.05, 0.2, 0.42, 0.6, 0.74].map(|time| part("blink", time));
    assert_eq!(shown, [1, 2, 3, 2, 2]);
    // Two repetitions of 300 and 50 milliseconds.
    assert!((clip("once").seconds - 0.7).abs() < 1e-5);
    assert!(!clip("once").is_looping());
    assert_eq!([0.1, 0.32, 0.4, 0.69].map(|time| part("once", time)), [2, 3, 2, 3]);
    assert_eq!(clip("once").events()[0].name, "land");
}

#[test]
fn grids_get_weights_by_the_distance_to_bones() {
    let text = r#"
        bones = { base = {} tip = { parent = "base" position = [100, 0] } }
        slots = { tail = { bone = "base" texture = "tail" size = [100, 20] pivot = [0, 0.5]
          mesh = { grid = [4, 1] bones = ["base" "tip"] } } }
    "#;
    let (model, ..) = compiled(text).unwrap();
    let mesh = &model.meshes[0];
    assert_eq!((mesh.vertices.len(), mesh.indices.len()), (10, 24));
    let [x, y, z] = mesh.vertices[0].position;
    assert!(x == 0.0 && (y + 0.1).abs() < 1e-6 && z == 0.0, "{x}, {y}, {z}");
    assert_eq!((mesh.vertices[0].uv, mesh.vertices[9].uv), ([0.0, 1.0], [1.0, 0.0]));
    assert_eq!(model.skins[0].joints, [0, 1]);
    let weight = |vertex: usize, joint: u16| {
        let at = mesh.joints[vertex].iter().position(|known| *known == joint).unwrap();
        mesh.weights[vertex][at]
    };
    assert!(weight(0, 0) > 0.99, "the base moves the start");
    assert!(weight(4, 1) >= 0.5 - 1e-4, "the tip moves the end");
    assert_eq!(model.sprite_skeleton.unwrap().slots[0].parts[0].mesh, Some((0, 0)));
}

#[test]
fn listed_meshes_have_their_vertices_and_weights() {
    let text = r#"
        bones = { a = {} b = { position = [10, 0] } }
        slots = { a = { texture = "t" mesh = {
          vertices = [ [0 0 0 1] [10 0 1 1] [0 10 0 0] ] triangles = [ [1 2 3] ]
          weights = [ { a = 1 } { a = 1 b = 3 } { b = 2 } ] } } }
    "#;
    let (model, ..) = compiled(text).unwrap();
    let mesh = &model.meshes[0];
    assert_eq!(mesh.indices, [0, 1, 2]);
    assert_eq!(mesh.weights[1], [0.25, 0.75, 0.0, 0.0]);
    assert_eq!((mesh.joints[2][0], model.skins[0].joints[1]), (1, 1));
}

#[test]
fn tangents_of_meshes_follow_their_pictures() {
    let check = |uvs: [&str; 3], tangent: [i8; 4]| {
        let [a, b, c] = uvs;
        let text = format!(
            "bones = {{ a = {{}} }} slots = {{ a = {{ texture = \"t\" mesh = {{
             vertices = [ [0 0 {a}] [10 0 {b}] [0 10 {c}] ] triangles = [ [1 2 3] ]
             weights = [ {{ a = 1 }} {{ a = 1 }} {{ a = 1 }} ] }} }} }}"
        );
        let (model, ..) = compiled(&text).unwrap();
        let tangents = model.meshes[0].vertices.iter().map(|vertex| vertex.tangent);
        assert!(
            tangents.clone().all(|it| it == tangent),
            "{uvs:?}: {:?}",
            tangents.collect::<Vec<_>>()
        );
    };
    // v increases downwards.
    check(["0 1", "1 1", "0 0"], [127, 0, 0, 127]);
    check(["1 1", "0 1", "1 0"], [-127, 0, 0, -127]);
    check(["0 0", "1 0", "0 1"], [127, 0, 0, -127]);
    // A quarter turn to the left.
    check(["0 1", "0 0", "1 1"], [0, 127, 0, -127]);
    check(["0 0", "0 1", "1 0"], [0, 127, 0, 127]);
    check(["0 0", "0 0", "0 0"], [127, 0, 0, 127]);
}

/// Checks that a file is refused, with its path.
#[track_caller]
fn check(text: &str, wanted: &str) {
    let message = compiled(text).map(drop).unwrap_err();
    assert!(message.starts_with("units/puppet.skeleton"), "{message}");
    assert!(message.contains(wanted), "{message} does not contain {wanted}");
}

const SLOT: &str = "slots = { a = { texture = \"t\" } }";

#[test]
fn faults_of_bones_and_slots_name_the_line_and_the_name() {
    check("", "the skeleton has no bones");
    check("bons = {}", "has no 'bons', did you mean 'bones'?");
    check("bones = { a = {} }", "the skeleton has no slots");
    check(
        "bones = { a = { parent = \"b\" } }",
        "bone 'a' has the parent 'b', which does not exist",
    );
    check(
        "bones = {\na = { parent = \"c\" } b = { parent = \"a\" } c = { parent = \"b\" } }",
        "2: the bones are parents of each other in a circle: a → c → b → a",
    );
    check("bones = { a = { parent = \"a\" } }", "in a circle: a → a");
    check("bones = { root = {} }", "has the name of the first node of every unit");
    check("bones = { a = { position = [1] } }", "'position' of bone 'a' must be two numbers");
    check("bones = { a = { rotation = 1e300 } }", "'rotation' of bone 'a' must be a number from");
    check("bones = { a = { scale = \"x\" } }", "'scale' of bone 'a' must be one or two numbers");
    let many: String = (0..2049).map(|bone| format!("b{bone} = {{}} ")).collect();
    check(&format!("bones = {{ {many} }}"), "has 2049 entries: 2048 is the most (BONES_MAX)");
    check("plane = \"flatt\" bones = {}", "did you mean 'flat'?");
    check("bones = { a = {} } slots = { b = { texture = \"t\" } }", "slot 'b' has no bone 'b'");
    check("bones = { a = {} } slots = { a = {} }", "slot 'a' has no picture");
    check("bones = { a = {} } slots = { a = { texture = \"\" } }", "the name of a resource");
    check(
        "bones = { a = {} } slots = { a = { part = \"y\" parts = { x = \"t\" } } }",
        "slot 'a' has the part 'y', which slot 'a' lacks",
    );
    check("bones = { a = {} } slots = { a = { texture = \"t\" size = [0, 1] } }", "above 0 texels");
    check(
        "bones = { a = {} } slots = { a = { sheet = \"units/none\" } }",
        "there is no sheet 'units/none'",
    );
    check("sheet = \"units/none\"", "there is no sheet 'units/none'");
    check(
        "bones = { a = {} } slots = { a = { sheet = \"units/walker\" frame = \"9\" } }",
        "has the frame '9', which the sheet 'units/walker' lacks",
    );
    check(
        &format!("bones = {{ a = {{}} }} {SLOT} skins = {{ s = {{ b = \"t\" }} }}"),
        "skin 's' has no slot 'b'",
    );
}

#[test]
fn faults_of_clips_name_the_line_and_the_key() {
    let clip = |text: &str| format!("bones = {{ a = {{}} }} {SLOT} clips = {{ c = {{ {text} }} }}");
    check(&clip(""), "clip 'c' has no keys");
    check(&clip("bones = { b = {} }"), "clip 'c' moves the bone 'b', which does not exist");
    check(&clip("slots = { b = {} }"), "clip 'c' changes the slot 'b', which does not exist");
    check(&clip("bones = { a = { rotation = [] } }"), "has 0 keys: use 1 to 16384");
    check(&clip("bones = { a = { rotation = [ { value = 1 } ] } }"), "without a 'time' in seconds");
    check(
        &clip("bones = { a = { rotation = [ { time = 1 } ] } }"),
        "at 1 seconds without a 'value'",
    );
    check(
        &clip("bones = { a = { rotation = [ { time = 1 value = 1 } { time = 1 value = 2 } ] } }"),
        "has a key at 1 seconds after a later one",
    );
    check(
        &clip("bones = { a = { position = [ { time = 0 value = 1 } ] } }"),
        "must be two numbers",
    );
    check(
        &clip("bones = { a = { rotation = [ { time = 0 value = 1 curve = \"stepp\" } ] } }"),
        "has no curve 'stepp', did you mean 'step'?",
    );
    check(
        &clip("bones = { a = { rotation = [ { time = 0 value = 1 curve = [2 0 1 1] } ] } }"),
        "has a curve that is not valid",
    );
    check(
        &clip("slots = { a = { part = [ { time = 0 value = \"b\" } ] } }"),
        "is the part 'b', which slot 'a' lacks",
    );
    check(
        &clip("slots = { a = { order = [ { time = 0 value = 0.5 } ] } }"),
        "must be a whole number",
    );
    check(&clip("slots = { a = { tag = \"x\" } }"), "has a tag, and the slot has no 'sheet'");
    check(
        &clip("bones = { a = { rotation = [ { time = 0 value = 1 } ] } } lop = true"),
        "did you mean 'loop'?",
    );
    check(
        &clip(
            "bones = { a = { rotation = [ { time = 0 value = 1 } ] } } \
             events = [ { name = \"e\" time = 5 } ]",
        ),
        "clip 'c': ",
    );
    let bones = "bones = { a = { rotation = [ { time = 0 value = 1 } { time = 2 value = 3 } ] } }";
    check(
        &clip(&format!("{bones} additive = {{ time = 99 }}")),
        "clip 'c': 'additive' has the time 99, and the animation of the reference pose ends at 2",
    );
}

#[test]
fn faults_of_meshes_name_the_part() {
    let mesh = |text: &str| {
        format!(
            "bones = {{ a = {{}} }} slots = {{ a = {{ texture = \"t\" mesh = {{ {text} }} }} }}"
        )
    };
    check(&mesh("grid = [2, 2]"), "the part needs a 'size' in texels");
    check(&mesh("grid = [2, 0.5]"), "has a grid that is not valid");
    check(&mesh("vertices = [ [0 0] ]"), "must be lists of x and y");
    check(&mesh("vertices = [ [0 0 0 1.5] ]"), "u and v from 0 to 1");
    check(&mesh("vertices = [ [0 0 0 0] ] triangles = [ [1 1 2] ]"), "three vertices, from 1 to 1");
    let triangle = "vertices = [ [0 0 0 0] ] triangles = [ [1 1 1] ]";
    check(&mesh(&format!("{triangle} weights = [ {{ a = 0 }} ]")), "add up to 0");
    check(
        &mesh(&format!("{triangle} weights = [ {{ b = 1 }} ]")),
        "has the bone 'b', which does not exist",
    );
    check(&mesh(&format!("{triangle} weights = []")), "'weights' of the mesh");
}

#[test]
fn grids_on_a_bone_without_a_size_are_refused() {
    check(
        "bones = { a = { scale = 0 } b = {} } slots = { a = { texture = \"t\" size = [8, 8] \
         mesh = { grid = [1, 1] bones = [\"b\"] } } }",
        "has a bone with a scale of 0",
    );
}

#[test]
fn keys_and_vertices_of_a_whole_file_are_limited() {
    let turns: String = (0..100)
        .map(|key| {
            format!("{{ time = {key} value = {} }} ", if key % 2 == 0 { 36000 } else { -36000 })
        })
        .collect();
    let bones: String = (0..10).map(|bone| format!("b{bone} = {{}} ")).collect();
    let keyed: String =
        (0..10).map(|bone| format!("b{bone} = {{ rotation = [ {turns} ] }} ")).collect();
    check(
        &format!(
            "bones = {{ {bones} }} slots = {{ b0 = {{ texture = \"t\" }} }} \
             clips = {{ c = {{ bones = {{ {keyed} }} }} }}"
        ),
        "(SKELETON_KEYS_MAX)",
    );
    let grid = "size = [8, 8] mesh = { grid = [64, 64] bones = [\"a\"] }";
    let parts: String =
        (0..32).map(|part| format!("p{part} = {{ texture = \"t\" {grid} }} ")).collect();
    check(
        &format!("bones = {{ a = {{}} }} slots = {{ a = {{ parts = {{ {parts} }} }} }}"),
        "(SKELETON_VERTICES_MAX)",
    );
}

#[test]
fn a_coarse_tolerance_keeps_parts_orders_and_colors() {
    let parts: String = (1..=20).map(|part| format!("p{part} = \"t\" ")).collect();
    let shown = [1, 2, 3, 4, 5, 6, 7, 8, 20, 3, 2];
    let keys: String = (0..)
        .zip(shown)
        .map(|(key, part)| format!("{{ time = {} value = \"p{part}\" }} ", f64::from(key) * 0.1))
        .collect();
    let text = format!(
        "pixels_per_metre = 1 bones = {{ a = {{}} }} slots = {{ a = {{ parts = {{ {parts} }} }} }} \
         clips = {{ c = {{ tolerance = 0.5 slots = {{ a = {{ part = [ {keys} ] \
         color = [ {{ time = 0 value = \"#000\" }} {{ time = 0.5 value = \"#404040\" }} \
         {{ time = 1 value = \"#000\" }} ] }} }} }} }}"
    );
    let model = animated(compiled(&text).unwrap().0);
    let sprite_skeleton = model.sprite_skeleton.clone().unwrap();
    for (key, part) in (0_u8..).zip(shown) {
        let values = values_at(&model, "c", f32::from(key) * 0.1 + 0.05);
        assert_eq!(part_index(values[sprite_skeleton.part_value(0)]), part, "{key}");
    }
    let red = values_at(&model, "c", 0.5)[sprite_skeleton.first_value(0)];
    assert!((red - 64.0 / 255.0).abs() <= 1.0 / 512.0, "{red}");
}

#[test]
fn all_errors_of_a_file_are_reported_together() {
    let text = "bones = { body = {} head = { parent = \"bdy\" } arm = { rotation = 1e300 } }
slots = {
  body = { texture = \"b\" }
  head = { bone = \"hed\" parts = { open = { texture = 5 } shut = \"s\" } }
  hand = { bone = \"arm\" parts = { a = \"a\" } part = \"b\" }
  held = { bone = \"arm\" parts = { a = \"a\" b = { texture = \"b\" size = [0, 1] } } }
}
skins = {
  red = { body = \"r\" head = { none = \"n\" } tail = \"t\"
    hand = \"h\" }
}
clips = {
  wave = { loop = 1
    bones = { arm = { rotation = [ { time = 0 value = \"x\" } ] }
      leg = { rotation = [ { time = 0 value = 1 } ] } }
    slots = { head = { part = [ { time = 0 value = \"none\" } ] }
      tale = { part = [ { time = 0 value = \"\" } ] } } }
  nod = { bones = { head = { rotation = [ { time = 0 value = 1 } ] } } boes = {} }
}";
    let message = compiled(text).unwrap_err();
    let found = engine_foundation::error::messages(&message);
    let wanted = [
        "1: bone 'head' has the parent 'bdy', which does not exist, did you mean 'body'?",
        "1: 'rotation' of bone 'arm' must be a number",
        "4: slot 'head' has no bone 'hed', did you mean 'head'?",
        "4: 'texture' of part 'open' of slot 'head' must be",
        "5: slot 'hand' has the part 'b', which slot 'hand' lacks",
        "6: part 'b' of slot 'held' has the size [0, 1]",
        "9: skin 'red' has no slot 'tail'",
        "13: 'loop'",
        "14: 'rotation' of bone 'arm' in clip 'wave' has a key at 0 seconds whose value must be",
        "15: clip 'wave' moves the bone 'leg', which does not exist",
        "17: clip 'wave' changes the slot 'tale', which does not exist",
        "18: clip 'nod' has no 'boes', did you mean 'bones'?",
    ];
    assert_eq!(found.len(), wanted.len(), "{message}");
    for (found, wanted) in found.iter().zip(wanted) {
        let (line, text) = wanted.split_once(": ").unwrap();
        assert!(found.contains(&format!(":{line}: ")) && found.contains(text), "{wanted}: {found}");
    }
    // Very many errors end the search.
    let many: String = (0..2000).map(|bone| format!("b{bone} = {{ scale = \"x\" }} ")).collect();
    let message = compiled(&format!("bones = {{ {many} }} {SLOT}")).unwrap_err();
    assert_eq!(engine_foundation::error::messages(&message).len(), 33, "{message}");
}
