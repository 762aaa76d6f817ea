//! The locals of a function that compiled code keeps: those that the bytecode after a line uses. A
//! trace of LuaJIT drops the values of all others, and their slots on the stack hold older values
//! or temporaries.

/// Maximum number of instructions that are followed from one instruction.
const STEPS_MAX: usize = 1000;
/// Maximum number of slots of a function.
pub const SLOTS_MAX: u32 = 256;
/// Maximum number of instructions of a line. In a longer line, no local counts as kept.
const LINE_MAX: usize = 500;

/// Instructions of LuaJIT's bytecode, by their numbers in lj_bc.h.
mod op {
    /// The last comparison. The jump after a comparison is skipped if it is false.
    pub const ISF: u32 = 15;
    pub const CAT: u32 = 38;
    pub const UCLO: u32 = 50;
    pub const CALLMT: u32 = 67;
    pub const CALLT: u32 = 68;
    pub const ISNEXT: u32 = 72;
    pub const RETM: u32 = 73;
    pub const RET: u32 = 74;
    pub const RET1: u32 = 76;
    pub const JFORI: u32 = 78;
    pub const JFORL: u32 = 81;
    pub const JITERL: u32 = 84;
    pub const JLOOP: u32 = 87;
    pub const JMP: u32 = 88;
    pub const JFUNCF: u32 = 98;
    pub const JFUNCV: u32 = 101;
}

/// Kinds of operands in an instruction's mode.
mod operand {
    pub const NONE: u32 = 0;
    pub const WRITTEN: u32 = 1;
    /// The first of the slots that an instruction uses or writes.
    pub const BASE: u32 = 2;
    pub const READ: u32 = 3;
    /// The first of the slots that hold nothing any more.
    pub const FREE_BASE: u32 = 4;
}

/// An instruction, as LuaJIT's reflection describes it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Instruction {
    /// The number of the instruction, and its operands.
    pub bits: u32,
    /// The kinds of its operands.
    pub mode: u32,
    /// The line of the source.
    pub line: u32,
}

impl Instruction {
    fn op(self) -> u32 {
        self.bits & 0xff
    }

    fn a(self) -> u32 {
        self.bits >> 8 & 0xff
    }

    fn b(self) -> u32 {
        self.bits >> 24
    }

    fn c(self) -> u32 {
        self.bits >> 16 & 0xff
    }

    fn d(self) -> u32 {
        self.bits >> 16
    }

    fn mode_a(self) -> u32 {
        self.mode & 7
    }

    fn mode_b(self) -> u32 {
        self.mode >> 3 & 15
    }

    fn mode_c(self) -> u32 {
        self.mode >> 7 & 15
    }

    /// Returns the instruction after a jump at `at`.
    fn target(self, at: usize) -> usize {
        (at + 1 + self.d() as usize).saturating_sub(0x8000)
    }
}

/// Returns true if a trace begins in this code: LuaJIT writes it into the first instruction.
pub fn begins_trace(code: &[Instruction]) -> bool {
    const TRACES: [u32; 6] = [op::JFORI, op::JFORL, op::JITERL, op::JLOOP, op::JFUNCF, op::JFUNCV];
    code.iter().any(|instruction| TRACES.contains(&instruction.op()))
}

/// Slots of a function, by number.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Slots([u128; 2]);

impl Slots {
    const ALL: Slots = Slots([u128::MAX; 2]);

    /// Returns true if a slot is one of these.
    pub fn contains(self, slot: u32) -> bool {
        self.0.get(slot as usize / 128).is_some_and(|bits| bits >> (slot % 128) & 1 != 0)
    }

    fn insert(&mut self, slot: u32) {
        if let Some(bits) = self.0.get_mut(slot as usize / 128) {
            *bits |= 1 << (slot % 128);
        }
    }

    /// Adds a slot and all after it.
    fn insert_from(&mut self, slot: u32) {
        let from = |first: u32| match slot.saturating_sub(first) {
            skipped @ 0..128 => u128::MAX << skipped,
            _ => 0,
        };
        self.0[0] |= from(0);
        self.0[1] |= from(128);
    }

    fn intersection(self, other: Slots) -> Slots {
        Slots([self.0[0] & other.0[0], self.0[1] & other.0[1]])
    }
}

/// Returns the slots that are used after every instruction of a line. Only one way through the code
/// is followed from each, so that there may be more; but each of these is used.
pub fn kept_after(code: &[Instruction], line: u32) -> Slots {
    let of_line: Vec<usize> = (0..code.len()).filter(|at| code[*at].line == line).collect();
    match of_line.len() {
        1..=LINE_MAX => {
            of_line.into_iter().map(|at| used_after(code, at)).fold(Slots::ALL, Slots::intersection)
        }
        _ => Slots::default(),
    }
}

