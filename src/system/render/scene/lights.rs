//! The light selection of a view, and the uniform of its shader: the camera, the sky, the chosen
//! lights. Draws nothing.

use super::clusters::{ClusterBuilder, Clustering, LightSphere};
use super::culling::cull;
use super::light_textures::{FrameSquares, LightTextures, TexturedLight};
use super::scene_lights::{SceneLights, sphere};
use super::shadow_atlas::{ShadowAtlas, ShadowKey, ShadowRequest, TileUniform};
use super::shadows::{CASCADES_MAX, LampShape, SunCascades};
use crate::ShadowFilter;
use bytemuck::{Pod, Zeroable};
use engine_foundation::{Mat4, Vec2, Vec3, Vec4};
use engine_frame_packet::CameraFrame;
use engine_frame_packet::reflection_probe::VIEW_PROBES_MAX;
use engine_frame_packet::scene::{
    FRAME_LIGHT_ENTRIES_MAX, LIGHT_ENTRIES_MAX, LightFrame, LightKind, SUNS_MAX, SkyFrame,
    SkyVisibility, VIEW_LIGHTS_MAX,
};

/// A sun, with the layout of `Sun` in forward/view_uniforms.wgsl.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Debug, Default, Pod, Zeroable)]
pub struct SunUniform {
    /// Direction towards the sun; the last is 1 if it casts shadows.
    pub towards: [f32; 4],
    /// Color; the last is its shadow bias.
    pub color: [f32; 4],
}

/// A point light or spot light, with the layout of `Light` in forward/local_lights.wgsl.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Debug, Default, Pod, Zeroable)]
pub struct LightUniform {
    pub position: [f32; 3],
    /// 1 divided by the square of its range; of a flat light, the opposite number.
    pub falloff: f32,
    pub color: [f32; 3],
    /// Index of its first shadow map in [`FrameLights::tiles`]; below 0: none.
    pub shadow: f32,
    pub direction: [f32; 3],
    /// Cone attenuation: the square of (cosine * `cone_scale` + `cone_offset`). Of a rectangle or
    /// an ellipse, the latter is the radius of its source, if its shadows are soft.
    pub cone_scale: f32,
    pub cone_offset: f32,
    /// Metres that a texel of its shadow map covers, for each metre of distance.
    pub texel: f32,
    /// Depth bias of its shadow map, against shadow acne.
    pub bias: f32,
    /// Bit set of its light layers; from bit 8 on, where the words of its texture begin
    /// ([`FrameSquares::add`]).
    pub layers: u32,
    /// The first is the radius of its source, if its shadows are soft; the second is the height of
    /// a flat light in front of surfaces with a normal texture; the last is 0. Of a rectangle: from
    /// its center to its right side, and half its height, which is below 0 for an ellipse.
    pub source: [f32; 4],
}

/// A reflection probe, with the layout of `Probe` in forward/view_uniforms.wgsl.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Debug, Default, Pod, Zeroable)]
pub struct ProbeUniform {
    /// Rows of the transform from world space to the cube between -1 and 1.
    pub to_box: [[f32; 4]; 3],
    /// Position from which the texture shows the surroundings; the last is the layer of its maps.
    pub position: [f32; 4],
    /// How fast the probe fades in from each side of the cube; the last is the factor for its
    /// light.
    pub fade: [f32; 4],
}

