//! Parser of the parts of an emitter that describe the motion and the appearance of particles.

use super::compile::EmitterParser;
use super::data::*;
use super::limits::*;
use super::source_fields::{SourceFields, is_color};
use engine_foundation::color_source::ColorKey;
use engine_foundation::sjson::{SjsonValue, ValueKind};
use engine_foundation::{Error, Quat, suggest};

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

/// The color keys of an emitter.
pub const COLORS: [ColorKey; 2] = [
    ColorKey { key: "color", linear_key: "", has_alpha: true },
    ColorKey { key: "tint", linear_key: "", has_alpha: true },
];

impl EmitterParser<'_> {
    pub(super) fn motion(
        &self,
        fields: &SourceFields,
        data: &mut EmitterData,
    ) -> Result<(), Error> {
        fields.vector("gravity", &mut data.gravity)?;
        fields.number("drag", DRAG, &mut data.drag)?;
        let forces = fields.list("forces", FORCES_MAX, "FORCES_MAX")?;
        data.force_count = forces.len() as u32;
        for (target, value) in data.forces.iter_mut().zip(forces) {
            *target = force(fields, value)?;
        }
        let Some(value) = fields.get("collision") else { return Ok(()) };
        let block = fields.open_block(value, "'collision'", &COLLISION_KEYS)?;
        block.number("bounce", PART, &mut data.bounce)?;
        block.number("friction", PART, &mut data.friction)?;
        block.number("radius", LENGTH, &mut data.particle_radius)?;
        block.number("life_loss", PART, &mut data.life_loss)?;
        data.colliders_fixed = match block.choice("space", Space::ALL)? {
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
                let count = data.collider_count as usize;
                if count == COLLIDERS_MAX {
                    let message = format!("more than {COLLIDERS_MAX} colliders (COLLIDERS_MAX)");
                    return Err(block.error_at(value, &message));
                }
                data.colliders[count] = collider(&block, kind, value)?;
                data.collider_count += 1;
            }
        }
        if data.collider_count == 0 {
            return Err(block.block_error("it names no planes, spheres, boxes or whiskers"));
        }
        Ok(())
    }

    pub(super) fn appearance(
        &self,
        fields: &SourceFields,
        data: &mut EmitterData,
    ) -> Result<(), Error> {
        fields.curve("size", LENGTH, &mut data.sizes)?;
        // The table contains fractions of the maximum, so its numbers do not depend on the unit.
        data.size_max = data.sizes.iter().fold(0.0f32, |most, size| most.max(*size)).max(SIZE_MIN);
        data.sizes.iter_mut().for_each(|size| *size /= data.size_max);
        fields.number("size_random", PART, &mut data.size_random)?;
        fields.number("aspect", ASPECT, &mut data.aspect)?;
        fields.colors(COLORS[0].key, &mut data.colors)?;
        let mut alpha = [1.0; TABLE];
        fields.curve("alpha", PART, &mut alpha)?;
        for (color, alpha) in data.colors.iter_mut().zip(alpha) {
            color[3] = (f32::from(color[3]) * alpha + 0.5) as u8;
        }
        self.tint(fields, data)?;
        data.over = fields.choice("over", Over::ALL)?.unwrap_or(Over::Life) as u32;
        fields.number("over_speed", OVER_SPEED, &mut data.over_speed)?;
        if (data.over == Over::Speed as u32) != fields.get("over_speed").is_some() {
            let message = "over = \"speed\" and 'over_speed', the speed at which the curves end, \
                         belong together";
            return Err(fields.block_error(message));
        }
        let turns = |range: [f32; 2]| range.map(|degrees| degrees / 360.0);
        fields.range("rotation", DEGREES, &mut data.rotation)?;
        fields.range("spin", DEGREES, &mut data.spin)?;
        (data.rotation, data.spin) = (turns(data.rotation), turns(data.spin));
        self.flipbook(fields, data)?;
        data.blend = fields.choice("blend", Blending::ALL)?.unwrap_or(Blending::Alpha) as u32;
        fields.number("glow", GLOW, &mut data.glow)?;
        let billboard = fields.choice("billboard", Billboard::ALL)?.unwrap_or(Billboard::Facing);
        data.billboard = billboard as u32;
        fields.number("stretch", STRETCH, &mut data.stretch)?;
        if fields.get("stretch").is_some() && billboard != Billboard::Stretched {
            let at = fields.get("stretch").expect("it was read");
            return Err(fields.error_at(at, "'stretch' is for billboard = \"stretched\""));
        }
        fields.direction("axis", &mut data.axis)?;
        if (billboard == Billboard::Aligned) != fields.get("axis").is_some() {
            let message = "billboard = \"aligned\" and an 'axis' belong together";
            return Err(fields.block_error(message));
        }
        data.sort = fields.choice("sort", Sort::ALL)?.unwrap_or(Sort::None) as u32;
        fields.number("softness", SOFTNESS, &mut data.softness)?;
        fields.number("lit", LIT, &mut data.lit)?;
        fields.number("distortion", DISTORTION, &mut data.distortion)?;
        if let Some(value) = fields.get("layer") {
            data.layer = fields.number_of("layer", value, LAYER)? as i32;
        }
        self.trail(fields, data)
    }

    fn tint(&self, fields: &SourceFields, data: &mut EmitterData) -> Result<(), Error> {
        let key = COLORS[1].key;
        let Some(value) = fields.get(key) else { return Ok(()) };
        if is_color(value) {
            data.tint = [fields.color_of(key, value)?; 2];
            return Ok(());
        }
        let pair: Vec<SjsonValue> = value.items().map_or(Vec::new(), |items| items.collect());
        let [a, b] = pair[..] else {
            let message = "'tint' must be a colour, or a list of two colours";
            return Err(fields.error_at(value, message));
        };
        data.tint = [fields.color_of(key, a)?, fields.color_of(key, b)?];
        Ok(())
    }

    fn flipbook(&self, fields: &SourceFields, data: &mut EmitterData) -> Result<(), Error> {
        let Some(value) = fields.get("flipbook") else { return Ok(()) };
        let block = fields.open_block(value, "'flipbook'", &FLIPBOOK_KEYS)?;
        let [mut columns, mut rows, _] = data.flipbook;
        let limit = "FLIPBOOK_FRAMES_MAX";
        block.integer("columns", (1, FLIPBOOK_FRAMES_MAX), limit, &mut columns)?;
        block.integer("rows", (1, FLIPBOOK_FRAMES_MAX), limit, &mut rows)?;
        if columns * rows > FLIPBOOK_FRAMES_MAX {
            let message =
                format!("{columns} by {rows} are more than {FLIPBOOK_FRAMES_MAX} frames ({limit})");
            return Err(block.block_error(&message));
        }
        let mut frames = columns * rows;
        block.integer("frames", (1, columns * rows), "columns times rows", &mut frames)?;
        data.flipbook = [columns, rows, frames];
        block.number("rate", FLIPBOOK_RATE, &mut data.flipbook_rate)?;
        block.boolean("random", &mut data.flipbook_random)
    }

    fn trail(&self, fields: &SourceFields, data: &mut EmitterData) -> Result<(), Error> {
        fields.boolean("ribbon", &mut data.ribbon)?;
        let Some(value) = fields.get("trail") else { return Ok(()) };
        if data.ribbon > 0 {
            return Err(
                fields.error_at(value, "an emitter has a 'trail' or is a 'ribbon', not both")
            );
        }
        let block = fields.open_block(value, "'trail'", &TRAIL_KEYS)?;
        data.trail_points = 12;
        data.trail_heads = 1;
        let limit = "TRAIL_POINTS_MAX";
        block.integer(
            "points",
            (TRAIL_POINTS_MIN, TRAIL_POINTS_MAX),
            limit,
            &mut data.trail_points,
        )?;
        block.number("interval", TRAIL_INTERVAL, &mut data.trail_interval)?;
        if let Some(width) = block.get("width") {
            let items: Vec<SjsonValue> = width.items().map_or(vec![width], |items| items.collect());
            let [first, last] = match items[..] {
                [pair] => [pair, pair],
                [first, last] => [first, last],
                _ => return Err(block.error_at(width, "'width' must be a number, or two")),
            };
            let of = |value| block.number_of("width", value, TRAIL_WIDTH);
            data.trail_width = [of(first)?, of(last)?];
        }
        block.boolean("heads", &mut data.trail_heads)
    }

    pub(super) fn binds(&self, fields: &SourceFields, data: &mut EmitterData) -> Result<(), Error> {
        let Some(value) = fields.get("bind") else { return Ok(()) };
        let keys: Vec<&str> = Bind::ALL.iter().map(|(word, _)| *word).collect();
        let block = fields.open_block(value, "'bind'", &keys)?;
        for (key, bind) in Bind::ALL {
            let Some(name) = block.text(key)? else { continue };
            let Some(index) = self.variables.iter().position(|known| known.name == name) else {
                let hint = suggest::hint(name, self.variables.iter().map(|known| &known.name[..]));
                let at = block.get(key).expect("it was read");
                let message =
                    format!("'{key}' names the variable '{name}', which does not exist{hint}");
                return Err(block.error_at(at, &message));
            };
            data.binds[*bind as usize] = index as u32 + 1;
        }
        if data.binds[Bind::Target as usize] > 0 && data.force_count == 0 {
            let at = block.get("target").expect("it was read");
            return Err(
                block.error_at(at, "'target' is the position of the first of 'forces': add one")
            );
        }
        Ok(())
    }
}

