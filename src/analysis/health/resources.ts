import { gpuName } from '../../base/ids.js';
import { roughDuration } from '../../text/duration.js';
import { sizeText } from '../../text/numbers.js';

/**
 * A GPU that computes nothing for this long is idle, ms: loading a model or preparing data on the CPU takes less time. `BUSY`:
 * utilization in percent from which on it computes; drivers and desktops use a percent or two.
 */
const IDLE_MS = 300_000;
export const BUSY = 3;

/** The time since which each GPU has computed nothing. Times: ms, any zero. */
export class GpuIdleness {
  /** Start of the idleness by index of the GPU; null: it computes. */
  #since = new Map<number, number | null>();

  /** Records a reading of the driver; a GPU without a utilization (MIG) is left out. */
  note(now: number, gpus: readonly { readonly index: number; readonly utilization: number | null }[]): void {
    const before = this.#since;
    const told = gpus.filter(({ utilization }) => utilization !== null);
    this.#since = new Map(
      told.map(({ index, utilization }) => [index, utilization! >= BUSY ? null : (before.get(index) ?? now)]),
    );
  }

  /**
   * Which of a run's GPUs have been idle for minutes, in words; null: none.
   *
   * @param from Since when the run has been up without a pause.
   */
  of(gpus: readonly number[], from: number, now: number): string | null {
    const idleMs = (index: number) => {
      const since = this.#since.get(index) ?? null;
      return since === null ? 0 : now - Math.max(since, from);
    };
    const idle = gpus.filter((index) => idleMs(index) >= IDLE_MS);
    if (idle.length === 0) return null;
    const names = `GPU${idle.length === 1 ? '' : 's'} ${idle.map(gpuName).join(', ')}`;
    return `${names} at 0 % for ${roughDuration(Math.min(...idle.map(idleMs)))}`;
  }
}

/** Hours in which GPUs were observed under runs, and of those the hours in which they computed nothing. */
export type GpuHours = { readonly seen: number; readonly idle: number };

/** A gap between samples that is longer than so many usual ones is a pause between two attempts, and does not count. */
const PAUSE = 4;

/** The hours of the GPUs of a run, by their utilization in percent (`y`) over Unix seconds (`x`). Each GPU counts by itself. */
export function gpuHours(gpus: readonly { readonly x: Float64Array; readonly y: Float64Array }[]): GpuHours {
  let [seen, idle] = [0, 0];
  for (const { x, y } of gpus) {
    const gaps = x.subarray(1).map((time, index) => time - x[index]!);
    const usual = gaps.toSorted()[gaps.length >> 1] ?? 0;
    for (const [index, gap] of gaps.entries()) {
      if (!(gap > 0 && gap <= PAUSE * usual)) continue;
      seen += gap / 3600;
      // A sample tells of the time before it.
      if (y[index + 1]! < BUSY) idle += gap / 3600;
    }
  }
  return { seen, idle };
}

/** Space on a disk in bytes. `free`: available without privileges. */
export type DiskRoom = { readonly free: number; readonly total: number };

/** Less free space is scarce: a checkpoint or two. On a small disk, a twentieth of it. */
const SCARCE_BYTES = 10 * 2 ** 30;
const SCARCE_SHARE = 0.05;
/** A disk that was almost full stays so until so many times as much is free. */
const STILL_SCARCE = 1.2;

/** Why the disk of a run is almost full, in words; null: it is not. @param wasScarce Whether it was at the last check. */
export function scarcityOf({ free, total }: DiskRoom, wasScarce: boolean): string | null {
  const limit = Math.min(SCARCE_BYTES, SCARCE_SHARE * total);
  if (free >= (wasScarce ? STILL_SCARCE : 1) * limit) return null;
  return `${sizeText(free)} of ${sizeText(total)} left on its disk`;
}
