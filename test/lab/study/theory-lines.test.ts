import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readStudy } from '../../../src/contract/study.js';
import { memoryTask } from '../../../src/lab/environments/memory/task.js';
import { theoryLines } from '../../../src/lab/study/theory-lines.js';
import { memrl } from '../program.js';
import { tempDirectory } from '../temp-directory.js';
import { storedSweep } from './stored-sweep.js';

type Row = Readonly<Record<string, number>>;
type Line = { readonly text: string; readonly y: number; readonly per: string | null };

function linesIn(run: string): Line[] {
  const { lines } = readStudy(readFileSync(join(run, 'study.json'), 'utf8'))!;
  expect(lines.every(({ metrics }) => metrics.includes('test/bits/answer_clamped'))).toBe(true);
  return lines.map(({ text, y, per }) => ({ text, y, per }));
}

const perEpisode = 'progress/episodes';

describe('the lines that bits known are compared with', () => {
  it.each<{ what: string; settings: object; texts: string[] }>([
    { what: 'right or wrong', settings: { reward_type: 'binary' }, texts: ['log2 N = 6', '1 bit/episode'] },
    {
      what: 'levels',
      settings: { reward_type: 'binned_log_distance', reward_bins: 8 },
      texts: ['log2 N = 6', '3 bits/episode'],
    },
    { what: 'a continuous reward', settings: { reward_type: 'log_distance' }, texts: ['log2 N = 6'] },
    {
      what: 'each bit',
      settings: { env_type: 'multi_step', advantages: 'stepwise' },
      texts: ['log2 N = 6', '6 bits/episode'],
    },
    {
      what: 'the sum of the bits',
      settings: { env_type: 'multi_step', advantages: 'trajectory' },
      texts: ['log2 N = 6', '2.807 bits/episode'],
    },
    { what: 'the answer', settings: { num_epochs: 1 }, texts: ['log2 N = 6'] },
  ])('are the bits of the secret and the most bits of an episode: $what', ({ settings, texts }) => {
    const lines = theoryLines(memoryTask({ N: 64, ...settings })!);
    expect(lines.map(({ text }) => text)).toEqual(texts);
    expect(lines.map(({ per }) => per)).toEqual([null, perEpisode].slice(0, texts.length));
  });

  it('follow from the settings of a run, and are in its directory from the start', async () => {
    const run = join(tempDirectory(), 'run');
    const { code } = await memrl(['train', `log_path=${run}`, 'N=16', 'n_batches=1', 'batch_size=1', 'group_size=2']);
    expect(code).toBe(0);
    const row = JSON.parse(readFileSync(join(run, 'metrics.jsonl'), 'utf8').split('\n')[0]!) as Row;
    expect(linesIn(run)).toEqual([
      { text: 'log2 N = 4', y: row['theory/signal_bits'], per: null },
      { text: '1 bit/episode', y: row['theory/channel_bits_per_episode'], per: perEpisode },
    ]);
  });

  it('are added by memrl study for runs of an earlier version', async () => {
    const sweep = storedSweep(tempDirectory(), (name) => /^(A_.*s0|B_.*s0|C_.*s0|D_.*s0)$/.test(name));
    await memrl(['study', sweep]);
    const runs = readdirSync(sweep).filter((name) => /^[A-D]_/.test(name));
    for (const name of runs) {
      const { N } = JSON.parse(readFileSync(join(sweep, name, 'config.json'), 'utf8')) as { N: number };
      const row = JSON.parse(readFileSync(join(sweep, name, 'metrics.jsonl'), 'utf8').split('\n')[0]!) as Row;
      const bits = row['theory/credit_bits_per_episode'] ?? row['theory/channel_bits_per_episode'];
      expect(linesIn(join(sweep, name)), name).toEqual([
        { text: `log2 N = ${Math.log2(N)}`, y: row['theory/signal_bits'] ?? Math.log2(N), per: null },
        ...(bits === undefined
          ? []
          : [{ text: expect.stringMatching(/ bits?\/episode$/) as string, y: bits, per: perEpisode }]),
      ]);
    }
    expect(runs.length).toBeGreaterThan(10);
  });

  it('do not replace a study that a run has written itself', async () => {
    const sweep = storedSweep(tempDirectory(), (name) => name.startsWith('D_'));
    const own = join(
      sweep,
      readdirSync(sweep).find((name) => name.startsWith('D_'))!,
      'study.json',
    );
    writeFileSync(own, '{"notes": ["mine"]}');
    await memrl(['study', sweep]);
    expect(readFileSync(own, 'utf8')).toBe('{"notes": ["mine"]}');
  });

  it('are removed with a run that is refused', async () => {
    const run = join(tempDirectory(), 'run');
    const { code } = await memrl(['train', `log_path=${run}`, 'N=16', 'load_checkpoint_path=/of/no/model']);
    expect(code).toBe(2);
    expect(() => readdirSync(run)).toThrow('ENOENT');
  });

  it('exist only for runs that learn a secret', async () => {
    const run = join(tempDirectory(), 'run');
    const { code } = await memrl([
      'train',
      `log_path=${run}`,
      'environment=arithmetic',
      'n_batches=1',
      'batch_size=1',
      'group_size=2',
    ]);
    expect(code).toBe(0);
    expect(readdirSync(run)).not.toContain('study.json');
  });
});
