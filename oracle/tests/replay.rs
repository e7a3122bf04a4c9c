//! The bodies of the fuzz targets on a fixed stream of pseudo-random bytes: at least 10^6 operations of
//! each primitive against its plain model, the same ones every time.

use std::fs;
use std::path::Path;

use seawall::Random;
use seawall_oracle::bodies;

/// So many operations at least, in inputs of so many bytes at most.
const OPERATIONS: usize = 1_000_000;
const LONGEST: usize = 4096;

/// What a fuzzer once found, never again.
fn found(target: &str, body: fn(&[u8]) -> usize) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/found").join(target);
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry.expect("a file").path();
        println!("{}", path.display());
        body(&fs::read(path).expect("an input"));
    }
}

fn replay(target: &str, seed: u64, body: fn(&[u8]) -> usize) {
    found(target, body);
    let random = Random::seeded(seed);
    let (mut operations, mut inputs) = (0, 0u64);
    while operations < OPERATIONS {
        let length = 16 + random.next() as usize % LONGEST;
        let data: Vec<u8> = (0..length.div_ceil(8)).flat_map(|_| random.next().to_le_bytes()).collect();
        operations += body(&data);
        inputs += 1;
        assert!(inputs < 2_000_000, "the inputs lead nowhere");
    }
    println!("{operations} operations in {inputs} inputs");
}

#[test]
fn circuit_breaker() {
    replay("circuit_breaker", 1, bodies::circuit_breaker);
}

#[test]
fn token_bucket() {
    replay("token_bucket", 2, bodies::token_bucket);
}

#[test]
fn backoff() {
    replay("backoff", 5, bodies::backoff);
}

#[test]
fn retry_budget() {
    replay("retry_budget", 6, bodies::retry_budget);
}

#[test]
fn policy() {
    replay("policy", 7, bodies::policy);
}

#[test]
fn deadline() {
    replay("deadline", 9, bodies::deadline);
}

#[test]
fn retry() {
    replay("retry", 10, bodies::retry);
}

#[test]
fn wire() {
    replay("wire", 8, bodies::wire);
}

#[test]
fn event_ring() {
    replay("event_ring", 3, bodies::event_ring);
}

#[test]
fn config_text() {
    replay("config_text", 4, bodies::config_text);
}