/// Returns slots that are used after the instruction at `from` and are not written before.
fn used_after(code: &[Instruction], from: usize) -> Slots {
    let (mut used, mut written) = (Slots::default(), Slots::default());
    let mut next = following(code, from);
    for _ in 0..STEPS_MAX {
        let Some((at, instruction)) = next.and_then(|at| Some((at, *code.get(at)?))) else { break };
        let mut read = |slot: u32| {
            if !written.contains(slot) {
                used.insert(slot);
            }
        };
        let (a, mode_b) = (instruction.a(), instruction.mode_b());
        if mode_b == operand::READ {
            read(instruction.b());
        }
        if instruction.mode_c() == operand::READ {
            read(if mode_b == operand::NONE { instruction.d() } else { instruction.c() });
        }
        match (instruction.op(), instruction.mode_a()) {
            (op::CAT, _) => (instruction.b()..=instruction.c()).for_each(&mut read),
            (op::RET..=op::RET1, _) => {
                (a..(a + instruction.d()).saturating_sub(1)).for_each(&mut read)
            }
            (_, operand::READ) => read(a),
            _ => {}
        }
        match instruction.mode_a() {
            // A comparison writes only if it jumps, and here it does not.
            operand::WRITTEN if instruction.op() > op::ISF => written.insert(a),
            operand::BASE | operand::FREE_BASE => written.insert_from(a),
            _ => {}
        }
        next = following(code, at);
    }
    used
}

/// Returns the instruction that may run after the one at `at`; `None` if the function ends, or if
/// the code does not say it.
fn following(code: &[Instruction], at: usize) -> Option<usize> {
    let instruction = code.get(at)?;
    match instruction.op() {
        op::CALLMT | op::CALLT | op::RETM..=op::RET1 | op::JLOOP => None,
        op::JMP | op::ISNEXT | op::UCLO => Some(instruction.target(at)).filter(|to| *to > at),
        // The jump of the comparison follows it, unless that is the end of the code.
        0..=op::ISF => Some(at + 2),
        _ => Some(at + 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: u32 = 2;

    /// Returns an instruction with the operands A and D, which are of these kinds.
    fn instruction(op: u32, a: (u32, u32), d: (u32, u32), line: u32) -> Instruction {
        Instruction { bits: op | a.0 << 8 | d.0 << 16, mode: a.1 | d.1 << 7, line }
    }

    /// `call(…)` in the line, with its function in slot 5.
    fn call() -> Instruction {
        const CALL: u32 = 66;
        instruction(CALL, (5, operand::BASE), (0, operand::NONE), LINE)
    }

    /// `a = d`
    fn moved(a: u32, d: u32) -> Instruction {
        const MOV: u32 = 18;
        instruction(MOV, (a, operand::WRITTEN), (d, operand::READ), LINE + 1)
    }

    /// `return a`
    fn returned(a: u32, line: u32) -> Instruction {
        instruction(op::RET1, (a, operand::BASE), (2, operand::NONE), line)
    }

    #[test]
    fn only_locals_that_are_used_later_are_kept() {
        let code = [call(), moved(1, 2), moved(3, 1), returned(3, LINE + 1)];
        let kept = kept_after(&code, LINE);
        // Slots 1 and 3 are written before they are read.
        let slots: Vec<u32> = (0..256).filter(|slot| kept.contains(*slot)).collect();
        assert_eq!(slots, [2]);
        assert!(!kept.contains(256));
        assert_eq!(kept_after(&code, 7), Slots::default(), "a line without code");
        assert_eq!(kept_after(&[], LINE), Slots::default());
    }

    #[test]
    fn nothing_is_kept_after_a_return_in_the_line() {
        let code = [call(), returned(5, LINE), moved(1, 2), returned(1, LINE + 1)];
        assert_eq!(kept_after(&code, LINE), Slots::default());
    }

    #[test]
    fn jumps_are_followed_forwards_only() {
        let jump = |to: u32| {
            instruction(op::JMP, (6, operand::FREE_BASE), (0x8000 + to, operand::NONE), LINE + 1)
        };
        let code = [call(), jump(1), returned(1, LINE + 1), returned(2, LINE + 1)];
        assert!(kept_after(&code, LINE).contains(2));
        assert!(!kept_after(&code, LINE).contains(1));
        let endless = instruction(op::JMP, (6, operand::FREE_BASE), (0x7fff, 0), LINE + 1);
        assert_eq!(kept_after(&[call(), endless], LINE), Slots::default());
    }

    #[test]
    fn slots_are_added_from_one_on() {
        for from in [0, 1, 127, 128, 200, 255] {
            let mut slots = Slots::default();
            slots.insert_from(from);
            assert!((0..256).all(|slot| slots.contains(slot) == (slot >= from)), "{from}");
        }
    }

    #[test]
    fn hostile_code_ends() {
        let code: Vec<Instruction> = (0..5000_u32)
            .map(|i| Instruction { bits: i.wrapping_mul(0x9e37_79b9), mode: i, line: i % 3 })
            .collect();
        for line in 0..3 {
            kept_after(&code, line);
        }
        let long = vec![moved(1, 2); LINE_MAX + 1];
        assert_eq!(kept_after(&long, LINE + 1), Slots::default());
        assert!(begins_trace(&[instruction(op::JFUNCF, (0, 0), (1, 0), 1)]));
        assert!(!begins_trace(&[call()]));
    }
}
