import { fileURLToPath } from 'node:url';
import { Testbed } from '../test/supervisor/testbed.js';
import { busyLines } from './support/busy.js';
import { DrivenProgram } from './support/driven-program.js';
import { cpuSeconds } from './support/process-figures.js';
import { median } from './support/quantile.js';

const counts = [1000, 10_000];
const ROUNDS = 5;
const budgetMs = 250;
const size = { cols: 120, rows: 40 };
/** The end of a synchronized update: what is on the screen then is a whole frame. */
const wholeFrame = '\u001b[?2026l';

/**
 * From the start of `memrl-tui attach`, a new process each time, to its first whole frame, with a supervisor that holds
 * so many runs. Beside it the start of Node itself, with nothing to do.
 */
export async function benchAttach(): Promise<string[]> {
  // As it is shipped; a bench is built beside it.
  const program = fileURLToPath(new URL('memrl-tui.js', import.meta.url));
  const bare = await times(() => new DrivenProgram(['-e', `process.stdout.write("up")`], size), 'up');
  const lines = [];
  for (const count of counts) lines.push(await attached(program, count, bare.wall));
  return [
    ...lines,
    `  Node alone, doing nothing: median ${bare.wall.toFixed(0)} ms, ${bare.cpu.toFixed(0)} ms of CPU`,
    ...busyLines(),
  ];
}

async function attached(program: string, count: number, bare: number): Promise<string> {
  const bed = new Testbed();
  try {
    const fleet = await bed.fleet();
    const runs = Array.from({ length: count }, (_, n) => ({ name: `lr_sweep_N${n % 32}_s${n}`, argv: ['true'] }));
    await fleet.submit(bed.plan('attached', runs), { PATH: process.env['PATH']! }, { slots: 0, gpus: 'none' });
    await fleet.until(({ runs: rows }) => rows.size === count);
    const { wall, cpu } = await times(
      () => new DrivenProgram([program, 'attach', '--runs', bed.runs], size),
      wholeFrame,
    );
    return (
      `first frame after attach, ${count.toLocaleString('en')} runs: median ${wall.toFixed(0)} ms (${(wall / bare).toFixed(1)} × Node alone), ` +
      `${cpu.toFixed(0)} ms of CPU; budget ${budgetMs} ms: ${wall <= budgetMs ? 'held' : 'MISSED'}`
    );
  } finally {
    await bed.close();
  }
}

/** Medians, ms: from the start until the text is on the screen, and the CPU time until then. */
async function times(start: () => DrivenProgram, token: string): Promise<{ wall: number; cpu: number }> {
  const [wall, cpu]: [number[], number[]] = [[], []];
  for (let round = 0; round < ROUNDS; round++) {
    const begun = performance.now();
    const child = start();
    await child.seen(token);
    wall.push(performance.now() - begun);
    cpu.push(cpuSeconds(child.pid) * 1000);
    child.kill();
  }
  return { wall: median(wall), cpu: median(cpu) };
}
