//! What particles allocate in full swing: nothing.

use engine::foundation::tasks::Pool;
use engine::foundation::{Handle, Kind, Slots, Vec3};
use engine::packet::gui::Instance;
use engine::packet::material::MaterialSlot;
use engine::packet::texture::TextureSlot;
use engine::system::particles::draw::{Drawing, Look, Room, Scratch, Skin, path_quads, paths};
use engine::system::particles::kind::read_text;
use engine::system::particles::pose::Pose;
use engine::system::particles::{EffectId, Making, Particles, Stage};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// Counts what the thread that is watched allocates.
struct Counting;

thread_local! {
    static WATCHED: Cell<bool> = const { Cell::new(false) };
    static COUNT: Cell<u64> = const { Cell::new(0) };
}

// SAFETY: hands everything on.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if WATCHED.get() {
            COUNT.set(COUNT.get() + 1);
        }
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(place, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// A ribbon, trails, particles that are sorted, and others that are born of them.
const EFFECT: &[u8] = b"emitters = {
    ribbon = { rate = 200 lifetime = [0.2, 0.6] speed = [1, 5] ribbon = true }
    trails = { rate = 100 lifetime = 0.5 speed = 4 trail = { points = 8 interval = 0.03 }
        on_death = { emitter = \"ends\" count = 3 } }
    ends = { max = 400 lifetime = 0.3 sort = \"newest_first\"
        collision = { planes = [{ normal = [0, 1] }] }
        forces = [{ type = \"turbulence\" strength = 4 }] }
}";

const SKIN: Skin = Skin {
    material: MaterialSlot::BUILT_IN,
    slot: TextureSlot::SHARED,
    paint: 0,
    uv: [0.0, 1.0, 1.0, 0.0],
    scene: TextureSlot::SHARED,
    soft: true,
};

/// What a frame draws into.
#[derive(Default)]
struct Canvas {
    quads: Vec<Instance>,
    scratch: Scratch<Instance>,
    room: Room,
}

impl Canvas {
    fn draw(&mut self, particles: &Particles, id: EffectId, pool: &Pool) {
        let Canvas { quads, scratch, room } = self;
        quads.clear();
        let effect = particles.slots().get(id.0).expect("it plays");
        for emitter in particles.emitters(effect) {
            let look = Look::new(emitter, &effect.variables);
            let drawing = Drawing { emitter, look: &look, skin: &SKIN, eye: Vec3::ZERO };
            paths(&drawing, room, |path| path_quads(path, 1.0, &SKIN, quads));
            drawing.add(quads, scratch, pool).expect("there are threads");
        }
    }
}

#[test]
fn effects_in_full_swing_allocate_nothing_when_they_move_and_are_drawn() {
    let (mut particles, pool) = (Particles::new(7), Pool::new(Some(1)));
    let mut worlds = Slots::new(Kind::World, 1);
    let world: Handle = worlds.add(()).expect("there is room");
    let data = read_text("x.particles", EFFECT).expect("it is right");
    let resource = particles.add_resource("x", data);
    let stage = Stage::Gui { gui: world, layer: 0 };
    let making = Making { world, stage, resource, pose: Pose::IDENTITY };
    let id = particles.create(making, &pool).expect("there is room");
    let mut canvas = Canvas::default();
    let mut play = |frames: u32| {
        for _ in 0..frames {
            particles.step(world, 1.0 / 60.0, 1, &pool).expect("there are threads");
            canvas.draw(&particles, id, &pool);
        }
        canvas.quads.len()
    };
    assert!(play(600) > 300, "there is something to draw");
    WATCHED.set(true);
    play(120);
    WATCHED.set(false);
    assert_eq!(COUNT.get(), 0, "allocations in 120 frames");
}
