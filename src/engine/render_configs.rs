//! The game's render config: which one the settings select, the values of its settings that the
//! game sets, and hot reload. A config that cannot be read is reported, and the one before it
//! stays.

use super::{Assets, Drawing, Engine};
use engine_foundation::error;
use engine_foundation::hash::IdString32;
use engine_foundation::suggest::hint;
use engine_foundation::{Error, log};
use engine_frame_packet::FramePacket;
use engine_frame_packet::debug_view::DebugView;
use engine_frame_packet::render_config::{GeneratorRun, RenderConfigFrame, ViewportSlot};
use engine_frame_packet::texture::TextureSlot;
use engine_render::render_config::{BUILT_IN_CONFIGS, built_in, read};
use engine_resource::reload_steps::{ChangedResources, ReloadStep};
use engine_resource::render_config_data::{ConfigSetting, FrameImage, RenderConfigData};
use engine_resource::resource_kind::kind_names;
use engine_resource::resource_name::ResourceName;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Maximum number of generators that scripts run in a frame.
pub const RUNS_MAX: usize = 256;
/// Value of the setting `render.config` for the engine's own frame.
const CORE: &str = "core";
/// The viewport of the engine's own frame.
const DEFAULT: &str = "default";

/// The render config of a game.
#[derive(Default)]
pub struct RenderConfigs {
    /// The name in the settings when they were read last.
    selected: Option<String>,
    active: Option<(String, Arc<RenderConfigData>)>,
    /// Values that the game has set, by the names of settings. They outlast reloads.
    values: BTreeMap<String, f32>,
    /// The debug view that is shown.
    debug_view: DebugView,
    /// Generators that scripts run in this frame, with their textures.
    runs: Vec<(String, TextureSlot)>,
}

/// Returns true if a render config is embedded in the engine.
pub fn is_built_in_config(name: &str) -> bool {
    name == CORE || BUILT_IN_CONFIGS.iter().any(|(known, _)| *known == name)
}

impl RenderConfigs {
    /// Reads the selected config, if it is another one than before.
    fn select(&mut self, assets: &mut Assets, name: &str) {
        if self.selected.as_deref() == Some(name) {
            return;
        }
        self.selected = Some(name.to_string());
        self.load(assets, name);
    }

    /// Reads a config. After an error, the one before it stays.
    fn load(&mut self, assets: &mut Assets, name: &str) {
        match load(assets, name) {
            Ok(data) => {
                let is_known =
                    |name: &String| data.as_ref().is_some_and(|data| data.setting(name).is_some());
                self.values.retain(|name, _| is_known(name));
                self.active = data.map(|data| (name.to_string(), Arc::new(data)));
            }
            Err(error) => {
                let stays = match &self.active {
                    Some((before, _)) => format!("'{before}' stays"),
                    None => "worlds are drawn by the engine's own frame".to_string(),
                };
                log::error(&format!("{}: {stays}", error.message));
            }
        }
    }

    pub fn debug_view(&self) -> DebugView {
        self.debug_view
    }

    /// Shows a debug view by its name.
    ///
    /// # Errors
    /// Returns an error if there is none with this name.
    pub fn set_debug_view(&mut self, name: &str) -> Result<(), Error> {
        let names = DebugView::NAMES.map(|(_, name)| name);
        self.debug_view = DebugView::by_name(name).ok_or_else(|| {
            let hint = hint(name, names);
            error!("there is no debug view '{name}'{hint}: use {}", names.join(", "))
        })?;
        Ok(())
    }

    /// Returns a setting of the active config, with its index.
    fn find(&self, name: &str) -> Result<&ConfigSetting, Error> {
        let settings = self.active.iter().flat_map(|(_, data)| &data.settings);
        settings.clone().find(|setting| setting.name == name).ok_or_else(|| {
            let config = match &self.active {
                Some((config, _)) => format!("the render config '{config}'"),
                None => "the engine's own frame".to_string(),
            };
            let hint = hint(name, settings.map(|setting| &setting.name[..]));
            error!("{config} has no setting '{name}'{hint}")
        })
    }

    /// Returns the value of a setting, and true if it is a switch.
    ///
    /// # Errors
    /// Returns an error if the active config has no such setting.
    pub fn setting(&self, name: &str) -> Result<(f32, bool), Error> {
        let setting = self.find(name)?;
        let value = self.values.get(name).copied().unwrap_or(setting.default);
        Ok((setting.limited(value), setting.is_switch))
    }

