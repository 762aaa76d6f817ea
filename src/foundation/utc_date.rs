//! Dates as text, in Coordinated Universal Time. Knows no time zones and no leap seconds.

use std::time::{SystemTime, UNIX_EPOCH};

const DAY_SECONDS: u64 = 86_400;

/// Returns a point in time as text: `2026-11-28 03:42:51 UTC`. Times before 1970 count as 1970.
pub fn text(time: SystemTime) -> String {
    let seconds = time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let (days, rest) = (seconds / DAY_SECONDS, seconds % DAY_SECONDS);
    let (year, month, day) = date_of(days);
    let (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02} UTC")
}

/// Returns year, month and day from the number of days since 1970. The calendar is counted from
/// March, so that the leap day is the last of a year (Howard Hinnant, "chrono-compatible low-level
/// date algorithms").
fn date_of(days: u64) -> (u64, u64, u64) {
    // Days from the 1st of March of the year 0 to 1970.
    let days = days + 719_468;
    // The calendar repeats every 400 years.
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (month, carry) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    (era * 400 + year + carry, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn dates_follow_the_calendar() {
        let check = |seconds: u64, wanted: &str| {
            assert_eq!(text(UNIX_EPOCH + Duration::from_secs(seconds)), wanted);
        };
        check(0, "1970-01-01 00:00:00 UTC");
        check(951_782_399, "2000-02-28 23:59:59 UTC");
        check(951_782_400, "2000-02-29 00:00:00 UTC");
        check(951_868_800, "2000-03-01 00:00:00 UTC");
        check(1_735_689_599, "2024-12-31 23:59:59 UTC");
        check(4_107_542_400, "2100-03-01 00:00:00 UTC");
        assert_eq!(text(UNIX_EPOCH - Duration::from_secs(9)), "1970-01-01 00:00:00 UTC");
    }
}
