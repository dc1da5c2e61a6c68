import { after } from '../../base/eventually.js';
import type { RunId } from '../../base/ids.js';
import type { Ending, Executor, Found, Start } from '../../executors/executor.js';
import { readRunRecord } from '../../files/run-record-file.js';
import type { SchedulerEvent } from '../../scheduler/event.js';
import { gpusOf, type Slot, slotNamed } from '../../scheduler/placement/slot.js';
import type { SchedulerState } from '../../scheduler/state.js';
import type { PlannedRun } from '../../spec/planned-run.js';
import type { GpuWatch } from '../gpus/gpu-watch.js';
import { type Launch, launchSpec, threadsOf } from './launch-spec.js';
import { RETRY_MS, type Shortage } from './shortage.js';
import type { SubmissionStore } from './submission-store.js';

/** What the launcher works with. `mention`: for a fact that a restart would find out by itself. */
type LaunchTools = {
  state: SchedulerState;
  submissions: SubmissionStore;
  /** Folder of our own programs. */
  bin: string;
  executor: Pick<Executor, 'start' | 'takeOver' | 'terminate' | 'orphanedAttemptOf' | 'resources'>;
  /** An attempt that was still up from before goes on as the one that was to be started. */
  tookOver: (id: RunId, orphan: number, pid: number) => void;
  /** It has ended in that very moment. */
  ended: (id: RunId, attempt: number, ending: Ending) => void;
  gpus: Pick<GpuWatch, 'claim' | 'shared' | 'devices'>;
  tell: (event: SchedulerEvent) => void;
  mention: (event: SchedulerEvent) => void;
  /** The reason why a run is not up yet has changed. */
  changed: (id: RunId) => void;
  /** Shortage of the machine that made a start fail. While it lasts, nothing else is started. */
  shortage: Shortage;
  now: () => number;
};

/** Why a run is not up yet: its GPU's daemon is not, or the machine is short of something. */
type Delay = { kind: 'daemon' | 'shortage'; reason: string };

type Variables = Readonly<Record<string, string>>;

/**
 * Starts runs where the scheduler has put them.
 *
 * A run has its slot from the moment it is launched here, also while it waits for a GPU daemon or for the system to have
 * free processes: another run in the same slot would have to wait as well. A run that a user ends in the meantime is not
 * started.
 */
export class Launcher {
  readonly #tools: LaunchTools;
  readonly #delays = new Map<RunId, Delay>();
  #isClosed = false;

  constructor(tools: LaunchTools) {
    this.#tools = tools;
  }

  /** Why a run that has its slot is not up yet, in words; null for all others. */
  delayOf(id: RunId): string | null {
    const delay = this.#delays.get(id);
    if (delay === undefined) return null;
    const { kind, reason } = delay;
    return kind === 'shortage' ? `cannot be started right now, will be retried: ${reason}` : reason;
  }

