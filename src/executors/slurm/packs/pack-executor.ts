/**
 * Runs that workers take, one after the other (`pack-worker.ts`): for those of seconds or minutes, which Slurm would take half a
 * second to start, and for those that share a GPU.
 *
 * A pack has a queue on the shared disk, which its workers read, and each worker a file, which is read here. Whose an attempt is,
 * and how it ended, its own directory says as everywhere. A worker that is gone loses its runs, which end as interrupted; the
 * others take what it had not begun.
 */
import { closeSync } from 'node:fs';
import type { RunId } from '../../../base/ids.js';
import { isTurnOver, nextTurn } from '../../../processes/turn.js';
import { attemptDirectory, readExitCode, succeed } from '../../attempt/attempt-files.js';
import { openedLog, type Refusal } from '../../attempt/start-attempt.js';
import type {
  Ending,
  Executor,
  ExecutorListener,
  Found,
  LaunchSpec,
  RunPlace,
  Start,
  TakenOver,
} from '../../executor.js';
import { claimantOf, isAliveHere, mayStillRun, readKeys, settledBy, takenAway, writeKey } from '../disk-evidence.js';
import { endingByDisk, notAsked, ownEnding } from '../job-ending.js';
import type { Queue } from '../queue-watch.js';
import type { PackOrder, WorkerLine } from './pack-files.js';
import { removeOldPacks, type Worker } from './pack.js';
import {
  begunBy,
  doneToWorker,
  isOver,
  lossOf,
  withWork,
  type Member,
  newMember,
  ownNumber,
  type PackSetting,
  type Team,
  Teams,
} from './team.js';

/** Between looks at what workers tell, while they do and when they have not for a while, ms. */
const LOOK_MS = 50;
const CALM_LOOK_MS = 1000;
const STIRRED_MS = 3000;
/** How long attempts of one moment are gathered before workers are asked for, ms. */
const GATHER_MS = 20;
/** What a worker wrote last may be seen here so much later: file servers are behind, ms. */
const DISAGREE_MS = 15_000;

export class PackExecutor implements Omit<Executor, 'resources' | 'nodes' | 'type' | 'awaitsInput'> {
  readonly #setting: PackSetting;
  readonly #listener: ExecutorListener;
  readonly #members = new Map<RunId, Member>();
  /** Starts that are not in a pack yet; one that is to end by then is taken out. */
  readonly #starting = new Set<RunId>();
  readonly #teams: Teams;
  #timer: NodeJS.Timeout | null = null;
  #stirredAt = 0;
  #isClosed = false;

  constructor(setting: PackSetting, listener: ExecutorListener) {
    this.#setting = setting;
    this.#listener = listener;
    this.#teams = new Teams(setting, (members, start) => this.#refuse(members, start));
    removeOldPacks(setting.root);
  }

  /** Whether anybody waits for what Slurm says of workers. */
  get isBusy(): boolean {
    return this.#teams.size > 0;
  }

  watches(id: RunId): boolean {
    return this.#members.has(id) || this.#starting.has(id);
  }

