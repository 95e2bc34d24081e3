#!/usr/bin/env bash
# Plans with a job array, then puts its parts together; prints the number of the job that does.
#
#   plan.sh PARTS SCENARIO [OPTION...]            # on a login node; options of `trainyard plan`
set -euo pipefail
here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
[ $# -ge 2 ] && [[ $1 =~ ^[0-9]+$ ]] || { sed -n '4s/^# */usage: /p' "${BASH_SOURCE[0]}" >&2; exit 2; }
count=$1
shift
array=$(sbatch --parsable --array="1-$count" "$here/plan.sbatch" "$@")
PARTS=plan-${array%%;*} sbatch --parsable --dependency=afterok:"${array%%;*}" --kill-on-invalid-dep=yes \
    "$here/merge.sbatch" "$@"
