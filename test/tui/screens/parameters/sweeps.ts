import { seededRandom } from '../../../../src/analysis/parameters/seeded-random.js';
import type { Parameters } from '../../../../src/base/scalar.js';
import type { RunFilesPort, RunSummary, RunWord } from '../../../../src/tui/state/port.js';
import { LogInMemory } from '../../../logs/log-bytes.js';
import { aRun, aSweep, SimulatedFleet } from '../../simulated-fleet.js';

/** No run has written a file. */
const noFiles: RunFilesPort = {
  metrics: () => ({
    refresh: () => false,
    keys: () => [],
    series: () => ({ x: new Float64Array(), y: new Float64Array() }),
  }),
  logTail: () => [],
  openLog: () => new LogInMemory(''),
  runDetails: () => null,
};

export const now = Date.UTC(2026, 0, 5, 12);

type Made = {
  readonly name: string;
  readonly parameters: Parameters;
  readonly metrics: RunSummary['metrics'];
  readonly state?: RunWord;
};

/** A window's world of one sweep of which the lowest loss is best. */
export function worldOf(made: readonly Made[], goal: 'minimize' | null = 'minimize') {
  const runs = made.map(({ name, parameters, metrics, state = 'done' }) =>
    aRun(name, { group: 'A', parameters, metrics, state, attempt: state === 'queued' ? 0 : 1, startedAt: now - 9000 }),
  );
  const groups = [{ name: 'A', title: null, needs: [] }];
  const show = Object.keys(made[0]?.metrics ?? {});
  const objective = goal === null ? {} : { objective: { name: 'eval/loss', goal } };
  const fleet = new SimulatedFleet([aSweep({ groups, show, ...objective })], runs);
  return { fleet, files: noFiles, now };
}

/** A grid of three parameters with five seeds each, 60 runs, of which only the learning rate matters. */
export function smallSweep(stateOf: (index: number) => RunWord = () => 'done') {
  const random = seededRandom(5);
  const settings = [1e-4, 1e-3, 1e-2].flatMap((lr) =>
    [64, 128].flatMap((width) => [true, false].map((warmup): Parameters => ({ lr, width, warmup }))),
  );
  const made = [0, 1, 2, 3, 4].flatMap((seed) => settings.map((setting) => ({ setting, seed })));
  return worldOf(
    made.map(({ setting, seed }, index) => {
      const state = stateOf(index);
      const lr = setting['lr'] as number;
      const loss = 0.1 + 0.08 * (Math.log10(lr) + 3.2) ** 2 + 0.02 * random();
      const metrics: RunSummary['metrics'] = state === 'queued' ? {} : { 'eval/loss': loss, accuracy: 1 - loss };
      const name = `A_lr${lr}_w${setting['width'] as number}${setting['warmup'] === true ? '_warm' : ''}_s${seed}`;
      return { name, parameters: { ...setting, seed }, metrics, state };
    }),
  );
}

/** Learning rates of which the largest diverges, three seeds each, in two groups of which one alone has a depth. */
export function divergingSweep() {
  const losses = { 0.01: 1.35, 0.05: 0.06, 0.1: 0.03, 0.2: 0.015, 1: 1.8e20 };
  return worldOf(
    Object.entries(losses).flatMap(([lr, loss]) =>
      [0, 1, 2].map((seed): Made => ({
        name: `A_lr${lr}_s${seed}`,
        parameters: { lr: Number(lr), seed, ...(lr === '0.2' ? { depth: 2 } : {}) },
        metrics: { 'eval/loss': loss * (1 + 0.01 * seed) },
      })),
    ),
  );
}

/** Every kind of parameter, drawn at random. */
export function largeSweep(count: number) {
  const random = seededRandom(3);
  const pick = <T>(values: readonly T[]) => values[Math.floor(random() * values.length)]!;
  return worldOf(
    Array.from({ length: count }, (_, index) => {
      const lr = 10 ** (-5 + 4 * random());
      const optimizer = pick(['adam', 'sgd', 'lion']);
      const parameters: Parameters = {
        ...{ lr, optimizer, batch_size: pick([32, 64, 128, 256]), weight_decay: 10 ** (-4 * random()) },
        ...{ nesterov: pick([true, false]), layers: pick([2, 4, 8]), seed: index % 3 },
        ...(random() < 0.8 ? { dropout: random() / 2 } : {}),
      };
      const loss = 0.05 + (Math.log10(lr) + 3) ** 2 / 10 + (optimizer === 'sgd' ? 0.3 : 0) + random() / 10;
      return {
        name: `A_${index}`,
        parameters,
        metrics: { 'eval/loss': random() < 0.03 ? null : loss, accuracy: 1 - loss / 2 },
      };
    }),
  );
}
