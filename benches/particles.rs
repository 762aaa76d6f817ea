//! Particle benchmarks: the particle update of Mick West, "Multithreading Particle Systems", Game
//! Developer, April 2006; a comparison with LÖVE's particle system; a million particles; the memory
//! of one particle. Also checks that the number of threads does not change the result.
//!
//!     cargo bench -- particles

use crate::run::Run;
use crate::table::{Group, Row, median, named, row};
use engine::foundation::random::Random;
use engine::foundation::tasks::{TaskManager, TaskPool};
use engine::foundation::{Handle, HandleKind, Slots, Vec3};
use engine::frame_packet::gui::QuadInstance;
use engine::frame_packet::material::MaterialSlot;
use engine::frame_packet::texture::TextureSlot;
use engine::system::particles::collision::StepCollider;
use engine::system::particles::data::Falloff;
use engine::system::particles::draw::{AppearanceRules, DrawScratch, DrawStyle, ParticleTexture};
use engine::system::particles::emitter::move_blocks;
use engine::system::particles::forces::{ForceRange, StepForce};
use engine::system::particles::particle_block::{
    BYTES_PER_PARTICLE, LANES, MotionStep, ParticleBlock, SingleParticle,
};
use engine::system::particles::pose::EffectTransform;
use engine::system::particles::resource::read_text;
use engine::system::particles::{EffectDesc, EffectId, EffectStage, Particles};
use std::time::Instant;

const STEP: f64 = 1.0 / 60.0;

pub fn run(run: &mut Run) {
    run.part("example", example);
    run.part("love", love);
    run.part("million", million);
    run.part("threads", thread_scaling);
}

/// Returns the real time of `f` in milliseconds.
fn wall(f: impl FnOnce()) -> f64 {
    let before = Instant::now();
    f();
    before.elapsed().as_secs_f64() * 1e3
}

/// Returns the fastest and the median time of `count` rounds.
fn rounds(count: usize, mut f: impl FnMut()) -> (f64, f64) {
    let times: Vec<f64> = (0..count).map(|_| wall(&mut f)).collect();
    (times.iter().copied().fold(f64::MAX, f64::min), median(times))
}

fn time_row(name: String, (fastest, middle): (f64, f64), target: Option<f64>, remark: &str) -> Row {
    let note = format!("median {middle:.3} ms{remark}");
    Row { note, ..named(name, fastest, "ms", target) }
}

// The example ------------------------------------------------------------------------------------

/// Number of particles in the article's workload.
const EXAMPLE: usize = 80_000;

/// Returns 80,000 particles in an area of 1280 by 720 pixels, at speeds up to 50.
fn example_blocks() -> Vec<ParticleBlock> {
    let mut random = Random::seed(9);
    let mut blocks = vec![ParticleBlock::EMPTY; EXAMPLE.div_ceil(LANES)];
    for i in 0..EXAMPLE {
        let mut draw = |size: f32| random.next_f64() as f32 * size;
        let position = [draw(1280.0), draw(720.0), 0.0];
        let velocity = [draw(50.0), draw(50.0), 0.0];
        let recent_stops = Default::default();
        let one = SingleParticle {
            position,
            velocity,
            age: 0.0,
            age_rate: 1e-6,
            serial: i as u32,
            recent_stops,
        };
        blocks[i / LANES].set(i % LANES, &one);
    }
    blocks
}

/// Returns the forces: 1000 divided by the distance, away from the middle; 3 % of drag; the
/// whisker.
fn example_step() -> MotionStep {
    let reach = ForceRange { strength: -1000.0, falloff: Falloff::Inverse, fade: 0.0 };
    MotionStep {
        delta: STEP as f32,
        damping: 0.97,
        pushes: vec![StepForce::Attractor { at: [640.0, 360.0, 0.0], reach }],
        collides: vec![StepCollider::Whisker { from: [500.0, 300.0], to: [800.0, 420.0] }],
        bounce: 1.0,
        ..MotionStep::AT_REST
    }
}

fn by_calls(blocks: &mut [ParticleBlock], step: &MotionStep) {
    move_blocks(blocks, 0, EXAMPLE, step, true);
}

fn by_workers(tasks: &TaskManager, blocks: &mut [ParticleBlock], step: &MotionStep) {
    let moved = tasks.each_slice("particles", blocks, |first, piece| {
        move_blocks(piece, first, EXAMPLE, step, true);
    });
    moved.expect("particles do not fail");
}

/// Updates the blocks on threads that are started for this update. The calling thread takes part.
fn by_forks(blocks: &mut [ParticleBlock], step: &MotionStep, threads: usize) {
    let each = blocks.len() / threads;
    std::thread::scope(|scope| {
        let (mut rest, mut first) = (blocks, 0);
        for _ in 1..threads {
            let (piece, others) = rest.split_at_mut(each);
            rest = others;
            let from = first;
            first += each;
            scope.spawn(move || move_blocks(piece, from, EXAMPLE, step, true));
        }
        move_blocks(rest, first, EXAMPLE, step, true);
    });
}