/// The uniform `view` of forward/view_uniforms.wgsl.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Debug, Pod, Zeroable)]
pub struct SceneUniform {
    pub to_clip: [[f32; 4]; 4],
    pub from_clip: [[f32; 4]; 4],
    /// Position of the camera; the last is 0 for an orthographic camera.
    pub eye: [f32; 4],
    /// Direction of the camera; the last is the time in seconds.
    pub ahead: [f32; 4],
    /// Directions to its right and up. The last of the former is the size of the sun with shadows
    /// ([`LightFrame::source_size`]) if they are soft.
    pub right: [f32; 4],
    pub up: [f32; 4],
    /// The sky's colors; the last of each: exposure, if the sky is shown, if light is clipped where
    /// it is too bright.
    pub top: [f32; 4],
    pub horizon: [f32; 4],
    pub ground: [f32; 4],
    /// Color of the fog; the last is the density.
    pub fog: [f32; 4],
    /// The light of the sky's maps, which sky/inputs.rs fills in: their layer, or below 0; their
    /// side length; number of levels for roughness; the factor for all light of the sky.
    pub sky_light: [f32; 4],
    /// Extinction of the air per metre; the last is 1 if the air is visible.
    pub air: [f32; 4],
    /// Height, falloff and start of the fog; the last is 1 if it has any of them, or a glow.
    pub fog_shape: [f32; 4],
    /// Light of the fog towards the sun, and its exponent.
    pub fog_glow: [f32; 4],
    /// Direction towards the first sun; the last is the number of reflection probes.
    pub fog_towards: [f32; 4],
    /// The grid of froxel fog, which forward/mod.rs fills in ([`super::super::fog::FogGrid`]).
    pub fog_grid: [f32; 4],
    pub fog_reach: [f32; 4],
    /// Number of suns, lights and cascades; flags (bit 0: the target needs encoded colors;
    /// bit 1: it has ambient occlusion or contact shadows).
    pub counts: [u32; 4],
    /// Distance ahead of the camera at which each cascade ends.
    pub cascade_ends: [f32; 4],
    /// Distance from which each cascade blends into the next.
    pub cascade_blends: [f32; 4],
    /// Metres that a texel of each cascade covers.
    pub cascade_texels: [f32; 4],
    /// 1 divided by the side length in texels of the suns' shadow maps and of the shadow atlas;
    /// then left and top of the view's rectangle on its target, which forward/mod.rs fills in.
    pub shadow: [f32; 4],
    pub suns: [SunUniform; SUNS_MAX],
    pub cascades: [[[f32; 4]; 4]; CASCADES_MAX],
    /// The first of the view's clusters in [`FrameLights::grid`], and of its lights in
    /// [`FrameLights::lights`]; then the light layers of the suns, with eight bits each.
    pub cluster_begin: [u32; 4],
    /// Clusters per pixel, across and down, which forward/mod.rs fills in; factor and offset from
    /// the depth to the slice.
    pub cluster_scale: [f32; 4],
    /// The reflection probes, which sky/inputs.rs fills in.
    pub probes: [ProbeUniform; VIEW_PROBES_MAX],
}

/// The lights of all views of a frame, without suns, as the adapter reads them.
#[derive(Default)]
pub struct FrameLights {
    pub lights: Vec<LightUniform>,
    /// Of each view: a word for each cluster, and the entries ([`ClusterBuilder::build`]).
    pub grid: Vec<u32>,
    /// Tiles of the shadow atlas.
    pub tiles: Vec<TileUniform>,
    /// The textures of lights, and those that the grid contains.
    pub textures: LightTextures,
    squares: FrameSquares,
    entries: usize,
}

impl FrameLights {
    pub fn clear(&mut self) {
        self.lights.clear();
        self.grid.clear();
        self.tiles.clear();
        self.squares.clear();
        self.entries = 0;
    }

    /// Adds the lights of a view, and notes them in its uniform. Returns the number of lights for
    /// which there is no room.
    pub fn add(
        &mut self,
        builder: &mut ClusterBuilder,
        camera: &CameraFrame,
        chosen: &mut ViewLights,
        uniform: &mut SceneUniform,
    ) -> usize {
        if chosen.lights.is_empty() {
            return 0;
        }
        let (word, light) = (self.grid.len(), self.lights.len());
        let room = LIGHT_ENTRIES_MAX.min(FRAME_LIGHT_ENTRIES_MAX - self.entries);
        let done = match chosen.clustering {
            Some((known, done)) if known == room => done,
            _ => {
                chosen.grid.clear();
                builder.build(camera, &chosen.spheres, room, &mut chosen.grid)
            }
        };
        chosen.clustering = Some((room, done));
        self.entries += done.entries;
        self.grid.extend_from_slice(&chosen.grid);
        self.lights.extend_from_slice(&chosen.lights);
        for textured in &chosen.textured {
            let known = self.squares.add(textured, &self.textures, &mut self.grid);
            self.lights[light + textured.index].layers |= known;
        }
        for index in &chosen.areas {
            self.lights[light + index].layers |= self.squares.add_area_table(&mut self.grid);
        }
        uniform.cluster_begin[..2].copy_from_slice(&[word as u32, light as u32]);
        uniform.cluster_scale = [0.0, 0.0, done.slices[0], done.slices[1]];
        done.dropped
    }
}

