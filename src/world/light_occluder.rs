//! The component `light_occluder`: shapes in the plane of sprites that cast shadows of lights. The
//! occluders of all units are rows of one table. This module stores the shape of each one, and
//! builds its walls, which only shadow maps show. The transfer to the renderer is in
//! src/engine/light_occluders.rs.

use super::instance_table::{Instance, InstanceTable};
use super::sprite::{SpritePlacement, SpritePlane};
use super::unit::UnitId;
use engine_foundation::error;
use engine_foundation::{Error, Handle, HandleKind, Mat4, Vec2, Vec3};
use engine_frame_packet::mesh::{MeshFrame, MeshVertex};
use engine_frame_packet::scene::DrawSlot;
use engine_models::{MeshNumber, Models};
use std::collections::HashMap;
use std::f32::consts::TAU;
use std::sync::Arc;

/// Maximum number of light occluders of all units together.
pub const LIGHT_OCCLUDERS_MAX: usize = 1 << 17;
/// Maximum number of points of a polygon or a line.
pub const OCCLUDER_POINTS_MAX: usize = 256;
/// Maximum size, height and distance from its node, in metres.
pub const OCCLUDER_SIZE_MAX: f32 = 1e4;
/// Smallest size and height in metres.
pub const OCCLUDER_SIZE_MIN: f32 = 1e-3;
/// Number of walls of a circle.
const CIRCLE_WALLS: usize = 32;

/// Handle of a light occluder.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct LightOccluderId(pub Handle);

/// Shape of an occluder, in the plane of its node.
#[derive(Clone, PartialEq, Debug)]
pub enum OccluderShape {
    /// Width and height.
    Box([f32; 2]),
    /// Radius.
    Circle(f32),
    /// Corners of a closed shape.
    Polygon(Arc<[Vec2]>),
    /// Points of a chain of walls.
    Line(Arc<[Vec2]>),
}

impl OccluderShape {
    /// Names in unit files and scripts.
    pub const NAMES: [&str; 4] = ["box", "circle", "polygon", "line"];

    pub fn name(&self) -> &'static str {
        let index = match self {
            OccluderShape::Box(_) => 0,
            OccluderShape::Circle(_) => 1,
            OccluderShape::Polygon(_) => 2,
            OccluderShape::Line(_) => 3,
        };
        OccluderShape::NAMES[index]
    }

    /// Refuses an invalid shape.
    pub fn check(&self) -> Result<(), Error> {
        match self {
            OccluderShape::Box(size) => size.iter().try_for_each(|side| check_size("size", *side)),
            OccluderShape::Circle(radius) => check_size("radius", *radius),
            OccluderShape::Polygon(points) => {
                check_points(points, 3)?;
                match area(points) == 0.0 {
                    true => Err(error!(
                        "the points of a polygon must enclose an area: a line is a chain of walls"
                    )),
                    false => Ok(()),
                }
            }
            OccluderShape::Line(points) => check_points(points, 2),
        }
    }

    /// Returns the key of its mesh, and the size that the mesh is scaled to.
    fn mesh(&self) -> (OccluderMesh, Vec2) {
        let bits =
            |points: &[Vec2]| points.iter().map(|it| it.to_array().map(f32::to_bits)).collect();
        match self {
            OccluderShape::Box(size) => (OccluderMesh::Box, Vec2::from_array(*size)),
            OccluderShape::Circle(radius) => (OccluderMesh::Circle, Vec2::splat(*radius)),
            OccluderShape::Polygon(points) => (OccluderMesh::Polygon(bits(points)), Vec2::ONE),
            OccluderShape::Line(points) => (OccluderMesh::Line(bits(points)), Vec2::ONE),
        }
    }

    /// Returns the corners of its mesh, counterclockwise, and true if they are closed.
    fn corners(&self) -> (Vec<Vec2>, bool) {
        match self {
            OccluderShape::Box(_) => {
                let corners = [[-0.5, -0.5], [0.5, -0.5], [0.5, 0.5], [-0.5, 0.5]];
                (corners.map(Vec2::from_array).to_vec(), true)
            }
            OccluderShape::Circle(_) => {
                let angle = |index: usize| index as f32 / CIRCLE_WALLS as f32 * TAU;
                ((0..CIRCLE_WALLS).map(|index| Vec2::from_angle(angle(index))).collect(), true)
            }
            OccluderShape::Polygon(points) if area(points) < 0.0 => {
                (points.iter().rev().copied().collect(), true)
            }
            OccluderShape::Polygon(points) => (points.to_vec(), true),
            OccluderShape::Line(points) => (points.to_vec(), false),
        }
    }
}

