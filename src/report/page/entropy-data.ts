import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { NoiseMeasurement } from '../../analysis/noise-scale.js';
import { evaluationColumns, evaluationFolder, noiseColumns } from '../../contract/entropy-columns.js';
import { openMetrics } from '../../metrics/run-metrics.js';

/** The noise scale of a gradient at a step of training, by both ways to measure it. */
export type MeasuredNoise = Readonly<Record<'microbatches' | 'twoSizes', NoiseMeasurement>> & { readonly step: number };

/** A checkpoint that `memrl eval-batch` evaluated. `entropy`: nats a token. */
export type EvaluatedStep = { readonly run: string } & Readonly<Record<'step' | 'pass' | 'entropy', number>>;

/** What the lab's runs of a group say of noise and of their checkpoints. */
export type EntropyData = {
  readonly noise: readonly MeasuredNoise[];
  readonly evaluated: readonly EvaluatedStep[];
};

type Run = { readonly directory: string; readonly written: ReadonlySet<string> };

/** Reads the metrics of training and the files of `memrl eval-batch` in the runs of a group; others are skipped. */
export function readEntropyData(runs: readonly Run[]): EntropyData {
  return {
    noise: runs.flatMap(measuredNoise),
    evaluated: runs.flatMap(({ directory }) => evaluatedSteps(directory)),
  };
}

function measuredNoise({ directory, written }: Run): MeasuredNoise[] {
  const { microbatches, twoSizes } = noiseColumns;
  const names = [microbatches.signal, microbatches.noise, twoSizes.signal, twoSizes.noise];
  if (!names.every((name) => written.has(name))) return [];
  return stepsOf(directory, names).flatMap(({ step, values: [signal, noise, signalOfTwo, noiseOfTwo] }) => {
    const found = { microbatches: { signal: signal!, noise: noise! }, twoSizes: { signal: signalOfTwo!, noise: noiseOfTwo! } }; // prettier-ignore
    const isWhole = Object.values(found).every((terms) => Object.values(terms).every(Number.isFinite));
    return isWhole ? [{ step, ...found }] : [];
  });
}

function evaluatedSteps(directory: string): EvaluatedStep[] {
  const root = join(directory, evaluationFolder);
  const places = foldersIn(root).flatMap((name) => foldersIn(join(root, name)).map((how) => join(root, name, how)));
  const { pass: passColumn, entropy: entropyColumn } = evaluationColumns;
  return places.flatMap((place) =>
    stepsOf(place, [passColumn, entropyColumn]).flatMap(({ step, values: [pass, entropy] }) =>
      Number.isFinite(pass) && Number.isFinite(entropy)
        ? [{ run: basename(directory), step, pass: pass!, entropy: entropy! }]
        : [],
    ),
  );
}

/** The steps at which the first of these metrics was written, with the values of all. */
function stepsOf(directory: string, names: readonly string[]): { step: number; values: (number | undefined)[] }[] {
  const metrics = openMetrics(directory).readNow();
  const at = names.map((name) => {
    const { x, y } = metrics.series(name);
    return new Map(Array.from(x, (step, index) => [step, y[index]!]));
  });
  return [...at[0]!.keys()].map((step) => ({ step, values: at.map((values) => values.get(step)) }));
}

/** In order; empty where there is no such directory. */
function foldersIn(directory: string): string[] {
  try {
    const entries = readdirSync(directory, { withFileTypes: true });
    return entries.flatMap((entry) => (entry.isDirectory() ? [entry.name] : [])).sort();
  } catch {
    return [];
  }
}
