import { after } from '../../base/eventually.js';
import type { RunId } from '../../base/ids.js';
import type { Executor, Found, Start } from '../../executors/executor.js';
import { readRunRecord } from '../../files/run-directory/run-record-file.js';
import { inQuietTurn, isTurnOver } from '../../processes/turn.js';
import type { SchedulerAction } from '../../scheduler/event.js';
import { neededBy } from '../../scheduler/queue/groups.js';
import { gpusOf, type Slot, slotNamed } from '../../scheduler/placement/slot.js';
import type { PlannedRun } from '../../spec/planned-run.js';
import type { EventLoop } from '../core/event-loop.js';
import type { GpuWatch } from '../gpus/gpu-watch.js';
import { type Endings, RETRY_MS } from './endings.js';
import { type Launch, launchSpec, threadsOf } from './launch-spec.js';
import type { PlannedRuns } from './submission-store.js';
import type { Records } from './records.js';

/** Orders to runs that are up. */
type Order = Exclude<SchedulerAction['type'], 'launch'>;

type LauncherPorts = {
  /** `mention`: for a fact that a restart would find out by itself. `changed`: the reason why a run is not up yet. */
  loop: Pick<EventLoop, 'state' | 'now' | 'tell' | 'mention' | 'changed'>;
  plannedRuns: Pick<PlannedRuns, 'of' | 'submitted'>;
  records: Pick<Records, 'secure'>;
  executor: Pick<Executor, 'start' | 'takeOver' | 'orphanedAttemptOf' | 'resources' | Order>;
  gpus: Pick<GpuWatch, 'claim' | 'shared' | 'devices'>;
  /** `shortage`: of the machine; while it lasts, nothing else is started. */
  endings: Pick<Endings, 'ended' | 'tookOver' | 'shortage'>;
  /** Folder of our own programs. */
  bin: string;
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
  readonly #ports: LauncherPorts;
  readonly #delays = new Map<RunId, Delay>();
  readonly #launches = new TurnQueue<Launch>((launch) => this.launch(launch));
  #isClosed = false;

  constructor(ports: LauncherPorts) {
    this.#ports = ports;
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

  /**
   * Carries out what the scheduler decides: starts runs, as many in a turn as there is time for, and gives orders to those that are
   * up.
   */
  perform(action: SchedulerAction): void {
    if (action.type === 'launch') this.#launches.give(action);
    else this.#ports.executor[action.type](action.id);
  }

  /** It may have been asked to end, or ended, since it was decided. */
  launch(launch: Launch): void {
    if (!this.#isWanted(launch)) return;
    const { gpus, executor } = this.#ports;
    // Someone else's since we looked: the scheduler has been told, and finds another place.
    if (!gpus.claim(gpusOf(launch.slot))) return this.#withdraw(launch);
    void after(executor.orphanedAttemptOf(this.#planned(launch).directory, launch.attempt), (orphan) => {
      if (this.#isWanted(launch)) this.#launchBeside(launch, orphan ?? (launch.isUp ? launch.attempt - 1 : null));
    });
  }

  /** @param orphan The attempt of its run that is still up; null: there is none. */
  #launchBeside(launch: Launch, orphan: number | null): void {
    const { gpus } = this.#ports;
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
    const { loop, executor } = this.#ports;
    for (const id of touched) {
      const was = loop.state.runs.get(id)?.state;
      if (was?.phase === 'starting' && was.stop !== null) executor.terminate(id);
    }
  }

  /** Starts nothing any more; the next supervisor takes what was waited for back to the queue. */
  close(): void {
    this.#launches.close();
    this.#isClosed = true;
  }

  /** A process talks to one daemon, so a run on several GPUs goes without. */
  #isShared({ id, slot }: Launch, { resources }: PlannedRun): boolean {
    const { need, alone } = this.#ports.loop.state.runs.get(id)!;
    return gpusOf(slot).length === 1 && need.perGpu > 1 && !alone && resources.mps === 'auto';
  }

  /** Takes over an attempt that still runs, instead of starting the next one: both would write to the same files. */
  async #takeOver(launch: Launch, { directory }: PlannedRun, orphan: number): Promise<void> {
    const { loop, executor, endings } = this.#ports;
    const { id, attempt, slot: given } = launch;
    const at = loop.now();
    let found: Found;
    try {
      found = await executor.takeOver(id, directory, { orphan, attempt });
    } catch (error) {
      const reason = `attempt ${orphan} still runs and cannot be taken over: ${(error as Error).message}`;
      return loop.tell({ type: 'launch-failed', at, id, attempt, reason });
    }
    if (this.#isClosed) return;
    if (found.kind === 'withdrawn') return this.#withdraw({ id, attempt });
    if (found.kind === 'queued') return this.#answered(launch, await found.start, {});
    loop.tell({ type: 'run-started', at, id, attempt, pid: found.pid, slot: this.#slotOf(directory, orphan) ?? given });
    endings.tookOver(id, orphan, found.pid);
    if (found.kind === 'ended') endings.ended(id, attempt, found.ending);
  }

  /** The GPUs that an attempt has, as its record says; null where that is not known, or none are. */
  #slotOf(directory: string, attempt: number): Slot | null {
    const record = readRunRecord(directory)?.attempts.find(({ number }) => number === attempt);
    const slot = record === undefined ? null : slotNamed(record.slot);
    const isKnown = slot !== null && gpusOf(slot).every((gpu) => this.#ports.loop.state.gpu.devices.has(gpu));
    return isKnown && slot.kind === 'gpu' ? slot : null;
  }

  #start(launch: Launch, run: PlannedRun, sharing: Variables): void {
    const { loop, plannedRuns, records, executor, bin, gpus, endings } = this.#ports;
    const { state } = loop;
    const { id, slot } = launch;
    const short = endings.shortage.current;
    if (short !== null) return this.#later(launch, short.reason, short.waitMs, sharing);
    records.secure(neededBy(state, id));
    const { environment } = plannedRuns.submitted(id)!;
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
    const { loop } = this.#ports;
    const { id, attempt, slot } = launch;
    const at = loop.now();
    if (start.kind === 'refused' && start.transient) return this.#later(launch, start.reason, RETRY_MS, sharing);
    this.#delay(id, null);
    if (start.kind === 'refused') return loop.tell({ type: 'launch-failed', at, id, attempt, reason: start.reason });
    loop.mention({ type: 'run-started', at, id, attempt, pid: start.pid, slot });
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
    return this.#ports.plannedRuns.of(id)!;
  }

  /** Whether the run is still to be started; where it is not, the launch is taken back. */
  #isWanted(launch: Launch): boolean {
    const run = this.#ports.loop.state.runs.get(launch.id);
    if (this.#isClosed || run?.state.phase !== 'starting' || run.attempt !== launch.attempt) return false;
    if (run.state.stop === null) return true;
    this.#withdraw(launch);
    return false;
  }

  #withdraw({ id, attempt }: Pick<Launch, 'id' | 'attempt'>): void {
    this.#delay(id, null);
    const { loop } = this.#ports;
    loop.tell({ type: 'launch-withdrawn', at: loop.now(), id, attempt });
  }

  #delay(id: RunId, delay: Delay | null): void {
    if (delay?.reason === this.#delays.get(id)?.reason) return;
    if (delay === null) this.#delays.delete(id);
    else this.#delays.set(id, delay);
    this.#ports.loop.changed([id]);
  }
}

/**
 * Processes items one after another, in order, until the present turn of the event loop has lasted long enough; then other work
 * gets its turn. An item that is added while there is little to do is processed at once.
 */
export class TurnQueue<Thing> {
  readonly #perform: (thing: Thing) => void;
  readonly #waiting: Thing[] = [];

  /** @param perform Must not throw. */
  constructor(perform: (thing: Thing) => void) {
    this.#perform = perform;
  }

  give(thing: Thing): void {
    this.#waiting.push(thing);
    // An item that is added while another is processed waits behind the earlier ones.
    if (this.#waiting.length === 1) this.#performSome();
  }

  /** Drops all waiting items. */
  close(): void {
    this.#waiting.length = 0;
  }

  #performSome(): void {
    while (this.#waiting.length > 0 && !isTurnOver()) this.#performNext();
    if (this.#waiting.length > 0) inQuietTurn(() => this.#continue());
  }

  /** Continues with at least one item, however long the turn has lasted. */
  #continue(): void {
    if (this.#waiting.length > 0) this.#performNext();
    this.#performSome();
  }

  #performNext(): void {
    this.#perform(this.#waiting[0]!);
    this.#waiting.shift();
  }
}
