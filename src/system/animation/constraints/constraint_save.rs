//! States of constraints as lists of numbers: the springs, then the feet, then the limbs.

use super::constraint_set::ConstraintSetState;
use super::foot_placement::FootPlacementState;
use super::limb_bend::LimbBend;
use super::spring::{SPRING_BONES_MAX, SpringState};
use engine_foundation::{Error, error};

/// Largest absolute number of a state: positions in worlds are far below.
const NUMBER_MAX: f64 = 1e9;

/// Reader of a list of numbers.
struct Numbers<'a>(&'a [f64]);

impl Numbers<'_> {
    fn next(&mut self) -> Result<f32, Error> {
        let Some((number, rest)) = self.0.split_first() else {
            return Err(error!("the list of an animation state ends early"));
        };
        self.0 = rest;
        match number.abs() <= NUMBER_MAX {
            true => Ok(*number as f32),
            false => Err(error!(
                "the list of an animation state has {number} where a number of its springs and \
                 feet should be"
            )),
        }
    }

    fn count(&mut self) -> Result<usize, Error> {
        let number = self.next()?;
        match (0.0..=SPRING_BONES_MAX as f32).contains(&number) && number.fract() == 0.0 {
            true => Ok(number as usize),
            false => Err(error!(
                "the list of an animation state has {number} where the number of a spring's bones \
                 should be"
            )),
        }
    }
}

impl ConstraintSetState {
    /// Adds the state to a list of numbers.
    pub fn save(&self, numbers: &mut Vec<f64>) {
        for spring in &self.springs {
            numbers.push(spring.bone_count() as f64);
            spring.each_number(&mut |number| numbers.push(f64::from(number)));
        }
        self.each_leg_number(|number| numbers.push(f64::from(number)));
    }

    /// Replaces the state by that of a list that [`ConstraintSetState::save`] wrote. An empty list
    /// makes springs and feet begin again.
    ///
    /// # Errors
    /// Returns an error and changes nothing if the list is not of these constraints.
    pub fn load(&mut self, numbers: &[f64]) -> Result<(), Error> {
        let mut loaded = ConstraintSetState {
            springs: vec![SpringState::default(); self.springs.len()],
            feet: vec![FootPlacementState::FLAT; self.feet.len()],
            limbs: vec![LimbBend::UNKNOWN; self.limbs.len()],
        };
        let mut numbers = Numbers(numbers);
        if !numbers.0.is_empty() {
            for spring in &mut loaded.springs {
                let count = numbers.count()?;
                *spring = SpringState::from_numbers(count, || numbers.next())?;
            }
            for feet in &mut loaded.feet {
                *feet = FootPlacementState::from_numbers(|| numbers.next())?;
            }
            for limb in &mut loaded.limbs {
                *limb =
                    LimbBend::from_numbers([numbers.next()?, numbers.next()?, numbers.next()?])?;
            }
        }
        if !numbers.0.is_empty() {
            return Err(error!(
                "the list of an animation state has {} numbers too many: it is of another state \
                 machine",
                numbers.0.len()
            ));
        }
        *self = loaded;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_of_springs_and_feet_are_read_as_written() {
        let mut number = 0.0;
        let mut count = || {
            number += 0.25;
            number
        };
        let mut feet = FootPlacementState::FLAT;
        (feet.pelvis.value, feet.feet[1].offset.value) = (0.125, -0.5);
        feet.feet[2].slope[0].value = 0.5;
        let mut written = vec![3.0];
        written.extend((0..3 * 2 * 3 + 9).map(|_| count()));
        written.extend([0.0, 0.0, 0.0, 1.0, 0.01].map(|it: f32| f64::from(it)));
        let mut limbs = vec![LimbBend::UNKNOWN];
        limbs[0] = LimbBend::from_numbers([1.0, 0.5, -0.25]).unwrap();
        written.push(0.0);
        written.extend([0.0; 9]);
        written.extend([0.0, 0.0, 0.0, 1.0, 0.0]);
        let mut state = ConstraintSetState {
            springs: vec![SpringState::default(); 2],
            feet: vec![feet],
            limbs,
        };
        state.each_leg_number(|number| written.push(f64::from(number)));
        let (feet_before, limbs) = (vec![FootPlacementState::FLAT], vec![LimbBend::UNKNOWN]);
        let before = ConstraintSetState { feet: feet_before, limbs, ..state.clone() };
        state.load(&written).unwrap();
        assert_ne!(state, before);
        assert_eq!(state.feet, [feet]);
        assert!(state.limbs[0].is_known());
        let mut again = Vec::new();
        state.save(&mut again);
        assert_eq!(again, written);
        let check = |change: &dyn Fn(&mut Vec<f64>), message: &str| {
            let (mut list, mut state) = (written.clone(), before.clone());
            change(&mut list);
            let error = state.load(&list).unwrap_err().message;
            assert!(error.contains(message), "{error}");
            assert_eq!(state, before);
        };
        check(&|list| list.truncate(9), "ends early");
        check(&|list| list.push(1.0), "1 numbers too many");
        check(&|list| list[0] = 2.5, "2.5 where the number of a spring's bones");
        check(&|list| list[0] = 1e6, "where the number of a spring's bones");
        check(&|list| list[4] = f64::NAN, "NaN where a number of its springs and feet");
        check(&|list| list[1 + 18 + 9 + 3] = 9.0, "not the state of a spring");
        let last = written.len() - 1;
        check(&|list| list[last - 2] = 0.5, "not the state of a limb");
        check(&|list| list[last - 1] = 9.0, "not the state of a limb");
        // The first slope of the last foot, before the numbers of the knees.
        check(&|list| list[last - 3 - 8 * 3 - 3] = 9.0, "not the state of feet");
        state.load(&[]).unwrap();
        assert_eq!(state, before, "springs and feet begin again");
    }
}
