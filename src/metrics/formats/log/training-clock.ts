import type { StatedProgress } from '../format.js';
import type { Place } from './printed-line.js';
import type { Bar } from './progress-bar.js';

/** Where a row belongs: `step`, `epoch` and the like, by key. */
export type Axis = Record<string, number>;

/**
 * The place in the training, of what a program says of epochs, steps and bars.
 *
 * Steps that begin again with each epoch are counted on, by the length of an epoch: as it is printed, or else as it was counted in
 * the first. A bar that is open is the training; others meanwhile are inside it (an evaluation).
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
  #etaSeconds: number | null = null;
  #bar: Bar | null = null;
  #barBase = 0;
  #step: number | null = null;
  #hasRows = false;

  /** The axis of what is printed without a place of its own. */
  get axis(): Axis {
    return this.#step === null ? this.#announced : { step: this.#step };
  }

  /** The step that a bar shows; null: there is none. */
  get step(): number | null {
    return this.#step;
  }

  get hasOpenBar(): boolean {
    return this.#bar !== null;
  }

  get progress(): StatedProgress | null {
    const bar = this.#bar;
    const inBar = bar === null ? 0 : Math.min(1, bar.done / bar.total);
    const { at, of } = this.#epoch ?? {};
    if (bar !== null && (of === undefined || this.#isWithinEpoch === false)) {
      return { share: inBar, etaSeconds: bar.etaSeconds, rate: bar.rate };
    }
    if (bar === null && this.#share !== null) return { share: this.#share, etaSeconds: this.#etaSeconds, rate: null };
    if (at === undefined || of === undefined) return null;
    const share = Math.min(1, Math.max(0, (at - this.#firstEpoch + inBar) / of));
    return { share, etaSeconds: of === at ? (bar?.etaSeconds ?? null) : null, rate: bar?.rate ?? null };
  }

  /** Another attempt counts as the one before did. */
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

  /** A line that says nothing but where the training is: what follows is from there. */
  announce(places: readonly Place[]): void {
    const axis = this.place(places);
    this.#announced = axis;
    if (this.#bar !== null && this.#bar.done >= this.#bar.total && 'epoch' in axis) this.#bar = { ...this.#bar, done: 0 };
  }

  /** The axis of a row that names its place; empty: it says none. */
  place(places: readonly Place[]): Axis {
    const unnamed = places.filter(({ name }) => name === '');
    const named = places.find(({ name }) => name === 'epoch');
    const epoch = named ?? (unnamed.length > 1 ? unnamed.shift() : undefined);
    const global = places.find(({ name }) => name === 'global_step');
    const inner = global ?? places.find((place) => unnamed.includes(place) || /^(?:step|batch)$/.test(place.name));
    const axis: Axis = {};
    for (const { name, at } of places) if (ownKeys.has(name)) axis[name] = at;
    if (epoch !== undefined) axis['epoch'] = this.#takeEpoch(epoch);
    const within = inner === undefined || inner === global ? undefined : epochOf(places, epoch, inner);
    if (inner === global && inner !== undefined) axis['step'] = inner.at;
    else if (inner !== undefined) axis['step'] = this.#stepOf(inner, within ?? this.#announcedEpoch(epoch));
    const share = this.#shareOf(epoch, inner);
    if (share !== null) this.#etaSeconds = null;
    this.#share = share ?? this.#share;
    return axis;
  }

  /** Whether steps are named that the training has passed in this epoch: they are those of an evaluation. */
  isBehind(places: readonly Place[]): boolean {
    const epoch = places.find(({ name }) => name === 'epoch');
    const step = places.find(({ name }) => name === 'step');
    return epoch?.at === this.#counted?.epoch && step !== undefined && step.at < (this.#counted?.at ?? 0);
  }

  takeBar(bar: Bar, places: readonly Place[]): void {
    const before = this.#bar;
    const isOpen = before !== null && before.done < before.total;
    if (before !== null && bar.total !== before.total) {
      if (isOpen || this.#hasRows) return;
      this.#barBase = 0;
      this.#step = null;
    } else if (before !== null && bar.done < before.done) this.#barBase = this.#step ?? 0;
    this.#bar = bar;
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

  /** What the program says is left. */
  takeEta(etaSeconds: number | null): void {
    this.#etaSeconds = etaSeconds;
  }

  #takeEpoch({ at, of }: Place): number {
    if (at === 0) this.#firstEpoch = 0;
    this.#epoch = of === undefined ? { at } : { at, of };
    return at;
  }

  #announcedEpoch(epoch: Place | undefined): number | undefined {
    return epoch === undefined ? this.#announced['epoch'] : undefined;
  }

  #stepOf({ name, at, of, isBracketed }: Place, epoch: number | undefined): number {
    if (epoch === undefined) return at;
    const isSurelyWithin = name !== 'step' || (isBracketed && of !== undefined);
    const before = this.#counted;
    if (before !== null && epoch > before.epoch) {
      if (!isSurelyWithin) this.#isWithinEpoch ??= at <= before.at;
      if (of === undefined) this.#epochLength ??= before.at + (this.#countsFrom === 0 ? 1 : 0);
    }
    if (at === 0) this.#countsFrom = 0;
    this.#counted = { epoch, at };
    const isWithin = isSurelyWithin || (this.#isWithinEpoch ?? of !== undefined);
    return isWithin ? Math.max(0, epoch - this.#firstEpoch) * (of ?? this.#epochLength ?? 0) + at : at;
  }

  #shareOf(epoch: Place | undefined, inner: Place | undefined): number | null {
    const within = inner?.of === undefined ? 0 : inner.at / inner.of;
    if (epoch?.of !== undefined) return Math.min(1, Math.max(0, (epoch.at - this.#firstEpoch + within) / epoch.of));
    return epoch === undefined && inner?.of !== undefined ? Math.min(1, within) : null;
  }
}

/** Counters that a row has under their own names. */
const ownKeys = new Set(['episode', 'trial', 'global_step']);

/** The epoch that a step is in: one that is named behind it is only told. */
function epochOf(places: readonly Place[], epoch: Place | undefined, inner: Place): number | undefined {
  return epoch !== undefined && places.indexOf(epoch) < places.indexOf(inner) ? epoch.at : undefined;
}
