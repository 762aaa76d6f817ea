//! Compiled form of a model. The data compiler writes it from a glTF file or a built-in shape, and
//! the game reads it when it loads the model. All data is in the engine's space: z up, y ahead,
//! metres. Knows no files and no glTF.

use super::sprite_skeleton::SpriteSkeletonData;
use super::validate::check;
use engine_foundation::blob::{BlobReader, BlobWriter, unframe};
use engine_foundation::error;
use engine_foundation::sjson::{self, SjsonTree};
use engine_foundation::{Error, Mat4, Quat};
use engine_frame_packet::mesh::{MeshBounds, MeshPart, MeshVertex, SurfaceAlphaMode};
use engine_frame_packet::texture::{AxisWrap, SamplerSettings, WrapMode};
use engine_resource::surface_lobes::{LOBE_NUMBERS, SurfaceLobes};
use std::ops::Range;
use std::sync::Arc;

/// Version of the compiled form. A change of this number recompiles every model.
pub const VERSION: u32 = 17;
const MAGIC: [u8; 4] = *b"MODL";
/// Stored in place of an index that is absent.
const NONE: u32 = u32::MAX;
const WRAPS: [WrapMode; 9] = [
    WrapMode::Clamp,
    WrapMode::Repeat,
    WrapMode::Mirror,
    WrapMode::PerAxis([AxisWrap::Clamp, AxisWrap::Repeat]),
    WrapMode::PerAxis([AxisWrap::Clamp, AxisWrap::Mirror]),
    WrapMode::PerAxis([AxisWrap::Repeat, AxisWrap::Clamp]),
    WrapMode::PerAxis([AxisWrap::Repeat, AxisWrap::Mirror]),
    WrapMode::PerAxis([AxisWrap::Mirror, AxisWrap::Clamp]),
    WrapMode::PerAxis([AxisWrap::Mirror, AxisWrap::Repeat]),
];

/// Content of a model.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ModelData {
    /// Nodes, parents before children.
    pub nodes: Vec<ModelNode>,
    pub meshes: Vec<MeshData>,
    pub surfaces: Vec<SurfaceData>,
    /// Compiled textures (src/system/textures) as byte ranges: ranges of the blob in a model that
    /// was read, ranges of `bulk` before that.
    pub pictures: Vec<Range<usize>>,
    pub cameras: Vec<CameraData>,
    pub lights: Vec<LightData>,
    pub skins: Vec<SkinData>,
    /// Animations as in the file. Empty in a model that was read from its compiled form.
    pub animations: Vec<AnimationData>,
    /// Animations in the compiled form of the system of animation.
    pub clips: Vec<ClipData>,
    /// Pictures of the bones of a two-dimensional model.
    pub sprite_skeleton: Option<Arc<SpriteSkeletonData>>,
    /// Custom properties of the scene: an object, or `None` if the file has none.
    pub extras: Option<SjsonTree>,
    /// Names that two nodes of the file share. A reference to such a name is ambiguous.
    pub duplicate_names: Vec<String>,
    /// Messages about content that cannot be shown, logged once when the model is loaded.
    pub warnings: Vec<String>,
}

/// Node: a transform relative to its parent.
#[derive(Clone, PartialEq, Debug)]
pub struct ModelNode {
    /// Name, unique among the nodes of the model.
    pub name: String,
    pub parent: Option<u32>,
    pub position: [f32; 3],
    /// Quaternion of length 1.
    pub rotation: [f32; 4],
    pub scale: [f32; 3],
    pub mesh: Option<u32>,
    pub camera: Option<u32>,
    pub light: Option<u32>,
    pub skin: Option<u32>,
    pub extras: Option<SjsonTree>,
}

