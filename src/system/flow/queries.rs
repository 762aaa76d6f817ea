//! Evaluation of queries that the interpreter knows: numbers, logic, vectors, texts, conversions.

use super::literal::axis_rotation;
use super::op::Op;
use super::program::{CONSTANT, LEVEL_SLOT, NodeLocation, NodeRecord, WORLD_SLOT};
use super::value::{FlowHeap, FlowType, Slot, Tag};
use engine_foundation::deterministic_math::sin_cos_f64;
use engine_foundation::{Handle, HandleKind, Quat};

/// Result of a native function: nothing, or the message of a refused call. It fits in registers.
pub type CallResult = Result<(), Box<str>>;

/// The engine, as nodes use it.
pub trait FlowHost {
    /// Returns a random number from 0 to 1 of the game's generator.
    fn random(&mut self) -> f64;
    /// Returns true if the object of a handle exists.
    fn exists(&mut self, handle: Handle) -> bool;
    /// Returns the unit of a level by its name in the level's file.
    fn level_unit(&mut self, level: Handle, name: &str) -> Option<Handle>;
    /// Returns the time of a world in seconds.
    fn time(&mut self, world: Handle) -> f64;
    /// Returns the file and the line of a node in the source of its graph, if there is a source.
    fn line_of(&mut self, node: &NodeLocation) -> Option<String>;
    /// Calls a native function with its inputs, and writes its outputs.
    ///
    /// # Errors
    /// Returns the message of a refused call.
    fn call(
        &mut self,
        function: u32,
        inputs: &[Slot],
        outputs: &mut [Slot],
        heap: &mut FlowHeap,
    ) -> CallResult;
}

/// The data of one instance while a node runs.
pub struct Machine<'a> {
    pub slots: &'a mut [Slot],
    pub constants: &'a [Slot],
    pub heap: &'a mut FlowHeap,
    pub host: &'a mut dyn FlowHost,
}