/// Refuses a size or a height that is not in the limits.
pub fn check_size(name: &str, size: f32) -> Result<(), Error> {
    match (OCCLUDER_SIZE_MIN..=OCCLUDER_SIZE_MAX).contains(&size) {
        true => Ok(()),
        false => Err(error!(
            "'{name}' must be from {OCCLUDER_SIZE_MIN} to {OCCLUDER_SIZE_MAX} metres \
             (OCCLUDER_SIZE_MIN, OCCLUDER_SIZE_MAX), got {size}"
        )),
    }
}

/// Refuses a point that is too far from its node.
pub fn check_point(name: &str, point: Vec2) -> Result<(), Error> {
    match point.abs().max_element() <= OCCLUDER_SIZE_MAX && point.is_finite() {
        true => Ok(()),
        false => Err(error!(
            "'{name}' must be up to {OCCLUDER_SIZE_MAX} metres from the node (OCCLUDER_SIZE_MAX), \
             got {}, {}",
            point.x, point.y
        )),
    }
}

fn check_points(points: &[Vec2], least: usize) -> Result<(), Error> {
    if !(least..=OCCLUDER_POINTS_MAX).contains(&points.len()) {
        return Err(error!(
            "'points' must have {least} to {OCCLUDER_POINTS_MAX} points (OCCLUDER_POINTS_MAX), got \
             {}",
            points.len()
        ));
    }
    points.iter().try_for_each(|point| check_point("points", *point))
}

/// Returns twice the area that points enclose; below 0 if they are clockwise.
fn area(points: &[Vec2]) -> f64 {
    let pairs = points.iter().zip(points.iter().cycle().skip(1));
    let area =
        |a: &Vec2, b: &Vec2| f64::from(a.x) * f64::from(b.y) - f64::from(a.y) * f64::from(b.x);
    pairs.map(|(a, b)| area(a, b)).sum()
}

/// Settings of an occluder, both as declared in a unit's resource and as currently set.
#[derive(Clone, PartialEq, Debug)]
pub struct OccluderSettings {
    pub shape: OccluderShape,
    /// Position of a box or circle relative to the node, in the plane.
    pub position: Vec2,
    /// Height of its walls to each side of the plane, in metres.
    pub height: f32,
    pub plane: SpritePlane,
    pub enabled: bool,
}

impl OccluderSettings {
    /// A box with sides of one metre.
    pub const DEFAULT: OccluderSettings = OccluderSettings {
        shape: OccluderShape::Box([1.0; 2]),
        position: Vec2::ZERO,
        height: 10.0,
        plane: SpritePlane::OfWorld,
        enabled: true,
    };

    /// Refuses invalid settings.
    pub fn check(&self) -> Result<(), Error> {
        self.shape.check()?;
        check_point("position", self.position)?;
        check_size("height", self.height)
    }

    /// Returns the transform of its mesh relative to the node. `mirrored` is true if that of the
    /// node mirrors, which would turn the walls inside out.
    pub fn mesh_to_node(&self, mirrored: bool) -> Mat4 {
        let (_, size) = self.shape.mesh();
        // The walls are the same on both sides of the plane.
        let height = if mirrored { -self.height } else { self.height };
        let placement = SpritePlacement { plane: self.plane, ..SpritePlacement::DEFAULT };
        placement.plane_to_node()
            * Mat4::from_translation(Vec3::new(self.position.x, 0.0, self.position.y))
            * Mat4::from_scale(Vec3::new(size.x, height, size.y))
    }
}

/// Returns a wall for each pair of points: in the plane of x and z, from -1 to 1 along y, facing to
/// the right of its direction.
pub fn wall_mesh(walls: impl Iterator<Item = [Vec2; 2]>) -> MeshFrame {
    let (mut vertices, mut indices) = (Vec::new(), Vec::new());
    for wall in walls {
        let first = vertices.len() as u32;
        let corner =
            |at: Vec2, y: f32| MeshVertex { position: [at.x, y, at.y], ..MeshVertex::default() };
        vertices.extend(wall.into_iter().flat_map(|at| [corner(at, -1.0), corner(at, 1.0)]));
        indices.extend([0, 1, 3, 0, 3, 2].map(|index| first + index));
    }
    MeshFrame::of_one_part("walls of a light occluder".to_string(), vertices, indices)
}

