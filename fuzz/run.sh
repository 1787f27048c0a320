#!/usr/bin/env bash
# Fuzzes each target for so many seconds: fuzz/run.sh [SECONDS] [TARGET ...]. Stable Rust; a C++ compiler builds libFuzzer.
# A finding stops the run and prints the command that repeats it.
set -euo pipefail
cd "$(dirname "$0")"
seconds=${1:-60}
shift || true
targets=("$@")
[ ${#targets[@]} -gt 0 ] || targets=(tree formats rsvp capture router speakers switch)

host=$(rustc -vV | sed -n 's/^host: //p')
# Coverage that libFuzzer reads: the flags that it documents for LLVM, which stable rustc hands on.
export RUSTFLAGS="-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
-Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
-Cllvm-args=-sanitizer-coverage-trace-compares --cfg fuzzing"
# With a target named, the flags are not for build scripts and procedural macros.
cargo build --release --quiet --target "$host" $(printf -- '--bin %s ' "${targets[@]}")
RUSTFLAGS="" cargo run --quiet --bin seeds -- corpus

for target in "${targets[@]}"; do
  mkdir -p "corpus/$target" artifacts
  # Inputs that take long or much memory are findings too.
  if "target/$host/release/$target" "corpus/$target" -max_total_time="$seconds" -max_len=4096 -timeout=10 \
    -rss_limit_mb=1024 -malloc_limit_mb=256 -artifact_prefix="artifacts/$target-" -print_final_stats=1 \
    2>"artifacts/$target.log"; then
    runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "artifacts/$target.log")
    memory=$(sed -n 's/^stat::peak_rss_mb: *//p' "artifacts/$target.log")
    echo "$target: $seconds s, $runs inputs, at most $memory MB, nothing found"
  else
    tail -30 "artifacts/$target.log"
    found=$(sed -n 's/.*Test unit written to //p' "artifacts/$target.log" | tail -1)
    echo "$target: found something. To repeat it: fuzz/target/$host/release/$target fuzz/$found"
    exit 1
  fi
done
