//! Tests of whole effects: spawning, lifetimes, and equal results on any number of threads.

use super::appearance::AppearanceRules;
use super::data::EffectData;
use super::draw::{DrawScratch, DrawStyle, ParticleTexture};
use super::*;
use engine_foundation::{Quat, Vec3, sjson};
use engine_frame_packet::gui::QuadInstance;
use engine_frame_packet::material::MaterialSlot;
use engine_frame_packet::scene::ParticleQuad;
use engine_frame_packet::texture::TextureSlot;

const STEP: f64 = 1.0 / 60.0;

fn read(text: &str) -> EffectData {
    let document = sjson::parse(text).unwrap();
    compile::parse("x.particles", document.root()).unwrap()
}

fn world() -> Handle {
    let mut worlds = Slots::new(HandleKind::World, 4);
    worlds.add(()).unwrap()
}

/// An effect of one emitter in a GUI, or in the world.
struct Play {
    particles: Particles,
    world: Handle,
    id: EffectId,
    pool: TaskPool,
}

fn play(text: &str, flat: bool, threads: usize) -> Play {
    let (mut particles, world, pool) = (Particles::new(7), world(), TaskPool::new(Some(threads)));
    let resource = particles.add_resource("x", read(text));
    let stage = if flat { EffectStage::Gui { gui: world, layer: 0 } } else { EffectStage::World };
    let desc = EffectDesc { world, stage, resource, pose: EffectTransform::IDENTITY };
    let id = particles.create(desc, &pool).unwrap();
    Play { particles, world, id, pool }
}

fn emitter(body: &str) -> String {
    format!("emitters = {{ a = {{ {body} }} }}")
}

impl Play {
    fn steps(&mut self, count: usize) {
        for _ in 0..count {
            self.particles.step(self.world, STEP, 1, &self.pool).unwrap();
        }
    }

    fn lives(&self) -> bool {
        self.particles.slots().get(self.id.0).is_some()
    }

    /// Returns position and velocity of every particle of an emitter.
    fn all(&self, index: usize) -> Vec<(Vec3, Vec3)> {
        let effect = self.particles.slots().get(self.id.0).unwrap();
        let emitter = self.particles.emitters(effect).nth(index).unwrap();
        let (blocks, _) = emitter.used();
        let one = |i: usize| blocks[i / LANES].get(i % LANES);
        let ones = (0..emitter.count).map(one);
        ones.map(|one| (Vec3::from_array(one.position), Vec3::from_array(one.velocity))).collect()
    }

    fn counts(&self) -> Vec<usize> {
        let effect = self.particles.slots().get(self.id.0).unwrap();
        self.particles.emitters(effect).map(|emitter| emitter.count).collect()
    }
}

#[test]
fn emitters_keep_their_rate_and_particles_their_lifetime() {
    let mut play = play(&emitter("rate = 100 lifetime = 0.5"), true, 1);
    play.steps(15);
    assert_eq!(play.counts(), [25]);
    play.steps(60);
    assert!((49..=51).contains(&play.counts()[0]), "{:?}", play.counts());
}

#[test]
fn an_effect_ends_with_the_last_particle_of_its_burst() {
    let text = emitter("bursts = [{ count = 30 } { time = 0.2 count = [5, 5] }] lifetime = 0.4");
    let mut play = play(&text, false, 1);
    play.steps(1);
    assert_eq!(play.counts(), [30]);
    play.steps(13);
    assert_eq!(play.counts(), [35]);
    play.steps(12);
    assert_eq!(play.counts(), [5]);
    play.steps(14);
    assert!(!play.lives());
    assert!(play.particles.emitters.iter().all(|emitter| !emitter.in_use));
}

#[test]
fn a_stopped_effect_ends_with_its_particles() {
    let mut play = play(&emitter("rate = 60 lifetime = 0.25"), true, 1);
    play.steps(10);
    play.particles.stop(play.id);
    play.steps(8);
    assert!(play.lives() && play.counts()[0] > 0);
    play.steps(10);
    assert!(!play.lives());
}