fn force(fields: &SourceFields, value: SjsonValue) -> Result<ForceData, Error> {
    let all =
        ["type", "strength", "position", "radius", "falloff", "axis", "size", "speed", "velocity"];
    let any = fields.open_block(value, "a force", &all)?;
    let Some(kind) = any.choice("type", ForceKind::ALL)? else {
        return Err(any.block_error("a force needs a 'type': type = \"vortex\""));
    };
    let known: &[&str] = match kind {
        ForceKind::Attractor => &["type", "strength", "position", "radius", "falloff"],
        ForceKind::Vortex => &["type", "strength", "position", "radius", "falloff", "axis"],
        ForceKind::Turbulence => &["type", "strength", "size", "speed"],
        ForceKind::Wind => &["type", "strength", "velocity"],
    };
    let name = format!("a force of type '{}'", ForceKind::ALL[kind as usize].0);
    let block = fields.open_block(value, &name, known)?;
    let mut force = ForceData {
        kind: kind as u32,
        strength: 1.0,
        size: 1.0,
        axis: if kind == ForceKind::Vortex { [0.0, 0.0, 1.0] } else { [0.0; 3] },
        ..ForceData::default()
    };
    block.number("strength", COORDINATES, &mut force.strength)?;
    block.vector("position", &mut force.position)?;
    block.number("radius", LENGTH_ABOVE_0, &mut force.radius)?;
    force.falloff = block.choice("falloff", Falloff::ALL)?.unwrap_or(Falloff::None) as u32;
    block.direction("axis", &mut force.axis)?;
    block.vector("velocity", &mut force.axis)?;
    block.number("size", LENGTH_ABOVE_0, &mut force.size)?;
    block.number("speed", EDDY_SPEED, &mut force.speed)?;
    Ok(force)
}

