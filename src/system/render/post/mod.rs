//! Post effects: what happens to the light of a view before it is shown. Exposure, bloom, tone
//! mappers, color grading, lens and film effects, and anti-aliasing of the tone-mapped image. A
//! view without effects has no plan here, and the scene's own tone mapping shows it.
//!
//! A plan is a list of full-screen steps (steps.rs), which view_encode.rs executes as rows of the
//! table of render passes. No resources are created before the first view with an effect.

mod color_math;
mod color_tables;
mod effects;
mod exposure_states;
mod images;
mod resources;
mod smaa_area;
mod steps;

pub use effects::{compensated, has_state};
pub use exposure_states::ViewKey;
pub use resources::LightLayouts;
pub use steps::{PostPlan, PostStep};

use super::device::GpuDevice;
use super::forward::ViewRectangle;
use super::render_passes::PassResource;
use super::scene::SceneUniform;
use super::textures::TextureTable;
use super::{RenderQuality, RendererEvent};
use color_tables::{ColorTable, ColorTables};
use effects::{Effects, PostUniform, ViewState};
use engine_frame_packet::shading_environment::ShadingEnvironment;
use engine_frame_packet::texture::TextureSlot;
use exposure_states::{ExposureStates, FrameExposure};
use images::{EXPOSURE_FORMAT, ImageKind, ImageMaker, PostImage, SizedImages};
use resources::{PostPipeline, PostResources, StepInputs};

/// A view that may have effects.
pub struct PostView<'a> {
    pub key: ViewKey,
    pub environment: &'a ShadingEnvironment,
    pub color_table: Option<TextureSlot>,
    pub uniform: &'a SceneUniform,
    pub area: ViewRectangle,
    /// True if its light has one sample per pixel, as screen-space effects leave it.
    pub is_resolved: bool,
    /// Size of its light and depth.
    pub size: (u32, u32),
    /// Bind groups of its light: alone, and with its depth.
    pub light: wgpu::BindGroup,
    pub light_and_depth: wgpu::BindGroup,
    /// Seconds of game time.
    pub seconds: f64,
}

/// The post effects of all views.
pub struct PostEffects {
    light: LightLayouts,
    samples: u32,
    quality: RenderQuality,
    resources: Option<Box<PostResources>>,
    maker: ImageMaker,
    images: SizedImages,
    exposures: ExposureStates,
    tables: ColorTables,
    plans: Vec<Option<PostPlan>>,
    uniforms: Vec<PostUniform>,
    frame: u64,
    /// True if it was reported that there is no automatic exposure.
    exposure_reported: bool,
}

/// A view while its plan is made.
struct Planning<'a> {
    view: &'a PostView<'a>,
    effects: Effects,
    /// Offset of its uniform.
    offset: u32,
    exposure: Option<FrameExposure>,
    table: PostImage,
}

impl PostEffects {
    pub fn new(light: LightLayouts, samples: u32, quality: RenderQuality) -> PostEffects {
        PostEffects {
            light,
            samples,
            quality,
            resources: None,
            maker: ImageMaker::default(),
            images: SizedImages::default(),
            exposures: ExposureStates::default(),
            tables: ColorTables::default(),
            plans: Vec::new(),
            uniforms: Vec::new(),
            frame: 0,
            exposure_reported: false,
        }
    }

    pub fn set_quality(&mut self, quality: RenderQuality) {
        self.quality = quality;
    }

    /// Plans the effects of a frame's views, and creates all that they need. Returns the number of
    /// copied bytes.
    pub fn prepare(
        &mut self,
        device: &GpuDevice,
        textures: &TextureTable,
        views: &[Option<PostView>],
        events: &mut Vec<RendererEvent>,
    ) -> u64 {
        self.frame += 1;
        self.plans.clear();
        self.uniforms.clear();
        let mut choose = |view: &PostView| self.choose((device, textures), view, &mut *events);
        let chosen: Vec<Option<(Effects, Option<ColorTable>)>> =
            views.iter().map(|view| choose(view.as_ref()?)).collect();
        let has_effects = chosen.iter().any(Option::is_some);
        if !has_effects && self.resources.is_none() {
            return 0;
        }
        let mut resources = self.resources.take().unwrap_or_else(|| {
            let light = self.light.clone();
            Box::new(PostResources::new(device, &mut self.maker, light, self.samples))
        });
        resources.reserve(device, views.len());
        for (view, effects) in views.iter().zip(chosen) {
            let plan = view.as_ref().zip(effects).map(|(view, (effects, table))| {
                let planning = self.begin(device, &mut resources, view, (effects, table));
                self.plan(device, &mut resources, &planning)
            });
            self.plans.push(plan);
        }
        let copied = match self.uniforms.is_empty() {
            true => 0,
            false => resources.copy_uniforms(device, &self.uniforms),
        };
        let dropped = self.images.drop_unused(self.frame);
        let tables_dropped = self.tables.drop_unused(self.frame);
        if self.exposures.drop_unused(self.frame) || dropped || tables_dropped {
            resources.forget_groups();
        }
        self.resources = Some(resources);
        copied
    }

