//! The parts of an emitter's text that say how particles move and how they look.

use super::definition::*;
use super::fields::Fields;
use super::ranges::*;
use super::source::Reading;
use crate::foundation::sjson::{Kind, Value};
use crate::foundation::{Error, Quat, suggest};

const COLLISION_KEYS: [&str; 9] = [
    "planes",
    "spheres",
    "boxes",
    "whiskers",
    "space",
    "bounce",
    "friction",
    "radius",
    "life_loss",
];
const FLIPBOOK_KEYS: [&str; 5] = ["columns", "rows", "frames", "rate", "random"];
const TRAIL_KEYS: [&str; 4] = ["points", "interval", "width", "heads"];

impl Reading<'_> {
    pub(super) fn motion(&self, fields: &Fields, it: &mut Numbers) -> Result<(), Error> {
        fields.vector("gravity", &mut it.gravity)?;
        fields.number("drag", DRAG, &mut it.drag)?;
        let forces = fields.list("forces", FORCES_MAX, "FORCES_MAX")?;
        it.force_count = forces.len() as u32;
        for (place, value) in it.forces.iter_mut().zip(forces) {
            *place = force(fields, value)?;
        }
        let Some(value) = fields.get("collision") else { return Ok(()) };
        let block = fields.inner(value, "'collision'", &COLLISION_KEYS)?;
        block.number("bounce", PART, &mut it.bounce)?;
        block.number("friction", PART, &mut it.friction)?;
        block.number("radius", LENGTH, &mut it.particle_radius)?;
        block.number("life_loss", PART, &mut it.life_loss)?;
        it.colliders_fixed = match block.choice("space", Space::ALL)? {
            Some(Space::World) => 1,
            _ => 0,
        };
        let lists = [
            ("planes", ColliderKind::Plane),
            ("spheres", ColliderKind::Sphere),
            ("boxes", ColliderKind::Box),
            ("whiskers", ColliderKind::Whisker),
        ];
        for (key, kind) in lists {
            for value in block.list(key, COLLIDERS_MAX, "COLLIDERS_MAX")? {
                let count = it.collider_count as usize;
                if count == COLLIDERS_MAX {
                    let words = format!("more than {COLLIDERS_MAX} colliders (COLLIDERS_MAX)");
                    return Err(block.fault(value, &words));
                }
                it.colliders[count] = collider(&block, kind, value)?;
                it.collider_count += 1;
            }
        }
        if it.collider_count == 0 {
            return Err(block.fault_here("it names no planes, spheres, boxes or whiskers"));
        }
        Ok(())
    }

    pub(super) fn look(&self, fields: &Fields, it: &mut Numbers) -> Result<(), Error> {
        fields.curve("size", LENGTH, &mut it.sizes)?;
        // The table holds parts of the largest, so that its numbers do not depend on the unit.
        it.size_max = it.sizes.iter().fold(0.0f32, |most, size| most.max(*size)).max(SIZE_MIN);
        it.sizes.iter_mut().for_each(|size| *size /= it.size_max);
        fields.number("size_random", PART, &mut it.size_random)?;
        fields.number("aspect", ASPECT, &mut it.aspect)?;
        fields.colors("color", &mut it.colors)?;
        let mut alpha = [1.0; TABLE];
        fields.curve("alpha", PART, &mut alpha)?;
        for (color, alpha) in it.colors.iter_mut().zip(alpha) {
            color[3] = (f32::from(color[3]) * alpha + 0.5) as u8;
        }
        self.tint(fields, it)?;
        it.over = fields.choice("over", Over::ALL)?.unwrap_or(Over::Life) as u32;
        fields.number("over_speed", OVER_SPEED, &mut it.over_speed)?;
        if (it.over == Over::Speed as u32) != fields.get("over_speed").is_some() {
            let words = "over = \"speed\" and 'over_speed', the speed at which the curves end, \
                         belong together";
            return Err(fields.fault_here(words));
        }
        let turns = |range: [f32; 2]| range.map(|degrees| degrees / 360.0);
        fields.range("rotation", DEGREES, &mut it.rotation)?;
        fields.range("spin", DEGREES, &mut it.spin)?;
        (it.rotation, it.spin) = (turns(it.rotation), turns(it.spin));
        self.flipbook(fields, it)?;
        it.blend = fields.choice("blend", Blending::ALL)?.unwrap_or(Blending::Alpha) as u32;
        fields.number("glow", GLOW, &mut it.glow)?;
        let billboard = fields.choice("billboard", Billboard::ALL)?.unwrap_or(Billboard::Facing);
        it.billboard = billboard as u32;
        fields.number("stretch", STRETCH, &mut it.stretch)?;
        if fields.get("stretch").is_some() && billboard != Billboard::Stretched {
            let at = fields.get("stretch").expect("it was read");
            return Err(fields.fault(at, "'stretch' is for billboard = \"stretched\""));
        }
        fields.direction("axis", &mut it.axis)?;
        if (billboard == Billboard::Aligned) != fields.get("axis").is_some() {
            let words = "billboard = \"aligned\" and an 'axis' belong together";
            return Err(fields.fault_here(words));
        }
        it.sort = fields.choice("sort", Sort::ALL)?.unwrap_or(Sort::None) as u32;
        fields.number("softness", SOFTNESS, &mut it.softness)?;
        if let Some(value) = fields.get("layer") {
            it.layer = fields.number_of("layer", value, LAYER)? as i32;
        }
        self.trail(fields, it)
    }

    fn tint(&self, fields: &Fields, it: &mut Numbers) -> Result<(), Error> {
        let Some(value) = fields.get("tint") else { return Ok(()) };
        if value.kind() == Kind::String {
            it.tint = [fields.color_of("tint", value)?; 2];
            return Ok(());
        }
        let both: Vec<Value> = value.items().map_or(Vec::new(), |items| items.collect());
        let [a, b] = both[..] else {
            let words = "'tint' must be a colour, or the two between which it lies";
            return Err(fields.fault(value, words));
        };
        it.tint = [fields.color_of("tint", a)?, fields.color_of("tint", b)?];
        Ok(())
    }

    fn flipbook(&self, fields: &Fields, it: &mut Numbers) -> Result<(), Error> {
        let Some(value) = fields.get("flipbook") else { return Ok(()) };
        let block = fields.inner(value, "'flipbook'", &FLIPBOOK_KEYS)?;
        let [mut columns, mut rows, _] = it.flipbook;
        let limit = "FLIPBOOK_FRAMES_MAX";
        block.whole("columns", (1, FLIPBOOK_FRAMES_MAX), limit, &mut columns)?;
        block.whole("rows", (1, FLIPBOOK_FRAMES_MAX), limit, &mut rows)?;
        if columns * rows > FLIPBOOK_FRAMES_MAX {
            let words =
                format!("{columns} by {rows} are more than {FLIPBOOK_FRAMES_MAX} frames ({limit})");
            return Err(block.fault_here(&words));
        }
        let mut frames = columns * rows;
        block.whole("frames", (1, columns * rows), "columns times rows", &mut frames)?;
        it.flipbook = [columns, rows, frames];
        block.number("rate", FLIPBOOK_RATE, &mut it.flipbook_rate)?;
        block.truth("random", &mut it.flipbook_random)
    }

    fn trail(&self, fields: &Fields, it: &mut Numbers) -> Result<(), Error> {
        fields.truth("ribbon", &mut it.ribbon)?;
        let Some(value) = fields.get("trail") else { return Ok(()) };
        if it.ribbon > 0 {
            return Err(fields.fault(value, "an emitter has a 'trail' or is a 'ribbon', not both"));
        }
        let block = fields.inner(value, "'trail'", &TRAIL_KEYS)?;
        it.trail_points = 12;
        it.trail_heads = 1;
        let limit = "TRAIL_POINTS_MAX";
        block.whole("points", (TRAIL_POINTS_MIN, TRAIL_POINTS_MAX), limit, &mut it.trail_points)?;
        block.number("interval", TRAIL_INTERVAL, &mut it.trail_interval)?;
        if let Some(width) = block.get("width") {
            let items: Vec<Value> = width.items().map_or(vec![width], |items| items.collect());
            let [first, last] = match items[..] {
                [both] => [both, both],
                [first, last] => [first, last],
                _ => return Err(block.fault(width, "'width' must be a number, or two")),
            };
            let of = |value| block.number_of("width", value, TRAIL_WIDTH);
            it.trail_width = [of(first)?, of(last)?];
        }
        block.truth("heads", &mut it.trail_heads)
    }

    pub(super) fn binds(&self, fields: &Fields, it: &mut Numbers) -> Result<(), Error> {
        let Some(value) = fields.get("bind") else { return Ok(()) };
        let keys: Vec<&str> = Bind::ALL.iter().map(|(word, _)| *word).collect();
        let block = fields.inner(value, "'bind'", &keys)?;
        for (key, bind) in Bind::ALL {
            let Some(name) = block.text(key)? else { continue };
            let Some(place) = self.variables.iter().position(|known| known.name == name) else {
                let hint = suggest::hint(name, self.variables.iter().map(|known| &known.name[..]));
                let at = block.get(key).expect("it was read");
                let words =
                    format!("'{key}' names the variable '{name}', which is not there{hint}");
                return Err(block.fault(at, &words));
            };
            it.binds[*bind as usize] = place as u32 + 1;
        }
        if it.binds[Bind::Target as usize] > 0 && it.force_count == 0 {
            let at = block.get("target").expect("it was read");
            return Err(block.fault(at, "'target' is where the first of 'forces' is: name one"));
        }
        Ok(())
    }
}

