//! Files of color tables and of lamps, from their text to measured pixels.

use super::forward::{SceneBuilder, spheres, view};
use super::local_lights::{DARK, linear};
use super::meshes::CUBE;
use super::{draw, renderer};
use engine::foundation::{Error, Vec3, error};
use engine::frame_packet::scene::{LightFrame, LightKind, LightTexture};
use engine::frame_packet::texture::{
    SamplerSettings, TextureChange, TextureSlot, TextureTexels, WrapMode,
};
use engine::frame_packet::{FramePacket, ViewTarget};
use engine::resource::resource_kind::{CompileContext, SourceForm};
use engine::resource::resource_name::ResourceName;
use engine::system::textures::{read_head, resource::TEXTURE};

const SLOT: TextureSlot = TextureSlot(5);

/// A lamp that shines down: 100 candelas below, 50 at 45 degrees, and none to the side and above.
const LAMP: &str = "IESNA:LM-63-2002\n[TEST] lamp\nTILT=NONE\n1 1000 1 3 1 1 2 0 0 0\n1 1 10\n\
    0 45 90\n0\n100 50 0\n";

/// Compiles the text of a file as a texture.
fn texels(path: &str, text: &str) -> TextureTexels {
    let no_file = |path: &str| -> Result<Vec<u8>, Error> { Err(error!("{path} is not needed")) };
    let name = ResourceName::new("texture", "file");
    let (path, bytes) = (path.to_string(), text.as_bytes().to_vec());
    let mut context = CompileContext::new(name, path, SourceForm::Raw, bytes, false, &no_file);
    let bytes = (TEXTURE.compile)(&mut context).unwrap_or_else(|error| panic!("{error}"));
    let (head, start) = read_head(&bytes).unwrap_or_else(|error| panic!("{error}"));
    TextureTexels {
        width: head.width,
        height: head.height,
        levels: head.levels,
        format: head.format,
        sampling: SamplerSettings { nearest: false, wrap: WrapMode::Clamp },
        bytes: bytes.into(),
        start,
    }
}

/// Returns a lamp in front of a wall whose front is at y = 2.8. The lamp has the texture of a file
/// or none.
fn lamp(has_file: bool) -> FramePacket {
    let mut builder = SceneBuilder::new();
    builder.sky(DARK);
    let white = builder.matte([0.8, 0.8, 0.8]);
    builder.add_at(CUBE, white, Vec3::new(0.0, 3.0, 2.0), Vec3::new(5.0, 0.2, 2.0));
    builder.packet.textures =
        vec![TextureChange::Set { slot: SLOT, texels: texels("a.ies", LAMP) }];
    let kind =
        LightKind::Omni { position: Vec3::new(0.0, 1.6, 1.5), range: 9.0, casts_shadows: false };
    let texture = LightTexture { slot: SLOT, axis: Vec3::NEG_Z, right: Vec3::X };
    let texture = has_file.then_some(texture);
    builder.light(LightFrame { kind, texture, color: [1.0; 3], ..LightFrame::DEFAULT });
    builder.build(vec![view(Vec3::new(0.0, -6.0, 1.5), Vec3::new(0.0, 2.0, 1.5))])
}

#[test]
fn a_lamp_of_a_file_shines_as_it_was_measured() {
    let Some(mut renderer) = renderer(false) else { return };
    let [plain, measured] =
        [false, true].map(|has_file| draw(&mut renderer, vec![lamp(has_file)], ViewTarget::Screen));
    let camera = lamp(true).views[0].camera;
    let part_at = |point: Vec3| {
        let clip = (camera.projection * camera.view) * point.extend(1.0);
        let at = |value: f32, length: u32| ((value * 0.5 + 0.5) * length as f32) as u32;
        let pixel = (at(clip.x / clip.w, plain.width), at(-clip.y / clip.w, plain.height));
        let usual = linear(&plain, pixel).x;
        assert!(usual > 0.05, "{point} is lit without a file: {usual}");
        linear(&measured, pixel).x / usual
    };
    // At 45 degrees from its axis.
    let below = part_at(Vec3::new(0.0, 2.8, 0.3));
    assert!((below - 0.5).abs() < 0.06, "{below}");
    // Above the lamp.
    assert_eq!(part_at(Vec3::new(0.0, 2.8, 2.0)), 0.0);
    // 67.5 degrees from its axis.
    let aside = part_at(Vec3::new(0.0, 2.8, 1.0));
    assert!((aside - 0.25).abs() < 0.06, "{aside}");
}

#[test]
fn a_color_table_of_a_file_grades_a_view() {
    let Some(mut renderer) = renderer(false) else { return };
    let plain = draw(&mut renderer, vec![spheres()], ViewTarget::Screen);
    // Red and blue change places.
    let mut text = "LUT_3D_SIZE 2\n".to_string();
    for at in 0..8 {
        let [red, green, blue] = [at & 1, at >> 1 & 1, at >> 2];
        text += &format!("{blue} {green} {red}\n");
    }
    let mut packet = spheres();
    packet.textures.push(TextureChange::Set { slot: SLOT, texels: texels("a.cube", &text) });
    packet.views[0].environment_textures.color_table = Some(SLOT);
    let graded = draw(&mut renderer, vec![packet], ViewTarget::Screen);
    let pixels = plain.rgba.chunks_exact(4).zip(graded.rgba.chunks_exact(4));
    let worst = pixels.clone().map(|(a, b)| (0..3).map(|i| a[i].abs_diff(b[2 - i])).max());
    assert!(worst.flatten().all(|difference| difference <= 3), "red and blue have changed places");
    assert!(pixels.clone().any(|(a, _)| a[0].abs_diff(a[2]) > 20), "the picture has colors");
}
