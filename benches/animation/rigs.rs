//! Skeletons and clips of the animation benchmarks, generated from numbers.

use engine::foundation::random::Random;
use engine::foundation::{Quat, Vec3};
use engine::system::animation::{
    BoneTransform, Clip, ClipInfo, ClipSettings, ModelMatrix, Pose, RootMotion, Skeleton,
    SourceClip, SourceInterpolation, SourceTrack, TrackProperty, compile,
};

pub const BONES: usize = 60;
pub const SKELETONS: usize = 10;
/// Clips of each skeleton.
pub const CLIPS: usize = 5;
const KEYS_PER_SECOND: f32 = 30.0;
/// Bones of a person: their parent, their length in metres, and how far they turn in radians.
const LIMBS: [(u16, f32, f32); BONES] = limbs();

/// A skeleton with its clips.
pub struct Rig {
    pub skeleton: Skeleton,
    pub rest: Pose,
    pub joints: Vec<(u16, ModelMatrix)>,
    pub clips: Vec<Clip>,
    pub infos: Vec<ClipInfo>,
    /// Largest displacement of the compiled clips in metres.
    pub error: f32,
}

/// The hips, a back of four bones, a head, two arms with hands of fifteen bones, two legs of five.
const fn limbs() -> [(u16, f32, f32); BONES] {
    let mut all = [(0, 0.1, 0.1); BONES];
    let mut next = 0;
    let chains: [(u16, usize, f32, f32); 16] = [
        (0, 1, 1.0, 0.15),
        (0, 4, 0.13, 0.12),
        (4, 2, 0.1, 0.2),
        (4, 4, 0.22, 0.6),
        (10, 3, 0.03, 0.3),
        (10, 3, 0.03, 0.3),
        (10, 3, 0.03, 0.3),
        (10, 3, 0.03, 0.3),
        (4, 4, 0.22, 0.6),
        (26, 3, 0.03, 0.3),
        (26, 3, 0.03, 0.3),
        (26, 3, 0.03, 0.3),
        (26, 3, 0.03, 0.3),
        (0, 5, 0.35, 0.5),
        (0, 5, 0.35, 0.5),
        (6, 11, 0.02, 0.05),
    ];
    let mut chain = 0;
    while chain < chains.len() {
        let (parent, count, length, turn) = chains[chain];
        let mut bone = 0;
        while bone < count && next < BONES {
            all[next] = (if bone == 0 { parent } else { next as u16 - 1 }, length, turn);
            next += 1;
            bone += 1;
        }
        chain += 1;
    }
    all
}

fn number(random: &mut Random) -> f32 {
    random.range_i64(-1000, 1000) as f32 / 1000.0
}

/// A skeleton with its motions before they are compiled.
pub struct SourceRig {
    pub skeleton: Skeleton,
    pub motions: Vec<SourceClip>,
}

pub fn rigs() -> Vec<Rig> {
    source_rigs().into_iter().map(compiled).collect()
}

pub fn source_rigs() -> Vec<SourceRig> {
    (0..SKELETONS as u64).map(source_rig).collect()
}

fn source_rig(seed: u64) -> SourceRig {
    let mut random = Random::seed(seed + 100);
    let bone = |index: usize| {
        let (parent, length, _) = LIMBS[index];
        let aside = Vec3::new(number(&mut random), number(&mut random), 0.3).normalize();
        let rest = BoneTransform {
            position: aside * length * (1.0 + 0.1 * number(&mut random)),
            rotation: Quat::from_axis_angle(aside, 0.3),
            scale: Vec3::ONE,
        };
        (format!("bone_{index}"), (index > 0).then_some(parent), rest)
    };
    let skeleton = Skeleton::new((0..BONES).map(bone).collect()).expect("the skeleton is valid");
    let motion =
        |index: usize| motion(&skeleton, seed * 10 + index as u64, 1.0 + 0.7 * index as f32);
    let motions = (0..CLIPS).map(motion).collect();
    SourceRig { skeleton, motions }
}

fn compiled(source: SourceRig) -> Rig {
    let SourceRig { skeleton, motions } = source;
    let mut error: f32 = 0.0;
    let clip = |(index, motion): (usize, &SourceClip)| {
        let settings = ClipSettings {
            looping: Some(index < 3),
            root_motion: RootMotion::Xy,
            beats: vec![0.0, motion.seconds * 0.5],
            ..ClipSettings::DEFAULT
        };
        let compiled = compile(motion, &skeleton, &settings);
        let compiled = compiled.unwrap_or_else(|error| panic!("{}", error.message));
        error = error.max(compiled.error);
        compiled.clip
    };
    let clips: Vec<Clip> = motions.iter().enumerate().map(clip).collect();
    let info = |clip: &Clip| ClipInfo {
        seconds: clip.seconds,
        loops: clip.is_looping(),
        beats: clip.beats().to_vec(),
        events: vec![(clip.seconds * 0.3, "step".to_string())],
        additive: false,
    };
    Rig {
        rest: Pose::rest(&skeleton),
        joints: (0..BONES as u16).map(|bone| (bone, ModelMatrix::IDENTITY)).collect(),
        infos: clips.iter().map(info).collect(),
        clips,
        skeleton,
        error,
    }
}

/// Every bone turns by waves of three frequencies, and by noise of a thousandth of a radian. The
/// hips move forward. Waves end where they began.
fn motion(skeleton: &Skeleton, seed: u64, seconds: f32) -> SourceClip {
    let mut random = Random::seed(seed);
    let count = (seconds * KEYS_PER_SECOND) as u32;
    let seconds = count as f32 / KEYS_PER_SECOND;
    let times: Vec<f32> = (0..=count).map(|key| key as f32 / KEYS_PER_SECOND).collect();
    let mut tracks = Vec::new();
    for (bone, (_, _, reach)) in LIMBS.iter().enumerate() {
        let rest = skeleton.rest()[bone].rotation;
        let waves: Vec<(Vec3, f32, f32)> = (1..=3)
            .map(|cycle| {
                let axis = Vec3::new(number(&mut random), number(&mut random), number(&mut random));
                let size = reach / (cycle * cycle) as f32;
                (axis * size, cycle as f32, number(&mut random) * 3.0)
            })
            .collect();
        let values = times.iter().enumerate().map(|(key, time)| {
            let mut turn = Vec3::ZERO;
            for (axis, cycle, phase) in &waves {
                let angle = time / seconds * cycle * std::f32::consts::TAU + phase;
                turn += *axis * angle.sin();
            }
            if key > 0 && key < count as usize {
                turn += Vec3::new(number(&mut random), number(&mut random), 0.0) * 1e-3;
            }
            (rest * Quat::from_scaled_axis(turn)).to_array()
        });
        let values = values.collect();
        tracks.push(track(bone, TrackProperty::Rotation, &times, values));
    }
    let hips = |time: &f32| {
        let wave = (time / seconds * std::f32::consts::TAU * 2.0).sin();
        let at = skeleton.rest()[0].position + Vec3::new(0.0, time * 1.4, 0.03 * wave);
        at.extend(0.0).to_array()
    };
    let values = times.iter().map(hips).collect();
    tracks.push(track(0, TrackProperty::Position, &times, values));
    SourceClip { seconds, tracks }
}

fn track(
    bone: usize,
    property: TrackProperty,
    times: &[f32],
    values: Vec<[f32; 4]>,
) -> SourceTrack {
    SourceTrack {
        bone: bone as u16,
        property,
        interpolation: SourceInterpolation::Linear,
        times: times.to_vec(),
        values,
    }
}
