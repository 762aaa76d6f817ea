//! Tests of the error of clips of two examples: measured at many times, between the curves of
//! the files and the clips that the engine plays.

use super::model_clips::{morph_ranges, skeleton_of, source_clip};
use crate::skeleton_file;
use engine_animation::{
    AnimationFile, Clip, ClipPlayer, ClipSettings, KeyForm, Pose, Skeleton, SourceClip, compile,
    model_matrices, source_pose,
};
use engine_foundation::{Vec3, error};
use engine_models::data::ModelData;
use engine_models::import_animations;
use engine_resource::resource_kind::{CompileContext, SourceForm, kind_names};
use engine_resource::resource_name::ResourceName;
use std::path::Path;

/// Times at which errors are measured, for each second.
const RATE: f32 = 960.0;
/// Largest ratio of an error to its tolerance, between the times at which the compiler measures it.
const BETWEEN: f32 = 1.04;

/// Reads the bones, the curves and the settings of a file of an example.
fn read(example: &str, file: &str) -> (ModelData, Vec<(String, AnimationFile)>) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(example);
    let read =
        |name: &str| std::fs::read(folder.join(name)).map_err(|error| error!("{name}: {error}"));
    let (stem, ending) = file.rsplit_once('.').unwrap();
    let name = ResourceName::new(kind_names::MODEL, stem);
    let is_skeleton = ending == "skeleton";
    let form = if is_skeleton { SourceForm::Own } else { SourceForm::Raw };
    let bytes = read(file).unwrap();
    let mut compiling = CompileContext::new(name, file.to_string(), form, bytes, false, &read);
    match is_skeleton {
        true => skeleton_file::read_rig(&mut compiling).unwrap(),
        false => (import_animations(&mut compiling).unwrap(), Vec::new()),
    }
}

/// Returns the largest ratio of a displacement of points around the bones to the tolerance.
fn error_of(
    source: &SourceClip,
    skeleton: &Skeleton,
    (compiled, settings): (&Clip, &ClipSettings),
) -> f32 {
    let own = |name: &String| settings.joints.iter().find(|joint| joint.0 == *name);
    let tolerance = |name: &String| own(name).map_or(settings.tolerance, |joint| joint.1);
    let tolerances: Vec<f32> = skeleton.names().iter().map(tolerance).collect();
    let shell = settings.shell;
    let count = (source.seconds * RATE) as u32;
    let mut player = ClipPlayer::new(compiled, skeleton);
    let rest = Pose::rest(skeleton);
    let (mut exact, mut shown) = (Pose::default(), Pose::default());
    let (mut wanted, mut found) = (Vec::new(), Vec::new());
    let mut worst = 0.0_f32;
    for step in 0..=count {
        let time = source.seconds * step as f32 / count as f32;
        source_pose(source, skeleton, time, &mut exact);
        player.seek(compiled, time);
        player.sample(&rest, &mut shown);
        model_matrices(skeleton, &exact, &mut wanted);
        model_matrices(skeleton, &shown, &mut found);
        for ((wanted, found), tolerance) in wanted.iter().zip(&found).zip(&tolerances) {
            for point in [[shell, 0.0, 0.0], [0.0, shell, 0.0], [0.0, 0.0, shell]] {
                let [a, b] = [wanted, found].map(|it| Vec3::from_array(it.transform_point(point)));
                worst = worst.max(a.distance(b) / tolerance);
            }
        }
    }
    worst
}

/// Checks all clips of a file in each form, and returns their number.
fn check(example: &str, file: &str) -> usize {
    let (model, files) = read(example, file);
    let skeleton = skeleton_of(&model).unwrap();
    let morphs = morph_ranges(&model);
    for animation in &model.animations {
        let source = source_clip(animation, &morphs);
        let own = files.iter().find(|file| file.0 == animation.name);
        let own = own.map_or(ClipSettings::DEFAULT, |file| file.1.settings.clone());
        for keys in KeyForm::ALL {
            let settings = ClipSettings { keys, ..own.clone() };
            let compiled = compile(&source, &skeleton, &settings).unwrap();
            let name = format!("{example}, {}, {}", animation.name, keys.name());
            assert!(compiled.error_ratio <= 1.0, "{name}: {}", compiled.error_ratio);
            assert_eq!(compiled.warning, None, "{name}");
            let error = error_of(&source, &skeleton, (&compiled.clip, &settings));
            assert!(error <= BETWEEN, "{name}: {error} times the tolerance");
        }
    }
    model.animations.len()
}

#[test]
fn clips_of_the_plaza_and_the_puppet_are_within_their_tolerance() {
    assert_eq!(check("plaza", "models/figure.glb"), 14);
    assert!(check("puppet", "units/flame.skeleton") > 0);
    assert!(check("puppet", "units/puppet_body.skeleton") > 3);
}
