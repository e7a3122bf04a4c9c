#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    seawall_oracle::bodies::retry(data);
});
