//! What broke elsewhere in reading and writing header text; each name is the report it comes from.

use core::time::Duration;

use seawall::wire::{grpc, retry_after};

const NOW: i64 = 1_796_083_200;

#[test]
fn redis_cell_56_seconds_rounded_down_lead_to_another_429() {
    let wait = Duration::from_millis(2_300);
    let told = retry_after::parse(retry_after::write(wait).as_bytes(), NOW).expect("what was written is read");
    assert!(told >= wait);
}

#[test]
fn dragonfly_1008_whole_seconds_are_not_rounded_up_to_the_next() {
    assert_eq!(retry_after::write(Duration::from_secs(3)), "3");
}

#[test]
fn kumomta_282_zero_is_not_the_same_as_nothing() {
    assert_eq!(retry_after::parse(b"0", NOW), Some(Duration::ZERO));
    assert_eq!(retry_after::parse(b"-3", NOW), None);
}

#[test]
fn urllib3_3743_a_retry_after_of_9999999999_overflows_nothing() {
    assert_eq!(retry_after::parse(b"9999999999", NOW), Some(Duration::from_secs(9_999_999_999)));
}

#[test]
fn pydantic_ai_7065_and_crawlee_1995_a_negative_retry_after_is_none() {
    for text in ["-1", "-0", "-9999999999999999999999"] {
        assert_eq!(retry_after::parse(text.as_bytes(), NOW), None, "{text}");
    }
}

#[test]
fn fastify_help_1027_an_infinite_wait_is_written_as_a_number() {
    assert_eq!(retry_after::write(Duration::MAX), "18446744073709551615");
}

#[test]
fn grpc_17079_grpcbox_85_and_dubbo_15377_never_more_than_eight_digits_are_written() {
    for shift in 0..64 {
        for nanos in [1u64 << shift, (1 << shift) - 1, u64::MAX >> shift] {
            let Some(text) = grpc::write_timeout(Duration::from_nanos(nanos)) else { continue };
            assert!(text.len() <= 9, "{text}");
            assert!(
                grpc::parse_timeout(text.as_bytes()).expect("well-formed") >= Duration::from_nanos(nanos),
                "{text}"
            );
        }
    }
}

#[test]
fn grpc_gateway_7382_the_longest_timeout_is_not_negative() {
    assert_eq!(grpc::parse_timeout(b"99999999H"), Some(Duration::from_nanos(u64::MAX)));
}
