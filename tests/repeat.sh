#!/usr/bin/env bash
# tests/repeat.sh [RUNS]: run `make test` RUNS times (10) on a quiet machine and RUNS times beside four busy loops, each time in
# another order, and print a line for each run. It ends with an error if any run was red.
set -uo pipefail
cd "$(dirname "$0")/.."
runs=${1:-10} loops=() failed=0
log=$(mktemp)
trap '[ ${#loops[@]} = 0 ] || kill "${loops[@]}"; rm -f "$log"' EXIT
TIMEFORMAT='%0R %0U %0S'
printf '%-8s%6s%9s%7s%8s  %s\n' machine order seconds user system result
for machine in quiet busy; do
  if [ $machine = busy ]; then
    for _ in 1 2 3 4; do
      while :; do :; done &
      loops+=($!)
    done
  fi
  for order in $(seq "$runs"); do
    seconds=$({ time PYTEST_ADDOPTS="--shuffle=$order" make --silent test >"$log" 2>&1; } 2>&1) || failed=1
    # shellcheck disable=SC2086 # three numbers
    printf '%-8s%6s%9s%7s%8s  %s\n' $machine "$order" $seconds "$(tail -n 1 "$log")"
    grep -E '^(FAILED|ERROR)' "$log" || true
  done
done
exit $failed