    /// Chooses the effects of a view; `None`: it has none.
    fn choose(
        &mut self,
        (device, textures): (&GpuDevice, &TextureTable),
        view: &PostView,
        events: &mut Vec<RendererEvent>,
    ) -> Option<(Effects, Option<ColorTable>)> {
        if !view.area.has_post {
            return None;
        }
        let maps = view.uniform.ground[3] < 0.5;
        let mut effects = Effects::new(view.environment, &self.quality, maps);
        if effects.auto_exposure && !device.renders_to(EXPOSURE_FORMAT) {
            effects.auto_exposure = false;
            if !std::mem::replace(&mut self.exposure_reported, true) {
                let name = &device.info.name;
                let message = format!(
                    "the adapter {name} cannot draw onto {EXPOSURE_FORMAT:?}: views keep the \
                     exposure of their sky instead of an automatic one"
                );
                events.push(RendererEvent::Fault { message });
            }
        }
        let is_strong = view.environment.tone.color_table_strength > 0.0;
        let table = view.color_table.filter(|_| is_strong).and_then(|slot| {
            let maker = (device, &mut self.maker);
            self.tables.get(maker, textures, (slot, self.frame), events)
        });
        effects.color_table = table.is_some();
        (!effects.is_off(maps)).then_some((effects, table))
    }

    /// Begins the plan of a view with its uniform and its exposure.
    fn begin<'a>(
        &mut self,
        device: &GpuDevice,
        resources: &mut PostResources,
        view: &'a PostView<'a>,
        (effects, table): (Effects, Option<ColorTable>),
    ) -> Planning<'a> {
        let offset = resources.offset(self.uniforms.len());
        let exposure = effects.auto_exposure.then(|| {
            let at = (self.frame, view.seconds);
            self.exposures.advance(device, &mut self.maker, &view.key, at)
        });
        let state = ViewState {
            effects,
            size: view.size,
            encodes: !view.area.format.is_srgb(),
            seconds: view.seconds,
            step: exposure.as_ref().and_then(|exposure| exposure.step),
            table_side: table.as_ref().map_or(1, |table| table.side),
        };
        self.uniforms.push(PostUniform::new(view.environment, view.uniform, &state));
        let table = table.map_or_else(|| resources.neutral_table.clone(), |table| table.image);
        Planning { view, effects, offset, exposure, table }
    }

    fn plan(
        &mut self,
        device: &GpuDevice,
        resources: &mut PostResources,
        planning: &Planning,
    ) -> PostPlan {
        let exposed = match &planning.exposure {
            Some(exposure) => exposure.now.clone(),
            None => resources.neutral_exposure.clone(),
        };
        let exposure = self.exposure_steps(device, resources, planning);
        let mut images = |kind| {
            let (size, frame) = (planning.view.size, self.frame);
            self.images.get(device, &mut self.maker, size, kind, frame).to_vec()
        };
        let chain = if planning.effects.bloom { images(ImageKind::Bloom) } else { Vec::new() };
        let needs_image = planning.effects.needs_image();
        let shown = if needs_image { images(ImageKind::Shown) } else { Vec::new() };
        let apart = planning.effects.smooths_apart();
        let smoothed = if apart { images(ImageKind::Smoothed) } else { Vec::new() };
        let straightens = planning.effects.straightening;
        let edges = if straightens { images(ImageKind::Edges) } else { Vec::new() };
        let edges = match &edges[..] {
            [edges, weights] => Some((edges, weights, resources.areas(device, &mut self.maker))),
            _ => None,
        };
        let mut maker = StepMaker { device, resources, planning, exposed: &exposed };
        let bloom = maker.bloom_steps(&chain);
        let smoothed = smoothed.first().map(|image| (image, edges));
        let (image, last) = maker.shown_steps(chain.first(), shown.first(), smoothed);
        PostPlan { exposure, bloom, image, last }
    }

    fn exposure_steps(
        &mut self,
        device: &GpuDevice,
        resources: &mut PostResources,
        planning: &Planning,
    ) -> Vec<PostStep> {
        let Some(exposure) = &planning.exposure else { return Vec::new() };
        let black = resources.black.clone();
        let mut maker = StepMaker { device, resources, planning, exposed: &exposure.before };
        let FrameExposure { cells, histogram, now, .. } = exposure;
        vec![
            maker.onto(cells, "metering", PostPipeline::Meter, &black),
            maker.onto(histogram, "histogram", PostPipeline::Histogram, cells),
            maker.onto(now, "exposure", PostPipeline::Adapt, histogram),
        ]
    }

    /// Returns the steps of a view that write a resource.
    pub fn steps(&self, view: usize, resource: PassResource) -> &[PostStep] {
        let Some(plan) = self.plan_of(view) else { return &[] };
        match resource {
            PassResource::Exposure => &plan.exposure,
            PassResource::Bloom => &plan.bloom,
            PassResource::Image => &plan.image,
            _ => &[],
        }
    }

    /// Returns the plan of a view; `None`: it has no effects.
    pub fn plan_of(&self, view: usize) -> Option<&PostPlan> {
        self.plans.get(view)?.as_ref()
    }

    /// Returns the bytes of all images on the adapter.
    pub fn bytes(&self) -> u64 {
        self.images.bytes() + self.exposures.bytes() + self.tables.bytes()
    }
}