  /** Whether an attempt with these keys was put into a pack. */
  isOne(keys: readonly string[]): boolean {
    return keys.some((key) => this.#teams.find(key) !== null);
  }

  async start(id: RunId, spec: LaunchSpec): Promise<Start> {
    const { directory, attempt: number } = spec;
    this.#starting.add(id);
    const { gpus } = await this.#setting.calls.limits();
    // A thousand may be started in one turn, each with some ms of work on the disk.
    while (isTurnOver()) await nextTurn();
    const isWanted = this.#starting.delete(id);
    const opened = openedLog(spec);
    if (opened.kind === 'refused') return opened;
    closeSync(opened.log);
    try {
      const team = this.#teams.of(spec, gpus);
      const member = newMember({ id, number, known: number, directory, team });
      return await new Promise<Start>((answer) => {
        member.answer = answer;
        this.#watch(member);
        if (claimantOf(directory, number, []).kind !== 'none')
          setImmediate(() => this.#over(member, { kind: 'not-claimed' }));
        else if (isWanted) this.#put(member, spec);
        else this.terminate(id);
      });
    } catch (error) {
      this.#forget(id);
      return {
        kind: 'refused',
        reason: `cannot write to ${this.#setting.root}: ${(error as Error).message}`,
        transient: true,
      };
    }
  }

  #put(member: Member, spec: LaunchSpec): void {
    const { id, number, directory, team } = member;
    writeKey(attemptDirectory(directory, number), team.pack.key);
    if (!team.pack.take(id, spec)) {
      this.#forget(id);
      const reason = 'its command is too long for a pack: `slurm: { mode: jobs }` starts it as a job of its own';
      return void member.answer?.({ kind: 'refused', reason, transient: false });
    }
    if (team.members.size === 1 || !team.crew.isSubmitting) setTimeout(() => this.#fill(team), GATHER_MS).unref();
  }

  adopt(id: RunId, directory: string, number: number): Found {
    const folder = attemptDirectory(directory, number);
    const keys = readKeys(folder);
    const claimant = claimantOf(directory, number, keys);
    const settled = settledBy(folder, claimant);
    if (settled !== null) return settled;
    const team = keys.map((key) => this.#teams.find(key)).findLast((found) => found !== null)!;
    const member = newMember({ id, number, known: ownNumber(folder, number), directory, team });
    if (claimant.kind !== 'ours') return this.#adoptWaiting(member);
    member.worker = team.pack.workers.get(claimant.key) ?? null;
    this.#watch(member);
    return { kind: 'alive', pid: claimant.job };
  }

  /** A worker will come to it; or none, as the supervisor ended before that was written. */
  #adoptWaiting(member: Member): Found {
    const { id, directory, number, team } = member;
    if (!team.pack.has(id, number) && takenAway(directory, number)) return { kind: 'withdrawn', neverRan: true };
    const start = new Promise<Start>((answer) => (member.answer = answer));
    this.#watch(member);
    return { kind: 'queued', start };
  }

  orphanedAttemptOf(directory: string, attempt: number): number | null {
    for (let number = attempt - 1; number >= 1; number--) {
      const keys = readKeys(attemptDirectory(directory, number));
      const claimant = claimantOf(directory, number, keys);
      if (claimant.kind !== 'ours' || readExitCode(attemptDirectory(directory, number)) !== null) continue;
      if (mayStillRun(directory, number)) return number;
    }
    return null;
  }

  takeOver(id: RunId, directory: string, numbers: TakenOver): Found {
    succeed(directory, numbers);
    return this.adopt(id, directory, numbers.attempt);
  }

  /** Of its worker: what people know it by in Slurm. */
  pidOf(id: RunId): number | null {
    return this.#members.get(id)?.worker?.up?.job ?? null;
  }

  rootOf(): null {
    return null;
  }

  placeOf(id: RunId): RunPlace | null {
    const member = this.#members.get(id);
    if (member === undefined) return null;
    const { node = null, gpus = [] } = member.worker?.up ?? {};
    return { node, gpus, words: member.answer === null ? null : member.team.crew.waitWords() };
  }

  /** Names of the nodes that have its workers. */
  nodes(): string[] {
    return this.#teams.all().flatMap(({ crew }) => crew.live.flatMap(({ up }) => up?.node ?? []));
  }

  terminate(id: RunId): void {
    this.#end(id, 'terminate');
  }

  kill(id: RunId): void {
    const member = this.#members.get(id);
    if (member !== undefined) member.killed = true;
    this.#end(id, 'kill');
  }

  /** One that nobody has begun is taken away. */
  #end(id: RunId, order: PackOrder): void {
    this.#starting.delete(id);
    const member = this.#members.get(id);
    if (member === undefined) return;
    const isWithdrawn = member.answer !== null && takenAway(member.directory, member.known);
    if (isWithdrawn) this.#over(member, { kind: 'not-claimed' });
    else this.#order(id, order);
  }

  pause(id: RunId): void {
    this.#order(id, 'pause');
  }

  continue(id: RunId): void {
    this.#order(id, 'continue');
  }

  close(): void {
    this.#isClosed = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#members.clear();
    this.#teams.clear();
  }

  /** Of workers that the controller does not know. */
  missing(): string[] {
    const workers = this.#teams.all().flatMap(({ crew }) => crew.live);
    return workers.flatMap(({ missingSince, seen }) => (missingSince === null || seen === null ? [] : [seen.address]));
  }

  /** What the controller says. */
  told(queue: Queue): void {
    for (const team of this.#teams.all()) {
      team.crew.told(queue);
      this.#read(team);
      for (const worker of team.pack.workers.values())
        if (worker.goneSince !== null && !worker.isSettled) this.#settleLost(team, worker, worker.goneSince);
      this.#fill(team);
    }
  }

  /** @param words Null: the controller answers again. */
  tellSilence(words: string | null): void {
    for (const member of this.#members.values()) if (member.worker === null) this.#trouble(member, words);
  }

  #order(id: RunId, order: PackOrder): void {
    const member = this.#members.get(id);
    member?.team.pack.write({ kind: 'order', order, id, attempt: member.known });
    this.#stir();
  }

  /** What Slurm does not take now is asked again; what it never takes is told to all who wait. */
  #refuse(members: ReadonlySet<Member>, start: Refusal): void {
    for (const member of members) {
      if (start.transient) this.#trouble(member, start.reason);
      else if (member.answer !== null && takenAway(member.directory, member.known)) {
        this.#forget(member.id);
        member.answer(start);
      }
    }
  }

