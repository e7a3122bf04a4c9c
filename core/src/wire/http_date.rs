//! HTTP dates: three forms to read, one to write (RFC 9110, section 5.6.7).
//!
//! | form | example |
//! |---|---|
//! | IMF-fixdate, the one to write | `Sun, 06 Nov 1994 08:49:37 GMT` |
//! | RFC 850 | `Sunday, 06-Nov-94 08:49:37 GMT` |
//! | asctime | `Sun Nov  6 08:49:37 1994` |
//!
//! Names are case-sensitive. The day of the week must be one, but need not be that of the date: a date that
//! names it wrongly still says when. A second may be 60. A two-digit year that would lie more than 50 years ahead
//! is of the century before.

use core::fmt::Write;

const DAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
const LONG_DAYS: [&str; 7] = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];
const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

const MINUTE: i64 = 60;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

/// The length of an IMF-fixdate.
pub const LENGTH: usize = 29;

/// The first and the last second that an IMF-fixdate can name: the years 0 to 9999.
const FIRST: i64 = -62_167_219_200;
const LAST: i64 = 253_402_300_799;

/// Reads a date: seconds since 1970. `now` (likewise) decides the century of a two-digit year.
///
/// ```
/// use seawall::wire::http_date;
///
/// for date in ["Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"] {
///     assert_eq!(http_date::parse(date.as_bytes(), 1_800_000_000), Some(784_111_777));
/// }
/// assert_eq!(http_date::parse(b"sun, 06 nov 1994 08:49:37 gmt", 0), None);
/// ```
#[must_use]
pub fn parse(text: &[u8], now: i64) -> Option<i64> {
    let text = super::trimmed(text);
    match text.iter().position(|&byte| byte == b',') {
        Some(3) => fixdate(text),
        Some(_) => rfc850(text, now),
        None => asctime(text),
    }
}

/// Writes a date that is so many seconds after 1970. Years beyond 0 to 9999 become the nearest of them.
///
/// ```
/// assert_eq!(seawall::wire::http_date::write(784_111_777), "Sun, 06 Nov 1994 08:49:37 GMT");
/// ```
#[must_use]
pub fn write(seconds: i64) -> heapless::String<LENGTH> {
    let seconds = seconds.clamp(FIRST, LAST);
    let (days, of_day) = (seconds.div_euclid(DAY), seconds.rem_euclid(DAY));
    let (year, month, day) = civil(days);
    let name = |names: &[&'static str], place: i64| {
        usize::try_from(place).ok().and_then(|place| names.get(place)).copied().unwrap_or("")
    };
    let mut text = heapless::String::new();
    // The first of January 1970 was a Thursday. Every date within the bounds takes exactly the length.
    let _ = write!(
        text,
        "{}, {day:02} {} {year:04} {:02}:{:02}:{:02} GMT",
        name(&DAYS, (days + 3).rem_euclid(7)),
        name(&MONTHS, month - 1),
        of_day / HOUR,
        of_day % HOUR / MINUTE,
        of_day % MINUTE
    );
    text
}

/// A text being read from its front.
struct Rest<'a>(&'a [u8]);

impl<'a> Rest<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (head, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(head)
    }

    fn exactly(&mut self, text: &str) -> Option<()> {
        (self.take(text.len())? == text.as_bytes()).then_some(())
    }

    fn number(&mut self, width: usize) -> Option<i64> {
        super::digits(self.take(width)?).and_then(|number| i64::try_from(number).ok())
    }

    /// One of the names; its place.
    fn name(&mut self, names: &[&str]) -> Option<i64> {
        let place = names.iter().position(|name| self.0.starts_with(name.as_bytes()))?;
        self.take(names.get(place)?.len())?;
        i64::try_from(place).ok()
    }

    /// `08:49:37`, in seconds.
    fn time(&mut self) -> Option<i64> {
        let hour = self.number(2)?;
        self.exactly(":")?;
        let minute = self.number(2)?;
        self.exactly(":")?;
        let second = self.number(2)?;
        (hour < 24 && minute < 60 && second <= 60).then_some(hour * HOUR + minute * MINUTE + second)
    }

    fn end(self) -> Option<()> {
        self.0.is_empty().then_some(())
    }
}

fn fixdate(text: &[u8]) -> Option<i64> {
    let mut rest = Rest(text);
    rest.name(&DAYS)?;
    rest.exactly(", ")?;
    let day = rest.number(2)?;
    rest.exactly(" ")?;
    let month = rest.name(&MONTHS)? + 1;
    rest.exactly(" ")?;
    let year = rest.number(4)?;
    rest.exactly(" ")?;
    let time = rest.time()?;
    rest.exactly(" GMT")?;
    rest.end()?;
    seconds(year, month, day, time)
}

fn rfc850(text: &[u8], now: i64) -> Option<i64> {
    let mut rest = Rest(text);
    rest.name(&LONG_DAYS)?;
    rest.exactly(", ")?;
    let day = rest.number(2)?;
    rest.exactly("-")?;
    let month = rest.name(&MONTHS)? + 1;
    rest.exactly("-")?;
    let in_century = rest.number(2)?;
    rest.exactly(" ")?;
    let time = rest.time()?;
    rest.exactly(" GMT")?;
    rest.end()?;
    let (this_year, ..) = civil(now.clamp(FIRST, LAST).div_euclid(DAY));
    let year = this_year - this_year.rem_euclid(100) + in_century;
    // "More than 50 years in the future" is told by the year and, in the fiftieth, by the date.
    let limit = shifted(now.clamp(FIRST, LAST), 50);
    let at = seconds(year, month, day, time);
    match at {
        Some(at) if at <= limit => Some(at),
        Some(_) => seconds(year - 100, month, day, time),
        // The 29th of February of this century may be one of the century before.
        None if year > this_year + 50 => seconds(year - 100, month, day, time),
        None => None,
    }
}

fn asctime(text: &[u8]) -> Option<i64> {
    let mut rest = Rest(text);
    rest.name(&DAYS)?;
    rest.exactly(" ")?;
    let month = rest.name(&MONTHS)? + 1;
    rest.exactly(" ")?;
    let day = match rest.take(2)? {
        [b' ', ones] => super::digits(&[*ones])?,
        both => super::digits(both)?,
    };
    rest.exactly(" ")?;
    let time = rest.time()?;
    rest.exactly(" ")?;
    let year = rest.number(4)?;
    rest.end()?;
    seconds(year, month, i64::try_from(day).ok()?, time)
}

/// The same date so many years later; the 29th of February becomes the 1st of March where there is none.
fn shifted(now: i64, years: i64) -> i64 {
    let (year, month, day) = civil(now.div_euclid(DAY));
    days(year + years, month, day) * DAY + now.rem_euclid(DAY)
}

fn seconds(year: i64, month: i64, day: i64, time: i64) -> Option<i64> {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let longest = match month {
        2 if leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    };
    ((1..=longest).contains(&day)).then(|| days(year, month, day) * DAY + time)
}

/// Days from 1970 to a date of the Gregorian calendar. Counted from 1 March, so that the leap day is the last of
/// its year; 400 years have 146 097 days.
const fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let of_era = year.rem_euclid(400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    year.div_euclid(400) * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// The other way: year, month, day.
const fn civil(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let of_era = days.rem_euclid(146_097);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * of_year + 2) / 153;
    let month = (shifted + 2) % 12 + 1;
    let year = days.div_euclid(146_097) * 400 + year_of_era;
    (if month <= 2 { year + 1 } else { year }, month, of_year - (153 * shifted + 2) / 5 + 1)
}