/// Mesh of triangles.
#[derive(Clone, PartialEq, Debug)]
pub struct MeshData {
    /// Name, unique among the meshes of the model.
    pub name: String,
    pub vertices: Vec<MeshVertex>,
    pub indices: Vec<u32>,
    pub parts: Vec<MeshPart>,
    /// Surface of each material slot of the parts.
    pub surfaces: Vec<Option<u32>>,
    pub bounds: MeshBounds,
    /// Four joints of the skin and their weights for each vertex; empty if the mesh is not skinned.
    pub joints: Vec<[u16; 4]>,
    pub weights: Vec<[f32; 4]>,
    /// Morph targets: the offset of each vertex.
    pub targets: Vec<Vec<[f32; 3]>>,
    /// Names of the morph targets: none, or one for each.
    pub target_names: Vec<String>,
    /// Initial weights of the morph targets: none, or one for each.
    pub target_weights: Vec<f32>,
}

/// Texture of a surface: the index of its image and its sampler settings.
pub type SurfaceImage = Option<(u32, SamplerSettings)>;

/// Shading parameters, as in `SurfaceFrame` (src/frame_packet/mesh.rs). The textures are images of
/// the model.
#[derive(Clone, PartialEq, Debug)]
pub struct SurfaceData {
    /// Name, unique among the surfaces of the model.
    pub name: String,
    pub base_color: [f32; 4],
    pub metallic: f32,
    pub roughness: f32,
    pub emissive: [f32; 3],
    pub normal_scale: f32,
    pub occlusion_strength: f32,
    pub alpha: SurfaceAlphaMode,
    pub double_sided: bool,
    pub unlit: bool,
    pub lobes: SurfaceLobes,
    /// Images for base color, metalness and roughness, normal, occlusion and emission.
    pub pictures: [SurfaceImage; 5],
}

/// Camera that looks along its node's y axis.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct CameraData {
    /// Vertical field of view in radians; `None` for an orthographic camera.
    pub vertical_fov: Option<f32>,
    /// Height of the view in metres, if orthographic.
    pub height: f32,
    pub near: f32,
    pub far: f32,
}

/// Type of a light.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ModelLightType {
    Sun,
    Omni,
    Spot,
}

/// Light that shines along its node's y axis.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LightData {
    pub kind: ModelLightType,
    /// Linear color.
    pub color: [f32; 3],
    /// Intensity. At 1, a white wall one metre away reflects exactly the light's color.
    pub intensity: f32,
    /// Range in metres; 0 is unlimited.
    pub range: f32,
    /// Cone angles in radians from the axis.
    pub inner: f32,
    pub outer: f32,
}

/// Joints of a skin.
#[derive(Clone, PartialEq, Debug)]
pub struct SkinData {
    pub name: String,
    /// Indices of the joints' nodes.
    pub joints: Vec<u32>,
    /// Matrices from the mesh's space into each joint's space, column-major.
    pub inverse_bind: Vec<[f32; 16]>,
}

/// Property of a node that a channel animates.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ChannelTarget {
    Position,
    Rotation,
    Scale,
    Weights,
    /// A value of a slot of a sprite skeleton; the number of the node is that of the value.
    Slot,
}

/// Interpolation between two keys.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum KeyInterpolation {
    Linear,
    Step,
    /// Cubic spline: each key has an in-tangent before its value and an out-tangent after it.
    Cubic,
}

/// Animation channel of one node.
#[derive(Clone, PartialEq, Debug)]
pub struct AnimationChannel {
    pub node: u32,
    pub track: ChannelTarget,
    pub between: KeyInterpolation,
    /// Key times in seconds, ascending.
    pub times: Vec<f32>,
    /// Key values: 3 or 4 numbers for each time, or one for each morph target. Cubic channels have
    /// three times as many.
    pub values: Vec<f32>,
}

/// Animation of a file.
#[derive(Clone, PartialEq, Debug)]
pub struct AnimationData {
    /// Name, unique among the animations of the model.
    pub name: String,
    pub channels: Vec<AnimationChannel>,
}

/// Compiled animation.
#[derive(Clone, PartialEq, Debug)]
pub struct ClipData {
    /// Name, unique among the clips of the model.
    pub name: String,
    /// The clip in the form that `engine_animation` writes and reads.
    pub bytes: Vec<u8>,
}