  #watch(member: Member): void {
    this.#members.set(member.id, member);
    member.team.members.add(member);
    this.#stir();
    this.#setting.queue.lookSoon();
  }

  #forget(id: RunId): void {
    const member = this.#members.get(id);
    this.#members.delete(id);
    member?.team.members.delete(member);
  }

  #stir(): void {
    this.#stirredAt = performance.now();
    this.#lookSoon(LOOK_MS);
  }

  #lookSoon(ms: number): void {
    if (this.#isClosed || this.#timer !== null) return;
    this.#timer = setTimeout(() => {
      this.#timer = null;
      for (const team of this.#teams.all()) this.#read(team);
      if (this.#teams.size === 0) return;
      this.#lookSoon(performance.now() - this.#stirredAt > STIRRED_MS ? CALM_LOOK_MS : LOOK_MS);
    }, ms).unref();
  }

  #fill(team: Team): void {
    const { crew, members } = team;
    if (this.#isClosed) return;
    const { hopeless } = crew;
    if (hopeless !== null) this.#refuse(members, { kind: 'refused', reason: hopeless, transient: false });
    if (members.size > 0) return crew.fill(withWork(members));
    crew.dismiss();
    if (crew.live.length > 0 || crew.isSubmitting) return;
    this.#teams.remove(team);
  }

  #read(team: Team): void {
    const { pack, crew } = team;
    for (const worker of pack.workers.values()) {
      const news = pack.newsOf(worker);
      if (news.length > 0) this.#stirredAt = performance.now();
      for (const line of news) this.#hear(team, worker, line);
    }
    for (const member of team.members) if (member.interrupted !== null) this.#settleInterrupted(member);
    this.#tellWait(team);
    if (crew.live.length === 0) this.#fill(team);
  }

  #tellWait(team: Team): void {
    const words = team.crew.waitWords();
    if (words === team.words) return;
    team.words = words;
    for (const { id, answer } of team.members) if (answer !== null) this.#listener.changed(id);
  }

  #hear({ crew }: Team, worker: Worker, line: WorkerLine): void {
    if (line.kind === 'up') {
      worker.up = line;
      return crew.cameUp();
    }
    if (line.kind === 'left')
      return void Object.assign(worker, { hasLeft: true, goneSince: worker.goneSince ?? performance.now() });
    const member = this.#members.get(line.id);
    if (member?.known !== line.attempt) return;
    member.worker = worker;
    if (line.kind === 'begun') this.#hasBegun(member);
    else if (line.kind === 'troubled') this.#trouble(member, line.words);
    else if (line.kind === 'ended') this.#hasEnded(member, line.ending);
    else {
      this.#forget(member.id);
      member.answer?.({ kind: 'refused', reason: line.reason, transient: false });
    }
  }

  #hasBegun(member: Member): void {
    if (member.answer === null) return;
    member.answer({ kind: 'started', pid: member.worker?.up?.job ?? 0 });
    member.answer = null;
    this.#trouble(member, null);
    this.#listener.changed(member.id);
  }

  /** A worker does not know why Slurm ended it, which is told a moment later. */
  #hasEnded(member: Member, ending: Ending): void {
    if (ending.kind !== 'interrupted') return this.#over(member, ending);
    member.interrupted ??= { ending, since: performance.now() };
    this.#setting.queue.lookSoon();
  }

  #settleInterrupted(member: Member): void {
    const { ending, since } = member.interrupted!;
    const isLate = performance.now() - since > DISAGREE_MS;
    if (isLate || isOver(member.worker!)) this.#over(member, doneToWorker(member.worker!) ?? ending);
  }

  /** What became of the runs of a worker that is gone. Those that it had not begun others take. */
  #settleLost(team: Team, worker: Worker, goneSince: number): void {
    const isLate = performance.now() - goneSince > DISAGREE_MS;
    const begun = begunBy(worker, team);
    for (const member of begun) {
      member.worker = worker;
      this.#hasBegun(member);
      if (member.interrupted === null) this.#settleBegun(member, worker, isLate);
    }
    worker.isSettled = begun.length === 0 && (isLate || worker.hasLeft);
  }

  #settleBegun(member: Member, worker: Worker, isLate: boolean): void {
    const { directory, known, killed } = member;
    const folder = attemptDirectory(directory, known);
    const ending = endingByDisk(folder, { terminated: false, killed });
    const isOwn = killed || ownEnding(folder, notAsked) !== null;
    if (ending !== null) this.#over(member, (isOwn ? null : doneToWorker(worker)) ?? ending);
    else if (isLate || isAliveHere(directory, known) === false) this.#settleUnproven(member, worker);
  }

  #settleUnproven(member: Member, worker: Worker): void {
    const isGivenUp = member.killed && this.#listener.mayGiveUp(member.id);
    const loss = lossOf(member, worker, isGivenUp);
    if (typeof loss === 'string') this.#trouble(member, loss);
    else this.#over(member, loss);
  }

  #trouble(member: Member, words: string | null): void {
    if (member.trouble === words) return;
    member.trouble = words;
    this.#listener.troubled(member.id, words);
  }

  /** Whoever waits for the answer to its start hears of that first. */
  #over(member: Member, ending: Ending): void {
    const { id, number } = member;
    if (this.#members.get(id) !== member || this.#isClosed) return;
    this.#hasBegun(member);
    this.#trouble(member, null);
    this.#forget(id);
    setImmediate(() => {
      if (!this.#isClosed) this.#listener.ended(id, number, ending, []);
    });
  }
}
