#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| twinplane_fuzz::switch(bytes));
