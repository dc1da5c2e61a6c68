import { realpathSync } from 'node:fs';
import { shellQuote } from '../../text/shell-words.js';
import type { LaunchSpec } from '../executor.js';
import { attemptDirectory } from '../attempt/attempt-files.js';
import { carried } from '../attempt/environment-carrier.js';
import { SHIM } from '../attempt/shim.js';
import { niceProgram } from '../attempt/prepared-attempt.js';

/**
 * What the shell of a job does before it is the shim of the attempt (`attempt/shim.ts`). Called with the directory of the attempt,
 * the key of its submission, the working directory, and how many of the words that follow come after a preemption only.
 *
 * - Slurm may start a job again, after a preemption or when its node failed. The claim is then this job's own, as its line says:
 *   it is set aside, and made anew. The claim of any other job is respected by the shim.
 * - Where the working directory is not there, Slurm starts a job in another one. So it is entered again.
 */
const PRELUDE = `memrl_d=$1 memrl_k=$2 memrl_w=$3 memrl_again=$4; shift 4
memrl_more=$memrl_again
if [ "\${SLURM_RESTART_COUNT:-0}" != 0 ] && read -r memrl_l 2>/dev/null < "$memrl_d/pid"; then
  case $memrl_l in *" job "*":$memrl_k"|*" job "*":$memrl_k:"*)
    mv -f "$memrl_d/pid" "$memrl_d/pid.$SLURM_RESTART_COUNT"
    [ ! -e "$memrl_d/exit" ] || mv -f "$memrl_d/exit" "$memrl_d/exit.$SLURM_RESTART_COUNT"
    echo "memrl-tui: Slurm started job $SLURM_JOB_ID again on \${SLURMD_NODENAME:-another node}"
    memrl_more=0;;
  esac
fi
memrl_keep=$(($# - memrl_more))
memrl_n=0
for memrl_a do
  [ "$memrl_n" != 0 ] || set --
  memrl_n=$((memrl_n + 1))
  [ "$memrl_n" -gt "$memrl_keep" ] || set -- "$@" "$memrl_a"
done
if ! cd "$memrl_w" 2>/dev/null; then
  set -- /bin/sh -c 'echo "memrl-tui: the working directory $1 cannot be entered on $2" >&2; exit 126' sh "$memrl_w" "\${SLURMD_NODENAME:-its node}"
fi
memrl_ns=$(readlink /proc/self/ns/pid 2>/dev/null); memrl_ns=\${memrl_ns#pid:?}; memrl_ns=\${memrl_ns%?}
memrl_m=; read -r memrl_m 2>/dev/null < /etc/machine-id
set -- "$memrl_d" "" "$(uname -n)/$memrl_m/pid%3A%5B$memrl_ns%5D job $SLURM_JOB_ID:$memrl_k\${SLURM_JOB_GPUS:+:$SLURM_JOB_GPUS}" "" "$@"
`;

/**
 * The script of a job that is one attempt.
 *
 * @param key Of its submission: no other job has it. @param exported Variables that the job's environment does not have.
 */
export function jobScript(spec: LaunchSpec, key: string, exported: Readonly<Record<string, string>> = {}): string {
  const { directory, attempt, argv, cwd, nice, resumeArgs = [] } = spec;
  const niceness = nice === undefined ? [] : [niceProgram(), '-n', String(nice)];
  const words = [...niceness, ...carried([...argv, ...resumeArgs], spec.environment)];
  // Without links, as the shim wants it.
  const head = [realpathSync.native(attemptDirectory(directory, attempt)), key, cwd, String(resumeArgs.length)];
  const exports = Object.entries(exported).map(([name, value]) => `export ${name}=${shellQuote([value])}\n`);
  return `#!/bin/sh\n${exports.join('')}set -- ${shellQuote([...head, ...words])}\n${PRELUDE}${SHIM}\n`;
}