impl SceneUniform {
    /// Moves the picture by an offset in clip space.
    pub fn shift(&mut self, offset: Vec2) {
        let matrix = Mat4::from_translation(offset.extend(0.0));
        let back = Mat4::from_translation(-offset.extend(0.0));
        let (to_clip, from_clip) = (&mut self.to_clip, &mut self.from_clip);
        *to_clip = (matrix * Mat4::from_cols_array_2d(to_clip)).to_cols_array_2d();
        *from_clip = (Mat4::from_cols_array_2d(from_clip) * back).to_cols_array_2d();
    }
}

/// A light of a view that casts shadows.
struct ShadowedLight {
    /// Index in [`ViewLights::lights`].
    index: usize,
    id: u64,
    shape: LampShape,
    rank: f32,
    /// Radius of its sphere on the view's image; 1 is half the height of the image.
    extent: f32,
    source_size: f32,
}

/// The chosen lights of a view.
#[derive(Default)]
pub struct ViewLights {
    pub suns: Vec<SunUniform>,
    pub lights: Vec<LightUniform>,
    /// The spheres that the lights reach into.
    pub spheres: Vec<LightSphere>,
    /// Light direction of the first sun that casts shadows.
    pub shadow_sun: Option<Vec3>,
    /// Size of the source of this sun.
    sun_size: f32,
    /// Light layers of the suns, with eight bits each.
    sun_layers: u32,
    /// The lights with textures.
    textured: Vec<TexturedLight>,
    /// Indices of rectangles and ellipses in `lights`.
    areas: Vec<usize>,
    /// Number of lights that reach into the view, without suns.
    pub found: usize,
    /// `suns` and `shadow_sun` of the newest choice, which [`ViewLights::replace_sun`] keeps.
    chosen_suns: Vec<SunUniform>,
    chosen_shadow_sun: Option<Vec3>,
    shadowed: Vec<ShadowedLight>,
    reaching: Vec<u32>,
    ranked: Vec<(f32, u32)>,
    /// The clusters of the newest choice, and the room for entries that they were made for.
    grid: Vec<u32>,
    clustering: Option<(usize, Clustering)>,
    /// The scene, the version of its lights, and the camera of the newest choice.
    chosen_for: Option<(u64, u64, CameraFrame)>,
}

impl ViewLights {
    /// Chooses from a scene's lights: the suns, and those of the others that reach into the view
    /// and whose reach is nearest to the camera. Nothing is done if the lights and the camera are
    /// those of the newest choice.
    pub fn choose(
        &mut self,
        number: u64,
        scene: &SceneLights,
        camera: &CameraFrame,
        planes: &[Vec4],
    ) {
        let wanted = Some((number, scene.version, *camera));
        if self.chosen_for == wanted {
            self.suns.clone_from(&self.chosen_suns);
            self.shadow_sun = self.chosen_shadow_sun;
            return;
        }
        self.chosen_for = wanted;
        self.suns.clear();
        self.lights.clear();
        self.spheres.clear();
        self.shadowed.clear();
        self.ranked.clear();
        self.reaching.clear();
        self.clustering = None;
        self.shadow_sun = None;
        self.sun_size = 0.0;
        self.sun_layers = 0;
        self.textured.clear();
        self.areas.clear();
        for i in &scene.suns {
            let light = &scene.all[*i as usize];
            if let LightKind::Sun { direction, casts_shadows } = light.kind {
                self.sun(direction, light, casts_shadows);
            }
        }
        self.chosen_suns.clone_from(&self.suns);
        self.chosen_shadow_sun = self.shadow_sun;
        cull(&scene.spheres, planes, &mut self.reaching);
        for i in &self.reaching {
            match scene.all[*i as usize].kind {
                LightKind::Sun { .. } => {}
                LightKind::Omni { position, range, .. }
                | LightKind::Spot { position, range, .. }
                | LightKind::Area { position, range, .. } => {
                    self.ranked.push((position.distance(camera.position) - range, *i));
                }
            }
        }
        self.ranked.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        self.found = self.ranked.len();
        self.ranked.truncate(VIEW_LIGHTS_MAX);
        for i in 0..self.ranked.len() {
            let (rank, index) = self.ranked[i];
            let light = &scene.all[index as usize];
            if let Some(shape) = LampShape::of(&light.kind) {
                // Lights without an id are identified by their index in the list.
                let id = if light.id == 0 { u64::MAX - u64::from(index) } else { light.id };
                let (index, extent) = (self.lights.len(), extent(camera, &light.kind));
                let source_size = light.source_size;
                let shadowed = ShadowedLight { index, id, shape, rank, extent, source_size };
                self.shadowed.push(shadowed);
            }
            self.local_light(light);
        }
    }

