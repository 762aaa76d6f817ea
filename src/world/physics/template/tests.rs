//! Tests of valid fields in files, and of the error messages for invalid ones.

use super::*;
use engine_foundation::sjson;

fn read(text: &str, whole: bool) -> Result<ActorDesc, String> {
    let tree = sjson::parse(text).unwrap().to_tree();
    ActorDesc::read("body", &tree, whole).map_err(|error| error.message)
}

#[test]
fn an_actor_is_read_with_all_its_fields() {
    let text = "type = \"dynamic\" shape = \"box\" size = [1, 2, 3] mass = 5 ccd = true
        locked_rotation = [\"x\"] filter = \"crate\" position = [0, 0, 1]";
    let spec = read(text, true).unwrap();
    assert_eq!(
        spec.shapes[0].form,
        ShapeForm::Collider(ColliderShape::Box { half: Vec3::new(0.5, 1.0, 1.5) })
    );
    assert_eq!((spec.body.mass, spec.filter.as_str()), (Some(5.0), "crate"));
    assert!(spec.body.continuous && spec.body.locks.rotation == [true, false, false]);
    assert_eq!(spec.shapes[0].position, Vec3::Z);
    let spec =
        read("type = \"trigger\" shape = \"capsule\" radius = 0.5 height = 2", true).unwrap();
    let capsule = ColliderShape::Capsule { half_height: 0.5, radius: 0.5 };
    assert_eq!((spec.trigger, &spec.shapes[0].form), (true, &ShapeForm::Collider(capsule)));
    assert!(read("mass = 3", false).is_ok(), "the rest may be inherited");
}

#[test]
fn invalid_actors_are_refused_with_a_reason() {
    let check =
        |text: &str, message: &str| assert_eq!(read(text, true).unwrap_err(), message, "{text}");
    check(
        "shape = \"box\"",
        "actor 'body' has no 'type': it must be one of static, dynamic, kinematic, trigger",
    );
    check(
        "type = \"dynamc\"",
        "'type' of actor 'body' must be one of static, dynamic, kinematic, trigger, got 'dynamc', \
         did you mean 'dynamic'?",
    );
    check(
        "type = \"static\"",
        "actor 'body' has no 'shape': it must be one of box, sphere, capsule, cylinder, convex, \
         mesh, plane, polygon, chain",
    );
    check(
        "type = \"static\" shape = \"box\" raduis = 1",
        "actor 'body' has the unknown field 'raduis', did you mean 'radius'?",
    );
    check(
        "type = \"static\" shape = \"box\" radius = 1",
        "'radius' of actor 'body' means nothing for the shape box",
    );
    check("type = \"static\" shape = \"box\"", "actor 'body' has no 'size', which a box needs");
    check(
        "type = \"static\" shape = \"box\" size = [1, 0, 1]",
        "'size' of actor 'body' must be the lengths of its edges in metres, [x, y, z], or [x, y] \
         for a box that is a metre deep, each above 0",
    );
    check(
        "type = \"static\" shape = \"capsule\" radius = 1 height = 2",
        "'height' of actor 'body' must be more than twice the radius",
    );
    check(
        "type = \"dynamic\" shape = \"plane\"",
        "'shape' of actor 'body' must be one with a volume for a dynamic actor: convex, or box",
    );
    check(
        "type = \"dynamic\" shape = \"sphere\" radius = 1 mass = -1",
        "'mass' of actor 'body' must be a number above 0, got -1",
    );
    check(
        "type = \"static\" shape = \"convex\"",
        "actor 'body' has neither 'points' nor a 'mesh' to be made from",
    );
    check(
        "type = \"static\" shape = \"mesh\" points = [[0, 0, 0], [1, 0, 0], [0, 1, 0]] \
         triangles = [[1, 2, 4]]",
        "'triangles' of actor 'body' names point 4 of 3",
    );
    check(
        "type = \"static\" shapes = [{ shape = \"sphere\", radius = 0 }]",
        "'radius' of shape 1 of actor 'body' must be a number above 0, got 0",
    );
    check(
        "type = \"static\" radius = 1 shapes = []",
        "'radius' of actor 'body' belongs in one of its 'shapes'",
    );
    check(
        "type = \"static\" shape = \"plane\" locked_rotation = [\"w\"]",
        "'locked_rotation' of actor 'body' must be a list of axes, such as [\"x\", \"y\"]",
    );
}

#[test]
fn invalid_movers_and_joints_are_refused_with_a_reason() {
    let tree = |text: &str| sjson::parse(text).unwrap().to_tree();
    let mover = |text: &str| MoverDesc::read("feet", &tree(text)).unwrap_err().message;
    assert_eq!(mover("radius = 1"), "'height' of mover 'feet' must be more than twice the radius");
    assert_eq!(
        mover("max_slope = 90"),
        "'max_slope' of mover 'feet' must be 0 to 89 degrees, got 90"
    );
    let joint = |text: &str| JointDesc::read("hinge", &tree(text), true).unwrap_err().message;
    assert_eq!(
        joint("actors = [\"a\"]"),
        "joint 'hinge' has no 'type': it must be one of fixed, ball, hinge, slider, rope, spring, \
         wheel, mouse, pulley, weld"
    );
    assert_eq!(
        joint("type = \"ball\" actors = [\"a\", \"a\"]"),
        "'actors' of joint 'hinge' must be the names of two actors, or of one that is held by the \
         world"
    );
    assert_eq!(
        joint("type = \"hinge\" actors = [\"a\"] axis = [0, 0, 0]"),
        "'axis' of joint 'hinge' must be a direction, [x, y, z], and not 0"
    );
}

#[test]
fn an_error_has_its_path() {
    let text = "actors = {\n  body = {\n    type = \"static\"\n    shapes = [\n      { shape = \
                \"sphere\", radius = 0 }\n    ]\n  }\n}";
    let document = sjson::parse(text).unwrap();
    let actors = document.root().get("actors").unwrap();
    let error = check_actors(&actors.to_tree(), true).unwrap_err();
    assert_eq!(error.path, ["body", "shapes", "0", "radius"]);
    assert_eq!(error.locate(actors).line(), 5);
}

#[test]
fn node_extras_can_describe_an_actor() {
    let mesh = || Some("models/a/b".to_string());
    let read = |extra: &SjsonTree| {
        let tree = from_extras(extra, "crate", mesh());
        ActorDesc::read("crate", tree.get("crate").unwrap(), true).map_err(|error| error.message)
    };
    let still = read(&SjsonTree::String("static".to_string())).unwrap();
    let hull = |hull| ShapeForm::Model { mesh: "models/a/b".to_string(), hull };
    assert_eq!(still.shapes[0].form, hull(false));
    let moves = read(&sjson::parse("type = \"dynamic\" mass = 3").unwrap().to_tree()).unwrap();
    assert_eq!((moves.body.mass, &moves.shapes[0].form), (Some(3.0), &hull(true)));
    assert_eq!(read(&SjsonTree::Number(3.0)).unwrap_err(), "actor 'crate' must be a block: { … }");
}
