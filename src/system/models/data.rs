//! A model as data: what the data compiler writes of a glTF file or of a shape, and what is read of
//! it when the game asks for the model. Everything is in the engine's own space: z up, y ahead,
//! metres. Knows no files and no glTF.

use super::check::check;
use crate::error;
use crate::foundation::blob::{Reader, Writer, unframe};
use crate::foundation::sjson::{self, Tree};
use crate::foundation::{Error, Mat4, Quat};
use crate::packet::mesh::{Alpha, Bounds, Part, Vertex};
use crate::packet::texture::{Sampling, Wrap};
use std::ops::Range;

/// Of the compiled form; another number, and every model is compiled anew.
pub const VERSION: u32 = 1;
const MAGIC: [u8; 4] = *b"MODL";
/// In place of an index that leads nowhere.
const NONE: u32 = u32::MAX;
const WRAPS: [Wrap; 3] = [Wrap::Clamp, Wrap::Repeat, Wrap::Mirror];

/// A model.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ModelData {
    /// Parents before children.
    pub nodes: Vec<Node>,
    pub meshes: Vec<MeshData>,
    pub surfaces: Vec<SurfaceData>,
    /// Textures as the data compiler makes them (src/system/textures), where in the blob they are
    /// once it was read, and in `bulk` before.
    pub pictures: Vec<Range<usize>>,
    pub cameras: Vec<CameraData>,
    pub lights: Vec<LightData>,
    pub skins: Vec<SkinData>,
    pub clips: Vec<ClipData>,
    /// What the file says of the scene for the game: an object, empty where it says nothing.
    pub extras: Option<Tree>,
    /// Names that two nodes of the file have: whoever means one of them cannot say which.
    pub twice: Vec<String>,
    /// What cannot be shown, in words: told once, when the model is loaded.
    pub warnings: Vec<String>,
}

/// A node: a place relative to its parent.
#[derive(Clone, PartialEq, Debug)]
pub struct Node {
    /// No two nodes of a model have the same.
    pub name: String,
    pub parent: Option<u32>,
    pub position: [f32; 3],
    /// A quaternion of length 1.
    pub rotation: [f32; 4],
    pub scale: [f32; 3],
    pub mesh: Option<u32>,
    pub camera: Option<u32>,
    pub light: Option<u32>,
    pub skin: Option<u32>,
    pub extras: Option<Tree>,
}

/// Triangles.
#[derive(Clone, PartialEq, Debug)]
pub struct MeshData {
    /// No two meshes of a model have the same.
    pub name: String,
    pub vertices: Vec<Vertex>,
    pub indices: Vec<u32>,
    pub parts: Vec<Part>,
    /// Which surface stands at each of the parts' places.
    pub surfaces: Vec<Option<u32>>,
    pub bounds: Bounds,
    /// Of each vertex, where the mesh has them: four joints of a skin, and their weights.
    pub joints: Vec<[u16; 4]>,
    pub weights: Vec<[f32; 4]>,
    /// Morph targets: how far each vertex is moved.
    pub targets: Vec<Vec<[f32; 3]>>,
}

/// A texture of a surface: which picture, and how it is sampled.
pub type SurfacePicture = Option<(u32, Sampling)>;

/// How light is taken, as `packet::mesh::Surface` has it; textures are pictures of the model.
#[derive(Clone, PartialEq, Debug)]
pub struct SurfaceData {
    /// No two surfaces of a model have the same.
    pub name: String,
    pub base_color: [f32; 4],
    pub metallic: f32,
    pub roughness: f32,
    pub emissive: [f32; 3],
    pub normal_scale: f32,
    pub occlusion_strength: f32,
    pub alpha: Alpha,
    pub double_sided: bool,
    pub unlit: bool,
    /// Base colour, metal and roughness, normal, occlusion, emission.
    pub pictures: [SurfacePicture; 5],
}

