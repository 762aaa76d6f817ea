//! The engine's own render configs, which are embedded in the engine as the files of `core/render`.

use super::source;
use engine_resource::render_config_data::RenderConfigData;
use engine_resource::resource_kind::{CompileContext, SourceForm, kind_names};
use engine_resource::resource_name::ResourceName;

/// The name of the engine's own frame in files that extend it.
pub const CORE: &str = "core";
/// The config that has the engine's own frame.
const FULL: &str = "core/render/full";

/// The names of all embedded configs, with their files.
pub static BUILT_IN_CONFIGS: &[(&str, &str)] = &[
    (FULL, include_str!("../../../../core/render/full.render_config")),
    ("core/render/mini", include_str!("../../../../core/render/mini.render_config")),
    ("core/render/guis", include_str!("../../../../core/render/guis.render_config")),
];

/// Returns the compiled form of an embedded config; `None`: there is none with that name.
pub fn built_in(name: &str) -> Option<RenderConfigData> {
    let name = if name == CORE { FULL } else { name };
    let (_, text) = BUILT_IN_CONFIGS.iter().find(|(known, _)| *known == name)?;
    let read = |path: &str| Err(engine_foundation::error!("{path}: there is no such file"));
    let resource = ResourceName::new(kind_names::RENDER_CONFIG, name);
    let (path, bytes) = (format!("{name}.render_config"), text.as_bytes().to_vec());
    let mut context = CompileContext::new(resource, path, SourceForm::Own, bytes, false, &read);
    let data = source::compile(&mut context);
    Some(data.unwrap_or_else(|error| panic!("an embedded render config: {error}")))
}
