import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RunId } from '../src/base/ids.js';
import { type CgroupHome, openCgroupHome } from '../src/executors/local/cgroup-home.js';
import { LocalExecutor } from '../src/executors/local/local-executor.js';

const ROUNDS = 8;
const RUNS = 100;

/** What a cgroup of its own costs a run of `true`, from order to end, one after the other; in turns with runs that have none. */
export async function benchCgroup(): Promise<string[]> {
  const runs = realpathSync(mkdtempSync(join(tmpdir(), 'cgroup-bench-')));
  const home = openCgroupHome(runs);
  if (home === null) return ['cgroups (version 2) may not be made here'];
  // Nothing of a run keeps the one who started it.
  const alive = setInterval(() => undefined, 1000);
  const [without, within] = [new Course(join(runs, 'without'), null), new Course(join(runs, 'within'), home)];
  for (let round = 0; round < ROUNDS; round++) {
    await without.run();
    await within.run();
  }
  clearInterval(alive);
  for (const course of [without, within]) course.close();
  rmSync(runs, { recursive: true, force: true });
  return [summary('without a cgroup', without.times), summary('in a cgroup', within.times)];
}

/** Runs one way, and how long each took, ms. */
class Course {
  readonly times: number[] = [];
  readonly #folder: string;
  readonly #executor: LocalExecutor;
  #tell = () => {};

  constructor(folder: string, home: CgroupHome | null) {
    this.#folder = folder;
    this.#executor = new LocalExecutor(
      { ended: () => this.#tell(), changed: () => undefined, troubled: () => undefined, mayGiveUp: () => true },
      home,
    );
  }

  async run(): Promise<void> {
    for (let n = 0; n < RUNS; n++) {
      const name = String(this.times.length);
      const directory = join(this.#folder, name);
      mkdirSync(directory, { recursive: true });
      const environment = { PATH: process.env['PATH'] ?? '' };
      const needs = { gpus: 0, gpuMemory: null, cpus: 1 };
      const order = { directory, attempt: 1, argv: ['true'], cwd: directory, environment, needs };
      const start = performance.now();
      await new Promise<void>((resolve) => {
        this.#tell = resolve;
        this.#executor.start(RunId.parse(`s/${name}`), order);
      });
      this.times.push(performance.now() - start);
    }
  }

  close(): void {
    this.#executor.close();
  }
}

function summary(what: string, times: number[]): string {
  times.sort((a, b) => a - b);
  const at = (part: number) => times[Math.floor(part * times.length)]!.toFixed(2);
  return `${what.padEnd(16)} median ${at(0.5)} ms a run (quarter ${at(0.25)}, best ${at(0)})`;
}
