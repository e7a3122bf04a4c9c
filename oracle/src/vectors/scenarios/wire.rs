//! Header text, well-formed and not.

use seawall::RetryConfig;

use crate::vectors::asked::{Ask, Line, played};
use crate::vectors::format::{Decimal as D, Scenario};

/// Sun, 06 Nov 1994 08:49:37 GMT, and Tue, 01 Dec 2026 00:00:00 GMT.
const THEN: i64 = 784_111_777;
const NOW: i64 = 1_796_083_200;

fn scenario(name: &str, about: &str, asks: Vec<Ask>) -> Scenario<Line> {
    played("wire", name, about, None::<&RetryConfig>, 0, asks)
}

const DATES: [&str; 22] = [
    "Sun, 06 Nov 1994 08:49:37 GMT",
    "Sunday, 06-Nov-94 08:49:37 GMT",
    "Sun Nov  6 08:49:37 1994",
    "Mon, 06 Nov 1994 08:49:37 GMT",
    "Tue, 01 Dec 2026 00:02:00 GMT",
    "Tuesday, 01-Dec-76 00:00:00 GMT",
    "Tuesday, 01-Dec-76 00:00:01 GMT",
    "Sat, 31 Dec 2016 23:59:60 GMT",
    "Thu, 29 Feb 2024 00:00:00 GMT",
    "Wed, 29 Feb 2023 00:00:00 GMT",
    "Fri, 31 Dec 9999 23:59:59 GMT",
    "sun, 06 nov 1994 08:49:37 gmt",
    "Sun, 6 Nov 1994 08:49:37 GMT",
    "Sun, 06 Nov 94 08:49:37 GMT",
    "Sun, 06 Nov 1994 08:49:37 UTC",
    "Sun, 06 Nov 1994 08:49:37 +0000",
    "Sun, 06 Nov 1994 24:00:00 GMT",
    "Sun, 06 Nov 1994 08:49:61 GMT",
    "Sun, 31 Nov 1994 08:49:37 GMT",
    "Sun Nov 6 08:49:37 1994",
    "1994-11-06T08:49:37Z",
    "Sun, 06 Nov 1994 08:49:37 GMT, and more",
];

pub(super) fn retry_after() -> Vec<Scenario<Line>> {
    let texts = [
        "0", "1", "120", "0120", " 120\t", "9999999999", "18446744073709551616", "1000000000000000000000000000000", "",
        " ", "-1", "+1", "1.5", "1e3", "1s", "1 2", "0x10", "soon", "NaN", "Infinity",
    ];
    let read = texts.iter().chain(&DATES).map(|value| Ask::ParseRetryAfter { value: (*value).to_owned(), now_unix: NOW });
    let dated = [THEN - 90, THEN, THEN + 1, 0]
        .map(|now_unix| Ask::ParseRetryAfter { value: DATES[0].to_owned(), now_unix });
    let written = [0, 1, 999_999_999, 1_000_000_000, 1_000_000_001, 59_999_999_999, u64::MAX]
        .map(|wait| Ask::WriteRetryAfter { wait_ns: D(wait) });
    vec![
        scenario("read", "Whole seconds or a date; anything else is none.", read.chain(dated).collect()),
        scenario("write", "Whole seconds, rounded up, at least 1.", written.to_vec()),
    ]
}

pub(super) fn dates() -> Vec<Scenario<Line>> {
    let read = DATES.map(|value| Ask::ParseDate { value: value.to_owned(), now_unix: NOW });
    let written = [0, -1, THEN, NOW, 951_782_400, 253_402_300_799, 253_402_300_800, -62_167_219_200, -62_167_219_201]
        .map(|unix| Ask::WriteDate { unix });
    vec![
        scenario("read", "Three forms.", read.to_vec()),
        scenario("write", "One form, within the years 0 to 9999.", written.to_vec()),
    ]
}

pub(super) fn timeouts() -> Vec<Scenario<Line>> {
    let texts = [
        "1S", "1M", "1H", "1m", "1u", "1n", "0S", "99999999H", "100000000n", "000000001S", "", "S", "1", "1s", "1h", "-1S",
        "+1S", " 1S", "1 S", "1.5S",
    ];
    let waits = [0, 1, 99_999_999, 100_000_000, 100_000_001, 99_999_999_001, 99_999_999_000_001, u64::MAX];
    let numbers = ["0", "250", "2147483647", "2147483648", "-1", "", " 5", "5 ", "soon", "2.5", "99999999999999999999999"];
    let text = |value: &&str| (*value).to_owned();
    vec![
        scenario("read_grpc", "1 to 8 digits and a unit.", texts.iter().map(|v| Ask::ParseGrpcTimeout { value: text(v) }).collect()),
        scenario("write_grpc", "The finest unit, rounded up.", waits.map(|wait| Ask::WriteGrpcTimeout { wait_ns: D(wait) }).to_vec()),
        scenario("read_pushback", "Milliseconds, or stop.", numbers.iter().map(|v| Ask::ParsePushback { value: text(v) }).collect()),
        scenario("read_ms", "Milliseconds that remain.", numbers.iter().map(|v| Ask::ParseDeadlineMs { value: text(v) }).collect()),
        scenario("write_ms", "Rounded down; nothing when nothing remains.", waits.map(|wait| Ask::WriteDeadlineMs { wait_ns: D(wait) }).to_vec()),
    ]
}
