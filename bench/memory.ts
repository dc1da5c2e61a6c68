import { createEngine } from '../src/lab/engine/create-engine.js';
import { initialWeights } from '../src/lab/engine/initial-weights.js';
import { trainingStep } from '../src/lab/bench/bench.js';
import { rng } from '../src/lab/rng.js';
import { residentMegabytes } from './support/process-figures.js';
import { workloads } from './support/workloads.js';

const STEPS = 20_000;
const EVERY = 1000;
/** Between the highest of the second quarter, when V8's compilers and its young generation have settled, and of the last. */
const budgetMegabytes = 5;

/** Memory of this process and of JavaScript's heap while the engine takes 20,000 steps of the memory task (W1). */
export async function benchMemory(): Promise<string[]> {
  const { shape, step } = workloads.W1;
  const engine = await createEngine(shape);
  const random = rng(1, 'bench');
  await engine.loadWeights(initialWeights(shape, () => random.next()));
  const rows: { resident: number; heap: number }[] = [];
  for (let i = 1; i <= STEPS; i++) {
    await trainingStep(engine, step, random);
    if (i % EVERY !== 0) continue;
    rows.push({ resident: residentMegabytes(process.pid), heap: process.memoryUsage().heapUsed / 2 ** 20 });
  }
  const quarter = rows.length / 4;
  const highest = (some: typeof rows) => Math.max(...some.map(({ resident }) => resident));
  const growth = highest(rows.slice(-quarter)) - highest(rows.slice(quarter, 2 * quarter));
  return [
    'steps    resident   JavaScript heap, MB',
    ...rows.map(({ resident, heap }, index) => {
      return `${String((index + 1) * EVERY).padStart(6)} ${resident.toFixed(1).padStart(10)} ${heap.toFixed(1).padStart(10)}`;
    }),
    `from the second to the last quarter: ${growth.toFixed(1)} MB; budget ${budgetMegabytes} MB: ${growth <= budgetMegabytes ? 'held' : 'MISSED'}`,
  ];
}
