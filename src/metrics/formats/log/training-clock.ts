import type { StatedProgress } from '../format.js';
import type { Place } from './printed-line.js';
import type { Bar } from './progress-bar.js';

/** The place of a row: `step`, `epoch` and the like, by key. */
export type Axis = Record<string, number>;

/**
 * Tracks the place in the training, from the epochs, steps and bars in a log.
 *
 * Steps that restart with each epoch are counted on, by the length of an epoch: as printed, or else as counted in the first. An
 * open bar is the training's; others meanwhile are nested in it (an evaluation).
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
  #etaSeconds: number | null = null;
  #bar: Bar | null = null;
  #barBase = 0;
  #step: number | null = null;
  #hasRows = false;

  /** The axis of rows without a place of their own. */
  get axis(): Axis {
    return this.#step === null ? this.#announced : { step: this.#step };
  }

  /** The step that a bar shows; null: there is no bar. */
  get step(): number | null {
    return this.#step;
  }

  get progress(): StatedProgress | null {
    const bar = this.#bar;
    if (bar === null && this.#share !== null) return { share: this.#share, etaSeconds: this.#etaSeconds, rate: null };
    const inBar = bar === null ? 0 : Math.min(1, bar.done / bar.total);
    return this.#progressInEpochs(inBar) ?? (bar && { share: inBar, etaSeconds: bar.etaSeconds, rate: bar.rate });
  }

  /** The progress over all epochs; null: their number is unknown, or the bar covers all of them. */
  #progressInEpochs(inBar: number): StatedProgress | null {
    if (this.#epoch?.of === undefined || this.#isWithinEpoch === false) return null;
    const { at, of } = this.#epoch;
    const share = partOf(at - this.#firstEpoch + inBar, of);
    return { share, etaSeconds: of === at ? (this.#bar?.etaSeconds ?? null) : null, rate: this.#bar?.rate ?? null };
  }

  /** Starts another attempt, which counts as the one before did. */
  begin(): void {
    this.#announced = {};
    this.#epoch = null;
    this.#counted = null;
    this.#share = null;
    this.#etaSeconds = null;
    this.#bar = null;
    this.#barBase = 0;
    this.#step = null;
    this.#hasRows = false;
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
    this.#etaSeconds = null;
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

  /** Records the program's estimate of the time left, at the end of the text about a step, which is then done. */
  takeEta(etaSeconds: number | null): void {
    this.#share = this.#shareWhenDone ?? this.#share;
    this.#etaSeconds = etaSeconds;
  }

  /** Processes a bar. False: it is nested in the training's. */
  #takesBar(bar: Bar): boolean {
    const before = this.#bar;
    if (before !== null && bar.total !== before.total) {
      if (before.done < before.total || this.#hasRows) return false;
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
    const inner = global ?? places.find((place) => unnamed.includes(place) || /^(?:step|batch)$/.test(place.name));
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

/** Counters that keep their own names in a row. */
const ownKeys = new Set(['episode', 'trial', 'global_step']);

function partOf(done: number, total: number): number {
  return Math.min(1, Math.max(0, done / total));
}
