//! Header text to values and back, as its specification.

use core::time::Duration;

use seawall::wire::{deadline, grpc, http_date, retry_after};

/// Sun, 06 Nov 1994 08:49:37 GMT.
const THEN: i64 = 784_111_777;
/// Tue, 01 Dec 2026 00:00:00 GMT.
const NOW: i64 = 1_796_083_200;
const S: fn(u64) -> Duration = Duration::from_secs;
/// 584 years, the most that 64 bits of nanoseconds hold.
const LONGEST: u64 = 18_446_744_073;

#[test]
fn the_three_forms_of_a_date() {
    for text in ["Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"] {
        assert_eq!(http_date::parse(text.as_bytes(), NOW), Some(THEN), "{text}");
        assert_eq!(http_date::parse(format!(" \t{text} ").as_bytes(), NOW), Some(THEN), "blanks around it");
    }
    assert_eq!(http_date::parse(b"Sun Nov 16 08:49:37 1994", NOW), Some(THEN + 10 * 86_400));
}

#[test]
fn what_is_nearly_a_date_is_none() {
    for text in [
        "",
        "Sun",
        ",",
        "sun, 06 nov 1994 08:49:37 gmt",
        "Sun, 6 Nov 1994 08:49:37 GMT",
        "Sun,06 Nov 1994 08:49:37 GMT",
        "Sun, 06 Nov 94 08:49:37 GMT",
        "Sun, 06 Nov 1994 8:49:37 GMT",
        "Sun, 06 Nov 1994 08:49:37 UTC",
        "Sun, 06 Nov 1994 08:49:37 +0000",
        "Sun, 06 Nov 1994 08:49:37",
        "Sun, 06 Nov 1994 08:49:37 GMT GMT",
        "Sun, 06 Nov 1994 24:00:00 GMT",
        "Sun, 06 Nov 1994 08:60:00 GMT",
        "Sun, 06 Nov 1994 08:49:61 GMT",
        "Sun, 00 Nov 1994 08:49:37 GMT",
        "Sun, 31 Nov 1994 08:49:37 GMT",
        "Wed, 29 Feb 2023 08:49:37 GMT",
        "Sonntag, 06-Nov-94 08:49:37 GMT",
        "Sunday, 06-Nov-1994 08:49:37 GMT",
        "Sun Nov 6 08:49:37 1994",
        "Sun Nov 06 08:49:37 94",
        "1994-11-06T08:49:37Z",
        "Sun, 06 Nov 1994 08:49:37 GMT\0",
        "S\u{fc}n, 06 Nov 1994 08:49:37 GMT",
    ] {
        assert_eq!(http_date::parse(text.as_bytes(), NOW), None, "{text:?}");
    }
}

#[test]
fn leap_days_leap_seconds_and_a_wrong_day_of_the_week() {
    assert_eq!(http_date::parse(b"Thu, 29 Feb 2024 00:00:00 GMT", NOW), Some(1_709_164_800));
    assert_eq!(http_date::parse(b"Sat, 31 Dec 2016 23:59:60 GMT", NOW), Some(1_483_228_800));
    assert_eq!(http_date::parse(b"Mon, 06 Nov 1994 08:49:37 GMT", NOW), Some(THEN));
}

#[test]
fn a_two_digit_year_more_than_fifty_years_ahead_is_of_the_century_before() {
    for (text, now, written) in [
        ("Tuesday, 01-Dec-76 00:00:00 GMT", NOW, "Tue, 01 Dec 2076 00:00:00 GMT"),
        ("Tuesday, 01-Dec-76 00:00:01 GMT", NOW, "Wed, 01 Dec 1976 00:00:01 GMT"),
        ("Sunday, 01-Jan-77 00:00:00 GMT", NOW, "Sat, 01 Jan 1977 00:00:00 GMT"),
        ("Friday, 31-Dec-99 23:59:59 GMT", NOW, "Fri, 31 Dec 1999 23:59:59 GMT"),
        ("Friday, 01-Jan-00 00:00:00 GMT", NOW, "Sat, 01 Jan 2000 00:00:00 GMT"),
    ] {
        let at = http_date::parse(text.as_bytes(), now).expect(text);
        assert_eq!(http_date::write(at), written, "{text}");
    }
}