#[test]
fn the_limit_of_particles_is_enforced() {
    let mut play = play(&emitter("max = 70 rate = 10000 lifetime = [0.1, 0.2]"), true, 1);
    for _ in 0..100 {
        play.steps(1);
        assert!(play.counts()[0] <= 70);
    }
    assert_eq!(play.counts(), [70]);
}

#[test]
fn a_moving_effect_spawns_along_its_path() {
    let mut play = play(&emitter("rate = 6000 inherit_velocity = 0.5 lifetime = 5"), false, 1);
    play.steps(1);
    play.particles.effect(play.id).pose.position = Vec3::new(6.0, 0.0, 0.0);
    play.steps(1);
    let new = &play.all(0)[100..];
    // The effect moves at 360 units per second. The particles inherit half of that.
    assert!(new.iter().all(|(_, velocity)| (velocity.x - 180.0).abs() < 0.01));
    // Each particle was born along the path, and has moved on since.
    let born: Vec<f32> = new
        .iter()
        .enumerate()
        .map(|(i, (at, _))| at.x - 3.0 * (1.0 - (i + 1) as f32 / 100.0))
        .collect();
    assert!(born.windows(2).all(|pair| pair[1] > pair[0]), "{born:?}");
    assert!(born[0] < 0.2 && born[99] > 5.8);
}

#[test]
fn local_particles_stay_with_their_effect() {
    let text =
        emitter("space = \"local\" bursts = [{ count = 10 }] lifetime = 9 gravity = [0, 0, -6]");
    let mut play = play(&text, false, 1);
    let turned = Quat::from_rotation_x(std::f32::consts::FRAC_PI_2);
    play.particles.effect(play.id).pose =
        EffectTransform { position: Vec3::new(5.0, 0.0, 0.0), rotation: turned, scale: 1.0 };
    play.steps(2);
    for (position, velocity) in play.all(0) {
        assert_eq!(position, Vec3::ZERO);
        // Downward in the world, in the effect's own space.
        assert!(velocity.distance(Vec3::new(0.0, -0.1, 0.0)) < 1e-6, "{velocity}");
    }
}

