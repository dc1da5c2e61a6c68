import { join } from 'node:path';
import { settingOf } from '../../analysis/forecast/durations.js';
import type { Levels } from '../../analysis/health/divergence.js';
import type { Finding } from '../../analysis/health/finding.js';
import { PaceMarks, type PaceSiblings } from '../../analysis/health/pace.js';
import { type SiblingPauses, WritingRhythm } from '../../analysis/health/silence.js';
import type { Ailment, RunHealth } from '../../base/run-words.js';
import { runFiles } from '../../contract/files.js';
import { statRegular } from '../../files/regular-file.js';
import type { RunState } from '../../scheduler/state.js';
import type { PlannedRun } from '../../spec/planned-run.js';
import type { JudgedLevels } from '../reading/reading-messages.js';
import type { Followed } from '../runs/watcher.js';

/** Interval of checks of all values of its metric, ms. */
const JUDGED_MS = 20_000;

type Running = Extract<RunState, { phase: 'running' }>;
/** The input of one look. `followed`: null while rows are still being read. `step`: the present step; null: unknown. */
type Sight = { followed: Followed | null; step: number | null; now: number };

/** Observations of one attempt of a run. Times: ms of the scheduler's clock. */
export class ObservedRun {
  readonly attempt: number;
  readonly planned: PlannedRun;
  /** Equal for runs that differ in nothing but their seeds. */
  readonly setting: string;
  readonly pace = new PaceMarks();
  /** The metric that decides whether it diverges, and its loss beside that. */
  judged: JudgedLevels | null = null;
  /** Since when it has been up without a pause. */
  steadyFrom: number;
  /** Its problems, except metrics that are not numbers. */
  findings: readonly Finding[] = [];
  /** Its last health word, and the time at which it last had each word. */
  word: RunHealth = 'ok';
  readonly heldAt = new Map<Ailment, number>();
  #rhythm: WritingRhythm | null = null;
  #rows = 0;
  #logSize = 0;
  #pausedMs = 0;
  #judgedAt = -Infinity;

  constructor(planned: PlannedRun, attempt: number, now: number) {
    this.planned = planned;
    this.attempt = attempt;
    this.setting = settingOf(planned.parameters);
    this.steadyFrom = now;
  }

  /** The times of its writes; null: it has not been seen yet. */
  get rhythm(): WritingRhythm | null {
    return this.#rhythm;
  }

  /**
   * Observes it once. Data from before the first look is not news. @param isAdopted Whether it was up before this supervisor
   * started.
   */
  look(state: Running, { followed, step, now }: Sight, isAdopted: boolean): void {
    this.#pausedMs = state.pausedMs;
    if (state.pausedAt !== null) {
      this.steadyFrom = now;
      return;
    }
    const up = upMs(state, now);
    if (this.#rhythm !== null) this.#noteWriting(this.#rhythm, followed, up);
    else if (followed !== null) this.#begin(followed, isAdopted ? up : null);
    if (followed === null) return;
    if (step !== null) this.pace.note(up, step);
    if (now - this.#judgedAt < JUDGED_MS) return;
    this.#judgedAt = now;
    this.judged = followed.judged();
  }

  /** Concludes a done run: its last pause counts as usual. */
  conclude(since: number, at: number): void {
    this.#rhythm?.wrote(at - since - this.#pausedMs);
  }

  /** @param adoptedAt How long it had been up, ms; null: it was started here. */
  #begin(followed: Followed, adoptedAt: number | null): void {
    this.#rows = followed.rows;
    this.#logSize = this.#sizeOfLog();
    const usual = adoptedAt === null || this.#rows < 2 ? null : adoptedAt / this.#rows;
    this.#rhythm = new WritingRhythm(adoptedAt ?? 0, usual);
  }

  #noteWriting(rhythm: WritingRhythm, followed: Followed | null, up: number): void {
    // If reading cannot keep up, the run writes.
    if (followed === null || this.#hasWritten(followed)) rhythm.wrote(up);
  }

  /** Whether it has written. Its log is only checked if its metrics have not grown, as most runs write both. */
  #hasWritten(followed: Followed): boolean {
    const before = this.#rows;
    this.#rows = followed.rows;
    if (this.#rows !== before) return true;
    const size = this.#logSize;
    this.#logSize = this.#sizeOfLog();
    return this.#logSize !== size;
  }

  #sizeOfLog(): number {
    const seen = statRegular(join(this.planned.directory, runFiles.log));
    return seen.kind === 'file' ? seen.stat.size : 0;
  }
}

/** How long the attempt has been up, without its pauses, ms. */
function upMs({ since, pausedAt, pausedMs }: Running, now: number): number {
  return (pausedAt ?? now) - since - pausedMs;
}

/** Number of runs that one is compared with: a sample tells as much as a thousand. */
const COMPARED = 32;

/** The live runs of one group and its last done ones, with which each is compared. Created anew for each look. */
export class Siblings {
  readonly #members: readonly ObservedRun[];
  readonly #bySetting = new Map<string, ObservedRun[]>();
  /** The two longest pauses of all runs, as one of them may be the run's own. */
  #longest: { of: ObservedRun | null; ms: number }[] = [];
  #writers = 0;

  constructor(members: readonly ObservedRun[]) {
    this.#members = members;
    for (const member of members) {
      const alike = this.#bySetting.get(member.setting);
      if (alike === undefined) this.#bySetting.set(member.setting, [member]);
      else alike.push(member);
      const { rhythm } = member;
      if (rhythm === null || rhythm.pauses === 0) continue;
      this.#writers += 1;
      this.#longest.push({ of: member, ms: rhythm.longest });
      this.#longest = this.#longest.sort((a, b) => b.ms - a.ms).slice(0, 2);
    }
  }

  pausesOf(own: ObservedRun): SiblingPauses {
    const isWriter = (own.rhythm?.pauses ?? 0) > 0;
    const longest = this.#longest.find((each) => each.of !== own)?.ms ?? 0;
    return { longest, count: this.#writers - (isWriter ? 1 : 0) };
  }

  pacesOf(own: ObservedRun): PaceSiblings {
    const pacesOf = (members: readonly ObservedRun[]) => sampled(members, own).map(({ pace }) => pace);
    return { like: pacesOf(this.#bySetting.get(own.setting) ?? []), all: () => pacesOf(this.#members) };
  }

  /** Levels of the same metric in the siblings. */
  levelsOf(own: ObservedRun): Levels[] {
    return sampled(this.#members, own).flatMap(({ judged }) =>
      judged?.name === own.judged?.name && judged?.levels ? [judged.levels] : [],
    );
  }
}

/** The other runs, or an evenly spaced sample of them. */
function sampled(members: readonly ObservedRun[], own: ObservedRun): ObservedRun[] {
  const stride = Math.max(1, members.length / COMPARED);
  const some: ObservedRun[] = [];
  for (let at = 0; at < members.length; at += stride) {
    const member = members[Math.floor(at)]!;
    if (member !== own) some.push(member);
  }
  return some;
}