    /// Adds a light that is not a sun.
    fn local_light(&mut self, light: &LightFrame) {
        let Some(sphere) = sphere(&light.kind) else { return };
        let (color, bias) = (light.color, light.shadow_bias);
        let layers = light.layers.into();
        let mut data =
            LightUniform { color, bias, shadow: -1.0, layers, ..LightUniform::default() };
        match light.kind {
            LightKind::Sun { .. } => return,
            LightKind::Omni { position, range, .. } => {
                data.position = position.to_array();
                data.falloff = 1.0 / (range * range);
                data.cone_offset = 1.0;
            }
            LightKind::Spot { position, direction, range, inner, outer, .. } => {
                data.position = position.to_array();
                data.falloff = 1.0 / (range * range);
                let direction = direction.normalize_or(Vec3::NEG_Z);
                data.direction = direction.to_array();
                // The formula of KHR_lights_punctual of glTF.
                let (inner, end) = (inner.cos(), outer.cos());
                data.cone_scale = 1.0 / (inner - end).max(0.001);
                data.cone_offset = -end * data.cone_scale;
            }
            LightKind::Area {
                position, direction, right, half_height, is_ellipse, range, ..
            } => {
                data.position = position.to_array();
                data.falloff = 1.0 / (range * range);
                let direction = direction.normalize_or(Vec3::NEG_Z);
                data.direction = direction.to_array();
                // Its shadow map is that of a spot.
                data.cone_scale = 1.0;
                let across = right - direction * right.dot(direction);
                let across = across.normalize_or(direction.any_orthonormal_vector());
                let height = if is_ellipse { -half_height } else { half_height };
                data.source = (across * right.length()).extend(height).to_array();
                self.areas.push(self.lights.len());
            }
        }
        if let Some(height) = light.flat_height.filter(|_| data.source[3] == 0.0) {
            data.falloff = -data.falloff;
            data.source[1] = height;
        }
        self.textured.extend(TexturedLight::new(self.lights.len(), light));
        self.lights.push(data);
        self.spheres.push(sphere);
    }

    /// Replaces the direction towards the first sun and its color, until the next choice.
    pub fn replace_sun(&mut self, towards: Vec3, [red, green, blue]: [f32; 3]) {
        let Some(sun) = self.suns.first_mut() else { return };
        let casts_shadows = sun.towards[3];
        sun.towards = towards.extend(casts_shadows).to_array();
        sun.color[..3].copy_from_slice(&[red, green, blue]);
        if casts_shadows > 0.5 {
            self.shadow_sun = Some(-towards);
        }
    }

    /// Adds requests for the shadow maps of the lights. `tile_side` is the largest side of a map.
    pub fn request_shadows(
        &self,
        (scene, layers): (u64, u32),
        tile_side: u32,
        to: &mut Vec<ShadowRequest>,
    ) {
        for ShadowedLight { id, shape, rank, extent, .. } in &self.shadowed {
            let key = ShadowKey { scene, layers, light: *id };
            // Each side of an omni light shows a quarter of its circumference.
            let part = if shape.cone.is_some() { 1.0 } else { 0.5 };
            let side = tile_side as f32 * part * extent.min(1.0);
            to.push(ShadowRequest { key, shape: *shape, rank: *rank, side });
        }
    }

    /// Sets the shadow maps of the lights. `atlas`: `None` if the view shows no shadows.
    pub fn set_shadows(
        &mut self,
        (scene, layers): (u64, u32),
        atlas: Option<&ShadowAtlas>,
        filter: ShadowFilter,
        tiles: &mut Vec<TileUniform>,
    ) {
        let is_soft = filter == ShadowFilter::Pcss;
        for ShadowedLight { index, id, source_size, .. } in &self.shadowed {
            let light = &mut self.lights[*index];
            let first = tiles.len() as f32;
            let key = ShadowKey { scene, layers, light: *id };
            let texel = atlas.and_then(|atlas| atlas.tiles_of(&key, tiles));
            light.shadow = if texel.is_some() { first } else { -1.0 };
            light.texel = texel.unwrap_or(0.0);
            let size = if is_soft { *source_size } else { 0.0 };
            match light.source[3] == 0.0 {
                true => light.source[0] = size,
                false => light.cone_offset = size,
            }
        }
    }

    /// Returns the size of the sun that casts shadows, for soft ones; 0: they are not soft.
    pub fn soft_sun_size(&self, filter: ShadowFilter) -> f32 {
        if filter == ShadowFilter::Pcss { self.sun_size } else { 0.0 }
    }

