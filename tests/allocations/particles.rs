//! Tests that running particles allocate no memory.

use super::allocator::{calls, watch};
use engine::foundation::tasks::TaskPool;
use engine::foundation::{Handle, HandleKind, Slots, Vec3};
use engine::frame_packet::gui::QuadInstance;
use engine::frame_packet::material::MaterialSlot;
use engine::frame_packet::texture::TextureSlot;
use engine::system::particles::draw::{
    AppearanceRules, DrawScratch, DrawStyle, ParticleTexture, RibbonScratch, path_quads, paths,
};
use engine::system::particles::pose::EffectTransform;
use engine::system::particles::resource::read_text;
use engine::system::particles::{EffectDesc, EffectId, EffectStage, Particles};

/// Effect with a ribbon, trails, sorted particles, and particles spawned by others.
const EFFECT: &[u8] = b"emitters = {
    ribbon = { rate = 200 lifetime = [0.2, 0.6] speed = [1, 5] ribbon = true }
    trails = { rate = 100 lifetime = 0.5 speed = 4 trail = { points = 8 interval = 0.03 }
        on_death = { emitter = \"ends\" count = 3 } }
    ends = { max = 400 lifetime = 0.3 sort = \"newest_first\"
        collision = { planes = [{ normal = [0, 1] }] }
        forces = [{ type = \"turbulence\" strength = 4 }] }
}";

const SKIN: ParticleTexture = ParticleTexture {
    material: MaterialSlot::BUILT_IN,
    slot: TextureSlot::SHARED,
    paint: 0,
    uv: [0.0, 1.0, 1.0, 0.0],
    scene: TextureSlot::SHARED,
    soft: true,
};

/// Target into which a frame draws.
#[derive(Default)]
struct Canvas {
    quads: Vec<QuadInstance>,
    scratch: DrawScratch<QuadInstance>,
    room: RibbonScratch,
}

impl Canvas {
    fn draw(&mut self, particles: &Particles, id: EffectId, pool: &TaskPool) {
        let Canvas { quads, scratch, room } = self;
        quads.clear();
        let effect = particles.slots().get(id.0).expect("it plays");
        for emitter in particles.emitters(effect) {
            let look = AppearanceRules::new(emitter, &effect.variables);
            let drawing = DrawStyle { emitter, appearance: &look, texture: &SKIN, eye: Vec3::ZERO };
            paths(&drawing, room, |path| path_quads(path, 1.0, &SKIN, quads));
            drawing.add(quads, scratch, pool).expect("there are threads");
        }
    }
}

#[test]
fn running_effects_do_not_allocate() {
    let (mut particles, pool) = (Particles::new(7), TaskPool::new(Some(1)));
    let mut worlds = Slots::new(HandleKind::World, 1);
    let world: Handle = worlds.add(()).expect("there is room");
    let data = read_text("x.particles", EFFECT).expect("it is right");
    let resource = particles.add_resource("x", data);
    let stage = EffectStage::Gui { gui: world, layer: 0 };
    let making = EffectDesc { world, stage, resource, pose: EffectTransform::IDENTITY };
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
    watch(true);
    play(120);
    watch(false);
    assert_eq!(calls().allocations, 0, "allocations in 120 frames");
}
