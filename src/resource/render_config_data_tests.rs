//! Tests of the compiled form of render configs: what is written is read, and damage is refused.

use crate::render_config_data::*;

fn sample() -> RenderConfigData {
    let setting = |name: &str, is_switch| ConfigSetting {
        name: name.to_string(),
        is_switch,
        default: 1.0,
        min: 0.0,
        max: 1.0,
    };
    let target = |name: &str, format, size| ConfigTarget { name: name.to_string(), format, size };
    RenderConfigData {
        settings: vec![setting("glow", true), setting("strength", false)],
        targets: vec![
            target("half", TargetFormat::Rgba16f, TargetSize::Scale(0.5)),
            target("map", TargetFormat::R8, TargetSize::Fixed(256, 128)),
        ],
        generators: vec![Generator {
            name: "bright".to_string(),
            shader: "passes/bright.pass".to_string(),
            source: "fn paint() {}".to_string(),
            inputs: vec![
                GeneratorInput { image: FrameImage::Light, nearest: false },
                GeneratorInput { image: FrameImage::Own(1), nearest: true },
            ],
            output: FrameImage::Own(0),
            blend: 3,
            condition: Some(0),
            variables: vec![0; 16],
            settings: vec![SettingVariable { setting: 1, offset: 4, is_integer: false }],
        }],
        viewports: vec![ConfigViewport {
            name: "default".to_string(),
            steps: vec![FrameStep::Pass("sky".to_string()), FrameStep::Generator(0)],
        }],
    }
}

#[test]
fn configs_survive_a_round_trip_and_every_cut_is_refused() {
    let bytes = sample().write();
    assert_eq!(RenderConfigData::read(&bytes).unwrap(), sample());
    for length in 0..bytes.len() {
        assert!(RenderConfigData::read(&bytes[..length]).is_err(), "{length}");
    }
}

#[track_caller]
fn refuses(change: impl FnOnce(&mut RenderConfigData), wanted: &str) {
    let mut data = sample();
    change(&mut data);
    let message = RenderConfigData::read(&data.write()).expect_err("damaged data").message;
    assert!(message.starts_with("it is damaged: ") && message.contains(wanted), "{message}");
}

#[test]
fn data_that_no_compiler_wrote_is_refused() {
    refuses(|data| data.settings[1].default = f32::NAN, "finite");
    refuses(|data| data.settings[1].default = 2.0, "'default' must be 0 to 1");
    refuses(|data| data.settings[1].max = f32::INFINITY, "finite");
    refuses(|data| data.targets[0].size = TargetSize::Scale(f32::NAN), "finite");
    refuses(|data| data.targets[0].size = TargetSize::Scale(0.0), "'scale'");
    refuses(|data| data.targets[1].size = TargetSize::Fixed(0, 4), "'size'");
    refuses(|data| data.targets[1].size = TargetSize::Fixed(70_000, 4), "'size'");
    refuses(|data| data.targets.truncate(1), "not the index of one of its 1 parts");
    refuses(|data| data.generators[0].output = FrameImage::Depth, "cannot draw onto");
    refuses(|data| data.generators[0].output = FrameImage::Own(1), "cannot draw onto");
    refuses(|data| data.generators[0].blend = 9, "no blend 9");
    refuses(|data| data.generators[0].condition = Some(2), "not the index");
    refuses(|data| data.generators[0].settings[0].offset = 13, "outside of its block");
    refuses(|data| data.generators[0].variables.push(0), "wrong size");
    refuses(|data| data.viewports.clear(), "no viewport");
    refuses(|data| data.viewports[0].steps = vec![FrameStep::Generator(1)], "not the index");
    let many = |data: &mut RenderConfigData| {
        data.generators = vec![data.generators[0].clone(); GENERATORS_MAX + 1];
    };
    refuses(many, "GENERATORS_MAX");
    let large = |data: &mut RenderConfigData| {
        data.targets = vec![data.targets[1].clone(); 2];
        data.targets[0].size = TargetSize::Fixed(16_384, 16_384);
        data.targets[1].size = TargetSize::Fixed(16_384, 16_385);
    };
    refuses(large, "'size'");
}

#[test]
fn the_memory_of_all_targets_is_limited() {
    let mut targets = sample().targets;
    assert_eq!(check_sizes(&targets), Ok(()));
    targets[1].size = TargetSize::Fixed(16_384, 16_384);
    targets.push(targets[1].clone());
    targets.push(targets[1].clone());
    assert!(check_sizes(&targets).unwrap_err().contains("FIXED_BYTES_MAX"));
    let scaled = ConfigTarget { size: TargetSize::Scale(2.0), ..sample().targets[0].clone() };
    assert!(check_sizes(&vec![scaled.clone(); 8]).is_ok());
    assert!(check_sizes(&vec![scaled; 9]).unwrap_err().contains("PIXEL_BYTES_MAX"));
}

#[test]
fn values_of_settings_are_limited_to_their_range() {
    let setting = ConfigSetting { default: 0.5, ..sample().settings[1].clone() };
    let limited = [f32::NAN, f32::INFINITY, -3.0, 0.25].map(|value| setting.limited(value));
    assert_eq!(limited, [0.5, 1.0, 0.0, 0.25]);
}