#[test]
fn births_deaths_and_hits_trigger_sub_emitters() {
    let text = "emitters = {
      a = { bursts = [{ count = 4 }] direction = [0, 0, -1] speed = 3 lifetime = 1
        position = [0, 0, 1] collision = { planes = [{ normal = [0, 0, 1] }] bounce = 0 }
        on_birth = { emitter = \"b\" count = 2 } on_death = { emitter = \"c\" count = 3 }
        on_collision = { emitter = \"d\" inherit_velocity = 0.5 } }
      b = { lifetime = 90 } c = { lifetime = 90 } d = { lifetime = 90 max = 1000 }
    }";
    let mut play = play(text, false, 1);
    play.steps(2);
    assert_eq!(play.counts(), [4, 8, 0, 0]);
    play.steps(70);
    let counts = play.counts();
    assert_eq!([counts[0], counts[1], counts[2]], [0, 8, 12]);
    // The particles rest on the plane after the first hit, and hit it in no later step.
    assert!(counts[3] >= 4, "{counts:?}");
}

#[test]
fn variables_change_their_bound_fields() {
    let text = "variables = { power = 1 target = [0, 0, 0] }
      emitters = { a = { rate = 60 lifetime = 90 bind = { rate = \"power\" target = \"target\" }
        forces = [{ type = \"attractor\" strength = 10 }] } }";
    let mut play = play(text, false, 1);
    play.steps(10);
    assert_eq!(play.counts(), [10]);
    assert_eq!(play.particles.variable(0, "power"), Ok(1));
    let message = play.particles.variable(0, "pwer").unwrap_err();
    assert_eq!(message, "the effect \"x\" has no variable 'pwer', did you mean 'power'?");
    play.particles.effect(play.id).variables = vec![[0.0; 3], [100.0, 0.0, 0.0]];
    play.steps(60);
    assert_eq!(play.counts(), [10]);
    assert!(play.all(0).iter().all(|(position, _)| position.x > 3.0));
}

#[test]
fn a_warmed_up_effect_starts_with_its_particles() {
    let text = "warm_seconds = 2 emitters = { a = { rate = 30 lifetime = 1 } }";
    let play = play(text, true, 1);
    assert!((29..=31).contains(&play.counts()[0]), "{:?}", play.counts());
}

#[test]
fn invisible_effects_simulate_every_fourth_step_or_none() {
    let body = "emitters = { a = { rate = 60 lifetime = 90 } }";
    let mut slow = play(&format!("culling = \"slow\" {body}"), false, 1);
    slow.steps(2);
    slow.particles.effect(slow.id).was_visible = false;
    slow.steps(3);
    assert_eq!(slow.counts(), [2]);
    slow.steps(1);
    assert_eq!(slow.counts(), [6]);
    slow.steps(2);
    slow.particles.effect(slow.id).was_visible = true;
    slow.steps(1);
    assert_eq!(slow.counts(), [9]);
    let mut paused = play(&format!("culling = \"pause\" {body}"), false, 1);
    paused.steps(2);
    paused.particles.effect(paused.id).was_visible = false;
    paused.steps(50);
    assert_eq!(paused.counts(), [2]);
    paused.particles.stop(paused.id);
    paused.steps(5);
    assert_eq!(paused.counts(), [2], "it goes on, for it is to end");
    let body = "emitters = { a = { bursts = [{ count = 5 }] lifetime = 0.2 } }";
    let mut ending = play(&format!("culling = \"pause\" {body}"), false, 1);
    ending.steps(2);
    ending.particles.effect(ending.id).was_visible = false;
    ending.steps(60);
    assert!(!ending.lives(), "nobody would ever see its end");
}

#[test]
fn ranges_include_both_ends() {
    for seconds in ["0.001", "3600"] {
        read(&emitter(&format!("lifetime = {seconds}")));
    }
}

#[test]
fn the_time_step_is_limited() {
    let body = "duration = 0.01 loop = true bursts = [{ count = 1 every = 0.001 }] lifetime = 9";
    let mut play = play(&emitter(body), true, 1);
    for seconds in [1e7, 1e300] {
        play.particles.step(play.world, seconds, 1, &play.pool).unwrap();
    }
    assert!(play.lives());
}

#[test]
fn large_effects_warm_up_in_larger_steps() {
    let body = "rate = 1000000 lifetime = 2 max = 1048576";
    let text = format!("warm_seconds = 60 {}", emitter(body));
    let mut play = play(&text, true, 1);
    assert!(play.counts()[0] > 100_000);
    play.steps(1);
}

#[test]
fn a_reload_keeps_particles_of_unchanged_emitters() {
    let mut play = play(
        "variables = { v = 1 } emitters = { a = { rate = 60 lifetime = 90 } b = { rate = 60 } }",
        true,
        1,
    );
    play.steps(20);
    let text = "variables = { w = 3 v = 2 } emitters = { c = { rate = 6 } a = { max = 15 } }";
    play.particles.redefine(0, read(text)).unwrap();
    assert_eq!(play.counts(), [0, 15]);
    assert_eq!(play.particles.effect(play.id).variables, [[3.0; 3], [2.0; 3]]);
    play.steps(20);
    assert_eq!(play.counts(), [2, 15]);
}

#[test]
fn worlds_refuse_whiskers_and_too_many_effects() {
    let text = emitter("collision = { whiskers = [{ from = [0, 0] to = [1, 1] }] }");
    let (mut particles, world, pool) = (Particles::new(7), world(), TaskPool::new(Some(1)));
    let resource = particles.add_resource("x", read(&text));
    let desc =
        EffectDesc { world, stage: EffectStage::World, resource, pose: EffectTransform::IDENTITY };
    let message = particles.create(desc, &pool).unwrap_err().message;
    assert!(message.starts_with("the effect \"x\" has whiskers, which only stop"), "{message}");
    let desc = EffectDesc { stage: EffectStage::Gui { gui: world, layer: 0 }, ..desc };
    for _ in 0..EFFECTS_MAX {
        particles.create(desc, &pool).unwrap();
    }
    let message = particles.create(desc, &pool).unwrap_err().message;
    assert_eq!(message, "16384 effects play already (EFFECTS_MAX): destroy some first");
}

#[test]
fn a_material_is_refused_in_a_world() {
    let (mut particles, world, pool) = (Particles::new(7), world(), TaskPool::new(Some(1)));
    let resource = particles.add_resource("x", read(&emitter("material = \"m\"")));
    let desc =
        EffectDesc { world, stage: EffectStage::World, resource, pose: EffectTransform::IDENTITY };
    let message = particles.create(desc, &pool).unwrap_err().message;
    assert!(
        message.starts_with("the effect \"x\", emitter 'a' has a 'material', which"),
        "{message}"
    );
}

const BUSY: &str = "emitters = {
  big = { max = 16000 rate = 16000 lifetime = [0.3, 1.5] speed = [1, 9] gravity = [0, 0, -9.8]
    drag = 0.4 position = [0, 0, 2] spin = [-90, 90] flipbook = { columns = 2 rows = 2 }
    forces = [ { type = \"turbulence\" strength = 4 size = 2 speed = 0.5 }
               { type = \"vortex\" strength = 3 radius = 8 } ]
    collision = { planes = [{ normal = [0, 0, 1] }] spheres = [{ position = [2, 0, 1] radius = 1 }]
      boxes = [{ position = [-2, 0, 0] extents = [1, 1, 1] rotation = 30 }] radius = 0.1 }
    on_collision = { emitter = \"hits\" } on_death = { emitter = \"ends\" count = [0, 2] } }
  hits = { max = 3000 lifetime = [0.1, 0.4] speed = 1 }
  ends = { max = 2000 lifetime = 0.3 shape = { type = \"ring\" radius = 2 } speed = 1 }
}";

/// Returns the hashes of all frames, and the instances of the last.
fn busy(threads: usize) -> (Vec<u64>, Vec<ParticleQuad>) {
    let mut play = play(BUSY, false, threads);
    let mut hashes = Vec::new();
    for _ in 0..60 {
        play.steps(1);
        let effect = play.particles.slots().get(play.id.0).unwrap();
        hashes.push(play.particles.hash_of(effect));
    }
    assert_eq!(play.pool.has_started(), threads > 1);
    let (mut out, mut scratch) = (Vec::new(), DrawScratch::default());
    let effect = play.particles.slots().get(play.id.0).unwrap();
    for emitter in play.particles.emitters(effect) {
        let look = AppearanceRules::new(emitter, &effect.variables);
        let drawing = DrawStyle { emitter, appearance: &look, texture: &TEXTURE, eye: Vec3::ZERO };
        drawing.add(&mut out, &mut scratch, &play.pool).unwrap();
    }
    assert!(out.len() > 5000);
    (hashes, out)
}

const TEXTURE: ParticleTexture = ParticleTexture {
    material: MaterialSlot::BUILT_IN,
    slot: TextureSlot::SHARED,
    paint: 0,
    uv: [0.0, 1.0, 1.0, 0.0],
    scene: TextureSlot::SHARED,
    soft: true,
};

#[test]
fn frames_are_bit_identical_on_any_number_of_threads() {
    let one_thread = busy(1);
    for threads in [2, 4, 8] {
        let many = busy(threads);
        assert!(many.0 == one_thread.0, "{threads} threads");
        assert!(many.1 == one_thread.1, "{threads} threads: drawn otherwise");
    }
}

#[test]
fn effects_are_platform_independent() {
    // Change this number only if particles were meant to move differently; otherwise it is a bug.
    assert_eq!(busy(1).0[59], 0xcb4d_109d_3d4b_e009, "got {:#x}", busy(1).0[59]);
}

/// Returns the quads of an effect with one emitter in a GUI.
fn drawn(play: &Play) -> Vec<QuadInstance> {
    let effect = play.particles.slots().get(play.id.0).unwrap();
    let emitter = play.particles.emitters(effect).next().unwrap();
    let look = AppearanceRules::new(emitter, &effect.variables);
    let drawing = DrawStyle { emitter, appearance: &look, texture: &TEXTURE, eye: Vec3::ZERO };
    let (mut out, mut scratch) = (Vec::new(), DrawScratch::default());
    drawing.add(&mut out, &mut scratch, &play.pool).unwrap();
    out
}

#[test]
fn a_particle_is_drawn_with_its_position_size_and_colour() {
    let text = emitter(
        "bursts = [{}] position = [100, 50] size = [[0, 0], [1, 20]] aspect = 2 lifetime = 1
         color = [[0, \"#ff0000\"], [1, \"#ff000000\"]]",
    );
    let mut play = play(&text, true, 1);
    play.steps(31);
    let [one] = drawn(&play)[..] else { panic!() };
    let near = |a: f32, b: f32| (a - b).abs() < 0.1;
    let [left, bottom, right, _, _, top, ..] = one.corners;
    assert!(near(left, 90.0) && near(right, 110.0), "{one:?}");
    assert!(near(bottom, 45.0) && near(top, 55.0), "{one:?}");
    assert!(one.color[0] == 255 && (126..=129).contains(&one.color[3]), "{one:?}");
}

#[test]
fn a_stretched_particle_follows_its_velocity() {
    let text = emitter(
        "bursts = [{}] direction = [1, 0] speed = 100 size = 2 billboard = \"stretched\" \
         stretch = 0.1",
    );
    let mut play = play(&text, true, 1);
    play.steps(1);
    let [one] = drawn(&play)[..] else { panic!() };
    let xs = [0, 2, 4, 6].map(|i| one.corners[i]);
    let wide =
        xs.iter().fold(f32::MIN, |a, b| a.max(*b)) - xs.iter().fold(f32::MAX, |a, b| a.min(*b));
    assert!((wide - 12.0).abs() < 0.01, "{one:?}");
}

#[test]
fn particles_are_sorted_by_age() {
    for (order, sign) in [("oldest_first", -1.0), ("newest_first", 1.0)] {
        let text = emitter(&format!(
            "rate = 600 lifetime = 5 size = [[0, 0], [1, 100]] sort = \"{order}\""
        ));
        let mut play = play(&text, true, 1);
        play.steps(60);
        let sizes: Vec<f32> = drawn(&play).iter().map(|one| one.corners[2]).collect();
        assert_eq!(sizes.len(), 600);
        // Equal except for the sorting buckets and the table samples.
        assert!(sizes.windows(2).all(|pair| (pair[1] - pair[0]) * sign >= -1.0), "{order}");
        assert!((sizes[599] - sizes[0]) * sign > 5.0, "{order}");
    }
}

#[test]
fn a_trail_follows_its_particle() {
    let text = emitter(
        "bursts = [{}] direction = [1, 0] speed = 60 lifetime = 9 size = 4
         trail = { points = 8 interval = 0.016 width = [1, 0] }",
    );
    let mut play = play(&text, true, 1);
    play.steps(30);
    let effect = play.particles.slots().get(play.id.0).unwrap();
    let emitter = play.particles.emitters(effect).next().unwrap();
    let look = AppearanceRules::new(emitter, &effect.variables);
    let drawing = DrawStyle { emitter, appearance: &look, texture: &TEXTURE, eye: Vec3::ZERO };
    let (mut quads, mut room) = (Vec::<QuadInstance>::new(), draw::RibbonScratch::default());
    draw::paths(&drawing, &mut room, |path| draw::path_quads(path, 1.0, &TEXTURE, &mut quads));
    assert!((7..=8).contains(&quads.len()), "{}", quads.len());
    let head = play.all(0)[0].0.x;
    let last = quads.last().unwrap().corners;
    assert!((quads[0].corners[0] - head).abs() < 1.1 && head - last[4] > 6.5, "{head} {last:?}");
}

#[test]
fn a_running_effect_allocates_no_memory() {
    let mut play = play(BUSY, false, 1);
    play.steps(600);
    let sizes = |play: &Play| -> Vec<usize> {
        let emitters = play.particles.emitters.iter();
        emitters.map(|it| it.blocks.capacity() + it.incoming.capacity()).collect()
    };
    let before = sizes(&play);
    play.steps(100);
    assert_eq!(before, sizes(&play));
}
