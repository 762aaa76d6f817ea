//! `engine explain GAME frame`: the passes that draw a view, and its targets with their sizes and
//! bytes.

use engine_foundation::Error;
use engine_render::render_config::{FrameReport, PassReport, TargetReport, read, report};
use engine_resource::render_config_data::{ConfigSetting, RenderConfigData};

/// Size of the view that the description is for.
const SIZE: (u32, u32) = (1920, 1080);
/// Samples per pixel of worlds, as with `render.smooth_edges`.
const SAMPLES: u32 = 4;

/// Describes a compiled render config.
pub fn of_config(name: &str, bytes: &[u8]) -> Result<String, Error> {
    Ok(describe(name, &read(bytes)?))
}

/// Describes all viewports of a render config.
pub fn describe(name: &str, data: &RenderConfigData) -> String {
    let (width, height) = SIZE;
    let mut text = format!(
        "The frame of the render config '{name}', for a view of {width} x {height} pixels with \
         {SAMPLES} samples per pixel.\n"
    );
    text += "\nBefore all views:\n  pre-skinning             skins meshes that at least two passes \
             draw, on graphics cards with compute shaders\n";
    if !data.settings.is_empty() {
        text += "\nSettings:\n";
        data.settings.iter().for_each(|setting| text += &of_setting(setting));
    }
    for (index, viewport) in data.viewports.iter().enumerate() {
        let report = report(data, index, SIZE, SAMPLES);
        text += &format!("\nViewport '{}':\n", viewport.name);
        report.passes.iter().for_each(|pass| text += &of_pass(pass));
        text += &of_targets(&report);
    }
    text
}

fn of_setting(setting: &ConfigSetting) -> String {
    match setting.is_switch {
        true => format!("  {} = {}\n", setting.name, setting.default != 0.0),
        false => {
            let ConfigSetting { name, default, min, max, .. } = setting;
            format!("  {name} = {default}, from {min} to {max}\n")
        }
    }
}

fn of_pass(pass: &PassReport) -> String {
    let mut text = format!("  {:<24}", pass.name);
    if !pass.reads.is_empty() {
        text += &format!(" reads {}", pass.reads.join(", "));
    }
    text += &format!(" -> {}", pass.writes.join(", "));
    if pass.is_generator {
        text += "  (generator";
        if let Some(setting) = pass.settings.first() {
            text += &format!(", while {setting}");
        }
        text += ")";
    }
    text + "\n"
}

fn of_targets(report: &FrameReport) -> String {
    let mut text = String::from("  Targets:\n");
    for target in &report.targets {
        let TargetReport { name, format, size: (width, height), bytes, shares } = target;
        let memory = match shares {
            Some(other) => format!("shares the texture of {other}"),
            None => mebibytes(*bytes),
        };
        text += &format!("    {name:<22} {width} x {height}  {format}  {memory}\n");
    }
    text + &format!("    together: {}\n", mebibytes(report.bytes()))
}

fn mebibytes(bytes: u64) -> String {
    format!("{:.2} MiB", bytes as f64 / f64::from(1 << 20))
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine_render::render_config::built_in;

    #[test]
    fn the_engines_own_frame_is_described() {
        let text = describe("core", &built_in("core").expect("it is embedded"));
        assert!(text.contains("Viewport 'default':"), "{text}");
        let first = "Before all views:\n  pre-skinning             skins meshes that at least ";
        assert!(text.contains(first), "{text}");
        assert!(
            text.contains("  sky                      reads sky_maps, fog -> light\n"),
            "{text}"
        );
        let light = "light                  1920 x 1080  rgba16f, 4 per pixel  63.28 MiB";
        assert!(text.contains(light), "{text}");
        assert!(text.contains("together: 94.92 MiB"), "{text}");
    }
}