const LIGHTS: [ModelLightType; 3] =
    [ModelLightType::Sun, ModelLightType::Omni, ModelLightType::Spot];

fn index_in_list<T: PartialEq>(list: &[T], value: T) -> u8 {
    list.iter().position(|known| *known == value).expect("every value is in its list") as u8
}

fn write_f32(writer: &mut BlobWriter, value: f32) {
    writer.u32(value.to_bits());
}

fn write_floats(writer: &mut BlobWriter, values: &[f32]) {
    for value in values {
        write_f32(writer, *value);
    }
}

fn write_index(writer: &mut BlobWriter, index: Option<u32>) {
    writer.u32(index.unwrap_or(NONE));
}

fn write_tree(writer: &mut BlobWriter, tree: Option<&SjsonTree>) {
    let text = tree.map(|tree| sjson::write(tree).expect("it was read from JSON"));
    writer.text(text.as_deref().unwrap_or_default());
}

fn f32_of(reader: &mut BlobReader) -> Result<f32, Error> {
    reader.u32().map(f32::from_bits)
}

fn all<const N: usize>(reader: &mut BlobReader) -> Result<[f32; N], Error> {
    let mut out = [0.0; N];
    for slot in &mut out {
        *slot = f32_of(reader)?;
    }
    Ok(out)
}

/// Reads an optional index below `most`.
fn index(reader: &mut BlobReader, most: usize) -> Result<Option<u32>, Error> {
    match reader.u32()? {
        NONE => Ok(None),
        index if (index as usize) < most => Ok(Some(index)),
        index => Err(error!("it is damaged: {index} is not below {most}")),
    }
}

fn tree(reader: &mut BlobReader) -> Result<Option<SjsonTree>, Error> {
    match reader.text()? {
        "" => Ok(None),
        text => match sjson::parse(text) {
            Ok(document) => Ok(Some(document.to_tree())),
            Err(_) => Err(error!("it is damaged: its extras cannot be read")),
        },
    }
}

impl ModelData {
    /// Returns the compiled form; `bulk` contains the images.
    pub fn write(&self, bulk: &[u8]) -> Vec<u8> {
        let mut writer = BlobWriter::default();
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
            write_f32(&mut writer, camera.vertical_fov.unwrap_or(0.0));
            write_floats(&mut writer, &[camera.height, camera.near, camera.far]);
        }
        for light in &self.lights {
            writer.u8(index_in_list(&LIGHTS, light.kind));
            write_floats(&mut writer, &light.color);
            write_floats(&mut writer, &[light.intensity, light.range, light.inner, light.outer]);
        }
        for skin in &self.skins {
            writer.text(&skin.name);
            writer.list(&skin.joints, |writer, joint| writer.u32(*joint));
            writer.list(&skin.inverse_bind, |writer, matrix| write_floats(writer, matrix));
        }
        writer.list(&self.clips, |writer, clip| {
            writer.text(&clip.name);
            writer.bytes(&clip.bytes);
        });
        writer.u8(u8::from(self.sprite_skeleton.is_some()));
        if let Some(sprite_skeleton) = &self.sprite_skeleton {
            sprite_skeleton.write(&mut writer);
        }
        write_tree(&mut writer, self.extras.as_ref());
        writer.list(&self.duplicate_names, |writer, name| writer.text(name));
        writer.list(&self.warnings, |writer, message| writer.text(message));
        for mesh in &self.meshes {
            mesh.write(&mut writer);
        }
        for picture in &self.pictures {
            writer.bytes(&bulk[picture.clone()]);
        }
        writer.into_frame(MAGIC, VERSION)
    }

    /// Reads the compiled form. Images become ranges of `bytes`.
    ///
    /// # Errors
    /// Returns an error if the data is damaged, or could not come from any file (validate.rs).
    pub fn read(bytes: &[u8]) -> Result<ModelData, Error> {
        let mut reader = BlobReader::new(unframe(bytes, MAGIC, VERSION)?);
        let reader = &mut reader;
        let mut counts = [0; 7];
        for count in &mut counts {
            *count = reader.u32()? as usize;
        }
        let [nodes, meshes, surfaces, pictures, cameras, lights, skins] = counts;
        let mut model = ModelData::default();
        for node_index in 0..nodes {
            model.nodes.push(ModelNode::read(reader, node_index, &counts)?);
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
            let joints = reader.list(BlobReader::u32)?;
            model.skins.push(SkinData { name, joints, inverse_bind: reader.list(all)? });
        }
        model.clips = reader.list(|reader| {
            let name = reader.text()?.to_string();
            Ok(ClipData { name, bytes: reader.bytes()?.to_vec() })
        })?;
        if reader.flag()? {
            model.sprite_skeleton = Some(Arc::new(SpriteSkeletonData::read(reader)?));
        }
        model.extras = tree(reader)?;
        model.duplicate_names = reader.list(|reader| reader.text().map(str::to_string))?;
        model.warnings = reader.list(|reader| reader.text().map(str::to_string))?;
        for _ in 0..meshes {
            model.meshes.push(MeshData::read(reader, surfaces)?);
        }
        for _ in 0..pictures {
            let length = reader.bytes()?.len();
            let end = bytes.len() - reader.remaining();
            model.pictures.push(end - length..end);
        }
        reader.end()?;
        check(&model)?;
        Ok(model)
    }
}

