import { join } from 'node:path';
import { type GroupId, type RunId, nameOf, sweepOf } from '../../base/ids.js';
import { errorText } from '../../base/user-error.js';
import type { SubmittedRun } from '../../scheduler/event.js';
import { eachRunRecord } from '../../files/run-directory/run-record-file.js';
import { groupInNeed, isOpen } from '../../scheduler/queue/groups.js';
import type { Group, Run } from '../../scheduler/state.js';
import type { Plan, PlannedRun } from '../../spec/planned-run.js';
import type { KnownRun } from '../../spec/expand/run-name.js';
import type { Known, Search } from '../../spec/search/search.js';
import type { Trial } from '../../spec/search/trials.js';
import { isTurnOver, nextTurn, passTurn } from '../../processes/turn.js';
import type { EventLoop } from '../core/event-loop.js';
import type { Environment, PlannedRuns, Submission, SubmissionStore } from './submission-store.js';
import type { Watcher } from './watcher.js';

type ProposerPorts = {
  /** `ask` resolves once the event is recorded and acted upon. */
  loop: Pick<EventLoop, 'state' | 'now' | 'ask'>;
  submissions: Pick<SubmissionStore, 'of' | 'add'>;
  plannedRuns: Pick<PlannedRuns, 'of'>;
  watcher: Pick<Watcher, 'objectiveOf' | 'unread'>;
  /** What is left to do of the runs of a plan: a run of that name may have been there before anything here knew of it. */
  reconcile: (plan: Plan) => Promise<SubmittedRun[]>;
  log: (line: string) => void;
};

type Proposal = { frame: Omit<Plan, 'runs'>; environment: Environment; run: PlannedRun };

/** Between attempts where the disk refuses, ms. */
const RETRY_MS = 1000;

/**
 * Proposes the next run of a group that is open when there is room for it; an observer of the event loop.
 *
 * A proposal is a submission of one run: with its event in the journal it has happened, and whoever reads the journal again
 * finds the run with its parameters, and chooses nothing anew. One that died before that was never there. What is proposed
 * follows from the sweep file, its seed, and the runs of the group with what they have written.
 */
export class Proposer {
  readonly #ports: ProposerPorts;
  /** By the key of the plan that says how further runs are made. */
  readonly #searches = new Map<string, Promise<Search>>();
  #isReady = false;
  #isBusy = false;
  #retry: NodeJS.Timeout | null = null;

  constructor(ports: ProposerPorts) {
    this.#ports = ports;
  }

  /** From now on: the runs of before are known, and those that live are adopted. */
  begin(): void {
    this.#isReady = true;
    this.#look();
  }

  follow(): void {
    this.#look();
  }

  /** Metrics of the past have been read, perhaps. */
  changed(ids: Iterable<RunId>): void {
    if ([...ids].length === 0) this.#look();
  }

  close(): void {
    this.#isReady = false;
    if (this.#retry !== null) clearTimeout(this.#retry);
  }

  #look(): void {
    if (!this.#isReady || this.#isBusy || this.#retry !== null || this.#next() === null) return;
    this.#isBusy = true;
    void this.#proposeAll();
  }

  /** What ended runs have written is known before anything is concluded from it. */
  #next(): Group | null {
    return this.#isReady && this.#ports.watcher.unread === 0 ? groupInNeed(this.#ports.loop.state) : null;
  }

  async #proposeAll(): Promise<void> {
    try {
      for (let group = this.#next(); group !== null; group = this.#next()) await this.#propose(group);
    } catch (error) {
      // The disk refuses, for now: who asks the event loop is told so.
      this.#ports.log(`no run could be proposed: ${errorText(error)}`);
      this.#lookLater();
    } finally {
      // Not a moment later: what happens from now on has to be looked at again.
      this.#isBusy = false;
    }
  }