fn force(fields: &Fields, value: Value) -> Result<Force, Error> {
    let all =
        ["type", "strength", "position", "radius", "falloff", "axis", "size", "speed", "velocity"];
    let any = fields.inner(value, "a force", &all)?;
    let Some(kind) = any.choice("type", ForceKind::ALL)? else {
        return Err(any.fault_here("a force needs a 'type': type = \"vortex\""));
    };
    let known: &[&str] = match kind {
        ForceKind::Attractor => &["type", "strength", "position", "radius", "falloff"],
        ForceKind::Vortex => &["type", "strength", "position", "radius", "falloff", "axis"],
        ForceKind::Turbulence => &["type", "strength", "size", "speed"],
        ForceKind::Wind => &["type", "strength", "velocity"],
    };
    let name = format!("a force of type '{}'", ForceKind::ALL[kind as usize].0);
    let block = fields.inner(value, &name, known)?;
    let mut force = Force {
        kind: kind as u32,
        strength: 1.0,
        size: 1.0,
        axis: if kind == ForceKind::Vortex { [0.0, 0.0, 1.0] } else { [0.0; 3] },
        ..Force::default()
    };
    block.number("strength", FAR, &mut force.strength)?;
    block.vector("position", &mut force.position)?;
    block.number("radius", LENGTH_ABOVE_0, &mut force.radius)?;
    force.falloff = block.choice("falloff", Falloff::ALL)?.unwrap_or(Falloff::None) as u32;
    block.direction("axis", &mut force.axis)?;
    block.vector("velocity", &mut force.axis)?;
    block.number("size", LENGTH_ABOVE_0, &mut force.size)?;
    block.number("speed", EDDY_SPEED, &mut force.speed)?;
    Ok(force)
}

