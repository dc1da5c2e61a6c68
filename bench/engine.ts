import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { busyLines } from './support/busy.js';
import { bundle } from './support/bundle.js';
import { olderProgram } from './support/older-commit.js';
import { median } from './support/quantile.js';
import { type Parts, StepProgram } from './support/step-program.js';
import { plainWorkloads, workloads } from './support/workloads.js';

/** `ratio`, `onTwo`: to PyTorch on one thread, where that can be said; of one thread, and of two. */
const budget = { W1: { ms: 0.7 }, W2: { ratio: 1, onTwo: 0.6 } };

/** Steps of a turn and turns of each; and a turn to warm up. */
const plan = { W1: { steps: 400, warmUp: 1500, rounds: 11 }, W2: { steps: 1, warmUp: 1, rounds: 5 } } as const;
type Name = keyof typeof plan;

type Contestant = { readonly name: string; readonly program: StepProgram; readonly only?: Name };
type Result = { readonly name: string; readonly turns: readonly Parts[] };

const dist = fileURLToPath(new URL('.', import.meta.url));

/**
 * Policy-gradient steps: W1 (101,184 parameters; 4 × 5 tokens after one prompt of 10) and W2 (1.25 million parameters; 32 prompts of 16
 * and 112 tokens after each): sampling, forward and backward, Adam. Beside PyTorch, where `python3 -c "import torch"` works
 * (BENCH_PYTHON names another), and beside an older commit that BENCH_BEFORE names. All take turns, in one run.
 */
export async function benchEngine(): Promise<string[]> {
  const { contestants, absent } = await enter();
  const lines: string[] = [];
  try {
    for (const name of ['W1', 'W2'] as const) lines.push(...table(name, await takeTurns(name, contestants)), '');
  } finally {
    for (const { program } of contestants) await program.end();
  }
  return [...lines, ...contestants.map(({ name, program }) => `${name}: ${program.on}`), ...absent, ...busyLines()];
}

async function enter(): Promise<{ contestants: Contestant[]; absent: string[] }> {
  const given = JSON.stringify(workloads);
  const entry = 'bench/programs/training-steps.ts';
  const ours = await bundle(dist, entry, 'training-steps');
  const before = process.env['BENCH_BEFORE'];
  const python = process.env['BENCH_PYTHON'] ?? 'python3';
  const script = join(dist, '../bench/programs/training_steps.py');
  const torch = (threads: number) => [python, script, String(threads), JSON.stringify(plainWorkloads())];
  const older = before === undefined ? null : await olderProgram(join(dist, 'bench-before'), entry, before);
  const entries = [
    { name: 'this', words: [process.execPath, ours, '1', given] },
    ...(older === null ? [] : [{ name: `at ${before}`, words: [process.execPath, older, '1', given] }]),
    { name: 'this, 2 threads', words: [process.execPath, ours, '2', given], only: 'W2' as const },
    { name: 'plain loops', words: [process.execPath, ours, 'loops', given], only: 'W1' as const },
    { name: 'PyTorch', words: torch(1), quiet: true },
    { name: 'PyTorch, 2 threads', words: torch(2), quiet: true, only: 'W2' as const },
  ];
  const contestants: Contestant[] = [];
  for (const { words, quiet, ...rest } of entries) {
    const program = await StepProgram.start(words, quiet);
    if (program !== null) contestants.push({ ...rest, program });
    else if (quiet !== true) throw new Error(`${words.slice(0, 2).join(' ')} does not start`);
  }
  const absent = entries.filter(({ name }) => !contestants.some((contestant) => contestant.name === name));
  return {
    contestants,
    absent: [
      ...absent.map(({ name }) => `${name}: LEFT OUT, \`${python} -c "import torch"\` does not work (BENCH_PYTHON)`),
    ],
  };
}

/** One after the other, in every round. */
async function takeTurns(name: Name, contestants: readonly Contestant[]): Promise<Result[]> {
  const { steps, warmUp, rounds } = plan[name];
  const here = contestants.filter(({ only = name }) => only === name);
  const share = (contestant: Contestant): number => (contestant.name === 'plain loops' ? 0.1 : 1);
  for (const one of here) await one.program.take(name, Math.ceil(warmUp * share(one)));
  const results = here.map((one) => ({ name: one.name, turns: [] as Parts[] }));
  for (let round = 0; round < rounds; round++) {
    for (const [index, one] of here.entries()) {
      results[index]!.turns.push(await one.program.take(name, Math.ceil(steps * share(one))));
    }
  }
  return results;
}

function table(name: Name, results: readonly Result[]): string[] {
  const { steps, rounds } = plan[name];
  const [ours] = results;
  return [
    `${name}, ms per step: medians of ${rounds} turns of ${steps}`,
    `${''.padEnd(22)}   sample     train      adam      total        cpu   × of this in the same round: time, cpu`,
    ...results.map((result) => line(result, ours!)),
    ...verdicts(name, results),
  ];
}

function line(result: Result, ours: Result): string {
  const parts = (['sample', 'train', 'adam'] as const).map((part) => median(result.turns.map((turn) => turn[part])));
  const columns = [...parts, median(totals(result)), median(cpus(result))].map((ms) =>
    ms.toFixed(ms < 10 ? 3 : 0).padStart(9),
  );
  const beside =
    result === ours ? '' : `${ratioText(ratios(result, ours, totals))}, ${ratioText(ratios(result, ours, cpus))}`;
  return `  ${result.name.padEnd(20)} ${columns.join(' ')}   ${beside}`;
}

function verdicts(name: Name, results: readonly Result[]): string[] {
  const find = (wanted: string): Result | undefined => results.find((result) => result.name === wanted);
  const [ours, onTwo, torch] = [find('this')!, find('this, 2 threads'), find('PyTorch')];
  if (name === 'W1') return [held(`budget ${budget.W1.ms} ms`, median(totals(ours)) <= budget.W1.ms)];
  if (torch === undefined || onTwo === undefined) return ['no budget without PyTorch'];
  return [
    held(
      `budget ${budget.W2.ratio} × PyTorch's time on one thread`,
      median(ratios(ours, torch, totals)) <= budget.W2.ratio,
    ),
    held(`${budget.W2.onTwo} × that on two threads`, median(ratios(onTwo, torch, totals)) <= budget.W2.onTwo),
  ];
}

function held(what: string, isHeld: boolean): string {
  return `${what}: ${isHeld ? 'held' : 'MISSED'}`;
}

function totals({ turns }: Result): number[] {
  return turns.map(({ sample, train, adam }) => sample + train + adam);
}

/** Other programs lengthen it less than they do the time. */
function cpus({ turns }: Result): number[] {
  return turns.map(({ cpu }) => cpu);
}

/** Round by round: what one took over what the other took. */
function ratios(one: Result, other: Result, of: (result: Result) => number[]): number[] {
  const others = of(other);
  return of(one).map((ms, round) => ms / others[round]!);
}

function ratioText(values: readonly number[]): string {
  return `${median(values).toFixed(2)} (${Math.min(...values).toFixed(2)} to ${Math.max(...values).toFixed(2)})`;
}
