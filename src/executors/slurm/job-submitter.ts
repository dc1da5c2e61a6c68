import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import { runFiles } from '../../contract/files.js';
import { writeFresh } from '../../files/whole-file.js';
import { isTurnOver, nextTurn } from '../../processes/turn.js';
import { shellQuote } from '../../text/shell-words.js';
import { attemptDirectory } from '../attempt/attempt-files.js';
import { carried } from '../attempt/environment-carrier.js';
import { niceProgram, SHIM } from '../attempt/start-attempt.js';
import type { LaunchSpec } from '../executor.js';
import { jobName, jobOptions, logOption } from './job-options.js';
import { commentFor, type SlurmCalls, type Submitted } from './slurm-calls.js';

/**
 * What the shell of a job does before it is the shim of the attempt (`attempt/start-attempt.ts`). Called with the directory of the attempt,
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
function jobScript(spec: LaunchSpec, key: string, exported: Readonly<Record<string, string>> = {}): string {
  const { directory, attempt, argv, cwd, nice, resumeArgs = [] } = spec;
  const niceness = nice === undefined ? [] : [niceProgram(), '-n', String(nice)];
  const words = [...niceness, ...carried([...argv, ...resumeArgs], spec.environment)];
  // Without links, as the shim wants it.
  const head = [realpathSync.native(attemptDirectory(directory, attempt)), key, cwd, String(resumeArgs.length)];
  const exports = Object.entries(exported).map(([name, value]) => `export ${name}=${shellQuote([value])}\n`);
  return `#!/bin/sh\n${exports.join('')}set -- ${shellQuote([...head, ...words])}\n${PRELUDE}${SHIM}\n`;
}

/** Calls of `sbatch` at a time. */
const AT_ONCE = 3;
/** How long an attempt waits for others that may be submitted with it, ms; anew with each that comes. */
const GATHER_MS = 100;

/** An attempt that is to be submitted. `note`: writes down by which key, before that is done. */
type Submittal = { spec: LaunchSpec; note: (key: string) => void };
type Waiting = Submittal & { answer: (submitted: Submitted) => void };

/** Submits attempts as jobs: those of one moment that ask for the same as tasks of one array. */
export class JobSubmitter {
  readonly #calls: SlurmCalls;
  readonly #newKey: () => string;
  readonly #betweenMs: number;
  #gatheringSince = 0;
  #sentAt = -Infinity;
  #timer: NodeJS.Timeout | undefined;
  #gathered: Waiting[] = [];
  readonly #batches: Waiting[][] = [];
  #calling = 0;

  /** @param betweenMs Between submissions: what comes meanwhile is submitted together. */
  constructor(calls: SlurmCalls, newKey: () => string, betweenMs: number) {
    this.#calls = calls;
    this.#newKey = newKey;
    this.#betweenMs = betweenMs;
  }