/// A camera that looks along its node's y axis.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct CameraData {
    /// Radians from the lower to the upper edge; none: it is orthographic.
    pub vertical_fov: Option<f32>,
    /// Metres from edge to edge, if orthographic.
    pub height: f32,
    pub near: f32,
    pub far: f32,
}

/// What a light is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LightType {
    Sun,
    Omni,
    Spot,
}

/// A light that shines along its node's y axis.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LightData {
    pub kind: LightType,
    /// Linear.
    pub color: [f32; 3],
    /// 1: a white wall, one metre away, sends its colour back.
    pub intensity: f32,
    /// Metres; 0: as far as it can be seen.
    pub range: f32,
    /// Radians from the axis.
    pub inner: f32,
    pub outer: f32,
}

/// Joints of a skin. Kept for the animation of units.
#[derive(Clone, PartialEq, Debug)]
pub struct SkinData {
    pub name: String,
    /// Nodes.
    pub joints: Vec<u32>,
    /// From the mesh's space into each joint's, columns one after the other.
    pub inverse_bind: Vec<[f32; 16]>,
}

/// What of a node a channel moves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Track {
    Position,
    Rotation,
    Scale,
    Weights,
}

/// How values between two keys are found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Between {
    Linear,
    Step,
    /// Each key has a tangent before its value and one after it.
    Cubic,
}

/// One node's movement.
#[derive(Clone, PartialEq, Debug)]
pub struct ChannelData {
    pub node: u32,
    pub track: Track,
    pub between: Between,
    /// Seconds, rising.
    pub times: Vec<f32>,
    /// For each time 3 or 4 numbers, or as many as there are morph targets; three times as many
    /// where it is cubic.
    pub values: Vec<f32>,
}

/// An animation. Kept for the animation of units.
#[derive(Clone, PartialEq, Debug)]
pub struct ClipData {
    pub name: String,
    pub channels: Vec<ChannelData>,
}

const TRACKS: [Track; 4] = [Track::Position, Track::Rotation, Track::Scale, Track::Weights];
const BETWEENS: [Between; 3] = [Between::Linear, Between::Step, Between::Cubic];
const LIGHTS: [LightType; 3] = [LightType::Sun, LightType::Omni, LightType::Spot];

fn place<T: PartialEq>(list: &[T], value: T) -> u8 {
    list.iter().position(|known| *known == value).expect("every value is in its list") as u8
}

fn put_f32(writer: &mut Writer, value: f32) {
    writer.u32(value.to_bits());
}

fn put_all(writer: &mut Writer, values: &[f32]) {
    for value in values {
        put_f32(writer, *value);
    }
}

fn put_floats(writer: &mut Writer, values: &[f32]) {
    writer.list(values, |writer, value| put_f32(writer, *value));
}

fn put_index(writer: &mut Writer, index: Option<u32>) {
    writer.u32(index.unwrap_or(NONE));
}

fn put_tree(writer: &mut Writer, tree: Option<&Tree>) {
    let text = tree.map(|tree| sjson::write(tree).expect("it was read from JSON"));
    writer.text(text.as_deref().unwrap_or_default());
}

fn f32_of(reader: &mut Reader) -> Result<f32, Error> {
    reader.u32().map(f32::from_bits)
}

fn all<const N: usize>(reader: &mut Reader) -> Result<[f32; N], Error> {
    let mut out = [0.0; N];
    for slot in &mut out {
        *slot = f32_of(reader)?;
    }
    Ok(out)
}

fn floats(reader: &mut Reader) -> Result<Vec<f32>, Error> {
    reader.list(f32_of)
}

/// An index below `most`, or none.
fn index(reader: &mut Reader, most: usize) -> Result<Option<u32>, Error> {
    match reader.u32()? {
        NONE => Ok(None),
        index if (index as usize) < most => Ok(Some(index)),
        index => Err(error!("it is damaged: {index} is not below {most}")),
    }
}