    /// Sets the value of a setting. Values outside of its range are limited to it.
    ///
    /// # Errors
    /// Returns an error if the active config has no such setting, or if it is of another type.
    pub fn set_setting(&mut self, name: &str, value: f32, is_switch: bool) -> Result<(), Error> {
        let setting = self.find(name)?;
        if setting.is_switch != is_switch {
            let wanted = if setting.is_switch { "true or false" } else { "a number" };
            return Err(error!("the render setting '{name}' must be {wanted}"));
        }
        let value = setting.limited(value);
        self.values.insert(name.to_string(), value);
        Ok(())
    }

    /// Runs a generator onto a texture in this frame.
    ///
    /// # Errors
    /// Returns an error if the active config has no such generator, if the generator uses another
    /// image, or if too many run already.
    pub fn run(&mut self, name: &str, onto: TextureSlot) -> Result<(), Error> {
        let generators = self.active.iter().flat_map(|(_, data)| &data.generators);
        let found = generators.clone().find(|generator| generator.name == name);
        let Some(generator) = found else {
            let hint = hint(name, generators.map(|generator| &generator.name[..]));
            return Err(error!("the render config has no generator '{name}'{hint}"));
        };
        let mut images = generator.inputs.iter().map(|input| input.image).chain([generator.output]);
        if images.any(|image| image != FrameImage::Target) {
            return Err(error!(
                "the generator '{name}' uses images of a view: one that draws onto a texture uses \
                 'target' alone"
            ));
        }
        if self.runs.len() >= RUNS_MAX {
            return Err(error!("{RUNS_MAX} generators run in this frame already (RUNS_MAX)"));
        }
        self.runs.push((name.to_string(), onto));
        Ok(())
    }

    /// Returns the id of the active config's viewport with a name.
    ///
    /// # Errors
    /// Returns an error if there is none.
    pub fn viewport(&self, name: &str) -> Result<IdString32, Error> {
        let known = || {
            let viewports = self.active.iter().flat_map(|(_, data)| &data.viewports);
            viewports.map(|viewport| &viewport.name[..])
        };
        match known().any(|known| known == name) || self.active.is_none() && name == DEFAULT {
            true => Ok(IdString32::new(name)),
            false => {
                let hint = hint(name, known());
                Err(error!("the render config has no viewport '{name}'{hint}"))
            }
        }
    }

    /// Returns the order of passes for a view; `frame` is the id of a viewport. After a reload that
    /// removed the viewport, the first one is used.
    pub(super) fn slot(&self, frame: Option<IdString32>) -> Option<ViewportSlot> {
        let (_, data) = self.active.as_ref()?;
        let is_chosen = |name: &str| Some(IdString32::new(name)) == frame;
        let index = data.viewports.iter().position(|viewport| is_chosen(&viewport.name));
        Some(ViewportSlot { config: 0, viewport: index.unwrap_or(0) as u32 })
    }

    /// Adds the config to a packet.
    fn fill(&mut self, packet: &mut FramePacket) {
        packet.debug_view = self.debug_view;
        let runs = std::mem::take(&mut self.runs);
        let Some((name, data)) = &self.active else { return };
        for (name, onto) in runs {
            let generator = data.generators.iter().position(|generator| generator.name == name);
            let run = |index: usize| GeneratorRun { config: 0, generator: index as u32, onto };
            packet.generator_runs.extend(generator.map(run));
        }
        let value = |setting: &ConfigSetting| {
            let value = self.values.get(&setting.name).copied();
            setting.limited(value.unwrap_or(setting.default))
        };
        let settings = data.settings.iter().map(value).collect();
        let (name, data) = (name.clone(), Arc::clone(data));
        packet.render_configs.push(RenderConfigFrame { name, data, settings });
    }
}

/// Reads a config by its name; `None`: the engine's own frame.
fn load(assets: &mut Assets, name: &str) -> Result<Option<RenderConfigData>, Error> {
    if name == CORE || name.is_empty() {
        return Ok(None);
    }
    if let Some(data) = built_in(name) {
        return Ok(Some(data));
    }
    let resource = ResourceName::new(kind_names::RENDER_CONFIG, name);
    let bytes = assets.store.read(&resource)?;
    let data = read(&bytes);
    data.map(Some).map_err(|error| error!("the render config '{name}': {}", error.message))
}

