import { closeSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { event } from './event-file.js';
import { WandbFileBytes } from './wandb-file.js';

/** How many runs are written, of how many metrics and steps. */
export type Amount = { readonly runs: number; readonly metrics: number; readonly points: number };

const rates = [0.1, 0.03, 0.01, 0.003, 0.001];
/** Steps written at once. */
const PART = 500;

/** Writes the same runs in two formats, as TensorBoard's and W&B's writers do: the folders `tensorboard` and `wandb` in `root`. */
export function writeRuns(root: string, { runs, metrics, points }: Amount): void {
  const keys = Array.from({ length: metrics }, (_, index) => (index === 0 ? 'loss' : `train/metric_${index}`));
  for (let run = 0; run < runs; run++) {
    const settings = { lr: rates[run % rates.length]!, seed: Math.floor(run / rates.length) };
    const name = `lr${settings.lr}_s${settings.seed}`;
    const id = `r${String(run).padStart(7, '0')}`;
    const time = `20261101_1${String(run).padStart(4, '0')}0`;
    const events = opened(join(root, 'tensorboard', name), `events.out.tfevents.1700000000.host.${run}.0`);
    const records = opened(join(root, 'wandb', `offline-run-${time}-${id}`), `run-${id}.wandb`);
    const file = new WandbFileBytes();
    file.run(id, settings);
    for (let step = 0; step < points; step += PART) {
      const steps = Array.from({ length: Math.min(PART, points - step) }, (_, index) => step + index);
      const rows = steps.map((at) => [at, keys.map((_, metric) => valueOf(run, metric, at))] as const);
      writeSync(
        events,
        Buffer.concat(rows.flatMap(([at, values]) => values.map((y, place) => event(keys[place]!, y, at)))),
      );
      for (const [at, values] of rows)
        file.history(at, Object.fromEntries(values.map((y, place) => [keys[place]!, y])));
      writeSync(records, file.take());
    }
    file.exit(0);
    writeSync(records, file.take());
    [events, records].forEach((descriptor) => closeSync(descriptor));
  }
}

function opened(folder: string, name: string): number {
  mkdirSync(folder, { recursive: true });
  return openSync(join(folder, name), 'w');
}

/** A falling curve with noise, so that no two values are the same. */
function valueOf(run: number, metric: number, step: number): number {
  const noise = ((step * 1_103_515_245 + 12_345 + run * 7919 + metric) >>> 8) % 1000;
  return Math.exp(-step / (2000 + 30 * run)) * (1 + metric / 10) + noise / 1e4;
}