/// Returns the walls of a shape. Those of a closed shape face outwards, others to both sides.
fn walls(shape: &OccluderShape) -> MeshFrame {
    let (corners, closed) = shape.corners();
    let next = corners.iter().cycle().skip(1);
    let count = if closed { corners.len() } else { corners.len() - 1 };
    let pairs = corners.iter().zip(next).take(count).map(|(from, to)| [*from, *to]);
    match closed {
        true => wall_mesh(pairs),
        false => wall_mesh(pairs.flat_map(|[from, to]| [[from, to], [to, from]])),
    }
}

/// The mesh of an occluder. Occluders with the same points share one.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum OccluderMesh {
    Box,
    Circle,
    Polygon(Arc<[[u32; 2]]>),
    Line(Arc<[[u32; 2]]>),
}

/// A light occluder as declared in a unit's resource.
#[derive(Clone, PartialEq, Debug)]
pub struct OccluderComponent {
    pub name: String,
    pub node: u16,
    pub settings: OccluderSettings,
    pub group: u8,
}

/// A light occluder of a unit.
pub type OccluderInstance = Instance<OccluderData>;

/// Data of a light occluder of a unit.
#[derive(Debug)]
pub struct OccluderData {
    pub settings: OccluderSettings,
    pub mesh: MeshNumber,
}

/// All light occluders of all units.
pub struct LightOccluders {
    pub table: InstanceTable<OccluderData>,
    /// The meshes in use, and by how many occluders.
    meshes: HashMap<OccluderMesh, (MeshNumber, u32)>,
}

impl Default for LightOccluders {
    fn default() -> LightOccluders {
        let limit = (LIGHT_OCCLUDERS_MAX, "LIGHT_OCCLUDERS_MAX", "light occluders");
        let table = InstanceTable::new(HandleKind::LightOccluder, limit);
        LightOccluders { table, meshes: HashMap::new() }
    }
}

impl LightOccluders {
    /// Creates the occluders of a unit; `draw` returns a draw slot in the scene for each. `flat` is
    /// true in a two-dimensional world.
    ///
    /// # Errors
    /// Returns an error if there are too many occluders or meshes.
    pub fn spawn(
        &mut self,
        models: &mut Models,
        unit: UnitId,
        (parts, flat): (&[OccluderComponent], bool),
        mut draw: impl FnMut() -> DrawSlot,
    ) -> Result<(), Error> {
        self.table.check_room(parts.len())?;
        // In reverse order, so that the list begins with the first one.
        for part in parts.iter().rev() {
            let plane = SpritePlacement { plane: part.settings.plane, ..SpritePlacement::DEFAULT };
            let plane = plane.in_world(flat).plane;
            let settings = OccluderSettings { plane, ..part.settings.clone() };
            let mesh = self.take_mesh(models, &settings.shape)?;
            let data = OccluderData { settings, mesh };
            self.table.push_front(Instance::new(unit, part.node, part.group, (true, draw()), data));
        }
        Ok(())
    }

    /// Destroys the occluders of a unit; `end` is called with the draw slot of each.
    pub fn destroy(
        &mut self,
        models: &mut Models,
        row: u32,
        (frame, location): (u64, &str),
        mut end: impl FnMut(DrawSlot),
    ) {
        let mut ended = Vec::new();
        self.table.destroy(row, frame, location, |occluder| {
            end(occluder.draw);
            ended.push(occluder.settings.shape.clone());
        });
        ended.iter().for_each(|shape| self.release_mesh(models, shape));
    }

    /// Sets the shape and the position of an occluder, which are valid.
    ///
    /// # Errors
    /// Returns an error if there are too many meshes.
    pub fn set_shape(
        &mut self,
        models: &mut Models,
        id: LightOccluderId,
        (shape, position): (OccluderShape, Vec2),
    ) -> Result<(), Error> {
        let mesh = self.take_mesh(models, &shape)?;
        let occluder = self.table.get_changed(id.0);
        occluder.mesh = mesh;
        occluder.settings.position = position;
        let old = std::mem::replace(&mut occluder.settings.shape, shape);
        self.release_mesh(models, &old);
        Ok(())
    }