/// The images of SMAA: edges, weights and areas.
type EdgeImages<'a> = (&'a PostImage, &'a PostImage, PostImage);

/// Makes the steps of a view.
struct StepMaker<'a> {
    device: &'a GpuDevice,
    resources: &'a mut PostResources,
    planning: &'a Planning<'a>,
    /// The exposure that steps read.
    exposed: &'a PostImage,
}

impl StepMaker<'_> {
    fn step(&mut self, label: &'static str, key: PostPipeline, picture: &PostImage) -> PostStep {
        let inputs = StepInputs { picture, exposure: self.exposed, table: &self.planning.table };
        let view = self.planning.view;
        let light = match (key.is_deep(), key.reads_light()) {
            (true, _) => Some(view.light_and_depth.clone()),
            (false, true) => Some(view.light.clone()),
            (false, false) => None,
        };
        PostStep {
            label,
            target: None,
            blend: None,
            pipeline: self.resources.pipeline(self.device, key, view.is_resolved),
            group: self.resources.group(self.device, inputs),
            offset: self.planning.offset,
            light,
        }
    }

    fn onto(
        &mut self,
        target: &PostImage,
        label: &'static str,
        key: PostPipeline,
        picture: &PostImage,
    ) -> PostStep {
        PostStep { target: Some(target.view.clone()), ..self.step(label, key, picture) }
    }

    /// Returns the steps that fill a bloom chain, and add it up in its first image.
    fn bloom_steps(&mut self, chain: &[PostImage]) -> Vec<PostStep> {
        let Some(first) = chain.first() else { return Vec::new() };
        let black = self.resources.black.clone();
        let mut steps = vec![self.onto(first, "bloom", PostPipeline::BloomFirst, &black)];
        for pair in chain.windows(2) {
            steps.push(self.onto(&pair[1], "bloom", PostPipeline::BloomDown, &pair[0]));
        }
        let scatter = self.planning.view.environment.post.bloom_scatter;
        for pair in chain.windows(2).rev() {
            let step = self.onto(&pair[0], "bloom", PostPipeline::BloomUp, &pair[1]);
            steps.push(PostStep { blend: Some(scatter), ..step });
        }
        steps
    }

    /// Returns the steps of SMAA from one image to another.
    fn edge_steps(
        &mut self,
        shown: &PostImage,
        (edges, weights, areas): &EdgeImages,
        smoothed: &PostImage,
    ) -> [PostStep; 3] {
        // Their second image is read like the exposure of other steps.
        let mut step = |target, label, key, picture, exposed| {
            let resources = &mut *self.resources;
            let (device, planning) = (self.device, self.planning);
            let mut maker = StepMaker { device, resources, planning, exposed };
            maker.onto(target, label, key, picture)
        };
        [
            step(edges, "edges", PostPipeline::Edges, shown, areas),
            step(weights, "edge weights", PostPipeline::EdgeWeights, edges, areas),
            step(smoothed, "anti-aliasing", PostPipeline::MixEdges, shown, weights),
        ]
    }

    /// Returns the steps that make the tone-mapped image, if there is one, and the last step.
    fn shown_steps(
        &mut self,
        bloom: Option<&PostImage>,
        shown: Option<&PostImage>,
        smoothed: Option<(&PostImage, Option<EdgeImages>)>,
    ) -> (Vec<PostStep>, PostStep) {
        let ViewRectangle { format, has_depth, .. } = self.planning.view.area;
        let black = self.resources.black.clone();
        let bloom = bloom.unwrap_or(&black);
        let (grading, finishing) =
            (self.planning.effects.of_grading(), self.planning.effects.of_finishing());
        let Some(shown) = shown else {
            let key = PostPipeline::Grade(grading, format, has_depth);
            return (Vec::new(), self.step("post", key, bloom));
        };
        let mut steps = vec![self.onto(shown, "post", PostPipeline::GradeImage(grading), bloom)];
        let mut finished = shown;
        if let Some((smoothed, Some(edges))) = &smoothed {
            steps.extend(self.edge_steps(shown, edges, smoothed));
            finished = smoothed;
        } else if let Some((smoothed, None)) = smoothed {
            let smoothing = Effects { antialiasing: true, ..Effects::default() };
            steps.push(self.onto(
                smoothed,
                "anti-aliasing",
                PostPipeline::Smooth(smoothing),
                shown,
            ));
            finished = smoothed;
        }
        let key = PostPipeline::Finish(finishing, format, has_depth);
        (steps, self.step("finish", key, finished))
    }
}