fn example() -> Group {
    const ROUNDS: usize = 400;
    let step = example_step();
    let mut rows = Vec::new();
    let mut blocks = example_blocks();
    let alone = rounds(ROUNDS, || by_calls(&mut blocks, &step));
    rows.push(time_row("one thread, plain calls".to_string(), alone, Some(0.6), ""));
    for threads in [1, 2, 3, 4] {
        let tasks = TaskManager::new(threads - 1).expect("the machine gives threads");
        let mut blocks = example_blocks();
        let time = rounds(ROUNDS, || by_workers(&tasks, &mut blocks, &step));
        let remark = format!("; {:.2} times as fast as plain calls", alone.0 / time.0);
        let name = format!("{threads} threads, workers");
        let target = (threads == 2).then_some(alone.0 / 1.8);
        rows.push(time_row(name, time, target, &remark));
        let mut blocks = example_blocks();
        let time = rounds(ROUNDS, || by_forks(&mut blocks, &step, threads));
        let remark = format!("; {:.2} times as fast as plain calls", alone.0 / time.0);
        rows.push(time_row(format!("{threads} threads, started each time"), time, None, &remark));
    }
    Group {
        name: "example",
        title: "The update of Mick West's threading example, workers against threads that \
                are started each time",
        workload: "80,000 particles in a plane, a force away from a point, drag, a whisker from \
                   which they bounce; ages and deaths are updated too. Wall time of one update, \
                   the fastest of 400, with the median next to it.",
        rows,
    }
}

// LÖVE's -----------------------------------------------------------------------------------------

fn world() -> Handle {
    let mut worlds = Slots::new(HandleKind::World, 4);
    worlds.add(()).expect("there is room")
}

struct Play {
    particles: Particles,
    world: Handle,
    id: EffectId,
    pool: TaskPool,
}

impl Play {
    /// Starts an effect in a Gui or in the world.
    fn new(text: &str, flat: bool, threads: usize) -> Play {
        let (mut particles, pool) = (Particles::new(1), TaskPool::new(Some(threads)));
        let data = read_text("bench.particles", text.as_bytes()).expect("it is right");
        let (resource, world) = (particles.add_resource("bench", data), world());
        let stage =
            if flat { EffectStage::Gui { gui: world, layer: 0 } } else { EffectStage::World };
        let making = EffectDesc { world, stage, resource, pose: EffectTransform::IDENTITY };
        let id = particles.create(making, &pool).expect("there is room");
        Play { particles, world, id, pool }
    }

    fn step(&mut self) {
        self.particles.step(self.world, STEP, 1, &self.pool).expect("nothing fails");
    }

    fn draw(&self, out: &mut Vec<QuadInstance>, scratch: &mut DrawScratch<QuadInstance>) {
        const TEXTURE: ParticleTexture = ParticleTexture {
            material: MaterialSlot::BUILT_IN,
            slot: TextureSlot::SHARED,
            paint: 0,
            uv: [0.0, 1.0, 1.0, 0.0],
            scene: TextureSlot::SHARED,
            soft: true,
        };
        out.clear();
        let effect = self.particles.slots().get(self.id.0).expect("it plays");
        for emitter in self.particles.emitters(effect) {
            let look = AppearanceRules::new(emitter, &effect.variables);
            let drawing =
                DrawStyle { emitter, appearance: &look, texture: &TEXTURE, eye: Vec3::ZERO };
            drawing.add(out, scratch, &self.pool).expect("nothing fails");
        }
    }
}

const LOVE: &str = "emitters = { sparks = {
  max = 80000 bursts = [{ count = 80000 }] rate = 60000 lifetime = [1, 3]
  speed = [50, 150] direction = [0, 1] spread = 180 gravity = [0, -100]
  size = [[0, 1], [1, 0.2]] spin = [0, 172]
  color = [[0, \"#ffffff\"], [0.5, \"#ff8000\"], [1, \"#33000000\"]]
} }";

fn love() -> Group {
    let mut rows = Vec::new();
    for threads in [1, 2] {
        let mut play = Play::new(LOVE, true, threads);
        (0..240).for_each(|_| play.step());
        let count = play.particles.count(play.id);
        assert_eq!(count, 80_000);
        let update = rounds(180, || play.step());
        let target = (threads == 1).then_some(0.9);
        let remark = "; LÖVE's own 9.6 ms with drawing, by hand through FFI 1.43 ms";
        rows.push(time_row(format!("update, {threads} threads"), update, target, remark));
        let (mut out, mut scratch) = (Vec::new(), DrawScratch::default());
        let drawn = rounds(180, || play.draw(&mut out, &mut scratch));
        let name = format!("as 80,000 quadrilaterals of a Gui, {threads} threads");
        rows.push(time_row(name, drawn, None, "; sizes, turns, colours, corners: 5.1 MB"));
    }
    Group {
        name: "love",
        title: "LÖVE's particle system, and the same as a .particles",
        workload: "80,000 living particles, of which 40,000 a second die and begin: lifetimes 1 to \
                   3 s, speeds 50 to 150, gravity, two sizes, three colours, spin. 240 frames \
                   before, 180 measured: the fastest, with the median next to it.",
        rows,
    }
}