#[test]
fn writing_and_reading_lead_back() {
    for at in [0, 1, -1, THEN, NOW, 951_782_400, 4_107_542_400, 253_402_300_799, -62_167_219_200] {
        let text = http_date::write(at);
        assert_eq!(text.len(), http_date::LENGTH);
        assert_eq!(http_date::parse(text.as_bytes(), NOW), Some(at), "{text}");
    }
    assert_eq!(http_date::write(i64::MAX), "Fri, 31 Dec 9999 23:59:59 GMT");
    assert_eq!(http_date::write(i64::MIN), "Sat, 01 Jan 0000 00:00:00 GMT");
}

#[test]
fn every_day_of_four_centuries_leads_back() {
    for day in 0..146_097 {
        let at = day * 86_400 - 11_676_096_000;
        assert_eq!(http_date::parse(http_date::write(at).as_bytes(), NOW), Some(at));
    }
}

#[test]
fn retry_after_in_seconds() {
    for (text, want) in [
        ("0", Some(S(0))),
        ("1", Some(S(1))),
        ("120", Some(S(120))),
        ("0120", Some(S(120))),
        (" 120\t", Some(S(120))),
        ("9999999999", Some(S(9_999_999_999))),
        ("18446744073709551616", Some(S(LONGEST))),
        ("1000000000000000000000000000000", Some(S(LONGEST))),
        ("", None),
        (" ", None),
        ("-1", None),
        ("+1", None),
        ("1.5", None),
        ("1e3", None),
        ("1s", None),
        ("1 2", None),
        ("0x10", None),
        ("soon", None),
        ("NaN", None),
        ("Infinity", None),
        ("12\0", None),
        ("\u{661}", None),
    ] {
        assert_eq!(retry_after::parse(text.as_bytes(), NOW), want, "{text:?}");
    }
    assert_eq!(retry_after::parse(&vec![b'9'; 1 << 20], NOW), Some(S(LONGEST)), "a megabyte of digits");
    assert_eq!(retry_after::parse(&vec![b' '; 1 << 20], NOW), None);
    assert_eq!(retry_after::parse(&[0xFF; 64], NOW), None);
}

#[test]
fn retry_after_as_a_date_counts_from_the_time_of_the_response() {
    let text = b"Sun, 06 Nov 1994 08:49:37 GMT";
    assert_eq!(retry_after::parse(text, THEN - 90), Some(S(90)));
    assert_eq!(retry_after::parse(text, THEN), Some(S(0)));
    assert_eq!(retry_after::parse(text, NOW), Some(S(0)), "a date that is over is no wait");
    assert_eq!(retry_after::parse(text, i64::MIN), Some(S(LONGEST)));
}

#[test]
fn retry_after_is_written_rounded_up_and_never_as_zero() {
    for (nanos, text) in [
        (0, "1"),
        (1, "1"),
        (1_000_000_000, "1"),
        (1_000_000_001, "2"),
        (59_999_999_999, "60"),
        (u64::MAX, "18446744074"),
    ] {
        assert_eq!(retry_after::write(Duration::from_nanos(nanos)), text);
    }
    assert_eq!(retry_after::write(Duration::MAX), "18446744073709551615");
    assert_eq!(retry_after::write_date(Duration::from_millis(1), THEN - 1), "Sun, 06 Nov 1994 08:49:37 GMT");
    assert_eq!(retry_after::write_date(Duration::MAX, NOW), "Fri, 31 Dec 9999 23:59:59 GMT");
}

