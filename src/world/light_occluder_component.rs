//! The row of the component `light_occluder`: its fields, and what the engine does with it. The
//! table of occluders is in light_occluder.rs.

use super::WorldId;
use super::component::{ComponentField, FieldDefault, FieldKind};
use super::component_fields::{ComponentFields, GROUP, group};
use super::component_table::{Component, ComponentHost, ComponentView, InspectSection};
use super::light_occluder::{
    OCCLUDER_POINTS_MAX, OccluderComponent, OccluderSettings, OccluderShape,
};
use super::physics::FieldError;
use super::render_scenes::{RenderScenes, existing_scene, scene_of};
use super::sprite::SpritePlane;
use super::sprite_component::{PLANE, PLANES};
use super::unit::UnitId;
use super::unit_resource::ComponentSource;
use super::unit_template::{TemplateBuilder, UnitTemplate};
use engine_foundation::error;
use engine_foundation::sjson::SjsonTree;
use engine_foundation::text_format::significant;
use engine_foundation::{Error, Vec2};

/// The component `light_occluder`.
pub static LIGHT_OCCLUDER: Component = Component {
    name: "light_occluder",
    doc: "A shape in the plane of sprites that casts shadows of lights. It is not visible itself.",
    fields: &[
        ComponentField {
            name: "shape",
            kind: FieldKind::Choice(&OccluderShape::NAMES),
            default: FieldDefault::Text(OccluderShape::NAMES[0]),
            doc: "its shape ({default})",
        },
        ComponentField {
            name: "size",
            kind: FieldKind::Numbers(2),
            default: FieldDefault::Numbers(&[1.0, 1.0]),
            doc: "width and height of a box, in metres",
        },
        ComponentField {
            name: "radius",
            kind: FieldKind::Number,
            default: FieldDefault::Number(0.5),
            doc: "radius of a circle, in metres ({default})",
        },
        ComponentField {
            name: "points",
            kind: FieldKind::Checked(check_list),
            default: FieldDefault::None,
            doc: "points of a polygon or a line, in metres from the node: [[0, 0], [1, 0], [1, 1]]",
        },
        ComponentField {
            name: "position",
            kind: FieldKind::Numbers(2),
            default: FieldDefault::Numbers(&[0.0, 0.0]),
            doc: "position of the shape relative to its node, in the plane, in metres",
        },
        ComponentField {
            name: "height",
            kind: FieldKind::Number,
            default: FieldDefault::Number(OccluderSettings::DEFAULT.height),
            doc: "height of its walls to each side of the plane, in metres ({default})",
        },
        PLANE,
        ComponentField {
            name: "enabled",
            kind: FieldKind::Boolean,
            default: FieldDefault::Boolean(OccluderSettings::DEFAULT.enabled),
            doc: "true if it casts shadows ({default})",
        },
        GROUP,
    ],
    in_node_order: true,
    read,
    spawn,
    end,
    moved: Some(|scenes, rows| scenes.occluders.table.note_moved(rows)),
    hide: Some(|scenes, row, group, reason, hidden| {
        scenes.occluders.table.hide(row, group, reason, hidden);
    }),
    state: None,
    inspect: Some((InspectSection::Rendering2d, inspect)),
    reload: None,
};

/// Returns the point in a list of two numbers.
fn point(value: &SjsonTree) -> Option<Vec2> {
    let SjsonTree::Array(items) = value else { return None };
    match items[..] {
        [SjsonTree::Number(x), SjsonTree::Number(y)] => Some(Vec2::new(x as f32, y as f32)),
        _ => None,
    }
}

/// Checks the field `points`.
fn check_list(value: &SjsonTree, _: bool) -> Result<(), FieldError> {
    let refuse = |message: String| Err(FieldError::new(message));
    let SjsonTree::Array(items) = value else {
        return refuse("'points' must be a list: points = [[0, 0], [1, 0], [1, 1]]".to_string());
    };
    if items.len() > OCCLUDER_POINTS_MAX {
        return refuse(format!(
            "'points' has {} points, and {OCCLUDER_POINTS_MAX} are the most (OCCLUDER_POINTS_MAX)",
            items.len()
        ));
    }
    match items.iter().position(|item| point(item).is_none()) {
        Some(at) => refuse(format!("point {} must be two numbers: [1, 0]", at + 1)),
        None => Ok(()),
    }
}

/// Reads a component `light_occluder`.
fn read(part: &ComponentSource, node: u16, builder: &mut TemplateBuilder) -> Result<(), Error> {
    let fields = ComponentFields::new(&LIGHT_OCCLUDER, part);
    let word = fields.text("shape");
    let points = || match fields.tree.get("points") {
        Some(SjsonTree::Array(items)) => Ok(items.iter().filter_map(point).collect()),
        _ => Err(error!("a {word} needs points: points = [[0, 0], [1, 0], [1, 1]]")),
    };
    let shape = match word {
        "circle" => OccluderShape::Circle(fields.number("radius")),
        "polygon" => OccluderShape::Polygon(points()?),
        "line" => OccluderShape::Line(points()?),
        _ => OccluderShape::Box(fields.numbers("size")),
    };
    let plane = match super::component_fields::text(fields.tree, "plane") {
        Some(plane) if plane == PLANES[1] => SpritePlane::Flat,
        Some(_) => SpritePlane::Upright,
        None => SpritePlane::OfWorld,
    };
    let settings = OccluderSettings {
        shape,
        position: Vec2::from_array(fields.numbers("position")),
        height: fields.number("height"),
        plane,
        enabled: fields.boolean("enabled"),
    };
    settings.check()?;
    let (name, group) = (part.name.clone(), group(fields, &mut builder.template)?);
    builder.template.occluders.push(OccluderComponent { name, node, settings, group });
    Ok(())
}

fn spawn(
    host: &mut ComponentHost,
    world: WorldId,
    unit: UnitId,
    template: &UnitTemplate,
) -> Result<(), Error> {
    if template.occluders.is_empty() {
        return Ok(());
    }
    let flat = host.is_flat(world);
    let RenderScenes { occluders, worlds, .. } = &mut *host.scenes;
    let scene = scene_of(worlds, world);
    scene.check_room(template.occluders.len())?;
    occluders.spawn(host.models, unit, (&template.occluders, flat), || scene.take_slot())
}

fn end(host: &mut ComponentHost, world: WorldId, unit: UnitId, location: &str) {
    let RenderScenes { occluders, worlds, .. } = &mut *host.scenes;
    if let Some(scene) = existing_scene(worlds, world) {
        let moment = (host.frame, location);
        occluders.destroy(host.models, unit.row(), moment, |draw| scene.end(draw));
    }
}

fn inspect(view: &ComponentView, unit: UnitId, lines: &mut Vec<String>) {
    let occluders = &view.scenes.occluders.table;
    for (at, slot) in occluders.of_unit(unit.row()).enumerate() {
        let occluder = occluders.slots.at(slot).expect("chains hold living occluders");
        lines.push(format!(
            "light occluder {} {} at node {}, {} m high{}",
            at + 1,
            occluder.settings.shape.name(),
            occluder.node + 1,
            significant(occluder.settings.height.into(), 6),
            if occluder.settings.enabled { "" } else { ", off" },
        ));
    }
}