  submit(submittal: Submittal): Promise<Submitted> {
    const now = performance.now();
    if (this.#gathered.length === 0) this.#gatheringSince = now;
    const at = Math.max(
      Math.min(now + GATHER_MS, this.#gatheringSince + this.#betweenMs),
      this.#sentAt + this.#betweenMs,
    );
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#sendGathered(), at - now);
    return new Promise((answer) => this.#gathered.push({ ...submittal, answer }));
  }

  async #sendGathered(): Promise<void> {
    const gathered = this.#gathered;
    this.#gathered = [];
    this.#sentAt = performance.now();
    const { arraySize, gpus } = await this.#calls.limits();
    const alike = new Map<string, Waiting[]>();
    for (const [index, waiting] of gathered.entries()) {
      const kind = arrayKind(waiting.spec, gpus) ?? String(index);
      const batch = alike.get(kind);
      if (batch === undefined || batch.length >= arraySize) this.#batches.push(newBatch(alike, kind, waiting));
      else batch.push(waiting);
    }
    this.#sendNext();
  }

  #sendNext(): void {
    while (this.#calling < AT_ONCE && this.#batches.length > 0) {
      const batch = this.#batches.shift()!;
      this.#calling += 1;
      void this.#send(batch).finally(() => {
        this.#calling -= 1;
        this.#sendNext();
      });
    }
  }

  async #send(batch: readonly Waiting[]): Promise<void> {
    const key = this.#newKey();
    const written = await writtenOf(batch, key);
    if (written.length === batch.length) return this.#call(batch, key);
    // What is left of it would have other numbers.
    if (written.length > 0) this.#batches.push(written);
  }

  async #call(batch: readonly Waiting[], key: string): Promise<void> {
    const { gpus } = await this.#calls.limits();
    const [{ spec }] = batch as readonly [Waiting];
    const isAlone = batch.length === 1;
    const options = [...jobOptions(spec, gpus), '--comment', commentFor(key)];
    const own = isAlone
      ? [...logOption(spec), '-J', jobName(spec)]
      : ['-o', '/dev/null', `--array=0-${batch.length - 1}`, '-J', `${jobName(spec)}+${batch.length - 1}`];
    const script = isAlone ? jobScript(spec, key) : arrayScript(batch);
    const submitted = await this.#calls.submit([...options, ...own], script, spec.environment);
    for (const [index, { answer }] of batch.entries()) answer(isAlone ? submitted : taskOf(submitted, index));
  }
}

/** Those of a batch that could be written down. A thousand of them are a second of work. */
async function writtenOf(batch: readonly Waiting[], key: string): Promise<Waiting[]> {
  const common = batch.length === 1 ? null : batch[0]!.spec.environment;
  const written: Waiting[] = [];
  for (const [index, waiting] of batch.entries()) {
    if (isTurnOver()) await nextTurn();
    if (isWritten(waiting, common === null ? key : `${key}.${index}`, common)) written.push(waiting);
  }
  return written;
}

function newBatch(alike: Map<string, Waiting[]>, kind: string, waiting: Waiting): Waiting[] {
  const batch = [waiting];
  alike.set(kind, batch);
  return batch;
}

/** Attempts with an equal one may be tasks of one array; null: it must be a job of its own, as its environment needs care. */
function arrayKind(spec: LaunchSpec, gpus: number): string | null {
  if (carried(spec.argv, spec.environment).length > spec.argv.length) return null;
  return JSON.stringify([jobOptions(spec, gpus), Object.keys(spec.environment)]);
}

/** Writes down what is submitted by that key. @param common Environment of the array that it is a task of; null: of none. */
function isWritten({ spec, note, answer }: Waiting, key: string, common: LaunchSpec['environment'] | null): boolean {
  try {
    note(key);
    if (common !== null) writeTaskScript(spec, key, common);
    return true;
  } catch (error) {
    const reason = `cannot write to ${attemptDirectory(spec.directory, spec.attempt)}: ${(error as Error).message}`;
    answer({ kind: 'refused', reason, transient: true });
    return false;
  }
}

/** Each task has a script of its own in the directory of its attempt, with what is its own of the environment. */
function writeTaskScript(spec: LaunchSpec, key: string, common: LaunchSpec['environment']): void {
  const own = Object.entries(spec.environment).filter(([name, value]) => common[name] !== value);
  const log = shellQuote([join(spec.directory, runFiles.log)]);
  const [first, ...lines] = jobScript(spec, key, Object.fromEntries(own)).split('\n');
  writeFresh(taskScript(spec), [first, `exec >>${log} 2>&1`, ...lines].join('\n'), 0o600);
}

function taskScript({ directory, attempt }: LaunchSpec): string {
  return join(attemptDirectory(directory, attempt), 'job.sh');
}

function arrayScript(batch: readonly Waiting[]): string {
  const cases = batch.map(({ spec }, index) => `${index}) exec /bin/sh ${shellQuote([taskScript(spec)])};;\n`);
  return `#!/bin/sh\ncase $SLURM_ARRAY_TASK_ID in\n${cases.join('')}esac\n`;
}

function taskOf(submitted: Submitted, index: number): Submitted {
  return submitted.kind === 'accepted' ? { kind: 'accepted', job: `${submitted.job}_${index}` } : submitted;
}