impl ModelNode {
    fn write(&self, writer: &mut BlobWriter) {
        writer.text(&self.name);
        write_index(writer, self.parent);
        write_floats(writer, &self.position);
        write_floats(writer, &self.rotation);
        write_floats(writer, &self.scale);
        for index in [self.mesh, self.camera, self.light, self.skin] {
            write_index(writer, index);
        }
        write_tree(writer, self.extras.as_ref());
    }

    fn read(
        reader: &mut BlobReader,
        node_index: usize,
        counts: &[usize; 7],
    ) -> Result<ModelNode, Error> {
        let [_, meshes, _, _, cameras, lights, skins] = *counts;
        Ok(ModelNode {
            name: reader.text()?.to_string(),
            parent: index(reader, node_index)?,
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
    fn write(&self, writer: &mut BlobWriter) {
        writer.text(&self.name);
        writer.bytes(MeshVertex::to_bytes(&self.vertices));
        writer.list(&self.indices, |writer, index| writer.u32(*index));
        writer.list(&self.parts, |writer, part| {
            for number in [part.first, part.count, part.surface] {
                writer.u32(number);
            }
        });
        writer.list(&self.surfaces, |writer, surface| write_index(writer, *surface));
        let MeshBounds { min, max, center, radius } = self.bounds;
        for point in [min, max, center] {
            write_floats(writer, &point.to_array());
        }
        write_f32(writer, radius);
        writer.list(&self.joints, |writer, four| {
            for joint in four {
                writer.u32(u32::from(*joint));
            }
        });
        writer.list(&self.weights, |writer, four| write_floats(writer, four));
        writer.list(&self.targets, |writer, target| {
            writer.list(target, |writer, moved| write_floats(writer, moved));
        });
        writer.list(&self.target_names, |writer, name| writer.text(name));
        writer.list(&self.target_weights, |writer, weight| write_f32(writer, *weight));
    }

    fn read(reader: &mut BlobReader, surfaces: usize) -> Result<MeshData, Error> {
        let name = reader.text()?.to_string();
        let vertices = MeshVertex::from_bytes(reader.bytes()?);
        let vertices = vertices.ok_or_else(|| error!("it is damaged: '{name}' ends too early"))?;
        let indices = reader.list(BlobReader::u32)?;
        if let Some(wrong) = indices.iter().find(|index| **index as usize >= vertices.len()) {
            return Err(error!("it is damaged: '{name}' has no vertex {wrong}"));
        }
        let parts = reader.list(|reader| {
            Ok(MeshPart { first: reader.u32()?, count: reader.u32()?, surface: reader.u32()? })
        })?;
        let end = |part: &MeshPart| u64::from(part.first) + u64::from(part.count);
        if parts.iter().any(|part| end(part) > indices.len() as u64) {
            return Err(error!("it is damaged: a part of '{name}' lies outside of it"));
        }
        let surfaces = reader.list(|reader| index(reader, surfaces))?;
        let mut points = [[0.0; 3]; 3];
        for point in &mut points {
            *point = all(reader)?;
        }
        let [min, max, center] = points.map(Into::into);
        let bounds = MeshBounds { min, max, center, radius: f32_of(reader)? };
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
        let target_names = reader.list(|reader| reader.text().map(str::to_string))?;
        let target_weights = reader.list(BlobReader::finite)?;
        Ok(MeshData {
            name,
            vertices,
            indices,
            parts,
            surfaces,
            bounds,
            joints,
            weights,
            targets,
            target_names,
            target_weights,
        })
    }
}

impl SurfaceData {
    fn write(&self, writer: &mut BlobWriter) {
        writer.text(&self.name);
        write_floats(writer, &self.base_color);
        write_floats(writer, &self.emissive);
        write_floats(
            writer,
            &[self.metallic, self.roughness, self.normal_scale, self.occlusion_strength],
        );
        let (alpha, cutoff) = match self.alpha {
            SurfaceAlphaMode::Opaque => (0, 0.0),
            SurfaceAlphaMode::Mask(cutoff) => (1, cutoff),
            SurfaceAlphaMode::Blend => (2, 0.0),
        };
        writer.u8(alpha);
        write_f32(writer, cutoff);
        writer.u8(u8::from(self.double_sided));
        writer.u8(u8::from(self.unlit));
        let mut lobes = self.lobes;
        LOBE_NUMBERS.iter().for_each(|(_, _, field)| write_f32(writer, *field(&mut lobes)));
        write_floats(writer, &lobes.sheen_color);
        write_floats(writer, &lobes.specular_color);
        for picture in self.pictures {
            write_index(writer, picture.map(|picture| picture.0));
            if let Some((_, sampling)) = picture {
                writer.u8(u8::from(sampling.nearest));
                writer.u8(index_in_list(&WRAPS, sampling.wrap));
            }
        }
    }

    fn read(reader: &mut BlobReader, pictures: usize) -> Result<SurfaceData, Error> {
        let name = reader.text()?.to_string();
        let (base_color, emissive) = (all(reader)?, all(reader)?);
        let [metallic, roughness, normal_scale, occlusion_strength] = all(reader)?;
        let (alpha, cutoff) = (reader.u8()?, f32_of(reader)?);
        let alpha = match alpha {
            0 => SurfaceAlphaMode::Opaque,
            1 => SurfaceAlphaMode::Mask(cutoff),
            2 => SurfaceAlphaMode::Blend,
            other => return Err(error!("it is damaged: unknown value {other}")),
        };
        let (double_sided, unlit) = (reader.flag()?, reader.flag()?);
        let mut lobes = SurfaceLobes::NONE;
        for (_, _, field) in LOBE_NUMBERS {
            *field(&mut lobes) = f32_of(reader)?;
        }
        (lobes.sheen_color, lobes.specular_color) = (all(reader)?, all(reader)?);
        let mut found = [None; 5];
        for picture in &mut found {
            if let Some(index) = index(reader, pictures)? {
                let nearest = reader.flag()?;
                *picture = Some((index, SamplerSettings { nearest, wrap: reader.choice(&WRAPS)? }));
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
            lobes,
            pictures: found,
        })
    }
}

impl ModelData {
    /// Returns the matrix from a node's space into the model's.
    pub fn world(&self, node: &ModelNode) -> Mat4 {
        // Iterative, because a chain may be as long as the number of nodes in the model.
        let mut chain = vec![node];
        while let Some(parent) = chain[chain.len() - 1].parent
            && chain.len() <= self.nodes.len()
        {
            chain.push(&self.nodes[parent as usize]);
        }
        let of = |node: &ModelNode| {
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
