import { createHash } from 'node:crypto';
import { lstatSync, readdirSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { gpuName } from '../base/ids.js';
import { isOnPath } from '../processes/program-file.js';
import { askProgram } from '../processes/short-call.js';
import type { Gpu } from './gpu.js';
import { makeFolder } from '../files/make-folder.js';

/** `mps`: the variables with which a run shares the GPU through the daemon. `none`: it shares without, and why. */
type MpsShare = { kind: 'mps'; environment: Readonly<Record<string, string>> } | { kind: 'none'; reason: string };

export type MpsOptions = MpsPlaces & {
  /** An environment whose PATH has `nvidia-cuda-mps-control`, and whose pipe directory, if set, may already have a daemon. */
  environment: Readonly<NodeJS.ProcessEnv>;
  /** Time limit of one call, ms. */
  patienceMs?: number;
};

const PROGRAM = 'nvidia-cuda-mps-control';
const PATIENCE_MS = 10_000;
const PIPES = 'CUDA_MPS_PIPE_DIRECTORY';
const LOGS = 'CUDA_MPS_LOG_DIRECTORY';
const VISIBLE = 'CUDA_VISIBLE_DEVICES';

/**
 * One MPS daemon for each shared GPU, so that its runs compute side by side instead of in turns.
 *
 *     const share = await daemons.ensure(gpu);   // before a run on this one GPU, if `per_gpu` > 1
 *     if (share.kind === 'mps') devices = { ...visibleDevices([gpu.index], gpus), ...share.environment };
 *     await daemons.stopUnused(new Set(gpusThatHaveRuns));   // when the supervisor ends
 *
 * The daemons outlive the supervisor, as do the runs that need them; the next one finds them by their folder. A daemon that someone
 * else has started for the whole machine is used and left alone. Only for runs on exactly one GPU, as a process talks to one
 * daemon.
 */
export class MpsDaemons {
  readonly #options: MpsOptions;
  readonly #root: string | null;
  /** Results by GPU index, refusals included: runs of one sweep should not differ in this. */
  readonly #shares = new Map<number, Promise<MpsShare>>();

  constructor(options: MpsOptions) {
    this.#options = options;
    this.#root = mpsRoot(options);
  }

  /** Ensures that this GPU has a daemon. Takes some ms, the first time about a second. Never rejects. */
  ensure(gpu: Gpu): Promise<MpsShare> {
    const known = this.#shares.get(gpu.index);
    if (known !== undefined) return known;
    const share = this.#find(gpu);
    this.#shares.set(gpu.index, share);
    return share;
  }

  /** The GPUs that are shared through a daemon, among those that `ensure` was called for. */
  async active(): Promise<Set<number>> {
    const all = await Promise.all([...this.#shares].map(async ([index, share]) => ({ index, share: await share })));
    return new Set(all.flatMap(({ index, share }) => (share.kind === 'mps' ? [index] : [])));
  }

  /** Ends the daemon of a GPU, if it is ours. Its clients must have ended. */
  async stop(index: number): Promise<void> {
    this.#shares.delete(index);
    if (this.#root !== null) await this.#quit(join(this.#root, folderName(index)));
  }

  /** Ends all daemons of this runs directory, also an earlier supervisor's, except on GPUs that have runs. */
  async stopUnused(inUse: ReadonlySet<number>): Promise<void> {
    const kept = new Set([...inUse].map(folderName));
    const folders = this.#root === null ? [] : foldersIn(this.#root).filter((name) => !kept.has(name));
    for (const index of this.#shares.keys()) if (!inUse.has(index)) this.#shares.delete(index);
    for (const name of folders) await this.#quit(join(this.#root!, name));
  }

  async #find(gpu: Gpu): Promise<MpsShare> {
    const { environment, uid } = this.#options;
    if (gpu.vendor !== 'nvidia') return none('MPS is for NVIDIA GPUs');
    if (!isOnPath(PROGRAM, environment)) return none(`${PROGRAM} was not found`);
    // By uuid, as the daemon would number indices within the visible GPUs.
    const visible = { [VISIBLE]: gpu.uuid };
    const ofAll = await this.#ask([], {}, 'get_server_list\n');
    if (ofAll.kind === 'hung') return none(`${PROGRAM} did not answer`);
    if (ofAll.kind === 'answered') return { kind: 'mps', environment: { ...pipesOf(environment), ...visible } };
    if (this.#root === null) return none('no folder with a path short enough for MPS; set XDG_RUNTIME_DIR');
    const folder = join(this.#root, folderName(gpu.index));
    const own = { ...placesIn(folder), ...visible };
    const refusal = privateFolderProblem(folder, uid) ?? (await this.#start(own));
    return refusal === null ? { kind: 'mps', environment: own } : none(refusal);
  }

  /** Starts a daemon unless it is up. Returns what failed, in words; null: nothing. */
  async #start(own: Readonly<Record<string, string>>): Promise<string | null> {
    if (await this.#isUp(own)) return null;
    const answer = await this.#ask(['-d'], own);
    if (answer.kind === 'hung') return `${PROGRAM} did not answer`;
    if (await this.#isUp(own)) return null;
    return `${PROGRAM} failed: ${answer.kind === 'failed' ? answer.reason : 'the daemon does not answer'}`;
  }

  async #quit(folder: string): Promise<void> {
    const own = placesIn(folder);
    if (isOnPath(PROGRAM, this.#options.environment) && (await this.#isUp(own))) await this.#ask([], own, 'quit\n');
  }

  async #isUp(own: Readonly<Record<string, string>>): Promise<boolean> {
    return (await this.#ask([], own, 'get_server_list\n')).kind === 'answered';
  }

  #ask(args: readonly string[], own: Readonly<Record<string, string>>, input?: string) {
    const { environment, patienceMs = PATIENCE_MS } = this.#options;
    const all = { ...environment, ...own };
    return askProgram({
      program: PROGRAM,
      args,
      environment: all,
      patienceMs,
      ...(input === undefined ? {} : { input }),
    });
  }
}

function none(reason: string): MpsShare {
  return { kind: 'none', reason };
}

function placesIn(folder: string): Record<string, string> {
  return { [PIPES]: folder, [LOGS]: folder };
}

/** The pipe directory of the user's environment. */
function pipesOf(environment: Readonly<NodeJS.ProcessEnv>): Record<string, string> {
  const pipes = environment[PIPES];
  return pipes === undefined ? {} : { [PIPES]: pipes };
}

/** Name of a GPU's folder, `3` or `1-0`: a colon would separate paths in many variables. */
function folderName(index: number): string {
  return gpuName(index).replace(':', '-');
}

function foldersIn(root: string): string[] {
  try {
    return readdirSync(root);
  } catch {
    return [];
  }
}

/** Limit on the path of a socket in bytes, which the system sets. */
const LONGEST = 107;
/** The longest path below the root that has to fit: an instance of a divided GPU, and the daemon's longest socket name. */
const DEEPEST = '999-999/control_privileged';

type MpsPlaces = {
  /** The `.supervisor` folder of the runs directory, absolute. */
  supervisorDirectory: string;
  /** $XDG_RUNTIME_DIR. */
  runtimeDirectory: string | undefined;
  uid: number;
};

/**
 * The folder that contains the folder of each GPU's MPS daemon, always the same for one runs directory, so that a supervisor finds
 * the daemons of the previous one. It is not created here; null: no path is short enough.
 */
export function mpsRoot({ supervisorDirectory, runtimeDirectory = '', uid }: MpsPlaces): string | null {
  const name = `mps-${createHash('sha256').update(supervisorDirectory).digest('hex').slice(0, 8)}`;
  const candidates = [
    join(supervisorDirectory, 'mps'),
    join(runtimeDirectory, 'memrl', name),
    join(`/tmp/memrl-${uid}`, name),
  ].filter(isAbsolute);
  return candidates.find((root) => Buffer.byteLength(join(root, DEEPEST)) <= LONGEST) ?? null;
}

/** Creates the folder, for this user alone. Returns what prevents that, in words; null: nothing. */
function privateFolderProblem(folder: string, uid: number): string | null {
  try {
    makeFolder(folder, 0o700);
    const stat = lstatSync(folder);
    if (!stat.isDirectory()) return `${folder} is not a folder`;
    if (stat.uid !== uid) return `${folder} belongs to someone else`;
    return (stat.mode & 0o077) === 0 ? null : `others may enter ${folder}`;
  } catch (error) {
    return (error as Error).message;
  }
}