fn tree(reader: &mut Reader) -> Result<Option<Tree>, Error> {
    match reader.text()? {
        "" => Ok(None),
        text => match sjson::parse(text) {
            Ok(document) => Ok(Some(document.to_tree())),
            Err(_) => Err(error!("it is damaged: its extras cannot be read")),
        },
    }
}

impl ModelData {
    /// The compiled form; `bulk` holds the pictures.
    pub fn write(&self, bulk: &[u8]) -> Vec<u8> {
        let mut writer = Writer::default();
        for count in [
            self.nodes.len(),
            self.meshes.len(),
            self.surfaces.len(),
            self.pictures.len(),
            self.cameras.len(),
            self.lights.len(),
            self.skins.len(),
        ] {
            writer.u32(count as u32);
        }
        for node in &self.nodes {
            node.write(&mut writer);
        }
        for surface in &self.surfaces {
            surface.write(&mut writer);
        }
        for camera in &self.cameras {
            put_f32(&mut writer, camera.vertical_fov.unwrap_or(0.0));
            put_all(&mut writer, &[camera.height, camera.near, camera.far]);
        }
        for light in &self.lights {
            writer.u8(place(&LIGHTS, light.kind));
            put_all(&mut writer, &light.color);
            put_all(&mut writer, &[light.intensity, light.range, light.inner, light.outer]);
        }
        for skin in &self.skins {
            writer.text(&skin.name);
            writer.list(&skin.joints, |writer, joint| writer.u32(*joint));
            writer.list(&skin.inverse_bind, |writer, matrix| put_all(writer, matrix));
        }
        writer.list(&self.clips, |writer, clip| clip.write(writer));
        put_tree(&mut writer, self.extras.as_ref());
        writer.list(&self.twice, |writer, name| writer.text(name));
        writer.list(&self.warnings, |writer, words| writer.text(words));
        for mesh in &self.meshes {
            mesh.write(&mut writer);
        }
        for picture in &self.pictures {
            writer.bytes(&bulk[picture.clone()]);
        }
        writer.framed(MAGIC, VERSION)
    }

    /// Reads the compiled form. Pictures are places in `bytes`.
    ///
    /// # Errors
    /// It is damaged, or is nothing that a file could have become (check.rs).
    pub fn read(bytes: &[u8]) -> Result<ModelData, Error> {
        let mut reader = Reader::new(unframe(bytes, MAGIC, VERSION)?);
        let reader = &mut reader;
        let mut counts = [0; 7];
        for count in &mut counts {
            *count = reader.u32()? as usize;
        }
        let [nodes, meshes, surfaces, pictures, cameras, lights, skins] = counts;
        let mut model = ModelData::default();
        for place in 0..nodes {
            model.nodes.push(Node::read(reader, place, &counts)?);
        }
        for _ in 0..surfaces {
            model.surfaces.push(SurfaceData::read(reader, pictures)?);
        }
        for _ in 0..cameras {
            let [fov, height, near, far] = all(reader)?;
            let vertical_fov = (fov > 0.0).then_some(fov);
            model.cameras.push(CameraData { vertical_fov, height, near, far });
        }
        for _ in 0..lights {
            let (kind, color) = (reader.choice(&LIGHTS)?, all(reader)?);
            let [intensity, range, inner, outer] = all(reader)?;
            model.lights.push(LightData { kind, color, intensity, range, inner, outer });
        }
        for _ in 0..skins {
            let name = reader.text()?.to_string();
            let joints = reader.list(Reader::u32)?;
            model.skins.push(SkinData { name, joints, inverse_bind: reader.list(all)? });
        }
        model.clips = reader.list(ClipData::read)?;
        model.extras = tree(reader)?;
        model.twice = reader.list(|reader| reader.text().map(str::to_string))?;
        model.warnings = reader.list(|reader| reader.text().map(str::to_string))?;
        for _ in 0..meshes {
            model.meshes.push(MeshData::read(reader, surfaces)?);
        }
        for _ in 0..pictures {
            let length = reader.bytes()?.len();
            let end = bytes.len() - reader.left();
            model.pictures.push(end - length..end);
        }
        reader.end()?;
        check(&model)?;
        Ok(model)
    }
}

