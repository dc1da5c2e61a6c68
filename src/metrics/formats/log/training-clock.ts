import type { StatedProgress } from '../format.js';
import type { Place } from './printed-line.js';
import { type Bar, type OwnBar, secondsOf } from './progress-bar.js';

/** The place of a row: `step`, `epoch` and the like, by key. */
type Axis = Record<string, number>;

/**
 * Tracks the place in the training, from the epochs, steps and bars in a log.
 *
 * Steps that restart with each epoch are counted on, by the length of an epoch: as printed, or else as counted in the first. An
 * open bar is the training's; others meanwhile are nested in it (batches in the bar of epochs, or an evaluation).
 */
export class TrainingClock {
  #announced: Axis = {};
  /** Epochs are counted from 0 if one had that number, also in an earlier attempt. */
  #firstEpoch = 1;
  #epoch: { at: number; of?: number } | null = null;
  #counted: { epoch: number; at: number } | null = null;
  #isWithinEpoch: boolean | null = null;
  #epochLength: number | null = null;
  #countsFrom = 1;
  #share: number | null = null;
  #shareWhenDone: number | null = null;
  /** The program's estimate of the time left, as it is printed. */
  #eta = '';
  #bar: Bar | null = null;
  #barBase = 0;
  #step: number | null = null;
  #hasRows = false;
  /** Length of the bar that is drawn anew in each part of the training's. */
  #innerTotal = 0;
  #innerStep: number | null = null;
  /** What a bar of the program's own shows. */
  #own: OwnBar | null = null;
  #standing = new StandingBar();

  /** The axis of rows without a place of their own. */
  get axis(): Axis {
    return this.#step === null ? this.#announced : { step: this.#step };
  }

  /** The step that a bar shows; null: there is no bar. */
  get step(): number | null {
    return this.#step;
  }

