//! The row of the component `camera`: its fields, and what the engine does with it. Cameras
//! themselves are in camera.rs.

use super::WorldId;
use super::camera::{
    ANGLE_MIN, CAMERAS_MAX, Camera, CameraId, CameraNode, NEAR_MIN, OrthographicView, Projection,
    VIEW_DISTANCE_MAX,
};
use super::component::{ComponentField, FieldDefault, FieldKind};
use super::component_fields::{ComponentFields, number};
use super::component_table::{Component, ComponentHost, ComponentView, InspectSection};
use super::unit::UnitId;
use super::unit_resource::ComponentSource;
use super::unit_template::{TemplateBuilder, UnitTemplate};
use engine_foundation::error;
use engine_foundation::text_format::{significant, vector3};
use engine_foundation::{Error, Mat4};
use std::f32::consts::PI;

/// Values of the field `projection`.
const PROJECTIONS: [&str; 2] = ["perspective", "orthographic"];

/// The component `camera`.
pub static CAMERA: Component = Component {
    name: "camera",
    doc: "A camera that looks along the y axis of its node, z up; in a 2D world, an orthographic \
          one shows the plane of x and y.",
    fields: &[
        ComponentField {
            name: "projection",
            kind: FieldKind::Choice(&PROJECTIONS),
            default: FieldDefault::Text(PROJECTIONS[0]),
            doc: "type of projection ({default})",
        },
        ComponentField {
            name: "vertical_fov",
            kind: FieldKind::Number,
            default: FieldDefault::Described("60"),
            doc: "vertical field of view in degrees ({default})",
        },
        ComponentField {
            name: "height",
            kind: FieldKind::Number,
            default: FieldDefault::None,
            doc: "height of the view in metres, for an orthographic camera",
        },
        ComponentField {
            name: "near",
            kind: FieldKind::Number,
            default: FieldDefault::Number(Camera::DEFAULT.near),
            doc: "distance of the near plane in metres ({default})",
        },
        ComponentField {
            name: "far",
            kind: FieldKind::Number,
            default: FieldDefault::Number(Camera::DEFAULT.far),
            doc: "distance of the far plane in metres ({default})",
        },
    ],
    in_node_order: true,
    read,
    spawn,
    end,
    // A camera takes its node's pose when it is used.
    moved: None,
    hide: None,
    state: None,
    inspect: Some((InspectSection::Rendering3d, inspect)),
    reload: None,
};

/// A camera as declared in a unit's resource.
#[derive(Clone, PartialEq, Debug)]
pub struct CameraComponent {
    pub name: String,
    pub node: u16,
    pub camera: Camera,
}

/// Reads a component `camera`.
fn read(part: &ComponentSource, node: u16, builder: &mut TemplateBuilder) -> Result<(), Error> {
    let fields = ComponentFields::new(&CAMERA, part);
    let mut camera = Camera::DEFAULT;
    if let Some(fov) = number(fields.tree, "vertical_fov") {
        let angle = fov.to_radians();
        if !(ANGLE_MIN..=PI - ANGLE_MIN).contains(&angle) {
            return Err(error!("'vertical_fov' must be above 0 and below 180 degrees, got {fov}"));
        }
        camera.vertical_fov = angle;
    }
    if fields.text("projection") == PROJECTIONS[1] {
        camera.projection = Projection::Orthographic;
    }
    if let Some(height) = number(fields.tree, "height") {
        if !(NEAR_MIN..=VIEW_DISTANCE_MAX).contains(&height) {
            return Err(error!(
                "'height' must be {NEAR_MIN} to {VIEW_DISTANCE_MAX} metres, above 0, got {height:e}"
            ));
        }
        camera.orthographic = OrthographicView::Height(height);
    }
    camera.near = fields.number("near");
    camera.far = fields.number("far");
    let least = camera.projection == Projection::Orthographic || camera.near >= NEAR_MIN;
    let within = camera.near.abs().max(camera.far.abs()) <= VIEW_DISTANCE_MAX;
    if !least || !within || camera.far <= camera.near {
        return Err(error!(
            "'near' must be above 0 in perspective (at least {NEAR_MIN}) and less than 'far', both \
             at most {VIEW_DISTANCE_MAX} metres, got {} and {}",
            camera.near, camera.far
        ));
    }
    builder.template.cameras.push(CameraComponent { name: part.name.clone(), node, camera });
    Ok(())
}

fn spawn(
    host: &mut ComponentHost,
    world: WorldId,
    unit: UnitId,
    template: &UnitTemplate,
) -> Result<(), Error> {
    let flat = host.is_flat(world);
    for part in &template.cameras {
        let mut camera = part.camera;
        let local = match (flat, camera.projection) {
            (true, Projection::Orthographic) => {
                // It is in the plane that it shows.
                camera.near = camera.near.min(-camera.far);
                Camera::FLAT.pose
            }
            _ => Mat4::IDENTITY,
        };
        camera.owner = Some(CameraNode { unit, node: part.node, local });
        let added = host.cameras.add(camera).map(CameraId).ok_or_else(|| {
            error!("{CAMERAS_MAX} cameras already exist (CAMERAS_MAX): destroy some first")
        })?;
        host.scenes.cameras.add(unit.row(), added);
    }
    Ok(())
}

fn end(host: &mut ComponentHost, _: WorldId, unit: UnitId, location: &str) {
    for camera in host.scenes.cameras.take(unit.row()) {
        host.cameras.remove(camera.0, "", host.frame, location);
    }
}

fn inspect(view: &ComponentView, unit: UnitId, lines: &mut Vec<String>) {
    for (at, id) in view.scenes.cameras.of_unit(unit.row()).iter().enumerate() {
        let at = at + 1;
        lines.push(match view.cameras.get(id.0) {
            // Scripts can destroy the camera of a unit.
            None => format!("camera {at} ended"),
            Some(camera) => format!(
                "camera {at} {} at {}, from {} to {} m",
                PROJECTIONS[camera.projection as usize],
                vector3(camera.pose.w_axis.truncate()),
                significant(camera.near.into(), 6),
                significant(camera.far.into(), 6),
            ),
        });
    }
}