impl Node {
    fn write(&self, writer: &mut Writer) {
        writer.text(&self.name);
        put_index(writer, self.parent);
        put_all(writer, &self.position);
        put_all(writer, &self.rotation);
        put_all(writer, &self.scale);
        for index in [self.mesh, self.camera, self.light, self.skin] {
            put_index(writer, index);
        }
        put_tree(writer, self.extras.as_ref());
    }

    fn read(reader: &mut Reader, place: usize, counts: &[usize; 7]) -> Result<Node, Error> {
        let [_, meshes, _, _, cameras, lights, skins] = *counts;
        Ok(Node {
            name: reader.text()?.to_string(),
            parent: index(reader, place)?,
            position: all(reader)?,
            rotation: all(reader)?,
            scale: all(reader)?,
            mesh: index(reader, meshes)?,
            camera: index(reader, cameras)?,
            light: index(reader, lights)?,
            skin: index(reader, skins)?,
            extras: tree(reader)?,
        })
    }
}

impl MeshData {
    fn write(&self, writer: &mut Writer) {
        writer.text(&self.name);
        writer.bytes(Vertex::to_bytes(&self.vertices));
        writer.list(&self.indices, |writer, index| writer.u32(*index));
        writer.list(&self.parts, |writer, part| {
            for number in [part.first, part.count, part.place] {
                writer.u32(number);
            }
        });
        writer.list(&self.surfaces, |writer, surface| put_index(writer, *surface));
        let Bounds { min, max, center, radius } = self.bounds;
        for point in [min, max, center] {
            put_all(writer, &point.to_array());
        }
        put_f32(writer, radius);
        writer.list(&self.joints, |writer, four| {
            for joint in four {
                writer.u32(u32::from(*joint));
            }
        });
        writer.list(&self.weights, |writer, four| put_all(writer, four));
        writer.list(&self.targets, |writer, target| {
            writer.list(target, |writer, moved| put_all(writer, moved));
        });
    }

    fn read(reader: &mut Reader, surfaces: usize) -> Result<MeshData, Error> {
        let name = reader.text()?.to_string();
        let vertices = Vertex::of_bytes(reader.bytes()?);
        let vertices = vertices.ok_or_else(|| error!("it is damaged: '{name}' ends too early"))?;
        let indices = reader.list(Reader::u32)?;
        if let Some(wrong) = indices.iter().find(|index| **index as usize >= vertices.len()) {
            return Err(error!("it is damaged: '{name}' has no vertex {wrong}"));
        }
        let parts = reader.list(|reader| {
            Ok(Part { first: reader.u32()?, count: reader.u32()?, place: reader.u32()? })
        })?;
        let end = |part: &Part| u64::from(part.first) + u64::from(part.count);
        if parts.iter().any(|part| end(part) > indices.len() as u64) {
            return Err(error!("it is damaged: a part of '{name}' lies outside of it"));
        }
        let surfaces = reader.list(|reader| index(reader, surfaces))?;
        let mut points = [[0.0; 3]; 3];
        for point in &mut points {
            *point = all(reader)?;
        }
        let [min, max, center] = points.map(Into::into);
        let bounds = Bounds { min, max, center, radius: f32_of(reader)? };
        let joints = reader.list(|reader| {
            let mut four = [0; 4];
            for joint in &mut four {
                let number = reader.u32()?;
                *joint = u16::try_from(number)
                    .map_err(|_| error!("it is damaged: no skin has a joint {number}"))?;
            }
            Ok(four)
        })?;
        let weights = reader.list(all)?;
        let targets = reader.list(|reader| reader.list(all))?;
        Ok(MeshData { name, vertices, indices, parts, surfaces, bounds, joints, weights, targets })
    }
}

