import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { planOf, refusal } from '../../sweeps.js';

const head = 'command: [a]\n';
const told = "command: [a, '${args}']\n";
const drawn = (method: string, cap: number, more = '') =>
  planOf(
    `${head}method: ${method}\nrun_cap: ${cap}\n${more}\nparameters: {lr: {distribution: log_uniform_values, min: 1.0e-4, max: 1.0}, n: {min: 1, max: 100}}`,
  ).runs;

describe('runs that are drawn', () => {
  it.each(['random', 'sobol'])('stay as they were when more are asked for (%s)', (method) => {
    const few = drawn(method, 10);
    expect(drawn(method, 40).slice(0, 10)).toEqual(few);
  });

  it('depend on sample_seed', () => {
    for (const method of ['random', 'lhs', 'sobol']) {
      expect(drawn(method, 5, 'sample_seed: 1')).not.toEqual(drawn(method, 5, 'sample_seed: 2'));
      expect(drawn(method, 5, 'sample_seed: 1')).toEqual(drawn(method, 5, 'sample_seed: 1'));
    }
  });

  it('leave the other parameters as they are when one is added', () => {
    const text = (more: string) =>
      planOf(`${head}method: random\nrun_cap: 8\nparameters: {b: {min: 0, max: 9999}${more}}`).runs.map(
        ({ parameters }) => parameters['b'],
      );
    expect(text(', a: {min: 0.0, max: 1.0}')).toEqual(text(''));
  });

  it('have one value in each slice of every parameter (lhs)', () => {
    const values = planOf(
      `${head}method: lhs\nrun_cap: 50\nparameters: {a: {min: 0.0, max: 50}, b: {min: 0.0, max: 50}}`,
    ).runs.map(({ parameters }) => parameters as { a: number; b: number });
    for (const key of ['a', 'b'] as const) {
      expect(values.map((each) => Math.floor(each[key])).sort((x, y) => x - y)).toEqual([...Array(50).keys()]);
    }
  });

  it('have each listed value as often as any other, or once more (lhs), and a seed for all of them', () => {
    const lists = fc.array(fc.integer({ min: 2, max: 9 }), { minLength: 1, maxLength: 3 });
    fc.assert(
      fc.property(lists, fc.integer({ min: 1, max: 40 }), fc.integer(), (sizes, count, seed) => {
        // A parameter that never repeats keeps points apart, so that none is dropped.
        const axes = Object.fromEntries(sizes.map((size, index) => [`k${index}`, [...Array(size).keys()]]));
        const parameters = { ...axes, apart: { min: 0.5, max: 1.5 }, seed: { grid: [1, 2] } };
        const { runs } = planOf(
          JSON.stringify({ command: ['a'], method: 'lhs', run_cap: 2 * count, sample_seed: seed, parameters }),
        );
        expect(runs).toHaveLength(2 * count);
        sizes.forEach((size, index) => {
          const counts = Array.from({ length: size }, () => 0);
          for (const run of runs) counts[Number(run.parameters[`k${index}`])]! += 1;
          // As many of the first values as are left over come once more, and each of them with both seeds.
          const times = Math.floor(count / size);
          const expected = counts.map((_, value) => 2 * (times + Number(value < count % size)));
          if (count >= size) expect(counts).toEqual(expected);
          else expect(counts.filter((times) => times === 2)).toHaveLength(count);
        });
      }),
      { numRuns: 40 },
    );
  });

  it('are the whole grid where it has no more points than are asked for (lhs)', () => {
    const parameters = 'parameters: {a: [1, 2, 3], b: [x, y], seed: {grid: [0, 1]}}';
    const whole = planOf(`${told}method: lhs\nrun_cap: 12\n${parameters}`);
    expect(whole.runs.map((run) => run.parameters)).toEqual(
      planOf(`${head}${parameters}`).runs.map((run) => run.parameters),
    );
    expect(whole.notes).toBeUndefined();
    expect(planOf(`${head}method: lhs\nrun_cap: 10\n${parameters}`).runs.length).toBeLessThan(11);
  });

  it('are dropped where they are equal, and their number is told (lhs)', () => {
    const lists = [1, 2, 3].map((seed) =>
      planOf(`${told}method: lhs\nrun_cap: 8\nsample_seed: ${seed}\nparameters: {a: [1, 2, 3], b: [x, y, z]}`),
    );
    // Eight of nine points: with three values each, two of them must meet in some shuffles.
    const short = lists.filter(({ runs }) => runs.length < 8);
    expect(short.length).toBeGreaterThan(0);
    for (const { runs, notes } of short) {
      expect(new Set(runs.map((run) => JSON.stringify(run.parameters))).size).toBe(runs.length);
      expect(notes).toEqual([
        `Group runs: of 8 points that were asked for, only ${runs.length} are different; the other ${8 - runs.length} are dropped.`,
      ]);
    }
  });

  it('are all different, and a space that has fewer says so', () => {
    const plan = planOf(`${head}method: random\nrun_cap: 10\nparameters: {a: [1, 2], b: [x, y]}`);
    expect(plan.runs).toHaveLength(4);
    expect(plan.notes).toContain('Group runs: of 10 points that were asked for, only 4 are different.');
  });

  it('have short names that stay the same, and differ where their values differ', () => {
    const names = drawn('random', 40).map(({ name }) => name);
    expect(new Set(names).size).toBe(40);
    for (const name of names) expect(name).toMatch(/^lr[\d.e-]{3,9}_n\d+_[0-9a-f]{8}$/);
  });

  it('draw a case as they draw values, and its own parameters with it', () => {
    const { runs } = planOf(
      `${head}method: random\nrun_cap: 60\nparameters: {s: {min: 0, max: 100000}}\ncases: [{r: x}, {r: y, k: {min: 1, max: 9}}]`,
    );
    const withCase = (r: string) => runs.filter(({ parameters }) => parameters['r'] === r);
    expect(withCase('x').every(({ parameters }) => !('k' in parameters))).toBe(true);
    expect(withCase('y').every(({ parameters }) => Number(parameters['k']) >= 1)).toBe(true);
    expect(Math.min(withCase('x').length, withCase('y').length)).toBeGreaterThan(15);
  });

  it('compute derived parameters and `when` as a grid does', () => {
    const { runs } = planOf(
      `${head}method: random\nrun_cap: 20\nparameters: {n: {min: 1, max: 1000}, twice: {expr: "n * 2"}, k: {values: [1, 2], when: "n > 500"}}`,
    );
    for (const { parameters } of runs) {
      expect(parameters['twice']).toBe(Number(parameters['n']) * 2);
      expect('k' in parameters).toBe(Number(parameters['n']) > 500);
    }
  });

  it.each(['random', 'lhs', 'sobol'])('are run with every value of a `grid`, such as seeds (%s)', (method) => {
    const text = (cap: number, more = '') =>
      `${head}method: ${method}\nrun_cap: ${cap}\nparameters: {lr: {min: 0.0, max: 1.0}, seed: {grid: [0, 1, 2]}${more}}`;
    const { runs } = planOf(text(12));
    expect(runs.map(({ parameters }) => parameters['seed'])).toEqual([0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2]);
    expect(new Set(runs.map(({ parameters }) => parameters['lr'])).size).toBe(4);
    // More of one grid leaves the draws as they were.
    expect(planOf(text(24, ', wd: {grid: [0, 0.1]}')).runs.filter((_, index) => index % 6 === 0)).toMatchObject(
      runs.filter((_, index) => index % 3 === 0).map(({ parameters: { lr } }) => ({ parameters: { lr } })),
    );
  });

  it('are as many as `run_cap` has room for whole points of', () => {
    const text = `${head}method: random\nrun_cap: 10\nparameters: {lr: {min: 0.0, max: 1.0}, seed: {grid: [0, 1, 2]}}`;
    const { runs, notes } = planOf(text);
    expect(runs).toHaveLength(9);
    expect(notes).toContain('Group runs: `run_cap: 10` has room for 3 points of 3 runs each.');
  });

  it.each([
    {
      what: 'no room for one point',
      text: 'run_cap: 2\nparameters: {seed: {grid: [0, 1, 2]}}',
      says: '3 combinations',
    },
    { what: 'a grid in a case', text: 'run_cap: 9\ncases: [{seed: {grid: [0, 1]}}]', says: 'a case is drawn together' },
  ])('are refused with $what', ({ text, says }) => {
    expect(refusal(() => planOf(`${head}method: random\n${text}`)).message).toContain(says);
  });

  it('follow the probabilities of their values', () => {
    const { runs } = planOf(
      `${head}method: random\nrun_cap: 1000\nparameters: {a: {values: [x, y, z], probabilities: [0.7, 0.3, 0]}, s: {min: 0, max: 1000000000}}`,
    );
    const share = (value: string) => runs.filter(({ parameters }) => parameters['a'] === value).length / 1000;
    expect(share('x')).toBeCloseTo(0.7, 1);
    expect(share('z')).toBe(0);
  });

  it('lie within their bounds and are distinct, whatever the bounds', () => {
    const bounds = fc.record({ min: fc.integer({ min: -1000, max: 1000 }), span: fc.integer({ min: 1, max: 5000 }) });
    fc.assert(
      fc.property(bounds, fc.constantFrom('random', 'lhs', 'sobol'), ({ min, span }, method) => {
        const max = min + span;
        const { runs } = planOf(
          JSON.stringify({ command: ['a'], method, run_cap: 12, parameters: { a: { min, max } } }),
        );
        const values = runs.map(({ parameters }) => parameters['a'] as number);
        expect(values.every((value) => Number.isInteger(value) && value >= min && value <= max)).toBe(true);
        expect(new Set(values).size).toBe(values.length);
      }),
      { numRuns: 60 },
    );
  });
});