impl Drawing {
    /// Applies a changed render config (hot reload).
    pub fn reload_render_config(&mut self, assets: &mut Assets, changed: &ChangedResources) {
        let configs = &mut self.render_configs;
        let Some(name) = configs.selected.clone() else { return };
        if changed.has(ReloadStep::RenderConfigs, &name) {
            configs.load(assets, &name);
        }
    }
}

impl Engine {
    /// Adds the render config to a packet.
    pub(super) fn fill_render_config(&mut self, packet: &mut FramePacket) {
        self.select_render_config();
        self.drawing.render_configs.fill(packet);
    }

    /// Reads the render config that the settings select, if they have changed.
    pub fn select_render_config(&mut self) {
        let name = self.game.settings.text("render.config");
        self.drawing.render_configs.select(&mut self.assets, name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn configs() -> RenderConfigs {
        let setting = |name: &str, is_switch, max| ConfigSetting {
            name: name.to_string(),
            is_switch,
            default: 0.5,
            min: 0.0,
            max,
        };
        let mut data = built_in("core/render/mini").expect("it is embedded");
        data.settings = vec![setting("glow", false, 4.0), setting("lines", true, 1.0)];
        RenderConfigs {
            active: Some(("my_frame".to_string(), Arc::new(data))),
            ..RenderConfigs::default()
        }
    }

    #[test]
    fn settings_have_their_default_until_they_are_set() {
        let mut configs = configs();
        assert_eq!(configs.setting("glow").unwrap(), (0.5, false));
        configs.set_setting("glow", 9.0, false).unwrap();
        assert_eq!(configs.setting("glow").unwrap(), (4.0, false));
        configs.set_setting("glow", f32::NAN, false).unwrap();
        assert_eq!(configs.setting("glow").unwrap(), (0.5, false));
        let message = configs.set_setting("lines", 1.0, false).unwrap_err().message;
        assert_eq!(message, "the render setting 'lines' must be true or false");
        let message = configs.setting("glo").unwrap_err().message;
        assert_eq!(
            message,
            "the render config 'my_frame' has no setting 'glo', did you mean 'glow'?"
        );
        let message = RenderConfigs::default().setting("glow").unwrap_err().message;
        assert_eq!(message, "the engine's own frame has no setting 'glow'");
    }

    #[test]
    fn the_tool_page_lists_all_debug_views() {
        let page = include_str!("../../page/picture.js");
        let list = page.split("const DEBUG_VIEWS = [").nth(1).expect("it has the list");
        let list = list.split("];").next().expect("the list ends");
        let listed: Vec<&str> = list.split('"').skip(1).step_by(2).collect();
        assert_eq!(listed, DebugView::NAMES.map(|(_, name)| name));
    }

    #[test]
    fn debug_views_are_shown_by_their_names() {
        let mut configs = configs();
        configs.set_debug_view("normals").unwrap();
        let message = configs.set_debug_view("normal").unwrap_err().message;
        assert!(message.starts_with("there is no debug view 'normal', did you mean 'normals'?"));
        let mut packet = FramePacket::default();
        configs.fill(&mut packet);
        assert_eq!(packet.debug_view, DebugView::Normals);
        packet.clear();
        assert_eq!(packet.debug_view, DebugView::None);
    }

    #[test]
    fn packets_have_the_config_and_the_values() {
        let mut configs = configs();
        configs.set_setting("lines", 0.0, true).unwrap();
        let mut packet = FramePacket::default();
        configs.fill(&mut packet);
        assert_eq!(packet.render_configs[0].settings, [0.5, 0.0]);
        assert_eq!(packet.render_configs[0].name, "my_frame");
        let known = configs.viewport("default").unwrap();
        let slot = Some(ViewportSlot { config: 0, viewport: 0 });
        assert_eq!((configs.slot(Some(known)), configs.slot(None)), (slot, slot));
        assert_eq!(RenderConfigs::default().slot(None), None);
        let message = configs.viewport("defaul").unwrap_err().message;
        assert!(message.ends_with("no viewport 'defaul', did you mean 'default'?"), "{message}");
    }
}