impl SurfaceData {
    fn write(&self, writer: &mut Writer) {
        writer.text(&self.name);
        put_all(writer, &self.base_color);
        put_all(writer, &self.emissive);
        put_all(
            writer,
            &[self.metallic, self.roughness, self.normal_scale, self.occlusion_strength],
        );
        let (alpha, cutoff) = match self.alpha {
            Alpha::Opaque => (0, 0.0),
            Alpha::Mask(cutoff) => (1, cutoff),
            Alpha::Blend => (2, 0.0),
        };
        writer.u8(alpha);
        put_f32(writer, cutoff);
        writer.u8(u8::from(self.double_sided));
        writer.u8(u8::from(self.unlit));
        for picture in self.pictures {
            put_index(writer, picture.map(|picture| picture.0));
            if let Some((_, sampling)) = picture {
                writer.u8(u8::from(sampling.nearest));
                writer.u8(place(&WRAPS, sampling.wrap));
            }
        }
    }

    fn read(reader: &mut Reader, pictures: usize) -> Result<SurfaceData, Error> {
        let name = reader.text()?.to_string();
        let (base_color, emissive) = (all(reader)?, all(reader)?);
        let [metallic, roughness, normal_scale, occlusion_strength] = all(reader)?;
        let (alpha, cutoff) = (reader.u8()?, f32_of(reader)?);
        let alpha = match alpha {
            0 => Alpha::Opaque,
            1 => Alpha::Mask(cutoff),
            2 => Alpha::Blend,
            other => return Err(error!("it is damaged: there is no choice {other}")),
        };
        let (double_sided, unlit) = (reader.flag()?, reader.flag()?);
        let mut found = [None; 5];
        for picture in &mut found {
            if let Some(index) = index(reader, pictures)? {
                let nearest = reader.flag()?;
                *picture = Some((index, Sampling { nearest, wrap: reader.choice(&WRAPS)? }));
            }
        }
        Ok(SurfaceData {
            name,
            base_color,
            metallic,
            roughness,
            emissive,
            normal_scale,
            occlusion_strength,
            alpha,
            double_sided,
            unlit,
            pictures: found,
        })
    }
}

impl ClipData {
    fn write(&self, writer: &mut Writer) {
        writer.text(&self.name);
        writer.list(&self.channels, |writer, channel| {
            writer.u32(channel.node);
            writer.u8(place(&TRACKS, channel.track));
            writer.u8(place(&BETWEENS, channel.between));
            put_floats(writer, &channel.times);
            put_floats(writer, &channel.values);
        });
    }

    fn read(reader: &mut Reader) -> Result<ClipData, Error> {
        let name = reader.text()?.to_string();
        let channels = reader.list(|reader| {
            Ok(ChannelData {
                node: reader.u32()?,
                track: reader.choice(&TRACKS)?,
                between: reader.choice(&BETWEENS)?,
                times: floats(reader)?,
                values: floats(reader)?,
            })
        })?;
        Ok(ClipData { name, channels })
    }
}

impl ModelData {
    /// From a node's space into the model's.
    pub fn world(&self, node: &Node) -> Mat4 {
        // A list in place of calls within each other: a chain may be as long as a model has nodes.
        let mut chain = vec![node];
        while let Some(parent) = chain[chain.len() - 1].parent
            && chain.len() <= self.nodes.len()
        {
            chain.push(&self.nodes[parent as usize]);
        }
        let of = |node: &Node| {
            Mat4::from_scale_rotation_translation(
                node.scale.into(),
                Quat::from_array(node.rotation),
                node.position.into(),
            )
        };
        let below = chain.pop().map_or(Mat4::IDENTITY, of);
        chain.iter().rev().fold(below, |above, node| above * of(node))
    }
}