  /** What the machine is so short of that no run can be started just now, in words; null: nothing. */
  get shortage(): string | null {
    for (const { kind, reason } of this.#delays.values()) if (kind === 'shortage') return reason;
    return null;
  }

  /** It may have been asked to end, or ended, since it was decided. */
  launch(launch: Launch): void {
    if (!this.#isWanted(launch)) return;
    const { gpus, executor } = this.#tools;
    // Someone else's since we looked: the scheduler has been told, and finds another place.
    if (!gpus.claim(gpusOf(launch.slot))) return this.#withdraw(launch);
    void after(executor.orphanedAttemptOf(this.#planned(launch).directory, launch.attempt), (orphan) => {
      if (this.#isWanted(launch)) this.#launchBeside(launch, orphan ?? (launch.isUp ? launch.attempt - 1 : null));
    });
  }

  /** @param orphan The attempt of its run that is still up; null: there is none. */
  #launchBeside(launch: Launch, orphan: number | null): void {
    const { gpus } = this.#tools;
    const run = this.#planned(launch);
    if (orphan !== null) return void this.#takeOver(launch, run, orphan);
    if (!this.#isShared(launch, run)) return this.#start(launch, run, {});
    this.#delay(launch.id, { kind: 'daemon', reason: 'waiting for the MPS daemon of its GPU' });
    void gpus.shared(gpusOf(launch.slot)[0]!).then((variables) => {
      if (this.#isWanted(launch)) this.#start(launch, run, variables);
    });
  }

  /** What waits for a place elsewhere can be ended before it is up. An observer of the event loop. */
  follow(touched: ReadonlySet<RunId>): void {
    const { state, executor } = this.#tools;
    for (const id of touched) {
      const was = state.runs.get(id)?.state;
      if (was?.phase === 'starting' && was.stop !== null) executor.terminate(id);
    }
  }

  /** Starts nothing any more; the next supervisor takes what was waited for back to the queue. */
  close(): void {
    this.#isClosed = true;
  }

  /** A process talks to one daemon, so a run on several GPUs goes without. */
  #isShared({ id, slot }: Launch, { resources }: PlannedRun): boolean {
    const { need, alone } = this.#tools.state.runs.get(id)!;
    return gpusOf(slot).length === 1 && need.perGpu > 1 && !alone && resources.mps === 'auto';
  }

  /** Takes over an attempt that still runs, instead of starting the next one: both would write to the same files. */
  async #takeOver(launch: Launch, { directory }: PlannedRun, orphan: number): Promise<void> {
    const { executor, tell, now, tookOver, ended } = this.#tools;
    const { id, attempt, slot: given } = launch;
    const at = now();
    let found: Found;
    try {
      found = await executor.takeOver(id, directory, { orphan, attempt });
    } catch (error) {
      const reason = `attempt ${orphan} still runs and cannot be taken over: ${(error as Error).message}`;
      return tell({ type: 'launch-failed', at, id, attempt, reason });
    }
    if (this.#isClosed) return;
    if (found.kind === 'withdrawn') return this.#withdraw({ id, attempt });
    if (found.kind === 'queued') return this.#answered(launch, await found.start, {});
    tell({ type: 'run-started', at, id, attempt, pid: found.pid, slot: this.#slotOf(directory, orphan) ?? given });
    tookOver(id, orphan, found.pid);
    if (found.kind === 'ended') ended(id, attempt, found.ending);
  }

  /** The GPUs that an attempt has, as its record says; null where that is not known, or none are. */
  #slotOf(directory: string, attempt: number): Slot | null {
    const record = readRunRecord(directory)?.attempts.find(({ number }) => number === attempt);
    const slot = record === undefined ? null : slotNamed(record.slot);
    const isKnown = slot !== null && gpusOf(slot).every((gpu) => this.#tools.state.gpu.devices.has(gpu));
    return isKnown && slot.kind === 'gpu' ? slot : null;
  }

  #start(launch: Launch, run: PlannedRun, sharing: Variables): void {
    const { state, submissions, executor, bin, gpus, shortage } = this.#tools;
    const { id, slot } = launch;
    const short = shortage.current;
    if (short !== null) return this.#later(launch, short.reason, short.waitMs, sharing);
    const { environment } = submissions.of(state.runs.get(id)!.plan);
    const { gpus: places, slots: cores } = executor.resources();
    const devices = places === 'placed' ? { ...gpus.devices(gpusOf(slot)), ...sharing } : null;
    const { perGpu } = state.runs.get(id)!.need;
    const threads = threadsOf(run, slot, { cores, gpus: state.gpu.gpus.length, perGpu });
    const start = executor.start(id, launchSpec(launch, run, { environment, devices, threads, perGpu, bin }));
    void after(start, (answer) => this.#answered(launch, answer, sharing));
  }

  /** Records how a start went. A supervisor that is shutting down records nothing: the next one finds the run by itself. */
  #answered(launch: Launch, start: Start, sharing: Variables): void {
    if (this.#isClosed) return;
    const { mention, tell, now } = this.#tools;
    const { id, attempt, slot } = launch;
    const at = now();
    if (start.kind === 'refused' && start.transient) return this.#later(launch, start.reason, RETRY_MS, sharing);
    this.#delay(id, null);
    if (start.kind === 'refused') return tell({ type: 'launch-failed', at, id, attempt, reason: start.reason });
    mention({ type: 'run-started', at, id, attempt, pid: start.pid, slot });
  }

  /** Tries again then what the machine is too short for now. */
  #later(launch: Launch, reason: string, ms: number, sharing: Variables): void {
    this.#delay(launch.id, { kind: 'shortage', reason });
    const again = () => {
      if (this.#isWanted(launch)) this.#start(launch, this.#planned(launch), sharing);
    };
    setTimeout(again, ms).unref();
  }

  #planned({ id }: Launch): PlannedRun {
    const { submissions, state } = this.#tools;
    return submissions.of(state.runs.get(id)!.plan).runs.get(id)!;
  }

  /** Whether the run is still to be started; where it is not, the launch is taken back. */
  #isWanted(launch: Launch): boolean {
    const run = this.#tools.state.runs.get(launch.id);
    if (this.#isClosed || run?.state.phase !== 'starting' || run.attempt !== launch.attempt) return false;
    if (run.state.stop === null) return true;
    this.#withdraw(launch);
    return false;
  }

  #withdraw({ id, attempt }: Pick<Launch, 'id' | 'attempt'>): void {
    this.#delay(id, null);
    this.#tools.tell({ type: 'launch-withdrawn', at: this.#tools.now(), id, attempt });
  }

  #delay(id: RunId, delay: Delay | null): void {
    if (delay?.reason === this.#delays.get(id)?.reason) return;
    if (delay === null) this.#delays.delete(id);
    else this.#delays.set(id, delay);
    this.#tools.changed(id);
  }
}