// A million ---------------------------------------------------------------------------------------

const MILLION_EFFECT: &str = "emitters = { sparks = {
  max = 1000000 bursts = [{ count = 1000000 }] rate = 600000 lifetime = [1, 3]
  speed = [5, 15] gravity = [0, 0, -9.8] drag = 0.1
} }";

/// Bytes that an update transfers per particle: positions, velocities and ages are read and
/// written, paces only read.
const MOVED_BYTES: f64 = (7 * 4 * 2 + 4) as f64;

/// Returns the bytes a second that `threads` threads copy, with reads and writes counted.
fn bandwidth(threads: usize) -> f64 {
    const WORDS: usize = 16 << 20;
    let (from, mut to) = (vec![1.5f32; WORDS], vec![0.5f32; WORDS]);
    let (milliseconds, _) = rounds(9, || {
        let each = WORDS / threads;
        std::thread::scope(|scope| {
            for (from, to) in from.chunks(each).zip(to.chunks_mut(each)) {
                scope.spawn(move || to.copy_from_slice(from));
            }
        });
    });
    std::hint::black_box(&to);
    (WORDS * 8) as f64 / (milliseconds * 1e-3)
}

fn million() -> Group {
    let mut rows =
        vec![row("a particle in memory", BYTES_PER_PARTICLE as f64, "bytes", Some(64.0))];
    for threads in [1, 2] {
        let mut play = Play::new(MILLION_EFFECT, false, threads);
        (0..120).for_each(|_| play.step());
        let count = play.particles.count(play.id) as f64;
        let update = rounds(60, || play.step());
        let rate = count * MOVED_BYTES / (update.0 * 1e-3);
        let share = rate / bandwidth(threads) * 100.0;
        let remark = format!("; {:.1} GB/s, {share:.0} % of what copying gets", rate * 1e-9);
        let target = (threads == 2).then_some(10.0);
        rows.push(time_row(format!("update, {threads} threads"), update, target, &remark));
    }
    Group {
        name: "million",
        title: "A million particles in a world",
        workload: "1,000,000 living particles in three dimensions, of which half a million a \
                   second die and begin, gravity, drag; bounds are measured. The fastest of 60 \
                   updates, with the median next to it.",
        rows,
    }
}

// Threads -----------------------------------------------------------------------------------------

const BUSY_EFFECT: &str = "emitters = {
  big = { max = 90000 rate = 60000 lifetime = [0.8, 2.4] speed = [1, 9] gravity = [0, 0, -9.8]
    drag = 0.4 position = [0, 0, 2]
    forces = [ { type = \"turbulence\" strength = 4 size = 2 speed = 0.5 }
               { type = \"vortex\" strength = 3 radius = 8 } ]
    collision = { planes = [{ normal = [0, 0, 1] }] spheres = [{ position = [2, 0, 1] radius = 1 }]
      boxes = [{ position = [-2, 0, 0] extents = [1, 1, 1] rotation = 30 }] radius = 0.1 }
    on_collision = { emitter = \"hits\" } on_death = { emitter = \"ends\" count = [0, 1] } }
  hits = { max = 10000 lifetime = [0.1, 0.4] speed = 1 }
  ends = { max = 10000 lifetime = 0.3 shape = { type = \"ring\" radius = 2 } speed = 1 }
}";

fn thread_scaling() -> Group {
    const FRAMES: usize = 1000;
    let mut rows = Vec::new();
    let mut alone = Vec::new();
    for threads in [1, 2, 4, 8] {
        let mut play = Play::new(BUSY_EFFECT, false, threads);
        let mut hashes = Vec::with_capacity(FRAMES);
        let (mut moved, mut most) = (0.0, 0);
        for _ in 0..FRAMES {
            moved += wall(|| play.step());
            let effect = play.particles.slots().get(play.id.0).expect("it plays");
            hashes.push(play.particles.hash_of(effect));
            most = most.max(play.particles.count(play.id));
        }
        if threads == 1 {
            alone = hashes.clone();
        }
        let differ = hashes.iter().zip(&alone).filter(|(a, b)| a != b).count() as f64;
        let mean = moved / FRAMES as f64;
        let note = format!("up to {most} particles, {mean:.2} ms an update on average");
        let name = format!("frames of 1,000 that differ from one thread's, {threads} threads");
        rows.push(Row { note, ..named(name, differ, "", Some(0.0)) });
    }
    Group {
        name: "equal",
        title: "The same on any number of threads",
        workload: "About 100,000 particles with turbulence, a vortex, collisions with a plane, a \
                   sphere and a box, and two emitters that hits and deaths feed; 1,000 frames, the \
                   hash of all state after each.",
        rows,
    }
}