fn collider(
    fields: &SourceFields,
    kind: ColliderKind,
    value: SjsonValue,
) -> Result<ColliderData, Error> {
    let (subject, known): (&str, &[&str]) = match kind {
        ColliderKind::Plane => ("a plane", &["position", "normal"]),
        ColliderKind::Sphere => ("a sphere", &["position", "radius"]),
        ColliderKind::Box => ("a box", &["position", "extents", "rotation"]),
        ColliderKind::Whisker => ("a whisker", &["from", "to"]),
    };
    let block = fields.open_block(value, subject, known)?;
    let mut data = ColliderData {
        kind: kind as u32,
        rotation: [0.0, 0.0, 0.0, 1.0],
        radius: 1.0,
        ..ColliderData::default()
    };
    for key in known.iter().filter(|key| **key != "rotation" && **key != "position") {
        if block.get(key).is_none() {
            return Err(block.block_error(&format!("it needs '{key}'")));
        }
    }
    match kind {
        ColliderKind::Whisker => {
            block.vector("from", &mut data.a)?;
            block.vector("to", &mut data.b)?;
            if data.a == data.b {
                return Err(block.block_error("'from' and 'to' must not be the same point"));
            }
        }
        _ => block.vector("position", &mut data.a)?,
    }
    block.direction("normal", &mut data.b)?;
    block.number("radius", LENGTH_ABOVE_0, &mut data.radius)?;
    block.vector("extents", &mut data.b)?;
    if kind == ColliderKind::Box && data.b.iter().any(|half| *half < 0.0) {
        return Err(block.block_error("'extents' must not be negative"));
    }
    let mut angles = [0.0; 3];
    match block.get("rotation") {
        Some(value) if value.kind() == ValueKind::Number => {
            angles[2] = block.number_of("rotation", value, DEGREES)?;
        }
        _ => block.vector("rotation", &mut angles)?,
    }
    let [x, y, z] = angles.map(f32::to_radians);
    let turned = Quat::from_rotation_z(z) * Quat::from_rotation_y(y) * Quat::from_rotation_x(x);
    data.rotation = turned.to_array();
    Ok(data)
}