    fn sun(&mut self, direction: Vec3, light: &LightFrame, casts_shadows: bool) {
        if self.suns.len() == SUNS_MAX {
            return;
        }
        let direction = direction.normalize_or(Vec3::NEG_Z);
        let first = casts_shadows && self.shadow_sun.is_none();
        if first {
            self.shadow_sun = Some(direction);
            self.sun_size = light.source_size;
        }
        let towards = (-direction).extend(f32::from(u8::from(first))).to_array();
        let [r, g, b] = light.color;
        self.sun_layers |= u32::from(light.layers) << (8 * self.suns.len());
        self.suns.push(SunUniform { towards, color: [r, g, b, light.shadow_bias] });
    }
}

/// Returns the radius of a light's sphere on an image; 1 is half the height of the image.
fn extent(camera: &CameraFrame, kind: &LightKind) -> f32 {
    let Some(LightSphere { center, radius }) = sphere(kind) else { return 0.0 };
    let steep = camera.projection.y_axis.y.abs();
    if !is_perspective(camera) {
        return radius * steep;
    }
    let distance = center.distance(camera.position);
    if distance > radius { radius * steep / distance } else { f32::INFINITY }
}

/// Inputs of a view's uniform, without its lights.
pub struct ViewInputs<'a> {
    pub camera: &'a CameraFrame,
    pub sky: &'a SkyFrame,
    pub seconds: f32,
    /// Side lengths in texels of the suns' shadow maps and of the shadow atlas.
    pub texels: (u32, u32),
    /// Size of the sun with shadows; 0 if they are not soft.
    pub sun_size: f32,
}

/// Returns the uniform of a view.
pub fn uniform(
    inputs: &ViewInputs,
    chosen: &ViewLights,
    cascades: Option<&SunCascades>,
) -> SceneUniform {
    let ViewInputs { camera, sky, .. } = inputs;
    let to_clip = camera.projection * camera.view;
    let axes = camera.view.transpose();
    let perspective = if is_perspective(camera) { 1.0 } else { 0.0 };
    let shown = match sky.shown {
        SkyVisibility::Hidden => 0.0,
        SkyVisibility::Perspective => perspective,
        SkyVisibility::Shown => 1.0,
    };
    let color = |[r, g, b]: [f32; 3], last: f32| [r, g, b, last];
    let mut uniform = SceneUniform {
        to_clip: to_clip.to_cols_array_2d(),
        from_clip: to_clip.inverse().to_cols_array_2d(),
        eye: camera.position.extend(perspective).to_array(),
        ahead: (-axes.z_axis.truncate()).extend(inputs.seconds).to_array(),
        right: axes.x_axis.truncate().extend(inputs.sun_size).to_array(),
        up: axes.y_axis.truncate().extend(0.0).to_array(),
        top: color(sky.top, sky.exposure),
        horizon: color(sky.horizon, shown),
        ground: color(sky.ground, f32::from(u8::from(!sky.tone_mapping))),
        fog: color(sky.fog_color, sky.fog_density),
        counts: [chosen.suns.len() as u32, chosen.lights.len() as u32, 0, 0],
        cluster_begin: [0, 0, chosen.sun_layers, 0],
        shadow: [1.0 / inputs.texels.0 as f32, 1.0 / inputs.texels.1 as f32, 0.0, 0.0],
        ..SceneUniform::zeroed()
    };
    uniform.suns[..chosen.suns.len()].copy_from_slice(&chosen.suns);
    if let Some(cascades) = cascades {
        uniform.counts[2] = cascades.count as u32;
        for i in 0..cascades.count {
            uniform.cascades[i] = cascades.to_clip[i].to_cols_array_2d();
            uniform.cascade_ends[i] = cascades.ends[i];
            uniform.cascade_blends[i] = cascades.blends[i];
            uniform.cascade_texels[i] = cascades.texels[i];
        }
    }
    uniform
}

/// Returns true if the camera has perspective: its projection divides by the distance.
pub fn is_perspective(camera: &CameraFrame) -> bool {
    let last: Mat4 = camera.projection;
    last.w_axis.w.abs() < 0.5
}

#[cfg(test)]
mod tests {
    use super::super::culling::planes;
    use super::*;
    use engine_foundation::projections::perspective;

    #[test]
    fn the_uniform_has_the_layout_of_the_shader() {
        assert_eq!(size_of::<SceneUniform>() % 16, 0);
        assert_eq!((size_of::<SunUniform>(), size_of::<LightUniform>()), (32, 80));
        assert!(size_of::<SceneUniform>() <= 16384, "the least that adapters must take");
    }

