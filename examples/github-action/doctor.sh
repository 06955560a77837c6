#!/usr/bin/env bash
# Examines the bot in the file BOT, and appends the report to the job's summary. The JUnit report
# is left in doctor.xml. The status is the doctor's: 0 when nothing has failed.
set -uo pipefail

report=$(mktemp)
trap 'rm -f "$report"' EXIT
meijin bot doctor --junit doctor.xml "$BOT" 2>&1 | tee "$report"
status=${PIPESTATUS[0]}
{
  echo "### Doctor"
  echo
  sed 's/^/    /' "$report"
  echo
} >>"$GITHUB_STEP_SUMMARY"
exit "$status"