impl Machine<'_> {
    /// Returns the value of an operand.
    #[inline(always)]
    pub fn operand(&self, word: u32) -> Slot {
        match word & CONSTANT {
            0 => self.slots[word as usize],
            _ => self.constants[(word & !CONSTANT) as usize],
        }
    }

    #[inline(always)]
    pub fn input(&self, node: NodeRecord, input: usize) -> Slot {
        self.operand(node.operand(input))
    }

    #[inline(always)]
    pub fn number(&self, node: NodeRecord, input: usize) -> f64 {
        self.input(node, input).as_number()
    }

    /// Returns the float of a number input.
    fn float(&self, node: NodeRecord, input: usize) -> f32 {
        self.number(node, input) as f32
    }

    #[inline(always)]
    pub fn boolean(&self, node: NodeRecord, input: usize) -> bool {
        self.input(node, input).as_boolean()
    }

    pub fn text(&self, node: NodeRecord, input: usize) -> &str {
        self.heap.text(self.input(node, input))
    }

    /// Returns a unit, or the level, or the world of the graph.
    pub fn owner(&self, slot: u32) -> Option<Handle> {
        self.slots[slot as usize].as_handle()
    }

    /// Writes an output.
    #[inline(always)]
    pub fn set(&mut self, node: NodeRecord, output: usize, value: Slot) {
        self.slots[node.outputs() + output] = value;
    }

    /// Evaluates a query.
    ///
    /// # Errors
    /// Returns an error if a value does not have the type of its input.
    #[inline]
    pub fn evaluate(&mut self, node: NodeRecord) -> Result<(), String> {
        let value = match node.op() {
            op if (op as u16) < Op::And as u16 => number_query(self, node, op),
            op if (op as u16) <= Op::Xor as u16 => self.logic(node, op),
            op if (op as u16) <= Op::ColorLerp as u16 => self.value(node, op),
            op => return self.other(node, op),
        };
        self.set(node, 0, value);
        Ok(())
    }

    fn compare(&self, node: NodeRecord, op: Op) -> bool {
        let (a, b) = (self.number(node, 0), self.number(node, 1));
        match op {
            Op::NumberEqual => a == b,
            Op::NumberLess => a < b,
            Op::NumberLessEqual => a <= b,
            Op::NumberGreater => a > b,
            _ => a >= b,
        }
    }

    fn arithmetic(&mut self, node: NodeRecord, op: Op) -> f64 {
        let at = |input: usize| self.number(node, input);
        match op {
            Op::NumberAdd => at(0) + at(1),
            Op::NumberSubtract => at(0) - at(1),
            Op::NumberMultiply => at(0) * at(1),
            Op::NumberDivide if at(1) == 0.0 => 0.0,
            Op::NumberDivide => at(0) / at(1),
            Op::NumberModulo if at(1) == 0.0 => 0.0,
            Op::NumberModulo => at(0) - (at(0) / at(1)).floor() * at(1),
            Op::NumberMin => smaller(at(0), at(1)),
            Op::NumberMax => larger(at(0), at(1)),
            Op::NumberClamp => larger(smaller(at(0), at(2)), at(1)),
            Op::NumberNegate => -at(0),
            Op::NumberAbs => at(0).abs(),
            Op::NumberFloor => at(0).floor(),
            Op::NumberRound => (at(0) + 0.5).floor(),
            Op::NumberSqrt => larger(at(0), 0.0).sqrt(),
            Op::NumberSin => sin_cos_f64(at(0) * (std::f64::consts::PI / 180.0)).0,
            Op::NumberCos => sin_cos_f64(at(0) * (std::f64::consts::PI / 180.0)).1,
            Op::NumberLerp => at(0) + (at(1) - at(0)) * at(2),
            Op::NumberRemap if at(2) == at(1) => at(3),
            Op::NumberRemap => at(3) + (at(0) - at(1)) / (at(2) - at(1)) * (at(4) - at(3)),
            _ => {
                let (least, most) = (at(0), at(1));
                least + (most - least) * self.host.random()
            }
        }
    }

    fn logic(&mut self, node: NodeRecord, op: Op) -> Slot {
        let at = |input: usize| self.boolean(node, input);
        Slot::boolean(match op {
            Op::And => at(0) && at(1),
            Op::Or => at(0) || at(1),
            Op::Not => !at(0),
            _ => at(0) != at(1),
        })
    }

    /// Evaluates selections, and operations of vectors, rotations and colors.
    fn value(&mut self, node: NodeRecord, op: Op) -> Slot {
        let vector = |input: usize| self.input(node, input).as_vector();
        let rotation = |input: usize| self.input(node, input).as_rotation();
        match op {
            Op::SelectNumber | Op::SelectText | Op::SelectVector | Op::SelectUnit => {
                self.input(node, if self.boolean(node, 0) { 1 } else { 2 })
            }
            Op::VectorMake => Slot::vector(engine_foundation::Vec3::new(
                self.float(node, 0),
                self.float(node, 1),
                self.float(node, 2),
            )),
            Op::VectorSplit => {
                let [x, y, z] = vector(0).to_array().map(|part| Slot::number(f64::from(part)));
                self.set(node, 1, y);
                self.set(node, 2, z);
                x
            }
            Op::VectorAdd => Slot::vector(vector(0) + vector(1)),
            Op::VectorSubtract => Slot::vector(vector(0) - vector(1)),
            Op::VectorScale => Slot::vector(vector(0) * self.float(node, 1)),
            Op::VectorLength => Slot::number(f64::from(vector(0).length())),
            Op::VectorDistance => Slot::number(f64::from(vector(0).distance(vector(1)))),
            Op::VectorNormalize => Slot::vector(vector(0).normalize_or_zero()),
            Op::VectorDot => Slot::number(f64::from(vector(0).dot(vector(1)))),
            Op::VectorCross => Slot::vector(vector(0).cross(vector(1))),
            Op::VectorLerp => {
                let (a, b) = (vector(0), vector(1));
                Slot::vector(a + (b - a) * self.float(node, 2))
            }
            Op::RotationAxis => Slot::rotation(axis_rotation(vector(0), self.float(node, 1))),
            Op::RotationMultiply => Slot::rotation(rotation(0) * rotation(1)),
            Op::RotationRotate => Slot::vector(rotation(0) * vector(1)),
            Op::RotationLerp => {
                Slot::rotation(blend(rotation(0), rotation(1), self.float(node, 2)))
            }
            Op::ColorMake => Slot::color(std::array::from_fn(|at| self.float(node, at))),
            _ => {
                let (a, b) = (self.input(node, 0).as_color(), self.input(node, 1).as_color());
                let share = self.float(node, 2);
                Slot::color(std::array::from_fn(|at| a[at] + (b[at] - a[at]) * share))
            }
        }
    }

    /// Evaluates texts, conversions, objects and lists.
    fn other(&mut self, node: NodeRecord, op: Op) -> Result<(), String> {
        let value = match op {
            Op::TextJoin => {
                let joined = format!("{}{}", self.text(node, 0), self.text(node, 1));
                self.heap.add_text(&joined)?
            }
            Op::TextEqual => Slot::boolean(self.text(node, 0) == self.text(node, 1)),
            Op::TextLength => Slot::number(self.text(node, 0).chars().count() as f64),
            Op::TextContains => Slot::boolean(self.text(node, 0).contains(self.text(node, 1))),
            Op::ToText => {
                let text = self.input(node, 0).describe(self.heap);
                self.heap.add_text(&text)?
            }
            Op::ToNumber => match self.input(node, 0) {
                text if text.tag == Tag::Text => {
                    let number = self.heap.text(text).trim().parse().unwrap_or(0.0);
                    Slot::number(if f64::is_finite(number) { number } else { 0.0 })
                }
                value => Slot::number(value.as_number()),
            },
            Op::ToBoolean => Slot::boolean(self.boolean(node, 0)),
            Op::Check => {
                let value = self.input(node, 0);
                check(value, FlowType::ALL[node.payload() as usize])?;
                value
            }
            Op::SameObject => {
                let (a, b) = (self.input(node, 0).as_handle(), self.input(node, 1).as_handle());
                Slot::boolean(a.is_some() && a == b)
            }
            Op::Exists => {
                let value = self.input(node, 0);
                Slot::boolean(match value.as_handle() {
                    Some(handle) => self.host.exists(handle),
                    None => value.tag != Tag::Nil,
                })
            }
            Op::ListLength => Slot::number(self.heap.list(self.input(node, 0)).len() as f64),
            Op::ListItem => {
                let index = self.number(node, 1);
                let items = self.heap.list(self.input(node, 0));
                let inside = index >= 1.0 && index <= items.len() as f64;
                match inside {
                    true => checked_item(items[index as usize - 1], index as usize, node)?,
                    false => Slot::NIL,
                }
            }
            Op::Time => match self.owner(WORLD_SLOT) {
                Some(world) => Slot::number(self.host.time(world)),
                None => Slot::number(0.0),
            },
            _ => {
                let name = self.heap.text(self.input(node, 0));
                let level = self.slots[LEVEL_SLOT as usize].as_handle();
                let unit = level.and_then(|level| self.host.level_unit(level, name));
                unit.map_or(Slot::NIL, Slot::handle)
            }
        };
        self.set(node, 0, value);
        Ok(())
    }
}

