import { expect, it } from 'vitest';
import { NamedPaths, pathsNamedBy } from '../../../src/supervisor/ownership/named-paths.js';
import { plan } from '../testbed.js';

const runsOf = (...words: string[][]) =>
  plan(
    '/runs',
    's',
    words.map((argv, index) => ({ name: `r${index}`, argv: ['python', ...argv], cwd: '/data/lab' })),
  ).runs;

it('takes for paths what may be one: no numbers, switches, sentences, addresses or what lies in the run itself', () => {
  const [run] = runsOf([
    ...['train.py', '--lr=0.1', '--out=./out_s1/', 'seed=3', '--amp', 'true', '--url=https://a/b', '--title=two words'],
    ...['--log=/runs/s/r0/log', '--dir=.', '--save', 'ckpt/a'],
  ]);
  expect(pathsNamedBy(run!)).toEqual(['/data/lab/train.py', '/data/lab/out_s1', '/data/lab/ckpt/a']);
});

it('knows which run alone leads to a file: the longest path that is named counts', async () => {
  const runs = runsOf(
    ['train.py', '--out=exp/a', '--data=data'],
    ['train.py', '--out=exp/b', '--data=data'],
    ['all', '--out=exp'],
  );
  const named = await NamedPaths.of(runs);
  const leading = (path: string) => named.leadingTo(path);
  expect(leading('/data/lab/exp/a/logs/metrics.csv')).toBe('s/r0');
  expect(leading('/data/lab/exp/b/metrics.csv')).toBe('s/r1');
  expect(leading('/data/lab/exp/metrics.csv')).toBe('s/r2');
  expect(leading('/data/lab/data/metrics.csv')).toBeNull();
  expect(leading('/data/lab/metrics.csv')).toBeNull();
  expect(named.onlyIn(runs[0]!)).toEqual(['/data/lab/exp/a']);
});