fn collider(fields: &Fields, kind: ColliderKind, value: Value) -> Result<Collider, Error> {
    let (what, known): (&str, &[&str]) = match kind {
        ColliderKind::Plane => ("a plane", &["position", "normal"]),
        ColliderKind::Sphere => ("a sphere", &["position", "radius"]),
        ColliderKind::Box => ("a box", &["position", "extents", "rotation"]),
        ColliderKind::Whisker => ("a whisker", &["from", "to"]),
    };
    let block = fields.inner(value, what, known)?;
    let mut it = Collider {
        kind: kind as u32,
        rotation: [0.0, 0.0, 0.0, 1.0],
        radius: 1.0,
        ..Collider::default()
    };
    for key in known.iter().filter(|key| **key != "rotation" && **key != "position") {
        if block.get(key).is_none() {
            return Err(block.fault_here(&format!("it needs '{key}'")));
        }
    }
    match kind {
        ColliderKind::Whisker => {
            block.vector("from", &mut it.a)?;
            block.vector("to", &mut it.b)?;
            if it.a == it.b {
                return Err(block.fault_here("'from' and 'to' must not be the same place"));
            }
        }
        _ => block.vector("position", &mut it.a)?,
    }
    block.direction("normal", &mut it.b)?;
    block.number("radius", LENGTH_ABOVE_0, &mut it.radius)?;
    block.vector("extents", &mut it.b)?;
    if kind == ColliderKind::Box && it.b.iter().any(|half| *half < 0.0) {
        return Err(block.fault_here("'extents' must not be negative"));
    }
    let mut angles = [0.0; 3];
    match block.get("rotation") {
        Some(value) if value.kind() == Kind::Number => {
            angles[2] = block.number_of("rotation", value, DEGREES)?;
        }
        _ => block.vector("rotation", &mut angles)?,
    }
    let [x, y, z] = angles.map(f32::to_radians);
    let turned = Quat::from_rotation_z(z) * Quat::from_rotation_y(y) * Quat::from_rotation_x(x);
    it.rotation = turned.to_array();
    Ok(it)
}
