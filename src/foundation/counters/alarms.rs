//! Alarms: upper limits of counters. An alarm is raised when its counter rises above the limit, and
//! again only after the counter was at or below it.

use super::registry::name_of;
use crate::Error;
use crate::error;

/// Maximum number of alarms that can be set at once.
pub const ALARMS_MAX: usize = 256;

/// An upper limit for one counter.
struct Alarm {
    number: u32,
    limit: f64,
    /// True if the counter was above its limit in the last frame, so the alarm was already
    /// raised.
    above: bool,
}

/// A counter that rose above its limit.
#[derive(Clone, PartialEq, Debug)]
pub struct RaisedAlarm {
    pub name: &'static str,
    pub value: f64,
    pub limit: f64,
}

/// The alarms of all counters, at most one each.
#[derive(Default)]
pub struct AlarmTable {
    alarms: Vec<Alarm>,
    /// Alarms that were raised and not yet taken by the game.
    pub raised: Vec<RaisedAlarm>,
}

impl AlarmTable {
    /// Raises the alarms of the counters whose value rose above its limit. `values` is indexed by
    /// the number of the counter.
    pub fn check(&mut self, values: &[f64]) {
        for alarm in &mut self.alarms {
            let value = values[alarm.number as usize];
            let above = value > alarm.limit;
            if above && !alarm.above {
                let (name, limit) = (name_of(alarm.number), alarm.limit);
                self.raised.push(RaisedAlarm { name, value, limit });
            }
            alarm.above = above;
        }
    }

    pub fn set(&mut self, number: u32, limit: f64) -> Result<(), Error> {
        if let Some(alarm) = self.alarms.iter_mut().find(|it| it.number == number) {
            *alarm = Alarm { number, limit, above: false };
            return Ok(());
        }
        if self.alarms.len() >= ALARMS_MAX {
            return Err(error!(
                "{ALARMS_MAX} alarms are set already (ALARMS_MAX): remove others first"
            ));
        }
        self.alarms.push(Alarm { number, limit, above: false });
        Ok(())
    }

    pub fn remove(&mut self, number: u32) -> bool {
        let before = self.alarms.len();
        self.alarms.retain(|alarm| alarm.number != number);
        before > self.alarms.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_alarm_is_raised_once_per_crossing_of_its_limit() {
        let mut alarms = AlarmTable::default();
        let number = super::super::counter("tests/alarm").unwrap();
        alarms.set(number, 10.0).unwrap();
        let mut values = vec![0.0; number as usize + 1];
        for value in [10.0, 11.0, 12.0, 3.0, 20.0] {
            values[number as usize] = value;
            alarms.check(&values);
        }
        let raised: Vec<_> = alarms.raised.iter().map(|it| (it.name, it.value, it.limit)).collect();
        assert_eq!(raised, [("tests/alarm", 11.0, 10.0), ("tests/alarm", 20.0, 10.0)]);
        assert!(alarms.remove(number) && !alarms.remove(number));
    }

    #[test]
    fn the_number_of_alarms_is_limited() {
        let mut alarms = AlarmTable::default();
        for number in 0..ALARMS_MAX as u32 {
            alarms.set(number + 1, 0.0).unwrap();
        }
        let message = alarms.set(9999, 0.0).unwrap_err().message;
        assert!(message.contains("256 alarms are set already (ALARMS_MAX)"), "{message}");
    }
}
