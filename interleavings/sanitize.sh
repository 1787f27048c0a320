#!/usr/bin/env bash
# Tests of threads that share a network, of the engine and of whole networks, with every access to memory watched:
# interleavings/sanitize.sh [FILTER ...].
# The thread sanitizer is part of each Rust, but only unstable Rust has a flag for it, and the standard library is not
# built with it. So what is reported from within the standard library needs a second look.
set -euo pipefail
cd "$(dirname "$0")/.."
host=$(rustc -vV | sed -n 's/^host: //p')
export RUSTC_BOOTSTRAP=1
export RUSTFLAGS="-Zsanitizer=thread -Cunsafe-allow-abi-mismatch=sanitizer"
# Results of tests go through a channel of the standard library, which is not watched and so looks like a race.
suppressions=$(mktemp)
trap 'rm -f "$suppressions"' EXIT
echo "race:test::event::CompletedTest" >"$suppressions"
export TSAN_OPTIONS="suppressions=$suppressions"
# Watched, random campaigns take some ten times as long.
export TWINPLANE_CAMPAIGN="${TWINPLANE_CAMPAIGN:-0.05}"
[ $# -gt 0 ] || set -- threads
cargo test --package twinplane-engine --package twinplane-tester --target "$host" --target-dir target/sanitized --test all "$@"