#[test]
fn grpc_timeouts() {
    for (text, want) in [
        ("1S", Some(S(1))),
        ("1M", Some(S(60))),
        ("1H", Some(S(3_600))),
        ("1m", Some(Duration::from_millis(1))),
        ("1u", Some(Duration::from_micros(1))),
        ("1n", Some(Duration::from_nanos(1))),
        ("0S", Some(Duration::ZERO)),
        ("99999999H", Some(Duration::from_nanos(u64::MAX))),
        ("100000000n", None),
        ("000000001S", None),
        ("", None),
        ("S", None),
        ("1", None),
        ("1s", None),
        ("1h", None),
        ("-1S", None),
        ("+1S", None),
        (" 1S", None),
        ("1 S", None),
        ("1.5S", None),
    ] {
        assert_eq!(grpc::parse_timeout(text.as_bytes()), want, "{text:?}");
    }
}

#[test]
fn a_grpc_timeout_is_written_in_the_finest_unit_and_never_shorter_than_asked() {
    for (nanos, text) in [
        (1, "1n"),
        (99_999_999, "99999999n"),
        (100_000_000, "100000u"),
        (100_000_001, "100001u"),
        (99_999_999_000, "99999999u"),
        (99_999_999_001, "100000m"),
        (99_999_999_000_001, "100000S"),
        (u64::MAX, "5124096H"),
    ] {
        let written = grpc::write_timeout(Duration::from_nanos(nanos)).expect("time remains");
        if nanos == u64::MAX {
            assert!(grpc::parse_timeout(written.as_bytes()).expect("well-formed") >= Duration::from_nanos(nanos));
        } else {
            assert_eq!(written, text, "{nanos} ns");
        }
    }
    assert_eq!(grpc::write_timeout(Duration::MAX).as_deref(), Some("99999999H"));
    assert_eq!(grpc::write_timeout(Duration::ZERO), None);
}

#[test]
fn grpc_pushback_stops_unless_it_is_a_number_of_milliseconds() {
    use grpc::Pushback::{After, Stop};
    for (text, want) in [
        ("0", After(Duration::ZERO)),
        ("250", After(Duration::from_millis(250))),
        ("2147483647", After(Duration::from_millis(2_147_483_647))),
        ("2147483648", Stop),
        ("-1", Stop),
        ("", Stop),
        (" 5", Stop),
        ("5 ", Stop),
        ("soon", Stop),
    ] {
        assert_eq!(grpc::parse_pushback(text.as_bytes()), want, "{text:?}");
    }
}

#[test]
fn what_remains_is_rounded_down_and_nothing_is_not_sent() {
    assert_eq!(deadline::write_remaining(Duration::from_micros(2_999)).as_deref(), Some("2"));
    assert_eq!(deadline::write_remaining(Duration::from_micros(999)), None);
    assert_eq!(deadline::write_remaining(Duration::MAX).as_deref(), Some("18446744073709551615"));
    for (text, want) in [
        ("2500", Some(Duration::from_millis(2_500))),
        ("0", Some(Duration::ZERO)),
        ("99999999999999999999999", Some(Duration::from_millis(18_446_744_073_709))),
        ("-5", None),
        ("2.5", None),
        ("", None),
    ] {
        assert_eq!(deadline::parse_remaining(text.as_bytes()), want, "{text:?}");
    }
}

#[test]
fn attempts_and_the_word_that_forbids_them() {
    for (text, want) in
        [("1", Some(1)), ("4294967295", Some(u32::MAX)), ("4294967296", None), ("0", None), ("-1", None), ("", None)]
    {
        assert_eq!(deadline::parse_attempt(text.as_bytes()), want, "{text:?}");
    }
    assert!(deadline::forbids_retry(b" No "));
    assert!(!deadline::forbids_retry(b"yes") && !deadline::forbids_retry(b"") && !deadline::forbids_retry(b"nope"));
}
