//! One step of a post effect: a full-screen draw from images onto an image. Creates nothing.

/// A full-screen draw onto an image, or for the last step of a view onto its target.
pub struct PostStep {
    pub label: &'static str,
    /// The image; `None` for the view's target.
    pub target: Option<wgpu::TextureView>,
    /// How much of the step covers the image; `None`: it replaces the image.
    pub blend: Option<f32>,
    pub pipeline: wgpu::RenderPipeline,
    pub group: wgpu::BindGroup,
    /// Offset of the view's uniform.
    pub offset: u32,
    /// Bind group of the scene's light or depth, if the step reads them.
    pub light: Option<wgpu::BindGroup>,
}

impl PostStep {
    pub fn draw(&self, to: &mut wgpu::RenderPass) {
        to.set_pipeline(&self.pipeline);
        to.set_bind_group(0, &self.group, &[self.offset]);
        if let Some(light) = &self.light {
            to.set_bind_group(1, light, &[]);
        }
        if let Some(part) = self.blend {
            let part = f64::from(part);
            to.set_blend_constant(wgpu::Color { r: part, g: part, b: part, a: part });
        }
        to.draw(0..3, 0..1);
    }
}

/// The steps of a view's post effects, by the resource that they write.
pub struct PostPlan {
    pub exposure: Vec<PostStep>,
    pub bloom: Vec<PostStep>,
    pub image: Vec<PostStep>,
    /// The step that draws onto the view's target.
    pub last: PostStep,
}

impl PostPlan {
    /// Returns the images that the steps draw onto, each once, with their names.
    pub fn named_images(&self) -> Vec<(String, &wgpu::TextureView)> {
        let mut all: Vec<(String, &wgpu::TextureView)> = Vec::new();
        for step in self.exposure.iter().chain(&self.bloom).chain(&self.image) {
            let known = |image: &wgpu::TextureView| all.iter().any(|(_, known)| *known == image);
            if let Some(image) = step.target.as_ref().filter(|image| !known(image)) {
                let size = (image.texture().width(), image.texture().height());
                all.push((format!("{} {} x {}", step.label, size.0, size.1), image));
            }
        }
        all
    }
}
