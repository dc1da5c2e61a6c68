#!/bin/sh
# The commands of Slurm, as far as the executor uses them, for tests on machines without it. Called by the name of the command;
# jobs are real processes of this machine, and all that is known of them is below PRETEND_SLURM:
#
#   hold                  while it is there, jobs wait (Priority)
#   dead                  while it is there, the controller does not answer
#   unstarted             while it is there, nodes start no jobs, which end in that state
#   busy                  while it is there, sbatch does not answer
#   arraySize             what jobs may be in an array, of which one index is the size itself
#   gpus                  indices of the GPUs of each job
#   nodes                 what sinfo tells of the nodes
#   end                   when the time of jobs is over, Unix s: what they are told of that
#   jobs/ADDRESS/fate     the state in which the job ends, whatever it does; REQUEUED: it is started once more
#   jobs/ADDRESS/forgotten   while it is there, squeue does not know the job
dir=$PRETEND_SLURM
mkdir -p "$dir/jobs"
if [ -e "$dir/dead" ]; then echo "$1: error: Unable to contact slurm controller (connect failure)" >&2; exit 1; fi
field() { cat "$dir/jobs/$1/$2" 2>/dev/null; }
# Not every shell makes process groups without a terminal.
IN_GROUP='const { spawn } = require("child_process"), [, job] = process.argv;
const child = spawn("/bin/sh", [job + "/script"], { detached: true, stdio: "inherit" });
require("fs").writeFileSync(job + "/group", String(child.pid));
child.on("exit", (code) => process.exit(code ?? 1));'
# One job, until it has ended; in a process group of its own.
supervise() {
  job=$dir/jobs/$1 restarts=0
  while :; do
    while [ -e "$dir/hold" ] && [ ! -e "$job/cancelled" ]; do sleep 0.02; done
    if [ -e "$job/cancelled" ]; then echo CANCELLED >"$job/state"; return; fi
    echo node1 >"$job/node"
    if [ -e "$dir/unstarted" ]; then cat "$dir/unstarted" >"$job/state"; return; fi
    export SLURM_JOB_ID="${1%_*}" SLURMD_NODENAME=node1 SLURM_RESTART_COUNT="$restarts"
    [ ! -e "$dir/gpus" ] || export SLURM_JOB_GPUS="$(cat "$dir/gpus")"
    [ ! -e "$dir/end" ] || export SLURM_JOB_END_TIME="$(cat "$dir/end")"
    case $1 in *_*) export SLURM_ARRAY_TASK_ID="${1#*_}";; esac
    cd "$(field "$1" cwd)" 2>/dev/null || cd /
    echo RUNNING >"$job/state"
    "$PRETEND_NODE" -e "$IN_GROUP" "$job" >>"$(field "$1" log)" 2>&1 </dev/null
    code=$?
    rm -f "$job/group"
    fate=$(field "$1" fate); rm -f "$job/fate"
    if [ "$fate" = REQUEUED ]; then rm "$job/node"; restarts=$((restarts + 1)); echo PENDING >"$job/state"; continue; fi
    if [ -e "$job/cancelled" ]; then fate=CANCELLED; fi
    [ "$code" = 0 ] && usual=COMPLETED || usual=FAILED
    echo "${fate:-$usual}" >"$job/state"
    return
  done
}
signal() { [ -e "$dir/jobs/$2/group" ] && kill -s "$1" -- "-$(field "$2" group)" 2>/dev/null; }
case $1 in
  sbatch)
    array='' tested='' comment='' cwd=/ log=/dev/null; shift
    while [ $# -gt 0 ]; do
      case $1 in
        --test-only) tested=1;;
        --comment) comment=$2; shift;;
        -D) cwd=$2; shift;;
        -o) log=$2; shift;;
        -J) shift;;
        --array=0-*) array=${1#--array=0-};;
        --partition=nowhere) echo 'sbatch: error: Batch job submission failed: Invalid partition name specified' >&2; exit 1;;
      esac
      shift
    done
    script=$(cat; echo .)
    [ -z "$tested" ] || exit 0
    while [ -e "$dir/busy" ]; do sleep 0.02; done
    if [ -n "$array" ] && [ "$array" -ge "$(cat "$dir/arraySize" 2>/dev/null || echo 1001)" ]; then
      echo 'sbatch: error: Batch job submission failed: Invalid job array specification' >&2; exit 1
    fi
    id=1; while ! mkdir "$dir/jobs/$id" 2>/dev/null; do id=$((id + 1)); done
    index=0
    while [ "$index" -le "${array:-0}" ]; do
      address=$id; [ -z "$array" ] || address=${id}_$index
      mkdir -p "$dir/jobs/$address"
      for fact in comment cwd log; do eval "printf %s \"\$$fact\"" >"$dir/jobs/$address/$fact"; done
      printf %s "${script%.}" >"$dir/jobs/$address/script"
      echo PENDING >"$dir/jobs/$address/state"
      (trap '' HUP; supervise "$address") >/dev/null 2>&1 </dev/null &
      index=$((index + 1))
    done
    echo "$id";;
  squeue)
    for job in "$dir"/jobs/*; do
      address=${job##*/} state=$(field "${job##*/}" state) index=N/A node=$(field "${job##*/}" node) reason=None
      [ -n "$state" ] && [ ! -e "$job/forgotten" ] || continue
      case $address in *_*) index=${address#*_};; esac
      [ "$state" = PENDING ] && reason=Priority
      echo "$address|${address%_*}|$state|$reason|$node|N/A|1:05|$index|$(field "$address" comment)"
    done;;
  scancel)
    name=''; shift
    while [ $# -gt 0 ]; do
      case $1 in
        -s) name=$2; shift;;
        --full) ;;
        *)
          if [ -n "$name" ]; then signal "$name" "$1"
          else
            : >"$dir/jobs/$1/cancelled"
            signal CONT "$1"; signal TERM "$1"
            (sleep 0.5; signal KILL "$1") >/dev/null 2>&1 </dev/null &
          fi;;
      esac
      shift
    done
    true;;
  scontrol) echo "MaxArraySize            = $(cat "$dir/arraySize" 2>/dev/null || echo 1001)";;
  sinfo) cat "$dir/nodes" 2>/dev/null || echo '(null)';;
  *) exit 1;;
esac