  #lookLater(): void {
    this.#retry = setTimeout(() => {
      this.#retry = null;
      this.#look();
    }, RETRY_MS).unref();
  }

  /** Submits the next run of the group, or closes it where there is none. */
  async #propose(group: Group): Promise<void> {
    const { submissions, reconcile, loop } = this.#ports;
    const found = await this.#nextRun(group).catch(errorText);
    if (typeof found === 'string') return this.#close(group.id, found);
    const { frame, environment, run } = found;
    const plan: Plan = { ...frame, runs: [run] };
    const [submitted] = (await reconcile(plan)) as [SubmittedRun];
    const key = await submissions.add(plan, environment);
    const sibling = loop.state.runs.get([...group.runs][0]!);
    if (sibling === undefined || !isOpen(group)) return;
    // What its siblings take was worked out when a person launched them.
    const runs = [{ ...submitted, need: sibling.need }];
    await loop.ask({
      type: 'runs-submitted',
      at: loop.now(),
      sweep: plan.sweep,
      plan: key,
      groups: [],
      runs,
      proposed: true,
    });
  }

  /** The next run and what it has in common with the others; why there is none, in words. */
  async #nextRun(group: Group): Promise<Proposal | string> {
    const { plan: key } = group.open!;
    const submission = this.#ports.submissions.of(key);
    const search = await this.#searchOf(key, submission);
    const work = search.next(nameOf(group.id), this.#known(group));
    let step = work.next();
    for (; step.done !== true; step = work.next()) await passTurn();
    if (step.value === null) return 'every point that was tried has a run';
    const { sweep, description, notify, groups } = submission.plan;
    const { environment } = submission;
    return { frame: { sweep, description, notify, groups }, environment, run: step.value };
  }

  /** Loaded with the first proposal: few supervisors ever need it. */
  #searchOf(key: string, { plan, environment }: Submission): Promise<Search> {
    const known = this.#searches.get(key);
    if (known !== undefined) return known;
    const search = this.#begun(plan, environment);
    this.#searches.set(key, search);
    search.catch(() => this.#searches.delete(key));
    return search;
  }

  async #begun({ source, sweep }: Plan, environment: Environment): Promise<Search> {
    const { Search } = await import('../../spec/search/search.js');
    const recorded: KnownRun[] = [];
    // Those that nobody here knows of, because what was known of them was lost.
    const isUnknown = (name: string) =>
      this.#ports.loop.state.sweeps.get(sweep)?.has(`${sweep}/${name}` as RunId) !== true;
    for (const record of eachRunRecord(join(source!.runsDirectory, sweep), isUnknown)) {
      recorded.push({ ...record, isStarted: true });
      if (isTurnOver()) await nextTurn();
    }
    return new Search(source!, environment, recorded);
  }

  #known({ id, runs }: Group): Known {
    const { state } = this.#ports.loop;
    const names = new Set<string>();
    for (const each of state.sweeps.get(sweepOf(id)) ?? []) names.add(nameOf(each).toLowerCase());
    return { trials: [...runs].map((each) => this.#trialOf(state.runs.get(each)!)), names };
  }

  #trialOf(run: Run): Trial {
    const { plannedRuns, watcher } = this.#ports;
    return { ...stateOf(run), parameters: plannedRuns.of(run.id)!.parameters, values: watcher.objectiveOf(run.id) };
  }

  async #close(group: GroupId, reason: string): Promise<void> {
    const { loop, log } = this.#ports;
    await loop.ask({ type: 'groups-closed', at: loop.now(), groups: [group], reason });
    log(`${group} gets no further runs: ${reason}`);
  }
}

function stateOf({ state }: Run): Pick<Trial, 'state'> {
  switch (state.phase) {
    case 'waiting':
    case 'starting':
      return { state: 'waiting' };
    case 'ended':
      if (state.outcome.kind !== 'done') return { state: 'broken' };
      return { state: state.outcome.rule === undefined ? 'done' : 'stopped' };
    default:
      return { state: 'running' };
  }
}