/// Evaluates an operation of numbers.
#[inline(always)]
fn number_query(machine: &mut Machine, node: NodeRecord, op: Op) -> Slot {
    match op {
        Op::NumberEqual
        | Op::NumberLess
        | Op::NumberLessEqual
        | Op::NumberGreater
        | Op::NumberGreaterEqual => Slot::boolean(machine.compare(node, op)),
        op => Slot::number(machine.arithmetic(node, op)),
    }
}

/// Returns the smaller number. Comparisons give the same zero on all processors.
#[inline(always)]
fn smaller(a: f64, b: f64) -> f64 {
    if b < a { b } else { a }
}

/// Returns the larger number, as `smaller`.
#[inline(always)]
fn larger(a: f64, b: f64) -> f64 {
    if b > a { b } else { a }
}

/// Returns the item of a list with an index from 1, if it has the type that the node expects.
///
/// # Errors
/// Returns a message with both types.
pub fn checked_item(item: Slot, index: usize, node: NodeRecord) -> Result<Slot, String> {
    if item.tag != Tag::Nil {
        let kind = FlowType::ALL[node.payload() as usize];
        check(item, kind).map_err(|message| format!("the item {index} {message}"))?;
    }
    Ok(item)
}

/// Checks that a value has a type.
///
/// # Errors
/// Returns a message with both types.
pub fn check(value: Slot, kind: FlowType) -> Result<(), String> {
    let fits = match kind {
        FlowType::Unit | FlowType::Actor | FlowType::Level | FlowType::World => {
            let wanted = match kind {
                FlowType::Unit => HandleKind::Unit,
                FlowType::Actor => HandleKind::Actor,
                FlowType::Level => HandleKind::Level,
                _ => HandleKind::World,
            };
            value.as_handle().and_then(HandleKind::of) == Some(wanted)
        }
        kind => value.tag.fits(kind),
    };
    match fits {
        true => Ok(()),
        false => Err(format!("must be of type {}, got {}", kind.name(), value.tag.noun())),
    }
}

/// Returns the rotation between two others, along the shorter way.
fn blend(a: Quat, b: Quat, share: f32) -> Quat {
    let b = if a.dot(b) < 0.0 { -b } else { b };
    let mixed = a * (1.0 - share) + b * share;
    mixed.normalize()
}
