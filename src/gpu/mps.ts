import { createHash } from 'node:crypto';
import { lstatSync, readdirSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { gpuName } from '../base/ids.js';
import { isOnPath } from '../processes/program-file.js';
import { askProgram } from '../processes/short-call.js';
import type { Gpu } from './gpu.js';
import { makeFolder } from '../files/make-folder.js';

/** `mps`: what a run needs to share the GPU through the daemon. `none`: it shares without, and why. */
type MpsShare = { kind: 'mps'; environment: Readonly<Record<string, string>> } | { kind: 'none'; reason: string };

export type MpsOptions = MpsPlaces & {
  /** Whose PATH has `nvidia-cuda-mps-control`, and whose pipe directory, if it has one, may have a daemon already. */
  environment: Readonly<NodeJS.ProcessEnv>;
  /** For one call, ms. */
  patienceMs?: number;
};

const PROGRAM = 'nvidia-cuda-mps-control';
const PATIENCE_MS = 10_000;
const PIPES = 'CUDA_MPS_PIPE_DIRECTORY';
const LOGS = 'CUDA_MPS_LOG_DIRECTORY';
const VISIBLE = 'CUDA_VISIBLE_DEVICES';

/**
 * One MPS daemon a GPU, so that the runs that share it compute side by side instead of in turns.
 *
 *     const share = await daemons.ensure(gpu);   // before a run on this one GPU, where `per_gpu` > 1
 *     if (share.kind === 'mps') devices = { ...visibleDevices([gpu.index], gpus), ...share.environment };
 *     await daemons.stopUnused(new Set(gpusThatHaveRuns));   // when the supervisor ends
 *
 * The daemons outlive the supervisor, as the runs do that need them; the next one finds them by their folder. A daemon that
 * someone else has started for the whole machine is used and left alone. Only for runs on exactly one GPU: a process talks
 * to one daemon.
 */
export class MpsDaemons {
  readonly #options: MpsOptions;
  readonly #root: string | null;
  /** By GPU index. Kept, also a refusal: runs of one sweep should not differ in this. */
  readonly #shares = new Map<number, Promise<MpsShare>>();

  constructor(options: MpsOptions) {
    this.#options = options;
    this.#root = mpsRoot(options);
  }

  /** Makes sure that there is a daemon for this GPU. Takes some ms, the first time a second or so. Never rejects. */
  ensure(gpu: Gpu): Promise<MpsShare> {
    const known = this.#shares.get(gpu.index);
    if (known !== undefined) return known;
    const share = this.#find(gpu);
    this.#shares.set(gpu.index, share);
    return share;
  }

  /** Which GPUs are shared through a daemon here, as far as `ensure` was asked. */
  async active(): Promise<Set<number>> {
    const all = await Promise.all([...this.#shares].map(async ([index, share]) => ({ index, share: await share })));
    return new Set(all.flatMap(({ index, share }) => (share.kind === 'mps' ? [index] : [])));
  }

  /** Ends the daemon of a GPU, if it is ours. Its clients must have ended. */
  async stop(index: number): Promise<void> {
    this.#shares.delete(index);
    if (this.#root !== null) await this.#quit(join(this.#root, folderName(index)));
  }

  /** Ends all daemons of this runs directory, those of an earlier supervisor too, except on GPUs that have runs. */
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
    // By uuid, which the daemon does not count anew as it does indexes.
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

  /** Unless it is up already. What went wrong, in words; null: nothing. */
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

/** Where the person's own environment says that a daemon is. */
function pipesOf(environment: Readonly<NodeJS.ProcessEnv>): Record<string, string> {
  const pipes = environment[PIPES];
  return pipes === undefined ? {} : { [PIPES]: pipes };
}

/** `3`, `1-0`: a colon would end a path in many variables. */
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

/** The daemon makes sockets in its folder, and the system refuses longer paths; bytes. */
const LONGEST = 107;
/** The longest name below the root that has to fit: an instance of a divided GPU, and the daemon's longest socket. */
const DEEPEST = '999-999/control_privileged';

type MpsPlaces = {
  /** Of the runs directory: `.supervisor`, absolute. */
  supervisorDirectory: string;
  /** $XDG_RUNTIME_DIR. */
  runtimeDirectory: string | undefined;
  uid: number;
};

/**
 * The folder in which each GPU's MPS daemon has its own, always the same for one runs directory, so that a supervisor finds
 * the daemons of the one before it. Not made; null when no place is short enough.
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

/** Makes the folder, for this user alone. What stands in the way, in words; null: nothing. */
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