    fn omni(x: f32) -> LightFrame {
        let (position, casts_shadows) = (Vec3::new(x, 0.0, 0.5), false);
        let kind = LightKind::Omni { position, range: 0.5, casts_shadows };
        LightFrame { kind, ..LightFrame::DEFAULT }
    }

    fn camera(projection: Mat4) -> CameraFrame {
        CameraFrame {
            view: Mat4::IDENTITY,
            projection,
            position: Vec3::ZERO,
            near: 0.1,
            far: 100.0,
        }
    }

    #[test]
    fn the_nearest_lights_are_chosen_up_to_the_limit() {
        let mut scene = SceneLights::default();
        let mut lights = vec![omni(9.0), omni(0.9), omni(-0.1)];
        let kind = LightKind::Sun { direction: Vec3::NEG_Z, casts_shadows: true };
        lights.extend([LightFrame { kind, ..LightFrame::DEFAULT }; 6]);
        scene.set(&lights);
        let mut chosen = ViewLights::default();
        let flat = camera(Mat4::IDENTITY);
        chosen.choose(1, &scene, &flat, &planes(&Mat4::IDENTITY));
        let found: Vec<f32> = chosen.lights.iter().map(|light| light.position[0]).collect();
        assert_eq!(found, [-0.1, 0.9]);
        assert_eq!(chosen.suns.len(), SUNS_MAX);
        let shadowed: Vec<f32> = chosen.suns.iter().map(|sun| sun.towards[3]).collect();
        assert_eq!(shadowed, [1.0, 0.0, 0.0, 0.0]);
        scene.set(&(0..5000).map(|i| omni(i as f32 * 0.0002)).collect::<Vec<_>>());
        chosen.choose(1, &scene, &flat, &planes(&Mat4::IDENTITY));
        assert_eq!((chosen.lights.len(), chosen.found), (VIEW_LIGHTS_MAX, 5000));
        assert!(chosen.lights.iter().all(|light| light.position[0] < 0.0002 * 4096.0));
    }

    #[test]
    fn a_replaced_sun_lasts_for_one_frame() {
        let mut scene = SceneLights::default();
        let kind = LightKind::Sun { direction: Vec3::NEG_Z, casts_shadows: true };
        scene.set(&[LightFrame { kind, ..LightFrame::DEFAULT }]);
        let (mut chosen, camera) = (ViewLights::default(), camera(Mat4::IDENTITY));
        let mut choose = |is_replaced: bool| {
            chosen.choose(1, &scene, &camera, &planes(&Mat4::IDENTITY));
            if is_replaced {
                chosen.replace_sun(Vec3::X, [0.5; 3]);
            }
            (chosen.suns[0], chosen.shadow_sun)
        };
        let of_scene = choose(false);
        assert_eq!(of_scene.1, Some(Vec3::NEG_Z));
        let (sun, shadow) = choose(true);
        assert_eq!((sun.towards, shadow), ([1.0, 0.0, 0.0, 1.0], Some(Vec3::NEG_X)));
        assert_eq!(choose(false), of_scene);
    }

    #[test]
    fn all_views_share_the_room_for_entries() {
        let mut scene = SceneLights::default();
        let (position, range) = (Vec3::ZERO, f32::INFINITY);
        let kind = LightKind::Omni { position, range, casts_shadows: false };
        scene.set(&[LightFrame { kind, ..omni(0.0) }; 500]);
        let camera = camera(perspective(1.0, 1.0, 0.1, 100.0));
        let (mut chosen, mut frame) = (ViewLights::default(), FrameLights::default());
        chosen.choose(1, &scene, &camera, &planes(&camera.projection));
        let mut builder = ClusterBuilder::default();
        let mut uniform = SceneUniform::zeroed();
        let mut add = || frame.add(&mut builder, &camera, &mut chosen, &mut uniform);
        let dropped: Vec<usize> = (0..60).map(|_| add()).collect();
        // Each light takes 3,456 entries: 151 of them are in each view, until there is no room.
        assert_eq!((dropped[0], dropped[1], dropped[59]), (349, 349, 500));
        assert!(frame.grid.len() <= FRAME_LIGHT_ENTRIES_MAX + 60 * 3456);
        frame.clear();
        assert_eq!(frame.add(&mut builder, &camera, &mut chosen, &mut uniform), 349);
    }
}