    fn take_mesh(
        &mut self,
        models: &mut Models,
        shape: &OccluderShape,
    ) -> Result<MeshNumber, Error> {
        let (key, _) = shape.mesh();
        if let Some((mesh, uses)) = self.meshes.get_mut(&key) {
            *uses += 1;
            return Ok(*mesh);
        }
        let mesh = models.add_game_mesh(walls(shape))?;
        self.meshes.insert(key, (mesh, 1));
        Ok(mesh)
    }

    fn release_mesh(&mut self, models: &mut Models, shape: &OccluderShape) {
        let (key, _) = shape.mesh();
        let (mesh, uses) = self.meshes.get_mut(&key).expect("a living occluder has a mesh");
        *uses -= 1;
        if *uses == 0 {
            models.remove_game_mesh(*mesh);
            self.meshes.remove(&key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn polygon(points: &[[f32; 2]]) -> OccluderShape {
        OccluderShape::Polygon(points.iter().copied().map(Vec2::from_array).collect())
    }

    /// Returns the direction that each triangle of a mesh faces.
    fn directions(mesh: &MeshFrame) -> Vec<Vec3> {
        let at = |index: u32| Vec3::from_array(mesh.vertices[index as usize].position);
        let triangles = mesh.indices.chunks_exact(3).map(|three| {
            let [a, b, c] = [three[0], three[1], three[2]].map(at);
            (b - a).cross(c - a).normalize()
        });
        triangles.collect()
    }

    #[test]
    fn walls_of_closed_shapes_face_outwards() {
        let clockwise = polygon(&[[-1.0, -1.0], [-1.0, 1.0], [1.0, 1.0], [1.0, -1.0]]);
        for shape in [OccluderShape::Box([2.0; 2]), OccluderShape::Circle(3.0), clockwise] {
            let mesh = walls(&shape);
            let middles = mesh.indices.chunks_exact(3).map(|three| {
                let at = |index: &u32| Vec3::from_array(mesh.vertices[*index as usize].position);
                three.iter().map(at).sum::<Vec3>() / 3.0
            });
            for (middle, direction) in middles.zip(directions(&mesh)) {
                assert!(Vec3::new(middle.x, 0.0, middle.z).dot(direction) > 0.0, "{shape:?}");
            }
        }
    }

    #[test]
    fn walls_of_a_line_face_both_sides() {
        let line = OccluderShape::Line([Vec2::ZERO, Vec2::X].into());
        let all = directions(&walls(&line));
        assert_eq!(all, [Vec3::NEG_Z, Vec3::NEG_Z, Vec3::Z, Vec3::Z]);
    }

    #[test]
    fn invalid_shapes_are_refused() {
        let check = |shape: OccluderShape, message: &str| {
            assert_eq!(shape.check().unwrap_err().message, message);
        };
        let size = "must be from 0.001 to 10000 metres (OCCLUDER_SIZE_MIN, OCCLUDER_SIZE_MAX), got";
        check(OccluderShape::Box([1.0, 0.0]), &format!("'size' {size} 0"));
        check(OccluderShape::Circle(f32::NAN), &format!("'radius' {size} NaN"));
        check(
            polygon(&[[0.0, 0.0], [1.0, 0.0]]),
            "'points' must have 3 to 256 points (OCCLUDER_POINTS_MAX), got 2",
        );
        check(
            polygon(&[[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]]),
            "the points of a polygon must enclose an area: a line is a chain of walls",
        );
        check(
            OccluderShape::Line([Vec2::ZERO, Vec2::INFINITY].into()),
            "'points' must be up to 10000 metres from the node (OCCLUDER_SIZE_MAX), got inf, inf",
        );
        check(
            OccluderShape::Line(vec![Vec2::ZERO; 257].into()),
            "'points' must have 2 to 256 points (OCCLUDER_POINTS_MAX), got 257",
        );
        assert!(OccluderSettings::DEFAULT.check().is_ok());
        let high = OccluderSettings { height: 1e5, ..OccluderSettings::DEFAULT };
        assert!(high.check().is_err());
    }

    #[test]
    fn a_mirrored_node_does_not_turn_walls_inside_out() {
        let settings = OccluderSettings { plane: SpritePlane::Flat, ..OccluderSettings::DEFAULT };
        for (mirrored, node) in [(false, Vec3::ONE), (true, Vec3::new(-1.0, 1.0, 1.0))] {
            let pose = Mat4::from_scale(node) * settings.mesh_to_node(mirrored);
            assert!(pose.determinant() > 0.0);
        }
    }
}