  get progress(): StatedProgress | null {
    const shown = this.#shown;
    if (shown === null && this.#share !== null)
      return { share: this.#share, etaSeconds: secondsOf(this.#eta), rate: null };
    return this.#progressInEpochs(shown?.share ?? 0) ?? shown;
  }

  /** What a bar shows: the training's, or else one of the program's own. */
  get #shown(): StatedProgress | null {
    const bar = this.#bar;
    if (bar !== null && bar.total > 0)
      return { share: Math.min(1, bar.done / bar.total), etaSeconds: secondsOf(bar.eta), rate: bar.rate };
    return this.#own && { share: this.#own.share, etaSeconds: secondsOf(this.#own.eta), rate: null };
  }

  /** The progress over all epochs; null: their number is unknown, or the bar covers all of them. */
  #progressInEpochs(inBar: number): StatedProgress | null {
    if (this.#epoch?.of === undefined || this.#isWithinEpoch === false) return null;
    const { at, of } = this.#epoch;
    const share = partOf(at - this.#firstEpoch + inBar, of);
    return { share, etaSeconds: of === at ? secondsOf(this.#bar?.eta ?? '') : null, rate: this.#bar?.rate ?? null };
  }

  /** Starts another attempt, which counts as the one before did. */
  begin(): void {
    this.#announced = {};
    this.#epoch = null;
    this.#counted = null;
    this.#share = null;
    this.#eta = '';
    this.#bar = null;
    this.#barBase = 0;
    this.#step = null;
    this.#hasRows = false;
    this.#innerTotal = 0;
    this.#innerStep = null;
    this.#own = null;
    this.#standing = new StandingBar();
  }

  takeShare(own: OwnBar | null): void {
    if (own !== null) this.#own = own;
  }

  /** The step of a row that was printed while the bar stood. */
  stepOf(keys: readonly string[]): number {
    return this.#standing.stepOf(this.#step ?? 0, keys);
  }

  hasRows(): void {
    this.#hasRows = true;
  }

  /** Handles a line that only contains a place, which applies to what follows. */
  announce(places: readonly Place[]): void {
    const axis = this.place(places);
    this.#announced = axis;
    if (this.#bar !== null && this.#bar.done >= this.#bar.total && 'epoch' in axis)
      this.#bar = { ...this.#bar, done: 0 };
  }

  /** The axis of a row that names its place; empty: it does not. */
  place(places: readonly Place[]): Axis {
    const { epoch, inner, within } = this.#partsOf(places);
    const axis: Axis = {};
    for (const { name, at } of places) if (ownKeys.has(name)) axis[name] = at;
    if (epoch !== undefined) axis['epoch'] = this.#takeEpoch(epoch);
    if (inner !== undefined) axis['step'] = this.#stepOf(inner, within);
    const share = this.#shareOf(epoch, inner);
    if (share === null) return axis;
    this.#share = share;
    this.#eta = '';
    return axis;
  }

  /** Whether steps are named that the training has passed in this epoch: they are those of an evaluation. */
  isBehind(places: readonly Place[]): boolean {
    const epoch = places.find(({ name }) => name === 'epoch');
    const step = places.find(({ name }) => name === 'step');
    return epoch?.at === this.#counted?.epoch && step !== undefined && step.at < (this.#counted?.at ?? 0);
  }

  takeBar(bar: Bar, places: readonly Place[]): void {
    if (!this.#takesBar(bar)) return;
    const epoch = places.find(({ name }) => name === 'epoch');
    const at = epoch === undefined ? this.#epoch?.at : this.#takeEpoch(epoch);
    const place = { name: 'step', at: bar.done, of: bar.total, isBracketed: false };
    const step = at === undefined ? this.#barBase + bar.done : this.#stepOf(place, at);
    this.#step = Math.max(this.#step ?? 0, step);
  }

  /** Whether this bar is that of the training. */
  isAt({ done, total }: Bar): boolean {
    return this.#bar?.total === total && this.#bar.done === done;
  }

  /**
   * The step that a bar within the training's shows, counted over all parts of that: batches in the bar of epochs. Null: it is
   * another one, such as that of an evaluation.
   */
  stepWithin({ done, total }: Bar): number | null {
    if (this.#bar === null || this.#hasRows || total === 0) return null;
    if (this.#innerTotal === 0) this.#innerTotal = total;
    if (total !== this.#innerTotal) return null;
    return (this.#innerStep = this.#bar.done * total + done);
  }

  /** The step at which the training stands for another bar beside it. */
  get stepBeside(): number {
    return this.#innerStep ?? this.#step ?? 0;
  }

  /** Records the program's estimate of the time left, at the end of the text about a step, which is then done. */
  takeEta(eta: string): void {
    this.#share = this.#shareWhenDone ?? this.#share;
    this.#eta = eta;
  }

  /** Processes a bar. False: it is nested in the training's. */
  #takesBar(bar: Bar): boolean {
    const before = this.#bar;
    if (before !== null && bar.total !== before.total) {
      if (before.done < before.total || before.total === 0 || this.#hasRows) return false;
      this.#barBase = 0;
      this.#step = null;
    } else if (before !== null && bar.done < before.done) this.#barBase = this.#step ?? 0;
    this.#bar = bar;
    return true;
  }

  /** The places that count; `within`: the epoch that the steps belong to. An epoch that is named after them does not count. */
  #partsOf(places: readonly Place[]): { epoch?: Place; inner?: Place; within?: number } {
    const unnamed = places.filter(({ name }) => name === '');
    const epoch = places.find(({ name }) => name === 'epoch') ?? (unnamed.length > 1 ? unnamed.shift() : undefined);
    const global = places.find(({ name }) => name === 'global_step');
    const named = places.find(({ name }) => name === 'step' || name === 'batch');
    const inner = global ?? named ?? unnamed[0];
    if (inner === undefined) return epoch === undefined ? {} : { epoch };
    const within = inner === global ? undefined : this.#epochAround(places, epoch, inner);
    return { inner, ...(epoch && { epoch }), ...(within !== undefined && { within }) };
  }

  #epochAround(places: readonly Place[], epoch: Place | undefined, inner: Place): number | undefined {
    if (epoch === undefined) return this.#announced['epoch'];
    return places.indexOf(epoch) < places.indexOf(inner) ? epoch.at : undefined;
  }

  #takeEpoch({ at, of }: Place): number {
    if (at === 0) this.#firstEpoch = 0;
    this.#epoch = of === undefined ? { at } : { at, of };
    return at;
  }

  #stepOf(place: Place, epoch: number | undefined): number {
    const { name, at, of, isBracketed } = place;
    if (epoch === undefined) return at;
    const isSurelyWithin = name !== 'step' || (isBracketed && of !== undefined);
    this.#count(place, epoch, isSurelyWithin);
    const isWithin = isSurelyWithin || (this.#isWithinEpoch ?? of !== undefined);
    return isWithin ? Math.max(0, epoch - this.#firstEpoch) * (of ?? this.#epochLength ?? 0) + at : at;
  }

  /** Learns from the first change of epoch whether steps restart, and how many there are. */
  #count({ at, of }: Place, epoch: number, isSurelyWithin: boolean): void {
    const before = this.#counted;
    if (before !== null && epoch > before.epoch) {
      if (!isSurelyWithin) this.#isWithinEpoch ??= at <= before.at;
      if (of === undefined) this.#epochLength ??= before.at + 1 - this.#countsFrom;
    }
    if (at === 0) this.#countsFrom = 0;
    this.#counted = { epoch, at };
  }

  #shareOf(epoch: Place | undefined, inner: Place | undefined): number | null {
    const within = inner?.of === undefined ? 0 : inner.at / inner.of;
    if (inner?.of !== undefined) this.#shareWhenDone = partOf(inner.at + 1, inner.of);
    if (epoch?.of !== undefined) return partOf(epoch.at - this.#firstEpoch + within, epoch.of);
    return epoch === undefined && inner?.of !== undefined ? partOf(inner.at, inner.of) : null;
  }
}

/**
 * Steps of rows that are printed while a bar stands still, as bars are drawn a few times a second: metrics that come again meanwhile
 * are those of the next step, or lie between two steps where there are several in each.
 */
class StandingBar {
  #step = -1;
  #barAt = -1;
  /** The metrics that had a value at the step. */
  #keys = new Set<string>();
  /** Whether rows are printed more often than the bar counts. */
  #isAhead = false;

  stepOf(barAt: number, keys: readonly string[]): number {
    this.#isAhead ||= barAt > this.#barAt && this.#step > barAt;
    const isNew = barAt < this.#barAt || barAt > this.#step;
    if (isNew) this.#goTo(barAt);
    else if (keys.some((key) => this.#keys.has(key))) this.#goTo(this.#next);
    this.#barAt = barAt;
    for (const key of keys) this.#keys.add(key);
    return this.#step;
  }

  get #next(): number {
    return this.#isAhead ? (this.#step + Math.floor(this.#step) + 1) / 2 : this.#step + 1;
  }

  #goTo(step: number): void {
    this.#step = step;
    this.#keys = new Set();
  }
}

/** Counters that keep their own names in a row. */
const ownKeys = new Set(['episode', 'trial', 'global_step']);

function partOf(done: number, total: number): number {
  return Math.min(1, Math.max(0, done / total));
}
