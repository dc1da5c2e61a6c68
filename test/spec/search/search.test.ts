import { describe, expect, it } from 'vitest';
import { Search } from '../../../src/spec/search/search.js';
import type { Trial } from '../../../src/spec/search/trials.js';
import { finished } from './finished.js';

const searchOf = (text: string, set: string[] = []) =>
  new Search({ path: 'x.yaml', text, runsDirectory: '/runs', cwd: '/home', set }, {});
const next = (search: Search, trials: readonly Trial[], names: readonly string[] = []) =>
  finished(search.next('runs', { trials, names: new Set(names) }));
const trial = (parameters: Trial['parameters'], loss: number): Trial => {
  return { parameters, state: 'done', values: { min: loss, max: loss, last: loss } };
};

const bayes = `command: [python, t.py, "\${args}"]
method: bayes
metric: {name: loss}
parameters: {lr: {distribution: log_uniform_values, min: 0.0001, max: 1}, opt: {values: [sgd, adam]}}`;
const some = [0.0003, 0.003, 0.03, 0.3].map((lr) => trial({ lr, opt: 'sgd' }, Math.abs(Math.log10(lr) + 2)));

describe('a search', () => {
  it('proposes a whole run, which follows from the file, its seed and the trials', () => {
    const run = next(searchOf(bayes), some)!;
    expect(run).toMatchObject({ sweep: 'x', group: 'runs', directory: `/runs/x/${run.name}` });
    expect(run.argv.slice(2)).toEqual([
      `--lr=${run.parameters['lr'] as number}`,
      `--opt=${run.parameters['opt'] as string}`,
    ]);
    expect(next(searchOf(bayes), some)).toEqual(run);
    expect(next(searchOf(bayes, ['sample_seed=1']), some)!.parameters).not.toEqual(run.parameters);
    expect(next(searchOf(bayes), some.slice(1))!.parameters).not.toEqual(run.parameters);
  });

  it.each([
    { of: 'uniform', x: '{min: 0.0, max: 1.0}', place: (x: number) => x },
    {
      of: 'log_uniform_values',
      x: '{distribution: log_uniform_values, min: 0.001, max: 1}',
      place: (x: number) => 1 + Math.log10(x) / 3,
    },
    { of: 'beside listed values', x: '{min: 0.0, max: 1.0}', place: (x: number) => x, more: 'k: {values: [a, b]}' },
  ])('keeps the runs that are up at the same time apart: $of', ({ x, place, more = '' }) => {
    const head = 'command: [a, "${x}"]\nmethod: bayes\nmetric: {name: loss}\n';
    const search = searchOf(`${head}parameters: {x: ${x}, ${more}}`);
    const placeOf = ({ parameters }: Trial) => place(Number(parameters['x']));
    const trials: Trial[] = [];
    for (let proposed = 0; proposed < 30; proposed += 1) {
      const done = trials.slice(0, -7).map((each) => trial(each.parameters, (placeOf(each) - 0.3) ** 2));
      const up = trials.slice(-7);
      const { parameters } = next(search, [...done, ...up])!;
      const proposal: Trial = { parameters, state: 'running', values: null };
      const near = up
        .filter((other) => other.parameters['k'] === parameters['k'])
        .filter((other) => Math.abs(placeOf(other) - placeOf(proposal)) < 0.0099);
      expect([parameters, near]).toEqual([parameters, []]);
      trials.push(proposal);
    }
  });

  it('has each point once, and none when all have been tried', () => {
    const text = 'command: [a, "${k}"]\nmethod: bayes\nmetric: {name: loss}\nparameters: {k: {values: [1, 2, 3]}}';
    const tried = [trial({ k: 1 }, 1), trial({ k: 3 }, 2)];
    expect(next(searchOf(text), tried)!.parameters).toEqual({ k: 2 });
    expect(next(searchOf(text), [...tried, trial({ k: 2 }, 0)])).toBeNull();
  });

  it('gives a name that is taken a mark', () => {
    const text = 'command: [a, "${k}"]\nmethod: random\nparameters: {k: {values: [1, 2, 3]}}';
    const { name } = next(searchOf(text), [])!;
    expect(next(searchOf(text), [], [name])!.name).toMatch(new RegExp(`^${name}_[0-9a-f]{8}$`));
  });

  it('keeps the name of a run that has a directory, and takes no name of a run with other parameters', () => {
    const text = 'command: [a, "${k}"]\nmethod: random\nparameters: {k: {values: [1, 2, 3]}}';
    const { name, parameters } = next(searchOf(text), [])!;
    const source = { path: 'x.yaml', text, runsDirectory: '/runs', cwd: '/home', set: [] };
    const known = { group: 'runs', identity: null, attempts: [], isStarted: true };
    const renamed = new Search(source, {}, [{ ...known, name: 'older', parameters }]);
    expect(next(renamed, [])).toMatchObject({ name: 'older', parameters });
    const taken = new Search(source, {}, [{ ...known, name, parameters: { k: 7 } }]);
    expect(next(taken, [])!.name).toMatch(new RegExp(`^${name}_`));
  });

  it('starts a run from the copy of the code that its siblings are started from', () => {
    const text = 'code: snapshot\ncommand: [a, "${k}"]\nmethod: random\nparameters: {k: {values: [1, 2, 3]}}';
    const source = { path: 'x.yaml', text, runsDirectory: '/runs', cwd: '/home', set: [] };
    const place = { cwd: '/home', within: 'lab', top: '/repo', path: '/runs/x/code/snapshot-1', linked: [] };
    expect(next(new Search({ ...source, snapshots: [place] }, {}), [])).toMatchObject({
      cwd: '/runs/x/code/snapshot-1/lab',
      snapshot: { path: '/runs/x/code/snapshot-1', cwd: '/home' },
    });
    expect(() => next(new Search(source, {}), [])).toThrow('There is no snapshot of the code in /home.');
  });
});
